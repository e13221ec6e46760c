//! What an audit says of loads that it may take for something else: counts over seeds, each with its bound.

use super::auditing::audit;
use super::traffic::{Load, odd};
use headway_stats::Summary;
use headway_stats::summary::evidence::{Cause, Starts};
use headway_stats::summary::{Evidence, Finding, FindingId, Pattern, ScaleEnd};
use std::collections::BTreeMap;

fn finding<'a>(summary: &'a Summary, id: &FindingId) -> Option<&'a Finding> {
    summary.verdict.findings.iter().find(|finding| finding.id == *id)
}

/// Pattern and cause, as `bunched, timer-ticks`.
fn said(summary: &Summary) -> String {
    let cause = summary.audit.as_ref().and_then(|a| a.cause.clone());
    let pauses = if finding(summary, &FindingId::LongestGaps).is_some() { ", pauses" } else { "" };
    format!("{}, {}{pauses}", summary.verdict.pattern.word(), cause.as_ref().map_or("none", |id| id.as_str()))
}

/// How often each was said over that many seeds.
fn counts(name: &str, seeds: u64, make: impl Fn(u64) -> Load) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for seed in 0..seeds {
        *counts.entry(said(&audit(&make(seed)))).or_insert(0) += 1;
    }
    println!("{name}: {counts:?}");
    counts
}

/// How often what was said begins and ends like that.
fn of(counts: &BTreeMap<String, u64>, begins: &str, ends: &str) -> u64 {
    counts.iter().filter(|(said, _)| said.starts_with(begins) && said.ends_with(ends)).map(|(_, n)| n).sum()
}

const SEEDS: u64 = 10;

/// A gap of 30 mean headways comes in one load of 200 million of 40,000 independent arrivals: none may be missed, and
/// between the pauses the arrivals are independent (one Poisson load of 30,000 in 200 is not shown to be).
#[test]
fn pauses_are_named_whatever_the_pattern() {
    for (n, length, catches_up) in
        [(5, 0.3, true), (8, 0.2, true), (20, 0.15, true), (20, 0.2, true), (5, 0.4, false), (1, 0.3, true)]
    {
        let name = format!("{n} stops of {length} s, {catches_up}");
        let counts = counts(&name, SEEDS, |seed| odd::stops(seed, 100.0, 400.0, n, length, catches_up));
        assert_eq!(of(&counts, "", ", pauses"), SEEDS, "{name}: {counts:?}");
        // More or longer ones make the load bunched.
        let between = of(&counts, "independent, generator-pauses", "");
        let bunched = of(&counts, "bunched, generator-pauses", "");
        assert!(between + if n > 8 { bunched } else { 0 } >= SEEDS - 1, "{name}: {counts:?}");
    }
    let summary = audit(&odd::stops(1, 100.0, 400.0, 5, 0.3, true));
    let found = finding(&summary, &FindingId::LongestGaps).expect("named");
    assert_eq!((found.n, found.at.len()), (5, 5));
    assert!(matches!(
        found.evidence[..],
        [Evidence::Starts(Starts::LongestGaps { n: 5, pattern: Pattern::Independent, .. })]
    ));
}

/// No pause is seen in what has none: the limit is one load in a thousand, and one in eight hundred with two.
#[test]
fn independent_arrivals_have_no_pauses() {
    let counts = counts("Poisson", 2 * SEEDS, |seed| odd::drift(seed, 100.0, 400.0, |_| 1.0));
    assert_eq!(of(&counts, "", "pauses"), 0, "{counts:?}");
    assert!(of(&counts, "independent, none", "") >= 2 * SEEDS - 1, "{counts:?}");
}

#[test]
fn the_grid_is_that_of_the_stamps_and_not_of_times_taken() {
    for (grid, rate) in [(0.01, 20.0), (0.01, 100.0), (0.1, 2.0), (0.1, 20.0)] {
        for constant in [false, true] {
            let name = format!("grid {grid} at {rate}/s, constant {constant}");
            let counts = counts(&name, SEEDS / 2, |seed| odd::coarse(seed, rate, 30_000.0, grid, constant));
            assert_eq!(of(&counts, "bunched", "") + of(&counts, "even", ""), 0, "{name}: {counts:?}");
            assert!(of(&counts, "independent", "") >= SEEDS / 2 - 1, "{name}: {counts:?}");
        }
    }
}

