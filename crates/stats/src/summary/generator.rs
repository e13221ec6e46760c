//! The document's block on the generator itself.

use super::Text;
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
    /// Requests that were not sent for want of something on this machine, by what it was: `descriptors` (of the process),
    /// `system-descriptors`, `ports`, `memory`, `watches` (of epoll) or `permission`.
    pub lacked: std::collections::BTreeMap<String, u64>,
    /// How long requests stayed in this machine after they were handed to its kernel; left out where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub departures: Option<Departures>,
    /// How workers wait for the next due time: written by the report from `due_wait`, and shown as read where there is none.
    pub waiting: Option<Text>,
    /// What `waiting` is made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_wait: Option<DueWait>,
}

/// How workers wait for the next due time: asleep, and then polling.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct DueWait {
    /// How long before the due time polling begins, in seconds.
    pub polls_before_s: f64,
    /// Share of a core that polling takes, over all workers.
    pub polls_for: f64,
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
