//! O'Hara's question: fixed work or a fixed rate? The same system, 4 workers of exp(8 ms), under a thousand users that
//! come at once, under closed loops, under users that arrive at a rate, and through a stop; in virtual time, by the client
//! core. Published are the figures of an independent simulation.
//!
//! Response times are from the request's first byte on, as most tools take them; the wait before it is shown beside
//! them as blocked. See docs/measured/labs.md for the definitions.

mod closed;
mod fixed;
mod frameworks;
mod notes;
mod open;
mod plays;
mod published;
mod stop;
mod system;

use super::{Cell, Lab, Quantity, Range, Report, SCHEMA, Table, TableRow};
use plays::{EVEN_AT, Parts, Played, at, range};
use published::{EVEN, FEEDS, KNEES, LOOPS, OPEN, SATURATED, SECONDS, SLOPES, STOP_CLOSED, STOP_OPEN};

/// The experiment.
pub struct FixedWork;

/// The experiment, to be listed.
pub const FIXED_WORK: FixedWork = FixedWork;

const SOURCE: &str = "simul.";

impl Lab for FixedWork {
    fn name(&self) -> &'static str {
        "fixed-work"
    }

    fn about(&self) -> &'static str {
        "Fixed work against a fixed rate on one system: what each shows (O'Hara)"
    }

    fn replications(&self) -> u64 {
        20
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let all = plays::all(&Parts::all(), seed, replications)?;
        Ok(self.report(seed, &all))
    }
}

impl FixedWork {
    fn report(&self, seed: u64, all: &[Played]) -> Report {
        let tables = vec![
            feeds(all),
            users(all),
            loops(all),
            rates(all),
            saturated(all),
            knees(all),
            stops(all),
            frameworks::table(all),
        ];
        let (rows, figures, notes) = (Vec::new(), Vec::new(), notes::notes(all));
        Report { schema: SCHEMA, name: self.name(), about: self.about(), seed, rows, tables, figures, notes }
    }
}

fn cell(published: f64, replications: Option<Range>) -> Cell {
    Cell { published: Some(published), ..Cell::observed(replications) }
}

