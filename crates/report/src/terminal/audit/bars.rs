//! Histograms of a few lines: what was observed as a bar, what is expected as a mark on it.

use super::super::layout::{Align, Page, cell, span};
use crate::format::{chosen_time, count, number, plural, time};
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::Audit;

/// Lines of a histogram.
const LINES: usize = 8;
/// Lines of one of counts.
const COUNTS: usize = 10;
/// Least width of a bin of headways, in mean headways.
const STEP: f64 = 0.5;
/// Columns of the longest bar.
const BAR: usize = 33;

/// A line: what falls here, how often it did, how often it should.
struct Bin {
    name: String,
    observed: u64,
    expected: f64,
}

/// Headways against their law.
pub(super) fn headways(page: &mut Page, summary: &Summary) {
    let coarse = summary.audit.as_ref().is_some_and(words::audit::is_coarse);
    let curve = summary.curves.headway.as_ref().filter(|curve| !coarse && !curve.bins.is_empty());
    let Some(curve) = curve else { return };
    let width = curve.bins[0].to.map_or(STEP, |to| to - curve.bins[0].from);
    let group = if width > 0.0 { (STEP / width).ceil().clamp(1.0, 1e6) as usize } else { 1 };
    let mut bins: Vec<Bin> = Vec::new();
    let all = curve.bins.iter().chain([&curve.tail]);
    for (i, bin) in all.enumerate() {
        let place = (i / group).min(LINES - 1);
        if place == bins.len() {
            let to = bin.from + width * group as f64;
            let name = if place == LINES - 1 || bin.to.is_none() {
                format!("{:.1} and more", bin.from)
            } else {
                format!("{:.1} to {to:.1}", bin.from)
            };
            bins.push(Bin { name, observed: 0, expected: 0.0 });
        }
        if let Some(last) = bins.last_mut() {
            last.observed = last.observed.saturating_add(bin.observed);
            last.expected += bin.expected;
        }
    }
    let law = if curve.law == "plan" { "the law expected" } else { "exponential ones of the same mean" };
    page.heading(&format!("Headways against {law}"));
    let name = format!("mean headways of {}", time(curve.unit_s));
    histogram(page, &name, &bins);
}

/// Counts per interval against Poisson counts.
pub(super) fn counts(page: &mut Page, audit: &Audit) {
    let Some(curve) = audit.counts.as_ref().filter(|curve| !curve.bins.is_empty()) else { return };
    let group = curve.bins.len().div_ceil(COUNTS);
    let last = curve.bins.len() - 1;
    let bins: Vec<Bin> = curve
        .bins
        .chunks(group)
        .enumerate()
        .map(|(i, chunk)| {
            let (first, end) = (i * group, i * group + chunk.len() - 1);
            let from = chunk[0].count;
            let name = if end == last {
                format!("{} and more", count(from))
            } else if first == end {
                count(from)
            } else {
                format!("{} to {}", count(from), count(chunk[chunk.len() - 1].count))
            };
            Bin {
                name,
                observed: chunk.iter().fold(0, |sum: u64, bin| sum.saturating_add(bin.observed)),
                expected: chunk.iter().map(|bin| bin.expected).sum(),
            }
        })
        .collect();
    page.heading("Starts per interval against Poisson counts of the same mean");
    histogram(page, &format!("starts in {}", chosen_time(curve.interval_s)), &bins);
    page.marked(
        2,
        "",
        Tone::Faint,
        &format!(
            "{}: mean {}, variance / mean {}, {} empty",
            plural(curve.n, "interval"),
            number(curve.mean),
            number(curve.vmr),
            count(curve.empty)
        ),
    );
}

fn histogram(page: &mut Page, name: &str, bins: &[Bin]) {
    let top = bins.iter().map(|bin| (bin.observed as f64).max(bin.expected)).fold(1.0, f64::max);
    // The mark may stand one column beyond the longest bar.
    let place = |x: f64| ((x / top).clamp(0.0, 1.0) * BAR as f64).round() as usize;
    page.line(&[
        span(Tone::Plain, "  "),
        cell(Tone::Faint, name, 24, Align::Left),
        cell(Tone::Faint, "observed", 9, Align::Right),
        cell(Tone::Faint, "expected", 10, Align::Right),
        span(Tone::Faint, " # observed, | expected"),
    ]);
    for bin in bins {
        let (bar, mark) = (place(bin.observed as f64), place(bin.expected));
        let line: String = (0..=bar.max(mark))
            .map(|i| {
                if i == mark {
                    '|'
                } else if i < bar {
                    '#'
                } else {
                    ' '
                }
            })
            .collect();
        page.line(&[
            span(Tone::Plain, "  "),
            cell(Tone::Plain, &bin.name, 24, Align::Left),
            cell(Tone::Plain, count(bin.observed), 9, Align::Right),
            cell(Tone::Faint, count(bin.expected.round().max(0.0) as u64), 10, Align::Right),
            span(Tone::Plain, " "),
            span(Tone::Plain, line),
        ]);
    }
}
