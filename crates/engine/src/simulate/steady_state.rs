//! What speaks against a steady state.
//!
//! MSER alone finds one in any run that goes on as it began, also in one that only grows, or whose requests are all given up
//! after the same time. So it is asked last.

use super::loads::Loads;
use headway_base::{Nanos, Profile};
use headway_stats::Growth;
use headway_stats::steady::{Cut, Length, most_correlated};
use headway_stats::summary::{Disturbance, PlanPart, Unsteady};
use headway_workload::Plan;
use headway_workload::model::{Kind, Model, When, WhileDown};
use headway_workload::plan::Source;
use headway_workload::redact::Cleared;
use headway_workload::users::Level;
use std::ops::Range;

/// More censored response times than this leave open what most of the others are worth.
const CENSORED: f64 = 0.01;
/// Whole periods that a run of a model which repeats itself must hold.
const PERIODS: f64 = 2.0;

/// What is known of a run, or of several together.
#[derive(Debug)]
pub struct SteadyEvidence<'a> {
    /// What was asked for.
    pub plan: &'a Plan,
    /// Of what.
    pub model: &'a Model,
    /// How much that is of what it can do.
    pub loads: &'a Loads,
    /// Response times.
    pub n: u64,
    /// Of these, the censored ones.
    pub censored: u64,
    /// What MSER leaves out.
    pub cut: Cut,
    /// How long what is left lasts, in seconds.
    pub kept_s: f64,
    /// What the model repeats, if it does.
    pub period: Option<Nanos>,
    /// Correlation of neighbouring batches of what is left, and how many there are.
    pub lag1: Option<(f64, usize)>,
    /// The part whose number of requests is shown to grow, by most per second, and by how much.
    pub growing: Option<(usize, Growth)>,
}

/// What speaks against a steady state, what is gravest first; none where nothing does.
pub fn why_not(of: &SteadyEvidence<'_>) -> Option<Unsteady> {
    let name = |part: usize| {
        of.model.parts.get(part).map_or_else(|| Cleared::from("a part"), |part| part.name.clone())
    };
    let growth = of.growing.map(|(part, growth)| growth.of_part(&name(part)));
    if of.plan.is_fixed_work() {
        return Some(Unsteady::FixedWork);
    }
    if let Some((part, load)) = of.loads.busiest().filter(|(_, load)| *load >= 1.0) {
        let load = Some(load).filter(|load| load.is_finite());
        return Some(Unsteady::Overload { part: name(part), load, growth });
    }
    let once = once(of.plan, of.model);
    if once.is_some() {
        return once;
    }
    if let Some(growth) = growth {
        return Some(Unsteady::Growth { growth });
    }
    let share = of.censored as f64 / of.n.max(1) as f64;
    if share > CENSORED {
        return Some(Unsteady::Unanswered { share });
    }
    match of.cut {
        Cut::TooFew => return Some(Unsteady::TooFew),
        Cut::NotFound(_) => return Some(Unsteady::NoCut { n: of.n }),
        Cut::Found(_) => {}
    }
    let beginning = beginning(of.loads, of.kept_s);
    if beginning.is_some() {
        return beginning;
    }
    if let Some(period_s) = of.period.map(Nanos::as_secs_f64).filter(|s| of.kept_s < PERIODS * s) {
        return Some(Unsteady::FewPeriods { kept_s: of.kept_s, needed: PERIODS, period_s });
    }
    let correlated = of.lag1.filter(|&(lag1, segments)| lag1 > most_correlated(segments));
    correlated.map(|(lag1, _)| Unsteady::Correlated { lag1 })
}

/// The part that is shown to grow by most per second.
pub fn fastest(growths: impl Iterator<Item = Option<Growth>>) -> Option<(usize, Growth)> {
    let shown = growths.enumerate().filter_map(|(part, growth)| Some((part, growth.filter(Growth::shown)?)));
    shown.max_by(|(_, a), (_, b)| a.per_second.total_cmp(&b.per_second))
}

/// That what is left of a run, so many seconds, is too short for its slowest part to forget how it began.
pub fn beginning(loads: &Loads, kept_s: f64) -> Option<Unsteady> {
    let relaxation_s = loads.relaxation_s?;
    let Length::TooShort { times } = Length::of(relaxation_s, kept_s) else { return None };
    Some(Unsteady::Beginning { kept_s, times, relaxation_s, forgotten: Length::FORGOTTEN })
}