/// Stamps of 1 ms from a clock of 64 steps a second are as coarse as its steps: what keeps to them is the clock.
#[test]
fn a_clock_of_64_steps_a_second_is_no_timer() {
    for rate in [20.0, 100.0, 300.0] {
        let name = format!("64 steps/s at {rate}/s");
        let counts = counts(&name, SEEDS, |seed| odd::coarse(seed, rate, 30_000.0, 1.0 / 64.0, false));
        assert_eq!(of(&counts, "bunched", "") + of(&counts, "even", ""), 0, "{name}: {counts:?}");
        assert!(of(&counts, "independent, none", "") >= SEEDS - 1, "{name}: {counts:?}");
    }
}

/// A part of the time has another rate: bunched if that is much, independent up to a time scale if it is little.
#[test]
fn a_part_of_another_rate_is_named_with_its_time() {
    for (name, more, pattern) in [("five times", 5.0, "bunched"), ("half more", 1.5, "independent")] {
        let of_time = |x: f64| if (0.5..0.55).contains(&x) { more } else { 1.0 };
        let counts = counts(name, SEEDS, |seed| odd::drift(seed, 100.0, 400.0, of_time));
        assert!(of(&counts, &format!("{pattern}, changing-rate"), "") >= SEEDS - 1, "{name}: {counts:?}");
    }
    let summary = audit(&odd::drift(1, 100.0, 400.0, |x| if (0.5..0.55).contains(&x) { 5.0 } else { 1.0 }));
    let found = finding(&summary, &FindingId::ChangingRate).expect("named");
    let [Evidence::Cause(Cause::OtherRate { rate, other, from_s, to_s })] = found.evidence[..] else {
        panic!("{found:?}")
    };
    // Six standard errors of the counts, and twentieths of the time.
    assert!((rate - 100.0).abs() < 3.0 && (other - 500.0).abs() < 30.0, "{rate} {other}");
    assert!((from_s - 200.0).abs() < 0.5 && (to_s - 220.0).abs() < 0.5, "{from_s} {to_s}");
}

/// A load that is on for a while and then off keeps to no tick, and its generator is not told off for standing still most of the time.
#[test]
fn a_load_that_is_on_and_off_is_neither_a_timer_nor_paused() {
    for (name, on, off, regular) in [
        ("1 s on and off", 1.0, 1.0, true),
        ("0.5 s on, 1 s off", 0.5, 1.0, true),
        ("1 s on and off at random", 1.0, 1.0, false),
        ("10 s on and off at random", 10.0, 10.0, false),
    ] {
        let counts = counts(name, SEEDS, |seed| odd::on_and_off(seed, 100.0, 800.0, on, off, regular));
        assert_eq!(of(&counts, "bunched, changing-rate", ""), SEEDS, "{name}: {counts:?}");
    }
    let summary = audit(&odd::on_and_off(1, 100.0, 800.0, 0.5, 1.0, true));
    let found = finding(&summary, &FindingId::ChangingRate).expect("named");
    let [Evidence::Cause(Cause::OnOff { on_s, off_s, regular: true })] = found.evidence[..] else {
        panic!("{found:?}")
    };
    // Two parts of 128 of the period.
    assert!((on_s - 0.5).abs() < 0.024 && (off_s - 1.0).abs() < 0.024, "{on_s} {off_s}");
}

