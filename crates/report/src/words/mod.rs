//! Sentences that every output says alike: what the verdict means, why, what to do next, how requests ended.
//!
//! Plain words for somebody who has never heard of a dispersion index, and the number behind each of them. Absent:
//! layout and colour (an output maps [`Tone`] to its own), and any decision: the verdict is the summary's.

pub mod advice;
mod around;
mod asked;
pub mod audit;
pub mod brief;
pub mod comparison;
pub mod demands;
pub mod doctor;
pub mod estimated;
pub mod export;
pub mod failures;
pub mod findings;
pub mod generator_share;
pub mod model;
mod pattern;
pub mod plan;
mod reasons;
mod rules;
pub mod search;
mod sessions;
pub mod study;
pub mod thresholds;
mod undecided;
mod users;
pub mod waiting;
pub mod why;

pub use asked::{Kind, Row, Table, asked, asked_rate, kind, names, protocols, strays, subject, table, unit};
use pattern::pauses;
pub use pattern::{end_of_scale, pattern};
pub use reasons::{Reason, ReasonId, reasons, severity};
pub use rules::{rule_interval, rule_limits, rule_outcome, rule_statistic, rule_title, rule_value};
pub use sessions::{conditional, conditional_meaning, sessions, split};
pub use users::{method, users};

