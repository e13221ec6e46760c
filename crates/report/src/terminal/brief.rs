//! The first screen of a run: the answer first, in at most [`LINES`] lines whatever happened. What was asked (thresholds, how the requests
//! ended), the numbers, why requests failed, one line on how far the numbers can be trusted, what to type next. The rest fills what room
//! there is, by its [`Rank`].
//!
//! Deliberately absent: evidence, reasons of missing numbers, and rows that few need. The detailed page has them (`--details`), as have
//! HTML and JSON.

use super::content::table;
use super::grid::{Grid, shorten};
use super::layout::{INDENT, LABEL, Page, columns, span, wrap};
use super::verdict::{MEANING, answer};
use super::{command, histogram, numbers};
use crate::Style;
use crate::content::{self, Block};
use crate::format::{STEPPED_MARK, count, number, plural, share_of, visible};
use crate::words::{self, Answer, Reason, ReasonId, Tone, brief};
use headway_stats::Summary;
use headway_stats::summary::{
    FindingId, LabelSummary, ModelPart, Severity, ThresholdOutcome, ThresholdResult, Why,
};

/// Lines that it takes at most, so that a terminal of 24 lines and 80 columns shows the outcome above what to type next.
pub const LINES: usize = 24;
/// Rows of labels, and of the parts of a model.
const MOST_ROWS: usize = 8;
/// Kinds of failure, and thresholds.
const MOST_KINDS: usize = 4;
/// Stands before what to do about it.
const NEXT: &str = "next: ";

/// How much a part of the screen matters: those that do not fit are left to `--details`, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The outcome, the numbers, the trust that they deserve, what to type next.
    Answer,
    /// Why most requests failed; what helps, for the target and for the load.
    Cause,
    /// More failures, thresholds and findings; what somebody asked for.
    More,
    /// Parts of the whole: steps, stations.
    Parts,
    /// An empty line.
    Air,
    /// What few look for.
    Rest,
}

/// Lines that belong together.
struct Part {
    rank: Rank,
    lines: Vec<String>,
    /// What it has rows of, where it is a table that may be cut.
    rows_of: Option<&'static str>,
}

/// The screen as it grows: parts in their order.
struct Screen {
    sheet: Page,
    parts: Vec<Part>,
    /// Lines that a flag asked for, which are shown beyond the others.
    asked: usize,
}

/// Lines of a cut table that are worth their place: a heading, a row, and what is left out.
const LEAST_OF_A_TABLE: usize = 3;

impl Screen {
    /// What is written on a sheet of the same looks, at that rank.
    fn put(&mut self, rank: Rank, write: impl FnOnce(&mut Page)) {
        let mut sheet = self.sheet.sheet();
        write(&mut sheet);
        self.parts.push(Part { rank, lines: sheet.lines(), rows_of: None });
    }

    fn table(&mut self, rank: Rank, rows_of: &'static str, write: impl FnOnce(&mut Page)) {
        self.put(rank, write);
        self.parts.last_mut().expect("it was put").rows_of = Some(rows_of);
    }

    fn asked(&mut self, write: impl FnOnce(&mut Page)) {
        self.put(Rank::Answer, write);
        self.asked += self.parts.last().map_or(0, |part| part.lines.len());
    }

    fn air(&mut self) {
        self.parts.push(Part { rank: Rank::Air, lines: vec![String::new()], rows_of: None });
    }

    /// The most important parts in their order, as many as there is room for.
    fn finish(mut self) -> Page {
        let mut left = LINES + self.asked;
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|&i| (self.parts[i].rank, i));
        for i in order {
            let sheet = self.sheet.sheet();
            let part = &mut self.parts[i];
            match part.rows_of {
                _ if part.lines.len() <= left => {}
                Some(thing) if left >= LEAST_OF_A_TABLE => part.cut(left, thing, sheet),
                _ => part.lines.clear(),
            }
            left -= part.lines.len();
        }
        let mut page = self.sheet;
        let mut empty = true;
        for line in self.parts.iter().flat_map(|part| &part.lines) {
            // No empty line at the top, and no two together.
            if !(line.is_empty() && empty) {
                page.painted(line);
            }
            empty = line.is_empty();
        }
        page
    }
}

impl Part {
    /// To so many lines, the last of which says what is left out.
    fn cut(&mut self, to: usize, thing: &str, mut sheet: Page) {
        let rows = self.lines.len() - (to - 1);
        self.lines.truncate(to - 1);
        more(&mut sheet, rows, thing);
        self.lines.extend(sheet.lines());
    }
}

