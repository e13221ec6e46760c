//! `headway doctor`: what a run asks of this machine, and what is measured of it. What it means is judged in `stats::doctor`.
//!
//! Two measurements, neither of which goes beyond loopback: how late a thread is that waits as a worker of the run would, and what a
//! request costs against an embedded target.

use crate::live::{default_threads, waited};
use crate::{Backend, Error, Live, RunSpec};
use anyhow::{Context as _, anyhow};
use headway_base::dist::{self, Law as _};
use headway_base::{Answer, Lateness as Forgiven, Nanos, Rate};
use headway_live::serve::{SerialServer, SerialSettings, Server, Settings as Served};
use headway_live::wait::{Held, Settings};
use headway_live::{Address, Control, host};
use headway_stats::Summary;
use headway_stats::doctor::{Bound, Carrier, Cost, Demand, Diagnosis, Lateness, Measured, bounds, first};
use headway_stats::summary::LoadVerdict;
use headway_workload::content::Script;
use headway_workload::journey::Journey;
use headway_workload::plan::{Connections, Group, Plan, Source};
use headway_workload::target::Endpoint;
use headway_workload::users::Level;
use headway_workload::{Process, Request, Target};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Instant;

/// How long the lateness of wake-ups is measured.
pub const MEASURED: Nanos = Nanos::from_secs(2);
/// The Poisson rate of the instants for which it waits: some 1,000 of them.
const RATE: Rate = Rate(500.0);
/// How long requests are counted to know what one costs, how often, since others may have the cores meanwhile, and by how many users.
const COUNTED: Nanos = Nanos::from_millis(200);
const PIECES: u64 = 6;
const USERS: u32 = 16;
/// Sockets that are kept connecting to know what an attempt costs, and after how long each is given up.
const SOCKETS: u32 = 400;
const GIVEN_UP: Nanos = Nanos::from_millis(2);

/// Examines this machine, for that run if there is one. `response`: the response time that is expected.
///
/// # Errors
/// Real-time priority is asked for and cannot be had, or the system refuses what a worker or a target needs.
pub fn examine(
    run: Option<(&RunSpec, &Live)>,
    wait: &Settings,
    response: Option<Nanos>,
    seed: u64,
    cancel: &Control,
) -> Result<Diagnosis, Error> {
    let machine = host::machine();
    // How late instants may be depends on how long the target takes.
    let scale = response.map_or(wait.lateness, |response| Forgiven::of(response).length());
    let wait = Settings { lateness: scale, ..wait.clone() };
    let pieces: anyhow::Result<Vec<_>> = (0..PIECES).map(|piece| cost(seed + piece, cancel)).collect();
    let pieces: Vec<Cost> = pieces.map_err(Error::failed)?.into_iter().flatten().collect();
    let request = Cost::least_disturbed(&pieces);
    let connects = run.is_some_and(|(spec, _)| spec.plan.is_connecting());
    let pieces: anyhow::Result<Vec<_>> =
        (0..PIECES).filter(|_| connects).map(|piece| cost_of_attempt(seed + piece, cancel)).collect();
    let attempts: Vec<Cost> = pieces.map_err(Error::failed)?.into_iter().flatten().collect();
    let attempt = Cost::least_disturbed(&attempts);
    let (lateness, wait, steal) = lateness(&wait, seed, cancel)?;
    let demand = run.map(|(spec, live)| {
        let local =
            live.origins().filter_map(|origin| live.addresses(origin).ok()).flatten().any(|at| at.is_local());
        let judges_lateness = spec.shown.time_scale_s.is_some();
        Demand { judges_lateness, ..demand(spec, live, local, response.map(Nanos::as_secs_f64)) }
    });
    Ok(Diagnosis::new(machine, Measured { lateness, wait, steal, request, attempt }, demand))
}

