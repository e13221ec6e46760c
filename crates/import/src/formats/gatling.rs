//! What both forms of Gatling's `simulation.log` have in common.
//!
//! Stamps are starts in whole milliseconds. A user's start is an arrival, so users are the sessions. Requests within
//! groups are labelled `group / group / name`. Rows of groups are sums over requests that have rows of their own, and
//! errors are of requests that never were: both are left out.

use super::request;
use crate::numbers::int;
use crate::outcome;
use crate::stamps::unix;
use crate::{Facts, Rows};
use headway_base::{Kind, Nanos, Outcome, Record};
use memchr::memmem;

/// Why rows of groups are left out.
pub(super) const GROUPS: &str = "sums over groups of requests";
/// Why rows of errors are left out.
pub(super) const ERRORS: &str = "errors before any request was sent";
/// Between the names of groups and of the request.
pub(super) const BETWEEN: &[u8] = b" / ";

/// That many milliseconds since the Unix epoch, if a test may have run then.
#[inline]
pub(super) fn millis(ms: i64) -> Option<Nanos> {
    unix(ms.checked_mul(1_000_000)?)
}

/// A request with its label, its status as Gatling sees it, and Gatling's message.
#[inline]
pub(super) fn request(
    (started, done): (Nanos, Nanos),
    label: &[u8],
    ok: bool,
    message: &[u8],
    rows: &mut Rows,
) -> Record {
    let mut record = request::between(rows.generator, started, done);
    record.step = rows.step(label);
    if !ok {
        (record.status, record.outcome) = failed(message);
        record.repeat = rows.message(message);
    }
    record
}

/// A user that came at `started` and, as far as known, left at `done`.
pub(super) fn session((started, done): (Nanos, Nanos), scenario: &[u8], rows: &mut Rows) -> Record {
    let mut record = request::between(rows.generator, started, done);
    record.kind = Kind::Session;
    record.step = rows.step(scenario);
    record
}

/// Status and outcome of a failed request by Gatling's message: a check that did not hold (`status.find.is(200), but
/// actually found 500`), or an exception (`i.n.c.ConnectTimeoutException: connection timed out`).
fn failed(message: &[u8]) -> (u16, Outcome) {
    let says = |words: &str| memmem::find(message, words.as_bytes()).is_some();
    if message.starts_with(b"status.") {
        let found = memmem::rfind(message, b"found ").map(|at| &message[at + b"found ".len()..]);
        let digits = found.and_then(|found| found.split(|b| !b.is_ascii_digit()).next());
        let status = digits.and_then(int).and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
        return (status, if (1..400).contains(&status) { Outcome::Check } else { Outcome::Status });
    }
    if says(".find") || says(", found ") || says("but actually found") {
        return (0, Outcome::Check);
    }
    (0, if says("Premature close") { Outcome::Reset } else { outcome::from_error_text(message) })
}

/// What is known of a file of that version.
pub(super) fn facts(format: &str, version: Option<&str>, sessions: bool) -> Facts {
    Facts {
        format: format.to_owned(),
        tool: version.map(|version| format!("Gatling {version}")),
        resolution: Nanos::from_millis(1),
        sessions,
        ends: true,
        ..Facts::default()
    }
}

/// What Gatling does not write since 3.4.
pub(super) const NO_USER_IDS: &str =
    "Users have no numbers in it: which request was whose, and when each user left, is not known.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        for (message, status, outcome) in [
            ("status.find.in([200, 209], 304), found 503", 503, Outcome::Status),
            ("status.find.is(200), but actually found 500", 500, Outcome::Status),
            ("status.find.is(404), but actually found 200", 200, Outcome::Check),
            ("status.find.is(200), but actually found nothing", 0, Outcome::Status),
            ("jsonPath($.id).find.exists, found nothing", 0, Outcome::Check),
            (
                "i.g.h.c.i.RequestTimeoutException: Request timeout to h/127.0.0.1:80 after 60000 ms",
                0,
                Outcome::Timeout,
            ),
            (
                "i.n.c.ConnectTimeoutException: connection timed out: /127.0.0.1:80",
                0,
                Outcome::ConnectTimeout,
            ),
            ("j.n.ConnectException: Connection refused", 0, Outcome::Refused),
            ("j.n.UnknownHostException: nowhere.invalid", 0, Outcome::Dns),
            ("i.n.h.s.SslHandshakeTimeoutException: handshake timed out", 0, Outcome::Timeout),
            ("j.i.IOException: Premature close", 0, Outcome::Reset),
            ("", 0, Outcome::Reset),
        ] {
            assert_eq!(failed(message.as_bytes()), (status, outcome), "{message}");
        }
    }
}
