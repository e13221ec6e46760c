//! Lines of words with blanks or tabs between them, and the lines of a W3C log that begin with `#` and name its columns.

use crate::lines::{Cells, Fields};
use memchr::memchr;

/// What stands between blanks or tabs; a text in quotes, which may hold some, without them.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let quoted = rest.strip_prefix(b"\"").and_then(|inner| Some((inner, memchr(b'"', inner)?)));
        if let Some((inner, end)) = quoted {
            rest = &inner[end + 1..];
            return Some(&inner[..end]);
        }
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// The names of columns in a `#Fields:` line.
pub(super) fn names(line: &[u8]) -> Option<Vec<&[u8]>> {
    line.strip_prefix(b"#Fields:").map(|names| words(names).collect())
}

/// Cuts lines, of a W3C log by what its directives say.
#[derive(Default)]
pub(super) struct Words {
    cells: Cells,
    /// Of rows that have none: that of the `#Date` line before them, as one more column.
    pub date: Option<Vec<u8>>,
    pub tool: Option<String>,
}

impl Words {
    /// The columns of a line, and how many there are on it; empty where there is but a dash.
    pub(super) fn cut<'s>(&'s mut self, line: &'s [u8]) -> (Fields<'s>, usize) {
        self.cells.clear();
        let words = words(line).map(|word| self.cells.push(if word == b"-" { b"" } else { word })).count();
        if let Some(date) = &self.date {
            self.cells.push(date);
        }
        (self.cells.fields(line), words)
    }

    /// A line that begins with `#` and names no columns.
    pub(super) fn directive(&mut self, line: &[u8]) {
        if let Some(software) = line.strip_prefix(b"#Software:") {
            self.tool = Some(String::from_utf8_lossy(software.trim_ascii()).into_owned());
        } else if let Some(date) = line.strip_prefix(b"#Date:") {
            self.date = Some(words(date).next().unwrap_or_default().to_vec());
        }
    }
}
