//! What is kept of sessions that arrive: how many were due, how they ended, how many were under way, and how many of the
//! requests that they stand for could be sent in time.
//!
//! Sessions are told by two kinds of rows: the first request of each (due as an arrival) and, for those of more than one
//! request, the row of the session itself. What is asked of a session is what it made, each request at the instant at which
//! instant answers would have had it due: its think times are those that it drew, and a session that a failure or a choice
//! ended early stands for no more. Deliberately absent: what is kept of their requests as of all (`requests`).

use crate::cells::Fine;
use crate::levels::Levels;
use crate::moments::Sums;
use crate::phase::Measured;
use crate::responses::{Sample, Strata};
use crate::setup::{SessionAsked, Setup, Workload};
use crate::summary::{Held, NotComputed, Sessions, Why};
use headway_base::{Nanos, Outcome, Record, Trigger};
use headway_redact::Cleared;
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub(crate) struct SessionsKept {
    measured: Measured,
    /// What a session is to do, by group; empty where that is not known.
    per_session: Vec<SessionAsked>,
    /// Whether the run lasts until its work is done, and not until an instant.
    until_done: bool,
    due: u64,
    started: u64,
    /// Requests made that would have been due before the end of the phase if answers were instant.
    asked: u64,
    /// Those that sessions cut short, or never begun, would have made besides.
    missed: f64,
    /// How far the answers have held back each session under way, by group and number.
    held_back: HashMap<(u16, u64), HeldBack>,
    sent: u64,
    /// Requests that the generator did not send.
    pub not_sent: u64,
    ok: u64,
    failed: u64,
    unfinished: u64,
    ended: Strata,
    under_way: Strata,
    /// Sessions under way: from the first byte sent to the last answer.
    pub active: Levels,
    /// When the last session was due.
    last_due: Nanos,
    last_done: Nanos,
    /// When the first request of each step was sent, and when the first answer came.
    first_sent: Vec<Option<Nanos>>,
    first_response: Vec<Option<Nanos>>,
    held_first: HeldKept,
    held_all: HeldKept,
    /// Rows of sessions, whenever they were due.
    pub rows: u64,
}

impl SessionsKept {
    pub fn new(setup: &Setup, measured: Measured) -> SessionsKept {
        let steps = setup.labels.len();
        SessionsKept {
            measured,
            per_session: setup.asks_per_session.clone(),
            until_done: setup.workload == Workload::FixedWork,
            due: 0,
            started: 0,
            asked: 0,
            missed: 0.0,
            held_back: HashMap::new(),
            sent: 0,
            not_sent: 0,
            ok: 0,
            failed: 0,
            unfinished: 0,
            ended: Strata::default(),
            under_way: Strata::default(),
            active: Levels::new(measured),
            last_due: measured.start,
            last_done: Nanos(i64::MIN),
            first_sent: vec![None; steps],
            first_response: vec![None; steps],
            held_first: HeldKept::new(),
            held_all: HeldKept::new(),
            rows: 0,
        }
    }

    /// Takes the row of a session.
    pub fn session(&mut self, record: &Record) {
        self.rows += 1;
        if let Some(from) = record.sent.get().or(record.started.get()) {
            self.active.change(from, 1);
            self.active.change(record.done.max(from), -1);
        }
        let Some(segment) = self.measured.segment(record.arrived) else { return };
        self.row_of(record);
        let duration = (record.done - record.intended).0;
        match record.outcome {
            Outcome::Ok => self.ok += 1,
            Outcome::Unfinished | Outcome::Cancelled => {
                self.unfinished += 1;
                self.under_way.push(segment, duration, 1);
                return;
            }
            _ => self.failed += 1,
        }
        self.ended.push(segment, duration, 1);
    }

    /// Takes a request.
    #[inline]
    pub fn request(&mut self, record: &Record) {
        let step = usize::from(record.step);
        if let Some(sent) = record.sent.get() {
            earlier(&mut self.first_sent, step, sent);
        }
        if record.outcome.answered() {
            earlier(&mut self.first_response, step, record.done);
            self.last_done = self.last_done.max(record.done);
        }
        if record.due == Trigger::User || self.measured.segment(record.arrived).is_none() {
            return;
        }
        let count = u64::from(record.count);
        let held = record.blocked().0.max(0) as u64;
        let started = record.started.get().filter(|_| !record.is_not_sent());
        if record.is_not_sent() {
            self.not_sent += count;
        } else {
            self.held_all.push(held, count);
        }
        self.sent += u64::from(started.is_some_and(|at| at < self.measured.end));
        self.ask(record);
        if record.due == Trigger::Arrival {
            self.due += count;
            self.started += u64::from(started.is_some());
            self.last_due = self.last_due.max(record.arrived);
            if !record.is_not_sent() {
                self.held_first.push(held, count);
            }
        }
    }

    /// Counts a request as asked for, if instant answers would have had it due before the end of the phase.
    fn ask(&mut self, record: &Record) {
        let count = u64::from(record.count);
        let lone = self.per_session.get(usize::from(record.group)).is_none_or(|all| all.requests <= 1.0);
        if lone || (record.due == Trigger::Arrival && !record.started.is_some()) {
            self.asked += count;
            // A session that never began made no request that would tell. One of which a value was missing goes on.
            let over = record.outcome == Outcome::Unsent && record.done >= self.measured.end;
            if over || record.is_given_up_at_cap() {
                self.missed += count as f64 * self.more_from(record.group, 1, record.arrived);
            }
            return;
        }
        let key = (record.group, record.k);
        let session = self.held_back.entry(key).or_default();
        self.asked += if Nanos(record.intended.0 - session.by) < self.measured.end { count } else { 0 };
        session.by += (record.done - record.intended).0.max(0);
        // Its own row counts those that started.
        session.seen += u32::from(record.started.is_some());
        let session = *session;
        if let Some(row) = session.row.filter(|row| session.seen >= row.made) {
            self.over(key, session.by, row);
        }
    }

