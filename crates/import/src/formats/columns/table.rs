//! Where the columns are, by the names of the file's first line or of its keys.

use super::spec::{Column, KEYS, Key, Part, Spec, wrong};
use crate::Error;
use crate::lines::{Csv, Fields, Lines};
use crate::stamps::Shape;
use std::path::Path;

/// What can stand between fields, the likeliest first. A space is tried only where nothing else stands.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// No column: no row has that number.
pub(super) const NONE: usize = usize::MAX;

/// Columns from 0 by key; a second one where two make one value, as a date and a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Places([[usize; 2]; KEYS.len()]);

impl Places {
    pub(super) fn nowhere() -> Places {
        Places([[NONE; 2]; KEYS.len()])
    }

    /// Of each part what `find` finds.
    pub(super) fn of<E>(
        spec: &Spec,
        mut find: impl FnMut(usize, &Part) -> Result<[usize; 2], E>,
    ) -> Result<Places, E> {
        let mut places = Places::nowhere();
        for (i, part) in spec.parts.iter().enumerate() {
            places.0[part.key as usize] = find(i, part)?;
        }
        Ok(places)
    }

    #[inline]
    pub(super) fn one(&self, key: Key) -> usize {
        self.0[key as usize][0]
    }

    #[inline]
    pub(super) fn both(&self, key: Key) -> [usize; 2] {
        self.0[key as usize]
    }

    #[inline]
    pub(super) fn has(&self, key: Key) -> bool {
        self.one(key) != NONE
    }
}

/// A table of delimited fields.
pub(super) struct Table {
    pub csv: Csv,
    pub width: usize,
    pub header: bool,
    /// Whether a comma in a number is a decimal one: another character stands between fields.
    pub comma: bool,
    pub places: Places,
}

impl Table {
    /// By the first row; none if that is not complete yet.
    pub(super) fn find(spec: &Spec, lines: &Lines<'_>, path: &Path) -> Result<Option<Table>, Error> {
        let Some(line) = lines.clone().next() else { return Ok(None) };
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
        let places = Places::of(spec, |_, part| match find(&part.column, &first) {
            Some(at) if at[1] == NONE || part.key.takes_two() => Ok(at),
            _ => Err(missing(part, &first, path)),
        })?;
        let [start, end] = [Key::Start, Key::End].map(|key| places.both(key));
        let time = first.get(start[0].min(end[0])).unwrap_or_default();
        let split = start[1].min(end[1]) != NONE;
        let is_time = Shape::guess(time).is_some() || (split && time.first().is_some_and(u8::is_ascii_digit));
        let header = named || (!is_time && time.iter().any(u8::is_ascii_alphabetic));
        let width = first.len();
        Ok(Some(Table { csv, width, header, comma: delimiter != b',', places }))
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

/// Where it is; of two columns that make one value, with a + between them, where both are.
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

/// Where the columns of a known layout are among those names; nowhere what is not there.
pub(super) fn among(column: &Column, names: &[&[u8]]) -> [usize; 2] {
    let one = |name: &str| match name.parse::<usize>() {
        Ok(number) => number - 1,
        Err(_) => name
            .split('|')
            .find_map(|name| names.iter().position(|known| known.eq_ignore_ascii_case(name.as_bytes())))
            .unwrap_or(NONE),
    };
    match column {
        Column::Number(number) => [number - 1, NONE],
        Column::Name(name) => match name.split_once('+') {
            Some((first, second)) => [one(first), one(second)],
            None => [one(name), NONE],
        },
    }
}

fn missing(part: &Part, first: &Fields<'_>, path: &Path) -> Error {
    const SHOWN: usize = 300;
    let file = path.display();
    let text = String::from_utf8_lossy(first.raw());
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    match part.column {
        Column::Number(_) => {
            wrong(&part.text, format!("a column from 1 to {}; {file} begins with {text:?}", first.len()))
        }
        Column::Name(_) => wrong(&part.text, format!("a column of the header of {file}, which is {text:?}")),
    }
}
