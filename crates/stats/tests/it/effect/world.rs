//! A disturbed generator in front of a target, and the truth: the same draws with the intended instants.

use crate::effect::queues::{Own, Target, draws, normal};
use headway_base::special::exponential;
use headway_base::{Nanos, fnv::Fnv1a};
use headway_stats::effect::{Effect, Fate, Found, HoldUp, Number, Place, Request, Tolerance};
use headway_stats::summary::RuleOutcome;

pub const DISTURBED: [&str; 13] = [
    "none",
    "host",
    "one40",
    "one300",
    "per18",
    "tick1",
    "tick5",
    "tick10",
    "catchup",
    "delay10",
    "saturated",
    "busy",
    "samehost",
];

/// What a run shows to its client.
pub struct Seen {
    pub requests: Vec<Request>,
    pub holds: Vec<(f64, f64)>,
    /// Response times of an undisturbed generator, and whether it was turned away.
    pub truth: Vec<(f64, bool)>,
}

fn poisson(rate: f64, length: f64, seed: u64, name: &str) -> Vec<f64> {
    let mut draws = draws(seed, name);
    let mut at = 0.0;
    let next = || {
        at += exponential(&mut draws) / rate;
        (at < length).then_some(at)
    };
    std::iter::from_fn(next).collect()
}

/// When requests are due: exponential headways, all alike, or of CoV 2 (nine in ten short, hyperexponential with balanced means).
fn due(plan: &str, rate: f64, length: f64, seed: u64) -> Vec<f64> {
    let mut draws = draws(seed, "gap");
    let mut headway = || match plan {
        "constant" => 1.0,
        "clustered" => {
            // Whitt (1982): balanced means, CoV^2 4.
            let short = 0.5 * (1.0 + 0.6f64.sqrt());
            let of = if draws.open01() < short { short } else { 1.0 - short };
            exponential(&mut draws) / (2.0 * of)
        }
        _ => exponential(&mut draws),
    };
    let mut at = 0.0;
    let next = || {
        at += headway() / rate;
        (at < length).then_some(at)
    };
    std::iter::from_fn(next).collect()
}

/// A disturbance near the limit: its rate, and the median, spread and longest of its hold-ups.
pub fn drawn(rate: f64, seed: u64) -> String {
    let mut draws = draws(seed, "drawn");
    let mut between = |from: f64, to: f64| from + (to - from) * draws.open01();
    let per_s = 10f64.powf(between(-1.3, 1.0));
    let median = 10f64.powf(between(-0.5, 1.3)) * (300.0 / rate).min(1.0);
    let spread = between(0.2, 1.2);
    let most = 10f64.powf(between(1.0, 2.5));
    format!("h:{per_s:.3}:{median:.3}:{spread:.2}:{most:.1}")
}

pub fn holds(kind: &str, length: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut draws = draws(seed, "holds");
    let at = |rate: f64| poisson(rate, length, seed, "hold");
    let mut all: Vec<(f64, f64)> = match kind {
        "host" | "samehost" => {
            let mut span = || (0.005 * (0.8 * normal(&mut draws)).exp()).clamp(0.001, 0.030);
            at(2.0).into_iter().map(|h| (h, span())).collect()
        }
        "one40" => vec![(draws.open01() * length * 0.9, 0.04)],
        "one300" => vec![(draws.open01() * length * 0.9, 0.3)],
        "per18" => {
            let first = draws.open01() * 2.0;
            (0..(length / 2.0) as usize).map(|k| (first + 2.0 * k as f64, 0.018)).collect()
        }
        "catchup" => at(1.0).into_iter().map(|h| (h, 0.02 + 0.06 * draws.open01())).collect(),
        "delay10" => at(5.0).into_iter().map(|h| (h, 0.010)).collect(),
        _ => match kind.strip_prefix("h:") {
            None => Vec::new(),
            Some(numbers) => {
                let n: Vec<f64> = numbers.split(':').map(|x| x.parse().unwrap()).collect();
                let mut span = || (n[1] / 1e3 * (n[2] * normal(&mut draws)).exp()).min(n[3] / 1e3);
                at(n[0]).into_iter().map(|h| (h, span())).collect()
            }
        },
    };
    let mut end = f64::MIN;
    all.retain(|h| {
        let apart = h.0 > end;
        end = end.max(h.0 + h.1);
        apart
    });
    all
}

