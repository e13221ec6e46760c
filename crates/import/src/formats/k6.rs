//! What k6's outputs have in common: a row is a sample of one metric, a request is a group of them.
//!
//! k6 writes the samples of one request one after the other, with one stamp, the request's end: `http_reqs`,
//! `http_req_duration`, `_blocked`, `_connecting`, `_tls_handshaking`, `_sending`, `_waiting`, `_receiving` and, unless
//! switched off, `_failed`. As its tracer counts (`lib/netext/httpext/tracer.go`):
//!
//! ```text
//! asked for a connection      got it             written        first byte           end
//! |--------- blocked ---------|----- sending -----|--- waiting ---|---- receiving ----|
//!     |-connecting-|---tls----|------------------ duration --------------------------|
//! ```
//!
//! - `blocked` is all the time until the connection was there: the wait for a free one, the name's resolution,
//!   connecting and the handshake. It is zero where there never was a connection.
//! - `duration` = sending + waiting + receiving.
//! - So the start, the request's handing to the transport, is end - duration - blocked. On a new connection `sending`
//!   counts from the end of the handshake and `blocked` to the moment the connection was handed over, a little later:
//!   there the start comes out early by that little.
//!
//! A request that never got a connection (refused, timed out while connecting) has zeros for all times: its start is not
//! known, and its end is taken for it.
//!
//! People reduce these files to one metric. Where none of the first requests has all, what is there counts: the start is the end less
//! that, and the file says what it lacks.
//!
//! `iteration_duration`, stamped at its end too, gives the sessions; `dropped_iterations` those that found no free
//! virtual user. Deliberately absent: iterations that were interrupted (k6 does not write them), WebSockets, and custom
//! metrics.

use super::request;
use crate::numbers::int;
use crate::outcome;
use crate::stamps::span;
use crate::{Facts, Outcomes, Rows, Stamps};
use headway_base::{Kind, Nanos, Outcome, Record};

/// Metrics of a request, in k6's order.
const REQUESTS: u8 = 0;
const DURATION: u8 = 1;
const BLOCKED: u8 = 2;
const CONNECTING: u8 = 3;
const TLS: u8 = 4;
const WAITING: u8 = 6;
const RECEIVING: u8 = 7;
const FAILED: u8 = 8;

/// What a sample is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Metric {
    /// One of a request's, by its number.
    Request(u8),
    /// A call by gRPC: one sample, its duration.
    Grpc,
    /// An iteration, by its duration.
    Iteration,
    /// Iterations that never started.
    Dropped,
    /// Anything else.
    Other,
}

impl Metric {
    #[inline]
    pub(super) fn of(name: &[u8]) -> Metric {
        match name {
            b"http_reqs" => Metric::Request(REQUESTS),
            b"http_req_duration" => Metric::Request(DURATION),
            b"http_req_blocked" => Metric::Request(BLOCKED),
            b"http_req_connecting" => Metric::Request(CONNECTING),
            b"http_req_tls_handshaking" => Metric::Request(TLS),
            b"http_req_sending" => Metric::Request(5),
            b"http_req_waiting" => Metric::Request(WAITING),
            b"http_req_receiving" => Metric::Request(RECEIVING),
            b"http_req_failed" => Metric::Request(FAILED),
            b"grpc_req_duration" => Metric::Grpc,
            b"iteration_duration" => Metric::Iteration,
            b"dropped_iterations" => Metric::Dropped,
            _ => Metric::Other,
        }
    }
}

/// One sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) metric: Metric,
    pub(super) end: Nanos,
    /// What was written for milliseconds, in nanoseconds.
    pub(super) value: Option<i64>,
}

/// The tags that matter here; empty where there are none.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Tags<'a> {
    pub(super) name: &'a [u8],
    pub(super) url: &'a [u8],
    pub(super) status: &'a [u8],
    pub(super) error: &'a [u8],
    pub(super) error_code: &'a [u8],
    /// `true` or `false`.
    pub(super) expected: &'a [u8],
    pub(super) scenario: &'a [u8],
    pub(super) vu: &'a [u8],
}

