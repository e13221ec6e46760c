//! Notices that a run does not end, names the stage that is stuck, and saves what has not reached the log.
//!
//! A stage is stuck if it makes no progress after the plan's last deadline. Progress is records taken, rows written and stages
//! entered, as of fifty looks; time by itself proves nothing: a process that was stopped looks at nothing meanwhile.
//!
//! Deliberately absent: what is said and done about it (the program that has the run decides), and a way to end a thread that hangs.

use crate::collect::Waiting;
use headway_base::{Batch, Nanos};
use headway_live::Control;
use headway_records::RunLog;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::time::Duration;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Looks without progress after which a stage is stuck: 5 s.
const LOOKS: u32 = 50;

/// The same while the device of the log is waited for, which may have minutes of writing in its queues: 60 s.
const LOOKS_OF_DEVICE: u32 = 600;

/// For so long at most what waits for a stuck collector is moved to the log.
const SAVING: Duration = Duration::from_secs(1);

/// What a record passes through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The workers: they send requests, read responses and make records.
    Workers,
    /// The log of the run.
    Log,
    /// The statistics.
    Statistics,
    /// The device that holds the log, which is waited for at the end.
    Device,
    /// What watches the run: the progress line, the live view, exporters, an embedding program's observers.
    Observers,
}

impl Stage {
    const ALL: [Stage; 5] = [Stage::Workers, Stage::Log, Stage::Statistics, Stage::Device, Stage::Observers];

    /// How long it may make no progress.
    pub fn patience(self) -> Nanos {
        Nanos::from_millis(LOOK.as_millis() as i64 * i64::from(self.looks()))
    }

    fn looks(self) -> u32 {
        if self == Stage::Device { LOOKS_OF_DEVICE } else { LOOKS }
    }

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Workers => "workers",
            Stage::Log => "log",
            Stage::Statistics => "statistics",
            Stage::Device => "device",
            Stage::Observers => "observers",
        }
    }
}

/// A stage that is stuck, and what was saved of the run.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// Which one.
    pub stage: Stage,
    /// Records that the collector had taken.
    pub taken: u64,
    /// The folder of the run, if it is kept.
    pub folder: Option<PathBuf>,
    /// Rows in its log, all that had been recorded included; none without a log, or if the log itself is stuck.
    pub rows: Option<u64>,
    /// Whether every worker had ended by then, so that the log has all there is.
    pub complete: bool,
}

/// Called once with a stage that is stuck, on a thread of its own. The run does not return: the program has to end.
pub type OnStuck = fn(&Stuck);

/// The log of a run, which the collector writes; if the collector is stuck elsewhere, so can another.
pub(crate) type SharedLog = Arc<Mutex<Option<RunLog>>>;

/// How far the collector has come.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    stage: AtomicU8,
    /// Stages entered.
    entered: AtomicU64,
    /// Records taken.
    taken: AtomicU64,
}

impl Progress {
    /// The collector turns to that stage.
    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
        self.entered.fetch_add(1, Ordering::Relaxed);
    }

    /// The collector has taken that many records.
    pub(crate) fn take(&self, records: usize) {
        self.taken.fetch_add(records as u64, Ordering::Relaxed);
    }

    fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed))]
    }
}

/// The instants after which nothing is waited for any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    /// When nothing new starts any more, in the plan's time.
    pub last_start: Nanos,
    /// How long after that the last request may still be under way.
    pub last_request: Nanos,
}

/// Looks after a run until it is told that it is over.
#[derive(Debug)]
pub(crate) struct Watchdog<'a> {
    pub progress: Arc<Progress>,
    pub log: SharedLog,
    pub waiting: Waiting,
    pub deadlines: Deadlines,
    pub folder: Option<&'a Path>,
    pub on_stuck: OnStuck,
}

