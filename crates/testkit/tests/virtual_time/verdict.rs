//! The verdict, on loads whose defects are known: what the generator did is set, and the verdict must say so.

use crate::common::{LIMITS, answers, plan};
use headway_base::sink::Kept;
use headway_base::{Batch, Lateness, Nanos, Phase, Profile, Rate};
use headway_stats::summary::evidence::Load;
use headway_stats::summary::{Evidence, Finding, FindingId, LoadVerdict, Pattern, RuleOutcome, Summary, Why};
use headway_stats::{Analysis, Facts, PlanLaw, Setup, Tolerances, Workload};
use headway_testkit::{Answer, Generator, Simulation, Target};
use headway_workload::plan::Group;
use headway_workload::{Client, Limits, Plan, Process, Shard};
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const US: fn(i64) -> Nanos = Nanos::from_micros;

pub fn setup(plan: &Plan, sources: usize) -> Setup {
    let process = plan.process().unwrap();
    Setup {
        labels: vec!["request".into()],
        sources,
        measured: plan.measured_from..plan.end(),
        workload: Workload::Open,
        plan: Some(PlanLaw {
            profile: plan.own_profile().unwrap(),
            gap_cdf: Some(Arc::new(move |x| process.gap_cdf(x).unwrap())),
            gap_cov: process.gap_cov(),
            dispersion: process.thinned_dispersion(1),
            poisson: process == Process::Poisson,
        }),
        resolution: Nanos(1),
        rate: None,
        ..Setup::default()
    }
}

/// Plays the plan on so many workers, each with the same defects and a target of its own.
fn judge_with<T: Target>(
    plan: &Plan,
    limits: Limits,
    workers: u32,
    generator: &Generator,
    target: impl Fn() -> T,
) -> Summary {
    judge_by(setup(plan, workers as usize), plan, limits, workers, generator, target)
}

/// The same, judged so.
fn judge_by<T: Target>(
    setup: Setup,
    plan: &Plan,
    limits: Limits,
    workers: u32,
    generator: &Generator,
    target: impl Fn() -> T,
) -> Summary {
    let mut analysis = Analysis::new(setup);
    for source in 0..workers {
        let shard = Shard::new(source, workers).unwrap();
        let client = Client::new(plan, shard, limits, Kept::default());
        let mut world = Simulation::new(client, target(), generator.clone());
        world.run();
        let Kept { starts, records, users, hold_ups, .. } = std::mem::take(world.finish());
        let (source, watermark) = (source as u16, Nanos::MAX);
        analysis.batch(&Batch {
            source,
            starts,
            records,
            users,
            hold_ups,
            events: Vec::new(),
            watermark,
            last: true,
        });
    }
    let send_cost = (generator.action_cost > Nanos::ZERO).then_some(generator.action_cost);
    analysis.finish(Facts { send_cost, seed: Some(plan.seed), ..Facts::default() })
}

fn judge(plan: &Plan, generator: &Generator) -> Summary {
    judge_with(plan, LIMITS, 1, generator, || answers(|_, _| Answer::ok(US(100))))
}

/// Judged by lateness itself too, of which 1 ms is forgiven.
fn judge_lateness(plan: &Plan, generator: &Generator) -> Summary {
    let tolerances = Tolerances { lateness: Some(Lateness::DEFAULT), ..Tolerances::default() };
    let setup = Setup { tolerances, ..setup(plan, 1) };
    judge_by(setup, plan, LIMITS, 1, generator, || answers(|_, _| Answer::ok(US(100))))
}

fn finding<'a>(summary: &'a Summary, id: &str) -> &'a Finding {
    let ids: Vec<&str> = summary.verdict.findings.iter().map(|f| f.id.as_str()).collect();
    summary
        .verdict
        .findings
        .iter()
        .find(|f| f.id == id.into())
        .unwrap_or_else(|| panic!("no {id} among {ids:?}"))
}

fn failed(summary: &Summary) -> Vec<&str> {
    let failed = summary.verdict.rules.iter().filter(|r| r.outcome == RuleOutcome::Fail);
    failed.map(|r| r.rule.as_str()).collect()
}

