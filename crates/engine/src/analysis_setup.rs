//! What the statistics need to know of a plan before the first record.

use crate::manifest::{Apart, Manifest};
use headway_base::{Lateness, Nanos, Profile};
use headway_stats::summary::PlanSummary;
use headway_stats::{PlanLaw, SessionAsked, Setup, Tolerances, UsersAsked, UsersPhase, Workload};
use headway_workload::plan::{Group, Source};
use headway_workload::redact::Cleared;
use headway_workload::users::UserPhase;
use headway_workload::{Plan, Process, Shard};
use std::sync::Arc;

/// What the statistics need to know of a plan before the first record; `labels` are those of its steps.
pub fn analysis_setup(plan: &Plan, labels: &[Cleared], sources: usize) -> Setup {
    of_shards(plan, &[plan.shard], labels, sources)
}

/// What the statistics need to know, with what the user tolerates, expects and asks for.
pub(crate) fn tolerating(setup: Setup, asked: &PlanSummary) -> Setup {
    let lateness = asked.time_scale_s.and_then(Lateness::of_seconds);
    let effect = asked.tolerated_effect.unwrap_or(setup.tolerances.effect);
    let connecting = setup.workload == Workload::Connecting;
    let unsent = asked.tolerated_unsent.unwrap_or(setup.tolerances.unsent);
    Setup {
        tolerances: Tolerances { lateness, effect, unsent, ..setup.tolerances },
        attempt: asked.connect_timeout_s.filter(|_| connecting).map(Nanos::from_secs_f64),
        percentiles: asked.percentiles.clone(),
        redirects_expected: asked.redirects_expected.clone(),
        ..setup
    }
}

/// The same of the records that a manifest is of, which are those of these shards of its plan.
pub(crate) fn of_manifest(manifest: &Manifest, plan: &Plan, shards: &[Shard], sources: usize) -> Setup {
    let users_apart = manifest.apart.iter().flat_map(|apart| users_apart(plan, apart)).collect();
    let setup = of_shards(plan, shards, &manifest.asked.steps, sources);
    tolerating(Setup { users_apart, ..setup }, &manifest.asked)
}

/// The same of several shards of a plan, analysed together.
pub fn of_shards(plan: &Plan, shards: &[Shard], labels: &[Cleared], sources: usize) -> Setup {
    let arriving = || plan.groups.iter().filter(|g| g.arrives());
    let whole = shards.iter().map(|shard| 1.0 / f64::from(shard.count())).sum::<f64>() > 1.0 - 1e-9;
    // All shards are the plan. Of some of them, a law of the gaps is known only for Poisson arrivals.
    let shard = match shards {
        [one] => Some(*one),
        _ if whole => Some(Shard::WHOLE),
        _ => None,
    };
    let law_of = |process: Process| match shard {
        Some(shard) => Some(law(process, Plan { shard, ..plan.clone() }.own_profile()?, shard)),
        None if process == Process::Poisson => {
            let share = shards.iter().map(|shard| 1.0 / f64::from(shard.count())).sum::<f64>();
            Some(law(process, plan.profile()?.scaled(share), Shard::WHOLE))
        }
        None => None,
    };
    Setup {
        labels: labels.to_vec(),
        sources,
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        measured: plan.measured_from..plan.end() + Nanos(1),
        workload: match () {
            () if plan.is_open() => Workload::Open,
            () if plan.is_connecting() => Workload::Connecting,
            () if arriving().next().is_some() => Workload::Sessions,
            () if plan.is_fixed_work() => Workload::FixedWork,
            () => Workload::Closed,
        },
        plan: plan.process().and_then(law_of).or_else(|| logged(plan, shards)),
        users: users(plan, shards),
        asks_per_session: asks_per_session(plan),
        requests_asked: requests_asked(plan, shards),
        redirected_from: plan.groups.iter().find_map(|group| group.journey.redirected_from()),
        sharded: shard != Some(Shard::WHOLE),
        think_s: think_s(plan),
        connects: plan.opens_each(),
        ..Setup::default()
    }
}

