//! The run over time: rows for the document, and the last second for progress.
//!
//! Rows begin at the plan's zero and cover warm-up too. They are a tenth of a second long in a run of up to a minute, and a second in a
//! longer one; how many of them make one of the document's is settled in the end. A run of more than 3,600 rows has its neighbours
//! merged in pairs, as often as needed, so that memory stays at some 8 MB at most. Steps have rows of their own (`label_series`).

use crate::cells::{Coarse, group, group_edge};
use crate::label_series::LabelSeries;
use crate::levels::Changes;
use crate::summary::{LabelRow, MeanParts, OTHER_STATUSES, ResponseGrid, SeriesRow, failure_kind};
use headway_base::{Nanos, Outcome, Record, Snapshot};
use std::collections::BTreeMap;

/// Most rows of the series.
pub const MOST_ROWS: usize = 3_600;

/// Most rows that are shorter than a second.
const MOST_SHORT: usize = 600;

/// Status codes that have a count of their own in a row of the document, the most frequent of the run; the others are counted together.
pub const MOST_STATUSES: usize = 8;

/// Kinds of failure that have a count of their own in a row of the document, alike; the others are counted by outcome.
pub const MOST_KINDS: usize = 8;

/// Status codes, and kinds of failure, that are kept apart: the first that come.
const KEPT: usize = 32;

/// Requests that a row holds on average at least, to be shorter than a second.
const FEWEST: f64 = 5.0;

pub(crate) const SECOND: i64 = 1_000_000_000;

/// Rows shorter than a second: how long, and below how many measured seconds.
const SHORT: [(i64, i64); 3] = [(SECOND / 10, 10), (SECOND / 5, 30), (SECOND / 2, 60)];

/// Row after row, as wide as it takes to stay under [`MOST_ROWS`].
#[derive(Clone, Debug)]
pub(crate) struct Series {
    width: i64,
    rows: Vec<Row>,
    /// Status codes in the order in which they came.
    statuses: Vec<u16>,
    /// Kinds of failure, alike.
    kinds: Vec<(Outcome, u16)>,
    /// Steps, each by itself; none where there is one.
    labels: LabelSeries,
}

#[derive(Clone, Debug, Default)]
struct Row {
    started: u64,
    /// Connections that were established within.
    established: u64,
    /// Requests that ended as ok within.
    completed: u64,
    /// Requests that failed within by the place of their kind in the list; beyond it, all other kinds by outcome.
    failed: Vec<u64>,
    /// Responses that ended within by the place of their status code in the list; beyond it, all other codes.
    statuses: Vec<u64>,
    bytes_received: u64,
    /// Response times of the requests due within.
    responses: Option<Coarse>,
    /// Sum of these, in nanoseconds.
    response: u128,
    parts: Parts,
    levels: [Changes; LEVELS],
}

/// Where the time of requests went which were due within and had a complete response: sums in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    n: u64,
    /// Lag, wait for a connection, connect, TLS, first byte, receive.
    sums: [u64; 6],
}

impl Parts {
    #[inline]
    fn push(&mut self, record: &Record) {
        let stamps = (record.started.get(), record.sent.get(), record.first_byte.get());
        let (Some(started), Some(sent), Some(first_byte)) = stamps else { return };
        let span = |span: Nanos| span.0.max(0) as u64;
        let set_up = span(sent - started);
        // What a connection took before its request started is no part of the response time.
        let connect = record.connect.get().map_or(0, span).min(set_up);
        let tls = record.tls.get().map_or(0, span).min(set_up - connect);
        let wait = span(record.wait) + (set_up - connect - tls);
        let lag = span(started - record.intended - record.wait);
        let parts = [lag, wait, connect, tls, span(first_byte - sent), span(record.done - first_byte)];
        let count = u64::from(record.count);
        self.n += count;
        self.sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum = sum.saturating_add(part * count));
    }

    fn merge(&mut self, other: &Parts) {
        self.n += other.n;
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, its)| *sum = sum.saturating_add(its));
    }

    fn means(&self) -> Option<MeanParts> {
        let [lag, wait, connect, tls, first_byte, receive] =
            self.sums.map(|sum| sum as f64 / self.n as f64 / 1e9);
        (self.n > 0).then_some(MeanParts { n: self.n, lag, wait, connect, tls, first_byte, receive })
    }
}

/// Adds counts by place.
fn add(mine: &mut Vec<u64>, its: &[u64]) {
    if mine.len() < its.len() {
        mine.resize(its.len(), 0);
    }
    mine.iter_mut().zip(its).for_each(|(mine, its)| *mine += its);
}

