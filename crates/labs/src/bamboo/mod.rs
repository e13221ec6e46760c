//! What goes wrong between routers and servers: timelike's later suites (Kingsbury 2013), what its author conjectured of
//! routers that fail with their servers, and a retry storm that outlives its trigger (Bronson et al. 2021).
//!
//! Rows that are compared play the same arrivals and demands. Deliberately absent: timelike's published tables, which are
//! those of the lab `balancers`. See docs/measured/labs.md for the definitions.

mod blocks;
mod blocks_notes;
mod published;
mod storm;
mod storm_notes;
mod suites;
mod suites_notes;
mod system;

use super::latencies::{self, QUANTITIES};
use super::{Cell, Lab, Quantity, Range, Report, Steady, Table, TableRow, replicate};
use headway_report::format::{chosen_time, count, plural};
use suites::CASES;

/// The experiment.
pub struct Bamboo;

/// The experiment, to be listed.
pub const BAMBOO: Bamboo = Bamboo;

/// What the reference figures are: of another simulation.
const SOURCE: &str = "simul.";

/// What is played.
#[derive(Clone, Copy, Debug)]
struct Setting {
    suites: suites::Setting,
    blocks: blocks::Setting,
    storm: storm::Setting,
}

/// As the lab plays it.
const WHOLE: Setting = Setting { suites: suites::SUITES, blocks: blocks::BLOCKS, storm: storm::STORM };

/// Everything that was played, by replication.
#[derive(Clone, Debug)]
struct All {
    setting: Setting,
    suites: Vec<suites::Played>,
    swept: Vec<suites::Swept>,
    blocks: Vec<blocks::Played>,
    storm: Vec<storm::Played>,
}

impl Lab for Bamboo {
    fn name(&self) -> &'static str {
        "bamboo"
    }

    fn about(&self) -> &'static str {
        "Routers, faulty servers, retries: timelike's later suites (Kingsbury 2013), failure in blocks, and a retry storm \
         (Bronson et al. 2021)"
    }

    fn replications(&self) -> u64 {
        20
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        Ok(self.report(seed, &play_all(WHOLE, seed, replications)?))
    }
}

/// Plays everything so often.
fn play_all(setting: Setting, seed: u64, replications: u64) -> anyhow::Result<All> {
    let once = |seed| -> anyhow::Result<_> {
        let (suites, swept) = (setting.suites.once(seed, |_| true)?, setting.suites.sweep(seed)?);
        Ok((suites, swept, setting.blocks.once(seed)?, setting.storm.once(seed)?))
    };
    let mut all =
        All { setting, suites: Vec::new(), swept: Vec::new(), blocks: Vec::new(), storm: Vec::new() };
    for played in replicate(seed, replications, once) {
        let (suites, swept, blocks, storm) = played?;
        all.suites.push(suites);
        all.swept.push(swept);
        all.blocks.push(blocks);
        all.storm.push(storm);
    }
    Ok(all)
}

impl Bamboo {
    fn report(&self, seed: u64, all: &All) -> Report {
        let suites = [latencies_table(all), rates_table(all), swept_table(all)];
        let mut rows: Vec<_> = suites.iter().flat_map(Table::listed).collect();
        let others = [blocks_table(all), differences_table(all), storm_table(all)];
        rows.extend(others.iter().flat_map(Table::listed));
        let notes = [
            suites_notes::notes(&all.suites),
            suites_notes::swept(&all.swept).into_iter().collect(),
            blocks_notes::notes(&all.setting.blocks, &all.blocks),
            storm_notes::notes(&all.setting.storm, &all.storm),
        ];
        let tables = suites.into_iter().chain(others).collect();
        Report { rows, tables, notes: notes.concat(), ..Report::of(self, seed) }
    }
}

/// A number of a row of the suites.
fn suite(all: &[suites::Played], row: usize, number: usize) -> Option<Range> {
    Range::of(all.iter().filter_map(|played| played.get(row)?.map(|numbers| numbers[number])).collect())
}

/// Some numbers of every row of the suites.
fn suite_rows(all: &All, numbers: std::ops::Range<usize>) -> Vec<TableRow> {
    let row = |(at, case): (usize, &suites::Case)| TableRow {
        name: case.name.to_owned(),
        cells: numbers
            .clone()
            .map(|number| Cell {
                published: case.reference.map(|figures| figures.mean[number]),
                ..Cell::observed(suite(&all.suites, at, number))
            })
            .collect(),
    };
    CASES.iter().enumerate().map(row).collect()
}

fn latencies_table(all: &All) -> Table {
    let suites::Setting { dynos, requests, one_requests, .. } = all.setting.suites;
    Table {
        title: format!(
            "timelike's later suites: latency in ms of the middle half of {} requests over {dynos} dynos ({} over one), beside \
             an independent simulation's",
            count(requests as u64),
            count(one_requests as u64)
        ),
        key: "row",
        source: SOURCE,
        quantities: QUANTITIES.map(|quantity| Quantity::new(quantity.name, 1)).to_vec(),
        rows: suite_rows(all, 0..latencies::NUMBERS),
        spread: false,
    }
}

fn rates_table(all: &All) -> Table {
    Table {
        title: "The same: share that succeeded, and rates".to_owned(),
        key: "row",
        source: SOURCE,
        quantities: vec![Quantity::new("ok", 4), Quantity::new("asked/s", 1), Quantity::new("done/s", 1)],
        rows: suite_rows(all, latencies::NUMBERS..published::NUMBERS),
        spread: false,
    }
}

