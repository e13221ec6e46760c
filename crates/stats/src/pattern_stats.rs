//! What the pattern is judged by: CoV, distance, correlation, counts, lines, each with the half width of its interval.
//!
//! Errors allow for dependence. The half width is the largest of three: that of independent headways from the sample's own
//! moments, that of Poisson arrivals, and that of the spread over twenty segments (batch means, as in `intervals`). Of a
//! load that repeats itself the headways of one period are all there are, and more periods do not make them surer.
//!
//! Where one thread's sends cannot overlap, short headways are an artefact of the sender. A Poisson process knows no
//! past, so its headways beyond t, less t, are exponential too: CoV and distance are then of headways of ten sends or more.

use crate::arrivals::{ArrivalsKept, LongGap, RESCALED_UNIT, StartSegment};
use crate::arrivals_summary::{ArrivalsResult, grid_corrected};
use crate::intervals::{SEGMENTS, half_width};
use crate::ks;
use crate::ladder::Rung;
use crate::moments::Moments;
use crate::pattern::{CLEARLY, Z95, apart_from};
use crate::setup::Tolerances;
use crate::spectrum::Line;
use crate::summary::{Interval, Pattern};
use headway_base::Nanos;
use statrs::function::gamma::gamma_ur;

/// The 5 % point of Kolmogorov's law (1933): the distribution function lies within it over sqrt(n) of the sample's. Where
/// the mean is fitted it is rather too much.
const KOLMOGOROV: f64 = 1.358;

/// Headways shorter than so many sends are left out where sends shape them.
const SENDS: f64 = 10.0;

/// The counts of a load that repeats itself have a smaller index than this over some windows.
const REPEATED: f64 = 0.5;

/// One independent load in a thousand has counts by twentieths that vary so much.
const CHANCE_OF_DRIFT: f64 = 0.001;

/// Fewest headways of a segment that have a CoV.
const FEWEST: u64 = 10;

/// A rung may be so much shorter than ten mean headways: the rate turns out a little lower than it was planned.
const ABOUT: f64 = 0.95;

/// A value and half the width of its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Estimate {
    pub value: f64,
    pub half: f64,
}

impl Estimate {
    pub fn interval(&self) -> Interval {
        [self.value - self.half, self.value + self.half]
    }
}

/// All that the pattern is judged by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measures {
    /// Headways, those that CoV and distance are of, and their mean in nanoseconds.
    pub n: u64,
    pub headways: u64,
    pub mean: f64,
    /// Whether the mean headway is under two steps of the stamps' grid: headways then describe the grid.
    pub coarse: bool,
    pub cov: Option<Estimate>,
    pub ks: Option<Estimate>,
    /// Whether there are more short headways than of an exponential law where the distance is largest.
    pub more_short: bool,
    pub lag1: Option<Estimate>,
    /// Counts over windows of ten mean headways and more.
    pub rungs: Vec<Rung>,
    pub line: Option<Line>,
    /// How long the load is, in nanoseconds.
    length: f64,
    /// Starts of each segment.
    parts: Vec<f64>,
}

/// Probability of a larger value of chi-squared.
fn chi_squared_beyond(freedom: f64, x: f64) -> f64 {
    if x > 0.0 { gamma_ur(0.5 * freedom, 0.5 * x) } else { 1.0 }
}

fn law(kept: &ArrivalsKept, segment: &StartSegment) -> Moments {
    if kept.rescaled.is_some() { segment.rescaled.moments() } else { segment.gaps.moments() }
}

impl Measures {
    /// The statistics of the headways of the first `filled` segments, without those that hold some headways.
    pub fn new(
        kept: &ArrivalsKept,
        arrivals: &ArrivalsResult,
        tolerances: &Tolerances,
        send_cost: Option<Nanos>,
        filled: usize,
        without: &[LongGap],
    ) -> Measures {
        let stretches: Vec<[i64; 2]> = without.iter().map(|gap| [gap.from, gap.to]).collect();
        let mut keep = apart_from(kept, &stretches);
        keep[filled..].fill(false);
        let segments: Vec<&StartSegment> =
            kept.segments.iter().zip(keep).filter(|(_, keep)| *keep).map(|(s, _)| s).collect();
        let mut gaps = Moments::default();
        segments.iter().for_each(|s| gaps.merge(&law(kept, s)));
        let unit = kept.rescaled.as_ref().map_or(1.0, |r| r.unit);
        let mean = gaps.mean * unit;
        let counted: Vec<[i64; 2]> = without.iter().map(|gap| gap.counted).collect();
        let rungs = kept.scales.ladder().map_or_else(Vec::new, |ladder| ladder.rungs(&counted));
        let mut measures = Measures {
            n: gaps.n,
            headways: gaps.n,
            mean,
            coarse: arrivals.coarse,
            rungs: rungs.into_iter().filter(|r| r.window as f64 >= 10.0 * ABOUT * mean).collect(),
            line: kept.scales.line,
            length: mean * gaps.n as f64,
            parts: segments.iter().map(|s| s.started as f64).collect(),
            ..Measures::default()
        };
        if !arrivals.coarse {
            let cost = send_cost.map_or(0.0, |cost| cost.0 as f64);
            let sends = if cost > tolerances.overlapping_sends * mean { SENDS * cost } else { 0.0 };
            measures.headways_into(kept, arrivals, &gaps, &segments, sends);
            measures.lag1 = lag1(kept, &gaps, &segments, measures.distinct_share());
        }
        measures
    }

