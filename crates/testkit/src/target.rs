//! What stands at the other end of a virtual connection.

use base::dist::{Dist, Law};
use base::random::{Stream, streams};
use base::station::{Admission, Station};
use base::{Nanos, Outcome};

/// How an attempt to connect goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connect {
    /// Established after this long.
    After(Nanos),
    /// Fails after this long.
    Fails(Nanos, Outcome),
    /// Nothing ever comes back.
    Silence,
}

/// How a request is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The first byte after `first_byte`, the rest after `done`.
    Comes {
        /// Until the first byte, from the request.
        first_byte: Nanos,
        /// Until the last, from the request.
        done: Nanos,
        /// How it ends.
        outcome: Outcome,
        /// Its status code.
        status: u16,
        /// Whether the connection may serve again.
        reusable: bool,
    },
    /// Nothing ever comes back.
    Silence,
}

impl Answer {
    /// A 200 that comes whole after that long.
    pub const fn ok(after: Nanos) -> Answer {
        Answer::Comes { first_byte: after, done: after, outcome: Outcome::Ok, status: 200, reusable: true }
    }
}

/// The other end.
pub trait Target {
    /// Somebody connects at `now`.
    fn connect(&mut self, now: Nanos) -> Connect {
        let _ = now;
        Connect::After(Nanos::ZERO)
    }
    /// Request number `n` (from 0, in order of arrival) comes at `now`.
    fn request(&mut self, now: Nanos, n: u64) -> Answer;
}

/// A target that two functions script.
pub struct Scripted<C, R> {
    /// Answers [`Target::connect`].
    pub connect: C,
    /// Answers [`Target::request`].
    pub request: R,
}

impl<C: FnMut(Nanos) -> Connect, R: FnMut(Nanos, u64) -> Answer> Target for Scripted<C, R> {
    fn connect(&mut self, now: Nanos) -> Connect {
        (self.connect)(now)
    }
    fn request(&mut self, now: Nanos, n: u64) -> Answer {
        (self.request)(now, n)
    }
}

/// A service station with a law: the calibrated target, without its sockets.
pub struct StationTarget {
    station: Station,
    service: Dist,
    draws: Stream,
}

impl StationTarget {
    /// That station, with demands of that law from that seed.
    pub fn new(station: Station, service: Dist, seed: u64) -> StationTarget {
        StationTarget { station, service, draws: Stream::new(seed, streams::SERVICE) }
    }
}

impl Target for StationTarget {
    fn request(&mut self, now: Nanos, n: u64) -> Answer {
        let demand = Nanos::from_secs_f64(self.service.sample(&mut self.draws.item(n)));
        match self.station.arrive(now, demand) {
            Admission::Departs(at) => Answer::ok(at - now),
            Admission::Rejected => Answer::Comes {
                first_byte: Nanos::ZERO,
                done: Nanos::ZERO,
                outcome: Outcome::Status,
                status: 503,
                reusable: true,
            },
        }
    }
}
