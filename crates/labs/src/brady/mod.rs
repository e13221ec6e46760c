//! Brady's users (2012, figures 12 and 15 to 17): do users that think, launch and wait make Poisson arrivals, and what makes
//! them bunch? 200 users of the client core in virtual time, against targets and generators of known defects.
//!
//! The CoV of headways by thread group (the first k users) is the measure: below 1 for few users, near 1 for many who are independent,
//! above 1 for users which something delays together. See docs/measured/labs.md for how each model is made.

mod cases;
mod live;
mod notes;
mod play;
mod published;
mod theory;

use super::{Cell, Lab, Live, Quantity, Report, Table, TableRow};
use cases::{Observed, Part, slope};
use published::{COV_1800, COV_1830, COV_2100, SIZES, T1800, T1830, T2100, TESTS, Test};

/// The experiment.
pub struct Brady;

/// The experiment, to be listed.
pub const BRADY: Brady = Brady;

/// Thread groups of the steady values.
const STEADY: [u32; 7] = [1, 2, 5, 10, 20, 50, 200];
/// Thread groups by which models of test 2100 are compared.
const COMPARED: [u32; 6] = [1, 10, 50, 100, 150, 200];

const PAPER: &str = "paper";
const COV: Quantity = Quantity::new("CoV", 3);

impl Lab for Brady {
    fn name(&self) -> &'static str {
        "brady"
    }

    fn about(&self) -> &'static str {
        "200 users that think and wait: when arrivals are near Poisson, and what bunches them (Brady 2012, figures 12, 15-17)"
    }

    fn replications(&self) -> u64 {
        20
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let observed = cases::observe(cases::all()?, seed, replications)?;
        Ok(self.report(seed, &observed))
    }

    fn live(&self) -> Option<Live> {
        Some(Live::OnDemand(live::add))
    }
}

impl Brady {
    fn report(&self, seed: u64, observed: &[Observed]) -> Report {
        let tables = vec![
            steady(observed),
            groups(observed),
            seven(observed),
            all_users(observed),
            models(observed),
            think(observed),
        ];
        Report { tables, notes: notes::notes(observed), ..Report::of(self, seed) }
    }
}

fn of(observed: &[Observed], part: Part) -> impl Iterator<Item = &Observed> {
    observed.iter().filter(move |o| o.case.part == part)
}

/// The CoV of the first k users as figure 15 and the theory have it.
fn printed(cov: &[f64; 24], k: u32) -> Option<f64> {
    SIZES.iter().position(|&size| size == k).map(|at| cov[at])
}

/// Users alone, whose answers take no time.
fn steady(observed: &[Observed]) -> Table {
    let instant = of(observed, Part::Instant).next();
    let rows = STEADY.iter().map(|&k| TableRow {
        name: k.to_string(),
        cells: vec![Cell {
            published: printed(&COV_1830, k),
            theory: Some(theory::instant(k)),
            ..Cell::observed(instant.and_then(|o| o.cov(k)))
        }],
    });
    Table {
        title: "CoV of headways of the first k users, who think 0 to 12.5 s and are answered at once"
            .to_owned(),
        key: "first k users",
        source: PAPER,
        quantities: vec![COV],
        rows: rows.collect(),
        spread: true,
    }
}

/// Figures 15 and 16 beside independent response times.
fn groups(observed: &[Observed]) -> Table {
    let columns = [(T1800, &COV_1800), (T1830, &COV_1830), (T2100, &COV_2100)];
    let sides: Vec<_> = columns
        .into_iter()
        .map(|(at, cov)| {
            let test = &TESTS[at];
            let played = of(observed, Part::Independent).find(|o| o.case.name == test.name);
            (users(test).cov(&SIZES), cov, played)
        })
        .collect();
    let rows = SIZES.iter().enumerate().map(|(i, &k)| TableRow {
        name: k.to_string(),
        cells: sides
            .iter()
            .map(|(theory, published, played)| Cell {
                published: Some(published[i]),
                theory: Some(theory[i]),
                ..Cell::observed(played.and_then(|o| o.cov(k)))
            })
            .collect(),
    });
    let names = ["1800", "1830", "2100"];
    Table {
        title: "Figures 15 and 16: CoV of headways of the first k users in tests 1800, 1830 and 2100, with independent response \
                times".to_owned(),
        key: "first k users",
        source: PAPER,
        quantities: names.map(|name| Quantity::new(name, 3)).to_vec(),
        rows: rows.collect(),
        spread: false,
    }
}

fn users(test: &Test) -> theory::Users {
    theory::Users::new(test.think_s, test.response_ms / 1e3, test.response_sd_ms / 1e3, 1e-3)
}

