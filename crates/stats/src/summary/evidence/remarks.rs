//! What is to be known of the points of a study, of its comparisons, and of a recorded run beside it.

use super::super::{Infinite, Stated, Unsteady};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// A remark on a study, or on a recorded run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Remark {
    /// Little's law does not hold in `broken` of `of` replications.
    LittleBroken { broken: u64, of: u64 },
    /// The busiest part (null: not known) has more work than it can do, so many times (null: infinitely many), and that share of its
    /// requests failed. The mean response time of all requests, and that of those that ended well (null: none did; absent in older documents).
    RejectsExcess {
        part: Option<Cleared>,
        load: Option<f64>,
        failed: f64,
        #[serde(default)]
        mean_s: Option<f64>,
        #[serde(default)]
        mean_ok_s: Option<f64>,
    },
    /// There is no steady state; `nothing_left_out`: no warm-up was left out either.
    Unsteady { why: Stated<Unsteady>, is: NoSteadyState, nothing_left_out: bool },
    /// The service times of a part leave the mean over the replications without an interval.
    InfiniteOverRuns { part: Cleared, what: Infinite },
    /// `n` of `of` replications had too few requests to look for a steady state.
    FewRequests { n: u64, of: u64 },
    /// Besides, each replication is a beginning.
    Beginning { why: Stated<Unsteady> },
    /// A single run is too short for intervals: its relaxation times, and how many are needed.
    ShortForIntervals { length_s: f64, times: f64, relaxation_s: f64, needed: f64 },
    /// That share of the requests was left out as warm-up.
    LeftOut { share: f64 },
    /// So many requests got no response.
    GivenUp { n: u64 },
    /// Two models are not compared at these numbers, where the other parameters have these values (empty: there are none).
    NotCompared { one: Cleared, other: Cleared, at: Vec<Cleared>, place: Cleared, why: NotCompared },
    /// A threshold that a study cannot judge.
    NotJudged { threshold: Cleared },
}

/// In which way there is no steady state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoSteadyState {
    /// What is planned to happen once leaves none to find.
    Planned,
    /// There is none, as requests pile up.
    Absent,
    /// None was found.
    NotFound,
}

/// Why two models are not compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotCompared {
    /// The mean is infinite.
    MeanInfinite,
    /// The service times have too heavy a tail.
    HeavyTail,
    /// Too few requests lie beyond the percentile.
    FewBeyond,
    /// The numbers are lower bounds.
    LowerBounds,
}
