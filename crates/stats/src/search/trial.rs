//! One trial: fed with what its requests came to, it says as early as it can that its rate holds, or that it does not.
//!
//! It is looked at repeatedly, at instants which lie a constant factor apart, and the error of all looks together is bounded
//! (group-sequential: Pocock 1977, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64;
//! levels by Bonferroni's inequality, which holds whatever the dependence between looks). At each look the first quarter
//! of the trial is left out as warm-up, so that what is left out grows with the trial.
//!
//! Deliberately absent: which rates are tried (`knee`), clocks, and who plays the trial.

use super::batches::{Batches, Event, Seen};
use super::drift::Pace;
use super::evidence::{Evidence, Side};
use crate::summary::Operator;
use crate::thresholds::{Aggregate, Metric, Threshold};
use headway_base::Nanos;

/// Share of a trial that is left out at its beginning.
pub const WARM_UP: f64 = 0.25;
/// From one look to the next the trial grows by this factor.
const GROWTH: f64 = 1.5;
/// The same of a trial that is not decided, only measured.
const FINE_GROWTH: f64 = 1.2;
/// Looks at most; with the growth this is a factor of 57,000 from the first to the last.
const LOOKS: usize = 28;
/// The first look at least; failures show earlier than successes.
const FIRST: f64 = 300.0;
/// Chance that a trial whose share is at its limit is taken to hold, over all looks; and that it is taken to fail.
const ERROR: f64 = 0.02;
/// Independent observations below which no share is taken as measured: a trial is then long against what its warm-up and its
/// dependence last.
const INDEPENDENT: f64 = 150.0;
/// Looks that lie before the earliest at which a success can show.
const BEFORE: i32 = 4;
/// A trial lasts at least this many times the limit, before it holds.
const LIMITS: i64 = 20;
/// Seconds for which the number of requests in flight is kept, one a second.
const BACKLOG: usize = 16;
/// So many of the pairs of seconds show growth, if the backlog grows.
const GROWING: usize = 112;

/// A criterion: a share that must not be exceeded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Criterion {
    /// The limit of a response time, whose excess counts; none: failures count.
    pub limit: Option<Nanos>,
    /// The largest share.
    pub share: f64,
}

/// Why a threshold is none that a search can look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoCriterion {
    /// Neither a percentile of a time from above, nor the share of failures.
    Kind,
    /// A time of zero, a share of nothing or of everything.
    Limit,
}

impl Criterion {
    /// What a threshold demands, if it is a percentile that must stay below a time, or the share of failures.
    ///
    /// # Errors
    /// It is another.
    pub fn of(threshold: &Threshold) -> Result<Criterion, NoCriterion> {
        if !matches!(threshold.operator, Operator::Below | Operator::AtMost) {
            return Err(NoCriterion::Kind);
        }
        let criterion = match (threshold.metric, threshold.aggregate) {
            (
                Metric::Response | Metric::ResponseOk | Metric::Service | Metric::FirstByte,
                Aggregate::Percentile(p),
            ) => Criterion { limit: Some(Nanos::from_secs_f64(threshold.limit)), share: 1.0 - p / 100.0 },
            (Metric::Failed, Aggregate::Rate) => Criterion { limit: None, share: threshold.limit },
            _ => return Err(NoCriterion::Kind),
        };
        let sound = criterion.limit.is_none_or(|limit| limit > Nanos::ZERO)
            && 0.0 < criterion.share
            && criterion.share < 1.0;
        if sound { Ok(criterion) } else { Err(NoCriterion::Limit) }
    }

    /// Fewest requests of a trial that shows it to hold, its warm-up among them: with independent responses, none of which
    /// counts.
    pub fn fewest(&self) -> u64 {
        let below = (ERROR / LOOKS as f64).ln() / (-self.share).ln_1p();
        // The variance of the fewest parts has 23 degrees of freedom: (t/z)^2 is 1.35 at this level.
        (below.max(60.0) * 1.35 / (1.0 - WARM_UP)).ceil() as u64
    }

    /// The shortest trial that shows it to hold: twenty times the limit, so that a queue which grows has the time to show.
    pub fn shortest(&self) -> Nanos {
        self.limit.map_or(Nanos::ZERO, |limit| Nanos(limit.0.saturating_mul(LIMITS)))
    }

    fn event(&self) -> Event {
        self.limit.map_or(Event::Failed, |_| Event::Exact(1))
    }
}

/// How a trial ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decision {
    /// All criteria hold.
    Holds,
    /// This one does not.
    Fails {
        /// Which, counted from 0.
        criterion: usize,
    },
    /// The backlog grew.
    Backlog,
    /// As much was seen as was asked for, without either being shown.
    Enough,
}

