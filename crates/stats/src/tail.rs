//! Whether the largest observations follow a power law whose variance is infinite, so that their mean has no interval.
//!
//! The index is Hill's (1975); the threshold is the one at which the law fits best (least Kolmogorov distance; Clauset, Shalizi and
//! Newman 2009). A lognormal or a mixture of exponentials looks like a power law over some stretch, so this is not enough: the law
//! must fit, its logarithms must be those of an exponential in the whole tail and in each half, quarter, ... of it (Castillo and
//! Daoudi 2014 test the same by their residual coefficient of variation), and the index must be below 2 even with the greatest
//! curvature that these observations allow. docs/trust.md has how often that is wrong. From histograms: bounded memory.

use crate::intervals::ratio_half_width;
use crate::steady::Bucket;
use crate::summary::{Interval, PowerLaw};

/// Fewest observations in a tail, and in the parts of it that are looked at.
const FEWEST: u64 = 250;
const FEWEST_OF_PART: u64 = 25;
/// Thresholds are tried at so many places for each doubling of the tail.
const PER_DOUBLING: i32 = 4;
/// Greatest distance of the fitted law, times the square root of how many: of true ones 3 % are farther away.
const DISTANCE: f64 = 0.95;
/// One-sided 95 %, two-sided 95 % and two-sided 99 % points of the normal distribution.
const Z95: f64 = 1.645;
const Z975: f64 = 1.960;
const Z995: f64 = 2.576;
/// From this index on the variance is finite.
const FINITE: f64 = 2.0;

/// A histogram by the logarithms of its cells.
struct Tail {
    /// Logarithm of the lower border, and of the middle.
    low: Vec<f64>,
    middle: Vec<f64>,
    /// Number, sum and sum of squares of the logarithms from each cell on.
    from: Vec<[f64; 3]>,
}

/// The tail from one cell on.
#[derive(Clone, Copy)]
struct Fit {
    first: usize,
    n: f64,
    index: f64,
    /// By how much the squares of the logarithms fall short of those of an exponential, as a share: zero for a power law, above
    /// for a tail that becomes lighter. Its standard error is 1 / sqrt(n).
    short: f64,
}

impl Tail {
    fn of(cells: &[Bucket]) -> Tail {
        let positive = || cells.iter().filter(|cell| cell.low > 0);
        let low: Vec<f64> = positive().map(|cell| (cell.low as f64).ln()).collect();
        let middle: Vec<f64> =
            positive().map(|cell| (cell.low as f64 + (cell.high - cell.low) as f64 / 2.0).ln()).collect();
        let counts: Vec<f64> = positive().map(|cell| cell.count as f64).collect();
        let mut from = vec![[0.0; 3]; low.len()];
        let mut sums = [0.0; 3];
        for i in (0..low.len()).rev() {
            let (n, x) = (counts[i], middle[i]);
            sums = [sums[0] + n, sums[1] + n * x, sums[2] + n * x * x];
            from[i] = sums;
        }
        Tail { low, middle, from }
    }

    /// The first cell from which on there are at most so many.
    fn holding(&self, n: f64) -> usize {
        self.from.partition_point(|sums| sums[0] > n)
    }

    fn fit(&self, first: usize) -> Option<Fit> {
        let [n, sum, squares] = *self.from.get(first)?;
        let low = self.low[first];
        let mean = sum / n - low;
        let square = squares / n - 2.0 * low * sum / n + low * low;
        (mean > 0.0).then(|| Fit { first, n, index: 1.0 / mean, short: 1.0 - square / (2.0 * mean * mean) })
    }

    /// Greatest distance between the law and the observations, at the borders of cells.
    fn distance(&self, fit: &Fit) -> f64 {
        let cells = fit.first + 1..self.low.len();
        let off = |i: usize| {
            let law = (fit.index * (self.low[fit.first] - self.low[i])).exp();
            (law - self.from[i][0] / fit.n).abs()
        };
        cells.map(off).fold(0.0, f64::max)
    }

