//! A run over sockets, in real time: resolves the name, runs workers and collector, and returns the result.

use crate::collect::{Observer, channel};
use crate::destination::layout::StartAt;
use crate::destination::{OnWait, Seat};
use crate::ports;
use crate::reasons::explain;
use crate::spec::Kept;
use crate::watchdog::{Deadlines, OnStuck, Over, Watchdog};
use crate::{Error, Keep, Manifest, NotPlayed, Place, RunResult, RunSpec};
use anyhow::{Context as _, anyhow, bail};
use headway_base::{Answer, KnownFailure, Nanos, Outcome};
use headway_live::names::{Refresh, Resolver};
use headway_live::tls::{TlsError, TlsSetup};
use headway_live::{
    Address, Clock, Control, Origin, Protocols, ResolveError, RunReport, Via, WorkerReport, wait,
};
use headway_stats::Facts;
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{
    ConnectRow, DatagramRow, Decoded, DmaLatency, FailureReason, FailureReasons, Finding, FindingId,
    Generator, IdleLoops, Names, SeriesRow, Severity, Source, Stall, StrayCounts, Strays, Wait, WaitStrategy,
    WorkerTime,
};
use headway_wire::Tally;
use headway_workload::connect::{Proxy, Routes, Tls};
use headway_workload::content::Script;
use headway_workload::plan::Connections;
use headway_workload::redact::{Cleared, Redactor, clear};
use headway_workload::target::{Endpoint, HttpVersion, Scheme};
use headway_workload::{Plan, Target};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::thread;

/// How long a plan may have gone on when it is joined, unless something else is asked for.
pub const DEFAULT_LATE: Nanos = Nanos::from_secs(10);

/// How long after everything is ready the plan's zero lies, so that no worker is late for it.
const LEAD: Nanos = Nanos::from_millis(20);

/// What a live run needs besides its specification.
#[derive(Clone, Debug)]
pub struct Live {
    /// Where the requests go.
    pub target: Target,
    /// The other origins of the script, by their number less one: steps name them, or redirects may lead there.
    pub others: Vec<Target>,
    /// The target as it is shown, secrets replaced.
    pub shown_target: Cleared,
    /// What the steps send, and how responses are judged.
    pub script: Arc<Script>,
    /// Largest body of a response, bytes.
    pub max_body: u64,
    /// Worker threads; none: one if the target is this machine, else cores - 1.
    pub threads: Option<u32>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// What TLS needs besides the host.
    pub tls: Tls,
    /// Where connections go in place of the host and port of the target, or of the proxy.
    pub routes: Routes,
    /// What requests go through; none: directly.
    pub proxy: Option<Proxy>,
    /// The version of HTTP.
    pub http: HttpVersion,
    /// Most requests at once on a connection that takes several; none: as is usual for the protocol.
    pub streams: Option<u32>,
    /// Length of the intervals in which datagrams or attempts to connect are counted, whole seconds; none: only in all.
    pub interval: Option<Nanos>,
    /// Where an answer of plain bytes ends; none: as is usual for the protocol.
    pub answer: Option<Answer>,
    /// Whether requests are spread over as many connections as there may be.
    pub spread: bool,
    /// How workers wait for the next intended time.
    pub wait: wait::Settings,
    /// When to begin; none: at once.
    pub start: Option<Start>,
    /// How long a plan that begins at an instant may have gone on when it is joined.
    pub late: Nanos,
    /// Addresses of this machine that connections are opened from in turn; empty: as the system chooses.
    pub sources: Vec<IpAddr>,
    /// The host of the target, where its user says that it is theirs to overload.
    pub target_is_mine: Option<String>,
    /// How often the name that connections go to is read again; none: once, and one address is used.
    pub dns_refresh: Option<Nanos>,
    /// The variable of the environment that names a proxy, which this run does not use.
    pub proxy_not_used: Option<&'static str>,
    /// What is called when the destination of the run's shards begins to be waited for.
    pub on_wait: OnWait,
    /// What is called when a stage of the run is stuck after the plan's last deadline; by default nothing, and the run stays.
    pub on_stuck: OnStuck,
    /// Hides secrets in all that is shown and written.
    pub redactor: Redactor,
}

/// When a run begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// After that time.
    In(Nanos),
    /// At this instant, nanoseconds since the Unix epoch.
    AtUnix(i128),
    /// When all shards of the run are there, but for as long only.
    Barrier(Nanos),
}

