//! A simulation of a scenario file, read and checked: one run, or a study of several.

use super::scenario::{Alternative, File, demands};
use super::study::{self, StudySettings};
use super::{Load, bounds, flags, new_seed, shard};
use crate::args::{OutputArgs, SimArgs};
use crate::repeat;
use crate::repeat::Typed;
use anyhow::{Result, anyhow, bail};
use headway_base::units::nearest;
use headway_engine::destination::Address;
use headway_engine::experiment::part::PartOf;
use headway_engine::simulate::{Play, bounded};
use headway_engine::{Keep, Place, RunSpec, Sim};
use headway_stats::thresholds::check_steps;
use headway_workload::Shard;
use headway_workload::model::Model;
use headway_workload::scenario::{Override, Scenario};

/// What `headway sim` was asked for.
#[derive(Clone, Debug)]
pub enum SimCommand {
    /// One model, once.
    Run(Box<SimSettings>),
    /// Several models, values or replications.
    Study(Box<StudySettings>),
    /// One shard of a study.
    Part(Box<PartSettings>),
}

/// A shard of a study, resolved.
#[derive(Clone, Debug)]
pub struct PartSettings {
    /// The whole study.
    pub study: StudySettings,
    /// The place that all shards share.
    pub out: Address,
    /// Which shard.
    pub shard: Shard,
    /// The variables of the environment that named it, if they did.
    pub shard_by: Option<String>,
    /// What its folder says of it.
    pub part: PartOf,
}

/// A single simulated run, resolved.
#[derive(Clone, Debug)]
pub struct SimSettings {
    /// What it is.
    pub spec: RunSpec,
    /// What plays it.
    pub sim: Sim,
    /// The load in words and in lengths.
    pub load: Load,
    /// What becomes of the results.
    pub output: OutputArgs,
}

impl SimSettings {
    /// Whether the records of single requests are kept.
    pub fn logs(&self) -> bool {
        self.spec.keep.as_ref().is_some_and(|keep| keep.log)
    }
}

/// The scenario file, with what `--set` says.
fn read(args: &SimArgs) -> Result<File> {
    Ok(flagged(File::read(&args.scenario, "{ arrive: { rate: 50/s } }", Alternative::Nothing)?, args))
}

/// A scenario file with what its flags say.
fn flagged(file: File, args: &SimArgs) -> File {
    let mut file = file.hiding(args.secrets.redactor());
    file.push(flags::phases(&args.phases));
    file.set(&args.set);
    file.push(flags::tolerances(&args.tolerances));
    file
}

/// The file that a simulation's scenario amounts to, with its flags.
///
/// # Errors
/// Whatever the user can mend, in words.
pub fn document(args: &SimArgs, words: &Typed) -> Result<String> {
    let mut file = read(args)?;
    file.push(args.seed.map(|seed| Override::flag("--seed", "seed", &seed.to_string())));
    file.push(flags::thresholds(&args.demands, None));
    file.document(words)
}

/// What `headway sim` was asked for, resolved.
///
/// # Errors
/// Whatever the user can mend, in words.
pub fn asked(args: &SimArgs, words: &Typed) -> Result<SimCommand> {
    let file = read(args)?;
    let several =
        args.replications.is_some_and(|r| r != 1) || !args.sweeps.is_empty() || args.beside.is_some();
    let first = study::first(&file, args)?;
    modelled(&first, args)?;
    let several = several || first.models.len() > 1 && args.model.is_none();
    if let Some(part) = args.shard {
        if !several {
            bail!(
                "--shard divides the plays of a study, and this is a single play: leave it out, or play several (--replications, --sweep)"
            );
        }
        let (shard, shard_by) = shard::asked(part, args.seed.or(first.seed))?;
        let out = fits_a_part(args, &first)?;
        let words = repeat::of_all_shards(&super::hidden(words, &first.redactor));
        let study = study::resolve(&file, &first, args, &words)?;
        let part = PartOf::new(&study.spec, shard, words.words, study.scenario.clone());
        return Ok(SimCommand::Part(Box::new(PartSettings { study, out, shard, shard_by, part })));
    }
    if several {
        return Ok(SimCommand::Study(Box::new(study::resolve(&file, &first, args, words)?)));
    }
    Ok(SimCommand::Run(Box::new(run(&file, first, args, words)?)))
}

/// The study that a part's words and scenario come to, with these results; `args` are the words, read.
///
/// # Errors
/// Whatever the user can mend, in words.
pub fn study_of_part(args: &SimArgs, part: &PartOf) -> Result<StudySettings> {
    let file = flagged(File::of(&args.scenario, part.scenario.clone()), args);
    let first = study::first(&file, args)?;
    modelled(&first, args)?;
    let typed = Typed { words: part.words.clone(), redactor: first.redactor.clone() };
    // The scenario as it was written: this one has in its comments what was put into it, and would have it twice.
    Ok(StudySettings { scenario: part.scenario.clone(), ..study::resolve(&file, &first, args, &typed)? })
}

