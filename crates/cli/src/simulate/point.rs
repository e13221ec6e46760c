//! A point of a study: its replications come in, in whatever order, and become numbers when it is known what is to be left
//! out of them.
//!
//! All replications are cut at one place, found in the average of the first twenty: a place of its own for each would
//! leave out a busy beginning and keep a calm one (see `stats::steady::mser_of_runs`). Only those that end before these
//! twenty have are held.

use super::course::Course;
use super::estimates::{curve, estimate, of_values};
use super::replication::{NUMBERS, Number, Numbers, Replication, numbers};
use stats::steady::{Cut, Histogram, Prefix};
use stats::study::{Point, WarmUp};

/// Replications in whose average the end of the warm-up is looked for.
const LOOKED_AT: u64 = 20;

/// A point while its replications come in.
#[derive(Debug)]
pub struct Coming {
    /// By number.
    replications: Vec<Option<(Replication, Option<Numbers>)>>,
    missing: u64,
    warm_up: WarmUp,
    /// What is left out of each, once that is known.
    cut: Option<Cut>,
    /// Those for which it is not known yet.
    waiting: Vec<(u64, Course)>,
    /// Of the ones that are looked at, how many are still to come.
    unseen: u64,
    times: Histogram,
}

/// A point with its numbers run by run.
#[derive(Debug)]
pub struct Done {
    /// The point.
    pub point: Point,
    /// In the order of [`NUMBERS`], by replication; empty where one of them has none.
    pub values: [Vec<f64>; NUMBERS.len()],
}

impl Coming {
    /// None yet of so many.
    pub fn new(replications: u64, warm_up: WarmUp) -> Coming {
        let nothing = Cut::Found(Prefix { batches: 0, observations: 0, share: 0.0 });
        Coming {
            replications: (0..replications).map(|_| None).collect(),
            missing: replications,
            warm_up,
            cut: (warm_up == WarmUp::Phases).then_some(nothing),
            waiting: Vec::new(),
            unseen: replications.min(LOOKED_AT),
            times: Histogram::new(),
        }
    }

    /// Takes replication number `r`.
    pub fn take(&mut self, r: u64, replication: Replication, course: Course) {
        self.missing -= 1;
        self.replications[r as usize] = Some((replication, None));
        if r < LOOKED_AT {
            self.unseen -= 1;
        }
        self.waiting.push((r, course));
        if self.cut.is_none() && self.unseen == 0 {
            let looked_at = self.waiting.iter().filter(|(r, _)| *r < LOOKED_AT);
            self.cut = Some(match self.warm_up {
                WarmUp::Nothing => Cut::TooFew,
                _ => Course::cut_of(looked_at.map(|(_, course)| course)),
            });
        }
        let Some(cut) = self.cut else { return };
        let alone = self.replications.len() == 1;
        for (r, course) in self.waiting.drain(..) {
            if let (Some((of, times)), Some((_, told))) =
                (numbers(&course, &cut, alone), &mut self.replications[r as usize])
            {
                self.times.merge(&times);
                *told = Some(of);
            }
        }
    }

    /// Whether all have come.
    pub fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// The point of these values.
    pub fn finish(self, values: &[String]) -> Done {
        let left_out = match self.cut {
            Some(Cut::Found(prefix)) => prefix.observations,
            _ => 0,
        };
        let all: Vec<(Replication, Option<Numbers>)> = self.replications.into_iter().flatten().collect();
        let runs = || all.iter().map(|(replication, _)| replication);
        let number = |i: usize| -> Vec<Number> {
            all.iter().filter_map(|(_, told)| Some(told.as_ref()?[i])).collect()
        };
        let told: [Vec<Number>; NUMBERS.len()] = std::array::from_fn(number);
        let rate =
            |of: fn(&Replication) -> u64| of_values(runs().filter_map(|r| r.per_second(of(r))).collect());
        let named = NUMBERS.iter().zip(&told);
        let point = Point {
            values: values.to_vec(),
            n: runs().map(|r| r.counts.n).sum(),
            response: named.filter_map(|((name, _), of)| Some(((*name).to_owned(), estimate(of)?))).collect(),
            offered: rate(|r| r.counts.n),
            completed: rate(|r| r.counts.completed),
            failed: of_values(runs().map(Replication::failed).collect()).unwrap_or_default(),
            steady: runs().filter(|r| r.steady == Some(true)).count() as u64,
            cut_share: runs().map(|r| r.cut_share(left_out)).sum::<f64>() / all.len() as f64,
            curve: curve(&self.times),
            ..Point::default()
        };
        let whole = |of: &Vec<Number>| of.len() == all.len();
        let values =
            told.map(|of| if whole(&of) { of.iter().map(|n| n.value).collect() } else { Vec::new() });
        Done { point, values }
    }
}