/// A request whose samples are coming in.
#[derive(Clone, Debug)]
struct Open {
    line: u64,
    end: Nanos,
    /// Nanoseconds by metric.
    values: [i64; 9],
    /// One bit by metric.
    seen: u16,
    step: u16,
    user: u32,
    status: u16,
    outcome: Outcome,
    /// Number of the error's text.
    message: u32,
}

/// Makes records of samples.
#[derive(Clone, Default, Debug)]
pub(super) struct Samples {
    open: Option<Open>,
    users: bool,
    sessions: bool,
    dropped: u64,
    unconnected: u64,
    /// Whether requests have all their rows, or the file is reduced to some metrics; none as long as neither has shown.
    whole: Option<bool>,
    /// Requests that lack some, with their lines, until it has.
    held: Vec<(u64, Record)>,
    /// Requests of which there is no `blocked`, and of these those without a `duration`.
    without_blocked: u64,
    without_duration: u64,
    /// Whether any row has the outcome of its request.
    told: bool,
}

/// So many requests without all their rows, and none with them, show a file that is reduced to some metrics.
const ENOUGH: usize = 32;

/// What is expected of an incomplete group of rows.
const WHOLE_GROUP: &str =
    "all rows of a request: http_req_duration and http_req_blocked with the stamp of its first row";

