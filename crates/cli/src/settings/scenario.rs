//! A run from a scenario file: read, checked, and what flags say on top of it.

use super::{Bounds, DEFAULT_MAX_BODY, Load, RunSettings, start, threads, thresholds};
use crate::args::{LoadArgs, RunArgs, ScenarioArgs};
use crate::files;
use anyhow::{Context as _, Result, anyhow, bail};
use headway_stats::thresholds::{Threshold, ThresholdError, check_steps};
use headway_workload::Shard;
use headway_workload::redact::Redactor;
use headway_workload::scenario::{Override, Scenario, Surroundings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a target on the command line is a scenario file and no URL: by its name, or because there is such a file.
pub fn is_named(text: &str) -> bool {
    let yaml = [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
    !text.contains("://") && (yaml || Path::new(text).is_file())
}

/// Reads a scenario file and what it names, with the values that are put into it.
///
/// # Errors
/// It cannot be read, or has mistakes: each with its place.
pub fn read(path: &str, set: &ScenarioArgs) -> Result<Scenario> {
    File::read(path)?.with(set).scenario(&[])
}

/// A scenario file's text.
#[derive(Clone, Debug)]
pub(super) struct File {
    path: String,
    text: String,
    redactor: Redactor,
    values: Vec<Override>,
}

impl File {
    /// Reads it.
    pub(super) fn read(path: &str) -> Result<File> {
        let read = || -> Result<String> {
            let bytes = files::read(Path::new(path), files::MOST_OF_A_SCENARIO)?;
            String::from_utf8(bytes).context("it is not UTF-8 text")
        };
        let text = read().with_context(|| format!("the scenario {path} cannot be read"))?;
        Ok(File { path: path.to_owned(), text, redactor: Redactor::default(), values: Vec::new() })
    }

    /// With what knows the names of secrets that the user has added.
    pub(super) fn hiding(self, redactor: Redactor) -> File {
        File { redactor, ..self }
    }

    /// With values in the place of its own.
    pub(super) fn with(self, set: &ScenarioArgs) -> File {
        let values = set.sets.iter().map(|set| Override::set(&set.path, &set.value)).collect();
        File { values, ..self }
    }

    /// What it says, with these values in the place of its own.
    pub(super) fn scenario(&self, values: &[Override]) -> Result<Scenario> {
        let folder = Path::new(&self.path).parent().map(Path::to_path_buf).unwrap_or_default();
        let read = |name: &str| {
            let path = if Path::new(name).is_absolute() { PathBuf::from(name) } else { folder.join(name) };
            files::read(&path, files::MOST).map_err(|error| format!("{}: {error}", path.display()))
        };
        let env = |name: &str| std::env::var(name).ok();
        let values: Vec<Override> = self.values.iter().chain(values).cloned().collect();
        let around = Surroundings { read: &read, env: &env };
        headway_workload::scenario::parse_hiding(
            &self.path,
            &self.text,
            &around,
            &values,
            self.redactor.clone(),
        )
        .map_err(|mistakes| anyhow!("{mistakes}"))
    }
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
    let mut scenario =
        File::read(&args.target)?.hiding(args.secrets.redactor()).with(&args.set).scenario(&[])?;
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
        labels: scenario.labels,
        script: Arc::new(script),
        load,
        limits,
        max_body,
        insecure: args.insecure || said.insecure.unwrap_or(false),
        start: args.start_at.as_deref().map(start).transpose()?,
        output: args.output.clone(),
        words: super::hidden(words, &scenario.redactor),
        scenario: Some(scenario.redacted),
        shown_target: scenario.redactor.hide_url(&target.url()).into_owned(),
        redactor: scenario.redactor,
        target,
    })
}

/// The bounds that the file sets.
pub(super) fn bounds(scenario: &Scenario) -> Bounds {
    let said = &scenario.settings;
    Bounds {
        connections: said.connections.map(u64::from),
        timeout: said.timeout,
        connect_timeout: said.connect_timeout,
        max_wait: said.max_wait,
        drain: said.drain,
    }
}

/// The thresholds that the file demands.
pub(super) fn demands(scenario: &Scenario) -> Result<Vec<Threshold>> {
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
    use std::fs;

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
