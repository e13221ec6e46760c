//! The charts' places in the page, each with what it shows in words and its numbers as a table.
//!
//! A figure without data is left out; [`count`] tells how many the script has to draw, so that a check can tell a
//! chart that failed from one that was never due.

use super::content;
use super::markup::{Cell, Column, Markup, cell, number, toned, word};
use super::{model, rates, steps};
use crate::format::{chosen_time, count as counted, number as three_digits, plural, share_of, time};
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{Audit, CurvePoint, HistogramBin, SeriesRow};

/// Rows of the series that are shown as a table; of a longer run, the slowest ones.
const MOST_ROWS: usize = 300;

/// Number of charts that the page holds.
pub(super) fn count(summary: &Summary) -> usize {
    let has = [
        has_series(summary),
        has_grid(summary),
        has_throughput(summary),
        has_levels(summary),
        rates::has_statuses(summary),
        rates::has_failures(summary),
        // An audit's page has no such charts.
        summary.audit.is_none() && rates::has_bytes(summary),
        summary.audit.is_none() && steps::has_split(summary),
        steps::has_steps(summary),
        has_histogram(summary),
        has_percentiles(summary),
        has_headways(summary),
        has_dispersion(summary),
        has_counts(summary),
        has_groups(summary),
    ];
    has.into_iter().chain(model::charts(summary)).filter(|&has| has).count()
}

fn has_counts(summary: &Summary) -> bool {
    let counts = summary.audit.as_ref().and_then(|audit| audit.counts.as_ref());
    counts.is_some_and(|curve| curve.bins.len() > 1)
}

/// One group shows no growth. Only an audit's page has the chart.
fn has_groups(summary: &Summary) -> bool {
    summary.audit.is_some() && summary.thread_groups.iter().filter(|group| group.cov.is_some()).count() > 1
}

fn has_series(summary: &Summary) -> bool {
    !summary.series.is_empty()
}

/// An audit's page has no such chart: its rows do not tell what waited, nor when users came and went.
pub(super) fn has_levels(summary: &Summary) -> bool {
    summary.audit.is_none() && summary.series.iter().any(|row| row.in_flight.is_some() || row.users.is_some())
}

/// Of one column or one row there is nothing to see that the histogram or the run over time does not show.
fn has_grid(summary: &Summary) -> bool {
    let grid = summary.curves.response_grid.as_ref();
    grid.is_some_and(|grid| grid.counts.len() > 1 && grid.edges.len() > 2)
}

/// Fewest rows whose throughput is set against their response times.
const FEWEST_POINTS: usize = 8;

/// Rows of the measured phase with response times.
fn has_throughput(summary: &Summary) -> bool {
    let measured = &summary.measured;
    let within = |row: &&SeriesRow| row.from_s >= measured.from_s && row.from_s < measured.to_s;
    let timed = |row: &&SeriesRow| row.p50.is_some_and(|p50| p50 > 0.0);
    let rows = || summary.series.iter().filter(within).filter(timed);
    rows().count() >= FEWEST_POINTS && rows().any(|row| row.completed > 0)
}

fn has_histogram(summary: &Summary) -> bool {
    !summary.curves.response_histogram.is_empty()
}

fn has_percentiles(summary: &Summary) -> bool {
    let curves = &summary.curves.percentiles;
    curves.response.len() > 1 || (shows_service(summary) && curves.service.len() > 1)
}

/// Of a foreign file, service and response time are the same: nothing says when a request was due.
fn shows_service(summary: &Summary) -> bool {
    summary.audit.is_none()
}

