//! What is wrong with a machine, and what changes it. Nothing here changes anything.

use super::bounds::{Bound, DATAGRAM_BYTES, Resource};
use super::{Demand, Lateness, Measured};
use crate::effect::Tolerance;
use crate::setup::Tolerances;
use crate::summary::{DmaLatency, Severity, WaitStrategy};
use headway_base::Machine;
use headway_base::machine::DESCRIPTORS_KEPT;
use serde::Serialize;

/// Use of a resource from which on it is worth a word.
const NEARLY: f64 = 0.8;
/// Share of the local ports from which on each connection is slow to open: Linux gives out ports of one parity first, and looks through all
/// of them each time before it takes one of the other (`__inet_hash_connect`). Measured: 50 us before, 1 to 4 ms after.
const HALF: f64 = 0.5;
/// Steal from which on it is worth a word, as a share of the time of all cores.
const STEAL: f64 = 0.01;
/// A reading of the clock that costs more than this, in seconds, is not one by registers.
const SLOW_READING_S: f64 = 250e-9;
/// A queue of connections shorter than this was usual for Linux before 5.4, and overflows when users come together.
const SHORT_QUEUE: u64 = 1_024;
/// The widest range of ports that leaves those of services alone.
const WIDEST_PORTS: (u16, u16) = (1_024, 65_535);

/// A stated problem of a machine, and its remedies.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// What it is.
    #[serde(flatten)]
    pub problem: Problem,
    /// How much it matters.
    pub severity: Severity,
    /// What changes it, the simplest first. Of several one does.
    pub changes: Vec<Change>,
}

/// A problem of a machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "id", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Problem {
    /// The plan asks for more than there is.
    Exceeded { bound: Bound },
    /// The plan asks for nearly all there is.
    NearlyExceeded { bound: Bound },
    /// The plan asks for more than half of the local ports, from where on a connection takes milliseconds to open.
    SlowPorts { bound: Bound },
    /// Delays as they were measured move the numbers of the response time that is expected by more than is tolerated.
    Delays { response_s: f64, tolerated: f64, mean_s: f64, p99_s: f64, max_s: f64, n: u64, neighbours: bool },
    /// Too many instants were met later than is forgiven.
    Late { share: f64, tolerated: f64, scale_s: f64, p99_s: f64, max_s: f64, n: u64, neighbours: bool },
    /// A control group has a CPU quota below the cores: what is used up stops the process for the rest of a period.
    Quota { cores: f64, period_s: f64, file: String },
    /// The cores change their frequency with the load.
    Governor { name: String },
    /// The hypervisor gave the cores to others.
    Steal { share: f64 },
    /// The clock is not kept in step with others; it matters where several machines send one plan.
    NotSynchronised,
    /// The clock is slow to read.
    SlowClock { source: String, read_s: f64 },
    /// The queue of connections of a target on this machine is short.
    ShortQueue { most: u64 },
}

/// A change that the user can make.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the values to set")]
pub enum Change {
    /// Raise the descriptors of the process to that; `hard`: the limit that it may raise itself; `most`: root's.
    Descriptors { to: u64, hard: u64, most: Option<u64> },
    /// Raise those of the system.
    SystemDescriptors { to: u64 },
    /// Give out more local ports.
    PortRange { first: u16, last: u16 },
    /// Use ports in TIME_WAIT again.
    ReuseTimeWait,
    /// Keep connections open.
    KeepAlive,
    /// Another cap.
    Cap { to: u64 },
    /// More workers.
    Threads { to: u32 },
    /// Send the plan as that number of parts, from more machines, or, for ports, to more addresses.
    Shards { to: u64 },
    /// Track more connections.
    Conntrack { to: u64 },
    /// Larger receive buffers.
    ReceiveBuffer { to: u64 },
    /// Another CPU quota.
    Quota { cores: f64, file: String },
    /// The governor of full speed.
    Governor,
    /// Open `/dev/cpu_dma_latency` to this user.
    DmaLatency,
    /// Let the generator keep the cores awake.
    WaitAuto,
    /// Quieter neighbours, or another machine.
    OtherMachine,
    /// Keep the clock in step.
    Synchronise,
    /// Another source of the clock.
    ClockSource,
    /// A longer queue of connections.
    Somaxconn { to: u64 },
}

