//! What of a run counts: the measured phase and nothing after the end, server time that was spent for nobody, and windows
//! that reach as far as the run.

use crate::common::{LIMITS, asked_of, law, network, open, servers};
use headway_base::sink::Kept;
use headway_base::{Nanos, Phase, Profile, Rate};
use headway_sim::{Generator, Network, Observed, Target};
use headway_workload::model::{
    Discipline, Faults, Kind, Model, Part, Policy, Station, Timeout, UnderWay, When, WhileDown,
};
use headway_workload::plan::Group;
use headway_workload::{Limits, Plan, Process, RequestKey, Shard};

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const S: fn(i64) -> Nanos = Nanos::from_secs;

fn observed(model: &Model, plan: &Plan, limits: Limits) -> (Observed, Nanos) {
    let mut network = Network::new(model, plan).unwrap();
    let mut kept = Kept::default();
    let played = headway_sim::play(plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut kept);
    (network.observed(played.ended), played.ended)
}

/// The same by events: a timeout that never acts stands before it.
fn by_events(model: &Model) -> Model {
    let watch = Timeout { after: S(1_000_000), cancel: headway_workload::model::Cancel::Never };
    let mut parts = vec![Part { timeout: Some(watch), ..Part::new("watch", Kind::Pass(1)) }];
    for part in &model.parts {
        let mut part = part.clone();
        if let Kind::Balancer(balancer) = &mut part.kind {
            balancer.to.iter_mut().for_each(|branch| branch.part += 1);
        }
        parts.push(part);
    }
    Model::of(parts)
}

fn share(part: i128, of: i128) -> f64 {
    part as f64 / of as f64
}

/// Four times as much as it can do, for a minute; who waits for half a minute gives up. Busy from the first on; who comes
/// after 10 s waits too long, so that of 90 s of service all but the first 40 s are for nobody.
#[test]
fn what_is_served_after_the_end_does_not_count_and_what_nobody_waits_for_is_wasted() {
    let plan = open(Process::Poisson, 400.0, 60, 3);
    let limits = Limits { timeout: S(30), drain: S(300), connections: 100_000, ..LIMITS };
    let model = Model::station(servers(1, "exp(10ms)"));
    let (direct, ended) = observed(&model, &plan, limits);
    assert!((S(89)..S(91)).contains(&ended), "{ended}");
    let part = &direct.parts[0];
    assert_eq!(direct.measured, Nanos::ZERO..S(60));
    assert!((0.999..=1.0).contains(&share(part.all.busy_ns, i128::from(S(60).0))));
    assert_eq!(part.by_copy, [part.all]);
    // Some 300 more each second: 9,000 on average, of a standard deviation of some 100 from the draws of 24,000.
    let number = share(part.all.area_ns, i128::from(S(60).0));
    assert!((8_500.0..9_500.0).contains(&number), "{number}");
    let wasted = share(direct.wasted_ns, direct.busy_ns);
    assert!((0.53..0.58).contains(&wasted), "{wasted}");
    let last = part.series.last().unwrap();
    assert_eq!((last.to, last.busy_ns), (ended, i128::from((last.to - last.from).0)));

    let (events, _) = observed(&by_events(&model), &plan, limits);
    assert_eq!((events.parts[1].all, &events.parts[1].series), (part.all, &part.series));
    let sums = |o: &Observed| (o.busy_ns, o.wasted_ns, o.area_ns, o.sum_ns, o.requests);
    assert_eq!(sums(&events), sums(&direct));
    assert_eq!(direct.area_ns, direct.sum_ns);
}

