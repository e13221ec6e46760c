//! The document's block on the shards that a run was merged of: what each had planned, and what it has left.

use serde::{Deserialize, Serialize};

/// What a merge found of one shard.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShardCoverage {
    /// Its name: `2/4`.
    pub shard: String,
    /// The machine that played it, where that is known.
    pub host: Option<String>,
    /// Arrivals that it had planned; none of a plan without arrivals.
    pub planned: Option<u64>,
    /// Requests that it has sent, by its records.
    pub sent: u64,
    /// Rows of its log.
    pub records: u64,
    /// Planned arrivals of which there is no record.
    pub without_record: u64,
    /// How its log ends.
    pub log: ShardLog,
    /// Whether it said that it had ended and that all of it is there; none where shards were named one by one.
    pub done: Option<bool>,
}

impl ShardCoverage {
    /// Whether records of it are missing.
    pub fn is_incomplete(&self) -> bool {
        self.without_record > 0 || self.log != ShardLog::Complete
    }
}

/// How the log of a shard ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardLog {
    /// With its end mark.
    #[default]
    Complete,
    /// Without: its process was killed, its disk was full, or it is still running.
    CutShort,
    /// There is none.
    Missing,
}
