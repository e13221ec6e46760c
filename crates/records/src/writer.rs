//! Writes a log while a run lasts: an Arrow IPC file, one `write` per batch. Until it is finished it is a stream behind the file's
//! magic.
//!
//! The rows of a batch are taken apart into columns as they are appended, encoded into memory, and handed to the
//! system in one piece, so that whatever kills the process leaves whole batches and at most one piece of a batch.
//! Schema and dictionaries are written on creation: a reader never misses one, however early the end.
//!
//! Deliberately absent: compression (it would cost more than all the rest; the Parquet export has it), a thread (the
//! caller has one), and fsync while running: the log survives the process, not a power cut.
//!
//! Before each write the file is looked at: one that another program removed or cut is not written to any more, and said.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use headway_base::{Nanos, Record, ResponseEvent};

use crate::error::Error;
use crate::footer::{HEAD, Places};
use crate::metadata::Metadata;
use crate::reader::Reader;
use crate::schema::Row;
use crate::table::Table;

/// Rows in a full batch: about 1 MB on disk.
pub const BATCH_ROWS: usize = 8_192;

/// Where encoded bytes go: a file, or a test's double of one that fails on demand.
pub(crate) trait Medium: Write + Send {
    /// Forgets everything from byte `length` on.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Waits until the device has everything.
    fn sync(&mut self) -> io::Result<()>;
    /// How long it is, and whether it still has a name.
    fn found(&self) -> io::Result<Found>;
    /// The open file that it is, if it is one and still has a name.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// What stands on the medium, whichever writer did it.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub length: u64,
    pub named: bool,
}

impl Medium for File {
    fn file(&self) -> Option<BorrowedFd<'_>> {
        self.metadata().ok().filter(|found| found.nlink() > 0).map(|_| self.as_fd())
    }
    fn found(&self) -> io::Result<Found> {
        let found = self.metadata()?;
        Ok(Found { length: found.len(), named: found.nlink() > 0 })
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A log being written.
pub type LogWriter = Writer<Record>;

/// A table of the events of responses being written.
pub type EventWriter = Writer<ResponseEvent>;

/// A table of a run being written.
///
/// Dropping it flushes what it holds but leaves out the end mark and the footer, so that a reader can tell a run that was cut short.
pub struct Writer<R: Row> {
    path: PathBuf,
    medium: Box<dyn Medium>,
    /// Encodes into memory, which is emptied after each batch and keeps its room.
    stream: StreamWriter<Vec<u8>>,
    table: Table<R>,
    batch_rows: usize,
    /// Bytes of whole messages on the medium.
    length: u64,
    places: Places,
    /// Whether a piece of a batch stands behind them that could not be cut off.
    dirty: bool,
    finished: bool,
    /// When the run was stopped, if it was.
    stopped_at: Option<Nanos>,
    /// Whether it has a name that others may take from it: files that only this process knows have none.
    named: bool,
    /// What others did to it, in words; nothing is written any more then.
    disturbed: Option<String>,
    rows_written: u64,
    rows_lost: u64,
}

impl<R: Row> Writer<R> {
    /// Creates the log at `path`, with `metadata` (keys: module [`metadata`](crate::metadata)).
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a file; [`Error::Io`] if none can be made, or its head not written.
    pub fn create(path: &Path, metadata: &Metadata) -> Result<Writer<R>, Error> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|source| Error::io(path, "create the log", source))?;
        let mut writer = Writer::over(Box::new(file), path, metadata, BATCH_ROWS)?;
        writer.named = true;
        Ok(writer)
    }

    /// A log on an empty `medium`, of batches of `batch_rows` rows; `path` is for messages.
    pub(crate) fn over(
        medium: Box<dyn Medium>,
        path: &Path,
        metadata: &Metadata,
        batch_rows: usize,
    ) -> Result<Writer<R>, Error> {
        let table = Table::new(metadata, batch_rows);
        let stream = StreamWriter::try_new(HEAD.to_vec(), table.schema());
        let stream = stream.map_err(|why| Error::encode(path, why))?;
        let mut writer = Writer {
            path: path.to_path_buf(),
            medium,
            stream,
            table,
            batch_rows,
            length: 0,
            places: Places::default(),
            dirty: false,
            finished: false,
            stopped_at: None,
            named: false,
            disturbed: None,
            rows_written: 0,
            rows_lost: 0,
        };
        // A batch of no rows brings the dictionaries with it.
        writer.encode().map_err(|why| Error::encode(path, why))?;
        writer.put().map_err(|source| Error::io(path, "write the head of the log", source))?;
        Ok(writer)
    }

    /// The open file of the log, by which the system knows where it is if its folder was renamed meanwhile. None if it was removed.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.medium.file()
    }

    /// Appends rows; they are on their way to disk after the next full batch or [`flush`](Writer::flush).
    ///
    /// # Errors
    /// [`Error::Write`] if a batch could not be written. All rows were taken nevertheless: the ones of the failed
    /// batch are lost and counted, the others are kept, and the writer can be used on.
    pub fn append(&mut self, rows: &[R]) -> Result<(), Error> {
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
    /// [`Error::Write`], as [`append`](Writer::append).
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

    /// Notes that the run was stopped then, from the plan's zero: the end mark will say so. Requests due later are not to be looked for.
    pub fn stopped(&mut self, at: Nanos) {
        self.stopped_at = Some(at);
    }

    /// Flushes, writes end mark and footer, and waits until the device has everything; a disk that reports its errors late
    /// reports them here. Rows appended afterwards are lost.
    ///
    /// # Errors
    /// [`Error::Write`] for the last rows, or with no rows lost for the end mark; [`Error::Io`] if the device failed.
    pub fn finish(&mut self) -> Result<(), Error> {
        let written = self.finish_unsynced();
        let synced = self.medium.sync().map_err(|source| Error::io(&self.path, "finish the log", source));
        let left = self.undisturbed().map_err(|source| Error::Write {
            path: self.path.clone(),
            rows_lost: 0,
            source,
        });
        written.and(synced).and(left)
    }

    /// Notices that another program has removed, cut or changed the log. What can still be read of it counts as written, the
    /// rest as lost.
    fn undisturbed(&mut self) -> io::Result<()> {
        if self.disturbed.is_none() && self.named {
            let Found { length, named } = self.medium.found()?;
            self.disturbed = match () {
                () if !named => Some("another program removed it during the run".to_owned()),
                () if length < self.length => Some(format!(
                    "another program cut it from {} to {length} bytes during the run",
                    self.length
                )),
                () if length > self.length && !self.dirty => Some(format!(
                    "another program wrote to it: it has {length} bytes in place of {}",
                    self.length
                )),
                () => None,
            };
            if self.disturbed.is_some() {
                let left = if named { rows_in::<R>(&self.path).min(self.rows_written) } else { 0 };
                self.rows_lost += self.rows_written - left;
                self.rows_written = left;
            }
        }
        self.disturbed.as_ref().map_or(Ok(()), |what| Err(io::Error::other(what.clone())))
    }

    /// The same without waiting for the device: for files that are not needed after this process.
    pub(crate) fn finish_unsynced(&mut self) -> Result<(), Error> {
        if self.finished {
            return Ok(());
        }
        let flushed = self.flush();
        let marked = self.stream.finish().map_err(io::Error::other).and_then(|()| {
            let footer = self.places.footer(self.table.schema(), self.stopped_at);
            self.stream.get_mut().extend(footer);
            self.put()
        });
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
        self.undisturbed()?;
        // What follows a piece of a batch is out of every reader's reach, so nothing may until the piece is gone.
        if self.dirty {
            self.medium.cut(self.length)?;
            self.dirty = false;
        }
        let bytes = self.stream.get_ref();
        let written = self.medium.write_all(bytes);
        match &written {
            Ok(()) => {
                // The magic is no message.
                let messages = if self.length == 0 { HEAD.len() } else { 0 };
                self.places.note(&bytes[messages..], self.length + messages as u64);
                self.length += bytes.len() as u64;
            }
            Err(_) => self.dirty = self.medium.cut(self.length).is_err(),
        }
        written
    }
}

