//! Are the stamps of a JMeter file starts or ends? Made files whose truth is known, read as the audit reads them.
//!
//! The table stands in docs/trust.md: `cargo test --release -p headway-import --test start_or_end -- --ignored --nocapture`.

use headway_base::random::{Draws, Stream};
use headway_import::source::Progress;
use headway_import::{File, Options, Rows, Stamps, StampsHow};
use std::fmt::Write as _;

/// Who sends, and when.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// A constant rate, each request by a thread that is free.
    Constant,
    /// Poisson arrivals, likewise.
    Poisson,
    /// A constant rate and a Poisson process, each request by a thread of its own.
    ConstantOfMany,
    PoissonOfMany,
    /// One thread that keeps a constant rate.
    OneThread,
    /// Users with exponential think times of fifty times the mean response time.
    Thinking,
    /// Users with one constant think time, as long.
    FixedThink,
    /// Users without think time.
    Thoughtless,
}

const LOADS: [(Load, &str); 8] = [
    (Load::Constant, "constant rate, pool of threads"),
    (Load::Poisson, "Poisson, pool of threads"),
    (Load::ConstantOfMany, "constant rate, a thread for each request"),
    (Load::PoissonOfMany, "Poisson, a thread for each request"),
    (Load::OneThread, "constant rate, one thread"),
    (Load::Thinking, "20 users, exponential think time"),
    (Load::FixedThink, "20 users, constant think time"),
    (Load::Thoughtless, "5 users without think time"),
];

/// What a response takes, in ms on average 20.
#[derive(Clone, Copy, Debug)]
enum Law {
    Constant,
    Exponential,
    /// Pareto of index 1.5.
    Heavy,
}
const LAWS: [Law; 3] = [Law::Constant, Law::Exponential, Law::Heavy];

#[derive(Clone, Copy, Debug)]
enum Order {
    /// By the end, up to a millisecond late on average.
    Written,
    Sorted,
    Shuffled,
    /// Two such files, one after the other, each sorted.
    Joined,
}
const ORDERS: [Order; 4] = [Order::Written, Order::Sorted, Order::Shuffled, Order::Joined];

/// What stamps are cut off to, in ms: the last is written in whole seconds with the digits of milliseconds.
const GRIDS: [i64; 2] = [1, 1_000];

struct Dice(Draws);

impl Dice {
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.0.open01().ln()
    }
    fn takes(&mut self, law: Law) -> f64 {
        match law {
            Law::Constant => 20.0,
            Law::Exponential => self.exponential(20.0),
            Law::Heavy => (20.0 / 3.0 * self.0.open01().powf(-1.0 / 1.5)).min(3e6),
        }
    }
}

