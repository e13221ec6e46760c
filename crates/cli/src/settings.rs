//! Arguments resolved and checked: everything a run needs, nothing left to guess.

use crate::args::{LoadArgs, OutputArgs, RunArgs};
use crate::rundoc::STEP;
use anyhow::{Context as _, Result, anyhow, bail};
use base::{Nanos, Rate};
use stats::Threshold;
use stats::summary::{PlanPhase, PlanSummary};
use stats::thresholds::check_steps;
use std::fs;
use std::path::{Path, PathBuf};
use workload::target::Endpoint;
use workload::{Limits, Plan, Request, Shard, Target};

/// The rate of a run that names none.
pub const DEFAULT_RATE: Rate = Rate(50.0);
/// The length of a run that names none.
pub const DEFAULT_DURATION: Nanos = Nanos::from_secs(10);

/// A default cap below this is worth a word: it is likely to hold the load back.
const FEW_CONNECTIONS: u32 = 100;

/// More arrivals than anybody means: a month at a million a second is 2.6e12.
const MOST_ARRIVALS: f64 = 1e12;

/// The load, resolved.
#[derive(Clone, Debug)]
pub struct Load {
    /// Who comes when.
    pub plan: Plan,
    /// The rate of the hold.
    pub rate: Rate,
    /// The length of the hold.
    pub hold: Nanos,
    /// How many requests the hold was made to last for, if it was.
    pub requests: Option<u64>,
    /// The ramp before it.
    pub ramp: Nanos,
    /// The warm-up before it.
    pub warmup: Nanos,
    /// What was taken because nothing was said, in words; empty if all was said.
    pub assumed: Vec<String>,
}

impl Load {
    /// Resolves what the load is.
    ///
    /// # Errors
    /// A flag that this version does not play, or values that make no plan; in words for the user.
    pub fn resolve(args: &LoadArgs) -> Result<Load> {
        let later = [
            (args.later.users.is_some(), "-u/--users (a closed workload)"),
            (args.later.think.is_some(), "--think"),
            (args.requests.is_some() && args.rate.is_none(), "-n without -R (fixed work)"),
        ];
        if let Some((_, flag)) = later.iter().find(|(given, _)| *given) {
            bail!(
                "{flag} is not in this version, which plays open workloads: give -R RATE, with -d TIME or -n N"
            );
        }
        let mut assumed = Vec::new();
        let rate = args.rate.unwrap_or_else(|| {
            assumed.push("-R 50/s".to_owned());
            DEFAULT_RATE
        });
        if args.shard != Shard::WHOLE && args.seed.is_none() {
            bail!("--shard {} needs --seed: all shards must draw the same plan", args.shard);
        }
        let seed = args.seed.unwrap_or_else(new_seed);
        let build = |hold: Nanos| {
            let mut plan = Plan::ramp_and_hold(seed, args.arrivals, rate, args.ramp, args.warmup, hold);
            plan.shard = args.shard;
            plan
        };
        let hold = match (args.requests, args.duration) {
            (None, duration) => duration.unwrap_or_else(|| {
                assumed.push("-d 10s".to_owned());
                DEFAULT_DURATION
            }),
            (Some(0), _) => bail!("-n 0 asks for nothing: write a number from 1 up"),
            (Some(n), duration) => {
                let hold = hold_of_requests(n, rate, build)?;
                duration.map_or(hold, |d| d.min(hold))
            }
        };
        if hold <= Nanos::ZERO {
            bail!("-d 0s asks for nothing: write a time above zero");
        }
        let plan = build(hold);
        if plan.profile.total() > MOST_ARRIVALS {
            bail!("{} for {hold} is more than 1e12 arrivals: lower the rate or the duration", rate);
        }
        Ok(Load { plan, rate, hold, requests: args.requests, ramp: args.ramp, warmup: args.warmup, assumed })
    }

    /// The plan as the summary shows it, without what only a run knows.
    pub fn summary(&self) -> PlanSummary {
        let plan = &self.plan;
        let mut at = Nanos::ZERO;
        let phases = plan.profile.phases().map(|p| {
            let warmup = at < plan.measured_from;
            at += p.length;
            PlanPhase { length_s: p.length.as_secs_f64(), from: p.from.0, to: p.to.0, warmup }
        });
        PlanSummary {
            version: Some(workload::plan::VERSION),
            process: plan.process.to_string(),
            gap_cov: Some(plan.process.thinned_cov(plan.shard.count())),
            rate: Some(self.rate.0),
            requests: self.requests,
            duration_s: Some(self.hold.as_secs_f64()),
            warmup_s: Some(self.warmup.as_secs_f64()),
            ramp_s: Some(self.ramp.as_secs_f64()),
            phases: phases.collect(),
            shard: (plan.shard != Shard::WHOLE).then(|| plan.shard.to_string()),
            ..PlanSummary::default()
        }
    }
}

