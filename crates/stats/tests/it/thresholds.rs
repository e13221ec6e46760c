//! Thresholds on whole runs: any percentile, by step too; while the run lasts; and on a load that was not sent as asked.

use crate::world::{World, evidence, finding};
use headway_base::{Batch, Nanos, Outcome, Record, Start};
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{Evidence, LoadVerdict, Summary, ThresholdOutcome};
use headway_stats::{Analysis, Facts, Threshold};

fn read(texts: &[&str]) -> Vec<Threshold> {
    texts.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn judge(world: &World, texts: &[&str]) -> Summary {
    let mut analysis = Analysis::new(world.setup(3)).judging(read(texts));
    world.feed(&mut analysis, 3);
    analysis.finish(world.facts.clone())
}

/// Which requests a threshold is about.
type Selects<'a> = &'a dyn Fn(&Record) -> bool;

/// Smallest x with F(x) >= p, in seconds.
fn exact(records: &[Record], p: f64, of: impl Fn(&Record) -> bool) -> (f64, u64) {
    let mut times: Vec<i64> = records.iter().filter(|r| of(r)).map(|r| r.response().0).collect();
    times.sort_unstable();
    let rank = (p * times.len() as f64).ceil() as usize;
    (times[rank - 1] as f64 / 1e9, times.len() as u64)
}

#[test]
fn any_percentile_is_that_of_its_requests_and_has_an_interval() {
    let mut world = World::poisson(800.0, 20, 11);
    world.labels = vec!["list".into(), "add".into()];
    let world = world.with(|r| {
        r.step = u16::from(r.k % 7 == 0);
        // The rarer step takes four times as long.
        if r.step == 1 {
            r.done = r.intended + Nanos(4 * r.response().0);
        }
        if r.k % 50 == 0 {
            r.outcome = Outcome::Status;
        }
    });
    let texts = [
        "p(97.3)<1",
        "response{step:add}: p(97.3)<1",
        "response_ok{step:list}: p(12.5)<1",
        "p(99)<1",
        "avg<1",
        "failed: rate<1%",
        "failed{step:add}: rate<2%",
        "service{step:add}: max<1",
        "started{step:add}: count>1",
        "started: rate>1",
        "lag: p(99.9)<3us",
        "lag: avg<1",
    ];
    let summary = judge(&world, &texts);
    let value = |i: usize| summary.thresholds[i].value.unwrap_or_else(|| panic!("{}", texts[i]));
    let quantiles: [(usize, f64, Selects); 3] = [
        (0, 0.973, &|_| true),
        (1, 0.973, &|r| r.step == 1),
        (2, 0.125, &|r| r.step == 0 && r.outcome == Outcome::Ok),
    ];
    for (i, p, of) in quantiles {
        let (truth, n) = exact(&world.records, p, of);
        let seen = &summary.thresholds[i];
        assert!((value(i) / truth - 1.0).abs() < 0.001, "{}: {} for {truth}", texts[i], value(i));
        assert_eq!(seen.n, n, "{}", texts[i]);
        let [low, high] = seen.interval.unwrap_or_else(|| panic!("{}", texts[i]));
        assert!(low < truth && truth < high, "{}: {low} to {high} for {truth}", texts[i]);
    }
    // What the document holds as well is the same number there.
    let [p99, mean] = [&summary.thresholds[3], &summary.thresholds[4]];
    assert_eq!((p99.value, p99.interval), (summary.response.p99, summary.response.ci95.p99));
    assert_eq!((mean.value, mean.interval), (summary.response.mean, summary.response.ci95.mean));
    let failures = |of: Selects| {
        let n = world.records.iter().filter(|r| of(r)).count();
        let bad = world.records.iter().filter(|r| of(r) && r.outcome != Outcome::Ok).count();
        bad as f64 / n as f64
    };
    assert_eq!(value(5), failures(&|_| true));
    assert_eq!(value(6), failures(&|r| r.step == 1));
    assert_eq!(summary.thresholds[5].outcome, ThresholdOutcome::Crossed);
    assert!(summary.thresholds[5].interval.is_some_and(|[low, high]| low < 0.02 && 0.02 < high));
    assert!(value(7) > summary.thresholds[2].value.unwrap());
    assert_eq!(value(8), world.records.iter().filter(|r| r.step == 1).count() as f64);
    assert_eq!(Some(value(9)), summary.rate.started);
    assert_eq!(Some(value(10)), summary.lag.p999);
    assert!((value(11) / 2e-6 - 1.0).abs() < 0.001);
    // Why an interval is missing is told where there could be one.
    let few = judge(&world, &["p(99.99)<1", "max<1"]);
    assert!(
        matches!(few.not_computed["thresholds.0.interval"].why, headway_stats::summary::Why::OneSide { .. }),
        "{:?}",
        few.not_computed
    );
    assert!(!few.not_computed.contains_key("thresholds.1.interval"));
}

#[test]
fn users_without_an_answer_do_not_make_a_target_fast() {
    // Refused at once: a median of a tenth of a millisecond.
    let world = World::poisson(200.0, 10, 12).with(|r| {
        r.outcome = Outcome::Refused;
        r.done = r.intended + Nanos(100_000);
    });
    let summary = judge(&world, &["p(99)<100", "avg<100", "max<1s", "p(50)>50us", "response_ok: p(99)<100"]);
    let outcomes: Vec<ThresholdOutcome> = summary.thresholds.iter().map(|t| t.outcome).collect();
    use ThresholdOutcome::{Crossed, NotJudged, Passed};
    assert_eq!(outcomes, [Crossed, Crossed, Crossed, Passed, NotJudged]);
    assert!(summary.thresholds[0].lower_bound && summary.thresholds[0].value < Some(0.001));
}

#[test]
fn of_a_load_with_a_tenth_unsent_nothing_is_certain_to_hold() {
    let world = World::poisson(500.0, 10, 13).with(|r| {
        if r.k % 10 == 0 {
            *r = Record::never_started(r.k, r.intended, r.intended + Nanos(5_000_000), Outcome::Unsent);
        }
    });
    let summary = judge(&world, &["p(50)<100", "p(50)<1us"]);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    let [holds, crossed] = &summary.thresholds[..] else { panic!("{:?}", summary.thresholds) };
    // Had they been sent, the others might have waited for them: there is no upper end.
    assert_eq!((holds.outcome, holds.ends.unwrap().high), (ThresholdOutcome::NotJudged, None));
    let why = &holds.reason.as_ref().unwrap().why;
    assert!(
        matches!(why, headway_stats::summary::Why::OwnDelays { high: None, unsent, .. } if *unsent > 0.09),
        "{why:?}"
    );
    // The others took longer than the limit whatever was sent besides.
    assert_eq!((crossed.outcome, crossed.open), (ThresholdOutcome::Crossed, None), "{crossed:?}");
}

/// The requests that ended within this second, as one source tells them.
fn second(world: &World, second: i64, last: bool) -> Batch {
    let within = Nanos::from_secs(second)..Nanos::from_secs(second + 1);
    let start = |r: &Record| -> Option<Start> { r.start().filter(|start| within.contains(&start.started)) };
    Batch {
        starts: world.records.iter().filter_map(start).collect(),
        records: world.records.iter().filter(|r| within.contains(&r.done)).copied().collect(),
        watermark: within.end,
        last,
        ..Batch::default()
    }
}

/// Plays a run of 20 s second by second until a threshold ends it; the second, and the summary.
fn until_crossed(world: &World, thresholds: Vec<Threshold>) -> (Option<i64>, Summary) {
    let mut analysis = Analysis::new(world.setup(1)).judging(thresholds);
    for at in 0..20 {
        analysis.batch(&second(world, at, at == 19));
        let now = Nanos::from_secs(at + 1);
        if let Some(crossed) = analysis.crossed(now) {
            assert_eq!(crossed.outcome, ThresholdOutcome::Crossed);
            analysis.batch(&Batch { watermark: now, last: true, ..Batch::default() });
            let facts = Facts { interrupted_at: Some(now), ..Facts::default() };
            return (Some(at + 1), analysis.finish(facts));
        }
    }
    (None, analysis.finish(Facts::default()))
}

fn aborting(texts: &[&str], delay: i64) -> Vec<Threshold> {
    let mut thresholds = read(texts);
    thresholds.iter_mut().for_each(|t| t.abort_after = Some(Nanos::from_secs(delay)));
    thresholds
}

#[test]
fn a_crossed_threshold_ends_the_run_when_its_delay_is_over() {
    // From the sixth second on half of the requests fail.
    let world = World::poisson(400.0, 20, 14).with(|r| {
        if r.intended >= Nanos::from_secs(5) && r.k % 2 == 0 {
            r.outcome = Outcome::Status;
        }
    });
    // 200 of some 2,400 after six seconds: 8 %.
    let texts = ["p(50)<1s", "failed: rate<5%"];
    let (ended, summary) = until_crossed(&world, aborting(&texts, 0));
    assert_eq!(ended, Some(6));
    assert!(summary.measured.aborted && summary.measured.interrupted);
    let [passed, crossed] = &summary.thresholds[..] else { panic!("two thresholds") };
    assert_eq!((passed.outcome, passed.ended_run_at), (ThresholdOutcome::Passed, None));
    assert_eq!((crossed.outcome, crossed.ended_run_at), (ThresholdOutcome::Crossed, Some(6.0)));
    let Evidence::Run(Run::Aborted { threshold, at_s: 6.0, .. }) = evidence(&summary, "aborted") else {
        panic!("{:?}", summary.verdict.findings)
    };
    assert_eq!(threshold, "failed: rate<5%");
    assert!(finding(&summary, "interrupted").is_none());

    assert_eq!(until_crossed(&world, aborting(&texts, 9)).0, Some(9));
    // Without being asked to, nothing ends; nor by what only the end can tell.
    let (ended, summary) = until_crossed(&world, read(&texts));
    assert_eq!((ended, summary.measured.aborted), (None, false));
    assert_eq!(summary.thresholds[1].outcome, ThresholdOutcome::Crossed);
    let reached = ["count>1k", "started: rate>399.9/s"];
    assert_eq!(until_crossed(&world, aborting(&reached, 0)).0, None);
}

#[test]
fn what_is_crossed_after_the_end_of_the_plan_ended_nothing() {
    let world = World::poisson(400.0, 20, 15);
    let mut analysis = Analysis::new(world.setup(1)).judging(aborting(&["p(50)<1us"], 0));
    world.feed(&mut analysis, 1);
    assert!(analysis.crossed(Nanos::from_secs(20)).is_none());
    // Crossed in the last moment, and the run came to its end all the same.
    assert!(analysis.crossed(Nanos::from_secs(19)).is_some());
    let summary = analysis.finish(Facts::default());
    assert!(!summary.measured.aborted && finding(&summary, "aborted").is_none());
    assert_eq!(summary.thresholds[0].ended_run_at, None);
    assert_eq!(summary.thresholds[0].outcome, ThresholdOutcome::Crossed);
}
