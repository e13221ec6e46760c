//! Loads whose cause is known: one generator of traffic per cause that an audit can name, and of those that need none.
//!
//! Each draws its sizes (users, think times, rates, pauses) from its seed, so that a hundred seeds are a hundred different
//! tests and not one. Deliberately absent: the names that the audit gives.

pub mod odd;

use headway_base::random::{Draws, Stream};
use headway_base::{Nanos, Outcome, Record};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a load is made by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maker {
    /// Poisson arrivals.
    Independent,
    /// Two hundred users with random think times.
    FixedPopulation,
    /// A handful of users with random think times.
    FewUsers,
    /// Users with one think time, some of them brought together by stalls of the target.
    FixedThink,
    /// Users with random think times whose target stands still now and then.
    Feedback,
    /// Poisson arrivals of a generator that stands still now and then.
    Pauses,
    /// Users with random think times, on a generator that stands still now and then.
    ClosedPauses,
    /// Poisson arrivals released on the next tick of a timer.
    Ticks,
    /// Generators of constant rate, started together.
    InStep,
    /// Threads of one generator, each of constant rate, started together.
    ThreadsInStep,
    /// Two generators with the same Poisson plan.
    SameSeed,
    /// Users without think time.
    Saturation,
    /// One generator of constant rate.
    ConstantRate,
    /// Poisson arrivals that come more and more often for a while, then at a steady rate.
    Ramp,
    /// Two Poisson generators of different seeds, of which one begins late.
    LateGenerator,
    /// Poisson arrivals with one long hole, after which they go on as before.
    Interrupted,
    /// Headways more variable than exponential ones, and independent of each other: nothing in them says why.
    Renewal,
    /// Many users with one think time, of a target that never stalls.
    FixedThinkOnly,
    /// Many users, each of which sends at a constant rate of its own phase.
    Pacing,
    /// Users that think 25 times longer than they wait, in whole seconds.
    CoarseThink,
    /// Users without think time, in whole seconds.
    CoarseSaturation,
    /// Poisson arrivals released on the next tick of a timer of any period.
    AnyTicks,
    /// Two generators with the same Poisson plan, each of which loses one request in ten to twenty.
    LossySeed,
    /// Two generators with the same Poisson plan, of which one begins ten to five hundred requests later in it.
    LateSeed,
    /// Two Poisson generators of different seeds.
    TwoSeeds,
    /// Poisson arrivals of a generator that is stopped (SIGSTOP) 4 to 12 times for 0.2 to 0.5 s, and then catches up.
    Stopped,
    /// The same, but its clients lose the time: they go on where they stopped.
    StoppedAndLost,
    /// Users with random think times on a generator that is stopped so, and then catches up.
    ClosedStopped,
    /// The same, but the users lose the time.
    ClosedStoppedAndLost,
}

impl Maker {
    pub const ALL: [Maker; 29] = [
        Maker::Independent,
        Maker::FixedPopulation,
        Maker::FewUsers,
        Maker::FixedThink,
        Maker::Feedback,
        Maker::Pauses,
        Maker::ClosedPauses,
        Maker::Ticks,
        Maker::InStep,
        Maker::ThreadsInStep,
        Maker::SameSeed,
        Maker::Saturation,
        Maker::ConstantRate,
        Maker::Ramp,
        Maker::LateGenerator,
        Maker::Interrupted,
        Maker::Renewal,
        Maker::FixedThinkOnly,
        Maker::Pacing,
        Maker::CoarseThink,
        Maker::CoarseSaturation,
        Maker::AnyTicks,
        Maker::LossySeed,
        Maker::LateSeed,
        Maker::TwoSeeds,
        Maker::Stopped,
        Maker::StoppedAndLost,
        Maker::ClosedStopped,
        Maker::ClosedStoppedAndLost,
    ];

