//! Clocks that were set back while the rows were written, and logs that follow one another in one file.
//!
//! Rows are written when requests are over, so a start lies before an earlier row's by no more than its own request took.
//! Where many rows in a row start much earlier than that, the clock had been set back. A clock that was set ahead
//! cannot be distinguished from a pause, and is left to the analysis of the headways.

use headway_base::{Kind, Nanos, Record};

/// Rows in a row that show a step; a few may be late for other reasons.
const ROWS: u32 = 20;
/// Smallest step that is reported: clocks are disciplined by milliseconds all the time.
const LEAST: Nanos = Nanos::from_secs(2);
/// A step is seen from a row that came late to one that came early.
const ABOUT_AN_HOUR_S: f64 = 60.0;
/// A file with more steps than this is not in the order of time, which is another matter.
const MOST: usize = 10;

/// Watches the rows of one file, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    latest: Nanos,
    rows: u64,
    early: u32,
    /// Number of the first row after the step, and how far it went back.
    first: (u64, Nanos),
    found: Vec<(u64, Nanos)>,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { latest: Nanos(i64::MIN), rows: 0, early: 0, first: (0, Nanos::ZERO), found: Vec::new() }
    }
}

impl Steps {
    pub(crate) fn push(&mut self, records: &[Record]) {
        for r in records.iter().filter(|r| r.kind == Kind::Request) {
            let Some(started) = r.started.get() else { continue };
            self.rows += 1;
            let taken = (r.done - started).saturating_add(r.done - started).saturating_add(LEAST);
            if started.saturating_add(taken) >= self.latest {
                self.latest = self.latest.max(started);
                self.early = 0;
                continue;
            }
            if self.early == 0 {
                self.first = (self.rows, self.latest - started);
            }
            self.early += 1;
            if self.early == ROWS && self.found.len() <= MOST {
                self.found.push(self.first);
                self.latest = started;
                self.early = 0;
            }
        }
    }

    /// What is to be said of it, a sentence each.
    pub(crate) fn words(&self) -> Vec<String> {
        match self.found.len() {
            0 => Vec::new(),
            n if n > MOST => vec!["Its rows are not in the order of time.".to_owned()],
            _ => self
                .found
                .iter()
                .map(|(row, back)| {
                    let hour = (back.as_secs_f64() - 3600.0).abs() < ABOUT_AN_HOUR_S;
                    let summer = if hour { ", or summer time ended (--zone names the zone of the stamps)" } else { "" };
                    format!(
                        "From its row {row} on stamps lie {:.1} s before those of earlier rows: the clock was set back{summer}, or \
                         several logs follow one another. Rows are judged by their stamps.",
                        back.as_secs_f64()
                    )
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;

    fn row(at_ms: i64, took_ms: i64) -> Record {
        let (at, done) = (Nanos::from_millis(at_ms), Nanos::from_millis(at_ms + took_ms));
        Record { started: at.into(), ..Record::never_started(0, at, done, Outcome::Ok) }
    }

    fn words(rows: impl IntoIterator<Item = Record>) -> Vec<String> {
        let mut steps = Steps::default();
        rows.into_iter().for_each(|r| steps.push(&[r]));
        steps.words()
    }

    #[test]
    fn a_clock_set_back_is_told_with_its_row() {
        let said = words((0..500).map(|k| row(k * 100 - if k >= 300 { 5_000 } else { 0 }, 3)));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("From its row 301 on stamps lie 4.9 s before"), "{said:?}");
    }

    #[test]
    fn slow_requests_and_files_out_of_order_are_no_steps() {
        // Timeouts of 30 s come in a crowd, written when they are over.
        let crowd =
            (0..900).map(|k| if k % 300 > 200 { row(k * 100 - 30_000, 30_000) } else { row(k * 100, 3) });
        assert_eq!(words(crowd), Vec::<String>::new());
        let reversed = words((0..5_000).rev().map(|k| row(k * 100, 3)));
        assert_eq!(reversed, ["Its rows are not in the order of time."]);
    }
}
