//! Histograms: fine ones (three significant digits) for numbers that are printed, coarse ones (16 cells per octave)
//! for what is drawn or kept per second.
//!
//! Both are sums of counts, so they merge in any order to the same result. A fine cell is at most 1/1000 of its value
//! wide and a quantile is told as its middle, so the histogram adds at most 0.05 % to a quantile; a coarse one 3.2 %; one
//! of many labels 0.4 %.
//! Quantile = smallest x with F(x) >= p.

use crate::divisor::Divisor;
use crate::summary::{BUCKET_BOUNDS, HistogramBin, ResponseBucket};
use hdrhistogram::Histogram;

/// A fine histogram of whole numbers, which grows as needed.
#[derive(Clone, Debug)]
pub(crate) struct Fine {
    hist: Histogram<u64>,
    /// Values of 0, which are most of all lags and waits, are not in the histogram.
    zeros: u64,
    pub max: u64,
}

impl Fine {
    pub fn new() -> Fine {
        Fine { hist: fresh(), zeros: 0, max: 0 }
    }

    #[inline]
    pub fn push(&mut self, x: u64, count: u64) {
        if x == 0 {
            self.zeros += count;
            return;
        }
        // It grows as needed, so recording cannot fail.
        let _ = self.hist.record_n(x, count);
        self.max = self.max.max(x);
    }

    pub fn cells(&self) -> Cells {
        let mut cells = Cells::default();
        if self.zeros > 0 {
            cells.cells.push(Cell { low: 0, high: 0, count: self.zeros, up_to: 0 });
        }
        cells.add(&self.hist);
        cells.settle()
    }
}

fn fresh<T: hdrhistogram::Counter>() -> Histogram<T> {
    of_digits(3)
}

#[expect(clippy::expect_used, reason = "the constructor accepts 0 to 5 digits")]
fn of_digits<T: hdrhistogram::Counter>(digits: u8) -> Histogram<T> {
    Histogram::new(digits.min(5)).expect("valid precision")
}

/// A histogram of 32-bit counts to a chosen number of significant digits. Of five digits, whole numbers up to 262,143 are
/// exact; of three, up to 2,047; of two, up to 255.
#[derive(Clone, Debug)]
pub(crate) struct Digits {
    hist: Histogram<u32>,
}

impl Digits {
    pub fn new(digits: u8) -> Digits {
        Digits { hist: of_digits(digits) }
    }

    /// Of one of so many labels: three digits, or two where there are many.
    pub fn of_labels(labels: usize) -> Digits {
        Digits::new(if labels <= FEW_LABELS { 3 } else { 2 })
    }

    #[inline]
    pub fn push(&mut self, x: u64) {
        self.push_many(x, 1);
    }

    #[inline]
    pub fn push_many(&mut self, x: u64, count: u32) {
        // It grows as needed, so recording cannot fail.
        let _ = self.hist.record_n(x, count);
    }

    /// The cells of several histograms of as many digits together.
    pub fn cells<'a>(all: impl IntoIterator<Item = &'a Digits>) -> Cells {
        let mut cells = Cells::default();
        all.into_iter().for_each(|d| cells.add(&d.hist));
        cells.settle()
    }
}

/// Up to so many labels histograms are of full precision.
pub(crate) const FEW_LABELS: usize = 64;

/// Spans of one label: a histogram with exact extremes whose quantiles are told in whole steps of what all values are
/// multiples of, milliseconds mostly, so that they are exact where the steps are wider than its cells.
#[derive(Clone, Debug)]
pub(crate) struct Labelled {
    digits: Digits,
    step: Divisor,
    pub n: u64,
    pub min: u64,
    pub max: u64,
}

impl Labelled {
    /// Of one of so many labels.
    pub fn new(labels: usize) -> Labelled {
        let digits = Digits::of_labels(labels);
        Labelled { digits, step: Divisor::default(), n: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    pub fn push(&mut self, x: u64, count: u32) {
        self.digits.push_many(x, count);
        self.step.push(x);
        self.n += u64::from(count);
        self.min = self.min.min(x);
        self.max = self.max.max(x);
    }

    /// How many are up to each bound.
    pub fn buckets(&self) -> Vec<ResponseBucket> {
        Digits::cells([&self.digits]).buckets()
    }

    /// The smallest x with F(x) >= p in all of them together, if there are `n` values, of which those missing lie beyond.
    pub fn quantile_of(parts: &[&Labelled], p: f64, n: u64) -> Option<u64> {
        let mut step = Divisor::default();
        parts.iter().for_each(|part| step.push(part.step.get()));
        let x = Digits::cells(parts.iter().map(|part| &part.digits)).quantile_of(p, n)?;
        let min = parts.iter().map(|part| part.min).min()?;
        let max = parts.iter().map(|part| part.max).max()?;
        Some(step.nearest(x).clamp(min, max))
    }
}

/// A fine histogram of 32-bit counts with exact extremes: one per segment and quantity.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    hist: Histogram<u32>,
    pub sums: crate::moments::Sums,
    pub min: u64,
    pub max: u64,
}

impl Segment {
    pub fn new() -> Segment {
        Segment { hist: fresh(), sums: crate::moments::Sums::default(), min: u64::MAX, max: 0 }
    }