/// What is asked of a trial.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ask {
    /// Whether its rate holds.
    Decide {
        /// It ends before that is shown when it has seen so many independent events.
        events: f64,
        /// Or so many requests: near saturation responses depend on each other for long.
        most: f64,
    },
    /// The share itself, whatever is shown before: to end earlier because of what was seen would bias it.
    Measure {
        /// So many independent events.
        events: f64,
        /// Requests after which it ends all the same. Those of a target that changes, or whose backlog grows, depend on each other
        /// the more the longer it lasts, and the events would never come.
        most: f64,
    },
    /// So many requests, at the rate of an earlier trial: whether the target has changed since.
    Return(f64),
}

impl Ask {
    fn growth(self) -> f64 {
        if matches!(self, Ask::Measure { .. }) { FINE_GROWTH } else { GROWTH }
    }
}

/// What a trial cost, and what it gave for that.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Requests, its warm-up included.
    pub requests: u64,
    /// Independent events.
    pub events: f64,
    /// Independent observations.
    pub effective: f64,
}

impl Cost {
    /// Requests which a trial that measures that many events would need at the same rate.
    pub(super) fn of(&self, events: f64) -> f64 {
        let times = (events / self.events.max(0.5)).max(INDEPENDENT / self.effective.max(1.0));
        self.requests as f64 * times
    }
}

/// Looks at a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    criteria: Vec<(Criterion, Batches)>,
    ask: Ask,
    /// The next look, in observations.
    next: f64,
    looks: usize,
    first_due: Option<Nanos>,
    last_due: Nanos,
    backlog: Vec<u64>,
    rate: f64,
    decided: Option<Decision>,
    bounded: bool,
}

impl Trial {
    /// A trial at `rate` requests per second, with at least one criterion.
    pub fn new(criteria: &[Criterion], rate: f64, ask: Ask) -> Trial {
        // Where failures alone count, levels of response times still tell of the dependence.
        let batches =
            |criterion: &Criterion| (*criterion, Batches::new(criterion.limit.unwrap_or(Nanos::MAX)));
        let fewest = criteria.iter().map(Criterion::fewest).max().unwrap_or(0) as f64;
        Trial {
            criteria: criteria.iter().map(batches).collect(),
            ask,
            next: (fewest / GROWTH.powi(BEFORE)).max(FIRST),
            looks: 0,
            first_due: None,
            last_due: Nanos::ZERO,
            backlog: Vec::new(),
            rate,
            decided: None,
            bounded: false,
        }
    }

    /// Observations so far.
    pub fn n(&self) -> u64 {
        self.criteria.first().map_or(0, |(_, batches)| batches.n())
    }

    /// How it ended, if it has.
    pub fn decided(&self) -> Option<Decision> {
        self.decided
    }

    /// How fast it was answered, of a trial that looks for drift; of others what they saw last decided when they ended.
    pub fn pace(&self) -> Option<Pace> {
        let (_, batches) = self.criteria.first().filter(|_| self.returns())?;
        batches.parts(WARM_UP).map(|parts| Pace::of(&parts))
    }

    /// Whether it was played to see whether the target has changed.
    pub fn returns(&self) -> bool {
        matches!(self.ask, Ask::Return(_))
    }

    /// Whether it ended because it was as long as it may be, with fewer events than were asked for.
    pub fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// A request that was due then, as each criterion sees it; `None` where it is not asked. Calls come in the order in which
    /// requests were due. Returns whether the trial has ended.
    #[inline]
    pub fn take(&mut self, due: Nanos, seen: impl Fn(usize) -> Option<Seen>) -> bool {
        self.first_due.get_or_insert(due);
        self.last_due = due;
        for (which, (_, batches)) in self.criteria.iter_mut().enumerate() {
            if let Some(seen) = seen(which) {
                batches.take(seen);
            }
        }
        // The criterion which is asked least decides when to look.
        let n = self.criteria.iter().map(|(_, batches)| batches.n()).min().unwrap_or(0);
        if n as f64 >= self.next && self.decided.is_none() {
            self.looks += 1;
            self.next *= self.ask.growth();
            self.decided = self.look();
        }
        let most = match self.ask {
            Ask::Decide { most, .. } | Ask::Measure { most, .. } | Ask::Return(most) => most,
        };
        if n as f64 >= most && self.decided.is_none() {
            self.bounded = !self.returns();
            self.decided = Some(self.shown().unwrap_or(Decision::Enough));
        }
        self.decided.is_some()
    }

    /// Requests in flight or due and not sent; called once a second. Returns whether the trial has ended.
    pub fn backlog(&mut self, waiting: u64) -> bool {
        if self.backlog.len() == BACKLOG {
            self.backlog.remove(0);
        }
        self.backlog.push(waiting);
        if self.decided.is_none() && self.grows() {
            self.decided = Some(Decision::Backlog);
        }
        self.decided.is_some()
    }

