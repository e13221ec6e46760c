//! What the first screen says in a line each: the pattern, the load, the machine.
//!
//! Absent: what these rest on; [`super::pattern()`] and the other sentences have that.

use super::asked::Kind;
use super::{Answer, Reason, ReasonId, Tone, asked, busiest_worker, failures, outcome_meaning, total};
use crate::format::{count, plural, rate, share, share_of, size, time};
use headway_base::Outcome;
use headway_base::machine::SATURATED;
use headway_stats::Summary;
use headway_stats::summary::{Connects, FailureReason, FindingId, Pattern, RuleId, Severity, Subject};

/// Are the starts like those of independent users? In a line, where that was decided, or asked for by `--tolerance lateness=`. What loops
/// send is no question of independence: one line says what that does.
pub fn pattern(summary: &Summary) -> Option<Answer> {
    if matches!(asked::kind(summary), Kind::Closed | Kind::FixedWork) {
        return Some(Answer { word: "closed", meaning: LOOPED.to_owned(), tone: Tone::Plain });
    }
    if matches!(summary.verdict.pattern, Pattern::Undecided | Pattern::NotApplicable) {
        return None;
    }
    let of = pattern_of_audit(summary);
    // What it does to queues comes with --details.
    let meaning = of.meaning.split(';').next().unwrap_or_default().to_owned();
    Some(Answer { meaning, ..of })
}

/// What a loop does to its load.
const LOOPED: &str = "closed workload: a slow target receives fewer requests";

/// The same of an audit, which is asked for the pattern.
pub fn pattern_of_audit(summary: &Summary) -> Answer {
    let whole = super::pattern(summary);
    let verdict = &summary.verdict;
    let unsteady = super::undecided::unsteady(summary).filter(|_| verdict.pattern == Pattern::Undecided);
    let meaning = match (unsteady, verdict.pattern, verdict.pattern_scale_s, verdict.pattern_needs) {
        (Some(remedy), ..) => remedy.to_owned(),
        (_, Pattern::Independent, Some(scale), _) => {
            format!("like independent users, up to {}{}", time(scale), super::pauses(summary, ", but for "))
        }
        (_, Pattern::Undecided, _, Some(needed)) => {
            format!(
                "too few {} to tell; about {} would do{}",
                asked::judged(summary),
                count(needed),
                super::pauses(summary, "; ")
            )
        }
        (_, Pattern::Undecided, ..) => {
            format!("{}{}", super::undecided::brief(summary), super::pauses(summary, "; "))
        }
        // The numbers come with --details.
        _ => whole.meaning.split(" (").next().unwrap_or_default().to_owned(),
    };
    Answer { meaning, ..whole }
}

/// Whether a reason is of how the load left, which the line of trust tells.
pub fn is_of_load(id: &ReasonId) -> bool {
    match id {
        ReasonId::Rule(_) => true,
        ReasonId::Finding(id) => id.subject() == Subject::Load,
    }
}

/// Whether a reason is of the pattern of the starts, which has a line of its own.
pub fn is_of_pattern(id: &ReasonId) -> bool {
    matches!(id, ReasonId::Finding(id) if id.subject() == Subject::Pattern)
}

/// Whether a reason is that requests were not sent.
fn is_of_what_was_sent(id: &ReasonId) -> bool {
    let sent = [RuleId::SentShare, RuleId::RequestsSent, RuleId::AllIssued];
    match id {
        ReasonId::Finding(id) => *id == FindingId::Unsent,
        ReasonId::Rule(id) => sent.contains(id),
    }
}

/// Was it sent as specified? Without the number of rules, which the details count.
pub fn trust(summary: &Summary) -> Answer {
    let whole = super::load(summary);
    let meaning = whole.meaning.split(": all ").next().unwrap_or_default().to_owned();
    Answer { meaning, ..whole }
}

/// Of reasons in the order of their weight, the one that says what the generator did to the load. Requests that were not sent follow from
/// what most of them lacked.
pub fn cause<'a>(summary: &Summary, reasons: &'a [Reason]) -> Option<&'a Reason> {
    let mut of_load =
        reasons.iter().filter(|reason| reason.severity > Severity::Info && is_of_load(&reason.id));
    let first = of_load.next()?;
    let lacked = of_load.find(|reason| reason.id == ReasonId::Finding(FindingId::LocalLimit));
    lacked.filter(|_| is_of_what_was_sent(&first.id) && mostly_lacked(summary)).or(Some(first))
}

