//! The summary that is read at a glance when a run ends: at most 80 columns, ASCII of its own, verdict first.
//!
//! The order is that of the questions a reader should ask: was this the load I wanted (and if not, why), what was
//! sent, how long did answers take, how did they end, could the generator keep up, how do I get this again. Colour
//! repeats what the words say and never says more, so a copy without colour loses nothing. An audit asks other
//! questions and has a page of its own. Unless details are asked for, a run has one screen (`brief`).
//!
//! Deliberately absent: the terminal itself (its width, whether it is one), and charts; the HTML report has those.

mod audit;
mod brief;
mod command;
mod comparison;
mod content;
pub mod doctor;
mod grid;
mod histogram;
mod layout;
mod machine;
mod model;
mod numbers;
mod rows;
mod search;
mod study;
mod thresholds;
mod verdict;

pub use layout::WIDTH;

use crate::{Material, Output, Style};
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::search::Searched;
use headway_stats::study::Study;
use layout::Page;

/// The summary for a terminal.
pub struct Terminal;

impl Output for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn about(&self) -> &'static str {
        "a summary to read at a glance, verdict first"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Summary, Material::Study, Material::Comparison, Material::Search, Material::Lab]
    }

    /// No text of its own marks it, so that a file of it is replaced by none.
    fn recognises(&self, _: &str) -> bool {
        false
    }

    fn summary(&self, summary: &Summary, style: &Style) -> Option<Vec<u8>> {
        let mut page = Page::new(style.colour);
        if let Some(found) = &summary.audit {
            audit::render(&mut page, summary, found, style);
            return Some(page.finish());
        }
        if !style.details {
            return Some(brief::render(summary, style).finish());
        }
        // What stands at the top is not said again below.
        let below = verdict::render(&mut page, summary);
        thresholds::thresholds(&mut page, summary);
        numbers::arrivals(&mut page, summary);
        numbers::times(&mut page, summary);
        numbers::time_split(&mut page, summary);
        numbers::events(&mut page, summary);
        histogram::render(&mut page, summary, style);
        model::model(&mut page, summary);
        numbers::users(&mut page, summary);
        numbers::outcomes(&mut page, summary);
        numbers::labels(&mut page, summary);
        numbers::shards(&mut page, summary);
        machine::generator(&mut page, summary);
        machine::warnings(&mut page, &below);
        machine::repeat(&mut page, summary, style);
        Some(page.finish())
    }

    fn study(&self, study: &Study, style: &Style) -> Option<Vec<u8>> {
        Some(study::render(study, style))
    }

    fn comparison(&self, comparison: &Comparison, style: &Style) -> Option<Vec<u8>> {
        Some(comparison::render(comparison, style))
    }

    fn search(&self, searched: &Searched, style: &Style) -> Option<Vec<u8>> {
        Some(search::render(searched, style))
    }
}
