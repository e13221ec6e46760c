//! Logs in the W3C extended format: their `#Fields` line names every column (IIS, CloudFront, Amazon's other caches).
//!
//! Date and time are two columns, in UTC, of when the answer was sent; without the first the `#Date` line has it. `time-taken` is in milliseconds as IIS writes it and in seconds
//! where it has a point, or where the file is CloudFront's. Deliberately absent: what stands behind an address; columns of a
//! server's own.

use crate::formats::request;
use crate::lines::Lines;
use crate::numbers::{int, places};
use crate::outcome;
use crate::stamps::{Day, EXPECTED, Shape, StampReader, Unit};
use crate::{Error, Facts, Format, Options, Outcomes, Reader, Rows, Stamps};
use headway_base::{Nanos, Outcome};
use jiff::tz::TimeZone;
use memchr::memchr;
use std::path::Path;

/// W3C logs.
pub struct W3c;

const FIELDS: &[u8] = b"#Fields:";

impl Format for W3c {
    fn name(&self) -> &'static str {
        "w3c-log"
    }

    fn about(&self) -> &'static str {
        "W3C extended logs with a #Fields line: IIS, CloudFront"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let mut lines = Lines::new(head, true, 0);
        std::iter::from_fn(|| lines.next())
            .take_while(|line| line.starts_with(b"#"))
            .filter_map(Columns::of)
            .any(|columns| columns.time.is_some())
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(W3cReader {
            columns: Columns::default(),
            date: Vec::new(),
            tool: None,
            stamps: StampReader::new(Shape::Date(Day::Ymd), TimeZone::UTC, b""),
            unit: None,
            places: 0,
            lines: 0,
            k: 0,
            stamp: Vec::new(),
            label: Vec::new(),
        }))
    }
}

/// Where what is looked for stands in a row.
#[derive(Clone, Copy, Default, Debug)]
struct Columns {
    width: usize,
    date: Option<usize>,
    time: Option<usize>,
    taken: Option<usize>,
    method: Option<usize>,
    path: Option<usize>,
    status: Option<usize>,
    sent: Option<usize>,
    received: Option<usize>,
    /// CloudFront's, whose times taken are in seconds.
    cloud_front: bool,
}

impl Columns {
    /// By that line, if it names columns, the time among them.
    fn of(line: &[u8]) -> Option<Columns> {
        let names = line.strip_prefix(FIELDS)?;
        let names: Vec<&[u8]> = words(names).collect();
        let at = |wanted: &[&str]| {
            names.iter().position(|name| wanted.iter().any(|w| name.eq_ignore_ascii_case(w.as_bytes())))
        };
        let columns = Columns {
            width: names.len(),
            date: at(&["date"]),
            time: at(&["time"]),
            taken: at(&["time-taken"]),
            method: at(&["cs-method"]),
            path: at(&["cs-uri-stem", "cs-uri"]),
            status: at(&["sc-status"]),
            sent: at(&["sc-bytes"]),
            received: at(&["cs-bytes"]),
            cloud_front: at(&["x-edge-location"]).is_some(),
        };
        columns.time.is_some().then_some(columns)
    }
}

/// What stands between blanks or tabs; a text in quotes may hold some.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let quoted = rest.strip_prefix(b"\"").and_then(|inner| memchr(b'"', inner)).map(|n| n + 2);
        let blank = || rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(quoted.unwrap_or_else(blank));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

struct W3cReader {
    columns: Columns,
    /// Of rows that have none: that of the `#Date` line before them.
    date: Vec<u8>,
    tool: Option<String>,
    stamps: StampReader,
    /// Of the times taken, once one is there.
    unit: Option<Unit>,
    /// Most digits behind their points.
    places: u32,
    lines: u64,
    k: u64,
    stamp: Vec<u8>,
    label: Vec<u8>,
}

