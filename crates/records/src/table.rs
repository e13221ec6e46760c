//! Rows in, an Arrow batch out: the columns of the schema as they fill.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use crate::metadata::Metadata;
use crate::schema::{self, Cells, Row};

/// Rows taken apart at a time: as rows they fit the first-level cache, which each column's loop goes through again.
const BLOCK_ROWS: usize = 128;

pub(crate) struct Table<R: Row> {
    schema: SchemaRef,
    columns: Vec<Box<dyn Cells<R>>>,
    rows: usize,
}

impl<R: Row> Table<R> {
    /// An empty table with room for `capacity` rows.
    pub(crate) fn new(metadata: &Metadata, capacity: usize) -> Table<R> {
        let columns =
            R::columns().iter().filter_map(|column| column.builder_for(metadata, capacity)).collect();
        Table { schema: schema::arrow_schema::<R>(metadata), columns, rows: 0 }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn append(&mut self, rows: &[R]) {
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
