//! The modelled target: a network of parts.

mod accept;
mod numbers;
mod station;

use crate::target::{Answer, Connect, Target};
use accept::Accept;
use base::station::{Admission, Station};
use base::units::UnitError;
use base::{Nanos, Outcome};
use numbers::Numbers;
use station::Service;
use workload::client::ConnectionId;
use workload::model::{Kind, Model};
use workload::{Plan, Sending};

/// How long it takes to be turned away: what a server needs to say so over a loopback. Users who ask again at once would
/// otherwise do so a thousand million times a second.
const REJECTION: Nanos = Nanos::from_micros(10);

/// The modelled target.
#[derive(Clone, Debug)]
pub struct Network {
    station: Station,
    service: Service,
    numbers: Numbers,
    accept: Option<Accept>,
    served: u64,
}

impl Network {
    /// The network of that model, for requests of that plan.
    ///
    /// # Errors
    /// A model that cannot be: no server, a rate or a cold start that is not above zero.
    pub fn new(model: &Model, plan: &Plan) -> Result<Network, UnitError> {
        let Some(Kind::Station(station)) = model.parts.first().map(|part| &part.kind) else {
            return Err(UnitError::new("the model", "a station"));
        };
        if station.servers == 0 {
            return Err(UnitError::new("0", "a number of servers: at least 1"));
        }
        Ok(Network {
            station: Station::new(station.servers, station.queue, station.stalls),
            service: Service::new(station)?,
            numbers: Numbers::new(plan),
            accept: model.accept.map(Accept::new).transpose()?,
            served: 0,
        })
    }
}

impl Target for Network {
    fn connect(&mut self, now: Nanos) -> Connect {
        self.accept.as_mut().map_or(Connect::After(Nanos::ZERO), |accept| accept.connect(now))
    }

    #[inline]
    fn request(&mut self, now: Nanos, _: u64, _: ConnectionId, sending: &Sending) -> Answer {
        let id = self.numbers.id(sending);
        let mut draws = self.numbers.demand(sending.group, id, 0);
        let demand = self.service.demand(sending.step, self.served, &mut draws);
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
