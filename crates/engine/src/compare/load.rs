//! What a path holds: a run with or without its records, a summary, a study, or another tool's file, which is audited.

use crate::audit::{AuditSpec, Watch, audit};
use crate::experiment::search::{SEARCH_FILE, is_trial};
use crate::{Error, Manifest};
use anyhow::{Context as _, anyhow};
use headway_base::{Nanos, Record};
use headway_records::{By, Limits, Merge, RunFolder, events_of, folder};
use headway_report::Origin;
use headway_stats::Summary;
use headway_stats::comparison::{Compared, Condition, Numbers, Observed, Observing, Stretch};
use headway_stats::study::Study;
use headway_stats::summary::{NotComputed, PlanSummary, Source};
use headway_workload::Plan;
use headway_workload::redact::Cleared;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The specification of a recorded run.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Its plan, if its folder tells.
    pub plan: Option<Plan>,
    /// The same as its summary tells it.
    pub asked: Option<PlanSummary>,
    /// Whether it reached its connection cap.
    pub held: bool,
}

/// What a path holds.
#[derive(Debug)]
pub struct Loaded {
    /// As the comparison shows it.
    pub run: Compared,
    /// Labels of its steps.
    pub labels: Vec<Cleared>,
    /// Its specification; none for studies and audited files.
    pub recorded: Option<Recorded>,
    /// Its numbers; none of a study of several points.
    pub observed: Option<Observed>,
    /// The study that it is.
    pub study: Option<Study>,
    /// A digest of its records, or of its summary where there are none: copies of one run have the same.
    pub digest: Option<u64>,
}

/// What can be compared.
const ACCEPTED: &str = "run folders, summaries, studies, or results files of other tools";

impl Loaded {
    /// Reads what is there, called as its folder or file is.
    ///
    /// # Errors
    /// As [`Loaded::open`].
    pub fn named(path: &Path, watch: &mut dyn Watch) -> Result<Loaded, Error> {
        Loaded::open(path, super::names(&[path.to_path_buf()]).remove(0), &[], watch)
    }

    /// Reads what is there, and keeps of its records what these conditions speak of.
    ///
    /// # Errors
    /// It is no run and no file that can be audited, or a run that did not reach its end.
    pub fn open(
        path: &Path,
        name: Cleared,
        conditions: &[Condition],
        watch: &mut dyn Watch,
    ) -> Result<Loaded, Error> {
        let found = crate::files::named(path, ACCEPTED)?;
        let folder = if found.is_dir() { Some(path) } else { folder_of(path) };
        if let Some(folder) = folder {
            let of_study = folder.join(headway_report::study::JSON_FILE);
            return if of_study.is_file() { study(&of_study, name) } else { run(folder, name, conditions) };
        }
        match schema(path).as_deref() {
            Some(schema) if schema.starts_with("headway.study/") => study(path, name),
            Some(schema) if schema.starts_with("headway.summary/") => {
                let (summary, digest) = summary(path)?;
                whole(&summary, path)?;
                Ok(Loaded { digest: Some(digest), ..of_summary(&summary, name, None, conditions) })
            }
            Some(schema) => {
                Err(Error::usage(anyhow!("{} is a {schema} document; name {ACCEPTED}", path.display())))
            }
            None => audited(path, name, conditions, watch),
        }
    }
}

/// The folder that a file stands for: that of the study whose document it is, or of the run whose summary or records.
pub(super) fn folder_of(file: &Path) -> Option<&Path> {
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = |name: &str| file.file_name().is_some_and(|own| own == name);
    let of_run = named(folder::SUMMARY) || named(folder::RECORDS);
    let stands = named(headway_report::study::JSON_FILE) || (of_run && folder.join(folder::PLAN).is_file());
    stands.then_some(folder)
}

/// The schema of a JSON document of ours, if it is one.
fn schema(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut start = Vec::new();
    fs::File::open(path).ok()?.take(256).read_to_end(&mut start).ok()?;
    let text = String::from_utf8_lossy(&start);
    let (_, rest) = text.split_once("\"schema\":")?;
    let name = rest.trim_start().strip_prefix('"')?.split('"').next()?;
    name.starts_with("headway.").then(|| name.to_owned())
}

/// A summary, and a digest of its text.
fn summary(path: &Path) -> Result<(Summary, u64), Error> {
    let text = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let read = headway_report::parse(&text)
        .with_context(|| format!("{} is not a summary this version reads", path.display()))
        .map_err(Error::usage)?;
    let mut digest = DefaultHasher::new();
    text.hash(&mut digest);
    Ok((read, digest.finish()))
}

