//! The range of what members say, and whether all of it is tolerated.

use super::answers::{Counts, Number, Numbers};
use crate::responses::BEYOND;
use crate::summary::{Interval, RuleOutcome, Spread};

/// Each end of the members' range is moved away from what was measured by this share of its distance;
pub(crate) const OUTWARDS: f64 = 0.5;
/// what is beyond the tolerance must also be so where they are moved by this.
const LESS: f64 = 0.25;
/// The bound passes alone what it shows to be within this part of the tolerance.
const ALONE: f64 = 0.1;
/// What is tolerated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// As a share of the undisturbed number.
    pub share: f64,
    /// For times at least this, in nanoseconds.
    pub time: f64,
    /// For the share that failed at least this.
    pub failed: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { share: 0.05, time: 20_000.0, failed: 0.001 }
    }
}

impl Tolerance {
    /// How far from the undisturbed number the measured one is, as a part of what is tolerated.
    fn used(&self, number: Number, measured: f64, undisturbed: f64) -> f64 {
        let floor = if number == Number::Failed { self.failed } else { self.time };
        let tolerated = (self.share * undisturbed).max(floor);
        let off = (measured - undisturbed).abs();
        if off == 0.0 { 0.0 } else { off / tolerated }
    }

    /// The least and the most of the same where the undisturbed number lies in a range.
    fn ends(&self, number: Number, measured: f64, [low, high]: [f64; 2]) -> [f64; 2] {
        let [a, b] = [low, high].map(|end| self.used(number, measured, end.max(0.0)));
        let within = (low.min(high)..=low.max(high)).contains(&measured);
        [if within { 0.0 } else { a.min(b) }, a.max(b)]
    }
}

/// What a range rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// The range of the members.
    Ensemble,
    /// The bound, which is narrower.
    Bound,
    /// The response from the start and from the intended instant: what was due followed a response.
    FromStart,
}

/// What was found about a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NumberFound {
    /// Which.
    pub number: Number,
    /// As it was measured, in nanoseconds or as a share.
    pub measured: f64,
    /// What an undisturbed generator would have measured: from, to.
    pub undisturbed: [f64; 2],
    /// The least and the largest relative error of the measured number in that range. The largest is infinite where the number may be 0.
    pub effect: [f64; 2],
    /// What the range rests on.
    pub basis: Basis,
    /// Whether it is tolerated; none of a number that is not judged.
    pub outcome: Option<RuleOutcome>,
}

/// Kept for numbers that are asked for later: what was measured, and what members say.
#[derive(Clone, Debug)]
pub struct Judged {
    measured: Counts,
    members: Vec<Counts>,
    bound: Option<Counts>,
    tolerance: Tolerance,
}

/// The effect of the generator on a load.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was found about each number, the judged ones first.
    pub numbers: Vec<NumberFound>,
    /// Requests.
    pub n: u64,
    /// For numbers that are asked for later.
    pub judged: Judged,
}

impl Found {
    /// The rule: fails if a number does, else is undecided if one is.
    pub fn outcome(&self) -> RuleOutcome {
        let any = |outcome| self.numbers.iter().any(|n| n.outcome == Some(outcome));
        if any(RuleOutcome::Fail) {
            RuleOutcome::Fail
        } else if any(RuleOutcome::Undecided) || !self.numbers.iter().any(|n| n.outcome.is_some()) {
            RuleOutcome::Undecided
        } else {
            RuleOutcome::Pass
        }
    }
}

impl Found {
    /// Of the numbers that are judged the one that decides: of those with the worst outcome the one that is the furthest off.
    pub fn worst(&self) -> Option<&NumberFound> {
        let outcome = self.outcome();
        let deciding = self.numbers.iter().filter(|n| n.outcome == Some(outcome));
        deciding.max_by(|a, b| a.effect[1].total_cmp(&b.effect[1]))
    }
}

impl Found {
    /// Leaves percentiles without a verdict of which the printed number is a lower bound: by how much it is off says nothing. `is_no_bound` is asked with
    /// p in [0, 1].
    pub fn leave_bounds(&mut self, is_no_bound: impl Fn(f64) -> bool) {
        for found in &mut self.numbers {
            if let Number::Percentile(tenths) = found.number
                && !is_no_bound(f64::from(tenths) / 1_000.0)
            {
                found.outcome = None;
            }
        }
    }

    /// Takes the range of what an undisturbed generator would have measured into the intervals of the response times, of successes alone
    /// or of all: each end moves as far as the number's own end of the range is from what was measured.
    pub(crate) fn widen(&self, spread: &mut Spread, successes: bool) {
        let part = |of: &dyn Fn(&Numbers) -> Option<f64>| -> Option<[f64; 2]> {
            let measured = self.judged.measured(successes, of).filter(|&measured| measured > 0.0)?;
            Some(self.judged.ends(successes, of)?.map(|end| end / measured))
        };
        let by = |interval: &mut Option<Interval>, of: &dyn Fn(&Numbers) -> Option<f64>| {
            if let (Some([low, high]), Some([least, most])) = (interval.as_mut(), part(of)) {
                (*low, *high) = (*low * least, *high * most);
            }
        };
        let ci = &mut spread.ci95;
        by(&mut ci.mean, &|numbers| Some(numbers.mean()));
        let percentiles = [
            (50.0, &mut ci.p50),
            (90.0, &mut ci.p90),
            (95.0, &mut ci.p95),
            (99.0, &mut ci.p99),
            (99.9, &mut ci.p999),
        ];
        for (p, interval) in percentiles {
            by(interval, &|numbers| numbers.quantile(p / 100.0));
        }
        for asked in &mut spread.percentiles {
            let percent = asked.percent;
            by(&mut asked.ci95, &|numbers| numbers.quantile(percent / 100.0));
        }
    }
}

