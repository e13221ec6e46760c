//! Thresholds judged on a document alone, where a run kept no records: only numbers that the document holds.

use super::evaluate::judge;
use super::measure::SURE;
use super::{Aggregate, Threshold, Vouch};
use crate::intervals::clopper_pearson_at;
use crate::metric::{Block, Taken};
use crate::summary::{
    Ends, GeneratorShare, LoadVerdict, Open, PERCENTILES, RuleId, RuleOutcome, Source, Spread, Summary, Tail,
    ThresholdResult, mean_is_lower_bound,
};
use headway_base::Outcome;

/// Judges a threshold on a summary, under its own verdict on the load. None if the summary lacks the number: percentiles
/// other than 50, 90, 95, 99 and 99.9 (of lag and blocked 50, 99 and 99.9), and steps where there are several.
pub fn of_summary(threshold: &Threshold, summary: &Summary) -> Option<ThresholdResult> {
    if let Some(step) = &threshold.step
        && (summary.by_label.len() != 1 || !summary.by_label.contains_key(step))
    {
        return None;
    }
    let mut result = threshold.blank();
    let missing = threshold.metric.not_in_simulation(summary.events.is_some());
    if let Some(why) = missing.filter(|_| summary.source == Source::Sim) {
        return Some(ThresholdResult { open: Some(Open::Data), reason: Some(why.into()), ..result });
    }
    let aggregate = threshold.aggregate;
    match threshold.metric.taken {
        Taken::Response { .. } | Taken::Row(_) | Taken::Event(_) | Taken::Lag | Taken::Blocked => {
            match threshold.metric.block {
                Block::Tail(tail) => of_tail(&mut result, tail(summary), aggregate)?,
                // What is not there was not observed.
                _ => of_spread(
                    &mut result,
                    summary.spread(threshold.metric).unwrap_or(&Spread::default()),
                    aggregate,
                )?,
            }
        }
        Taken::Failures => of_failures(&mut result, summary, aggregate),
        Taken::Responses => return None,
        Taken::Starts => {
            result.n = summary.arrivals.started;
            let count = Some(summary.arrivals.started as f64);
            result.value = if aggregate == Aggregate::Count { count } else { summary.rate.started };
        }
    }
    judge(&mut result, summary.vouch(), unsent(summary).1);
    Some(result)
}

impl Summary {
    /// What its load rules say of the generator, as far as thresholds rest on it. In virtual time no generator is late.
    pub fn vouch(&self) -> Vouch {
        let load = self.verdict.load.filter(|_| self.source != Source::Sim);
        Vouch::of(&self.verdict.rules, load)
    }

    /// Whether its load is INVALID for more than delays whose effect on the numbers is known: then these are of another load.
    pub fn is_another_load(&self) -> bool {
        let verdict = &self.verdict;
        let mut broken = verdict.rules.iter().filter(|rule| rule.outcome == RuleOutcome::Fail).peekable();
        let told = broken.peek().is_some() && broken.all(|rule| rule.rule == RuleId::Effect);
        verdict.load == Some(LoadVerdict::Invalid) && !(told && verdict.effect.is_some())
    }

    /// Judges its thresholds again, under its own verdict on the load.
    pub fn judge_thresholds(&mut self) {
        let (vouch, unsent) = (self.vouch(), unsent(self).1);
        self.thresholds.iter_mut().for_each(|result| judge(result, vouch, unsent));
    }
}

/// Requests that this machine did not send, and their share.
fn unsent(summary: &Summary) -> (u64, f64) {
    // A document from elsewhere may hold any counts.
    let sum = |n: u64, more: u64| n.saturating_add(more);
    let of = |outcome: Outcome| summary.outcomes.get(outcome.name()).copied().unwrap_or(0);
    let n = sum(of(Outcome::Unsent), of(Outcome::LocalLimit));
    let all = summary.outcomes.values().copied().fold(0, sum);
    (n, if all == 0 { 0.0 } else { n as f64 / all as f64 })
}

fn of_failures(result: &mut ThresholdResult, summary: &Summary, aggregate: Aggregate) {
    let (unsent, _) = unsent(summary);
    let all = summary.outcomes.values().fold(0, |sum: u64, &n| sum.saturating_add(n));
    let n = all.saturating_sub(unsent);
    let ok = summary.outcomes.get(Outcome::Ok.name()).copied().unwrap_or(0);
    let failed = n.saturating_sub(ok);
    result.n = n;
    if n == 0 {
        return;
    }
    let of = |count: f64, n: u64| count / if aggregate == Aggregate::Count { 1.0 } else { n as f64 };
    result.value = Some(of(failed as f64, n));
    if aggregate != Aggregate::Count {
        [result.at_least, result.at_most] = clopper_pearson_at(failed, n, SURE).map(Some);
    }
    let vouch = summary.vouch();
    let mut late = 0.0;
    if !vouch.is_valid() {
        let share = summary.verdict.rules.iter().find(|rule| rule.rule == RuleId::LateShare);
        late = share.and_then(|rule| rule.value).unwrap_or(1.0) * n as f64;
    }
    let low = of((failed as f64 - late).max(0.0), all).min(of(failed as f64, n));
    let high = of((failed as f64 + late + unsent as f64).min(all as f64), all);
    result.ends = Some(Ends { low, high: Some(high) });
}

