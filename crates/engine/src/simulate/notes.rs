//! What is to be known of a point of a study: what grows, what is too short, what could not be judged.
//!
//! Deliberately absent: the sentences, which the report makes.

use super::estimates::of_values;
use super::inside::Seen;
use super::loads::Loads;
use super::steady_state::beginning;
use headway_stats::steady::{Cut, Length};
use headway_stats::study::{Point, WarmUp};
use headway_stats::summary::evidence::{NoSteadyState, Remark};
use headway_stats::summary::{Infinite, Stated, Unsteady};
use headway_workload::redact::Cleared;

/// So much of the requests being left out as warm-up is worth a word.
const MUCH: f64 = 0.25;

/// What the remarks are about.
#[derive(Debug)]
pub struct About<'a> {
    /// The point, without its notes.
    pub point: &'a Point,
    /// What is asked of the model.
    pub loads: &'a Loads,
    /// What each replication saw.
    pub seen: &'a [&'a Seen],
    /// Whether the number of requests in one of the parts is shown to grow.
    pub grows: bool,
    /// Replications.
    pub replications: u64,
    /// Of those, the ones with too few requests to look for a steady state.
    pub unjudged: u64,
    /// Whether it is for what is planned to happen once that there is no steady state.
    pub planned: bool,
    /// The part that leaves the mean response time without an interval, if one does, and why.
    pub no_mean: Option<(&'a Cleared, Infinite)>,
    /// What is left out.
    pub warm_up: WarmUp,
    /// Where that ends, the same of all replications.
    pub cut: Cut,
    /// Length of what is left, in seconds.
    pub kept_s: f64,
}

/// The remarks, those on what is gravest first.
pub fn remarks(about: &About<'_>) -> Vec<Remark> {
    let all = [
        little(about),
        rejects(about),
        unsteady(about),
        no_mean(about),
        few_requests(about),
        short(about),
        left_out(about),
        given_up(about),
    ];
    all.into_iter().flatten().collect()
}

fn little(about: &About<'_>) -> Option<Remark> {
    let (of, broken) = (about.replications, about.replications - about.point.little_holds);
    (broken > 0).then_some(Remark::LittleBroken { broken, of })
}

/// What is turned away does not pile up.
fn rejects(about: &About<'_>) -> Option<Remark> {
    let (load, failed) = refused(about.loads, about.seen, about.grows)?;
    let load = Some(load).filter(|load| load.is_finite());
    let mean_s = about.point.response.get("mean").map(|mean| mean.mean);
    let mean_ok_s = about.point.response_ok.get("mean").map(|mean| mean.mean);
    Some(Remark::RejectsExcess { part: about.point.busiest.clone(), load, failed, mean_s, mean_ok_s })
}

/// Where what is too much for the busiest station is turned away and does not pile up: its load, and the share that fails there.
pub fn refused(loads: &Loads, seen: &[&Seen], grows: bool) -> Option<(f64, f64)> {
    let (part, load) = loads.busiest().filter(|(_, load)| *load >= 1.0)?;
    let failed = of_values(seen.iter().filter_map(|seen| Some(seen.parts.get(part)?.failed)).collect());
    let failed = failed.map_or(0.0, |failed| failed.mean);
    (!grows && failed > 0.0 && failed >= 0.5 * (1.0 - 1.0 / load)).then_some((load, failed))
}

fn unsteady(about: &About<'_>) -> Option<Remark> {
    let why = about.point.why_not.clone().filter(|_| about.point.found == Some(false))?;
    let overloaded = about.loads.busiest().is_some_and(|(_, load)| load >= 1.0);
    let is = match () {
        () if about.planned => NoSteadyState::Planned,
        () if overloaded || about.grows => NoSteadyState::Absent,
        () => NoSteadyState::NotFound,
    };
    let nothing_left_out =
        !about.planned && about.warm_up == WarmUp::Mser && matches!(about.cut, Cut::NotFound(_));
    Some(Remark::Unsteady { why, is, nothing_left_out })
}

fn no_mean(about: &About<'_>) -> Option<Remark> {
    let (part, what) = about.no_mean?;
    Some(Remark::InfiniteOverRuns { part: part.clone(), what })
}

/// Much of the runs is in none of the response times, and in all of the rest.
fn left_out(about: &About<'_>) -> Option<Remark> {
    let share = about.point.cut_share;
    (about.warm_up == WarmUp::Mser && share >= MUCH).then_some(Remark::LeftOut { share })
}

/// The mean and its interval are of what was waited for a response.
fn given_up(about: &About<'_>) -> Option<Remark> {
    let mean = about.point.response.get("mean");
    let bound = mean.is_some_and(|mean| mean.lower_bound && mean.ci95.is_some());
    bound.then_some(Remark::GivenUp { n: about.point.censored })
}

fn few_requests(about: &About<'_>) -> Option<Remark> {
    let (n, of) = (about.unjudged, about.replications);
    (n > 0 && about.warm_up != WarmUp::Nothing).then_some(Remark::FewRequests { n, of })
}

fn short(about: &About<'_>) -> Option<Remark> {
    // Fixed work is as long as it is.
    if about.warm_up == WarmUp::Nothing {
        return None;
    }
    if let Some(beginning) = beginning(about.loads, about.kept_s) {
        let known = matches!(&about.point.why_not, Some(Stated { why: Unsteady::Beginning { .. }, .. }));
        return (!known).then(|| Remark::Beginning { why: beginning.into() });
    }
    let relaxation_s = about.loads.relaxation_s?;
    match Length::of(relaxation_s, about.kept_s) {
        // Intervals over replications do not hang on how long each is.
        Length::Short { times } if about.replications == 1 => Some(Remark::ShortForIntervals {
            length_s: about.kept_s,
            times,
            relaxation_s,
            needed: Length::TRUSTED,
        }),
        _ => None,
    }
}
