//! The collector: one thread that takes the workers' batches, writes the log, keeps the statistics, and says once a
//! second how things stand. It ends the run when a threshold that may do so is crossed. The workers never wait for it unless it falls hopelessly behind, which shows as lag.

use headway_base::{Batch, Batcher, Nanos, Snapshot};
use headway_live::Control;
use headway_records::LogWriter;
use headway_stats::Analysis;
use headway_stats::summary::ThresholdResult;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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

/// What watches a run: progress, a live view, exporters. Called from the collector's thread.
pub trait Observer: Send {
    /// Once a second while the run lasts; of a simulation, once a second of its virtual time.
    fn snapshot(&mut self, _: &Snapshot) {}

    /// Rows of one worker, in its order; all of them come through here.
    fn batch(&mut self, _: &Batch) {}

    /// This threshold is crossed and ends the run.
    fn aborting(&mut self, _: &ThresholdResult) {}
}

/// Used batches, to be filled again.
type Spare = Arc<Mutex<Vec<Batch>>>;

/// The workers' end.
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
}

/// The collector, before it runs.
#[derive(Debug)]
pub struct Collector {
    receiver: Receiver<Batch>,
    spare: Spare,
    analysis: Analysis,
    log: Option<LogWriter>,
    log_failure: Option<headway_records::Error>,
}

/// A collector that feeds `analysis` and `log`, and the workers' end of it.
pub fn collector(analysis: Analysis, log: Option<LogWriter>) -> (Intake, Collector) {
    let (sender, receiver) = sync_channel(QUEUE);
    let spare = Spare::default();
    let intake = Intake { sender, spare: spare.clone() };
    (intake, Collector { receiver, spare, analysis, log, log_failure: None })
}

impl Collector {
    /// Collects until every worker is done (the intake and its sinks are gone). `now` tells the plan's time; a crossed
    /// threshold stops the run by `control`.
    pub fn run(
        mut self,
        now: impl Fn() -> Nanos,
        observers: &mut [&mut dyn Observer],
        control: &Control,
    ) -> Collected {
        headway_live::host::give_way();
        let (mut next, mut flush) = (EVERY, FLUSH_EVERY);
        loop {
            let wait = (next.min(flush) - now()).max(Nanos::ZERO);
            match self.receiver.recv_timeout(Duration::from_nanos(wait.0 as u64)) {
                Ok(batch) => self.take(batch, observers),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let at = now();
            // A plan that begins later has nothing to show yet, and a stopped process has seconds to skip.
            let after = |every: Nanos| Nanos(at.0.max(0) / every.0 * every.0) + every;
            if at >= flush {
                flush = after(FLUSH_EVERY);
                let flushed = self.log.as_mut().map_or(Ok(()), LogWriter::flush);
                self.note(flushed);
            }
            if at >= next {
                next = after(EVERY);
                let snapshot = self.analysis.snapshot(at);
                observers.iter_mut().for_each(|observer| observer.snapshot(&snapshot));
                // A run that has been stopped already needs no other reason to end.
                if control.asked() == 0
                    && let Some(crossed) = self.analysis.crossed(at)
                {
                    control.stop();
                    observers.iter_mut().for_each(|observer| observer.aborting(&crossed));
                }
            }
        }
        let finished = self.log.as_mut().map_or(Ok(()), LogWriter::finish);
        self.note(finished);
        let (written, lost) = self.log.as_ref().map_or((0, 0), |log| (log.rows_written(), log.rows_lost()));
        // The first error tells of its own rows; what is said at the end is the sum.
        if let Some(headway_records::Error::Write { rows_lost, .. }) = &mut self.log_failure {
            *rows_lost = lost;
        }
        Collected {
            rows_written: written,
            rows_lost: lost,
            analysis: self.analysis,
            log_failure: self.log_failure,
        }
    }

    fn take(&mut self, mut batch: Batch, observers: &mut [&mut dyn Observer]) {
        self.analysis.batch(&batch);
        observers.iter_mut().for_each(|observer| observer.batch(&batch));
        let appended = self.log.as_mut().map_or(Ok(()), |log| log.append(&batch.records));
        self.note(appended);
        batch.starts.clear();
        batch.records.clear();
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
    }

    /// The run goes on without its log: the statistics are still worth having. The first error is told at the end.
    fn note(&mut self, result: Result<(), headway_records::Error>) {
        if let Err(error) = result {
            self.log_failure.get_or_insert(error);
        }
    }
}
