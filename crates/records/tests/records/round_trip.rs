//! What is written is read, in every column, and other people's columns do no harm.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use headway_base::trace::Traces;
use headway_base::{Nanos, Outcome, Record, Rough, Stamp, Trigger};
use headway_records::{Ending, Error, LogReader, LogWriter, Metadata, metadata, schema};
use proptest::prelude::*;

use crate::common::{any_row, cases, plain_row, read, write};

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_column_of_any_row_comes_back(
        rows in proptest::collection::vec(any_row(), 0..600),
        cuts in proptest::collection::vec(0..600usize, 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.arrow");
        let mut writer = LogWriter::create(&path, &Metadata::new()).unwrap();
        for (at, row) in rows.iter().enumerate() {
            writer.append(std::slice::from_ref(row)).unwrap();
            if cuts.contains(&at) {
                writer.flush().unwrap();
            }
        }
        writer.finish().unwrap();
        prop_assert_eq!(writer.rows_written(), rows.len() as u64);
        let (back, ending) = read(LogReader::open(&path)).unwrap();
        prop_assert_eq!(back, rows);
        prop_assert_eq!(ending, Some(Ending::Complete));
    }
}

#[test]
fn a_log_longer_than_a_batch_keeps_its_order_and_its_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.arrow");
    let said = Metadata::from([
        (metadata::SEED.to_string(), "42".to_string()),
        (metadata::STEPS.to_string(), r#"["list","add"]"#.to_string()),
        ("else".to_string(), "caf\u{e9}".to_string()),
    ]);
    let rows: Vec<Record> = (0..20_000).map(plain_row).collect();
    write(&path, &said, &[&rows]);
    let reader = LogReader::open(&path).unwrap();
    assert_eq!(*reader.metadata(), said);
    let batches: Vec<Vec<Record>> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [8192, 8192, 20_000 - 2 * 8192]);
    assert_eq!(batches.concat(), rows);
}

#[test]
fn rows_flushed_are_readable_while_the_writer_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.arrow");
    let mut writer = LogWriter::create(&path, &Metadata::new()).unwrap();
    writer.append(&[plain_row(0)]).unwrap();
    assert_eq!(read(LogReader::open(&path)).unwrap().0, []);
    writer.flush().unwrap();
    let (rows, ending) = read(LogReader::open(&path)).unwrap();
    assert_eq!(rows, [plain_row(0)]);
    assert!(matches!(ending, Some(Ending::Truncated { bytes_left_over: 0, .. })));
}

#[test]
fn an_existing_log_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.arrow");
    write(&path, &Metadata::new(), &[&[plain_row(1)]]);
    assert!(matches!(LogWriter::create(&path, &Metadata::new()), Err(Error::Exists { .. })));
    assert_eq!(read(LogReader::open(&path)).unwrap().0, [plain_row(1)]);
}

/// The log of one row, rewritten as a stream without magic and footer, as 0.1.0 wrote them: `change` gets its fields with their columns, and its metadata.
fn rewritten(change: impl FnOnce(&mut Vec<(Field, ArrayRef)>, &mut Metadata)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.arrow");
    write(&path, &Metadata::new(), &[&[plain_row(3)]]);
    let batch = FileReader::try_new(std::fs::File::open(&path).unwrap(), None)
        .unwrap()
        .map(Result::unwrap)
        .find(|batch| batch.num_rows() > 0)
        .unwrap();
    let mut texts: Metadata = batch.schema().metadata().clone().into();
    let fields = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect::<Vec<_>>();
    let mut columns: Vec<_> = fields.into_iter().zip(batch.columns().to_vec()).collect();
    change(&mut columns, &mut texts);
    let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, texts));
    let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn columns_of_a_later_version_are_skipped_wherever_they_stand() {
    for place in [0, 1, 12, usize::MAX] {
        let bytes = rewritten(|columns, texts| {
            let place = place.min(columns.len());
            let words: ArrayRef = Arc::new(StringArray::from(vec![Some("gold")]));
            columns.insert(place, (Field::new("tier", DataType::Utf8, true), words));
            texts.insert(metadata::SCHEMA.to_string(), "headway.records/1.3".to_string());
        });
        assert_eq!(read(LogReader::from_bytes(bytes)).unwrap().0, [plain_row(3)]);
    }
}

#[test]
fn missing_columns_read_as_none_where_they_may_be_missing() {
    for column in schema::ALL {
        let name = column.name();
        let bytes = rewritten(|columns, _| columns.retain(|(field, _)| field.name() != name));
        match read(LogReader::from_bytes(bytes)) {
            Ok((rows, _)) => {
                assert!(column.nullable(), "{name}");
                let mut expected = plain_row(3);
                let none = schema::blank();
                match name {
                    "started_ns" => expected.started = none.started,
                    "sent_ns" => expected.sent = none.sent,
                    "first_byte_ns" => expected.first_byte = none.first_byte,
                    "connect_ns" => expected.connect = none.connect,
                    "connection" => expected.connection = none.connection,
                    "status" => expected.status = none.status,
                    "unread_ns" => expected.unread = none.unread,
                    _ => {}
                }
                assert_eq!(rows, [expected], "{name}");
            }
            Err(error) => {
                assert!(!column.nullable() && error.to_string().contains(name), "{name}: {error}");
            }
        }
    }
}

