//! The thresholds of a study: where they hold, and each with what it was judged on.

use super::markup::{Cell, Markup, cell, number, tone_class, toned, word};
use crate::format::count;
use crate::words::demands::{RULE, any, sentences};
use crate::words::study::label;
use crate::words::thresholds::{interval, limit, outcome, value};
use stats::study::{Point, Study};
use stats::summary::ThresholdResult;

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
        let (shown, tone) = outcome(threshold.outcome);
        vec![
            cell(label(study, point)),
            cell(&threshold.text),
            toned(tone, shown),
            cell(value(threshold)),
            cell(interval(threshold)),
            cell(limit(threshold)),
            cell(count(threshold.n)),
            cell(threshold.reason.clone().unwrap_or_default()),
        ]
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
        let head = [
            word("point"),
            word("threshold"),
            word("outcome"),
            number("value"),
            number("95 % interval"),
            number("demanded"),
            number("n"),
            word("note"),
        ];
        page.table(&caption, &head, &rows);
    }
    page.raw("</section>\n");
}
