//! Which step had failed in its session before a request that was not sent because a value was missing.
//!
//! Kept is the last failure of each of the latest sessions and closed users that had one (a log tells a session's own row before or
//! after its requests, so that its end is no help); a count for each pair of steps. Deliberately absent: whether the value was that
//! step's to give, which only the scenario tells.

use headway_base::{Outcome, Record, Trigger};
use std::collections::{BTreeMap, HashMap};

/// From this number of failures on, the older half is forgotten.
const MOST: usize = 250_000;

/// Group and number of a session that arrived, or of a closed user.
type Key = (u16, bool, u64);

#[derive(Clone, Debug, Default)]
pub(crate) struct MissingValues {
    /// Number of the session, and the step that failed last in it.
    failed: HashMap<Key, (u64, u16)>,
    /// As it was when it was full.
    older: HashMap<Key, (u64, u16)>,
    /// Requests that were not sent, by the step that had failed before and their own.
    pub after: BTreeMap<(u16, u16), u64>,
}

fn key(record: &Record) -> Key {
    let user = record.due == Trigger::User;
    (record.group, user, if user { u64::from(record.user) } else { record.k })
}

impl MissingValues {
    /// Takes a request of a session or a user, in their order; whether it is counted depends on when it was due.
    #[inline]
    pub fn request(&mut self, record: &Record, counted: bool) {
        if record.outcome == Outcome::Ok {
            return;
        }
        if !record.is_not_sent() {
            self.failed.insert(key(record), (record.k, record.step));
            if self.failed.len() > MOST {
                self.older = std::mem::take(&mut self.failed);
            }
            return;
        }
        if record.outcome != Outcome::Unsent || !counted {
            return;
        }
        let of = |kept: &HashMap<Key, (u64, u16)>| kept.get(&key(record)).copied();
        let before = of(&self.failed).or_else(|| of(&self.older));
        if let Some((_, step)) = before.filter(|(k, _)| *k == record.k) {
            *self.after.entry((step, record.step)).or_default() += 1;
        }
    }

    /// Requests that were not sent after a failure.
    pub fn n(&self) -> u64 {
        self.after.values().sum()
    }
}
