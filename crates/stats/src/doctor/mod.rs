//! Whether a machine is fit to send a load: facts in, bounds out ([`bounds`]), and what follows from them ([`findings`]).
//!
//! A bound is what one resource allows beside what a plan asks of it; that with the largest quotient ends the plan first, if its rate
//! or its number of users is raised. Deliberately absent: how the facts are found out (`live`), and sentences (`report`).

pub mod bounds;
mod findings;

pub use bounds::{Bound, Resource, Unit, bounds, first, ports_may_run_out};
pub use findings::{Change, Finding, Problem, findings};

use crate::summary::{Severity, Wait};
use headway_base::Machine;
use serde::{Deserialize, Serialize};

/// The schema of the document.
pub const SCHEMA: &str = "headway.doctor/1";

/// What was found of a machine, and what it means for a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnosis {
    /// What it allows.
    pub machine: Machine,
    /// What was measured of it.
    pub measured: Measured,
    /// What the plan asks of it, if there is one.
    pub demand: Option<Demand>,
    /// What each resource allows, and is asked for.
    pub bounds: Vec<Bound>,
    /// What is wrong with it, the worst first.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Judges a machine, for that plan if there is one.
    pub fn new(machine: Machine, measured: Measured, demand: Option<Demand>) -> Diagnosis {
        let bounds = bounds(&machine, demand.as_ref(), Some(&measured));
        let findings = findings(&machine, &measured, demand.as_ref(), &bounds);
        Diagnosis { machine, measured, demand, bounds, findings }
    }

    /// The bound that ends the plan first.
    pub fn first(&self) -> Option<&Bound> {
        first(&self.bounds)
    }

    /// Whether the machine is fit for it.
    pub fn fitness(&self) -> Fitness {
        match self.findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Error) => Fitness::Unfit,
            Some(Severity::Warning) => Fitness::Remarks,
            _ => Fitness::Fit,
        }
    }
}

/// Whether a machine is fit to send a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Nothing speaks against it.
    Fit,
    /// It can be sent; something may disturb it.
    Remarks,
    /// A bound lies below what the plan asks for.
    Unfit,
}

/// What was measured of a machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Measured {
    /// How late a thread was which waited as a worker of a run does.
    pub lateness: Lateness,
    /// How it waited, and what was done so that it woke on time.
    pub wait: Wait,
    /// Share of the time of all cores that the hypervisor took; none where the system does not say.
    pub steal: Option<f64>,
    /// What one request costs; none where it was not measured.
    pub request: Option<Cost>,
    /// What one attempt to connect costs that is given up; none where the plan keeps no sockets connecting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Cost>,
}

/// How late instants were met, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Lateness {
    /// Instants.
    pub n: u64,
    /// How long was measured.
    pub over_s: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// Lateness of up to it is forgiven, where lateness itself is judged.
    pub scale_s: f64,
    /// Share of the instants that were met later than that.
    pub beyond: f64,
}

impl Lateness {
    /// Of these, in seconds.
    pub fn of(mut late_s: Vec<f64>, over_s: f64, scale_s: f64) -> Lateness {
        late_s.sort_by(f64::total_cmp);
        let n = late_s.len();
        // The smallest with at least that share at or below it.
        let quantile =
            |p: f64| late_s.get(((p * n as f64).ceil() as usize).max(1) - 1).copied().unwrap_or(0.0);
        let beyond = late_s.iter().filter(|&&late| late > scale_s).count();
        Lateness {
            n: n as u64,
            over_s,
            mean: late_s.iter().sum::<f64>() / n.max(1) as f64,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            max: late_s.last().copied().unwrap_or(0.0),
            scale_s,
            beyond: if n == 0 { 0.0 } else { beyond as f64 / n as f64 },
        }
    }
}

/// Processor time of one request over loopback, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// Of the worker that sends it and reads its answer.
    pub worker_s: f64,
    /// Of the whole generator, records and statistics included.
    pub process_s: f64,
    /// Requests that were measured.
    pub n: u64,
    /// Share of the time for which others disturbed it, from 0 on: they had the cores while the worker was ready and had none, or the hypervisor
    /// had taken the cores. Zero where the system says neither.
    pub disturbed: f64,
}

