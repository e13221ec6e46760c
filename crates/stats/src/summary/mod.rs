//! The document that a run, a simulation or an audit ends in: `"schema": "headway.summary/2"`.
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
mod closed;
mod connects;
mod curves;
mod decoded;
mod effect;
mod events;
pub mod evidence;
mod failures;
mod generator;
mod generator_share;
mod known;
mod percentiles;
mod plan;
mod series;
mod sessions;
mod shards;
mod simulation;
mod tags;
mod text;
mod threshold;
mod time_split;
mod verdict;
mod why;
pub mod withhold;

pub use crate::findings::{FindingId, Subject};
pub use crate::rules::RuleId;
pub use arrivals::{Arrivals, Dispersion, Intended, Ks, KsPair, LabelArrivals};
pub use audit::{
    AUDIT_MEASURES, Audit, AuditFile, ClocksRelated, Column, CountBin, CountCurve, FailureKind,
    MOST_FAILURES, Offset, OtherReading, P99Off, Resolution, Stream, Tables, UnreadableRow,
};
pub use closed::{Closed, Estimated, LanesFrom, Pages, Supported, ThreadGroup};
pub use connects::{ConnectCounts, ConnectRates, ConnectRow, Connects};
pub use curves::{
    CurvePoint, Curves, HeadwayBin, HeadwayCurve, HistogramBin, PercentileCurves, ResponseGrid,
};
pub use decoded::Decoded;
pub use effect::{Effect, EffectBasis, NumberEffect};
pub use events::{EventNumbers, Events};
pub use evidence::Evidence;
pub use failures::{Failure, FailureReason, FailureReasons, LimitMet};
pub use generator::{
    DatagramRow, Departures, DmaLatency, Generator, IdleLoops, Names, Stall, StrayCounts, Strays, Wait,
    WaitStrategy, WorkerTime,
};
pub use generator_share::GeneratorShare;
pub use percentiles::{PERCENTILES, Percentile, percentile_key};
pub use plan::{PlanKind, PlanLog, PlanPhase, PlanSummary};
pub use series::{LabelRow, MeanParts, OTHER_STATUSES, SeriesRow, failure_kind};
pub use sessions::{Held, Sessions};
pub use shards::{ShardCoverage, ShardLog};
pub use simulation::{CopyLoad, Infinite, LittleIdentity, ModelPart, PartPoint, Simulation, Steady};
pub(crate) use tags::tags;
pub use text::Text;
pub use threshold::{Ends, Open, Operator, SessionsOver, ThresholdOutcome, ThresholdResult, ThresholdUnit};
pub use time_split::{TimePart, TimeSplit};
pub use verdict::{
    Finding, LimitedBy, Limits, LoadVerdict, Pattern, RuleOutcome, RuleResult, RuleRow, ScaleEnd, Severity,
    Verdict,
};

pub use why::{DependsOn, Disturbance, Grows, PlanPart, Reason, StampsHow, Stated, Unsteady, Why};

use crate::setup::Workload;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the document's shape.
pub const SCHEMA: &str = "headway.summary/2";

/// Why numbers are null, by their paths in the document.
pub type NotComputed = BTreeMap<String, Stated<Why>>;

/// Lower and upper end of a 95 % confidence interval, in the unit of the value it belongs to.
pub type Interval = [f64; 2];

/// Which percentiles of a block are lower bounds, by field name; only those that are, always with `true`.
pub type LowerBounds = BTreeMap<String, bool>;

/// Outcomes of requests that got no established connection.
pub const UNCONNECTED: [headway_base::Outcome; 4] = [
    headway_base::Outcome::Refused,
    headway_base::Outcome::ConnectTimeout,
    headway_base::Outcome::Dns,
    headway_base::Outcome::Tls,
];

