//! The command line as typed. Nothing is checked here that needs more than the one word; see [`crate::settings`].

mod audit;
mod compare;
mod convert;
mod doctor;
mod otlp;
mod place;
mod reports;
mod scenario;
mod search;
mod secrets;
mod sim;
mod watch;

pub use audit::{AuditArgs, AuditOutput, Dispersion, LabArgs, Quantiles, Shift, Stamps};
pub use compare::{BaselineArgs, CompareArgs, DemandArgs, Note, NoteArgs};
pub use convert::{FromCurlArgs, FromHarArgs, FromJmxArgs, FromOpenapiArgs, TranslateArgs};
pub use doctor::DoctorArgs;
pub use otlp::OtlpArgs;
pub use place::{Beside, OutOfPlace};
pub use reports::{ReportFiles, Wanted, names};
pub use scenario::{ScenarioArgs, Setting};
pub use search::{Named, SearchArgs};
pub use secrets::SecretArgs;
pub use sim::{MOST_POINTS, SimArgs, Sweep};
pub use watch::WatchArgs;

use clap::{Args as ClapArgs, Parser, Subcommand};
use headway_base::units::{self, UnitError};
use headway_base::{Lateness, Nanos, Rate, dist};
use headway_engine::wait::Strategy;
use headway_live::serve::BACKLOG;
use headway_stats::Threshold;
use headway_workload::arrivals::{Arriving, TraceOf};
use headway_workload::plan::Connections;
use headway_workload::redact::{Cleared, Redactor};
use headway_workload::{Shard, arrivals};
use std::net::IpAddr;
use std::path::PathBuf;