#[test]
fn a_perfect_generator_is_valid_and_the_pattern_is_the_plans() {
    for (process, pattern) in [
        (Process::Poisson, Pattern::Independent),
        (Process::PoissonFixedN, Pattern::Independent),
        (Process::Constant, Pattern::Even),
        (Process::Uniform, Pattern::Even),
        (Process::Gamma { cov: 2.5 }, Pattern::Bunched),
        (Process::parse("batch(poisson,geometric(3))").unwrap(), Pattern::Bunched),
        (Process::parse("batch(poisson,const(3))").unwrap(), Pattern::Bunched),
        (Process::parse("batch(constant,const(5))").unwrap(), Pattern::Bunched),
    ] {
        for workers in [1, 4] {
            let summary =
                judge_with(&plan(process, 1_000.0, 60, 5), LIMITS, workers, &Generator::default(), || {
                    answers(|_, _| Answer::ok(US(100)))
                });
            assert_eq!(
                summary.verdict.load,
                Some(LoadVerdict::Valid),
                "{process} {:?}",
                summary.verdict.rules
            );
            assert_eq!(summary.verdict.pattern, pattern, "{process} on {workers}");
        }
    }
}

/// Requests that are due at one instant leave one after the other: 20 us apart the load is the plan's all the same, and no headway
/// of 0 is held against it. A generator that takes 300 us for each cannot send batches of 30 at once, and is told so.
#[test]
fn batches_that_are_sent_one_after_the_other_are_not_accused() {
    let batches = Process::parse("batch(poisson,geometric(3))").unwrap();
    let costs = |cost: Nanos| Generator { action_cost: cost, ..Generator::default() };
    let slow = || answers(|_, _| Answer::ok(MS(5)));
    let summary = judge_with(&plan(batches, 300.0, 200, 4), LIMITS, 1, &costs(US(20)), slow);
    // Queues disagree about services that are all the same and come together.
    assert_ne!(summary.verdict.load, Some(LoadVerdict::Invalid), "{:?}", summary.verdict.effect);
    assert!(summary.response.mean.unwrap() / 0.005 < 1.01, "{:?}", summary.response);
    let lateness = judge_lateness(&plan(batches, 300.0, 200, 4), &costs(US(20)));
    assert!(failed(&lateness).iter().all(|rule| *rule == "effect"), "{:?}", lateness.verdict.rules);
    assert_eq!(summary.verdict.pattern, Pattern::Bunched);
    assert!(summary.arrivals.min.unwrap() > 0.0 && summary.arrivals.ks.plan.is_none());
    let why = &summary.not_computed["arrivals.ks.plan"].why;
    assert!(
        matches!(why, Why::SimultaneousArrivals { share } if (share - 2.0 / 3.0).abs() < 1e-12),
        "{why:?}"
    );
    // The last of a batch of some leaves 40 us late and more: a target of 0.1 ms seems slower by that.
    let fast = judge(&plan(batches, 300.0, 200, 4), &costs(US(20)));
    let off = fast.response.mean.unwrap() / 1e-4 - 1.0;
    assert!(off > 0.2 && fast.verdict.load != Some(LoadVerdict::Valid), "{off} {:?}", fast.verdict.effect);
    // The counts vary as the plan's: E[B^2]/E[B] is 5.
    let long = summary.arrivals.dispersion.iter().rfind(|row| row.windows >= 100).unwrap();
    assert!((long.index - 5.0).abs() < 4.0 * 5.0 * (2.0 / long.windows as f64).sqrt(), "{long:?}");
    let large = Process::parse("batch(poisson,const(30))").unwrap();
    let summary = judge_lateness(&plan(large, 300.0, 200, 4), &costs(US(300)));
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid), "{:?}", summary.verdict.rules);
    assert!(failed(&summary).contains(&"late-share"), "{:?}", failed(&summary));
}

#[test]
fn ramps_and_pauses_do_not_spoil_the_verdict() {
    let s = Nanos::from_secs;
    let phases = [
        Phase::ramp(s(20), Rate(100.0), Rate(1_500.0)),
        Phase::pause(s(5)),
        Phase::hold(s(20), Rate(1_500.0)),
        Phase::ramp(s(10), Rate(1_500.0), Rate(200.0)),
    ];
    let profile = Profile::new(&phases);
    let end = profile.end();
    let plan = Plan::of(8, Group::open(Process::Poisson, profile), Nanos::ZERO, end);
    let summary = judge(&plan, &Generator::default());
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
    assert_eq!(summary.verdict.pattern, Pattern::Independent);
    let ks = summary.arrivals.ks.plan.unwrap();
    assert!(ks.p > 1e-4, "{ks:?}");
}

