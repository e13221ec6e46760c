//! Runs in which answers decide what is sent next: sessions, users who stay, fixed work; live and simulated.

use super::parts::{block, curves, outcomes, plan, rule, series, tail};
use super::{arrivals, clean, label};
use stats::summary::{
    Closed, Estimated, Finding, Held, Measured, Operator, Pattern, PlanPhase, PlanSummary, RateSummary,
    ResponseKind, RuleOutcome, RuleResult, Sessions, SessionsOver, Severity, Source, Supported,
    ThresholdOutcome, ThresholdResult,
};
use stats::{Summary, Workload};

/// Sessions of 11 requests at 20/s, as asked: VALID.
pub fn sessions() -> Summary {
    let (due, requests) = (1_200, 13_200);
    let mut summary = clean();
    summary.name = "bars".into();
    summary.command = Some("headway run bars.yaml --seed 42".into());
    summary.workload = Some(Workload::Sessions);
    summary.plan = Some(PlanSummary { arrivals: None, ..plan("poisson", 1.0, due) });
    summary.measured.n = requests;
    summary.measured.warmup = 1_089;
    summary.arrivals = arrivals(due, 0.989, 1.0);
    (summary.arrivals.rate, summary.arrivals.headway_mean) = (Some(20.0), Some(0.05));
    summary.rate = RateSummary {
        n: requests,
        offered: Some(220.0),
        started: Some(219.8),
        completed: Some(219.7),
        ..RateSummary::default()
    };
    super::not_independent(&mut summary, Pattern::Undecided);
    summary.lag.n = requests;
    summary.blocked.n = requests;
    summary.response = block(requests, 0.003_47, 1.0);
    summary.response_kind = Some(ResponseKind::Mixed);
    summary.response_open = Some(block(due, 0.003_61, 1.0));
    summary.response_session = Some(block(requests - due, 0.003_45, 1.0));
    summary.response_ok = block(requests, 0.003_47, 1.0);
    summary.service = block(requests, 0.003_43, 0.97);
    summary.bytes.n = requests;
    summary.outcomes = outcomes(&[("ok", requests)]);
    summary.by_label = labels(&[("list", 12_000), ("add", 1_200)]);
    summary.closed = Some(of_sessions(requests, 219.8, 0.003_47, 9));
    summary.sessions = Some(Sessions {
        n: due,
        started: due,
        ok: due,
        duration: block(due, 0.0382, 0.3),
        requests_asked: Some(13_200.0),
        requests_sent: 13_188,
        sent_share: Some(13_188.0 / 13_200.0),
        active_mean: Some(0.764),
        active_max: Some(5),
        active_at_end: Some(1),
        drain: Some(0.0214),
        first_sent: first(&[("list", 0.113), ("add", 0.151)]),
        first_response: first(&[("list", 0.116), ("add", 0.155)]),
        blocked: held(due, [0.000_009, 0.0, 0.000_21, 0.000_87]),
        blocked_all: held(requests, [0.000_002, 0.0, 0.000_2, 0.000_87]),
        ..Sessions::default()
    });
    summary.thresholds = vec![
        over("p(99) < 18", 0.018, ThresholdOutcome::Passed, 0.016, requests, [57, 1_200]),
        over("p(95) < 18", 0.018, ThresholdOutcome::Passed, 0.0104, requests, [57, 1_200]),
    ];
    summary.series = with_users(series(70, 220.0, |_| 1.0), |_| 0.76);
    summary
}