impl W3cReader {
    /// A line that begins with `#`.
    fn directive(&mut self, line: &[u8]) {
        if let Some(columns) = Columns::of(line) {
            self.columns = columns;
        } else if let Some(software) = line.strip_prefix(b"#Software:") {
            self.tool = Some(String::from_utf8_lossy(software.trim_ascii()).into_owned());
        } else if let Some(date) = line.strip_prefix(b"#Date:") {
            self.date = words(date).next().unwrap_or_default().to_vec();
        }
    }

    /// The row, or what was expected of it.
    fn row(&mut self, line: &[u8], rows: &mut Rows) -> Result<(), String> {
        let columns = self.columns;
        let fields: Vec<&[u8]> = words(line).collect();
        if columns.width == 0 {
            return Err("a #Fields line with the time first".into());
        }
        if fields.len() != columns.width {
            return Err(format!("{} columns as in the #Fields line, not {}", columns.width, fields.len()));
        }
        let get = |at: Option<usize>| at.map(|i| fields[i]).filter(|text| *text != b"-");
        self.stamp.clear();
        let date = if columns.date.is_some() { get(columns.date) } else { Some(&self.date[..]) };
        for part in [date, Some(&b" "[..]), get(columns.time)] {
            self.stamp.extend_from_slice(part.unwrap_or_default());
        }
        let done = self.stamps.read(&self.stamp).ok_or_else(|| format!("{EXPECTED} as date and time"))?;
        let took = match get(columns.taken) {
            Some(text) => self.took(text).ok_or("a time from 0 to a day as time-taken")?,
            None => Nanos::ZERO,
        };
        let number = |at| get(at).map(|text| int(text).and_then(|n| u64::try_from(n).ok()));
        let whole = |at, what: &str| match number(at) {
            Some(None) => Err(format!("a whole number as {what}")),
            Some(Some(n)) => Ok(Some(n)),
            None => Ok(None),
        };
        // CloudFront writes 000 where the client went before its answer.
        let status = whole(columns.status, "sc-status")?.and_then(|code| u16::try_from(code).ok());
        let mut record = request::between(rows.generator, done - took, done);
        record.k = self.k;
        record.status = status.unwrap_or(0);
        record.outcome = status.map_or(Outcome::Ok, outcome::from_status);
        record.bytes_received = whole(columns.sent, "sc-bytes")?.unwrap_or(0);
        record.bytes_sent = whole(columns.received, "cs-bytes")?.unwrap_or(0);
        self.label.clear();
        for part in [get(columns.method), get(columns.path)].into_iter().flatten() {
            if !self.label.is_empty() {
                self.label.push(b' ');
            }
            self.label.extend_from_slice(part);
        }
        if self.label.is_empty() {
            self.label.extend_from_slice(b"request");
        }
        record.step = rows.step(&self.label);
        rows.records.push(record);
        self.k += 1;
        Ok(())
    }

    fn took(&mut self, text: &[u8]) -> Option<Nanos> {
        let seconds = self.columns.cloud_front || text.contains(&b'.');
        let unit = *self.unit.get_or_insert(if seconds { Unit::S } else { Unit::Ms });
        self.places = self.places.max(places(text));
        unit.span(text)
    }
}

