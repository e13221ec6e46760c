//! Several simulated runs at a glance: a table by point, how the models differ, what to know, how to get it again.

use super::beside;
use super::grid::{WIDEST, shorten_all};
use super::layout::Page;
use super::machine;
use super::rows::Table;
use super::thresholds::judged;
use crate::Style;
use crate::format::{STEPPED, count, plural, rate};
use crate::words::study::{
    Sentence, common, difference, label, no_load, not_compared, notes, share_cell, steady_cell, subject,
    time_cell,
};
use crate::words::{self, Tone, demands};
use headway_stats::study::{Estimate, Point, Study};
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
    times(&mut page, study);
    loads(&mut page, study);
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
    beside::study(&mut page, study);
    sentences(&mut page, "To know", known(study));
    again(&mut page, study, style);
    page.finish()
}

fn shown(study: &Study) -> impl Iterator<Item = &Point> {
    study.points.iter().take(MOST_POINTS)
}

/// Response times, each with its interval beneath.
fn times(page: &mut Page, study: &Study) {
    if study.points.is_empty() {
        page.heading("No point was played to its end");
        return;
    }
    page.heading("Response times");
    let mut table = Table::new(study, ["mean", "p50", "p99", "n"]);
    for point in shown(study) {
        let estimates = ["mean", "p50", "p99"].map(|name| point.response.get(name));
        let mut row: Vec<String> = estimates.map(|of| of.map_or("-".into(), time_cell)).into();
        row.push(count(point.n));
        table.point(Tone::Strong, point, row);
        let interval = |of: Option<&Estimate>| of.and_then(words::study::interval).unwrap_or_default();
        if estimates.iter().any(|of| !interval(*of).is_empty()) {
            table.beneath(Tone::Faint, estimates.map(interval).into());
        }
    }
    table.print(page);
    if shown(study).flat_map(|point| point.response.values()).any(|of| of.stepped) {
        page.marked(2, "", Tone::Faint, STEPPED);
    }
}

/// What was asked for, what was done, and what of it failed.
fn loads(page: &mut Page, study: &Study) {
    if study.points.is_empty() {
        return;
    }
    page.heading("Load");
    let mut table = Table::new(study, ["offered", "completed", "load", "utilisation", "failed", "steady"]);
    for point in shown(study) {
        let per_second = |of: Option<Estimate>| of.map_or("-".into(), |of| rate(of.mean));
        let overloaded = point.load.is_some_and(|load| load >= 1.0);
        table.point(
            if overloaded { Tone::Bad } else { Tone::Plain },
            point,
            vec![
                per_second(point.offered),
                per_second(point.completed),
                point.load.map_or("-".into(), words::model::load_cell),
                share_cell(point.utilisation.as_ref()),
                share_cell(Some(&point.failed)),
                steady_cell(point).into(),
            ],
        );
    }
    table.print(page);
    page.marked(
        2,
        "",
        Tone::Faint,
        &format!(
            "load: work asked of each server of the busiest station per time, of which it can do 1; utilisation is that \
             station's too.{} steady: whether a steady state was found.",
            no_load(study)
        ),
    );
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

fn compared(study: &Study) -> Vec<Sentence> {
    let told = || study.differences.iter().filter(|by| TOLD.contains(&by.of.as_str()));
    let all = told().filter_map(|by| difference(study, by)).chain(words::study::gains(study, told()));
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
    if let Some(known) = style.repeat.as_ref().or(study.command.as_ref()) {
        machine::to_repeat(page, known);
    }
    if let Some(folder) = &style.folder {
        page.labelled("folder", Tone::Plain, folder);
    }
    for (name, text) in &style.notes {
        page.labelled(name, Tone::Plain, text);
    }
}
