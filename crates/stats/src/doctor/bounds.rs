//! What each resource of a machine allows, beside what a plan asks of it.

use super::{Carrier, Cost, Demand, Measured};
use crate::setup::Tolerances;
use crate::summary::evidence::Run;
use headway_base::Machine;
use headway_base::machine::Ports;
use serde::{Deserialize, Serialize};

/// Memory of an idle connection that is kept alive, in bytes: what the generator keeps of it, and the kernel (a TCP socket with its
/// file, directory entry and watch). Measured by `bench/connections.py` (docs/measured/benchmarks.md).
pub const CONNECTION_BYTES: f64 = 1_600.0 + 4_400.0;
/// What TLS adds: keys, and buffers of a record.
pub const TLS_BYTES: f64 = 25_000.0;
/// What a short datagram takes of a receive buffer, in bytes (its `truesize`: the packet's head and 512 bytes for its data).
pub const DATAGRAM_BYTES: f64 = 768.0;
/// A worker that is stopped for less than this says nothing of a machine.
const LEAST_STOP_S: f64 = 1e-3;

/// What runs out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// The connection cap of the plan itself.
    Cap,
    /// Descriptors of the process.
    Descriptors,
    /// Descriptors of the whole system.
    SystemDescriptors,
    /// Local ports.
    Ports,
    /// Local ports that wait after their connections were closed.
    PortsInTimeWait,
    /// Entries of connection tracking.
    Conntrack,
    /// Memory.
    Memory,
    /// Worker threads on cores.
    Processor,
    /// The CPU quota.
    Quota,
    /// The buffer into which datagrams are received while the worker does not read.
    ReceiveBuffer,
    /// Instants that are met on time.
    Timing,
}

impl Resource {
    /// What the generator says that it lacked when this ran out, in the summary (`generator.lacked`); none of what shows otherwise.
    pub fn lacked(self) -> Option<&'static str> {
        Some(match self {
            Resource::Descriptors => "descriptors",
            Resource::SystemDescriptors => "system-descriptors",
            Resource::Ports | Resource::PortsInTimeWait => "ports",
            Resource::Memory => "memory",
            _ => return None,
        })
    }
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Connections at once.
    Connections,
    /// Connections opened per second.
    ConnectionsPerSecond,
    /// Requests per second.
    RequestsPerSecond,
    /// A share of the requests.
    Share,
}

/// What a resource allows, and is asked for.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// What would run out.
    pub resource: Resource,
    /// What is counted.
    pub unit: Unit,
    /// The most that can be.
    pub allows: f64,
    /// What the plan asks for; none where there is no plan, or it depends on what is not known.
    pub asks: Option<f64>,
    /// The mean response time at which it is used up, in seconds, where that decides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub full_at_s: Option<f64>,
}

impl Bound {
    /// The share of it that the plan uses: above 1 the plan cannot be sent.
    pub fn used(&self) -> Option<f64> {
        Some(if self.allows > 0.0 { self.asks? / self.allows } else { f64::INFINITY })
    }

    /// Whether the plan asks for more than there is.
    pub fn ends(&self) -> bool {
        self.used().is_some_and(|used| used > 1.0)
    }
}

/// The bound that ends the plan first: that of which it uses the largest share. How late instants are met is none of them: it does not
/// follow from how much is asked for.
pub fn first(bounds: &[Bound]) -> Option<&Bound> {
    let used = |bound: &&Bound| bound.used().is_some() && bound.resource != Resource::Timing;
    // Of equal ones the first: what the user set before what the machine has.
    bounds
        .iter()
        .filter(used)
        .rev()
        .max_by(|a, b| a.used().unwrap_or(0.0).total_cmp(&b.used().unwrap_or(0.0)))
}

/// What the machine allows: connections at once, connections and requests per second, and instants met on time.
pub fn bounds(machine: &Machine, demand: Option<&Demand>, measured: Option<&Measured>) -> Vec<Bound> {
    let mut all = Vec::new();
    connections(&mut all, machine, demand);
    all.extend(time_wait(machine, demand));
    all.extend(measured.and_then(|measured| processor(machine, demand, measured)));
    all.extend(measured.and_then(|measured| quota(machine, demand, measured)));
    all.extend(measured.and_then(|measured| receive_buffer(machine, demand?, measured)));
    let judged = demand.is_some_and(|demand| demand.judges_lateness);
    all.extend(measured.filter(|measured| judged && measured.lateness.n > 0).map(|measured| Bound {
        resource: Resource::Timing,
        unit: Unit::Share,
        allows: Tolerances::default().late,
        asks: Some(measured.lateness.beyond),
        full_at_s: None,
    }));
    all
}

