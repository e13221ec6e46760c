//! Progress on standard error: a line that renews itself on a terminal, a line every five seconds elsewhere.

mod audit;
mod shards;

pub use audit::Bar;
pub use shards::Shards;

use crate::said::{self, Renewed};
use crate::settings::Load;
use headway_base::Nanos;
use headway_base::Snapshot as Standing;
use headway_engine::{Goal, Observer, Snapshot};
use headway_stats::summary::ThresholdResult;

/// Shows how far a run is.
pub struct Progress {
    bar: Option<Renewed>,
    goal: Goal,
    every: u64,
    seen: u64,
}

/// What a run of that load is on its way to.
pub fn goal(load: &Load) -> Goal {
    match (load.plan.is_fixed_work(), load.requests) {
        (false, _) => Goal::Until(load.plan.end()),
        (true, Some(n)) => Goal::Requests(n),
        (true, None) => Goal::Done,
    }
}

impl Progress {
    /// Of a run on its way to that goal.
    pub fn new(goal: Goal) -> Progress {
        let total = goal.reached(&Standing::default()).map(|(_, total)| total);
        let bar = Renewed::new(total, "{bar:20} {msg}");
        Progress { bar, goal, every: 5, seen: 0 }
    }

    /// Clears the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}

impl Observer for Progress {
    fn snapshot(&mut self, snapshot: &Snapshot) {
        self.seen += 1;
        let snapshot = &snapshot.now;
        let text = said::cleared(&line(snapshot, self.goal));
        match &self.bar {
            Some(bar) => {
                if let Some((reached, _)) = self.goal.reached(snapshot) {
                    bar.reached(reached);
                }
                bar.says(text);
            }
            None if self.seen.is_multiple_of(self.every) => said::bare(&text),
            None => {}
        }
    }

    fn aborting(&mut self, crossed: &ThresholdResult) {
        let text = said::cleared(&format!(
            "headway: {}: stopping; waiting for answers (Ctrl-C: stop at once)",
            headway_report::words::thresholds::sentence(crossed)
        ));
        match &self.bar {
            Some(bar) => bar.above(&text),
            None => said::bare(&text),
        }
    }
}

/// Shows how many of the plays of a study have ended; on a terminal alone, for nobody waits for each of them.
pub struct Plays {
    bar: Option<Renewed>,
}

impl Plays {
    /// None of so many yet.
    pub fn new(all: u64) -> Plays {
        Plays { bar: Renewed::new(Some(all), "{bar:20} {pos}/{len} plays, {eta} to go") }
    }

    /// One more has ended.
    pub fn one_more(&mut self) {
        if let Some(bar) = &self.bar {
            bar.one_more();
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}

fn line(s: &Standing, goal: Goal) -> String {
    let ms = |t: Option<Nanos>| match t.map(|t| t.as_secs_f64() * 1e3) {
        None => "-".to_owned(),
        Some(ms) if ms < 100.0 => format!("{ms:.2}"),
        Some(ms) => format!("{ms:.0}"),
    };
    let waiting = s.started.saturating_sub(s.ended);
    let seconds = s.at.as_secs_f64();
    let reached = match goal {
        Goal::Until(end) => format!("{seconds:.0}/{:.0} s", end.as_secs_f64()),
        Goal::Requests(n) => format!("{seconds:.0} s  {}/{n}", s.ended),
        Goal::Done => format!("{seconds:.0} s  {}", s.ended),
    };
    format!(
        "{reached}  {}/s  p50 {} p99 {} ms  in flight {waiting}  failed {}",
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
        let snapshot = Standing {
            at: Nanos::from_secs(3599),
            started: 10_000_000,
            ended: 9_990_000,
            failed: 123_456,
            started_last_second: 123_456,
            response_p50: Some(Nanos::from_micros(123_456)),
            response_p99: Some(Nanos::from_millis(12_345)),
            lag_max: None,
        };
        let text = line(&snapshot, Goal::Until(Nanos::from_secs(3600)));
        assert!(text.len() <= 80, "{} {text}", text.len());
        assert!(
            text.starts_with("3599/3600 s") && text.contains("123456/s") && text.contains("p99 12345 ms")
        );
        let few = Standing { started: 900, ended: 870, ..snapshot };
        assert!(line(&few, Goal::Requests(1_000)).starts_with("3599 s  870/1000  "));
    }
}
