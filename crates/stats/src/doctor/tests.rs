//! Machines that are made up, and plans for them.

use super::*;
use crate::summary::DmaLatency;
use crate::summary::evidence::Run;
use headway_base::machine::{Buffers, Clock, Conntrack, Descriptors, Ports, Quota};

/// An ordinary server: four cores, 20,000 descriptors, the usual ports, nothing wrong.
fn machine() -> Machine {
    Machine {
        cores: 4,
        quota: None,
        governors: vec!["performance".into()],
        descriptors: Descriptors {
            soft: 20_000,
            hard: 20_000,
            most: Some(1_048_576),
            system: Some((2_000_000, 1_000)),
        },
        ports: Ports { range: Some((32_768, 60_999)), reuse: Some(2), ..Ports::default() },
        buffers: Buffers { receive: Some(212_992), ..Buffers::default() },
        conntrack: Some(Conntrack { tracked: 0, most: 1_000, closed_s: Some(120) }),
        clock: Clock {
            source: Some("tsc".into()),
            read_s: 30e-9,
            synchronised: Some(true),
            error_s: Some(0.01),
        },
        memory: Some(16 << 30),
        realtime: false,
        somaxconn: Some(4_096),
    }
}

fn measured() -> Measured {
    Measured {
        lateness: Lateness {
            n: 1_000,
            over_s: 2.0,
            p99: 80e-6,
            max: 2e-3,
            scale_s: 1e-3,
            beyond: 0.002,
            ..Lateness::default()
        },
        wait: Wait { cores: 4, ..Wait::default() },
        steal: Some(0.0),
        request: Some(Cost { worker_s: 8e-6, process_s: 10e-6, n: 20_000, disturbed: 0.0 }),
        attempt: None,
    }
}

/// 2,000 requests per second, one to a connection, up to 9,900 connections.
fn demand() -> Demand {
    Demand {
        rate: Some(2_000.0),
        flow: 2_000.0,
        streams: 1,
        cap: 9_900,
        workers: 1,
        sources: 1,
        ..Demand::default()
    }
}

fn judged(machine: Machine, demand: Demand) -> Diagnosis {
    Diagnosis::new(machine, measured(), Some(demand))
}

fn of(diagnosis: &Diagnosis, resource: Resource) -> Bound {
    *diagnosis.bounds.iter().find(|bound| bound.resource == resource).unwrap()
}

/// What ends that plan first on that machine, if anything does.
fn ends(machine: Machine, demand: Demand) -> Option<Resource> {
    let diagnosis = judged(machine, demand);
    assert_eq!(diagnosis.fitness() == Fitness::Unfit, diagnosis.first().is_some_and(Bound::ends));
    diagnosis.first().filter(|bound| bound.ends()).map(|bound| bound.resource)
}

#[test]
fn a_good_machine_is_fit_with_and_without_a_plan() {
    assert_eq!(Diagnosis::new(machine(), measured(), None).fitness(), Fitness::Fit);
    let diagnosis = judged(machine(), demand());
    assert_eq!((diagnosis.fitness(), &diagnosis.findings[..]), (Fitness::Fit, &[][..]));
    // 0.8 of a worker at 8 us.
    assert!((of(&diagnosis, Resource::Processor).allows - 100_000.0).abs() < 1e-6);
    assert_eq!(of(&diagnosis, Resource::Descriptors).allows, 19_950.0);
    // Without a response time nobody knows how many connections it takes, only when they are all in use.
    assert_eq!(of(&diagnosis, Resource::Cap).asks, None);
    assert_eq!(of(&diagnosis, Resource::Cap).full_at_s, Some(4.95));
    assert_eq!(diagnosis.first().unwrap().resource, Resource::Processor);
}

#[test]
fn littles_law_says_how_many_connections_a_rate_takes() {
    let slow = Demand { response_s: Some(2.0), ..demand() };
    // 4,000 on the mean, with a standard deviation of 63.2.
    let needed = slow.connections().unwrap();
    assert!((needed - 4_189.7).abs() < 0.1, "{needed}");
    assert_eq!(ends(machine(), slow.clone()), None);
    assert_eq!(ends(machine(), Demand { cap: 4_100, ..slow.clone() }), Some(Resource::Cap));
    assert_eq!(ends(machine(), Demand { response_s: Some(30.0), ..slow }), Some(Resource::Cap));
    let several = Demand { streams: 100, response_s: Some(2.0), ..demand() };
    assert_eq!(several.connections(), Some(42.0));
}

