//! Which rate is tried next, and when the knee is known: sans-IO, fed with how trials ended.
//!
//! Rates double until one fails. Then a line is fitted through the logarithms of the shares beyond the limit against the rate, near
//! the limit: in queues whose services have light tails the logarithm of a tail probability is about linear in the rate near
//! saturation (Kingman 1962, "On queues in heavy traffic"; exactly so in M/M/1). The rate at which it crosses zero is the knee, with
//! the interval of Fieller (1954, "Some problems in interval estimation"), and the next rate is where it makes that interval
//! narrowest: near the knee, on the side of which less is known. Trials are as long as the precision that is still missing asks
//! for (a fixed-width interval: Chow and Robbins 1965).
//!
//! Where the curve is steep, no trial measures: to show that the rates at both ends of the wanted interval hold and fail takes less, and beyond
//! the knee, near saturation, there is no steady state whose share could be measured. The line then only says where these ends are.
//!
//! Where a step and no curve leads from holding to failing, no line fits: the interval is then from the highest rate that was shown
//! to hold to the lowest that was shown not to, and nothing but monotony is assumed.
//!
//! Deliberately absent: clocks, seeds, and who plays the trials.

use super::drift::{Drift, Pace, drift};
use super::trial::{Ask, Cost, Decision, Trial, WARM_UP};

/// Independent events after which a trial that shows neither has seen enough, while the knee is sought.
const ROUGH: f64 = 3.0;
/// The same before a rate has failed, and where a trial is repeated: of twice as many after each that has shown neither.
const FIRST: f64 = 12.0;
/// The same where the curve is steep.
const EITHER: f64 = 8.0;
/// Each trial in the bracket that has shown neither makes the next this many times as long.
const LONGER: f64 = 1.5;
/// A curve is steep whose logarithm differs by more than this at a distance of the precision: beyond the knee there may then be no steady state
/// that can be measured, and the knee is bracketed.
const STEEP: f64 = 1.5;
/// A trial whose share, as a logarithm, is this far beyond the limit may show the same.
const BEYOND: f64 = 2.0;
/// Distance from the limit, as a logarithm, at which the lower end is sought then; not nearer than this part of the precision.
const CLEAR: f64 = 2.0;
const CLOSEST: f64 = 0.4;
/// A trial at such an end lasts at most so many times as long as the search until then.
const LASTS: f64 = 3.0;
/// The fewest that are asked for where the share is measured.
const FEWEST: f64 = 3.0;
/// The most.
const MOST_EVENTS: f64 = 2_000.0;
/// Distance from the limit, as a logarithm, at which shares are measured.
const ASIDE: f64 = 0.7;
/// The same of rates at most, as a multiple of the precision.
const MOST_ASIDE: f64 = 2.0;
/// Points farther from the limit, as a logarithm, are no part of the fit.
const FAR: f64 = 3.2;
/// How far a curve bends away from its line: standard deviation, as a multiple of the square of the distance from the limit, and of the
/// slope times the square of the relative distance in rate.
const BEND: [f64; 2] = [0.1, 1.5];
/// Standard errors of a 95 % interval: Student's t with 12 degrees of freedom, as the variances rest on few independent events.
const Z: f64 = 2.2;
/// Trials at one rate whose outcomes differ, or that could not be sent, before it is given up.
const REPEATS: usize = 3;
/// Bounds of the slope of the line: logarithm of the share against relative rate.
const SLOPES: [f64; 2] = [0.5, 1_000.0];
/// Trials at most.
const MOST: usize = 60;
/// A trial that measures ends after this many times the requests that were foreseen when it was asked for.
const BOUND: f64 = 8.0;
/// A trial that measures lasts at most as long as the search until then, or so many seconds: a target that gets slower makes each
/// longer than the one before, and whether it does is asked between trials.
const LONGEST_S: f64 = 120.0;
/// Seconds after which a rate that holds is measured, to be compared with later; in shorter searches drift is not looked for.
const REFERENCE_S: f64 = 60.0;
/// Its requests are at least this part of all that were sent; those of a trial that returns to it at least the other.
const PARTS: [f64; 2] = [0.25, 0.04];
/// Both have at least so many requests. The first waits for a rate at which these take at most [`SOON`] of the time until then.
const RETURN: f64 = 4_000.0;
const SOON: f64 = 0.5;
/// The search returns to it each time when it has lasted this many times as long as at the last of them.
const LATER: f64 = 1.6;
/// And before it ends, if the last of them ended before this part of the time; and again, at most so often, where there may be a drift.
const LATE: f64 = 0.8;
const AGAIN: usize = 3;
/// Standard errors beyond which there may be one.
const MAYBE: f64 = 1.8;

