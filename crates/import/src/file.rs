//! One file from its first byte to its last: recognised, read block by block, its stamps turned into starts.

use crate::error::Error;
use crate::format::{Facts, Format, Reader, Stamps};
use crate::formats;
use crate::options::Options;
use crate::order::{Order, to_starts};
use crate::rows::{Rows, Unreadable};
use crate::source::{Progress, Source};
use base::{Kind, Record};
use std::path::{Path, PathBuf};

/// Bytes by which a format is recognised.
const HEAD: usize = 64 << 10;
/// Bytes handed to a reader at a time; grows where one row is longer.
const BLOCK: usize = 1 << 20;
/// No row is longer than this.
const LONGEST_ROW: usize = 64 << 20;
/// Rows from which is told whether ambiguous stamps are starts or ends.
const ROWS_TO_DECIDE: usize = 100_000;
/// Share of unreadable rows from which on a file is refused.
const TOO_MANY: f64 = 0.01;

/// A file that is being read.
pub struct File {
    path: PathBuf,
    format: &'static dyn Format,
    reader: Box<dyn Reader>,
    source: Option<Source>,
    buffer: Vec<u8>,
    /// What of the buffer holds bytes not yet taken.
    filled: usize,
    ended: bool,
    rows_read: u64,
    order: Order,
    /// Rows held back until it is decided what their stamps tell.
    held: Option<Vec<Record>>,
    ends: bool,
    compression: Option<&'static str>,
}

/// What a file came to.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// Which file.
    pub path: PathBuf,
    /// Name of the format.
    pub format: &'static str,
    /// What is known of it; `stamps` is decided.
    pub facts: Facts,
    /// How it was decided whether stamps are starts or ends, in words.
    pub stamps_how: String,
    /// How it was compressed.
    pub compression: Option<&'static str>,
    /// Rows read.
    pub rows: u64,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// The first of them.
    pub examples: Vec<Unreadable>,
    /// Rows left out on purpose, and why.
    pub left_out: Vec<(&'static str, u64)>,
}

impl File {
    /// Opens a file and recognises its format; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be read, is empty, unknown, or holds no single requests.
    pub fn open(path: &Path, options: &Options, progress: Progress) -> Result<File, Error> {
        let mut source = Source::open(path, progress)?;
        let mut buffer = vec![0; BLOCK];
        let mut filled = source.fill(&mut buffer)?;
        const BOM: &[u8] = b"\xef\xbb\xbf";
        if buffer[..filled].starts_with(BOM) {
            buffer.copy_within(BOM.len()..filled, 0);
            filled -= BOM.len();
        }
        if filled == 0 {
            return Err(Error::Empty { path: path.to_path_buf() });
        }
        let head = &buffer[..filled.min(HEAD)];
        let format = formats::find(head, options).ok_or_else(|| Error::Unknown {
            path: path.to_path_buf(),
            found: shown(head),
            known: formats::known(),
        })?;
        let reader = format.reader(path, options)?;
        let held = (reader.facts().stamps == Stamps::Ambiguous).then(Vec::new);
        Ok(File {
            path: path.to_path_buf(),
            format,
            reader,
            compression: source.compression,
            source: (!format.opens_itself()).then_some(source),
            buffer,
            filled,
            ended: false,
            rows_read: 0,
            order: Order::default(),
            held,
            ends: false,
        })
    }

    /// What is known so far.
    pub fn facts(&self) -> Facts {
        self.reader.facts()
    }

    /// Reads on and puts records into `rows.records`, which is emptied first; false at the end of the file.
    ///
    /// # Errors
    /// What leaves no way to go on.
    pub fn next(&mut self, rows: &mut Rows) -> Result<bool, Error> {
        rows.records.clear();
        while !self.ended {
            self.read_block(rows)?;
            let Some(held) = &mut self.held else {
                if self.ends {
                    rows.records.iter_mut().for_each(to_starts);
                }
                if rows.records.is_empty() {
                    continue;
                }
                self.rows_read += count(&rows.records);
                return Ok(true);
            };
            self.order.push(&rows.records);
            held.append(&mut rows.records);
            if held.len() >= ROWS_TO_DECIDE || self.ended {
                self.ends = self.order.says_ends();
                let mut decided = self.held.take().unwrap_or_default();
                if self.ends {
                    decided.iter_mut().for_each(to_starts);
                }
                self.rows_read += count(&decided);
                rows.records = decided;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_block(&mut self, rows: &mut Rows) -> Result<(), Error> {
        let Some(source) = &mut self.source else {
            self.ended = self.reader.read(&[], false, rows)? == 0;
            return Ok(());
        };
        let mut last = false;
        if self.filled < self.buffer.len() {
            let came = source.fill(&mut self.buffer[self.filled..])?;
            last = self.filled + came < self.buffer.len();
            self.filled += came;
        }
        let taken = self.reader.read(&self.buffer[..self.filled], last, rows)?.min(self.filled);
        self.buffer.copy_within(taken..self.filled, 0);
        self.filled -= taken;
        self.ended = last;
        if taken == 0 && !last {
            if self.buffer.len() >= LONGEST_ROW {
                let at = Unreadable {
                    line: self.rows_read + rows.unreadable + 1,
                    found: shown(&self.buffer),
                    expected: format!("the end of a row within {} MiB", LONGEST_ROW >> 20),
                };
                return Err(Error::Broken { path: self.path.clone(), at });
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        Ok(())
    }

    /// Closes the file: what it came to. Takes the counts of this file out of `rows`.
    ///
    /// # Errors
    /// [`Error::TooManyUnreadable`] unless `lenient`; also if nothing at all could be read.
    pub fn finish(self, rows: &mut Rows, lenient: bool) -> Result<Finished, Error> {
        let mut facts = self.reader.facts();
        let unreadable = std::mem::take(&mut rows.unreadable);
        let examples = std::mem::take(&mut rows.examples);
        let left_out = std::mem::take(&mut rows.left_out);
        let share = unreadable as f64 / (self.rows_read + unreadable).max(1) as f64;
        if unreadable > 0 && (self.rows_read == 0 || (share > TOO_MANY && !lenient)) {
            return Err(Error::TooManyUnreadable {
                path: self.path,
                rows: self.rows_read,
                unreadable,
                examples,
            });
        }
        let stamps_how = match facts.stamps {
            Stamps::Start => "the format stamps starts".to_owned(),
            Stamps::End => "the format stamps ends; the times taken are subtracted".to_owned(),
            Stamps::Ambiguous => self.order.words(),
        };
        if facts.stamps == Stamps::Ambiguous {
            facts.stamps = if self.ends { Stamps::End } else { Stamps::Start };
        }
        Ok(Finished {
            path: self.path,
            format: self.format.name(),
            facts,
            stamps_how,
            compression: self.compression,
            rows: self.rows_read,
            unreadable,
            examples,
            left_out,
        })
    }
}

fn count(records: &[Record]) -> u64 {
    records.iter().filter(|r| r.kind == Kind::Request).count() as u64
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
