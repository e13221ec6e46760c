//! Why a request failed, for people, so that alike failures can be counted together.

use headway_base::KnownFailure;
use std::fmt;

/// Why a request failed. Secrets are replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// What is the same for all requests that fail alike: the step, and what was expected.
    pub same: String,
    /// The whole sentence, with what this one met.
    pub whole: String,
    /// Its kind, where there is advice on it.
    pub kind: Option<KnownFailure>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.whole)
    }
}

/// A reason on its way: what is the same for all that fail alike, and what differs.
#[derive(Debug)]
pub(super) struct Fault {
    pub same: String,
    /// What this request met; continues the sentence.
    pub met: String,
    pub kind: Option<KnownFailure>,
}

impl Fault {
    /// One that is the same for all.
    pub fn plain(same: String) -> Fault {
        Fault { same, met: String::new(), kind: None }
    }

    /// That was expected, and this came, which differs from response to response.
    pub fn got(expected: String, got: impl fmt::Display) -> Fault {
        Fault { met: format!(", got {got}"), ..Fault::plain(expected) }
    }

    /// What was expected has values of the session in it, which are these here.
    pub fn here(self, here: Option<String>) -> Fault {
        match here {
            Some(here) => Fault { met: format!(", here {here}{}", self.met), ..self },
            None => self,
        }
    }

    pub fn of_kind(self, kind: KnownFailure) -> Fault {
        Fault { kind: Some(kind), ..self }
    }

    /// The reason why a request of that step failed, its secrets replaced by `hide`.
    pub fn of_step(self, step: &str, hide: impl Fn(&str) -> String) -> Reason {
        let same = format!("{step}: {}", self.same);
        Reason { whole: hide(&format!("{same}{}", self.met)), same: hide(&same), kind: self.kind }
    }
}
