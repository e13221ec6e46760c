//! The generator's own defects: what an action costs it, when it does not run, how coarse its timer is. The default has
//! none.
//!
//! Deliberately absent: the target's defects, which are the [`Network`](crate::Network)'s.

use headway_base::Nanos;
use headway_base::dist::{Dist, Law};
use headway_base::random::{Stream, streams};
use headway_base::units::UnitError;

/// The defects, as set.
#[derive(Clone, Debug, Default)]
pub struct Generator {
    /// What each action (connect, send, close) costs of its time.
    pub action_cost: Nanos,
    /// What each event costs of its time; an answer that comes whole is one.
    pub event_cost: Nanos,
    /// It does not run from the first to the second instant of each: a stopped process, a pause for garbage.
    pub pauses: Vec<(Nanos, Nanos)>,
    /// Additional pauses at random times.
    pub random: Option<RandomPauses>,
    /// Sleeps end only on multiples of this; zero for none.
    pub tick: Nanos,
}

impl Generator {
    /// Whether it has no defect.
    pub fn is_ideal(&self) -> bool {
        let costs = [self.action_cost, self.event_cost, self.tick];
        costs == [Nanos::ZERO; 3] && self.pauses.is_empty() && self.random.is_none()
    }
}

/// Pauses that come at random: number j (from 0) begins a draw of `every` after number j - 1 began (the first, after
/// zero) and lasts a draw of `length`. One that would begin within the one before follows it at once.
#[derive(Clone, PartialEq, Debug)]
pub struct RandomPauses {
    every: Dist,
    length: Dist,
    draws: Stream,
}

impl RandomPauses {
    /// Pauses by these laws, drawn from that seed.
    ///
    /// # Errors
    /// Unless pauses are shorter on average than the time from one beginning to the next.
    pub fn new(every: Dist, length: Dist, seed: u64) -> Result<RandomPauses, UnitError> {
        if length.mean() < every.mean() {
            Ok(RandomPauses { every, length, draws: Stream::new(seed, streams::PAUSE) })
        } else {
            let given = format!("every: {every}, for: {length}");
            let wanted =
                "a law of pauses: they must be shorter on average than the time between two beginnings";
            Err(UnitError::new(&given, wanted))
        }
    }
}

/// When a generator does not run; asked in the order of time, in memory that does not grow with it.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    /// In order of their beginnings.
    fixed: Vec<(Nanos, Nanos)>,
    /// The first fixed one that is not over.
    at: usize,
    random: Option<Drawn>,
    /// It does not run before this: the last answer.
    until: Nanos,
    /// From then until this it does; MAX for ever.
    next: Nanos,
}

/// A random pause and what the next is drawn from.
#[derive(Clone, Debug)]
struct Drawn {
    law: RandomPauses,
    /// Number of the next.
    next: u64,
    from: Nanos,
    to: Nanos,
}

impl Drawn {
    fn new(law: RandomPauses) -> Drawn {
        let mut first = Drawn { law, next: 0, from: Nanos::ZERO, to: Nanos::ZERO };
        first.advance();
        first
    }

    fn advance(&mut self) {
        let mut draws = self.law.draws.item(self.next);
        let due = self.from.saturating_add(self.law.every.sample_time(&mut draws));
        self.from = due.max(self.to);
        self.to = self.from.saturating_add(self.law.length.sample_time(&mut draws));
        self.next += 1;
    }
}

impl Pauses {
    pub(crate) fn new(generator: &Generator) -> Pauses {
        let mut fixed = generator.pauses.clone();
        fixed.sort_unstable();
        let random = generator.random.clone().map(Drawn::new);
        let mut pauses = Pauses { fixed, at: 0, random, until: Nanos::ZERO, next: Nanos::ZERO };
        pauses.note_next();
        pauses
    }