fn has_headways(summary: &Summary) -> bool {
    let coarse = summary.audit.as_ref().is_some_and(words::audit::is_coarse);
    !coarse && summary.curves.headway.as_ref().is_some_and(|curve| !curve.bins.is_empty())
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
pub(super) fn figure(page: &mut Markup, id: &'static str, title: &str, caption: &str) {
    page.section_of("figure", id, title);
    page.raw("<figure>\n<div class=\"chart\"").attribute("data-chart", id);
    page.raw(" role=\"img\"").attribute("aria-label", &format!("Chart: {title}. {caption}")).raw("></div>\n");
    page.element("figcaption", "", caption).raw("</figure>\n");
}

/// The chart's numbers, and the end of its section.
pub(super) fn details(page: &mut Markup, caption: &str, head: &[Column], rows: &[Vec<Cell>]) {
    page.raw("<details><summary>The numbers as a table</summary>\n");
    page.table(caption, head, rows);
    page.raw("</details>\n").end_section();
}

pub(super) fn or_dash(value: Option<f64>, show: fn(f64) -> String) -> Cell {
    cell(value.map_or("-".into(), show))
}

/// Response time and rate over the run.
pub(super) fn over_time(page: &mut Markup, summary: &Summary) {
    if !has_series(summary) {
        return;
    }
    let stalls = summary.generator.as_ref().map_or(0, |generator| generator.stalls.len() as u64);
    let mut caption = format!(
        "Per row of {}, by when a request was due; below, requests started, completed and failed per second.",
        chosen_time(summary.series[0].to_s - summary.series[0].from_s)
    );
    if summary.measured.from_s > 0.0 {
        caption.push_str(" Hatched: warm-up, sent and not counted.");
    }
    if words::reasons(summary).iter().any(|reason| !reason.at.is_empty()) {
        caption.push_str(" Shaded and numbered: when the findings took place; ticks where that was short.");
    }
    if stalls > 0 {
        caption.push_str(&format!(
            " Thick red ticks at the top edge: {} of the generator.",
            plural(stalls, "stall")
        ));
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
        number("p90"),
        number("p99"),
        number("max"),
    ];
    details(page, &caption, &head, &rows);
}

/// How many requests took how long, over the run.
pub(super) fn heat_map(page: &mut Markup, summary: &Summary) {
    let Some(grid) = summary.curves.response_grid.as_ref().filter(|_| has_grid(summary)) else { return };
    let most = grid.counts.iter().flatten().max().copied().unwrap_or(0);
    let caption = format!(
        "Requests by when they were due and how long they took: columns of {}. The stronger the colour, the more requests, on a \
         logarithmic scale; the strongest is {}. Those that got no response took until they were given up.",
        chosen_time(grid.width_s),
        plural(most, "request")
    );
    figure(page, "heat-map", "Heat map of response times", &caption);
    page.raw("<details><summary>The numbers as a table</summary>\n");
    content::table(page, &crate::content::over_time::grid(grid));
    page.raw("</details>\n").end_section();
}

/// Response time against throughput.
pub(super) fn throughput(page: &mut Markup, summary: &Summary) {
    if !has_throughput(summary) {
        return;
    }
    let caption = format!(
        "A point for each row of {} of the measured phase: requests completed in it per second, and the response times of those due in \
         it. Response times that rise where the throughput does not are those of a target at its limit. The numbers are in the table \
         of the response time over the run.",
        chosen_time(summary.series[0].to_s - summary.series[0].from_s)
    );
    figure(page, "throughput", "Response time against throughput", &caption);
    page.end_section();
}

/// Who was there and what was in flight, over the run.
pub(super) fn in_flight(page: &mut Markup, summary: &Summary) {
    if !has_levels(summary) {
        return;
    }
    let there =
        |value: fn(&SeriesRow) -> Option<f64>| summary.series.iter().any(|row| value(row) > Some(0.0));
    let mut caption = "Requests in flight (sent and not answered), on average per row".to_owned();
    if there(|row| row.waiting) {
        caption.push_str("; waiting: due and held back by the connection cap");
    }
    if there(|row| row.users) {
        caption.push_str(match words::kind(summary) {
            words::Kind::Sessions => {
                "; sessions of more than one request that are under way, and users who stay"
            }
            _ => "; users who were there",
        });
    }
    caption.push('.');
    if matches!(words::kind(summary), words::Kind::Open | words::Kind::Sessions) {
        caption.push_str(" What grows throughout is more than the target finishes.");
    }
    figure(page, "in-flight", "Users and requests in flight over the run", &caption);
    let rows: Vec<Vec<Cell>> = slowest(&summary.series)
        .iter()
        .map(|row| {
            vec![
                cell(format!("{:.1}", row.from_s)),
                or_dash(row.users, three_digits),
                or_dash(row.in_flight, three_digits),
                or_dash(row.waiting, three_digits),
            ]
        })
        .collect();
    let head = [word("from (s)"), number("users"), number("in flight"), number("waiting")];
    details(page, &shown_rows("Users and requests in flight", &summary.series), &head, &rows);
}

/// Rows that are shown as a table: all, or the slowest.
fn slowest(series: &[SeriesRow]) -> Vec<&SeriesRow> {
    first_by(series.iter(), |row| row.p99.unwrap_or(0.0))
}

/// Rows that are shown as a table: all, or those with the largest values, in the order of time.
pub(super) fn first_by<'a>(
    rows: impl Iterator<Item = &'a SeriesRow>,
    value: impl Fn(&SeriesRow) -> f64,
) -> Vec<&'a SeriesRow> {
    let mut shown: Vec<&SeriesRow> = rows.collect();
    if shown.len() > MOST_ROWS {
        shown.sort_by(|a, b| value(b).total_cmp(&value(a)));
        shown.truncate(MOST_ROWS);
        shown.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    }
    shown
}

/// What a table of the slowest rows shows.
fn shown_rows(all: &str, series: &[SeriesRow]) -> String {
    caption_of(all, "slowest", series.len())
}

/// What a table of rows shows: all, or those that stand out in a way.
pub(super) fn caption_of(all: &str, kind: &str, rows: usize) -> String {
    if rows <= MOST_ROWS {
        return all.to_owned();
    }
    format!("{all}: the {MOST_ROWS} {kind} of {} rows; all are in the JSON", counted(rows as u64))
}

