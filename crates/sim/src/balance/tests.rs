//! What every policy must do, over all of them.

use super::Chooser;
use headway_base::Nanos;
use headway_base::random::Stream;
use headway_workload::model::policies::ALL;
use headway_workload::model::{Balancer, Policy, Ties};
use std::hint::black_box;

/// One of each family, and the variants that are built differently.
fn all() -> Vec<Policy> {
    let policies = vec![
        Policy::Random,
        Policy::RoundRobin,
        Policy::LeastConnections { ties: Ties::First },
        Policy::LeastConnections { ties: Ties::Random },
        Policy::LeastConnections { ties: Ties::RoundRobin },
        Policy::PowerOfD { choices: 1 },
        Policy::PowerOfD { choices: 2 },
        Policy::PowerOfD { choices: 5 },
        Policy::JoinIdleQueue,
        Policy::PeakEwma { decay: Nanos::from_secs(10) },
        Policy::ConsistentHash { bound: None },
        Policy::ConsistentHash { bound: Some(1.25) },
        Policy::OneConnection,
    ];
    for family in ALL {
        let shown = policies.iter().any(|policy| policy.to_string().split(',').next() == Some(family.name));
        assert!(shown, "{} is not among those that are tested here", family.name);
    }
    policies
}

fn chooser(policy: Policy, weights: &[f64]) -> Chooser {
    Chooser::new(&Balancer::new(policy, &[1]), weights).unwrap()
}

fn route(seed: u64) -> Stream {
    Stream::new(seed, "route")
}

/// Requests come and go at random, `load` of them outstanding at most; at intervals the choosers exchange their counts.
/// Returns all choices.
fn play(choosers: &mut [Chooser], load: usize, exchange: Option<u64>) -> Vec<Option<u32>> {
    let mut outstanding: Vec<(usize, u32, Nanos)> = Vec::new();
    let mut chosen = Vec::new();
    let mut come_and_go = Stream::new(1, "come and go").item(0);
    for step in 0..4_000 {
        let now = Nanos::from_micros(step as i64);
        let who = come_and_go.bits() as usize % choosers.len();
        if outstanding.len() < load && come_and_go.bits() % 100 < 55 {
            let key = come_and_go.bits() % 500;
            let target = choosers[who].choose(now, key, &mut route(2).item(step));
            chosen.push(target);
            if let Some(target) = target {
                choosers[who].started(target);
                outstanding.push((who, target, now));
            }
        } else if !outstanding.is_empty() {
            let (who, target, since) =
                outstanding.swap_remove(come_and_go.bits() as usize % outstanding.len());
            choosers[who].ended(target, now, (step % 7 > 0).then_some(now - since));
        }
        if exchange.is_some_and(|every| step % every == 0) {
            Chooser::exchange(choosers, |_| true);
        }
    }
    let end = Nanos::from_secs(1);
    outstanding
        .into_iter()
        .for_each(|(who, target, since)| choosers[who].ended(target, end, Some(end - since)));
    chosen
}

