//! Whether a load of new connections may run out of local ports: known from its plan, before the first of them is missing.

use crate::{Live, RunSpec};
use headway_live::ports::{Ports, ports};
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{Evidence, Finding, FindingId, Severity};
use headway_workload::plan::{Group, Plan, Source};
use headway_workload::target::Endpoint;

/// That it may.
pub(crate) fn may_run_out(live: &Live, spec: &RunSpec) -> Option<Finding> {
    let opens = spec.plan.opens_each() && matches!(live.target.endpoint, Endpoint::Tcp { .. });
    let ports = ports().filter(|_| opens)?;
    // Names are not resolved yet: what is not plainly this machine is taken for another.
    let host = live.target.host();
    let local = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    let evidence =
        evidence(&spec.plan, spec.limits.connect_timeout.as_secs_f64(), live.sources.len(), local, &ports)?;
    Some(Finding {
        id: FindingId::Ports,
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        ..Finding::default()
    })
}

fn evidence(plan: &Plan, timeout_s: f64, addresses: usize, local: bool, ports: &Ports) -> Option<Run> {
    let addresses = addresses.max(1) as u64;
    let time_wait_s = if local { ports.held_local } else { ports.held_remote }.as_secs_f64();
    let share = 1.0 / f64::from(plan.shard.count());
    let rate: f64 = plan.groups.iter().map(peak_rate).sum::<f64>() * share;
    let sockets: u64 = plan.groups.iter().map(sockets).sum::<u64>() / u64::from(plan.shard.count());
    let planned = plan.profile().map_or(0.0, |profile| profile.total() * share);
    // Taken while it connects, or after the connection has ended: the longer of the two.
    let held_s = timeout_s.max(time_wait_s);
    let needed = sockets + (rate * held_s).min(planned).round() as u64;
    let free = (u64::from(ports.per_address) * addresses).saturating_sub(ports.time_wait);
    (needed > free).then_some(Run::Ports {
        needed,
        attempts_per_s: (rate > 0.0).then_some(rate),
        sockets: (sockets > 0).then_some(sockets),
        held_s,
        ports: u64::from(ports.per_address),
        addresses,
        time_wait: ports.time_wait,
        time_wait_after: None,
    })
}

/// The same after the run, with what its connections left behind.
pub(crate) fn after(mut finding: Finding) -> Finding {
    for evidence in &mut finding.evidence {
        if let Evidence::Run(Run::Ports { time_wait_after, .. }) = evidence {
            *time_wait_after = ports().map(|ports| ports.time_wait);
        }
    }
    finding
}

fn peak_rate(group: &Group) -> f64 {
    match &group.source {
        Source::Arrivals { profile, .. } => {
            profile.phases().map(|p| p.from.0.max(p.to.0)).fold(0.0, f64::max)
        }
        _ => 0.0,
    }
}

fn sockets(group: &Group) -> u64 {
    match &group.source {
        Source::Connecting { level } => u64::from(level.most()),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Nanos, Rate};
    use headway_workload::Process;
    use headway_workload::users::Level;

    const PORTS: Ports = Ports {
        per_address: 28_000,
        time_wait: 1_000,
        held_local: Nanos::from_secs(1),
        held_remote: Nanos::from_secs(60),
    };

    fn needed(plan: &Plan, addresses: usize, local: bool) -> Option<u64> {
        match evidence(plan, 0.5, addresses, local, &PORTS)? {
            Run::Ports { needed, .. } => Some(needed),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ports_run_out_by_the_rate_and_by_time_wait() {
        let zero = Nanos::ZERO;
        let plan =
            |rate, s| Plan::ramp_and_hold(7, Process::Poisson, Rate(rate), zero, zero, Nanos::from_secs(s));
        // 27,000 are free: 450 a second for 60 s.
        assert_eq!(needed(&plan(450.0, 600), 1, false), None);
        assert_eq!(needed(&plan(460.0, 600), 1, false), Some(27_600));
        assert_eq!(needed(&plan(460.0, 600), 2, false), None);
        assert_eq!(needed(&plan(460.0, 600), 1, true), None);
        assert_eq!(needed(&plan(28_000.0, 600), 1, true), Some(28_000));
        // No more than are planned.
        assert_eq!(needed(&plan(2_000.0, 10), 1, false), None);
    }

    #[test]
    fn sockets_that_are_kept_connecting_have_a_port_each() {
        let plan = |sockets| {
            let level = Level::hold(sockets, Nanos::from_secs(5));
            Plan::of(1, Group::connecting(level), Nanos::ZERO, Nanos::from_secs(5))
        };
        assert_eq!(needed(&plan(27_000), 1, false), None);
        assert_eq!(needed(&plan(28_000), 1, true), Some(28_000));
    }
}
