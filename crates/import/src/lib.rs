//! Other tools' results files and servers' access logs, all to [`headway_base::Record`]s.
//!
//! ```text
//! file, stdin ──> source (gz, zst; progress) ──> formats::find(head) ──> Reader::read(bytes) ──> Rows
//!                                                                             │
//!                                            order (start or end) ──> batches of Record
//! ```
//!
//! One file per format in [`formats`] and the slice [`formats::ALL`]. A reader sees bytes and no files, so it can be
//! fuzzed and tested on strings; only [`source`] opens anything, and the formats that are databases.
//!
//! Deliberately absent: statistics, sorting, and any knowledge of what the records are for.

pub mod error;
pub mod format;
pub mod formats;
pub mod hosts;
pub mod names;
pub mod options;
pub mod rows;
pub mod source;

mod file;
mod lines;
mod numbers;
mod order;
mod outcome;
mod slope;
mod stamps;
mod steps;
#[cfg(test)]
mod testing;

pub use error::Error;
pub use file::{File, Finished};
pub use format::{Clock, Facts, Format, Outcomes, Reader, Stamps};
pub use names::Names;
pub use options::Options;
pub use order::StampsHow;
pub use rows::{BadRow, BadRows, Rows, Tables, Unreadable};
