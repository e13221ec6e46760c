//! A service station: c servers, first come first served, computed by next-free times (Kiefer and Wolfowitz 1955).
//!
//! Pure functions of the state, now and the demand: an arrival's departure instant is known when it arrives. The
//! live target, the simulator and the test kit use this one. Stalls are a change of clock: the station works in its
//! own time, which stands still while it is stalled, so that service under way is suspended and not lost.
//!
//! Absent: the service law (the caller draws the demand) and other disciplines.

use crate::time::Nanos;
use crate::units::{UnitError, parse_time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Interruptions of all service: once, or again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stalls {
    /// When the first begins.
    first: Nanos,
    /// From one beginning to the next; MAX if there is only one.
    every: Nanos,
    length: Nanos,
}

impl Stalls {
    /// Interruptions that begin `every` apart and last `length` each: from j x every, j = 1, 2, ... (none at zero).
    ///
    /// # Errors
    /// Unless 0 < length < every.
    pub fn new(every: Nanos, length: Nanos) -> Result<Stalls, UnitError> {
        if Nanos::ZERO < length && length < every {
            Ok(Stalls { first: every, every, length })
        } else {
            Err(UnitError::new(
                &format!("every={every},for={length}"),
                "a stall: its length must be above zero and less than the time between two",
            ))
        }
    }

    /// A single interruption from `at` on.
    ///
    /// # Errors
    /// Unless `at` is not negative and `length` above zero and not endless.
    pub fn once(at: Nanos, length: Nanos) -> Result<Stalls, UnitError> {
        if Nanos::ZERO <= at && Nanos::ZERO < length && length < Nanos::MAX {
            Ok(Stalls { first: at, every: Nanos::MAX, length })
        } else {
            Err(UnitError::new(
                &format!("at={at},for={length}"),
                "a stall: it must begin at zero or later and last some time",
            ))
        }
    }

    /// When it begins and ends, if it is a single one.
    pub fn only(&self) -> Option<(Nanos, Nanos)> {
        (self.every == Nanos::MAX).then(|| (self.first, self.first.saturating_add(self.length)))
    }

    /// Time from one beginning to the next, if there are several; the first begins after that time too.
    pub fn every(&self) -> Option<Nanos> {
        (self.every != Nanos::MAX).then_some(self.every)
    }

    /// Reads `every=10s,for=1s` or `at=20s,for=2s`.
    ///
    /// # Errors
    /// A part that is missing or there twice, both `at` and `every`, an unreadable time, or a length that does not fit.
    pub fn parse(text: &str) -> Result<Stalls, UnitError> {
        let bad = || UnitError::new(text, "a stall: write for example every=10s,for=1s or at=20s,for=2s");
        let (mut every, mut at, mut length) = (None, None, None);
        for part in text.split(',') {
            let (name, time) = part.trim().split_once('=').ok_or_else(bad)?;
            let place = match name.trim() {
                "every" => &mut every,
                "at" => &mut at,
                "for" => &mut length,
                _ => return Err(bad()),
            };
            if place.replace(parse_time(time)?).is_some() {
                return Err(bad());
            }
        }
        match (every, at, length) {
            (Some(every), None, Some(length)) => Stalls::new(every, length),
            (None, Some(at), Some(length)) => Stalls::once(at, length),
            _ => Err(bad()),
        }
    }

    /// Time worked by instant `at` >= 0.
    #[must_use]
    pub fn worked(self, at: Nanos) -> Nanos {
        if at <= self.first {
            return at;
        }
        let since = at.0 - self.first.0;
        let (whole, into) = (since / self.every.0, since % self.every.0);
        Nanos(at.0 - whole * self.length.0 - into.min(self.length.0))
    }

    /// The first instant by which `worked` time has been worked.
    #[must_use]
    pub fn instant(self, worked: Nanos) -> Nanos {
        if worked <= self.first {
            return worked;
        }
        // Work that ends just as a stall begins is not held up by it.
        let (per, beyond) = (self.every.0 - self.length.0, worked.0 - self.first.0);
        let stalls = (beyond - 1) / per + 1;
        worked.saturating_add(Nanos(stalls.saturating_mul(self.length.0)))
    }
}

/// What became of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It leaves, served, at this instant.
    Departs(Nanos),
    /// The queue was full: it is turned away at once.
    Rejected,
}