impl Live {
    /// Requests that `script` holds, to that target, with everything else at its default.
    pub fn new(target: Target, script: Script) -> Live {
        Live {
            shown_target: Redactor::default().clear_url(&target.to_string()),
            target,
            others: Vec::new(),
            script: Arc::new(script),
            max_body: crate::spec::DEFAULT_MAX_BODY,
            threads: None,
            insecure: false,
            tls: Tls::default(),
            routes: Routes::default(),
            proxy: None,
            dns_refresh: None,
            http: HttpVersion::Any,
            streams: None,
            interval: None,
            answer: None,
            spread: false,
            wait: wait::Settings::default(),
            start: None,
            late: DEFAULT_LATE,
            sources: Vec::new(),
            target_is_mine: None,
            proxy_not_used: None,
            on_wait: |_| {},
            on_stuck: |_| {},
            redactor: Redactor::default(),
        }
    }

    /// The requests of that plan as the wire protocol has them.
    ///
    /// # Errors
    /// What the protocol does not allow.
    pub fn requests(&self, plan: &Plan) -> anyhow::Result<headway_live::Requests> {
        let origins: Vec<Target> = self.origins().cloned().collect();
        let mut requests = headway_live::Requests::to(&origins, self.script.clone())?;
        requests.fit(&self.protocols(plan, &self.target))?;
        for (number, origin) in (0..).zip(&origins) {
            if let Some((proxy, Via::Requests)) = self.proxy.as_ref().zip(self.via(plan, origin)?) {
                requests = requests.forwarded(number, origin, proxy)?;
            }
        }
        Ok(if plan.opens_each() { requests.closing()? } else { requests })
    }

    /// Where requests go: the target, then the other origins by their number.
    pub(crate) fn origins(&self) -> impl Iterator<Item = &Target> {
        std::iter::once(&self.target).chain(&self.others)
    }

    /// How the proxy is used on the way to that origin, if there is one.
    ///
    /// # Errors
    /// An origin that it cannot be told of.
    fn via(&self, plan: &Plan, origin: &Target) -> anyhow::Result<Option<Via>> {
        let Some(proxy) = &self.proxy else { return Ok(None) };
        Ok(Some(Via::of(proxy, origin, self.http_of(plan, origin)).context("--proxy")?))
    }

    /// Where connections to that origin go: there, or to the proxy.
    pub(crate) fn endpoint(&self, origin: &Target) -> Endpoint {
        self.proxy.as_ref().map_or_else(|| origin.endpoint.clone(), Proxy::endpoint)
    }

    /// How the name that connections to that origin go to is read again, if it is.
    fn refresh(&self, origin: &Target) -> Option<Refresh> {
        let (endpoint, routes) = (self.endpoint(origin), self.routes.clone());
        let datagrams = self.target.scheme.is_datagrams();
        let read = move || {
            let all = headway_live::resolve_by(&endpoint, &routes).map_err(|error| error.why)?;
            Ok(if datagrams { all.into_iter().map(Address::for_datagrams).collect() } else { all })
        };
        Some(Refresh { every: self.dns_refresh?, resolver: Resolver::new(read) })
    }

    /// The addresses that connections to that origin may go to.
    pub(crate) fn addresses(&self, origin: &Target) -> anyhow::Result<Vec<Address>> {
        let found = headway_live::resolve_by(&self.endpoint(origin), &self.routes);
        found.map_err(|error| match (&self.proxy, error) {
            (Some(_), ResolveError { host, why, .. }) => {
                anyhow!("the name {host} of the proxy does not resolve: {why}. Check how --proxy is written")
            }
            (None, error) if self.others.is_empty() => error.into(),
            (None, error) => anyhow!("{}: {error}", self.shown(origin)),
        })
    }

    /// TLS with each origin, if it is spoken there. The certificate of this client and the name to indicate are for the target alone.
    ///
    /// # Errors
    /// No authorities to trust, or a file of certificates or keys that cannot be used.
    pub fn tls_setups(&self) -> Result<Vec<Option<TlsSetup>>, TlsError> {
        let others = Tls { cert: None, key: None, sni: None, ..self.tls.clone() };
        let one = |(number, origin): (usize, &Target)| {
            let tls = if number == 0 { &self.tls } else { &others };
            origin.tls().then(|| TlsSetup::new(origin.host(), self.insecure, tls)).transpose()
        };
        self.origins().enumerate().map(one).collect()
    }

