//! Why the verdict is what it is: findings and rules as sentences with their numbers, and what to do next.
//!
//! Absent: the findings' own texts, which say effect and cause ([`super::findings`]).

use super::Tone;
use super::asked::{Kind, kind};
use crate::format::{chosen, count, number, share, time};
use headway_base::{KnownFailure, Outcome};
use headway_stats::Summary;
use headway_stats::summary::evidence::{HeldBackBy, Loop, Run};
use headway_stats::summary::{
    Evidence, Finding, FindingId, Limits, RuleId, RuleOutcome, RuleResult, RuleRow, Severity, Source, Stated,
    Verdict, Why,
};
use std::borrow::Cow;
use std::fmt;

/// The tag of a reason: that of a finding, or of a rule that no finding speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReasonId {
    /// A finding's.
    Finding(FindingId),
    /// A rule's.
    Rule(RuleId),
}

impl ReasonId {
    /// The command that explains it, as it stands behind its sentences; none of a tag that this version does not know.
    pub fn explained(&self) -> String {
        match self {
            ReasonId::Finding(FindingId::Other(_)) | ReasonId::Rule(RuleId::Other(_)) => String::new(),
            known => format!(" (headway explain {})", known.as_str()),
        }
    }

    /// The tag as documents have it.
    pub fn as_str(&self) -> &str {
        match self {
            ReasonId::Finding(id) => id.as_str(),
            ReasonId::Rule(id) => id.as_str(),
        }
    }
}

impl fmt::Display for ReasonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A reason of the verdict, or a thing to know: from a finding, or from a rule that no finding speaks of.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// Identifier of the finding or rule.
    pub id: ReasonId,
    /// How much it matters.
    pub severity: Severity,
    /// Effect and cause.
    pub text: String,
    /// The number behind it: value, interval, limit, n. May be empty.
    pub evidence: String,
    /// When; empty means throughout.
    pub at: Vec<[f64; 2]>,
    /// What to do next, where that is known.
    pub next: Option<Cow<'static, str>>,
}

/// Everything that a reader should know, the most severe first. A rule that failed or is open without a finding of
/// its name becomes a reason too, so that no verdict stands without one.
pub fn reasons(summary: &Summary) -> Vec<Reason> {
    let Verdict { findings, rules, .. } = &summary.verdict;
    let mut reasons: Vec<Reason> = findings.iter().map(from_finding).collect();
    let foreign = summary.audit.is_some();
    for rule in rules {
        let open = matches!(rule.outcome, RuleOutcome::Fail | RuleOutcome::Undecided);
        if open && !is_covered(rule, findings) {
            reasons.push(from_rule(rule));
        }
    }
    // A worker that is busy all the time is late for want of time, not of priority.
    let saturated = findings.iter().any(|finding| finding.id == FindingId::Saturated);
    let passed = !saturated && super::waiting::has_busy_neighbours(summary);
    let takes_all = takes_most(summary);
    let unfit = is_mostly_unfit(summary);
    let is_mute =
        summary.failure_reasons.rows.iter().any(|row| row.kind == Some(KnownFailure::Http2Unanswered));
    let apart = share_outside(&summary.verdict);
    for reason in reasons.iter_mut().filter(|reason| reason.next.is_none()) {
        let held_back = !reason.at.is_empty();
        let next = match summary.source {
            _ if foreign => next_of_audit(&reason.id),
            Source::Sim => next_of_simulation(&reason.id, kind(summary), held_back),
            _ if follows_from_shards_apart(&reason.id, &summary.verdict, apart) => Some(START_TOGETHER),
            _ if is_mute && reason.id == ReasonId::Finding(FindingId::Feedback) => {
                Some(super::failures::advice(KnownFailure::Http2Unanswered))
            }
            _ if unfit && is_of_what_was_sent(&reason.id) => Some(CORRECT_WHAT_IS_SENT),
            _ if takes_all && is_of_sockets(&reason.id) => Some(NOT_OVERLOADED),
            _ if reason.id == ReasonId::Finding(FindingId::Feedback) => {
                Some(next_of_feedback(held_back_by(&summary.verdict), kind(summary)))
            }
            _ if is_lateness(&reason.id) && passed => Some(super::waiting::NEIGHBOURS),
            _ => next_step(&reason.id, kind(summary)),
        };
        reason.next = next.map(Cow::from);
    }
    // Stable: within one severity the order is the verdict's own.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    reasons
}

