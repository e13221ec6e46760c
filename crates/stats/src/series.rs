//! The run over time: a row per second for the document, and the last second for progress.
//!
//! Rows begin at the plan's zero and cover warm-up too. A run of more than 3,600 rows has its neighbours merged in
//! pairs, as often as needed, so that memory stays at some 7 MB at most.

use crate::cells::Coarse;
use crate::levels::Changes;
use crate::summary::SeriesRow;
use headway_base::{Nanos, Outcome, Record, Snapshot};

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
    /// Sum of these, in nanoseconds.
    response: u128,
    levels: [Changes; LEVELS],
}

/// What there is at every instant some number of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Requests that started and have not ended.
    InFlight,
    /// Requests that are due and held back by the connection cap.
    Waiting,
    /// Users and sessions, as the sources told.
    Told,
    /// Sessions of more than one request that arrived.
    Sessions,
}

const LEVELS: usize = 4;

impl Row {
    /// Takes in the next row, which is `width` long.
    fn merge(&mut self, other: Row, width: i64) {
        self.response += other.response;
        for (mine, its) in self.levels.iter_mut().zip(&other.levels) {
            mine.join(its, width);
        }
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
        let place = self.place(at);
        &mut self.rows[place]
    }

    /// Where the row of an instant is, which is there afterwards.
    #[inline]
    fn place(&mut self, at: Nanos) -> usize {
        let mut i = (at.0.max(0) / self.width) as usize;
        while i >= MOST_ROWS {
            self.halve();
            i /= 2;
        }
        if i >= self.rows.len() {
            self.rows.resize_with(i + 1, Row::default);
        }
        i
    }

    fn halve(&mut self) {
        let width = self.width;
        self.width = width.saturating_mul(2);
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        while let Some(mut row) = rows.next() {
            if let Some(next) = rows.next() {
                row.merge(next, width);
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
        if record.is_not_sent() {
            return;
        }
        let row = self.row(record.intended);
        let responses = row.responses.get_or_insert_with(Coarse::new);
        let response = record.response().0.max(0) as u64;
        responses.push(response, record.count);
        row.response += u128::from(response) * u128::from(record.count);
        let count = i64::from(record.count);
        match record.started.get() {
            Some(started) => {
                self.stay(Level::InFlight, started, record.done, count);
                if record.wait > Nanos::ZERO {
                    self.stay(Level::Waiting, started - record.wait, started, count);
                }
            }
            None => self.stay(Level::Waiting, record.intended, record.done, count),
        }
    }

    /// So many were there from one instant to another.
    #[inline]
    pub fn stay(&mut self, what: Level, from: Nanos, to: Nanos, count: i64) {
        self.change(what, from, count);
        self.change(what, to.max(from), -count);
    }

    /// So many came, or went if negative.
    #[inline]
    pub fn change(&mut self, what: Level, at: Nanos, by: i64) {
        let at = at.max(Nanos::ZERO);
        let place = self.place(at);
        let left = self.width.saturating_mul(place as i64 + 1) - at.0;
        self.rows[place].levels[what as usize].push(by, left);
    }

    /// Mean response times of the rows that lie within a stretch of time and have any: where each ends, and the mean in
    /// seconds.
    pub fn responses(&self, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
        let seconds = self.width as f64 / 1e9;
        let told = |(i, row): (usize, &Row)| {
            let (from, to) = (i as f64 * seconds, (i + 1) as f64 * seconds);
            let n = row.responses.as_ref()?.n;
            (from >= from_s && to <= to_s).then(|| (to, row.response as f64 / n as f64 / 1e9))
        };
        self.rows.iter().enumerate().filter_map(told).collect()
    }

    /// The rows; `users` is what counts as users there.
    pub fn rows(&self, users: Option<Level>) -> Vec<SeriesRow> {
        let mut levels = [0i64; LEVELS];
        let seconds = self.width as f64 / 1e9;
        let at = |x: Option<u64>| x.map(|ns| ns as f64 / 1e9);
        self.rows
            .iter()
            .enumerate()
            .map(|(i, row)| (i, row, means(row, &mut levels, self.width)))
            .map(|(i, row, means)| SeriesRow {
                from_s: i as f64 * seconds,
                to_s: (i + 1) as f64 * seconds,
                started: row.started,
                completed: row.completed,
                failed: row.failed,
                n: row.responses.as_ref().map_or(0, |r| r.n),
                p50: at(row.responses.as_ref().and_then(|r| r.quantile(0.5))),
                p99: at(row.responses.as_ref().and_then(|r| r.quantile(0.99))),
                max: at(row.responses.as_ref().map(|r| r.max)),
                in_flight: Some(means[Level::InFlight as usize]),
                waiting: Some(means[Level::Waiting as usize]),
                users: users.map(|users| means[users as usize]),
            })
            .collect()
    }
}

fn means(row: &Row, levels: &mut [i64; LEVELS], width: i64) -> [f64; LEVELS] {
    std::array::from_fn(|i| row.levels[i].mean(&mut levels[i], width))
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
        if let Some(slot) = self.slot(record.done).filter(|_| !record.is_not_sent()) {
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
        let rows = series.rows(None);
        assert!(rows.len() <= MOST_ROWS && rows.len() > MOST_ROWS / 2, "{}", rows.len());
        assert_eq!(rows.iter().map(|r| r.started).sum::<u64>(), 20_000);
        assert_eq!(rows.iter().map(|r| r.failed).sum::<u64>(), 20_000);
        assert!(rows.iter().all(|r| r.p50.is_none_or(|p| (p / 0.003 - 1.0).abs() < 0.04)));
        assert_eq!(rows[1].from_s, rows[0].to_s);
        // One after the other, each for 3 ms of every second.
        assert!(rows.iter().all(|r| (r.waiting.unwrap() - 0.003).abs() < 1e-9 && r.in_flight == Some(0.0)));
        let last = series.responses(100.0, 200.0);
        assert!(last.iter().all(|&(to, mean)| to <= 200.0 && (mean - 0.003).abs() < 1e-12));
        assert_eq!(
            last.len(),
            (0..rows.len()).filter(|&i| rows[i].from_s >= 100.0 && rows[i].to_s <= 200.0).count()
        );
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