/// What a run asks of this machine. `response_s`: the mean response time, where that is known.
pub fn demand(spec: &RunSpec, live: &Live, local: bool, response_s: Option<f64>) -> Demand {
    let plan = &spec.plan;
    let cap = plan.shard.split(spec.limits.connections);
    let (mut rate, mut opened) = (Some(0.0), Some(0.0));
    let share = 1.0 / f64::from(plan.shard.count());
    let mut demand = Demand {
        streams: live.at_once(plan).into(),
        response_s,
        cap: cap.into(),
        workers: headway_live::run::workers(live.threads.unwrap_or_else(|| default_threads(local)), cap),
        carrier: carrier(live),
        local,
        tls: live.target.tls(),
        sharded: plan.shard.count() > 1,
        sources: live.sources.len().max(1) as u64,
        ..Demand::default()
    };
    for group in &plan.groups {
        let asks = group.journey.mean_asks();
        let own = group.connections == Connections::PerUser;
        // Its requests per second, and in all, where the plan says so.
        let (group_rate, requests) = match &group.source {
            Source::Arrivals { profile, .. } => {
                let most = profile.phases().map(|phase| phase.from.0.max(phase.to.0)).fold(0.0, f64::max);
                let sessions = most * share;
                // A session that has a connection of its own keeps it while it thinks.
                demand.held += if own {
                    sessions * group.journey.mean_think_s() * group.journey.reached() as f64
                } else {
                    0.0
                };
                demand.flow += sessions * asks;
                (Some(sessions * asks), Some(profile.total() * asks * share))
            }
            Source::Trace(trace) => {
                let sessions = trace.most_in(Nanos::from_secs(1)) as f64 * share;
                demand.held += if own {
                    sessions * group.journey.mean_think_s() * group.journey.reached() as f64
                } else {
                    0.0
                };
                demand.flow += sessions * asks;
                (Some(sessions * asks), Some(trace.arrivals as f64 * asks * share))
            }
            Source::AtOnce { sessions } => {
                let sessions = plan.shard.split_u64(*sessions);
                demand.held += sessions.min(cap.into()) as f64;
                (None, Some(sessions as f64 * asks))
            }
            Source::Users { level, requests } => {
                let users = f64::from(plan.shard.split(level.most()));
                let rate = of_users(group, users, response_s);
                match rate.filter(|_| !own) {
                    // They share connections, and use one while they wait for a response.
                    Some(rate) => demand.flow += rate,
                    None => demand.held += users * if own { group.journey.reached() as f64 } else { 1.0 },
                }
                (rate, requests.map(|n| plan.shard.split_work(n, level.most()) as f64))
            }
            Source::Connecting { level } => {
                let sockets = f64::from(plan.shard.split(level.most()));
                demand.held += sockets;
                demand.attempts += sockets / spec.limits.connect_timeout.as_secs_f64().max(1e-9);
                // Requests follow at the rate at which the target accepts, which is not known; attempts that are given up leave no port in
                // TIME_WAIT.
                (None, None)
            }
        };
        if group.connections == Connections::PerRequest {
            demand.connects =
                group_rate.map(|rate| demand.connects.unwrap_or(0.0) + rate).or(demand.connects);
            opened = opened.zip(requests).map(|(opened, more)| opened + more);
            demand.connects_planned = opened;
        }
        rate = rate.zip(group_rate).map(|(rate, more)| rate + more);
    }
    Demand { rate: rate.filter(|rate| rate.is_finite()), ..demand }
}

/// The most requests per second that users make: a round takes its think times, or its pace, and the responses where they are known.
/// None where nothing but the responses holds them back.
fn of_users(group: &Group, users: f64, response_s: Option<f64>) -> Option<f64> {
    let asks = group.journey.mean_asks();
    let round = group.journey.mean_think_s() + asks * response_s.unwrap_or(0.0);
    let round = group.pace.as_ref().map_or(round, |pace| pace.mean().max(round));
    (round > 0.0).then(|| users * asks / round)
}

fn carrier(live: &Live) -> Carrier {
    match &live.target.endpoint {
        Endpoint::Unix(_) => Carrier::Unix,
        _ if !live.target.scheme.is_datagrams() => Carrier::Tcp,
        _ if live.answer == Some(Answer::None) => Carrier::OneWay,
        _ => Carrier::Datagrams,
    }
}

