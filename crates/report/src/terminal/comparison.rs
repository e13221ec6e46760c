//! A comparison at a glance: its answer, the numbers, what to know, how to get it again.

use super::content::section;
use super::layout::Page;
use super::machine;
use crate::Style;
use crate::content::comparison::pair;
use crate::words::Tone;
use crate::words::comparison::{advice, condition, differences, headline, names, remarks};
use headway_stats::comparison::{Comparison, Verdict};

/// The comparison as text, in at most 80 columns.
pub(crate) fn render(comparison: &Comparison, style: &Style) -> Vec<u8> {
    let mut page = Page::new(style.colour);
    for of in &comparison.pairs {
        let (tone, text) = headline(comparison, of);
        page.marked(0, "", tone, &text);
        page.marked(2, "", Tone::Strong, &names(comparison, of));
        if let Verdict::NotComparable { reasons } = &of.verdict {
            advice(reasons).iter().for_each(|text| page.marked(2, "", Tone::Plain, text));
        }
        if let Some((tone, text)) = differences(of) {
            page.marked(2, "", tone, &text);
        }
    }
    for (tone, text) in remarks(comparison) {
        page.marked(2, "", tone, &text);
    }
    for of in &comparison.pairs {
        for part in pair(comparison, of, style.details) {
            section(&mut page, &part);
        }
    }
    if !comparison.conditions.is_empty() {
        page.heading("Conditions");
        for of in &comparison.conditions {
            let (tone, text) = condition(comparison, of);
            page.marked(2, "- ", tone, &text);
        }
    }
    if let Some(known) = style.repeat.as_deref().or(comparison.command.as_deref()) {
        page.heading("Again");
        machine::to_repeat(&mut page, known);
    }
    for (name, text) in &style.notes {
        page.labelled(name, Tone::Plain, text);
    }
    page.finish()
}