    /// Where the requests go, names resolved.
    fn resolved(&self, plan: &Plan, number: usize, tls: Option<TlsSetup>) -> Result<Origin, Error> {
        let origin = self.origins().nth(number).unwrap_or(&self.target);
        let mut addresses = self.addresses(origin).map_err(Error::failed)?;
        self.permits(plan, &addresses).map_err(Error::usage)?;
        if self.target.scheme.is_datagrams() {
            addresses = addresses.into_iter().map(Address::for_datagrams).collect();
        }
        let refresh = self.refresh(origin);
        let addresses = match &refresh {
            Some(_) => headway_live::address::rotating(addresses),
            None => vec![headway_live::address::reachable(addresses)],
        };
        addresses.iter().try_for_each(|address| self.can_start_from(address)).map_err(Error::usage)?;
        Ok(Origin {
            name: self.shown(origin).into(),
            addresses,
            refresh,
            via: self.via(plan, origin).map_err(Error::usage)?,
            tls,
            protocols: self.protocols(plan, origin),
        })
    }

    /// An origin as a URL without a path, secrets replaced.
    pub(crate) fn shown(&self, origin: &Target) -> Cleared {
        let url = match &origin.endpoint {
            Endpoint::Tcp { .. } => format!("{}://{}", origin.scheme.name(), origin.authority),
            Endpoint::Unix(socket) => format!("unix:{socket}"),
        };
        self.redactor.clear_url(&url)
    }

    /// What is spoken to that origin. Over UDP, unless `answer` says otherwise, the next datagram answers one of the user's own, and the
    /// datagram with the same number one of ours.
    pub(crate) fn protocols(&self, plan: &Plan, origin: &Target) -> Protocols {
        let own = self.target.scheme == Scheme::Udp && self.script.has_bodies();
        let answer = self.answer.clone().or(own.then_some(Answer::Next));
        Protocols::new(origin.scheme, self.http_of(plan, origin), self.streams, answer)
    }

    /// The version of HTTP that is asked for of that origin.
    fn http_of(&self, plan: &Plan, origin: &Target) -> HttpVersion {
        // A connection of HTTP/2 is for many requests.
        let single = plan.groups.iter().any(|group| group.connections == Connections::PerRequest);
        match origin.scheme {
            Scheme::H2c => HttpVersion::Http2,
            _ if single => HttpVersion::Http1,
            _ => self.http,
        }
    }

    /// Requests that a connection can be expected to carry at once: at least 1, at most `streams`.
    pub fn at_once(&self, plan: &Plan) -> u32 {
        self.protocols(plan, &self.target).at_once(self.target.tls())
    }

    /// Whether a load that does not give way when the target does may go to these addresses.
    fn permits(&self, plan: &Plan, addresses: &[Address]) -> anyhow::Result<()> {
        let is_mine = self.target_is_mine.as_deref() == Some(self.target.host());
        let foreign = || addresses.iter().find(|address| !address.is_private() && !address.is_local());
        match foreign().filter(|_| plan.is_connecting() && !is_mine) {
            None => Ok(()),
            Some(address) => {
                let host = self.target.host();
                bail!(
                    "{address} ({host}) is neither a private address nor this machine's, and --connecting goes on at its full rate however the \
                     target fares: nothing was sent. If the target is yours to overload, say so with --target-is-mine {host}"
                )
            }
        }
    }

