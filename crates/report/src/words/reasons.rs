//! Why the verdict is what it is: findings and rules as sentences with their numbers, and what to do next.
//!
//! Absent: the rows of findings and rules, which say effect, cause and what to do ([`super::findings`], `rules`).

use super::Tone;
use super::around::Around;
use super::rules::{row, rule_limits, rule_number, rule_title, rule_value};
use crate::format::{chosen, count, number};
use headway_stats::Summary;
use headway_stats::summary::{
    Finding, FindingId, RuleId, RuleOutcome, RuleResult, RuleRow, Severity, Stated, Verdict, Why,
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
    let around = Around::new(summary);
    let mut reasons: Vec<Reason> = findings.iter().map(|finding| from_finding(finding, &around)).collect();
    for rule in rules {
        let open = matches!(rule.outcome, RuleOutcome::Fail | RuleOutcome::Undecided);
        if open && !is_covered(rule, findings) {
            reasons.push(from_rule(rule, &around));
        }
    }
    // Stable: within one severity the order is the verdict's own.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    reasons
}

fn from_finding(finding: &Finding, around: &Around) -> Reason {
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
        next: told.next(around),
        text: told.text,
        evidence,
        at: finding.at.clone(),
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

fn from_rule(rule: &RuleResult, around: &Around) -> Reason {
    let failed = rule.outcome == RuleOutcome::Fail;
    let what = if failed { "is outside of what is tolerated" } else { "could not be decided" };
    let because = |reason: &Stated<Why>| format!(" The reason: {}.", super::why::why(reason));
    let reason = rule.reason.as_ref().map_or(String::new(), because);
    let row = row(rule);
    let text = match (rule.value.filter(|_| failed), row.broken) {
        (Some(value), Some(broken)) => format!("{}{reason}", broken(value)),
        (Some(value), None) => {
            let (title, value) = (capitalised(&rule_title(rule)), rule_number(rule, value));
            format!("{title} is {value}, and should be {}.{reason}", rule_limits(rule))
        }
        (None, _) => format!("The rule on {} {what}.{reason}", rule_title(rule)),
    };
    // What queues disagree about does not get less with more requests.
    let is_short = !failed && rule.rule != RuleId::Effect;
    let longer = is_short.then_some("A longer run, or a higher rate, decides it.");
    Reason {
        id: ReasonId::Rule(rule.rule.clone()),
        severity: if failed { Severity::Error } else { Severity::Warning },
        text,
        evidence: evidence(rule),
        at: Vec::new(),
        next: longer.or_else(|| row.next.shown(around)).map(Cow::from),
    }
}

fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// Whether some finding tells what a rule has to tell.
fn is_covered(rule: &RuleResult, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        finding.id.rules().contains(&rule.rule)
            || (finding.id == FindingId::ShortRun && rule.outcome == RuleOutcome::Undecided)
    })
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
    use crate::words::around::{CORRECT_WHAT_IS_SENT, KEEP_FEWER_SOCKETS, NOT_OVERLOADED, START_TOGETHER};
    use headway_base::KnownFailure;
    use headway_stats::summary::evidence::{Load, Run};
    use headway_stats::summary::{Evidence, Source};

    /// Of requests that found no connection in time.
    fn not_sent() -> Evidence {
        let (n, of, gave_up, waiting_at_end, lacked, others) = (10, 100, 10, 0, 0, 0);
        let (started_per_s, offered_per_s) = (None, None);
        Load::Unsent { n, of, gave_up, waiting_at_end, lacked, others, started_per_s, offered_per_s }.into()
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
            let finding = Finding { id: FindingId::Unsent, evidence: vec![not_sent()], ..Finding::default() };
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
            let evidence = match id {
                FindingId::Unsent => not_sent(),
                _ => Run::Interrupted { at_s: 1.0, complete: 1, of: 20 }.into(),
            };
            let findings = vec![Finding { id, evidence: vec![evidence], ..Finding::default() }, apart];
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
    fn a_generator_that_stood_still_is_told_for_how_long() {
        let broken = RuleResult {
            rule: RuleId::StoodStill,
            value: Some(0.12),
            outcome: RuleOutcome::Fail,
            ..RuleResult::default()
        };
        let run = Summary::default();
        let said = |rule: &RuleResult| from_rule(rule, &Around::new(&run)).text;
        assert_eq!(said(&broken), "The generator stood still for 12.0 % of the time.");
        let doubtful = RuleResult { outcome: RuleOutcome::Undecided, ..broken };
        assert!(said(&doubtful).contains("could not be decided"), "{}", said(&doubtful));
    }
}
