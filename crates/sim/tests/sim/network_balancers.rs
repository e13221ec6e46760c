//! Balancers before stations, what they know of each other, and cables.

use crate::common::{asked, good, law, network, servers};
use headway_base::Nanos;
use headway_sim::Network;
use headway_workload::Process;
use headway_workload::model::{
    Balancer, Branch, Cable, Faults, Kind, Knows, Model, Part, Policy, Station, Ties, Timeout, UnderWay,
    When, WhileDown,
};

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const FIRST: Policy = Policy::LeastConnections { ties: Ties::First };

fn ten() -> Station {
    servers(1, "10ms")
}

fn part(kind: Kind) -> Part {
    Part::new("part", kind)
}

fn balancer(policy: Policy, to: usize) -> Part {
    part(Kind::Balancer(Balancer::new(policy, &[to])))
}

#[test]
fn turns_go_round() {
    let model = Model::balanced(Policy::RoundRobin, 3, ten());
    assert_eq!(asked(&model, &[0, 0, 0, 0]), good(&[10, 10, 10, 20]));
}

#[test]
fn weights_are_shares_of_turns() {
    let mut balancer = Balancer::new(Policy::RoundRobin, &[1, 2]);
    balancer.to = vec![Branch { part: 1, weight: 3.0 }, Branch { part: 2, weight: 1.0 }];
    let station = || part(Kind::Station(ten()));
    let mut network = network(&Model::of(vec![part(Kind::Balancer(balancer)), station(), station()]));
    crate::common::asked_of(&mut network, &[(0, 0); 8]);
    let came: Vec<u64> = network.observed(MS(100)).parts.iter().map(|part| part.all.came).collect();
    assert_eq!(came, [8, 6, 2]);
}

/// The second goes to the other station; the third finds one request at each, and waits at the first.
#[test]
fn the_fewest_connections_are_counted_until_the_answer() {
    let model = Model::balanced(FIRST, 2, ten());
    assert_eq!(asked(&model, &[0, 1, 2]), good(&[10, 11, 20]));
    assert_eq!(asked(&model, &[0, 1, 10]), good(&[10, 11, 20]));
}

/// Two balancers take turns, before two stations that they share or have for themselves.
#[test]
fn what_balancers_know_of_each_other_decides_who_waits() {
    let model = |shared: bool, knows: Knows| {
        let mut second = Balancer::new(FIRST, &[2]);
        second.knows = knows;
        let routers = Part { copies: 2, ..part(Kind::Balancer(second)) };
        let stations = Part { copies: 2, shared, ..part(Kind::Station(ten())) };
        Model::of(vec![balancer(Policy::RoundRobin, 1), routers, stations])
    };
    assert_eq!(asked(&model(true, Knows::Own), &[0, 0]), good(&[10, 20]));
    assert_eq!(asked(&model(true, Knows::All), &[0, 0]), good(&[10, 10]));
    assert_eq!(asked(&model(false, Knows::Own), &[0, 0]), good(&[10, 10]));
    let told = |cost: i64| model(true, Knows::Shared { every: MS(5), cost: MS(cost) });
    assert_eq!(asked(&told(0), &[0, 4]), good(&[10, 20]));
    assert_eq!(asked(&told(0), &[0, 6]), good(&[10, 16]));
    // While they tell each other, nothing is handed on.
    assert_eq!(asked(&told(2), &[0, 6]), good(&[10, 17]));
}

#[test]
fn one_connection_each_and_the_others_wait_in_the_balancer() {
    let mut one = Balancer::new(Policy::OneConnection, &[1]);
    let model = |one: Balancer| {
        Model::of(vec![part(Kind::Balancer(one)), Part { copies: 2, ..part(Kind::Station(ten())) }])
    };
    assert_eq!(asked(&model(one.clone()), &[0, 0, 1, 2, 3]), good(&[10, 10, 20, 20, 30]));
    one.queue = Some(2);
    let mut truth = good(&[10, 10, 20, 20]);
    truth.push(Some((3_010, 503)));
    assert_eq!(asked(&model(one), &[0, 0, 1, 2, 3]), truth);
}