/// Load tests with honest load.
#[derive(Parser, Debug)]
#[command(
    name = "headway",
    version = env!("HEADWAY_VERSION"),
    about = "Run, audit and report load tests whose load is what it claims to be",
    after_help = crate::exit::help()
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Whether it is the name of a verb, or of the help on them.
pub fn is_verb(name: &str) -> bool {
    let command = <Args as clap::CommandFactory>::command();
    name == "help"
        || command
            .get_subcommands()
            .any(|verb| verb.get_name() == name || verb.get_all_aliases().any(|alias| alias == name))
}

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Start a target here, send it 10 s of Poisson load, and report: the newcomer's first command
    Demo(DemoArgs),
    /// Send load to a target and report
    Run(Box<RunArgs>),
    /// Serve the calibrated target: known service law, capacity, faults; logs its arrivals
    Serve(ServeArgs),
    /// Print the intended arrivals as CSV: arrival,intended_s,step
    Plan(Box<PlanArgs>),
    /// Judge any tool's results: was this load what it claims to be?
    Audit(Box<AuditArgs>),
    /// Report a recorded run again, or export its records
    Report(ReportArgs),
    /// Compare runs: is it slower? Differences with confidence intervals; of recorded runs, or live in rounds
    Compare(Box<CompareArgs>),
    /// Merge the shards of one run, or of one study, into one, and report it
    Merge(MergeArgs),
    /// Play a scenario against a model of the target, in virtual time
    Sim(Box<SimArgs>),
    /// Check whether this machine can send a load: takes the arguments of run, sends nothing to the target, changes nothing
    Doctor(Box<DoctorArgs>),
    /// Find the highest rate at which every threshold holds, with its confidence interval
    Search(Box<SearchArgs>),
    /// Repeat a published experiment, its figures beside the published ones
    Lab(LabArgs),
    /// Print a curl command as a scenario file
    FromCurl(FromCurlArgs),
    /// Print a browser's recording (HAR) as a scenario file
    FromHar(FromHarArgs),
    /// Print an OpenAPI document as a scenario file
    FromOpenapi(FromOpenapiArgs),
    /// Print a test plan of JMeter (.jmx) as a scenario file
    FromJmx(FromJmxArgs),
    /// Print another load tool's command as one of headway run
    Translate(TranslateArgs),
    /// Explain a word of reports: a verdict, a finding, a number, an exit code (exit-98); without a word, list them
    Explain {
        /// The word
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Print the JSON Schema of scenario files, for editors
    Schema,
    /// Print the completions of a shell: source <(headway completions bash)
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// One of the senders of `lab poisson-udp`, which starts them itself
    #[command(name = headway_live::senders::VERB, hide = true)]
    DatagramSender {
        /// Where to
        to: std::net::SocketAddr,
        /// yields, or the mean of its sleeps
        #[arg(value_parser = headway_live::senders::Pace::parse)]
        pace: headway_live::senders::Pace,
        /// Of its sleeps
        seed: u64,
    },
    /// Write man pages, one for each verb, into a folder
    Man {
        /// The folder; older man pages in it are replaced
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// What the load is: shared by `run` and `plan`.
#[derive(ClapArgs, Debug, Clone)]
pub struct LoadArgs {
    /// Arrivals per second, over all threads and connections: 200, 10k, 100/1s, 30/1m [default: 50/s]
    #[arg(short = 'R', long, short_alias = 'q', aliases = ["qps", "rps"], allow_negative_numbers = true, value_parser = given(units::parse_rate), value_name = "RATE")]
    pub rate: Option<Given<Rate>>,
    /// How long to hold the rate; ramp and warm-up come before it [default: 10s]
    #[arg(short = 'd', long, short_alias = 'z', allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub duration: Option<Given<Nanos>>,
    /// Number of requests. With -R: run until this many have been sent. Without: fixed work, as fast as -c users make them
    #[arg(short = 'n', long, allow_negative_numbers = true, value_parser = given(units::parse_count), value_name = "N")]
    pub requests: Option<Given<u64>>,
    /// Number of virtual users, each waiting for a response before its next request: a closed workload (instead of -R)
    #[arg(short = 'u', long, alias = "vus", allow_negative_numbers = true, value_parser = given(units::parse_count), value_name = "N")]
    pub users: Option<Given<u64>>,
    /// Think time of each user before each request, as a distribution [default: none]
    #[arg(help_heading = "Load", long, value_name = "DIST", help = think_help())]
    pub think: Option<String>,
    /// Number of requests, all due at the start: fixed work
    #[arg(help_heading = "Load", long, allow_negative_numbers = true, value_parser = given(units::parse_count), value_name = "N")]
    pub at_once: Option<Given<u64>>,
    /// Open a new connection for each request, and close it after the response; only with HTTP/1.1 and tcp://
    #[arg(help_heading = "Load", long, conflicts_with = "pool")]
    pub new_connections: bool,
    /// Keep that many sockets connecting, however many connections the target accepts (instead of -R): one that is established sends
    /// its request, one that is not is given up after --connect-timeout [then 500ms by default], and another takes its place
    #[arg(help_heading = "Load", long, allow_negative_numbers = true, value_parser = given(units::parse_count), value_name = "N", conflicts_with = "pool")]
    pub connecting: Option<Given<u64>>,
    /// Connection pooling: one shared pool, or one connection per user [default: per-user]
    #[arg(help_heading = "Load", long, value_parser = given(parse_pool), value_name = "shared|per-user")]
    pub pool: Option<Given<Connections>>,
    /// The arrival process
    #[arg(help_heading = "Load", long, value_parser = given(Arriving::parse), value_name = "PROCESS", help = arrivals_help())]
    pub arrivals: Option<Given<Arriving>>,
    /// Seed of every random draw [default: a new one, printed]
    #[arg(help_heading = "Load", long, value_parser = parse_seed, allow_negative_numbers = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Rise linearly to the rate over this time first (sent, not counted)
    #[arg(help_heading = "Load", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub ramp: Option<Given<Nanos>>,
    /// Send at the rate for this time before measuring (sent, not counted)
    #[arg(help_heading = "Load", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub warmup: Option<Given<Nanos>>,
    /// What takes the place of -R and -d.
    #[command(flatten)]
    pub phases: PhasesArgs,
    /// Send only shard i of N of the plan (i from 0): one of N machines. auto: as the variables of Kubernetes, Slurm, Open MPI or
    /// AWS Batch say
    #[arg(help_heading = "Load", long, value_parser = Part::parse, default_value = "0/1", value_name = "i/N|auto")]
    pub shard: Part,
}

/// A rate that changes over time.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct PhasesArgs {
    /// How the rate goes over time (instead of -R and -d), with commas between phases: '30s@50, 1m@200' holds 50/s for 30 s, then 200/s for
    /// 1 min. A phase may also be written as in a scenario: '{ ramp: 30s, to: 200/s, warmup: true }, 1m@200'
    #[arg(help_heading = "Load", long, value_parser = clap::builder::NonEmptyStringValueParser::new(), value_name = "PHASES")]
    pub phases: Option<String>,
}

/// The part of a plan that a machine sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// This one.
    Shard(Shard),
    /// As the environment says.
    Auto,
}

impl Part {
    /// All of it.
    pub const WHOLE: Part = Part::Shard(Shard::WHOLE);

    /// Reads `i/N` or `auto`.
    ///
    /// # Errors
    /// Neither of them.
    pub fn parse(text: &str) -> Result<Part, UnitError> {
        match text.trim() {
            "auto" => Ok(Part::Auto),
            text => Shard::parse(text).map(Part::Shard).map_err(|error| {
                UnitError::new(text, format!("{}; or auto, as the environment says", error.wanted))
            }),
        }
    }
}

