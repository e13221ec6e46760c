//! What becomes of vegeta's results, one per request.
//!
//! The stamp is a start, taken in the worker just before the request is built and sent, in the order of `seq`; the rows
//! are in the order of completion. `bytes_in` counts the body alone. A result without a status code has an error.

use crate::Rows;
use crate::formats::request;
use crate::outcome;
use crate::stamps::{span, unix};
use headway_base::Outcome;

/// One result; spans in nanoseconds, the instant since the Unix epoch.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Hit<'a> {
    pub(super) timestamp: i64,
    pub(super) latency: i64,
    pub(super) code: u16,
    pub(super) bytes_out: u64,
    pub(super) bytes_in: u64,
    pub(super) seq: u64,
    pub(super) error: &'a [u8],
    pub(super) method: &'a [u8],
    pub(super) url: &'a [u8],
}

/// Makes records of results.
#[derive(Clone, Default, Debug)]
pub(super) struct Hits {
    label: Vec<u8>,
}

impl Hits {
    /// Adds that result; false if its stamp or latency is out of all bounds.
    #[inline]
    pub(super) fn push(&mut self, hit: &Hit<'_>, rows: &mut Rows) -> bool {
        let (Some(started), Some(latency)) = (unix(hit.timestamp), span(hit.latency)) else {
            return false;
        };
        let mut record = request::between(rows.generator, started, started + latency);
        record.k = hit.seq;
        record.status = hit.code;
        record.bytes_sent = hit.bytes_out;
        record.bytes_received = hit.bytes_in;
        record.outcome = match hit.code {
            0 if hit.error.is_empty() => Outcome::Reset,
            0 => outcome::from_error_text(hit.error),
            code => outcome::from_status(code),
        };
        if record.outcome != Outcome::Ok {
            record.repeat = rows.message(hit.error);
        }
        self.label.clear();
        self.label.extend_from_slice(hit.method);
        if !hit.method.is_empty() && !hit.url.is_empty() {
            self.label.push(b' ');
        }
        self.label.extend_from_slice(hit.url);
        record.step = rows.step(&self.label);
        rows.records.push(record);
        true
    }
}

/// What a result is expected to hold.
pub(super) const BOUNDS: &str =
    "a timestamp between 1990 and 2200 and a latency of up to a day, in nanoseconds";
