//! Locust's `CsvRequestLogger` (`locust.contrib.csv_request_logger`, since 2.44): one row a request, in the order of the
//! ends; the stamp is the start, in seconds. Locust's own `--csv` holds no requests: see `refused`.

use super::request;
use crate::error::Error;
use crate::format::{Facts, Format, Reader};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers;
use crate::options::Options;
use crate::outcome;
use crate::rows::Rows;
use crate::stamps;
use headway_base::{Nanos, Outcome, Record};
use std::path::Path;

/// Locust's request log.
pub struct LocustRequests;

const HEADER: &[u8] = b"timestamp,request_type,name,response_time_ms,response_length,status_code,exception";

impl Format for LocustRequests {
    fn name(&self) -> &'static str {
        "locust-requests"
    }

    fn about(&self) -> &'static str {
        "Locust with locust.contrib.csv_request_logger.CsvRequestLogger"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        Lines::new(head, true, 0).next() == Some(HEADER)
    }

    fn reader(&self, _path: &Path, _options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(Log { csv: Csv::new(b','), lines: 0, k: 0, label: Vec::new() }))
    }
}

struct Log {
    csv: Csv,
    lines: u64,
    k: u64,
    label: Vec<u8>,
}

impl Reader for Log {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(fields) = self.csv.next(&mut lines) {
            if fields.raw() == HEADER {
                // Files of several workers may have been put together.
                continue;
            }
            let Some(mut record) = row(&fields, rows.generator) else {
                let expected = "seven fields: seconds since 1970, type, name, up to a day in ms, bytes, status, exception";
                rows.bad(lines.line(), fields.raw(), expected);
                continue;
            };
            self.label.clear();
            self.label.extend_from_slice(fields.get(1).unwrap_or_default());
            self.label.push(b' ');
            self.label.extend_from_slice(fields.get(2).unwrap_or_default());
            record.step = rows.step(&self.label);
            if record.outcome != Outcome::Ok {
                record.repeat = rows.message(fields.get(6).unwrap_or_default());
            }
            record.k = self.k;
            self.k += 1;
            rows.records.push(record);
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        Facts {
            format: "Locust request log (CsvRequestLogger)".into(),
            tool: Some("Locust".into()),
            resolution: Nanos::from_micros(1),
            ends: true,
            bytes: true,
            missing: vec![
                "Which user sent a request is not in it.".into(),
                "A client of one's own that reports no start_time is stamped with the end; such rows look like the others.".into(),
            ],
            ..Facts::default()
        }
    }
}

fn row(fields: &Fields<'_>, generator: u16) -> Option<Record> {
    if fields.len() != 7 {
        return None;
    }
    let started = stamps::unix(numbers::decimal(fields.get(0)?, 9)?)?;
    let took = stamps::span(numbers::decimal(fields.get(3)?, 6)?)?;
    let mut record = request::between(generator, started, started + took);
    record.bytes_received = u64::try_from(numbers::int(fields.get(4)?)?).ok()?;
    record.status = u16::try_from(numbers::int(fields.get(5)?)?).ok()?;
    let exception = fields.get(6)?;
    record.outcome = match record.status {
        // Protocols without status codes have 0 there too.
        _ if exception.is_empty() => Outcome::Ok,
        0 => outcome::from_error_text(exception),
        400.. => Outcome::Status,
        _ => Outcome::Check,
    };
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;

    #[test]
    fn rows_are_read() {
        let text = "timestamp,request_type,name,response_time_ms,response_length,status_code,exception\r\n\
                    1795265544.2,GET,/,3.25,3,200,\r\n\
                    1795265544.123456,POST,\"/a,b\",12.0,153,404,HTTPError('404')\r\n\
                    1795265545.5,GET,/,0.5,0,0,\"ConnectionRefusedError(111, 'Connection refused')\"\r\n\
                    1795265546.0,GET,/,0,9,200,\"too \"\"slow\"\"\r\nfor me\"\r\n\
                    1795265546.25,WS,chat,1e-05,0,0,";
        assert!(LocustRequests.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&LocustRequests, text.as_bytes(), &Options::default());
        let read: Vec<_> = rows
            .records
            .iter()
            .map(|r| (r.intended.0, r.response().0, r.bytes_received, r.status, r.outcome, r.step))
            .collect();
        assert_eq!(
            read,
            [
                (1_795_265_544_200_000_000, 3_250_000, 3, 200, Outcome::Ok, 0),
                (1_795_265_544_123_456_000, 12_000_000, 153, 404, Outcome::Status, 1),
                (1_795_265_545_500_000_000, 500_000, 0, 0, Outcome::Refused, 0),
                (1_795_265_546_000_000_000, 0, 9, 200, Outcome::Check, 0),
                (1_795_265_546_250_000_000, 10, 0, 0, Outcome::Ok, 2),
            ]
        );
        assert_eq!(rows.tables.labels.as_slice(), ["GET /", "POST /a,b", "WS chat"]);
        assert_eq!((facts.resolution, facts.users), (Nanos(1000), false));
    }

    #[test]
    fn what_is_no_row_is_said() {
        let text = b"timestamp,request_type,name,response_time_ms,response_length,status_code,exception\n\
                     1795265544.2,GET,/,3.25,3,200,\n\
                     1795265544.2,GET,/,,3,200,\n\
                     1795265544.2,GET,/,3.25,-3,200,\n\
                     44.2,GET,/,3.25,3,200,\n\
                     1795265544.2,GET,/,3.25,3,99999,\n\
                     1795265544.2,GET";
        let (rows, _) = read_all(&LocustRequests, text, &Options::default());
        assert_eq!((rows.records.len(), rows.unreadable, rows.examples[0].line), (1, 5, 3));
    }
}