/// What is wrong with that machine, the worst first.
pub fn findings(
    machine: &Machine,
    measured: &Measured,
    demand: Option<&Demand>,
    bounds: &[Bound],
) -> Vec<Finding> {
    let mut all: Vec<Finding> = bounds.iter().filter_map(|bound| exceeded(machine, demand, bound)).collect();
    all.extend(late(measured, demand));
    all.extend(quota(machine));
    all.extend(machine.governors.iter().filter(|name| name.as_str() != "performance").map(|name| Finding {
        problem: Problem::Governor { name: name.clone() },
        severity: Severity::Warning,
        changes: vec![Change::Governor],
    }));
    all.extend(measured.steal.filter(|&share| share > STEAL).map(|share| Finding {
        problem: Problem::Steal { share },
        severity: Severity::Warning,
        changes: vec![Change::OtherMachine],
    }));
    all.extend(clock(machine, demand));
    let local = demand.is_some_and(|demand| demand.local);
    all.extend(machine.somaxconn.filter(|&most| local && most < SHORT_QUEUE).map(|most| Finding {
        problem: Problem::ShortQueue { most },
        severity: Severity::Info,
        changes: vec![Change::Somaxconn { to: 4_096 }],
    }));
    // Stable: bounds stand in their order, the largest quotient first among equals.
    all.sort_by(|a, b| b.severity.cmp(&a.severity).then(used(b).total_cmp(&used(a))));
    all
}

fn used(finding: &Finding) -> f64 {
    match &finding.problem {
        Problem::Exceeded { bound } | Problem::NearlyExceeded { bound } | Problem::SlowPorts { bound } => {
            bound.used().unwrap_or(0.0)
        }
        _ => 0.0,
    }
}

fn exceeded(machine: &Machine, demand: Option<&Demand>, bound: &Bound) -> Option<Finding> {
    // What is late has a finding of its own.
    let used = bound.used().filter(|_| bound.resource != Resource::Timing)?;
    let (problem, severity) = match used {
        _ if used > 1.0 => (Problem::Exceeded { bound: *bound }, Severity::Error),
        _ if used > HALF && bound.resource == Resource::Ports => {
            (Problem::SlowPorts { bound: *bound }, Severity::Warning)
        }
        // A cap that suffices is the user's own affair.
        _ if used > NEARLY && bound.resource != Resource::Cap => {
            (Problem::NearlyExceeded { bound: *bound }, Severity::Warning)
        }
        _ => return None,
    };
    Some(Finding { problem, severity, changes: changes(machine, demand, bound) })
}

/// What gives the plan the room it asks for.
fn changes(machine: &Machine, demand: Option<&Demand>, bound: &Bound) -> Vec<Change> {
    let asks = bound.asks.unwrap_or(0.0);
    let room = if bound.resource == Resource::Ports { HALF } else { NEARLY };
    let shards = |allows: f64| Change::Shards { to: (asks / allows.max(1.0) / room).ceil().max(2.0) as u64 };
    let parts = shards(bound.allows);
    match bound.resource {
        Resource::Cap => vec![Change::Cap { to: asks.ceil() as u64 }],
        Resource::Descriptors => {
            let to = rounded(asks + DESCRIPTORS_KEPT as f64, 1_000);
            vec![
                Change::Descriptors { to, hard: machine.descriptors.hard, most: machine.descriptors.most },
                parts,
            ]
        }
        Resource::SystemDescriptors => {
            let open = machine.descriptors.system.map_or(0, |(_, open)| open);
            vec![Change::SystemDescriptors { to: rounded(asks * 1.25 + open as f64, 1_000) }]
        }
        Resource::Ports | Resource::PortsInTimeWait => {
            let (first, last) = WIDEST_PORTS;
            let wider = machine.ports.range.is_some_and(|(from, to)| from > first || to < last);
            let wider = wider.then_some(Change::PortRange { first, last });
            let closing = bound.resource == Resource::PortsInTimeWait;
            let reuse = machine.ports.reuse != Some(1);
            let reuse = (closing && reuse).then_some(Change::ReuseTimeWait);
            let keep = closing.then_some(Change::KeepAlive);
            reuse.into_iter().chain(wider).chain(keep).chain([parts]).collect()
        }
        Resource::Conntrack => {
            let tracked = machine.conntrack.map_or(0, |conntrack| conntrack.tracked);
            vec![Change::Conntrack { to: rounded(asks * 1.25 + tracked as f64, 1_024) }]
        }
        Resource::Memory => vec![parts],
        Resource::Processor => {
            let workers = demand.map_or(1, |demand| demand.workers.max(1));
            let each = bound.allows / f64::from(workers);
            let needed = (asks / each).ceil() as u32;
            let more =
                (needed > workers && needed <= machine.cores).then_some(Change::Threads { to: needed });
            more.into_iter().chain([shards(each * f64::from(machine.cores.max(1)))]).collect()
        }
        Resource::Quota => {
            let quota = machine.quota.clone();
            let of = |quota: headway_base::machine::Quota| Change::Quota {
                cores: (10.0 * quota.cores * asks / bound.allows / NEARLY).ceil() / 10.0,
                file: quota.file,
            };
            quota.map(of).into_iter().chain([parts]).collect()
        }
        Resource::ReceiveBuffer => {
            let buffer = machine.buffers.receive.unwrap_or(0) as f64;
            let to = rounded(buffer * asks / bound.allows.max(1.0) + DATAGRAM_BYTES, 4_096);
            vec![Change::ReceiveBuffer { to }]
        }
        Resource::Timing => Vec::new(),
    }
}