impl Samples {
    /// Takes a sample from the row of that line. `tags` is asked where a request or an iteration begins.
    #[inline]
    pub(super) fn push<'t>(
        &mut self,
        (line, raw): (u64, &[u8]),
        Sample { metric, end, value }: Sample,
        tags: impl FnOnce() -> Tags<'t>,
        rows: &mut Rows,
    ) {
        if metric == Metric::Other {
            return self.close(rows);
        }
        let Some(value) = value.and_then(span) else {
            return rows.bad(line, raw, "a value in milliseconds, 0 to a day");
        };
        let Metric::Request(number) = metric else {
            self.close(rows);
            return self.single(metric, end, value, tags(), rows);
        };
        let bit = 1 << number;
        if self.open.as_ref().is_none_or(|open| open.seen & bit != 0 || open.end != end) {
            self.close(rows);
            let tags = tags();
            let (status, outcome) = outcome_of(&tags);
            let user = self.user(tags.vu, rows);
            self.open = Some(Open {
                line,
                end,
                values: [0; 9],
                seen: 0,
                step: rows.step(label(&tags)),
                user,
                status,
                outcome,
                message: rows.message(tags.error),
            });
            self.told |= tells(&tags);
        }
        if let Some(open) = &mut self.open {
            open.seen |= bit;
            open.values[usize::from(number)] = value.0;
        }
    }

    /// Ends the request whose samples were coming in.
    #[inline]
    pub(super) fn close(&mut self, rows: &mut Rows) {
        let Some(open) = self.open.take() else { return };
        let seen = |number: u8| open.seen & (1 << number) != 0;
        let value = |number: u8| Nanos(open.values[usize::from(number)]);
        let (duration, connecting, tls) = (value(DURATION), value(CONNECTING), value(TLS));
        let before = value(BLOCKED).max(connecting + tls);
        let mut record = request::between(rows.generator, open.end - duration - before, open.end);
        record.step = open.step;
        record.user = open.user;
        record.status = open.status;
        record.outcome = open.outcome;
        self.told |= seen(FAILED);
        // Without the tag it is known by the sample alone.
        if open.outcome == Outcome::Ok && seen(FAILED) && value(FAILED) > Nanos::ZERO {
            record.outcome = if (1..400).contains(&open.status) { Outcome::Check } else { Outcome::Status };
        }
        if record.outcome != Outcome::Ok {
            record.repeat = open.message;
        }
        if !(seen(DURATION) && seen(BLOCKED)) {
            record.sent = record.started;
        } else if duration + before > Nanos::ZERO {
            record.sent = (open.end - duration).into();
            record.reused = connecting == Nanos::ZERO;
        } else if !record.outcome.answered() {
            self.unconnected += 1;
        }
        if record.outcome.answered() && seen(RECEIVING) {
            record.first_byte = (open.end - value(RECEIVING).min(duration)).into();
        }
        record.connect = (connecting > Nanos::ZERO).then_some(connecting).into();
        record.tls = (tls > Nanos::ZERO).then_some(tls).into();
        if seen(DURATION) && seen(BLOCKED) {
            if self.whole.is_none() {
                self.decide(true, rows);
            }
            return rows.records.push(record);
        }
        if self.whole == Some(true) {
            return incomplete(open.line, record, rows);
        }
        self.without_blocked += u64::from(!seen(BLOCKED));
        self.without_duration += u64::from(!seen(DURATION));
        if self.whole == Some(false) {
            return rows.records.push(record);
        }
        self.held.push((open.line, record));
        if self.held.len() == ENOUGH {
            self.decide(false, rows);
        }
    }

    /// Whether requests have all their rows: then those that lacked some are damaged, else they are what the file has.
    #[cold]
    fn decide(&mut self, whole: bool, rows: &mut Rows) {
        self.whole = Some(whole);
        for (line, record) in self.held.drain(..) {
            match whole {
                true => incomplete(line, record, rows),
                false => rows.records.push(record),
            }
        }
        if whole {
            (self.without_blocked, self.without_duration) = (0, 0);
        }
    }

    /// Ends the file.
    pub(super) fn finish(&mut self, rows: &mut Rows) {
        self.close(rows);
        if !self.held.is_empty() {
            self.decide(false, rows);
        }
    }

    #[cold]
    fn single(&mut self, metric: Metric, end: Nanos, value: Nanos, tags: Tags<'_>, rows: &mut Rows) {
        match metric {
            Metric::Grpc => {
                let mut record = request::between(rows.generator, end - value, end);
                (record.status, record.outcome) = grpc_outcome_of(&tags);
                self.told |= tells(&tags);
                if record.outcome != Outcome::Ok {
                    record.repeat = rows.message(tags.error);
                }
                record.step = rows.step(label(&tags));
                record.user = self.user(tags.vu, rows);
                rows.records.push(record);
            }
            Metric::Iteration => {
                self.sessions = true;
                let mut record = request::between(rows.generator, end - value, end);
                record.kind = Kind::Session;
                record.step = rows.step(if tags.scenario.is_empty() { b"iteration" } else { tags.scenario });
                record.user = self.user(tags.vu, rows);
                rows.records.push(record);
            }
            // The value is a count, read as if it were milliseconds.
            Metric::Dropped => self.dropped += (value.0 / 1_000_000) as u64,
            Metric::Request(_) | Metric::Other => {}
        }
    }

    fn user(&mut self, vu: &[u8], rows: &mut Rows) -> u32 {
        if vu.is_empty() {
            return 0;
        }
        self.users = true;
        rows.user(vu)
    }

    /// What is known of the file.
    pub(super) fn facts(&self, format: &str, resolution: Nanos) -> Facts {
        let mut missing = Vec::new();
        if self.sessions {
            missing.push("Iterations that were interrupted are not in it; their requests are.".to_owned());
        }
        if self.dropped > 0 {
            missing.push(format!(
                "{} iterations were dropped for want of a free virtual user: they never started.",
                self.dropped
            ));
        }
        if self.without_duration > 0 {
            missing.push(format!(
                "{} requests have no http_req_duration in it: their ends stand for their starts.",
                self.without_duration
            ));
        } else if self.without_blocked > 0 {
            missing.push(format!(
                "{} requests have no http_req_blocked in it: how long they waited for a connection is not known, and their starts come \
                 out later by that.",
                self.without_blocked
            ));
        }
        if self.unconnected > 0 {
            missing.push(format!(
                "{} requests never got a connection, and k6 tells no times of those: their starts are taken to be their ends.",
                self.unconnected
            ));
        }
        Facts {
            format: format.to_owned(),
            stamps: Stamps::End,
            resolution,
            users: self.users,
            sessions: self.sessions,
            ends: self.without_duration == 0,
            outcomes: if self.told { Outcomes::All } else { Outcomes::None },
            missing,
            ..Facts::default()
        }
    }
}

/// Notes a request whose rows are not all there.
#[cold]
fn incomplete(line: u64, record: Record, rows: &mut Rows) {
    rows.bad(line, rows_label(rows, record.step).as_bytes(), WHOLE_GROUP);
}

fn rows_label(rows: &Rows, step: u16) -> String {
    rows.tables.labels.as_slice().get(usize::from(step)).cloned().unwrap_or_default()
}

