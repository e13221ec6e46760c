//! Findings that only a simulation can have: it knows what its parts are asked for, and how long they remember.

use super::FindingContext;
use super::growth::Growth;
use super::loops::filling_up;
use super::refusals::Refusals;
use crate::setup::Workload;
use crate::steady::Length;
use crate::summary::{
    Finding, Grows, Infinite, Interval, ModelPart, Severity, Simulation, Stated, Steady, Unsteady, Why,
};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

rows! {
    $ simulated {
        "no-steady-state" NoSteadyState "A simulation has no steady state.", of Run, by simulated::no_steady_state;
        "overloaded" Overloaded "A part of a model has more work than it can do, and rejects requests.", of Run, by simulated::overloaded;
        "heavy-tail" HeavyTail "The mean response time has no interval.", of Run, by simulated::heavy_tail;
        "turned-away" TurnedAway "Most requests of a closed simulation are rejections.", of Run, by simulated::turned_away;
    }
}

/// The model of a simulation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Model {
    /// A part has more work than it can do and fills up: its load (null: infinitely many times what it can do), how many parts
    /// have too much, and how fast the worst grows, where that is known.
    FillsUp { part: Cleared, load: Option<f64>, parts: usize, growth: Option<Grows> },
    /// No steady state was found, and what grows fastest, if anything is shown to.
    NoSteadyState { why: Option<Stated<Unsteady>>, n: u64, fastest: Option<Grows> },
    /// A part has more work than it can do and rejects that share of it instead of filling up.
    Sheds { part: Cleared, load: Option<f64>, parts: usize, failed: f64 },
    /// The service times of a part leave a mean response time without an interval.
    Infinite { part: Cleared, what: Infinite },
    /// The largest `n` of `of` response times, those above `from_s`, follow a power law whose variance is infinite.
    PowerLaw { n: u64, of: u64, from_s: f64, index: f64, ci95: Interval },
    /// That share of the requests was rejected, mostly by that part; the mean time until then, and the number per second and user.
    TurnedAway { share: f64, by: Option<Cleared>, after_s: f64, per_user_s: f64 },
    /// The length of the run in relaxation times of its slowest part; `beginning`: too few for any number of a steady state, else for
    /// the intervals of a single run. How long it should last, and for the mean of a single queue to be known within that share.
    ShortRun {
        length_s: f64,
        times: f64,
        relaxation_s: f64,
        beginning: bool,
        needed_s: f64,
        mean_s: f64,
        within: f64,
    },
}

/// How well the mean of a single queue should be known: within 10 %.
const WELL_KNOWN: f64 = 0.1;

/// Square of the normal distribution's 97.5 % point.
const Z_SQUARED: f64 = 3.841_458_820_694_124;

/// Relaxation times in which the mean of a single queue becomes known within [`WELL_KNOWN`], by half of its 95 % interval
/// (Whitt 1989, "Planning queueing simulations", section 4): of M/M/1 z^2 / w^2 times 2 (1 + rho) / (rho (1 + sqrt(rho))^2), which
/// near a utilisation of 1, where it matters, is 1.
const FOR_A_MEAN: f64 = Z_SQUARED / (WELL_KNOWN * WELL_KNOWN);

/// There is no steady state: a part is asked for more than it can do, or MSER finds none.
pub(super) fn no_steady_state(case: &FindingContext) -> Option<Finding> {
    let simulation = case.facts.simulation.as_ref()?;
    let over = overloaded_parts(case, simulation);
    let filling: Vec<&Load> = over.iter().filter(|load| !load.sheds()).collect();
    if let Some(worst) = most(&filling) {
        return Some(overload(worst, filling.len()));
    }
    // What is turned away may make the rest steady; that is another finding's. Fixed work has its own.
    if !over.is_empty() || case.evidence.workload == Workload::FixedWork {
        return None;
    }
    let steady = &simulation.steady;
    // Where requests pile up for another reason, the finding that names it stands for this one.
    let missed = steady.n > 0 && !steady.found && filling_up(case).is_none();
    missed.then(|| not_found(case, simulation))
}

/// Whether a part is asked for more than it can do, and fills up.
pub(super) fn is_overloaded(case: &FindingContext) -> bool {
    let simulation = case.facts.simulation.as_ref();
    simulation.is_some_and(|simulation| overloaded_parts(case, simulation).iter().any(|load| !load.sheds()))
}

