//! Thousands of simultaneous requests: each must cost what it costs alone. A hundred thousand
//! would take ten thousand million steps if each visited all the others, which is minutes instead of seconds. So the steps are
//! counted: four times as many requests may take four times the steps, plus the logarithms of the heaps.

use crate::steps::steps;
use crate::{Generator, Network, Played};
use headway_base::dist;
use headway_base::{Nanos, Profile, Rate};
use headway_workload::model::{
    Balancer, Cancel, Discipline, Faults, Hedge, Kind, Model, Part, Policy, Station, Timeout, UnderWay, When,
    WhileDown,
};
use headway_workload::plan::Group;
use headway_workload::{Limits, Plan, Process, Shard};

/// A crowd, and another four times as large.
const CROWDS: [u64; 2] = [5_000, 20_000];
/// The largest allowed ratio of steps: 4, times log 20,000 / log 5,000 = 1.16 where all of them are a heap's; the square is 16.
const MOST: f64 = 5.0;

/// `n` requests within a second, each on its own connection, by clients that wait for the response.
fn play(n: u64, patience: Nanos, model: &Model) -> (Played, Network, Vec<u16>) {
    let second = Nanos::from_secs(1);
    let profile = Profile::new(&[headway_base::Phase::hold(second, Rate(n as f64))]);
    let plan = Plan::of(1, Group::open(Process::Constant, profile), Nanos::ZERO, second);
    let hour = Nanos::from_secs(3_600);
    let limits = Limits {
        connections: 1_000_000,
        max_wait: hour,
        timeout: patience,
        connect_timeout: hour,
        drain: hour,
    };
    let mut network = Network::new(model, &plan).unwrap();
    let mut kept = headway_base::sink::Kept::default();
    let played = crate::play(&plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut kept);
    assert_eq!((played.requests, kept.records.len() as u64), (n, n));
    (played, network, kept.records.iter().map(|record| record.status).collect())
}

/// Plays both crowds, and looks at what has become of each.
fn crowd(patience: Nanos, model: impl Fn(u64) -> Model, look: impl Fn(u64, Played, Network, Vec<u16>)) {
    let [few, many] = CROWDS.map(|n| {
        let before = steps();
        let (played, network, statuses) = play(n, patience, &model(n));
        let took = steps() - before;
        look(n, played, network, statuses);
        took
    });
    println!("{few} steps, {many} of four times the crowd");
    assert!(few >= CROWDS[0], "{few} steps are none");
    assert!(many as f64 <= MOST * few as f64, "{few} steps, and {many} of four times the crowd");
}

const PATIENT: Nanos = Nanos::from_secs(3_600);

fn servers(servers: u32, service: &str) -> Station {
    Station::new(servers, dist::parse(service, &|_| Err("no files here".to_owned())).unwrap())
}

fn station(station: Station) -> Part {
    Part::new("station", Kind::Station(station))
}

fn fails_at(at: Nanos) -> Option<Faults> {
    let when = When::Once { at, length: Nanos::from_secs(1) };
    Some(Faults { when, together: false, while_down: WhileDown::Error, under_way: UnderWay::Lost })
}

fn late(statuses: &[u16]) -> u64 {
    statuses.iter().filter(|&&status| status == 504).count() as u64
}

/// All are in a part that dies: they are answered at one instant, and their connections are given up.
#[test]
fn a_crowd_that_is_lost_at_once() {
    let pass = || Part { faults: fails_at(Nanos::from_secs(2)), ..Part::new("pass", Kind::Pass(1)) };
    crowd(
        PATIENT,
        |_| Model::of(vec![pass(), station(servers(200_000, "60s"))]),
        |_, played, _, statuses| {
            assert!(statuses.iter().all(|&status| status == 503));
            assert!(played.ended < Nanos::from_secs(3));
        },
    );
}

/// So they are where they are served and wait.
#[test]
fn a_crowd_whose_station_dies() {
    for discipline in [Discipline::Fifo, Discipline::Sharing] {
        let all = Station { discipline, ..servers(100, "600s") };
        let dies = || Part { faults: fails_at(Nanos::from_secs(2)), ..station(all.clone()) };
        crowd(
            PATIENT,
            |_| Model::of(vec![dies()]),
            |_, played, _, statuses| {
                assert!(statuses.iter().all(|&status| status == 503));
                assert!(played.ended < Nanos::from_secs(3));
            },
        );
    }
}

/// All are cancelled one by one from a part that would lose them.
#[test]
fn a_crowd_that_is_called_back() {
    let balancer = Kind::Balancer(Balancer::new(Policy::Random, &[2]));
    let patience = Timeout { after: Nanos::from_secs(2), cancel: Cancel::Queued };
    let watched = Part { timeout: Some(patience), ..Part::new("watched", Kind::Pass(1)) };
    let fails = Part { faults: fails_at(Nanos::from_secs(3_000)), ..Part::new("balancer", balancer) };
    crowd(
        PATIENT,
        |_| Model::of(vec![watched.clone(), fails.clone(), station(servers(1, "1s"))]),
        |n, _, network, statuses| {
            // The last service is wasted work, and its two jobs exist until it is done.
            assert!(network.under_way() <= 2, "{}", network.under_way());
            assert_eq!(late(&statuses), n - 2);
        },
    );
}

/// All wait in a balancer, and the clients time out at once: only the first is served.
#[test]
fn a_crowd_whose_clients_go() {
    let one = Part::new("balancer", Kind::Balancer(Balancer::new(Policy::OneConnection, &[1])));
    let model = |_| Model::of(vec![one.clone(), station(servers(1, "100s"))]);
    crowd(Nanos::from_secs(2), model, |_, played, _, statuses| {
        assert!(statuses.iter().all(|&status| status == 0));
        assert!(played.ended <= Nanos::from_secs(4));
    });
}

/// All departures are known, and the clients time out before: their entries in the calendar are void.
#[test]
fn a_crowd_that_does_not_wait_for_what_it_was_told() {
    let model = |_| Model::of(vec![station(servers(1, "100s"))]);
    crowd(Nanos::from_secs(2), model, |_, played, _, statuses| {
        assert!(statuses.iter().all(|&status| status == 0));
        assert!(played.ended <= Nanos::from_secs(4));
    });
}

/// All are watched, and served in time: their timers are void.
#[test]
fn a_crowd_that_is_served_in_time() {
    let patience = Some(Timeout { after: Nanos::from_secs(60), cancel: Cancel::Queued });
    let model = |_| Model::of(vec![Part { timeout: patience, ..station(servers(200_000, "5s")) }]);
    crowd(PATIENT, model, |_, played, _, statuses| {
        assert!(statuses.iter().all(|&status| status == 200));
        assert!(played.ended <= Nanos::from_secs(6));
    });
}

/// All requests are hedged. Each response cancels its twin, which waits behind later requests; half of the twins are served by then,
/// as wasted work.
#[test]
fn a_crowd_that_is_made_twice() {
    let model = |n: u64| {
        let all = Station { discipline: Discipline::Lifo, ..servers(n as u32, "5s") };
        let hedge = Some(Hedge { after: Nanos::from_secs(2), most: 1, cancel: Cancel::Queued });
        Model::of(vec![Part { hedge, ..station(all) }])
    };
    crowd(PATIENT, model, |n, played, network, statuses| {
        assert!(statuses.iter().all(|&status| status == 200));
        assert!(played.ended <= Nanos::from_secs(7), "{}", played.ended);
        let attempts = network.observed(played.ended).parts[0].all.came;
        assert!(attempts == 2 * n && network.under_way() as u64 == n / 2, "{}", network.under_way());
    });
}