/// A value of a flag, and the text that it was given as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given<T> {
    /// As typed.
    pub text: String,
    /// What it is.
    pub value: T,
}

/// A parser that keeps the text.
fn given<T>(
    parse: impl Fn(&str) -> Result<T, UnitError> + Clone,
) -> impl Fn(&str) -> Result<Given<T>, UnitError> + Clone {
    move |text| Ok(Given { text: text.trim().to_owned(), value: parse(text)? })
}

/// What is demanded of the numbers.
#[derive(ClapArgs, Debug, Clone, Default)]
#[command(next_help_heading = "Thresholds")]
pub struct ThresholdArgs {
    /// Exit with code 99 unless this threshold holds (repeatable). k6's grammar: 'p(99)<100' (milliseconds,
    /// or with a unit), 'failed: rate<1%', 'service: avg<5ms', 'response{step:NAME}: p(95)<200'
    #[arg(long = "threshold", value_name = "THRESHOLD")]
    pub thresholds: Vec<Threshold>,
}

impl ThresholdArgs {
    /// The thresholds past that gate, on steps with these labels.
    pub fn past(&self, gate: &Redactor, labels: &[Cleared]) -> impl Iterator<Item = Threshold> {
        self.thresholds.iter().map(move |threshold| threshold.past(gate, labels))
    }
}

/// What is tolerated of the generator.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct ToleranceArgs {
    /// Permit that the generator's own delays move a number by this share: effect=10% [default: 5%]. Or judge lateness itself,
    /// whatever it did to the numbers, and forgive it up to this: lateness=1ms. Or permit that this share of the plan stays unsent, for
    /// want of a free connection or otherwise: sent-share=5% [default: 1%]
    #[arg(help_heading = "Limits", long = "tolerance", value_parser = Tolerance::parse, value_name = "NAME=VALUE")]
    pub tolerances: Vec<Tolerance>,
}

/// One tolerance, `NAME=VALUE`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// `effect`: by how much the generator's own delays may move a number.
    Effect(f64),
    /// `lateness`: the longest lateness that is forgiven, where lateness itself is judged.
    Lateness(Lateness),
    /// `sent-share`: the share of the plan that may stay unsent.
    SentShare(f64),
}

impl Tolerance {
    /// Reads `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name, or a value that it cannot have; both name what is accepted.
    pub fn parse(text: &str) -> Result<Tolerance, UnitError> {
        match text.split_once('=') {
            Some((name, value)) if name.trim() == "effect" => {
                units::parse_share(value).map(Tolerance::Effect)
            }
            Some((name, value)) if name.trim() == "lateness" => value.parse().map(Tolerance::Lateness),
            Some((name, _)) if name.trim() == "time-scale" => {
                let instead = "a tolerance any more: what lateness did to the numbers is judged (effect=5%); write lateness=1ms to \
                               judge lateness itself";
                Err(UnitError::new(text, instead))
            }
            Some((name, value)) if name.trim() == "sent-share" => {
                units::parse_share(value).map(Tolerance::SentShare)
            }
            _ => Err(UnitError::new(text, "a tolerance: write effect=5%, lateness=1ms or sent-share=5%")),
        }
    }

    /// Reads `lateness=VALUE`, the only one that an audit has.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse_lateness(text: &str) -> Result<Lateness, UnitError> {
        match Tolerance::parse(text) {
            Ok(Tolerance::Lateness(lateness)) => Ok(lateness),
            Ok(Tolerance::SentShare(_) | Tolerance::Effect(_)) => {
                Err(UnitError::new(text, "a tolerance of an audit: write lateness=1ms"))
            }
            Err(error) => Err(error),
        }
    }
}

