//! What stands at the other end of a virtual connection.
//!
//! Deliberately absent: service laws and queues, which are the [`Network`](crate::Network)'s.

use headway_base::pieces::Pieces;
use headway_base::{Nanos, Outcome};
use headway_workload::RequestKey;
use headway_workload::client::RequestId;

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
        /// Until the last, from the request; not before the first.
        done: Nanos,
        /// How it ends.
        outcome: Outcome,
        /// Its status code.
        status: u16,
        /// Whether its connection may serve again.
        reusable: bool,
    },
    /// Nothing ever comes back.
    Silence,
    /// It is not known yet: [`Target::step`] returns it when it is due.
    Later,
}

/// The answer to a request that came earlier: it comes whole, now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    /// Which request.
    pub slot: RequestId,
    /// How it ended.
    pub outcome: Outcome,
    /// Its status code.
    pub status: u16,
}

impl Answer {
    /// A 200 that comes whole after that long.
    pub const fn ok(after: Nanos) -> Answer {
        Answer::Comes { first_byte: after, done: after, outcome: Outcome::Ok, status: 200, reusable: true }
    }
}

/// The other end. Calls come in the order of time.
pub trait Target {
    /// Somebody connects at `now`.
    fn connect(&mut self, now: Nanos) -> Connect {
        let _ = now;
        Connect::After(Nanos::ZERO)
    }
    /// In which pieces its good responses come after they were served; none: whole.
    fn pieces(&self) -> Option<&Pieces> {
        None
    }
    /// Request number `n` (from 0, in order of arrival) comes at `now`; `slot` names it until it has been answered or given up,
    /// and `sending` says which step of which session it is.
    fn request(&mut self, now: Nanos, n: u64, slot: RequestId, sending: &RequestKey) -> Answer;
    /// When something happens within it next; `Nanos::MAX` for never.
    fn next_at(&self) -> Nanos {
        Nanos::MAX
    }
    /// Lets happen what is due by `now`, up to the first answer that is complete: that answer.
    fn step(&mut self, now: Nanos) -> Option<Answered> {
        let _ = now;
        None
    }
    /// The answer to this request is not waited for any longer; the next with this name is another.
    fn gone(&mut self, now: Nanos, slot: RequestId) {
        let _ = (now, slot);
    }
}

impl<T: Target> Target for &mut T {
    fn connect(&mut self, now: Nanos) -> Connect {
        (**self).connect(now)
    }
    fn pieces(&self) -> Option<&Pieces> {
        (**self).pieces()
    }
    #[inline]
    fn request(&mut self, now: Nanos, n: u64, slot: RequestId, sending: &RequestKey) -> Answer {
        (**self).request(now, n, slot, sending)
    }
    #[inline]
    fn next_at(&self) -> Nanos {
        (**self).next_at()
    }
    #[inline]
    fn step(&mut self, now: Nanos) -> Option<Answered> {
        (**self).step(now)
    }
    #[inline]
    fn gone(&mut self, now: Nanos, slot: RequestId) {
        (**self).gone(now, slot);
    }
}
