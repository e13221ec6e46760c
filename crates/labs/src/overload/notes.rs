//! What is to be said about the simulated numbers: every sentence is made of them.

use super::plays::{BACKLOG, Played, SOCKETS, USERS, system};
use super::published::{BURST_COSTS_MS, BURSTS, CAPACITY, COSTS_MS, LINEAR_UP_TO, MEANS, TIMEOUT_S};
use super::theory;
use crate::Range;
use headway_base::Nanos;
use headway_report::format::{count, plural};

/// Rates within this share of the capacity have levelled off at it.
pub const LEVEL: f64 = 0.01;
/// A simulated rate this far (per second) from its formula is worth a word.
const APART: f64 = 0.5;

/// Every sentence.
pub fn notes(all: &[Played]) -> Vec<String> {
    [level(all), pressure(all), costs(), bursts(all)].into_iter().flatten().collect()
}

fn mean(all: &[Played], of: impl Fn(&Played) -> f64) -> Option<f64> {
    Range::over(all, of).map(|range| range.mean)
}

/// Simple clients: whether what they establish levels off, and what the others send.
fn level(all: &[Played]) -> Option<String> {
    let established: Vec<f64> =
        (0..USERS.len()).map(|i| mean(all, |p| p.simple[i].established)).collect::<Option<_>>()?;
    let resent = mean(all, |p| p.simple[USERS.len() - 1].resent)?;
    Some(simple_sentence("Simulated", &USERS, &established, resent, CAPACITY, system(Nanos::ZERO).admits()))
}

/// The sentence about simple clients; `resent` is of the most clients.
pub fn simple_sentence(
    how: &str,
    users: &[u32],
    established: &[f64],
    resent: f64,
    capacity: f64,
    admits: u32,
) -> String {
    let near = |x: &f64| (x / capacity - 1.0).abs() <= LEVEL;
    let from = established.iter().rposition(|x| !near(x)).map_or(0, |at| at + 1);
    let most = users.last().copied().unwrap_or(0);
    let levels = match users.get(from) {
        Some(first) => format!(
            "from {} on {:.1} to {:.1} connections/s are established, however many there are; the capacity is {capacity:.0}/s",
            plural(u64::from(*first), "simple client"),
            established[from..].iter().copied().fold(f64::INFINITY, f64::min),
            established[from..].iter().copied().fold(0.0, f64::max),
        ),
        None => format!(
            "{} establish {:.1} connections/s, not the capacity of {capacity:.0}/s",
            plural(u64::from(most), "simple client"),
            established.last().copied().unwrap_or(0.0)
        ),
    };
    let outside = match most.saturating_sub(admits) {
        0 => "all of them are admitted".to_owned(),
        n => format!(
            "of {} the {} beyond the queue add {resent:.1} SYN/s, {:.1} % of the capacity, because each waits longer from one SYN to \
             the next",
            count(u64::from(most)),
            count(u64::from(n)),
            100.0 * resent / capacity
        ),
    };
    format!("{how}: {levels}; {outside}.")
}

/// S-Clients: the line, and how far beyond capacity it goes.
fn pressure(all: &[Played]) -> Option<String> {
    let points: Vec<(f64, f64)> = (0..SOCKETS.len())
        .map(|i| Some((f64::from(SOCKETS[i]), mean(all, |p| p.held[i].syns)?)))
        .collect::<Option<_>>()?;
    let last = SOCKETS.len() - 1;
    let served = mean(all, |p| p.held[last].served)?;
    Some(format!(
        "Simulated S-Clients: {} The paper's followed the line up to {}/s; then the clients' processors ended it.",
        held_sentence(&points, served, CAPACITY),
        count(LINEAR_UP_TO as u64)
    ))
}

/// The sentence about S-Clients, by sockets and SYN/s.
pub fn held_sentence(points: &[(f64, f64)], served: f64, capacity: f64) -> String {
    let (sockets, syns) = points.last().copied().unwrap_or((0.0, 0.0));
    format!(
        "each socket adds {:.3} SYN/s (1/T = {:.3}); {} of them send {}/s, {:.1} times the capacity, while {served:.1}/s are served.",
        slope(points),
        1.0 / TIMEOUT_S,
        count(sockets as u64),
        count(syns.round() as u64),
        syns / capacity
    )
}

/// Least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let of = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / n;
    let (x, y) = (of(|p| p.0), of(|p| p.1));
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let xx: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    xy / xx
}

/// SYN/s at which 5 % less than the capacity is served.
pub fn five_percent(capacity: f64, cost_s: f64) -> f64 {
    (1.0 - 0.95 * (1.0 - cost_s * capacity)) / cost_s
}

fn costs() -> Option<String> {
    let of = |ms: &f64| {
        let cost = ms / 1e3;
        format!(
            "{ms} ms: 5 % less is served at {:.0} SYN/s, nothing at {:.0}",
            five_percent(CAPACITY, cost),
            1.0 / cost
        )
    };
    Some(format!(
        "By the law for a cost per dropped SYN of {}.",
        COSTS_MS.iter().map(of).collect::<Vec<_>>().join("; ")
    ))
}

/// What bursts cost, and how far the simulation is from the formula.
fn bursts(all: &[Played]) -> Option<String> {
    let cases: Vec<(f64, f64)> = BURST_COSTS_MS.iter().flat_map(|ms| MEANS.map(|mean| (*ms, mean))).collect();
    let mut furthest: Option<(f64, String)> = None;
    for (i, (ms, rate)) in cases.iter().enumerate() {
        for (j, pair) in BURSTS.iter().enumerate() {
            let apart = mean(all, |p| p.bursts[i][j])? - theory::fluid(CAPACITY, ms / 1e3, *rate, *pair);
            if furthest.as_ref().is_none_or(|(most, _)| apart.abs() > most.abs()) {
                furthest = Some((
                    apart,
                    format!(
                        "{rate:.0}/s, {} times that for {:.0} % of the time, {ms} ms",
                        pair.0,
                        100.0 * pair.1
                    ),
                ));
            }
        }
    }
    let (apart, place) = furthest?;
    let explained = if apart.abs() < APART {
        format!("nowhere further than {APART}/s from it")
    } else if apart > 0.0 {
        format!(
            "at most {apart:+.1}/s from it ({place}): a burst leaves up to {} connections in the queue, which are served after it",
            BACKLOG + 1
        )
    } else {
        format!(
            "at most {apart:+.1}/s from it ({place}): Poisson arrivals near the capacity fill the queue at times without a burst"
        )
    };
    let last = MEANS.len() - 1;
    let [free, dear] = [last, cases.len() - 1].map(|i| mean(all, |p| p.bursts[i][BURSTS.len() - 1]));
    let (times, share) = BURSTS[BURSTS.len() - 1];
    Some(format!(
        "Bursts: of a mean of {:.0}/s, {times} times that for {:.0} % of the time, {:.1}/s are served when dropped SYNs cost nothing, \
         {:.1}/s when each costs {} ms. The formula leaves out what a burst leaves behind; the simulation is {explained}.",
        MEANS[last],
        100.0 * share,
        free?,
        dear?,
        BURST_COSTS_MS[BURST_COSTS_MS.len() - 1],
    ))
}
