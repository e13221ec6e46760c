//! Cuts rows into fields that a layout names: one of a known format, or what `--columns` says. What becomes of them is in `row`.

use super::json::Objects;
use super::layout::{Cut, Layout};
use super::row::{State, unit};
use super::spec::{Key, Spec};
use super::table::{Places, Table, among};
use super::words::{self, Words};
use crate::lines::{Cells, Csv, Lines};
use crate::{Error, Facts, Options, Reader, Rows};
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};

/// The one reader of all these formats.
pub(super) struct TableReader {
    cutter: Cutter,
    passed: u64,
    /// For messages.
    path: PathBuf,
    state: State,
}

/// How a row becomes fields.
enum Cutter {
    /// The first rows will tell.
    Unknown,
    Csv(Csv),
    Json(Objects),
    Words(Words),
    Own(fn(&[u8]) -> Option<Vec<&[u8]>>, Cells),
}

impl TableReader {
    /// By what the user says of a file.
    pub(super) fn asked(path: &Path, options: &Options) -> Result<TableReader, Error> {
        let spec = Spec::parse(options.columns.as_deref().unwrap_or_default())?;
        Ok(TableReader::new(&[], spec, path, options.zone.clone()))
    }

    /// Of a known format, which is one of these.
    pub(super) fn known(layouts: &'static [Layout], options: &Options) -> Result<TableReader, Error> {
        let spec = Spec::known(layouts.first().map_or("", |layout| layout.columns))?;
        let mut reader = TableReader::new(layouts, spec, Path::new(""), options.zone.clone());
        match layouts {
            [Layout { rows: Cut::W3c { .. }, .. }, ..] => reader.cutter = Cutter::Words(Words::default()),
            [layout] => reader.choose(layout, b"")?,
            _ => {}
        }
        Ok(reader)
    }

    fn new(layouts: &'static [Layout], spec: Spec, path: &Path, zone: TimeZone) -> TableReader {
        TableReader {
            cutter: Cutter::Unknown,
            passed: 0,
            path: path.to_path_buf(),
            state: State::new(layouts, spec, zone),
        }
    }

    /// Reads on by that layout; `line` names its columns, if it has such a line.
    fn choose(&mut self, layout: &'static Layout, line: &[u8]) -> Result<(), Error> {
        let TableReader { cutter, state, .. } = self;
        if state.layout.is_none() {
            state.spec = Spec::known(layout.columns)?;
            state.elapsed = unit(&state.spec, Key::Elapsed);
            state.layout = Some(layout);
        }
        let mut names: Vec<&[u8]> = Vec::new();
        match layout.rows {
            Cut::Headed(headers) => {
                let fields = |header: &'static str| header.as_bytes().split(|&b| b == b',');
                *cutter = Cutter::Csv(Csv::new(b','));
                names = fields(headers[0]).collect();
                state.widths = headers.iter().map(|header| fields(header).count()).collect();
            }
            Cut::Bare { delimiter, widths, more, .. } => {
                *cutter = Cutter::Csv(Csv::new(delimiter));
                (state.widths, state.more) = (widths.to_vec(), more);
            }
            Cut::Words(least) => {
                *cutter = Cutter::Words(Words::default());
                (state.widths, state.more) = (vec![least], true);
            }
            Cut::W3c { .. } => {
                names = words::names(line).unwrap_or_default();
                state.widths = vec![names.len()];
                // The date of a #Date line stands behind the columns.
                names.push(b"date");
                state.zone = TimeZone::UTC;
            }
            Cut::Own(cut) => *cutter = Cutter::Own(cut, Cells::default()),
            Cut::Json { .. } => {
                let (objects, places) = Objects::new(&state.spec)?;
                *cutter = Cutter::Json(objects);
                state.place(places);
                return Ok(());
            }
        }
        state.place(Places::of(&state.spec, |_, part| Ok::<_, Error>(among(&part.column, &names)))?);
        Ok(())
    }