    /// The name that an audit ought to give: none where there is nothing to name.
    pub fn cause(self) -> Option<&'static str> {
        match self {
            Maker::Independent | Maker::FixedPopulation | Maker::CoarseThink | Maker::TwoSeeds => None,
            Maker::FixedThinkOnly => Some("fixed-think"),
            Maker::Pacing => Some("fixed-pacing"),
            Maker::CoarseSaturation => Some("saturation"),
            Maker::AnyTicks => Some("timer-ticks"),
            Maker::LossySeed | Maker::LateSeed => Some("same-seed"),
            Maker::FewUsers => Some("few-users"),
            Maker::FixedThink => Some("fixed-think"),
            Maker::Feedback => Some("feedback-loop"),
            Maker::Pauses | Maker::ClosedPauses => Some("generator-pauses"),
            Maker::Stopped | Maker::StoppedAndLost => Some("generator-pauses"),
            Maker::ClosedStopped | Maker::ClosedStoppedAndLost => Some("generator-pauses"),
            Maker::Ticks => Some("timer-ticks"),
            Maker::InStep | Maker::ThreadsInStep => Some("in-step"),
            Maker::SameSeed => Some("same-seed"),
            Maker::Saturation => Some("saturation"),
            Maker::ConstantRate => Some("constant-rate"),
            Maker::Ramp | Maker::LateGenerator => Some("changing-rate"),
            Maker::Interrupted => Some("interruption"),
            Maker::Renewal => Some("unknown-cause"),
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Maker::Independent => "Poisson arrivals",
            Maker::FixedPopulation => "150 to 300 users, random think time",
            Maker::FewUsers => "2 to 5 users, random think time",
            Maker::FixedThink => "users with one think time, target stalls",
            Maker::Feedback => "users, random think time, target stalls",
            Maker::Pauses => "Poisson, generator pauses",
            Maker::ClosedPauses => "users, random think time, generator pauses",
            Maker::Ticks => "Poisson, released on timer ticks",
            Maker::InStep => "3 to 6 constant rates, started together",
            Maker::ThreadsInStep => "10 to 50 threads of constant rate, started together",
            Maker::SameSeed => "2 generators, one Poisson plan",
            Maker::Saturation => "users without think time",
            Maker::ConstantRate => "constant rate with jitter",
            Maker::Ramp => "Poisson after a ramp",
            Maker::LateGenerator => "2 Poisson generators, one begins late",
            Maker::Interrupted => "Poisson with one hole",
            Maker::Renewal => "independent headways of CoV 1.5 to 3",
            Maker::FixedThinkOnly => "150 to 300 users, one think time",
            Maker::Pacing => "100 to 200 users, each at a constant rate",
            Maker::CoarseThink => "users that think 25 times longer than they wait, stamps of 1 s",
            Maker::CoarseSaturation => "users without think time, stamps of 1 s",
            Maker::AnyTicks => "Poisson, released on ticks of any period",
            Maker::LossySeed => "2 generators, one Poisson plan, 5 to 10 % lost",
            Maker::LateSeed => "2 generators, one Poisson plan, begun elsewhere",
            Maker::TwoSeeds => "2 Poisson generators",
            Maker::Stopped => "Poisson, generator stopped 4 to 12 times, catches up",
            Maker::StoppedAndLost => "Poisson, generator stopped 4 to 12 times, loses the time",
            Maker::ClosedStopped => "users, random think time, generator stopped 4 to 12 times, catches up",
            Maker::ClosedStoppedAndLost => {
                "users, random think time, generator stopped 4 to 12 times, loses the time"
            }
        }
    }
}

/// A load as an importer would hand it over, in the order of its starts.
pub struct Load {
    pub rows: Vec<Record>,
    /// Names of users; empty if it has none.
    pub users: Vec<String>,
    pub generators: usize,
    /// What the last digit of its stamps is worth.
    pub digit: Nanos,
}

/// About so many requests in each load.
const REQUESTS: f64 = 8_000.0;

struct Dice(Draws);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.open01()
    }
    fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + (self.0.open01() * (high - low + 1) as f64) as u64
    }
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.0.open01().ln()
    }
    /// By mean and CoV.
    fn lognormal(&mut self, mean: f64, cov: f64) -> f64 {
        let variance = (1.0 + cov * cov).ln();
        let normal = (-2.0 * self.0.open01().ln()).sqrt() * (std::f64::consts::TAU * self.0.open01()).cos();
        mean * (normal * variance.sqrt() - 0.5 * variance).exp()
    }
}

/// A request of seconds.
fn row(at: f64, done: f64, user: u32, generator: u16) -> Record {
    let (at, done) = (Nanos((at * 1e9) as i64), Nanos((done * 1e9) as i64));
    Record {
        started: at.into(),
        sent: at.into(),
        user,
        shard: generator,
        ..Record::never_started(0, at, done, Outcome::Ok)
    }
}

