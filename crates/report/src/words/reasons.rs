//! Why the verdict is what it is: findings and rules as sentences with their numbers, and what to do next.
//!
//! Absent: the findings' own texts, which say effect and cause and come from whoever found them.

use super::Tone;
use super::asked::{Kind, kind};
use crate::format::{chosen, count, number, share, time};
use headway_stats::Summary;
use headway_stats::summary::{Finding, Limits, RuleOutcome, RuleResult, Severity, Source, Verdict};

/// A reason of the verdict, or a thing to know: from a finding, or from a rule that no finding speaks of.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// Identifier of the finding or rule.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// Effect and cause.
    pub text: String,
    /// The number behind it: value, interval, limit, n. May be empty.
    pub evidence: String,
    /// When; empty means throughout.
    pub at: Vec<[f64; 2]>,
    /// What to do next, where that is known.
    pub next: Option<&'static str>,
}

/// Everything that a reader should know, the most severe first. A rule that failed or is open without a finding of
/// its name becomes a reason too, so that no verdict stands without one.
pub fn reasons(summary: &Summary) -> Vec<Reason> {
    let Verdict { findings, rules, .. } = &summary.verdict;
    let mut reasons: Vec<Reason> = findings.iter().map(|finding| from_finding(finding, rules)).collect();
    let foreign = summary.audit.is_some();
    for rule in rules {
        let open = matches!(rule.outcome, RuleOutcome::Fail | RuleOutcome::Undecided);
        if open && !told(rule, findings) {
            reasons.push(from_rule(rule));
        }
    }
    for reason in reasons.iter_mut().filter(|reason| reason.next.is_none()) {
        let held_back = !reason.at.is_empty();
        reason.next = match summary.source {
            _ if foreign => next_of_audit(&reason.id),
            Source::Sim => next_of_simulation(&reason.id, kind(summary), held_back),
            _ => next_step(&reason.id, kind(summary)),
        };
    }
    // Stable: within one severity the order is the verdict's own.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    reasons
}

fn from_finding(finding: &Finding, rules: &[RuleResult]) -> Reason {
    // The rule behind it knows its unit; a finding's value has the unit that its text names.
    let mut same = rules.iter().filter(|rule| {
        rule.value == finding.value
            && (rule.rule == finding.id || covered(&finding.id).contains(&rule.rule.as_str()))
    });
    let evidence = match (same.next(), finding.value) {
        (Some(rule), Some(_)) => evidence(rule),
        (None, Some(value)) => {
            let mut parts = vec![format!("value {}", number(value))];
            if let Some([low, high]) = finding.interval {
                parts.push(format!("95 % interval {} to {}", number(low), number(high)));
            }
            if let Some(limit) = finding.limit {
                parts.push(format!("limit {}", chosen(limit)));
            }
            if finding.n > 0 {
                parts.push(format!("n = {}", count(finding.n)));
            }
            parts.join("; ")
        }
        (_, None) => String::new(),
    };
    Reason {
        id: finding.id.clone(),
        severity: finding.severity,
        text: finding.text.clone(),
        evidence,
        at: finding.at.clone(),
        next: None,
    }
}

fn evidence(rule: &RuleResult) -> String {
    format!("{}; tolerated: {}; n = {}", rule_value(rule), rule_limits(rule), count(rule.n))
}

fn from_rule(rule: &RuleResult) -> Reason {
    let failed = rule.outcome == RuleOutcome::Fail;
    let what = if failed { "is outside of what is tolerated" } else { "could not be decided" };
    let reason = rule.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    Reason {
        id: rule.rule.clone(),
        severity: if failed { Severity::Error } else { Severity::Warning },
        text: format!("The rule on {} {what}{reason}.", rule_title(rule)),
        evidence: evidence(rule),
        at: Vec::new(),
        next: (!failed).then_some("A longer run, or a higher rate, decides it."),
    }
}

/// The rules that a finding speaks of.
fn covered(finding: &str) -> &'static [&'static str] {
    match finding {
        "unsent" | "unsent-steps" => &["sent-share", "requests-sent", "all-issued"],
        "late" => &["late-share"],
        "uplink" => &["departed-late"],
        "bunched" | "smoothed" | "serialised" => &["bunching", "dispersion"],
        _ => &[],
    }
}

