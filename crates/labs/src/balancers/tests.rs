//! The published figures and the independent simulation's, and that what is said follows from what was seen.

use super::cases::{Case, Long};
use super::published::{REFERENCE, REPLICATIONS};
use super::*;
use crate::latencies::NUMBERS;
use crate::replicate;
use std::time::Instant;

/// Width of 90 % of the normal law, in standard deviations.
const NINETY: f64 = 3.29;

fn replications(setting: &Setting, seed: u64, n: u64) -> All {
    let played = replicate(seed, n, |seed| play::once(setting, &CASES, seed).unwrap());
    All { setting: *setting, replications: played, long: Vec::new() }
}

/// Every mean within 4 standard errors of the independent simulation's, both spreads counted.
fn agree(all: &All) {
    for (case, reference) in CASES.iter().zip(&REFERENCE) {
        for number in 0..NUMBERS {
            let range = all.range(case.way, number).unwrap();
            let theirs = (reference.p95[number] - reference.p05[number]) / NINETY;
            let ours = range.sd.unwrap();
            let error = (ours * ours / range.n as f64 + theirs * theirs / REPLICATIONS).sqrt();
            let expected = reference.mean[number];
            let name = latencies::QUANTITIES[number].name;
            assert!(
                (range.mean - expected).abs() <= 4.0 * error,
                "{} / {name}: {:.4}, {expected} +- {:.4}",
                case.name,
                range.mean,
                4.0 * error
            );
        }
    }
}

#[test]
fn a_few_replications_agree_with_the_independent_simulation() {
    agree(&replications(&PUBLISHED, 21, 8));
}

/// The 25 figures of the gist are like 2,000 replications of it.
#[test]
#[ignore = "half a minute of computing when optimised"]
fn every_published_figure_lies_among_many_replications() {
    let faithful: Vec<Case> = CASES.into_iter().filter(|case| case.faithful).collect();
    let (began, n) = (Instant::now(), 200);
    let once = |seed| play::once(&PUBLISHED, &faithful, seed).unwrap();
    assert_eq!(replicate(1, n, once).len(), 200);
    println!("{n} replications of the published rows: {:.2} s", began.elapsed().as_secs_f64());
    let (began, n) = (Instant::now(), 2_000);
    let all = replications(&PUBLISHED, 1, n);
    println!("{n} replications of {} rows: {:.1} s", CASES.len(), began.elapsed().as_secs_f64());
    agree(&all);
    let mut figures = 0;
    for case in faithful {
        for number in 0..case.published.unwrap().len() {
            let rank = all.rank(case.way, number).unwrap();
            let name = latencies::QUANTITIES[number].name;
            println!("{} / {name}: {:.2} %", case.name, 100.0 * rank);
            assert!((0.002..=0.998).contains(&rank), "{} / {name} at {rank}", case.name);
            figures += 1;
        }
    }
    assert_eq!(figures, 25);
}

/// As the formulas have it, and as the independent simulation: the mean of two runs of 5,000,000 requests that count.
#[test]
#[ignore = "half a minute of computing when optimised"]
fn the_steady_state_is_that_of_theory_and_of_the_independent_simulation() {
    let began = Instant::now();
    let all = play::all(&PUBLISHED, 5, 1).unwrap();
    println!("{} long runs: {:.1} s", all.long.len(), began.elapsed().as_secs_f64());
    let Long { requests, warmup, .. } = PUBLISHED.long;
    let theirs = (requests - warmup) as f64 / 10e6;
    for (case, reference) in CASES.iter().zip(&REFERENCE) {
        let theory = PUBLISHED.theory(case.way);
        for (number, simulated) in COMPARED.into_iter().zip(reference.steady) {
            let range = all.steady(case.way, number).unwrap();
            let near = |expected: f64, error: f64| {
                let bound = 4.0 * range.sd.unwrap() * (1.0 / range.n as f64 + error).sqrt();
                assert!(
                    (range.mean - expected).abs() <= bound,
                    "{} / {}: {:.2}, {expected} +- {bound:.2}",
                    case.name,
                    latencies::QUANTITIES[number].name,
                    range.mean
                );
            };
            near(simulated, theirs);
            if let Some(exact) = theory[number] {
                near(exact, 0.0);
            }
        }
    }
}

