//! The simulator against a second one, where no formula tells: `bench/second_sim.py`, written from the words of
//! docs/scenarios.md in another language, drew what stands in `second.tsv`, and solved some Markov chains. The models are
//! written here as users write them, so that what keys mean is held to as well.
//!
//! Experiments begin empty and are as long as the other's: all requests count. Both means have standard errors, and the two
//! agree if they are within 4 standard errors of the difference. What depends on the points of a hash ring is known over all
//! rings; ours is one of them.

use crate::common::{Effort, Known, Load, QUICK, Seen, Trial, both, loss, mean, of_run, sojourn};
use headway_sim::Observed;
use headway_stats::queueing::Mmc;
use headway_workload::model::Model;
use headway_workload::scenario::{Surroundings, parse};
use std::collections::BTreeSet;

const NUMBERS: &str = include_str!("second.tsv");

/// Requests of each run of an experiment, as there.
const REQUESTS: f64 = 4_000.0;

/// Two stations that are twice as fast as the other two.
const TWO_SPEEDS: &str =
    "{ slow: { copies: 2, service: exp(1ms) }, fast: { copies: 2, service: exp(500us) } }";
const FLAKY: &str = "{ copies: 4, service: exp(1ms), faults: { up: exp(80ms), down: exp(20ms) } }";
const EWMA_POOL: &str = "{ fast: { copies: 4, service: exp(1ms) }, slow: { copies: 2, service: exp(2ms) } }";
const HEDGED_POOL: &str =
    "{ fast: { copies: 2, service: exp(1ms) }, slow: { copies: 2, service: exp(3ms) } }";

