//! Which rate is tried next, and when the knee is known: sans-IO, fed with how trials ended.
//!
//! What is expected ([`Start`]) places the first trials; without it rates grow by a factor until one is beyond its limit. Then blocks below and
//! above the estimate are measured and all of them fitted together ([`fit`]): the next block is on the side of which less is known, as far
//! from the estimate as the curve is shallow, and the estimate is made anew after each.
//!
//! Deliberately absent: clocks, seeds, and who plays the trials.

use super::drift::{Drift, Pace, drift};
use super::line::{Block, Fit, Start, fit};
use super::trial::{Decision, Trial};

/// Distance from the limit, as a logarithm of the share, at which blocks are measured; of the rate at least and at most, as a multiple of the
/// precision; and every other pair of blocks this many times as far, so that the slope is seen.
const ASIDE: f64 = 0.9;
const DISTANCE: [f64; 2] = [0.6, 1.0];
const FARTHER: f64 = 1.3;
/// The first blocks, against what is expected.
const FIRST: [f64; 2] = [0.85, 1.15];
/// Fewest blocks.
const FEWEST: usize = 6;
/// Rates are whole multiples of this (logarithm) apart, so that blocks at one rate are told together.
const STEP: f64 = 0.01;
/// Without an expectation rates grow or shrink by this factor: the first where nothing was beyond the limit.
const GROW: [f64; 2] = [4.0, 2.0];
/// So many rates in a row, each a quarter of the one before, show that no lower one would hold.
const HOPELESS: usize = 3;
/// Trials at most.
const MOST: usize = 1_000;
/// Trials that could not be sent at a rate or below, before it is taken for the limit of the generator.
const NOT_SENT: usize = 3;
/// The part of that limit at which it is tried then.
const BELOW_LIMIT: f64 = 0.8;
/// Standard deviation and slope of what is expected where only a bracket is known.
const SPREAD: f64 = 0.15;
const SLOPE: f64 = 10.0;
/// Blocks as near to the knee (logarithm of the rate) tell of drift.
const NEAR: f64 = 0.25;

/// What a search looks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The first rate, per second, where nothing else is known.
    pub from: f64,
    /// The lowest rate; as `from` if the user gave one.
    pub lowest: f64,
    /// The highest rate.
    pub to: Option<f64>,
    /// Half the width of the interval over its middle, at most.
    pub precision: f64,
}

/// What a trial came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ended {
    /// As it was decided.
    Decided(Decision),
    /// The target held the load back by other means: it shed it, or the connection cap did.
    HeldBack,
    /// The load could not be sent as planned, and the generator was the reason: nothing is known of the target.
    NotSent,
    /// Nothing follows from it.
    Nothing,
}

/// A trial that has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Its rate, per second.
    pub rate: f64,
    /// What it came to.
    pub ended: Ended,
    /// What it saw; none where it was too short.
    pub block: Option<Block>,
    /// Mean natural logarithm of its response times in seconds; none of one that did not last its length.
    pub pace: Option<f64>,
    /// When it began, and how long it lasted: seconds since the search began, and seconds.
    pub at: [f64; 2],
}

impl Tried {
    /// A trial of which nothing but its outcome is known.
    pub fn bare(rate: f64, ended: Ended) -> Tried {
        Tried { rate, ended, block: None, pace: None, at: [0.0; 2] }
    }

    /// What a trial came to; `at`: when it began, and how long it lasted.
    pub fn of(rate: f64, ended: Ended, trial: &Trial, at: [f64; 2]) -> Tried {
        Tried { block: trial.block(&[]), pace: trial.pace(), at, ..Tried::bare(rate, ended) }
    }

    /// Whether it says something of the target.
    fn counts(&self) -> bool {
        matches!(self.ended, Ended::Decided(_) | Ended::HeldBack)
    }

    /// Whether its rate fails, whatever the blocks beside it say.
    fn fails(&self) -> bool {
        matches!(self.ended, Ended::HeldBack | Ended::Decided(Decision::Backlog))
    }

    /// Whether more was beyond the limit than it allows.
    fn is_beyond(&self) -> bool {
        self.fails() || self.block.as_ref().is_some_and(|block| block.log_ratio() > 0.0)
    }
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// A trial at this rate.
    Trial {
        /// Rate per second.
        rate: f64,
    },
    /// The search is over.
    Over(Knee),
}

/// What is known of the knee.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Knee {
    /// It lies in this interval, which is as narrow as was asked.
    Within([f64; 2]),
    /// Not even the lowest rate that was tried holds.
    Below(f64),
    /// The highest rate that was asked for holds.
    Above(f64),
    /// The generator could send no more.
    Generator {
        /// The highest rate that holds; none: no rate was shown to.
        holds: Option<f64>,
        /// The lowest that could not be sent.
        limit: f64,
    },
    /// A rate fails and a higher one holds, each in repeated trials.
    NotMonotone {
        /// Fails.
        fails: f64,
        /// Holds.
        holds: f64,
    },
    /// Response times changed while the target was searched: it has no one knee.
    Drifts(Drift),
    /// Trials decide nothing.
    Undecided,
}

