//! What the terminal shows of an audit: the answer on one screen (`first`), or, with `--details`, the pattern first, what was read, what
//! was found, then the numbers.
//!
//! Sections without anything to say are left out; a headline number that is missing is named at the end with its reason.
//! Absent: all labels of a long list, all bins of a histogram; the other outputs have them.

mod bars;
mod first;

use super::content::section;
use super::layout::Page;
use super::{machine, numbers, verdict};
use crate::Style;
use crate::content::audit as content;
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{Audit, LoadVerdict};

/// The first screen, or the whole page.
pub(super) fn render(page: &mut Page, summary: &Summary, audit: &Audit, style: &Style) {
    if !style.details {
        return first::render(page, summary, audit, style);
    }
    top(page, summary);
    let sections = content::all(summary, audit);
    let (read, numbers): (Vec<_>, Vec<_>) =
        sections.into_iter().partition(|section| matches!(section.id, "files" | "judged"));
    read.iter().for_each(|part| section(page, part));
    findings(page, summary);
    if summary.plan.is_some() {
        numbers::arrivals(page, summary);
    }
    numbers.iter().for_each(|part| section(page, part));
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
    if words::audit::is_held_to_a_plan(summary) {
        verdict::answer(page, "LOAD", &words::load(summary));
    }
    verdict::answer(page, "OUTCOME", &words::answers(summary));
    page.blank();
    page.marked(0, "", Tone::Plain, &words::subject(summary));
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
