//! The second question: are the starts like those of independent users?
//!
//! CoV of headways within 1 +- 0.05 and dispersion under 1.2 at windows of 10 and of 100 mean headways: independent;
//! above: bunched; CoV below: even. Each comparison is made with the 95 % interval; where one that matters lies
//! astride, the pattern is undecided. Where the mean headway is under ten sends, the CoV is an artefact of the sender and
//! dispersion alone decides. Where it is under two steps of the grid that the stamps lie on, only counts in windows of ten
//! steps or more mean anything: independent then needs an index near 1 at the shorter window and at lengths near it, for
//! without headways nothing else tells independent arrivals from a constant rate or from batches at a constant rate. Deliberately absent: whether the pattern was asked for;
//! an even load can be VALID.

use crate::arrivals_summary::ArrivalsResult;
use crate::setup::Tolerances;
use crate::summary::{Interval, Pattern};
use crate::windows::{PATTERN, WindowsResult};
use base::Nanos;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Inside,
    Above,
    Astride,
}

fn side(interval: Interval, low: f64, high: f64) -> Side {
    match interval {
        [a, b] if a >= low && b <= high => Side::Inside,
        [_, b] if b < low => Side::Below,
        [a, _] if a > high => Side::Above,
        _ => Side::Astride,
    }
}

/// With the larger of the sample's own error and the null error under Poisson: a few dozen headways of independent
/// users can look regular, and then also look sure of it.
fn cov_interval(arrivals: &ArrivalsResult) -> Option<Interval> {
    let null = 1.0 / (arrivals.gaps.n as f64).sqrt();
    let (cov, se) = arrivals.cov?;
    let half = 1.96 * se.max(null);
    Some([cov - half, cov + half])
}

/// Standard errors by which an index must fall short of 1: half a percent of independent loads do by chance.
const CLEARLY: f64 = 2.576;

/// The shortest window, of 100 mean headways or more, in which the counts vary clearly less than independent users' would:
/// an index under the tolerance, and no chance deviation from 1.
pub(crate) fn fixed_from<'a>(
    arrivals: &'a ArrivalsResult,
    tolerances: &Tolerances,
) -> Option<&'a WindowsResult> {
    let least = PATTERN[1] * arrivals.gaps.mean()? / 1e9;
    let long = arrivals.pattern_windows.iter().flatten().chain(&arrivals.rule_windows);
    // Rounding to the grid may have made the window of the pattern a little shorter.
    long.filter(|w| w.row.window > 0.9 * least)
        .filter(|w| w.row.index < tolerances.low_dispersion.min(1.0 - CLEARLY * w.row.se))
        .min_by(|a, b| a.row.window.total_cmp(&b.row.window))
}

/// The pattern, and whether the population looks fixed: as independent users over short windows, yet with fewer
/// fluctuations over long ones.
pub(crate) fn pattern(
    arrivals: &ArrivalsResult,
    tolerances: &Tolerances,
    send_cost: Option<Nanos>,
) -> (Pattern, bool) {
    let Some(mean) = arrivals.gaps.mean() else { return (Pattern::NotApplicable, false) };
    let blurred = send_cost.is_some_and(|c| mean < c.0 as f64 * tolerances.serialised_sends);
    let (low, high) = (tolerances.low_dispersion, tolerances.pattern_dispersion);
    let of = |w: &Option<WindowsResult>| w.as_ref().map_or(Side::Astride, |w| side(w.interval(), low, high));
    let windows = arrivals.pattern_windows.each_ref().map(of);
    // For "not bunched" only the upper border counts.
    let under = arrivals
        .pattern_windows
        .each_ref()
        .map(|w| w.as_ref().is_some_and(|w| side(w.interval(), f64::NEG_INFINITY, high) == Side::Inside));
    if arrivals.coarse {
        let near: Vec<Side> = arrivals.near_windows.iter().map(of).collect();
        let near_too = near.iter().all(|&side| side == Side::Inside);
        return match windows {
            _ if windows.contains(&Side::Above) || near.contains(&Side::Above) => (Pattern::Bunched, false),
            [Side::Below, Side::Below] => (Pattern::Even, false),
            [Side::Inside, _] if under[1] && near_too => {
                (Pattern::Independent, fixed_from(arrivals, tolerances).is_some())
            }
            _ => (Pattern::Undecided, false),
        };
    }
    let one = tolerances.pattern_cov;
    let cov = cov_interval(arrivals).map_or(Side::Astride, |i| side(i, 1.0 - one, 1.0 + one));

    let bunched = windows.contains(&Side::Above) || (!blurred && cov == Side::Above);
    let all_under = under == [true, true];
    let fixed = !bunched && !blurred && cov == Side::Inside && fixed_from(arrivals, tolerances).is_some();
    let pattern = match cov {
        _ if bunched => Pattern::Bunched,
        // Dispersion alone: as regular as a metronome at both windows is even.
        _ if blurred && windows == [Side::Below, Side::Below] => Pattern::Even,
        _ if blurred && all_under => Pattern::Independent,
        _ if blurred => Pattern::Undecided,
        Side::Below => Pattern::Even,
        Side::Inside if all_under => Pattern::Independent,
        _ => Pattern::Undecided,
    };
    (pattern, fixed)
}
