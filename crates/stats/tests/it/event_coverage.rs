//! How often the intervals of first events and of gaps hold the truth, where the gaps of a response depend on each other.
//!
//! A server of streams with continuous batching: arrivals are Poisson, each response is some 8 pieces after a first one (geometric), and each
//! step of a response takes an exponential time whose mean grows with the number of responses under way. So gaps within a response depend on
//! each other, and on those of the responses beside it; so do first events. The truth is that of a run 200 times as long.

use crate::world::{World, draws, exponential};
use headway_base::{Batch, EventKind, Nanos, Record, ResponseEvent};
use headway_stats::summary::Spread;
use headway_stats::{Analysis, Summary};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Arrivals a second.
const RATE: f64 = 40.0;
/// Mean length of a step of a response that is alone (s), by how much each other one slows it down, and the mean number of later pieces.
const STEP: f64 = 0.008;
const SLOWER: f64 = 0.12;
const PIECES: f64 = 8.0;
const WARM_UP: i64 = 5;

fn ns(s: f64) -> Nanos {
    Nanos((s * 1e9) as i64)
}

/// What came in so many seconds: every request is due at its start.
fn play(seed: u64, seconds: i64) -> (World, Vec<ResponseEvent>) {
    let mut draws = draws(seed);
    let mut world = World::empty(RATE, seconds + WARM_UP);
    world.measured.start = Nanos::from_secs(WARM_UP);
    let end_s = (seconds + WARM_UP) as f64;
    let (mut arrival, mut k) = (exponential(&mut draws) / RATE, 0u64);
    // When the next piece of which response comes: its due time, the piece before and how many have come.
    let mut under_way: BinaryHeap<Reverse<(Nanos, u64)>> = BinaryHeap::new();
    let mut of: Vec<(Nanos, Option<Nanos>, u32)> = Vec::new();
    let mut events = Vec::new();
    loop {
        let next = under_way.peek().map(|Reverse((at, _))| *at);
        let due = ns(arrival);
        let pace = STEP * (1.0 + SLOWER * under_way.len() as f64);
        if arrival < end_s && next.is_none_or(|next| due <= next) {
            of.push((due, None, 0));
            under_way.push(Reverse((due + ns(pace * exponential(&mut draws)), k)));
            k += 1;
            arrival += exponential(&mut draws) / RATE;
            continue;
        }
        let Some(Reverse((at, which))) = under_way.pop() else { return (world, events) };
        let (intended, before, count) = of[which as usize];
        let record =
            Record { done: at, ..crate::world::answered(which, intended.0, intended.0, (at - intended).0) };
        let end = ResponseEvent::end_of(&record);
        events.push(ResponseEvent { kind: EventKind::Chunk, at, before: before.into(), count: 1, ..end });
        of[which as usize] = (intended, Some(at), count + 1);
        if draws.open01() < 1.0 / (1.0 + PIECES) {
            events.push(ResponseEvent { before: at.into(), count: count + 1, ..end });
            world.records.push(record);
        } else {
            under_way.push(Reverse((at + ns(pace * exponential(&mut draws)), which)));
        }
    }
}

fn analyse(seed: u64, seconds: i64) -> Summary {
    let (mut world, events) = play(seed, seconds);
    world.records.sort_by_key(|record| record.intended);
    let mut analysis = Analysis::new(world.setup(1));
    analysis.batch(&Batch { events, ..Batch::default() });
    world.feed(&mut analysis, 1);
    analysis.finish(world.facts.clone())
}

const NUMBERS: [&str; 4] = ["mean", "p50", "p90", "p99"];

fn values(spread: &Spread) -> [f64; 4] {
    [spread.mean, spread.p50, spread.p90, spread.p99].map(Option::unwrap)
}

/// Of each number: how many runs have an interval, and how many of these hold the truth; of first events, then of gaps.
fn coverage(runs: u64, seconds: i64, truth: i64) -> [[(u64, u64); 4]; 2] {
    let of = |summary: &Summary| {
        let events = summary.events.as_ref().unwrap();
        [events.all.first.clone(), events.all.gap.clone()]
    };
    let truths = of(&analyse(1, truth)).each_ref().map(values);
    let mut found = [[(0, 0); 4]; 2];
    for run in 0..runs {
        let summary = analyse(1_000 + run, seconds);
        for (which, (spread, truths)) in of(&summary).iter().zip(&truths).enumerate() {
            let ci = &spread.ci95;
            let path = ["events.first", "events.gap"][which];
            for (i, interval) in [ci.mean, ci.p50, ci.p90, ci.p99].into_iter().enumerate() {
                let (told, held) = &mut found[which][i];
                match interval {
                    Some([low, high]) => {
                        *told += 1;
                        *held += u64::from(low <= truths[i] && truths[i] <= high);
                    }
                    // One that is not printed has its reason.
                    None => {
                        assert!(summary.not_computed.contains_key(&format!("{path}.ci95.{}", NUMBERS[i])))
                    }
                }
            }
        }
    }
    found
}

fn print(found: &[[(u64, u64); 4]; 2], runs: u64, seconds: i64) {
    for (name, row) in ["first_event", "event_gap"].into_iter().zip(found) {
        for (number, (told, held)) in NUMBERS.into_iter().zip(row) {
            let share = 100.0 * *held as f64 / (*told).max(1) as f64;
            println!(
                "{seconds} s  {name:<12} {number:<5} {held} of {told} intervals hold ({share:.1} %), {runs} runs"
            );
        }
    }
}

/// At least 92 % of those that are printed hold: 95 % less three standard errors of 500 runs. In runs of 60 s (2,400 responses) and 20 s.
#[test]
#[ignore = "nightly: a minute in release mode"]
fn intervals_of_events_hold_the_truth_in_500_runs() {
    for seconds in [60, 20] {
        let found = coverage(500, seconds, 12_000);
        print(&found, 500, seconds);
        for (told, held) in found.into_iter().flatten() {
            assert!(told == 0 || held as f64 >= 0.92 * told as f64, "{seconds} s: {found:?}");
        }
    }
}

/// The same with 40 runs: 95 % less four standard errors; and there are intervals, but of what 2,400 responses do not show.
#[test]
fn intervals_of_events_hold_the_truth() {
    let found = coverage(40, 60, 2_000);
    print(&found, 40, 60);
    for (told, held) in found.into_iter().flatten() {
        let least = told as f64 * (0.95 - 4.0 * (0.95 * 0.05 / (told as f64).max(1.0)).sqrt());
        assert!(held as f64 >= least, "{found:?}");
    }
    assert!(found.iter().all(|row| row[..3].iter().all(|(told, _)| *told == 40)), "{found:?}");
}