/// Name, requests per second, model.
type Experiment = (&'static str, f64, String);

fn chains() -> Vec<Experiment> {
    let pool = |balancer: &str, weight: u32| {
        format!(
            "{{ parts: {TWO_SPEEDS}, balancer: {balancer}, to: [ slow, {{ part: fast, weight: {weight} }} ] }}"
        )
    };
    vec![
        ("three of four, weights", 4_200.0, pool("{ policy: power-of-d, choices: 3 }", 2)),
        ("least connections, weights", 4_200.0, pool("least-connections", 2)),
        (
            "least connections, two speeds, the first",
            3_600.0,
            pool("{ policy: least-connections, ties: first }", 1),
        ),
    ]
}

fn latencies() -> Vec<Experiment> {
    let pool = |policy: &str| format!("{{ parts: {EWMA_POOL}, balancer: {policy}, to: [ fast, slow ] }}");
    vec![
        ("peak-ewma", 3_500.0, pool("{ policy: peak-ewma, decay: 20ms }")),
        ("peak-ewma, long memory", 3_500.0, pool("peak-ewma")),
    ]
}

fn hashes() -> Vec<Experiment> {
    let pool = |policy: &str| format!("{{ balancer: {policy}, pool: {{ servers: 10, service: exp(1ms) }} }}");
    vec![
        ("consistent-hash", 6_000.0, pool("consistent-hash")),
        ("consistent-hash, bounded", 8_000.0, pool("{ policy: consistent-hash, bound: 1.25 }")),
    ]
}

fn retries() -> Vec<Experiment> {
    let station = |retries: &str| {
        format!(
            "{{ service: exp(1ms), faults: {{ up: exp(100ms), down: exp(20ms) }},
                retries: {{ attempts: 4, backoff: {{ base: 5ms, factor: 2, most: 15ms{retries} }} }}"
        )
    };
    vec![
        ("retries, budget", 700.0, station(" }, budget: { share: 0.2, reserve: 5 }")),
        ("retries, half jitter", 600.0, station(", jitter: half }")),
    ]
}

fn hedges() -> Vec<Experiment> {
    let pool = |policy: &str, hedge: &str| {
        format!("{{ parts: {HEDGED_POOL}, hedge: {hedge}, balancer: {policy}, to: [ fast, slow ] }}")
    };
    vec![
        ("hedge, called back", 1_000.0, pool("random", "{ after: 4ms, cancel: true }")),
        ("hedge, fewest", 1_800.0, pool("least-connections", "{ after: 4ms, cancel: true }")),
        ("hedge twice", 500.0, pool("random", "{ after: 4ms, most: 2, cancel: false }")),
    ]
}

fn holds() -> Vec<Experiment> {
    vec![
        ("no hold", 2_500.0, format!("{{ balancer: least-connections, to: {FLAKY} }}")),
        ("hold", 2_500.0, format!("{{ balancer: least-connections, hold: 10ms, to: {FLAKY} }}")),
    ]
}

fn breakers() -> Vec<Experiment> {
    let station = "{ servers: 2, service: exp(1ms), queue: 10, faults: { up: exp(150ms), down: exp(40ms) } }";
    let breaker = "{ share: 0.5, of: 20, open: 30ms, probes: 3 }";
    let small = "{ service: exp(1ms), queue: 1 }";
    let quick = "{ share: 0.4, of: 10, open: 5ms, probes: 2 }";
    vec![
        ("breaker", 1_200.0, format!("{{ breaker: {breaker}, to: {station} }}")),
        ("breaker, overloaded", 1_500.0, format!("{{ breaker: {quick}, to: {small} }}")),
    ]
}

fn knowledge() -> Vec<Experiment> {
    let routers =
        "{ copies: 3, balancer: least-connections, knows: { every: 3ms, cost: 500us }, to: stations }";
    let parts = format!("{{ stations: {{ copies: 6, service: exp(1ms) }}, routers: {routers} }}");
    vec![("stale", 4_200.0, format!("{{ parts: {parts}, balancer: random, to: routers }}"))]
}

fn time_outs() -> Vec<Experiment> {
    let station = |timeout: &str| format!("{{ servers: 2, service: exp(1ms), timeout: {timeout} }}");
    vec![
        ("time-out", 1_700.0, station("4ms")),
        ("time-out, called back", 2_000.0, station("{ after: 4ms, cancel: true }")),
    ]
}

/// A model as it is written in a scenario.
fn written(model: &str) -> Model {
    let around = Surroundings {
        read: &|_| Err("no files here".to_owned()),
        env: &|_| None,
        log: &headway_workload::scenario::no_logs,
    };
    let text = format!("users: {{ arrive: {{ rate: 1/s }} }}\njourney: [ {{ get: / }} ]\nmodel: {model}\n");
    let scenario = parse("second.yaml", &text, &around).unwrap_or_else(|wrong| panic!("{wrong}"));
    scenario.model().unwrap().clone()
}

fn attempts(observed: &Observed) -> (f64, f64) {
    (observed.attempts as f64, observed.came as f64)
}

/// Requests that came to the last part, of all.
fn to_the_last(observed: &Observed) -> (f64, f64) {
    let came =
        |part: Option<&headway_sim::network::PartObserved>| part.map_or(0.0, |part| part.all.came as f64);
    (came(observed.parts.last()), came(observed.parts.first()))
}

/// What the other says of an experiment.
fn told(name: &str) -> Vec<Known<'static>> {
    let rows = NUMBERS.lines().filter(|line| !line.starts_with('#'));
    let fields = rows.map(|row| row.split('\t').collect::<Vec<_>>()).filter(|row| row[0] == name);
    let number = |text: &str| text.parse::<f64>().unwrap();
    fields
        .map(|row| {
            let (truth, error) = (number(row[3]), number(row[4]));
            let known = match row[1] {
                "mean" => sojourn(truth),
                "failed" => loss(truth),
                "within" => {
                    let at = number(row[2]);
                    let what = if truth < 0.9 { "within the median" } else { "within p99" };
                    let within = move |seen: &Seen| seen.served.then_some(f64::from(seen.sojourn <= at));
                    mean(what, truth, within)
                }
                "attempts" => of_run("attempts", truth, attempts),
                "asked" => of_run("asked", truth, to_the_last),
                "to the fast" => of_run("to the fast", truth, to_the_last),
                other => panic!("{other}"),
            };
            known.give_or_take(error)
        })
        .collect()
}

