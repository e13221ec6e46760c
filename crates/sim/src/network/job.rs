//! Requests in the network, and jobs: the active pieces of a request.
//!
//! A job moves through the parts as a stack of frames, one for each part that it has entered. A request is one
//! job as long as no part observes it: where a part has a timeout or a hedge (or loses its contents), the
//! job stays there and each attempt is a job of its own from there on, which may be abandoned. Slots are
//! reused; a reference to a job carries its life, which another job in the same slot does not have.

use super::flow::Step;
use super::numbers::item;
use crate::failure::{Attempts, Pass};
use crate::steps::step;
use headway_base::{Nanos, Outcome};

/// No job, no request, no target.
pub(super) const NONE: u32 = u32::MAX;

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Verdict {
    /// Served.
    #[default]
    Ok,
    /// Down, turned away, or not even asked.
    Refused,
    /// Given up.
    Late,
}

impl Verdict {
    /// Outcome and status of the answer.
    pub(super) fn answer(self) -> (Outcome, u16) {
        match self {
            Verdict::Ok => (Outcome::Ok, 200),
            Verdict::Refused => (Outcome::Status, 503),
            Verdict::Late => (Outcome::Status, 504),
        }
    }
}

/// What a job is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// The slot is free.
    Free,
    /// On its way in: in a cable, or before another attempt. It can be cancelled.
    Going,
    /// On its way back, or in service at a station where nothing is cancelled.
    Bound,
    /// Waits in a station.
    Waiting,
    /// Is served by a station that acts by events.
    Served,
    /// Waits in a balancer.
    Queued,
    /// Waits for the attempts that it has made.
    Split,
    /// Is never answered.
    Silent,
}

/// From which side of what stands around a part a job has it on its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// It came to the part.
    Door,
    /// It is an attempt: it began before the breaker.
    Attempt,
    /// It began within the faults.
    Inside,
}

/// A part that a job has entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// When.
    pub since: Nanos,
    /// When a balancer handed it on.
    pub handed: Nanos,
    pub node: u32,
    /// The target that a balancer chose.
    pub target: u32,
    pub attempts: Attempts,
    pub pass: Option<Pass>,
    pub from: Origin,
}

impl Frame {
    /// One that enters a node now.
    #[inline]
    pub fn entering(node: u32, now: Nanos, from: Origin) -> Frame {
        Frame { since: now, handed: now, node, target: NONE, attempts: Attempts::default(), pass: None, from }
    }
}

/// A job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Counts those that have had the slot.
    pub life: u32,
    pub request: u32,
    /// The job that waits for it; none if it was abandoned, or if the client waits because it is the request itself.
    pub parent: u32,
    /// The first of its attempts, and the next of its parent's.
    pub child: u32,
    pub sibling: u32,
    /// Frames.
    pub depth: u32,
    /// Which attempt of the request it is, for draws.
    pub attempt: u32,
    /// How often it has waited for attempts.
    pub round: u16,
    /// Attempts made in this round after the first.
    pub hedges: u16,
    pub state: State,
    pub verdict: Verdict,
    /// Whether it is the request itself.
    pub root: bool,
    /// Whether a timer for it being late is set.
    pub timed: bool,
    /// Whether a timer for another attempt of this round is set.
    pub hedging: bool,
    /// Whether it is among those that are lost when the part that it is in goes down.
    pub inside: bool,
    /// Whether it has been cancelled: it makes no attempt any more.
    pub called: bool,
    /// Its class.
    pub class: u8,
    /// How often its service has begun or been resumed.
    pub resumed: u32,
    /// What it does when it goes on.
    pub next: Step,
    /// When it came to the station, and when service begins where that is known.
    pub at: Nanos,
    pub begins: Nanos,
    /// What is left of what it needs of one server, and at which reading of the station's clock it is done.
    pub left: f64,
    pub ends: f64,
    /// Server time that it and its attempts have taken so far, in ns, without service that is going on; how much each of
    /// those in service had had when that began (by the station's clock).
    pub busy: i64,
    pub held: f64,
}

