//! The flags of `headway audit` and `headway lab`, as typed.

use super::{ReportFiles, Tolerance, parse_seed};
use clap::{Args as ClapArgs, ValueEnum};
use headway_base::units::{self, UnitError};
use headway_base::{Lateness, Nanos};
use headway_engine::audit::{Begin, Expect};
use headway_workload::Process;
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// `headway audit`.
#[derive(ClapArgs, Debug, Clone)]
#[command(after_help = formats_help())]
pub struct AuditArgs {
    /// Results files, access logs, run folders, - for standard input; several are merged by time, each as one generator
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Judge only rows that started at least this long after the first start of all, or not before this date or time of
    /// day in --zone: 30s, 14:05, 2026-11-28T14:05, '2026-11-28 14:05:30'
    #[arg(long, value_parser = Begin::parse, default_value = "0s", value_name = "TIME", help_heading = "Which rows")]
    pub from: Begin,
    /// Judge only rows that started at most this long after --from
    #[arg(long = "for", allow_negative_numbers = true, value_parser = units::parse_time, value_name = "TIME", help_heading = "Which rows")]
    pub span: Option<Nanos>,
    /// Leave out requests that failed
    #[arg(long, help_heading = "Which rows")]
    pub success_only: bool,
    /// Judge the starts of sessions (users, iterations) [default: if the files have any]
    #[arg(long, conflicts_with = "requests", help_heading = "Which rows")]
    pub sessions: bool,
    /// Judge the starts of requests, even if the files have sessions
    #[arg(long, help_heading = "Which rows")]
    pub requests: bool,
    /// Whether stamps are starts or ends, in formats that allow both
    #[arg(long, value_enum, default_value_t, value_name = "WHICH", help_heading = "How to read them")]
    pub stamps: Stamps,
    /// Add the response time to each stamp (to judge ends instead of starts), or subtract it
    #[arg(long, value_enum, value_name = "HOW", help_heading = "How to read them")]
    pub shift_by_response: Option<Shift>,
    /// Columns of a CSV file that no known tool wrote: start=ts,elapsed=ms,label=name,thread=worker
    #[arg(long, value_name = "LIST", help_heading = "How to read them")]
    pub columns: Option<String>,
    /// Format string of an access log, as in the server's configuration [default: the server's default]
    #[arg(long, value_name = "FORMAT", help_heading = "How to read them")]
    pub log_format: Option<String>,
    /// Time zone of stamps that name none, and of the times in --rows and --failures: Europe/Berlin
    #[arg(long, value_parser = parse_zone, default_value = "UTC", value_name = "ZONE", help_heading = "How to read them")]
    pub zone: TimeZone,
    /// Audit a file even if more than 1 % of its rows cannot be read
    #[arg(long, help_heading = "How to read them")]
    pub lenient: bool,
    /// What the load was meant to be: poisson,rate=500/s; exit with 98 if it was not
    #[arg(long, value_parser = parse_expect, value_name = "PROCESS,rate=RATE", help_heading = "What to compute")]
    pub expect: Option<Expect>,
    /// Lateness up to this is forgiven where files tell when requests were due: lateness=5ms [default: 1 ms]
    #[arg(long, value_parser = Tolerance::parse_lateness, value_name = "NAME=VALUE", help_heading = "What to compute")]
    pub tolerance: Option<Lateness>,
    /// Compute the CoV of headways of the first N users, for each N [default: 1,2,5,10,20,50 ... and all]
    #[arg(long, value_delimiter = ',', value_parser = parse_group, value_name = "N,N,...", help_heading = "What to compute")]
    pub by_threads: Vec<u64>,
    /// Percentiles of the tables
    #[arg(long, value_delimiter = ',', value_parser = parse_percentile, default_value = "90,95,99", value_name = "P,P,...", help_heading = "What to compute")]
    pub percentiles: Vec<f64>,
    /// Definition of median and percentiles in the tables
    #[arg(long, value_enum, default_value_t, value_name = "RULE", help_heading = "What to compute")]
    pub quantiles: Quantiles,
    /// Interval in which arrivals are counted [default: twice the mean headway]
    #[arg(long, value_parser = parse_interval, value_name = "TIME", help_heading = "What to compute")]
    pub counts_per: Option<Nanos>,
    /// Cell widths of --histograms
    #[arg(long, value_delimiter = ',', value_parser = parse_interval, default_value = "10ms,100ms", requires = "histograms", value_name = "TIME,TIME,...", help_heading = "What to compute")]
    pub cells: Vec<Nanos>,
    /// Most cells of a histogram; larger values are counted in one last row
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), default_value = "10000", requires = "histograms", value_name = "N", help_heading = "What to compute")]
    pub max_cells: u64,
    /// Labels of the requests that are pages: compute the number of users from the rate of pages
    #[arg(long, value_delimiter = ',', value_name = "LABEL,LABEL,...", help_heading = "What to compute")]
    pub pages: Vec<String>,
    /// Measure of spread in the tables [default: cov; with --quantiles brady: vmr]
    #[arg(long, value_enum, value_name = "MEASURE", help_heading = "What to compute")]
    pub dispersion: Option<Dispersion>,
    /// Seed of the draws that spread stamps over their resolution
    #[arg(long, value_parser = parse_seed, allow_negative_numbers = true, default_value = "1", value_name = "N", help_heading = "What to compute")]
    pub seed: u64,
    /// What becomes of the results.
    #[command(flatten)]
    pub output: AuditOutput,
}

