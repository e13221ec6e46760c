//! What the generator's own delays may have added to response times, in words.

use crate::format::time;
use headway_stats::Summary;
use headway_stats::summary::Spread;

/// What stands behind a number of which more than 5 % may be the generator's own delay.
pub fn mark(spread: &Spread, name: &str) -> &'static str {
    let marked =
        |share: &headway_stats::summary::GeneratorShare| share.marked().any(|(marked, _)| marked == name);
    if spread.generator_share.as_ref().is_some_and(marked) { "*" } else { "" }
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

/// What the mark means, with both ends of each marked number of the response time; none without any.
pub fn marked(summary: &Summary) -> Option<String> {
    let share = summary.response.generator_share.as_ref()?;
    let between = |(name, [low, high]): (&str, [f64; 2])| {
        let name = if name == "p999" { "p99.9" } else { name };
        format!("{name} {} to {}", time(low), time(high))
    };
    let ends: Vec<String> = share.marked().map(between).collect();
    (!ends.is_empty()).then(|| {
        format!(
            "More than 5 % of this response time may be the generator's own delay. Without that delay it would lie in \
             these ranges, if the target serves in order: {}.",
            ends.join("; ")
        )
    })
}
