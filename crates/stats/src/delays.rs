//! What the generator's own delays can have added to each response time of an open load, as its requests start and end.
//!
//! Response time counts from when a request was due, so it holds the generator's lateness and what that did to the requests
//! behind. A target that serves in order ends no request earlier because others come later, and a delay of arrivals by at most L
//! delays no end by more than L (Lindley 1952; for several servers Kiefer and Wolfowitz 1955: waiting times rise with
//! arrival times, and moving all of them by L moves every end by L). Where nothing was in flight, what came before has no effect.
//! So a request which was due at t and ended at d would, had nothing been late, have ended between d - L - u and d: L is
//! the largest lag since nothing was in flight, up to its own start, and u is how long its answer lay unread.
//!
//! Where a request waited at the connection cap, delays add up along the chain of requests that waited for each other: from
//! there on L also holds the lags of those that waited, and the time for which answers lay unread. A request that was given
//! up may still be at the target: from there on something always is in flight.
//!
//! Deliberately absent: the histograms (`requests`), and loads in which due times hang on answers, of which none of this holds.

use headway_base::{Nanos, Outcome, Record, Short, Stamp, Start};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Most rises of the delay that are kept since nothing was in flight; beyond, each two become one, which can only
/// overstate what was the delay at the first.
const MOST_RISES: usize = 4_096;

/// A request of which the end was told: what is needed of it when its turn comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    done: Nanos,
    intended: Nanos,
    started: Stamp,
    unread: Short,
    /// Whether the target may still be busy with it.
    at_target: bool,
    /// Whether it belongs to the measured phase.
    pub counted: bool,
    pub outcome: Outcome,
    /// Index of its step.
    pub step: u16,
    /// How many requests it stands for.
    pub count: u32,
}

impl Ended {
    pub fn new(record: &Record, counted: bool) -> Ended {
        use Outcome::{Cancelled, IdleTimeout, Protocol, Timeout, TooLarge, Unfinished};
        let Record { done, intended, started, unread, outcome, step, count, .. } = *record;
        let given_up =
            matches!(outcome, Timeout | IdleTimeout | Cancelled | Unfinished | Protocol | TooLarge);
        let at_target = given_up && record.sent.is_some();
        Ended { done, intended, started, unread, at_target, counted, outcome, step, count }
    }

    /// From when it was due.
    pub fn response(&self) -> Nanos {
        self.done - self.intended
    }

    /// From when it started; zero of what never did.
    pub fn since_start(&self) -> Nanos {
        self.started.get().map_or(Nanos::ZERO, |started| self.done - started)
    }

    /// Whether it is not known how long its answer lay unread.
    pub fn is_unread_unknown(&self) -> bool {
        self.unread.get().is_none()
    }

    /// Of what ended at the same instant that comes last which started then too.
    fn key(&self) -> (i64, bool) {
        (self.done.0, self.started.get() == Some(self.done))
    }
}

impl PartialEq for Ended {
    fn eq(&self, other: &Ended) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Ended {}

impl PartialOrd for Ended {
    fn partial_cmp(&self, other: &Ended) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ended {
    fn cmp(&self, other: &Ended) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The response time from when a request was released to when its response came, as far as that is told.
pub(crate) fn from_start(record: &Record) -> Nanos {
    let released = record.started.get().map_or(record.done, |started| started - record.wait);
    (record.done - record.unread.get().unwrap_or(Nanos::ZERO) - released).max(Nanos::ZERO)
}

/// The delays of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    /// Ends that were told and lie after the last start that was taken.
    ends: BinaryHeap<Reverse<Ended>>,
    in_flight: u64,
    /// Of the time since nothing was in flight: the largest lag,
    worst: i64,
    /// whether a request waited at the cap, the lags of those that did,
    waited: bool,
    of_waiting: i64,
    /// and for how long answers lay unread, all together.
    unread: i64,
    /// When the delay of what starts rose, and to what.
    rises: Vec<(i64, i64)>,
}

impl Delays {
    /// A request ended. All that ended by the instant of a start must be told before that start.
    #[inline]
    pub fn ended(&mut self, record: &Record, counted: bool) {
        self.ends.push(Reverse(Ended::new(record, counted)));
    }

