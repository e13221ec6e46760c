//! A study: a scenario played with several models, values of its parameters, or replications.

use super::outputs::{STUDY, Subject, reports_fit};
use super::scenario::{File, demands};
use super::sim::{model, play, seed};
use crate::args::{MOST_POINTS, OutputArgs, SimArgs, Sweep};
use crate::repeat;
use crate::repeat::Typed;
use anyhow::{Context as _, Result, bail};
use headway_base::units::echoed;
use headway_engine::compare::{FEWEST_REPLICATIONS, REPLICATIONS};
use headway_engine::experiment::{StudySpec, SweepPoint};
use headway_engine::jobs;
use headway_report::format::plural;
use headway_report::words::findings::KEPT_BY_A_STUDY;
use headway_stats::Threshold;
use headway_stats::study::{MODEL, Parameter};
use headway_stats::thresholds::check_steps;
use headway_workload::redact::{Cleared, Redactor};
use headway_workload::scenario::{Override, Scenario};

/// Most plays of a study, points times replications.
const MOST_PLAYS: u64 = 1_000_000;

/// Several plays, resolved.
#[derive(Clone, Debug)]
pub struct StudySettings {
    /// What is played.
    pub spec: StudySpec,
    /// The scenario file as written.
    pub scenario: String,
    /// What becomes of the results.
    pub output: OutputArgs,
}

/// The scenario with the first value of each sweep.
///
/// # Errors
/// What is wrong with the file; with the values before it where the file is right without them.
pub(super) fn first(file: &File, args: &SimArgs) -> Result<Scenario> {
    let values = args.sweeps.iter().filter_map(|sweep| replaced(&sweep.name, sweep.values.first()?));
    let values: Vec<Override> = values.collect();
    file.scenario(&values).map_err(|wrong| match values.is_empty() || file.scenario(&[]).is_err() {
        true => wrong,
        false => wrong.context(
            values
                .iter()
                .map(|value| format!("--sweep {}", echoed(&value.shown())))
                .collect::<Vec<_>>()
                .join(" "),
        ),
    })
}

/// Values of parameters as they would be given.
fn in_words<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let all: Vec<String> = values.map(|(name, text)| format!("--sweep {name}={}", echoed(text))).collect();
    all.join(" ")
}

/// What a parameter's value replaces in the file; nothing where it names a model.
fn replaced(name: &str, text: &str) -> Option<Override> {
    (name != MODEL).then(|| Override::swept(name, text))
}

/// Resolves it; `first` is the scenario with the first value of each sweep.
pub(super) fn resolve(file: &File, first: &Scenario, args: &SimArgs, words: &Typed) -> Result<StudySettings> {
    let replications = args.replications.unwrap_or(if args.beside.is_some() { REPLICATIONS } else { 1 });
    if args.beside.is_some() && replications < FEWEST_REPLICATIONS {
        bail!(
            "--beside compares a run with what replications of the model come to, and {} tell too little of chance: leave \
             --replications out ({REPLICATIONS} are played), or write at least {FEWEST_REPLICATIONS}",
            plural(replications, "replication")
        );
    }
    let swept = parameters(first, args)?;
    // What is played is as it was typed, and what is told has passed the gate.
    let parameters: Vec<Parameter> = swept.iter().map(|sweep| shown(sweep, &first.redactor)).collect();
    let (thresholds, not_judged) = thresholds(first, args)?;
    refuse(args, &parameters, &thresholds)?;
    let points = parameters.iter().try_fold(1usize, |n, p| n.checked_mul(p.values.len()));
    let points = points.filter(|&n| n <= MOST_POINTS);
    let Some(points) = points else {
        let counts: Vec<String> = parameters.iter().map(|p| p.values.len().to_string()).collect();
        bail!("--sweep: {} points are more than {MOST_POINTS}; take wider steps", counts.join(" x "));
    };
    if replications == 0 || (points as u64).saturating_mul(replications) > MOST_PLAYS {
        bail!(
            "--replications {replications}: write a number from 1 to {} ({points} points, and at most {MOST_PLAYS} plays)",
            MOST_PLAYS / points as u64
        );
    }
    let seed = seed(first, args);
    let at = |index: usize| place(file, (&swept, &parameters), index, args.model.as_deref(), seed);
    let places: Vec<SweepPoint> = (0..points).map(at).collect::<Result<_>>()?;
    makes_a_difference(&parameters, &places)?;
    // The file itself, without the first values, unless it is nothing without them.
    let scenario = file.scenario(&[]).map_or_else(|_| first.redacted.clone(), |own| own.redacted);
    let spec = StudySpec {
        name: first.redactor.clear(&first.name),
        command: repeat::command(&super::hidden(words, &first.redactor), seed),
        seed,
        replications,
        parameters,
        places,
        threads: args.threads.map_or_else(jobs::cores, |n| n as usize),
        thresholds,
        not_judged,
        labels: first.labels.clone(),
        beside: None,
        notes: args.notes.kept(&first.redactor)?,
    };
    Ok(StudySettings { spec, scenario, output: args.output.clone() })
}

