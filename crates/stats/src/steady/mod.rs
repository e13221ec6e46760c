//! Steady state: what one simulated run, or several, say about the long run, in memory that does not grow with them.
//!
//! ```text
//! one run:       values ──> Batches ──> mser (what to leave out) ──> batch_means (interval)
//!                values ──> Histogram (quantiles)     relaxation time, length ──> Length
//! a model that repeats itself: the same by whole periods (mser_of_periods, batch_means_of_periods)
//! several runs:  Batches of each ──> mser_of_runs (what to leave out of all)
//!                one figure of each ──> Replications (interval, spread, rank)
//!                Histogram, exact values of each ──> Shares ──> pooled (quantile of all together, interval by the runs)
//! two models under the same random numbers ──> paired (interval of the difference)
//! ```
//!
//! Observations come in order and weigh 1 each. All intervals are of 95 %. Deliberately absent: words about what was
//! found, and where the values come from.

mod batches;
mod histogram;
mod length;
mod means;
mod pooled;
mod replications;
mod sample;
mod shares;
mod warmup;

pub use batches::{Batches, MOST_BATCHES};
pub use histogram::{Bucket, Histogram};
pub use length::Length;
pub use means::{BatchMeans, Withheld, batch_means, batch_means_of_periods};
pub use pooled::{ByRuns, Pooled, apart, pooled};
pub(crate) use pooled::{FAR, Known, NEAREST, doubtful};
pub use replications::{Paired, Replications, paired};
pub use sample::{MOST_SAMPLED, Sample, at_most};
pub use shares::Shares;
pub use warmup::{Cut, Prefix, most_correlated, mser, mser_of_periods, mser_of_runs};