/// Where no rate has held, the share beyond the limit at a rate of nothing is foretold from the lowest rate and one at least so many times as
/// high. Where it is beyond the limit by this factor and so many standard errors, no lower rate would hold.
const APART: f64 = 4.0;
const HOPELESS: (f64, f64) = (1.5, 3.0);

/// What a search looks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The first rate, per second.
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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tried {
    /// Its rate, per second.
    pub rate: f64,
    /// What it came to.
    pub ended: Ended,
    /// The logarithm of the worst share over its limit, and its variance; none where nothing was seen.
    pub log_ratio: Option<(f64, f64)>,
    /// What it cost; none where nothing was seen.
    pub cost: Option<Cost>,
    /// How fast it was answered.
    pub pace: Option<Pace>,
    /// Requests that it took, all of them.
    pub requests: u64,
    /// When it began, and how long it lasted: seconds since the search began, and seconds.
    pub at: [f64; 2],
    /// Whether it was played to see whether the target changes.
    pub returns: bool,
}

impl Tried {
    /// A trial of which nothing but its outcome is known.
    pub fn bare(rate: f64, ended: Ended) -> Tried {
        Tried {
            rate,
            ended,
            log_ratio: None,
            cost: None,
            pace: None,
            requests: 0,
            at: [0.0; 2],
            returns: false,
        }
    }

    /// What a trial came to; `at`: when it began, and how long it lasted.
    pub fn of(rate: f64, ended: Ended, trial: &Trial, at: [f64; 2]) -> Tried {
        Tried {
            log_ratio: trial.log_ratio(),
            cost: trial.cost(),
            pace: trial.pace(),
            requests: trial.n(),
            at,
            returns: trial.returns(),
            ..Tried::bare(rate, ended)
        }
    }

    /// When it ended.
    fn end_s(&self) -> f64 {
        self.at[0] + self.at[1]
    }

    /// The middles of the halves of what follows its warm-up.
    pub(super) fn middles(&self) -> [f64; 2] {
        [0.25, 0.75].map(|part| self.at[0] + self.at[1] * (WARM_UP + (1.0 - WARM_UP) * part))
    }
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// A trial at this rate.
    Trial {
        /// Rate per second.
        rate: f64,
        /// What is asked of it.
        ask: Ask,
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
    tried: Vec<Tried>,
}

/// What the trials at one rate say.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Rate {
    rate: f64,
    holds: usize,
    fails: usize,
    not_sent: usize,
    nothing: usize,
}

impl Rate {
    fn holds(&self) -> bool {
        self.holds > self.fails
    }
    fn fails(&self) -> bool {
        self.fails > self.holds
    }
    fn decided(&self) -> usize {
        self.holds + self.fails
    }
}

impl Search {
    /// A search within those bounds.
    pub fn new(bounds: Bounds) -> Search {
        Search { bounds, tried: Vec::new() }
    }

    /// Takes a trial. One that looks for drift is no part of what is known of the knee: it came after an outcome at its rate, and because
    /// of it.
    pub fn take(&mut self, tried: Tried) {
        let apart = Tried { ended: Ended::Decided(Decision::Enough), log_ratio: None, cost: None, ..tried };
        self.tried.push(if tried.returns { apart } else { tried });
    }

