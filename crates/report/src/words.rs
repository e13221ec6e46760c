//! Sentences that every output says alike: what the verdict means, why, what to do next, how requests ended.
//!
//! Plain words for somebody who has never heard of a dispersion index, and the number behind each of them. Absent:
//! layout and colour (an output maps [`Tone`] to its own), and any decision: the verdict is the summary's.

use crate::format::{chosen, count, instant, number, plural, rate, share, share_of, time};
use base::Outcome;
use stats::Summary;
use stats::summary::{
    Finding, Limits, LoadVerdict, Pattern, RuleOutcome, RuleResult, Severity, Source, Verdict,
};
use std::collections::BTreeMap;

/// How a statement is to be coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// As any text.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Needs care.
    Warn,
    /// Wrong.
    Bad,
    /// Of less interest.
    Faint,
    /// A heading or a name.
    Strong,
}

/// An answer of the verdict: one word, and what it means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The word: `VALID`, `bunched`, ...
    pub word: &'static str,
    /// What it means, as a sentence without a capital.
    pub meaning: String,
    /// How good that is.
    pub tone: Tone,
}

/// Was it sent as asked?
pub fn load(summary: &Summary) -> Answer {
    let rules = &summary.verdict.rules;
    let having = |outcome| rules.iter().filter(|rule| rule.outcome == outcome).count() as u64;
    let decided = rules.len() as u64 - having(RuleOutcome::NotApplicable);
    let (word, tone, meaning) = match summary.verdict.load {
        Some(LoadVerdict::Valid) if decided > 1 => {
            ("VALID", Tone::Good, format!("the load was sent as asked: all {decided} rules hold"))
        }
        Some(LoadVerdict::Valid) => ("VALID", Tone::Good, "the load was sent as asked".into()),
        Some(LoadVerdict::Invalid) => {
            let broken = match having(RuleOutcome::Fail) {
                0 => String::new(),
                failed => format!(": {failed} of {} broken", plural(decided, "rule")),
            };
            ("INVALID", Tone::Bad, format!("the load was NOT sent as asked{broken}"))
        }
        Some(LoadVerdict::Inconclusive) => {
            let open = having(RuleOutcome::Undecided);
            let open =
                if open == 0 { String::new() } else { format!(": {} undecided", plural(open, "rule")) };
            (
                "INCONCLUSIVE",
                Tone::Warn,
                format!("too little evidence to say whether it was sent as asked{open}"),
            )
        }
        None if summary.source == Source::Import && summary.plan.is_none() => {
            ("not judged", Tone::Plain, "the file does not say what was asked for; --expect tells it".into())
        }
        None => ("not judged", Tone::Plain, "there is nothing to compare the load with".into()),
    };
    Answer { word, meaning, tone }
}

/// Are the starts like those of independent users?
pub fn pattern(summary: &Summary) -> Answer {
    let asked = summary.plan.as_ref().and_then(|plan| plan.gap_cov);
    let as_asked = |is: bool| if is { ", as the plan asks" } else { "" };
    let (word, tone, meaning) = match summary.verdict.pattern {
        Pattern::Independent => {
            ("independent", Tone::Good, "the requests start like those of independent users".to_owned())
        }
        Pattern::Bunched => {
            let same = as_asked(asked.is_some_and(|cov| cov > 1.05));
            (
                "bunched",
                Tone::Warn,
                format!("more clustered than independent users{same}; queues look longer than with them"),
            )
        }
        Pattern::Even => {
            let same = as_asked(asked.is_some_and(|cov| cov < 0.95));
            (
                "even",
                Tone::Warn,
                format!("more regular than independent users{same}; queues look shorter than with them"),
            )
        }
        Pattern::Undecided => {
            ("undecided", Tone::Plain, "too few arrivals to tell; a longer run decides".to_owned())
        }
        Pattern::NotApplicable => ("n/a", Tone::Plain, "no starts to judge".to_owned()),
    };
    Answer { word, meaning, tone }
}