fn swept_table(all: &All) -> Table {
    let numbers = [latencies::MEDIAN, latencies::P95, latencies::P99, latencies::MEAN];
    let names = suites::SWEPT.iter().map(|&routers| plural(u64::from(routers), "router"));
    let rows = names.chain(["at random".to_owned()]).enumerate().map(|(at, name)| TableRow {
        name,
        cells: numbers
            .map(|number| Cell::observed(Range::over(&all.swept, |swept| swept[at][number])))
            .to_vec(),
    });
    Table {
        title: format!(
            "Many routers over one pool, ties at random: latency in ms of the middle half of {} requests; beside a choice of any \
             dyno at random behind the same cable",
            count(all.setting.suites.requests as u64)
        ),
        key: "routers",
        source: SOURCE,
        quantities: numbers.map(|number| Quantity::new(QUANTITIES[number].name, 1)).to_vec(),
        rows: rows.collect(),
        spread: true,
    }
}

/// A mean with its interval.
fn steady(range: Option<Range>) -> Cell {
    let steady = range.and_then(|range| Some(Steady { mean: range.mean, ci: range.ci? }));
    // Of a single replication there is no interval.
    Cell { shown: range.filter(|_| steady.is_none()).map(|range| range.mean), steady, ..Cell::default() }
}

fn blocks_table(all: &All) -> Table {
    let setting = &all.setting.blocks;
    let rows = setting.loads.iter().enumerate().flat_map(|(at, load)| {
        blocks::WAYS.into_iter().enumerate().map(move |(way, which)| TableRow {
            name: format!("{}: {}", load.name(), which.name(setting)),
            cells: (0..blocks::NUMBERS)
                .map(|number| steady(Range::over(&all.blocks, |played| played[at][way][number])))
                .collect(),
        })
    });
    Table {
        title: format!(
            "Failure in blocks: what fails is up {} and down {} on average; share of the time that a dyno is down, requests that \
             succeed, response times of those in ms, share of the work that is for nobody; by load of what {} dynos can serve",
            chosen_time(setting.up_s),
            chosen_time(setting.down_s),
            setting.dynos
        ),
        key: "load",
        source: SOURCE,
        quantities: vec![
            Quantity::new("down %", 3),
            Quantity::new("ok %", 3),
            Quantity::new("p50", 1),
            Quantity::new("p99", 1),
            Quantity::new("p99.9", 1),
            Quantity::new("waste %", 2),
        ],
        rows: rows.collect(),
        spread: false,
    }
}

fn differences_table(all: &All) -> Table {
    let setting = &all.setting.blocks;
    let rows = setting.loads.iter().enumerate().flat_map(|(at, load)| {
        blocks_notes::PAIRS.into_iter().map(move |pair| TableRow {
            name: format!("{}: {} less {}", load.name(), pair.0.name(setting), pair.1.name(setting)),
            cells: blocks_notes::MEASURES
                .iter()
                .map(|measure| steady(blocks_notes::difference(&all.blocks, at, pair, measure.number)))
                .collect(),
        })
    });
    Table {
        title: "Differences between two of them in the same replication: the same arrivals and demands"
            .to_owned(),
        key: "load",
        source: SOURCE,
        quantities: vec![
            Quantity::new("ok %", 3),
            Quantity::new("p50", 2),
            Quantity::new("p99", 2),
            Quantity::new("p99.9", 2),
        ],
        rows: rows.collect(),
        spread: false,
    }
}

fn storm_table(all: &All) -> Table {
    let setting = &all.setting.storm;
    let of = |of: &dyn Fn(&storm::Played) -> Option<f64>| {
        Cell::observed(Range::of(all.storm.iter().filter_map(of).collect()))
    };
    let rows = storm::VARIANTS.iter().enumerate().map(|(at, variant)| TableRow {
        name: setting.name(*variant),
        cells: (0..4)
            .map(|when| of(&|played| Some(played[at].goodput[when])))
            .chain([
                of(&|played| Some(played[at].attempts)),
                of(&|played| Some(100.0 * played[at].wasted)),
                of(&|played| played[at].recovered_s),
                of(&|played| Some(if played[at].recovered_s.is_some() { 100.0 } else { 0.0 })),
            ])
            .collect(),
    });
    Table {
        title: format!(
            "A retry storm: {} servers of exp({}), Poisson at {:.0} % of what they can serve, clients give up after {}; for {} the \
             servers are {} times slower; answered in time per second before, during, 60 s and 300 s after that; then attempts per \
             request and the share of work for nobody; seconds until requests are answered again, and how many of the \
             replications did within {}",
            setting.servers,
            chosen_time(setting.service_s),
            100.0 * setting.load,
            chosen_time(setting.timeout.as_secs_f64()),
            chosen_time(setting.length.as_secs_f64()),
            setting.slower,
            chosen_time(storm::WATCHED.as_secs_f64())
        ),
        key: "variant",
        source: SOURCE,
        quantities: vec![
            Quantity::new("before", 1),
            Quantity::new("during", 1),
            Quantity::new("60 s", 1),
            Quantity::new("300 s", 1),
            Quantity::new("tries", 2),
            Quantity::new("waste %", 1),
            Quantity::new("again s", 0),
            Quantity::new("again %", 0),
        ],
        rows: rows.collect(),
        spread: true,
    }
}

#[cfg(test)]
mod tests;
