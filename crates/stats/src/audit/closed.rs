//! What the records of another tool tell of a closed load: requests in flight, think times, and what follows from them by
//! Little's law.
//!
//! Deliberately absent: any judgement of them.

use super::threads::Threads;
use crate::little;
use crate::moments::Sums;
use crate::summary::{Closed, NotComputed, Pages, Why};
use headway_base::{Nanos, Record};
use headway_redact::Cleared;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// "All" users wait when this share of them does.
const NEARLY_ALL: f64 = 0.95;

/// Different ends that are kept: 16 MB.
const MOST_ENDS: usize = 1 << 20;
/// Levels that are told apart: no audit tells more users apart.
const MOST_LEVELS: u64 = 2_000_000;

/// Follows the requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// Ends of those in flight, and how many end then; few enough, however many there are.
    ends: BinaryHeap<Reverse<(i64, u64)>>,
    /// Ends are rounded up to multiples of this.
    grain: i64,
    /// How many are in flight, and how many were at most.
    level: u64,
    most: u64,
    /// Time spent with so many requests in flight, in nanoseconds; the last counts more of them too.
    time_at: Vec<u64>,
    last: Option<i64>,
    response: Sums,
    pages: Option<Box<PagesKept>>,
}

/// Requests that the user calls pages.
#[derive(Debug)]
struct PagesKept {
    /// By label, whether its requests are pages.
    is_page: Vec<bool>,
    labels: Vec<Cleared>,
    response: Sums,
}

impl InFlight {
    /// Of labels of which those are pages.
    pub fn with_pages(labels: &[Cleared], pages: &[Cleared]) -> InFlight {
        let is_page = labels.iter().map(|label| pages.contains(label)).collect();
        let kept = || PagesKept { is_page, labels: pages.to_vec(), response: Sums::default() };
        InFlight { pages: (!pages.is_empty()).then(|| Box::new(kept())), ..InFlight::default() }
    }

    /// Takes a request, in the order of starts.
    #[inline]
    pub fn push(&mut self, started: Nanos, record: &Record) {
        let (at, done) = (started.0, record.done.0);
        let response = record.response().0.max(0) as u64;
        self.response.push(response, 1);
        if let Some(pages) = &mut self.pages
            && pages.is_page.get(usize::from(record.step)) == Some(&true)
        {
            pages.response.push(response, 1);
        }
        while let Some(&Reverse((end, n))) = self.ends.peek().filter(|end| end.0.0 <= at) {
            self.pass(end);
            self.ends.pop();
            self.level -= n;
        }
        self.pass(at);
        self.ends.push(Reverse((self.rounded(done.max(at)), 1)));
        self.level += 1;
        self.most = self.most.max(self.level);
        if self.ends.len() > MOST_ENDS {
            self.gather();
        }
    }

    /// The end on the grain, not before it.
    #[inline]
    fn rounded(&self, end: i64) -> i64 {
        if self.grain <= 1 {
            end
        } else {
            end.saturating_add(self.grain - 1).div_euclid(self.grain) * self.grain
        }
    }

    /// Counts ends of one instant together, with instants so coarse that half of the room is free.
    #[cold]
    fn gather(&mut self) {
        let mut ends: Vec<(i64, u64)> = std::mem::take(&mut self.ends).into_iter().map(|end| end.0).collect();
        loop {
            ends.iter_mut().for_each(|end| end.0 = self.rounded(end.0));
            ends.sort_unstable();
            ends.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
            if ends.len() <= MOST_ENDS / 2 {
                break;
            }
            self.grain = 2 * self.grain.max(1);
        }
        self.ends = ends.into_iter().map(Reverse).collect();
    }

    /// Time goes on with as many in flight as there are.
    #[inline]
    fn pass(&mut self, until: i64) {
        let level = self.level.min(MOST_LEVELS) as usize;
        if level >= self.time_at.len() {
            self.time_at.resize(level + 1, 0);
        }
        let last = self.last.unwrap_or(until).min(until);
        self.time_at[level] += (until - last) as u64;
        self.last = Some(self.last.map_or(until, |last| last.max(until)));
    }