/// How long the hold must be for exactly `n` requests of the whole plan to be due in it.
fn hold_of_requests(n: u64, rate: Rate, build: impl Fn(Nanos) -> Plan) -> Result<Nanos> {
    let expected = n as f64 / rate.0;
    if n as f64 > 1e9 {
        bail!("-n {n} is more than a billion: give -d TIME instead");
    }
    let fixed = build(Nanos::from_secs_f64(expected));
    if fixed.process == workload::Process::PoissonFixedN {
        return Ok(Nanos::from_secs_f64(expected));
    }
    // Far enough that the n-th arrival is within it; gaps may be bursty, hence the doubling.
    let mut reach = 1.5 * expected + 100.0 / rate.0;
    loop {
        let plan = build(Nanos::from_secs_f64(reach));
        let from = plan.measured_from;
        let mut due = plan.arrivals_of(Shard::WHOLE).filter(|a| a.intended >= from);
        if let Some(last) = due.nth(n as usize - 1) {
            // Instants are rounded to the nanosecond, so the hold ends one after the last of them.
            return Ok(last.intended - from + Nanos(1));
        }
        reach *= 2.0;
    }
}

/// A seed that nobody chose.
pub fn new_seed() -> u64 {
    base::random::seed_from(live::clock::unix_now() as u64 ^ u64::from(std::process::id()) << 48)
}

/// A run, resolved.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Where to.
    pub target: Target,
    /// What every arrival asks for.
    pub request: Request,
    /// Who comes when.
    pub load: Load,
    /// Bounds of the whole run.
    pub limits: Limits,
    /// Largest body of an answer, bytes.
    pub max_body: u64,
    /// Worker threads; none: one if the target is this machine, else cores - 1.
    pub threads: Option<u32>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// When to begin; none: at once.
    pub start: Option<Start>,
    /// What is demanded of the numbers.
    pub thresholds: Vec<Threshold>,
    /// Where thresholds and load rules go as test cases.
    pub junit: Option<PathBuf>,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// The command line, secrets replaced.
    pub words: Vec<String>,
}

/// When a run begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// In so long.
    In(Nanos),
    /// At this instant, nanoseconds since the Unix epoch.
    AtUnix(i128),
}

impl RunSettings {
    /// Resolves what `headway run` was given.
    ///
    /// # Errors
    /// Whatever the user can mend, in words.
    pub fn resolve(args: &RunArgs, words: &[String]) -> Result<RunSettings> {
        if looks_like_scenario(&args.target) {
            bail!("'{}' is a scenario file, which this version does not play yet: give a URL", args.target);
        }
        let target = Target::parse(&args.target)?;
        let mut load = Load::resolve(&args.load)?;
        let connections = match args.connections {
            None => {
                let default = live::host::default_connections();
                if default < FEW_CONNECTIONS {
                    let limit = live::host::descriptor_limit();
                    load.assumed
                        .push(format!("-c {default} (this process may open {limit} files: raise ulimit -n)"));
                }
                default
            }
            Some(0) => bail!("-c 0 lets nothing through: write a number from 1 up"),
            Some(c) => u32::try_from(c).ok().filter(|&c| c <= 10_000_000).ok_or_else(|| {
                anyhow!("-c {c} is more than this machine could ever open: write at most 10m")
            })?,
        };
        let room = live::host::descriptor_limit().saturating_sub(50);
        if args.connections.is_some() && u64::from(connections) > room {
            bail!(
                "-c {connections} needs more descriptors than the {room} this process may still open: lower -c, or raise ulimit -n"
            );
        }
        if load.plan.shard.split(connections) == 0 {
            bail!(
                "-c {connections} leaves no connection for shard {}: write at least the number of shards",
                load.plan.shard
            );
        }
        let threads = match args.threads {
            Some(0) => bail!("--threads 0 sends nothing: write a number from 1 up"),
            Some(t) if t > connections => {
                bail!("--threads {t} is more than -c {connections}: each needs a connection")
            }
            Some(t) if t > 1024 => bail!("--threads {t} is too many: write at most 1024"),
            threads => threads,
        };
        for (flag, time) in [("--timeout", args.timeout), ("--connect-timeout", args.connect_timeout)] {
            if time <= Nanos::ZERO {
                bail!("{flag} 0s gives nobody time to answer: write a time above zero");
            }
        }
        let limits = Limits {
            connections,
            max_wait: args.max_wait.unwrap_or(args.timeout),
            timeout: args.timeout,
            connect_timeout: args.connect_timeout,
        };
        let settings = RunSettings {
            request: request(args, &target)?,
            target,
            load,
            limits,
            max_body: args.max_body,
            threads,
            insecure: args.insecure,
            start: args.start_at.as_deref().map(start).transpose()?,
            thresholds: thresholds(args)?,
            junit: args.demands.junit.clone(),
            output: args.output.clone(),
            words: words.to_vec(),
        };
        // What HTTP does not allow is found now, not when the run begins.
        settings.wire_request()?;
        Ok(settings)
    }

