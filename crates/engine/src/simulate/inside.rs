//! What a network has seen of itself, as it stands in the summary of a run, and what of it is kept of each play of a study.

use super::loads::Loads;
use headway_base::Nanos;
use headway_sim::Observed;
use headway_sim::network::{CopyObserved, PartObserved};
use headway_stats::summary::{CopyLoad, Infinite, LittleIdentity, ModelPart, PartPoint, Simulation};
use headway_workload::Plan;
use serde::{Deserialize, Serialize};

/// What is kept of a play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// By part.
    pub parts: Vec<PartSeen>,
    /// Whether both sides of Little's law agree.
    pub little: bool,
}

/// A part, in the measured phase.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PartSeen {
    /// Share of the servers' time that was spent serving; none unless it is a station.
    pub utilisation: Option<f64>,
    /// Share of the requests that came to it that it failed.
    pub failed: f64,
}

/// Until when a run is looked at whose last request ended then: to the end of the measured phase, if that comes later. Fixed
/// work is over with its last request.
pub fn looked_at_until(plan: &Plan, ended: Nanos) -> Nanos {
    if plan.is_fixed_work() { ended } else { ended.max(plan.end()) }
}

/// Length of the measured phase, in ns.
fn measured(observed: &Observed) -> f64 {
    (observed.measured.end - observed.measured.start).0 as f64
}

/// The block of the summary, but for the steady state.
pub fn simulation(observed: &Observed, loads: &Loads) -> Simulation {
    let offered = loads.offered.iter().copied().chain(std::iter::repeat(None));
    let offered = offered.zip(loads.infinite.iter().copied().chain(std::iter::repeat(None)));
    Simulation {
        parts: observed
            .parts
            .iter()
            .zip(offered)
            .map(|(part, load)| of_part(part, load, measured(observed)))
            .collect(),
        attempts_per_request: (observed.came > 0).then(|| observed.attempts as f64 / observed.came as f64),
        wasted: (observed.busy_ns > 0).then(|| observed.wasted_ns as f64 / observed.busy_ns as f64),
        little: LittleIdentity {
            n: observed.requests,
            area_s: observed.area_ns as f64 / 1e9,
            sum_s: observed.sum_ns as f64 / 1e9,
            holds: observed.area_ns == observed.sum_ns,
        },
        ..Simulation::default()
    }
}

fn of_part(
    part: &PartObserved,
    (offered, infinite): (Option<f64>, Option<Infinite>),
    measured: f64,
) -> ModelPart {
    let whole = |copies: u64| measured * copies as f64;
    let busy =
        |busy_ns: i128, of_all: f64| share(busy_ns, part.servers.map(|servers| of_all * servers as f64));
    let load = |copy: &CopyObserved| CopyLoad {
        requests: copy.came,
        utilisation: busy(copy.busy_ns, whole(1)),
        number: share(copy.area_ns, Some(whole(1))).unwrap_or_default(),
    };
    let series = part.series.iter().map(|window| {
        let all = (window.to.0 - window.from.0) as f64 * part.copies as f64;
        PartPoint {
            at_s: (window.from.as_secs_f64() + window.to.as_secs_f64()) / 2.0,
            utilisation: busy(window.busy_ns, all),
            number: share(window.area_ns, Some(all)).unwrap_or_default(),
            up: window.up_ns.and_then(|up| share(up, Some(all))),
        }
    });
    ModelPart {
        name: part.name.clone(),
        kind: part.kind.clone(),
        copies: part.copies,
        servers: part.servers,
        requests: part.all.came,
        failed: part.all.failed,
        offered,
        infinite,
        utilisation: busy(part.all.busy_ns, whole(part.copies)),
        number: share(part.all.area_ns, Some(whole(part.copies))).unwrap_or_default(),
        by_copy: part.by_copy.iter().map(load).collect(),
        series: series.collect(),
    }
}

/// So much of that; none of nothing.
fn share(part: i128, whole: Option<f64>) -> Option<f64> {
    whole.filter(|&whole| whole > 0.0).map(|whole| part as f64 / whole)
}

impl Seen {
    /// In the measured phase.
    pub fn of(observed: &Observed) -> Seen {
        let length = measured(observed);
        let of = |part: &PartObserved| PartSeen {
            utilisation: share(
                part.all.busy_ns,
                part.servers.map(|servers| length * (servers * part.copies) as f64),
            ),
            failed: if part.all.came == 0 { 0.0 } else { part.all.failed as f64 / part.all.came as f64 },
        };
        Seen { parts: observed.parts.iter().map(of).collect(), little: observed.area_ns == observed.sum_ns }
    }
}