fn load(mut rows: Vec<Record>, users: u64, generators: usize, digit: Nanos) -> Load {
    let to = |digit: Nanos, at: Nanos| Nanos(at.0 / digit.0 * digit.0);
    let cut = |at: Nanos| to(digit, at);
    for (k, r) in rows.iter_mut().enumerate() {
        // Tools that stamp whole seconds still take times in milliseconds.
        let took = to(digit.min(Nanos::from_millis(1)), r.done - r.intended);
        r.k = k as u64;
        r.intended = cut(r.intended);
        r.started = r.intended.into();
        r.sent = r.started;
        r.done = r.intended + took;
    }
    rows.sort_by_key(|r| r.intended);
    Load { rows, users: (1..=users).map(|u| format!("user {u}")).collect(), generators, digit }
}

/// The load of that maker and seed. Stamps are of 1 us, except those of closed loads, which are of 1 ms as JMeter's.
pub fn make(maker: Maker, seed: u64) -> Load {
    let mut dice = Dice(Stream::new(seed, "traffic").item(maker as u64));
    let us = Nanos::from_micros(1);
    match maker {
        Maker::Independent => load(poisson(&mut dice, 0), 0, 1, us),
        Maker::Pauses => load(paused(&mut dice), 0, 1, us),
        Maker::Ticks => {
            let tick = [0.001, 0.005, 0.01, 0.015_625, 0.02, 0.1][dice.whole(0, 5) as usize];
            load(ticked(&mut dice, tick), 0, 1, us)
        }
        Maker::AnyTicks => {
            let tick = 0.001 * 500f64.powf(dice.between(0.0, 1.0));
            load(ticked(&mut dice, tick), 0, 1, us)
        }
        Maker::LossySeed => {
            let lost = dice.between(0.05, 0.1);
            let mut rows = twice(&mut dice, 0);
            rows.retain(|_| dice.between(0.0, 1.0) >= lost);
            load(rows, 0, 2, us)
        }
        Maker::LateSeed => {
            let skipped = dice.whole(10, 500);
            load(twice(&mut dice, skipped as usize), 0, 2, us)
        }
        Maker::TwoSeeds => {
            let (one, two) = (poisson(&mut dice, 0), poisson(&mut dice, 1));
            let both = one.last().map(|r| r.intended).min(two.last().map(|r| r.intended)).unwrap_or_default();
            load(one.into_iter().chain(two).filter(|r| r.intended < both).collect(), 0, 2, us)
        }
        Maker::Stopped | Maker::StoppedAndLost => {
            let rate = dice.between(200.0, 500.0);
            let rows = poisson_at(&mut dice, rate, 0);
            load(stopped(&mut dice, rows, maker == Maker::Stopped), 0, 1, us)
        }
        Maker::ClosedStopped | Maker::ClosedStoppedAndLost => {
            let catches_up = maker == Maker::ClosedStopped;
            let users = dice.whole(150, 300);
            let think = users as f64 / dice.between(200.0, 500.0);
            let rows = thinking(&mut dice, users, think, catches_up);
            load(rows, users, 1, Nanos::from_millis(1))
        }
        Maker::Pacing => {
            let (users, period) = (dice.whole(100, 200), dice.between(1.0, 5.0));
            let mean = dice.between(0.05, 0.2);
            let mut rows = Vec::new();
            for user in 0..users as u32 {
                let phase = dice.between(0.0, period);
                for k in 0..(REQUESTS / users as f64) as u32 {
                    let at = phase + f64::from(k) * period;
                    rows.push(row(at, at + dice.lognormal(mean, 0.5), user, 0));
                }
            }
            load(rows, users, 1, Nanos::from_millis(1))
        }
        Maker::FixedThinkOnly => {
            let users = dice.whole(150, 300);
            closed(&mut dice, users, Think::Fixed, Stalls::None)
        }
        Maker::CoarseThink => {
            let users = dice.whole(20, 300);
            whole_seconds(closed(&mut dice, users, Think::Long, Stalls::None))
        }
        Maker::CoarseSaturation => {
            let users = dice.whole(5, 100);
            whole_seconds(closed(&mut dice, users, Think::None, Stalls::None))
        }
        Maker::ConstantRate => {
            let rate = dice.between(20.0, 500.0);
            load(constant(&mut dice, rate, 0.0, 0), 0, 1, us)
        }
        Maker::InStep => {
            let n = dice.whole(3, 6);
            let rate = dice.between(5.0, 100.0);
            let each = |g: u64, dice: &mut Dice| {
                let late = dice.between(0.0, 0.01 / rate);
                constant(dice, rate, late, g as u16)
            };
            let rows = (0..n).flat_map(|g| each(g, &mut dice)).collect();
            load(rows, 0, n as usize, us)
        }
        Maker::ThreadsInStep => {
            let (threads, rate) = (dice.whole(10, 50), dice.between(5.0, 100.0));
            let mut rows = Vec::new();
            for user in 0..threads as u32 {
                let late = dice.between(0.0, 0.01 / rate);
                rows.extend(
                    constant(&mut dice, rate, late, 0).into_iter().take(600).map(|r| Record { user, ..r }),
                );
            }
            load(rows, threads, 1, us)
        }
        Maker::Ramp => {
            let share = dice.between(0.1, 0.4);
            let rows = poisson(&mut dice, 0);
            let end = rows.last().map_or(0.0, |r| r.intended.as_secs_f64());
            // Thinned over the ramp: kept with the share of it that is over.
            let kept = |r: &Record, u: f64| r.intended.as_secs_f64() >= u * share * end;
            let rows = rows.into_iter().filter(|r| kept(r, dice.between(0.0, 1.0))).collect();
            load(rows, 0, 1, us)
        }
        Maker::LateGenerator => {
            let one = poisson(&mut dice, 0);
            let end = one.last().map_or(0.0, |r| r.intended.as_secs_f64());
            let begin = end * dice.between(0.15, 0.5);
            let two = poisson_at(&mut dice, REQUESTS / end, 1);
            let two = two.into_iter().filter(|r| r.intended.as_secs_f64() >= begin);
            load(one.into_iter().chain(two).collect(), 0, 2, us)
        }
        Maker::Interrupted => {
            let rows = poisson(&mut dice, 0);
            let end = rows.last().map_or(0.0, |r| r.intended.as_secs_f64());
            let (at, long) = (end * dice.between(0.2, 0.8), end * dice.between(0.1, 3.0));
            let later = |r: Record| match r.intended.as_secs_f64() {
                t if t < at => r,
                t => row(t + long, t + long + (r.done - r.intended).as_secs_f64(), 0, 0),
            };
            load(rows.into_iter().map(later).collect(), 0, 1, us)
        }
        Maker::Renewal => load(renewal(&mut dice), 0, 1, us),
        Maker::SameSeed => load(twice(&mut dice, 0), 0, 2, us),
        Maker::FixedPopulation => {
            let users = dice.whole(150, 300);
            closed(&mut dice, users, Think::Uniform, Stalls::None)
        }
        Maker::ClosedPauses => {
            let users = dice.whole(150, 300);
            closed(&mut dice, users, Think::Uniform, Stalls::OfGenerator)
        }
        Maker::FewUsers => {
            let users = dice.whole(2, 5);
            closed(&mut dice, users, Think::Uniform, Stalls::None)
        }
        Maker::FixedThink => {
            let users = dice.whole(50, 200);
            closed(&mut dice, users, Think::Fixed, Stalls::Long)
        }
        Maker::Feedback => {
            let users = dice.whole(50, 300);
            closed(&mut dice, users, Think::Uniform, Stalls::Long)
        }
        Maker::Saturation => {
            let users = dice.whole(5, 100);
            closed(&mut dice, users, Think::None, Stalls::None)
        }
    }
}

