//! When a part is up and when it is down.

use headway_base::Nanos;
use headway_base::random::Stream;
use headway_workload::model::When;
use std::sync::Arc;

/// The least length of a period: laws whose draws round to nothing must not stop the time.
const LEAST: Nanos = Nanos(1);

/// The state of one copy of a part over time, up at first.
///
/// By turns ([`When::Alternating`]), period n (from 0, the first it is up) lasts a draw of its law by item n of the stream,
/// at least 1 ns; so the instants are a function of the stream alone. A state holds from its first instant up to, not
/// including, the first of the next.
///
/// A lazy clock changes only when it is asked, and at most once each time: if the instant that was drawn has come, it is in
/// the other state from now on, and draws the length of that from now. So a part that is down stays down until a request arrives, and
/// its instants depend on the requests (timelike's faulty node does this).
#[derive(Clone, Debug)]
pub struct FaultClock {
    when: Arc<When>,
    lengths: Stream,
    /// Number of the period that it is in.
    period: u64,
    /// When the next begins at the earliest; `Nanos::MAX` for never.
    next: Nanos,
}

impl FaultClock {
    /// The clock of one copy. `lengths` gives the lengths of periods: one stream for each copy, or the same for copies that
    /// are down together.
    pub fn new(when: Arc<When>, lengths: Stream) -> FaultClock {
        let mut clock = FaultClock { when, lengths, period: 0, next: Nanos::ZERO };
        clock.next = clock.end_of_period(Nanos::ZERO);
        clock
    }

    /// Whether it is up for a request that comes at `now`. Asked in the order of time.
    #[inline]
    pub fn is_up(&mut self, now: Nanos) -> bool {
        if self.next <= now {
            self.advance(now);
        }
        self.period.is_multiple_of(2)
    }

    /// Whether it was up when it was last asked. Of a lazy clock, that is its state.
    pub fn was_up(&self) -> bool {
        self.period.is_multiple_of(2)
    }

    /// When its state changes next without being asked; `Nanos::MAX` for never, as a lazy one's. For instants up to the
    /// last that it was asked for.
    pub fn next_change(&self) -> Nanos {
        match *self.when {
            When::Alternating { lazy: true, .. } => Nanos::MAX,
            When::Alternating { .. } | When::Once { .. } => self.next,
        }
    }

    fn advance(&mut self, now: Nanos) {
        if let When::Alternating { lazy: true, .. } = *self.when {
            self.period += 1;
            self.next = self.end_of_period(now);
            return;
        }
        while self.next <= now && self.next < Nanos::MAX {
            self.period += 1;
            self.next = self.end_of_period(self.next);
        }
    }

