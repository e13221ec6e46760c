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
        let mut rows = Vec::new();
        let mut notes = Vec::new();
        for system in &ALL {
            let pairs = pairs(system, seed, replications)?;
            rows.push(row(system, &pairs));
            notes.push(note(system, &pairs));
        }
        let table = Table {
            title: "Searches to +-10 % with nothing but a threshold, of 15 minutes at most".to_owned(),
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

/// Longest time of each, seconds.
const BUDGET_S: f64 = 900.0;

const QUANTITIES: [Quantity; 8] = [
    Quantity::new("knee/s", 2),
    Quantity::new("held %", 1),
    Quantity::new("half %", 2),
    Quantity::new("seconds", 0),
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
        of(&|pair| Some(pair.search.seconds)),
        of(&|pair| Some(pair.search.trials as f64)),
        of(&|pair| Some(pair.search.requests as f64)),
        of(&|pair| pair.bisection.map(|requests| requests as f64)),
        Cell { shown: share, ..Cell::default() },
    ];
    TableRow { name: system.name.to_owned(), cells }
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

/// That part of the values is smaller.
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN)
}

fn note(system: &System, pairs: &[Pair]) -> String {
    let held = pairs.iter().filter(|pair| pair.search.held).count();
    let half = quantile(pairs.iter().filter_map(|pair| pair.search.half).collect(), 0.5);
    let seconds = |part| quantile(pairs.iter().map(|pair| pair.search.seconds).collect(), part);
    let ended = pairs.iter().filter(|pair| pair.search.half.is_some()).count();
    let near = pairs.iter().filter(|pair| (pair.search.by_default - 1.0).abs() <= 0.25).count();
    let beside = match (share(pairs), system.bisection) {
        (Some(share), Some(length)) => {
            let (at_most, at_least) =
                if matches!(length, Length::Enough(_)) { ("", "") } else { ("at most ", "at least ") };
            format!(
                ", {at_most}{:.1} % of the requests of a bisection that holds it in at least 93 % (trials of {at_least}{} requests)",
                100.0 * share,
                length.requests()
            )
        }
        _ => String::new(),
    };
    format!(
        "{}: held in {held} of {} searches, {ended} of them to +-10 %, median half width {:.1} %, {:.0} s in the median and {:.0} s in nine of ten; after three minutes {near} of the estimates are within 25 %{beside}",
        system.name,
        pairs.len(),
        100.0 * half,
        seconds(0.5),
        seconds(0.9)
    )
}

#[cfg(test)]
mod tests;
