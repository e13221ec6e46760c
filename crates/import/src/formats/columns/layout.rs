//! Known formats whose rows have fields by name or by number: what stands where is said as `--columns` says it.

use super::json;
use super::reader::TableReader;
use super::words;
use crate::lines::{Csv, Lines};
use crate::numbers::int;
use crate::{Clock, Error, Format, Options, Outcomes, Reader, Rows};
use headway_base::Nanos;
use std::path::Path;

/// Such a format.
pub struct Tabular {
    pub(in crate::formats) name: &'static str,
    pub(in crate::formats) about: &'static str,
    /// Its kinds, the pickiest first.
    pub(in crate::formats) layouts: &'static [Layout],
}

/// What its rows look like.
#[derive(Clone, Copy)]
pub(in crate::formats) struct Layout {
    /// The format in words.
    pub title: &'static str,
    pub tool: Option<&'static str>,
    pub rows: Cut,
    /// Which column holds what, as in `--columns`.
    pub columns: &'static str,
    pub clock: Clock,
    /// What the tool's last digit is worth; none if that is to be seen.
    pub resolution: Option<Nanos>,
    pub outcomes: Outcomes,
    /// What such a file cannot tell.
    pub missing: &'static [&'static str],
    /// The label where rows have none.
    pub unlabelled: &'static str,
}

/// What is the same for most.
pub(in crate::formats) const PLAIN: Layout = Layout {
    title: "",
    tool: None,
    rows: Cut::Json { marks: &[], begins: "" },
    columns: "",
    clock: Clock::Unix,
    resolution: None,
    outcomes: Outcomes::All,
    missing: &[],
    unlabelled: "request",
};

/// How a row becomes fields.
#[derive(Clone, Copy)]
pub(in crate::formats) enum Cut {
    /// Delimited by commas, under one of these headers, which may come again.
    Headed(&'static [&'static str]),
    /// Delimited, without a header; the first field of the first row has one of those numbers of digits, and rows one of those numbers of
    /// fields, or at least so many.
    Bare { delimiter: u8, digits: &'static [usize], widths: &'static [usize], more: bool },
    /// An object a line that has all of these keys, or begins so where a line is longer than what is looked at.
    Json { marks: &'static [&'static str], begins: &'static str },
    /// Words, under a `#Fields` line that names these.
    W3c { marks: &'static [&'static str] },
    /// Words, at least that number.
    Words(usize),
    /// In a way of its own.
    Own(fn(&[u8]) -> Option<Vec<&[u8]>>),
}

impl Layout {
    /// Whether that line is one of its rows, or the one that names its columns.
    pub(super) fn fits(&self, line: &[u8]) -> bool {
        match self.rows {
            Cut::Headed(headers) => headers.iter().any(|header| header.as_bytes() == line),
            Cut::Bare { delimiter, digits, .. } => {
                let first = line.split(|&b| b == delimiter).next().unwrap_or_default();
                digits.contains(&first.len()) && int(first).is_some()
            }
            Cut::Json { marks, .. } => line.starts_with(b"{") && json::has(line, marks),
            Cut::W3c { marks } => words::names(line).is_some_and(|names| {
                let has = |mark: &&str| names.iter().any(|name| name.eq_ignore_ascii_case(mark.as_bytes()));
                marks.iter().all(has)
            }),
            Cut::Words(least) => words::words(line).nth(least - 1).is_some(),
            Cut::Own(cut) => cut(line).is_some(),
        }
    }

    fn recognise(&'static self, head: &[u8]) -> bool {
        let mut lines = Lines::new(head, true, 0);
        let mut lines = std::iter::from_fn(|| lines.next());
        match self.rows {
            Cut::Headed(_) => lines.next().is_some_and(|line| self.fits(line)),
            Cut::Bare { delimiter, .. } => {
                // The last row may be cut off.
                let mut lines = Lines::new(head, !head.contains(&b'\n'), 0);
                let mut csv = Csv::new(delimiter);
                csv.next(&mut lines).is_some_and(|row| self.fits(row.raw()) && self.reads(row.raw()))
            }
            Cut::W3c { .. } => lines.take_while(|line| line.starts_with(b"#")).any(|line| self.fits(line)),
            Cut::Json { begins, .. } => {
                // The first line may have lost its beginning in a rotation.
                let long =
                    !begins.is_empty() && head.starts_with(begins.as_bytes()) && !head.contains(&b'\n');
                long || lines.take(3).any(|line| self.fits(line))
            }
            Cut::Words(_) | Cut::Own(_) => lines.take(3).any(|line| self.fits(line) && self.reads(line)),
        }
    }

    /// Whether that line can be read as a row.
    fn reads(&'static self, line: &[u8]) -> bool {
        let mut rows = Rows::default();
        let read = TableReader::known(std::slice::from_ref(self), &Options::default())
            .and_then(|mut reader| reader.read(line, true, &mut rows));
        read.is_ok() && rows.records.len() == 1
    }
}

impl Format for Tabular {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn recognise(&self, head: &[u8]) -> bool {
        self.layouts.iter().any(|layout| layout.recognise(head))
    }

    fn reader(&self, _: &Path, options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(TableReader::known(self.layouts, options)?))
    }
}