    #[inline]
    pub fn push(&mut self, x: u64, count: u32) {
        let _ = self.hist.record_n(x, count);
        self.sums.push(x, u64::from(count));
        self.min = self.min.min(x);
        self.max = self.max.max(x);
    }
}

/// A histogram laid out in order, for quantiles and shares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    /// Lowest and highest whole number of each cell, the count within, and the count up to its end.
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub low: u64,
    pub high: u64,
    pub count: u64,
    pub up_to: u64,
}

impl Cells {
    fn add(&mut self, hist: &Histogram<impl hdrhistogram::Counter>) {
        // Few cells of the many between are filled, and beyond the maximum none.
        self.cells.extend(hist.iter_recorded().map(|v| {
            let high = v.value_iterated_to();
            Cell { low: hist.lowest_equivalent(high), high, count: v.count_at_value().as_u64(), up_to: 0 }
        }));
    }

    /// Puts the cells of several histograms together. The cells of all histograms of three digits have the same
    /// borders, so equal ones merge by their end.
    fn settle(mut self) -> Cells {
        // Each histogram's cells are in order already: a stable sort merges such runs.
        self.cells.sort_by_key(|c| c.high);
        self.cells.dedup_by(|next, kept| {
            let same = next.high == kept.high;
            kept.count += if same { next.count } else { 0 };
            same
        });
        let mut total = 0;
        for cell in &mut self.cells {
            total += cell.count;
            cell.up_to = total;
        }
        self
    }

    /// The cells of several segments together.
    pub fn of_segments<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Cells {
        let mut cells = Cells::default();
        segments.into_iter().for_each(|s| cells.add(&s.hist));
        cells.settle()
    }

    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Cells>) -> Cells {
        let mut cells = Cells::default();
        parts.into_iter().for_each(|p| cells.cells.extend(&p.cells));
        cells.settle()
    }

    /// The observations in cells that begin at `x` or beyond it, less where the first of those begins.
    pub fn beyond(&self, x: u64) -> Cells {
        let from = self.cells.partition_point(|c| c.low < x);
        // A cell that begins before `x` and is left out ends at or beyond it.
        let zero = from.checked_sub(1).map_or(x, |i| (self.cells[i].high + 1).max(x));
        let left_out = from.checked_sub(1).map_or(0, |i| self.cells[i].up_to);
        let cells = self.cells[from..].iter().map(|c| Cell {
            low: c.low - zero,
            high: c.high - zero,
            count: c.count,
            up_to: c.up_to - left_out,
        });
        Cells { cells: cells.collect() }
    }

    pub fn n(&self) -> u64 {
        self.cells.last().map_or(0, |c| c.up_to)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Cell> + Clone {
        self.cells.iter()
    }

    /// The smallest x with F(x) >= p among `n` observations, of which those not in this histogram lie beyond it; none
    /// if it lies beyond.
    pub fn quantile_of(&self, p: f64, n: u64) -> Option<u64> {
        // The slack undoes rounding in p x n: 0.07 x 100 must be 7.
        let rank = ((p * n as f64) * (1.0 - 1e-12)).ceil().max(1.0) as u64;
        let i = self.cells.partition_point(|c| c.up_to < rank);
        self.cells.get(i).map(|c| c.low + (c.high - c.low) / 2)
    }

    pub fn quantile(&self, p: f64) -> Option<u64> {
        self.quantile_of(p, self.n())
    }

    /// The value at a place of the sorted sample, counted from 0.
    pub fn nth(&self, place: u64) -> Option<u64> {
        let i = self.cells.partition_point(|c| c.up_to <= place);
        self.cells.get(i).map(|c| c.low + (c.high - c.low) / 2)
    }

    /// Number of observations in cells that end at or before the end of the cell holding `x`.
    pub fn up_to(&self, x: u64) -> u64 {
        let i = self.cells.partition_point(|c| c.low <= x);
        i.checked_sub(1).map_or(0, |i| self.cells[i].up_to)
    }

    /// A histogram of spans in nanoseconds: bins from the first to the last that holds any.
    pub fn bins(&self) -> Vec<HistogramBin> {
        let (mut from, mut before) = (0.0, 0);
        let mut bin = |to: Option<u64>| {
            let to_s = to.map(|to| to as f64 / 1e9);
            let up_to = to.map_or(self.n(), |to| self.up_to(to));
            let n = up_to - std::mem::replace(&mut before, up_to);
            HistogramBin { from: std::mem::replace(&mut from, to_s.unwrap_or(0.0)), to: to_s, n }
        };
        let bins: Vec<HistogramBin> = edges().map(Some).chain([None]).map(&mut bin).collect();
        let first = bins.iter().position(|bin| bin.n > 0);
        let last = bins.iter().rposition(|bin| bin.n > 0);
        first.zip(last).map_or(Vec::new(), |(first, last)| bins[first..=last].to_vec())
    }

    /// How many are up to each of [`BUCKET_BOUNDS`], where that grows.
    pub fn buckets(&self) -> Vec<ResponseBucket> {
        let mut before = 0;
        let grown = |&bound: &u64| {
            let n = self.up_to(bound);
            (std::mem::replace(&mut before, n) < n).then_some(ResponseBucket { le: bound as f64 / 1e9, n })
        };
        BUCKET_BOUNDS.iter().filter_map(grown).collect()
    }
}