/// `headway run`.
#[derive(ClapArgs, Debug, Clone)]
pub struct RunArgs {
    /// Where to: http://host:port/path, https://..., h2c://..., unix:/path/to/socket:/path, tcp://host:port, udp://host:port or dns://server/name?type=A; or a scenario file, NAME.yaml. Also a
    /// file of lines 'GET http://host/path', as vegeta's targets; - is either on standard input
    #[arg(value_name = "URL|SCENARIO")]
    pub target: String,
    /// What the load is.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Play a short run (-d, 10s) at each of these rates, one after the other, and draw percentiles and goodput against the rate: from..to/step
    /// (rate=100..1000/100) or a list (rate=50,100,200); users=1,2,4 of closed users
    #[arg(help_heading = "Load", long, value_parser = Sweep::parse, value_name = "rate=SPEC")]
    pub sweep: Option<Sweep>,
    /// Connection cap: most connections open at once, over all threads [default: min(10000, (descriptors - 200)/2)]
    #[arg(short = 'c', long, allow_negative_numbers = true, value_parser = given(units::parse_count), value_name = "N")]
    pub connections: Option<Given<u64>>,
    /// Speak only HTTP/2: negotiated with TLS, by prior knowledge without [default: with TLS as the target prefers, else HTTP/1.1]
    #[arg(help_heading = "HTTP", long, conflicts_with = "http1")]
    pub http2: bool,
    /// Speak only HTTP/1.1
    #[arg(help_heading = "HTTP", long = "http1.1")]
    pub http1: bool,
    /// Most requests in flight on one HTTP/2 connection, within the target's own limit, or on one UDP or DNS socket [default: 100; 65536 over UDP]
    #[arg(help_heading = "HTTP", long, allow_negative_numbers = true, value_parser = given(units::parse_count), value_name = "N")]
    pub streams: Option<Given<u64>>,
    /// Where a response over tcp:// ends (until:'\r\n', bytes:16, length:4, resp, close, none), or which datagram it is over udp://
    /// (match:OFFSET+WIDTH, next, none)
    #[arg(help_heading = "TCP and UDP", long, value_name = "ANSWER")]
    pub answer: Option<String>,
    /// Count by intervals of this length (whole seconds): datagrams sent, received, lost, late, duplicated and reordered; or, with
    /// --new-connections and --connecting, attempts to connect and what became of them
    #[arg(help_heading = "TCP and UDP", long, allow_negative_numbers = true, value_parser = units::parse_time, value_name = "TIME")]
    pub interval: Option<Nanos>,
    /// Expect no response: a request is complete when the system has taken it; --answer none
    #[arg(help_heading = "TCP and UDP", long, conflicts_with = "answer")]
    pub one_way: bool,
    /// Open connections up to -c before one carries several requests at once (HTTP/2, UDP)
    #[arg(help_heading = "HTTP", long)]
    pub spread: bool,
    /// The host of the target, exactly as in its URL: says that it is yours to overload. --connecting needs it for a target whose address
    /// is neither private nor this machine's
    #[arg(help_heading = "Limits", long, value_name = "HOST")]
    pub target_is_mine: Option<String>,
    /// Addresses of this machine to connect from, in turn: A,B,... or a range, A-B. Each has ports of its own [default: as the system chooses]
    #[arg(help_heading = "Machine", long, value_parser = parse_sources, value_name = "ADDR,...")]
    pub local_addr: Option<Sources>,
    /// Worker threads [default: 1 if the target is this machine, else cores - 1]
    #[arg(help_heading = "Machine", long, value_name = "N")]
    pub threads: Option<u32>,
    /// How to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Start at this time (RFC 3339), after a delay (+5s), or when all shards are there (barrier, which waits for 10 minutes at most; barrier(20m) for 20). After that time the plan is joined where it is
    #[arg(help_heading = "Machine", long, value_name = "TIME|+5s|barrier")]
    pub start_at: Option<String>,
    /// How long after the time of --start-at the plan may still be joined; later, nothing is sent and the exit code is 75 [default: 10s]
    #[arg(help_heading = "Machine", long, allow_negative_numbers = true, value_parser = units::parse_time, value_name = "TIME")]
    pub late: Option<Nanos>,
    /// A header, 'Name: value' (repeatable)
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// The method [default: GET, or POST with a body]
    #[arg(short = 'm', long, short_alias = 'X', alias = "request", value_name = "METHOD")]
    pub method: Option<String>,
    /// User and password for Basic authentication, as the header Authorization
    #[arg(help_heading = "Request", long, value_name = "NAME:PASSWORD")]
    pub user: Option<String>,
    /// The body (also --data): text, @FILE, or - for standard input
    #[arg(short = 'b', long, alias = "data", value_name = "TEXT|@FILE|-", conflicts_with = "body_file")]
    pub body: Option<String>,
    /// The body, from a file
    #[arg(help_heading = "Request", long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,
    /// Record the events of each response: chunks, each piece of the body that one read brings
    #[arg(help_heading = "Request", long, value_name = "KIND")]
    pub stream: Option<String>,
    /// Follow redirects, up to 10 of one request, to origins (scheme, host and port) that the run names; each is a request of its own
    #[arg(help_heading = "Request", short = 'L', long)]
    pub location: bool,
    /// Another origin that redirects and extracted links may lead to, as in `https://www.example.com` (repeatable)
    #[arg(help_heading = "Request", long, value_name = "URL")]
    pub origin: Vec<String>,
    /// Send a header traceparent (W3C Trace Context) with every request, by the seed: one trace for each session, in the column trace_id of
    /// the log
    #[arg(help_heading = "Request", long)]
    pub traceparent: bool,
    /// Accept any TLS certificate
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// The certificate of this client, for a target that asks for one: a PEM file, which may hold the key, too
    #[arg(help_heading = "Connections", long, value_name = "FILE")]
    pub cert: Option<String>,
    /// The key of --cert: a PEM file [default: the one in the file of the certificate]
    #[arg(help_heading = "Connections", long, value_name = "FILE")]
    pub key: Option<String>,
    /// Trust the authorities of this PEM file in place of the system's
    #[arg(help_heading = "Connections", long, value_name = "FILE")]
    pub cacert: Option<String>,
    /// The name to indicate in TLS, which the target's certificate must have [default: the host of the URL]
    #[arg(help_heading = "Connections", long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Resume TLS sessions: connections go on with what an earlier one agreed on, as those of users who come back
    #[arg(help_heading = "Connections", long)]
    pub tls_resumption: bool,
    /// Resolve the name of the target (or of the proxy) again at this interval, at least 1s: new connections go to its addresses in turn
    /// [default: resolve it once, and use one address]
    #[arg(help_heading = "Connections", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub dns_refresh: Option<Given<Nanos>>,
    /// Go through this HTTP proxy: `http://[NAME:PASSWORD@]HOST:PORT`. Requests without TLS are sent to it with their full URL; others go
    /// through a tunnel (CONNECT). Proxies that the environment names are not used
    #[arg(help_heading = "Connections", long, value_name = "URL")]
    pub proxy: Option<String>,
    /// Connect to HOST2:PORT2 in place of HOST:PORT (repeatable); each may be empty. Header Host and TLS keep the URL's
    #[arg(help_heading = "Connections", long, value_name = "HOST:PORT:HOST2:PORT2")]
    pub connect_to: Vec<String>,
    /// Connect to this address for HOST:PORT, and do not look HOST up (repeatable); * is any host
    #[arg(help_heading = "Connections", long, value_name = "HOST:PORT:ADDR,...")]
    pub resolve: Vec<String>,
    /// How long a response may take, from when its request was sent [default: 30s; 10min for streams]
    #[arg(long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub timeout: Option<Given<Nanos>>,
    /// How long a response that has begun may stand still before it has failed [default: 30s with --stream, else as long as it likes]
    #[arg(help_heading = "Limits", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub idle_timeout: Option<Given<Nanos>>,
    /// How long a connection may take, TLS included [default: 5s]
    #[arg(help_heading = "Limits", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub connect_timeout: Option<Given<Nanos>>,
    /// How long an arrival may wait for a connection at the cap before it is shed [default: --timeout]
    #[arg(help_heading = "Limits", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub max_wait: Option<Given<Nanos>>,
    /// How long sessions that have begun may go on after the last phase [default: --timeout]
    #[arg(help_heading = "Limits", long, allow_negative_numbers = true, value_parser = given(units::parse_time), value_name = "TIME")]
    pub drain: Option<Given<Nanos>>,
    /// Largest body of a response [default: 64MiB]
    #[arg(help_heading = "Limits", long, allow_negative_numbers = true, value_parser = given(units::parse_size), value_name = "SIZE")]
    pub max_body: Option<Given<u64>>,
    /// Send nothing: print what would be sent
    #[arg(help_heading = "Scenario", long)]
    pub dry_run: bool,
    /// What takes the place of values of the scenario.
    #[command(flatten)]
    pub set: ScenarioArgs,
    /// What is demanded of the numbers.
    #[command(flatten)]
    pub demands: ThresholdArgs,
    /// End the run when a threshold is crossed; with DELAY, not within that time of the measured phase's begin
    #[arg(help_heading = "Thresholds", long, value_parser = units::parse_time, value_name = "DELAY", num_args = 0..=1, require_equals = true,
        default_missing_value = "0s", requires = "thresholds")]
    pub abort_on_crossed: Option<Nanos>,
    /// What is tolerated of the generator.
    #[command(flatten)]
    pub tolerances: ToleranceArgs,
    /// What it is compared with.
    #[command(flatten)]
    pub against: BaselineArgs,
    /// What is noted of it.
    #[command(flatten)]
    pub notes: NoteArgs,
    /// What is hidden.
    #[command(flatten)]
    pub secrets: SecretArgs,
    /// What becomes of the results.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The live view.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Metrics to a collector.
    #[command(flatten)]
    pub otlp: OtlpArgs,
}

