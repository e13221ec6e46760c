//! What a report says, made once from a summary or a study: sections of tables, facts and notes. Terminal, page and Markdown render
//! them.
//!
//! Numbers are formatted here, so that all renderings show the same digits. Deliberately absent: layout, colour and markup (a rendering
//! maps [`Tone`] to its own), and sentences, which `words` makes.

pub(crate) mod audit;
pub(crate) mod comparison;
pub(crate) mod events;
pub(crate) mod over_time;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod study;
pub(crate) mod within;

use crate::words::Tone;
use crate::words::audit::Fact;

/// A part of a report under a heading.
pub(crate) struct Section {
    /// Where links lead.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// What it says, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
pub(crate) enum Block {
    /// Numbers in rows and columns.
    Table(Table),
    /// A text, after a mark such as `* ` that a cell may refer to.
    Note(Note),
    /// What there is to know, point by point.
    Facts(Facts),
}

/// Names and texts.
pub(crate) struct Facts {
    /// What they are about, where a section has several of these; else empty.
    pub of: String,
    /// The facts.
    pub facts: Vec<Fact>,
    /// Whether only renderings with room show them.
    pub wide: bool,
}

/// A text below a table.
pub(crate) struct Note {
    /// How it is coloured.
    pub tone: Tone,
    /// What refers to it; empty where nothing does.
    pub mark: &'static str,
    /// The text.
    pub text: String,
    /// Whether only renderings of little room show it.
    pub narrow: bool,
}

impl Note {
    /// A note that nothing refers to.
    pub fn faint(text: impl Into<String>) -> Block {
        Block::Note(Note { tone: Tone::Faint, mark: "", text: text.into(), narrow: false })
    }
}

/// A table. The first cell of a row is its heading.
pub(crate) struct Table {
    /// Its subject, for readers without its heading.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Rows that renderings of little room show.
    pub most_rows: usize,
    /// What a row is, as in "and 3 more labels".
    pub row: &'static str,
    /// Whether its last row is a total, which stands below whatever rows are shown.
    pub total: bool,
    /// Whether its columns need headings also where its section stands among others.
    pub headed: bool,
    /// In 80 columns: none if columns have their own widths; else they are as wide as what they hold, and a table that is too wide
    /// breaks before this column.
    pub snug: Option<usize>,
}

impl Default for Table {
    fn default() -> Table {
        let (caption, columns, rows) = Default::default();
        Table {
            caption,
            columns,
            rows,
            most_rows: usize::MAX,
            row: "row",
            total: false,
            headed: true,
            snug: None,
        }
    }
}

impl Table {
    /// What renderings of little room show: the columns, the rows (with those that need room, or not), and how many rows they leave out.
    pub fn short(&self, wide: bool) -> (Vec<usize>, Vec<&Row>, u64) {
        let columns = (0..self.columns.len()).filter(|&i| self.columns[i].width > 0).collect();
        let mut rows: Vec<&Row> = self.rows.iter().filter(|row| wide || !row.wide).collect();
        let total = if self.total { rows.pop() } else { None };
        let left = rows.len().saturating_sub(self.most_rows) as u64;
        rows.truncate(self.most_rows);
        rows.extend(total);
        (columns, rows, left)
    }
}

/// A row.
pub(crate) struct Row {
    /// One for each column.
    pub cells: Vec<Cell>,
    /// Whether only renderings with room show it.
    pub wide: bool,
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Row {
        Row { cells, wide: false }
    }
}

/// A column.
#[derive(Clone)]
pub(crate) struct Column {
    /// Its heading.
    pub title: String,
    /// Whether it holds numbers.
    pub number: bool,
    /// How wide it is in 80 columns; 0 if only renderings with room show it.
    pub width: usize,
    /// How wide its 95 % intervals are in 80 columns; 0 if it has none.
    pub intervals: usize,
}

impl Column {
    /// A column of words.
    pub fn word(title: impl Into<String>, width: usize) -> Column {
        Column { title: title.into(), number: false, width, intervals: 0 }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>, width: usize) -> Column {
        Column { title: title.into(), number: true, width, intervals: 0 }
    }
}

/// A cell.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    /// What it shows; `-` for what is missing.
    pub text: String,
    /// How it is coloured.
    pub tone: Tone,
    /// The 95 % interval of its number, empty if it is missing; none where there can be none.
    pub interval: Option<String>,
    /// The range of what its number is the mean of, 5 to 95 %; empty where there is none.
    pub range: String,
    /// Why its number, or the interval of it, is missing.
    pub why: Option<Why>,
}

/// Why a number is missing.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Why {
    /// Whether the interval alone is missing.
    pub interval: bool,
    /// The block of the number: `response`.
    pub of: &'static str,
    /// Its name: `p99.9`.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Cell {
        Cell::toned(Tone::Plain, text)
    }

    /// A cell in a tone.
    pub fn toned(tone: Tone, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), tone, ..Cell::default() }
    }
}

impl Cell {
    /// The interval where it has a column: `-` for one that is missing.
    pub fn beside(&self) -> &str {
        match self.interval.as_deref() {
            Some("") => "-",
            Some(interval) => interval,
            None => "",
        }
    }
}

/// Few things by key, in the order in which they came.
type Keyed<T> = Vec<(String, T)>;

/// Reasons for missing numbers, each said once, with the numbers that it is of.
#[derive(Default)]
pub(crate) struct Footnotes(Keyed<Keyed<Vec<String>>>);

impl Footnotes {
    /// The number, from 1, of the note that says why.
    pub fn number(&mut self, why: &Why) -> usize {
        let of = if why.interval { format!("intervals of {}", why.of) } else { why.of.to_owned() };
        let place = place(&mut self.0, &why.reason);
        let blocks = &mut self.0[place].1;
        let block = self::place(blocks, &of);
        blocks[block].1.push(why.name.clone());
        place + 1
    }

    /// The notes, in order: `response p99.9; intervals of service p99.9: the reason`.
    pub fn texts(&self) -> impl Iterator<Item = String> + '_ {
        self.0.iter().map(|(reason, blocks)| {
            let of: Vec<String> =
                blocks.iter().map(|(of, names)| format!("{of} {}", names.join(", "))).collect();
            format!("{}: {reason}", of.join("; "))
        })
    }
}

/// The place of `key`, which is added if it is not there.
fn place<T: Default>(all: &mut Keyed<T>, key: &str) -> usize {
    all.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
        all.push((key.to_owned(), T::default()));
        all.len() - 1
    })
}
