//! Findings on how the load left: what was not sent, what was late, bunched or smoothed, and why.

use super::{Case, of_rule, percent, span};
use crate::summary::{Finding, RuleOutcome, RuleResult, Severity};
use base::Outcome;

pub(super) fn unsent(case: &Case) -> Option<Finding> {
    let rule = case.rules("sent-share").next()?;
    let never: u64 = case.evidence.never.iter().sum();
    if never == 0 || rule.outcome == RuleOutcome::NotApplicable {
        return None;
    }
    let planned = if case.is_foreign() { case.summary.measured.n } else { rule.n };
    let reasons: Vec<String> = [
        (Outcome::Shed, "given up after waiting for a connection for the longest time allowed"),
        (Outcome::Unsent, "not sent before the run, or the data for it, ended"),
        (Outcome::LocalLimit, "stopped by the generator's own limit of descriptors or ports"),
        (Outcome::Dns, "without an address for the target"),
        (Outcome::Cancelled, "cancelled"),
    ]
    .into_iter()
    .filter(|&(outcome, _)| case.count(outcome) > 0)
    .map(|(outcome, words)| format!("{} {words}", case.count(outcome)))
    .collect();
    let rates = case.summary.rate.started.zip(case.summary.rate.offered);
    let rates = rates.map_or(String::new(), |(started, offered)| {
        format!(" The target saw {started:.1} requests per second instead of {offered:.1}.")
    });
    let mut finding = of_rule(
        rule,
        format!(
            "{never} of {planned} planned arrivals ({}) never started: {}.{rates}",
            percent(never as f64 / planned as f64),
            reasons.join(", ")
        ),
    );
    finding.at = case.unsent_at.seconds();
    Some(finding)
}

/// Of a load of which only the starts are known: more or fewer than expected.
pub(super) fn off_rate(case: &Case) -> Option<Finding> {
    let rule = case.rules("sent-share").next()?;
    let law = case.evidence.expectation()?;
    let (n, expected) = (rule.n, case.evidence.kept.expected_count(law));
    let share = rule.value.filter(|_| rule.outcome == RuleOutcome::Fail)? - 1.0;
    let more = if share > 0.0 { "more" } else { "fewer" };
    let measured = &case.summary.measured;
    let limit = if share > 0.0 { rule.limits.high } else { rule.limits.low };
    let text = format!(
        "{n} requests started within {}, {} {more} than the {expected:.0} expected.",
        span(measured.to_s - measured.from_s),
        percent(share.abs())
    );
    Some(Finding { limit, ..of_rule(rule, text) })
}

pub(super) fn late(case: &Case) -> Option<Finding> {
    let rule = case.rules("late-share").next()?;
    let late: u64 = case.evidence.kept.segments.iter().map(|s| s.late).sum();
    if late == 0 || matches!(rule.outcome, RuleOutcome::Pass | RuleOutcome::NotApplicable) {
        return None;
    }
    let after = span(case.evidence.tolerances.late_after.as_secs_f64());
    let lag = &case.summary.lag;
    let mut finding = of_rule(
        rule,
        format!(
            "{} of the arrivals that found a free connection started more than {after} late (99th percentile {}, \
             largest {}). That is the generator's own lateness, not the target's: {}.",
            percent(rule.value.unwrap_or(0.0)),
            span(lag.p99.unwrap_or(0.0)),
            span(lag.max.unwrap_or(0.0)),
            case.own_cause()
        ),
    );
    finding.at = case.evidence.kept.late.seconds();
    Some(finding)
}

/// The worse of the two rules on the pattern of starts, on one side.
fn worst<'a>(case: &'a Case, above: bool) -> Option<&'a RuleResult> {
    let sign = if above { 1.0 } else { -1.0 };
    let beyond = |r: &&RuleResult| {
        let limit = if above { r.limits.high } else { r.limits.low.map(|l| -l) };
        limit.is_some_and(|limit| sign * r.value.unwrap_or(0.0) > limit)
            && matches!(r.outcome, RuleOutcome::Fail | RuleOutcome::Undecided)
    };
    let failed = |r: &RuleResult| r.outcome == RuleOutcome::Fail;
    case.rules("bunching").chain(case.rules("dispersion")).filter(beyond).max_by(|a, b| {
        let size = |r: &RuleResult| r.value.unwrap_or(0.0).abs();
        failed(a).cmp(&failed(b)).then(size(a).total_cmp(&size(b)))
    })
}

fn what(case: &Case, rule: &RuleResult) -> String {
    let whose = if case.is_foreign() { "what was expected" } else { "the plan's" };
    let value = rule.value.unwrap_or(0.0);
    match rule.window {
        Some(window) => {
            format!("counts per {} have an index of dispersion {value:+.2} away from {whose}", span(window))
        }
        None => format!("the squared CoV of headways is {value:+.2} away from {whose}"),
    }
}

pub(super) fn bunched(case: &Case) -> Option<Finding> {
    let rule = worst(case, true)?;
    let kept = case.evidence.kept;
    let waited: u64 = kept.segments.iter().map(|s| s.waited).sum();
    let (cause, at) = if waited * 100 > case.released() {
        let cause = "arrivals waited for connections and left together as these came free (see `feedback`)";
        (cause.to_string(), kept.waited.seconds())
    } else {
        (case.own_cause(), kept.late.seconds())
    };
    let whose = if case.is_foreign() { "expected load" } else { "plan" };
    let text =
        format!("Requests left in bunches that the {whose} does not have: {}; {cause}.", what(case, rule));
    Some(Finding { at, ..of_rule(rule, text) })
}

pub(super) fn smoothed(case: &Case) -> Option<Finding> {
    let rule = worst(case, false)?;
    if case.is_simulated() {
        let why = "what the model's `pauses` or its `connections:` hold back leaves together or spaced out";
        return Some(of_rule(
            rule,
            format!("Requests left more evenly than planned: {}: {why}.", what(case, rule)),
        ));
    }
    let text = format!(
        "Requests left more evenly than {}: {}. Something {}spaces them out, so the target met shorter queues than it \
         would have.",
        if case.is_foreign() { "expected" } else { "planned" },
        what(case, rule),
        if case.is_foreign() { "" } else { "between plan and socket " }
    );
    Some(of_rule(rule, text))
}

pub(super) fn serialised(case: &Case) -> Option<Finding> {
    let (evidence, arrivals) = (case.evidence, &case.evidence.arrivals);
    let cost = evidence.send_cost.filter(|_| evidence.is_serialised())?.as_secs_f64();
    let rule = case.rules("bunching").next().filter(|r| r.value.is_some_and(|v| v < 0.0))?;
    let mean = arrivals.gaps.mean()? / 1e9;
    let text = format!(
        "One thread cannot send twice within {} and the mean headway is {}, so about {} of the headways are stretched \
         to that. This is physics at this rate and not a defect; more threads lower it.",
        span(cost),
        span(mean),
        percent(-(-cost / mean).exp_m1())
    );
    Some(Finding { severity: Severity::Info, limit: None, ..of_rule(rule, text) })
}
