//! How often a search holds the knee of a system that is known, how narrow its interval is, and how many requests it takes, beside a
//! plain bisection whose trials are as long as it needs to hold the knee as often. In virtual time.

mod play;
mod systems;

use crate::{Cell, Lab, Quantity, Range, Report, SCHEMA, Table, TableRow, replicate};
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
    /// Requests of a bisection from the same first rate each of whose trials is right.
    bisection: u64,
}

impl Lab for Knee {
    fn name(&self) -> &'static str {
        "knee"
    }

    fn about(&self) -> &'static str {
        "how often a search holds the true knee, and its requests beside those of plain bisection (O'Hara's service, M/M/c, M/D/1)"
    }

    fn replications(&self) -> u64 {
        5
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let mut rows = Vec::new();
        let mut notes = Vec::new();
        for system in &ALL {
            let pairs = pairs(system, seed, replications)?;
            rows.push(row(system, &pairs));
            notes.push(note(system, &pairs));
        }
        let table = Table {
            title: "Searches to +-5 %, from a random rate far below the knee".to_owned(),
            key: "system",
            source: "formula",
            quantities: QUANTITIES.to_vec(),
            rows,
            spread: false,
        };
        Ok(Report {
            schema: SCHEMA,
            name: self.name(),
            about: self.about(),
            seed,
            rows: Vec::new(),
            tables: vec![table],
            figures: Vec::new(),
            notes,
        })
    }
}

const QUANTITIES: [Quantity; 7] = [
    Quantity::new("knee/s", 2),
    Quantity::new("held %", 1),
    Quantity::new("half %", 2),
    Quantity::new("trials", 1),
    Quantity::new("requests", 0),
    Quantity::new("bisection: requests", 0),
    Quantity::new("share of them", 2),
];

fn row(system: &System, pairs: &[Pair]) -> TableRow {
    let of = |value: &dyn Fn(&Pair) -> Option<f64>| {
        Cell::observed(Range::of(pairs.iter().filter_map(value).collect()))
    };
    let knee = Cell { theory: Some(system.knee()), ..Cell::default() };
    let percent = |yes: bool| Some(if yes { 100.0 } else { 0.0 });
    let share = share(pairs);
    let cells = vec![
        knee,
        of(&|pair| percent(pair.search.held)),
        of(&|pair| pair.search.half.map(|half| 100.0 * half)),
        of(&|pair| Some(pair.search.trials as f64)),
        of(&|pair| Some(pair.search.requests as f64)),
        of(&|pair| Some(pair.bisection as f64)),
        Cell { shown: Some(share), ..Cell::default() },
    ];
    TableRow { name: system.name.to_owned(), cells }
}

/// Both searches of a system, each from the same first rates.
fn pairs(system: &System, seed: u64, replications: u64) -> anyhow::Result<Vec<Pair>> {
    let once = |seed| -> anyhow::Result<Pair> {
        let bisection = system.bisection.requests() * bisected(system, seed).len() as u64;
        Ok(Pair { search: search(system, seed)?, bisection })
    };
    replicate(seed, replications, once).into_iter().collect()
}

/// Requests of the searches over those of the bisections.
fn share(pairs: &[Pair]) -> f64 {
    let sum = |of: fn(&Pair) -> u64| pairs.iter().map(of).sum::<u64>() as f64;
    sum(|pair| pair.search.requests) / sum(|pair| pair.bisection)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn note(system: &System, pairs: &[Pair]) -> String {
    let held = pairs.iter().filter(|pair| pair.search.held).count();
    let half = median(pairs.iter().filter_map(|pair| pair.search.half).collect());
    let share = share(pairs);
    let (at_most, at_least) = match system.bisection {
        Length::Enough(_) => ("", ""),
        Length::AtLeast(_) => ("at most ", "at least "),
    };
    format!(
        "{}: held in {held} of {} searches, median half width {:.1} %, {at_most}{:.0} % of the requests of a bisection that holds it in at least \
         93 % (trials of {at_least}{} requests)",
        system.name,
        pairs.len(),
        100.0 * half,
        100.0 * share,
        system.bisection.requests()
    )
}

#[cfg(test)]
mod tests;
