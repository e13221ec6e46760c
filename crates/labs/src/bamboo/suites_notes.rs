//! What is to be said about timelike's later suites: each sentence is chosen by the intervals of the replications.

use super::published::{NUMBERS, REPLICATIONS};
use super::suites::{CASES, OK, Played, SWEPT, Swept, Way};
use super::system::{DOWN_S, UP_S};
use crate::Range;
use crate::latencies::{MEAN, MEDIAN, QUANTITIES};
use crate::words::{Sign, listed, single, within};
use headway_report::format::count;
use headway_workload::model::Ties;

/// So many standard errors of a difference are more than chance gives.
const FAR: f64 = 4.0;

/// Every sentence.
pub fn notes(all: &[Played]) -> Vec<String> {
    let notes = [
        agreement(all),
        routers(all),
        one_by_one(all),
        holes(all),
        holds(all),
        retries(all),
        faulty_routers(all),
    ];
    notes.into_iter().flatten().collect()
}

fn place(way: Way) -> Option<usize> {
    CASES.iter().position(|case| case.way == way)
}

fn range(all: &[Played], way: Way, number: usize) -> Option<Range> {
    super::suite(all, place(way)?, number)
}

fn difference(all: &[Played], (one, other): (Way, Way), number: usize) -> Option<Range> {
    let (one, other) = (place(one)?, place(other)?);
    Range::of(all.iter().filter_map(|played| Some(played[one]?[number] - played[other]?[number])).collect())
}

const fn even(ties: Ties, faulty: bool, hold: bool) -> Way {
    Way::Even { ties, faulty, hold }
}

/// How far a mean is from the independent simulation's, in standard errors of the difference, by the spread of both taken
/// together; none where its own does not vary (but for one replication in twenty).
pub fn distance(all: &[Played], row: usize, number: usize) -> Option<f64> {
    let figures = CASES[row].reference?;
    let range = super::suite(all, row, number)?;
    let (n, ours, theirs) = (range.n as f64, range.sd?, figures.sd(number));
    let both = ((n - 1.0) * ours * ours + (REPLICATIONS - 1.0) * theirs * theirs) / (n + REPLICATIONS - 2.0);
    let error = (both * (1.0 / n + 1.0 / REPLICATIONS)).sqrt();
    // Its means are rounded to so much, relatively.
    let rounded = 5e-6 * figures.mean[number];
    let apart = ((range.mean - figures.mean[number]).abs() - rounded).max(0.0);
    (theirs > 0.0).then(|| apart / error)
}

