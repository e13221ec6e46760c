//! The flags of `headway sim`, as typed, and what a sweep is: a parameter and the values that it takes, as text.

use super::{
    NoteArgs, OutputArgs, Part, PhasesArgs, ScenarioArgs, SecretArgs, ThresholdArgs, ToleranceArgs,
    parse_seed,
};
use clap::Args as ClapArgs;
use headway_base::units::{self, UnitError};
use std::path::PathBuf;

/// Most values of one sweep, and most points of a study.
pub const MOST_POINTS: usize = 10_000;

/// Most digits after the decimal point of a range's numbers.
const MOST_DECIMALS: usize = 12;

const OUT: &str = "The folder of the results, of a run (as of a live one) or a study (study.json, report.html); must not exist, or be \
                   empty [default: none, or with --log headway-runs/<time>-<name>]. With --shard the place that all shards share, a folder \
                   or s3://bucket/prefix (gs://, az://)";
const QUIET: &str = "Print no progress and no report; the exit code tells the outcome";
const NO_LOG: &str = "With --out: keep no record of single requests in the folder of a run";

/// `headway sim`.
#[derive(ClapArgs, Debug, Clone)]
#[command(mut_arg("out", |arg| arg.help(OUT)), mut_arg("quiet", |arg| arg.help(QUIET)))]
#[command(mut_arg("no_log", |arg| arg.help(NO_LOG)))]
pub struct SimArgs {
    /// The scenario file, with a `model:` of the target, or `models:` to compare
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Play this one of the file's models [default: all, compared with common random numbers]
    #[arg(long, value_name = "NAME", help_heading = "What to play")]
    pub model: Option<String>,
    /// Replications of each point, each with its own seed: intervals are over the replications [default: 1]
    #[arg(long, allow_negative_numbers = true, value_parser = units::parse_count, value_name = "R", help_heading = "What to play")]
    pub replications: Option<u64>,
    /// Play at each of these values; several sweeps make all combinations. PARAM: rate (where the only group
    /// arrives), users (where the only group stays), model, or a path of keys of the file (model.servers,
    /// users.NAME.arrive.rate, users.think). SPEC: from..to/step
    /// (100..1200/50, 10ms..100ms/10ms) or a list (1,2,5)
    #[arg(long = "sweep", value_parser = Sweep::parse, value_name = "PARAM=SPEC", help_heading = "What to play")]
    pub sweeps: Vec<Sweep>,
    /// What takes the place of the phases of the only group.
    #[command(flatten)]
    pub phases: PhasesArgs,
    /// What takes the place of values of the scenario.
    #[command(flatten)]
    pub set: ScenarioArgs,
    /// Seed of every random draw, the same for every point [default: the file's, else a new one, printed]
    #[arg(long, value_parser = parse_seed, allow_negative_numbers = true, value_name = "N", help_heading = "What to play")]
    pub seed: Option<u64>,
    /// Threads for simulations; the results do not depend on it [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024), value_name = "N", help_heading = "What to play")]
    pub threads: Option<u32>,
    /// Play only shard i of N of a study (i from 0), one of N machines: points x replications are divided, and `headway merge` of the place that
    /// all shards share (--out) makes the study. auto: as the variables of Kubernetes, Slurm, Open MPI or AWS Batch say
    #[arg(long, value_parser = Part::parse, value_name = "i/N|auto", help_heading = "What to play")]
    pub shard: Option<Part>,
    /// Compare a recorded run (its folder, its summary, or another tool's results) with replications of the model, 10 where
    /// --replications says nothing else: in the report, in JSON, and drawn in the HTML report
    #[arg(long, value_name = "RUN")]
    pub beside: Option<PathBuf>,
    /// Keep a record of every request of a single run, in its run folder (--out, else `headway-runs/<time>-<name>`): audit and
    /// report read it
    #[arg(long, conflicts_with = "no_log")]
    pub log: bool,
    /// Thresholds, judged at each point of a study.
    #[command(flatten)]
    pub demands: ThresholdArgs,
    /// What is tolerated of the generator.
    #[command(flatten)]
    pub tolerances: ToleranceArgs,
    /// What is noted of it.
    #[command(flatten)]
    pub notes: NoteArgs,
    /// What is hidden.
    #[command(flatten)]
    pub secrets: SecretArgs,
    /// What becomes of the results; a run folder is written only with --out or --log.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A parameter and its values, in order, as they stand in the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sweep {
    /// `rate`, `users`, `model`, or a path of keys.
    pub name: String,
    /// At least one, all different.
    pub values: Vec<String>,
}