/// The counts of a metronome among Poisson arrivals vary less than theirs alone.
#[test]
fn a_metronome_among_others_is_not_bunched() {
    for (ticks, others) in [(5.0, 95.0), (10.0, 90.0), (20.0, 80.0)] {
        let name = format!("metronome of {ticks}/s in {others}/s");
        let counts = counts(&name, SEEDS, |seed| odd::metronome(seed, ticks, others, 400.0));
        assert_eq!(of(&counts, "bunched", ""), 0, "{name}: {counts:?}");
        let off = of(&counts, "even", "") + of(&counts, "periodic", "");
        assert!(off >= SEEDS - 1, "{name}: {counts:?}");
        // Its period is that of the metronome, and not one of its harmonics.
        let right = (0..SEEDS).filter(|&seed| {
            let summary = audit(&odd::metronome(seed, ticks, others, 400.0));
            let found = finding(&summary, &FindingId::Periodic);
            let period = found.and_then(|found| match found.evidence[..] {
                [Evidence::Starts(Starts::Period { period_s, .. })] => Some(period_s),
                _ => None,
            });
            period.is_some_and(|period| (period * ticks - 1.0).abs() < 0.01)
        });
        let right = right.count() as u64;
        println!("{name}: the period is right {right} of {SEEDS}");
        assert!(right >= SEEDS - 2, "{name}: {right}");
        assert!(
            of(&counts, "even, constant-rate", "") + of(&counts, "periodic, constant-rate", "") >= SEEDS - 2
        );
    }
}

/// Whose rate changes slowly is independent up to a time scale.
#[test]
fn drift_is_drift() {
    type Of = fn(f64) -> f64;
    let slopes: [(&str, Of); 3] = [
        ("5 % up", |x| 0.95 + 0.1 * x),
        ("10 % up", |x| 0.9 + 0.2 * x),
        ("10 % down and up", |x| 1.0 + 0.1 * (std::f64::consts::TAU * x).cos()),
    ];
    for (name, of_time) in slopes {
        let counts = counts(name, SEEDS, |seed| odd::drift(seed, 10.0, 3600.0, of_time));
        assert_eq!(of(&counts, "bunched", "") + of(&counts, "undecided", ""), 0, "{name}: {counts:?}");
        // Of so slow a change independent arrivals of the same number may show nothing.
        if name != "5 % up" {
            assert!(of(&counts, "independent, changing-rate", "") >= SEEDS - 1, "{name}: {counts:?}");
        }
    }
    let steep: [(&str, Of); 3] = [
        ("20 % up", |x| 0.8 + 0.4 * x),
        ("20 % down and up", |x| 1.0 + 0.2 * (std::f64::consts::TAU * x).cos()),
        ("50 % up", |x| 0.5 + x),
    ];
    for (name, of_time) in steep {
        let counts = counts(name, SEEDS, |seed| odd::drift(seed, 10.0, 3600.0, of_time));
        let named: u64 =
            counts.iter().filter(|(said, _)| said.contains("changing-rate")).map(|(_, n)| n).sum();
        assert!(named >= SEEDS - 1, "{name}: {counts:?}");
    }
    let summary = audit(&odd::drift(1, 10.0, 3600.0, slopes[1].1));
    assert_eq!(summary.verdict.pattern_scale_end, Some(ScaleEnd::Drift));
    // Of a line through the counts of twentieths each end has a standard error of 1.1 %, whatever the pattern is.
    for (of_time, [low, high]) in [(slopes[1].1, [9.0, 11.0]), (steep[0].1, [8.0, 12.0])] {
        for seed in 0..SEEDS {
            let summary = audit(&odd::drift(seed, 10.0, 3600.0, of_time));
            let found = finding(&summary, &FindingId::ChangingRate).expect("named");
            let [Evidence::Cause(Cause::Drift { from, to, straight: true, .. })] = found.evidence[..] else {
                panic!("{seed}: {found:?}")
            };
            assert!(
                (from / low - 1.0).abs() < 0.045 && (to / high - 1.0).abs() < 0.045,
                "{seed}: {from} {to}"
            );
        }
    }
}

/// Threads that serve one schedule in turn have no pacing and no think time of their own.
#[test]
fn users_in_rotation_are_not_told_off_for_a_pacing() {
    for threads in [30, 100, 500] {
        let name = format!("rotation of {threads}");
        let counts = counts(&name, SEEDS, |seed| odd::rotation(seed, 100.0, 20_000.0, threads, false));
        assert!(of(&counts, "independent, none", "") >= SEEDS - 1, "{name}: {counts:?}");
    }
    // The order in which they become free changes it by the standard deviation of what they take: 2, 5 and 10 starts.
    for mean in [0.02, 0.05, 0.1] {
        let name = format!("100 threads of {mean} s");
        let counts = counts(&name, SEEDS, |seed| odd::pool(seed, 100.0, 20_000.0, 100, mean));
        assert!(of(&counts, "independent, none", "") >= SEEDS - 1, "{name}: {counts:?}");
    }
    let counts = counts("even rotation", 5, |seed| odd::rotation(seed, 100.0, 20_000.0, 100, true));
    assert_eq!(of(&counts, "even, constant-rate", ""), 5, "{counts:?}");
}

