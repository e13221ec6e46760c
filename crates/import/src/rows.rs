//! What a reader fills: records, the names that their numbers stand for, and what could not be read.

use crate::names::Names;
use headway_base::Record;
use std::fmt;
use std::sync::Arc;

/// Labels that are distinguished; their numbers fill a record's `step`.
pub const MOST_LABELS: u16 = u16::MAX;
/// Users of a file that are distinguished: some 300 MB of names.
pub const MOST_USERS: u32 = 2_000_000;
/// Generators that are distinguished; their numbers fill a record's `shard`.
pub const MOST_GENERATORS: u16 = u16::MAX;
/// What all further labels are called.
pub const OTHER_LABELS: &str = "(other labels)";
/// What all further users are called.
pub const OTHER_USERS: &str = "(other users)";
/// Messages of failures that are distinguished, and bytes of one that are kept.
pub const MOST_MESSAGES: u32 = 20_000;
const LONGEST_MESSAGE: usize = 1_000;
/// What all further messages are called.
pub const OTHER_MESSAGES: &str = "(other messages)";
/// What all further generators are called.
pub const OTHER_GENERATORS: &str = "(other generators)";

/// Names that the numbers in the records stand for, shared by all files of one audit.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// `step`: what was asked for (label, URL, name).
    pub labels: Names,
    /// `user`: threads, virtual users, connections; empty where no file names any.
    pub users: Names,
    /// `shard`: generators (hosts, files).
    pub generators: Names,
    /// What tools say of failures: `repeat` of a failed request is the number of its message from 1, and 0 without one. No
    /// foreign file knows of repeats.
    pub messages: Names,
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

/// The same with all that stands there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRow {
    /// Line, from 1 (of a binary file: the byte offset).
    pub line: u64,
    /// What stands there.
    pub found: Vec<u8>,
    /// What was expected.
    pub expected: String,
}

/// Takes every unreadable row as it is found.
#[derive(Clone)]
pub struct BadRows(Arc<dyn Fn(BadRow) + Send + Sync>);

impl BadRows {
    /// By that function.
    pub fn new(take: impl Fn(BadRow) + Send + Sync + 'static) -> BadRows {
        BadRows(Arc::new(take))
    }
}

impl fmt::Debug for BadRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BadRows")
    }
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
    /// What takes all of them.
    pub all_bad: Option<BadRows>,
    /// Rows of this file left out on purpose, with the reason (parents of nested samples, synthetic rows).
    pub left_out: Vec<(&'static str, u64)>,
}

impl Rows {
    /// Notes a row that cannot be read.
    pub fn bad(&mut self, line: u64, found: &[u8], expected: impl Into<String>) {
        self.unreadable += 1;
        let expected = expected.into();
        if let Some(all) = &self.all_bad {
            (all.0)(BadRow { line, found: found.to_vec(), expected: expected.clone() });
        }
        if self.examples.len() < SHOWN {
            let shown = &found[..found.len().min(SHOWN_BYTES)];
            let mut text: String = String::from_utf8_lossy(shown)
                .chars()
                .map(|c| if c.is_control() { '?' } else { c })
                .collect();
            if shown.len() < found.len() {
                text.push_str("...");
            }
            self.examples.push(Unreadable { line, found: text, expected });
        }
    }

    /// The number of a failure's message from 1; 0 for none. Beyond [`MOST_MESSAGES`] all further ones share the last.
    pub fn message(&mut self, text: &[u8]) -> u32 {
        match text.trim_ascii() {
            b"" => 0,
            text => {
                let text = &text[..text.len().min(LONGEST_MESSAGE)];
                1 + self.tables.messages.index_within(text, MOST_MESSAGES, OTHER_MESSAGES)
            }
        }
    }

    /// Counts a row that is left out on purpose.
    pub fn leave_out(&mut self, why: &'static str) {
        match self.left_out.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, n)) => *n += 1,
            None => self.left_out.push((why, 1)),
        }
    }

    /// The step of that label. Beyond [`MOST_LABELS`] all further ones share the last number, [`OTHER_LABELS`].
    #[inline]
    pub fn step(&mut self, label: &[u8]) -> u16 {
        self.tables.labels.index_within(label, u32::from(MOST_LABELS), OTHER_LABELS) as u16
    }

    /// The number of that user. Beyond [`MOST_USERS`] all further ones share the last number, [`OTHER_USERS`].
    #[inline]
    pub fn user(&mut self, name: &[u8]) -> u32 {
        self.tables.users.index_within(name, MOST_USERS, OTHER_USERS)
    }

    /// The shard of that generator, where the file names it itself. Beyond [`MOST_GENERATORS`] all further ones share the
    /// last number, [`OTHER_GENERATORS`].
    #[inline]
    pub fn shard(&mut self, generator: &[u8]) -> u16 {
        self.tables.generators.index_within(generator, u32::from(MOST_GENERATORS), OTHER_GENERATORS) as u16
    }

    /// What is not distinguished because there were too many names, a sentence each.
    pub(crate) fn lumped(&self) -> impl Iterator<Item = String> {
        let Tables { labels, users, generators, .. } = &self.tables;
        let limits = [
            (labels, u32::from(MOST_LABELS), "labels", OTHER_LABELS),
            (users, MOST_USERS, "users", OTHER_USERS),
            (generators, u32::from(MOST_GENERATORS), "generators", OTHER_GENERATORS),
        ];
        limits.into_iter().filter(|(names, most, ..)| names.len() > *most as usize).map(|(_, most, what, others)| {
            format!("More than {most} {what} are named: the further ones are not told apart and stand together as {others}.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beyond_what_a_number_holds_share_the_last() {
        let mut rows = Rows::default();
        for i in 0..u32::from(MOST_LABELS) {
            assert_eq!(u32::from(rows.step(&i.to_le_bytes())), i);
        }
        assert_eq!(rows.lumped().count(), 0);
        for i in 0..10_000 {
            assert_eq!(rows.step(format!("/item?id={i}").as_bytes()), MOST_LABELS);
        }
        assert_eq!(rows.step(&5_u32.to_le_bytes()), 5);
        let labels = rows.tables.labels.as_slice();
        assert_eq!((labels.len(), &*labels[labels.len() - 1]), (usize::from(MOST_LABELS) + 1, OTHER_LABELS));
        let lumped: Vec<_> = rows.lumped().collect();
        assert_eq!(
            lumped,
            [
                "More than 65535 labels are named: the further ones are not told apart and stand together as (other labels)."
            ]
        );
    }

    #[test]
    fn users_and_generators_beyond_the_most_share_one() {
        let mut rows = Rows::default();
        rows.tables.users = Names::holding(MOST_USERS - 1);
        let numbers = ["a", "b", "c", "a", "b"].map(|name| rows.user(name.as_bytes()));
        assert_eq!(numbers, [MOST_USERS - 1, MOST_USERS, MOST_USERS, MOST_USERS - 1, MOST_USERS]);
        assert_eq!(rows.tables.users.len(), MOST_USERS as usize + 1);
        assert_eq!(rows.tables.users.as_slice().last().map(String::as_str), Some(OTHER_USERS));
        rows.tables.generators = Names::holding(u32::from(MOST_GENERATORS));
        assert_eq!((rows.shard(b"host"), rows.shard(b"other")), (MOST_GENERATORS, MOST_GENERATORS));
        let lumped: Vec<_> = rows.lumped().collect();
        assert_eq!(lumped.len(), 2);
        assert!(lumped[0].starts_with("More than 2000000 users are named: "), "{lumped:?}");
        assert!(lumped[1].ends_with("stand together as (other generators)."), "{lumped:?}");
    }
}