    /// After how many nanoseconds the load repeats itself. Batches of random size at the ticks of a timer correlate as much
    /// with those a tick later, but over longer times their counts vary.
    pub fn repeats(&self) -> Option<f64> {
        let steady = self.rungs.iter().any(|rung| rung.index < REPEATED);
        self.line.and_then(|line| line.repeats).filter(|_| steady)
    }

    /// The share of the headways that are not repetitions of earlier ones.
    pub fn distinct_share(&self) -> f64 {
        self.repeats().map_or(1.0, |period| (period / self.length).min(1.0))
    }

    /// The squared CoV of the rate by twentieths, beyond what counts of independent users vary by: where that is more than
    /// chance, the rate is not the same throughout.
    pub fn drift(&self) -> Option<f64> {
        let k = self.parts.len() as f64;
        let mean = self.parts.iter().sum::<f64>() / k;
        let squares: f64 = self.parts.iter().map(|n| (n - mean).powi(2)).sum();
        // Counts of a Poisson process: the sum over the mean is chi-squared.
        (k >= 10.0 && mean > 0.0 && chi_squared_beyond(k - 1.0, squares / mean) < CHANCE_OF_DRIFT)
            .then(|| ((squares / (k - 1.0) - mean) / (mean * mean)).max(0.0))
    }

    /// Whether the counts vary more, or less, than those of independent users: by the index or the CoV that is the furthest from 1
    /// in its own standard errors; none where none is clearly so.
    pub fn direction(&self) -> Option<Pattern> {
        let rungs = self.rungs.iter().map(|rung| (rung.index - 1.0) / rung.se(self.distinct_share()));
        let cov = self.cov.filter(|cov| cov.half > 0.0).map(|cov| (cov.value - 1.0) / cov.half * Z95);
        let most = rungs.chain(cov).fold(0.0, |most: f64, z| if z.abs() > most.abs() { z } else { most });
        (most.abs() > CLEARLY).then_some(if most > 0.0 { Pattern::Bunched } else { Pattern::Even })
    }

    fn headways_into(
        &mut self,
        kept: &ArrivalsKept,
        arrivals: &ArrivalsResult,
        gaps: &Moments,
        segments: &[&StartSegment],
        sends: f64,
    ) {
        let (mut gaps, mut distance) = (*gaps, arrivals.block.ks.exponential);
        let mut more_short = arrivals.more_short;
        if sends > 0.0 {
            let (cells, unit) = match &kept.rescaled {
                Some(r) => (r.gaps.cells(), r.unit * RESCALED_UNIT),
                None => (kept.gaps.cells(), 1.0),
            };
            let cells = cells.beyond((sends / unit) as u64);
            gaps = Moments::of(cells.iter().map(|c| (0.5 * (c.low as f64 + c.high as f64), c.count)));
            self.headways = gaps.n;
            distance = ks::against_fitted_exponential(&cells, 1.0, gaps.mean);
            more_short = ks::more_short(&cells, 1.0, gaps.mean);
        }
        // What repeats itself is even. More of it is no more evidence that it is bunched.
        let bunched = gaps.cov().is_some_and(|cov| cov > 1.0);
        let null = 1.0 / (gaps.n as f64 * if bunched { self.distinct_share() } else { 1.0 }).sqrt();
        let a = if sends > 0.0 { 0.0 } else { kept.grid.0 as f64 / self.mean };
        let estimate = gaps.cov().zip(gaps.cov_se()).map(|(cov, se)| (grid_corrected(cov, se, a), se));
        let covs: Vec<f64> =
            segments.iter().map(|s| law(kept, s)).filter(|m| m.n >= FEWEST).filter_map(|m| m.cov()).collect();
        let spread = half_width(&covs).filter(|_| covs.len() == segments.len()).unwrap_or(0.0);
        self.cov = estimate.map(|(value, se)| Estimate { value, half: (Z95 * se.max(null)).max(spread) });
        // Dependence widens the interval of the distance as it does that of the CoV.
        let wider = estimate.map_or(1.0, |(_, se)| (spread / (Z95 * se.max(null))).max(1.0));
        self.ks =
            distance.map(|ks| Estimate { value: ks.d, half: KOLMOGOROV * null * wider + ks.cell_error });
        self.more_short = more_short;
    }
}

fn lag1(kept: &ArrivalsKept, gaps: &Moments, segments: &[&StartSegment], share: f64) -> Option<Estimate> {
    let parts: Vec<f64> =
        segments.iter().filter_map(|s| s.lag1.autocorrelation(&law_of_lag(kept, s))).collect();
    let all = segments.len() == SEGMENTS && kept.rescaled.is_none();
    let mean = || (!parts.is_empty()).then(|| parts.iter().sum::<f64>() / parts.len() as f64);
    let value = if all { kept.lag1.autocorrelation(gaps) } else { mean() }?;
    let share = if value > 0.0 { share } else { 1.0 };
    let spread = half_width(&parts).filter(|_| parts.len() == segments.len()).unwrap_or(0.0);
    Some(Estimate { value, half: (Z95 / (gaps.n as f64 * share).sqrt()).max(spread) })
}

/// Correlations are of headways in nanoseconds.
fn law_of_lag(kept: &ArrivalsKept, segment: &StartSegment) -> Moments {
    law(kept, segment).scaled(kept.rescaled.as_ref().map_or(1.0, |r| r.unit))
}
