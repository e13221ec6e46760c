//! The experiments against a server of this machine that accepts late: its kernel drops the SYNs, and its kernel's counters say
//! how many there were.

mod case;
mod notes;

use super::plays::{self, PERIOD, SIMPLE_WINDOW, SOCKETS, TIMEOUT, USERS};
use super::published::{BURSTS, CAPACITY, TIMEOUT_S};
use super::{BURSTS_TABLE, HELD_TABLE, SIMPLE_TABLE, burst_row};
use crate::{Cell, Extent, Quantity, Report, Table, TableRow};
use case::{Case, Clients, Lived};
use headway_base::Nanos;

/// Descriptors that are left to everything else.
const OTHERS: u32 = 500;
/// More sockets, until the line bends: those of the paper end where its clients' processors ended it.
const MORE: [u32; 5] = [2_000, 4_000, 8_000, 12_000, 16_000];
/// The most sockets, given up sooner by this factor each time.
const SOONER: [i64; 3] = [1, 2, 4];
/// The line has bent where less than this share of what it says is sent.
pub(super) const BENT: f64 = 0.95;

/// What is played.
struct Setting {
    users: Vec<u32>,
    simple_window: (Nanos, Nanos),
    sockets: Vec<u32>,
    held_window: (Nanos, Nanos),
    beyond: bool,
    means: Vec<f64>,
    pairs: Vec<(f64, f64)>,
    period: Nanos,
}

impl Setting {
    fn new(extent: Extent) -> Setting {
        let seconds = |from: i64, to: i64| (Nanos::from_secs(from), Nanos::from_secs(to));
        match extent {
            Extent::Full => Setting {
                users: USERS.to_vec(),
                simple_window: SIMPLE_WINDOW,
                sockets: SOCKETS.to_vec(),
                held_window: seconds(3, 13),
                beyond: true,
                means: vec![100.0, 130.0],
                pairs: BURSTS.to_vec(),
                period: PERIOD,
            },
            Extent::Short => Setting {
                users: vec![4, 160],
                simple_window: seconds(2, 5),
                sockets: vec![48, 192],
                held_window: seconds(1, 3),
                beyond: false,
                means: vec![100.0],
                pairs: vec![BURSTS[1]],
                period: Nanos::from_secs(2),
            },
        }
    }
}

/// What it gave.
pub(super) struct Results {
    /// Whether each case had a network namespace of its own.
    private: bool,
    simple: Vec<Lived>,
    held: Vec<Lived>,
    bursts: Vec<Lived>,
    /// Most sockets that this process may hold.
    most_sockets: u32,
}

/// Plays them and adds what they gave to the report.
///
/// # Errors
/// The system refuses what a server or a client needs.
pub fn add(seed: u64, extent: Extent, report: &mut Report) -> anyhow::Result<()> {
    let results = play(&Setting::new(extent), seed)?;
    fill(&results, report);
    let beside = notes::beside(&results, seed);
    report.tables.extend(notes::beside_table(&results, &beside));
    report.tables.push(line(&results));
    report.notes.extend(notes::notes(&results, &beside, seed));
    Ok(())
}

fn play(setting: &Setting, seed: u64) -> anyhow::Result<Results> {
    let private = case::may_be_private();
    let of = |clients, window| Case { clients, capacity: CAPACITY, window, seed };
    let simple = setting.users.iter().map(|users| of(Clients::Simple(*users), setting.simple_window));
    let pairs = setting.means.iter().flat_map(|mean| setting.pairs.iter().map(move |pair| (*mean, *pair)));
    let period = setting.period;
    let bursts = pairs.map(|(mean, pair)| {
        let clients = Clients::Bursts { mean, pair, period };
        of(clients, (Nanos::ZERO, period))
    });
    let together: Vec<Case> = simple.chain(bursts).collect();
    let mut together = case::all(&together, private)?;
    let bursts = together.split_off(setting.users.len());
    // One after the other: these are to find out what a processor can do.
    let most_sockets = most_sockets();
    let mut held = Vec::new();
    for (sockets, timeout) in line_of(setting, most_sockets) {
        let one = case::all(&[of(Clients::Held(sockets, timeout), setting.held_window)], private)?;
        let bent = one.iter().any(bent);
        held.extend(one);
        if bent {
            break;
        }
    }
    Ok(Results { private, simple: together, held, bursts, most_sockets })
}

