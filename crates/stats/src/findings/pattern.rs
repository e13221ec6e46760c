//! Findings on the pattern of the starts, whatever load was asked for.

use super::{Case, span};
use crate::pattern::fixed_from;
use crate::summary::{Dispersion, Finding, Severity};

/// Upper end of the interval of an index: 1.96 of its own standard errors above.
fn upper(row: &Dispersion) -> f64 {
    row.index * (1.0 + 1.96 * row.se)
}

pub(super) fn fixed_population(case: &Case) -> Option<Finding> {
    let arrivals = case.evidence.arrivals;
    let long = fixed_from(arrivals, case.evidence.tolerances).filter(|_| case.fixed_population)?;
    // The rows are in the order of their windows. Of those from which on the index is certainly below 1 the first of round
    // length is told.
    let below: Vec<f64> = arrivals
        .block
        .dispersion
        .iter()
        .rev()
        .map_while(|row| (upper(row) < 1.0).then_some(row.window))
        .collect();
    let round = |window: &f64| arrivals.rule_windows.iter().any(|w| w.row.window == *window);
    let from = below.into_iter().rev().find(round).unwrap_or(long.row.window).min(long.row.window);
    let looks = if arrivals.coarse { "Short windows look" } else { "Headways look" };
    Some(Finding {
        severity: Severity::Info,
        text: format!(
            "{looks} independent, yet from {} up counts vary less than independent users' would (index {:.2} instead of 1 \
             over {}): a fixed number of users, as in every closed test. Slow phases of the target are then met with \
             fewer requests.",
            span(from),
            long.row.index,
            span(long.row.window)
        ),
        value: Some(long.row.index),
        interval: Some(long.interval()),
        limit: Some(case.evidence.tolerances.low_dispersion),
        n: long.row.windows,
        ..Finding::default()
    })
}

pub(super) fn coarse_stamps(case: &Case) -> Option<Finding> {
    let arrivals = case.evidence.arrivals;
    let mean = arrivals.gaps.mean().filter(|_| arrivals.coarse)?;
    let grid = case.evidence.kept.grid.as_secs_f64();
    let finer =
        case.facts.finer.as_ref().map_or(String::new(), |finer| format!(" For finer stamps: {finer}."));
    Some(Finding {
        severity: Severity::Warning,
        text: format!(
            "Stamps tell {} and the mean headway is {}: headways describe the clock and not the users, and decide nothing. \
             The pattern comes from counts in windows of {} and more; bunches shorter than that cannot be seen.{finer}",
            span(grid),
            span(mean / 1e9),
            span(10.0 * grid)
        ),
        // Starts per step of the grid.
        value: (mean > 0.0).then(|| grid * 1e9 / mean),
        limit: Some(0.5),
        n: arrivals.gaps.n,
        ..Finding::default()
    })
}
