//! Another run's response times next to this one's, as a table; the percentile curve overlays them.

use super::markup::{Cell, Markup, cell, number, toned, word};
use crate::beside::{Beside, Compared, Side, compare};
use crate::format::{count, time, time_range};
use crate::words::Tone;
use stats::Summary;
use stats::summary::Source;

/// What the page's own run is called.
pub(super) fn own_name(summary: &Summary) -> &'static str {
    match summary.source {
        Source::Sim => "simulated",
        Source::Live | Source::Import => "measured here",
    }
}

/// Mean, p50, p90 and p99 of both, and how far they lie apart.
pub(super) fn beside(page: &mut Markup, summary: &Summary, beside: Option<&Beside>) {
    let Some(beside) = beside else { return };
    page.section("beside", &format!("Beside {}", beside.name));
    if let Some(note) = &beside.note {
        page.element("p", "", note);
    }
    let value = |side: &Side| {
        let lower = if side.lower_bound { "> " } else { "" };
        cell(side.value.map_or("-".into(), |value| format!("{lower}{}", time(value))))
    };
    let interval = |side: &Side| {
        toned(Tone::Faint, side.interval.map_or(String::new(), |[low, high]| time_range(low, high)))
    };
    let row = |compared: Compared| -> Vec<Cell> {
        vec![
            cell(compared.of),
            value(&compared.here),
            interval(&compared.here),
            value(&compared.there),
            interval(&compared.there),
            cell(compared.words()),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = compare(summary, beside).into_iter().map(row).collect();
    let n = |n: u64| cell(count(n));
    rows.push(vec![cell("n"), n(summary.response.n), cell(""), n(beside.response.n), cell(""), cell("")]);
    let head = [
        word("response time"),
        number(own_name(summary)),
        number("95 % interval"),
        number(beside.name.clone()),
        number("95 % interval"),
        number("which is, against the first"),
    ];
    page.table("Response times of both", &head, &rows);
    page.raw("</section>\n");
}