fn study(path: &Path, name: Cleared) -> Result<Loaded, Error> {
    let text = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let read = headway_report::study::parse(&text);
    let study = read
        .with_context(|| format!("{} is not a study this version reads", path.display()))
        .map_err(Error::usage)?;
    if !study.missing.is_empty() {
        return Err(Error::usage(anyhow!(
            "{}: the study was interrupted before all points were played",
            path.display()
        )));
    }
    let observed = match &study.points[..] {
        [only] => Some(Observed::told(Numbers::of_point(only, study.replications))),
        _ => None,
    };
    let run = Compared {
        name,
        source: Source::Sim,
        seed: Some(study.seed),
        n: study.points.iter().map(|point| point.n).sum(),
        notes: study.notes.clone(),
        curve: observed.as_ref().map(Observed::curve).unwrap_or_default(),
        ..Compared::default()
    };
    let asked = study.points.first().and_then(|point| point.asked.clone());
    let recorded = asked.map(|asked| Recorded { asked: Some(asked), ..Recorded::default() });
    Ok(Loaded { run, labels: Vec::new(), recorded, observed, study: Some(study), digest: None })
}

/// Refuses a run that did not reach its end.
fn whole(summary: &Summary, path: &Path) -> Result<(), Error> {
    if summary.measured.interrupted {
        return Err(Error::usage(anyhow!(
            "{}: the run is incomplete: it was cut short {:.1} s after its start, so its numbers are not those of its plan",
            path.display(),
            summary.measured.to_s
        )));
    }
    Ok(())
}

/// Why trials are not compared.
const NO_TRIAL: &str = "whose trials each ended when their outcome was clear, so that their numbers lean to it: run the rate anew (headway run ... -R \
                        RATE), and compare that";

fn run(path: &Path, name: Cleared, conditions: &[Condition]) -> Result<Loaded, Error> {
    let file = |name: &str| path.join(name);
    if is_trial(path) {
        return Err(Error::usage(anyhow!("{} is a trial of a search, {NO_TRIAL}", path.display())));
    }
    let (plan, records) = (file(folder::PLAN), file(folder::RECORDS));
    if !file(folder::SUMMARY).is_file() {
        if file(SEARCH_FILE).is_file() {
            let path = path.display();
            return Err(Error::usage(anyhow!("{path} is the folder of a search, {NO_TRIAL}")));
        }
        return Err(Error::usage(match plan.is_file() || records.is_file() {
            true => {
                let path = path.display();
                anyhow!(
                    "{path}: the run is incomplete: it goes on still, or was killed before it wrote its summary (headway report {path} shows what its records hold)"
                )
            }
            false => anyhow!(
                "{} is no run folder: it has no {} and no {}; name {ACCEPTED}",
                path.display(),
                folder::SUMMARY,
                folder::PLAN
            ),
        }));
    }
    let (summary, digest) = summary(&file(folder::SUMMARY))?;
    whole(&summary, path)?;
    let manifest = plan.is_file().then(|| Manifest::read(&plan)).transpose().map_err(Error::usage)?;
    if let Some(manifest) = manifest.as_ref().filter(|manifest| !manifest.shards.is_empty()) {
        return Err(Error::usage(anyhow!(
            "{}: the run is incomplete: it holds shards {} of its plan alone",
            path.display(),
            manifest.shards.join(", ")
        )));
    }
    // A plan of another version leaves what the summary tells.
    let planned = manifest.as_ref().and_then(|manifest| manifest.plan_beside(&plan).ok());
    let mut loaded = Loaded { digest: Some(digest), ..of_summary(&summary, name, planned, conditions) };
    if let Some(manifest) = manifest.filter(|_| records.is_file()) {
        let (observed, digest) = of_log(path, &summary, &manifest, conditions)?;
        loaded.digest = Some(digest);
        loaded.run.n = observed.n();
        loaded.run.curve = observed.curve();
        loaded.observed = Some(observed);
    }
    Ok(loaded)
}

/// What a summary tells, beside the plan where that is known.
fn of_summary(summary: &Summary, name: Cleared, plan: Option<Plan>, conditions: &[Condition]) -> Loaded {
    let asked = summary.plan.clone();
    let held =
        summary.generator.as_ref().and_then(|generator| generator.cap_hits).is_some_and(|hits| hits > 0);
    let about_times = |path: &str| path.starts_with("response") && !path.starts_with("response_");
    let asked_for = |path: &str| {
        let of = |condition: &Condition| path.strip_prefix(&*condition.number.metric.path());
        conditions.iter().filter_map(of).any(|rest| rest.is_empty() || rest.starts_with(".ci95."))
    };
    let kept = summary.not_computed.iter().filter(|(path, _)| about_times(path) || asked_for(path));
    let not_computed: NotComputed = kept.map(|(path, why)| (path.clone(), why.clone())).collect();
    let run = Compared {
        name,
        source: summary.source,
        load: summary.verdict.load,
        is_another_load: summary.is_another_load(),
        seed: summary.seed,
        target: asked.as_ref().and_then(|asked| asked.target.clone()),
        started_at: summary.started_at.clone(),
        warmup_s: Some(summary.measured.from_s),
        n: summary.response.n,
        notes: asked.as_ref().map(|asked| asked.notes.clone()).unwrap_or_default(),
        curve: summary.curves.percentiles.response.clone(),
        over_time: Stretch::of(&summary.series),
        not_computed,
    };
    let labels: Vec<Cleared> = summary.by_label.keys().cloned().collect();
    let only = if let [only] = &labels[..] { Some(only.clone()) } else { None };
    let observed = Some(Observed::told(Numbers::of_summary(summary)).of_only(only));
    Loaded {
        run,
        labels,
        recorded: Some(Recorded { plan, asked, held }),
        observed,
        study: None,
        digest: None,
    }
}

