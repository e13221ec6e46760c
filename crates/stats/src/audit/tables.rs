//! Tables by label and in total: headways, response times, times to the first byte, bytes, bandwidth.
//!
//! Every request that started counts, failed or not. Means and deviations are exact, quantiles come from histograms of
//! three digits (two with many labels) and are told in whole steps of what all values are multiples of, milliseconds
//! mostly. By Brady's rule times are counted in whole digits of the stamps, so that his quantiles come out as they are.
//!
//! Deliberately absent: intervals, which the document's blocks on the same quantities have.

use super::extent::Extent;
use super::{AuditSetup, QuantileRule};
use crate::cells::{Cells, Digits, FEW_LABELS};
use crate::divisor::Divisor;
use crate::moments::{Gathered, Moments};
use crate::summary::{self, Column};
use headway_base::{Nanos, Outcome, Record};
use headway_redact::Cleared;

/// Name of the row of all labels.
const TOTAL: &str = "Total";
/// Name of the row of the labels that have no row of their own.
pub(super) const OTHERS: &str = "(other labels)";
/// Most labels with a row of their own.
const MOST_LABELS: usize = 1_000;

/// Which row of the tables each label belongs to.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub names: Vec<Cleared>,
    of_label: Vec<u16>,
}

impl Rows {
    /// A row per label; of very many labels only the most frequent ones.
    pub fn new(labels: &[Cleared], counts: &[u64]) -> Rows {
        if labels.len() <= MOST_LABELS {
            return Rows { names: labels.to_vec(), of_label: (0..labels.len() as u16).collect() };
        }
        let count = |label: usize| counts.get(label).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&label| (std::cmp::Reverse(count(label)), label));
        order.truncate(MOST_LABELS);
        order.sort_unstable();
        let mut of_label = vec![MOST_LABELS as u16; labels.len()];
        order.iter().enumerate().for_each(|(row, &label)| of_label[label] = row as u16);
        let mut names: Vec<Cleared> = order.iter().map(|&label| labels[label].clone()).collect();
        names.push(OTHERS.into());
        Rows { names, of_label }
    }

    /// The row of a label's number; numbers beyond all labels share the last.
    #[inline]
    pub fn of(&self, step: u16) -> u16 {
        self.of_label.get(usize::from(step)).or(self.of_label.last()).copied().unwrap_or(0)
    }
}

/// What the tables are made of.
#[derive(Debug)]
pub(super) struct Tables {
    rule: QuantileRule,
    percentiles: Vec<f64>,
    bytes: bool,
    ends: bool,
    /// What one unit of the histograms of times is worth.
    unit: u64,
    grid: u64,
    digits: u8,
    extent: Extent,
    rows: Vec<Option<Box<Row>>>,
    names: Vec<Cleared>,
    /// Headways of all requests; everything else of the total is put together from the rows.
    total: Gaps,
    total_extent: Extent,
}

#[derive(Clone, Debug)]
struct Row {
    gaps: Gaps,
    response: Measure,
    first_byte: Measure,
    bytes: Measure,
    bandwidth: Measure,
    /// Requests without a bandwidth: they took no time by their stamps.
    no_time: u64,
    requests: u64,
    failed: u64,
    received: u64,
    extent: Extent,
}

#[derive(Clone, Debug)]
struct Gaps {
    before: Option<Nanos>,
    measure: Measure,
}

/// One quantity of one label.
#[derive(Clone, Debug)]
struct Measure {
    moments: Gathered,
    hist: Digits,
    min: u64,
    max: u64,
    /// Greatest common divisor of all values.
    step: Divisor,
}

impl Measure {
    fn new(digits: u8) -> Measure {
        Measure {
            moments: Gathered::default(),
            hist: Digits::new(digits),
            min: u64::MAX,
            max: 0,
            step: Divisor::default(),
        }
    }

    #[inline]
    fn push(&mut self, x: u64, unit: u64) {
        self.moments.push(x as f64);
        self.min = self.min.min(x);
        self.max = self.max.max(x);
        self.step.push(x);
        self.hist.push(if unit > 1 { x / unit } else { x });
    }
}

impl Gaps {
    #[inline]
    fn push(&mut self, at: Nanos, unit: u64) {
        if let Some(before) = self.before.replace(at) {
            self.measure.push((at - before).0.max(0) as u64, unit);
        }
    }
}

