//! The specification of a run and its result: what both backends share.

use crate::Error;
use crate::analysis_setup::{analysis_setup, tolerating};
use crate::collect::{Collected, Collector, Observer};
use crate::destination::{Address, Ending, Publisher, Seat};
use crate::live::Live;
use crate::manifest::{self, Manifest, STEP};
use crate::plan_summary::plan_summary;
use crate::simulate::Sim;
use headway_base::Nanos;
use headway_live::Control;
use headway_records::{RunFolder, RunLog};
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{Finding, FindingId, PlanSummary, Severity};
use headway_stats::{Analysis, Facts, Summary, Threshold};
use headway_workload::redact::{Cleared, Redactor, clear};
use headway_workload::{Limits, Plan, Shard};
use std::path::{Path, PathBuf};

/// How long a response may take unless something else is asked for.
pub const DEFAULT_TIMEOUT: Nanos = Nanos::from_secs(30);
/// The same where a step has `stream:`: there it is standing still that counts.
pub const DEFAULT_STREAM_TIMEOUT: Nanos = Nanos::from_secs(600);
/// How long a connection may take unless something else is asked for.
pub const DEFAULT_CONNECT_TIMEOUT: Nanos = Nanos::from_secs(5);
/// How long one of the sockets that are kept connecting may take, unless something else is asked for: S-Client's (Banga and Druschel
/// 1997). A dropped SYN is sent again after 1 s (Linux), so that below that each attempt is one SYN.
pub const DEFAULT_CONNECTING_TIMEOUT: Nanos = Nanos::from_millis(500);
/// Largest body of a response unless something else is asked for, bytes.
pub const DEFAULT_MAX_BODY: u64 = 64 << 20;

/// What a run is, live or simulated.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// A short name.
    pub name: Cleared,
    /// The command that repeats it, secrets replaced; empty if no command did it.
    pub command: Cleared,
    /// Which users arrive when, and what they do; it holds the seed.
    pub plan: Plan,
    /// The plan as the summary shows it.
    pub shown: PlanSummary,
    /// Labels of the steps.
    pub labels: Vec<Cleared>,
    /// Bounds of the whole run.
    pub limits: Limits,
    /// Thresholds of its numbers. A shard keeps them for `merge`, and judges none: the run's percentiles are those of all records.
    pub thresholds: Vec<Threshold>,
    /// The scenario file as written, secrets replaced, if the run comes from one: a copy goes into the run folder.
    pub scenario: Option<String>,
    /// What is kept of it; none: nothing but its result.
    pub keep: Option<Keep>,
}

/// What is kept of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    /// Where.
    pub place: Place,
    /// Whether the records of single requests are kept too.
    pub log: bool,
}

/// Where what is kept of a run comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A folder of its own under `headway-runs`.
    Own,
    /// A folder that is new or empty.
    Folder(PathBuf),
    /// The place that all shards of the run share; for live runs of a shard.
    Destination(Address),
}

impl Place {
    /// That folder, if one is named.
    pub fn of(folder: Option<PathBuf>) -> Place {
        folder.map_or(Place::Own, Place::Folder)
    }
}

impl RunSpec {
    /// A run of that plan with requests of one kind, up to `connections` at once, with the default timeouts; nothing is kept.
    pub fn new(name: &str, plan: Plan, connections: u32) -> RunSpec {
        RunSpec {
            name: Redactor::default().clear(name),
            command: Cleared::default(),
            shown: plan_summary(&plan),
            plan,
            labels: vec![STEP.into()],
            limits: Limits {
                connections,
                max_wait: DEFAULT_TIMEOUT,
                timeout: DEFAULT_TIMEOUT,
                connect_timeout: DEFAULT_CONNECT_TIMEOUT,
                drain: DEFAULT_TIMEOUT,
            },
            thresholds: Vec::new(),
            scenario: None,
            keep: None,
        }
    }
}

/// What plays a run.
#[derive(Clone, Debug)]
pub enum Backend {
    /// Requests over sockets, in real time, to a target.
    Live(Box<Live>),
    /// A model in the target's place, in virtual time.
    Sim(Box<Sim>),
}

