//! Thresholds in words: how many hold, and each with its value, interval and n.

use super::{Answer, Tone};
use crate::format::{chosen_time, count, number, plural, rate, share, size, time, time_range};
use headway_stats::Summary;
use headway_stats::summary::{Open, ThresholdOutcome, ThresholdResult, ThresholdUnit};

/// Do the numbers keep to what was demanded of them? None where nothing was.
pub fn answer(summary: &Summary) -> Option<Answer> {
    let all = summary.thresholds.len() as u64;
    if all == 0 {
        return None;
    }
    let having = |outcome| summary.thresholds.iter().filter(move |t| t.outcome == outcome);
    let names = |outcome| {
        let names: Vec<&str> = having(outcome).take(3).map(|t| t.text.as_str()).collect();
        let more = if having(outcome).count() > 3 { ", ..." } else { "" };
        format!("{}{more}", names.join(", "))
    };
    let (crossed, unknown) = (
        having(ThresholdOutcome::Crossed).count() as u64,
        having(ThresholdOutcome::NotJudged).count() as u64,
    );
    let of = |n: u64| format!("{} of {}", count(n), plural(all, "threshold"));
    Some(if crossed > 0 {
        let text = format!("{} crossed: {}", of(crossed), names(ThresholdOutcome::Crossed));
        Answer { word: "crossed", meaning: text, tone: Tone::Bad }
    } else if unknown > 0 {
        let text = format!("{} not judged: {}", of(unknown), names(ThresholdOutcome::NotJudged));
        Answer { word: "not judged", meaning: text, tone: Tone::Warn }
    } else {
        let text = if all == 1 { "the threshold holds".into() } else { format!("all {all} thresholds hold") };
        Answer { word: "passed", meaning: text, tone: Tone::Good }
    })
}

/// What a line of a threshold says behind its value, where it is not certain.
pub fn certainty(threshold: &ThresholdResult) -> Option<String> {
    threshold.open?;
    let reason = threshold.reason.as_ref().map(super::why::why);
    Some(match (threshold.open, reason) {
        (_, Some(reason)) if reason.starts_with("not certain") => reason,
        (Some(Open::Data), Some(reason)) => format!("not certain: {reason}"),
        (_, Some(reason)) => reason,
        (_, None) => "not certain".into(),
    })
}

/// The word for an outcome, and its tone.
pub fn outcome(outcome: ThresholdOutcome) -> (&'static str, Tone) {
    match outcome {
        ThresholdOutcome::Passed => ("passed", Tone::Good),
        ThresholdOutcome::Crossed => ("CROSSED", Tone::Bad),
        ThresholdOutcome::Inconclusive => ("inconclusive", Tone::Warn),
        ThresholdOutcome::NotJudged => ("not judged", Tone::Warn),
    }
}

/// The judged value: `214 ms`, `> 214 ms` for a lower bound, or `-`.
pub fn value(threshold: &ThresholdResult) -> String {
    let bound = if threshold.lower_bound { "> " } else { "" };
    threshold.value.map_or("-".into(), |value| format!("{bound}{}", shown(threshold.unit, value)))
}

/// The interval, or `-`.
pub fn interval(threshold: &ThresholdResult) -> String {
    threshold.interval.map_or("-".into(), |[low, high]| match threshold.unit {
        ThresholdUnit::Seconds => time_range(low, high),
        unit => format!("{} to {}", shown(unit, low), shown(unit, high)),
    })
}

/// The limit with its operator: `< 100 ms`.
pub fn limit(threshold: &ThresholdResult) -> String {
    let limit = match threshold.unit {
        ThresholdUnit::Seconds => chosen_time(threshold.limit),
        unit => shown(unit, threshold.limit),
    };
    format!("{} {limit}", threshold.operator)
}

/// Value, interval, n and what else to know, to stand beside the threshold.
pub fn evidence(threshold: &ThresholdResult) -> String {
    let mut text = value(threshold);
    if threshold.interval.is_some() {
        text = format!("{text}, 95 % interval {}", interval(threshold));
    }
    text = format!("{text}; n = {}", count(threshold.n));
    let reason = || threshold.reason.as_ref().map(super::why::why);
    match certainty(threshold).or_else(reason) {
        Some(reason) => format!("{text}; {reason}"),
        None => text,
    }
}

/// All of it in one line: `p(99)<100 crossed: 214 ms; n = 12,000`.
pub fn sentence(threshold: &ThresholdResult) -> String {
    let (word, _) = outcome(threshold.outcome);
    format!("{} {}: {}", threshold.text, word.to_lowercase(), evidence(threshold))
}

/// A number of that unit.
pub fn shown(unit: ThresholdUnit, x: f64) -> String {
    match unit {
        ThresholdUnit::Seconds => time(x),
        ThresholdUnit::Bytes => size(x),
        ThresholdUnit::PerSecond => rate(x),
        ThresholdUnit::Share => share(x),
        ThresholdUnit::Count if x >= 0.0 && x.fract() == 0.0 => count(x as u64),
        ThresholdUnit::Count => number(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::Operator;

    #[test]
    fn a_threshold_reads_as_one_line() {
        let mut seen = ThresholdResult {
            text: "p(99)<100".into(),
            operator: Operator::Below,
            limit: 0.1,
            value: Some(0.214),
            interval: Some([0.195, 0.233]),
            outcome: ThresholdOutcome::Crossed,
            n: 12_000,
            ..ThresholdResult::default()
        };
        assert_eq!(sentence(&seen), "p(99)<100 crossed: 214 ms, 95 % interval 195 to 233 ms; n = 12,000");
        assert_eq!(limit(&seen), "< 100 ms");
        seen.lower_bound = true;
        assert_eq!(value(&seen), "> 214 ms");
        seen.unit = ThresholdUnit::Share;
        assert_eq!((value(&seen), limit(&seen)), ("> 21.4 %".into(), "< 10.0 %".into()));
        seen.unit = ThresholdUnit::Count;
        seen.value = Some(1234.0);
        assert_eq!(value(&seen), "> 1,234");
    }

    #[test]
    fn one_answer_for_all() {
        let mut summary = Summary::default();
        assert_eq!(answer(&summary), None);
        let with = |outcome| ThresholdResult { text: "a<1".into(), outcome, ..ThresholdResult::default() };
        summary.thresholds = vec![with(ThresholdOutcome::Passed)];
        assert_eq!(answer(&summary).unwrap().meaning, "the threshold holds");
        summary.thresholds.push(with(ThresholdOutcome::NotJudged));
        assert_eq!(answer(&summary).unwrap().meaning, "1 of 2 thresholds not judged: a<1");
        summary.thresholds.extend(std::iter::repeat_n(with(ThresholdOutcome::Crossed), 4));
        assert_eq!(answer(&summary).unwrap().meaning, "4 of 6 thresholds crossed: a<1, a<1, a<1, ...");
    }
}