#[test]
fn rows_of_older_logs_arrived_when_they_were_due() {
    let step = Record { due: Trigger::Step, arrived: Nanos(7), ..plain_row(3) };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.arrow");
    write(&path, &Metadata::new(), &[&[step, plain_row(4)]]);
    assert_eq!(read(LogReader::open(&path)).unwrap().0, [step, plain_row(4)]);
    for reversed in [false, true] {
        let bytes = rewritten(|columns, _| {
            columns.retain(|(field, _)| !["due", "arrived_ns"].contains(&field.name().as_str()));
            if reversed {
                columns.reverse();
            }
        });
        assert_eq!(read(LogReader::from_bytes(bytes)).unwrap().0, [plain_row(3)]);
    }
    // Whatever stands first in the file, a session's own arrival is not overwritten.
    let bytes = rewritten(|columns, _| {
        let at = columns.iter().position(|(field, _)| field.name() == "arrived_ns").unwrap();
        columns[at].1 = Arc::new(arrow_array::Int64Array::from(vec![Some(7)]));
        columns.reverse();
    });
    assert_eq!(read(LogReader::from_bytes(bytes)).unwrap().0, [Record { arrived: Nanos(7), ..plain_row(3) }]);
}

#[test]
fn what_is_not_a_log_of_this_version_is_refused_with_its_reason() {
    let check = |bytes: Vec<u8>, expected: &str| {
        let error = read(LogReader::from_bytes(bytes)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let version = |version: &str| {
        rewritten(|_, texts| drop(texts.insert(metadata::SCHEMA.to_string(), version.to_string())))
    };
    check(
        version("headway.records/2"),
        "its schema is `headway.records/2`, and this version reads `headway.records/1`",
    );
    check(version("headway.summary/1"), "not a log of Headway's");
    check(rewritten(|_, texts| texts.clear()), "its metadata have no `headway.schema`");
    check(b"timeStamp,elapsed,label\n".to_vec(), "not a log of Headway's");
    check(rewritten(|columns, _| columns[0].0.set_name("kay")), "column `k`: missing");
    check(
        rewritten(|columns, _| {
            let (k, steps) =
                (columns[0].1.clone(), columns.iter().position(|(f, _)| f.name() == "step").unwrap());
            columns[steps] = (Field::new("step", DataType::UInt64, false), k);
        }),
        "column `step`: its type is UInt64, expected UInt16",
    );
}

#[test]
fn outcomes_are_found_by_their_words_and_unknown_words_are_named() {
    let with_words = |words: [&str; 2]| {
        rewritten(|columns, _| {
            let at = columns.iter().position(|(field, _)| field.name() == "outcome").unwrap();
            let keys = arrow_array::Int8Array::from(vec![1]);
            let words = Arc::new(StringArray::from(words.to_vec()));
            columns[at].1 = Arc::new(arrow_array::DictionaryArray::new(keys, words));
        })
    };
    let (rows, _) = read(LogReader::from_bytes(with_words(["new-word", "refused"]))).unwrap();
    assert_eq!(rows[0].outcome, Outcome::Refused);
    let error = read(LogReader::from_bytes(with_words(["ok", "new-word"]))).unwrap_err().to_string();
    assert!(error.contains("column `outcome`: `new-word` is not known to this version"), "{error}");
}

#[test]
fn stalls_are_a_column_where_sockets_are_kept_connecting_and_are_not_known_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let stood = |ms: i64| Record { stood_still: Nanos::from_millis(ms).into(), ..plain_row(1) };
    let rows = [stood(0), stood(20), stood(47), Record { stood_still: Rough::UNKNOWN, ..plain_row(1) }];
    let back = |name: &str, said: &Metadata| {
        let path = folder.path().join(name);
        write(&path, said, &[&rows]);
        read(LogReader::open(&path)).unwrap().0
    };
    assert_eq!(back("with", &Metadata::from([(metadata::STALLS.to_owned(), "true".to_owned())])), rows);
    let without = rows.map(|row| Record { stood_still: Rough::UNKNOWN, ..row });
    assert_eq!(back("without", &Metadata::new()), without);
}

#[test]
fn traces_are_a_column_where_requests_named_them_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let column = |name: &str, said: &Metadata| {
        let path = folder.path().join(name);
        let never = Record { sent: Stamp::NONE, started: Stamp::NONE, ..plain_row(2) };
        write(&path, said, &[&[plain_row(1), never, Record { group: 1, ..plain_row(1) }]]);
        let (rows, ending) = read(LogReader::open(&path)).unwrap();
        assert_eq!((rows.len(), ending), (3, Some(Ending::Complete)));
        let reader = FileReader::try_new(std::fs::File::open(&path).unwrap(), None).unwrap();
        let batches: Vec<RecordBatch> =
            reader.map(Result::unwrap).filter(|batch| batch.num_rows() > 0).collect();
        let cells =
            batches[0].column_by_name("trace_id")?.as_any().downcast_ref::<StringArray>().unwrap().clone();
        Some(cells.iter().map(|cell| cell.map(str::to_owned)).collect::<Vec<_>>())
    };
    assert_eq!(column("without", &Metadata::new()), None);
    let said = Metadata::from([(metadata::TRACES.to_string(), "7".to_string())]);
    let traces = Traces::new(7);
    let expected = [Some(traces.id(0, 1).to_string()), None, Some(traces.id(1, 1).to_string())];
    assert_eq!(column("with", &said).unwrap(), expected);
}