/// How the requests ended: the share of successes, and what the others ended in.
pub fn answers(summary: &Summary) -> Answer {
    let total = total(&summary.outcomes);
    let ok = summary.outcomes.get(Outcome::Ok.name()).copied().unwrap_or(0);
    if total == 0 {
        return Answer {
            word: "none",
            meaning: "no request fell due, so there is nothing to report".into(),
            tone: Tone::Warn,
        };
    }
    let mut failures: Vec<(&str, u64)> =
        outcomes(summary).into_iter().filter(|&(name, _)| name != "ok").collect();
    failures.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let mut parts: Vec<String> =
        failures.iter().take(3).map(|(name, n)| format!("{} {name}", count(*n))).collect();
    if failures.len() > 3 {
        parts.push(format!(
            "{} otherwise",
            count(failures[3..].iter().fold(0, |sum: u64, &(_, n)| sum.saturating_add(n)))
        ));
    }
    let (word, tone, meaning) = if failures.is_empty() {
        ("all ok", Tone::Good, format!("{} answered as expected", plural(total, "request")))
    } else {
        let word = if ok == 0 { "none ok" } else { "some failed" };
        let tone = if ok == 0 { Tone::Bad } else { Tone::Warn };
        let failed = total - ok;
        (
            word,
            tone,
            format!(
                "{} of {} ({}): {}",
                count(failed),
                count(total),
                share_of(failed, total),
                parts.join(", ")
            ),
        )
    };
    Answer { word, meaning, tone }
}

/// Requests over all outcomes. A document from elsewhere may hold any counts, hence no overflow.
pub fn total(outcomes: &BTreeMap<String, u64>) -> u64 {
    outcomes.values().fold(0, |sum, &n| sum.saturating_add(n))
}

/// Outcomes with their counts: those this version knows in their own order, then any others by name.
pub fn outcomes(summary: &Summary) -> Vec<(&str, u64)> {
    let mut rows: Vec<(&str, u64)> = summary.outcomes.iter().map(|(name, &n)| (name.as_str(), n)).collect();
    let place = |name: &str| Outcome::from_name(name).map_or(usize::MAX, |outcome| outcome as usize);
    rows.sort_by_key(|&(name, _)| place(name));
    rows
}

/// What an outcome means; nothing for a name that this version does not know.
pub fn outcome_meaning(name: &str) -> &'static str {
    match Outcome::from_name(name) {
        Some(Outcome::Ok) => "answered as expected",
        Some(Outcome::Status) => "answered with a failure status",
        Some(Outcome::Check) => "answered, but a check did not hold",
        Some(Outcome::Protocol) => "the answer broke the protocol",
        Some(Outcome::TooLarge) => "the answer was larger than allowed",
        Some(Outcome::Timeout) => "no complete answer in time",
        Some(Outcome::ConnectTimeout) => "no connection in time",
        Some(Outcome::Refused) => "the target refused the connection",
        Some(Outcome::Reset) => "closed before the answer was complete",
        Some(Outcome::Dns) => "the target's name did not resolve",
        Some(Outcome::Tls) => "the TLS handshake failed",
        Some(Outcome::LocalLimit) => "no descriptor or port left here",
        Some(Outcome::Shed) => "gave up waiting for a connection",
        Some(Outcome::Cancelled) => "cancelled by the user",
        Some(Outcome::Unfinished) => "the run ended before the answer",
        Some(Outcome::Unsent) => "the run ended before it could start",
        None => "",
    }
}

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
    for rule in rules {
        let open = matches!(rule.outcome, RuleOutcome::Fail | RuleOutcome::Undecided);
        if open && !findings.iter().any(|finding| finding.id == rule.rule) {
            reasons.push(from_rule(rule));
        }
    }
    // Stable: within one severity the order is the verdict's own.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    reasons
}

fn from_finding(finding: &Finding, rules: &[RuleResult]) -> Reason {
    // The rule of the same name knows its unit; a finding's value has the unit that its text names.
    let mut same = rules.iter().filter(|rule| rule.rule == finding.id && rule.value == finding.value);
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
        next: next_step(&finding.id),
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
        next: if failed {
            next_step(&rule.rule)
        } else {
            Some("A longer run, or a higher rate, decides it.")
        },
    }
}

/// What to do about a finding or a broken rule; nothing for one that this version does not know.
fn next_step(id: &str) -> Option<&'static str> {
    Some(match id {
        "sent-share" => "Lower the rate, or raise -c, --threads or --max-wait until every arrival starts.",
        "late" | "late-share" => {
            "Give the generator idle cores (--threads, another machine), or lower the rate."
        }
        "saturated" => "Lower the rate, add --threads, or split the plan over machines with --shard.",
        "bunching" | "dispersion" => "Look for stalls of the generator, free its cores, then run again.",
        "serialised" => "Add --threads: one thread cannot send twice within one send.",
        "feedback" => "Raise -c if the cap held arrivals back; else the target did, and its times show it.",
        "users-held" => {
            "Check why users stopped: failures early in their journey, or a cap below the users asked for."
        }
        "all-issued" => "Let the run finish, or ask for fewer requests.",
        "same-host" => "Put the generator on another machine, or pin both to cores of their own.",
        "stalls" | "stall" => "Free the generator's cores: the system took them away for that long.",
        _ => return None,
    })
}

