//! The run folder: what a run leaves on disk, and how it is read again.
//!
//! While a run lasts, its records go to an Arrow IPC stream ([`LogWriter`]), one write per batch, so that a kill -9
//! or a full disk costs at most the rows not yet flushed and [`LogReader`] reads to the last complete batch.
//! The events of responses, where there are any, are a second table of the same make ([`RunLog`]).
//! Afterwards logs can be merged in the order of time ([`merge()`]) and exported to Parquet ([`to_parquet`]).
//! Rows that come in no order and go nowhere but through memory are put in order by a [`Spool`].
//! [`RunFolder`] names the files and never overwrites one.
//!
//! The columns of a log are one table, [`schema::ALL`] (of events: [`schema::events::ALL`]): writer, reader, documentation and tests derive from it.
//!
//! Deliberately absent: clocks (a folder's time stamp comes in as text), threads, and anything that produces or
//! interprets records.

pub mod error;
pub mod folder;
pub mod merge;
pub mod metadata;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod reader;
pub mod run_log;
pub mod schema;
pub mod spool;
pub mod writer;

mod atomic_file;
#[cfg(feature = "parquet")]
mod export;
mod footer;
mod runs;
mod shard_events;
mod sort;
mod stream;
mod table;
#[cfg(not(feature = "parquet"))]
mod without_parquet;

pub use error::Error;
pub use folder::RunFolder;
pub use merge::{Merge, Merged, NewLog, Origin, merge, stop_of_all};
pub use metadata::Metadata;
#[cfg(feature = "parquet")]
pub use parquet::{events_beside_export, to_parquet};
pub use reader::{EventReader, LogReader};
pub use run_log::RunLog;
pub use shard_events::events_of;
pub use sort::{By, Limits};
pub use spool::{Spool, Spooled};
pub use stream::Ending;
#[cfg(not(feature = "parquet"))]
pub use without_parquet::to_parquet;
pub use writer::{EventWriter, LogWriter};

/// Whether this build reads and writes Parquet.
pub const PARQUET: bool = cfg!(feature = "parquet");

#[cfg(feature = "parquet")]
use export::Export;
#[cfg(not(feature = "parquet"))]
use without_parquet::Export;

/// Whether a file that begins so may be a log or an export of one.
pub fn begins_a_log(magic: [u8; 4]) -> bool {
    // An Arrow file, a stream as 0.1.0 wrote them, a Parquet file.
    [*b"ARRO", [0xff; 4], *b"PAR1"].contains(&magic)
}
