//! One worker's side of the wait: how far ahead it is up, whether it sleeps, and what its wake-ups say.

use super::policy::{Halting, Horizon, Neighbours, REALTIME, SHORTEST, by_neighbours};
use super::{Held, Strategy, Watchdog};
use crate::host;
use headway_base::Nanos;

/// What one worker says of its wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wakeups {
    /// Wake-ups at an instant that the worker had named.
    pub n: u64,
    /// Of those, the ones that were later than a quarter of the time scale, though no other process had the processor.
    pub late: u64,
    /// The shortest and the longest horizon that it polled; none where it never slept.
    pub horizon: Option<(Nanos, Nanos)>,
    /// Whether other processes wanted its processor, by the time that it waited for one.
    pub busy_neighbours: bool,
}

/// How a worker waits.
pub(crate) struct Waiter<'a> {
    held: &'a Held,
    worker: u32,
    watchdog: Option<&'a Watchdog>,
    spin: bool,
    horizon: Horizon,
    halting: Halting,
    neighbours: Neighbours,
    /// How long the thread had waited for a processor when that was last asked.
    queued: Option<Nanos>,
    wakeups: Wakeups,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(held: &'a Held, worker: u32, watchdog: Option<&'a Watchdog>) -> Waiter<'a> {
        let settings = held.settings();
        Waiter {
            held,
            worker,
            watchdog,
            spin: settings.strategy == Strategy::Spin,
            horizon: match settings.strategy {
                _ if watchdog.is_some() => Horizon::fixed(REALTIME),
                Strategy::Auto => Horizon::by_lateness(),
                Strategy::Sleep | Strategy::Spin => Horizon::fixed(SHORTEST),
            },
            halting: Halting::at(settings.lateness),
            neighbours: Neighbours::default(),
            queued: None,
            wakeups: Wakeups::default(),
        }
    }

    /// How long before an intended instant the worker is up.
    #[inline]
    pub(crate) fn horizon(&self) -> Nanos {
        self.horizon.now()
    }

    /// How long to sleep where nothing is to be done for `free`.
    #[inline]
    pub(crate) fn sleep(&self, free: Nanos) -> Nanos {
        if self.spin { Nanos::ZERO } else { free.max(Nanos::ZERO) }
    }

    /// The worker slept for `length`, where `meant` was the most; `by_event`: something happened.
    #[inline]
    pub(crate) fn slept(&mut self, meant: Nanos, length: Nanos, by_event: bool, now: Nanos) {
        if let Some(watchdog) = self.watchdog {
            watchdog.rested(self.worker, length);
        }
        let late = length - meant;
        // What an event cut short says nothing of how late a timer is.
        if by_event && late <= Nanos::ZERO {
            return;
        }
        let late = late.max(Nanos::ZERO);
        self.wakeups.n += 1;
        if late > self.halting.limit() && by_neighbours(late, self.queued_since()) {
            // It says nothing of how this machine wakes a thread whose processor is free.
            return;
        }
        self.wakeups.late += u64::from(self.halting.woke(late));
        self.horizon.woke(late);
        let horizon = self.horizon.now();
        let (least, most) = self.wakeups.horizon.unwrap_or((horizon, horizon));
        self.wakeups.horizon = Some((least.min(horizon), most.max(horizon)));
        if self.held.may_start_loops() && self.halting.is_harmful() {
            self.held.start_loops(now);
        }
    }

    /// How long the thread has waited for a processor since that was last asked: in the last tick, of which this wait was
    /// the end.
    #[cold]
    fn queued_since(&mut self) -> Nanos {
        let now = host::scheduled().map(|counts| counts.waited);
        let before = std::mem::replace(&mut self.queued, now);
        now.zip(before).map_or(Nanos::ZERO, |(now, before)| now - before)
    }

    /// What the scheduler counts of this thread.
    pub(crate) fn scheduled(&mut self, now: Nanos, counts: host::Scheduled) {
        self.queued = Some(counts.waited);
        self.neighbours.count(now, counts.waited, counts.times);
        self.horizon.neighbours(self.neighbours.busy());
    }

    /// What it came to.
    pub(crate) fn wakeups(&self) -> Wakeups {
        Wakeups { busy_neighbours: self.neighbours.ever(), ..self.wakeups }
    }
}
