//! Scenario files: YAML text in, a checked [`Scenario`] out, or every mistake in it with its place.
//!
//! Three layers: [`tree`] (YAML with places), [`written`] (every key and its kind of value; the JSON Schema comes from
//! there), [`check`] (what fits together: groups of a plan, compiled journeys, a script). What fits
//! together is asked only when every value could be read, so that no complaint follows from another.
//!
//! Deliberately absent: files and environment ([`Surroundings`] brings them), what a threshold means (`stats`), what a
//! model does (`sim`).

mod check;
mod document;
mod environment;
mod leaves;
mod literals;
mod overrides;
mod read;
mod source;
mod syntax;
mod tree;
mod written;

pub use check::names_a_host;
pub use overrides::{Override, Value};
pub use source::{Diagnostics, Span};

use crate::arrivals::Logged;
use crate::connect::{Proxy, Routes, Tls};
use crate::content::Script;
use crate::model::Model;
use crate::plan::{Group, Plan};
use crate::redact::Cleared;
use crate::redact::Redactor;
use crate::shard::Shard;
use crate::target::HttpVersion;
use crate::target::Target;
use environment::Environment;
use headway_base::{Answer, Lateness, Nanos};
use read::{Read as _, Reader};
use source::{Problem, Source};
use std::fmt;
use std::sync::Arc;

/// A group may have so many users, or sessions at once.
pub const MOST_USERS: u64 = 10_000_000;
/// A file may be so long, in bytes.
pub const LONGEST_FILE: usize = 16 << 20;
/// A file may have so many keys and values, lists and mappings included.
pub const MOST_VALUES: usize = 250_000;
/// Most characters of the name of a step.
pub const LONGEST_NAME: usize = 200;
/// The journeys of a file may have so many steps in all.
pub const MOST_STEPS: usize = 10_000;
/// Origins of a scenario besides its target, at most.
pub const MOST_ORIGINS: usize = 64;

/// The world around a scenario file.
pub struct Surroundings<'a> {
    /// The bytes of a file, named relative to the scenario, or why it cannot be read.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// The value of an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// When requests arrived by a log, named relative to the scenario, or why it does not tell.
    pub log: &'a dyn Fn(&str) -> Result<Arc<Logged>, String>,
}

/// For where no logs are read.
///
/// # Errors
/// Always.
pub fn no_logs(_: &str) -> Result<Arc<Logged>, String> {
    Err("no logs are read here".to_owned())
}

/// A checked scenario.
pub struct Scenario {
    /// Its name: as written, or the file's stem.
    pub name: String,
    /// Where requests go; none is enough for a simulation.
    pub target: Option<Target>,
    /// The other origins that steps name, and redirects may lead to: number i stands at place i - 1.
    pub origins: Vec<Target>,
    /// Whether the last of them is the target's host by https, which nothing in the file names, but a redirect may.
    pub assumes_https: bool,
    /// The first step that goes to one of them.
    pub elsewhere: Option<Span>,
    /// The seed, if it is written.
    pub seed: Option<u64>,
    /// What is written of the settings that `run` has flags for.
    pub settings: Settings,
    /// Who comes and does what; at least one.
    pub groups: Vec<Group>,
    /// Where the measured phase begins: the latest end of warm-up.
    pub measured_from: Nanos,
    /// When nothing new starts any more: the end of the longest group's last phase, or [`crate::plan::LONGEST`] if all
    /// groups are work that ends by itself.
    pub end: Nanos,
    /// What is sent and what answers mean.
    pub script: Script,
    /// Names of the steps, in the order of their numbers.
    pub labels: Vec<Cleared>,
    /// What is demanded, not yet read.
    pub thresholds: Vec<ThresholdText>,
    /// What stands in the target's place in a simulation: none, one (named `model`), or several by name.
    pub models: Vec<(String, Model)>,
    /// Files that were read, as they are named.
    pub files: Vec<String>,
    /// The file as it was written, references to the environment not expanded, literal secrets replaced; below it, in
    /// comments, what was put into it.
    pub redacted: String,
    /// What hides the values that must not show.
    pub redactor: Redactor,
    source: Arc<Source>,
    tree: tree::Tree,
    secrets: Vec<Span>,
}

/// Settings that a file may have; what is none is left to flags and defaults.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    /// Most connections at once.
    pub connections: Option<u32>,
    /// Longest wait for an answer.
    pub timeout: Option<Nanos>,
    /// How long a response that has begun may stand still.
    pub idle_timeout: Option<Nanos>,
    /// Longest wait for a connection to be made.
    pub connect_timeout: Option<Nanos>,
    /// Longest wait for a free connection.
    pub max_wait: Option<Nanos>,
    /// How long sessions that have begun may go on after the last phase.
    pub drain: Option<Nanos>,
    /// Largest body of an answer, bytes.
    pub max_body: Option<u64>,
    /// How many redirects of one request are followed; 0: none.
    pub redirects: u32,
    /// Whether requests name the trace that they are of.
    pub traceparent: bool,
    /// Whether any certificate will do.
    pub insecure: Option<bool>,
    /// What TLS needs besides.
    pub tls: Tls,
    /// Where connections go in place of the host and port of the target, or of the proxy.
    pub routes: Routes,
    /// What requests go through.
    pub proxy: Option<Proxy>,
    /// How often the name that connections go to is read again.
    pub dns_refresh: Option<Nanos>,
    /// The version of HTTP.
    pub http: Option<HttpVersion>,
    /// Most requests at once on a connection that takes several, at least 1.
    pub streams: Option<u32>,
    /// Whether requests are spread over connections.
    pub spread: Option<bool>,
    /// Where an answer of plain bytes ends.
    pub answer: Option<Answer>,
    /// By how much of itself the generator's own delays may move a number.
    pub effect: Option<f64>,
    /// The longest lateness that is forgiven, where lateness itself is judged.
    pub lateness: Option<Lateness>,
    /// Share of the plan that may stay unsent, from 0 to 1.
    pub unsent: Option<f64>,
}

