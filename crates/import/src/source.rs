//! Where bytes come from: files and standard input, compressed or not.

use crate::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Standard input, as a path.
pub const STDIN: &str = "-";

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Behind a byte from 0x50 to 0x5f: a frame to be skipped, with which some compressors begin.
const ZSTD_SKIPPED: &[u8] = &[0x2a, 0x4d, 0x18];
/// What is known but not decompressed here, and what does.
const OTHERS: [(&[u8], &str, &str); 5] = [
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z e -so"),
];
/// Bytes by which compression is recognised.
const MAGIC: usize = 6;
/// Compressed bytes read at a time.
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
        let mut inner = Counting { inner, progress };
        let mut head = Vec::with_capacity(MAGIC);
        inner.by_ref().take(MAGIC as u64).read_to_end(&mut head)?;
        let zstd_skipped = matches!(head[..], [0x50..=0x5f, ref rest @ ..] if rest.starts_with(ZSTD_SKIPPED));
        let (gzip, zstd) = (head.starts_with(GZIP), head.starts_with(ZSTD) || zstd_skipped);
        if let Some((_, kind, with)) = OTHERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
            return Err(packed(kind, with));
        }
        let inner = Cursor::new(head).chain(inner);
        let buffered = |inner| BufReader::with_capacity(BUFFER, inner);
        // Members and frames may follow one another, as log rotation makes them.
        let (reader, compression): (Box<dyn Read + Send>, _) = if gzip {
            (Box::new(flate2::bufread::MultiGzDecoder::new(buffered(inner))), Some("gz"))
        } else if zstd {
            (unzstd(buffered(inner))?, Some("zst"))
        } else {
            (Box::new(inner), None)
        };
        Ok(Source { path: path.to_path_buf(), reader, compression })
    }

    /// Fills `buffer`; returns how many bytes came, fewer than fit only at the end.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut n = 0;
        while n < buffer.len() {
            match self.reader.read(&mut buffer[n..]) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(e)),
            }
        }
        Ok(n)
    }

    /// What the system says stands as it is; a decompressor's word needs its cause.
    fn failed(&self, error: io::Error) -> Error {
        let source = match self.compression {
            Some(kind) if error.raw_os_error().is_none() => {
                io::Error::new(error.kind(), format!("its {kind} data break off or are damaged ({error})"))
            }
            _ => error,
        };
        Error::Io { path: self.path.clone(), source }
    }
}

#[cfg(feature = "zstd")]
fn unzstd(packed: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(zstd::Decoder::with_buffer(packed)?))
}

#[cfg(not(feature = "zstd"))]
fn unzstd(_: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let error = packed("zstd", "zstd -dc");
    Err(io::Error::new(error.kind(), format!("{error}; {}", headway_base::not_built("zstd", "zstd"))))
}

fn packed(kind: &str, with: &str) -> io::Error {
    let text = format!("a {kind} file: decompress it first, or pipe it in (`{with} FILE | headway audit -`)");
    io::Error::new(io::ErrorKind::Unsupported, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"one\ntwo\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Gives one byte at a time, as a pipe may.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(1);
            self.0.read(&mut buffer[..n])
        }
    }

    fn read(bytes: Vec<u8>) -> Result<(Vec<u8>, Option<&'static str>), String> {
        let progress = Progress::default();
        let inner = Box::new(Slow(Cursor::new(bytes.clone())));
        let mut source = Source::over(Path::new("x"), inner, progress.clone()).map_err(|e| e.to_string())?;
        let mut buffer = vec![0; 100];
        let n = source.fill(&mut buffer).map_err(|e| e.to_string())?;
        buffer.truncate(n);
        assert_eq!(progress.bytes(), bytes.len() as u64);
        Ok((buffer, source.compression))
    }

    #[test]
    fn compressed_or_not() {
        let zstd = zstd::encode_all(TEXT, 1).unwrap();
        let skipped = [b"\x5a\x2a\x4d\x18\x01\0\0\0x", &zstd[..]].concat();
        for (bytes, text, compression) in [
            (TEXT.to_vec(), TEXT, None),
            (b"a".to_vec(), b"a", None),
            (Vec::new(), b"", None),
            (gzip(TEXT), TEXT, Some("gz")),
            ([gzip(b"one\n"), gzip(b"two\n")].concat(), TEXT, Some("gz")),
            (zstd.clone(), TEXT, Some("zst")),
            ([zstd.clone(), zstd.clone()].concat(), &TEXT.repeat(2), Some("zst")),
            (skipped, TEXT, Some("zst")),
        ] {
            assert_eq!(read(bytes), Ok((text.to_vec(), compression)));
        }
    }

    #[test]
    fn what_is_not_decompressed_is_named() {
        for (magic, kind) in
            [(&b"BZh91AY"[..], "a bzip2 file"), (b"\xfd7zXZ\0", "xz -dc"), (b"PK\x03\x04", "a zip file")]
        {
            let message = read(magic.to_vec()).unwrap_err();
            assert!(message.contains(kind), "{message}");
        }
        let mut cut = gzip(TEXT);
        cut.truncate(cut.len() - 6);
        let message = read(cut).unwrap_err();
        assert!(message.starts_with("x: its gz data break off"), "{message}");
    }

    #[test]
    fn files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let open =
            |path: &Path| Source::open(path, Progress::default()).map(|_| ()).map_err(|e| e.to_string());
        let message = open(folder.path()).unwrap_err();
        assert!(message.ends_with("is a directory: name the files in it"), "{message}");
        let message = open(&folder.path().join("none.csv")).unwrap_err();
        assert!(message.contains("none.csv: No such file"), "{message}");
        let path = folder.path().join("some");
        fs::write(&path, TEXT).unwrap();
        assert_eq!(open(&path), Ok(()));
    }
}
