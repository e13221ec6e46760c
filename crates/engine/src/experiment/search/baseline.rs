//! The earlier search that a new one is shown beside: whether it asked the same.

use super::folder::{self, SETTINGS};
use super::{SearchSpec, rate_of_what};
use crate::compare::{Across, of_notes};
use crate::{Backend, Error, Manifest};
use anyhow::anyhow;
use headway_records::folder::PLAN;
use headway_stats::comparison::Difference;
use headway_stats::search::{Earlier, Found, RateOf};
use headway_workload::redact::{Cleared, clear};
use std::path::Path;

/// In what searches may differ, besides the parts of a plan.
const MORE: [&str; 1] = ["thresholds"];

/// Takes the knee of each search from the folder `path` of an earlier one, by the name of its target where there are several. The target, the
/// seed, the notes, and the rates at which they begin and end may differ; all else only where `across` names it.
///
/// # Errors
/// It is not the folder of a search, it has no knee or other targets, or it asked for something else: what differs.
pub fn beside(path: &Path, specs: &mut [SearchSpec], across: &Across) -> Result<(), Error> {
    let refused = |why: String| Error::usage(anyhow!("--baseline {}: {why}", path.display()));
    let before = folder::read(path)
        .map_err(|why| refused(format!("{why}; name the folder of an earlier search, or leave it out")))?;
    let notes = before.iter().flat_map(|found| found.notes.keys()).map(|note| note.as_str());
    let own: Vec<Cleared> = specs.iter().flat_map(|spec| spec.base.shown.notes.keys().cloned()).collect();
    let notes = notes.chain(own.iter().map(|note| note.as_str())).collect();
    across.is_known(&notes, &[&MORE[..], &SETTINGS].concat())?;
    let name = path.file_name().map_or_else(|| "baseline".into(), |name| name.to_string_lossy().into_owned());
    let single = specs.len() == 1 && before.len() == 1;
    for spec in specs {
        let named = |found: &&Found| single || found.name == spec.base.name;
        let Some(found) = before.iter().find(named) else {
            let there: Vec<&str> = before.iter().map(|found| found.name.as_str()).collect();
            return Err(refused(format!(
                "it has no target '{}' (its targets: {}); give this one the name that it had",
                spec.base.name,
                there.join(", ")
            )));
        };
        let (folder, name) = match single || before.len() == 1 {
            true => (path.to_owned(), name.clone()),
            false => (path.join(found.name.as_str()), format!("{name}/{}", found.name)),
        };
        let manifest = Manifest::read(&folder.join(PLAN)).map_err(|error| refused(format!("{error:#}")))?;
        let (mut differs, others): (Vec<_>, Vec<_>) = differing(spec, found, manifest)
            .map_err(refused)?
            .into_iter()
            .partition(|own| across.allows(&own.what));
        differs.extend(of_notes(&found.notes, &spec.base.shown.notes));
        if !others.is_empty() {
            let others =
                others.iter().map(|own| format!("{} ({} there, {} here)", own.what, own.base, own.other));
            return Err(refused(format!(
                "not comparable, it asked for something else: {}; if that is what you compare, add --across",
                others.collect::<Vec<_>>().join("; ")
            )));
        }
        if found.interval == [None, None] {
            return Err(refused("it ended without a knee: there is nothing to compare with".to_owned()));
        }
        spec.baseline = Some(Earlier {
            name: clear(&name),
            target: found.target.clone(),
            interval: found.interval,
            ratio: [None, None],
            differs,
        });
    }
    Ok(())
}

