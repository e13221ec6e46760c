//! One group of users within a shard: the next arrival, and when users of a closed group start and stop.

use crate::arrivals::Arrival;
use crate::journey::{Cursor, Draws, Journey, Next, Node};
use crate::plan::{Connections, OnFailure, Plan, SessionsOf, Source};
use crate::shard::Shard;
use crate::users::Level;
use headway_base::Nanos;
use headway_base::dist::Dist;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Group {
    sessions: SessionsOf,
    /// The next session that arrives.
    pub next: Option<Arrival>,
    pub journey: Arc<Journey>,
    pub draws: Draws,
    pub connections: Connections,
    pub on_failure: OnFailure,
    pub pace: Option<Dist>,
    /// Of a closed group: how many users there are, or sockets that are kept connecting.
    pub level: Option<Arc<Level>>,
    /// Whether it keeps sockets connecting: its users are these.
    pub connecting: bool,
    /// Users of the whole group: rounds of user u are sessions u, u + stride, ...
    pub stride: u64,
    /// Requests that this shard may still make, of fixed work.
    pub left: Option<u64>,
    /// When what its sessions need ran out, if it did: none begins any more.
    pub stopped: Option<Nanos>,
    /// Where its requests are all alike, what they are like.
    pub plain: Option<Plain>,
}

/// Requests that are each a session of its own, which arrives, over a shared connection: with that knowledge the client has to check
/// neither the journey nor the session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    /// Number of their step.
    pub step: u16,
    /// Where they go.
    pub origin: u16,
    /// Where such a session stands once it has its request.
    pub cursor: Cursor,
}

impl Plain {
    fn of(journey: &Journey, draws: Draws) -> Option<Plain> {
        let &[Node::Ask { step, repeat: 1, .. }] = journey.nodes() else { return None };
        let mut cursor = Cursor::default();
        let Next::Ask(_) = journey.next(&mut cursor, draws, 0) else { return None };
        Some(Plain { step, origin: journey.origin(step), cursor })
    }
}

impl Group {
    pub(super) fn new(plan: &Plan, number: usize, shard: Shard) -> Group {
        let group = &plan.groups[number];
        let mut sessions = plan.sessions_of(number, shard);
        let (level, requests) = match &group.source {
            Source::Users { level, requests } => (Some(level.clone()), *requests),
            Source::Connecting { level } => (Some(level.clone()), None),
            _ => (None, None),
        };
        let users = level.as_ref().map_or(0, |l| l.most());
        let plain = Plain::of(&group.journey, plan.draws(number)).filter(|_| {
            group.journey.is_single() && level.is_none() && group.connections == Connections::Shared
        });
        Group {
            plain,
            connecting: group.is_connecting(),
            next: sessions.next(),
            sessions,
            journey: group.journey.clone(),
            draws: plan.draws(number),
            connections: group.connections,
            on_failure: group.on_failure,
            pace: group.pace.clone(),
            stride: u64::from(users.max(1)),
            level,
            left: requests.map(|n| shard.split_work(n, users)),
            stopped: None,
        }
    }

    /// The session that arrives next has been dealt with.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.next = self.sessions.next().filter(|next| self.stopped.is_none_or(|at| next.intended <= at));
    }

    /// The plan is joined at that instant: work that is due at once is due then.
    pub(super) fn join(&mut self, at: Nanos) {
        if self.sessions.arrive_at(at) {
            self.next.iter_mut().for_each(|next| next.intended = at);
        }
    }

    /// No session begins that is intended later than `now`; those due before are still recorded.
    pub(super) fn stop(&mut self, now: Nanos) {
        self.stopped = Some(now);
        self.next = self.next.filter(|next| next.intended <= now);
    }

    /// Where the next session that arrives goes first.
    pub(super) fn next_origin(&self) -> u16 {
        let Some(arrival) = self.next.filter(|_| self.journey.leaves_the_target()) else { return 0 };
        match self.journey.next(&mut Cursor::default(), self.draws, arrival.k) {
            Next::Ask(ask) => self.journey.origin(ask.step),
            Next::Over(_) => 0,
        }
    }

    /// Whether a session that has made this number of requests may make no more.
    #[inline]
    pub(super) fn refuses(&self, made: u32) -> bool {
        self.left == Some(0) || (made == 0 && self.stopped.is_some())
    }

    /// Whether a session is a session to the sink too: one of more than a single request, or a user's.
    pub(super) fn has_sessions(&self) -> bool {
        !self.journey.is_single()
    }

    /// Whether a session is over with its request.
    pub(super) fn is_single(&self) -> bool {
        self.journey.is_single() && !self.is_closed()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.level.is_some()
    }

    /// Whether no more requests may be made.
    pub(super) fn is_spent(&self) -> bool {
        self.refuses(0)
    }

    /// How long after socket `user` may connect it does so first: those of a group that keeps sockets connecting are spread evenly over the
    /// `timeout` of an attempt.
    pub(super) fn offset(&self, user: u32, timeout: Nanos) -> Nanos {
        match &self.level {
            Some(level) if self.connecting => {
                let share = i128::from(timeout.0) * i128::from(user) / i128::from(level.most().max(1));
                Nanos(share as i64)
            }
            _ => Nanos::ZERO,
        }
    }

    /// Least time from the beginning of session `k` to that of the user's next.
    pub(super) fn pace(&self, k: u64) -> Nanos {
        let pace = self.pace.as_ref().map(|law| law.sample_time(&mut self.draws.pace(k)));
        pace.unwrap_or(Nanos::ZERO)
    }
}