/// The name of a rule in words.
pub fn rule_title(rule: &RuleResult) -> String {
    match (rule.rule.as_str(), rule.window) {
        ("sent-share", _) => "the share of arrivals that started".into(),
        ("late-share", _) => "the share released over 1 ms late".into(),
        ("bunching", _) => "bunching (CoV^2 started - intended)".into(),
        ("dispersion", Some(window)) => format!("dispersion in windows of {}", time(window)),
        ("users-held", _) => "the share of users held".into(),
        ("all-issued", _) => "the number of requests issued".into(),
        (other, _) => format!("'{other}'"),
    }
}

/// Shares read better as percentages; the other statistics have no unit.
fn rule_number(rule: &RuleResult, x: f64) -> String {
    match rule.rule.as_str() {
        "sent-share" | "late-share" | "users-held" => share(x),
        "all-issued" if x >= 0.0 && x.fract() == 0.0 => count(x as u64),
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
        "sent-share" | "late-share" | "users-held" => format!("{} %", chosen(x * 100.0)),
        "all-issued" => rule_number(rule, x),
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

/// What a percentile of this run must carry beside it; nothing if the load was sent as asked.
pub fn caveat(summary: &Summary) -> Option<&'static str> {
    match summary.verdict.load {
        Some(LoadVerdict::Invalid) => {
            Some("INVALID load: these times do not belong to the load that was asked for")
        }
        Some(LoadVerdict::Inconclusive) => {
            Some("it is not shown that these times belong to the load asked for")
        }
        _ => None,
    }
}

/// What was run, in one line: source, name, process and rate, length.
pub fn subject(summary: &Summary) -> String {
    let mut parts = vec![
        match summary.source {
            Source::Live => "live run",
            Source::Sim => "simulation",
            Source::Import => "results of another tool",
        }
        .to_owned(),
    ];
    if let Some(plan) = &summary.plan {
        match (plan.rate, plan.users) {
            (Some(per_second), _) => parts.push(format!("{} at {}", plan.process, rate(per_second))),
            (None, Some(users)) => parts.push(format!("{} with {}", plan.process, plural(users, "user"))),
            _ if !plan.process.is_empty() => parts.push(plan.process.clone()),
            _ => {}
        }
    }
    let length = summary.measured.to_s - summary.measured.from_s;
    if length > 0.0 {
        parts.push(format!("{} measured", time(length)));
    }
    if let Some(at) = &summary.started_at {
        parts.push(at.clone());
    }
    let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
    format!("{name}: {}", parts.join(", "))
}

/// What an interrupted run lost; nothing for one that ran to its end.
pub fn interruption(summary: &Summary) -> Option<String> {
    summary.measured.interrupted.then(|| {
        format!(
            "Interrupted at {}: the numbers cover what fell due before that, {}.",
            instant(summary.measured.to_s),
            plural(summary.measured.n, "arrival")
        )
    })
}

/// The share of its time that the busiest worker spent handling events, polling and asleep.
pub fn busiest_worker(summary: &Summary) -> Option<[f64; 3]> {
    let workers = &summary.generator.as_ref()?.workers;
    let shares = workers.iter().filter_map(|worker| {
        let total = worker.handling + worker.polling + worker.sleeping;
        (total > 0.0).then(|| [worker.handling / total, worker.polling / total, worker.sleeping / total])
    });
    shares.max_by(|a, b| a[0].total_cmp(&b[0]))
}

/// A worker that spends more than this share of its time handling events is saturated.
pub const SATURATED: f64 = 0.8;

/// The command that repeats the run. The seed is added where the known command leaves it to chance; reading another
/// tool's file has none.
pub fn repeat(summary: &Summary, style: &crate::Style) -> Option<String> {
    let known = style.repeat.as_ref().or(summary.command.as_ref())?;
    match summary.seed {
        Some(seed) if style.repeat.is_none() && !known.contains("--seed") => {
            Some(format!("{known} --seed {seed}"))
        }
        _ => Some(known.clone()),
    }
}

/// How many arrivals were asked for: of a run cut short, those that fell due until then.
pub fn asked(summary: &Summary) -> Option<u64> {
    let due = (summary.rate.n > 0).then_some(summary.rate.n);
    if summary.measured.interrupted {
        return due;
    }
    summary.plan.as_ref().and_then(|plan| plan.arrivals.or(plan.requests)).or(due)
}
