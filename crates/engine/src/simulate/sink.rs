//! Where the plays of a study put what they observe: counts and the course of the response times, in memory that does not
//! grow with the run.
//!
//! What counts is what the plan's measured phase says, as in every other report.

use super::course::OutputSeries;
use super::order::InOrder;
use headway_base::{Kind, Nanos, Outcome, Record, RecordSink, Start};
use headway_workload::Plan;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Takes one run.
pub struct Sink<'a> {
    measured: Range<Nanos>,
    stop: &'a (dyn Fn() -> bool + Sync),
    stopped: bool,
    order: InOrder,
    /// Response times of what counts, in the order in which it started.
    pub course: OutputSeries,
    /// Counts.
    pub counts: Counts,
}

/// How many requests there were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that fell due within the measured phase, or whose session did.
    pub n: u64,
    /// Of those, the ones that ended well.
    pub ok: u64,
    /// Of them, the ones that ended without an answer.
    pub censored: u64,
    /// Of them, the ones that started.
    pub started: u64,
    /// Of them, the ones for which the run ended before they could start.
    pub unsent: u64,
    /// Of them, the ones that were answered, and not well.
    pub refused: u64,
    /// Sum of the response times of these, in nanoseconds.
    pub refused_ns: i128,
    /// Requests that fell due before it.
    pub before: u64,
    /// Good answers that were complete within the measured phase, to whatever request.
    pub completed: u64,
    /// When the last request ended.
    #[serde(with = "super::stored::time")]
    pub last: Nanos,
}

impl<'a> Sink<'a> {
    /// Of a run of that plan, which is stopped when `stop` holds.
    pub fn new(plan: &Plan, stop: &'a (dyn Fn() -> bool + Sync)) -> Sink<'a> {
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        let measured = plan.measured_from..plan.end() + Nanos(1);
        Sink {
            measured,
            stop,
            stopped: false,
            order: InOrder::default(),
            course: OutputSeries::default(),
            counts: Counts::default(),
        }
    }
}

impl RecordSink for Sink<'_> {
    #[inline]
    fn start(&mut self, start: Start) {
        self.order.start(&start);
    }

    #[inline]
    fn record(&mut self, record: Record) {
        self.stopped = (self.stop)();
        // A session's row stands for requests that have rows of their own.
        if record.kind != Kind::Request {
            return;
        }
        let (counts, n) = (&mut self.counts, u64::from(record.count));
        counts.last = counts.last.max(record.done);
        let good = record.outcome == Outcome::Ok;
        if good && self.measured.contains(&record.done) {
            counts.completed += n;
        }
        if self.measured.contains(&record.arrived) {
            counts.n += n;
            counts.ok += if good { n } else { 0 };
            counts.censored += if record.outcome.answered() { 0 } else { n };
            if !good && record.outcome.answered() {
                counts.refused += n;
                counts.refused_ns += i128::from(record.response().0) * i128::from(n);
            }
            counts.started += if record.started.is_some() { n } else { 0 };
            counts.unsent += if record.outcome == Outcome::Unsent { n } else { 0 };
        } else if record.arrived < self.measured.start {
            counts.before += n;
        }
        let (measured, course) = (&self.measured, &mut self.course);
        self.order.record(&record, |ended| {
            if measured.contains(&ended.arrived) {
                course.push(ended);
            }
        });
    }

    fn tick(&mut self, _: Nanos) {}

    #[inline]
    fn has_enough(&self) -> bool {
        self.stopped
    }

    fn finish(&mut self, _: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Phase, Profile, Rate, Stamp};
    use headway_workload::plan::Group;
    use headway_workload::{Process, Shard};

    fn plan() -> Plan {
        let profile = Profile::new(&[Phase::hold(Nanos(100), Rate(1.0))]);
        Plan {
            seed: 1,
            groups: vec![Group::open(Process::Poisson, profile)],
            measured_from: Nanos(10),
            end: Nanos(100),
            shard: Shard::WHOLE,
        }
    }

    fn record(due: i64, done: i64, outcome: Outcome) -> Record {
        let at = Nanos(due);
        Record { started: Stamp::from(at), ..Record::never_started(0, at, Nanos(done), outcome) }
    }

    #[test]
    fn the_measured_phase_counts_and_nothing_else() {
        let mut sink = Sink::new(&plan(), &|| false);
        for (due, done, outcome) in [
            (5, 20, Outcome::Ok),
            (10, 30, Outcome::Ok),
            (20, 25, Outcome::Status),
            (99, 200, Outcome::Ok),
            (100, 101, Outcome::Ok),
        ] {
            sink.start(Start::arrival(Nanos(due), Nanos(due), 0));
            sink.record(record(due, done, outcome));
        }
        sink.record(Record { count: 4, ..Record::never_started(9, Nanos(50), Nanos(60), Outcome::Shed) });
        sink.record(Record { kind: Kind::Session, ..record(20, 30, Outcome::Ok) });
        sink.record(Record::never_started(20, Nanos(99), Nanos(100), Outcome::Unsent));
        let Counts { n, ok, censored, started, unsent, refused, refused_ns, before, completed, last } =
            sink.counts;
        assert_eq!((refused, refused_ns), (1, 5));
        assert_eq!((n, ok, censored, before, completed, last), (9, 3, 5, 1, 2, Nanos(200)));
        assert_eq!((started, unsent), (4, 1));
        assert_eq!(sink.course.n(), 9);
        assert!(
            (sink.course.mean_after(0).unwrap() * 1e9 - (20 + 5 + 101 + 1 + 4 * 10 + 1) as f64 / 9.0).abs()
                < 1e-9
        );
    }

    #[test]
    fn a_play_that_is_stopped_ends_at_the_next_record() {
        let plan = plan();
        let (no, yes) = (|| false, || true);
        let mut sinks = [Sink::new(&plan, &no), Sink::new(&plan, &yes)];
        assert!(sinks.iter().all(|sink| !sink.has_enough()));
        sinks.iter_mut().for_each(|sink| sink.record(record(5, 20, Outcome::Ok)));
        assert_eq!(sinks.map(|sink| sink.has_enough()), [false, true]);
    }
}