/// The first screen of a run that is not another tool's.
pub(super) fn render(summary: &Summary, style: &Style) -> Page {
    let sheet = Page::as_wide_as(style.colour, style.width);
    let mut screen = Screen { sheet, parts: Vec::new(), asked: 0 };
    thresholds(&mut screen, summary);
    screen.put(Rank::Answer, |page| outcome(page, summary));
    if let Some(text) = words::interruption(summary) {
        screen.put(Rank::More, |page| page.marked(2, "", Tone::Warn, &fitting(&text, page.width() - 2, 2)));
    }
    screen.air();
    subject(&mut screen, summary);
    times(&mut screen, summary);
    failures(&mut screen, summary);
    screen.air();
    trust(&mut screen, summary);
    findings(&mut screen, summary);
    screen.air();
    model(&mut screen, summary);
    labels(&mut screen, summary);
    machine(&mut screen, summary);
    if style.histogram {
        screen.asked(|page| histogram::render(page, summary, style));
    }
    end(&mut screen, summary, style);
    screen.finish()
}

/// How the requests ended, and the worst of it.
fn outcome(page: &mut Page, summary: &Summary) {
    let of = brief::outcome(summary);
    let meaning = fitting(&of.meaning, page.width() - MEANING, 1);
    answer(page, "OUTCOME", &Answer { meaning, ..of });
}

/// What was run, and at which rates.
fn subject(screen: &mut Screen, summary: &Summary) {
    screen.put(Rank::Answer, |page| {
        page.marked(0, "", Tone::Plain, &fitting(&brief::subject(summary), page.width(), 2));
    });
    screen.put(Rank::Answer, |page| {
        page.labelled("load", Tone::Plain, &fitting(&brief::load(summary), page.width() - LABEL, 1));
    });
    if let Some(text) = brief::connecting(summary) {
        screen.put(Rank::Cause, |page| page.labelled("connect", Tone::Plain, &text));
    }
    if let Some(text) = summary.plan.as_ref().and_then(|plan| words::plan::left_out(plan.log.as_ref()?)) {
        screen.put(Rank::More, |page| page.labelled("log", Tone::Plain, &text));
    }
}

/// Whether the numbers are those of the load that was planned; what the generator did to them otherwise, and what helps.
fn trust(screen: &mut Screen, summary: &Summary) {
    let reasons = words::reasons(summary);
    let of = brief::trust(summary);
    let why = brief::cause(summary, &reasons).filter(|_| of.tone != Tone::Good);
    screen.put(Rank::Answer, |page| {
        let text = match why.filter(|_| !brief::says_why(summary)) {
            Some(reason) => reason.text.clone(),
            None => of.meaning.clone(),
        };
        // Beside failures their cause needs the room.
        let lines = if brief::failures(summary).is_empty() { 3 } else { 2 };
        let meaning = fitting(&text, page.width() - MEANING, lines);
        answer(page, "LOAD", &Answer { meaning, ..of.clone() });
    });
    if let Some(next) = why.and_then(|reason| reason.next.as_ref()) {
        screen.put(Rank::Cause, |page| what_next(page, next));
    }
    if let Some(pattern) = brief::pattern(summary) {
        screen.put(Rank::More, |page| {
            let meaning = fitting(&pattern.meaning, page.width() - MEANING, 1);
            answer(page, "PATTERN", &Answer { meaning, ..pattern });
        });
    }
}

/// What to do about it, on a line.
fn what_next(page: &mut Page, next: &str) {
    let room = page.width() - 5 - NEXT.len();
    page.marked(5, NEXT, Tone::Strong, &fitting(next, room, 1));
}

/// What else the run has to tell, one line each and one of what helps; what the lines above tell is not told again.
fn findings(screen: &mut Screen, summary: &Summary) {
    let reasons = words::reasons(summary);
    let told = |reason: &&Reason| {
        reason.severity > Severity::Info
            && !is_shown(&reason.id)
            && !brief::is_of_load(&reason.id)
            && !brief::is_of_pattern(&reason.id)
    };
    for reason in reasons.iter().filter(told) {
        screen.put(Rank::More, |page| finding(page, reason, 2));
    }
}

