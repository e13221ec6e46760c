//! What became of each request of a plan, in the order in which they were issued.

use super::bounds;
use anyhow::ensure;
use headway_base::{Nanos, Outcome, Record, RecordSink, Start};
use headway_sim::{Generator, Target};
use headway_workload::{Plan, Shard};

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// When it was due, and sent.
    pub due: Nanos,
    /// How long the answer took.
    pub took: Nanos,
    /// Whether it was served.
    pub ok: bool,
}

/// Every request of the plan, played against the target by a client without bounds.
///
/// # Errors
/// One that was not answered.
pub fn all(plan: &Plan, target: impl Target) -> anyhow::Result<Vec<Seen>> {
    let mut answers = Answers::default();
    headway_sim::play(plan, Shard::WHOLE, bounds::NONE, target, Generator::default(), &mut answers);
    answers.all()
}

/// The sink.
#[derive(Default)]
pub struct Answers {
    by_issue: Vec<Seen>,
    answered: usize,
}

impl Answers {
    /// Every request that there was a record of, and any before it.
    ///
    /// # Errors
    /// One that was not answered.
    pub fn all(self) -> anyhow::Result<Vec<Seen>> {
        let asked = self.by_issue.len();
        ensure!(self.answered == asked, "{} of {asked} requests were answered", self.answered);
        Ok(self.by_issue)
    }
}

impl RecordSink for Answers {
    fn start(&mut self, _: Start) {}
    #[inline]
    fn record(&mut self, record: Record) {
        let Ok(at) = usize::try_from(record.k) else { return };
        if at >= self.by_issue.len() {
            self.by_issue.resize(at + 1, Seen::default());
        }
        if record.outcome.answered() {
            let ok = record.outcome == Outcome::Ok;
            self.by_issue[at] = Seen { due: record.intended, took: record.response(), ok };
            self.answered += 1;
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals;
    use headway_base::Rate;
    use headway_sim::Answer;
    use headway_workload::client::RequestId;
    use headway_workload::{Process, RequestKey};

    /// Request n is answered after 100 - 10n ms, every third not well, and the last not at all if it is `silent`.
    struct Backwards {
        silent: bool,
    }

    impl Target for Backwards {
        fn request(&mut self, _: Nanos, n: u64, _: RequestId, _: &RequestKey) -> Answer {
            let after = Nanos::from_millis(100 - 10 * n as i64);
            let (outcome, status) = if n % 3 == 2 { (Outcome::Status, 500) } else { (Outcome::Ok, 200) };
            match n {
                9 if self.silent => Answer::Silence,
                _ => Answer::Comes { first_byte: after, done: after, outcome, status, reusable: true },
            }
        }
    }

    #[test]
    fn answers_are_in_the_order_of_issue_whatever_order_they_come_in() {
        let plan = arrivals::first(Process::Constant, Rate(1e3), 10, 1);
        let seen = all(&plan, Backwards { silent: false }).unwrap();
        assert_eq!(seen.len(), 10);
        for ((n, arrival), seen) in (0..).zip(plan.arrivals()).zip(seen) {
            let took = Nanos::from_millis(100 - 10 * n);
            assert_eq!(seen, Seen { due: arrival.intended, took, ok: n % 3 != 2 });
        }
    }

    #[test]
    fn a_request_without_an_answer_is_an_error() {
        let plan = arrivals::first(Process::Constant, Rate(1e3), 10, 1);
        let error = all(&plan, Backwards { silent: true }).unwrap_err();
        assert_eq!(error.to_string(), "9 of 10 requests were answered");
    }
}
