//! Between what the number of the planned load lies: the one place that says so, of every metric and aggregate that a threshold may name.
//!
//! A number that the generator cannot have moved has both ends at its value: counts, what was started, the generator's own lag, and
//! everything but response times of a load that is VALID. Response times lie in the range of what an undisturbed generator would have measured (`effect`), and those of a step between the ones
//! without the generator's delays (`delays`) and the ones as measured. Of failures those that could have been caused by the generator are not in the lower end ([`Failures`]). What was not sent is
//! below the lower end and beyond the upper one; where more of it is missing than the load rules tolerate, what the planned load would have
//! done to all the others is not known, and there is no upper end.
//!
//! Deliberately absent: intervals, which say how far chance goes, and what follows (`evaluate`).

use super::{Aggregate, Metric};
use crate::effect::{Found, Numbers};
use crate::generator_share::Least;
use crate::metric::{Delays, Taken};
use crate::requests::Requests;
use crate::responses::Sample;
use crate::summary::{Ends, LoadVerdict, RuleId, RuleOutcome, RuleResult, Why};
use headway_base::Nanos;

/// What the load rules say of the generator, as far as thresholds rest on it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Vouch {
    /// The verdict on the load, but for what the connection cap kept: a cap is a part of the load that was asked for.
    pub load: Option<LoadVerdict>,
    /// A rule failed that speaks of delays which the bounds on response times do not hold.
    pub unbounded: bool,
}

impl Vouch {
    /// By these rules, in a summary with this verdict.
    pub fn of(rules: &[RuleResult], load: Option<LoadVerdict>) -> Vouch {
        let own = |rule: &&RuleResult| !is_at_cap(rule);
        let any = |outcome| rules.iter().filter(own).any(|rule| rule.outcome == outcome);
        let load = match load {
            Some(LoadVerdict::Invalid) if !rules.iter().any(is_at_cap) => load,
            Some(LoadVerdict::Valid) | None => load,
            _ if any(RuleOutcome::Fail) => Some(LoadVerdict::Invalid),
            Some(LoadVerdict::Inconclusive) => load,
            _ if any(RuleOutcome::Undecided) => Some(LoadVerdict::Inconclusive),
            _ => Some(LoadVerdict::Valid),
        };
        use RuleId::{Bunching, Dispersion, Effect, LateShare, SentShare};
        let bounded = [SentShare, Effect, LateShare, Bunching, Dispersion];
        let beyond = |rule: &RuleResult| rule.outcome == RuleOutcome::Fail && !bounded.contains(&rule.rule);
        Vouch { load, unbounded: rules.iter().filter(own).any(beyond) }
    }

    /// Whether the load is known to be the planned one.
    pub fn is_valid(self) -> bool {
        matches!(self.load, Some(LoadVerdict::Valid) | None)
    }
}

/// Whether a rule failed, or is undecided, for nothing but the requests that the connection cap kept.
pub fn is_at_cap(rule: &RuleResult) -> bool {
    let at_cap = |stated: &crate::summary::Stated<Why>| matches!(stated.why, Why::HeldAtCap { .. });
    rule.reason.as_ref().is_some_and(at_cap)
}

/// What is known of the generator's delays for each request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Known {
    /// Nothing.
    #[default]
    Nothing,
    /// How long it would have taken at least (`delays`).
    Bound,
    /// How long it took from its start, where requests are due after responses.
    FromStart,
}

/// Share of the distance between a number from the start and as measured by which the lower end lies below the first.
const OUTWARDS: f64 = crate::effect::OUTWARDS;

/// Where the ends come from.
pub(crate) struct EndsFrom<'a> {
    /// Of the step, or of all.
    pub requests: &'a Requests,
    pub vouch: Vouch,
    /// What is known of the generator's delays for each response time.
    pub known: Known,
    /// What those delays did to the numbers of all requests, where that is told.
    pub effect: Option<&'a Found>,
    /// Whether these are all requests, and not those of one step.
    pub whole: bool,
    /// Requests that were later than is forgiven.
    pub late: u64,
    /// Share of the plan that may be unsent.
    pub tolerated: f64,
    /// After how long without a response a request fails, if it is known.
    pub timeout: Option<Nanos>,
}