/// Whether the numbers are the independent simulation's.
fn agreement(all: &[Played]) -> Option<String> {
    if all.len() < 2 {
        return Some(single());
    }
    let name = |number: usize| match number {
        OK => "ok",
        n if n < QUANTITIES.len() => QUANTITIES[n].name,
        _ => "a rate",
    };
    let mut found: Vec<(f64, String)> = Vec::new();
    for (row, case) in CASES.iter().enumerate() {
        for number in 0..NUMBERS {
            if let Some(distance) = distance(all, row, number) {
                found.push((distance, format!("{} / {} ({distance:.1})", case.name, name(number))));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let furthest = found.first()?;
    let out: Vec<String> =
        found.iter().take_while(|(distance, _)| *distance > FAR).map(|(_, name)| name.clone()).collect();
    let n = found.len();
    Some(if out.is_empty() {
        format!(
            "Of {n} means that vary and that an independent simulation of the same definitions gives too, all are within {FAR:.0} \
             standard errors of the difference; the furthest is {}.",
            furthest.1
        )
    } else {
        format!(
            "Of {n} means that vary and that an independent simulation of the same definitions gives too, {} are more than \
             {FAR:.0} standard errors of the difference away: {}.",
            out.len(),
            listed(&out)
        )
    })
}

/// What more routers over one pool make of the median, by ties.
fn routers(all: &[Played]) -> Option<String> {
    let of = |routers: u32, ties: Ties| range(all, Way::Bamboo { routers, ties }, MEDIAN);
    let said = |ties: Ties| {
        let medians: Vec<Range> = [2, 4, 8, 16].into_iter().filter_map(|n| of(n, ties)).collect();
        let (first, last) = (medians.first()?, medians.last()?);
        let shown: Vec<String> = medians.iter().map(|median| format!("{:.0}", median.mean)).collect();
        let rises = last.exceeds(first);
        let way = match (rises, first.exceeds(last)) {
            (true, _) => "rises",
            (_, true) => "falls",
            _ => "is not known to change",
        };
        Some((format!("{way} ({} ms)", listed(&shown)), rises, last.mean / first.mean))
    };
    let ((first, rises, times), (drawn, _, times_drawn)) = (said(Ties::First)?, said(Ties::Random)?);
    let why = if rises && times > 2.0 * times_drawn {
        ": routers that see only their own connections all fill the same servers first"
    } else {
        ""
    };
    Some(format!(
        "From 2 to 16 routers over one pool the median {first} with ties to the first server{why}; with ties at random it {drawn}."
    ))
}

/// Whether ties matter to one router.
fn one_by_one(all: &[Played]) -> Option<String> {
    let apart = difference(all, (even(Ties::First, false, false), even(Ties::Random, false, false)), MEAN)?;
    let known =
        if Sign::of(&apart) == Sign::Unknown { "make no known difference" } else { "make a difference" };
    Some(format!(
        "To a single router ties {known} (mean with ties to the first less that with random ones: {} ms).",
        within(&apart, 2)
    ))
}

/// Whether servers that fail fast draw the requests.
fn holes(all: &[Played]) -> Option<String> {
    let up = UP_S / (UP_S + DOWN_S);
    let (first, drawn) =
        (range(all, even(Ties::First, true, false), OK)?, range(all, even(Ties::Random, true, false), OK)?);
    let drawn_in = match (first.below(up), first.above(up)) {
        (true, _) => "a server that fails at once looks idle, and gets the next request too",
        (_, true) => "servers that fail at once do not draw the requests here",
        _ => "servers that fail at once are not known to draw the requests",
    };
    let ties = match (drawn.exceeds(&first), first.exceeds(&drawn)) {
        (true, _) => "less so",
        (_, true) => "more so",
        _ => "not known to be less so",
    };
    Some(format!(
        "Dynos are up {:.1} % of the time, but of the requests to one router by connections {} % succeed with ties to the first \
         ({drawn_in}), {ties} with random ties ({} %).",
        100.0 * up,
        percent(&first, 2),
        percent(&drawn, 2)
    ))
}

fn percent(share: &Range, places: usize) -> String {
    let scaled = Range { mean: 100.0 * share.mean, ci: share.ci.map(|ci| ci.map(|x| 100.0 * x)), ..*share };
    within(&scaled, places)
}

/// What holding failures is worth.
fn holds(all: &[Played]) -> Option<String> {
    let gain = |ties: Ties| difference(all, (even(ties, true, true), even(ties, true, false)), OK);
    let (first, drawn) = (gain(Ties::First)?, gain(Ties::Random)?);
    let word = |gain: &Range| match Sign::of(gain) {
        Sign::Above => "more",
        Sign::Below => "fewer",
        Sign::Unknown => "not known to be more",
    };
    let median = difference(all, (even(Ties::First, true, true), even(Ties::First, true, false)), MEDIAN)?;
    let cost = if Sign::of(&median) == Sign::Above {
        "; the median is longer, because failures were quick"
    } else {
        ""
    };
    Some(format!(
        "Counting a failed request as outstanding for a second more: of 100 requests {} succeed that did not with ties to the \
         first ({}), and {} with random ties ({}){cost}.",
        percent(&first, 2),
        word(&first),
        percent(&drawn, 2),
        word(&drawn)
    ))
}

/// What many routers come to, against a choice at random.
pub fn swept(all: &[Swept]) -> Option<String> {
    let of = |at: usize| Range::over(all, |swept| swept[at][MEAN]);
    let (last, random) = (SWEPT.len() - 1, SWEPT.len());
    let (one, most, drawn) = (of(0)?, of(last)?, of(random)?);
    let paired = |one: usize, other: usize| Range::over(all, |swept| swept[one][MEAN] - swept[other][MEAN]);
    let (left, way) = (paired(last, random)?, paired(random, 0)?);
    let where_to = match (Sign::of(&left), Sign::of(&way)) {
        (_, Sign::Unknown | Sign::Below) => {
            "a choice at random is not known to be slower than one router".to_owned()
        }
        (Sign::Unknown, _) => "no difference from a choice at random can be told".to_owned(),
        _ => {
            let share = 100.0 * (most.mean - one.mean) / (drawn.mean - one.mean);
            format!(
                "{share:.0} % of the way from one router to a choice at random ({} ms apart)",
                within(&left, 1)
            )
        }
    };
    let means: Vec<String> = (0..SWEPT.len()).filter_map(|at| Some(format!("{:.0}", of(at)?.mean))).collect();
    Some(format!(
        "With ties at random the mean goes from {} ms of one router to {} ms of {} ({} ms in between), and a choice at random has \
         {} ms: {where_to}.",
        within(&one, 1),
        within(&most, 1),
        count(u64::from(SWEPT[last])),
        listed(&means[1..last]),
        within(&drawn, 1)
    ))
}

/// What retries are worth, around one router and around faulty ones.
fn retries(all: &[Played]) -> Option<String> {
    let mut said = Vec::new();
    for (ties, name) in [(Ties::First, "ties to the first"), (Ties::Random, "random ties")] {
        let one = difference(all, (Way::Retried { ties }, even(ties, true, true)), OK)?;
        let faulty = |retried| Way::FaultyRouters { ties, retried, blocks: false };
        let many = difference(all, (faulty(true), faulty(false)), OK)?;
        let word = |gain: &Range| match Sign::of(gain) {
            Sign::Above => "more",
            Sign::Below => "fewer",
            Sign::Unknown => "not known to be more",
        };
        said.push(format!(
            "with {name} of 100 requests {} succeed that did not to one router ({}), and {} to ten faulty routers ({})",
            percent(&one, 2),
            word(&one),
            percent(&many, 2),
            word(&many)
        ));
    }
    Some(format!("Three attempts around all of it: {}.", said.join("; ")))
}

/// Faulty routers over one pool, or each with its own.
fn faulty_routers(all: &[Played]) -> Option<String> {
    let mut said = Vec::new();
    for (ties, name) in [(Ties::First, "ties to the first"), (Ties::Random, "random ties")] {
        let of = |blocks| Way::FaultyRouters { ties, retried: true, blocks };
        let pair = (of(true), of(false));
        let (ok, mean) = (difference(all, pair, OK)?, difference(all, pair, MEAN)?);
        let longer = match Sign::of(&mean) {
            Sign::Above => format!("{} ms longer", within(&mean, 1)),
            Sign::Below => {
                let shorter =
                    Range { mean: -mean.mean, ci: mean.ci.map(|[low, high]| [-high, -low]), ..mean };
                format!("{} ms shorter", within(&shorter, 1))
            }
            Sign::Unknown => format!("not known to differ ({} ms)", within(&mean, 1)),
        };
        let success = match Sign::of(&ok) {
            Sign::Above => "more succeed",
            Sign::Below => "fewer succeed",
            Sign::Unknown => "no fewer or more are known to succeed",
        };
        said.push(format!(
            "with {name} the mean is {longer} and {success} (share apart by {} %)",
            percent(&ok, 3)
        ));
    }
    Some(format!(
        "Faulty routers with dynos of their own, against as many over one pool: {}.",
        said.join("; ")
    ))
}
