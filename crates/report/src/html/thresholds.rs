//! The thresholds as a table.

use super::markup::{Cell, Column, Markup, cell, number, toned, word};
use crate::format::count;
use crate::words::thresholds::{interval, limit, outcome, value};
use headway_stats::Summary;
use headway_stats::summary::ThresholdResult;

/// What was demanded of the numbers, and whether it held.
pub(super) fn thresholds(page: &mut Markup, summary: &Summary) {
    if summary.thresholds.is_empty() {
        return;
    }
    page.section("thresholds", "Thresholds");
    page.element(
        "p",
        "",
        "Judged on the value; an interval astride the limit says that another run may come out the other way.",
    );
    let rows: Vec<Vec<Cell>> = summary.thresholds.iter().map(|threshold| row(threshold).into()).collect();
    page.table("Thresholds", &head(), &rows);
    page.raw("</section>\n");
}

/// Titles of what [`row`] tells.
pub(super) fn head() -> [Column; 7] {
    [
        word("threshold"),
        word("outcome"),
        number("value"),
        number("95 % interval"),
        number("demanded"),
        number("n"),
        word("note"),
    ]
}

/// What is told of a threshold.
pub(super) fn row(threshold: &ThresholdResult) -> [Cell; 7] {
    let (shown, tone) = outcome(threshold.outcome);
    [
        cell(&threshold.text),
        toned(tone, shown),
        cell(value(threshold)),
        cell(interval(threshold)),
        cell(limit(threshold)),
        cell(count(threshold.n)),
        cell(threshold.reason.clone().unwrap_or_default()),
    ]
}
