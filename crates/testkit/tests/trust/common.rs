//! Trials: a load on a model, played under one seed after another, and held to what theory says.

use headway_base::dist::{self, Dist, Law};
use headway_base::random::{Stream, streams};
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record, RecordSink, Start};
use headway_sim::{Generator, Network, Observed};
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::model::Model;
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::users::Level;
use headway_workload::{Limits, Plan, Process, Shard};
use std::sync::Arc;

/// How long to look. Chosen once, from the standard error that is wanted of a mean sojourn: that of M/M/1 at a utilisation
/// of 0.7 over n requests is 5.5 / sqrt(n) of it (Daley 1968).
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Seeds 1 to this.
    pub runs: u64,
    /// Requests that are counted in each run, on average.
    pub requests: f64,
    /// What is due in so many relaxation times at either end is not counted. The bias of an empty start is e to minus that
    /// many of the mean; and whom later arrivals overtake has them for long enough.
    pub lead: f64,
    /// A mean is known to this share of it, or the trial proves nothing.
    pub error: f64,
}

/// 105,000 requests: 1.7 % in M/M/1.
pub const QUICK: Effort = Effort { runs: 30, requests: 3_500.0, lead: 10.0, error: 0.03 };
/// 3 million requests: 0.3 % in M/M/1.
pub const LONG: Effort = Effort { runs: 100, requests: 30_000.0, lead: 15.0, error: 0.005 };

/// Both versions of each of these trials.
macro_rules! both {
    ($($trial:ident),+ $(,)?) => {
        mod quick { $(#[test] fn $trial() { super::$trial(crate::common::QUICK); })+ }
        mod long {
            $(#[test] #[ignore = "long: for release builds"] fn $trial() { super::$trial(crate::common::LONG); })+
        }
    };
}
pub(crate) use both;

const LIMITS: Limits = Limits {
    connections: 100_000,
    max_wait: Nanos::from_secs(3_600),
    timeout: Nanos::from_secs(3_600),
    connect_timeout: Nanos::from_secs(3_600),
    drain: Nanos::from_secs(3_600),
};

/// A law that needs no file.
pub fn law(text: &str) -> Dist {
    dist::parse(text, &|_| Err("no files here".to_owned())).unwrap()
}

/// Who asks.
#[derive(Clone, Debug)]
pub enum Load {
    /// Arrivals at that rate (per second), one source for each step from 0 on.
    Open(Process, Vec<f64>),
    /// So many users who think for so long before each request; the throughput that is expected.
    Closed(u32, Dist, f64),
}

impl Load {
    pub fn poisson(rate: f64) -> Load {
        Load::Open(Process::Poisson, vec![rate])
    }

    fn rate(&self) -> f64 {
        match self {
            Load::Open(_, rates) => rates.iter().sum(),
            Load::Closed(_, _, throughput) => *throughput,
        }
    }

    pub fn plan(&self, seed: u64, length: Nanos) -> Plan {
        let ask = |step| Node::Ask { step, repeat: 1, think: None };
        let groups = match self {
            Load::Open(process, rates) => (0u16..)
                .zip(rates)
                .map(|(step, &rate)| {
                    let profile = Arc::new(Profile::new(&[Phase::hold(length, Rate(rate))]));
                    let journey = Journey::new(&[ask(step)], no_think()).unwrap();
                    let source = Source::Arrivals { process: *process, profile };
                    Group {
                        name: headway_workload::redact::clear(&format!("users {step}")),
                        ..Group::of(source, journey, Connections::Shared)
                    }
                })
                .collect(),
            Load::Closed(users, think, _) => {
                let journey = Journey::new(&[ask(0)], think.clone()).unwrap();
                vec![Group::closed(Level::hold(*users, length), journey)]
            }
        };
        Plan { seed, groups, measured_from: Nanos::ZERO, end: length, shard: Shard::WHOLE }
    }
}

/// A request that is counted.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// From due to done, in seconds.
    pub sojourn: f64,
    /// Whether it was served, not turned away.
    pub served: bool,
    pub step: u16,
    /// What it asked of one server, in seconds; of trials that say by which law.
    pub demand: f64,
}

type Value<'a> = Box<dyn Fn(&Seen) -> Option<f64> + 'a>;

/// Something that theory knows: the mean of a value over those requests that have it, or their number per second. Over a
/// window, sum - truth x number has the mean zero whatever the truth, however few there are: no estimator's bias.
pub struct Known<'a> {
    what: &'a str,
    truth: f64,
    /// Its own standard error; zero of a formula.
    truth_error: f64,
    value: Value<'a>,
    of: Of,
    /// The largest standard error that still proves something.
    error: f64,
}

/// What a sum is divided by.
#[derive(Clone, Copy)]
enum Of {
    /// The number of those that have the value.
    Requests,
    /// The seconds of the window.
    Seconds,
    /// Both are what the network saw.
    Run(fn(&Observed) -> (f64, f64)),
}

impl Known<'_> {
    /// It was found by chance too, with that standard error.
    pub fn give_or_take(self, truth_error: f64) -> Self {
        Known { truth_error, ..self }
    }
}

