//! vegeta JSON: a result per line.

use super::vegeta::{self, Hit, Hits};
use crate::lines::Lines;
use crate::stamps::{Day, Shape, StampReader};
use crate::{Error, Facts, Format, Options, Reader, Rows};
use jiff::tz::TimeZone;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

/// vegeta JSON.
pub struct VegetaJson;

impl Format for VegetaJson {
    fn name(&self) -> &'static str {
        "vegeta-json"
    }

    fn about(&self) -> &'static str {
        "vegeta encode --to json"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
        // A body may be longer than what is looked at.
        serde_json::from_slice::<Line>(first).is_ok()
            || (first.starts_with(b"{\"attack\":") && first.len() == head.len())
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        let stamps = StampReader::new(Shape::Date(Day::Ymd), TimeZone::UTC, b"");
        Ok(Box::new(VegetaJsonReader { passed: 0, hits: Hits::default(), stamps }))
    }
}

struct VegetaJsonReader {
    passed: u64,
    hits: Hits,
    stamps: StampReader,
}

#[derive(Deserialize)]
struct Line<'a> {
    seq: u64,
    code: u16,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    latency: i64,
    bytes_out: u64,
    bytes_in: u64,
    #[serde(borrow, default)]
    error: Cow<'a, str>,
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

impl Reader for VegetaJsonReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(raw) = lines.next() {
            let Ok(line) = serde_json::from_slice::<Line>(raw) else {
                rows.bad(lines.line(), raw, "a result of vegeta, an object on one line");
                continue;
            };
            let hit = self.stamps.read(line.timestamp.as_bytes()).map(|timestamp| Hit {
                timestamp: timestamp.0,
                latency: line.latency,
                code: line.code,
                bytes_out: line.bytes_out,
                bytes_in: line.bytes_in,
                seq: line.seq,
                error: line.error.as_bytes(),
                method: line.method.as_bytes(),
                url: line.url.as_bytes(),
            });
            if !hit.is_some_and(|hit| self.hits.push(&hit, rows)) {
                rows.bad(lines.line(), raw, vegeta::BOUNDS);
            }
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        vegeta::facts("vegeta JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Nanos, Outcome, Record};

    const GOOD: &str = r#"{"attack":"demo","seq":7,"code":200,"timestamp":"2026-11-21T09:07:40.129097711Z","latency":845297,"bytes_out":0,"bytes_in":100,"error":"","body":"MDEy","method":"GET","url":"http://127.0.0.1:19300/","headers":{"Content-Length":["100"]}}"#;

    fn read(text: &str) -> Rows {
        let mut rows = Rows::default();
        let mut reader = VegetaJson.reader(Path::new("v.json"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_become_records() {
        let failed = r#"{"attack":"","seq":8,"code":0,"timestamp":"2026-11-21T10:07:40.2+01:00","latency":30000000000,"bytes_out":0,"bytes_in":0,"error":"Get \"http://h/\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)","body":null,"method":"POST","url":"http://127.0.0.1:19300/","headers":null}"#;
        let rows = read(&format!("{GOOD}\n{failed}\n"));
        let at = Nanos(1_795_252_060_129_097_711);
        let first =
            Record { k: 7, status: 200, bytes_received: 100, ..request::between(0, at, at + Nanos(845_297)) };
        let at = Nanos(1_795_252_060_200_000_000);
        let second = Record {
            k: 8,
            step: 1,
            outcome: Outcome::Timeout,
            repeat: 1,
            ..request::between(0, at, at + Nanos::from_secs(30))
        };
        assert_eq!(rows.records, [first, second]);
        assert_eq!(
            rows.tables.labels.as_slice(),
            ["GET http://127.0.0.1:19300/", "POST http://127.0.0.1:19300/"]
        );
        assert_eq!(rows.unreadable, 0);
        let said = &rows.tables.messages.as_slice()[0];
        assert!(said.starts_with("Get \"http://h/\": context deadline exceeded"), "{said}");
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let rows = read(&format!("{GOOD}\n{}\n{}\n", GOOD.replace("2026", "1026"), &GOOD[..90]));
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (1, vec![2, 3]));
    }

    #[test]
    fn other_json_is_not_taken_for_it() {
        assert!(VegetaJson.recognise(GOOD.as_bytes()));
        assert!(VegetaJson.recognise(&GOOD.as_bytes()[..100]));
        assert!(!VegetaJson.recognise(b"{\"seq\":1,\"timestamp\":\"2026-11-21T09:07:40Z\"}\n"));
    }
}