/// How late instants are met, how that was waited for, and the share of the time that the hypervisor took.
fn lateness(
    wait: &Settings,
    seed: u64,
    cancel: &Control,
) -> Result<(Lateness, headway_stats::summary::Wait, Option<f64>), Error> {
    let held = Held::begin(wait)
        .map_err(|refused| Error::Usage(anyhow::Error::from(refused).context("--realtime")))?;
    let plan = Plan::ramp_and_hold(seed, Process::Poisson, RATE, Nanos::ZERO, Nanos::ZERO, MEASURED);
    let instants = plan.arrivals().map(|arrival| arrival.intended);
    let measured = host::lateness(&held, instants, || cancel.asked() > 0).map_err(Error::failed)?;
    let late = measured.late.iter().map(|late| late.as_secs_f64()).collect();
    let over_s = measured.length.as_secs_f64();
    let cores = f64::from(host::cores());
    Ok((
        Lateness::of(late, over_s, wait.lateness.as_secs_f64()),
        waited(&measured.waited, &[measured.wakeups]),
        measured.stolen.map(|stolen| stolen.as_secs_f64() / (over_s * cores)),
    ))
}

/// What a request of HTTP/1.1 costs over loopback, by one piece of measurement; none where none was answered.
fn cost(seed: u64, cancel: &Control) -> anyhow::Result<Option<Cost>> {
    let service = dist::parse("const(0s)", &|_| Ok(Vec::new()))?;
    let stop = Control::default();
    let loopback = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::bind(&loopback, Served::new(service, USERS, seed), None, stop.clone())?;
    let plan =
        Plan::of(seed, Group::closed(Level::hold(USERS, COUNTED), Journey::single()), Nanos::ZERO, COUNTED);
    let spec = RunSpec::new("doctor", plan, USERS);
    let address = server.address().clone();
    spent(&spec, &address, &stop, cancel, move || server.run().map(drop))
}

/// What an attempt to connect costs over loopback that is given up, at more than a thread can make; by one piece of measurement.
fn cost_of_attempt(seed: u64, cancel: &Control) -> anyhow::Result<Option<Cost>> {
    let stop = Control::default();
    let loopback = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    // It takes one connection, and has not served it when the piece ends.
    let settings = SerialSettings { capacity: Rate(0.01), backlog: 1, body_bytes: 0 };
    let server = SerialServer::bind(&loopback, settings, None, stop.clone())?;
    let group = Group::connecting(Level::hold(SOCKETS, COUNTED));
    let mut spec = RunSpec::new(
        "doctor",
        Plan::of(seed, group, Nanos::ZERO, COUNTED),
        SOCKETS + 2 * settings.backlog + 2,
    );
    spec.limits.connect_timeout = GIVEN_UP;
    (spec.limits.timeout, spec.limits.drain) = (GIVEN_UP, GIVEN_UP);
    let address = server.address().clone();
    spent(&spec, &address, &stop, cancel, move || server.run().map(drop))
}