/// Why no interval means anything.
pub(super) fn unsteady(case: &FindingContext) -> Option<Why> {
    let simulation = case.facts.simulation.as_ref()?;
    if is_overloaded(case) {
        return Some(Why::Overloaded);
    }
    let piles_up = || filling_up(case).is_some();
    match case.evidence.workload {
        Workload::FixedWork => None,
        _ if piles_up() => Some(Why::PilesUp),
        _ => (simulation.steady.n > 0 && !simulation.steady.found && !sheds(case, simulation))
            .then(|| Why::NotSteady { because: simulation.steady.why_not.clone().map(Box::new) }),
    }
}

fn sheds(case: &FindingContext, simulation: &Simulation) -> bool {
    overloaded_parts(case, simulation).iter().any(Load::sheds)
}

/// The part that leaves a mean response time without an interval, and why: an infinite mean before an infinite variance.
pub(super) fn boundless<'a>(case: &FindingContext<'a>) -> Option<(&'a ModelPart, Infinite)> {
    let simulation = case.facts.simulation.as_ref()?;
    let parts = simulation.parts.iter().filter_map(|part| Some((part, part.infinite?)));
    let mut all: Vec<_> = parts.filter(|(_, what)| what.leaves_no_interval()).collect();
    all.sort_by_key(|(_, what)| *what != Infinite::MeanWait);
    all.first().copied()
}

/// Service times so spread that the mean response time of a steady state is infinite, or has no interval; of measured times, a tail
/// that says so.
pub(super) fn heavy_tail(case: &FindingContext) -> Option<Finding> {
    let Some((part, what)) = boundless(case) else { return measured_tail(case) };
    let evidence = Model::Infinite { part: part.name.clone(), what };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        n: part.requests,
        ..Finding::default()
    })
}

/// A power law among the measured response times.
fn measured_tail(case: &FindingContext) -> Option<Finding> {
    let response = &case.summary.response;
    let tail = response.tail.as_ref()?;
    let evidence =
        Model::PowerLaw { n: tail.n, of: response.n, from_s: tail.from, index: tail.index, ci95: tail.ci95 };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(tail.index),
        interval: Some(tail.ci95),
        limit: Some(2.0),
        n: tail.n,
        ..Finding::default()
    })
}

/// Users who do not think are turned away at once, again and again: most of what was simulated are refusals.
pub(super) fn turned_away(case: &FindingContext) -> Option<Finding> {
    let simulation = case.facts.simulation.as_ref()?;
    let closed = case.summary.closed.as_ref();
    let closed =
        closed.filter(|_| matches!(case.evidence.workload, Workload::Closed | Workload::FixedWork))?;
    let users = closed.users_mean.or(closed.users)?;
    let measured = &case.summary.measured;
    let refused = case.turned_away.iter().flatten();
    let (n, sum_s) = refused.fold((0, 0.0), |(n, sum), (m, mean)| (n + m, sum + *m as f64 * mean / 1e9));
    let user_seconds = users * (measured.to_s - measured.from_s);
    let by = simulation.parts.iter().filter(|part| part.failed > 0).max_by_key(|part| part.failed);
    Refusals { n, of: measured.n, sum_s, user_seconds }.finding(by.map(|part| &part.name))
}

/// A part is asked for more than it can do and does not fill up, because it turns requests away.
pub(super) fn overloaded(case: &FindingContext) -> Option<Finding> {
    let simulation = case.facts.simulation.as_ref()?;
    let over = overloaded_parts(case, simulation);
    let shedding: Vec<&Load> = over.iter().filter(|load| load.sheds()).collect();
    let worst = most(&shedding)?;
    let part = worst.part;
    let evidence = Model::Sheds {
        part: part.name.clone(),
        load: worst.times(),
        parts: shedding.len(),
        failed: part.failed as f64 / part.requests as f64,
    };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(worst.offered),
        limit: Some(1.0),
        n: part.requests,
        ..Finding::default()
    })
}

