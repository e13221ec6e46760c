//! What a run is, apart from how it was typed and how it is shown: its specification, what plays it, what collects its
//! records, and experiments of several runs; audits of other tools' files.
//!
//! Deliberately absent: arguments, the terminal, exit codes.

pub mod analysis_setup;
pub mod audit;
pub mod collect;
pub mod compare;
pub mod destination;
pub mod doctor;
pub mod dry_run;
pub mod error;
pub mod experiment;
pub mod files;
mod fingerprint;
mod handover;
pub mod jobs;
pub mod live;
pub mod manifest;
pub mod merge;
pub mod otlp;
pub mod plan_summary;
pub mod plan_words;
mod ports;
mod reasons;
pub mod recompute;
pub mod replay;
pub mod simulate;
pub mod snapshot;
pub mod spec;
pub mod watch;
pub mod watchdog;

pub use analysis_setup::analysis_setup;
pub use collect::Observer;
pub use error::{Error, NotPlayed};
// What an embedding program needs of the crates below, so that it can depend on this one alone.
pub use headway_base::{Batch, Nanos, Outcome, Rate, dist};
pub use headway_live::{Address, Control, serve, wait};
pub use headway_report::words::why::why as sentence;
pub use headway_stats::{Summary, Threshold};
pub use headway_workload::content::Script;
pub use headway_workload::{Limits, Plan, Process, Request, Target};
pub use live::{Live, Start};
pub use manifest::Manifest;
pub use plan_summary::plan_summary;
pub use recompute::{Told, recompute, show_percentiles};
pub use replay::replay;
pub use simulate::Sim;
pub use snapshot::{Goal, Snapshot};
pub use spec::{Backend, Keep, Place, RunResult, RunSpec, render, run_folder};