fn quantities<const N: usize>(names: [(&'static str, usize); N]) -> Vec<Quantity> {
    names.map(|(name, places)| Quantity::new(name, places)).to_vec()
}

/// Fixed work.
fn feeds(all: &[Played]) -> Table {
    let rows = FEEDS.iter().enumerate().map(|(i, feed)| TableRow {
        name: feed.name.to_owned(),
        cells: (0..feed.numbers.len())
            .map(|j| cell(feed.numbers[j], range(all, |p| p.fixed.get(i).map(|f| f.numbers[j]))))
            .collect(),
    });
    Table {
        title: "Fixed work: 1,000 users at once, each 10 GETs and a POST".to_owned(),
        key: "fed by",
        source: SOURCE,
        quantities: quantities([
            ("drain s", 2),
            ("req/s", 1),
            ("R ms", 1),
            ("R p50", 1),
            ("R p99", 1),
            ("blocked", 1),
            ("longest", 1),
            ("POST s", 3),
        ]),
        rows: rows.collect(),
        spread: true,
    }
}

fn users(all: &[Played]) -> Table {
    let rows = FEEDS.iter().enumerate().map(|(i, feed)| TableRow {
        name: feed.name.to_owned(),
        cells: (0..SECONDS.len())
            .map(|j| cell(feed.active[j], range(all, |p| p.fixed.get(i).map(|f| f.active[j]))))
            .collect(),
    });
    Table {
        title: "Fixed work: users active (first byte sent, last response not complete), by seconds from the start"
            .to_owned(),
        key: "fed by",
        source: SOURCE,
        quantities: quantities([("1", 1), ("5", 1), ("10", 1), ("15", 1), ("20", 1), ("21", 1), ("22", 1)]),
        rows: rows.collect(),
        spread: false,
    }
}

/// Closed loops.
fn loops(all: &[Played]) -> Table {
    let rows = LOOPS.iter().enumerate().map(|(i, (users, published))| {
        let theory = closed::theory(*users);
        TableRow {
            name: users.to_string(),
            cells: (0..3)
                .map(|j| Cell {
                    theory: Some(theory[j]),
                    ..cell(published[j], range(all, |p| p.loops.get(i).map(|l| l[j])))
                })
                .collect(),
        }
    });
    Table {
        title: "Closed loops of N users who never think".to_owned(),
        key: "users",
        source: SOURCE,
        quantities: quantities([("req/s", 1), ("R ms", 2), ("R p99", 1)]),
        rows: rows.collect(),
        spread: true,
    }
}

/// The open test.
fn rates(all: &[Played]) -> Table {
    let rows = OPEN.iter().map(|(rate, published)| TableRow {
        name: rate.to_string(),
        cells: (0..published.len()).map(|j| cell(published[j], at(all, *rate, |o| o.numbers[j]))).collect(),
    });
    Table {
        title: "Open: users per second for 120 s, after a ramp of 30 s; of those who came in the hold, what was answered in it; share: \
                sent of requested".to_owned(),
        key: "users/s",
        source: SOURCE,
        quantities: quantities([
            ("done/s", 1),
            ("sent/s", 1),
            ("share", 3),
            ("R ms", 1),
            ("R p50", 1),
            ("R p99", 1),
            ("p99.99", 1),
            ("active", 1),
        ]),
        rows: rows.collect(),
        spread: true,
    }
}

fn saturated(all: &[Played]) -> Table {
    let numbers = [3, 5, 2, 7];
    let mut rows: Vec<TableRow> = SATURATED
        .iter()
        .map(|(rate, published)| TableRow {
            name: rate.to_string(),
            cells: (0..4)
                .map(|j| cell(published[j], at(all, *rate, |o| o.numbers[numbers[j]])))
                .chain((0..2).map(|j| Cell::observed(at(all, *rate, |o| o.to_the_end[j]))))
                .collect(),
        })
        .collect();
    let slope = |j: usize| cell(SLOPES[j], range(all, |p| Some(p.slopes()[j])));
    rows.push(TableRow {
        name: "per user/s".to_owned(),
        cells: [vec![slope(0), slope(1)], vec![Cell::default(); 4]].concat(),
    });
    Table {
        title: "Open, past saturation: answered within the hold; and to the end of each session".to_owned(),
        key: "users/s",
        source: SOURCE,
        quantities: quantities([
            ("R ms", 1),
            ("R p99", 1),
            ("share", 3),
            ("active", 1),
            ("R all", 1),
            ("p99 all", 1),
        ]),
        rows,
        spread: true,
    }
}

fn knees(all: &[Played]) -> Table {
    let row = |name: &str, cell: Cell| TableRow { name: name.to_owned(), cells: vec![cell] };
    let rows = vec![
        row("p99 <= 100 ms: users/s", cell(KNEES[0], range(all, |p| p.knees()[0]))),
        row("p99.99 <= 100 ms: users/s", cell(KNEES[1], range(all, |p| p.knees()[1]))),
        row("p99 at 43/s, even: ms", cell(EVEN[0], range(all, |p| p.even.as_ref().map(open::Open::p99)))),
        row("p99 at 43/s, Poisson: ms", cell(EVEN[1], at(all, EVEN_AT, open::Open::p99))),
    ];
    Table {
        title: "Open: knees, and what evenly spaced users make of one".to_owned(),
        key: "",
        source: SOURCE,
        quantities: quantities([("number", 2)]),
        rows,
        spread: true,
    }
}

/// The stop.
fn stops(all: &[Played]) -> Table {
    let rows = [("open, Poisson 300/s", STOP_OPEN), ("closed, 4 users", STOP_CLOSED)];
    let rows = rows.into_iter().enumerate().map(|(i, (name, published))| TableRow {
        name: name.to_owned(),
        cells: (0..4).map(|j| cell(published[j], range(all, |p| Some(p.stop[i][j])))).collect(),
    });
    Table {
        title: "One stop of 2 s in 18,000 requests".to_owned(),
        key: "load",
        source: SOURCE,
        quantities: quantities([("R ms", 1), ("R p50", 1), ("R p99", 1), ("longest", 1)]),
        rows: rows.collect(),
        spread: true,
    }
}

#[cfg(test)]
mod tests;
