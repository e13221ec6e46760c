//! The Parquet export: smaller than the log by an order of magnitude, read by everything, and written only after
//! the run, because a Parquet file without its last bytes is no Parquet file.
//!
//! Deliberately absent: reading it back (module `export`).

use std::fs::File;
use std::path::{Path, PathBuf};

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::schema::types::ColumnPath;
use arrow_schema::DataType;
use headway_base::{Nanos, Record, ResponseEvent};

use crate::atomic_file::{PendingFile, folder_of};
use crate::error::Error;
use crate::merge::{First, Merge, Merged, stop_of_all};
use crate::metadata::{self, Metadata, STOPPED_AT_NS};
use crate::reader::LogReader;
use crate::schema::Row;
use crate::shard_events::events_of;
use crate::sort::{By, Limits, moved};
use crate::table::Table;

/// Rows in a row group. The writer holds one in memory, encoded; readers skip whole ones by their statistics.
const GROUP_ROWS: usize = 131_072;

const BATCH_ROWS: usize = 8_192;

/// Exports `logs` to one Parquet file at `out`: sorted by time if `by` says so ([`merge`](crate::merge())), else one
/// log after the other. The metadata are those of the first log that has any, and all rows count from its zero. The
/// file appears complete or not at all. Events of responses, where the logs have any, come to a file of their own beside it
/// ([`events_beside_export`]), one log after the other.
///
/// # Errors
/// [`Error::Exists`] if `out` or that file exists; the errors of reading; [`Error::Encode`] and [`Error::Io`] of writing.
pub fn to_parquet(logs: &[PathBuf], out: &Path, by: Option<By>, limits: Limits) -> Result<Merged, Error> {
    let (pending, file) = PendingFile::beside(out)?;
    let of_events = events_beside_export(out);
    let events = events(logs, &of_events, limits)?;
    let mut merged = match by {
        Some(by) => {
            let mut merge = Merge::open(logs, by, limits, folder_of(out))?;
            let mut export =
                Writer::<Record>::new(file, &with_stop(merge.metadata(), merge.stopped_at()), out)?;
            let mut rows = Vec::new();
            while merge.next_block(&mut rows)? {
                export.append(&rows)?;
            }
            export.close()?;
            merge.merged()
        }
        None => append_all(logs, file, out)?,
    };
    if let Some((pending, rows)) = events {
        pending.persist()?;
        merged.events = Some((of_events, rows));
    }
    pending.persist()?;
    Ok(merged)
}

/// Where the events stand beside an export of records: `run.events.parquet` beside `run.parquet`.
pub fn events_beside_export(out: &Path) -> PathBuf {
    out.with_extension("events.parquet")
}

/// The events of these logs in a file that is to appear as `out`, and how many rows these are; none where there are no events. Of a table
/// that was cut short the log beside it was too, and tells.
fn events(logs: &[PathBuf], out: &Path, limits: Limits) -> Result<Option<(PendingFile, u64)>, Error> {
    let mut first = First::default();
    for log in logs {
        first.admit(&LogReader::open(log)?)?;
    }
    let mut export: Option<(PendingFile, Writer<'_, ResponseEvent>)> = None;
    let mut n = 0;
    events_of(logs, limits, |rows| {
        n += rows.len() as u64;
        let (_, writer) = match &mut export {
            Some(export) => export,
            None => {
                let (pending, file) = PendingFile::beside(out)?;
                export.insert((pending, Writer::new(file, &first.metadata, out)?))
            }
        };
        writer.append(rows)
    })?;
    let Some((pending, writer)) = export else { return Ok(None) };
    writer.close()?;
    Ok(Some((pending, n)))
}

fn append_all(logs: &[PathBuf], file: File, out: &Path) -> Result<Merged, Error> {
    let mut merged = Merged::default();
    let mut first = First::default();
    let readers = logs.iter().map(|path| LogReader::open(path));
    let readers: Vec<(LogReader, Nanos)> = readers
        .map(|reader| reader.and_then(|log| first.admit(&log).map(|shift| (log, shift))))
        .collect::<Result<_, _>>()?;
    let stops: Vec<_> = readers.iter().map(|(log, shift)| log.stopped_at().map(|at| at + *shift)).collect();
    let mut export = Writer::<Record>::new(file, &with_stop(&first.metadata, stop_of_all(&stops)), out)?;
    for (mut reader, shift) in readers {
        while let Some(rows) = reader.next_batch()? {
            merged.rows += rows.len() as u64;
            if shift == Nanos::ZERO {
                export.append(rows)?;
            } else {
                export.append(&rows.iter().map(|row| moved(*row, shift)).collect::<Vec<_>>())?;
            }
        }
        merged.note(reader.path(), reader.ending());
    }
    export.close()?;
    Ok(merged)
}

/// The metadata of an export, whose end has no mark.
fn with_stop(metadata: &Metadata, stopped_at: Option<Nanos>) -> Metadata {
    let said = stopped_at.map(|at| (STOPPED_AT_NS.to_owned(), at.0.to_string()));
    metadata.clone().into_iter().chain(said).collect()
}

/// A Parquet file being written.
struct Writer<'p, R: Row> {
    path: &'p Path,
    table: Table<R>,
    file: ArrowWriter<File>,
}

impl<'p, R: Row> Writer<'p, R> {
    fn new(file: File, metadata: &Metadata, path: &'p Path) -> Result<Writer<'p, R>, Error> {
        let table = Table::new(metadata, BATCH_ROWS);
        let file = ArrowWriter::try_new(file, table.schema().clone(), Some(properties::<R>(metadata)));
        Ok(Writer { path, table, file: file.map_err(|why| Error::encode(path, why))? })
    }

    fn append(&mut self, rows: &[R]) -> Result<(), Error> {
        self.table.append(rows);
        if self.table.rows() >= BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let batch = self.table.finish().map_err(|why| Error::encode(self.path, why))?;
        self.file.write(&batch).map_err(|why| Error::encode(self.path, why))
    }

    fn close(mut self) -> Result<(), Error> {
        self.flush()?;
        self.file.close().map(drop).map_err(|why| Error::encode(self.path, why))
    }
}

fn properties<R: Row>(metadata: &Metadata) -> WriterProperties {
    let version = (metadata::SCHEMA, R::VERSION);
    let texts = metadata.iter().map(|(key, text)| (key.as_str(), text.as_str())).chain([version]);
    let texts = texts.map(|(key, text)| KeyValue::new(key.to_string(), text.to_string())).collect();
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_key_value_metadata(Some(texts));
    // Instants and numbers of arrivals climb: their differences are small where they themselves never repeat.
    for column in R::columns().iter().filter(|c| matches!(c.data_type(), DataType::Int64 | DataType::UInt64))
    {
        let path = ColumnPath::from(column.name());
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}
