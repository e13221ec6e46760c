//! The scenario of `run`, `plan` and `sim`: a file, or what flags make of a URL, with the values that take the place of its
//! own; and the file that both amount to.

use super::Load;
use super::flags::{self, Made};
use crate::args::{PlanArgs, RunArgs, ScenarioArgs};
use crate::exit;
use crate::repeat;
use crate::repeat::Typed;
use anyhow::{Context as _, Result, anyhow, bail};
use headway_convert::targets;
use headway_convert::tools::advice;
use headway_engine::audit::trace;
use headway_engine::files;
use headway_stats::thresholds::{Threshold, ThresholdError, check_steps};
use headway_workload::Target;
use headway_workload::arrivals::Logged;
use headway_workload::redact::{Cleared, Redactor};
use headway_workload::scenario::{Override, Scenario, Surroundings};
use headway_workload::yaml::comment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Whether a target on the command line is a file and no URL: by its name, which may be that of another tool's script, because there is
/// such a file (or a folder, which is then refused), or since it is `-`, standard input.
pub fn is_named(text: &str) -> bool {
    let yaml = [".yaml", ".yml", ".json", ".js", ".jmx", ".lua"].iter().any(|end| text.ends_with(end));
    !text.contains("://") && (text == "-" || yaml || Path::new(text).exists())
}

/// A scenario's text, and what takes the place of its values.
#[derive(Clone, Debug)]
pub struct File {
    path: String,
    text: String,
    redactor: Redactor,
    values: Vec<Override>,
    logs: Logs,
    /// Defaults of flags that were taken; none where there is a file.
    assumed: Option<Vec<String>>,
}

/// Bytes of a body in which secrets are looked for.
const MOST_LEARNT: usize = 1 << 20;

/// What a verb takes in place of the file of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alternative {
    /// A URL.
    Url,
    /// Nothing: it sends nothing.
    Nothing,
}

impl File {
    /// Reads it; `-` is standard input. A list of targets becomes a scenario for users that come as `group` says.
    pub(super) fn read(path: &str, group: &str, other: Alternative) -> Result<File> {
        if path.contains("://") && other == Alternative::Nothing {
            bail!(
                "{path}: a URL, and a simulation sends nothing to one; name a scenario's file that holds a model, or - for standard input"
            );
        }
        if let Some(what) = advice::script(path) {
            bail!("{what}");
        }
        let read = || -> Result<String> {
            let bytes = match path {
                "-" => super::standard_input(files::MOST_OF_A_SCENARIO)?,
                path => files::read(Path::new(path), files::MOST_OF_A_SCENARIO)?,
            };
            let text = String::from_utf8(bytes).context("it is not UTF-8 text")?;
            if let Some(what) = advice::held(&text) {
                bail!("{what}");
            }
            if targets::is_one(&text) { targets::scenario(&text, group) } else { Ok(text) }
        };
        let text = read().map_err(|error| {
            let error = exit::in_words(&error);
            let url = match other {
                Alternative::Url => " or a URL (http://127.0.0.1:8080/)",
                Alternative::Nothing => "",
            };
            let files = if url.is_empty() { " or - for standard input" } else { ", - for standard input" };
            anyhow!("the scenario {path} cannot be read: {error}; accepted are a scenario's file{files}{url}")
        })?;
        Ok(File::of(path, text))
    }

    /// One of that text, which was read from `path`.
    pub(super) fn of(path: &str, text: String) -> File {
        let path = if path == "-" { "stdin" } else { path };
        File {
            path: path.to_owned(),
            text,
            redactor: Redactor::default(),
            values: Vec::new(),
            logs: Logs::default(),
            assumed: None,
        }
    }

    /// With what knows the names of secrets that the user has added.
    pub(super) fn hiding(self, redactor: Redactor) -> File {
        File { redactor, ..self }
    }

    /// A scenario that flags make.
    fn made(made: Made) -> File {
        let (path, redactor) = ("the flags".to_owned(), Redactor::default());
        File {
            path,
            text: made.text,
            redactor,
            values: made.values,
            logs: made.logs,
            assumed: Some(made.assumed),
        }
    }

    /// Puts values in the place of its own, after those before.
    pub(super) fn push(&mut self, values: impl IntoIterator<Item = Override>) {
        self.values.extend(values);
    }

    /// Puts the values of `--set` in the place of its own.
    pub(super) fn set(&mut self, set: &ScenarioArgs) {
        self.push(set.sets.iter().map(|set| Override::set(&set.path, &set.value)));
    }

    /// Whether it was made from flags alone.
    pub(super) fn is_made(&self) -> bool {
        self.assumed.is_some()
    }

    /// Flags that were left at their defaults.
    pub(super) fn assumed(&self) -> &[String] {
        self.assumed.as_deref().unwrap_or_default()
    }

    /// What takes the place of values of a file, as given, secrets replaced.
    pub(super) fn overridden(&self, scenario: &Scenario) -> Vec<Cleared> {
        let values = if self.is_made() { &[][..] } else { &self.values };
        values.iter().map(|value| scenario.redactor.clear(&value.shown())).collect()
    }

    /// A message without the values of `-H`, any of which may be a secret.
    fn without_headers(&self, message: &str) -> String {
        let mut redactor = self.redactor.clone();
        for value in self.values.iter().filter(|value| value.lead.starts_with("-H ")) {
            let shown = value.shown();
            shown[value.lead.len()..].split(char::is_control).for_each(|part| redactor.know(part));
        }
        redactor.hide(message).into_owned()
    }