/// What bounds the number of connections at once.
fn connections(all: &mut Vec<Bound>, machine: &Machine, demand: Option<&Demand>) {
    let carrier = demand.map_or(Carrier::Tcp, |demand| demand.carrier);
    let mut push = |resource, allows: f64, asks: Option<f64>| {
        let full_at_s = demand.filter(|d| d.response_s.is_none()).and_then(|d| d.full_at(allows));
        all.push(Bound { resource, unit: Unit::Connections, allows, asks, full_at_s });
    };
    let capped = demand.and_then(Demand::capped);
    if let Some(demand) = demand {
        push(Resource::Cap, demand.cap as f64, demand.connections());
    }
    let descriptors = machine.descriptors.connections() as f64;
    // A cap that the descriptors do not reach is refused when the run begins, whatever it would need.
    let refused = demand.map(|demand| demand.cap as f64).filter(|&cap| cap > descriptors);
    push(Resource::Descriptors, descriptors, refused.or(capped));
    if let Some((most, open)) = machine.descriptors.system {
        push(Resource::SystemDescriptors, most.saturating_sub(open) as f64, capped);
    }
    if carrier != Carrier::Unix
        && let Some(ports) = ports(&machine.ports, demand)
    {
        push(Resource::Ports, ports as f64, capped);
    }
    if let Some(memory) = machine.memory {
        let each = CONNECTION_BYTES + if demand.is_some_and(|d| d.tls) { TLS_BYTES } else { 0.0 };
        push(Resource::Memory, (memory as f64 / each).floor(), capped);
    }
    if let Some(conntrack) =
        machine.conntrack.filter(|conntrack| conntrack.tracked > 0 && carrier != Carrier::Unix)
    {
        let closed = demand.and_then(|demand| demand.connects).unwrap_or(0.0);
        let closed = closed * conntrack.closed_s.unwrap_or(0) as f64;
        let left = conntrack.most.saturating_sub(conntrack.tracked) as f64;
        push(Resource::Conntrack, left, capped.map(|n| n + closed));
    }
}

/// Local ports to one address and port of a target, from all addresses of this machine that are used.
fn ports(ports: &Ports, demand: Option<&Demand>) -> Option<u64> {
    let sources = demand.map_or(1, |demand| demand.sources.max(1));
    Some(ports.per_target()? * sources)
}

/// That a plan which opens a connection for each request may need more local ports at once than there are, counting those that ended
/// connections keep now; none where it does not, or the system does not tell. A port is held while its connection is opened, for
/// `connect_timeout_s` seconds at most, or after it has ended: for the longer of the two.
pub fn ports_may_run_out(of: &Ports, demand: &Demand, connect_timeout_s: f64) -> Option<Run> {
    let (all, waiting) = (ports(of, Some(demand))?, of.waiting.unwrap_or(0));
    let held_s = connect_timeout_s.max(of.held_s(demand.local));
    let rate = demand.connects.unwrap_or(0.0);
    let planned = demand.connects_planned.unwrap_or(f64::INFINITY);
    let needed = (demand.held + (rate * held_s).min(planned)).round() as u64;
    (needed > all.saturating_sub(waiting)).then_some(Run::Ports {
        needed,
        attempts_per_s: (rate > 0.0).then_some(rate),
        sockets: (demand.held > 0.0).then_some(demand.held as u64),
        held_s,
        ports: of.per_target()?,
        addresses: demand.sources.max(1),
        time_wait: waiting,
        time_wait_after: None,
    })
}

/// Ports are taken for a while after their connections were closed; of a plan that opens fewer than there are, none is needed twice.
fn time_wait(machine: &Machine, demand: Option<&Demand>) -> Option<Bound> {
    let tcp = demand.is_none_or(|demand| demand.carrier == Carrier::Tcp);
    let held_s = machine.ports.held_s(demand.is_some_and(|demand| demand.local));
    let allows = ports(&machine.ports, demand).filter(|_| tcp)? as f64 / held_s;
    let asks = demand.and_then(|demand| {
        let all = demand.connects_planned.map_or(f64::INFINITY, |planned| planned / held_s);
        Some(demand.connects?.min(all))
    });
    Some(Bound {
        resource: Resource::PortsInTimeWait,
        unit: Unit::ConnectionsPerSecond,
        allows,
        asks,
        full_at_s: None,
    })
}

fn requests(resource: Resource, allows: f64, demand: Option<&Demand>) -> Bound {
    let asks = demand.and_then(|demand| demand.rate);
    Bound { resource, unit: Unit::RequestsPerSecond, allows, asks, full_at_s: None }
}

/// What a plan does most of, by what one of it costs: attempts of sockets that are kept connecting, else requests.
fn by_cost(
    resource: Resource,
    demand: Option<&Demand>,
    measured: &Measured,
    allows: impl Fn(Cost) -> f64,
) -> Option<Bound> {
    match demand.filter(|demand| demand.attempts > 0.0) {
        Some(demand) => Some(Bound {
            resource,
            unit: Unit::ConnectionsPerSecond,
            allows: allows(measured.attempt?),
            asks: Some(demand.attempts),
            full_at_s: None,
        }),
        None => Some(requests(resource, allows(measured.request?), demand)),
    }
}

/// A worker that handles for more than four fifths of its time is saturated.
fn processor(machine: &Machine, demand: Option<&Demand>, measured: &Measured) -> Option<Bound> {
    let workers = demand.map_or(1, |demand| demand.workers).clamp(1, machine.cores.max(1));
    let saturated = f64::from(workers) * Tolerances::default().saturated;
    by_cost(Resource::Processor, demand, measured, |cost| saturated / cost.worker_s)
}

fn quota(machine: &Machine, demand: Option<&Demand>, measured: &Measured) -> Option<Bound> {
    let quota = machine.quota.as_ref()?;
    by_cost(Resource::Quota, demand, measured, |cost| quota.cores / cost.process_s)
}

/// Answers that come while the worker is stopped wait in the socket.
fn receive_buffer(machine: &Machine, demand: &Demand, measured: &Measured) -> Option<Bound> {
    let buffer = machine.buffers.receive.filter(|_| demand.carrier == Carrier::Datagrams)?;
    let stop = measured.lateness.max.max(LEAST_STOP_S);
    Some(requests(Resource::ReceiveBuffer, buffer as f64 / DATAGRAM_BYTES / stop, Some(demand)))
}