impl Cost {
    /// A piece that was disturbed for more than this share tells more than a request costs: caches and cores were others' meanwhile.
    const CALM: f64 = 0.05;

    /// Whether the figure may be too high because others disturbed it.
    pub fn is_disturbed(&self) -> bool {
        self.disturbed > Self::CALM
    }

    /// What a request costs by several pieces of measurement: of those that were not disturbed the cheapest, since what is not seen to disturb a
    /// piece only adds to it; if all were disturbed, that which was least.
    pub fn least_disturbed(pieces: &[Cost]) -> Option<Cost> {
        let calm = pieces.iter().filter(|piece| !piece.is_disturbed());
        let cheapest = calm.min_by(|a, b| a.process_s.total_cmp(&b.process_s));
        cheapest.or_else(|| pieces.iter().min_by(|a, b| a.disturbed.total_cmp(&b.disturbed))).copied()
    }
}

/// What a plan asks of the machine that sends it, or its part of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Demand {
    /// Requests per second, at the most; none: as fast as answers come.
    pub rate: Option<f64>,
    /// Attempts to connect per second of sockets that are kept connecting, if none is accepted: as many as there are sockets in each connect
    /// timeout.
    pub attempts: f64,
    /// Connections that are held whatever the response time is: those of users, of sessions while they think, and of sockets that are kept
    /// connecting.
    pub held: f64,
    /// Requests per second of which each takes a connection while it is answered; in addition to those held.
    pub flow: f64,
    /// Requests that one connection carries at once.
    pub streams: u64,
    /// The response time that is expected, in seconds; none: not known.
    pub response_s: Option<f64>,
    /// Connections opened per second, where that is not once for all.
    pub connects: Option<f64>,
    /// Connections opened in all over the plan, where that is known.
    pub connects_planned: Option<f64>,
    /// The connection cap.
    pub cap: u64,
    /// Worker threads.
    pub workers: u32,
    /// How requests travel.
    pub carrier: Carrier,
    /// Whether the target is this machine.
    pub local: bool,
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Whether other machines or processes send other parts of the plan.
    pub sharded: bool,
    /// Addresses of this machine from which connections are opened.
    pub sources: u64,
    /// Whether lateness itself is judged (`--tolerance lateness=`), and not what it does to the numbers.
    pub judges_lateness: bool,
}

/// How requests travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// Over TCP.
    #[default]
    Tcp,
    /// Over a Unix socket.
    Unix,
    /// As datagrams.
    Datagrams,
    /// As datagrams to which no answer is expected.
    OneWay,
}

impl Demand {
    /// Connections that are needed at once if there is no cap; none where that depends on a response time that is not known. The number
    /// of requests in flight is random: its mean is rate x response time (Little 1961), and for Poisson arrivals it is Poisson
    /// (M/G/infinity), so that three standard deviations are added.
    pub fn connections(&self) -> Option<f64> {
        let in_flight = match (self.flow > 0.0, self.response_s) {
            (false, _) => 0.0,
            (true, Some(response)) => self.flow * response,
            (true, None) => return None,
        };
        Some(self.on_streams(self.held + in_flight + 3.0 * in_flight.sqrt()))
    }

    /// The same within the cap.
    pub fn capped(&self) -> Option<f64> {
        self.connections().map(|n| n.min(self.cap as f64))
    }

    /// The mean response time at which that many connections are all in use, in seconds.
    pub fn full_at(&self, connections: f64) -> Option<f64> {
        let left = connections * self.streams as f64 - self.held;
        (self.flow > 0.0 && left > 0.0).then(|| left / self.flow)
    }

    fn on_streams(&self, requests: f64) -> f64 {
        match self.streams {
            0 | 1 => requests,
            streams => (requests / streams as f64).ceil(),
        }
    }
}

#[cfg(test)]
mod tests;
