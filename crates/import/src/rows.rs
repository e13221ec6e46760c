//! What a reader fills: records, the names that their numbers stand for, and what could not be read.

use crate::names::Names;
use base::Record;

/// Names that the numbers in the records stand for, shared by all files of one audit.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// `step`: what was asked for (label, URL, name).
    pub labels: Names,
    /// `user`: threads, virtual users, connections; empty where no file names any.
    pub users: Names,
    /// `shard`: generators (hosts, files).
    pub generators: Names,
}

/// One place in a file that could not be read as a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// Line, from 1 (of a binary file: the byte offset).
    pub line: u64,
    /// What stands there, shortened.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// Unreadable rows that are kept to be shown; all are counted.
const SHOWN: usize = 5;
/// Bytes of an unreadable row that are kept.
const SHOWN_BYTES: usize = 80;

/// Records and what goes with them.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Rows read, in the order of the file. Instants are nanoseconds since the Unix epoch, or since the file's own zero
    /// where [`crate::Clock::Relative`].
    pub records: Vec<Record>,
    /// Names behind the numbers.
    pub tables: Tables,
    /// Number of the generator whose file is being read: what `shard` is unless the file says more.
    pub generator: u16,
    /// Rows of this file that could not be read.
    pub unreadable: u64,
    /// The first of them.
    pub examples: Vec<Unreadable>,
    /// Rows of this file left out on purpose, with the reason (parents of nested samples, synthetic rows).
    pub left_out: Vec<(&'static str, u64)>,
}

impl Rows {
    /// Notes a row that cannot be read.
    pub fn bad(&mut self, line: u64, found: &[u8], expected: impl Into<String>) {
        self.unreadable += 1;
        if self.examples.len() < SHOWN {
            let shown = &found[..found.len().min(SHOWN_BYTES)];
            let mut text: String = String::from_utf8_lossy(shown)
                .chars()
                .map(|c| if c.is_control() { '?' } else { c })
                .collect();
            if shown.len() < found.len() {
                text.push_str("...");
            }
            self.examples.push(Unreadable { line, found: text, expected: expected.into() });
        }
    }

    /// Counts a row that is left out on purpose.
    pub fn leave_out(&mut self, why: &'static str) {
        match self.left_out.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, n)) => *n += 1,
            None => self.left_out.push((why, 1)),
        }
    }

    /// The step of that label. Beyond 65,535 different labels all further ones share the last number, and
    /// [`Tables::labels`] says so by its length.
    #[inline]
    pub fn step(&mut self, label: &[u8]) -> u16 {
        self.tables.labels.index(label).min(u32::from(u16::MAX)) as u16
    }

    /// The number of that user.
    #[inline]
    pub fn user(&mut self, name: &[u8]) -> u32 {
        self.tables.users.index(name)
    }
}
