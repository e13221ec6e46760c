//! What stands in a destination: names of objects, and the documents in them. Shards write them, `headway merge` reads them.
//!
//! ```text
//! run.json               what run or study this is; made by the shard that comes first
//! clock/<i>.json         by which shard i of a run sees what the store's clock says
//! ready/<i>.json         shard i of a run waits at the barrier
//! start.json             when all begin; made by a shard that sees all of them ready
//! <i>/claim.json         a process plays shard i
//! <i>/plan.json, ...     the files of a run folder; in a bucket, the log in parts
//! <i>/part.json, ...     of a study: what it is a part of, and its plays; in a bucket, the plays in parts
//! <i>/parts/000001, ...  consecutive pieces of the bytes of the log, or of the plays; together they are it
//! <i>/progress.json      how shard i stands
//! <i>/done.json          shard i has ended, and everything of it is here
//! ```

use headway_base::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Name and version of the shape of all documents here.
pub const SCHEMA: &str = "headway.destination/1";

/// What this is the destination of: a [`RunDocument`].
pub const RUN: &str = "run.json";
/// When all begin: a [`StartDocument`].
pub const START: &str = "start.json";
/// Folder of those that wait at the barrier.
pub const READY: &str = "ready";
/// In a shard's folder: who plays it, a [`Claim`].
pub const CLAIM: &str = "claim.json";
/// In a shard's folder: how it stands, a [`Progress`]; of a study a [`PlaysProgress`].
pub const PROGRESS: &str = "progress.json";
/// In a shard's folder: that it has ended, a [`Done`].
pub const DONE: &str = "done.json";
/// In a shard's folder: folder of the pieces of its log, or of its plays.
pub const PARTS: &str = "parts";
/// Within the place of a shard in a bucket: pieces of its events of responses, if it has any.
pub const EVENTS: &str = "events";

/// The name of an object of shard `i`.
pub fn of_shard(i: u32, name: &str) -> String {
    format!("{i}/{name}")
}

/// The name of the object by which shard `i` waits at the barrier, a [`Ready`].
pub fn ready(i: u32) -> String {
    format!("{READY}/{i}.json")
}

/// The name of the object by which shard `i` sees what the store's clock says, a [`Ready`].
pub fn clock(i: u32) -> String {
    format!("clock/{i}.json")
}

/// The name of piece `number` of the log, or of the plays, of shard `i`, counted from 1.
pub fn part(i: u32, number: u32) -> String {
    format!("{i}/{PARTS}/{number:06}")
}

/// The name of piece `number` of the events of responses of shard `i`, counted from 1.
pub fn event_part(i: u32, number: u32) -> String {
    format!("{i}/{EVENTS}/{number:06}")
}

/// When all shards begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StartAt {
    /// At this instant, nanoseconds since the Unix epoch.
    Unix(i128),
    /// When all are ready.
    Barrier,
}

impl fmt::Display for StartAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartAt::Unix(at) => write!(f, "{at}"),
            StartAt::Barrier => f.write_str("barrier"),
        }
    }
}

impl From<StartAt> for String {
    fn from(start: StartAt) -> String {
        start.to_string()
    }
}

impl TryFrom<String> for StartAt {
    type Error = <i128 as FromStr>::Err;

    fn try_from(text: String) -> Result<StartAt, Self::Error> {
        match &*text {
            "barrier" => Ok(StartAt::Barrier),
            instant => Ok(StartAt::Unix(instant.parse()?)),
        }
    }
}

/// `run.json`: what a destination is of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunDocument {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// How many shards there are.
    pub shards: u32,
    /// The seed of the plan; of a study, that of the first replication.
    pub seed: u64,
    /// Of what all shards have in common: of a run [`Manifest::fingerprint`](crate::Manifest::fingerprint).
    pub fingerprint: String,
    /// What the shards are parts of.
    pub of: Whole,
}

/// What shards are parts of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// A run.
    Run(Timing),
    /// A study.
    Study {
        /// How many points it has.
        points: u64,
        /// How often each is played.
        replications: u64,
    },
}

impl Whole {
    /// What it is called.
    pub fn noun(&self) -> &'static str {
        match self {
            Whole::Run(_) => "run",
            Whole::Study { .. } => "study",
        }
    }

    /// When the shards begin and end, of a run.
    pub fn timing(&self) -> Option<&Timing> {
        match self {
            Whole::Run(timing) => Some(timing),
            Whole::Study { .. } => None,
        }
    }

    /// When all shards begin; none: each when it comes.
    pub fn start_at(&self) -> Option<StartAt> {
        self.timing()?.start_at
    }
}

/// When the shards of a run begin and end.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// When all begin; none: each when it comes.
    pub start_at: Option<StartAt>,
    /// When the plan ends, nanoseconds from its zero; a day after it where work ends it.
    pub plan_end_ns: i64,
    /// How long a response may take, seconds.
    pub timeout_s: f64,
}

impl Timing {
    /// When a run that began at `zero` has ended by its plan: the plan's end and the timeout after it, nanoseconds since the Unix epoch.
    pub fn ends_unix_ns(&self, zero_unix_ns: i128) -> i128 {
        zero_unix_ns + i128::from(self.plan_end_ns) + i128::from(Nanos::from_secs_f64(self.timeout_s).0)
    }
}

