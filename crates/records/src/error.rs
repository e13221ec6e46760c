//! Everything that can go wrong in the run folder, each with its path and, where there is one, its byte offset.

use std::io;
use std::path::{Path, PathBuf};

/// What a run is named by.
const ACCEPTED: &str = "name the folder of a run, or the records.arrow in it";

/// Why a log, an export or a run folder could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused; nothing of the log's content is in doubt.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done, to be read after "could not".
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file or folder exists, and nothing here is ever overwritten.
    #[error("{}: already exists and is never overwritten; choose another name", path.display())]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// The folder of a run, or a document in it, is not where the run made it: another program moved or removed it.
    #[error("{}: another program moved or removed it during the run; {}", path.display(), left)]
    Gone {
        /// What is gone.
        path: PathBuf,
        /// What there is instead, in words.
        left: String,
    },
    /// Rows could not be written, most often because the disk is full. Everything written before stays readable and
    /// the writer can be used on: later rows are written if there is room again.
    #[error("{}: {rows_lost} rows were lost: {source}", path.display())]
    Write {
        /// The log.
        path: PathBuf,
        /// Rows lost by this failure alone; the writer knows the sum.
        rows_lost: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else than a log of records.
    #[error("{}: not a log of Headway's: {why}", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
        /// What was found instead of what was expected.
        why: String,
    },
    /// The log was written under a later major version of the schema.
    #[error("{}: its schema is `{found}`, and this version reads `{}`; read it with a later one", path.display(), crate::schema::VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// The version that the log names.
        found: String,
    },
    /// A column is missing, or is not of the type that the schema gives it.
    #[error("{}: column `{column}`: {why}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column's name.
        column: String,
        /// What was found instead of what was expected.
        why: String,
    },
    /// Bytes that no writer of logs leaves behind, not even one that was killed.
    #[error("{}: damaged at byte {at}: {why}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Offset of the damaged message from the start of the file, in bytes; 0 in a Parquet file, which is not
        /// read front to back.
        at: u64,
        /// What was found instead of what was expected.
        why: String,
    },
    /// Rows could not be turned into Arrow or Parquet.
    #[error("{}: could not encode: {why}", path.display())]
    Encode {
        /// The file being written.
        path: PathBuf,
        /// What the encoder said.
        why: String,
    },
    /// This build reads and writes no Parquet.
    #[error("{}: {}", path.display(), headway_base::not_built("Parquet", "parquet"))]
    NotBuilt {
        /// The file.
        path: PathBuf,
    },
    /// A run was named, and there is nothing.
    #[error("{}: {source}; {}", path.display(), ACCEPTED)]
    NoRun {
        /// What was named.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A run was named, and this is a file other than its log.
    #[error("{}: a file and not a run folder; {}", path.display(), ACCEPTED)]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// The folder holds no run, or not all of one.
    #[error("{}: not a run folder: no {} in it; {}", path.display(), missing.join(", no "), ACCEPTED)]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// Names of the files that are missing.
        missing: Vec<&'static str>,
    },
    /// A log is too far out of order to be sorted in passing; it can be sorted on disk.
    #[error("{}: too far out of order to be sorted in memory", path.display())]
    Disorder {
        /// The log.
        path: PathBuf,
    },
    /// A name that cannot be a file of a run folder.
    #[error("`{name}`: not a plain file name; accepted are names without a path, at most 255 bytes long")]
    Name {
        /// The name as given.
        name: String,
    },
}

impl Error {
    /// Wraps what the system said while doing `action` to `path`; a file that exists is an error of its own.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Error {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path },
            _ => Error::Io { path, action, source },
        }
    }

    pub(crate) fn encode(path: &Path, why: impl std::fmt::Display) -> Error {
        Error::Encode { path: path.to_path_buf(), why: why.to_string() }
    }

    pub(crate) fn corrupt(path: &Path, at: u64, why: impl std::fmt::Display) -> Error {
        Error::Corrupt { path: path.to_path_buf(), at, why: why.to_string() }
    }

    pub(crate) fn not_a_log(path: &Path, why: impl std::fmt::Display) -> Error {
        Error::NotALog { path: path.to_path_buf(), why: why.to_string() }
    }

    pub(crate) fn column(path: &Path, column: &str, why: impl std::fmt::Display) -> Error {
        Error::Column { path: path.to_path_buf(), column: column.to_string(), why: why.to_string() }
    }
}
