//! The specification of an audit.

use super::begin::Begin;
use super::first_pass::Read;
use crate::Error;
use anyhow::anyhow;
use headway_base::{Lateness, Nanos, Rate};
use headway_stats::audit::QuantileRule;
use headway_stats::summary::Stream;
use headway_workload::Process;
use headway_workload::redact::{Cleared, Redactor};
use std::path::PathBuf;

/// What an audit is.
#[derive(Clone, Debug)]
pub struct AuditSpec {
    /// The files, each once.
    pub files: Vec<PathBuf>,
    /// What the user says about them.
    pub options: headway_import::Options,
    /// What ambiguous stamps are; none: decided from the rows.
    pub stamps: Option<headway_import::Stamps>,
    /// Whether and how every row moves by its own response time.
    pub shift: Option<Shift>,
    /// Whether a file may hold more than 1 % unreadable rows.
    pub lenient: bool,
    /// Where the rows that are judged begin.
    pub from: Begin,
    /// Length of what is not left out; none: to the end.
    pub span: Option<Nanos>,
    /// Whether failed requests are left out.
    pub success_only: bool,
    /// Which stream is judged; none: sessions if there are any.
    pub stream: Option<Stream>,
    /// What the load was meant to be.
    pub expect: Option<Expect>,
    /// The longest lateness that is forgiven; none: by the service times.
    pub lateness: Option<Lateness>,
    /// Sizes of the groups of users.
    pub by_threads: Vec<u64>,
    /// Percentiles of the tables.
    pub percentiles: Vec<f64>,
    /// Their rule.
    pub quantiles: QuantileRule,
    /// Length of the intervals of the count curve.
    pub count_interval: Option<Nanos>,
    /// Sizes of the cells of histograms.
    pub cells: Vec<Nanos>,
    /// How many cells a histogram has at most.
    pub most_cells: usize,
    /// Labels of the requests that are pages.
    pub pages: Vec<Cleared>,
    /// Which measure of spread the tables show.
    pub dispersion: Dispersion,
    /// Seed of the dither.
    pub seed: u64,
    /// What else is written.
    pub exports: Exports,
    /// The command that repeats the audit.
    pub command: Cleared,
}

/// Files that an audit writes on its way, each new; none of those that are none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exports {
    /// Folder of the histograms of headways and response times.
    pub histograms: Option<PathBuf>,
    /// The judged requests.
    pub rows: Option<PathBuf>,
    /// The failed requests.
    pub failures: Option<PathBuf>,
    /// Every row that cannot be read.
    pub unreadable: Option<PathBuf>,
    /// Whether the audit's watch is given every judged request.
    pub requests: bool,
}

/// Which way rows move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// Later.
    Add,
    /// Earlier.
    Subtract,
}

/// Measure of spread in tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispersion {
    /// Coefficient of variation: standard deviation over mean.
    Cov,
    /// Variance-to-mean ratio.
    Vmr,
}

/// What a load was meant to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Expect {
    /// The arrival process.
    pub process: Process,
    /// Its rate.
    pub rate: Rate,
}

impl AuditSpec {
    /// An audit of these files with everything else at its default.
    pub fn of(files: Vec<PathBuf>) -> AuditSpec {
        AuditSpec {
            files,
            options: headway_import::Options::default(),
            stamps: None,
            shift: None,
            lenient: false,
            from: Begin::default(),
            span: None,
            success_only: false,
            stream: None,
            expect: None,
            lateness: None,
            by_threads: Vec::new(),
            percentiles: vec![90.0, 95.0, 99.0],
            quantiles: QuantileRule::Smallest,
            count_interval: None,
            cells: Vec::new(),
            most_cells: 0,
            pages: Vec::new(),
            dispersion: Dispersion::Cov,
            seed: 1,
            exports: Exports::default(),
            command: Cleared::default(),
        }
    }

    /// Whether some rows may be left out.
    pub fn selects(&self) -> bool {
        self.from != Begin::default() || self.span.is_some() || self.success_only
    }

    /// Refuses pages that are no labels of the files.
    pub(super) fn pages_are_known(&self, read: &Read) -> Result<(), Error> {
        let labels = read.labels.as_slice();
        let Some(unknown) = self.pages.iter().find(|page| !labels.iter().any(|label| *label == ***page))
        else {
            return Ok(());
        };
        let mut known: Vec<&str> = labels.iter().map(String::as_str).collect();
        known.sort_unstable();
        let more = if known.len() > MOST_LABELS { ", ..." } else { "" };
        known.truncate(MOST_LABELS);
        Err(Error::usage(anyhow!(
            "--pages: no request has the label '{unknown}'; labels are {}{more}",
            known.join(", ")
        )))
    }

    /// The files in a few words.
    pub(super) fn names(&self) -> Cleared {
        let names = match self.files.as_slice() {
            [one] => one.display().to_string(),
            [first, more @ ..] => format!("{} and {} more", first.display(), more.len()),
            [] => String::new(),
        };
        Redactor::default().clear(&names)
    }
}

/// Labels that are listed where one is not known.
const MOST_LABELS: usize = 20;
