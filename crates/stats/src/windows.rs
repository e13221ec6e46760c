//! Index of dispersion of counts: variance over mean of the number of arrivals per window.
//!
//! Source: Cox and Lewis (1966), "The Statistical Analysis of Series of Events", section 4.5; for Poisson counts the
//! index is 1 with standard error sqrt(2/(m-1)) over m windows. Where the plan's rate varies over the measured phase
//! a window's expected count is in proportion to the plan's cumulative rate: the index is then the sum of squared
//! deviations over the sum of expected counts, which for a constant rate is variance over mean.
//!
//! Counting keeps, per window length and twentieth of the windows, three sums; memory does not grow with the run.

use crate::intervals::{SEGMENTS, difference_interval};
use crate::summary::{Dispersion, Interval};
use headway_base::{Nanos, Profile};

/// Fewest windows that carry an index.
pub(crate) const FEWEST_WINDOWS: u64 = 30;

/// Lengths of the windows that every load is looked at with, and the load rule on dispersion.
const FIXED: [Nanos; 4] =
    [Nanos::from_millis(1), Nanos::from_millis(10), Nanos::from_millis(100), Nanos::from_secs(1)];

/// Longer ones for another tool's log: such tests often last for hours.
const FIXED_FOREIGN: [Nanos; 2] = [Nanos::from_secs(10), Nanos::from_secs(60)];

/// Windows shorter than so many grid steps of the stamps count the grid and not the arrivals.
const FEWEST_STEPS: i64 = 10;

/// Lengths of the windows that every load is counted in: whole multiples of the stamps' grid, at least ten steps of it.
pub(crate) fn lengths(grid: Nanos, foreign: bool) -> Vec<Nanos> {
    let grid = grid.0.max(1);
    let whole = |length: Nanos| length.0.saturating_add(grid / 2) / grid * grid;
    let more: &[Nanos] = if foreign { &FIXED_FOREIGN } else { &[] };
    let all = FIXED.iter().chain(more).map(|&w| Nanos(whole(w)));
    all.filter(|w| w.0 >= grid.saturating_mul(FEWEST_STEPS)).collect()
}

/// How many arrivals a window leads one to expect, up to a constant factor.
pub(crate) enum Expected<'a> {
    /// The same for each.
    Constant,
    /// In proportion to the plan's cumulative rate.
    Varying(&'a Profile),
}

/// Windows of one length, counting arrivals as started.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    pub grid: Grid,
    started: Counter,
}

/// Where windows of one length lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    start: i64,
    width: i64,
    windows: u64,
}

impl Grid {
    /// The twentieth that a window belongs to.
    fn segment(&self, window: u64) -> usize {
        (window * SEGMENTS as u64 / self.windows.max(1)) as usize
    }

    /// The first window behind a twentieth.
    fn end_of(&self, segment: usize) -> u64 {
        ((segment as u64 + 1) * self.windows).div_ceil(SEGMENTS as u64)
    }

    fn expected(&self, window: u64, expected: &Expected) -> f64 {
        match expected {
            Expected::Constant => 1.0,
            Expected::Varying(profile) => {
                let from = self.start + window as i64 * self.width;
                profile.cumulative(Nanos(from + self.width)) - profile.cumulative(Nanos(from))
            }
        }
    }
}

/// Counts a stream of instants.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// The window being counted, and where it ends.
    window: u64,
    edge: i64,
    count: u64,
    /// The twentieth that it belongs to, and the first window behind that.
    segment: usize,
    segment_end: u64,
    segments: [Counts; SEGMENTS],
}

/// Sums over windows: counts c, expected counts m.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    windows: u64,
    c: f64,
    cc: f64,
    cm: f64,
    m: f64,
    mm: f64,
}

impl Counts {
    fn add(&mut self, c: f64, m: f64) {
        // A window in a pause of the plan says nothing.
        if m > 0.0 {
            self.windows += 1;
            self.c += c;
            self.cc += c * c;
            self.cm += c * m;
            self.m += m;
            self.mm += m * m;
        }
    }

    fn add_empty(&mut self, windows: u64) {
        self.windows += windows;
        self.m += windows as f64;
        self.mm += windows as f64;
    }

    fn merge(mut self, other: &Counts) -> Counts {
        self.windows += other.windows;
        self.c += other.c;
        self.cc += other.cc;
        self.cm += other.cm;
        self.m += other.m;
        self.mm += other.mm;
        self
    }

    /// Sum of squared deviations from `level` x expected.
    fn deviations(&self, level: f64) -> f64 {
        self.cc - 2.0 * level * self.cm + level * level * self.mm
    }
}

