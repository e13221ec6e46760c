//! Published experiments, repeated: each gives its own numbers beside the published ones.
//!
//! One file or folder per experiment and the slice [`ALL`]; `headway lab` lists it. What an experiment prints is computed,
//! its sentences too; a published number that cannot be reproduced says why.

mod answers;
mod arrivals;
pub mod balancers;
pub mod bamboo;
mod bounds;
pub mod brady;
pub mod compare;
pub mod fixed_work;
pub mod knee;
mod latencies;
pub mod overload;
pub mod poisson;
pub mod poisson_udp;
mod range;
mod table;
pub mod text;
mod words;

pub use range::Range;
pub use table::{Cell, Quantity, Table, TableRow};

use headway_base::random::{Stream, streams};
use headway_engine::jobs;
use serde::Serialize;

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.lab/1";

/// An experiment.
pub trait Lab: Sync {
    /// The word that selects it.
    fn name(&self) -> &'static str;
    /// One line for help texts, with the source.
    fn about(&self) -> &'static str;
    /// How often it is done by default: less than a minute of computing.
    fn replications(&self) -> u64;
    /// Does it `replications` times.
    ///
    /// # Errors
    /// What it is made of cannot be: a mistake of its own.
    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report>;
    /// What plays a part of it live, if one can be.
    fn live(&self) -> Option<Live> {
        None
    }
}

/// Plays a part of an experiment, from that seed, against a target of its own on this machine, and adds what that gave to the
/// report.
#[derive(Clone, Copy, Debug)]
pub enum Live {
    /// If it is asked for.
    OnDemand(fn(u64, &mut Report) -> anyhow::Result<()>),
    /// Always: the experiment is that part.
    Always(fn(u64, Extent, &mut Report) -> anyhow::Result<()>),
}

/// How long the live part of an experiment takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// As long as its figures need.
    Full,
    /// Some seconds: that it runs.
    Short,
}

/// Every experiment.
pub const ALL: &[&dyn Lab] = &[
    &poisson::Ruler,
    &brady::BRADY,
    &fixed_work::FIXED_WORK,
    &balancers::BALANCERS,
    &bamboo::BAMBOO,
    &poisson_udp::PoissonUdp,
    &overload::OVERLOAD_LAB,
    &compare::Compare,
    &knee::KNEE,
];

/// Names that labs had in 0.1.0, and what they are called now; understood for one version more.
const FORMER_NAMES: &[(&str, &str)] = &[("bunches", "brady"), ("work", "fixed-work")];

/// The experiment of that name, if there is one. Names of 0.1.0 are understood.
pub fn find(name: &str) -> Option<&'static dyn Lab> {
    let name = FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, name)| name);
    ALL.iter().copied().find(|lab| lab.name() == name)
}

/// Does `once` for replications 0 to n - 1, each with a seed of its own, on all processors; the results are in order, and the
/// same on any machine.
pub fn replicate<T: Send>(seed: u64, n: u64, once: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let seeds = Stream::new(seed, streams::DERIVED);
    jobs::all(n, jobs::cores(), |r| once(seeds.bits(r, 0)))
}

/// What an experiment gave.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Which experiment.
    pub name: &'static str,
    /// Its source.
    pub about: &'static str,
    /// Seed of every draw.
    pub seed: u64,
    /// The numbers, each by itself: those of the tables too, once they are [listed](Report::listed).
    pub rows: Vec<Row>,
    /// Numbers that belong together, where there are more than a few.
    pub tables: Vec<Table>,
    /// Distributions of one replication, to be drawn.
    pub figures: Vec<Figure>,
    /// What is to be said about them.
    pub notes: Vec<String>,
}

impl Report {
    /// The report of that experiment, of draws from that seed, with nothing in it yet.
    pub fn of(lab: &dyn Lab, seed: u64) -> Report {
        Report {
            schema: SCHEMA,
            name: lab.name(),
            about: lab.about(),
            seed,
            rows: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same with every number of its tables among the rows: what the document has, whichever experiment it is.
    pub fn listed(mut self) -> Report {
        let missing = self.tables.iter().flat_map(Table::listed);
        let missing: Vec<Row> = missing
            .filter(|row| !self.rows.iter().any(|own| own.name == row.name && own.table == row.table))
            .collect();
        self.rows.extend(missing);
        self
    }
}

/// One number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// What it is; of a table its row and its column.
    pub name: String,
    /// Title of the table that it stands in; none of a number that stands alone.
    pub table: Option<String>,
    /// As published.
    pub published: Option<f64>,
    /// Of a run against a real target on this machine, just now.
    pub live: Option<f64>,
    /// As a formula has it.
    pub theory: Option<f64>,
    /// In the one replication that the figures show.
    pub shown: Option<f64>,
    /// Over all replications.
    pub replications: Option<Range>,
    /// In the steady state, where the experiment has one.
    pub steady: Option<Steady>,
}

/// A number in the steady state.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Steady {
    /// Its estimate.
    pub mean: f64,
    /// 95 % interval.
    pub ci: [f64; 2],
}

/// How often each value came, beside what a law expects.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Its bars.
    pub bars: Vec<Bar>,
}

/// One value, or a range of values.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bar {
    /// Which.
    pub label: String,
    /// How often it came.
    pub observed: u64,
    /// How often it is to be expected.
    pub expected: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labs_are_found_by_names_of_their_own() {
        for (i, lab) in ALL.iter().enumerate() {
            assert!(find(lab.name()).is_some() && !lab.about().is_empty());
            assert!(ALL[..i].iter().all(|other| other.name() != lab.name()));
        }
        assert!(find("ruler").is_none());
        for (former, name) in FORMER_NAMES {
            assert_eq!(find(former).map(Lab::name), Some(*name));
        }
    }

    #[test]
    fn replications_are_in_order_and_each_has_a_seed_of_its_own() {
        let seeds = replicate(7, 50, |seed| seed);
        assert_eq!(seeds, replicate(7, 50, |seed| seed));
        assert_eq!(seeds[..20], replicate(7, 20, |seed| seed));
        let mut different = seeds.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 50);
        assert!(replicate(7, 0, |seed| seed).is_empty());
    }
}