    /// What is to be known of that run before it begins, and stands in its summary.
    pub fn findings(&self, spec: &RunSpec) -> Vec<Finding> {
        let of = |variable: &'static str| Finding {
            id: FindingId::ProxyNotUsed,
            severity: Severity::Info,
            evidence: vec![
                Run::ProxyNotUsed {
                    variable: variable.to_owned(),
                    target: self.redactor.clear(&self.target.authority),
                }
                .into(),
            ],
            ..Finding::default()
        };
        self.proxy_not_used.map(of).into_iter().chain(ports::may_run_out(self, spec)).collect()
    }

    /// Whether connections to that address can be opened from the addresses given for that.
    fn can_start_from(&self, address: &Address) -> anyhow::Result<()> {
        let Some(first) = self.sources.first() else { return Ok(()) };
        let (Address::Tcp(to) | Address::Udp(to)) = address else {
            bail!("--local-addr {first}: {address} is a Unix socket, which no address leads to");
        };
        if let Some(other) = self.sources.iter().find(|source| source.is_ipv4() != to.is_ipv4()) {
            bail!("--local-addr {other}: the target is at {to}, and both must be of IPv4 or of IPv6");
        }
        match self.sources.iter().find(|source| !Address::Tcp((**source, 0).into()).is_local()) {
            Some(foreign) => {
                bail!("--local-addr {foreign} is no address of this machine: `ip address` shows them")
            }
            None => Ok(()),
        }
    }

    /// The clock of a plan that begins at `zero`, by one look at the wall clock.
    fn joined(&self, plan: &Plan, zero_unix: i128) -> Result<Clock, Error> {
        let too_far = || Error::usage(anyhow!("--start-at is centuries away: write an instant near now"));
        let clock = Clock::zero_at(zero_unix).ok_or_else(too_far)?;
        let (late, end) = (clock.now(), plan.end());
        match () {
            () if late > self.late => {
                Err(NotPlayed::TooLate { late: to_millis(late), allowed: self.late }.into())
            }
            () if late >= end => {
                Err(NotPlayed::Over { late: to_millis(late), ended: to_millis(late - end) }.into())
            }
            () => Ok(clock),
        }
    }

    /// The seat of a shard whose results come to those of others.
    fn seat(&self, spec: &RunSpec, cancel: &Control) -> Result<Option<Seat>, Error> {
        let Some(Keep { place: Place::Destination(address), .. }) = &spec.keep else { return Ok(None) };
        let start = match self.start {
            Some(Start::AtUnix(zero)) => Some(StartAt::Unix(zero)),
            Some(Start::Barrier(_)) => Some(StartAt::Barrier),
            Some(Start::In(_)) | None => None,
        };
        // When it begins is not known yet, and not among what shards have in common.
        let manifest = self.manifest(spec, None, 0);
        Seat::of_run(address, &manifest, spec.plan.shard, start, cancel, self.on_wait).map(Some)
    }

    /// The manifest of a run, with what shards have in common.
    fn manifest(&self, spec: &RunSpec, threads: Option<u32>, zero_unix_ns: i128) -> Manifest {
        let mut manifest = Manifest::new(spec, Some(&self.shown_target), threads, zero_unix_ns);
        manifest.asked.origins = self.others.iter().map(|origin| self.shown(origin)).collect();
        manifest.sent = self.redactor.clear(&self.script.sent());
        manifest
    }

    pub(crate) fn play(
        &self,
        spec: &RunSpec,
        cancel: &Control,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, Error> {
        let plan = &spec.plan;
        let requests = self.requests(plan).map_err(Error::usage)?;
        let tls = self.tls_setups().map_err(Error::failed)?;
        let origins: Vec<Origin> = tls
            .into_iter()
            .enumerate()
            .map(|(number, tls)| self.resolved(plan, number, tls))
            .collect::<Result<_, _>>()?;
        let local = origins.iter().flat_map(|origin| &origin.addresses).any(Address::is_local);
        let threads = headway_live::run::workers(
            self.threads.unwrap_or_else(|| default_threads(local)),
            plan.shard.split(spec.limits.connections),
        );
        // The wall clock is looked at once; a run that is too late leaves nothing behind.
        let clock = match self.start {
            Some(Start::AtUnix(zero)) => Some(self.joined(plan, zero)?),
            Some(Start::In(_) | Start::Barrier(_)) | None => None,
        };
        // Before the folder is made, so that a refusal leaves none; and while the process is small.
        let held = wait::Held::begin(&self.wait)
            .map_err(|refused| Error::Usage(anyhow::Error::from(refused).context("--realtime")))?;
        let findings = self.findings(spec);
        let seat = self.seat(spec, cancel)?;
        let clock = match (self.start, &seat) {
            (Some(Start::Barrier(longest)), Some(seat)) => {
                Some(self.joined(plan, seat.meet(longest, cancel)?)?)
            }
            (Some(Start::Barrier(_)), None) => {
                return Err(Error::usage(anyhow!(
                    "--start-at barrier is where the shards of a run meet: it needs --shard and --out"
                )));
            }
            (Some(Start::In(_) | Start::AtUnix(_)) | None, _) => clock,
        };
        let joins = clock.is_some();
        let clocks = match (&seat, self.start) {
            (Some(seat), Some(Start::Barrier(_))) => seat.findings(seat.farthest()?.as_ref()),
            (Some(seat), _) => seat.findings(None),
            (None, _) => Vec::new(),
        };
        let kept = Kept::make(spec, seat)?;
        let clock = clock.unwrap_or_else(|| match self.start {
            Some(Start::In(ahead)) => Clock::starting_in(ahead),
            _ => Clock::starting_in(LEAD),
        });
        let zero = clock.unix_nanos(Nanos::ZERO);
        let mut manifest = self.manifest(spec, Some(threads), zero);
        let protocols = self.protocols(plan, &self.target);
        let is_http = self.target.scheme.is_http();
        let http = if self.target.scheme == Scheme::H2c { HttpVersion::Http2 } else { self.http };
        manifest.asked.http = is_http.then(|| http.name().to_owned());
        manifest.asked.dns_refresh_s = self.dns_refresh.map(Nanos::as_secs_f64);
        manifest.asked.proxy = self.proxy.as_ref().map(|proxy| self.redactor.clear_url(&proxy.to_string()));
        manifest.asked.answer =
            protocols.answer.as_ref().map(|answer| self.redactor.clear(&answer.to_string()));
        let several = self.at_once(plan) > 1;
        manifest.asked.streams = several.then_some(protocols.streams);
        manifest.asked.spread = self.spread;
        manifest.asked.traceparent = self.script.is_tracing();
        let idle = self.script.streamed().into_iter().map(|step| step.idle).min();
        manifest.asked.idle_timeout_s = idle.filter(|&idle| idle < Nanos::MAX).map(Nanos::as_secs_f64);
        let log = kept.begin(spec, &manifest)?;
        let mut publisher = kept.publisher(plan)?;
        let mut observers: Vec<&mut dyn Observer> =
            observers.iter_mut().map(|one| &mut **one as &mut dyn Observer).collect();
        observers.extend(publisher.as_mut().map(|publisher| publisher as &mut dyn Observer));
        let collector = Kept::collector(spec, &manifest, log, threads as usize, &mut observers);
        let (intake, mut batches) = channel();
        let config = headway_live::Config {
            plan: plan.clone(),
            origins,
            sources: self.sources.clone(),
            spread: self.spread,
            requests,
            answer_limits: headway_wire::Limits {
                body_bytes: self.max_body,
                ..headway_wire::Limits::DEFAULT
            },
            limits: spec.limits,
            threads,
            clock,
            joins,
            control: cancel.clone(),
            wait: held,
        };
        let (progress, watched_log) = collector.watched();
        let limits = &spec.limits;
        let watchdog = Watchdog {
            progress,
            log: watched_log,
            waiting: batches.waiting(),
            deadlines: Deadlines {
                last_start: plan.end(),
                last_request: [limits.drain, limits.max_wait, limits.connect_timeout, limits.timeout]
                    .into_iter()
                    .fold(Nanos::ZERO, Nanos::saturating_add),
            },
            folder: kept.folder(),
            on_stuck: self.on_stuck,
        };
        let over = Over::default();
        let (report, collected) = thread::scope(|scope| {
            // One after the other: what fails to begin leaves nothing that runs on.
            let of = |name: &str| thread::Builder::new().name(name.to_owned());
            let watching =
                of("watchdog").spawn_scoped(scope, || watchdog.watch(&over, || clock.now(), cancel));
            let collecting = of("collector").spawn_scoped(scope, || {
                headway_live::host::give_way();
                let collected = collector.run(&mut batches, |at| clock.at(at), plan.end(), cancel);
                over.tell();
                collected
            });
            let (_, collecting) = match (watching, collecting) {
                (Ok(watching), Ok(collecting)) => (watching, collecting),
                (Err(why), _) | (_, Err(why)) => {
                    over.tell();
                    drop(intake);
                    return Err(no_thread(&why));
                }
            };
            let report = headway_live::run(&config, |worker| intake.sink(worker));
            drop(intake);
            let collected = collecting.join();
            over.tell();
            Ok((report, collected))
        })?;
        let report = report.map_err(Error::failed)?;
        let collected = collected.map_err(|_| anyhow!("the collector panicked"))?;
        let interrupted = cancel.asked() > 0 && report.ended < plan.end();
        let facts = Facts {
            generator: Some(Generator {
                // Where the target is, the proxy alone knows.
                same_host_as_target: self.proxy.is_none().then_some(local),
                ..generator(&report, self.target.scheme)
            }),
            interrupted_at: interrupted.then(|| cancel.asked_at().map_or(report.ended, |at| clock.at(at))),
            send_cost: send_cost(&report),
            departures: departures(&report),
            ..manifest.facts(Source::Live)
        };
        let origins: Vec<Cleared> = self.origins().map(|origin| self.shown(origin)).collect();
        let met = report.workers.iter().map(|worker| reasons(worker, &origins, &self.redactor));
        let met: Vec<_> = met.collect();
        Ok(kept.close(collected, facts, publisher, |summary| {
            explain(summary, &met);
            summary.decoded = decoded(&report);
            let strays = summary.generator.as_mut().and_then(|generator| generator.datagrams.as_mut());
            if let Some((connects, interval)) = summary.connects.as_mut().zip(self.interval) {
                connects.intervals = connect_rows(&summary.series, interval);
            }
            if let Some((strays, interval)) = strays.zip(self.interval) {
                let one_way = self.answer == Some(Answer::None);
                strays.intervals = intervals(&report.workers, &summary.series, interval, one_way);
            }
            summary.verdict.findings.extend(findings.into_iter().map(ports::after));
            summary.verdict.findings.extend(clocks.into_iter().chain(joined_late(&report)));
            let bound = crate::doctor::first_bound(spec, self, local, summary);
            summary.generator.iter_mut().for_each(|generator| generator.first_bound = bound);
        }))
    }
}

