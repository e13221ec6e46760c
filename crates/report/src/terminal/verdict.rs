//! The top of the page: both answers of the verdict, how the requests ended, and the one or two reasons that matter.

use super::layout::{Align, Page, cell, span};
use crate::format::instants;
use crate::words::{self, Answer, Reason, Tone};
use headway_stats::Summary;
use headway_stats::summary::{LoadVerdict, Severity};

/// Reasons that stand at the top; the others follow below the numbers.
const AT_THE_TOP: usize = 2;

/// Writes the top of the page and returns the reasons that are left for later.
pub(super) fn render(page: &mut Page, summary: &Summary) -> Vec<Reason> {
    if summary.verdict.load == Some(LoadVerdict::Invalid) {
        page.banner(
            Tone::Bad,
            "INVALID LOAD. This run did not send the load that was specified. Its percentiles describe another load: do not \
             plan on them.",
        );
        page.blank();
    }
    answer(page, "LOAD", &words::load(summary));
    answer(page, "PATTERN", &words::pattern(summary));
    answer(page, "OUTCOME", &words::answers(summary));
    if let Some(thresholds) = words::thresholds::answer(summary) {
        answer(page, "LIMITS", &thresholds);
    }
    if let Some(text) = words::interruption(summary) {
        page.marked(2, "", Tone::Warn, &text);
    }
    let mut reasons = words::reasons(summary);
    let top = reasons.iter().take(AT_THE_TOP).filter(|reason| reason.severity > Severity::Info).count();
    let below = reasons.split_off(top);
    for reason in &reasons {
        page.blank();
        self::reason(page, reason);
    }
    page.blank();
    page.marked(0, "", Tone::Plain, &words::subject(summary));
    below
}

/// Column at which the meaning of an answer begins.
pub(super) const MEANING: usize = 25;

/// `LOAD     INVALID        the load was NOT sent as specified`
pub(super) fn answer(page: &mut Page, question: &str, answer: &Answer) {
    let (name, word) = (11, MEANING - 11);
    // The meaning wraps under itself, so that the words stay a column of their own.
    for (i, line) in super::layout::wrap(&answer.meaning, page.width() - name - word).into_iter().enumerate()
    {
        let (question, shown) = if i == 0 { (question, answer.word) } else { ("", "") };
        page.line(&[
            span(Tone::Plain, "  "),
            cell(Tone::Strong, question, name - 2, Align::Left),
            cell(answer.tone, shown, word, Align::Left),
            span(if i == 0 && answer.tone == Tone::Bad { Tone::Bad } else { Tone::Plain }, line),
        ]);
    }
}

/// A finding with its evidence, its times and what to do next.
pub(super) fn reason(page: &mut Page, reason: &Reason) {
    let (word, tone) = words::severity(reason.severity);
    let mark = match reason.severity {
        Severity::Error => "!! ",
        Severity::Warning => " ! ",
        Severity::Info => " - ",
    };
    page.marked(2, mark, tone, &format!("{word} {}: {}{}", reason.id, reason.text, reason.id.explained()));
    if !reason.evidence.is_empty() {
        page.marked(5, "", Tone::Plain, &reason.evidence);
    }
    if !reason.at.is_empty() {
        page.marked(5, "", Tone::Plain, &format!("at {}", instants(&reason.at, 4)));
    }
    if let Some(next) = &reason.next {
        page.marked(5, "next: ", Tone::Strong, next);
    }
}
