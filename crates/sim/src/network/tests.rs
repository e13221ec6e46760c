//! Conservation, over models and loads drawn at random: whatever a network is made of, every request that comes to it is
//! dealt with once, what counts it stops counting it, and Little's identity holds to the nanosecond.

use super::*;
use crate::{Generator, lindley, play};
use headway_base::dist::{self, Dist};
use headway_base::random::{Draws, Stream};
use headway_base::sink::Kept;
use headway_base::{Outcome, Phase, Profile, Rate};
use headway_workload::journey::{Journey, Node};
use headway_workload::model::{
    Backoff, Balancer, Breaker, Budget, Cable, Cancel, Cold, Discipline, Faults, Hedge, Jitter, Kind, Knows,
    Model, Part, Policy, Retry, Station, Ties, Timeout, Trip, UnderWay, When, WhileDown,
};
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::{Limits, Plan, Process, Shard};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

struct Dice(Draws);

impl Dice {
    fn one_of<T: Clone>(&mut self, these: &[T]) -> T {
        these[(self.0.bits() % these.len() as u64) as usize].clone()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0.bits() % n
    }

    /// Once in that many.
    fn once_in<T>(&mut self, n: u64, what: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        (self.below(n) == 0).then(|| what(self))
    }
}

fn law(text: &str) -> Dist {
    dist::parse(text, &|_| Err(String::new())).unwrap()
}

fn station(dice: &mut Dice) -> Station {
    let classes = vec![2, 0];
    let discipline = dice.one_of(&[
        Discipline::Fifo,
        Discipline::Fifo,
        Discipline::Lifo,
        Discipline::Sharing,
        Discipline::Priority { classes: classes.clone(), preemptive: false },
        Discipline::Priority { classes, preemptive: true },
    ]);
    Station {
        discipline,
        steps: vec![(1, law("uniform(1ms,30ms)"))],
        queue: dice.once_in(3, |dice| dice.below(6) as usize),
        stalls: dice.once_in(5, |_| headway_base::station::Stalls::new(MS(700), MS(90)).unwrap()),
        cold: dice.once_in(6, |_| Cold { factor: 1.5, requests: 40 }),
        speed: dice.once_in(4, |_| vec![1.0, 1.7, 2.2, 1.1]).unwrap_or_default(),
        ..Station::new(
            1 + dice.below(3) as u32,
            law(dice.one_of(&["exp(20ms)", "15ms", "lognormal(20ms,2)"])),
        )
    }
}

fn policy(dice: &mut Dice) -> Policy {
    dice.one_of(&[
        Policy::Random,
        Policy::RoundRobin,
        Policy::LeastConnections { ties: Ties::Random },
        Policy::LeastConnections { ties: Ties::First },
        Policy::PowerOfD { choices: 2 },
        Policy::JoinIdleQueue,
        Policy::PeakEwma { decay: MS(500) },
        Policy::ConsistentHash { bound: Some(1.3) },
        Policy::ConsistentHash { bound: None },
        Policy::OneConnection,
    ])
}

