//! The collector: takes batches, writes the log, keeps the statistics, and shows observers once a second how things stand.
//!
//! A live run has it on a thread of its own, where it takes the workers' batches from a [`BatchSource`] and ends the run when a
//! threshold that may do so is crossed. The workers never wait for it unless it falls hopelessly behind, which shows as lag. A
//! simulated run hands it each batch directly.

use crate::snapshot::{ByLabel, Snapshot};
use crate::watchdog::{Progress, SharedLog, Stage};
use headway_base::{Batch, Batcher, Nanos};
use headway_live::Control;
use headway_records::RunLog;
use headway_stats::summary::ThresholdResult;
use headway_stats::{Analysis, Facts, Summary};
use headway_workload::redact::Cleared;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Rows per batch: enough to make handing over cheap, and few enough (some 15 us of work) that a collector on the same core
/// does not hold up the worker for long: hold-ups of h that take a share w of the time add rate x w x h to the squared CoV.
const ROWS_PER_BATCH: usize = 128;

/// Batches that may wait for the collector.
const QUEUE: usize = 2_048;

/// A snapshot is taken this often.
const EVERY: Nanos = Nanos::from_secs(1);

/// The log is handed to the system this often. With the quarter of a second that rows wait in a worker's batch, a killed
/// process loses less than a second of them.
const FLUSH_EVERY: Nanos = Nanos::from_millis(500);

/// What watches a run: progress, a live view, exporters. Called on the collector's thread.
pub trait Observer: Send {
    /// Whether its snapshots are to hold what ended by label, which costs some time for each request.
    fn wants_labels(&self) -> bool {
        false
    }

    /// Once a second while the run lasts; of a simulation, once a second of its virtual time.
    fn snapshot(&mut self, _: &Snapshot) {}

    /// Whether it wants a summary of what has ended so far, asked before each snapshot: what that is made of is then copied on
    /// the collector's thread.
    fn wants_so_far(&mut self) -> bool {
        false
    }

    /// What a summary of what has ended so far is made of, after the snapshot of that instant.
    fn so_far(&mut self, _: SoFar, _: &Snapshot) {}

    /// The last snapshot, when everything has ended.
    fn finished(&mut self, _: &Snapshot) {}

    /// Rows of one worker, in its order; all of them come through here.
    fn batch(&mut self, _: &Batch) {}

    /// This threshold is crossed and ends the run.
    fn aborting(&mut self, _: &ThresholdResult) {}
}

/// What has ended so far, of which a summary can be made on another thread.
#[derive(Clone, Debug)]
pub struct SoFar {
    at: Nanos,
    analysis: Analysis,
    facts: Facts,
}

impl SoFar {
    /// The time since the plan's zero.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// The summary, of what every worker has reported; takes milliseconds.
    pub fn summary(self) -> Summary {
        self.analysis.so_far(self.at, self.facts)
    }
}

/// Where a collector takes batches from while a run goes on.
pub trait BatchSource {
    /// The next batch; waits for it for at most `wait`.
    fn next(&mut self, wait: Duration) -> Next;

    /// Takes back a batch that has been collected, so that its memory serves again.
    fn give_back(&mut self, batch: Batch);
}

/// What a [`BatchSource`] has.
#[derive(Debug)]
pub enum Next {
    /// A batch.
    Batch(Batch),
    /// None yet.
    Nothing,
    /// None any more: every worker is done.
    Ended,
}

/// Used batches, to be filled again.
type Spare = Arc<Mutex<Vec<Batch>>>;

/// The workers' end of a channel.
#[derive(Debug)]
pub struct Intake {
    sender: SyncSender<Batch>,
    spare: Spare,
}

impl Intake {
    /// The sink of worker `source`.
    pub fn sink(&self, source: u32) -> Batcher<impl FnMut(Batch) -> Batch + use<>> {
        let (sender, spare) = (self.sender.clone(), self.spare.clone());
        Batcher::new(source as u16, ROWS_PER_BATCH, move |batch| {
            // The collector outlives the workers; if it came down, its panic is what gets told.
            let _ = sender.send(batch);
            spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
        })
    }
}

/// The collector's end: it has ended when the intake and all of its sinks are gone.
#[derive(Debug)]
pub struct Channel {
    waiting: Waiting,
    spare: Spare,
}

/// The batches that wait for the collector, which others may take if it does not.
#[derive(Clone, Debug)]
pub(crate) struct Waiting(Arc<Mutex<Receiver<Batch>>>);

