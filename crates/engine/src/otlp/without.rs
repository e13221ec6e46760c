//! What a build without the feature `otlp` has in the place of an export.

use super::Collector;
use crate::collect::Observer;
use crate::{Error, RunSpec};
use headway_stats::Summary;

/// None can be open.
pub enum Export {}

impl Export {
    /// Opens nothing.
    ///
    /// # Errors
    /// Always: this build has no exports.
    pub fn open(_: Collector, _: &RunSpec, _: u64) -> Result<Export, Error> {
        Err(Error::usage(anyhow::anyhow!(headway_base::not_built("OTLP", "otlp"))))
    }

    /// The run has ended.
    pub fn ended(&self, _: &Summary) {
        match *self {}
    }

    /// Waits for the end of the last export.
    pub fn close(self) -> Option<String> {
        match self {}
    }
}

impl Observer for Export {}
