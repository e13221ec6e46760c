//! Studies from a file to their document.

mod beside;
mod demands;
mod found;
mod percentiles;
mod steady;

use clap::Parser as _;
use headway_base::Nanos;
use headway_cli::args::{Args, Command, SimArgs};
use headway_cli::exit::in_words;
use headway_cli::repeat::Typed;
use headway_cli::settings::{SimCommand, SimSettings, asked, simulated};
use headway_engine::experiment::{Studied, StudySpec, study};
use headway_engine::{Backend, Control, Observer, Snapshot};
use headway_report::words::findings::remarks;
use headway_stats::Summary;
use headway_stats::study::{Study, WarmUp};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

const LOAD: &str =
    "seed: 7\nusers: { arrive: { rate: 60/s }, phases: [ { hold: 20s } ] }\njourney: [ { get: / } ]\n";
const ONE: &str = "model: { servers: 1, service: exp(10ms) }\n";
const THREE: &str = "models:
  fast: { servers: 2, service: exp(8ms) }
  slow: { servers: 2, service: exp(9ms) }
  apart: { balancer: random, to: { copies: 2, service: exp(8ms) } }
";

/// What `headway sim` of a file of that text with these flags is asked for.
fn ask(text: &str, flags: &[&str]) -> anyhow::Result<SimCommand> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("s.yaml");
    fs::write(&path, text)?;
    let words = ["headway", "sim", path.to_str().unwrap_or_default()];
    let Command::Sim(args) = Args::try_parse_from(words.iter().chain(flags))?.command else { unreachable!() };
    asked(&args, &Typed::default())
}

fn args(words: &[&str]) -> SimArgs {
    let Command::Sim(args) = Args::parse_from(words).command else { unreachable!() };
    *args
}

/// A single run, by its command line.
fn resolved(words: &[&str]) -> SimSettings {
    simulated(&args(words), &Typed::default()).unwrap()
}

fn play(settings: &SimSettings) -> Summary {
    let backend = Backend::Sim(Box::new(settings.sim.clone()));
    backend.play(&settings.spec, &Control::default(), &mut []).unwrap().summary
}

fn settings(text: &str, flags: &[&str]) -> StudySpec {
    match ask(text, flags).unwrap_or_else(|error| panic!("{error:#}")) {
        SimCommand::Study(settings) => settings.spec,
        SimCommand::Run(_) | SimCommand::Part(_) => panic!("{flags:?} ask for no whole study"),
    }
}

fn played(text: &str, flags: &[&str]) -> Study {
    let Studied { study, interrupted } = study(&settings(text, flags), &|| false, || {}).unwrap();
    assert!(!interrupted && study.missing.is_empty());
    study
}

#[test]
fn a_shard_of_a_study_has_a_seed_and_a_folder_and_reports_nothing() {
    const UNSEEDED: &str = "users: { arrive: { rate: 50/s }, phases: [ { hold: 5s } ] }\njourney: [ { get: / } ]\nmodel: { servers: 1, \
                            service: exp(10ms) }\n";
    let why = |flags: &[&str]| {
        let all = ["--shard", "1/3", "--replications", "4"].iter().chain(flags).copied();
        format!("{:#}", ask(UNSEEDED, &all.collect::<Vec<_>>()).unwrap_err())
    };
    assert!(why(&["--out", "d"]).contains("--shard 1/3 needs --seed"));
    assert!(why(&["--seed", "5"]).contains("--shard needs --out DEST"));
    for flag in ["--strict", "--open", "--details"] {
        assert!(
            why(&["--seed", "5", "--out", "d", flag])
                .starts_with(&format!("{flag}: a shard reports nothing"))
        );
    }
    assert!(
        why(&["--seed", "5", "--out", "d", "--beside", "r"]).starts_with("--beside: a shard reports nothing")
    );
    assert!(why(&["--seed", "5", "--out", "d", "--json", "j"]).contains("a shard writes no report"));
    let alone = ask(UNSEEDED, &["--shard", "1/3", "--seed", "5", "--out", "d"]).unwrap_err();
    assert!(alone.to_string().contains("this is a single play"), "{alone:#}");
    let good = ["--shard", "1/3", "--replications", "4", "--seed", "5", "--out", "d"];
    assert!(
        matches!(ask(UNSEEDED, &good).unwrap(), SimCommand::Part(part) if part.shard.to_string() == "1/3")
    );
}

/// What the report says of models that are not compared.
fn not_compared(study: &Study) -> Vec<String> {
    remarks(&study.uncompared, &study.not_compared)
}