impl Row {
    fn new(digits: u8, extent: &Extent) -> Row {
        let measure = || Measure::new(digits);
        Row {
            gaps: Gaps { before: None, measure: measure() },
            response: measure(),
            first_byte: measure(),
            bytes: measure(),
            bandwidth: measure(),
            no_time: 0,
            requests: 0,
            failed: 0,
            received: 0,
            extent: extent.clone(),
        }
    }
}

impl Tables {
    pub fn new(setup: &AuditSetup, names: Vec<Cleared>) -> Tables {
        let few = names.len() <= FEW_LABELS;
        let (unit, digits) = match setup.quantiles {
            QuantileRule::Brady => (setup.digit.0.max(1) as u64, if few { 5 } else { 3 }),
            QuantileRule::Smallest => (1, if few { 3 } else { 2 }),
        };
        let extent = Extent::new(setup.quantiles, setup.digit);
        Tables {
            rule: setup.quantiles,
            percentiles: setup.percentiles.clone(),
            bytes: setup.bytes,
            ends: setup.ends,
            unit,
            grid: setup.setup.resolution.0.max(1) as u64,
            digits,
            rows: names.iter().map(|_| None).collect(),
            names,
            total: Gaps { before: None, measure: Measure::new(digits) },
            total_extent: extent.clone(),
            extent,
        }
    }

    /// Takes a request, in the order of starts. `row` is that of its label.
    #[inline]
    pub fn push(&mut self, row: u16, record: &Record) {
        let Some(kept) = self.rows.get_mut(usize::from(row)) else { return };
        let row = kept.get_or_insert_with(|| Box::new(Row::new(self.digits, &self.extent)));
        row.failed += if record.outcome == Outcome::Ok { 0 } else { u64::from(record.count) };
        let Some(started) = record.started.get() else { return };
        let unit = self.unit;
        row.requests += 1;
        row.extent.push(started, record);
        row.gaps.push(started, unit);
        self.total_extent.push(started, record);
        self.total.push(started, unit);
        let response = record.response().0.max(0) as u64;
        if self.ends {
            row.response.push(response, unit);
        }
        if let Some(first_byte) = record.first_byte.get() {
            row.first_byte.push((first_byte - started).0.max(0) as u64, unit);
        }
        if self.bytes {
            row.received += record.bytes_received;
            row.bytes.push(record.bytes_received, 1);
            match response {
                _ if !self.ends => {}
                0 => row.no_time += 1,
                ns => row.bandwidth.push((record.bytes_received as f64 * 1e9 / ns as f64) as u64, 1),
            }
        }
    }

    /// Labels whose own headways tell of the stamps' grid: under two steps of it on average.
    pub fn coarse_labels(&self) -> u64 {
        let coarse = |row: &&Row| {
            let gaps = row.gaps.measure.moments.moments();
            self.grid > 1 && gaps.n > 0 && gaps.mean < 2.0 * self.grid as f64
        };
        self.rows.iter().flatten().map(|row| &**row).filter(coarse).count() as u64
    }

    /// Requests that started, and the seconds from the first start to the last end.
    pub fn requests(&self) -> (u64, Option<f64>) {
        (self.rows.iter().flatten().map(|r| r.requests).sum(), self.total_extent.seconds())
    }

