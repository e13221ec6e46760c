//! What can go wrong with a file as a whole.

use crate::rows::Unreadable;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file cannot be audited. Single rows that cannot be read are [`Unreadable`], not errors.
#[derive(Debug, Error)]
pub enum Error {
    /// The system refused it.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is a directory and not a run folder.
    #[error("{} is a directory: name the files in it", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
    },
    /// There is nothing in it.
    #[error("{} is empty: there is nothing to audit; name a file with results", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// No format recognises it.
    #[error("{}: not a results file that Headway knows; it begins with {found:?}.\n{known}", path.display())]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// Its beginning, shortened.
        found: String,
        /// What is known, and what to do with other files.
        known: String,
    },
    /// It is known, and holds no start of any single request.
    #[error("{}: {what} holds {why}, so nothing can be said about how requests were launched. {instead}", path.display())]
    NoStarts {
        /// Which file.
        path: PathBuf,
        /// Which format.
        what: &'static str,
        /// What it holds instead.
        why: &'static str,
        /// Where the starts are to be had.
        instead: &'static str,
    },
    /// It is known, and another command, or an option, reads it.
    #[error("{}: {what}. {instead}", path.display())]
    Elsewhere {
        /// Which file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What reads it.
        instead: &'static str,
    },
    /// It is a database that cannot be read.
    #[error("{}: {why}", path.display())]
    Database {
        /// Which file.
        path: PathBuf,
        /// Why, from the database.
        why: String,
    },
    /// An option does not fit.
    #[error("{option} {value:?}: {expected}")]
    Option {
        /// Which.
        option: &'static str,
        /// As given.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// The file breaks off or contradicts itself in a way that leaves no way to go on.
    #[error("{}:{}: {:?}: expected {}", path.display(), at.line, at.found, at.expected)]
    Broken {
        /// Which file.
        path: PathBuf,
        /// Where.
        at: Unreadable,
    },
    /// No row can be read, so going on would come to nothing.
    #[error("{}", none(path, format, *unreadable, examples))]
    NoneReadable {
        /// Which file.
        path: PathBuf,
        /// Name of the format that it was taken for.
        format: &'static str,
        /// Its rows.
        unreadable: u64,
        /// The first of them.
        examples: Vec<Unreadable>,
    },
    /// Too many rows cannot be read.
    #[error("{}", too_many(path, *rows, *unreadable, examples))]
    TooManyUnreadable {
        /// Which file.
        path: PathBuf,
        /// Rows that could be read.
        rows: u64,
        /// Rows that could not.
        unreadable: u64,
        /// The first of them.
        examples: Vec<Unreadable>,
    },
}

fn none(path: &Path, format: &str, unreadable: u64, examples: &[Unreadable]) -> String {
    let text = format!("{}: none of its {unreadable} rows can be read as {format}", path.display());
    text + &shown(path, examples)
}

fn too_many(path: &Path, rows: u64, unreadable: u64, examples: &[Unreadable]) -> String {
    let text = format!(
        "{}: {unreadable} of {} rows cannot be read, more than 1 %; --lenient goes on without them",
        path.display(),
        rows + unreadable
    );
    text + &shown(path, examples)
}

/// A line for each.
fn shown(path: &Path, examples: &[Unreadable]) -> String {
    let line =
        |e: &Unreadable| format!("\n  {}:{}: {:?}: expected {}", path.display(), e.line, e.found, e.expected);
    examples.iter().map(line).collect()
}
