//! The independent simulation's figures, and that what is said follows from what was seen.

use super::published::NUMBERS;
use super::suites::{Case, OK, SUITES, Way};
use super::*;
use headway_base::Nanos;
use headway_workload::model::Ties;
use std::time::Instant;

/// Every number within 4 standard errors of the difference to the independent simulation's, both spreads counted; what
/// never varies there is the same here.
fn agree(all: &[suites::Played]) -> usize {
    let mut compared = 0;
    for (row, case) in CASES.iter().enumerate() {
        let Some(figures) = case.reference else { continue };
        for number in 0..NUMBERS {
            let Some(range) = suite(all, row, number) else { continue };
            compared += 1;
            match suites_notes::distance(all, row, number) {
                Some(distance) => {
                    assert!(
                        distance <= 4.0,
                        "{} / {number}: {} +- {:?}, {}",
                        case.name,
                        range.mean,
                        range.sd,
                        figures.mean[number]
                    );
                }
                None => assert!((range.mean - figures.mean[number]).abs() < 0.05, "{} / {number}", case.name),
            }
        }
    }
    compared
}

/// Debug builds play some rows, a few times.
#[test]
fn some_rows_agree_with_the_independent_simulation() {
    let some = |case: &Case| {
        let held = Way::Even { ties: Ties::First, faulty: true, hold: true };
        let black_hole = Way::Even { ties: Ties::First, faulty: true, hold: false };
        let blocks = Way::FaultyRouters { ties: Ties::First, retried: true, blocks: true };
        [Way::One, Way::RoundRobin, held, black_hole, blocks].contains(&case.way)
    };
    let all = replicate(5, 4, |seed| SUITES.once(seed, some).unwrap());
    assert_eq!(agree(&all), 5 * NUMBERS);
}

#[test]
#[ignore = "half a minute of computing when optimised"]
fn every_row_agrees_with_the_independent_simulation() {
    let began = Instant::now();
    let all = replicate(1, 60, |seed| SUITES.once(seed, |case| case.reference.is_some()).unwrap());
    println!("60 replications of 21 rows: {:.1} s", began.elapsed().as_secs_f64());
    assert_eq!(agree(&all), 21 * NUMBERS);
}

/// The one sentence that has these words.
fn said<'a>(notes: &'a [String], words: &str) -> &'a str {
    let found: Vec<&String> = notes.iter().filter(|note| note.contains(words)).collect();
    assert_eq!(found.len(), 1, "'{words}' in {notes:#?}");
    found[0]
}

/// A few requests to a small system.
fn small() -> Setting {
    Setting {
        suites: suites::Setting { requests: 400, one_requests: 100, ..SUITES },
        blocks: blocks::Setting {
            dynos: 20,
            groups: 4,
            overlap: 10,
            warmup: Nanos::from_secs(2),
            counted: Nanos::from_secs(5),
            ..blocks::BLOCKS
        },
        storm: storm::Setting { servers: 4, ..storm::STORM },
    }
}

#[test]
fn the_report_fits() {
    let all = play_all(small(), 2, 2).unwrap();
    let report = BAMBOO.report(2, &all);
    crate::text::tests::is_fit(&report);
    assert_eq!((report.tables.len(), report.notes.len()), (6, 17));
    let json = serde_json::to_value(&report).unwrap();
    let row = report.rows.iter().position(|row| row.name == "round-robin / median").unwrap();
    assert_eq!(json["rows"][row]["published"].as_f64(), Some(95.892));
    let single = BAMBOO.report(2, &play_all(small(), 2, 1).unwrap());
    crate::text::tests::is_fit(&single);
    assert!(!crate::text::of(&single).contains("95 %  "), "{}", crate::text::of(&single));
}

/// One replication claims nothing: whatever the sentences say, they say that it is not known.
#[test]
fn of_one_replication_nothing_is_known() {
    let all = play_all(small(), 2, 1).unwrap();
    let notes = BAMBOO.report(2, &all).notes;
    said(&notes, "Of a single replication there are no intervals");
    let routers = said(&notes, "From 2 to 16 routers");
    assert!(
        routers.matches("is not known to change").count() == 2 && !routers.contains("fill the same"),
        "{routers}"
    );
    let holes = said(&notes, "Dynos are up");
    assert!(holes.contains("are not known to draw") && holes.contains("not known to be less so"), "{holes}");
    said(&notes, "Total failure is not known to be as much");
    assert_eq!(
        notes.iter().filter(|note| note.contains("no difference can be told")).count(),
        4,
        "{notes:#?}"
    );
    assert_eq!(said(&notes, "Of failing together").matches("no known difference of").count(), 8);
    said(&notes, "a choice at random is not known to be slower than one router");
    said(&notes, "whether the failure outlives its trigger is not known");
    said(&notes, "whether a backlog lasts is not known");
    let cures = said(&notes, "The same trigger, done otherwise");
    assert!(
        cures.contains("in the one replication") && !cures.contains("always") && !cures.contains("never"),
        "{cures}"
    );
}

