//! The pattern of the starts in one sentence: the word, the time scale, what ends it, what it rests on.
//!
//! Absent: the decision, and what is open where there is none (`undecided`).

use super::findings::longest_gaps;
use super::{Answer, Tone, asked, audit, undecided};
use crate::format::{chosen, count, number, rate, time};
use headway_stats::Summary;
use headway_stats::summary::evidence::Cause;
use headway_stats::summary::{Evidence, FindingId, Pattern, RuleId, RuleOutcome, RuleResult, ScaleEnd};

/// A user has to take so many turns for the load to be that of users who take turns.
const TURNS: f64 = 3.0;

/// Counts of users who take turns vary less from about a tenth of a turn on.
const PART_OF_A_TURN: f64 = 0.02;

/// Are the starts like those of independent users?
pub fn pattern(summary: &Summary) -> Answer {
    let asked = summary.plan.as_ref().and_then(|plan| plan.gap_cov);
    let as_asked = |is: bool| if is { ", as the plan asks" } else { "" };
    let (tone, meaning) = match summary.verdict.pattern {
        Pattern::Independent => (Tone::Good, independent(summary)),
        Pattern::Bunched => {
            let same = as_asked(asked.is_some_and(|cov| cov > 1.05));
            let text =
                format!("more clustered than independent users{same}; queues look longer than with them");
            (Tone::Warn, text + &because(summary))
        }
        Pattern::Even => {
            let same = as_asked(asked.is_some_and(|cov| cov < 0.95));
            let text =
                format!("more regular than independent users{same}; queues look shorter than with them");
            (Tone::Warn, text + &because(summary))
        }
        Pattern::Periodic => {
            (Tone::Warn, format!("starts keep a period, which independent users do not{}", because(summary)))
        }
        Pattern::Undecided => (Tone::Plain, undecided::why(summary)),
        Pattern::NotApplicable if asked::kind(summary) == asked::Kind::Connecting => (
            Tone::Plain,
            "when a socket connects again follows from the target and from the connect timeout".to_owned(),
        ),
        Pattern::NotApplicable if summary.arrivals.n > 0 => (
            Tone::Plain,
            "the number of users changes over the measured phase, and the starts with it".to_owned(),
        ),
        Pattern::NotApplicable => (Tone::Plain, "no starts to judge".to_owned()),
    };
    let word = summary.verdict.pattern.word();
    Answer { word, meaning: meaning + &audit::evidence(summary) + &without_pauses(summary), tone }
}

fn independent(summary: &Summary) -> String {
    let verdict = &summary.verdict;
    let judged = asked::judged(summary);
    let Some(scale) = verdict.pattern_scale_s else {
        return format!("the {judged} start like those of independent users");
    };
    let end = end_of_scale(summary);
    format!("up to {} the {judged} start like those of independent users; {end}", time(scale))
}

/// What there is beyond the time scale up to which starts are like those of independent users.
pub fn end_of_scale(summary: &Summary) -> String {
    let source = if summary.audit.is_some() { "file" } else { "run" };
    match summary.verdict.pattern_scale_end {
        Some(ScaleEnd::Fewer) => format!("beyond, {}", fewer(summary)),
        Some(ScaleEnd::Drift) => format!("beyond, {}", drift(summary)),
        Some(ScaleEnd::More) => {
            "beyond, their number varies a little more than that of independent users".into()
        }
        Some(ScaleEnd::Length) | None => format!("the {source} is too short to show more"),
    }
}

/// From which rate to which it changes.
fn drift(summary: &Summary) -> String {
    let finding = summary.verdict.findings.iter().find(|finding| finding.id == FindingId::ChangingRate);
    match finding.map(|finding| &finding.evidence[..]) {
        Some([Evidence::Cause(Cause::Drift { from, to, straight: true, .. })]) => {
            format!("the rate changes from {} to {}", number(*from), rate(*to))
        }
        Some([Evidence::Cause(Cause::Drift { from, to, .. })]) => {
            format!("the rate varies between {} and {}", number(*from), rate(*to))
        }
        Some([Evidence::Cause(Cause::OtherRate { rate: held, other, from_s, to_s })]) => {
            format!(
                "the rate is {} from {} to {}, and {} before and after",
                rate(*other),
                time(*from_s),
                time(*to_s),
                rate(*held)
            )
        }
        Some([Evidence::Cause(Cause::ChangingRate { rate: held, from_s, to_s, .. })]) => {
            format!("the rate is {} only from {} to {}", rate(*held), time(*from_s), time(*to_s))
        }
        Some([Evidence::Cause(Cause::Ramp { at_end, ramp_s, .. })]) => {
            let (goes, part) = if *at_end { ("falls", "last") } else { ("rises", "first") };
            format!("the rate {goes} during the {part} {}", time(*ramp_s))
        }
        _ => "the rate changes".to_owned(),
    }
}

