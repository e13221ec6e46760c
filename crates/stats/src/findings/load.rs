//! Findings on how the load left: what was not sent, what was late, bunched or smoothed, and why.

use super::{FindingContext, of_rule, percent, span};
use crate::setup::Workload;
use crate::summary::{Finding, RuleId, RuleOutcome, RuleResult, Severity};
use headway_base::Outcome;

/// Which rules say whether all was sent, by how much they tell.
const SENT: [RuleId; 3] = [RuleId::SentShare, RuleId::RequestsSent, RuleId::AllIssued];

/// The worst of the rules on what was sent.
fn sent_rule<'a>(case: &'a FindingContext<'a>) -> Option<&'a RuleResult> {
    let rank = |rule: &RuleResult| match rule.outcome {
        RuleOutcome::Fail => 0,
        RuleOutcome::Undecided => 1,
        RuleOutcome::Pass => 2,
        RuleOutcome::NotApplicable => 3,
    };
    let rules = SENT.iter().flat_map(|id| case.rules(id));
    rules.filter(|rule| rule.outcome != RuleOutcome::NotApplicable).min_by_key(|rule| rank(rule))
}

/// Requests that were not sent because a step before them in their session had failed.
pub(super) fn unsent_steps(case: &FindingContext) -> Option<Finding> {
    let missing = &case.evidence.loops?.missing;
    let rule = sent_rule(case).filter(|_| missing.n() > 0)?;
    let mut pairs: Vec<_> = missing.after.iter().collect();
    pairs.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let label = |step: u16| case.labels.get(usize::from(step)).map_or("?", String::as_str);
    let shown = pairs.iter().take(3).map(|&(&(failed, own), n)| {
        format!("{n} of step {} after step {} had failed", label(own), label(failed))
    });
    let mut shown: Vec<String> = shown.collect();
    let rest: u64 = pairs.iter().skip(3).map(|(_, n)| **n).sum();
    if rest > 0 {
        shown.push(format!("{rest} of other steps"));
    }
    let n = missing.n();
    Some(Finding {
        value: Some(n as f64),
        interval: None,
        limit: None,
        n: case.summary.measured.n,
        rule: None,
        ..of_rule(
            rule,
            format!(
                "{n} requests ({}) were not sent, because a value that they need was missing: in the same session, {}. \
                 They are in no percentile and count as not sent. Mend the step that failed, give its `extract` a \
                 `default`, or let such sessions end (`on-failure: end-session`).",
                percent(n as f64 / case.summary.measured.n.max(1) as f64),
                shown.join("; ")
            ),
        )
    })
}

pub(super) fn unsent(case: &FindingContext) -> Option<Finding> {
    let rule = sent_rule(case)?;
    let requests = case.evidence.requests;
    let after_failures = case.evidence.loops.map_or(0, |loops| loops.missing.n());
    let own = requests.all_not_sent().n.saturating_sub(after_failures);
    let shed = case.count(Outcome::Shed);
    let reasons = [
        (shed, "given up after waiting for a connection for the longest time allowed"),
        (
            requests.given_up - shed.min(requests.given_up),
            "still waiting for a connection when the run ended",
        ),
        (requests.lacked, "for want of something on this machine (see `local-limit`)"),
        (own.saturating_sub(requests.lacked), "before the run ended, or for want of a value"),
    ];
    let reasons: Vec<String> =
        reasons.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
    let (all, planned) = (own + requests.given_up, case.summary.measured.n);
    if reasons.is_empty() || case.is_foreign() {
        return None;
    }
    let rates = case.summary.rate.started.zip(case.summary.rate.offered);
    let rates = rates.filter(|_| case.evidence.workload != Workload::Closed);
    let rates = rates.map_or(String::new(), |(started, offered)| {
        format!(" The target saw {started:.1} requests per second instead of {offered:.1}.")
    });
    let text = format!(
        "{all} of {planned} requests ({}) were not sent: {}.{rates}",
        percent(all as f64 / planned.max(1) as f64),
        reasons.join(", ")
    );
    let mut finding = of_rule(rule, text);
    if own == 0 && rule.outcome != RuleOutcome::Fail {
        // What the cap held back is not held against the load.
        finding =
            Finding { severity: Severity::Warning, text: finding.text, n: planned, ..Finding::default() };
    }
    finding.at = case.unsent_at.seconds();
    Some(finding)
}

