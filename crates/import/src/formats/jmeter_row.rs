//! What both of JMeter's formats say of one sample, and what becomes of it.

use super::jmeter_transactions::Transactions;
use crate::format::Outcomes;
use crate::numbers::int;
use crate::outcome;
use crate::rows::Rows;
use crate::stamps;
use headway_base::{Nanos, Outcome, Record};

/// Beginning of the message of a transaction controller's sample.
const TRANSACTION: &[u8] = b"Number of samples in transaction";

/// Why a transaction is no row.
const BESIDE: &str = "transactions whose samples are rows too";

/// Within one step of the clock the first byte came at once, whether JMeter measured that or not.
const LEAST: Nanos = Nanos::from_millis(1);

/// One sample, its numbers read.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub stamp: Nanos,
    pub elapsed: Nanos,
    /// What a transaction did not count of its time: pauses between its samples.
    pub idle: Nanos,
    /// Until the first byte, if the row has a place for it. JMeter writes 0 where it does not know as well.
    pub latency: Option<Nanos>,
    /// Until connected; zero if it was or is not known.
    pub connect: Nanos,
    pub label: &'a [u8],
    pub code: &'a [u8],
    pub message: &'a [u8],
    /// What the assertion that failed says.
    pub failure: &'a [u8],
    pub thread: Option<&'a [u8]>,
    pub success: Option<bool>,
    pub bytes: u64,
    pub sent: u64,
    pub host: &'a [u8],
}

/// A span in whole milliseconds, at most a day.
#[inline]
pub(super) fn span(text: &[u8]) -> Option<Nanos> {
    stamps::span(int(text)?.checked_mul(1_000_000)?)
}

/// The same where it may be missing: then it is zero.
#[inline]
pub(super) fn span_or_none(text: &[u8]) -> Option<Nanos> {
    if text.is_empty() { Some(Nanos::ZERO) } else { span(text) }
}

/// A number of bytes; zero if missing.
#[inline]
pub(super) fn bytes(text: &[u8]) -> Option<u64> {
    if text.is_empty() { Some(0) } else { u64::try_from(int(text)?).ok() }
}

