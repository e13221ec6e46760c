//! What a reader must know about the run: effect, when, and cause, in words a performance engineer respects.
//!
//! One function per finding, all listed in [`ALL`]; each sees the same [`Case`] and says at most one thing.
//! Deliberately absent: the verdict itself (`rules`, `pattern`).

use crate::intervals::SEGMENTS;
use crate::phase::Ranges;
use crate::rules::Evidence;
use crate::setup::{Facts, Workload};
use crate::summary::{Finding, Generator, RuleOutcome, RuleResult, Severity, Stall, Summary};
use base::Outcome;

/// All that findings are made from.
pub(crate) struct Case<'a> {
    pub evidence: &'a Evidence<'a>,
    pub facts: &'a Facts,
    /// The document so far: everything but the findings.
    pub summary: &'a Summary,
    pub fixed_population: bool,
    /// When arrivals fell due that never started, and when requests failed.
    pub unsent_at: &'a Ranges,
    pub failed_at: &'a Ranges,
    /// Mean service time and number of requests per segment.
    pub service: [Option<(u64, f64)>; SEGMENTS],
    /// Arrivals that started and of which no record told the end.
    pub unaccounted: u64,
}

type Find = fn(&Case) -> Option<Finding>;

/// Every finding there is: its id, and how it is found.
pub(crate) static ALL: [(&str, Find); 18] = [
    ("interrupted", interrupted),
    ("unsent", unsent),
    ("late", late),
    ("bunched", bunched),
    ("smoothed", smoothed),
    ("serialised", serialised),
    ("feedback", feedback),
    ("stall", stall),
    ("saturated", saturated),
    ("local-limit", local_limit),
    ("unaccounted", unaccounted),
    ("disordered", disordered),
    ("short-run", short_run),
    ("censored", censored),
    ("errors", errors),
    ("fixed-population", fixed_population),
    ("in-pause", in_pause),
    ("same-host", same_host),
];

/// All findings of a run, the most severe first.
pub(crate) fn find_all(case: &Case) -> Vec<Finding> {
    let mut findings: Vec<Finding> = ALL
        .iter()
        .filter_map(|(id, find)| find(case).map(|finding| Finding { id: (*id).into(), ..finding }))
        .collect();
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    findings
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = if percent >= 10.0 || percent == 0.0 { 0 } else { usize::from(percent < 1.0) + 1 };
    format!("{percent:.digits$} %")
}

fn span(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        s if s < 1e-6 => (seconds * 1e9, "ns"),
        s if s < 1e-3 => (seconds * 1e6, "us"),
        s if s < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let digits = if value.abs() >= 100.0 { 0 } else { usize::from(value.abs() < 10.0) + 1 };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

fn severity(outcome: RuleOutcome) -> Severity {
    if outcome == RuleOutcome::Fail { Severity::Error } else { Severity::Warning }
}

impl Case<'_> {
    fn rules<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a RuleResult> {
        self.summary.verdict.rules.iter().filter(move |r| r.rule == id)
    }

    fn count(&self, outcome: Outcome) -> u64 {
        self.summary.outcomes.get(outcome.name()).copied().unwrap_or(0)
    }

    fn generator(&self) -> Option<&Generator> {
        self.summary.generator.as_ref()
    }

    /// Stalls worth telling that overlap the measured phase.
    fn stalls(&self) -> Vec<&Stall> {
        let (from, to) = (self.summary.measured.from_s, self.summary.measured.to_s);
        let least = self.evidence.tolerances.stall.as_secs_f64();
        let stalls = self.generator().map_or(&[][..], |g| &g.stalls);
        stalls.iter().filter(|s| s.length_s > least && s.at_s < to && s.at_s + s.length_s > from).collect()
    }

    /// Workers that spend more than the tolerated share of their time handling, and the largest such share.
    fn saturated_workers(&self) -> (u64, f64) {
        let limit = self.evidence.tolerances.saturated;
        let shares = self.generator().into_iter().flat_map(|g| &g.workers).map(|w| {
            let total = w.handling + w.polling + w.sleeping;
            if total > 0.0 { w.handling / total } else { 0.0 }
        });
        shares.filter(|&s| s > limit).fold((0, 0.0), |(n, most), s| (n + 1, f64::max(most, s)))
    }

    /// Why the generator may have been late.
    fn own_cause(&self) -> String {
        let stalls = self.stalls();
        let (saturated, most) = self.saturated_workers();
        if saturated > 0 {
            let share = percent(most);
            format!(
                "a worker was busy handling for {share} of its time: give it more threads or a lower rate"
            )
        } else if let Some(longest) = longest(&stalls) {
            let (n, longest) = (stalls.len(), span(longest.length_s));
            format!(
                "its threads stood still {n} times, the longest for {longest}: other work on this machine or a busy host"
            )
        } else if self.generator().is_some_and(|g| g.workers.iter().any(|w| w.runqueue_wait > Some(0.0))) {
            "its threads waited for a processor that other work held".into()
        } else {
            "the cause was not recorded; look for other work on the generator's machine".into()
        }
    }
}