/// When each starts: never in a hold-up, each send takes time, a ticking generator waits for its tick.
fn starts(intended: &[f64], holds: &[(f64, f64)], send: f64, tick: f64) -> Vec<f64> {
    let (mut last, mut j) = (f64::MIN, 0);
    let start = |&t: &f64| {
        let mut at = if tick > 0.0 { (t / tick - 1e-9).ceil() * tick } else { t };
        at = at.max(last);
        while holds.get(j).is_some_and(|h| h.0 + h.1 <= at) {
            j += 1;
        }
        if let Some(h) = holds.get(j).filter(|h| h.0 <= at) {
            at = h.0 + h.1;
        }
        last = at + send;
        at
    };
    intended.iter().map(start).collect()
}

/// When it is read: not in a hold-up.
pub fn read(ended: f64, holds: &[(f64, f64)]) -> f64 {
    let i = holds.partition_point(|h| h.0 <= ended);
    i.checked_sub(1).map_or(ended, |i| ended.max(holds[i].0 + holds[i].1))
}

/// One thread that sends and reads, each of which takes `cost`: starts, ends, when each is read.
fn busy(intended: &[f64], target: &Target, cost: f64) -> (Vec<f64>, Vec<f64>, Vec<bool>, Vec<f64>) {
    let n = intended.len();
    let mut starts = intended.to_vec();
    let mut done = Vec::new();
    for round in 0.. {
        let (ends, refused) = target.play(&starts);
        let mut events: Vec<(f64, usize)> =
            intended.iter().chain(&ends).copied().enumerate().map(|(i, at)| (at, i)).collect();
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        done.resize(2 * n, 0.0);
        let mut free = f64::MIN;
        for (at, i) in events {
            done[i] = at.max(free);
            free = done[i] + cost;
        }
        let mut last = f64::MIN;
        let mut moved = 0.0f64;
        for (start, &at) in starts.iter_mut().zip(&done) {
            last = last.max(at);
            moved = moved.max((last - *start).abs());
            *start = last;
        }
        if moved < 1e-9 || round == 12 {
            let (ends, refused) = if moved < 1e-9 { (ends, refused) } else { target.play(&starts) };
            let read = ends.iter().zip(&done[n..]).map(|(&end, &read)| read.max(end)).collect();
            return (starts, ends, refused, read);
        }
    }
    unreachable!()
}

pub fn ns(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as i64)
}