/// One Poisson plan by two generators, of which the second begins so many requests later in it.
fn twice(dice: &mut Dice, skipped: usize) -> Vec<Record> {
    let one = poisson(dice, 0);
    let late = dice.between(0.0, 3.0) - one.get(skipped).map_or(0.0, |r| r.intended.as_secs_f64());
    let two: Vec<_> = one[skipped..]
        .iter()
        .map(|r| {
            let jitter = dice.exponential(20e-6);
            let at = r.intended.as_secs_f64() + late + jitter;
            row(at, at + dice.exponential(0.01), 0, 1)
        })
        .collect();
    one.into_iter().chain(two).collect()
}

/// The same load with its stamps in whole seconds.
fn whole_seconds(fine: Load) -> Load {
    load(fine.rows, fine.users.len() as u64, fine.generators, Nanos::from_secs(1))
}

fn poisson(dice: &mut Dice, generator: u16) -> Vec<Record> {
    let rate = dice.between(20.0, 500.0);
    poisson_at(dice, rate, generator)
}

fn poisson_at(dice: &mut Dice, rate: f64, generator: u16) -> Vec<Record> {
    let mut at = 0.0;
    let mut rows = Vec::new();
    while at * rate < REQUESTS {
        at += dice.exponential(1.0 / rate);
        let done = at + dice.exponential(0.02);
        rows.push(row(at, done, 0, generator));
    }
    rows
}

