//! Parts of the time of requests: setting up a connection, TLS, and receiving the response.
//!
//! Deliberately absent: the time to the first byte, lag and blocked time, which `requests` and `arrivals` keep.

use crate::cells::Fine;
use crate::moments::Sums;
use crate::summary::{TimePart, TimeSplit};
use headway_base::{Nanos, Record};

/// What is kept of each part.
#[derive(Clone, Debug)]
pub(crate) struct TimeSplitKept {
    connect: Part,
    tls: Part,
    receive: Part,
}

impl TimeSplitKept {
    pub fn new() -> TimeSplitKept {
        TimeSplitKept { connect: Part::new(), tls: Part::new(), receive: Part::new() }
    }

    /// Takes a request of the measured phase.
    #[inline]
    pub fn push(&mut self, record: &Record) {
        let count = u64::from(record.count);
        if let Some(span) = record.connect.get() {
            self.connect.push(span, count);
        }
        if let Some(span) = record.tls.get() {
            self.tls.push(span, count);
        }
        if let Some(first_byte) = record.first_byte.get().filter(|_| record.outcome.answered()) {
            self.receive.push(record.done - first_byte, count);
        }
    }

    pub fn summary(&self) -> TimeSplit {
        let TimeSplitKept { connect, tls, receive } = self;
        TimeSplit { connect: connect.summary(), tls: tls.summary(), receive: receive.summary() }
    }
}

#[derive(Clone, Debug)]
struct Part {
    cells: Fine,
    sums: Sums,
}

impl Part {
    fn new() -> Part {
        Part { cells: Fine::new(), sums: Sums::default() }
    }

    #[inline]
    fn push(&mut self, span: Nanos, count: u64) {
        let span = span.0.max(0) as u64;
        self.cells.push(span, count);
        self.sums.push(span, count);
    }

    fn summary(&self) -> Option<TimePart> {
        const NS: f64 = 1e9;
        let mean = self.sums.mean()? / NS;
        let cells = self.cells.cells();
        let quantile = |p| cells.quantile(p).map(|x| x.min(self.cells.max) as f64 / NS);
        let max = self.cells.max as f64 / NS;
        Some(TimePart {
            n: self.sums.n,
            mean,
            p50: quantile(0.5)?,
            p90: quantile(0.9)?,
            p99: quantile(0.99)?,
            max,
        })
    }
}
