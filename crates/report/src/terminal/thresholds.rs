//! The thresholds, each with what it was judged on.

use super::layout::Page;
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::ThresholdOutcome;

/// One paragraph per threshold, in the order in which they were asked.
pub(super) fn thresholds(page: &mut Page, summary: &Summary) {
    if summary.thresholds.is_empty() {
        return;
    }
    page.heading("Thresholds");
    let all = summary.thresholds.iter().map(|threshold| {
        let text = format!("{}; value {}", threshold.text, words::thresholds::evidence(threshold));
        judged(threshold.outcome, text)
    });
    page.judged(&all.collect::<Vec<_>>());
}

/// A paragraph of [`Page::judged`]. Only what is crossed or open stands out: a page of green hides it.
pub(super) fn judged(outcome: ThresholdOutcome, text: String) -> (&'static str, Tone, String) {
    let (word, tone) = words::thresholds::outcome(outcome);
    (word, if outcome == ThresholdOutcome::Passed { Tone::Plain } else { tone }, text)
}