/// Pauses of 20 to 200 mean headways, seldom enough that most requests are not in one. What is held up leaves in a row.
fn paused(dice: &mut Dice) -> Vec<Record> {
    let mut rows = poisson(dice, 0);
    let end = rows.last().map_or(0.0, |r| r.intended.as_secs_f64());
    let mean = end / rows.len() as f64;
    let length = mean * dice.between(20.0, 200.0);
    let every = length * dice.between(8.0, 20.0);
    let mut pause = dice.exponential(every);
    while pause < end {
        let mut free = pause + length;
        for r in &mut rows {
            let at = r.intended.as_secs_f64();
            if at >= pause && at < free {
                let took = (r.done - r.intended).as_secs_f64();
                *r = row(free, free + took, 0, 0);
                free += 5e-6;
            }
        }
        pause = free + dice.exponential(every);
    }
    rows
}

/// When a generator is stopped, 4 to 12 times for 0.2 to 0.5 s.
fn stops(dice: &mut Dice, end: f64) -> Vec<(f64, f64)> {
    let mut begin: Vec<f64> = (0..dice.whole(4, 12)).map(|_| dice.between(0.0, end)).collect();
    begin.sort_unstable_by(f64::total_cmp);
    begin.into_iter().map(|from| (from, dice.between(0.2, 0.5))).collect()
}

/// What is due while the generator is stopped leaves in a row when it goes on, or everything later is as much later.
fn stopped(dice: &mut Dice, mut rows: Vec<Record>, catches_up: bool) -> Vec<Record> {
    let end = rows.last().map_or(0.0, |r| r.intended.as_secs_f64());
    let send = dice.between(10e-6, 200e-6);
    let stops = stops(dice, end);
    let mut free = 0.0f64;
    for r in &mut rows {
        let (due, took) = (r.intended.as_secs_f64(), (r.done - r.intended).as_secs_f64());
        let at = match catches_up {
            true => {
                let held = stops.iter().filter(|(from, length)| due >= *from && due < from + length);
                let at = held.map(|(from, length)| from + length).fold(due, f64::max).max(free);
                free = at + send;
                at
            }
            false => {
                due + stops.iter().filter(|(from, _)| due >= *from).map(|(_, length)| length).sum::<f64>()
            }
        };
        *r = row(at, at + took, 0, 0);
    }
    rows
}

/// Users that think for exponential times on a generator that is stopped: timers run on meanwhile, or they stand still too.
fn thinking(dice: &mut Dice, users: u64, think: f64, catches_up: bool) -> Vec<Record> {
    let end = REQUESTS / users as f64 * think;
    let stops = stops(dice, end);
    let mut next: BinaryHeap<Reverse<(i64, u32)>> =
        (0..users as u32).map(|user| Reverse(((dice.exponential(think) * 1e9) as i64, user))).collect();
    let mut rows = Vec::new();
    let mut free = 0.0f64;
    // Of a generator that loses the time `due` is its own, which stands still while it is stopped.
    let own =
        |due: f64| due + stops.iter().filter(|(from, _)| due >= *from).map(|(_, length)| length).sum::<f64>();
    while let Some(Reverse((due, user))) = next.pop() {
        let due = due as f64 / 1e9;
        if due > end {
            break;
        }
        let took = dice.exponential(0.02);
        let (at, done, ready) = match catches_up {
            true => {
                let held = stops.iter().filter(|(from, length)| due >= *from && due < from + length);
                let at = held.map(|(from, length)| from + length).fold(due, f64::max).max(free);
                free = at + 20e-6;
                (at, at + took, at + took)
            }
            // A response that comes meanwhile is read when the generator goes on.
            false => (own(due), own(due).max(own(due + took)), due + took),
        };
        rows.push(row(at, done, user, 0));
        next.push(Reverse((((ready + dice.exponential(think)) * 1e9) as i64, user)));
    }
    rows
}

fn renewal(dice: &mut Dice) -> Vec<Record> {
    let (rate, cov) = (dice.between(20.0, 500.0), dice.between(1.5, 3.0));
    let mut at = 0.0;
    let mut rows = Vec::new();
    while at * rate < REQUESTS {
        at += dice.lognormal(1.0 / rate, cov);
        let done = at + dice.exponential(0.02);
        rows.push(row(at, done, 0, 0));
    }
    rows
}

