//! Sections of the content model as markup.

use super::markup::{self, Column, Markup, number, tone_class, toned, word};
use crate::content::{Block, Cell, Row, Section, Table};
use crate::words::Tone;

/// A section with its heading.
pub(super) fn section(page: &mut Markup, section: &Section) {
    page.section(section.id, &section.title);
    blocks(page, section);
    page.end_section();
}

/// What stands in a section.
pub(super) fn blocks(page: &mut Markup, section: &Section) {
    for block in &section.blocks {
        match block {
            Block::Table(table) => self::table(page, table),
            Block::Facts(facts) => {
                if !facts.of.is_empty() {
                    page.element("h3", "path", &facts.of);
                }
                page.facts(&facts.facts);
            }
            Block::Note(note) if note.narrow => {}
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
        if !beside {
            rows.extend(beneath(row, INTERVAL, |cell| cell.interval.clone().unwrap_or_default()));
            rows.extend(beneath(row, "5 to 95 %", |cell| cell.range.clone()));
        }
    }
    page.table(&table.caption, &head, &rows);
}

const INTERVAL: &str = "95 % interval";

/// What stands beneath the numbers of a row, if anything does.
fn beneath(row: &Row, title: &str, of: impl Fn(&Cell) -> String) -> Option<Vec<markup::Cell>> {
    let texts: Vec<String> = row.cells.iter().skip(1).map(of).collect();
    let shown = |text: &String| toned(Tone::Faint, text.clone());
    let all = || std::iter::once(toned(Tone::Faint, title)).chain(texts.iter().map(shown)).collect();
    texts.iter().any(|text| !text.is_empty()).then(all)
}