/// Counts at a place.
#[inline]
fn count_at(counts: &mut Vec<u64>, place: usize, count: u32) {
    if counts.len() <= place {
        counts.resize(place + 1, 0);
    }
    counts[place] += u64::from(count);
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
        self.established += other.established;
        self.bytes_received = self.bytes_received.saturating_add(other.bytes_received);
        self.completed += other.completed;
        self.parts.merge(&other.parts);
        add(&mut self.failed, &other.failed);
        add(&mut self.statuses, &other.statuses);
        match (&mut self.responses, other.responses) {
            (Some(a), Some(b)) => a.merge(&b),
            (a, Some(b)) => *a = Some(b),
            _ => {}
        }
    }
}

impl Series {
    /// For requests of that number of labels.
    pub fn new(labels: usize) -> Series {
        let (statuses, kinds) = (Vec::new(), Vec::new());
        Series { width: SECOND / 10, rows: Vec::new(), statuses, kinds, labels: LabelSeries::new(labels) }
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
        while i >= if self.width < SECOND { MOST_SHORT } else { MOST_ROWS } {
            self.merge(if self.width < SECOND { (SECOND / self.width) as usize } else { 2 });
            i = (at.0.max(0) / self.width) as usize;
        }
        if i >= self.rows.len() {
            self.rows.resize_with(i + 1, Row::default);
        }
        i
    }

    /// Makes one row of that many.
    fn merge(&mut self, many: usize) {
        let width = self.width;
        self.width = width.saturating_mul(many as i64);
        // A level lasts to the end of the last row, too.
        self.rows.resize_with(self.rows.len().next_multiple_of(many), Row::default);
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        while let Some(mut row) = rows.next() {
            rows.by_ref().take(many - 1).for_each(|next| row.merge(next, width));
            self.rows.push(row);
        }
    }

    /// Makes rows as long as suits a measured phase of that length whose stamps lie on that grid: a tenth of a second below ten
    /// seconds, a fifth below thirty, half a second below sixty, where rows hold some requests on average; else a second.
    pub fn settle(&mut self, measured: Nanos, grid: Nanos) {
        self.labels.settle(grid);
        let n: u64 = self.rows.iter().map(|row| row.started).sum();
        let per_second = n as f64 / (self.rows.len() as i64 * self.width) as f64 * SECOND as f64;
        let suits = |&(width, below): &(i64, i64)| {
            let held = per_second * width as f64 / SECOND as f64;
            measured.as_secs_f64() < below as f64 && held >= FEWEST && width / 10 >= grid.0
        };
        let width = SHORT.iter().find(|short| suits(short)).map_or(SECOND, |short| short.0);
        if width > self.width {
            self.merge((width / self.width) as usize);
        }
    }

    #[inline]
    pub fn started(&mut self, at: Nanos) {
        self.row(at).started += 1;
    }

    #[inline]
    pub fn record(&mut self, record: &Record) {
        let status = (record.status > 0).then(|| place_of(&mut self.statuses, record.status).unwrap_or(KEPT));
        let failed = (record.outcome != Outcome::Ok).then(|| {
            let kind = (record.outcome, record.status);
            place_of(&mut self.kinds, kind).unwrap_or(KEPT + record.outcome as usize)
        });
        let row = self.row(record.done);
        row.bytes_received = row.bytes_received.saturating_add(record.bytes_received);
        match failed {
            Some(place) => count_at(&mut row.failed, place, record.count),
            None => row.completed += u64::from(record.count),
        }
        if let Some(place) = status {
            count_at(&mut row.statuses, place, record.count);
        }
        if let (Some(started), Some(connect)) = (record.started.get(), record.connect.get()) {
            self.row(started + connect).established += 1;
        }
        if record.is_not_sent() {
            return;
        }
        self.labels.record(record);
        let row = self.row(record.intended);
        let responses = row.responses.get_or_insert_with(Coarse::new);
        let response = record.response().0.max(0) as u64;
        responses.push(response, record.count);
        row.response += u128::from(response) * u128::from(record.count);
        if record.outcome.answered() {
            row.parts.push(record);
        }
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

    /// Mean response times of whole seconds (or of rows, if those are longer) that lie within a stretch of time and have any: where
    /// each ends, and the mean in seconds.
    pub fn responses(&self, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
        let many = (SECOND / self.width).max(1) as usize;
        let seconds = many as f64 * self.width as f64 / 1e9;
        let told = |(i, rows): (usize, &[Row])| {
            let (from, to) = (i as f64 * seconds, (i + 1) as f64 * seconds);
            let n: u64 =
                rows.iter().filter_map(|row| row.responses.as_ref()).map(|responses| responses.n).sum();
            let sum: u128 = rows.iter().map(|row| row.response).sum();
            (n > 0 && from >= from_s && to <= to_s).then(|| (to, sum as f64 / n as f64 / 1e9))
        };
        self.rows.chunks(many).enumerate().filter_map(told).collect()
    }

    /// The rows of each label, by its index; empty where there is one label, and beyond those that are kept.
    pub fn of_label(&self, label: usize) -> Vec<LabelRow> {
        self.labels.rows(label)
    }

    /// The name of each place in the list of status codes, and of the one beyond it: the most frequent codes have their own.
    fn status_names(&self) -> Vec<String> {
        let total = totals(self.rows.iter().map(|row| &row.statuses));
        let own = most(&total, &self.statuses, MOST_STATUSES);
        let name = |place: usize| match self.statuses.get(place) {
            Some(status) if own.contains(&place) => status.to_string(),
            _ => OTHER_STATUSES.to_owned(),
        };
        (0..=KEPT).map(name).collect()
    }

    /// The outcome of a place in the list of kinds or beyond it, and its status code if it has a place of its own.
    fn kind(&self, place: usize) -> (Outcome, Option<u16>) {
        match self.kinds.get(place) {
            Some(&(outcome, status)) => (outcome, Some(status)),
            None => (Outcome::ALL[place - KEPT], None),
        }
    }

    /// The name of each place in the list of kinds of failure and beyond it: the most frequent kinds have their own.
    fn kind_names(&self) -> Vec<String> {
        let total = totals(self.rows.iter().map(|row| &row.failed));
        let own = most(&total, &self.kinds, MOST_KINDS);
        let name = |place: usize| match place {
            _ if place < KEPT && place >= self.kinds.len() => String::new(),
            _ if own.contains(&place) => {
                let (outcome, status) = self.kind(place);
                failure_kind(outcome, status)
            }
            _ => failure_kind(self.kind(place).0, None),
        };
        (0..KEPT + Outcome::ALL.len()).map(name).collect()
    }

    /// Requests of a row that failed, by outcome.
    fn failures(&self, row: &Row) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (place, &n) in row.failed.iter().enumerate().filter(|(_, n)| **n > 0) {
            *counts.entry(self.kind(place).0.name().to_owned()).or_default() += n;
        }
        counts
    }

