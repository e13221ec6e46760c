//! The first screen of an audit, about 20 lines: the pattern, up to which time scale it was shown, its cause, what cures it in the tool
//! that sent the load, and the load of independent users. Where stamps are too coarse to judge it ends after six lines.
//!
//! Absent: evidence and tables; the detailed page has them (`--details`), as have HTML and JSON.

use super::super::brief::{finding, fitting, is_shown};
use super::super::layout::{Page, WIDTH};
use super::super::verdict::{MEANING, answer};
use crate::Style;
use crate::format::{plural, time};
use crate::words::{self, Answer, ReasonId, Tone, advice, audit as say, brief, estimated};
use headway_stats::Summary;
use headway_stats::summary::{Audit, Severity};

/// Findings beside the cause.
const MOST_FINDINGS: usize = 2;
/// Lines of a fact.
const MOST_LINES: usize = 3;

pub(super) fn render(page: &mut Page, summary: &Summary, audit: &Audit, style: &Style) {
    let coarse = say::is_too_coarse(summary);
    answer(page, "PATTERN", &limited(say::brief_pattern(summary), 2));
    if !coarse {
        if say::is_held_to_a_plan(summary) {
            answer(page, "LOAD", &limited(words::load(summary), 2));
        }
        answer(page, "OUTCOME", &limited(brief::outcome(summary), 2));
        page.blank();
    }
    page.marked(0, "", Tone::Plain, &fitting(&brief::subject(summary), WIDTH, 1));
    if coarse {
        if let Some(text) = audit.files.iter().find_map(|file| file.finer.as_ref()) {
            fact(page, "finer", Tone::Warn, &format!("{text} makes the tool write finer stamps"), 2);
        }
    } else {
        found(page, summary, audit);
        response(page, summary);
        if let Some(text) = estimated::brief(summary) {
            fact(page, "estimated", Tone::Plain, &text, 2);
        }
    }
    if let Some(text) = advice::instead(summary) {
        fact(page, "instead", Tone::Plain, &text, 2);
    }
    if let Some(command) = words::repeat(summary, style) {
        let long = "--details shows files, evidence and tables";
        let text = format!("{command} --details");
        let next = if text.contains('\n') || text.len() + NAME > WIDTH { long } else { &text };
        fact(page, "next", Tone::Strong, next, 1);
    }
}

/// Columns before a labelled text.
const NAME: usize = 14;

fn fact(page: &mut Page, name: &'static str, tone: Tone, text: &str, lines: usize) {
    page.labelled(name, tone, &fitting(text, WIDTH - NAME, lines));
}

fn limited(answer: Answer, lines: usize) -> Answer {
    Answer { meaning: fitting(&answer.meaning, WIDTH - MEANING, lines), ..answer }
}

/// What was read, the time scale, the cause and its cure, and the other findings.
fn found(page: &mut Page, summary: &Summary, audit: &Audit) {
    if let Some((tone, text)) = say::rows_read(audit) {
        fact(page, "read", tone, &text, 2);
    }
    if let Some(scale) = summary.verdict.pattern_scale_s {
        let end = words::end_of_scale(summary);
        fact(page, "scale", Tone::Plain, &format!("up to {}; {end}", time(scale)), 2);
    }
    if let Some(text) = say::effect(summary) {
        fact(page, "effect", Tone::Plain, &text, MOST_LINES);
    }
    let why = say::why(summary, audit);
    if let Some(text) = &why {
        fact(page, "cause", Tone::Warn, text, 2);
    }
    let reasons = words::reasons(summary);
    let is_cause = |id: &ReasonId| matches!(id, ReasonId::Finding(id) if Some(id) == audit.cause.as_ref());
    if let Some(text) = advice::cure(audit, summary.verdict.pattern) {
        fact(page, "cure", Tone::Strong, text, MOST_LINES);
    } else if why.is_some()
        && let Some(next) = reasons.iter().find(|reason| is_cause(&reason.id)).and_then(|by| by.next.as_ref())
    {
        fact(page, "cure", Tone::Strong, next, 1);
    }
    let others: Vec<_> = reasons
        .iter()
        .filter(|reason| reason.severity > Severity::Info && !is_shown(&reason.id) && !is_cause(&reason.id))
        .collect();
    others.iter().take(MOST_FINDINGS).for_each(|reason| finding(page, reason, 2));
    if others.len() > MOST_FINDINGS {
        let more = plural((others.len() - MOST_FINDINGS) as u64, "more finding");
        page.marked(2, "", Tone::Faint, &format!("... and {more}: --details"));
    }
}

fn response(page: &mut Page, summary: &Summary) {
    if let Some(text) = say::response(summary) {
        fact(page, "response", Tone::Plain, &text, 2);
    }
    if let Some(caveat) = words::caveat(summary) {
        let tone = words::load(summary).tone;
        fact(page, "", tone, caveat, 2);
    }
}
