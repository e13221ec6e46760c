//! The audit's pipeline: files in, a summary out.
//!
//! ```text
//! file ──> input (headway_import::File, or a run's log) ──> batches ──> read: spool and surveys, one of each per file
//!                                                                │
//!                  setup: grid, rate, stretch, expectation <─────┤
//!                                   │                            v
//!                                   └──> judge: spools merged by time ──> selection ──> headway_stats::audit::Auditor
//! ```
//!
//! Either pass uses two threads: one reads (or merges), the other takes in. Memory is bounded by the spool and by what
//! the auditor keeps, not by the length of the files.
//!
//! Deliberately absent: the terminal's report and the exit code, which are the command's.

mod begin;
mod export;
mod failed;
mod files;
mod first_pass;
mod histograms;
mod input;
mod offsets;
mod other;
mod outliers;
mod second_pass;
mod setup;
mod spec;
#[cfg(test)]
mod tests;
mod trace;
mod unused;
mod watch;

pub use begin::Begin;
pub use export::write_new;
pub use spec::{AuditSpec, Dispersion, Expect, Exports, Shift};
pub use trace::trace;
pub use watch::Watch;

use crate::Error;
use anyhow::anyhow;
use headway_report::format::plural;
use headway_stats::Summary;
use headway_stats::summary::Stream;

/// Audits the files that the specification names.
///
/// # Errors
/// A file that cannot be read or audited (exit 2, naming it), a selection that selects nothing, a full disk.
pub fn audit(settings: &AuditSpec, watch: &mut dyn Watch) -> Result<Summary, Error> {
    judged(settings, watch).map_err(Error::without_secrets)
}

fn judged(settings: &AuditSpec, watch: &mut dyn Watch) -> Result<Summary, Error> {
    let mut read = first_pass::read_all(settings, watch)?;
    unused::note_log_format(settings, &read, watch);
    let stream = stream(settings, &read)?;
    let stretch = setup::Stretch::new(settings, &read, stream)?;
    settings.pages_are_known(&read)?;
    let chosen = second_pass::count(settings, &read, &stretch, stream)?;
    if chosen.starts.n == 0 {
        return Err(Error::usage(nothing_chosen(settings, &read, stream)));
    }
    let setup = setup::setup(settings, &read, &stretch, stream, &chosen);
    let facts = setup::facts(settings, &read, &stretch);
    let mut summary = second_pass::judge(settings, &read, &stretch, &chosen, setup, facts, watch)?;
    files::into_summary(&mut summary, settings, &read, &stretch, stream, &chosen)?;
    unused::into_summary(&mut summary, settings);
    other::into_summary(&mut summary, settings, &mut read, stream, watch)?;
    Ok(summary)
}

/// Sessions whose starts cover less of the test are no stream: a closed load's users start once, at its beginning.
const COVERS: f64 = 0.5;

/// Whether sessions go on starting while requests do.
fn sessions_arrive(read: &first_pass::Read) -> bool {
    let length = |of: Stream| {
        let starts =
            read.load().map(|f| f.of(of).starts).fold(first_pass::Starts::default(), |a, b| a.and(b));
        starts.span.map_or(0.0, |(first, last)| (last - first).as_secs_f64())
    };
    let requests = read.load().map(|f| f.requests.rows).sum::<u64>();
    requests == 0 || length(Stream::Sessions) >= COVERS * length(Stream::Requests)
}

/// Sessions where a file shows any that arrive, because requests of one session depend on each other; else requests.
fn stream(settings: &AuditSpec, read: &first_pass::Read) -> Result<Stream, Error> {
    let has_sessions = read.load().any(|f| f.sessions.rows > 0);
    match settings.stream {
        Some(Stream::Sessions) if !has_sessions => Err(Error::usage(anyhow!(
            "--sessions: there are none in these files (Gatling's users, k6's iterations and Headway's sessions are)"
        ))),
        Some(stream) => Ok(stream),
        None if has_sessions && sessions_arrive(read) => Ok(Stream::Sessions),
        None => Ok(Stream::Requests),
    }
}

fn nothing_chosen(settings: &AuditSpec, read: &first_pass::Read, stream: Stream) -> anyhow::Error {
    let what = match stream {
        Stream::Requests => "request",
        Stream::Sessions => "session",
    };
    let starts: u64 = read.load().map(|f| f.of(stream).rows).sum();
    let Some((first, last)) = read.span().filter(|_| starts > 0) else {
        return anyhow!("there is not one {what} in {}", settings.names());
    };
    if !settings.selects() {
        return anyhow!("not one {what} in {} was started", settings.names());
    }
    anyhow!(
        "--from, --for and --success-only leave none of {}: from the first start to the last there are {}",
        plural(starts, what),
        last - first
    )
}
