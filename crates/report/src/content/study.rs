//! The tables of a study, a row for each point.

use super::{Block, Cell, Column, Note, Row, Section, Table};
use crate::format::{STEPPED, count, rate};
use crate::words::study::{interval, label, no_load, share_cell, steady_cell, time_cell};
use crate::words::{Tone, model};
use headway_stats::study::{Estimate, Point, Study};

/// Points that renderings of little room show.
const MOST_POINTS: usize = 60;

/// Response times, each with its interval; none without points.
pub(crate) fn responses(study: &Study) -> Option<Section> {
    if study.points.is_empty() {
        return None;
    }
    let names = ["mean", "p50", "p99"];
    let row = |point: &Point| {
        let estimate = |name: &str| match point.response.get(name) {
            Some(of) => Cell { interval: Some(interval(of).unwrap_or_default()), ..Cell::new(time_cell(of)) },
            None => Cell::new("-"),
        };
        let numbers = names.map(estimate).into_iter().chain([Cell::new(count(point.n))]);
        std::iter::once(Cell::new(label(study, point))).chain(numbers).collect::<Vec<Cell>>()
    };
    let numbers = names.map(|name| Column { intervals: 20, ..Column::number(name, 12) });
    let columns = std::iter::once(Column::word("point", 20)).chain(numbers);
    let table = Table {
        caption: "Response times by point".into(),
        columns: columns.chain([Column::number("n", 12)]).collect(),
        rows: study.points.iter().map(|point| Row::from(row(point))).collect(),
        most_rows: MOST_POINTS,
        row: "point",
        headed: true,
    };
    let mut blocks = vec![Block::Table(table)];
    if study.points.iter().flat_map(|point| point.response.values()).any(|of| of.stepped) {
        blocks.push(Note::faint(STEPPED));
    }
    Some(Section { id: "responses", title: "Response times".into(), blocks })
}

/// What was asked for, what was done, and what of it failed; none without points.
pub(crate) fn loads(study: &Study) -> Option<Section> {
    if study.points.is_empty() {
        return None;
    }
    let per_second = |of: Option<Estimate>| Cell::new(of.map_or("-".into(), |of| rate(of.mean)));
    let row = |point: &Point| {
        let overloaded = point.load.is_some_and(|load| load >= 1.0);
        let tone = if overloaded { Tone::Bad } else { Tone::Plain };
        vec![
            Cell::toned(tone, label(study, point)),
            per_second(point.offered),
            per_second(point.completed),
            Cell::toned(tone, point.load.map_or("-".into(), model::load_cell)),
            Cell::new(share_cell(point.utilisation.as_ref())),
            Cell::new(share_cell(Some(&point.failed))),
            Cell::new(steady_cell(point)),
        ]
    };
    let titles = ["offered", "completed", "load", "utilisation", "failed", "steady"];
    let table = Table {
        caption: "Load by point".into(),
        columns: std::iter::once(Column::word("point", 20))
            .chain(titles.map(|title| Column::number(title, 10)))
            .collect(),
        rows: study.points.iter().map(|point| Row::from(row(point))).collect(),
        most_rows: MOST_POINTS,
        row: "point",
        headed: true,
    };
    let meaning = format!(
        "load: work asked of each server of the busiest station per time, of which it can do 1; utilisation is that \
         station's too.{} steady: whether a steady state was found.",
        no_load(study)
    );
    Some(Section {
        id: "loads",
        title: "Load".into(),
        blocks: vec![Block::Table(table), Note::faint(meaning)],
    })
}
