//! CSV, or JSON with an object a line, of no known tool: the user says which column, or key, holds what ([`spec`]).
//!
//! Delimiter, header and, where the user does not say it, how times are written are read off the first rows. It is never
//! recognised by content.

mod json;
mod spec;
mod table;

use crate::lines::Lines;
use crate::numbers::{decimal, int, places, with_point};
use crate::outcome;
use crate::stamps::{EXPECTED, Shape, StampReader, Unit};
use crate::{Clock, Error, Facts, Format, Options, Outcomes, Reader, Rows, Stamps};
use headway_base::{Kind, Nanos, Outcome, Record};
use jiff::tz::TimeZone;
use spec::{Key, Part, Spec, Written, wrong};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use table::{Places, Table};

/// CSV by `--columns`.
pub struct Columns;

impl Format for Columns {
    fn name(&self) -> &'static str {
        "columns"
    }

    fn about(&self) -> &'static str {
        "any CSV or JSON lines, --columns start=COLUMN,elapsed=COLUMN,label=COLUMN"
    }

    fn recognise(&self, _: &[u8]) -> bool {
        false
    }

    fn reader(&self, path: &Path, options: &Options) -> Result<Box<dyn Reader>, Error> {
        let spec = Spec::parse(options.columns.as_deref().unwrap_or_default())?;
        let unit = |key| match spec.find(key).and_then(|part| part.written) {
            Some(Written::In(unit)) => unit,
            Some(Written::Iso | Written::Date(_)) | None => Unit::Ms,
        };
        Ok(Box::new(ColumnsReader {
            path: path.to_path_buf(),
            zone: options.zone.clone(),
            elapsed: Span { unit: unit(Key::Elapsed), places: 0 },
            first_byte: unit(Key::FirstByte),
            spec,
            table: None,
            start: None,
            end: None,
            intended: None,
            passed: 0,
            k: 0,
            statuses: false,
        }))
    }
}

struct ColumnsReader {
    path: PathBuf,
    zone: TimeZone,
    spec: Spec,
    /// Once the first line is there.
    table: Option<Table>,
    /// Once their first values are there.
    start: Option<StampReader>,
    end: Option<StampReader>,
    intended: Option<StampReader>,
    elapsed: Span,
    first_byte: Unit,
    passed: u64,
    k: u64,
    /// Whether any row has a status.
    statuses: bool,
}

/// A span's unit, and the most digits behind the point so far.
struct Span {
    unit: Unit,
    places: u32,
}

/// Why a row gives no record.
enum Wrong {
    /// It cannot be read; what was expected.
    Row(String),
    /// No row can be read this way.
    Option(Error),
}

impl Reader for ColumnsReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        if self.table.is_none() {
            self.table = Table::find(&self.spec, &lines, &self.path)?;
            if let Some(Table::Csv { csv, header: true, .. }) = &mut self.table {
                csv.next(&mut lines);
            }
        }
        match self.table.take() {
            Some(Table::Csv { mut csv, width, header, comma, places }) => {
                while let Some(row) = csv.next(&mut lines) {
                    if row.len() != width {
                        let expected = format!("{width} columns as in the first line, not {}", row.len());
                        rows.bad(lines.line(), row.raw(), expected);
                        continue;
                    }
                    match self.record(&places, comma, &|i| row.get(i), rows) {
                        Ok(record) => rows.records.push(record),
                        Err(Wrong::Row(expected)) => rows.bad(lines.line(), row.raw(), expected),
                        Err(Wrong::Option(error)) => return Err(error),
                    }
                }
                self.table = Some(Table::Csv { csv, width, header, comma, places });
            }
            Some(Table::Json(places)) => {
                while let Some(line) = lines.next() {
                    let Some(values) = json::values(&self.spec, line) else {
                        rows.bad(lines.line(), line, "a JSON object on one line");
                        continue;
                    };
                    match self.record(&places, false, &|i| values.get(i).map(|text| text.as_bytes()), rows) {
                        Ok(record) => rows.records.push(record),
                        Err(Wrong::Row(expected)) => rows.bad(lines.line(), line, expected),
                        Err(Wrong::Option(error)) => return Err(error),
                    }
                }
                self.table = Some(Table::Json(places));
            }
            None if last => {
                // Blank lines.
                lines.next();
            }
            None => {}
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let has = |key| self.spec.find(key).is_some();
        let by_end = !has(Key::Start);
        let times = if by_end { &self.end } else { &self.start };
        let mut resolution = times.as_ref().map_or(Nanos::from_millis(1), StampReader::resolution);
        if by_end {
            resolution = resolution.max(self.elapsed.unit.resolution(self.elapsed.places));
        }
        let told = has(Key::Success) || self.statuses;
        let missing = if told { Vec::new() } else { vec!["Which requests failed is not said.".to_owned()] };
        Facts {
            format: self.words(),
            stamps: if by_end { Stamps::End } else { Stamps::Start },
            resolution,
            clock: times.as_ref().map_or(Clock::Unix, StampReader::clock),
            users: has(Key::Thread),
            intended: has(Key::Intended),
            ends: has(Key::Elapsed) || has(Key::End),
            bytes: has(Key::Bytes),
            outcomes: if told { Outcomes::All } else { Outcomes::None },
            missing,
            ..Facts::default()
        }
    }
}

