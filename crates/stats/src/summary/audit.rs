//! What an audit adds to the document: which files were read and how, tables by label, counts against Poisson.
//!
//! Deliberately absent: what a run has as well (headways, dispersion, response times, verdict); it stands where a run's
//! stands.

use super::known::known;
use super::{FindingId, LoadVerdict, Pattern, StampsHow, Stated, Text};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// The audit's block.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Audit {
    /// The files, in the order given. The caller fills it.
    pub files: Vec<AuditFile>,
    /// Which stream the pattern is judged of.
    pub stream: Stream,
    /// The seed of the dither.
    pub dither_seed: u64,
    /// What the stamps resolve, and what that leaves to be said.
    pub resolution: Resolution,
    /// Instant of the first start before any selection, RFC 3339; none on a relative clock.
    pub first_start: Option<String>,
    /// Stretch that was selected, seconds since the first start; none for all.
    pub selected: Option<[f64; 2]>,
    /// Whether failed requests were left out.
    pub success_only: bool,
    /// Rows read that the selection left out.
    pub outside: u64,
    /// Rule of the quantiles in [`Audit::tables`]: `smallest x with F(x) >= p`, or `brady`.
    pub quantile_rule: String,
    /// Which measure of spread the tables show: `cov`, or `vmr` (variance over mean).
    pub dispersion: String,
    /// Percentiles in [`Audit::tables`], each from 0 to 100.
    pub percentiles: Vec<f64>,
    /// Tables by label and in total.
    pub tables: Tables,
    /// Counts per interval against Poisson.
    pub counts: Option<CountCurve>,
    /// Clock offsets between generators; empty with one generator.
    pub offsets: Vec<Offset>,
    /// Users (threads) that the records name; none where they name none.
    pub users: Option<u64>,
    /// Names of the generators.
    pub generators: Vec<Cleared>,
    /// Which failures the files do not record, as a clause; none where every failure is a row.
    pub unrecorded: Option<String>,
    /// Failures by outcome, status and message, the most frequent first; at most [`MOST_FAILURES`].
    pub failures: Vec<FailureKind>,
    /// Kinds of failures beyond those.
    pub more_failures: u64,
    /// The cause named for a pattern that is not independent, or `unknown`; none where nothing needs a cause.
    pub cause: Option<FindingId>,
    /// The pattern if the stamps that nothing shows to be starts were ends; none where there are no such.
    pub other_reading: Option<OtherReading>,
    /// By how much the p99 is off because the starts are not independent; none where they are, and where it cannot be estimated
    /// (`not_computed` has the reason under `audit.estimated`).
    pub estimated: Option<P99Off>,
}

/// An estimate, not a measurement: the p99 under the starts of the file beside the p99 under independent (Poisson) starts at the same
/// rate, both of a station of c servers, first come first served, that is fitted to the file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct P99Off {
    /// Requests that were replayed: those of the file, at most the first 100,000.
    pub n: u64,
    /// Their rate.
    pub rate: f64,
    /// Numbers of servers of the station that fit, the best first.
    pub servers: Vec<u64>,
    /// Share of the time for which the servers were busy.
    pub busy: f64,
    /// Mean service time in seconds.
    pub service_mean: f64,
    /// Median response time of the file, and of the station under the starts of the file.
    pub p50_observed: f64,
    /// The latter.
    pub p50_replayed: f64,
    /// 99th percentile of the file.
    pub p99_observed: f64,
    /// That of the station under the starts of the file.
    pub p99_replayed: f64,
    /// That of the station under independent starts.
    pub p99_independent: f64,
    /// By how much the p99 is off, as a share of that under independent starts: above zero it is too high.
    pub off: f64,
    /// Its 95 % confidence interval.
    pub ci95: [f64; 2],
    /// Replications behind it.
    pub replications: u64,
}

/// The pattern under the other reading of ambiguous stamps.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherReading {
    /// What the stamps would be: `end`.
    pub stamps: String,
    /// Was the load sent as expected? Null without an expectation.
    pub load: Option<LoadVerdict>,
    /// The pattern of the starts computed so.
    pub pattern: Pattern,
    /// CoV of their headways.
    pub cov: Option<f64>,
    /// Its standard error (delta method).
    pub cov_se: Option<f64>,
    /// The cause named for it.
    pub cause: Option<FindingId>,
}

/// Kinds of failures that are listed.
pub const MOST_FAILURES: usize = 50;

/// Failed requests that ended in one way.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureKind {
    /// How they ended: the name of an outcome.
    pub outcome: String,
    /// Status code; 0 without one.
    pub status: u16,
    /// What the tool says of them; empty where it says nothing.
    pub message: Cleared,
    /// How many.
    pub n: u64,
    /// Seconds from the first start of all rows to the start of the first of them.
    pub first_s: f64,
    /// The same of the last.
    pub last_s: f64,
}

/// Which stream of starts is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// All requests.
    #[default]
    Requests,
    /// Starts of sessions (iterations, users): requests within one depend on each other.
    Sessions,
}