/// Why counts vary less over longer windows.
fn fewer(summary: &Summary) -> String {
    let verdict = &summary.verdict;
    if let Some(n) = verdict.starts_each_second {
        return format!("exactly {} start in each second", count(n));
    }
    let first = verdict.pattern_rules.iter().find(|rule| is_below(rule)).and_then(|rule| rule.window);
    let users = summary.closed.as_ref().and_then(|closed| closed.users).filter(|&users| {
        let turn = users / summary.arrivals.rate.unwrap_or(0.0);
        summary.arrivals.started as f64 >= TURNS * users && first.is_some_and(|w| w >= PART_OF_A_TURN * turn)
    });
    match users {
        Some(users) => format!("{} users take turns", count(users.round() as u64)),
        None => "their number varies less than that of independent users".into(),
    }
}

fn is_below(rule: &RuleResult) -> bool {
    let under = rule.value.zip(rule.limits.low).is_some_and(|(value, low)| value < low);
    rule.rule == RuleId::Dispersion && rule.outcome == RuleOutcome::Fail && under
}

/// The measure that tells the starts from those of independent users: the CoV first, then the counts, and so on.
pub(super) fn decides(summary: &Summary) -> Option<&RuleResult> {
    let verdict = &summary.verdict;
    if !matches!(verdict.pattern, Pattern::Bunched | Pattern::Even | Pattern::Periodic) {
        return None;
    }
    let bunched = verdict.pattern == Pattern::Bunched;
    let failed = |id: RuleId| {
        let fits = |rule: &&RuleResult| {
            let above = rule.value.zip(rule.limits.high).is_some_and(|(value, high)| value > high);
            // A distance and an amplitude have one side only.
            rule.rule == id
                && rule.outcome == RuleOutcome::Fail
                && (above == bunched || matches!(id, RuleId::Ks | RuleId::Line))
        };
        verdict.pattern_rules.iter().find(fits)
    };
    // Where only a line is seen, the CoV may still show which way the starts are off.
    let shows = |rule: &&RuleResult| {
        let way = |[low, high]: [f64; 2]| if bunched { low > 1.0 } else { high < 1.0 };
        rule.rule == RuleId::Cov && verdict.pattern != Pattern::Periodic && rule.interval.is_some_and(way)
    };
    [RuleId::Cov, RuleId::Dispersion, RuleId::Lag1, RuleId::Ks]
        .into_iter()
        .find_map(failed)
        .or_else(|| verdict.pattern_rules.iter().find(shows))
        .or_else(|| failed(RuleId::Line))
}

/// The measure that tells the starts from those of independent users, where it is another than the CoV, which is shown anyway.
fn because(summary: &Summary) -> String {
    let verdict = &summary.verdict;
    if let Some(period) = verdict.pattern_repeats_s {
        let starts = summary.arrivals.rate.map_or(0.0, |rate| (rate * period).round());
        return match starts as u64 {
            0 | 1 => format!(" (one start every {})", time(period)),
            n => format!(" (the same {} starts repeat every {})", count(n), time(period)),
        };
    }
    // An audit shows it with its interval.
    let rule = decides(summary).filter(|rule| rule.rule != RuleId::Cov && summary.audit.is_none());
    let Some((rule, value)) = rule.and_then(|rule| Some((rule, rule.value?))) else { return String::new() };
    format!(" ({} {})", super::rules::row(rule).measure, number(value))
}

/// Times of pauses that are told.
const MOST_TIMES: usize = 5;

/// Pauses in another tool's load that independent users do not make, after a word that joins them: `, but for 5 pauses of up to 300 ms (at 31 s, 97 s ...)`.
pub(super) fn pauses(summary: &Summary, join: &str) -> String {
    let finding = summary.verdict.findings.iter().find(|finding| finding.id == FindingId::LongestGaps);
    let finding = finding.filter(|_| summary.audit.is_some());
    let Some((finding, longest)) = finding.and_then(|finding| Some((finding, finding.value?))) else {
        return String::new();
    };
    let times =
        finding.at.iter().take(MOST_TIMES).map(|at| chosen(at[0].round())).collect::<Vec<_>>().join(", ");
    let more = if finding.at.len() > MOST_TIMES { " ..." } else { "" };
    let pauses = match finding.n {
        1 => "a pause of".to_owned(),
        n => format!("{} pauses of up to", count(n)),
    };
    format!("{join}{pauses} {} (at {times}{more} s)", time(longest))
}

/// That a few pauses change the pattern.
fn without_pauses(summary: &Summary) -> String {
    let finding = summary.verdict.findings.iter().find(|finding| finding.id == FindingId::LongestGaps);
    let longest = finding.and_then(|finding| Some((finding.n, finding.value?)));
    let Some(((n, longest_s), otherwise)) = longest.zip(summary.verdict.pattern_otherwise) else {
        return String::new();
    };
    format!(". {}", longest_gaps(n, longest_s, summary.verdict.pattern, otherwise))
}
