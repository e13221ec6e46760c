//! k6 `--out csv=...`: one row per sample (see `k6.rs` for how they make requests), columns by the header.
//!
//! The stamps are whole seconds unless `K6_CSV_TIME_FORMAT` says otherwise; the unit is seen from the digits.

use super::k6::{Metric, Sample, Samples, Tags, vu};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::decimal;
use crate::stamps::{Shape, StampReader};
use crate::{Error, Facts, Format, Options, Reader, Rows};
use headway_base::Nanos;
use jiff::tz::TimeZone;
use std::path::Path;

/// k6 CSV.
pub struct K6Csv;

impl Format for K6Csv {
    fn name(&self) -> &'static str {
        "k6-csv"
    }

    fn about(&self) -> &'static str {
        "k6 run --out csv=FILE, best with K6_CSV_TIME_FORMAT=unix_nano"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.starts_with(b"metric_name,timestamp,metric_value")
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(K6CsvReader {
            csv: Csv::new(b','),
            columns: None,
            passed: 0,
            samples: Samples::default(),
            stamps: None,
        }))
    }
}

struct K6CsvReader {
    csv: Csv,
    columns: Option<Columns>,
    passed: u64,
    samples: Samples,
    stamps: Option<StampReader>,
}

/// Where the tags are; [`ABSENT`] where they are not.
#[derive(Clone, Copy)]
struct Columns {
    width: usize,
    name: usize,
    url: usize,
    status: usize,
    error: usize,
    error_code: usize,
    expected: usize,
    scenario: usize,
    vu: usize,
    extra: usize,
    metadata: usize,
}

const ABSENT: usize = usize::MAX;

impl Columns {
    fn of(header: &Fields<'_>) -> Columns {
        let at = |name: &str| header.iter().position(|f| f == name.as_bytes()).unwrap_or(ABSENT);
        Columns {
            width: header.len(),
            name: at("name"),
            url: at("url"),
            status: at("status"),
            error: at("error"),
            error_code: at("error_code"),
            expected: at("expected_response"),
            scenario: at("scenario"),
            vu: at("vu"),
            extra: at("extra_tags"),
            metadata: at("metadata"),
        }
    }

    fn tags<'a>(&self, fields: &Fields<'a>) -> Tags<'a> {
        let field = |i: usize| fields.get(i).unwrap_or_default();
        let vu = [field(self.vu), vu(field(self.metadata)), vu(field(self.extra))];
        Tags {
            name: field(self.name),
            url: field(self.url),
            status: field(self.status),
            error: field(self.error),
            error_code: field(self.error_code),
            expected: field(self.expected),
            scenario: field(self.scenario),
            vu: vu.into_iter().find(|vu| !vu.is_empty()).unwrap_or_default(),
        }
    }
}

/// The instant, in the shape of the first.
#[inline]
fn stamp(stamps: &mut Option<StampReader>, text: &[u8]) -> Option<Nanos> {
    if stamps.is_none() {
        *stamps = Some(StampReader::new(Shape::guess(text)?, TimeZone::UTC, text));
    }
    stamps.as_mut()?.read(text)
}

