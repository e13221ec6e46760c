//! Logs that were cut or damaged: nothing that was whole is lost, and nothing panics.

use std::sync::LazyLock;

use headway_base::Record;
use headway_records::{Ending, LogReader, LogWriter, Metadata, metadata};
use proptest::prelude::*;

use crate::common::{cases, plain_row, read};

/// Length of a log in bytes, and how many rows are complete by then.
type End = (usize, usize);

/// A log of two batches, and where its head and each of them ends.
static LOG: LazyLock<(Vec<u8>, Vec<End>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.arrow");
    let said = Metadata::from([(metadata::SEED.to_string(), "7".to_string())]);
    let mut writer = LogWriter::create(&path, &said).unwrap();
    let length = || std::fs::metadata(&path).unwrap().len() as usize;
    let mut ends = vec![(length(), 0)];
    for (from, to) in [(0, 1), (1, 9)] {
        writer.append(&(from..to).map(row).collect::<Vec<_>>()).unwrap();
        writer.flush().unwrap();
        ends.push((length(), to as usize));
    }
    writer.finish().unwrap();
    (std::fs::read(&path).unwrap(), ends)
});

/// Every fifth never started, so that validity bitmaps are there to be damaged.
fn row(k: u64) -> Record {
    if k % 5 == 2 { Record { k, ..headway_records::schema::blank() } } else { plain_row(k) }
}

#[test]
fn a_log_cut_at_any_byte_reads_to_its_last_complete_batch() {
    let (bytes, ends) = &*LOG;
    let all: Vec<Record> = (0..9).map(row).collect();
    for cut in 0..bytes.len() {
        let (rows, ending) =
            read(LogReader::from_bytes(&bytes[..cut])).unwrap_or_else(|why| panic!("at {cut}: {why}"));
        let complete = ends.iter().rev().find(|(end, _)| *end <= cut).map_or(0, |(_, rows)| *rows);
        assert_eq!(rows, all[..complete], "cut at {cut}");
        let Some(Ending::Truncated { at, bytes_left_over }) = ending else {
            panic!("cut at {cut}: {ending:?}")
        };
        assert_eq!(at + bytes_left_over, cut as u64);
    }
    let (rows, ending) = read(LogReader::from_bytes(&bytes[..])).unwrap();
    assert_eq!((rows, ending), (all, Some(Ending::Complete)));
}

#[test]
fn a_tail_of_zeros_is_a_tail_that_was_never_written() {
    let (bytes, ends) = &*LOG;
    let mut padded = bytes[..ends[1].0].to_vec();
    padded.resize(padded.len() + 9_000, 0);
    let (rows, ending) = read(LogReader::from_bytes(&padded[..])).unwrap();
    assert_eq!(rows.len(), ends[1].1);
    assert_eq!(ending, Some(Ending::Truncated { at: ends[1].0 as u64, bytes_left_over: 9_000 }));
    padded.push(1);
    let error = read(LogReader::from_bytes(padded)).unwrap_err().to_string();
    assert!(error.contains(&format!("damaged at byte {}", ends[1].0)), "{error}");
}

#[test]
fn a_bit_flipped_in_any_byte_never_panics() {
    let (bytes, _) = &*LOG;
    let mut damaged = bytes.clone();
    for (at, &byte) in bytes.iter().enumerate() {
        // Another bit from byte to byte; the fuzzer has the patience for all of them.
        damaged[at] = byte ^ (1 << (at * 5 % 8));
        // What comes of it depends on the byte; the reader must only give an answer.
        let _ = read(LogReader::from_bytes(&damaged[..]));
        damaged[at] = byte;
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn many_bytes_changed_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let (bytes, _) = &*LOG;
        let mut damaged = bytes.clone();
        for (at, byte) in changes {
            damaged[at.index(bytes.len())] = byte;
        }
        damaged.truncate(cut.index(bytes.len()) + 1);
        let _ = read(LogReader::from_bytes(damaged));
    }
}
