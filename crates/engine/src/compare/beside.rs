//! A recorded run against the points of a study: a measurement beside what its model's replications come to (`sim --beside`).
//!
//! Each point is a pair of the one kind of comparison. What was planned otherwise keeps a point from being compared, but for the length of
//! the run and of its warm-up where the point has a steady state: then they do not change its numbers.

use super::load::{Loaded, Recorded};
use super::{differences, invalid, name_of};
use crate::experiment::{StudySpec, SweepPoint, asked};
use headway_stats::comparison::{
    Compared, Comparison, Difference, Incomparable, Numbers, Observed, Two, compare,
};
use headway_stats::study::Point;
use headway_stats::summary::{NotComputed, PlanSummary, Source};

/// Fewest replications that a recorded run is compared with: their scatter tells what chance does to one.
pub const FEWEST_REPLICATIONS: u64 = 5;
/// Replications by default.
pub const REPLICATIONS: u64 = 10;

/// What the model is called beside the run.
const SIMULATED: &str = "simulated";
/// What does not change the numbers of a steady state.
const LENGTHS: [&str; 2] = ["duration", "warm-up"];

/// Compares the points that were played with that run.
pub(crate) fn beside<'a>(
    recorded: &Loaded,
    spec: &StudySpec,
    points: impl Iterator<Item = (&'a SweepPoint, &'a Point)>,
) -> Comparison {
    let points: Vec<_> = points.collect();
    let observed: Vec<Observed> =
        points.iter().map(|(_, point)| of_point(recorded, point, spec.replications)).collect();
    let model = Compared {
        name: SIMULATED.into(),
        source: Source::Sim,
        seed: Some(spec.seed),
        n: points.iter().map(|(_, point)| point.n).sum(),
        ..Compared::default()
    };
    let nothing = NotComputed::default();
    let pairs = points.iter().zip(&observed).filter_map(|((place, point), own)| {
        let (obstacles, differs) = planned(recorded, spec, place, point);
        Some(Two {
            runs: [0, 1],
            point: name_of(&spec.parameters, point),
            observed: [recorded.observed.as_ref()?, own],
            not_computed: [&recorded.run.not_computed, &nothing],
            same_arrivals: false,
            same_records: false,
            of_model: true,
            obstacles: invalid([0, 1], [&recorded.run, &model]).into_iter().chain(obstacles).collect(),
            differs,
        })
    });
    let pairs = pairs.collect();
    compare(vec![recorded.run.clone(), model], pairs, &[])
}

/// The numbers of a point. Its rate is that of good responses, and that of a run of all: they are the same where nothing failed.
fn of_point(recorded: &Loaded, point: &Point, replications: u64) -> Observed {
    let failed = point.failed.mean > 0.0 || recorded.observed.as_ref().is_some_and(Observed::has_failures);
    let goodput = point.goodput.filter(|_| !failed);
    Observed::told(Numbers::of_point(&Point { goodput, ..point.clone() }, replications))
}

/// What was planned otherwise: that which keeps the two from being compared, and that which does not.
fn planned(
    recorded: &Loaded,
    spec: &StudySpec,
    place: &SweepPoint,
    point: &Point,
) -> (Vec<Incomparable>, Vec<Difference>) {
    let Some(base) = &recorded.recorded else { return Default::default() };
    let of_base = base.asked.clone().unwrap_or_default();
    let asked = PlanSummary {
        // A model has neither.
        http: of_base.http,
        proxy: of_base.proxy,
        connections: Some(u64::from(place.play.limits.connections)),
        ..asked(spec, place)
    };
    // Written down and read back as the other was, so that laws from files look the same.
    let plan = &place.play.plan;
    let own = Recorded {
        plan: Some(plan.document().plan().unwrap_or_else(|_| plan.clone())),
        asked: Some(asked),
        held: false,
    };
    let steady = point.found == Some(true);
    let (lengths, plans): (Vec<_>, Vec<_>) = differences(base, &own)
        .into_iter()
        .partition(|difference| steady && LENGTHS.contains(&difference.what.as_str()));
    (plans.into_iter().map(Incomparable::Plan).collect(), lengths)
}