/// Whether some finding tells what a rule has to tell.
fn told(rule: &RuleResult, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        finding.id == rule.rule
            || covered(&finding.id).contains(&rule.rule.as_str())
            || (finding.id == "short-run" && rule.outcome == RuleOutcome::Undecided)
    })
}

/// What to do about a finding on another tool's load, whose options are not ours; nothing where its text says so.
fn next_of_audit(id: &str) -> Option<&'static str> {
    Some(match id {
        "coarse-stamps" => {
            "Have the tool write finer stamps (its option stands with the file, where there is one)."
        }
        "constant-rate" => {
            "To imitate users, have the tool draw its headways at random (Poisson arrivals), or use many users with \
             random think times."
        }
        "generator-pauses" => {
            "Give the generator memory and idle cores, look at its garbage collection, then run again."
        }
        _ => return None,
    })
}

/// What to do about a finding or a broken rule of a simulation, whose load, generator and target are all in the scenario;
/// nothing where its text says so. `held_back`: at times requests waited for a connection.
fn next_of_simulation(id: &str, kind: Kind, held_back: bool) -> Option<&'static str> {
    Some(match id {
        "feedback" if held_back => match kind {
            Kind::Open | Kind::Sessions => {
                "Raise `connections:` in the scenario if real users would not share them; else lower the rate to one that the \
                 model sustains."
            }
            Kind::Closed | Kind::FixedWork => {
                "Raise `connections:` in the scenario if real users would not share them; else count the time blocked as a part \
                 of the answer."
            }
        },
        "feedback" => match kind {
            Kind::Open | Kind::Sessions => {
                "Lower the rate to one that the model sustains, or change the model: more servers, fewer attempts, time-outs that \
                 call back, shorter faults."
            }
            Kind::Closed | Kind::FixedWork => {
                "Ask for fewer users, or change the model: more servers, fewer attempts, shorter faults."
            }
        },
        "closed-loop" => {
            "For what users meet who come by themselves, let a rate that the model sustains arrive (`arrive` in the scenario)."
        }
        "fixed-work" => {
            "Compare models by the time taken; for response times let a rate arrive (`arrive` in the scenario)."
        }
        "unsent" | "sent-share" | "requests-sent" => {
            "Lower the rate, or raise `connections:` or `max-wait:` in the scenario until every arrival starts."
        }
        "late" | "late-share" => {
            "Leave `pauses:` out of the model, or make them shorter, unless it is a generator that stands still that you want to \
             see."
        }
        "bunched" | "smoothed" | "bunching" | "dispersion" => {
            "Leave `pauses:` out of the model, or raise `connections:` in the scenario, whichever holds requests back."
        }
        "same-host" => return None,
        _ => return next_step(id, kind),
    })
}

/// What to do about a finding or a broken rule; nothing where its text says so, or for one that this version does not
/// know.
fn next_step(id: &str, kind: Kind) -> Option<&'static str> {
    Some(match id {
        "feedback" => match kind {
            Kind::Sessions => {
                "Lower the rate until the requests asked for are sent in time and nothing piles up, or plan by the rate that \
                 was sent. Raise -c if real users would not share connections."
            }
            Kind::Open => {
                "Raise -c if real users would not share connections; else lower the rate to one that the target sustains."
            }
            Kind::Closed | Kind::FixedWork => {
                "Raise -c if real users would not share connections; else count the time blocked as a part of the answer."
            }
        },
        "not-steady" => {
            "Warm up for longer or run for longer, and compare percentiles of steady stretches alone."
        }
        "overloaded" => {
            "Ask for less or give it more servers; else read the response times together with the share that failed."
        }
        "closed-loop" => {
            "For what users meet who come by themselves, send the same rate as arrivals (-R, or `arrive` in a scenario)."
        }
        "fixed-work" => {
            "Compare targets by the time taken; for response times send a rate (-R, or `arrive` in a scenario)."
        }
        "unsent" | "sent-share" | "requests-sent" => {
            "Lower the rate, or raise -c, --threads or --max-wait until every arrival starts."
        }
        "late" | "late-share" => match kind {
            Kind::Open | Kind::Sessions => {
                "Give the generator idle cores (--threads, another machine), or lower the rate."
            }
            Kind::Closed | Kind::FixedWork => {
                "Give the generator idle cores (--threads, another machine), or ask for fewer users."
            }
        },
        "uplink" | "departed-late" => {
            "Send fewer bytes a second, or use a machine with a faster link; `tc -s qdisc` shows what waits in its queue."
        }
        "bunched" | "bunching" | "dispersion" => {
            "Look for stalls of the generator, free its cores, then run again."
        }
        "smoothed" => {
            "Look for what paces requests on the way: a proxy, a rate limiter, too few connections."
        }
        "users-held" => {
            "Check why users stopped: failures early in their journey, or a cap below the users specified."
        }
        "all-issued" => "Let the run finish, or ask for fewer requests.",
        "same-host" => "Put the generator on another machine, or pin both to cores of their own.",
        _ => return None,
    })
}