    /// Response times over the run, in as many columns and as fine steps as there is room for; none where nothing was sent.
    pub fn grid(&self) -> Option<ResponseGrid> {
        let spans = || self.rows.iter().filter_map(|row| row.responses.as_ref()?.span());
        let (low, high) = (spans().map(|(low, _)| low).min()?, spans().map(|(_, high)| high).max()?);
        // Cells of a step: a quarter of an octave, a half, or all of it.
        let rows = |per: usize| group(high, per) - group(low, per) + 1;
        let per = [4, 8].into_iter().find(|&per| rows(per) <= ResponseGrid::MOST_ROWS).unwrap_or(16);
        let (first, rows) = (group(low, per), rows(per));
        let many = self.rows.len().div_ceil(ResponseGrid::MOST_COLUMNS).max(1);
        let column = |of: &[Row]| {
            let mut counts = vec![0; rows];
            of.iter()
                .filter_map(|row| row.responses.as_ref())
                .for_each(|responses| responses.add_groups(per, first, &mut counts));
            counts
        };
        Some(ResponseGrid {
            from_s: 0.0,
            width_s: self.width as f64 * many as f64 / 1e9,
            edges: (first..=first + rows).map(|group| group_edge(group, per) as f64 / 1e9).collect(),
            counts: self.rows.chunks(many).map(column).collect(),
        })
    }

    /// The rows; `users` is what counts as users there.
    pub fn rows(&self, users: Option<Level>) -> Vec<SeriesRow> {
        let mut levels = [0i64; LEVELS];
        let (statuses, kinds) = (self.status_names(), self.kind_names());
        let border = |i: usize| (i as i64).saturating_mul(self.width) as f64 / 1e9;
        let at = |x: Option<u64>| x.map(|ns| ns as f64 / 1e9);
        self.rows
            .iter()
            .enumerate()
            .map(|(i, row)| (i, row, means(row, &mut levels, self.width)))
            .map(|(i, row, means)| SeriesRow {
                from_s: border(i),
                to_s: border(i + 1),
                started: row.started,
                established: Some(row.established),
                completed: row.completed,
                failed: row.failed.iter().sum(),
                failures: self.failures(row),
                failure_kinds: named(&kinds, &row.failed),
                statuses: named(&statuses, &row.statuses),
                bytes_received: Some(row.bytes_received),
                n: row.responses.as_ref().map_or(0, |r| r.n),
                p50: at(row.responses.as_ref().and_then(|r| r.quantile(0.5))),
                p90: at(row.responses.as_ref().and_then(|r| r.quantile(0.9))),
                p99: at(row.responses.as_ref().and_then(|r| r.quantile(0.99))),
                max: at(row.responses.as_ref().map(|r| r.max)),
                time_split: row.parts.means(),
                in_flight: Some(means[Level::InFlight as usize]),
                waiting: Some(means[Level::Waiting as usize]),
                users: users.map(|users| means[users as usize]),
            })
            .collect()
    }
}

