//! What an analysis must know before the first record, and what it is told after the last.
//!
//! Deliberately absent: the scenario. `stats` sees of a plan only what its statistics need: the rate over time and
//! the law of the gaps.

use crate::summary::{Generator, PlanSummary, Simulation, Source};
use headway_base::machine::SATURATED;
use headway_base::{Lateness, Nanos, Profile};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How the load comes about; decides which rules apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Requests arrive by a plan, whatever the target does.
    #[default]
    Open,
    /// Sessions arrive by a plan; the steps within follow the answers. There may be closed users beside them.
    Sessions,
    /// A fixed number of users, each waiting for its answer.
    Closed,
    /// A fixed number of requests, as fast as the connections allow.
    FixedWork,
    /// A fixed number of sockets that are kept connecting: an attempt follows when the one before it has succeeded or was given up, and
    /// no response is waited for.
    Connecting,
    /// Another tool's log: nothing is known of how it was meant.
    Foreign,
}

/// The plan as far as the statistics need it.
#[derive(Clone)]
pub struct PlanLaw {
    /// Rate over time of the load that this process sends (its shard's part), from the plan's zero.
    pub profile: Profile,
    /// Distribution function of the plan's gaps, scaled to unit mean; none where the gaps have no common law. It is above 0 at 0 where
    /// several arrivals are due at one instant.
    pub gap_cdf: Option<GapCdf>,
    /// Coefficient of variation of the plan's gaps: 1 for Poisson, 0 for constant.
    pub gap_cov: f64,
    /// Variance over mean of the number of arrivals in a long window: CoV^2 of the gaps where these are independent.
    pub dispersion: f64,
    /// Whether the arrivals are a Poisson process.
    pub poisson: bool,
}

/// Distribution function of unit-mean gaps.
pub type GapCdf = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

impl fmt::Debug for PlanLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanLaw")
            .field("profile", &self.profile)
            .field("gap_cdf", &self.gap_cdf.is_some())
            .field("gap_cov", &self.gap_cov)
            .field("dispersion", &self.dispersion)
            .field("poisson", &self.poisson)
            .finish()
    }
}

/// How many users of a closed workload are asked for over time: phases from the plan's zero on, one after the other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UsersAsked {
    /// The phases, in order.
    pub phases: Vec<UsersPhase>,
}

/// A stretch of time over which the number of users asked for goes linearly from one value to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UsersPhase {
    /// How long it lasts.
    pub length: Nanos,
    /// Users at its beginning, of this process's part.
    pub from_users: f64,
    /// Users at its end.
    pub to_users: f64,
}

impl UsersAsked {
    /// So many users all the time.
    pub fn hold(users: f64, length: Nanos) -> UsersAsked {
        UsersAsked { phases: vec![UsersPhase { length, from_users: users, to_users: users }] }
    }

    /// Whether the number asked for changes within a stretch of time.
    pub fn varies(&self, range: &Range<Nanos>) -> bool {
        let (mut begins, mut level) = (Nanos::ZERO, None);
        self.phases.iter().any(|p| {
            let ends = begins + p.length;
            let within = begins < range.end && ends > range.start && p.length > Nanos::ZERO;
            begins = ends;
            within && (p.from_users != p.to_users || *level.get_or_insert(p.from_users) != p.from_users)
        })
    }

    /// Whether users leave before the end, perhaps to come back.
    pub fn falls(&self) -> bool {
        let mut before = 0.0;
        self.phases.iter().filter(|p| p.length > Nanos::ZERO).any(|p| {
            let falls = p.from_users < before || p.to_users < p.from_users;
            before = p.to_users;
            falls
        })
    }

    /// User-seconds asked for within a stretch of time.
    pub fn user_seconds(&self, range: &Range<Nanos>) -> f64 {
        let (mut begins, mut sum) = (Nanos::ZERO, 0.0);
        for p in self.phases.iter().filter(|p| p.length > Nanos::ZERO) {
            let (from, to) = (range.start.max(begins), range.end.min(begins + p.length));
            if from < to {
                let level = |at: Nanos| {
                    let share = (at - begins).as_secs_f64() / p.length.as_secs_f64();
                    p.from_users + (p.to_users - p.from_users) * share
                };
                sum += 0.5 * (level(from) + level(to)) * (to - from).as_secs_f64();
            }
            begins += p.length;
        }
        sum
    }

    /// Users asked for on average over a stretch of time; none for an empty one.
    pub fn mean(&self, range: &Range<Nanos>) -> Option<f64> {
        let seconds = (range.end - range.start).as_secs_f64();
        (seconds > 0.0).then(|| self.user_seconds(range) / seconds)
    }
}

