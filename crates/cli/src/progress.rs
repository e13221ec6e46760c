//! Progress on standard error: a line that renews itself on a terminal, a line every five seconds elsewhere.

use crate::collect::Observer;
use base::{Nanos, Snapshot};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stats::summary::ThresholdResult;
use std::io::{IsTerminal, Write, stderr};

/// Shows how far a run is.
pub struct Progress {
    bar: Option<ProgressBar>,
    end: Nanos,
    every: u64,
    seen: u64,
}

impl Progress {
    /// Of a run whose plan ends at `end`.
    pub fn new(end: Nanos) -> Progress {
        let bar = stderr().is_terminal().then(|| {
            let total_ms = (end.0 / 1_000_000).max(1) as u64;
            let bar = ProgressBar::with_draw_target(Some(total_ms), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:20} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Progress { bar, end, every: 5, seen: 0 }
    }

    /// Clears the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Progress {
    fn snapshot(&mut self, snapshot: &Snapshot) {
        self.seen += 1;
        let text = line(snapshot, self.end);
        match &self.bar {
            Some(bar) => {
                bar.set_position((snapshot.at.0 / 1_000_000).max(0) as u64);
                bar.set_message(text);
            }
            None if self.seen.is_multiple_of(self.every) => {
                // A closed standard error is nobody's loss.
                let _ = writeln!(stderr(), "{text}");
            }
            None => {}
        }
    }

    fn aborting(&mut self, crossed: &ThresholdResult) {
        let text = format!(
            "headway: {}: stopping; waiting for answers (Ctrl-C: stop at once)",
            report::words::thresholds::sentence(crossed)
        );
        match &self.bar {
            Some(bar) => bar.println(text),
            None => {
                let _ = writeln!(stderr(), "{text}");
            }
        }
    }
}

fn line(s: &Snapshot, end: Nanos) -> String {
    let ms = |t: Option<Nanos>| match t.map(|t| t.as_secs_f64() * 1e3) {
        None => "-".to_owned(),
        Some(ms) if ms < 100.0 => format!("{ms:.2}"),
        Some(ms) => format!("{ms:.0}"),
    };
    let waiting = s.started.saturating_sub(s.ended);
    format!(
        "{:.0}/{:.0} s  {}/s  p50 {} p99 {} ms  in flight {waiting}  failed {}",
        s.at.as_secs_f64(),
        end.as_secs_f64(),
        s.started_last_second,
        ms(s.response_p50),
        ms(s.response_p99),
        s.failed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_a_terminal() {
        let snapshot = Snapshot {
            at: Nanos::from_secs(3599),
            started: 10_000_000,
            ended: 9_990_000,
            failed: 123_456,
            started_last_second: 123_456,
            response_p50: Some(Nanos::from_micros(123_456)),
            response_p99: Some(Nanos::from_millis(12_345)),
            lag_max: None,
        };
        let text = line(&snapshot, Nanos::from_secs(3600));
        assert!(text.len() <= 80, "{} {text}", text.len());
        assert!(text.contains("123456/s") && text.contains("p99 12345 ms"));
    }
}