    /// A short name for the run.
    pub fn name(&self) -> String {
        self.target.short_name()
    }

    /// The request as the wire protocol has it.
    ///
    /// # Errors
    /// A method, header or path that HTTP does not allow.
    pub fn wire_request(&self) -> Result<wire::Request> {
        let default_port = if self.target.tls { 443 } else { 80 };
        let (host, port) = match &self.target.endpoint {
            Endpoint::Tcp { host, port } => (host.as_str(), Some(*port).filter(|&p| p != default_port)),
            Endpoint::Unix(_) => (self.target.authority.as_str(), None),
        };
        let mut builder = wire::Request::builder(&self.request.method, host, &self.request.path).port(port);
        for (name, value) in &self.request.headers {
            builder = builder.header(name, value);
        }
        if !self.request.body.is_empty() {
            builder = builder.body(self.request.body.clone());
        }
        Ok(builder.build()?)
    }
}

/// A file by its name or its being there; a URL otherwise.
fn looks_like_scenario(text: &str) -> bool {
    let yaml = [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
    yaml && !text.contains("://")
}

fn request(args: &RunArgs, target: &Target) -> Result<Request> {
    let body = match (&args.body, &args.body_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(file)) => {
            fs::read(file).with_context(|| format!("--body-file {} cannot be read", file.display()))?
        }
        (None, None) => Vec::new(),
    };
    let default_method = if body.is_empty() { "GET" } else { "POST" };
    let method = args.method.clone().unwrap_or_else(|| default_method.to_owned());
    let mut headers = Vec::with_capacity(args.headers.len() + 1);
    for header in &args.headers {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            // What follows the first word may be a secret.
            let (first, more) =
                header.trim().split_once(' ').map_or((header.as_str(), ""), |(f, _)| (f, " ..."));
            anyhow!("-H '{first}{more}' is not a header: write 'Name: value'")
        })?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let given = |name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
    if let Some(value) = target.authorization.clone().filter(|_| !given("authorization")) {
        headers.push(("Authorization".to_owned(), value));
    }
    Ok(Request { method, path: target.path.clone(), headers, body })
}

/// The thresholds, all of them ending the run if any is to.
fn thresholds(args: &RunArgs) -> Result<Vec<Threshold>> {
    let mut thresholds = args.demands.thresholds.clone();
    check_steps(&thresholds, &[STEP.to_owned()]).map_err(anyhow::Error::msg)?;
    for threshold in &mut thresholds {
        threshold.abort_after = args.abort_on_crossed;
    }
    Ok(thresholds)
}

/// Reads `+5s` or an RFC 3339 time.
fn start(text: &str) -> Result<Start> {
    if let Some(ahead) = text.strip_prefix('+') {
        let ahead = base::units::parse_time(ahead).context("--start-at")?;
        return Ok(Start::In(ahead));
    }
    let at: jiff::Timestamp = text.parse().map_err(|_| {
        anyhow!("--start-at '{text}' is not a time: write for example +5s or 2026-01-31T12:00:00Z")
    })?;
    Ok(Start::AtUnix(at.as_nanosecond()))
}

/// The file that `--json` or another flag names must not be there yet: results are evidence.
///
/// # Errors
/// It is there.
pub fn must_be_new(flag: &str, path: Option<&PathBuf>) -> Result<()> {
    match path {
        Some(path) if path.as_os_str() != "-" && path.exists() => {
            bail!("{flag} {} exists and is never overwritten; choose another name", path.display())
        }
        _ => Ok(()),
    }
}

/// A folder for results must not be there yet, or be empty.
///
/// # Errors
/// It holds something, or is a file.
pub fn must_be_empty(flag: &str, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let taken = path.exists() && !fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if taken {
        bail!(
            "{flag} {} exists, is not empty, and is never overwritten; choose another name",
            path.display()
        );
    }
    Ok(())
}

