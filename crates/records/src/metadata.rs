//! What a log says about itself beside its rows: text by key, in the schema's metadata.
//!
//! Keys of Headway's own begin with `headway.`; callers may add others. The schema's version is put there by the
//! writer and taken out by the reader, so callers never see it.

use std::collections::BTreeMap;

/// Text by key, in the order of keys.
pub type Metadata = BTreeMap<String, String>;

/// The schema and its major version, as in [`VERSION`](crate::schema::VERSION).
pub const SCHEMA: &str = "headway.schema";
/// The seed, in decimal.
pub const SEED: &str = "headway.seed";
/// The plan, as JSON.
pub const PLAN: &str = "headway.plan";
/// Labels of the steps by index, as a JSON array of strings.
pub const STEPS: &str = "headway.steps";
/// The plan's zero on the wall clock: nanoseconds since 1970-01-01 UTC, in decimal. [`merge`](crate::merge()) moves
/// the rows of logs with different zeros to the first one's.
pub const ZERO_UNIX_NS: &str = "headway.zero_unix_ns";
/// The seed of the traces, in decimal, where requests named the trace that they were of: the log has the column `trace_id` then.
pub const TRACES: &str = "headway.traces";
/// `true` where the log has the column `stood_still_ns`: sockets were kept connecting.
pub const STALLS: &str = "headway.stalls";
/// When the run was stopped before its plan had ended, nanoseconds from the plan's zero, in decimal. It is known at the end of a log only, and
/// stands with its end mark, among the metadata of the footer; in an export among those of the schema. Logs before 28 November 2026 have none.
pub const STOPPED_AT_NS: &str = "headway.stopped_at_ns";
/// The command line that made the log.
pub const COMMAND: &str = "headway.command";