/// Sockets and their timeouts, as far as this process may open them.
fn line_of(setting: &Setting, most: u32) -> Vec<(u32, Nanos)> {
    let mut line: Vec<(u32, Nanos)> =
        setting.sockets.iter().filter(|n| **n <= most).map(|n| (*n, TIMEOUT)).collect();
    if setting.beyond {
        line.extend(MORE.iter().filter(|n| **n < most).map(|n| (*n, TIMEOUT)));
        line.extend(SOONER.iter().map(|times| (most, Nanos(TIMEOUT.0 / times))));
    }
    line
}

fn most_sockets() -> u32 {
    let room = headway_live::host::descriptors().soft.min(1 << 20) as u32;
    room.saturating_sub(OTHERS + 4 * (plays::BACKLOG + 2)).max(1)
}

pub(super) fn bent(lived: &Lived) -> bool {
    lived.law().is_some_and(|law| lived.syns() < BENT * law)
}

/// Puts the live numbers beside the simulated ones.
fn fill(results: &Results, report: &mut Report) {
    // The windows of what is simulated are in the titles already.
    let of = [(SIMPLE_TABLE, &results.simple), (HELD_TABLE, &results.held), (BURSTS_TABLE, &results.bursts)];
    for (table, all) in of {
        let window = all.first().map(|lived| lived.case.window);
        if let Some((table, (from, to))) = report.tables.get_mut(table).zip(window) {
            let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
            table.title.push_str(&format!("; live: from {from} to {to} s"));
        }
    }
    let mut put = |table: usize, row: &str, column: usize, value: f64| {
        let rows = report.tables.get_mut(table).map(|table| &mut table.rows);
        let row = rows.and_then(|rows| rows.iter_mut().find(|r| r.name == row));
        if let Some(cell) = row.and_then(|row| row.cells.get_mut(column)) {
            cell.live = Some(value);
        }
    };
    for lived in results.simple.iter().chain(&results.held).chain(&results.bursts) {
        match lived.case.clients {
            Clients::Simple(users) => {
                let values = [lived.syns(), lived.established(), lived.resent()];
                values.into_iter().enumerate().for_each(|(i, x)| put(SIMPLE_TABLE, &users.to_string(), i, x));
            }
            Clients::Held(sockets, timeout) if timeout == TIMEOUT => {
                let values = [lived.syns(), lived.established(), lived.served];
                values.into_iter().enumerate().for_each(|(i, x)| put(HELD_TABLE, &sockets.to_string(), i, x));
            }
            Clients::Bursts { mean, pair, .. } => {
                if let Some(column) = BURSTS.iter().position(|p| *p == pair) {
                    put(BURSTS_TABLE, &burst_row(mean, 0.0), column, lived.served);
                }
            }
            Clients::Held(..) => {}
        }
    }
}

/// How far the line holds.
fn line(results: &Results) -> Table {
    let live = |x: f64| Cell { live: Some(x), ..Cell::default() };
    let rows = results.held.iter().filter_map(|lived| {
        let Clients::Held(sockets, timeout) = lived.case.clients else { return None };
        let law = lived.law()?;
        Some(TableRow {
            name: format!("{sockets}, {} s", timeout.as_secs_f64()),
            cells: vec![
                live(lived.syns()),
                live(law),
                live(100.0 * (lived.syns() / law - 1.0)),
                live(lived.served),
                live(100.0 * lived.handling),
            ],
        })
    });
    Table {
        title: format!(
            "Live S-Clients on one thread, from D = {} until the line bends; line: D/T + established/s; busy: share of the time that \
             the thread handled something (T = {TIMEOUT_S} s as in the paper, then less)",
            SOCKETS[0]
        ),
        key: "D, T",
        source: super::SOURCE,
        quantities: Quantity::all([("SYN/s", 0), ("line", 0), ("off %", 2), ("served", 1), ("busy %", 1)]),
        rows: rows.collect(),
        spread: false,
    }
}

#[cfg(test)]
mod tests;
