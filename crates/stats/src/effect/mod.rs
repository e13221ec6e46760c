//! By how much the generator's own delays moved the printed numbers of an open load.
//!
//! What an undisturbed generator would have measured is not known, and what the target is need not be: some queues that disagree
//! ([`ensemble`]) are each fed with the services that they infer from starts and ends, and replayed at the intended instants. Where
//! all say nearly the same, it is so; the range of what they say is judged ([`range`]). None of them has to fit: a test of fit
//! rejects every live target, and a replay of services made by subtraction always gives back what it was made from.
//!
//! ```text
//! Request, in order of start ──> block ──> servers: what overtaking shows; on which services depend least
//!                                  │  └──> clock: did the target stand still with the generator?
//!                                  v
//!                  ensemble: services by subtraction, replay at the intended instants ──> answers ──> range ──> rule
//! ```
//!
//! Blocks of [`BLOCK`] requests bound memory; the state of every replay goes on from block to block, and what is inferred near the
//! end of a block sees the starts behind it. Loads in which due times hang on responses have two ends, the response
//! from the start and from the intended instant ([`FromStart`]). Deliberately absent: thresholds, and sentences.

mod answers;
mod block;
mod clock;
mod ensemble;
mod from_start;
mod join;
mod range;
mod replay;
mod servers;

pub use answers::{Counts, Number, Numbers};
pub use from_start::FromStart;
pub(crate) use join::Joined;
pub(crate) use range::OUTWARDS;
pub use range::{Basis, Found, Judged, NumberFound, Tolerance};

use answers::Answers;
use block::Block;
use clock::{Clock, Evidence, StoodStill};
use ensemble::{Bound, Ensemble};
use headway_base::{Nanos, Outcome};
use servers::Servers;

/// Requests of a block.
pub const BLOCK: usize = 100_000;
/// What stamps and the path resolve: services that would begin after they ended by no more than this are taken for possible.
const RESOLUTION: i64 = 400_000;

/// Largest share of responses without a receive stamp for which stamps tell whether the target stood still.
const UNSTAMPED: f64 = 0.01;

/// How a request ended, as far as a queue is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was served.
    Served,
    /// The target turned it away.
    Refused,
}

impl Fate {
    /// What an outcome says: a target that answers with an error, or closes, turns away.
    pub fn of(outcome: Outcome) -> Fate {
        use Outcome::{Cancelled, IdleTimeout, Ok, Protocol, Timeout, TooLarge, Unfinished};
        match outcome {
            Ok | Timeout | IdleTimeout | Cancelled | Unfinished | Protocol | TooLarge => Fate::Served,
            _ => Fate::Refused,
        }
    }
}

/// A request of an open load that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When it was due.
    pub intended: Nanos,
    /// When it started. The time for which it then lay in this machine before it left counts as lag.
    pub started: Nanos,
    /// When its response came, by the receive stamp; where there is none, when it was read.
    pub answered: Nanos,
    /// When its response was read: the end of its response time.
    pub done: Nanos,
    /// Whether a receive stamp tells when the response came.
    pub stamped: bool,
    /// Whether it succeeded.
    pub ok: bool,
    /// What the target did with it.
    pub fate: Fate,
    /// Whether it belongs to the measured phase.
    pub counted: bool,
}

/// A time in which the generator stood still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoldUp {
    /// When it began.
    pub from: Nanos,
    /// How long it lasted.
    pub length: Nanos,
}

/// What is known of where the target runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// On another machine: it does not stand still with the generator.
    Elsewhere,
    /// On this machine, or not known.
    #[default]
    PerhapsHere,
}

/// Finds the effect of the generator's delays on an open load.
#[derive(Clone, Debug)]
pub struct Effect {
    length: usize,
    place: Place,
    clock: Clock,
    evidence: Evidence,
    servers: Servers,
    bound: Bound,
    /// In plain time; in the target's; in plain time, with responses that came at the beginning of hold-ups.
    plain: Option<Ensemble>,
    own: Option<Ensemble>,
    early: Option<Ensemble>,
    block: Block,
    measured: Answers,
    /// Responses as counted from the start, where some requests followed a response.
    starts: Option<Answers>,
    unstamped: u64,
}

impl Default for Effect {
    fn default() -> Effect {
        Effect::new(BLOCK, Place::default())
    }
}