/// A request in the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub id: u64,
    /// Hash of the user.
    pub key: u64,
    pub came: Nanos,
    /// The connection that waits for the answer, if any does.
    pub slot: u32,
    /// The job that is the request itself.
    pub job: u32,
    /// Jobs that are of it.
    pub jobs: u32,
    /// Attempts so far after the first.
    pub attempts: u32,
    pub step: u16,
    pub group: u16,
}

/// Something written down about a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ticket {
    pub job: u32,
    pub life: u32,
    pub round: u16,
}

/// All jobs and requests.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    slots: Vec<Job>,
    free: Vec<u32>,
    /// Those of a slot lie together.
    frames: Vec<Frame>,
    /// Frames of a slot at most.
    most: usize,
    asked: Vec<Asked>,
    asked_free: Vec<u32>,
}

impl Jobs {
    /// None, in a network in which no way leads through more than `most` parts.
    pub(super) fn new(most: usize) -> Jobs {
        let (slots, free, frames) = (Vec::new(), Vec::new(), Vec::new());
        Jobs { slots, free, frames, most, asked: Vec::new(), asked_free: Vec::new() }
    }

    #[inline]
    pub(super) fn get(&self, f: u32) -> &Job {
        step();
        &self.slots[f as usize]
    }

    #[inline]
    pub(super) fn of(&mut self, f: u32) -> &mut Job {
        step();
        &mut self.slots[f as usize]
    }

    #[inline]
    pub(super) fn asked(&self, f: u32) -> &Asked {
        &self.asked[self.get(f).request as usize]
    }

    #[inline]
    pub(super) fn asked_mut(&mut self, f: u32) -> &mut Asked {
        &mut self.asked[self.slots[f as usize].request as usize]
    }

    #[inline]
    pub(super) fn request(&mut self, request: u32) -> &mut Asked {
        &mut self.asked[request as usize]
    }

    /// A request comes: its job.
    #[inline]
    pub(super) fn begin(&mut self, asked: Asked) -> u32 {
        let request = match self.asked_free.pop() {
            Some(request) => request,
            None => {
                self.asked.push(asked);
                (self.asked.len() - 1) as u32
            }
        };
        self.asked[request as usize] = asked;
        let job = self.add(request, NONE, 0);
        self.of(job).root = true;
        self.asked[request as usize].job = job;
        job
    }

    /// An attempt that `parent` makes and waits for.
    pub(super) fn attempt(&mut self, parent: u32, attempt: u32, frame: Frame) -> u32 {
        let request = self.get(parent).request;
        let job = self.add(request, parent, attempt);
        let first = std::mem::replace(&mut self.of(parent).child, job);
        self.of(job).sibling = first;
        self.push(job, frame);
        job
    }

