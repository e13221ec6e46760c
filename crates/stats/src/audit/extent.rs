//! How long some rows went on: from the first start to the last end, which their rates are told by.
//!
//! Deliberately absent: gaps within.

use super::QuantileRule;
use headway_base::{Nanos, Outcome, Record};

/// First start and last end of the rows seen, in the order of their starts.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    first: Option<Nanos>,
    last: Nanos,
    brady: Option<Brady>,
}

/// What makes a row the last one in Brady's order.
#[derive(Clone, Debug, Default)]
struct Brady {
    digit: i64,
    started: i64,
    took: i64,
    rest: String,
}

impl Extent {
    /// `digit` is what the last digit of a stamp is worth.
    pub fn new(rule: QuantileRule, digit: Nanos) -> Extent {
        let brady = Brady { digit: digit.0.max(1), started: i64::MIN, ..Brady::default() };
        Extent { brady: (rule == QuantileRule::Brady).then_some(brady), ..Extent::default() }
    }

    #[inline]
    pub fn push(&mut self, started: Nanos, record: &Record) {
        if self.first.is_none() {
            (self.first, self.last) = (Some(started), started);
        }
        self.last = self.last.max(record.done).max(started);
        if let Some(brady) = &mut self.brady {
            brady.push(started, record);
        }
    }

    /// Its length in seconds; none without rows, or where all of them are one instant.
    pub fn seconds(&self) -> Option<f64> {
        let first = self.first?;
        let last = self.brady.as_ref().map_or(self.last, |b| Nanos(b.started + b.took));
        Some((last - first).as_secs_f64()).filter(|&s| s > 0.0)
    }
}

impl Brady {
    /// His tool sorts lines of `started,took,success,bytes,latency` as text and takes the last one's end for that of all,
    /// although another request may have ended later.
    fn push(&mut self, started: Nanos, record: &Record) {
        if started.0 < self.started {
            return;
        }
        let took = (record.done - started).0;
        let latency = record.first_byte.get().map_or(0, |at| (at - started).0 / self.digit);
        let success = record.outcome == Outcome::Ok;
        let rest = format!("{},{success},{},{latency}", took / self.digit, record.bytes_received);
        if started.0 > self.started || rest > self.rest {
            (self.started, self.took, self.rest) = (started.0, took, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(started: i64, took: i64) -> Record {
        let at = Nanos::from_millis(started);
        let done = at + Nanos::from_millis(took);
        Record { started: at.into(), ..Record::never_started(0, at, done, Outcome::Ok) }
    }

    #[test]
    fn the_last_end_is_that_of_any_row_but_by_bradys_rule_that_of_the_last_line() {
        let seconds = |rule, rows: &[(i64, i64)]| {
            let mut extent = Extent::new(rule, Nanos::from_millis(1));
            rows.iter().for_each(|&(at, took)| extent.push(Nanos::from_millis(at), &row(at, took)));
            extent.seconds()
        };
        let rows = [(1_000, 9_000), (2_000, 120), (2_000, 13), (2_000, 100)];
        assert_eq!(seconds(QuantileRule::Smallest, &rows), Some(9.0));
        // As text "13" is after "120" and "100".
        assert_eq!(seconds(QuantileRule::Brady, &rows), Some(1.013));
        assert_eq!(seconds(QuantileRule::Brady, &[]), None);
        assert_eq!(seconds(QuantileRule::Smallest, &[(5, 0)]), None);
    }
}
