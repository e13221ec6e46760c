//! A search, resolved and checked: what would keep it from ending is found before anything is sent.

use super::scenario::{Alternative, File, demands};
use super::{RunSettings, bounds, flags, load::Load, new_seed, sim};
use crate::args::{Given, Named, OutputArgs, RunArgs, SearchArgs, Setting};
use crate::repeat::Typed;
use crate::settings::is_named;
use anyhow::{Context as _, Result, bail};
use headway_base::{Answer, Rate};
use headway_engine::compare::Across;
use headway_engine::experiment::search::{SearchSpec, beside, rate_of_what, seed_of};
use headway_engine::simulate::bounded;
use headway_engine::{Backend, RunSpec, Sim};
use headway_report::format::{plural, rate, time};
use headway_stats::search::{Bounds, RateOf};
use headway_stats::thresholds::check_steps;
use headway_workload::Shard;
use headway_workload::redact::{Cleared, Redactor};
use headway_workload::scenario::Override;
use std::path::PathBuf;

/// The first rate where none is given.
const FROM: f64 = 10.0;
/// The lowest rate where none is given.
const LOWEST: f64 = 0.1;

/// Searches: of one target or model, or of several targets in turns.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// What they are; at least one.
    pub specs: Vec<SearchSpec>,
    /// Whether the targets have names, and so folders, of their own.
    pub named: bool,
    /// The folder of the search that goes on.
    pub resume: Option<PathBuf>,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// Hide secrets.
    pub redactors: Vec<Redactor>,
}

impl SearchSettings {
    /// Resolves what `headway search` was given.
    ///
    /// # Errors
    /// Whatever the user can mend, in words.
    pub fn resolve(args: &SearchArgs, words: &Typed) -> Result<SearchSettings> {
        if let Some((flag, why)) = args.out_of_place() {
            bail!("{flag}: {why}");
        }
        let bounds = Bounds { from: FROM, lowest: LOWEST, to: None, precision: args.precision };
        let mut run = args.run.clone();
        if let (Some(folder), None) = (&args.resume, run.load.seed) {
            // Its seed is known only there, unless somebody chose it.
            run.load.seed = Some(seed_of(folder)?);
        }
        let mut specs = Vec::new();
        let mut redactors = Vec::new();
        let mut add = |(base, backend, target, redactor): Subject| {
            let base = RunSpec { keep: None, ..base };
            // Users who send datagrams that nobody answers wait for nothing.
            let one_way = matches!(&backend, Backend::Live(live) if live.answer == Some(Answer::None));
            let bracket = args.from.is_some() && args.to.is_some();
            specs.push(SearchSpec {
                base,
                backend,
                target,
                bounds,
                budget: args.budget,
                folder: None,
                probe: !args.no_probe && !bracket && !one_way,
                baseline: None,
            });
            redactors.push(redactor);
        };
        match &args.targets[..] {
            [] if args.sim => add(simulated(args, &run, words)?),
            [] => add(live(&run, words)?),
            targets => {
                for (i, target) in targets.iter().enumerate() {
                    if targets[..i].iter().any(|other| other.name == target.name) {
                        bail!(
                            "--target {}=... is there twice: give each target a name of its own",
                            target.name
                        );
                    }
                    let (base, backend, shown, redactor) = one_of_several(&run, target, words)
                        .with_context(|| format!("--target {}", target.name))?;
                    // All have the same draws.
                    run.load.seed = Some(base.plan.seed);
                    add((RunSpec { name: redactor.clear(&target.name), ..base }, backend, shown, redactor));
                }
            }
        }
        for spec in &mut specs {
            // Whether the scenario can be searched at all.
            let of = rate_of_what(&spec.base.plan)?;
            let bounds = if of == RateOf::Users { users(args, spec)? } else { rates(args)? };
            spec.bounds = bounds;
            let shortest = spec.shortest()?;
            if shortest > args.budget {
                bail!(
                    "--budget {}: one trial at {} lasts {}: a hundred times the limit, and 200 requests; write a longer --budget, a higher \
                     --from, or a lower limit",
                    args.budget,
                    if of == RateOf::Users { plural(bounds.from as u64, "user") } else { rate(bounds.from) },
                    time(shortest.as_secs_f64())
                );
            }
        }
        let against = &args.run.against;
        match &against.baseline {
            Some(path) => beside(path, &mut specs, &Across(against.demands.across.clone()))?,
            None if !against.demands.across.is_empty() => {
                bail!(
                    "--across is about a comparison: name the search to compare with by --baseline DIR, or leave it out"
                )
            }
            None => {}
        }
        let (named, resume) = (!args.targets.is_empty(), args.resume.clone());
        Ok(SearchSettings { specs, named, resume, output: args.run.output.clone(), redactors })
    }
}