    /// The file that this amounts to, with the command behind it in a comment.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn document(&self, words: &Typed) -> Result<String> {
        let scenario = self.scenario(&[])?;
        let command = repeat::command_as_it_was(&super::hidden(words, &scenario.redactor));
        let mut head = String::new();
        comment(&format!("The scenario of: {command}"), 0, &mut head);
        if let (false, false) = (self.is_made(), scenario.files.is_empty()) {
            comment(&format!("Files are named relative to the folder of {}.", self.path), 0, &mut head);
        }
        Ok(head + &scenario.document())
    }

    /// What it says, with these values in the place of its own.
    pub(super) fn scenario(&self, values: &[Override]) -> Result<Scenario> {
        let folder = Path::new(&self.path).parent().map(Path::to_path_buf).unwrap_or_default();
        let place = |name: &str| match Path::new(name).is_absolute() {
            true => PathBuf::from(name),
            false => folder.join(name),
        };
        let read = |name: &str| {
            let path = place(name);
            files::read(&path, files::MOST).map_err(|error| format!("{}: {error}", path.display()))
        };
        let env = |name: &str| std::env::var(name).ok();
        let values: Vec<Override> = self.values.iter().chain(values).cloned().collect();
        let log = |name: &str| self.logs.read(&if name == "-" { PathBuf::from(name) } else { place(name) });
        let around = Surroundings { read: &read, env: &env, log: &log };
        headway_workload::scenario::parse_hiding(
            &self.path,
            &self.text,
            &around,
            &values,
            self.redactor.clone(),
        )
        .map_err(|mistakes| anyhow!("{}", self.without_headers(&mistakes.to_string())))
    }
}

/// Logs of arrivals by path, each read once: a scenario is read several times.
#[derive(Clone, Debug, Default)]
pub(super) struct Logs(Arc<Mutex<BTreeMap<PathBuf, Arc<Logged>>>>);

impl Logs {
    /// The arrivals of a log; `-` is standard input.
    ///
    /// # Errors
    /// Why it gives none, in words.
    pub(super) fn read(&self, path: &Path) -> Result<Arc<Logged>, String> {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(logged) = logs.get(path) {
            return Ok(logged.clone());
        }
        let logged = Arc::new(trace(path).map_err(|error| format!("{error:#}"))?);
        logs.insert(path.to_owned(), logged.clone());
        Ok(logged)
    }
}

/// What `plan` is given: the load, and the labels of the steps.
///
/// # Errors
/// Whatever the user can mend, in words.
pub fn planned(args: &PlanArgs) -> Result<(File, Load, Vec<Cleared>)> {
    let mut file = match args.target.as_deref() {
        Some(path) if is_named(path) => File::read(path, flags::group(&args.load)?, Alternative::Url)?,
        target => {
            target.map(Target::parse).transpose()?;
            File::made(flags::bare(&args.load)?)
        }
    };
    file.push(flags::load(&args.load));
    file.set(&args.set);
    let (load, scenario) = Load::resolve(&mut file, &args.load)?;
    Ok((file, load, scenario.labels))
}

/// The scenario of `run`, from a file or a URL, with its flags.
pub(super) fn asked(args: &RunArgs, target: Option<&Target>) -> Result<File> {
    let mut file = match target {
        None => {
            let sent = [
                (args.method.is_some(), "-m"),
                (args.body.is_some(), "-b"),
                (args.body_file.is_some(), "--body-file"),
                (args.stream.is_some(), "--stream"),
            ];
            if let Some((_, flag)) = sent.iter().find(|(given, _)| *given) {
                bail!("{flag}: the steps of the scenario say what is sent (--set journey.0... changes one)");
            }
            let mut file = File::read(&args.target, flags::group(&args.load)?, Alternative::Url)?
                .hiding(args.secrets.redactor());
            for (name, value) in flags::headers(args, None)? {
                file.push([Override::text(&format!("-H {name}:"), "headers", &name, &value)]);
            }
            file
        }
        Some(target) => {
            let body = flags::body(args)?;
            let headers = flags::headers(args, Some(target))?;
            let redactor = redactor(args, &headers, &body.bytes);
            File::made(flags::request(args, target, &headers, &body)?).hiding(redactor)
        }
    };
    file.push(flags::load(&args.load));
    file.push(flags::settings(args));
    file.push(flags::thresholds(&args.demands, args.abort_on_crossed));
    file.push(flags::tolerances(&args.tolerances));
    file.set(&args.set);
    Ok(file)
}

/// What hides the secrets of a request and of the URL as typed.
fn redactor(args: &RunArgs, headers: &[(String, String)], body: &[u8]) -> Redactor {
    let mut redactor = args.secrets.redactor();
    redactor.know_url(&args.target);
    redactor.know_in(&String::from_utf8_lossy(&body[..body.len().min(MOST_LEARNT)]));
    for (name, value) in headers {
        redactor.know_header(name, value);
    }
    redactor
}

/// The thresholds that the file demands.
pub(super) fn demands(scenario: &Scenario) -> Result<Vec<Threshold>> {
    let mut all = Vec::with_capacity(scenario.thresholds.len());
    for demand in &scenario.thresholds {
        let wrong = |why: String| anyhow!("{}", scenario.complaint(demand.span, &why, None));
        let mut threshold: Threshold =
            demand.text.parse().map_err(|e: ThresholdError| wrong(e.to_string()))?;
        threshold = threshold.past(&scenario.redactor, &scenario.labels);
        check_steps(std::slice::from_ref(&threshold), &scenario.labels).map_err(wrong)?;
        threshold.abort_after = demand.abort;
        all.push(threshold);
    }
    Ok(all)
}
