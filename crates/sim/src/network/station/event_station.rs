//! A station that acts by events: LIFO, priority classes, processor sharing, speeds, and FIFO where
//! requests may be cancelled, lost, or served slower for a while.
//!
//! All requests in service are served at one rate (a share of a server, or of a load-dependent speed), so one clock
//! measures the progress of all: it runs at that rate, and a request that needs d more when the clock reads v is done when it reads v + d
//! (Kleinrock 1967, "Time-shared systems"; the virtual time of processor sharing). A change of the rate changes no entry, and
//! an arrival or departure costs the logarithm of the number in service. The clock restarts whenever the station is idle; where
//! the rate is 1 it counts whole nanoseconds, exactly.
//!
//! The clock follows the station's own time, which stands still in stalls ([`Rules::own`]). A second clock measures the server
//! time of each request in service: it runs at the busy servers over the number in service, stalls or not, whatever
//! the speed.

use super::rules::{Order, Rules};
use crate::network::job::{Job, Jobs, State, Ticket};
use crate::network::wait_queue::WaitQueue;
use headway_base::Nanos;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A request with less left than is served in this time, in ns, is done: half the grain of time.
const DONE: f64 = 0.5;
/// Nanoseconds that rounding of shares may make up.
const ROUNDING: f64 = 1e-3;
/// So many void entries are left lying without a sweep.
const SWEEP_AT: usize = 64;

/// The state of one copy.
#[derive(Clone, Debug)]
pub(crate) struct EventStation {
    pub waiting: WaitQueue,
    serving: BinaryHeap<Ends>,
    /// Those in service by class, the last to begin last (preemptive alone).
    by_class: Vec<Vec<Ends>>,
    in_service: u32,
    /// The clock of those in service, as of `at`.
    clock: f64,
    at: Nanos,
    /// Server time of each of those in service, in ns, as of `seen`.
    held: f64,
    seen: Nanos,
    /// How fast it works: 1, or less while it is slow.
    pace: f64,
    /// An event is set for then or earlier.
    pub armed: Nanos,
    /// Requests that were not turned away.
    pub admitted: u64,
    /// Servers that are busy, and since when.
    pub busy: u32,
    pub since: Nanos,
}

/// When a request in service is done, by the clock.
#[derive(Clone, Copy, Debug)]
struct Ends {
    at: f64,
    ticket: Ticket,
    resumed: u32,
}

impl Ends {
    /// Whether that service is going on.
    #[inline]
    fn stands(&self, jobs: &Jobs) -> bool {
        let job = jobs.get(self.ticket.job);
        jobs.stands(self.ticket) && job.state == State::Served && job.resumed == self.resumed
    }
}

impl PartialEq for Ends {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Ends {}
impl PartialOrd for Ends {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
/// The earliest is the greatest, because the heap has its greatest on top.
impl Ord for Ends {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then_with(|| other.ticket.job.cmp(&self.ticket.job))
    }
}

/// What became of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Came {
    /// It is served or waits.
    In,
    /// The queue is full.
    Full,
}

impl EventStation {
    /// Nobody in it.
    pub(crate) fn new(rules: &Rules) -> EventStation {
        EventStation {
            waiting: WaitQueue::new(rules.classes()),
            serving: BinaryHeap::new(),
            by_class: if rules.preemptive { vec![Vec::new(); rules.classes()] } else { Vec::new() },
            in_service: 0,
            clock: 0.0,
            at: Nanos::ZERO,
            held: 0.0,
            seen: Nanos::ZERO,
            pace: 1.0,
            armed: Nanos::MAX,
            admitted: 0,
            busy: 0,
            since: Nanos::ZERO,
        }
    }

    /// How many are served.
    pub(crate) fn in_service(&self) -> u32 {
        self.in_service
    }

    /// The clocks go on to `now`.
    fn advance(&mut self, rules: &Rules, now: Nanos) {
        let own = rules.own(now);
        self.clock += (own.0 - self.at.0) as f64 * self.rate(rules);
        self.held += (now.0 - self.seen.0) as f64 * rules.share(self.in_service);
        (self.at, self.seen) = (own, now);
    }

    /// How fast each of those in service is served.
    #[inline]
    fn rate(&self, rules: &Rules) -> f64 {
        rules.rate(self.in_service, self.waiting.len()) * self.pace
    }

    /// How fast it works: 1, or less while it is slow.
    pub(crate) fn pace(&self) -> f64 {
        self.pace
    }

    /// From `now` on it works that fast.
    pub(crate) fn keep_pace(&mut self, rules: &Rules, now: Nanos, pace: f64) {
        self.advance(rules, now);
        self.pace = pace;
    }

    /// Nobody is served: the clocks start anew.
    fn reset(&mut self) {
        (self.in_service, self.clock, self.held) = (0, 0.0, 0.0);
    }

    /// Server time that a request in service has had since it began or was resumed, in ns.
    fn had(&self, job: &Job) -> i64 {
        libm::round(self.held - job.held) as i64
    }

    /// Server time that a request in service will have had by `now` if nothing happens until then, in ns.
    pub(crate) fn had_by(&mut self, rules: &Rules, job: &Job, now: Nanos) -> i64 {
        self.advance(rules, now);
        self.had(job)
    }

