//! What a build without the feature `parquet` has in the place of reading and writing Parquet: an error that names the feature.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::error::Error;
use crate::merge::Merged;
use crate::sort::{By, Limits};
use crate::stream::{Ending, IsKnown};

/// Exports nothing.
///
/// # Errors
/// Always [`Error::NotBuilt`].
pub fn to_parquet(_: &[PathBuf], out: &Path, _: Option<By>, _: Limits) -> Result<Merged, Error> {
    Err(Error::NotBuilt { path: out.to_path_buf() })
}

/// No such file can be open.
pub(crate) enum Export {}

impl Export {
    pub(crate) fn open(_: File, path: &Path, _: IsKnown) -> Result<Export, Error> {
        Err(Error::NotBuilt { path: path.to_path_buf() })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        match *self {}
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        match *self {}
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        match *self {}
    }
}
