//! What a run is, apart from how it was typed and how it is shown.
//!
//! Deliberately absent: arguments, the terminal, exit codes.

pub mod collect;
pub mod jobs;
