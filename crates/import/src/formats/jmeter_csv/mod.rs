//! JMeter's results as CSV: with a header (any columns in any order, any delimiter), or without one, as in the
//! Aggregate Report of JMeter 2 and in files of `print_field_names=false`.
//!
//! JMeter stamps starts as it is shipped, ends with `sampleresult.timestamp.start=false`; the file does not say which.

mod layout;

use super::jmeter_row::{Sample, Samples, bytes, span, span_or_none, truth};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::int;
use crate::stamps::{EXPECTED, Shape, StampReader, Unit, unix};
use crate::{Error, Facts, Format, Options, Reader, Rows, Stamps};
use headway_base::Nanos;
use jiff::tz::TimeZone;
use layout::{First, Layout, present};
use std::path::Path;

/// JMeter CSV.
pub struct JmeterCsv;

impl Format for JmeterCsv {
    fn name(&self) -> &'static str {
        "jmeter-csv"
    }

    fn about(&self) -> &'static str {
        "jmeter -n -l FILE: CSV with or without a header, the Aggregate Report too"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        matches!(Layout::of(&Lines::new(head, true, 0)), First::Known(_))
    }

    fn reader(&self, _: &Path, options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(JmeterCsvReader {
            table: None,
            clock: Clock::Unknown(options.zone.clone()),
            passed: 0,
            samples: Samples::default(),
        }))
    }
}

struct JmeterCsvReader {
    /// Once the first row is there.
    table: Option<Table>,
    clock: Clock,
    passed: u64,
    samples: Samples,
}

struct Table {
    csv: Csv,
    layout: Layout,
    /// The header as it stands in the file, if there is one.
    header: Option<Vec<u8>>,
}

/// How stamps are written.
enum Clock {
    /// The first will tell; local dates are in this zone.
    Unknown(TimeZone),
    /// Milliseconds since 1970.
    Ms,
    /// As dates, times of day or seconds, by `jmeter.save.saveservice.timestamp_format`.
    Dates(Box<StampReader>),
}

impl Reader for JmeterCsvReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while self.table.is_none() {
            match Layout::of(&lines) {
                First::Known(layout) => self.table = Some(Table::new(layout, &mut lines)),
                First::Incomplete => {
                    if last {
                        // Blank lines.
                        lines.next();
                    }
                    break;
                }
                First::Unknown => {
                    let line = lines.next().unwrap_or_default();
                    rows.bad(
                        lines.line(),
                        line,
                        "a header with timeStamp and elapsed, or a row of 10 to 17 columns",
                    );
                }
            }
        }
        if let Some(table) = &mut self.table {
            table.read(&mut lines, &mut self.clock, &mut self.samples, rows);
        }
        if last {
            self.samples.release(true, rows);
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let layout = self.table.as_ref().map(|table| &table.layout);
        let has = |column: fn(&Layout) -> usize| layout.is_some_and(|layout| present(column(layout)));
        const MS: Nanos = Nanos::from_millis(1);
        let (resolution, written, clock) = match &self.clock {
            Clock::Dates(dates) => (dates.resolution(), format!(", {}", dates.words()), dates.clock()),
            Clock::Ms | Clock::Unknown(_) => (MS, String::new(), crate::Clock::Unix),
        };
        let header = if layout.is_some_and(|layout| !layout.header) { " without a header" } else { "" };
        Facts {
            format: format!("JMeter CSV{header}{written}"),
            stamps: Stamps::Ambiguous,
            resolution,
            clock,
            finer: (resolution > MS).then_some("jmeter -Jjmeter.save.saveservice.timestamp_format=ms"),
            users: has(|l| l.thread),
            ends: true,
            bytes: has(|l| l.bytes),
            outcomes: self.samples.outcomes(),
            missing: self.samples.missing(),
            ..Facts::default()
        }
    }
}

impl Table {
    /// Takes the header, if there is one.
    fn new(layout: Layout, lines: &mut Lines<'_>) -> Table {
        let mut csv = Csv::new(layout.delimiter);
        let header = if layout.header { csv.next(lines).map(|row| row.raw().to_vec()) } else { None };
        Table { csv, layout, header }
    }

