//! Trying again: how often, after how long, and for how many.

use headway_base::Nanos;
use headway_base::random::{Draws, open01};
use headway_workload::model::{Backoff, Budget, Jitter, Retry};

/// How long to wait before retry number `n` (from 0): base x factor^n, at most `most`, less what is left to chance (Brooker
/// 2015, "Exponential backoff and jitter", AWS Architecture Blog, where jitter over all of it is "full" and over half of it
/// "equal"). Takes one draw if there is jitter.
pub fn wait(backoff: &Backoff, n: u32, draws: &mut Draws) -> Nanos {
    let Backoff { base, factor, most, jitter } = *backoff;
    let whole = (base.0 as f64 * libm::pow(factor, f64::from(n))).min(most.0 as f64);
    let share = match jitter {
        Jitter::None => 1.0,
        Jitter::Full => open01(draws.bits()),
        Jitter::Half => 0.5 + 0.5 * open01(draws.bits()),
    };
    Nanos(libm::round(whole * share) as i64)
}

/// How often one request has been made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempts {
    made: u32,
}

impl Default for Attempts {
    /// The first is under way.
    fn default() -> Attempts {
        Attempts { made: 1 }
    }
}

impl Attempts {
    /// How many have been made, the one under way among them.
    pub fn made(self) -> u32 {
        self.made
    }

    /// An attempt failed: how long to wait before another; none when there is none, because enough were made or the budget
    /// is spent. Another counts as made from here on.
    pub fn again(
        &mut self,
        retry: &Retry,
        budget: Option<&mut BudgetBucket>,
        draws: &mut Draws,
    ) -> Option<Nanos> {
        if self.made >= retry.attempts || !budget.is_none_or(BudgetBucket::spend) {
            return None;
        }
        let n = self.made - 1;
        self.made += 1;
        Some(retry.backoff.as_ref().map_or(Nanos::ZERO, |backoff| wait(backoff, n, draws)))
    }
}

/// One retry, in the parts that a bucket counts: shares as 0.1 add up without error.
const RETRY: f64 = 1e9;

/// What a client may spend on retries: a token bucket. Every request puts in a share of a retry, every retry takes one out,
/// and no more than the reserve is kept, with which it begins.
///
/// Finagle's RetryBudget (com.twitter.finagle.service.RetryBudget) is the model: a share of the requests and a small reserve.
/// There the few come per second and what was put in is lost after 10 s; here the reserve is the bound of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetBucket {
    /// In billionths of a retry, as all here.
    held: u64,
    share: u64,
    reserve: u64,
}

impl BudgetBucket {
    /// Full.
    pub fn new(budget: &Budget) -> BudgetBucket {
        let parts = |retries: f64| libm::round(retries * RETRY) as u64;
        let reserve = parts(budget.reserve);
        BudgetBucket { held: reserve, share: parts(budget.share), reserve }
    }

    /// A request came (a first attempt).
    pub fn came(&mut self) {
        self.held = self.held.saturating_add(self.share).min(self.reserve);
    }

    /// Takes a retry out; whether there was one.
    pub fn spend(&mut self) -> bool {
        let left = self.held.checked_sub(RETRY as u64);
        self.held = left.unwrap_or(self.held);
        left.is_some()
    }

    /// How many retries there are in it.
    pub fn left(&self) -> f64 {
        self.held as f64 / RETRY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    fn draws(k: u64) -> Draws {
        Stream::new(1, "jitter").item(k)
    }

    fn backoff(jitter: Jitter) -> Backoff {
        Backoff { base: Nanos::from_millis(100), factor: 2.0, most: Nanos::from_secs(1), jitter }
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits = |n: u32| wait(&backoff(Jitter::None), n, &mut draws(0));
        assert_eq!(
            [0, 1, 2, 3, 4, 99].map(waits),
            [100, 200, 400, 800, 1_000, 1_000].map(Nanos::from_millis)
        );
        let far = Backoff { factor: 1e9, ..backoff(Jitter::None) };
        assert_eq!(wait(&far, u32::MAX, &mut draws(0)), Nanos::from_secs(1));
        let short = Backoff { most: Nanos::from_millis(10), ..backoff(Jitter::None) };
        assert_eq!(wait(&short, 0, &mut draws(0)), Nanos::from_millis(10));
    }

    /// Uniform on (0, w): mean w/2 and variance w^2/12; on (w/2, w): 3w/4 and w^2/48.
    #[test]
    fn jitter_is_uniform_over_its_share() {
        let n = 100_000;
        for (jitter, least, mean, variance) in
            [(Jitter::Full, 0.0, 0.2, 0.16 / 12.0), (Jitter::Half, 0.2, 0.3, 0.16 / 48.0)]
        {
            let waits = |k| wait(&backoff(jitter), 2, &mut draws(k)).as_secs_f64();
            let all: Vec<f64> = (0..n).map(waits).collect();
            let found = all.iter().sum::<f64>() / n as f64;
            let error = f64::sqrt(variance / n as f64);
            assert!((found - mean).abs() < 4.0 * error, "{jitter:?}: {found}, theory {mean}");
            assert!(all.iter().all(|&w| least <= w && w <= 0.4));
            let spread = all.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / n as f64;
            // The fourth central moment of a uniform law is 9/5 of its variance squared.
            assert!(
                (spread - variance).abs() < 4.0 * variance * (0.8 / n as f64).sqrt(),
                "{jitter:?}: {spread}"
            );
        }
    }

    #[test]
    fn attempts_end_when_enough_were_made_or_the_budget_is_spent() {
        let retry = Retry { attempts: 3, backoff: Some(backoff(Jitter::None)), budget: None };
        let mut attempts = Attempts::default();
        let again = |attempts: &mut Attempts| attempts.again(&retry, None, &mut draws(0));
        assert_eq!(again(&mut attempts), Some(Nanos::from_millis(100)));
        assert_eq!(again(&mut attempts), Some(Nanos::from_millis(200)));
        assert_eq!((again(&mut attempts), attempts.made()), (None, 3));

        let at_once = Retry { backoff: None, ..retry };
        let mut bucket = BudgetBucket::new(&Budget { share: 0.1, reserve: 1.0 });
        let mut attempts = Attempts::default();
        assert_eq!(attempts.again(&at_once, Some(&mut bucket), &mut draws(0)), Some(Nanos::ZERO));
        assert_eq!(attempts.again(&at_once, Some(&mut bucket), &mut draws(0)), None);
        assert_eq!((attempts.made(), bucket.left()), (2, 0.0));
    }

    #[test]
    fn a_bucket_gives_its_reserve_and_then_a_share_of_the_requests() {
        let mut bucket = BudgetBucket::new(&Budget { share: 0.1, reserve: 3.0 });
        let spent = |bucket: &mut BudgetBucket| (0..10).filter(|_| bucket.spend()).count();
        assert_eq!(spent(&mut bucket), 3);
        (0..9).for_each(|_| bucket.came());
        assert_eq!(spent(&mut bucket), 0);
        bucket.came();
        assert_eq!(spent(&mut bucket), 1);
        (0..1_000).for_each(|_| bucket.came());
        assert_eq!((bucket.left(), spent(&mut bucket)), (3.0, 3));
        let retries = (0..1_000_000).filter(|_| {
            bucket.came();
            bucket.spend()
        });
        assert_eq!(retries.count(), 100_000);
        let mut none = BudgetBucket::new(&Budget { share: 0.0, reserve: 1.0 });
        none.came();
        assert!(none.spend() && !none.spend());
    }
}