/// What the report says of a point beside its numbers.
fn notes(point: &headway_stats::study::Point) -> String {
    remarks(&point.remarks, &point.notes).join(" ")
}

#[test]
fn points_are_all_combinations_the_last_parameter_fastest_and_models_last() {
    let values = |study: &StudySpec| -> Vec<String> {
        study.places.iter().map(|place| place.values.join(" ")).collect()
    };
    let both =
        settings(&format!("{LOAD}{ONE}"), &["--sweep", "rate=10..20/10", "--sweep", "model.servers=1,2,3"]);
    assert_eq!(values(&both), ["10 1", "10 2", "10 3", "20 1", "20 2", "20 3"]);
    assert_eq!((both.replications, both.seed, both.model_parameter()), (1, 7, None));
    let models = settings(&format!("{LOAD}{THREE}"), &["--sweep", "rate=10,20", "--replications", "4"]);
    assert_eq!(values(&models), ["10 fast", "10 slow", "10 apart", "20 fast", "20 slow", "20 apart"]);
    assert_eq!((models.model_parameter(), models.plays()), (Some(1), 24));
    let some = settings(&format!("{LOAD}{THREE}"), &["--sweep", "model=apart,fast", "--sweep", "rate=10,20"]);
    assert_eq!(values(&some), ["apart 10", "apart 20", "fast 10", "fast 20"]);
    // A model of its own is swept, and the others stay as they are.
    let inner = settings(&format!("{LOAD}{THREE}"), &["--sweep", "models.slow.servers=2,3"]);
    assert_eq!(inner.places.len(), 6);
    assert!(matches!(ask(&format!("{LOAD}{THREE}"), &["--model", "slow"]), Ok(SimCommand::Run(_))));
    assert!(matches!(ask(&format!("{LOAD}{ONE}"), &["--replications", "1"]), Ok(SimCommand::Run(_))));
}

#[test]
fn what_cannot_be_a_study_says_why() {
    for (model, flags, told) in [
        (ONE, &["--sweep", "rate=10,20", "--sweep", "rate=30"][..], "given twice"),
        (ONE, &["--sweep", "name=a,b"], "make no difference"),
        (ONE, &["--sweep", "seed=1,2"], "--replications R plays each point"),
        (ONE, &["--sweep", "model.servers=2,0"], "--sweep model.servers=0"),
        (ONE, &["--sweep", "model=other"], "no model 'other'"),
        (ONE, &["--sweep", "rate=1..200/1", "--sweep", "model.servers=1..100/1"], "200 x 100 points"),
        (ONE, &["--replications", "0"], "from 1 to 1000000"),
        (
            ONE,
            &["--replications", "2", "--threshold", "service: p(99)<1s"],
            "'service: p(99)<1s': a study keeps only",
        ),
        (ONE, &["--replications", "2", "--threshold", "response{step:x}: p(99)<1s"], "no step is called 'x'"),
        (ONE, &["--replications", "2", "--strict"], "a study without thresholds decides nothing"),
        (
            ONE,
            &["--sweep", "rate=10,20", "--threshold", "p(99)<1s", "--strict"],
            "a sweep ends in 0 wherever it crosses",
        ),
        (
            ONE,
            &["--replications", "2", "--junit", "x.xml"],
            "junit cannot be made of a study of several runs",
        ),
        (THREE, &["--log"], "--log is about a single run"),
        (THREE, &["--model", "fst"], "did you mean fast?"),
        (THREE, &["--model", "fast", "--sweep", "model=fast,slow"], "give one of them"),
        ("", &[], "a simulation needs `model:`"),
    ] {
        let error = ask(&format!("{LOAD}{model}"), flags).expect_err(told);
        let words = in_words(&error);
        assert!(words.contains(told), "{flags:?}: {words}");
    }
}

/// With more replications than are looked at for the warm-up.
#[test]
fn neither_threads_nor_the_order_in_which_plays_end_change_a_number() {
    let mut settings = settings(
        &format!("{LOAD}{THREE}"),
        &["--replications", "23", "--threshold", "p(97)<60", "--threshold", "failed: rate<1%"],
    );
    let with = |settings: &StudySpec| study(settings, &|| false, || {}).unwrap().study;
    settings.threads = 1;
    let first = with(&settings);
    settings.threads = 4;
    assert_eq!(first, with(&settings));
    assert_eq!((first.warmup, first.points.len()), (WarmUp::Mser, 3));
}

