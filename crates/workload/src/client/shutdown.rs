//! How things end without having begun, or before their time: requests that never start, a run that is stopped, answers
//! that are given up, connections that are not needed any more.

use super::connections::NONE;
use super::group::Group;
use super::in_flight::Phase;
use super::lifecycle::Sent;
use super::sessions::State;
use super::{Action, Client, SessionControl, SessionId, UNKNOWN, Who};
use crate::journey::{Cursor, Next};
use headway_base::{Nanos, Outcome, Record, RecordSink, Trigger};

/// Rows that stand for runs of never-started arrivals span at most one cell of this length, so that counts over time
/// keep their place.
const RUN_CELL: Nanos = Nanos::from_millis(1);

impl<S: RecordSink> Client<S> {
    /// Stops sending: what is due and not started ends as unsent, what is in flight is waited for until its timeout.
    pub fn stop(&mut self, now: Nanos) {
        self.tell_start();
        if self.stopping {
            return;
        }
        self.stopping = true;
        self.next_non_arrival = UNKNOWN;
        (self.last_start, self.last_step) = (now, now);
        self.give_up_at = self.give_up_at.min(now.saturating_add(self.limits.timeout));
        let mut thinking = self.sessions.all_in(State::Thinking);
        thinking.sort_by_key(|&id| self.sessions.get(id).due);
        for id in thinking {
            // Timers that came up just now are due.
            if self.sessions.get(id).due <= now {
                self.wait(id);
            } else {
                self.cut_short(id, now);
            }
        }
        for id in self.sessions.all_in(State::Leaving) {
            self.cut_short(id, now);
        }
        for id in self.sessions.all_in(State::Away) {
            self.sessions.end(id);
        }
        self.sessions.forget_timers();
    }

    /// A session goes before its time. Its connection, if it has one of its own, is closed next.
    fn cut_short(&mut self, id: SessionId, now: Nanos) {
        let session = self.sessions.of(id);
        session.failed.get_or_insert(Outcome::Unfinished);
        let own = std::mem::replace(&mut session.connection, NONE);
        if own != NONE {
            self.connections.orphan(own);
        }
        self.leave(id, now);
    }

    /// Stops at once: what is in flight ends as cancelled.
    pub fn cancel(&mut self, now: Nanos) {
        self.stop(now);
        self.give_up_at = now;
        self.give_up(now, Outcome::Cancelled);
    }

    /// Writes down what is left to write and closes the sink. Call once, when done; in flight is then unfinished.
    pub fn finish_all(&mut self, now: Nanos) -> &mut S {
        if !self.ended {
            self.ended = true;
            self.tell_start();
            self.stop(now);
            while let Some((_, who)) = self.next_held() {
                self.never_start(who, now);
            }
            self.give_up(now, Outcome::Unfinished);
            self.flush_run();
            self.sink.finish(now);
        }
        &mut self.sink
    }

    /// A request that cannot start any more: unsent if it fell due by the time sending stopped, otherwise nothing.
    pub(super) fn never_start(&mut self, who: Who, now: Nanos) -> Option<Action> {
        let due = match who {
            Who::Waiting(id) => self.sessions.get(id).due,
            Who::Arrival(group) => self.groups[group].next.map_or(Nanos::MAX, |a| a.intended),
        };
        if due <= self.last_of(who) {
            let waited_out = due.saturating_add(self.limits.max_wait) <= now;
            return self.end_unstarted(who, if waited_out { Outcome::Shed } else { Outcome::Unsent }, now);
        }
        match who {
            // Stopped early: what was not yet due never fell due.
            Who::Arrival(group) => {
                self.groups[group].next = None;
                self.note_next();
            }
            Who::Waiting(id) => {
                self.held_mut(self.sessions.get(id).origin).waiting.pop_front();
                self.cut_short(id, now);
            }
        }
        None
    }

    /// It has waited too long for a connection.
    pub(super) fn shed(&mut self, who: Who, now: Nanos) -> Option<Action> {
        self.end_unstarted(who, Outcome::Shed, now)
    }

    /// Its session goes on, or ends and closes what connection it has. Shed is what the cap held back, and not the generator.
    fn end_unstarted(&mut self, who: Who, outcome: Outcome, now: Nanos) -> Option<Action> {
        let due = match who {
            Who::Waiting(id) => self.sessions.get(id).due,
            Who::Arrival(group) => self.groups[group].next.map_or(now, |arrival| arrival.intended),
        };
        let wait = self.waited_in_vain(self.origin_of(who), due, now);
        let outcome = if wait > Nanos::ZERO { outcome } else { Outcome::Unsent };
        match who {
            Who::Arrival(group) => {
                self.write_never_arrived(group, outcome, wait, now);
                None
            }
            Who::Waiting(id) => {
                self.held_mut(self.sessions.get(id).origin).waiting.pop_front();
                self.flush_run();
                let record = Record { wait, ..self.record(id, now, outcome) };
                if !self.streams.is_empty() {
                    self.never_streamed(&record);
                }
                self.write(record);
                if self.is_set_aside(id) {
                    // As with any arrival that never starts, its session does not begin.
                    self.sessions.end(id);
                    return None;
                }
                self.go_on(id, outcome, Sent::No, SessionControl::Continue, now)
            }
        }
    }

