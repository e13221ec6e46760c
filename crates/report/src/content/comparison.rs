//! The tables of a comparison: a row for each number, of all requests and by label.

use super::{Block, Cell, Column, Note, Row, Section, Table};
use crate::format::count;
use crate::words::Tone;
use crate::words::comparison::{
    change_cell, difference_cell, interval_of, method, names, not_told, spoken, value_cell, word,
};
use headway_stats::comparison::{self as stats, Comparison, Pair};

/// Rows of labels that renderings of little room show.
const MOST_ROWS: usize = 12;

/// What is compared in one pair: all requests, then by label.
pub(crate) fn pair(comparison: &Comparison, pair: &Pair, details: bool) -> Vec<Section> {
    let title = match comparison.pairs.len() {
        1 => "All requests".to_owned(),
        _ => names(comparison, pair),
    };
    let of = |labelled: bool| pair.rows.iter().filter(move |row| row.label.is_some() == labelled);
    let mut all = Section {
        id: "compared",
        title,
        blocks: vec![Block::Table(table(comparison, pair, of(false), details))],
    };
    all.blocks.push(Note::faint(method(comparison)));
    let told = not_told(comparison, pair).into_iter();
    let notes = told.map(|(tone, text)| Block::Note(Note { tone, mark: "", text, narrow: false }));
    let mut sections = vec![all];
    if of(true).next().is_some() {
        let table = table(comparison, pair, of(true), details);
        sections.push(Section { id: "labels", title: "By label".into(), blocks: vec![Block::Table(table)] });
    }
    if let Some(last) = sections.last_mut() {
        last.blocks.extend(notes);
        if !pair.labels_left_out.is_empty() {
            let text =
                format!("Not compared, of one run alone or too rare: {}.", pair.labels_left_out.join(", "));
            last.blocks.push(Note::faint(text));
        }
    }
    sections
}

fn table<'a>(
    comparison: &Comparison,
    pair: &Pair,
    rows: impl Iterator<Item = &'a stats::Row>,
    details: bool,
) -> Table {
    let name = |run: usize| comparison.runs.get(run).map_or("-".to_owned(), |run| run.name.to_string());
    let narrow = |title: String| shortened(&title, 10);
    let columns = vec![
        Column::word("", 16),
        Column::number(narrow(name(pair.base)), 11),
        Column::number(narrow(name(pair.other)), 11),
        Column::number("change", 9),
        Column::number("95 % interval", 19),
        Column::word("difference", 13),
        Column::number("absolute [95 % interval]", 0),
        Column::number("n", 0),
    ];
    let row = |of: &stats::Row| {
        let name = match &of.label {
            Some(label) => format!("{label} {}", spoken(of.of)),
            None => spoken(of.of),
        };
        let (text, tone) = word(of);
        Row::from(vec![
            Cell::toned(Tone::Strong, name),
            Cell::new(value_cell(of, &of.base)),
            Cell::new(value_cell(of, &of.other)),
            Cell::new(change_cell(of)),
            Cell::new(interval_of(of)),
            Cell::toned(tone, text),
            Cell::new(difference_cell(of)),
            Cell::new(format!("{} / {}", count(of.base.n), count(of.other.n))),
        ])
    };
    Table {
        caption: format!("{}: numbers of both", names(comparison, pair)),
        columns,
        rows: rows.map(row).collect(),
        most_rows: if details { usize::MAX } else { MOST_ROWS },
        row: "row",
        ..Table::default()
    }
}

/// The end of a name tells runs apart more often than its beginning.
fn shortened(name: &str, room: usize) -> String {
    let length = name.chars().count();
    if length <= room {
        name.to_owned()
    } else {
        format!("...{}", name.chars().skip(length - room + 3).collect::<String>())
    }
}
