//! Formats that other programs read, read here as those programs read them.

use super::{samples, style, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use headway_base::{Kind, Nanos, Outcome, Record, Stamp};
use headway_report::{Origin, find};
use std::collections::{BTreeMap, BTreeSet};

/// A metric family: its type, its unit, and whether it has ended.
#[derive(Default)]
struct Family {
    kind: String,
    unit: String,
    help: bool,
}

/// A sample: its name, its labels in order, its value.
type Sample = (String, Vec<(String, String)>, f64);

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Labels between braces, and what follows them.
fn labels(text: &str) -> (Vec<(String, String)>, &str) {
    let Some(mut rest) = text.strip_prefix('{') else { return (Vec::new(), text) };
    let mut all = Vec::new();
    loop {
        let (name, after) = rest.split_once("=\"").expect("a label has a value");
        assert!(is_name(name), "{name}");
        let (mut value, mut chars) = (String::new(), after.char_indices());
        let end = loop {
            match chars.next().expect("a value ends") {
                (at, '"') => break at + 1,
                (_, '\\') => value.push(match chars.next().expect("something is escaped").1 {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    other => panic!("\\{other} is no escape"),
                }),
                (_, c) => value.push(c),
            }
        };
        all.push((name.to_owned(), value));
        match after[end..].strip_prefix(',') {
            Some(more) => rest = more,
            None => return (all, after[end..].strip_prefix('}').expect("labels end")),
        }
    }
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).expect("a name ends");
    let (name, rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let (labels, rest) = labels(rest);
    let names: BTreeSet<&String> = labels.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), labels.len(), "a label twice: {line}");
    let value = rest.strip_prefix(' ').expect("a space before the value").parse().expect(line);
    (name.to_owned(), labels, value)
}

/// Reads the text format as the specification (OpenMetrics 1.0) has it, and panics where it does not hold.
fn read(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    let (mut families, mut samples): (BTreeMap<String, Family>, Vec<Sample>) = Default::default();
    let mut current = String::new();
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (what, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            if what == "TYPE" {
                assert!(families.insert(name.to_owned(), Family::default()).is_none(), "{name} twice");
                current = name.to_owned();
            }
            assert_eq!(name, current, "the head of a family stands together");
            let family = families.get_mut(name).expect("TYPE is first");
            match what {
                "TYPE" => family.kind = rest.to_owned(),
                "UNIT" => family.unit = rest.to_owned(),
                "HELP" => family.help = true,
                other => panic!("no {other}"),
            }
            continue;
        }
        let (name, labels, value) = sample(line);
        let family = &families[&current];
        let suffix = name.strip_prefix(current.as_str()).unwrap_or_else(|| panic!("{name} in {current}"));
        let suffixes: &[&str] = match family.kind.as_str() {
            "info" => &["_info"],
            "counter" => &["_total"],
            "gauge" | "stateset" => &[""],
            "histogram" => &["_bucket", "_count", "_sum"],
            other => panic!("no type {other}"),
        };
        assert!(suffixes.contains(&suffix), "{line}");
        assert!(family.help && current.ends_with(&family.unit), "{current}");
        if family.kind == "stateset" {
            assert!(labels.iter().any(|(name, _)| *name == current) && [0.0, 1.0].contains(&value), "{line}");
        }
        assert!(!samples.iter().any(|(n, l, _)| (n, l) == (&name, &labels)), "twice: {line}");
        samples.push((name, labels, value));
    }
    samples
}

/// Buckets rise to `+Inf`, which is the count.
fn is_a_histogram(samples: &[Sample], family: &str) -> usize {
    let of = |suffix: &str| {
        let name = format!("{family}{suffix}");
        samples.iter().filter(move |(own, ..)| *own == name)
    };
    for (_, labels, count) in of("_count") {
        let own = of("_bucket").filter(|(_, l, _)| l[..l.len() - 1] == labels[..]);
        let buckets: Vec<(f64, f64)> = own
            .map(|(_, l, n)| {
                let (name, le) = l.last().unwrap();
                assert_eq!(name, "le");
                (if le == "+Inf" { f64::INFINITY } else { le.parse().unwrap() }, *n)
            })
            .collect();
        assert!(
            buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1),
            "{buckets:?}"
        );
        assert_eq!(buckets.last(), Some(&(f64::INFINITY, *count)));
    }
    of("_count").count()
}

#[test]
fn the_metrics_of_every_sample_are_openmetrics() {
    for (_, make) in samples::ALL {
        let summary = make();
        let seen = read(&text("openmetrics", &summary, &style()));
        is_a_histogram(&seen, "headway_response_seconds");
        let requests: f64 =
            seen.iter().filter(|(name, ..)| name == "headway_requests_total").map(|(.., n)| n).sum();
        if summary.by_label.len() < 2 {
            assert_eq!(requests as u64, summary.outcomes.values().sum::<u64>());
        }
        let p99 = seen.iter().find(|(name, labels, _)| {
            name == "headway_response_time_quantile_seconds" && labels[0].1 == "0.99"
        });
        assert_eq!(p99.map(|(.., value)| *value), summary.response.p99);
    }
}

