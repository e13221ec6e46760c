//! The document's block on the generator itself.

use super::Text;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// How the generator itself fared. The caller fills it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Generator {
    /// One entry per worker thread.
    pub workers: Vec<WorkerTime>,
    /// Times at which a worker did not run though it had work, longer than 1 ms.
    pub stalls: Vec<Stall>,
    /// Processor time taken by other machines on the same host, if the system tells.
    pub steal_s: Option<f64>,
    /// Whether generator and target share a machine.
    pub same_host_as_target: Option<bool>,
    /// Measured cost of one send: the least headway that one thread can produce.
    pub send_cost_s: Option<f64>,
    /// Arrivals that found the connection cap reached.
    pub cap_hits: Option<u64>,
    /// Connections opened.
    pub connections_opened: Option<u64>,
    /// Of these, how many were of no more use since bytes came on them that no request had asked for; left out but of plain bytes over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surplus: Option<u64>,
    /// Connections that were established, by the protocol spoken on them: `HTTP/1.1`, `HTTP/2`.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub protocols: std::collections::BTreeMap<String, u64>,
    /// What came of reading the name again that connections went to; left out where it was read once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Names>,
    /// What datagrams brought that was no answer; left out where none were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Strays>,
    /// Requests that were not sent for want of something on this machine, by what it was: `descriptors` (of the process),
    /// `system-descriptors`, `ports`, `memory`, `watches` (of epoll) or `permission`.
    pub lacked: std::collections::BTreeMap<String, u64>,
    /// How long requests stayed in this machine after they were handed to its kernel; left out where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub departures: Option<Departures>,
    /// How workers waited, in words: the report writes it from `wait`, and shows it as it was read where there is none.
    pub waiting: Option<Text>,
    /// How workers waited for the next intended time, and what kept this machine awake; left out where nothing says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Of what this machine allows, that which ends such a load first, where the load was not shown to be VALID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bound: Option<crate::doctor::Bound>,
}

/// What came of reading a name again.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Names {
    /// How often that was done to the end.
    pub readings: u64,
    /// How often it failed, so that the addresses stayed what they were.
    pub failed: u64,
    /// How often it gave other addresses than before.
    pub changed: u64,
    /// Why it failed, the last time that it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Cleared>,
    /// Connections opened, by address.
    pub connections: std::collections::BTreeMap<String, u64>,
}

impl Names {
    /// Adds those of another shard.
    pub fn add(&mut self, other: &Names) {
        self.readings += other.readings;
        self.failed += other.failed;
        self.changed += other.changed;
        self.why = self.why.take().or_else(|| other.why.clone());
        for (address, n) in &other.connections {
            *self.connections.entry(address.clone()).or_default() += n;
        }
    }
}

/// How workers waited, what was done so that they woke on time, and how late they woke.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Wait {
    /// What was asked for.
    pub strategy: WaitStrategy,
    /// What became of `/dev/cpu_dma_latency`, which holds off the idle states of all cores.
    pub dma_latency: DmaLatency,
    /// What became of the loops of idle priority, which keep cores awake in its place.
    pub idle_loops: IdleLoops,
    /// Cores on which such loops ran; none where they did not run.
    pub idle_loop_cores: Option<u32>,
    /// Since when, in seconds since the plan's zero.
    pub idle_loops_from_s: Option<f64>,
    /// Whether workers had real-time priority.
    pub realtime: bool,
    /// Workers that had to give it up, for they had hardly slept.
    pub realtime_lost: u32,
    /// The shortest and the longest time before an intended instant at which a worker was up to poll, in seconds; none where
    /// none slept.
    pub horizon_s: Option<[f64; 2]>,
    /// Wake-ups at an instant that a worker had named.
    pub wakeups: u64,
    /// Of those, the ones that came more than `late_after_s` late though no other process had the processor.
    pub late_wakeups: u64,
    /// The lateness that counts as late, in seconds: a quarter of the time scale.
    pub late_after_s: f64,
    /// Whether other processes wanted the workers' processors.
    pub busy_neighbours: bool,
    /// Cores that the process could use.
    pub cores: u32,
}