    /// Whether nearly every second of the last ones has more requests waiting than those before, and more than arrive within
    /// the largest limit: by Little's law (1961) their mean response time is beyond it.
    fn grows(&self) -> bool {
        let limit = self
            .criteria
            .iter()
            .filter_map(|(criterion, _)| criterion.limit)
            .max()
            .unwrap_or(Nanos::from_secs(1));
        let Some(&last) = self.backlog.last().filter(|_| self.backlog.len() == BACKLOG) else { return false };
        if (last as f64) < 2.0 * self.rate * limit.as_secs_f64() {
            return false;
        }
        let pairs = (0..BACKLOG).flat_map(|i| (i + 1..BACKLOG).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| self.backlog[j] > self.backlog[i]).count() >= GROWING
    }

    /// What each criterion's share is known to be; none before the first look.
    pub fn evidence(&self) -> Vec<Option<Evidence>> {
        (0..self.criteria.len()).map(|which| self.evidence_at(which, 1)).collect()
    }

    /// The same of half the limit (0), the limit (1) and twice the limit (2) of a response time.
    pub fn evidence_at(&self, which: usize, exact: usize) -> Option<Evidence> {
        let (criterion, batches) = self.criteria.get(which)?;
        let parts = batches.parts(WARM_UP)?;
        let event = if criterion.limit.is_some() { Event::Exact(exact) } else { Event::Failed };
        let factor = [0.5, 1.0, 2.0][exact];
        let time = criterion.limit.map(|limit| Nanos((limit.0 as f64 * factor) as i64));
        Some(Evidence::of(&parts, event, criterion.share, time, ERROR / LOOKS as f64))
    }

    /// Where the share at half, once and twice the limit is shown to be, on the last look's level. Of failures, which have no such
    /// limit, only at once the limit.
    pub fn side_at(&self, which: usize, exact: usize) -> Option<Side> {
        let level = ERROR / LOOKS as f64;
        let (criterion, _) = self.criteria.get(which)?;
        self.evidence_at(which, exact)?.side(criterion.share, level, level)
    }

    /// The logarithm of the worst criterion's share over its limit, with its variance; none before the first look.
    pub fn log_ratio(&self) -> Option<(f64, f64)> {
        self.worst().map(|(_, log_ratio)| log_ratio)
    }

    /// What it cost; none before the first look, and of one that ended because of its length: its next would be as long again.
    pub fn cost(&self) -> Option<Cost> {
        let (evidence, _) = self.worst().filter(|_| !self.bounded)?;
        Some(Cost { requests: self.n(), events: evidence.effective_hits(), effective: evidence.effective })
    }

    fn worst(&self) -> Option<(Evidence, (f64, f64))> {
        let shares = self.criteria.iter().map(|(criterion, _)| criterion.share);
        let each = self.evidence().into_iter().zip(shares);
        let each = each.filter_map(|(evidence, share)| Some((evidence?, evidence?.log_ratio(share))));
        each.max_by(|a, b| a.1.0.total_cmp(&b.1.0))
    }

    /// What is shown now, of all criteria together.
    pub fn shown(&self) -> Option<Decision> {
        let level = ERROR / LOOKS as f64;
        let mut all_below = true;
        for (which, (criterion, batches)) in self.criteria.iter().enumerate() {
            let parts = batches.parts(WARM_UP)?;
            let evidence = Evidence::of(&parts, criterion.event(), criterion.share, criterion.limit, level);
            match evidence.side(criterion.share, level, level) {
                Some(Side::Above) => return Some(Decision::Fails { criterion: which }),
                Some(Side::Below) => all_below &= self.long_enough(criterion),
                None => all_below = false,
            }
        }
        all_below.then_some(Decision::Holds)
    }

    fn look(&self) -> Option<Decision> {
        let enough = |events: f64| {
            // Of a share far below its limit there will never be that many; as many as the limit allows do.
            let evidence = self.evidence();
            let each = evidence
                .iter()
                .zip(&self.criteria)
                .map(|(e, (c, _))| e.map_or(0.0, |e| e.effective_hits().max(e.effective * c.share / 2.0)));
            each.fold(0.0, f64::max) >= events
                && evidence.iter().all(|e| e.is_some_and(|e| e.effective >= INDEPENDENT))
                && self.criteria.iter().all(|(c, _)| self.long_enough(c))
        };
        match self.ask {
            Ask::Decide { events, .. } => {
                self.shown().or((self.looks >= LOOKS || enough(events)).then_some(Decision::Enough))
            }
            Ask::Measure { events, .. } => enough(events).then(|| self.shown().unwrap_or(Decision::Enough)),
            Ask::Return(_) => None,
        }
    }

    /// Whether the trial lasted long enough for a success.
    fn long_enough(&self, criterion: &Criterion) -> bool {
        let Some(first) = self.first_due else { return false };
        self.last_due - first >= criterion.shortest()
    }
}
