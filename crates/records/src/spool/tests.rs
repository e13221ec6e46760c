//! The spool against a stable sort, whatever the order, the chunks and the memory.

use super::*;
use headway_base::{Kind, Outcome, Short, Stamp};
use proptest::prelude::*;

/// Rows that take four chunks in memory and more on disk, or all in memory.
const TINY: [(usize, usize); 3] = [(7, 0), (64, 2_000), (1 << 20, MEMORY)];

fn row(k: u64, at: i64) -> Record {
    let at = Nanos(at);
    Record { started: at.into(), ..Record::never_started(k, at, at + Nanos(5), Outcome::Ok) }
}

fn through(rows: &[Record], chunk_rows: usize, memory: usize) -> (Vec<Record>, Spooled) {
    let mut spool = Spool::with_chunks(&std::env::temp_dir(), memory, chunk_rows);
    for row in rows {
        spool.push(row).unwrap();
    }
    let spooled = spool.finish().unwrap();
    (all(&spooled), spooled)
}

fn all(spooled: &Spooled) -> Vec<Record> {
    let mut merge = spooled.in_order().unwrap();
    std::iter::from_fn(|| merge.next().unwrap()).collect()
}

fn sorted(rows: &[Record]) -> Vec<Record> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|r| (r.started.get().unwrap_or(r.intended), r.shard, r.k));
    rows
}

fn check(rows: &[Record]) {
    for (chunk_rows, memory) in TINY {
        let (out, spooled) = through(rows, chunk_rows, memory);
        assert!(out == sorted(rows), "{} rows, chunks of {chunk_rows}, {memory} bytes", rows.len());
        assert_eq!(spooled.len(), rows.len() as u64);
    }
}

#[test]
fn any_order_comes_out_sorted() {
    let stream = headway_base::random::Stream::new(1, "places");
    let random = |i: u64, below: u64| stream.bits(i, 0) % below;
    check(&[]);
    check(&[row(0, 3)]);
    check(&(0..1000).map(|i| row(i, i as i64 * 10)).collect::<Vec<_>>());
    check(&(0..1000).map(|i| row(i, -(i as i64))).collect::<Vec<_>>());
    check(&(0..1000).map(|i| row(i, random(i, 1 << 40) as i64)).collect::<Vec<_>>());
    check(&(0..1000).map(|i| row(i, (i * 100 + random(i, 3_000)) as i64)).collect::<Vec<_>>());
    // Two generators, one file after the other.
    check(&(0..1000).map(|i| row(i, (i % 500) as i64 * 10)).collect::<Vec<_>>());
}

#[test]
fn rows_of_one_instant_stay_in_their_order() {
    let rows: Vec<Record> = (0..1000).map(|i| Record { status: i, ..row(0, i64::from(i / 300)) }).collect();
    check(&rows);
    let (out, _) = through(&rows, 7, 0);
    assert!(out == rows);
}

#[test]
fn a_spool_is_read_twice_and_nothing_is_on_disk_without_need() {
    let rows: Vec<Record> = (0..500).map(|i| row(i, (i % 77) as i64)).collect();
    let (once, spooled) = through(&rows, 7, 0);
    assert!(spooled.on_disk() > 0);
    assert!(all(&spooled) == once);
    assert_eq!(through(&rows, 7, MEMORY).1.on_disk(), 0);
    assert!(Spool::new(Path::new("/"), 0).finish().unwrap().is_empty());
}

#[test]
fn a_folder_that_takes_nothing_is_named() {
    let folder = Path::new("/no/such/folder");
    let mut spool = Spool::with_chunks(folder, 0, 1);
    let error = spool.push(&row(0, 1)).unwrap_err().to_string();
    assert!(
        error.starts_with("/no/such/folder: could not keep rows there") && error.contains("TMPDIR"),
        "{error}"
    );
}

/// `cargo test --release -p headway-records spool -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, which prints"]
#[expect(clippy::disallowed_types, reason = "it measures")]
fn cost_per_row() {
    const ROWS: u64 = 10_000_000;
    // Starts at 10,000/s that are written down when they end, up to 100 ms later; then the same in no order.
    let stream = headway_base::random::Stream::new(1, "places");
    let hash = |i: u64| stream.bits(i, 0) % ROWS;
    let places: [(&str, &dyn Fn(u64) -> u64); 2] =
        [("nearly sorted", &|i| i + hash(i) % 1000), ("in no order", &hash)];
    for (name, place) in places {
        let began = std::time::Instant::now();
        let mut spool = Spool::new(&std::env::temp_dir(), MEMORY);
        for i in 0..ROWS {
            let at = Nanos(1_331_859_604_000_000_000 + place(i) as i64 * 100_000);
            let record = Record {
                started: at.into(),
                sent: at.into(),
                first_byte: (at + Nanos::from_millis(20)).into(),
                bytes_received: 14_000 + i % 1000,
                user: (i % 200) as u32,
                step: (i % 6) as u16,
                status: 200,
                ..Record::never_started(0, at, at + Nanos(70_000_000 + (i % 1000) as i64), Outcome::Ok)
            };
            spool.push(&record).unwrap();
        }
        let spooled = spool.finish().unwrap();
        let filled = began.elapsed();
        let mut merge = spooled.in_order().unwrap();
        let (mut n, mut last) = (0, Nanos(i64::MIN));
        while let Some(record) = merge.next().unwrap() {
            let at = row::at(&record);
            assert!(at >= last);
            (n, last) = (n + 1, at);
        }
        assert_eq!(n, ROWS);
        let (all, filled) = (began.elapsed().as_secs_f64(), filled.as_secs_f64());
        let ns = |s: f64| s * 1e9 / ROWS as f64;
        println!(
            "{name}: {:.0} ns per row to fill, {:.0} to read, {} MB on disk",
            ns(filled),
            ns(all - filled),
            spooled.on_disk() / 1_000_000
        );
    }
}

fn any_row() -> impl Strategy<Value = Record> {
    let stamp = || proptest::option::of(-50_i64..50).prop_map(|at| Stamp::from(at.map(Nanos)));
    let times = (stamp(), stamp(), stamp(), -50_i64..50, -50_i64..50, 0_i64..3);
    let numbers = (0_u64..4, 0_u32..4, 0_u16..3, any::<u64>(), 0..Outcome::ALL.len(), 0..Kind::ALL.len());
    let rest = (any::<u64>(), any::<u32>(), any::<bool>(), stamp(), stamp(), any::<u16>());
    (times, numbers, rest).prop_map(
        |(
            (started, sent, first_byte, intended, done, wait),
            (k, count, shard, bytes_received, outcome, kind),
            (bytes_sent, user, reused, connect, tls, status),
        )| Record {
            k,
            started,
            sent,
            first_byte,
            connect,
            tls,
            bytes_received,
            bytes_sent,
            count,
            user,
            repeat: count,
            connection: user,
            step: status,
            attempt: shard as u8,
            shard,
            status,
            kind: Kind::ALL[kind],
            reused,
            wait: Nanos(wait),
            unread: Short::from_bits(status),
            ..Record::never_started(0, Nanos(intended), Nanos(done), Outcome::ALL[outcome])
        },
    )
}

proptest! {
    #[test]
    fn as_a_stable_sort(
        rows in proptest::collection::vec(any_row(), 0..300),
        chunk_rows in 1_usize..40,
        memory in 0_usize..4_000,
    ) {
        let (out, _) = through(&rows, chunk_rows, memory);
        prop_assert!(out == sorted(&rows));
    }
}