/// Reads where to listen.
///
/// # Errors
/// Neither `host:port` nor `unix:/path`.
pub fn listen_address(text: &str) -> Result<live::Address> {
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
    let mut addresses = live::resolve(&endpoint)?;
    Ok(addresses.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;

    fn resolve(line: &str) -> Result<RunSettings> {
        let args = Args::try_parse_from(["headway", "run"].into_iter().chain(line.split(' ')))?;
        let Command::Run(run) = args.command else { bail!("not a run") };
        RunSettings::resolve(&run, &["headway".to_owned(), "run".to_owned()])
    }

    fn error(line: &str) -> String {
        format!("{:#}", resolve(line).expect_err(line))
    }

    #[test]
    fn a_bare_url_says_what_it_assumes() {
        let settings = resolve("http://127.0.0.1:1/x").unwrap();
        assert_eq!(settings.load.assumed, ["-R 50/s", "-d 10s"]);
        assert_eq!(settings.load.plan.end(), Nanos::from_secs(10));
        assert_eq!((settings.request.method.as_str(), settings.request.path.as_str()), ("GET", "/x"));
    }

    #[test]
    fn aliases_of_other_tools_are_understood() {
        for line in ["h -R 200 -z 3s", "h -q 200/s -d 3s", "h --qps 200 -d 3s", "h --rps 12k/1m -d 3s"] {
            let load = resolve(line).unwrap().load;
            assert_eq!((load.rate, load.hold), (Rate(200.0), Nanos::from_secs(3)), "{line}");
        }
    }

    #[test]
    fn n_requests_at_a_rate_are_exactly_n() {
        for process in ["poisson", "constant", "uniform", "gamma(3)", "poisson-fixed-n"] {
            let line = format!("h -R 100 -n 250 --warmup 1s --seed 4 --arrivals {process}");
            let plan = resolve(&line).unwrap().load.plan;
            let n = plan.arrivals().filter(|a| a.intended >= plan.measured_from).count();
            // Of a fixed number it is the whole plan that is fixed: warm-up and hold.
            let expected = if process == "poisson-fixed-n" { plan.arrivals().count() - 350 + n } else { 250 };
            assert_eq!(n, expected, "{process}");
        }
        assert_eq!(resolve("h -R 100 -n 500 -d 2s").unwrap().load.hold, Nanos::from_secs(2));
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        assert!(error("h -u 10").contains("not in this version"));
        assert!(error("h -n 10").contains("-n without -R"));
        assert!(error("bars.yaml").contains("scenario file"));
        assert!(error("h -R 0").contains("a rate"));
        assert!(error("h -d 5").contains("a time"));
        assert!(error("h -d 0s").contains("above zero"));
        assert!(error("h -c 0").contains("from 1 up"));
        assert!(error("h -c 9m").contains("ulimit"));
        assert!(error("h -c 2 --threads 3").contains("each needs a connection"));
        assert!(error("h -c 1 --shard 1/2 --seed 1").contains("no connection for shard 1/2"));
        assert!(error("h --shard 0/2").contains("needs --seed"));
        assert!(error("h -H nonsense").contains("Name: value"));
        assert!(error("h --start-at noon").contains("+5s"));
        assert!(error("h --seed 9007199254740992").contains("2^53"));
        assert!(error("h --seed x").contains("a whole number"));
        assert!(error("h --arrivals posson").contains("did you mean poisson?"));
        assert!(error("h -R 1g -d 1000h").contains("1e12"));
    }

    #[test]
    fn thresholds_are_read_and_end_the_run_only_if_asked() {
        let line =
            "h --threshold p(99)<100 --threshold failed:rate<1% --threshold response{step:request}:avg<5ms";
        let settings = resolve(line).unwrap();
        let texts: Vec<&str> = settings.thresholds.iter().map(|t| t.text.as_str()).collect();
        assert_eq!(texts, ["p(99)<100", "failed:rate<1%", "response{step:request}:avg<5ms"]);
        assert!(settings.thresholds.iter().all(|t| t.abort_after.is_none()));
        let delay = |flag: &str| {
            let settings = resolve(&format!("--threshold p(99)<100 {flag} h")).unwrap();
            assert_eq!(settings.target.host(), "h");
            settings.thresholds[0].abort_after
        };
        assert_eq!(delay("--abort-on-crossed"), Some(Nanos::ZERO));
        assert_eq!(delay("--abort-on-crossed=10s"), Some(Nanos::from_secs(10)));
        assert!(error("h --abort-on-crossed").contains("--threshold"));
        assert!(error("h --threshold p(99)<x").contains("column 7: 'x' is not a time"));
        assert!(error("h --threshold p99<100").contains("'p99' is written p(99)"));
        assert!(error("h --threshold response{step:requst}:avg<5ms").contains("did you mean request?"));
    }

    #[test]
    fn bodies_and_credentials_shape_the_request() {
        let settings = resolve("http://me:pw@h/ -b x=1 -H X-A:b").unwrap();
        assert_eq!(settings.request.method, "POST");
        let rendered = settings.wire_request().unwrap();
        let text = String::from_utf8_lossy(rendered.bytes()).into_owned();
        assert!(text.contains("Authorization: Basic bWU6cHc="), "{text}");
        assert!(text.contains("X-A: b") && text.ends_with("\r\n\r\nx=1"), "{text}");
        assert!(error("h -m GE,T").contains("GE,T"));
    }
}
