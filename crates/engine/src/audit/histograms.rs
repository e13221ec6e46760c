//! Histograms of headways and response times by label and in total, in cells of the user's choice, as Brady's tool draws
//! them (2012): a cell counts what is above its lower and up to its upper edge, the first counts exact zeros, and what
//! lies beyond the last is counted in one row without an upper edge.

use super::export::seconds;
use super::export::write_new;
use super::first_pass::Read;
use super::second_pass::Chosen;
use anyhow::{Context as _, Result};
use headway_base::{Kind, Nanos, Record};
use headway_report::csv::quoted;
use std::cmp::Reverse;
use std::fs;
use std::path::Path;

/// Labels with histograms of their own, the most frequent first; all others are in the total alone.
const MOST_LABELS: usize = 100;

/// Histograms being filled.
pub(super) struct Histograms {
    cells: Vec<Nanos>,
    /// Cells of a histogram without that of zeros, at most.
    most: usize,
    ends: bool,
    /// Which histogram a label has.
    own: Vec<Option<usize>>,
    names: Vec<String>,
    /// By label, the total last.
    measured: Vec<Measured>,
}

/// What one label has: histograms by cell size.
#[derive(Clone)]
struct Measured {
    last: Option<Nanos>,
    headways: Vec<Histogram>,
    response: Vec<Histogram>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Headways,
    Response,
}

impl Measure {
    const ALL: [Measure; 2] = [Measure::Headways, Measure::Response];

    fn name(self) -> &'static str {
        match self {
            Measure::Headways => "headways",
            Measure::Response => "response",
        }
    }
}

impl Measured {
    fn of(&self, measure: Measure) -> &[Histogram] {
        match measure {
            Measure::Headways => &self.headways,
            Measure::Response => &self.response,
        }
    }
}

#[derive(Clone, Default)]
struct Histogram {
    /// Zeros, then cell by cell.
    counts: Vec<u64>,
    beyond: u64,
}

impl Histogram {
    #[inline]
    fn push(&mut self, x: Nanos, cell: Nanos, most: usize) {
        let at = (x.0.max(0) as u64).div_ceil(cell.0 as u64);
        if at > most as u64 {
            self.beyond += 1;
            return;
        }
        let at = at as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }
}

impl Histograms {
    /// Of at most so many cells of these sizes.
    pub(super) fn new(cells: &[Nanos], most: usize, read: &Read, chosen: &Chosen) -> Histograms {
        let mut steps: Vec<usize> =
            (0..chosen.by_label.len()).filter(|&step| chosen.by_label[step] > 0).collect();
        steps.sort_by_key(|&step| (Reverse(chosen.by_label[step]), step));
        steps.truncate(MOST_LABELS);
        steps.sort_by_key(|&step| &read.labels.as_slice()[step]);
        let mut own = vec![None; read.labels.len()];
        steps.iter().enumerate().for_each(|(i, &step)| own[step] = Some(i));
        let mut names: Vec<String> = steps.iter().map(|&step| read.labels.as_slice()[step].clone()).collect();
        names.push("Total".to_owned());
        let empty = vec![Histogram::default(); cells.len()];
        let measured = Measured { last: None, headways: empty.clone(), response: empty };
        Histograms {
            cells: cells.to_vec(),
            most,
            ends: read.load().all(|f| f.facts.ends),
            own,
            measured: vec![measured; names.len()],
            names,
        }
    }

    /// A row, in the order of starts.
    #[inline]
    pub(super) fn row(&mut self, record: &Record) {
        if record.kind != Kind::Request {
            return;
        }
        let total = self.measured.len() - 1;
        let own = self.own.get(usize::from(record.step)).copied().flatten();
        for i in own.into_iter().chain([total]) {
            let measured = &mut self.measured[i];
            for (histogram, &cell) in measured.response.iter_mut().zip(&self.cells).filter(|_| self.ends) {
                histogram.push(record.response(), cell, self.most);
            }
            let Some(started) = record.started.get() else { continue };
            if let Some(last) = measured.last.replace(started) {
                for (histogram, &cell) in measured.headways.iter_mut().zip(&self.cells) {
                    histogram.push(started - last, cell, self.most);
                }
            }
        }
    }

    /// Writes them to a new folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("--histograms {}", folder.display()))?;
        for (i, &cell) in self.cells.iter().enumerate() {
            for measure in Measure::ALL.into_iter().filter(|m| self.ends || *m == Measure::Headways) {
                let mut text = String::from("label,above_s,up_to_s,n\n");
                for (label, measured) in self.names.iter().zip(&self.measured) {
                    rows(&mut text, label, &measured.of(measure)[i], cell, self.most);
                }
                let path = folder.join(format!("{}-{cell}.csv", measure.name()));
                write_new(&path, text.as_bytes()).context("--histograms")?;
            }
        }
        Ok(())
    }
}

fn rows(text: &mut String, label: &str, histogram: &Histogram, cell: Nanos, most: usize) {
    let label = quoted(label);
    let edge = |i: usize| seconds(Nanos(cell.0.saturating_mul(i as i64)));
    for (i, n) in histogram.counts.iter().enumerate() {
        let above = if i == 0 { String::new() } else { edge(i - 1) };
        text.push_str(&format!("{label},{above},{},{n}\n", edge(i)));
    }
    if histogram.beyond > 0 {
        text.push_str(&format!("{label},{},,{}\n", edge(most), histogram.beyond));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_its_upper_edge_and_the_first_only_zeros() {
        let cell = Nanos::from_millis(10);
        let mut histogram = Histogram::default();
        for us in [0, 0, 1, 9_999, 10_000, 10_001, 20_000, 100_000_000, 100_000_001] {
            histogram.push(Nanos::from_micros(us), cell, 10_000);
        }
        assert_eq!(histogram.counts[..3], [2, 3, 2]);
        assert_eq!((histogram.counts[10_000], histogram.beyond), (1, 1));
        let mut text = String::new();
        histogram.counts.truncate(2);
        rows(&mut text, "a,b", &histogram, cell, 10_000);
        assert_eq!(
            text,
            "\"a,b\",,0.000000000,2\n\"a,b\",0.000000000,0.010000000,3\n\"a,b\",100.000000000,,1\n"
        );
    }
}
