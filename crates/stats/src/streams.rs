//! The streams of instants that the load rules compare: arrivals as they were due, and as they started with lateness of up to L
//! forgiven, at `started - min(lag, L)`.
//!
//! An arrival that was not later than L stands in that stream where it was due. So it is the intended one up to the first arrival that was
//! later than L, and is kept apart from there on: where all are on time, as in a simulation, there is one stream.
//! Waits at the connection cap are taken out first.
//!
//! Each stream is put into order before its headways are taken. Deliberately absent: the starts as they were (`arrivals`).

use crate::intervals::SEGMENTS;
use crate::merge::{Merge, Timed};
use crate::moments::Sums;
use crate::phase::Measured;
use crate::setup::PlanLaw;
use crate::windows::{Counter, Expected, Grid};
use headway_base::{Lateness, Nanos, Start};

/// A source that has told nothing for this long may still hold an older `intended` than the others (a long wait for a
/// connection), but is no longer waited for. Bounds the memory of what waits here.
pub(crate) const PATIENCE: Nanos = Nanos::from_secs(60);

/// An arrival in one of the streams.
#[derive(Clone, Copy, Debug)]
struct Instant {
    at: i64,
    intended: i64,
}

impl Timed for Instant {
    fn key(&self) -> (i64, i64) {
        (self.at, self.intended)
    }
}

/// What is kept of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    before: Option<i64>,
    /// Headways by the segment in which the later arrival was due.
    pub gaps: [Sums; SEGMENTS],
    /// One for each length of windows.
    pub counters: Vec<Counter>,
}

/// A stream, and what waits for its turn.
#[derive(Clone, Debug)]
struct Stream {
    waiting: Merge<Instant>,
    kept: Compared,
}

/// What all streams have in common.
#[derive(Clone, Debug)]
struct Frame {
    measured: Measured,
    grids: Vec<Grid>,
    /// Whether the plan's rate varies over the measured phase.
    varies: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Streams {
    frame: Frame,
    /// Whether intended times are known apart from the starts.
    compares: bool,
    intended: Stream,
    /// As they started, from the first arrival on that was later than is forgiven.
    forgiven: Option<Stream>,
    /// The longest lateness that is forgiven, in nanoseconds.
    most: i64,
    /// The longest wait at the connection cap.
    wait_max: i64,
}

impl Compared {
    #[inline]
    fn take(&mut self, arrival: Instant, frame: &Frame, plan: Option<&PlanLaw>) {
        let mut at = arrival.at;
        let Some(segment) = frame.measured.segment(Nanos(arrival.intended)) else {
            self.before = None;
            return;
        };
        if let Some(before) = self.before.replace(at) {
            self.gaps[segment].push((at - before).max(0) as u64, 1);
        }
        let plan = plan.filter(|_| frame.varies);
        // A start inside a pause belongs to its beginning. Nothing is due within one.
        if at != arrival.intended
            && let Some(pause) = plan.and_then(|plan| plan.profile.pause_around(Nanos(at)))
        {
            at = pause.0 - 1;
        }
        let expected = plan.map_or(Expected::Constant, |plan| Expected::Varying(&plan.profile));
        for (counter, grid) in self.counters.iter_mut().zip(&frame.grids) {
            counter.push(at, grid, &expected);
        }
    }
}

impl Stream {
    fn drain(&mut self, frame: &Frame, plan: Option<&PlanLaw>) {
        let Stream { waiting, kept } = self;
        waiting.drain(|arrival| kept.take(arrival, frame, plan));
    }
}

impl Streams {
    /// Of arrivals of that number of sources, counted in windows on these grids, with so much lateness forgiven. `compares`: whether it is
    /// known when arrivals were due; `varies`: whether the plan's rate varies over the measured phase.
    pub fn new(
        measured: Measured,
        sources: usize,
        grids: Vec<Grid>,
        (compares, varies): (bool, bool),
        lateness: Lateness,
    ) -> Streams {
        let counters = grids.iter().map(Counter::new).collect();
        let kept = Compared { before: None, gaps: [Sums::default(); SEGMENTS], counters };
        Streams {
            frame: Frame { measured, grids, varies },
            compares,
            intended: Stream { waiting: Merge::new(sources), kept },
            forgiven: None,
            most: lateness.length().0,
            wait_max: 0,
        }
    }

