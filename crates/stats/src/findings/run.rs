//! Findings on the run around the load: cut short, stalled, saturated, failed, unanswered.

use super::simulated::too_short;
use super::{FindingContext, longest, percent, span};
use crate::intervals::SEGMENTS;
use crate::phase::Ranges;
use crate::summary::{Finding, RuleOutcome, RuleResult, Severity};
use headway_base::Outcome;

pub(super) fn aborted(case: &FindingContext) -> Option<Finding> {
    let threshold = case.summary.thresholds.iter().find(|t| t.ended_run_at.is_some())?;
    let at = threshold.ended_run_at?;
    let measured = &case.summary.measured;
    Some(Finding {
        severity: Severity::Error,
        text: format!(
            "The threshold {} was crossed after {} and ended the run: the numbers cover what fell due until then, their \
             intervals the {} of {SEGMENTS} segments of the measured phase that were complete.",
            threshold.text,
            span(at),
            case.evidence.filled
        ),
        value: threshold.value,
        interval: threshold.interval,
        limit: Some(threshold.limit),
        at: vec![[at, at]],
        n: measured.n,
        ..Finding::default()
    })
}

pub(super) fn interrupted(case: &FindingContext) -> Option<Finding> {
    if case.summary.measured.aborted {
        return None;
    }
    let at = case.facts.interrupted_at?.as_secs_f64();
    let measured = &case.summary.measured;
    let filled = case.evidence.filled;
    Some(Finding {
        severity: Severity::Warning,
        text: format!(
            "The run was cut short after {}: the numbers cover what fell due until then, their intervals the {filled} \
             of {SEGMENTS} segments of the measured phase that were complete.",
            span(at)
        ),
        value: Some(at),
        at: vec![[at, at]],
        n: measured.n,
        ..Finding::default()
    })
}

pub(super) fn stall(case: &FindingContext) -> Option<Finding> {
    let stalls = case.stalls();
    let worst = longest(&stalls)?;
    let mut at = Ranges::default();
    for s in &stalls {
        at.push((s.at_s * 1e9) as i64, ((s.at_s + s.length_s) * 1e9) as i64);
    }
    let cause = worst.cause.as_ref().map_or(String::new(), |c| format!(" ({c})"));
    let total: f64 = stalls.iter().map(|s| s.length_s).sum();
    Some(Finding {
        severity: Severity::Info,
        text: format!(
            "The generator's threads stood still {} times for more than {}, {} in all, the longest for {} at {}{cause}. \
             Response times are counted from when requests were due and include it.",
            stalls.len(),
            span(case.evidence.tolerances.stall.as_secs_f64()),
            span(total),
            span(worst.length_s),
            span(worst.at_s)
        ),
        value: Some(worst.length_s),
        limit: Some(case.evidence.tolerances.stall.as_secs_f64()),
        at: at.seconds(),
        n: stalls.len() as u64,
        ..Finding::default()
    })
}

pub(super) fn saturated(case: &FindingContext) -> Option<Finding> {
    let (workers, most) = case.saturated_workers();
    let all = case.generator()?.workers.len();
    (workers > 0).then(|| Finding {
        severity: Severity::Warning,
        text: format!(
            "{workers} of {all} worker threads were saturated: {} of the busiest one's time went into handling \
             requests. Beyond this the generator, not the target, sets the pace: add threads or machines.",
            percent(most)
        ),
        value: Some(most),
        limit: Some(case.evidence.tolerances.saturated),
        n: all as u64,
        ..Finding::default()
    })
}

/// What a machine may lack, and what to do about it.
const LACKS: [(&str, &str, &str); 6] = [
    ("descriptors", "file descriptor left for the process", "raise `ulimit -n`, or lower -c"),
    ("system-descriptors", "file descriptor left on the whole system", "raise fs.file-max"),
    (
        "ports",
        "local port left to this target",
        "widen net.ipv4.ip_local_port_range, keep connections open, or send from several addresses",
    ),
    ("memory", "memory left for sockets", "raise net.ipv4.tcp_mem, or lower -c"),
    ("watches", "epoll watch left for the user", "raise fs.epoll.max_user_watches"),
    ("permission", "permission to connect", "look for a local firewall rule or a sandbox"),
];