/// What each point is held to, and which thresholds of the file cannot be judged, as they were written: a study keeps response times, how requests
/// ended and whether they started, of all steps together.
fn thresholds(first: &Scenario, args: &SimArgs) -> Result<(Vec<Threshold>, Vec<Cleared>)> {
    let kept = |threshold: &Threshold| {
        threshold.metric.is_kept_by_studies() && (threshold.step.is_none() || first.labels.len() == 1)
    };
    let asked: Vec<Threshold> = args.demands.past(&first.redactor, &first.labels).collect();
    check_steps(&asked, &first.labels).map_err(anyhow::Error::msg)?;
    if let Some(threshold) = asked.iter().find(|threshold| !kept(threshold)) {
        bail!(
            "--threshold '{}': {KEPT_BY_A_STUDY}; hold a single run to it (one model, no --sweep, no --replications)",
            threshold.text
        );
    }
    let (judged, rest): (Vec<_>, Vec<_>) = demands(first)?.into_iter().partition(kept);
    let not_judged = rest.into_iter().map(|threshold| threshold.text).collect();
    Ok((judged.into_iter().chain(asked).collect(), not_judged))
}

/// What is about a single run, or has nothing to be about.
fn refuse(args: &SimArgs, parameters: &[Parameter], thresholds: &[Threshold]) -> Result<()> {
    let swept = parameters.iter().any(|parameter| parameter.name != MODEL && parameter.values.len() > 1);
    if args.output.strict && (swept || thresholds.is_empty()) {
        bail!(
            "--strict makes what is inconclusive end in exit code 97, and {}: leave it out",
            if swept {
                "a sweep ends in 0 wherever it crosses its thresholds"
            } else {
                "a study without thresholds decides nothing"
            }
        );
    }
    let show = &args.output.show;
    let of_a_run = [
        (args.log, "--log"),
        (!show.percentiles.is_empty(), "--percentiles"),
        (show.histogram, "--histogram"),
    ];
    if let Some((_, flag)) = of_a_run.iter().find(|(given, _)| *given) {
        bail!("{flag} is about a single run, and this is {STUDY}: leave it out, or play one model once");
    }
    reports_fit(&args.output.reports.wanted(), Subject::study())
}

/// A parameter as the study tells of it.
fn shown(sweep: &Sweep, gate: &Redactor) -> Parameter {
    let values = sweep.values.iter().map(|value| gate.clear(value)).collect();
    Parameter { name: gate.clear(&sweep.name), values }
}

/// What varies: the sweeps as they were given, and the models if there are several and nothing is said of them.
fn parameters(first: &Scenario, args: &SimArgs) -> Result<Vec<Sweep>> {
    let mut all: Vec<Sweep> = Vec::with_capacity(args.sweeps.len() + 1);
    for Sweep { name, values } in &args.sweeps {
        if all.iter().any(|other| other.name == *name) {
            bail!("--sweep {name} is given twice: write all of its values in one list");
        }
        if name == "seed" {
            bail!(
                "--sweep seed: the seed is no parameter of the scenario; --replications R plays each point with R seeds"
            );
        }
        if name == MODEL {
            if args.model.is_some() {
                bail!("--model names one model and --sweep model= several: give one of them");
            }
            for value in values {
                model(first, Some(value)).with_context(|| format!("--sweep {name}={}", echoed(value)))?;
            }
        }
        all.push(Sweep { name: name.clone(), values: values.clone() });
    }
    if first.models.len() > 1 && args.model.is_none() && all.iter().all(|p| p.name != MODEL) {
        let values = first.models.iter().map(|(name, _)| name.clone()).collect();
        all.push(Sweep { name: MODEL.to_owned(), values });
    }
    Ok(all)
}

/// The point of that number.
fn place(
    file: &File,
    (swept, parameters): (&[Sweep], &[Parameter]),
    index: usize,
    named: Option<&str>,
    seed: u64,
) -> Result<SweepPoint> {
    let mut rest = index;
    let mut at: Vec<usize> = Vec::with_capacity(swept.len());
    for sweep in swept.iter().rev() {
        at.push(rest % sweep.values.len());
        rest /= sweep.values.len();
    }
    at.reverse();
    let values = parameters.iter().zip(&at).map(|(parameter, &at)| parameter.values[at].clone()).collect();
    let all = || swept.iter().zip(&at).map(|(sweep, &at)| (sweep, &sweep.values[at]));
    let replaced: Vec<Override> = all().filter_map(|(p, text)| replaced(&p.name, text)).collect();
    let words =
        || in_words(all().filter(|(p, _)| p.name != MODEL).map(|(p, text)| (p.name.as_str(), text.as_str())));
    let named = all().find(|(p, _)| p.name == MODEL).map(|(_, text)| text.as_str()).or(named);
    let played = file.scenario(&replaced).and_then(|scenario| play(&scenario, named, seed));
    let play = if replaced.is_empty() { played? } else { played.with_context(words)? };
    Ok(SweepPoint { values, play })
}

/// Values that change nothing of what is played are a mistake: phases that say their own rate, for example.
fn makes_a_difference(parameters: &[Parameter], places: &[SweepPoint]) -> Result<()> {
    let mut apart = places.len();
    for parameter in parameters {
        apart /= parameter.values.len();
        let [first, second, ..] = &parameter.values[..] else { continue };
        // Points that differ in this parameter alone stand so far apart; another model may be the one that it is about.
        let same = (0..places.len())
            .filter(|i| (i / apart).is_multiple_of(parameter.values.len()))
            .all(|i| places[i].play == places[i + apart].play);
        if same && parameter.name != MODEL {
            let [first, second] = [first, second].map(|value| echoed(value));
            bail!("--sweep {}: {first} and {second} make no difference to what is played", parameter.name);
        }
    }
    Ok(())
}
