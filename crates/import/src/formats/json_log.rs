//! Access logs with one JSON object a line, whose keys are known by server: Caddy, Traefik, Cloudflare.
//!
//! Keys may stand in any order, and others among them. One table says for each server which key holds what. Deliberately absent: JSON
//! that a format string spells (`access_log` has that), and headers.

use crate::formats::request;
use crate::lines::Lines;
use crate::numbers::places;
use crate::outcome;
use crate::stamps::{self, EXPECTED, Shape, StampReader};
use crate::{Error, Facts, Format, Options, Outcomes, Reader, Rows, Stamps};
use headway_base::{Nanos, Outcome};
use jiff::tz::TimeZone;
use memchr::memchr;
use serde_json::{Map, Value};
use std::path::Path;

/// JSON access logs.
pub struct JsonLog;

/// Which key holds what; a dot goes into an object.
struct Layout {
    name: &'static str,
    /// All of these are in a line of it.
    marks: &'static [&'static str],
    start: &'static str,
    end: &'static str,
    /// The time taken, and what one of it is in nanoseconds.
    took: &'static str,
    took_ns: f64,
    method: &'static str,
    path: &'static str,
    status: &'static str,
    bytes: &'static str,
}

/// The servers.
static ALL: [Layout; 3] = [
    Layout {
        name: "Caddy access log",
        marks: &["ts", "duration", "request.method", "request.uri", "status"],
        start: "",
        end: "ts",
        took: "duration",
        took_ns: 1e9,
        method: "request.method",
        path: "request.uri",
        status: "status",
        bytes: "size",
    },
    Layout {
        name: "Traefik access log",
        marks: &["StartUTC", "Duration", "RequestMethod", "RequestPath"],
        start: "StartUTC",
        end: "",
        took: "Duration",
        took_ns: 1.0,
        method: "RequestMethod",
        path: "RequestPath",
        status: "DownstreamStatus",
        bytes: "DownstreamContentSize",
    },
    Layout {
        name: "Cloudflare HTTP log",
        marks: &["EdgeStartTimestamp", "EdgeEndTimestamp"],
        start: "EdgeStartTimestamp",
        end: "EdgeEndTimestamp",
        took: "",
        took_ns: 1.0,
        method: "ClientRequestMethod",
        path: "ClientRequestPath|ClientRequestURI",
        status: "EdgeResponseStatus",
        bytes: "EdgeResponseBytes",
    },
];

type Object = Map<String, Value>;

/// What stands under a key; of several, divided by |, the first that is there.
fn get<'a>(object: &'a Object, keys: &str) -> Option<&'a Value> {
    keys.split('|').find_map(|key| {
        let mut path = key.split('.');
        let first = object.get(path.next()?)?;
        path.try_fold(first, |value, key| value.get(key))
    })
}

/// A text or a number, as it was written.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn parsed(line: &[u8]) -> Option<Object> {
    serde_json::from_slice(line).ok()
}

impl Layout {
    fn fits(&self, object: &Object) -> bool {
        self.marks.iter().all(|key| get(object, key).is_some())
    }
}

fn layout(line: &[u8]) -> Option<&'static Layout> {
    let object = parsed(line)?;
    ALL.iter().find(|layout| layout.fits(&object))
}

impl Format for JsonLog {
    fn name(&self) -> &'static str {
        "json-log"
    }

    fn about(&self) -> &'static str {
        "JSON access logs of Caddy, Traefik and Cloudflare, one object a line"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        // The first line may have lost its beginning in a rotation.
        let mut lines = Lines::new(head, true, 0);
        head.contains(&b'{') && std::iter::from_fn(|| lines.next()).take(3).any(|line| layout(line).is_some())
    }

    fn reader(&self, _: &Path, options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(JsonReader {
            layout: None,
            zone: options.zone.clone(),
            stamps: None,
            took_digit: None,
            statuses: false,
            lines: 0,
            k: 0,
        }))
    }
}

