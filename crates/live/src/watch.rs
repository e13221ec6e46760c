//! The generator observes itself: where each worker's time went, and when it was held up.

use crate::address::Address;
use crate::departures::Departures;
use crate::reasons::FailureReasons;
use crate::wait::Wakeups;
use headway_base::{Nanos, Outcome};
use headway_wire::Tally;
use headway_workload::content::Lengths;
use std::collections::BTreeMap;

/// A hold-up longer than this is written down.
pub const STALL: Nanos = Nanos::from_millis(1);

/// Most stalls written down per worker; further ones are only counted.
const MOST_STALLS: usize = 10_000;

/// Addresses by which connections are counted, at most.
pub const MOST_PLACES: usize = 64;

/// What a worker was doing when it was held up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// Handling what had happened, or sending.
    Handling,
    /// Looking whether anything had happened, while waiting for the next due instant.
    Polling,
    /// Sleeping: it was woken that much late.
    Sleeping,
}

/// A stretch of time in which a worker could not do its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stall {
    /// When it began, since the plan's zero.
    pub at: Nanos,
    /// How long it lasted.
    pub length: Nanos,
    /// What the worker was doing.
    pub doing: Doing,
}

/// What one worker says of itself.
#[derive(Clone, Debug, Default)]
pub struct WorkerReport {
    /// How often the system said that a datagram met a port at which nothing listens (ICMP) while none was under way that waits for an answer.
    pub unreachable: u64,
    /// Time spent handling events and sending.
    pub handling: Nanos,
    /// Time spent looking for events with nothing to do, to be on time.
    pub polling: Nanos,
    /// Time spent asleep.
    pub sleeping: Nanos,
    /// Time ready to run but without a core; none where the system does not say.
    pub runqueue_wait: Option<Nanos>,
    /// Time on a core; none where the system does not say.
    pub processor: Option<Nanos>,
    /// How it was woken.
    pub wakeups: Wakeups,
    /// Hold-ups of more than a millisecond, in order.
    pub stalls: Vec<Stall>,
    /// Hold-ups beyond those written down.
    pub stalls_omitted: u64,
    /// Requests sent on open connections, and the time that took: their quotient is the cost of one send.
    pub sends: u64,
    /// See `sends`.
    pub send_time: Nanos,
    /// Connections opened.
    pub connections: u64,
    /// The same by where they went to, where their name is read again: the first [`MOST_PLACES`] addresses.
    pub places: BTreeMap<Address, u64>,
    /// Of these, how many were of no more use since bytes came on them that no request had asked for.
    pub surplus: u64,
    /// Of those that were established, how many spoke which protocol, by its name.
    pub spoke: BTreeMap<&'static str, u64>,
    /// Requests that were not sent for want of something on this machine, by what it was.
    pub lacked: BTreeMap<&'static str, u64>,
    /// How long requests stayed in this machine after they were handed to the kernel.
    pub departures: Departures,
    /// Why requests failed.
    pub reasons: FailureReasons,
    /// Requests whose time was over, by how they ended and by the number of the origin that they went to; without those of which `reasons`
    /// says more.
    pub given_up: BTreeMap<(Outcome, u16), u64>,
    /// Datagrams that were no answer, or came out of turn.
    pub tally: Tally,
    /// The same by the second since the plan's zero in which it was noticed.
    pub tallies: Vec<Tally>,
    /// When the worker joined a plan that had begun; none: it was there at its zero.
    pub joined: Option<Nanos>,
    /// Arrivals that had fallen due by then.
    pub missed: u64,
    /// Bodies that were decoded, and how long they were in all.
    pub decoded: (u64, Lengths),
}

impl WorkerReport {
    /// Counts a connection that speaks that protocol.
    pub(crate) fn spoke(&mut self, protocol: &'static str) {
        *self.spoke.entry(protocol).or_insert(0) += 1;
    }

    /// Of all that has been counted until now, what is new came in this second.
    pub(crate) fn tallied(&mut self, all: Tally, now: Nanos) {
        let second = (now.0.max(0) / 1_000_000_000) as usize;
        let new = all.since(self.tally);
        if new != Tally::default() {
            if self.tallies.len() <= second {
                self.tallies.resize(second + 1, Tally::default());
            }
            self.tallies[second].add(new);
            self.tally = all;
        }
    }

    /// Counts a body that was decoded.
    pub(crate) fn decoded(&mut self, body: Lengths) {
        let (n, all) = &mut self.decoded;
        *n += 1;
        all.encoded = all.encoded.saturating_add(body.encoded);
        all.decoded = all.decoded.saturating_add(body.decoded);
    }

    /// The mean cost of one send on an open connection, if there were any.
    pub fn send_cost(&self) -> Option<Nanos> {
        (self.sends > 0).then(|| Nanos(self.send_time.0 / self.sends as i64))
    }

    /// From `from` to `to` the worker was `doing` that; at most `meant` of it was meant to pass. By how much it was more.
    #[inline]
    pub(crate) fn lap(&mut self, doing: Doing, from: Nanos, to: Nanos, meant: Nanos) -> Nanos {
        let length = to - from;
        match doing {
            Doing::Handling => self.handling += length,
            Doing::Polling => self.polling += length,
            Doing::Sleeping => self.sleeping += length,
        }
        let over = length - meant;
        if over > STALL {
            self.stall(Stall { at: to - over, length: over, doing });
        }
        over
    }

    #[cold]
    fn stall(&mut self, stall: Stall) {
        if self.stalls.len() < MOST_STALLS {
            self.stalls.push(stall);
        } else {
            self.stalls_omitted += 1;
        }
    }

    /// Counts a connection to that address.
    pub(crate) fn went_to(&mut self, address: &Address) {
        if let Some(n) = self.places.get_mut(address) {
            *n += 1;
        } else if self.places.len() < MOST_PLACES {
            self.places.insert(address.clone(), 1);
        }
    }

    /// Counts a request that was not sent for want of that.
    #[cold]
    pub(crate) fn lack(&mut self, what: &'static str) {
        *self.lacked.entry(what).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_meant_to_pass_is_a_stall() {
        let (ms, zero) = (Nanos::from_millis, Nanos::ZERO);
        let mut report = WorkerReport::default();
        report.lap(Doing::Sleeping, ms(0), ms(10), ms(10));
        report.lap(Doing::Handling, ms(10), ms(11), zero);
        assert_eq!(report.stalls, []);
        report.lap(Doing::Sleeping, ms(11), ms(516), ms(5));
        assert_eq!(report.stalls, [Stall { at: ms(16), length: ms(500), doing: Doing::Sleeping }]);
        assert_eq!((report.sleeping, report.handling), (ms(515), ms(1)));
    }
}
