//! The virtual world of [`sim`] for tests that cross crates: the client of `workload` on a clock that jumps, against
//! targets that the test scripts.
//!
//! Deliberately absent: a real clock, sockets, threads; a run of an hour takes milliseconds and is the same each time.

pub mod target;

pub use headway_sim::{Answer, Connect, Generator, Network, Simulation, Target};
pub use target::Scripted;