    /// A request started; starts come in order. `take` is told of each request that had ended by then, with the response time that
    /// it would have had at least.
    #[inline]
    pub fn started(&mut self, start: &Start, take: impl FnMut(&Ended, Nanos)) {
        let at = start.started.0;
        self.until(at, take);
        // What waited for a connection was due before nothing was in flight.
        if self.in_flight == 0 && start.wait == Nanos::ZERO {
            (self.worst, self.waited, self.of_waiting, self.unread) = (0, false, 0, 0);
            self.rises.clear();
        }
        self.in_flight += 1;
        let lag = (start.started - start.intended - start.wait).0.max(0);
        self.worst = self.worst.max(lag);
        self.waited |= start.wait > Nanos::ZERO;
        if self.waited {
            self.of_waiting += lag;
        }
        let delay = self.delay();
        if self.rises.last().is_none_or(|&(_, before)| delay > before) {
            self.rise(at, delay);
        }
    }

    /// Nothing starts any more.
    pub fn finish(&mut self, take: impl FnMut(&Ended, Nanos)) {
        self.until(i64::MAX, take);
    }

    fn delay(&self) -> i64 {
        self.worst + if self.waited { self.of_waiting.saturating_add(self.unread) } else { 0 }
    }

    fn rise(&mut self, at: i64, delay: i64) {
        if self.rises.len() == MOST_RISES {
            let pairs = self.rises.chunks(2).map(|pair| (pair[0].0, pair[pair.len() - 1].1));
            self.rises = pairs.collect();
        }
        self.rises.push((at, delay));
    }

    /// The delay of what started then, in the time since nothing was in flight.
    fn delay_at(&self, started: i64) -> i64 {
        let i = self.rises.partition_point(|&(at, _)| at <= started);
        i.checked_sub(1).map_or(0, |i| self.rises[i].1)
    }

    /// Takes what ended by `at`, but not what started at that very instant.
    #[inline]
    fn until(&mut self, at: i64, mut take: impl FnMut(&Ended, Nanos)) {
        while let Some(Reverse(next)) = self.ends.peek() {
            if next.key() >= (at, true) && at < i64::MAX {
                return;
            }
            let next = *next;
            self.ends.pop();
            let least = self.end(&next);
            take(&next, least);
        }
    }

