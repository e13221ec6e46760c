//! The charts' places in the page, each with what it shows in words and its numbers as a table.
//!
//! A figure without data is left out; [`count`] tells how many the script has to draw, so that a check can tell a
//! chart that failed from one that was never due.

use super::markup::{Cell, Column, Markup, cell, number, toned, word};
use crate::format::{count as counted, number as three_digits, plural, time};
use crate::words::{self, Tone};
use stats::Summary;
use stats::summary::{CurvePoint, SeriesRow};

/// Rows of the series that are shown as a table; of a longer run, the slowest ones.
const MOST_ROWS: usize = 300;

/// Number of charts that the page holds.
pub(super) fn count(summary: &Summary) -> usize {
    [has_series(summary), has_percentiles(summary), has_headways(summary), has_dispersion(summary)]
        .into_iter()
        .filter(|&has| has)
        .count()
}

fn has_series(summary: &Summary) -> bool {
    !summary.series.is_empty()
}

fn has_percentiles(summary: &Summary) -> bool {
    let curves = &summary.curves.percentiles;
    curves.response.len() > 1 || curves.service.len() > 1
}

fn has_headways(summary: &Summary) -> bool {
    summary.curves.headway.as_ref().is_some_and(|curve| !curve.bins.is_empty())
}

fn has_dispersion(summary: &Summary) -> bool {
    !summary.arrivals.dispersion.is_empty()
}

/// What the charts mark on the time axis: the findings by their place in the list.
pub(super) fn marks(summary: &Summary) -> serde_json::Value {
    let reasons = words::reasons(summary);
    let marks = reasons.iter().enumerate().filter(|(_, reason)| !reason.at.is_empty()).map(|(i, reason)| {
        serde_json::json!({ "number": i + 1, "severity": words::severity(reason.severity).0, "at": reason.at })
    });
    marks.collect()
}

/// Title, chart and caption; the caller adds the table and closes.
fn figure(page: &mut Markup, id: &'static str, title: &'static str, caption: &str) {
    page.raw("<section class=\"figure\"").attribute("id", id).raw(">\n").element("h2", "", title);
    page.raw("<figure>\n<div class=\"chart\"").attribute("data-chart", id);
    page.raw(" role=\"img\"").attribute("aria-label", &format!("Chart: {title}. {caption}")).raw("></div>\n");
    page.element("figcaption", "", caption).raw("</figure>\n");
}

fn details(page: &mut Markup, caption: &str, head: &[Column], rows: &[Vec<Cell>]) {
    page.raw("<details><summary>The numbers as a table</summary>\n");
    page.table(caption, head, rows);
    page.raw("</details>\n</section>\n");
}

fn or_dash(value: Option<f64>, show: fn(f64) -> String) -> Cell {
    cell(value.map_or("-".into(), show))
}

/// Response time and rate over the run.
pub(super) fn over_time(page: &mut Markup, summary: &Summary) {
    if !has_series(summary) {
        return;
    }
    let stalls = summary.generator.as_ref().map_or(0, |generator| generator.stalls.len() as u64);
    let mut caption =
        "By the second in which a request was due; below, requests started and ended per second.".to_owned();
    if summary.measured.from_s > 0.0 {
        caption.push_str(" Hatched: warm-up, sent and not counted.");
    }
    if words::reasons(summary).iter().any(|reason| !reason.at.is_empty()) {
        caption.push_str(" Shaded and numbered: when the findings above took place.");
    }
    if stalls > 0 {
        caption.push_str(&format!(" Ticks at the top edge: {} of the generator.", plural(stalls, "stall")));
    }
    figure(page, "over-time", "Response time over the run", &caption);
    let (rows, caption) = series_rows(&summary.series);
    let head = [
        word("from (s)"),
        number("started"),
        number("completed"),
        number("failed"),
        number("n"),
        number("p50"),
        number("p99"),
        number("max"),
    ];
    details(page, &caption, &head, &rows);
}

