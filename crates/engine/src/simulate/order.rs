//! Response times in the order in which their requests started, which is that in which they were due wherever no connection
//! cap holds anybody back. A simulation tells of requests in the order in which they end; the warm-up and the dependence
//! of neighbours are about who came after whom.
//!
//! What is held is what started after the oldest request that has not ended: as much as is in flight, or comes in while
//! one of them waits for its timeout.

use headway_base::{Nanos, Outcome, Record, Start};
use headway_stats::summary::UNCONNECTED;
use std::collections::VecDeque;

/// How much a response time tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum How {
    /// The request ended well.
    #[default]
    Well = 0,
    /// It was answered, and not well: its response time is known as well.
    Answered = 1,
    /// There was no answer: it would have taken at least as long as it was waited for.
    Censored = 2,
}

impl From<Outcome> for How {
    fn from(outcome: Outcome) -> How {
        match outcome {
            Outcome::Ok => How::Well,
            outcome if outcome.answered() => How::Answered,
            _ => How::Censored,
        }
    }
}

/// What is known of a request that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ended {
    /// When it was due.
    pub due: Nanos,
    /// When its session was: by this it counts to a phase.
    pub arrived: Nanos,
    /// How long it took from then on.
    pub response: Nanos,
    /// How it ended.
    pub how: How,
    /// Whether it had an established connection.
    pub connected: bool,
}

impl From<&Record> for Ended {
    fn from(record: &Record) -> Ended {
        Ended {
            due: record.intended,
            arrived: record.arrived,
            response: record.response(),
            how: How::from(record.outcome),
            connected: !UNCONNECTED.contains(&record.outcome),
        }
    }
}

/// Puts requests back in the order in which they started.
#[derive(Clone, Debug, Default)]
pub struct InOrder<T = Ended> {
    /// Those that started at one instant, in the order of time.
    instants: VecDeque<Instant>,
    /// A place for each request of these instants.
    places: VecDeque<T>,
    /// Places that have been handed on so far.
    gone: u64,
}

/// Requests that started at the same time: which of them is first is nobody's matter.
#[derive(Clone, Copy, Debug)]
struct Instant {
    at: Nanos,
    /// Their first place, counted from the beginning of the run.
    from: u64,
    /// How many there are.
    started: u32,
    /// How many of them have ended.
    ended: u32,
}

impl<T: Clone + Default> InOrder<T> {
    /// A request started; calls come in the order of time.
    #[inline]
    pub fn start(&mut self, start: &Start) {
        let from = self.gone + self.places.len() as u64;
        self.places.push_back(T::default());
        match self.instants.back_mut() {
            Some(last) if last.at == start.started => last.started += 1,
            _ => self.instants.push_back(Instant { at: start.started, from, started: 1, ended: 0 }),
        }
    }

    /// A request ended; hands on, in order, all that no earlier one holds up any longer. One that never started is handed on
    /// at once.
    #[inline]
    pub fn record(&mut self, record: &Record, next: impl FnMut(T))
    where
        T: for<'a> From<&'a Record>,
    {
        self.put(record, T::from(record), next);
    }

    /// The same of what else is known of the request.
    #[inline]
    pub fn put(&mut self, record: &Record, ended: T, mut next: impl FnMut(T)) {
        let Some(started) = record.started.get() else {
            (0..record.count).for_each(|_| next(ended.clone()));
            return;
        };
        // A recursion tells of each request's end right after its start.
        if self.places.len() == 1 && self.instants.front().is_some_and(|only| only.at == started) {
            self.gone += 1;
            self.places.pop_front();
            self.instants.pop_front();
            return next(ended);
        }
        // Most often it is the oldest or the newest that ends.
        let instants = &self.instants;
        let index = match (instants.front(), instants.back()) {
            (Some(first), _) if first.at == started => 0,
            (_, Some(last)) if last.at == started => instants.len() - 1,
            _ => instants.partition_point(|instant| instant.at < started),
        };
        match self.instants.get_mut(index).filter(|i| i.at == started && i.ended < i.started) {
            Some(instant) => {
                let place = instant.from + u64::from(instant.ended) - self.gone;
                instant.ended += 1;
                self.places[place as usize] = ended;
            }
            // Nobody told of its start.
            None => return next(ended),
        }
        while let Some(first) = self.instants.front()
            && first.ended == first.started
        {
            let n = first.started;
            self.gone += u64::from(n);
            self.places.drain(..n as usize).for_each(&mut next);
            self.instants.pop_front();
        }
    }

    /// Requests that are held.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Outcome, Stamp};

    fn record(k: u64, started: i64, done: i64) -> Record {
        let at = Nanos(started);
        Record { started: Stamp::from(at), ..Record::never_started(k, at, Nanos(done), Outcome::Ok) }
    }

    fn start(at: i64) -> Start {
        Start::arrival(Nanos(at), Nanos(at), 0)
    }

    #[test]
    fn those_that_end_early_wait_for_those_that_started_before() {
        let (mut order, mut seen) = (InOrder::<Ended>::default(), Vec::new());
        [1, 2, 2, 3].iter().for_each(|&at| order.start(&start(at)));
        let mut end = |order: &mut InOrder, started, done| {
            order.record(&record(0, started, done), |ended| seen.push((ended.due.0, ended.response.0)));
        };
        end(&mut order, 3, 4);
        end(&mut order, 2, 7);
        end(&mut order, 1, 8);
        assert_eq!(order.held(), 3, "one of the two of instant 2 is missing");
        order.start(&start(9));
        end(&mut order, 2, 12);
        end(&mut order, 9, 13);
        assert_eq!(order.held(), 0);
        assert_eq!(seen, [(1, 7), (2, 5), (2, 10), (3, 1), (9, 4)]);
    }

    #[test]
    fn what_never_started_or_was_never_told_of_holds_nobody_up() {
        let (mut order, mut seen) = (InOrder::<Ended>::default(), Vec::new());
        order.start(&start(5));
        let shed = Record { count: 3, ..Record::never_started(7, Nanos(4), Nanos(6), Outcome::Shed) };
        order.record(&shed, |ended| seen.push(ended.due.0));
        order.record(&record(8, 2, 6), |ended| seen.push(ended.due.0));
        order.record(&record(9, 5, 6), |ended| seen.push(ended.due.0));
        assert_eq!(seen, [4, 4, 4, 2, 5]);
    }

    /// A queue first come, first served with any mixture of lengths: all come out, in order, and no more is held than is in
    /// flight.
    #[test]
    fn nothing_is_lost() {
        let mut draws = headway_base::random::Stream::new(1, "test").item(0);
        let mut flights: Vec<(i64, i64)> =
            (0..2_000i64).map(|k| (k / 3 * 10, k / 3 * 10 + 1 + (draws.open01() * 500.0) as i64)).collect();
        let (mut order, mut seen) = (InOrder::<Ended>::default(), Vec::new());
        let mut due = flights.clone().into_iter().peekable();
        flights.sort_by_key(|&(_, done)| done);
        for (started, done) in flights {
            while let Some((at, _)) = due.next_if(|&(at, _)| at <= done) {
                order.start(&start(at));
            }
            order.record(&record(0, started, done), |ended| seen.push(ended.due.0));
            assert!(order.held() <= 3 * 60);
        }
        assert_eq!(seen.len(), 2_000);
        assert!(seen.is_sorted());
    }
}
