//! What a plan asks of the stations of a model, as far as that can be told without playing: work per time and server, and how
//! long the slowest of them takes to forget how it began.
//!
//! Deliberately absent: how requests spread over the parts (`headway_sim::load`). Of users who wait for their answers nothing is told:
//! they ask for no more than there is.

use headway_base::dist::Law as _;
use headway_stats::queueing::{Mmc, TOO_SKEWED, relaxation_time, skew_allowance};
use headway_stats::steady::Length;
use headway_stats::summary::Infinite;
use headway_workload::Plan;
use headway_workload::model::{Cancel, Discipline, Faults, Kind, Model, Part, Policy, When};
use headway_workload::plan::Group;

/// What part of the length that a single run needs several of them need together: 100 relaxation times for exponential services. Of M/M/1 at 80 %
/// the intervals of the mean held in 92 % of studies of 10 x 11 relaxation times, those of p99 in 92 % of 10 x 20 and 84 % of 5 x 20, those of
/// p99.9 in 94 % of 20 x 100, and at 95 % in 65 to 77 % of 20 x 38.
const TOGETHER: f64 = 0.2;
/// How many times as long where services are too skewed for the interval of a single run: with lognormal ones of CoV 3 it held in 90 % of studies of
/// 2,000 to 7,000 relaxation times and in 95 % of 10,700, with CoV 2 in 92 % of 4,300.
const SKEWED: f64 = 15.0;

/// What a plan asks of a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Loads {
    /// Work per time and server, by part; 1 or more means that there is no steady state. None where it cannot be told, and
    /// of parts that serve nobody.
    pub offered: Vec<Option<f64>>,
    /// The longest relaxation time of the stations, if a formula has that of each of them, and of the faults that come and go,
    /// in seconds.
    pub relaxation_s: Option<f64>,
    /// How long a single run must last after its warm-up for its intervals, in seconds ([`headway_stats::summary::Steady`]).
    pub trusted_s: Option<f64>,
    /// Whether the service times of a station are too skewed for an interval of the mean of a single run.
    pub skewed: bool,
    /// What is infinite about service times or waits, by part; none where nothing is known to be.
    pub infinite: Vec<Option<Infinite>>,
}

impl Loads {
    /// Of that plan's measured phase and that model.
    pub fn of(plan: &Plan, model: &Model) -> Loads {
        let faults =
            model.parts.iter().filter_map(|part| alternation(part.faults.as_ref()?)).reduce(f64::max);
        let reached = || (0..model.parts.len()).filter(|&part| is_reached(model, part));
        let skewed = reached().any(|part| match &model.parts[part].kind {
            Kind::Station(station) => skew_allowance(&station.service) > TOO_SKEWED,
            _ => false,
        });
        let Some(rate) = rate(plan) else {
            let open = plan.groups.iter().any(Group::arrives);
            let infinite = (0..model.parts.len()).map(|part| infinite(model, part, None, open)).collect();
            let trusted_s = faults.map(|faults| Length::TRUSTED * faults);
            let offered = vec![None; model.parts.len()];
            return Loads { offered, relaxation_s: faults, trusted_s, skewed, infinite };
        };
        let offered = headway_sim::load::offered(model, rate);
        // What a queue sees of arrivals over long times (Whitt 1982, the asymptotic method); of renewals CoV^2 of the gaps.
        let gap_cov = plan.process().map_or(1.0, |process| process.thinned_dispersion(1).sqrt());
        let time = |part: usize| {
            let time = relaxation(model, part, offered[part]?, gap_cov)?;
            let Kind::Station(station) = &model.parts[part].kind else { return None };
            Some((time, time * skew_allowance(&station.service)))
        };
        let times: Option<Vec<(f64, f64)>> = reached().map(time).collect();
        let infinite =
            (0..model.parts.len()).map(|part| infinite(model, part, offered[part], true)).collect();
        let both = |one: (f64, f64), other: (f64, f64)| (one.0.max(other.0), one.1.max(other.1));
        let stations = times.and_then(|times| times.into_iter().reduce(both));
        let slowest = stations.into_iter().chain(faults.map(|faults| (faults, faults))).reduce(both);
        Loads {
            relaxation_s: slowest.map(|times| times.0),
            trusted_s: slowest.map(|times| Length::TRUSTED * times.1),
            offered,
            skewed,
            infinite,
        }
    }

