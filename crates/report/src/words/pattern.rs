//! The pattern of the starts in one sentence: the word, the time scale, what ends it, what it rests on.
//!
//! Absent: the decision, and what is open where there is none (`undecided`).

use super::findings::longest_gaps;
use super::{Answer, Tone, asked, audit, undecided};
use crate::format::{count, number, time};
use headway_stats::Summary;
use headway_stats::summary::{FindingId, Pattern, RuleId, RuleOutcome, RuleResult, ScaleEnd};

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
        Some(ScaleEnd::More) => {
            "beyond, their number varies a little more than that of independent users".into()
        }
        Some(ScaleEnd::Length) | None => format!("the {source} is too short to show more"),
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
    if failed(RuleId::Cov).is_some() {
        return String::new();
    }
    let rule = [RuleId::Dispersion, RuleId::Lag1, RuleId::Ks, RuleId::Line].into_iter().find_map(failed);
    let Some((rule, value)) = rule.and_then(|rule| Some((rule, rule.value?))) else { return String::new() };
    format!(" ({} {})", undecided::measure(rule), number(value))
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
