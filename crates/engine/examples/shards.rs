//! Run folders of the shards of one made-up run, for measuring merges: real plans, responses that nobody sent.
//!
//! `cargo run --release -p headway-engine --example shards -- FOLDER [SHARDS] [MILLIONS]` writes FOLDER/0, FOLDER/1, ..., each with
//! about so many million records at 10,000 requests a second, in the order in which they ended.

use headway_base::random::{Stream, open01};
use headway_engine::{Manifest, Nanos, Outcome, Plan, Process, Rate, RunSpec};
use headway_records::{LogWriter, folder};
use headway_workload::Shard;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

const RATE_OF_A_SHARD: f64 = 10_000.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let to = arguments.next().ok_or("name a folder")?;
    let count: u32 = arguments.next().map_or(Ok(8), |text| text.parse())?;
    let millions: f64 = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let length = Nanos::from_secs_f64(millions * 1e6 / RATE_OF_A_SHARD);
    let (zero, rate) = (Nanos::ZERO, Rate(RATE_OF_A_SHARD * f64::from(count)));
    let plan = Plan::ramp_and_hold(18, Process::Poisson, rate, zero, zero, length);
    for index in 0..count {
        let plan = Plan { shard: Shard::new(index, count)?, ..plan.clone() };
        let rows = shard(&plan, &Path::new(&to).join(index.to_string()))?;
        println!("shard {}: {rows} records", plan.shard);
    }
    Ok(())
}

/// Writes the folder of a shard; how many records it has.
fn shard(plan: &Plan, to: &Path) -> Result<u64, Box<dyn Error>> {
    std::fs::create_dir_all(to)?;
    let spec = RunSpec::new("made-up", plan.clone(), 1_000);
    let manifest =
        Manifest::new(&spec, Some(&"http://127.0.0.1/".into()), Some(1), 1_700_000_000_000_000_000);
    std::fs::write(to.join(folder::PLAN), manifest.json()?)?;
    let mut log = LogWriter::create(&to.join(folder::RECORDS), &manifest.log_metadata()?)?;
    // Requests in flight, by when they end.
    let mut flying: BTreeMap<Reverse<(Nanos, u64)>, headway_base::Record> = BTreeMap::new();
    let draws = Stream::new(plan.seed, "made-up");
    let mut rows = 0;
    for arrival in plan.arrivals_of(plan.shard) {
        while let Some(first) = flying.last_entry().filter(|first| first.key().0.0 <= arrival.intended) {
            log.append(&[first.remove()])?;
        }
        let draw = |j| open01(draws.bits(arrival.k, j));
        let started = arrival.intended + Nanos((4_000.0 - 6_000.0 * draw(0).ln()) as i64);
        // One in a hundred takes a tenth of a second longer, and one in a thousand fails.
        let slow = if draw(1) < 0.01 { 100_000_000.0 } else { 0.0 };
        let first_byte = started + Nanos((300_000.0 + slow - 2_000_000.0 * draw(2).ln()) as i64);
        let failed = draw(3) < 0.001;
        let outcome = if failed { Outcome::Status } else { Outcome::Ok };
        let done = first_byte + Nanos(9_000);
        let row = headway_base::Record {
            started: started.into(),
            sent: (started + Nanos(1_500)).into(),
            first_byte: first_byte.into(),
            bytes_received: 612,
            bytes_sent: 84,
            connection: (arrival.k % 997) as u32,
            shard: plan.shard.index() as u16,
            status: if failed { 503 } else { 200 },
            reused: true,
            ..headway_base::Record::never_started(arrival.k, arrival.intended, done, outcome)
        };
        flying.insert(Reverse((done, arrival.k)), row);
        rows += 1;
    }
    while let Some((_, row)) = flying.pop_last() {
        log.append(&[row])?;
    }
    log.finish()?;
    Ok(rows)
}
