//! Each step over time: response times and failures of the requests that were due in a row.
//!
//! Rows begin at the plan's zero and are a tenth of a second long at first; once there are more than 120 their neighbours are merged, so
//! that memory stays at some 5 MB at most, whatever the number of steps and the length of the run. Deliberately absent: a run of one
//! step, whose rows are those of `series`.

use crate::cells::Coarse;
use crate::series::SECOND;
use crate::summary::LabelRow;
use headway_base::{Nanos, Outcome, Record};

/// Most rows of a label.
pub const MOST_LABEL_ROWS: usize = 120;

/// Labels that have rows: the first.
pub const MOST_SERIES: usize = 24;

/// Requests that a row holds on average at least, to be shorter than a second: with fewer its percentiles are noise.
const FEWEST: f64 = 10.0;

/// Rows of each label.
#[derive(Clone, Debug)]
pub(crate) struct LabelSeries {
    width: i64,
    labels: Vec<Vec<Row>>,
}

#[derive(Clone, Debug, Default)]
struct Row {
    failed: u64,
    responses: Option<Coarse>,
}

impl Row {
    fn n(&self) -> u64 {
        self.responses.as_ref().map_or(0, |responses| responses.n)
    }
}

/// How many rows of that width make one of the next: 0.1 s, 0.5 s, 1 s, 2 s, 4 s ...
fn many(width: i64) -> usize {
    if width < SECOND / 2 { 5 } else { 2 }
}

impl LabelSeries {
    /// For that number of labels; for one there are no rows.
    pub fn new(labels: usize) -> LabelSeries {
        let labels = if labels > 1 { labels.min(MOST_SERIES) } else { 0 };
        LabelSeries { width: SECOND / 10, labels: (0..labels).map(|_| Vec::new()).collect() }
    }

    /// Takes a request that was sent.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        let label = usize::from(record.step);
        if label >= self.labels.len() {
            return;
        }
        let at = record.intended.0.max(0);
        while at / self.width >= MOST_LABEL_ROWS as i64 {
            self.merge();
        }
        let (rows, at) = (&mut self.labels[label], (at / self.width) as usize);
        if at >= rows.len() {
            rows.resize_with(at + 1, Row::default);
        }
        let row = &mut rows[at];
        row.failed += if record.outcome == Outcome::Ok { 0 } else { u64::from(record.count) };
        row.responses.get_or_insert_with(Coarse::new).push(record.response().0.max(0) as u64, record.count);
    }

    fn merge(&mut self) {
        let many = many(self.width);
        self.width = self.width.saturating_mul(many as i64);
        for rows in &mut self.labels {
            let mut old = std::mem::take(rows).into_iter();
            while let Some(mut row) = old.next() {
                for next in old.by_ref().take(many - 1) {
                    row.failed += next.failed;
                    match (&mut row.responses, next.responses) {
                        (Some(mine), Some(its)) => mine.merge(&its),
                        (mine, Some(its)) => *mine = Some(its),
                        _ => {}
                    }
                }
                rows.push(row);
            }
        }
    }

    /// Makes rows a second long, if they are shorter and hold few requests or the grid of the stamps is coarse.
    pub fn settle(&mut self, grid: Nanos) {
        let n: u64 = self.labels.iter().flatten().map(Row::n).sum();
        let suits = |width: i64, rows: usize| n as f64 >= FEWEST * rows as f64 && width / 10 >= grid.0;
        while self.width < SECOND && !suits(self.width, self.labels.iter().map(Vec::len).sum()) {
            self.merge();
        }
    }

    /// The rows of a label; none beyond the labels that have some.
    pub fn rows(&self, label: usize) -> Vec<LabelRow> {
        let Some(rows) = self.labels.get(label) else { return Vec::new() };
        let border = |i: usize| (i as i64).saturating_mul(self.width) as f64 / 1e9;
        let quantile = |row: &Row, p| row.responses.as_ref()?.quantile(p).map(|ns| ns as f64 / 1e9);
        let row = |(i, row): (usize, &Row)| LabelRow {
            from_s: border(i),
            to_s: border(i + 1),
            n: row.n(),
            failed: row.failed,
            p50: quantile(row, 0.5),
            p99: quantile(row, 0.99),
        };
        rows.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(labels: usize, seconds: i64, grid: i64) -> LabelSeries {
        let mut series = LabelSeries::new(labels);
        for ms in (0..seconds * 1_000).step_by(10) {
            let at = Nanos::from_millis(ms);
            let (step, outcome) =
                ((ms / 10 % 4) as u16, if ms % 70 == 0 { Outcome::Shed } else { Outcome::Ok });
            let spent = Nanos::from_millis(1 + i64::from(step));
            series.record(&Record { step, ..Record::never_started(0, at, at + spent, outcome) });
        }
        series.settle(Nanos(grid));
        series
    }

    #[test]
    fn rows_are_few_and_lose_nothing() {
        // 25 requests a second of each label: 2.5 in a tenth of a second, 12.5 in half a second.
        for (seconds, grid, width) in
            [(4, 1, 0.5), (4, 60_000_000, 1.0), (59, 1, 0.5), (61, 1, 1.0), (119, 1, 1.0), (500, 1, 8.0)]
        {
            let series = told(4, seconds, grid);
            for label in 0..4 {
                let rows = series.rows(label);
                assert_eq!(rows[0].to_s, width, "{seconds} s");
                assert!(rows.len() <= MOST_LABEL_ROWS);
                assert_eq!(rows.iter().map(|row| row.n).sum::<u64>(), 25 * seconds as u64);
                assert!(rows.windows(2).all(|pair| pair[0].to_s == pair[1].from_s));
                let p50 = 0.001 * (label + 1) as f64;
                assert!(rows.iter().all(|row| (row.p50.unwrap() / p50 - 1.0).abs() < 0.033));
            }
            let failed: u64 = (0..4).flat_map(|label| series.rows(label)).map(|row| row.failed).sum();
            assert_eq!(failed, (0..seconds * 100).filter(|i| i % 7 == 0).count() as u64);
        }
    }

    #[test]
    fn one_label_has_none_and_of_many_the_first_have_some() {
        assert!(told(1, 2, 1).rows(0).is_empty());
        let many = told(1_000, 2, 1);
        assert_eq!((many.labels.len(), many.rows(3).len(), many.rows(24).len()), (MOST_SERIES, 4, 0));
    }
}
