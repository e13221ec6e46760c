//! What comes back once a period: starts laid over each other by a known period, in pieces short enough that an error of it does
//! not smear them.
//!
//! Deliberately absent: whether there is a period; the spectrum of the counts says so.

/// Parts of a period.
const BINS: usize = 128;
/// Periods of a piece.
const PERIODS: f64 = 64.0;
/// Starts that are looked at.
const MOST: usize = 40_000;

/// A part of a period holds starts beyond chance by so many standard errors of a count,
const CLEAR: f64 = 6.0;
/// at least so many of them in each period.
const EACH: f64 = 0.5;
/// A part of a period is empty if it has less than this share of the average,
const EMPTY: f64 = 0.15;
/// and so many starts would be expected in it in a piece.
const EXPECTED: f64 = 20.0;
/// What is empty for more of a period than this has a tick, and no hole.
const MOST_EMPTY: f64 = 0.75;
/// What follows a hole at once is that share of what is missing in it, where it is caught up with.
const CAUGHT_UP: f64 = 0.5;
/// Parts after a hole that hold what follows at once.
const AT_ONCE: usize = 4;

/// What comes back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shape {
    /// So many starts at once.
    Spike { per_period: f64 },
    /// No start for so many nanoseconds; whether what is missing there follows at once.
    Hole { length: f64, caught_up: bool },
}

/// What comes back in that period, and the period in nanoseconds more exactly.
pub(super) fn shape(stretches: &[Vec<i64>], period: f64) -> Option<(Shape, f64)> {
    let starts = stretches.iter().max_by_key(|s| s.len())?;
    let starts = &starts[..starts.len().min(MOST)];
    let spans = (starts.last()? - starts.first()?) as f64 / period;
    if spans < 8.0 {
        return None;
    }
    let mut period = period;
    let mut reach = 0.02;
    // Ever longer pieces tell the period ever more exactly.
    for periods in [8.0, 16.0, 32.0, PERIODS].into_iter().filter(|&n| n <= spans) {
        const TRIED: i32 = 24;
        let tried = (-TRIED..=TRIED).map(|i| period * (1.0 + reach * f64::from(i) / f64::from(TRIED)));
        let best = tried.map(|p| (sharpness(starts, p, periods), p)).max_by(|a, b| a.0.total_cmp(&b.0))?;
        period = best.1;
        reach *= 0.5;
    }
    let pieces = folded(starts, period, PERIODS.min(spans));
    let n = pieces.len() as f64;
    let (mut spike, mut hole, mut mean, mut expected, mut after) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for bins in &pieces {
        let all: f64 = bins.iter().sum();
        let average = all / BINS as f64;
        let pair = (0..BINS).map(|i| bins[i] + bins[(i + 1) % BINS]).fold(0.0, f64::max);
        let (begins, length) = longest_run(bins, EMPTY * average);
        let empty = length as f64;
        // Of the rate outside of the hole.
        let usual = all / (BINS - length).max(1) as f64;
        let follows: f64 = (0..AT_ONCE).map(|i| bins[(begins + length + i) % BINS] - usual).sum();
        after += follows / (usual * empty).max(1.0) / n;
        mean += average / n;
        spike += (pair - 2.0 * average) / n;
        hole += empty / n;
        expected += empty * average / n;
    }
    let periods = PERIODS.min(spans);
    let caught_up = after >= CAUGHT_UP;
    // What follows a long hole at once is a tick.
    let most = if caught_up { 0.5 } else { MOST_EMPTY };
    if expected >= EXPECTED && hole < most * BINS as f64 {
        return Some((Shape::Hole { length: hole * period / BINS as f64, caught_up }, period));
    }
    let clear = spike >= CLEAR * (2.0 * mean).sqrt() && spike >= EACH * periods;
    clear.then_some((Shape::Spike { per_period: spike / periods }, period))
}

/// Counts by part of a period, of one piece after the other.
fn folded(starts: &[i64], period: f64, periods: f64) -> Vec<[f64; BINS]> {
    let mut pieces: Vec<[f64; BINS]> = Vec::new();
    let Some(&zero) = starts.first() else { return pieces };
    let whole = ((starts[starts.len() - 1] - zero) as f64 / (period * periods)) as usize;
    pieces.resize(whole.max(1), [0.0; BINS]);
    for at in starts {
        let turns = (at - zero) as f64 / period;
        if let Some(bins) = pieces.get_mut((turns / periods) as usize) {
            bins[((turns.fract() * BINS as f64) as usize).min(BINS - 1)] += 1.0;
        }
    }
    pieces
}

/// How far from even the counts are.
fn sharpness(starts: &[i64], period: f64, periods: f64) -> f64 {
    let squares = |bins: &[f64; BINS]| bins.iter().map(|n| n * n).sum::<f64>();
    folded(starts, period, periods).iter().map(squares).sum()
}

/// Where the longest run of parts around the circle that hold no more than that begins, and how many there are.
fn longest_run(bins: &[f64; BINS], most: f64) -> (usize, usize) {
    let (mut run, mut longest) = (0, (0, 0));
    for i in 0..2 * BINS {
        run = if bins[i % BINS] <= most { run + 1 } else { 0 };
        if run > longest.1 {
            longest = ((i + 1 - run) % BINS, run);
        }
    }
    (longest.0, longest.1.min(BINS))
}