/// A threshold as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThresholdText {
    /// What is demanded.
    pub text: String,
    /// If it ends the run when crossed: how long after the beginning of the measured phase it is judged first.
    pub abort: Option<Nanos>,
    /// Where it stands.
    pub span: Span,
}

/// Reads a scenario. `name` is the file's, for messages and for what the scenario is called if it does not say.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(name: &str, text: &str, around: &Surroundings<'_>) -> Result<Scenario, Diagnostics> {
    parse_with(name, text, around, &[])
}

/// Reads a scenario with other values in place of some of the file's, one after the other.
///
/// # Errors
/// Everything that is wrong with it; a value that does not fit is shown with its path.
pub fn parse_with(
    name: &str,
    text: &str,
    around: &Surroundings<'_>,
    overrides: &[Override],
) -> Result<Scenario, Diagnostics> {
    parse_hiding(name, text, around, overrides, Redactor::default())
}

/// Reads a scenario as [`parse_with`] does; `redactor` knows the names of secrets, and secrets from elsewhere.
///
/// # Errors
/// As [`parse_with`].
pub fn parse_hiding(
    name: &str,
    text: &str,
    around: &Surroundings<'_>,
    overrides: &[Override],
    redactor: Redactor,
) -> Result<Scenario, Diagnostics> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
    let overridden = overrides::texts(text.len(), overrides);
    let source = Arc::new(Source { name: name.to_owned(), text, overridden });
    let mut environment = Environment::new(around.env, redactor);
    let wrong = |problems: Vec<Problem>, environment: &Environment<'_>| {
        Err(Diagnostics::new(source.clone(), problems, &environment.redactor))
    };
    let (mut tree, mut broken) = match tree::parse(&source, &mut environment) {
        Ok(parsed) => parsed,
        Err(problem) => {
            // Nothing of a broken file is known by its keys; its lines are shown.
            environment.redactor.know_in(&source.text);
            return wrong(vec![problem], &environment);
        }
    };
    literals::add_names(&tree, &mut environment);
    let mut secrets = literals::conceal(&source, &tree, &mut environment);
    broken.extend(overrides::apply(&mut tree, &source, overrides, &mut environment));
    if !overrides.is_empty() {
        secrets.extend(literals::conceal(&source, &tree, &mut environment));
        secrets.sort();
        secrets.dedup();
    }
    let redacted = literals::copy(&source, &secrets, &environment.redactor);
    let mut reader = Reader::new(around, environment.redactor.clone());
    let file = match &tree.kind {
        tree::Kind::Null => None,
        _ => written::File::read(&tree, &mut reader),
    };
    reader.problems.extend(broken);
    let file = match file {
        Some(file) if reader.problems.is_empty() => file,
        _ => return wrong(reader.problems, &environment),
    };
    match check::file(&file, &source, &environment.redactor, &mut reader) {
        Some(checked) if reader.problems.is_empty() => {
            let redactor = environment.redactor;
            Ok(Scenario { files: reader.files, redacted, redactor, tree, secrets, ..checked })
        }
        _ => wrong(reader.problems, &environment),
    }
}

impl Scenario {
    /// The plan of that seed, of which this process sends `shard`.
    pub fn plan(&self, seed: u64, shard: Shard) -> Plan {
        Plan { seed, groups: self.groups.clone(), measured_from: self.measured_from, end: self.end, shard }
    }

    /// The scenario as a file, with what was put into it in its place: secrets are replaced unless the redactor shows all.
    /// Comments of the file are not kept.
    pub fn document(&self) -> String {
        document::of(&self.tree, &self.secrets, &self.redactor)
    }

    /// What stands in the target's place in a simulation, if that is one thing.
    pub fn model(&self) -> Option<&Model> {
        match &self.models[..] {
            [(_, model)] => Some(model),
            _ => None,
        }
    }

    /// Something that is wrong at a place of the file, found by a later reader: a threshold, for example.
    pub fn complaint(&self, span: Span, title: &str, help: Option<&str>) -> Diagnostics {
        let problem = Problem::new(span, title);
        let problem = match help {
            Some(help) => problem.help(help),
            None => problem,
        };
        Diagnostics::new(self.source.clone(), vec![problem], &self.redactor)
    }
}

/// The file may hold secrets: only what came of it shows.
impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario")
            .field("name", &self.name)
            .field("target", &self.target)
            .field("seed", &self.seed)
            .field("settings", &self.settings)
            .field("groups", &self.groups)
            .field("measured_from", &self.measured_from)
            .field("end", &self.end)
            .field("labels", &self.labels)
            .field("thresholds", &self.thresholds)
            .field("models", &self.models)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

/// The JSON Schema (draft 7) of scenario files, for editors.
pub fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft07();
    let mut schema = settings.into_generator().into_root_schema_for::<written::File>();
    schema.insert("title".to_owned(), "Headway scenario".into());
    let mut text = serde_json::to_string_pretty(schema.as_value()).unwrap_or_default();
    text.push('\n');
    text
}