    fn read(&mut self, lines: &mut Lines<'_>, clock: &mut Clock, samples: &mut Samples, rows: &mut Rows) {
        while let Some(row) = self.csv.next(lines) {
            match sample(&self.layout, clock, &row) {
                Ok(sample) => samples.push(&sample, rows),
                Err(_) if self.header.as_deref() == Some(without_bom(row.raw())) => {
                    rows.leave_out("headers repeated further down");
                }
                Err(what) => rows.bad(lines.line(), row.raw(), what.words(&self.layout)),
            }
        }
    }
}

/// Files laid end to end keep their byte order marks.
fn without_bom(row: &[u8]) -> &[u8] {
    row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row)
}

/// What is wrong with a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    Width(usize),
    Stamp,
    /// Its date contradicts the order that its file seems to have.
    Order,
    /// The column of that name is not what it should be.
    Column(&'static str, &'static str),
}

impl Wrong {
    fn words(self, layout: &Layout) -> String {
        match self {
            Wrong::Width(width) => {
                let origin = if layout.header { "the header" } else { "the first row" };
                format!("{} columns as in {origin}, not {width}", layout.width)
            }
            Wrong::Stamp => format!("{EXPECTED} as timeStamp (column {})", layout.stamp + 1),
            Wrong::Order => format!(
                "{EXPECTED}, month first, as timeStamp; --columns start:dmy=timeStamp,elapsed=elapsed,label=label,thread=threadName,\
                 success=success reads dates day first"
            ),
            Wrong::Column(name, expected) => format!("{expected} as {name}"),
        }
    }
}

/// The sample in a row.
#[inline]
fn sample<'a>(layout: &Layout, clock: &mut Clock, row: &Fields<'a>) -> Result<Sample<'a>, Wrong> {
    const SPAN: &str = "whole milliseconds from 0 to a day";
    const BYTES: &str = "a whole number";
    if row.len() != layout.width {
        return Err(Wrong::Width(row.len()));
    }
    let field = |column: usize| row.get(column).unwrap_or_default();
    let number = |column, name| bytes(field(column)).ok_or(Wrong::Column(name, BYTES));
    let some_span = |column, name| span_or_none(field(column)).ok_or(Wrong::Column(name, SPAN));
    Ok(Sample {
        stamp: match clock.read(field(layout.stamp)) {
            Some(stamp) => stamp,
            None if clock.is_guessed() => return Err(Wrong::Order),
            None => return Err(Wrong::Stamp),
        },
        elapsed: span(field(layout.elapsed)).ok_or(Wrong::Column("elapsed", SPAN))?,
        idle: span_or_none(field(layout.idle)).unwrap_or_default(),
        latency: match field(layout.latency) {
            b"" => None,
            text => Some(span(text).ok_or(Wrong::Column("Latency", SPAN))?),
        },
        connect: some_span(layout.connect, "Connect")?,
        label: field(layout.label),
        code: field(layout.code),
        message: field(layout.message),
        failure: field(layout.failure),
        thread: row.get(layout.thread),
        success: match row.get(layout.success) {
            Some(text) => Some(truth(text).ok_or(Wrong::Column("success", "true or false"))?),
            None => None,
        },
        bytes: number(layout.bytes, "bytes")?,
        sent: number(layout.sent, "sentBytes")?,
        host: field(layout.host),
    })
}

impl Clock {
    /// Whether only the look of dates tells their order.
    #[cold]
    fn is_guessed(&self) -> bool {
        matches!(self, Clock::Dates(dates) if dates.is_guessed())
    }

    #[inline]
    fn read(&mut self, text: &[u8]) -> Option<Nanos> {
        match self {
            Clock::Ms => unix(int(text)?.checked_mul(1_000_000)?),
            Clock::Dates(dates) => dates.read(text),
            Clock::Unknown(zone) => {
                if let Some(shape) = Shape::guess(text).filter(|shape| *shape != Shape::Number(Unit::Ms)) {
                    let mut dates = StampReader::guessed(shape, zone.clone(), text);
                    let at = dates.read(text)?;
                    *self = Clock::Dates(Box::new(dates));
                    return Some(at);
                }
                let at = Clock::Ms.read(text)?;
                *self = Clock::Ms;
                Some(at)
            }
        }
    }
}

#[cfg(test)]
mod tests;
