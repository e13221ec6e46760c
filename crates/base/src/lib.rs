//! Headway's common ground: what every other crate speaks.
//!
//! Time as integer nanoseconds ([`Nanos`]), rates, sizes and their parsers, named random streams, distributions,
//! the piecewise-linear rate [`Profile`], the [`Record`] that live runs, simulations and imported logs all become,
//! and the [`station`] that the live target, the simulator and the test kit share.
//!
//! Deliberately absent: clocks, files, threads, sockets. Time comes in as an argument.

pub mod answer;
pub mod dist;
pub mod event;
pub mod failure;
pub mod fnv;
pub mod lateness;
pub mod machine;
pub mod pieces;
pub mod profile;
pub mod random;
pub mod rcode;
pub mod record;
pub mod sink;
pub mod special;
pub mod station;
pub mod status;
pub mod time;
pub mod trace;
pub mod units;

pub use answer::Answer;
pub use event::{EventKind, ResponseEvent};
pub use failure::KnownFailure;
pub use fnv::Fnv1a;
pub use lateness::Lateness;
pub use machine::Machine;
pub use profile::{Phase, Profile};
pub use record::{Kind, Outcome, Record, Rough, Short, Stamp, Trigger};
pub use sink::{Batch, Batcher, RecordSink, Snapshot, Start};
pub use time::{Nanos, Rate};

/// The second half of an error about something that was left out of this build: what it lacks and how to get it.
/// `feature` is a feature of the package `headway`.
pub fn not_built(what: &str, feature: &str) -> String {
    format!(
        "this headway was built without {what}: build it with `cargo install --path crates/cli --features {feature}`"
    )
}