/// More sessions than the target finishes: they start as planned, so the load is VALID, and their requests do not follow.
pub fn overloaded() -> Summary {
    let (due, requests) = (2_984, 31_873);
    let mut summary = sessions();
    summary.name = "bars-at-50".into();
    summary.plan = Some(PlanSummary { arrivals: None, ..plan("poisson", 1.0, 3_000) });
    summary.measured.n = requests;
    summary.arrivals = arrivals(due, 0.997, 1.0);
    (summary.arrivals.rate, summary.arrivals.headway_mean) = (Some(49.7), Some(0.0201));
    summary.rate = RateSummary {
        n: requests,
        offered: Some(547.1),
        started: Some(506.1),
        completed: Some(498.3),
        ..RateSummary::default()
    };
    summary.verdict.findings = vec![
        Finding {
            id: "feedback".into(),
            severity: Severity::Warning,
            text: "Of the 32824 requests that the sessions stand for only 92 % were sent within the measured phase. Active \
                   sessions grew throughout the measured phase, by 525 from its beginning to its end (278 on average)."
                .into(),
            value: Some(0.924_6),
            limit: Some(0.97),
            n: due,
            ..Finding::default()
        },
        Finding {
            id: "not-steady".into(),
            severity: Severity::Warning,
            text: "Mean response times rose through the measured phase by 185 % of their mean: it was not steady, and its \
                   percentiles are a mixture. No stretch of it looks steady."
                .into(),
            value: Some(1.85),
            interval: Some([1.6, 2.1]),
            limit: Some(0.2),
            n: requests,
            ..Finding::default()
        },
    ];
    summary.response = block(requests, 0.564, 0.6);
    summary.response_open = Some(block(due, 0.551, 0.6));
    let mut within = block(requests - due, 0.566, 0.6);
    within.censored = 41;
    within.lower_bound = [("p999".to_owned(), true), ("max".to_owned(), true)].into();
    summary.response_session = Some(within);
    summary.response.censored = 41;
    summary.response.lower_bound = [("p999".to_owned(), true), ("max".to_owned(), true)].into();
    summary.response_ok = block(requests - 48, 0.563, 0.6);
    summary.outcomes = outcomes(&[("ok", requests - 48), ("status", 7), ("unfinished", 41)]);
    summary.service = block(requests - 41, 0.163, 0.6);
    summary.bytes.n = requests - 41;
    (summary.lag.n, summary.blocked) = (requests, tail(requests, [0.36, 1.03, 1.21, 1.31]));
    summary.by_label = labels(&[("list", 28_930), ("add", 2_943)]);
    summary.closed = Some(of_sessions(requests, 506.1, 0.564, 488));
    let mut duration = block(due, 6.21, 0.55);
    duration.censored = 34;
    duration.lower_bound = [("max".to_owned(), true)].into();
    summary.sessions = Some(Sessions {
        n: due,
        started: due,
        ok: 2_943,
        failed: 7,
        unfinished: 34,
        duration,
        requests_asked: Some(32_824.0),
        requests_sent: 30_349,
        sent_share: Some(30_349.0 / 32_824.0),
        active_mean: Some(277.5),
        active_max: Some(488),
        active_at_end: Some(478),
        drain: Some(30.0),
        blocked: held(due, [0.41, 0.37, 1.02, 1.19]),
        blocked_all: held(requests, [0.39, 0.36, 1.03, 1.31]),
        ..summary.sessions.take().expect("the sample has sessions")
    });
    summary.thresholds =
        vec![over("p(99) < 500ms", 0.5, ThresholdOutcome::Crossed, 1.02, requests, [1_973, 2_950])];
    summary.series =
        with_users(series(70, 500.0, |t| 1.0 + (t - 10.0).max(0.0)), |t| 8.0 * (t - 8.0).max(0.0));
    summary
}

