//! The columns of the events of responses: the second table of a run, which is there only where a step asks for them.
//!
//! A row names its request by the columns that its record has too (`shard`, `group`, `k`, `step`, `repeat`), and holds what its numbers
//! need, so that they can be computed without the other table.

use super::cells::{nullable, required, words};
use super::{Column, Row, ns};
use arrow_array::types::{Int64Type, UInt16Type, UInt32Type, UInt64Type};
use headway_base::{EventKind, Nanos, ResponseEvent, Short, Stamp};

/// Every column, in the order of the file.
pub static ALL: [&dyn Column<ResponseEvent>; 13] = [
    &required::<UInt64Type, _, _, ResponseEvent>(
        "k",
        "number of the arrival or session, as in the records",
        |row| row.k,
        |row, k| row.k = k,
    ),
    &words::<_, _, ResponseEvent>(
        "kind",
        "what the row is: `end` where the request ended, else a part of its response",
        &KINDS,
        |row| row.kind as i8,
        |row, at| row.kind = EventKind::ALL[at],
    ),
    &required::<Int64Type, _, _, ResponseEvent>(
        "intended_ns",
        "when its request was due, since the plan's zero",
        |row| row.intended.0,
        |row, ns| (row.intended, row.arrived) = (Nanos(ns), Nanos(ns)),
    ),
    &required::<Int64Type, _, _, ResponseEvent>(
        "at_ns",
        "when it reached this machine, as the kernel says, else the clock after the read; of an end, when the request ended",
        |row| row.at.0,
        |row, ns| row.at = Nanos(ns),
    ),
    &nullable::<Int64Type, _, _, ResponseEvent>(
        "before_ns",
        "the event of the same request before it; null for the first, and for an end without any",
        |row| ns(row.before),
        |row, ns| row.before = Nanos(ns).into(),
    ),
    &required::<UInt64Type, _, _, ResponseEvent>(
        "bytes",
        "bytes of the body that it brought; of an end, those of all events",
        |row| row.bytes,
        |row, n| row.bytes = n,
    ),
    &required::<UInt32Type, _, _, ResponseEvent>(
        "count",
        "pieces of framing that it was made of; of an end, how many events there were",
        |row| row.count,
        |row, n| row.count = n,
    ),
    &required::<UInt32Type, _, _, ResponseEvent>(
        "repeat",
        "which repeat of the step, from 0",
        |row| row.repeat,
        |row, n| row.repeat = n,
    ),
    &required::<UInt16Type, _, _, ResponseEvent>(
        "step",
        "index of the step; its label stands in the metadata",
        |row| row.step,
        |row, step| row.step = step,
    ),
    &required::<UInt16Type, _, _, ResponseEvent>(
        "group",
        "index of the group of users",
        |row| row.group,
        |row, group| row.group = group,
    ),
    &required::<UInt16Type, _, _, ResponseEvent>(
        "shard",
        "which shard of the plan sent its request",
        |row| row.shard,
        |row, shard| row.shard = shard,
    ),
    &nullable::<Int64Type, _, _, ResponseEvent>(
        "arrived_ns",
        "when its session was due, by which it is counted to a phase; null if that is `intended_ns`",
        |row| (row.arrived != row.intended).then_some(row.arrived.0),
        |row, ns| row.arrived = Nanos(ns),
    ),
    &nullable::<Int64Type, _, _, ResponseEvent>(
        "unread_ns",
        "how long it had lain in the socket when it was read; null where that is not known",
        |row| row.unread.get().map(|span| span.0),
        |row, ns| row.unread = Nanos(ns).into(),
    ),
];

const KINDS: [&str; EventKind::ALL.len()] = {
    let mut names = [""; EventKind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = EventKind::ALL[at].name();
        at += 1;
    }
    names
};

impl Row for ResponseEvent {
    const VERSION: &'static str = "headway.events/1";
    const BLANK: ResponseEvent = ResponseEvent {
        k: 0,
        intended: Nanos::ZERO,
        arrived: Nanos::ZERO,
        at: Nanos::ZERO,
        before: Stamp::NONE,
        bytes: 0,
        count: 0,
        repeat: 0,
        step: 0,
        group: 0,
        shard: 0,
        unread: Short::UNKNOWN,
        kind: EventKind::End,
    };
    fn columns() -> &'static [&'static dyn Column<ResponseEvent>] {
        &ALL
    }
}
