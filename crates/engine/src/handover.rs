//! How a run hands work to a thread that gives way to the load, without waiting for it.
//!
//! There is place for one piece of work. Deliberately absent: what the work is, and what is done when the thread is busy.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Begins a thread that gives way to the workers.
///
/// # Errors
/// The system allows no more threads.
pub(crate) fn thread<R: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        headway_live::host::give_way();
        work()
    })
}

/// The place where work is handed over.
#[derive(Debug)]
pub(crate) struct Handover<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    handed: Option<T>,
    busy: bool,
    over: bool,
}

impl<T> State<T> {
    fn left(&self) -> u64 {
        u64::from(self.handed.is_some()) + u64::from(self.busy)
    }
}

impl<T> Handover<T> {
    pub(crate) fn new() -> Handover<T> {
        let state = State { handed: None, busy: false, over: false };
        Handover { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Hands work over, in place of what has not been taken yet.
    pub(crate) fn hand(&self, work: T) {
        self.lock().handed = Some(work);
        self.changed.notify_all();
    }

    /// No more work comes.
    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.changed.notify_all();
    }

    /// Whether all work is done.
    pub(crate) fn is_idle(&self) -> bool {
        self.settle(Duration::ZERO) == 0
    }

    /// Waits until all work is done, for so long at most; how many pieces of work are left.
    pub(crate) fn settle(&self, longest: Duration) -> u64 {
        let settled = self.changed.wait_timeout_while(self.lock(), longest, |state| state.left() > 0);
        settled.unwrap_or_else(PoisonError::into_inner).0.left()
    }

    /// For the thread: the work before is done, and this is the next one, which is waited for. None: no more comes.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        state.busy = false;
        self.changed.notify_all();
        let waited = self.changed.wait_while(state, |state| state.handed.is_none() && !state.over);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.busy = state.handed.is_some();
        state.handed.take()
    }

    /// For a thread that works at intervals: waits for the end, for so long at most. What was handed over last, if anything was, and whether this
    /// is the end.
    pub(crate) fn take_at_end(&self, longest: Duration) -> (Option<T>, bool) {
        let waited = self.changed.wait_timeout_while(self.lock(), longest, |state| !state.over);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        (state.handed.take(), state.over)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    #[test]
    fn a_thread_that_works_at_intervals_gets_the_last_at_the_end() {
        let handover = Handover::new();
        assert_eq!(handover.take_at_end(Duration::ZERO), (None, false));
        handover.hand(1);
        handover.hand(2);
        assert_eq!(handover.take_at_end(Duration::from_millis(1)), (Some(2), false));
        handover.hand(3);
        handover.end();
        assert_eq!(handover.take_at_end(Duration::from_secs(600)), (Some(3), true));
        assert_eq!(handover.take_at_end(Duration::from_secs(600)), (None, true));
    }

    #[test]
    fn what_is_handed_over_last_is_done_and_the_end_waits_for_it() {
        let handover = Arc::new(Handover::new());
        let (of_thread, (begun, begins), (go, goes)) = (handover.clone(), channel(), channel::<()>());
        let thread = thread("test", move || {
            let mut done = Vec::new();
            while let Some(work) = of_thread.take() {
                begun.send(work).unwrap();
                goes.recv().unwrap();
                done.push(work);
            }
            done
        });
        assert_eq!((handover.is_idle(), handover.settle(Duration::ZERO)), (true, 0));
        handover.hand(1);
        assert_eq!(begins.recv().unwrap(), 1);
        assert!(!handover.is_idle());
        handover.hand(2);
        handover.hand(3);
        assert_eq!(handover.settle(Duration::ZERO), 2, "one is being done, and one waits");
        handover.end();
        go.send(()).unwrap();
        assert_eq!(begins.recv().unwrap(), 3, "what was handed over before the end is done");
        go.send(()).unwrap();
        assert_eq!(handover.settle(Duration::from_secs(60)), 0);
        assert_eq!(thread.unwrap().join().unwrap(), [1, 3]);
    }
}