#[test]
fn a_generator_that_sends_too_little_is_invalid() {
    let summary = judge(
        &plan(Process::Poisson, 2_000.0, 20, 1),
        &Generator { action_cost: MS(1), ..Generator::default() },
    );
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    assert!(failed(&summary).contains(&"sent-share"), "{:?}", failed(&summary));
    let unsent = finding(&summary, "unsent");
    let share = summary.arrivals.started as f64 / summary.measured.n as f64;
    assert!(share < 0.55, "{share}");
    let not_sent = summary.measured.n - summary.arrivals.started;
    assert!(
        matches!(unsent.evidence[..], [Evidence::Load(Load::Unsent { n, .. })] if n == not_sent),
        "{unsent:?}"
    );
    // No arrival is forgotten: what was not sent is counted.
    let all: u64 = summary.outcomes.values().sum();
    assert_eq!(all, plan(Process::Poisson, 2_000.0, 20, 1).arrivals().count() as u64);
}

#[test]
fn pauses_of_the_generator_make_it_late_and_are_dated() {
    let second = |s: i64| Nanos::from_secs(s);
    let pauses = (1..12).map(|i| (second(5 * i), second(5 * i) + MS(500))).collect();
    let (plan, generator) =
        (plan(Process::Poisson, 500.0, 60, 2), Generator { pauses, ..Generator::default() });
    let summary = judge(&plan, &generator);
    // Nothing is in flight when the generator stands still: whether the target did too cannot be told.
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Inconclusive), "{:?}", summary.verdict.effect);
    assert!(failed(&judge_lateness(&plan, &generator)).contains(&"late-share"));
    let late = finding(&summary, "late");
    for i in 1..12 {
        let at = f64::from(5 * i) + 0.25;
        assert!(late.at.iter().any(|&[from, to]| from <= at && at <= to), "{at} s is not in {:?}", late.at);
    }
    assert!(!late.at.iter().any(|&[from, to]| from <= 2.5 && 2.5 <= to), "{:?}", late.at);
}

