//! The records of a run as a Parquet file: named here so that it is selected, described and refused like every other output.
//!
//! Deliberately absent: writing it, which needs Arrow and is the log's (`headway_records::to_parquet`).

use crate::{Material, Output};

/// The export of the log.
pub struct Parquet;

impl Output for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn about(&self) -> &'static str {
        "records, every column, as a new Parquet file; events beside it"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Log]
    }

    fn prints(&self) -> bool {
        false
    }

    /// Another tool may have written it: it is never replaced.
    fn recognises(&self, _: &str) -> bool {
        false
    }
}