    /// How long all replications together must last after their warm-up for the interval of the mean, or of that percentile, over them, in seconds:
    /// none where that is not known, and of percentiles below p99. Over replications an interval does not hang on how long each is, but a mean
    /// whose long services are rare, and a percentile beyond which few crowds came, lie too low with an interval that is too narrow.
    pub fn needed_together(&self, p: Option<f64>) -> Option<f64> {
        let trusted_s = self.trusted_s?;
        match p {
            None if self.skewed => Some(SKEWED * TOGETHER * trusted_s),
            None => Some(TOGETHER * trusted_s),
            Some(p) if p >= 0.99 => {
                Some(TOGETHER * Length::TRUSTED * self.relaxation_s? * Length::longer_for(p))
            }
            Some(_) => None,
        }
    }

    /// The part that is asked for most.
    pub fn busiest(&self) -> Option<(usize, f64)> {
        let known = self.offered.iter().enumerate().filter_map(|(part, load)| Some((part, (*load)?)));
        known.reduce(|most, other| if other.1 > most.1 { other } else { most })
    }

    /// The part that leaves the mean response time without an interval, and why: an infinite mean before an infinite variance.
    pub fn no_mean(&self) -> Option<(usize, Infinite)> {
        let all = self.infinite.iter().enumerate().filter_map(|(part, what)| Some((part, (*what)?)));
        let all = all.filter(|(_, what)| what.leaves_no_interval());
        all.min_by_key(|(part, what)| (*what != Infinite::MeanWait, *part))
    }
}

/// How long faults that come and go take to forget that all was up at first, in seconds: exactly so where both times are exponential,
/// whose state forgets at the sum of both rates. None of what happens once.
fn alternation(faults: &Faults) -> Option<f64> {
    let When::Alternating { up, down, .. } = &faults.when else { return None };
    let relaxation = 1.0 / (1.0 / up.mean() + 1.0 / down.mean());
    relaxation.is_finite().then_some(relaxation)
}

/// Requests per second of the measured phase; none where some of them come at answers.
fn rate(plan: &Plan) -> Option<f64> {
    let length = (plan.end() - plan.measured_from).as_secs_f64();
    let mut rate = 0.0;
    for group in &plan.groups {
        let profile = group.profile()?;
        let end = plan.end().min(profile.end());
        let sessions = profile.cumulative(end) - profile.cumulative(plan.measured_from.min(end));
        rate += sessions * group.journey.mean_asks() / length;
    }
    (length > 0.0 && rate.is_finite()).then_some(rate)
}

/// Whether a part is a station that requests come to.
fn is_reached(model: &Model, part: usize) -> bool {
    matches!(model.parts[part].kind, Kind::Station(_)) && is_led_to(model, part)
}

/// Whether requests come to a part.
fn is_led_to(model: &Model, part: usize) -> bool {
    part == 0 || model.parts.iter().any(|other| other.leads_to().any(|to| to == part))
}