/// Rows of a log that can be read.
fn rows_in<R: Row>(path: &Path) -> u64 {
    let Ok(mut reader) = Reader::<R>::open(path) else { return 0 };
    let mut rows = 0;
    while let Ok(Some(batch)) = reader.next_batch() {
        rows += batch.len() as u64;
    }
    rows
}

impl<R: Row> Drop for Writer<R> {
    fn drop(&mut self) {
        // An error cannot be reported here; a caller that needs it calls `finish`.
        let _ = self.flush();
    }
}

impl<R: Row> std::fmt::Debug for Writer<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
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
        fn found(&self) -> io::Result<Found> {
            Ok(Found { length: self.0.lock().unwrap().bytes.len() as u64, named: true })
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
            // By the footer, as other programs read it.
            let file = io::Cursor::new(disk.0.lock().unwrap().bytes.clone());
            let batches = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
            assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 5);
            let late = writer.append(&[row(9), row(9), row(9), row(9)]).unwrap_err();
            assert!(late.to_string().contains("finished"), "{late}");
            assert_eq!(writer.rows_lost(), 8);
        }
    }

    #[test]
    fn a_log_that_others_removed_or_cut_is_noticed_and_what_is_left_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        type Do = fn(&Path);
        let cases: [(&str, Do, &str, u64); 4] = [
            ("removed", |path| std::fs::remove_file(path).unwrap(), "removed it", 0),
            (
                "replaced",
                |path| std::fs::rename(path.with_extension("other"), path).unwrap(),
                "removed it",
                0,
            ),
            ("emptied", |path| drop(File::create(path).unwrap()), "cut it from", 0),
            (
                "cut",
                |path| File::options().write(true).open(path).unwrap().set_len(length_of(path) - 1).unwrap(),
                "cut it from",
                3,
            ),
        ];
        for late in [false, true] {
            for (name, disturb, said, left) in cases {
                let path = folder.path().join(format!("{name}-{late}"));
                std::fs::write(path.with_extension("other"), "other").unwrap();
                let mut writer = LogWriter::create(&path, &Metadata::new()).unwrap();
                for k in 0..4 {
                    writer.append(&[row(k)]).unwrap();
                    writer.flush().unwrap();
                }
                disturb(&path);
                if !late {
                    writer.append(&[row(4)]).unwrap();
                    let error = writer.flush().unwrap_err().to_string();
                    assert!(error.contains(said), "{name}: {error}");
                }
                let error = writer.finish().unwrap_err().to_string();
                assert!(error.contains(said), "{name}: {error}");
                let rows = if late { 4 } else { 5 };
                assert_eq!((writer.rows_written(), writer.rows_lost()), (left, rows - left), "{name}");
                if left > 0 {
                    assert_eq!(
                        rows_in::<Record>(&path),
                        left,
                        "{name}: nothing is written behind what is left"
                    );
                }
            }
        }
    }

    fn length_of(path: &Path) -> u64 {
        std::fs::metadata(path).unwrap().len()
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
