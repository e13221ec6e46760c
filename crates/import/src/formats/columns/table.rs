//! Where the columns are, found by the file's first line.

use super::spec::{Column, Key, Spec, wrong};
use crate::Error;
use crate::lines::{Csv, Fields, Lines};
use crate::stamps::Shape;
use std::path::Path;

/// What can stand between fields, the likeliest first. A space is tried only where nothing else stands.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Columns by number from 0; [`usize::MAX`] is none, and no row has so many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Places {
    pub start: usize,
    pub end: usize,
    pub elapsed: usize,
    pub intended: usize,
    pub first_byte: usize,
    pub label: usize,
    pub thread: usize,
    pub status: usize,
    pub success: usize,
    pub bytes: usize,
    pub generator: usize,
}

/// The table that the file is.
#[derive(Debug)]
pub(super) struct Table {
    pub csv: Csv,
    pub width: usize,
    pub header: bool,
    pub places: Places,
}

impl Table {
    /// By the first row; none if that is not complete yet.
    pub(super) fn find(spec: &Spec, lines: &Lines<'_>, path: &Path) -> Result<Option<Table>, Error> {
        let Some(line) = lines.clone().next() else { return Ok(None) };
        let delimiter = delimiter(spec, line);
        let mut csv = Csv::new(delimiter);
        let Some(first) = csv.next(&mut lines.clone()) else { return Ok(None) };
        let named = spec.parts.iter().any(|part| matches!(part.column, Column::Name(_)));
        let at = |key| match spec.find(key) {
            None => Ok(usize::MAX),
            Some(part) => {
                find(&part.column, &first).ok_or_else(|| missing(&part.text, &part.column, &first, path))
            }
        };
        let places = Places {
            start: at(Key::Start)?,
            end: at(Key::End)?,
            elapsed: at(Key::Elapsed)?,
            intended: at(Key::Intended)?,
            first_byte: at(Key::FirstByte)?,
            label: at(Key::Label)?,
            thread: at(Key::Thread)?,
            status: at(Key::Status)?,
            success: at(Key::Success)?,
            bytes: at(Key::Bytes)?,
            generator: at(Key::Generator)?,
        };
        let time = first.get(places.start.min(places.end)).unwrap_or_default();
        let header = named || (Shape::guess(time).is_none() && time.iter().any(u8::is_ascii_alphabetic));
        let width = first.len();
        Ok(Some(Table { csv, width, header, places }))
    }
}

/// What separates the fields of the first line: what makes the most columns of it, of those that hold what is asked for.
fn delimiter(spec: &Spec, line: &[u8]) -> u8 {
    let suits = |delimiter: u8| {
        let mut csv = Csv::new(delimiter);
        let row = csv.row(line);
        let found = spec.parts.iter().filter(|part| find(&part.column, &row).is_some()).count();
        (found, row.len())
    };
    let best = DELIMITERS.into_iter().rev().max_by_key(|&delimiter| suits(delimiter)).unwrap_or(b',');
    if suits(best).1 == 1 && suits(b' ') > suits(best) { b' ' } else { best }
}

fn find(column: &Column, row: &Fields<'_>) -> Option<usize> {
    match column {
        Column::Number(number) => (*number <= row.len()).then_some(number - 1),
        Column::Name(name) => row.iter().position(|field| field.trim_ascii() == name.as_bytes()),
    }
}

fn missing(part: &str, column: &Column, first: &Fields<'_>, path: &Path) -> Error {
    const SHOWN: usize = 300;
    let file = path.display();
    let text = String::from_utf8_lossy(first.raw());
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    match column {
        Column::Number(_) => {
            wrong(part, format!("a column from 1 to {}; {file} begins with {text:?}", first.len()))
        }
        Column::Name(_) => wrong(part, format!("a column of the header of {file}, which is {text:?}")),
    }
}
