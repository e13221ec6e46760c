//! The simulator against exact formulas, and where there is none against a second simulation: the whole way from the plan
//! through the client core, the calendar and the network to the records.
//!
//! Every trial is played under the seeds 1 to R from the empty system; what is due within ten relaxation times or more of
//! either end is played and not counted. A mean over the runs agrees if it is within 4 standard errors of the truth, those
//! of the runs (and of the truth, where that was drawn too); and what has a standard error so large that it would agree with
//! anything fails too. Run lengths and R stand in [`common::QUICK`] and [`common::LONG`]; the long versions are for release
//! builds:
//!
//! ```text
//! cargo test --release -p headway-testkit --test trust -- --ignored
//! ```
//!
//! Little's law is held to the nanosecond in each of these runs.

mod chain;
mod closed;
mod common;
mod disciplines;
mod faults;
mod general;
mod markov;
mod numbers;
mod pools;
mod second;