    /// Users of the group who are to make no more requests go at once. Where it is its work that is done, also those who
    /// wait for a connection.
    pub(super) fn dismiss(&mut self, number: usize, now: Nanos) {
        let group = &self.groups[number];
        let done = group.left == Some(0);
        let to_go = self.sessions.all_where(|session| {
            let idle = match session.state {
                // What was asked for is still looked for where a redirect said.
                State::Thinking | State::Waiting if group.journey.is_redirected(session.step) => false,
                State::Away | State::Leaving | State::Thinking => true,
                State::Waiting => done,
                State::Busy | State::HandedOff | State::Free => false,
            };
            idle && usize::from(session.group) == number && group.refuses(session.ordinal)
        });
        for id in to_go {
            match self.sessions.get(id).state {
                State::Away => self.sessions.end(id),
                _ => self.cut_short(id, now),
            }
        }
        for held in &mut self.held {
            held.waiting.retain(|&id| self.sessions.get(id).state == State::Waiting);
        }
        self.sessions.forget_timers_of_ended();
    }

    pub(super) fn write_never_arrived(&mut self, number: usize, outcome: Outcome, wait: Nanos, now: Nanos) {
        let Some(arrival) = self.groups[number].next else { return };
        self.advance(number);
        let group = &self.groups[number];
        let Next::Ask(ask) = group.journey.next(&mut Cursor::default(), group.draws, arrival.k) else {
            return;
        };
        if let Some(run) = &mut self.run {
            let cell = |at: Nanos| at.0.div_euclid(RUN_CELL.0);
            if run.outcome == outcome
                && (run.wait > Nanos::ZERO) == (wait > Nanos::ZERO)
                && usize::from(run.group) == number
                && run.step == ask.step
                && run.k + u64::from(run.count) == arrival.k
                && cell(run.intended) == cell(arrival.intended)
                && run.count < u32::MAX
            {
                run.count += 1;
                run.done = now;
                return;
            }
        }
        self.flush_run();
        self.run = Some(Record {
            shard: self.shard,
            group: number as u16,
            step: ask.step,
            repeat: ask.repeat,
            due: Trigger::Arrival,
            wait,
            ..Record::never_started(arrival.k, arrival.intended, now, outcome)
        });
    }

    pub(super) fn flush_run(&mut self) {
        if let Some(run) = self.run.take() {
            if !self.streams.is_empty() {
                self.never_streamed(&run);
            }
            self.sink.record(run);
        }
    }

    /// Nothing is left to start: idle connections are closed one by one, and at the end of patience the rest.
    pub(super) fn wind_down(&mut self, now: Nanos) -> Option<Action> {
        if self.next_held().is_some() {
            return None;
        }
        self.flush_run();
        if now >= self.give_up_at {
            self.give_up(now, Outcome::Unfinished);
            if let Some(action) = self.pending.pop_front() {
                return Some(action);
            }
            if let Some(id) = self.connections.take_orphan() {
                return Some(self.close(id, now));
            }
        }
        let over = self.is_deserted() || self.stopping || self.groups.iter().all(Group::is_single);
        if !over {
            return None;
        }
        self.connections.close_idle().map(Action::Disconnect)
    }

    /// Everything in flight ends with that outcome, and is cancelled next; the connections are then of no use.
    fn give_up(&mut self, now: Nanos, outcome: Outcome) {
        self.stop(now);
        for id in self.in_flight.ids() {
            self.write_out(id);
            let sent = self.in_flight.phase(id) == Phase::Sent;
            let given_back = self.in_flight.phase(id) == Phase::GivenBack;
            self.forget_given_back(id);
            let (session, connection) = self.finish(id, outcome, now);
            if given_back {
                self.sessions.of(session).failed.get_or_insert(outcome);
                let own = std::mem::replace(&mut self.sessions.of(session).connection, NONE);
                if own != NONE {
                    self.connections.orphan(own);
                }
                let close = self.leave(session, now);
                self.pending.extend(close);
                continue;
            }
            if sent {
                self.pending.push_back(Action::Cancel(connection, id));
            }
            let gone = self.connections.unload(connection);
            let session_of = self.sessions.of(session);
            session_of.failed.get_or_insert(outcome);
            let own = std::mem::replace(&mut session_of.connection, NONE) == connection;
            if own || gone || !sent {
                self.connections.orphan(connection);
            }
            let close = self.leave(session, now);
            self.pending.extend(close);
        }
    }
}
