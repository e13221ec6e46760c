//! How late this machine wakes a thread that waits as a worker does: the same [`Waiter`], the same reactor, no target.

use super::Scheduled;
use crate::clock::Clock;
use crate::reactor::Reactor;
use crate::run::Error;
use crate::wait::{Held, Waited, Waiter, Wakeups, Watchdog};
use headway_base::Nanos;
use std::io;
use std::num::NonZeroU64;
use std::thread;

/// How often the scheduler's counts are asked for, as a worker does.
const TICK: Nanos = Nanos::from_millis(50);
/// Everything is ready that long before the first instant.
const LEAD: Nanos = Nanos::from_millis(5);

/// How late instants were met.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// How late the thread was for each instant, in their order.
    pub late: Vec<Nanos>,
    /// How it was woken.
    pub wakeups: Wakeups,
    /// What was done so that it woke on time.
    pub waited: Waited,
    /// What the scheduler counted of it; none where the system does not say.
    pub scheduled: Option<Scheduled>,
    /// Time that the hypervisor took from all cores meanwhile; none where the system does not say.
    pub stolen: Option<Nanos>,
    /// How long it took.
    pub length: Nanos,
}

/// Waits for these instants, in order, from now on, as a worker of a run would, until `stop` says so or there are no more.
///
/// # Errors
/// The system refuses what a worker needs.
pub fn lateness(
    held: &Held,
    instants: impl Iterator<Item = Nanos> + Send,
    stop: impl Fn() -> bool + Sync,
) -> Result<Lateness, Error> {
    let watchdog = held.settings().realtime.then(|| Watchdog::of(1));
    let watchdog = watchdog.as_ref();
    let stolen = super::stolen();
    let clock = Clock::starting_in(LEAD);
    let waited = thread::scope(|scope| {
        if let Some(watchdog) = watchdog {
            scope.spawn(|| watchdog.watch());
        }
        let waiting = scope.spawn(|| -> io::Result<_> {
            let mut reactor = Reactor::new(false)?;
            if let Some(watchdog) = watchdog {
                watchdog.enlist(0)?;
            }
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            let before = super::scheduled();
            let waiter = Waiter::new(held, 0, watchdog);
            let (late, wakeups) = wait_for(instants, waiter, &clock, &mut reactor, &stop)?;
            let scheduled = before.zip(super::scheduled()).map(|(before, after)| Scheduled {
                ran: after.ran - before.ran,
                waited: after.waited - before.waited,
                times: after.times - before.times,
            });
            if let Some(watchdog) = watchdog {
                watchdog.retire(0);
            }
            Ok((late, wakeups, scheduled))
        });
        let waited = waiting.join();
        if let Some(watchdog) = watchdog {
            watchdog.end();
        }
        waited
    });
    let (late, wakeups, scheduled) = waited.map_err(|_| Error::Panicked)?.map_err(Error::Worker)?;
    Ok(Lateness {
        late,
        wakeups,
        waited: held.waited(watchdog),
        scheduled,
        stolen: stolen.zip(super::stolen()).map(|(before, after)| after - before),
        length: clock.now() + LEAD,
    })
}

fn wait_for(
    instants: impl Iterator<Item = Nanos>,
    mut waiter: Waiter<'_>,
    clock: &Clock,
    reactor: &mut Reactor,
    stop: &impl Fn() -> bool,
) -> io::Result<(Vec<Nanos>, Wakeups)> {
    let (mut late, mut tick_at) = (Vec::new(), Nanos::ZERO);
    let mut now = clock.now();
    for due in instants {
        while now < due {
            if now >= tick_at {
                if stop() {
                    return Ok((late, waiter.wakeups()));
                }
                super::scheduled().into_iter().for_each(|counts| waiter.scheduled(now, counts));
                tick_at = now + TICK;
            }
            let meant = waiter.sleep((due - waiter.horizon()).min(tick_at) - now);
            let before = now;
            let any = reactor.wait(Some(meant))?;
            now = clock.now();
            if meant > Nanos::ZERO {
                waiter.slept(meant, now - before, any, now);
            }
        }
        late.push(now - due);
    }
    Ok((late, waiter.wakeups()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::Settings;

    #[test]
    fn each_instant_is_met_and_none_before_its_time() {
        let held = Held::begin(&Settings::sleeping()).unwrap();
        let measured = lateness(&held, (1..=40).map(|i| Nanos::from_micros(300 * i)), || false).unwrap();
        assert_eq!(measured.late.len(), 40);
        assert!(measured.late.iter().all(|&late| late >= Nanos::ZERO));
        assert!(measured.length >= Nanos::from_millis(12), "{}", measured.length);
    }

    #[test]
    fn it_ends_when_it_is_stopped() {
        let held = Held::begin(&Settings::sleeping()).unwrap();
        let measured = lateness(&held, (1..).map(Nanos::from_millis), || true).unwrap();
        // The instants have no end; it looks whether it is to stop each tick.
        assert!(measured.late.len() < 10_000, "{}", measured.late.len());
    }
}
