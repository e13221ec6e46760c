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
    /// Of instants the second column too, where a date and a time are two.
    pub start: [usize; 2],
    pub end: [usize; 2],
    pub elapsed: usize,
    pub intended: [usize; 2],
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
pub(super) enum Table {
    Csv {
        csv: Csv,
        width: usize,
        header: bool,
        /// Whether a comma in a number is a decimal one: another character stands between fields.
        comma: bool,
        places: Places,
    },
    /// An object a line; places are those of the parts of the option.
    Json(Places),
}

const NONE: usize = usize::MAX;

impl Table {
    /// By the first row; none if that is not complete yet.
    pub(super) fn find(spec: &Spec, lines: &Lines<'_>, path: &Path) -> Result<Option<Table>, Error> {
        let Some(line) = lines.clone().next() else { return Ok(None) };
        if line.trim_ascii_start().starts_with(b"{") {
            return Table::json(spec).map(Some);
        }
        let delimiter = delimiter(spec, line);
        let mut csv = Csv::new(delimiter);
        let Some(first) = csv.next(&mut lines.clone()) else { return Ok(None) };
        let by_name = |column: &Column| match column {
            Column::Name(name) => {
                !name.split_once('+').is_some_and(|(a, b)| [a, b].iter().all(|n| n.parse::<usize>().is_ok()))
            }
            Column::Number(_) => false,
        };
        let named = spec.parts.iter().any(|part| by_name(&part.column));
        let at = |key| match spec.find(key) {
            None => Ok([NONE; 2]),
            Some(part) => {
                find(&part.column, &first).ok_or_else(|| missing(&part.text, &part.column, &first, path))
            }
        };
        let one = |key| match at(key)? {
            [column, NONE] => Ok(column),
            // Only instants are put together.
            _ => Err(missing_of(spec, key, &first, path)),
        };
        let places = Places {
            start: at(Key::Start)?,
            end: at(Key::End)?,
            elapsed: one(Key::Elapsed)?,
            intended: at(Key::Intended)?,
            first_byte: one(Key::FirstByte)?,
            label: one(Key::Label)?,
            thread: one(Key::Thread)?,
            status: one(Key::Status)?,
            success: one(Key::Success)?,
            bytes: one(Key::Bytes)?,
            generator: one(Key::Generator)?,
        };
        let time = first.get(places.start[0].min(places.end[0])).unwrap_or_default();
        let split = places.start[1].min(places.end[1]) != NONE;
        let is_time = Shape::guess(time).is_some() || (split && time.first().is_some_and(u8::is_ascii_digit));
        let header = named || (!is_time && time.iter().any(u8::is_ascii_alphabetic));
        let width = first.len();
        Ok(Some(Table::Csv { csv, width, header, comma: delimiter != b',', places }))
    }

    /// Of objects by their keys.
    fn json(spec: &Spec) -> Result<Table, Error> {
        if let Some(part) = spec.parts.iter().find(|part| matches!(part.column, Column::Number(_))) {
            return Err(wrong(&part.text, "a key: the file has JSON objects, whose columns have no numbers"));
        }
        let at = |key| spec.parts.iter().position(|part| part.key == key).unwrap_or(NONE);
        Ok(Table::Json(Places {
            start: [at(Key::Start), NONE],
            end: [at(Key::End), NONE],
            elapsed: at(Key::Elapsed),
            intended: [at(Key::Intended), NONE],
            first_byte: at(Key::FirstByte),
            label: at(Key::Label),
            thread: at(Key::Thread),
            status: at(Key::Status),
            success: at(Key::Success),
            bytes: at(Key::Bytes),
            generator: at(Key::Generator),
        }))
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

/// Where it is; of a date and a time in two columns, with a + between them, where both are.
fn find(column: &Column, row: &Fields<'_>) -> Option<[usize; 2]> {
    let named = |name: &str| row.iter().position(|field| field.trim_ascii() == name.as_bytes());
    let one = |name: &str| match name.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|at| *at < row.len()),
        Err(_) => named(name),
    };
    match column {
        Column::Number(number) => (*number <= row.len()).then_some([number - 1, NONE]),
        Column::Name(name) => named(name).map(|at| [at, NONE]).or_else(|| {
            let (date, time) = name.split_once('+')?;
            Some([one(date)?, one(time)?])
        }),
    }
}

fn missing_of(spec: &Spec, key: Key, first: &Fields<'_>, path: &Path) -> Error {
    let part = spec.find(key);
    let column = part.map_or(Column::Number(0), |part| part.column.clone());
    missing(part.map_or("", |part| &part.text), &column, first, path)
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
