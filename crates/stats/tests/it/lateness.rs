//! Lateness that is judged by itself: what is forgiven, and what the intervals of the forgiven streams are worth.

use crate::world::{MS, World, draws, exponential, outcome, rule};
use headway_base::random::Draws;
use headway_base::{Lateness, Nanos, Record, Short};
use headway_stats::summary::{RuleId, RuleOutcome, Summary};
use headway_stats::{Analysis, DepartureBin, Facts, Tolerances};
use proptest::prelude::*;

fn ms(n: i64) -> Lateness {
    Lateness::of_seconds(n as f64 / 1e3).unwrap()
}

/// Each request starts so much after it was due, in order, and is served in `service` ns from then on.
fn late(mut world: World, service: i64, mut lag: impl FnMut(&Record) -> i64) -> World {
    let mut before = 0;
    world = world.with(|r| {
        before = before.max(r.intended.0 + lag(r));
        r.started = Nanos(before).into();
        r.sent = r.started;
        r.first_byte = Nanos(before + service).into();
        r.done = Nanos(before + service);
    });
    world
}

fn at_scale(world: &World, lateness: Option<Lateness>, sources: usize) -> Summary {
    let mut setup = world.setup(sources);
    setup.tolerances = Tolerances { lateness, ..Tolerances::default() };
    let mut analysis = Analysis::new(setup);
    world.feed(&mut analysis, sources);
    analysis.finish(world.facts.clone())
}

/// How long a request may lie in this machine: a twentieth of the short service times of the fastest step that counts.
#[test]
fn a_stay_is_judged_by_the_fastest_step_that_counts() {
    let over = |after_ms: f64, change: &dyn Fn(&mut Record)| {
        let mut world = late(World::poisson(500.0, 10, 1), 200 * MS, |_| 0);
        world.labels = ["slow", "fast", "rare"].map(Into::into).to_vec();
        let mut world = world.with(|r| change(r));
        let bin = |i: i64| DepartureBin {
            at: Nanos::from_millis(100 * i + 50),
            watched: 50,
            over: vec![(Nanos::from_secs_f64(after_ms / 1e3), 10)],
            by_target: 0,
        };
        world.facts.departures = (0..100).map(bin).collect();
        let summary = world.analyse();
        (
            summary.generator.as_ref().and_then(|g| g.departures.as_ref()).map(|d| d.after_s),
            outcome(&summary, "departed-late"),
        )
    };
    let served = |r: &mut Record, step: u16, ns: i64| {
        (r.step, r.done) = (step, Nanos(r.intended.0 + ns));
        r.first_byte = r.done.into();
    };
    let mixed = |r: &mut Record| served(r, (r.k % 2) as u16, [200, 45][(r.k % 2) as usize] * MS);
    assert_eq!(over(2.0, &mixed).1, RuleOutcome::Pass, "a twentieth of 45 ms is more");
    assert_eq!(over(3.0, &mixed).1, RuleOutcome::Fail);
    // 4 % of the requests are too few to count, 6 % are enough.
    for (percent, expected) in [(4, RuleOutcome::Pass), (6, RuleOutcome::Fail)] {
        let rare = |r: &mut Record| {
            let rare = r.k % 100 < percent;
            served(r, if rare { 2 } else { 0 }, if rare { 3 } else { 200 } * MS);
        };
        assert_eq!(over(5.0, &rare).1, expected, "{percent} %");
    }
    // What lay unread is the generator's time and not the target's; where that is not known, nothing is.
    let unread = |r: &mut Record| (r.step, r.unread) = (0, Short::from(Nanos(150 * MS)));
    assert_eq!(over(3.0, &unread).1, RuleOutcome::Fail);
    assert_eq!(over(1.1, &|r| r.unread = Short::UNKNOWN).1, RuleOutcome::Fail);
}

/// Windows shorter than what is forgiven tell of that.
#[test]
fn windows_begin_at_what_is_forgiven() {
    let world = late(World::poisson(1000.0, 40, 4), 2_000 * MS, |_| 0);
    let windows = |scale| -> Vec<f64> {
        let rules = at_scale(&world, scale, 1).verdict.rules;
        rules.iter().filter(|r| r.rule == RuleId::Dispersion).filter_map(|r| r.window).collect()
    };
    assert_eq!(windows(Some(ms(1))), [0.001, 0.01, 0.1, 1.0]);
    assert_eq!(windows(Some(ms(2))), [0.01, 0.1, 1.0]);
    assert_eq!(windows(Some(ms(10))), [0.01, 0.1, 1.0]);
    assert_eq!(windows(Some(ms(20))), [0.1, 1.0]);
    assert_eq!(windows(None), [0.001, 0.01, 0.1, 1.0]);
}