    /// The trials so far.
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    /// What is known so far: the interval of the fit where there is one, else the highest rate that holds and the lowest that fails.
    pub fn interval(&self) -> [Option<f64>; 2] {
        let (holds, fails) = ends(&self.rates());
        let (Some(low), Some(high)) = (holds, fails) else { return [holds, fails] };
        let bracket = [low, high];
        let fitted = self.fit().and_then(|fit| fit.interval());
        let narrower = fitted.filter(|fitted| low <= high && half(*fitted) < half(bracket));
        narrower.unwrap_or(bracket).map(Some)
    }

    /// Half the width of the interval over its middle; none while it has one end only.
    pub fn precision(&self) -> Option<f64> {
        match self.interval() {
            [Some(low), Some(high)] => Some(half([low, high])),
            _ => None,
        }
    }

    /// What is to be done next.
    pub fn next(&self) -> Next {
        self.next_within(f64::INFINITY)
    }

    /// The same with so many seconds left: a look for drift which does not fit is left out.
    pub fn next_within(&self, left_s: f64) -> Next {
        if let Some(drift) = self.drift().filter(|drift| drift.matters(self.bounds.precision)) {
            return Next::Over(Knee::Drifts(drift));
        }
        let next = self.next_of_a_steady_target();
        self.look_for_drift(&next, left_s).unwrap_or(next)
    }

    /// How response times changed while the target was searched; none where too little is known.
    pub fn drift(&self) -> Option<Drift> {
        drift(&self.tried)
    }

    /// A trial at the highest rate that has held; then, from time to time, and before the search ends, at the same rate.
    fn look_for_drift(&self, next: &Next, left_s: f64) -> Option<Next> {
        let over = matches!(next, Next::Over(_));
        let now = self.tried.last()?.end_s();
        let sent: u64 = self.tried.iter().map(|t| t.requests).sum();
        let looks = || self.tried.iter().filter(|t| t.returns);
        let (rate, part) = match (looks().next(), looks().next_back()) {
            (Some(first), Some(last)) => {
                let in_a_row = self.tried.iter().rev().take_while(|t| t.returns).count();
                let maybe = in_a_row < AGAIN && self.drift().is_some_and(|drift| drift.is_beyond(MAYBE));
                let due = now >= LATER * last.end_s() || (over && (last.end_s() < LATE * now || maybe));
                (first.rate, due.then_some(PARTS[1])?)
            }
            _ => {
                let (holds, fails) = ends(&self.rates());
                let soon = fails.is_some() || RETURN / (holds? * self.per_arrival()?) < SOON * now;
                (holds?, (!over && soon && now >= REFERENCE_S).then_some(PARTS[0])?)
            }
        };
        let requests = (part * sent as f64).max(RETURN);
        let fits = 1.5 * requests / (rate * self.per_arrival()?) < left_s;
        fits.then_some(Next::Trial { rate, ask: Ask::Return(requests) })
    }

    fn next_of_a_steady_target(&self) -> Next {
        let rates = self.rates();
        let (holds, fails) = ends(&rates);
        // Trials at one rate that differ, or that could not be sent, are repeated.
        let again = |rate: &&Rate| {
            let torn = rate.holds == rate.fails && rate.holds > 0 && rate.decided() < REPEATS;
            let not_sent = rate.decided() == 0 && (1..REPEATS).contains(&rate.not_sent);
            let nothing = rate.decided() == 0 && rate.not_sent == 0 && (1..REPEATS).contains(&rate.nothing);
            torn || not_sent || nothing
        };
        if let Some(rate) = rates.iter().find(again) {
            return self.decide(rate.rate);
        }
        if self.tried.iter().filter(|t| !t.returns).count() >= MOST {
            return Next::Over(Knee::Undecided);
        }
        match (holds, fails) {
            (Some(holds), Some(fails)) if fails < holds => self.contradicted(&rates, fails, holds),
            (Some(holds), Some(fails)) => self.between(holds, fails),
            (None, Some(fails)) => self.downwards(fails),
            (holds, None) => self.upwards(holds, &rates),
        }
    }

