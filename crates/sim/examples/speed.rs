//! How fast simulations are: requests per second of one core, with every response time going into a histogram.
//!
//! `cargo run --release -p headway-sim --example speed [REQUESTS] [CASE[:SERVERS]]...`
//!
//! Prints a line for each case: its name, servers, requests, million requests per second (the median and the best of
//! `ROUNDS` rounds, in which cases take turns), mean and p99 of the response times in ms, and most events of connections
//! pending. The offered load is 0.8, the mean service 1 ms. Rates are by the time that the thread had a core, where the system tells (Linux), so that neighbours count less.

use headway_base::{Nanos, Phase, Profile, Rate, Record, RecordSink, Start, dist};
use headway_sim::{Generator, Network, Played, lindley};
use headway_workload::model::{Discipline, Model, Policy, Station, Ties};
use headway_workload::plan::Group;
use headway_workload::{Limits, Plan, Process, Shard};

type Error = Box<dyn std::error::Error>;

/// What is played, and by what.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    servers: u32,
    policy: Option<Policy>,
    /// Processor sharing, else first come first served.
    sharing: bool,
    by: By,
}

/// Who plays.
#[derive(Clone, Copy)]
enum By {
    Calendar,
    /// The recursion that sees nothing of the model's inside.
    Recursion,
    /// The recursion through the network.
    Through,
}

/// A single server without a policy, else 250.
const fn by_calendar(name: &'static str, policy: Option<Policy>) -> Case {
    let servers = if policy.is_none() { 1 } else { 250 };
    Case { name, servers, policy, sharing: false, by: By::Calendar }
}

const fn by_recursion(name: &'static str, policy: Option<Policy>) -> Case {
    Case { by: By::Recursion, ..by_calendar(name, policy) }
}

const fn through(name: &'static str, policy: Option<Policy>) -> Case {
    Case { by: By::Through, ..by_calendar(name, policy) }
}

const fn least(ties: Ties) -> Option<Policy> {
    Some(Policy::LeastConnections { ties })
}

static CASES: [Case; 13] = [
    by_calendar("mm1", None),
    Case { sharing: true, ..by_calendar("mm1-sharing", None) },
    by_calendar("random", Some(Policy::Random)),
    by_calendar("round-robin", Some(Policy::RoundRobin)),
    by_calendar("least-connections", least(Ties::Random)),
    by_calendar("least-connections-first", least(Ties::First)),
    by_calendar("two-choices", Some(Policy::PowerOfD { choices: 2 })),
    by_recursion("recursion-mm1", None),
    by_recursion("recursion-random", Some(Policy::Random)),
    by_recursion("recursion-round-robin", Some(Policy::RoundRobin)),
    through("through-mm1", None),
    through("through-random", Some(Policy::Random)),
    through("through-least-connections", least(Ties::Random)),
];

/// Counts of response times in cells of a relative width of 1/128 at most.
struct Histogram {
    cells: Vec<u64>,
    n: u64,
    sum_ns: i64,
}

const BITS: u32 = 7;

impl Histogram {
    fn new() -> Histogram {
        Histogram { cells: vec![0; (65 - BITS as usize) << BITS], n: 0, sum_ns: 0 }
    }

    /// The leading one and the bits after it.
    #[inline]
    fn add(&mut self, ns: i64) {
        let value = ns as u64;
        let shift = (63 - (value | 1).leading_zeros()).saturating_sub(BITS);
        let cell = ((shift as usize) << BITS) + (value >> shift) as usize;
        self.cells[cell] += 1;
        self.n += 1;
        self.sum_ns += ns;
    }

    fn quantile_ms(&self, p: f64) -> f64 {
        let mut left = p * self.n as f64;
        let cell = self.cells.iter().position(|&n| {
            left -= n as f64;
            left <= 0.0
        });
        let cell = cell.unwrap_or(0) as u64;
        let shift = (cell >> BITS).saturating_sub(1);
        ((cell - (shift << BITS)) << shift) as f64 / 1e6
    }
}

