//! Where bytes come from: files and standard input, compressed or not.

use crate::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Standard input, as a path.
pub const STDIN: &str = "-";

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// How far reading has come, in bytes of the file as it lies on disk; can be watched from another thread.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct Counting<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.progress.0.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// An opened source of bytes, decompressed.
pub struct Source {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    /// How the file is compressed: `gz`, `zst`.
    pub compression: Option<&'static str>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Directory`].
    pub fn open(path: &Path, progress: Progress) -> Result<Source, Error> {
        let failed = |source| Error::Io { path: path.to_path_buf(), source };
        if path == Path::new(STDIN) {
            return Source::over(path, Box::new(io::stdin()), progress).map_err(failed);
        }
        if fs::metadata(path).map_err(failed)?.is_dir() {
            return Err(Error::Directory { path: path.to_path_buf() });
        }
        let file = fs::File::open(path).map_err(failed)?;
        Source::over(path, Box::new(file), progress).map_err(failed)
    }

    fn over(path: &Path, inner: Box<dyn Read + Send>, progress: Progress) -> io::Result<Source> {
        let mut reader = BufReader::with_capacity(BUFFER, Counting { inner, progress });
        let head = reader.fill_buf()?;
        let (reader, compression): (Box<dyn Read + Send>, _) = match head {
            // Members and frames may follow one another, as log rotation makes them.
            _ if head.starts_with(&GZIP) => (Box::new(flate2::read::MultiGzDecoder::new(reader)), Some("gz")),
            _ if head.starts_with(&ZSTD) => (Box::new(zstd::Decoder::with_buffer(reader)?), Some("zst")),
            _ => (Box::new(reader), None),
        };
        Ok(Source { path: path.to_path_buf(), reader, compression })
    }

    /// Fills `buffer` from `filled` on; returns how many bytes came, 0 at the end.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut n = 0;
        while n < buffer.len() {
            match self.reader.read(&mut buffer[n..]) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Io { path: self.path.clone(), source }),
            }
        }
        Ok(n)
    }
}
