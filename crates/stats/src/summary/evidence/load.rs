//! Evidence on how the load left: what was not sent, what was late, bunched or smoothed, and why.

use crate::metric::NumberOf;
use crate::summary::EffectBasis;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// How the load left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Load {
    /// `n` of `of` requests were not sent because a step before them in their session had failed: after which steps, the most
    /// frequent first, and how many after others.
    UnsentSteps { n: u64, of: u64, after: Vec<FailedStep>, others: u64 },
    /// `n` of `of` requests were not sent: gave up waiting for a connection, still waited at the end, lacked something on the
    /// generator's machine, or any other reason; and the rates, of a workload that has one.
    Unsent {
        n: u64,
        of: u64,
        gave_up: u64,
        waiting_at_end: u64,
        lacked: u64,
        others: u64,
        started_per_s: Option<f64>,
        offered_per_s: Option<f64>,
    },
    /// `n` requests started within `within_s`, more or fewer than expected by `share` (below zero: fewer).
    OffRate { n: u64, within_s: f64, share: f64, expected: f64 },
    /// A share of the arrivals that found a free connection started more than `after_s` late.
    Late { share: f64, after_s: f64, p99_s: f64, max_s: f64, cause: GeneratorCause },
    /// The generator's delays moved these numbers by more than is tolerated (`sure`), or may have; `basis`: what says so.
    Moved {
        sure: bool,
        numbers: Vec<MovedNumber>,
        basis: EffectBasis,
        p99_s: f64,
        max_s: f64,
        cause: GeneratorCause,
    },
    /// `late` of `n` watched requests left the machine more than `after_s` after they were written.
    Uplink { late: u64, n: u64, after_s: f64, bytes_per_s: Option<f64> },
    /// The same because the target did not read.
    TargetWindow { late: u64, n: u64, after_s: f64 },
    /// Requests left in bunches.
    Bunched { off: Off, cause: GeneratorCause },
    /// Requests left more evenly than planned.
    Smoothed { off: Off },
    /// Requests of a simulation left more evenly than planned.
    SmoothedByModel { off: Off },
    /// One thread's sends, each of `send_s`, cannot overlap, which stretches that share of the headways.
    Serialised { send_s: f64, headway_s: f64, stretched: f64 },
}

/// Requests of one step that were not sent after another had failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedStep {
    /// How many.
    pub n: u64,
    /// Label of the step that was not sent.
    pub step: Cleared,
    /// Label of the step that had failed.
    pub failed: Cleared,
}

/// How far the starts are from a reference.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Off {
    /// What they are compared with.
    pub from: Reference,
    /// Window of the counts, in seconds, whose index of dispersion differs; none: the squared CoV of the headways does.
    pub window_s: Option<f64>,
    /// By how much.
    pub by: f64,
}

/// What starts are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The plan of the run.
    Plan,
    /// What an audit was told to expect.
    Expectation,
}

/// A number that the generator's delays moved, or may have moved, by more than is tolerated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MovedNumber {
    /// Of the response time (`mean`, `p50`, `p90`, `p95`, `p99`), or `failed`.
    pub number: NumberOf,
    /// By how much of the undisturbed number the measured one is off, from and to; negative where it is too low. The end is none where the
    /// undisturbed number may be 0.
    pub off: [Option<f64>; 2],
}

/// Why the generator may have been late.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum GeneratorCause {
    /// The model of a simulation has pauses.
    ModelPauses,
    /// A worker spent that share of its time handling requests.
    Saturated { share: f64 },
    /// Its threads stood still.
    Stalls { n: u64, longest_s: f64 },
    /// Its threads waited for a processor.
    NoProcessor,
    /// Another finding names it, where the rows of the file do.
    InPattern,
    /// Nothing recorded it.
    NotRecorded,
}
