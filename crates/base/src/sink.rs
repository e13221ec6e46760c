//! Where a source puts what it observed: one sink per worker, made by the caller, a generic parameter.
//!
//! A source (live worker, simulator, importer) knows nothing of logs, statistics or progress. It calls the three
//! methods of [`RecordSink`]; [`Batcher`] turns the calls into batches for another thread.

use crate::event::ResponseEvent;
use crate::record::{Record, Trigger};
use crate::time::Nanos;

/// One arrival that started: what the headway statistics need of it, passed on at the start and not at the end, so that
/// a request still waiting for its answer counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// When it was due, since the plan's zero.
    pub intended: Nanos,
    /// When it started, since the plan's zero.
    pub started: Nanos,
    /// How long it had waited for a connection: zero if it found one.
    pub wait: Nanos,
    /// By which it is counted to a phase: see [`Record::arrived`].
    pub arrived: Nanos,
    /// Index of its step.
    pub step: u16,
    /// How it came to be due.
    pub due: Trigger,
}

impl Start {
    /// An arrival of the plan that found a connection without waiting.
    pub const fn arrival(intended: Nanos, started: Nanos, step: u16) -> Start {
        Start { intended, started, wait: Nanos::ZERO, arrived: intended, step, due: Trigger::Arrival }
    }
}

/// Takes what a source observed. Calls come in the order of time: `start` with non-decreasing `started` (and, among those
/// due as arrivals, `intended`), `record` in the order of completion.
pub trait RecordSink {
    /// An arrival started.
    fn start(&mut self, start: Start);
    /// A request ended.
    fn record(&mut self, record: Record);
    /// A part of a response came, or a request with such parts ended: told before the request's record.
    fn event(&mut self, event: ResponseEvent) {
        let _ = event;
    }
    /// So many users (of a closed workload) or sessions of more than one request came, or went if negative.
    fn users(&mut self, at: Nanos, change: i32) {
        let _ = (at, change);
    }
    /// The source stood still from one instant to another, later than the last one that was told: it started and read nothing. Told
    /// before what it starts and reads from then on.
    fn stood_still(&mut self, from: Nanos, to: Nanos) {
        let _ = (from, to);
    }
    /// It is `now`: no later call to [`start`](RecordSink::start) will tell of an earlier instant. Called often
    /// enough (at least ten times a second while the source lives) for a reader to follow.
    fn tick(&mut self, now: Nanos);
    /// Whether nothing more is wanted. The simulator asks after each step and stops where it is; a live run is stopped from
    /// outside, so that requests in flight can end.
    #[inline]
    fn has_enough(&self) -> bool {
        false
    }
    /// The source is done; nothing follows.
    fn finish(&mut self, now: Nanos);
}

/// Rows that travel together, all from one source.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Which source, from 0.
    pub source: u16,
    /// Arrivals that started, in order.
    pub starts: Vec<Start>,
    /// Requests that ended, in order of completion.
    pub records: Vec<Record>,
    /// Users and sessions that came (positive) or went, in order of time.
    pub users: Vec<(Nanos, i32)>,
    /// From when to when the source stood still, in order of time.
    pub hold_ups: Vec<(Nanos, Nanos)>,
    /// Events of responses, in order of time; empty, and without memory, where no step asks for them.
    pub events: Vec<ResponseEvent>,
    /// No later batch of this source has a start before this instant.
    pub watermark: Nanos,
    /// Whether this is the source's last batch.
    pub last: bool,
}

/// A sink that collects rows and hands them over in batches: when `capacity` rows are full, or a quarter of a
/// second after the last hand-over.
#[derive(Debug)]
pub struct Batcher<F: FnMut(Batch) -> Batch> {
    batch: Batch,
    capacity: usize,
    handed_over: Nanos,
    hand_over: F,
}

const HAND_OVER_EVERY: Nanos = Nanos::from_millis(250);

/// Events of a batch at most: some 70 KB.
const EVENTS_AT_ONCE: usize = 1_024;

impl<F: FnMut(Batch) -> Batch> Batcher<F> {
    /// A sink for source number `source`. `hand_over` takes a full batch and gives back an empty one, best a used
    /// one so that its memory serves again.
    pub fn new(source: u16, capacity: usize, hand_over: F) -> Self {
        let batch = Batch {
            source,
            starts: Vec::with_capacity(capacity),
            records: Vec::with_capacity(capacity),
            ..Batch::default()
        };
        Batcher { batch, capacity, handed_over: Nanos(i64::MIN / 2), hand_over }
    }

    fn flush(&mut self, now: Nanos, last: bool) {
        let source = self.batch.source;
        self.batch.watermark = now;
        self.batch.last = last;
        let full = std::mem::take(&mut self.batch);
        self.batch = (self.hand_over)(full);
        self.batch.starts.clear();
        self.batch.records.clear();
        self.batch.users.clear();
        self.batch.hold_ups.clear();
        self.batch.events.clear();
        self.batch.source = source;
        self.handed_over = now;
    }
}

impl<F: FnMut(Batch) -> Batch> RecordSink for Batcher<F> {
    fn start(&mut self, start: Start) {
        self.batch.starts.push(start);
        if self.batch.starts.len() >= self.capacity {
            self.flush(start.started, false);
        }
    }

