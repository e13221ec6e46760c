//! What is to be said about the numbers: each sentence is chosen by the intervals of the replications and the long runs.

use super::cases::{CASES, Case, Way};
use super::play::All;
use super::{COMPARED, named};
use crate::Range;
use crate::latencies::{MEAN, MEDIAN, QUANTITIES};
use crate::words::{Sign, listed, rounded, too_few};
use headway_report::format::{count, plural, time};
use headway_workload::model::Ties;
use std::fmt::Write as _;

const EVEN: Way = Way::Even(Ties::First);
const POOL: Way = Way::OnePool(Ties::First);
const POOL_RANDOM: Way = Way::OnePool(Ties::Random);
const POOLS: Way = Way::Pools(Ties::First);

/// Every sentence.
pub fn notes(all: &All) -> Vec<String> {
    let notes =
        [figures(all), ties(all), other_ties(all), same_requests(all), blocks(all), short(all), theory(all)];
    notes.into_iter().flatten().collect()
}

fn ms(x: f64) -> String {
    format!("{} ms", rounded(x, 1))
}

/// How long a difference is, with its interval, and of which sign: `12.3 ms [12.0, 12.6] longer`.
fn apart(range: &Range) -> String {
    let places = if range.mean.abs() < 1.0 { 3 } else { 1 };
    let mean = range.mean;
    let Some([low, high]) = range.ci else {
        return format!("apart by {} ms in one replication", rounded(mean, places));
    };
    let interval = |mean: f64, low: f64, high: f64| {
        let [mean, low, high] = [mean, low, high].map(|x| rounded(x, places));
        format!("{mean} ms [{low}, {high}]")
    };
    match Sign::of(range) {
        Sign::Above => format!("{} longer", interval(mean, low, high)),
        Sign::Below => format!("{} shorter", interval(-mean, -high, -low)),
        Sign::Unknown => format!("not known to differ ({})", interval(mean, low, high)),
    }
}

/// How many of a row's printed figures lie within 5-95 %; none where that is not known.
fn within(all: &All, case: &Case) -> Option<usize> {
    let held = |(number, figure): (usize, f64)| all.range(case.way, number)?.holds(figure);
    let held: Option<Vec<bool>> = case.published?.into_iter().enumerate().map(held).collect();
    Some(held?.into_iter().filter(|&held| held).count())
}

/// Whether the printed figures are like the replications.
fn figures(all: &All) -> Option<String> {
    if let Some(few) = too_few(all.replications.len() as u64, "replication") {
        return Some(format!(
            "The published figures are one run of an unknown seed. How they rank among others is not known: {few}."
        ));
    }
    let (mut printed, mut out, mut beyond) = (0, Vec::new(), Vec::new());
    for case in CASES.iter().filter(|case| case.faithful) {
        for (number, figure) in case.published?.into_iter().enumerate() {
            let (range, rank) = (all.range(case.way, number)?, all.rank(case.way, number)?);
            printed += 1;
            if range.holds(figure)? {
                continue;
            }
            let name = format!("{} / {}", case.name, QUANTITIES[number].name);
            if rank == 0.0 || rank == 1.0 {
                beyond.push(format!("{name} {}", if rank == 0.0 { "below" } else { "above" }));
            } else {
                out.push(format!("{name} at {:.1} %", 100.0 * rank));
            }
        }
    }
    let mut text = format!(
        "The published figures are one run of an unknown seed. Of the {printed} of them {} lie within 5-95 % of {} (ties to \
         the first server)",
        printed - out.len() - beyond.len(),
        plural(all.replications.len() as u64, "replication")
    );
    if !out.is_empty() {
        write!(text, "; further out are {}", listed(&out)).ok()?;
    }
    match beyond.len() {
        0 => text.push_str("; none is beyond all of them."),
        _ => write!(text, "; beyond all of them are {}.", listed(&beyond)).ok()?,
    }
    Some(text)
}

/// What ties make of several balancers over one pool.
fn ties(all: &All) -> Option<String> {
    let case = |way: Way| CASES.iter().find(|case| case.way == way);
    let (first, drawn) = (case(POOL)?, case(POOL_RANDOM)?);
    let (fits, fits_drawn) = (within(all, first), within(all, drawn));
    let of_5 =
        |fits: Option<usize>, rest: &str| fits.map_or(String::new(), |n| format!(", and {n} of {rest}"));
    let printed = [first.published?[MEDIAN], case(Way::Random)?.published?[MEDIAN]];
    let row = |way: Way| {
        let difference = all.difference((way, Way::Random), MEDIAN)?;
        Some((all.range(way, MEDIAN)?, difference))
    };
    let ((median, against), (median_drawn, against_drawn)) = (row(POOL)?, row(POOL_RANDOM)?);
    let verdict = match (Sign::of(&against), Sign::of(&against_drawn)) {
        (Sign::Above, Sign::Below) if fits > fits_drawn => {
            "So both can be had: the figures are those of ties to the first server, where each balancer fills the same \
             servers first and sees none of the others' requests; the text holds for random ties."
        }
        (Sign::Above, Sign::Below) => {
            "So ties decide which is better, but the figures do not tell which they were."
        }
        (Sign::Below, Sign::Below) => "Here it is better than random however ties go, as the text says.",
        (Sign::Above, Sign::Above) => "Here it is worse than random however ties go, as the figures say.",
        _ => "Which of the two is right is not decided here.",
    };
    Some(format!(
        "{} balancers over one pool: the published text has them better than random, the published figures worse (median {} \
         against {}). With ties to the first server the median is {} (against random's on the same requests: {}){}; with \
         random ties it is {} ({}){}. {verdict}",
        all.setting.balancers,
        ms(printed[0]),
        ms(printed[1]),
        ms(median.mean),
        apart(&against),
        of_5(fits, "the 5 figures lie within 5-95 %"),
        ms(median_drawn.mean),
        apart(&against_drawn),
        of_5(fits_drawn, "5 do")
    ))
}