/// Whether most requests that were not sent wanted something that this machine did not have.
fn mostly_lacked(summary: &Summary) -> bool {
    let of = |outcome: Outcome| summary.outcomes.get(outcome.name()).copied().unwrap_or(0);
    of(Outcome::LocalLimit) >= of(Outcome::Unsent) + of(Outcome::Shed)
}

/// Whether what is said of the load tells why already: the connection cap.
pub fn says_why(summary: &Summary) -> bool {
    super::kept_by_cap(summary).is_some()
}

/// Requests fail at most so often without being shown as what is wrong.
const FEW_FAILURES: f64 = 0.01;

/// How the requests ended, and in what most of the failures did.
pub fn outcome(summary: &Summary) -> Answer {
    let whole = super::answers(summary);
    let all = total(&summary.outcomes);
    let failed = all - summary.outcomes.get("ok").copied().unwrap_or(0).min(all);
    if failed == 0 || !super::tells_outcomes(summary) {
        return whole;
    }
    let kinds = super::kinds_of_failure(summary);
    let worst = kinds.first().map_or(String::new(), |&(name, status, _)| {
        let mostly = if kinds.len() > 1 { "mostly " } else { "" };
        format!(": {mostly}{}", failures::ended(name, status))
    });
    let few = failed as f64 <= FEW_FAILURES * all as f64;
    Answer {
        meaning: format!("{} of {} failed ({}){worst}", count(failed), count(all), share_of(failed, all)),
        tone: if few { Tone::Warn } else { Tone::Bad },
        ..whole
    }
}

/// A kind of failure.
pub struct Failed {
    /// Requests that failed so.
    pub n: u64,
    /// What it is.
    pub what: String,
    /// Why, the most frequent reasons first; one alone with what one request met.
    pub why: Vec<String>,
    /// Reasons beyond these.
    pub more: usize,
    /// What helps.
    pub advice: Vec<&'static str>,
}

/// Reasons of a kind of failure that are shown.
const MOST_REASONS: usize = 2;

/// Kinds of failure, the most frequent first.
pub fn failures(summary: &Summary) -> Vec<Failed> {
    let mut kinds: Vec<Failed> = super::kinds_of_failure(summary)
        .into_iter()
        .map(|(name, status, n)| {
            let ended = failures::ended(name, status);
            let what = match outcome_meaning(name) {
                _ if status.is_some() && name == Outcome::Status.name() => ended,
                "" => ended,
                meaning => format!("{ended}: {meaning}"),
            };
            let reasons = failures::reasons(summary, name, status);
            // Sockets that are kept connecting are given up by design.
            let by_design =
                asked::kind(summary) == asked::Kind::Connecting && name == Outcome::ConnectTimeout.name();
            let advice = match by_design {
                true => Vec::new(),
                false => failures::kinds(summary, name, status)
                    .into_iter()
                    .map(|kind| failures::advice_in(summary, kind))
                    .collect(),
            };
            let why = match &reasons[..] {
                [] => Vec::new(),
                [row] if row.n >= n => vec![failures::example(row).into()],
                rows => counted(rows),
            };
            let more = reasons.len().saturating_sub(MOST_REASONS);
            Failed { n, what, why, more, advice }
        })
        .collect();
    // Nothing is said twice.
    for i in (1..kinds.len()).rev() {
        let (before, rest) = kinds.split_at_mut(i);
        rest[0].why.retain(|why| !before.iter().any(|kind| kind.why.contains(why)));
        rest[0].advice.retain(|advice| !before.iter().any(|kind| kind.advice.contains(advice)));
    }
    kinds
}

/// The most frequent reasons with their counts.
fn counted(rows: &[&FailureReason]) -> Vec<String> {
    rows.iter().take(MOST_REASONS).map(|row| format!("{}: {}", count(row.n), failures::reason(row))).collect()
}

/// What was run, without the date.
pub fn subject(summary: &Summary) -> String {
    let subject = asked::subject(summary);
    let date = summary.started_at.as_deref().map(asked::to_the_millisecond);
    let date = date.and_then(|date| subject.strip_suffix(&format!(", {date}")));
    date.unwrap_or(&subject).to_owned()
}

