//! What the lateness of wake-ups and the wait for a processor say about how to wait. Pure: no clock, no system call.

use crate::clock::UP_BEFORE;
use headway_base::Nanos;

/// The shortest polling horizon.
pub const SHORTEST: Nanos = UP_BEFORE;
/// The longest: polling covers the body of the lateness, and not its tail of milliseconds.
pub const LONGEST: Nanos = Nanos::from_micros(500);
/// The horizon of a worker of real-time priority, which nothing else can have while it polls.
pub const REALTIME: Nanos = Nanos::from_micros(20);

/// The number of recent wake-ups by which the horizon is chosen.
const KEPT: usize = 128;
/// How often it is chosen anew, in wake-ups.
const EACH: usize = 16;

/// How long before an intended instant a worker is up, to poll for the rest.
#[derive(Clone, Debug)]
pub struct Horizon {
    /// Lateness of the last wake-ups; 500 us and more all say the same.
    kept: [Nanos; KEPT],
    n: usize,
    chosen: Nanos,
    by_lateness: bool,
    neighbours: bool,
}

impl Horizon {
    /// Chosen by the lateness of wake-ups, between [`SHORTEST`] and [`LONGEST`].
    pub fn by_lateness() -> Horizon {
        Horizon { by_lateness: true, ..Horizon::fixed(SHORTEST) }
    }

    /// Always that.
    pub fn fixed(at: Nanos) -> Horizon {
        Horizon { kept: [Nanos::ZERO; KEPT], n: 0, chosen: at, by_lateness: false, neighbours: false }
    }

    /// The horizon now.
    #[inline]
    pub fn now(&self) -> Nanos {
        if self.neighbours && self.by_lateness { SHORTEST } else { self.chosen }
    }

    /// A wake-up was that late.
    #[inline]
    pub fn woke(&mut self, late: Nanos) {
        if !self.by_lateness {
            return;
        }
        self.kept[self.n % KEPT] = late;
        self.n += 1;
        if self.n.is_multiple_of(EACH) {
            self.choose();
        }
    }

    /// The ninth decile: one wake-up in ten may be late for its instant; to catch it too would cost the polling of many.
    fn choose(&mut self) {
        let mut sorted = self.kept;
        let sorted = &mut sorted[..self.n.min(KEPT)];
        let at = sorted.len() * 9 / 10;
        let (_, &mut decile, _) = sorted.select_nth_unstable(at);
        self.chosen = decile.clamp(SHORTEST, LONGEST);
    }

    /// Whether other processes want the processors: polling takes from them, and the scheduler pays it back with a wait.
    pub fn neighbours(&mut self, busy: bool) {
        self.neighbours = busy;
    }
}

/// How long a neighbour is remembered and looked for.
const WINDOW: Nanos = Nanos::from_secs(1);
/// What each time on a processor may wait for it where no other thread wants it: the switch itself.
const SWITCH: Nanos = Nanos::from_micros(10);
/// Wait beyond that, as a share of the time, from which on neighbours are busy.
const WAITED: f64 = 0.01;

/// Whether other processes want this thread's processor, from what the scheduler counts of the thread.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// When the window began, and the counts then: time waited, times on a processor.
    from: Option<(Nanos, Nanos, u64)>,
    busy: bool,
    ever: bool,
}

impl Neighbours {
    /// The counts at `now`: how long the thread has waited for a processor, and how often it got one.
    pub fn count(&mut self, now: Nanos, waited: Nanos, times: u64) {
        let Some((from, waited_before, times_before)) = self.from else {
            self.from = Some((now, waited, times));
            return;
        };
        let length = now - from;
        if length < WINDOW {
            return;
        }
        let switches = Nanos(SWITCH.0 * (times - times_before) as i64);
        let excess = waited - waited_before - switches;
        self.busy = excess.as_secs_f64() > WAITED * length.as_secs_f64();
        self.ever |= self.busy;
        self.from = Some((now, waited, times));
    }

    /// Whether they were busy in the last window.
    pub fn busy(&self) -> bool {
        self.busy
    }

    /// Whether they were busy in any window.
    pub fn ever(&self) -> bool {
        self.ever
    }
}

/// Whether a wake-up that was that late was so since another process had the processor: the thread was ready to run for more than
/// half of the lateness, and waited in the queue.
pub fn by_neighbours(late: Nanos, queued: Nanos) -> bool {
    queued.0 > late.0 / 2
}

/// Counts are halved at this number of wake-ups, so that what was long ago weighs less.
const REMEMBERED: u64 = 1024;
/// One late wake-up among this number is too many.
const ONE_IN: u64 = 200;
/// A single one proves nothing.
const AT_LEAST: u64 = 2;

/// Whether wake-ups are late by more than the target's time scale can bear, though the processor was free: cores halt.
#[derive(Clone, Debug)]
pub struct Halting {
    limit: Nanos,
    n: u64,
    late: u64,
}

/// The lateness from which on a wake-up counts as late: a quarter of the time scale.
pub fn late_after(lateness: Nanos) -> Nanos {
    Nanos(lateness.0 / 4)
}

impl Halting {
    /// Late is what is later than [`late_after`].
    pub fn at(lateness: Nanos) -> Halting {
        Halting { limit: late_after(lateness), n: 0, late: 0 }
    }

