//! A request of which only the two ends are known, for readers to add to.

use headway_base::{Nanos, Outcome, Record};

/// An answered request of that generator, due when it started.
#[inline]
pub(super) fn between(generator: u16, started: Nanos, done: Nanos) -> Record {
    let mut record = Record::never_started(0, started, done, Outcome::Ok);
    record.started = started.into();
    record.shard = generator;
    record
}
