//! What the analysis costs per request, start and record together.
//!
//! `cargo run --release -p headway-stats --example cost [SOURCES] [LABELS]`. Feeds synthetic Poisson traffic in
//! batches as live workers hand them over and reports nanoseconds per request, and what a snapshot and a summary so far take. A report, not a test.

use headway_base::random::Stream;
use headway_base::{Batch, Nanos, Outcome, Phase, Profile, Rate, Record, Start};
use headway_stats::{Analysis, Facts, PlanLaw, Setup, Workload};
use std::sync::Arc;

#[expect(clippy::disallowed_types, reason = "an example that measures; the library has no clock")]
type Clock = std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse::<u16>().ok());
    let (sources, labels) = (arguments.next().unwrap_or(1), arguments.next().unwrap_or(1));
    let (rate, seconds) = (100_000.0, 20);
    let batches = traffic(rate, seconds, sources, labels);
    let requests: usize = batches.iter().map(|b| b.records.len()).sum();
    let mut analysis = Analysis::new(Setup {
        labels: (0..labels).map(|i| headway_redact::clear(&format!("step {i}"))).collect(),
        sources: usize::from(sources),
        measured: Nanos::ZERO..Nanos::from_secs(seconds),
        workload: Workload::Open,
        plan: Some(PlanLaw {
            profile: Profile::new(&[Phase::hold(Nanos::from_secs(seconds), Rate(rate))]),
            gap_cdf: Some(Arc::new(|x: f64| -(-x).exp_m1())),
            gap_cov: 1.0,
            dispersion: 1.0,
            poisson: true,
        }),
        resolution: Nanos(1),
        rate: None,
        ..Setup::default()
    });
    // The median round: on a busy machine the mean tells of the neighbours.
    let mut costs: Vec<f64> = Vec::new();
    // One batch of each source, so that the merge's work is spread over those that caused it.
    for round in batches.chunks(usize::from(sources)) {
        let begun = Clock::now();
        round.iter().for_each(|batch| analysis.batch(batch));
        let requests: usize = round.iter().map(|b| b.records.len()).sum();
        costs.push(begun.elapsed().as_nanos() as f64 / requests.max(1) as f64);
    }
    costs.sort_by(f64::total_cmp);
    let begun = Clock::now();
    let snapshot = analysis.snapshot(Nanos::from_secs(seconds));
    let shown = begun.elapsed();
    let begun = Clock::now();
    let copy = analysis.clone();
    let copied = begun.elapsed();
    let begun = Clock::now();
    let so_far = copy.so_far(Nanos::from_secs(seconds), Facts::default());
    let summed = begun.elapsed();
    let begun = Clock::now();
    let summary = analysis.finish(Facts::default());
    println!(
        "{requests} requests from {sources} sources, {labels} labels: {:.1} ns per request (median round); snapshot {shown:.1?} \
         ({} ended); copy {copied:.1?}, of it a summary so far {summed:.1?} ({} requests); finish {:.1?}; CoV {:?}",
        costs[costs.len() / 2],
        snapshot.ended,
        so_far.measured.n,
        begun.elapsed(),
        summary.arrivals.cov
    );
}

fn traffic(rate: f64, seconds: i64, sources: u16, labels: u16) -> Vec<Batch> {
    let stream = Stream::new(1, "example");
    let (mut at, mut k) = (0.0, 0u64);
    let mut open: Vec<Batch> = (0..sources).map(|source| Batch { source, ..Batch::default() }).collect();
    let mut batches = Vec::new();
    while at < seconds as f64 {
        let mut draws = stream.item(k);
        let mut draw = || -draws.open01().ln();
        at += draw() / rate;
        let intended = Nanos::from_secs_f64(at);
        let started = intended + Nanos::from_secs_f64(draw() * 2e-6);
        let sent = started + Nanos(400);
        let first_byte = sent + Nanos::from_secs_f64(draw() * 1e-3);
        let done = first_byte + Nanos(2_000);
        let step = (k % u64::from(labels)) as u16;
        let batch = &mut open[(k % u64::from(sources)) as usize];
        batch.starts.push(Start::arrival(intended, started, step));
        batch.records.push(Record {
            started: started.into(),
            sent: sent.into(),
            first_byte: first_byte.into(),
            step,
            bytes_received: 1234 + k % 7,
            ..Record::never_started(k, intended, done, Outcome::Ok)
        });
        if batch.records.len() == 4096 {
            batch.watermark = started;
            batches.push(std::mem::replace(batch, Batch { source: batch.source, ..Batch::default() }));
        }
        k += 1;
    }
    for mut batch in open {
        batch.last = true;
        batches.push(batch);
    }
    batches
}