/// The place of something in the list of those that are kept apart, where it is put if there is room.
#[inline]
fn place_of<T: PartialEq>(kept: &mut Vec<T>, of: T) -> Option<usize> {
    let known = kept.iter().position(|known| *known == of);
    known.or_else(|| {
        let room = kept.len() < KEPT;
        room.then(|| {
            kept.push(of);
            kept.len() - 1
        })
    })
}

/// Counts by place over all rows.
fn totals<'a>(rows: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
    let mut total = Vec::new();
    rows.for_each(|row| add(&mut total, row));
    total
}

/// The places of the largest counts; of equal ones, by what is counted, so that the order in which it came says nothing.
fn most<T: Ord + Copy>(total: &[u64], kept: &[T], many: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..kept.len()).collect();
    places.sort_by_key(|&place| (std::cmp::Reverse(total.get(place).copied().unwrap_or(0)), kept[place]));
    places.truncate(many);
    places
}

/// Counts by name; places of one name together.
fn named(names: &[String], counts: &[u64]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, &n) in names.iter().zip(counts).filter(|(_, n)| **n > 0) {
        *all.entry(name.clone()).or_default() += n;
    }
    all
}

fn means(row: &Row, levels: &mut [i64; LEVELS], width: i64) -> [f64; LEVELS] {
    std::array::from_fn(|i| row.levels[i].mean(&mut levels[i], width))
}

/// The last few seconds in slots of 100 ms, so that a second can end where all sources have reported.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    slots: Vec<Slot>,
    merged: Coarse,
    pub started: u64,
    pub ended: u64,
    pub failed: u64,
}

#[derive(Clone, Debug)]
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
        let mut series = Series::new(1);
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
    fn a_grid_holds_every_request_where_it_belongs_and_stays_small() {
        assert_eq!(Series::new(1).grid(), None);
        // From half a microsecond to 270 s, and within one octave: the widest and the narrowest range.
        for (seconds, longest) in [(7, 28), (500, 28), (20_000, 28), (500, 1)] {
            let (mut series, mut all) = (Series::new(1), Vec::new());
            for s in 0..seconds {
                let response = (512u64 << (s % longest)) + 17 * s;
                let at = Nanos::from_secs(s as i64);
                series.record(&Record::never_started(0, at, at + Nanos(response as i64), Outcome::Timeout));
                all.push((s as f64, response as f64 / 1e9));
            }
            let grid = series.grid().unwrap();
            let rows = grid.edges.len() - 1;
            assert!(grid.counts.len() <= ResponseGrid::MOST_COLUMNS && rows <= ResponseGrid::MOST_ROWS);
            assert!(grid.counts.iter().all(|column| column.len() == rows));
            assert!(grid.edges.is_sorted_by(|a, b| a < b), "{:?}", grid.edges);
            let mut expected = vec![vec![0; rows]; grid.counts.len()];
            for (due, response) in all {
                let column = (due / grid.width_s) as usize;
                let row = grid.edges.iter().rposition(|&edge| edge <= response).unwrap();
                expected[column][row] += 1;
            }
            assert_eq!(grid.counts, expected, "{seconds} s");
            // No row at either end is empty.
            assert!([0, rows - 1].iter().all(|&row| grid.counts.iter().any(|column| column[row] > 0)));
        }
    }

    #[test]
    fn mean_response_times_are_those_of_whole_seconds_however_fine_the_rows() {
        let seconds = |length: i64| {
            let mut series = Series::new(1);
            for ms in (0..10 * 1_000).step_by(20) {
                let at = Nanos::from_millis(ms);
                series.started(at);
                series.record(&Record::never_started(
                    0,
                    at,
                    at + Nanos::from_millis(ms / 500),
                    Outcome::Shed,
                ));
            }
            series.settle(Nanos::from_secs(length), Nanos(1));
            (series.rows(None).len(), series.responses(2.0, 9.5))
        };
        let expected: Vec<(f64, f64)> =
            (2..9).map(|s| (f64::from(s + 1), (2.0 * f64::from(s) + 0.5) / 1e3)).collect();
        for (length, rows) in [(9, 100), (11, 50), (60, 10)] {
            let (n, told) = seconds(length);
            assert_eq!((n, told.len()), (rows, expected.len()));
            let near = |(a, b): (&(f64, f64), &(f64, f64))| a.0 == b.0 && (a.1 / b.1 - 1.0).abs() < 1e-9;
            assert!(told.iter().zip(&expected).all(near), "{told:?}");
        }
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