/// The search.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    bounds: Bounds,
    expected: Option<Start>,
    tried: Vec<Tried>,
    fit: Option<Fit>,
}

impl Search {
    /// A search within those bounds.
    pub fn new(bounds: Bounds) -> Search {
        Search { bounds, expected: None, tried: Vec::new(), fit: None }
    }

    /// Takes what is expected.
    pub fn expect(&mut self, start: Start) {
        self.expected = Some(start);
        self.fit = self.fitted();
    }

    /// Takes a trial.
    pub fn take(&mut self, tried: Tried) {
        self.tried.push(tried);
        self.fit = self.fitted();
    }

    /// The trials so far.
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    /// The best estimate of the knee; none before anything is expected, or both sides of the limit were seen.
    pub fn estimate(&self) -> Option<f64> {
        self.start().and(self.fit).map(|fit| fit.knee)
    }

    /// The 95 % interval of the knee; an end that is not known is none.
    pub fn interval(&self) -> [Option<f64>; 2] {
        self.fit.map_or([None; 2], |fit| fit.interval)
    }

    /// Half the width of the interval over its middle; none while it has one end only.
    pub fn precision(&self) -> Option<f64> {
        match self.interval() {
            [Some(low), Some(high)] => Some(half([low, high])),
            _ => None,
        }
    }

    /// How response times changed while the target was searched; none where too little is known.
    pub fn drift(&self) -> Option<Drift> {
        let knee = self.estimate()?;
        let near = |t: &&Tried| t.counts() && (t.rate / knee).ln().abs() < NEAR;
        let pace = |t: &Tried| Some(Pace { rate: t.rate, at_s: t.at[0] + 0.5 * t.at[1], logarithm: t.pace? });
        let paces: Vec<Pace> = self.tried.iter().filter(near).filter_map(pace).collect();
        drift(&paces, knee)
    }

    /// What is to be done next.
    pub fn next(&self) -> Next {
        let Bounds { to, precision, .. } = self.bounds;
        if let Some(drift) = self.drift().filter(|drift| drift.matters(precision)) {
            return Next::Over(Knee::Drifts(drift));
        }
        if self.tried.len() >= MOST {
            return Next::Over(Knee::Undecided);
        }
        if let Some(over) = self.over() {
            return Next::Over(over);
        }
        let limit = self.limit_of_generator();
        let top = limit.map(|limit| BELOW_LIMIT * limit).into_iter().chain(to).reduce(f64::min);
        let rate =
            self.rate().clamp(self.bounds.lowest, top.unwrap_or(f64::INFINITY).max(self.bounds.lowest));
        Next::Trial { rate }
    }

    /// What ends it, if anything does.
    fn over(&self) -> Option<Knee> {
        let Bounds { lowest, to, precision, .. } = self.bounds;
        let tried = self.tried.iter().filter(|t| t.counts()).count();
        if let Some(limit) = self.limit_of_generator() {
            let holds = self.interval()[0];
            let at_all = lowest >= BELOW_LIMIT * limit;
            if at_all || holds.is_some_and(|holds| holds >= 0.95 * BELOW_LIMIT * limit) {
                return Some(Knee::Generator { holds, limit });
            }
        }
        if let Some(fit) = &self.fit {
            if let Some([fails, holds]) = fit.contradiction {
                return Some(Knee::NotMonotone { fails, holds });
            }
            if let (Some(to), Some(low)) = (to, fit.interval[0])
                && low >= to * (1.0 - 1e-9)
            {
                return Some(Knee::Above(to));
            }
            if let Some(high) = fit.interval[1].filter(|high| *high <= lowest * (1.0 + 1e-9)) {
                return Some(Knee::Below(high));
            }
            if let [Some(low), Some(high)] = fit.interval
                && half([low, high]) <= precision
                && tried >= FEWEST
            {
                return Some(Knee::Within([low, high]));
            }
        }
        // Without an expectation, rates that shrink and shrink.
        let all_beyond = self.tried.iter().filter(|t| t.counts()).all(Tried::is_beyond);
        let lowest_tried = self.tried.iter().map(|t| t.rate).fold(f64::INFINITY, f64::min);
        (all_beyond
            && tried > HOPELESS
            && lowest_tried < self.bounds.from / GROW[0].powi(HOPELESS as i32 - 1))
        .then_some(Knee::Below(lowest_tried))
    }

