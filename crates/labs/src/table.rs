//! Numbers that belong together: rows of the same quantities, each as published, live, as a formula has it, over
//! replications, and in the steady state: whichever there are.

use super::{Range, Row, Steady};
use serde::Serialize;

/// A table of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The key of its rows: `users/s`, `first k users`.
    pub key: &'static str,
    /// Where its published numbers come from, in a word or two.
    pub source: &'static str,
    /// Its columns.
    pub quantities: Vec<Quantity>,
    /// Its rows.
    pub rows: Vec<TableRow>,
    /// Whether the text shows the percentiles too; the JSON always has them.
    #[serde(skip)]
    pub spread: bool,
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Quantity {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Places after the point in the text.
    #[serde(skip)]
    pub places: usize,
}

/// A row.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TableRow {
    /// What the row is about.
    pub name: String,
    /// One for each quantity.
    pub cells: Vec<Cell>,
}

/// One number in its forms.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Cell {
    /// As published.
    pub published: Option<f64>,
    /// Share of the replications whose number is below the published one; of those that equal it, half.
    pub rank: Option<f64>,
    /// Of a run against a real target on this machine, just now.
    pub live: Option<f64>,
    /// As a formula has it.
    pub theory: Option<f64>,
    /// In one replication, the first.
    pub shown: Option<f64>,
    /// Over all replications.
    pub replications: Option<Range>,
    /// In the steady state, where the experiment has one.
    pub steady: Option<Steady>,
}

impl Table {
    /// Every number as a row of its own, named by its row and its column.
    pub fn listed(&self) -> impl Iterator<Item = Row> + '_ {
        let of = move |row: &TableRow, quantity: &Quantity, cell: &Cell| Row {
            name: place(row, quantity),
            table: Some(self.title.clone()),
            published: cell.published,
            live: cell.live,
            theory: cell.theory,
            shown: cell.shown,
            replications: cell.replications,
            steady: cell.steady,
        };
        self.rows.iter().flat_map(move |row| {
            self.quantities.iter().zip(&row.cells).map(move |(quantity, cell)| of(row, quantity, cell))
        })
    }

    /// Whether [`listed`](Table::listed) has a row of that name.
    pub fn lists(&self, name: &str) -> bool {
        self.rows.iter().any(|row| self.quantities.iter().any(|quantity| place(row, quantity) == name))
    }
}

fn place(row: &TableRow, quantity: &Quantity) -> String {
    format!("{} / {}", row.name, quantity.name)
}

impl Quantity {
    /// A quantity of that name, shown with that number of decimals.
    pub const fn new(name: &'static str, places: usize) -> Quantity {
        Quantity { name, places }
    }

    /// Quantities of these names, each with its decimals.
    pub(crate) fn all<const N: usize>(columns: [(&'static str, usize); N]) -> Vec<Quantity> {
        columns.map(|(name, places)| Quantity::new(name, places)).to_vec()
    }
}

impl Cell {
    /// Only published.
    pub fn published(value: f64) -> Cell {
        Cell { published: Some(value), ..Cell::default() }
    }

    /// Only observed.
    pub fn observed(replications: Option<Range>) -> Cell {
        Cell { replications, ..Cell::default() }
    }
}
