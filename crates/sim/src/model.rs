//! The modelled target: a service station with its laws, an accept rate, a cold start.
//!
//! The station is the calibrated target's ([`base::station`]), so that a simulated run and a live one against `headway
//! serve` have the same truth. Deliberately absent: the generator's defects, and networks of stations.

use crate::target::{Answer, Connect, Target};
use base::dist::{Dist, Law};
use base::random::{Stream, streams};
use base::station::{Admission, Stalls, Station};
use base::units::UnitError;
use base::{Nanos, Outcome, Rate};
use workload::Sending;
use workload::client::ConnectionId;

/// The least time that an answer takes: whoever asks again at once gets on in time.
const LEAST: Nanos = Nanos(1);
/// How long it takes to be turned away: what a server needs to say so over a loopback. Users who ask again at once would
/// otherwise do so a thousand million times a second.
const REJECTION: Nanos = Nanos::from_micros(10);

/// What a modelled target is like.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelSettings {
    /// Servers that share the queue; at least 1.
    pub servers: u32,
    /// The service law.
    pub service: Dist,
    /// How many may wait, not counting those in service; beyond it the answer is 503 after 10 us. None: no limit.
    pub queue: Option<usize>,
    /// When all service stands still.
    pub stalls: Option<Stalls>,
    /// Connections are established one after the other at this rate; none: at once.
    pub accept: Option<Rate>,
    /// How much longer service takes while the target is cold.
    pub cold: Option<Cold>,
    /// A step's own service law, by its number; steps beyond the end have none.
    pub steps: Vec<Option<Dist>>,
    /// Demand number n is a function of this and n.
    pub seed: u64,
}

impl ModelSettings {
    /// So many servers and that service law; nothing else.
    pub fn new(servers: u32, service: Dist, seed: u64) -> ModelSettings {
        let (queue, stalls, accept, cold, steps) = (None, None, None, None, Vec::new());
        ModelSettings { servers, service, queue, stalls, accept, cold, steps, seed }
    }
}

/// A cold start: what is asked of the target after it has served s requests takes 1 + factor exp(-s/requests) times as
/// long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cold {
    /// How much longer the first takes: above 0.
    pub factor: f64,
    /// After so many requests a part of 1/e of that is left; above 0.
    pub requests: f64,
}

/// The modelled target.
///
/// Requests are numbered in the order in which they arrive at it: the demand of number n is draw n of the stream
/// [`streams::SERVICE`], taken through the service law of its step, times what the cold start adds. A request that is
/// turned away has a number and a demand too, but does not count as served. No answer takes less than a nanosecond.
#[derive(Clone, Debug)]
pub struct Model {
    station: Station,
    service: Dist,
    steps: Vec<Option<Dist>>,
    draws: Stream,
    accept: Option<Accept>,
    cold: Option<Cold>,
    served: u64,
}

/// Connections are established one after the other.
#[derive(Clone, Copy, Debug)]
struct Accept {
    gap: Nanos,
    /// When the next may be established at the earliest.
    next: Nanos,
}

impl Model {
    /// The target of those settings.
    ///
    /// # Errors
    /// No server, or a rate or cold start that is not above zero.
    pub fn new(settings: &ModelSettings) -> Result<Model, UnitError> {
        let ModelSettings { servers, service, queue, stalls, accept, cold, steps, seed } = settings.clone();
        if servers == 0 {
            return Err(UnitError::new("0", "a number of servers: at least 1"));
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(rate) = accept.filter(|rate| !positive(rate.0)) {
            return Err(UnitError::new(&rate.to_string(), "a rate of accepting connections: above 0"));
        }
        if let Some(cold) = cold.filter(|cold| !(positive(cold.factor) && positive(cold.requests))) {
            let given = format!("factor: {}, requests: {}", cold.factor, cold.requests);
            return Err(UnitError::new(&given, "a cold start: both must be above 0"));
        }
        Ok(Model {
            station: Station::new(servers, queue, stalls),
            service,
            steps,
            draws: Stream::new(seed, streams::SERVICE),
            accept: accept.map(|rate| Accept { gap: Nanos::from_secs_f64(1.0 / rate.0), next: Nanos::ZERO }),
            cold,
            served: 0,
        })
    }

    /// Requests that were not turned away.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// What request number `n` needs of one server.
    #[inline]
    fn demand(&mut self, n: u64, step: u16) -> Nanos {
        let own = self.steps.get(usize::from(step)).and_then(Option::as_ref);
        let mut seconds = own.unwrap_or(&self.service).sample(&mut self.draws.item(n));
        if let Some(cold) = &self.cold {
            let extra = cold.factor * libm::exp(-(self.served as f64) / cold.requests);
            seconds *= 1.0 + extra;
        }
        Nanos::from_secs_f64(seconds).max(LEAST)
    }
}

impl Target for Model {
    fn connect(&mut self, now: Nanos) -> Connect {
        let Some(accept) = &mut self.accept else { return Connect::After(Nanos::ZERO) };
        let established = now.max(accept.next);
        accept.next = established.saturating_add(accept.gap);
        Connect::After(established - now)
    }

    #[inline]
    fn request(&mut self, now: Nanos, n: u64, _: ConnectionId, sending: &Sending) -> Answer {
        let demand = self.demand(n, sending.step);
        match self.station.arrive(now, demand) {
            Admission::Departs(at) => {
                self.served += 1;
                Answer::ok(at - now)
            }
            Admission::Rejected => Answer::Comes {
                first_byte: REJECTION,
                done: REJECTION,
                outcome: Outcome::Status,
                status: 503,
                reusable: true,
            },
        }
    }
}
