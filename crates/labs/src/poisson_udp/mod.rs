//! A post's experiment with UDP: clients that send evenly lost nothing, and clients that slept an exponential time after each datagram,
//! meant as Poisson traffic, lost some. With its clients as processes; with sources at one rate, live and before a modelled server; and
//! what came at the receiver. See docs/labs.md for the definitions.
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
use traffic::{CLASSES, Traffic};

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
fn replayed(seed: u64, replications: u64, time: Nanos, rooms: [usize; 2]) -> Vec<Vec<Sourced>> {
    replicate(seed, replications, |seed| {
        let of = |source: &source::At| {
            let instants = source.instants(time, seed);
            let with = |room| Traffic::modelled(&instants, SERVICE, Some(room));
            Sourced { fast: Traffic::modelled(&instants, Nanos::ZERO, None), worked: rooms.map(with) }
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
    let [usual, small] = lived.rooms;
    let title = |room| {
        format!(
            "The same, each datagram worked on for 15 us, in a buffer that takes {room} of them: the receiver's queue, and what was lost"
        )
    };
    vec![
        runs(lived),
        came(&lived.clients),
        sources(lived),
        worked(lived, title(usual), 0),
        worked(lived, title(small), 1),
        classes(lived),
    ]
}

fn live(value: f64) -> Cell {
    Cell { live: Some(value), ..Cell::default() }
}

/// The post's table.
fn runs(lived: &Lived) -> Table {
    let cells = |ran: &Ran, published: Option<(f64, f64)>| {
        let [sent, lost, share] = match published {
            Some((sent, lost)) => [Some(sent), Some(lost), Some(100.0 * lost / sent)],
            None => [None; 3],
        };
        vec![
            Cell { published: sent, ..live(ran.per_run(ran.sent)) },
            Cell { published: lost, ..live(ran.per_run(ran.lost)) },
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
    let scaled =
        if seconds < RUN_S { format!(", from runs of {} s", number(seconds)) } else { String::new() };
    Table {
        title: format!(
            "The post's clients, each a process: datagrams sent and lost per {RUN_S} s{scaled}; and for what share of its time the \
             receiver waited for a processor"
        ),
        key: "clients",
        source: "post",
        quantities: Quantity::all([("sent", 0), ("lost", 0), ("lost %", 3), ("wait %", 1)]),
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

fn sources(lived: &Lived) -> Table {
    let row = |(i, source): (usize, &source::At)| TableRow {
        name: source.name(),
        cells: vec![
            beside(lived, i, |sourced| sourced.fast.rate),
            Cell { theory: source.cov(), ..beside(lived, i, |sourced| sourced.fast.cov) },
            beside(lived, i, |sourced| sourced.fast.most_in_ms as f64),
            live(lived.sources[i].fast.queue as f64),
            live(100.0 * lived.sources[i].fast.lost()),
        ],
    };
    Table {
        title: "One rate, that of the post's sleeping clients, from sources on an absolute schedule and a receiver that go before \
                other processes, where that is permitted; mean: their instants"
            .to_owned(),
        key: "source",
        source: "post",
        quantities: Quantity::all([("came/s", 0), ("CoV", 2), ("most/ms", 0), ("queue", 0), ("lost %", 3)]),
        rows: PLAYED.iter().enumerate().map(row).collect(),
        spread: false,
    }
}

fn worked(lived: &Lived, title: String, which: usize) -> Table {
    let row = |(i, source): (usize, &source::At)| TableRow {
        name: source.name(),
        cells: vec![
            beside(lived, i, |sourced| sourced.worked[which].queue as f64),
            beside(lived, i, |sourced| 100.0 * sourced.worked[which].lost()),
            Cell {
                live: lived.sources[i].worked[which].waited.map(|share| 100.0 * share),
                ..Cell::default()
            },
        ],
    };
    Table {
        title,
        key: "source",
        source: "post",
        quantities: Quantity::all([("queue", 0), ("lost %", 3), ("wait %", 1)]),
        rows: PLAYED.iter().enumerate().map(row).collect(),
        spread: false,
    }
}

/// Losses by how many came in a millisecond, over all sources, with the smaller buffer.
fn classes(lived: &Lived) -> Table {
    let live_classes = notes::by_class(&lived.sources);
    let modelled: Vec<_> = lived.modelled.iter().map(|all| notes::by_class(all)).collect();
    let rows = CLASSES.iter().enumerate().map(|(c, end)| {
        let from = if c == 0 { 1 } else { CLASSES[c - 1] + 1 };
        let name = if *end == u64::MAX { format!("{from} or more") } else { format!("{from} to {end}") };
        let mean = |of: &dyn Fn(&traffic::Class) -> f64| Range::over(&modelled, |classes| of(&classes[c]));
        let share = |class: &traffic::Class| 100.0 * class.dropped as f64 / class.came as f64;
        let some = |class: &traffic::Class| class.came > 0;
        let lost =
            modelled.iter().map(|classes| classes[c]).filter(some).map(|class| share(&class)).collect();
        TableRow {
            name,
            cells: vec![
                Cell {
                    replications: mean(&|class| class.milliseconds as f64),
                    ..live(live_classes[c].milliseconds as f64)
                },
                Cell {
                    live: some(&live_classes[c]).then(|| share(&live_classes[c])),
                    ..Cell::observed(Range::of(lost))
                },
            ],
        }
    });
    Table {
        title: format!(
            "Lost with a buffer of {} datagrams, by how many came in a millisecond, over all sources of that rate",
            lived.rooms[1]
        ),
        key: "came in a ms",
        source: "post",
        quantities: Quantity::all([("ms", 0), ("lost %", 2)]),
        rows: rows.collect(),
        spread: false,
    }
}

#[cfg(test)]
mod tests;
