//! The tables of a study, a row for each point.

use super::{Block, Cell, Column, Note, Row, Section, Table};
use crate::format::{STEPPED, count, rate, share, time_range};
use crate::words::study::{interval, label, no_load, share_cell, share_interval, steady_cell, time_cell};
use crate::words::{Tone, model};
use headway_stats::study::{Estimate, Point, Study};

/// Points that renderings of little room show.
const MOST_POINTS: usize = 60;

/// Points that any rendering shows.
const MOST_ROWS: usize = 500;

/// Numbers of the response time as the document and as people name them, and whether 80 columns have room for them.
pub(crate) const NUMBERS: [(&str, &str, bool); 7] = [
    ("mean", "mean", true),
    ("p50", "p50", true),
    ("p90", "p90", false),
    ("p95", "p95", false),
    ("p99", "p99", true),
    ("p999", "p99.9", false),
    ("max", "max", false),
];

/// Response times, each with its interval and the range of the replications' own; none without points.
pub(crate) fn responses(study: &Study) -> Option<Section> {
    let ranges = study.points.iter().any(|point| point.response.values().any(|of| of.p05.is_some()));
    let caption = match ranges {
        true => "Response times by point; 5 to 95 %: the replications' own range",
        false => "Response times by point",
    };
    let row = |point: &Point| {
        let estimate = |of: &Estimate| Cell {
            interval: Some(interval(of).unwrap_or_default()),
            range: of.p05.zip(of.p95).map_or(String::new(), |(low, high)| time_range(low, high)),
            ..Cell::new(time_cell(of))
        };
        let number =
            |(name, ..): (&str, &str, bool)| point.response.get(name).map_or(Cell::new("-"), estimate);
        let numbers = NUMBERS.into_iter().map(number).chain([Cell::new(count(point.n))]);
        std::iter::once(Cell::toned(Tone::Strong, label(study, point))).chain(numbers).collect()
    };
    let numbers = NUMBERS.map(|(_, title, narrow)| match narrow {
        true => Column { intervals: 20, ..Column::number(title, 12) },
        false => Column::number(title, 0),
    });
    let columns = numbers.into_iter().chain([Column::number("n", 12)]).collect();
    let mut section = by_point(study, "responses", "Response times", caption, columns, row)?;
    if study.points.iter().take(MOST_ROWS).flat_map(|point| point.response.values()).any(|of| of.stepped) {
        section.blocks.push(Note::faint(STEPPED));
    }
    Some(section)
}

/// What was asked for, what was done, and what of it failed; none without points.
pub(crate) fn loads(study: &Study) -> Option<Section> {
    let per_second = |of: Option<Estimate>| Cell::new(of.map_or("-".into(), |of| rate(of.mean)));
    let of_share = |of: Option<&Estimate>| {
        let interval = Some(share_interval(of)).filter(|interval| !interval.is_empty());
        Cell { interval, ..Cell::new(share_cell(of)) }
    };
    let row = |point: &Point| {
        let overloaded = point.load.is_some_and(|load| load >= 1.0);
        let tone = |is: bool, tone: Tone| if is { tone } else { Tone::Plain };
        let load = point.load.map_or("-".into(), model::load_cell);
        vec![
            Cell::toned(tone(overloaded, Tone::Bad), label(study, point)),
            per_second(point.offered),
            per_second(point.goodput),
            Cell::new(point.busiest.clone().unwrap_or_default()),
            Cell::toned(tone(overloaded, Tone::Bad), load),
            of_share(point.utilisation.as_ref()),
            Cell { tone: tone(point.failed.mean > 0.0, Tone::Bad), ..of_share(Some(&point.failed)) },
            Cell::toned(tone(point.found == Some(false), Tone::Warn), steady_cell(point)),
            Cell::new(share(point.cut_share)),
        ]
    };
    let columns = vec![
        Column::number("offered", 12),
        Column::number("completed", 12),
        Column::word("busiest part", 0),
        Column::number("load", 12),
        Column::number("utilisation", 12),
        Column::number("failed", 12),
        Column::number("steady", 12),
        Column::number("left out as warm-up", 0),
    ];
    let mut section = by_point(study, "loads", "Load", "Load and outcome by point", columns, row)?;
    section.blocks.push(Note::faint(format!(
        "load: offered load of each server of the busiest station (arrival rate x mean service time; it can do 1); \
         utilisation is that station's too.{} steady: whether a steady state was found.",
        no_load(study)
    )));
    Some(section)
}

/// A section of one table, a row for each point; none without points.
fn by_point(
    study: &Study,
    id: &'static str,
    title: &str,
    caption: &str,
    columns: Vec<Column>,
    row: impl Fn(&Point) -> Vec<Cell>,
) -> Option<Section> {
    let caption = match study.points.len() {
        0 => return None,
        n if n > MOST_ROWS => {
            format!("{caption}: the first {MOST_ROWS} of {} points; all are in the JSON", count(n as u64))
        }
        _ => caption.to_owned(),
    };
    let table = Table {
        caption,
        columns: std::iter::once(Column::word("point", 20)).chain(columns).collect(),
        rows: study.points.iter().take(MOST_ROWS).map(|point| Row::from(row(point))).collect(),
        most_rows: MOST_POINTS,
        row: "point",
        ..Table::default()
    };
    Some(Section { id, title: title.to_owned(), blocks: vec![Block::Table(table)] })
}
