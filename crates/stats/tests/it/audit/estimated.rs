//! By how much a p99 is off: the interval holds the truth where it is printed, and is withheld where the target is no station that
//! serves in order.
//!
//! Targets and starts are drawn from a seed. The truth is played: the same starts (a closed load anew), and independent ones at the same
//! rate, each through the true target many times over.

use super::auditing::audit;
use super::traffic::Load;
use headway_base::random::{Draws, Stream};
use headway_base::{Nanos, Outcome, Record};
use headway_stats::summary::{P99Off, Stated, Why};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Mean service time in nanoseconds.
const SERVICE: f64 = 1e7;
/// Responses by which a true percentile is taken.
const PLAYED: usize = 300_000;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// c servers, first come first served.
    InOrder,
    /// The same capacity, shared by all.
    Shared,
    /// In order, and its speed rises and falls three times.
    Varying,
    /// In order, and twice as fast for a request that comes soon after another.
    Cache,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Starts {
    /// Independent, released on the ticks of a timer.
    Ticks,
    /// Several at once, at a constant pace.
    Batches,
    /// Independent, but for pauses of the generator.
    Pauses,
    /// At a constant rate.
    Constant,
    /// Users that wait for their responses.
    Closed,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    Exponential,
    Constant,
    Erlang,
    Mixture,
}

fn exponential(draws: &mut Draws) -> f64 {
    -draws.open01().ln()
}

fn one_of<T: Copy>(all: &[T], draws: &mut Draws) -> T {
    all[(draws.open01() * all.len() as f64) as usize]
}

struct Case {
    kind: Kind,
    servers: usize,
    law: Law,
    started: Vec<i64>,
    done: Vec<i64>,
    /// Users and their mean think time, of a closed load.
    users: Option<(usize, f64)>,
}

impl Law {
    fn draw(self, draws: &mut Draws) -> f64 {
        let unit = match self {
            Law::Exponential => exponential(draws),
            Law::Constant => 1.0,
            Law::Erlang => (0..4).map(|_| exponential(draws)).sum::<f64>() / 4.0,
            Law::Mixture if draws.open01() < 0.9 => 0.5 * exponential(draws),
            Law::Mixture => 5.5 * exponential(draws),
        };
        SERVICE * unit
    }
}

fn idle(servers: usize) -> BinaryHeap<Reverse<i64>> {
    (0..servers).map(|_| Reverse(i64::MIN)).collect()
}

fn serve(free: &mut BinaryHeap<Reverse<i64>>, at: i64, service: f64) -> i64 {
    let first = free.pop().unwrap().0;
    let done = first.max(at) + service as i64;
    free.push(Reverse(done));
    done
}

/// When requests end that start then.
fn ends(kind: Kind, servers: usize, law: Law, started: &[i64], draws: &mut Draws) -> Vec<i64> {
    if kind == Kind::Shared {
        return shared(servers, law, started, draws);
    }
    let mut free = idle(servers);
    let (first, n) = (started[0], started.len());
    let span = (started[n - 1] - first) as f64;
    (0..n)
        .map(|i| {
            let begins = free.peek().unwrap().0.max(started[i]);
            let through = (begins - first) as f64 / span;
            let soon = i > 0 && ((started[i] - started[i - 1]) as f64) < 0.3 * span / n as f64;
            let times = match kind {
                Kind::Varying => 1.0 + 0.5 * (std::f64::consts::TAU * 3.0 * through).sin(),
                Kind::Cache if soon => 0.5,
                _ => 1.0,
            };
            serve(&mut free, started[i], times * law.draw(draws))
        })
        .collect()
}

