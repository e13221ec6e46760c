//! The players: they make the records that a source would have told.

use headway_base::random::{Draws, Stream};
use headway_base::special::exponential;
use headway_base::station::{Admission, Stalls, Station};
use headway_base::{Batch, Kind, Nanos, Outcome, Phase, Profile, Record, Trigger};
use headway_stats::{Analysis, Facts, PlanLaw, Setup, Summary, Threshold};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// What a source told.
#[derive(Clone, Default)]
pub struct Told {
    pub records: Vec<Record>,
    pub users: Vec<(Nanos, i32)>,
}

/// The target: servers first come first served, exponential service, one stop at most, slower while it is cold.
#[derive(Clone, Copy)]
pub struct Target {
    pub servers: u32,
    pub service_s: f64,
    pub stop: Option<(Nanos, Nanos)>,
    /// Service takes 1 + factor exp(-served/requests) times as long.
    pub cold: Option<(f64, f64)>,
}

/// Four servers of 8 ms: 500 requests a second.
pub const BASE: Target = Target { servers: 4, service_s: 0.008, stop: None, cold: None };

struct Serving {
    station: Station,
    target: Target,
    draws: Draws,
    served: u64,
}

impl Target {
    fn serving(self, seed: u64) -> Serving {
        let stalls = self.stop.map(|(at, length)| Stalls::once(at, length).unwrap());
        let station = Station::new(self.servers, None, stalls);
        Serving { station, target: self, draws: Stream::new(seed, "service").item(0), served: 0 }
    }

    /// Response times in seconds of Poisson arrivals.
    pub fn open(self, rate: f64, length: Nanos, seed: u64) -> Vec<f64> {
        let (mut serving, mut draws) = (self.serving(seed), Stream::new(seed, "open").item(0));
        let (mut at, mut responses) = (0.0, Vec::new());
        loop {
            at += exponential(&mut draws) / rate;
            let now = Nanos::from_secs_f64(at);
            if now >= length {
                return responses;
            }
            responses.push((serving.done(now) - now).as_secs_f64());
        }
    }
}

impl Serving {
    fn done(&mut self, now: Nanos) -> Nanos {
        let slower = self.target.cold.map_or(0.0, |(factor, n)| factor * (-(self.served as f64) / n).exp());
        self.served += 1;
        let demand = exponential(&mut self.draws) * self.target.service_s * (1.0 + slower);
        match self.station.arrive(now, Nanos::from_secs_f64(demand)) {
            Admission::Departs(at) => at,
            Admission::Rejected => unreachable!("no limit"),
        }
    }
}

/// A request that was answered, sent when it was due.
fn answered(k: u64, due: Nanos, done: Nanos) -> Record {
    Record {
        started: due.into(),
        sent: due.into(),
        first_byte: done.into(),
        bytes_received: 100,
        ..Record::never_started(k, due, done, Outcome::Ok)
    }
}

/// So many users who think for an exponential time (none at 0), until so many requests are sent.
pub fn closed(users: u32, think_s: f64, target: Target, requests: usize, seed: u64) -> Told {
    let (mut serving, mut draws) = (target.serving(seed), Stream::new(seed, "think").item(0));
    let mut think = || Nanos::from_secs_f64(exponential(&mut draws) * think_s);
    let mut due: BinaryHeap<Reverse<(Nanos, u32)>> = (0..users).map(|u| Reverse((think(), u))).collect();
    let mut told = Told { users: vec![(Nanos::ZERO, users as i32)], ..Told::default() };
    let mut rounds = vec![0u64; users as usize];
    while told.records.len() < requests {
        let Some(Reverse((at, user))) = due.pop() else { break };
        let done = serving.done(at);
        let round = &mut rounds[user as usize];
        let k = u64::from(user) + u64::from(users) * *round;
        *round += 1;
        told.records.push(Record { user, due: Trigger::User, ..answered(k, at, done) });
        due.push(Reverse((done + think(), user)));
    }
    told
}

/// One request at each of these instants.
pub fn single(due: &[Nanos], target: Target, seed: u64) -> Told {
    let mut serving = target.serving(seed);
    let records = (0..).zip(due).map(|(k, &at)| answered(k, at, serving.done(at))).collect();
    Told { records, ..Told::default() }
}

/// Sessions of ten requests of step 0 and one of step 1, each at the answer before it.
pub const STEPS: u32 = 11;