/// Whether ties matter where a balancer sees everything.
fn other_ties(all: &All) -> Option<String> {
    let pairs = [(EVEN, Way::Even(Ties::Random)), (POOLS, Way::Pools(Ties::Random))];
    let mut said = Vec::new();
    let mut known = false;
    for pair in pairs {
        let difference = all.difference(pair, MEAN)?;
        known |= Sign::of(&difference) != Sign::Unknown;
        let [low, high] = difference.ci?;
        let [mean, low, high] = [difference.mean, low, high].map(|x| rounded(x, 2));
        said.push(format!("{} {mean} ms [{low}, {high}]", named(pair.0)));
    }
    let verdict = if known { "ties make a difference too" } else { "ties make no known difference" };
    Some(format!(
        "Where a balancer sees every request of its servers {verdict}; mean with ties to the first less that with random \
         ones: {}.",
        listed(&said)
    ))
}

/// How far the other ways are from the even one, and what the common draws are worth.
fn same_requests(all: &All) -> Option<String> {
    let even = all.range(EVEN, MEDIAN)?;
    let mut said = Vec::new();
    for way in [Way::RoundRobin, Way::Random, POOLS, Way::OneQueue] {
        let (difference, one) = (all.difference((way, EVEN), MEDIAN)?, all.range(way, MEDIAN)?);
        let (paired, independent) = (difference.sd?, libm::hypot(one.sd?, even.sd?));
        let worth =
            if paired > 0.0 { format!(" ({:.1} times)", independent / paired) } else { String::new() };
        said.push(format!("{} {}{worth}", named(way), apart(&difference)));
    }
    Some(format!(
        "On the same arrivals and demands the median is, against even's {} (in brackets: how many times wider the interval would \
         be without common draws): {}.",
        ms(even.mean),
        said.join("; ")
    ))
}

/// What it costs to divide the servers among the balancers, and what it costs not to.
fn blocks(all: &All) -> Option<String> {
    let (alone, shared) = (all.difference((POOLS, EVEN), MEAN)?, all.difference((POOLS, POOL_RANDOM), MEAN)?);
    let n = all.setting.balancers;
    let verdict = match (Sign::of(&alone), Sign::of(&shared)) {
        (Sign::Above, Sign::Below) => {
            "servers that a balancer cannot use cost less than requests that it cannot see"
        }
        (Sign::Above, Sign::Above) => {
            "servers that a balancer cannot use cost more than requests that it cannot see"
        }
        (Sign::Above, Sign::Unknown) => "dividing the servers costs something, as sharing them unseen does",
        (Sign::Unknown, Sign::Below) => "dividing the servers is not known to cost anything",
        _ => "nothing is known to be lost by dividing the servers",
    };
    Some(format!(
        "{} with servers of their own ({} each): the mean is, against one balancer over all, {}, and against as many over one \
         pool with random ties {}: {verdict}.",
        plural(u64::from(n), "balancer"),
        all.setting.servers / n,
        apart(&alone),
        apart(&shared)
    ))
}

/// Whether a replication is long enough to tell of the steady state.
fn short(all: &All) -> Option<String> {
    let mut behind = Vec::new();
    for case in &CASES {
        let (range, steady) = (all.range(case.way, MEAN)?, all.steady(case.way, MEAN)?);
        if steady.exceeds(&range) {
            behind.push((
                1.0 - range.mean / steady.mean,
                format!("{} {} of {}", case.name, ms(range.mean), ms(steady.mean)),
            ));
        }
    }
    behind.sort_by(|a, b| b.0.total_cmp(&a.0));
    let behind: Vec<String> = behind.into_iter().map(|(_, said)| said).collect();
    let setting = &all.setting;
    let length = format!(
        "{} requests take {}; a server at random remembers where it began for {} (time constant)",
        count(setting.requests as u64),
        time(setting.requests as f64 / setting.rate),
        time(setting.relaxation_s())
    );
    Some(if behind.is_empty() {
        format!("{length}. No row's mean is known to be below that of its steady state.")
    } else {
        format!(
            "{length}. So the published runs are too short to tell of the steady state: known to be below it are the means of \
             {}.",
            listed(&behind)
        )
    })
}

/// Whether the steady state is that of the formulas.
fn theory(all: &All) -> Option<String> {
    let (mut n, mut out) = (0, Vec::new());
    for case in &CASES {
        let theory = all.setting.theory(case.way);
        for number in COMPARED {
            let (Some(exact), Some(steady)) = (theory[number], all.steady(case.way, number)) else {
                continue;
            };
            n += 1;
            if steady.above(exact) || steady.below(exact) {
                let [low, high] = steady.ci?;
                let name = QUANTITIES[number].name;
                out.push(format!("{} / {name} ({exact:.1} beside [{low:.1}, {high:.1}])", case.name));
            }
        }
    }
    if n == 0 {
        return None;
    }
    let expected = "one in twenty is to be expected outside";
    Some(if out.is_empty() {
        format!("All {n} numbers that formulas have lie within the 95 % intervals of the steady state.")
    } else {
        format!(
            "Of the {n} numbers that formulas have {} lie outside the 95 % intervals of the steady state ({expected}): {}.",
            out.len(),
            listed(&out)
        )
    })
}
