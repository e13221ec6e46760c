//! Sections of the content model as markup.

use super::markup::{self, Column, Markup, number, tone_class, toned, word};
use crate::content::{Block, Cell, Row, Section, Table};
use crate::words::Tone;

/// A section with its heading.
pub(super) fn section(page: &mut Markup, section: &Section) {
    page.section(section.id, &section.title);
    blocks(page, section);
    page.raw("</section>\n");
}

/// What stands in a section.
pub(super) fn blocks(page: &mut Markup, section: &Section) {
    for block in &section.blocks {
        match block {
            Block::Table(table) => self::table(page, table),
            Block::Note(note) => {
                page.element("p", tone_class(note.tone), &format!("{}{}", note.mark, note.text));
            }
        }
    }
}

/// Intervals of one column stand beside it, those of several in a row beneath.
pub(super) fn table(page: &mut Markup, table: &Table) {
    let beside = table.columns.iter().filter(|column| column.intervals > 0).count() == 1;
    let mut head: Vec<Column> = Vec::new();
    for column in &table.columns {
        head.push(if column.number { number(column.title.clone()) } else { word(column.title.clone()) });
        head.extend((beside && column.intervals > 0).then(|| number(INTERVAL)));
    }
    let mut rows = Vec::new();
    for row in &table.rows {
        let mut cells = Vec::new();
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            cells.push(toned(cell.tone, cell.text.clone()));
            cells.extend((beside && column.intervals > 0).then(|| markup::cell(cell.beside())));
        }
        rows.push(cells);
        rows.extend((!beside).then(|| beneath(row)).flatten());
    }
    page.table(&table.caption, &head, &rows);
}

const INTERVAL: &str = "95 % interval";

/// The intervals of a row, if there are any.
fn beneath(row: &Row) -> Option<Vec<markup::Cell>> {
    let interval = |cell: &Cell| cell.interval.clone().unwrap_or_default();
    let intervals = row.cells.iter().skip(1).map(interval);
    intervals.clone().any(|interval| !interval.is_empty()).then(|| {
        let cells = intervals.map(|interval| toned(Tone::Faint, interval));
        std::iter::once(toned(Tone::Faint, INTERVAL)).chain(cells).collect()
    })
}