/// What stands around a part.
fn around(dice: &mut Dice, mut part: Part) -> Part {
    let is_station = matches!(part.kind, Kind::Station(_));
    part.retry = dice.once_in(4, |dice| Retry {
        attempts: 2 + dice.below(3) as u32,
        backoff: dice.once_in(2, |dice| Backoff {
            base: MS(3),
            factor: 2.0,
            most: MS(20),
            jitter: dice.one_of(&[Jitter::None, Jitter::Full, Jitter::Half]),
        }),
        budget: dice.once_in(2, |_| Budget { share: 0.2, reserve: 5.0 }),
    });
    let cancel = [Cancel::Never, Cancel::Queued, Cancel::Always][dice.below(3) as usize];
    part.hedge = dice.once_in(5, |dice| Hedge { after: MS(12), most: 1 + dice.below(2) as u32, cancel });
    let cancel = [Cancel::Never, Cancel::Queued, Cancel::Always][dice.below(3) as usize];
    part.timeout = dice.once_in(4, |dice| Timeout { after: MS(5 + dice.below(80) as i64), cancel });
    part.breaker = dice.once_in(6, |dice| Breaker {
        trip: dice.one_of(&[Trip::InARow(3), Trip::Share { share: 0.4, of: 10 }]),
        open: MS(60),
        probes: 1 + dice.below(2) as u32,
    });
    part.cable = dice.once_in(4, |dice| Cable {
        out: law(dice.one_of(&["2ms", "exp(2ms)", "0s"])),
        back: law(dice.one_of(&["1ms", "exp(3ms)"])),
    });
    part.faults = dice.once_in(4, |dice| {
        let turns = |lazy| When::Alternating { up: law("exp(300ms)"), down: law("exp(60ms)"), lazy };
        let faults = Faults {
            when: dice.one_of(&[turns(false), turns(true), When::Once { at: MS(900), length: MS(400) }]),
            together: dice.below(2) == 0,
            while_down: match dice.below(3) {
                0 if is_station => WhileDown::Slow(4.0),
                1 => WhileDown::Silence,
                _ => WhileDown::Error,
            },
            under_way: dice.one_of(&[UnderWay::Finish, UnderWay::Lost]),
        };
        // What changes only when it is asked loses nothing.
        if faults.when == turns(true) { Faults { under_way: UnderWay::Finish, ..faults } } else { faults }
    });
    part
}

/// A chain of balancers and passes before stations, some of them shared.
fn model(dice: &mut Dice) -> Model {
    let depth = dice.below(4) as usize;
    let mut parts = Vec::new();
    for at in 0..depth {
        let kind = if dice.below(3) == 0 {
            Kind::Pass(at + 1)
        } else {
            let policy = policy(dice);
            let mut balancer = Balancer::new(policy, &[at + 1]);
            balancer.hold = dice.once_in(4, |_| MS(30));
            balancer.knows = dice.one_of(&[
                Knows::Own,
                Knows::All,
                Knows::Shared { every: MS(50), cost: MS(0) },
                Knows::Shared { every: MS(50), cost: MS(4) },
            ]);
            balancer.queue =
                dice.once_in(2, |dice| dice.below(5) as usize).filter(|_| policy == Policy::OneConnection);
            Kind::Balancer(balancer)
        };
        let part = Part::new(headway_workload::redact::clear(&format!("part {at}")), kind);
        let copies = if at == 0 { 1 } else { 1 + dice.below(3) as u32 };
        let part = Part { copies, shared: dice.below(2) == 0, ..part };
        parts.push(around(dice, part));
    }
    let part = Part::new("stations", Kind::Station(station(dice)));
    let part = Part { copies: 1 + dice.below(5) as u32, shared: dice.below(2) == 0, ..part };
    parts.push(around(dice, part));
    Model::of(parts)
}

/// What of a part the direct way can do.
fn calm(part: &mut Part) {
    (part.retry, part.hedge, part.timeout, part.breaker) = (None, None, None, None);
    if let Some(cable) = &mut part.cable {
        cable.out = law("3ms");
    }
    if let Some(faults) = &mut part.faults {
        (faults.while_down, faults.under_way) = (WhileDown::Error, UnderWay::Finish);
    }
    match &mut part.kind {
        Kind::Balancer(balancer) => {
            if balancer.policy == Policy::OneConnection {
                balancer.policy = Policy::ConsistentHash { bound: None };
            }
            if let Knows::Shared { cost, .. } = &mut balancer.knows {
                *cost = Nanos::ZERO;
            }
            balancer.queue = None;
        }
        Kind::Station(station) => {
            (station.discipline, station.speed) = (Discipline::Fifo, Vec::new());
        }
        Kind::Pass(_) => {}
    }
}

