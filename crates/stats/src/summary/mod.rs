//! The document that a run, a simulation or an audit ends in: `"schema": "headway.summary/1"`.
//!
//! Plain data, serialised and deserialised as it stands; every report is a function of it. Times are in seconds,
//! rates per second, sizes in bytes ([`Units`] says so in the document itself). A number that could not be computed
//! is `null` ([`None`]) and [`Summary::not_computed`] names it by its path in the document (`response.p999`,
//! `response.ci95.p99`) with the reason. Every block has its `n`, the number of observations behind its numbers.
//!
//! A percentile that falls among requests that never got an answer is a lower bound: the number stays a number, and
//! the block's `lower_bound` holds `{"p99": true}` for it. Names that are absent there are exact. A report prints
//! such a value as `> x`.
//!
//! Deliberately absent: any computation, and any formatting for people.

mod arrivals;
mod audit;
mod generator;

pub use arrivals::{Arrivals, Dispersion, Intended, Ks, KsPair, LabelArrivals};
pub use audit::{
    AUDIT_MEASURES, Audit, AuditFile, Column, CountBin, CountCurve, Offset, Resolution, Stream, Tables,
    UnreadableRow,
};
pub use generator::{Generator, Stall, WorkerTime};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the document's shape.
pub const SCHEMA: &str = "headway.summary/1";

/// Lower and upper end of a 95 % confidence interval, in the unit of the value it belongs to.
pub type Interval = [f64; 2];

/// Which percentiles of a block are lower bounds, by field name; only those that are, always with `true`.
pub type LowerBounds = BTreeMap<String, bool>;

/// The whole document.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: String,
    /// The units of all numbers below.
    pub units: Units,
    /// Where the records came from.
    pub source: Source,
    /// Name of the scenario, or of the target.
    pub name: String,
    /// Seed of the plan; none where there is no plan.
    pub seed: Option<u64>,
    /// The command line that produced this, if known.
    pub command: Option<String>,
    /// When the plan's zero was, RFC 3339; none where unknown or simulated.
    pub started_at: Option<String>,
    /// What was asked for; none for a foreign file without an expectation.
    pub plan: Option<PlanSummary>,
    /// The answer to the two questions about the load.
    pub verdict: Verdict,
    /// The stretch of the run that the statistics cover, and what fell outside of it.
    pub measured: Measured,
    /// Headways and dispersion of the arrivals as they started.
    pub arrivals: Arrivals,
    /// Offered, started and completed requests per second.
    pub rate: RateSummary,
    /// Release lag of the arrivals that found a connection: the generator's own lateness.
    pub lag: Tail,
    /// Time due but held back by the cap, the pool or connection set-up, over all arrivals.
    pub blocked: Tail,
    /// Response time (done - intended) over every arrival; those without an answer are censored.
    pub response: Spread,
    /// Response time over successes alone.
    pub response_ok: Spread,
    /// Service time (done - sent) over requests with a first byte.
    pub service: Spread,
    /// Time from the first byte sent to the first byte received.
    pub first_byte: Spread,
    /// Bytes received per complete answer.
    pub bytes: Spread,
    /// Number of requests by how they ended; names as in [`base::Outcome::name`], zero counts left out.
    pub outcomes: BTreeMap<String, u64>,
    /// Response times and outcomes by label of the step.
    pub by_label: BTreeMap<String, LabelSummary>,
    /// Numbers of a closed workload; none for an open one.
    pub closed: Option<Closed>,
    /// One entry per group of users where a foreign file names such groups.
    pub thread_groups: Vec<ThreadGroup>,
    /// The run over time: one row per second, pairs merged until at most 3,600 are left.
    pub series: Vec<SeriesRow>,
    /// Points to draw.
    pub curves: Curves,
    /// What an audit adds: the files, tables by label, counts against Poisson; none for a live run's own report.
    pub audit: Option<Audit>,
    /// How the generator itself fared; none where nothing watched it.
    pub generator: Option<Generator>,
    /// Why a number is null: its path in this document, and the reason in words.
    pub not_computed: BTreeMap<String, String>,
}