/// What is infinite about a part's service times, and, where only a higher moment of them is, about its waits. `load` is none
/// where it is not known beforehand, and `open` says that requests come whether others are answered or not.
fn infinite(model: &Model, part: usize, load: Option<f64>, open: bool) -> Option<Infinite> {
    if !is_led_to(model, part) {
        return None;
    }
    let own = &model.parts[part];
    let cancels = |how: &[Cancel]| {
        let of = |part: &Part| part.timeout.is_some_and(|timeout| how.contains(&timeout.cancel));
        of(own) || of(&model.parts[0])
    };
    // No service lasts longer than such a timeout.
    if cancels(&[Cancel::Always]) {
        return None;
    }
    let way = own.cable.as_ref().map_or(f64::INFINITY, |way| way.out.tail_index().min(way.back.tail_index()));
    if way <= 2.0 {
        return Some(Infinite::ServiceVariance);
    }
    let Kind::Station(station) = &own.kind else { return None };
    let steps = station.steps.iter().map(|(_, law)| law.tail_index());
    let index = steps.fold(station.service.tail_index(), f64::min);
    match load {
        Some(_) if index <= 1.0 => return Some(Infinite::MeanService),
        Some(load) if endless(model, part, load) => return Some(Infinite::MeanWait),
        _ if index <= 2.0 => return Some(Infinite::ServiceVariance),
        _ => {}
    }
    // Waits are bounded in a limited queue, for closed users, and for requests that are withdrawn.
    let bounded = !open || station.queue.is_some() || cancels(&[Cancel::Queued]);
    let waits = station.discipline != Discipline::Sharing && !bounded;
    (waits && index <= 1.0 + 2.0 / spare(model, part, load)).then_some(Infinite::WaitVariance)
}

/// Servers that long services must hold up before others wait as long: one more than would do the rest of the work (Scheller-Wolf and
/// Sigman 1997). At least 1; it is 1 too where nothing more is known.
fn spare(model: &Model, part: usize, load: Option<f64>) -> f64 {
    let (Kind::Station(station), Some(load)) = (&model.parts[part].kind, load) else { return 1.0 };
    let from: Vec<&Part> = model.parts.iter().filter(|other| other.leads_to().any(|to| to == part)).collect();
    if !station.speed.is_empty() || load >= 1.0 {
        return 1.0;
    }
    let of = |servers: f64| (servers - (servers * load + 1e-9).floor()).max(1.0);
    let (alone, all) =
        (f64::from(station.servers), f64::from(station.servers) * f64::from(model.parts[part].copies));
    match &from[..] {
        [Part { kind: Kind::Balancer(balancer), copies: 1, .. }] if balancer.to.len() == 1 => {
            match balancer.policy {
                Policy::LeastConnections { .. } | Policy::OneConnection => of(all),
                Policy::PowerOfD { choices } => of(all).min(f64::from(choices)).max(of(alone)),
                Policy::PeakEwma { .. } => of(all).min(2.0).max(of(alone)),
                _ => of(alone),
            }
        }
        _ => of(alone),
    }
}

/// Whether the wait in steady state has an infinite mean: before a single server that takes requests one after the other and turns
/// none away, whichever independent gaps they come with (Kiefer and Wolfowitz 1956). Of several servers, of shared speed, and of
/// balancers that look for a free copy more hangs on the tail than its variance: nothing is known of them.
fn endless(model: &Model, part: usize, load: f64) -> bool {
    let Kind::Station(station) = &model.parts[part].kind else { return false };
    let one_by_one = station.servers == 1 && station.speed.is_empty() && station.queue.is_none();
    let mut from = model.parts.iter().filter(|other| other.leads_to().any(|to| to == part));
    let blind = |from: &Part| match &from.kind {
        Kind::Balancer(balancer) => matches!(
            balancer.policy,
            Policy::Random | Policy::RoundRobin | Policy::ConsistentHash { bound: None }
        ),
        _ => true,
    };
    // Who is interrupted, or given up, waits otherwise.
    let waits = matches!(station.discipline, Discipline::Fifo | Discipline::Lifo)
        && model.parts.iter().all(|part| part.timeout.is_none());
    let is_stable_queue = one_by_one && waits && (0.0..1.0).contains(&load) && load > 0.0;
    is_stable_queue && station.service.variance().is_infinite() && from.all(blind)
}

