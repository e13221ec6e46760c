//! The run over time: a row per second for the document, and the last second for progress.
//!
//! Rows begin at the plan's zero and cover warm-up too. A run of more than 3,600 rows has its neighbours merged in
//! pairs, as often as needed, so that memory stays at some 7 MB at most.

use crate::cells::Coarse;
use crate::summary::SeriesRow;
use base::{Nanos, Outcome, Record, Snapshot};

/// Most rows of the series.
pub const MOST_ROWS: usize = 3_600;

const SECOND: i64 = 1_000_000_000;

/// Row after row, as wide as it takes to stay under [`MOST_ROWS`].
#[derive(Debug)]
pub(crate) struct Series {
    width: i64,
    rows: Vec<Row>,
}

#[derive(Debug, Default)]
struct Row {
    started: u64,
    completed: u64,
    failed: u64,
    /// Response times of the requests due within.
    responses: Option<Coarse>,
}

impl Row {
    fn merge(&mut self, other: Row) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        match (&mut self.responses, other.responses) {
            (Some(a), Some(b)) => a.merge(&b),
            (a, Some(b)) => *a = Some(b),
            _ => {}
        }
    }
}

impl Series {
    pub fn new() -> Series {
        Series { width: SECOND, rows: Vec::new() }
    }

    #[inline]
    fn row(&mut self, at: Nanos) -> &mut Row {
        let mut i = (at.0.max(0) / self.width) as usize;
        while i >= MOST_ROWS {
            self.halve();
            i /= 2;
        }
        if i >= self.rows.len() {
            self.rows.resize_with(i + 1, Row::default);
        }
        &mut self.rows[i]
    }

    fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        while let Some(mut row) = rows.next() {
            if let Some(next) = rows.next() {
                row.merge(next);
            }
            self.rows.push(row);
        }
    }

    #[inline]
    pub fn started(&mut self, at: Nanos) {
        self.row(at).started += 1;
    }

    #[inline]
    pub fn record(&mut self, record: &Record) {
        let row = self.row(record.done);
        match record.outcome {
            Outcome::Ok => row.completed += u64::from(record.count),
            _ => row.failed += u64::from(record.count),
        }
        let row = self.row(record.intended);
        let responses = row.responses.get_or_insert_with(Coarse::new);
        responses.push(record.response().0.max(0) as u64, record.count);
    }

    pub fn rows(&self) -> Vec<SeriesRow> {
        let seconds = self.width as f64 / 1e9;
        let at = |x: Option<u64>| x.map(|ns| ns as f64 / 1e9);
        self.rows
            .iter()
            .enumerate()
            .map(|(i, row)| SeriesRow {
                from_s: i as f64 * seconds,
                to_s: (i + 1) as f64 * seconds,
                started: row.started,
                completed: row.completed,
                failed: row.failed,
                n: row.responses.as_ref().map_or(0, |r| r.n),
                p50: at(row.responses.as_ref().and_then(|r| r.quantile(0.5))),
                p99: at(row.responses.as_ref().and_then(|r| r.quantile(0.99))),
                max: at(row.responses.as_ref().map(|r| r.max)),
                ..SeriesRow::default()
            })
            .collect()
    }
}

/// The last few seconds in slots of 100 ms, so that a second can end where all sources have reported.
#[derive(Debug)]
pub(crate) struct Recent {
    slots: Vec<Slot>,
    merged: Coarse,
    pub started: u64,
    pub ended: u64,
    pub failed: u64,
}

#[derive(Debug)]
struct Slot {
    number: i64,
    started: u64,
    lag_max: Option<i64>,
    responses: Coarse,
}

const SLOT: i64 = SECOND / 10;
const SLOTS: i64 = 32;

impl Recent {
    pub fn new() -> Recent {
        let slot = || Slot { number: i64::MIN, started: 0, lag_max: None, responses: Coarse::new() };
        let slots = (0..SLOTS).map(|_| slot()).collect();
        Recent { slots, merged: Coarse::new(), started: 0, ended: 0, failed: 0 }
    }

    /// The slot of an instant; none if a later round has already taken it.
    #[inline]
    fn slot(&mut self, at: Nanos) -> Option<&mut Slot> {
        let number = at.0.div_euclid(SLOT);
        let slot = &mut self.slots[number.rem_euclid(SLOTS) as usize];
        if slot.number < number {
            slot.number = number;
            slot.started = 0;
            slot.lag_max = None;
            slot.responses.clear();
        }
        (slot.number == number).then_some(slot)
    }

    #[inline]
    pub fn started(&mut self, at: Nanos, lag: Option<i64>) {
        self.started += 1;
        if let Some(slot) = self.slot(at) {
            slot.started += 1;
            slot.lag_max = slot.lag_max.max(lag);
        }
    }

    #[inline]
    pub fn record(&mut self, record: &Record) {
        let count = u64::from(record.count);
        self.ended += count;
        self.failed += if record.outcome == Outcome::Ok { 0 } else { count };
        if let Some(slot) = self.slot(record.done) {
            slot.responses.push(record.response().0.max(0) as u64, record.count);
        }
    }

    /// How the run stands at `now`. "The last second" is the one that ends at `reported`, up to which all sources have
    /// told what happened, or at `now` if that is earlier.
    pub fn snapshot(&mut self, now: Nanos, reported: Nanos) -> Snapshot {
        let until = now.min(reported).0.div_euclid(SLOT);
        let last_second = (until - SECOND / SLOT)..until;
        self.merged.clear();
        let (mut started, mut lag_max) = (0, None);
        for slot in self.slots.iter().filter(|s| last_second.contains(&s.number)) {
            started += slot.started;
            lag_max = lag_max.max(slot.lag_max);
            self.merged.merge(&slot.responses);
        }
        Snapshot {
            at: now,
            started: self.started,
            ended: self.ended,
            failed: self.failed,
            started_last_second: started,
            response_p50: self.merged.quantile(0.5).map(|ns| Nanos(ns as i64)),
            response_p99: self.merged.quantile(0.99).map(|ns| Nanos(ns as i64)),
            lag_max: lag_max.map(Nanos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_its_totals_in_few_rows() {
        let mut series = Series::new();
        for s in 0..20_000 {
            series.started(Nanos::from_secs(s));
            let at = Nanos::from_secs(s);
            series.record(&Record::never_started(0, at, at + Nanos::from_millis(3), Outcome::Shed));
        }
        let rows = series.rows();
        assert!(rows.len() <= MOST_ROWS && rows.len() > MOST_ROWS / 2, "{}", rows.len());
        assert_eq!(rows.iter().map(|r| r.started).sum::<u64>(), 20_000);
        assert_eq!(rows.iter().map(|r| r.failed).sum::<u64>(), 20_000);
        assert!(rows.iter().all(|r| r.p50.is_none_or(|p| (p / 0.003 - 1.0).abs() < 0.04)));
        assert_eq!(rows[1].from_s, rows[0].to_s);
    }

    #[test]
    fn the_last_second_ends_where_all_have_reported() {
        let mut recent = Recent::new();
        for i in 0..500 {
            recent.started(Nanos::from_millis(10 * i), Some(i));
        }
        let snapshot = recent.snapshot(Nanos::from_secs(5), Nanos::from_millis(4_750));
        assert_eq!((snapshot.started, snapshot.started_last_second), (500, 100));
        assert_eq!(snapshot.lag_max, Some(Nanos(469)));
        assert_eq!(recent.snapshot(Nanos::from_secs(60), Nanos::from_secs(60)).started_last_second, 0);
    }
}
