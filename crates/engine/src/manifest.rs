//! `plan.json` in the run folder: what was asked for, exactly enough to print the plan and to repeat the run.

use crate::RunSpec;
use anyhow::{Context as _, Result};
use headway_base::Nanos;
use headway_records::{Metadata, metadata};
use headway_stats::Facts;
use headway_stats::summary::{PlanKind, PlanSummary, Source};
use headway_workload::arrivals::Trace;
use headway_workload::plan::{self as workload, Group, GroupDocument, PhaseDocument, SourceDocument};
use headway_workload::redact::Cleared;
use headway_workload::{Plan, Shard};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The manifest of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// `headway.plan/1`.
    pub schema: String,
    /// Version of the program that ran it.
    pub headway: String,
    /// The command that repeats the run, secrets replaced.
    pub command: Cleared,
    /// A short name.
    pub name: Cleared,
    /// The plan's zero, nanoseconds since the Unix epoch.
    pub zero_unix_ns: i64,
    /// The plan's zero, RFC 3339.
    pub started_at: String,
    /// The plan.
    pub plan: headway_workload::plan::Document,
    /// What was asked for, as the summary shows it.
    pub asked: PlanSummary,
    /// What the steps of a live run send, secrets replaced ([`Script::sent`](headway_workload::content::Script::sent)).
    #[serde(default)]
    pub sent: Cleared,
    /// The shards that were merged, `i/N`, if some of the plan are missing; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<String>,
    /// How the shards that were merged began, if not together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
}

/// Merged shards that did not begin together: their records are placed by the clocks of their machines.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Apart {
    /// How far the zero of each shard, `i/N`, is behind that of the merged run, nanoseconds.
    pub behind_ns: BTreeMap<String, i64>,
    /// Requests that were due in the measured phase of their shard.
    pub requests: u64,
    /// Of these, the ones that are outside of the merged run's measured phase.
    pub outside: u64,
    /// Planned arrivals that the merged run's measured phase has fewer than those of the shards.
    pub lacking: u64,
}

impl Apart {
    /// How far the last shard began behind the first.
    pub(crate) fn spread(&self) -> Option<Nanos> {
        Some(Nanos(self.behind_ns.values().max()? - self.behind_ns.values().min()?))
    }
}

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.plan/1";

/// The label of the one step of a run without a scenario.
pub const STEP: &str = "request";

/// The instants of the logs that a plan repeats, as a run folder keeps them; none where it repeats none.
pub(crate) fn arrivals(plan: &Plan) -> Option<Vec<u8>> {
    let mut traces = plan.groups.iter().filter_map(trace).peekable();
    traces.peek()?;
    Some(
        traces
            .flat_map(|trace| trace.instants().iter().flat_map(|at| at.0.to_le_bytes()).collect::<Vec<_>>())
            .collect(),
    )
}

fn trace(group: &Group) -> Option<&Trace> {
    match &group.source {
        workload::Source::Trace(trace) => Some(trace),
        _ => None,
    }
}

/// How the load of a group comes, but for its phases.
fn comes(group: &GroupDocument) -> String {
    match &group.source {
        SourceDocument::Arrivals { process, .. } => process.clone(),
        SourceDocument::Trace { arrivals, end_ns, fingerprint, spread, .. } => {
            let spread = if *spread { ", spread over its steps" } else { "" };
            format!(
                "a log of {arrivals} arrivals up to {}{spread}, fingerprint {fingerprint}",
                Nanos(*end_ns)
            )
        }
        SourceDocument::AtOnce(sessions) => format!("{sessions} at once"),
        SourceDocument::Users { requests: None, .. } => "users".to_owned(),
        SourceDocument::Users { requests: Some(n), .. } => format!("{n} requests of users"),
        SourceDocument::Connecting { .. } => "sockets that are kept connecting".to_owned(),
    }
}

