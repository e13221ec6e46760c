//! Arguments resolved and checked: everything a run needs, nothing left to guess.

mod audit;
mod bounds;
mod flags;
mod load;
mod otlp;
mod outputs;
mod scenario;
mod search;
mod shard;
mod sim;
mod study;
mod sweep;

pub use audit::AuditSettings;
pub use bounds::{DEFAULT_CONNECT_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_TIMEOUT};
pub use load::Load;
pub use outputs::{Output, Subject, outputs_fit, reports_fit};
pub use scenario::{File, is_named, planned};
pub use search::SearchSettings;
pub use sim::{
    PartSettings, SimCommand, SimSettings, asked, document as simulated_scenario, simulated, study_of_part,
};
pub use study::StudySettings;
pub use sweep::SweepSettings;

use crate::args::{OutputArgs, RunArgs, WaitArgs};
use crate::output;
use crate::repeat::Typed;
use anyhow::{Context as _, Result, anyhow, bail};
use headway_base::Lateness;
use headway_base::Nanos;
use headway_engine::destination::{Address, LONGEST_MEETING};
use headway_engine::live::DEFAULT_LATE;
use headway_engine::otlp::Collector;
use headway_engine::{Keep, Live, Place, RunSpec, Start, wait};
use headway_live::RequestsError;
use headway_live::site;
use headway_live::tls::{TlsError, TlsSetup};
use headway_workload::connect::Tls;
use headway_workload::redact::Redactor;
use headway_workload::scenario::Settings;
use headway_workload::target::{Endpoint, HttpVersion, Scheme};
use headway_workload::{Plan, Shard, Target};
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};

/// A seed that nobody chose.
pub fn new_seed() -> u64 {
    headway_base::random::seed_from(
        headway_live::clock::unix_now() as u64 ^ u64::from(std::process::id()) << 48,
    )
}

/// A run, resolved.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// What it is.
    pub spec: RunSpec,
    /// What plays it.
    pub live: Live,
    /// The load in words and in lengths.
    pub load: Load,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// Where the live view is, and the flag that asks for it.
    pub watch: Option<(site::Place, &'static str)>,
    /// Where metrics go while it goes on.
    pub otlp: Option<Collector>,
    /// The scenario behind it, for `--print-scenario`.
    pub file: File,
}

impl RunSettings {
    /// Resolves what `headway run` was given, for this machine.
    ///
    /// # Errors
    /// Whatever the user can mend, in words.
    pub fn resolve(args: &RunArgs, words: &Typed) -> Result<RunSettings> {
        let settings = RunSettings::planned(args, words)?;
        bounds::fit_here(&settings.spec.limits, &settings.load)?;
        Ok(settings)
    }