/// Replications made by hand, a little apart.
fn spread<T>(n: i32, of: impl Fn(f64) -> T) -> Vec<T> {
    (0..n).map(|r| of(1.0 + 1e-4 * f64::from(if r % 2 == 0 { r } else { -r }))).collect()
}

/// As the independent simulation has it, or else 100 ms and all well; changed.
fn made(change: impl Fn(Way, &mut [f64; NUMBERS])) -> Vec<suites::Played> {
    spread(6, |times| {
        let row = |(at, case): (usize, &Case)| {
            let mut numbers = case.reference.map_or([100.0; NUMBERS], |figures| figures.mean);
            if case.reference.is_none() {
                numbers[OK] = 0.99;
            }
            change(case.way, &mut numbers);
            // Rows move by unlike steps, so that no difference is exact.
            Some(numbers.map(|x| x * (1.0 + (times - 1.0) * (1.0 + at as f64 / 10.0))))
        };
        CASES.iter().enumerate().map(row).collect()
    })
}

#[test]
fn suites_like_the_reference_say_so_and_others_do_not() {
    let same = suites_notes::notes(&made(|_, _| ()));
    said(&same, "all are within 4 standard errors");
    assert!(said(&same, "From 2 to 16 routers").contains("rises (196, 100, 100 and 1701 ms)"));
    said(&same, "all fill the same servers first");
    said(&same, "looks idle, and gets the next request too");
    assert!(said(&same, "Counting a failed request").contains("(more), and"), "{same:#?}");
    assert_eq!(said(&same, "Faulty routers").matches("ms shorter and fewer succeed").count(), 2, "{same:#?}");
    let alike = suites_notes::notes(&made(|way, numbers| {
        if let Way::FaultyRouters { .. } = way {
            (numbers[OK], numbers[latencies::MEAN]) = (0.99, 100.0);
        }
    }));
    said(&alike, "with random ties the mean is not known to differ");
    let turned = suites_notes::notes(&made(|way, numbers| match way {
        Way::Bamboo { .. } => numbers[latencies::MEDIAN] = 120.0,
        Way::Even { faulty: true, hold, .. } => numbers[OK] = if hold { 0.9 } else { 0.99 },
        Way::FaultyRouters { blocks: true, .. } => (numbers[OK], numbers[latencies::MEAN]) = (0.9, 90.0),
        _ => (),
    }));
    said(&turned, "standard errors of the difference away");
    assert!(said(&turned, "From 2 to 16 routers").matches("is not known to change").count() == 2);
    said(&turned, "do not draw the requests here");
    assert!(said(&turned, "Counting a failed request").contains("(fewer), and"));
    assert!(said(&turned, "Faulty routers").matches("ms shorter and fewer succeed").count() == 2);
}

/// Means by number of routers, and of a choice at random, a little apart.
fn made_sweep(means: [f64; 7]) -> Vec<suites::Swept> {
    spread(6, |times| {
        let of =
            |(at, mean): (usize, &f64)| [mean * (1.0 + (times - 1.0) * (1.0 + at as f64 / 10.0)); NUMBERS];
        means.iter().enumerate().map(of).collect()
    })
}

#[test]
fn what_many_routers_come_to_is_what_was_seen() {
    let said = |means| suites_notes::swept(&made_sweep(means)).unwrap();
    let there = said([130.0, 140.0, 150.0, 160.0, 170.0, 183.0, 183.0]);
    assert!(there.ends_with(": no difference from a choice at random can be told."), "{there}");
    let half = said([130.0, 135.0, 140.0, 145.0, 150.0, 160.0, 190.0]);
    assert!(half.contains(": 50 % of the way from one router to a choice at random (-30.0"), "{half}");
    assert!(half.contains("(135, 140, 145 and 150 ms in between)"), "{half}");
    let backwards = said([190.0, 180.0, 170.0, 160.0, 150.0, 130.0, 120.0]);
    assert!(backwards.contains("is not known to be slower than one router"), "{backwards}");
}

/// A router sees two groups of four, each dyno has two routers, and no dyno is counted twice.
#[test]
fn overlapping_groups_share_all_dynos() {
    let setting = small().blocks;
    let model = setting.model(blocks::Way::Overlap).unwrap();
    let leads = |at: usize| model.parts[at].leads_to().collect::<Vec<_>>();
    assert_eq!((leads(0), leads(1), leads(4)), (vec![1, 2, 3, 4], vec![5, 6], vec![8, 5]));
    let dynos: u32 = model.parts[5..].iter().map(|part| part.copies).sum();
    assert!(dynos == setting.dynos && model.parts[5..].iter().all(|part| part.shared));
}