impl Reader for K6CsvReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while let Some(fields) = self.csv.next(&mut lines) {
            let (line, raw) = (lines.line(), fields.raw());
            let Some(columns) = self.columns else {
                self.columns = Some(Columns::of(&fields));
                continue;
            };
            if fields.len() != columns.width {
                rows.bad(line, raw, format!("{} columns, as in the header", columns.width));
                continue;
            }
            let field = |i: usize| fields.get(i).unwrap_or_default();
            match stamp(&mut self.stamps, field(1)) {
                Some(end) => {
                    let sample = Sample { metric: Metric::of(field(0)), end, value: decimal(field(2), 6) };
                    self.samples.push((line, raw), sample, || columns.tags(&fields), rows);
                }
                // The headers of files put one behind the other.
                None if field(0) == b"metric_name" && field(1) == b"timestamp" => {
                    self.samples.close(rows);
                    self.columns = Some(Columns::of(&fields));
                }
                None => rows.bad(line, raw, "Unix s, ms, us or ns, or RFC 3339, as the timestamp"),
            }
        }
        if last {
            self.samples.finish(rows);
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let resolution = self.stamps.as_ref().map_or(Nanos::from_secs(1), StampReader::resolution);
        let finer = (resolution > Nanos(1)).then_some("K6_CSV_TIME_FORMAT=unix_nano");
        Facts { finer, ..self.samples.facts("k6 CSV", resolution) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Kind, Outcome, Record, Stamp};

    const HEADER: &str = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,\
                          name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n";

    fn read(text: &str) -> (Rows, Facts) {
        let mut rows = Rows { generator: 3, ..Rows::default() };
        let mut reader = K6Csv.reader(Path::new("k6.csv"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        (rows, reader.facts())
    }

    /// The rows of a request: duration, blocked, connecting, sending, waiting, receiving, failed.
    fn group(stamp: &str, values: [&str; 7], tags: &str) -> String {
        let [duration, blocked, connecting, sending, waiting, receiving, failed] = values;
        [
            ("http_reqs", "1.000000"),
            ("http_req_duration", duration),
            ("http_req_blocked", blocked),
            ("http_req_connecting", connecting),
            ("http_req_tls_handshaking", "0.000000"),
            ("http_req_sending", sending),
            ("http_req_waiting", waiting),
            ("http_req_receiving", receiving),
            ("http_req_failed", failed),
        ]
        .map(|(metric, value)| format!("{metric},{stamp},{value},{tags}\n"))
        .concat()
    }

    const GOOD: &str = ",,,true,,GET,http://h/,HTTP/1.1,steady,,200,,,http://h/,,";

    #[test]
    fn a_request_is_a_group_of_rows() {
        let times = ["2.009518", "3.169980", "2.850317", "1.706169", "0.214976", "0.088373", "0.000000"];
        let mut text = HEADER.to_owned();
        text += &group("1795265493655123679", times, GOOD);
        text += "data_sent,1795265493765521397,699.000000,,,,,,,,,steady,,,,,,,\n";
        text += "dropped_iterations,1795265493716944319,1.000000,,,,,,,,,steady,,,,,,,\n";
        text += "iteration_duration,1795265493765521397,115.528910,,,,,,,,,steady,,,,,,,iter=0&vu=7\n";
        let bad =
            ",dial: connection refused,1212,false,,GET,\"a \"\"b\"\"\",,steady,,0,,,http://h/b,,vu=7&iter=1";
        text += &group("1795265493765521398", ["0.000000"; 7].map(|z| z), bad);
        let (rows, facts) = read(&text);
        let end = Nanos(1_795_265_493_655_123_679);
        let start = end - Nanos(2_009_518 + 3_169_980);
        let mut first = request::between(3, start, end);
        first.status = 200;
        first.sent = (end - Nanos(2_009_518)).into();
        first.first_byte = (end - Nanos(88_373)).into();
        first.connect = Nanos(2_850_317).into();
        let end = Nanos(1_795_265_493_765_521_397);
        let session =
            Record { kind: Kind::Session, step: 1, ..request::between(3, end - Nanos(115_528_910), end) };
        let refused = Record {
            step: 2,
            outcome: Outcome::Refused,
            repeat: 1,
            ..request::between(3, end + Nanos(1), end + Nanos(1))
        };
        assert_eq!(rows.records, [first, session, refused]);
        assert_eq!(rows.tables.labels.as_slice(), ["http://h/", "steady", "a \"b\""]);
        assert_eq!(rows.tables.users.as_slice(), ["7"]);
        assert_eq!((rows.unreadable, &rows.left_out[..]), (0, &[][..]));
        assert!(facts.users && facts.sessions && facts.ends && !facts.intended && !facts.bytes);
        assert_eq!((facts.stamps, facts.resolution), (crate::Stamps::End, Nanos(1)));
        assert_eq!(facts.missing.len(), 3, "{:?}", facts.missing);
        assert!(facts.missing[1].starts_with("1 iterations were dropped"), "{:?}", facts.missing);
    }

    #[test]
    fn requests_of_one_second_are_kept_apart() {
        let times = ["1.000000", "0.500000", "0.000000", "0.100000", "0.700000", "0.200000", "0.000000"];
        let text = HEADER.to_owned() + &group("1795265490", times, GOOD).repeat(3);
        let (rows, facts) = read(&text);
        assert_eq!(rows.records.len(), 3);
        let end = Nanos::from_secs(1_795_265_490);
        let mut record = request::between(3, end - Nanos(1_500_000), end);
        record.status = 200;
        record.sent = (end - Nanos(1_000_000)).into();
        record.first_byte = (end - Nanos(200_000)).into();
        record.reused = true;
        assert_eq!(rows.records, [record; 3]);
        assert_eq!(record.connect, Stamp::NONE);
        assert_eq!(facts.resolution, Nanos::from_secs(1));
        assert_eq!(facts.finer, Some("K6_CSV_TIME_FORMAT=unix_nano"));
    }

    #[test]
    fn the_stamp_may_be_written_as_a_date() {
        let times = ["1.0", "0.0", "0.0", "0.1", "0.7", "0.2", "0.0"];
        let (rows, facts) =
            read(&(HEADER.to_owned() + &group("2026-11-21T13:51:36.685450368+01:00", times, GOOD)));
        assert_eq!(rows.records[0].done, Nanos(1_795_265_496_685_450_368));
        assert_eq!(facts.resolution, Nanos(1));
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let times = ["1.0", "0.0", "0.0", "0.1", "0.7", "0.2", "0.0"];
        let whole = group("1795265490", times, GOOD);
        let cut = whole.lines().next().unwrap();
        let text = format!(
            "{HEADER}{cut}\nhttp_req_duration,12,1.0,{GOOD}\n{whole}http_reqs,1795265491,-1,{GOOD}\nvus,1795265491\n"
        );
        let (rows, _) = read(&text);
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), rows.unreadable), (1, 4));
        assert_eq!(at, [3, 13, 14, 2]);
    }

    /// People keep one metric of these files.
    #[test]
    fn files_of_one_metric_are_read_as_far_as_it_goes() {
        let times = ["20.000000", "3.000000", "0", "1", "2", "1", "0.000000"];
        let text: String = (0..4).map(|i| group(&format!("179526549{i}"), times, GOOD)).collect();
        let only = |metrics: &[&str]| {
            let kept = |line: &&str| metrics.iter().any(|metric| line.starts_with(&format!("{metric},")));
            let lines: Vec<&str> = text.lines().filter(kept).collect();
            let (rows, facts) = read(&format!("{HEADER}{}\n", lines.join("\n")));
            assert_eq!((rows.records.len(), rows.unreadable), (4, 0), "{metrics:?}: {:?}", rows.examples);
            let ms: Vec<_> = rows.records.iter().map(|r| r.response().0 / 1_000_000).collect();
            (ms, facts.ends, facts.missing)
        };
        let (ms, ends, missing) = only(&["http_req_duration"]);
        assert_eq!((ms, ends), (vec![20; 4], true));
        assert!(missing[0].starts_with("4 requests have no http_req_blocked in it: "), "{missing:?}");
        let (ms, ends, missing) = only(&["http_reqs"]);
        assert_eq!((ms, ends), (vec![0; 4], false));
        assert!(missing[0].starts_with("4 requests have no http_req_duration in it: "), "{missing:?}");
        let (ms, ends, missing) = only(&["http_reqs", "http_req_duration", "http_req_blocked"]);
        assert_eq!((ms, ends, missing), (vec![23; 4], true, vec![]));
    }
}
