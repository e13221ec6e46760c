//! Merging gives the same rows in the same order, however they were spread over logs, and in whatever memory.

use headway_base::{Nanos, Record, Stamp};
use headway_records::{By, Ending, Error, Limits, LogReader, Merge, Metadata, merge, metadata};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

use crate::common::{any_row, cases, plain_row, read, write, write_all};

/// Rows whose times collide often, so that ties are tested too.
fn close_row() -> impl Strategy<Value = Record> {
    let started = proptest::option::of(0..40i64);
    (any_row(), 0..40i64, started, 0..5u64).prop_map(|(row, intended, started, k)| Record {
        k,
        intended: Nanos(intended),
        started: Stamp::from(started.map(Nanos)),
        ..row
    })
}

/// The rows as a merge gives them that looks at the logs once one was found to be out of order, and how many are.
fn in_one_pass(logs: &[PathBuf], by: By, limits: Limits, folder: &Path) -> (Vec<Record>, usize) {
    let rows = |disordered: &[PathBuf]| {
        Merge::in_one_pass(logs, by, limits, folder, disordered)?.collect::<Result<Vec<Record>, Error>>()
    };
    let disordered = Merge::disordered(logs, by, limits).unwrap();
    match rows(&[]) {
        Err(Error::Disorder { path }) => {
            assert!(disordered.contains(&path), "{}", path.display());
            (rows(&disordered).unwrap(), disordered.len())
        }
        first => (first.unwrap(), 0),
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_merge_is_order_free(
        (rows, mixed) in proptest::collection::vec(close_row(), 0..200)
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        spread in proptest::collection::vec(any::<prop::sample::Index>(), 200),
        number_of_logs in 1..5usize,
        rows_in_memory in 0..30usize,
        runs_at_once in 0..5usize,
        batch in 1..20usize,
        by in prop_oneof![Just(By::Intended), Just(By::Started)],
    ) {
        let mut logs = vec![Vec::new(); number_of_logs];
        for (row, log) in mixed.into_iter().zip(spread) {
            logs[log.index(number_of_logs)].push(row);
        }
        let folder = tempfile::tempdir().unwrap();
        let paths = write_all(folder.path(), &logs, batch);
        let tight = Limits { rows_in_memory, runs_at_once, ..Limits::default() };
        let merged: Vec<Record> =
            Merge::open(&paths, by, tight, folder.path()).unwrap().map(Result::unwrap).collect();

        let whole = tempfile::tempdir().unwrap();
        let path = write_all(whole.path(), std::slice::from_ref(&rows), 8_192);
        let roomy: Vec<Record> = Merge::open(&path, by, Limits::default(), whole.path())
            .unwrap()
            .map(Result::unwrap)
            .collect();
        prop_assert_eq!(&merged, &roomy);
        prop_assert_eq!(&merged, &in_one_pass(&paths, by, tight, folder.path()).0);

        let time = |row: &Record| match by {
            By::Intended => row.intended,
            By::Started => row.started.get().unwrap_or(row.intended),
        };
        prop_assert!(merged.is_sorted_by_key(time));
        let texts = |rows: &[Record]| {
            let mut texts: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            texts.sort();
            texts
        };
        prop_assert_eq!(texts(&merged), texts(&rows));
    }
}

#[test]
fn a_nearly_sorted_log_needs_no_disk() {
    let folder = tempfile::tempdir().unwrap();
    // Request k ends when the ones due up to seven places later have ended, as under answers of varying time.
    let rows: Vec<Record> = (0..800).map(|k| plain_row(k ^ 7)).collect();
    let logs = write_all(folder.path(), &[rows, (800..1_000).map(plain_row).collect()], 4);
    let run = |rows_in_memory| {
        let limits = Limits { rows_in_memory, runs_at_once: 100, ..Limits::default() };
        let mut merge = Merge::open(&logs, By::Intended, limits, folder.path()).unwrap();
        let mut keys = Vec::new();
        while let Some(row) = merge.next_row().unwrap() {
            keys.push(row.k);
        }
        assert!(keys.iter().copied().eq(0..1_000));
        merge.merged().sorted_on_disk
    };
    // A batch of four is there in any case. With four rows of each of the two logs all are there that may be out of place.
    assert_eq!((run(8), run(0)), (0, 1));
    let limits = |rows_in_memory| Limits { rows_in_memory, ..Limits::default() };
    for (rows_in_memory, disordered) in [(8, 0), (0, 1)] {
        let (rows, found) = in_one_pass(&logs, By::Intended, limits(rows_in_memory), folder.path());
        assert!(rows.iter().map(|row| row.k).eq(0..1_000));
        assert_eq!(found, disordered);
    }
}

#[test]
fn merged_logs_count_from_one_zero_and_say_which_were_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let zero = |ns: i64| Metadata::from([(metadata::ZERO_UNIX_NS.to_string(), ns.to_string())]);
    write(&path("a"), &zero(1_000_000_000), &[&[plain_row(0), plain_row(2)]]);
    write(&path("b"), &zero(1_003_000_000), &[&[plain_row(0)], &[plain_row(1)]]);
    let bytes = std::fs::read(path("b")).unwrap();
    // Into the last batch: before the footer, its length, the magic at the end, and the end mark.
    let footer = u32::from_le_bytes(bytes[bytes.len() - 10..][..4].try_into().unwrap()) as usize;
    std::fs::write(path("c"), &bytes[..bytes.len() - 10 - footer - 8 - 1]).unwrap();

    let merged = merge(&[path("a"), path("c")], &path("out"), By::Started, Limits::default()).unwrap();
    assert_eq!(merged.rows, 3);
    let [(cut, Ending::Truncated { bytes_left_over, .. })] = &merged.truncated[..] else {
        panic!("{merged:?}")
    };
    assert_eq!(*cut, path("c"));
    assert!(*bytes_left_over > 0);
    let reader = LogReader::open(&path("out")).unwrap();
    assert_eq!(*reader.metadata(), zero(1_000_000_000));
    let (rows, ending) = read(Ok(reader)).unwrap();
    // The other machine's zero was 3 ms later, so its first row stands after both of this one's.
    assert_eq!(rows.iter().map(|row| row.intended).collect::<Vec<_>>(), [0, 2, 3].map(Nanos::from_millis));
    assert_eq!(rows[2].arrived, rows[2].intended);
    assert_eq!(rows[2].service(), plain_row(0).service());
    assert_eq!(rows[2].connect, plain_row(0).connect);
    assert_eq!(ending, Some(Ending::Complete));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// When a run was stopped stands with the end mark; of several logs that were all stopped the mean of the instants, on the first one's clock.
#[test]
fn a_log_says_when_its_run_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let log = |name: &str, zero: i64, stop: Option<i64>, ends: bool| {
        let said = [(metadata::ZERO_UNIX_NS.to_owned(), zero.to_string())].into();
        let mut writer = headway_records::LogWriter::create(&at(name), &said).unwrap();
        writer.append(&[plain_row(1), plain_row(2)]).unwrap();
        if let Some(stop) = stop {
            writer.stopped(Nanos(stop));
        }
        if ends {
            writer.finish().unwrap();
        }
        at(name)
    };
    let stopped = |path: &Path| {
        let reader = LogReader::open(path).unwrap();
        let said = reader.stopped_at();
        let (rows, ending) = read(Ok(reader)).unwrap();
        assert_eq!((rows.len() % 2, ending.is_some()), (0, true));
        said.map(|at| at.0)
    };
    let (one, other) = (log("one", 1_000, Some(70), true), log("other", 1_050, Some(30), true));
    let (whole, killed) = (log("whole", 1_000, None, true), log("killed", 1_000, Some(70), false));
    assert_eq!([&one, &other, &whole, &killed].map(|log| stopped(log)), [Some(70), Some(30), None, None]);
    // The footer is where any reader of Arrow files finds it, and the metadata of the schema are as they were.
    assert_eq!(LogReader::open(&one).unwrap().metadata().len(), 1);
    let exact = Limits { same_zero: Nanos::ZERO, ..Limits::default() };
    merge(&[one.clone(), other.clone()], &at("merged"), By::Started, exact).unwrap();
    assert_eq!(stopped(&at("merged")), Some(75));
    merge(&[other.clone(), one.clone()], &at("turned"), By::Started, exact).unwrap();
    assert_eq!(stopped(&at("turned")), Some(25));
    for (name, by) in [("plain.parquet", None), ("sorted.parquet", Some(By::Started))] {
        headway_records::to_parquet(&[one.clone(), other.clone()], &at(name), by, exact).unwrap();
        assert_eq!(stopped(&at(name)), Some(75), "{name}");
    }
    merge(&[one.clone(), whole], &at("some"), By::Started, exact).unwrap();
    assert_eq!(stopped(&at("some")), None);
    // Any byte of the footer may be damaged: the log is read or refused, and nothing panics.
    let bytes = std::fs::read(&one).unwrap();
    for at in bytes.len().saturating_sub(600)..bytes.len() {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let _ = LogReader::from_bytes(damaged).map(|reader| reader.stopped_at());
        }
    }
}