fn series_rows(series: &[SeriesRow]) -> (Vec<Vec<Cell>>, String) {
    let mut shown: Vec<&SeriesRow> = series.iter().collect();
    let mut caption = "Response time and rate over the run".to_owned();
    if shown.len() > MOST_ROWS {
        shown.sort_by(|a, b| b.p99.unwrap_or(0.0).total_cmp(&a.p99.unwrap_or(0.0)));
        shown.truncate(MOST_ROWS);
        shown.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
        caption =
            format!("The {MOST_ROWS} slowest of {} rows; all are in the JSON", counted(series.len() as u64));
    }
    let row = |row: &&SeriesRow| {
        vec![
            cell(format!("{:.1}", row.from_s)),
            cell(counted(row.started)),
            cell(counted(row.completed)),
            toned(if row.failed > 0 { Tone::Bad } else { Tone::Plain }, counted(row.failed)),
            cell(counted(row.n)),
            or_dash(row.p50, time),
            or_dash(row.p99, time),
            or_dash(row.max, time),
        ]
    };
    (shown.iter().map(row).collect(), caption)
}

/// Percentile curves of response and service time.
pub(super) fn percentiles(page: &mut Markup, summary: &Summary) {
    if !has_percentiles(summary) {
        return;
    }
    let curves = &summary.curves.percentiles;
    let mut caption = "Response time counts from when a request was due, service time from when it was sent: the gap \
                       between the curves is waiting before the request could leave. Each curve ends where fewer than \
                       10 observations lie beyond."
        .to_owned();
    if curves.response.iter().any(|point| point.lower_bound) {
        caption.push_str(" Dashed: a lower bound, because some requests never got an answer.");
    }
    if let Some(caveat) = words::caveat(summary) {
        caption.push_str(&format!(" Note: {caveat}."));
    }
    figure(page, "percentiles", "Percentile curve", &caption);
    let at = |points: &[CurvePoint], percentile: f64| {
        let point = points.iter().find(|point| point.percentile == percentile);
        cell(point.map_or("-".into(), |point| {
            format!("{}{}", if point.lower_bound { "> " } else { "" }, time(point.value))
        }))
    };
    let mut all: Vec<f64> =
        curves.response.iter().chain(&curves.service).map(|point| point.percentile).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    // A percentile needs as many digits as it has nines.
    let rows: Vec<Vec<Cell>> = all
        .iter()
        .map(|&p| vec![cell(format!("{p:.4} %")), at(&curves.response, p), at(&curves.service, p)])
        .collect();
    let head = [word("percentile"), number("response"), number("service")];
    details(page, "Percentiles of response and service time", &head, &rows);
}

/// Histogram of headways against its law.
pub(super) fn headways(page: &mut Markup, summary: &Summary) {
    let Some(curve) = summary.curves.headway.as_ref().filter(|_| has_headways(summary)) else { return };
    let law = if curve.law == "plan" { "the plan's law" } else { "an exponential law of the same mean" };
    let caption = format!(
        "Time between successive starts, in mean headways ({} each), n = {}. Bars: observed; line: {law}. {} lie \
         beyond the last bar, {} are expected there.",
        time(curve.unit_s),
        counted(curve.n),
        counted(curve.tail.observed),
        three_digits(curve.tail.expected)
    );
    figure(page, "headways", "Headways against their law", &caption);
    let rows: Vec<Vec<Cell>> = curve
        .bins
        .iter()
        .chain([&curve.tail])
        .map(|bin| {
            let to = bin.to.map_or("and more".into(), |to| format!("to {to:.2}"));
            vec![
                cell(format!("{:.2} {to}", bin.from)),
                cell(counted(bin.observed)),
                cell(three_digits(bin.expected)),
            ]
        })
        .collect();
    let head = [word("mean headways"), number("observed"), number("expected")];
    details(page, "Headways", &head, &rows);
}

/// Index of dispersion by window.
pub(super) fn dispersion(page: &mut Markup, summary: &Summary) {
    if !has_dispersion(summary) {
        return;
    }
    let caption = "Variance over mean of the number of starts per window: 1 for independent users, above when bunched, \
                   below when even. Bars: 2 standard errors of an index of that size, either way. Dashed line: what the plan leads one to expect.";
    figure(page, "dispersion", "Dispersion by window", caption);
    let rows: Vec<Vec<Cell>> = summary
        .arrivals
        .dispersion
        .iter()
        .map(|row| {
            vec![
                cell(time(row.window)),
                cell(three_digits(row.index)),
                cell(three_digits(row.se)),
                cell(three_digits(row.expected)),
                or_dash(row.intended, three_digits),
                cell(counted(row.windows)),
            ]
        })
        .collect();
    let head = [
        word("window"),
        number("index"),
        number("standard error of an index of 1"),
        number("expected"),
        number("intended"),
        number("windows"),
    ];
    details(page, "Index of dispersion of counts", &head, &rows);
}