    #[inline]
    fn add(&mut self, request: u32, parent: u32, attempt: u32) -> u32 {
        self.asked[request as usize].jobs += 1;
        let fresh = |life: u32| Job {
            life,
            request,
            parent,
            child: NONE,
            sibling: NONE,
            depth: 0,
            attempt,
            round: 0,
            hedges: 0,
            state: State::Going,
            verdict: Verdict::Ok,
            root: false,
            timed: false,
            hedging: false,
            inside: false,
            called: false,
            class: 0,
            resumed: 0,
            next: Step::Part,
            at: Nanos::ZERO,
            begins: Nanos::ZERO,
            left: 0.0,
            ends: 0.0,
            busy: 0,
            held: 0.0,
        };
        match self.free.pop() {
            Some(f) => {
                let slot = &mut self.slots[f as usize];
                *slot = fresh(slot.life);
                f
            }
            None => {
                self.slots.push(fresh(0));
                let frame = Frame {
                    since: Nanos::ZERO,
                    handed: Nanos::ZERO,
                    node: 0,
                    target: NONE,
                    attempts: Attempts::default(),
                    pass: None,
                    from: Origin::Door,
                };
                self.frames.resize(self.slots.len() * self.most, frame);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Number of the job's attempt among the items of a stream, and its group.
    #[inline]
    pub(super) fn number(&self, f: u32) -> (u64, usize) {
        let asked = self.asked(f);
        (item(asked.id, self.get(f).attempt), usize::from(asked.group))
    }

    /// The request is made once more: number of that attempt.
    pub(super) fn next_attempt(&mut self, f: u32) -> u32 {
        let asked = self.asked_mut(f);
        asked.attempts += 1;
        asked.attempts
    }

    /// The job is over.
    #[inline]
    pub(super) fn end(&mut self, f: u32) {
        let slot = &mut self.slots[f as usize];
        slot.life = slot.life.wrapping_add(1);
        slot.state = State::Free;
        let request = slot.request;
        self.free.push(f);
        let asked = &mut self.asked[request as usize];
        asked.jobs -= 1;
        if asked.jobs == 0 {
            self.asked_free.push(request);
        }
    }

    /// It enters a part.
    #[inline]
    pub(super) fn push(&mut self, f: u32, frame: Frame) {
        let slot = &mut self.slots[f as usize];
        let at = f as usize * self.most + slot.depth as usize;
        slot.depth += 1;
        self.frames[at] = frame;
    }

    /// The part that it entered last.
    #[inline]
    pub(super) fn top(&mut self, f: u32) -> &mut Frame {
        let depth = self.slots[f as usize].depth as usize;
        &mut self.frames[f as usize * self.most + depth - 1]
    }

    /// The part that it entered first.
    pub(super) fn bottom(&mut self, f: u32) -> &mut Frame {
        &mut self.frames[f as usize * self.most]
    }

    /// It leaves the part that it entered last.
    #[inline]
    pub(super) fn pop(&mut self, f: u32) -> Frame {
        let frame = *self.top(f);
        self.slots[f as usize].depth -= 1;
        frame
    }

    /// The parts that it has entered, the first first.
    pub(super) fn frames(&self, f: u32) -> &[Frame] {
        let from = f as usize * self.most;
        &self.frames[from..from + self.get(f).depth as usize]
    }

    /// What is written down about it.
    #[inline]
    pub(super) fn ticket(&self, f: u32) -> Ticket {
        let job = self.get(f);
        Ticket { job: f, life: job.life, round: job.round }
    }

    /// Whether what was written down still holds.
    #[inline]
    pub(super) fn stands(&self, ticket: Ticket) -> bool {
        let job = self.get(ticket.job);
        job.life == ticket.life && job.round == ticket.round
    }

    /// Whether a timer for another attempt still holds.
    #[inline]
    pub(super) fn hedges(&self, ticket: Ticket) -> bool {
        self.stands(ticket) && self.get(ticket.job).hedging
    }

    /// Whether that life is still going on.
    #[inline]
    pub(super) fn lives(&self, f: u32, life: u32) -> bool {
        self.get(f).life == life
    }

    /// The attempts that a job waits for.
    pub(super) fn children(&self, f: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(self.get(f).child).filter(|&c| c != NONE);
        std::iter::successors(first, |&c| Some(self.get(c).sibling).filter(|&c| c != NONE))
    }

    /// Nobody waits for that attempt any more.
    pub(super) fn detach(&mut self, child: u32) {
        let (parent, next) = (self.get(child).parent, self.get(child).sibling);
        if self.get(parent).child == child {
            self.of(parent).child = next;
        } else {
            let before = self.children(parent).find(|&c| self.get(c).sibling == child);
            if let Some(before) = before {
                self.of(before).sibling = next;
            }
        }
        let child = self.of(child);
        (child.parent, child.sibling) = (NONE, NONE);
    }

    /// Every job there is.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.slots.len() as u32).filter(|&f| self.get(f).state != State::Free)
    }

    /// Slots that there are, free or not.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// How many there are.
    pub(super) fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
