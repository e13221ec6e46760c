//! A failure that outlives its cause (Bronson, Aghayev, Charapko and Zhu 2021, "Metastable failures in distributed systems"):
//! clients that give up and ask again, in front of a queue without limit, after the servers were slow for a while.
//!
//! Deliberately absent: what is to be said about it (`storm_notes`).

use super::system;
use crate::answers::{self, Seen};
use crate::arrivals;
use headway_base::units::UnitError;
use headway_base::{Nanos, Rate};
use headway_sim::{Answer, Answered, Connect, Network, Observed, Target};
use headway_workload::client::RequestId;
use headway_workload::model::{
    Backoff, Budget, Cancel, Discipline, Faults, Jitter, Kind, Model, Part, Retry, Station, Timeout,
    UnderWay, When, WhileDown,
};
use headway_workload::{Process, RequestKey};

/// The system, its load and its trigger.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Servers, and what they need for a request: exponential.
    pub servers: u32,
    pub service_s: f64,
    /// Requests per second, of what the servers can serve; Poisson.
    pub load: f64,
    /// Clients give up after so long.
    pub timeout: Nanos,
    /// Attempts in all, where requests are made again.
    pub attempts: u32,
    /// When the servers become slow, for how long, and how many times.
    pub at: Nanos,
    pub length: Nanos,
    pub slower: f64,
}

/// As the lab plays it.
pub const STORM: Setting = Setting {
    servers: 10,
    service_s: 0.1,
    load: 0.75,
    timeout: Nanos::from_secs(1),
    attempts: system::ATTEMPTS,
    at: Nanos::from_secs(60),
    length: Nanos::from_secs(10),
    slower: 10.0,
};

/// How long after the trigger it is watched for.
pub const WATCHED: Nanos = Nanos::from_secs(600);
/// When numbers are taken after the trigger,
const EARLY: Nanos = Nanos::from_secs(60);
const LATE: Nanos = Nanos::from_secs(300);
/// over so long.
const WINDOW: Nanos = Nanos::from_secs(30);
/// Recovery is found to this,
const STEP: Nanos = Nanos::from_secs(5);
/// as the end of the last such stretch in which fewer than this share of the requests were answered.
const GOOD: f64 = 0.9;
/// Retries per request of a budget, and how many it holds.
const BUDGET: Budget = Budget { share: 0.1, reserve: 10.0 };
/// Waits before retries.
const BACKOFF: Backoff =
    Backoff { base: Nanos::from_secs(1), factor: 2.0, most: Nanos::from_secs(10), jitter: Jitter::Full };

/// What is done about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// Nothing: requests are made again at once.
    Plain,
    /// They are made again after a wait.
    Backoff,
    /// They are not made again.
    NoRetries,
    /// They are made again, a tenth of them.
    Budget,
    /// Abandoned requests are cancelled: those still waiting are not served.
    Cancel,
    /// Few may wait; others are turned away.
    Queue,
    /// Who came last is served first.
    Lifo,
}

/// Every variant, in order.
pub const VARIANTS: [Variant; 7] = [
    Variant::Plain,
    Variant::Backoff,
    Variant::NoRetries,
    Variant::Budget,
    Variant::Cancel,
    Variant::Queue,
    Variant::Lifo,
];

/// What one replication gave for a variant.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Numbers {
    /// Requests answered in time, per second, of those due before the trigger, during it, and 60 s and 300 s after it.
    pub goodput: [f64; 4],
    /// Attempts for each request, 300 s after it.
    pub attempts: f64,
    /// Share of the wasted work then, and of the servers' time that is spent working.
    pub wasted: f64,
    pub busy: f64,
    /// Seconds after the trigger from which on requests are answered again; none: not while it was watched.
    pub recovered_s: Option<f64>,
}

/// One replication, in the order of the variants.
pub type Played = [Numbers; VARIANTS.len()];

impl Setting {
    /// Requests per second.
    pub fn rate(&self) -> Rate {
        Rate(self.load * self.capacity())
    }

    /// Requests per second that the servers can serve.
    pub fn capacity(&self) -> f64 {
        f64::from(self.servers) / self.service_s
    }

    /// How many may wait where few may: what the servers do in half the time after which clients give up.
    pub fn queue(&self) -> usize {
        (0.5 * self.timeout.as_secs_f64() * self.capacity()).round() as usize
    }

    /// When the trigger is over.
    pub fn over(&self) -> Nanos {
        self.at + self.length
    }

    /// What a variant is.
    pub fn name(&self, variant: Variant) -> String {
        let attempts = headway_report::format::plural(u64::from(self.attempts), "attempt");
        match variant {
            Variant::Plain => attempts,
            Variant::Backoff => format!("{attempts}, waits between them"),
            Variant::NoRetries => "no retries".to_owned(),
            Variant::Budget => format!("{attempts}, a budget of {:.0} % retries", 100.0 * BUDGET.share),
            Variant::Cancel => format!("{attempts}, who gives up is called back"),
            Variant::Queue => format!("{attempts}, at most {} wait", self.queue()),
            Variant::Lifo => format!("{attempts}, last come first served"),
        }
    }