/// The rate per second, or the number of users, over time.
fn phases(group: &GroupDocument) -> String {
    let (SourceDocument::Arrivals { phases, .. }
    | SourceDocument::Users { phases, .. }
    | SourceDocument::Connecting { phases }) = &group.source
    else {
        return "empty".to_owned();
    };
    let phase = |p: &PhaseDocument| match p.from == p.to {
        true => format!("{}@{}", Nanos(p.length_ns), p.to),
        false => format!("{}@{}..{}", Nanos(p.length_ns), p.from, p.to),
    };
    phases.iter().map(phase).collect::<Vec<_>>().join(", ")
}

/// What its users do, as it is written down.
fn journey(group: &GroupDocument) -> String {
    let shown =
        GroupDocument { name: Cleared::default(), source: SourceDocument::AtOnce(0), ..group.clone() };
    serde_json::to_string(&shown).unwrap_or_default()
}

impl Manifest {
    /// The plan with the instants of the logs that it repeats, which stand in the run folder beside the file at `path`; without them
    /// where they are not there ([`Plan::lacks_instants`]).
    ///
    /// # Errors
    /// The plan is none that this version makes; the instants cannot be read, or are others.
    pub fn plan_beside(&self, path: &Path) -> Result<Plan> {
        let mut plan = self.plan.plan().map_err(anyhow::Error::msg)?;
        let path = path.with_file_name(headway_records::folder::ARRIVALS);
        if !plan.lacks_instants() || !path.is_file() {
            return Ok(plan);
        }
        let bytes = std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut instants = bytes.as_chunks::<8>().0.iter().map(|at| Nanos(i64::from_le_bytes(*at)));
        for group in &mut plan.groups {
            let workload::Source::Trace(logged) = &group.source else { continue };
            let own = instants.by_ref().take(logged.arrivals as usize).collect();
            let whole = logged.with_instants(own).with_context(|| {
                format!(
                    "{} does not hold the arrivals that the plan names, fingerprint {:016x}",
                    path.display(),
                    logged.fingerprint
                )
            })?;
            group.source = workload::Source::Trace(Arc::new(whole));
        }
        Ok(plan)
    }

    /// The manifest of a run that is about to begin with `threads` workers; `target` has its secrets replaced, and is none in a
    /// simulation.
    pub fn new(
        spec: &RunSpec,
        target: Option<&Cleared>,
        threads: Option<u32>,
        zero_unix_ns: i128,
    ) -> Manifest {
        let limits = &spec.limits;
        let asked = PlanSummary {
            connections: Some(u64::from(limits.connections)),
            threads,
            target: target.cloned(),
            steps: spec.labels.clone(),
            thresholds: spec.thresholds.iter().map(|t| t.text.clone()).collect(),
            timeout_s: Some(limits.timeout.as_secs_f64()),
            connect_timeout_s: Some(limits.connect_timeout.as_secs_f64()),
            max_wait_s: Some(limits.max_wait.as_secs_f64()),
            ..spec.shown.clone()
        };
        let zero = jiff::Timestamp::from_nanosecond(zero_unix_ns).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Manifest {
            schema: SCHEMA.to_owned(),
            headway: env!("CARGO_PKG_VERSION").to_owned(),
            command: spec.command.clone(),
            name: spec.name.clone(),
            zero_unix_ns: zero_unix_ns as i64,
            started_at: zero.to_string(),
            plan: spec.plan.document(),
            asked,
            sent: Cleared::default(),
            shards: Vec::new(),
            apart: None,
        }
    }

    /// Where its records come from: a simulation has no target.
    pub(crate) fn source(&self) -> Source {
        if self.asked.target.is_some() { Source::Live } else { Source::Sim }
    }

    /// What a summary takes from here.
    pub(crate) fn facts(&self, source: Source) -> Facts {
        Facts {
            source,
            name: self.name.clone(),
            seed: Some(self.plan.seed),
            command: Some(self.command.clone()).filter(|command| !command.is_empty()),
            plan: Some(self.asked.clone()),
            started_at: (source == Source::Live).then(|| self.started_at.clone()),
            resolution: Some(Nanos(1)),
            outside: self.apart.as_ref().map_or(0, |apart| apart.lacking),
            apart: self.apart.as_ref().and_then(Apart::spread),
            ..Facts::default()
        }
    }

