//! The model behind a simulated run: its parts, and whether it came to a steady state.

use super::grid::Grid;
use super::layout::Page;
use crate::format::{count, number, plural, share, share_of};
use crate::words::{self, Tone};
use headway_stats::Summary;

/// Parts that are shown before the rest is left to the other outputs.
const MOST_PARTS: usize = 12;

/// Nothing where no model was played.
pub(super) fn model(page: &mut Page, summary: &Summary) {
    let Some(simulation) = &summary.simulation else { return };
    page.heading("The model");
    let mut grid = Grid::new(["", "copies", "load", "utilisation", "in it", "requests", "failed"]);
    let dash = |value: Option<f64>, show: fn(f64) -> String| value.map_or("-".into(), show);
    for part in simulation.parts.iter().take(MOST_PARTS) {
        grid.row(
            words::model::load_tone(part),
            vec![
                part.name.to_string(),
                count(part.copies),
                words::model::load(part),
                dash(part.utilisation, share),
                number(part.number),
                count(part.requests),
                share_of(part.failed, part.requests),
            ],
        );
        grid.alone(Tone::Faint, format!(" {}", words::model::kind_of_part(part)));
    }
    if !simulation.parts.is_empty() {
        grid.print(page);
        page.marked(2, "", Tone::Faint, words::model::COLUMNS);
    }
    if simulation.parts.len() > MOST_PARTS {
        let more = plural((simulation.parts.len() - MOST_PARTS) as u64, "more part");
        page.marked(2, "", Tone::Faint, &format!("and {more} in the JSON and HTML reports"));
    }
    for fact in words::model::model(summary) {
        page.labelled(fact.name, fact.tone, &fact.text);
    }
}
