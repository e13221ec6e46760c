//! Each step over the run, and where the time of responses went over the run: charts with their numbers as tables.

use super::figures::{caption_of, details, figure, first_by, or_dash};
use super::markup::{Cell, Markup, cell, number, toned, word};
use crate::format::{chosen_time, count, plural, share_of, time};
use crate::words::Tone;
use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::summary::{LabelRow, LabelSummary, MeanParts};

/// Steps that are drawn; all that have rows are in the JSON.
const MOST_DRAWN: usize = 6;

/// Rows of a step that are shown as a table.
const MOST_ROWS: usize = 40;

/// Steps that have rows, those with most requests first.
fn steps(summary: &Summary) -> Vec<(&Cleared, &LabelSummary)> {
    let timed = |label: &LabelSummary| label.series.iter().any(|row| row.p50.is_some());
    let mut steps: Vec<_> = summary.by_label.iter().filter(|(_, label)| timed(label)).collect();
    steps.sort_by_key(|(_, label)| std::cmp::Reverse(label.n));
    steps
}

pub(super) fn has_steps(summary: &Summary) -> bool {
    !steps(summary).is_empty()
}

/// The steps that the chart draws.
pub(super) fn drawn(summary: &Summary) -> Vec<&Cleared> {
    steps(summary).into_iter().take(MOST_DRAWN).map(|(name, _)| name).collect()
}

/// Response times and failures of each step.
pub(super) fn over_time(page: &mut Markup, summary: &Summary) {
    let steps = steps(summary);
    let Some(first) = steps.first().and_then(|(_, label)| label.series.first()) else { return };
    let thing = if summary.audit.is_some() { "label" } else { "step" };
    let mut caption = format!(
        "Per row of {}, by when a request was due. Above: median; below: 99th percentile",
        chosen_time(first.to_s - first.from_s)
    );
    if steps.iter().take(MOST_DRAWN).any(|(_, label)| failed(label) > 0) {
        caption.push_str("; at the bottom: failures per second");
    }
    caption.push('.');
    if steps.len() > MOST_DRAWN {
        let all = plural(summary.by_label.len() as u64, thing);
        caption.push_str(&format!(" Drawn: the {MOST_DRAWN} of {all} with most requests."));
    }
    figure(page, "steps-over-time", &format!("Response time by {thing} over the run"), &caption);
    let row = |(name, row): (&&Cleared, &LabelRow)| -> Vec<Cell> {
        vec![
            cell(name.as_str()),
            cell(format!("{:.1}", row.from_s)),
            cell(count(row.n)),
            or_dash(row.p50, time),
            or_dash(row.p99, time),
            toned(if row.failed > 0 { Tone::Bad } else { Tone::Plain }, share_of(row.failed, row.n)),
        ]
    };
    let first = steps.iter().take(MOST_DRAWN);
    let long = steps.iter().any(|(_, label)| label.series.len() > MOST_ROWS);
    let rows: Vec<Vec<Cell>> = first
        .flat_map(|(name, label)| label.series.iter().take(MOST_ROWS).map(move |row| (name, row)))
        .map(row)
        .collect();
    let caption = match long || steps.len() > MOST_DRAWN {
        true => format!("Each {thing} that is drawn, the first {MOST_ROWS} rows; all are in the JSON"),
        false => format!("Each {thing} over the run"),
    };
    let head = [word(thing), number("from (s)"), number("n"), number("p50"), number("p99"), number("failed")];
    details(page, &caption, &head, &rows);
}

fn failed(label: &LabelSummary) -> u64 {
    label.series.iter().map(|row| row.failed).fold(0, u64::saturating_add)
}

pub(super) fn has_split(summary: &Summary) -> bool {
    summary.series.iter().any(|row| row.time_split.is_some())
}

/// Where the time of responses went.
pub(super) fn split(page: &mut Markup, summary: &Summary) {
    if !has_split(summary) {
        return;
    }
    let caption = "Mean response time of the requests due in a row, in parts that add up to it: send lag (the generator's own \
                   lateness), wait for a connection, connect, TLS handshake, first byte (from the first byte sent), receive. Only \
                   requests with a complete response; parts of which there is nothing are left out.";
    figure(page, "split-over-time", "Where the response time went, over the run", caption);
    let total = |parts: &MeanParts| {
        parts.lag + parts.wait + parts.connect + parts.tls + parts.first_byte + parts.receive
    };
    let has = || summary.series.iter().filter(|row| row.time_split.is_some());
    let shown = first_by(has(), |row| row.time_split.as_ref().map_or(0.0, total));
    let row = |(from_s, parts): (f64, MeanParts)| -> Vec<Cell> {
        let MeanParts { n, lag, wait, connect, tls, first_byte, receive } = parts;
        let times = [total(&parts), lag, wait, connect, tls, first_byte, receive];
        let first = [cell(format!("{from_s:.1}")), cell(count(n))];
        first.into_iter().chain(times.map(|part| cell(time(part)))).collect()
    };
    let rows: Vec<Vec<Cell>> = shown.iter().filter_map(|of| Some(row((of.from_s, of.time_split?)))).collect();
    let numbers = ["n", "mean", "lag", "wait", "connect", "TLS", "first byte", "receive"].map(number);
    let head: Vec<_> = std::iter::once(word("from (s)")).chain(numbers).collect();
    details(page, &caption_of("Parts of the mean response time", "slowest", has().count()), &head, &rows);
}