impl Summary {
    /// Whether requests were tried, and not one of them got an established connection. Those that were never started tell nothing of
    /// it.
    pub fn is_unreachable(&self) -> bool {
        use headway_base::Outcome;
        let of = |outcomes: &[Outcome]| -> u64 {
            outcomes.iter().filter_map(|outcome| self.outcomes.get(outcome.name())).sum()
        };
        let all: u64 = self.outcomes.values().sum();
        // Attempts against a full queue fail by design: it has taken some before.
        let reached = self.series.iter().any(|row| row.established.is_some_and(|n| n > 0));
        let failed = of(&UNCONNECTED);
        let never_started = of(&[Outcome::LocalLimit, Outcome::Shed, Outcome::Unsent]);
        failed > 0 && failed + never_started == all && !reached
    }
}

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
    pub name: Cleared,
    /// Seed of the plan; none where there is no plan.
    pub seed: Option<u64>,
    /// The command line that produced this, if known.
    pub command: Option<Cleared>,
    /// When the plan's zero was, RFC 3339; none where unknown or simulated.
    pub started_at: Option<String>,
    /// How the load came about; none in documents of versions that knew open ones alone.
    pub workload: Option<Workload>,
    /// What was asked for; none for a foreign file without an expectation.
    pub plan: Option<PlanSummary>,
    /// The answer to the two questions about the load.
    pub verdict: Verdict,
    /// What was demanded of the numbers, and whether it held; in the order in which it was asked.
    pub thresholds: Vec<ThresholdResult>,
    /// The stretch of the run that the statistics cover, and what fell outside of it.
    pub measured: Measured,
    /// Headways and dispersion of the arrivals as they started.
    pub arrivals: Arrivals,
    /// Offered, started and completed requests per second, and goodput.
    pub rate: RateSummary,
    /// Release lag of the arrivals that found a connection: the generator's own lateness.
    pub lag: Tail,
    /// Time due but held back by the cap, the pool or connection set-up, over all arrivals.
    pub blocked: Tail,
    /// Response time (done - intended) over every arrival; those without an answer are censored.
    pub response: Spread,
    /// Which of these response times are open, and which are conditional on the answers before; null where it is not known, as
    /// of another tool's results, and where sockets are kept connecting, which wait for no answer.
    pub response_kind: Option<ResponseKind>,
    /// The open ones alone: of requests that were due by the plan. Null where there are none, and where there are no others.
    pub response_open: Option<Spread>,
    /// Those within sessions and in users' loops alone: each due at the end of the request before plus think time, and so
    /// conditional on it. Null where there are none, and where there are no others.
    pub response_session: Option<Spread>,
    /// Response time over successes alone.
    pub response_ok: Spread,
    /// Service time (done - sent) over requests with a first byte.
    pub service: Spread,
    /// Time from the first byte sent to the first byte received.
    pub first_byte: Spread,
    /// Metrics that have no field of their own, by name: `connect` (time to a new connection, TLS handshake included). Left out of the document
    /// where none was observed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Spread>,
    /// Parts of the time of requests that no other block has; none of a simulation and of another tool's results.
    pub time_split: Option<TimeSplit>,
    /// What became of attempts to connect; left out of the document unless each request opens a connection of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connects: Option<Connects>,
    /// Events of responses; left out of the document unless steps ask for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// Bytes received per complete answer.
    pub bytes: Spread,
    /// Bodies that were decoded for checks and extraction, over the whole run, warm-up included; null where none were.
    pub decoded: Option<Decoded>,
    /// Number of requests by how they ended; names as in [`headway_base::Outcome::name`], zero counts left out.
    pub outcomes: BTreeMap<String, u64>,
    /// Of the requests that failed: by outcome, status code and step, the most frequent first. Their sum is that of the outcomes.
    pub failures: Vec<Failure>,
    /// Why requests failed, over the whole run, warm-up included; of live runs.
    pub failure_reasons: FailureReasons,
    /// Response times and outcomes by label of the step.
    ///
    /// A label is text that has passed the gate, as all that a user typed or a target said is in this document:
    /// ```compile_fail
    /// let typed: String = std::env::args().collect();
    /// let mut summary = headway_stats::Summary::default();
    /// summary.by_label.insert(typed, Default::default());
    /// ```
    /// ```compile_fail
    /// let typed: String = std::env::args().collect();
    /// let threshold = headway_stats::summary::ThresholdResult { text: typed, ..Default::default() };
    /// ```
    /// ```compile_fail
    /// let typed: String = std::env::args().collect();
    /// let file = headway_stats::summary::AuditFile { path: typed, ..Default::default() };
    /// ```
    /// ```
    /// let typed: String = std::env::args().collect();
    /// let mut summary = headway_stats::Summary::default();
    /// summary.by_label.insert(headway_redact::clear(&typed), Default::default());
    /// let text = headway_redact::clear(&typed);
    /// let threshold = headway_stats::summary::ThresholdResult { text, ..Default::default() };
    /// let path = headway_redact::clear(&typed);
    /// let file = headway_stats::summary::AuditFile { path, ..Default::default() };
    /// ```
    pub by_label: BTreeMap<Cleared, LabelSummary>,
    /// Numbers of a workload in which users wait for their answers; none for an open one.
    pub closed: Option<Closed>,
    /// Sessions of more than one request that arrive; none where there are none.
    pub sessions: Option<Sessions>,
    /// One entry per group of users where a foreign file names such groups.
    pub thread_groups: Vec<ThreadGroup>,
    /// The run over time: one row per second, pairs merged until at most 3,600 are left. Of a run of at most a minute with a measured
    /// phase below ten seconds the rows are 0.1 s long, below thirty 0.2 s, below sixty 0.5 s, where they hold five requests on average and
    /// stamps are ten times as fine.
    pub series: Vec<SeriesRow>,
    /// Points to draw.
    pub curves: Curves,
    /// What an audit adds: the files, tables by label, counts against Poisson; none for a live run's own report.
    pub audit: Option<Audit>,
    /// What a simulation can tell besides; none of other sources.
    pub simulation: Option<Simulation>,
    /// The shards that the run was merged of, those that are missing included; left out of a run that was not merged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<ShardCoverage>,
    /// How the generator itself fared; none where nothing watched it.
    pub generator: Option<Generator>,
    /// Why a number is null: its path in this document, and the reason.
    pub not_computed: NotComputed,
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