/// Twenty users who think, and a target that stops now and then: what the loop hid is estimated.
pub fn closed() -> Summary {
    let n = 5_725;
    let mut summary = clean();
    summary.name = "stalls".into();
    summary.command =
        Some("headway run http://127.0.0.1:8080/ -u 20 --think 'exp(1s)' -d 300s --seed 42".into());
    summary.workload = Some(Workload::Closed);
    summary.plan = Some(PlanSummary {
        process: "closed".into(),
        gap_cov: None,
        rate: None,
        arrivals: None,
        users: Some(20),
        think: Some("exp(1s)".into()),
        phases: vec![
            PlanPhase { length_s: 10.0, from: 20.0, to: 20.0, warmup: true },
            PlanPhase { length_s: 300.0, from: 20.0, to: 20.0, warmup: false },
        ],
        steps: vec!["list".into()],
        ..plan("closed", 0.0, n)
    });
    super::not_independent(&mut summary, Pattern::Undecided);
    summary.verdict.rules = vec![
        not_for("sent-share"),
        rule("late-share", None, 0.000_2, [0.0, 0.001], [None, Some(0.01)], RuleOutcome::Pass, n),
        rule("users-held", None, 0.999_8, [0.999_1, 1.0], [Some(0.99), None], RuleOutcome::Pass, n),
    ];
    summary.verdict.findings = vec![Finding {
        id: "closed-loop".into(),
        severity: Severity::Info,
        text: "In this closed loop a request was due at the answer before it plus think time: response times are \
               conditional on the loop. Estimated: were 19.1 requests per second to arrive whatever the target does, the \
               99th percentile would be 1.58 s instead of 1.22 s."
            .into(),
        value: Some(1.58),
        n,
        ..Finding::default()
    }];
    summary.measured =
        Measured { from_s: 10.0, to_s: 310.000_000_001, n, warmup: 195, ..Measured::default() };
    summary.arrivals = arrivals(n, 1.05, 1.0);
    (summary.arrivals.rate, summary.arrivals.headway_mean) = (Some(19.08), Some(0.0524));
    summary.rate = RateSummary {
        n,
        offered: Some(19.083),
        started: Some(19.083),
        completed: Some(19.083),
        ..RateSummary::default()
    };
    summary.lag.n = n;
    summary.blocked = tail(n, [0.0; 4]);
    summary.response = block(n, 0.0301, 4.0);
    (summary.response.p99, summary.response.ci95.p99) = (Some(1.22), Some([0.0466, 1.84]));
    (summary.response.p999, summary.response.ci95.p999, summary.response.max) =
        (Some(1.94), None, Some(2.01));
    summary.response_kind = Some(ResponseKind::Loop);
    summary.response_ok = summary.response.clone();
    summary.service = summary.response.clone();
    summary.bytes.n = n;
    summary.outcomes = outcomes(&[("ok", n)]);
    summary.by_label = labels(&[("list", n)]);
    summary.closed = Some(Closed {
        n,
        users: Some(19.999_999_999_93),
        users_mean: Some(19.996),
        rate: Some(19.083),
        response: Some(0.0301),
        think: Some(1.018_9),
        think_asked: Some(1.0),
        think_recovered: Some(1.018_9),
        think_sd: Some(1.030_8),
        think_min: Some(0.000_253),
        think_max: Some(11.65),
        think_n: 5_705,
        rort: Some(0.028_7),
        n_little: Some(20.02),
        think_for_3_percent: Some(0.973),
        users_for_3_percent: Some(19.15),
        supported: Some(supported(19.083, 0.0301)),
        pages: None,
        in_flight_max: Some(20),
        all_waiting: Some(0.002_35),
        estimated: Some(Estimated {
            n: 5_735,
            rate: 19.083,
            mean: Some(0.0616),
            p50: Some(0.005_83),
            p99: Some(1.58),
            lanes: 3,
            method: "Poisson arrivals at the run's mean rate, first come first served by 3 lanes".into(),
        }),
    });
    summary.thresholds = vec![over("p(99) < 100ms", 0.1, ThresholdOutcome::Crossed, 1.22, n, [90, 5_725])];
    summary.thresholds[0].sessions_over = None;
    let stop = |t: f64| if (59.0..61.0).contains(&t) { 250.0 } else { 1.0 };
    summary.series = with_users(series(120, 19.0, stop), |t| 2.0 * t.min(10.0));
    summary.curves = curves(n, 3.0, 3.0, 1.05);
    summary
}

/// As many requests as asked, as fast as fifty users go.
pub fn fixed_work() -> Summary {
    let n = 5_000;
    let mut summary = clean();
    summary.name = "http://127.0.0.1:8080/bars".into();
    summary.command = Some("headway run http://127.0.0.1:8080/bars -n 5000 -u 20 --seed 42".into());
    summary.workload = Some(Workload::FixedWork);
    let asked = plan("fixed work", 0.0, n);
    summary.plan = Some(PlanSummary {
        gap_cov: None,
        rate: None,
        duration_s: None,
        warmup_s: None,
        phases: Vec::new(),
        arrivals: None,
        requests: Some(n),
        users: Some(20),
        steps: vec!["list".into()],
        ..asked
    });
    summary.verdict.rules = vec![
        not_for("sent-share"),
        rule("all-issued", None, 1.0, [1.0, 1.0], [Some(1.0), Some(1.0)], RuleOutcome::Pass, n),
    ];
    super::not_independent(&mut summary, Pattern::Undecided);
    summary.verdict.findings = vec![fixed("10.2 s", 10.15, n)];
    summary.measured = Measured { from_s: 0.0, to_s: 10.152_4, n, ..Measured::default() };
    summary.arrivals = arrivals(n, 1.02, 1.0);
    (summary.arrivals.rate, summary.arrivals.headway_mean) = (Some(492.5), Some(0.002_03));
    summary.rate = RateSummary {
        n,
        offered: Some(492.5),
        started: Some(492.5),
        completed: Some(492.5),
        ..RateSummary::default()
    };
    summary.lag.n = n;
    summary.blocked = tail(n, [0.0; 4]);
    summary.response = transient(n, 0.0405);
    summary.response_kind = Some(ResponseKind::Loop);
    summary.response_ok = summary.response.clone();
    summary.service = summary.response.clone();
    summary.bytes.n = n;
    summary.outcomes = outcomes(&[("ok", n)]);
    summary.by_label = labels(&[("list", n)]);
    summary.closed = Some(Closed {
        n,
        users_mean: Some(19.95),
        rate: Some(492.5),
        response: Some(0.0405),
        think: Some(0.0),
        think_asked: Some(0.0),
        rort: Some(1.0),
        n_little: Some(19.95),
        supported: Some(supported(492.5, 0.0405)),
        in_flight_max: Some(20),
        ..Closed::default()
    });
    no_intervals(&mut summary);
    summary.series = with_users(series(10, 492.0, |_| 9.0), |_| 20.0);
    summary
}

