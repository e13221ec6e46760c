//! What came back per second, over the run: responses by status code, failures by kind, bytes.

use super::figures::{caption_of, details, figure, first_by, or_dash};
use super::markup::{Cell, Column, Markup, cell, number, toned, word};
use crate::format::{count, size};
use crate::words::{Tone, failures as words};
use headway_base::rcode::Status;
use headway_stats::Summary;
use headway_stats::summary::SeriesRow;
use std::collections::{BTreeMap, BTreeSet};

type Counts = fn(&SeriesRow) -> &BTreeMap<String, u64>;

pub(super) fn has_statuses(summary: &Summary) -> bool {
    summary.series.iter().any(|row| !row.statuses.is_empty())
}

pub(super) fn has_failures(summary: &Summary) -> bool {
    summary.series.iter().any(|row| !words::over_time(row).is_empty())
}

pub(super) fn has_bytes(summary: &Summary) -> bool {
    summary.series.iter().any(|row| row.bytes_received > Some(0))
}

/// Responses by status code.
pub(super) fn statuses(page: &mut Markup, summary: &Summary) {
    if !has_statuses(summary) {
        return;
    }
    let caption = "Responses per second by status code, by when they were complete. Requests without a response have none.";
    figure(page, "statuses", "Responses by status code over the run", caption);
    // Codes are numbers of three digits, and come before the word for all others.
    counts(page, summary, "Responses by status code", |row| &row.statuses, status);
}

/// A status code as people know it.
fn status(code: &str) -> String {
    code.parse().map_or_else(|_| code.to_owned(), |code| Status(code).to_string())
}

/// What charts call status codes and kinds of failure.
pub(super) fn names(summary: &Summary) -> BTreeMap<&str, String> {
    let mut names = BTreeMap::new();
    for row in &summary.series {
        names.extend(row.statuses.keys().map(|code| (code.as_str(), status(code))));
        let kinds = words::over_time(row).keys();
        names.extend(kinds.map(|kind| (kind.as_str(), words::kind_over_time(kind))));
    }
    names
}

/// Failures by outcome and status code.
pub(super) fn failures(page: &mut Markup, summary: &Summary) {
    if !has_failures(summary) {
        return;
    }
    let caption = "Requests that failed per second by outcome and status code, by when they ended; warm-up is shown, too.";
    figure(page, "failures-over-time", "Failures over the run", caption);
    counts(page, summary, "Failures by outcome and status code", words::over_time, words::kind_over_time);
}

/// A table of the rows that have such counts, a column for each name.
fn counts(page: &mut Markup, summary: &Summary, title: &str, of: Counts, shown: fn(&str) -> String) {
    let has = || summary.series.iter().filter(|row| !of(row).is_empty());
    let names: BTreeSet<&String> = has().flat_map(|row| of(row).keys()).collect();
    let first = first_by(has(), |row| row.failed as f64);
    let row = |row: &&SeriesRow| {
        let one = |name: &&String| {
            let n = of(row).get(*name).copied().unwrap_or(0);
            toned(if n == 0 { Tone::Faint } else { Tone::Plain }, count(n))
        };
        let cells = names.iter().map(one);
        std::iter::once(cell(format!("{:.1}", row.from_s))).chain(cells).collect::<Vec<Cell>>()
    };
    let rows: Vec<Vec<Cell>> = first.iter().map(row).collect();
    let columns = names.iter().map(|name| number(shown(name)));
    let head: Vec<Column> = std::iter::once(word("from (s)")).chain(columns).collect();
    details(page, &caption_of(title, "with most failures", has().count()), &head, &rows);
}

/// Bytes received.
pub(super) fn bytes(page: &mut Markup, summary: &Summary) {
    if !has_bytes(summary) {
        return;
    }
    let caption = "Bytes of responses per second, head and framing included, before TLS; all of a response count when it ends.";
    figure(page, "bytes", "Bytes received per second", caption);
    let shown = first_by(summary.series.iter(), |row| row.bytes_received.unwrap_or(0) as f64);
    let row = |row: &&SeriesRow| {
        let bytes = row.bytes_received.map(|bytes| bytes as f64);
        let per_second = bytes.map(|bytes| bytes / (row.to_s - row.from_s));
        vec![cell(format!("{:.1}", row.from_s)), or_dash(bytes, size), or_dash(per_second, size)]
    };
    let rows: Vec<Vec<Cell>> = shown.iter().map(row).collect();
    let head = [word("from (s)"), number("bytes"), number("bytes per second")];
    details(page, &caption_of("Bytes received", "largest", summary.series.len()), &head, &rows);
}
