//! What is to be said about the live numbers: every sentence is made of them.

use super::super::accept_queue::{Resend, System, Timers};
use super::super::notes::{held_sentence, simple_sentence};
use super::super::plays;
use super::super::published::{CAPACITY, LINEAR_UP_TO};
use super::case::{Clients, Lived};
use super::{Results, bent};
use crate::words::listed;
use crate::{Cell, Quantity, Table, TableRow};
use headway_base::Nanos;
use headway_base::random::{Stream, streams};
use headway_report::format::{count, share};

/// The law holds within this share, or that number of standard errors of the count.
const WITHIN: f64 = 0.01;
const ERRORS: f64 = 3.0;
/// Plays of the simulation that a live number is held against.
const PLAYS: u64 = 40;
/// Served/s has fallen where it is less than this share of what it was.
const FALLEN: f64 = 0.95;

/// Every sentence.
pub fn notes(results: &Results, beside: &[Beside], seed: u64) -> Vec<String> {
    let all = [
        witness(results),
        level(results),
        predicted(beside),
        law(results),
        end(results),
        fall(results),
        bursts(results, seed),
    ];
    all.into_iter().flatten().collect()
}

/// What counted, and what this kernel does with a dropped SYN.
fn witness(results: &Results) -> Option<String> {
    let lived = results.simple.iter().chain(&results.held).next()?;
    let Resend { linear, retries } = lived.resend;
    let times: Vec<String> = (1..=lived.resend.count().min(8))
        .map(|n| format!("{:.0}", lived.resend.after(n).as_secs_f64()))
        .collect();
    let place = if results.private {
        "each case in a network namespace of its own, whose kernel counters count nothing else"
    } else {
        "one case after the other in this machine's network, for this process may make no network namespaces: the kernel's counters \
         count every connection of the machine. `unshare -rn headway lab overload` gives the right to it"
    };
    Some(format!(
        "Live: {place}. SYNs are ActiveOpens + TCPSynRetrans, established connections PassiveOpens. This kernel sends a dropped SYN \
         again after {}, ... s (tcp_syn_linear_timeouts {linear}, tcp_syn_retries {retries}) and gives up after {:.0} s.",
        times.join(", "),
        lived.resend.after(lived.resend.count() + 1).as_secs_f64()
    ))
}

fn users(lived: &Lived) -> u32 {
    match lived.case.clients {
        Clients::Simple(users) => users,
        _ => 0,
    }
}

fn level(results: &Results) -> Option<String> {
    let last = results.simple.last()?;
    let all: Vec<u32> = results.simple.iter().map(users).collect();
    let established: Vec<f64> = results.simple.iter().map(Lived::established).collect();
    Some(simple_sentence("Live", &all, &established, last.resent(), CAPACITY, system_of(last).admits()))
}

/// The server and the kernels of a case.
fn system_of(lived: &Lived) -> System {
    System { backlog: lived.backlog, resend: lived.resend, ..plays::system(Nanos::ZERO) }
}

/// Simple clients live, and the SYNs a second of plays of their simulation: the mean, the fewest, and the most.
pub struct Beside {
    users: u32,
    live: f64,
    mean: f64,
    range: [f64; 2],
    /// Whether the live number is none that a play could have: an event at an edge of the window is no difference.
    outside: bool,
}

/// How well the simulation knows simple clients: it is given the turnarounds and the timers that were measured, and each play has a phase of
/// the timers and draws of its own.
pub fn beside(results: &Results, seed: u64) -> Vec<Beside> {
    let of = |lived: &Lived| {
        let plays = (0..PLAYS).map(|play| {
            let seed = Stream::new(seed, streams::DERIVED).bits(play, 0);
            let mut system = system_of(lived);
            system.timers =
                lived.timers.map(|timers| Timers { phase: Nanos((seed % (1 << 38)) as i64), ..timers });
            plays::simple_with(&system, seed, users(lived), lived.case.window, lived.turnarounds.clone()).syns
        });
        let plays: Vec<f64> = plays.collect();
        let range = plays.iter().fold([f64::INFINITY, 0.0], |[a, b], &x| [f64::min(a, x), f64::max(b, x)]);
        let (edge, live) = (2.0 / lived.seconds, lived.syns());
        Beside {
            users: users(lived),
            live,
            mean: plays.iter().sum::<f64>() / plays.len() as f64,
            range,
            outside: !(range[0] - edge..=range[1] + edge).contains(&live),
        }
    };
    results.simple.iter().map(of).collect()
}