    /// The next rate.
    fn rate(&self) -> f64 {
        let Some(start) = self.start() else { return self.grow() };
        let counting = self.tried.iter().filter(|t| t.counts()).count();
        if self.expected.is_some()
            && let Some(times) = FIRST.get(counting)
        {
            return times * start.rate;
        }
        let fit = self.fit.unwrap_or(Fit {
            knee: start.rate,
            slope: start.slope,
            interval: [None; 2],
            contradiction: None,
        });
        let precision = self.bounds.precision;
        let farther = if (counting / 2) % 2 == 1 { FARTHER } else { 1.0 };
        let aside = farther * (ASIDE / fit.slope).clamp(DISTANCE[0] * precision, DISTANCE[1] * precision);
        let unknown = |end: Option<f64>| end.map_or(f64::INFINITY, |end| (end / fit.knee).ln().abs());
        let [below, above] = fit.interval.map(unknown);
        let down = below > above || (below == above && counting.is_multiple_of(2));
        let rate = fit.knee * if down { -aside } else { aside }.exp();
        start.rate * ((rate / start.rate).ln() / STEP).round().mul_add(STEP, 0.0).exp()
    }

    /// What is expected: of probes, or of the rates on both sides of the limit.
    fn start(&self) -> Option<Start> {
        if let Some(start) = self.expected {
            return Some(start);
        }
        let counting = || self.tried.iter().filter(|t| t.counts());
        let lowest = counting().filter(|t| t.is_beyond()).map(|t| t.rate).reduce(f64::min)?;
        let below = counting().filter(|t| !t.is_beyond() && t.rate < lowest).map(|t| t.rate);
        let highest = below.reduce(f64::max)?;
        // It stays where it is while blocks are added near the knee: only the first pair of them that is a factor apart makes it.
        let first = counting().position(|t| t.is_beyond());
        let last = counting().position(|t| !t.is_beyond());
        let pair = first.into_iter().chain(last).max().map_or(0, |at| at + 1);
        let early = || counting().take(pair);
        let high = early().filter(|t| t.is_beyond()).map(|t| t.rate).reduce(f64::min).unwrap_or(lowest);
        let low = early().filter(|t| !t.is_beyond()).map(|t| t.rate).reduce(f64::max).unwrap_or(highest);
        let (low, high) = if low < high { (low, high) } else { (highest, lowest) };
        let spread = (0.5 * (high / low).ln()).max(SPREAD);
        Some(Start { rate: (low * high).sqrt(), spread, slope: SLOPE, alone: [0.0; 2] })
    }

    /// The next rate while one side of the limit was not seen.
    fn grow(&self) -> f64 {
        let Bounds { from, to, .. } = self.bounds;
        let counting = || self.tried.iter().filter(|t| t.counts());
        let top = counting().map(|t| t.rate).reduce(f64::max);
        match top {
            None => to.filter(|to| *to <= GROW[0] * from).map_or(from, |to| (from * to).sqrt()),
            Some(top) if !counting().any(Tried::is_beyond) => {
                let none = counting().all(|t| t.block.as_ref().is_none_or(|block| block.events == 0.0));
                top * GROW[usize::from(!none)]
            }
            Some(_) => counting().map(|t| t.rate).fold(f64::INFINITY, f64::min) / GROW[0],
        }
    }

    /// The lowest rate that the generator could not send, again and again, and no higher one either.
    fn limit_of_generator(&self) -> Option<f64> {
        let sent = self.tried.iter().filter(|t| t.counts()).map(|t| t.rate).fold(0.0, f64::max);
        let not_sent = self.tried.iter().filter(|t| t.ended == Ended::NotSent && t.rate > sent);
        let not_sent: Vec<f64> = not_sent.map(|t| t.rate).collect();
        (not_sent.len() >= NOT_SENT).then(|| not_sent.into_iter().fold(f64::INFINITY, f64::min))
    }

    fn fitted(&self) -> Option<Fit> {
        let start = self.start();
        let counting = || self.tried.iter().filter(|t| t.counts());
        let blocks: Vec<(f64, &Block)> =
            counting().filter_map(|t| Some((t.rate, t.block.as_ref()?))).collect();
        let fails: Vec<f64> = counting().filter(|t| t.fails()).map(|t| t.rate).collect();
        match start {
            Some(start) => {
                Some(fit(&blocks, &fails, &start, self.fit.as_ref().filter(|_| self.expected.is_some())))
            }
            // One side alone: where it was seen, and no estimate but that.
            None => {
                let rate = counting().map(|t| t.rate).reduce(f64::max)?;
                let start = Start { rate, spread: 2.0, slope: SLOPE, alone: [0.0; 2] };
                Some(fit(&blocks, &fails, &start, None))
            }
        }
    }
}

/// Half the width of an interval over its middle.
fn half([low, high]: [f64; 2]) -> f64 {
    (high - low) / (high + low)
}