/// What the second simulation is known to, at best: its own standard errors are some 0.3 % of a mean.
const THEIRS: f64 = 0.01;

/// An experiment from empty to its end.
fn experiment<'a>(name: &'a str, rate: f64, model: &str) -> Trial<'a> {
    Trial { name, load: Load::poisson(rate), model: written(model), relaxation: 0.0, demands: None }
}

/// As many requests as in one of the other's runs.
fn as_theirs(effort: Effort) -> Effort {
    let runs = (effort.runs as f64 * effort.requests / REQUESTS) as u64;
    Effort { runs, requests: REQUESTS, error: effort.error.max(THEIRS), ..effort }
}

fn agree(effort: Effort, experiments: Vec<Experiment>) {
    for (name, rate, model) in experiments {
        experiment(name, rate, &model).agrees(as_theirs(effort), &told(name));
    }
}

fn the_chain_of_four(effort: Effort) {
    for (name, rate, model) in chains() {
        let relaxation = Mmc::mm1(700.0, 1e-3).relaxation_time();
        Trial { relaxation, ..experiment(name, rate, &model) }.agrees(effort, &told(name));
    }
}

macro_rules! experiments {
    ($($trial:ident: $of:ident),+ $(,)?) => {
        $(fn $trial(effort: Effort) { agree(effort, $of()); })+
        both!(the_chain_of_four, $($trial),+);

        /// What the other told of is asked about, all of it and no more.
        #[test]
        fn every_experiment_is_compared() {
            let ours: BTreeSet<&str> =
                [chains(), $($of()),+].concat().iter().map(|(name, ..)| *name).collect();
            let theirs: BTreeSet<&str> = NUMBERS
                .lines()
                .filter(|line| !line.starts_with('#'))
                .filter_map(|line| line.split('\t').next())
                .collect();
            assert_eq!(ours, theirs);
        }
    };
}

experiments!(
    the_lowest_latency: latencies,
    the_next_on_the_ring: hashes,
    made_again: retries,
    made_twice: hedges,
    failures_that_are_held: holds,
    a_breaker_of_shares: breakers,
    news_that_is_old: knowledge,
    given_up: time_outs,
);

/// Models that are not quite those of the other are refused, each by one of its numbers at least.
#[test]
fn what_is_a_little_different_is_seen() {
    let table = [
        (latencies(), "peak-ewma", "decay: 20ms", "decay: 60ms"),
        (hashes(), "consistent-hash, bounded", "bound: 1.25", "bound: 1.4"),
        (retries(), "retries, budget", "share: 0.2", "share: 0.15"),
        (hedges(), "hedge, called back", "after: 4ms", "after: 4500us"),
        (holds(), "hold", "hold: 10ms", "hold: 8ms"),
        (breakers(), "breaker, overloaded", "probes: 2", "probes: 1"),
        (breakers(), "breaker, overloaded", "share: 0.4", "share: 0.5"),
        (knowledge(), "stale", "every: 3ms", "every: 4ms"),
        (time_outs(), "time-out, called back", "cancel: true", "cancel: false"),
    ];
    for (experiments, name, right, wrong) in table {
        let (_, rate, model) = experiments.into_iter().find(|(of, ..)| *of == name).unwrap();
        assert!(model.contains(right));
        let trial = experiment(name, rate, &model.replace(right, wrong));
        let seen = trial.compare(as_theirs(QUICK), &told(name));
        let farthest = seen.iter().map(|(_, _, distance)| distance.abs()).fold(0.0, f64::max);
        println!("{name}, {wrong}: {farthest:.1} standard errors");
        assert!(farthest > 4.0, "{name}, {wrong}: {seen:?}");
    }
}
