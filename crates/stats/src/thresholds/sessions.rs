//! How many sessions saw at least one response beyond a threshold's bound.
//!
//! What is kept of a session goes when its row and all its requests have been seen, in whichever order: a source tells the
//! row last, a log sorted by starts has it first. Memory follows the sessions under way, and the closed users. Deliberately
//! absent: sessions of one request, which have no row of their own.

use super::{Aggregate, Threshold};
use crate::metric::Taken;
use crate::summary::{Operator, SessionsOver, ThresholdUnit};
use headway_base::{Nanos, Outcome, Record, Trigger};
use headway_redact::Cleared;
use std::collections::HashMap;

/// Most sessions that are followed at once, and most thresholds.
const MOST: usize = 1_000_000;
const MOST_BOUNDS: usize = 64;

/// Counts the sessions over each bound.
#[derive(Clone, Debug, Default)]
pub(super) struct OverBounds {
    bounds: Vec<Bound>,
    under_way: HashMap<Key, State>,
    sessions: u64,
    /// Sessions that could not be followed.
    lost: bool,
}

#[derive(Clone, Debug)]
struct Bound {
    /// Which threshold.
    threshold: usize,
    step: Option<u16>,
    limit: Nanos,
    /// Whether the limit itself is beyond it.
    excludes: bool,
    only_ok: bool,
    over: u64,
}

/// Group and number of a session; or of a closed user, whose sessions follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Session(u16, u64),
    User(u16, u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    k: u64,
    /// A bit for each bound that was passed.
    over: u64,
    seen: u32,
    /// Requests that the session made, and whether it is counted, once its row was seen.
    ended: Option<(u32, bool)>,
}

fn key(record: &Record) -> Key {
    match record.due {
        Trigger::User => Key::User(record.group, record.user),
        _ => Key::Session(record.group, record.k),
    }
}

impl OverBounds {
    /// For those of the thresholds that bound response times from above.
    pub fn new(thresholds: &[Threshold], steps: &[Cleared]) -> OverBounds {
        let bound = |(threshold, t): (usize, &Threshold)| {
            let of_time = t.unit() == ThresholdUnit::Seconds && t.aggregate != Aggregate::Min;
            let upper = matches!(t.operator, Operator::Below | Operator::AtMost);
            let step = t.step.as_ref().map(|step| steps.iter().position(|known| known == step));
            // A step that is not there is passed by nothing.
            let step = step.map(|at| at.and_then(|at| u16::try_from(at).ok()).unwrap_or(u16::MAX));
            let Taken::Response { successes: only_ok } = t.metric.taken else { return None };
            (of_time && upper).then(|| Bound {
                threshold,
                step,
                limit: Nanos::from_secs_f64(t.limit),
                excludes: t.operator == Operator::Below,
                only_ok,
                over: 0,
            })
        };
        let bounds = thresholds.iter().enumerate().filter_map(bound).take(MOST_BOUNDS).collect();
        OverBounds { bounds, ..OverBounds::default() }
    }

    /// Takes a request, whenever it was due.
    #[inline]
    pub fn request(&mut self, record: &Record) {
        if self.bounds.is_empty() {
            return;
        }
        let response = record.response();
        let passed = |b: &Bound| {
            b.step.is_none_or(|step| step == record.step)
                && (!b.only_ok || record.outcome == Outcome::Ok)
                && !record.is_not_sent()
                && (response > b.limit || (b.excludes && response == b.limit))
        };
        let bits = self.bounds.iter().enumerate().filter(|(_, b)| passed(b)).map(|(i, _)| 1 << i);
        let over: u64 = bits.sum();
        let key = key(record);
        if !record.started.is_some() && !self.under_way.contains_key(&key) {
            // A session that never begins has no row that would end it.
            return;
        }
        let Some(state) = self.state(key, record.k) else { return };
        state.over |= over;
        state.seen += u32::from(record.started.is_some());
        let state = *state;
        self.settle(key, state);
    }

    /// Takes the row of a session; whether it is `counted` depends on when it arrived.
    pub fn session(&mut self, record: &Record, counted: bool) {
        if self.bounds.is_empty() {
            return;
        }
        let key = key(record);
        let Some(state) = self.state(key, record.k) else { return };
        state.ended = Some((record.repeat, counted));
        let state = *state;
        self.settle(key, state);
    }

