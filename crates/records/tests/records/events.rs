//! The events of responses: a second table, there where something makes events, readable to its last batch.

use headway_base::{EventKind, Nanos, Record, ResponseEvent, Short, Stamp};
use headway_records::folder::{EVENTS, RECORDS};
use headway_records::{Ending, Error, EventReader, LogReader, Metadata, RunFolder, RunLog, metadata};
use proptest::prelude::*;

use crate::common::{cases, plain_row, read};

fn any_event() -> impl Strategy<Value = ResponseEvent> {
    let nanos = || any::<i64>().prop_map(Nanos);
    let before = proptest::option::of(any::<i64>().prop_map(Nanos)).prop_map(Stamp::from);
    let numbers = (any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>());
    let small = (any::<u16>(), any::<u16>(), any::<u16>(), 0..EventKind::ALL.len());
    (nanos(), nanos(), nanos(), before, numbers, small).prop_map(
        |(intended, arrived, at, before, numbers, small)| ResponseEvent {
            k: numbers.0,
            intended,
            arrived,
            at,
            before,
            bytes: numbers.1,
            count: numbers.2,
            repeat: numbers.3,
            step: small.0,
            group: small.1,
            shard: small.2,
            unread: if small.0 % 3 == 0 { Short::UNKNOWN } else { Short::from(at) },
            kind: EventKind::ALL[small.3],
        },
    )
}

/// Two events and the end of the request of that record.
fn events_of(record: &Record) -> [ResponseEvent; 3] {
    let end = ResponseEvent::end_of(record);
    let first = ResponseEvent {
        kind: EventKind::Chunk,
        at: record.first_byte.get().unwrap(),
        count: 1,
        bytes: 9,
        ..end
    };
    let later = ResponseEvent { at: record.done, before: first.at.into(), ..first };
    [first, later, ResponseEvent { count: 2, bytes: 18, before: later.at.into(), ..end }]
}

fn rows(events: Result<EventReader, Error>) -> (Vec<ResponseEvent>, Option<Ending>) {
    let mut reader = events.unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        rows.extend_from_slice(batch);
    }
    (rows, reader.ending())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_column_of_any_event_comes_back(events in proptest::collection::vec(any_event(), 1..600)) {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create_exact(folder.path()).unwrap();
        let said = Metadata::from([(metadata::SEED.to_owned(), "7".to_owned())]);
        let mut log = RunLog::create(&run, &said).unwrap();
        log.append(&[], &events).unwrap();
        log.finish().unwrap();
        let reader = EventReader::open(&run.events()).unwrap();
        prop_assert_eq!(reader.metadata(), &said);
        prop_assert_eq!(rows(EventReader::open(&run.events())), (events, Some(Ending::Complete)));
    }
}

#[test]
fn a_run_without_events_has_no_table_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_exact(folder.path()).unwrap();
    let mut log = RunLog::create(&run, &Metadata::new()).unwrap();
    (0..10).for_each(|k| log.append(&[plain_row(k)], &[]).unwrap());
    log.finish().unwrap();
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names, [RECORDS]);
}

#[test]
fn a_reader_of_records_does_not_notice_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_exact(folder.path()).unwrap();
    let mut log = RunLog::create(&run, &Metadata::new()).unwrap();
    let records: Vec<Record> = (0..10).map(plain_row).collect();
    records.iter().for_each(|row| log.append(&[*row], &events_of(row)).unwrap());
    log.finish().unwrap();
    assert_eq!(log.rows_written(), 10);
    assert_eq!(read(LogReader::open(&run.records())).unwrap(), (records, Some(Ending::Complete)));
    let other = LogReader::open(&run.events()).unwrap_err().to_string();
    assert!(other.contains("its schema is `headway.events/1`, not `headway.records/1`"), "{other}");
    let other = EventReader::open(&run.records()).unwrap_err().to_string();
    assert!(other.contains("its schema is `headway.records/1`, not `headway.events/1`"), "{other}");
}

/// As a kill -9 leaves it: no end mark, and perhaps a piece of a batch. Wherever it is cut, whole batches are read.
#[test]
fn a_table_that_was_cut_short_is_readable_to_its_last_batch() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_exact(folder.path()).unwrap();
    let mut log = RunLog::create(&run, &Metadata::new()).unwrap();
    let mut ends = Vec::new();
    let mut all = Vec::new();
    for k in 0..5 {
        let row = plain_row(k);
        log.append(&[row], &events_of(&row)).unwrap();
        log.flush().unwrap();
        all.extend(events_of(&row));
        ends.push(std::fs::metadata(run.events()).unwrap().len() as usize);
    }
    std::mem::forget(log);
    let bytes = std::fs::read(folder.path().join(EVENTS)).unwrap();
    assert_eq!(bytes.len(), ends[4]);
    for cut in (ends[0]..=ends[4]).step_by(7).chain(ends.clone()) {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let (found, ending) = rows(EventReader::from_bytes(&bytes[..cut]));
        assert_eq!(found, all[..3 * whole], "cut at {cut}");
        let at = ends[whole - 1];
        assert_eq!(ending, Some(Ending::Truncated { at: at as u64, bytes_left_over: (cut - at) as u64 }));
    }
}

/// Also where a full batch of records is written before anybody asks for it.
#[test]
fn a_record_that_can_be_read_has_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_exact(folder.path()).unwrap();
    let mut log = RunLog::create(&run, &Metadata::new()).unwrap();
    let records: Vec<Record> = (0..9_000).map(plain_row).collect();
    for block in records.chunks(100) {
        let ends: Vec<ResponseEvent> = block.iter().map(ResponseEvent::end_of).collect();
        log.append(block, &ends).unwrap();
    }
    std::mem::forget(log);
    let (written, _) = read(LogReader::open(&run.records())).unwrap();
    let (events, _) = rows(EventReader::open(&run.events()));
    assert!(written.len() >= 8_192 && events.len() >= written.len(), "{} {}", written.len(), events.len());
}

#[test]
fn a_table_of_events_that_cannot_be_made_costs_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_exact(folder.path()).unwrap();
    std::fs::write(run.events(), b"another's").unwrap();
    let mut log = RunLog::create(&run, &Metadata::new()).unwrap();
    let row = plain_row(0);
    let error = log.append(&[row], &events_of(&row)).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    log.finish().unwrap();
    assert_eq!((log.rows_written(), log.rows_lost()), (1, 3));
    assert_eq!(std::fs::read(run.events()).unwrap(), b"another's");
}
