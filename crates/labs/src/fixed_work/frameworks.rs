//! O'Hara's two lists: his frameworks by the time that fixed work takes, and by the highest rate of users that keeps p99 within the
//! bound; his printed numbers beside ours, and whether the lists agree.
//!
//! Fixed work meets a framework that has just been started, and is slow at first. At a rate it is warm.

use super::open::{self, knees};
use super::plays::{BOUND_MS, Played, range};
use super::published::{COLD_REQUESTS, FEEDS, FRAMEWORKS};
use super::system::{REQUESTS, SERVERS, workers};
use super::{cell, fixed, quantities};
use crate::words::{listed, within};
use crate::{Cell, Range, Table, TableRow};
use headway_workload::Process;
use headway_workload::model::Cold;

/// A framework, as a system that is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Framework {
    pub name: &'static str,
    /// Mean service time of a worker once warm, exponential.
    pub service_ms: f64,
    /// The first requests take 1 + this times as long; zero: it is warm from the start.
    pub cold: f64,
    /// What O'Hara printed: s to the end of fixed work, users/s within the bound.
    pub printed: [f64; 2],
}

/// What one replication gave of a framework.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    /// s to the end of fixed work.
    pub drain: f64,
    /// The highest rates of users with p99, and p99.99, within the bound; none where the rates played do not show one.
    pub rates: [Option<f64>; 2],
}

/// Rates at which p99 is looked at, as shares of what the framework can serve.
const SHARES: [f64; 7] = [0.80, 0.84, 0.88, 0.92, 0.96, 1.0, 1.04];

/// Plays it once: fixed work from a cold start, and each rate, warm.
///
/// # Errors
/// None: the settings are sound.
pub fn play(of: &Framework, seed: u64) -> anyhow::Result<Listed> {
    let warm = workers(of.service_ms)?;
    let mut started = warm.clone();
    started.cold = (of.cold > 0.0).then_some(Cold { factor: of.cold, requests: COLD_REQUESTS });
    let capacity = 1e3 * f64::from(SERVERS) / of.service_ms / f64::from(REQUESTS);
    let points = SHARES.map(|share| share * capacity).map(|rate| {
        let played = open::play(Process::Poisson, rate, warm.clone(), seed)?;
        Ok((rate, played))
    });
    let points = points.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Listed { drain: fixed::play(&FEEDS[0], started, seed)?.numbers[0], rates: knees(&points, BOUND_MS) })
}

/// What a list puts first: the least time, or the highest rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum List {
    Work,
    Rate,
}

impl List {
    fn of(self, all: &[Played], i: usize) -> Option<Range> {
        range(all, |played| {
            let listed = played.frameworks.get(i)?;
            match self {
                List::Work => Some(listed.drain),
                List::Rate => listed.rates[0],
            }
        })
    }

    fn printed(self, i: usize) -> Range {
        let value = FRAMEWORKS[i].printed[if self == List::Work { 0 } else { 1 }];
        // A printed number has no spread: only an equal one ties with it.
        Range { n: 1, mean: value, p05: None, p95: None, sd: None, ci: Some([value, value]) }
    }

    /// Whether the first is known to stand before the second.
    fn before(self, a: &Range, b: &Range) -> bool {
        match self {
            List::Work => b.exceeds(a),
            List::Rate => a.exceeds(b),
        }
    }
}

/// The two lists of all frameworks; none unless each has both numbers.
struct Lists([Vec<Range>; 2]);

const BOTH: [List; 2] = [List::Work, List::Rate];

impl Lists {
    fn ours(all: &[Played]) -> Option<Lists> {
        let of = |list: List| (0..FRAMEWORKS.len()).map(|i| list.of(all, i)).collect::<Option<Vec<_>>>();
        Some(Lists([of(List::Work)?, of(List::Rate)?]))
    }

    fn printed() -> Lists {
        Lists(BOTH.map(|list| (0..FRAMEWORKS.len()).map(|i| list.printed(i)).collect()))
    }

    fn before(&self, list: List, a: usize, b: usize) -> bool {
        let ranges = &self.0[list as usize];
        list.before(&ranges[a], &ranges[b])
    }

    /// 1 + how many are known to stand before it.
    fn rank(&self, list: List, i: usize) -> usize {
        1 + (0..FRAMEWORKS.len()).filter(|&other| self.before(list, other, i)).count()
    }

    /// Pairs of which neither is known to stand before the other.
    fn ties(&self, list: List) -> Vec<String> {
        pairs()
            .filter(|&(a, b)| !self.before(list, a, b) && !self.before(list, b, a))
            .map(|(a, b)| format!("{} and {}", FRAMEWORKS[a].name, FRAMEWORKS[b].name))
            .collect()
    }

    /// Pairs of which fixed work is known to put the first before the second, and the objective the second before the first.
    fn reversed(&self) -> Vec<(usize, usize)> {
        pairs()
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .filter(|&(a, b)| self.before(List::Work, a, b) && self.before(List::Rate, b, a))
            .collect()
    }
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..FRAMEWORKS.len()).flat_map(|a| (a + 1..FRAMEWORKS.len()).map(move |b| (a, b)))
}

