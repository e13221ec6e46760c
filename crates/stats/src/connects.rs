//! What became of attempts to connect, where each request opens a connection of its own.
//!
//! Each is counted by when it happened: an attempt when it started, an established connection when it stood, a failure or a response when it
//! ended. Deliberately absent: how long connecting took (`time_split`), and response times (`requests`).

use crate::intervals::SEGMENTS;
use crate::levels::Levels;
use crate::phase::Measured;
use crate::setup::{Setup, UsersAsked, Workload};
use crate::summary::{ConnectCounts, ConnectRates, Connects, PlanSummary};
use headway_base::{Nanos, Outcome, Record};

/// What is kept of attempts.
#[derive(Clone, Debug)]
pub(crate) struct ConnectsKept {
    measured: Measured,
    counts: ConnectCounts,
    /// Sockets that are connecting.
    connecting: Levels,
    /// Sockets that are to be kept connecting over time; none where attempts arrive by a plan or by users.
    sockets: Option<UsersAsked>,
    /// By segment: how long sockets that were due to connect had not, in seconds.
    late_s: [f64; SEGMENTS],
    /// The longest span in which workers may stand still.
    forgiven: Nanos,
    /// By segment: for how long they stood still, of the spans that were longer; in nanoseconds, so that the sum does not hang on the order
    /// of the records.
    stood_still: [i64; SEGMENTS],
    /// Requests whose records do not say for how long the generator stood still.
    untold: u64,
}

impl ConnectsKept {
    pub fn new(setup: &Setup, measured: Measured) -> ConnectsKept {
        ConnectsKept {
            measured,
            counts: ConnectCounts::default(),
            connecting: Levels::means_alone(measured),
            sockets: setup.users.clone().filter(|_| setup.workload == Workload::Connecting),
            late_s: [0.0; SEGMENTS],
            forgiven: setup.lateness().length(),
            stood_still: [0; SEGMENTS],
            untold: 0,
        }
    }

    /// Takes a request.
    #[inline]
    pub fn request(&mut self, record: &Record) {
        let within = |at: Nanos| u64::from((self.measured.start..self.measured.end).contains(&at));
        let counts = &mut self.counts;
        if let Some(started) = record.started.get() {
            counts.attempts += within(started);
            let stood = record.connect.get().map(|connect| started + connect);
            counts.established += stood.map_or(0, within);
            self.connecting.change(started, 1);
            self.connecting.change(stood.unwrap_or(record.done).max(started), -1);
        }
        let ended = within(record.done) * u64::from(record.count);
        match record.outcome {
            outcome if outcome.answered() => counts.served += ended,
            Outcome::Refused => counts.refused += ended,
            Outcome::ConnectTimeout => counts.timed_out += ended,
            Outcome::LocalLimit => counts.local_limit += ended,
            _ => counts.failed += ended,
        }
        if let (Some(lag), Some(segment)) = (record.lag(), self.measured.segment(record.intended)) {
            self.late_s[segment] += lag.as_secs_f64().max(0.0);
        }
        let Some(segment) = self.measured.segment(record.done) else { return };
        match record.stood_still.get() {
            None => self.untold += 1,
            Some(span) if span > self.forgiven => self.stood_still[segment] += span.0,
            Some(_) => {}
        }
    }

    /// Seconds for which `workers` stood still for longer than is forgiven at a stretch, and their seconds in all, in each segment; none where
    /// that was not recorded. A span counts to the segment in which the row that tells of it ended: mostly the first one after it.
    pub fn stood_still(&self, workers: usize) -> Option<[(f64, f64); SEGMENTS]> {
        let length = self.measured.segment_start(1) - self.measured.segment_start(0);
        let all = length * workers.max(1) as f64;
        let stood = &self.stood_still;
        (self.untold == 0).then(|| std::array::from_fn(|s| (stood[s] as f64 / 1e9, all)))
    }

    /// Socket-seconds in which sockets kept connecting, and those asked for, in each segment; none where none were asked for.
    pub fn held(&self) -> Option<[(f64, f64); SEGMENTS]> {
        let asked = self.sockets.as_ref()?;
        let at = |s: usize| Nanos::from_secs_f64(self.measured.segment_start(s));
        Some(std::array::from_fn(|s| {
            let asked = asked.user_seconds(&(at(s)..at(s + 1)));
            (asked - self.late_s[s], asked)
        }))
    }

    /// The document's block on a phase that ended at `until`, with `filled` segments complete.
    pub fn summary(&self, until: Nanos, filled: usize, plan: Option<&PlanSummary>) -> Connects {
        let counts = self.counts;
        let seconds = (until - self.measured.start).as_secs_f64();
        let per_s = (seconds > 0.0).then(|| {
            let rate = |n: u64| n as f64 / seconds;
            ConnectRates {
                attempts: rate(counts.attempts),
                established: rate(counts.established),
                refused: rate(counts.refused),
                timed_out: rate(counts.timed_out),
                served: rate(counts.served),
            }
        });
        let sockets = self.sockets.as_ref().and_then(|asked| asked.mean(&(self.measured.start..until)));
        let timeout_s = plan.and_then(|plan| plan.connect_timeout_s).filter(|&timeout| timeout > 0.0);
        let expected =
            |((sockets, timeout), rates): ((f64, f64), ConnectRates)| sockets / timeout + rates.established;
        Connects {
            counts,
            per_s,
            sockets,
            connecting: self.connecting.mean_until(until, filled),
            expected_per_s: sockets.zip(timeout_s).zip(per_s).map(expected),
            ..Connects::default()
        }
    }
}
