//! What appending and encoding a row costs, in nanoseconds of this thread's time: `cargo run --release --example
//! encode [ROWS] [LOG]`. Without LOG the log goes to a temporary file; with it, the log stays there, to be looked at.
//!
//! The rows are like those of a run: answers of varying time, some requests on new connections, a few that never
//! started.

use std::path::PathBuf;

use headway_base::{Nanos, Outcome, Record};
use headway_records::{LogReader, LogWriter, Metadata, metadata};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rows: u64 = arguments.next().map_or(Ok(2_000_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let log = arguments.next().map_or(folder.path().join("records.arrow"), PathBuf::from);
    let said = Metadata::from([
        (metadata::SEED.to_string(), "1".to_string()),
        (metadata::STEPS.to_string(), r#"["list","add"]"#.to_string()),
    ]);

    // Made beforehand and used again and again: the making is not what is measured.
    let made: Vec<Record> = (0..8_192).map(row).collect();
    let mut writer = LogWriter::create(&log, &said)?;
    let before = cpu_ns();
    let mut left = rows;
    while left > 0 {
        // As a worker's batches come: a few hundred rows at a time.
        for batch in made.chunks(256) {
            let batch = &batch[..batch.len().min(left as usize)];
            writer.append(batch)?;
            left -= batch.len() as u64;
        }
    }
    writer.flush()?;
    let written = cpu_ns();
    writer.finish()?;
    let bytes = std::fs::metadata(&log)?.len();

    let start = cpu_ns();
    let mut reader = LogReader::open(&log)?;
    let mut read = 0;
    while let Some(batch) = reader.next_batch()? {
        read += batch.len() as u64;
    }
    assert_eq!(read, rows);
    let each = |ns: u64| ns as f64 / rows as f64;
    println!(
        "{rows} rows: append and write {:.1} ns/row, read {:.1} ns/row, {:.1} bytes/row",
        each(written - before),
        each(cpu_ns() - start),
        bytes as f64 / rows as f64
    );
    Ok(())
}

fn row(k: u64) -> Record {
    let at = Nanos::from_micros(100 * k as i64);
    let later = |us: i64| at + Nanos::from_micros(us);
    if k % 1_000 == 999 {
        return Record::never_started(k, at, later(30_000_000), Outcome::Shed);
    }
    let is_new = k.is_multiple_of(10);
    let answer = 300 + (k * 7_919 % 2_000) as i64;
    Record {
        started: later(15).into(),
        sent: later(if is_new { 140 } else { 15 }).into(),
        first_byte: later(answer).into(),
        connect: is_new.then_some(Nanos::from_micros(120)).into(),
        bytes_received: 612,
        bytes_sent: 84,
        connection: (k % 64) as u32,
        step: (k % 2) as u16,
        status: 200,
        reused: !is_new,
        ..Record::never_started(k, at, later(answer + 20), Outcome::Ok)
    }
}

/// Time that this thread has spent on a processor, user and system, as the kernel accounts it.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}