impl Judged {
    /// A number as it was measured.
    pub fn measured(&self, successes: bool, of: impl Fn(&Numbers) -> Option<f64>) -> Option<f64> {
        of(if successes { &self.measured.successes } else { &self.measured.all })
    }

    /// Both ends of a number: what an undisturbed generator would have measured, and what was measured between them or at one of
    /// them. `of` takes the number from response times, of successes alone or of all, in nanoseconds.
    pub fn ends(&self, successes: bool, of: impl Fn(&Numbers) -> Option<f64>) -> Option<[f64; 2]> {
        let of = |counts: &Counts| of(if successes { &counts.successes } else { &counts.all });
        let measured = of(&self.measured)?;
        // As of the numbers that are judged: what the bound shows to be hardly moved is.
        let alone = self.bound.as_ref().and_then(of).map(|low| low.min(measured));
        if let Some(low) = alone.filter(|&low| self.tolerance.used(Number::Mean, measured, low) <= ALONE) {
            return Some([low, measured]);
        }
        let range = span(self.members.iter().map(of))?;
        let [low, high] = moved(range, measured, OUTWARDS);
        Some([low.max(0.0).min(measured), high.max(measured)])
    }
}

/// The least and the most, if all are told and there are any.
fn span(mut values: impl Iterator<Item = Option<f64>>) -> Option<[f64; 2]> {
    let first = values.next()??;
    values.try_fold([first, first], |[low, high], x| x.map(|x| [low.min(x), high.max(x)]))
}

/// Each end moved away from what was measured by a share of its distance.
fn moved([low, high]: [f64; 2], measured: f64, by: f64) -> [f64; 2] {
    [low - by * (measured - low).abs(), high + by * (measured - high).abs()]
}

/// Judges each number; none where there are no requests.
pub(super) fn judge(
    measured: &Counts,
    members: &[Counts],
    bound: Option<&Counts>,
    basis: Basis,
    tolerance: &Tolerance,
) -> Option<Found> {
    if measured.n == 0 {
        return None;
    }
    let judged = |&number: &Number| {
        let decided = match number {
            Number::Percentile(p) => measured.n as f64 * (1.0 - f64::from(p) / 1_000.0) >= BEYOND - 1e-9,
            _ => true,
        };
        one(number, decided, (measured, members, bound), basis, tolerance)
    };
    let shown = |&number: &Number| one(number, false, (measured, members, bound), basis, tolerance);
    let numbers = Number::JUDGED.iter().filter_map(judged).chain(Number::SHOWN.iter().filter_map(shown));
    Some(Found {
        numbers: numbers.collect(),
        n: measured.n,
        judged: Judged {
            measured: measured.clone(),
            members: members.to_vec(),
            bound: bound.cloned(),
            tolerance: *tolerance,
        },
    })
}

fn one(
    number: Number,
    decided: bool,
    (measured, members, bound): (&Counts, &[Counts], Option<&Counts>),
    members_are: Basis,
    tolerance: &Tolerance,
) -> Option<NumberFound> {
    let m = measured.get(number)?;
    let plain = span(members.iter().map(|member| member.get(number)))?;
    let ends = |range| tolerance.ends(number, m, range);
    let wide = moved(plain, m, OUTWARDS);
    let [mut least, mut most] = ends(wide);
    least = least.min(ends(moved(plain, m, LESS))[0]);
    // The bound says nothing of the share that failed.
    let alone = bound
        .and_then(|bound| bound.get(number))
        .filter(|_| number != Number::Failed)
        .map(|low| [low.min(m), m]);
    let mut basis = members_are;
    let mut range = wide;
    if let Some(alone) = alone {
        let by_bound = ends(alone)[1];
        let together = if by_bound <= ALONE { by_bound } else { by_bound.max(ends(plain)[1]) };
        if together <= 1.0 {
            least = 0.0;
            if together < most {
                (most, basis) = (together, Basis::Bound);
                range =
                    if by_bound <= ALONE { alone } else { [alone[0].min(plain[0]), alone[1].max(plain[1])] };
            }
        }
    }
    let outcome = if most <= 1.0 {
        RuleOutcome::Pass
    } else if least > 1.0 {
        RuleOutcome::Fail
    } else {
        RuleOutcome::Undecided
    };
    let range = range.map(|end| end.max(0.0));
    let relative = |end: f64| if end == m { 0.0 } else { (m / end - 1.0).abs() };
    let [a, b] = range.map(relative);
    let within = (range[0]..=range[1]).contains(&m);
    Some(NumberFound {
        number,
        measured: m,
        undisturbed: range,
        effect: [if within { 0.0 } else { a.min(b) }, a.max(b)],
        basis,
        outcome: decided.then_some(outcome),
    })
}
