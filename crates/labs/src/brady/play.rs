//! One replication of one setting: 200 users in virtual time, and what their launches look like.
//!
//! The users are the client core's closed group, up a ramp of 100 s. The target answers each request after a time of its own
//! that depends on nothing else, however many there are; a stall holds up all of it. The generator can have pauses.
//!
//! Deliberately absent: which settings there are, and what follows from them.

use super::published::{SIZES, Test};
use crate::bounds;
use headway_base::dist::{self, Dist, Law};
use headway_base::random::{Stream, streams};
use headway_base::special::exponential;
use headway_base::units::UnitError;
use headway_base::{Kind, Nanos, Outcome, Record, RecordSink, Start};
use headway_sim::{Answer, Generator, Target};
use headway_workload::client::RequestId;
use headway_workload::journey::{Journey, Node};
use headway_workload::plan::Group;
use headway_workload::users::{Level, UserPhase};
use headway_workload::{Plan, RequestKey, Shard};

/// Users of each test.
pub const USERS: u32 = 200;
/// They come one by one over this time.
const RAMP_S: f64 = 100.0;
/// Stamps of the tests were in whole milliseconds.
const STAMP: Nanos = Nanos::from_millis(1);
/// What is counted: both ends belong to it.
const WINDOW: (Nanos, Nanos) = (Nanos::from_secs(120), Nanos::from_secs(1_320));
/// How a test is played.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Think times.
    pub think: Dist,
    /// Response times but for stalls, each independent of all others.
    pub response: Dist,
    /// When the target stands still.
    pub stalls: Stalls,
    /// When the generator does.
    pub pauses: Stalls,
    /// The users come one by one over this time.
    pub ramp: Nanos,
    /// From when to when launches are counted; the test then ends.
    pub window: (Nanos, Nanos),
    /// Launches are stamped in whole multiples of this.
    pub stamp: Nanos,
}

/// When the target, or the generator, stands still; what is under way then goes on afterwards.
#[derive(Clone, Copy, Debug)]
pub enum Stalls {
    /// Never.
    None,
    /// Once.
    Once { at: Nanos, length: Nanos },
    /// From every multiple of `every` on.
    Every { every: Nanos, length: Nanos },
    /// After exponential gaps of that mean from the end of one to the beginning of the next.
    Random { gap: Nanos, length: Nanos },
}

impl Setting {
    /// The test's users, response times independent of each other, nothing else.
    ///
    /// # Errors
    /// A law that cannot be.
    pub fn independent(test: &Test) -> Result<Setting, UnitError> {
        Setting::faster(test, 1.0)
    }

    /// The same, faster by that factor.
    ///
    /// # Errors
    /// A law that cannot be.
    pub fn faster(test: &Test, times: f64) -> Result<Setting, UnitError> {
        let cov = test.response_sd_ms / test.response_ms;
        Ok(Setting {
            think: law(&format!("uniform(0s,{}s)", 2.0 * test.think_s / times))?,
            response: law(&format!("lognormal({}ms,{cov})", test.response_ms / times))?,
            stalls: Stalls::None,
            pauses: Stalls::None,
            ramp: Nanos::from_secs_f64(RAMP_S / times),
            window: WINDOW,
            stamp: STAMP,
        })
    }

    /// The same users with answers that take no time.
    ///
    /// # Errors
    /// A law that cannot be.
    pub fn instant(test: &Test) -> Result<Setting, UnitError> {
        Ok(Setting { response: law("0s")?, ..Setting::independent(test)? })
    }

    /// Everybody thinks for just the mean time.
    ///
    /// # Errors
    /// A law that cannot be.
    pub fn fixed_think(self) -> Result<Setting, UnitError> {
        Ok(Setting { think: law(&format!("{}s", self.think.mean()))?, ..self })
    }

    /// With stalls of the target.
    pub fn stalled(self, stalls: Stalls) -> Setting {
        Setting { stalls, ..self }
    }

    /// With pauses of the generator: their rate per second of the time between them, and their length.
    pub fn paused(self, per_s: f64, length_ms: i64) -> Setting {
        let (gap, length) = (Nanos::from_secs_f64(1.0 / per_s), Nanos::from_millis(length_ms));
        Setting { pauses: Stalls::Random { gap, length }, ..self }
    }

    /// Counted from then until then, in seconds.
    pub fn counted(self, from_s: i64, to_s: i64) -> Setting {
        Setting { window: (Nanos::from_secs(from_s), Nanos::from_secs(to_s)), ..self }
    }
}

