//! Recorded runs, studies and audited files beside each other: what each holds, whether they are comparable, and the comparison.
//!
//! Deliberately absent: the statistics (`headway_stats::comparison`), and rounds of live runs ([`crate::experiment::rounds`]).

mod beside;
mod comparable;
mod load;

pub(crate) use beside::beside;
pub use beside::{FEWEST_REPLICATIONS, REPLICATIONS};
pub(crate) use comparable::of_notes;
pub use comparable::{Across, differences};
pub use load::{Loaded, Recorded};

use crate::Error;
use crate::audit::Watch;
use anyhow::anyhow;
use headway_report::format::plural;
use headway_stats::comparison::{
    Compared, Comparison, Condition, Incomparable, Numbers, Observed, PointLeftOut, Two, compare,
};
use headway_stats::study::{Parameter, Point, Study};
use headway_stats::summary::NotComputed;
use headway_workload::redact::{Cleared, clear};
use std::fs;
use std::path::{Path, PathBuf};

/// What is compared, and how.
#[derive(Clone, Debug, Default)]
pub struct CompareSpec {
    /// Run folders, documents or other tools' files, at least two; the first is the one that the others are compared with.
    pub paths: Vec<PathBuf>,
    /// Conditions under which the command fails.
    pub conditions: Vec<Condition>,
    /// In what the runs may differ.
    pub across: Across,
    /// The command that repeats it, secrets replaced.
    pub command: Cleared,
}

/// Compares what the specification names.
///
/// # Errors
/// What is no run, is incomplete, is named twice, or lacks the steps that a condition names: all to be mended by the user.
pub fn compare_recorded(spec: &CompareSpec, watch: &mut dyn Watch) -> Result<Comparison, Error> {
    each_once(&spec.paths)?;
    let names = names(&spec.paths);
    let of = |(path, name): (&PathBuf, Cleared)| Loaded::open(path, name, &spec.conditions, watch);
    let loaded: Vec<Loaded> = spec.paths.iter().zip(names).map(of).collect::<Result<_, _>>()?;
    compare_loaded(&loaded, spec)
}

/// The same of what is loaded.
///
/// # Errors
/// See [`compare_recorded`].
pub fn compare_loaded(loaded: &[Loaded], spec: &CompareSpec) -> Result<Comparison, Error> {
    steps_are_known(loaded, &spec.conditions)?;
    let notes = loaded.iter().flat_map(|one| one.run.notes.keys()).map(|note| note.as_str()).collect();
    spec.across.is_known(&notes, &[])?;
    let nothing = NotComputed::default();
    let mut of_points: Vec<OfPoints<'_>> = Vec::new();
    let mut points_left_out = Vec::new();
    let mut pairs = Vec::new();
    for other in 1..loaded.len() {
        if let (Some(a), Some(b)) = (several(&loaded[0]), several(&loaded[other])) {
            for (name, points) in common(loaded, other, a, b)? {
                of_points.push(OfPoints { other, name, points, studies: [a, b] });
            }
            points_left_out.extend(alone(a, b).map(|point| PointLeftOut { run: 0, lacks: other, point }));
            points_left_out.extend(alone(b, a).map(|point| PointLeftOut { run: other, lacks: 0, point }));
            continue;
        }
        let pair = [&loaded[0], &loaded[other]];
        let [Some(base), Some(own)] = pair.map(|one| one.observed.as_ref()) else {
            let study = if several(pair[0]).is_some() { pair[0] } else { pair[1] };
            let points = several(study).map_or(0, |study| study.points.len() as u64);
            return Err(Error::usage(anyhow!(
                "{} is a study of {}, and {} is not one of the same points: compare studies with each other, or a study of one \
                 point (--sweep with one value, one model)",
                study.run.name,
                plural(points, "point"),
                if several(pair[0]).is_some() { &pair[1].run.name } else { &pair[0].run.name },
            )));
        };
        let found = comparable::look([0, other], pair, pair.map(|one| one.recorded.as_ref()), &spec.across);
        pairs.push(Two {
            runs: [0, other],
            point: Cleared::default(),
            observed: [base, own],
            not_computed: pair.map(|one| &one.run.not_computed),
            same_arrivals: found.same_arrivals || same_draws(pair.map(|one| one.study.as_ref())),
            same_records: found.same_records,
            of_model: false,
            obstacles: found.obstacles,
            differs: found.differs,
        });
    }
    let told: Vec<[Observed; 2]> = of_points.iter().map(OfPoints::observed).collect();
    for (of, observed) in of_points.iter().zip(&told) {
        let runs = [0, of.other];
        let recorded = of.points.map(|point| Recorded { asked: point.asked.clone(), ..Recorded::default() });
        let found = comparable::look(
            runs,
            runs.map(|i| &loaded[i]),
            [Some(&recorded[0]), Some(&recorded[1])],
            &spec.across,
        );
        pairs.push(Two {
            runs,
            point: of.name.clone(),
            observed: [&observed[0], &observed[1]],
            not_computed: [&nothing, &nothing],
            same_arrivals: same_draws(of.studies.map(Some)),
            same_records: false,
            of_model: false,
            obstacles: found.obstacles,
            differs: found.differs,
        });
    }
    let runs: Vec<Compared> = loaded.iter().map(|one| one.run.clone()).collect();
    let comparison = compare(runs, pairs, &spec.conditions);
    Ok(Comparison {
        points_left_out,
        command: Some(spec.command.clone()).filter(|text| !text.is_empty()),
        ..comparison
    })
}