/// A ratio of what the network saw from the beginning of the window on.
pub fn of_run<'a>(what: &'a str, truth: f64, seen: fn(&Observed) -> (f64, f64)) -> Known<'a> {
    Known { of: Of::Run(seen), ..mean(what, truth, |_| None) }
}

/// A mean of a value.
pub fn mean<'a>(what: &'a str, truth: f64, value: impl Fn(&Seen) -> Option<f64> + 'a) -> Known<'a> {
    Known { what, truth, truth_error: 0.0, value: Box::new(value), of: Of::Requests, error: truth }
}

/// The mean sojourn of those who are served.
pub fn sojourn<'a>(truth: f64) -> Known<'a> {
    mean("mean sojourn", truth, |seen| seen.served.then_some(seen.sojourn))
}

/// The variance of the sojourn of those who are served, about the mean that theory knows. Squares spread wider: the
/// standard error may be eight times a mean's.
pub fn variance<'a>(about: f64, truth: f64) -> Known<'a> {
    let square = move |seen: &Seen| seen.served.then_some((seen.sojourn - about).powi(2));
    Known { error: 8.0 * truth, ..mean("variance of the sojourn", truth, square) }
}

/// A quantile of the sojourn of those who are served, by the share that does not exceed it. What exceeds it is rare: the
/// standard error may be ten times a mean's.
pub fn quantile<'a>(what: &'a str, p: f64, at: f64) -> Known<'a> {
    let within = move |seen: &Seen| seen.served.then_some(f64::from(u8::from(seen.sojourn <= at)));
    Known { error: 10.0 * (1.0 - p), ..mean(what, p, within) }
}

/// The share that is turned away. Who is, is so in company: the standard error may be three times a mean's.
pub fn loss<'a>(truth: f64) -> Known<'a> {
    Known { error: 3.0 * truth, ..mean("loss", truth, |seen| Some(f64::from(u8::from(!seen.served)))) }
}

/// The share that waits, of trials that say by which law demands are drawn: a request waits if it stays longer than its demand, by more
/// than both are rounded. Those that wait do so together: the standard error may be ten times a mean's.
pub fn waiting<'a>(truth: f64) -> Known<'a> {
    let waits = |seen: &Seen| Some(f64::from(u8::from(seen.sojourn - seen.demand > 2e-9)));
    Known { error: 10.0 * truth, ..mean("share that waits", truth, waits) }
}

/// Requests per second.
pub fn throughput<'a>(truth: f64) -> Known<'a> {
    Known { of: Of::Seconds, ..mean("throughput", truth, |_| Some(1.0)) }
}

/// A load on a model.
pub struct Trial<'a> {
    pub name: &'a str,
    pub load: Load,
    pub model: Model,
    /// Relaxation time in seconds, or more.
    pub relaxation: f64,
    /// The law that demands of step 0 are drawn from, where they are asked for.
    pub demands: Option<Dist>,
}

/// What a run adds up, for each of what is known.
struct Sums<'a> {
    known: &'a [Known<'a>],
    window: (Nanos, Nanos),
    demands: Option<(&'a Dist, Stream)>,
    /// Sums of values and numbers of those that have one.
    sums: Vec<(f64, f64)>,
}