/// Sessions that are due at these instants, of which at most `cap` are let in at once.
pub fn sessions(due: &[Nanos], cap: usize, target: Target, seed: u64) -> Told {
    let mut serving = target.serving(seed);
    let mut told = Told::default();
    let mut begun: Vec<Nanos> = vec![Nanos::ZERO; due.len()];
    // When what comes next: an arrival (ordinal 0) or a step.
    let mut next: BinaryHeap<Reverse<(Nanos, usize, u32)>> =
        due.iter().enumerate().map(|(k, &at)| Reverse((at, k, 0))).collect();
    let (mut inside, mut waiting) = (0, std::collections::VecDeque::new());
    while let Some(Reverse((at, k, ordinal))) = next.pop() {
        if ordinal == 0 {
            if inside == cap {
                waiting.push_back(k);
                continue;
            }
            inside += 1;
            begun[k] = at;
            told.users.push((at, 1));
        }
        if ordinal == STEPS {
            let session = Record {
                kind: Kind::Session,
                repeat: STEPS,
                started: begun[k].into(),
                ..answered(k as u64, due[k], at)
            };
            told.records.push(Record { sent: headway_base::Stamp::NONE, ..session });
            told.users.push((at, -1));
            inside -= 1;
            if let Some(first) = waiting.pop_front() {
                next.push(Reverse((at, first, 0)));
            }
            continue;
        }
        let done = serving.done(at);
        let first = ordinal == 0;
        told.records.push(Record {
            intended: if first { due[k] } else { at },
            arrived: due[k],
            wait: if first { at - due[k] } else { Nanos::ZERO },
            step: u16::from(ordinal == STEPS - 1),
            repeat: ordinal,
            due: if first { Trigger::Arrival } else { Trigger::Step },
            ..answered(k as u64, at, done)
        });
        next.push(Reverse((done, k, ordinal + 1)));
    }
    told
}

/// Poisson arrivals at the rate of a profile.
pub fn arrivals(phases: &[Phase], seed: u64) -> Vec<Nanos> {
    let (profile, mut draws) = (Profile::new(phases), Stream::new(seed, "gap").item(0));
    let (mut expected, mut all) = (0.0, Vec::new());
    loop {
        expected += exponential(&mut draws);
        if expected >= profile.total() {
            return all;
        }
        all.push(profile.inverse(expected));
    }
}

pub fn poisson(phases: &[Phase]) -> PlanLaw {
    let exponential = |x: f64| -(-x).exp_m1();
    PlanLaw {
        profile: Profile::new(phases),
        gap_cdf: Some(Arc::new(exponential)),
        gap_cov: 1.0,
        dispersion: 1.0,
        poisson: true,
    }
}

impl Told {
    /// Both, the other as group 1; its steps come after so many.
    pub fn and(mut self, other: Told, steps: u16) -> Told {
        let moved = |r: &Record| Record { group: 1, step: r.step + steps, ..*r };
        self.records.extend(other.records.iter().map(moved));
        self.users.extend(other.users);
        self
    }

    /// As sources tell it while the run lasts, each session and user by one of them.
    pub fn live(&self, setup: Setup, thresholds: &[&str]) -> Summary {
        self.told(setup, thresholds, facts())
    }

    /// The same of a run that ended at an instant, before its plan did.
    pub fn cut_short(&self, setup: Setup, at: Nanos) -> Summary {
        self.told(setup, &[], Facts { interrupted_at: Some(at), ..facts() })
    }

    fn told(&self, setup: Setup, thresholds: &[&str], facts: Facts) -> Summary {
        let sources = setup.sources;
        let mut analysis = Analysis::new(setup).judging(read(thresholds));
        let of = |s: usize| {
            self.records.iter().filter(move |r| {
                let own = if r.due == Trigger::User { u64::from(r.user) } else { r.k };
                own as usize % sources == s
            })
        };
        for s in 0..sources {
            let mut starts: Vec<_> =
                of(s).filter(|r| r.kind == Kind::Request).filter_map(Record::start).collect();
            starts.sort_by_key(|s| s.started);
            let mut records: Vec<Record> = of(s).copied().collect();
            // A session's row follows its last request.
            records.sort_by_key(|r| (r.done, r.kind == Kind::Session));
            let users = if s == 0 { self.users.clone() } else { Vec::new() };
            let batch = Batch {
                source: s as u16,
                starts,
                records,
                users,
                watermark: Nanos::MAX,
                last: true,
                ..Batch::default()
            };
            analysis.batch(&batch);
        }
        analysis.finish(facts)
    }

    /// As a log tells it: in the order of starts, a session's row before its first request or just after it, and without the
    /// users.
    pub fn logged(&self, setup: Setup, thresholds: &[&str]) -> Summary {
        let mut analysis = Analysis::new(Setup { sources: 1, ..setup }).judging(read(thresholds));
        let mut records = self.records.clone();
        records.sort_by_key(|r| {
            (r.started.get().unwrap_or(r.intended), r.k, (r.kind == Kind::Session) == r.k.is_multiple_of(2))
        });
        for part in records.chunks(4_096) {
            let requests = part.iter().filter(|r| r.kind == Kind::Request);
            let starts: Vec<_> = requests.filter_map(Record::start).collect();
            let watermark = starts.last().map_or(Nanos::ZERO, |s| s.started);
            analysis.batch(&Batch { starts, records: part.to_vec(), watermark, ..Batch::default() });
        }
        analysis.batch(&Batch { watermark: Nanos::MAX, last: true, ..Batch::default() });
        analysis.finish(facts())
    }
}

fn read(thresholds: &[&str]) -> Vec<Threshold> {
    thresholds.iter().map(|t| t.parse().unwrap()).collect()
}

fn facts() -> Facts {
    Facts { seed: Some(1), ..Facts::default() }
}
