//! Rows in, an Arrow batch out: the columns of the schema as they fill.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use headway_base::Record;

use crate::metadata::Metadata;
use crate::schema::{self, Cells};

/// Rows taken apart at a time: as rows they fit the first-level cache, which each column's loop goes through again.
const BLOCK_ROWS: usize = 128;

pub(crate) struct Table {
    schema: SchemaRef,
    columns: Vec<Box<dyn Cells>>,
    rows: usize,
}

impl Table {
    /// An empty table with room for `capacity` rows.
    pub(crate) fn new(metadata: &Metadata, capacity: usize) -> Table {
        let columns =
            schema::ALL.iter().filter_map(|column| column.builder_for(metadata, capacity)).collect();
        Table { schema: schema::arrow_schema(metadata), columns, rows: 0 }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn append(&mut self, rows: &[Record]) {
        for block in rows.chunks(BLOCK_ROWS) {
            self.columns.iter_mut().for_each(|column| column.append(block));
        }
        self.rows += rows.len();
    }

    /// The rows so far; the table is empty afterwards, whatever the result.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        RecordBatch::try_new(
            self.schema.clone(),
            self.columns.iter_mut().map(|column| column.finish()).collect(),
        )
    }
}