/// How long a station takes to forget how it began, each copy being asked for that load; `gap_cov` is that of the plan's
/// arrivals.
/// None where no formula has it: with a limit on the queue, a speed that hangs on it, stalls, faults, a slow beginning, or a
/// policy that looks at some of the copies.
fn relaxation(model: &Model, part: usize, load: f64, gap_cov: f64) -> Option<f64> {
    let parts = &model.parts;
    let Kind::Station(station) = &parts[part].kind else { return None };
    let changes = station.stalls.is_some() || station.cold.is_some() || parts[part].faults.is_some();
    if station.queue.is_some() || !station.speed.is_empty() || changes {
        return None;
    }
    let (servers, mean_service) = (station.servers, station.service.mean());
    let queue = Mmc { rate: load * f64::from(servers) / mean_service, mean_service, servers };
    let cov = station.service.cov();
    let from: Vec<&Part> = parts.iter().filter(|other| other.leads_to().any(|to| to == part)).collect();
    // Where a single part leads to it: whether that is the one that the arrivals come to.
    let first = parts.first().is_some_and(|first| first.leads_to().any(|to| to == part));
    let time = match &from[..] {
        [] => relaxation_time(queue, gap_cov, cov),
        [Part { kind: Kind::Balancer(balancer), copies, .. }] => {
            let n = parts[part].copies;
            let alone = balancer.to.len() == 1 && (*copies == 1 || !parts[part].shared);
            match balancer.policy {
                Policy::Random | Policy::ConsistentHash { bound: None } => relaxation_time(queue, 1.0, cov),
                // The gap between two turns is the sum of n.
                Policy::RoundRobin if alone && first => {
                    relaxation_time(queue, gap_cov / f64::from(n).sqrt(), cov)
                }
                // Who is idle gets the next: the copies are as good as one queue before all of their servers.
                Policy::LeastConnections { .. } | Policy::OneConnection if alone => {
                    let pool = Mmc {
                        rate: queue.rate * f64::from(n),
                        servers: queue.servers.saturating_mul(n),
                        ..queue
                    };
                    relaxation_time(pool, 1.0, cov)
                }
                _ => return None,
            }
        }
        // Of what comes together, or by way of other parts, no more is known: it is taken for Poisson.
        several if several.iter().all(|from| matches!(from.kind, Kind::Pass(_))) => {
            relaxation_time(queue, 1.0, cov)
        }
        _ => return None,
    };
    time.is_finite().then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist;
    use headway_base::{Nanos, Phase, Profile, Rate};
    use headway_workload::Process;
    use headway_workload::journey::{Journey, Node, no_think};
    use headway_workload::model::{Balancer, Branch, Retry, Station, Ties, Timeout, UnderWay, WhileDown};
    use headway_workload::plan::Group;
    use headway_workload::users::Level;

    fn station(servers: u32, service: &str) -> Station {
        Station::new(servers, dist::parse(service, &|_| Err(String::new())).unwrap())
    }

    fn plan(rate: f64) -> Plan {
        let phases =
            [Phase::hold(Nanos::from_secs(10), Rate(1.0)), Phase::hold(Nanos::from_secs(90), Rate(rate))];
        let group = Group::open(Process::Poisson, Profile::new(&phases));
        Plan::of(1, group, Nanos::from_secs(10), Nanos::from_secs(100))
    }

    #[test]
    fn a_station_is_asked_for_the_rate_of_the_measured_phase() {
        let loads = Loads::of(&plan(80.0), &Model::station(station(1, "exp(10ms)")));
        assert!((loads.offered[0].unwrap() - 0.8).abs() < 1e-9);
        // 1 / (sqrt(100) - sqrt(80))^2.
        assert!((loads.relaxation_s.unwrap() - 1.0 / (10.0 - 80f64.sqrt()).powi(2)).abs() < 1e-9);
        assert_eq!(loads.busiest().map(|(part, _)| part), Some(0));
        let over = Loads::of(&plan(120.0), &Model::station(station(1, "exp(10ms)")));
        assert!((over.offered[0].unwrap() - 1.2).abs() < 1e-9 && over.relaxation_s.is_none());
        let fast = Station { speed: vec![1.0, 1.5], ..station(2, "exp(10ms)") };
        assert!((Loads::of(&plan(75.0), &Model::station(fast)).offered[0].unwrap() - 0.5).abs() < 1e-9);
        let mut sessions = plan(40.0);
        let twice = [Node::Ask { step: 0, repeat: 2, think: None }];
        sessions.groups[0].journey = Journey::new(&twice, no_think()).unwrap().into();
        let loads = Loads::of(&sessions, &Model::station(station(1, "exp(10ms)")));
        assert!((loads.offered[0].unwrap() - 0.8).abs() < 1e-9, "two requests in each session");
    }

    #[test]
    fn balancers_spread_evenly_or_by_weights_and_pools_may_be_shared() {
        let of = |model: &Model| Loads::of(&plan(1_000.0), model).offered;
        let pool = of(&Model::balanced(Policy::Random, 250, station(1, "exp(200ms)")));
        assert!(pool[0].is_none() && (pool[1].unwrap() - 0.8).abs() < 1e-9);
        let tree = |shared: bool, copies: u32| {
            let named =
                |name: &'static str, copies, shared, kind| Part { copies, shared, ..Part::new(name, kind) };
            Model::of(vec![
                named("front", 1, false, Kind::Balancer(Balancer::new(Policy::Random, &[1]))),
                named("routers", 10, true, Kind::Balancer(Balancer::new(Policy::RoundRobin, &[2]))),
                named("dynos", copies, shared, Kind::Station(station(1, "exp(200ms)"))),
            ])
        };
        assert!((of(&tree(true, 250))[2].unwrap() - 0.8).abs() < 1e-9, "ten over one pool of 250");
        assert!((of(&tree(false, 25))[2].unwrap() - 0.8).abs() < 1e-9, "ten over ten pools of 25");
        let to = vec![Branch { part: 1, weight: 3.0 }, Branch { part: 2, weight: 1.0 }];
        let weighted = Model::of(vec![
            Part::new("front", Kind::Balancer(Balancer { to, ..Balancer::new(Policy::Random, &[1]) })),
            Part::new("big", Kind::Station(station(3, "exp(1ms)"))),
            Part::new("small", Kind::Station(station(1, "exp(1ms)"))),
        ]);
        let loads = of(&weighted);
        assert!(loads[1..].iter().all(|load| (load.unwrap() - 0.25).abs() < 1e-9), "{loads:?}");
    }

    /// 250 servers of 200 ms at 80 %: chosen at random each is an M/M/1, in turns its gaps have a CoV of 1/sqrt(250), with the
    /// fewest connections they are one M/M/250; two choices are none of these.
    #[test]
    fn how_long_stations_remember_hangs_on_the_policy() {
        let of = |policy| {
            Loads::of(&plan(1_000.0), &Model::balanced(policy, 250, station(1, "exp(200ms)"))).relaxation_s
        };
        let near = |time: Option<f64>, expected: f64| {
            assert!((time.unwrap() / expected - 1.0).abs() < 1e-9, "{time:?}")
        };
        let one = 1.0 / (5f64.sqrt() - 2.0).powi(2);
        near(of(Policy::Random), one);
        near(of(Policy::RoundRobin), one * (1.0 + 1.0 / 250.0) / 2.0);
        let pool = 1.0 / (1250f64.sqrt() - 1000f64.sqrt()).powi(2);
        near(of(Policy::LeastConnections { ties: Ties::Random }), pool.max(0.2));
        near(of(Policy::OneConnection), pool.max(0.2));
        assert_eq!(of(Policy::PowerOfD { choices: 2 }), None);
        let limited = Model::station(Station { queue: Some(3), ..station(1, "exp(10ms)") });
        assert_eq!(Loads::of(&plan(50.0), &limited).relaxation_s, None);
    }

    /// A run is long against the slowest station, and that has no relaxation time if it is asked for too much or stands still.
    #[test]
    fn no_station_is_the_slowest_unless_each_has_a_relaxation_time() {
        let of = |slow: Station, rate| {
            let balancer = Balancer::new(Policy::Random, &[1, 2]);
            let fast = Part::new("fast", Kind::Station(station(1, "exp(10ms)")));
            let parts = vec![Part::new("front", Kind::Balancer(balancer)), fast];
            let slow = Part::new("slow", Kind::Station(slow));
            Loads::of(&plan(rate), &Model::of(parts.into_iter().chain([slow]).collect())).relaxation_s
        };
        let slow = || station(1, "exp(40ms)");
        let root = 25f64.sqrt() - 20f64.sqrt();
        assert!((of(slow(), 40.0).unwrap() * root * root - 1.0).abs() < 1e-9);
        assert_eq!(of(slow(), 70.0), None, "a load of 1.4");
        let second = Nanos::from_secs(1);
        let stalls = headway_base::station::Stalls::new(Nanos::from_secs(10), second).ok();
        assert_eq!(of(Station { stalls, ..slow() }, 40.0), None);
    }

    /// Up for 600 s and down for 60 s on average: 1 / (1/600 + 1/60), whatever else is known.
    #[test]
    fn faults_that_come_and_go_are_remembered_too() {
        let alternating = |up: &str| {
            let law = |text: &str| dist::parse(text, &|_| Err(String::new())).unwrap();
            When::Alternating { up: law(up), down: law("exp(60s)"), lazy: false }
        };
        let faults = |when| Faults {
            when,
            together: false,
            while_down: WhileDown::Error,
            under_way: UnderWay::Finish,
        };
        let of = |when: When| {
            let mut model = Model::station(station(1, "exp(10ms)"));
            model.parts[0].faults = Some(faults(when));
            Loads::of(&plan(50.0), &model).relaxation_s
        };
        assert!((of(alternating("exp(600s)")).unwrap() - 6_000.0 / 110.0).abs() < 1e-9);
        assert_eq!(of(When::Once { at: Nanos::from_secs(20), length: Nanos::from_secs(5) }), None);
    }

    #[test]
    fn what_is_infinite_is_told_of_single_servers_that_take_one_after_the_other() {
        let of = |model: &Model| Loads::of(&plan(5.0), model).infinite;
        let heavy = || station(1, "pareto(10ms,1.5)");
        assert_eq!(of(&Model::station(heavy())), [Some(Infinite::MeanWait)]);
        assert_eq!(of(&Model::station(station(1, "pareto(10ms,0.9)"))), [Some(Infinite::MeanService)]);
        let sharing = |law: &str| Station { discipline: Discipline::Sharing, ..station(1, law) };
        let of_sharing = of(&Model::station(sharing("pareto(10ms,1.5)")));
        assert_eq!(of_sharing, [Some(Infinite::ServiceVariance)], "its mean hangs on the mean alone");
        let limited = |law: &str| Station { queue: Some(10), ..station(1, law) };
        assert_eq!(of(&Model::station(limited("pareto(10ms,1.5)"))), [Some(Infinite::ServiceVariance)]);
        // A mean wait that is finite, and yet no variance of it: up to an index of 3 before one server.
        let wait = [Some(Infinite::WaitVariance)];
        assert_eq!(of(&Model::station(station(1, "pareto(10ms,2.5)"))), wait);
        assert_eq!(of(&Model::station(station(1, "shifted(1ms,pareto(10ms,3))"))), wait);
        let lifo = Station { discipline: Discipline::Lifo, ..station(1, "pareto(10ms,2.5)") };
        assert_eq!(of(&Model::station(lifo)), wait);
        for law in ["pareto(10ms,3.1)", "lognormal(10ms,9)", "hyperexp(10ms,4)"] {
            assert_eq!(of(&Model::station(station(1, law))), [None], "{law}");
        }
        assert_eq!(of(&Model::station(sharing("pareto(10ms,2.5)"))), [None]);
        assert_eq!(of(&Model::station(limited("pareto(10ms,2.5)"))), [None]);
        assert_eq!(of(&Model::balanced(Policy::RoundRobin, 3, heavy()))[1], Some(Infinite::MeanWait));
        let pool = |policy, law| of(&Model::balanced(policy, 3, station(1, law)))[1];
        assert_eq!(pool(Policy::OneConnection, "pareto(10ms,1.5)"), Some(Infinite::ServiceVariance));
        // Three servers, one of them enough: three long services at once make others wait as long.
        assert_eq!(pool(Policy::OneConnection, "pareto(10ms,2.5)"), None);
        assert_eq!(pool(Policy::RoundRobin, "pareto(10ms,2.5)"), wait[0]);
        assert_eq!(pool(Policy::JoinIdleQueue, "pareto(10ms,2.5)"), wait[0]);
        assert_eq!(
            of(&Model::station(station(2, "pareto(180ms,2.5)"))),
            wait,
            "a load of 0.75: none to spare"
        );
        assert_eq!(of(&Model::station(station(2, "pareto(20ms,2.5)"))), [None]);
        let mut again = Model::station(station(1, "pareto(10ms,2.5)"));
        again.parts[0].retry = Some(Retry { attempts: 3, backoff: None, budget: None });
        assert_eq!(of(&again), wait, "behind retries too");
        again.parts[0].timeout = Some(Timeout { after: Nanos::from_secs(1), cancel: Cancel::Never });
        assert_eq!(of(&again), wait, "what is given up is served all the same");
        again.parts[0].timeout = Some(Timeout { after: Nanos::from_secs(1), cancel: Cancel::Queued });
        assert_eq!(of(&again), [None]);
        let mut long = Model::station(heavy());
        long.parts[0].timeout = again.parts[0].timeout;
        assert_eq!(of(&long), [Some(Infinite::ServiceVariance)], "service that has begun is not stopped");
        long.parts[0].timeout = Some(Timeout { after: Nanos::from_secs(1), cancel: Cancel::Always });
        assert_eq!(of(&long), [None]);
        let group = Group::closed(Level::hold(5, Nanos::from_secs(60)), Journey::single());
        let closed = Plan::of(1, group, Nanos::ZERO, Nanos::from_secs(60));
        let of_users = |law: &str| Loads::of(&closed, &Model::station(station(1, law))).infinite;
        assert_eq!(of_users("pareto(10ms,2.5)"), [None], "no more wait than there are users");
        assert_eq!(of_users("pareto(10ms,1.5)"), [Some(Infinite::ServiceVariance)]);
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let group = Group::closed(Level::hold(5, Nanos::from_secs(60)), Journey::single());
        let closed = Plan::of(1, group, Nanos::ZERO, Nanos::from_secs(60));
        let one = Model::station(station(1, "exp(10ms)"));
        let nothing = Loads { offered: vec![None], infinite: vec![None], ..Loads::default() };
        assert_eq!(Loads::of(&closed, &one), nothing);
        let mut again = one.clone();
        again.parts[0].retry = Some(Retry { attempts: 3, backoff: None, budget: None });
        assert_eq!(Loads::of(&plan(50.0), &again).offered, [None]);
        let mut steps = one;
        let Kind::Station(own) = &mut steps.parts[0].kind else { unreachable!() };
        own.steps = vec![(0, station(1, "exp(20ms)").service)];
        assert_eq!(Loads::of(&plan(50.0), &steps).busiest(), None);
    }
}