/// Both lists, and the ranks in them. Equal ranks are ties: the intervals touch, or the printed numbers are equal.
pub fn table(all: &[Played]) -> Table {
    let (ours, printed) = (Lists::ours(all), Lists::printed());
    let rank = |list: List, i: usize| Cell {
        published: Some(printed.rank(list, i) as f64),
        replications: ours.as_ref().filter(|_| all.len() > 1).map(|lists| {
            // All replications give one rank, so it has no spread.
            let mean = lists.rank(list, i) as f64;
            Range { n: all.len() as u64, mean, p05: None, p95: None, sd: None, ci: None }
        }),
        ..Cell::default()
    };
    let row = |(i, one): (usize, &Framework)| TableRow {
        name: one.name.to_owned(),
        cells: vec![
            cell(one.printed[0], List::Work.of(all, i)),
            rank(List::Work, i),
            cell(one.printed[1], List::Rate.of(all, i)),
            rank(List::Rate, i),
            Cell::observed(range(all, |played| played.frameworks.get(i)?.rates[1])),
        ],
    };
    Table {
        title: format!(
            "Frameworks: the time that fixed work takes from a cold start; the highest users/s with p99 <= {BOUND_MS} ms, warm; \
             ranks by work and by rate; the highest users/s with p99.99 <= {BOUND_MS} ms"
        ),
        key: "",
        source: "O'Hara",
        quantities: quantities([
            ("work s", 2),
            ("by work", 0),
            ("users/s", 1),
            ("by rate", 0),
            ("p99.99", 1),
        ]),
        rows: FRAMEWORKS.iter().enumerate().map(row).collect(),
        spread: true,
    }
}

/// What the two lists say, whether they agree, and whether the printed ones do.
pub fn notes(all: &[Played]) -> Vec<String> {
    let mut notes = kneeless(all);
    let Some(ours) = Lists::ours(all) else { return notes };
    let printed = Lists::printed();
    notes.extend([
        format!("Frameworks by fixed work: {}.", said(&ours, List::Work, "s")),
        format!("By the highest rate with p99 <= {BOUND_MS} ms: {}.", said(&ours, List::Rate, "users/s")),
    ]);
    let (here, there) = (ours.reversed(), printed.reversed());
    notes.push(if here.is_empty() {
        "The two lists do not contradict each other: no framework that is known to be faster in one is known to be slower in the other."
            .to_owned()
    } else {
        format!("The two lists disagree: {}.", contradictions(&here))
    });
    notes.push(match (here == there, there.is_empty()) {
        (true, true) => "O'Hara's printed lists do not contradict each other either.".to_owned(),
        (true, false) => "O'Hara's printed lists disagree on the same pairs.".to_owned(),
        (false, true) => "O'Hara's printed lists do not contradict each other.".to_owned(),
        (false, false) => format!("O'Hara's printed lists disagree otherwise: {}.", contradictions(&there)),
    });
    let ties = printed.ties(List::Work);
    let told: Vec<String> = ties.iter().filter(|tie| !ours.ties(List::Work).contains(tie)).cloned().collect();
    if !told.is_empty() {
        notes.push(format!(
            "By fixed work O'Hara printed the same for {}; here their intervals do not touch.",
            listed(&told)
        ));
    }
    notes
}

/// The frameworks of which some replications show no highest rate: their means are of the others.
fn kneeless(all: &[Played]) -> Vec<String> {
    let of = |(i, one): (usize, &Framework)| {
        let played = all.iter().filter_map(|played| played.frameworks.get(i));
        let none = played.filter(|listed| listed.rates[0].is_none()).count();
        (none > 0).then(|| {
            format!(
                "{}: {none} of {} replications show no highest rate with p99 <= {BOUND_MS} ms among the rates played; they are left out.",
                one.name,
                all.len()
            )
        })
    };
    FRAMEWORKS.iter().enumerate().filter_map(of).collect()
}

/// The frameworks of a list in order, each with its interval; ties at the end.
fn said(lists: &Lists, list: List, unit: &str) -> String {
    let ranges = &lists.0[list as usize];
    let mut order: Vec<usize> = (0..FRAMEWORKS.len()).collect();
    order.sort_by(|&a, &b| {
        let ascending = ranges[a].mean.total_cmp(&ranges[b].mean);
        if list == List::Work { ascending } else { ascending.reverse() }
    });
    let each: Vec<String> =
        order.iter().map(|&i| format!("{} {} {unit}", FRAMEWORKS[i].name, within(&ranges[i], 1))).collect();
    let ties = lists.ties(list);
    let tied = if ties.is_empty() {
        String::new()
    } else {
        format!("; the intervals do not tell apart: {}", ties.join(", "))
    };
    format!("{}{tied}", listed(&each))
}

fn contradictions(pairs: &[(usize, usize)]) -> String {
    let of = |&(a, b): &(usize, usize)| {
        let [a, b] = [a, b].map(|i| FRAMEWORKS[i].name);
        format!("{a} is done with fixed work before {b}, and {b} bears the higher rate")
    };
    pairs.iter().map(of).collect::<Vec<_>>().join("; ")
}
