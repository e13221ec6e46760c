//! How two targets are compared on a host whose speed wanders: in rounds, or in two runs one after the other. Not published: the
//! measurement behind `headway compare --live`.
//!
//! Two equal M/M/1 queues by Lindley's recursion, their services slowed by a host's recorded speed, replayed from an instant at random.

use super::{Cell, Lab, Quantity, Range, Report, SCHEMA, Table, TableRow, replicate};
use headway_base::random::{Draws, Stream};
use headway_base::special::exponential;
use headway_base::{Nanos, Outcome, Record};
use headway_stats::comparison::{
    Compared, Comparison, Observed, Observing, Row, Two, compare, compare_rounds,
};
use headway_stats::summary::NotComputed;

/// The experiment.
pub struct Compare;

/// Response time of a fixed request in microseconds: of half an hour, the medians over 15 s of the means of each second, so that stalls
/// of single seconds are not taken for the speed of the host. Recorded on 2026-11-25 on two cores of a virtual machine on which others
/// compiled; one connection, 200 requests a second, `headway serve --service 'const(200us)'`.
const SHARED: &str = include_str!("compare/shared.txt");
/// Processor time of a fixed amount of work in microseconds, of each second of a quarter of an hour, by `bench/drift.py`. Recorded on
/// the same machine and day, while others measured small loads on it.
const QUIET: &str = include_str!("compare/quiet.txt");

/// Arrivals per second, and the mean service time in seconds.
const RATE: f64 = 500.0;
const SERVICE: f64 = 0.0004;
/// Rounds, and the lengths of a run's warm-up and of its measured phase in seconds.
const ROUNDS: u64 = 10;
const WARMUP: f64 = 1.0;
const EACH: f64 = 8.0;
/// All that rounds take, in seconds.
const TOTAL: f64 = ROUNDS as f64 * 2.0 * (WARMUP + EACH);

/// How many times as long two runs one after the other take: at most as long as the shorter record.
const TIMES: [f64; 4] = [1.0, 2.0, 3.0, 5.0];

/// The numbers that are looked at.
const NUMBERS: [&str; 3] = ["mean", "p50", "p99"];

/// How the speed of the host goes: by what work takes longer than in the middle, and the seconds between two such numbers.
struct Host {
    slows: Vec<f64>,
    step: f64,
}

impl Host {
    /// As it was recorded, against its median.
    fn recorded(text: &str, step: f64) -> Host {
        let times: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
        Host { slows: times.iter().map(|time| time / median).collect(), step }
    }

    fn steady() -> Host {
        Host { slows: vec![1.0], step: 1.0 }
    }

    /// By how much it slows a service at an instant, in seconds from the beginning of the record, which repeats itself.
    fn slows(&self, at: f64) -> f64 {
        let n = self.slows.len();
        let place = (at / self.step).rem_euclid(n as f64);
        let (before, part) = (place as usize % n, place.fract());
        self.slows[before] * (1.0 - part) + self.slows[(before + 1) % n] * part
    }
}

/// A run from that instant of the host.
fn play(host: &Host, from: f64, seconds: f64, arrivals: u64, own: u64) -> Observed {
    let draws = |seed, name| -> Draws { Stream::new(seed, name).item(0) };
    let (mut gaps, mut services) = (draws(arrivals, "lab-compare-gaps"), draws(own, "lab-compare-services"));
    let nanos = Nanos::from_secs_f64;
    let measured = nanos(WARMUP)..nanos(WARMUP + seconds);
    let mut seen = Observing::new(&measured, &["request".into()], &[]);
    let (mut at, mut free) = (0.0f64, 0.0f64);
    for k in 0.. {
        at += exponential(&mut gaps) / RATE;
        free = free.max(at) + exponential(&mut services) * SERVICE * host.slows(from + at);
        let due = nanos(at);
        if due >= measured.end {
            break;
        }
        let record = Record::never_started(k, due, nanos(free), Outcome::Ok);
        seen.push(&Record {
            started: due.into(),
            sent: due.into(),
            first_byte: nanos(free).into(),
            ..record
        });
    }
    seen.finish(measured.end)
}

/// What a comparison says of one number: the logarithm of the ratio, which is truly 0, and half the width of its interval.
type Told = Option<(f64, f64)>;

fn told(comparison: &Comparison) -> [Told; 3] {
    let of = |row: &Row| {
        let [low, high] = row.ratio_interval?.map(f64::ln);
        Some((row.ratio?.ln(), (high - low) / 2.0))
    };
    NUMBERS.map(|name| {
        comparison.pairs[0].rows.iter().find(|row| row.of.key() == name && row.label.is_none()).and_then(of)
    })
}