/// Addresses that connections are opened from.
pub type Sources = std::sync::Arc<[IpAddr]>;

/// Most addresses to connect from.
const MOST_SOURCES: u128 = 1 << 16;

/// Reads addresses and ranges of them, with commas between.
fn parse_sources(text: &str) -> Result<Sources, UnitError> {
    let wrong = |why: &str| {
        UnitError::new(
            text,
            format!(
                "a list of this machine's addresses: {why}; write for example 10.0.0.5,10.0.0.6 or 127.0.0.2-127.0.0.9"
            ),
        )
    };
    let address = |part: &str| {
        part.trim().parse::<IpAddr>().map_err(|_| wrong(&format!("'{}' is no address", part.trim())))
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let Some((first, last)) = part.split_once('-') else {
            all.push(address(part)?);
            continue;
        };
        let number = |address: IpAddr| match address {
            IpAddr::V4(v4) => u128::from(u32::from(v4)),
            IpAddr::V6(v6) => u128::from(v6),
        };
        let (first, last) = (address(first)?, address(last)?);
        if first.is_ipv4() != last.is_ipv4() || number(first) > number(last) {
            return Err(wrong("a range goes up, from an address to another of its kind"));
        }
        if number(last) - number(first) >= MOST_SOURCES {
            return Err(wrong("at most 65536 addresses can be used"));
        }
        all.extend((number(first)..=number(last)).map(|n| match first {
            IpAddr::V4(_) => IpAddr::V4((n as u32).into()),
            IpAddr::V6(_) => IpAddr::V6(n.into()),
        }));
    }
    if all.iter().any(IpAddr::is_unspecified) {
        return Err(wrong("this one stands for all of them"));
    }
    Ok(all.into())
}

