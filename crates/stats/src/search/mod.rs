//! The search for the knee: the highest rate at which every threshold holds.
//!
//! ```text
//! Probed ──> Start: where trials begin
//! Search::next ──> rate ──> who plays it ──> observations ──> Trial: a block of counts
//!       ^                                                        │
//!       └──────────────────── Search::take <─────────────────────┘
//! ```
//!
//! Deliberately absent: who plays trials, in which time, and against what.

mod batches;
mod document;
mod drift;
mod earlier;
mod evidence;
mod knee;
mod line;
mod probe;
mod trial;

pub use batches::Seen;
pub use document::{
    DriftFound, Found, OtherLimit, Outcome, Percentile, RateOf, SCHEMA, SEVERAL, Searched, Share, StoppedBy,
    TrialEnd, TrialRow, other_limit,
};
pub use drift::{Drift, Pace};
pub use earlier::Earlier;
pub use evidence::{Evidence, Side};
pub use knee::{Bounds, Ended, Knee, Next, Search, Tried};
pub use line::{Block, Fit, Moved, Start};
pub use probe::{ProbeRow, Probed, SECONDS, alone, is_limited};
pub use trial::{Criterion, Decision, NoCriterion, Trial, WARM_UP, length};

#[cfg(test)]
mod tests;
