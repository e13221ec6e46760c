//! Puts a finished file in its place: complete or not at all, and never over another.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempPath};

use crate::error::Error;

/// A file under a passing name beside `path`, which it takes by [`PendingFile::place`]. Dropped before, it is removed.
pub(crate) struct PendingFile {
    passing: TempPath,
    path: PathBuf,
}

impl PendingFile {
    /// An empty file for `path`, and its handle.
    ///
    /// # Errors
    /// [`Error::Exists`] if `path` exists: better said now than after hours of work.
    pub(crate) fn beside(path: &Path) -> Result<(PendingFile, File), Error> {
        if path.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: path.to_path_buf() });
        }
        let made = readable_by_others(Builder::new().prefix(".unfinished-")).tempfile_in(folder_of(path));
        let (file, passing) =
            made.map(NamedTempFile::into_parts).map_err(|source| Error::io(path, "create it", source))?;
        Ok((PendingFile { passing, path: path.to_path_buf() }, file))
    }

    /// Gives the file its name. The check on entry was for comfort; this one holds against a race.
    ///
    /// # Errors
    /// [`Error::Exists`] if the name was taken meanwhile.
    pub(crate) fn persist(self) -> Result<(), Error> {
        let path = self.path;
        self.passing
            .persist_noclobber(&path)
            .map_err(|why| Error::io(&path, "put it in its place", why.error))
    }
}

/// The folder that `path` stands in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Temporary files are private by default; these become results, with the rights that the user's umask leaves.
#[cfg(unix)]
fn readable_by_others<'b, 'p, 's>(builder: &'b mut Builder<'p, 's>) -> &'b mut Builder<'p, 's> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn readable_by_others<'b, 'p, 's>(builder: &'b mut Builder<'p, 's>) -> &'b mut Builder<'p, 's> {
    builder
}