    /// A trial that decides, the longer the more trials of that rate have seen enough without an outcome.
    fn decide(&self, rate: f64) -> Next {
        let open = |t: &&Tried| t.rate == rate && !t.returns && t.ended == Ended::Decided(Decision::Enough);
        let times = self.tried.iter().filter(open).count() as i32;
        let events = (FIRST * 2f64.powi(times)).min(MOST_EVENTS);
        Next::Trial { rate, ask: Ask::Decide { events, most: f64::INFINITY } }
    }

    /// Each is tried once more before the curve is taken not to be monotone.
    fn contradicted(&self, rates: &[Rate], fails: f64, holds: f64) -> Next {
        let trials = |rate: f64| rates.iter().find(|r| r.rate == rate).map_or(0, Rate::decided);
        match [fails, holds].into_iter().find(|&rate| trials(rate) < 2) {
            Some(rate) => self.decide(rate),
            None => Next::Over(Knee::NotMonotone { fails, holds }),
        }
    }

    /// No rate holds yet.
    fn downwards(&self, fails: f64) -> Next {
        let lowest = self.bounds.lowest;
        if fails <= lowest * (1.0 + 1e-9) || self.is_hopeless() {
            return Next::Over(Knee::Below(fails));
        }
        self.decide((fails / 2.0).max(lowest))
    }