/// What is asked of a session that arrives, on average.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SessionAsked {
    /// Requests; 0 in a group of which no sessions arrive.
    pub requests: f64,
    /// Think time before each but the first, in seconds.
    pub think_s: f64,
}

/// What an analysis must know before the first record.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Labels of the steps; `step` of a record is an index into it.
    pub labels: Vec<Cleared>,
    /// Number of sources (workers) that will send batches.
    pub sources: usize,
    /// The measured phase: from the end of warm-up to the plan's end, by `arrived`.
    pub measured: Range<Nanos>,
    /// How the load comes about.
    pub workload: Workload,
    /// The plan of what arrives (requests of an open workload, sessions of a partly open one); none where nothing does, and
    /// for a foreign file without an expectation.
    pub plan: Option<PlanLaw>,
    /// Users of the closed groups over time, this process's part; none where there are none.
    pub users: Option<UsersAsked>,
    /// The same of each process whose records are analysed, with how far its zero is behind that of the records; empty where all have
    /// one zero.
    pub users_apart: Vec<(Nanos, UsersAsked)>,
    /// What a session that arrives is to do, by group; empty where that is not known.
    pub asks_per_session: Vec<SessionAsked>,
    /// Requests of fixed work that this process is to send.
    pub requests_asked: Option<u64>,
    /// Where redirects are followed: the number of the first step whose requests they lead to. The work does not count these.
    pub redirected_from: Option<u16>,
    /// Steps that look at redirects themselves.
    pub redirects_expected: Vec<u16>,
    /// Whether other processes send their shards of the plan to the same target.
    pub sharded: bool,
    /// Mean think time asked for, in seconds, over the requests before which users think.
    pub think_s: Option<f64>,
    /// Whether each request opens a connection of its own, so that these are counted.
    pub connects: bool,
    /// How long an attempt to connect may last, where sockets are kept connecting.
    pub attempt: Option<Nanos>,
    /// What the stamps resolve: windows are whole multiples of it, and at least ten of it long.
    pub resolution: Nanos,
    /// Starts per second of the judged stream, where no plan tells: windows are made to fit it.
    pub rate: Option<f64>,
    /// What is tolerated before the load counts as not sent as specified.
    pub tolerances: Tolerances,
    /// Percentiles of times to estimate; empty: those that every distribution has.
    pub percentiles: Vec<f64>,
}

impl Setup {
    /// The longest lateness that is forgiven: as asked for, else by how long an attempt to connect may last, else 1 ms.
    pub fn lateness(&self) -> Lateness {
        self.tolerances.lateness.or_else(|| self.attempt.map(Lateness::of)).unwrap_or_default()
    }
}

/// An open workload without labels, plan or measured phase, from one source with stamps in nanoseconds.
impl Default for Setup {
    fn default() -> Setup {
        Setup {
            labels: Vec::new(),
            sources: 1,
            measured: Nanos::ZERO..Nanos::ZERO,
            workload: Workload::Open,
            plan: None,
            users: None,
            users_apart: Vec::new(),
            asks_per_session: Vec::new(),
            requests_asked: None,
            redirected_from: None,
            redirects_expected: Vec::new(),
            sharded: false,
            think_s: None,
            connects: false,
            attempt: None,
            resolution: Nanos(1),
            rate: None,
            tolerances: Tolerances::default(),
            percentiles: Vec::new(),
        }
    }
}

/// What is known of another tool's rows beyond [`Setup`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreign {
    /// Seed of the dither.
    pub dither_seed: u64,
    /// Whether the rows tell when their requests were due, and not only when they started.
    pub intended: bool,
    /// From the first start of the judged stream to just after the last; none: the measured phase.
    pub judged: Option<Range<Nanos>>,
    /// The longest time from when a row was due until it started.
    pub behind: Nanos,
}

