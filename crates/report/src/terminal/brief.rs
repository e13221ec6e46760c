//! The first screen of a run: at most 22 lines when all is well and there is one step. Each threshold, kind of failure, step and part of a
//! model adds a line, each finding at most three, as do the reasons of a kind of failure and what helps.
//!
//! Deliberately absent: evidence, reasons of missing numbers, and rows that few need. The detailed page has them (`--details`), as have
//! HTML and JSON.

use super::content::table;
use super::grid::{Grid, shorten};
use super::layout::{INDENT, Page, WIDTH, columns, span, wrap};
use super::verdict::{MEANING, answer};
use super::{beside, command, histogram, numbers};
use crate::Style;
use crate::content::{self, Block};
use crate::format::{STEPPED_MARK, count, number, plural, share_of, visible};
use crate::words::{self, Answer, Reason, ReasonId, Tone, brief};
use headway_stats::Summary;
use headway_stats::summary::{FindingId, LabelSummary, ModelPart, Severity, Why};

/// Rows of labels, and of the parts of a model.
const MOST_ROWS: usize = 8;
/// Kinds of failure.
const MOST_FAILURES: usize = 4;
/// Stands before what to do about it.
const NEXT: &str = "next: ";
/// Lines of what a finding says, before what to do next.
const MOST_OF_A_FINDING: usize = 2;

/// The first screen of a run that is not another tool's.
pub(super) fn render(page: &mut Page, summary: &Summary, style: &Style) {
    // What failed is what the run was made for: it stands above what the generator did.
    let first = brief::fails(summary);
    if first {
        answer(page, "OUTCOME", &brief::outcome(summary));
        failures(page, summary);
    }
    answer(page, "LOAD", &words::load(summary));
    answer(page, "PATTERN", &brief::pattern(summary));
    if !first {
        answer(page, "OUTCOME", &brief::outcome(summary));
        failures(page, summary);
    }
    thresholds(page, summary);
    if let Some(text) = words::interruption(summary) {
        page.marked(2, "", Tone::Warn, &text);
    }
    let reasons = words::reasons(summary);
    let mut findings =
        reasons.iter().filter(|reason| reason.severity > Severity::Info && !is_shown(&reason.id)).peekable();
    if findings.peek().is_some() {
        page.blank();
    }
    findings.for_each(|reason| finding(page, reason));
    page.blank();
    page.marked(0, "", Tone::Plain, &fitting(&brief::subject(summary), WIDTH, 2));
    page.labelled("load", Tone::Plain, &brief::load(summary));
    if let Some(text) = brief::connecting(summary) {
        page.labelled("connect", Tone::Plain, &text);
    }
    if let Some(text) = summary.plan.as_ref().and_then(|plan| words::plan::left_out(plan.log.as_ref()?)) {
        page.labelled("log", Tone::Plain, &text);
    }
    times(page, summary);
    histogram::render(page, summary, style);
    beside::run(page, summary);
    model(page, summary);
    labels(page, summary);
    if let Some((tone, text)) = brief::machine(summary) {
        page.labelled("generator", tone, &text);
    }
    if let Some(rights) = summary.generator.as_ref().and_then(words::waiting::rights) {
        page.labelled("rights", Tone::Plain, rights);
    }
    if let Some(advice) = words::doctor::advice(summary) {
        page.labelled("machine", Tone::Plain, &advice);
    }
    end(page, summary, style);
}

/// Whether the outcomes and the marks of lower bounds say the same.
pub(super) fn is_shown(id: &ReasonId) -> bool {
    matches!(id, ReasonId::Finding(FindingId::Errors | FindingId::Censored))
}

/// Cause and remedy, at most three lines.
pub(super) fn finding(page: &mut Page, reason: &Reason) {
    let (word, tone) = words::severity(reason.severity);
    let mark = if reason.severity == Severity::Error { "  !! " } else { "   ! " };
    let room = WIDTH - columns(mark);
    page.marked(
        0,
        mark,
        tone,
        &fitting(&format!("{word} {}: {}", reason.id, reason.text), room, MOST_OF_A_FINDING),
    );
    if let Some(next) = &reason.next {
        page.marked(5, NEXT, Tone::Strong, &fitting(next, room - NEXT.len(), 1));
    }
}

/// Columns to which words of names are shortened in the middle where a sentence would not fit with all of them.
const SHORT: usize = 24;

/// As many whole sentences as fit on those lines. Of a first one that is too long long words, which are names, are shortened in the
/// middle, then all of it.
pub(super) fn fitting(text: &str, width: usize, lines: usize) -> String {
    let text = visible(text);
    let fits = |text: &str| wrap(text, width).len() <= lines;
    let ends = text.match_indices(". ").map(|(at, _)| at + 1).chain([text.len()]);
    if let Some(end) = ends.clone().filter(|&end| fits(&text[..end])).last() {
        return text[..end].to_owned();
    }
    let first = &text[..ends.min().unwrap_or(text.len())];
    let words = |longest| {
        let words: Vec<String> = first.split_whitespace().map(|word| shorten(word, longest)).collect();
        words.join(" ")
    };
    let short = words(SHORT.min(width));
    if fits(&short) {
        return short;
    }
    // Lines end where words do: how much of the text they hold is found by trying.
    let cut = (1..=width * lines).rev().map(|room| shorten(&short, room));
    cut.into_iter().find(|cut| fits(cut)).unwrap_or_default()
}

