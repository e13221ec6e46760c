//! How often a search holds the knee of a system that is known, how narrow its interval is, and how many requests it takes, beside a
//! plain bisection whose trials all have one length, and which is judged alike. In virtual time.

mod play;
mod systems;

use crate::{Cell, Lab, Quantity, Range, Report, SCHEMA, Table, TableRow, replicate};
use play::{Result, bisect, search};
use systems::{ALL, System};

/// The experiment.
pub struct Knee;

/// The experiment, as [`crate::ALL`] lists it.
pub const KNEE: Knee = Knee;

/// What one replication gave of one system.
#[derive(Clone, Copy, Debug)]
struct Pair {
    search: Result,
    bisection: Result,
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
            source: "formula or long simulation",
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

const QUANTITIES: [Quantity; 8] = [
    Quantity::new("knee/s", 2),
    Quantity::new("held %", 1),
    Quantity::new("half %", 2),
    Quantity::new("trials", 1),
    Quantity::new("requests", 0),
    Quantity::new("bisection: held %", 1),
    Quantity::new("bisection: requests", 0),
    Quantity::new("share of them", 2),
];

fn row(system: &System, pairs: &[Pair]) -> TableRow {
    let of = |value: &dyn Fn(&Pair) -> Option<f64>| {
        Cell::observed(Range::of(pairs.iter().filter_map(value).collect()))
    };
    let knee = Cell { theory: Some(system.knee()), ..Cell::default() };
    let percent = |yes: bool| Some(if yes { 100.0 } else { 0.0 });
    let share = requests(pairs, |pair| pair.search) / requests(pairs, |pair| pair.bisection);
    let cells = vec![
        knee,
        of(&|pair| percent(pair.search.held)),
        of(&|pair| pair.search.half.map(|half| 100.0 * half)),
        of(&|pair| Some(pair.search.trials as f64)),
        of(&|pair| Some(pair.search.requests as f64)),
        of(&|pair| percent(pair.bisection.held)),
        of(&|pair| Some(pair.bisection.requests as f64)),
        Cell { shown: Some(share), ..Cell::default() },
    ];
    TableRow { name: system.name.to_owned(), cells }
}

/// Both searches of a system, each from the same first rates.
fn pairs(system: &System, seed: u64, replications: u64) -> anyhow::Result<Vec<Pair>> {
    let once = |seed| -> anyhow::Result<Pair> {
        Ok(Pair { search: search(system, seed)?, bisection: bisect(system, system.bisection, seed)? })
    };
    replicate(seed, replications, once).into_iter().collect()
}

/// Mean number of requests.
fn requests(pairs: &[Pair], of: fn(&Pair) -> Result) -> f64 {
    pairs.iter().map(|pair| of(pair).requests as f64).sum::<f64>() / pairs.len() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn note(system: &System, pairs: &[Pair]) -> String {
    let held = pairs.iter().filter(|pair| pair.search.held).count();
    let half = median(pairs.iter().filter_map(|pair| pair.search.half).collect());
    let share = requests(pairs, |pair| pair.search) / requests(pairs, |pair| pair.bisection);
    let theirs = pairs.iter().filter(|pair| pair.bisection.held).count();
    format!(
        "{}: held in {held} of {} searches, median half width {:.1} %, {:.0} % of the requests of the bisection (trials of {} requests), which held \
         in {theirs}",
        system.name,
        pairs.len(),
        100.0 * half,
        100.0 * share,
        system.bisection
    )
}

#[cfg(test)]
mod tests;
