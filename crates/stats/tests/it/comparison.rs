//! Comparisons: how often all intervals together hold the truth, and how wide they are against what that needs. Queues whose laws are
//! known, played by Lindley's recursion (c servers: Kiefer and Wolfowitz 1955), in virtual time.

use crate::world::{answered, exponential};
use headway_base::random::{Draws, Stream};
use headway_base::{Nanos, Outcome};
use headway_stats::comparison::{
    Compared, Comparison, Observed, Observing, Row, Shown, Two, Verdict, compare, compare_rounds,
};
use headway_stats::queueing::Mmc;
use headway_stats::summary::NotComputed;

const RATE: f64 = 800.0;

/// A queue, the share of its requests that fail, and how much slower everything is that its client sees.
#[derive(Clone, Copy)]
struct System {
    queue: Mmc,
    servers: u32,
    mean_service: f64,
    failing: f64,
}

impl System {
    fn new(servers: u32, mean_service: f64, failing: f64) -> System {
        let queue = Mmc { rate: RATE, mean_service, servers };
        System { queue, servers, mean_service, failing }
    }

    /// The true value of a number.
    fn truth(&self, of: &str) -> f64 {
        match of {
            "rate" => RATE,
            "mean" => self.queue.sojourn_mean(),
            "failed" => self.failing,
            "p50" => self.queue.sojourn_quantile(0.5),
            "p90" => self.queue.sojourn_quantile(0.9),
            "p95" => self.queue.sojourn_quantile(0.95),
            "p99" => self.queue.sojourn_quantile(0.99),
            "p999" => self.queue.sojourn_quantile(0.999),
            other => panic!("{other}"),
        }
    }

    /// Plays so many seconds after a warm-up of one, with arrivals of one seed and everything else of another; `slowed` is by how much
    /// the host slows it at an instant.
    fn play(&self, seconds: i64, arrivals: u64, own: u64, slowed: &dyn Fn(f64) -> f64) -> Observed {
        let stream = |seed, name| -> Draws { Stream::new(seed, name).item(0) };
        let mut gaps = stream(arrivals, "arrivals");
        let (mut services, mut fates) = (stream(own, "services"), stream(own, "fates"));
        let measured = Nanos::from_secs(1)..Nanos::from_secs(seconds + 1);
        let mut seen = Observing::new(&measured, &["only".to_owned()], &[]);
        let mut free = vec![0.0f64; self.servers as usize];
        let mut at = 0.0;
        for k in 0.. {
            at += exponential(&mut gaps) / RATE;
            let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            *next = next.max(at) + exponential(&mut services) * self.mean_service * slowed(at);
            let done = *next;
            let due = (at * 1e9) as i64;
            if due >= measured.end.0 {
                break;
            }
            let mut record = answered(k, due, due, ((done - at) * 1e9) as i64);
            if fates.open01() < self.failing {
                record.outcome = Outcome::Status;
            }
            seen.push(&record);
        }
        seen.finish(measured.end)
    }
}

fn steady(_: f64) -> f64 {
    1.0
}

fn two(base: &Observed, other: &Observed, same_arrivals: bool) -> Comparison {
    let nothing = NotComputed::default();
    let two = Two {
        runs: [0, 1],
        point: String::new(),
        observed: [base, other],
        not_computed: [&nothing, &nothing],
        same_arrivals,
        obstacles: Vec::new(),
        differs: Vec::new(),
    };
    compare(vec![Compared::default(), Compared::default()], vec![two], &[])
}

/// The interval of a row and what it is of, on the scale on which rows are compared.
fn scaled(row: &Row, systems: [&System; 2]) -> Option<(f64, [f64; 2], f64)> {
    let truths = systems.map(|system| system.truth(&row.of));
    match row.of.as_str() {
        "failed" => Some((row.difference?, row.difference_interval?, truths[1] - truths[0])),
        _ => {
            let interval = row.ratio_interval?.map(f64::ln);
            Some((row.ratio?.ln(), interval, (truths[1] / truths[0]).ln()))
        }
    }
}

/// What came of many comparisons.
#[derive(Default)]
struct Seen {
    comparisons: usize,
    /// All intervals that are told held the truth.
    held: usize,
    /// A difference was shown, in any number or at p99; and one into the wrong direction.
    differ: usize,
    wrong: usize,
    /// Off and half widths by row and comparison; none where it is not told.
    rows: Vec<Vec<Option<(f64, f64)>>>,
    names: Vec<String>,
}