/// Where no request ever waits every row has the same latencies: its service times.
#[test]
fn rows_have_the_same_arrivals_and_demands() {
    let idle = Setting { rate: 1e-3, requests: 300, ..PUBLISHED };
    let played = play::once(&idle, &CASES, 4).unwrap();
    assert!(played.iter().all(|row| *row == played[0]), "{played:?}");
    assert_ne!(played, play::once(&idle, &CASES, 5).unwrap());
    let mean = played[0][MEAN];
    assert!((mean - 200.0).abs() < 4.0 * 200.0 / 300_f64.sqrt(), "{mean}");
}

/// One balancer in place of ten is the even one.
#[test]
fn one_balancer_over_one_pool_is_the_even_one() {
    let one = Setting { balancers: 1, requests: 2_000, ..PUBLISHED };
    let played = play::once(&one, &CASES, 6).unwrap();
    let row = |way: Way| played[place(way).unwrap()];
    assert_eq!(row(Way::OnePool(Ties::First)), row(Way::Even(Ties::First)));
    assert_eq!(row(Way::Pools(Ties::First)), row(Way::Even(Ties::First)));
}

/// The one sentence that has these words.
fn said<'a>(notes: &'a [String], words: &str) -> &'a str {
    let found: Vec<&String> = notes.iter().filter(|note| note.contains(words)).collect();
    assert_eq!(found.len(), 1, "'{words}' in {notes:#?}");
    found[0]
}

const QUICK: Long = Long { runs: 3, requests: 6_000, warmup: 4_000 };

#[test]
fn the_report_fits() {
    let quick = Setting { requests: 1_000, long: QUICK, ..PUBLISHED };
    let all = play::all(&quick, 2, 3).unwrap();
    let report = BALANCERS.report(2, &all);
    crate::text::tests::is_fit(&report);
    assert_eq!((report.rows.len(), report.tables.len(), report.notes.len()), (CASES.len() * NUMBERS, 2, 7));
    let json = serde_json::to_value(&report).unwrap();
    let row = &json["rows"][13];
    assert_eq!(
        (row["name"].as_str(), row["published"].as_f64()),
        (Some("round-robin / median"), Some(324.0362))
    );
    assert!(row["shown"].is_number() && row["theory"].is_number());
    assert!(row["replications"]["mean"].is_number() && report.tables[0].rows[2].cells[1].rank.is_none());
    assert!(row["replications"]["p05"].is_null() && row["replications"]["p95"].is_null(), "{row}");
    let text = crate::text::of(&report);
    assert!(!text.contains("rank %") && !text.contains("95 %  "), "{text}");
    assert!(row["steady"]["mean"].is_number() && row["steady"]["ci"][1].is_number());
    // Long runs of another length, and fewer replications, change nothing of the replications that are there.
    let fewer = play::all(&Setting { long: Long { runs: 0, ..QUICK }, ..quick }, 2, 2).unwrap();
    assert_eq!(fewer.replications, all.replications[..2]);
    assert!(BALANCERS.report(2, &fewer).rows.iter().all(|row| row.steady.is_none()));
}

#[test]
fn one_replication_tells_nothing_of_ranks() {
    let quick = Setting { requests: 1_000, long: QUICK, ..PUBLISHED };
    let all = play::all(&quick, 2, 1).unwrap();
    let notes = notes::notes(&all);
    let figures = said(&notes, "one run of an unknown seed");
    assert!(
        figures.ends_with("among others is not known: 1 replication is too few (at least 20)."),
        "{figures}"
    );
    let ties = said(&notes, "10 balancers over one pool");
    assert!(ties.ends_with("is not decided here.") && !ties.contains("figures lie"), "{ties}");
    said(&notes, "nothing is known to be lost by dividing the servers");
    crate::text::tests::is_fit(&BALANCERS.report(2, &all));
}

