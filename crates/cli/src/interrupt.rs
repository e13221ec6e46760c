//! Ctrl-C: once stops sending, twice stops at once.

use live::Control;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static CURRENT: Mutex<Option<Control>> = Mutex::new(None);
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C (and a termination signal) stops what this control steers.
///
/// # Errors
/// The system takes no handler.
pub fn steer(control: &Control) -> Result<(), ctrlc::Error> {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(control.clone());
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    ctrlc::set_handler(|| {
        let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(control) = current.as_ref() else { std::process::exit(i32::from(crate::exit::INTERRUPTED)) };
        let text = match control.stop() {
            1 => "\nheadway: stopping; waiting for answers (once more: stop at once)",
            2 => "\nheadway: stopping at once",
            // Whatever hangs, the user wants out.
            _ => std::process::exit(i32::from(crate::exit::INTERRUPTED)),
        };
        let _ = writeln!(std::io::stderr(), "{text}");
    })
}
