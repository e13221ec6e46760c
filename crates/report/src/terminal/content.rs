//! Sections of the content model as lines: the columns and rows that 80 columns have room for.

use super::grid::{Grid, shorten, shorten_all};
use super::layout::{Align, INDENT, Page, Span, WIDTH, cell, span};
use crate::content::{Block, Cell, Column, Facts, Footnotes, Row, Section, Table};
use crate::format::{plural, visible};
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
    let snug = section.blocks.iter().any(|block| match block {
        Block::Table(table) => table.snug.is_some(),
        Block::Facts(_) => true,
        Block::Note(_) => false,
    });
    for block in &section.blocks {
        match block {
            Block::Table(table) => self::table(page, table, flag),
            Block::Note(note) => {
                page.marked(if snug { INDENT } else { NOTES }, note.mark, note.tone, &note.text);
            }
            Block::Facts(facts) => self::facts(page, facts),
        }
    }
}

/// Names and texts, below what they are about.
pub(super) fn facts(page: &mut Page, of: &Facts) {
    if of.wide {
        return;
    }
    if !of.of.is_empty() {
        let name = shorten(&visible(&of.of), WIDTH - 2 * INDENT);
        page.line(&[span(Tone::Plain, " ".repeat(INDENT)), span(Tone::Strong, name)]);
    }
    of.facts.iter().for_each(|fact| page.labelled(fact.name, fact.tone, &fact.text));
}

/// A table; `flag` stands before each of its rows.
pub(super) fn table(page: &mut Page, table: &Table, flag: &str) {
    let (shown, rows, left) = table.short(false);
    match table.snug {
        Some(fold) => {
            let titles = shown.iter().map(|&i| &*table.columns[i].title);
            let mut grid = Grid::new(titles).fold(fold);
            for row in rows {
                let texts = shown.iter().map(|&i| row.cells[i].text.clone());
                grid.row(row.cells[0].tone, texts.collect());
            }
            grid.print(page);
        }
        None => fixed(page, table, flag, &shown, &rows),
    }
    if left > 0 {
        let more = plural(left, &format!("more {}", table.row));
        page.marked(INDENT, "", Tone::Faint, &format!("and {more} in the JSON and HTML reports"));
    }
}

/// A table whose columns have widths of their own.
fn fixed(page: &mut Page, table: &Table, flag: &str, shown: &[usize], rows: &[&Row]) {
    let column = |i: usize| &table.columns[i];
    if table.headed {
        let mut cells = vec![cell(Tone::Faint, indented(&column(0).title), column(0).width, Align::Left)];
        for column in shown.iter().skip(1).map(|&i| column(i)) {
            // As the cells below: words stand two columns off.
            let title = if column.number { column.title.clone() } else { format!("  {}", column.title) };
            cells.push(cell(Tone::Faint, title, column.width, align(column)));
            cells.extend(
                (column.intervals > 0)
                    .then(|| cell(Tone::Faint, "95 % interval", column.intervals, Align::Right)),
            );
        }
        page.line(&cells);
    }
    let mut notes = Footnotes::default();
    let indent = if flag.is_empty() { INDENT } else { NOTES };
    let room = column(0).width - indent;
    let names: Vec<String> = rows.iter().map(|row| visible(&row.cells[0].text)).collect();
    let names = shorten_all(&names.iter().map(String::as_str).collect::<Vec<_>>(), room);
    for (row, name) in rows.iter().zip(names) {
        let mut cells = vec![cell(Tone::Bad, flag, indent, Align::Left)];
        cells.push(cell(row.cells[0].tone, name, room, Align::Left));
        shown.iter().skip(1).for_each(|&i| numbers(&mut cells, &row.cells[i], column(i), &mut notes));
        page.line(&cells);
    }
    for (i, text) in notes.texts().enumerate() {
        page.marked(NOTES, &format!("[{}] ", i + 1), Tone::Faint, &text);
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