    /// The model of a variant.
    ///
    /// # Errors
    /// A service time of zero.
    pub fn model(&self, variant: Variant) -> Result<Model, UnitError> {
        let mut station = Station::new(self.servers, system::law(&format!("exp({}s)", self.service_s))?);
        match variant {
            Variant::Queue => station.queue = Some(self.queue()),
            Variant::Lifo => station.discipline = Discipline::Lifo,
            _ => {}
        }
        let retry = system::retry(self.attempts);
        let retry = match variant {
            Variant::NoRetries => None,
            Variant::Backoff => retry.map(|retry| Retry { backoff: Some(BACKOFF), ..retry }),
            Variant::Budget => retry.map(|retry| Retry { budget: Some(BUDGET), ..retry }),
            _ => retry,
        };
        Ok(Model::of(vec![Part {
            retry,
            timeout: Some(Timeout {
                after: self.timeout,
                cancel: if variant == Variant::Cancel { Cancel::Queued } else { Cancel::Never },
            }),
            faults: Some(Faults {
                when: When::Once { at: self.at, length: self.length },
                together: true,
                while_down: WhileDown::Slow(self.slower),
                under_way: UnderWay::Finish,
            }),
            ..Part::new("servers", Kind::Station(station))
        }]))
    }

    /// One replication: all variants have the same arrivals, and the same demands for each attempt.
    ///
    /// # Errors
    /// As [`Setting::model`].
    pub fn once(&self, seed: u64) -> anyhow::Result<Played> {
        let plan = arrivals::until(Process::Poisson, self.rate(), self.over() + WATCHED, seed);
        let mut played = [Numbers::default(); VARIANTS.len()];
        for (numbers, variant) in played.iter_mut().zip(VARIANTS) {
            let from = self.over() + LATE;
            let mut watched = Watched {
                network: Network::new(&self.model(variant)?, &plan)?,
                next: vec![from + WINDOW, from],
                taken: Vec::new(),
            };
            let seen = answers::all(&plan, &mut watched)?;
            *numbers = self.numbers(&seen);
            if let [from, to] = watched.taken.as_slice() {
                let came = |observed: &Observed| observed.parts.iter().map(|part| part.all.came).sum::<u64>();
                let busy = (to.busy_ns - from.busy_ns) as f64;
                numbers.attempts = (came(to) - came(from)) as f64 / (to.requests - from.requests) as f64;
                // Waste is known when the work is done: at the edges it may be of work from before.
                numbers.wasted = ((to.wasted_ns - from.wasted_ns) as f64 / busy).min(1.0);
                numbers.busy = busy / (to.until - from.until).0 as f64 / f64::from(self.servers);
            }
        }
        Ok(played)
    }

    /// Those that requests tell.
    fn numbers(&self, seen: &[Seen]) -> Numbers {
        let among =
            |from: Nanos, to: Nanos| seen.iter().filter(move |seen| from <= seen.due && seen.due < to);
        let goodput = |from: Nanos, length: Nanos| {
            among(from, from + length).filter(|seen| seen.ok).count() as f64 / length.as_secs_f64()
        };
        let over = self.over();
        let steps = WATCHED.0 / STEP.0;
        let bad = |step: i64| {
            let from = over + Nanos(step * STEP.0);
            let (all, ok) =
                among(from, from + STEP).fold((0, 0), |(all, ok), seen| (all + 1, ok + u32::from(seen.ok)));
            f64::from(ok) < GOOD * f64::from(all)
        };
        let recovered = (0..steps).rev().find(|&step| bad(step)).map_or(0, |step| step + 1);
        Numbers {
            goodput: [
                goodput(self.at - WINDOW, WINDOW),
                goodput(self.at, self.length),
                goodput(over + EARLY, WINDOW),
                goodput(over + LATE, WINDOW),
            ],
            recovered_s: (recovered < steps).then(|| Nanos(recovered * STEP.0).as_secs_f64()),
            ..Numbers::default()
        }
    }
}

/// A network that is looked at when instants have passed.
struct Watched {
    network: Network,
    /// The next one is the last.
    next: Vec<Nanos>,
    taken: Vec<Observed>,
}

impl Watched {
    #[inline]
    fn look(&mut self, now: Nanos) {
        while self.next.last().is_some_and(|at| *at <= now) {
            self.next.pop();
            self.taken.push(self.network.observed(now));
        }
    }
}

impl Target for Watched {
    fn connect(&mut self, now: Nanos) -> Connect {
        self.network.connect(now)
    }
    fn request(&mut self, now: Nanos, n: u64, slot: RequestId, sending: &RequestKey) -> Answer {
        self.look(now);
        self.network.request(now, n, slot, sending)
    }
    fn next_at(&self) -> Nanos {
        self.network.next_at()
    }
    fn step(&mut self, now: Nanos) -> Option<Answered> {
        self.network.step(now)
    }
    fn gone(&mut self, now: Nanos, slot: RequestId) {
        self.network.gone(now, slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_the_end_of_the_last_bad_stretch() {
        // One request each second, answered unless due in a stretch that is given.
        let numbers = |bad: &[(i64, i64)]| {
            let all = (STORM.over() + WATCHED).0 / 1_000_000_000;
            let seen: Vec<Seen> = (0..all)
                .map(|s| Seen {
                    due: Nanos::from_secs(s),
                    took: Nanos::ZERO,
                    ok: !bad.iter().any(|(from, to)| (*from..*to).contains(&s)),
                })
                .collect();
            STORM.numbers(&seen)
        };
        assert_eq!(numbers(&[]).recovered_s, Some(0.0));
        let two = numbers(&[(60, 75), (131, 140)]);
        assert_eq!(two.recovered_s, Some(70.0));
        assert_eq!(two.goodput, [1.0, 0.0, 21.0 / 30.0, 1.0]);
        assert_eq!(numbers(&[(600, 670)]).recovered_s, None);
    }
}