fn ticked(dice: &mut Dice, tick: f64) -> Vec<Record> {
    // Two to twenty requests a tick.
    let rate = dice.between(2.0, 20.0) / tick;
    let mut at = 0.0;
    let mut rows = Vec::new();
    while at * rate < REQUESTS {
        at += dice.exponential(1.0 / rate);
        let released = (at / tick).ceil() * tick + dice.exponential(tick * 0.01);
        let done = released + dice.exponential(0.02);
        rows.push(row(released, done, 0, 0));
    }
    rows
}

/// Each start late by an exponential time of up to a tenth of a headway on average.
fn constant(dice: &mut Dice, rate: f64, offset: f64, generator: u16) -> Vec<Record> {
    let late = dice.between(0.0, 0.02) / rate;
    (0..REQUESTS as u64 / 2)
        .map(|k| {
            let at = offset + k as f64 / rate + dice.exponential(late.max(1e-9));
            row(at, at + dice.exponential(0.02), 0, generator)
        })
        .collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Think {
    None,
    Fixed,
    Uniform,
    /// Exponential, 25 times the mean response time.
    Long,
}

#[derive(Clone, Copy, PartialEq)]
enum Stalls {
    None,
    /// Of 1.3 to 2 longest think times, some twenty in all, so that everybody waits before it ends.
    Long,
    /// Of the generator, 20 to 60 mean headways long: what is due in one leaves at its end. Answers come meanwhile.
    OfGenerator,
}

/// Users in a loop: think, ask, wait. The target answers each by itself (a delay station) unless it stands still.
fn closed(dice: &mut Dice, users: u64, think: Think, stalls: Stalls) -> Load {
    let longest = match think {
        Think::None => 0.0,
        _ => dice.between(0.5, 5.0),
    };
    let (mean, cov) = (dice.between(0.005, 0.05), dice.between(0.3, 1.5));
    let longest = if think == Think::Long { 50.0 * mean } else { longest };
    let cycle = longest * if think == Think::Fixed { 1.0 } else { 0.5 } + 0.02;
    // What happens while the users settle is left out.
    let settled = 4.0 * longest + 0.5;
    let end = settled + REQUESTS / users as f64 * cycle;
    let stall_length = match stalls {
        Stalls::OfGenerator => (end - settled) / REQUESTS * dice.between(20.0, 60.0),
        _ => longest * dice.between(1.3, 2.0),
    };
    let between = match stalls {
        Stalls::OfGenerator => stall_length * dice.between(8.0, 20.0),
        _ => ((end - settled) / 20.0).max(3.0 * stall_length),
    };
    let mut stopped = Vec::new();
    if stalls != Stalls::None {
        let mut at = dice.exponential(between);
        while at < end {
            stopped.push((at, at + stall_length));
            at += stall_length + dice.exponential(between);
        }
    }
    let (of_target, of_generator) = match stalls {
        Stalls::OfGenerator => (&[][..], &stopped[..]),
        _ => (&stopped[..], &[][..]),
    };
    // What is left of an answer when the target stops is done after it goes on.
    let answered = |mut at: f64, mut work: f64| {
        for &(from, to) in of_target {
            if at >= to || at + work <= from {
                continue;
            }
            if at < from {
                work -= from - at;
            }
            at = to;
        }
        at + work
    };
    let mut next: BinaryHeap<Reverse<(i64, u32)>> =
        (0..users as u32).map(|u| Reverse(((dice.between(0.0, longest.max(0.1)) * 1e9) as i64, u))).collect();
    let mut rows = Vec::new();
    while let Some(Reverse((at, user))) = next.pop() {
        let at = at as f64 / 1e9;
        if at > end {
            break;
        }
        let held = of_generator.iter().find(|&&(from, to)| at >= from && at < to);
        let at = held.map_or(at, |&(_, to)| to);
        let done = answered(at, dice.lognormal(mean, cov));
        if at >= settled {
            rows.push(row(at - settled, done - settled, user, 0));
        }
        let thought = match think {
            Think::None => 0.0,
            Think::Fixed => longest,
            Think::Uniform => dice.between(0.0, longest),
            Think::Long => dice.exponential(25.0 * mean),
        };
        next.push(Reverse((((done + thought) * 1e9) as i64, user)));
    }
    load(rows, users, 1, Nanos::from_millis(1))
}