    /// The lateness beyond which a wake-up is late.
    pub fn limit(&self) -> Nanos {
        self.limit
    }

    /// A wake-up was that late.
    pub fn woke(&mut self, late: Nanos) -> bool {
        if self.n == REMEMBERED {
            self.n /= 2;
            self.late /= 2;
        }
        let is_late = late > self.limit;
        self.n += 1;
        self.late += u64::from(is_late);
        is_late
    }

    /// Whether cores must be kept awake.
    pub fn is_harmful(&self) -> bool {
        self.late >= AT_LEAST && self.late * ONE_IN > self.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: i64) -> Nanos {
        Nanos::from_micros(us)
    }

    /// The horizon after wake-ups late by that, over and over.
    fn after(late: &[Nanos], times: usize) -> Nanos {
        let mut horizon = Horizon::by_lateness();
        late.iter().cycle().take(times).for_each(|&late| horizon.woke(late));
        horizon.now()
    }

    #[test]
    fn the_horizon_follows_the_lateness_seen_within_its_bounds() {
        assert_eq!(Horizon::by_lateness().now(), SHORTEST);
        assert_eq!(after(&[us(4)], 1000), SHORTEST);
        assert_eq!(after(&[us(130)], EACH), us(130));
        assert_eq!(after(&[us(130)], EACH - 1), SHORTEST, "too few to say");
        assert_eq!(after(&[Nanos::from_millis(9)], 1000), LONGEST);
        // A tail of one in twenty does not move it, however long; a body does.
        let tail: Vec<Nanos> = (0..20).map(|i| if i == 7 { Nanos::from_millis(5) } else { us(80) }).collect();
        assert_eq!(after(&tail, 1000), us(80));
        let body: Vec<Nanos> = (0..20).map(|i| if i % 5 == 0 { us(300) } else { us(80) }).collect();
        assert_eq!(after(&body, 1000), us(300));
    }

    #[test]
    fn the_horizon_forgets() {
        let mut horizon = Horizon::by_lateness();
        (0..1000).for_each(|_| horizon.woke(us(400)));
        assert_eq!(horizon.now(), us(400));
        (0..KEPT).for_each(|_| horizon.woke(us(60)));
        assert_eq!(horizon.now(), us(60));
    }

    #[test]
    fn polling_is_short_while_neighbours_are_busy() {
        let mut horizon = Horizon::by_lateness();
        (0..KEPT).for_each(|_| horizon.woke(us(400)));
        horizon.neighbours(true);
        assert_eq!(horizon.now(), SHORTEST);
        horizon.neighbours(false);
        assert_eq!(horizon.now(), us(400));
        let mut fixed = Horizon::fixed(REALTIME);
        (0..KEPT).for_each(|_| fixed.woke(us(400)));
        fixed.neighbours(true);
        assert_eq!(fixed.now(), REALTIME);
    }

    #[test]
    fn neighbours_show_in_what_the_scheduler_counts() {
        let (ms, s) = (Nanos::from_millis, Nanos::from_secs);
        let mut neighbours = Neighbours::default();
        let mut count = |now, waited, times| {
            neighbours.count(now, waited, times);
            (neighbours.busy(), neighbours.ever())
        };
        assert_eq!(count(s(0), ms(700), 100), (false, false), "what was before does not count");
        // 3,000 times on a processor, each after 8 us: the price of switching.
        assert_eq!(count(s(1), ms(724), 3_100), (false, false));
        // 300 times, 25 ms in all.
        assert_eq!(count(ms(1_500), ms(749), 3_200), (false, false), "a window is a second");
        assert_eq!(count(s(2), ms(749), 3_400), (true, true));
        assert_eq!(count(s(3), ms(750), 3_700), (false, true));
    }

    #[test]
    fn what_was_spent_in_the_queue_is_the_neighbours() {
        assert!(by_neighbours(us(3_000), us(2_800)));
        assert!(by_neighbours(us(3_000), us(1_600)));
        assert!(!by_neighbours(us(3_000), us(1_500)), "the processor was asleep for as long");
        assert!(!by_neighbours(us(3_000), Nanos::ZERO));
    }

    #[test]
    fn late_wake_ups_are_harmful_by_their_share_at_the_lateness() {
        let harmful = |scale, late: &[Nanos]| {
            let mut halting = Halting::at(scale);
            late.iter().for_each(|&late| {
                halting.woke(late);
            });
            halting.is_harmful()
        };
        let scale = Nanos::from_millis(1);
        assert!(!harmful(scale, &[us(250); 500]), "a quarter is not more than a quarter");
        assert!(!harmful(scale, &[us(251)]), "one proves nothing");
        assert!(harmful(scale, &[us(251); 2]));
        assert!(!harmful(Nanos::from_millis(5), &[us(1250); 500]));
        let mut rare = vec![us(10); 400];
        rare.extend([us(900); 2]);
        assert!(!harmful(scale, &rare), "2 of 402");
        rare.truncate(300);
        rare.extend([us(900); 2]);
        assert!(harmful(scale, &rare), "2 of 302");
        // A good past does not outweigh a bad present for long.
        let mut turned = vec![us(10); 100_000];
        turned.extend([us(900); 8]);
        assert!(harmful(scale, &turned));
    }
}
