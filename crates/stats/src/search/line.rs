//! The knee out of all blocks together: a curve of shares by rate, and what monotony alone proves.
//!
//! A block is what one trial saw: so many requests, so many of them beyond the limit. Excursions of a queue are few and each is long, so
//! counts scatter more than independent ones. They are divided by their dispersion, which all blocks near the knee tell together, and then
//! taken as Poisson counts (quasi-likelihood: McCullagh and Nelder 1989, "Generalized linear models", chapter 9). The share over its limit is
//! `floor + (1 - floor) (rate / knee)^slope`: what one user alone sees, and a power law on top. Knee, slope and floor are free; the interval
//! of the knee is that of the profile likelihood (Venzon and Moolgavkar 1988), with the quantile of Student's t for the dispersion. A block far
//! beyond the limit counts less, as the curve bends there.
//!
//! Beside it stands what monotony proves without a curve: blocks at some rates in a row, pooled, show that the highest of them fails or
//! that the lowest of them holds. Where the curve is steep, that decides.
//!
//! Deliberately absent: which rate is next (`knee`).

use super::batches::{Batches, Event, LEVELS, level_ns};
use super::trial::{Criterion, WARM_UP};
use headway_base::Nanos;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::{gamma_lr, gamma_ur};

/// Parts of a block, of whose counts the dispersion is the variance over the mean.
const PARTS: usize = 4;
/// Levels below the limit, a factor of the square root of two apart, whose dispersion is kept too.
const LOWER: usize = 8;
/// The dispersion at levels which up to this many times the share are beyond stands for what was not seen at the limit.
const TIMES: f64 = 5.0;
/// As if so many independent events had it.
const PRIOR: f64 = 4.5;
/// Degrees of freedom of the dispersion: of each part of a block with an event one, and these of what lower levels tell.
const FREE: f64 = 3.0;
/// The dispersion of failures, as long as few were seen.
const OF_FAILURES: f64 = 30.0;
/// Blocks whose share is beyond the limit by more than this factor, or whose rate is farther from the knee (logarithm), tell nothing of the dispersion.
const NEAR: (f64, f64) = (10.0, 0.35);
/// How far the curve bends away: standard deviation of the logarithm of a share, as a multiple of the square of that logarithm, and of the same
/// over the slope.
const BEND: [f64; 2] = [0.05, 1.0];
/// Bounds of the slope: logarithm of the share by logarithm of the rate.
const SLOPES: [f64; 2] = [1.5, 120.0];
/// Shares of one user alone that are tried, over the limit.
const FLOORS: [f64; 5] = [0.0, 0.25, 0.5, 0.7, 0.88];
/// Level at which blocks in a row show a side, and how far apart (ratio of rates) they may be.
const SHOWN: f64 = 0.004;
const ROW: f64 = 1.25;
/// Fewest independent events beyond the limit that show a failure.
const FEWEST: f64 = 6.0;
/// Points of the grid of knees.
const GRID: usize = 80;
/// Standard deviation of what is expected of the slope (logarithm) when a rate is placed.
const OF_SLOPE: f64 = 0.5;

/// What a trial saw of the threshold that it met least.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    /// Requests after the warm-up.
    pub n: f64,
    /// Of them, those beyond the limit, or failures.
    pub events: f64,
    /// How many of them there may be without what the generator did, from and to; null where it moved nothing.
    pub ends: Option<[f64; 2]>,
    /// The largest share that is allowed.
    pub allowed: f64,
    /// Of the counts of its parts at the limit, and at levels below it, each by a factor of the square root of two: how many were beyond, the
    /// sum of the squared differences from their mean, and what that would be if they were independent.
    pub scatter: Vec<[f64; 3]>,
    /// How many of the parts had any event.
    pub parts: f64,
}

impl Block {
    /// Of what a trial saw; none while it is too short. `moved`: by how much the generator may have moved its number, see [`Moved`].
    pub(super) fn of(criterion: &Criterion, batches: &Batches, moved: Moved) -> Option<Block> {
        let all = batches.parts(WARM_UP)?;
        let n = all.n() as f64;
        let ends = moved.filter(|moved| *moved != [0.0; 2]).map(|moved| {
            moved.map(|by| match criterion.limit {
                Some(Nanos(limit)) => all.beyond(batches.limits, limit as f64 - 1e9 * by),
                None => (all.sum(Event::Failed) as f64 + n * by).clamp(0.0, n),
            })
        });
        let parts = all.joined(PARTS);
        let scatter = |event: Event| {
            let (n, sum) = (parts.n() as f64, parts.sum(event) as f64);
            let share = sum / n;
            let off = |(x, n): (u64, u64)| (x as f64 - share * n as f64).powi(2);
            let squares: f64 = parts.of(event).zip(parts.sizes()).map(off).sum();
            [sum, squares, sum * (1.0 - share) * (1.0 - 1.0 / parts.len() as f64)]
        };
        let (event, limit) = match criterion.limit {
            Some(Nanos(limit)) => (Event::Exact(1), limit as f64),
            None => (Event::Failed, 0.0),
        };
        let below = (0..LEVELS).rev().filter(|&level| level_ns(level) <= limit).take(LOWER);
        let lower = below.map(|level| scatter(Event::Level(level)));
        let scatter: Vec<[f64; 3]> = std::iter::once(scatter(event)).chain(lower).collect();
        let (part, events) = (parts.n() as f64 / n, scatter[0][0]);
        let ends = ends.map(|[low, high]| [(part * low).min(events), (part * high).max(events)]);
        let seen = parts.of(event).filter(|n| *n > 0).count() as f64;
        Some(Block { n: parts.n() as f64, events, ends, allowed: criterion.share, scatter, parts: seen })
    }