#[test]
fn every_choice_is_a_target_and_counts_return_to_zero() {
    for policy in all() {
        for (targets, load) in [(1, 3), (2, 9), (7, 5), (7, 400), (100, 60)] {
            for weights in [vec![1.0; targets], (1..=targets).map(|i| i as f64 / 3.0).collect()] {
                for (copies, exchange) in [(1, None), (3, None), (3, Some(50))] {
                    let mut choosers = vec![chooser(policy, &weights); copies];
                    let chosen = play(&mut choosers, load, exchange);
                    let valid = chosen.iter().flatten().all(|&target| (target as usize) < targets);
                    let refused = chosen.contains(&None);
                    assert!(valid, "{policy:?}, {targets} targets");
                    assert!(!refused || policy == Policy::OneConnection, "{policy:?} chose nobody");
                    Chooser::exchange(&mut choosers, |_| true);
                    for (chooser, target) in
                        choosers.iter().flat_map(|c| (0..targets as u32).map(move |t| (c, t)))
                    {
                        assert_eq!((chooser.own(target), chooser.known(target)), (0, 0), "{policy:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_same_draws_give_the_same_choices() {
    for policy in all() {
        for weights in [vec![1.0; 9], (1..=9).map(f64::from).collect()] {
            let fresh = || vec![chooser(policy, &weights); 2];
            assert_eq!(play(&mut fresh(), 40, Some(90)), play(&mut fresh(), 40, Some(90)), "{policy:?}");
        }
    }
}

/// Requests that never end: shares by weight for policies that go by it, outstanding requests in proportion to weights for
/// those that divide by it. In the latter all is fuller and fuller, and far more even than draws by weight would be; so
/// 4 standard errors of those bound both. A ring's shares have an error of their own, 1/sqrt(points).
#[test]
fn weights_are_honoured() {
    let weights = [1.0, 2.0, 3.0, 2.5, 1.5, 2.0, 2.0, 2.0];
    let (n, sum) = (40_000_u32, weights.iter().sum::<f64>());
    let mean = sum / 8.0;
    for policy in all() {
        let mut chooser = chooser(policy, &weights);
        let by_weight = match policy {
            // Who is drawn alone, or has one request at most, has no use for a weight.
            Policy::PowerOfD { choices: 1 } | Policy::OneConnection => false,
            _ => true,
        };
        let ring = matches!(policy, Policy::ConsistentHash { bound: None });
        for k in 0..u64::from(n) {
            let target = chooser.choose(Nanos(0), k, &mut route(4).item(k));
            target.into_iter().for_each(|target| chooser.started(target));
        }
        let bounded = matches!(policy, Policy::ConsistentHash { bound: Some(_) });
        for (target, weight) in (0..).zip(weights) {
            let share = f64::from(chooser.known(target)) / f64::from(n);
            let p = if by_weight { weight / sum } else { 1.0 / 8.0 };
            if policy == Policy::OneConnection {
                assert_eq!(chooser.known(target), 1);
                continue;
            }
            if bounded {
                assert!(
                    share <= 1.25 * p + 1.0 / f64::from(n),
                    "{policy:?}, target {target}: {share} of {p}"
                );
                continue;
            }
            let points = if ring { p * p / (160.0 * weight / mean) } else { 0.0 };
            let error = (p * (1.0 - p) / f64::from(n) + points).sqrt();
            assert!(
                (share - p).abs() < 4.0 * error,
                "{policy:?}, target {target}: {share} of {p} +- {error}"
            );
        }
    }
}

/// Each policy's first choices, where they follow without a draw.
#[test]
fn ties_are_broken_as_asked() {
    let firsts = |policy, n: u64| -> Vec<u32> {
        let mut chooser = chooser(policy, &[1.0; 4]);
        (0..n)
            .filter_map(|k| {
                let target = chooser.choose(Nanos(0), 0, &mut route(1).item(k))?;
                chooser.started(target);
                // Targets 0 and 1 are done at once.
                (target < 2).then(|| chooser.ended(target, Nanos(k as i64), None));
                Some(target)
            })
            .collect()
    };
    assert_eq!(firsts(Policy::LeastConnections { ties: Ties::First }, 5), [0, 0, 0, 0, 0]);
    assert_eq!(firsts(Policy::LeastConnections { ties: Ties::RoundRobin }, 7), [0, 1, 2, 3, 0, 1, 0]);
    assert_eq!(firsts(Policy::RoundRobin, 6), [0, 1, 2, 3, 0, 1]);
    assert_eq!(firsts(Policy::JoinIdleQueue, 7), [0, 1, 2, 3, 0, 1, 0]);
    assert_eq!(firsts(Policy::OneConnection, 7), [0, 1, 2, 3, 0, 1, 0]);
}

/// Chi-square of the choices among those that tie, within 4 standard errors of its mean; equal weights and others.
#[test]
fn random_ties_are_uniform() {
    for weights in [[1.0; 12].to_vec(), [[1.0; 6], [0.5; 6]].concat()] {
        let mut chooser = chooser(Policy::LeastConnections { ties: Ties::Random }, &weights);
        // Weight 1: targets 1, 3 and 5 have two, the others one. Weight 0.5: none, or one for the even.
        let busy = |target: u32| if target % 2 == 1 { 2 } else { 1 };
        for target in 0..12 {
            let before = if weights[target as usize] < 1.0 { busy(target) - 1 } else { busy(target) };
            (0..before).for_each(|_| chooser.started(target));
        }
        let load = |target: u32| f64::from(chooser.known(target) + 1) / weights[target as usize];
        let least = (0..12).map(load).fold(f64::INFINITY, f64::min);
        let ties: Vec<u32> = (0..12).filter(|&target| load(target) == least).collect();
        assert!(ties.len() > 3, "{ties:?}");
        let mut had = [0u32; 12];
        let n = 60_000;
        for k in 0..n {
            let target = chooser.choose(Nanos(0), 0, &mut route(8).item(k)).unwrap();
            had[target as usize] += 1;
        }
        let (df, expected) = (ties.len() as f64 - 1.0, n as f64 / ties.len() as f64);
        let chi: f64 = ties.iter().map(|&t| (f64::from(had[t as usize]) - expected).powi(2) / expected).sum();
        assert_eq!(ties.iter().map(|&t| u64::from(had[t as usize])).sum::<u64>(), n);
        assert!((chi - df).abs() < 4.0 * (2.0 * df).sqrt(), "{chi} for {df} degrees of freedom");
    }
}

/// Balancers that do not know of each other pile up on the first; after an exchange they avoid what the others have.
#[test]
fn an_exchange_tells_of_the_others() {
    let mut copies = vec![chooser(Policy::LeastConnections { ties: Ties::First }, &[1.0; 3]); 2];
    let choose = |copies: &mut [Chooser], who: usize| {
        let target = copies[who].choose(Nanos(0), 0, &mut route(1).item(0)).unwrap();
        copies[who].started(target);
        target
    };
    assert_eq!([0, 1, 0].map(|who| choose(&mut copies, who)), [0, 0, 1]);
    Chooser::exchange(&mut copies, |_| true);
    assert_eq!((copies[1].known(0), copies[1].known(1), copies[1].own(1)), (2, 1, 0));
    assert_eq!([1, 1, 0].map(|who| choose(&mut copies, who)), [2, 1, 2]);
    copies[0].ended(0, Nanos(1), None);
    assert_eq!((copies[0].known(0), copies[1].known(0)), (1, 2));
    Chooser::exchange(&mut copies, |target| target != 0);
    assert_eq!((copies[1].known(0), copies[1].known(2)), (2, 2));
}

/// After the first exchange, only targets at which something began or ended are looked at, however many there are; and what
/// is known is what a search would find.
#[test]
fn an_exchange_looks_at_what_has_changed() {
    let targets = 2_000;
    for policy in all() {
        let mut copies = vec![chooser(policy, &vec![1.0; targets as usize]); 10];
        let mut draws = route(5).item(0);
        let mut own = vec![vec![0u32; targets as usize]; 10];
        for round in 0..40 {
            // Now and then many begin, and those are sorted anew.
            let changes = if round % 10 == 5 { 3_000 } else { 20 };
            for _ in 0..changes {
                let (who, target) = (draws.bits() as usize % 10, (draws.bits() % u64::from(targets)) as u32);
                let had = &mut own[who][target as usize];
                if *had > 0 && draws.bits().is_multiple_of(2) {
                    *had -= 1;
                    copies[who].ended(target, Nanos(round), None);
                } else {
                    *had += 1;
                    copies[who].started(target);
                }
            }
            let looked = std::cell::Cell::new(0);
            Chooser::exchange(&mut copies, |_| {
                looked.set(looked.get() + 1);
                true
            });
            assert!(round == 0 || looked.get() <= changes, "{policy:?}: {} looked at", looked.get());
            for target in 0..targets {
                let all: u32 = own.iter().map(|own| own[target as usize]).sum();
                let known = copies.iter().all(|copy| copy.known(target) == all);
                assert!(known, "{policy:?}, round {round}, target {target}");
            }
            for (copy, own) in copies.iter_mut().zip(&own) {
                assert!((0..targets).all(|target| copy.own(target) == own[target as usize]));
                let chosen = copy.choose(Nanos(round), 0, &mut route(6).item(round as u64));
                let least = (0..targets).map(|target| copy.known(target)).min();
                let by_counts = matches!(policy, Policy::LeastConnections { .. })
                    || least == Some(0) && matches!(policy, Policy::JoinIdleQueue | Policy::OneConnection);
                if by_counts {
                    assert_eq!(chosen.map(|chosen| copy.known(chosen)), least, "{policy:?}, round {round}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_balanced_is_refused() {
    let refused = |policy, weights: &[f64]| {
        Chooser::new(&Balancer::new(policy, &[1]), weights).unwrap_err().to_string()
    };
    assert!(refused(Policy::Random, &[]).contains("number of targets"));
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Policy::RoundRobin, &[1.0, weight]).contains("weight"), "{weight}");
    }
    assert!(refused(Policy::PowerOfD { choices: 0 }, &[1.0]).contains("choices"));
    assert!(refused(Policy::PeakEwma { decay: Nanos::ZERO }, &[1.0]).contains("time constant"));
    assert!(refused(Policy::ConsistentHash { bound: Some(0.9) }, &[1.0]).contains("bound"));
}

/// Nanoseconds of a choice and its two reports, by policy and number of targets: the best of many pieces, as other programs
/// run besides. Printed, for `cargo test --release -p headway-sim balance::tests::speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_types, reason = "it measures")]
fn speed() {
    let weighted =
        [1, 2].map(|period| move |n: usize| (0..n).map(|i| (i % period + 1) as f64).collect::<Vec<_>>());
    let cases = all().into_iter().filter(|policy| *policy != Policy::OneConnection);
    for (policy, weights) in cases.flat_map(|policy| weighted.map(|weights| (policy, weights))) {
        for targets in [250, 100_000] {
            let weights = weights(targets);
            let mut chooser = chooser(policy, &weights);
            let stream = route(1);
            // Four fifths as many outstanding as there are targets; the oldest goes as one comes.
            let mut outstanding: Vec<u32> = Vec::new();
            for k in 0..targets as u64 * 4 / 5 {
                let target = chooser.choose(Nanos(0), k, &mut stream.item(k)).unwrap();
                chooser.started(target);
                outstanding.push(target);
            }
            let (mut oldest, mut least_ns) = (0, f64::INFINITY);
            for piece in 0..100 {
                let begun = std::time::Instant::now();
                for k in piece * 10_000..(piece + 1) * 10_000_u64 {
                    let now = Nanos(k as i64 * 1_000);
                    let target = chooser.choose(now, k, &mut stream.item(k)).unwrap();
                    chooser.started(target);
                    let gone = std::mem::replace(&mut outstanding[oldest], target);
                    chooser.ended(gone, now, Some(Nanos(1_000_000)));
                    oldest = if oldest + 1 == outstanding.len() { 0 } else { oldest + 1 };
                }
                least_ns = f64::min(least_ns, begun.elapsed().as_nanos() as f64 / 10_000.0);
            }
            black_box(&chooser);
            let even = if weights[0] == weights[1] { "even" } else { "weighted" };
            println!("{targets:>7} {least_ns:6.1} ns {even:8} {policy:?}");
        }
    }
}