fn machine(screen: &mut Screen, summary: &Summary) {
    if let Some((tone, text)) = brief::machine(summary) {
        screen.put(Rank::Rest, |page| page.labelled("generator", tone, &text));
    }
    if let Some(rights) = summary.generator.as_ref().and_then(words::waiting::rights) {
        screen.put(Rank::More, |page| page.labelled("rights", Tone::Plain, rights));
    }
    if let Some(advice) = words::doctor::advice(summary) {
        // Where this machine lacked something, its limits are what helps.
        let lacked = summary.verdict.findings.iter().any(|finding| finding.id == FindingId::LocalLimit);
        screen.put(if lacked { Rank::Answer } else { Rank::More }, |page| {
            page.labelled("machine", Tone::Plain, &advice)
        });
    }
}

/// Whether the outcomes and the marks of lower bounds say the same.
pub(super) fn is_shown(id: &ReasonId) -> bool {
    matches!(id, ReasonId::Finding(FindingId::Errors | FindingId::Censored))
}

/// Cause, on so many lines at most, and remedy.
pub(super) fn finding(page: &mut Page, reason: &Reason, lines: usize) {
    let (_, tone) = words::severity(reason.severity);
    let mark = if reason.severity == Severity::Error { "  !! " } else { "   ! " };
    let room = page.width() - columns(mark);
    page.marked(0, mark, tone, &fitting(&format!("{}: {}", reason.id, reason.text), room, lines));
    if let Some(next) = &reason.next {
        what_next(page, next);
    }
}

/// Columns to which words of names are shortened in the middle where a sentence would not fit with all of them.
const SHORT: usize = 24;

/// As many whole sentences as fit on those lines. Of a first one that is too long long words, which are names, are shortened in the
/// middle, then it ends after the words that fit.
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
    let ends = short.match_indices(' ').map(|(at, _)| at).rev();
    let cut =
        ends.map(|end| format!("{} ...", short[..end].trim_end_matches([',', ';', ':', '(']).trim_end()));
    cut.into_iter().find(|cut| fits(cut)).unwrap_or_else(|| shorten(&short, width * lines))
}

/// One line each, those that do not hold first: what was demanded, and what it was judged on.
fn thresholds(screen: &mut Screen, summary: &Summary) {
    let holds = |threshold: &&ThresholdResult| {
        (threshold.outcome == ThresholdOutcome::Passed, threshold.outcome != ThresholdOutcome::Crossed)
    };
    let mut all: Vec<&ThresholdResult> = summary.thresholds.iter().collect();
    all.sort_by_key(holds);
    for (i, of) in all.iter().take(MOST_KINDS).enumerate() {
        let rank = if i == 0 { Rank::Answer } else { Rank::More };
        screen.put(rank, |page| threshold(page, of));
    }
    if all.len() > MOST_KINDS {
        let left = &all[MOST_KINDS..];
        let passed = left.iter().all(|of| of.outcome == ThresholdOutcome::Passed);
        let rest = plural(left.len() as u64, "more threshold");
        let holds = match (passed, left.len()) {
            (true, 1) => ", which holds",
            (true, _) => ", which hold",
            (false, _) => "",
        };
        screen.put(Rank::More, |page| {
            page.marked(MEANING, "", Tone::Faint, &format!("... and {rest}{holds}: --details"));
        });
    }
}

fn threshold(page: &mut Page, threshold: &ThresholdResult) {
    let interval = words::thresholds::interval(threshold);
    let interval = if interval == "-" { String::new() } else { format!(" ({interval})") };
    let value = format!(": {}{interval}", words::thresholds::value(threshold));
    let (word, tone) = words::thresholds::outcome(threshold.outcome);
    let room = (page.width() - MEANING).saturating_sub(columns(&value));
    let mut meaning = shorten(&visible(&threshold.text), room) + &value;
    let grows = threshold.reason.as_ref().filter(|stated| matches!(stated.why, Why::Throughout { .. }));
    let reason = words::thresholds::certainty(threshold).or_else(|| grows.map(words::why::why));
    if let Some(reason) = reason {
        meaning = format!("{meaning}; {reason}");
    }
    answer(page, "LIMIT", &Answer { word, meaning, tone });
}