/// Whether a target accepts most attempts of sockets that are kept connecting: each is then replaced as fast as this machine can.
fn takes_most(summary: &Summary) -> bool {
    let connects = summary.connects.as_ref().filter(|connects| connects.sockets.is_some());
    connects.is_some_and(|connects| 2 * connects.counts.established > connects.counts.attempts)
}

/// Whether most requests that were not sent hold what the protocol cannot send.
fn is_mostly_unfit(summary: &Summary) -> bool {
    let rows = summary.failure_reasons.rows.iter();
    let unfit: u64 = rows.filter(|row| row.kind == Some(KnownFailure::Unfit)).map(|row| row.n).sum();
    let not_sent = [Outcome::Unsent, Outcome::Shed, Outcome::LocalLimit];
    let of: u64 = not_sent.iter().filter_map(|outcome| summary.outcomes.get(outcome.name())).sum();
    unfit > 0 && 2 * unfit >= of
}

/// The share of the requests of a merged run that are in none of its numbers, for its shards began apart.
fn share_outside(verdict: &Verdict) -> f64 {
    let shares =
        verdict.findings.iter().flat_map(|finding| &finding.evidence).map(|evidence| match evidence {
            Evidence::Run(Run::ShardsApart { outside, of, .. }) => *outside as f64 / (*of).max(1) as f64,
            _ => 0.0,
        });
    shares.fold(0.0, f64::max)
}

/// Whether that is mostly what follows from shards that began apart: at least half of what a rule lacks is outside the merged run.
fn follows_from_shards_apart(id: &ReasonId, verdict: &Verdict, outside: f64) -> bool {
    let rule = match id {
        ReasonId::Finding(FindingId::Unsent) => &RuleId::SentShare,
        ReasonId::Rule(rule @ (RuleId::SentShare | RuleId::UsersHeld)) => rule,
        _ => return false,
    };
    let held = verdict.rules.iter().find(|found| found.rule == *rule).and_then(|found| found.value);
    outside > 0.0 && held.is_some_and(|held| 2.0 * outside >= 1.0 - held)
}

/// Whether it is that requests were not sent.
pub(super) fn is_of_what_was_sent(id: &ReasonId) -> bool {
    use ReasonId::{Finding, Rule};
    matches!(
        id,
        Finding(FindingId::Unsent) | Rule(RuleId::SentShare | RuleId::RequestsSent | RuleId::AllIssued)
    )
}

fn is_of_sockets(id: &ReasonId) -> bool {
    use ReasonId::{Finding, Rule};
    is_lateness(id) || matches!(id, Finding(FindingId::Saturated) | Rule(RuleId::SocketsHeld))
}

/// Whether that is about requests that started late, or in bunches since some did.
fn is_lateness(id: &ReasonId) -> bool {
    use ReasonId::{Finding, Rule};
    matches!(
        id,
        Finding(FindingId::Late | FindingId::Bunched)
            | Rule(RuleId::Effect | RuleId::LateShare | RuleId::Bunching | RuleId::Dispersion)
    )
}

