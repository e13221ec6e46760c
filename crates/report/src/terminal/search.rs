//! A search at a glance: the knee, what to know, the curve in characters, the trials, how to get it again.

use super::content;
use super::layout::Page;
use super::machine;
use crate::Style;
use crate::content::search::{asked_percentile, level, limits, of_arrivals, targets, trials};
use crate::format::{number, percentile, time};
use crate::words::Tone;
use crate::words::search::{effort, headline, notes, of_target, outcome, title};
use headway_stats::search::{Found, RateOf, Searched, TrialRow};

/// Longest bar.
const BAR: usize = 30;

/// The search as text, in at most 80 columns; of several targets one row for each.
pub(crate) fn render(searched: &Searched, style: &Style) -> Vec<u8> {
    let mut page = Page::new(style.colour);
    let Some(found) = searched.single() else {
        page.marked(0, "", Tone::Strong, &title(searched));
        content::section(&mut page, &targets(searched));
        page.heading("Each");
        for sentence in searched.targets.iter().flat_map(of_target) {
            page.marked(2, "", sentence.tone, &sentence.text);
        }
        again(&mut page, searched.seed, searched.command.as_deref(), style);
        return page.finish();
    };
    let name = if found.name.is_empty() { "unnamed" } else { &found.name };
    let first = headline(found);
    page.marked(0, "", Tone::Strong, &format!("{name}: {}", effort(found)));
    page.blank();
    page.marked(0, "", first.tone, &first.text);
    for note in notes(found) {
        page.marked(2, "", note.tone, &note.text);
    }
    curve(&mut page, found);
    for section in [limits(found), trials(found)].iter().flatten() {
        content::section(&mut page, section);
    }
    again(&mut page, found.seed, found.command.as_deref(), style);
    page.finish()
}

fn again(page: &mut Page, seed: u64, command: Option<&str>, style: &Style) {
    page.heading("Again");
    page.labelled("seed", Tone::Plain, &seed.to_string());
    if let Some(known) = style.repeat.as_deref().or(command) {
        machine::to_repeat(page, known);
    }
    if let Some(folder) = &style.folder {
        page.labelled("folder", Tone::Plain, folder);
    }
    for (name, text) in &style.notes {
        page.labelled(name, Tone::Plain, text);
    }
}

/// The percentile that is asked for and the goodput by rate: a bar on a logarithmic scale.
fn curve(page: &mut Page, found: &Found) {
    let percent = asked_percentile(found);
    let asked = |row: &&TrialRow| row.response.iter().find(|p| p.percent == percent).map(|p| p.value);
    let mut rows: Vec<&TrialRow> =
        found.trials.iter().filter(|row| asked(row).is_some_and(|x| x > 0.0)).collect();
    if rows.len() < 2 {
        return;
    }
    rows.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let all = || rows.iter().filter_map(asked);
    let (low, high) = (all().fold(f64::INFINITY, f64::min) / 1.5, all().fold(0.0, f64::max));
    let by = if found.rate_of == RateOf::Users {
        "users".to_owned()
    } else {
        format!("{} per second", of_arrivals(found))
    };
    let name = percentile(percent);
    page.heading(&format!("{name} and goodput by {by} (bars: logarithm of {name})"));
    for row in &rows {
        let value = asked(row).unwrap_or_default();
        let share = (value / low).ln() / (high / low).ln().max(1e-9);
        let bar = "#".repeat(((share * BAR as f64).round() as usize).clamp(1, BAR));
        let goodput = row.goodput.map_or_else(|| "-".to_owned(), |x| format!("{}/s", number(x)));
        let (_, tone) = outcome(row.ended);
        let line = format!("{:<9}  {bar:<BAR$}  {:>9}  {goodput:>10}", level(found, row.rate), time(value));
        page.marked(2, "", tone, &line);
    }
}