/// Nobody is free as far as a balancer knows until the next exchange, though both are.
#[test]
fn who_waits_in_a_balancer_goes_on_after_an_exchange() {
    let mut second = Balancer::new(Policy::OneConnection, &[2]);
    second.knows = Knows::Shared { every: MS(8), cost: Nanos::ZERO };
    let routers = Part { copies: 2, ..part(Kind::Balancer(second)) };
    let stations = Part { shared: true, ..part(Kind::Station(ten())) };
    let model = Model::of(vec![balancer(Policy::RoundRobin, 1), routers, stations]);
    // The second comes to a balancer that knows that the station is busy as of 8 ms, and hears otherwise at 16 ms.
    assert_eq!(asked(&model, &[0, 9]), good(&[10, 26]));
}

#[test]
fn cables_take_their_time_each_way() {
    let cable = |out: &str, back: &str| Some(Cable { out: law(out), back: law(back) });
    let station = Part { cable: cable("2ms", "3ms"), ..part(Kind::Station(ten())) };
    let entry = Part { cable: cable("1ms", "1ms"), ..balancer(Policy::Random, 1) };
    let model = Model::of(vec![entry, station]);
    assert_eq!(asked(&model, &[0, 1]), good(&[17, 27]));
}

/// A chain of parts as long as may be, each of which watches.
#[test]
fn depth_costs_no_stack() {
    let watch =
        Some(Timeout { after: Nanos::from_secs(50), cancel: headway_workload::model::Cancel::Queued });
    let mut parts: Vec<Part> = (1..=499).map(|to| Part { timeout: watch, ..part(Kind::Pass(to)) }).collect();
    parts.push(part(Kind::Station(Station {
        discipline: headway_workload::model::Discipline::Lifo,
        ..ten()
    })));
    assert_eq!(asked(&Model::of(parts.clone()), &[0, 1]), good(&[10, 20]));
    // And all of them lose patience at once.
    let Some(Kind::Station(station)) = parts.last_mut().map(|part| &mut part.kind) else { panic!() };
    station.service = law("60s");
    let late = asked(&Model::of(parts), &[0, 1]);
    assert_eq!(late, [Some((50_000_000, 504)), Some((50_001_000, 504))]);
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let plan = crate::common::open(Process::Constant, 1.0, 1, 1);
    let error = |model: &Model| Network::new(model, &plan).unwrap_err().to_string();
    assert!(error(&Model::of(Vec::new())).contains("at least one"));
    assert!(error(&Model::of(vec![part(Kind::Pass(0))])).contains("circle"));
    assert!(error(&Model::of(vec![part(Kind::Pass(7))])).contains("comes later"));
    assert!(error(&Model::balanced(FIRST, 0, ten())).contains("copies"));
    let chain = (1..=500).map(|to| part(Kind::Pass(to))).chain([part(Kind::Station(ten()))]).collect();
    assert!(error(&Model::of(chain)).contains("'501' is not a number of parts on one way: at most 500"));
    assert!(error(&Model::balanced(FIRST, 1_000_001, ten())).contains("at most 1000000"));
    let mut cost = Balancer::new(FIRST, &[1]);
    cost.knows = Knows::Shared { every: MS(5), cost: MS(5) };
    let model = Model::of(vec![part(Kind::Balancer(cost)), part(Kind::Station(ten()))]);
    assert!(error(&model).contains("every: 5ms, cost: 5ms"));
    let when = When::Alternating { up: law("20s"), down: law("1s"), lazy: true };
    let while_down = WhileDown::Error;
    let lost = Faults { when, together: false, while_down, under_way: UnderWay::Lost };
    let lazy = Part { faults: Some(lost), ..part(Kind::Station(ten())) };
    assert!(error(&Model::of(vec![lazy])).contains("lazy"));
    let slow = Station { speed: vec![1.0, 0.0], ..ten() };
    assert!(error(&Model::station(slow)).contains("a speed"));
}
