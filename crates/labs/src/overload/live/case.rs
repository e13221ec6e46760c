//! One case live: a server that accepts late and its clients, in a network namespace of their own where this process may make
//! one. What was sent and established is what the kernel counts there.

use super::super::accept_queue::{Resend, Timers};
use super::super::plays;
use crate::bounds::ENDLESS;
use anyhow::anyhow;
use headway_base::{Batch, Nanos, Outcome, Rate};
use headway_engine::{Backend, Control, Live, Observer, RunSpec, Start, wait};
use headway_live::clock::unix_now;
use headway_live::namespace::{enter_private_network, setting};
use headway_live::serve::{SerialServer, SerialSettings};
use headway_live::{Address, TcpCounters};
use headway_workload::content::Script;
use headway_workload::journey::Journey;
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::users::Level;
use headway_workload::{Limits, Plan, Process, Request, Target};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long before the plan's zero the client is started.
const AHEAD: Nanos = Nanos::from_secs(1);
/// How long it goes on after the window.
const TAIL: Nanos = Nanos::from_millis(200);
/// More than the kernel's own patience, by far.
const PATIENT: Nanos = Nanos::from_secs(600);

/// The clients.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Clients {
    /// This number of users, which leave it to the kernel when to give up.
    Simple(u32),
    /// This number of sockets that connect, each given up after that time.
    Held(u32, Nanos),
    /// Poisson arrivals at a mean rate, so many times that for a share of each period.
    Bursts { mean: f64, pair: (f64, f64), period: Nanos },
}

/// A case.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Case {
    pub clients: Clients,
    /// Connections per second that the server serves.
    pub capacity: f64,
    /// What is observed, since the plan's zero.
    pub window: (Nanos, Nanos),
    pub seed: u64,
}

/// What was seen of one in its window.
#[derive(Clone, Debug, PartialEq)]
pub struct Lived {
    pub case: Case,
    /// By the kernel, over `seconds`.
    pub counted: TcpCounters,
    pub seconds: f64,
    /// Requests answered per second, as the client saw it.
    pub served: f64,
    /// Share of the load's time in which the client's worker handled something: it neither slept nor polled.
    pub handling: f64,
    /// From answers in the window to the next connect that the client began.
    pub turnarounds: Arc<[Nanos]>,
    /// How the kernel's timers fire; none: the system does not say how long a tick is.
    pub timers: Option<Timers>,
    /// Requests that were not sent for want of something on this machine.
    pub lacked: BTreeMap<String, u64>,
    /// How the kernel sends SYNs again.
    pub resend: Resend,
    /// How long an accept queue it grants.
    pub backlog: u32,
}

impl Lived {
    fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seconds
    }

    pub fn syns(&self) -> f64 {
        self.per_second(self.counted.syns())
    }

    pub fn resent(&self) -> f64 {
        self.per_second(self.counted.syn_retransmissions)
    }

    pub fn established(&self) -> f64 {
        self.per_second(self.counted.passive_opens)
    }

    /// What S-Clients should send: D/T and what is established.
    pub fn law(&self) -> Option<f64> {
        match self.case.clients {
            Clients::Held(sockets, timeout) => {
                Some(f64::from(sockets) / timeout.as_secs_f64() + self.established())
            }
            _ => None,
        }
    }
}

/// Whether this process may make network namespaces.
pub fn may_be_private() -> bool {
    thread::spawn(enter_private_network).join().is_ok_and(|entered| entered.is_ok())
}

/// Plays them all: at the same time, each in a namespace of its own, if that is possible; else one after the other.
///
/// # Errors
/// The system refuses what a server or a client needs.
pub fn all(cases: &[Case], private: bool) -> anyhow::Result<Vec<Lived>> {
    let panicked = |_| anyhow!("a case panicked");
    if !private {
        return cases
            .iter()
            .map(|case| thread::scope(|scope| scope.spawn(|| play(case)).join().map_err(panicked)?))
            .collect();
    }
    thread::scope(|scope| {
        let started: Vec<_> = cases
            .iter()
            .map(|case| {
                scope.spawn(move || {
                    enter_private_network()?;
                    play(case)
                })
            })
            .collect();
        started.into_iter().map(|one| one.join().map_err(panicked)?).collect()
    })
}

