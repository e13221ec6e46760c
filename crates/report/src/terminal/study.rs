//! Several simulated runs at a glance: a table by point, how the models differ, what to know, how to get it again.

use super::content::section;
use super::grid::{WIDEST, shorten_all};
use super::layout::Page;
use super::machine;
use super::rows::Table;
use super::thresholds::judged;
use crate::Style;
use crate::content::comparison::pair;
use crate::content::study::{loads, responses};
use crate::content::{Block, Section};
use crate::format::plural;
use crate::words::comparison::besides;
use crate::words::study::{Sentence, common, difference, label, not_compared, notes, subject};
use crate::words::{self, Tone, demands};
use headway_stats::study::{Point, Study};
use headway_stats::summary::ThresholdResult;

/// Points that are shown before the rest is left to the other outputs.
const MOST_POINTS: usize = 60;
/// Sentences on how models differ, and notes, that are shown.
const MOST_SENTENCES: usize = 24;
/// Numbers of which differences are told; the others are in the document.
const TOLD: [&str; 3] = ["mean", "p50", "p99"];

/// The study as text, in at most 80 columns.
pub(crate) fn render(study: &Study, style: &Style) -> Vec<u8> {
    let mut page = Page::new(style.colour);
    let name = if study.name.is_empty() { "unnamed" } else { &study.name };
    page.marked(0, "", Tone::Strong, &format!("{name}: {}", subject(study)));
    if study.points.is_empty() {
        page.heading("Nothing was measured");
    }
    for section in [responses(study), loads(study)].iter().flatten() {
        by_point(&mut page, study, section);
    }
    let left = study.points.len().saturating_sub(MOST_POINTS);
    if left > 0 {
        page.marked(
            2,
            "",
            Tone::Faint,
            &format!("and {} in the JSON and HTML documents", plural(left as u64, "more point")),
        );
    }
    for Sentence { tone, text } in common(study) {
        page.marked(2, "", tone, &text);
    }
    demanded(&mut page, study);
    sentences(&mut page, "Models compared, on the same draws", compared(study));
    beside(&mut page, study, style.details);
    sentences(&mut page, "To know", known(study));
    again(&mut page, study, style);
    page.finish()
}

fn shown(study: &Study) -> impl Iterator<Item = &Point> {
    study.points.iter().take(MOST_POINTS)
}

/// A section with a row for each point, intervals beneath their numbers.
fn by_point(page: &mut Page, study: &Study, section: &Section) {
    page.heading(&section.title);
    for block in &section.blocks {
        match block {
            Block::Note(note) => page.marked(2, note.mark, note.tone, &note.text),
            Block::Facts(facts) => super::content::facts(page, facts),
            Block::Table(of) => {
                let narrow = || (1..of.columns.len()).filter(|&i| of.columns[i].width > 0);
                let mut table = Table::new(study, narrow().map(|i| of.columns[i].title.clone()));
                for (point, row) in shown(study).zip(&of.rows) {
                    let texts = narrow().map(|i| row.cells[i].text.clone()).collect();
                    table.point(row.cells[0].tone, point, texts);
                    let intervals = narrow().filter(|&i| of.columns[i].intervals > 0);
                    let intervals = intervals.map(|i| row.cells[i].interval.clone().unwrap_or_default());
                    let intervals: Vec<String> = intervals.collect();
                    if intervals.iter().any(|interval| !interval.is_empty()) {
                        table.beneath(Tone::Faint, intervals);
                    }
                }
                table.print(page);
            }
        }
    }
}

/// Where thresholds hold: of a sweep as a table, of compared models and single points with what each was judged on.
fn demanded(page: &mut Page, study: &Study) {
    if !demands::any(study) {
        return;
    }
    page.heading("Thresholds");
    let all = demands::sentences(study);
    let left = all.len().saturating_sub(MOST_SENTENCES);
    for Sentence { tone, text } in all.into_iter().take(MOST_SENTENCES) {
        page.marked(2, "- ", tone, &text);
    }
    if left > 0 {
        let more = format!("and {} in the HTML document", plural(left as u64, "more line"));
        page.marked(2, "", Tone::Faint, &more);
    }
    if study.is_swept() {
        outcomes(page, study);
        page.marked(2, "", Tone::Faint, demands::RULE);
        return;
    }
    let all = demands::evidence(study).take(MOST_SENTENCES).map(|(outcome, text)| judged(outcome, text));
    page.judged(&all.collect::<Vec<_>>());
    page.marked(2, "", Tone::Faint, demands::RULE);
}

/// A row for each point, a column for each threshold.
fn outcomes(page: &mut Page, study: &Study) {
    let texts = demands::texts(study);
    if texts.is_empty() {
        return;
    }
    // A column wider than the page would push its words over the edge.
    let mut table = Table::new(study, shorten_all(&texts, WIDEST));
    for point in shown(study) {
        let outcome =
            |threshold: &ThresholdResult| words::thresholds::outcome(threshold.outcome).0.to_owned();
        table.point(Tone::Plain, point, point.thresholds.iter().map(outcome).collect());
    }
    table.print(page);
}

/// A recorded run against the points.
fn beside(page: &mut Page, study: &Study, details: bool) {
    let Some(comparison) = &study.beside else { return };
    page.heading(&format!("Beside {}", comparison.base()));
    for (tone, text) in besides(comparison) {
        page.marked(2, if tone == Tone::Bad { "! " } else { "" }, tone, &text);
    }
    for of in comparison.pairs.iter().take(MOST_POINTS) {
        pair(comparison, of, details).iter().for_each(|part| section(page, part));
    }
}

fn compared(study: &Study) -> Vec<Sentence> {
    let shown = || study.differences.iter().filter(|by| TOLD.contains(&by.of.as_str()));
    let all = shown().filter_map(|by| difference(study, by)).chain(words::study::gains(study, shown()));
    all.chain(not_compared(study)).collect()
}

fn known(study: &Study) -> Vec<Sentence> {
    let of_point = |point| {
        let name = label(study, point);
        notes(study, point)
            .into_iter()
            .map(move |note| Sentence { text: format!("{name}: {}", note.text), ..note })
    };
    study.points.iter().flat_map(of_point).collect()
}

fn sentences(page: &mut Page, title: &str, all: Vec<Sentence>) {
    if all.is_empty() {
        return;
    }
    page.heading(title);
    let left = all.len().saturating_sub(MOST_SENTENCES);
    for Sentence { tone, text } in all.into_iter().take(MOST_SENTENCES) {
        page.marked(2, "- ", tone, &text);
    }
    if left > 0 {
        page.marked(
            2,
            "",
            Tone::Faint,
            &format!("and {} in the HTML document", plural(left as u64, "more line")),
        );
    }
}

fn again(page: &mut Page, study: &Study, style: &Style) {
    page.heading("Again");
    page.labelled("seed", Tone::Plain, &study.seed.to_string());
    if let Some(known) = style.repeat.as_deref().or(study.command.as_deref()) {
        machine::to_repeat(page, known);
    }
    if let Some(folder) = &style.folder {
        page.labelled("folder", Tone::Plain, folder);
    }
    for (name, text) in &style.notes {
        page.labelled(name, Tone::Plain, text);
    }
}