fn from_finding(finding: &Finding) -> Reason {
    // The rule behind it knows its unit; a finding's value has the unit that its text names.
    let evidence = match (&finding.rule, finding.value) {
        (Some(row), Some(_)) => evidence(&row_of(finding, row)),
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
    let told = super::findings::told(finding);
    Reason {
        id: ReasonId::Finding(finding.id.clone()),
        severity: finding.severity,
        text: told.text,
        evidence,
        at: finding.at.clone(),
        next: told.next.map(Cow::from),
    }
}

/// The numbers of a finding as the row of the rule that they are of.
fn row_of(finding: &Finding, row: &RuleRow) -> RuleResult {
    RuleResult {
        rule: row.id.clone(),
        window: row.window,
        value: finding.value,
        interval: finding.interval,
        limits: row.limits,
        n: finding.n,
        ..RuleResult::default()
    }
}

fn evidence(rule: &RuleResult) -> String {
    format!("{}; tolerated: {}; n = {}", rule_value(rule), rule_limits(rule), count(rule.n))
}

fn from_rule(rule: &RuleResult) -> Reason {
    let failed = rule.outcome == RuleOutcome::Fail;
    let what = if failed { "is outside of what is tolerated" } else { "could not be decided" };
    let because = |reason: &Stated<Why>| format!(" The reason: {}.", super::why::why(reason));
    let reason = rule.reason.as_ref().map_or(String::new(), because);
    let text = match (&rule.rule, rule.value) {
        (RuleId::StoodStill, Some(share)) if failed => {
            format!("The generator stood still for {} of the time.{reason}", rule_number(rule, share))
        }
        (RuleId::ShardsTogether, Some(share)) if failed => {
            let alone = rule_number(rule, 1.0 - share);
            format!("Some shards began late: the others were alone for {alone} of the time.{reason}")
        }
        (_, Some(value)) if failed => {
            let (title, value) = (capitalised(&rule_title(rule)), rule_number(rule, value));
            format!("{title} is {value}, and should be {}.{reason}", rule_limits(rule))
        }
        _ => format!("The rule on {} {what}.{reason}", rule_title(rule)),
    };
    Reason {
        id: ReasonId::Rule(rule.rule.clone()),
        severity: if failed { Severity::Error } else { Severity::Warning },
        text,
        evidence: evidence(rule),
        at: Vec::new(),
        // What queues disagree about does not get less with more requests.
        next: (!failed && rule.rule != RuleId::Effect)
            .then_some("A longer run, or a higher rate, decides it.".into()),
    }
}

fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// The rules that a finding speaks of.
fn covered(finding: &FindingId) -> &'static [RuleId] {
    match finding {
        FindingId::Unsent | FindingId::UnsentSteps => {
            &[RuleId::SentShare, RuleId::RequestsSent, RuleId::AllIssued]
        }
        FindingId::Late => &[RuleId::LateShare, RuleId::Effect],
        FindingId::Uplink => &[RuleId::DepartedLate],
        FindingId::Bunched | FindingId::Smoothed | FindingId::Serialised => {
            &[RuleId::Bunching, RuleId::Dispersion]
        }
        _ => &[],
    }
}

/// Whether some finding tells what a rule has to tell.
fn is_covered(rule: &RuleResult, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        covered(&finding.id).contains(&rule.rule)
            || (finding.id == FindingId::ShortRun && rule.outcome == RuleOutcome::Undecided)
    })
}

/// What to do about a finding on another tool's load, whose options are not ours; nothing where its text says so.
fn next_of_audit(id: &ReasonId) -> Option<&'static str> {
    use ReasonId::Finding;
    Some(match id {
        Finding(FindingId::CoarseStamps) => {
            "Have the tool write finer stamps. Its option stands with the file, where there is one."
        }
        Finding(FindingId::ConstantRate) => {
            "Have the tool draw its headways at random (Poisson arrivals). Or use many users with random think times."
        }
        Finding(FindingId::GeneratorPauses) => {
            "Give the generator memory and idle cores, then run again. Look at its garbage collection."
        }
        _ => return None,
    })
}

