//! What an audit costs per row.
//!
//! `cargo run --release -p headway-stats --example audit_cost [LABELS] [USERS]`. Feeds the rows of a closed load of so
//! many users with stamps in milliseconds and reports nanoseconds per row. A report, not a test.

use headway_base::random::Stream as Draws;
use headway_base::{Nanos, Outcome, Record};
use headway_stats::audit::{AuditSetup, Auditor, QuantileRule};
use headway_stats::summary::{Source, Stream};
use headway_stats::{Facts, Setup, Workload};

#[expect(clippy::disallowed_types, reason = "an example that measures; the library has no clock")]
type Clock = std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let (labels, users) = (arguments.next().unwrap_or(6), arguments.next().unwrap_or(200));
    let (seconds, rate) = (3_000, 500.0);
    let rows = rows(labels, users, rate, seconds);
    let setup = Setup {
        labels: (0..labels).map(|i| headway_redact::clear(&format!("label {i}"))).collect(),
        sources: 1,
        measured: Nanos::ZERO..Nanos::from_secs(seconds),
        workload: Workload::Foreign,
        plan: None,
        resolution: Nanos::from_millis(1),
        rate: Some(rate),
        ..Setup::default()
    };
    let mut auditor = Auditor::new(AuditSetup {
        setup,
        users: (1..=users).map(|i| format!("Thread Group 1-{i}")).collect(),
        generators: vec!["generator".into()],
        label_counts: Vec::new(),
        stream: Stream::Requests,
        judged: Nanos::ZERO..Nanos::from_secs(seconds),
        ends: true,
        bytes: true,
        intended: false,
        behind: headway_base::Nanos::ZERO,
        starts: rows.len() as u64,
        digit: Nanos::from_millis(1),
        dither_seed: 1,
        by_threads: Vec::new(),
        pages: Vec::new(),
        percentiles: vec![90.0, 95.0, 99.0],
        quantiles: QuantileRule::Smallest,
        count_interval: None,
    });
    // The median stretch: on a busy machine the mean tells of the neighbours.
    let mut costs: Vec<f64> = Vec::new();
    for stretch in rows.chunks(16_384) {
        let begun = Clock::now();
        stretch.iter().for_each(|row| auditor.row(row));
        costs.push(begun.elapsed().as_nanos() as f64 / stretch.len() as f64);
    }
    costs.sort_by(f64::total_cmp);
    let begun = Clock::now();
    let summary = auditor.finish(Facts { source: Source::Import, ..Facts::default() });
    println!(
        "{} rows, {labels} labels, {users} users: {:.0} ns per row (median stretch); finish {:.1?}; CoV {:?}, {:?}",
        rows.len(),
        costs[costs.len() / 2],
        begun.elapsed(),
        summary.arrivals.cov,
        summary.verdict.pattern
    );
}

/// Users who think exponentially long, so that starts are nearly a Poisson process; stamps in milliseconds.
fn rows(labels: usize, users: usize, rate: f64, seconds: i64) -> Vec<Record> {
    let draws = Draws::new(1, "example");
    let draw = |k: u64, j: u64| -headway_base::random::open01(draws.bits(k, j)).ln();
    let (mut at, mut rows) = (0.0, Vec::new());
    for k in 0.. {
        at += draw(k, 0) / rate;
        if at >= seconds as f64 {
            return rows;
        }
        let ms = |x: f64| Nanos::from_millis((x * 1e3) as i64);
        let (started, took) = (ms(at), ms(draw(k, 1) * 0.050));
        let user = (draws.bits(k, 2) % users as u64) as u32;
        let done = started + took;
        rows.push(Record {
            started: started.into(),
            sent: started.into(),
            first_byte: (started + ms(draw(k, 3) * 0.01).min(took)).into(),
            user,
            step: (draws.bits(k, 4) % labels as u64) as u16,
            bytes_received: 1_000 + draws.bits(k, 5) % 100_000,
            ..Record::never_started(k, started, done, Outcome::Ok)
        });
    }
    rows
}