/// Every threshold that a verdict or a finding depends on, in one place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerances {
    /// Share of planned arrivals that may be missing.
    pub unsent: f64,
    /// Share of arrivals that may start late.
    pub late: f64,
    /// Share of requests that may wait at the connection cap for longer than 1 ms, before the verdict says so.
    pub capped: f64,
    /// The longest lateness that is forgiven, where lateness itself is to be judged; none: what it did to the numbers is.
    pub lateness: Option<Lateness>,
    /// By how much of the undisturbed number the generator's own delays may have moved a printed one.
    pub effect: f64,
    /// Largest difference of squared CoV, started - intended, either way.
    pub bunching: f64,
    /// Largest difference of the index of dispersion, started - intended, either way.
    pub dispersion: f64,
    /// Share of users that may be missing on average.
    pub users: f64,
    /// Share of the time for which workers that keep sockets connecting may stand still for longer than is forgiven at a stretch.
    pub stood_still: f64,
    /// Below this many sends per mean headway one thread's sends cannot overlap: evenness is physics.
    pub serialised_sends: f64,
    /// Largest distance of the CoV from 1 that still looks independent.
    pub pattern_cov: f64,
    /// Largest distance of the headways from an exponential law that still looks independent.
    pub pattern_ks: f64,
    /// Largest correlation of successive headways, either way, that still looks independent.
    pub pattern_lag1: f64,
    /// Largest relative amplitude of a line in the spectrum of the counts that still looks independent.
    pub pattern_line: f64,
    /// Above this rate x cost of one send, headways shorter than ten sends say nothing of the pattern.
    pub overlapping_sends: f64,
    /// Largest index of dispersion that still looks independent.
    pub pattern_dispersion: f64,
    /// Smallest index of dispersion that still looks independent.
    pub low_dispersion: f64,
    /// Shortest stall worth telling.
    pub stall: Nanos,
    /// Share of a worker's time spent handling above which it is saturated.
    pub saturated: f64,
    /// Share of failed requests above which `errors` is a warning and not a note.
    pub errors: f64,
    /// Share of the requests asked for that may be missing within the measured phase before that is `feedback`.
    pub feedback: f64,
    /// Least change over the measured phase, as a share of the mean, that counts as a trend.
    pub trend: f64,
}

impl Default for Tolerances {
    fn default() -> Tolerances {
        Tolerances {
            unsent: 0.01,
            late: 0.01,
            capped: 0.01,
            lateness: None,
            effect: 0.05,
            bunching: 0.1,
            dispersion: 0.1,
            users: 0.01,
            stood_still: 0.01,
            serialised_sends: 10.0,
            pattern_cov: 0.05,
            pattern_ks: 0.03,
            pattern_lag1: 0.1,
            pattern_line: 0.05,
            overlapping_sends: 0.01,
            pattern_dispersion: 1.2,
            low_dispersion: 0.8,
            stall: Nanos::from_millis(1),
            saturated: SATURATED,
            errors: 0.01,
            feedback: 0.03,
            trend: 0.2,
        }
    }
}

/// The watched requests that were handed to the kernel within a stretch of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DepartureBin {
    /// The middle of the stretch, since the plan's zero.
    pub at: Nanos,
    /// How many.
    pub watched: u64,
    /// Delays, each with how many left the machine later than that after they were handed over; shortest delay first.
    pub over: Vec<(Nanos, u64)>,
    /// How many left late because the target did not read; not among `over`.
    pub by_target: u64,
}

impl DepartureBin {
    /// How many left later than `after`; where that is not told apart, later than the next longer delay which is.
    pub(crate) fn later_than(&self, after: Nanos) -> u64 {
        self.over.iter().find(|(delay, _)| *delay >= after).map_or(0, |(_, n)| *n)
    }
}

/// What an analysis is told after the last record.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Where the records came from.
    pub source: Source,
    /// Name of the scenario, or of the target.
    pub name: Cleared,
    /// Seed of the plan.
    pub seed: Option<u64>,
    /// The command line.
    pub command: Option<Cleared>,
    /// When the plan's zero was, RFC 3339.
    pub started_at: Option<String>,
    /// What was asked for; handed through, and named in texts (connection cap).
    pub plan: Option<PlanSummary>,
    /// How the generator fared; handed through, and source of the findings on stalls and saturation.
    pub generator: Option<Generator>,
    /// When the run was cut short, if it was. Nothing due later may have been recorded.
    pub interrupted_at: Option<Nanos>,
    /// Planned arrivals of the measured phase that its records lack, since the processes which sent them began apart.
    pub outside: u64,
    /// How far apart those processes began; none if they began together.
    pub apart: Option<Nanos>,
    /// Resolution of the stamps.
    pub resolution: Option<Nanos>,
    /// Cost of one send: the least headway that one thread can produce.
    pub send_cost: Option<Nanos>,
    /// What to set in the tool that wrote a foreign file for finer stamps.
    pub finer: Option<String>,
    /// How long watched requests stayed in the generator's machine after they were handed to its kernel; empty where the system does
    /// not tell.
    pub departures: Vec<DepartureBin>,
    /// What a simulation tells of itself; handed through, and source of the findings on its steady state.
    pub simulation: Option<Simulation>,
}
