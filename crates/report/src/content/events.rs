//! The events of responses: how long after a request was due the first one came, and the gaps between them.

use super::{Block, Cell, Column, Note, Row, Section, Table, Why};
use crate::format::{STEPPED, count, interval_cell, plural, share_of, size, time};
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{EventNumbers, Interval, Spread};

/// Rows that renderings of little room show.
const MOST_ROWS: usize = 12;

/// The numbers of events, all together and by label; none of a run without events.
pub(crate) fn events(summary: &Summary) -> Option<Section> {
    let events = summary.events.as_ref()?;
    let mut rows: Vec<Row> = of(summary, "", "events", &events.all).into();
    if events.by_label.len() > 1 {
        for (label, numbers) in &events.by_label {
            rows.extend(of(summary, &format!(", {label}"), &format!("events.by_label.{label}"), numbers));
        }
    }
    let spreads = || events.by_label.values().chain([&events.all]).flat_map(|of| [&of.first, &of.gap]);
    let number = |title: &str, width| Column::number(title, width);
    let columns = vec![
        Column::word("", 25),
        Column { intervals: 19, ..number("mean", 10) },
        number("p50", 9),
        number("p90", 0),
        number("p99", 9),
        number("max", 0),
        number("n", 8),
    ];
    let caption = "Events of responses".to_owned();
    let table = Table { caption, columns, rows, most_rows: MOST_ROWS, row: "row", ..Table::default() };
    let mut blocks = vec![Block::Table(table)];
    if spreads().any(|spread| !spread.stepped.is_empty()) {
        blocks.push(Note::faint(STEPPED));
    }
    let EventNumbers { n, requests, bytes, first, coalesced, .. } = &events.all;
    // A simulation has no bytes.
    let bytes = if *bytes > 0 { format!(" of {}", size(*bytes as f64)) } else { String::new() };
    blocks.push(Note::faint(format!(
        "{}{bytes} of {}. first: from when a request was due; gap: from one event to the next of the same response.",
        plural(*n, "event"),
        plural(*requests, "request"),
    )));
    if *coalesced > 0 {
        blocks.push(Note::faint(format!(
            "{} of the events came in one read with the one before: they have no gap.",
            share_of(*coalesced, *n)
        )));
    }
    if first.censored > 0 {
        blocks.push(Note::faint(format!(
            "{} ended without an event: they count as longer than when they ended, hence `>`.",
            plural(first.censored, "request")
        )));
    }
    Some(Section { id: "events", title: "Events of responses".into(), blocks })
}

/// The rows of some events, which are called so and stand there in the document.
fn of(summary: &Summary, of_which: &str, path: &str, numbers: &EventNumbers) -> [Row; 2] {
    let row = |title: &str, block: &str, spread: &Spread| {
        let block = format!("{path}.{block}");
        let within =
            |key: &str, value, interval| bounded(summary, &block, spread, key, value, Some(interval));
        let alone = |key: &str, value| bounded(summary, &block, spread, key, value, None);
        let ci95 = &spread.ci95;
        Row::from(vec![
            Cell::new(format!("{title}{of_which}")),
            within("mean", spread.mean, ci95.mean),
            within("p50", spread.p50, ci95.p50),
            alone("p90", spread.p90),
            within("p99", spread.p99, ci95.p99),
            alone("max", spread.max),
            Cell::new(count(spread.n)),
        ])
    };
    [row("first", "first", &numbers.first), row("gap", "gap", &numbers.gap)]
}

/// A time with its interval, if it is to have one; each may be missing.
fn bounded(
    summary: &Summary,
    block: &str,
    spread: &Spread,
    key: &str,
    value: Option<f64>,
    interval: Option<Option<Interval>>,
) -> Cell {
    let cell = match value.map(time) {
        Some(value) if spread.lower_bound.contains_key(key) => Cell::toned(Tone::Warn, format!("> {value}")),
        Some(value) => Cell::new(value),
        None => return Cell::toned(Tone::Faint, "-"),
    };
    match interval {
        None => cell,
        Some(Some(ends)) => {
            Cell { interval: Some(interval_cell(ends, spread.stepped.contains_key(key))), ..cell }
        }
        Some(None) => {
            // Of a single label the reason stands in the document.
            let of = match block {
                "events.first" => Some("first"),
                "events.gap" => Some("gap"),
                _ => None,
            };
            let reason = words::why::missing(&summary.not_computed, &format!("{block}.ci95.{key}"));
            let why = of.zip(reason);
            let why = why.map(|(of, reason)| Why { interval: true, of, name: key.to_owned(), reason });
            Cell { interval: Some(String::new()), why, ..cell }
        }
    }
}
