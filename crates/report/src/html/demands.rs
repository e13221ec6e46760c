//! The thresholds of a study: where they hold, and each with what it was judged on.

use super::content::table;
use super::markup::{Markup, tone_class};
use crate::content::run::{threshold, threshold_columns};
use crate::content::{Cell, Column, Row, Table};
use crate::words::demands::{RULE, any, sentences};
use crate::words::study::label;
use headway_stats::study::{Point, Study};
use headway_stats::summary::ThresholdResult;

/// Rows of the table; all are in the JSON document.
const MOST_ROWS: usize = 500;

/// What was demanded of the points, and what became of it.
pub(super) fn study(page: &mut Markup, study: &Study) {
    if !any(study) {
        return;
    }
    page.section("thresholds", "Thresholds");
    page.element("p", "", RULE);
    let all = sentences(study);
    if !all.is_empty() {
        page.raw("<ul>\n");
        for sentence in &all {
            page.element("li", tone_class(sentence.tone), &sentence.text);
        }
        page.raw("</ul>\n");
    }
    let all = || study.points.iter().flat_map(|point| point.thresholds.iter().map(move |of| (point, of)));
    let row = |(point, of): (&Point, &ThresholdResult)| {
        let cells: Vec<Cell> = std::iter::once(Cell::new(label(study, point))).chain(threshold(of)).collect();
        Row::from(cells)
    };
    let rows: Vec<Row> = all().take(MOST_ROWS).map(row).collect();
    if !rows.is_empty() {
        let caption = match all().count() - rows.len() {
            0 => "Thresholds by point".to_owned(),
            _ => format!("Thresholds by point: the first {MOST_ROWS}; all are in the JSON"),
        };
        let columns = std::iter::once(Column::word("point", 20)).chain(threshold_columns()).collect();
        table(
            page,
            &Table { caption, columns, rows, most_rows: MOST_ROWS, row: "threshold", ..Table::default() },
        );
    }
    page.end_section();
}