    /// The response time that a request would have had at least.
    fn end(&mut self, ended: &Ended) -> Nanos {
        let response = (ended.done - ended.intended).0;
        let Some(started) = ended.started.get() else {
            // It waited at the cap until it was given up.
            return Nanos(response.saturating_sub(self.delay()).max(0));
        };
        if !ended.at_target {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        let Some(unread) = ended.unread.get() else { return Nanos::ZERO };
        self.unread = self.unread.saturating_add(unread.0);
        let least = response.saturating_sub(self.delay_at(started.0)).saturating_sub(unread.0);
        Nanos(least.max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request by its gap to the one before, its lag, what it takes of a server and for how long its answer lies unread; all in
    /// microseconds.
    type Request = (i64, i64, i64, i64);

    /// When each ends that starts then, in order, at so many servers.
    fn served(starts: &[i64], services: impl Iterator<Item = i64>, servers: usize) -> Vec<i64> {
        let mut free = vec![0; servers];
        let end = |(&start, service): (&i64, i64)| {
            let next = free.iter_mut().min().unwrap();
            *next = start.max(*next) + service;
            *next
        };
        starts.iter().zip(services).map(end).collect()
    }

    /// Rows of requests that a generator sends in order, with what they would have taken without its delays.
    fn play(requests: &[Request], servers: usize) -> Vec<(Record, i64)> {
        let (mut due, mut before) = (0, 0);
        let mut dues = Vec::new();
        let mut starts = Vec::new();
        for &(gap, lag, _, _) in requests {
            due += gap;
            before = before.max(due + lag);
            dues.push(due);
            starts.push(before);
        }
        let services = || requests.iter().map(|r| r.2);
        let (ends, truths) = (served(&starts, services(), servers), served(&dues, services(), servers));
        let row = |k: usize| {
            let at = Nanos::from_micros;
            let unread = at(requests[k].3);
            let row = Record {
                started: at(starts[k]).into(),
                sent: at(starts[k]).into(),
                unread: unread.into(),
                ..Record::never_started(k as u64, at(dues[k]), at(ends[k]) + unread, Outcome::Ok)
            };
            (row, (truths[k] - dues[k]) * 1_000)
        };
        (0..requests.len()).map(row).collect()
    }

    /// The least response times by looking at every earlier start.
    fn by_hand(rows: &[(Record, i64)], k: usize) -> i64 {
        let start = |j: usize| rows[j].0.started.get().unwrap();
        let empty = |m: &usize| (0..*m).all(|j| rows[j].0.done <= start(*m));
        let since = (0..=k).rev().find(empty).unwrap();
        let worst = (since..=k).map(|j| rows[j].0.lag().unwrap().0).max().unwrap();
        (rows[k].0.response().0 - worst - rows[k].0.unread.get().unwrap().0).max(0)
    }

    /// The least response times by `Delays`, by number; records are told as they end, or as they start if `by_start`.
    fn least(rows: &[(Record, i64)], by_start: bool) -> Vec<i64> {
        let mut told: Vec<Record> = rows.iter().map(|row| row.0).collect();
        told.sort_by_key(|row| if by_start { row.started.get().unwrap() } else { row.done });
        let mut told = told.into_iter().peekable();
        let (mut delays, mut seen) = (Delays::default(), vec![-1; rows.len()]);
        for (row, _) in rows {
            let start = row.start().unwrap();
            let due =
                |r: &Record| (if by_start { r.started.get().unwrap() } else { r.done }) <= start.started;
            while let Some(row) = told.next_if(due) {
                delays.ended(&row, true);
            }
            delays.started(&start, |ended, least| seen[usize::from(ended.step)] = least.0);
        }
        told.for_each(|row| delays.ended(&row, true));
        delays.finish(|ended, least| seen[usize::from(ended.step)] = least.0);
        seen
    }

    fn numbered(mut rows: Vec<(Record, i64)>) -> Vec<(Record, i64)> {
        rows.iter_mut().enumerate().for_each(|(k, row)| row.0.step = k as u16);
        rows
    }

    proptest! {
        #[test]
        fn the_truth_lies_between_both_ends_and_the_lower_one_is_that_by_hand(
            requests in prop::collection::vec((0i64..2_000, prop_oneof![Just(0i64), 0..100i64, 0..9_000i64],
                1i64..1_500, prop_oneof![Just(0i64), 0..500i64]), 1..120),
            servers in 1usize..4,
        ) {
            let rows = numbered(play(&requests, servers));
            let seen = least(&rows, false);
            prop_assert_eq!(&seen, &least(&rows, true));
            for (k, (row, truth)) in rows.iter().enumerate() {
                prop_assert_eq!(seen[k], by_hand(&rows, k), "request {}", k);
                prop_assert!((seen[k]..=row.response().0).contains(truth), "request {}: {} {}", k, seen[k], truth);
            }
        }
    }

    #[test]
    fn rises_are_bounded_and_then_overstate() {
        // A generator that falls behind by a microsecond a request, before a target that is never idle.
        let n = 3 * MOST_RISES as i64;
        let requests: Vec<Request> = (0..n).map(|k| (10, k, 20, 0)).collect();
        let mut delays = Delays::default();
        let rows = play(&requests, 1);
        for (row, _) in &rows {
            delays.started(&row.start().unwrap(), |_, _| {});
        }
        assert!(delays.rises.len() <= MOST_RISES);
        for (k, (row, _)) in rows.iter().enumerate() {
            let told = delays.delay_at(row.started.get().unwrap().0);
            assert!((1_000 * k as i64..=1_000 * (k as i64 + 64)).contains(&told), "{k}: {told}");
        }
    }

    #[test]
    fn what_was_given_up_keeps_the_delay_alive() {
        let at = Nanos::from_millis;
        let row = |k, due, start, end, outcome| Record {
            started: at(start).into(),
            sent: at(start).into(),
            ..Record::never_started(k, at(due), at(end), outcome)
        };
        for (outcome, least) in [(Outcome::Timeout, 0), (Outcome::Reset, 5)] {
            let rows = [row(0, 0, 7, 10, outcome), row(1, 20, 20, 25, Outcome::Ok)];
            let mut delays = Delays::default();
            let mut seen = Vec::new();
            rows.iter().for_each(|row| delays.ended(row, true));
            rows.iter().for_each(|row| delays.started(&row.start().unwrap(), |_, least| seen.push(least)));
            delays.finish(|_, least| seen.push(least));
            assert_eq!(seen, [at(3), at(least)], "{outcome:?}");
        }
    }
}