    /// Most requests in flight at once.
    fn most(&self) -> u64 {
        self.most
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
        not_computed: &mut NotComputed,
    ) -> Closed {
        let response = self.response.mean().map(|r| r / 1e9);
        let seconds = rate.map(|rate| self.response.n as f64 / rate);
        let pages = self.pages.as_ref().and_then(|pages| {
            let (rate, response) = (pages.response.n as f64 / seconds?, pages.response.mean()? / 1e9);
            let supported = little::supported(rate, response);
            Some(Pages { labels: pages.labels.clone(), n: pages.response.n, rate, response, supported })
        });
        let mut closed = Closed {
            pages,
            n: self.response.n,
            response,
            in_flight_max: (self.response.n > 0).then(|| self.most()),
            ..Closed::default()
        };
        let Some(threads) = threads else {
            not_computed.insert("closed.users".into(), Why::UsersNotNamed.into());
            return closed;
        };
        if let Err(reason) = threads.one_at_a_time() {
            for path in ["closed.users", "closed.think"] {
                not_computed.insert(path.into(), reason.clone().into());
            }
            return closed;
        }
        let users = threads.users() as f64;
        closed.users = Some(users);
        // Responses shorter than the stamps resolve all seem to begin together.
        if self.response.mean().is_some_and(|r| r >= 2.0 * threads.grid() as f64) {
            closed.all_waiting = self.share_at_least(NEARLY_ALL * users);
        } else {
            not_computed.insert("closed.all_waiting".into(), Why::ShortResponses.into());
        }
        let rate = rate.filter(|_| self.response.n >= little::FEWEST);
        if rate.is_none() {
            let reason = Why::FewRequests { needed: little::FEWEST, n: self.response.n };
            not_computed.insert("closed.n_little".into(), reason.into());
        }
        match threads.think() {
            Ok(think) => {
                closed.think_n = think.n;
                (closed.think, closed.think_recovered, closed.think_sd) = (think.mean, think.mean, think.sd);
                (closed.think_min, closed.think_max) = (think.min, think.max);
            }
            Err(reason) => {
                not_computed.insert("closed.think".into(), reason.into());
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
    use headway_base::Outcome;

    /// More in flight at one instant than ends are kept: what is told is the same, and nothing grows.
    #[test]
    fn however_many_are_in_flight_few_ends_are_kept() {
        let n = 3 * MOST_ENDS as i64;
        let mut flight = InFlight::default();
        for i in 0..n {
            // All different, up to 3 s after.
            let done = Nanos::from_secs(1) + Nanos(1_000 * ((i * 7_919) % n));
            flight.push(
                Nanos::ZERO,
                &Record {
                    started: Nanos::ZERO.into(),
                    ..Record::never_started(0, Nanos::ZERO, done, Outcome::Ok)
                },
            );
        }
        assert!(flight.ends.len() <= MOST_ENDS && flight.ends.capacity() <= 4 * MOST_ENDS);
        let last = Nanos::from_secs(8);
        flight.push(
            last,
            &Record { started: last.into(), ..Record::never_started(0, last, last, Outcome::Ok) },
        );
        assert_eq!((flight.most(), flight.time_at.len() as u64), (n as u64, MOST_LEVELS + 1));
        // All are there for a second, and then fewer by and by until 1 s + n us: half of them for half of that.
        let all = 8e9;
        let half = (1e9 + 500.0 * n as f64) / all;
        let got = flight.share_at_least(n as f64 / 2.0).unwrap();
        assert!((got - half).abs() < 1e-4, "{got} {half}");
    }

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
        let mut not_computed = NotComputed::new();
        let closed = flight.closed(None, Some(0.4), &mut not_computed);
        assert_eq!((closed.n, closed.response, closed.in_flight_max), (4, Some(25.25), Some(2)));
        assert!(closed.users.is_none() && not_computed.contains_key("closed.users"));
    }
}