/// Worker threads where none are asked for.
pub(crate) fn default_threads(local: bool) -> u32 {
    if local { 1 } else { headway_live::host::cores().saturating_sub(1).max(1) }
}

/// That a thread of the run could not begin.
fn no_thread(why: &std::io::Error) -> Error {
    Error::failed(anyhow!("the run cannot begin: the system allows no more threads ({why}); see `ulimit -u`"))
}

/// Down to whole milliseconds, for people.
fn to_millis(time: Nanos) -> Nanos {
    Nanos(time.0 / 1_000_000 * 1_000_000)
}

/// That the run joined a plan that had begun.
fn joined_late(report: &RunReport) -> Option<Finding> {
    let joined = report.workers.iter().filter_map(|worker| worker.joined).max()?;
    let missed = report.workers.iter().map(|worker| worker.missed).sum();
    let evidence = Run::JoinedLate { late_s: joined.as_secs_f64(), missed };
    Some(Finding {
        id: FindingId::JoinedLate,
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(joined.as_secs_f64()),
        n: missed,
        ..Finding::default()
    })
}

/// What datagrams brought that was no answer.
fn strays(report: &RunReport) -> Strays {
    let mut strays = Strays::default();
    for worker in &report.workers {
        strays.counts.add(counts(worker.tally));
        strays.unreachable += worker.unreachable;
    }
    strays
}