/// What to do about a finding or a broken rule of a simulation, whose load, generator and target are all in the scenario;
/// nothing where its text says so. `held_back`: at times requests waited for a connection.
fn next_of_simulation(id: &ReasonId, kind: Kind, held_back: bool) -> Option<&'static str> {
    use ReasonId::{Finding, Rule};
    Some(match id {
        Finding(FindingId::Feedback) if held_back => match kind {
            Kind::Open | Kind::Sessions => {
                "Raise `connections:` if real users would not share them. Else lower the rate to one that the model sustains."
            }
            Kind::Closed | Kind::FixedWork | Kind::Connecting => {
                "Raise `connections:` if real users would not share them. Else count the time blocked as a part of the response."
            }
        },
        Finding(FindingId::Feedback) => match kind {
            Kind::Open | Kind::Sessions => {
                "Lower the rate to one that the model sustains, or change the model. More servers, fewer attempts, time-outs that \
                 call back, and shorter faults help."
            }
            Kind::Closed | Kind::FixedWork | Kind::Connecting => {
                "Ask for fewer users, or change the model. More servers, fewer attempts, and shorter faults help."
            }
        },
        Finding(FindingId::ClosedLoop) => {
            "Let a rate that the model sustains arrive (`arrive` in the scenario). Response times are then those of independent users."
        }
        Finding(FindingId::FixedWork) => {
            "Compare models by the time taken. For response times let a rate arrive (`arrive` in the scenario)."
        }
        Finding(FindingId::Unsent) | Rule(RuleId::SentShare) | Rule(RuleId::RequestsSent) => {
            "Lower the rate, or raise `connections:` or `max-wait:`. Do so until every arrival starts."
        }
        Finding(FindingId::Late) | Rule(RuleId::LateShare | RuleId::Effect) => {
            "Leave `pauses:` out of the model, or make them shorter. Keep them to see a generator that stands still."
        }
        Finding(FindingId::Bunched)
        | Finding(FindingId::Smoothed)
        | Rule(RuleId::Bunching)
        | Rule(RuleId::Dispersion) => {
            "Leave `pauses:` out of the model, or raise `connections:`. One of them holds requests back."
        }
        Finding(FindingId::SameHost) => return None,
        _ => return next_step(id, kind),
    })
}

/// Sockets are accepted as fast as they connect.
const NOT_OVERLOADED: &str = "The target accepts most connections at once, so each socket is replaced as fast as this machine can. Below its capacity send a rate: -R RATE --new-connections.";

/// What is outside a merged run was sent, at another time.
const START_TOGETHER: &str = "Start shards together: --start-at barrier, or one --start-at TIME.";

/// What the steps hold cannot be sent, at no rate.
const CORRECT_WHAT_IS_SENT: &str = "Correct the step, or the data that it takes its values from. The reason under the outcome says what cannot be sent.";

/// Sockets cannot be kept connecting.
const KEEP_FEWER_SOCKETS: &str = "Keep fewer sockets connecting, or raise --connect-timeout. Or give the generator idle cores (--threads), or another machine.";

/// What kept requests of a live run waiting for a connection, where something did.
fn held_back_by(verdict: &Verdict) -> Option<&HeldBackBy> {
    let mut evidence = verdict.findings.iter().flat_map(|finding| &finding.evidence);
    evidence.find_map(|evidence| match evidence {
        Evidence::Loop(Loop::HeldBack { cause, .. }) => Some(cause),
        _ => None,
    })
}

/// What to do about a load that followed the target's pace, by what held it back. Nobody can lower the rate of users who stay.
fn next_of_feedback(held: Option<&HeldBackBy>, kind: Kind) -> &'static str {
    let planned = matches!(kind, Kind::Open | Kind::Sessions);
    match held {
        Some(HeldBackBy::SetUp) => {
            "Find out why connections take so long to be set up. TLS, a proxy, or a full backlog of the target are common reasons."
        }
        _ if !planned => {
            "Raise -c if real users would not share connections. Else count the time blocked as a part of the response."
        }
        Some(HeldBackBy::Cap { .. }) => {
            "Raise -c if real users would not share connections. Else lower the rate to one that the target sustains."
        }
        Some(HeldBackBy::Either) => "Lower the rate, or raise -c if real users share no connections.",
        _ if kind == Kind::Sessions => "Lower the rate until nothing piles up, or plan by the rate sent.",
        _ => "Lower the rate to one that the target sustains.",
    }
}

