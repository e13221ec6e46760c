//! Evidence on the pattern of the starts, whatever load was asked for.

use super::super::Pattern;
use serde::{Deserialize, Serialize};

/// The pattern of the starts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Starts {
    /// Independent up to a scale; counts in longer windows vary less than those of independent users.
    FixedPopulation { scale_s: f64, window_s: f64, index: f64, why: VariesLess },
    /// The starts repeat themselves exactly; the number in one period.
    Repeats { period_s: f64, starts: f64 },
    /// A line in the spectrum of the counts.
    Period { period_s: f64, amplitude: f64 },
    /// The longest pauses change the pattern: what it is, and what it would be with them, or without if it is judged with them.
    LongestGaps { n: u64, longest_s: f64, pattern: Pattern, otherwise: Pattern },
    /// Stamps are too coarse for headways; the shortest window whose counts are judged, and how to get finer ones.
    CoarseStamps { grid_s: f64, headway_s: f64, window_s: f64, finer: Option<String> },
}

/// Why counts in long windows vary less than those of independent users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the number of starts")]
pub enum VariesLess {
    /// The same number starts in each second.
    EachSecond { n: u64 },
    /// A fixed number of users take turns.
    Turns,
    /// Either that or a schedule: whether users of another tool wait for responses is not known.
    TurnsOrSchedule,
    /// The schedule fixes how many start.
    Schedule,
}
