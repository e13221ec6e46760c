//! Start or end? Tools write a row when the request is over. If the rows are in the order of stamp + time taken, the
//! stamps are starts; if they are in the order of the stamps themselves although those differ in how long they took,
//! the stamps are ends.
//!
//! A file that somebody has sorted by its stamps looks like one of ends; where both orders hold equally well, nothing
//! can be said, and the tool's default is taken.

use base::{Record, Stamp};

/// Evidence, gathered over the first rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    before: Option<(i64, i64)>,
    pairs: u64,
    stamp_falls: u64,
    end_falls: u64,
}

/// One order must have this many times fewer falls than the other to be believed.
const CLEARLY: u64 = 4;
/// And there must be at least so many falls to judge by.
const FEWEST_FALLS: u64 = 10;

impl Order {
    pub(crate) fn push(&mut self, records: &[Record]) {
        for r in records {
            let Some(stamp) = r.started.get() else { continue };
            let now = (stamp.0, r.done.0);
            if let Some(before) = self.before.replace(now) {
                self.pairs += 1;
                self.stamp_falls += u64::from(now.0 < before.0);
                self.end_falls += u64::from(now.1 < before.1);
            }
        }
    }

    /// Whether the stamps are ends.
    pub(crate) fn says_ends(&self) -> bool {
        self.end_falls >= FEWEST_FALLS && self.stamp_falls * CLEARLY < self.end_falls
    }

    fn says_starts(&self) -> bool {
        self.stamp_falls >= FEWEST_FALLS && self.end_falls * CLEARLY < self.stamp_falls
    }

    /// How it was decided.
    pub(crate) fn words(&self) -> String {
        let (n, stamp, end) = (self.pairs, self.stamp_falls, self.end_falls);
        if self.says_ends() {
            format!(
                "ends: rows are in the order of the stamps ({stamp} of {n} fall back), not of stamp + elapsed ({end} do); a \
                 file sorted by its stamps looks the same"
            )
        } else if self.says_starts() {
            format!(
                "starts: rows are in the order of stamp + elapsed ({end} of {n} fall back), not of the stamps ({stamp} do)"
            )
        } else {
            format!(
                "taken for starts, the tool's default: the order of the rows does not tell ({stamp} of {n} stamps fall back, \
                 {end} of stamp + elapsed)"
            )
        }
    }
}

/// The same row with its stamp read as the end.
pub(crate) fn to_starts(record: &mut Record) {
    let shift = record.started.get().map_or(base::Nanos::ZERO, |started| record.done - started);
    let back = |stamp: Stamp| stamp.get().map_or(Stamp::NONE, |at| (at - shift).into());
    record.intended -= shift;
    record.started = back(record.started);
    record.sent = back(record.sent);
    record.first_byte = back(record.first_byte);
    record.done -= shift;
}
