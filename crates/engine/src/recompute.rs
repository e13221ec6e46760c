//! The summary of a recorded run from its records and its manifest. What the generator said of itself is not in them.

use crate::analysis_setup::of_shards;
use crate::manifest::Manifest;
use crate::merge::{missing, say_missing};
use anyhow::Result;
use headway_base::{Batch, Kind, Nanos};
use headway_records::{By, Limits, Merge};
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{Finding, FindingId, Generator, Severity, Source};
use headway_stats::{Facts, Summary, Threshold};
use std::path::Path;

/// Rows handed to the statistics at a time.
const ROWS: usize = 4_096;

/// The summary of the records in `log`, held to `thresholds`; `generator` is what is known of the generator, if anything.
///
/// # Errors
/// The log cannot be read, or the manifest's plan is none that this version makes.
pub fn recompute(
    log: &Path,
    manifest: Manifest,
    thresholds: Vec<Threshold>,
    generator: Option<Generator>,
) -> Result<Summary> {
    let plan = manifest.plan.plan().map_err(anyhow::Error::msg)?;
    let shards = manifest.shards()?;
    let setup = of_shards(&plan, &shards, &manifest.asked.steps, 1);
    let mut analysis = headway_stats::Analysis::new(setup).judging(thresholds);
    let spill = std::env::temp_dir();
    let mut merge = Merge::open(&[log.to_owned()], By::Started, Limits::default(), &spill)?;
    let mut batch = Batch::default();
    let mut last = Nanos::ZERO;
    while let Some(record) = merge.next_row()? {
        last = last.max(record.done);
        // A session's row stands for requests that have rows of their own.
        if let Some(start) = record.start().filter(|_| record.kind == Kind::Request) {
            batch.watermark = start.started;
            batch.starts.push(start);
        }
        batch.records.push(record);
        if batch.records.len() == ROWS {
            analysis.batch(&batch);
            batch.starts.clear();
            batch.records.clear();
        }
    }
    batch.watermark = Nanos::MAX;
    batch.last = true;
    analysis.batch(&batch);
    let whole = merge.merged().truncated.is_empty();
    // A simulation has no target, and took place at no time.
    let live = manifest.asked.target.is_some();
    let missing = missing(&plan, &manifest.shards);
    let facts = Facts {
        interrupted_at: (!whole && last < plan.end()).then_some(last),
        generator,
        ..manifest.facts(if live { Source::Live } else { Source::Sim })
    };
    let mut summary = analysis.finish(facts);
    say_missing(&mut summary, &missing);
    if !whole {
        summary.verdict.findings.push(cut_short(log));
    }
    Ok(summary)
}

/// That a log has no end mark.
pub(crate) fn cut_short(log: &Path) -> Finding {
    let folder = log.parent().unwrap_or(log);
    Finding {
        id: FindingId::LogCutShort,
        severity: Severity::Warning,
        evidence: vec![Run::LogCutShort { folder: folder.display().to_string() }.into()],
        ..Finding::default()
    }
}