/// The same as a table.
pub fn beside_table(results: &Results, all: &[Beside]) -> Option<Table> {
    let (from, to) = results.simple.first()?.case.window;
    let live = |x: f64| Cell { live: Some(x), ..Cell::default() };
    let row = |one: &Beside| TableRow {
        name: one.users.to_string(),
        cells: [one.live, one.mean, one.range[0], one.range[1], 100.0 * (one.live / one.mean - 1.0)]
            .map(live)
            .to_vec(),
    };
    Some(Table {
        title: format!(
            "Simple clients from {} to {} s, SYN/s: live, and in {PLAYS} plays of the simulation, which is given this kernel's timers and what was \
             measured after each answer: the mean, the fewest, the most, and how far the live number is from the mean",
            from.as_secs_f64(),
            to.as_secs_f64()
        ),
        key: "clients",
        source: super::super::SOURCE,
        quantities: Quantity::all([("live", 1), ("mean", 1), ("least", 1), ("most", 1), ("off %", 2)]),
        rows: all.iter().map(row).collect(),
        spread: false,
    })
}

/// What it comes to.
fn predicted(all: &[Beside]) -> Option<String> {
    let off = |one: &Beside| (one.live / one.mean - 1.0).abs();
    let worst = all.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
    let outside: Vec<String> =
        all.iter().filter(|one| one.outside).map(|one| one.users.to_string()).collect();
    let range = match outside.as_slice() {
        [] => "every live number is within the range of the plays".to_owned(),
        some => format!("outside the range of the plays: {} clients", some.join(", ")),
    };
    Some(format!(
        "The simulation of the same simple clients has a mean within {:.2} % of the live SYN/s (of {} clients); {range}.",
        100.0 * off(worst),
        worst.users
    ))
}

/// Whether S-Clients send D/T and what is established.
fn law(results: &Results) -> Option<String> {
    let straight: Vec<&Lived> = results.held.iter().filter(|lived| !bent(lived)).collect();
    let plain: Vec<&&Lived> = straight
        .iter()
        .filter(|lived| matches!(lived.case.clients, Clients::Held(_, timeout) if timeout == plays::TIMEOUT))
        .collect();
    let points: Vec<(f64, f64)> =
        plain.iter().map(|lived| (f64::from(sockets(lived)), lived.syns())).collect();
    let last = plain.last()?;
    let off = |lived: &Lived| lived.law().map_or(0.0, |law| lived.syns() / law - 1.0);
    let outside: Vec<String> = straight
        .iter()
        .filter(|lived| {
            let allowed = WITHIN.max(ERRORS / (lived.counted.syns() as f64).sqrt());
            off(lived).abs() > allowed
        })
        .map(|lived| name(lived))
        .collect();
    let worst = straight.iter().max_by(|a, b| off(a).abs().total_cmp(&off(b).abs()))?;
    let holds = match outside.as_slice() {
        [] => "within 1 % or three standard errors of the count at each".to_owned(),
        some => format!("further than 1 % and three standard errors of the count at {}", listed(some)),
    };
    let line =
        if points.len() > 1 { held_sentence(&points, last.served, CAPACITY) + " " } else { String::new() };
    Some(format!(
        "Live S-Clients: {line}Beside D/T + established/s, SYN/s is {holds}; the most is {:+.2} % at {}.",
        100.0 * off(worst),
        name(worst)
    ))
}

fn sockets(lived: &Lived) -> u32 {
    match lived.case.clients {
        Clients::Held(sockets, _) => sockets,
        _ => 0,
    }
}