/// `start.json`: when the shards of a run begin that met at the barrier, or that they do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartDocument {
    /// All were there: the plan's zero, nanoseconds since the Unix epoch.
    ZeroUnixNs(i128),
    /// A shard has given up before all were there, and none begins.
    Never,
}

/// `ready/<i>.json` and `clock/<i>.json`: a shard waits at the barrier; it looks at the store's clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// The machine's name.
    pub host: String,
    /// When this was written, by that machine's clock, nanoseconds since the Unix epoch.
    pub at_unix_ns: i128,
    /// That machine's clock minus the store's, at least and at most, nanoseconds, if it was seen.
    #[serde(default)]
    pub offset_ns: Option<[i64; 2]>,
}

/// `<i>/claim.json`: a process plays a shard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// The machine's name.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// When it came, by that machine's clock, nanoseconds since the Unix epoch.
    pub at_unix_ns: i128,
}

/// `<i>/progress.json` of a study: how a shard stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlaysProgress {
    /// When this was written, by that machine's clock, nanoseconds since the Unix epoch.
    pub at_unix_ns: i128,
    /// Plays that ended so far.
    pub plays: u64,
}

/// `<i>/progress.json` of a run: how a shard stands.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// When this was written, by that machine's clock, nanoseconds since the Unix epoch.
    pub at_unix_ns: i128,
    /// Arrivals of the shard that fell due so far; of a plan without arrivals, requests that were sent.
    pub offered: u64,
    /// Requests that were sent so far.
    pub sent: u64,
    /// Requests that ended so far, whatever the outcome.
    pub ended: u64,
    /// Of those, the ones that did not end as ok.
    pub failed: u64,
}

/// `<i>/done.json`: a shard has ended, and everything of it is in the destination. Written last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Done {
    /// Rows of its log; of a study, plays that ended.
    pub records: u64,
    /// Bytes of its log, or of its plays.
    pub bytes: u64,
    /// Pieces of these bytes; none where they are one file.
    pub parts: Option<u32>,
    /// How its process exits.
    pub exit_code: u8,
}

/// The bytes of a document.
pub fn json<T: Serialize>(document: &T) -> Vec<u8> {
    // Numbers and texts: nothing that JSON has not.
    let mut text = serde_json::to_vec_pretty(document).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Reads a document; `place` says where it stands, for the error.
///
/// # Errors
/// It is no such document, or of another version of it: names it, and the line.
pub fn parse<T: for<'a> Deserialize<'a>>(place: &str, bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        anyhow::anyhow!(
            "{place} is not a document of a destination as this version of headway writes it: {error}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(of: Whole) -> RunDocument {
        RunDocument {
            schema: SCHEMA.to_owned(),
            version: "0.1.0".to_owned(),
            shards: 8,
            seed: u64::MAX,
            fingerprint: "00c0ffee".to_owned(),
            of,
        }
    }

    fn run(start_at: Option<StartAt>) -> RunDocument {
        document(Whole::Run(Timing { start_at, plan_end_ns: 70_000_000_000, timeout_s: 30.0 }))
    }

    #[test]
    fn documents_are_read_as_they_were_written() {
        let starts = [None, Some(StartAt::Barrier), Some(StartAt::Unix(1_764_072_000_123_456_789))];
        for start_at in starts {
            let text = json(&run(start_at));
            assert_eq!(parse::<RunDocument>("run.json", &text).unwrap(), run(start_at));
        }
        let text = String::from_utf8(json(&run(starts[2]))).unwrap();
        assert!(text.contains("\"start_at\": \"1764072000123456789\""), "{text}");
        assert!(String::from_utf8(json(&run(None))).unwrap().contains("\"start_at\": null"));
        let study = document(Whole::Study { points: 3, replications: 100 });
        assert_eq!(parse::<RunDocument>("run.json", &json(&study)).unwrap(), study);
        let done = Done { records: 3, bytes: 900, parts: None, exit_code: 0 };
        assert_eq!(parse::<Done>("done.json", &json(&done)).unwrap(), done);
        for (start, text) in [
            (StartDocument::ZeroUnixNs(1_764_072_000_123_456_789), r#"{"zero_unix_ns":1764072000123456789}"#),
            (StartDocument::Never, r#""never""#),
        ] {
            assert_eq!(parse::<StartDocument>("start.json", &json(&start)).unwrap(), start);
            assert_eq!(parse::<StartDocument>("start.json", text.as_bytes()).unwrap(), start);
        }
    }

    #[test]
    fn what_is_no_document_is_named() {
        for text in ["", "{}", "[]", "{\"zero_unix_ns\": \"soon\"}"] {
            let error = parse::<StartDocument>("dest/start.json", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("dest/start.json is not a document of a destination"), "{error}");
        }
        let late = String::from_utf8(json(&run(None))).unwrap().replace("null", "\"noon\"");
        assert!(parse::<RunDocument>("run.json", late.as_bytes()).is_err());
    }

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        assert_eq!(of_shard(12, CLAIM), "12/claim.json");
        assert_eq!(ready(0), "ready/0.json");
        assert!(part(3, 9) < part(3, 10) && part(3, 10) == "3/parts/000010");
    }

    #[test]
    fn a_run_ends_with_its_plan_and_the_time_out() {
        assert_eq!(run(None).of.timing().unwrap().ends_unix_ns(1_000), 100_000_001_000);
    }
}
