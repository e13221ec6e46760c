//! hey `-o csv`: response time, the parts of it, status, and the start as an offset from hey's own start; seconds with four decimals, in the
//! order of the ends.
//!
//! Only requests that were answered are in it, and of these the first million (`maxRes` in hey). The parts are not read: their sums are
//! off by several steps of the clock.

use super::{oha_csv, request};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::{decimal, int};
use crate::outcome;
use crate::stamps::span;
use crate::{Clock, Error, Facts, Format, Options, Reader, Rows};
use headway_base::{Nanos, Record};
use std::path::Path;

/// hey's CSV.
pub struct HeyCsv;

const HEADER: &[u8] =
    b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";

impl Format for HeyCsv {
    fn name(&self) -> &'static str {
        "hey-csv"
    }

    fn about(&self) -> &'static str {
        "hey -o csv"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.starts_with(HEADER)
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(HeyCsvReader { csv: Csv::new(b','), passed: 0 }))
    }
}

struct HeyCsvReader {
    csv: Csv,
    passed: u64,
}

const EXPECTED: &str = "eight fields: times in seconds, 0 to a day, with the status before the last";

fn record(fields: &Fields<'_>, shard: u16) -> Option<Record> {
    let seconds = |i: usize| span(decimal(fields.get(i)?, 9)?);
    let (duration, started) = (seconds(0)?, seconds(7)?);
    let mut record = request::between(shard, started, started + duration);
    record.status = u16::try_from(int(fields.get(6)?)?).ok()?;
    record.outcome = outcome::from_status(record.status);
    (fields.len() == 8).then_some(record)
}

impl Reader for HeyCsvReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(fields) = self.csv.next(&mut lines) {
            if fields.raw() == HEADER {
                continue;
            }
            match record(&fields, rows.generator) {
                Some(mut record) => {
                    record.step = rows.step(oha_csv::LABEL);
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
            format: "hey CSV".to_owned(),
            resolution: Nanos::from_micros(100),
            clock: Clock::Relative,
            ends: true,
            outcomes: oha_csv::OUTCOMES,
            missing: vec![
                oha_csv::SUCCESSES_ONLY.to_owned(),
                "Of more than a million requests only the first million are in it.".to_owned(),
            ],
            ..Facts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use headway_base::Outcome;

    #[test]
    fn rows_become_records_and_others_are_counted_with_their_line() {
        let text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
                    0.0016,0.0002,0.0000,0.0001,0.0011,0.0002,200,0.0001\n\
                    0.0004,0.0000,0.0000,0.0000,0.0003,0.0000,500,1.0026\n\
                    0.0004,0,0,0,0,0,200\n\
                    -0.1,0,0,0,0,0,200,0.1\n";
        assert!(HeyCsv.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&HeyCsv, text.as_bytes(), &Options::default());
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