impl RecordSink for Histogram {
    #[inline]
    fn start(&mut self, _: Start) {}
    #[inline]
    fn record(&mut self, record: Record) {
        self.add(record.response().0);
    }
    #[inline]
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

/// A plan of about so many requests at 0.8 of what the servers can do, and its model.
fn scene(case: &Case, requests: f64) -> Result<(Plan, Model), Error> {
    let rate = 800.0 * f64::from(case.servers);
    let length = Nanos::from_secs_f64(requests / rate);
    let profile = Profile::new(&[Phase::hold(length, Rate(rate))]);
    let plan = Plan::of(1, Group::open(Process::Poisson, profile), Nanos::ZERO, length);
    let law = dist::parse("exp(1ms)", &|_| Err("no files here".to_owned()))?;
    let discipline = if case.sharing { Discipline::Sharing } else { Discipline::Fifo };
    let station = Station { discipline, ..Station::new(1, law) };
    let model = match case.policy {
        None => Model::station(station),
        Some(policy) => Model::balanced(policy, case.servers, station),
    };
    Ok((plan, model))
}

fn play(case: &Case, requests: f64) -> Result<(Played, Histogram), Error> {
    let (plan, model) = scene(case, requests)?;
    let patience = Nanos::from_secs(30);
    let limits = Limits {
        connections: 1_000_000,
        max_wait: patience,
        timeout: patience,
        connect_timeout: patience,
        drain: patience,
    };
    let mut histogram = Histogram::new();
    let mut network = Network::new(&model, &plan)?;
    let played = match case.by {
        By::Recursion => return Ok((lindley::play(&plan, &model, limits, &mut histogram)?, histogram)),
        By::Through => lindley::play_through(&plan, &mut network, limits, &mut histogram)?,
        By::Calendar => {
            headway_sim::play(&plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut histogram)
        }
    };
    let seen = network.observed(played.ended);
    if seen.area_ns != seen.sum_ns {
        return Err(format!("{}: Little's law does not hold", case.name).into());
    }
    Ok((played, histogram))
}

/// Seconds of a core that the thread has had, or of the wall's clock where nobody tells.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a benchmark measures with a real clock"
)]
fn clock() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns: Option<f64> = told.and_then(|text| text.split(' ').next()?.parse().ok());
    let wall = || std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64());
    ns.map_or_else(wall, |ns| ns / 1e9)
}

fn chosen(argument: &str) -> Result<Case, Error> {
    let (name, servers) = match argument.split_once(':') {
        Some((name, servers)) => (name, Some(servers.parse()?)),
        None => (argument, None),
    };
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    let found = CASES.iter().find(|case| case.name == name);
    let case = found.ok_or_else(|| format!("{name}: no case; there are {}", names.join(" ")))?;
    Ok(Case { servers: servers.unwrap_or(case.servers), ..*case })
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let requests: f64 = arguments.next().as_deref().unwrap_or("1e7").parse()?;
    let rounds: usize = std::env::var("ROUNDS").as_deref().unwrap_or("3").parse()?;
    let mut cases = arguments.map(|argument| chosen(&argument)).collect::<Result<Vec<Case>, Error>>()?;
    if cases.is_empty() {
        cases = CASES.to_vec();
    }
    let mut rates = vec![Vec::new(); cases.len()];
    println!("case\tservers\trequests\tmillion/s\tbest\tmean ms\tp99 ms\tpending");
    for round in 1..=rounds.max(1) {
        for (case, rates) in cases.iter().zip(&mut rates) {
            let began = clock();
            let (played, histogram) = play(case, requests)?;
            rates.push(played.requests as f64 / (clock() - began) / 1e6);
            if round < rounds {
                continue;
            }
            rates.sort_by(f64::total_cmp);
            println!(
                "{}\t{}\t{}\t{:.2}\t{:.2}\t{:.3}\t{:.2}\t{}",
                case.name,
                case.servers,
                played.requests,
                rates[rates.len() / 2],
                rates[rates.len() - 1],
                histogram.sum_ns as f64 / histogram.n as f64 / 1e6,
                histogram.quantile_ms(0.99),
                played.most_held
            );
        }
    }
    Ok(())
}