impl ColumnsReader {
    /// What was found or said.
    fn words(&self) -> String {
        let json = matches!(self.table, Some(Table::Json(_)));
        let mut words = format!("{} by --columns", if json { "JSON" } else { "CSV" });
        for (key, stamps) in [("start", &self.start), ("end", &self.end), ("intended", &self.intended)] {
            if let Some(stamps) = stamps {
                words.push_str(&format!(", {key} in {}", stamps.words()));
            }
        }
        if self.spec.find(Key::Elapsed).is_some() {
            words.push_str(&format!(", elapsed in {}", self.elapsed.unit.name()));
        }
        words
    }

    /// The record of a row, of which `get` has the columns.
    fn record<'a>(
        &mut self,
        places: &Places,
        comma: bool,
        get: &dyn Fn(usize) -> Option<&'a [u8]>,
        rows: &mut Rows,
    ) -> Result<Record, Wrong> {
        let is = |what: &str, expected: &str| Wrong::Row(format!("{expected} as {what}"));
        let number = |at: usize| get(at).map(|text| pointed(text, comma));
        // A date and a time may be two columns.
        let instant = |at: [usize; 2]| match (number(at[0]), number(at[1])) {
            (Some(date), Some(time)) => Some(Cow::Owned([&date, &b" "[..], &time].concat())),
            (one, _) => one,
        };
        let start = self.instant(Key::Start, instant(places.start).as_deref())?;
        let end = self.instant(Key::End, instant(places.end).as_deref())?;
        let elapsed = match number(places.elapsed) {
            Some(text) => {
                Some(self.elapsed.read(&text).ok_or_else(|| is("elapsed", self.elapsed.expected()))?)
            }
            None => None,
        };
        let (started, done) = match (start, end, elapsed) {
            (Some(start), Some(end), _) if end < start => {
                return Err(is("end", "an instant after the start"));
            }
            (Some(start), Some(end), _) => (start, end),
            (Some(start), None, elapsed) => (start, start + elapsed.unwrap_or_default()),
            (None, Some(end), elapsed) => (end - elapsed.unwrap_or_default(), end),
            (None, None, _) => return Err(is("start", EXPECTED)),
        };
        let first_byte = match number(places.first_byte).filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let span =
                    self.first_byte.span(&text).ok_or_else(|| is("first-byte", "a span from 0 to a day"))?;
                Some(started + span)
            }
        };
        let intended = self.instant(Key::Intended, instant(places.intended).as_deref())?.unwrap_or(started);
        let bytes = match get(places.bytes) {
            None | Some(b"" | b"-") => 0,
            Some(text) => {
                int(text).and_then(|n| u64::try_from(n).ok()).ok_or_else(|| is("bytes", "a whole number"))?
            }
        };
        let status = match get(places.status) {
            None => None,
            Some(b"" | b"-") => Some(0),
            Some(text) => {
                let code = int(text).and_then(|n| u16::try_from(n).ok()).filter(|code| *code < 1000);
                Some(code.ok_or_else(|| is("status", "a status code, or nothing"))?)
            }
        };
        let success = match get(places.success) {
            None => None,
            Some(text) => {
                Some(truth(text).ok_or_else(|| is("success", "true or false, 1 or 0, ok or ko, yes or no"))?)
            }
        };
        self.statuses |= status.is_some_and(|status| status > 0);
        let outcome = match (success, status) {
            (Some(true), _) | (None, None) => Outcome::Ok,
            (Some(false), None | Some(..400)) => Outcome::Check,
            (_, Some(code)) => outcome::from_status(code),
        };
        let shard = match get(places.generator) {
            None | Some(b"") => rows.generator,
            Some(name) => rows.shard(name),
        };
        let user = get(places.thread).map_or(0, |name| rows.user(name));
        let step = rows.step(get(places.label).unwrap_or_default());
        let k = self.k;
        self.k += 1;
        Ok(Record {
            started: started.into(),
            sent: started.into(),
            first_byte: first_byte.into(),
            bytes_received: bytes,
            user,
            step,
            shard,
            status: status.unwrap_or(0),
            kind: Kind::Request,
            ..Record::never_started(k, intended, done, outcome)
        })
    }

    /// The instant in a field, if there is such a column.
    fn instant(&mut self, key: Key, field: Option<&[u8]>) -> Result<Option<Nanos>, Wrong> {
        let (Some(text), Some(part)) = (field, self.spec.find(key)) else { return Ok(None) };
        let known = match key {
            Key::Start => &mut self.start,
            Key::End => &mut self.end,
            _ => &mut self.intended,
        };
        let stamps = match known {
            Some(stamps) => stamps,
            None => known.insert({
                let said = matches!(part.written, Some(Written::Date(_)));
                let (shape, zone) = (shape(part, text)?, self.zone.clone());
                match said {
                    true => StampReader::new(shape, zone, text),
                    false => StampReader::guessed(shape, zone, text),
                }
            }),
        };
        match stamps.read(text) {
            Some(at) => Ok(Some(at)),
            None => {
                let words = stamps.words();
                let hint = if stamps.is_guessed() {
                    "; KEY:dmy=COLUMN reads dates day first, KEY:mdy=COLUMN month first"
                } else {
                    ""
                };
                Err(Wrong::Row(format!("{EXPECTED}, {words}, as {}{hint}", part.text)))
            }
        }
    }
}

