//! oha `--output-format csv`: start, DNS, DNS and connecting, time to the first byte, duration, bytes, status; seconds
//! since oha's own start, in the order of the starts.
//!
//! Only requests that were answered are in it. Times to the first byte count from the actual start, durations too unless
//! oha ran with `--latency-correction`: then they count from when the request was due, which the file does not tell.

use super::request;
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::{decimal, int};
use crate::outcome;
use crate::stamps::span;
use crate::{Clock, Error, Facts, Format, Options, Outcomes, Reader, Rows};
use headway_base::{Nanos, Record};
use std::path::Path;

/// oha's CSV.
pub struct OhaCsv;

const HEADER: &[u8] = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";
/// What oha's files do not tell, in either format.
pub(super) const SUCCESSES_ONLY: &str = "Requests that got no answer are not in it.";
pub(super) const OUTCOMES: Outcomes = Outcomes::Some("requests that got no answer are not in the file");
/// The label where rows name no target.
pub(super) const LABEL: &[u8] = b"request";

impl Format for OhaCsv {
    fn name(&self) -> &'static str {
        "oha-csv"
    }

    fn about(&self) -> &'static str {
        "oha --output-format csv -o FILE"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.starts_with(HEADER)
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(OhaCsvReader { csv: Csv::new(b','), passed: 0 }))
    }
}

struct OhaCsvReader {
    csv: Csv,
    passed: u64,
}

const EXPECTED: &str = "start, DNS, DNS+dialup, delay and duration in seconds, 0 to a day; bytes; status";

fn record(fields: &Fields<'_>, shard: u16) -> Option<Record> {
    let seconds = |i: usize| span(decimal(fields.get(i)?, 9)?);
    let (started, dns_and_connect, delay, duration) = (seconds(0)?, seconds(2)?, seconds(3)?, seconds(4)?);
    seconds(1)?;
    let mut record = request::between(shard, started, started + duration);
    record.bytes_received = u64::try_from(int(fields.get(5)?)?).ok()?;
    record.status = u16::try_from(int(fields.get(6)?)?).ok()?;
    record.outcome = outcome::from_status(record.status);
    record.reused = dns_and_connect == Nanos::ZERO;
    record.connect = (!record.reused).then_some(dns_and_connect).into();
    // Zero stands for none.
    record.first_byte = (delay > Nanos::ZERO && delay <= duration).then_some(started + delay).into();
    (fields.len() == 7).then_some(record)
}

impl Reader for OhaCsvReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(fields) = self.csv.next(&mut lines) {
            if fields.raw() == HEADER {
                continue;
            }
            match record(&fields, rows.generator) {
                Some(mut record) => {
                    record.step = rows.step(LABEL);
                    rows.records.push(record);
                }
                None => rows.bad(lines.line(), fields.raw(), EXPECTED),
            }
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        Facts {
            format: "oha CSV".to_owned(),
            resolution: Nanos(1),
            clock: Clock::Relative,
            ends: true,
            bytes: true,
            outcomes: OUTCOMES,
            missing: vec![
                SUCCESSES_ONLY.to_owned(),
                "With --latency-correction its durations count from when requests were due; it does not say which."
                    .to_owned(),
            ],
            ..Facts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;

    fn read(rest: &str) -> Rows {
        let text = [HEADER, b"\n", rest.as_bytes()].concat();
        assert!(OhaCsv.recognise(&text));
        let mut rows = Rows { generator: 1, ..Rows::default() };
        let mut reader = OhaCsv.reader(Path::new("o.csv"), &Options::default()).unwrap();
        assert_eq!(reader.read(&text, true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_become_records() {
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
}
