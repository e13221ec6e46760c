//! One trial: fed with what its requests came to, it ends after its length, or earlier where a threshold obviously fails.
//!
//! Its length does not depend on what it sees, so that its counts are no biased sample: they are pooled with those of other trials (`line`).
//! Only where 30 % and ten times the limit or more are beyond, and that is shown, does it end at once; such a block is too far from the knee to move it. The
//! first tenth is left out as warm-up.
//!
//! Deliberately absent: which rates are tried (`knee`), clocks, and who plays the trial.

use super::batches::{Batches, Event, Seen};
use super::evidence::{Evidence, Side};
use super::line::{Block, Moved};
use crate::metric::Taken;
use crate::summary::Operator;
use crate::thresholds::{Aggregate, Threshold};
use headway_base::Nanos;

/// Share of a trial that is left out at its beginning, beside the warm-up of its plan.
pub const WARM_UP: f64 = 0.1;
/// From one look for an obvious failure to the next the trial grows by this factor.
const GROWTH: f64 = 1.3;
/// The first look, in requests.
const FIRST: f64 = 130.0;
/// A share as large as the first, and so many times its limit as the second, is obvious: excursions of a queue near its knee do not reach that.
const OBVIOUS: [f64; 2] = [0.3, 10.0];
/// It is none before that part of the length: one long excursion may fill a second.
const PART: f64 = 0.4;
/// Level of an obvious failure at each look, and of what a trial alone shows at its end.
const LEVEL: [f64; 2] = [0.001, 0.01];
/// A trial lasts at least so many times the limit, before it shows that its rate holds.
const LIMITS: i64 = 20;
/// A trial lasts at least that long, so many times the limit, and as long as so many requests take; and at most the last.
const SHORTEST: Nanos = Nanos::from_secs(5);
const LONG: i64 = 100;
const REQUESTS: f64 = 200.0;
const LONGEST: Nanos = Nanos::from_secs(60);
/// Seconds for which the number of requests in flight is kept, one a second.
const BACKLOG: usize = 6;
/// So many of the pairs of seconds show growth, if the backlog grows.
const GROWING: usize = 14;

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
        let metric = threshold.metric;
        let criterion = match (metric.taken, threshold.aggregate) {
            (_, Aggregate::Percentile(p)) if metric.is_time() => {
                Criterion { limit: Some(Nanos::from_secs_f64(threshold.limit)), share: 1.0 - p / 100.0 }
            }
            (Taken::Failures, Aggregate::Rate) => Criterion { limit: None, share: threshold.limit },
            _ => return Err(NoCriterion::Kind),
        };
        let sound = criterion.limit.is_none_or(|limit| limit > Nanos::ZERO)
            && 0.0 < criterion.share
            && criterion.share < 1.0;
        if sound { Ok(criterion) } else { Err(NoCriterion::Limit) }
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

/// How long a trial of those criteria lasts at so many requests per second, after the plan's warm-up.
pub fn length(criteria: &[Criterion], per_second: f64) -> Nanos {
    let limit = criteria.iter().filter_map(|criterion| criterion.limit).max().unwrap_or(Nanos::ZERO);
    let by_limit = Nanos(limit.0.saturating_mul(LONG)).max(SHORTEST).min(LONGEST);
    by_limit.max(Nanos::from_secs_f64((REQUESTS / per_second).min(86_400.0)))
}

/// Looks at a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    criteria: Vec<(Criterion, Batches)>,
    length: Nanos,
    /// The next look, in observations.
    next: f64,
    first_due: Option<Nanos>,
    last_due: Nanos,
    backlog: Vec<u64>,
    rate: f64,
    decided: Option<Decision>,
}

