//! Reads a log, batch by batch, to its last complete batch; a Parquet export by the same calls.
//!
//! A log that ends early is no error, because a killed run must stay readable: see [`LogReader::ending`]. Bytes
//! that are wrong in themselves are an error that names file and offset.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use headway_base::{Nanos, Record, ResponseEvent};

use crate::Export;
use crate::error::Error;
use crate::metadata::{self, Metadata};
use crate::schema::{Column, Row};
use crate::stream::{Bytes, Ending, Stream};

/// A log or a Parquet export being read.
pub type LogReader = Reader<Record>;

/// A table of the events of responses being read.
pub type EventReader = Reader<ResponseEvent>;

/// A table of a run being read.
pub struct Reader<R: Row> {
    path: PathBuf,
    source: Source,
    metadata: Metadata,
    columns: Columns<R>,
    rows: Vec<R>,
    /// Whether an error was met: what stands behind it is not to be trusted.
    failed: bool,
}

/// The known columns, each with its place in a batch.
type Columns<R> = Vec<(usize, &'static dyn Column<R>)>;

enum Source {
    Stream(Box<Stream>),
    Export(Box<Export>),
}

impl<R: Row> Reader<R> {
    /// Opens the log or the Parquet export at `path`; the first bytes tell which.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read; [`Error::NotALog`], [`Error::Version`] and [`Error::Column`] if it is
    /// something else, of a later version, or lacks a column.
    pub fn open(path: &Path) -> Result<Reader<R>, Error> {
        let io = |source| Error::io(path, "read the log", source);
        let mut file = File::open(path).map_err(|source| Error::io(path, "open the log", source))?;
        let mut magic = [0; 4];
        let is_parquet = file.read_exact(&mut magic).is_ok() && magic == *b"PAR1";
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        if !is_parquet {
            return Reader::stream(Box::new(BufReader::with_capacity(1 << 16, file)), path);
        }
        let export = Export::open(file, path, is_known::<R>)?;
        let (metadata, columns) = understand(export.schema(), path)?;
        let source = Source::Export(Box::new(export));
        Ok(Reader { path: path.to_path_buf(), source, metadata, columns, rows: Vec::new(), failed: false })
    }

    /// Reads a log that is in memory. Whatever the bytes are, it neither panics nor takes memory beyond a small
    /// multiple of theirs.
    ///
    /// # Errors
    /// As [`open`](Reader::open), with `(memory)` for a path.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Reader<R>, Error> {
        Reader::stream(Box::new(Cursor::new(bytes.into())), Path::new("(memory)"))
    }

    pub(crate) fn stream(bytes: Box<dyn Bytes>, path: &Path) -> Result<Reader<R>, Error> {
        let stream = Stream::open(bytes, path, is_known::<R>)?;
        // Without a schema there are no rows to understand either.
        let (metadata, columns) = match stream.schema() {
            Some(schema) => understand(schema, path)?,
            None => (Metadata::new(), Vec::new()),
        };
        let source = Source::Stream(Box::new(stream));
        Ok(Reader { path: path.to_path_buf(), source, metadata, columns, rows: Vec::new(), failed: false })
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the log says about itself; empty if it ends before its own head does.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How the log ended; none until it has been read to its end.
    pub fn ending(&self) -> Option<Ending> {
        match &self.source {
            Source::Stream(stream) => stream.ending(),
            Source::Export(export) => export.ending(),
        }
    }

    /// When the run was stopped before its plan had ended, from the plan's zero: as its end mark says. None where it was not, where the log has no
    /// end mark, and of logs that are older than this note.
    pub fn stopped_at(&self) -> Option<Nanos> {
        match &self.source {
            Source::Stream(stream) => stream.stopped_at(),
            Source::Export(_) => {
                self.metadata.get(metadata::STOPPED_AT_NS).and_then(|at| at.parse().ok()).map(Nanos)
            }
        }
    }

    /// The next batch that has rows, none at the end. The slice lives until the next call.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for bytes that no writer leaves, [`Error::Column`] for a cell that cannot be understood,
    /// [`Error::Io`]. The reader does not look past an error: later calls give none, and there is no ending.
    pub fn next_batch(&mut self) -> Result<Option<&[R]>, Error> {
        if self.failed {
            return Ok(None);
        }
        match self.read_rows() {
            Ok(true) => Ok(Some(&self.rows)),
            Ok(false) => Ok(None),
            Err(error) => {
                self.failed = true;
                Err(error)
            }
        }
    }

    fn read_rows(&mut self) -> Result<bool, Error> {
        loop {
            let (batch, at) = match &mut self.source {
                Source::Stream(stream) => (stream.next_batch()?, stream.position()),
                Source::Export(export) => (export.next_batch()?, 0),
            };
            let Some(batch) = batch else { return Ok(false) };
            if batch.num_rows() > 0 {
                return self.fill(&batch, at).map(|()| true);
            }
        }
    }

    fn fill(&mut self, batch: &RecordBatch, at: u64) -> Result<(), Error> {
        self.rows.clear();
        self.rows.resize(batch.num_rows(), R::BLANK);
        for (place, column) in &self.columns {
            column.fill(batch.column(*place), &mut self.rows).map_err(|why| {
                Error::column(&self.path, column.name(), format!("{why} (in the batch at byte {at})"))
            })?;
        }
        Ok(())
    }
}

/// The batches one after the other, each with its own memory.
impl<R: Row> Iterator for Reader<R> {
    type Item = Result<Vec<R>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(Some(rows)) => Some(Ok(rows.to_vec())),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<R: Row> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.path)
            .field("metadata", &self.metadata)
            .field("ending", &self.ending())
            .finish_non_exhaustive()
    }
}

