//! The audit of a foreign load: two passes over its rows.
//!
//! The first pass, in the order of the file, is a [`Survey`]: how many rows, from when to when, on which grid their
//! stamps lie. The second, in the order of `started`, is the [`Auditor`], which knows all that and so needs no more than
//! running sums.
//!
//! Deliberately absent: files, sorting, and what a row was before it became a [`base::Record`].

mod survey;

pub use survey::Survey;

use crate::analysis::Analysis;
use crate::setup::{Facts, Setup};
use crate::summary::{Stream, Summary};
use base::{Batch, Kind, Nanos, Record, Start};

/// How quantiles in the tables are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QuantileRule {
    /// Smallest x with F(x) >= p.
    #[default]
    Smallest,
    /// As Brady's tool takes them: the value at place int(p (n - 0.5)) of the sorted sample, counted from 0, and the lower
    /// median (Brady 2012).
    Brady,
}

/// What an audit must know before its second pass.
#[derive(Debug)]
pub struct AuditSetup {
    /// What the analysis must know: labels, the selected stretch, the expectation if there is one, resolution, rate.
    pub setup: Setup,
    /// Names of the users (threads) by number; empty where unknown.
    pub users: Vec<String>,
    /// Names of the generators by number.
    pub generators: Vec<String>,
    /// Requests by label, from the survey.
    pub label_counts: Vec<u64>,
    /// Which stream is judged.
    pub stream: Stream,
    /// Whether the ends of requests are known.
    pub ends: bool,
    /// Whether bytes are known.
    pub bytes: bool,
    /// Starts of the judged stream within the selected stretch, from the survey.
    pub starts: u64,
    /// What the last digit of a stamp is worth.
    pub digit: Nanos,
    /// Seed of the dither.
    pub dither_seed: u64,
    /// Sizes of the groups of users whose CoV is told; empty: 1, 2, 5, 10, 20, 50 ... and all.
    pub by_threads: Vec<u64>,
    /// Percentiles of the tables, each from 0 to 100.
    pub percentiles: Vec<f64>,
    /// Their rule.
    pub quantiles: QuantileRule,
    /// Length of the intervals of the count curve; none: twice the mean headway, in whole multiples of the resolution.
    pub count_interval: Option<Nanos>,
}

/// Rows handed to the analysis at a time.
const BATCH: usize = 256;

/// The second pass.
#[derive(Debug)]
pub struct Auditor {
    stream: Stream,
    analysis: Analysis,
    batch: Batch,
}

impl Auditor {
    /// An audit, before its second pass.
    pub fn new(setup: AuditSetup) -> Auditor {
        Auditor { stream: setup.stream, analysis: Analysis::new(setup.setup), batch: Batch::default() }
    }

    /// Takes a row, in the order of `started` (of `intended` where it never started), sessions and requests alike.
    #[inline]
    pub fn row(&mut self, record: &Record) {
        let judged = match self.stream {
            Stream::Requests => Kind::Request,
            Stream::Sessions => Kind::Session,
        };
        if let Some(started) = record.started.get().filter(|_| record.kind == judged) {
            let intended = record.intended;
            self.batch.starts.push(Start { intended, started, wait: Nanos::ZERO, step: record.step });
        }
        self.batch.records.push(*record);
        if self.batch.records.len() >= BATCH {
            self.flush(record.started.get().unwrap_or(record.intended), false);
        }
    }

    fn flush(&mut self, watermark: Nanos, last: bool) {
        self.batch.watermark = watermark;
        self.batch.last = last;
        self.analysis.batch(&self.batch);
        self.batch.starts.clear();
        self.batch.records.clear();
    }

    /// Sums up. The caller fills what only it knows: the files, names, times of day.
    pub fn finish(mut self, facts: Facts) -> Summary {
        self.flush(Nanos(i64::MAX), true);
        self.analysis.finish(facts)
    }
}