/// Every way the same, then changed; a little apart.
fn made_blocks(change: impl Fn(usize, blocks::Way, &mut [f64; blocks::NUMBERS])) -> Vec<blocks::Played> {
    spread(6, |times| {
        let mut played = [[[0.0; blocks::NUMBERS]; blocks::WAYS.len()]; blocks::LOADS];
        for (load, at_load) in played.iter_mut().enumerate() {
            for (at, (numbers, way)) in at_load.iter_mut().zip(blocks::WAYS).enumerate() {
                *numbers = [100.0 / 21.0, 99.0, 100.0, 500.0, 900.0, 1.0];
                change(load, way, numbers);
                let step = if at % 2 == 0 { times } else { 2.0 - times };
                numbers.iter_mut().for_each(|x| *x *= step);
            }
        }
        played
    })
}

#[test]
fn the_answer_about_blocks_is_what_was_seen() {
    let notes = |change: &dyn Fn(usize, blocks::Way, &mut [f64; blocks::NUMBERS])| {
        blocks_notes::notes(&blocks::BLOCKS, &made_blocks(change))
    };
    let blocks = |way| way == blocks::Way::Blocks;
    let same = notes(&|_, _, _| ());
    said(&same, "Total failure is as much");
    assert_eq!(same.iter().filter(|note| note.contains("no difference can be told")).count(), 4, "{same:#?}");
    let better = notes(&|_, way, numbers| numbers[blocks::P50] -= if blocks(way) { 10.0 } else { 0.0 });
    said(
        &better,
        "(10 groups fail) against global routing (10 routers, dynos fail): blocks are better wherever",
    );
    let worse = notes(&|_, way, numbers| numbers[blocks::OK] -= if blocks(way) { 1.0 } else { 0.0 });
    said(&worse, "(10 groups fail) against global routing (1 router, dynos fail): blocks are worse wherever");
    let mixed = notes(&|_, way, numbers| {
        if blocks(way) {
            numbers[blocks::OK] -= 1.0;
            numbers[blocks::P99] -= 50.0;
        }
    });
    assert_eq!(mixed.iter().filter(|note| note.contains("on what is asked for, not on the load")).count(), 2);
    let turning = notes(&|load, way, numbers| {
        if blocks(way) {
            numbers[blocks::P99] += 50.0 * (load as f64 - 1.0);
            numbers[blocks::DOWN] = 9.0;
        }
    });
    said(&turning, "Total failure is not as much");
    let answers: Vec<_> =
        turning.iter().filter(|note| note.contains("turns with the load, by p99: at 30 %")).collect();
    assert_eq!(answers.len(), 2, "{turning:#?}");
}

/// Without faults nothing can be told of blocks but that the dynos are divided.
#[test]
fn blocks_that_do_not_fail_lose_nothing() {
    let calm = blocks::Setting { up_s: 1e9, counted: Nanos::from_secs(20), ..small().blocks };
    let all = replicate(8, 4, |seed| calm.once(seed).unwrap());
    for load in 0..blocks::LOADS {
        let ok = blocks_notes::difference(&all, load, blocks_notes::PAIRS[0], blocks::OK).unwrap();
        assert_eq!((ok.mean, ok.sd), (0.0, Some(0.0)));
        let failing_together =
            blocks_notes::difference(&all, load, (blocks::Way::Blocks, blocks::Way::Groups), blocks::P99);
        assert_eq!(failing_together.unwrap().mean, 0.0);
    }
}

fn storm_notes_of(setting: storm::Setting) -> Vec<String> {
    let all = replicate(6, 3, |seed| setting.once(seed).unwrap());
    storm_notes::notes(&setting, &all)
}

#[test]
fn a_storm_outlives_its_trigger_and_what_stops_it() {
    let notes = storm_notes_of(small().storm);
    said(&notes, "the failure outlives its trigger");
    let feeds = said(&notes, "it can keep itself up at any load above 33 %");
    assert!(feeds.contains("each request makes 3.00") || feeds.contains("each request makes 2.9"), "{feeds}");
    assert!(feeds.contains("for clients who have given up"), "{feeds}");
    let cures = said(&notes, "The same trigger, done otherwise");
    let (well, ill) = cures.split_once("never recovers").unwrap();
    assert!(
        well.contains("no retries (after") && well.contains("a budget of 10 % retries (after"),
        "{cures}"
    );
    assert!(ill.contains("waits between them"), "{cures}");
}

#[test]
fn at_a_low_load_or_after_a_short_trigger_the_system_recovers() {
    let storm = small().storm;
    let low = storm_notes_of(storm::Setting { load: 0.3, ..storm });
    said(&low, "the system recovers by itself");
    assert!(said(&low, "it cannot keep itself up").contains("so that no backlog lasts"), "{low:#?}");
    let short = storm_notes_of(storm::Setting { length: Nanos::from_millis(10), ..storm });
    said(&short, "the system recovers by itself");
    assert!(said(&short, "it can keep itself up").contains("so that no backlog lasts"), "{short:#?}");
}