fn unnamed() -> Vec<Compared> {
    vec![Compared::default(), Compared::default()]
}

fn in_rounds(host: &Host, from: f64, seed: u64) -> [Told; 3] {
    let length = WARMUP + EACH;
    let order = Stream::new(seed, "lab-compare-order");
    let round = |r: u64| {
        let plan = seed.wrapping_add(r);
        let begins = [0, 1].map(|place| from + (2.0 * r as f64 + f64::from(place)) * length);
        let second_first = order.bits(r, 0) % 2 == 1;
        let [a, b] = if second_first { [begins[1], begins[0]] } else { begins };
        vec![
            play(host, a, EACH, plan, plan.wrapping_mul(3)),
            play(host, b, EACH, plan, plan.wrapping_mul(3).wrapping_add(1)),
        ]
    };
    let rounds: Vec<Vec<Observed>> = (0..ROUNDS).map(round).collect();
    told(&compare_rounds(unnamed(), &rounds, &|_| Vec::new(), &|_| Vec::new(), &[]))
}

/// Two runs one after the other; both together take this number of seconds.
fn in_a_row(host: &Host, from: f64, total: f64, seed: u64) -> [Told; 3] {
    let each = total / 2.0;
    let runs = [(from, seed), (from + each, seed.wrapping_add(1))]
        .map(|(from, own)| play(host, from, each - WARMUP, seed, own.wrapping_mul(3)));
    let nothing = NotComputed::default();
    let two = Two {
        runs: [0, 1],
        point: Default::default(),
        observed: [&runs[0], &runs[1]],
        not_computed: [&nothing, &nothing],
        same_arrivals: true,
        same_records: false,
        of_model: false,
        obstacles: Vec::new(),
        differs: Vec::new(),
    };
    told(&compare(unnamed(), vec![two], &[]))
}

/// What a design came to over all replications.
struct Design {
    name: String,
    total: f64,
    warmup: f64,
    all: Vec<[Told; 3]>,
}

impl Design {
    /// Half the width that an interval of 95 % of the number needs, in per cent: 1.96 root mean squares of the error.
    fn needed(&self, number: usize) -> f64 {
        let errors: Vec<f64> = self.all.iter().filter_map(|of| Some(of[number]?.0)).collect();
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
        100.0 * 1.96 * square.sqrt()
    }

    /// Half the widths of the intervals that were printed, in per cent.
    fn printed(&self, number: usize) -> Option<Range> {
        Range::of(self.all.iter().filter_map(|of| Some(100.0 * of[number]?.1)).collect())
    }

    /// Share of the intervals that held the truth.
    fn held(&self, number: usize) -> f64 {
        let told: Vec<bool> =
            self.all.iter().filter_map(|of| of[number].map(|(off, half)| off.abs() <= half)).collect();
        100.0 * told.iter().filter(|held| **held).count() as f64 / told.len().max(1) as f64
    }

    fn row(&self, number: usize) -> TableRow {
        let only = |value: f64| Cell::observed(Range::of(vec![value]));
        TableRow {
            name: format!("{}, {}", self.name, NUMBERS[number]),
            cells: vec![
                only(self.total),
                only(self.warmup),
                Cell::observed(self.printed(number)),
                only(self.needed(number)),
                only(self.held(number)),
            ],
        }
    }
}

/// What both designs come to on a host.
struct Designs {
    rounds: Design,
    /// By [`TIMES`].
    in_a_row: Vec<Design>,
}

fn designs(host: &Host, seed: u64, replications: u64) -> Designs {
    let length = host.step * host.slows.len() as f64;
    let from = |seed: u64| length * Stream::new(seed, "lab-compare-from").item(0).open01();
    let rounds = Design {
        name: "rounds".into(),
        total: TOTAL,
        warmup: 100.0 * WARMUP / (WARMUP + EACH),
        all: replicate(seed, replications, |seed| in_rounds(host, from(seed), seed)),
    };
    let in_a_row = TIMES.map(|times| Design {
        name: if times > 1.0 { format!("in a row, {times:.0} times as long") } else { "in a row".into() },
        total: times * TOTAL,
        warmup: 100.0 * 2.0 * WARMUP / TOTAL / times,
        all: replicate(seed, replications, |seed| in_a_row(host, from(seed), times * TOTAL, seed)),
    });
    Designs { rounds, in_a_row: in_a_row.into() }
}

impl Designs {
    fn all(&self) -> impl Iterator<Item = &Design> {
        std::iter::once(&self.rounds).chain(&self.in_a_row)
    }

