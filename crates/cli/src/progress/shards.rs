//! How the shards of a destination stand, while a merge waits for them.

use crate::said::{self, Renewed};
use headway_engine::merge::destination::{SoFar, Standing};
use headway_report::format::count;
use std::time::{Duration, Instant};

/// How often there is a new line where lines do not renew themselves.
const EVERY: Duration = Duration::from_secs(5);

/// The line: one that renews itself on a terminal, one every five seconds elsewhere.
pub struct Shards {
    bar: Option<Renewed>,
    last: Option<Instant>,
}

impl Shards {
    /// How many shards there are.
    pub fn new(count: u32) -> Shards {
        Shards { bar: Renewed::new(Some(u64::from(count)), "{bar:20} {msg}"), last: None }
    }

    /// Shows how they stand.
    pub fn show(&mut self, standing: &Standing) {
        match &self.bar {
            Some(bar) => {
                bar.reached(u64::from(standing.done));
                bar.says(said::cleared(&line(standing)));
            }
            None if self.last.is_none_or(|last| last.elapsed() >= EVERY) => {
                self.last = Some(Instant::now());
                said::bare(&said::cleared(&line(standing)));
            }
            None => {}
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}

fn line(s: &Standing) -> String {
    let [done, alive, all] = [s.done, s.alive, s.shards].map(|n| count(u64::from(n)));
    let so_far = match s.so_far {
        SoFar::Requests { offered, sent, failed } => {
            let [offered, sent, failed] = [offered, sent, failed].map(count);
            format!("offered {offered}  sent {sent}  failed {failed}")
        }
        SoFar::Plays { ended, of } => format!("plays {}/{}", count(ended), count(of)),
    };
    format!("{done}/{all} done  {alive} alive  {so_far}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_a_terminal_beside_its_bar() {
        let so_far = SoFar::Requests { offered: 9_999_999_999, sent: 9_999_999_990, failed: 12_345 };
        let standing = Standing { shards: 1_000, done: 12, alive: 987, so_far, until_unix_ns: 0 };
        let text = line(&standing);
        assert_eq!(
            text,
            "12/1,000 done  987 alive  offered 9,999,999,999  sent 9,999,999,990  failed 12,345"
        );
        let so_far = SoFar::Requests { offered: 12_345_678, sent: 12_345_670, failed: 12_345 };
        assert!(line(&Standing { shards: 8, so_far, ..standing }).len() < 79);
        let so_far = SoFar::Plays { ended: 999_999, of: 1_000_000 };
        let text = line(&Standing { so_far, ..standing });
        assert_eq!(text, "12/1,000 done  987 alive  plays 999,999/1,000,000");
    }
}