struct JsonReader {
    /// Once a line of it is there.
    layout: Option<&'static Layout>,
    zone: TimeZone,
    stamps: Option<StampReader>,
    /// The finest last digit of times taken.
    took_digit: Option<Nanos>,
    /// Whether a row has a status.
    statuses: bool,
    lines: u64,
    k: u64,
}

impl JsonReader {
    fn row(&mut self, line: &[u8], rows: &mut Rows) -> Result<(), String> {
        let object = parsed(line).ok_or("a JSON object on one line")?;
        let layout = match self.layout {
            Some(layout) => layout,
            None => {
                let found = ALL.iter().find(|layout| layout.fits(&object));
                *self.layout.insert(found.ok_or("the keys of an access log")?)
            }
        };
        let start = self.instant(&object, layout.start)?;
        let end = self.instant(&object, layout.end)?;
        let took = match get(&object, layout.took) {
            Some(value) => Some(
                self.took(value, layout)
                    .ok_or_else(|| format!("a time from 0 to a day as {}", layout.took))?,
            ),
            None => None,
        };
        let (started, done) = match (start, end, took) {
            (Some(start), Some(end), _) if start <= end => (start, end),
            (Some(start), None, Some(took)) => (start, start + took),
            (None, Some(end), Some(took)) => (end - took, end),
            (Some(_), Some(_), _) => return Err(format!("{} after {}", layout.end, layout.start)),
            _ => return Err(format!("all of {}", layout.marks.join(", "))),
        };
        stamps::span((done - started).0).ok_or("a time from 0 to a day between start and end")?;
        let number = |key| get(&object, key).and_then(Value::as_u64);
        let status = number(layout.status).and_then(|code| u16::try_from(code).ok());
        let mut record = request::between(rows.generator, started, done);
        record.k = self.k;
        record.status = status.unwrap_or(0);
        record.outcome = status.map_or(Outcome::Ok, outcome::from_status);
        record.bytes_received = number(layout.bytes).unwrap_or(0);
        let word = |key| get(&object, key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut label = word(layout.method).unwrap_or_default().to_owned();
        if let Some(path) = word(layout.path) {
            if !label.is_empty() {
                label.push(' ');
            }
            label.push_str(&path[..memchr(b'?', path.as_bytes()).unwrap_or(path.len())]);
        }
        record.step = rows.step(if label.is_empty() { b"request" } else { label.as_bytes() });
        self.statuses |= status.is_some();
        rows.records.push(record);
        self.k += 1;
        Ok(())
    }

    fn instant(&mut self, object: &Object, key: &str) -> Result<Option<Nanos>, String> {
        let Some(value) = get(object, key) else { return Ok(None) };
        let wrong = || format!("{EXPECTED} as {key}");
        let text = text(value).ok_or_else(wrong)?;
        let stamps = match &mut self.stamps {
            Some(stamps) => stamps,
            None => {
                let shape = Shape::guess(text.as_bytes()).ok_or_else(wrong)?;
                self.stamps.insert(StampReader::new(shape, self.zone.clone(), text.as_bytes()))
            }
        };
        stamps.read(text.as_bytes()).map(Some).ok_or_else(wrong)
    }

    fn took(&mut self, value: &Value, layout: &Layout) -> Option<Nanos> {
        let text = text(value)?;
        let ns = text.parse::<f64>().ok()? * layout.took_ns;
        let digit = layout.took_ns / 10f64.powi(places(text.as_bytes()).min(9) as i32);
        let digit = Nanos(digit.max(1.0) as i64);
        self.took_digit = Some(self.took_digit.map_or(digit, |known| known.min(digit)));
        stamps::span(ns.is_finite().then_some(ns.round() as i64)?)
    }
}

impl Reader for JsonReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(line) = lines.next() {
            if let Err(expected) = self.row(line, rows) {
                rows.bad(lines.line(), line, expected);
            }
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let by_end = self.layout.is_some_and(|layout| layout.start.is_empty());
        let mut resolution = self.stamps.as_ref().map_or(Nanos::from_millis(1), StampReader::resolution);
        if by_end {
            resolution = resolution.max(self.took_digit.unwrap_or(Nanos(1)));
        }
        Facts {
            format: self.layout.map_or("JSON access log", |layout| layout.name).to_owned(),
            stamps: if by_end { Stamps::End } else { Stamps::Start },
            resolution,
            ends: true,
            bytes: self.layout.is_some_and(|layout| !layout.bytes.is_empty()),
            outcomes: match self.statuses {
                true => Outcomes::Some("what never reached the server is not in its log"),
                false => Outcomes::None,
            },
            missing: vec!["What never reached the server is not in its log.".to_owned()],
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

    /// Start since [`AT`] and response time in milliseconds, status, label.
    type Row = (i64, i64, u16, String);

    fn shown(text: &str) -> (Vec<Row>, Rows, Facts) {
        assert!(JsonLog.recognise(text.as_bytes()), "{text}");
        let (rows, facts) = read_all(&JsonLog, text.as_bytes(), &Options::default());
        let label = |step: u16| rows.tables.labels.as_slice()[usize::from(step)].clone();
        let shown = rows
            .records
            .iter()
            .map(|r| ((r.intended.0 - AT) / MS, r.response().0 / MS, r.status, label(r.step)))
            .collect();
        (shown, rows, facts)
    }

    #[test]
    fn caddy_stamps_ends_in_seconds() {
        let text = r#"{"level":"info","ts":1700000000.018,"logger":"http.log.access.log0","msg":"handled request","request":{"proto":"HTTP/2.0","method":"GET","uri":"/cart?a=b"},"duration":0.003,"size":12,"status":200}
{"status":502,"duration":1.5e-05,"request":{"uri":"/x","method":"POST"},"ts":1700000001.5,"size":0}
{"level":"error","ts":1700000001.6,"msg":"no row"}
"#;
        let (shown, rows, facts) = shown(text);
        let row = |at, took, status, label: &str| (at, took, status, label.to_owned());
        assert_eq!(shown, [row(15, 3, 200, "GET /cart"), row(1_499, 0, 502, "POST /x")]);
        assert_eq!((rows.unreadable, rows.records[1].outcome), (1, Outcome::Status));
        assert_eq!((facts.format.as_str(), facts.stamps), ("Caddy access log", Stamps::End));
        assert_eq!(facts.resolution, Nanos::from_millis(1));
    }

    #[test]
    fn traefik_stamps_starts_to_the_nanosecond() {
        let text = r#"{"ClientAddr":"10.0.0.1:1","DownstreamContentSize":13,"DownstreamStatus":200,"Duration":2500000,"RequestMethod":"GET","RequestPath":"/","StartLocal":"2023-11-14T23:13:20.007000001+01:00","StartUTC":"2023-11-14T22:13:20.007000001Z","time":"2023-11-14T22:13:20Z"}"#;
        let (shown, _, facts) = shown(text);
        assert_eq!(shown, [(7, 2, 200, "GET /".to_owned())]);
        assert_eq!((facts.stamps, facts.resolution), (Stamps::Start, Nanos(1)));
    }

    #[test]
    fn cloudflare_has_both_ends_in_any_notation() {
        for (start, end) in [
            ("1700000000007000000", "1700000000009000000"),
            ("\"2023-11-14T22:13:20.007Z\"", "\"2023-11-14T22:13:20.009Z\""),
        ] {
            let text = format!(
                "{{\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/a?b\",\"EdgeEndTimestamp\":{end},\"EdgeResponseBytes\":9,\
                 \"EdgeResponseStatus\":200,\"EdgeStartTimestamp\":{start}}}"
            );
            assert_eq!(shown(&text).0, [(7, 2, 200, "GET /a".to_owned())], "{start}");
        }
    }

    #[test]
    fn other_json_is_none() {
        for text in
            ["{}", "{\"ts\":1700000000,\"duration\":1}", "[1]", "{\"metrics\":{}}\n{\"type\":\"Point\"}"]
        {
            assert!(!JsonLog.recognise(text.as_bytes()), "{text}");
        }
    }
}
