//! Tests that cross crates, in virtual time.

mod anything;
mod client;
mod closed;
mod common;
mod connects;
mod datagrams;
mod fixed_work;
mod generator_share;
mod given_back;
mod late_join;
mod lateness;
mod laws;
mod not_sent;
mod queue;
mod redirects;
mod rig;
mod sessions;
mod streamed;
mod thresholds;
mod verdict;