impl Effect {
    /// With blocks of so many requests, at least 1.
    pub fn new(length: usize, place: Place) -> Effect {
        Effect {
            length: length.max(1),
            place,
            clock: Clock::default(),
            evidence: Evidence::default(),
            servers: Servers::default(),
            bound: Bound::default(),
            plain: Some(Ensemble::default()),
            own: Some(Ensemble::default()),
            early: Some(Ensemble::default()),
            block: Block::default(),
            measured: Answers::default(),
            starts: None,
            unstamped: 0,
        }
    }

    /// Some of the requests follow a response: what the response from the start says is one answer more.
    pub fn with_starts(self) -> Effect {
        Effect { starts: Some(Answers::default()), ..self }
    }

    /// Where the target runs, if it is known by now only.
    pub fn runs_at(&mut self, place: Place) {
        self.place = place;
    }

    /// The generator stood still then. Hold-ups come in order and do not overlap; one must be told before requests that started
    /// after it make a block full, else it is not known of those.
    pub fn hold_up(&mut self, hold_up: HoldUp) {
        self.clock.push(hold_up);
    }

    /// Takes a request; they come in order of their starts.
    pub fn push(&mut self, request: &Request) {
        if request.counted {
            self.measured.push((request.done - request.intended).0, request.ok);
            if let Some(starts) = &mut self.starts {
                starts.push(from_start::of(request), request.ok);
            }
        }
        self.unstamped += u64::from(!request.stamped);
        self.block.push(request);
        if self.block.len() >= self.length && self.block.closed(self.length) {
            self.close(self.length);
        }
    }

    /// What was found; none of a load of no requests.
    pub fn finish(mut self, tolerance: &Tolerance) -> Option<Found> {
        self.close(self.block.len());
        let measured = self.measured.clone();
        let mut members: Vec<Counts> = Vec::new();
        let (blind, holds) = (self.is_blind(), self.clock.any());
        let ways = [
            (self.plain.take(), true, None),
            (self.own.take(), !blind, Some(&self.clock)),
            (self.early.take(), blind, None),
        ];
        for (ensemble, counts, clock) in ways {
            if let Some(ensemble) = ensemble.filter(|e| counts && e.has_run()) {
                members.extend(ensemble.finish(&measured, clock));
            }
        }
        if blind && holds && self.place == Place::PerhapsHere {
            members.push(measured.counts());
        }
        members.extend(self.starts.as_ref().map(Answers::counts));
        // Where something follows a response the bound is none.
        let bound = self.starts.is_none().then(|| self.bound.answers.counts());
        range::judge(&measured.counts(), &members, bound.as_ref(), Basis::Ensemble, tolerance)
    }

    /// Whether it is not told when responses came, of too many of them.
    fn is_blind(&self) -> bool {
        self.unstamped as f64 > UNSTAMPED * self.measured.n().max(1) as f64
    }

    /// Plays the first `core` requests of the block; the rest stays.
    fn close(&mut self, core: usize) {
        if core == 0 {
            return;
        }
        self.block.settle(core);
        let (blind, holds) = (self.is_blind(), self.clock.any());
        self.bound.run(&self.block, &self.clock);
        self.servers.overtaking(&self.block);
        if holds && !blind {
            self.evidence.add(&self.block, &self.clock);
        }
        let stood_still = self.evidence.stood_still();
        if holds && !blind && stood_still != StoodStill::Unknown {
            let gone = if stood_still == StoodStill::No { &mut self.own } else { &mut self.plain };
            *gone = None;
        }
        // Up to the first hold-up all times are one.
        let (with_own, with_early) = (holds && !blind, blind);
        for (ensemble, with) in [(&mut self.own, with_own), (&mut self.early, with_early)] {
            if let (Some(ensemble), Some(plain), true) = (ensemble, &self.plain, with)
                && !ensemble.has_run()
            {
                *ensemble = plain.clone();
            }
        }
        if let Some(plain) = &mut self.plain {
            plain.run(&self.block, None, &self.servers);
        }
        if let Some(own) = self.own.as_mut().filter(|own| with_own || own.has_run()) {
            own.run(&self.block, Some(&self.clock), &self.servers);
        }
        if let Some(early) = self.early.as_mut().filter(|early| with_early || early.has_run()) {
            self.block.answer_early(&self.clock);
            early.run(&self.block, None, &self.servers);
        }
        self.block.drain(core);
        self.clock.forget(self.block.earliest());
    }
}
