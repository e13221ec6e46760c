//! What is to be said about the numbers: each sentence is chosen by the intervals of the replications.

use super::fixed::USERS;
use super::open::Open;
use super::plays::{BOUND_MS, EVEN_AT, Played, at, range};
use super::published::{FEEDS, LOOPS};
use super::system::{CAPACITY, REQUESTS, SERVERS};
use crate::Range;
use crate::words::single;

/// Requests that are sent at less than this share of what users would send were they not held up: feedback.
const FEEDBACK: f64 = 0.97;
/// A response time is many times another if it is more than twice as long.
const MANY: f64 = 2.0;

/// Every sentence.
pub fn notes(all: &[Played]) -> Vec<String> {
    if all.len() < 2 {
        return vec![single()];
    }
    let notes = [
        same_work(all),
        pool(all),
        loops(all),
        knees(all),
        even(all),
        feedback(all),
        growth(all),
        cut(all),
        stop(all),
    ];
    notes.into_iter().flatten().chain(super::frameworks::notes(all)).collect()
}

/// Users per second that the system can serve.
fn capacity() -> f64 {
    CAPACITY / f64::from(REQUESTS)
}

fn time(ms: f64) -> String {
    headway_report::format::time(ms / 1e3)
}

/// The numbers of a feed of fixed work.
fn feed(all: &[Played], i: usize, j: usize) -> Option<Range> {
    range(all, |p| p.fixed.get(i).map(|f| f.numbers[j]))
}

/// Whether the drain tells the feeds apart, and what the mean response time makes of them.
fn same_work(all: &[Played]) -> Option<String> {
    let of = |j: usize| (0..FEEDS.len()).map(|i| feed(all, i, j)).collect::<Option<Vec<Range>>>();
    let (drains, means) = (of(0)?, of(2)?);
    let extremes = |ranges: &[Range]| {
        let least = ranges.iter().copied().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let most = ranges.iter().copied().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
        Some((least, most))
    };
    let ((quickest, slowest), (shortest, longest)) = (extremes(&drains)?, extremes(&means)?);
    let drained = if slowest.exceeds(&quickest) {
        format!("The same work takes {:.2} to {:.2} s, by how it is fed", quickest.mean, slowest.mean)
    } else {
        format!(
            "The same work takes {:.1} s however it is fed",
            drains.iter().map(|d| d.mean).sum::<f64>() / drains.len() as f64
        )
    };
    let read = if longest.exceeds(&shortest) && longest.mean > MANY * shortest.mean {
        format!(
            "the mean response time of the same system reads {} to {}: it says how the users were let in, not how fast the \
             system is",
            time(shortest.mean),
            time(longest.mean)
        )
    } else {
        format!("the mean response time is {} to {}", time(shortest.mean), time(longest.mean))
    };
    Some(format!("{drained}; {read}."))
}

/// What a pool of connections hides.
fn pool(all: &[Played]) -> Option<String> {
    let i = FEEDS.iter().position(|feed| feed.connections.is_some())?;
    let (mean, blocked, longest) = (feed(all, i, 2)?, feed(all, i, 5)?, feed(all, i, 6)?);
    let connections = FEEDS[i].connections?;
    Some(if blocked.exceeds(&mean) {
        format!(
            "Through a pool of {connections} connections the mean response time is {}, while the {} users waited {} on \
             average, and up to {}, before they could send a first byte.",
            time(mean.mean),
            headway_report::format::count(USERS),
            time(blocked.mean),
            time(longest.mean)
        )
    } else {
        format!(
            "Through a pool of {connections} connections the mean response time is {}; users did not wait longer than that \
             for a connection ({} on average).",
            time(mean.mean),
            time(blocked.mean)
        )
    })
}

/// Whether closed loops show where the system is full.
fn loops(all: &[Played]) -> Option<String> {
    let of = |users: u32, j: usize| {
        let i = LOOPS.iter().position(|(n, _)| *n == users)?;
        range(all, |p| p.loops.get(i).map(|l| l[j]))
    };
    let most = LOOPS.last()?.0;
    let (full, crowded) = (of(SERVERS, 0)?, of(most, 0)?);
    let (short, long) = (of(SERVERS, 1)?, of(most, 1)?);
    Some(if crowded.exceeds(&full) && crowded.mean > 1.05 * full.mean {
        format!(
            "In closed loops the throughput still rises from {SERVERS} to {most} users ({:.0} to {:.0} requests/s).",
            full.mean, crowded.mean
        )
    } else {
        format!(
            "In closed loops the throughput is the same for {SERVERS} users as for {} ({:.0} and {:.0} requests/s) while \
             the mean response time goes from {} to {}: the users wait for each other, and no rate shows where the system is \
             full.",
            headway_report::format::count(u64::from(most)),
            full.mean,
            crowded.mean,
            time(short.mean),
            time(long.mean)
        )
    })
}