/// Tells a watchdog that the run is over, at the latest when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Over {
    over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    pub(crate) fn tell(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for a look's time; whether the run is over.
    fn wait(&self) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(over, LOOK, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Counts looks without progress.
#[derive(Debug, Default)]
struct Looks {
    entered: u64,
    taken: u64,
    /// Looks since the collector entered a stage, and since it took a record.
    still: u32,
    idle: u32,
}

impl Looks {
    /// Looks once; which stage is stuck. `started` tells whether the last start is past, `requests` whether the last request's deadline is.
    fn look(&mut self, progress: &Progress, started: bool, requests: bool) -> Option<Stage> {
        let (entered, taken) =
            (progress.entered.load(Ordering::Relaxed), progress.taken.load(Ordering::Relaxed));
        self.still = if started && entered == self.entered { self.still + 1 } else { 0 };
        self.idle = if requests && taken == self.taken { self.idle + 1 } else { 0 };
        (self.entered, self.taken) = (entered, taken);
        match progress.stage() {
            // It never waits for so long: it looks at the clock twice a second.
            stage if self.still >= stage.looks() && stage != Stage::Workers => Some(stage),
            Stage::Workers if self.idle >= LOOKS => Some(Stage::Workers),
            _ => None,
        }
    }
}

impl Watchdog<'_> {
    /// Looks until the run is over or a stage is stuck.
    pub(crate) fn watch(&self, over: &Over, now: impl Fn() -> Nanos, control: &Control) {
        let mut looks = Looks::default();
        let mut stopped = None;
        while !over.wait() {
            let now = now();
            let asked = control.asked();
            if asked > 0 {
                stopped.get_or_insert(now);
            }
            let last_start =
                stopped.map_or(self.deadlines.last_start, |at| at.min(self.deadlines.last_start));
            // Asked twice, no worker waits for a response.
            let last_request = if asked > 1 { Nanos::ZERO } else { self.deadlines.last_request };
            let past_request = now > last_start.saturating_add(last_request);
            if let Some(stage) = looks.look(&self.progress, now > last_start, past_request) {
                (self.on_stuck)(&self.save(stage));
                return;
            }
        }
    }

    /// Moves what the collector has not taken to the log, which it appends to before anything else.
    fn save(&self, stage: Stage) -> Stuck {
        let mut log = match self.log.try_lock() {
            Ok(log) => Some(log),
            Err(TryLockError::Poisoned(log)) => Some(log.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let mut complete = false;
        let rows = log.as_mut().and_then(|log| log.as_mut()).map(|log| {
            // What fails is among the rows that are lost, and not among those written.
            complete =
                self.waiting.drain(SAVING, |batch: &Batch| drop(log.append(&batch.records, &batch.events)));
            drop(log.flush());
            log.rows_written()
        });
        Stuck {
            stage,
            taken: self.progress.taken.load(Ordering::Relaxed),
            folder: self.folder.map(Path::to_path_buf),
            rows,
            complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_is_entered_and_not_left_is_stuck_after_fifty_looks() {
        let (progress, mut looks) = (Progress::default(), Looks::default());
        for _ in 0..1_000 {
            progress.enter(Stage::Statistics);
            assert_eq!(looks.look(&progress, true, true), None);
        }
        let mut looks = Looks::default();
        progress.take(1);
        progress.enter(Stage::Log);
        let mut seen = (0..200).map(|_| looks.look(&progress, true, false));
        assert_eq!(seen.position(|stuck| stuck == Some(Stage::Log)), Some(LOOKS as usize));
    }

    #[test]
    fn before_the_last_deadline_nothing_is_stuck() {
        let (progress, mut looks) = (Progress::default(), Looks::default());
        progress.enter(Stage::Log);
        assert!((0..1_000).all(|_| looks.look(&progress, false, false).is_none()));
        progress.enter(Stage::Workers);
        assert!((0..1_000).all(|_| looks.look(&progress, true, false).is_none()));
    }

    #[test]
    fn workers_that_make_records_are_not_stuck_and_silent_ones_are() {
        let (progress, mut looks) = (Progress::default(), Looks::default());
        for i in 0..1_000 {
            progress.enter(Stage::Workers);
            progress.take(usize::from(i % 40 == 0));
            assert_eq!(looks.look(&progress, true, true), None);
        }
        let stuck = (0..200).find_map(|_| {
            progress.enter(Stage::Workers);
            looks.look(&progress, true, true)
        });
        assert_eq!(stuck, Some(Stage::Workers));
    }
}
