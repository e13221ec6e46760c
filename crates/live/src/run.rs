//! A live run: workers, their shards, their shared zero.

use crate::address::Address;
use crate::clock::Clock;
use crate::control::Control;
use crate::host;
use crate::names::{Readings, Refresh, Refreshing};
use crate::protocols::Protocols;
use crate::proxy::Via;
use crate::reactor::Reactor;
use crate::requests::Requests;
use crate::tls::TlsSetup;
use crate::wait::{Held, Waited, Waiter, Watchdog};
use crate::watch::WorkerReport;
use crate::worker::{Place, Shared, Worker};
use headway_base::units::UnitError;
use headway_base::{Nanos, RecordSink};
use headway_workload::{Client, Limits, Plan, Shard};
use std::io;
use std::net::IpAddr;
use std::thread;
use thiserror::Error;

/// A scheme, a host and a port that requests go to, each with connections of its own.
#[derive(Clone, Debug)]
pub struct Origin {
    /// As a URL without a path.
    pub name: String,
    /// Where connections go, in turn: to its addresses, or those of the proxy. At least one.
    pub addresses: Vec<Address>,
    /// How their name is read again, if it is.
    pub refresh: Option<Refresh>,
    /// How the proxy is used, if there is one.
    pub via: Option<Via>,
    /// TLS, if it is spoken.
    pub tls: Option<TlsSetup>,
    /// What is spoken over it.
    pub protocols: Protocols,
}

/// Everything a run needs to know, names resolved.
#[derive(Debug)]
pub struct Config {
    /// Who comes when.
    pub plan: Plan,
    /// Where requests go: the target, then the other origins by their number.
    pub origins: Vec<Origin>,
    /// Addresses of this machine that connections are opened from in turn; empty: whichever the system takes.
    pub sources: Vec<IpAddr>,
    /// Whether requests are spread over as many connections as there may be, rather than fill those that are open.
    pub spread: bool,
    /// What the steps ask for, and what their answers mean.
    pub requests: Requests,
    /// What an answer may weigh.
    pub answer_limits: headway_wire::Limits,
    /// Bounds of the whole run: the connection cap is split over shards and threads.
    pub limits: Limits,
    /// Worker threads; at most as many as connections.
    pub threads: u32,
    /// When the plan's zero is.
    pub clock: Clock,
    /// Whether a plan that has begun by then is joined where it is: what fell due before is not sent. Else it is sent late.
    pub joins: bool,
    /// How to stop it.
    pub control: Control,
    /// What makes the workers wake on time.
    pub wait: Held,
}

