//! Why something was not done: the caller asked for what cannot be, it failed, or there was nothing to do.

use headway_base::Nanos;
use headway_workload::redact::Redactor;
use std::borrow::Cow;

/// Why a run, a study or an audit gave no result. Either part shows its own text and its own causes.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for is wrong: a setting, a scenario, a file that was named.
    #[error(transparent)]
    Usage(anyhow::Error),
    /// It was right and could not be done: the target is unreachable, input or output failed.
    #[error(transparent)]
    Failed(anyhow::Error),
    /// Nothing is wrong, and there is nothing for this process to play.
    #[error(transparent)]
    NotPlayed(#[from] NotPlayed),
}

impl Error {
    /// The same without the secrets of what it quotes from elsewhere: the lines of a file, for example.
    pub(crate) fn without_secrets(self) -> Error {
        let hidden = |error: anyhow::Error| {
            let text = format!("{error:#}");
            match Redactor::default().hide_foreign(&text) {
                Cow::Borrowed(_) => error,
                Cow::Owned(hidden) => anyhow::anyhow!(hidden),
            }
        };
        match self {
            Error::Usage(error) => Error::Usage(hidden(error)),
            Error::Failed(error) => Error::Failed(hidden(error)),
            Error::NotPlayed(why) => Error::NotPlayed(why),
        }
    }
}

/// Those shards that are not there, as the end of a sentence.
fn absent(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        some => format!("; missing: {}", some.join(", ")),
    }
}

/// How to play a shard again whose process has died, as the end of a sentence.
fn played_again(remove: Option<&String>) -> String {
    remove.map_or(String::new(), |own| {
        format!("; if that process has died, remove {own}, and start the shard again")
    })
}

/// Why a run was not played that could have been.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotPlayed {
    /// It comes too late to join.
    #[error(
        "the plan began {late} ago (--start-at), and --late {allowed} is the latest to join it: nothing was sent"
    )]
    TooLate {
        /// For how long the plan has gone on.
        late: Nanos,
        /// For how long it may have.
        allowed: Nanos,
    },
    /// Another process plays the shard, or has played it.
    #[error("shard {shard} was claimed by process {pid} on {host} at {at}: it is not played twice{}", played_again(again.as_ref()))]
    Superseded {
        /// Which, `i/N`.
        shard: String,
        /// The other's machine.
        host: String,
        /// The other.
        pid: u32,
        /// When, by the clock of its machine, RFC 3339.
        at: String,
        /// Of a study: what must be removed before the shard can be played again. Records of a run cannot be had again.
        again: Option<String>,
    },
    /// Shards did not come to where they were to meet.
    #[error("--start-at barrier: {why}{}: nothing was sent", absent(missing))]
    NotMet {
        /// What ended the wait.
        why: String,
        /// Those that had not come by then, `i/N`.
        missing: Vec<String>,
    },
    /// The user ended it before it began.
    #[error("interrupted before the run began: nothing was sent")]
    Interrupted,
    /// The plan is over.
    #[error("the plan began {late} ago (--start-at) and ended {ended} ago: nothing was sent")]
    Over {
        /// When it began, before now.
        late: Nanos,
        /// When it ended, before now.
        ended: Nanos,
    },
}

impl Error {
    /// What was asked for is wrong.
    pub fn usage(error: impl Into<anyhow::Error>) -> Error {
        Error::Usage(error.into())
    }

    /// It could not be done.
    pub fn failed(error: impl Into<anyhow::Error>) -> Error {
        Error::Failed(error.into())
    }
}

/// What fails on the way, unless said otherwise, could not be done.
macro_rules! failed {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::failed(error)
            }
        }
    )+};
}

failed!(anyhow::Error, std::io::Error, headway_records::Error);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_those_of_what_it_holds() {
        let inner = anyhow::anyhow!("no such file").context("x.csv");
        let shown = format!("{:#}", anyhow::Error::from(Error::usage(inner)).context("--out"));
        assert_eq!(shown, "--out: x.csv: no such file");
    }
}