impl Seen {
    fn push(&mut self, comparison: &Comparison, systems: [&System; 2]) {
        let rows = &comparison.pairs[0].rows;
        self.rows.resize_with(rows.len(), Vec::new);
        self.names = rows.iter().map(|row| row.of.clone()).collect();
        let mut all = true;
        for (row, kept) in rows.iter().zip(&mut self.rows) {
            let Some((value, [low, high], truth)) = scaled(row, systems) else {
                kept.push(None);
                continue;
            };
            all &= low <= truth + 1e-9 && truth <= high + 1e-9;
            kept.push(Some((value - truth, (high - low) / 2.0)));
            let wrong = match row.shown {
                Shown::Higher => truth <= 0.0,
                Shown::Lower => truth >= 0.0,
                _ => false,
            };
            self.wrong += usize::from(wrong);
        }
        self.comparisons += 1;
        self.held += usize::from(all);
        self.differ += usize::from(matches!(comparison.pairs[0].verdict, Verdict::Differs { .. }));
    }

    /// By row: how often it is told, and how wide it is against what all together need: so many standard deviations that the largest
    /// error of all rows exceeds them in 5 % of the comparisons.
    fn widths(&self) -> Vec<(String, usize, f64)> {
        let sds: Vec<f64> = self
            .rows
            .iter()
            .map(|row| {
                let offs: Vec<f64> = row.iter().flatten().map(|of| of.0).collect();
                (offs.iter().map(|off| off * off).sum::<f64>() / offs.len().max(1) as f64).sqrt()
            })
            .collect();
        let mut largest: Vec<f64> = (0..self.comparisons)
            .map(|i| {
                let of = |(row, sd): (&Vec<Option<(f64, f64)>>, &f64)| {
                    row[i].map(|(off, _)| off.abs() / sd.max(1e-12))
                };
                self.rows.iter().zip(&sds).filter_map(of).fold(0.0, f64::max)
            })
            .collect();
        largest.sort_by(f64::total_cmp);
        let needed = largest[(largest.len() * 95).div_ceil(100) - 1];
        let rows = self.rows.iter().zip(&sds).zip(&self.names);
        let width = |row: &[Option<(f64, f64)>], sd: f64, name: &str| {
            let told: Vec<f64> = row.iter().flatten().map(|of| of.1).collect();
            let mean = told.iter().sum::<f64>() / told.len().max(1) as f64;
            (name.to_owned(), told.len(), if sd > 1e-9 { mean / (needed * sd) } else { 0.0 })
        };
        rows.map(|((row, sd), name)| width(row, *sd, name)).collect()
    }
}

const BASE: (u32, f64) = (1, 0.001);

fn of_runs(comparisons: u64, seconds: i64, other: System, same_arrivals: bool) -> Seen {
    let base = System::new(BASE.0, BASE.1, 0.01);
    let mut seen = Seen::default();
    for i in 0..comparisons {
        let (first, second) = (10_000 + 2 * i, 10_001 + 2 * i);
        let arrivals = if same_arrivals { first } else { second };
        let runs =
            [base.play(seconds, first, first, &steady), other.play(seconds, arrivals, second, &steady)];
        seen.push(&two(&runs[0], &runs[1], same_arrivals), [&base, &other]);
    }
    seen
}

/// The fewest of so many that hold where 92 % do: less four standard errors.
fn least(n: usize) -> f64 {
    let n = n as f64;
    n * 0.92 - 4.0 * (n * 0.92 * 0.08).sqrt()
}