/// The name of a rule in words.
pub fn rule_title(rule: &RuleResult) -> String {
    match (rule.rule.as_str(), rule.window) {
        ("sent-share", _) => "the share of arrivals that were sent".into(),
        ("requests-sent", _) => "the share of later requests that were sent".into(),
        ("late-share", _) => "the share released over 1 ms late".into(),
        ("departed-late", _) => "the share that left this machine over 1 ms late".into(),
        ("bunching", _) => "bunching (CoV^2 started - intended)".into(),
        ("dispersion", Some(window)) => format!("dispersion in windows of {}", time(window)),
        ("users-held", _) => "the share of users held".into(),
        ("all-issued", _) => "the share of requests sent".into(),
        ("cov", _) => "CoV of the headways".into(),
        ("ks", _) => "distance of the headways from an exponential law".into(),
        ("lag1", _) => "correlation of successive headways".into(),
        ("line", Some(period)) => format!("amplitude of the strongest period ({})", time(period)),
        ("line", None) => "amplitude of the strongest period".into(),
        (other, _) => format!("'{other}'"),
    }
}

/// Shares read better as percentages; the other statistics have no unit.
fn rule_number(rule: &RuleResult, x: f64) -> String {
    match rule.rule.as_str() {
        "sent-share" | "requests-sent" | "late-share" | "departed-late" | "users-held" | "all-issued" => {
            share(x)
        }
        _ => number(x),
    }
}

/// The statistic with its interval: `0.0123, 95 % interval 0.01 to 0.02`.
pub fn rule_value(rule: &RuleResult) -> String {
    match (rule.value, rule.interval) {
        (None, _) => "no value".into(),
        (Some(value), None) => rule_number(rule, value),
        (Some(value), Some(_)) => {
            format!("{}, 95 % interval {}", rule_number(rule, value), rule_interval(rule))
        }
    }
}

/// The interval of a rule alone, or `-`.
pub fn rule_interval(rule: &RuleResult) -> String {
    rule.interval.map_or("-".into(), |[low, high]| {
        format!("{} to {}", rule_number(rule, low), rule_number(rule, high))
    })
}

/// The statistic of a rule alone, or `-`.
pub fn rule_statistic(rule: &RuleResult) -> String {
    rule.value.map_or("-".into(), |value| rule_number(rule, value))
}

/// What a rule tolerates: `at most 1 %`, `-0.1 to 0.1`.
pub fn rule_limits(rule: &RuleResult) -> String {
    let shown = |x: f64| match rule.rule.as_str() {
        "sent-share" | "requests-sent" | "late-share" | "departed-late" | "users-held" | "all-issued" => {
            format!("{} %", chosen(x * 100.0))
        }
        _ => chosen(x),
    };
    let Limits { low, high } = rule.limits;
    match (low, high) {
        (None, None) => "anything".into(),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (Some(low), Some(high)) if low == high => format!("exactly {}", shown(low)),
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
    }
}

/// The word for what a rule says, and its tone.
pub fn rule_outcome(outcome: RuleOutcome) -> (&'static str, Tone) {
    match outcome {
        RuleOutcome::Pass => ("pass", Tone::Good),
        RuleOutcome::Fail => ("FAIL", Tone::Bad),
        RuleOutcome::Undecided => ("undecided", Tone::Warn),
        RuleOutcome::NotApplicable => ("n/a", Tone::Faint),
    }
}

