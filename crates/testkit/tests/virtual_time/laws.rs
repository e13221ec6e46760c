//! What holds of every run, whatever the plan, the target and the generator did.

use crate::rig::Played;
use headway_base::{Kind, Nanos, Outcome, Record, Start, Trigger};
use headway_workload::client::{GRACE, MIN_RETRY_DELAY};
use headway_workload::journey::{Ask, Cursor, Draws, Journey, Next};
use headway_workload::plan::{Connections, Group, OnFailure, Plan, Source};
use headway_workload::users::{Level, Stay};
use headway_workload::{Limits, Shard};
use std::collections::BTreeMap;

/// A row of arrivals that never started spans less than this.
const RUN: Nanos = Nanos::from_millis(1);

/// The requests of session `k`, in order, and how long its user thinks after the last.
pub fn walk(journey: &Journey, draws: Draws, k: u64) -> (Vec<Ask>, Nanos) {
    let (mut cursor, mut asks) = (Cursor::default(), Vec::new());
    loop {
        match journey.next(&mut cursor, draws, k) {
            Next::Ask(ask) => asks.push(ask),
            Next::Over(pause) => return (asks, pause),
        }
    }
}

/// All stays of a user.
pub fn stays(level: &Level, user: u32) -> Vec<Stay> {
    let (mut after, mut all) = (Nanos(-1), Vec::new());
    while let Some(stay) = level.stay(user, after) {
        after = stay.to;
        all.push(stay);
    }
    all
}

/// The requests of a group by session, in the order in which they were due; runs of arrivals taken apart.
pub fn by_session(played: &Played, group: u16) -> BTreeMap<u64, Vec<Record>> {
    let mut sessions: BTreeMap<u64, Vec<Record>> = BTreeMap::new();
    for row in played.kept.records.iter().filter(|r| r.group == group && r.kind == Kind::Request) {
        for k in row.k..row.k + u64::from(row.count) {
            sessions.entry(k).or_default().push(Record { k, count: 1, ..*row });
        }
    }
    sessions
}

/// The rows of whole sessions of a group.
pub fn session_rows(played: &Played, group: u16) -> BTreeMap<u64, Record> {
    let mut rows = BTreeMap::new();
    for row in played.kept.records.iter().filter(|r| r.group == group && r.kind == Kind::Session) {
        assert!(rows.insert(row.k, *row).is_none(), "one row of a session: {row:?}");
    }
    rows
}

/// Fails where a run broke a law.
pub fn check(plan: &Plan, limits: &Limits, played: &Played) {
    check_rows(plan, limits, played);
    check_users(played);
    for (number, group) in plan.groups.iter().enumerate() {
        let of = Of { plan, limits, played, number, group, draws: plan.draws(number) };
        match &group.source {
            Source::Users { level, requests } => of.check_closed(level, *requests),
            Source::Connecting { level } => of.check_connecting(level),
            _ => of.check_arriving(),
        }
        of.check_connections();
    }
}

/// Fails where a generator that is never late has lag: all that a request waits for is then a connection.
pub fn check_no_lag(played: &Played) {
    for row in &played.kept.records {
        assert!(row.kind != Kind::Request || row.lag().is_none_or(|lag| lag == Nanos::ZERO), "{row:?}");
    }
}

fn check_rows(plan: &Plan, limits: &Limits, played: &Played) {
    let kept = &played.kept;
    assert!(kept.finished.is_some());
    let key = |s: &Start| (s.started, s.intended, s.wait, s.arrived, s.step, s.due);
    let requests = || kept.records.iter().filter(|r| r.kind == Kind::Request);
    let mut told: Vec<_> = kept.starts.iter().map(key).collect();
    assert!(kept.starts.is_sorted_by_key(|s| s.started));
    let mut wrote: Vec<_> = requests().filter_map(|r| r.start().as_ref().map(key)).collect();
    told.sort_unstable();
    wrote.sort_unstable();
    assert_eq!(told, wrote, "what is told at the start is what the rows say");
    for row in requests() {
        let stamps =
            [Some(row.intended), row.started.get(), row.sent.get(), row.first_byte.get(), Some(row.done)];
        assert!(stamps.into_iter().flatten().is_sorted(), "stamps in order: {row:?}");
        assert!(row.wait >= Nanos::ZERO && row.lag().is_none_or(|lag| lag >= Nanos::ZERO), "{row:?}");
        let drain = if row.due == Trigger::Step { limits.drain } else { Nanos::ZERO };
        let last = (plan.end + GRACE + drain).min(played.stopped.unwrap_or(Nanos::MAX));
        assert!(row.started.get().is_none_or(|at| at <= last), "started after {last}: {row:?}");
        assert_eq!(row.started.is_some(), row.connection != u32::MAX, "{row:?}");
    }
}

