//! Who is served next, and how fast.

use crate::common::{LIMITS, Mean, asked, asked_of, good, law, network, open, servers};
use headway_base::Nanos;
use headway_base::station::Stalls;
use headway_sim::{Generator, Network};
use headway_workload::model::{Discipline, Model, Station};
use headway_workload::{Process, Shard};

fn ten(discipline: Discipline) -> Station {
    Station { discipline, ..servers(1, "10ms") }
}

/// Steps 0 and 1 are of classes 1 and 0.
fn classes(preemptive: bool) -> Discipline {
    Discipline::Priority { classes: vec![1, 0], preemptive }
}

#[test]
fn who_came_last_is_served_first_and_nobody_is_interrupted() {
    let model = Model::station(ten(Discipline::Lifo));
    assert_eq!(asked(&model, &[0, 1, 2, 3]), good(&[10, 40, 30, 20]));
    let model = Model::station(Station { queue: Some(1), ..ten(Discipline::Lifo) });
    assert_eq!(asked(&model, &[0, 1, 2]), [Some((10_000, 200)), Some((20_000, 200)), Some((2_010, 503))]);
}

/// The first has 5 ms left when the second comes, and takes 10 ms for it; then the second has 5 ms left.
#[test]
fn those_who_share_get_equal_parts() {
    let model = Model::station(ten(Discipline::Sharing));
    assert_eq!(asked(&model, &[0, 5]), good(&[15, 20]));
    let two = Station { servers: 2, ..ten(Discipline::Sharing) };
    assert_eq!(asked(&Model::station(two.clone()), &[0, 0]), good(&[10, 10]));
    assert_eq!(asked(&Model::station(two.clone()), &[0, 0, 0]), good(&[15, 15, 15]));
    // Two and one more.
    let full = asked(&Model::station(Station { queue: Some(1), ..two }), &[0, 0, 0, 1]);
    assert_eq!(full[3], Some((1_010, 503)));
}

#[test]
fn the_lower_class_goes_first() {
    let wait = |preemptive, requests: &[(i64, u16)]| {
        asked_of(&mut network(&Model::station(ten(classes(preemptive)))), requests)
    };
    assert_eq!(wait(false, &[(0, 0), (1, 0), (2, 1)]), good(&[10, 30, 20]));
    // The first has 6 ms left when it is interrupted, and goes on before the second.
    assert_eq!(wait(true, &[(0, 0), (1, 0), (4, 1)]), good(&[20, 30, 14]));
    // Its own class interrupts nobody, and steps without a class come last.
    assert_eq!(wait(true, &[(0, 1), (1, 1), (2, 7), (3, 0)]), good(&[10, 20, 40, 30]));
}

/// Alone at speed 1, two at speed 3: the first has 5 ms left when the second comes.
#[test]
fn speed_depends_on_how_many_are_in_it() {
    for discipline in [Discipline::Fifo, Discipline::Lifo, classes(true)] {
        let model = Model::station(Station { speed: vec![1.0, 3.0], ..ten(discipline) });
        assert_eq!(asked(&model, &[0, 5]), [Some((6_666, 200)), Some((16_666, 200))]);
    }
    let both = Model::station(Station { speed: vec![1.0, 3.0], ..ten(Discipline::Sharing) });
    // Each at 1.5: the first is done 10/3 ms later, the second has 5 ms left.
    assert_eq!(asked(&both, &[0, 5]), [Some((8_333, 200)), Some((13_333, 200))]);
    let two = Station { servers: 2, speed: vec![1.0, 1.0], ..ten(Discipline::Fifo) };
    assert_eq!(asked(&Model::station(two), &[0, 0]), good(&[20, 20]));
}

#[test]
fn stalls_suspend_whoever_is_served() {
    let stalls = Some(Stalls::once(Nanos::from_millis(5), Nanos::from_millis(100)).unwrap());
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Sharing] {
        let model = Model::station(Station { stalls, ..ten(discipline.clone()) });
        let second = if discipline == Discipline::Sharing { [115, 120] } else { [110, 120] };
        assert_eq!(asked(&model, &[0, 50]), good(&second), "{discipline:?}");
    }
}

/// Plain first come first served by next-free times and by events (a speed of 1, 2, 3, 3, ... is that of three servers).
#[test]
fn next_free_times_and_events_agree() {
    let plan = open(Process::Poisson, 450.0, 20, 3);
    let plain = Station { queue: Some(4), ..servers(3, "exp(8ms)") };
    let by_events = Station { speed: vec![1.0, 2.0, 3.0], ..plain.clone() };
    let rows = |station| crate::common::records(&plan, LIMITS, &Model::station(station));
    let (plain, by_events) = (rows(plain), rows(by_events));
    assert!(plain.len() > 8_000 && plain.iter().any(|row| row.status == 503));
    for (a, b) in plain.iter().zip(&by_events) {
        assert_eq!((a.k, a.status), (b.k, b.status));
        assert!((a.done.0 - b.done.0).abs() <= 2, "{a:?} {b:?}");
    }
}

/// Disciplines that do not look at demands leave the mean of M/M/c as it is (Kleinrock 1976, 3.4), and sharing one server
/// does too: within 4 standard errors of the means of 12 seeds.
#[test]
fn disciplines_that_are_blind_to_demands_have_one_mean() {
    let sojourn = |c: u32| if c == 1 { 5.0 } else { 1.0 / 0.36 };
    for (c, discipline) in [
        (1, Discipline::Sharing),
        (1, Discipline::Lifo),
        (1, classes(true)),
        (2, Discipline::Lifo),
        (2, classes(false)),
    ] {
        let means: Vec<f64> = (1..=12)
            .map(|seed| {
                let plan = open(Process::Poisson, 800.0 * f64::from(c), 25, seed);
                let station = Station { discipline: discipline.clone(), ..servers(c, "exp(1ms)") };
                let network = Network::new(&Model::station(station), &plan).unwrap();
                let mut mean = Mean { from: 4_000, ..Mean::default() };
                headway_sim::play(&plan, Shard::WHOLE, LIMITS, network, Generator::default(), &mut mean);
                mean.sum_s / mean.n as f64 * 1e3
            })
            .collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let (error, truth) = ((variance / n).sqrt(), sojourn(c));
        assert!((mean - truth).abs() < 4.0 * error, "{discipline:?}: {mean} +- {error}, theory {truth}");
    }
}

/// The law of a step and a cold start, at a station that acts by events.
#[test]
fn laws_of_steps_and_cold_starts_hold_here_too() {
    let station = Station {
        steps: vec![(1, law("20ms"))],
        cold: Some(headway_workload::model::Cold { factor: 1.0, requests: 1 }),
        ..ten(Discipline::Lifo)
    };
    let mut network = network(&Model::station(station));
    let answers = asked_of(&mut network, &[(0, 0), (100, 1)]);
    let second = 100_000 + (20_000.0 * (1.0 + f64::exp(-1.0))) as i64;
    assert_eq!(answers, [Some((20_000, 200)), Some((second, 200))]);
}
