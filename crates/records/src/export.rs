//! A Parquet export being read back, by the same steps as a stream.
//!
//! Deliberately absent: a guard against hostile bytes like the stream's. An export is read back for convenience; what
//! crate `parquet` rejects is an error, and its checks are all there are.

use std::fs::File;
use std::path::{Path, PathBuf};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::error::Error;
use crate::stream::{Ending, IsKnown};

const BATCH_ROWS: usize = 8_192;

/// The file.
pub(crate) struct Export {
    path: PathBuf,
    schema: SchemaRef,
    batches: ParquetRecordBatchReader,
    ended: bool,
}

impl Export {
    pub(crate) fn open(file: File, path: &Path, is_known: IsKnown) -> Result<Export, Error> {
        let wrong = |why| Error::corrupt(path, 0, why);
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(wrong)?;
        let schema = builder.schema().clone();
        let known = (0..schema.fields().len()).filter(|&at| is_known(schema.field(at).name()));
        let mask = ProjectionMask::roots(builder.parquet_schema(), known);
        let batches = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(wrong)?;
        Ok(Export { path: path.to_path_buf(), schema, batches, ended: false })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ended.then_some(Ending::Complete)
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let batch = self.batches.next().transpose().map_err(|why| Error::corrupt(&self.path, 0, why))?;
        self.ended = batch.is_none();
        Ok(batch)
    }
}