/// The word for a severity, and its tone.
pub fn severity(severity: Severity) -> (&'static str, Tone) {
    match severity {
        Severity::Error => ("error", Tone::Bad),
        Severity::Warning => ("warning", Tone::Warn),
        Severity::Info => ("note", Tone::Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::rules::RULES;

    const KINDS: [Kind; 4] = [Kind::Open, Kind::Sessions, Kind::Closed, Kind::FixedWork];

    /// Findings whose text ends in what to do, or after which there is nothing to do.
    const SAY_IT_THEMSELVES: [&str; 20] = [
        "target-window",
        "aborted",
        "unsent-steps",
        "interrupted",
        "off-rate",
        "serialised",
        "stall",
        "saturated",
        "local-limit",
        "unaccounted",
        "disordered",
        "coarse-stamps",
        "short-run",
        "no-steady-state",
        "heavy-tail",
        "censored",
        "errors",
        "fixed-population",
        "longest-gaps",
        "periodic",
    ];

    #[test]
    fn a_finding_that_does_not_say_what_to_do_has_a_next_step() {
        for kind in KINDS {
            for id in [
                "unsent",
                "late",
                "uplink",
                "bunched",
                "smoothed",
                "feedback",
                "not-steady",
                "overloaded",
                "closed-loop",
                "fixed-work",
                "same-host",
            ] {
                let next = next_step(id, kind).unwrap_or_else(|| panic!("{id} of {kind:?}"));
                assert!(next.ends_with('.') && next.len() > 20, "{next}");
            }
            for id in SAY_IT_THEMSELVES {
                assert_eq!(next_step(id, kind), None, "{id}");
            }
        }
    }

    #[test]
    fn every_rule_has_a_name_and_once_broken_a_next_step() {
        for id in [
            "sent-share",
            "requests-sent",
            "late-share",
            "departed-late",
            "bunching",
            "dispersion",
            "users-held",
            "all-issued",
        ] {
            let rule = RuleResult { rule: id.into(), window: Some(0.1), ..RuleResult::default() };
            assert!(!rule_title(&rule).contains(id) || id == "bunching" || id == "dispersion", "{id}");
            assert!(KINDS.iter().all(|&kind| next_step(id, kind).is_some()), "{id}");
        }
        let other = RuleResult { rule: "of-a-later-version".into(), ..RuleResult::default() };
        assert_eq!(rule_title(&other), "'of-a-later-version'");
    }

    #[test]
    fn what_to_do_about_feedback_depends_on_who_comes() {
        let next = KINDS.map(|kind| next_step("feedback", kind));
        assert!(next[0] != next[1] && next[1] != next[2] && next[2] == next[3]);
        // Nobody can lower the rate of users who stay.
        assert!(!next[2].unwrap().contains("rate"));
    }

    /// A simulation has no `-c`, no `-R`, no cores to free and no proxy on the way.
    #[test]
    fn a_simulation_is_never_told_to_look_beyond_its_scenario() {
        // No bytes leave a simulation.
        let rules = RULES.iter().map(|rule| rule.id).filter(|id| *id != "departed-late");
        let findings = ["unsent", "late", "bunched", "smoothed", "feedback", "closed-loop", "fixed-work"];
        for id in rules.chain(findings) {
            for (kind, held_back) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
                let next =
                    next_of_simulation(id, kind, held_back).unwrap_or_else(|| panic!("{id} of {kind:?}"));
                for foreign in ["-c", "-R", "--threads", "cores", "machine", "proxy", "--max-wait"] {
                    assert!(!next.contains(foreign), "{id} of {kind:?}: {next}");
                }
            }
        }
        assert!(next_of_simulation("late", Kind::Open, true).unwrap().contains("`pauses:`"));
        let next = |held_back| next_of_simulation("feedback", Kind::Open, held_back).unwrap();
        assert!(next(true).contains("`connections:`") && !next(false).contains("connections"));
        for id in SAY_IT_THEMSELVES {
            assert_eq!(next_of_simulation(id, Kind::Open, false), None, "{id}");
        }
    }

    #[test]
    fn shares_and_counts_read_as_such() {
        let limits = |low| Limits { low: Some(low), high: None };
        let held = RuleResult {
            rule: "users-held".into(),
            value: Some(0.85),
            limits: limits(0.99),
            ..RuleResult::default()
        };
        assert_eq!((rule_statistic(&held), rule_limits(&held)), ("85.0 %".into(), "at least 99 %".into()));
        let all = Limits { low: Some(1.0), high: Some(1.0) };
        let issued =
            RuleResult { rule: "all-issued".into(), value: Some(0.4), limits: all, ..RuleResult::default() };
        assert_eq!(
            (rule_statistic(&issued), rule_limits(&issued)),
            ("40.0 %".into(), "exactly 100 %".into())
        );
    }
}