    /// An arrival. `direct`: from the only source, which tells them in the order in which they were due.
    #[inline]
    pub fn push(&mut self, source: usize, start: &Start, direct: bool, plan: Option<&PlanLaw>) {
        if !self.compares {
            return;
        }
        let (intended, released) = (start.intended.0, start.started.0 - start.wait.0);
        let lag = released - intended;
        // What started before it was due is not forgiven.
        if self.forgiven.is_none() && !(0..=self.most).contains(&lag) {
            self.forgiven = Some(self.intended.clone());
        }
        self.wait_max = self.wait_max.max(start.wait.0);
        let due = Instant { at: intended, intended };
        if direct {
            self.intended.kept.take(due, &self.frame, plan);
        } else {
            self.intended.waiting.push(source, due);
        }
        if let Some(stream) = &mut self.forgiven {
            let at = released - lag.clamp(0, self.most);
            stream.waiting.push(source, Instant { at, intended });
        }
    }

    /// No arrival of this source that was due before `at` will come.
    pub fn advance(&mut self, source: usize, at: i64) {
        self.intended.waiting.advance(source, at);
        self.forgiven.iter_mut().for_each(|stream| stream.waiting.advance(source, at));
    }

    /// This was the last arrival so far of a source which tells them in the order of their starts, and in that in which they
    /// were due.
    pub fn reached(&mut self, source: usize, last: &Start) {
        self.intended.waiting.advance(source, last.intended.0);
        // A generator that falls ever farther behind must not make ever more wait here.
        let released = last.started.0 - self.wait_max;
        if let Some(stream) = &mut self.forgiven {
            stream.waiting.advance(source, last.intended.0.max(released - self.most));
        }
    }

    /// Takes what no source can precede any more.
    pub fn drain(&mut self, plan: Option<&PlanLaw>) {
        let Streams { frame, intended, forgiven, .. } = self;
        intended.drain(frame, plan);
        forgiven.iter_mut().for_each(|stream| stream.drain(frame, plan));
    }

    /// Takes everything.
    pub fn drain_all(&mut self, plan: Option<&PlanLaw>) {
        for source in 0..self.intended.waiting.sources() {
            self.advance(source, i64::MAX);
        }
        self.drain(plan);
    }

    /// Arrivals as they were due.
    pub fn intended(&self) -> &Compared {
        &self.intended.kept
    }

    /// Arrivals as they started, less the lateness that is forgiven.
    pub fn forgiven(&self) -> &Compared {
        self.forgiven.as_ref().map_or(&self.intended.kept, |stream| &stream.kept)
    }