/// Numbers of each decade at which bins of a histogram end, in hundredths: the R20 series of preferred numbers (ISO 3).
const R20: [u64; 20] =
    [100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900];

/// Where bins end, in nanoseconds: from 1 us to 1,000 s.
fn edges() -> impl Iterator<Item = u64> {
    let decades = (1..10).flat_map(|exponent| R20.map(|hundredths| hundredths * 10u64.pow(exponent)));
    decades.chain([1_000_000_000_000])
}

/// Cells per octave of a coarse histogram, as a power of two.
const STEP_BITS: u32 = 4;
/// Coarse cells begin at 2^10 ns (1.02 us); all below is one cell.
const FLOOR_BITS: u32 = 10;
/// They end at 2^38 ns (275 s); all beyond is in the last cell.
const CEILING_BITS: u32 = 38;
const COARSE: usize = (((CEILING_BITS - FLOOR_BITS) as usize) << STEP_BITS) + 1;

/// A coarse histogram of spans in nanoseconds, 1.8 KB.
#[derive(Clone, Debug)]
pub(crate) struct Coarse {
    counts: Box<[u32; COARSE]>,
    pub n: u64,
    pub max: u64,
}

impl Coarse {
    pub fn new() -> Coarse {
        Coarse { counts: Box::new([0; COARSE]), n: 0, max: 0 }
    }

    #[inline]
    pub fn push(&mut self, x: u64, count: u32) {
        let cell = &mut self.counts[index(x)];
        *cell = cell.saturating_add(count);
        self.n += u64::from(count);
        self.max = self.max.max(x);
    }

    pub fn merge(&mut self, other: &Coarse) {
        for (a, b) in self.counts.iter_mut().zip(other.counts.iter()) {
            *a = a.saturating_add(*b);
        }
        self.n += other.n;
        self.max = self.max.max(other.max);
    }

    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.n = 0;
        self.max = 0;
    }

    /// The first and the last cell that hold something.
    pub fn span(&self) -> Option<(usize, usize)> {
        let held = |&count: &u32| count > 0;
        Some((self.counts.iter().position(held)?, self.counts.iter().rposition(held)?))
    }

    /// Adds the counts of the cells to those of groups of `per` of them: the first cell, all below, is a group by itself. `sums` begins at
    /// group `first`.
    pub fn add_groups(&self, per: usize, first: usize, sums: &mut [u64]) {
        for (cell, &count) in self.counts.iter().enumerate() {
            if let Some(sum) = group(cell, per).checked_sub(first).and_then(|at| sums.get_mut(at)) {
                *sum += u64::from(count);
            }
        }
    }

    /// The smallest x with F(x) >= p among `n` observations (those missing here lie beyond), as the middle of its
    /// cell, never beyond the maximum.
    pub fn quantile_of(&self, p: f64, n: u64) -> Option<u64> {
        let rank = ((p * n as f64) * (1.0 - 1e-12)).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (i, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if seen >= rank {
                return Some(middle(i).min(self.max));
            }
        }
        None
    }

    pub fn quantile(&self, p: f64) -> Option<u64> {
        if self.n == 0 { None } else { self.quantile_of(p, self.n) }
    }
}