    /// Takes the row of a session: the last of it from a source, among the first of it from a log.
    fn row_of(&mut self, record: &Record) {
        let key = (record.group, record.k);
        // A failed session that outlasted the phase may have been cut short, too.
        let cut_short = match record.outcome {
            Outcome::Ok => false,
            Outcome::Unfinished | Outcome::Cancelled => true,
            _ => record.done >= self.measured.end,
        };
        let row = Row { made: record.repeat, done: record.done, cut_short };
        let session = self.held_back.entry(key).or_default();
        session.row = Some(row);
        let session = *session;
        if session.seen >= row.made {
            self.over(key, session.by, row);
        }
    }

    /// A session of which all was seen.
    fn over(&mut self, key: (u16, u64), by: i64, row: Row) {
        self.held_back.remove(&key);
        if row.cut_short {
            // Whose next request was not due any more was still there, thinking, when the phase ended.
            let until = row.done.max(self.measured.end);
            self.missed += self.more_from(key.0, row.made, Nanos(until.0 - by));
        }
    }

    /// Requests that a session that made some would still have made from an instant to the end of the phase, if each took no
    /// time and each think time were the mean one.
    fn more_from(&self, group: u16, made: u32, from: Nanos) -> f64 {
        let SessionAsked { requests, think_s } =
            self.per_session.get(usize::from(group)).copied().unwrap_or_default();
        let left = (self.measured.end - from).as_secs_f64();
        if left <= 0.0 {
            return 0.0;
        }
        let more = (requests - f64::from(made)).max(0.0);
        if think_s > 0.0 { more.min((left / think_s).floor()) } else { more }
    }

    /// Requests sent in time over requests asked for; by how many asked.
    pub fn sent_share(&self) -> Option<(f64, f64)> {
        let asked = self.asked as f64 + self.missed;
        (!self.per_session.is_empty() && asked > 0.0).then(|| (self.sent as f64 / asked, asked))
    }

    /// The block. Fixed work has no end but its last answer: `until`. What was asked for is not told where `unasked` says why.
    pub fn summary(
        &self,
        labels: &[Cleared],
        until: Nanos,
        filled: usize,
        unasked: Option<Why>,
        missing: &mut NotComputed,
    ) -> Sessions {
        let duration = Sample::new(&[&self.ended], &[&self.under_way], filled);
        let share = self.sent_share().filter(|_| unasked.is_none());
        if share.is_none() {
            let reason = unasked.unwrap_or(Why::RequestsNotKnown);
            missing.insert("sessions.requests_offered".into(), reason.into());
        }
        let tracked = self.active.n > 0;
        if !tracked {
            missing.insert("sessions.active_mean".into(), Why::NoSessions.into());
        }
        // Fixed work drains from when the last of it was due.
        let from = if self.until_done { self.last_due } else { until };
        let answered = self.last_done > Nanos(i64::MIN);
        let by_step = |first: &[Option<Nanos>]| {
            let told = labels.iter().zip(first);
            told.filter_map(|(label, at)| Some((label.clone(), (*at)?.as_secs_f64()))).collect()
        };
        Sessions {
            n: self.due,
            started: self.started,
            ok: self.ok,
            failed: self.failed,
            unfinished: self.unfinished,
            duration: duration.spread(1e9, "sessions.duration", missing),
            requests_offered: share.map(|s| s.1),
            requests_sent: self.sent,
            sent_share: share.map(|s| s.0),
            active_mean: self.active.mean_until(until, filled).filter(|_| tracked),
            active_max: tracked.then(|| self.active.highest()),
            active_at_end: tracked.then(|| self.active.at_end().max(0) as u64),
            drain: answered.then(|| (self.last_done - from).as_secs_f64().max(0.0)),
            first_sent: by_step(&self.first_sent),
            first_response: by_step(&self.first_response),
            blocked: self.held_first.summary(),
            blocked_all: self.held_all.summary(),
        }
    }
}

/// A session of which not all was seen yet.
#[derive(Clone, Copy, Debug, Default)]
struct HeldBack {
    /// Sum of its response times so far, in nanoseconds.
    by: i64,
    seen: u32,
    row: Option<Row>,
}

/// What its own row tells of a session.
#[derive(Clone, Copy, Debug)]
struct Row {
    made: u32,
    done: Nanos,
    cut_short: bool,
}

fn earlier(first: &mut [Option<Nanos>], step: usize, at: Nanos) {
    if let Some(first) = first.get_mut(step) {
        *first = Some(first.map_or(at, |first| first.min(at)));
    }
}

/// How long requests were held back.
#[derive(Clone, Debug)]
struct HeldKept {
    cells: Fine,
    sums: Sums,
}

impl HeldKept {
    fn new() -> HeldKept {
        HeldKept { cells: Fine::new(), sums: Sums::default() }
    }

    #[inline]
    fn push(&mut self, held: u64, count: u64) {
        self.cells.push(held, count);
        self.sums.push(held, count);
    }

    fn summary(&self) -> Held {
        const NS: f64 = 1e9;
        let cells = self.cells.cells();
        let told = |p| cells.quantile(p).map(|x| x.min(self.cells.max) as f64 / NS);
        Held {
            n: self.sums.n,
            mean: self.sums.mean().map(|m| m / NS),
            p50: told(0.5),
            p99: told(0.99),
            max: (self.sums.n > 0).then_some(self.cells.max as f64 / NS),
        }
    }
}
