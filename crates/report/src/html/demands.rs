//! The thresholds of a study: where they hold, and each with what it was judged on.

use super::markup::{Cell, Markup, cell, tone_class, word};
use super::thresholds;
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
    let row = |(point, threshold): (&Point, &ThresholdResult)| -> Vec<Cell> {
        std::iter::once(cell(label(study, point))).chain(thresholds::row(threshold)).collect()
    };
    let judged = || {
        study.points.iter().flat_map(|point| point.thresholds.iter().map(move |threshold| (point, threshold)))
    };
    let rows: Vec<Vec<Cell>> = judged().take(MOST_ROWS).map(row).collect();
    if !rows.is_empty() {
        let left = judged().count() - rows.len();
        let caption = match left {
            0 => "Thresholds by point".to_owned(),
            _ => format!("Thresholds by point: the first {MOST_ROWS}; all are in the JSON"),
        };
        let head: Vec<_> = std::iter::once(word("point")).chain(thresholds::head()).collect();
        page.table(&caption, &head, &rows);
    }
    page.raw("</section>\n");
}
