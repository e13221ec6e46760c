//! A post's experiment with UDP: clients that send evenly lost nothing, and clients that slept an exponential time after each datagram,
//! meant as Poisson traffic, lost some. With sources that differ in nothing but the pattern, live and before a modelled server; with its
//! clients as processes; and what came at the receiver. See docs/measured/labs.md for the definitions.
//!
//! The post's own cause is open: it published neither its instants nor its buffer.

mod lived;
mod notes;
mod published;
mod source;
mod traffic;

use super::{Cell, Extent, Lab, Live, Quantity, Range, Report, Table, TableRow, replicate};
use headway_base::Nanos;
use headway_report::format::number;
use lived::{Clients, Kind, Lived, Ran, Sourced};
use published::{EACH, QUEUED, ROOMS, RUN_S, SLEPT, YIELDED};
use source::{MODELLED, PLAYED};
use traffic::Traffic;

/// The experiment.
pub struct PoissonUdp;

/// What each datagram takes the server: nearly the inverse of what the post's yielding clients sent.
const SERVICE: Nanos = Nanos::from_micros(15);
/// Of each source in the model.
const MODELLED_FOR: Nanos = Nanos::from_secs(50);

impl Lab for PoissonUdp {
    fn name(&self) -> &'static str {
        "poisson-udp"
    }

    fn about(&self) -> &'static str {
        "UDP clients that yield, and that sleep at random: what is lost, and why (runs here for some minutes)"
    }

    fn replications(&self) -> u64 {
        20
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let all = replicate(seed, replications, |seed| queued(seed, MODELLED_FOR));
        let tables = modelled_tables(&all);
        Ok(Report { tables, notes: notes::modelled(&all), ..Report::of(self, seed) })
    }

    fn live(&self) -> Option<Live> {
        Some(Live::Always(add))
    }
}

/// Plays the live part and puts it before the rest.
fn add(seed: u64, extent: Extent, report: &mut Report) -> anyhow::Result<()> {
    let lived = lived::play(seed, extent)?;
    report.tables.splice(0..0, live_tables(&lived));
    report.notes.splice(0..0, notes::live(&lived));
    Ok(())
}

/// A replication of the model: of each of [`MODELLED`], with each of [`ROOMS`].
type Queues = [[Traffic; ROOMS.len()]; MODELLED.len()];

fn queued(seed: u64, time: Nanos) -> Queues {
    MODELLED.map(|source| {
        let instants = source.instants(time, seed);
        ROOMS.map(|room| Traffic::modelled(&instants, SERVICE, Some(room)))
    })
}

/// What [`PLAYED`] come to before the model.
fn replayed(seed: u64, replications: u64, time: Nanos, room: usize) -> Vec<Vec<Sourced>> {
    replicate(seed, replications, |seed| {
        let of = |source: &source::At| {
            let instants = source.instants(time, seed);
            let with = |work, room| Traffic::modelled(&instants, work, room);
            Sourced { fast: with(Nanos::ZERO, None), worked: vec![with(SERVICE, Some(room))] }
        };
        PLAYED.iter().map(of).collect()
    })
}

fn modelled_tables(all: &[Queues]) -> Vec<Table> {
    let quantities =
        |places| ["16", "32", "64", "100", "128", "256"].map(|name| Quantity::new(name, places)).to_vec();
    let table = |what: &str,
                 places,
                 published: &dyn Fn(usize, usize) -> f64,
                 of: &dyn Fn(&Traffic) -> f64| {
        let rows = MODELLED.iter().enumerate().map(|(i, source)| TableRow {
            name: format!("{}, {}/s", source.name(), number(source.rate)),
            cells: (0..ROOMS.len())
                .map(|j| Cell {
                    published: Some(published(i, j)),
                    ..Cell::observed(Range::over(all, |queues| of(&queues[i][j])))
                })
                .collect(),
        });
        Table {
            title: format!("Modelled, 50 s before a server of 15 us with room for K that wait: {what}, by K"),
            key: "source",
            source: "simul.",
            quantities: quantities(places),
            rows: rows.collect(),
            spread: false,
        }
    };
    vec![
        table("lost, %", 3, &|i, j| 100.0 * QUEUED[i].lost[j], &|traffic| 100.0 * traffic.lost()),
        table("most in the system", 0, &|i, j| QUEUED[i].most[j], &|traffic| traffic.queue as f64),
    ]
}

fn live_tables(lived: &Lived) -> Vec<Table> {
    vec![patterns(lived), stood_still(lived), runs(lived), came(&lived.clients)]
}

fn live(value: f64) -> Cell {
    Cell { live: Some(value), ..Cell::default() }
}

