//! The columns of a log: one table, [`ALL`], from which writer, reader, documentation and tests derive.
//!
//! Adding a column is adding one entry. It must be a nullable one: older logs do not have it, and older readers
//! skip it. Anything else is a new major version.
//!
//! Instants are 64-bit integers, not Arrow timestamps: they count from the plan's zero, and a tool that shows them
//! as dates in 1970 would mislead. Outcome and kind are dictionaries with 8-bit signed keys, which pandas, Polars and
//! DuckDB read as categories.

use std::sync::Arc;

use arrow_array::types::{Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use headway_base::{Kind, Nanos, Outcome, Record, Rough, Short, Stamp, Trigger};

use crate::metadata::{self, Metadata};

mod cells;
pub mod events;
mod traces;

use traces::TraceIds;

use cells::{OnlyWith, flag, nullable, required, words, words_or_none};

/// The schema's name and major version, as written under the key `headway.schema`.
pub const VERSION: &str = "headway.records/1";

/// What a table holds: rows of one type, with the columns that they have on disk.
pub trait Row: Copy + Send + Sync + 'static {
    /// The table's name and major version, as written under the key `headway.schema`.
    const VERSION: &'static str;
    /// The row that a table without nullable columns gives.
    const BLANK: Self;
    /// Every column, in the order of the file, in which a reader fills rows too.
    fn columns() -> &'static [&'static dyn Column<Self>];
}

impl Row for Record {
    const VERSION: &'static str = VERSION;
    const BLANK: Record = blank();
    fn columns() -> &'static [&'static dyn Column] {
        &ALL
    }
}