/// Whether a table of such rows has a column of that name.
fn is_known<R: Row>(name: &str) -> bool {
    R::columns().iter().any(|column| column.name() == name)
}

/// Whether `version`, such as `headway.records/1`, is one that this reader knows. A minor number may follow.
fn is_readable(version: &str, known: &str) -> bool {
    version.strip_prefix(known).is_some_and(|minor| minor.is_empty() || minor.starts_with('.'))
}

/// The metadata without the version, and each known column's place among the known columns of the schema.
fn understand<R: Row>(schema: &Schema, path: &Path) -> Result<(Metadata, Columns<R>), Error> {
    let mut metadata: Metadata = schema.metadata().clone().into();
    // The Parquet writer's copy of the schema; not the caller's.
    metadata.remove("ARROW:schema");
    let name = R::VERSION.split('/').next().unwrap_or(R::VERSION);
    match metadata.remove(metadata::SCHEMA) {
        Some(version) if is_readable(&version, R::VERSION) => {}
        Some(version) if version.starts_with(name) => {
            return Err(Error::Version { path: path.to_path_buf(), found: version });
        }
        Some(other) => {
            return Err(Error::not_a_log(path, format!("its schema is `{other}`, not `{}`", R::VERSION)));
        }
        None => return Err(Error::not_a_log(path, format!("its metadata have no `{}`", metadata::SCHEMA))),
    }
    let known: Vec<_> = schema
        .fields()
        .iter()
        .filter_map(|field| {
            R::columns().iter().find(|column| column.name() == field.name()).map(|column| (field, *column))
        })
        .collect();
    for (place, (field, column)) in known.iter().enumerate() {
        if *field.data_type() != column.data_type() {
            let why = format!("its type is {}, expected {}", field.data_type(), column.data_type());
            return Err(Error::column(path, column.name(), why));
        }
        if known[..place].iter().any(|(_, earlier)| earlier.name() == column.name()) {
            return Err(Error::column(path, column.name(), "there are two of them"));
        }
    }
    let has = |column: &dyn Column<R>| known.iter().any(|(_, other)| other.name() == column.name());
    if let Some(missing) = R::columns().iter().find(|column| !column.nullable() && !has(**column)) {
        return Err(Error::column(path, missing.name(), "missing, and not one that may be"));
    }
    let mut columns: Columns<R> = known.into_iter().map(|(_, column)| column).enumerate().collect();
    // In the order of the table, wherever a log has them: a column may set the default of a later one.
    let place = |column: &dyn Column<R>| R::columns().iter().position(|known| known.name() == column.name());
    columns.sort_by_key(|(_, column)| place(*column));
    Ok((metadata, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_minor_version_is_read_and_a_major_one_is_not() {
        let check = |version: &str, expected: bool| {
            assert_eq!(is_readable(version, crate::schema::VERSION), expected, "{version}")
        };
        check("headway.records/1", true);
        check("headway.records/1.4", true);
        check("headway.records/2", false);
        check("headway.records/10", false);
        check("other/1", false);
    }
}