fn knees(all: &[Played]) -> Option<String> {
    let quantiles = ["p99", "p99.99"];
    let said: Vec<String> = (0..2)
        .filter_map(|j| {
            let found = all.iter().filter(|p| p.knees()[j].is_some()).count();
            let knee = range(all, |p| p.knees()[j])?;
            // A knee that some replications do not have is no knee of the system, but of those.
            let share = 100.0 * knee.mean / capacity();
            let spread = knee.spread().map_or(String::new(), |[low, high]| format!(" [{low:.1}, {high:.1}]"));
            let part = if found < all.len() { format!(" in {found} of {} replications", all.len()) } else { String::new() };
            Some(format!(
                "{} stays within {BOUND_MS} ms up to {:.1} users/s{spread}, {share:.1} % of what the system can serve{part}",
                quantiles[j], knee.mean
            ))
        })
        .collect();
    Some(match said.as_slice() {
        [] if all.iter().all(|p| p.open.is_empty()) => return None,
        [] => format!("At the rates played neither p99 nor p99.99 crosses {BOUND_MS} ms: no knee."),
        said => format!("{}.", said.join("; ")),
    })
}

/// Whether the arrival process moves the knee.
fn even(all: &[Played]) -> Option<String> {
    let even = range(all, |p| p.even.as_ref().map(Open::p99))?;
    let poisson = at(all, EVEN_AT, Open::p99)?;
    let numbers = format!(
        "p99 at {EVEN_AT} users/s is {} evenly spaced and {} Poisson",
        time(even.mean),
        time(poisson.mean)
    );
    Some(if poisson.exceeds(&even) {
        let beyond = poisson.above(BOUND_MS) && even.below(BOUND_MS);
        let knee = if beyond { ", one beyond the knee and one below it" } else { "" };
        format!("The arrival process is part of the result: {numbers}{knee}.")
    } else {
        format!("Evenly spaced users are not known to fare better than Poisson ones: {numbers}.")
    })
}

/// From which rate on the system holds its users back.
fn feedback(all: &[Played]) -> Option<String> {
    let rates: Vec<f64> = all.first()?.open.iter().map(|(rate, _)| *rate).collect();
    let from = |is: &dyn Fn(f64) -> bool| {
        // From the first rate on above which it is so at all.
        let last_not = rates.iter().rposition(|&rate| !is(rate));
        rates.get(last_not.map_or(0, |at| at + 1)).copied()
    };
    let held = from(&|rate| at(all, rate, |o| o.numbers[2]).is_some_and(|r| r.below(FEEDBACK)));
    let grows = from(&|rate| at(all, rate, |o| o.growth).is_some_and(|r| r.above(0.0)));
    if rates.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if let Some(rate) = grows {
        let growth = at(all, rate, |o| o.growth)?;
        parts.push(format!(
            "from {rate} users/s on the number of active users grows through the hold (by {:.1} a second there)",
            growth.mean
        ));
    }
    if let Some(rate) = held {
        let share = at(all, rate, |o| o.numbers[2])?;
        parts.push(format!(
            "from {rate} on fewer than {:.0} % of the requests are sent that the users came for ({:.1} % there)",
            100.0 * FEEDBACK,
            100.0 * share.mean
        ));
    }
    Some(match parts.as_slice() {
        [] => format!(
            "No feedback at {} to {} users/s: requests go out as users come.",
            rates[0],
            rates[rates.len() - 1]
        ),
        parts => format!(
            "Feedback ({:.1} users/s can be served): {}. Users begin as planned all the while: who counts those alone sees \
             none of it.",
            capacity(),
            parts.join("; ")
        ),
    })
}

/// Past saturation.
fn growth(all: &[Played]) -> Option<String> {
    let of = |j: usize| range(all, |p| Some(p.slopes()[j]).filter(|s| s.is_finite()));
    let (mean, p99) = (of(0)?, of(1)?);
    Some(if mean.above(0.0) && p99.above(0.0) {
        format!(
            "Past saturation a hold of 120 s adds {:.0} ms to the mean and {:.0} ms to p99 for every user/s more: the longer \
             the test, the worse the number.",
            mean.mean, p99.mean
        )
    } else {
        format!(
            "Response times are not known to grow with the rate beyond saturation ({:.0} ms per user/s, p99 {:.0} ms).",
            mean.mean, p99.mean
        )
    })
}

/// What is lost where counting stops with the hold.
fn cut(all: &[Played]) -> Option<String> {
    let rate = all.first()?.open.last()?.0;
    let (within, whole) = (at(all, rate, |o| o.numbers[3])?, at(all, rate, |o| o.to_the_end[0])?);
    let numbers = format!(
        "at {rate} users/s the mean is {} of what was answered within the hold and {} to the end of each session",
        time(within.mean),
        time(whole.mean)
    );
    Some(if whole.exceeds(&within) {
        format!("Who stops counting with the hold leaves the longest waits out: {numbers}.")
    } else {
        format!("It makes no difference here whether counting stops with the hold: {numbers}.")
    })
}

/// What a closed load makes of a stop.
fn stop(all: &[Played]) -> Option<String> {
    let of = |i: usize, j: usize| range(all, |p| Some(p.stop[i][j]));
    let (open, closed, longest) = (of(0, 2)?, of(1, 2)?, of(1, 3)?);
    let numbers = format!("p99 is {} open and {} closed", time(open.mean), time(closed.mean));
    Some(if open.exceeds(&closed) && open.mean > MANY * closed.mean {
        format!(
            "Of a stop {numbers}: the closed users wait for the system, so that it meets only as many requests as there are \
             users (the longest takes {}).",
            time(longest.mean)
        )
    } else {
        format!("The open and the closed load tell the same of the stop: {numbers}.")
    })
}