/// One run. Without stamps, a response is known to have come when it was read. A target may be named with a plan: `mm1.5 constant`.
pub fn play(name: &str, kind: &str, rate: f64, length: f64, way: f64, stamped: bool, seed: u64) -> Seen {
    let hash = Fnv1a::new().with(format!("{name} {kind} {rate} {length}").as_bytes()).value();
    let seed = seed.wrapping_mul(0x9e37_79b9).wrapping_add(hash);
    let (name, plan) = name.split_once(' ').unwrap_or((name, ""));
    let intended = due(plan, rate, length, seed);
    let target = Target::new(name, rate, intended.len(), way, seed);
    let holds = holds(kind, length, seed);
    let send = if kind == "saturated" { 0.8 / rate } else { 5e-6 };
    let tick = kind.strip_prefix("tick").map_or(0.0, |ms| ms.parse::<f64>().unwrap() / 1e3);
    let started = starts(&intended, &holds, send, tick);
    let (starts, ends, refused, done, truth) = match kind {
        "samehost" => {
            let own = Own(&holds);
            let in_own = |of: &[f64]| {
                let within: Vec<f64> = of.iter().map(|&a| own.within(a)).collect();
                let (ends, refused) = target.play(&within);
                (ends.into_iter().map(|d| own.instant(d)).collect::<Vec<f64>>(), refused)
            };
            let ((ends, refused), truth) = (in_own(&started), in_own(&intended));
            let done = ends.iter().map(|&d| read(d, &holds)).collect();
            (started, ends, refused, done, truth)
        }
        "busy" => {
            let (started, ends, refused, done) = busy(&intended, &target, 0.15 / rate);
            (started, ends, refused, done, target.play(&intended))
        }
        _ => {
            let (ends, refused) = target.play(&started);
            let done: Vec<f64> = ends.iter().map(|&d| read(d, &holds)).collect();
            (started, ends, refused, done, target.play(&intended))
        }
    };
    let (mut ends, mut done, mut refused, mut truth) = (ends, done, refused, truth);
    if let Some(limit) = target.given_up() {
        for i in 0..intended.len() {
            let by = starts[i] + limit;
            refused[i] = ends[i] > by;
            (ends[i], done[i]) = (ends[i].min(by), done[i].min(by));
            truth.1[i] = truth.0[i] > intended[i] + limit;
            truth.0[i] = truth.0[i].min(intended[i] + limit);
        }
    }
    // Who gives up is not turned away: the target goes on.
    let served = target.given_up().is_some();
    let request = |i: usize| Request {
        intended: ns(intended[i]),
        started: ns(starts[i]),
        answered: ns(if stamped { ends[i] } else { done[i] }),
        done: ns(done[i]),
        stamped,
        ok: !refused[i],
        fate: if refused[i] && !served { Fate::Refused } else { Fate::Served },
        counted: true,
    };
    let truth = intended.iter().zip(truth.0).zip(truth.1).map(|((t, d), lost)| (d - t, lost)).collect();
    Seen { requests: (0..intended.len()).map(request).collect(), holds, truth }
}

pub fn judge(seen: &Seen, block: usize, place: Place) -> Found {
    let mut effect = Effect::new(block, place);
    for &(from, length) in &seen.holds {
        effect.hold_up(HoldUp { from: ns(from), length: ns(length) });
    }
    seen.requests.iter().for_each(|request| effect.push(request));
    effect.finish(&Tolerance::default()).unwrap()
}

/// A run and what was said of it.
pub struct Said {
    pub target: String,
    pub kind: String,
    pub verdict: RuleOutcome,
    /// By how much each judged number was off, as a share; of the share that failed, the points beyond 0.1 count.
    pub off: Vec<f64>,
    pub numbers: Vec<Number>,
}

impl Said {
    pub fn worst(&self) -> f64 {
        self.off.iter().copied().fold(0.0, f64::max)
    }
}

pub fn say(target: &str, kind: &str, seen: &Seen, place: Place) -> Said {
    let found = judge(seen, headway_stats::effect::BLOCK, place);
    let (mut truth, n): (Vec<f64>, _) = (seen.truth.iter().map(|t| t.0 * 1e9).collect(), seen.truth.len());
    truth.sort_by(f64::total_cmp);
    let judged: Vec<_> = found.numbers.iter().filter(|n| n.outcome.is_some()).collect();
    let off = |number: &&headway_stats::effect::NumberFound| {
        let true_number = match number.number {
            Number::Mean => truth.iter().sum::<f64>() / n as f64,
            Number::Percentile(p) => truth[(f64::from(p) / 1e3 * n as f64).ceil() as usize - 1],
            Number::Failed => seen.truth.iter().filter(|t| t.1).count() as f64 / n as f64,
            Number::Max => unreachable!("max is not judged"),
        };
        let off = (number.measured - true_number).abs();
        match number.number {
            Number::Failed => (off / true_number.max(1e-9)).min(off / 0.001 * 0.05),
            // Times up to 20 us are tolerated.
            _ if off <= 20_000.0 => (off / true_number).min(0.05),
            _ => off / true_number,
        }
    };
    Said {
        target: target.into(),
        kind: kind.into(),
        verdict: found.outcome(),
        off: judged.iter().map(off).collect(),
        numbers: judged.iter().map(|n| n.number).collect(),
    }
}