/// Service times without a mean: what is told reaches beyond the end of time, and no server is busy more than all the time.
#[test]
fn no_server_is_busy_more_than_all_the_time() {
    let plan = open(Process::Poisson, 2_000.0, 10, 5);
    let model = Model::balanced(Policy::Random, 1_000, servers(1, "pareto(1ms,0.05)"));
    let (seen, ended) = observed(&model, &plan, Limits { timeout: S(2), ..LIMITS });
    let part = &seen.parts[1];
    let (whole, all) = (i128::from(S(10).0), part.by_copy.iter().map(|copy| copy.busy_ns).sum::<i128>());
    assert!(part.by_copy.iter().all(|copy| copy.busy_ns <= whole));
    assert!(all == part.all.busy_ns && share(all, 1_000 * whole) > 0.5, "{all}");
    assert!((100..=600).contains(&part.series.len()));
    for window in &part.series {
        assert!(window.to <= ended && window.busy_ns <= 1_000 * i128::from((window.to - window.from).0));
    }
    assert_eq!(seen.area_ns, seen.sum_ns);
}

/// A minute of much and half a minute of little that is measured: 0.08 of the time busy in that.
#[test]
fn the_measured_phase_alone_counts() {
    let profile = Profile::new(&[Phase::hold(S(60), Rate(100.0)), Phase::hold(S(30), Rate(10.0))]);
    let plan = Plan::of(7, Group::open(Process::Poisson, profile), S(60), S(90));
    let model = Model::station(servers(1, "exp(8ms)"));
    for model in [by_events(&model), model] {
        let mut kept = Kept::default();
        let mut network = Network::new(&model, &plan).unwrap();
        let played =
            headway_sim::play(&plan, Shard::WHOLE, LIMITS, &mut network, Generator::default(), &mut kept);
        let seen = network.observed(played.ended.max(plan.end));
        let part = seen.parts.last().unwrap();
        let n = kept.records.iter().filter(|r| r.arrived >= S(60)).count() as u64;
        assert!((250..350).contains(&n), "{n}");
        assert_eq!((part.all.came, seen.requests), (n, kept.records.len() as u64));
        // 300 services of 8 ms: 2.4 s of 30 s; a standard deviation of the sum of 8 ms x sqrt(2 x 300) = 0.2 s.
        let utilisation = share(part.all.busy_ns, i128::from(S(30).0));
        assert!((utilisation - 0.08).abs() < 4.0 * 0.2 / 30.0, "{utilisation}");
        assert!(part.series[0].from == Nanos::ZERO && seen.measured == (S(60)..S(90)));
    }
}

/// Silent from 5 s on, for clients that wait a minute.
#[test]
fn windows_reach_to_the_end_of_the_run() {
    let plan = open(Process::Poisson, 50.0, 10, 9);
    let faults = Faults {
        when: When::Once { at: S(5), length: S(3_600) },
        together: false,
        while_down: WhileDown::Silence,
        under_way: UnderWay::Finish,
    };
    let mut model = Model::station(servers(1, "exp(10ms)"));
    model.parts[0].faults = Some(faults);
    let (seen, ended) = observed(&model, &plan, LIMITS);
    let series = &seen.parts[0].series;
    assert!((S(69)..=S(70)).contains(&ended) && series.last().unwrap().to == ended, "{ended}");
    assert!(series.windows(2).all(|pair| pair[0].to == pair[1].from));
    for window in series {
        let down = (window.to - window.from.max(S(5))).max(Nanos::ZERO);
        assert_eq!(window.up_ns, Some(i128::from((window.to - window.from - down).0)), "{window:?}");
    }
}

