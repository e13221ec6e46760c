//! The virtual world: the client that loads real targets, on a clock that jumps, against a model.
//!
//! The [`Simulation`] does for the client what `live` does with sockets: it carries out its actions and reports what
//! happened. What will happen stands in a [`Calendar`]; a [`Target`] says how connections and requests go, the
//! [`Network`] among them by the parts of a model; the [`Generator`] has defects that can be set. A run of hours takes
//! seconds, is the same each time, and needs memory for what is pending, not for what has been.
//!
//! Deliberately absent: real clocks, sockets, files, threads, and statistics: the caller's sink takes the records.

pub mod balance;
pub mod calendar;
pub mod failure;
pub mod generator;
pub mod lindley;
pub mod load;
pub mod network;
mod pieces;
pub mod simulation;
mod steps;
pub mod target;

pub use calendar::Calendar;
pub use generator::{Generator, RandomPauses};
pub use network::{Network, Observed};
pub use simulation::{Played, Simulation, play, play_streaming};
pub use target::{Answer, Answered, Connect, Target};