/// One line each: what was demanded, and what it was judged on.
fn thresholds(page: &mut Page, summary: &Summary) {
    for threshold in &summary.thresholds {
        let interval = words::thresholds::interval(threshold);
        let interval = if interval == "-" { String::new() } else { format!(" ({interval})") };
        let value = format!(": {}{interval}", words::thresholds::value(threshold));
        let (word, tone) = words::thresholds::outcome(threshold.outcome);
        let room = (WIDTH - MEANING).saturating_sub(columns(&value));
        let mut meaning = shorten(&visible(&threshold.text), room) + &value;
        let grows = threshold.reason.as_ref().filter(|stated| matches!(stated.why, Why::Throughout { .. }));
        let reason = words::thresholds::certainty(threshold).or_else(|| grows.map(words::why::why));
        if let Some(reason) = reason {
            meaning = format!("{meaning}; {reason}");
        }
        answer(page, "LIMIT", &Answer { word, meaning, tone });
    }
}

/// Response and service time with their intervals.
fn times(page: &mut Page, summary: &Summary) {
    if words::is_one_way(summary) {
        return page.labelled("times", Tone::Plain, words::NO_RESPONSE_TIME);
    }
    page.blank();
    let mut flag = "  ";
    if let Some(caveat) = words::caveat(summary) {
        let tone = words::load(summary).tone;
        flag = if tone == Tone::Bad { "!!" } else { " !" };
        page.marked(0, &format!("{flag} "), tone, caveat);
    }
    let (mut missing, mut stepped) = (false, false);
    for block in content::run::times(summary).blocks {
        let Block::Table(mut times) = block else { continue };
        let cells = times.rows.iter_mut().flat_map(|row| &mut row.cells);
        for cell in cells {
            missing |= cell.why.take().is_some();
            stepped |= cell.interval.as_ref().is_some_and(|interval| interval.ends_with(STEPPED_MARK));
        }
        table(page, &times, flag);
    }
    let conditional = words::conditional(summary);
    let conditional = conditional.trim().trim_matches(['(', ')']);
    let notes = [
        (!conditional.is_empty(), conditional),
        (missing, "- not computed: see --details"),
        (summary.response.censored > 0, "> lower bound: some got no response"),
        (stepped, "^ holds in more than 95 % of runs: --details"),
        (
            words::generator_share::marked(summary).is_some(),
            "* over 5 % of it may be the generator's own delay: --details",
        ),
    ];
    let notes: Vec<&str> = notes.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect();
    if !notes.is_empty() {
        page.marked(3, "", Tone::Faint, &notes.join("; "));
    }
    numbers::successes(page, summary);
}

/// The parts of a model, the busiest first, and whether the simulation is steady.
fn model(page: &mut Page, summary: &Summary) {
    let Some(simulation) = &summary.simulation else { return };
    let mut parts: Vec<&ModelPart> = simulation.parts.iter().collect();
    let load = |part: &ModelPart| part.utilisation.unwrap_or(0.0);
    parts.sort_by(|a, b| load(b).total_cmp(&load(a)));
    page.blank();
    let mut grid = Grid::new(["model", "copies", "load", "in it", "requests", "failed"]);
    for part in parts.iter().take(MOST_ROWS) {
        let cells = [
            part.name.clone(),
            count(part.copies),
            words::model::load(part),
            number(part.number),
            count(part.requests),
            share_of(part.failed, part.requests),
        ];
        grid.row(words::model::load_tone(part), cells.to_vec());
    }
    grid.print(page);
    more(page, parts.len(), "part");
    let steady = words::model::model(summary).into_iter().find(|fact| fact.name == "steady");
    if let Some(fact) = steady {
        page.labelled(fact.name, fact.tone, &fact.text);
    }
}

