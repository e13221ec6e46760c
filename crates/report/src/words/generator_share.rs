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