/// What each record of a run costs the worker and the process, less what the target's own thread takes.
fn spent(
    spec: &RunSpec,
    address: &Address,
    stop: &Control,
    cancel: &Control,
    serve: impl FnOnce() -> std::io::Result<()> + Send,
) -> anyhow::Result<Option<Cost>> {
    let target = Target::parse(&format!("http://{address}/"))?;
    let live = Live {
        threads: Some(1),
        wait: Settings::sleeping(),
        ..Live::new(target.clone(), Script::single(&Request::get(&target.path)))
    };
    let machine_time = || (host::processor_time(), host::used(), host::stolen());
    let (begun, before) = (Instant::now(), machine_time());
    let (played, served) = thread::scope(|scope| {
        let serving = scope.spawn(|| {
            let before = host::scheduled();
            let served = serve();
            served.map(|()| before.zip(host::scheduled()).map(|(before, after)| after.ran - before.ran))
        });
        let played = Backend::Live(Box::new(live)).play(spec, cancel, &mut []);
        stop.stop();
        (played, serving.join())
    });
    let server_time = served.map_err(|_| anyhow!("the embedded target panicked"))??;
    let after = machine_time();
    let spent = |from: Option<Nanos>, to: Option<Nanos>| from.zip(to).map(|(from, to)| to - from);
    let all = spent(before.0, after.0);
    let share = |time: Nanos| time.as_secs_f64() / (begun.elapsed().as_secs_f64() * f64::from(host::cores()));
    let others = spent(before.1, after.1).zip(all).map(|(used, own)| share(used - own));
    let stolen = spent(before.2, after.2).map_or(0.0, share);
    let summary = played.context("measuring what requests cost")?.summary;
    let n: u64 = summary.outcomes.values().sum();
    let workers = summary.generator.map(|generator| generator.workers).unwrap_or_default();
    let worker: Option<f64> = workers.iter().map(|worker| worker.processor).sum();
    let all = all.zip(server_time).map(|(all, server)| (all - server).as_secs_f64());
    let waited: Option<f64> = workers.iter().map(|worker| worker.runqueue_wait).sum();
    Ok(worker.filter(|&worker| n > 0 && worker > 0.0).map(|worker| Cost {
        worker_s: worker / n as f64,
        process_s: all.unwrap_or(0.0).max(worker) / n as f64,
        n,
        // The worker may have waited for this process's own threads, and others have had other cores: the less of both.
        disturbed: waited
            .zip(others)
            .map_or(0.0, |(waited, others)| others.min(waited / (worker + waited)))
            .max(stolen),
    }))
}