/// What is planned to happen once within the measured phase, so that numbers hang on how long that is: a rate that rises, a part
/// that goes down. Such a run begins and ends, and nothing of it is a warm-up that could be left out.
pub fn once(plan: &Plan, model: &Model) -> Option<Unsteady> {
    if let Some(what) = varies(plan) {
        return Some(Unsteady::PlanVaries { what });
    }
    model.parts.iter().find_map(|part| {
        let faults = part.faults.as_ref().and_then(|faults| match (&faults.when, faults.while_down) {
            (&When::Once { at, length }, WhileDown::Slow(_)) => {
                Some((at, at.saturating_add(length), Disturbance::Slow))
            }
            (&When::Once { at, length }, _) => Some((at, at.saturating_add(length), Disturbance::Down)),
            (When::Alternating { .. }, _) => None,
        });
        let stall = match &part.kind {
            Kind::Station(station) => station.stalls.and_then(|stalls| stalls.only()),
            _ => None,
        };
        let stall = stall.map(|(from, to)| (from, to, Disturbance::Stalled));
        let all = faults.into_iter().chain(stall);
        let (from, _, is) =
            all.into_iter().find(|(from, to, _)| *from < plan.end() && *to > plan.measured_from)?;
        Some(Unsteady::Once { part: part.name.clone(), is, from_s: from.as_secs_f64() })
    })
}

/// What of the plan is not the same throughout the measured phase.
fn varies(plan: &Plan) -> Option<PlanPart> {
    let measured = plan.measured_from..plan.end();
    plan.groups.iter().find_map(|group| match &group.source {
        Source::Arrivals { profile, .. } => rate_varies(profile, &measured).then_some(PlanPart::Rate),
        Source::Users { level, .. } | Source::Connecting { level } => {
            users_vary(level, &measured).then_some(PlanPart::Users)
        }
        // A log's rate is seldom the same throughout, and nothing says that it is.
        Source::Trace(_) => Some(PlanPart::Rate),
        Source::AtOnce { .. } => None,
    })
}

fn rate_varies(profile: &Profile, measured: &Range<Nanos>) -> bool {
    profile.end() < measured.end
        || differ(profile.phases().map(|phase| (phase.length, phase.from.0, phase.to.0)), measured)
}

fn users_vary(level: &Level, measured: &Range<Nanos>) -> bool {
    let phases = level.phases().iter().map(|phase| (phase.length, phase.from_users, phase.to_users));
    level.end() < measured.end || differ(phases, measured)
}

/// Whether the values of these phases (length, first, last), as far as they lie within that time, are not all the same.
fn differ(phases: impl Iterator<Item = (Nanos, f64, f64)>, within: &Range<Nanos>) -> bool {
    let (mut begins, mut first) = (Nanos::ZERO, None::<f64>);
    for (length, from, to) in phases {
        let ends = begins + length;
        if begins < within.end && ends > within.start && (from != to || from != *first.get_or_insert(from)) {
            return true;
        }
        begins = ends;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_within_the_measured_phase_varies() {
        let s = Nanos::from_secs;
        let phases = [(s(10), 0.0, 5.0), (s(10), 5.0, 5.0), (s(10), 5.0, 5.0), (s(10), 5.0, 9.0)];
        let varies = |from: i64, to: i64| differ(phases.into_iter(), &(s(from)..s(to)));
        assert!(!varies(10, 30) && !varies(12, 28) && !varies(20, 30));
        assert!(varies(9, 30) && varies(0, 40) && varies(10, 31));
        assert!(differ([(s(10), 5.0, 5.0), (s(10), 6.0, 6.0)].into_iter(), &(s(0)..s(20))));
    }

    #[test]
    fn what_grows_is_what_is_shown_to_and_fastest() {
        let growth = |per_second, low| Some(Growth { per_second, interval: [low, 2.0 * per_second - low] });
        let all = [growth(9.0, -1.0), growth(2.0, 1.5), None, growth(3.0, 0.1)];
        assert_eq!(fastest(all.into_iter()).map(|(part, _)| part), Some(3));
        assert_eq!(fastest([growth(0.003, -0.010)].into_iter()), None);
    }
}