/// What a worker counted, as the summary has it.
fn counts(Tally { late, duplicates, reordered, unexpected }: Tally) -> StrayCounts {
    StrayCounts { late, duplicates, reordered, unexpected }
}

/// What became of datagrams, in intervals of whole seconds; rows of the series that are longer make them longer.
fn intervals(
    workers: &[WorkerReport],
    series: &[SeriesRow],
    interval: Nanos,
    one_way: bool,
) -> Vec<DatagramRow> {
    let length = interval.as_secs_f64();
    let place = |at_s: f64| interval_at(at_s, length);
    let mut rows: Vec<DatagramRow> = Vec::new();
    for row in series {
        let at = place(row.from_s);
        if at >= rows.len() {
            let from_s = |i: usize| i as f64 * length;
            rows.extend((rows.len()..=at).map(|i| DatagramRow {
                from_s: from_s(i),
                to_s: from_s(i + 1),
                received: (!one_way).then_some(0),
                lost: (!one_way).then_some(0),
                ..DatagramRow::default()
            }));
        }
        let interval = &mut rows[at];
        interval.sent += row.started;
        let timeouts = row.failures.get(Outcome::Timeout.name()).copied().unwrap_or(0);
        interval.received = interval.received.map(|n| n + row.completed + failed(row, comes_as_datagram));
        interval.lost = interval.lost.map(|n| n + timeouts);
    }
    let last = rows.len().saturating_sub(1);
    for worker in workers {
        for (second, &tally) in worker.tallies.iter().enumerate() {
            let Some(row) = rows.get_mut(place(second as f64).min(last)) else { continue };
            row.counts.add(counts(tally));
        }
    }
    if let (Some(row), Some(end)) = (rows.last_mut(), series.last()) {
        row.to_s = end.to_s;
    }
    rows
}

/// The number of the interval of that length in which an instant lies.
fn interval_at(at_s: f64, length_s: f64) -> usize {
    (at_s / length_s + 1e-9).floor().max(0.0) as usize
}

/// What became of attempts to connect, in intervals of whole seconds; rows of the series that are longer make them longer.
fn connect_rows(series: &[SeriesRow], interval: Nanos) -> Vec<ConnectRow> {
    let length = interval.as_secs_f64();
    let mut rows: Vec<ConnectRow> = Vec::new();
    for row in series {
        let at = interval_at(row.from_s, length);
        let bounds = |i: usize| (i as f64 * length, (i + 1) as f64 * length);
        rows.extend((rows.len()..=at).map(|i| {
            let (from_s, to_s) = bounds(i);
            ConnectRow { from_s, to_s, ..ConnectRow::default() }
        }));
        let of = |outcome: Outcome| row.failures.get(outcome.name()).copied().unwrap_or(0);
        let (refused, timed_out, local_limit) =
            (of(Outcome::Refused), of(Outcome::ConnectTimeout), of(Outcome::LocalLimit));
        let counts = &mut rows[at].counts;
        counts.attempts += row.started;
        counts.established += row.established.unwrap_or(0);
        counts.refused += refused;
        counts.timed_out += timed_out;
        counts.local_limit += local_limit;
        counts.failed += row.failed - answered(row) - refused - timed_out - local_limit;
        counts.served += row.completed + answered(row);
    }
    if let (Some(row), Some(end)) = (rows.last_mut(), series.last()) {
        row.to_s = end.to_s;
    }
    rows
}