/// The post's table.
fn runs(lived: &Lived) -> Table {
    let cells = |ran: &Ran, published: Option<(f64, f64)>| {
        let [sent, lost, share] = match published {
            Some((sent, lost)) => [Some(sent / RUN_S), Some(lost), Some(100.0 * lost / sent)],
            None => [None; 3],
        };
        vec![
            Cell { published: sent, ..live(ran.sent as f64 / ran.seconds) },
            Cell { published: lost, ..live(ran.lost as f64) },
            Cell { published: share, ..live(100.0 * ran.lost_share()) },
            Cell { live: ran.waited.map(|share| 100.0 * share), ..Cell::default() },
        ]
    };
    let mut rows = Vec::new();
    for clients in &lived.clients {
        let (name, n) = (clients.kind.name(), clients.kind.clients());
        let published = match clients.kind {
            Kind::Yielding => YIELDED,
            Kind::Sleeping => SLEPT,
        };
        for (i, ran) in clients.runs.iter().enumerate() {
            let name = format!("{n} {name}, run {}", i + 1);
            rows.push(TableRow { name, cells: cells(ran, published.get(i).copied()) });
        }
        if let Some(ran) = &clients.first {
            rows.push(TableRow { name: format!("{n} {name}, receiver first"), cells: cells(ran, None) });
        }
    }
    let seconds = lived.clients[0].runs.first().map_or(RUN_S, |ran| ran.seconds);
    let published = if seconds < RUN_S { format!(" (the post's: of {RUN_S} s)") } else { String::new() };
    Table {
        title: format!(
            "The post's clients, each a process: datagrams sent a second, and lost in a run of {} s{published}; for what share of its \
             time the receiver waited for a processor",
            number(seconds)
        ),
        key: "clients",
        source: "post",
        quantities: Quantity::all([("sent/s", 0), ("lost", 0), ("lost %", 3), ("wait %", 1)]),
        rows,
        spread: false,
    }
}

/// What came from the post's clients.
fn came(clients: &[Clients; 2]) -> Table {
    let row = |clients: &Clients| {
        let n = f64::from(clients.kind.clients());
        let published = match clients.kind {
            Kind::Yielding => YIELDED,
            Kind::Sleeping => SLEPT,
        };
        let rate = published.iter().map(|(sent, _)| sent).sum::<f64>() / published.len() as f64 / RUN_S;
        let theory = (clients.kind == Kind::Sleeping).then_some(EACH);
        let traffic = &clients.traffic;
        TableRow {
            name: format!("{n} {}", clients.kind.name()),
            cells: vec![
                Cell { published: Some(rate), theory: theory.map(|each| n * each), ..live(traffic.rate) },
                Cell { published: Some(rate / n), theory, ..live(traffic.rate / n) },
                live(traffic.cov),
                live(traffic.most_in_ms as f64),
                live(traffic.queue as f64),
                live(100.0 * traffic.lost()),
            ],
        }
    };
    Table {
        title: "What came from them in one more run, by the kernel's stamps: datagrams a second, from each, CoV of headways, the most in \
                a millisecond, and the most that waited (theory: what was to be sent)"
            .to_owned(),
        key: "clients",
        source: "post",
        quantities: Quantity::all([("came/s", 0), ("each/s", 1), ("CoV", 2), ("most/ms", 0), ("queue", 0), ("lost %", 3)]),
        rows: clients.iter().map(row).collect(),
        spread: false,
    }
}

/// One number of each source, live and modelled.
fn beside(lived: &Lived, i: usize, of: impl Fn(&Sourced) -> f64) -> Cell {
    Cell { replications: Range::over(&lived.modelled, |all| of(&all[i])), ..live(of(&lived.sources[i])) }
}

/// What the pattern alone does: one rate, one receiver, one buffer.
fn patterns(lived: &Lived) -> Table {
    let row = |(i, source): (usize, &source::At)| {
        let lost = lived.sources[i].lost();
        let percent =
            |share: Option<&f64>| Cell { live: share.map(|share| 100.0 * share), ..Cell::default() };
        TableRow {
            name: source.name(),
            cells: vec![
                beside(lived, i, |sourced| sourced.fast.rate),
                Cell { theory: source.cov(), ..beside(lived, i, |sourced| sourced.fast.cov) },
                beside(lived, i, |sourced| 100.0 * sourced.usual_loss()),
                percent(lost.first()),
                percent(lost.last()),
            ],
        }
    };
    let runs = lived.sources.first().map_or(0, |sourced| sourced.worked.len());
    Table {
        title: format!(
            "One rate, one receiver that takes 15 us for each, one buffer of {} datagrams, and only the pattern differs: {runs} runs of {} s \
             each, source and receiver before other processes and on processors of their own where that is permitted; lost: the run in the \
             middle, the best and the worst (mean: modelled)",
            lived.room,
            number(lived.source_s)
        ),
        key: "source",
        source: "post",
        quantities: Quantity::all([("came/s", 0), ("CoV", 2), ("lost %", 3), ("least", 3), ("most", 3)]),
        rows: PLAYED.iter().enumerate().map(row).collect(),
        spread: false,
    }
}

/// What the host did in the same runs.
fn stood_still(lived: &Lived) -> Table {
    let row = |(source, sourced): (&source::At, &Sourced)| {
        let most = |of: fn(&Traffic) -> f64| live(sourced.worked.iter().map(of).fold(0.0, f64::max));
        let waits: Option<Vec<f64>> = sourced.worked.iter().map(|traffic| traffic.waited).collect();
        TableRow {
            name: source.name(),
            cells: vec![
                most(|traffic| traffic.most_in_ms as f64),
                most(|traffic| traffic.queue as f64),
                live(1e3 * sourced.stalled_s()),
                Cell {
                    live: waits.map(|all| 100.0 * all.into_iter().fold(0.0, f64::max)),
                    ..Cell::default()
                },
            ],
        }
    };
    Table {
        title: "What the host did in these runs: the most that came in a millisecond (a source that was late sends what is due at once), the \
                most in the system, the longest that a datagram lay before a receiver with nothing else to do, and the largest share of its \
                time that the receiver waited for a processor"
            .to_owned(),
        key: "source",
        source: "post",
        quantities: Quantity::all([("most/ms", 0), ("queue", 0), ("stood ms", 2), ("wait %", 2)]),
        rows: PLAYED.iter().zip(&lived.sources).map(row).collect(),
        spread: false,
    }
}

#[cfg(test)]
mod tests;
