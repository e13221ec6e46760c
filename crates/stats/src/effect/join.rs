//! Requests as a run tells them, starts in order and ends in order, put together in the order of their starts.
//!
//! What waits for a free connection waits for the target, whose connections they are: for a queue it started when the generator released it.
//! Deliberately absent: how starts of several workers come into order (`merge`).

use super::{BLOCK, Effect, Fate, Found, FromStart, HoldUp, Place, Request, Tolerance};
use crate::setup::{Setup, Workload};
use headway_base::{Nanos, Outcome, Record, Start};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Most starts that wait behind one that does not end.
const MOST: usize = 2 * BLOCK;

/// The effect of a run, as it goes on.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    judge: Judge,
    waiting: VecDeque<Waiting>,
    /// Ends of requests whose start is not told yet, by when they started and were due: other workers may have started earlier ones.
    early: HashMap<(Nanos, Nanos), Vec<End>>,
    /// When the last start was that was told.
    told: Nanos,
    /// When the last request was released.
    released: Nanos,
    stood: StoodStill,
}

#[derive(Clone, Debug)]
enum Judge {
    /// Requests came by a plan, some of them perhaps after responses.
    Queues(Box<Effect>),
    /// Each came after a response.
    Starts(Box<FromStart>),
}

/// A request that started; its end, once it is told.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    started: Nanos,
    intended: Nanos,
    ended: End,
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// Not yet.
    Awaited,
    With(Request),
    /// Nothing of it reached the target.
    NotSent,
}

/// The times in which all workers stood still at once.
#[derive(Clone, Debug)]
struct StoodStill {
    workers: usize,
    /// Beginnings and ends that were told, with the change of how many stand still.
    edges: BinaryHeap<Reverse<(Nanos, i32)>>,
    still: i32,
    from: Nanos,
}

impl StoodStill {
    /// What is over by then; nothing that began earlier is told later.
    fn until(&mut self, at: Nanos, mut take: impl FnMut(HoldUp)) {
        while let Some(&Reverse((when, change))) = self.edges.peek().filter(|edge| edge.0.0 <= at) {
            self.edges.pop();
            let before = self.still as usize;
            self.still += change;
            if before < self.workers && self.still as usize == self.workers {
                self.from = when;
            } else if before == self.workers && change < 0 && when > self.from {
                take(HoldUp { from: self.from, length: when - self.from });
            }
        }
    }
}

impl Joined {
    /// Of such a load, if what delays do to it can be told.
    pub fn of_load(setup: &Setup) -> Option<Joined> {
        match setup.workload {
            Workload::Open => Some(Joined::open(setup.sources)),
            Workload::Sessions => Some(Joined::sessions(setup.sources)),
            Workload::Closed => Some(Joined::closed(setup.sources)),
            Workload::FixedWork | Workload::Connecting | Workload::Foreign => None,
        }
    }

    /// Of a load whose requests arrive by a plan, with so many workers.
    pub fn open(workers: usize) -> Joined {
        Joined::of(Judge::Queues(Box::new(Effect::new(BLOCK, Place::default()))), workers)
    }

    /// Of one of which some do, and the others follow responses.
    pub fn sessions(workers: usize) -> Joined {
        Joined::of(Judge::Queues(Box::new(Effect::new(BLOCK, Place::default()).with_starts())), workers)
    }

    /// Of one in which all follow responses.
    pub fn closed(workers: usize) -> Joined {
        Joined::of(Judge::Starts(Box::default()), workers)
    }

    fn of(judge: Judge, workers: usize) -> Joined {
        let stood =
            StoodStill { workers: workers.max(1), edges: BinaryHeap::new(), still: 0, from: Nanos::ZERO };
        let never = Nanos(i64::MIN);
        Joined { judge, waiting: VecDeque::new(), early: HashMap::new(), told: never, released: never, stood }
    }

    /// A worker stood still, once and for all its starts up to the end of that are told.
    pub fn stood_still(&mut self, from: Nanos, to: Nanos) {
        if to > from && matches!(self.judge, Judge::Queues(_)) {
            self.stood.edges.extend([Reverse((from, 1)), Reverse((to, -1))]);
        }
    }

