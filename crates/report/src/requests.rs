//! Outputs of single requests: written row by row as the log is read, so that memory does not grow with the run.
//!
//! Deliberately absent: reading the log and opening files, which the caller does.

use headway_base::Record;
use headway_redact::Cleared;
use std::io::{Result, Write};

/// Where requests come from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The run's name.
    pub name: Cleared,
    /// Labels of the steps, by index.
    pub labels: Vec<Cleared>,
    /// The instant that stamps count from, in nanoseconds since the Unix epoch; none where unknown or simulated.
    pub zero_unix_ns: Option<i128>,
}

impl Origin {
    /// The label of that step; empty where it has none.
    pub fn label(&self, step: u16) -> &str {
        self.labels.get(usize::from(step)).map_or("", Cleared::as_str)
    }
}

/// Writes requests one by one.
pub trait Requests {
    /// What stands before the first.
    ///
    /// # Errors
    /// `out` takes no more.
    fn begin(&mut self, out: &mut dyn Write) -> Result<()>;
    /// A request, in the order in which they were due; rows of sessions and attempts are passed over.
    ///
    /// # Errors
    /// `out` takes no more.
    fn row(&mut self, record: &Record, out: &mut dyn Write) -> Result<()>;
    /// What stands after the last.
    ///
    /// # Errors
    /// `out` takes no more.
    fn end(&mut self, out: &mut dyn Write) -> Result<()>;
}