/// What to do about a finding or a broken rule; nothing where its text says so, or for one that this version does not
/// know.
fn next_step(id: &ReasonId, kind: Kind) -> Option<&'static str> {
    use ReasonId::{Finding, Rule};
    Some(match id {
        Finding(FindingId::NotSteady) => {
            "Warm up for longer, or run for longer. Compare percentiles of steady stretches alone."
        }
        Finding(FindingId::Overloaded) => {
            "Lower the load, or give it more servers. Else read the response times together with the share that failed."
        }
        Finding(FindingId::ClosedLoop) => {
            "Send the same rate as arrivals (-R, or `arrive` in a scenario). Response times are then those of independent users."
        }
        Finding(FindingId::FixedWork) => {
            "Compare targets by the time taken. For response times send a rate (-R, or `arrive` in a scenario)."
        }
        Finding(FindingId::Unsent) | Rule(RuleId::SentShare) | Rule(RuleId::RequestsSent) => {
            "Lower the rate, or raise -c, --threads or --max-wait. Do so until every arrival starts."
        }
        Finding(FindingId::Late) | Rule(RuleId::LateShare | RuleId::Effect) => match kind {
            Kind::Open | Kind::Sessions => {
                "Give the generator idle cores (--threads) or another machine. Or lower the rate."
            }
            Kind::Closed | Kind::FixedWork => {
                "Give the generator idle cores (--threads) or another machine. Or ask for fewer users."
            }
            Kind::Connecting => KEEP_FEWER_SOCKETS,
        },
        Finding(FindingId::Uplink) | Rule(RuleId::DepartedLate) => {
            "Send fewer bytes a second, or use a machine with a faster link. `tc -s qdisc` shows what waits in its queue."
        }
        Finding(FindingId::Bunched) | Rule(RuleId::Bunching) | Rule(RuleId::Dispersion) => {
            "Look for stalls of the generator, free its cores, then run again."
        }
        Finding(FindingId::Smoothed) => {
            "Look for what paces requests on the way. A proxy, a rate limiter, or too few connections do."
        }
        Rule(RuleId::UsersHeld) => {
            "Check why users stopped. Failures early in their journey do that, or a cap below the users specified."
        }
        Rule(RuleId::SocketsHeld) => KEEP_FEWER_SOCKETS,
        Rule(RuleId::StoodStill) => {
            "Give the generator idle cores, or another machine. What stops its process (SIGSTOP, a CPU quota) stops the load."
        }
        Rule(RuleId::AllIssued) => "Let the run finish, or ask for fewer requests.",
        Rule(RuleId::ShardsTogether) => START_TOGETHER,
        Finding(FindingId::Unreachable) => "Check the port of the URL, and that the target listens.",
        Finding(FindingId::Surplus) => "Say by --answer where a response ends, as in `resp` for Redis.",
        Finding(FindingId::NamesNotRead) => {
            "Look into the resolver of this machine: `getent ahosts NAME` asks it."
        }
        Finding(FindingId::Redirects) => "Follow them by -L (`redirects: 10` in a scenario).",
        Finding(FindingId::SameHost) => "Put the generator on another machine, or pin each to its own cores.",
        _ => return None,
    })
}

/// The name of a rule in words.
pub fn rule_title(rule: &RuleResult) -> String {
    match (&rule.rule, rule.window) {
        (RuleId::SentShare, _) => "the share of arrivals that were sent".into(),
        (RuleId::RequestsSent, _) => "the share of later requests that were sent".into(),
        (RuleId::Effect, _) => "what the generator's delays did to the numbers".into(),
        (RuleId::LateShare, _) => "the share released late".into(),
        (RuleId::DepartedLate, _) => "the share that left this machine late".into(),
        (RuleId::Bunching, _) => "bunching (CoV^2 started - intended)".into(),
        (RuleId::Dispersion, Some(window)) => format!("dispersion in windows of {}", time(window)),
        (RuleId::UsersHeld, _) => "the share of users held".into(),
        (RuleId::SocketsHeld, _) => "the share of time in which sockets kept connecting".into(),
        (RuleId::StoodStill, _) => "the share of time for which the generator stood still".into(),
        (RuleId::AllIssued, _) => "the share of requests sent".into(),
        (RuleId::ShardsTogether, _) => "the share of time with all shards".into(),
        (RuleId::Cov, _) => "CoV of the headways".into(),
        (RuleId::Ks, _) => "distance of the headways from an exponential law".into(),
        (RuleId::Lag1, _) => "correlation of successive headways".into(),
        (RuleId::Line, Some(period)) => format!("amplitude of the strongest period ({})", time(period)),
        (RuleId::Line, None) => "amplitude of the strongest period".into(),
        (other, _) => format!("'{other}'"),
    }
}