    /// Events at the lower (0) or the upper end (1) of what they may be.
    fn at(&self, end: usize) -> f64 {
        self.ends.map_or(self.events, |ends| ends[end])
    }

    /// Logarithm of the share over its limit, with half an event more than were seen.
    pub fn log_ratio(&self) -> f64 {
        ((self.events + 0.5) / (self.n * self.allowed)).ln()
    }
}

/// By how much the generator may have moved the number of a threshold, down and up, in seconds or as a share: what the planned load would have
/// come to is the number plus something between these. None where it moved nothing.
pub type Moved = Option<[f64; 2]>;

/// What is expected before any block: it places the first ones, and proves nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Start {
    /// The knee, and the standard deviation of its logarithm.
    pub rate: f64,
    /// That.
    pub spread: f64,
    /// Slope: logarithm of the share by logarithm of the rate.
    pub slope: f64,
    /// Of one user alone: requests beyond the limit, and how many are allowed. Both zero where that was not seen.
    pub alone: [f64; 2],
}

/// What all blocks say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    /// The best estimate of the knee.
    pub knee: f64,
    /// The slope there.
    pub slope: f64,
    /// 95 % interval of the knee; an end that is not known is none.
    pub interval: [Option<f64>; 2],
    /// A rate that was shown to fail and a higher one that was shown to hold.
    pub contradiction: Option<[f64; 2]>,
}

/// Blocks at one rate, as independent events.
#[derive(Clone, Copy, Debug)]
struct Point {
    rate: f64,
    blocks: usize,
    /// Events that were seen, and that the limit allows.
    seen: f64,
    allowed: f64,
    weight: f64,
}

impl Point {
    /// What it takes from the likelihood (half the deviance) where that many times the limit are expected.
    fn deviance(&self, ratio: f64) -> f64 {
        self.weight * deviance(self.seen, self.allowed * ratio)
    }
}

/// Half the deviance of a Poisson count.
fn deviance(seen: f64, expected: f64) -> f64 {
    let expected = expected.max(1e-12);
    if seen > 0.0 { seen * (seen / expected).ln() - seen + expected } else { expected }
}

/// Fits the curve to blocks with their rates; `fails`: rates that were shown to fail otherwise; `last`: the fit with a block less, near which
/// dispersion and weights are taken. Where the generator may have moved events beyond the limit, both ends are fitted: the interval holds what
/// both say.
pub fn fit(blocks: &[(f64, &Block)], fails: &[f64], start: &Start, last: Option<&Fit>) -> Fit {
    if blocks.iter().all(|(_, block)| block.ends.is_none()) {
        return fit_end(blocks, 1, fails, start, last);
    }
    let [without, with] = [0, 1].map(|end| fit_end(blocks, end, fails, start, last));
    Fit {
        knee: (without.knee * with.knee).sqrt(),
        slope: (without.slope * with.slope).sqrt(),
        interval: [with.interval[0], without.interval[1]],
        contradiction: without.contradiction.and(with.contradiction),
    }
}