#[test]
fn each_resource_ends_a_plan_that_asks_for_more() {
    let users = |held: f64| Demand { held, flow: 0.0, rate: Some(100.0), cap: held as u64, ..demand() };
    assert_eq!(ends(machine(), users(19_951.0)), Some(Resource::Descriptors));
    assert_eq!(ends(machine(), users(19_950.0)), None);
    let roomy = || Machine {
        descriptors: Descriptors { soft: 1_000_000, hard: 1_000_000, ..machine().descriptors },
        ..machine()
    };
    assert_eq!(ends(roomy(), users(28_233.0)), Some(Resource::Ports));
    assert_eq!(ends(roomy(), Demand { sources: 2, ..users(28_233.0) }), None);
    assert_eq!(ends(roomy(), Demand { carrier: Carrier::Unix, ..users(28_233.0) }), None);
    let crowded = Machine {
        descriptors: Descriptors { system: Some((9_000, 1_000)), ..roomy().descriptors },
        ..roomy()
    };
    assert_eq!(ends(crowded, users(8_001.0)), Some(Resource::SystemDescriptors));
    let small = Machine { memory: Some(64 << 20), ..roomy() };
    assert_eq!(ends(small.clone(), users(12_000.0)), Some(Resource::Memory));
    assert_eq!(ends(small.clone(), users(9_000.0)), None);
    assert_eq!(ends(small, Demand { tls: true, ..users(9_000.0) }), Some(Resource::Memory));
    let tracking =
        Machine { conntrack: Some(Conntrack { tracked: 500, most: 1_000, closed_s: None }), ..machine() };
    assert_eq!(ends(tracking, users(501.0)), Some(Resource::Conntrack));
    let fast = |rate| Demand { rate: Some(rate), ..demand() };
    assert_eq!(ends(machine(), fast(100_001.0)), Some(Resource::Processor));
    assert_eq!(ends(machine(), Demand { workers: 2, ..fast(150_000.0) }), None);
    assert_eq!(
        ends(machine(), Demand { workers: 64, ..fast(410_000.0) }),
        Some(Resource::Processor),
        "cores"
    );
    // Sockets that are kept connecting: 20,000 attempts a second at 20 us, of which a worker handles for four fifths of its time.
    let attempt = Some(Cost { worker_s: 20e-6, process_s: 25e-6, n: 20_000, disturbed: 0.0 });
    let attempts = |rate| Demand { attempts: rate, held: 972.0, flow: 0.0, rate: None, cap: 972, ..demand() };
    let of_attempts =
        |rate| Diagnosis::new(machine(), Measured { attempt, ..measured() }, Some(attempts(rate)));
    let bound = |rate| of_attempts(rate).first().copied().unwrap();
    let over = bound(40_001.0);
    assert_eq!(
        (over.resource, over.unit, over.ends()),
        (Resource::Processor, Unit::ConnectionsPerSecond, true)
    );
    assert!(!bound(39_999.0).ends());
    let throttled =
        Machine { quota: Some(Quota { cores: 0.5, period_s: 0.1, file: "cpu.max".into() }), ..machine() };
    assert_eq!(ends(throttled, fast(60_000.0)), Some(Resource::Quota));
    let opening = |connects| Demand { connects: Some(connects), ..demand() };
    assert_eq!(
        ends(machine(), opening(471.0)),
        Some(Resource::PortsInTimeWait),
        "28,232 ports, a minute each"
    );
    assert_eq!(ends(machine(), opening(470.0)), None);
    let few = Demand { connects_planned: Some(28_000.0), ..opening(5_000.0) };
    assert_eq!(ends(machine(), few), None, "no port is needed twice");
    assert_eq!(
        ends(machine(), Demand { local: true, ..opening(28_000.0) }),
        None,
        "loopback gives them back"
    );
    // 277 datagrams fit, and the longest stop was 2 ms.
    let datagrams = |rate| Demand { carrier: Carrier::Datagrams, streams: 65_536, ..fast(rate) };
    let buffers = Machine { buffers: Buffers { receive: Some(21_300), ..Buffers::default() }, ..machine() };
    assert_eq!(ends(buffers.clone(), datagrams(14_000.0)), Some(Resource::ReceiveBuffer));
    assert_eq!(ends(buffers, Demand { carrier: Carrier::OneWay, ..datagrams(14_000.0) }), None);
}

#[test]
fn a_cap_beyond_the_descriptors_is_refused_whatever_it_needs() {
    let wide = Demand { cap: 100_000, response_s: Some(0.01), ..demand() };
    assert_eq!(ends(machine(), wide), Some(Resource::Descriptors));
}

