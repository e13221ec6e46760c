//! `headway report`: a recorded run, rendered again; computed again from its records where that is asked for or
//! needed (a run that was killed left no summary).

use crate::args::{OutputArgs, ReportArgs};
use crate::exit::{self, Failure};
use crate::output;
use crate::rundoc::{self, RunDocument};
use crate::settings::must_be_new;
use anyhow::{Context as _, Result};
use base::{Batch, Nanos, Start};
use records::{By, Limits, Merge, RunFolder};
use stats::Facts;
use stats::Summary;
use stats::summary::{Finding, Severity, Source};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Rows handed to the statistics at a time.
const ROWS: usize = 4_096;

pub(super) fn report(args: &ReportArgs) -> Result<u8, Failure> {
    for (flag, path) in [("--json", &args.json), ("--html", &args.html), ("--parquet", &args.parquet)] {
        must_be_new(flag, path.as_ref()).map_err(Failure::usage)?;
    }
    let stored = args.run.join(records::folder::SUMMARY);
    let (summary, folder) = if stored.is_file() && !args.recompute {
        let text = fs::read(&stored).with_context(|| format!("{} cannot be read", stored.display()))?;
        let summary = ::report::parse(&text)
            .with_context(|| format!("{} is not a summary this version reads", stored.display()))?;
        (summary, args.run.clone())
    } else {
        let run = RunFolder::open(&args.run)?;
        (recompute(&run)?, run.path().to_owned())
    };
    if let Some(out) = &args.parquet {
        let run = RunFolder::open(&args.run)?;
        let merged = records::to_parquet(&[run.records()], out, None, Limits::default())?;
        let _ = writeln!(std::io::stderr(), "headway: {} rows to {}", merged.rows, out.display());
    }
    if let Some(out) = &args.html {
        output::write_new(out, &output::render("html", &summary, &::report::Style::default()))?;
    }
    let show = OutputArgs { json: args.json.clone(), ..OutputArgs::default() };
    output::deliver(&summary, &show, Some(&folder), &[])?;
    Ok(exit::of_summary(&summary, args.strict))
}

/// The summary of a run from its records and its plan. What the generator said of itself is lost with the process.
fn recompute(run: &RunFolder) -> Result<Summary> {
    let document = RunDocument::read(&run.plan())?;
    let plan = document.plan.plan().map_err(anyhow::Error::msg)?;
    let mut analysis = stats::Analysis::new(rundoc::setup(&plan, 1));
    let spill = std::env::temp_dir();
    let mut merge = Merge::open(&[run.records()], By::Started, Limits::default(), &spill)?;
    let mut batch = Batch::default();
    let mut last = Nanos::ZERO;
    while let Some(record) = merge.next_row()? {
        last = last.max(record.done);
        if let Some(started) = record.started.get() {
            let start = Start { intended: record.intended, started, wait: record.wait, step: record.step };
            batch.starts.push(start);
            batch.watermark = started;
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
    let merged = merge.merged();
    let whole = merged.truncated.is_empty();
    let facts = Facts {
        source: Source::Live,
        name: document.name,
        seed: Some(plan.seed),
        command: Some(document.command),
        started_at: Some(document.started_at),
        plan: Some(document.asked),
        interrupted_at: (!whole && last < plan.end()).then_some(last),
        resolution: Some(Nanos(1)),
        ..Facts::default()
    };
    let mut summary = analysis.finish(facts);
    if !whole {
        summary.verdict.findings.push(cut_short(run.path()));
    }
    Ok(summary)
}

fn cut_short(path: &Path) -> Finding {
    Finding {
        id: "log-cut-short".to_owned(),
        severity: Severity::Warning,
        text: format!(
            "The log in {} has no end mark: the process was killed or the disk was full. What was in flight, and up to a second of records before, is missing.",
            path.display()
        ),
        ..Finding::default()
    }
}
