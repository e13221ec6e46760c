//! Tests that cross crates, in virtual time.

mod client;
mod common;
mod queue;
mod thresholds;
mod verdict;
