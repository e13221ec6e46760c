//! k6 `--out json=...`: an object per line, samples (`"type":"Point"`) among descriptions of metrics. See `k6.rs`
//! for how samples make requests. Stamps are RFC 3339 with up to nine digits behind the second.

use super::k6::{Metric, Sample, Samples, Tags};
use crate::lines::Lines;
use crate::stamps::{Day, Shape, StampReader};
use crate::{Error, Facts, Format, Options, Reader, Rows};
use jiff::tz::TimeZone;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

/// k6 JSON.
pub struct K6Json;

impl Format for K6Json {
    fn name(&self) -> &'static str {
        "k6-json"
    }

    fn about(&self) -> &'static str {
        "k6 run --out json=FILE"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
        serde_json::from_slice::<Line>(first)
            .is_ok_and(|line| matches!(&*line.kind, "Point" | "Metric") && !line.metric.is_empty())
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(K6JsonReader { passed: 0, samples: Samples::default(), stamps: stamps() }))
    }
}

struct K6JsonReader {
    passed: u64,
    samples: Samples,
    stamps: StampReader,
}

fn stamps() -> StampReader {
    StampReader::new(Shape::Date(Day::Ymd), TimeZone::UTC, b"")
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    metric: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    data: Point<'a>,
}

/// Everything may be missing: descriptions have other fields.
#[derive(Deserialize)]
struct Point<'a> {
    #[serde(borrow, default)]
    time: Cow<'a, str>,
    #[serde(default)]
    value: Option<f64>,
    #[serde(borrow, default)]
    tags: Option<TagFields<'a>>,
    #[serde(borrow, default)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TagFields<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    error_code: Cow<'a, str>,
    #[serde(borrow)]
    expected_response: Cow<'a, str>,
    #[serde(borrow)]
    scenario: Cow<'a, str>,
    /// A tag before k6 0.40.
    #[serde(borrow)]
    vu: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata<'a> {
    #[serde(borrow)]
    vu: Cow<'a, str>,
}

fn tags<'t>(point: &'t Point<'_>) -> Tags<'t> {
    let mut tags = Tags::default();
    if let Some(fields) = &point.tags {
        tags = Tags {
            name: fields.name.as_bytes(),
            url: fields.url.as_bytes(),
            status: fields.status.as_bytes(),
            error: fields.error.as_bytes(),
            error_code: fields.error_code.as_bytes(),
            expected: fields.expected_response.as_bytes(),
            scenario: fields.scenario.as_bytes(),
            vu: fields.vu.as_bytes(),
        };
    }
    if let Some(metadata) = &point.metadata
        && !metadata.vu.is_empty()
    {
        tags.vu = metadata.vu.as_bytes();
    }
    tags
}

impl Reader for K6JsonReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(raw) = lines.next() {
            let number = lines.line();
            let Ok(line) = serde_json::from_slice::<Line>(raw) else {
                rows.bad(number, raw, "a sample of k6, an object on one line");
                continue;
            };
            if line.kind != "Point" {
                continue;
            }
            let Some(end) = self.stamps.read(line.data.time.as_bytes()) else {
                rows.bad(number, raw, "data.time in RFC 3339, between 1990 and 2200");
                continue;
            };
            let sample = Sample {
                metric: Metric::of(line.metric.as_bytes()),
                end,
                value: line.data.value.map(|ms| (ms * 1e6).round() as i64),
            };
            self.samples.push((number, raw), sample, || tags(&line.data), rows);
        }
        if last {
            self.samples.finish(rows);
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        self.samples.facts("k6 JSON", self.stamps.resolution())
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Kind, Nanos, Outcome, Record};

    fn read(text: &str) -> (Rows, Facts) {
        let mut rows = Rows::default();
        let mut reader = K6Json.reader(Path::new("k6.json"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        (rows, reader.facts())
    }

    fn point(metric: &str, time: &str, value: &str, tags: &str) -> String {
        format!(
            "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"{time}\",\"value\":{value},{tags}}}}}\n"
        )
    }

    #[test]
    fn samples_become_records() {
        let time = "2026-11-21T12:51:36.68545036Z";
        let tags = r#""tags":{"error_code":"1500","expected_response":"false","group":"","method":"GET","name":"bad, \"quoted\"","scenario":"steady","status":"500","url":"http://h/"},"metadata":{"vu":"4","iter":"0"}"#;
        let mut text = r#"{"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":[],"submetrics":null},"metric":"http_reqs"}"#.to_owned() + "\n";
        for (metric, value) in [
            ("http_reqs", "1"),
            ("http_req_duration", "0.108965"),
            ("http_req_blocked", "0.002938"),
            ("http_req_connecting", "0"),
            ("http_req_tls_handshaking", "0"),
            ("http_req_sending", "0.022268"),
            ("http_req_waiting", "0.070992"),
            ("http_req_receiving", "0.015705"),
            ("http_req_failed", "1"),
        ] {
            text += &point(metric, time, value, tags);
        }
        text += &point("my_trend", time, "-5", "\"tags\":null");
        text += &point("iteration_duration", time, "1e3", r#""tags":{"scenario":"steady"}"#);
        let (rows, facts) = read(&text);
        let end = Nanos(1_795_265_496_685_450_360);
        let request = Record {
            status: 500,
            outcome: Outcome::Status,
            sent: (end - Nanos(108_965)).into(),
            first_byte: (end - Nanos(15_705)).into(),
            reused: true,
            ..request::between(0, end - Nanos(108_965 + 2_938), end)
        };
        let session =
            Record { kind: Kind::Session, step: 1, ..request::between(0, end - Nanos::from_secs(1), end) };
        assert_eq!(rows.records, [request, session]);
        assert_eq!(rows.tables.labels.as_slice(), ["bad, \"quoted\"", "steady"]);
        assert_eq!(rows.tables.users.as_slice(), ["4"]);
        assert_eq!(rows.unreadable, 0, "{:?}", rows.examples);
        assert!(facts.users && facts.sessions);
        assert_eq!(facts.resolution, Nanos(10));
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let text = [
            point("http_req_waiting", "2026-11-21T12:51:36Z", "1", "\"tags\":{}"),
            point("http_req_duration", "2026-11-21T12:51:36.5Z", "1", "\"tags\":{}")
                + &point("http_req_blocked", "2026-11-21T12:51:36.5Z", "0", "\"tags\":{}"),
            point("http_reqs", "yesterday", "1", "\"tags\":{}"),
            point("http_req_duration", "2026-11-21T12:51:37Z", "99999999999", "\"tags\":{}"),
            "{\"metric\":\"http_reqs\",\"type\":\"Po".to_owned(),
        ];
        let (rows, _) = read(&text.concat());
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!(at, [4, 5, 6, 1]);
        assert_eq!(rows.records.len(), 1);
    }

    #[test]
    fn other_json_is_not_taken_for_it() {
        assert!(K6Json.recognise(point("x", "", "1", "\"tags\":{}").as_bytes()));
        assert!(!K6Json.recognise(b"{\"metric\":\"x\",\"type\":\"Gauge\",\"data\":{}}\n"));
        assert!(!K6Json.recognise(b"{\"attack\":\"demo\",\"seq\":0,\"code\":200}\n"));
    }
}
