//! The Parquet export gives back what went in.

use headway_base::{Nanos, Record};
use headway_records::{By, Ending, Error, Limits, LogReader, Metadata, metadata, to_parquet};
use proptest::prelude::*;

use crate::common::{any_row, cases, plain_row, read, write, write_all};

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn an_export_reads_like_its_log(rows in proptest::collection::vec(any_row(), 0..300)) {
        let folder = tempfile::tempdir().unwrap();
        let logs = write_all(folder.path(), std::slice::from_ref(&rows), 8_192);
        let out = folder.path().join("records.parquet");
        let merged = to_parquet(&logs, &out, None, Limits::default()).unwrap();
        prop_assert_eq!(merged.rows, rows.len() as u64);
        let (back, ending) = read(LogReader::open(&out)).unwrap();
        prop_assert_eq!(back, rows);
        prop_assert_eq!(ending, Some(Ending::Complete));
    }
}

#[test]
fn an_export_keeps_the_metadata_sorts_if_asked_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let said = Metadata::from([(metadata::PLAN.to_string(), "{}".to_string())]);
    let rows: Vec<Record> = (0..10_000).rev().map(plain_row).collect();
    let log = folder.path().join("records.arrow");
    write(&log, &said, &[&rows]);
    let out = folder.path().join("records.parquet");
    let limits = Limits { rows_in_memory: 1_000, runs_at_once: 4, ..Limits::default() };
    let merged = to_parquet(std::slice::from_ref(&log), &out, Some(By::Intended), limits).unwrap();
    assert_eq!((merged.rows, merged.sorted_on_disk), (10_000, 1));
    let reader = LogReader::open(&out).unwrap();
    assert_eq!(*reader.metadata(), said);
    let back: Vec<Record> = reader.flat_map(Result::unwrap).collect();
    assert!(back.iter().eq(rows.iter().rev()));
    let again = to_parquet(&[log], &out, None, Limits::default());
    assert!(matches!(again, Err(Error::Exists { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn logs_one_after_the_other_count_from_one_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let zero = |ns: i64| Metadata::from([(metadata::ZERO_UNIX_NS.to_string(), ns.to_string())]);
    write(&path("a"), &zero(5_000_000), &[&[plain_row(9)]]);
    write(&path("b"), &zero(2_000_000), &[&[plain_row(9)]]);
    to_parquet(&[path("a"), path("b")], &path("out"), None, Limits::default()).unwrap();
    let (rows, _) = read(LogReader::open(&path("out"))).unwrap();
    assert_eq!(
        rows.iter().map(|row| row.done - plain_row(9).done).collect::<Vec<_>>(),
        [0, -3].map(Nanos::from_millis)
    );
}

/// A second table beside the first, which other programs read as they do the first.
#[test]
fn events_come_to_a_file_of_their_own() {
    use headway_base::{EventKind, ResponseEvent};
    let folder = tempfile::tempdir().unwrap();
    let run = headway_records::RunFolder::create_exact(&folder.path().join("run")).unwrap();
    let said = Metadata::from([(metadata::STEPS.to_string(), "[\"chat\"]".to_string())]);
    let rows: Vec<Record> = (0..10_000).map(plain_row).collect();
    let events: Vec<ResponseEvent> = rows
        .iter()
        .flat_map(|row| {
            let end = ResponseEvent::end_of(row);
            [ResponseEvent { kind: EventKind::Chunk, at: row.done, count: 1, bytes: 9, ..end }, end]
        })
        .collect();
    let mut log = headway_records::RunLog::create(&run, &said).unwrap();
    log.append(&rows, &events).unwrap();
    log.finish().unwrap();
    let out = folder.path().join("run.parquet");
    let merged = to_parquet(&[run.records()], &out, None, Limits::default()).unwrap();
    let beside = headway_records::events_beside_export(&out);
    assert_eq!(beside, folder.path().join("run.events.parquet"));
    assert_eq!((merged.rows, merged.events), (10_000, Some((beside.clone(), 20_000))));
    let file = std::fs::File::open(&beside).unwrap();
    let table = ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let names: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(&names[..4], ["k", "kind", "intended_ns", "at_ns"]);
    assert_eq!(table.schema().metadata()[metadata::STEPS], said[metadata::STEPS]);
    let batches: Vec<_> = table.build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>(), 20_000);
    let at = arrow_array::cast::as_primitive_array::<arrow_array::types::Int64Type>(batches[0].column(3));
    assert_eq!(at.value(0), rows[0].done.0);
    // Nothing is replaced, and nothing is left behind by what was refused.
    std::fs::remove_file(&out).unwrap();
    let again = to_parquet(&[run.records()], &out, None, Limits::default());
    assert!(matches!(again, Err(Error::Exists { .. })) && !out.exists());
}
