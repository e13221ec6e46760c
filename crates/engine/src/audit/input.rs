//! One file given to the audit: another tool's results, or the log of a run of Headway's own.

use super::Shift;
use super::files;
use crate::Error;
use crate::Manifest;
use anyhow::{Context as _, anyhow};
use headway_base::{Kind, Nanos, Record, Stamp};
use headway_import::source::Progress;
use headway_import::{Facts, File, Options, Rows, Stamps};
use headway_records::{Ending, LogReader, metadata};
use headway_stats::summary::AuditFile;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A file that is being read.
pub(super) enum Input {
    Results(Box<File>),
    Run(Box<Run>),
}

/// What a file came to, and what is known of its rows.
pub(super) struct Ended {
    pub file: AuditFile,
    pub facts: Facts,
    /// Whether the format leaves open what its stamps are.
    pub ambiguous: bool,
    /// Whether its rows leave it open too.
    pub guessed: bool,
}

/// What an audit reads.
const ACCEPTED: &str = "results files of load tools, a run folder, or - for standard input";

impl Input {
    /// Opens the file and recognises it.
    pub(super) fn open(path: &Path, options: &Options, progress: Progress) -> Result<Input, Error> {
        let open = |log: PathBuf, folder| Run::open(log, folder).map(|run| Input::Run(Box::new(run)));
        if path != Path::new(headway_import::source::STDIN) {
            let found = crate::files::named(path, ACCEPTED)?;
            let log = path.join(headway_records::folder::RECORDS);
            if found.is_dir() && log.is_file() {
                return open(log, Some(path));
            }
            if found.is_dir() {
                has_requests(path)?;
            }
            if found.is_file() && is_log(path).map_err(Error::usage)? {
                let in_folder = path.file_name().is_some_and(|name| name == headway_records::folder::RECORDS);
                return open(path.to_path_buf(), path.parent().filter(|_| in_folder));
            }
        }
        let file = File::open(path, options, progress).map_err(Error::usage)?;
        Ok(Input::Results(Box::new(file)))
    }

    /// Reads on and puts records into `rows.records`, which is emptied first; false at the end.
    pub(super) fn next(&mut self, rows: &mut Rows) -> Result<bool, Error> {
        match self {
            Input::Results(file) => file.next(rows).map_err(failure),
            Input::Run(run) => run.next(rows),
        }
    }

    /// Closes the file.
    pub(super) fn finish(self, rows: &mut Rows, lenient: bool) -> Result<Ended, Error> {
        match self {
            Input::Results(file) => {
                let ambiguous = file.facts().stamps == Stamps::Ambiguous;
                let finished = file.finish(rows, lenient).map_err(Error::usage)?;
                let (file, guessed) = (files::of_results(&finished), finished.stamps_guessed);
                Ok(Ended { file, facts: finished.facts, ambiguous, guessed })
            }
            Input::Run(run) => Ok(run.finish()),
        }
    }
}

/// Refuses a folder of results that keeps no record of single requests.
fn has_requests(folder: &Path) -> Result<(), Error> {
    let (shown, has) = (folder.display(), |name: &str| folder.join(name).is_file());
    if has(headway_report::study::JSON_FILE) {
        return Err(Error::usage(anyhow!(
            "{shown} is the folder of a study, of several simulated runs, and holds no requests to audit: its report is \
             {} there, its numbers {}; a single run keeps its requests with --log",
            headway_records::folder::REPORT,
            headway_report::study::JSON_FILE
        )));
    }
    if has(headway_records::folder::PLAN) && has(headway_records::folder::SUMMARY) {
        return Err(Error::usage(anyhow!(
            "{shown} is the folder of a run that kept no records (--no-log), and holds no requests to audit: `headway \
             report` shows it"
        )));
    }
    Ok(())
}

/// What the system refuses is its fault; all else is the file's.
fn failure(error: headway_import::Error) -> Error {
    let refused =
        matches!(&error, headway_import::Error::Io { source, .. } if source.raw_os_error().is_some());
    if refused { Error::failed(error) } else { Error::usage(error) }
}

/// Whether the file begins as an Arrow stream or a Parquet file does.
fn is_log(path: &Path) -> anyhow::Result<bool> {
    let mut magic = [0; 4];
    let mut file = fs::File::open(path).with_context(|| path.display().to_string())?;
    Ok(file.read_exact(&mut magic).is_ok() && headway_records::begins_a_log(magic))
}

/// The log of a run.
pub(super) struct Run {
    log: LogReader,
    /// What was run, if the folder tells.
    document: Option<Manifest>,
    labels: Vec<String>,
    /// Numbers of the labels among those of all files, by the run's own.
    steps: Vec<u16>,
    zero: Option<Nanos>,
    /// The seed, if the run was simulated.
    simulated: Option<String>,
    has_users: bool,
}

