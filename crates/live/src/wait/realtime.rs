//! Real-time priority for workers, and what keeps a defect of theirs from freezing the machine: a watchdog, which takes the
//! priority from a worker that hardly sleeps, and the system's own limit of processor time without a sleep.

use headway_base::Nanos;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The lowest real-time priority: before all ordinary processes, behind the kernel's own threads.
const PRIORITY: libc::c_int = 1;
/// The watchdog must run where a worker does not let go.
const WATCHDOG_PRIORITY: libc::c_int = 2;
/// How often the watchdog looks.
const LOOK: Duration = Duration::from_millis(500);
/// The least share of the time that a worker must sleep to keep its priority.
const LEAST_REST: f64 = 0.05;
/// Processor time without a sleep after which the system ends this process, if the watchdog does not do its work.
const LONGEST_TURN: Nanos = Nanos::from_secs(3);

/// Gives the calling thread that real-time priority, or takes it (0) from the thread of that number (0: the calling one).
fn schedule(thread: libc::pid_t, priority: libc::c_int) -> io::Result<()> {
    #![expect(unsafe_code, reason = "sched_setscheduler has no safe wrapper")]
    let policy = if priority > 0 { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: the pointer is to a local that outlives the call, which only reads it.
    match unsafe { libc::sched_setscheduler(thread, policy, &raw const param) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether threads of this process may have real-time priority.
///
/// # Errors
/// Why not.
pub(super) fn permitted() -> io::Result<()> {
    // On a thread of its own, which ends with it.
    let tried = thread::Builder::new().spawn(|| schedule(0, PRIORITY))?.join();
    tried.unwrap_or_else(|_| Err(io::Error::other("the thread that asked for it panicked")))
}

/// The system's limit of processor time that a real-time thread may use without a sleep (getrlimit(2), RLIMIT_RTTIME); it was
/// what it was before when this is dropped.
#[derive(Debug)]
pub(super) struct TimeLimit {
    before: Rlimit,
}

impl TimeLimit {
    pub(super) fn set() -> io::Result<TimeLimit> {
        let before = getrlimit(Resource::Rttime);
        let ours = LONGEST_TURN.0 as u64 / 1_000;
        let current = Some(before.current.map_or(ours, |limit| limit.min(ours)));
        setrlimit(Resource::Rttime, Rlimit { current, maximum: before.maximum })?;
        Ok(TimeLimit { before })
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        // It raises the soft limit to where it was, which is always allowed.
        let _ = setrlimit(
            Resource::Rttime,
            Rlimit { current: self.before.current, maximum: self.before.maximum },
        );
    }
}

/// Whether a worker that slept for `rest` of `length` must give up its priority.
fn starves_others(rest: Nanos, length: Nanos) -> bool {
    rest.as_secs_f64() < LEAST_REST * length.as_secs_f64()
}

/// Watches the workers that have real-time priority.
#[derive(Debug)]
pub(crate) struct Watchdog {
    workers: Vec<Watched>,
    lost: AtomicU32,
    ended: Mutex<bool>,
    end: Condvar,
}

#[derive(Debug, Default)]
struct Watched {
    /// Its thread while it has the priority. Under the lock that number is not used again for another thread.
    thread: Mutex<Option<libc::pid_t>>,
    /// Nanoseconds that it has slept.
    rested: AtomicU64,
}

impl Watchdog {
    pub(crate) fn of(workers: u32) -> Watchdog {
        Watchdog {
            workers: (0..workers).map(|_| Watched::default()).collect(),
            lost: AtomicU32::new(0),
            ended: Mutex::new(false),
            end: Condvar::new(),
        }
    }

    /// Gives the calling thread, which is worker `i`, real-time priority.
    ///
    /// # Errors
    /// The system refuses it.
    pub(crate) fn enlist(&self, i: u32) -> io::Result<()> {
        let mut thread = self.workers[i as usize].thread.lock().unwrap_or_else(PoisonError::into_inner);
        schedule(0, PRIORITY)?;
        *thread = Some(rustix::thread::gettid().as_raw_nonzero().get());
        Ok(())
    }

    /// Notes how long worker `i` has slept.
    #[inline]
    pub(crate) fn rested(&self, i: u32, length: Nanos) {
        self.workers[i as usize].rested.fetch_add(length.0 as u64, Ordering::Relaxed);
    }

    /// Worker `i`, the calling thread, has done its work: what is left is nothing urgent.
    pub(crate) fn retire(&self, i: u32) {
        let mut thread = self.workers[i as usize].thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.take().is_some() {
            // To give up a priority is always allowed.
            let _ = schedule(0, 0);
        }
    }

    /// Workers that had to give up their priority.
    pub(crate) fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Watches until it is told to end.
    pub(crate) fn watch(&self) {
        // Without the right to be before the workers it is at least among them.
        let _ = schedule(0, WATCHDOG_PRIORITY).or_else(|_| schedule(0, PRIORITY));
        let rests = || self.workers.iter().map(|w| w.rested.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let (mut from, mut before) = (Instant::now(), rests());
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while !*ended {
            ended = self.end.wait_timeout(ended, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            let length = from.elapsed();
            if length < LOOK {
                continue;
            }
            let now = rests();
            let length = Nanos(length.as_nanos() as i64);
            for ((worker, now), before) in self.workers.iter().zip(&now).zip(&before) {
                if starves_others(Nanos((now - before) as i64), length) {
                    self.demote(worker);
                }
            }
            (from, before) = (Instant::now(), now);
        }
    }

    fn demote(&self, worker: &Watched) {
        let mut thread = worker.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = thread.take() {
            let _ = schedule(number, 0);
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends [`watch`](Watchdog::watch).
    pub(crate) fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_worker_must_sleep_a_twentieth_of_the_time() {
        let ms = Nanos::from_millis;
        assert!(starves_others(ms(0), ms(500)));
        assert!(starves_others(ms(24), ms(500)));
        assert!(!starves_others(ms(26), ms(500)));
    }

    fn policy() -> String {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(41 - 3).unwrap().to_owned()
    }

    #[test]
    fn a_worker_that_never_sleeps_loses_its_priority_and_one_that_sleeps_keeps_it() {
        if permitted().is_err() {
            println!("skipped: no right to real-time priority");
            return;
        }
        let (fifo, other) = (libc::SCHED_FIFO.to_string(), libc::SCHED_OTHER.to_string());
        let limit = TimeLimit::set().unwrap();
        assert_eq!(getrlimit(Resource::Rttime).current, Some(3_000_000));
        let watchdog = Watchdog::of(2);
        thread::scope(|scope| {
            scope.spawn(|| watchdog.watch());
            let sleeper = scope.spawn(|| {
                watchdog.enlist(1).unwrap();
                let begun = Instant::now();
                while watchdog.lost() == 0 && begun.elapsed() < Duration::from_secs(2) {
                    thread::sleep(Duration::from_millis(5));
                    watchdog.rested(1, Nanos::from_millis(5));
                }
                let had = policy();
                watchdog.retire(1);
                (had, policy())
            });
            let busy = scope.spawn(|| {
                watchdog.enlist(0).unwrap();
                assert_eq!(policy(), libc::SCHED_FIFO.to_string());
                let begun = Instant::now();
                while watchdog.lost() == 0 && begun.elapsed() < Duration::from_secs(2) {
                    std::hint::spin_loop();
                }
                policy()
            });
            assert_eq!(busy.join().unwrap(), other);
            assert_eq!(sleeper.join().unwrap(), (fifo, other.clone()));
            watchdog.end();
        });
        assert_eq!(watchdog.lost(), 1);
        drop(limit);
        assert_ne!(getrlimit(Resource::Rttime).current, Some(3_000_000));
    }
}
