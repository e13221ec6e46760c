//! Simulated runs, some of them dressed as live ones.

use super::parts::{generator, transferred};
use headway_base::KnownFailure;
use headway_stats::Summary;
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{
    Decoded, Failure, FailureReason, Finding, LoadVerdict, Severity, Source, Stall, ThresholdOutcome, Why,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{LazyLock, Mutex};

/// The run of the scenario `<name>.yaml` of this folder, computed once.
#[expect(clippy::disallowed_methods, reason = "the command line writes the document to a file")]
fn computed(name: &'static str) -> Summary {
    static KNOWN: LazyLock<Mutex<BTreeMap<&str, Summary>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().expect("no other test has failed in here");
    let summary = known.entry(name).or_insert_with(|| {
        let scenario = format!("{}/tests/samples/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().expect("a folder");
        let document = folder.path().join("summary.json");
        let words = ["headway", "sim", &scenario, "--quiet", "--json"].map(OsString::from);
        let code = headway_cli::main(words.into_iter().chain([document.clone().into()]));
        // 1: no request ended ok.
        assert!([0, 1, 98, 99].contains(&code), "{name}: exit code {code}");
        let mut summary = headway_report::parse(&std::fs::read(document).expect(name)).expect(name);
        summary.command =
            Some(headway_redact::Redactor::default().clear(&format!("headway sim {name}.yaml --seed 42")));
        summary
    });
    summary.clone()
}

/// The same run as if it had been live.
fn live(name: &'static str, command: &str) -> Summary {
    let mut summary = computed(name);
    summary.source = Source::Live;
    summary.simulation = None;
    summary.command =
        Some(headway_redact::Redactor::default().clear(&format!("headway run {command} --seed 42")));
    summary.started_at = Some("2026-03-14T09:26:53Z".into());
    summary.generator = Some(generator(0.08));
    transferred(&mut summary);
    let plan = summary.plan.as_mut().expect("a run has a plan");
    plan.target = Some("http://127.0.0.1:8080".into());
    plan.threads = Some(2);
    summary
}

/// A Poisson run in which nearly all went well: VALID and independent.
pub fn clean() -> Summary {
    live("clean", "http://127.0.0.1:8080/bars -R 200/s -d 60s")
}

/// A metronome that was asked for: VALID and even.
pub fn constant() -> Summary {
    live("constant", "http://127.0.0.1:8080/bars -R 200/s -d 60s --arrivals constant")
}

/// A generator that could not keep up: INVALID.
pub fn saturated() -> Summary {
    computed("saturated")
}

/// The target stood still for longer than requests were waited for, and the generator for a moment.
pub fn stalled() -> Summary {
    let mut summary = live("stalled", "http://127.0.0.1:8080/bars -R 200/s -d 60s --timeout 5s");
    let machine = summary.generator.as_mut().expect("a live run has one");
    machine.same_host_as_target = Some(true);
    machine.stalls = [(24.1, 0.011, "off the processor"), (51.0, 0.004, "")]
        .map(|(at_s, length_s, cause)| Stall {
            at_s,
            length_s,
            worker: 0,
            cause: (!cause.is_empty()).then(|| cause.to_owned()),
        })
        .into();
    summary
}

/// No request was answered.
pub fn refused() -> Summary {
    live("refused", "http://127.0.0.1:9 -R 200/s -d 10s --timeout 1s")
}

/// Of one step, with an extraction and checks that fail in two ways, and requests that lack rights.
pub fn failed() -> Summary {
    let mut summary = live("clean", "http://127.0.0.1:8080/bars -R 200/s -d 60s");
    summary.by_label.clear();
    summary.verdict.findings.clear();
    let kinds = [("check", 200, 89), ("status", 401, 12)];
    summary.failures = kinds
        .map(|(outcome, status, n)| Failure { outcome: outcome.into(), status: Some(status), step: None, n })
        .into();
    let all: u64 = summary.outcomes.values().sum();
    summary.outcomes = kinds.iter().map(|&(outcome, _, n)| (outcome.to_owned(), n)).collect();
    summary.outcomes.insert("ok".into(), all - 89 - 12);
    summary.response_ok.n = all - 89 - 12;
    let reason = |outcome: &str, status, kind, n, reason: &str, got: &str| FailureReason {
        outcome: outcome.into(),
        status: Some(status),
        kind,
        reason: headway_redact::Redactor::default().clear(reason),
        example: headway_redact::Redactor::default().clear(&format!("{reason}{got}")),
        n,
        ..FailureReason::default()
    };
    let missing = Some(KnownFailure::MissingVariable);
    let token = "GET /bars: {{token}}: expected a value at /token of the body";
    let state = "GET /bars: expected \"open\" at /state of the body";
    let below = "GET /bars: expected status below 400, got 401";
    summary.failure_reasons.rows = vec![
        reason("check", 200, None, 67, state, ", got \"shut\""),
        reason("check", 200, missing, 22, token, ", got \"{\\\"state\\\": \\\"open\\\"}\""),
        reason("status", 401, Some(KnownFailure::Unauthorized), 12, below, ""),
    ];
    summary.decoded = Some(Decoded { n: 11_988, encoded_bytes: 2_829_168, decoded_bytes: 14_757_228 });
    summary
}

/// Stopped by the user after a moment: too little to decide.
pub fn interrupted() -> Summary {
    let mut summary = live("interrupted", "http://127.0.0.1:8080/bars -R 200/s -d 60s");
    summary.measured.interrupted = true;
    summary.thresholds.clear();
    summary
}

/// Ended by a threshold that was crossed.
pub fn aborted() -> Summary {
    let mut summary =
        live("interrupted", "http://127.0.0.1:8080/bars -R 200/s -d 60s --threshold 'failed: rate<0.1%'");
    summary.measured.aborted = true;
    let crossed = &mut summary.thresholds[0];
    assert_eq!(
        (crossed.outcome, summary.verdict.load),
        (ThresholdOutcome::Crossed, Some(LoadVerdict::Inconclusive))
    );
    crossed.ended_run_at = Some(1.0);
    crossed.reason = Some(Why::EndedRun { at_s: 1.0, recovered: false }.into());
    let aborted = Run::Aborted { threshold: crossed.text.clone(), at_s: 1.0, complete: 1, of: 20 };
    summary.verdict.findings.push(Finding {
        id: "aborted".into(),
        severity: Severity::Error,
        evidence: vec![aborted.into()],
        value: crossed.value,
        limit: Some(crossed.limit),
        at: vec![[1.0, 1.0]],
        n: crossed.n,
        ..Finding::default()
    });
    summary
}

/// One threshold of each outcome and unit; the generator had a part in the upper percentiles.
pub fn thresholds() -> Summary {
    live("thresholds", "thresholds.yaml")
}

/// Sessions of 11 requests at 20/s, as asked: VALID.
pub fn sessions() -> Summary {
    live("sessions", "sessions.yaml")
}

/// More sessions than the target finishes: they start as planned, so the load is VALID, and their requests do not follow.
pub fn overloaded() -> Summary {
    live("overloaded", "overloaded.yaml")
}

/// Twenty users with think times, and a target that stops now and then: what the loop hid is estimated.
pub fn closed() -> Summary {
    live("closed", "http://127.0.0.1:8080/ -u 20 --think 'exp(1s)' -d 300s")
}

/// As many requests as asked, as fast as twenty users go.
pub fn fixed_work() -> Summary {
    live("fixed_work", "http://127.0.0.1:8080/bars -n 5000 -u 20")
}

/// A thousand sessions that all come at once, through a pool of 200 connections: service times hide what users waited.
pub fn at_once() -> Summary {
    live("at_once", "at_once.yaml")
}

/// Sessions with a few users beside them.
pub fn simulated() -> Summary {
    computed("simulated")
}

/// Ten routers over 60 servers, with retries before them.
pub fn balanced() -> Summary {
    computed("balanced")
}

/// One station of four servers that is asked for a quarter more than it can do, and fills up.
pub fn overloaded_model() -> Summary {
    computed("overloaded_model")
}
