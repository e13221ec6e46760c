//! Standard error: the one place that writes to it, and what may be written there, which is text that has passed the gate.
//!
//! The gate is that of the process: it knows names of secrets, then what the command line holds, then what a scenario does. `clippy.toml` forbids
//! `eprintln!` and `std::io::stderr` everywhere else.

use headway_workload::redact::{Cleared, Redactor};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};
use std::sync::{PoisonError, RwLock};

/// One after the other; none is the one that knows no values.
static GATES: RwLock<Vec<Redactor>> = RwLock::new(Vec::new());

/// From now on every message passes this gate, and no other.
pub fn past(gate: &Redactor) {
    *GATES.write().unwrap_or_else(PoisonError::into_inner) = vec![gate.clone()];
}

/// From now on every message passes this gate too.
pub fn also(gate: &Redactor) {
    GATES.write().unwrap_or_else(PoisonError::into_inner).push(gate.clone());
}

/// A text past the process's gate.
pub fn cleared(text: &str) -> Cleared {
    let gates = GATES.read().unwrap_or_else(PoisonError::into_inner);
    match &gates[..] {
        [] => Redactor::default().clear(text),
        [first, rest @ ..] => rest.iter().fold(first.clear(text), |text, gate| gate.clear(&text)),
    }
}

/// Says a sentence: a line that begins with the program's name.
///
/// ```compile_fail
/// headway_cli::said::line(&format!("{}", std::env::args().collect::<String>()));
/// ```
/// ```
/// headway_cli::said::line(&headway_cli::said::cleared("GET /a?token=s3cr3t"));
/// ```
pub fn line(text: &Cleared) {
    write(&["headway: ", text, "\n"].concat());
}

/// Says it as a line of its own, as it is.
pub fn bare(text: &Cleared) {
    write(&[text, "\n"].concat());
}

/// Says it as it is, and the line goes on.
pub fn piece(text: &Cleared) {
    write(text);
}

/// Says that below what a line which renews itself shows.
pub fn below(text: &Cleared) {
    write(&["\nheadway: ", text, "\n"].concat());
}

/// An error is ignored: if standard error is closed, nobody reads the message.
#[expect(clippy::disallowed_methods, reason = "the one place that writes there")]
fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Whether a person sees it.
#[expect(clippy::disallowed_methods, reason = "the one place that writes there")]
pub fn is_seen() -> bool {
    std::io::stderr().is_terminal()
}

/// Where lines that renew themselves are drawn.
#[expect(clippy::disallowed_methods, reason = "the one place that writes there")]
pub(crate) fn drawn() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr()
}

/// A line that renews itself, where a person sees it.
pub struct Renewed(ProgressBar);

impl Renewed {
    /// One that looks so, of so many; none where nobody sees it.
    pub fn new(total: Option<u64>, template: &str) -> Option<Renewed> {
        is_seen().then(|| {
            let bar = ProgressBar::with_draw_target(total, drawn());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            Renewed(bar)
        })
    }

    /// How far it is.
    pub fn reached(&self, position: u64) {
        self.0.set_position(position);
    }

    /// One more.
    pub fn one_more(&self) {
        self.0.inc(1);
    }

    /// What it says.
    pub fn says(&self, text: Cleared) {
        self.0.set_message(String::from(text));
    }

    /// Says a line above it.
    pub fn above(&self, text: &Cleared) {
        self.0.println(text.as_str());
    }

    /// Clears it.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Says a sentence past the process's gate.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::said::line(&$crate::said::cleared(&format!($($words)*)))
    };
}
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_passes_the_gate_that_knows_most() {
        assert_eq!(cleared("GET /a?token=s3cr3t1 once"), "GET /a?token=<redacted> once");
        let mut gate = Redactor::default();
        gate.know("pl4nted-in-a-file");
        past(&gate);
        assert_eq!(cleared("with pl4nted-in-a-file"), "with <redacted>");
        past(&Redactor::default());
    }
}