impl Trial {
    /// A trial at `rate` requests per second (infinite: the backlog says nothing), of that length, with at least one criterion.
    pub fn new(criteria: &[Criterion], rate: f64, length: Nanos) -> Trial {
        // Where failures alone count, levels of response times still tell of the dependence.
        let batches =
            |criterion: &Criterion| (*criterion, Batches::new(criterion.limit.unwrap_or(Nanos::MAX)));
        Trial {
            criteria: criteria.iter().map(batches).collect(),
            length,
            next: FIRST,
            first_due: None,
            last_due: Nanos::ZERO,
            backlog: Vec::new(),
            rate,
            decided: None,
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

    /// Mean natural logarithm of the response times in seconds; none of a trial that did not last its length.
    pub fn pace(&self) -> Option<f64> {
        let (_, batches) = self.criteria.first().filter(|_| self.is_whole())?;
        batches.parts(WARM_UP).map(|parts| parts.pace())
    }

    /// Whether it lasted as long as it was to.
    pub fn is_whole(&self) -> bool {
        self.first_due.is_some_and(|first| self.last_due - first >= self.length)
    }

    /// A request that was due then, as each criterion sees it: nothing where it is not asked, several where its parts are. Calls come in the order in which
    /// requests were due. Returns whether the trial has ended.
    #[inline]
    pub fn take<I: IntoIterator<Item = Seen>>(&mut self, due: Nanos, seen: impl Fn(usize) -> I) -> bool {
        self.first_due.get_or_insert(due);
        self.last_due = due;
        for (which, (_, batches)) in self.criteria.iter_mut().enumerate() {
            seen(which).into_iter().for_each(|seen| batches.take(seen));
        }
        if self.decided.is_some() {
            return true;
        }
        if self.is_whole() {
            self.decided = Some(self.shown().unwrap_or(Decision::Enough));
        } else if self.n() as f64 >= self.next {
            self.next *= GROWTH;
            self.decided = self.obvious();
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

    /// What each criterion's share is known to be; none before there is enough.
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
        Some(Evidence::of(&parts, event, criterion.share, time, LEVEL[1]))
    }

    /// Where the share at half, once and twice the limit is shown to be. Of failures, which have no such limit, only at once the limit.
    pub fn side_at(&self, which: usize, exact: usize) -> Option<Side> {
        let (criterion, _) = self.criteria.get(which)?;
        self.evidence_at(which, exact)?.side(criterion.share, LEVEL[1], LEVEL[1])
    }

    /// What it saw of the criterion that it met least; none of one that is too short. `moved`: by how much the generator may have moved the
    /// number of each criterion; where there is none, by nothing.
    pub fn block(&self, moved: &[Moved]) -> Option<Block> {
        let each = self.criteria.iter().enumerate().filter_map(|(which, (criterion, batches))| {
            Block::of(criterion, batches, moved.get(which).copied().flatten())
        });
        each.max_by(|a, b| a.log_ratio().total_cmp(&b.log_ratio()))
    }

    /// What is shown now, of all criteria together.
    pub fn shown(&self) -> Option<Decision> {
        let mut all_below = true;
        for (which, (criterion, _)) in self.criteria.iter().enumerate() {
            match self.side_at(which, 1) {
                Some(Side::Above) => return Some(Decision::Fails { criterion: which }),
                Some(Side::Below) => all_below &= self.long_enough(criterion),
                None => all_below = false,
            }
        }
        all_below.then_some(Decision::Holds)
    }

    /// A failure that needs no more requests.
    fn obvious(&self) -> Option<Decision> {
        let lasted = self.first_due.map_or(Nanos::ZERO, |first| self.last_due - first);
        if lasted.as_secs_f64() < PART * self.length.as_secs_f64() {
            return None;
        }
        let fails = |which: &usize| {
            let (criterion, batches) = &self.criteria[*which];
            let evidence = batches.parts(WARM_UP).map(|parts| {
                Evidence::of(&parts, criterion.event(), criterion.share, criterion.limit, LEVEL[0])
            });
            evidence.is_some_and(|evidence| {
                evidence.share()
                    >= OBVIOUS[0].max(OBVIOUS[1] * criterion.share).min(0.5 * (1.0 + criterion.share))
                    && evidence.side(criterion.share, LEVEL[0], LEVEL[0]) == Some(Side::Above)
            })
        };
        (0..self.criteria.len()).find(fails).map(|criterion| Decision::Fails { criterion })
    }

    /// Whether the trial lasted long enough for a success.
    fn long_enough(&self, criterion: &Criterion) -> bool {
        let Some(first) = self.first_due else { return false };
        self.last_due - first
            >= criterion.limit.map_or(Nanos::ZERO, |limit| Nanos(limit.0.saturating_mul(LIMITS)))
    }
}
