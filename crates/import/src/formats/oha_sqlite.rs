//! oha `--db-url`: an SQLite database with one table, `oha`.
//!
//! `start`, `start_latency_correction` and `end` are seconds since oha's start; `start_latency_correction` is when the
//! request was due, and is there with `--latency-correction` only. `run` is the Unix second in which oha began: too
//! coarse for a common clock with other files, but it tells runs in one database apart. Older files have no `url` or no
//! `run`. Only requests that were answered are in it.

#[cfg(feature = "sqlite")]
mod database;

use crate::source::STDIN;
use crate::{Error, Format, Options, Reader};
use memchr::memmem;
use std::path::Path;

/// oha's database.
pub struct OhaSqlite;

const MAGIC: &[u8] = b"SQLite format 3\0";

impl Format for OhaSqlite {
    fn name(&self) -> &'static str {
        "oha-sqlite"
    }

    fn about(&self) -> &'static str {
        "oha --db-url FILE"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.starts_with(MAGIC) && memmem::find(head, b"CREATE TABLE oha").is_some()
    }

    fn reader(&self, path: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        if path == Path::new(STDIN) {
            let why = "a database is read from a file, not from standard input".to_owned();
            return Err(Error::Database { path: path.to_path_buf(), why });
        }
        reader(path)
    }

    fn opens_itself(&self) -> bool {
        true
    }
}

#[cfg(feature = "sqlite")]
use database::reader;

#[cfg(not(feature = "sqlite"))]
fn reader(path: &Path) -> Result<Box<dyn Reader>, Error> {
    let why = format!("an SQLite database; {}", headway_base::not_built("SQLite", "sqlite"));
    Err(Error::Database { path: path.to_path_buf(), why })
}
