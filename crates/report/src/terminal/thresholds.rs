//! The thresholds, each with what it was judged on.

use super::layout::Page;
use crate::words::{self, Tone};
use stats::Summary;
use stats::summary::ThresholdOutcome;

/// One paragraph per threshold, in the order in which they were asked.
pub(super) fn thresholds(page: &mut Page, summary: &Summary) {
    if summary.thresholds.is_empty() {
        return;
    }
    page.heading("Thresholds");
    for threshold in &summary.thresholds {
        let (word, tone) = words::thresholds::outcome(threshold.outcome);
        // Only what is crossed stands out: a page of green hides it.
        let tone = if threshold.outcome == ThresholdOutcome::Passed { Tone::Plain } else { tone };
        let text = format!("{}; value {}", threshold.text, words::thresholds::evidence(threshold));
        page.labelled(word, tone, &text);
    }
}