/// What becomes of an audit's results.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct AuditOutput {
    /// Reports in files.
    #[command(flatten)]
    pub reports: ReportFiles,
    /// Write the tables as CSV files to a new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write histograms of headways and response times by label as CSV files to a new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub histograms: Option<PathBuf>,
    /// Write the judged requests as CSV to a new file: selected, shifted, with dates
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub rows: Option<PathBuf>,
    /// Write the failed requests as CSV to a new file, with times and messages
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub failures: Option<PathBuf>,
    /// Write every row that cannot be read as CSV to a new file, with its line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub unreadable: Option<PathBuf>,
    /// Show all of the report: files, evidence of the pattern, tables
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub details: bool,
    /// Print no progress and no report; the exit code tells the verdict
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
    /// Exit with 97 if the verdict on the load (--expect) is INCONCLUSIVE
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}

/// What the stamps of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Stamps {
    /// Decided by the threads and the order of the rows; else the tool's default
    #[default]
    Auto,
    /// Starts of requests
    Start,
    /// Ends of requests
    End,
}

/// Which way rows move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Shift {
    /// Later
    Add,
    /// Earlier
    Subtract,
}

/// How quantiles are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Quantiles {
    /// Smallest x with F(x) >= p
    #[default]
    Smallest,
    /// As in Brady's tool (2012); prints its tables
    Brady,
}

/// Measure of spread in tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Dispersion {
    /// Coefficient of variation: standard deviation over mean
    Cov,
    /// Variance-to-mean ratio
    Vmr,
}

/// `headway lab`.
#[derive(ClapArgs, Debug, Clone)]
pub struct LabArgs {
    /// Which experiment [default: list them]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Seed of every random draw
    #[arg(long, value_parser = parse_seed, allow_negative_numbers = true, default_value = "1", value_name = "N")]
    pub seed: u64,
    /// Number of replications, each with its own random draws, for mean and range of every number [default: the
    /// experiment's own]
    #[arg(long, allow_negative_numbers = true, value_parser = units::parse_count, value_name = "N")]
    pub replications: Option<u64>,
    /// Also run against a target on this machine, where the lab can (brady: 20 s)
    #[arg(long)]
    pub live: bool,
    /// Shorten what runs on this machine to some seconds (poisson-udp): a look, no figures
    #[arg(long)]
    pub short: bool,
    /// Reports in files.
    #[command(flatten)]
    pub reports: ReportFiles,
}