/// The same for one end of the events of each block.
fn fit_end(blocks: &[(f64, &Block)], end: usize, fails: &[f64], start: &Start, last: Option<&Fit>) -> Fit {
    let mut fit = Fit { knee: start.rate, slope: start.slope, interval: [None; 2], contradiction: None };
    if blocks.is_empty() {
        let high = fails.iter().copied().reduce(f64::min);
        return Fit { interval: [None, high], ..fit };
    }
    let rounds = if let Some(last) = last {
        (fit.knee, fit.slope) = (last.knee, last.slope);
        1
    } else {
        2
    };
    for _ in 0..rounds {
        let (dispersion, free) = dispersion(blocks, fit.knee);
        let points = self::points(blocks, end, dispersion, &fit);
        let rates = || blocks.iter().map(|(rate, _)| *rate).chain([start.rate]);
        let low = 0.5 * rates().fold(f64::INFINITY, f64::min);
        let high = 1.6 * rates().fold(0.0, f64::max);
        let step = (high / low).ln() / GRID as f64;
        let mut best = (f64::NEG_INFINITY, fit.knee, fit.slope);
        let mut profile = Vec::with_capacity(GRID + 1);
        for i in 0..=GRID {
            let knee = (low.ln() + step * i as f64).exp();
            profile.push(along(&points, knee, start, false).0);
            let (value, slope) = along(&points, knee, start, true);
            let off = (knee / start.rate).ln() / start.spread;
            let value = value - 0.5 * off * off;
            if value > best.0 {
                best = (value, knee, slope);
            }
        }
        (fit.knee, fit.slope) = (best.1, best.2);
        let t = quantile(free, 0.975);
        let least = profile.iter().copied().fold(f64::NEG_INFINITY, f64::max) - 0.5 * t * t;
        let first = profile.iter().position(|value| *value >= least).unwrap_or(0);
        let last = profile.iter().rposition(|value| *value >= least).unwrap_or(GRID);
        let cross = |out: usize, inside: usize| {
            let part = (least - profile[out]) / (profile[inside] - profile[out]);
            (low.ln() + step * (out as f64 + part * (inside as f64 - out as f64))).exp()
        };
        let curve = [
            (first > 0).then(|| cross(first.saturating_sub(1), first)),
            (last < GRID).then(|| cross((last + 1).min(GRID), last)),
        ];
        // What is shown alone allows for a dispersion that few excursions tell.
        let wider = (quantile(free, 1.0 - SHOWN) / Normal::standard().inverse_cdf(1.0 - SHOWN)).powi(2);
        let [holds, failing] = shown(&self::points(blocks, end, dispersion * wider, &fit));
        let failing = fails.iter().copied().chain(failing).reduce(f64::min);
        let tighter = [
            curve[0].into_iter().chain(holds).reduce(f64::max),
            curve[1].into_iter().chain(failing).reduce(f64::min),
        ];
        fit.interval = match tighter {
            // What contradicts itself is left out.
            [Some(low), Some(high)] if low >= high => curve,
            tighter => tighter,
        };
        if let (Some([below, above]), [low, high]) = (cliff(&points), fit.interval) {
            fit.interval = [low.map(|low| low.min(below)), high.map(|high| high.max(above))];
        }
        if let [Some(low), Some(high)] = fit.interval {
            fit.knee = fit.knee.clamp(low, high);
        }
        fit.contradiction = contradiction(&points);
    }
    fit
}

/// Of Student's t with so many degrees of freedom.
fn quantile(free: f64, part: f64) -> f64 {
    StudentsT::new(0.0, 1.0, free).map_or(f64::INFINITY, |t| t.inverse_cdf(part))
}

/// The largest likelihood with that knee, over slopes and floors, and its slope.
fn along(points: &[Point], knee: f64, start: &Start, expected: bool) -> (f64, f64) {
    let mut best = (f64::NEG_INFINITY, start.slope);
    let distances: Vec<f64> = points.iter().map(|point| (point.rate / knee).ln()).collect();
    for floor in FLOORS {
        let alone = deviance(start.alone[0], start.alone[1] * floor);
        let alone = if start.alone[1] > 0.0 { alone } else { 0.0 };
        let value = |slope: f64| {
            let times = slope.exp();
            let each = points.iter().zip(&distances).map(|(point, distance)| {
                let power = (times * distance).min(30.0).exp();
                point.deviance(floor + (1.0 - floor) * power)
            });
            let off = if expected { (slope - start.slope.ln()) / OF_SLOPE } else { 0.0 };
            -each.sum::<f64>() - alone - 0.5 * off * off
        };
        let (slope, at) = highest(SLOPES.map(f64::ln), value);
        if at > best.0 {
            best = (at, slope.exp());
        }
    }
    best
}

/// Where a function is highest: on a grid, and by golden section around its best point.
fn highest([low, high]: [f64; 2], value: impl Fn(f64) -> f64) -> (f64, f64) {
    const STEPS: usize = 9;
    let step = (high - low) / STEPS as f64;
    let grid = (0..=STEPS).map(|i| low + step * i as f64).map(|x| (x, value(x)));
    let best = grid.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((low, f64::NEG_INFINITY));
    let (mut left, mut right) = ((best.0 - step).max(low), (best.0 + step).min(high));
    for _ in 0..7 {
        let [a, b] = [0.382, 0.618].map(|part| left + part * (right - left));
        if value(a) > value(b) { right = b } else { left = a }
    }
    let middle = 0.5 * (left + right);
    let at = value(middle);
    if at > best.1 { (middle, at) } else { best }
}