impl RecordSink for Sums<'_> {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        if record.kind != Kind::Request || record.intended < self.window.0 || record.intended >= self.window.1
        {
            return;
        }
        assert!(matches!(record.outcome, Outcome::Ok | Outcome::Status), "{record:?}");
        let seen = Seen {
            sojourn: record.response().as_secs_f64(),
            served: record.outcome == Outcome::Ok,
            step: record.step,
            demand: self.demands.map_or(f64::NAN, |(law, stream)| law.sample(&mut stream.item(record.k))),
        };
        for (known, (sum, n)) in self.known.iter().zip(&mut self.sums) {
            if let Some(value) = (known.value)(&seen) {
                *sum += value;
                *n += 1.0;
            }
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

impl Trial<'_> {
    /// Of each of what is known a sum and what it is divided by, in one run.
    fn play(&self, seed: u64, effort: Effort, known: &[Known]) -> Vec<(f64, f64)> {
        let (lead, counted) = (effort.lead * self.relaxation, effort.requests / self.load.rate());
        let plan = self.load.plan(seed, Nanos::from_secs_f64(2.0 * lead + counted));
        let plan = Plan { measured_from: Nanos::from_secs_f64(lead), ..plan };
        let window = (Nanos::from_secs_f64(lead), Nanos::from_secs_f64(lead + counted));
        let stream = Stream::new(plan.group_seed(0), streams::SERVICE);
        let demands = self.demands.as_ref().map(|law| (law, stream));
        let mut sums = Sums { known, window, demands, sums: vec![(0.0, 0.0); known.len()] };
        let mut network = Network::new(&self.model, &plan).unwrap();
        let played =
            headway_sim::play(&plan, Shard::WHOLE, LIMITS, &mut network, Generator::default(), &mut sums);
        let observed = network.observed(played.ended);
        assert_eq!(observed.area_ns, observed.sum_ns, "{}, seed {seed}: Little's law", self.name);
        assert_eq!(observed.requests, played.requests, "{}, seed {seed}", self.name);
        let of = |(known, sum): (&Known, (f64, f64))| match known.of {
            Of::Requests => sum,
            Of::Seconds => (sum.0, counted),
            Of::Run(seen) => seen(&observed),
        };
        known.iter().zip(sums.sums).map(of).collect()
    }

    /// Whether each of what is known was seen: mean, standard error, and distance from the truth in standard errors.
    pub fn compare(&self, effort: Effort, known: &[Known]) -> Vec<(f64, f64, f64)> {
        let runs: Vec<_> = (1..=effort.runs).map(|seed| self.play(seed, effort, known)).collect();
        let r = runs.len() as f64;
        (0..known.len())
            .map(|i| {
                let (sum, n) = runs.iter().fold((0.0, 0.0), |all, run| (all.0 + run[i].0, all.1 + run[i].1));
                let off: Vec<f64> = runs.iter().map(|run| run[i].0 - known[i].truth * run[i].1).collect();
                let middle = off.iter().sum::<f64>() / r;
                let spread = off.iter().map(|d| (d - middle).powi(2)).sum::<f64>() / (r - 1.0);
                let error = (spread / r).sqrt().hypot(known[i].truth_error * n / r);
                (sum / n, error * r / n, middle / error)
            })
            .collect()
    }

    /// # Panics
    /// If something that is known is not within 4 standard errors, or these are too large to prove anything.
    pub fn agrees(&self, effort: Effort, known: &[Known]) {
        let seen = self.compare(effort, known);
        let mut wrong = Vec::new();
        for (known, (value, error, distance)) in known.iter().zip(seen) {
            let line = format!(
                "{}, {}: {value:.6e} +- {error:.1e} ({:.2} %), theory {:.6e}, {distance:+.2} standard errors",
                self.name,
                known.what,
                100.0 * error / known.truth,
                known.truth
            );
            println!("{line}");
            // Written so that what is not a number is wrong.
            if !(distance.abs() < 4.0 && error <= effort.error * known.error) {
                wrong.push(line);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