/// Users that arrive, or a fixed number of users, with journeys of four requests of two steps.
fn plan(dice: &mut Dice, seed: u64) -> Plan {
    let ask = |step| Node::Ask { step, repeat: 2, think: None };
    let journey = Journey::new(&[ask(0), ask(1)], law("exp(10ms)")).unwrap();
    let end = Nanos::from_secs(3);
    let source = if dice.below(2) == 0 {
        let profile = Profile::new(&[Phase::hold(end, Rate(10.0 + dice.below(60) as f64))]);
        Source::Arrivals { process: Process::Poisson, profile: profile.into() }
    } else {
        let level = headway_workload::users::Level::hold(1 + dice.below(12) as u32, end);
        Source::Users { level: level.into(), requests: None }
    };
    let connections = dice.one_of(&[Connections::Shared, Connections::PerUser]);
    Plan::of(seed, Group::of(source, journey, connections), Nanos::ZERO, end)
}

fn limits(dice: &mut Dice) -> Limits {
    Limits {
        connections: 2 + dice.below(40) as u32,
        max_wait: MS(100),
        timeout: MS(dice.one_of(&[40, 300, 60_000])),
        connect_timeout: MS(100),
        drain: MS(500),
    }
}

#[test]
fn whatever_a_network_is_made_of_nothing_is_lost_or_counted_twice() {
    let (mut seen, mut direct) = ([0u64; 4], 0);
    for seed in 0..300 {
        let mut dice = Dice(Stream::new(seed, "models").item(0));
        let (model, plan, limits) = (model(&mut dice), plan(&mut dice, seed), limits(&mut dice));
        let Ok(mut network) = Network::new(&model, &plan) else { panic!("{seed}: {model:#?}") };
        if seed % 2 == 0 {
            network.measured = Measured::all();
        }
        let mut kept = Kept::default();
        let played = play(&plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut kept);
        direct += u64::from(network.direct);

        // In the middle of things.
        let observed = network.observed(network.now.max(played.ended));
        let sent = kept.records.iter().filter(|r| r.sent.is_some() && r.kind == headway_base::Kind::Request);
        assert_eq!((played.requests, observed.requests), (sent.count() as u64, played.requests), "{seed}");
        assert_eq!(observed.area_ns, observed.sum_ns, "{seed}");

        // Wasted work still has to be finished.
        let mut steps = 0;
        while network.under_way() > 0 && network.next_at() < Nanos::MAX {
            let answered = network.step(network.next_at());
            assert_eq!(answered, None, "{seed}: nobody waits");
            steps += 1;
            assert!(steps < 2_000_000, "{seed}: {} are under way for ever: {model:#?}", network.under_way());
        }
        for part in &mut network.parts {
            if let PartKind::Balancer(balancing) = &mut part.does {
                balancing.let_go(Nanos::MAX);
            }
        }
        check_empty(&network, seed, &model);
        let end = network.now.max(played.ended);
        let observed = network.observed(end);
        assert_eq!(observed.area_ns, observed.sum_ns, "{seed}");
        assert!(network.direct || network.little.inside == 0, "{seed}");
        if seed % 2 == 0 {
            check_sums(&observed, seed);
        }
        for part in &observed.parts {
            let servers = part.servers.unwrap_or(0) * part.copies;
            assert!(part.all.failed <= part.all.came, "{seed}: {part:?}");
            assert!(part.all.busy_ns <= i128::from(end.0) * i128::from(servers), "{seed}: {part:?}");
            assert!(part.all.busy_ns >= 0 && part.all.area_ns >= 0, "{seed}");
        }
        for record in &kept.records {
            match record.outcome {
                Outcome::Ok => seen[0] += 1,
                Outcome::Status if record.status == 503 => seen[1] += 1,
                Outcome::Status => seen[2] += 1,
                Outcome::Timeout => seen[3] += 1,
                _ => {}
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 250) && direct > 10, "{seen:?}, {direct} direct");
}

/// Where all of the run counts: windows add up to the whole of a part, and what requests took to what servers were busy, but
/// for the rounding of each that shares a server.
fn check_sums(observed: &Observed, seed: u64) {
    let mut attempts = 0;
    for part in &observed.parts {
        let busy: i128 = part.series.iter().map(|window| window.busy_ns).sum();
        let area: i128 = part.series.iter().map(|window| window.area_ns).sum();
        assert_eq!((busy, area), (part.all.busy_ns, part.all.area_ns), "{seed}: {}", part.name);
        attempts += i128::from(part.all.came);
    }
    let busy: i128 = observed.parts.iter().map(|part| part.all.busy_ns).sum();
    assert!((busy - observed.busy_ns).abs() <= attempts, "{seed}: {busy} ns against {}", observed.busy_ns);
    assert!(observed.wasted_ns <= observed.busy_ns, "{seed}");
}

fn check_empty(network: &Network, seed: u64, model: &Model) {
    let jobs: Vec<_> = network.jobs.all().map(|f| (network.jobs.get(f), network.jobs.frames(f))).collect();
    assert!(jobs.is_empty(), "{seed}: {jobs:#?} {model:#?}");
    assert!(network.ready.is_empty() && network.outbox.held() == 0);
    assert!(network.connections.iter().all(|&request| request == NONE), "{seed}");
    let held = network.releases.len() - network.free_releases.len();
    for part in &network.parts {
        if let Some(faults) = &part.faults {
            assert!(faults.inside.iter().all(|inside| inside.len() == 0), "{seed}: {}", part.name);
        }
        match &part.does {
            PartKind::Balancer(balancing) => {
                let own = balancing.choosers.iter().flat_map(|c| (0..c.targets()).map(|t| c.own(t)));
                let own: u32 = own.sum();
                assert!(own as usize <= held, "{seed}: {own} outstanding, {held} held");
                assert!(balancing.waiting.iter().all(|waiting| waiting.len() == 0), "{seed}");
            }
            PartKind::EventStation(stations) => {
                for station in &stations.stations {
                    assert_eq!(
                        (station.in_service(), station.waiting.len(), station.busy),
                        (0, 0, 0),
                        "{seed}"
                    );
                }
            }
            PartKind::Forward(_) | PartKind::FifoStation(_) => {}
        }
    }
}

/// A model whose answers are known as requests come, with and without a part before it that watches and never acts.
#[test]
fn the_direct_way_and_events_give_the_same_answers() {
    for seed in 0..200 {
        let mut dice = Dice(Stream::new(seed, "models").item(1));
        let (mut model, mut plan, limits) = (model(&mut dice), plan(&mut dice, seed), limits(&mut dice));
        plan.measured_from = MS(700);
        model.parts.iter_mut().for_each(calm);
        let network = Network::new(&model, &plan).unwrap();
        assert!(network.direct, "{seed}: {model:#?}");
        let watch = Timeout { after: Nanos::from_secs(1_000_000), cancel: Cancel::Never };
        let watched = Part { timeout: Some(watch), ..Part::new("watch", Kind::Pass(1)) };
        let mut parts = vec![watched];
        for mut part in model.parts.clone() {
            match &mut part.kind {
                Kind::Pass(to) => *to += 1,
                Kind::Balancer(balancer) => balancer.to.iter_mut().for_each(|branch| branch.part += 1),
                Kind::Station(_) => {}
            }
            parts.push(part);
        }
        let mut watched = Network::new(&Model::of(parts), &plan).unwrap();
        assert!(!watched.direct);
        // Draws belong to a part's number, which is one more there.
        for (own, others) in watched.parts[1..].iter_mut().zip(&network.parts) {
            own.draws = others.draws.clone();
            own.faults = others.faults.clone();
        }
        // Half of the generators are late with what they hear.
        let pauses = vec![(MS(400), MS(450)), (MS(1_000), MS(1_300))];
        let slow = Generator { pauses, event_cost: Nanos::from_micros(30), ..Generator::default() };
        let run = |mut network: Network| {
            let mut kept = Kept::default();
            let generator = if seed % 2 == 0 { Generator::default() } else { slow.clone() };
            let played = play(&plan, Shard::WHOLE, limits, &mut network, generator, &mut kept);
            kept.records.sort_by_key(|r| (r.k, r.intended, r.kind));
            (kept.records, network.observed(played.ended))
        };
        let ((direct, inside), (by_events, inside_events)) = (run(network), run(watched));
        check_alike(&inside, &inside_events, seed);
        assert_eq!(direct.len(), by_events.len(), "{seed}");
        for (a, b) in direct.iter().zip(&by_events) {
            let tell = |r: &headway_base::Record| (r.k, r.step, r.sent, r.done, r.outcome, r.status);
            assert_eq!(tell(a), tell(b), "{seed}: {model:#?}");
        }
    }
}

/// Without a client the same requests get the same answers, and the network sees the same inside; where the client would have
/// acted it says so.
#[test]
fn the_recursion_gives_what_the_calendar_does() {
    let (mut played, mut acted) = (0, 0);
    for seed in 0..200 {
        let mut dice = Dice(Stream::new(seed, "models").item(3));
        let mut model = model(&mut dice);
        model.parts.iter_mut().for_each(calm);
        let end = Nanos::from_secs(3);
        let mut group = |step: u16, process: Process| {
            let profile = Profile::new(&[Phase::hold(end, Rate(10.0 + dice.below(150) as f64))]);
            let journey = [Node::Ask { step, repeat: 1, think: None }];
            let journey = Journey::new(&journey, headway_workload::journey::no_think()).unwrap();
            let source = Source::Arrivals { process, profile: profile.into() };
            Group::of(source, journey, Connections::Shared)
        };
        let mut groups = vec![group(0, Process::Poisson)];
        if seed % 2 == 0 {
            // In whole ticks of a clock, so that many come at one instant.
            groups.push(group(1, Process::Ticks { mean: 4.0 }));
        }
        let plan = Plan { seed, groups, measured_from: MS(700), end, shard: Shard::WHOLE };
        let limits = Limits { connections: 10_000, ..limits(&mut dice) };
        let network = Network::new(&model, &plan).unwrap();
        let mut by_recursion = Kept::default();
        let mut alone = network.clone();
        let Ok(ended) = lindley::play_through(&plan, &mut alone, limits, &mut by_recursion) else {
            acted += 1;
            continue;
        };
        let mut by_calendar = Kept::default();
        let mut target = network;
        let truth = play(&plan, Shard::WHOLE, limits, &mut target, Generator::default(), &mut by_calendar);
        assert_eq!((ended.ended, ended.requests), (truth.ended, truth.requests), "{seed}: {model:#?}");
        for until in [truth.ended, truth.ended + MS(500)] {
            assert_eq!(alone.observed(until), target.observed(until), "{seed}: {model:#?}");
        }
        let in_order = |kept: &mut Kept| kept.records.sort_by_key(|r| (r.intended, r.group, r.k));
        in_order(&mut by_recursion);
        in_order(&mut by_calendar);
        assert_eq!(by_recursion.records.len(), by_calendar.records.len(), "{seed}");
        for (a, b) in by_recursion.records.iter().zip(&by_calendar.records) {
            let tell =
                |r: &headway_base::Record| (r.k, r.group, r.step, r.started, r.first_byte, r.done, r.status);
            assert_eq!(tell(a), tell(b), "{seed}: {model:#?}");
            assert_eq!(a.outcome, b.outcome, "{seed}");
        }
        played += 1;
    }
    assert!(played > 80 && acted > 20, "{played} {acted}");
}

/// Both ways see the same inside, whenever they add it up. Of those on their way back the direct way knows that they failed.
fn check_alike(direct: &Observed, by_events: &Observed, seed: u64) {
    let whole = |observed: &Observed| {
        let Observed { until, requests, busy_ns, wasted_ns, area_ns, sum_ns, .. } = *observed;
        (until, requests, busy_ns, wasted_ns, area_ns, sum_ns)
    };
    assert_eq!(whole(direct), whole(by_events), "{seed}");
    assert_eq!(direct.area_ns, direct.sum_ns, "{seed}");
    for (a, b) in direct.parts.iter().zip(&by_events.parts[1..]) {
        for (a, b) in a.by_copy.iter().zip(&b.by_copy) {
            let tell = |copy: &CopyObserved| (copy.came, copy.busy_ns, copy.area_ns);
            assert_eq!(tell(a), tell(b), "{seed}");
            assert!(b.failed <= a.failed && a.failed <= b.failed + 40, "{seed}: {a:?} {b:?}");
        }
        assert_eq!(a.series, b.series, "{seed}: {}", a.name);
    }
}

/// A timeout that never acts is added to every part without one: nothing changes. (With silent parts it does: a request
/// waits there until the timeout, even if it was abandoned.)
#[test]
fn time_outs_that_never_act_change_no_answer() {
    let mut failed = 0;
    for seed in 0..300 {
        let mut dice = Dice(Stream::new(seed, "models").item(2));
        let (mut model, plan, limits) = (model(&mut dice), plan(&mut dice, seed), limits(&mut dice));
        for part in &mut model.parts {
            if let Some(faults) = part.faults.as_mut().filter(|f| f.while_down == WhileDown::Silence) {
                faults.while_down = WhileDown::Error;
            }
        }
        // What a station loses at one instant goes on in the order of slots, which attempts of their own take too.
        if let Some(faults) = model.parts.last_mut().and_then(|station| station.faults.as_mut()) {
            faults.under_way = UnderWay::Finish;
        }
        // Models that act by events either way, and call back.
        model.parts[0].timeout = Some(Timeout { after: MS(30), cancel: Cancel::Queued });
        let run = |model: &Model| {
            let mut kept = Kept::default();
            let network = Network::new(model, &plan).unwrap();
            play(&plan, Shard::WHOLE, limits, network, Generator::default(), &mut kept);
            kept.records.sort_by_key(|r| (r.k, r.intended, r.kind));
            kept.records
        };
        let without = run(&model);
        let mut patient = model.clone();
        for part in &mut patient.parts {
            part.timeout.get_or_insert(Timeout {
                after: Nanos::from_secs(1_000_000),
                cancel: [Cancel::Never, Cancel::Queued, Cancel::Always][(seed % 3) as usize],
            });
        }
        let interrupted = |model: &Model| {
            let network = Network::new(model, &plan).unwrap();
            network
                .parts
                .iter()
                .map(|part| matches!(part.does, PartKind::EventStation(_)))
                .collect::<Vec<_>>()
        };
        assert_eq!(interrupted(&model), interrupted(&patient), "{seed}");
        let with = run(&patient);
        assert_eq!(without.len(), with.len(), "{seed}: {model:#?}");
        for (a, b) in without.iter().zip(&with) {
            let tell = |r: &headway_base::Record| (r.k, r.step, r.sent, r.done, r.outcome, r.status);
            assert_eq!(tell(a), tell(b), "{seed}: {model:#?}");
            failed += u64::from(a.status == 504);
        }
    }
    assert!(failed > 5_000, "{failed}");
}

/// Fifty thousand requests, each with a timeout, a hedge and a retry that never act: what is held is what is under way.
#[test]
fn memory_is_for_what_is_under_way() {
    let end = Nanos::from_secs(50);
    let profile = Profile::new(&[Phase::hold(end, Rate(1_000.0))]);
    let plan = Plan::of(1, Group::open(Process::Poisson, profile), Nanos::ZERO, end);
    let patient =
        Limits { connections: 10_000, max_wait: end, timeout: end, connect_timeout: end, drain: Nanos::ZERO };
    for (discipline, cancel) in [
        (Discipline::Fifo, Cancel::Never),
        (Discipline::Lifo, Cancel::Queued),
        (Discipline::Sharing, Cancel::Always),
    ] {
        let station = Station { discipline, ..Station::new(1, law("exp(800us)")) };
        let mut model = Model::station(station);
        model.parts[0].timeout = Some(Timeout { after: Nanos::from_secs(1_000), cancel });
        model.parts[0].hedge = Some(Hedge { after: Nanos::from_secs(1_000), most: 1, cancel });
        model.parts[0].retry = Some(Retry { attempts: 3, backoff: None, budget: None });
        let mut network = Network::new(&model, &plan).unwrap();
        let mut kept = Kept::default();
        play(&plan, Shard::WHOLE, patient, &mut network, Generator::default(), &mut kept);
        assert!(kept.records.len() > 49_000 && kept.records.iter().all(|r| r.outcome == Outcome::Ok));
        assert!(network.events.held() < 500, "{}", network.events.held());
        assert!(network.jobs.slots() < 500, "{}", network.jobs.slots());
    }
}