impl Backend {
    /// Plays the run to its end, or until `cancel` stops it. Each of `observers` sees it as it goes.
    ///
    /// # Errors
    /// What keeps the run from taking place: an unknown host, a model that cannot be, a folder that is taken. Requests that
    /// fail are records and no errors.
    pub fn play(
        &self,
        spec: &RunSpec,
        cancel: &Control,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, Error> {
        match self {
            Backend::Live(live) => live.play(spec, cancel, observers),
            Backend::Sim(sim) => sim.play(spec, cancel, observers),
        }
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct RunResult {
    /// What it came to.
    pub summary: Summary,
    /// Where its results are, if they were kept.
    pub folder: Option<RunFolder>,
    /// What of its results could not be written, if anything.
    pub failures: Vec<headway_records::Error>,
    /// Whether it was cancelled before its end.
    pub interrupted: bool,
    /// Its destination, if it is a shard's: it waits for [`Ending::finish`]. Until then merging finds the shard unfinished.
    pub destination: Option<Ending>,
}

/// The folder of a run that goes on.
pub(crate) struct Kept {
    folder: Option<RunFolder>,
    seat: Option<Seat>,
}

impl Kept {
    /// The path of the folder, if the run is kept.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(RunFolder::path)
    }

    /// Makes the folder, if the run is kept: that of the seat, if it has one.
    pub(crate) fn make(spec: &RunSpec, seat: Option<Seat>) -> Result<Kept, Error> {
        let folder = match (&seat, spec.keep.as_ref().map(|keep| &keep.place)) {
            (_, None) => None,
            (Some(seat), Some(_)) => Some(seat.run_folder(&spec.name)?),
            (None, Some(Place::Own)) => Some(run_folder(None, &spec.name)?),
            (None, Some(Place::Folder(path))) => Some(run_folder(Some(path), &spec.name)?),
            (None, Some(Place::Destination(address))) => {
                return Err(Error::usage(anyhow::anyhow!(
                    "{address}: only a live run of a shard has a destination that others share"
                )));
            }
        };
        Ok(Kept { folder, seat })
    }

    /// Begins to tell in the destination how the run stands, if it has one. The folder has its plan by then.
    pub(crate) fn publisher(&self, plan: &Plan) -> Result<Option<Publisher>, Error> {
        let of = |(seat, folder): (&Seat, &RunFolder)| Publisher::of_run(seat.clone(), plan, folder);
        self.seat.as_ref().zip(self.folder.as_ref()).map(of).transpose()
    }

    /// Writes what is known before the run; its log, if there is to be one.
    pub(crate) fn begin(&self, spec: &RunSpec, manifest: &Manifest) -> Result<Option<RunLog>, Error> {
        let mut log = None;
        if let Some(folder) = &self.folder {
            folder.write_new(headway_records::folder::PLAN, &manifest.json()?)?;
            if let Some(bytes) = manifest::arrivals(&spec.plan) {
                folder.write_new(headway_records::folder::ARRIVALS, &bytes)?;
            }
            if let Some(text) = &spec.scenario {
                folder.write_new(headway_records::folder::SCENARIO, text.as_bytes())?;
            }
            if spec.keep.as_ref().is_some_and(|keep| keep.log) {
                log = Some(RunLog::create(folder, &manifest.log_metadata()?)?);
            }
        }
        Ok(log)
    }

    /// What takes the batches of the `workers` of that run to the log and to the statistics.
    pub(crate) fn collector<'a, 'b>(
        spec: &RunSpec,
        manifest: &Manifest,
        log: Option<RunLog>,
        workers: usize,
        observers: &'a mut [&'b mut dyn Observer],
    ) -> Collector<'a, 'b> {
        // With what only the manifest adds to what is shown, as the connect timeout.
        let setup = tolerating(analysis_setup(&spec.plan, &spec.labels, workers), &manifest.asked);
        let whole = spec.plan.shard == Shard::WHOLE;
        let analysis = Analysis::new(setup).judging(if whole { spec.thresholds.clone() } else { Vec::new() });
        Collector::new(analysis, log, &spec.labels, manifest.facts(manifest.source()), observers)
    }

    /// The result: the summary of what was collected, with what the run itself adds to it. Writes the reports; a full disk does
    /// not keep the result from being returned.
    pub(crate) fn close(
        self,
        collected: Collected,
        facts: Facts,
        publisher: Option<Publisher>,
        add: impl FnOnce(&mut Summary),
    ) -> RunResult {
        let Collected { analysis, rows_written, log_failure, rows_lost, log_place } = collected;
        let interrupted = facts.interrupted_at.is_some();
        let mut summary = analysis.finish(facts);
        add(&mut summary);
        if let Some(error) = &log_failure {
            summary.verdict.findings.push(log_finding(error, rows_lost, rows_written));
        }
        summary.verdict.findings.extend(publisher.as_ref().and_then(Publisher::finding));
        let style = headway_report::Style::default();
        let files = [(headway_records::folder::SUMMARY, "json"), (headway_records::folder::REPORT, "html")];
        let write = |folder: &RunFolder| {
            files.map(|(name, output)| folder.write_new(name, &render(output, &summary, &style)).err())
        };
        let gone = self.folder.as_ref().and_then(|folder| gone(folder, log_place.as_deref()));
        let there = self.folder.as_ref().filter(|folder| folder.path().is_dir());
        let unwritten = there.map(write).into_iter().flatten().flatten();
        let failures = log_failure.into_iter().chain(gone).chain(unwritten).collect();
        let told = |(publisher, folder): (Publisher, &RunFolder)| publisher.end(rows_written, folder);
        let destination = publisher.zip(self.folder.as_ref()).map(told);
        RunResult { folder: self.folder, failures, interrupted, summary, destination }
    }
}

/// That the folder, or its plan, is not where the run made it.
fn gone(folder: &RunFolder, log_place: Option<&Path>) -> Option<headway_records::Error> {
    let of = |path: &Path, left| Some(headway_records::Error::Gone { path: path.to_owned(), left });
    if folder.path().is_dir() {
        let left = "summary and records are there, but without it `headway report` and `headway merge` do not read them";
        return match folder.plan().is_file() {
            true => None,
            false => of(&folder.plan(), left.to_owned()),
        };
    }
    let left = match log_place.and_then(Path::parent) {
        Some(now) => {
            let now = now.display();
            format!(
                "its log is in {now} now, and `headway report {now}` makes the report that was not written"
            )
        }
        None => "neither summary.json nor report.html was written".to_owned(),
    };
    of(folder.path(), left)
}

/// The folder for the results of a run of that name: `out`, else one of its own under `headway-runs`.
///
/// # Errors
/// The folder exists, or is a bucket ([`Error::Usage`]); or it cannot be made.
pub fn run_folder(out: Option<&Path>, name: &str) -> Result<RunFolder, Error> {
    match out {
        Some(path) => match Address::parse(path)? {
            // A folder that is taken is the user's to name anew.
            Address::Folder(path) => RunFolder::create_exact(&path).map_err(|error| match error {
                headway_records::Error::Exists { .. } => {
                    Error::usage(anyhow::anyhow!(error).context("--out"))
                }
                other => other.into(),
            }),
            Address::Bucket(url) => Err(Error::usage(anyhow::anyhow!(
                "--out {url}: a bucket is for shards (--shard i/N); name a folder"
            ))),
        },
        None => {
            let stamp = jiff::Zoned::now().strftime("%Y%m%dT%H%M%S").to_string();
            Ok(RunFolder::create(Path::new("headway-runs"), name, &stamp)?)
        }
    }
}

/// A summary in the output of that name (see [`headway_report::ALL`]).
///
/// # Panics
/// If there is no output of that name: a defect of this program.
pub fn render(name: &str, summary: &Summary, style: &headway_report::Style) -> Vec<u8> {
    let output = headway_report::find(name).unwrap_or_else(|| panic!("no output is called {name}"));
    output.summary(summary, style).unwrap_or_else(|| panic!("{name} is not made of summaries"))
}

/// That the log lacks rows.
fn log_finding(error: &headway_records::Error, rows_lost: u64, rows_written: u64) -> Finding {
    // The finding itself says how many rows.
    let why = match error {
        headway_records::Error::Write { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    let evidence = Run::LogLost { lost: rows_lost, written: rows_written, error: clear(&why) };
    Finding {
        id: FindingId::LogLost,
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(rows_lost as f64),
        n: rows_lost,
        ..Finding::default()
    }
}