/// Of what this machine allows, that which ended a run, or would end one of its kind first; none of a load that was sent as
/// specified.
pub(crate) fn first_bound(spec: &RunSpec, live: &Live, local: bool, summary: &Summary) -> Option<Bound> {
    let generator = summary.generator.as_ref()?;
    if matches!(summary.verdict.load, None | Some(LoadVerdict::Valid)) {
        return None;
    }
    let n: u64 = summary.outcomes.values().sum();
    let worker: Option<f64> = generator.workers.iter().map(|worker| worker.processor).sum();
    let each = worker.filter(|&worker| n > 0 && worker > 0.0).map(|worker| worker / n as f64);
    let request = each.map(|each| Cost { worker_s: each, process_s: each, n, disturbed: 0.0 });
    let demand = demand(spec, live, local, summary.service.mean);
    let attempt = request.filter(|_| demand.attempts > 0.0);
    let measured = Measured { request, attempt, ..Measured::default() };
    let bounds = bounds(&host::machine(), Some(&demand), Some(&measured));
    // What is known to have run out stands before what is reckoned.
    let lacked =
        |bound: &&Bound| bound.resource.lacked().is_some_and(|what| generator.lacked.contains_key(what));
    bounds.iter().find(lacked).or_else(|| first(&bounds)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Profile;
    use headway_workload::Shard;

    fn asked(group: Group, shard: Shard, response_s: Option<f64>) -> Demand {
        let plan = Plan { shard, ..Plan::of(1, group, Nanos::ZERO, Nanos::from_secs(10)) };
        let target = Target::parse("http://127.0.0.1:9/").unwrap();
        let live = Live::new(target.clone(), Script::single(&Request::get("/")));
        demand(&RunSpec::new("test", plan, 1_000), &live, true, response_s)
    }

    #[test]
    fn an_open_plan_asks_for_its_highest_rate() {
        let second = Nanos::from_secs(1);
        let phases = [
            headway_base::Phase::ramp(second, Rate(0.0), Rate(300.0)),
            headway_base::Phase::hold(second, Rate(200.0)),
        ];
        let group = || Group::open(Process::Poisson, Profile::new(&phases));
        let whole = asked(group(), Shard::WHOLE, None);
        assert_eq!((whole.rate, whole.flow, whole.held, whole.cap), (Some(300.0), 300.0, 0.0, 1_000));
        assert_eq!((whole.streams, whole.workers, whole.sharded), (1, 1, false));
        assert_eq!(whole.connections(), None);
        let part = asked(group(), Shard::new(1, 4).unwrap(), Some(1.0));
        assert_eq!((part.rate, part.cap, part.sharded), (Some(75.0), 250, true));
        assert!((part.connections().unwrap() - (75.0 + 3.0 * 75f64.sqrt())).abs() < 1e-9);
    }

    #[test]
    fn users_hold_their_connections_and_their_think_times_bound_the_rate() {
        let journey = |think: &str| {
            let think = dist::parse(think, &|_| Ok(Vec::new())).unwrap();
            let node = headway_workload::journey::Node::Ask { step: 0, repeat: 1, think: None };
            Journey::new(&[node], think).unwrap()
        };
        let users = |think| Group::closed(Level::hold(100, Nanos::from_secs(10)), journey(think));
        let thinking = asked(users("exp(50s)"), Shard::WHOLE, None);
        assert_eq!((thinking.rate, thinking.held, thinking.flow), (Some(2.0), 100.0, 0.0));
        let eager = asked(users("const(0s)"), Shard::WHOLE, None);
        assert_eq!((eager.rate, eager.held), (None, 100.0), "as fast as answers come");
        assert_eq!(asked(users("const(0s)"), Shard::WHOLE, Some(0.5)).rate, Some(200.0));
        let shared = Group { connections: Connections::Shared, ..users("exp(50s)") };
        let shared = asked(shared, Shard::WHOLE, Some(1.0));
        assert_eq!((shared.held, shared.flow), (0.0, 100.0 / 51.0));
        let work = Group { source: Source::AtOnce { sessions: 5_000 }, ..users("const(0s)") };
        assert_eq!(asked(work, Shard::WHOLE, None).held, 1_000.0, "the cap is how fixed work is spread");
    }

    #[test]
    fn a_plan_of_new_connections_says_how_many_it_opens() {
        let (zero, second) = (Nanos::ZERO, Nanos::from_secs(1));
        let phases = [
            headway_base::Phase::ramp(second, Rate(0.0), Rate(300.0)),
            headway_base::Phase::hold(second, Rate(200.0)),
        ];
        let each = |group: Group| Group { connections: Connections::PerRequest, ..group };
        let open = || each(Group::open(Process::Poisson, Profile::new(&phases)));
        let opened = |demand: Demand| (demand.connects, demand.connects_planned, demand.held);
        assert_eq!(opened(asked(open(), Shard::WHOLE, None)), (Some(300.0), Some(350.0), 0.0));
        assert_eq!(opened(asked(open(), Shard::new(1, 4).unwrap(), None)), (Some(75.0), Some(87.5), 0.0));
        let sockets = asked(Group::connecting(Level::hold(48, second)), Shard::WHOLE, None);
        assert_eq!(opened(sockets), (None, None, 48.0));
        let level = || Level::hold(7, second).into();
        let work = |requests| Source::Users { level: level(), requests };
        let users = |requests| each(Group::of(work(requests), Journey::single(), Connections::PerRequest));
        assert_eq!(opened(asked(users(Some(101)), Shard::WHOLE, None)), (None, Some(101.0), 7.0));
        assert_eq!(opened(asked(users(None), Shard::WHOLE, Some(0.5))), (Some(14.0), None, 0.0));
        // Several groups open what each of them opens.
        let groups = vec![open(), open()];
        let plan = Plan { groups, ..Plan::of(1, open(), zero, Nanos::from_secs(2)) };
        let target = Target::parse("http://127.0.0.1:9/").unwrap();
        let live = Live::new(target.clone(), Script::single(&Request::get("/")));
        let several = demand(&RunSpec::new("test", plan, 1_000), &live, true, None);
        assert_eq!(opened(several), (Some(600.0), Some(700.0), 0.0));
    }
}