impl EndsFrom<'_> {
    /// Between what a number of times or sizes lies whose value is `value`, in `unit` of those of the sample. None where nothing bounds it.
    pub fn of_sample(
        &self,
        metric: Metric,
        aggregate: Aggregate,
        sample: &Sample,
        value: f64,
        unit: f64,
    ) -> Option<Ends> {
        if metric.is_fact(aggregate) {
            return Some(Ends::exactly(value));
        }
        let unsent = Unsent::of(self.requests, self.tolerated);
        let plain = || Some(Ends { low: value, high: unsent.beyond(sample, aggregate, value * unit, unit) });
        let successes = matches!(metric.taken, Taken::Response { successes: true });
        match metric.delays {
            Delays::Free if unsent.few => Some(Ends::exactly(value)),
            Delays::Free => None,
            // What the rules say of more than delays is said of no number.
            Delays::Within | Delays::Apart if self.vouch.unbounded => None,
            Delays::Within if self.whole && self.effect.is_some() => {
                let [low, high] = self.parts(successes, aggregate, &unsent)?;
                let Ends { high: beyond, .. } = plain()?;
                Some(Ends { low: value * low, high: beyond.map(|beyond| beyond * high) })
            }
            Delays::Within => match self.known {
                Known::Nothing => None,
                Known::Bound | Known::FromStart => {
                    let low = self.low(successes, aggregate, value, unit, &unsent)?;
                    Some(Ends { low, ..plain()? })
                }
            },
            _ if self.vouch.is_valid() => Some(Ends::exactly(value)),
            // An undisturbed request is not held up: its service time is its response time.
            Delays::Apart if self.known != Known::Nothing => {
                let r = self.requests;
                let response = Sample::new(&[&r.ok, &r.answered], &[&r.censored], 0);
                let measured = of_sample(&response, aggregate)?;
                let low = self.low(false, aggregate, measured / unit, unit, &unsent)?.min(value);
                let high = unsent.beyond(&response, aggregate, measured, unit);
                Some(Ends { low, high: high.map(|high| high.max(value)) })
            }
            _ => None,
        }
    }

    /// The lower end of a number of response times whose value is `value`, in `unit`. After responses it lies below the number from the start,
    /// as that of a whole load does, and at least as low as the queues before all steps say.
    fn low(
        &self,
        successes: bool,
        aggregate: Aggregate,
        value: f64,
        unit: f64,
        unsent: &Unsent,
    ) -> Option<f64> {
        let least = self.requests.least(successes)?;
        let low = unsent.below(&least, aggregate, value * unit)? / unit;
        if self.known == Known::Bound {
            return Some(low);
        }
        let part = match aggregate {
            // Nobody waits for others in the fastest.
            Aggregate::Min => 1.0,
            _ => self.parts(successes, aggregate, unsent).map_or(1.0, |[low, _]| low),
        };
        Some((low - OUTWARDS * (value - low).max(0.0)).max(0.0).min(value * part))
    }

    /// The least and the most that an undisturbed generator would have measured, as parts of what was measured; what was not sent counts as
    /// below the least.
    fn parts(&self, successes: bool, aggregate: Aggregate, unsent: &Unsent) -> Option<[f64; 2]> {
        let found = self.effect?;
        let all = found.n as f64 + unsent.n as f64;
        // Where nothing is left to say how small it may be.
        let lowest = |place: f64| (place > 0.0).then_some(place);
        let place = |p: f64| lowest((p / 100.0 * all - unsent.n as f64) / found.n as f64);
        let of = |numbers: &Numbers, below: bool| match aggregate {
            Aggregate::Percentile(p) if below => place(p).and_then(|place| numbers.quantile(place)),
            Aggregate::Percentile(p) => numbers.quantile(p / 100.0),
            Aggregate::Mean => Some(numbers.mean()),
            Aggregate::Min => numbers.quantile(0.0),
            Aggregate::Max => Some(numbers.max()),
            Aggregate::Rate | Aggregate::Count => None,
        };
        let judged = &found.judged;
        let measured = judged.measured(successes, |numbers| of(numbers, false))?;
        if measured <= 0.0 {
            return Some([1.0, 1.0]);
        }
        let low = judged.ends(successes, |numbers| of(numbers, true)).map_or(0.0, |[low, _]| low);
        let [_, high] = judged.ends(successes, |numbers| of(numbers, false))?;
        let sent = if aggregate == Aggregate::Mean { found.n as f64 / all } else { 1.0 };
        let low = if aggregate == Aggregate::Min && unsent.n > 0 { 0.0 } else { low * sent };
        Some([(low / measured).min(1.0), (high / measured).max(1.0)])
    }

    /// Between what the failures lie, as a count or a share.
    pub fn of_failures(&self, failures: u64, n: u64, aggregate: Aggregate) -> Option<Ends> {
        let unsent = Unsent::of(self.requests, self.tolerated);
        let of = |count: u64| match aggregate {
            Aggregate::Count => count as f64,
            _ => count as f64 / (n + unsent.n) as f64,
        };
        let valid = self.vouch.is_valid();
        let known = self.known == Known::Bound && !self.vouch.unbounded;
        let own = if valid { failures } else { self.requests.failures_of_target(known, self.late) };
        let spared = if valid { 0 } else { self.requests.failures_spared(known, self.late, self.timeout) };
        let high = (valid || unsent.few).then(|| of((failures + unsent.n + spared).min(n + unsent.n)));
        let low = of(own.min(failures))
            .min(failures as f64 / if aggregate == Aggregate::Count { 1.0 } else { n as f64 });
        Some(Ends { low, high })
    }

    /// Share of the plan that was not sent.
    pub fn unsent(&self) -> f64 {
        Unsent::of(self.requests, self.tolerated).share
    }
}