#[test]
fn what_runs_out_is_what_the_change_mends() {
    let changes = |machine, demand| judged(machine, demand).findings[0].changes.clone();
    let many = Demand { held: 30_000.0, flow: 0.0, cap: 30_000, ..demand() };
    let to = Change::Descriptors { to: 31_000, hard: 20_000, most: Some(1_048_576) };
    assert_eq!(changes(machine(), many.clone()), [to, Change::Shards { to: 2 }]);
    let roomy = Machine { descriptors: Descriptors { soft: 31_000, ..machine().descriptors }, ..machine() };
    assert_eq!(
        changes(roomy.clone(), many.clone()),
        [Change::PortRange { first: 1_024, last: 65_535 }, Change::Shards { to: 3 }]
    );
    let wide = Machine { ports: Ports { range: Some((1_024, 65_535)), ..roomy.ports }, ..roomy };
    let diagnosis = judged(wide, many);
    assert_eq!(
        diagnosis.fitness(),
        Fitness::Remarks,
        "30,000 of 30,950 descriptors: {:?}",
        diagnosis.findings
    );
    let half = Demand { held: 14_117.0, flow: 0.0, cap: 14_117, ..demand() };
    let slow = judged(machine(), half.clone());
    assert!(matches!(
        slow.findings[..],
        [Finding { problem: Problem::SlowPorts { .. }, severity: Severity::Warning, .. }]
    ));
    assert_eq!(judged(machine(), Demand { held: 14_116.0, ..half }).fitness(), Fitness::Fit);
    let fast = |rate| Demand { rate: Some(rate), ..demand() };
    assert_eq!(changes(machine(), fast(150_000.0)), [Change::Threads { to: 2 }, Change::Shards { to: 2 }]);
    assert_eq!(changes(machine(), fast(1e6)), [Change::Shards { to: 4 }]);
    let opening = Demand { connects: Some(1_000.0), ..demand() };
    assert_eq!(
        changes(machine(), opening),
        [
            Change::ReuseTimeWait,
            Change::PortRange { first: 1_024, last: 65_535 },
            Change::KeepAlive,
            Change::Shards { to: 3 }
        ]
    );
    let capped = Demand { cap: 100, response_s: Some(1.0), ..demand() };
    assert_eq!(changes(machine(), capped), [Change::Cap { to: 2_135 }]);
}

#[test]
fn lateness_counts_by_what_it_does_to_the_response_that_is_expected() {
    let lateness = Lateness { mean: 100e-6, p99: 2e-3, beyond: 0.02, ..measured().lateness };
    let found = |response_s, judges_lateness, wait: Wait| {
        let measured = Measured { wait, lateness, ..measured() };
        let demand = Demand { response_s, judges_lateness, cap: 99_000, ..demand() };
        let findings = Diagnosis::new(machine(), measured, Some(demand)).findings;
        let of = |finding: &Finding| matches!(finding.problem, Problem::Late { .. } | Problem::Delays { .. });
        findings.into_iter().find(of)
    };
    let refused = Wait { dma_latency: DmaLatency::Refused, cores: 4, ..Wait::default() };
    let severity = |response_s| found(response_s, false, refused.clone()).map(|finding| finding.severity);
    // The mean is off by 5.3 %; p99 by 5.1 %; neither by more than 5 %; not known.
    assert_eq!(severity(Some(1.9e-3)), Some(Severity::Error));
    assert_eq!(severity(Some(39e-3)), Some(Severity::Warning));
    assert_eq!((severity(Some(41e-3)), severity(None)), (None, None));
    // Where lateness itself is judged, the response is not asked.
    let judged = found(Some(41e-3), true, refused.clone()).unwrap();
    assert!(matches!(judged.problem, Problem::Late { share: 0.02, .. }), "{judged:?}");
    assert_eq!(judged.severity, Severity::Error);
    let changes = |wait| found(Some(1e-3), false, wait).unwrap().changes;
    assert_eq!(changes(refused.clone()), [Change::DmaLatency, Change::OtherMachine]);
    assert_eq!(changes(Wait { busy_neighbours: true, ..refused }), [Change::OtherMachine]);
}