fn label<'a>(tags: &Tags<'a>) -> &'a [u8] {
    if tags.name.is_empty() { tags.url } else { tags.name }
}

/// Whether the tags say how the request ended: they can be switched off.
fn tells(tags: &Tags<'_>) -> bool {
    [tags.status, tags.expected, tags.error, tags.error_code].iter().any(|tag| !tag.is_empty())
}

/// Status and outcome by the tags of the request.
fn outcome_of(tags: &Tags<'_>) -> (u16, Outcome) {
    let status = int(tags.status).and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
    let outcome = match (status, tags.expected) {
        (1.., b"true") => Outcome::Ok,
        (1..400, b"false") => Outcome::Check,
        (1.., _) => outcome::from_status(status),
        (0, b"true") if tags.error.is_empty() => Outcome::Ok,
        // The tags were switched off.
        (0, b"") if !tells(tags) => Outcome::Ok,
        (0, _) => from_error_code(tags),
    };
    (status, outcome)
}

/// k6's codes of errors without an answer (`lib/netext/httpext/error_codes.go`); the text where they say too little.
fn from_error_code(tags: &Tags<'_>) -> Outcome {
    match int(tags.error_code) {
        Some(1050) => Outcome::Timeout,
        Some(1100..1110) => Outcome::Dns,
        // The script's own list of forbidden addresses and names.
        Some(1110..1120) => Outcome::Cancelled,
        Some(1211) => Outcome::ConnectTimeout,
        Some(1210 | 1212 | 1213) => Outcome::Refused,
        Some(1300..1400) => Outcome::Tls,
        Some(1600..1800) => Outcome::Protocol,
        _ => outcome::from_error_text(tags.error),
    }
}

/// gRPC's codes, which k6 gives as the status: 0 is good.
fn grpc_outcome_of(tags: &Tags<'_>) -> (u16, Outcome) {
    let status = int(tags.status).and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
    let outcome = match status {
        0 => Outcome::Ok,
        4 => Outcome::Timeout,
        _ => Outcome::Status,
    };
    (status, outcome)
}

/// The value of `vu` in k6's list of tags or metadata, `iter=0&vu=12`.
pub(super) fn vu(list: &[u8]) -> &[u8] {
    list.split(|&b| b == b'&').find_map(|tag| tag.strip_prefix(b"vu=")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes() {
        let check = |status: &str, expected: &str, code: &str, error: &str, outcome: Outcome| {
            let tags = Tags {
                status: status.as_bytes(),
                expected: expected.as_bytes(),
                error_code: code.as_bytes(),
                error: error.as_bytes(),
                ..Tags::default()
            };
            assert_eq!(outcome_of(&tags).1, outcome, "{tags:?}");
        };
        check("200", "true", "", "", Outcome::Ok);
        check("404", "true", "1404", "", Outcome::Ok);
        check("500", "false", "1500", "", Outcome::Status);
        check("500", "", "1500", "", Outcome::Status);
        check("302", "false", "", "", Outcome::Check);
        check("0", "false", "1212", "dial: connection refused", Outcome::Refused);
        check("0", "false", "1211", "dial: i/o timeout", Outcome::ConnectTimeout);
        check("0", "false", "1050", "request timeout", Outcome::Timeout);
        check("0", "false", "1101", "lookup: no such host", Outcome::Dns);
        check("0", "false", "1220", "read: connection reset by peer", Outcome::Reset);
        check("0", "false", "1310", "x509: unknown authority", Outcome::Tls);
        check(
            "0",
            "false",
            "1631",
            "http2: stream error with http2 ErrCode PROTOCOL_ERROR",
            Outcome::Protocol,
        );
        check("0", "false", "1000", "EOF", Outcome::Reset);
        check("", "", "", "request timeout", Outcome::Timeout);
        check("", "", "", "", Outcome::Ok);
    }

    #[test]
    fn the_vu_is_found() {
        assert_eq!(vu(b"vu=1&iter=0"), b"1");
        assert_eq!(vu(b"iter=0&vu=12"), b"12");
        assert_eq!(vu(b"nvu=3"), b"");
        assert_eq!(vu(b""), b"");
    }
}