impl Run {
    fn open(log: PathBuf, folder: Option<&Path>) -> Result<Run, Error> {
        let reader = LogReader::open(&log).map_err(|error| match error {
            headway_records::Error::Io { .. } => error.into(),
            other => Error::usage(other),
        })?;
        let plan =
            folder.map(|folder| folder.join(headway_records::folder::PLAN)).filter(|plan| plan.is_file());
        let document = plan.map(|plan| Manifest::read(&plan)).transpose().map_err(Error::usage)?;
        let entry = |key: &str| reader.metadata().get(key);
        let labels = entry(metadata::STEPS).map(|steps| serde_json::from_str(steps)).transpose();
        let labels: Option<Vec<String>> = labels
            .with_context(|| format!("{}: the labels in its metadata are no list of names", log.display()))
            .map_err(Error::usage)?;
        let zero = entry(metadata::ZERO_UNIX_NS).and_then(|zero| zero.parse().ok()).map(Nanos);
        // Nothing that took place began in 1970.
        let simulated = (zero == Some(Nanos::ZERO))
            .then(|| entry(metadata::SEED).cloned().unwrap_or_else(|| "unknown".to_owned()));
        Ok(Run {
            labels: labels.unwrap_or_default(),
            steps: Vec::new(),
            zero,
            simulated,
            has_users: document.as_ref().is_some_and(|d| d.asked.users.is_some()),
            document,
            log: reader,
        })
    }

    fn next(&mut self, rows: &mut Rows) -> Result<bool, Error> {
        rows.records.clear();
        let zero = self.zero.unwrap_or(Nanos::ZERO);
        let generator = rows.generator;
        let batch = match self.log.next_batch() {
            Ok(batch) => batch.map(|batch| rows.records.extend_from_slice(batch)),
            Err(error @ headway_records::Error::Io { .. }) => return Err(error.into()),
            Err(error) => return Err(Error::usage(error)),
        };
        if batch.is_none() {
            return Ok(false);
        }
        let mut records = std::mem::take(&mut rows.records);
        for record in &mut records {
            while self.steps.len() <= usize::from(record.step) {
                let number = self.steps.len();
                let label = self.labels.get(number).cloned().unwrap_or_else(|| format!("step {number}"));
                self.steps.push(rows.step(label.as_bytes()));
            }
            record.step = self.steps[usize::from(record.step)];
            record.shard = generator;
            if record.kind == Kind::Request {
                // In an audit it is the number of a failure's message, and a log has none.
                record.repeat = 0;
            }
            if self.has_users {
                record.user = rows.user(record.user.to_string().as_bytes());
            }
            later(record, zero);
        }
        rows.records = records;
        Ok(true)
    }

    fn finish(self) -> Ended {
        let version = self.document.as_ref().map(|d| format!("Headway {}", d.headway));
        let mut missing = Vec::new();
        if let Some(Ending::Truncated { .. }) = self.log.ending() {
            missing.push(
                "The log has no end mark: the run was killed or the disk was full, and its last rows are missing."
                    .to_owned(),
            );
        }
        let real = self.simulated.is_none();
        let facts = Facts {
            format: if real { "run of Headway" } else { "simulated run of Headway" }.to_owned(),
            tool: version,
            stamps: Stamps::Start,
            resolution: Nanos(1),
            clock: if real && self.zero.is_some() {
                headway_import::Clock::Unix
            } else {
                headway_import::Clock::Relative
            },
            users: self.has_users,
            sessions: true,
            intended: true,
            ends: true,
            bytes: real,
            outcomes: headway_import::Outcomes::All,
            missing,
            finer: None,
        };
        Ended {
            file: files::of_run(self.log.path(), &facts, self.simulated.as_deref()),
            facts,
            ambiguous: false,
            guessed: false,
        }
    }
}

/// The row with all its instants so much later.
pub(super) fn later(record: &mut Record, by: Nanos) {
    let stamp = |stamp: Stamp| stamp.get().map_or(Stamp::NONE, |at| at.saturating_add(by).into());
    record.intended = record.intended.saturating_add(by);
    record.arrived = record.arrived.saturating_add(by);
    record.started = stamp(record.started);
    record.sent = stamp(record.sent);
    record.first_byte = stamp(record.first_byte);
    record.done = record.done.saturating_add(by);
}

/// The row moved by its own response time; one that never started stays where it is.
pub(super) fn by_response(record: &mut Record, way: Shift) {
    let Some(started) = record.started.get() else { return };
    let response = record.done - started;
    match way {
        Shift::Add => later(record, response),
        Shift::Subtract => later(record, Nanos(-response.0)),
    }
}

/// Whether the row is one of the judged stream or of the other; attempts are of neither.
pub(super) fn is_session(record: &Record) -> Option<bool> {
    match record.kind {
        Kind::Request => Some(false),
        Kind::Session => Some(true),
        Kind::Attempt => None,
    }
}

/// Nothing can be laid over a clock that counts from a tool's own beginning.
pub(super) fn one_clock(files: &[(String, headway_import::Clock)]) -> Result<headway_import::Clock, Error> {
    let Some((first, clock)) = files.first() else { return Ok(headway_import::Clock::Unix) };
    match files.iter().find(|(_, other)| other != clock) {
        None => Ok(*clock),
        Some((other, _)) => {
            let (relative, unix) =
                if *clock == headway_import::Clock::Relative { (first, other) } else { (other, first) };
            Err(Error::usage(anyhow!(
                "{relative} counts time from its own beginning and {unix} from 1970: they cannot be merged; audit \
                 them one by one"
            )))
        }
    }
}
