//! Ctrl-C: once stops sending, twice stops at once; a study of simulations stops at the first.
//!
//! Whatever hangs, the last of them ends the process within a second: threads that wait for nothing else end it and say so, and
//! begin before anything can hang. The thread that hears the signal waits for nothing, not even for standard error.

use crate::said;
use anyhow::anyhow;
use headway_live::Control;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

static CURRENT: Mutex<Option<Steered>> = Mutex::new(None);
static HEARING: Mutex<bool> = Mutex::new(false);

/// After the last Ctrl-C that asks for something, the process has so long to end of itself.
const LAST_WORD: Duration = Duration::from_millis(900);

/// What Ctrl-C stops, and what is said each time; after the last it ends the process.
#[derive(Clone)]
struct Steered {
    control: Control,
    words: &'static [&'static str],
}

/// From now on Ctrl-C (and a termination signal) stops what this control steers: a run.
///
/// # Errors
/// The system takes no handler, or allows no more threads.
pub fn steer(control: &Control) -> anyhow::Result<()> {
    let words = &["stopping; waiting for answers (once more: stop at once)", "stopping at once"];
    install(Steered { control: control.clone(), words })
}

/// The same of simulated plays, which are given up at once: nobody waits for their answers.
///
/// # Errors
/// The system takes no handler, or allows no more threads.
pub fn steer_plays(control: &Control) -> anyhow::Result<()> {
    install(Steered { control: control.clone(), words: &["stopping; what is complete will be reported"] })
}

/// The same of the plays of a shard: the second ends the wait for the place of all shards.
///
/// # Errors
/// The system takes no handler, or allows no more threads.
pub fn steer_part(control: &Control) -> anyhow::Result<()> {
    let words =
        &["stopping; the plays that have ended are kept (once more: stop at once)", "stopping at once"];
    install(Steered { control: control.clone(), words })
}

/// The same of waiting for shards that run elsewhere: what they have left so far is merged.
///
/// # Errors
/// The system takes no handler, or allows no more threads.
pub fn steer_wait(control: &Control) -> anyhow::Result<()> {
    install(Steered { control: control.clone(), words: &["waiting no longer; what is there is merged"] })
}

/// From now on Ctrl-C ends the process: nothing is under way any more.
///
/// # Errors
/// The system takes no handler, or allows no more threads.
pub fn end() -> anyhow::Result<()> {
    install(Steered { control: Control::default(), words: &[] })
}

fn install(steered: Steered) -> anyhow::Result<()> {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(steered);
    let mut hearing = HEARING.lock().unwrap_or_else(PoisonError::into_inner);
    if *hearing {
        return Ok(());
    }
    fits_into_memory(headway_live::host::address_space_left())?;
    let (say, said) = channel();
    let (last, at_last) = channel();
    begin("says", move || says(&said))?;
    begin("last-word", move || ends(&at_last))?;
    ctrlc::set_handler(move || hear(&say, &last)).map_err(|error| match error {
        ctrlc::Error::System(why) => no_thread(why),
        other => other.into(),
    })?;
    *hearing = true;
    Ok(())
}

/// Bytes of address space without which no verb gets far: buffers and stacks of two workers, with some to spare. Without them the process
/// aborts somewhere, and there is no report.
const LEAST_ADDRESS_SPACE: u64 = 40 << 20;

fn fits_into_memory(left: Option<u64>) -> anyhow::Result<()> {
    match left {
        Some(left) if left < LEAST_ADDRESS_SPACE => Err(anyhow!(
            "cannot begin: this process may map {} MiB of address space more (ulimit -v); headway needs {} MiB at least, and more for \
             long responses and many connections",
            left >> 20,
            LEAST_ADDRESS_SPACE >> 20
        )),
        _ => Ok(()),
    }
}

fn begin(name: &str, work: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).map_err(no_thread)
}

/// What the system says where it has no thread for those that hear Ctrl-C.
fn no_thread(why: std::io::Error) -> anyhow::Error {
    let limited = why.raw_os_error() == Some(EAGAIN);
    let error = anyhow!(why);
    if limited {
        error.context(
            "cannot begin: the system allows this user no more processes and threads (ulimit -u, the limit of the cgroup); \
             headway needs some six, and one for each of --threads",
        )
    } else {
        error.context("cannot hear Ctrl-C")
    }
}

/// "Resource temporarily unavailable": the limit of threads.
const EAGAIN: i32 = 11;

/// What happens at a signal. It waits for nothing that may hang.
fn hear(say: &Sender<&'static str>, last: &Sender<()>) {
    let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let asked = current.map(|steered| (steered.words, steered.control.stop()));
    let place = asked.and_then(|(words, n)| Some((words.len(), words.get(usize::from(n) - 1)?, n)));
    let Some((most, text, n)) = place else { exit() };
    // Nobody listens only if that thread has come down.
    if usize::from(n) == most && most > 1 && last.send(()).is_err() {
        exit()
    }
    let _ = say.send(text);
}

fn says(said: &Receiver<&'static str>) {
    while let Ok(text) = said.recv() {
        said::below(&text.into());
    }
}

fn ends(at_last: &Receiver<()>) {
    if at_last.recv().is_ok() {
        thread::sleep(LAST_WORD);
        exit()
    }
}

fn exit() -> ! {
    std::process::exit(i32::from(crate::exit::INTERRUPTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_address_space_is_said_before_anything_begins() {
        assert!(fits_into_memory(None).is_ok());
        assert!(fits_into_memory(Some(LEAST_ADDRESS_SPACE)).is_ok());
        let refused = fits_into_memory(Some(9 << 20)).unwrap_err().to_string();
        assert!(refused.contains("may map 9 MiB of address space more (ulimit -v)"), "{refused}");
    }
}