    /// When the period that it is in ends, which begins at `from`.
    fn end_of_period(&self, from: Nanos) -> Nanos {
        match &*self.when {
            When::Alternating { up, down, .. } => {
                let law = if self.period.is_multiple_of(2) { up } else { down };
                from.saturating_add(law.sample_time(&mut self.lengths.item(self.period)).max(LEAST))
            }
            When::Once { at, length } => match self.period {
                0 => *at,
                1 => from.saturating_add((*length).max(LEAST)),
                _ => Nanos::MAX,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist;

    fn alternating(up: &str, down: &str, lazy: bool) -> Arc<When> {
        let law = |text| dist::parse(text, &|_| Ok(Vec::new())).unwrap();
        Arc::new(When::Alternating { up: law(up), down: law(down), lazy })
    }

    fn fault(seed: u64) -> Stream {
        Stream::new(seed, "fault")
    }

    #[test]
    fn constant_laws_give_the_periods_that_one_would_write_down() {
        let mut clock = FaultClock::new(alternating("30ms", "10ms", false), fault(1));
        let ms = Nanos::from_millis;
        for (at, up, next) in
            [(0, true, 30), (29, true, 30), (30, false, 40), (39, false, 40), (40, true, 70)]
        {
            assert_eq!((clock.is_up(ms(at)), clock.was_up()), (up, up), "at {at} ms");
            assert_eq!(clock.next_change(), ms(next), "at {at} ms");
        }
        assert!(!clock.is_up(ms(40_000 + 30)));
        assert_eq!(clock.next_change(), ms(40_040));
    }

    #[test]
    fn once_is_once() {
        let ms = Nanos::from_millis;
        let mut clock = FaultClock::new(Arc::new(When::Once { at: ms(60), length: ms(10) }), fault(1));
        assert_eq!(clock.next_change(), ms(60));
        assert_eq!([0, 59, 60, 69].map(|at| clock.is_up(ms(at))), [true, true, false, false]);
        assert_eq!(clock.next_change(), ms(70));
        assert!(clock.is_up(ms(70)));
        assert_eq!(clock.next_change(), Nanos::MAX);
        assert!(clock.is_up(Nanos::MAX));
        let mut at_once = FaultClock::new(Arc::new(When::Once { at: ms(0), length: ms(1) }), fault(1));
        assert!(!at_once.is_up(ms(0)));
        let mut jumped = FaultClock::new(Arc::new(When::Once { at: ms(60), length: ms(10) }), fault(1));
        assert!(jumped.is_up(ms(100)));
    }

    /// Up 30 ms, down 10 ms, asked now and then: each question changes the state at most once, and the new one lasts from
    /// then.
    #[test]
    fn a_lazy_clock_changes_when_it_is_asked() {
        let mut clock = FaultClock::new(alternating("30ms", "10ms", true), fault(1));
        let ms = Nanos::from_millis;
        let asked = [
            (10, true),
            (75, false),
            (84, false),
            (85, true),
            (114, true),
            (500, false),
            (501, false),
            (900, true),
        ];
        for (at, up) in asked {
            assert_eq!(clock.is_up(ms(at)), up, "at {at} ms");
            assert_eq!(clock.next_change(), Nanos::MAX);
        }
    }

    /// Instants do not depend on when one looks.
    #[test]
    fn looking_more_often_changes_nothing() {
        let when = alternating("exp(20ms)", "uniform(0s,2ms)", false);
        let (mut often, mut seldom) =
            (FaultClock::new(when.clone(), fault(5)), FaultClock::new(when, fault(5)));
        for us in 0..400_000 {
            let now = Nanos::from_micros(us);
            let up = often.is_up(now);
            if us % 1_009 == 0 {
                assert_eq!((seldom.is_up(now), seldom.next_change()), (up, often.next_change()));
            }
        }
    }

    /// The share of time up is E[up] / (E[up] + E[down]); standard error from 400 copies. Being up at first adds
    /// E[U] E[C^2] / 2 E[C]^2 - E[U^2] / 2 E[C] = 30 ms of 4,000 s (C = U + D): a twentieth of the standard error.
    #[test]
    fn the_share_of_time_up_is_that_of_the_means() {
        let when = alternating("exp(20s)", "uniform(0s,2s)", false);
        let span = 4_000.0;
        let shares: Vec<f64> = (0..400)
            .map(|seed| {
                let mut clock = FaultClock::new(when.clone(), fault(seed));
                let (mut now, mut up) = (Nanos::ZERO, 0.0);
                let end = Nanos::from_secs_f64(span);
                while now < end {
                    let is_up = clock.is_up(now);
                    let next = clock.next_change().min(end);
                    up += if is_up { (next - now).as_secs_f64() } else { 0.0 };
                    now = next;
                }
                up / span
            })
            .collect();
        let mean = shares.iter().sum::<f64>() / 400.0;
        let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 399.0;
        let error = (variance / 400.0).sqrt();
        let truth = 20.0 / 21.0;
        assert!((mean - truth).abs() < 4.0 * error, "{mean} +- {error}, theory {truth}");
    }
}