/// `offered 200/s, sent 197/s, throughput 197/s (24.1 KiB/s)`.
pub fn load(summary: &Summary) -> String {
    let rates = &summary.rate;
    let bytes = |bytes: Option<f64>| bytes.map(|bytes| format!("{}/s", size(bytes)));
    let answered = !super::is_one_way(summary);
    if let Some(connects) = &summary.connects {
        return attempts(connects, rates.offered.filter(|_| connects.sockets.is_none()));
    }
    let with_bytes = |throughput| match bytes(rates.bytes_received) {
        Some(bytes) => format!("{} ({bytes})", rate(throughput)),
        None => rate(throughput),
    };
    let parts = [
        ("offered", rates.offered.map(rate)),
        ("sent", rates.started.map(rate)),
        ("throughput", rates.throughput.map(with_bytes).filter(|_| answered)),
        ("in bytes", bytes(rates.bytes_sent).filter(|_| !answered)),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter_map(|(name, text)| Some(format!("{name} {}", text?))).collect();
    parts.join(", ")
}

/// `attempts 2,063/s (2,065/s expected), established 121/s, given up 1,942/s, served 121/s`.
fn attempts(connects: &Connects, offered: Option<f64>) -> String {
    let per_s = connects.per_s.unwrap_or_default();
    let expected = connects.expected_per_s.map(|expected| format!(" ({} expected)", rate(expected)));
    let unless_none = |per_s: f64| Some(per_s).filter(|&per_s| per_s > 0.0);
    let parts = [
        ("offered", offered, None),
        ("attempts", Some(per_s.attempts), expected),
        ("established", Some(per_s.established), None),
        ("refused", unless_none(per_s.refused), None),
        ("given up", unless_none(per_s.timed_out), None),
        ("served", Some(per_s.served), None),
    ];
    let part = |(name, per_s, more): (&str, Option<f64>, Option<String>)| {
        Some(format!("{name} {}{}", rate(per_s?), more.unwrap_or_default()))
    };
    parts.into_iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

/// How long connections took to be established; none unless each request opens its own.
pub fn connecting(summary: &Summary) -> Option<String> {
    summary.connects.as_ref()?;
    let Some(part) = summary.time_split.as_ref().and_then(|split| split.connect) else {
        return Some("no connection was established".to_owned());
    };
    Some(format!(
        "p50 {}, p90 {}, p99 {}, at most {} until a connection was established (n {})",
        time(part.p50),
        time(part.p90),
        time(part.p99),
        time(part.max),
        count(part.n)
    ))
}

/// Whether the generator kept up, and how late it was; none where nothing watched it.
pub fn machine(summary: &Summary) -> Option<(Tone, String)> {
    let generator = summary.generator.as_ref()?;
    let mut parts = Vec::new();
    let mut tone = Tone::Plain;
    if let Some([handling, polling, _]) = busiest_worker(summary) {
        if handling > SATURATED {
            tone = Tone::Bad;
            parts.push(format!("SATURATED ({} of a core)", share(handling)));
        } else {
            parts.push(format!("{} of a core", share(handling + polling)));
        }
    }
    if let Some(p99) = summary.lag.p99 {
        parts.push(format!("send lag p99 {}", time(p99)));
    }
    match generator.stalls.iter().map(|stall| stall.length_s).reduce(f64::max) {
        Some(longest) => {
            let times = plural(generator.stalls.len() as u64, "time");
            parts.push(format!("paused by the system {times} (longest {})", time(longest)));
        }
        None => parts.push("never paused".to_owned()),
    }
    if generator.same_host_as_target == Some(true) {
        parts.push("target on the same machine".to_owned());
    }
    Some((tone, parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(id: FindingId) -> Reason {
        let finding = headway_stats::summary::Finding { id, severity: Severity::Error, ..Default::default() };
        let mut summary = Summary::default();
        summary.verdict.findings.push(finding);
        super::super::reasons(&summary).remove(0)
    }

    #[test]
    fn what_a_machine_lacked_is_why_requests_were_not_sent() {
        let reasons = [reason(FindingId::Unsent), reason(FindingId::LocalLimit)];
        let cause = |unsent, lacked| {
            let mut summary = Summary::default();
            summary.outcomes.insert(Outcome::Unsent.name().to_owned(), unsent);
            summary.outcomes.insert(Outcome::LocalLimit.name().to_owned(), lacked);
            super::cause(&summary, &reasons).unwrap().id.clone()
        };
        assert_eq!(cause(10, 1_164), ReasonId::Finding(FindingId::LocalLimit));
        assert_eq!(cause(1_164, 10), ReasonId::Finding(FindingId::Unsent));
    }
}