impl Counter {
    pub fn new(grid: &Grid) -> Counter {
        Counter {
            window: 0,
            edge: grid.start + grid.width,
            count: 0,
            segment: 0,
            segment_end: grid.end_of(0),
            segments: [Counts::default(); SEGMENTS],
        }
    }

    /// An instant, not before the last one.
    #[inline]
    pub fn push(&mut self, at: i64, grid: &Grid, expected: &Expected) {
        if at >= self.edge {
            // The next window is the most frequent one, and needs no division.
            let next = match at - self.edge < grid.width {
                true => self.window + 1,
                false => ((at - grid.start) / grid.width) as u64,
            };
            self.close_until(next, grid, expected);
        }
        // What comes before the grid (never) or after its end is not counted.
        self.count += 1;
    }

    /// Closes the windows before `next` and opens it.
    fn close_until(&mut self, next: u64, grid: &Grid, expected: &Expected) {
        let last = next.min(grid.windows);
        if self.window < last {
            let m = grid.expected(self.window, expected);
            if self.window >= self.segment_end {
                self.segment = grid.segment(self.window);
                self.segment_end = grid.end_of(self.segment);
            }
            self.segments[self.segment].add(self.count as f64, m);
            self.skip(self.window + 1, last, grid, expected);
        }
        self.window = next;
        self.edge = grid.start.saturating_add((next as i64 + 1).saturating_mul(grid.width));
        self.count = 0;
    }

    /// Empty windows. At a constant rate they are added a segment at a time.
    fn skip(&mut self, mut window: u64, until: u64, grid: &Grid, expected: &Expected) {
        while window < until {
            let segment = grid.segment(window);
            match expected {
                Expected::Constant => {
                    let next = grid.end_of(segment).min(until);
                    self.segments[segment].add_empty(next - window);
                    window = next;
                }
                Expected::Varying(_) => {
                    self.segments[segment].add(0.0, grid.expected(window, expected));
                    window += 1;
                }
            }
        }
    }
}

/// What one window length says.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowsResult {
    pub row: Dispersion,
    /// Index of the arrivals as intended.
    pub intended: f64,
    /// Interval of index(started) - index(intended), from the segments.
    pub difference_interval: Option<Interval>,
}

impl WindowsResult {
    /// Interval of the index from the sampling error of a variance of near-normal counts.
    pub fn interval(&self) -> Interval {
        let half = 1.96 * self.row.index * self.row.se;
        [self.row.index - half, self.row.index + half]
    }

    pub fn difference(&self) -> f64 {
        self.row.index - self.intended
    }
}

impl Windows {
    /// Windows of `width` from `start` on, as many as fit before `end`.
    pub fn new(width: Nanos, start: Nanos, end: Nanos) -> Windows {
        let width = width.0.max(1);
        let windows = ((end.0.saturating_sub(start.0)).max(0) / width) as u64;
        let grid = Grid { start: start.0, width, windows };
        Windows { grid, started: Counter::new(&grid) }
    }

    #[inline]
    pub fn started(&mut self, at: i64, expected: &Expected) {
        self.started.push(at, &self.grid, expected);
    }

    /// What the starts say over the windows that are complete at `until`, beside the arrivals as intended; none with fewer than 30
    /// that expect an arrival.
    pub fn result(&self, intended: &Counter, until: Nanos, expected: &Expected) -> Option<WindowsResult> {
        self.grid.compare(&self.started, intended, until, expected)
    }
}

impl Grid {
    /// Length of a window.
    pub fn width(&self) -> Nanos {
        Nanos(self.width)
    }