    /// Whether no load is small enough. The line is that of the fit; where the curve flattens towards low rates the share is larger than it says.
    fn is_hopeless(&self) -> bool {
        let measured = || self.tried.iter().filter_map(|t| t.log_ratio.map(|of| (t.rate, of)));
        let Some((low, (at_low, variance))) = measured().min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return false;
        };
        let above = measured().filter(|(rate, _)| *rate >= APART * low * (1.0 - 1e-9));
        let Some((high, (at_high, of_high))) = above.min_by(|a, b| a.0.total_cmp(&b.0)) else { return false };
        let weight = low / (high - low);
        let at_nothing = at_low - weight * (at_high - at_low).max(0.0);
        let error = ((1.0 + weight).powi(2) * variance + weight * weight * of_high).sqrt();
        at_nothing > HOPELESS.0.ln() + HOPELESS.1 * error
    }

    /// No rate fails yet.
    fn upwards(&self, holds: Option<f64>, rates: &[Rate]) -> Next {
        let Bounds { from, lowest, to, .. } = self.bounds;
        let limit = rates.iter().find(|r| r.decided() == 0 && r.not_sent >= REPEATS).map(|r| r.rate);
        match (limit, holds) {
            (Some(limit), None) if limit <= lowest * (1.0 + 1e-9) => {
                Next::Over(Knee::Generator { holds: None, limit })
            }
            (Some(limit), None) => self.decide((limit / 2.0).max(lowest)),
            (Some(limit), Some(holds)) if limit <= holds * 1.25 => {
                Next::Over(Knee::Generator { holds: Some(holds), limit })
            }
            // Between the two it may still fail for the target's reasons.
            (Some(limit), Some(holds)) => self.decide((holds * limit).sqrt()),
            (None, holds) => {
                let top = rates.last().map(|r| r.rate);
                let next = top.map_or(from, |top| top * 2.0);
                match to {
                    Some(to) if holds.is_some_and(|holds| holds >= to * (1.0 - 1e-9)) => {
                        Next::Over(Knee::Above(to))
                    }
                    Some(to) => self.decide(next.min(to)),
                    None => self.decide(next),
                }
            }
        }
    }

    /// A rate holds and a higher one fails.
    fn between(&self, holds: f64, fails: f64) -> Next {
        let precision = self.bounds.precision;
        let bracket = [holds, fails];
        let fit = self.fit();
        let fitted = fit.and_then(|fit| fit.interval());
        let steep = fit.filter(|fit| self.is_steep(fit));
        let fitted = fitted.filter(|_| steep.is_none());
        if let Some(interval) = [Some(bracket), fitted].into_iter().flatten().find(|i| half(*i) <= precision)
        {
            return Next::Over(Knee::Within(interval));
        }
        let ratio = fails / holds;
        let inside = |rate: f64, share: f64| rate.clamp(holds * ratio.powf(share), fails / ratio.powf(share));
        let middle = (holds * fails).sqrt();
        // The more trials in the bracket have shown nothing, the longer the next.
        let within =
            |t: &&Tried| holds < t.rate && t.rate < fails && t.ended == Ended::Decided(Decision::Enough);
        let nothing = self.tried.iter().filter(within).count() as i32;
        if let Some(fit) = steep.filter(|fit| fit.is_near(bracket)) {
            return self.close_in(bracket, &fit, nothing);
        }
        let Some(fit) = fit.filter(|fit| fit.is_near(bracket) && fit.error < 0.2 * fit.root) else {
            let root = self.chord().unwrap_or(middle);
            // What was measured there tells no slope.
            let known = |rate: f64| {
                self.tried.iter().any(|t| is_near(t) && (t.rate / rate - 1.0).abs() < 0.25 * precision)
            };
            let aside = [1.0, 1.0 - 2.0 * precision, 1.0 + 2.0 * precision, 1.0 - precision, 1.0 + precision]
                .map(|times| root * times);
            let root = aside.into_iter().find(|rate| !known(inside(*rate, 0.15))).unwrap_or(root);
            return Next::Trial {
                rate: inside(root, 0.15),
                ask: Ask::Decide {
                    events: (ROUGH * LONGER.powi(nothing)).min(MOST_EVENTS),
                    most: self.as_long_as_until_now(inside(root, 0.15)),
                },
            };
        };
        let slope = fit.slope * fit.root;
        let aside = (ASIDE / slope).min(MOST_ASIDE * precision);
        let [below, above] = fit.sides;
        let rate = if below <= above { fit.root * (1.0 - aside) } else { fit.root * (1.0 + aside) };
        // What the interval needs in all, less what is there; half of it from each side.
        let needed = (Z / (precision * slope)).powi(2) * 1.1;
        let missing = (needed - below - above) / if fit.is_balanced() { 1.0 } else { 2.0 };
        let rate = inside(rate, 0.02);
        let events = missing.max(needed / 4.0).clamp(FEWEST, MOST_EVENTS);
        let most = (BOUND * self.foreseen(rate, events)).min(self.as_long_as_until_now(rate));
        Next::Trial { rate, ask: Ask::Measure { events, most } }
    }

    /// Whether the curve is steep, by the line, or by a trial above its root whose share is far beyond the limit.
    fn is_steep(&self, fit: &Fit) -> bool {
        let precision = self.bounds.precision;
        let steeper = |t: &Tried| {
            let above = t.rate / fit.root - 1.0;
            t.log_ratio.is_some_and(|(y, _)| above > 0.0 && y > BEYOND && y * precision > STEEP * above)
        };
        fit.slope * fit.root * precision > STEEP || self.tried.iter().any(steeper)
    }

    /// A trial at an end of the interval that is sought, where the curve is steep: to show that a rate somewhat below the knee holds and that one
    /// above it fails takes less than to measure. Where one end is shown, the other is as far from it as the precision allows.
    fn close_in(&self, [holds, fails]: [f64; 2], fit: &Fit, nothing: i32) -> Next {
        let precision = self.bounds.precision;
        let margin = (fails / holds).powf(0.02);
        let inside = |rate: f64| rate.clamp(holds * margin, fails / margin);
        let root = inside(fit.root);
        let aside = (CLEAR / (fit.slope * fit.root)).clamp(CLOSEST * precision, precision);
        // A little less than that, so that the interval is not too wide by a rounding.
        let widest = (1.0 + precision) / (1.0 - precision) * 0.9995;
        let [low, high] = [fails / widest, holds * widest];
        let rate = if low <= root * (1.0 - aside) {
            low
        } else if high >= root * (1.0 + aside) {
            high
        } else {
            root * (1.0 - aside)
        };
        let rate = inside(rate);
        let events = (EITHER * LONGER.powi(nothing)).min(MOST_EVENTS);
        let most = LASTS * self.as_long_as_until_now(rate);
        Next::Trial { rate, ask: Ask::Decide { events, most } }
    }

    /// Requests that a trial at that rate sends while it lasts as long as the search has.
    fn as_long_as_until_now(&self, rate: f64) -> f64 {
        let each = self.per_arrival().zip(self.tried.last());
        each.map_or(f64::INFINITY, |(each, last)| rate * each * last.end_s().max(LONGEST_S))
    }

    /// Requests of what arrives, by the last trial; of closed users each second's.
    fn per_arrival(&self) -> Option<f64> {
        let last = self.tried.last().filter(|t| t.at[1] > 0.0)?;
        Some((last.requests as f64 / (last.at[1] * last.rate)).max(1e-3))
    }

    /// Requests that a trial of that many events is foreseen to need: the larger number of those that the nearest trials on both sides of
    /// the rate would need.
    fn foreseen(&self, rate: f64, events: f64) -> f64 {
        let costs = self.tried.iter().filter(|t| is_near(t)).filter_map(|t| Some((t.rate, t.cost?)));
        let nearest = |above: bool| {
            let side = costs.clone().filter(|(own, _)| (*own > rate) == above);
            side.min_by(|a, b| (a.0 - rate).abs().total_cmp(&(b.0 - rate).abs()))
        };
        let each = [false, true].into_iter().filter_map(nearest).map(|(_, cost)| cost.of(events));
        each.reduce(f64::max).unwrap_or(f64::INFINITY)
    }

    /// The fit near the limit.
    fn fit(&self) -> Option<Fit> {
        let (Some(low), Some(high)) = ends(&self.rates()) else { return None };
        let near = self.tried.iter().filter(|t| is_near(t));
        let points: Vec<_> = near.filter_map(|t| Some((t.rate, t.log_ratio?))).collect();
        let mut fit = Fit::through(&points, (low * high).sqrt(), 2.0)?;
        for _ in 0..2 {
            let root = fit.root.clamp(low, high);
            fit = Fit::through(&points, root, fit.slope * root)?;
        }
        Some(fit)
    }

    /// Where the line from the highest trial below the limit to the lowest above it crosses the limit; none without both.
    fn chord(&self) -> Option<f64> {
        let points = || {
            let seen = self.tried.iter().filter_map(|t| Some((t.rate, t.log_ratio?)));
            // Half an event of a short trial is none.
            seen.filter(|(_, (ratio, variance))| *ratio < 0.0 || *variance < 1.6)
                .map(|(rate, (ratio, _))| (rate, ratio.clamp(-3.0, 3.0)))
        };
        let (high, over) = points().filter(|p| p.1 > 0.0).min_by(|a, b| a.0.total_cmp(&b.0))?;
        let (low, under) =
            points().filter(|p| p.1 <= 0.0 && p.0 < high).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(low + (high - low) * -under / (over - under))
    }

    /// Rates, ascending, with the outcomes of their trials.
    fn rates(&self) -> Vec<Rate> {
        let mut all: Vec<Rate> = Vec::new();
        for tried in &self.tried {
            let place = all.iter().position(|r| r.rate == tried.rate).unwrap_or_else(|| {
                all.push(Rate { rate: tried.rate, holds: 0, fails: 0, not_sent: 0, nothing: 0 });
                all.len() - 1
            });
            let rate = &mut all[place];
            match tried.ended {
                Ended::Decided(Decision::Holds) => rate.holds += 1,
                Ended::Decided(Decision::Fails { .. } | Decision::Backlog) | Ended::HeldBack => {
                    rate.fails += 1
                }
                Ended::Decided(Decision::Enough) => {}
                Ended::NotSent => rate.not_sent += 1,
                Ended::Nothing => rate.nothing += 1,
            }
        }
        all.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        all
    }
}