impl Reader for W3cReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(line) = lines.next() {
            if line.starts_with(b"#") {
                self.directive(line);
            } else if let Err(expected) = self.row(line, rows) {
                rows.bad(lines.line(), line, expected);
            }
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let columns = &self.columns;
        let mut missing = vec!["What never reached the server is not in its log.".to_owned()];
        if columns.taken.is_none() {
            missing.push("The log has no time-taken: ends stand for starts.".to_owned());
        }
        let name = if columns.cloud_front { "W3C extended log of CloudFront" } else { "W3C extended log" };
        let taken = self.unit.map_or(Nanos(1), |unit| unit.resolution(self.places));
        Facts {
            format: name.to_owned(),
            tool: self.tool.clone(),
            stamps: Stamps::End,
            resolution: self.stamps.resolution().max(taken),
            ends: columns.taken.is_some(),
            bytes: columns.sent.is_some(),
            outcomes: match columns.status {
                Some(_) => Outcomes::Some("what never reached the server is not in its log"),
                None => Outcomes::None,
            },
            missing,
            ..Facts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;

    /// 2023-11-14T22:13:20Z.
    const AT: i64 = 1_700_000_000_000_000_000;
    const MS: i64 = 1_000_000;

    #[test]
    fn rows_of_iis_are_ends_in_whole_seconds() {
        let text = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2023-11-14 22:13:20\r\n\
                    #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes cs-bytes time-taken\r\n\
                    2023-11-14 22:13:20 192.0.2.1 GET /cart - 200 510 90 3\r\n\
                    2023-11-14 22:13:20 192.0.2.1 GET /cart x=1 500 - 91 86\r\n\
                    broken\r\n\
                    #Fields: time date cs-uri-stem sc-status time-taken\r\n\
                    22:13:21 2023-11-14 /home 404 7\r\n";
        assert!(W3c.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&W3c, text.as_bytes(), &Options::default());
        let shown: Vec<_> = rows
            .records
            .iter()
            .map(|r| {
                let label = &rows.tables.labels.as_slice()[usize::from(r.step)];
                (r.done.0 - AT, r.response().0, r.status, r.outcome, r.bytes_received, label.as_str())
            })
            .collect();
        assert_eq!(
            shown,
            [
                (0, 3 * MS, 200, Outcome::Ok, 510, "GET /cart"),
                (0, 86 * MS, 500, Outcome::Status, 0, "GET /cart"),
                (1_000 * MS, 7 * MS, 404, Outcome::Status, 0, "/home"),
            ]
        );
        assert_eq!((rows.unreadable, rows.examples[0].line), (1, 7));
        assert!(rows.examples[0].expected.starts_with("10 columns as in the #Fields line, not 1"));
        assert_eq!((facts.stamps, facts.resolution, facts.ends), (Stamps::End, Nanos::from_secs(1), true));
        assert_eq!(facts.tool.as_deref(), Some("Microsoft Internet Information Services 10.0"));
    }

    #[test]
    fn times_taken_of_cloud_front_are_in_seconds() {
        let text = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes cs-method cs-uri-stem sc-status time-taken\n\
                    2023-11-14\t22:13:20\tFRA2\t1045\tGET\t/a\t200\t0.214\n2023-11-14\t22:13:20\tFRA2\t0\tGET\t/a\t000\t1\n";
        let (rows, facts) = read_all(&W3c, text.as_bytes(), &Options::default());
        let took: Vec<_> = rows.records.iter().map(|r| r.response().0 / MS).collect();
        assert_eq!(took, [214, 1_000]);
        assert_eq!(
            (rows.records[1].outcome, facts.format.as_str()),
            (Outcome::Reset, "W3C extended log of CloudFront")
        );
    }

    #[test]
    fn the_date_may_stand_above_the_rows_and_texts_in_quotes() {
        let text = "#Date: 2023-11-14 22:13:20 \n#Fields: time cs-uri-stem cs(User-Agent) sc-status\n22:13:20 /a \"two words\" 200\n\
                    #Date: 2023-11-15 00:00:00\n00:00:01 /b \"-\" 200\n";
        assert!(W3c.recognise(text.as_bytes()));
        let (rows, _) = read_all(&W3c, text.as_bytes(), &Options::default());
        let at: Vec<_> = rows.records.iter().map(|r| (r.done.0 - AT) / (1_000 * MS)).collect();
        assert_eq!((at, rows.unreadable), (vec![0, 6_401], 0));
    }

    #[test]
    fn a_log_without_times_is_none() {
        assert!(!W3c.recognise(b"#Version: 1.0\n#Fields: cs-method cs-uri-stem\nGET /\n"));
        assert!(!W3c.recognise(b"# Fields: date time\n2023-11-14 22:13:20\n"));
        let (rows, facts) = read_all(
            &W3c,
            b"#Fields: date time\n2023-11-14 22:13:20\n2200-11-14 22:13:20\n",
            &Options::default(),
        );
        assert_eq!((rows.records.len(), rows.unreadable, facts.ends), (1, 1, false));
        assert!(facts.missing[1].contains("no time-taken"), "{:?}", facts.missing);
    }
}
