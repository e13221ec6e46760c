//! `plan.json` in the run folder: what was asked for, exactly enough to print the plan and to repeat the run.

use crate::settings::{Load, RunSettings};
use anyhow::{Context as _, Result};
use base::{Nanos, Profile};
use serde::{Deserialize, Serialize};
use stats::summary::PlanSummary;
use stats::{PlanLaw, Setup, Workload};
use std::path::Path;
use workload::{Plan, Process, Shard};

/// The document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunDocument {
    /// `headway.plan/1`.
    pub schema: String,
    /// Version of the program that ran it.
    pub headway: String,
    /// The command that repeats the run, secrets replaced.
    pub command: String,
    /// A short name.
    pub name: String,
    /// The plan's zero, nanoseconds since the Unix epoch.
    pub zero_unix_ns: i64,
    /// The plan's zero, RFC 3339.
    pub started_at: String,
    /// The plan.
    pub plan: workload::plan::Document,
    /// What was asked for, as the summary shows it.
    pub asked: PlanSummary,
}

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.plan/1";

/// The label of the one step of a run without a scenario.
pub const STEP: &str = "request";

impl RunDocument {
    /// The document of a run that is about to begin with `threads` workers.
    pub fn new(settings: &RunSettings, threads: u32, zero_unix_ns: i128) -> RunDocument {
        let Load { plan, .. } = &settings.load;
        let limits = &settings.limits;
        let asked = PlanSummary {
            connections: Some(u64::from(limits.connections)),
            threads: Some(threads),
            target: Some(settings.target.to_string()),
            steps: vec![STEP.to_owned()],
            thresholds: settings.thresholds.iter().map(|t| t.text.clone()).collect(),
            timeout_s: Some(limits.timeout.as_secs_f64()),
            connect_timeout_s: Some(limits.connect_timeout.as_secs_f64()),
            max_wait_s: Some(limits.max_wait.as_secs_f64()),
            ..settings.load.summary()
        };
        let zero = jiff::Timestamp::from_nanosecond(zero_unix_ns).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        RunDocument {
            schema: SCHEMA.to_owned(),
            headway: env!("CARGO_PKG_VERSION").to_owned(),
            command: crate::repeat::command(&settings.words, plan.seed),
            name: settings.name(),
            zero_unix_ns: zero_unix_ns as i64,
            started_at: zero.to_string(),
            plan: plan.document(),
            asked,
        }
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
    pub fn read(path: &Path) -> Result<RunDocument> {
        let text = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let document: RunDocument = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a {SCHEMA} document", path.display()))?;
        if document.schema != SCHEMA {
            anyhow::bail!("{}: schema {} is not {SCHEMA}", path.display(), document.schema);
        }
        Ok(document)
    }
}

/// What the statistics need to know of a plan before the first record.
pub fn setup(plan: &Plan, sources: usize) -> Setup {
    Setup {
        labels: vec![STEP.to_owned()],
        sources,
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        measured: plan.measured_from..plan.end() + Nanos(1),
        workload: Workload::Open,
        plan: Some(law(plan.process, plan.own_profile(), plan.shard)),
        resolution: Nanos(1),
        rate: None,
        ..Setup::default()
    }
}

/// What the statistics need to know of the arrivals that one shard of a process brings at the rate of `profile`.
pub fn law(process: Process, profile: Profile, shard: Shard) -> PlanLaw {
    let poisson = matches!(process, Process::Poisson | Process::PoissonFixedN);
    // A thinned Poisson process is Poisson; of other processes a shard's gaps have no simple law.
    let has_law = process.gap_cdf(1.0).is_some() && (shard == Shard::WHOLE || poisson);
    let gap_cdf: Option<stats::GapCdf> =
        has_law.then(|| Box::new(move |x| process.gap_cdf(x).unwrap_or(f64::NAN)) as _);
    PlanLaw { profile, gap_cdf, gap_cov: process.thinned_cov(shard.count()), poisson }
}