/// Requests that failed for what their responses said.
fn answered(row: &SeriesRow) -> u64 {
    failed(row, Outcome::answered)
}

/// Requests that failed in one of these ways.
fn failed(row: &SeriesRow, is_one: fn(Outcome) -> bool) -> u64 {
    let failed = row.failures.iter().filter(|(name, _)| Outcome::from_name(name).is_some_and(is_one));
    failed.map(|(_, n)| n).sum()
}

/// Whether a datagram came that ended the request so, be it a bad one.
fn comes_as_datagram(outcome: Outcome) -> bool {
    outcome.answered() || matches!(outcome, Outcome::Protocol | Outcome::TooLarge)
}

/// Connections that were established, by protocol.
fn spoken(report: &RunReport) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (&name, &n) in report.workers.iter().flat_map(|worker| &worker.spoke) {
        *all.entry(name.to_owned()).or_default() += n;
    }
    all
}

/// What came of reading the name again, and where connections went.
fn names(report: &RunReport) -> Option<Names> {
    let readings = report.readings.as_ref()?;
    let mut connections = BTreeMap::new();
    for (address, &n) in report.workers.iter().flat_map(|worker| &worker.places) {
        *connections.entry(address.to_string()).or_default() += n;
    }
    Some(Names {
        readings: readings.n,
        failed: readings.failed,
        changed: readings.changed,
        why: readings.why.as_deref().map(clear),
        connections,
    })
}

fn send_cost(report: &RunReport) -> Option<Nanos> {
    let sends: u64 = report.workers.iter().map(|w| w.sends).sum();
    let time: Nanos = report.workers.iter().map(|w| w.send_time).sum();
    (sends > 0).then(|| Nanos(time.0 / sends as i64))
}

fn generator(report: &RunReport, scheme: Scheme) -> Generator {
    let seconds = Nanos::as_secs_f64;
    let stalls = report.workers.iter().enumerate().flat_map(|(i, w)| {
        w.stalls.iter().map(move |s| Stall {
            at_s: seconds(s.at),
            length_s: seconds(s.length),
            worker: i as u32,
            cause: Some(
                match s.doing {
                    headway_live::watch::Doing::Handling => "while handling",
                    headway_live::watch::Doing::Polling => "while polling",
                    headway_live::watch::Doing::Sleeping => "woken late",
                }
                .to_owned(),
            ),
        })
    });
    Generator {
        workers: report
            .workers
            .iter()
            .map(|w| WorkerTime {
                handling: seconds(w.handling),
                polling: seconds(w.polling),
                sleeping: seconds(w.sleeping),
                runqueue_wait: w.runqueue_wait.map(seconds),
                processor: w.processor.map(seconds),
            })
            .collect(),
        stalls: stalls.collect(),
        steal_s: report.stolen.map(seconds),
        send_cost_s: send_cost(report).map(seconds),
        lacked: lacked(report),
        connections_opened: Some(report.workers.iter().map(|w| w.connections).sum()),
        surplus: (scheme == Scheme::Tcp).then(|| report.workers.iter().map(|w| w.surplus).sum()),
        protocols: spoken(report),
        names: names(report),
        datagrams: scheme.is_datagrams().then(|| strays(report)),
        wait: Some(waited(&report.waited, &report.workers.iter().map(|w| w.wakeups).collect::<Vec<_>>())),
        ..Generator::default()
    }
}

/// How workers waited, together.
pub(crate) fn waited(waited: &wait::Waited, wakeups: &[wait::Wakeups]) -> Wait {
    let (idle_loops, running) = match waited.idle_loops {
        wait::IdleLoops::NotUsed => (IdleLoops::NotUsed, None),
        wait::IdleLoops::NotNeeded => (IdleLoops::NotNeeded, None),
        wait::IdleLoops::Running { cores, from } => (IdleLoops::Running, Some((cores, from))),
        wait::IdleLoops::Quota => (IdleLoops::Quota, None),
        wait::IdleLoops::Unavailable => (IdleLoops::Unavailable, None),
    };
    let wakeups = || wakeups.iter();
    let horizons = || wakeups().filter_map(|wakeups| wakeups.horizon);
    let least = horizons().map(|(least, _)| least).min();
    let most = horizons().map(|(_, most)| most).max();
    Wait {
        strategy: match waited.strategy {
            wait::Strategy::Auto => WaitStrategy::Auto,
            wait::Strategy::Sleep => WaitStrategy::Sleep,
            wait::Strategy::Spin => WaitStrategy::Spin,
        },
        dma_latency: match waited.dma_latency {
            wait::DmaLatency::NotUsed => DmaLatency::NotUsed,
            wait::DmaLatency::Held => DmaLatency::Held,
            wait::DmaLatency::NoIdleStates => DmaLatency::NoIdleStates,
            wait::DmaLatency::Missing => DmaLatency::Missing,
            wait::DmaLatency::Refused => DmaLatency::Refused,
            wait::DmaLatency::Failed => DmaLatency::Failed,
        },
        idle_loops,
        idle_loop_cores: running.map(|(cores, _)| cores),
        idle_loops_from_s: running.map(|(_, from)| from.as_secs_f64()),
        realtime: waited.realtime,
        realtime_lost: waited.realtime_lost,
        horizon_s: least.zip(most).map(|(least, most)| [least.as_secs_f64(), most.as_secs_f64()]),
        wakeups: wakeups().map(|wakeups| wakeups.n).sum(),
        late_wakeups: wakeups().map(|wakeups| wakeups.late).sum(),
        late_after_s: waited.late_after.as_secs_f64(),
        busy_neighbours: wakeups().any(|wakeups| wakeups.busy_neighbours),
        cores: headway_live::host::cores(),
    }
}