    /// The same, whatever this machine allows.
    ///
    /// # Errors
    /// As [`resolve`](RunSettings::resolve).
    pub fn planned(args: &RunArgs, words: &Typed) -> Result<RunSettings> {
        let target = match is_named(&args.target) {
            true => None,
            false => Some(Target::parse(&args.target)?),
        };
        if let Some(cap) = flags::cap_alone(args).filter(|_| target.is_some()) {
            bail!("{}", headway_convert::tools::advice::cap_alone(&words.words, cap));
        }
        let mut file = scenario::asked(args, target.as_ref())?;
        let (mut load, mut scenario) = Load::resolve(&mut file, &args.load)?;
        load.sends()?;
        let rates = args.load.rate.is_some() || args.load.phases.phases.is_some();
        load.in_total = file.is_made() && rates && args.connections.is_some();
        let Some(target) = target.or(scenario.target.take()) else {
            bail!(
                "{}: a run needs `target: http://host:port` (only `headway sim` goes without)",
                args.target
            );
        };
        let limits = bounds::live(&scenario, &mut load)?;
        let max_body = scenario.settings.max_body.unwrap_or(DEFAULT_MAX_BODY);
        let thresholds = scenario::demands(&scenario)?;
        if let Some(aborting) =
            thresholds.iter().find(|t| t.abort_after.is_some() && load.plan.shard != Shard::WHOLE)
        {
            bail!(
                "--shard: a shard judges no threshold, so that '{}' cannot end it early: leave out --abort-on-crossed (`abort:` in the \
                 file); `headway merge` judges the thresholds of all shards together",
                aborting.text
            );
        }
        if let Some(late) = args.late.filter(|_| args.start_at.is_none()) {
            bail!(
                "--late {late} is how long after the time of --start-at a run may join it: give that too, or leave --late out"
            );
        }
        let mut base = load.spec(&scenario, words);
        let mut others = std::mem::take(&mut scenario.origins);
        if scenario.assumes_https && !can_verify(&scenario.settings, &others) {
            others.pop();
        }
        let script = scenario.script.with_seed(load.plan.seed).with_max_body(max_body).reaching(&others);
        let live = Live {
            shown_target: scenario.redactor.clear_url(&target.url()),
            script: Arc::new(script),
            others,
            max_body,
            threads: threads(args.threads, limits.connections)?,
            insecure: scenario.settings.insecure.unwrap_or(false),
            tls: scenario.settings.tls.clone(),
            routes: scenario.settings.routes.clone(),
            proxy_not_used: headway_convert::proxy::passed_over(&target, |name| std::env::var(name).ok())
                .filter(|_| scenario.settings.proxy.is_none()),
            proxy: scenario.settings.proxy.clone(),
            dns_refresh: scenario.settings.dns_refresh,
            http: http_version(&scenario.settings, &target)?,
            streams: scenario.settings.streams,
            interval: interval(args.interval, &target, &load.plan)?,
            answer: scenario.settings.answer.clone(),
            spread: scenario.settings.spread.unwrap_or(false),
            wait: waiting(args.wait, load.lateness)?,
            start: args.start_at.as_deref().map(start).transpose()?,
            late: args.late.unwrap_or(DEFAULT_LATE),
            sources: args.local_addr.iter().flat_map(|sources| sources.iter().copied()).collect(),
            target_is_mine: mine(args.target_is_mine.as_deref(), &target)?,
            on_wait: output::waits,
            on_stuck: output::is_stuck,
            redactor: scenario.redactor.clone(),
            target,
        };
        // What the protocol does not allow is found now, not when the run begins.
        live.requests(&load.plan).map_err(|error| {
            let unfit = error.downcast_ref::<RequestsError>().filter(|_| file.is_made());
            let told = match unfit.filter(|_| !live.target.scheme.is_http()) {
                Some(RequestsError { error, .. }) => format!("{}: {error}", flags::says_what_is_sent(args)),
                None => format!("{error:#}"),
            };
            anyhow!("{}", live.redactor.hide(&told))
        })?;
        streams_fit(&live, &load.plan)?;
        if live.tls != Tls::default() {
            live.tls_setups()?;
        }
        let output = args.output.clone();
        if matches!(live.start, Some(Start::Barrier(_)))
            && (load.plan.shard == Shard::WHOLE || output.out.is_none())
        {
            bail!(
                "--start-at barrier is where the shards of a run meet: give --shard i/N and --out DEST too"
            );
        }
        base.shown.percentiles = output.show.percentiles.clone();
        base.shown.notes = args.notes.kept(&live.redactor)?;
        let spec = RunSpec {
            name: if file.is_made() { live.redactor.clear(&live.target.short_name()) } else { base.name },
            scenario: (!file.is_made()).then_some(scenario.redacted),
            limits,
            thresholds,
            keep: Some(Keep { place: place(&output, load.plan.shard)?, log: !output.no_log }),
            ..base
        };
        let watch = args.watch.place().map(|place| (place, args.watch.flag()));
        let otlp = otlp::collector(&args.otlp, |name| std::env::var(name).ok(), &live.redactor)?;
        Ok(RunSettings { spec, live, load, output, watch, otlp, file })
    }
}

/// Whether there are authorities to verify the last of these origins by: not having any is no reason to refuse a run that may not need them.
fn can_verify(settings: &Settings, origins: &[Target]) -> bool {
    let Some(last) = origins.last() else { return true };
    let setup = TlsSetup::new(last.host(), settings.insecure.unwrap_or(false), &settings.tls);
    !matches!(setup, Err(TlsError::NoRoots(_)))
}

/// Where the results come: with a shard, `--out` is the place of all shards.
fn place(output: &OutputArgs, shard: Shard) -> Result<Place> {
    let Some(out) = &output.out else { return Ok(Place::Own) };
    let address = Address::parse(out)?;
    match (address, shard) {
        (Address::Bucket(_), Shard::WHOLE) => {
            bail!("--out: a bucket is for shards (--shard i/N); name a folder")
        }
        (Address::Folder(path), Shard::WHOLE) => Ok(Place::Folder(path)),
        _ if output.no_log => bail!(
            "--no-log: `headway merge` reads the records of all shards from --out: leave one of the two out"
        ),
        (address, _) => Ok(Place::Destination(address)),
    }
}

/// Whether a connection of plain bytes carries as many requests at once as is asked for. One of HTTP may: the target says so.
fn streams_fit(live: &Live, plan: &Plan) -> Result<()> {
    let (target, most) = (&live.shown_target, live.at_once(plan));
    match live.streams {
        _ if live.target.scheme.is_http() => {}
        Some(asked) if asked > most && most > 1 => bail!(
            "--streams {asked} (`streams:`): a socket to {target} carries at most {most} requests at once: write a number up to {most}, or \
             leave it out"
        ),
        Some(asked) if asked > most => {
            bail!(
                "--streams {asked} (`streams:`): a connection to {target} carries one request at a time: leave it out"
            )
        }
        _ if live.spread && most == 1 => bail!(
            "--spread (`spread:`): a connection to {target} carries one request at a time, so that requests are spread over connections \
             without it: leave it out"
        ),
        _ => {}
    }
    Ok(())
}

/// The host that is its user's to overload, which must be that of the target.
fn mine(host: Option<&str>, target: &Target) -> Result<Option<String>> {
    let Some(host) = host else { return Ok(None) };
    if host.trim_matches(['[', ']']) != target.host() {
        bail!(
            "--target-is-mine {host}: the host of the target is {}, and this must be the same",
            target.host()
        );
    }
    Ok(Some(target.host().to_owned()))
}