fn name(lived: &Lived) -> String {
    match lived.case.clients {
        Clients::Held(sockets, timeout) if timeout == plays::TIMEOUT => {
            format!("D = {}", count(u64::from(sockets)))
        }
        Clients::Held(sockets, timeout) => {
            format!("D = {} and T = {} s", count(u64::from(sockets)), timeout.as_secs_f64())
        }
        _ => String::new(),
    }
}

/// Where the line ends, and what ends it.
fn end(results: &Results) -> Option<String> {
    let last = results.held.last()?;
    let paper = count(LINEAR_UP_TO as u64);
    let syns = count(last.syns().round() as u64);
    let lacked: Vec<&str> = last.lacked.keys().map(String::as_str).collect();
    if !bent(last) {
        let at_limit = sockets(last) >= results.most_sockets;
        let descriptors = count(headway_live::host::descriptors().soft);
        let why = if at_limit {
            format!("; this process may open no more sockets (descriptor limit {descriptors})")
        } else {
            String::new()
        };
        return Some(format!(
            "The line does not bend up to {syns} SYN/s ({}), where the paper's bent at {paper}/s{why}.",
            name(last)
        ));
    }
    let what = if !lacked.is_empty() {
        format!("attempts failed for want of {}", listed(&lacked))
    } else if last.handling > headway_stats::Tolerances::default().saturated {
        format!(
            "its thread was handling for {} of the time: the processor ends it, as it did in the paper at {paper}/s",
            share(last.handling)
        )
    } else {
        format!(
            "its thread was handling for only {} of the time, and nothing was lacking: what ends it is not known",
            share(last.handling)
        )
    };
    let before = results.held.iter().rev().nth(1);
    let up_to = before.map_or(String::new(), |lived| {
        format!("The line holds up to {} SYN/s ({}). ", count(lived.syns().round() as u64), name(lived))
    });
    let law = last.law()?;
    Some(format!(
        "{up_to}It has bent at {}: {syns} SYN/s where the line says {}. There {what}.",
        name(last),
        count(law.round() as u64)
    ))
}

/// At which rate the server serves less.
fn fall(results: &Results) -> Option<String> {
    // The queue is never empty from the second on: two connections come for each that is served.
    let full: Vec<&Lived> = results.held.iter().filter(|lived| lived.syns() > 1.5 * CAPACITY).collect();
    let normal = full.first()?.served;
    let why = "the server sleeps while it works, so that only a processor that it does not get can slow it";
    match full.iter().find(|lived| lived.served < FALLEN * normal) {
        Some(lived) => Some(format!(
            "Served/s has fallen by 5 % at {} SYN/s ({}): {:.1}/s in place of {normal:.1}/s; {why}.",
            count(lived.syns().round() as u64),
            name(lived),
            lived.served
        )),
        None => {
            let last = full.last()?;
            Some(format!(
                "Served/s does not fall by 5 % up to {} SYN/s, the most that was sent: {:.1}/s at the least, {normal:.1}/s to begin \
                 with; {why}.",
                count(last.syns().round() as u64),
                full.iter().map(|lived| lived.served).fold(f64::INFINITY, f64::min),
            ))
        }
    }
}

/// Bursts beside the simulation of the same arrivals.
fn bursts(results: &Results, seed: u64) -> Option<String> {
    let mut worst: Option<(f64, String, f64)> = None;
    for lived in &results.bursts {
        let Clients::Bursts { mean, pair, period } = lived.case.clients else { continue };
        let seen = plays::bursts_within(&system_of(lived), seed, mean, pair, period, lived.case.window);
        let off = lived.served - seen.served;
        if worst.as_ref().is_none_or(|(most, ..)| off.abs() > most.abs()) {
            let place = format!("{mean:.0}/s, {} times that for {:.0} % of the time", pair.0, 100.0 * pair.1);
            worst = Some((off, place, lived.served));
        }
    }
    let (off, place, served) = worst?;
    Some(format!(
        "Live bursts, one period: served/s is at most {off:+.2}/s from the simulation of the same arrivals, in which dropped SYNs cost \
         nothing ({place}: {served:.1}/s served)."
    ))
}