    /// The first instant from `now` on at which it runs.
    #[inline]
    pub(crate) fn awake(&mut self, now: Nanos) -> Nanos {
        let now = now.max(self.until);
        if now < self.next {
            self.until = now;
            return now;
        }
        self.after_pauses(now)
    }

    /// [`awake`](Pauses::awake) at an instant from that of the next pause on.
    fn after_pauses(&mut self, mut now: Nanos) -> Nanos {
        loop {
            let before = now;
            while let Some(&(_, to)) = self.fixed.get(self.at).filter(|(from, _)| *from <= now) {
                now = now.max(to);
                self.at += 1;
            }
            if let Some(random) = &mut self.random {
                while random.from <= now {
                    now = now.max(random.to);
                    random.advance();
                }
            }
            if now == before {
                self.until = now;
                self.note_next();
                return now;
            }
        }
    }

    fn note_next(&mut self) {
        let fixed = self.fixed.get(self.at).map_or(Nanos::MAX, |(from, _)| *from);
        let random = self.random.as_ref().map_or(Nanos::MAX, |random| random.from);
        self.next = fixed.min(random);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist;

    fn law(text: &str) -> Dist {
        dist::parse(text, &|_| Ok(Vec::new())).unwrap()
    }

    fn random(every: &str, length: &str, seed: u64) -> Pauses {
        let random = Some(RandomPauses::new(law(every), law(length), seed).unwrap());
        Pauses::new(&Generator { random, ..Generator::default() })
    }

    #[test]
    fn pauses_that_touch_or_overlap_are_one() {
        let ms = Nanos::from_millis;
        let pauses = [(50, 60), (10, 20), (20, 30), (12, 14), (28, 40)].map(|(from, to)| (ms(from), ms(to)));
        let mut pauses = Pauses::new(&Generator { pauses: pauses.to_vec(), ..Generator::default() });
        let asked = [5, 11, 40, 49, 50, 60, 99];
        assert_eq!(asked.map(|at| pauses.awake(ms(at))), [5, 40, 40, 49, 60, 60, 99].map(ms));
    }

    #[test]
    fn constant_laws_pause_at_every_multiple() {
        let mut pauses = random("1s", "100ms", 1);
        for ms in 0..10_000 {
            let into = ms % 1_000;
            let truth = if ms >= 1_000 && into < 100 { ms - into + 100 } else { ms };
            assert_eq!(pauses.awake(Nanos::from_millis(ms)), Nanos::from_millis(truth));
        }
    }

    /// Of a cycle from one beginning to the next, of mean E max(G, L) = d + g exp(-d/g) for exponential gaps of mean g
    /// and pauses of d, the pause takes d. The tolerance is 4 standard errors from 50 batches of 400 cycles.
    #[test]
    fn random_pauses_have_their_share_of_the_time() {
        let (gap, pause) = (0.4, 0.1);
        let truth = pause / (pause + gap * f64::exp(-pause / gap));
        let mut pauses = random("exp(400ms)", "100ms", 7);
        let step = Nanos::from_millis(1);
        let mut now = Nanos::ZERO;
        let shares: Vec<f64> = (0..50)
            .map(|_| {
                let asleep = (0..160_000).filter(|_| {
                    now += step;
                    pauses.awake(now) > now
                });
                asleep.count() as f64 / 160_000.0
            })
            .collect();
        let mean = shares.iter().sum::<f64>() / 50.0;
        let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 49.0;
        let error = (variance / 50.0).sqrt();
        assert!((mean - truth).abs() < 4.0 * error, "{mean} +- {error}, theory {truth}");
    }

    #[test]
    fn a_generator_that_would_never_run_is_refused() {
        let error = RandomPauses::new(law("exp(1s)"), law("1s"), 1).unwrap_err().to_string();
        assert!(error.contains("every: exp(1s), for: const(1s)") && error.contains("shorter"), "{error}");
        assert!(RandomPauses::new(law("0s"), law("0s"), 1).is_err());
    }
}