/// That number of the measured times themselves, in nanoseconds.
fn of_sample(sample: &Sample, aggregate: Aggregate) -> Option<f64> {
    match aggregate {
        Aggregate::Percentile(p) => sample.quantile(p / 100.0).map(|q| q.value),
        Aggregate::Mean => sample.mean(),
        Aggregate::Min => sample.min(),
        Aggregate::Max => sample.max().map(|q| q.value),
        Aggregate::Rate | Aggregate::Count => None,
    }
}

/// What this machine did not send.
struct Unsent {
    n: u64,
    share: f64,
    /// As few as the load rules tolerate.
    few: bool,
}

impl Unsent {
    fn of(requests: &Requests, tolerated: f64) -> Unsent {
        let n = requests.all_not_sent().n;
        let all: u64 = requests.outcomes.iter().sum();
        let share = if all == 0 { 0.0 } else { n as f64 / all as f64 };
        Unsent { n, share, few: share <= tolerated }
    }

    /// The upper end: with all of it beyond.
    fn beyond(&self, sample: &Sample, aggregate: Aggregate, value: f64, unit: f64) -> Option<f64> {
        let high = match aggregate {
            _ if self.n == 0 => Some(value),
            _ if !self.few => None,
            Aggregate::Percentile(p) => sample.with_beyond(p / 100.0, self.n).map(|high| high.max(value)),
            // A mean is that of nearly all.
            Aggregate::Mean | Aggregate::Min => Some(value),
            Aggregate::Max | Aggregate::Rate | Aggregate::Count => None,
        };
        high.map(|high| high / unit)
    }

    /// The lower end: with all of it below.
    fn below(&self, least: &Least, aggregate: Aggregate, value: f64) -> Option<f64> {
        let n = least.n() as f64;
        let all = n + self.n as f64;
        match aggregate {
            Aggregate::Percentile(p) if self.n > 0 => {
                let place = (p * all / 100.0 - self.n as f64) / n;
                match place > 0.0 {
                    true => least.end(Aggregate::Percentile(100.0 * place), value),
                    false => Some(0.0),
                }
            }
            Aggregate::Mean if self.n > 0 => least.end(aggregate, value).map(|mean| mean * n / all),
            Aggregate::Min if self.n > 0 => Some(0.0),
            _ => least.end(aggregate, value),
        }
    }
}