/// A run, what plays it, its target or model as it is shown, and what hides its secrets.
type Subject = (RunSpec, Backend, Cleared, Redactor);

/// A live target.
fn live(run: &RunArgs, words: &Typed) -> Result<Subject> {
    let mut run = run.clone();
    if !is_named(&run.target) && run.load.users.is_none() && run.load.think.is_none() {
        // Trials have rates of their own; with one here, -c is a connection cap and no number of users.
        run.load.rate = Some(Given { text: "50/s".to_owned(), value: Rate(50.0) });
    }
    let RunSettings { spec, live, .. } = RunSettings::resolve(&run, words)?;
    let (target, redactor) = (live.shown_target.clone(), live.redactor.clone());
    Ok((spec, Backend::Live(Box::new(live)), target, redactor))
}

/// One of several targets, of one scenario if there is one.
fn one_of_several(run: &RunArgs, target: &Named, words: &Typed) -> Result<Subject> {
    let mut run = run.clone();
    match run.target.as_str() {
        "" if is_named(&target.url) => {
            bail!(
                "{} is a file or a folder: write a URL, as in {}=http://127.0.0.1:8080/",
                target.url,
                target.name
            )
        }
        "" => run.target.clone_from(&target.url),
        file if is_named(file) => {
            run.set.sets.push(Setting { path: "target".to_owned(), value: target.url.clone() });
        }
        url => bail!("{url} stands beside it: give every URL as --target NAME=URL, or a scenario file there"),
    }
    live(&run, words)
}

/// The numbers of closed users.
fn users(args: &SearchArgs, spec: &SearchSpec) -> Result<Bounds> {
    let number = |flag: &str, given: &Option<Given<Rate>>| -> Result<Option<f64>> {
        let Some(Given { text, .. }) = given else { return Ok(None) };
        match text.parse::<u32>() {
            Ok(n) if n > 0 => Ok(Some(f64::from(n))),
            _ => bail!(
                "{flag} {text}: closed users are searched (-u, --think, `closed:`): write a whole number from 1, such as {flag} 10"
            ),
        }
    };
    let [from, to] = [number("--from", &args.from)?, number("--to", &args.to)?];
    let from = match (&args.run.load.users, from) {
        (Some(_), Some(_)) => {
            bail!("-u says where the search begins, and so does --from: give one of the two")
        }
        (Some(users), None) => Some(users.value as f64),
        (None, from) => from,
    };
    // Users with a connection each are held back by the cap, which would be the generator's limit and not the target's.
    let own = spec.base.plan.groups.iter().any(|group| group.connections.are_own());
    let cap = f64::from(spec.base.limits.connections);
    let to = match to {
        Some(to) if own && to > cap => {
            bail!(
                "--to {to}: each user has a connection, and at most {cap} may be open: write a higher -c, or a lower --to"
            )
        }
        None if own => Some(cap),
        to => to,
    };
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        bail!(
            "{from} users, where the search begins, are not below {to}, where it ends (--to, or the connection cap -c): nothing lies between them"
        );
    }
    let first = from.unwrap_or_else(|| to.map_or(FROM, |to| FROM.min((to / 2.0).floor().max(1.0))));
    Ok(Bounds { from: first, lowest: from.unwrap_or(1.0), to, precision: args.precision })
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
fn simulated(args: &SearchArgs, run: &RunArgs, words: &Typed) -> Result<Subject> {
    let mut file = File::read(&run.target, "{ arrive: { rate: 50/s } }", Alternative::Nothing)?
        .hiding(run.secrets.redactor());
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
    thresholds.extend(run.demands.past(&scenario.redactor, &scenario.labels));
    check_steps(&thresholds, &scenario.labels).map_err(anyhow::Error::msg)?;
    let model = sim::model(&scenario, args.model.as_deref())?.clone();
    let load = Load {
        overridden: file.overridden(&scenario),
        ..Load::of(&scenario, scenario.seed.unwrap_or_else(new_seed), Shard::WHOLE, None)
    };
    bounded(&load.plan, &model)?;
    let mut base = load.spec(&scenario, words);
    base.shown.notes = run.notes.kept(&scenario.redactor)?;
    base.shown.proxy =
        scenario.settings.proxy.as_ref().map(|proxy| scenario.redactor.clear_url(&proxy.to_string()));
    let spec = RunSpec {
        scenario: Some(scenario.redacted.clone()),
        limits: bounds::simulated(&scenario),
        thresholds,
        ..base
    };
    let name = args.model.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let subject = scenario.redactor.clear(&format!("the model{name} of {}", run.target));
    let sim = Sim {
        capped: scenario.settings.connections.is_some(),
        streamed: scenario.script.streamed(),
        ..Sim::new(model)
    };
    Ok((spec, Backend::Sim(Box::new(sim)), subject, scenario.redactor))
}
