//! The document that a search ends in: `"schema": "headway.search/1"`. The knee with its interval, and each trial.
//!
//! Plain data: times in seconds, rates per second. Deliberately absent: sentences (`report` makes them).

use super::{Block, Decision, Drift, Earlier, Ended, Knee, ProbeRow, Probed, Tried};
use crate::summary::{Failure, Interval, LoadVerdict, Units};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.search/1";
/// The same of the document of several targets.
pub const SEVERAL: &str = "headway.searches/1";

/// Searches that were played in turns, one for each target.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Searched {
    /// [`SEVERAL`].
    pub schema: String,
    /// Units of all numbers.
    pub units: Units,
    /// The command line that produced this.
    pub command: Option<Cleared>,
    /// Seed from which those of the trials come, the same for each target.
    pub seed: u64,
    /// One for each target, in the order in which they were named.
    pub targets: Vec<Found>,
}

impl Searched {
    /// Of these; a search of one target has a document of its own.
    pub fn of(targets: Vec<Found>) -> Searched {
        let first = targets.first();
        Searched {
            schema: SEVERAL.to_owned(),
            units: Units::default(),
            command: first.and_then(|first| first.command.clone()),
            seed: first.map_or(0, |first| first.seed),
            targets,
        }
    }

    /// The search, where there is one target.
    pub fn single(&self) -> Option<&Found> {
        match &self.targets[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// A search.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    /// [`SCHEMA`].
    pub schema: String,
    /// Units of all numbers.
    pub units: Units,
    /// Name of the scenario, or of the target.
    pub name: Cleared,
    /// Where the load went, secrets replaced, or which model was searched.
    pub target: Cleared,
    /// What the user noted of it, by key.
    pub notes: BTreeMap<Cleared, Cleared>,
    /// The command line that produced this.
    pub command: Option<Cleared>,
    /// Seed from which those of the trials come.
    pub seed: u64,
    /// Whether a model was searched, in virtual time.
    pub simulated: bool,
    /// What a rate counts: `requests`, `sessions` where sessions of several requests arrive, or closed `users`, where each rate is a
    /// number of them and not per second.
    pub rate_of: RateOf,
    /// Mean number of requests of a session, or of a user's round; 1 where each is one request.
    pub requests_per_arrival: f64,
    /// The thresholds, as they were written.
    pub thresholds: Vec<Cleared>,
    /// Half the width of the interval over its middle that was asked for.
    pub precision: f64,
    /// The first rate, per second.
    pub from: f64,
    /// The highest rate that was allowed; null where none was given.
    pub to: Option<f64>,
    /// The rates, or numbers of users, of a sweep in their order: its trials are short runs at these, and no knee is searched. Empty of a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<f64>,
    /// Longest time that all trials together might take, seconds.
    pub budget_s: f64,
    /// Time that the trials took, their warm-up and what was waited for included, seconds.
    pub took_s: f64,
    /// Requests that were sent in these trials.
    pub requests: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it could not go on, where [`Outcome::Failed`].
    pub error: Option<Cleared>,
    /// The closed probes that came first; null where none were played.
    pub probed: Option<Probed>,
    /// The best estimate of the knee; null before anything is known. Without an interval it is what the probes foretell.
    pub estimate: Option<f64>,
    /// 95 % interval of the knee: null at an end that is not known. What stands there before the search has ended is provisional.
    pub interval: [Option<f64>; 2],
    /// Half the width of the interval over its middle; null while it has one end only.
    pub reached: Option<f64>,
    /// Where a rate fails and a higher one holds, each in repeated trials: these two.
    pub not_monotone: Option<Interval>,
    /// How response times changed while the target was searched; null where too little is known.
    pub drift: Option<DriftFound>,
    /// The lowest rate that the generator could not send as planned; null where there is none.
    pub generator_limit: Option<f64>,
    /// What the same trials say of half and twice the limits of the response times.
    pub other_limits: Vec<OtherLimit>,
    /// The knee beside that of an earlier search; null where none was named.
    pub baseline: Option<Earlier>,
    /// The trials, in the order in which they were played.
    pub trials: Vec<TrialRow>,
    /// Folders of trials that were cut off before the search went on; none of them counts.
    pub cut_off: Vec<Cleared>,
}

/// How response times changed while a target was searched, at the same rate: that of their geometric mean.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DriftFound {
    /// Relative change per minute; above zero: they grew.
    pub per_minute: f64,
    /// 95 % interval of that.
    pub ci95: Interval,
    /// The rate at which it was looked for.
    pub rate: f64,
    /// The first and the last look: minutes since the search began.
    pub minutes: [f64; 2],
    /// The geometric mean of the response times at these, seconds.
    pub response: [f64; 2],
    /// Whether it is the finding `drifts`: more than chance, and in these minutes more than the precision that was asked for.
    pub drifts: bool,
}

impl DriftFound {
    /// What a search to that precision says.
    pub fn of(drift: &Drift, precision: f64) -> DriftFound {
        let per_minute = |slope: f64| (60.0 * slope).exp_m1();
        DriftFound {
            per_minute: per_minute(drift.per_second),
            ci95: [-1.96, 1.96].map(|z| per_minute(drift.per_second + z * drift.error)),
            rate: drift.rate,
            minutes: drift.ends.map(|(at, _)| at / 60.0),
            response: drift.ends.map(|(_, response)| response),
            drifts: drift.matters(precision),
        }
    }
}

/// What a rate counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateOf {
    /// Requests.
    #[default]
    Requests,
    /// Sessions of several requests.
    Sessions,
    /// Closed users: how many there are.
    Users,
}

