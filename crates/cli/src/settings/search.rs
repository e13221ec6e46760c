//! A search, resolved and checked: what would keep it from ending is found before anything is sent.

use super::scenario::{File, demands};
use super::{RunSettings, bounds, flags, load::Load, new_seed, sim};
use crate::args::{OutputArgs, SearchArgs};
use anyhow::{Result, bail};
use headway_base::Nanos;
use headway_engine::experiment::search::{SearchSpec, at_rate};
use headway_engine::simulate::bounded;
use headway_engine::{Backend, RunSpec, Sim};
use headway_report::format::{count, rate, time};
use headway_stats::search::Bounds;
use headway_stats::thresholds::check_steps;
use headway_workload::Shard;
use headway_workload::redact::Redactor;
use headway_workload::scenario::Override;

/// The first rate where none is given.
const FROM: f64 = 10.0;
/// The lowest rate where none is given.
const LOWEST: f64 = 0.1;

/// A search.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// What it is.
    pub spec: SearchSpec,
    /// The target or model, as it is shown.
    pub subject: String,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// Hides secrets.
    pub redactor: Redactor,
}

impl SearchSettings {
    /// Resolves what `headway search` was given.
    ///
    /// # Errors
    /// Whatever the user can mend, in words.
    pub fn resolve(args: &SearchArgs, words: &[String]) -> Result<SearchSettings> {
        if let Some((flag, why)) = args.out_of_place() {
            bail!("{flag}: {why}");
        }
        let bounds = rates(args)?;
        let (base, backend, subject, redactor) = match args.sim {
            true => simulated(args, words)?,
            false => {
                let RunSettings { spec, live, .. } = RunSettings::resolve(&args.run, words)?;
                let (subject, redactor) = (live.shown_target.clone(), live.redactor.clone());
                (spec, Backend::Live(Box::new(live)), subject, redactor)
            }
        };
        let base = RunSpec { keep: None, ..base };
        let spec = SearchSpec { base, backend, bounds, budget: args.budget, folder: None };
        // Whether the scenario can be searched at all.
        at_rate(&spec.base.plan, bounds.from, 1, Nanos::from_secs(1))?;
        let (least, shortest) = (spec.fewest_requests()?, spec.shortest_trial()?);
        if shortest > args.budget {
            bail!(
                "--budget {}: a trial that shows these thresholds to hold takes at least {} requests, which are {} at {}; write a longer \
                 --budget, or a higher --from",
                args.budget,
                count(least),
                time(shortest.as_secs_f64()),
                rate(bounds.from)
            );
        }
        Ok(SearchSettings { spec, subject, output: args.run.output.clone(), redactor })
    }
}

fn rates(args: &SearchArgs) -> Result<Bounds> {
    let from = args.from.as_ref().map(|from| from.value.0);
    let to = args.to.as_ref().map(|to| to.value.0);
    if let Some(given) = [&args.from, &args.to].into_iter().flatten().find(|given| given.value.0 <= 0.0) {
        bail!("a rate of {}: write one above zero, such as 50/s", given.text);
    }
    if let (Some(from), Some(to)) = (&args.from, &args.to)
        && from.value.0 >= to.value.0
    {
        bail!("--from {} is not below --to {}: nothing lies between them", from.text, to.text);
    }
    let first = from.unwrap_or_else(|| to.map_or(FROM, |to| FROM.min(to / 2.0)));
    Ok(Bounds { from: first, lowest: from.unwrap_or(LOWEST.min(first)), to, precision: args.precision })
}

/// The scenario's model.
fn simulated(args: &SearchArgs, words: &[String]) -> Result<(RunSpec, Backend, String, Redactor)> {
    let run = &args.run;
    let mut file = File::read(&run.target, "{ arrive: { rate: 50/s } }")?.hiding(run.secrets.redactor());
    file.set(&run.set);
    file.push(flags::tolerances(&run.tolerances));
    file.push(run.load.seed.map(|seed| Override::flag("--seed", "seed", &seed.to_string())));
    let scenario = file.scenario(&[])?;
    if scenario.models.is_empty() {
        bail!(
            "{}: --sim searches a model, and there is none: write `model:`, for example\nmodel: {{ servers: 4, service: exp(8ms) }}",
            run.target
        );
    }
    let mut thresholds = demands(&scenario)?;
    thresholds.extend(run.demands.thresholds.iter().cloned());
    check_steps(&thresholds, &scenario.labels).map_err(anyhow::Error::msg)?;
    let model = sim::model(&scenario, args.model.as_deref())?.clone();
    let load = Load::of(&scenario, scenario.seed.unwrap_or_else(new_seed), Shard::WHOLE, None);
    bounded(&load.plan, &model)?;
    let mut base = load.spec(&scenario, words);
    base.shown.notes = run.notes.kept(&scenario.redactor)?;
    let spec = RunSpec {
        scenario: Some(scenario.redacted.clone()),
        limits: bounds::simulated(&scenario.settings),
        thresholds,
        ..base
    };
    let subject = format!("the model of {}", run.target);
    let sim = Sim { capped: scenario.settings.connections.is_some(), ..Sim::new(model) };
    Ok((spec, Backend::Sim(Box::new(sim)), subject, scenario.redactor))
}