/// A thousand sessions that all come at once, through a pool of 200 connections: service times hide what users waited.
pub fn at_once() -> Summary {
    let (due, n) = (1_000, 11_000);
    let mut summary = fixed_work();
    summary.name = "crowd".into();
    summary.command = Some("headway run crowd.yaml --at-once 1000 -c 200 --seed 42".into());
    let plan = summary.plan.as_mut().expect("the sample has a plan");
    plan.process = "at once".into();
    (plan.requests, plan.users, plan.connections) = (Some(n), Some(due), Some(200));
    plan.steps = ["list", "add", "pay"].map(String::from).into();
    summary.verdict.rules[1].n = n;
    summary.verdict.findings = vec![fixed("22.2 s", 22.17, n)];
    summary.measured = Measured { from_s: 0.0, to_s: 22.169, n, ..Measured::default() };
    summary.arrivals = arrivals(n, 1.02, 1.0);
    summary.rate = RateSummary {
        n,
        offered: Some(496.2),
        started: Some(496.2),
        completed: Some(496.2),
        ..RateSummary::default()
    };
    summary.lag.n = 200;
    summary.blocked = tail(n, [1.6, 1.74, 1.76, 1.76]);
    summary.response = transient(n, 1.93);
    summary.response_kind = Some(ResponseKind::Mixed);
    summary.response_open = Some(transient(due, 1.07));
    summary.response_session = Some(transient(n - due, 2.01));
    summary.response_ok = summary.response.clone();
    summary.service = transient(n, 0.399);
    summary.bytes.n = n;
    summary.outcomes = outcomes(&[("ok", n)]);
    summary.by_label = labels(&[("list", 10_000), ("add", 1_000)]);
    summary.closed = Some(Closed {
        n,
        users_mean: Some(924.5),
        rate: Some(496.2),
        response: Some(1.93),
        in_flight_max: Some(200),
        ..Closed::default()
    });
    let mut duration = transient(due, 21.2);
    duration.sd = Some(0.54);
    summary.sessions = Some(Sessions {
        n: due,
        started: due,
        ok: due,
        duration,
        requests_sent: n,
        active_mean: Some(924.5),
        active_max: Some(due),
        active_at_end: Some(0),
        drain: Some(22.169),
        first_sent: first(&[("list", 0.0), ("add", 18.53)]),
        first_response: first(&[("list", 0.001_14), ("add", 20.19)]),
        blocked: held(due, [0.684, 0.651, 1.67, 1.69]),
        blocked_all: held(n, [1.53, 1.6, 1.74, 1.76]),
        ..Sessions::default()
    });
    summary.thresholds = vec![over("p(99) < 500ms", 0.5, ThresholdOutcome::Crossed, 2.15, n, [due, due])];
    no_intervals(&mut summary);
    summary.series =
        with_users(series(22, 496.0, |_| 60.0), |t| (1_000.0 - 60.0 * (t - 17.0).max(0.0)).max(0.0));
    for row in &mut summary.series {
        row.in_flight = row.in_flight.map(|_| 200.0);
        row.waiting = row.users.map(|users| (users - 200.0).max(0.0));
    }
    summary
}