/// As published, but a tenth of the servers and of the load: 2 or 3 servers to a balancer do not give one what ten see.
#[test]
fn ties_decide_about_one_pool_or_they_do_not() {
    let said_of = |setting: &Setting, n: u64| notes::notes(&replications(setting, 31, n));
    let few = said_of(&PUBLISHED, 6);
    said(&few, "So ties decide which is better, but the figures do not tell which they were");
    said(&few, "How they rank among others is not known: 6 replications are too few");
    let published = said_of(&PUBLISHED, 20);
    said(&published, "So both can be had");
    said(&published, "servers that a balancer cannot use cost less than requests that it cannot see");
    assert!(said(&published, "On the same arrivals").contains("round-robin 1"), "{published:#?}");
    let one = said_of(&Setting { balancers: 1, requests: 4_000, ..PUBLISHED }, 6);
    said(&one, "Here it is better than random however ties go");
    said(&one, "nothing is known to be lost by dividing the servers");
    let pairs = Setting { servers: 20, rate: 80.0, requests: 4_000, ..PUBLISHED };
    said(
        &said_of(&pairs, 8),
        "servers that a balancer cannot use cost more than requests that it cannot see",
    );
}

/// Twenty replications and long runs made by hand: every number is 150 unless changed, and they are a little apart.
fn made(change: impl Fn(&Case, &mut [f64; NUMBERS])) -> All {
    let played: Vec<play::Played> = (0..20)
        .map(|r| {
            let row = |(at, case): (usize, &Case)| {
                let mut row = [150.0; NUMBERS];
                change(case, &mut row);
                // Rows move by unlike steps, so that no difference is exact.
                let step = if (r + at) % 2 == 0 { 1e-4 } else { -1e-4 };
                row.map(|x| x * (1.0 + step * (1 + at) as f64))
            };
            CASES.iter().enumerate().map(row).collect()
        })
        .collect();
    All { setting: PUBLISHED, replications: played.clone(), long: played }
}

#[test]
fn a_lab_where_all_is_as_printed_says_so() {
    let printed = made(|case, row| row[..5].copy_from_slice(&case.published.unwrap_or(published::EVEN)));
    let notes = notes::notes(&printed);
    let figures = said(&notes, "one run of an unknown seed");
    assert!(figures.contains("Of the 25 of them 25 lie within 5-95 % of 20 replications"), "{figures}");
    assert!(figures.ends_with("none is beyond all of them."), "{figures}");
    // The same figures with either ties: worse than random, as printed.
    said(&notes, "Here it is worse than random however ties go");
    assert!(said(&notes, "On the same arrivals").contains("longer"));
    said(&notes, "ties make no known difference");
    said(&notes, "No row's mean is known to be below that of its steady state");
}

#[test]
fn a_lab_where_all_is_as_in_theory_says_so() {
    let exact = made(|case, row| {
        let theory = PUBLISHED.theory(case.way);
        COMPARED.iter().for_each(|&number| row[number] = theory[number].unwrap_or(row[number]));
    });
    said(&notes::notes(&exact), "All 12 numbers that formulas have lie within");
}

#[test]
fn every_sentence_can_come_out_the_other_way() {
    let mut all = made(|case, row| {
        *row = match case.way {
            // Better than random with ties to the first, worse with others.
            Way::OnePool(Ties::First) => [1.0, 50.0, 200.0, 300.0, 400.0, 110.0],
            Way::OnePool(_) => [1.0, 900.0, 2_000.0, 3_000.0, 4_000.0, 900.0],
            Way::Even(Ties::First) => [1.0, 300.0, 400.0, 500.0, 600.0, 330.0],
            Way::Pools(Ties::First) => [1.0, 300.0, 400.0, 500.0, 600.0, 130.0],
            _ => [1.0, 100.0, 200.0, 300.0, 400.0, 110.0],
        }
    });
    all.long.iter_mut().flatten().flatten().for_each(|x| *x *= 1.5);
    let notes = notes::notes(&all);
    assert!(said(&notes, "one run of an unknown seed").contains("beyond all of them are even / min below"));
    said(&notes, "Which of the two is right is not decided here");
    said(&notes, "ties make a difference too");
    assert!(said(&notes, "On the same arrivals").contains("shorter"));
    said(&notes, "nothing is known to be lost by dividing the servers");
    said(&notes, "too short to tell of the steady state");
    assert!(said(&notes, "that formulas have 12 lie outside").contains("random / mean"));
}