/// Response and service time with their intervals.
fn times(screen: &mut Screen, summary: &Summary) {
    if words::is_one_way(summary) {
        return screen.put(Rank::Answer, |page| page.labelled("times", Tone::Plain, words::NO_RESPONSE_TIME));
    }
    screen.air();
    let tone = words::load(summary).tone;
    let flag = match words::caveat(summary) {
        Some(_) if tone == Tone::Bad => "!!",
        Some(_) => " !",
        None => "  ",
    };
    let (mut missing, mut stepped) = (false, false);
    for block in content::run::times(summary).blocks {
        let Block::Table(mut times) = block else { continue };
        // How many there are says the outcome.
        times.rows.retain(|row| row.cells[0].text != "n");
        let cells = times.rows.iter_mut().flat_map(|row| &mut row.cells);
        for cell in cells {
            missing |= cell.why.take().is_some();
            stepped |= cell.interval.as_ref().is_some_and(|interval| interval.ends_with(STEPPED_MARK));
        }
        screen.put(Rank::Answer, |page| table(page, &times, flag));
    }
    let conditional = words::conditional(summary);
    let conditional = conditional.trim().trim_matches(['(', ')']);
    let notes = [
        (!conditional.is_empty(), conditional),
        (
            words::generator_share::marked(summary).is_some(),
            "* over 5 % of it may be the generator's own delay",
        ),
        (summary.response.censored > 0, "> lower bound: some got no response"),
        (stepped, "^ holds in more than 95 % of runs"),
        (missing, "- not computed"),
    ];
    let notes: Vec<&str> = notes.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect();
    // A mark is explained wherever it stands.
    let marked = notes.iter().any(|note| note.starts_with(['*', '>', '^']));
    if !notes.is_empty() {
        screen.put(if marked { Rank::Answer } else { Rank::Rest }, |page| {
            let whole = format!("{}: --details", notes.join("; "));
            page.marked(3, "", Tone::Faint, &fitting(&whole, page.width() - 3, 2));
        });
    }
    screen.put(Rank::Parts, |page| numbers::successes(page, summary));
}

/// The parts of a model, the busiest first, and whether the simulation is steady.
fn model(screen: &mut Screen, summary: &Summary) {
    let Some(simulation) = &summary.simulation else { return };
    let mut parts: Vec<&ModelPart> = simulation.parts.iter().collect();
    let load = |part: &ModelPart| part.utilisation.unwrap_or(0.0);
    parts.sort_by(|a, b| load(b).total_cmp(&load(a)));
    let mut grid = Grid::new(["model", "copies", "load", "in it", "requests", "failed"]);
    for part in parts.iter().take(MOST_ROWS) {
        let cells = [
            part.name.to_string(),
            count(part.copies),
            words::model::load(part),
            number(part.number),
            count(part.requests),
            share_of(part.failed, part.requests),
        ];
        grid.row(words::model::load_tone(part), cells.to_vec());
    }
    screen.table(Rank::Parts, "part", |page| {
        grid.print(page);
        more(page, parts.len().saturating_sub(MOST_ROWS), "part");
    });
    let steady = words::model::model(summary).into_iter().find(|fact| fact.name == "steady");
    if let Some(fact) = steady {
        screen.put(Rank::Rest, |page| page.labelled(fact.name, fact.tone, &fact.text));
    }
}

/// How requests failed, the most frequent first: why, and what helps.
fn failures(screen: &mut Screen, summary: &Summary) {
    if !words::tells_outcomes(summary) {
        return;
    }
    let kinds = brief::failures(summary);
    if !kinds.is_empty() {
        screen.air();
    }
    // Up to the first on which there is advice they are the cause.
    let causes = kinds.iter().position(|kind| !kind.advice.is_empty()).unwrap_or(0);
    for (i, kind) in kinds.iter().take(MOST_KINDS).enumerate() {
        let rank = if i <= causes { Rank::Cause } else { Rank::More };
        screen.put(rank, |page| {
            page.line(&[
                span(Tone::Plain, format!("{:>9} ", count(kind.n))),
                span(Tone::Bad, kind.what.clone()),
            ]);
        });
        let room = screen.sheet.width() - 5 - NEXT.len();
        let advice = kind.advice.first().map(|advice| fitting(advice, room, 2));
        // Why and what helps take three lines, of the only kind four: what helps is whole.
        let most = if kinds.len() == 1 { 4 } else { 3 };
        let lines = (most - advice.as_ref().map_or(0, |advice| wrap(advice, room).len())).min(2);
        let shown = kind.why.len().min(lines);
        let more = kind.more + kind.why.len() - shown;
        for (i, why) in kind.why.iter().take(shown).enumerate() {
            let more = match more {
                1.. if i + 1 == shown => format!(" ... and {}", plural(more as u64, "more reason")),
                _ => String::new(),
            };
            screen.put(rank, |page| {
                let text = fitting(why, page.width() - 5 - more.len(), lines / shown);
                page.marked(5, "", Tone::Plain, &format!("{text}{more}"));
            });
        }
        if let Some(advice) = advice {
            screen.put(rank, |page| page.marked(5, NEXT, Tone::Strong, &advice));
        }
    }
    if kinds.len() > MOST_KINDS {
        let rest = plural((kinds.len() - MOST_KINDS) as u64, "more kind");
        screen.put(Rank::More, |page| page.marked(5, "", Tone::Faint, &format!("... and {rest}: --details")));
    }
}