    /// What two runs one after the other take for the half width that rounds need.
    fn longer(&self, number: usize) -> String {
        let reached = |design: &Design| design.needed(number) <= self.rounds.needed(number);
        match self.in_a_row.iter().position(reached) {
            Some(0) => "no more time".into(),
            Some(k) => format!("{:.0} to {:.0} times that time", TIMES[k - 1], TIMES[k]),
            None => format!("more than {:.0} times that time", TIMES[TIMES.len() - 1]),
        }
    }
}

impl Lab for Compare {
    fn name(&self) -> &'static str {
        "compare"
    }

    fn about(&self) -> &'static str {
        "Two equal targets compared in rounds, or in two runs one after the other, on a host whose speed wanders"
    }

    fn replications(&self) -> u64 {
        60
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let hosts = [
            ("A host on which others compile", Host::recorded(SHARED, 15.0)),
            ("The same host with little else to do", Host::recorded(QUIET, 1.0)),
            ("A steady host", Host::steady()),
        ];
        let all = hosts.map(|(name, host)| (name, designs(&host, seed, replications)));
        let quantities = vec![
            Quantity::new("time s", 0),
            Quantity::new("warmup%", 1),
            Quantity::new("half w.%", 2),
            Quantity::new("needed%", 2),
            Quantity::new("held %", 0),
        ];
        let table = |(name, designs): &(&str, Designs)| Table {
            title: format!(
                "{name}: half the width of the interval of the ratio as printed and as needed (1.96 root mean squares of the error)"
            ),
            key: "design and number",
            source: "",
            quantities: quantities.clone(),
            rows: designs.all().flat_map(|design| (0..NUMBERS.len()).map(|i| design.row(i))).collect(),
            spread: false,
        };
        let tables: Vec<Table> = all.iter().map(table).collect();
        let mut notes = Vec::new();
        for (name, designs) in &all {
            let longer = |i: usize| format!("{} at {}", designs.longer(i), NUMBERS[i]);
            let longer: Vec<String> = (0..NUMBERS.len()).map(longer).collect();
            notes.push(format!(
                "{name}: for the half width that rounds need in {TOTAL:.0} s, two runs one after the other need {}.",
                longer.join(", ")
            ));
        }
        let [.., (_, steady)] = &all;
        for (i, number) in NUMBERS.into_iter().enumerate() {
            if let (Some(a), Some(b)) = (steady.rounds.printed(i), steady.in_a_row[0].printed(i)) {
                notes.push(format!(
                    "A steady host, at {number}: the interval of rounds is {:.2} times as wide as that of two runs in the same time.",
                    a.mean / b.mean
                ));
            }
        }
        notes.push(format!(
            "Warm-up takes {:.1} % of the time of rounds, and {:.1} % of that of two runs of the same time.",
            steady.rounds.warmup, steady.in_a_row[0].warmup
        ));
        notes.push(format!(
            "A half width as needed is off by {:.0} % in one standard error of {replications} replications.",
            100.0 / (2.0 * replications as f64).sqrt()
        ));
        Ok(Report {
            schema: SCHEMA,
            name: self.name(),
            about: self.about(),
            seed,
            rows: tables.iter().flat_map(Table::listed).collect(),
            tables,
            figures: Vec::new(),
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_replayed_between_its_seconds_and_repeats_itself() {
        let host = Host { slows: vec![1.0, 2.0, 4.0], step: 15.0 };
        let slows = [0.0, 7.5, 15.0, 37.5, 45.0, -15.0].map(|at| host.slows(at));
        assert_eq!(slows, [1.0, 1.5, 2.0, 2.5, 1.0, 4.0]);
        for (text, step) in [(SHARED, 15.0), (QUIET, 1.0)] {
            let host = Host::recorded(text, step);
            // The longest design does not meet the same stretch twice.
            assert!(host.slows.len() as f64 * step >= TIMES[TIMES.len() - 1] * TOTAL, "{}", host.slows.len());
            assert!(host.slows.iter().all(|of| of.is_finite() && *of > 0.0));
        }
    }

    /// Rounds do not mistake the host for the targets: where others compile, what two runs need which take three times as long is more
    /// than what rounds need; without drift the intervals of rounds are at most 1.3 times as wide.
    #[test]
    fn rounds_need_a_third_of_the_time_of_two_runs_in_a_row() {
        let shared = designs(&Host::recorded(SHARED, 15.0), 1, 12);
        let steady = designs(&Host::steady(), 1, 12);
        for (number, name) in NUMBERS.iter().enumerate() {
            let (rounds, longer) = (shared.rounds.needed(number), shared.in_a_row[2].needed(number));
            assert!(rounds <= longer, "{name}: {rounds} {longer}");
            let wide = |design: &Design| design.printed(number).unwrap().mean;
            assert!(wide(&steady.rounds) <= 1.3 * wide(&steady.in_a_row[0]), "{name}");
        }
    }
}
