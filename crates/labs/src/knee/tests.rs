//! The short form of the lab, its full form, and the lengths of the bisection beside it.

use super::play::{bisected, search};
use super::systems::{ALL, LENGTHS, System};
use super::{Pair, pairs, share};
use crate::replicate;
use headway_base::random::Stream;
use headway_base::{Kind, Nanos, Outcome, Record, RecordSink, Start};
use headway_sim::{Generator, Network, lindley};
use headway_stats::search::Criterion;
use headway_workload::Shard;
use std::sync::atomic::{AtomicU64, Ordering};

/// That part of the values is smaller.
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN)
}

/// Seeds are fixed. Of searches that hold the knee with probability 0.93, 12 of each of seven systems: fewer than 71 of 84 do in 0.3 %, and fewer
/// than 8 of 12 in 0.1 %.
#[test]
fn searches_hold_the_knee() {
    let mut all_held = 0;
    for system in &ALL[..7] {
        let all = replicate(11, 12, |seed| search(system, seed, 900.0).unwrap());
        let held = all.iter().filter(|found| found.held).count();
        assert!(held >= 8, "{}: {held} of 12", system.name);
        all_held += held;
        assert!(
            all.iter().filter_map(|found| found.half).all(|half| half <= 0.1),
            "{}: {all:?}",
            system.name
        );
        let seconds = quantile(all.iter().map(|found| found.seconds).collect(), 0.5);
        assert!(seconds <= 240.0, "{}: {seconds} s in the median", system.name);
    }
    assert!(all_held >= 71, "{all_held} of 84");
}

/// What `docs/search.md` has. `SEEDS`: how many (40); `SEED`: of which (1); `ONLY`: a part of the name of a system.
#[test]
#[ignore = "takes minutes"]
fn the_full_table() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let (seeds, seed) = (number("SEEDS").unwrap_or(40), number("SEED").unwrap_or(1));
    println!(
        "| system | knee | held | to +-10 % | median s | p90 s | half % | requests | of the bisection | within 25 % after 3 min |"
    );
    for system in only() {
        let all = pairs(system, seed, seeds).unwrap();
        let count = |of: &dyn Fn(&Pair) -> bool| all.iter().filter(|pair| of(pair)).count();
        let seconds = |part| quantile(all.iter().map(|pair| pair.search.seconds).collect(), part);
        println!(
            "| {} | {:.1}/s | {} | {} | {:.0} | {:.0} | {:.1} | {} | {} | {} |",
            system.name,
            system.knee(),
            count(&|pair| pair.search.held),
            count(&|pair| pair.search.half.is_some()),
            seconds(0.5),
            seconds(0.9),
            100.0 * quantile(all.iter().filter_map(|pair| pair.search.half).collect(), 0.5),
            all.iter().map(|pair| pair.search.requests).sum::<u64>() / seeds,
            share(&all).map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)),
            count(&|pair| (pair.search.by_default - 1.0).abs() <= 0.25),
        );
        for missed in all.iter().map(|pair| pair.search).filter(|found| !found.held) {
            println!(
                "  missed: {:.3} {:.3?} after {:.0} s",
                missed.estimate, missed.interval, missed.seconds
            );
        }
    }
}

/// At the knee the share beyond the limit is the limit: the mean of eight simulations, within five of their standard errors. The systems with sessions
/// have one formula; of Spring's the shortest simulation tells.
#[test]
fn knees_are_where_they_are_said_to_be() {
    for system in ALL.iter().filter(|system| system.requests() == 1 || system.name.contains("Spring")) {
        let criterion = system.asked().unwrap()[0].criterion;
        let length = if system.requests() == 1 { 100_000 } else { 600_000 };
        let shares = replicate(7, 8, |seed| counts(system, system.knee(), &[length], seed)[0]);
        let mean = shares.iter().sum::<f64>() / 8.0;
        let error = (shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / 56.0).sqrt();
        println!("{}: {mean:.5} +- {error:.5}, {:.5}", system.name, criterion.share);
        assert!((mean - criterion.share).abs() < 5.0 * error, "{}: {mean} +- {error}", system.name);
    }
}

/// How many bisections are played of each length, how many of them are to hold the knee (93 %), and so how many wrong ones are too many.
const BISECTIONS: u64 = 200;
const HOLD: u64 = 186;