/// Whether what was seen is near enough to the limit, and precise enough, for the fit.
fn is_near(tried: &Tried) -> bool {
    tried.log_ratio.is_some_and(|(ratio, variance)| ratio.abs() < FAR && variance < 1.6)
}

/// Half the width of an interval over its middle.
fn half([low, high]: [f64; 2]) -> f64 {
    (high - low) / (high + low)
}

/// The highest rate that holds, and the lowest that fails: of those above the lowest that holds, if there is one.
fn ends(rates: &[Rate]) -> (Option<f64>, Option<f64>) {
    let lowest = rates.iter().find(|r| r.holds()).map_or(0.0, |r| r.rate);
    let holds = rates.iter().rev().find(|r| r.holds()).map(|r| r.rate);
    let fails = rates.iter().find(|r| r.fails() && r.rate > lowest).map(|r| r.rate);
    (holds, fails)
}

/// A line through logarithms of shares over their limit, by weighted least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fit {
    /// Per unit of the rate.
    slope: f64,
    /// The rate at which the share is its limit.
    root: f64,
    /// Standard error of that.
    error: f64,
    /// Value at the mean of the rates, that mean, and the variances of value and slope.
    value: f64,
    mean: f64,
    variances: [f64; 2],
    /// Sums of the weights of points below and above the limit.
    sides: [f64; 2],
}

