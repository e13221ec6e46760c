//! Stopping a run from outside: once, and the answers are awaited; twice, and it ends at once.

use crate::reactor::Waker;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// A handle to a run, shared with everything that may stop it. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    asked: AtomicU8,
    first: OnceLock<Instant>,
    wakers: Mutex<Vec<Waker>>,
}

impl Control {
    /// Asks to stop; a second call asks to stop at once. Returns how often it has been asked.
    pub fn stop(&self) -> u8 {
        self.shared.first.get_or_init(Instant::now);
        // However often: it never counts back to none.
        let more = |asked: u8| Some(asked.saturating_add(1));
        let (Ok(before) | Err(before)) =
            self.shared.asked.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        for waker in self.shared.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.wake();
        }
        before.saturating_add(1)
    }

    /// How often it was asked to stop.
    #[inline]
    pub fn asked(&self) -> u8 {
        self.shared.asked.load(Ordering::Relaxed)
    }

    /// When it was first asked to stop.
    pub fn asked_at(&self) -> Option<Instant> {
        self.shared.first.get().copied()
    }

    pub(crate) fn register(&self, waker: Waker) {
        self.shared.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impatience_never_counts_back_to_none() {
        let control = Control::default();
        assert_eq!((control.asked(), control.asked_at()), (0, None));
        assert_eq!((control.stop(), control.stop()), (1, 2));
        let first = control.asked_at();
        for _ in 0..300 {
            control.stop();
        }
        assert_eq!((control.asked(), control.asked_at()), (u8::MAX, first));
    }
}
