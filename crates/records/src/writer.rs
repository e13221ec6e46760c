//! Writes a log while a run lasts: an Arrow IPC stream, one `write` per batch.
//!
//! The rows of a batch are taken apart into columns as they are appended, encoded into memory, and handed to the
//! system in one piece, so that whatever kills the process leaves whole batches and at most one piece of a batch.
//! Schema and dictionaries are written on creation: a reader never misses one, however early the end.
//!
//! Deliberately absent: compression (it would cost more than all the rest; the Parquet export has it), a thread (the
//! caller has one), and fsync while running: the log survives the process, not a power cut.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use base::Record;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::table::Table;

/// Rows in a full batch: about 1 MB on disk.
pub const BATCH_ROWS: usize = 8_192;

/// Where encoded bytes go: a file, or a test's double of one that fails on demand.
pub(crate) trait Medium: Write + Send {
    /// Forgets everything from byte `length` on.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Waits until the device has everything.
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A log being written.
///
/// Dropping it flushes what it holds but leaves out the end mark, so that a reader can tell a run that was cut short.
pub struct LogWriter {
    path: PathBuf,
    medium: Box<dyn Medium>,
    /// Encodes into memory, which is emptied after each batch and keeps its room.
    stream: StreamWriter<Vec<u8>>,
    table: Table,
    batch_rows: usize,
    /// Bytes of whole messages on the medium.
    length: u64,
    /// Whether a piece of a batch stands behind them that could not be cut off.
    dirty: bool,
    finished: bool,
    rows_written: u64,
    rows_lost: u64,
}

impl LogWriter {
    /// Creates the log at `path`, with `metadata` (keys: module [`metadata`](crate::metadata)).
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a file; [`Error::Io`] if none can be made, or its head not written.
    pub fn create(path: &Path, metadata: &Metadata) -> Result<LogWriter, Error> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|source| Error::io(path, "create the log", source))?;
        LogWriter::over(Box::new(file), path, metadata, BATCH_ROWS)
    }

    /// A log on an empty `medium`, of batches of `batch_rows` rows; `path` is for messages.
    pub(crate) fn over(
        medium: Box<dyn Medium>,
        path: &Path,
        metadata: &Metadata,
        batch_rows: usize,
    ) -> Result<LogWriter, Error> {
        let table = Table::new(metadata, batch_rows);
        let stream =
            StreamWriter::try_new(Vec::new(), table.schema()).map_err(|why| Error::encode(path, why))?;
        let mut writer = LogWriter {
            path: path.to_path_buf(),
            medium,
            stream,
            table,
            batch_rows,
            length: 0,
            dirty: false,
            finished: false,
            rows_written: 0,
            rows_lost: 0,
        };
        // A batch of no rows brings the dictionaries with it.
        writer.encode().map_err(|why| Error::encode(path, why))?;
        writer.put().map_err(|source| Error::io(path, "write the head of the log", source))?;
        Ok(writer)
    }

    /// Appends rows; they are on their way to disk after the next full batch or [`flush`](LogWriter::flush).
    ///
    /// # Errors
    /// [`Error::Write`] if a batch could not be written. All rows were taken nevertheless: the ones of the failed
    /// batch are lost and counted, the others are kept, and the writer can be used on.
    pub fn append(&mut self, rows: &[Record]) -> Result<(), Error> {
        let mut result = Ok(());
        let mut rest = rows;
        while !rest.is_empty() {
            let room = (self.batch_rows - self.table.rows()).min(rest.len());
            let (now, later) = rest.split_at(room);
            rest = later;
            self.table.append(now);
            if self.table.rows() == self.batch_rows {
                result = result.and(self.flush());
            }
        }
        result
    }

    /// Hands everything appended so far to the system, where it survives the end of the process.
    ///
    /// # Errors
    /// [`Error::Write`], as [`append`](LogWriter::append).
    pub fn flush(&mut self) -> Result<(), Error> {
        let rows = self.table.rows() as u64;
        if rows == 0 {
            return Ok(());
        }
        let written = self.encode().map_err(io::Error::other).and_then(|()| self.put());
        match written {
            Ok(()) => {
                self.rows_written += rows;
                Ok(())
            }
            Err(source) => {
                self.rows_lost += rows;
                Err(Error::Write { path: self.path.clone(), rows_lost: rows, source })
            }
        }
    }

    /// Flushes, writes the end mark, and waits until the device has everything; a disk that reports its errors late
    /// reports them here. Rows appended afterwards are lost.
    ///
    /// # Errors
    /// [`Error::Write`] for the last rows, or with no rows lost for the end mark; [`Error::Io`] if the device failed.
    pub fn finish(&mut self) -> Result<(), Error> {
        let written = self.finish_unsynced();
        let synced = self.medium.sync().map_err(|source| Error::io(&self.path, "finish the log", source));
        written.and(synced)
    }

    /// The same without waiting for the device: for files that nobody needs after this process.
    pub(crate) fn finish_unsynced(&mut self) -> Result<(), Error> {
        if self.finished {
            return Ok(());
        }
        let flushed = self.flush();
        let marked = self.stream.finish().map_err(io::Error::other).and_then(|()| self.put());
        self.finished = true;
        flushed.and(marked.map_err(|source| Error::Write { path: self.path.clone(), rows_lost: 0, source }))
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rows handed to the system so far.
    pub fn rows_written(&self) -> u64 {
        self.rows_written
    }

    /// Rows appended that could not be written.
    pub fn rows_lost(&self) -> u64 {
        self.rows_lost
    }

    /// Rows appended that wait for a full batch or a flush.
    pub fn rows_pending(&self) -> usize {
        self.table.rows()
    }

    /// Encodes the pending rows as a batch into memory.
    fn encode(&mut self) -> Result<(), ArrowError> {
        let batch = self.table.finish()?;
        if self.finished {
            return Err(ArrowError::IpcError("the log is finished".to_string()));
        }
        self.stream.write(&batch)
    }

    /// Moves the encoded bytes to the medium, all or nothing.
    fn put(&mut self) -> io::Result<()> {
        let written = self.put_bytes();
        self.stream.get_mut().clear();
        written
    }

    fn put_bytes(&mut self) -> io::Result<()> {
        // What follows a piece of a batch is out of every reader's reach, so nothing may until the piece is gone.
        if self.dirty {
            self.medium.cut(self.length)?;
            self.dirty = false;
        }
        let bytes = self.stream.get_ref();
        let written = self.medium.write_all(bytes);
        match &written {
            Ok(()) => self.length += bytes.len() as u64,
            Err(_) => self.dirty = self.medium.cut(self.length).is_err(),
        }
        written
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        // Nobody is left to tell of an error; a caller who wants to know calls `finish`.
        let _ = self.flush();
    }
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter")
            .field("path", &self.path)
            .field("rows_written", &self.rows_written)
            .field("rows_lost", &self.rows_lost)
            .field("rows_pending", &self.table.rows())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::reader::LogReader;
    use crate::schema;
    use crate::stream::Ending;

    /// A disk of `room` bytes; at `stuck` it cannot even be cut.
    #[derive(Clone, Default)]
    struct SmallDisk(Arc<Mutex<State>>);

    #[derive(Default)]
    struct State {
        bytes: Vec<u8>,
        room: usize,
        stuck: bool,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.0.lock().unwrap();
            let fits = bytes.len().min(state.room - state.bytes.len());
            state.bytes.extend_from_slice(&bytes[..fits]);
            if fits == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Medium for SmallDisk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            let mut state = self.0.lock().unwrap();
            if state.stuck {
                return Err(io::ErrorKind::Other.into());
            }
            state.bytes.truncate(length as usize);
            Ok(())
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn row(k: u64) -> Record {
        Record { k, ..schema::blank() }
    }

    fn keys(disk: &SmallDisk) -> (Vec<u64>, Option<Ending>) {
        let mut reader = LogReader::from_bytes(disk.0.lock().unwrap().bytes.clone()).unwrap();
        let mut keys = Vec::new();
        while let Some(rows) = reader.next_batch().unwrap() {
            keys.extend(rows.iter().map(|row| row.k));
        }
        (keys, reader.ending())
    }

    #[test]
    fn a_full_disk_loses_what_it_says_and_the_log_goes_on_when_there_is_room() {
        for stuck in [false, true] {
            let disk = SmallDisk::default();
            disk.0.lock().unwrap().room = 1 << 20;
            let mut writer =
                LogWriter::over(Box::new(disk.clone()), Path::new("log"), &Metadata::new(), 4).unwrap();
            writer.append(&[row(0), row(1), row(2), row(3), row(4)]).unwrap();
            let full = disk.0.lock().unwrap().bytes.len();
            {
                let mut state = disk.0.lock().unwrap();
                state.room = full + 100;
                state.stuck = stuck;
            }
            let error = writer.append(&[row(5), row(6), row(7), row(8)]).unwrap_err();
            assert!(matches!(error, Error::Write { rows_lost: 4, .. }), "{error}");
            assert_eq!((writer.rows_written(), writer.rows_lost(), writer.rows_pending()), (4, 4, 1));
            let left_over = if stuck { 100 } else { 0 };
            let ending = Ending::Truncated { at: full as u64, bytes_left_over: left_over };
            assert_eq!(keys(&disk), (vec![0, 1, 2, 3], Some(ending)));

            {
                let mut state = disk.0.lock().unwrap();
                state.room = 1 << 20;
                state.stuck = false;
            }
            writer.finish().unwrap();
            assert_eq!((writer.rows_written(), writer.rows_lost()), (5, 4));
            assert_eq!(keys(&disk), (vec![0, 1, 2, 3, 8], Some(Ending::Complete)));
            let late = writer.append(&[row(9), row(9), row(9), row(9)]).unwrap_err();
            assert!(late.to_string().contains("finished"), "{late}");
            assert_eq!(writer.rows_lost(), 8);
        }
    }

    #[test]
    fn a_dropped_writer_flushes_and_leaves_out_the_end_mark() {
        let disk = SmallDisk::default();
        disk.0.lock().unwrap().room = 1 << 20;
        let mut writer =
            LogWriter::over(Box::new(disk.clone()), Path::new("log"), &Metadata::new(), 4).unwrap();
        writer.append(&[row(7)]).unwrap();
        drop(writer);
        let (keys, ending) = keys(&disk);
        assert_eq!(keys, [7]);
        assert!(matches!(ending, Some(Ending::Truncated { bytes_left_over: 0, .. })), "{ending:?}");
    }
}
