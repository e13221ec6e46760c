//! Pauses too long for independent users, in another tool's rows, and the load with them cut out of the time.
//!
//! Of n independent headways so many exceed ln n + x means as a Poisson count of mean exp(-x) says. A Poisson process knows no past:
//! with a gap and what follows at once cut out, what is left is a Poisson process. So a second set of statistics goes
//! on from the first such gap, on a time that stands still during pauses.
//!
//! Deliberately absent: whose fault a pause is, and what the pattern is with or without them.

use crate::arrivals::ArrivalsKept;
use crate::intervals::SEGMENTS;
use headway_base::{Nanos, Start};
use std::ops::Range;

/// One independent load in twenty has a gap of this many means beyond ln n, and one in eight hundred has two;
const BEYOND_CHANCE: f64 = 3.0;
/// one in a thousand has one of this many.
const ALONE: f64 = 7.0;

/// After a gap the starts within this share of its length may be what it held up.
const HELD_UP: f64 = 0.1;

/// Gaps that are remembered: more are no pauses in a load but what it is like.
const MOST: usize = 4_096;

/// At most this share of the time is cut out.
const MOST_CUT: f64 = 0.25;

/// Gaps within this share of the time at either end of a load may be its beginning or its end,
const END: f64 = 0.1;
/// which they are if so few of the starts to be expected came from that end to the last of them.
const THIN: f64 = 0.5;

/// Watches for pauses.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    judged: Range<Nanos>,
    /// A longer gap is none of independent users of the load's mean rate.
    long: f64,
    burst: i64,
    before: Option<i64>,
    n: u64,
    /// Gaps, and how many starts came before each.
    found: Vec<([i64; 2], u64)>,
    cut: Option<Box<Cut>>,
}

/// The load without its pauses.
#[derive(Clone, Debug)]
struct Cut {
    kept: ArrivalsKept,
    /// How much time is cut out, and up to when.
    shift: i64,
    until: i64,
}

/// Gaps at the ends of a load are its ramps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Place {
    Within,
    Beginning,
    End,
}

impl Pauses {
    /// Of so many starts per second over that time, with stamps on that grid.
    pub fn new(judged: Range<Nanos>, rate: f64, grid: Nanos) -> Pauses {
        let starts = (rate * (judged.end - judged.start).as_secs_f64()).max(2.0);
        let mean = 1e9 / rate;
        Pauses {
            judged,
            // Stamps on a grid shorten or lengthen a gap by up to a step of it.
            long: (starts.ln() + BEYOND_CHANCE) * mean + 2.0 * grid.0 as f64,
            burst: grid.0,
            before: None,
            n: 0,
            found: Vec::new(),
            cut: None,
        }
    }

    /// A start, in the order of time, before `kept` takes it.
    #[inline]
    pub fn start(&mut self, start: &Start, kept: &ArrivalsKept) {
        let at = start.started.0;
        self.n += 1;
        if let Some(before) = self.before.replace(at)
            && (at - before) as f64 > self.long
        {
            self.gap(before, at, kept);
        }
        if let Some(cut) = &mut self.cut
            && at > cut.until
        {
            let by = Nanos(cut.shift);
            let moved = Start {
                intended: start.intended - by,
                started: start.started - by,
                arrived: start.arrived - by,
                ..*start
            };
            cut.kept.started(&moved, None);
        }
    }

    #[cold]
    fn gap(&mut self, before: i64, at: i64, kept: &ArrivalsKept) {
        let first = || Box::new(Cut { kept: kept.clone(), shift: 0, until: i64::MIN });
        let cut = self.cut.get_or_insert_with(first);
        let until = at + ((HELD_UP * (at - before) as f64) as i64).max(self.burst);
        cut.shift += until - cut.until.max(before);
        cut.until = until;
        if self.found.len() < MOST {
            self.found.push(([before, at], self.n - 1));
        }
    }

    /// Where a gap lies: within the load, or at an end where there are hardly any starts up to it.
    fn place(&self, ([from, to], before): &([i64; 2], u64)) -> Place {
        let Range { start, end } = self.judged;
        let length = (end - start).0 as f64;
        let cut: i64 = self.found.iter().map(|([from, to], _)| to - from).sum();
        let rate = self.n as f64 / (length - cut as f64).max(1.0);
        let thin = |n: u64, time: i64| (time as f64) < END * length && (n as f64) < THIN * rate * time as f64;
        if thin(before + 1, to - start.0) {
            Place::Beginning
        } else if thin(self.n - before, end.0 - from) {
            Place::End
        } else {
            Place::Within
        }
    }

    /// The gaps that are too long for the rate around them too.
    fn all(&self, kept: &ArrivalsKept) -> impl Iterator<Item = ([i64; 2], Place)> {
        let length = (self.judged.end - self.judged.start).0 as f64 / SEGMENTS as f64;
        let log = (self.n.max(2) as f64).ln();
        // In mean headways of the rate around it.
        let means = move |[from, to]: [i64; 2]| {
            let twentieth = |at: i64| kept.segment(Nanos(at)).map_or(0, |s| kept.segments[s].started);
            let gap = (to - from) as f64;
            let around = twentieth(from).max(twentieth(to)) as f64;
            // What is missing in a gap is not to make it look usual.
            gap * around / (1.0 - (gap / length).min(0.5)) / length
        };
        let longer = move |than: f64| move |gap: &&([i64; 2], u64)| means(gap.0) > log + than;
        let several = self.found.iter().filter(longer(BEYOND_CHANCE)).nth(1).is_some();
        let than = if several { BEYOND_CHANCE } else { ALONE };
        self.found.iter().filter(longer(than)).map(|gap| (gap.0, self.place(gap)))
    }

    /// Those that are no ramp, in nanoseconds; empty if there are so many that they are what the load is like.
    pub fn within(&self, kept: &ArrivalsKept) -> Vec<[i64; 2]> {
        let all: Vec<_> = self.all(kept).filter(|gap| gap.1 == Place::Within).map(|gap| gap.0).collect();
        let long: i64 = all.iter().map(|[from, to]| to - from).sum();
        let length = (self.judged.end - self.judged.start).0 as f64;
        if self.found.len() == MOST || long as f64 > MOST_CUT * length { Vec::new() } else { all }
    }

    /// Completes the load without its pauses, of one that ended then.
    pub fn settle(&mut self, until: Nanos) {
        if let Some(cut) = &mut self.cut {
            let until = until - Nanos(cut.shift);
            cut.kept.settle(until, None);
        }
    }

    /// It, and when it ended on its own time.
    pub fn apart(&self, until: Nanos) -> Option<(&ArrivalsKept, Nanos)> {
        self.cut.as_ref().map(|cut| (&cut.kept, until - Nanos(cut.shift)))
    }
}
