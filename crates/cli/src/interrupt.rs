//! Ctrl-C: once stops sending, twice stops at once; a study of simulations stops at the first.

use headway_live::Control;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static CURRENT: Mutex<Option<Steered>> = Mutex::new(None);
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// What Ctrl-C stops, and what is said each time; after the last it ends the process.
#[derive(Clone)]
struct Steered {
    control: Control,
    words: &'static [&'static str],
}

/// From now on Ctrl-C (and a termination signal) stops what this control steers: a run.
///
/// # Errors
/// The system takes no handler.
pub fn steer(control: &Control) -> Result<(), ctrlc::Error> {
    let words = &["stopping; waiting for answers (once more: stop at once)", "stopping at once"];
    install(Steered { control: control.clone(), words })
}

/// The same of simulated plays, which are given up at once: nobody waits for their answers.
///
/// # Errors
/// The system takes no handler.
pub fn steer_plays(control: &Control) -> Result<(), ctrlc::Error> {
    install(Steered { control: control.clone(), words: &["stopping; what is complete will be reported"] })
}

/// The same of the plays of a shard: the second ends the wait for the place of all shards.
///
/// # Errors
/// The system takes no handler.
pub fn steer_part(control: &Control) -> Result<(), ctrlc::Error> {
    let words =
        &["stopping; the plays that have ended are kept (once more: stop at once)", "stopping at once"];
    install(Steered { control: control.clone(), words })
}

/// The same of waiting for shards that run elsewhere: what they have left so far is merged.
///
/// # Errors
/// The system takes no handler.
pub fn steer_wait(control: &Control) -> Result<(), ctrlc::Error> {
    install(Steered { control: control.clone(), words: &["waiting no longer; what is there is merged"] })
}

/// From now on Ctrl-C ends the process: nothing is under way any more.
///
/// # Errors
/// The system takes no handler.
pub fn end() -> Result<(), ctrlc::Error> {
    install(Steered { control: Control::default(), words: &[] })
}

fn install(steered: Steered) -> Result<(), ctrlc::Error> {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(steered);
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    ctrlc::set_handler(|| {
        let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = current.as_ref().map(|steered| (steered.words, steered.control.stop()));
        // Whatever hangs, the user wants out.
        let Some(text) = asked.and_then(|(words, n)| words.get(usize::from(n) - 1)) else {
            std::process::exit(i32::from(crate::exit::INTERRUPTED))
        };
        let _ = writeln!(std::io::stderr(), "\nheadway: {text}");
    })
}