/// Numbers of datagrams that were no answer, or came out of turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StrayCounts {
    /// Answers to requests that had ended as timeouts.
    pub late: u64,
    /// Answers to requests that had theirs.
    pub duplicates: u64,
    /// Answers that came after one to a later request of the same socket (RFC 4737, 3.3).
    pub reordered: u64,
    /// Datagrams that belong to no request.
    pub unexpected: u64,
}

impl StrayCounts {
    /// Adds others to these.
    pub fn add(&mut self, other: StrayCounts) {
        self.late += other.late;
        self.duplicates += other.duplicates;
        self.reordered += other.reordered;
        self.unexpected += other.unexpected;
    }
}

/// Datagrams of a run that were no answer, or came out of turn.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Strays {
    /// In all.
    #[serde(flatten)]
    pub counts: StrayCounts,
    /// How often the system said that a datagram met a port at which nothing listens (ICMP) while none was under way that waits for an answer.
    pub unreachable: u64,
    /// The same and what was sent, interval by interval from the plan's zero; empty unless that was asked for (`--interval`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<DatagramRow>,
}

/// What became of datagrams between two instants.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatagramRow {
    /// Seconds since the plan's zero at which the row begins.
    pub from_s: f64,
    /// At which it ends.
    pub to_s: f64,
    /// Requests that started within.
    pub sent: u64,
    /// Answers that came within; none where none is expected.
    pub received: Option<u64>,
    /// Requests that ended as timeouts within; none where no answer is expected.
    pub lost: Option<u64>,
    /// Strays that came within.
    #[serde(flatten)]
    pub counts: StrayCounts,
}

/// How to wait for the next intended time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitStrategy {
    /// Sleeping until shortly before, then polling; the machine kept awake by what it allows.
    #[default]
    Auto,
    /// Sleeping until shortly before, then polling; the machine left as it is.
    Sleep,
    /// Never sleeping.
    Spin,
}

/// What became of `/dev/cpu_dma_latency`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DmaLatency {
    /// Not asked for.
    #[default]
    NotUsed,
    /// Held at zero for the length of the run.
    Held,
    /// This machine has no driver of idle states that heeds it.
    NoIdleStates,
    /// It is not there.
    Missing,
    /// This user may not open it.
    Refused,
    /// It is there and does not work.
    Failed,
}

/// What became of the loops of idle priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleLoops {
    /// Not asked for, or the device does better.
    #[default]
    NotUsed,
    /// Ready; wake-ups were on time, but where other processes had the cores.
    NotNeeded,
    /// They ran.
    Running,
    /// A CPU quota would have been used up by them.
    Quota,
    /// They could not be started.
    Unavailable,
}

/// A sample of the requests of the measured phase: how long each stayed in the socket's queue and the network device's, from the
/// write to the kernel's stamp of its first packet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Departures {
    /// Requests in the sample.
    pub n: u64,
    /// Of those, the ones that left this machine more than `after_s` later than they were written, for want of its uplink.
    pub late: u64,
    /// The same because the target did not read.
    pub by_target: u64,
    /// The delay that counts as late, in seconds.
    pub after_s: f64,
    /// Bytes of requests that were sent over the measured phase, per second.
    pub bytes_per_s: Option<f64>,
    /// When requests left late, in seconds since the plan's zero.
    pub at: Vec<[f64; 2]>,
}

/// Where a worker thread's time went, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerTime {
    /// Handling events and sending.
    pub handling: f64,
    /// Polling for the next due time.
    pub polling: f64,
    /// Asleep.
    pub sleeping: f64,
    /// Ready to run and waiting for a processor.
    pub runqueue_wait: Option<f64>,
    /// On a processor: what the worker cost.
    pub processor: Option<f64>,
}

/// A time at which a worker stood still.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stall {
    /// When it began, in seconds since the plan's zero.
    pub at_s: f64,
    /// How long it lasted.
    pub length_s: f64,
    /// Which worker.
    pub worker: u32,
    /// Why, if known.
    pub cause: Option<String>,
}