/// Requests that were not sent for want of something on this machine, by what it was.
fn lacked(report: &RunReport) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (&what, &n) in report.workers.iter().flat_map(|worker| &worker.lacked) {
        *all.entry(what.to_owned()).or_default() += n;
    }
    all
}

fn departures(report: &RunReport) -> Vec<headway_stats::DepartureBin> {
    let workers = report.workers.iter().map(|worker| &worker.departures);
    let bins = workers.flat_map(|d| d.bins.iter().enumerate().map(|(i, bin)| (d.width, i as i64, bin)));
    let of = |(width, i, bin): (Nanos, i64, &headway_live::departures::Bin)| headway_stats::DepartureBin {
        at: Nanos(i * width.0 + width.0 / 2),
        watched: u64::from(bin.watched),
        over: headway_live::departures::LEVELS.into_iter().zip(bin.over.map(u64::from)).collect(),
        by_target: u64::from(bin.by_target),
    };
    bins.map(of).collect()
}

/// Bodies that were decoded, of all workers.
fn decoded(report: &RunReport) -> Option<Decoded> {
    let mut all = Decoded::default();
    for (n, bytes) in report.workers.iter().map(|worker| worker.decoded) {
        all.n += n;
        all.encoded_bytes = all.encoded_bytes.saturating_add(bytes.encoded);
        all.decoded_bytes = all.decoded_bytes.saturating_add(bytes.decoded);
    }
    (all.n > 0).then_some(all)
}

/// Why requests of a worker failed, secrets replaced; of several origins, also whose limit those met that were given up.
fn reasons(worker: &WorkerReport, origins: &[Cleared], redactor: &Redactor) -> FailureReasons {
    let of_outcome = |(outcome, rows): (Outcome, _)| {
        let row = move |row: &headway_live::reasons::FailureReason| FailureReason {
            outcome: outcome.name().to_owned(),
            status: (row.status > 0).then_some(row.status),
            kind: row.kind,
            reason: redactor.clear(&row.reason),
            example: redactor.clear(&row.example),
            n: row.n,
            ..FailureReason::default()
        };
        <[_]>::iter(rows).map(row)
    };
    let given_up = |(&(outcome, origin), &n): (&(Outcome, u16), &u64)| {
        let kind = KnownFailure::of(outcome, 0);
        let (outcome, origin) = (outcome.name().to_owned(), origins.get(usize::from(origin)).cloned());
        (n > 0).then(|| FailureReason { outcome, kind, origin, n, ..FailureReason::default() })
    };
    let given_up = worker.given_up.iter().filter(|_| origins.len() > 1).filter_map(given_up);
    let others = worker.reasons.others().iter().map(|(outcome, &n)| (outcome.name().to_owned(), n));
    let rows = worker.reasons.rows().flat_map(of_outcome).chain(given_up).collect();
    FailureReasons { rows, others: others.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_response_was_received_too() {
        let failures = [
            (Outcome::Status, 1),
            (Outcome::Check, 2),
            (Outcome::Protocol, 4),
            (Outcome::TooLarge, 8),
            (Outcome::Timeout, 16),
            (Outcome::Refused, 32),
        ];
        let row = SeriesRow {
            to_s: 1.0,
            started: 163,
            completed: 100,
            failed: 63,
            failures: failures.map(|(outcome, n)| (outcome.name().to_owned(), n)).into(),
            ..SeriesRow::default()
        };
        let rows = intervals(&[], &[row], Nanos::from_millis(1_000), false);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.sent, row.received, row.lost), (163, Some(115), Some(16)));
    }
}