fn law(text: &str) -> Result<Dist, UnitError> {
    dist::parse(text, &|_| Err("a lab has no files".to_owned()))
}

/// What one replication gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// Launches.
    pub launches: u64,
    /// The same per second.
    pub tps: f64,
    /// Mean response time in milliseconds, from launch, and its standard deviation.
    pub response_ms: f64,
    pub response_sd_ms: f64,
    /// CoV of the headways of the first k users, for every k of [`SIZES`].
    pub cov: Vec<f64>,
}

impl Setting {
    /// Who comes when.
    ///
    /// # Errors
    /// None: the journey is sound.
    pub fn plan(&self, seed: u64) -> anyhow::Result<Plan> {
        let ask = Node::Ask { step: 0, repeat: 1, think: None };
        let journey = Journey::new(&[ask], self.think.clone())?;
        let users = f64::from(USERS);
        // What is launched later is not looked at.
        let end = self.window.1 + self.stamp;
        let level = Level::new(&[
            UserPhase { length: self.ramp, from_users: 0.0, to_users: users },
            UserPhase { length: end - self.ramp, from_users: users, to_users: users },
        ]);
        Ok(Plan::of(seed, Group::closed(level, journey), Nanos::ZERO, end))
    }
}

/// Plays a setting once.
///
/// # Errors
/// None: the journey is sound.
pub fn play(setting: &Setting, seed: u64) -> anyhow::Result<Numbers> {
    let (plan, target) = (setting.plan(seed)?, Answers::new(setting, seed));
    let generator = Generator { pauses: still(setting.pauses, seed, PAUSES), ..Generator::default() };
    let mut launches = Launches::new(setting);
    headway_sim::play(
        &plan,
        Shard::WHOLE,
        bounds::limits(USERS, bounds::ENDLESS),
        target,
        generator,
        &mut launches,
    );
    Ok(launches.numbers())
}

/// A target without servers: request n is answered after draw n of the law, and later by what stalls take of it.
struct Answers {
    law: Dist,
    draws: Stream,
    /// In order; none touches the next.
    stalls: Vec<(Nanos, Nanos)>,
    /// The first stall that is not over.
    next: usize,
}

impl Answers {
    fn new(setting: &Setting, seed: u64) -> Answers {
        let draws = Stream::new(seed, streams::SERVICE);
        Answers { law: setting.response.clone(), draws, stalls: still(setting.stalls, seed, STALLS), next: 0 }
    }
}

/// Items of the stream of pauses: those of the target, those of the generator.
const STALLS: u64 = 0;
const PAUSES: u64 = 1;

/// From when to when generator or target stands still in the longest run, in order; none touches the next.
fn still(stalls: Stalls, seed: u64, item: u64) -> Vec<(Nanos, Nanos)> {
    let (mut all, mut at) = (Vec::new(), Nanos::ZERO);
    let mut draws = Stream::new(seed, streams::PAUSE).item(item);
    loop {
        let length = match stalls {
            Stalls::None => return all,
            Stalls::Once { at, length } => return vec![(at, at + length)],
            Stalls::Every { every, length } => {
                at = Nanos((at.0 / every.0 + 1) * every.0);
                length
            }
            Stalls::Random { gap, length } => {
                at += Nanos::from_secs_f64(gap.as_secs_f64() * exponential(&mut draws));
                length
            }
        };
        if at >= WINDOW.1 {
            return all;
        }
        all.push((at, at + length));
        at += length;
    }
}

impl Target for Answers {
    fn request(&mut self, now: Nanos, n: u64, _: RequestId, _: &RequestKey) -> Answer {
        while self.stalls.get(self.next).is_some_and(|(_, to)| *to <= now) {
            self.next += 1;
        }
        // An answer that took no time at all would let the user ask again at the same instant for ever.
        let mut left = self.law.sample_time(&mut self.draws.item(n)).max(Nanos(1));
        let mut at = now;
        for &(from, to) in &self.stalls[self.next..] {
            if at + left <= from {
                break;
            }
            left -= (from - at).max(Nanos::ZERO);
            at = to;
        }
        Answer::ok(at + left - now)
    }
}

/// The sink: launches by user, and response times.
pub struct Launches {
    window: (Nanos, Nanos),
    stamp: Nanos,
    /// Stamp and user.
    rows: Vec<(Nanos, u32)>,
    /// In milliseconds.
    responses: Vec<f64>,
    /// Requests of the window that were not answered well.
    failed: u64,
}