/// `widths_hold`: whether no interval is wider than 1.3 times what is needed.
fn hold(name: &str, seen: &Seen, widths_hold: bool) {
    let widths = seen.widths();
    let shown: Vec<String> =
        widths.iter().map(|(of, told, width)| format!("{of} {width:.2} ({told})")).collect();
    let n = seen.comparisons;
    println!(
        "{name}: all held in {} of {n}, differ {}, wrong {}; widths {}",
        seen.held,
        seen.differ,
        seen.wrong,
        shown.join(", ")
    );
    assert!(seen.held as f64 >= least(n), "{name}: {} of {n}", seen.held);
    // A direction is only wrong where an interval does not hold the truth.
    assert!(seen.wrong as f64 <= n as f64 - least(n), "{name}: {}", seen.wrong);
    let slack = 1.3 * (1.0 + 4.0 / (2.0 * n as f64).sqrt());
    for (of, told, width) in widths {
        // Numbers that are seldom told are told where chance makes them narrow; that is no statement on their width.
        assert!(!widths_hold || told * 2 < n || width <= slack, "{name}, {of}: {width}");
    }
}

fn recorded_runs(comparisons: u64, seconds: i64) {
    let cases = [
        ("M/M/1, equal", System::new(1, 0.001, 0.01), false),
        ("M/M/1, equal, same arrivals", System::new(1, 0.001, 0.01), true),
        ("M/M/1, service 2 % longer", System::new(1, 0.00102, 0.01), false),
        ("M/M/1, service 5 % longer, same arrivals", System::new(1, 0.00105, 0.02), true),
        ("M/M/2 of half the speed", System::new(2, 0.002, 0.01), false),
    ];
    for (name, other, same_arrivals) in cases {
        let seen = of_runs(comparisons, seconds, other, same_arrivals);
        // With the same arrivals the intervals of percentiles are up to twice as wide as is needed: docs/compare.md.
        hold(name, &seen, !same_arrivals);
        if name.contains("equal") {
            assert!(seen.differ as f64 <= comparisons as f64 - least(seen.comparisons), "{name}");
        }
    }
}

/// The two are told where the difference is large against chance: mean 9.5 and 5 ms.
#[test]
fn all_intervals_of_two_runs_hold_together() {
    recorded_runs(40, 60);
    let slower = of_runs(10, 60, System::new(1, 0.0011, 0.01), true);
    assert_eq!(slower.differ, 10);
}

#[test]
#[ignore = "nightly: two minutes in release mode"]
fn all_intervals_of_two_runs_hold_together_in_500_pairs() {
    recorded_runs(500, 100);
}

/// A host whose speed wanders by some per cent, slowly against a run.
fn drift(seed: u64) -> impl Fn(f64) -> f64 {
    let mut draws = Stream::new(seed, "drift").item(0);
    let (phase, level) = (draws.open01(), 0.97 + 0.06 * draws.open01());
    move |at| level * (1.0 + 0.02 * ((at / 20.0 + phase) * std::f64::consts::TAU).sin())
}

fn of_rounds(comparisons: u64, rounds: u64, seconds: i64, other: System) -> Seen {
    let base = System::new(BASE.0, BASE.1, 0.01);
    let mut seen = Seen::default();
    for i in 0..comparisons {
        let round = |r: u64| {
            let seed = 100_000 + 2 * (i * rounds + r);
            // Both runs of a round meet nearly the same host.
            let host = drift(seed);
            vec![base.play(seconds, seed, seed, &host), other.play(seconds, seed, seed + 1, &host)]
        };
        let rounds: Vec<Vec<Observed>> = (0..rounds).map(round).collect();
        let runs = vec![Compared::default(), Compared::default()];
        let none = |_| Vec::new();
        seen.push(&compare_rounds(runs, &rounds, &none, &|_| Vec::new(), &[]), [&base, &other]);
    }
    seen
}

/// Two equal systems: over rounds on a host that wanders, all intervals hold the truth, and no difference is shown in 19 of 20.
#[test]
fn rounds_of_equal_systems_are_not_called_different() {
    let seen = of_rounds(40, 10, 10, System::new(1, 0.001, 0.01));
    hold("rounds, equal", &seen, true);
    assert!(seen.differ <= 40 - least(40) as usize, "{}", seen.differ);
    let slower = of_rounds(10, 10, 20, System::new(1, 0.00103, 0.01));
    println!("service 3 % longer: told in {} of 10", slower.differ);
    assert!(slower.differ >= 9, "{}", slower.differ);
    assert_eq!(slower.wrong, 0);
}

#[test]
#[ignore = "nightly: a minute in release mode"]
fn rounds_hold_together_in_500_comparisons() {
    hold("rounds, equal", &of_rounds(500, 10, 10, System::new(1, 0.001, 0.01)), true);
}