    /// A request started; starts come in order.
    pub fn started(&mut self, start: &Start) {
        if matches!(self.judge, Judge::Starts(_)) {
            return;
        }
        let Start { started, intended, .. } = *start;
        self.told = started;
        self.waiting.push_back(Waiting { started, intended, ended: End::Awaited });
        if !self.early.is_empty()
            && let Some(ends) = self.early.remove(&(started, intended))
        {
            ends.into_iter().for_each(|end| self.place(started, intended, end));
        }
        if self.waiting.len() > MOST {
            // So long a request is left out: it would hold back all that started behind it.
            self.waiting.pop_front();
            self.release();
        }
    }

    /// A request ended.
    pub fn ended(&mut self, record: &Record, counted: bool) {
        let Some(started) = record.started.get() else { return };
        let end = if record.is_not_sent() || record.outcome == Outcome::LocalLimit {
            End::NotSent
        } else {
            End::With(request(record, started, counted))
        };
        match (&mut self.judge, end) {
            (Judge::Starts(starts), End::With(request)) => starts.push(&request),
            (Judge::Starts(_), _) => {}
            (Judge::Queues(_), end) => self.place(started, record.intended, end),
        }
    }

    fn place(&mut self, started: Nanos, intended: Nanos, end: End) {
        let from = self.waiting.partition_point(|w| w.started < started);
        let mut same = self.waiting.range_mut(from..).take_while(|w| w.started == started);
        let its = |w: &&mut Waiting| matches!(w.ended, End::Awaited) && w.intended == intended;
        if let Some(slot) = same.find(its) {
            slot.ended = end;
            self.release();
        } else if started >= self.told {
            self.early.entry((started, intended)).or_default().push(end);
        }
    }

    fn release(&mut self) {
        while let Some(Waiting { ended, .. }) = self.waiting.front() {
            match *ended {
                End::Awaited => return,
                End::NotSent => {}
                End::With(request) => self.push(request),
            }
            self.waiting.pop_front();
        }
    }

    fn push(&mut self, mut request: Request) {
        let Judge::Queues(effect) = &mut self.judge else { return };
        // Workers have connections of their own: one may release while others hold requests back that were released before.
        request.started = request.started.max(self.released);
        self.released = request.started;
        self.stood.until(request.started, |hold_up| effect.hold_up(hold_up));
        effect.push(&request);
    }

    /// What was found; `place`: where the target runs.
    pub fn finish(mut self, place: Place, tolerance: &Tolerance) -> Option<Found> {
        for waiting in std::mem::take(&mut self.waiting) {
            if let End::With(request) = waiting.ended {
                self.push(request);
            }
        }
        match self.judge {
            Judge::Starts(starts) => starts.finish(tolerance),
            Judge::Queues(mut effect) => {
                self.stood.until(Nanos::MAX, |hold_up| effect.hold_up(hold_up));
                effect.runs_at(place);
                effect.finish(tolerance)
            }
        }
    }
}

fn request(record: &Record, started: Nanos, counted: bool) -> Request {
    let unread = record.unread.get();
    Request {
        intended: record.intended,
        started: started - record.wait,
        answered: (record.done - unread.unwrap_or(Nanos::ZERO)).max(started),
        done: record.done,
        stamped: unread.is_some(),
        ok: record.outcome == Outcome::Ok,
        fate: Fate::of(record.outcome),
        counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_up_is_a_time_in_which_all_workers_stood_still() {
        let at = Nanos::from_millis;
        let mut joined = Joined::open(2);
        for (from, to) in [(10, 20), (15, 40), (50, 60), (60, 70), (80, 90), (80, 85)] {
            joined.stood_still(at(from), at(to));
        }
        let mut seen = Vec::new();
        joined.stood.until(at(60), |h| seen.push((h.from, h.from + h.length)));
        assert_eq!(seen, [(at(15), at(20))]);
        joined.stood.until(Nanos::MAX, |h| seen.push((h.from, h.from + h.length)));
        assert_eq!(seen[1..], [(at(80), at(85))]);
    }
}
