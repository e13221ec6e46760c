//! Evidence that only a simulation can have, and on heavy tails.

use super::super::{Grows, Infinite, Interval, Stated, Unsteady};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// The model of a simulation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Model {
    /// A part has more work than it can do and fills up: its load (null: infinitely many times what it can do), how many parts
    /// have too much, and how fast the worst grows, where that is known.
    FillsUp { part: Cleared, load: Option<f64>, parts: usize, growth: Option<Grows> },
    /// No steady state was found, and what grows fastest, if anything is shown to.
    NoSteadyState { why: Option<Stated<Unsteady>>, n: u64, fastest: Option<Grows> },
    /// A part has more work than it can do and rejects that share of it instead of filling up.
    Sheds { part: Cleared, load: Option<f64>, parts: usize, failed: f64 },
    /// The service times of a part leave a mean response time without an interval.
    Infinite { part: Cleared, what: Infinite },
    /// The largest `n` of `of` response times, those above `from_s`, follow a power law whose variance is infinite.
    PowerLaw { n: u64, of: u64, from_s: f64, index: f64, ci95: Interval },
    /// That share of the requests was rejected, mostly by that part; the mean time until then, and the number per second and user.
    TurnedAway { share: f64, by: Option<Cleared>, after_s: f64, per_user_s: f64 },
    /// The length of the run in relaxation times of its slowest part; `beginning`: too few for any number of a steady state, else for
    /// the intervals of a single run. How long it should last, and for the mean of a single queue to be known within that share.
    ShortRun {
        length_s: f64,
        times: f64,
        relaxation_s: f64,
        beginning: bool,
        needed_s: f64,
        mean_s: f64,
        within: f64,
    },
}
