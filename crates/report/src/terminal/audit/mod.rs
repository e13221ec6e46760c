//! What the terminal shows of an audit: the pattern first, what was read, what was found, then the numbers.
//!
//! Sections without anything to say are left out; a headline number that is missing is named at the end with its reason.
//! Absent: all labels of a long list, all bins of a histogram; the other outputs have them.

mod bars;
mod tables;

use super::grid::shorten;
use super::layout::{Page, span};
use super::{machine, numbers, verdict};
use crate::words::audit::Fact;
use crate::words::{self, Tone};
use crate::{Style, format};
use headway_stats::Summary;
use headway_stats::summary::{Audit, LoadVerdict};

/// Files that are shown one by one.
const MOST_FILES: usize = 8;

/// The whole page.
pub(super) fn render(page: &mut Page, summary: &Summary, audit: &Audit, style: &Style) {
    top(page, summary);
    files(page, audit);
    numbers::facts(page, "Judged", &words::audit::selection(summary, audit));
    findings(page, summary);
    if summary.plan.is_some() {
        numbers::arrivals(page, summary);
    }
    numbers::facts(page, "Pattern", &words::audit::starts(summary));
    tables::by_label(page, summary, audit);
    tables::dispersion(page, summary);
    if words::outcomes(summary).iter().any(|&(name, _)| name != "ok") {
        numbers::outcomes(page, summary);
    }
    tables::failures(page, audit);
    numbers::facts(page, "Users", &summary.closed.as_ref().map(words::audit::closed).unwrap_or_default());
    tables::groups(page, summary);
    bars::headways(page, summary);
    bars::counts(page, audit);
    missing(page, summary);
    machine::repeat(page, summary, style);
}

fn top(page: &mut Page, summary: &Summary) {
    if summary.verdict.load == Some(LoadVerdict::Invalid) {
        page.banner(
            Tone::Bad,
            "INVALID LOAD. The files do not hold the load that was expected. Their percentiles describe another load: \
             do not plan on them.",
        );
        page.blank();
    }
    verdict::answer(page, "PATTERN", &words::pattern(summary));
    if summary.verdict.load.is_some() || summary.plan.is_some() {
        verdict::answer(page, "LOAD", &words::load(summary));
    }
    verdict::answer(page, "OUTCOME", &words::answers(summary));
    page.blank();
    page.marked(0, "", Tone::Plain, &words::subject(summary));
}

fn lines(page: &mut Page, facts: &[Fact]) {
    for fact in facts {
        page.labelled(fact.name, fact.tone, &fact.text);
    }
}

fn files(page: &mut Page, audit: &Audit) {
    if audit.files.is_empty() {
        return;
    }
    page.heading("Files");
    for file in audit.files.iter().take(MOST_FILES) {
        let path = if file.path == "-" { "standard input" } else { &file.path };
        // Two columns of indent on either side.
        let path = shorten(&format::visible(path), super::WIDTH - 4);
        page.line(&[span(Tone::Plain, "  "), span(Tone::Strong, path)]);
        lines(page, &words::audit::file(file, audit));
    }
    if audit.files.len() > MOST_FILES {
        let more = format::plural((audit.files.len() - MOST_FILES) as u64, "more file");
        page.marked(2, "", Tone::Faint, &format!("and {more}; --html and --json show all"));
    }
}

fn findings(page: &mut Page, summary: &Summary) {
    let reasons = words::reasons(summary);
    if reasons.is_empty() {
        return;
    }
    page.heading("Findings");
    for reason in &reasons {
        verdict::reason(page, reason);
    }
}

fn missing(page: &mut Page, summary: &Summary) {
    let missing = words::audit::missing(summary);
    if missing.is_empty() {
        return;
    }
    page.heading("Not computed");
    for (paths, reason) in missing {
        page.marked(2, "", Tone::Plain, &format!("{paths}: {reason}"));
    }
}
