//! The histogram of headways beside what the plan's law, else an exponential one, leads one to expect.
//!
//! Deliberately absent: headways of single labels.

use crate::cells::Cells;
use crate::moments::Moments;
use crate::setup::PlanLaw;
use crate::summary::{HeadwayBin, HeadwayCurve};
use headway_base::Nanos;

/// Most bins, and how many mean headways they span.
const BINS: usize = 64;
const SPAN: f64 = 8.0;

/// Headways in bins of an eighth of a mean headway, or of whole steps of the stamps' grid where there is one (else some
/// bins would hold a step more than their neighbours). `scale` turns nanoseconds into the argument of the law.
pub(crate) fn curve(
    cells: &Cells,
    scale: f64,
    gaps: &Moments,
    plan: Option<&PlanLaw>,
    grid: Option<Nanos>,
) -> Option<HeadwayCurve> {
    let n = cells.n();
    if n == 0 {
        return None;
    }
    let cdf = plan.and_then(|p| p.gap_cdf.as_ref());
    let beyond = |x: f64| cdf.map_or_else(|| (-x).exp(), |f| 1.0 - f(x));
    let step = grid.map(|q| q.0 as f64 * scale);
    let (width, bins) = match step {
        Some(step) => {
            let width = step * (SPAN / BINS as f64 / step).round().max(1.0);
            (width, ((SPAN / width).ceil() as usize).clamp(2, BINS))
        }
        None => (SPAN / BINS as f64, BINS),
    };
    // Share of headways whose bin is this one or a later one.
    let from = |i: usize| match (i, step) {
        (0, _) => 1.0,
        (_, Some(step)) => stamped_beyond(beyond, i as f64 * width, step),
        (_, None) => beyond(i as f64 * width),
    };
    let mut told: Vec<_> = (0..bins)
        .map(|i| HeadwayBin {
            from: i as f64 * width,
            to: Some((i + 1) as f64 * width),
            observed: 0,
            expected: (from(i) - from(i + 1)) * n as f64,
        })
        .collect();
    let end = bins as f64 * width;
    let mut tail = HeadwayBin { from: end, to: None, observed: 0, expected: n as f64 * from(bins) };
    for cell in cells.iter() {
        let middle = 0.5 * (cell.low as f64 + cell.high as f64 + 1.0) * scale;
        // On a grid the headway is the step that the cell holds; half a step more keeps it clear of the border.
        let at = step.map_or(middle, |step| ((middle / step).round() + 0.5) * step);
        told.get_mut((at / width) as usize).unwrap_or(&mut tail).observed += cell.count;
    }
    let law = if cdf.is_some() { "plan" } else { "exponential" };
    Some(HeadwayCurve { n, law: law.into(), unit_s: gaps.mean / 1e9, bins: told, tail })
}

/// Share of headways that are at least `x` (a whole number of steps, not 0) after their stamps were cut off to the grid: the
/// first stamp lies anywhere in its step, so it is the mean of the law over the step before `x`.
fn stamped_beyond(beyond: impl Fn(f64) -> f64, x: f64, step: f64) -> f64 {
    const POINTS: usize = 32;
    let at = |i: usize| x - step + (i as f64 + 0.5) / POINTS as f64 * step;
    (0..POINTS).map(|i| beyond(at(i))).sum::<f64>() / POINTS as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Fine;
    use crate::moments::Gathered;
    use headway_base::random::{Stream, open01};

    /// Exponential headways of mean 10 ms cut off to 3 ms: bins are single steps, and each holds what is expected within 5
    /// standard errors.
    #[test]
    fn stamped_headways_fall_into_bins_of_whole_steps_as_expected() {
        let (draws, step, mean) = (Stream::new(1, "test"), 3_000_000i64, 1e7);
        let (mut at, mut before) = (0.0, 0i64);
        let (mut fine, mut gaps) = (Fine::new(), Gathered::default());
        for k in 0..200_000 {
            at += -open01(draws.bits(k, 0)).ln() * mean;
            let stamp = at as i64 / step * step;
            fine.push((stamp - before) as u64, 1);
            gaps.push((stamp - before) as f64);
            before = stamp;
        }
        let gaps = gaps.moments();
        let curve = curve(&fine.cells(), 1.0 / gaps.mean, &gaps, None, Some(Nanos(step))).unwrap();
        assert_eq!(curve.bins.len(), 27);
        for bin in curve.bins.iter().chain([&curve.tail]) {
            let error = (bin.observed as f64 - bin.expected) / bin.expected.sqrt();
            assert!(error.abs() < 5.0, "{bin:?}");
        }
        let n = curve.bins.iter().map(|b| b.observed).sum::<u64>() + curve.tail.observed;
        assert_eq!(n, 200_000);
    }
}