pub(super) fn local_limit(case: &FindingContext) -> Option<Finding> {
    let hits = case.count(Outcome::LocalLimit);
    let lacked = case.generator().map(|generator| &generator.lacked);
    let named = |&&(what, ..): &&(&str, _, _)| lacked.is_some_and(|lacked| lacked.contains_key(what));
    let named: Vec<_> = LACKS.iter().filter(named).collect();
    let (what, next) = match &named[..] {
        [] => (
            "file descriptor, local port or memory left".to_owned(),
            "raise the limit (`ulimit -n`, net.ipv4.ip_local_port_range), or keep connections open"
                .to_owned(),
        ),
        named => {
            let join = |part: fn(&&(&str, &str, &str)) -> String, by: &str| {
                named.iter().map(part).collect::<Vec<_>>().join(by)
            };
            (join(|lack| lack.1.to_owned(), ", or no "), join(|lack| lack.2.to_owned(), "; "))
        }
    };
    (hits > 0).then(|| Finding {
        severity: Severity::Error,
        text: format!(
            "{hits} requests were not sent, because the generator had no {what}. They say nothing about the target: {next}."
        ),
        value: Some(hits as f64),
        limit: Some(0.0),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn unaccounted(case: &FindingContext) -> Option<Finding> {
    let missing = case.unaccounted;
    (missing > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Warning,
        text: format!(
            "{missing} requests started and no record tells how they ended: the log breaks off. Response times lack \
             them, most likely the slowest."
        ),
        value: Some(missing as f64),
        n: case.released(),
        ..Finding::default()
    })
}

pub(super) fn disordered(case: &FindingContext) -> Option<Finding> {
    let n = case.evidence.kept.disordered;
    (n > 0).then(|| Finding {
        severity: Severity::Warning,
        text: format!(
            "{n} starts were reported out of order and counted as simultaneous with their neighbour."
        ),
        value: Some(n as f64),
        n: case.released(),
        ..Finding::default()
    })
}

/// Too short to decide the rules, or, simulated, to say much about a steady state.
pub(super) fn short_run(case: &FindingContext) -> Option<Finding> {
    match (undecided(case), too_short(case)) {
        (Some(rules), Some(model)) => {
            Some(Finding { text: format!("{} {}", rules.text, model.text), ..model })
        }
        (rules, model) => rules.or(model),
    }
}

fn undecided(case: &FindingContext) -> Option<Finding> {
    let undecided: Vec<&RuleResult> =
        case.summary.verdict.rules.iter().filter(|r| r.outcome == RuleOutcome::Undecided).collect();
    if undecided.is_empty() {
        return None;
    }
    let names: Vec<String> = undecided
        .iter()
        .map(|r| match r.window {
            Some(window) => format!("{} at {} (n = {})", r.rule, span(window), r.n),
            None => format!("{} (n = {})", r.rule, r.n),
        })
        .collect();
    Some(Finding {
        severity: Severity::Warning,
        text: format!(
            "Too few arrivals, or too uneven ones, to decide {}. Run longer; an interval shrinks with the root of the \
             length.",
            names.join(", ")
        ),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn censored(case: &FindingContext) -> Option<Finding> {
    let response = &case.summary.response;
    if response.censored == 0 {
        return None;
    }
    let share = response.censored as f64 / response.n as f64;
    let names: Vec<&str> = response.lower_bound.keys().map(String::as_str).collect();
    Some(Finding {
        severity: if share > case.evidence.tolerances.errors { Severity::Warning } else { Severity::Info },
        text: format!(
            "{} of {} requests ({}) got no complete answer. They count as longer than the time until they were given \
             up, so these response times are lower bounds: {}.",
            response.censored,
            response.n,
            percent(share),
            names.join(", ")
        ),
        value: Some(share),
        n: response.n,
        ..Finding::default()
    })
}

pub(super) fn errors(case: &FindingContext) -> Option<Finding> {
    // What was not sent has findings of its own.
    let not_sent = |outcome: Outcome| match outcome {
        Outcome::Unsent => case.count(outcome),
        Outcome::LocalLimit => case.evidence.requests.lacked,
        _ => 0,
    };
    let failures = |outcome: Outcome| case.count(outcome) - not_sent(outcome).min(case.count(outcome));
    let n: u64 = Outcome::ALL.into_iter().map(failures).sum();
    let failed = n - case.count(Outcome::Ok);
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / n as f64;
    let bad = Outcome::ALL.into_iter().filter(|&outcome| outcome != Outcome::Ok && failures(outcome) > 0);
    let mut kinds: Vec<(&str, u64)> = bad.map(|outcome| (outcome.name(), failures(outcome))).collect();
    kinds.sort_by_key(|k| std::cmp::Reverse(k.1));
    let kinds: Vec<String> = kinds.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let many = share > case.evidence.tolerances.errors;
    Some(Finding {
        severity: if many { Severity::Warning } else { Severity::Info },
        text: format!(
            "{failed} of {n} requests ({}) did not end as expected: {}.{}",
            percent(share),
            kinds.join(", "),
            if many {
                " Failures are often fast: read `response` and `response_ok` side by side."
            } else {
                ""
            }
        ),
        value: Some(share),
        limit: Some(case.evidence.tolerances.errors),
        at: case.failed_at.seconds(),
        n,
        ..Finding::default()
    })
}

pub(super) fn in_pause(case: &FindingContext) -> Option<Finding> {
    let n = case.evidence.kept.in_pause();
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Info,
        text: format!("{n} arrivals started within a pause of the plan and were counted as its beginning."),
        value: Some(n as f64),
        n: case.released(),
        ..Finding::default()
    })
}

pub(super) fn same_host(case: &FindingContext) -> Option<Finding> {
    case.generator()?.same_host_as_target.filter(|&same| same).map(|_| Finding {
        severity: Severity::Info,
        text: "Generator and target share this machine and compete for its processors: response times include that."
            .into(),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}