/// A number with a point, where commas may be its decimal ones.
fn pointed(text: &[u8], comma: bool) -> Cow<'_, [u8]> {
    match with_point(text).filter(|_| comma) {
        Some(pointed) => Cow::Owned(pointed),
        None => Cow::Borrowed(text),
    }
}

/// How times are written in a column, by what the user says or by the first of them.
fn shape(part: &Part, text: &[u8]) -> Result<Shape, Wrong> {
    let row = |expected: &str| Wrong::Row(format!("{expected} as {}", part.text));
    match part.written {
        Some(Written::In(unit)) if decimal(text, 0).is_some() => Ok(Shape::Number(unit)),
        Some(Written::In(_)) => Err(row("a number")),
        Some(Written::Date(day)) => match Shape::guess(text) {
            Some(Shape::Date(_)) => Ok(Shape::Date(day)),
            _ => Err(row("a date and time such as 15/03/2012 18:30:03.100")),
        },
        Some(Written::Iso) => match Shape::guess(text) {
            Some(shape @ (Shape::Date(_) | Shape::Time)) => Ok(shape),
            _ => Err(row("a date and time such as 2012-03-15T18:30:03.100Z")),
        },
        None => match Shape::guess(text) {
            Some(shape) => Ok(shape),
            None if decimal(text, 0).is_some() => {
                let what = part.text.split('=').next().unwrap_or_default();
                Err(Wrong::Option(wrong(
                    &part.text,
                    format!(
                        "the unit too, as in {what}:s=...: {} is no time between 1990 and 2200 in s, ms, us or ns",
                        String::from_utf8_lossy(text)
                    ),
                )))
            }
            None => Err(row(EXPECTED)),
        },
    }
}

impl Span {
    #[inline]
    fn read(&mut self, text: &[u8]) -> Option<Nanos> {
        self.places = self.places.max(places(text));
        self.unit.span(text)
    }

    fn expected(&self) -> &'static str {
        match self.unit {
            Unit::S => "seconds from 0 to a day",
            Unit::Ms => "milliseconds from 0 to a day",
            Unit::Us => "microseconds from 0 to a day",
            Unit::Ns => "nanoseconds from 0 to a day",
        }
    }
}

/// Words for success and failure.
fn truth(text: &[u8]) -> Option<bool> {
    const YES: [&str; 9] = ["true", "1", "ok", "yes", "success", "pass", "passed", "t", "y"];
    const NO: [&str; 12] =
        ["false", "0", "ko", "no", "failure", "fail", "failed", "error", "nok", "not ok", "f", "n"];
    let among = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    if among(&YES) {
        Some(true)
    } else if among(&NO) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