/// Processor sharing: each of k requests is served at a speed of 1, or of servers / k where that is less.
fn shared(servers: usize, law: Law, started: &[i64], draws: &mut Draws) -> Vec<i64> {
    let mut done = vec![0; started.len()];
    let mut there: Vec<(f64, usize)> = Vec::new();
    let (mut now, mut next) = (started[0] as f64, 0);
    while next < started.len() || !there.is_empty() {
        let speed = (servers as f64 / there.len().max(1) as f64).min(1.0);
        let first = (0..there.len()).min_by(|&a, &b| there[a].0.total_cmp(&there[b].0));
        let ends = first.map_or(f64::INFINITY, |i| now + there[i].0 / speed);
        let comes = started.get(next).map_or(f64::INFINITY, |&at| at as f64);
        let until = ends.min(comes);
        there.iter_mut().for_each(|one| one.0 -= (until - now) * speed);
        now = until;
        match first {
            Some(i) if ends < comes => done[there.swap_remove(i).1] = now as i64,
            _ => {
                there.push((law.draw(draws), next));
                next += 1;
            }
        }
    }
    done
}

fn closed(
    servers: usize,
    law: Law,
    (users, think): (usize, f64),
    n: usize,
    draws: &mut Draws,
) -> [Vec<i64>; 2] {
    let thinks = |draws: &mut Draws| (think * exponential(draws)) as i64;
    let mut ready: BinaryHeap<Reverse<i64>> = (0..users).map(|_| Reverse(thinks(draws))).collect();
    let (mut free, mut started, mut done) = (idle(servers), Vec::new(), Vec::new());
    for _ in 0..n {
        let at = ready.pop().unwrap().0;
        let end = serve(&mut free, at, law.draw(draws));
        started.push(at);
        done.push(end);
        ready.push(Reverse(end + thinks(draws)));
    }
    [started, done]
}

fn open(starts: Starts, n: usize, mean: f64, draws: &mut Draws) -> Vec<i64> {
    let (tick, batch) = (mean * (2.0 + 6.0 * draws.open01()), 2 + (8.0 * draws.open01()) as usize);
    let (mut at, mut pause) = (0.0, 50.0 * mean);
    let mut all: Vec<i64> = Vec::with_capacity(n);
    for i in 0..n {
        at += mean * exponential(draws);
        let start = match starts {
            Starts::Ticks => (at / tick).ceil() * tick,
            Starts::Batches => (i / batch * batch) as f64 * mean,
            Starts::Constant => (i as f64 + 0.05 * draws.open01()) * mean,
            _ => {
                while at > pause + 12.0 * mean {
                    pause += 100.0 * mean * exponential(draws);
                }
                if at > pause { pause + 12.0 * mean } else { at }
            }
        };
        // Two cannot be sent within 5 us.
        all.push((start as i64).max(all.last().map_or(0, |last| last + 5_000)));
    }
    all
}

impl Case {
    fn new(kind: Kind, starts: Starts, seed: u64) -> Case {
        let mut draws = Stream::new(seed, "off-by").item(0);
        let draws = &mut draws;
        let (servers, busy) = (one_of(&[1, 1, 2, 4, 8, 16], draws), 0.35 + 0.5 * draws.open01());
        let law =
            one_of(&[Law::Exponential, Law::Exponential, Law::Constant, Law::Erlang, Law::Mixture], draws);
        let (n, mean) = ((2_000.0 * 6f64.powf(draws.open01())) as usize, SERVICE / (busy * servers as f64));
        let users = (servers as f64 * (2.0 + 8.0 * draws.open01())) as usize;
        let users =
            (starts == Starts::Closed).then(|| (users, (users as f64 * mean - 1.3 * SERVICE).max(SERVICE)));
        let [started, done] = match users {
            Some(users) => closed(servers, law, users, n, draws),
            None => {
                let started = open(starts, n, mean, draws);
                let done = ends(kind, servers, law, &started, draws);
                [started, done]
            }
        };
        Case { kind, servers, law, started, done, users }
    }