    /// The shards of the plan which have records in this run.
    ///
    /// # Errors
    /// A shard that is not written as one.
    pub fn shards(&self) -> Result<Vec<Shard>> {
        let own = std::slice::from_ref(&self.plan.shard);
        let shards = if self.shards.is_empty() { own } else { &self.shards };
        Ok(shards.iter().map(|shard| Shard::parse(shard)).collect::<Result<_, _>>()?)
    }

    /// What all shards of one run have in common, apart from how many there are: what each is, in words, and its value. The name of a
    /// log is not among it: its copy may have another elsewhere, and the instants tell it.
    pub fn in_common(&self) -> [(&'static str, String); 16] {
        let (plan, asked) = (&self.plan, &self.asked);
        let groups = |of: fn(&GroupDocument) -> String| {
            let all = plan.groups.iter().map(|group| match plan.groups.len() {
                1 => of(group),
                _ => format!("{}: {}", group.name, of(group)),
            });
            all.collect::<Vec<_>>().join("; ")
        };
        let list = |items: &[Cleared]| match items {
            [] => "empty".to_owned(),
            items => items.iter().map(Cleared::as_str).collect::<Vec<_>>().join(", "),
        };
        let time = |seconds: Option<f64>| seconds.map_or("none".to_owned(), |seconds| seconds.to_string());
        [
            ("the version of the plan", plan.version.to_string()),
            ("the seed", plan.seed.to_string()),
            ("the target", asked.target.as_deref().unwrap_or("a model").to_owned()),
            ("the way that load comes", groups(comes)),
            ("the list of phases", groups(phases)),
            ("the journey", groups(journey)),
            ("the list of other origins", list(&asked.origins)),
            ("the end of the warm-up, in ns,", plan.measured_from_ns.to_string()),
            ("the end of the plan, in ns,", plan.end_ns.to_string()),
            ("the list of steps", list(&asked.steps)),
            ("the content of requests", self.sent.to_string()),
            ("the list of thresholds", list(&asked.thresholds)),
            ("the timeout, in s,", time(asked.timeout_s)),
            ("--tolerance effect", time(asked.tolerated_effect)),
            ("--tolerance lateness, in s,", time(asked.time_scale_s)),
            ("--tolerance sent-share", time(asked.tolerated_unsent)),
        ]
    }

    /// A fingerprint of what all shards of the run [have in common](Manifest::in_common).
    pub fn fingerprint(&self) -> String {
        crate::fingerprint::fingerprint(&self.in_common())
    }

    /// What the log says about itself.
    ///
    /// # Errors
    /// Never in practice.
    pub fn log_metadata(&self) -> Result<Metadata> {
        let entries = [
            (metadata::SEED, self.plan.seed.to_string()),
            (metadata::PLAN, serde_json::to_string(&self.plan)?),
            (metadata::STEPS, serde_json::to_string(&self.asked.steps)?),
            (metadata::ZERO_UNIX_NS, self.zero_unix_ns.to_string()),
            (metadata::COMMAND, self.command.to_string()),
        ];
        let traces = self.asked.traceparent.then(|| (metadata::TRACES, self.plan.seed.to_string()));
        let connecting = self.plan.plan().is_ok_and(|plan| plan.is_connecting());
        let stalls = connecting.then(|| (metadata::STALLS, "true".to_owned()));
        Ok(entries.into_iter().chain(traces).chain(stalls).map(|(k, v)| (k.to_owned(), v)).collect())
    }

    /// As it is written down.
    ///
    /// # Errors
    /// Never in practice.
    pub fn json(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Reads the document at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or is not such a document.
    pub fn read(path: &Path) -> Result<Manifest> {
        let text = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut document: Manifest = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a {SCHEMA} document", path.display()))?;
        if document.schema != SCHEMA {
            anyhow::bail!("{}: schema {} is not {SCHEMA}", path.display(), document.schema);
        }
        let asked = &mut document.asked;
        asked.kind = asked.kind.or_else(|| PlanKind::of_process(&asked.process));
        Ok(document)
    }
}