/// Too few segments carry no interval, and without one no load is INVALID, however late.
#[test]
fn without_an_interval_nothing_fails() {
    let mut world = late(World::poisson(1000.0, 20, 5), 5 * MS, |_| 30 * MS);
    world.facts = Facts { interrupted_at: Some(Nanos(2_500 * MS)), ..Facts::default() };
    world.records.retain(|r| r.intended < Nanos(2_500 * MS));
    let summary = at_scale(&world, Some(ms(1)), 1);
    let (bunching, windows) = (rule(&summary, "bunching"), rule(&summary, "dispersion"));
    for rule in [bunching, windows] {
        assert_eq!((rule.interval, rule.outcome), (None, RuleOutcome::Undecided), "{rule:?}");
    }
    let fails = summary.verdict.rules.iter().filter(|r| r.outcome == RuleOutcome::Fail);
    // What lateness did to the numbers needs no interval: it is known up to what models say.
    let mut fails = fails.filter(|r| r.rule != RuleId::Effect);
    assert!(fails.all(|r| r.interval.is_some()), "{:?}", summary.verdict.rules);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever the lags: where none of them exceeds what is forgiven all rules on lateness pass, with a difference of exactly 0.
    #[test]
    fn nothing_is_seen_of_lags_up_to_the_scale(
        length in prop_oneof![Just(1i64), Just(2), Just(10), Just(100)], sources in 1usize..4, seed in 0u64..1_000, kind in 0u8..4, rate in prop_oneof![Just(50.0), Just(700.0)],
    ) {
        let scale = ms(length);
        let most = scale.length().0;
        let mut random = draws(seed + 77);
        let lag = |r: &Record| match kind {
            0 => most,
            1 => (random.open01() * most as f64) as i64,
            // Hold-ups, each as long as it may be.
            2 => if r.intended.0 / (3 * most) % 3 == 0 { most - r.intended.0 % most } else { 0 },
            _ => if r.k.is_multiple_of(2) { most } else { 0 },
        };
        let world = late(World::poisson(rate, 30, seed), 3 * MS, lag);
        let summary = at_scale(&world, Some(scale), sources);
        for rule in summary.verdict.rules.iter().filter(|r| ["bunching", "dispersion"].contains(&r.rule.as_str())) {
            prop_assert_eq!((rule.value, rule.interval), (Some(0.0), Some([0.0, 0.0])), "{:?}", rule);
        }
        prop_assert_eq!(rule(&summary, "late-share").value, Some(0.0));
        let others = summary.verdict.rules.iter().filter(|r| r.rule != RuleId::Effect);
        prop_assert!(others.clone().all(|r| matches!(r.outcome, RuleOutcome::Pass | RuleOutcome::NotApplicable)));
    }
}

/// Hold-ups of the generator of exponential length, with exponential times between them: what was due in one starts at its end.
fn held_up(rate: f64, seconds: i64, seed: u64, every_ms: f64, mean_ms: f64) -> World {
    let mut random: Draws = draws(1_000_000 + seed);
    let (mut from, mut to) = (0i64, 0i64);
    late(World::poisson(rate, seconds, seed), 3 * MS, |r| {
        while r.intended.0 >= to {
            from = to + (exponential(&mut random) * every_ms * 1e6) as i64;
            to = from + (exponential(&mut random) * mean_ms * 1e6) as i64;
        }
        if r.intended.0 >= from { to - r.intended.0 } else { 0 }
    })
}

/// How often the intervals of the differences hold the true difference: of bunching, and of each window. The truth is that
/// of all replications together, whose error is a twentieth of one's.
fn coverage(
    replications: u64,
    scale: Lateness,
    load: (f64, i64),
    held: (f64, f64),
) -> Vec<(String, u64, u64)> {
    type Seen = (String, Vec<(f64, Option<[f64; 2]>)>);
    let mut seen: Vec<Seen> = Vec::new();
    for seed in 0..replications {
        let summary = at_scale(&held_up(load.0, load.1, seed, held.0, held.1), Some(scale), 1);
        for row in
            summary.verdict.rules.iter().filter(|r| ["bunching", "dispersion"].contains(&r.rule.as_str()))
        {
            let name = format!("{} {}", row.rule.as_str(), row.window.unwrap_or(0.0));
            let place = seen.iter().position(|of| of.0 == name).unwrap_or_else(|| {
                seen.push((name, Vec::new()));
                seen.len() - 1
            });
            seen[place].1.push((row.value.unwrap(), row.interval));
        }
    }
    let told = |(name, values): Seen| {
        let truth = values.iter().map(|v| v.0).sum::<f64>() / values.len() as f64;
        let holds =
            |of: &&(f64, Option<[f64; 2]>)| of.1.is_some_and(|[low, high]| low <= truth && truth <= high);
        (name, values.iter().filter(holds).count() as u64, values.len() as u64)
    };
    seen.into_iter().map(told).collect()
}

/// Of runs in which hold-ups are so many that each segment has some: at 1 ms such of 5 ms each 100 ms, at 10 ms such of 30 ms twice a
/// second.
fn intervals_hold(replications: u64) {
    for (scale, load, held) in [(ms(1), (100.0, 300), (100.0, 5.0)), (ms(10), (50.0, 600), (500.0, 30.0))] {
        let told = coverage(replications, scale, load, held);
        println!("L = {scale}, {load:?}, hold-ups {held:?} ms: {told:?}");
        assert!(told.len() >= 4, "{told:?}");
        for (name, held, n) in told {
            assert_eq!(n, replications);
            // 92 %, less four standard errors.
            let least = 0.92 * n as f64 - 4.0 * (0.92 * 0.08 * n as f64).sqrt();
            assert!(held as f64 >= least, "{name} at {scale}: {held} of {n}");
        }
    }
}

#[test]
fn intervals_of_the_forgiven_streams_hold_the_truth_in_60_replications() {
    intervals_hold(60);
}

#[test]
#[ignore = "nightly: 30 million requests"]
fn intervals_of_the_forgiven_streams_hold_the_truth_in_500_replications() {
    intervals_hold(500);
}