/// Up to the next multiple.
fn rounded(x: f64, to: u64) -> u64 {
    (x.ceil() as u64).div_ceil(to) * to
}

/// Whether instants are met too late, and what helps: the device against cores that halt.
fn late(measured: &Measured, demand: Option<&Demand>) -> Option<Finding> {
    let (lateness, wait) = (&measured.lateness, &measured.wait);
    let (problem, severity) = lateness_of(lateness, wait.busy_neighbours, demand?)?;
    let mut changes = Vec::new();
    // Against neighbours nothing was measured to help.
    if wait.busy_neighbours {
    } else if wait.strategy == WaitStrategy::Sleep {
        changes.push(Change::WaitAuto);
    } else if matches!(wait.dma_latency, DmaLatency::Refused | DmaLatency::Missing | DmaLatency::Failed) {
        changes.push(Change::DmaLatency);
    }
    changes.push(Change::OtherMachine);
    Some(Finding { problem, severity, changes })
}

/// By how much such delays move the numbers of a target with the response time that is expected, each delay taken for itself: all of them
/// the mean, and where every response takes equally long, the longest ones the 99th percentile.
fn lateness_of(lateness: &Lateness, neighbours: bool, demand: &Demand) -> Option<(Problem, Severity)> {
    let &Lateness { n, mean, p99, max, beyond, scale_s, .. } = lateness;
    let tolerances = Tolerances::default();
    if n == 0 {
        return None;
    }
    if demand.judges_lateness {
        let (share, tolerated) = (beyond, tolerances.late);
        let late = Problem::Late { share, tolerated, scale_s, p99_s: p99, max_s: max, n, neighbours };
        return (share > tolerated).then_some((late, Severity::Error));
    }
    let response_s = demand.response_s?;
    let few = Tolerance { share: tolerances.effect, ..Tolerance::default() };
    let moves = |late: f64| late > few.share * response_s && late * 1e9 > few.time;
    if !moves(mean) && !moves(p99) {
        return None;
    }
    let delays = Problem::Delays {
        response_s,
        tolerated: few.share,
        mean_s: mean,
        p99_s: p99,
        max_s: max,
        n,
        neighbours,
    };
    Some((delays, if moves(mean) { Severity::Error } else { Severity::Warning }))
}

fn quota(machine: &Machine) -> Option<Finding> {
    let quota = machine.quota.as_ref().filter(|quota| quota.cores < f64::from(machine.cores))?;
    let whole = f64::from(machine.cores);
    Some(Finding {
        problem: Problem::Quota { cores: quota.cores, period_s: quota.period_s, file: quota.file.clone() },
        severity: Severity::Warning,
        changes: vec![Change::Quota { cores: whole, file: quota.file.clone() }],
    })
}

fn clock(machine: &Machine, demand: Option<&Demand>) -> Vec<Finding> {
    let sharded = demand.is_some_and(|demand| demand.sharded);
    let unsynchronised = (machine.clock.synchronised == Some(false)).then(|| Finding {
        problem: Problem::NotSynchronised,
        severity: if sharded { Severity::Warning } else { Severity::Info },
        changes: vec![Change::Synchronise],
    });
    let slow = machine.clock.read_s > SLOW_READING_S;
    let slow =
        machine.clock.source.as_ref().filter(|source| slow && *source != "tsc").map(|source| Finding {
            problem: Problem::SlowClock { source: source.clone(), read_s: machine.clock.read_s },
            severity: Severity::Warning,
            changes: vec![Change::ClockSource],
        });
    unsynchronised.into_iter().chain(slow).collect()
}