    fn audited(&self) -> Result<P99Off, Why> {
        let row = |(&at, &done): (&i64, &i64)| Record {
            started: Nanos(at).into(),
            sent: Nanos(at).into(),
            ..Record::never_started(0, Nanos(at), Nanos(done), Outcome::Ok)
        };
        let rows = self.started.iter().zip(&self.done).map(row).collect();
        let summary = audit(&Load { rows, users: Vec::new(), generators: 1, digit: Nanos(1_000) });
        match summary.audit.unwrap().estimated {
            Some(off) => Ok(off),
            // Where the starts may be independent there is nothing to estimate.
            None => Err(summary
                .not_computed
                .get("audit.estimated")
                .map_or(Why::NoObservations, |Stated { why, .. }| why.clone())),
        }
    }

    /// By how much the p99 is off.
    fn truth(&self, seed: u64) -> f64 {
        let mut draws = Stream::new(seed, "off-by-truth").item(0);
        let n = self.started.len();
        let mean = (self.started[n - 1] - self.started[0]) as f64 / (n - 1) as f64;
        let (mut theirs, mut independent) = (Vec::new(), Vec::new());
        let add = |all: &mut Vec<i64>, started: &[i64], done: &[i64]| {
            all.extend(started.iter().zip(done).map(|(start, end)| end - start));
        };
        for _ in 0..PLAYED.div_ceil(n) {
            match self.users {
                Some(users) => {
                    let [started, done] = closed(self.servers, self.law, users, n, &mut draws);
                    add(&mut theirs, &started, &done);
                }
                None => {
                    let done = ends(self.kind, self.servers, self.law, &self.started, &mut draws);
                    add(&mut theirs, &self.started, &done);
                }
            }
            let mut at = 0.0;
            let started: Vec<i64> = (0..n)
                .map(|_| {
                    at += mean * exponential(&mut draws);
                    at as i64
                })
                .collect();
            add(&mut independent, &started, &ends(self.kind, self.servers, self.law, &started, &mut draws));
        }
        let p99 = |all: &mut Vec<i64>| {
            let place = (0.99 * all.len() as f64) as usize;
            *all.select_nth_unstable(place).1 as f64
        };
        p99(&mut theirs) / p99(&mut independent) - 1.0
    }
}

/// Of so many files: with an estimate, and of these whose interval holds the truth.
#[derive(Default, Debug)]
struct Seen {
    files: u32,
    printed: u32,
    held: u32,
    half_widths: f64,
}

fn seen(kind: Kind, starts: Starts, seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let case = Case::new(kind, starts, seed);
        seen.files += 1;
        let Ok(P99Off { ci95: [low, high], .. }) = case.audited() else { continue };
        let truth = case.truth(seed);
        seen.printed += 1;
        seen.held += u32::from((low..=high).contains(&truth));
        seen.half_widths += (high - low) / 2.0;
    }
    println!(
        "| {kind:?} | {starts:?} | {} | {} | {} | {:.3} |",
        seen.files,
        seen.printed,
        seen.held,
        seen.half_widths / f64::from(seen.printed.max(1))
    );
    seen
}

const STARTS: [Starts; 4] = [Starts::Ticks, Starts::Batches, Starts::Pauses, Starts::Closed];