    fn record(&mut self, record: Record) {
        self.batch.records.push(record);
    }

    fn event(&mut self, event: ResponseEvent) {
        self.batch.events.push(event);
        // Between two ticks there can come any number of them. What was handed over before stays the watermark.
        if self.batch.events.len() >= EVENTS_AT_ONCE {
            self.flush(self.handed_over, false);
        }
    }

    fn users(&mut self, at: Nanos, change: i32) {
        self.batch.users.push((at, change));
    }

    fn stood_still(&mut self, from: Nanos, to: Nanos) {
        self.batch.hold_ups.push((from, to));
    }

    fn tick(&mut self, now: Nanos) {
        if self.batch.records.len() >= self.capacity || now - self.handed_over >= HAND_OVER_EVERY {
            self.flush(now, false);
        }
    }

    fn finish(&mut self, now: Nanos) {
        self.flush(now, true);
    }
}

/// Keeps everything: for tests and short runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Arrivals that started, in order.
    pub starts: Vec<Start>,
    /// Requests that ended, in order of completion.
    pub records: Vec<Record>,
    /// Users and sessions that came or went, in order.
    pub users: Vec<(Nanos, i32)>,
    /// From when to when it stood still, in order.
    pub hold_ups: Vec<(Nanos, Nanos)>,
    /// Events of responses, in order.
    pub events: Vec<ResponseEvent>,
    /// When the source finished, if it did.
    pub finished: Option<Nanos>,
}

impl RecordSink for Kept {
    fn start(&mut self, start: Start) {
        self.starts.push(start);
    }
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
    fn users(&mut self, at: Nanos, change: i32) {
        self.users.push((at, change));
    }
    fn stood_still(&mut self, from: Nanos, to: Nanos) {
        self.hold_ups.push((from, to));
    }
    fn event(&mut self, event: ResponseEvent) {
        self.events.push(event);
    }
    fn tick(&mut self, _now: Nanos) {}
    fn finish(&mut self, now: Nanos) {
        self.finished = Some(now);
    }
}

/// How a run stands, one a second: for progress, abort rules, a live view and exporters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// Time since the plan's zero.
    pub at: Nanos,
    /// Arrivals that started so far.
    pub started: u64,
    /// Requests that ended so far, whatever the outcome.
    pub ended: u64,
    /// Of those, the ones that did not end as ok.
    pub failed: u64,
    /// Arrivals that started within the last second.
    pub started_last_second: u64,
    /// Median response time of the requests that ended within the last second; none if there were none.
    pub response_p50: Option<Nanos>,
    /// 99th percentile of the same.
    pub response_p99: Option<Nanos>,
    /// Largest send lag within the last second, of arrivals that found a connection.
    pub lag_max: Option<Nanos>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;

    #[test]
    fn batches_lose_nothing_and_keep_the_order() {
        let mut seen: Vec<Batch> = Vec::new();
        let mut sink = Batcher::new(3, 4, |batch| {
            seen.push(batch);
            Batch::default()
        });
        for k in 0..10 {
            let at = Nanos::from_millis(k);
            sink.start(Start::arrival(at, at, 0));
            sink.record(Record::never_started(k as u64, at, at, Outcome::Shed));
            sink.tick(at);
        }
        sink.finish(Nanos::from_millis(99));
        let starts: Vec<_> = seen.iter().flat_map(|b| b.starts.iter().map(|s| s.started)).collect();
        assert_eq!(starts, (0..10).map(Nanos::from_millis).collect::<Vec<_>>());
        let keys: Vec<_> = seen.iter().flat_map(|b| b.records.iter().map(|r| r.k)).collect();
        assert_eq!(keys, (0..10).collect::<Vec<_>>());
        assert!(seen.iter().all(|b| b.source == 3));
        assert!(seen.windows(2).all(|w| w[0].watermark <= w[1].watermark));
        assert!(seen.last().unwrap().last && !seen[0].last);
    }

    #[test]
    fn any_number_of_events_between_two_ticks_is_handed_over_in_bounded_batches() {
        let mut seen: Vec<Batch> = Vec::new();
        let mut sink = Batcher::new(0, 4, |batch| {
            seen.push(batch);
            Batch::default()
        });
        let at = Nanos::from_millis(1);
        sink.tick(at);
        let record = Record::never_started(0, at, at, Outcome::Ok);
        for k in 0..10_000 {
            sink.event(ResponseEvent { k, ..ResponseEvent::end_of(&record) });
        }
        sink.finish(Nanos::from_millis(2));
        assert!(seen.iter().all(|b| b.events.len() <= EVENTS_AT_ONCE));
        assert!(seen.windows(2).all(|w| w[0].watermark <= w[1].watermark));
        let keys: Vec<_> = seen.iter().flat_map(|b| b.events.iter().map(|e| e.k)).collect();
        assert_eq!(keys, (0..10_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_batch_without_events_has_no_memory_for_them() {
        let mut sink = Batcher::new(0, 4, |batch: Batch| {
            assert_eq!(batch.events.capacity(), 0);
            batch
        });
        let at = Nanos::from_millis(1);
        (0..100).for_each(|k| sink.record(Record::never_started(k, at, at, Outcome::Ok)));
        sink.finish(at);
    }
}
