//! Rows to test with, and short ways to write and read them.

use std::path::{Path, PathBuf};

use headway_base::{Kind, Nanos, Outcome, Record, Rough, Short, Stamp, Trigger};
use headway_records::{Ending, Error, LogReader, LogWriter, Metadata};
use proptest::prelude::*;

/// So many cases. A failure is kept as a test with a name, not as a seed in a file.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any row that a log can hold, with stamps and spans present or missing at random.
pub fn any_row() -> impl Strategy<Value = Record> {
    let stamp = || proptest::option::of(any::<i64>().prop_map(Nanos)).prop_map(Stamp::from);
    let nanos = || any::<i64>().prop_map(Nanos);
    let stamps = (stamp(), stamp(), stamp(), stamp(), stamp());
    let spans = (nanos(), nanos(), nanos(), nanos());
    let keys = (any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let small = (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>());
    let rest = (
        any::<u64>(),
        any::<u64>(),
        0..Outcome::ALL.len(),
        0..Kind::ALL.len(),
        any::<bool>(),
        0..Trigger::ALL.len(),
    );
    (stamps, spans, keys, small, rest).prop_map(|(stamps, spans, keys, small, rest)| Record {
        k: keys.0,
        intended: spans.0,
        arrived: spans.3,
        started: stamps.0,
        sent: stamps.1,
        first_byte: stamps.2,
        done: spans.1,
        wait: spans.2,
        connect: stamps.3,
        tls: stamps.4,
        bytes_received: rest.0,
        bytes_sent: rest.1,
        count: keys.1,
        user: keys.2,
        repeat: keys.3,
        connection: keys.4,
        step: small.0,
        attempt: small.1 as u8,
        shard: small.2,
        status: small.3,
        group: small.4,
        outcome: Outcome::ALL[rest.2],
        kind: Kind::ALL[rest.3],
        due: Trigger::ALL[rest.5],
        reused: rest.4,
        unread: Short::from(spans.2),
        stood_still: Rough::UNKNOWN,
    })
}

/// A row like those of a run: answered after a while, in the order of `k`.
pub fn plain_row(k: u64) -> Record {
    let at = |us: i64| Nanos::from_micros(us + 1_000 * k as i64);
    Record {
        stood_still: Rough::UNKNOWN,
        started: at(12).into(),
        sent: at(100).into(),
        first_byte: at(900).into(),
        connect: Nanos::from_micros(80).into(),
        bytes_received: 500,
        bytes_sent: 80,
        connection: (k % 7) as u32,
        status: 200,
        ..Record::never_started(k, at(0), at(950), Outcome::Ok)
    }
}

/// Writes a log of one batch per slice, and finishes it.
pub fn write(path: &Path, metadata: &Metadata, batches: &[&[Record]]) {
    let mut writer = LogWriter::create(path, metadata).unwrap();
    for batch in batches {
        writer.append(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
}

/// Writes each list of rows to a log of its own in `folder`, in batches of so many rows.
pub fn write_all(folder: &Path, logs: &[Vec<Record>], batch: usize) -> Vec<PathBuf> {
    let path = |at| folder.join(format!("{at}.arrow"));
    for (at, rows) in logs.iter().enumerate() {
        write(&path(at), &Metadata::new(), &rows.chunks(batch).collect::<Vec<_>>());
    }
    (0..logs.len()).map(path).collect()
}

/// Every row of a log, and how it ended.
pub fn read(reader: Result<LogReader, Error>) -> Result<(Vec<Record>, Option<Ending>), Error> {
    let mut reader = reader?;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        rows.extend_from_slice(batch);
    }
    Ok((rows, reader.ending()))
}