fn formats_help() -> String {
    let rows = headway_import::formats::ALL.iter().map(|f| format!("  {:<18}{}", f.name(), f.about()));
    format!("Formats, recognised by their content (gz and zst too):\n{}", rows.collect::<Vec<_>>().join("\n"))
}

fn parse_expect(text: &str) -> Result<Expect, UnitError> {
    let bad = |why: &str| {
        UnitError::new(text, format!("an expectation{why}: write for example poisson,rate=500/s"))
    };
    let (mut process, mut rate) = (None, None);
    for part in units::split_outside_brackets(text) {
        let before = match part.trim().split_once('=') {
            Some(("rate", value)) => rate.replace(units::parse_rate(value)?).is_some(),
            Some((name, _)) => return Err(bad(&format!(" ('{name}' is not rate)"))),
            None => process.replace(Process::parse(part)?).is_some(),
        };
        if before {
            return Err(bad(" (something is named twice)"));
        }
    }
    match (process, rate) {
        (Some(process), Some(rate)) => Ok(Expect { process, rate }),
        (None, _) => Err(bad(" (the process is missing)")),
        (_, None) => Err(bad(" (the rate is missing)")),
    }
}

fn parse_zone(text: &str) -> Result<TimeZone, UnitError> {
    TimeZone::get(text).map_err(|_| {
        UnitError::new(text, "a time zone: write a name such as UTC, Europe/Berlin or America/Los_Angeles")
    })
}

fn parse_group(text: &str) -> Result<u64, UnitError> {
    units::parse_count(text)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| UnitError::new(text, "a number of users: write for example 1,2,5,10"))
}

pub(super) fn parse_percentile(text: &str) -> Result<f64, UnitError> {
    units::parse_number(text).ok().filter(|&p| p > 0.0 && p < 100.0).ok_or_else(|| {
        UnitError::new(text, "a percentile: write numbers above 0 and below 100, such as 90,95,99.9")
    })
}

fn parse_interval(text: &str) -> Result<Nanos, UnitError> {
    let time = units::parse_time(text)?;
    if time > Nanos::ZERO {
        Ok(time)
    } else {
        Err(UnitError::new(text, "a time above zero: write for example 100ms"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Rate;

    #[test]
    fn expectations() {
        let expect = |text: &str| parse_expect(text).map_err(|e| e.to_string());
        assert_eq!(expect("poisson,rate=500/s"), Ok(Expect { process: Process::Poisson, rate: Rate(500.0) }));
        let gamma = Expect { process: Process::Gamma { cov: 2.5 }, rate: Rate(2.0) };
        assert_eq!(expect("rate=120/1m, gamma(2.5)"), Ok(gamma));
        let batches = Process::parse("batch(poisson,geometric(3))").unwrap();
        assert_eq!(
            expect("batch(poisson, geometric(3)), rate=5"),
            Ok(Expect { process: batches, rate: Rate(5.0) })
        );
        for (text, part) in [
            ("poisson", "the rate is missing"),
            ("rate=5", "the process is missing"),
            ("posson,rate=5", "did you mean poisson?"),
            ("poisson,rate=fast", "a rate"),
            ("poisson,rate=5,rate=6", "named twice"),
            ("poisson,constant,rate=5", "named twice"),
            ("poisson,cov=5", "'cov' is not rate"),
            ("", "an arrival process"),
        ] {
            let error = expect(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        assert!(parse_percentile("100").is_err() && parse_percentile("0").is_err());
        assert_eq!(parse_percentile("99.9"), Ok(99.9));
        assert!(parse_group("0").is_err() && parse_group("1.5").is_err());
        assert!(parse_interval("0s").is_err());
        assert!(parse_zone("Europe/Berlin").is_ok());
        assert!(parse_zone("Mars/Olympus").unwrap_err().to_string().contains("Europe/Berlin"));
    }
}