/// What went wrong with the run itself (never with a request).
#[derive(Debug, Error)]
pub enum Error {
    /// The system refused what a worker needs.
    #[error("a worker cannot run: {0}")]
    Worker(#[from] io::Error),
    /// More threads or shards than can be.
    #[error(transparent)]
    Shard(#[from] UnitError),
    /// A worker came down: a defect of this program.
    #[error("a worker panicked; its records up to then are in the log")]
    Panicked,
}

/// What the run says of itself.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// One per worker.
    pub workers: Vec<WorkerReport>,
    /// Time that the hypervisor took from all cores during the run; none where the system does not say.
    pub stolen: Option<Nanos>,
    /// What was done so that workers woke on time.
    pub waited: Waited,
    /// What came of reading the name again; none where that was not done.
    pub readings: Option<Readings>,
    /// When the last worker was done.
    pub ended: Nanos,
}

/// How many workers such a run gets: threads, but not more than connections.
pub fn workers(threads: u32, connections: u32) -> u32 {
    threads.clamp(1, connections.max(1))
}

/// Plays the plan to its end. `sink(i)` makes the sink of worker i, on that worker's thread.
///
/// # Errors
/// A worker that cannot be set up, or that came down. Failures of requests are records, not errors.
pub fn run<S, F>(config: &Config, sink: F) -> Result<RunReport, Error>
where
    S: RecordSink,
    F: Fn(u32) -> S + Sync,
{
    let threads = workers(config.threads, config.plan.shard.split(config.limits.connections));
    // Whatever the others are, they are of HTTP as the target is, and have its limits.
    let settings = config.origins.first().map(|target| target.protocols.settings(config.answer_limits));
    let no_target = || io::Error::new(io::ErrorKind::InvalidInput, "a run without a target");
    let shared = Shared {
        origins: config.origins.iter().map(Place::of).collect(),
        counts_places: config.origins.iter().any(|origin| origin.refresh.is_some()),
        sources: config.sources.clone(),
        requests: config.requests.clone(),
        tells_progress: config.requests.script().idle_timeout().is_some(),
        settings: settings.ok_or_else(no_target)?,
        clock: config.clock,
        joins: config.joins,
        control: config.control.clone(),
    };
    let refreshed =
        || config.origins.iter().zip(&shared.origins).filter_map(|(o, at)| Some((o.refresh.as_ref()?, at)));
    let refreshing: Vec<Refreshing> =
        refreshed().map(|(refresh, at)| Refreshing::begin(refresh, at.addresses.clone())).collect();
    let stolen_before = host::stolen();
    let shards =
        (0..threads).map(|j| config.plan.shard.part(j, threads)).collect::<Result<Vec<Shard>, _>>()?;
    // The kernel's stamps tell how long answers lay unread.
    let reactors = (0..threads).map(|_| Reactor::new(true)).collect::<Result<Vec<_>, _>>()?;
    let watchdog = config.wait.settings().realtime.then(|| Watchdog::of(threads));
    let watchdog = watchdog.as_ref();
    let results = thread::scope(|scope| {
        if let Some(watchdog) = watchdog {
            scope.spawn(|| watchdog.watch());
        }
        let worker = |((j, &shard), reactor): ((usize, &Shard), Reactor)| {
            let (shared, sink) = (&shared, &sink);
            thread::Builder::new().spawn_scoped(scope, move || {
                let limits = Limits { connections: shard.split(config.limits.connections), ..config.limits };
                let client = Client::new(&config.plan, shard, limits, sink(j as u32));
                let client = match config.spread {
                    true => client.spreading(),
                    false => client.expecting(&shared.expected_streams()),
                };
                let client = client.streaming(shared.requests.script().streamed());
                let waiter = Waiter::new(&config.wait, j as u32, watchdog);
                if let Some(watchdog) = watchdog {
                    watchdog.enlist(j as u32)?;
                }
                let report = Worker::new(shared, client, reactor, waiter).run();
                if let Some(watchdog) = watchdog {
                    watchdog.retire(j as u32);
                }
                report
            })
        };
        let running: Vec<_> = shards.iter().enumerate().zip(reactors).map(worker).collect();
        if running.iter().any(Result::is_err) {
            // A plan without some of its shards is another one: the others end at once.
            config.control.stop();
            config.control.stop();
        }
        let joined = |worker: io::Result<thread::ScopedJoinHandle<_>>| match worker {
            Ok(worker) => worker.join(),
            Err(none) => Ok(Err(none)),
        };
        let results = running.into_iter().map(joined).collect::<Vec<_>>();
        if let Some(watchdog) = watchdog {
            watchdog.end();
        }
        results
    });
    drop(refreshing);
    let readings = refreshed().map(|(_, at)| at.addresses.readings()).reduce(Readings::and);
    let ended = config.clock.now();
    let waited = config.wait.waited(watchdog);
    let workers = results.into_iter().map(|result| Ok(result.map_err(|_| Error::Panicked)??));
    Ok(RunReport {
        workers: workers.collect::<Result<_, Error>>()?,
        stolen: match (stolen_before, host::stolen()) {
            (Some(before), Some(after)) => Some(after - before),
            _ => None,
        },
        waited,
        readings,
        ended,
    })
}
