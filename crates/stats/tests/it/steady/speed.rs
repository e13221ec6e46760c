//! What a push costs, beside `hdrhistogram`'s.

use headway_base::random::Stream;
use headway_base::special::exponential;
use headway_stats::steady::{Batches, Histogram};
use std::hint::black_box;

#[expect(clippy::disallowed_types, reason = "a measurement; the library has no clock")]
type Clock = std::time::Instant;

/// Best of 15 rounds over 65,536 sojourns of M/M/1 (mean 5 ms): nanoseconds per push.
fn cost(what: &str, mut push_all: impl FnMut(&[u64])) {
    let mut draws = Stream::new(1, "test").item(0);
    let values: Vec<u64> = (0..65_536).map(|_| (exponential(&mut draws) * 5e6) as u64).collect();
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let begun = Clock::now();
        for _ in 0..16 {
            push_all(black_box(&values));
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / (16 * values.len()) as f64);
    }
    println!("{what}: {best:.2} ns");
}

#[test]
#[ignore = "a measurement, which prints"]
fn a_push_costs() {
    let mut own = Histogram::new();
    cost("histogram, 128 per octave", |values| values.iter().for_each(|&v| own.push(v)));
    let mut finer = Histogram::<10>::default();
    cost("histogram, 1024 per octave", |values| values.iter().for_each(|&v| finer.push(v)));
    for digits in [2, 3] {
        let mut other = hdrhistogram::Histogram::<u64>::new(digits).unwrap();
        cost(&format!("hdrhistogram, {digits} digits"), |values| {
            values.iter().for_each(|&v| other.record(v).unwrap());
        });
        black_box(other.len());
    }
    let mut batches = Batches::new();
    cost("batches", |values| values.iter().for_each(|&v| batches.push(v as f64 * 1e-9)));
    black_box((own.n(), finer.n(), batches.n()));
}
