//! Sections of the content model as lines: the columns and rows that 80 columns have room for.

use super::layout::{Align, INDENT, Page, Span, cell, span};
use crate::content::{Block, Cell, Column, Footnotes, Row, Section, Table};
use crate::format::plural;
use crate::words::Tone;

/// Column of the marks before notes.
const NOTES: usize = 3;

/// A section with its heading.
pub(super) fn section(page: &mut Page, section: &Section) {
    page.heading(&section.title);
    blocks(page, section, "");
}

/// What stands in a section; `flag` stands before each row of its tables.
pub(super) fn blocks(page: &mut Page, section: &Section, flag: &str) {
    for block in &section.blocks {
        match block {
            Block::Table(table) => self::table(page, table, flag),
            Block::Note(note) => page.marked(NOTES, note.mark, note.tone, &note.text),
        }
    }
}

/// A table; `flag` stands before each of its rows.
pub(super) fn table(page: &mut Page, table: &Table, flag: &str) {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&i| table.columns[i].width > 0).collect();
    let column = |i: usize| &table.columns[i];
    if table.headed {
        let mut cells = vec![cell(Tone::Faint, indented(&column(0).title), column(0).width, Align::Left)];
        for column in shown.iter().skip(1).map(|&i| column(i)) {
            cells.push(cell(Tone::Faint, &column.title, column.width, align(column)));
            cells.extend(
                (column.intervals > 0)
                    .then(|| cell(Tone::Faint, "95 % interval", column.intervals, Align::Right)),
            );
        }
        page.line(&cells);
    }
    let rows: Vec<&Row> = table.rows.iter().filter(|row| !row.wide).collect();
    let mut notes = Footnotes::default();
    for row in rows.iter().take(table.most_rows) {
        let first = &row.cells[0];
        let indent = if flag.is_empty() { INDENT } else { NOTES };
        let mut cells = vec![cell(Tone::Bad, flag, indent, Align::Left)];
        cells.push(cell(first.tone, &first.text, column(0).width - indent, Align::Left));
        shown.iter().skip(1).for_each(|&i| numbers(&mut cells, &row.cells[i], column(i), &mut notes));
        page.line(&cells);
    }
    for (i, text) in notes.texts().enumerate() {
        page.marked(NOTES, &format!("[{}] ", i + 1), Tone::Faint, &text);
    }
    if rows.len() > table.most_rows {
        let more = plural((rows.len() - table.most_rows) as u64, &format!("more {}", table.row));
        page.marked(INDENT, "", Tone::Faint, &format!("and {more} in the JSON and HTML reports"));
    }
}

fn indented(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("{}{title}", " ".repeat(INDENT)) }
}

fn align(column: &Column) -> Align {
    if column.number { Align::Right } else { Align::Left }
}

/// A cell with its interval; words run on to the end of the line.
fn numbers(cells: &mut Vec<Span>, of: &Cell, column: &Column, notes: &mut Footnotes) {
    if !column.number {
        cells.extend([span(Tone::Plain, "  "), span(of.tone, of.text.clone())]);
        return;
    }
    let note = of.why.as_ref().map(|why| (why.interval, format!(" [{}]", notes.number(why))));
    let why = |interval: bool| note.iter().find(|(of, _)| *of == interval).map_or("", |(_, text)| text);
    cells.push(cell(of.tone, format!("{}{}", of.text, why(false)), column.width, Align::Right));
    if column.intervals > 0 {
        cells.push(cell(
            Tone::Faint,
            format!("{}{}", of.beside(), why(true)),
            column.intervals,
            Align::Right,
        ));
    }
}