#[test]
fn remarks_of_a_machine_are_no_verdict_on_a_plan() {
    let odd = Machine {
        governors: vec!["powersave".into()],
        quota: Some(Quota { cores: 1.5, period_s: 0.1, file: "cpu.max".into() }),
        clock: Clock {
            source: Some("hpet".into()),
            read_s: 1.4e-6,
            synchronised: Some(false),
            error_s: None,
        },
        somaxconn: Some(128),
        ..machine()
    };
    let measured = Measured { steal: Some(0.05), ..measured() };
    let diagnosis = Diagnosis::new(odd, measured, Some(Demand { local: true, ..demand() }));
    assert_eq!(diagnosis.fitness(), Fitness::Remarks);
    let ids: Vec<_> = diagnosis.findings.iter().map(|finding| (&finding.problem, finding.severity)).collect();
    assert!(
        matches!(
            ids[..],
            [
                (Problem::Quota { .. }, Severity::Warning),
                (Problem::Governor { .. }, Severity::Warning),
                (Problem::Steal { .. }, Severity::Warning),
                (Problem::SlowClock { .. }, Severity::Warning),
                (Problem::NotSynchronised, Severity::Info),
                (Problem::ShortQueue { most: 128 }, Severity::Info),
            ]
        ),
        "{ids:?}"
    );
    let sharded = Demand { sharded: true, ..demand() };
    let unsynchronised =
        Machine { clock: Clock { synchronised: Some(false), ..machine().clock }, ..machine() };
    assert_eq!(judged(unsynchronised, sharded).fitness(), Fitness::Remarks);
}

#[test]
fn lateness_is_of_all_instants() {
    let late: Vec<f64> = (1..=1_000).map(|i| f64::from(i) * 1e-6).collect();
    let lateness = Lateness::of(late, 2.0, 990e-6);
    assert_eq!(
        (lateness.n, lateness.p50, lateness.p90, lateness.p99, lateness.max),
        (1_000, 500e-6, 900e-6, 990e-6, 1_000e-6)
    );
    assert_eq!(lateness.beyond, 0.01);
    assert_eq!(Lateness::of(Vec::new(), 0.0, 1e-3), Lateness { scale_s: 1e-3, ..Lateness::default() });
}

#[test]
fn ports_run_out_by_the_rate_and_by_time_wait() {
    let ports =
        |reuse, waiting| Ports { range: Some((32_768, 60_767)), reserved: 0, reuse: Some(reuse), waiting };
    let opening = |connects, planned| Demand {
        connects: Some(connects),
        connects_planned: Some(planned),
        flow: connects,
        ..demand()
    };
    let needed = |ports: &Ports, demand: &Demand| match ports_may_run_out(ports, demand, 0.5)? {
        Run::Ports { needed, ports, time_wait, .. } => {
            assert_eq!((ports, time_wait), (28_000, 1_000));
            Some(needed)
        }
        other => panic!("{other:?}"),
    };
    // 27,000 are free: 450 a second for 60 s.
    let minute = ports(0, Some(1_000));
    assert_eq!(needed(&minute, &opening(450.0, 1e6)), None);
    assert_eq!(needed(&minute, &opening(460.0, 1e6)), Some(27_600));
    assert_eq!(needed(&minute, &Demand { sources: 2, ..opening(460.0, 1e6) }), None);
    // No more than are planned.
    assert_eq!(needed(&minute, &opening(2_000.0, 20_000.0)), None);
    // Used again after a second on this machine, and to others after a minute.
    let second = ports(2, Some(1_000));
    assert_eq!(needed(&second, &Demand { local: true, ..opening(460.0, 1e6) }), None);
    assert_eq!(needed(&second, &Demand { local: true, ..opening(28_000.0, 1e6) }), Some(28_000));
    assert_eq!(needed(&second, &Demand { local: false, ..opening(460.0, 1e6) }), Some(27_600));
    // Sockets that are kept connecting have a port each.
    let sockets = |held| Demand { held, ..demand() };
    assert_eq!(needed(&minute, &sockets(27_000.0)), None);
    assert_eq!(needed(&second, &sockets(28_000.0)), Some(28_000));
    assert_eq!(ports_may_run_out(&Ports::default(), &sockets(1e6), 0.5), None, "nothing is known");
}

#[test]
fn what_a_request_costs_is_known_by_the_piece_that_was_disturbed_least() {
    let piece = |us: f64, disturbed| Cost { worker_s: us / 2e6, process_s: us / 1e6, n: 10_000, disturbed };
    let known =
        |pieces: &[Cost]| Cost::least_disturbed(pieces).map(|cost| (cost.process_s, cost.is_disturbed()));
    assert_eq!(known(&[piece(14.0, 0.04), piece(10.0, 0.0), piece(9.0, 0.3)]), Some((10e-6, false)));
    // A worker that waits handles more at a time: cheap, and not what a request costs.
    assert_eq!(known(&[piece(9.0, 0.3), piece(12.0, 0.2), piece(8.0, 0.5)]), Some((12e-6, true)));
    assert_eq!(known(&[]), None);
}
