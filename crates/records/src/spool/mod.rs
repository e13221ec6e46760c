//! Rows in any order, given back in the order in which they started, in bounded memory.
//!
//! Rows are collected into chunks; each chunk is sorted, packed (module `row`) and kept: in memory as far as the budget
//! goes, beyond it in one temporary file without a name. Reading merges the chunks. A chunk is opened only when the order
//! comes to its first row, so that of a nearly sorted input, the norm, one or two are open at a time, and the merge costs
//! a comparison per row; the order is exact whatever the input.
//!
//! Unlike [`merge`](crate::merge()), which puts the rows of run folders in order of all their fields, this keeps rows of
//! one instant in the order in which they came.

mod merge;
mod radix;
mod row;

pub use merge::InOrder;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use headway_base::{Nanos, Record};

use crate::error::Error;

/// Rows of a chunk: 8 MB while it is being filled.
const CHUNK_ROWS: usize = 64 << 10;
/// Packed rows that are kept in memory, by default.
pub const MEMORY: usize = 256 << 20;

/// A spool being filled.
#[derive(Debug)]
pub struct Spool {
    chunk_rows: usize,
    memory: usize,
    filling: Vec<Record>,
    /// Where in `filling` the rows stand, to be sorted in their place: pairs an eighth as long.
    order: Vec<(Nanos, u32)>,
    spare: Vec<(Nanos, u32)>,
    spooled: Spooled,
}

/// A full spool. It can be read any number of times.
#[derive(Debug)]
pub struct Spooled {
    chunks: Vec<Chunk>,
    in_memory: usize,
    folder: PathBuf,
    file: Option<File>,
    on_disk: u64,
    rows: u64,
}

/// Sorted and packed rows.
#[derive(Debug)]
struct Chunk {
    first: Key,
    rows: u32,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    Disk { from: u64, length: u64 },
}

/// The order: when it started, then the shard and the number within it, then as it came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    at: Nanos,
    shard: u16,
    k: u64,
    chunk: u32,
}

impl Key {
    fn new(record: &Record, chunk: u32) -> Key {
        Key { at: row::at(record), shard: record.shard, k: record.k, chunk }
    }
}

impl Spool {
    /// An empty spool that keeps `memory` bytes of packed rows in memory and the others in `folder`. At most a chunk more
    /// is in memory while it is filled, and 64 KiB for each chunk that is open while it is read.
    pub fn new(folder: &Path, memory: usize) -> Spool {
        Spool::with_chunks(folder, memory, CHUNK_ROWS)
    }

    fn with_chunks(folder: &Path, memory: usize, chunk_rows: usize) -> Spool {
        Spool {
            chunk_rows,
            memory,
            filling: Vec::new(),
            order: Vec::new(),
            spare: Vec::new(),
            spooled: Spooled {
                chunks: Vec::new(),
                in_memory: 0,
                folder: folder.to_path_buf(),
                file: None,
                on_disk: 0,
                rows: 0,
            },
        }
    }

    /// Takes a row.
    ///
    /// # Errors
    /// [`Error::Io`], naming the folder, if there is no room in it.
    #[inline]
    pub fn push(&mut self, record: &Record) -> Result<(), Error> {
        self.filling.push(*record);
        if self.filling.len() < self.chunk_rows { Ok(()) } else { self.close_chunk() }
    }

    /// Ends the filling.
    ///
    /// # Errors
    /// As [`push`](Spool::push).
    pub fn finish(mut self) -> Result<Spooled, Error> {
        self.close_chunk()?;
        Ok(self.spooled)
    }

    fn close_chunk(&mut self) -> Result<(), Error> {
        if self.filling.is_empty() {
            return Ok(());
        }
        let rows = &self.filling;
        self.order.clear();
        self.order.extend(rows.iter().enumerate().map(|(i, record)| (row::at(record), i as u32)));
        radix::sort(&mut self.order, &mut self.spare);
        for same in self.order.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            same.sort_by_key(|&(_, i)| (rows[i as usize].shard, rows[i as usize].k));
        }
        let number = self.spooled.chunks.len() as u32;
        let first = Key::new(&rows[self.order[0].1 as usize], number);
        let mut packed = Vec::with_capacity(rows.len() * 36 + row::PADDING);
        let mut before = Nanos::ZERO;
        for &(at, i) in &self.order {
            row::put(&mut packed, &rows[i as usize], before);
            before = at;
        }
        packed.extend([0; row::PADDING]);
        self.spooled.rows += rows.len() as u64;
        let rows = rows.len() as u32;
        self.filling.clear();
        let place = self.spooled.place(packed, self.memory)?;
        self.spooled.chunks.push(Chunk { first, rows, place });
        Ok(())
    }
}

impl Spooled {
    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes of packed rows in memory.
    pub fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// Bytes in the temporary file; 0 if all is in memory.
    pub fn on_disk(&self) -> u64 {
        self.on_disk
    }

    /// The rows from the first on.
    ///
    /// # Errors
    /// [`Error::Io`] if the temporary file cannot be read.
    pub fn in_order(&self) -> Result<InOrder<'_>, Error> {
        InOrder::new(self)
    }

    fn place(&mut self, mut packed: Vec<u8>, memory: usize) -> Result<Place, Error> {
        if self.in_memory + packed.len() <= memory {
            packed.shrink_to_fit();
            self.in_memory += packed.len();
            return Ok(Place::Memory(packed));
        }
        let (from, length) = (self.on_disk, packed.len() as u64);
        let failed = |source| refused(&self.folder, source);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder).map_err(failed)?),
        };
        file.write_all(&packed).map_err(failed)?;
        self.on_disk += length;
        Ok(Place::Disk { from, length })
    }

    /// Reads the temporary file at `from`.
    fn read_at(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let failed = |source| refused(&self.folder, source);
        let Some(mut file) = self.file.as_ref() else {
            return Err(failed(std::io::ErrorKind::NotFound.into()));
        };
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        file.read_exact(bytes).map_err(failed)
    }
}

fn refused(folder: &Path, source: std::io::Error) -> Error {
    Error::io(folder, "keep rows there to sort them (TMPDIR names another folder)", source)
}

#[cfg(test)]
mod tests;