/// Whether some runs of a comparison are not comparable.
pub fn is_incomparable(comparison: &Comparison) -> bool {
    use headway_stats::comparison::Verdict;
    comparison.pairs.iter().any(|pair| matches!(pair.verdict, Verdict::NotComparable { .. }))
}

/// A study of several points.
fn several(one: &Loaded) -> Option<&Study> {
    one.study.as_ref().filter(|study| study.points.len() != 1)
}

/// Whether replications of two studies have the same draws, one by one: those of one seed do, whatever else differs.
fn same_draws(studies: [Option<&Study>; 2]) -> bool {
    let drawn = |study: &Study| (study.seed, study.replications);
    matches!(studies, [Some(a), Some(b)] if drawn(a) == drawn(b))
}

/// A point that two studies have.
struct OfPoints<'a> {
    other: usize,
    name: Cleared,
    points: [&'a Point; 2],
    studies: [&'a Study; 2],
}

impl OfPoints<'_> {
    fn observed(&self) -> [Observed; 2] {
        [0, 1].map(|i| Observed::told(Numbers::of_point(self.points[i], self.studies[i].replications)))
    }
}

/// The values of a point with the names of the parameters.
fn name_of(parameters: &[Parameter], point: &Point) -> Cleared {
    let named = parameters.iter().zip(&point.values).map(|(p, value)| format!("{}={value}", p.name));
    clear(&named.collect::<Vec<String>>().join(" "))
}

/// Points of the first study that the second does not have, by their names.
fn alone<'a>(of: &'a Study, other: &'a Study) -> impl Iterator<Item = Cleared> + 'a {
    let has = |name: &Cleared| other.points.iter().any(|twin| name_of(&other.parameters, twin) == *name);
    of.points.iter().map(|point| name_of(&of.parameters, point)).filter(move |name| !has(name))
}

/// Points that both studies have, by their names.
fn common<'a>(
    loaded: &[Loaded],
    other: usize,
    a: &'a Study,
    b: &'a Study,
) -> Result<Vec<(Cleared, [&'a Point; 2])>, Error> {
    let of = |point: &'a Point| {
        let name_a = name_of(&a.parameters, point);
        let twin = b.points.iter().find(|twin| name_of(&b.parameters, twin) == name_a)?;
        Some((name_a, [point, twin]))
    };
    let all: Vec<_> = a.points.iter().filter_map(of).collect();
    if all.is_empty() {
        return Err(Error::usage(anyhow!(
            "{} and {} have no point in common ({} and {})",
            loaded[0].run.name,
            loaded[other].run.name,
            a.points.first().map_or("none".into(), |point| name_of(&a.parameters, point)),
            b.points.first().map_or("none".into(), |point| name_of(&b.parameters, point)),
        )));
    }
    Ok(all)
}

/// Refuses conditions on steps that a run does not have.
fn steps_are_known(loaded: &[Loaded], conditions: &[Condition]) -> Result<(), Error> {
    for condition in conditions {
        let Some(step) = &condition.step else { continue };
        for one in loaded {
            if !one.labels.contains(step) {
                let labels: Vec<&str> = one.labels.iter().take(20).map(Cleared::as_str).collect();
                let labels = if labels.is_empty() { "none".to_owned() } else { labels.join(", ") };
                return Err(Error::usage(anyhow!(
                    "--fail-if '{}': {} has no step '{step}' (its steps: {labels})",
                    condition.text,
                    one.run.name
                )));
            }
        }
    }
    Ok(())
}

/// Refuses to compare a run with itself.
fn each_once(paths: &[PathBuf]) -> Result<(), Error> {
    // The summary of a run folder names the same run as the folder.
    let same = |path: &Path| {
        let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        load::folder_of(&whole).map(Path::to_path_buf).unwrap_or(whole)
    };
    let all: Vec<PathBuf> = paths.iter().map(|path| same(path)).collect();
    for (i, path) in all.iter().enumerate() {
        if let Some(before) = all[..i].iter().position(|earlier| earlier == path) {
            return Err(Error::usage(anyhow!(
                "{} and {} are the same run: name two",
                paths[before].display(),
                paths[i].display()
            )));
        }
    }
    Ok(())
}

/// What the runs are called: names of their folders or files where these differ, else their paths.
fn names(paths: &[PathBuf]) -> Vec<Cleared> {
    let last = |path: &Path| {
        let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let inside = [headway_records::folder::SUMMARY, headway_report::study::JSON_FILE];
        match own {
            Some(name) if inside.contains(&name.as_str()) => path
                .parent()
                .and_then(|folder| folder.file_name())
                .map_or(name, |folder| folder.to_string_lossy().into_owned()),
            Some(name) => name,
            None => path.display().to_string(),
        }
    };
    let short: Vec<String> = paths.iter().map(|path| last(path)).collect();
    let twice = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    let names = if twice { paths.iter().map(|path| path.display().to_string()).collect() } else { short };
    names.iter().map(|name| clear(name)).collect()
}

/// Whether a load was another than was planned; what the generator's delays did where that is known is in the intervals.
pub(crate) fn invalid(runs: [usize; 2], pair: [&Compared; 2]) -> Vec<Incomparable> {
    runs.into_iter()
        .zip(pair)
        .filter(|(_, one)| one.is_another_load)
        .map(|(run, _)| Incomparable::Invalid { run })
        .collect()
}