/// Steps, or labels, the slowest first.
fn labels(screen: &mut Screen, summary: &Summary) {
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
        screen.table(Rank::Parts, "step", |page| {
            table(page, &labels, "");
            more(page, all.saturating_sub(MOST_ROWS), "step");
        });
    }
}

fn more(page: &mut Page, left: usize, thing: &str) {
    if left > 0 {
        let rest = plural(left as u64, &format!("more {thing}"));
        page.marked(INDENT, "", Tone::Faint, &format!("... and {rest}: --details"));
    }
}

/// Where the page is, how to send the same again, what to type next.
fn end(screen: &mut Screen, summary: &Summary, style: &Style) {
    if let Some(folder) = &style.folder {
        let place = format!("{}/report.html", folder.trim_end_matches('/'));
        screen.put(Rank::Answer, |page| page.whole("report", &place));
    }
    if let Some(seed) = summary.seed {
        screen.put(Rank::Rest, |page| {
            page.labelled("seed", Tone::Plain, &format!("{seed} (--seed sends the same again)"));
        });
    }
    let overridden = summary.plan.as_ref().map(|plan| plan.overridden.join(", "));
    if let Some(overridden) = overridden.filter(|all| !all.is_empty()) {
        screen.put(Rank::More, |page| {
            page.labelled("overridden", Tone::Plain, &format!("{overridden}, in place of the file's values"));
        });
    }
    for (name, text) in &style.notes {
        screen.put(Rank::Answer, |page| page.labelled(name, Tone::Plain, text));
    }
    if summary.plan.as_ref().is_some_and(|plan| plan.shard.is_some()) {
        screen.put(Rank::Cause, |page| page.labelled("shard", Tone::Plain, words::ONE_SHARD));
    }
    screen.put(Rank::Answer, |page| next(page, summary, style));
}

/// What to type next.
fn next(page: &mut Page, summary: &Summary, style: &Style) {
    // Folders have long names: beside a narrow label most of them need one line.
    const MARK: &str = "next  ";
    let next = match (&style.next, &style.folder, summary.seed) {
        (Some(next), ..) => next.to_string(),
        (None, Some(folder), _) => format!("headway report {folder} --details"),
        (None, None, Some(seed)) => {
            let text = format!("--seed {seed} --details shows all numbers of this run");
            return page.marked(INDENT, MARK, Tone::Strong, &text);
        }
        (None, None, None) => return,
    };
    // It is there to be copied.
    for (i, line) in command::fold(&next, page.width(), INDENT + MARK.len()).into_iter().enumerate() {
        let mark = if i == 0 { format!("{}{MARK}", " ".repeat(INDENT)) } else { String::new() };
        page.line(&[span(Tone::Strong, mark), span(Tone::Strong, line)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_on_failures_fits_on_two_lines() {
        for kind in headway_base::KnownFailure::ALL {
            let advice = words::failures::advice(kind);
            assert_eq!(fitting(advice, super::super::WIDTH - 5 - NEXT.len(), 2), advice, "{kind:?}");
        }
    }

    #[test]
    fn what_fits_is_whole_sentences_where_it_can_be() {
        assert_eq!(fitting("One two. Three four.", 20, 1), "One two. Three four.");
        assert_eq!(fitting("One two. Three four.", 19, 1), "One two.");
        assert_eq!(fitting("One two. Three four.", 12, 2), "One two. Three four.");
        assert_eq!(fitting("One two three four.", 11, 1), "One two ...");
        assert_eq!(fitting("incomprehensible", 5, 1), "i...e");
        let path = "It is /a/very/long/path/with/many/folders/in.it and no more. It is long.";
        assert_eq!(fitting(path, 30, 2), "It is /a/very/lon...ders/in.it and no more.");
    }
}