/// What the response times of a run are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseKind {
    /// Every request was due by the plan: nobody's answer decided when it began.
    #[default]
    Open,
    /// Some were, and some were due at the answer before them plus think time.
    Mixed,
    /// Every request was due at the response before it plus think time: a slow target is asked less.
    Loop,
}

/// What the statistics cover.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// End of the warm-up.
    pub from_s: f64,
    /// End of the plan, or the instant at which the run was cut short.
    pub to_s: f64,
    /// Requests that fell due within (or whose session did), sent or not.
    pub n: u64,
    /// Requests that were due before (or whose session was), during warm-up; sent and left out.
    pub warmup: u64,
    /// Requests that were due at or after the end (or whose session was); left out.
    pub after: u64,
    /// Whether the run was cut short.
    pub interrupted: bool,
    /// Whether it was a crossed threshold that cut it short.
    pub aborted: bool,
}

/// Requests per second over the measured phase; where sessions arrive, by when their requests started and ended.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RateSummary {
    /// Number of requests that fell due.
    pub n: u64,
    /// Requests that fell due, per second; where sessions arrive, requests that they stand for.
    pub offered: Option<f64>,
    /// Requests that started, per second.
    pub started: Option<f64>,
    /// Complete answers to them, per second, also those that came after the phase; where sessions arrive, those that came within
    /// it.
    pub throughput: Option<f64>,
    /// Good answers that were complete within the measured phase, whenever their requests were due, per second.
    pub goodput: Option<f64>,
    /// Bytes of responses to the requests of the measured phase, also of those that broke off, per second; head and framing
    /// included, before TLS. None of a simulation and of another tool's results.
    pub bytes_received: Option<f64>,
    /// Bytes of these requests, alike.
    pub bytes_sent: Option<f64>,
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

/// A mean is a lower bound and has no interval where more than this share got no response. Of fewer it is that of the time until the
/// response or until it was given up: one timeout in a million raises it by less than any limit is meant to tell apart.
const CENSORED_MEAN: f64 = 0.01;

/// Whether so many of `n` were given up that their mean is a lower bound.
pub fn mean_is_lower_bound(censored: u64, n: u64) -> bool {
    censored as f64 > CENSORED_MEAN * n as f64
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
    /// Percentiles requested in addition to these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentile>,
    /// 95 % intervals.
    pub ci95: Intervals,
    /// Which of `mean`, `p50` ... `max` are lower bounds.
    pub lower_bound: LowerBounds,
    /// Of which percentiles the interval holds the truth more often than in 95 %: the histogram's cells (at most 0.1 % wide), or few
    /// values that hold most, make more than a fifth of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stepped: BTreeMap<String, bool>,
    /// The power law that the largest follow, where its index is shown to be below 2, so that the variance is infinite and the mean
    /// has no interval; left out of the document where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<PowerLaw>,
    /// Of response times of an open load: each number without and with the generator's own delays. Left out where it is not known;
    /// `not_computed` has the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator_share: Option<GeneratorShare>,
}

/// A power law: beyond x, a share proportional to x^-index.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerLaw {
    /// Its index; moments of that order and above are infinite.
    pub index: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
    /// The observations from here on follow it.
    pub from: f64,
    /// How many they are.
    pub n: u64,
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
    /// Answered requests by response time, cumulative; left out of the document where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<ResponseBucket>,
    /// The label over time, warm-up included: at most 120 rows, of the first 24 labels. Left out of the document where there is one
    /// label.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<LabelRow>,
}

/// Requests up to a bound, of [`BUCKET_BOUNDS`].
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseBucket {
    /// The bound, in seconds.
    pub le: f64,
    /// Answered requests whose response time is at most the bound, to the width of a histogram's cell (0.1 % of the bound; 1 % with
    /// more than 64 labels). Bounds at which the count does not grow are left out.
    pub n: u64,
}

/// Bounds of all buckets, in nanoseconds: 1, 2.5 and 5 in each decade from 100 us to 100 s.
pub const BUCKET_BOUNDS: [u64; 19] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    50_000_000_000,
    100_000_000_000,
];