/// A log as a plan: its mean rate, and no law of the gaps. Starts are held to its own instants, as those of any plan.
fn logged(plan: &Plan, shards: &[Shard]) -> Option<PlanLaw> {
    let trace = plan.trace()?;
    let share = shards.iter().map(|shard| 1.0 / f64::from(shard.count())).sum::<f64>();
    let gap_cov = trace.gap_cov;
    let profile = trace.profile().scaled(share);
    Some(PlanLaw { profile, gap_cdf: None, gap_cov, dispersion: gap_cov * gap_cov, poisson: false })
}

/// Users of each shard over time, with how far its zero is behind.
fn users_apart(plan: &Plan, apart: &Apart) -> Vec<(Nanos, UsersAsked)> {
    let own =
        |(shard, &behind): (&String, &i64)| Some((Nanos(behind), users(plan, &[Shard::parse(shard).ok()?])?));
    apart.behind_ns.iter().filter_map(own).collect()
}

/// Users of the closed groups over time, those of these shards; none where several groups' phases do not fit together.
fn users(plan: &Plan, shards: &[Shard]) -> Option<UsersAsked> {
    let mut levels = plan.groups.iter().filter_map(|g| match &g.source {
        Source::Users { level, requests: None } | Source::Connecting { level } => Some(level.phases()),
        _ => None,
    });
    // Of 7 users one of two shards has 4, the other 3.
    let own = |users: f64| shards.iter().map(|shard| f64::from(shard.split(users.ceil() as u32))).sum();
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

/// Requests that these shards are to make of fixed work, where the plan says how many.
fn requests_asked(plan: &Plan, shards: &[Shard]) -> Option<u64> {
    let mut asked = 0;
    for (number, group) in plan.groups.iter().enumerate() {
        asked += match &group.source {
            Source::Users { requests: Some(n), level } => {
                shards.iter().map(|shard| shard.split_work(*n, level.most())).sum()
            }
            // A session's number of requests may be drawn.
            Source::AtOnce { .. } if group.journey.mean_asks() == group.journey.longest() as f64 => {
                let sessions = shards.iter().map(|&shard| plan.sessions_of(number, shard).count() as u64);
                sessions.sum::<u64>() * group.journey.longest()
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
    let gap_cdf: Option<headway_stats::GapCdf> =
        has_law.then(|| Arc::new(move |x| process.gap_cdf(x).unwrap_or(f64::NAN)) as _);
    let (gap_cov, dispersion) =
        (process.thinned_cov(shard.count()), process.thinned_dispersion(shard.count()));
    PlanLaw { profile, gap_cdf, gap_cov, dispersion, poisson }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_workload::journey::{Journey, Node, no_think};
    use headway_workload::plan::Connections;
    use headway_workload::users::Level;

    #[test]
    fn a_shard_is_asked_for_the_work_of_its_users() {
        let level = Level::hold(7, Nanos::from_secs(60));
        let source = Source::Users { level: level.into(), requests: Some(101) };
        let journey = Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], no_think()).unwrap();
        let mut plan =
            Plan::of(1, Group::of(source, journey, Connections::PerUser), Nanos::ZERO, Nanos::from_secs(60));
        let asked = |plan: &Plan| analysis_setup(plan, &["request".into()], 1).requests_asked;
        assert_eq!(asked(&plan), Some(101));
        plan.shard = Shard::new(1, 2).unwrap();
        assert_eq!(asked(&plan), Some(43));
    }

    #[test]
    fn shards_together_are_the_plan() {
        let level = Level::hold(7, Nanos::from_secs(60));
        let source = Source::Users { level: level.into(), requests: Some(101) };
        let journey = Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], no_think()).unwrap();
        let plan =
            Plan::of(1, Group::of(source, journey, Connections::PerUser), Nanos::ZERO, Nanos::from_secs(60));
        let shards = [0, 1, 2].map(|i| Shard::new(i, 3).unwrap());
        let labels = ["request".into()];
        assert_eq!(of_shards(&plan, &shards, &labels, 1).requests_asked, Some(101));
        assert!(!of_shards(&plan, &shards, &labels, 1).sharded);
        assert!(of_shards(&plan, &shards[..2], &labels, 1).sharded);
    }
}