/// When each server is next free, in the station's own time.
#[derive(Clone, Debug)]
enum Free {
    /// The only one.
    One(Nanos),
    /// The earliest on top.
    Several(BinaryHeap<Reverse<Nanos>>),
}

/// The state of a station.
#[derive(Clone, Debug)]
pub struct Station {
    free: Free,
    bounds: Option<Box<Bounds>>,
}

/// Optional properties of a station.
#[derive(Clone, Debug)]
struct Bounds {
    /// When those now waiting begin service, in the station's own time, in order.
    waiting: VecDeque<Nanos>,
    queue_limit: Option<usize>,
    stalls: Option<Stalls>,
}

impl Station {
    /// A station of `servers` (at least 1) idle servers. `queue_limit`: how many may wait, not counting those in
    /// service; none is no limit.
    pub fn new(servers: u32, queue_limit: Option<usize>, stalls: Option<Stalls>) -> Station {
        let never = Nanos(i64::MIN);
        let free = match servers {
            0 | 1 => Free::One(never),
            _ => Free::Several((0..servers).map(|_| Reverse(never)).collect()),
        };
        let bounded = queue_limit.is_some() || stalls.is_some();
        let bounds = bounded.then(|| Box::new(Bounds { waiting: VecDeque::new(), queue_limit, stalls }));
        Station { free, bounds }
    }

    /// An arrival at `now` that needs `demand` of one server. Calls come in the order of time; `now` is not negative.
    #[inline(always)]
    pub fn arrive(&mut self, now: Nanos, demand: Nanos) -> Admission {
        match &mut self.bounds {
            None => Admission::Departs(self.free.serve(now, demand)),
            Some(bounds) => bounds.arrive(&mut self.free, now, demand),
        }
    }
}

impl Free {
    /// The server that is free first serves a request that arrives at `own`: when that is done.
    #[inline(always)]
    fn serve(&mut self, own: Nanos, demand: Nanos) -> Nanos {
        match self {
            Free::One(free) => {
                *free = (*free).max(own).saturating_add(demand);
                *free
            }
            Free::Several(free) => {
                let Some(mut first) = free.peek_mut() else { return own.saturating_add(demand) };
                first.0 = first.0.max(own).saturating_add(demand);
                first.0
            }
        }
    }

    /// When a server is free, for a request that arrives at `own`.
    fn next(&self, own: Nanos) -> Nanos {
        match self {
            Free::One(free) => *free,
            Free::Several(free) => free.peek().map_or(own, |first| first.0),
        }
    }
}

impl Bounds {
    /// [`Station::arrive`] with them.
    fn arrive(&mut self, free: &mut Free, now: Nanos, demand: Nanos) -> Admission {
        let own = self.stalls.map_or(now, |s| s.worked(now));
        if let Some(limit) = self.queue_limit
            && !self.admits(own, free.next(own), limit)
        {
            return Admission::Rejected;
        }
        let departs = free.serve(own, demand);
        Admission::Departs(self.stalls.map_or(departs, |s| s.instant(departs)))
    }