/// A simulation of sessions with a few users beside them; nothing watched a generator.
pub fn simulated() -> Summary {
    let n = 13_800;
    let mut summary = sessions();
    summary.source = Source::Sim;
    summary.name = "two-groups".into();
    summary.command = Some("headway sim two-groups.yaml".into());
    (summary.started_at, summary.generator) = (None, None);
    let plan = summary.plan.as_mut().expect("the sample has a plan");
    (plan.users, plan.think, plan.threads) = (Some(10), Some("exp(1s)".into()), None);
    summary.verdict.rules.push(rule(
        "users-held",
        None,
        0.995,
        [0.991, 0.999],
        [Some(0.99), None],
        RuleOutcome::Pass,
        n,
    ));
    summary.measured.n = n;
    summary.rate = RateSummary {
        n,
        offered: Some(220.0),
        started: Some(229.8),
        completed: Some(229.8),
        ..RateSummary::default()
    };
    summary.response = block(n, 0.003_5, 1.0);
    summary.response_ok = summary.response.clone();
    summary.service = summary.response.clone();
    summary.response_session = Some(block(n - 1_200, 0.003_49, 1.0));
    summary.outcomes = outcomes(&[("ok", n)]);
    summary.by_label = labels(&[("list", 12_000), ("add", 1_200), ("correct", 600)]);
    summary.bytes.n = n;
    summary.lag = tail(n, [0.0; 4]);
    summary.blocked = tail(n, [0.0; 4]);
    let sessions = summary.sessions.as_mut().expect("the sample has sessions");
    sessions.blocked = held(1_200, [0.0; 4]);
    sessions.blocked_all = held(13_200, [0.0; 4]);
    (sessions.active_at_end, sessions.drain) = (Some(0), Some(0.0));
    summary.closed = Some(Closed {
        users: Some(10.0),
        users_mean: Some(10.7),
        think: Some(0.997),
        think_asked: Some(1.0),
        think_recovered: Some(0.997),
        think_n: 590,
        rort: Some(0.003_5),
        n_little: Some(9.97),
        all_waiting: Some(0.0),
        ..of_sessions(600, 9.96, 0.003_51, 9)
    });
    summary.thresholds.clear();
    summary.series = with_users(series(70, 230.0, |_| 1.0), |_| 10.7);
    summary
}

/// What is known of users where sessions arrive.
fn of_sessions(n: u64, rate: f64, response: f64, in_flight: u64) -> Closed {
    Closed {
        n,
        users_mean: Some(0.764),
        rate: Some(rate),
        response: Some(response),
        think_for_3_percent: Some(response * 0.97 / 0.03),
        users_for_3_percent: Some(rate * response / 0.03),
        supported: Some(supported(rate, response)),
        in_flight_max: Some(in_flight),
        ..Closed::default()
    }
}

fn supported(rate: f64, response: f64) -> [Supported; 5] {
    [10.0, 20.0, 30.0, 40.0, 50.0].map(|think| Supported { think, users: rate * (think + response) })
}

fn held(n: u64, [mean, p50, p99, max]: [f64; 4]) -> Held {
    Held { n, mean: Some(mean), p50: Some(p50), p99: Some(p99), max: Some(max) }
}

fn first(steps: &[(&str, f64)]) -> std::collections::BTreeMap<String, f64> {
    steps.iter().map(|&(step, at)| (step.to_owned(), at)).collect()
}

/// Labels of requests that all succeeded.
fn labels(counts: &[(&str, u64)]) -> std::collections::BTreeMap<String, stats::summary::LabelSummary> {
    let ok = |n| stats::summary::LabelSummary { outcomes: outcomes(&[("ok", n)]), ..label(n) };
    counts.iter().map(|&(name, n)| (name.to_owned(), ok(n))).collect()
}

/// A threshold on response times, and the sessions that saw one beyond it.
fn over(
    text: &str,
    limit: f64,
    outcome: ThresholdOutcome,
    value: f64,
    n: u64,
    [over, sessions]: [u64; 2],
) -> ThresholdResult {
    ThresholdResult {
        text: text.into(),
        metric: "response".into(),
        operator: Operator::Below,
        limit,
        value: Some(value),
        outcome,
        n,
        sessions_over: Some(SessionsOver { n: sessions, over, share: Some(over as f64 / sessions as f64) }),
        ..ThresholdResult::default()
    }
}

fn not_for(name: &str) -> RuleResult {
    RuleResult {
        rule: name.into(),
        reason: Some("not for this kind of workload".into()),
        ..RuleResult::default()
    }
}

fn fixed(took: &str, seconds: f64, n: u64) -> Finding {
    Finding {
        id: "fixed-work".into(),
        severity: Severity::Info,
        text: format!(
            "Fixed work is one transient and has no steady state. What compares targets is how long it took: {took}."
        ),
        value: Some(seconds),
        n,
        ..Finding::default()
    }
}

/// A block without intervals.
fn transient(n: u64, mean: f64) -> stats::summary::Spread {
    stats::summary::Spread { ci95: Default::default(), ..block(n, mean, 0.1) }
}

fn no_intervals(summary: &mut Summary) {
    let paths = ["response", "service"].into_iter().flat_map(|block| {
        ["mean", "p50", "p90", "p95", "p99", "p999"].map(|name| format!("{block}.ci95.{name}"))
    });
    summary.not_computed = paths.map(|path| (path, "fixed work is one transient".to_owned())).collect();
}

fn with_users(
    mut rows: Vec<stats::summary::SeriesRow>,
    users: impl Fn(f64) -> f64,
) -> Vec<stats::summary::SeriesRow> {
    for row in &mut rows {
        row.users = Some(users(row.from_s));
    }
    rows
}
