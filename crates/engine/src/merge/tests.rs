//! Shards that are made up: real plans, responses that nobody sent.

use super::*;
use headway_base::{Outcome, Rate, Stamp};
use headway_records::{LogWriter, folder};
use headway_stats::summary::PlanSummary;
use headway_workload::Process;
use std::fs;
use tempfile::TempDir;

/// How many shards the plan has.
pub(super) const COUNT: u32 = 3;

pub(super) fn plan() -> Plan {
    let zero = Nanos::ZERO;
    Plan::ramp_and_hold(11, Process::Poisson, Rate(300.0), zero, zero, Nanos::from_secs(4))
}

pub(super) fn manifest(index: u32) -> Manifest {
    let plan = Plan { shard: Shard::new(index, COUNT).unwrap(), ..plan() };
    Manifest {
        schema: crate::manifest::SCHEMA.to_owned(),
        headway: env!("CARGO_PKG_VERSION").to_owned(),
        command: String::new(),
        name: "made-up".to_owned(),
        zero_unix_ns: 1_700_000_000_000_000_000,
        started_at: "2023-11-14T22:13:20Z".to_owned(),
        plan: plan.document(),
        asked: PlanSummary {
            threads: Some(1),
            target: Some("http://127.0.0.1/".to_owned()),
            steps: vec!["request".to_owned()],
            timeout_s: Some(30.0),
            ..crate::plan_summary(&plan)
        },
        shards: Vec::new(),
    }
}

/// The records of a shard, in the order in which they ended.
pub(super) fn rows(index: u32) -> Vec<Record> {
    let row = |arrival: headway_workload::arrivals::Arrival| {
        let at = |us: u64| arrival.intended + Nanos::from_micros(us as i64);
        let done = at(400 + arrival.k * 7_919 % 90_000);
        Record {
            started: Stamp::from(at(9)),
            sent: Stamp::from(at(11)),
            first_byte: Stamp::from(done),
            status: 200,
            shard: index as u16,
            ..Record::never_started(arrival.k, arrival.intended, done, Outcome::Ok)
        }
    };
    let mut rows: Vec<Record> = plan().arrivals_of(Shard::new(index, COUNT).unwrap()).map(row).collect();
    rows.sort_by_key(|row| row.done);
    rows
}

/// The folder of a shard, with these records in batches of so many.
pub(super) fn write(at: &Path, own: &Manifest, rows: &[Record], batch: usize) {
    fs::create_dir_all(at).unwrap();
    fs::write(at.join(folder::PLAN), own.json().unwrap()).unwrap();
    let mut log = LogWriter::create(&at.join(folder::RECORDS), &own.log_metadata().unwrap()).unwrap();
    for batch in rows.chunks(batch) {
        log.append(batch).unwrap();
        log.flush().unwrap();
    }
    log.finish().unwrap();
}

/// The log and the summary that they are merged to.
fn merged(shards: Shards, at: &Path, limits: Limits) -> (Vec<u8>, Summary) {
    let folder = RunFolder::create_exact(at).unwrap();
    let merged = shards.merge_within(&folder, limits).unwrap();
    assert_eq!(merged.arrivals_without_record, 0);
    (fs::read(folder.records()).unwrap(), merged.summary)
}

#[test]
fn logs_out_of_order_are_merged_to_the_same_bytes_and_numbers() {
    let at = TempDir::new().unwrap();
    let open = |name: &str, change: &dyn Fn(u32, &mut Vec<Record>)| {
        let folders: Vec<PathBuf> = (0..COUNT).map(|i| at.path().join(format!("{name}-{i}"))).collect();
        for (i, folder) in (0..).zip(&folders) {
            let mut rows = rows(i);
            change(i, &mut rows);
            write(folder, &manifest(i), &rows, 10);
        }
        Shards::open(&folders).unwrap()
    };
    let roomy = Limits { same_zero: SAME_ZERO, ..Limits::default() };
    let tight = Limits { rows_in_memory: 0, runs_at_once: 2, ..roomy };
    let expected = merged(open("plain", &|_, _| {}), &at.path().join("one"), roomy);
    assert_eq!(expected.1.measured.n, plan().arrivals_of(Shard::WHOLE).count() as u64);
    // One log backwards, sorted on disk; the others in passing, with ten rows at a time and with all.
    let backwards = |i: u32, rows: &mut Vec<Record>| {
        if i == 1 {
            rows.reverse();
        }
    };
    for (name, limits) in [("two", tight), ("three", roomy)] {
        let found = merged(open(name, &backwards), &at.path().join(format!("{name}-out")), limits);
        assert!(found == expected, "{name}");
    }
}
