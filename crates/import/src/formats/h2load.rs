//! h2load's `--log-file`: start in microseconds since the epoch, status (-1 for a failed stream), microseconds until the
//! end of the answer, separated by tabs; more columns may come and are not read (tried with nghttp2 1.52.0: requests
//! whose connection could not be opened, or broke before the answer, are not in the file).

use super::request;
use crate::error::Error;
use crate::format::{Facts, Format, Outcomes, Reader};
use crate::lines::Lines;
use crate::numbers;
use crate::options::Options;
use crate::outcome;
use crate::rows::Rows;
use crate::stamps;
use headway_base::{Nanos, Record};
use std::path::Path;

/// h2load's log file.
pub struct H2load;

impl Format for H2load {
    fn name(&self) -> &'static str {
        "h2load"
    }

    fn about(&self) -> &'static str {
        "h2load --log-file=FILE"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let line = Lines::new(head, true, 0).next();
        line.is_some_and(|line| {
            line.split(|&b| b == b'\t').next().is_some_and(|first| first.len() == 16)
                && row(line, 0).is_some()
        })
    }

    fn reader(&self, _path: &Path, _options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(Log::default()))
    }
}

#[derive(Default)]
struct Log {
    lines: u64,
    k: u64,
}

impl Reader for Log {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(line) = lines.next() {
            let Some(mut record) = row(line, rows.generator) else {
                rows.bad(
                    lines.line(),
                    line,
                    "microseconds since 1970, a status or -1, and up to a day in microseconds, between tabs",
                );
                continue;
            };
            record.k = self.k;
            record.step = rows.step(b"request");
            self.k += 1;
            rows.records.push(record);
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        Facts {
            format: "h2load log".into(),
            tool: Some("h2load".into()),
            resolution: Nanos::from_micros(1),
            ends: true,
            outcomes: Outcomes::Some(
                "requests whose connection could not be opened, or broke, are not in the file",
            ),
            missing: vec!["Requests whose connection could not be opened, or broke, are not in it.".into()],
            ..Facts::default()
        }
    }
}

fn row(line: &[u8], generator: u16) -> Option<Record> {
    let mut fields = line.split(|&b| b == b'\t');
    let mut number = || numbers::int(fields.next()?);
    let (start_us, status, took_us) = (number()?, number()?, number()?);
    let status = match status {
        -1 => 0,
        100..1000 => status as u16,
        _ => return None,
    };
    let started = stamps::unix(start_us.checked_mul(1000)?)?;
    let mut record =
        request::between(generator, started, started + stamps::span(took_us.checked_mul(1000)?)?);
    record.status = status;
    record.outcome = outcome::from_status(status);
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use headway_base::Outcome;

    #[test]
    fn rows_are_read() {
        let text = b"1795265914787679\t200\t139\n1795265914787682\t404\t154\tmore\n1795265914787000\t-1\t0";
        assert!(H2load.recognise(text));
        let (rows, facts) = read_all(&H2load, text, &Options::default());
        let read: Vec<_> =
            rows.records.iter().map(|r| (r.k, r.intended.0, r.response().0, r.status, r.outcome)).collect();
        assert_eq!(
            read,
            [
                (0, 1_795_265_914_787_679_000, 139_000, 200, Outcome::Ok),
                (1, 1_795_265_914_787_682_000, 154_000, 404, Outcome::Status),
                (2, 1_795_265_914_787_000_000, 0, 0, Outcome::Reset),
            ]
        );
        assert_eq!(rows.tables.labels.as_slice(), ["request"]);
        assert_eq!((facts.resolution, facts.ends, facts.users), (Nanos(1000), true, false));
    }

    #[test]
    fn what_is_no_row_is_said() {
        let text = b"1795265914787679\t200\t139\n1795265914787679\t200\n1795265914787679\t7\t1\n-1795265914787679\t200\t1\n\
                     1795265914787679\t200\t-5\n1795265914787679\t200\t99999999999999\n99999999999999999\t200\t1\n";
        let (rows, _) = read_all(&H2load, text, &Options::default());
        assert_eq!((rows.records.len(), rows.unreadable), (1, 6));
        assert_eq!(rows.examples[0].line, 2);
        for other in ["", "1795265914787679 200 139", "1795265914787\t200\t139", "a\tb\tc"] {
            assert!(!H2load.recognise(other.as_bytes()), "{other}");
        }
    }
}
