//! Where the plays of a study put what they observe: counts and the course of the response times, in memory that does not
//! grow with the run.
//!
//! What counts is what the plan's measured phase says, as in every other report.

use super::course::Course;
use super::order::InOrder;
use headway_base::{Kind, Nanos, Outcome, Record, RecordSink, Start};
use headway_workload::Plan;
use std::ops::Range;
use std::panic;

/// Takes one run.
pub struct Sink<'a> {
    measured: Range<Nanos>,
    stop: &'a (dyn Fn() -> bool + Sync),
    order: InOrder,
    /// Response times of what counts, in the order in which it started.
    pub course: Course,
    /// Counts.
    pub counts: Counts,
}

/// How many requests there were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
    pub last: Nanos,
}

/// What a play ends with whose result nobody waits for.
#[derive(Debug)]
struct Abandoned;

/// Gives up the play whose sink calls this: see [`unless_abandoned`].
pub fn abandon() -> ! {
    panic::resume_unwind(Box::new(Abandoned))
}

impl<'a> Sink<'a> {
    /// Of a run of that plan, which is given up (see [`unless_abandoned`]) when `stop` holds.
    pub fn new(plan: &Plan, stop: &'a (dyn Fn() -> bool + Sync)) -> Sink<'a> {
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        let measured = plan.measured_from..plan.end() + Nanos(1);
        Sink {
            measured,
            stop,
            order: InOrder::default(),
            course: Course::default(),
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
        if (self.stop)() {
            abandon();
        }
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

    fn finish(&mut self, _: Nanos) {}
}

/// What `play` gives, or nothing if its sink gave it up. Any other panic goes on.
pub fn unless_abandoned<T>(play: impl FnOnce() -> T) -> Option<T> {
    match panic::catch_unwind(panic::AssertUnwindSafe(play)) {
        Ok(result) => Some(result),
        Err(cause) if cause.is::<Abandoned>() => None,
        Err(cause) => panic::resume_unwind(cause),
    }
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
    fn what_nobody_waits_for_is_given_up_and_a_panic_is_not_swallowed() {
        let (plan, yes) = (plan(), || true);
        let played = unless_abandoned(|| Sink::new(&plan, &yes).record(record(5, 20, Outcome::Ok)));
        assert_eq!(played, None);
        assert_eq!(unless_abandoned(|| 7), Some(7));
        let other = panic::catch_unwind(|| unless_abandoned(|| panic::resume_unwind(Box::new("other"))));
        assert_eq!(other.err().and_then(|cause| cause.downcast::<&str>().ok()).as_deref(), Some(&"other"));
    }
}