impl Launches {
    /// Nothing yet.
    pub fn new(setting: &Setting) -> Launches {
        let Setting { window, stamp, .. } = *setting;
        Launches { window, stamp, rows: Vec::new(), responses: Vec::new(), failed: 0 }
    }

    /// Requests of the window that were not answered well.
    pub fn failed(&self) -> u64 {
        self.failed
    }
}

impl RecordSink for Launches {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        let Some(at) = record.started.get().filter(|_| record.kind == Kind::Request) else { return };
        let stamp = Nanos(at.0.div_euclid(self.stamp.0) * self.stamp.0);
        if (self.window.0..=self.window.1).contains(&stamp) {
            self.rows.push((stamp, record.user));
            self.responses.push((record.done - at).as_secs_f64() * 1e3);
            self.failed += u64::from(record.outcome != Outcome::Ok);
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

impl Launches {
    /// What they look like.
    pub fn numbers(mut self) -> Numbers {
        self.rows.sort_unstable();
        let (response_ms, variance) = moments(self.responses.iter().copied());
        Numbers {
            launches: self.rows.len() as u64,
            tps: self.rows.len() as f64 / (self.window.1 - self.window.0).as_secs_f64(),
            response_ms,
            response_sd_ms: variance.sqrt(),
            cov: SIZES.iter().map(|&k| self.cov(k)).collect(),
        }
    }

    /// Of the headways of the first k users.
    fn cov(&self, k: u32) -> f64 {
        let mut of = self.rows.iter().filter(|(_, user)| *user < k).map(|(at, _)| *at);
        let Some(mut before) = of.next() else { return f64::NAN };
        let gaps = of.map(|at| (at - std::mem::replace(&mut before, at)).as_secs_f64());
        let (mean, variance) = moments(gaps);
        variance.sqrt() / mean
    }
}

/// Mean and variance (n - 1) of these values (Welford 1962).
fn moments(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for x in values {
        n += 1.0;
        let off = x - mean;
        mean += off / n;
        squares += off * (x - mean);
    }
    (mean, squares / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brady::published::{T1830, TESTS};

    fn answers(response: &str, stalls: Stalls) -> Answers {
        let setting = Setting::independent(&TESTS[T1830]).unwrap();
        Answers::new(&Setting { response: law(response).unwrap(), stalls, ..setting }, 1)
    }

    #[test]
    fn a_stall_holds_up_what_is_under_way_and_what_comes() {
        let every = Stalls::Every { every: Nanos::from_secs(10), length: Nanos::from_secs(2) };
        let mut target = answers("3s", every);
        let ends = [(5, 8), (7, 10), (8, 13), (10, 15), (11, 15), (12, 15), (19, 24)];
        for (at, ends) in ends {
            let answer = target.request(Nanos::from_secs(at), 0, 0, &RequestKey::default());
            assert_eq!(answer, Answer::ok(Nanos::from_secs(ends - at)), "at {at}");
        }
        let mut long = answers("20s", every);
        assert_eq!(
            long.request(Nanos::from_secs(9), 0, 0, &RequestKey::default()),
            Answer::ok(Nanos::from_secs(26))
        );
    }

    /// The mean of 2,000 gaps is within 4 standard errors of theirs.
    #[test]
    fn random_stalls_keep_their_distance() {
        let (gap, length) = (Nanos::from_millis(500), Nanos::from_millis(100));
        let all = still(Stalls::Random { gap, length }, 3, STALLS);
        let gaps: Vec<f64> = all.windows(2).map(|two| (two[1].0 - two[0].1).as_secs_f64()).collect();
        let (mean, variance) = moments(gaps.iter().copied());
        assert!(gaps.len() > 2_000 && (mean - 0.5).abs() < 4.0 * (variance / gaps.len() as f64).sqrt());
        assert!(all.iter().all(|(from, to)| *to - *from == length));
        assert!(still(Stalls::None, 3, STALLS).is_empty());
    }

    /// 200 users that think 6.25 s and are answered at once: each launches every 6.25 s, half a second after the one before.
    #[test]
    fn users_come_up_the_ramp_and_launch_after_thinking() {
        let setting = Setting::instant(&TESTS[T1830]).unwrap().fixed_think().unwrap();
        let numbers = play(&setting, 1).unwrap();
        assert!((numbers.tps - 32.0).abs() < 0.2, "{}", numbers.tps);
        assert!(numbers.cov[0] < 1e-3 && numbers.response_ms < 1e-3);
        // The first and the second alone: 0.5 s and 5.75 s by turns.
        assert!((numbers.cov[1] - 5.25 / 6.25).abs() < 0.01, "{}", numbers.cov[1]);
    }
}
