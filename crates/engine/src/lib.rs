//! What a run is, apart from how it was typed and how it is shown.
//!
//! Deliberately absent: arguments, the terminal, exit codes.

pub mod analysis_setup;
pub mod collect;
pub mod jobs;
pub mod manifest;
pub mod merge;
pub mod recompute;

pub use analysis_setup::analysis_setup;
pub use manifest::{Manifest, RunSpec};
pub use recompute::recompute;