/// One file that was read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditFile {
    /// Its path as given; `-` for standard input.
    pub path: Cleared,
    /// Name of the format: `jmeter-csv`.
    pub format: String,
    /// Format in words, as found.
    pub description: Cleared,
    /// Tool and version, if the file says.
    pub tool: Option<Cleared>,
    /// How it was compressed: `gz`, `zst`.
    pub compression: Option<String>,
    /// `start` or `end`: what its stamps tell.
    pub stamps: String,
    /// How that is known.
    pub stamps_how: Option<Stated<StampsHow>>,
    /// What the last digit of a stamp is worth, in seconds.
    pub digit_s: f64,
    /// Requests read.
    pub rows: u64,
    /// Sessions read.
    pub sessions: u64,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// The first of them.
    pub examples: Vec<UnreadableRow>,
    /// Rows left out on purpose, with the reason.
    pub left_out: Vec<(String, u64)>,
    /// What the file cannot tell, a sentence each.
    pub missing: Vec<Cleared>,
    /// The tool's option that gives finer stamps.
    pub finer: Option<String>,
}

/// A row that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UnreadableRow {
    /// Its line, from 1.
    pub line: u64,
    /// What stands there, shortened.
    pub found: Cleared,
    /// What was expected.
    pub expected: String,
}

/// What the resolution q of the stamps leaves to be said.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Resolution {
    /// What the last digit of the stamps is worth, in seconds.
    pub digit_s: f64,
    /// The grid that all stamps lie on, in seconds: at least the digit.
    pub grid_s: f64,
    /// Rate of the judged stream x grid.
    pub rate_x_q: Option<f64>,
    /// Whether headways may decide the pattern: rate x q at most 0.5. Otherwise counts in windows of at least 10 q do.
    pub headways_decide: bool,
    /// Labels whose own rate x q is above 0.5: the headways in their rows describe the grid and not the users.
    pub coarse_labels: u64,
}

/// Measures of [`Tables`], in order: the field names.
pub const AUDIT_MEASURES: [&str; 5] = ["headways", "response", "first_byte", "bytes", "bandwidth"];

/// Tables by label, the total last. Empty where the files do not hold what they need.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tables {
    /// Headways of the requests in seconds.
    pub headways: Vec<Column>,
    /// Response times in seconds.
    pub response: Vec<Column>,
    /// Times to the first byte in seconds.
    pub first_byte: Vec<Column>,
    /// Bytes received.
    pub bytes: Vec<Column>,
    /// Bytes received per second of response time.
    pub bandwidth: Vec<Column>,
}

/// One label's row in one table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Column {
    /// The label; `Total` for all.
    pub label: Cleared,
    /// Number of observations (of headways one less than of requests).
    pub n: u64,
    /// Observations per second of the time from the first start to the last end.
    pub rate: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation (n - 1).
    pub sd: Option<f64>,
    /// Coefficient of variation.
    pub cov: Option<f64>,
    /// Its standard error (delta method).
    pub cov_se: Option<f64>,
    /// Its standard error if exponential: 1/sqrt(n). Of headways only.
    pub cov_se_poisson: Option<f64>,
    /// Variance over mean.
    pub vmr: Option<f64>,
    /// The percentiles named in [`Audit::percentiles`].
    pub percentiles: Vec<Option<f64>>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Requests of this label without an observation, of bandwidth only: they took no time by their stamps.
    pub left_out: u64,
    /// Failed requests of this label (in every table the same).
    pub failed: u64,
    /// Bytes per second received over the whole span, where bytes are known.
    pub bytes_per_second: Option<f64>,
}

/// Number of arrivals per interval: how often each count came, against Poisson counts of the same mean.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CountCurve {
    /// Length of an interval in seconds.
    pub interval_s: f64,
    /// Number of intervals.
    pub n: u64,
    /// Mean count.
    pub mean: f64,
    /// Variance over mean.
    pub vmr: f64,
    /// Intervals without any arrival.
    pub empty: u64,
    /// One bin per count, from 0; with a mean above 100 they begin 100 below it, and the first holds all below too.
    pub bins: Vec<CountBin>,
}

/// How often a count came.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CountBin {
    /// The count; the last bin holds it and all above.
    pub count: u64,
    /// Intervals with that count.
    pub observed: u64,
    /// Intervals to expect of Poisson counts.
    pub expected: f64,
}

/// How far two generators' clocks may be apart.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Offset {
    /// Generator.
    pub generator: Cleared,
    /// Seconds that its clock is ahead of the first generator's; none where unknown.
    pub ahead_s: Option<f64>,
    /// How that is known, or why it is not; null in what was written before this key was.
    #[serde(deserialize_with = "known")]
    pub related: Option<ClocksRelated>,
    /// The same in words: written by the report, and shown as read where `related` is null.
    pub how: Text,
    /// Number of requests behind it.
    pub n: u64,
}

/// How two clocks were related.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers and names of the sentence: seconds by `_s`")]
pub enum ClocksRelated {
    /// By the target's log: only with `leader` so far ahead each request reached the target between its start and its end.
    Target { leader: Cleared, low_s: f64, high_s: f64 },
    /// Not: nothing in the files relates them.
    Nothing,
    /// Not: each file counts from its own beginning, where they are laid over each other.
    Beginnings,
    /// Not: one of them counts from its own beginning.
    OneBeginning,
    /// Not: without the ends of requests there is no bound on one side.
    NoEnds,
    /// Not: no one offset brings all requests together.
    NoOneOffset,
    /// Not: the target's log has so many requests, the file so many, and no label stands in both equally often.
    NoCommonLabel { target: u64, file: Cleared, n: u64 },
}
