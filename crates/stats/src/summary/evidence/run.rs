//! Evidence on the run around the load: cut short, stalled, failed, unanswered, incomplete.

use super::super::RuleId;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// The run around the load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Run {
    /// A threshold ended the run; the number of complete segments of the measured phase.
    Aborted { threshold: Cleared, at_s: f64, complete: usize, of: usize },
    /// The run was cut short.
    Interrupted { at_s: f64, complete: usize, of: usize },
    /// The generator's threads stood still `n` times for more than `over_s`; and the longest of these times.
    Stall { n: u64, over_s: f64, total_s: f64, longest_s: f64, at_s: f64, cause: Option<String> },
    /// `n` of `of` workers were saturated, and the share of the busiest one's time.
    Saturated { n: u64, of: u64, busiest: f64 },
    /// Requests were not sent because the machine lacked something (`descriptors`, `ports` ...; empty: not known what).
    LocalLimit { n: u64, lacked: Vec<String> },
    /// Requests started of which no record tells the end.
    Unaccounted { n: u64 },
    /// Starts were reported out of order.
    Disordered { n: u64 },
    /// Rules that could not be decided.
    Undecided { rules: Vec<OpenRule> },
    /// `n` of `of` requests got no complete response, so these numbers are lower bounds.
    Censored { n: u64, of: u64, bounds: Vec<String> },
    /// `n` of `of` requests failed: outcomes with their counts, the most frequent first; `many`: more than is tolerated.
    Errors { n: u64, of: u64, outcomes: Vec<(String, u64)>, many: bool },
    /// The system said `n` times that a datagram met a port at which nothing listens.
    Unreachable { n: u64 },
    /// `n` of `of` connections that were opened had bytes that no request had asked for, and others took their place.
    Surplus { n: u64, of: u64 },
    /// The name that connections go to was to be read again `of` times, and that failed `n` times; why, the last time.
    NamesNotRead { n: u64, of: u64, why: Cleared },
    /// The target gave `n` of `of` requests back unread, and they were sent again, `times` times in all.
    SentAgain { n: u64, of: u64, times: u64 },
    /// `n` of `of` requests were answered with a redirect, and redirects were not followed.
    Redirects { n: u64, of: u64 },
    /// Arrivals started within a pause of the plan.
    InPause { n: u64 },
    /// Generator and target share a machine.
    SameHost,
    /// A load may need more local ports than there are: `needed` at once at most, with so many attempts per second, or connections held (`sockets`), and
    /// each port held for up to `held_s`. There are `ports` on each of `addresses`, of which `time_wait` were taken by ended connections before
    /// the run (of any target), and `time_wait_after` after it.
    Ports {
        needed: u64,
        attempts_per_s: Option<f64>,
        sockets: Option<u64>,
        held_s: f64,
        ports: u64,
        addresses: u64,
        time_wait: u64,
        time_wait_after: Option<u64>,
    },
    /// A variable of the environment names a proxy for that target, and the run did not use it.
    ProxyNotUsed { variable: String, target: Cleared },
    /// The run joined a plan that had begun so long before, and passed over the arrivals that had fallen due.
    JoinedLate { late_s: f64, missed: u64 },
    /// This machine's clock minus that of the destination of a shard, or of another shard's machine, is between these.
    ClockOff { from: Cleared, least_s: f64, most_s: f64 },
    /// Nothing keeps this machine's clock right, as the system says.
    ClockFree,
    /// So many requests to the destination of the shards failed and were tried again.
    StoreFailed { place: Cleared, failures: u64, last: Cleared },
    /// The log lacks rows, for that error of the system.
    LogLost { lost: u64, written: u64, error: Cleared },
    /// The log in that folder has no end mark.
    LogCutShort { folder: Cleared },
    /// The shards of a run began so far apart. Of so many requests in the measured phases of their shards these are not in that of the
    /// merged run.
    ShardsApart {
        apart_s: f64,
        #[serde(default)]
        outside: u64,
        #[serde(default)]
        of: u64,
    },
    /// Planned arrivals are in shards that are missing.
    MissingShards { n: u64, shards: Vec<LostShard> },
    /// Planned arrivals left no record: those of these shards.
    MissingRecords {
        n: u64,
        #[serde(default)]
        shards: Vec<ShortShard>,
    },
}

/// A rule that could not be decided.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OpenRule {
    /// Which.
    pub rule: RuleId,
    /// Its window in seconds, of those that have one.
    pub window_s: Option<f64>,
    /// Number of observations behind it.
    pub n: u64,
}

/// A shard of which records are missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShortShard {
    /// Its name: `2/4`.
    pub shard: String,
    /// Planned arrivals that left no record.
    pub n: u64,
    /// Arrivals that it had planned.
    pub planned: u64,
}

/// A shard that is missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostShard {
    /// Its name: `2/4`.
    pub shard: String,
    /// Arrivals that it had planned, where that is known.
    pub planned: Option<u64>,
}