#[test]
fn the_histogram_of_a_run_counts_its_answered_requests() {
    let summary = samples::clean();
    let seen = read(&text("openmetrics", &summary, &style()));
    assert_eq!(is_a_histogram(&seen, "headway_response_seconds"), summary.by_label.len());
    for (step, label) in &summary.by_label {
        let bucket = |le: &str| {
            let wanted = [("step".to_owned(), step.to_string()), ("le".to_owned(), le.to_owned())];
            let found =
                seen.iter().find(|(name, l, _)| name == "headway_response_seconds_bucket" && l[..] == wanted);
            found.expect(le).2
        };
        let median = label.response.p50.expect("a median");
        assert!((0.001..0.005).contains(&median), "the bounds below are about this sample: {median}");
        let n = label.response.n as f64;
        assert!(bucket("0.001") < 0.5 * n && 0.5 * n < bucket("0.005"), "{step}");
        assert_eq!(bucket("100.0"), n - label.response.censored as f64, "{step}");
    }
}

/// Requests at these instants (ms), each with its response time (ms) and step.
fn requests(all: &[(i64, i64, u16)]) -> Vec<Record> {
    let record = |(k, &(at, response, step)): (usize, &(i64, i64, u16))| {
        let (intended, done) = (Nanos::from_millis(at), Nanos::from_millis(at + response));
        let (kind, outcome) = (Kind::Request, if step == 9 { Outcome::Timeout } else { Outcome::Ok });
        Record {
            k: k as u64,
            intended,
            arrived: intended,
            started: intended.into(),
            sent: Stamp::NONE,
            done,
            step: step.min(1),
            status: if step == 9 { 0 } else { 200 },
            outcome,
            kind,
            ..Record::never_started(k as u64, intended, done, outcome)
        }
    };
    all.iter().enumerate().map(record).collect()
}

fn written(format: &str, origin: Origin, rows: &[Record]) -> String {
    let mut out = Vec::new();
    let mut writing = find(format).unwrap().requests(origin).expect("it is made of requests");
    writing.begin(&mut out).unwrap();
    rows.iter().for_each(|row| writing.row(row, &mut out).unwrap());
    let session = Record { kind: Kind::Session, ..rows[0] };
    writing.row(&session, &mut out).unwrap();
    writing.end(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn origin() -> Origin {
    let labels = vec!["list, all".into(), "=add".into()];
    Origin { name: "shop".into(), labels, zero_unix_ns: Some(1_700_000_000_500_000_000) }
}

#[test]
fn an_interval_log_reads_back_with_the_librarys_own_reader() {
    let rows = requests(&[(0, 5, 0), (400, 7, 1), (999, 11, 0), (1_000, 13, 0), (5_200, 2_000, 9)]);
    let log = written("hlog", origin(), &rows);
    assert!(
        log.starts_with("#[Histogram log format version 1.3]\n") && find("hlog").unwrap().recognises(&log),
        "{log}"
    );
    let mut seen = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        match entry.expect("an entry of the log") {
            LogEntry::StartTime(at) => assert_eq!(at.as_secs_f64(), 1_700_000_000.5),
            LogEntry::BaseTime(_) => panic!("there is no base time"),
            LogEntry::Interval(interval) => {
                let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                assert_eq!(interval.duration().as_secs(), 1);
                assert!(
                    (interval.max() * 1e6 - read.max() as f64).abs() <= 1e3,
                    "the maximum is in milliseconds"
                );
                let tag = interval.tag().map(|tag| tag.as_str().to_owned()).unwrap_or_default();
                let (first, last) = (read.value_at_quantile(0.0) as f64 / 1e6, read.max() as f64 / 1e6);
                let times = (first.round() as i64, last.round() as i64);
                seen.push((interval.start_timestamp().as_secs(), tag, read.len(), times));
            }
        }
    }
    let line = |at, tag: &str, n, times| (at, tag.to_owned(), n, times);
    let expected = [
        line(0, "", 3, (5, 11)),
        line(0, "list__all", 2, (5, 11)),
        line(0, "=add", 1, (7, 7)),
        line(1, "", 1, (13, 13)),
        line(1, "list__all", 1, (13, 13)),
        line(5, "", 1, (2_000, 2_001)),
        line(5, "=add", 1, (2_000, 2_001)),
    ];
    for (seen, expected) in seen.iter().zip(&expected) {
        let near = |a: i64, b: i64| (a - b).abs() <= 1;
        assert_eq!((seen.0, &seen.1, seen.2), (expected.0, &expected.1, expected.2));
        assert!(near(seen.3.0, expected.3.0) && near(seen.3.1, expected.3.1), "{seen:?}");
    }
    assert_eq!(seen.len(), expected.len());
}

#[test]
fn requests_are_rows_with_every_digit_and_names_that_act_as_nothing() {
    let mut rows = requests(&[(0, 5, 0), (400, 7, 1), (5_200, 2_000, 9)]);
    rows[0].first_byte = Nanos(3_000_001).into();
    let table = written("csv", origin(), &rows);
    assert!(find("csv").unwrap().recognises(&table));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let head = reader.headers().unwrap().clone();
    let all: Vec<BTreeMap<String, String>> = reader
        .records()
        .map(|row| head.iter().zip(row.unwrap().iter()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
        .collect();
    assert_eq!(all.len(), 3);
    let of = |row: usize, column: &str| all[row][column].as_str();
    assert_eq!(
        (of(0, "step"), of(0, "first_byte_s"), of(0, "response_s")),
        ("list, all", "0.003000001", "0.005000000")
    );
    assert_eq!((of(1, "arrival"), of(1, "intended_s"), of(1, "status")), ("1", "0.400000000", "200"));
    assert!(!of(1, "step").starts_with('='), "{}", of(1, "step"));
    assert_eq!((of(2, "outcome"), of(2, "status"), of(2, "sent_s")), ("timeout", "", ""));
}
