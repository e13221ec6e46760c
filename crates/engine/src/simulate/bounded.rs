//! What a simulation would take too long to play.

use anyhow::{Result, bail};
use headway_base::dist::Law as _;
use headway_workload::Plan;
use headway_workload::model::{Kind, Model};
use headway_workload::plan::Source;

/// Most requests of one play that may be expected.
const MOST_REQUESTS: f64 = 1e10;

/// Refuses what would not end in a lifetime: users who neither think nor wait ask a thousand million times a second of
/// virtual time.
///
/// # Errors
/// More requests are to be expected than are simulated.
pub fn bounded(plan: &Plan, model: &Model) -> Result<()> {
    if plan.is_connecting() {
        bail!(
            "sockets that are kept connecting (`connecting:`) need a queue of connections that fills, and no model has one: play this scenario \
             with `headway run`"
        );
    }
    let least_s = least_time(model, 0, model.parts.len()).max(1e-9);
    let expected: f64 = plan
        .groups
        .iter()
        .map(|group| {
            let asks = group.journey.mean_asks();
            match &group.source {
                Source::Arrivals { profile, .. } => profile.total() * asks,
                Source::Trace(trace) => trace.arrivals as f64 * asks,
                Source::AtOnce { sessions } => *sessions as f64 * asks,
                Source::Users { requests: Some(requests), .. } => *requests as f64,
                Source::Connecting { .. } => 0.0,
                Source::Users { level, .. } => {
                    let user_seconds: f64 = level
                        .phases()
                        .iter()
                        .map(|p| 0.5 * (p.from_users + p.to_users) * p.length.as_secs_f64())
                        .sum();
                    let pace = group.pace.as_ref().map_or(0.0, |pace| pace.mean());
                    user_seconds * asks / (group.journey.mean_think_s() + asks * least_s).max(pace)
                }
            }
        })
        .sum();
    if expected > MOST_REQUESTS {
        bail!(
            "about {expected:.0e} requests are to be expected, and more than {MOST_REQUESTS:.0e} are not simulated: lower the load, or \
             shorten the run; users who wait for their answers need a think time, or a model that takes time (service, cable)"
        );
    }
    Ok(())
}

/// The least mean time that a part of a model takes, in seconds: of the fastest way through it. What is turned away is not
/// looked at.
fn least_time(model: &Model, part: usize, deepest: usize) -> f64 {
    let Some(of) = model.parts.get(part).filter(|_| deepest > 0) else { return 0.0 };
    let cable = of.cable.as_ref().map_or(0.0, |cable| cable.out.mean() + cable.back.mean());
    let inside = match &of.kind {
        Kind::Station(station) => {
            let steps = station.steps.iter().map(|(_, law)| law.mean());
            let fastest = station.speed.iter().copied().fold(1.0, f64::max);
            steps.fold(station.service.mean(), f64::min) / fastest
        }
        Kind::Balancer(_) | Kind::Pass(_) => {
            of.leads_to().map(|to| least_time(model, to, deepest - 1)).reduce(f64::min).unwrap_or(0.0)
        }
    };
    cable + inside
}