impl RateOf {
    /// An interval of the knee in what is counted. The largest number of users that holds is a whole one: with `[low, high]` on the scale
    /// of numbers it lies from the whole number in `low` to the largest below `high`.
    pub fn of_knee(self, interval: [Option<f64>; 2]) -> [Option<f64>; 2] {
        match (self, interval) {
            (RateOf::Users, [Some(low), Some(high)]) if low <= high => {
                let low = low.floor();
                [Some(low), Some((high.ceil() - 1.0).max(low))]
            }
            _ => interval,
        }
    }
}

/// What became of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The knee is known as precisely as was asked.
    Found,
    /// The budget ended first.
    #[default]
    Budget,
    /// It was interrupted.
    Interrupted,
    /// Not even the lowest rate holds.
    Never,
    /// The highest rate that was allowed holds.
    Always,
    /// The generator was the limit.
    Generator,
    /// A rate fails and a higher one holds.
    NotMonotone,
    /// Response times changed while the target was searched.
    Drifts,
    /// Trials decide nothing.
    Undecided,
    /// No connection to the target could be opened.
    Unreachable,
    /// It could not go on.
    Failed,
    /// Every rate of a sweep was played.
    Swept,
    /// It goes on, or its process was killed: what is there is what was known then.
    Unfinished,
}

/// The knee at another limit.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherLimit {
    /// This many times each limit of a response time.
    pub factor: f64,
    /// The highest rate that was shown to hold, and the lowest that was shown not to.
    pub interval: [Option<f64>; 2],
}

/// A trial.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TrialRow {
    /// Arrivals per second that were planned.
    pub rate: f64,
    /// Seed of its draws.
    pub seed: u64,
    /// Seconds for which the trials before it took, of all targets.
    pub begun_s: f64,
    /// What it came to.
    pub ended: TrialEnd,
    /// Whether the budget, an interrupt or a target out of reach ended it before it was decided: a search that is resumed plays it again.
    pub cut_off: bool,
    /// What ended it before it had seen what was asked for; null where nothing did.
    pub stopped_by: Option<StoppedBy>,
    /// The threshold that failed, if one did: its place among them, from 0.
    pub threshold: Option<usize>,
    /// What it saw of the threshold that it met least, by which all trials are told together; null of one that was too short.
    pub block: Option<Block>,
    /// Mean natural logarithm of the response times in seconds, after the warm-up; null of a trial that did not last its length.
    pub pace: Option<f64>,
    /// What each threshold's share was seen to be.
    pub shares: Vec<Share>,
    /// On which side of half (0) and twice (1) the limits it was shown to be: true: it holds.
    pub other_limits: [Option<bool>; 2],
    /// Requests that were sent, its warm-up included.
    pub requests: u64,
    /// Seconds from its first request to its last response.
    pub took_s: f64,
    /// Whether every request was answered or given up before the next trial.
    pub drained: bool,
    /// The verdict on its load.
    pub verdict: Option<LoadVerdict>,
    /// Requests due per second of its measured phase, those that were sent, and good answers.
    pub offered: Option<f64>,
    /// Sent.
    pub sent: Option<f64>,
    /// Good answers within it.
    pub goodput: Option<f64>,
    /// Percentiles of the response time in seconds: p50, p90, p95, p99, p99.9, and those of thresholds; none that cannot be told.
    pub response: Vec<Percentile>,
    /// Share of requests that failed.
    pub failed: Option<f64>,
    /// How most of them failed; null where none did.
    pub failed_by: Option<Failure>,
    /// The busiest worker's share of time with work, of a live trial.
    pub generator_busy: Option<f64>,
    /// Its run folder.
    pub folder: Option<Cleared>,
}

/// A percentile of a trial.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Percentile {
    /// Which: 99.9.
    pub percent: f64,
    /// Seconds.
    pub value: f64,
    /// 95 % interval, where there is one.
    pub ci95: Option<Interval>,
    /// Whether it is only known to be at least that.
    pub lower_bound: bool,
}

/// A share of the requests of a trial: those beyond a limit, or failures.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Share {
    /// The share that was seen.
    pub value: f64,
    /// The largest that is allowed.
    pub limit: f64,
    /// Requests after the warm-up.
    pub n: u64,
    /// Independent requests that would prove as much.
    pub effective: f64,
}