/// One server that works at half its speed: 20 ms each for what nobody waits for after 5 ms; and one that works at twice its
/// speed, last come first served, with the second waiting for nobody from 6 ms on.
#[test]
fn server_time_is_wasted_and_not_demand() {
    let timeout = |ms| Some(Timeout { after: MS(ms), cancel: headway_workload::model::Cancel::Never });
    let model = |discipline, speed: f64, ms| {
        let station = Station { discipline, speed: vec![speed], ..servers(1, "10ms") };
        let mut model = Model::station(station);
        model.parts[0].timeout = timeout(ms);
        model
    };
    let seen = |model: &Model, at: &[(i64, u16)]| {
        let mut network = network(model);
        asked_of(&mut network, at);
        let seen = network.observed(S(1));
        assert_eq!(seen.parts[0].all.busy_ns, seen.busy_ns);
        (seen.busy_ns / 1_000_000, seen.wasted_ns / 1_000_000)
    };
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Sharing] {
        assert_eq!(seen(&model(discipline, 0.5, 5), &[(0, 0), (100, 0)]), (40, 40));
    }
    assert_eq!(seen(&model(Discipline::Lifo, 2.0, 6), &[(0, 0), (1, 0)]), (10, 5));
    // A stall from 5 to 25 ms holds the server.
    let stalls = Some(headway_base::station::Stalls::once(MS(5), MS(20)).unwrap());
    let mut stalled = model(Discipline::Lifo, 1.0, 28);
    if let Kind::Station(station) = &mut stalled.parts[0].kind {
        station.stalls = stalls;
    }
    assert_eq!(seen(&stalled, &[(0, 0)]), (30, 30));
    // Two share a server: 20 ms each in it, 10 ms each of it.
    assert_eq!(seen(&model(Discipline::Sharing, 1.0, 15), &[(0, 0), (0, 0)]), (20, 20));
}

/// Served from 0 to 3 ms, interrupted by a higher class, and cancelled at 6 ms: its 3 ms are wasted.
#[test]
fn what_is_called_back_after_it_was_interrupted_is_wasted() {
    let discipline = Discipline::Priority { classes: vec![0, 1], preemptive: true };
    let station = Part::new("station", Kind::Station(Station { discipline, ..servers(1, "10ms") }));
    let timeout = Some(Timeout { after: MS(6), cancel: headway_workload::model::Cancel::Queued });
    let model = Model::of(vec![Part { timeout, ..Part::new("watch", Kind::Pass(1)) }, station]);
    let mut network = network(&model);
    asked_of(&mut network, &[(0, 1), (3, 0)]);
    let seen = network.observed(S(1));
    // The other is late too, at 9 ms, but is being served then.
    assert_eq!((seen.busy_ns, seen.wasted_ns, network.under_way()), (13_000_000, 13_000_000, 0));
}

/// Work of fixed length has no end of its own: what is told beyond the end of the run does not count.
#[test]
fn fixed_work_counts_up_to_the_end_of_the_run() {
    let law = law("10ms");
    let model = Model::station(Station::new(1, law));
    let mut network = network(&model);
    for k in 0..100u32 {
        network.request(
            Nanos::ZERO,
            u64::from(k),
            k,
            &RequestKey { k: u64::from(k), ..RequestKey::default() },
        );
    }
    let seen = network.observed(MS(250));
    let part = &seen.parts[0];
    assert_eq!((seen.measured.clone(), part.all.busy_ns), (Nanos::ZERO..MS(250), 250_000_000));
    // 25 are done, of which number i after 10 i ms.
    assert_eq!(part.all.area_ns, (10 * 25 * 26 / 2 + 75 * 250) * 1_000_000);
    assert_eq!(part.by_copy, [part.all]);
}

/// The client is gone at 5 ms, the server is not done before 10 ms, and nobody looks before 50 ms.
#[test]
fn what_is_left_to_happen_has_happened_when_somebody_looks() {
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let model = Model::station(Station { discipline, ..servers(1, "10ms") });
        for model in [by_events(&model), model] {
            let mut network = network(&model);
            network.request(Nanos::ZERO, 0, 0, &RequestKey::default());
            network.gone(MS(5), 0);
            let seen = network.observed(MS(50));
            let part = &seen.parts.last().unwrap().all;
            let all = [part.busy_ns, part.area_ns, seen.area_ns, seen.sum_ns, seen.busy_ns, seen.wasted_ns];
            assert_eq!(all, [10_000_000; 6]);
        }
    }
}