/// Of a load of which only the starts are known: more or fewer than expected.
pub(super) fn off_rate(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::SentShare).next()?;
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

pub(super) fn late(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::LateShare).next()?;
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

/// Requests stayed in the queues of the generator's machine.
pub(super) fn uplink(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::DepartedLate).next()?;
    let departures = case.generator()?.departures.as_ref()?;
    if departures.late == 0 || rule.outcome == RuleOutcome::Pass {
        return None;
    }
    let bytes = departures.bytes_per_s.map_or(String::new(), |bytes| {
        format!(" The requests make {bytes:.0} bytes per second, without the headers of TLS, TCP and IP.")
    });
    let text = format!(
        "{} of {} watched requests left this machine more than {} after they were written: they lay in its send queues \
         (socket or network device). That is the generator's uplink, not the target.{bytes}",
        percent(departures.late as f64 / departures.n as f64),
        departures.n,
        span(departures.after_s),
    );
    Some(Finding { at: departures.at.clone(), ..of_rule(rule, text) })
}

/// Requests waited until the target had room for them.
pub(super) fn target_window(case: &FindingContext) -> Option<Finding> {
    let departures = case.generator()?.departures.as_ref()?;
    let share = departures.by_target as f64 / departures.n as f64;
    (share > case.evidence.tolerances.late).then(|| Finding {
        severity: Severity::Info,
        text: format!(
            "{} of {} watched requests left this machine more than {} after they were written because the target did \
             not read (its TCP window was full). That is the target's doing, and part of its response time.",
            percent(share),
            departures.n,
            span(departures.after_s),
        ),
        value: Some(share),
        n: departures.n,
        ..Finding::default()
    })
}

/// The worse of the two rules on the pattern of starts, on one side.
fn worst<'a>(case: &'a FindingContext, above: bool) -> Option<&'a RuleResult> {
    let sign = if above { 1.0 } else { -1.0 };
    let beyond = |r: &&RuleResult| {
        let limit = if above { r.limits.high } else { r.limits.low.map(|l| -l) };
        limit.is_some_and(|limit| sign * r.value.unwrap_or(0.0) > limit)
            && matches!(r.outcome, RuleOutcome::Fail | RuleOutcome::Undecided)
    };
    let failed = |r: &RuleResult| r.outcome == RuleOutcome::Fail;
    case.rules(&RuleId::Bunching).chain(case.rules(&RuleId::Dispersion)).filter(beyond).max_by(|a, b| {
        let size = |r: &RuleResult| r.value.unwrap_or(0.0).abs();
        failed(a).cmp(&failed(b)).then(size(a).total_cmp(&size(b)))
    })
}

fn what(case: &FindingContext, rule: &RuleResult) -> String {
    let whose = if case.is_foreign() { "what was expected" } else { "the plan's" };
    let value = rule.value.unwrap_or(0.0);
    match rule.window {
        Some(window) => {
            format!("counts per {} have an index of dispersion {value:+.2} away from {whose}", span(window))
        }
        None => format!("the squared CoV of headways is {value:+.2} away from {whose}"),
    }
}

pub(super) fn bunched(case: &FindingContext) -> Option<Finding> {
    let rule = worst(case, true)?;
    let (cause, at) = (case.own_cause(), case.evidence.kept.late.seconds());
    let whose = if case.is_foreign() { "expected load" } else { "plan" };
    let text =
        format!("Requests left in bunches that the {whose} does not have: {}; {cause}.", what(case, rule));
    Some(Finding { at, ..of_rule(rule, text) })
}

pub(super) fn smoothed(case: &FindingContext) -> Option<Finding> {
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

pub(super) fn serialised(case: &FindingContext) -> Option<Finding> {
    let (evidence, arrivals) = (case.evidence, &case.evidence.arrivals);
    let cost = evidence.send_cost.filter(|_| evidence.is_serialised())?.as_secs_f64();
    let rule = case.rules(&RuleId::Bunching).next().filter(|r| r.value.is_some_and(|v| v < 0.0))?;
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
