//! Overload at the connection level (Banga and Druschel 1997): clients that wait for each connection cannot send more than the
//! server accepts, because the kernel drops the SYNs of the others and sends them again ever more rarely. S-Clients give up
//! early and hold a number of connecting sockets, and so send at any rate.
//!
//! Figures 5 and 6 of the paper, and its experiments beyond capacity, in virtual time and against this machine's kernel.

mod accept_queue;
mod live;
mod notes;
mod plays;
mod published;
mod theory;

use super::{Cell, Lab, Live, Quantity, Range, Report, Table, TableRow, replicate};
use headway_base::Nanos;
use plays::{BACKLOG, Played, SIMPLE_WINDOW, SOCKETS, USERS, system};
use published::{BURST_COSTS_MS, BURSTS, CAPACITY, COSTS_MS, HELD, MEANS, OVERLOAD, TIMEOUT_S};

/// The experiment.
pub struct Overload;

/// The experiment, to be listed.
pub const OVERLOAD_LAB: Overload = Overload;

const SOURCE: &str = "simul.";

/// Tables, by their places.
const SIMPLE_TABLE: usize = 0;
const HELD_TABLE: usize = 1;
const BURSTS_TABLE: usize = 3;

impl Lab for Overload {
    fn name(&self) -> &'static str {
        "overload"
    }

    fn about(&self) -> &'static str {
        "Clients that wait for connections cannot overload a server; S-Clients can (Banga and Druschel 1997, figures 5 and 6)"
    }

    fn replications(&self) -> u64 {
        20
    }

    fn live(&self) -> Option<Live> {
        Some(Live::Always(live::add))
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let all = replicate(seed, replications, Played::new);
        let tables = vec![simple(&all), held(&all), overload(&all), bursts(&all)];
        Ok(Report { tables, notes: notes::notes(&all), ..Report::of(self, seed) })
    }
}

fn cell(published: Option<f64>, theory: Option<f64>, replications: Option<Range>) -> Cell {
    Cell { published, theory, ..Cell::observed(replications) }
}

/// Figure 5.
fn simple(all: &[Played]) -> Table {
    let system = system(Nanos::ZERO);
    let rows = USERS.iter().enumerate().map(|(i, &users)| {
        let (established, resent) =
            (theory::simple(&system, users), theory::resent(&system, users, SIMPLE_WINDOW));
        TableRow {
            name: users.to_string(),
            cells: vec![
                cell(None, Some(established + resent), Range::over(all, |p| p.simple[i].syns)),
                cell(None, Some(established), Range::over(all, |p| p.simple[i].established)),
                cell(None, Some(resent), Range::over(all, |p| p.simple[i].resent)),
            ],
        }
    });
    Table {
        title: format!(
            "Figure 5: simple clients, which wait for each connection, at a server of {CAPACITY:.0}/s with an accept queue of \
             {BACKLOG}; from 60 to 120 s"
        ),
        key: "clients",
        source: SOURCE,
        quantities: Quantity::all([("SYN/s", 1), ("estab/s", 1), ("resent/s", 2)]),
        rows: rows.collect(),
        spread: false,
    }
}

/// Figure 6.
fn held(all: &[Played]) -> Table {
    let rows = SOCKETS.iter().enumerate().map(|(i, &sockets)| {
        let published = HELD.iter().find(|(n, _)| *n == sockets).map(|(_, numbers)| *numbers);
        let capacity = theory::held(CAPACITY, 0.0, sockets, TIMEOUT_S);
        let line = f64::from(sockets) / TIMEOUT_S;
        TableRow {
            name: sockets.to_string(),
            cells: vec![
                cell(published.map(|p| p[0]), Some(line + capacity), Range::over(all, |p| p.held[i].syns)),
                cell(published.map(|p| p[1]), Some(capacity), Range::over(all, |p| p.held[i].established)),
                cell(None, Some(capacity), Range::over(all, |p| p.held[i].served)),
            ],
        }
    });
    Table {
        title: format!(
            "Figure 6: S-Clients that hold D connecting sockets, each given up after T = {TIMEOUT_S} s; theory: D/T + {CAPACITY:.0}"
        ),
        key: "D",
        source: SOURCE,
        quantities: Quantity::all([("SYN/s", 1), ("estab/s", 1), ("served/s", 1)]),
        rows: rows.collect(),
        spread: false,
    }
}

/// Beyond capacity.
fn overload(all: &[Played]) -> Table {
    let rows = OVERLOAD.iter().enumerate().map(|(i, (sockets, published))| TableRow {
        name: sockets.to_string(),
        cells: (0..COSTS_MS.len())
            .map(|j| {
                let law = theory::held(CAPACITY, COSTS_MS[j] / 1e3, *sockets, TIMEOUT_S);
                cell(Some(published[j]), Some(law), Range::over(all, |p| p.overload[i][j]))
            })
            .collect(),
    });
    Table {
        title: "Served per second, by what a dropped SYN costs the server; theory: C (1 - c D/T)".to_owned(),
        key: "D",
        source: SOURCE,
        quantities: Quantity::all([("0.5 ms", 1), ("1 ms", 1), ("2 ms", 1)]),
        rows: rows.collect(),
        spread: false,
    }
}

/// Bursts on a mean.
fn bursts(all: &[Played]) -> Table {
    let cases = BURST_COSTS_MS.iter().flat_map(|ms| MEANS.map(|mean| (*ms, mean)));
    let rows = cases.enumerate().map(|(i, (ms, mean))| TableRow {
        name: burst_row(mean, ms),
        cells: BURSTS
            .iter()
            .enumerate()
            .map(|(j, pair)| {
                let law = theory::fluid(CAPACITY, ms / 1e3, mean, *pair);
                cell(None, Some(law), Range::over(all, |p| p.bursts[i][j]))
            })
            .collect(),
    });
    Table {
        title: "Served per second with bursts: a multiple of the mean rate for a share of each 100 s; theory: nothing of a burst is \
                left over"
            .to_owned(),
        key: "mean, c",
        source: SOURCE,
        quantities: Quantity::all([("2x 20%", 1), ("4x 10%", 1), ("6x 5%", 1), ("6x 10%", 1)]),
        rows: rows.collect(),
        spread: false,
    }
}

fn burst_row(mean: f64, cost_ms: f64) -> String {
    format!("{mean:.0}/s, {cost_ms} ms")
}

#[cfg(test)]
mod tests;