/// Whether there was nothing to send: the world said so before anything was done for it.
fn unmade(row: &Record) -> bool {
    matches!(row.outcome, Outcome::Check | Outcome::LocalLimit) && !row.started.is_some()
}

fn check_users(played: &Played) {
    let mut there = 0;
    for &(_, change) in &played.kept.users {
        there += change;
        assert!(there >= 0);
    }
    assert_eq!(there, 0, "who came has gone");
    assert!(played.kept.users.is_sorted_by_key(|u| u.0));
}

/// A group of a run.
struct Of<'a> {
    plan: &'a Plan,
    limits: &'a Limits,
    played: &'a Played,
    number: usize,
    group: &'a Group,
    draws: Draws,
}

impl Of<'_> {
    fn check_arriving(&self) {
        let sessions = by_session(self.played, self.number as u16);
        let group_stopped = self.played.told_to_stop.get(&(self.number as u16)).copied();
        let stopped = [self.played.stopped, group_stopped].into_iter().flatten().min().unwrap_or(Nanos::MAX);
        let mut unseen = sessions.len();
        for arrival in self.plan.sessions_of(self.number, self.plan.shard) {
            let (asks, _) = walk(&self.group.journey, self.draws, arrival.k);
            let asks = self.led(asks, sessions.get(&arrival.k).map_or(&[], |rows| rows));
            let Some(rows) = sessions.get(&arrival.k) else {
                assert!(
                    asks.is_empty() || arrival.intended > stopped,
                    "fell due and left no row: {arrival:?}"
                );
                continue;
            };
            unseen -= 1;
            assert!(arrival.intended <= stopped, "came when nobody was to come any more: {rows:?}");
            let due: Vec<Trigger> = rows.iter().map(|r| r.due).collect();
            assert_eq!(due[0], Trigger::Arrival);
            assert!(due[1..].iter().all(|&d| d == Trigger::Step), "{rows:?}");
            if rows[0].started.is_some() || unmade(&rows[0]) {
                assert_eq!(rows[0].intended, arrival.intended);
                assert!(rows.iter().all(|r| r.arrived == arrival.intended), "{rows:?}");
            } else {
                // A run of arrivals that never started is one row, due when its first was.
                assert!(rows[0].intended <= arrival.intended && arrival.intended < rows[0].intended + RUN);
                assert_eq!(rows.len(), 1, "a session begins with its first request");
            }
            self.check_steps(rows, &asks);
        }
        assert_eq!(unseen, 0, "sessions that nobody planned");
        self.check_session_rows(&sessions);
    }

    /// What a session asks for, those requests among it that redirects led to.
    fn led(&self, mut asks: Vec<Ask>, rows: &[Record]) -> Vec<Ask> {
        for (at, row) in rows.iter().enumerate() {
            if self.group.journey.is_redirected(row.step) {
                let before = asks[at - 1];
                let step = self.group.journey.redirected(before.step).unwrap();
                asks.insert(at, Ask { step, think: Nanos::ZERO, ..before });
            }
        }
        asks
    }

    /// The requests are those of the journey, each due when the one before had ended and the user had thought.
    fn check_steps(&self, rows: &[Record], asks: &[Ask]) {
        assert!(rows.len() <= asks.len());
        for (row, ask) in rows.iter().zip(asks) {
            assert_eq!((row.step, row.repeat), (ask.step, ask.repeat));
        }
        for (pair, ask) in rows.windows(2).zip(&asks[1..]) {
            // Nobody tries again at once of whom nothing was sent.
            let breath = if pair[0].sent.is_some() { Nanos::ZERO } else { MIN_RETRY_DELAY };
            assert_eq!(pair[1].intended, pair[0].done.saturating_add(ask.think.max(breath)), "{pair:?}");
        }
    }

    fn check_session_rows(&self, sessions: &BTreeMap<u64, Vec<Record>>) {
        let mut wholes = session_rows(self.played, self.number as u16);
        for (k, rows) in sessions {
            let begun: Vec<&Record> = rows.iter().filter(|r| r.started.is_some()).collect();
            let whole = wholes.remove(k);
            let (Some(first), false) = (begun.first(), self.group.journey.is_single()) else {
                assert_eq!(whole, None);
                continue;
            };
            let whole = whole.unwrap_or_else(|| panic!("no row of session {k}"));
            assert_eq!((whole.repeat as usize, whole.started), (begun.len(), first.started), "{rows:?}");
            assert!(whole.done >= rows[rows.len() - 1].done);
            let told = self.played.told_to_end.contains(&(self.number as u16, *k));
            // The request with which a session is told to end is no failure if there was nothing to send.
            let last = rows.len() - 1;
            let passed_over = |i: usize| told && i == last && rows[i].outcome == Outcome::Unsent;
            let mut counted = (0..rows.len()).filter(|&i| !passed_over(i)).map(|i| rows[i].outcome);
            let failed = counted.find(|&outcome| outcome != Outcome::Ok);
            let (asks, _) = walk(&self.group.journey, self.draws, *k);
            let asks = self.led(asks, rows);
            let ends = told || (failed.is_some() && self.group.on_failure == OnFailure::EndSession);
            let expected = match failed {
                Some(failed) => failed,
                None if ends || rows.len() == asks.len() => Outcome::Ok,
                None => Outcome::Unfinished,
            };
            assert_eq!(whole.outcome, expected, "{whole:?} of {rows:?}");
            if ends || rows.len() == asks.len() {
                assert_eq!(whole.done, rows[rows.len() - 1].done, "over with its last request");
            }
        }
        assert!(wholes.is_empty(), "sessions without a request: {wholes:?}");
    }

    fn check_closed(&self, level: &Level, requests: Option<u64>) {
        let rounds = by_session(self.played, self.number as u16);
        let wholes = session_rows(self.played, self.number as u16);
        let stride = u64::from(level.most());
        let mut users: BTreeMap<u32, (Nanos, u64)> = BTreeMap::new();
        for (k, rows) in &rounds {
            let (asks, _) = walk(&self.group.journey, self.draws, *k);
            let asks = self.led(asks, rows);
            assert!(rows.iter().all(|r| r.due == Trigger::User && r.arrived == r.intended), "{rows:?}");
            let user = rows[0].user;
            assert_eq!((k % stride, rows[0].k), (u64::from(user), *k));
            assert!(self.plan.shard.keeps_user(user) && rows.iter().all(|r| r.user == user));
            self.check_steps(rows, &asks);
            let stays = stays(level, user);
            for row in rows {
                let stay = |s: &Stay| s.from <= row.intended && row.intended < s.to;
                assert!(stays.iter().any(stay), "due while he was not there: {row:?} {stays:?}");
            }
            let stopped = self.played.told_to_stop.get(&(self.number as u16)).copied();
            assert!(
                stopped.is_none_or(|at| rows[0].intended <= at),
                "begun in a group that stopped: {rows:?}"
            );
            // Rounds of a user come in the order of their numbers, one after the other.
            let ended = users.insert(user, (rows[rows.len() - 1].done, *k));
            let earliest = ended.map_or(stays[0].from, |(done, _)| done).saturating_add(asks[0].think);
            assert!(rows[0].intended >= earliest, "{rows:?}");
            if let Some(whole) = wholes.get(k) {
                assert_eq!(rows[0].intended, whole.intended.saturating_add(asks[0].think));
                assert_eq!((whole.user, whole.due), (user, Trigger::User));
            }
        }
        self.check_session_rows(&rounds);
        let Some(requests) = requests else { return };
        let made = |r: &&Record| r.started.is_some() || unmade(r);
        // The work counts what is asked for, and not where redirects lead.
        let asked = |r: &&Record| !self.group.journey.is_redirected(r.step);
        let started = rounds.values().flatten().filter(asked).filter(made).count() as u64;
        assert!(started <= requests);
        let cut =
            self.played.stopped.is_some() || self.played.told_to_stop.contains_key(&(self.number as u16));
        if !cut && self.plan.shard == Shard::WHOLE {
            assert_eq!(started, requests);
        }
    }

    /// A socket connects again when its connection stands, or the connect timeout after it was due; half of that after it began at the earliest.
    fn check_connecting(&self, level: &Level) {
        let attempts = by_session(self.played, self.number as u16);
        let (stride, timeout) = (u64::from(level.most()), self.limits.connect_timeout);
        let mut sockets: BTreeMap<u32, Vec<Record>> = BTreeMap::new();
        for (k, rows) in attempts {
            let [row] = rows[..] else { panic!("one attempt, one row: {rows:?}") };
            assert_eq!(
                (k % stride, row.due, row.arrived),
                (u64::from(row.user), Trigger::User, row.intended)
            );
            assert!(self.plan.shard.keeps_user(row.user));
            sockets.entry(row.user).or_default().push(row);
        }
        for (socket, rows) in sockets {
            let stays = stays(level, socket);
            let offset = Nanos((i128::from(timeout.0) * i128::from(socket) / i128::from(stride)) as i64);
            assert!(rows[0].intended >= stays[0].from + offset, "before its turn: {:?}", rows[0]);
            for pair in rows.windows(2) {
                let [before, after] = pair else { continue };
                let next = match (before.started.get(), before.connect.get()) {
                    (Some(started), Some(connect)) => {
                        started + connect + before.tls.get().unwrap_or(Nanos::ZERO)
                    }
                    (Some(started), None) => before.intended.max(started - Nanos(timeout.0 / 2)) + timeout,
                    (None, _) => before.done + timeout,
                };
                let left = |stay: &Stay| stay.to > before.intended && stay.to <= next.max(after.intended);
                assert!(after.intended == next || stays.iter().any(left), "{before:?} {after:?}");
            }
        }
    }

    /// Of connections that are a session's own: nobody else uses them, and it keeps to one of each origin while that lasts.
    fn check_connections(&self) {
        assert!(self.played.most_open <= self.limits.connections as usize);
        if self.plan.groups.iter().all(|g| g.connections == Connections::Shared) {
            assert_eq!(self.played.unannounced, 0);
            assert_eq!(self.played.needless, 0, "a connection was opened beside one that had room");
        }
        if self.group.connections == Connections::Shared {
            return;
        }
        if self.group.connections == Connections::PerRequest {
            let mut uses: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
            for &(_, number, sending) in &self.played.sends {
                let (n, own) = uses.entry(number).or_default();
                *n += 1;
                *own |= sending.group == self.number as u16;
            }
            let reused = uses.iter().find(|(_, (n, own))| *own && *n > 1);
            assert_eq!(reused, None, "a connection is for one request");
            return;
        }
        let closed = matches!(self.group.source, Source::Users { .. });
        let mut owners = BTreeMap::new();
        let mut last: BTreeMap<(u64, u16), (usize, Nanos)> = BTreeMap::new();
        for &(at, number, sending) in self.played.sends.iter().filter(|s| s.2.group == self.number as u16) {
            let who = if closed { sending.user } else { sending.k };
            assert_eq!(*owners.entry(number).or_insert(who), who, "connection {number}");
            let there = (who, self.played.places[number]);
            if let Some((before, _)) = last.insert(there, (number, at)) {
                let life = self.played.lives[before];
                assert!(before == number || life.1 <= at, "left a connection that was open");
            }
        }
        let others = self.played.sends.iter().filter(|s| s.2.group != self.number as u16);
        for (_, number, sending) in others {
            assert!(!owners.contains_key(number), "another group's on {number}: {sending:?}");
        }
    }
}
