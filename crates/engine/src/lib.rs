//! What a run is, apart from how it was typed and how it is shown: its specification, what plays it, what collects its
//! records, and experiments of several runs; audits of other tools' files.
//!
//! Deliberately absent: arguments, the terminal, exit codes.
//!
//! # A load test within a program
//!
//! ```no_run
//! use headway_engine::{Backend, Control, Live, Nanos, Plan, Process, Rate, Request, RunSpec, Script, Target};
//!
//! let target = Target::parse("http://127.0.0.1:8080/")?;
//! let script = Script::single(&Request::get(&target.path));
//! // Independent users, 200 requests a second for 30 s, after 5 s of warm-up; the seed decides every arrival.
//! let (warm, hold) = (Nanos::from_secs(5), Nanos::from_secs(30));
//! let plan = Plan::ramp_and_hold(7, Process::Poisson, Rate(200.0), Nanos::ZERO, warm, hold);
//! let spec = RunSpec { thresholds: vec!["p(99)<100ms".parse()?], ..RunSpec::new("shop", plan, 200) };
//! let backend = Backend::Live(Box::new(Live::new(target, script)));
//! let result = backend.play(&spec, &Control::default(), &mut [])?;
//! println!("{:?}: p99 {:?} s", result.summary.verdict.load, result.summary.response.p99);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Plan`] says when requests are due, [`Script`] what is sent, [`RunSpec`] what is asked of the run and what is kept of it.
//! - [`Backend::play`] plays it, [`Live`] against a target, [`Sim`] against a model in virtual time. It blocks; [`Control::stop`] ends it
//!   from another thread, and an [`Observer`] sees it go.
//! - [`Summary`] is what came out: the document `headway.summary/2`, as a struct. Reasons in it are types; [`sentence`] says them.
//! - `examples/embedded.rs` starts its own target and prints a line a second; `examples/shards.rs` divides a load.

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