/// `true` or `false`.
#[inline]
pub(super) fn truth(text: &[u8]) -> Option<bool> {
    match text {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Turns samples into records and keeps transactions apart from the samples they consist of.
#[derive(Default)]
pub(super) struct Samples {
    /// Rows so far.
    k: u64,
    /// Stamp of the last sample of each thread that is no transaction.
    last: Vec<i64>,
    /// Transactions whose samples may follow.
    transactions: Transactions,
    /// Whether any row has the outcome of its request.
    told: bool,
    /// The message being put together.
    said: Vec<u8>,
}

impl Samples {
    /// Adds one.
    ///
    /// A transaction controller adds a sample of its own after those it consists of, with an earlier stamp: it is no
    /// request. Where rows are in another order they may follow. If it is set to write only itself, there are no such samples, and it
    /// is the request.
    #[inline]
    pub(super) fn push(&mut self, sample: &Sample<'_>, rows: &mut Rows) {
        let user = sample.thread.map_or(0, |thread| rows.user(thread));
        let at = user as usize;
        if at >= self.last.len() {
            self.last.resize(at + 1, i64::MIN);
        }
        let is_transaction = sample.message.starts_with(TRANSACTION);
        if !is_transaction {
            self.last[at] = sample.stamp.0;
        } else if self.last[at] >= sample.stamp.0 {
            return rows.leave_out(BESIDE);
        }
        self.told |= sample.success.is_some() || !sample.code.is_empty();
        let (status, outcome) = outcome(sample.success, sample.code, sample.message);
        let Sample { stamp, elapsed, latency, connect, .. } = *sample;
        let shard = match sample.host {
            b"" => rows.generator,
            host => rows.shard(host),
        };
        let step = if is_transaction { 0 } else { rows.step(sample.label) };
        let repeat = if outcome == Outcome::Ok { 0 } else { self.message(sample, rows) };
        let record = Record {
            started: stamp.into(),
            sent: stamp.into(),
            first_byte: latency.filter(|&l| l > Nanos::ZERO || elapsed <= LEAST).map(|l| stamp + l).into(),
            connect: (connect > Nanos::ZERO).then_some(connect).into(),
            tls: None.into(),
            bytes_received: sample.bytes,
            bytes_sent: sample.sent,
            user,
            step,
            shard,
            status,
            repeat,
            ..Record::never_started(0, stamp, stamp + elapsed, outcome)
        };
        if is_transaction {
            self.transactions.hold(record, sample.label, stamp + elapsed + sample.idle);
        } else if self.transactions.is_empty() {
            return self.add(record, rows);
        } else {
            (0..self.transactions.sample(record)).for_each(|_| rows.leave_out(BESIDE));
        }
        self.release(false, rows);
    }

    /// Adds the rows whose transactions are known; all of them at the end.
    pub(super) fn release(&mut self, end: bool, rows: &mut Rows) {
        while let Some(record) = self.transactions.next(end, rows) {
            self.add(record, rows);
        }
    }

    #[inline]
    fn add(&mut self, record: Record, rows: &mut Rows) {
        rows.records.push(Record { k: self.k, ..record });
        self.k += 1;
    }
}

impl Samples {
    /// Which outcomes the file tells, once it is read.
    pub(super) fn outcomes(&self) -> Outcomes {
        if self.told { Outcomes::All } else { Outcomes::None }
    }

    /// What it cannot tell.
    pub(super) fn missing(&self) -> Vec<String> {
        if self.told { Vec::new() } else { vec!["Which requests failed is not in it.".to_owned()] }
    }

    /// The message of a failure: of the answer (or the class of the exception), and of the assertion.
    #[cold]
    fn message(&mut self, sample: &Sample<'_>, rows: &mut Rows) -> u32 {
        self.said.clear();
        let class = if sample.code.len() > 3 { sample.code } else { b"" };
        for part in [class, sample.message, sample.failure].into_iter().filter(|part| !part.is_empty()) {
            if !self.said.is_empty() {
                self.said.extend_from_slice(b"; ");
            }
            self.said.extend_from_slice(part);
        }
        rows.message(&self.said)
    }
}

/// Status code (0 if there is none) and outcome. `success` is JMeter's own word; without it the code decides.
#[inline]
fn outcome(success: Option<bool>, code: &[u8], message: &[u8]) -> (u16, Outcome) {
    let status = match code {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0')
        }
        _ => 0,
    };
    let outcome = match (success, status) {
        (Some(true), _) => Outcome::Ok,
        // Answered with a good status, or by a sampler that has none (JDBC, Java): an assertion failed.
        (Some(false), 1..400) => Outcome::Check,
        (_, 1..) => outcome::from_status(status),
        (None, 0) if code.is_empty() => Outcome::Ok,
        _ => failed(code, message),
    };
    (status, outcome)
}

/// Without a status: `Non HTTP response code: java.net.ConnectException`, and more in the message.
#[cold]
fn failed(code: &[u8], message: &[u8]) -> Outcome {
    const NO_ANSWER: &[u8] = b"Non HTTP response";
    if code.starts_with(NO_ANSWER) || message.starts_with(NO_ANSWER) {
        outcome::from_error_text(&[code, b" ", message].concat())
    } else {
        Outcome::Check
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Progress;
    use crate::{File, Finished, Options, Stamps};
    use std::path::Path;

    #[test]
    fn outcomes() {
        let non_http = |class: &str| format!("Non HTTP response code: {class}");
        for (success, code, message, expected) in [
            (Some(true), "200", "OK", (200, Outcome::Ok)),
            (Some(true), "404", "ignored", (404, Outcome::Ok)),
            (Some(true), "", "", (0, Outcome::Ok)),
            (Some(false), "500", "", (500, Outcome::Status)),
            (Some(false), "200", "OK", (200, Outcome::Check)),
            (Some(false), "", "Test failed", (0, Outcome::Check)),
            (None, "503", "", (503, Outcome::Status)),
            (None, "301", "", (301, Outcome::Ok)),
            (None, "", "", (0, Outcome::Ok)),
            (Some(false), &non_http("java.net.ConnectException"), "", (0, Outcome::Refused)),
            (
                Some(false),
                &non_http("java.net.SocketTimeoutException"),
                "Non HTTP response message: Read timed out",
                (0, Outcome::Timeout),
            ),
            (
                Some(false),
                &non_http("java.net.SocketTimeoutException"),
                "Non HTTP response message: connect timed out",
                (0, Outcome::ConnectTimeout),
            ),
            (None, &non_http("java.net.UnknownHostException"), "", (0, Outcome::Dns)),
            (Some(false), &non_http("javax.net.ssl.SSLException"), "", (0, Outcome::Tls)),
            (Some(false), &non_http("java.net.SocketException"), "", (0, Outcome::Reset)),
            (
                Some(false),
                "Non HTTP response code: org.apache.http.NoHttpResponseException",
                "",
                (0, Outcome::Reset),
            ),
        ] {
            assert_eq!(
                outcome(success, code.as_bytes(), message.as_bytes()),
                expected,
                "{success:?} {code} {message}"
            );
        }
    }

    #[test]
    fn absurd_numbers_are_none() {
        assert_eq!((span(b"0"), span(b"86400000")), (Some(Nanos(0)), Some(Nanos::from_secs(86_400))));
        for no in ["-1", "86400001", "9223372036854775807", "1.5", " 1"] {
            assert_eq!(span(no.as_bytes()), None, "{no}");
        }
        assert_eq!((span(b""), span_or_none(b""), span_or_none(b"x")), (None, Some(Nanos(0)), None));
        assert_eq!((bytes(b""), bytes(b"81"), bytes(b"-1"), bytes(b"null")), (Some(0), Some(81), None, None));
    }

    fn read(name: &str) -> (Finished, Rows) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
        let mut file = File::open(&path, &Options::default(), Progress::default()).unwrap();
        let (mut rows, mut records) = (Rows::default(), Vec::new());
        while file.next(&mut rows).unwrap() {
            records.append(&mut rows.records);
        }
        let finished = file.finish(&mut rows, false).unwrap();
        rows.records = records;
        (finished, rows)
    }

    /// Whether stamps are starts or ends is told from the rows; those of `ends.csv` are too few to show that they are ends.
    #[test]
    fn samples_have_their_rows_and_stamps() {
        const BESIDE: &str = "transactions whose samples are rows too";
        const AROUND: &str = "parents of nested samples";
        for (name, rows, left_out, stamps) in [
            ("jmeter-csv/stock.csv", 150, None, Stamps::Start),
            ("jmeter-csv/ends.csv", 150, None, Stamps::Start),
            ("jmeter-csv/headerless.csv", 150, None, Stamps::Start),
            ("jmeter-csv/headerless-10.csv", 150, None, Stamps::Start),
            ("jmeter-csv/all-columns.csv", 150, None, Stamps::Start),
            ("jmeter-csv/tabs.csv", 150, None, Stamps::Start),
            ("jmeter-csv/transaction.csv", 150, Some((BESIDE, 75)), Stamps::Start),
            ("jmeter-csv/1830_AggRpt.csv.zst", 46_111, None, Stamps::Start),
            ("jmeter-xml/flat.xml", 80, Some((BESIDE, 40)), Stamps::Start),
            ("jmeter-xml/nested.xml", 80, Some((AROUND, 40)), Stamps::Start),
        ] {
            let (finished, _) = read(name);
            assert_eq!(
                (finished.rows, finished.facts.stamps),
                (rows, stamps),
                "{name}: {:?}",
                finished.stamps_how
            );
            // Few rows may show nothing.
            assert!(!finished.stamps_guessed || rows <= 150, "{name}: {:?}", finished.stamps_how);
            assert_eq!(finished.left_out, Vec::from_iter(left_out), "{name}");
        }
    }

    /// One answer in ten is a 500.
    #[test]
    fn samples_have_outcomes_and_names() {
        for name in [
            "jmeter-csv/stock.csv",
            "jmeter-csv/tabs.csv",
            "jmeter-csv/all-columns.csv",
            "jmeter-xml/flat.xml",
        ] {
            let (finished, rows) = read(name);
            let failed =
                rows.records.iter().filter(|r| r.outcome == Outcome::Status && r.status == 500).count();
            let fine = rows.records.iter().filter(|r| r.outcome == Outcome::Ok && r.status == 200).count();
            assert_eq!(failed + fine, finished.rows as usize, "{name}");
            assert!(failed > 0, "{name}");
            let mut labels = rows.tables.labels.as_slice().to_vec();
            labels.sort();
            assert_eq!(labels, ["home", "search, all"], "{name}");
            assert_eq!(rows.tables.users.len(), 5, "{name}");
            assert_eq!(rows.tables.generators.is_empty(), name != "jmeter-csv/all-columns.csv", "{name}");
        }
    }
}