    /// The tails that are tried.
    fn fits(&self) -> Vec<Fit> {
        let all = self.from.first().map_or(0.0, |sums| sums[0]);
        let tried = (0..).map(|i| FEWEST as f64 * (f64::from(i) / f64::from(PER_DOUBLING)).exp2());
        let mut firsts: Vec<usize> = tried.take_while(|&n| n <= all).map(|n| self.holding(n)).collect();
        firsts.push(0);
        firsts.dedup();
        let fits = firsts.into_iter().filter_map(|first| self.fit(first));
        fits.filter(|fit| fit.n >= FEWEST as f64).collect()
    }

    /// Whether the logarithms of a tail and of each half, quarter, ... of it are those of an exponential.
    fn is_straight(&self, fit: &Fit) -> bool {
        let z = |fit: &Fit| fit.short * fit.n.sqrt();
        let halves = (1..).map(|i| fit.n / f64::from(1u32 << i.min(31)));
        let mut parts = halves
            .take_while(|&n| n >= FEWEST_OF_PART as f64)
            .filter_map(|n| self.fit(self.holding(n).max(fit.first)))
            .filter(|part| part.n >= FEWEST_OF_PART as f64);
        (-Z995..=Z95).contains(&z(fit)) && parts.all(|part| z(&part).abs() <= Z995)
    }

    /// The index at the greatest observation, with the greatest curvature that the tail allows. In the logarithm e of x over the
    /// threshold a density of exp(-b e - g e^2 / 2), which a lognormal has, makes g = index^2 x `short`, with a standard error
    /// of index^2 / sqrt(n).
    fn index_at_the_end(&self, fit: &Fit) -> f64 {
        let curvature = fit.index * fit.index * (fit.short + Z95 / fit.n.sqrt()).max(0.0);
        let last = self.middle.last().map_or(0.0, |last| last - self.low[fit.first]);
        fit.index + curvature * (last - 1.0 / fit.index).max(0.0)
    }

    /// The interval of the index: by how many there are (Hill 1975), or by the segments, where these tell a wider one.
    fn interval(&self, fit: &Fit, segments: &[Vec<Bucket>]) -> Interval {
        let alone = Z975 / fit.n.sqrt();
        let low = self.low[fit.first];
        let of = |segment: &Vec<Bucket>| {
            let tail = Tail::of(segment);
            let first = tail.low.partition_point(|&x| x < low);
            tail.from.get(first).map_or((0.0, 0.0), |[n, sum, _]| (sum - n * low, *n))
        };
        let by_segment: Vec<(f64, f64)> = segments.iter().map(of).collect();
        let half = ratio_half_width(&by_segment).map_or(0.0, |half| half * fit.index);
        let [below, above] =
            [1.0 + half, 1.0 - half].map(|mean| if mean > 0.0 { 1.0 / mean } else { f64::INFINITY });
        [fit.index * below.min(1.0 - alone), fit.index * above.max(1.0 + alone)]
    }
}

/// The power law that the largest of these observations follow, where its index is shown to be below 2; none else. `segments` are
/// the same observations by segments of time, so that the interval allows for dependence. Cells are in order, those of a histogram
/// of relative precision; the law is in their unit.
pub fn power_law(cells: &[Bucket], segments: &[Vec<Bucket>]) -> Option<PowerLaw> {
    let tail = Tail::of(cells);
    let fits = tail.fits();
    // No threshold can lead to an index below 2: what most laws come to.
    if fits.iter().all(|fit| fit.index >= FINITE) {
        return None;
    }
    let distances = fits.iter().map(|fit| (tail.distance(fit), fit));
    let (distance, fit) = distances.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let ci95 = tail.interval(fit, segments);
    let found = ci95[1] < FINITE
        && distance * fit.n.sqrt() <= DISTANCE
        && tail.is_straight(fit)
        && tail.index_at_the_end(fit) < FINITE;
    found.then(|| PowerLaw { index: fit.index, ci95, from: tail.low[fit.first].exp(), n: fit.n as u64 })
}
