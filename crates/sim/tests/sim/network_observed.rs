//! What a network says of itself.

use crate::common::{LIMITS, asked_of, law, network, open, servers};
use headway_base::Nanos;
use headway_base::sink::Kept;
use headway_sim::{Generator, Network};
use headway_workload::model::{
    Discipline, Faults, Kind, Model, Part, Policy, Station, UnderWay, When, WhileDown,
};
use headway_workload::{Process, Shard};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// Three at once at one server of 10 ms: 10 + 20 + 30 ms in it, 30 ms busy.
#[test]
fn numbers_and_busy_times_are_integrals() {
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Sharing] {
        let sharing = discipline == Discipline::Sharing;
        let mut network = network(&Model::station(Station { discipline, ..servers(1, "10ms") }));
        asked_of(&mut network, &[(0, 0), (0, 0), (0, 0)]);
        let observed = network.observed(MS(40));
        let part = &observed.parts[0];
        let area = if sharing { 90_000_000 } else { 60_000_000 };
        assert_eq!((part.all.area_ns, part.all.busy_ns, part.all.came), (area, 30_000_000, 3));
        assert_eq!((observed.area_ns, observed.sum_ns, observed.requests), (area, area, 3));
        assert_eq!(part.by_copy, [part.all]);
        let sums = part.series.iter().map(|window| (window.busy_ns, window.area_ns));
        assert_eq!(sums.fold((0, 0), |sum, (busy, area)| (sum.0 + busy, sum.1 + area)), (30_000_000, area));
        assert!(part.series.iter().all(|window| window.from < window.to && window.to <= MS(40)));
    }
}

/// In the middle: one is served since 10 ms, one waits, one has left.
#[test]
fn what_is_going_on_counts_up_to_now() {
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let model = Model::station(Station { discipline, ..servers(1, "10ms") });
        let mut events = Part::new("pass", Kind::Pass(1));
        events.timeout = Some(headway_workload::model::Timeout {
            after: Nanos::from_secs(1_000),
            cancel: headway_workload::model::Cancel::Never,
        });
        let mut network = network(&Model::of(vec![events, model.parts[0].clone()]));
        let sending = |k| headway_workload::RequestKey { k, ..headway_workload::RequestKey::default() };
        for k in 0..3 {
            headway_sim::Target::request(&mut network, MS(0), k, k as u32, &sending(k));
        }
        headway_sim::Target::step(&mut network, MS(15));
        let observed = network.observed(MS(15));
        let busy: Vec<i128> = observed.parts.iter().map(|part| part.all.busy_ns).collect();
        let area: Vec<i128> = observed.parts.iter().map(|part| part.all.area_ns).collect();
        assert_eq!((busy, area), (vec![0, 15_000_000], vec![40_000_000, 40_000_000]));
        assert_eq!((observed.area_ns, observed.sum_ns), (40_000_000, 40_000_000));
    }
}

#[test]
fn time_down_is_told_and_names_are_those_of_the_model() {
    let when = When::Once { at: MS(100), length: MS(300) };
    let faults =
        Some(Faults { when, together: false, while_down: WhileDown::Error, under_way: UnderWay::Finish });
    let mut model = Model::balanced(Policy::RoundRobin, 2, servers(3, "1ms"));
    model.parts[1].faults = faults;
    let network = network(&model);
    let observed = network.observed(MS(1_000));
    let names: Vec<_> =
        observed.parts.iter().map(|part| (part.name.as_str(), part.copies, part.servers)).collect();
    assert_eq!(names, [("balancer", 1, None), ("pool", 2, Some(3))]);
    assert_eq!(
        (observed.parts[0].kind.as_str(), observed.parts[1].kind.as_str()),
        ("balancer round-robin", "station fifo")
    );
    let up: i128 = observed.parts[1].series.iter().filter_map(|window| window.up_ns).sum();
    let told: i128 =
        observed.parts[1].series.iter().map(|window| i128::from((window.to - window.from).0)).sum();
    assert_eq!(2 * told - up, 600_000_000);
}

/// A week of a slow trickle, and a second of a crowd: no more than so many windows, and the same sums.
#[test]
fn windows_are_bounded() {
    for (rate, seconds) in [(0.05, 7 * 86_400), (20_000.0, 1)] {
        let plan = open(Process::Poisson, rate, seconds, 1);
        let mut network = Network::new(&Model::station(Station::new(1, law("exp(1us)"))), &plan).unwrap();
        let mut kept = Kept::default();
        let played =
            headway_sim::play(&plan, Shard::WHOLE, LIMITS, &mut network, Generator::default(), &mut kept);
        let observed = network.observed(played.ended);
        let part = &observed.parts[0];
        assert!((100..=600).contains(&part.series.len()), "{}", part.series.len());
        assert_eq!(part.series.iter().map(|window| window.area_ns).sum::<i128>(), part.all.area_ns);
        let responses: i128 =
            kept.records.iter().map(|r| i128::from((r.done - r.sent.get().unwrap()).0)).sum();
        assert_eq!((observed.sum_ns, observed.area_ns), (responses, responses));
    }
}