/// What a trial came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialEnd {
    /// Every threshold was shown to hold.
    Holds,
    /// One was shown not to.
    Fails,
    /// The backlog grew.
    Backlog,
    /// The target or the connection cap held requests back.
    HeldBack,
    /// It lasted its length, and alone shows neither: it counts together with the others.
    Enough,
    /// The generator did not send the load as planned.
    NotSent,
    /// No connection to the target could be opened.
    Unreachable,
    /// Of a sweep: a run to its end whose thresholds, if it has any, neither hold all nor are crossed.
    Played,
    /// It ended before anything was shown.
    #[default]
    Undecided,
}

/// What ended a trial early. What it had shown until then counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// The budget of the search.
    Budget,
    /// An interrupt.
    Interrupt,
}

impl TrialEnd {
    /// Whether its rate is too high.
    pub fn is_failure(self) -> bool {
        matches!(self, TrialEnd::Fails | TrialEnd::Backlog | TrialEnd::HeldBack)
    }
}

impl From<Ended> for TrialEnd {
    fn from(ended: Ended) -> TrialEnd {
        match ended {
            Ended::Decided(Decision::Holds) => TrialEnd::Holds,
            Ended::Decided(Decision::Fails { .. }) => TrialEnd::Fails,
            Ended::Decided(Decision::Backlog) => TrialEnd::Backlog,
            Ended::Decided(Decision::Enough) => TrialEnd::Enough,
            Ended::HeldBack => TrialEnd::HeldBack,
            Ended::NotSent => TrialEnd::NotSent,
            Ended::Nothing => TrialEnd::Undecided,
        }
    }
}

impl TrialRow {
    /// What a search takes of it.
    pub fn tried(&self) -> Tried {
        let ended = match self.ended {
            TrialEnd::Holds => Ended::Decided(Decision::Holds),
            TrialEnd::Fails => Ended::Decided(Decision::Fails { criterion: self.threshold.unwrap_or(0) }),
            TrialEnd::Backlog => Ended::Decided(Decision::Backlog),
            TrialEnd::Enough => Ended::Decided(Decision::Enough),
            TrialEnd::HeldBack => Ended::HeldBack,
            TrialEnd::NotSent => Ended::NotSent,
            TrialEnd::Unreachable | TrialEnd::Undecided | TrialEnd::Played => Ended::Nothing,
        };
        let at = [self.begun_s, self.took_s];
        Tried { block: self.block.clone(), pace: self.pace, at, ..Tried::bare(self.rate, ended) }
    }
}

impl TrialRow {
    /// Requests per second that were sent, where more than one in a hundred ended with status 429.
    pub fn limited_at(&self) -> Option<f64> {
        let kind = self.failed_by.as_ref().filter(|kind| kind.status == Some(429))?;
        super::is_limited(kind.n, self.requests).then(|| self.sent.unwrap_or(self.rate))
    }
}

impl Found {
    /// The lowest number of requests per second at which the target limited rates, in a probe or a trial.
    pub fn limited_at(&self) -> Option<f64> {
        let probes = self.probed.iter().flat_map(|probed| &probed.rows).filter_map(ProbeRow::limited_at);
        probes.chain(self.trials.iter().filter_map(TrialRow::limited_at)).reduce(f64::min)
    }

    /// Takes what the search says of the knee.
    pub fn conclude(&mut self, knee: Knee) {
        match knee {
            Knee::Within(_) => self.outcome = Outcome::Found,
            Knee::Below(_) => self.outcome = Outcome::Never,
            Knee::Above(_) => self.outcome = Outcome::Always,
            Knee::Generator { limit, .. } => {
                self.outcome = Outcome::Generator;
                self.generator_limit = Some(limit);
            }
            Knee::NotMonotone { fails, holds } => {
                self.outcome = Outcome::NotMonotone;
                self.estimate = None;
                self.interval = [None, None];
                self.reached = None;
                self.not_monotone = Some([fails, holds]);
            }
            Knee::Drifts(_) => {
                self.outcome = Outcome::Drifts;
                self.estimate = None;
                self.interval = [None, None];
                self.reached = None;
            }
            Knee::Undecided => self.outcome = Outcome::Undecided,
        }
    }
}

/// The knee at another limit, from the same trials; `which`: 0 for half, 1 for twice the limit.
pub fn other_limit(factor: f64, which: usize, trials: &[TrialRow]) -> OtherLimit {
    let sides =
        |wanted: bool| trials.iter().filter(move |t| t.other_limits[which] == Some(wanted)).map(|t| t.rate);
    let holds = sides(true).reduce(f64::max);
    let fails = sides(false).reduce(f64::min);
    // Trials that contradict each other say nothing.
    match (holds, fails) {
        (Some(low), Some(high)) if low > high => OtherLimit { factor, interval: [None, None] },
        interval => OtherLimit { factor, interval: interval.into() },
    }
}