    /// The windows of each length.
    pub fn grids(&self) -> &[Grid] {
        &self.frame.grids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    /// An arrival: gap to the one before of its source, lag and wait at the cap, all in microseconds.
    type Arrival = (i64, i64, i64);

    fn start(due: i64, started: i64, wait: i64) -> Start {
        Start { wait: Nanos(wait), ..Start::arrival(Nanos(due), Nanos(started), 0) }
    }

    /// The starts of a source, in their order and in that in which they were due.
    fn starts(arrivals: &[Arrival]) -> Vec<Start> {
        let (mut due, mut before) = (0, 0);
        let of = |&(gap, lag, wait): &Arrival| {
            due += gap * 1_000;
            // The instant without the wait keeps the order too.
            before = before.max(due + lag * 1_000);
            start(due, before + wait * 1_000, wait * 1_000)
        };
        let mut starts: Vec<Start> = arrivals.iter().map(of).collect();
        let mut latest = 0;
        for start in &mut starts {
            let more = (latest - start.started.0).max(0);
            (start.started.0, start.wait.0) = (start.started.0 + more, start.wait.0 + more);
            latest = start.started.0;
        }
        starts
    }

    fn ms(n: i64) -> Lateness {
        Lateness::of_seconds(n as f64 / 1e3).unwrap()
    }

    fn streams(sources: usize, forgiven: Lateness) -> Streams {
        let measured = Measured::new(&(Nanos(5 * MS)..Nanos(400 * MS)));
        let grid = crate::windows::Windows::new(Nanos(MS), Nanos(5 * MS), Nanos(400 * MS)).grid;
        Streams::new(measured, sources, vec![grid], (true, false), forgiven)
    }

    fn by_hand(starts: &[Vec<Start>], forgiven: i64) -> Vec<Sums> {
        let at = |s: &Start| {
            let released = s.started.0 - s.wait.0;
            (released - (released - s.intended.0).clamp(0, forgiven), s.intended.0)
        };
        let mut all: Vec<_> = starts.iter().flatten().map(at).collect();
        all.sort_unstable();
        let phase = streams(1, ms(1)).frame.measured;
        let mut sums = vec![Sums::default(); SEGMENTS];
        for pair in all.windows(2) {
            if let [Some(_), Some(segment)] = [pair[0].1, pair[1].1].map(|due| phase.segment(Nanos(due))) {
                sums[segment].push((pair[1].0 - pair[0].0) as u64, 1);
            }
        }
        sums
    }

    proptest! {
        /// Any lags and waits, of several sources in batches: each stream is the one by hand, and where nothing was later than
        /// is forgiven both are one, to the last bit.
        #[test]
        fn each_stream_is_that_by_hand(
            arrivals in prop::collection::vec(
                prop::collection::vec(
                    (0i64..3_000, prop_oneof![Just(0i64), 0..1_000i64, 0..30_000i64, 0..150_000i64],
                        prop_oneof![4 => Just(0i64), 1 => 0..9_000i64]), 0..120),
                1..4),
            rows in 1usize..50,
            forgiven in prop_oneof![Just(1), Just(5), Just(20), Just(100)],
        ) {
            let all: Vec<Vec<Start>> = arrivals.iter().map(|of| starts(of)).collect();
            let mut kept = streams(all.len(), ms(forgiven));
            let mut left: Vec<_> = all.iter().map(|of| of.chunks(rows)).collect();
            while left.iter().any(|chunks| chunks.len() > 0) {
                for (source, chunks) in left.iter_mut().enumerate() {
                    match chunks.next() {
                        Some(chunk) => {
                            chunk.iter().for_each(|start| kept.push(source, start, all.len() == 1, None));
                            kept.reached(source, &chunk[chunk.len() - 1]);
                        }
                        None => kept.advance(source, i64::MAX),
                    }
                    kept.drain(None);
                }
            }
            kept.drain_all(None);
            prop_assert_eq!(&kept.intended().gaps[..], &by_hand(&all, i64::MAX)[..]);
            let lag = |s: &Start| (s.started - s.wait - s.intended).0;
            let worst = all.iter().flatten().map(lag).max().unwrap_or(0);
            prop_assert_eq!(&kept.forgiven().gaps[..], &by_hand(&all, forgiven * MS)[..]);
            let same = std::ptr::eq(kept.forgiven(), kept.intended());
            prop_assert_eq!(same, worst <= forgiven * MS, "{} ms and {} ns", forgiven, worst);
        }
    }

    #[test]
    fn what_started_before_it_was_due_is_not_forgiven() {
        let mut kept = streams(1, ms(1));
        for (due, started) in [(10, 10), (20, 18), (30, 30)] {
            kept.push(0, &start(due * MS, started * MS, 0), false, None);
        }
        kept.drain_all(None);
        let sums = kept.forgiven().gaps.iter().fold(Sums::default(), |mut all, gaps| {
            all.merge(gaps);
            all
        });
        let mut expected = Sums::default();
        [8, 12].into_iter().for_each(|gap| expected.push((gap * MS) as u64, 1));
        assert_eq!(sums, expected);
    }

    /// A generator that falls ever farther behind: what waits is what was late by less than is forgiven.
    #[test]
    fn what_waits_does_not_grow_with_the_lateness() {
        let mut kept = streams(1, ms(100));
        for k in 0..100_000i64 {
            // Due each 10 us, started each 20 us.
            let start = start(k * 10_000, k * 20_000, 0);
            kept.push(0, &start, true, None);
            if k % 100 == 0 {
                kept.reached(0, &start);
                kept.drain(None);
            }
            let waiting = kept.forgiven.iter().map(|stream| stream.waiting.len()).max();
            assert!(waiting.unwrap_or(0) <= 5_200, "{waiting:?} at {k}");
        }
    }
}