/// Units of the document's numbers; constant within a schema version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Units {
    /// Times and spans: `s`.
    pub time: String,
    /// Rates: `1/s`.
    pub rate: String,
    /// Sizes: `B`.
    pub size: String,
}

impl Default for Units {
    fn default() -> Units {
        Units { time: "s".into(), rate: "1/s".into(), size: "B".into() }
    }
}

/// Which of the three worlds the records came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A run against a real system.
    #[default]
    Live,
    /// A simulation.
    Sim,
    /// Another tool's results file.
    Import,
}

/// What was asked for. The caller fills it; nothing is computed from it except texts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanSummary {
    /// Version of the rules by which a seed becomes arrivals.
    pub version: Option<u32>,
    /// Arrival process: `poisson`, `constant`, `uniform`, `gamma(2)`, `closed`, ...
    pub process: String,
    /// Coefficient of variation of the process's gaps; none where it has no such law.
    pub gap_cov: Option<f64>,
    /// Arrivals per second over the hold, of the whole plan and not of one shard.
    pub rate: Option<f64>,
    /// Length of the hold.
    pub duration_s: Option<f64>,
    /// Length of the warm-up that comes before it.
    pub warmup_s: Option<f64>,
    /// Length of the ramp.
    pub ramp_s: Option<f64>,
    /// All phases in order.
    pub phases: Vec<PlanPhase>,
    /// Number of requests of fixed work.
    pub requests: Option<u64>,
    /// Arrivals that the plan holds in its measured phase, where the caller counted them.
    pub arrivals: Option<u64>,
    /// Connection cap, over all threads and shards.
    pub connections: Option<u64>,
    /// Worker threads.
    pub threads: Option<u32>,
    /// The shard that this process ran, `i/N`; none for the whole plan.
    pub shard: Option<String>,
    /// Users of a closed workload.
    pub users: Option<u64>,
    /// Think time law as written.
    pub think: Option<String>,
    /// The target's address as written.
    pub target: Option<String>,
    /// Labels of the steps, in order.
    pub steps: Vec<String>,
    /// `--timeout`.
    pub timeout_s: Option<f64>,
    /// `--connect-timeout`.
    pub connect_timeout_s: Option<f64>,
    /// `--max-wait`.
    pub max_wait_s: Option<f64>,
}

/// One phase of the plan.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanPhase {
    /// How long it lasts.
    pub length_s: f64,
    /// Rate at its beginning.
    pub from: f64,
    /// Rate at its end.
    pub to: f64,
    /// Whether it is sent and not counted.
    pub warmup: bool,
}

/// Was the load sent as asked, and do its starts look like those of independent users? Never merged into one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// Was it sent as asked? Null where there is no plan to compare with.
    pub load: Option<LoadVerdict>,
    /// What the starts look like.
    pub pattern: Pattern,
    /// What a reader must know, the most severe first.
    pub findings: Vec<Finding>,
    /// Every rule with its value, interval and tolerance.
    pub rules: Vec<RuleResult>,
}

/// Was it sent as asked?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LoadVerdict {
    /// Every rule that applies was shown to hold.
    Valid,
    /// A rule was shown not to hold.
    Invalid,
    /// No rule failed, and at least one could not be decided.
    Inconclusive,
}

/// Are the starts like those of independent users?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// As a Poisson process.
    Independent,
    /// More variable than independent users.
    Bunched,
    /// More regular than independent users.
    Even,
    /// Too few arrivals to tell.
    Undecided,
    /// Nothing to judge.
    #[default]
    #[serde(rename = "n/a")]
    NotApplicable,
}

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Info,
    /// The numbers need care.
    Warning,
    /// The load was not what was asked for, or the numbers do not mean what they seem to.
    Error,
}

