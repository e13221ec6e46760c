//! A plan as summaries show it.

use headway_base::Nanos;
use headway_base::dist::Law as _;
use headway_stats::summary::{PlanKind, PlanLog, PlanPhase, PlanSummary};
use headway_workload::arrivals::Trace;
use headway_workload::plan::{Group, Source};
use headway_workload::redact::clear;
use headway_workload::users::Level;
use headway_workload::{Plan, Shard};

/// What a plan alone tells of itself.
pub fn plan_summary(plan: &Plan) -> PlanSummary {
    let process = plan.process();
    let profile = plan.profile();
    let kind = kind(plan);
    let mut at = Nanos::ZERO;
    let mut phase = |length: Nanos, from: f64, to: f64| {
        let warmup = at < plan.measured_from;
        at += length;
        PlanPhase { length_s: length.as_secs_f64(), from, to, warmup }
    };
    let levels: Vec<&Level> = plan
        .groups
        .iter()
        .filter_map(|g| match &g.source {
            Source::Users { level, .. } | Source::Connecting { level } => Some(&**level),
            _ => None,
        })
        .collect();
    let phases = match (&profile, levels.as_slice()) {
        (Some(profile), _) => profile.phases().map(|p| phase(p.length, p.from.0, p.to.0)).collect(),
        (None, [level]) if !plan.is_fixed_work() => {
            level.phases().iter().map(|p| phase(p.length, p.from_users, p.to_users)).collect()
        }
        _ => Vec::new(),
    };
    let at_once: u64 = plan
        .groups
        .iter()
        .map(|g| if let Source::AtOnce { sessions } = g.source { sessions } else { 0 })
        .sum();
    let thinks: Vec<String> = plan
        .groups
        .iter()
        .filter(|g| g.journey.mean_think_s() > 0.0)
        .map(|g| match g.journey.think().mean() > 0.0 {
            true => g.journey.think().to_string(),
            // Its steps have think times of their own.
            false => format!("{} a round", Nanos::from_secs_f64(g.journey.mean_think_s())),
        })
        .collect();
    let users: u64 = levels.iter().map(|l| u64::from(l.most())).sum::<u64>() + at_once;
    PlanSummary {
        version: Some(headway_workload::plan::VERSION),
        kind: Some(kind),
        process: match (process, plan.trace()) {
            (Some(process), _) => process.to_string(),
            (None, Some(trace)) => trace.of.to_string(),
            (None, None) => kind.word().unwrap_or_default().to_owned(),
        },
        gap_cov: match (process, plan.trace()) {
            (Some(process), _) => Some(process.thinned_cov(plan.shard.count())),
            // Of a part of the log no law is known.
            (None, trace) => trace.filter(|_| plan.shard == Shard::WHOLE).map(|trace| trace.gap_cov),
        },
        log: plan.groups.iter().find_map(|group| match &group.source {
            Source::Trace(trace) => Some(log(trace)),
            _ => None,
        }),
        rate: profile.and_then(|p| p.phases().last()).map(|last| last.to.0),
        phases,
        users: (users > 0 && kind != PlanKind::Connecting).then_some(users),
        sockets: (kind == PlanKind::Connecting).then_some(users),
        new_connections: plan.opens_each(),
        think: (!thinks.is_empty()).then(|| thinks.join(", ")),
        shard: (plan.shard != Shard::WHOLE).then(|| plan.shard.to_string()),
        ..PlanSummary::default()
    }
}

/// A log as summaries show it.
pub(crate) fn log(trace: &Trace) -> PlanLog {
    PlanLog {
        file: clear(&trace.of.file),
        speed: trace.of.speed,
        arrivals: trace.arrivals,
        fingerprint: format!("{:016x}", trace.fingerprint),
        resolution_s: trace.resolution.as_secs_f64(),
        spread: trace.spread,
        unreadable: trace.unreadable,
        left_out: trace.left_out,
        own_requests: trace.of.own,
        no_step: trace.no_step,
    }
}

fn kind(plan: &Plan) -> PlanKind {
    match () {
        () if plan.process().is_some() || plan.trace().is_some() => PlanKind::Arrivals,
        () if plan.is_connecting() => PlanKind::Connecting,
        () if plan.groups.iter().all(|g| matches!(g.source, Source::AtOnce { .. })) => PlanKind::AtOnce,
        () if plan.is_fixed_work() => PlanKind::FixedWork,
        () if plan.groups.iter().any(Group::arrives) => PlanKind::Mixed,
        () => PlanKind::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist;
    use headway_workload::journey::{Journey, Node};
    use headway_workload::users::Level;

    /// What is said of the think times of a user, and of the think time before a step.
    fn said(user: &str, step: Option<&str>) -> Option<String> {
        let law = |text: &str| dist::parse(text, &|_| Ok(Vec::new())).unwrap();
        let node = Node::Ask { step: 0, repeat: 1, think: step.map(law) };
        let journey = Journey::new(&[node], law(user)).unwrap();
        let group = Group::closed(Level::hold(2, Nanos::from_secs(1)), journey);
        plan_summary(&Plan::of(1, group, Nanos::ZERO, Nanos::from_secs(1))).think
    }

    #[test]
    fn think_times_of_steps_are_not_told_as_those_of_users_who_have_none() {
        assert_eq!(said("const(0s)", None), None);
        assert_eq!(said("exp(2s)", None).as_deref(), Some("exp(2s)"));
        assert_eq!(said("const(0s)", Some("const(3s)")).as_deref(), Some("3s a round"));
    }
}