impl Fit {
    /// Points weigh the less the farther they lie from the limit, and from the rate `near`, as the curve bends; `steep`: its slope there,
    /// by relative rate. None for fewer than two rates, and for a line that does not rise.
    fn through(points: &[(f64, (f64, f64))], near: f64, steep: f64) -> Option<Fit> {
        let weight = |x: f64, y: f64, variance: f64| {
            let off = x / near - 1.0;
            1.0 / (variance + (BEND[0] * y * y).powi(2) + (BEND[1] * steep * off * off).powi(2))
        };
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|&(x, (y, variance))| weight(x, y, variance) * of(x, y)).sum()
        };
        let all = sum(&|_, _| 1.0);
        if all <= 0.0 {
            return None;
        }
        let (mean, value) = (sum(&|x, _| x) / all, sum(&|_, y| y) / all);
        let spread = sum(&|x, _| (x - mean) * (x - mean));
        if spread <= all * (1e-4 * mean) * (1e-4 * mean) {
            return None;
        }
        let slope = sum(&|x, y| (x - mean) * (y - value)) / spread;
        if slope * mean < SLOPES[0] || slope * mean > SLOPES[1] {
            return None;
        }
        let residuals = sum(&|x, y| (y - value - slope * (x - mean)).powi(2));
        let free = points.len() as f64 - 2.0;
        // Points that scatter more than their variances allow (Birge 1932).
        let scatter = if free > 0.0 { (residuals / free).max(1.0) } else { 1.0 };
        let variances = [scatter / all, scatter / spread];
        let root = mean - value / slope;
        let off = root - mean;
        let error = ((variances[0] + off * off * variances[1]) / (slope * slope)).sqrt();
        let side = |above: bool| sum(&|_, y| f64::from(u8::from((y > 0.0) == above)));
        Some(Fit { slope, root, error, value, mean, variances, sides: [side(false), side(true)] })
    }

    /// Fieller's interval of the root; none where the slope is not shown to be above zero.
    fn interval(&self) -> Option<[f64; 2]> {
        let [of_value, of_slope] = self.variances;
        // (value + slope d)^2 <= Z^2 (of_value + of_slope d^2), in the distance d from the mean.
        let a = self.slope * self.slope - Z * Z * of_slope;
        let b = self.value * self.slope;
        let c = self.value * self.value - Z * Z * of_value;
        let inside = b * b - a * c;
        if a <= 0.0 || inside < 0.0 || !self.is_balanced() {
            return None;
        }
        let ends = [-b - inside.sqrt(), -b + inside.sqrt()].map(|end| self.mean + end / a);
        (ends[0] > 0.0).then_some(ends)
    }

    /// Whether both sides of the limit were seen.
    fn is_balanced(&self) -> bool {
        self.sides.iter().all(|weight| *weight >= 2.0)
    }

    /// Whether the root lies within a bracket, or near it.
    fn is_near(&self, [low, high]: [f64; 2]) -> bool {
        (0.9 * low..=1.1 * high).contains(&self.root)
    }
}