/// Plays one in the calling thread's namespace.
fn play(case: &Case) -> anyhow::Result<Lived> {
    let stop_server = Control::default();
    let settings =
        SerialSettings { capacity: Rate(case.capacity), backlog: plays::BACKLOG, body_bytes: 1_294 };
    let loopback = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let notes = Arc::new(Mutex::new(Vec::new()));
    let server = SerialServer::bind(&loopback, settings, None, stop_server.clone())?.noting(notes.clone());
    let target = Target::parse(&format!("http://{}/", server.address()))?;
    let zero = unix_now() + i128::from(AHEAD.0);
    let live = Live {
        threads: Some(1),
        wait: wait::Settings::sleeping(),
        start: Some(Start::AtUnix(zero)),
        ..Live::new(target.clone(), Script::single(&Request::get(&target.path)))
    };
    let (group, connections, connect_timeout) = clients(case);
    let limits =
        Limits { connections, max_wait: PATIENT, timeout: ENDLESS, connect_timeout, drain: Nanos::ZERO };
    let end = case.window.1 + TAIL;
    let plan = Plan::of(case.seed, group, case.window.0, end);
    let spec = RunSpec { limits, ..RunSpec::new("overload", plan, connections) };
    let mut answered = Answered { window: case.window, n: 0, connects: Vec::new() };
    let client = Control::default();
    let (result, counted) = thread::scope(|scope| {
        let serving = scope.spawn(|| server.run());
        let counting = scope.spawn(|| {
            let counted = between(zero, case.window);
            // Clients that are established for themselves alone send their requests again up to 120 s later: none is awaited.
            sleep_until(zero, end + TAIL);
            client.stop();
            client.stop();
            counted
        });
        let backend = Backend::Live(Box::new(live));
        let played = backend.play(&spec, &client, &mut [&mut answered]);
        stop_server.stop();
        serving.join().map_err(|_| anyhow!("the embedded server panicked"))??;
        let counted = counting.join().map_err(|_| anyhow!("the counting thread panicked"))??;
        anyhow::Ok((played?, counted))
    })?;
    let (counted, seconds) = counted;
    let generator = result.summary.generator.unwrap_or_default();
    // Workers count from when they are made, which is before zero: nothing is to be handled there.
    let handling: f64 = generator.workers.iter().map(|time| time.handling).sum();
    let notes = std::mem::take(&mut *notes.lock().map_err(|_| anyhow!("the embedded server panicked"))?);
    Ok(Lived {
        case: *case,
        counted,
        seconds,
        served: answered.n as f64 / (case.window.1 - case.window.0).as_secs_f64(),
        handling: (handling / end.as_secs_f64()).min(1.0),
        turnarounds: turnarounds(&notes, zero, &mut answered.connects, case.window).into(),
        timers: headway_live::clock::tick().map(|tick| Timers {
            tick,
            phase: Nanos::ZERO,
            synack_retries: setting("ipv4/tcp_synack_retries").unwrap_or(5),
        }),
        lacked: generator.lacked,
        resend: Resend {
            linear: setting("ipv4/tcp_syn_linear_timeouts").unwrap_or(0),
            retries: setting("ipv4/tcp_syn_retries").unwrap_or(Resend::DOUBLING.retries),
        },
        backlog: setting("core/somaxconn").map_or(plays::BACKLOG, |most| most.min(plays::BACKLOG)),
    })
}

/// The clients, how many connections they need, and how patient they are.
fn clients(case: &Case) -> (Group, u32, Nanos) {
    let end = case.window.1 + TAIL;
    // Those that wait to be accepted are connections too.
    let waiting = 2 * (plays::BACKLOG + 2);
    match case.clients {
        Clients::Simple(users) => {
            let source = Source::Users { level: Arc::new(Level::hold(users, end)), requests: None };
            (Group::of(source, Journey::single(), Connections::PerRequest), users, PATIENT)
        }
        Clients::Held(sockets, timeout) => {
            (Group::connecting(Level::hold(sockets, end)), sockets + waiting, timeout)
        }
        Clients::Bursts { mean, pair, period } => {
            let periods = (end.0 + period.0 - 1) / period.0;
            let profile = plays::profile(mean, pair, period, periods);
            // No more than come within a timeout can be waiting for their connections.
            let connecting = (mean * pair.0.max(1.0)) as u32 + waiting;
            let source = Source::Arrivals { process: Process::Poisson, profile: Arc::new(profile) };
            (Group::of(source, Journey::single(), Connections::PerRequest), connecting, plays::TIMEOUT)
        }
    }
}

fn sleep_until(zero: i128, at: Nanos) {
    let left = zero + i128::from(at.0) - unix_now();
    thread::sleep(Duration::from_nanos(u64::try_from(left).unwrap_or(0)));
}

/// What the kernel counts in the calling thread's namespace between two instants since the plan's zero, and how many seconds lay
/// between the two readings.
fn between(zero: i128, window: (Nanos, Nanos)) -> anyhow::Result<(TcpCounters, f64)> {
    let reading = |at: Nanos| {
        sleep_until(zero, at);
        anyhow::Ok((TcpCounters::read()?, unix_now()))
    };
    let (before, from) = reading(window.0)?;
    let (after, to) = reading(window.1)?;
    Ok((after.since(&before), (to - from) as f64 / 1e9))
}

/// From each answer in the window (answers are in Unix time) to the next connect that the client began.
fn turnarounds(answers: &[i128], zero: i128, connects: &mut [Nanos], window: (Nanos, Nanos)) -> Vec<Nanos> {
    connects.sort_unstable();
    let turnaround = |answer: &i128| {
        let at = Nanos((answer - zero) as i64);
        let connect = *connects.get(connects.partition_point(|connect| *connect < at))?;
        (window.0..window.1).contains(&at).then_some(connect - at)
    };
    answers.iter().filter_map(turnaround).collect()
}

/// Counts the requests that are answered in the window, and notes when connects began.
struct Answered {
    window: (Nanos, Nanos),
    n: u64,
    connects: Vec<Nanos>,
}

impl Observer for Answered {
    fn batch(&mut self, batch: &Batch) {
        let within = |done: Nanos| (self.window.0..self.window.1).contains(&done);
        let answered =
            batch.records.iter().filter(|record| record.outcome == Outcome::Ok && within(record.done));
        self.n += answered.count() as u64;
        let began = batch.records.iter().filter(|record| record.connect.get().is_some());
        self.connects.extend(began.filter_map(|record| record.started.get()));
    }
}