/// How requests failed, the most frequent first.
fn failures(page: &mut Page, summary: &Summary) {
    if !words::tells_outcomes(summary) {
        return;
    }
    let kinds = brief::failures(summary);
    for kind in kinds.iter().take(MOST_FAILURES) {
        let line = [
            span(Tone::Plain, " ".repeat(MEANING)),
            span(Tone::Bad, format!("{} ", count(kind.n))),
            span(Tone::Plain, kind.what.clone()),
        ];
        page.line(&line);
        let room = WIDTH - 5 - NEXT.len();
        let advice = kind.advice.first().map(|advice| fitting(advice, room, 2));
        // Why and what helps take three lines: what helps is whole.
        let lines = (3 - advice.as_ref().map_or(0, |advice| wrap(advice, room).len())).min(2);
        let shown = kind.why.len().min(lines);
        let more = kind.more + kind.why.len() - shown;
        for (i, why) in kind.why.iter().take(shown).enumerate() {
            let more = match more {
                1.. if i + 1 == shown => format!(" ... and {}", plural(more as u64, "more reason")),
                _ => String::new(),
            };
            let text = fitting(why, WIDTH - 5 - more.len(), lines / shown);
            page.marked(5, "", Tone::Plain, &format!("{text}{more}"));
        }
        if let Some(advice) = advice {
            page.marked(5, NEXT, Tone::Strong, &advice);
        }
    }
    if kinds.len() > MOST_FAILURES {
        let rest = plural((kinds.len() - MOST_FAILURES) as u64, "more kind");
        page.marked(MEANING, "", Tone::Faint, &format!("... and {rest}: --details"));
    }
}

/// Steps, or labels, the slowest first.
fn labels(page: &mut Page, summary: &Summary) {
    if summary.by_label.len() < 2 {
        return;
    }
    let Some(section) = content::run::labels(summary) else { return };
    let slowest = |label: &LabelSummary| label.response.p99.or(label.response.mean).unwrap_or(0.0);
    for block in section.blocks {
        let Block::Table(mut labels) = block else { continue };
        let of = |name: &str| summary.by_label.get(name).map_or(0.0, slowest);
        labels.rows.sort_by(|a, b| of(&b.cells[0].text).total_cmp(&of(&a.cells[0].text)));
        let all = labels.rows.len();
        labels.rows.truncate(MOST_ROWS);
        page.blank();
        table(page, &labels, "");
        more(page, all, "step");
    }
}

fn more(page: &mut Page, all: usize, thing: &str) {
    if all > MOST_ROWS {
        let rest = plural((all - MOST_ROWS) as u64, &format!("more {thing}"));
        page.marked(INDENT, "", Tone::Faint, &format!("... and {rest}: --details"));
    }
}

/// Where the page is, how to send the same again, what to type next.
fn end(page: &mut Page, summary: &Summary, style: &Style) {
    if let Some(folder) = &style.folder {
        page.labelled("report", Tone::Plain, &format!("{}/report.html", folder.trim_end_matches('/')));
    }
    if let Some(seed) = summary.seed {
        page.labelled("seed", Tone::Plain, &format!("{seed} (--seed sends the same again)"));
    }
    let overridden = summary.plan.as_ref().map(|plan| plan.overridden.join(", "));
    if let Some(overridden) = overridden.filter(|all| !all.is_empty()) {
        page.labelled("overridden", Tone::Plain, &format!("{overridden}, in place of the file's values"));
    }
    for (name, text) in &style.notes {
        page.labelled(name, Tone::Plain, text);
    }
    if summary.plan.as_ref().is_some_and(|plan| plan.shard.is_some()) {
        page.labelled("shard", Tone::Plain, words::ONE_SHARD);
    }
    // Folders have long names: beside a narrow label most of them need one line.
    const MARK: &str = "next  ";
    let next = match (&style.next, &style.folder, summary.seed) {
        (Some(next), ..) => {
            // It is there to be copied.
            for (i, line) in command::fold(next, WIDTH, INDENT + MARK.len()).into_iter().enumerate() {
                let mark = if i == 0 { format!("{}{MARK}", " ".repeat(INDENT)) } else { String::new() };
                page.line(&[span(Tone::Strong, mark), span(Tone::Strong, line)]);
            }
            return;
        }
        (None, Some(folder), _) => format!("headway report {folder} --details"),
        (None, None, Some(seed)) => format!("--seed {seed} --details shows all numbers of this run"),
        (None, None, None) => return,
    };
    page.marked(INDENT, MARK, Tone::Strong, &next);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_on_failures_fits_on_two_lines() {
        for kind in headway_base::KnownFailure::ALL {
            let advice = words::failures::advice(kind);
            assert_eq!(fitting(advice, WIDTH - 5 - NEXT.len(), 2), advice, "{kind:?}");
        }
    }

    #[test]
    fn what_fits_is_whole_sentences_where_it_can_be() {
        assert_eq!(fitting("One two. Three four.", 20, 1), "One two. Three four.");
        assert_eq!(fitting("One two. Three four.", 19, 1), "One two.");
        assert_eq!(fitting("One two. Three four.", 12, 2), "One two. Three four.");
        assert_eq!(fitting("One two three four.", 11, 1), "One...our.");
        assert_eq!(fitting("incomprehensible", 5, 1), "i...e");
        let path = "It is /a/very/long/path/with/many/folders/in.it and no more. It is long.";
        assert_eq!(fitting(path, 30, 2), "It is /a/very/lon...ders/in.it and no more.");
    }
}
