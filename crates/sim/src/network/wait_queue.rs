//! Queues of waiting jobs, in order; a cancelled job leaves from any place.

use super::job::{Jobs, Ticket};
use std::collections::VecDeque;

/// Void tickets that are tolerated without a sweep.
const SWEEP_AT: usize = 64;

/// Queues of tickets, one for each class. Void tickets stay until they reach the front, or outnumber the others.
#[derive(Clone, Debug)]
pub(super) struct WaitQueue {
    queues: Vec<VecDeque<Ticket>>,
    /// Those that stand.
    waiting: usize,
    void: usize,
}

impl WaitQueue {
    /// An empty queue of that number of classes.
    pub(super) fn new(classes: usize) -> WaitQueue {
        WaitQueue { queues: vec![VecDeque::new(); classes.max(1)], waiting: 0, void: 0 }
    }

    /// Number of waiting jobs.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Adds a job at the end.
    #[inline]
    pub(super) fn push(&mut self, class: u8, ticket: Ticket) {
        self.waiting += 1;
        self.queues[usize::from(class)].push_back(ticket);
    }

    /// Puts a job back at the front.
    pub(super) fn push_front(&mut self, class: u8, ticket: Ticket) {
        self.waiting += 1;
        self.queues[usize::from(class)].push_front(ticket);
    }

    /// The first of the lowest class.
    #[inline]
    pub(super) fn first(&mut self, jobs: &Jobs) -> Option<Ticket> {
        for queue in &mut self.queues {
            while let Some(&ticket) = queue.front() {
                if jobs.stands(ticket) {
                    return Some(ticket);
                }
                queue.pop_front();
                self.void -= 1;
            }
        }
        None
    }

    /// Takes the first of the lowest class.
    #[inline]
    pub(super) fn take_first(&mut self, jobs: &Jobs) -> Option<Ticket> {
        let ticket = self.first(jobs)?;
        let queue = self.queues.iter_mut().find(|queue| !queue.is_empty())?;
        queue.pop_front();
        self.waiting -= 1;
        Some(ticket)
    }

    /// Takes the last to arrive.
    #[inline]
    pub(super) fn take_last(&mut self, jobs: &Jobs) -> Option<Ticket> {
        for queue in &mut self.queues {
            while let Some(ticket) = queue.pop_back() {
                if jobs.stands(ticket) {
                    self.waiting -= 1;
                    return Some(ticket);
                }
                self.void -= 1;
            }
        }
        None
    }

    /// Takes all, in order of classes and arrival.
    pub(super) fn take_all(&mut self, jobs: &Jobs) -> Vec<Ticket> {
        let all = self.queues.iter_mut().flat_map(|queue| queue.drain(..));
        let standing = all.filter(|ticket| jobs.stands(*ticket)).collect();
        (self.waiting, self.void) = (0, 0);
        standing
    }

    /// Somebody is gone whose ticket stands no more.
    #[inline]
    pub(super) fn gone(&mut self, jobs: &Jobs) {
        self.waiting -= 1;
        self.void += 1;
        if self.void > SWEEP_AT && self.void > self.waiting {
            self.queues.iter_mut().for_each(|queue| queue.retain(|ticket| jobs.stands(*ticket)));
            self.void = 0;
        }
    }
}