    /// What one stream says over the windows that are complete at `until`, beside another; none with fewer than 30 that expect an
    /// arrival.
    pub fn compare(
        &self,
        sent: &Counter,
        intended: &Counter,
        until: Nanos,
        expected: &Expected,
    ) -> Option<WindowsResult> {
        let complete = ((until.0 - self.start).max(0) / self.width) as u64;
        let complete = complete.min(self.windows);
        // The grid keeps its segments: only those that are whole count for intervals.
        let [s, i] = [sent, intended].map(|counter| {
            let mut counter = counter.clone();
            if counter.window < complete {
                counter.close_until(complete, self, expected);
            }
            counter.segments
        });
        let total = |segments: &[Counts]| segments.iter().fold(Counts::default(), |a, b| a.merge(b));
        let (all_s, all_i) = (total(&s), total(&i));
        let index = |t: &Counts| {
            let level = t.c / t.m;
            t.deviations(level) / t.c * t.windows as f64 / (t.windows - 1) as f64
        };
        if all_s.windows < FEWEST_WINDOWS || all_s.c == 0.0 {
            return None;
        }
        let has_intended = all_i.c > 0.0;
        let whole = (0..SEGMENTS).filter(|&j| self.end_of(j) <= complete && s[j].windows > 0);
        let part = |t: &Counts, all: &Counts| {
            let level = all.c / all.m;
            t.deviations(level) / (level * all.m / all.windows as f64) / t.windows as f64
        };
        let differences: Vec<f64> = whole
            .map(|j| part(&s[j], &all_s) - if has_intended { part(&i[j], &all_i) } else { 0.0 })
            .collect();
        let intended = if has_intended { index(&all_i) } else { f64::NAN };
        Some(WindowsResult {
            row: Dispersion {
                window: self.width as f64 / 1e9,
                index: index(&all_s),
                se: (2.0 / (all_s.windows - 1) as f64).sqrt(),
                windows: all_s.windows,
                expected: 1.0,
                intended: has_intended.then_some(intended),
            },
            intended,
            difference_interval: difference_interval(index(&all_s) - intended, &differences),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Phase, Rate};

    fn times(n: i64) -> impl Iterator<Item = i64> {
        (0..n).map(|i| i * 1_000_000 + (i * 7919 % 1009) * 40_000).scan(0, |last: &mut i64, t| {
            *last = t.max(*last);
            Some(*last)
        })
    }

    /// Nothing is known of when arrivals were due.
    fn none(windows: &Windows) -> Counter {
        Counter::new(&windows.grid)
    }

    fn by_hand(times: impl Iterator<Item = i64>, width: i64, windows: usize) -> f64 {
        let mut counts = vec![0.0; windows];
        times.for_each(|t| {
            if let Some(c) = counts.get_mut((t / width) as usize) {
                *c += 1.0;
            }
        });
        let mean = counts.iter().sum::<f64>() / windows as f64;
        counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (windows - 1) as f64 / mean
    }

    #[test]
    fn streaming_counts_are_those_of_an_array() {
        let end = Nanos::from_millis(4_321);
        for width in [1i64 << 20, 3_333_333, 1 << 24] {
            let mut windows = Windows::new(Nanos(width), Nanos::ZERO, end);
            times(4_000).for_each(|t| windows.started(t, &Expected::Constant));
            let expected = by_hand(times(4_000), width, (end.0 / width) as usize);
            let got = windows.result(&none(&windows), end, &Expected::Constant).unwrap();
            assert!((got.row.index / expected - 1.0).abs() < 1e-9, "{width} {} {expected}", got.row.index);
        }
    }

    #[test]
    fn a_flat_profile_written_as_varying_gives_the_same_and_a_pause_counts_for_nothing() {
        let s = Nanos::from_secs;
        let flat = Profile::new(&[Phase::hold(s(4), Rate(1000.0))]);
        let (mut a, mut b) =
            (Windows::new(Nanos(1 << 22), s(0), s(4)), Windows::new(Nanos(1 << 22), s(0), s(4)));
        for t in times(3_900) {
            a.started(t, &Expected::Constant);
            b.started(t, &Expected::Varying(&flat));
        }
        let (a, b) = (
            a.result(&none(&a), s(4), &Expected::Constant).unwrap(),
            b.result(&none(&b), s(4), &Expected::Varying(&flat)).unwrap(),
        );
        assert!((a.row.index / b.row.index - 1.0).abs() < 1e-9);
        assert_eq!(a.row.windows, b.row.windows);

        let paused = Profile::new(&[Phase::hold(s(4), Rate(1000.0)), Phase::pause(s(4))]);
        let mut c = Windows::new(Nanos(1 << 22), s(0), s(8));
        times(3_900).for_each(|t| c.started(t, &Expected::Varying(&paused)));
        let c = c.result(&none(&c), s(8), &Expected::Varying(&paused)).unwrap();
        assert!(c.row.windows - a.row.windows <= 1);
        assert!((c.row.index / a.row.index - 1.0).abs() < 0.01, "{} {}", c.row.index, a.row.index);
    }

    #[test]
    fn windows_lie_on_the_grid_and_span_ten_steps_of_it() {
        let ms = Nanos::from_millis;
        assert_eq!(lengths(Nanos(1), false), FIXED);
        assert_eq!(lengths(ms(1), true), [ms(10), ms(100), ms(1_000), ms(10_000), ms(60_000)]);
        assert_eq!(lengths(ms(1_000), true), [ms(10_000), ms(60_000)]);
    }

    #[test]
    fn too_few_windows_say_nothing() {
        let windows = Windows::new(Nanos::from_secs(1), Nanos::ZERO, Nanos::from_secs(29));
        assert!(windows.result(&none(&windows), Nanos::from_secs(29), &Expected::Constant).is_none());
    }
}