/// By how much counts vary more than independent ones, of all blocks near that knee; and its degrees of freedom.
fn dispersion(blocks: &[(f64, &Block)], knee: f64) -> (f64, f64) {
    let moderate = || blocks.iter().filter(|(_, block)| block.log_ratio() < NEAR.0.ln());
    let mut near: Vec<&Block> =
        moderate().filter(|(rate, _)| (rate / knee).ln().abs() < NEAR.1).map(|(_, block)| *block).collect();
    if near.is_empty() && moderate().count() == blocks.len() {
        // Below the highest rate that is allowed everything may hold. Where some blocks are far beyond, those that hold say nothing of the knee.
        near = moderate().map(|(_, block)| *block).collect();
    }
    let n: f64 = near.iter().map(|block| block.n).sum();
    let allowed = near.first().map_or(1.0, |block| block.allowed);
    let sum = |level: usize, of: usize| -> f64 {
        near.iter().filter_map(|block| block.scatter.get(level)).map(|scatter| scatter[of]).sum()
    };
    let levels = near.iter().map(|block| block.scatter.len()).min().unwrap_or(0);
    let mut lower: f64 = if levels > 1 { 1.0 } else { OF_FAILURES };
    for level in 1..levels {
        let share = sum(level, 0) / n;
        if sum(level, 2) > 0.0 && share < 0.9 {
            lower = lower.max(sum(level, 1) / sum(level, 2));
        }
        if share >= TIMES * allowed {
            break;
        }
    }
    let all = (sum(0, 1) + PRIOR * lower * lower) / (sum(0, 2) + PRIOR * lower);
    let free = near.iter().map(|block| block.parts).sum::<f64>() + FREE;
    (all.max(1.0), free)
}

/// Blocks by rate, at one end of their events.
fn points(blocks: &[(f64, &Block)], end: usize, dispersion: f64, fit: &Fit) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (rate, block) in blocks {
        let [seen, allowed] = [block.at(end), block.n * block.allowed].map(|count| count / dispersion);
        match points.iter_mut().find(|point| (point.rate / rate - 1.0).abs() < 1e-9) {
            Some(point) => {
                point.seen += seen;
                point.allowed += allowed;
                point.blocks += 1;
            }
            None => points.push(Point { rate: *rate, blocks: 1, seen, allowed, weight: 1.0 }),
        }
    }
    for point in &mut points {
        let observed = ((point.seen + 0.5) / point.allowed).ln();
        let beyond = observed.max(fit.slope * (point.rate / fit.knee).ln());
        if beyond > 0.0 {
            let bend = BEND[0] * beyond * beyond + BEND[1] * beyond * beyond / fit.slope;
            point.weight = 1.0 / (1.0 + bend * bend * point.seen);
        }
    }
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    points
}

/// The highest rate that is shown to hold, and the lowest that is shown to fail, by points in a row.
fn shown(points: &[Point]) -> [Option<f64>; 2] {
    let (mut holds, mut fails) = (None, None);
    for from in 0..points.len() {
        let (mut seen, mut allowed) = (0.0, 0.0);
        for point in points[from..].iter().take_while(|point| point.rate <= ROW * points[from].rate) {
            seen += point.seen;
            allowed += point.allowed;
            if seen >= FEWEST && seen > allowed && gamma_lr(seen, allowed) < SHOWN {
                fails = Some(fails.map_or(point.rate, |rate: f64| rate.min(point.rate)));
            }
            if seen < allowed && gamma_ur(seen + 1.0, allowed) < SHOWN {
                holds = Some(points[from].rate);
            }
        }
    }
    [holds, fails]
}

/// Where the curve leaps from below the limit to far beyond it between two neighbours, any rate between them may be the knee: the slope there is
/// not known, and may be that of a step.
fn cliff(points: &[Point]) -> Option<[f64; 2]> {
    let far = |point: &Point| point.seen >= FEWEST && point.seen > NEAR.0 * point.allowed;
    let at = points.iter().position(far)?;
    let below = points[..at].last().filter(|point| point.seen < point.allowed)?;
    Some([below.rate, points[at].rate])
}

/// A rate that fails and a higher one that holds, each by three blocks or more of its own.
fn contradiction(points: &[Point]) -> Option<[f64; 2]> {
    let often = || points.iter().filter(|point| point.blocks >= 3 && point.allowed > 0.0);
    let level = 0.1 * SHOWN;
    let fails =
        often().find(|p| p.seen >= FEWEST && p.seen > p.allowed && gamma_lr(p.seen, p.allowed) < level)?;
    let holds = often().rfind(|p| p.seen < p.allowed && gamma_ur(p.seen + 1.0, p.allowed) < level)?;
    (holds.rate > 1.02 * fails.rate).then_some([fails.rate, holds.rate])
}
