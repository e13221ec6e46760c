//! CSV with a row per answered request, times in seconds, which hey and oha write: one reader, a table of places for each.
//!
//! Only requests that were answered are in these files, of hey the first million (`maxRes`).

use super::request;
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::{decimal, int};
use crate::outcome;
use crate::stamps::span;
use crate::{Clock, Error, Facts, Format, Options, Outcomes, Reader, Rows};
use headway_base::{Nanos, Record};
use std::path::Path;

/// What oha's files do not tell, in either format.
pub(super) const SUCCESSES_ONLY: &str = "Requests that got no answer are not in it.";
pub(super) const OUTCOMES: Outcomes = Outcomes::Some("requests that got no answer are not in the file");
/// The label where rows name no target.
pub(super) const LABEL: &[u8] = b"request";

/// Such a format: what stands where.
#[derive(Clone, Copy)]
pub struct AnsweredCsv {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    header: &'static [u8],
    /// Number of fields.
    fields: usize,
    expected: &'static str,
    resolution: Nanos,
    /// What the file lacks, in addition to requests without an answer.
    missing: &'static str,
    /// Since the tool's own start.
    start: usize,
    duration: usize,
    status: usize,
    more: Option<More>,
}

/// Columns which oha alone writes.
#[derive(Clone, Copy)]
struct More {
    dns: usize,
    dns_and_connect: usize,
    /// From the start to the first byte; zero stands for none.
    delay: usize,
    bytes: usize,
}

/// hey `-o csv`: four decimals, in the order of the ends. The parts of a time are not read: their sums are off by several steps of the
/// clock.
pub static HEY: AnsweredCsv = AnsweredCsv {
    name: "hey-csv",
    about: "hey -o csv",
    title: "hey CSV",
    header: b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset",
    fields: 8,
    expected: "eight fields: times in seconds, 0 to a day, with the status before the last",
    resolution: Nanos::from_micros(100),
    missing: "Of more than a million requests only the first million are in it.",
    start: 7,
    duration: 0,
    status: 6,
    more: None,
};

/// oha `--output-format csv`, in the order of the starts. Times to the first byte count from the actual start, durations too unless
/// oha ran with `--latency-correction`: then they count from when the request was due, which the file does not tell.
pub static OHA: AnsweredCsv = AnsweredCsv {
    name: "oha-csv",
    about: "oha --output-format csv -o FILE",
    title: "oha CSV",
    header: b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status",
    fields: 7,
    expected: "start, DNS, DNS+dialup, delay and duration in seconds, 0 to a day; bytes; status",
    resolution: Nanos(1),
    missing: "With --latency-correction its durations count from when requests were due; it does not say which.",
    start: 0,
    duration: 4,
    status: 6,
    more: Some(More { dns: 1, dns_and_connect: 2, delay: 3, bytes: 5 }),
};

impl Format for AnsweredCsv {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.starts_with(self.header)
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(AnsweredReader { format: *self, csv: Csv::new(b','), passed: 0 }))
    }
}

impl AnsweredCsv {
    fn record(&self, fields: &Fields<'_>, shard: u16) -> Option<Record> {
        let seconds = |i: usize| span(decimal(fields.get(i)?, 9)?);
        let (started, duration) = (seconds(self.start)?, seconds(self.duration)?);
        let mut record = request::between(shard, started, started + duration);
        record.status = u16::try_from(int(fields.get(self.status)?)?).ok()?;
        record.outcome = outcome::from_status(record.status);
        if let Some(more) = &self.more {
            let (dns_and_connect, delay) = (seconds(more.dns_and_connect)?, seconds(more.delay)?);
            seconds(more.dns)?;
            record.bytes_received = u64::try_from(int(fields.get(more.bytes)?)?).ok()?;
            record.reused = dns_and_connect == Nanos::ZERO;
            record.connect = (!record.reused).then_some(dns_and_connect).into();
            record.first_byte = (delay > Nanos::ZERO && delay <= duration).then_some(started + delay).into();
        }
        (fields.len() == self.fields).then_some(record)
    }
}

struct AnsweredReader {
    format: AnsweredCsv,
    csv: Csv,
    passed: u64,
}

impl Reader for AnsweredReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(fields) = self.csv.next(&mut lines) {
            if fields.raw() == self.format.header {
                continue;
            }
            match self.format.record(&fields, rows.generator) {
                Some(mut record) => {
                    record.step = rows.step(LABEL);
                    rows.records.push(record);
                }
                None => rows.bad(lines.line(), fields.raw(), self.format.expected),
            }
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        Facts {
            format: self.format.title.to_owned(),
            resolution: self.format.resolution,
            clock: Clock::Relative,
            ends: true,
            bytes: self.format.more.is_some(),
            outcomes: OUTCOMES,
            missing: vec![SUCCESSES_ONLY.to_owned(), self.format.missing.to_owned()],
            ..Facts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use headway_base::Outcome;

    fn read(rest: &str) -> Rows {
        let text = [OHA.header, b"\n", rest.as_bytes()].concat();
        assert!(OHA.recognise(&text));
        let mut rows = Rows { generator: 1, ..Rows::default() };
        let mut reader = OHA.reader(Path::new("o.csv"), &Options::default()).unwrap();
        assert_eq!(reader.read(&text, true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_of_oha_become_records() {
        let rows = read(
            "0.000552177,0.000053338,0.000251581,0.000403909,0.000404805,11,200\n1.00109481,0,0,0.00002,0.00001,3,500\n",
        );
        let at = Nanos(552_177);
        let first = Record {
            status: 200,
            bytes_received: 11,
            connect: Nanos(251_581).into(),
            first_byte: (at + Nanos(403_909)).into(),
            ..request::between(1, at, at + Nanos(404_805))
        };
        let at = Nanos(1_001_094_810);
        let second = Record {
            status: 500,
            outcome: Outcome::Status,
            bytes_received: 3,
            reused: true,
            ..request::between(1, at, at + Nanos(10_000))
        };
        assert_eq!(rows.records, [first, second]);
        assert_eq!(rows.tables.labels.as_slice(), ["request"]);
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let rows =
            read("0.1,0,0,0.1,-0.1,11,200\n0.1,0,0,0.1,0.1,11,200,7\n1795265493,0,0,0,0,1,200\n0.1,0,0,0.1");
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (0, vec![2, 3, 4, 5]));
    }

    #[test]
    fn rows_of_hey_become_records_and_others_are_counted_with_their_line() {
        let text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
                    0.0016,0.0002,0.0000,0.0001,0.0011,0.0002,200,0.0001\n\
                    0.0004,0.0000,0.0000,0.0000,0.0003,0.0000,500,1.0026\n\
                    0.0004,0,0,0,0,0,200\n\
                    -0.1,0,0,0,0,0,200,0.1\n";
        assert!(HEY.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&HEY, text.as_bytes(), &Options::default());
        let at = |us: i64, took: i64, status: u16, outcome: Outcome| {
            let (start, end) = (Nanos::from_micros(us), Nanos::from_micros(us + took));
            (start, end, status, outcome)
        };
        let seen: Vec<_> = rows.records.iter().map(|r| (r.intended, r.done, r.status, r.outcome)).collect();
        assert_eq!(seen, [at(100, 1_600, 200, Outcome::Ok), at(1_002_600, 400, 500, Outcome::Status)]);
        assert_eq!(rows.examples.iter().map(|e| e.line).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(facts.resolution, Nanos(100_000));
    }
}