/// The intervals in which datagrams or attempts to connect are counted.
fn interval(interval: Option<Nanos>, target: &Target, plan: &Plan) -> Result<Option<Nanos>> {
    const SECOND: i64 = 1_000_000_000;
    let Some(length) = interval else { return Ok(None) };
    if !target.scheme.is_datagrams() && !plan.opens_each() {
        bail!(
            "--interval counts datagrams, or attempts to connect (--new-connections, --connecting), and the target is {}: the report shows \
             the run over time",
            target.scheme.name()
        );
    }
    if length.0 < SECOND || length.0 % SECOND != 0 {
        bail!("--interval {length}: write whole seconds, as in 10s");
    }
    Ok(Some(length))
}

/// All that standard input has, if it is at most that many bytes.
/// It is read once: each of several targets is sent the same.
fn standard_input(most: u64) -> Result<Vec<u8>> {
    static READ: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = match &*read {
        Some(bytes) => bytes.clone(),
        None => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .take(most + 1)
                .read_to_end(&mut bytes)
                .context("standard input cannot be read")?;
            read.insert(bytes).clone()
        }
    };
    if bytes.len() as u64 > most {
        bail!("standard input has more than {most} bytes");
    }
    Ok(bytes)
}

/// The words of a command without secrets that were found when it was read.
fn hidden(typed: &Typed, redactor: &Redactor) -> Typed {
    let words = typed.words.iter().map(|word| redactor.hide(word).into_owned()).collect();
    Typed { words, redactor: redactor.clone() }
}

/// The version that is asked for; an origin of `h2c://` asks for HTTP/2 itself.
fn http_version(settings: &Settings, target: &Target) -> Result<HttpVersion> {
    let version = settings.http.unwrap_or_default();
    if version == HttpVersion::Http1 && target.scheme == Scheme::H2c {
        bail!("{target} is HTTP/2 without TLS, and HTTP/1.1 is asked for: write http:// or leave that out");
    }
    Ok(version)
}

fn threads(asked: Option<u32>, connections: u32) -> Result<Option<u32>> {
    match asked {
        Some(0) => bail!("--threads 0 sends nothing: write a number from 1 up"),
        Some(t) if t > connections => {
            bail!("--threads {t} is more than -c {connections}: each needs a connection")
        }
        Some(t) if t > 1024 => bail!("--threads {t} is too many: write at most 1024"),
        threads => Ok(threads),
    }
}

/// How to wait. A wake-up is late by the lateness that the verdict forgives, where that is given.
///
/// # Errors
/// Flags that exclude each other.
pub fn waiting(args: WaitArgs, lateness: Option<Lateness>) -> Result<wait::Settings> {
    if args.realtime && args.wait == wait::Strategy::Spin {
        bail!(
            "--realtime and --wait spin: a worker that never sleeps would freeze its core; leave one of the two out"
        );
    }
    let default = wait::Settings::default();
    let lateness = lateness.map_or(default.lateness, Lateness::length);
    Ok(wait::Settings { strategy: args.wait, realtime: args.realtime, lateness, ..default })
}

/// Reads `+5s`, `barrier`, `barrier(20m)` or an RFC 3339 time.
fn start(text: &str) -> Result<Start> {
    if text == "barrier" {
        return Ok(Start::Barrier(LONGEST_MEETING));
    }
    if let Some(longest) = text.strip_prefix("barrier(").and_then(|rest| rest.strip_suffix(')')) {
        return Ok(Start::Barrier(
            headway_base::units::parse_time(longest).context("--start-at barrier(TIME)")?,
        ));
    }
    if let Some(ahead) = text.strip_prefix('+') {
        let ahead = headway_base::units::parse_time(ahead).context("--start-at")?;
        return Ok(Start::In(ahead));
    }
    let at: jiff::Timestamp = text.parse().map_err(|_| {
        anyhow!("--start-at '{text}' is not a time: write for example +5s, 2026-01-31T12:00:00Z or barrier")
    })?;
    Ok(Start::AtUnix(at.as_nanosecond()))
}

/// Reads where to listen.
///
/// # Errors
/// Neither `host:port` nor `unix:/path`.
pub fn listen_address(text: &str) -> Result<headway_live::Address> {
    let endpoint = match text.strip_prefix("unix:") {
        Some(path) => Endpoint::Unix(path.to_owned()),
        None => {
            let (host, port) = text.rsplit_once(':').ok_or_else(|| {
                anyhow!("--listen '{text}' is not an address: write for example 127.0.0.1:8080 or unix:/tmp/a.sock")
            })?;
            let port = port
                .parse()
                .map_err(|_| anyhow!("--listen '{text}': '{port}' is not a port from 0 to 65535"))?;
            Endpoint::Tcp { host: host.trim_matches(['[', ']']).to_owned(), port }
        }
    };
    let mut addresses = headway_live::resolve(&endpoint)?;
    Ok(addresses.swap_remove(0))
}