impl Waiting {
    /// Takes batches for so long at most; whether every worker is done and none is left.
    pub(crate) fn drain(&self, longest: Duration, mut take: impl FnMut(&Batch)) -> bool {
        const PAUSE: Duration = Duration::from_millis(50);
        let end = Instant::now() + longest;
        while Instant::now() < end {
            // The collector has it for as long as it waits, which it does half a second at most.
            let Ok(receiver) = self.0.try_lock() else {
                std::thread::sleep(PAUSE);
                continue;
            };
            match receiver.recv_timeout(PAUSE) {
                Ok(batch) => take(&batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
        false
    }
}

impl Channel {
    /// What waits for the collector.
    pub(crate) fn waiting(&self) -> Waiting {
        self.waiting.clone()
    }
}

/// A channel from the workers to the collector.
pub fn channel() -> (Intake, Channel) {
    let (sender, receiver) = sync_channel(QUEUE);
    let spare = Spare::default();
    let waiting = Waiting(Arc::new(Mutex::new(receiver)));
    (Intake { sender, spare: spare.clone() }, Channel { waiting, spare })
}

impl BatchSource for Channel {
    fn next(&mut self, wait: Duration) -> Next {
        match self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(wait) {
            Ok(batch) => Next::Batch(batch),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    fn give_back(&mut self, batch: Batch) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
    }
}

/// What the collector leaves behind.
#[derive(Debug)]
pub struct Collected {
    /// The statistics, all records in.
    pub analysis: Analysis,
    /// Rows in the log.
    pub rows_written: u64,
    /// The first error of the log, if there was one.
    pub log_failure: Option<headway_records::Error>,
    /// Rows that the log has lost.
    pub rows_lost: u64,
    /// Where the log is now, if that is known.
    pub log_place: Option<PathBuf>,
}

/// Takes batches, for as long as a run lasts.
pub struct Collector<'a, 'b> {
    analysis: Analysis,
    log: SharedLog,
    progress: Arc<Progress>,
    log_failure: Option<headway_records::Error>,
    observers: &'a mut [&'b mut dyn Observer],
    /// What has ended since the last snapshot, if an observer wants it.
    by_label: Option<ByLabel>,
    /// What is known of the run beside its records, for summaries of what has ended so far.
    facts: Facts,
    /// When the next snapshot is due.
    next: Nanos,
}

impl<'a, 'b> Collector<'a, 'b> {
    /// One that feeds `analysis` and `log`; `labels` are those of the steps, and `facts` what is known of the run.
    pub fn new(
        analysis: Analysis,
        log: Option<RunLog>,
        labels: &[Cleared],
        facts: Facts,
        observers: &'a mut [&'b mut dyn Observer],
    ) -> Collector<'a, 'b> {
        let wanted = observers.iter().any(|observer| observer.wants_labels());
        let by_label = wanted.then(|| ByLabel::new(labels));
        let log = Arc::new(Mutex::new(log));
        let progress = Arc::default();
        Collector { analysis, log, progress, log_failure: None, observers, by_label, facts, next: EVERY }
    }

    /// What tells how far it has come, and its log.
    pub(crate) fn watched(&self) -> (Arc<Progress>, SharedLog) {
        (self.progress.clone(), self.log.clone())
    }

    /// Takes one batch, to the log before all else: what fails or hangs later leaves its rows.
    pub fn take(&mut self, batch: &Batch) {
        let appended = self.to_log(|log| log.append(&batch.records, &batch.events));
        self.note(appended);
        self.progress.enter(Stage::Statistics);
        self.analysis.batch(batch);
        if let Some(by_label) = &mut self.by_label {
            batch.records.iter().for_each(|record| by_label.record(record));
        }
        self.progress.enter(Stage::Observers);
        self.observers.iter_mut().for_each(|observer| observer.batch(batch));
        self.progress.take(batch.records.len());
    }

    /// Does that with the log, if there is one.
    fn to_log(
        &self,
        act: impl FnOnce(&mut RunLog) -> Result<(), headway_records::Error>,
    ) -> Result<(), headway_records::Error> {
        self.progress.enter(Stage::Log);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map_or(Ok(()), act)
    }

    /// Shows how things stand if that is due; whether it was.
    pub fn show(&mut self, at: Nanos) -> bool {
        if at < self.next {
            return false;
        }
        // A plan that begins later has nothing to show yet, and a stopped process has seconds to skip.
        self.next = Nanos(at.0.max(0) / EVERY.0 * EVERY.0) + EVERY;
        self.progress.enter(Stage::Observers);
        if !self.observers.is_empty() {
            let snapshot = self.snapshot(at);
            self.observers.iter_mut().for_each(|observer| observer.snapshot(&snapshot));
            for observer in self.observers.iter_mut().filter_map(|o| o.wants_so_far().then_some(o)) {
                let (analysis, facts) = (self.analysis.clone(), self.facts.clone());
                observer.so_far(SoFar { at, analysis, facts }, &snapshot);
            }
        }
        true
    }

    fn snapshot(&mut self, at: Nanos) -> Snapshot {
        let by_label = self.by_label.as_mut().map(ByLabel::take).unwrap_or_default();
        Snapshot { now: self.analysis.snapshot(at), by_label }
    }

    /// Collects until every worker is done. `plan_time` tells the plan's time at an instant, and `end` is when nothing new starts any more; a crossed threshold
    /// stops the run by `control`.
    pub fn run(
        mut self,
        source: &mut impl BatchSource,
        plan_time: impl Fn(Instant) -> Nanos,
        end: Nanos,
        control: &Control,
    ) -> Collected {
        let now = || plan_time(Instant::now());
        let mut flush = FLUSH_EVERY;
        loop {
            let wait = (self.next.min(flush) - now()).max(Nanos::ZERO);
            self.progress.enter(Stage::Workers);
            match source.next(Duration::from_nanos(wait.0 as u64)) {
                Next::Batch(mut batch) => {
                    self.take(&batch);
                    batch.starts.clear();
                    batch.records.clear();
                    batch.events.clear();
                    source.give_back(batch);
                }
                Next::Nothing => {}
                Next::Ended => break,
            }
            let at = now();
            if at >= flush {
                flush = Nanos(at.0.max(0) / FLUSH_EVERY.0 * FLUSH_EVERY.0) + FLUSH_EVERY;
                let flushed = self.to_log(RunLog::flush);
                self.note(flushed);
            }
            // A run that has been stopped already needs no other reason to end.
            if self.show(at)
                && control.asked() == 0
                && let Some(crossed) = self.analysis.crossed(at)
            {
                control.stop();
                self.observers.iter_mut().for_each(|observer| observer.aborting(&crossed));
            }
        }
        let at = now();
        // A request to stop which comes after the plan has ended stops nothing.
        let asked = control.asked_at().filter(|_| at < end);
        self.finish(at, asked.map(plan_time))
    }

    /// Closes the log and shows the last snapshot; the run was stopped then, if it was.
    pub fn finish(mut self, at: Nanos, stopped_at: Option<Nanos>) -> Collected {
        let flushed = self.to_log(RunLog::flush);
        let progress = self.progress.clone();
        let finished = flushed.and(self.to_log(|log| {
            progress.enter(Stage::Device);
            if let Some(at) = stopped_at {
                log.stopped(at);
            }
            log.finish()
        }));
        self.note(finished);
        self.progress.enter(Stage::Observers);
        if !self.observers.is_empty() {
            let last = self.snapshot(at);
            self.observers.iter_mut().for_each(|observer| observer.finished(&last));
        }
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        let log_place = log.as_ref().and_then(|log| headway_live::host::place_of(log.file()?));
        let (written, lost) = log.map_or((0, 0), |log| (log.rows_written(), log.rows_lost()));
        // The first error tells of its own rows; what is said at the end is the sum.
        if let Some(headway_records::Error::Write { rows_lost, .. }) = &mut self.log_failure {
            *rows_lost = lost;
        }
        Collected {
            rows_written: written,
            rows_lost: lost,
            log_place,
            analysis: self.analysis,
            log_failure: self.log_failure,
        }
    }

    /// The run goes on without its log: the statistics are still worth having. The first error is told at the end.
    fn note(&mut self, result: Result<(), headway_records::Error>) {
        if let Err(error) = result {
            self.log_failure.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis_setup;
    use headway_base::{Outcome, Phase, Profile, Rate, Record, Stamp, Start};
    use headway_workload::plan::Group;
    use headway_workload::{Plan, Process};

    /// Batches that are there from the beginning; no thread, no channel.
    struct Ready(std::vec::IntoIter<Batch>);

    impl BatchSource for Ready {
        fn next(&mut self, _: Duration) -> Next {
            self.0.next().map_or(Next::Ended, Next::Batch)
        }
        fn give_back(&mut self, batch: Batch) {
            assert!(batch.records.is_empty() && batch.starts.is_empty(), "it is emptied before");
        }
    }

    #[derive(Default)]
    struct Seen {
        ended: Vec<u64>,
        merged: ByLabel,
        snapshots: usize,
        rows: usize,
        asks: bool,
        /// Of each summary so far: requests that ended, and by how many the snapshot of that instant knows more.
        so_far: Vec<(u64, u64)>,
    }

    impl Observer for Seen {
        fn wants_labels(&self) -> bool {
            true
        }
        fn snapshot(&mut self, snapshot: &Snapshot) {
            self.snapshots += 1;
            self.ended.push(snapshot.now.ended);
            self.merged.merge(&snapshot.by_label);
        }
        fn wants_so_far(&mut self) -> bool {
            self.asks
        }
        fn so_far(&mut self, so_far: SoFar, snapshot: &Snapshot) {
            let n = so_far.summary().outcomes.values().sum();
            self.so_far.push((n, snapshot.now.ended - n));
        }
        fn finished(&mut self, snapshot: &Snapshot) {
            self.ended.push(snapshot.now.ended);
            self.merged.merge(&snapshot.by_label);
        }
        fn batch(&mut self, batch: &Batch) {
            self.rows += batch.records.len();
        }
    }

    /// Sixty batches, one every 100 ms, each of ten requests of two steps, one in ten of them failed.
    fn batches() -> Vec<Batch> {
        let batch = |b: i64| {
            let at = Nanos::from_millis(100 * b);
            let mut batch = Batch { watermark: at, last: b == 59, ..Batch::default() };
            for i in 0..10 {
                let due = at + Nanos::from_millis(i);
                let outcome = if i == 7 { Outcome::Status } else { Outcome::Ok };
                let done = due + Nanos::from_micros(100 + 37 * b + i);
                let step = u16::from(i % 3 == 0);
                batch.starts.push(Start::arrival(due, due, step));
                let row = Record::never_started((10 * b + i) as u64, due, done, outcome);
                batch.records.push(Record { started: Stamp::from(due), sent: Stamp::from(due), step, ..row });
            }
            batch
        };
        (0..60).map(batch).collect()
    }

    #[test]
    fn every_observer_sees_every_request_once() {
        let profile = Profile::new(&[Phase::hold(Nanos::from_secs(6), Rate(100.0))]);
        let plan = Plan::of(1, Group::open(Process::Constant, profile), Nanos::ZERO, Nanos::from_secs(6));
        let labels = ["list".into(), "add".into()];
        let analysis = Analysis::new(analysis_setup(&plan, &labels, 1));
        let (mut one, mut other) = (Seen::default(), Seen { asks: true, ..Seen::default() });
        let mut observers: [&mut dyn Observer; 2] = [&mut one, &mut other];
        let collector = Collector::new(analysis, None, &labels, Facts::default(), &mut observers);
        // Each look at the clock advances it by 50 ms.
        let clock = std::cell::Cell::new(Nanos::ZERO);
        let now = |_| {
            clock.set(clock.get() + Nanos::from_millis(50));
            clock.get()
        };
        let collected =
            collector.run(&mut Ready(batches().into_iter()), now, Nanos::MAX, &Control::default());
        assert_eq!((collected.rows_lost, collected.log_failure.is_none()), (0, true));
        let mut whole = ByLabel::new(&labels);
        batches().iter().flat_map(|batch| &batch.records).for_each(|record| whole.record(record));
        for seen in [&one, &other] {
            assert_eq!((seen.rows, seen.ended.last()), (600, Some(&600)));
            assert!(seen.snapshots >= 4 && seen.ended.is_sorted(), "{:?}", seen.ended);
            assert_eq!(seen.merged, whole);
        }
        assert_eq!(whole.labels[0].outcomes[&Outcome::Status], 60);
        // Only who asks is handed what has ended so far, and that is all of it.
        assert!(one.so_far.is_empty());
        assert_eq!(other.so_far.len(), other.snapshots);
        assert!(
            other.so_far.is_sorted() && other.so_far.iter().all(|&(n, more)| n > 0 && more == 0),
            "{:?}",
            other.so_far
        );
    }
}