/// What was asked otherwise.
fn differing(spec: &SearchSpec, before: &Found, manifest: Manifest) -> Result<Vec<Difference>, String> {
    let played = |simulated: bool| if simulated { "a model" } else { "a target" }.to_owned();
    let counted = |of: RateOf| {
        match of {
            RateOf::Requests => "a rate of requests",
            RateOf::Sessions => "a rate of sessions",
            RateOf::Users => "a number of users",
        }
        .to_owned()
    };
    let own = rate_of_what(&spec.base.plan).map_err(|error| format!("{error:#}"))?;
    let mut all = vec![
        [
            "what is searched".to_owned(),
            played(before.simulated),
            played(matches!(spec.backend, Backend::Sim(_))),
        ],
        ["what is searched for".to_owned(), counted(before.rate_of), counted(own)],
        folder::thresholds(spec, before),
    ];
    // A search chooses the rate, or the number of users.
    all.extend(
        folder::loads(manifest, folder::asked(spec))?
            .into_iter()
            .filter(|[what, ..]| !["rate", "users"].contains(&what.as_str())),
    );
    let of = |[what, base, other]: [String; 3]| Difference {
        what: clear(&what),
        base: clear(&base),
        other: clear(&other),
    };
    Ok(all.into_iter().map(of).filter(|own| own.base != own.other).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Folder, search};
    use super::*;
    use crate::simulate::Sim;
    use crate::{Control, RunSpec};
    use headway_base::Nanos;
    use headway_stats::search::{Bounds, Outcome, Searched};
    use headway_workload::Shard;
    use headway_workload::scenario::{Surroundings, parse};
    use std::fs;

    /// One server whose service takes `service` ms on average. The response time is exponential (M/M/1), so that the knee of p(90)<100 is
    /// `1/service - ln(10)/0.1`.
    fn spec(service: f64, seed: u64, folder: Option<&Path>) -> SearchSpec {
        let text = format!(
            "users: {{ arrive: {{ rate: 50/s }} }}\njourney: [ {{ get: / }} ]\nmodel: {{ servers: 1, service: exp({service}ms) }}\n"
        );
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            log: &headway_workload::scenario::no_logs,
            env: &|_| None,
        };
        let scenario = parse("one.yaml", &text, &around).unwrap();
        let base = RunSpec {
            thresholds: vec!["p(90)<100".parse().unwrap()],
            ..RunSpec::new("one", scenario.plan(seed, Shard::WHOLE), 1_000)
        };
        SearchSpec {
            base,
            backend: Backend::Sim(Box::new(Sim::new(scenario.model().unwrap().clone()))),
            target: "the model of one.yaml".into(),
            bounds: Bounds { from: 7.0 + 0.3 * (seed % 100) as f64, lowest: 0.1, to: None, precision: 0.05 },
            budget: Nanos::from_secs(360_000),
            folder: folder.map(Path::to_owned),
            probe: true,
            baseline: None,
        }
    }

    fn knee(service: f64) -> f64 {
        1_000.0 / service - 10.0 * 10f64.ln()
    }

    /// A folder of a search, without the run folders of its trials.
    fn kept(path: &Path, spec: &SearchSpec, found: Found) {
        fs::create_dir_all(path).unwrap();
        let spec = SearchSpec { folder: Some(path.to_owned()), ..spec.clone() };
        Folder::begin(path, std::slice::from_ref(&spec)).unwrap().save(&Searched::of(vec![found])).unwrap();
    }

    /// Searches of the same target and of one that is slower by a fifth, each beside an earlier search. Both intervals hold their knees in at
    /// least 90 % of the pairs, and then the interval of the ratio holds its own.
    #[test]
    fn the_ratio_of_two_knees_lies_in_its_interval() {
        let parent = tempfile::tempdir().unwrap();
        let pairs = 30;
        let (mut held, mut told_apart, mut accused) = ([0; 2], 0, 0);
        for seed in 0..pairs {
            let path = parent.path().join(seed.to_string());
            let first = spec(10.0, seed, None);
            let found = search(std::slice::from_ref(&first), None, &Control::default(), &mut ())
                .unwrap()
                .targets
                .remove(0);
            if found.outcome == Outcome::Drifts {
                continue;
            }
            kept(&path, &first, found);
            for (i, service) in [10.0, 12.0].into_iter().enumerate() {
                let mut later = [spec(service, 1_000 + 100 * i as u64 + seed, None)];
                beside(&path, &mut later, &Across::default()).unwrap();
                let found = search(&later, None, &Control::default(), &mut ()).unwrap().targets.remove(0);
                // A steady target is taken to drift in at most one search of twenty, which then has no knee.
                let [Some(low), Some(high)] = found.baseline.unwrap().ratio else {
                    assert_eq!(found.outcome, Outcome::Drifts);
                    continue;
                };
                let exact = knee(service) / knee(10.0);
                held[i] += u32::from(low <= exact && exact <= high);
                told_apart += u32::from(i == 1 && high < 1.0);
                accused += u32::from(i == 0 && (high < 1.0 || low > 1.0));
            }
        }
        println!("{held:?} of {pairs} held, {told_apart} told apart, {accused} accused");
        let n = f64::from(pairs as u32);
        let least = (0.9 * n - 3.0 * (0.9 * 0.1 * n).sqrt()).floor() as u32;
        assert!(
            held.iter().all(|&held| held >= least) && told_apart >= least,
            "{held:?} {told_apart} {least}"
        );
        assert!(accused <= pairs as u32 - least, "{accused}");
    }

    #[test]
    fn what_was_asked_otherwise_is_not_compared() {
        let parent = tempfile::tempdir().unwrap();
        let first = spec(10.0, 5, None);
        let found = Found { interval: [Some(70.0), Some(80.0)], ..super::super::blank(&first).unwrap() };
        let at = |name: &str| parent.path().join(name);
        kept(&at("known"), &first, found.clone());
        kept(&at("none"), &first, Found { interval: [None, None], ..found.clone() });
        let told = |path: &str, spec: SearchSpec, across: &[&str]| {
            let across = Across(across.iter().map(|&own| own.to_owned()).collect());
            let mut specs = [spec];
            beside(&at(path), &mut specs, &across)
                .map(|()| specs[0].baseline.clone().unwrap())
                .map_err(|error| format!("{error:#}"))
        };
        let same = told("known", spec(10.0, 9, None), &[]).unwrap();
        assert_eq!((same.interval, &*same.name, same.differs.len()), ([Some(70.0), Some(80.0)], "known", 0));
        let with = |change: &dyn Fn(&mut SearchSpec)| {
            let mut own = first.clone();
            change(&mut own);
            own
        };
        let limit = with(&|own| own.base.thresholds = vec!["p(90)<50".parse().unwrap()]);
        let noted = with(&|own| {
            own.base.shown.notes.insert("commit".into(), "2".into());
        });
        for (path, own, word) in [
            ("known", limit.clone(), "thresholds (p(90)<100 there, p(90)<50 here)"),
            ("known", with(&|own| own.base.limits.timeout = Nanos::from_secs(7)), "7 s here"),
            ("none", first.clone(), "without a knee"),
            ("missing", first.clone(), "search.json"),
        ] {
            let why = told(path, own, &[]).unwrap_err();
            assert!(why.contains("--baseline") && why.contains(word), "{word}: {why}");
        }
        assert_eq!(told("known", limit, &["thresholds"]).unwrap().differs.len(), 1);
        // Notes are labels.
        assert_eq!(told("known", noted.clone(), &[]).unwrap().differs[0].what, "commit");
        let needless = told("known", noted.clone(), &["commit"]).unwrap_err();
        assert!(needless.contains("notes may differ in any comparison"), "{needless}");
        let unknown = told("known", noted, &["treshholds"]).unwrap_err();
        assert!(unknown.contains("did you mean 'thresholds'"), "{unknown}");
        // Several targets are known by their names.
        let two = Searched::of(vec![
            Found { name: "a".into(), ..found.clone() },
            Found { name: "b".into(), ..found },
        ]);
        fs::write(at("known").join("search.json"), headway_report::json::of_search(&two)).unwrap();
        let other = told("known", first, &[]).unwrap_err();
        assert!(other.contains("no target 'one' (its targets: a, b)"), "{other}");
    }
}