fn series_rows(series: &[SeriesRow]) -> (Vec<Vec<Cell>>, String) {
    let row = |row: &&SeriesRow| {
        vec![
            cell(format!("{:.1}", row.from_s)),
            cell(counted(row.started)),
            cell(counted(row.completed)),
            toned(if row.failed > 0 { Tone::Bad } else { Tone::Plain }, counted(row.failed)),
            cell(counted(row.n)),
            or_dash(row.p50, time),
            or_dash(row.p90, time),
            or_dash(row.p99, time),
            or_dash(row.max, time),
        ]
    };
    let caption = shown_rows("Response time and rate over the run", series);
    (slowest(series).iter().map(row).collect(), caption)
}

/// How many requests took how long.
pub(super) fn histogram(page: &mut Markup, summary: &Summary) {
    if !has_histogram(summary) {
        return;
    }
    let bins = &summary.curves.response_histogram;
    let n: u64 = bins.iter().map(|bin| bin.n).sum();
    let mut caption = format!(
        "Requests with a response, by response time: n = {}. Time is logarithmic: twenty bars to a tenfold.",
        counted(n)
    );
    let within = crate::content::within::table(summary);
    if within.is_some() {
        caption.push_str(" Dashed: the limits of thresholds.");
    }
    figure(page, "histogram", "Histogram of response times", &caption);
    within.iter().for_each(|table| content::table(page, table));
    let row = |bin: &HistogramBin| {
        let to = bin.to.map_or("and more".into(), |to| format!("to {}", chosen_time(to)));
        vec![cell(format!("{} {to}", chosen_time(bin.from))), cell(counted(bin.n)), cell(share_of(bin.n, n))]
    };
    let rows: Vec<Vec<Cell>> = bins.iter().map(row).collect();
    let head = [word("response time"), number("requests"), number("share")];
    details(page, "Histogram of response times", &head, &rows);
}

/// Percentile curves of response and service time, and another run's response times over them.
pub(super) fn percentiles(page: &mut Markup, summary: &Summary) {
    if !has_percentiles(summary) {
        return;
    }
    let curves = &summary.curves.percentiles;
    let service = "Response time counts from when a request was due, service time from when it was sent: the gap \
                       between the curves is waiting before the request could leave. Each curve ends where fewer than \
                       10 observations lie beyond.";
    let alone = "Response time. The curve ends where fewer than 10 observations lie beyond.";
    let mut caption = if shows_service(summary) { service } else { alone }.to_owned();
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
    // A table shows as many columns as it has headings.
    let head = if shows_service(summary) { &head[..] } else { &head[..2] };
    details(page, "Percentiles", head, &rows);
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
    let dashed =
        if summary.plan.is_some() { "what the plan leads one to expect" } else { "independent users" };
    let caption = format!(
        "Variance over mean of the number of starts per window: 1 for independent users, above when bunched, below when \
         even. Bars: 2 standard errors of an index of that size, either way. Dashed line: {dashed}."
    );
    figure(page, "dispersion", "Dispersion by window", &caption);
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

/// Starts per interval against Poisson counts.
pub(super) fn counts(page: &mut Markup, audit: &Audit) {
    let Some(curve) = audit.counts.as_ref().filter(|curve| curve.bins.len() > 1) else { return };
    let caption = format!(
        "How many starts fell in each of {} of {}. Bars: observed; line: Poisson counts of the same mean ({}). \
         Variance over mean is {} (1 for independent users); empty: {}. The last bar holds all above.",
        plural(curve.n, "interval"),
        chosen_time(curve.interval_s),
        three_digits(curve.mean),
        three_digits(curve.vmr),
        counted(curve.empty)
    );
    figure(page, "counts", "Starts per interval against Poisson", &caption);
    let rows: Vec<Vec<Cell>> = curve
        .bins
        .iter()
        .map(|bin| {
            vec![cell(counted(bin.count)), cell(counted(bin.observed)), cell(three_digits(bin.expected))]
        })
        .collect();
    let head = [word("starts"), number("intervals observed"), number("expected")];
    details(page, "Starts per interval", &head, &rows);
}

/// CoV by number of users.
pub(super) fn groups(page: &mut Markup, summary: &Summary) {
    if !has_groups(summary) {
        return;
    }
    let caption = "Coefficient of variation of the headways of the first users together. Each alone may be regular; the \
                   more there are, the closer their starts come to independent ones (1, dashed). Bars: 2 standard \
                   errors either way.";
    figure(page, "groups", "CoV by number of users", caption);
    page.raw("<details><summary>The numbers as a table</summary>\n");
    crate::content::audit::groups(summary).iter().for_each(|table| content::blocks(page, table));
    page.raw("</details>\n").end_section();
}