/// How workers wait for the next intended time.
#[derive(ClapArgs, Debug, Clone, Copy, Default)]
pub struct WaitArgs {
    /// How workers wait for the next arrival. auto: sleep until shortly before it, then poll, and keep the processors of this
    /// machine from going idle where that is allowed; sleep: leave the machine as it is; spin: never sleep, which takes a
    /// whole core for each worker
    #[arg(help_heading = "Machine", long, value_name = "auto|sleep|spin", value_parser = parse_wait, default_value = "auto", hide_default_value = true)]
    pub wait: Strategy,
    /// Give workers real-time priority (SCHED_FIFO 1), before all ordinary processes; needs the right to it and two cores
    #[arg(help_heading = "Machine", long)]
    pub realtime: bool,
}

impl WaitArgs {
    /// The flags that ask for it, but for the default.
    pub fn words(self) -> Vec<String> {
        let wait: &[&str] = match self.wait {
            Strategy::Auto => &[],
            Strategy::Sleep => &["--wait", "sleep"],
            Strategy::Spin => &["--wait", "spin"],
        };
        let realtime: &[&str] = if self.realtime { &["--realtime"] } else { &[] };
        wait.iter().chain(realtime).map(|word| (*word).to_owned()).collect()
    }
}

const OUT: &str = "The run folder; must not exist, or be empty [default: headway-runs/<time>-<name>]. With --shard the place that all \
                   shards share, a folder or s3://bucket/prefix (gs://, az://)";

/// What becomes of a run's results.
#[derive(ClapArgs, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The run folder.
    #[arg(long, value_name = "DIR", help = OUT)]
    pub out: Option<PathBuf>,
    /// Reports in files.
    #[command(flatten)]
    pub reports: ReportFiles,
    /// What is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// Print no progress and no report; the exit code tells the verdict
    #[arg(long, conflicts_with = "details")]
    pub quiet: bool,
    /// Keep no record of single requests
    #[arg(long)]
    pub no_log: bool,
    /// Exit with 97 where a threshold is not certain; without thresholds, where the load is INCONCLUSIVE
    #[arg(long)]
    pub strict: bool,
}

/// What of the results is shown.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct ShowArgs {
    /// Show all of the report: reasons and evidence of the verdict, the generator, every row
    #[arg(long, help_heading = "Output")]
    pub details: bool,
    /// Percentiles of times that reports show [default: 50,90,95,99,99.9]
    #[arg(long, value_delimiter = ',', value_parser = audit::parse_percentile, value_name = "P,P,...", help_heading = "Output")]
    pub percentiles: Vec<f64>,
    /// Show a histogram of the response times in the terminal
    #[arg(long, help_heading = "Output")]
    pub histogram: bool,
    /// Open the HTML report on this desktop; not where CI is set
    #[arg(long, help_heading = "Output")]
    pub open: bool,
}