/// One column: a name, a type, and the way between cells and rows.
pub trait Column<R = Record>: Sync {
    /// The column's name; a unit stands last in it.
    fn name(&self) -> &'static str;
    /// What a cell says, in one sentence for the documentation.
    fn about(&self) -> &'static str;
    /// The Arrow type of the cells.
    fn data_type(&self) -> DataType;
    /// Whether cells may be null. Only a nullable column may be missing from a log.
    fn nullable(&self) -> bool;
    /// An empty builder for this column's cells, with room for `capacity` rows.
    fn builder(&'static self, capacity: usize) -> Box<dyn Cells<R>>;
    /// The same for a log with that metadata; none where such a log does not have the column, which only a nullable one may lack.
    fn builder_for(&'static self, metadata: &Metadata, capacity: usize) -> Option<Box<dyn Cells<R>>> {
        let _ = metadata;
        Some(self.builder(capacity))
    }
    /// Fills this column's field of each row from `cells`, which are as many and of this column's type. Null leaves
    /// the field as [`blank`] has it.
    ///
    /// # Errors
    /// What is wrong with the cells, in words: another type than the column's, or a word not known.
    fn fill(&self, cells: &dyn Array, rows: &mut [R]) -> Result<(), String>;
}

/// Collects cells of one column.
pub trait Cells<R = Record>: Send {
    /// Adds one cell per row.
    fn append(&mut self, rows: &[R]);
    /// The cells so far as an Arrow array; the builder is empty afterwards.
    fn finish(&mut self) -> ArrayRef;
}

/// Every column, in the order of the file, in which a reader fills rows too.
pub static ALL: [&'static dyn Column; 28] = [
    &required::<UInt64Type, _, _, Record>(
        "k",
        "number of the arrival or session, from 0, over the whole plan",
        |row| row.k,
        |row, k| row.k = k,
    ),
    &words::<_, _, Record>(
        "kind",
        "what the row stands for",
        &KINDS,
        |row| row.kind as i8,
        |row, at| row.kind = Kind::ALL[at],
    ),
    &words::<_, _, Record>(
        "outcome",
        "how it ended",
        &OUTCOMES,
        |row| row.outcome as i8,
        |row, at| row.outcome = Outcome::ALL[at],
    ),
    &required::<Int64Type, _, _, Record>(
        "intended_ns",
        "when it was due, since the plan's zero",
        |row| row.intended.0,
        // Whose own column is null or missing, it is also that by which it is counted to a phase.
        |row, ns| (row.intended, row.arrived) = (Nanos(ns), Nanos(ns)),
    ),
    &nullable::<Int64Type, _, _, Record>(
        "started_ns",
        "the clock just before its first system call; null if it never started",
        |row| ns(row.started),
        |row, ns| row.started = Nanos(ns).into(),
    ),
    &nullable::<Int64Type, _, _, Record>(
        "sent_ns",
        "the clock just before the write that carried its first byte; null if nothing was sent",
        |row| ns(row.sent),
        |row, ns| row.sent = Nanos(ns).into(),
    ),
    &nullable::<Int64Type, _, _, Record>(
        "first_byte_ns",
        "the clock after the read that brought the first byte of the answer; null without one",
        |row| ns(row.first_byte),
        |row, ns| row.first_byte = Nanos(ns).into(),
    ),
    &required::<Int64Type, _, _, Record>(
        "done_ns",
        "the clock when it ended, or when it was given up",
        |row| row.done.0,
        |row, ns| row.done = Nanos(ns),
    ),
    &required::<Int64Type, _, _, Record>(
        "wait_ns",
        "how long it was due but held back by the connection cap",
        |row| row.wait.0,
        |row, ns| row.wait = Nanos(ns),
    ),
    &nullable::<Int64Type, _, _, Record>(
        "connect_ns",
        "span of opening a connection for it; null on a reused one",
        |row| ns(row.connect),
        |row, ns| row.connect = Nanos(ns).into(),
    ),
    &nullable::<Int64Type, _, _, Record>(
        "tls_ns",
        "span of the TLS handshake for it; null on a reused connection or without TLS",
        |row| ns(row.tls),
        |row, ns| row.tls = Nanos(ns).into(),
    ),
    &required::<UInt64Type, _, _, Record>(
        "bytes_received",
        "bytes of the answer: head, framing and body, before TLS",
        |row| row.bytes_received,
        |row, n| row.bytes_received = n,
    ),
    &required::<UInt64Type, _, _, Record>(
        "bytes_sent",
        "bytes of the request, before TLS",
        |row| row.bytes_sent,
        |row, n| row.bytes_sent = n,
    ),
    &required::<UInt32Type, _, _, Record>(
        "count",
        "contiguous arrivals that the row stands for: 1, or more for never-started ones",
        |row| row.count,
        |row, n| row.count = n,
    ),
    // Nullable for logs of producers that know no users; the rows of this one always have the number.
    &nullable::<UInt32Type, _, _, Record>(
        "user",
        "user of a closed workload that sent it, 0 in an open one",
        |row| Some(row.user),
        |row, user| row.user = user,
    ),
    &required::<UInt32Type, _, _, Record>(
        "repeat",
        "which repeat of the step, from 0",
        |row| row.repeat,
        |row, n| row.repeat = n,
    ),
    &nullable::<UInt32Type, _, _, Record>(
        "connection",
        "number of the connection within its shard; null if it never had one",
        |row| (row.connection != u32::MAX).then_some(row.connection),
        |row, connection| row.connection = connection,
    ),
    &required::<UInt16Type, _, _, Record>(
        "step",
        "index of the step; its label stands in the metadata",
        |row| row.step,
        |row, step| row.step = step,
    ),
    &required::<UInt16Type, _, _, Record>(
        "attempt",
        "which attempt, from 0",
        |row| u16::from(row.attempt),
        |row, n| row.attempt = u8::try_from(n).unwrap_or(u8::MAX),
    ),
    &required::<UInt16Type, _, _, Record>(
        "shard",
        "which shard of the plan sent it",
        |row| row.shard,
        |row, shard| row.shard = shard,
    ),
    &nullable::<UInt16Type, _, _, Record>(
        "status",
        "status code of the answer; null without one",
        |row| (row.status != 0).then_some(row.status),
        |row, status| row.status = status,
    ),
    &flag::<_, _, Record>(
        "reused",
        "whether it went over a connection that an earlier request had used",
        |row| row.reused,
        |row, reused| row.reused = reused,
    ),
    // Nullable, these three, because logs of open workloads did not have them.
    &words_or_none::<_, _, Record>(
        "due",
        "how it came to be due: `arrival` by the plan (so too if null), `step` after a session's request before, `user` in a \
         closed user's loop",
        &DUES,
        |row| row.due as i8,
        |row, at| row.due = Trigger::ALL[at],
    ),
    &nullable::<Int64Type, _, _, Record>(
        "arrived_ns",
        "when its session was due, by which it is counted to a phase; null if that is `intended_ns`",
        |row| (row.arrived != row.intended).then_some(row.arrived.0),
        |row, ns| row.arrived = Nanos(ns),
    ),
    &nullable::<UInt16Type, _, _, Record>(
        "group",
        "index of the group of users, within which k and user count; 0 if null",
        |row| Some(row.group),
        |row, group| row.group = group,
    ),
    &nullable::<Int64Type, _, _, Record>(
        "unread_ns",
        "how long the answer's last bytes lay in the socket before they were read, rounded up (whole us, 0.2 %); null where \
         that is not known",
        |row| row.unread.get().map(|span| span.0),
        |row, ns| row.unread = Nanos(ns).into(),
    ),
    &OnlyWith {
        key: metadata::STALLS,
        column: nullable::<Int64Type, _, _, Record>(
            "stood_still_ns",
            "the longest standstill of the generator that no earlier row of its shard has, rounded down by up to 1/17, 0 \
             below 1 ms; null: unknown. Only with --connecting",
            |row| row.stood_still.get().map(|span| span.0),
            |row, ns| row.stood_still = Nanos(ns).into(),
        ),
    },
    &TraceIds,
];

const OUTCOMES: [&str; Outcome::ALL.len()] = {
    let mut names = [""; Outcome::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Outcome::ALL[at].name();
        at += 1;
    }
    names
};

const DUES: [&str; 3] = [Trigger::ALL[0].name(), Trigger::ALL[1].name(), Trigger::ALL[2].name()];

const KINDS: [&str; 3] = [Kind::ALL[0].name(), Kind::ALL[1].name(), Kind::ALL[2].name()];

fn ns(stamp: Stamp) -> Option<i64> {
    stamp.get().map(|at| at.0)
}

/// The row that a log without nullable columns gives: every field that may be missing is.
pub const fn blank() -> Record {
    Record {
        unread: Short::UNKNOWN,
        stood_still: Rough::UNKNOWN,
        ..Record::never_started(0, Nanos::ZERO, Nanos::ZERO, Outcome::Ok)
    }
}

/// The Arrow schema of a log: every column that it has, and `metadata` with the version added.
pub fn arrow_schema<R: Row>(metadata: &Metadata) -> SchemaRef {
    let columns = R::columns().iter().filter(|column| column.builder_for(metadata, 0).is_some());
    let fields: Vec<Field> = columns.map(|c| Field::new(c.name(), c.data_type(), c.nullable())).collect();
    let mut texts = metadata.clone();
    texts.insert(metadata::SCHEMA.to_string(), R::VERSION.to_string());
    Arc::new(Schema::new_with_metadata(fields, texts))
}

/// The columns of a table as Markdown, for the documentation.
pub fn markdown<R: Row>() -> String {
    let mut text = String::from("| column | type | null | meaning |\n|---|---|---|---|\n");
    for column in R::columns() {
        let null = if column.nullable() { "yes" } else { "" };
        let type_name = match column.data_type() {
            DataType::Dictionary(..) => "dictionary(int8, utf8)".to_string(),
            other => other.to_string().to_lowercase(),
        };
        text += &format!("| {} | {type_name} | {null} | {} |\n", column.name(), column.about());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_their_unit() {
        for (at, column) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|earlier| earlier.name() != column.name()));
            let counts_time = column.data_type() == DataType::Int64;
            assert_eq!(column.name().ends_with("_ns"), counts_time, "{}", column.name());
        }
    }

    #[test]
    fn the_table_for_the_documentation_has_a_row_per_column() {
        assert_eq!(markdown::<Record>().lines().count(), 2 + ALL.len());
    }
}