/// Labels by how many requests they have, the most frequent first.
fn most_frequent(summary: &Summary) -> Vec<Cleared> {
    let mut labels: Vec<(&Cleared, u64)> = summary.by_label.iter().map(|(label, of)| (label, of.n)).collect();
    labels.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    labels.into_iter().map(|(label, _)| label.clone()).collect()
}

/// The numbers of a run's records, and their digest; `from_s` and `to_s` of its summary are the measured phase.
fn of_log(
    path: &Path,
    summary: &Summary,
    manifest: &Manifest,
    conditions: &[Condition],
) -> Result<(Observed, u64), Error> {
    let run = RunFolder::open(path).map_err(Error::usage)?;
    let mut rows = Merge::of_log(&run.records(), By::Started)?;
    let mut observing = observe(summary, &manifest.asked.steps).asked(conditions);
    let mut digest = DefaultHasher::new();
    while let Some(record) = rows.next_row()? {
        observing.push(&record);
        hash(&record, &mut digest);
    }
    let mut truncated = !rows.merged().truncated.is_empty();
    if observing.asks_for_events() {
        let cut = events_of(&[run.records()], Limits::default(), |events| -> Result<(), Error> {
            events.iter().for_each(|event| observing.event(event));
            Ok(())
        })?;
        truncated |= !cut.is_empty();
    }
    if truncated {
        return Err(Error::usage(anyhow!(
            "{}: the run is incomplete: its log was cut short",
            path.display()
        )));
    }
    let observed = observing.finish(Nanos::from_secs_f64(summary.measured.to_s));
    Ok((observed.with_effect(&summary.verdict), digest.finish()))
}

/// What tells records of two runs apart: two live runs never have the same, to the nanosecond.
fn hash(record: &Record, digest: &mut DefaultHasher) {
    let Record { k, intended, started, sent, done, outcome, step, count, .. } = *record;
    (k, intended, started, sent, done, outcome, step, count).hash(digest);
}

/// What takes the records of the run with that summary and these steps.
fn observe(summary: &Summary, steps: &[Cleared]) -> Observing {
    let measured = Nanos::from_secs_f64(summary.measured.from_s)..Nanos::from_secs_f64(summary.measured.to_s);
    Observing::new(&measured, steps, &most_frequent(summary))
}

/// Takes the requests of an audit on their way.
struct Taking<'a> {
    watch: &'a mut dyn Watch,
    conditions: &'a [Condition],
    measured: Range<Nanos>,
    labels: Vec<Cleared>,
    observing: Option<Observing>,
    digest: DefaultHasher,
}

impl Watch for Taking<'_> {
    fn beneath(&mut self) -> Option<&mut dyn Watch> {
        Some(&mut *self.watch)
    }
    fn measured(&mut self, stretch: &Range<Nanos>) {
        self.measured = stretch.clone();
    }
    fn requests(&mut self, origin: Origin) {
        self.observing =
            Some(Observing::new(&self.measured, &origin.labels, &origin.labels).asked(self.conditions));
        self.labels = origin.labels;
    }
    fn request(&mut self, record: &Record) {
        if let Some(observing) = &mut self.observing {
            observing.push(record);
            hash(record, &mut self.digest);
        }
    }
}

/// Another tool's file, audited.
fn audited(
    path: &Path,
    name: Cleared,
    conditions: &[Condition],
    watch: &mut dyn Watch,
) -> Result<Loaded, Error> {
    let mut spec = AuditSpec::of(vec![PathBuf::from(path)]);
    spec.exports.requests = true;
    let mut taking = Taking {
        watch,
        conditions,
        measured: Nanos::ZERO..Nanos::ZERO,
        labels: Vec::new(),
        observing: None,
        digest: DefaultHasher::new(),
    };
    let summary = audit(&spec, &mut taking)?;
    let end = taking.measured.end;
    let (observing, labels, digest) = (taking.observing, taking.labels, taking.digest.finish());
    let mut loaded = of_summary(&summary, name, None, conditions);
    // Without ends there are no response times.
    if let Some(observing) = observing.filter(|_| summary.response.n > 0) {
        loaded.observed = Some(observing.finish(end));
        loaded.labels = labels;
        loaded.digest = Some(digest);
    }
    loaded.recorded = None;
    Ok(loaded)
}
