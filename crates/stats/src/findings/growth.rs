//! How fast the number of requests in a part of a simulated model grows.
//!
//! What is asked for more than it can do is a random walk that drifts upwards: its values hang on each other over the whole run,
//! and Student's t on a fitted line would claim far too much. Its increments do not: the mean of the increments over up to
//! twenty equal stretches is the drift, with Student's t over them (Brownian motion with drift; Karlin and Taylor 1975,
//! section 7.3). Increments of averages over windows lean on each other where few windows make a stretch; the interval is
//! widened by what that hides.

use crate::intervals::{FEWEST_SEGMENTS, SEGMENTS, half_width};
use crate::summary::{Grows, Interval, ModelPart};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// Last periods that are looked at, at most.
const MOST_PERIODS: u32 = 1_000;

/// Requests per second by which the number in a part, all its copies together, grows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Growth {
    /// Per second; below zero where it falls.
    pub per_second: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

impl Growth {
    /// Over the windows of the part whose middles lie within `from_s` and `to_s`; none for too few of them. Of a model that repeats
    /// itself every `period_s` seconds, over averages of whole periods.
    pub fn of(part: &ModelPart, from_s: f64, to_s: f64, period_s: Option<f64>) -> Option<Growth> {
        let within = part.series.iter().filter(|point| (from_s..=to_s).contains(&point.at_s));
        let points: Vec<(f64, f64)> =
            within.map(|point| (point.at_s, point.number * part.copies as f64)).collect();
        let Some(period_s) = period_s else { return Growth::through(&points) };
        let whole = |i: u32| {
            let from = to_s - f64::from(i) * period_s;
            let inside = |point: &&(f64, f64)| (from - period_s..from).contains(&point.0);
            let numbers: Vec<f64> = points.iter().filter(inside).map(|point| point.1).collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            (!numbers.is_empty()).then_some((from - period_s / 2.0, mean))
        };
        let periods = ((to_s - from_s) / period_s * (1.0 + 1e-9)) as u32;
        let averages: Option<Vec<(f64, f64)>> = (0..periods.min(MOST_PERIODS)).rev().map(whole).collect();
        Growth::through(&averages?)
    }

    /// Over averages of windows that follow each other: (middle in seconds, number of requests); none for too few of them.
    pub fn through(points: &[(f64, f64)]) -> Option<Growth> {
        let last = points.len().checked_sub(1)?;
        let stretches = last.min(SEGMENTS);
        if stretches < FEWEST_SEGMENTS {
            return None;
        }
        let windows = last as f64 / stretches as f64;
        let ends: Vec<(f64, f64)> = (0..=stretches).map(|i| points[i * last / stretches]).collect();
        let slope = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
        let slopes: Vec<f64> = ends.windows(2).map(slope).collect();
        let per_second = (points[last].1 - points[0].1) / (points[last].0 - points[0].0);
        // Variance of the mean increment of averaged Brownian motion over what independent increments would have.
        let hidden = (windows - 1.0 / (3.0 * stretches as f64)) / (windows - 1.0 / 3.0);
        let half = half_width(&slopes)? * hidden.sqrt();
        let growth = Growth { per_second, interval: [per_second - half, per_second + half] };
        (per_second.is_finite() && half.is_finite()).then_some(growth)
    }

    /// As that of a part with that name.
    pub fn of_part(&self, part: &Cleared) -> Grows {
        Grows { part: part.clone(), per_second: self.per_second, ci95: self.interval }
    }

    /// Whether it is shown to grow.
    pub fn shown(&self) -> bool {
        self.interval[0] > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::PartPoint;
    use headway_base::random::Stream;
    use headway_base::special::exponential;

    /// Averages over `windows` windows of a second, of a walk of 100 steps a second up by an exponential 1 and down by an
    /// exponential `down`.
    fn walk(seed: u64, windows: u32, down: f64) -> ModelPart {
        let mut draws = Stream::new(seed, "walk").item(0);
        let mut at = 0.0;
        let mut average = || {
            let steps = (0..100).map(|_| {
                at += exponential(&mut draws) - down * exponential(&mut draws);
                at
            });
            steps.sum::<f64>() / 100.0
        };
        let point = |i: u32, number| PartPoint { at_s: f64::from(i) + 0.5, number, ..PartPoint::default() };
        let series = (0..windows).map(|i| point(i, average())).collect();
        ModelPart { copies: 1, series, ..ModelPart::default() }
    }

    #[test]
    fn the_interval_of_a_growth_covers_it() {
        for (windows, down) in [(200, 0.9), (21, 0.9), (60, 1.0)] {
            let truth = 100.0 * (1.0 - down);
            let covers = |seed: &u64| {
                let growth = Growth::of(&walk(*seed, windows, down), 0.0, 600.0, None).unwrap();
                (growth.interval[0]..=growth.interval[1]).contains(&truth)
            };
            let covered = (0..1_000).filter(covers).count();
            // 950 and four standard errors of 6.9 either way.
            assert!((922..=978).contains(&covered), "{windows} windows, {down}: {covered}");
        }
    }

    #[test]
    fn copies_count_together_and_too_few_windows_tell_nothing() {
        let part = |copies| ModelPart { copies, ..walk(1, 600, 0.5) };
        let [one, ten] = [1, 10].map(|copies| Growth::of(&part(copies), 0.0, 600.0, None).unwrap());
        assert!((ten.per_second / one.per_second - 10.0).abs() < 1e-9 && ten.shown());
        assert_eq!(Growth::of(&part(1), 0.0, 5.4, None), None);
        assert!(Growth::of(&part(1), 0.0, 5.6, None).is_some());
    }

    /// A queue that a stall of a second fills every ten, looked at until a stall ends: its end is above its beginning in every run.
    #[test]
    fn a_model_that_repeats_itself_does_not_grow() {
        let point = |i: u32| {
            let into = i % 20;
            let number = if into < 2 { f64::from(50 * (into + 1)) } else { 1.0 };
            PartPoint { at_s: 0.5 * f64::from(i) + 0.25, number, ..PartPoint::default() }
        };
        let part = ModelPart { copies: 1, series: (0..202).map(point).collect(), ..ModelPart::default() };
        let blind = Growth::of(&part, 0.0, 101.0, None).unwrap();
        let by_periods = Growth::of(&part, 0.0, 101.0, Some(10.0)).unwrap();
        assert!(blind.per_second > 0.4 && by_periods.per_second.abs() < 1e-9, "{blind:?} {by_periods:?}");
        assert_eq!(Growth::of(&part, 60.0, 101.0, Some(10.0)), None, "four periods");
    }
}