#[test]
fn one_pause_of_half_a_second_is_told_even_where_it_decides_nothing() {
    let pauses = vec![(Nanos::from_secs(4), Nanos::from_secs(4) + MS(500))];
    let summary = judge(&plan(Process::Poisson, 500.0, 10, 2), &Generator { pauses, ..Generator::default() });
    assert_ne!(summary.verdict.load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
    let late = finding(&summary, "late");
    assert!(late.at.iter().any(|&[from, to]| from <= 4.25 && 4.25 <= to), "{:?}", late.at);
}

#[test]
fn timer_ticks_bunch_what_was_to_be_independent() {
    let (ticks, plan_of_ticks) =
        (Generator { tick: MS(10), ..Generator::default() }, plan(Process::Poisson, 2_000.0, 30, 3));
    assert_eq!(judge(&plan_of_ticks, &ticks).verdict.load, Some(LoadVerdict::Invalid));
    let summary = judge_lateness(&plan_of_ticks, &ticks);
    let failed = failed(&summary);
    assert!(
        failed.contains(&"bunching") && failed.contains(&"dispersion") && failed.contains(&"late-share"),
        "{failed:?}"
    );
    assert_eq!(summary.verdict.pattern, Pattern::Bunched);
    assert!(summary.arrivals.cov.unwrap() > 3.0, "{:?}", summary.arrivals.cov);
    // A hundred microseconds of tick do no harm to a target of 10 ms.
    let tick = Generator { tick: US(100), ..Generator::default() };
    let slow = || answers(|_, _| Answer::ok(MS(10)));
    let summary = judge_with(&plan(Process::Poisson, 200.0, 60, 3), LIMITS, 1, &tick, slow);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
}

/// One thread cannot send twice within one send: where the mean headway is not ten sends, evenness is physics.
#[test]
fn sends_one_after_the_other_are_physics_and_are_named() {
    let generator = Generator { action_cost: US(40), ..Generator::default() };
    let summary = judge(&plan(Process::Poisson, 8_000.0, 20, 4), &generator);
    assert!(!failed(&summary).contains(&"bunching"), "{:?}", summary.verdict.rules);
    finding(&summary, "serialised");
    let slow = judge(&plan(Process::Poisson, 500.0, 60, 4), &generator);
    assert!(slow.verdict.findings.iter().all(|f| f.id != FindingId::Serialised));
}

/// Waiting at the cap is the target's doing or the user's: `feedback`, not lateness.
#[test]
fn waiting_at_the_cap_is_feedback_and_not_lateness() {
    let limits = Limits { connections: 5, ..LIMITS };
    let target = || answers(|now, _| Answer::ok(if now < Nanos::from_secs(10) { MS(1) } else { MS(12) }));
    let summary = judge_with(&plan(Process::Poisson, 500.0, 20, 6), limits, 1, &Generator::default(), target);
    let feedback = finding(&summary, "feedback");
    assert!(feedback.value.unwrap() > 0.3, "{feedback:?}");
    assert!(!failed(&summary).contains(&"late-share"), "{:?}", failed(&summary));
    assert!(summary.lag.max.unwrap() < 1e-3, "{:?}", summary.lag);
    assert!(summary.blocked.p99.unwrap() > 0.05, "{:?}", summary.blocked);
}

/// Response times count from when a request was due: a target that stands still for a second shows it.
#[test]
fn a_stalled_target_shows_in_the_percentiles_of_a_valid_load() {
    let target = || {
        answers(|now: Nanos, _| match now.0 % 10_000_000_000 {
            into if into < 1_000_000_000 => Answer::ok(Nanos(1_000_000_000 - into)),
            _ => Answer::ok(US(100)),
        })
    };
    let limits = Limits { connections: 5_000, ..LIMITS };
    let summary =
        judge_with(&plan(Process::Poisson, 1_000.0, 60, 7), limits, 1, &Generator::default(), target);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
    // One second in ten, uniformly within it: p95 = 500 ms, p99 = 900 ms.
    let (p95, p99) = (summary.response.p95.unwrap(), summary.response.p99.unwrap());
    assert!((p95 - 0.5).abs() < 0.03 && (p99 - 0.9).abs() < 0.02, "{p95} {p99}");
}

/// Lateness is judged by what it did to the numbers: 5 ms now and then matter to a target of 0.1 ms, and not to one of 100 ms.
#[test]
fn what_lateness_did_to_the_numbers_is_judged() {
    let pauses: Vec<_> = (1..80).map(|i| (MS(250 * i), MS(250 * i) + MS(5))).collect();
    let generator = Generator { pauses, ..Generator::default() };
    let of = |service: Nanos| {
        judge_with(&plan(Process::Poisson, 500.0, 20, 9), LIMITS, 1, &generator, || {
            answers(move |_, _| Answer::ok(service))
        })
    };
    let (fast, slow) = (of(US(100)), of(MS(100)));
    assert_ne!(fast.verdict.load, Some(LoadVerdict::Valid), "{:?}", fast.verdict.effect);
    let late = finding(&fast, "late");
    assert!(matches!(late.evidence[..], [Evidence::Load(Load::Moved { .. })]), "{late:?}");
    assert_eq!(slow.verdict.load, Some(LoadVerdict::Valid), "{:?}", slow.verdict.effect);
    // Lateness itself is evidence, and says so.
    for summary in [&fast, &slow] {
        let late = summary.verdict.rules.iter().find(|r| r.rule == "late-share".into()).unwrap();
        assert!(late.value.unwrap() > 0.005 && late.outcome == RuleOutcome::NotApplicable, "{late:?}");
        assert!(matches!(late.reason.as_ref().unwrap().why, Why::Evidence), "{late:?}");
    }
    // What the target would have shown an undisturbed generator lies in the range of each judged number.
    for number in slow.verdict.effect.as_ref().unwrap().numbers.iter().filter(|n| n.outcome.is_some()) {
        let truth = if number.number.key() == "failed" { 0.0 } else { 0.1 };
        let [low, high] = number.undisturbed;
        assert!(low <= truth * 1.0006 && truth * 0.9994 <= high, "{number:?}");
    }
}

/// A generator that stands still says so: from when something was to be done until it was.
#[test]
fn hold_ups_travel_with_what_was_recorded() {
    let pauses = vec![(Nanos::from_secs(4), Nanos::from_secs(4) + MS(50))];
    let generator = Generator { pauses, ..Generator::default() };
    let client = Client::new(
        &plan(Process::Poisson, 500.0, 10, 2),
        Shard::new(0, 1).unwrap(),
        LIMITS,
        Kept::default(),
    );
    let mut world = Simulation::new(client, answers(|_, _| Answer::ok(US(100))), generator);
    world.run();
    let hold_ups = &world.finish().hold_ups;
    let within = |at: Nanos| (Nanos::from_secs(4)..Nanos::from_secs(4) + MS(50)).contains(&at);
    assert!(hold_ups.len() == 1 && within(hold_ups[0].0), "{hold_ups:?}");
    assert_eq!(hold_ups[0].1, Nanos::from_secs(4) + MS(50));
}