/// `headway demo`.
#[derive(ClapArgs, Debug, Clone)]
pub struct DemoArgs {
    /// Arrivals per second, at most 2000
    #[arg(short = 'R', long, allow_negative_numbers = true, value_parser = units::parse_rate, default_value = "1000/s", value_name = "RATE")]
    pub rate: Rate,
    /// Seed of every random draw [default: a new one, printed]
    #[arg(long, value_parser = parse_seed, allow_negative_numbers = true, value_name = "N")]
    pub seed: Option<u64>,
    /// How to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// What becomes of the results.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The live view.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// `headway serve`.
#[derive(ClapArgs, Debug, Clone)]
pub struct ServeArgs {
    /// Where to listen: host:port (port 0 takes a free one), or unix:/path/to/socket
    #[arg(short = 'l', long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: String,
    /// Serve UDP: send each datagram back as it came
    #[arg(long, conflicts_with_all = ["state", "body", "error_rate"])]
    pub udp: bool,
    /// With --udp: count datagrams, and send nothing back
    #[arg(long, requires = "udp", conflicts_with_all = ["service", "servers", "queue", "stall"])]
    pub count: bool,
    /// With --udp: send back to other machines too. Sender addresses can be forged, so use it on closed networks only
    #[arg(long, requires = "udp")]
    pub allow_remote: bool,
    /// Accept late: one connection at a time is read, worked for 1/RATE, answered and closed; the next is accepted as that work
    /// ends. Others wait in the kernel's accept queue; past --backlog the kernel drops their SYNs
    #[arg(long, value_parser = units::parse_rate, value_name = "RATE", conflicts_with_all = ["udp", "service", "servers", "queue", "stall", "error_rate", "state"])]
    pub capacity: Option<Rate>,
    /// Length of the kernel's accept queue, at most net.core.somaxconn; Linux admits one connection more
    #[arg(long, value_name = "N", default_value_t = BACKLOG, value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "udp")]
    pub backlog: u32,
    /// Service time of a request, as a distribution
    #[arg(long, default_value = "exp(1ms)", value_name = "DIST", help = service_help())]
    pub service: String,
    /// Servers that share the queue
    #[arg(long, default_value_t = 1, value_name = "C", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub servers: u32,
    /// How many requests may wait; further ones get 503 [default: no limit]
    #[arg(long, value_name = "N")]
    pub queue: Option<usize>,
    /// Stop all service regularly (every=10s,for=1s) or once (at=20s,for=2s)
    #[arg(long, value_name = "STALL", value_parser = headway_base::station::Stalls::parse)]
    pub stall: Option<headway_base::station::Stalls>,
    /// Share of requests answered with 500, 0 to 1
    #[arg(long, default_value = "0", value_name = "SHARE", value_parser = parse_share)]
    pub error_rate: f64,
    /// Size of the response body; with --events, of each piece; with --state, the largest size of a list of items
    #[arg(long, default_value = "16", value_name = "SIZE", value_parser = parse_body_size)]
    pub body: u64,
    /// Send good responses in pieces of --body each, after their service: gap=exp(20ms),count=5, and first=5ms until the first of them
    #[arg(long, value_name = "LAWS", conflicts_with_all = ["udp", "capacity", "state"])]
    pub events: Option<String>,
    /// Stateful mode: POST stores an item under the path; GET lists the items and takes --state-cost per item; GET or
    /// DELETE of PATH/ID addresses one
    #[arg(long)]
    pub state: bool,
    /// Time that each stored item adds to a GET of its path
    #[arg(long, allow_negative_numbers = true, value_parser = units::parse_time, default_value = "10us", value_name = "TIME", requires = "state")]
    pub state_cost: Nanos,
    /// How many items may be stored, over all paths; further ones get 507
    #[arg(long, allow_negative_numbers = true, value_parser = units::parse_count, default_value = "1000000", value_name = "N", requires = "state")]
    pub state_max_items: u64,
    /// How many bytes of items may be stored; further ones get 507
    #[arg(long, allow_negative_numbers = true, value_parser = units::parse_size, default_value = "1GiB", value_name = "SIZE", requires = "state")]
    pub state_max_bytes: u64,
    /// Log the arrival time of every request to a new CSV file
    #[arg(long, value_name = "FILE")]
    pub arrivals_log: Option<PathBuf>,
    /// Seed of the service times and errors [default: a new one, printed]
    #[arg(long, value_parser = parse_seed, allow_negative_numbers = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop after this time
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = units::parse_time)]
    pub stop_after: Option<Nanos>,
}

/// `headway plan`.
#[derive(ClapArgs, Debug, Clone)]
pub struct PlanArgs {
    /// Where to (only named here, nothing is sent), or a scenario file
    #[arg(value_name = "URL|SCENARIO")]
    pub target: Option<String>,
    /// What the load is.
    #[command(flatten)]
    pub load: LoadArgs,
    /// What takes the place of values of the scenario.
    #[command(flatten)]
    pub set: ScenarioArgs,
}