    /// The tables: labels by name, those without a row of their own, the total.
    pub fn finish(&self) -> summary::Tables {
        let mut order: Vec<(&Cleared, &Row)> = self
            .names
            .iter()
            .zip(&self.rows)
            .filter_map(|(name, row)| Some((name, row.as_deref()?)))
            .collect();
        order.sort_by_key(|(name, _)| (**name == *OTHERS, *name));
        let rows: Vec<&Row> = order.iter().map(|(_, row)| *row).collect();
        let table = |of: fn(&Row) -> &Measure, total: Option<&Measure>, scale: f64| {
            let all = total.map_or_else(|| rows.iter().map(|row| of(row)).collect(), |total| vec![total]);
            if rows.is_empty() || (total.is_none() && all.iter().all(|m| m.moments.moments().n == 0)) {
                return Vec::new();
            }
            let labels =
                order.iter().map(|(name, row)| self.column(name, &[of(row)], &[row], &row.extent, scale));
            let mut columns: Vec<Column> = labels.collect();
            columns.push(self.column(&TOTAL.into(), &all, &rows, &self.total_extent, scale));
            columns
        };
        const NS: f64 = 1e9;
        let mut tables = summary::Tables {
            headways: table(|r| &r.gaps.measure, Some(&self.total.measure), NS),
            response: table(|r| &r.response, None, NS),
            first_byte: table(|r| &r.first_byte, None, NS),
            bytes: table(|r| &r.bytes, None, 1.0),
            bandwidth: table(|r| &r.bandwidth, None, 1.0),
        };
        for column in &mut tables.headways {
            column.cov_se_poisson = (column.n > 0).then(|| 1.0 / (column.n as f64).sqrt());
        }
        let no_time =
            order.iter().map(|(_, row)| row.no_time).chain([rows.iter().map(|row| row.no_time).sum()]);
        tables.bandwidth.iter_mut().zip(no_time).for_each(|(column, n)| column.left_out = n);
        tables
    }

    /// A row of a table. `scale` of the quantity's whole numbers make one unit of the document.
    fn column(
        &self,
        label: &Cleared,
        measures: &[&Measure],
        rows: &[&Row],
        extent: &Extent,
        scale: f64,
    ) -> Column {
        let mut moments = Moments::default();
        measures.iter().for_each(|m| moments.merge(&m.moments.moments()));
        let min = measures.iter().map(|m| m.min).min().unwrap_or(u64::MAX);
        let max = measures.iter().map(|m| m.max).max().unwrap_or(0);
        let n = moments.n;
        let mut step = Divisor::default();
        measures.iter().for_each(|m| step.push(m.step.get()));
        let unit = if scale == 1.0 { 1 } else { self.unit };
        let cells = Digits::cells(measures.iter().map(|m| &m.hist));
        let quantile = |p: f64, median: bool| {
            let x = self.quantile(&cells, n, p, median)? * unit;
            Some(step.nearest(x).clamp(min, max) as f64 / scale)
        };
        let seconds = extent.seconds();
        let received = rows.iter().map(|r| r.received).sum::<u64>() as f64;
        let variance = moments.sd().map(|sd| sd * sd);
        Column {
            label: label.clone(),
            n,
            rate: seconds.map(|s| n as f64 / s),
            median: quantile(0.5, true),
            mean: moments.mean().map(|m| m / scale),
            sd: moments.sd().map(|s| s / scale),
            cov: moments.cov(),
            cov_se: moments.cov_se(),
            cov_se_poisson: None,
            vmr: variance.filter(|_| moments.mean > 0.0).map(|v| v / moments.mean / scale),
            percentiles: self.percentiles.iter().map(|p| quantile(p / 100.0, false)).collect(),
            min: (n > 0).then_some(min as f64 / scale),
            max: (n > 0).then_some(max as f64 / scale),
            failed: rows.iter().map(|r| r.failed).sum(),
            left_out: 0,
            bytes_per_second: seconds.filter(|_| self.bytes).map(|s| received / s),
        }
    }

    fn quantile(&self, cells: &Cells, n: u64, p: f64, median: bool) -> Option<u64> {
        match self.rule {
            QuantileRule::Smallest => cells.quantile(p),
            QuantileRule::Brady if median => cells.nth(n.checked_sub(1)? / 2),
            QuantileRule::Brady => cells.nth((p * (n as f64 - 0.5)).max(0.0) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_a_thousand_labels_the_rare_ones_share_a_row() {
        let labels: Vec<Cleared> = (0..1_500usize).map(Cleared::from).collect();
        let counts: Vec<u64> = (0..1_500).collect();
        let rows = Rows::new(&labels, &counts);
        assert_eq!(rows.names.len(), 1_001);
        assert_eq!((rows.of(1_499), rows.of(500), rows.of(499), rows.of(0)), (999, 0, 1_000, 1_000));
        assert_eq!((rows.names[0].as_str(), rows.names[1_000].as_str()), ("500", OTHERS));
        let few = Rows::new(&labels[..3], &counts);
        assert_eq!((few.names.len(), few.of(2), few.of(9)), (3, 2, 2));
    }
}
