//! Requests that end in orders that an adversary would choose: the statistics come to an end, and to the same numbers.

use crate::world::{MS, World};
use headway_base::{Batch, Nanos, Outcome, Record};
use headway_stats::{Analysis, Summary};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long statistics of a thousand requests may take, which is milliseconds: a loop without an end is a failure then.
const MOST: Duration = Duration::from_secs(60);

/// All starts, then all ends in the order of `records`, in batches of that many.
fn analysed(world: &World, records: &[Record], many: usize) -> Summary {
    let mut analysis = Analysis::new(world.setup(1));
    let mut starts: Vec<_> = world.records.iter().filter_map(Record::start).collect();
    starts.sort_by_key(|start| start.started);
    analysis.batch(&Batch { starts, watermark: Nanos::ZERO, ..Batch::default() });
    for records in records.chunks(many) {
        analysis.batch(&Batch { records: records.to_vec(), watermark: Nanos::ZERO, ..Batch::default() });
    }
    let watermark = world.records.iter().map(|r| r.done).max().unwrap_or(Nanos::ZERO);
    analysis.batch(&Batch { watermark, last: true, ..Batch::default() });
    analysis.finish(world.facts.clone())
}

/// The same, if it comes to an end.
#[expect(clippy::disallowed_methods, reason = "a loop without an end is a failure, not a test that hangs")]
fn ended(world: &World, records: &[Record], many: usize) -> Option<Summary> {
    let (tell, told) = mpsc::channel();
    let (world, records) = (world.clone(), records.to_vec());
    thread::spawn(move || tell.send(Box::new(analysed(&world, &records, many))));
    told.recv_timeout(MOST).ok().map(|summary| *summary)
}

/// What does not depend on the order.
fn numbers(summary: &Summary) -> String {
    let response = &summary.response;
    format!("{:?} {:?} {:?} {:?}", summary.measured.n, summary.outcomes, response.n, response.max)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn statistics_end_in_any_order(
        seed in 0u64..1_000,
        // Failures lie apart by this many of 300 requests a second.
        failed_each in 1u64..40,
        order in 0u8..5,
        together: bool,
        latest in prop::sample::select(vec![2_500, 60_000, 86_400_000, 300_000_000_000_i64]),
        many in prop::sample::select(vec![1usize, 7, 128, 4_000]),
    ) {
        let world = World::poisson(300.0, 3, seed).with(|r| {
            if r.k % failed_each == 0 {
                r.outcome = if r.k % 2 == 0 { Outcome::Reset } else { Outcome::Status };
            }
            if together {
                r.done = Nanos(2_400 * MS).max(r.done);
            }
            if r.k == 5 {
                r.done = Nanos(latest * MS);
            }
        });
        let in_turn = world.records.clone();
        let mut records = in_turn.clone();
        match order {
            0 => records.sort_by_key(|r| r.done),
            1 => records.reverse(),
            2 => {
                let (low, high) = in_turn.split_at(in_turn.len() / 2);
                let pairs = low.iter().zip(high.iter().rev());
                // The halves may differ by one, which is then the first of the upper one.
                let rest = high.iter().take(high.len() - low.len());
                records = pairs.flat_map(|(l, h)| [*h, *l]).chain(rest.copied()).collect();
            }
            3 => records.sort_by_key(|r| r.k.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            _ => records.sort_by_key(|r| (r.outcome == Outcome::Ok, Reverse(r.intended))),
        }
        let (Some(other), Some(own)) = (ended(&world, &records, many), ended(&world, &in_turn, 128)) else {
            return Err(TestCaseError::fail("the statistics do not end"));
        };
        prop_assert_eq!(numbers(&other), numbers(&own));
    }
}
