//! Which kinds of traffic are called independent: true effects, half widths, shares. The table stands in docs/trust.md.
//!
//! Each file is cut out of its traffic at a random instant. 100 arrivals a second, stamps in nanoseconds unless said.

mod kinds;

use crate::world::draws;
use headway_base::{Batch, Nanos, Start};
use headway_stats::summary::evidence::{Starts, VariesLess};
use headway_stats::summary::{Evidence, Finding, FindingId, Pattern, ScaleEnd, Summary};
use headway_stats::{Analysis, Facts, Setup, Workload};
use kinds::Make;
use std::collections::BTreeMap;

/// Seconds per unit of time of the kinds.
const UNIT: f64 = 0.01;

/// What is known of a kind.
enum Truth {
    /// Poisson: independent in at least this share of the files.
    Poisson(f64),
    /// Independent up to a scale that ends at a window of at most so many headways.
    UpTo(f64),
    /// An effect at its bound: independent in at most one file of twenty.
    Boundary,
    /// An effect outside of its bound by half the width of its interval at least: never independent.
    Outside,
}

use Truth::{Boundary, Outside, Poisson, UpTo};

struct Kind {
    name: &'static str,
    /// The rule that the effect is one of, and the effect.
    effect: (&'static str, f64),
    truth: Truth,
    n: usize,
    /// Step of the stamps in units of time; 0 for nanoseconds.
    grid: f64,
    make: Make,
}

const fn kind(
    name: &'static str,
    rule: &'static str,
    effect: f64,
    truth: Truth,
    n: usize,
    make: Make,
) -> Kind {
    Kind { name, effect: (rule, effect), truth, n, grid: 0.0, make }
}

const fn stamped(grid: f64, kind: Kind) -> Kind {
    Kind { grid, ..kind }
}

static KINDS: [Kind; 38] = [
    kind("Poisson", "cov", 1.0, Poisson(0.95), 10_000, kinds::poisson),
    kind("Poisson", "cov", 1.0, Poisson(0.99), 30_000, kinds::poisson),
    stamped(0.1, kind("Poisson, stamps of 1 ms", "cov", 1.0, Poisson(0.99), 30_000, kinds::poisson)),
    stamped(0.4, kind("Poisson, stamps of 4 ms", "cov", 1.0, Poisson(0.99), 30_000, kinds::poisson)),
    stamped(5.0, kind("Poisson, stamps of 50 ms", "dispersion", 1.0, Poisson(0.95), 30_000, kinds::poisson)),
    kind("200 users, uniform think time", "dispersion", 0.97, UpTo(160.0), 30_000, |u, t| {
        kinds::uniform_think(u, t, 200)
    }),
    kind("100 in each second, random within", "dispersion", 0.9, UpTo(40.0), 30_000, |u, t| {
        kinds::fixed_counts(u, t, 100)
    }),
    kind("gamma headways, CoV 0.9", "cov", 0.9, Outside, 10_000, |u, t| kinds::gamma(u, t, 0.9)),
    kind("gamma headways, CoV 0.95", "cov", 0.95, Boundary, 30_000, |u, t| kinds::gamma(u, t, 0.95)),
    kind("gamma headways, CoV 1.05", "cov", 1.05, Boundary, 30_000, |u, t| kinds::gamma(u, t, 1.05)),
    kind("gamma headways, CoV 1.1", "cov", 1.1, Outside, 10_000, |u, t| kinds::gamma(u, t, 1.1)),
    kind("uniform headways", "cov", 0.577, Outside, 10_000, kinds::uniform_gaps),
    kind("lognormal headways, CoV 1", "ks", 0.12, Outside, 10_000, kinds::lognormal),
    kind("correlated headways, lag-1 0.1", "lag1", 0.1, Boundary, 30_000, |u, t| {
        kinds::correlated(u, t, 0.1)
    }),
    kind("correlated headways, lag-1 0.2", "lag1", 0.2, Outside, 10_000, |u, t| kinds::correlated(u, t, 0.2)),
    kind("a metronome", "cov", 0.0, Outside, 10_000, |_, t| kinds::batches(t, 1)),
    kind("two at once every 20 ms", "dispersion", 0.0, Outside, 10_000, |_, t| kinds::batches(t, 2)),
    kind("ten at once every 100 ms", "cov", 3.0, Outside, 10_000, |_, t| kinds::batches(t, 10)),
    kind("ten at once at random", "cov", 4.36, Outside, 10_000, kinds::random_batches),
    kind("pages at random, each with nine assets", "dispersion", 9.0, Outside, 10_000, kinds::pages),
    kind("2 constant rates", "dispersion", 0.0, Outside, 10_000, |u, t| kinds::constants(u, t, 2)),
    kind("10 constant rates", "dispersion", 0.0, Outside, 10_000, |u, t| kinds::constants(u, t, 10)),
    kind("50 constant rates", "line", 0.3, Outside, 10_000, |u, t| kinds::constants(u, t, 50)),
    kind("20 users, constant think time", "line", 0.5, Outside, 10_000, |u, t| {
        kinds::constant_think(u, t, 20)
    }),
    kind("50 users, constant think time", "line", 0.3, Outside, 30_000, |u, t| {
        kinds::constant_think(u, t, 50)
    }),
    kind("200 users, constant think time", "line", 0.18, Outside, 30_000, |u, t| {
        kinds::constant_think(u, t, 200)
    }),
    kind("rate follows a sine of 5 %, 0.5 s", "line", 0.05, Boundary, 100_000, |u, t| {
        kinds::sine(u, t, 0.05, 50.0)
    }),
    kind("rate follows a sine of 10 %, 0.5 s", "line", 0.1, Outside, 30_000, |u, t| {
        kinds::sine(u, t, 0.1, 50.0)
    }),
    kind("rate follows a sine of 10 %, 7.3 s", "line", 0.1, Outside, 30_000, |u, t| {
        kinds::sine(u, t, 0.1, 730.0)
    }),
    kind("rate 20 % up or down, for 1 s on average", "dispersion", 1.36, Outside, 30_000, |u, t| {
        kinds::modulated(u, t, 0.2, 100.0)
    }),
    kind("Poisson, held up to ticks of 3.3 ms", "ks", 0.15, Outside, 10_000, |u, t| {
        kinds::ticks(u, t, 0.333)
    }),
    kind("Poisson, held up to ticks of 7.3 ms", "ks", 0.29, Outside, 10_000, |u, t| kinds::ticks(u, t, 0.73)),
    kind("Poisson, held up to ticks of 10 ms", "cov", 1.08, Outside, 10_000, |u, t| kinds::ticks(u, t, 1.0)),
    kind("Poisson, held up to ticks of 16.7 ms", "cov", 1.20, Outside, 10_000, |u, t| {
        kinds::ticks(u, t, 1.67)
    }),
    kind("Poisson, held up to ticks of 33.3 ms", "cov", 1.60, Outside, 10_000, |u, t| {
        kinds::ticks(u, t, 3.33)
    }),
    kind("100 starts that repeat every second", "line", 0.5, Outside, 30_000, |u, t| {
        kinds::repeated(u, t, 100)
    }),
    kind("1,000 starts that repeat every 10 s", "line", 0.25, Outside, 30_000, |u, t| {
        kinds::repeated(u, t, 1_000)
    }),
    stamped(
        5.0,
        kind("20 at once every 187 ms, stamps of 50 ms", "line", 1.0, Outside, 10_000, |_, t| {
            kinds::batches(t * 20.0 / 18.7, 20).iter().map(|at| at * 18.7 / 20.0).collect()
        }),
    ),
];

/// Judges a file cut out of this traffic at a random instant.
fn judged(kind: &Kind, seed: u64) -> Summary {
    let mut u = draws(seed);
    let skipped = 100.0 + 300.0 * u.open01();
    let end = kind.n as f64 + skipped;
    let times = (kind.make)(&mut u, end + 1_100.0);
    let grid = ((kind.grid * UNIT * 1e9) as i64).max(1);
    let stamp = |t: &f64| ((t - skipped) * UNIT * 1e9) as i64 / grid * grid;
    let kept: Vec<i64> = times.iter().filter(|&&t| t >= skipped && t < end).map(stamp).collect();
    of(&kept, grid)
}

fn of(starts: &[i64], grid: i64) -> Summary {
    let (first, last) = (starts[0], starts[starts.len() - 1]);
    let mut analysis = Analysis::new(Setup {
        measured: Nanos(first)..Nanos(last + 1),
        workload: Workload::Foreign,
        resolution: Nanos(grid),
        rate: Some(starts.len() as f64 * 1e9 / (last - first) as f64),
        ..Setup::default()
    });
    analysis.batch(&Batch {
        starts: starts.iter().map(|&at| Start::arrival(Nanos(at), Nanos(at), 0)).collect(),
        watermark: Nanos(last),
        last: true,
        ..Batch::default()
    });
    analysis.finish(Facts::default())
}

/// How many of `replications` files are called what, and the mean value and half width of the rule that the effect is of.
struct Seen {
    called: BTreeMap<String, u64>,
    independent: u64,
    value: f64,
    half: f64,
    /// Longest scale, in headways.
    scale: f64,
}

fn seen(kind: &Kind, replications: u64) -> Seen {
    let mut seen = Seen { called: BTreeMap::new(), independent: 0, value: 0.0, half: 0.0, scale: 0.0 };
    for seed in 0..replications {
        let verdict = judged(kind, 1_000 * seed + kind.n as u64 + kind.name.len() as u64).verdict;
        *seen.called.entry(format!("{:?}", verdict.pattern).to_lowercase()).or_default() += 1;
        seen.independent += u64::from(verdict.pattern == Pattern::Independent);
        seen.scale = verdict.pattern_scale_s.map_or(0.0, |s| s / UNIT).max(seen.scale);
        if let Some(rule) = verdict.pattern_rules.iter().find(|rule| rule.rule.as_str() == kind.effect.0) {
            let [low, high] = rule.interval.unwrap_or_default();
            seen.value += rule.value.unwrap_or(f64::NAN) / replications as f64;
            seen.half += 0.5 * (high - low) / replications as f64;
        }
    }
    seen
}

/// Bounds with 4 standard errors of the number of files.
fn check(kind: &Kind, replications: u64) -> Seen {
    let seen = seen(kind, replications);
    let n = replications as f64;
    let reach = |share: f64| 4.0 * (n * share * (1.0 - share)).sqrt();
    let independent = seen.independent as f64;
    match kind.truth {
        Poisson(share) => {
            assert!(independent >= n * share - reach(share), "{}: {:?}", kind.name, seen.called)
        }
        UpTo(scale) => {
            assert!(independent >= n * 0.95 - reach(0.95), "{}: {:?}", kind.name, seen.called);
            assert!(seen.scale <= 1.2 * scale, "{}: {}", kind.name, seen.scale);
        }
        Boundary => assert!(independent <= n * 0.05 + reach(0.05), "{}: {:?}", kind.name, seen.called),
        Outside => assert_eq!(seen.independent, 0, "{}: {:?}", kind.name, seen.called),
    }
    seen
}

#[test]
fn only_independent_traffic_is_called_independent() {
    for kind in KINDS.iter().filter(|kind| kind.n <= 30_000) {
        let replications = if matches!(kind.truth, Poisson(_)) { 8 } else { 1 };
        check(kind, replications);
    }
}

#[test]
#[ignore = "nightly: 400 files of each kind, or FILES"]
fn table_of_the_kinds_of_traffic() {
    println!("| kind | n | effect | true | measured | half width | independent | others |");
    println!("|---|---|---|---|---|---|---|---|");
    // Two kinds at a time.
    let parts = [0, 1].map(|part| KINDS.iter().enumerate().filter(move |(i, _)| i % 2 == part));
    let mut rows: Vec<(usize, String)> = std::thread::scope(|scope| {
        let threads =
            parts.map(|part| scope.spawn(|| part.map(|(i, kind)| (i, line(kind))).collect::<Vec<_>>()));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    rows.sort();
    rows.iter().for_each(|(_, row)| println!("{row}"));
}

/// A row of the table.
fn line(kind: &Kind) -> String {
    let files = std::env::var("FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let replications = if kind.n > 30_000 { files.min(300) } else { files };
    let seen = check(kind, replications);
    let others: Vec<String> = seen
        .called
        .iter()
        .filter(|(word, _)| *word != "independent")
        .map(|(word, n)| format!("{word} {n}"))
        .collect();
    format!(
        "| {} | {} | {} | {} | {:.3} | {:.3} | {} of {replications} | {} |",
        kind.name,
        kind.n,
        kind.effect.0,
        kind.effect.1,
        seen.value,
        seen.half,
        seen.independent,
        others.join(", ")
    )
}

/// The scale is named, and what ends it.
#[test]
fn the_scale_ends_where_users_take_turns_or_seconds_are_full() {
    let of = |name: &str| {
        let kind = KINDS.iter().find(|kind| kind.name == name && kind.n == 30_000).unwrap();
        judged(kind, 5)
    };
    let poisson = of("Poisson").verdict;
    assert_eq!(poisson.pattern_scale_end, Some(ScaleEnd::Length));
    assert!(poisson.pattern_scale_s > Some(0.35) && poisson.starts_each_second.is_none());
    let users = of("200 users, uniform think time").verdict;
    assert_eq!(users.pattern_scale_end, Some(ScaleEnd::Fewer));
    let seconds = of("100 in each second, random within").verdict;
    assert_eq!((seconds.pattern_scale_end, seconds.starts_each_second), (Some(ScaleEnd::Fewer), Some(100)));
    let why = |found: &Finding| match found.evidence[..] {
        [Evidence::Starts(Starts::FixedPopulation { why, .. })] => Some(why),
        _ => None,
    };
    assert_eq!(seconds.findings.iter().find_map(why), Some(VariesLess::EachSecond { n: 100 }));
    let repeated = of("100 starts that repeat every second").verdict;
    assert!((repeated.pattern_repeats_s.unwrap() - 1.0).abs() < 1e-3);
}

/// One pause in a metronome: even, and it is said that the pause was left out. A pause in Poisson arrivals is not
/// overlooked.
#[test]
fn one_pause_does_not_hide_what_the_load_is() {
    let paused = |mut times: Vec<f64>| {
        let half = times.len() / 2;
        times.iter_mut().skip(half).for_each(|t| *t += 154.0);
        of(&times.iter().map(|t| (t * 1e6) as i64).collect::<Vec<_>>(), 1)
    };
    let metronome = paused(kinds::batches(6_000.0, 1)).verdict;
    assert_eq!(metronome.pattern, Pattern::Even, "{:#?}", metronome.pattern_rules);
    let mut u = draws(2);
    let mut trembling = kinds::batches(6_000.0, 1);
    trembling.iter_mut().for_each(|t| *t += 0.4 * u.open01());
    let metronome = paused(trembling).verdict;
    assert_eq!(metronome.pattern, Pattern::Even, "{:#?}", metronome.pattern_rules);
    assert_ne!(metronome.pattern_otherwise, None);
    let found = metronome.findings.iter().find(|f| f.id == FindingId::LongestGaps).unwrap();
    let [Evidence::Starts(Starts::LongestGaps { n: 1, longest_s, pattern, otherwise })] = found.evidence[..]
    else {
        panic!("{found:?}")
    };
    assert!(pattern.is_judged_without_pauses(otherwise) && found.at.len() == 1, "{found:?}");
    assert!((longest_s - 0.155).abs() < 0.001, "{longest_s}");
    let poisson = paused(kinds::poisson(&mut draws(3), 20_000.0)).verdict;
    assert_ne!(poisson.pattern, Pattern::Independent);
    assert_eq!(poisson.pattern_otherwise, Some(Pattern::Independent));
}

/// Undecided loads say how many arrivals would decide: as many do, and the number is the same for one stretch of a load and the next.
#[test]
fn as_many_arrivals_as_are_named_decide() {
    let few = |n: usize, seed| {
        judged(&Kind { n, ..kind("", "cov", 1.0, Outside, 0, kinds::poisson) }, seed).verdict
    };
    let mut decided = 0;
    let mut named = Vec::new();
    for seed in 0..20 {
        let short = few(2_000, seed);
        assert_eq!(short.pattern, Pattern::Undecided);
        let needs = short.pattern_needs.unwrap() as usize;
        named.push(needs);
        decided += u64::from(few(needs, 100 + seed).pattern == Pattern::Independent);
    }
    assert!(decided >= 14, "{decided} of 20");
    let (least, most) = (named.iter().min().unwrap(), named.iter().max().unwrap());
    assert!(*least >= 6_000 && *most <= 2 * least, "{named:?}");
}