#[inline]
fn index(x: u64) -> usize {
    let x = x.clamp(1 << FLOOR_BITS, (1 << CEILING_BITS) - 1);
    let octave = 63 - x.leading_zeros();
    let within = (x >> (octave - STEP_BITS)) as usize & ((1 << STEP_BITS) - 1);
    let cell = (((octave - FLOOR_BITS) as usize) << STEP_BITS) + within;
    if x == 1 << FLOOR_BITS { 0 } else { cell + 1 }
}

/// Of cells in groups of `per`, the group of one; the first cell is a group by itself.
pub(crate) fn group(cell: usize, per: usize) -> usize {
    cell.div_ceil(per)
}

/// Where a group of coarse cells begins, in nanoseconds.
pub(crate) fn group_edge(group: usize, per: usize) -> u64 {
    let Some(steps) = group.checked_sub(1).map(|group| group * per) else { return 0 };
    let octave = FLOOR_BITS + (steps >> STEP_BITS) as u32;
    let within = (steps & ((1 << STEP_BITS) - 1)) as u64;
    (1 << octave) + (within << (octave - STEP_BITS))
}

fn middle(index: usize) -> u64 {
    if index == 0 {
        return 1 << (FLOOR_BITS - 1);
    }
    let octave = FLOOR_BITS + ((index - 1) >> STEP_BITS) as u32;
    let within = ((index - 1) & ((1 << STEP_BITS) - 1)) as u64;
    let width = 1u64 << (octave - STEP_BITS);
    (1 << octave) + within * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_cells_stay_within_their_stated_error() {
        for exponent in 0..2700 {
            let x = (2f64.powf(f64::from(exponent) / 100.0 + 10.5)) as u64;
            let told = middle(index(x)) as f64;
            assert!((told / x as f64 - 1.0).abs() < 0.033, "{x} {told}");
        }
        assert_eq!(index(0), 0);
        assert_eq!(index(u64::MAX), COARSE - 1);
    }

    #[test]
    fn a_quantile_is_the_smallest_value_reached() {
        let mut fine = Fine::new();
        (1..=100).for_each(|x| fine.push(x, 1));
        let cells = fine.cells();
        assert_eq!(cells.n(), 100);
        for (p, x) in [(0.07, 7), (0.5, 50), (0.501, 51), (0.99, 99), (1.0, 100), (0.0, 1)] {
            assert_eq!(cells.quantile(p), Some(x), "{p}");
        }
        // 100 more beyond: the median is the last one seen, the next one is unknown.
        assert_eq!(cells.quantile_of(0.5, 200), Some(100));
        assert_eq!(cells.quantile_of(0.51, 200), None);
        assert_eq!((cells.up_to(0), cells.up_to(30), cells.up_to(1000)), (0, 30, 100));
    }

    #[test]
    fn zeros_have_a_cell_like_any_other_value() {
        let (mut fine, mut hist) = (Fine::new(), fresh::<u64>());
        for x in [0, 3, 0, 0, 5_000, 0] {
            fine.push(x, 2);
            hist.record_n(x, 2).unwrap();
        }
        let mut expected = Cells::default();
        expected.add(&hist);
        let shown =
            |cells: Cells| cells.cells.iter().map(|c| (c.low, c.high, c.count, c.up_to)).collect::<Vec<_>>();
        assert_eq!(shown(fine.cells()), shown(expected.settle()));
    }

    #[test]
    fn five_digits_tell_whole_numbers_as_they_are() {
        let (mut some, mut others) = (Digits::new(5), Digits::new(5));
        for x in 0..=262_143 {
            if x % 3 == 0 { some.push(x) } else { others.push(x) }
        }
        let cells = Digits::cells([&some, &others]);
        assert!((0..=262_143).step_by(7).all(|x| cells.nth(x) == Some(x)));
        assert_eq!((cells.nth(262_144), cells.quantile(0.5)), (None, Some(131_071)));
    }

    #[test]
    fn fine_cells_are_a_thousandth_wide() {
        let mut fine = Fine::new();
        for x in [5_000_000u64, 123_456_789_012, 7] {
            fine.push(x, 2);
            let told = fine.cells().quantile_of(1.0, 2 * fine.cells().n() / 2).unwrap();
            assert!((told as f64 / fine.cells().iter().last().unwrap().high as f64 - 1.0).abs() < 0.0006);
        }
    }
}
