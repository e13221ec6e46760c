//! What is kept of the starts so that a cause can be named afterwards; bounded, whatever the length of the file.
//!
//! Four things: some stretches of neighbouring starts as they are, the first starts of each generator, what happened
//! around the gaps that are too long to be chance, and how many starts fell into each part of the time.

use headway_base::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// Stretches of neighbouring starts that are kept, and how many starts each holds.
const STRETCHES: u64 = 32;
const STRETCH: usize = 4_096;

/// Generators whose first starts are kept, and how many.
const GENERATORS: usize = 16;
const FIRSTS: usize = 2_048;

/// Long gaps that are kept: the longest.
const MOST_GAPS: usize = 1_024;

/// Requests looked back at for what was in flight when a gap began.
const LOOK_BACK: usize = 1_024;

/// A gap of this many mean headways beyond ln n comes by chance in one sample of twenty of independent users. That is
/// enough, because a cause is only named if such gaps explain most of what is bunched.
const BEYOND_CHANCE: f64 = 3.0;

/// After a gap the starts within this share of its length count as the burst that follows it.
const BURST_SHARE: f64 = 0.1;

/// Parts of the time whose starts are counted.
pub(crate) const PARTS: usize = 20;

/// A launch-free gap too long for chance.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Gap {
    pub from: i64,
    pub to: i64,
    /// Requests in flight when it began.
    pub in_flight: u32,
    /// Of those, the ones that still were near its end.
    pub waited_through: u32,
    /// Starts within a tenth of its length after it, the one that ends it included.
    pub burst: u32,
    /// Starts before it.
    pub before: u64,
}

impl Gap {
    pub fn length(&self) -> f64 {
        (self.to - self.from) as f64
    }
}

/// Traces, gathered in the order of `started`.
#[derive(Debug)]
pub(crate) struct Traces {
    /// Mean headway of the judged stream, in nanoseconds.
    pub mean: f64,
    span: Range<Nanos>,
    /// Starts by twentieth of the time.
    pub parts: [u64; PARTS],
    pub resolution: f64,
    /// Starts to come, as the survey counted them.
    expected: u64,
    seen: u64,
    stretches: Vec<Vec<i64>>,
    /// The last starts.
    lasts: VecDeque<i64>,
    pub firsts: Vec<Vec<i64>>,
    long: f64,
    before: Option<i64>,
    /// The requests before: (started, done).
    ring: Vec<(i64, i64)>,
    ring_at: usize,
    open: Option<Gap>,
    gaps: Vec<Gap>,
    /// Gaps too long for chance, kept or not.
    pub long_gaps: u64,
    /// Sum of their lengths, in mean headways.
    long_sum: f64,
    /// Sum of their squared lengths, in squared mean headways.
    pub long_squares: f64,
}

impl Traces {
    /// Nothing yet; `starts` are to come within `span`.
    pub fn new(starts: u64, span: Range<Nanos>, resolution: Nanos, generators: usize) -> Traces {
        let mean = (span.end - span.start).0.max(1) as f64 / starts.max(1) as f64;
        let kept = if generators > 1 { generators.min(GENERATORS) } else { 0 };
        Traces {
            mean,
            span,
            parts: [0; PARTS],
            resolution: resolution.0.max(1) as f64,
            expected: starts,
            seen: 0,
            stretches: Vec::new(),
            lasts: VecDeque::new(),
            firsts: vec![Vec::new(); kept],
            long: (mean * ((starts.max(2) as f64).ln() + BEYOND_CHANCE)).max(4.0 * resolution.0 as f64),
            before: None,
            ring: Vec::new(),
            ring_at: 0,
            open: None,
            gaps: Vec::new(),
            long_gaps: 0,
            long_sum: 0.0,
            long_squares: 0.0,
        }
    }

    /// A start of the judged stream.
    #[inline]
    pub fn start(&mut self, started: Nanos, generator: u16) {
        let at = started.0;
        self.keep(at);
        let share = (at - self.span.start.0) as f64 / (self.span.end - self.span.start).0.max(1) as f64;
        self.parts[((share * PARTS as f64) as usize).min(PARTS - 1)] += 1;
        if let Some(firsts) = self.firsts.get_mut(usize::from(generator))
            && firsts.len() < FIRSTS
        {
            firsts.push(at);
        }
        if let Some(gap) = &mut self.open {
            if at as f64 <= gap.to as f64 + (BURST_SHARE * gap.length()).max(self.resolution) {
                gap.burst = gap.burst.saturating_add(1);
            } else {
                let gap = *gap;
                self.open = None;
                self.remember(gap);
            }
        }
        if let Some(before) = self.before.replace(at)
            && (at - before) as f64 > self.long
        {
            self.long_gap(before, at);
        }
    }

    /// A request, in the order of `started`: after its start if it is of the judged stream.
    #[inline]
    pub fn request(&mut self, started: Nanos, done: Nanos) {
        let row = (started.0, done.0);
        if self.ring.len() < LOOK_BACK {
            self.ring.push(row);
        } else {
            self.ring[self.ring_at] = row;
        }
        self.ring_at = (self.ring_at + 1) % LOOK_BACK;
    }

    fn keep(&mut self, at: i64) {
        let room = STRETCHES * STRETCH as u64;
        let every = if self.expected > room { self.expected / STRETCHES } else { room };
        if self.seen.is_multiple_of(every) && (self.stretches.len() as u64) < STRETCHES {
            self.stretches.push(Vec::new());
        }
        self.seen += 1;
        if self.lasts.len() == STRETCH {
            self.lasts.pop_front();
        }
        self.lasts.push_back(at);
        let most = if self.expected > room { STRETCH } else { room as usize };
        if let Some(stretch) = self.stretches.last_mut()
            && stretch.len() < most
        {
            stretch.push(at);
        }
    }

