//! What a run is, apart from how it was typed and how it is shown: its specification, what plays it, what collects its
//! records, and experiments of several runs; audits of other tools' files.
//!
//! Deliberately absent: arguments, the terminal, exit codes.

pub mod analysis_setup;
pub mod audit;
pub mod collect;
pub mod error;
pub mod jobs;
pub mod live;
pub mod manifest;
pub mod merge;
pub mod plan_summary;
pub mod recompute;
pub mod simulate;
pub mod spec;

pub use analysis_setup::analysis_setup;
pub use collect::Observer;
pub use error::Error;
pub use headway_live::Control;
pub use live::{Live, Start};
pub use manifest::Manifest;
pub use plan_summary::plan_summary;
pub use recompute::recompute;
pub use simulate::Sim;
pub use spec::{Backend, Keep, RunResult, RunSpec, render, run_folder};
