//! timelike's five ways to balance 10,000 requests over 250 servers (Kingsbury 2013), and what the publication left open: how far one run
//! of 10,000 is from another, how far all of them are from the steady state, and what ties do.
//!
//! Every row plays the same arrivals and the same demands, and differences are taken replication by replication.
//! Deliberately absent: what goes wrong (failures, retries, stale information), which is another experiment.
//! See docs/measured/labs.md for the definitions.

mod cases;
mod notes;
mod play;
mod published;

use super::latencies::{self, MEAN, MEDIAN, P95, P99};
use super::range::FEWEST;
use super::{Cell, Lab, Range, Report, Steady, Table, TableRow};
use cases::{CASES, PUBLISHED, Setting, Way};
use headway_report::format::{count, time};
use headway_workload::model::Ties;
use play::All;

/// The experiment.
pub struct Balancers;

/// The experiment, to be listed.
pub const BALANCERS: Balancers = Balancers;

/// Numbers whose differences are shown: those that are not extremes.
const COMPARED: [usize; 4] = [MEDIAN, P95, P99, MEAN];

/// Rows that are compared on the same requests: the first less the second.
const PAIRS: [(Way, Way); 9] = [
    (Way::RoundRobin, Way::Even(Ties::First)),
    (Way::Random, Way::Even(Ties::First)),
    (Way::OnePool(Ties::First), Way::Random),
    (Way::OnePool(Ties::Random), Way::Random),
    (Way::Pools(Ties::First), Way::Even(Ties::First)),
    (Way::Pools(Ties::First), Way::OnePool(Ties::Random)),
    (Way::Even(Ties::First), Way::Even(Ties::Random)),
    (Way::Pools(Ties::First), Way::Pools(Ties::Random)),
    (Way::Even(Ties::First), Way::OneQueue),
];

impl Lab for Balancers {
    fn name(&self) -> &'static str {
        "balancers"
    }

    fn about(&self) -> &'static str {
        "Five ways to balance 10,000 requests over 250 servers: one run, many runs, steady state (Kingsbury 2013, timelike)"
    }

    fn replications(&self) -> u64 {
        200
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        Ok(self.report(seed, &play::all(&PUBLISHED, seed, replications)?))
    }
}

impl Balancers {
    fn report(&self, seed: u64, all: &All) -> Report {
        let latencies = latencies_table(all);
        let (rows, notes) = (latencies.listed().collect(), notes::notes(all));
        Report { rows, tables: vec![latencies, differences(all)], notes, ..Report::of(self, seed) }
    }
}

/// Where a row stands.
fn place(way: Way) -> Option<usize> {
    CASES.iter().position(|case| case.way == way)
}

/// The name of a row.
fn named(way: Way) -> &'static str {
    place(way).map_or("", |at| CASES[at].name)
}

impl All {
    /// A number of a row over the replications.
    fn range(&self, way: Way, number: usize) -> Option<Range> {
        let at = place(way)?;
        Range::over(&self.replications, |played| played[at][number])
    }

    /// Difference of a number between two rows, replication by replication.
    fn difference(&self, (one, other): (Way, Way), number: usize) -> Option<Range> {
        let (one, other) = (place(one)?, place(other)?);
        Range::over(&self.replications, |played| played[one][number] - played[other][number])
    }

    /// A number of a row in the steady state, over the long runs; none of fewer than two.
    fn steady(&self, way: Way, number: usize) -> Option<Range> {
        let at = place(way)?;
        Range::over(&self.long, |played| played[at][number]).filter(|range| range.ci.is_some())
    }

    /// Share of the replications of a row whose number is below the printed one; of those that equal it, half. None of too
    /// few.
    fn rank(&self, way: Way, number: usize) -> Option<f64> {
        let at = place(way)?;
        let printed = *CASES[at].published?.get(number)?;
        let halves = |played: &play::Played| match played[at][number].total_cmp(&printed) {
            std::cmp::Ordering::Less => 2,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 0,
        };
        let n = self.replications.len();
        (n as u64 >= FEWEST)
            .then(|| self.replications.iter().map(halves).sum::<usize>() as f64 / (2 * n) as f64)
    }
}

/// Every row as printed, in the first replication, over all of them, and in the steady state.
fn latencies_table(all: &All) -> Table {
    let Setting { rate, service_s, servers, requests, long, .. } = all.setting;
    let rows = CASES.iter().enumerate().map(|(at, case)| {
        let theory = all.setting.theory(case.way);
        let cell = |number: usize| Cell {
            published: case.published.and_then(|figures| figures.get(number).copied()),
            rank: all.rank(case.way, number),
            theory: theory[number],
            shown: all.replications.first().map(|played| played[at][number]),
            steady: all
                .steady(case.way, number)
                .and_then(|range| Some(Steady { mean: range.mean, ci: range.ci? })),
            ..Cell::observed(all.range(case.way, number))
        };
        TableRow { name: case.name.to_owned(), cells: (0..latencies::NUMBERS).map(cell).collect() }
    });
    Table {
        title: format!(
            "Latency in ms of {} requests, Poisson at {rate}/s, over {servers} servers of exp({}), from the first into an \
             empty system to the last answer; steady state from {} runs of {} requests each, the first {} left out, min and \
             max of {} requests",
            count(requests as u64),
            time(service_s),
            long.runs,
            count(long.requests as u64),
            count(long.warmup as u64),
            count(requests as u64),
        ),
        key: "row",
        source: "paper",
        quantities: latencies::QUANTITIES.to_vec(),
        rows: rows.collect(),
        spread: true,
    }
}

/// What one way takes longer than another on the same requests.
fn differences(all: &All) -> Table {
    let rows = PAIRS.map(|pair| TableRow {
        name: format!("{} less {}", named(pair.0), named(pair.1)),
        cells: COMPARED.iter().map(|&number| Cell::observed(all.difference(pair, number))).collect(),
    });
    Table {
        title: "Differences in ms between two rows in the same replication: the same arrivals and demands"
            .to_owned(),
        key: "pair",
        source: "paper",
        quantities: COMPARED.map(|number| latencies::QUANTITIES[number]).to_vec(),
        rows: rows.to_vec(),
        spread: true,
    }
}

#[cfg(test)]
mod tests;
