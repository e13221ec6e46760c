//! The second question: are the starts like those of independent users?
//!
//! CoV of headways within 1 +- 0.05 and dispersion under 1.2 at windows of 10 and of 100 mean headways: independent;
//! above: bunched; CoV below: even. Each comparison is made with the 95 % interval; where one that matters lies
//! astride, the pattern is undecided. Where the mean headway is under ten sends, or twice the resolution of the
//! stamps, the CoV is an artefact and dispersion alone decides. Deliberately absent: whether the pattern was asked
//! for; an even load can be VALID.

use crate::arrivals_summary::ArrivalsResult;
use crate::moments::Moments;
use crate::setup::Tolerances;
use crate::summary::{Interval, Pattern};
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
fn cov_interval(moments: &Moments) -> Option<Interval> {
    let null = 1.0 / (moments.n as f64).sqrt();
    let (cov, se) = (moments.cov()?, moments.cov_se()?.max(null));
    Some([cov - 1.96 * se, cov + 1.96 * se])
}

/// The pattern, and whether the population looks fixed: a CoV of 1, yet fewer fluctuations over long windows than
/// independent users have.
pub(crate) fn pattern(
    arrivals: &ArrivalsResult,
    tolerances: &Tolerances,
    resolution: Option<Nanos>,
    send_cost: Option<Nanos>,
) -> (Pattern, bool) {
    let Some(mean) = arrivals.gaps.mean() else { return (Pattern::NotApplicable, false) };
    let sends = send_cost.map_or(0.0, |c| c.0 as f64 * tolerances.serialised_sends);
    let blurred = mean < sends || resolution.is_some_and(|q| mean < 2.0 * q.0 as f64);
    let (low, high) = (tolerances.low_dispersion, tolerances.pattern_dispersion);
    let windows = arrivals
        .pattern_windows
        .each_ref()
        .map(|w| w.as_ref().map_or(Side::Astride, |w| side(w.interval(), low, high)));
    // For "not bunched" only the upper border counts.
    let under = arrivals
        .pattern_windows
        .each_ref()
        .map(|w| w.as_ref().is_some_and(|w| side(w.interval(), f64::NEG_INFINITY, high) == Side::Inside));
    let one = tolerances.pattern_cov;
    let moments = arrivals.rescaled.as_ref().unwrap_or(&arrivals.gaps);
    let cov = cov_interval(moments).map_or(Side::Astride, |i| side(i, 1.0 - one, 1.0 + one));

    let bunched = windows.contains(&Side::Above) || (!blurred && cov == Side::Above);
    let all_under = under == [true, true];
    let fixed = !bunched && !blurred && cov == Side::Inside && windows[1] == Side::Below;
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