/// One thing to know about the run: effect, when, and cause.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// Stable identifier, e.g. `late`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// Effect and cause in one or two plain sentences.
    pub text: String,
    /// Size of the effect, in the unit that the text names.
    pub value: Option<f64>,
    /// 95 % interval of the value.
    pub interval: Option<Interval>,
    /// The tolerance that the value was held against.
    pub limit: Option<f64>,
    /// When, as ranges of seconds since the plan's zero; empty means throughout or not tied to a time.
    pub at: Vec<[f64; 2]>,
    /// Number of observations behind it.
    pub n: u64,
}

/// One row of the table of load rules.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleResult {
    /// `sent-share`, `late-share`, `bunching`, `dispersion`, `users-held` or `all-issued`.
    pub rule: String,
    /// Window of the `dispersion` rule; null for the others.
    pub window: Option<f64>,
    /// The statistic.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The values that are tolerated.
    pub limits: Limits,
    /// What follows.
    pub outcome: RuleOutcome,
    /// Number of observations behind the value.
    pub n: u64,
    /// Why it is undecided or does not apply; null otherwise.
    pub reason: Option<String>,
}

/// A range of tolerated values; an open end is null.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Smallest tolerated value.
    pub low: Option<f64>,
    /// Largest tolerated value.
    pub high: Option<f64>,
}

/// What a rule says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleOutcome {
    /// The interval lies inside the limits.
    Pass,
    /// The interval lies outside the limits.
    Fail,
    /// The interval lies astride a limit, or could not be computed.
    Undecided,
    /// The rule is not for this kind of workload.
    #[default]
    NotApplicable,
}

/// What the statistics cover.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// End of the warm-up.
    pub from_s: f64,
    /// End of the plan, or the instant at which the run was cut short.
    pub to_s: f64,
    /// Arrivals that fell due within, sent or not.
    pub n: u64,
    /// Requests that were due before, during warm-up; sent and left out.
    pub warmup: u64,
    /// Requests that were due at or after the end; left out.
    pub after: u64,
    /// Whether the run was cut short.
    pub interrupted: bool,
}

/// Requests per second over the measured phase.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RateSummary {
    /// Number of arrivals that fell due.
    pub n: u64,
    /// Arrivals that fell due, per second.
    pub offered: Option<f64>,
    /// Arrivals that started, per second.
    pub started: Option<f64>,
    /// Complete answers to them, per second.
    pub completed: Option<f64>,
}

/// The tail of a span of time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tail {
    /// Number of observations.
    pub n: u64,
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Percentiles that are lower bounds.
    pub lower_bound: LowerBounds,
}

/// A distribution: moments, percentiles and 95 % intervals that allow for dependence.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// Number of observations, censored ones included.
    pub n: u64,
    /// Of those, the ones without an answer: they count as "longer than when it was given up".
    pub censored: u64,
    /// Mean (a lower bound when observations are censored).
    pub mean: Option<f64>,
    /// Standard deviation (n - 1).
    pub sd: Option<f64>,
    /// Coefficient of variation.
    pub cov: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// 95 % intervals.
    pub ci95: Intervals,
    /// Which of `mean`, `p50` ... `max` are lower bounds.
    pub lower_bound: LowerBounds,
}

/// 95 % intervals of a [`Spread`].
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Intervals {
    /// Of the mean.
    pub mean: Option<Interval>,
    /// Of the median.
    pub p50: Option<Interval>,
    /// Of the 90th percentile.
    pub p90: Option<Interval>,
    /// Of the 95th percentile.
    pub p95: Option<Interval>,
    /// Of the 99th percentile.
    pub p99: Option<Interval>,
    /// Of the 99.9th percentile.
    pub p999: Option<Interval>,
}

/// What one label saw.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelSummary {
    /// Number of requests.
    pub n: u64,
    /// Response time, as [`Summary::response`]; percentiles to 3 %, no intervals.
    pub response: Spread,
    /// Number of requests by how they ended.
    pub outcomes: BTreeMap<String, u64>,
}