use crate::format::{count, instant, plural, share, share_of, time};
use headway_base::Outcome;
use headway_stats::Summary;
use headway_stats::summary::{
    FindingId, LoadVerdict, RuleId, RuleOutcome, RuleResult, ShardCoverage, ShardLog, Source,
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

/// How the log of a shard ends, in words.
pub fn shard_log(shard: &ShardCoverage) -> (&'static str, Tone) {
    match shard.log {
        ShardLog::Missing => ("missing", Tone::Bad),
        ShardLog::CutShort => ("cut short", Tone::Bad),
        ShardLog::Complete if shard.done == Some(false) => ("whole, shard not done", Tone::Warn),
        ShardLog::Complete => ("whole", Tone::Plain),
    }
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

/// Was it sent as specified?
pub fn load(summary: &Summary) -> Answer {
    let rules = &summary.verdict.rules;
    let having = |outcome| rules.iter().filter(|rule| rule.outcome == outcome).count() as u64;
    let decided = rules.len() as u64 - having(RuleOutcome::NotApplicable);
    let (word, tone, meaning) = match summary.verdict.load {
        Some(LoadVerdict::Valid) => {
            let meaning = match limited_by(summary) {
                Some(limit) => format!("the load was sent as specified {limit}"),
                None if decided > 1 => format!("the load was sent as specified: all {decided} rules hold"),
                None => "the load was sent as specified".into(),
            };
            ("VALID", Tone::Good, meaning)
        }
        Some(LoadVerdict::Invalid) if kept_by_cap(summary).is_some() => {
            ("INVALID", Tone::Bad, kept_by_cap(summary).unwrap_or_default())
        }
        Some(LoadVerdict::Invalid) => {
            let broken = match having(RuleOutcome::Fail) {
                0 => String::new(),
                failed => format!(": {failed} of {} broken", plural(decided, "rule")),
            };
            ("INVALID", Tone::Bad, format!("the load was NOT sent as specified{broken}"))
        }
        Some(LoadVerdict::Inconclusive) => {
            let open = having(RuleOutcome::Undecided);
            let open = if open == 0 { String::new() } else { format!(" ({} open)", plural(open, "rule")) };
            ("INCONCLUSIVE", Tone::Warn, format!("not known whether the load was sent as specified{open}"))
        }
        None if summary.source == Source::Import && summary.plan.is_none() => (
            "not judged",
            Tone::Plain,
            "the file does not say what load was specified; --expect tells it".into(),
        ),
        None => ("not judged", Tone::Plain, "there is nothing to compare the load with".into()),
    };
    Answer { word, meaning, tone }
}

/// Up to which lateness nothing is held against the load, where lateness itself is; none where it is not.
pub fn lateness(summary: &Summary) -> Option<String> {
    let judged =
        |rule: &RuleResult| rule.rule == RuleId::LateShare && rule.outcome != RuleOutcome::NotApplicable;
    let forgiven = summary.verdict.lateness_s.filter(|_| summary.verdict.rules.iter().any(judged))?;
    Some(format!("lateness of up to L = {} is forgiven", time(forgiven)))
}

/// `sent 58 % of the plan: the cap of 1 connection was full`, where that is what makes the load INVALID.
fn kept_by_cap(summary: &Summary) -> Option<String> {
    let limited = summary.verdict.limited_by.as_ref()?;
    let failed = |rule: &&RuleResult| rule.outcome == RuleOutcome::Fail;
    let rules = &summary.verdict.rules;
    let rule = rules.iter().find(|rule| failed(rule) && headway_stats::thresholds::is_at_cap(rule))?;
    let cap = limited
        .limit
        .map_or("the connection cap".into(), |cap| format!("the cap of {}", plural(cap, "connection")));
    Some(format!("sent {} of the plan: {cap} was full", share(rule.value?)))
}

/// What held requests back although the generator could have sent them, after `sent as specified`: `up to the cap of 1
/// connection: 5.1 % waited for it`. Nothing where that was rare.
fn limited_by(summary: &Summary) -> Option<String> {
    let limited = summary.verdict.limited_by.as_ref().filter(|limited| limited.matters())?;
    let cap = limited
        .limit
        .map_or("the connection cap".into(), |cap| format!("the cap of {}", plural(cap, "connection")));
    let held = limited.waited.saturating_add(limited.given_up);
    let share = |n| share_of(n, limited.n);
    Some(match (limited.waited, limited.given_up) {
        (_, 0) => format!("up to {cap}: {} waited for it", share(held)),
        (0, _) => format!("up to {cap}: {} were given up waiting for it", share(held)),
        (_, given_up) => {
            format!("up to {cap}: {} waited for it, of which {} were given up", share(held), count(given_up))
        }
    })
}

/// How the requests ended: the share of successes, and what the others ended in.
pub fn answers(summary: &Summary) -> Answer {
    let total = total(&summary.outcomes);
    let ok = summary.outcomes.get(Outcome::Ok.name()).copied().unwrap_or(0);
    if total == 0 {
        return Answer {
            word: "none",
            meaning: match summary.audit {
                Some(_) => "the files hold no request".into(),
                None => "no request fell due, so there is nothing to report".into(),
            },
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
    if !tells_outcomes(summary) {
        return Answer { word: "n/a", meaning: NOT_TOLD.into(), tone: Tone::Plain };
    }
    let (word, tone, meaning) = if failures.is_empty() {
        let ok = match is_one_way(summary) {
            true => format!("{} {ONE_WAY}", plural(total, "request")),
            false => format!("{} answered as expected", plural(total, "request")),
        };
        match summary.audit.as_ref().and_then(|audit| audit.unrecorded.as_deref()) {
            Some(clause) => ("no failures", Tone::Plain, format!("{ok}; {clause}")),
            None => ("all ok", Tone::Good, ok),
        }
    } else {
        let not_sent = |name: &str| [Outcome::Unsent.name(), Outcome::LocalLimit.name()].contains(&name);
        let word = match () {
            () if ok == 0 => "none ok",
            () if failures.iter().all(|(name, _)| not_sent(name)) => "some not sent",
            () => "some failed",
        };
        let tone = if ok == 0 { Tone::Bad } else { Tone::Warn };
        let failed = total - ok;
        (
            word,
            tone,
            format!(
                "{} of {} ({}): {}{}",
                count(failed),
                count(total),
                share_of(failed, total),
                parts.join(", "),
                match summary.audit.as_ref().and_then(|audit| audit.unrecorded.as_deref()) {
                    Some(clause) => format!("; {clause}"),
                    None => String::new(),
                }
            ),
        )
    };
    Answer { word, meaning, tone }
}

/// What became of a request that is not to be answered.
pub const ONE_WAY: &str = "sent; no response is expected";

/// What stands in place of their times.
pub const NO_RESPONSE_TIME: &str =
    "none: no response is expected, and the send lag below says how late requests left";

/// Whether requests were to be sent alone, and nothing was to come back.
pub fn is_one_way(summary: &Summary) -> bool {
    let answer = summary.plan.as_ref().and_then(|plan| plan.answer.as_deref());
    answer.and_then(|text| headway_base::Answer::parse(text).ok()) == Some(headway_base::Answer::None)
}

/// Why nothing is said of how requests ended.
pub const NOT_TOLD: &str = "the file does not tell how requests ended";

/// Whether it is known how requests ended. Of another tool's rows that tell nothing each counts as a success; where one is
/// a failure they do tell.
pub fn tells_outcomes(summary: &Summary) -> bool {
    let failed = summary.outcomes.iter().any(|(name, &n)| name != Outcome::Ok.name() && n > 0);
    failed || !summary.not_computed.contains_key("outcomes")
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

/// How requests failed, by outcome and status code, the most frequent first. Documents of 0.1.0 have the outcomes alone.
pub fn kinds_of_failure(summary: &Summary) -> Vec<(&str, Option<u16>, u64)> {
    let mut kinds: BTreeMap<(&str, Option<u16>), u64> = BTreeMap::new();
    for failure in &summary.failures {
        let n = kinds.entry((&failure.outcome, failure.status)).or_default();
        *n = n.saturating_add(failure.n);
    }
    let mut kinds: Vec<_> = kinds.into_iter().map(|((name, status), n)| (name, status, n)).collect();
    if kinds.is_empty() {
        let failed = outcomes(summary).into_iter().filter(|&(name, n)| name != Outcome::Ok.name() && n > 0);
        kinds = failed.map(|(name, n)| (name, None, n)).collect();
    }
    kinds.sort_by_key(|&(.., n)| std::cmp::Reverse(n));
    kinds
}

/// What an outcome means; nothing for a name that this version does not know.
pub fn outcome_meaning(name: &str) -> &'static str {
    match Outcome::from_name(name) {
        Some(Outcome::Ok) => "answered as expected",
        Some(Outcome::Status) => "answered with a failure status",
        Some(Outcome::Check) => "answered, but a check did not hold",
        Some(Outcome::Protocol) => "the response broke the protocol",
        Some(Outcome::TooLarge) => "the response was larger than allowed",
        Some(Outcome::Timeout) => "no complete response in time",
        Some(Outcome::ConnectTimeout) => "no connection in time",
        Some(Outcome::Refused) => "the connection was refused",
        Some(Outcome::Reset) => "closed before the response was complete",
        Some(Outcome::Dns) => "the target's name did not resolve",
        Some(Outcome::Tls) => "the TLS handshake failed",
        Some(Outcome::LocalLimit) => "not sent: no descriptor or port",
        Some(Outcome::Shed) => "gave up waiting for a connection",
        Some(Outcome::Cancelled) => "cancelled by the user",
        Some(Outcome::Unfinished) => "the run ended before the response",
        Some(Outcome::Unsent) => "not sent: too late, or no value for a template",
        Some(Outcome::RefusedStream) => "refused by the target, unread (HTTP/2)",
        Some(Outcome::IdleTimeout) => "the response began and then stood still",
        None => "",
    }
}

/// What a percentile of this run must carry beside it; nothing if the load was sent as specified.
pub fn caveat(summary: &Summary) -> Option<&'static str> {
    match summary.verdict.load {
        Some(LoadVerdict::Invalid) => {
            Some("INVALID load: measured under another load than the one specified")
        }
        Some(LoadVerdict::Inconclusive) => {
            Some("INCONCLUSIVE load: perhaps measured under another load than the one specified")
        }
        _ => None,
    }
}

/// What an interrupted run lost; nothing for one that ran to its end, or where a finding says so already.
pub fn interruption(summary: &Summary) -> Option<String> {
    let known = summary
        .verdict
        .findings
        .iter()
        .any(|finding| matches!(finding.id, FindingId::Interrupted | FindingId::Aborted));
    (summary.measured.interrupted && !known).then(|| {
        format!(
            "Interrupted at {}: the numbers cover what fell due before that, {}.",
            instant(summary.measured.to_s),
            plural(summary.measured.n, asked::unit(summary))
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

/// What a run of one shard must say of itself.
pub const ONE_SHARD: &str = "these numbers are one shard's, which judges no threshold; `headway merge` makes one run of all shards' folders";

/// The command that repeats the run. The seed is added where the known command leaves it to chance; reading another
/// tool's file has none.
pub fn repeat(summary: &Summary, style: &crate::Style) -> Option<String> {
    let known = style.repeat.as_deref().or(summary.command.as_deref())?;
    match summary.seed {
        Some(seed) if style.repeat.is_none() && !known.contains("--seed") => {
            Some(format!("{known} --seed {seed}"))
        }
        _ => Some(known.to_owned()),
    }
}

/// What a command holds that was hidden as a secret; none if nothing was.
pub fn hidden(command: &str) -> Option<String> {
    const MARK: &str = "<redacted>";
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.[]%$".contains(c);
    let mut parts: Vec<String> = Vec::new();
    for (at, _) in command.match_indices(MARK) {
        let before = command[..at].trim_end_matches('\'');
        let name = |text: &str| text.rsplit(|c| !is_of_name(c)).next().unwrap_or_default().to_owned();
        let part = match before {
            lead if lead.trim_end().ends_with("-b")
                || lead.ends_with("--body=")
                || lead.ends_with("--body ") =>
            {
                "the body".to_owned()
            }
            lead if lead.ends_with('=') => name(&lead[..lead.len() - 1]),
            lead if lead.ends_with(": ") => {
                format!("header {}", name(&lead[..lead.len() - 2]).trim_start_matches("-H"))
            }
            lead if lead.ends_with('#') => "what follows # in the URL".to_owned(),
            _ if command[at + MARK.len()..].starts_with('@') => "user and password of the URL".to_owned(),
            _ => "a value".to_owned(),
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| format!("{}: write them in before you repeat it", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdicts_line_says_what_the_cap_did() {
        use headway_stats::summary::LimitedBy;
        let mut summary = Summary::default();
        summary.verdict.load = Some(LoadVerdict::Valid);
        let mut meaning = |waited, given_up| {
            let share = (waited + given_up) as f64 / 1e4;
            let limited =
                LimitedBy { share, tolerated: 0.01, waited, given_up, n: 10_000, ..LimitedBy::default() };
            summary.verdict.limited_by = Some(LimitedBy { limit: Some(1), ..limited });
            load(&summary).meaning
        };
        let up_to = "the load was sent as specified up to the cap of 1 connection: ";
        assert_eq!(meaning(510, 0), format!("{up_to}5.10 % waited for it"));
        assert_eq!(meaning(500, 10), format!("{up_to}5.10 % waited for it, of which 10 were given up"));
        assert_eq!(meaning(0, 510), format!("{up_to}5.10 % were given up waiting for it"));
        assert_eq!(meaning(99, 0), "the load was sent as specified");
    }

    #[test]
    fn hidden_parts_of_a_command_are_named() {
        let of = |command: &str| hidden(command).unwrap_or_default();
        assert_eq!(of("headway run http://h/ --seed 1"), "");
        assert_eq!(
            of(
                "headway run 'http://<redacted>@h/?token=<redacted>&sig=<redacted>#<redacted>' -H 'Authorization: <redacted>' \
                '-HCookie: <redacted>' -b '<redacted>' --seed 7"
            ),
            "user and password of the URL, token, sig, what follows # in the URL, header Authorization, header Cookie, the body: \
             write them in before you repeat it"
        );
        assert_eq!(of("headway run h '--body=<redacted>'"), "the body: write them in before you repeat it");
    }

    #[test]
    fn successes_that_no_row_tells_of_are_not_claimed() {
        let mut summary = Summary { outcomes: [("ok".to_owned(), 7)].into(), ..Summary::default() };
        assert_eq!((answers(&summary).word, answers(&summary).tone), ("all ok", Tone::Good));
        let unrecorded = Some("requests that got no answer are not in the file".to_owned());
        summary.audit = Some(headway_stats::summary::Audit { unrecorded, ..Default::default() });
        assert_eq!((answers(&summary).word, answers(&summary).tone), ("no failures", Tone::Plain));
        assert!(answers(&summary).meaning.ends_with("; requests that got no answer are not in the file"));
        summary.not_computed.insert("outcomes".into(), headway_stats::summary::Why::OutcomesNotTold.into());
        assert_eq!((answers(&summary).word, &*answers(&summary).meaning), ("n/a", NOT_TOLD));
        summary.outcomes.insert("status".into(), 1);
        assert_eq!(answers(&summary).word, "some failed");
    }
}