impl Sweep {
    /// Reads `PARAM=SPEC`.
    ///
    /// # Errors
    /// No parameter, no value, one that is there twice, or a range that is none.
    pub fn parse(text: &str) -> Result<Sweep, UnitError> {
        let (name, spec) = text.split_once('=').ok_or_else(|| {
            UnitError::new(
                text,
                "a sweep: write PARAM=from..to/step or PARAM=a,b,c, such as rate=100..1200/50",
            )
        })?;
        let (name, spec) = (name.trim(), spec.trim());
        if name.is_empty() {
            return Err(UnitError::new(
                text,
                "a sweep: the parameter's name stands before the =, as in rate=100,200",
            ));
        }
        let values = match spec.split_once("..") {
            Some((from, rest)) if is_number(from) => range(spec, from, rest)?,
            _ => list(spec)?,
        };
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(value.as_str())) {
            return Err(UnitError::new(spec, format!("a list of different values: {twice} is there twice")));
        }
        Ok(Sweep { name: name.to_owned(), values })
    }
}

/// Whether it begins as a number does.
fn is_number(text: &str) -> bool {
    text.trim().trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// The values between commas that stand within no brackets.
fn list(spec: &str) -> Result<Vec<String>, UnitError> {
    let (mut values, mut depth, mut begins) = (Vec::new(), 0u32, 0);
    for (at, c) in spec.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                values.push(&spec[begins..at]);
                begins = at + 1;
            }
            _ => {}
        }
        if values.len() >= MOST_POINTS {
            return Err(UnitError::new(spec, format!("a list of at most {MOST_POINTS} values")));
        }
    }
    values.push(&spec[begins..]);
    if values.iter().any(|value| value.trim().is_empty()) {
        return Err(UnitError::new(spec, "a list of values: write a,b,c, none of them empty"));
    }
    Ok(values.into_iter().map(|value| value.trim().to_owned()).collect())
}

/// The values of `from..to/step`.
fn range(spec: &str, from: &str, rest: &str) -> Result<Vec<String>, UnitError> {
    let bad = |wanted: String| UnitError::new(spec, wanted);
    let Some((to, step)) = rest.rsplit_once('/').filter(|(_, step)| is_number(step)) else {
        return Err(bad(format!(
            "a range: the step is missing; write {}..{}/STEP",
            from.trim(),
            rest.trim()
        )));
    };
    let ends = [("begins with", from), ("ends with", to), ("has the step", step)];
    let mut numbers = [(0i128, 0usize); 3];
    let mut unit = "";
    for (number, (what, text)) in numbers.iter_mut().zip(ends) {
        let (digits, suffix) = decimal(text).ok_or_else(|| {
            bad(format!("a range of numbers: it {what} '{}'; write for example 100..1200/50", text.trim()))
        })?;
        *number = digits;
        if !suffix.is_empty() && !unit.is_empty() && suffix != unit {
            return Err(bad(format!(
                "a range: its units {unit} and {suffix} differ; write all of it in one"
            )));
        }
        if !suffix.is_empty() {
            unit = suffix;
        }
    }
    let places = numbers.iter().map(|(_, places)| *places).max().unwrap_or(0);
    let [first, last, step] = numbers.map(|(digits, own)| digits * 10i128.pow((places - own) as u32));
    if step <= 0 {
        return Err(bad("a range: its step must be above 0".into()));
    }
    if first > last {
        return Err(bad(format!(
            "a range: {} is above {}; write the lower end first",
            from.trim(),
            to.trim()
        )));
    }
    let n = (last - first) / step + 1;
    if n > MOST_POINTS as i128 {
        return Err(bad(format!("a range of at most {MOST_POINTS} values: it has {n}")));
    }
    Ok((0..n).map(|i| format!("{}{unit}", written(first + i * step, places))).collect())
}

/// A decimal number, exactly (its digits, and how many of them stand after the point), and the unit after it.
fn decimal(text: &str) -> Option<((i128, usize), &str)> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let ends = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, unit) = digits.split_at(ends);
    let (whole, after) = number.split_once('.').unwrap_or((number, ""));
    let unit = unit.trim();
    // 1e9 is a number in another notation, and no unit.
    let exponent = unit.strip_prefix(['e', 'E']).is_some_and(is_number);
    let digits = whole.len() + after.len();
    if digits == 0 || whole.len() > 18 || after.len() > MOST_DECIMALS || after.contains('.') || exponent {
        return None;
    }
    let value: i128 = format!("{whole}{after}").parse().ok()?;
    Some(((if negative { -value } else { value }, after.len()), unit))
}

/// That number with so many places after the point, without zeros at its end.
fn written(digits: i128, places: usize) -> String {
    let scale = 10i128.pow(places as u32);
    let (sign, size) = (if digits < 0 { "-" } else { "" }, digits.abs());
    let after = format!("{:0places$}", size % scale);
    match after.trim_end_matches('0') {
        "" => format!("{sign}{}", size / scale),
        after => format!("{sign}{}.{after}", size / scale),
    }
}
