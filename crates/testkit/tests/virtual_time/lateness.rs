//! Lateness is judged by what it did to the numbers, of a client in virtual time whose generator is held up in ways that the rules were
//! not made for, in front of a target whose numbers without that are known.

use crate::common::{LIMITS, answers, law, plan};
use crate::verdict::setup;
use headway_base::sink::Kept;
use headway_base::{Batch, Nanos};
use headway_sim::RandomPauses;
use headway_stats::summary::{LoadVerdict, Summary};
use headway_stats::{Analysis, Facts};
use headway_testkit::{Answer, Generator, Simulation};
use headway_workload::{Client, Plan, Process, Shard};

const fn ms(n: i64) -> Nanos {
    Nanos::from_millis(n)
}

/// Service times of targets.
const TARGETS: [Nanos; 3] = [ms(21), ms(210), ms(2_100)];

/// The plan on so many workers, which are held up together, against a target that takes so long.
fn judge(plan: &Plan, workers: u32, generator: &Generator, service: Nanos) -> Summary {
    let mut analysis = Analysis::new(setup(plan, workers as usize));
    for source in 0..workers {
        let client = Client::new(plan, Shard::new(source, workers).unwrap(), LIMITS, Kept::default());
        let mut world = Simulation::new(client, answers(|_, _| Answer::ok(service)), generator.clone());
        world.run();
        let Kept { starts, records, users, hold_ups, .. } = std::mem::take(world.finish());
        let (source, watermark) = (source as u16, Nanos::MAX);
        analysis.batch(&Batch {
            source,
            starts,
            records,
            users,
            hold_ups,
            events: Vec::new(),
            watermark,
            last: true,
        });
    }
    analysis.finish(Facts { seed: Some(plan.seed), ..Facts::default() })
}

/// A timer of 4 ms makes requests late by 0 to 4 ms. That moves no number of a target that takes 200 ms by 5 %, and those of one that
/// takes 10 ms by 20 %.
#[test]
fn the_same_lateness_matters_to_a_fast_target_and_not_to_a_slow_one() {
    let generator = Generator { tick: ms(4), ..Generator::default() };
    let plan = plan(Process::Poisson, 300.0, 60, 3);
    for workers in [1, 3] {
        let slow = judge(&plan, workers, &generator, ms(200));
        assert_eq!(slow.verdict.load, Some(LoadVerdict::Valid), "{:?}", slow.verdict.effect);
        let fast = judge(&plan, workers, &generator, ms(10));
        assert_ne!(fast.verdict.load, Some(LoadVerdict::Valid), "{:?}", fast.verdict.effect);
        // The lag is told as it was.
        assert!((slow.lag.max.unwrap() - 0.004).abs() < 1e-4, "{:?}", slow.lag);
    }
}

/// Pauses at random: on average one each so many milliseconds, of a length by that law.
fn random(every_ms: i64, length: &str, seed: u64) -> Generator {
    let pauses = RandomPauses::new(law(&format!("exp({every_ms}ms)")), law(length), seed).unwrap();
    Generator { random: Some(pauses), ..Generator::default() }
}

/// Pauses of one length at even distances.
fn pulses(every_ms: i64, length_ms: i64, seconds: i64) -> Generator {
    let pause = |i: i64| (ms(every_ms * i), ms(every_ms * i + length_ms));
    Generator { pauses: (1..1_000 * seconds / every_ms).map(pause).collect(), ..Generator::default() }
}

/// How many of the loads that were disturbed so get each verdict: VALID, INCONCLUSIVE, INVALID.
fn verdicts(
    runs: u64,
    rate: f64,
    seconds: i64,
    service: Nanos,
    generator: impl Fn(u64) -> Generator,
) -> [u64; 3] {
    let mut counts = [0; 3];
    for seed in 0..runs {
        let plan = plan(Process::Poisson, rate, seconds, 1_000 + seed);
        let summary = judge(&plan, 1 + (seed % 2) as u32, &generator(seed), service);
        // The target takes the same time for each request, whatever else it does.
        let off = |value: Option<f64>| value.map_or(0.0, |value| value / service.as_secs_f64() - 1.0);
        let r = &summary.response;
        let worst = [r.mean, r.p50, r.p90, r.p95, r.p99].map(off).into_iter().fold(0.0, f64::max);
        match summary.verdict.load {
            Some(LoadVerdict::Valid) => assert!(worst <= 0.05, "VALID {worst}: {:?}", summary.verdict.effect),
            Some(LoadVerdict::Invalid) => {
                assert!(worst > 0.05, "INVALID {worst}: {:?}", summary.verdict.effect)
            }
            _ => {}
        }
        let place = match summary.verdict.load {
            Some(LoadVerdict::Valid) => 0,
            Some(LoadVerdict::Inconclusive) => 1,
            Some(LoadVerdict::Invalid) => 2,
            None => panic!("no verdict"),
        };
        counts[place] += 1;
    }
    counts
}

