//! How often a search holds the knee of a system that is known, how narrow its interval is, and how many requests it takes, beside a
//! plain bisection whose trials are as long as it needs to hold the knee as often. In virtual time.

mod play;
mod systems;

use crate::words::listed;
use crate::{Cell, Lab, Quantity, Range, Report, Table, TableRow, replicate};
use play::{Result, bisected, search};
use systems::{ALL, Length, System};

/// The experiment.
pub struct Knee;

/// The experiment, as [`crate::ALL`] lists it.
pub const KNEE: Knee = Knee;

/// What one replication gave of one system.
#[derive(Clone, Copy, Debug)]
struct Pair {
    search: Result,
    /// Requests of a bisection from a random first rate each of whose trials is right; none where its length was not measured.
    bisection: Option<u64>,
}

impl Lab for Knee {
    fn name(&self) -> &'static str {
        "knee"
    }

    fn about(&self) -> &'static str {
        "how often a search holds the true knee, how long it takes, and its requests beside those of plain bisection (O'Hara's service, M/M/c, M/G/1)"
    }

    fn replications(&self) -> u64 {
        5
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let all: Vec<Vec<Pair>> =
            ALL.iter().map(|system| pairs(system, seed, replications)).collect::<anyhow::Result<_>>()?;
        let table = |title: &str, quantities: Vec<Quantity>, row: fn(&System, &[Pair]) -> Vec<Cell>| Table {
            title: title.to_owned(),
            key: "system",
            source: "formula",
            quantities,
            rows: ALL
                .iter()
                .zip(&all)
                .map(|(system, pairs)| TableRow { name: system.name.to_owned(), cells: row(system, pairs) })
                .collect(),
            spread: true,
        };
        let tables = vec![
            table(
                "Searches to +-10 % with nothing but a threshold, of 15 minutes at most: the true knee, how many held it, how many became as \
                 narrow as that, half the width of the interval, how long they took (in virtual time), and how many estimates were within 25 % \
                 after three minutes",
                Quantity::all([
                    ("knee/s", 2),
                    ("held %", 1),
                    ("ended %", 1),
                    ("half %", 2),
                    ("seconds", 0),
                    ("near %", 1),
                ]),
                found,
            ),
            table(
                "What they cost: trials and requests, the requests of a bisection that holds the knee in at least 93 % (those of a trial, and of \
                 all), and what share of these the searches took",
                Quantity::all([
                    ("trials", 1),
                    ("requests", 0),
                    ("each of bis.", 0),
                    ("bisection", 0),
                    ("share %", 1),
                ]),
                cost,
            ),
        ];
        Ok(Report { tables, notes: vec![note(&all)], ..Report::of(self, seed) })
    }
}

/// Longest time of each, seconds.
const BUDGET_S: f64 = 900.0;

fn of(pairs: &[Pair], value: impl Fn(&Pair) -> Option<f64>) -> Cell {
    Cell::observed(Range::of(pairs.iter().filter_map(value).collect()))
}

fn percent(yes: bool) -> Option<f64> {
    Some(if yes { 100.0 } else { 0.0 })
}

/// How good the searches are.
fn found(system: &System, pairs: &[Pair]) -> Vec<Cell> {
    vec![
        Cell { theory: Some(system.knee()), ..Cell::default() },
        of(pairs, |pair| percent(pair.search.held)),
        of(pairs, |pair| percent(pair.search.half.is_some())),
        of(pairs, |pair| pair.search.half.map(|half| 100.0 * half)),
        of(pairs, |pair| Some(pair.search.seconds)),
        of(pairs, |pair| percent((pair.search.by_default - 1.0).abs() <= 0.25)),
    ]
}

/// What they take.
fn cost(system: &System, pairs: &[Pair]) -> Vec<Cell> {
    vec![
        of(pairs, |pair| Some(pair.search.trials as f64)),
        of(pairs, |pair| Some(pair.search.requests as f64)),
        Cell { theory: system.bisection.map(|length| length.requests() as f64), ..Cell::default() },
        of(pairs, |pair| pair.bisection.map(|requests| requests as f64)),
        of(pairs, |pair| pair.bisection.map(|_| 100.0 * share(pairs).unwrap_or(f64::NAN))),
    ]
}

/// Both searches of a system, each from the same first rates.
fn pairs(system: &System, seed: u64, replications: u64) -> anyhow::Result<Vec<Pair>> {
    let once = |seed| -> anyhow::Result<Pair> {
        let bisection =
            system.bisection.map(|length| length.requests() * bisected(system, seed).len() as u64);
        Ok(Pair { search: search(system, seed, BUDGET_S)?, bisection })
    };
    replicate(seed, replications, once).into_iter().collect()
}

/// Requests of the searches over those of the bisections.
fn share(pairs: &[Pair]) -> Option<f64> {
    let bisections = pairs.iter().map(|pair| pair.bisection).sum::<Option<u64>>()?;
    Some(pairs.iter().map(|pair| pair.search.requests).sum::<u64>() as f64 / bisections as f64)
}

/// What all of it comes to, and what of the bisection is not known.
fn note(all: &[Vec<Pair>]) -> String {
    let pairs = || all.iter().flatten();
    let held = pairs().filter(|pair| pair.search.held).count();
    let ended = pairs().filter(|pair| pair.search.half.is_some()).count();
    let below: Vec<&str> = ALL
        .iter()
        .filter(|system| matches!(system.bisection, Some(length) if !matches!(length, Length::Enough(_))))
        .map(|system| system.name)
        .collect();
    let below = match below.as_slice() {
        [] => String::new(),
        some => format!(
            " The trials of a bisection that are long enough are known from below alone for {}, so that the search takes at most that share of its \
             requests.",
            listed(some)
        ),
    };
    format!(
        "The knee was held in {held} of {} searches, {ended} of which became as narrow as was asked.{below}",
        pairs().count()
    )
}

#[cfg(test)]
mod tests;