/// Of 200 bisections, how many hold the knee whose trials have each of the lengths; up to the first length with which 186 do. Trials of more than 15 %
/// away are taken to be right. A length is done with when too many were wrong. `ONLY`: a part of the name of a system; `LENGTHS`: other lengths,
/// ascending, separated by commas.
#[test]
#[ignore = "takes hours"]
fn lengths_of_the_bisection() {
    let asked = std::env::var("LENGTHS").ok();
    let asked: Option<Vec<u64>> =
        asked.map(|text| text.split(',').map(|length| length.parse().unwrap()).collect());
    for system in only() {
        // Longer by and by, so that no trial is much longer than is needed.
        for lengths in asked.as_deref().unwrap_or(&LENGTHS).chunks(4) {
            let wrong: Vec<AtomicU64> = lengths.iter().map(|_| AtomicU64::new(0)).collect();
            let played = AtomicU64::new(0);
            let too_many = |wrong: &AtomicU64| wrong.load(Ordering::Relaxed) > BISECTIONS - HOLD;
            replicate(1, BISECTIONS, |seed| {
                if wrong.iter().all(too_many) {
                    return;
                }
                let right = bisection_is_right(system, seed, lengths);
                for (wrong, right) in wrong.iter().zip(&right) {
                    wrong.fetch_add(u64::from(!right), Ordering::Relaxed);
                }
                played.fetch_add(1, Ordering::Relaxed);
            });
            for (length, wrong) in lengths.iter().zip(&wrong) {
                println!("{}: {wrong:?} of {played:?} were wrong with {length} requests", system.name);
            }
            if !wrong.iter().all(too_many) {
                break;
            }
        }
    }
}

/// Whether a bisection whose trials have each of those lengths, ascending, holds the knee. The trials next to the knee are played first, and no
/// more when all are wrong.
fn bisection_is_right(system: &System, seed: u64, lengths: &[u64]) -> Vec<bool> {
    let criterion = system.asked().unwrap()[0].criterion;
    let off = |rate: f64| (rate / system.knee() - 1.0).abs();
    let mut near: Vec<(usize, f64)> =
        bisected(system, seed).into_iter().enumerate().filter(|(_, rate)| off(*rate) < 0.15).collect();
    near.sort_by(|(_, a), (_, b)| off(*a).total_cmp(&off(*b)));
    let mut right = vec![true; lengths.len()];
    for (trial, rate) in near {
        if !right.contains(&true) {
            break;
        }
        let seed = Stream::new(seed, "bisection").bits(trial as u64, 0) >> 11;
        let seen = counts(system, rate, lengths, seed);
        right.iter_mut().zip(seen).for_each(|(right, seen)| {
            *right &= (seen > criterion.share) == (rate > system.knee());
        });
    }
    right
}

/// The systems that `ONLY` asks for.
fn only() -> impl Iterator<Item = &'static System> {
    let only = std::env::var("ONLY").unwrap_or_default();
    ALL.iter().filter(move |system| system.name.contains(&only))
}

/// The shares beyond the limit in trials of those lengths, ascending, without the first quarter of each.
fn counts(system: &System, rate: f64, lengths: &[u64], seed: u64) -> Vec<f64> {
    let criterion = system.asked().unwrap()[0].criterion;
    let play = system.play(rate, seed, Nanos::ZERO, Nanos::from_secs(24 * 3600)).unwrap();
    let until = |length: &u64| [length / 4, *length];
    let marks: Vec<u64> = lengths.iter().flat_map(until).collect();
    let mut count = Count {
        criterion,
        longest: *marks.iter().max().unwrap(),
        n: 0,
        beyond: 0,
        seen: vec![0; marks.len()],
        marks,
    };
    if lindley::supports(&play.plan, &play.model) {
        let _ = lindley::play(&play.plan, &play.model, play.limits, &mut count);
    } else {
        let network = Network::new(&play.model, &play.plan).unwrap();
        headway_sim::play(&play.plan, Shard::WHOLE, play.limits, network, Generator::default(), &mut count);
    }
    let share = |(marks, seen): (&[u64], &[u64])| (seen[1] - seen[0]) as f64 / (marks[1] - marks[0]) as f64;
    count.marks.chunks(2).zip(count.seen.chunks(2)).map(share).collect()
}

/// Counts what is beyond the limit until each mark.
struct Count {
    criterion: Criterion,
    marks: Vec<u64>,
    longest: u64,
    n: u64,
    beyond: u64,
    seen: Vec<u64>,
}

impl RecordSink for Count {
    fn start(&mut self, _: Start) {}

    fn record(&mut self, record: Record) {
        if record.kind != Kind::Request || self.has_enough() {
            return;
        }
        self.n += 1;
        self.beyond += u64::from(match self.criterion.limit {
            Some(limit) => record.response() > limit,
            None => record.outcome != Outcome::Ok,
        });
        for (mark, seen) in self.marks.iter().zip(&mut self.seen) {
            if *mark == self.n {
                *seen = self.beyond;
            }
        }
    }

    fn tick(&mut self, _: Nanos) {}

    fn has_enough(&self) -> bool {
        self.n >= self.longest
    }

    fn finish(&mut self, _: Nanos) {}
}
