//! The flags of `headway compare`, and those by which a run is compared with an earlier one, as typed.

use super::{ReportFiles, parse_seed};
use clap::Args as ClapArgs;
use headway_base::Nanos;
use headway_base::units::{self, UnitError};
use headway_stats::comparison::Condition;
use headway_workload::redact::{Cleared, Place, REDACTED, Redactor};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is demanded of a comparison, and in what the runs may differ.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct DemandArgs {
    /// Exit with code 99 if the interval shows this (repeatable): 'p(99) slower by 5%', 'rate lower by 2%', 'failed higher by 0.1%',
    /// 'response{step:NAME}: avg slower'
    #[arg(long = "fail-if", value_name = "CONDITION", help_heading = "Comparison")]
    pub fail_if: Vec<Condition>,
    /// Compare although the runs differ in this (repeatable): a part of the plan, such as rate
    #[arg(long, value_name = "WHAT", help_heading = "Comparison")]
    pub across: Vec<String>,
}

/// The run that a new one is compared with.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct BaselineArgs {
    /// Compare with this recorded run (its folder): below the report, and as comparison.json and comparison.html in the run folder
    #[arg(long, value_name = "RUN", help_heading = "Comparison")]
    pub baseline: Option<PathBuf>,
    /// What is demanded of the comparison.
    #[command(flatten)]
    pub demands: DemandArgs,
}

/// What the user notes of a run.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct NoteArgs {
    /// Keep this with the results, as in commit=4c81b15 (repeatable): a label, shown where runs are compared
    #[arg(long = "note", value_name = "KEY=VALUE", value_parser = Note::parse, help_heading = "Output")]
    pub notes: Vec<Note>,
}

impl NoteArgs {
    /// The notes, secrets replaced.
    ///
    /// # Errors
    /// A key that is there twice.
    pub fn kept(&self, redactor: &Redactor) -> anyhow::Result<BTreeMap<Cleared, Cleared>> {
        let mut all = BTreeMap::new();
        for Note { key, value } in &self.notes {
            let secret = [Place::Variable, Place::Field].iter().any(|place| redactor.hides(*place, key));
            let shown = if secret { REDACTED.into() } else { redactor.clear(value) };
            if all.insert(redactor.clear(key), shown).is_some() {
                anyhow::bail!("--note {key}=... is there twice: give each key once");
            }
        }
        Ok(all)
    }
}

/// `KEY=VALUE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What it is about.
    pub key: String,
    /// What is noted.
    pub value: String,
}

impl Note {
    /// Reads `KEY=VALUE`.
    ///
    /// # Errors
    /// No key, or no `=`.
    pub fn parse(text: &str) -> Result<Note, UnitError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Note { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(UnitError::new(text, "a note: write KEY=VALUE, such as commit=4c81b15")),
        }
    }
}

/// `headway compare`.
#[derive(ClapArgs, Debug, Clone)]
pub struct CompareArgs {
    /// Run folders, results of headway sim (JSON or folder), or results files of other tools; each is compared with the first
    #[arg(value_name = "RUN", required_unless_present = "live", conflicts_with = "live")]
    pub runs: Vec<PathBuf>,
    /// Compare live: send the same load to these targets, in rounds; the first is the one that the others are compared with
    #[arg(long, num_args = 2.., value_name = "URL", help_heading = "Live")]
    pub live: Vec<String>,
    /// With --live: the load, in place of -R: a scenario file, whose target is replaced
    #[arg(long, value_name = "FILE", requires = "live", help_heading = "Live")]
    pub scenario: Option<String>,
    /// Arrivals per second [default: 50/s]
    #[arg(short = 'R', long, value_name = "RATE", requires = "live", help_heading = "Live")]
    pub rate: Option<String>,
    /// Connection cap of each run
    #[arg(short = 'c', long, value_name = "N", requires = "live", help_heading = "Live")]
    pub connections: Option<String>,
    /// Number of rounds, at least 5: in each, all targets one after the other in random order, under the same plan [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(5..=10_000), requires = "live", help_heading = "Live")]
    pub rounds: Option<u64>,
    /// Measured phase of each run of a round [default: 20s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = units::parse_time, requires = "live", help_heading = "Live")]
    pub each: Option<Nanos>,
    /// Warm-up before each run of a round: sent, not compared [default: 2s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = units::parse_time, requires = "live", help_heading = "Live")]
    pub warmup: Option<Nanos>,
    /// Seed of the order and of the plans [default: a new one, printed]
    #[arg(long, value_parser = parse_seed, allow_negative_numbers = true, value_name = "N", requires = "live", help_heading = "Live")]
    pub seed: Option<u64>,
    /// With --live: keep the folder of every run in this folder; must not exist, or be empty
    #[arg(long, value_name = "DIR", requires = "live", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// What is demanded of the comparison.
    #[command(flatten)]
    pub demands: DemandArgs,
    /// Reports in files.
    #[command(flatten)]
    pub reports: ReportFiles,
    /// Show all rows
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub details: bool,
    /// Print no progress and no report; the exit code tells the outcome
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
    /// Exit with 97 if a condition of --fail-if is neither shown nor excluded
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
    /// With --live: more flags of headway run, behind --
    #[arg(last = true, value_name = "RUN FLAGS", requires = "live")]
    pub flags: Vec<String>,
}

impl CompareArgs {
    /// A flag of live comparisons that was given without `--live`: clap lets it pass where runs are named, which exclude `--live`.
    pub fn only_live(&self) -> Option<&'static str> {
        let flags = [
            (self.scenario.is_some(), "--scenario"),
            (self.rate.is_some(), "-R"),
            (self.connections.is_some(), "-c"),
            (self.rounds.is_some(), "--rounds"),
            (self.each.is_some(), "--each"),
            (self.warmup.is_some(), "--warmup"),
            (self.seed.is_some(), "--seed"),
            (self.out.is_some(), "--out"),
            (!self.flags.is_empty(), "what stands behind --"),
        ];
        flags.into_iter().filter(|_| self.live.is_empty()).find_map(|(given, flag)| given.then_some(flag))
    }
}
