//! What the generator's own delays may have added to response times, in words.
//!
//! By what they did to the numbers (`effect`) where that is told, else by the bound on each number.

use crate::format::time;
use headway_stats::Summary;
use headway_stats::summary::{Interval, NumberEffect, RuleOutcome, Spread};

/// A number that is not judged is marked from here on, as a share of the undisturbed one.
const MARKED: f64 = 0.05;

fn is_marked(number: &NumberEffect) -> bool {
    match number.outcome {
        Some(outcome) => outcome != RuleOutcome::Pass,
        None => number.effect[1].is_none_or(|most| most > MARKED),
    }
}

/// The numbers that may be off by more than is tolerated, each with the range that it lies in without the generator's delays.
fn all(summary: &Summary) -> Vec<(String, Interval)> {
    let share = summary.response.generator_share.as_ref();
    match &summary.verdict.effect {
        Some(effect) => {
            let of_times = |number: &&NumberEffect| number.number.metric.is_time() && is_marked(number);
            let times = effect.numbers.iter().filter(of_times);
            times.map(|number| (number.number.key(), number.undisturbed)).collect()
        }
        None => {
            let marked = share.into_iter().flat_map(|share| share.marked());
            marked.map(|(name, ends)| (name.to_owned(), ends)).collect()
        }
    }
}

/// What stands behind such a number of the response time; `block` is where in the document it stands.
pub fn mark(summary: &Summary, block: &str, spread: &Spread, name: &str) -> &'static str {
    let marked = match (block, &summary.verdict.effect) {
        ("response", Some(_)) => all(summary).iter().any(|(marked, _)| *marked == name),
        _ => spread
            .generator_share
            .as_ref()
            .is_some_and(|share| share.marked().any(|(marked, _)| marked == name)),
    };
    if marked { "*" } else { "" }
}

/// The lower ends of the response times: without the delays that the generator may have added; none where no bound on them is known.
pub fn least(response: &Spread) -> Option<Spread> {
    let share = response.generator_share.as_ref()?;
    let low = |ends: Option<[f64; 2]>| ends.map(|[low, _]| low);
    Some(Spread {
        n: share.n,
        mean: low(share.mean),
        p50: low(share.p50),
        p90: low(share.p90),
        p95: low(share.p95),
        p99: low(share.p99),
        p999: low(share.p999),
        max: low(share.max),
        ..Spread::default()
    })
}

/// What the mark means, with the range of each marked number of the response time; none without any.
pub fn marked(summary: &Summary) -> Option<String> {
    let between = |(name, [low, high]): (String, [f64; 2])| {
        let name = name.parse().map_or(name, super::comparison::spoken);
        format!("{name} {} to {}", time(low), time(high))
    };
    let ends: Vec<String> = all(summary).into_iter().map(between).collect();
    let served = if summary.verdict.effect.is_some() { "" } else { ", if the target serves in order" };
    (!ends.is_empty()).then(|| {
        format!(
            "More than 5 % of this response time may be the generator's own delay. Without that delay it would lie in \
             these ranges{served}: {}.",
            ends.join("; ")
        )
    })
}