/// Numbers of a closed workload.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Closed {
    /// Number of responses behind it.
    pub n: u64,
    /// Users (threads) that the records name.
    pub users: Option<f64>,
    /// Mean response time R.
    pub response: Option<f64>,
    /// Mean think time Z: as asked for, else as recovered from the records.
    pub think: Option<f64>,
    /// Standard deviation of the recovered think times.
    pub think_sd: Option<f64>,
    /// Smallest recovered think time.
    pub think_min: Option<f64>,
    /// Largest recovered think time.
    pub think_max: Option<f64>,
    /// Number of recovered think times.
    pub think_n: u64,
    /// R/(Z+R): the share of a user's cycle spent waiting.
    pub rort: Option<f64>,
    /// rate x (Z+R), the number of users by Little's law (Little 1961).
    pub n_little: Option<f64>,
    /// Think time that would bring R/(Z+R) to 3 % at the same rate.
    pub think_for_3_percent: Option<f64>,
    /// Users that would then be needed for the same rate.
    pub users_for_3_percent: Option<f64>,
    /// Most requests in flight at once.
    pub in_flight_max: Option<u64>,
    /// Share of the time in which at least 95 % of the users were waiting for an answer.
    pub all_waiting: Option<f64>,
}

/// The first k users (threads) of a foreign file together: how the CoV grows with their number.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadGroup {
    /// Its name: `1-20`.
    pub name: String,
    /// Users in it.
    pub users: u64,
    /// Number of headways.
    pub n: u64,
    /// Requests per second.
    pub rate: Option<f64>,
    /// Mean headway.
    pub headway_mean: Option<f64>,
    /// Standard deviation of headways (n - 1).
    pub headway_sd: Option<f64>,
    /// Coefficient of variation of its headways.
    pub cov: Option<f64>,
    /// Its standard error (delta method).
    pub cov_se: Option<f64>,
}

/// What happened between two instants.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SeriesRow {
    /// Seconds since the plan's zero at which the row begins.
    pub from_s: f64,
    /// At which it ends.
    pub to_s: f64,
    /// Arrivals that started within.
    pub started: u64,
    /// Requests that ended as ok within.
    pub completed: u64,
    /// Requests that ended otherwise within.
    pub failed: u64,
    /// Requests due within that have ended: the sample of the three numbers below.
    pub n: u64,
    /// Median response time of those, to 3 %.
    pub p50: Option<f64>,
    /// 99th percentile, to 3 %.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// Points to draw.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Curves {
    /// Percentile curves.
    pub percentiles: PercentileCurves,
    /// Histogram of headways with the counts to expect; none without headways.
    pub headway: Option<HeadwayCurve>,
}

/// Percentile curves, as far out as 10 observations lie beyond.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PercentileCurves {
    /// Of response time.
    pub response: Vec<CurvePoint>,
    /// Of service time.
    pub service: Vec<CurvePoint>,
}

/// One point of a percentile curve.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CurvePoint {
    /// Percentile, 0 to 100.
    pub percentile: f64,
    /// Value.
    pub value: f64,
    /// Whether the value is a lower bound.
    pub lower_bound: bool,
}

/// Headways in units of the mean headway, and what the law leads one to expect.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadwayCurve {
    /// Number of headways.
    pub n: u64,
    /// The law behind `expected`: `plan`, or `exponential` where there is no plan.
    pub law: String,
    /// Mean headway in seconds: what one unit of `from` and `to` is worth (on average, if the plan's rate varies).
    pub unit_s: f64,
    /// Bins of equal width.
    pub bins: Vec<HeadwayBin>,
    /// Headways beyond the last bin.
    pub tail: HeadwayBin,
}

/// One bin of the headway histogram.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadwayBin {
    /// Lower edge in mean headways.
    pub from: f64,
    /// Upper edge in mean headways; null for the tail.
    pub to: Option<f64>,
    /// Headways within.
    pub observed: u64,
    /// Headways to expect.
    pub expected: f64,
}