/// Where a part goes, which has no report and no outcome of its own.
fn fits_a_part(args: &SimArgs, first: &Scenario) -> Result<Address> {
    if args.seed.or(first.seed).is_none() {
        bail!("--shard needs --seed (or `seed:` in the file): all shards must draw the same plan");
    }
    let OutputArgs { reports, show, strict, .. } = &args.output;
    let of_all = [
        (args.beside.is_some(), "--beside"),
        (*strict, "--strict"),
        (show.open, "--open"),
        (show.details, "--details"),
    ];
    if let Some((_, flag)) = of_all.iter().find(|(given, _)| *given) {
        bail!("{flag}: a shard reports nothing: leave it out, or give it to `headway merge`, if that has it");
    }
    if let Some(wanted) = reports.wanted().first() {
        bail!("{}: a shard writes no report: give it to `headway merge` of all shards", wanted.typed());
    }
    let out = args.output.out.as_ref().ok_or_else(|| {
        anyhow!(
            "--shard needs --out DEST, the place that all shards share: `headway merge DEST` makes the study"
        )
    })?;
    Ok(Address::parse(out)?)
}

/// The settings of a single run of the only model, or of the one that `args` names.
///
/// # Errors
/// Whatever the user can mend, in words.
pub fn simulated(args: &SimArgs, words: &Typed) -> Result<SimSettings> {
    let file = read(args)?;
    run(&file, file.scenario(&[])?, args, words)
}

fn run(file: &File, scenario: Scenario, args: &SimArgs, words: &Typed) -> Result<SimSettings> {
    modelled(&scenario, args)?;
    let mut thresholds = demands(&scenario)?;
    thresholds.extend(args.demands.past(&scenario.redactor, &scenario.labels));
    check_steps(&thresholds, &scenario.labels).map_err(anyhow::Error::msg)?;
    // A simulation is not cut short: what it is told is told at its end.
    thresholds.iter_mut().for_each(|threshold| threshold.abort_after = None);
    let seed = seed(&scenario, args);
    let model = model(&scenario, args.model.as_deref())?.clone();
    let load =
        Load { overridden: file.overridden(&scenario), ..Load::of(&scenario, seed, Shard::WHOLE, None) };
    bounded(&load.plan, &model)?;
    let mut base = load.spec(&scenario, words);
    base.shown.percentiles = args.output.show.percentiles.clone();
    base.shown.notes = args.notes.kept(&scenario.redactor)?;
    let output = args.output.clone();
    let keeps = output.out.is_some() || args.log;
    let sim = Sim {
        capped: scenario.settings.connections.is_some(),
        streamed: scenario.script.streamed(),
        ..Sim::new(model)
    };
    let spec = RunSpec {
        limits: bounds::simulated(&scenario),
        scenario: Some(scenario.redacted),
        thresholds,
        keep: keeps.then(|| Keep {
            place: Place::of(output.out.clone()),
            log: args.log || output.out.is_some() && !output.no_log,
        }),
        ..base
    };
    Ok(SimSettings { spec, sim, load, output })
}

/// The scenario must have something to play against.
fn modelled(scenario: &Scenario, args: &SimArgs) -> Result<()> {
    if scenario.models.is_empty() {
        bail!(
            "{}: a simulation needs `model:`, what stands in the target's place; for example\nmodel: {{ servers: 4, service: \
             exp(8ms) }}",
            args.scenario
        );
    }
    Ok(())
}

/// What is to be played of that scenario, against the model of that name or the only one.
pub(super) fn play(scenario: &Scenario, name: Option<&str>, seed: u64) -> Result<Play> {
    let plan = scenario.plan(seed, Shard::WHOLE);
    let model = model(scenario, name)?.clone();
    bounded(&plan, &model)?;
    let streamed = scenario.script.streamed();
    Ok(Play { limits: bounds::simulated(scenario), plan, model, streamed })
}

/// The seed of the first replication.
pub(super) fn seed(scenario: &Scenario, args: &SimArgs) -> u64 {
    args.seed.or(scenario.seed).unwrap_or_else(new_seed)
}

/// The model of that name, or the only one.
pub(super) fn model<'a>(scenario: &'a Scenario, name: Option<&str>) -> Result<&'a Model> {
    if let Some(step) = scenario.elsewhere {
        let title = "a model stands for one target, and this step goes to another origin";
        let help =
            "write the path of the step alone, as in get: /items, or leave the step out of what is simulated";
        bail!("{}", scenario.complaint(step, title, Some(help)));
    }
    let names = || scenario.models.iter().map(|(name, _)| name.as_str());
    let found = match name {
        None => scenario.model(),
        Some(name) => scenario.models.iter().find(|(own, _)| own == name).map(|(_, model)| model),
    };
    found.ok_or_else(|| {
        let all = names().collect::<Vec<_>>().join(", ");
        match name {
            None => anyhow!("the scenario has several models: name one of {all} by --model"),
            Some(name) => {
                let guess =
                    nearest(name, names()).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
                anyhow!("the scenario has no model '{name}'{guess} (its models: {all})")
            }
        }
    })
}