#[test]
fn the_first_replication_is_the_single_run() {
    let text =
        format!("{LOAD}{ONE}").replace("[ { hold: 20s } ]", "[ { hold: 2s, warmup: true }, { hold: 120s } ]");
    let study = played(&text, &["--sweep", "model.servers=1,2"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yaml");
    fs::write(&path, &text).unwrap();
    let words = ["headway", "sim", path.to_str().unwrap()];
    let summary = play(&resolved(&words));
    let (point, inside) = (&study.points[0], summary.simulation.unwrap());
    assert_eq!((point.n, study.warmup), (summary.measured.n, WarmUp::Phases));
    let near = |a: f64, b: f64, off: f64| assert!((a / b - 1.0).abs() <= off, "{a} against {b}");
    near(point.response["mean"].mean, summary.response.mean.unwrap(), 1e-9);
    near(point.response["max"].mean, summary.response.max.unwrap(), 1e-9);
    near(point.response["p90"].mean, summary.response.p90.unwrap(), 0.01);
    near(point.load.unwrap(), 0.6, 1e-9);
    assert!(point.response["mean"].ci95.is_some_and(|[low, high]| low < high));
    assert!(
        inside.little.holds
            && point.little_holds == 1
            && inside.little.n == summary.measured.n + summary.measured.warmup
    );
    near(point.utilisation.unwrap().mean, inside.parts[0].utilisation.unwrap(), 1e-9);
}

/// Both models draw the same arrivals and the same demands: slow takes 9/8 of the time of fast for each request.
#[test]
fn models_are_compared_on_the_same_draws() {
    let study = played(&format!("{LOAD}{THREE}"), &["--replications", "10"]);
    let of: Vec<_> = study.differences.iter().filter(|d| d.of == "mean").collect();
    assert_eq!(of.iter().map(|d| (d.point, d.with)).collect::<Vec<_>>(), [(1, 0), (2, 0)]);
    let [low, high] = of[0].difference.ci95.unwrap();
    let [fast, slow] = [0, 1].map(|i| study.points[i].response["mean"].mean);
    assert!((of[0].difference.mean - (slow - fast)).abs() < 1e-12);
    assert!(low > 0.001 && high < 0.003, "1 ms more of service, and of the queue some: {low} to {high}");
    assert!(of[0].gain.unwrap() > 1.5, "gain {:?}", of[0].gain);
    assert!(study.points.iter().all(|p| p.little_holds == 10 && p.failed.mean == 0.0));
}

#[test]
fn what_grows_and_what_is_short_is_said() {
    let load = LOAD.replace("hold: 20s", "hold: 200s");
    let study = played(&format!("{load}{ONE}"), &["--sweep", "rate=60,97,150", "--replications", "3"]);
    let notes = |i: usize| notes(&study.points[i]);
    assert_eq!(study.points[0].remarks, []);
    assert!(notes(1).contains("relaxation times of its slowest part"), "{}", notes(1));
    let growing = notes(2);
    assert!(growing.contains("There is no steady state: target is offered 1.50 times"), "{growing}");
    assert!(growing.contains("requests in target grew by"), "{growing}");
    assert_eq!((study.points[2].found, study.points[2].busiest.as_deref()), (Some(false), Some("target")));
    assert_eq!((study.points[0].found, &study.points[0].why_not), (Some(true), &None));
    let turned_away = ONE.replace("servers: 1", "servers: 1, queue: 5");
    let study = played(&format!("{LOAD}{turned_away}"), &["--sweep", "rate=150,160"]);
    let shed = self::notes(&study.points[0]);
    assert!(shed.contains("of its requests failed"), "{shed}");
    assert!((study.points[0].failed.mean - 1.0 / 3.0).abs() < 0.05, "{:?}", study.points[0].failed);
}

#[test]
fn a_stop_keeps_what_is_complete_and_names_the_rest() {
    // More plays than may wait to be taken, so that the stop comes before the last of them.
    let mut settings =
        settings(&format!("{LOAD}{ONE}"), &["--sweep", "rate=10..109/1", "--replications", "2"]);
    settings.threads = 1;
    let ended = AtomicU64::new(0);
    let stop = || ended.load(Ordering::SeqCst) >= 2;
    let Studied { study, interrupted } = study(&settings, &stop, || {
        ended.fetch_add(1, Ordering::SeqCst);
    })
    .unwrap();
    assert!(interrupted && !study.points.is_empty());
    assert_eq!(study.points[0].values, ["10"]);
    let all: Vec<_> = study.points.iter().map(|p| &p.values).chain(&study.missing).collect();
    assert_eq!(all, settings.places.iter().map(|place| &place.values).collect::<Vec<_>>());
    assert!(study.points.len() < 100, "nothing was left out");
}

#[test]
fn fixed_work_counts_whole_and_ends_with_its_last_answer() {
    let text = format!(
        "seed: 1\nusers: {{ work: {{ requests: 2000, users: 10 }} }}\njourney: [ {{ get: / }} ]\n{ONE}"
    );
    let study = played(&text, &["--replications", "3"]);
    let point = &study.points[0];
    assert_eq!((study.warmup, point.n, point.cut_share), (WarmUp::Nothing, 6_000, 0.0));
    // A server that is never idle: 100 a second, give or take 1/sqrt(2000) each.
    let completed = point.goodput.unwrap().mean;
    assert!((completed / 100.0 - 1.0).abs() < 4.0 / (3.0 * 2_000f64).sqrt(), "{completed}");
    assert!(point.utilisation.unwrap().mean > 0.99 && point.load.is_none() && point.remarks.is_empty());
}

#[test]
fn users_who_neither_think_nor_wait_are_refused_before_they_start() {
    let of = |model: &str, think: &str| {
        let users = format!("{{ closed: {{ count: 1 }}, think: {think}, phases: [ {{ hold: 20s }} ] }}");
        ask(
            &format!("seed: 1\nusers: {users}\njourney: [ {{ get: / }} ]\nmodel: {{ service: {model} }}\n"),
            &[],
        )
    };
    let words = in_words(&of("const(0s)", "0s").expect_err("1e9 requests a second"));
    assert!(words.contains("2e10 requests") && words.contains("think time"), "{words}");
    assert!(of("const(1us)", "0s").is_ok() && of("const(0s)", "1ms").is_ok());
}

/// At 1.5 times what can be done, given up after 2 s: of 20 s the first 6 s wait for less.
#[test]
fn what_was_given_up_is_a_lower_bound_and_is_not_compared() {
    let load = LOAD.replace("rate: 60/s", "rate: 150/s").replace("journey", "timeout: 2s\njourney");
    let load = load.replace("[ { hold: 20s } ]", "[ { hold: 1s, warmup: true }, { hold: 20s } ]");
    let models =
        "models:\n  fifo: { service: exp(10ms) }\n  lifo: { service: exp(10ms), discipline: lifo }\n";
    let study = played(&format!("{load}{models}"), &["--replications", "8"]);
    let fifo = &study.points[0];
    assert!(fifo.censored > fifo.n / 4 && fifo.censored < fifo.n, "{} of {}", fifo.censored, fifo.n);
    let p99 = fifo.response["p99"];
    assert!(p99.lower_bound && p99.ci95.is_none() && (p99.mean / 2.0 - 1.0).abs() < 0.01, "{p99:?}");
    assert!(fifo.response["mean"].lower_bound && fifo.response["mean"].ci95.is_none());
    assert!(fifo.curve.last().unwrap().0 < 0.95, "the curve goes on among what was given up");
    assert!(!fifo.response_ok["p99"].lower_bound && fifo.response_ok["p99"].mean <= 2.0);
    assert!(study.differences.iter().all(|d| d.ok), "failures are as fast as the timeout is short");
    // Those who were served by first come first served waited for close to 2 s, beyond which there is nothing to be seen.
    let of: Vec<&str> = study.differences.iter().map(|d| d.of.as_str()).collect();
    assert_eq!(of, ["mean", "p50"]);
    assert!(
        remarks(&study.uncompared, &study.not_compared)
            .iter()
            .any(|why| why.contains("not compared at p99: too few")),
        "{:?}",
        study.uncompared
    );
    let one = played(&format!("{load}{models}"), &[]);
    assert!(one.points[0].response["mean"].ci95.is_none());
}

/// More than it can do, but what is too much is turned away: M/M/1/11 has a steady state at any load.
#[test]
fn a_queue_with_a_limit_has_a_steady_state_at_any_load() {
    let load = LOAD.replace("rate: 60/s", "rate: 150/s");
    let limit = "model: { servers: 1, service: exp(10ms), queue: 10 }\n";
    let study = played(&format!("{load}{limit}"), &["--replications", "5"]);
    let [point] = &study.points[..] else { panic!("{:?}", study.points) };
    assert_eq!((point.found, &point.why_not, point.load), (Some(true), &None, Some(1.5)));
    assert!(self::notes(point).contains("failed"), "{:?}", point.remarks);
    let without = LOAD.replace("rate: 60/s", "rate: 150/s");
    let study = played(&format!("{without}{ONE}"), &["--replications", "5"]);
    assert_eq!(study.points[0].found, Some(false));
}

/// Percentiles of short runs: of all their requests together, and none where hardly any lie beyond.
#[test]
fn percentiles_are_those_of_all_replications_together() {
    let study = played(&format!("{LOAD}{ONE}"), &["--replications", "10"]);
    let response = &study.points[0].response;
    // M/M/1 at 60 %: sojourns are exponential with mean 25 ms. 12,000 requests of some 150 busy periods each.
    for (name, p) in [("p50", 0.5f64), ("p90", 0.9), ("p99", 0.99)] {
        let (told, truth) = (response[name], -0.025 * (1.0 - p).ln());
        let [low, high] = told.ci95.unwrap();
        assert!(0.0 < low && low < told.mean && told.mean < high, "{name}: {told:?}");
        assert!((told.mean / truth - 1.0).abs() < 1.5 * (high - low) / truth, "{name}: {told:?} {truth}");
    }
    let study = played(&format!("{LOAD}{ONE}"), &["--replications", "5", "--threshold", "p(99.9)<10s"]);
    let point = &study.points[0];
    assert!(point.response["p999"].ci95.is_none(), "{} requests", point.n);
    assert_eq!(point.thresholds[0].outcome, headway_stats::summary::ThresholdOutcome::Inconclusive);
}

#[test]
fn times_that_nobody_knows_have_no_difference() {
    let load = LOAD.replace("journey", "timeout: 1s\njourney");
    let models =
        "models:\n  a: { servers: 100, service: exp(200ms) }\n  b: { servers: 100, service: exp(190ms) }\n";
    let study = played(&format!("{load}{models}"), &["--replications", "5"]);
    let failed = study.points.iter().map(|p| p.failed.mean).fold(0.0, f64::max);
    // exp(-5) of them take longer than a second: fewer than 1 in 100, but not as many of both.
    assert!(failed < 0.01 && study.points[0].censored > 0, "{failed}");
    let told: Vec<&str> = study.differences.iter().map(|d| d.of.as_str()).collect();
    let untold = remarks(&study.uncompared, &study.not_compared).join(" ");
    match study.differences.iter().any(|d| d.ok) {
        true => assert_eq!((told, untold.as_str()), (vec!["mean", "p50", "p99"], "")),
        false => assert!(
            !told.contains(&"mean") && untold.contains("b and a are not compared at mean"),
            "{untold}"
        ),
    }
}

#[test]
fn what_is_not_stationary_is_not_called_steady() {
    let of = |text: &str| {
        let study = played(text, &["--replications", "4"]);
        (study.points[0].found, self::notes(&study.points[0]))
    };
    let ramp = LOAD.replace("[ { hold: 20s } ]", "[ { ramp: 20s, to: 60/s }, { hold: 20s } ]");
    let (found, notes) = of(&format!("{ramp}{ONE}"));
    assert!(found == Some(false) && notes.contains("the rate of the plan varies"), "{notes}");
    let load = LOAD.replace("rate: 60/s", "rate: 120/s").replace("hold: 20s", "hold: 60s");
    let desk = "model: { balancer: one-connection, pool: { servers: 1, service: exp(10ms) } }\n";
    let (found, notes) = of(&format!("{load}{desk}"));
    assert_eq!(found, Some(false));
    assert!(notes.contains("and requests in") && !notes.contains("interval -"), "{notes}");
}

/// Stops a run at a time of its own.
struct StopAt {
    at: Nanos,
    control: Control,
}

impl Observer for StopAt {
    fn snapshot(&mut self, snapshot: &Snapshot) {
        if snapshot.now.at >= self.at {
            self.control.stop();
        }
    }
}

#[test]
fn an_interrupted_simulation_reports_what_there_was() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("s.yaml"), folder.path().join("run"));
    fs::write(&path, format!("{LOAD}{ONE}").replace("20s", "3000s")).unwrap();
    let words = ["headway", "sim", path.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let settings = resolved(&words);
    let control = Control::default();
    let mut at_80 = StopAt { at: Nanos::from_secs(80), control: control.clone() };
    let backend = Backend::Sim(Box::new(settings.sim.clone()));
    let simulated = backend.play(&settings.spec, &control, &mut [&mut at_80]).unwrap();
    let summary = &simulated.summary;
    assert!(simulated.interrupted && summary.measured.interrupted);
    // 60 arrivals a second, and what the next batch of a quarter of a second brings.
    assert!((4_500..=5_200).contains(&summary.measured.n), "{}", summary.measured.n);
    assert!((80.0..81.0).contains(&summary.measured.to_s), "{}", summary.measured.to_s);
    let inside = summary.simulation.as_ref().unwrap();
    assert!(inside.little.holds, "{:?}", inside.little);
    assert!(!inside.steady.found && inside.steady.mean.is_none());
    assert!(out.join("summary.json").is_file() && out.join("report.html").is_file());
}