/// Files of each kind in the long tests, which print a table.
fn files() -> u64 {
    println!(
        "| target | starts | files | with an estimate | of these with the truth in the interval | half width |"
    );
    std::env::var("FILES").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

#[test]
#[ignore = "minutes, in release mode"]
fn an_interval_holds_the_truth_in_92_percent_where_the_target_serves_in_order() {
    let files = files();
    let (mut printed, mut held) = (0, 0);
    for starts in STARTS {
        let seen = seen(Kind::InOrder, starts, 0..files);
        assert!(f64::from(seen.printed) >= 0.1 * files as f64, "{starts:?}: {seen:?}");
        (printed, held) = (printed + seen.printed, held + seen.held);
        // Of one kind of starts with three standard errors.
        let few = 0.92 * f64::from(seen.printed) - 3.0 * (0.0736 * f64::from(seen.printed)).sqrt();
        assert!(f64::from(seen.held) >= few, "{starts:?}: {seen:?}");
    }
    assert!(f64::from(held) >= 0.92 * f64::from(printed), "{held} of {printed}");
}

#[test]
#[ignore = "minutes, in release mode"]
fn of_targets_of_another_kind_one_file_in_ten_has_an_estimate_and_one_in_fifty_a_wrong_one_at_most() {
    let files = files();
    let (mut estimates, mut wrong, mut all) = (0, 0, 0);
    for kind in [Kind::Shared, Kind::Varying, Kind::Cache] {
        for starts in [Starts::Ticks, Starts::Batches, Starts::Pauses, Starts::Constant] {
            let seen = seen(kind, starts, 0..files);
            (estimates, wrong) = (estimates + seen.printed, wrong + seen.printed - seen.held);
            all += seen.files;
        }
    }
    assert!(10 * estimates <= all && 50 * wrong <= all, "{estimates} estimates, {wrong} wrong, of {all}");
}

#[test]
fn a_target_that_serves_in_order_has_an_estimate_that_holds_the_truth() {
    let all =
        [Starts::Ticks, Starts::Pauses, Starts::Batches].map(|starts| seen(Kind::InOrder, starts, 0..3));
    let (printed, held) = all.iter().fold((0, 0), |(p, h), seen| (p + seen.printed, h + seen.held));
    // Of nine at 95 % one may miss by chance.
    assert!(printed >= 4 && held + 1 >= printed, "{all:?}");
}

#[test]
fn another_target_has_none_and_the_reason_names_why() {
    for kind in [Kind::Shared, Kind::Varying, Kind::Cache] {
        let reasons: Vec<Why> =
            (0..4).filter_map(|seed| Case::new(kind, Starts::Pauses, seed).audited().err()).collect();
        assert!(reasons.len() >= 3, "{kind:?}: {reasons:?}");
        let station =
            |why: &Why| matches!(why, Why::NoStation { .. } | Why::NoQueue { .. } | Why::ReplayMisses { .. });
        assert!(reasons.iter().all(station), "{kind:?}: {reasons:?}");
    }
}

/// What a target does to requests that come soon after others cannot be seen where none do.
#[test]
fn a_load_of_constant_rate_has_no_estimate_whatever_its_target() {
    for kind in [Kind::InOrder, Kind::Shared, Kind::Varying, Kind::Cache] {
        let reasons: Vec<Option<Why>> =
            (0..6).map(|seed| Case::new(kind, Starts::Constant, seed).audited().err()).collect();
        assert!(reasons.iter().all(|why| *why == Some(Why::NoShortHeadways)), "{kind:?}: {reasons:?}");
    }
}

#[test]
fn few_requests_whole_seconds_and_failures_have_reasons_of_their_own() {
    let mut few = Case::new(Kind::InOrder, Starts::Ticks, 1);
    few.started.truncate(900);
    few.done.truncate(900);
    let reason = few.audited().unwrap_err();
    assert!(matches!(reason, Why::FewRequests { n: 900, .. } | Why::NoObservations), "{reason:?}");
    let case = Case::new(Kind::InOrder, Starts::Ticks, 1);
    let row = |(&at, &done): (&i64, &i64)| Record {
        started: Nanos(at).into(),
        sent: Nanos(at).into(),
        ..Record::never_started(
            0,
            Nanos(at),
            Nanos(done),
            if at % 7 == 0 { Outcome::Status } else { Outcome::Ok },
        )
    };
    let rows = case.started.iter().zip(&case.done).map(row).collect();
    let summary = audit(&Load { rows, users: Vec::new(), generators: 1, digit: Nanos(1) });
    let reason = &summary.not_computed["audit.estimated"].why;
    assert!(matches!(reason, Why::RequestsFailed { .. }), "{reason:?}");
}
