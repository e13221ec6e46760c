//! vegeta CSV, without a header: timestamp, code, latency, bytes out, bytes in, error, body, attack, seq, method, URL,
//! headers; the body and the headers in base64. Older files end with `seq`.

use super::vegeta::{self, Hit, Hits};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::int;
use crate::{Error, Facts, Format, Options, Reader, Rows};
use std::path::Path;

/// vegeta CSV.
pub struct VegetaCsv;

/// Columns: all of them, and those of older files.
const COLUMNS: [usize; 2] = [12, 9];

impl Format for VegetaCsv {
    fn name(&self) -> &'static str {
        "vegeta-csv"
    }

    fn about(&self) -> &'static str {
        "vegeta encode --to csv"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let mut csv = Csv::new(b',');
        let complete = head.contains(&b'\n');
        csv.next(&mut Lines::new(head, !complete, 0)).is_some_and(|fields| {
            COLUMNS.contains(&fields.len())
                && fields.get(0).is_some_and(|stamp| matches!(stamp.len(), 18 | 19))
                && hit(&fields).is_some()
        })
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(VegetaCsvReader { csv: Csv::new(b','), passed: 0, hits: Hits::default() }))
    }
}

struct VegetaCsvReader {
    csv: Csv,
    passed: u64,
    hits: Hits,
}

fn hit<'a>(fields: &Fields<'a>) -> Option<Hit<'a>> {
    if !COLUMNS.contains(&fields.len()) {
        return None;
    }
    let count = |i: usize| int(fields.get(i)?).and_then(|n| u64::try_from(n).ok());
    Some(Hit {
        timestamp: int(fields.get(0)?)?,
        code: u16::try_from(count(1)?).ok()?,
        latency: int(fields.get(2)?)?,
        bytes_out: count(3)?,
        bytes_in: count(4)?,
        error: fields.get(5)?,
        seq: count(8)?,
        method: fields.get(9).unwrap_or_default(),
        url: fields.get(10).unwrap_or_default(),
    })
}

impl Reader for VegetaCsvReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(fields) = self.csv.next(&mut lines) {
            match hit(&fields) {
                None => rows.bad(
                    lines.line(),
                    fields.raw(),
                    "12 columns: timestamp, code, latency, bytes out, bytes in, error, body, attack, seq, method, URL, \
                     headers",
                ),
                Some(hit) if self.hits.push(&hit, rows) => {}
                Some(_) => rows.bad(lines.line(), fields.raw(), vegeta::BOUNDS),
            }
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        vegeta::facts("vegeta CSV")
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Nanos, Outcome, Record};

    const GOOD: &str =
        "1795252060129097711,200,845297,17,100,,MDEy,demo,0,GET,http://127.0.0.1:19300/,Q29ubmVjdGlvbg==\n";

    fn read(text: &str) -> Rows {
        let mut rows = Rows { generator: 2, ..Rows::default() };
        let mut reader = VegetaCsv.reader(Path::new("v.csv"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_become_records() {
        let failed = "1795252060139148192,0,30000100,0,0,\"Get \"\"http://h/\"\": dial tcp 127.0.0.1:1: connect: connection refused\",,demo,1,GET,http://127.0.0.1:19300/,\n";
        let old = "1795252060149148192,503,5,0,0,503 Service Unavailable,,demo,2\n";
        let rows = read(&[GOOD, failed, old].concat());
        let at = Nanos(1_795_252_060_129_097_711);
        let first = Record {
            status: 200,
            bytes_sent: 17,
            bytes_received: 100,
            ..request::between(2, at, at + Nanos(845_297))
        };
        let at = Nanos(1_795_252_060_139_148_192);
        let second = Record {
            k: 1,
            outcome: Outcome::Refused,
            repeat: 1,
            ..request::between(2, at, at + Nanos(30_000_100))
        };
        let at = Nanos(1_795_252_060_149_148_192);
        let third = Record {
            k: 2,
            step: 1,
            status: 503,
            outcome: Outcome::Status,
            repeat: 2,
            ..request::between(2, at, at + Nanos(5))
        };
        assert_eq!(rows.records, [first, second, third]);
        assert_eq!(rows.tables.labels.as_slice(), ["GET http://127.0.0.1:19300/", ""]);
        assert_eq!(rows.unreadable, 0);
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let negative = GOOD.replacen("845297", "-1", 1);
        let seconds = GOOD.replacen("1795252060129097711", "1795252060", 1);
        let rows = read(&[GOOD, &negative, &seconds, "1795252060129097711,200,84"].concat());
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (1, vec![2, 3, 4]));
    }

    #[test]
    fn other_files_without_headers_are_not_taken_for_it() {
        assert!(VegetaCsv.recognise(GOOD.as_bytes()));
        assert!(
            !VegetaCsv
                .recognise(b"1331859604094,71,012_Home_jpg,200,OK,Thread Group 1-2,bin,true,141994,25\n")
        );
        assert!(!VegetaCsv.recognise(&GOOD.as_bytes()[3..]));
    }
}
