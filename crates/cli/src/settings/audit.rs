//! The arguments of an audit, resolved and checked.

use super::{Output, Subject, outputs_fit, reports_fit};
use crate::args::{self, AuditArgs, AuditOutput, Quantiles, Stamps, Wanted};
use crate::repeat;
use anyhow::{Result, bail};
use headway_base::Nanos;
use headway_engine::audit::{AuditSpec, Dispersion, Exports, Shift};
use headway_report::Material;
use headway_stats::audit::QuantileRule;
use headway_stats::summary::Stream;
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
    pub fn resolve(args: &AuditArgs, words: &[String]) -> Result<AuditSettings> {
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
            time_scale: args.tolerance.map(|args::Tolerance::TimeScale(scale)| scale),
            by_threads,
            percentiles: args.percentiles.clone(),
            quantiles: match args.quantiles {
                Quantiles::Smallest => QuantileRule::Smallest,
                Quantiles::Brady => QuantileRule::Brady,
            },
            count_interval: args.counts_per,
            cells,
            most_cells: usize::try_from(args.max_cells).unwrap_or(usize::MAX),
            pages: args.pages.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;

    fn resolve(line: &str) -> Result<AuditSettings> {
        let words: Vec<String> =
            ["headway", "audit"].into_iter().chain(line.split(' ')).map(str::to_owned).collect();
        let args = Args::try_parse_from(&words)?;
        let Command::Audit(audit) = args.command else { bail!("not an audit") };
        AuditSettings::resolve(&audit, &words)
    }

    fn error(line: &str) -> String {
        format!("{:#}", resolve(line).expect_err(line))
    }

    #[test]
    fn flags_become_settings() {
        let s = resolve(
            "a.csv b.csv --from 120s --for 1200s --stamps end --requests --by-threads 50,1,5,5 --json y.json --seed 3",
        )
        .unwrap()
        .spec;
        assert_eq!((s.from, s.span), (Nanos::from_secs(120), Some(Nanos::from_secs(1200))));
        assert_eq!((s.stamps, s.stream), (Some(headway_import::Stamps::End), Some(Stream::Requests)));
        assert_eq!((s.by_threads.as_slice(), s.seed), (&[1, 5, 50][..], 3));
        assert_eq!(s.percentiles, [90.0, 95.0, 99.0]);
        assert_eq!(
            s.command,
            "headway audit a.csv b.csv --from 120s --for 1200s --stamps end --requests --by-threads 50,1,5,5 --seed 3"
        );
        assert!(s.selects() && !resolve("-").unwrap().spec.selects());
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        assert!(error("a.csv ./a.csv Cargo.toml ./Cargo.toml").contains("the same file"));
        assert!(error("- -").contains("every request would count twice"));
        assert!(error("a.csv --for 0s").contains("above zero"));
        assert!(error("a.csv --from 5").contains("a time"));
        assert!(error("a.csv --json Cargo.toml").contains("never overwritten"));
        assert!(error("a.csv --html Cargo.toml").contains("never overwritten"));
        assert!(error("a.csv --csv src").contains("not empty"));
        assert!(error("a.csv --json x --html ./x").contains("--json x and --html ./x are the same place"));
        assert!(error("a.csv --failures x/f.csv --csv x").contains("lies within --csv x"));
        assert!(error("a.csv --failures -").contains("only reports in terminal, json, "));
        assert!(error("a.csv --histograms src").contains("not empty"));
        assert!(error("a.csv --cells 10ms").contains("--histograms"));
        assert!(error("a.csv --histograms x --cells 0s").contains("above zero"));
        assert!(error("a.csv --expect poisson").contains("the rate is missing"));
        assert!(error("a.csv --percentiles 90,101").contains("below 100"));
        assert!(error("a.csv --percentiles 50,90,50.0").contains("50 is named twice"));
        assert!(error("a.csv --sessions --requests").contains("cannot be used with"));
        assert!(error("a.csv --stamps middle").contains("start"));
    }
}