    fn state(&mut self, key: Key, k: u64) -> Option<&mut State> {
        if self.under_way.len() >= MOST && !self.under_way.contains_key(&key) {
            self.lost = true;
            return None;
        }
        let fresh = State { k, ..State::default() };
        // A user's session before this one is over, or it was a single request.
        let before = self.under_way.get(&key).filter(|state| state.k != k).copied();
        if let Some(before) = before {
            self.under_way.insert(key, fresh);
            self.count(before);
        }
        Some(self.under_way.entry(key).or_insert(fresh))
    }

    fn settle(&mut self, key: Key, state: State) {
        if state.ended.is_some_and(|(requests, _)| state.seen >= requests) {
            self.under_way.remove(&key);
            self.count(state);
        }
    }

    fn count(&mut self, state: State) {
        if state.ended.is_some_and(|(_, counted)| counted) {
            self.sessions += 1;
            for (i, bound) in self.bounds.iter_mut().enumerate() {
                bound.over += state.over >> i & 1;
            }
        }
    }

    /// The sessions over the bound of a threshold, by its number; none where it has no bound, or there are no sessions.
    pub fn of(&self, threshold: usize) -> Option<SessionsOver> {
        let (i, bound) = self.bounds.iter().enumerate().find(|(_, b)| b.threshold == threshold)?;
        // Of these a request is missing, which the log has lost.
        let rest = self.under_way.values().filter(|s| s.ended.is_some_and(|(_, counted)| counted));
        let (n, over) =
            rest.fold((self.sessions, bound.over), |(n, over), s| (n + 1, over + (s.over >> i & 1)));
        (n > 0 && !self.lost).then(|| SessionsOver { n, over, share: Some(over as f64 / n as f64) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Kind;

    /// Three requests of each of two sessions, with these response times in ms, and the sessions' rows.
    fn rows() -> Vec<Record> {
        let of = |k: u64, times: [i64; 3]| {
            let arrived = Nanos::from_secs(k as i64);
            let request = move |(i, ms): (i64, i64)| Record {
                arrived,
                step: i as u16,
                started: (arrived + Nanos(i)).into(),
                due: if i == 0 { Trigger::Arrival } else { Trigger::Step },
                ..Record::never_started(
                    k,
                    arrived + Nanos(i),
                    arrived + Nanos(i) + Nanos::from_millis(ms),
                    Outcome::Ok,
                )
            };
            let session = Record {
                kind: Kind::Session,
                repeat: 3,
                ..Record::never_started(k, arrived, arrived + Nanos::from_secs(1), Outcome::Ok)
            };
            (0..).zip(times).map(request).chain([session]).collect::<Vec<_>>()
        };
        [of(1, [10, 300, 20]), of(2, [100, 20, 20])].concat()
    }

    fn over(rows: &[Record], counted: bool) -> Vec<Option<(u64, u64)>> {
        let texts = ["p(99)<100", "avg<=100", "response{step:c}: max<50", "p(50)>100", "failed: rate<1%"];
        let thresholds: Vec<Threshold> = texts.iter().map(|t| t.parse().unwrap()).collect();
        let mut bounds = OverBounds::new(&thresholds, &["a".into(), "b".into(), "c".into()]);
        for row in rows {
            match row.kind {
                Kind::Session => bounds.session(row, counted),
                _ => bounds.request(row),
            }
        }
        assert!(bounds.under_way.is_empty());
        (0..texts.len()).map(|i| bounds.of(i).map(|s| (s.over, s.n))).collect()
    }

    #[test]
    fn the_single_requests_of_a_user_leave_nothing_behind() {
        let mut bounds = OverBounds::new(&["p(99)<100".parse().unwrap()], &["a".into()]);
        for k in 0..1_000 {
            let due = Nanos::from_secs(k as i64);
            let request = Record::never_started(k, due, due + Nanos::from_millis(200), Outcome::Ok);
            bounds.request(&Record { due: Trigger::User, user: 3, started: due.into(), ..request });
            // Neither do sessions that never began.
            bounds.request(&Record { outcome: Outcome::Shed, ..request });
        }
        assert_eq!((bounds.under_way.len(), bounds.of(0)), (1, None));
    }

    #[test]
    fn a_session_counts_once_whatever_the_order_of_its_rows() {
        let expected = [Some((2, 2)), Some((1, 2)), Some((0, 2)), None, None];
        assert_eq!(over(&rows(), true), expected);
        let mut sorted = rows();
        sorted.sort_by_key(|r| (r.k, r.kind != Kind::Session));
        assert_eq!(over(&sorted, true), expected);
        sorted.reverse();
        assert_eq!(over(&sorted, true), expected);
        assert_eq!(over(&rows(), false), [None; 5]);
        assert_eq!(over(&[], true), [None; 5]);
    }
}
