//! Experiments of several simulated points. An [`Experiment`] says which points are played next, given what those before
//! came to; [`conduct`] plays them, several at once, each with its replications. One file for each kind of experiment.
//!
//! Replication r has the same seed at every point, so that points differ by what they are and not by their draws (common
//! random numbers; Law and Kelton 2000, section 11.2). What is kept of each point is of a fixed size.

mod grid;
pub mod part;
pub mod rounds;
pub mod search;

pub use crate::simulate::point::PointResult;
pub(crate) use grid::asked;
pub use grid::{Studied, StudySpec, study};

use crate::simulate::Play;
use crate::simulate::point::PointBuilder;
use crate::simulate::replication::{Replication, seed};
use crate::{Error, jobs};
use headway_stats::Threshold;
use headway_workload::redact::Cleared;
use std::collections::BTreeMap;

/// One combination of values.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepPoint {
    /// Values of the parameters, in their order.
    pub values: Vec<Cleared>,
    /// What is played there.
    pub play: Play,
}

/// What is played, round by round.
pub trait Experiment {
    /// The points to play next; none: the experiment is over. `done` holds what all points so far came to, in their order;
    /// nothing for one that was stopped before its replications had ended, after which no more points are asked for.
    fn next(&mut self, done: &[Option<PointResult>]) -> Option<Vec<SweepPoint>>;
}

/// How each point is played.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Seed of the first replication of every point.
    pub seed: u64,
    /// How often each point is played; at least 1.
    pub replications: u64,
    /// How many plays go on at once.
    pub threads: usize,
    /// Thresholds of the numbers of each point.
    pub thresholds: &'a [Threshold],
}

/// What an experiment came to.
pub struct Conducted {
    /// The points that were asked for, in order.
    pub places: Vec<SweepPoint>,
    /// What each came to; nothing for those that were stopped.
    pub done: Vec<Option<PointResult>>,
}

/// Plays an experiment to its end, or until `stop` holds: it is asked often. `progress` is called for every play that has ended.
///
/// # Errors
/// A model that cannot be.
pub fn conduct(
    experiment: &mut dyn Experiment,
    conditions: &Conditions<'_>,
    stop: &(dyn Fn() -> bool + Sync),
    mut progress: impl FnMut(),
) -> Result<Conducted, Error> {
    let (mut places, mut done) = (Vec::new(), Vec::new());
    while done.iter().all(Option::is_some)
        && let Some(next) = experiment.next(&done)
    {
        done.extend(round(&next, conditions, stop, &mut progress)?);
        places.extend(next);
    }
    Ok(Conducted { places, done })
}

/// Plays these points.
fn round(
    places: &[SweepPoint],
    conditions: &Conditions<'_>,
    stop: &(dyn Fn() -> bool + Sync),
    progress: &mut impl FnMut(),
) -> Result<Vec<Option<PointResult>>, Error> {
    let r = conditions.replications;
    let mut coming: BTreeMap<usize, PointBuilder> = BTreeMap::new();
    let mut done: Vec<Option<PointResult>> = places.iter().map(|_| None).collect();
    let mut wrong = None;
    let once = |job: u64| {
        let place = &places[(job / r) as usize];
        Replication::play(&place.play, seed(conditions.seed, job % r), stop)
    };
    jobs::each(places.len() as u64 * r, conditions.threads, stop, once, |job, played| {
        let at = (job / r) as usize;
        let place = &places[at];
        match played {
            Ok(Some((replication, course))) => {
                let new = || PointBuilder::new(r, &place.play, conditions.thresholds);
                coming.entry(at).or_insert_with(new).take(job % r, replication, course);
                progress();
            }
            Ok(None) => {}
            Err(error) => wrong = wrong.take().or(Some(error)),
        }
        if coming.get(&at).is_some_and(PointBuilder::is_whole) {
            done[at] = coming.remove(&at).map(|whole| whole.finish(&place.values, &place.play));
        }
    });
    match wrong {
        Some(error) => Err(Error::usage(error)),
        None => Ok(done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Nanos, Phase, Profile, Rate};
    use headway_workload::plan::Group;
    use headway_workload::scenario::{Surroundings, parse};
    use headway_workload::{Plan, Process};

    /// Doubles the rate until the server is busy for more than four fifths of the time.
    struct Doubling {
        play: Play,
        rate: f64,
    }

    impl Experiment for Doubling {
        fn next(&mut self, done: &[Option<PointResult>]) -> Option<Vec<SweepPoint>> {
            let busy = |done: &PointResult| done.point.utilisation.map_or(0.0, |share| share.mean);
            if done.last().is_some_and(|last| last.as_ref().is_none_or(|last| busy(last) > 0.8)) {
                return None;
            }
            self.rate *= 2.0;
            let profile = Profile::new(&[Phase::hold(Nanos::from_secs(40), Rate(self.rate))]);
            let group = Group::open(Process::Poisson, profile);
            let plan = Plan::of(7, group, Nanos::ZERO, Nanos::from_secs(40));
            Some(vec![SweepPoint {
                values: vec![headway_workload::redact::clear(&self.rate.to_string())],
                play: Play { plan, ..self.play.clone() },
            }])
        }
    }

    /// One server that takes 10 ms, asked 10, 20, 40, 80 and 160 times a second.
    fn doubling() -> Doubling {
        let text = "users: { arrive: { rate: 1/s }, phases: [ { hold: 20s } ] }\njourney: [ { get: / } ]\n\
            model: { servers: 1, service: const(10ms) }\n";
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            env: &|_| None,
            log: &headway_workload::scenario::no_logs,
        };
        let scenario = parse("s.yaml", text, &around).unwrap();
        let plan = scenario.plan(7, headway_workload::Shard::WHOLE);
        let limits = crate::RunSpec::new("s", plan.clone(), 1_000).limits;
        Doubling {
            play: Play { plan, limits, model: scenario.model().unwrap().clone(), streamed: Vec::new() },
            rate: 5.0,
        }
    }

    #[test]
    fn points_may_hang_on_what_those_before_came_to() {
        let conditions = Conditions { seed: 7, replications: 3, threads: 2, thresholds: &[] };
        let mut plays = 0;
        let conducted = conduct(&mut doubling(), &conditions, &|| false, || plays += 1).unwrap();
        let rates: Vec<&str> = conducted.places.iter().map(|place| place.values[0].as_str()).collect();
        assert!(rates == ["10", "20", "40", "80"] || rates == ["10", "20", "40", "80", "160"], "{rates:?}");
        assert_eq!((conducted.done.len(), plays), (rates.len(), 3 * rates.len()));
        assert!(conducted.done.iter().all(Option::is_some));
    }

    #[test]
    fn no_more_points_are_asked_for_after_a_stop() {
        let conditions = Conditions { seed: 7, replications: 3, threads: 2, thresholds: &[] };
        let conducted = conduct(&mut doubling(), &conditions, &|| true, || ()).unwrap();
        assert_eq!((conducted.places.len(), conducted.done.iter().flatten().count()), (1, 0));
    }
}
