//! `plan.json` in the run folder: what was asked for, exactly enough to print the plan and to repeat the run.

use crate::settings::Load;
use anyhow::{Context as _, Result};
use base::{Nanos, Profile};
use serde::{Deserialize, Serialize};
use stats::summary::PlanSummary;
use stats::thresholds::Threshold;
use stats::{PlanLaw, SessionAsked, Setup, UsersAsked, UsersPhase, Workload};
use std::path::Path;
use workload::plan::{Group, Source};
use workload::users::UserPhase;
use workload::{Limits, Plan, Process, Shard};

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

/// What a run, live or simulated, is.
#[derive(Clone, Copy, Debug)]
pub struct What<'a> {
    /// A short name.
    pub name: &'a str,
    /// The command line, secrets replaced.
    pub words: &'a [String],
    /// Where to, secrets replaced; none in a simulation.
    pub target: Option<&'a str>,
    /// Labels of the steps.
    pub labels: &'a [String],
    /// Who comes when.
    pub load: &'a Load,
    /// Bounds of the whole run.
    pub limits: &'a Limits,
    /// What is demanded of the numbers.
    pub thresholds: &'a [Threshold],
}

impl RunDocument {
    /// The document of a run that is about to begin with `threads` workers.
    pub fn new(what: &What<'_>, threads: Option<u32>, zero_unix_ns: i128) -> RunDocument {
        let plan = &what.load.plan;
        let limits = what.limits;
        let asked = PlanSummary {
            connections: Some(u64::from(limits.connections)),
            threads,
            target: what.target.map(str::to_owned),
            steps: what.labels.to_vec(),
            thresholds: what.thresholds.iter().map(|t| t.text.clone()).collect(),
            timeout_s: Some(limits.timeout.as_secs_f64()),
            connect_timeout_s: Some(limits.connect_timeout.as_secs_f64()),
            max_wait_s: Some(limits.max_wait.as_secs_f64()),
            ..what.load.summary()
        };
        let zero = jiff::Timestamp::from_nanosecond(zero_unix_ns).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        RunDocument {
            schema: SCHEMA.to_owned(),
            headway: env!("CARGO_PKG_VERSION").to_owned(),
            command: crate::repeat::command(what.words, plan.seed),
            name: what.name.to_owned(),
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

/// What the statistics need to know of a plan before the first record; `labels` are those of its steps.
pub fn setup(plan: &Plan, labels: &[String], sources: usize) -> Setup {
    let arriving = || plan.groups.iter().filter(|g| g.arrives());
    let own = plan.own_profile();
    let process = plan.process();
    Setup {
        labels: labels.to_vec(),
        sources,
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        measured: plan.measured_from..plan.end() + Nanos(1),
        workload: match () {
            () if plan.is_open() => Workload::Open,
            () if arriving().next().is_some() => Workload::Sessions,
            () if plan.is_fixed_work() => Workload::FixedWork,
            () => Workload::Closed,
        },
        plan: own.zip(process).map(|(profile, process)| law(process, profile, plan.shard)),
        users: users(plan),
        asks_per_session: asks_per_session(plan),
        requests_asked: requests_asked(plan),
        sharded: plan.shard != Shard::WHOLE,
        think_s: think_s(plan),
        ..Setup::default()
    }
}

/// Users of the closed groups over time, this process's part; none where several groups' phases do not fit together.
fn users(plan: &Plan) -> Option<UsersAsked> {
    let mut levels = plan.groups.iter().filter_map(|g| match &g.source {
        Source::Users { level, requests: None } => Some(level.phases()),
        _ => None,
    });
    // Of 7 users one of two shards has 4, the other 3.
    let own = |users: f64| f64::from(plan.shard.split(users.ceil() as u32));
    let part = |p: &UserPhase| UsersPhase {
        length: p.length,
        from_users: own(p.from_users),
        to_users: own(p.to_users),
    };
    let mut phases: Vec<UsersPhase> = levels.next()?.iter().map(part).collect();
    for level in levels {
        if level.len() != phases.len() || level.iter().zip(&phases).any(|(a, b)| a.length != b.length) {
            return None;
        }
        for (sum, phase) in phases.iter_mut().zip(level.iter().map(part)) {
            sum.from_users += phase.from_users;
            sum.to_users += phase.to_users;
        }
    }
    Some(UsersAsked { phases })
}

/// What a session that arrives is to do, by group; nothing where nobody comes with more than one request.
fn asks_per_session(plan: &Plan) -> Vec<SessionAsked> {
    let of = |group: &Group| {
        let requests = group.journey.mean_asks();
        let think_s = (group.journey.mean_think_s() - group.journey.first_think_s()) / (requests - 1.0);
        let think_s = if think_s.is_finite() { think_s.max(0.0) } else { 0.0 };
        if group.arrives() { SessionAsked { requests, think_s } } else { SessionAsked::default() }
    };
    let sessions = !plan.is_open() && plan.groups.iter().any(Group::arrives);
    if sessions { plan.groups.iter().map(of).collect() } else { Vec::new() }
}

/// Requests that this process is to make of fixed work, where the plan says how many.
fn requests_asked(plan: &Plan) -> Option<u64> {
    let mut asked = 0;
    for (number, group) in plan.groups.iter().enumerate() {
        asked += match &group.source {
            Source::Users { requests: Some(n), level } => plan.shard.split_work(*n, level.most()),
            // A session's number of requests may be drawn.
            Source::AtOnce { .. } if group.journey.mean_asks() == group.journey.longest() as f64 => {
                plan.sessions_of(number, plan.shard).count() as u64 * group.journey.longest()
            }
            _ => return None,
        };
    }
    Some(asked)
}

/// Mean think time, in seconds, over the requests before which users think: all of a closed group, all but the first of
/// sessions that arrive. Of one group: several have no common one.
fn think_s(plan: &Plan) -> Option<f64> {
    let [group] = plan.groups.as_slice() else { return None };
    let (journey, asks) = (&group.journey, group.journey.mean_asks());
    let think = match group.source {
        Source::Users { .. } => journey.mean_think_s() / asks,
        _ if journey.is_single() => return None,
        _ => (journey.mean_think_s() - journey.first_think_s()) / (asks - 1.0),
    };
    think.is_finite().then_some(think)
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

#[cfg(test)]
mod tests {
    use super::*;
    use workload::journey::{Journey, Node, no_think};
    use workload::plan::Connections;
    use workload::users::Level;

    #[test]
    fn a_shard_is_asked_for_the_work_of_its_users() {
        let level = Level::hold(7, Nanos::from_secs(60));
        let source = Source::Users { level: level.into(), requests: Some(101) };
        let journey = Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], no_think()).unwrap();
        let mut plan =
            Plan::of(1, Group::of(source, journey, Connections::PerUser), Nanos::ZERO, Nanos::from_secs(60));
        let asked = |plan: &Plan| setup(plan, &[STEP.to_owned()], 1).requests_asked;
        assert_eq!(asked(&plan), Some(101));
        plan.shard = Shard::new(1, 2).unwrap();
        assert_eq!(asked(&plan), Some(43));
    }
}