fn of_spread(result: &mut ThresholdResult, spread: &Spread, aggregate: Aggregate) -> Option<()> {
    let name = aggregate.key();
    if matches!(aggregate, Aggregate::Percentile(p) if !PERCENTILES.contains(&p)) {
        return None;
    }
    let (value, interval) = spread.number(aggregate)?;
    result.n = spread.n;
    result.value = value;
    result.interval = interval;
    let of_name = |share: GeneratorShare| share.all().into_iter().find(|known| known.0 == name)?.1;
    result.ends = spread.generator_share.and_then(of_name).map(|[low, high]| Ends { low, high: Some(high) });
    if let (Aggregate::Percentile(p), None) = (aggregate, interval) {
        let ci = &spread.ci95;
        let smaller = [(99.0, ci.p99), (95.0, ci.p95), (90.0, ci.p90), (50.0, ci.p50)];
        let known = smaller.into_iter().filter(|smaller| smaller.0 < p);
        result.at_least = known.filter_map(|smaller| smaller.1).map(|[low, _]| low).reduce(f64::max);
    }
    result.lower_bound = match aggregate {
        Aggregate::Mean => mean_is_lower_bound(spread.censored, spread.n),
        _ => spread.lower_bound.contains_key(&name),
    };
    Some(())
}

fn of_tail(result: &mut ThresholdResult, tail: &Tail, aggregate: Aggregate) -> Option<()> {
    result.n = tail.n;
    result.value = match aggregate {
        Aggregate::Percentile(50.0) => tail.p50,
        Aggregate::Percentile(99.0) => tail.p99,
        Aggregate::Percentile(99.9) => tail.p999,
        Aggregate::Max => tail.max,
        Aggregate::Count => Some(tail.n as f64),
        _ => return None,
    };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{LabelSummary, LoadVerdict, ThresholdOutcome};

    fn summary() -> Summary {
        let mut s = Summary::default();
        s.verdict.load = Some(LoadVerdict::Valid);
        s.response = Spread {
            n: 1000,
            censored: 5,
            mean: Some(0.02),
            p50: Some(0.01),
            p99: Some(0.09),
            ..Spread::default()
        };
        s.response.p999 = Some(0.5);
        s.response.lower_bound = [("p999".into(), true), ("mean".into(), true)].into();
        s.response.ci95.p99 = Some([0.08, 0.11]);
        s.lag = Tail { n: 990, p99: Some(0.000_2), ..Tail::default() };
        s.outcomes = [("ok".into(), 990), ("timeout".into(), 5), ("status".into(), 5)].into();
        s.arrivals.started = 1000;
        s.rate.started = Some(100.0);
        s.by_label = [("request".into(), LabelSummary::default())].into();
        s
    }

    #[test]
    fn the_numbers_of_a_document_are_judged() {
        use ThresholdOutcome::{Crossed, Passed};
        for (text, value, outcome, told) in [
            ("p(99)<100", 0.09, Passed, true),
            ("p(99)<70ms", 0.09, Crossed, false),
            ("response{step:request}: med<20", 0.01, Passed, true),
            // Half a percent without an answer: the mean is judged as it stands, the tail is not.
            ("avg<30", 0.02, Passed, true),
            ("p(99.9)<1s", 0.5, Crossed, true),
            ("p(99.9)>400ms", 0.5, Passed, false),
            ("failed: rate<1%", 0.01, Crossed, true),
            ("failed: rate<=1%", 0.01, Passed, true),
            ("failed: count<11", 10.0, Passed, false),
            ("started: rate>99.5", 100.0, Passed, false),
            ("lag: p(99)<100us", 0.000_2, Crossed, false),
        ] {
            let result = of_summary(&text.parse().unwrap(), &summary()).expect(text);
            assert_eq!((result.value, result.outcome), (Some(value), outcome), "{text}");
            assert_eq!(result.reason.is_some(), told, "{text}: {:?}", result.reason);
            assert!(result.n > 0, "{text}");
        }
    }

    #[test]
    fn what_a_document_lacks_is_not_made_up() {
        let lacks = ["p(97)<100", "lag: p(95)<1", "lag: avg<1", "response{step:other}: p(99)<1"];
        for text in lacks {
            assert_eq!(of_summary(&text.parse().unwrap(), &summary()), None, "{text}");
        }
        let empty = of_summary(&"service: p(99)<1".parse().unwrap(), &summary()).unwrap();
        assert_eq!(empty.outcome, ThresholdOutcome::NotJudged);
        let mut invalid = summary();
        invalid.verdict.load = Some(LoadVerdict::Invalid);
        let result = of_summary(&"p(99)<100".parse().unwrap(), &invalid).unwrap();
        assert_eq!((result.value, result.outcome), (Some(0.09), ThresholdOutcome::NotJudged));
        // Where its ends are known the verdict does not matter.
        invalid.response.generator_share =
            Some(GeneratorShare { p99: Some([0.085, 0.09]), ..Default::default() });
        let result = of_summary(&"p(99)<70".parse().unwrap(), &invalid).unwrap();
        assert_eq!((result.outcome, result.open), (ThresholdOutcome::Crossed, None));
    }
}