/// (start, time taken, thread), in ms.
fn requests(load: Load, law: Law, n: usize, dice: &mut Dice) -> Vec<(f64, f64, usize)> {
    let open = |mut at: Box<dyn FnMut(&mut Dice) -> f64>, pool: bool, dice: &mut Dice| {
        let mut free: Vec<f64> = Vec::new();
        let one = |i: usize| {
            let (start, takes) = (at(dice), dice.takes(law));
            let thread = match free.iter().position(|&end| pool && end <= start) {
                Some(thread) => thread,
                None if pool => {
                    free.push(0.0);
                    free.len() - 1
                }
                None => i,
            };
            if pool {
                free[thread] = start + takes;
            }
            (start, takes, thread)
        };
        (0..n).map(one).collect()
    };
    // 47 a second: no whole number of milliseconds, nor of seconds.
    const PERIOD: f64 = 1_000.0 / 47.0;
    let (mut k, mut now) = (0.0, 0.0);
    let constant = Box::new(move |_: &mut Dice| {
        k += 1.0;
        k * PERIOD
    });
    let poisson = Box::new(move |dice: &mut Dice| {
        now += dice.exponential(PERIOD);
        now
    });
    let mut users = |users: usize, think: &dyn Fn(&mut Dice) -> f64| {
        let mut rows = Vec::new();
        for user in 0..users {
            let mut at = dice.exponential(1_000.0);
            for _ in 0..n / users {
                let takes = dice.takes(law);
                rows.push((at, takes, user));
                at += takes + think(dice);
            }
        }
        rows
    };
    match load {
        Load::Constant => open(constant, true, dice),
        Load::Poisson => open(poisson, true, dice),
        Load::ConstantOfMany => open(constant, false, dice),
        Load::PoissonOfMany => open(poisson, false, dice),
        // Kept as long as the request before is over.
        Load::OneThread => {
            let mut before = 0.0_f64;
            let one = |i: usize| {
                let (start, takes) = (before.max(i as f64 * 100.0), dice.takes(law));
                before = start + takes;
                (start, takes, 0)
            };
            (0..n).map(one).collect()
        }
        Load::Thinking => users(20, &|dice| dice.exponential(1_000.0)),
        Load::FixedThink => users(20, &|_| 1_000.0),
        Load::Thoughtless => users(5, &|_| 0.0),
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    load: Load,
    law: Law,
    order: Order,
    grid: i64,
    ends: bool,
    seed: u64,
}

const ROWS: usize = 4_000;

/// The lines of a results file.
fn lines(case: &Case, rows: &[(f64, f64, usize)], dice: &mut Dice) -> Vec<String> {
    let mut lines: Vec<(f64, String)> = Vec::new();
    for &(start, takes, thread) in rows {
        let stamp = if case.ends { start + takes } else { start };
        let stamp = 1_700_000_000_123.0 + stamp;
        let written = start + takes + dice.exponential(1.0);
        let key = match case.order {
            Order::Written => written,
            Order::Sorted | Order::Joined => stamp,
            Order::Shuffled => dice.0.open01(),
        };
        let stamp = stamp as i64 / case.grid * case.grid;
        lines.push((key, format!("{stamp},{},Home,200,OK,T 1-{thread},text,true,1,1", takes as i64)));
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().map(|line| line.1).collect()
}

/// The same of a made file.
fn read(case: &Case) -> (bool, bool, StampsHow) {
    let mut dice = Dice(Stream::new(case.seed, "start or end").item(case.grid as u64));
    let rows = requests(case.load, case.law, ROWS, &mut dice);
    let text = match case.order {
        Order::Joined => {
            let (one, two) = rows.split_at(ROWS / 2);
            [lines(case, two, &mut dice), lines(case, one, &mut dice)].concat()
        }
        _ => lines(case, &rows, &mut dice),
    };
    told(&(text.join("\n") + "\n"))
}

/// Whether the stamps of a file of these lines are taken for ends, whether that is a guess, and how it was decided.
fn told(text: &str) -> (bool, bool, StampsHow) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut open = File::open(file.path(), &Options::default(), Progress::default()).unwrap();
    let mut rows = Rows::default();
    while open.next(&mut rows).unwrap() {}
    let finished = open.finish(&mut rows, false).unwrap();
    (finished.facts.stamps == Stamps::End, finished.stamps_guessed, finished.stamps_how)
}

#[derive(Clone, Copy, Default)]
struct Tally {
    shown: u64,
    guessed_right: u64,
    guessed_wrong: u64,
    /// Said to be shown, and wrong.
    wrong: u64,
}

impl Tally {
    fn push(&mut self, right: bool, guessed: bool) {
        *match (right, guessed) {
            (true, false) => &mut self.shown,
            (true, true) => &mut self.guessed_right,
            (false, true) => &mut self.guessed_wrong,
            (false, false) => &mut self.wrong,
        } += 1;
    }
    fn files(&self) -> u64 {
        self.shown + self.guessed_right + self.guessed_wrong + self.wrong
    }
}

/// By load: share of the files whose truth is shown, of stamps of 1 ms and of 1 s, as written and in another order.
fn table(seeds: u64) -> (String, [[Tally; 4]; LOADS.len()]) {
    let mut cells = [[Tally::default(); 4]; LOADS.len()];
    for (cells, (load, _)) in cells.iter_mut().zip(LOADS) {
        for (order, grid) in ORDERS.iter().flat_map(|&order| GRIDS.map(|grid| (order, grid))) {
            for (law, seed) in LAWS.iter().flat_map(|&law| (0..seeds).map(move |seed| (law, seed))) {
                for ends in [false, true] {
                    let case = Case { load, law, order, grid, ends, seed };
                    let (said, guessed, how) = read(&case);
                    let column = usize::from(grid > 1) * 2 + usize::from(!matches!(order, Order::Written));
                    cells[column].push(said == ends, guessed);
                    if said != ends && !guessed {
                        println!("wrong: {case:?}: {how:?}");
                    }
                }
            }
        }
    }
    let mut text = "| load | 1 ms, as written | 1 ms, other orders | 1 s, as written | 1 s, other orders |\n\
                    |---|---|---|---|---|\n"
        .to_owned();
    for (cells, (_, name)) in cells.iter().zip(LOADS) {
        let shares = cells.map(|c| format!("{:.0} %", 100.0 * c.shown as f64 / c.files() as f64));
        let _ = writeln!(text, "| {name} | {} |", shares.join(" | "));
    }
    let sum = |of: fn(&Tally) -> u64| cells.iter().flatten().map(of).sum::<u64>();
    let _ = write!(
        text,
        "Of {} files {} were shown what they are, {} of them wrongly; {} were read by the default, {} of them wrongly.",
        sum(Tally::files),
        sum(|c| c.shown + c.wrong),
        sum(|c| c.wrong),
        sum(|c| c.guessed_right + c.guessed_wrong),
        sum(|c| c.guessed_wrong)
    );
    (text, cells)
}

/// Brady's test 1830 (JMeter, 200 threads, stamps of starts), whatever somebody did to the file.
#[test]
fn a_real_file_of_starts_is_one_in_any_order() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/jmeter-csv/1830_AggRpt.csv.zst");
    let (mut rows, mut records) = (Rows::default(), Vec::new());
    let mut file = File::open(path.as_ref(), &Options::default(), Progress::default()).unwrap();
    while file.next(&mut rows).unwrap() {
        records.append(&mut rows.records);
    }
    for (order, grid) in [("sorted", 1), ("reversed", 1), ("sorted", 1_000), ("written", 1_000)] {
        match order {
            "sorted" => records.sort_by_key(|r| r.started.get()),
            "reversed" => records.reverse(),
            _ => records.sort_by_key(|r| r.done),
        }
        let line = |r: &headway_base::Record| {
            let (start, takes) = (r.intended.0 / 1_000_000, (r.done - r.intended).0 / 1_000_000);
            format!("{},{takes},{},200,OK,T 1-{},text,true,1,1\n", start / grid * grid, r.step, r.user)
        };
        let (ends, guessed, how) = told(&records.iter().map(line).collect::<String>());
        // Stamps of whole seconds hide it, and decide nothing.
        assert!(!ends && (!guessed || grid > 1), "{order} {grid}: {how:?}");
    }
}

/// What is said to be shown is true. With stamps of 1 ms, threads that are used again, and times taken that vary it is shown
/// though somebody has sorted the file.
#[test]
fn what_the_rows_show_is_so() {
    for (load, name) in LOADS {
        for (order, law) in [(Order::Written, Law::Exponential), (Order::Sorted, Law::Heavy)] {
            for ends in [false, true] {
                let (said, guessed, how) = read(&Case { load, law, order, grid: 1, ends, seed: 0 });
                let again = !matches!(load, Load::ConstantOfMany | Load::PoissonOfMany);
                let shown = again || matches!(order, Order::Written);
                assert_eq!(
                    (said, guessed),
                    (ends && shown, !shown),
                    "{name}, {order:?}, ends: {ends}: {how:?}"
                );
            }
        }
    }
}

#[test]
#[ignore = "nightly: 3,840 files"]
fn the_table_of_starts_and_ends() {
    let (text, cells) = table(10);
    println!("{text}");
    assert!(cells.iter().flatten().all(|cell| cell.wrong == 0));
}