/// Whether the statistic of a rule is a share.
fn is_share(rule: &RuleId) -> bool {
    use RuleId::{
        AllIssued, DepartedLate, Effect, LateShare, RequestsSent, SentShare, ShardsTogether, SocketsHeld,
        StoodStill, UsersHeld,
    };
    matches!(
        rule,
        SentShare
            | RequestsSent
            | Effect
            | LateShare
            | DepartedLate
            | UsersHeld
            | SocketsHeld
            | StoodStill
            | AllIssued
            | ShardsTogether
    )
}

/// Shares read better as percentages; the other statistics have no unit.
fn rule_number(rule: &RuleResult, x: f64) -> String {
    match &rule.rule {
        rule if is_share(rule) => share(x),
        _ => number(x),
    }
}

/// The statistic with its interval: `0.0123, 95 % interval 0.01 to 0.02`.
pub fn rule_value(rule: &RuleResult) -> String {
    match (rule.value, rule.interval) {
        (None, _) => "no value".into(),
        (Some(value), None) => rule_number(rule, value),
        (Some(_), Some(_)) if rule.rule == RuleId::Effect => format!("range {}", rule_interval(rule)),
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
    let shown = |x: f64| match &rule.rule {
        rule if is_share(rule) => {
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

    const KINDS: [Kind; 5] = [Kind::Open, Kind::Sessions, Kind::Closed, Kind::FixedWork, Kind::Connecting];

    /// Findings whose text ends in what to do, or after which there is nothing to do.
    const SAY_IT_THEMSELVES: [FindingId; 23] = [
        FindingId::SentAgain,
        FindingId::Ports,
        FindingId::ProxyNotUsed,
        FindingId::TargetWindow,
        FindingId::Aborted,
        FindingId::UnsentSteps,
        FindingId::Interrupted,
        FindingId::OffRate,
        FindingId::Serialised,
        FindingId::Stall,
        FindingId::Saturated,
        FindingId::LocalLimit,
        FindingId::Unaccounted,
        FindingId::Disordered,
        FindingId::CoarseStamps,
        FindingId::ShortRun,
        FindingId::NoSteadyState,
        FindingId::HeavyTail,
        FindingId::Censored,
        FindingId::Errors,
        FindingId::FixedPopulation,
        FindingId::LongestGaps,
        FindingId::Periodic,
    ];

    #[test]
    fn a_finding_that_does_not_say_what_to_do_has_a_next_step() {
        for kind in KINDS {
            for id in [
                FindingId::Unsent,
                FindingId::Late,
                FindingId::Uplink,
                FindingId::Bunched,
                FindingId::Smoothed,
                FindingId::NotSteady,
                FindingId::Overloaded,
                FindingId::ClosedLoop,
                FindingId::FixedWork,
                FindingId::Unreachable,
                FindingId::Surplus,
                FindingId::NamesNotRead,
                FindingId::Redirects,
                FindingId::SameHost,
            ] {
                let next = next_step(&ReasonId::Finding(id.clone()), kind)
                    .unwrap_or_else(|| panic!("{id} of {kind:?}"));
                assert!(next.ends_with('.') && next.len() > 20, "{next}");
            }
            for id in SAY_IT_THEMSELVES {
                assert_eq!(next_step(&ReasonId::Finding(id.clone()), kind), None, "{id}");
            }
        }
    }

    #[test]
    fn every_rule_has_a_name_and_once_broken_a_next_step() {
        for id in RULES.iter().map(|rule| &rule.id) {
            let name = id.as_str();
            let rule = RuleResult { rule: id.clone(), window: Some(0.1), ..RuleResult::default() };
            assert!(!rule_title(&rule).contains(name) || name == "bunching" || name == "dispersion", "{id}");
            assert!(KINDS.iter().all(|&kind| next_step(&ReasonId::Rule(id.clone()), kind).is_some()), "{id}");
        }
        let other = RuleResult { rule: "of-a-later-version".into(), ..RuleResult::default() };
        assert_eq!(rule_title(&other), "'of-a-later-version'");
    }

    /// Below the capacity of the target, and where a worker has no time left, fewer sockets and priority do not help.
    #[test]
    fn sockets_of_a_target_that_accepts_all_are_not_to_be_fewer() {
        use headway_stats::summary::{ConnectCounts, Connects, Generator, Wait};
        let next = |established: u64, findings: Vec<Finding>| {
            let counts = ConnectCounts { attempts: 1_000, established, ..ConnectCounts::default() };
            let wait = Wait { busy_neighbours: true, cores: 2, ..Wait::default() };
            let rule =
                |id: RuleId| RuleResult { rule: id, outcome: RuleOutcome::Fail, ..RuleResult::default() };
            let rules = vec![rule(RuleId::SocketsHeld), rule(RuleId::LateShare)];
            let summary = Summary {
                source: Source::Live,
                connects: Some(Connects { counts, sockets: Some(10.0), ..Connects::default() }),
                generator: Some(Generator { wait: Some(wait), ..Generator::default() }),
                verdict: Verdict { rules, findings, ..Verdict::default() },
                ..Summary::default()
            };
            let of = |id: RuleId| {
                let all = reasons(&summary);
                let found = all.iter().find(|reason| reason.id == ReasonId::Rule(id.clone()));
                found.and_then(|reason| reason.next.clone()).unwrap()
            };
            [RuleId::SocketsHeld, RuleId::LateShare].map(of)
        };
        assert_eq!(next(999, Vec::new()), [NOT_OVERLOADED, NOT_OVERLOADED]);
        let [held, late] = next(100, Vec::new());
        assert!(held == KEEP_FEWER_SOCKETS && late == crate::words::waiting::NEIGHBOURS, "{held} {late}");
        let saturated = Finding { id: FindingId::Saturated, ..Finding::default() };
        assert_ne!(next(100, vec![saturated])[1], crate::words::waiting::NEIGHBOURS);
    }

    /// A bad name is as bad at any rate.
    #[test]
    fn what_cannot_be_sent_is_to_be_corrected_and_not_slowed_down() {
        use headway_stats::summary::{FailureReason, FailureReasons};
        let next = |unfit: u64, shed: u64| {
            let row = FailureReason { kind: Some(KnownFailure::Unfit), n: unfit, ..FailureReason::default() };
            let finding = Finding { id: FindingId::Unsent, ..Finding::default() };
            let summary = Summary {
                source: Source::Live,
                outcomes: [("unsent".to_owned(), unfit), ("shed".to_owned(), shed)].into(),
                failure_reasons: FailureReasons { rows: vec![row], ..FailureReasons::default() },
                verdict: Verdict { findings: vec![finding], ..Verdict::default() },
                ..Summary::default()
            };
            reasons(&summary)[0].next.clone().unwrap()
        };
        assert_eq!(next(10, 1), CORRECT_WHAT_IS_SENT);
        assert!(next(1, 10).starts_with("Lower the rate"));
    }

    /// At a lower rate shards that began apart would be as far apart.
    #[test]
    fn shards_that_began_apart_are_to_be_started_together() {
        let next = |id: FindingId, rule: RuleId, outside: u64| {
            let rule =
                RuleResult { rule, value: Some(0.9), outcome: RuleOutcome::Fail, ..RuleResult::default() };
            let apart = Finding {
                id: FindingId::ShardsApart,
                evidence: vec![Run::ShardsApart { apart_s: 1.0, outside, of: 1_000 }.into()],
                ..Finding::default()
            };
            let findings = vec![Finding { id, ..Finding::default() }, apart];
            let verdict = Verdict { rules: vec![rule], findings, ..Verdict::default() };
            let summary = Summary { source: Source::Live, verdict, ..Summary::default() };
            let all = reasons(&summary).into_iter();
            all.filter_map(|reason| reason.next).collect::<Vec<_>>()
        };
        assert_eq!(next(FindingId::Unsent, RuleId::SentShare, 100), [START_TOGETHER]);
        assert!(next(FindingId::Unsent, RuleId::SentShare, 10)[0].starts_with("Lower the rate"));
        assert_eq!(next(FindingId::Interrupted, RuleId::UsersHeld, 100), [START_TOGETHER]);
        assert!(next(FindingId::Interrupted, RuleId::UsersHeld, 0)[0].starts_with("Check why users"));
    }

    #[test]
    fn what_to_do_about_feedback_depends_on_who_comes_and_what_held_it_back() {
        let cap = HeldBackBy::Cap { in_use: 40.0 };
        for kind in KINDS {
            for held in
                [None, Some(&HeldBackBy::Target { times: 3.0 }), Some(&cap), Some(&HeldBackBy::Either)]
            {
                let next = next_of_feedback(held, kind);
                let planned = matches!(kind, Kind::Open | Kind::Sessions);
                // Nobody can lower the rate of users who stay.
                assert_eq!(next.contains("rate"), planned, "{kind:?} {held:?}: {next}");
                // An overloaded target is helped by no higher cap, and a low cap by one at once.
                let cap_first = next.starts_with("Raise -c");
                assert_eq!(cap_first, !planned || held == Some(&cap), "{kind:?} {held:?}: {next}");
            }
            assert!(!next_of_feedback(Some(&HeldBackBy::SetUp), kind).contains("-c"));
        }
    }

    /// A simulation has no `-c`, no `-R`, no cores to free and no proxy on the way.
    #[test]
    fn a_simulation_is_never_told_to_look_beyond_its_scenario() {
        // No bytes leave a simulation, it keeps no sockets connecting, and its shards share one clock.
        let foreign = [RuleId::DepartedLate, RuleId::SocketsHeld, RuleId::StoodStill, RuleId::ShardsTogether];
        let rules = RULES.iter().map(|rule| rule.id.clone()).filter(|id| !foreign.contains(id));
        use FindingId::{Bunched, ClosedLoop, Feedback, FixedWork, Late, Smoothed, Unsent};
        let findings = [Unsent, Late, Bunched, Smoothed, Feedback, ClosedLoop, FixedWork];
        for id in rules.map(ReasonId::Rule).chain(findings.map(ReasonId::Finding)) {
            for (kind, held_back) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
                let next =
                    next_of_simulation(&id, kind, held_back).unwrap_or_else(|| panic!("{id} of {kind:?}"));
                for foreign in ["-c", "-R", "--threads", "cores", "machine", "proxy", "--max-wait"] {
                    assert!(!next.contains(foreign), "{id} of {kind:?}: {next}");
                }
            }
        }
        assert!(
            next_of_simulation(&ReasonId::Finding(Late), Kind::Open, true).unwrap().contains("`pauses:`")
        );
        let next =
            |held_back| next_of_simulation(&ReasonId::Finding(Feedback), Kind::Open, held_back).unwrap();
        assert!(next(true).contains("`connections:`") && !next(false).contains("connections"));
        for id in SAY_IT_THEMSELVES {
            assert_eq!(next_of_simulation(&ReasonId::Finding(id.clone()), Kind::Open, false), None, "{id}");
        }
    }

    #[test]
    fn a_generator_that_stood_still_is_told_for_how_long() {
        let broken = RuleResult {
            rule: RuleId::StoodStill,
            value: Some(0.12),
            outcome: RuleOutcome::Fail,
            ..RuleResult::default()
        };
        let said = |rule: &RuleResult| from_rule(rule).text;
        assert_eq!(said(&broken), "The generator stood still for 12.0 % of the time.");
        let doubtful = RuleResult { outcome: RuleOutcome::Undecided, ..broken };
        assert!(said(&doubtful).contains("could not be decided"), "{}", said(&doubtful));
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