fn longest<'a>(stalls: &[&'a Stall]) -> Option<&'a Stall> {
    stalls.iter().copied().max_by(|a, b| a.length_s.total_cmp(&b.length_s))
}

fn of_rule(rule: &RuleResult, text: String) -> Finding {
    Finding {
        severity: severity(rule.outcome),
        text,
        value: rule.value,
        interval: rule.interval,
        limit: match (rule.value, rule.limits.low, rule.limits.high) {
            (Some(v), Some(low), Some(high)) => Some(if v < 0.0 { low } else { high }),
            (_, low, high) => high.or(low),
        },
        n: rule.n,
        ..Finding::default()
    }
}

fn interrupted(case: &Case) -> Option<Finding> {
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

fn unsent(case: &Case) -> Option<Finding> {
    let rule = case.rules("sent-share").next()?;
    let never: u64 = case.evidence.never.iter().sum();
    if never == 0 || rule.outcome == RuleOutcome::NotApplicable {
        return None;
    }
    let planned = case.summary.measured.n;
    let reasons: Vec<String> = [
        (Outcome::Shed, "given up after waiting for a connection for the longest time allowed"),
        (Outcome::Unsent, "still waiting when the run ended"),
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

fn late(case: &Case) -> Option<Finding> {
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

fn what(rule: &RuleResult) -> String {
    let value = rule.value.unwrap_or(0.0);
    match rule.window {
        Some(window) => {
            format!(
                "counts per {} have an index of dispersion {value:+.2} away from the plan's",
                span(window)
            )
        }
        None => format!("the squared CoV of headways is {value:+.2} away from the plan's"),
    }
}

fn bunched(case: &Case) -> Option<Finding> {
    let rule = worst(case, true)?;
    let kept = case.evidence.kept;
    let waited: u64 = kept.segments.iter().map(|s| s.waited).sum();
    let (cause, at) = if waited * 100 > case.summary.arrivals.started {
        let cause = "arrivals waited for connections and left together as these came free (see `feedback`)";
        (cause.to_string(), kept.waited.seconds())
    } else {
        (case.own_cause(), kept.late.seconds())
    };
    let text = format!("Requests left in bunches that the plan does not have: {}; {cause}.", what(rule));
    Some(Finding { at, ..of_rule(rule, text) })
}

fn smoothed(case: &Case) -> Option<Finding> {
    let rule = worst(case, false)?;
    let text = format!(
        "Requests left more evenly than planned: {}. Something between plan and socket spaces them out, so the \
         target met shorter queues than it would have.",
        what(rule)
    );
    Some(of_rule(rule, text))
}

fn serialised(case: &Case) -> Option<Finding> {
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

fn feedback(case: &Case) -> Option<Finding> {
    let kept = case.evidence.kept;
    let waited: u64 = kept.segments.iter().map(|s| s.waited).sum();
    let n = case.summary.arrivals.started;
    let never = case.count(Outcome::Shed);
    if waited + never == 0 {
        return None;
    }
    let share = (waited + never) as f64 / (n + never) as f64;
    let cap = case.facts.plan.as_ref().and_then(|p| p.connections);
    let capped = cap.map_or("the connection cap".into(), |c| format!("the cap of {c} connections"));
    // Little's law: connections in use = rate x time that one is held.
    let needed = case.summary.rate.offered.zip(case.summary.service.mean).map(|(rate, held)| rate * held);
    let cause = match (slowdown(case), needed, cap) {
        (Some(times), _, _) => format!(
            "the target: its service time was {times:.1} times as long then as otherwise, and {capped} was used up"
        ),
        (None, Some(needed), Some(cap)) if needed > 0.5 * cap as f64 => format!(
            "{capped}: at this rate and service time about {needed:.0} are in use on average. Raise it if real users \
             would not share connections"
        ),
        _ => format!("the target, whose slow answers used up {capped}, or the cap itself"),
    };
    let severity = if share > case.evidence.tolerances.late { Severity::Warning } else { Severity::Info };
    Some(Finding {
        severity,
        text: format!(
            "{} of the arrivals found no free connection and waited, up to {}. The load then followed the target's \
             pace. The cause is not the generator but {cause}.",
            percent(share),
            span(kept.wait_max as f64 / 1e9)
        ),
        value: Some(share),
        limit: Some(case.evidence.tolerances.late),
        at: kept.waited.seconds(),
        n: n + never,
        ..Finding::default()
    })
}

/// How many times as long service took in the segments with waiting as in those without, if at least twice.
fn slowdown(case: &Case) -> Option<f64> {
    let mean = |with: bool| {
        let segments = case.evidence.kept.segments.iter().zip(&case.service);
        let (n, sum) = segments
            .filter(|(s, _)| (s.waited > 0) == with)
            .filter_map(|(_, service)| *service)
            .fold((0u64, 0.0), |(n, sum), (m, mean)| (n + m, sum + m as f64 * mean));
        (n > 0).then(|| sum / n as f64)
    };
    let times = mean(true)? / mean(false).filter(|&m| m > 0.0)?;
    (times >= 2.0).then_some(times)
}

fn stall(case: &Case) -> Option<Finding> {
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

fn saturated(case: &Case) -> Option<Finding> {
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

fn local_limit(case: &Case) -> Option<Finding> {
    let hits = case.count(Outcome::LocalLimit);
    (hits > 0).then(|| Finding {
        severity: Severity::Error,
        text: format!(
            "{hits} requests failed because the generator had no file descriptor or local port left. They say nothing \
             about the target: raise the limits (`ulimit -n`, the port range), or reuse connections."
        ),
        value: Some(hits as f64),
        limit: Some(0.0),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

fn unaccounted(case: &Case) -> Option<Finding> {
    let missing = case.unaccounted;
    (missing > 0).then(|| Finding {
        severity: Severity::Warning,
        text: format!(
            "{missing} requests started and no record tells how they ended: the log breaks off. Response times lack \
             them, most likely the slowest."
        ),
        value: Some(missing as f64),
        n: case.summary.arrivals.started,
        ..Finding::default()
    })
}

fn disordered(case: &Case) -> Option<Finding> {
    let n = case.evidence.kept.disordered;
    (n > 0).then(|| Finding {
        severity: Severity::Warning,
        text: format!(
            "{n} starts were reported out of order and counted as simultaneous with their neighbour."
        ),
        value: Some(n as f64),
        n: case.summary.arrivals.started,
        ..Finding::default()
    })
}

fn short_run(case: &Case) -> Option<Finding> {
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

fn censored(case: &Case) -> Option<Finding> {
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

fn errors(case: &Case) -> Option<Finding> {
    let n: u64 = case.summary.outcomes.values().sum();
    let failed = n - case.count(Outcome::Ok);
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / n as f64;
    let mut kinds: Vec<(&str, u64)> = case
        .summary
        .outcomes
        .iter()
        .filter(|(name, _)| name.as_str() != Outcome::Ok.name())
        .map(|(name, &count)| (name.as_str(), count))
        .collect();
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

fn fixed_population(case: &Case) -> Option<Finding> {
    let long = case.evidence.arrivals.pattern_windows[1].as_ref()?;
    case.fixed_population.then(|| Finding {
        severity: Severity::Info,
        text: format!(
            "Headways look independent, yet counts over {} vary less than independent users' would (index {:.2} \
             instead of 1): a fixed number of users, as in every closed test. Slow phases of the target are then met \
             with fewer requests.",
            span(long.row.window),
            long.row.index
        ),
        value: Some(long.row.index),
        interval: Some(long.interval()),
        limit: Some(case.evidence.tolerances.low_dispersion),
        n: long.row.windows,
        ..Finding::default()
    })
}

fn in_pause(case: &Case) -> Option<Finding> {
    let n = case.evidence.kept.in_pause();
    (n > 0 && case.evidence.workload != Workload::Foreign).then(|| Finding {
        severity: Severity::Info,
        text: format!("{n} arrivals started within a pause of the plan and were counted as its beginning."),
        value: Some(n as f64),
        n: case.summary.arrivals.started,
        ..Finding::default()
    })
}

fn same_host(case: &Case) -> Option<Finding> {
    case.generator()?.same_host_as_target.filter(|&same| same).map(|_| Finding {
        severity: Severity::Info,
        text: "Generator and target share this machine and compete for its processors: response times include that."
            .into(),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (percent(0.5), percent(0.0123), percent(0.0012)),
            ("50 %".into(), "1.2 %".into(), "0.12 %".into())
        );
        assert_eq!(
            (span(0.00235), span(12.0), span(2.5e-6)),
            ("2.35 ms".into(), "12 s".into(), "2.5 us".into())
        );
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = ALL.iter().map(|f| f.0).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ALL.len());
    }
}