/// The run is short against the time in which its slowest station forgets how it began.
pub(super) fn too_short(case: &FindingContext) -> Option<Finding> {
    let simulation = case.facts.simulation.as_ref()?;
    let Steady { n, cut, relaxation_s, .. } = simulation.steady;
    // No part that is asked for too much ever forgets.
    if simulation.parts.iter().any(|part| part.offered.is_some_and(|offered| offered >= 1.0)) {
        return None;
    }
    let relaxation = relaxation_s.filter(|&relaxation| relaxation > 0.0)?;
    let length = kept(case)?;
    let (relaxations, severity, limit) = match Length::of(relaxation, length) {
        Length::TooShort { times } => (times, Severity::Warning, Length::FORGOTTEN),
        Length::Short { times } => (times, Severity::Info, Length::TRUSTED),
        Length::Enough { .. } | Length::NoSteadyState => return None,
    };
    let evidence = Model::ShortRun {
        length_s: length,
        times: relaxations,
        relaxation_s: relaxation,
        beginning: severity == Severity::Warning,
        needed_s: limit * relaxation,
        mean_s: FOR_A_MEAN * relaxation,
        within: WELL_KNOWN,
    };
    Some(Finding {
        severity,
        evidence: vec![evidence.into()],
        value: Some(relaxations),
        limit: Some(limit),
        n: n - cut.min(n),
        ..Finding::default()
    })
}

/// How long the measured phase lasts after its warm-up, in seconds; none of fixed work, which has no steady state to be long for.
fn kept(case: &FindingContext) -> Option<f64> {
    let Steady { found, cut_s, .. } = case.facts.simulation.as_ref()?.steady;
    let measured = &case.summary.measured;
    let from = if found { cut_s.max(measured.from_s) } else { measured.from_s };
    let length = measured.to_s - from;
    (case.evidence.workload != Workload::FixedWork && length > 0.0).then_some(length)
}

/// How long a simulated run lasts after its warm-up, and how long it should for intervals; none where that is not known.
pub(super) fn length_for_intervals(case: &FindingContext) -> Option<(f64, f64)> {
    let trusted = case.facts.simulation.as_ref()?.steady.trusted_s?;
    Some((kept(case)?, trusted))
}

/// A station that is asked for all that it can do, or more.
struct Load<'a> {
    part: &'a ModelPart,
    offered: f64,
    growth: Option<Growth>,
}

impl Load<'_> {
    /// How many times what it can do it is asked for; none for infinitely many.
    fn times(&self) -> Option<f64> {
        let infinite = self.part.infinite == Some(Infinite::MeanService);
        Some(self.offered).filter(|offered| offered.is_finite() && !infinite)
    }

    /// Whether requests fail instead of piling up.
    fn sheds(&self) -> bool {
        self.part.failed > 0 && self.growth.is_some_and(|growth| !growth.shown())
    }
}

fn overloaded_parts<'a>(case: &FindingContext, simulation: &'a Simulation) -> Vec<Load<'a>> {
    let loads = simulation.parts.iter().filter_map(|part| {
        let offered = part.offered.filter(|&offered| offered >= 1.0)?;
        Some(Load { part, offered, growth: growth(case, part) })
    });
    loads.collect()
}

fn growth(case: &FindingContext, part: &ModelPart) -> Option<Growth> {
    let measured = &case.summary.measured;
    let period = case.facts.simulation.as_ref().and_then(|simulation| simulation.steady.period_s);
    Growth::of(part, measured.from_s, measured.to_s, period)
}

fn most<'a>(loads: &[&'a Load<'a>]) -> Option<&'a Load<'a>> {
    loads.iter().copied().max_by(|a, b| a.offered.total_cmp(&b.offered))
}

fn overload(worst: &Load, all: usize) -> Finding {
    let (value, interval) = worst.growth.map(|growth| (growth.per_second, growth.interval)).unzip();
    let evidence = Model::FillsUp {
        part: worst.part.name.clone(),
        load: worst.times(),
        parts: all,
        growth: worst.growth.map(|growth| growth.of_part(&worst.part.name)),
    };
    Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value,
        interval,
        limit: value.map(|_| 0.0),
        n: worst.part.requests,
        ..Finding::default()
    }
}

fn not_found(case: &FindingContext, simulation: &Simulation) -> Finding {
    let steady = &simulation.steady;
    let growing = simulation.parts.iter().filter_map(|part| Some((part, growth(case, part)?)));
    let fastest = growing
        .filter(|(_, growth)| growth.shown())
        .max_by(|(_, a), (_, b)| a.per_second.total_cmp(&b.per_second));
    let evidence = Model::NoSteadyState {
        why: steady.why_not.clone(),
        n: steady.n,
        fastest: fastest.as_ref().map(|(part, growth)| growth.of_part(&part.name)),
    };
    let (value, interval) = fastest.map(|(_, growth)| (growth.per_second, growth.interval)).unzip();
    Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value,
        interval,
        limit: value.map(|_| 0.0),
        n: steady.n,
        ..Finding::default()
    }
}
