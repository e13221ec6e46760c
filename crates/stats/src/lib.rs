//! Records in, numbers out: headways, dispersion, quantiles with intervals, and the verdict on the load.
//!
//! ```text
//! Batch ──> analysis ──┬─> merge ──> arrivals, streams (headways, windows) ─> arrivals_summary ─┐
//!                      ├─> responses (per segment), series, labels ────────────────────┤
//!                      ├─> users, sessions, requests in flight; replay, trend ─────────┤
//!                      └─> recent ──> Snapshot                                          v
//!                                                       rules, pattern ──> findings ──> Summary
//! ```
//!
//! Streaming, in memory that does not grow with the run; order-free wherever order has no meaning, so that any number
//! of workers gives the numbers of one. Deliberately absent: clocks, files, sockets, threads, and any knowledge of
//! where the records came from. Time comes in with the records.

pub mod audit;
pub mod comparison;
pub mod doctor;
pub mod effect;
pub mod intervals;
pub mod ks;
pub mod metric;
pub mod queueing;
pub mod rules;
pub mod search;
pub mod steady;
pub mod study;
pub mod summary;
pub mod tail;
pub mod thresholds;

mod analysis;
mod arrivals;
mod arrivals_summary;
mod cells;
mod connects;
mod delays;
mod departures;
mod dither;
mod divisor;
mod events;
mod findings;
mod generator_share;
mod headway_curve;
mod label_series;
mod ladder;
mod levels;
mod little;
mod merge;
mod missing;
mod moments;
mod pattern;
mod pattern_stats;
mod pauses;
mod phase;
mod replay;
mod requests;
mod responses;
mod scales;
mod series;
mod sessions;
mod setup;
mod spectrum;
mod streams;
mod time_split;
mod trend;
mod users;
mod windows;

pub use analysis::Analysis;
pub use findings::growth::Growth;
pub use findings::refusals::Refusals;
pub use setup::{
    DepartureBin, Facts, GapCdf, PlanLaw, SessionAsked, Setup, Tolerances, UsersAsked, UsersPhase, Workload,
};
pub use summary::Summary;
pub use thresholds::Threshold;
