//! Whether a load of new connections may run out of local ports: known from its plan, before the first of them is missing.

use crate::doctor::demand;
use crate::{Live, RunSpec};
use headway_live::host;
use headway_stats::doctor::ports_may_run_out;
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{Evidence, Finding, FindingId, Severity};
use headway_workload::target::Endpoint;

/// That it may.
pub(crate) fn may_run_out(live: &Live, spec: &RunSpec) -> Option<Finding> {
    let endpoint = live.endpoint(&live.target);
    let Endpoint::Tcp { host: name, .. } = &endpoint else { return None };
    if !spec.plan.opens_each() {
        return None;
    }
    // Names are not resolved yet: what is not plainly this machine is taken for another.
    let local = name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    let demand = demand(spec, live, local, None);
    let evidence = ports_may_run_out(&host::ports(), &demand, spec.limits.connect_timeout.as_secs_f64())?;
    Some(Finding {
        id: FindingId::Ports,
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        ..Finding::default()
    })
}

/// The same after the run, with what its connections left behind.
pub(crate) fn after(mut finding: Finding) -> Finding {
    for evidence in &mut finding.evidence {
        if let Evidence::Run(Run::Ports { time_wait_after, .. }) = evidence {
            *time_wait_after = host::ports().waiting;
        }
    }
    finding
}