    fn long_gap(&mut self, from: i64, to: i64) {
        let nearly = to - (to - from) / 10;
        let in_flight = self.ring.iter().filter(|r| r.1 > from);
        let (mut n, mut through) = (0, 0);
        for row in in_flight {
            n += 1;
            through += u32::from(row.1 >= nearly);
        }
        let gap = Gap { from, to, in_flight: n, waited_through: through, burst: 1, before: self.seen - 1 };
        self.long_gaps += 1;
        self.long_sum += gap.length() / self.mean;
        self.long_squares += (gap.length() / self.mean).powi(2);
        if let Some(open) = self.open.replace(gap) {
            self.remember(open);
        }
    }

    fn remember(&mut self, gap: Gap) {
        if self.gaps.len() < MOST_GAPS {
            self.gaps.push(gap);
        } else if let Some(shortest) = self.gaps.iter_mut().min_by(|a, b| a.length().total_cmp(&b.length()))
            && shortest.length() < gap.length()
        {
            *shortest = gap;
        }
    }

    /// Share of the time that the long gaps take.
    pub fn gap_share(&self) -> f64 {
        self.long_sum / self.seen.max(1) as f64
    }

    /// Mean headway outside of the long gaps, in nanoseconds.
    pub fn mean_outside(&self) -> f64 {
        let (all, gaps) = (self.seen.max(1) as f64, self.long_gaps as f64);
        self.mean * (all - self.long_sum).max(1.0) / (all - gaps).max(1.0)
    }

    /// Squared CoV of the headways outside of the long gaps, where that of all has this CoV.
    pub fn variation_outside(&self, cov: f64) -> f64 {
        let (all, gaps) = (self.seen.max(1) as f64, self.long_gaps as f64);
        let outside = (all - gaps).max(1.0);
        let mean = (all - self.long_sum).max(1.0) / outside;
        let square = ((cov * cov + 1.0) * all - self.long_squares).max(0.0) / outside;
        square / (mean * mean) - 1.0
    }

    /// From when to when part `i` lasts, in seconds.
    pub fn part(&self, i: usize) -> [f64; 2] {
        let (from, length) = (self.span.start.as_secs_f64(), (self.span.end - self.span.start).as_secs_f64());
        [i, i + 1].map(|k| from + length * k as f64 / PARTS as f64)
    }

    /// The long gaps that were kept, in the order of time.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps = self.gaps.clone();
        gaps.extend(self.open);
        gaps.sort_by_key(|g| g.from);
        gaps
    }

    /// How many starts there were.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// From when to when starts are judged.
    pub fn span(&self) -> [i64; 2] {
        [self.span.start.0, self.span.end.0]
    }

    /// Distances of the first starts from the beginning, or of the last from the end, nearest first.
    pub fn next_to_end(&self, end: bool) -> Vec<i64> {
        match end {
            true => self.lasts.iter().rev().map(|at| self.span.end.0 - at).collect(),
            false => self.stretches.first().into_iter().flatten().map(|at| at - self.span.start.0).collect(),
        }
    }

    /// Stretches of neighbouring starts.
    pub fn stretches(&self) -> &[Vec<i64>] {
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_seen_with_what_it_held_up() {
        let ms = 1_000_000;
        let mut traces = Traces::new(1_000, Nanos(0)..Nanos(10_000 * ms), Nanos(1), 1);
        let request = |at: i64, done: i64, traces: &mut Traces| {
            traces.start(Nanos(at), 0);
            traces.request(Nanos(at), Nanos(done));
        };
        for k in 0..100 {
            request(10 * k * ms, (10 * k + 2) * ms, &mut traces);
        }
        // Two are in flight when the gap begins at 1,000 ms; one of them ends with it at 1,500 ms, and five follow at once.
        request(1_000 * ms, 1_003 * ms, &mut traces);
        request(1_000 * ms, 1_499 * ms, &mut traces);
        for k in 0..5 {
            request((1_500 + k) * ms, (1_502 + k) * ms, &mut traces);
        }
        request(1_700 * ms, 1_702 * ms, &mut traces);
        let gaps = traces.gaps();
        assert_eq!(gaps.len(), 2, "{gaps:?}");
        assert_eq!(
            gaps[0],
            Gap { from: 1_000 * ms, to: 1_500 * ms, in_flight: 2, waited_through: 1, burst: 5, before: 102 }
        );
        assert_eq!((gaps[1].from, gaps[1].to), (1_504 * ms, 1_700 * ms));
    }

    #[test]
    fn long_files_leave_stretches_and_short_ones_everything() {
        let mut short = Traces::new(5_000, Nanos(0)..Nanos(5_000), Nanos(1), 1);
        (0..5_000).for_each(|at| short.start(Nanos(at), 0));
        assert_eq!(short.stretches().iter().map(Vec::len).sum::<usize>(), 5_000);
        let mut long = Traces::new(1_000_000, Nanos(0)..Nanos(1_000_000), Nanos(1), 3);
        (0..1_000_000).for_each(|at| long.start(Nanos(at), (at % 3) as u16));
        assert_eq!(long.stretches().len(), 32);
        assert!(
            long.stretches()
                .iter()
                .all(|s| s.len() == STRETCH && s[STRETCH - 1] - s[0] == STRETCH as i64 - 1)
        );
        assert!(long.firsts.iter().all(|f| f.len() == FIRSTS));
    }
}
