//! A virtual world for tests: the client of `workload` on a clock that jumps, against scripted targets, sent by a
//! generator whose own defects (cost of a send, pauses, timer ticks) can be set.
//!
//! Deliberately absent: a real clock, sockets, threads; a run of an hour takes milliseconds and is the same each time.

pub mod target;
pub mod world;

pub use target::{Answer, Connect, Scripted, StationTarget, Target};
pub use world::{Generator, World};
