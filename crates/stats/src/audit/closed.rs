//! What the records of another tool tell of a closed load: requests in flight, think times, and what follows from them by
//! Little's law.
//!
//! Deliberately absent: any judgement of them.

use super::threads::Threads;
use crate::little;
use crate::moments::Sums;
use crate::summary::Closed;
use base::{Nanos, Record};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// "All" users wait when this share of them does.
const NEARLY_ALL: f64 = 0.95;

/// Follows the requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    ends: BinaryHeap<Reverse<i64>>,
    /// Time spent with so many requests in flight, in nanoseconds.
    time_at: Vec<u64>,
    last: Option<i64>,
    response: Sums,
}

impl InFlight {
    /// Takes a request, in the order of starts.
    #[inline]
    pub fn push(&mut self, started: Nanos, record: &Record) {
        let (at, done) = (started.0, record.done.0);
        self.response.push(record.response().0.max(0) as u64, 1);
        while let Some(&Reverse(end)) = self.ends.peek().filter(|end| end.0 <= at) {
            self.pass(end);
            self.ends.pop();
        }
        self.pass(at);
        self.ends.push(Reverse(done.max(at)));
    }

    /// Time goes on with as many in flight as there are.
    #[inline]
    fn pass(&mut self, until: i64) {
        let level = self.ends.len();
        if level >= self.time_at.len() {
            self.time_at.resize(level + 1, 0);
        }
        let last = self.last.unwrap_or(until).min(until);
        self.time_at[level] += (until - last) as u64;
        self.last = Some(self.last.map_or(until, |last| last.max(until)));
    }

    /// Most requests in flight at once.
    fn most(&self) -> u64 {
        // The last request was pushed after the last look.
        (self.time_at.len().saturating_sub(1)).max(self.ends.len()) as u64
    }

    /// Share of the time between the first and the last start with at least so many in flight.
    fn share_at_least(&self, level: f64) -> Option<f64> {
        let all: u64 = self.time_at.iter().sum();
        let above: u64 =
            (0u64..).zip(&self.time_at).filter(|&(l, _)| l as f64 >= level).map(|(_, t)| t).sum();
        (all > 0).then(|| above as f64 / all as f64)
    }

    /// The block; `rate` is that of the requests. What is null is noted.
    pub fn closed(
        &self,
        threads: Option<&Threads>,
        rate: Option<f64>,
        not_computed: &mut BTreeMap<String, String>,
    ) -> Closed {
        let response = self.response.mean().map(|r| r / 1e9);
        let mut closed = Closed {
            n: self.response.n,
            response,
            in_flight_max: (self.response.n > 0).then(|| self.most()),
            ..Closed::default()
        };
        let Some(threads) = threads else {
            not_computed.insert("closed.users".into(), "the file does not name users".into());
            return closed;
        };
        if let Err(reason) = threads.one_at_a_time() {
            for path in ["closed.users", "closed.think"] {
                not_computed.insert(path.into(), reason.clone());
            }
            return closed;
        }
        let users = threads.users() as f64;
        closed.users = Some(users);
        closed.all_waiting = self.share_at_least(NEARLY_ALL * users);
        let rate = rate.filter(|_| self.response.n >= little::FEWEST);
        if rate.is_none() {
            let reason = format!("fewer than {} requests (n = {})", little::FEWEST, self.response.n);
            not_computed.insert("closed.n_little".into(), reason);
        }
        match threads.think() {
            Ok(think) => {
                closed.think_n = think.n;
                (closed.think, closed.think_recovered, closed.think_sd) = (think.mean, think.mean, think.sd);
                (closed.think_min, closed.think_max) = (think.min, think.max);
            }
            Err(reason) => {
                not_computed.insert("closed.think".into(), reason);
            }
        }
        let think = closed.think;
        little::fill(&mut closed, rate, think);
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Outcome;

    #[test]
    fn time_is_told_by_how_many_are_in_flight() {
        let mut flight = InFlight::default();
        // Two in flight from 1 to 3 s, one from 0 to 1 and from 3 to 4, none from 4 to 6, one from 6 to 10.
        for (at, done) in [(0, 3), (1, 4), (6, 100), (10, 11)] {
            let (at, done) = (Nanos::from_secs(at), Nanos::from_secs(done));
            flight
                .push(at, &Record { started: at.into(), ..Record::never_started(0, at, done, Outcome::Ok) });
        }
        assert_eq!(flight.most(), 2);
        assert_eq!(flight.share_at_least(1.0), Some(0.8));
        assert_eq!(flight.share_at_least(2.0), Some(0.2));
        let mut not_computed = BTreeMap::new();
        let closed = flight.closed(None, Some(0.4), &mut not_computed);
        assert_eq!((closed.n, closed.response, closed.in_flight_max), (4, Some(25.25), Some(2)));
        assert!(closed.users.is_none() && not_computed.contains_key("closed.users"));
    }
}