    /// Whether a request that arrives at `own`, and begins service when a server is free, finds room in a queue of that limit; if so, and
    /// it has to wait, it does.
    fn admits(&mut self, own: Nanos, free: Nanos, limit: usize) -> bool {
        while self.waiting.front().is_some_and(|&begins| begins <= own) {
            self.waiting.pop_front();
        }
        if free > own {
            if self.waiting.len() >= limit {
                return false;
            }
            self.waiting.push_back(free);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stream, streams};
    use crate::special::exponential;

    fn departures(station: &mut Station, arrivals: &[(i64, i64)]) -> Vec<Option<i64>> {
        arrivals
            .iter()
            .map(|&(at, demand)| match station.arrive(Nanos(at), Nanos(demand)) {
                Admission::Departs(at) => Some(at.0),
                Admission::Rejected => None,
            })
            .collect()
    }

    /// They come by the hundred thousand.
    #[test]
    fn a_single_server_is_small() {
        assert!(size_of::<Station>() <= 32, "{}", size_of::<Station>());
    }

    #[test]
    fn servers_are_taken_in_the_order_they_come_free() {
        let mut two = Station::new(2, None, None);
        let got = departures(&mut two, &[(0, 10), (1, 3), (2, 5), (3, 1), (20, 7)]);
        assert_eq!(got, [10, 4, 9, 10, 27].map(Some));
    }

    #[test]
    fn a_full_queue_turns_away_and_empties_with_time() {
        let mut one = Station::new(1, Some(1), None);
        let got = departures(&mut one, &[(0, 10), (1, 10), (2, 10), (10, 10), (11, 10)]);
        assert_eq!(got, [Some(10), Some(20), None, Some(30), None]);
        let mut none = Station::new(1, Some(0), None);
        assert_eq!(departures(&mut none, &[(0, 10), (9, 1), (10, 1)]), [Some(10), None, Some(11)]);
    }

    #[test]
    fn a_stall_suspends_service_under_way() {
        let stalls = Some(Stalls::parse("every=100ns,for=10ns").unwrap());
        let mut one = Station::new(1, None, stalls);
        // In service when the stall begins at 100: 5 left, done at 115. The next waits; then one that ends just as
        // the second stall begins; then one inside it.
        let got = departures(&mut one, &[(95, 10), (101, 10), (150, 50), (204, 1), (250, 100)]);
        assert_eq!(got, [Some(115), Some(125), Some(200), Some(211), Some(360)]);
    }

    #[test]
    fn a_single_stall_happens_once() {
        let mut one = Station::new(1, None, Some(Stalls::parse("at=100ns, for=50ns").unwrap()));
        // Before it, across its beginning, inside it, after it.
        let got = departures(&mut one, &[(0, 10), (95, 10), (120, 10), (400, 10), (1_000_000, 10)]);
        assert_eq!(got, [10, 155, 165, 410, 1_000_010].map(Some));
        let mut from_the_start = Station::new(1, None, Some(Stalls::once(Nanos(0), Nanos(7)).unwrap()));
        assert_eq!(departures(&mut from_the_start, &[(0, 1), (20, 1)]), [8, 21].map(Some));
    }

    #[test]
    fn the_two_clocks_of_a_stall_are_inverse() {
        let stalls = [Stalls::new(Nanos(100), Nanos(30)), Stalls::once(Nanos(100), Nanos(300))];
        for stalls in stalls.map(Result::unwrap) {
            for w in 0..2_000 {
                let at = stalls.instant(Nanos(w));
                assert_eq!(stalls.worked(at), Nanos(w));
                assert!(
                    at == Nanos::ZERO || stalls.worked(at - Nanos(1)) < Nanos(w),
                    "{w} is worked before {at}"
                );
            }
        }
    }

    #[test]
    fn a_stall_that_cannot_be_is_refused() {
        for bad in [
            "every=1s,for=2s",
            "every=1s",
            "at=1s",
            "for=1s",
            "at=1s,every=5s,for=1s",
            "every=5s,every=6s,for=1s",
            "at=1s,for=0s",
            "at=1s,lasting=2s",
        ] {
            let error = Stalls::parse(bad).unwrap_err();
            assert!(error.wanted.starts_with("a stall"), "{bad}: {error}");
        }
    }

    /// M/M/1 and M/M/2 at rho 0.8: mean sojourn 5 and 2.7778 mean services (Erlang C). The tolerance is 4 standard
    /// errors from 50 batch means.
    #[test]
    fn markov_queues_have_their_sojourn_times() {
        for (servers, truth) in [(1, 5.0), (2, 1.0 / (1.0 - 0.64))] {
            let mut station = Station::new(servers, None, None);
            let (gap, service) = (Stream::new(3, streams::GAP), Stream::new(3, streams::SERVICE));
            let (mut now, mut batches) = (0.0, Vec::new());
            let rate = 0.8 * f64::from(servers);
            for b in 0..50 {
                let mut sum = 0.0;
                for i in 0..20_000 {
                    let k = b * 20_000 + i;
                    now += exponential(&mut gap.item(k)) / rate;
                    let (at, demand) =
                        (Nanos::from_secs_f64(now), Nanos::from_secs_f64(exponential(&mut service.item(k))));
                    let Admission::Departs(departs) = station.arrive(at, demand) else { panic!() };
                    sum += (departs - at).as_secs_f64();
                }
                batches.push(sum / 20_000.0);
            }
            let mean = batches.iter().sum::<f64>() / 50.0;
            let sd = (batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 49.0).sqrt();
            assert!((mean - truth).abs() < 4.0 * sd / 50f64.sqrt(), "{servers}: {mean} against {truth}");
        }
    }
}