/// What moves p99 of these targets by more than 5 %.
fn disturbed(runs: u64) -> Vec<(&'static str, [u64; 3])> {
    let [fast, slow, slowest] = TARGETS;
    vec![
        ("of 21 ms: pulses of 10 ms, 5 a second", verdicts(runs, 300.0, 20, fast, |_| pulses(200, 10, 20))),
        (
            "of 21 ms: ticks of 10 ms",
            verdicts(runs, 300.0, 20, fast, |_| Generator { tick: ms(10), ..Generator::default() }),
        ),
        (
            "of 21 ms: hold-ups of 3 to 9 ms, 10 a second",
            verdicts(runs, 300.0, 20, fast, |s| random(100, "uniform(3ms, 9ms)", s)),
        ),
        ("of 210 ms: pulses of 50 ms, 2 a second", verdicts(runs, 300.0, 20, slow, |_| pulses(500, 50, 20))),
        (
            "of 210 ms: pulses of 100 ms, 1 a second",
            verdicts(runs, 300.0, 20, slow, |_| pulses(1_000, 100, 20)),
        ),
        (
            "of 210 ms: ticks of 100 ms",
            verdicts(runs, 300.0, 20, slow, |_| Generator { tick: ms(100), ..Generator::default() }),
        ),
        (
            "of 210 ms: hold-ups of 15 to 60 ms, 2 a second",
            verdicts(runs, 300.0, 20, slow, |s| random(500, "uniform(15ms, 60ms)", s)),
        ),
        (
            "of 2.1 s: pulses of 400 ms, 1 in 2 s",
            verdicts(runs, 300.0, 40, slowest, |_| pulses(2_000, 400, 40)),
        ),
        (
            "of 2.1 s: hold-ups of 0.15 to 1 s, 1 in 3 s",
            verdicts(runs, 300.0, 40, slowest, |s| random(3_000, "uniform(150ms, 1s)", s)),
        ),
    ]
}

fn none_is_let_through(runs: u64) {
    for (what, [valid, inconclusive, invalid]) in disturbed(runs) {
        println!("{what}: of {runs} loads {valid} VALID, {inconclusive} INCONCLUSIVE, {invalid} INVALID");
        assert_eq!(valid, 0, "{what}");
    }
}

#[test]
fn loads_whose_numbers_were_moved_are_not_valid() {
    none_is_let_through(8);
}

#[test]
#[ignore = "nightly: 200 loads of each kind"]
fn of_200_loads_whose_numbers_were_moved_none_is_valid() {
    none_is_let_through(200);
}

/// Hold-ups shorter than a twentieth of what the target takes: none of these loads is accused.
#[test]
fn short_hold_ups_accuse_nobody() {
    let lengths = [(5, "uniform(0.1ms, 0.9ms)"), (40, "uniform(1ms, 9ms)"), (400, "uniform(10ms, 90ms)")];
    for (service, (every, length)) in TARGETS.into_iter().zip(lengths) {
        let [valid, inconclusive, invalid] =
            verdicts(80, 200.0, 10, service, |seed| spaced(every, length, seed));
        println!("hold-ups of {length}: {valid} VALID, {inconclusive} INCONCLUSIVE, {invalid} INVALID");
        assert_eq!(invalid, 0, "{length}");
        assert!(valid >= 76, "{length}: {valid}");
    }
}

/// Random pauses, each of which begins only after the one before.
fn spaced(every_ms: i64, length: &str, seed: u64) -> Generator {
    let every = law(&format!("uniform({every_ms}ms, {}ms)", 3 * every_ms));
    let pauses = RandomPauses::new(every, law(length), seed).unwrap();
    Generator { random: Some(pauses), ..Generator::default() }
}