#[test]
fn users_released_together_are_in_step() {
    for together in [5, 20] {
        let name = format!("{together} together");
        let counts =
            counts(&name, SEEDS, |seed| odd::rendezvous(seed, 10_000 / u64::from(together), together));
        assert_eq!(of(&counts, "bunched, in-step", ""), SEEDS, "{name}: {counts:?}");
    }
}

/// The gaps of a ramp lie together at an end of the file: nothing stood still.
#[test]
fn a_short_ramp_is_no_pause() {
    type Of = fn(f64) -> f64;
    let ramps: [(&str, Of); 4] = [
        ("ramp of 4 s", |x| (x * 100.0).min(1.0)),
        ("ramp of 8 s", |x| (x * 50.0).min(1.0)),
        ("ramp of 12 s", |x| (x * 33.0).min(1.0)),
        ("ramp down of 8 s", |x| ((1.0 - x) * 50.0).min(1.0)),
    ];
    for (name, of_time) in ramps {
        let counts = counts(name, SEEDS, |seed| odd::drift(seed, 100.0, 400.0, of_time));
        let named: u64 =
            counts.iter().filter(|(said, _)| said.contains("generator-pauses")).map(|(_, n)| n).sum();
        assert_eq!(named + of(&counts, "", "pauses"), 0, "{name}: {counts:?}");
        assert_eq!(of(&counts, "bunched, unknown-cause", ""), 0, "{name}: {counts:?}");
    }
    // How long it rises is told by what is missing, some 600 starts of 1,200, from the first start on.
    for seed in 0..SEEDS {
        let load = odd::drift(seed, 100.0, 400.0, |x| (x * 33.333).min(1.0));
        let begun = load.rows[0].started.get().expect("started").as_secs_f64();
        let rises = (12.0 - begun).powi(2) / 12.0;
        let summary = audit(&load);
        let found = finding(&summary, &FindingId::ChangingRate).expect("named");
        let [Evidence::Cause(Cause::Ramp { at_end: false, ramp_s, rate, .. })] = found.evidence[..] else {
            panic!("{found:?}")
        };
        assert!(
            (ramp_s - rises).abs() < 2.0 && (rate - 100.0).abs() < 3.0,
            "{seed}: {ramp_s} of {rises}, {rate}"
        );
    }
}

/// At both ends too, and where one of two generators begins and ends later than the other.
#[test]
fn ramps_at_both_ends_are_no_pauses() {
    let both = counts("up and down in 10 s", SEEDS, |seed| {
        odd::drift(seed, 100.0, 400.0, |x| (x * 40.0).min((1.0 - x) * 40.0).min(1.0))
    });
    let later = counts("8 s later", SEEDS, |seed| odd::two_generators(seed, 50.0, 400.0, 8.0));
    for counts in [&both, &later] {
        assert_eq!(of(counts, "", "generator-pauses") + of(counts, "", "pauses"), 0, "{counts:?}");
        let named: u64 =
            counts.iter().filter(|(said, _)| said.contains("changing-rate")).map(|(_, n)| n).sum();
        assert!(named >= SEEDS - 1, "{counts:?}");
    }
}

/// Stops that come back regularly are pauses of the generator, and the period is theirs.
#[test]
fn regular_stops_are_pauses_with_their_own_period() {
    for (period, length) in [(3.0, 0.1), (1.0, 0.05)] {
        let name = format!("stops of {length} s every {period} s");
        let make = |seed| odd::regular_stops(seed, 100.0, 400.0, period, length);
        let counts = counts(&name, SEEDS, make);
        let named: u64 =
            counts.iter().filter(|(said, _)| said.contains("generator-pauses")).map(|(_, n)| n).sum();
        assert!(named >= SEEDS - 1, "{name}: {counts:?}");
    }
}