/// `headway report`.
#[derive(ClapArgs, Debug, Clone)]
pub struct ReportArgs {
    /// The run folder (or the records.arrow in it), or the folder of a study
    #[arg(value_name = "RUN", required = true)]
    pub run: PathBuf,
    /// Compute the summary again from the records, even if one is there
    #[arg(long)]
    pub recompute: bool,
    /// Reports in files.
    #[command(flatten)]
    pub reports: ReportFiles,
    /// What is demanded of the numbers; the run's own thresholds if nothing is.
    #[command(flatten)]
    pub demands: ThresholdArgs,
    /// What is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// The live view, of a replay.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// With --watch: how many times as fast as the run was, 0.01 to 10000 [default: 1]
    #[arg(long, value_parser = watch::parse_speed, value_name = "TIMES", help_heading = "Output")]
    pub speed: Option<f64>,
    /// Exit with 97 where a threshold is not certain; without thresholds, where the load is INCONCLUSIVE
    #[arg(long)]
    pub strict: bool,
}

/// `headway merge`.
#[derive(ClapArgs, Debug, Clone)]
pub struct MergeArgs {
    /// The destination that the shards of a run or of a study had as --out, a folder or s3://bucket/prefix (gs://, az://); or the folders of the shards
    #[arg(value_name = "DEST|RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// How many shards there are; another number is refused
    #[arg(help_heading = "Shards", long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub expect: Option<u32>,
    /// Exit as if nothing were missing if at most K shards are missing, or lack records or plays
    #[arg(help_heading = "Shards", long, default_value_t = 0, value_name = "K")]
    pub allow_missing: u32,
    /// Wait until all shards of the destination have ended, or should have: start, plan, --timeout and --grace have passed; of a study, until the shards
    /// that have not ended say nothing any more
    #[arg(help_heading = "Shards", long)]
    pub wait: bool,
    /// How long to wait beyond that
    #[arg(help_heading = "Shards", long, requires = "wait", default_value = "30s", allow_negative_numbers = true, value_parser = units::parse_time, value_name = "TIME")]
    pub grace: Nanos,
    /// What becomes of the results.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn arrivals_help() -> String {
    let lines = arrivals::ALL.iter().map(|f| format!("{}: {}", f.usage(), f.about()));
    format!(
        "The arrival process. {}; {}: as a log tells that `audit` reads, or a part of it (instead of -R, --phases; -d ends it)",
        lines.collect::<Vec<_>>().join("; "),
        TraceOf::usage()
    )
}

fn think_help() -> String {
    let lines = dist::ALL.iter().map(|f| format!("{}({})", f.name(), f.arguments().join(",")));
    format!(
        "Think time of each user before each request [default: none]: {}",
        lines.collect::<Vec<_>>().join(" ")
    )
}

fn parse_wait(text: &str) -> Result<Strategy, UnitError> {
    match text.trim() {
        "auto" => Ok(Strategy::Auto),
        "sleep" => Ok(Strategy::Sleep),
        "spin" => Ok(Strategy::Spin),
        _ => Err(UnitError::new(text, "a way to wait: write auto, sleep or spin")),
    }
}

fn parse_pool(text: &str) -> Result<Connections, UnitError> {
    match text.trim() {
        "shared" => Ok(Connections::Shared),
        "per-user" => Ok(Connections::PerUser),
        _ => Err(UnitError::new(text, "a way to use connections: write shared or per-user")),
    }
}

fn service_help() -> String {
    let lines = dist::ALL.iter().map(|f| format!("{}({})", f.name(), f.arguments().join(",")));
    format!("Time that each request takes of one server: {}", lines.collect::<Vec<_>>().join(" "))
}

/// Seeds stay below 2^53, so that every reader of JSON keeps their digits.
fn parse_seed(text: &str) -> Result<u64, UnitError> {
    text.trim().parse().ok().filter(|&seed| seed < 1 << 53).ok_or_else(|| {
        UnitError::new(text, "a seed: write a whole number from 0 to 9007199254740991 (2^53 - 1)")
    })
}

fn parse_share(text: &str) -> Result<f64, UnitError> {
    units::parse_number(text)
        .ok()
        .filter(|x| (0.0..=1.0).contains(x))
        .ok_or_else(|| UnitError::new(text, "a share: write a number from 0 to 1"))
}

fn parse_body_size(text: &str) -> Result<u64, UnitError> {
    const MOST: u64 = 1 << 30;
    let size = units::parse_size(text)?;
    if size <= MOST { Ok(size) } else { Err(UnitError::new(text, "a size of at most 1GiB")) }
}