/// Figures 12 and 17 beside independent response times. RoRT is R/(Z + R), the users are rate x (Z + R).
fn seven(observed: &[Observed]) -> Table {
    let quantities = vec![
        Quantity::new("req/s", 2),
        Quantity::new("R ms", 2),
        Quantity::new("R sd ms", 1),
        Quantity::new("RoRT %", 2),
        Quantity::new("N", 2),
    ];
    let rows = TESTS.iter().zip(of(observed, Part::Independent)).map(|(test, played)| {
        let over = |of: &dyn Fn(&play::Numbers) -> f64| super::Range::over(&played.all, of);
        let think_ms = 1e3 * test.think_s;
        let cell = |published: f64, of: &dyn Fn(&play::Numbers) -> f64| Cell {
            published: Some(published),
            ..Cell::observed(over(of))
        };
        TableRow {
            name: test.name.to_owned(),
            cells: vec![
                cell(test.tps, &|n| n.tps),
                cell(test.response_ms, &|n| n.response_ms),
                cell(test.response_sd_ms, &|n| n.response_sd_ms),
                cell(test.rort, &|n| 100.0 * n.response_ms / (think_ms + n.response_ms)),
                cell(test.tps * (think_ms + test.response_ms) / 1e3, &|n| {
                    n.tps * (think_ms + n.response_ms) / 1e3
                }),
            ],
        }
    });
    Table {
        title: "Figures 12 and 17: the seven tests".to_owned(),
        key: "test",
        source: PAPER,
        quantities,
        rows: rows.collect(),
        spread: false,
    }
}

/// The last line of figure 16, beside independent response times and beside pauses.
fn all_users(observed: &[Observed]) -> Table {
    let independent = of(observed, Part::Independent).zip(TESTS).map(|(o, test)| {
        let theory = users(&test).cov(&[200]).first().copied();
        (format!("{} independent", o.case.name), theory, o)
    });
    let paused = of(observed, Part::Paused).map(|o| (format!("{} pauses", o.case.name), None, o));
    let rows = independent.chain(paused).map(|(name, theory, o)| TableRow {
        name,
        cells: vec![Cell { published: o.case.published, theory, ..Cell::observed(o.cov(200)) }],
    });
    Table {
        title: "CoV of headways of all 200 users: response times that are independent, and the generator's pauses of 100 ms \
                besides"
            .to_owned(),
        key: "test",
        source: PAPER,
        quantities: vec![COV],
        rows: rows.collect(),
        spread: true,
    }
}

/// What gives test 2100 its excess.
fn models(observed: &[Observed]) -> Table {
    let mut quantities: Vec<Quantity> =
        ["k = 1", "10", "50", "100", "150", "200"].map(|name| Quantity::new(name, 3)).to_vec();
    quantities.push(Quantity::new("slope", 2));
    let mut figure: Vec<Cell> =
        COMPARED.iter().filter_map(|&k| printed(&COV_2100, k)).map(Cell::published).collect();
    figure.push(Cell::published(slope(&COV_2100)));
    let mut rows = vec![TableRow { name: "figure 16".to_owned(), cells: figure }];
    let busiest = TESTS[T2100];
    let exact = users(&busiest).cov(&SIZES);
    let mut add = |name: &str, played: &Observed, theory: Option<&[f64]>| {
        let at = |k: u32| SIZES.iter().position(|&size| size == k);
        let mut cells: Vec<Cell> = COMPARED
            .iter()
            .map(|&k| Cell {
                theory: theory.and_then(|cov| Some(cov[at(k)?])),
                ..Cell::observed(played.cov(k))
            })
            .collect();
        cells.push(Cell { theory: theory.map(slope), ..Cell::observed(played.slope()) });
        rows.push(TableRow { name: name.to_owned(), cells });
    };
    for played in of(observed, Part::Independent).filter(|o| o.case.name == busiest.name) {
        add("independent response times", played, Some(&exact));
    }
    for played in of(observed, Part::Paused).filter(|o| o.case.name == busiest.name) {
        add("generator pauses, 100 ms", played, None);
    }
    for played in of(observed, Part::Model) {
        add(&played.case.name, played, None);
    }
    Table {
        title: "Test 2100: CoV of headways of the first k users, and the slope of CoV^2 - 1 over k in thousandths per user"
            .to_owned(),
        key: "model",
        source: PAPER,
        quantities,
        rows,
        spread: true,
    }
}

/// Fixed think times.
fn think(observed: &[Observed]) -> Table {
    let stalls = of(observed, Part::Think).map(|o| (o.case.name.clone(), o));
    let after = of(observed, Part::After).map(|o| (format!("1830 {}, later", o.case.name), o));
    let rows = stalls.chain(after).map(|(name, o)| TableRow {
        name,
        cells: vec![Cell { published: o.case.published, ..Cell::observed(o.cov(200)) }],
    });
    Table {
        title: "CoV of headways of all 200 users with fixed and uniform think times: a stall of the target of 2 s about once \
                a minute; and from 820 to 1,120 s after a single one"
            .to_owned(),
        key: "think time",
        source: "simul.",
        quantities: vec![COV],
        rows: rows.collect(),
        spread: true,
    }
}

#[cfg(test)]
mod tests;
