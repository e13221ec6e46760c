//! Published experiments, repeated: each gives its own numbers beside the published ones.
//!
//! One file per experiment and the slice [`ALL`]; `headway lab` lists it. What an experiment prints is computed, its
//! sentences too; a published number that cannot be reproduced says why.

pub mod poisson;

use serde::Serialize;

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.lab/1";

/// An experiment.
pub trait Lab: Sync {
    /// The word that selects it.
    fn name(&self) -> &'static str;
    /// One line for help texts, with the source.
    fn about(&self) -> &'static str;
    /// Does it `replications` times.
    fn run(&self, seed: u64, replications: u64) -> Report;
}

/// Every experiment.
pub const ALL: &[&dyn Lab] = &[&poisson::Ruler];

/// The experiment of that name, if there is one.
pub fn find(name: &str) -> Option<&'static dyn Lab> {
    ALL.iter().copied().find(|lab| lab.name() == name)
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
    /// The numbers.
    pub rows: Vec<Row>,
    /// Distributions of one replication, to be drawn.
    pub figures: Vec<Figure>,
    /// What is to be said about them.
    pub notes: Vec<String>,
}

/// One number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// As published.
    pub published: Option<f64>,
    /// As a formula has it.
    pub theory: Option<f64>,
    /// In the one replication that the figures show.
    pub shown: Option<f64>,
    /// Over all replications.
    pub replications: Option<Range>,
    /// In the steady state, where the experiment has one.
    pub steady: Option<Steady>,
}

/// A number over replications.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Range {
    /// Number of replications.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// 5th percentile: smallest x with F(x) >= 0.05.
    pub p05: f64,
    /// 95th percentile.
    pub p95: f64,
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

impl Range {
    /// Of these values; none of none.
    pub fn of(mut values: Vec<f64>) -> Option<Range> {
        if values.is_empty() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let place = |p: f64| ((p * n as f64).ceil() as usize).clamp(1, n) - 1;
        Some(Range {
            n: n as u64,
            mean: values.iter().sum::<f64>() / n as f64,
            p05: values[place(0.05)],
            p95: values[place(0.95)],
        })
    }

    /// Whether the value lies between the two percentiles.
    pub fn holds(&self, value: f64) -> bool {
        (self.p05..=self.p95).contains(&value)
    }
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
    }

    #[test]
    fn a_range() {
        let range = Range::of((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!((range.n, range.mean, range.p05, range.p95), (100, 50.5, 5.0, 95.0));
        assert!(range.holds(5.0) && !range.holds(4.9));
        assert_eq!(Range::of(Vec::new()), None);
    }
}
