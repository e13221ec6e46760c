//! A run from a scenario file: read, checked, and what flags say on top of it.

use super::{Bounds, DEFAULT_MAX_BODY, Load, RunSettings, start, threads, thresholds};
use crate::args::{LoadArgs, OutputArgs, RunArgs, SimArgs};
use anyhow::{Context as _, Result, anyhow, bail};
use sim::{Generator, RandomPauses};
use stats::thresholds::{Threshold, ThresholdError, check_steps};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workload::model::Model;
use workload::scenario::{Scenario, Surroundings};
use workload::{Limits, Shard};

/// Whether a target on the command line is a scenario file and no URL: by its name, or because there is such a file.
pub fn is_named(text: &str) -> bool {
    let yaml = [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
    !text.contains("://") && (yaml || Path::new(text).is_file())
}

/// Reads a scenario file and what it names.
///
/// # Errors
/// It cannot be read, or has mistakes: each with its place.
pub fn read(path: &str) -> Result<Scenario> {
    let text = fs::read_to_string(path).with_context(|| format!("the scenario {path} cannot be read"))?;
    let folder = Path::new(path).parent().map(Path::to_path_buf).unwrap_or_default();
    let read = |name: &str| {
        let path = if Path::new(name).is_absolute() { PathBuf::from(name) } else { folder.join(name) };
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let env = |name: &str| std::env::var(name).ok();
    workload::scenario::parse(path, &text, &Surroundings { read: &read, env: &env })
        .map_err(|mistakes| anyhow!("{mistakes}"))
}

impl Load {
    /// The load of a scenario.
    ///
    /// # Errors
    /// Flags that say what the scenario says.
    pub fn of_scenario(scenario: &Scenario, args: &LoadArgs) -> Result<Load> {
        let said = args.said_by_a_scenario();
        if !said.is_empty() {
            bail!(
                "{}: the scenario file says what the load is; change it there, or give a URL in its place",
                said.join(" ")
            );
        }
        let seed = args.seed.or(scenario.seed);
        if args.shard != Shard::WHOLE && seed.is_none() {
            bail!(
                "--shard {} needs --seed (or `seed:` in the file): all shards must draw the same plan",
                args.shard
            );
        }
        let plan = scenario.plan(seed.unwrap_or_else(super::new_seed), args.shard);
        Ok(Load {
            headline: super::load::in_words(&plan),
            requests: super::load::requests_asked(&plan),
            assumed: Vec::new(),
            lengths: None,
            plan,
        })
    }
}

/// The settings of a run from the scenario file that `args` names.
pub(super) fn settings(args: &RunArgs, words: &[String]) -> Result<RunSettings> {
    let mut scenario = read(&args.target)?;
    for (given, flag) in [
        (!args.headers.is_empty(), "-H"),
        (args.method.is_some(), "-m"),
        (args.body.is_some(), "-b"),
        (args.body_file.is_some(), "--body-file"),
    ] {
        if given {
            bail!("{flag}: the steps of the scenario say what is sent");
        }
    }
    let mut load = Load::of_scenario(&scenario, &args.load)?;
    let Some(target) = scenario.target.take() else {
        bail!("{}: a run needs `target: http://host:port` (only `headway sim` goes without)", args.target);
    };
    let said = &scenario.settings;
    let limits = Bounds::of_flags(args).or(bounds(&scenario)).resolve(&mut load)?;
    let mut demands = demands(&scenario)?;
    demands.extend(thresholds(args, &scenario.labels)?);
    let max_body = args.max_body.or(said.max_body).unwrap_or(DEFAULT_MAX_BODY);
    let script = scenario.script.with_seed(load.plan.seed).with_max_body(max_body);
    Ok(RunSettings {
        name: scenario.name.clone(),
        threads: threads(args.threads, limits.connections)?,
        thresholds: demands,
        target,
        labels: scenario.labels,
        script: Arc::new(script),
        load,
        limits,
        max_body,
        insecure: args.insecure || said.insecure.unwrap_or(false),
        start: args.start_at.as_deref().map(start).transpose()?,
        junit: args.demands.junit.clone(),
        output: args.output.clone(),
        words: words.to_vec(),
        scenario: Some(scenario.redacted),
    })
}

/// The bounds that the file sets.
fn bounds(scenario: &Scenario) -> Bounds {
    let said = &scenario.settings;
    Bounds {
        connections: said.connections.map(u64::from),
        timeout: said.timeout,
        connect_timeout: said.connect_timeout,
        max_wait: said.max_wait,
        drain: said.drain,
    }
}

/// The settings of a simulation of the scenario file that `args` names.
///
/// # Errors
/// Whatever the user can mend, in words.
pub fn simulated(args: &SimArgs, words: &[String]) -> Result<SimSettings> {
    let scenario = read(&args.scenario)?;
    let Some(model) = scenario.model() else {
        bail!(
            "{}: a simulation needs `model:`, what stands in the target's place; for example\nmodel: {{ servers: 4, service: \
             exp(8ms) }}",
            args.scenario
        );
    };
    let mut demands = demands(&scenario)?;
    demands.extend(args.demands.thresholds.iter().cloned());
    check_steps(&demands, &scenario.labels).map_err(anyhow::Error::msg)?;
    // A simulation is not cut short: what it is told is told at its end.
    demands.iter_mut().for_each(|demand| demand.abort_after = None);
    let seed = args.seed.or(scenario.seed).unwrap_or_else(super::new_seed);
    let plan = scenario.plan(seed, Shard::WHOLE);
    let pauses = model.pauses.clone().map(|p| RandomPauses::new(p.every, p.length, seed)).transpose()?;
    let load = Load {
        headline: super::load::in_words(&plan),
        requests: super::load::requests_asked(&plan),
        assumed: Vec::new(),
        lengths: None,
        plan,
    };
    Ok(SimSettings {
        name: scenario.name.clone(),
        limits: bounds(&scenario).simulated(&load)?,
        capped: scenario.settings.connections.is_some(),
        load,
        model: model.clone(),
        generator: Generator { random: pauses, ..Generator::default() },
        labels: scenario.labels,
        thresholds: demands,
        scenario: scenario.redacted,
        junit: args.demands.junit.clone(),
        output: args.output.clone(),
        words: words.to_vec(),
    })
}

/// A simulation, resolved.
#[derive(Clone, Debug)]
pub struct SimSettings {
    /// A short name.
    pub name: String,
    /// Who comes when.
    pub load: Load,
    /// Bounds of the whole run.
    pub limits: Limits,
    /// Whether the scenario sets a connection cap: a simulated generator has none of its own.
    pub capped: bool,
    /// What stands in the target's place.
    pub model: Model,
    /// The generator's own defects.
    pub generator: Generator,
    /// Labels of the steps.
    pub labels: Vec<String>,
    /// What is demanded of the numbers.
    pub thresholds: Vec<Threshold>,
    /// The scenario file as written.
    pub scenario: String,
    /// Where thresholds and load rules go as test cases.
    pub junit: Option<PathBuf>,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// The command line, secrets replaced.
    pub words: Vec<String>,
}

/// The thresholds that the file demands.
fn demands(scenario: &Scenario) -> Result<Vec<Threshold>> {
    let mut all = Vec::with_capacity(scenario.thresholds.len());
    for demand in &scenario.thresholds {
        let wrong = |why: String| anyhow!("{}", scenario.complaint(demand.span, &why, None));
        let mut threshold: Threshold =
            demand.text.parse().map_err(|e: ThresholdError| wrong(e.to_string()))?;
        check_steps(std::slice::from_ref(&threshold), &scenario.labels).map_err(wrong)?;
        threshold.abort_after = demand.abort;
        all.push(threshold);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_host_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bars");
        assert!(!is_named(path.to_str().unwrap()));
        fs::write(&path, "journey: [ { get: / } ]\n").unwrap();
        assert!(is_named(path.to_str().unwrap()));
        assert!(!is_named(folder.path().to_str().unwrap()));
        for (text, file) in
            [("gone.yaml", true), ("./a/b.yml", true), ("http://h/x.yaml", false), ("localhost:8080", false)]
        {
            assert_eq!(is_named(text), file, "{text}");
        }
    }
}