    /// A job comes at `now`.
    pub(crate) fn arrive(&mut self, rules: &Rules, jobs: &mut Jobs, f: u32, now: Nanos) -> Came {
        self.advance(rules, now);
        let full = |waiting: usize| rules.limit.is_some_and(|limit| waiting >= limit);
        let class = jobs.get(f).class;
        if rules.order == Order::Sharing {
            if self.in_service >= rules.servers && full((self.in_service - rules.servers) as usize) {
                return Came::Full;
            }
            self.begin(rules, jobs, f);
        } else if self.in_service < rules.servers {
            self.begin(rules, jobs, f);
        } else if full(self.waiting.len()) {
            return Came::Full;
        } else if let Some(other) = self.worse_than(rules, jobs, class) {
            let interrupted = jobs.of(other);
            interrupted.left = interrupted.ends - self.clock;
            interrupted.busy += self.had(interrupted);
            interrupted.state = State::Waiting;
            let (class, ticket) = (interrupted.class, jobs.ticket(other));
            self.in_service -= 1;
            self.waiting.push_front(class, ticket);
            self.begin(rules, jobs, f);
        } else {
            jobs.of(f).state = State::Waiting;
            self.waiting.push(class, jobs.ticket(f));
        }
        self.admitted += 1;
        Came::In
    }

    /// Whom of those in service that class interrupts: the last to begin of the highest class above it.
    fn worse_than(&mut self, rules: &Rules, jobs: &Jobs, class: u8) -> Option<u32> {
        if !rules.preemptive {
            return None;
        }
        for served in self.by_class[usize::from(class) + 1..].iter_mut().rev() {
            while let Some(last) = served.pop() {
                if last.stands(jobs) {
                    return Some(last.ticket.job);
                }
            }
        }
        None
    }

    fn begin(&mut self, rules: &Rules, jobs: &mut Jobs, f: u32) {
        let ticket = jobs.ticket(f);
        let job = jobs.of(f);
        job.state = State::Served;
        job.resumed += 1;
        (job.ends, job.held) = (self.clock + job.left, self.held);
        let (ends, class) = (Ends { at: job.ends, ticket, resumed: job.resumed }, job.class);
        self.serving.push(ends);
        self.in_service += 1;
        if rules.preemptive {
            let most = 2 * self.in_service as usize + SWEEP_AT;
            let served = &mut self.by_class[usize::from(class)];
            if served.len() >= most {
                served.retain(|ends| ends.stands(jobs));
            }
            served.push(ends);
        }
    }

    /// Takes a request that is done by `now`.
    pub(crate) fn finish(&mut self, rules: &Rules, jobs: &mut Jobs, now: Nanos) -> Option<u32> {
        self.advance(rules, now);
        let first = self.first(jobs)?;
        let rate = self.rate(rules);
        if first.at - self.clock >= DONE * rate {
            return None;
        }
        self.serving.pop();
        let done = first.ticket.job;
        let had = self.had(jobs.get(done));
        jobs.of(done).busy += had;
        self.in_service -= 1;
        if self.in_service == 0 {
            self.serving.clear();
            self.reset();
        }
        Some(done)
    }

    /// Free servers take waiting requests.
    pub(crate) fn fill(&mut self, rules: &Rules, jobs: &mut Jobs) {
        while self.in_service < rules.servers {
            let next = match rules.order {
                Order::Last => self.waiting.take_last(jobs),
                Order::First | Order::Class | Order::Sharing => self.waiting.take_first(jobs),
            };
            let Some(next) = next else { return };
            self.begin(rules, jobs, next.job);
        }
    }

    /// Who is done first.
    fn first(&mut self, jobs: &Jobs) -> Option<Ends> {
        while let Some(&first) = self.serving.peek() {
            if first.stands(jobs) {
                return Some(first);
            }
            self.serving.pop();
        }
        None
    }

    /// When the next request is done, if nothing changes.
    pub(crate) fn next(&mut self, rules: &Rules, jobs: &Jobs) -> Nanos {
        let Some(first) = self.first(jobs) else { return Nanos::MAX };
        let left = (first.at - self.clock) / self.rate(rules);
        // Shares that are no binary fractions make a little too much of what comes out even.
        self.at.saturating_add(Nanos(libm::ceil(left - ROUNDING).max(1.0) as i64))
    }

    /// Takes out all requests at `now`, in service and waiting.
    pub(crate) fn lose(&mut self, rules: &Rules, jobs: &mut Jobs, now: Nanos) -> Vec<u32> {
        self.advance(rules, now);
        let mut lost = Vec::new();
        for ends in std::mem::take(&mut self.serving) {
            if ends.stands(jobs) {
                let job = jobs.of(ends.ticket.job);
                job.busy += self.had(job);
                lost.push(ends.ticket.job);
            }
        }
        lost.sort_unstable();
        lost.extend(self.waiting.take_all(jobs).iter().map(|ticket| ticket.job));
        self.by_class.iter_mut().for_each(Vec::clear);
        self.reset();
        lost
    }

    /// The service of a job stops at `now`; its server is free.
    pub(crate) fn stop(&mut self, rules: &Rules, jobs: &mut Jobs, f: u32, now: Nanos) {
        self.advance(rules, now);
        let job = jobs.of(f);
        job.busy += self.had(job);
        self.in_service -= 1;
        if self.in_service == 0 {
            self.serving.clear();
            self.reset();
        }
    }

    /// A waiting request is gone.
    pub(crate) fn called_back(&mut self, rules: &Rules, jobs: &Jobs, now: Nanos) {
        self.advance(rules, now);
        self.waiting.gone(jobs);
    }
}
