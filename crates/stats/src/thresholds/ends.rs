//! Between what the number of the planned load lies: the one place that says so, of every metric and aggregate that a threshold may name.
//!
//! A number that the generator cannot have moved has both ends at its value: counts, what was started, the generator's own lag, and
//! everything but response times of a load that is VALID. Response times lie between those without the generator's delays (`delays`) and those
//! as measured. Of failures those that could have been caused by the generator are not in the lower end ([`Failures`]). What was not sent is
//! below the lower end and beyond the upper one; where more of it is missing than the load rules tolerate, what the planned load would have
//! done to all the others is not known, and there is no upper end.
//!
//! Deliberately absent: intervals, which say how far chance goes, and what follows (`evaluate`).

use super::{Aggregate, Metric};
use crate::generator_share::Least;
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
        use RuleId::{Bunching, Dispersion, LateShare, SentShare};
        let bounded = [SentShare, LateShare, Bunching, Dispersion];
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

/// Whether the number is a fact of the run itself, which nothing that the generator did makes another.
pub(crate) fn is_fact(metric: Metric, aggregate: Aggregate) -> bool {
    let count = aggregate == Aggregate::Count && metric != Metric::Failed;
    count || matches!(metric, Metric::Lag | Metric::Blocked | Metric::Started)
}

/// Where the ends come from.
pub(crate) struct EndsFrom<'a> {
    /// Of the step, or of all.
    pub requests: &'a Requests,
    pub vouch: Vouch,
    /// Whether the delays of the generator are known for each response time.
    pub known: bool,
    /// Requests that were late at the time scale of the target.
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
        if is_fact(metric, aggregate) {
            return Some(Ends::exactly(value));
        }
        let unsent = Unsent::of(self.requests, self.tolerated);
        let plain = || Some(Ends { low: value, high: unsent.beyond(sample, aggregate, value * unit, unit) });
        match metric {
            // How long a response is does not hang on when it was asked for.
            Metric::Bytes if unsent.few => Some(Ends::exactly(value)),
            Metric::Bytes => None,
            Metric::Response | Metric::ResponseOk if self.known && !self.vouch.unbounded => {
                let least = self.requests.least(metric == Metric::ResponseOk)?;
                let low = unsent.below(&least, aggregate, value * unit)? / unit;
                Some(Ends { low, ..plain()? })
            }
            Metric::Response | Metric::ResponseOk if self.vouch.is_valid() => None,
            _ if self.vouch.is_valid() => Some(Ends::exactly(value)),
            // An undisturbed request is not held up: its service time is its response time.
            Metric::Service if self.known && !self.vouch.unbounded => {
                let r = self.requests;
                let response = Sample::new(&[&r.ok, &r.answered], &[&r.censored], 0);
                let least = r.least(false)?;
                let low = (unsent.below(&least, aggregate, value * unit)? / unit).min(value);
                let measured = of_sample(&response, aggregate)?;
                let high = unsent.beyond(&response, aggregate, measured, unit);
                Some(Ends { low, high: high.map(|high| high.max(value)) })
            }
            _ => None,
        }
    }

    /// Between what the failures lie, as a count or a share.
    pub fn of_failures(&self, failures: u64, n: u64, aggregate: Aggregate) -> Option<Ends> {
        let unsent = Unsent::of(self.requests, self.tolerated);
        let of = |count: u64| match aggregate {
            Aggregate::Count => count as f64,
            _ => count as f64 / (n + unsent.n) as f64,
        };
        let valid = self.vouch.is_valid();
        let known = self.known && !self.vouch.unbounded;
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
