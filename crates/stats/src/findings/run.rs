//! Findings on the run around the load: cut short, stalled, saturated, failed, unanswered.

use super::simulated::too_short;
use super::{FindingContext, longest};
use crate::intervals::SEGMENTS;
use crate::phase::Ranges;
use crate::summary::evidence::{OpenRule, Run};
use crate::summary::{Finding, RuleOutcome, RuleResult, Severity};
use headway_base::Outcome;

pub(super) fn aborted(case: &FindingContext) -> Option<Finding> {
    let threshold = case.summary.thresholds.iter().find(|t| t.ended_run_at.is_some())?;
    let at = threshold.ended_run_at?;
    let evidence = Run::Aborted {
        threshold: threshold.text.clone(),
        at_s: at,
        complete: case.evidence.filled,
        of: SEGMENTS,
    };
    Some(Finding {
        severity: Severity::Error,
        evidence: vec![evidence.into()],
        value: threshold.value,
        interval: threshold.interval,
        limit: Some(threshold.limit),
        at: vec![[at, at]],
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn interrupted(case: &FindingContext) -> Option<Finding> {
    if case.summary.measured.aborted {
        return None;
    }
    let at = case.facts.interrupted_at?.as_secs_f64();
    let evidence = Run::Interrupted { at_s: at, complete: case.evidence.filled, of: SEGMENTS };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(at),
        at: vec![[at, at]],
        n: case.summary.measured.n,
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
    let over = case.evidence.tolerances.stall.as_secs_f64();
    let evidence = Run::Stall {
        n: stalls.len() as u64,
        over_s: over,
        total_s: stalls.iter().map(|s| s.length_s).sum(),
        longest_s: worst.length_s,
        at_s: worst.at_s,
        cause: worst.cause.clone(),
    };
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![evidence.into()],
        value: Some(worst.length_s),
        limit: Some(over),
        at: at.seconds(),
        n: stalls.len() as u64,
        ..Finding::default()
    })
}

pub(super) fn saturated(case: &FindingContext) -> Option<Finding> {
    let (workers, most) = case.saturated_workers();
    let all = case.generator()?.workers.len() as u64;
    let evidence = Run::Saturated { n: workers, of: all, busiest: most };
    (workers > 0).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(most),
        limit: Some(case.evidence.tolerances.saturated),
        n: all,
        ..Finding::default()
    })
}

pub(super) fn local_limit(case: &FindingContext) -> Option<Finding> {
    let hits = case.count(Outcome::LocalLimit);
    let lacked = case.generator().map(|generator| generator.lacked.keys().cloned().collect());
    let evidence = Run::LocalLimit { n: hits, lacked: lacked.unwrap_or_default() };
    (hits > 0).then(|| Finding {
        severity: Severity::Error,
        evidence: vec![evidence.into()],
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
        evidence: vec![Run::Unaccounted { n: missing }.into()],
        value: Some(missing as f64),
        n: case.released(),
        ..Finding::default()
    })
}

pub(super) fn disordered(case: &FindingContext) -> Option<Finding> {
    let n = case.evidence.kept.disordered;
    (n > 0).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Disordered { n }.into()],
        value: Some(n as f64),
        n: case.released(),
        ..Finding::default()
    })
}

/// Too short to decide the rules, or, simulated, to say much about a steady state.
pub(super) fn short_run(case: &FindingContext) -> Option<Finding> {
    match (undecided(case), too_short(case)) {
        (Some(rules), Some(model)) => {
            Some(Finding { evidence: [rules.evidence, model.evidence].concat(), ..model })
        }
        (rules, model) => rules.or(model),
    }
}

fn undecided(case: &FindingContext) -> Option<Finding> {
    // What models disagree about is not decided by a longer run.
    let open = |rule: &&RuleResult| {
        rule.outcome == RuleOutcome::Undecided && rule.rule != crate::summary::RuleId::Effect
    };
    let undecided = case.summary.verdict.rules.iter().filter(open);
    let rules: Vec<OpenRule> = undecided
        .map(|rule| OpenRule { rule: rule.rule.clone(), window_s: rule.window, n: rule.n })
        .collect();
    (!rules.is_empty()).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Undecided { rules }.into()],
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
    let evidence = Run::Censored {
        n: response.censored,
        of: response.n,
        bounds: response.lower_bound.keys().cloned().collect(),
    };
    Some(Finding {
        severity: if share > case.evidence.tolerances.errors { Severity::Warning } else { Severity::Info },
        evidence: vec![evidence.into()],
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
    let mut outcomes: Vec<(String, u64)> =
        bad.map(|outcome| (outcome.name().to_owned(), failures(outcome))).collect();
    outcomes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let many = share > case.evidence.tolerances.errors;
    Some(Finding {
        severity: if many { Severity::Warning } else { Severity::Info },
        evidence: vec![Run::Errors { n: failed, of: n, outcomes, many }.into()],
        value: Some(share),
        limit: Some(case.evidence.tolerances.errors),
        at: case.failed_at.seconds(),
        n,
        ..Finding::default()
    })
}

pub(super) fn unreachable(case: &FindingContext) -> Option<Finding> {
    let n = case.generator()?.datagrams.as_ref()?.unreachable;
    (n > 0).then(|| Finding {
        severity: Severity::Error,
        evidence: vec![Run::Unreachable { n }.into()],
        value: Some(n as f64),
        ..Finding::default()
    })
}

pub(super) fn surplus(case: &FindingContext) -> Option<Finding> {
    let generator = case.generator()?;
    let n = generator.surplus.filter(|&n| n > 0)?;
    let of = generator.connections_opened.unwrap_or(n);
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Surplus { n, of }.into()],
        value: Some(n as f64),
        n: of,
        ..Finding::default()
    })
}

pub(super) fn names_not_read(case: &FindingContext) -> Option<Finding> {
    let names = case.generator()?.names.as_ref().filter(|names| names.failed > 0)?;
    let (n, of, why) = (names.failed, names.readings, names.why.clone().unwrap_or_default());
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![Run::NamesNotRead { n, of, why }.into()],
        value: Some(n as f64),
        n: of,
        ..Finding::default()
    })
}

/// Redirects are worth a warning where they are more than that share of the responses: the report is then one of redirects.
const MOSTLY_REDIRECTS: f64 = 0.5;

pub(super) fn redirects(case: &FindingContext) -> Option<Finding> {
    let (n, of) = (case.evidence.requests.redirects, case.summary.measured.n);
    let share = n as f64 / of as f64;
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: if share > MOSTLY_REDIRECTS { Severity::Warning } else { Severity::Info },
        evidence: vec![Run::Redirects { n, of }.into()],
        value: Some(share),
        n: of,
        ..Finding::default()
    })
}

pub(super) fn sent_again(case: &FindingContext) -> Option<Finding> {
    let ((n, times), of) = (case.evidence.requests.given_back, case.summary.measured.n);
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Info,
        evidence: vec![Run::SentAgain { n, of, times }.into()],
        value: Some(n as f64),
        n: of,
        ..Finding::default()
    })
}

pub(super) fn in_pause(case: &FindingContext) -> Option<Finding> {
    let n = case.evidence.kept.in_pause();
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Info,
        evidence: vec![Run::InPause { n }.into()],
        value: Some(n as f64),
        n: case.released(),
        ..Finding::default()
    })
}

pub(super) fn same_host(case: &FindingContext) -> Option<Finding> {
    case.generator()?.same_host_as_target.filter(|&same| same).map(|_| Finding {
        severity: Severity::Info,
        evidence: vec![Run::SameHost.into()],
        n: case.summary.measured.n,
        ..Finding::default()
    })
}