    /// Finds out what rows look like from the first of them; false if none is complete.
    fn find(&mut self, lines: &mut Lines<'_>, rows: &mut Rows) -> Result<bool, Error> {
        let Some(line) = lines.clone().next() else { return Ok(false) };
        let state = &mut self.state;
        if let [layout, ..] = state.layouts {
            match state.layouts.iter().find(|layout| layout.fits(line)) {
                Some(layout) => self.choose(layout, line)?,
                None => {
                    let line = lines.next().unwrap_or_default();
                    rows.bad(
                        lines.line(),
                        line,
                        format!("a row of a known kind, such as the {}", layout.title),
                    );
                }
            }
        } else if line.trim_ascii_start().starts_with(b"{") {
            let (objects, places) = Objects::new(&state.spec)?;
            self.cutter = Cutter::Json(objects);
            state.place(places);
        } else {
            let Some(mut table) = Table::find(&state.spec, lines, &self.path)? else { return Ok(false) };
            if table.header {
                table.csv.next(lines);
            }
            (state.widths, state.comma) = (vec![table.width], table.comma);
            state.place(table.places);
            self.cutter = Cutter::Csv(table.csv);
        }
        Ok(true)
    }

    /// A row that is a line.
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Result<(), Error> {
        let TableReader { cutter, state, .. } = self;
        match cutter {
            Cutter::Json(objects) => match objects.cut(line) {
                Some(fields) => return state.push(fields, number, rows),
                None => rows.bad(number, line, "a JSON object on one line"),
            },
            Cutter::Words(words) if line.starts_with(b"#") && !state.more => {
                let names = state.layouts.iter().find(|layout| layout.fits(line));
                match names {
                    Some(layout) => self.choose(layout, line)?,
                    None => words.directive(line),
                }
            }
            Cutter::Words(words) => {
                let (fields, width) = words.cut(line);
                return state.push_wide(fields, width, number, rows);
            }
            Cutter::Own(cut, cells) => match cut(line) {
                Some(fields) => {
                    cells.clear();
                    fields.into_iter().for_each(|field| cells.push(field));
                    return state.push(cells.fields(line), number, rows);
                }
                None => rows.bad(number, line, format!("a row of the {}", state.title())),
            },
            Cutter::Unknown | Cutter::Csv(_) => {}
        }
        Ok(())
    }
}

impl Reader for TableReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        while matches!(self.cutter, Cutter::Unknown) {
            if !self.find(&mut lines, rows)? {
                if last {
                    // Blank lines.
                    lines.next();
                }
                break;
            }
        }
        if let Cutter::Csv(csv) = &mut self.cutter {
            let headers: &[&str] = match self.state.layout.map(|layout| layout.rows) {
                Some(Cut::Headed(headers)) => headers,
                _ => &[],
            };
            while let Some(row) = csv.next(&mut lines) {
                // Files of several workers may have been put together.
                if !headers.iter().any(|header| header.as_bytes() == row.raw()) {
                    self.state.push_wide(row, row.len(), lines.line(), rows)?;
                }
            }
        } else if !matches!(self.cutter, Cutter::Unknown) {
            while let Some(line) = lines.next() {
                self.line(line, lines.line(), rows)?;
            }
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let State { layout, places, .. } = &self.state;
        let facts = self.state.facts();
        match (layout, &self.cutter) {
            (Some(Layout { rows: Cut::W3c { .. }, .. }), Cutter::Words(words)) => {
                let mut missing = facts.missing;
                if !places.has(Key::Elapsed) {
                    missing.push("The log has no time-taken: ends stand for starts.".to_owned());
                }
                Facts { tool: words.tool.clone(), missing, ..facts }
            }
            (None, Cutter::Json(_)) => Facts { format: facts.format.replacen("CSV", "JSON", 1), ..facts },
            _ => facts,
        }
    }
}
