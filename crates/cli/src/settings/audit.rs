//! The arguments of an audit, resolved and checked.

use super::{Output, Subject, outputs_fit, reports_fit};
use crate::args::{self, AuditArgs, AuditOutput, Quantiles, Stamps, Wanted};
use crate::repeat;
use crate::repeat::Typed;
use anyhow::{Result, bail};
use headway_base::Nanos;
use headway_engine::audit::{AuditSpec, Dispersion, Exports, Shift};
use headway_report::Material;
use headway_stats::audit::QuantileRule;
use headway_stats::summary::Stream;
use headway_workload::redact::clear;
use std::fs;
use std::path::{Path, PathBuf};

/// An audit, resolved.
#[derive(Clone, Debug)]
pub struct AuditSettings {
    /// What is audited, and how.
    pub spec: AuditSpec,
    /// What becomes of the results.
    pub output: AuditOutput,
}

impl AuditSettings {
    /// Resolves what `headway audit` was given.
    ///
    /// # Errors
    /// Whatever the user can mend, in words: a file named twice, an output that exists.
    pub fn resolve(args: &AuditArgs, words: &Typed) -> Result<AuditSettings> {
        each_once(&args.files)?;
        each_percentile_once(&args.percentiles)?;
        let output = &args.output;
        let wanted = output.reports.wanted();
        let no_log = Some("an audit keeps no log");
        reports_fit(
            &wanted,
            Subject { name: "an audit", document: Material::Summary, no_records: None, no_log },
        )?;
        let others = [
            Output::file("--rows", output.rows.as_ref()),
            Output::file("--failures", output.failures.as_ref()),
            Output::file("--unreadable", output.unreadable.as_ref()),
            Output::folder("--csv", output.csv.as_ref()),
            Output::folder("--histograms", output.histograms.as_ref()),
        ];
        let reports = wanted.iter().map(Output::report);
        outputs_fit(&reports.chain(others.into_iter().flatten()).collect::<Vec<_>>())?;
        if args.span == Some(Nanos::ZERO) {
            bail!("--for 0s selects nothing: write a time above zero");
        }
        let mut cells = args.cells.clone();
        cells.sort_unstable();
        cells.dedup();
        let mut by_threads = args.by_threads.clone();
        by_threads.sort_unstable();
        by_threads.dedup();
        let spec = AuditSpec {
            files: args.files.clone(),
            options: headway_import::Options {
                log_format: args.log_format.clone(),
                columns: args.columns.clone(),
                zone: args.zone.clone(),
            },
            stamps: match args.stamps {
                Stamps::Auto => None,
                Stamps::Start => Some(headway_import::Stamps::Start),
                Stamps::End => Some(headway_import::Stamps::End),
            },
            shift: args.shift_by_response.map(|way| match way {
                args::Shift::Add => Shift::Add,
                args::Shift::Subtract => Shift::Subtract,
            }),
            lenient: args.lenient,
            from: args.from,
            span: args.span,
            success_only: args.success_only,
            stream: match (args.sessions, args.requests) {
                (true, _) => Some(Stream::Sessions),
                (_, true) => Some(Stream::Requests),
                _ => None,
            },
            expect: args.expect,
            lateness: args.tolerance,
            by_threads,
            percentiles: args.percentiles.clone(),
            quantiles: match args.quantiles {
                Quantiles::Smallest => QuantileRule::Smallest,
                Quantiles::Brady => QuantileRule::Brady,
            },
            count_interval: args.counts_per,
            cells,
            most_cells: usize::try_from(args.max_cells).unwrap_or(usize::MAX),
            pages: args.pages.iter().map(|page| clear(page)).collect(),
            dispersion: match (args.dispersion, args.quantiles) {
                (Some(args::Dispersion::Cov), _) | (None, Quantiles::Smallest) => Dispersion::Cov,
                (Some(args::Dispersion::Vmr), _) | (None, Quantiles::Brady) => Dispersion::Vmr,
            },
            seed: args.seed,
            exports: Exports {
                histograms: output.histograms.clone(),
                rows: output.rows.clone(),
                failures: output.failures.clone(),
                unreadable: output.unreadable.clone(),
                requests: wanted.iter().any(Wanted::is_of_requests),
            },
            command: repeat::command_as_it_was(words),
        };
        Ok(AuditSettings { spec, output: output.clone() })
    }
}

/// A file that is given twice would be judged as two generators in step.
fn each_once(files: &[PathBuf]) -> Result<()> {
    let same = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let paths: Vec<PathBuf> = files.iter().map(|path| same(path)).collect();
    for (i, path) in paths.iter().enumerate() {
        if let Some(before) = paths[..i].iter().position(|earlier| earlier == path) {
            bail!(
                "{} and {} are the same file: every request would count twice",
                files[before].display(),
                files[i].display()
            );
        }
    }
    Ok(())
}

/// A table has no two columns of one name.
fn each_percentile_once(percentiles: &[f64]) -> Result<()> {
    match percentiles.iter().enumerate().find(|(i, p)| percentiles[..*i].contains(p)) {
        Some((_, twice)) => bail!("--percentiles: {twice} is named twice"),
        None => Ok(()),
    }
}
