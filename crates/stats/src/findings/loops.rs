//! Findings on the loop between target and load: where answers decided what was sent next, and where nothing was steady.

use super::FindingContext;
use super::growth::Growth;
use super::simulated::{is_overloaded, no_steady_state};
use crate::intervals::SEGMENTS;
use crate::setup::Workload;
use crate::summary::{Finding, Interval, Severity, Stated, Why};
use crate::trend::{Trend, mser};
use headway_base::Outcome;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

rows! {
    $ fed_back {
        "feedback" Feedback "Responses shaped the load.", of Run, by loops::feedback;
    }
}

rows! {
    $ drift {
        "not-steady" NotSteady "Response times or requests in flight change through the measured phase.", of Run, by loops::not_steady;
    }
}

rows! {
    $ closed {
        "closed-loop" ClosedLoop "What the response times of a closed workload are.", of Run, by loops::closed_loop;
        "fixed-work" FixedWork "What the response times of fixed work are.", of Run, by loops::fixed_work;
    }
}

/// What responses did to the load, and what response times are of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Loop {
    /// Of `offered` requests of the sessions that share was sent within the measured phase.
    SessionsBehind { offered: f64, share: f64 },
    /// Something grew throughout the measured phase.
    PilesUp { what: Moving, by: f64, mean: f64 },
    /// The same of a simulation: how fast, and what besides the rate made work for its parts.
    PilesUpInModel {
        what: Moving,
        per_second: f64,
        ci95: Interval,
        attempts_per_request: Option<f64>,
        wasted: Option<f64>,
        down: Option<Cleared>,
    },
    /// A share of the arrivals found no free connection and waited.
    HeldBack { share: f64, longest_s: f64, cap: Option<u64>, cause: HeldBackBy },
    /// Something changed through the measured phase by that share of its mean (below zero: fell).
    NotSteady { what: Moving, change: f64, remedy: Remedy },
    /// Response times of a closed workload, and what an open one of the same rate would see.
    ClosedLoop { open: OpenLoad },
    /// Response times of fixed work.
    FixedWork { in_flight_max: Option<u64>, took_s: f64 },
}

/// What grows or changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moving {
    /// The number of requests in flight.
    Requests,
    /// The number of active sessions.
    Sessions,
    /// The mean response time.
    ResponseTimes,
}

/// Why arrivals found no free connection.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence")]
pub enum HeldBackBy {
    /// The target, which took so many times as long then.
    Target { times: f64 },
    /// The cap: the mean number of connections in use.
    Cap { in_use: f64 },
    /// A target that had accepted a connection and not begun to speak HTTP/2 on it, which says how many requests it takes at once.
    Mute,
    /// Connections that were being set up: fewer than the cap were ever open.
    SetUp,
    /// The target or the cap.
    Either,
}

/// What to do about numbers that are not steady.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`")]
pub enum Remedy {
    /// Warm up until then, instead of the present end of the warm-up.
    WarmUp { until_s: f64, instead_of_s: f64 },
    /// Ask for less, or run longer: no stretch is steady, and the numbers rise.
    AskForLess,
    /// Run longer.
    RunLonger,
}

/// What a closed workload tells of an open one of the same rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum OpenLoad {
    /// Its 99th percentile, beside that of the closed one.
    Estimated { rate: f64, p99_s: f64, seen_p99_s: f64 },
    /// It would pile up: the target was busy for that share of the time.
    Unsustainable { busy: f64, rate: f64 },
    /// Nothing.
    NotKnown,
}

/// The load did not follow the plan alone: what could not be sent in time, what piled up, what waited for a connection.
pub(super) fn feedback(case: &FindingContext) -> Option<Finding> {
    let parts = [not_sent(case), held_back(case), piling_up(case)];
    let mut parts = parts.into_iter().flatten();
    let first = parts.next()?;
    Some(parts.fold(first, |all, part| Finding {
        severity: all.severity.max(part.severity),
        evidence: [all.evidence, part.evidence].concat(),
        at: if all.at.is_empty() { part.at } else { all.at },
        ..all
    }))
}

/// Sessions that waited for answers so long that their requests did not fit into the phase.
fn not_sent(case: &FindingContext) -> Option<Finding> {
    let sessions = case.summary.sessions.as_ref()?;
    // What the generator did not send is no feedback: see `unsent`.
    let not_sent = case.evidence.loops.map_or(0, |loops| loops.sessions.not_sent);
    let asked = sessions.requests_offered? - not_sent as f64;
    let share = sessions.sent_share.filter(|_| asked > 0.0).map(|_| sessions.requests_sent as f64 / asked)?;
    let least = 1.0 - case.evidence.tolerances.feedback;
    (share < least).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Loop::SessionsBehind { offered: asked, share }.into()],
        value: Some(share),
        limit: Some(least),
        n: sessions.n,
        ..Finding::default()
    })
}

/// Sessions, or open requests, of which there are ever more.
fn piling_up(case: &FindingContext) -> Option<Finding> {
    if case.is_simulated() {
        return filling_up(case);
    }
    let (what, trend) = case.active()?;
    let least = case.evidence.tolerances.trend;
    // Where answers take no longer, it is their think times that keep the sessions: a phase that began without any.
    let slower = || case.responses().is_some_and(|trend| trend.rises(least));
    let rises = trend.rises(least) && trend.change * trend.mean >= 1.0 && slower();
    rises.then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Loop::PilesUp { what, by: trend.change * trend.mean, mean: trend.mean }.into()],
        value: Some(trend.change),
        interval: Some(trend.interval),
        limit: Some(case.evidence.tolerances.trend),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

/// The same of a simulation: told as the growth of its parts is, and not where a part that is asked for too much is the cause,
/// which another finding names.
pub(super) fn filling_up(case: &FindingContext) -> Option<Finding> {
    if is_overloaded(case) {
        return None;
    }
    let (what, levels) = case.levels()?;
    let measured = &case.summary.measured;
    let length = (measured.to_s - measured.from_s) / SEGMENTS as f64;
    let filled = case.evidence.filled.min(SEGMENTS);
    let points: Vec<(f64, f64)> = levels
        .iter()
        .take(filled)
        .enumerate()
        .map(|(s, &level)| (measured.from_s + (s as f64 + 0.5) * length, level))
        .collect();
    let growth = Growth::through(&points)?;
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let least = case.evidence.tolerances.trend;
    let over = filled as f64 * length;
    let slower = || case.responses().is_some_and(|trend| trend.rises(least));
    // As of a live run: by more than the tolerated share of the mean, and by one request at least.
    let grows = growth.interval[0] * over > (least * mean).max(1.0);
    (grows && slower()).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![in_model(case, what, &growth).into()],
        value: Some(growth.per_second),
        interval: Some(growth.interval),
        limit: Some(0.0),
        n: measured.n,
        ..Finding::default()
    })
}

/// How fast something grows in a model, and what may make requests pile up there that the plan's rate alone does not.
fn in_model(case: &FindingContext, what: Moving, growth: &Growth) -> Loop {
    let simulation = case.facts.simulation.as_ref();
    let down = simulation.and_then(|simulation| {
        simulation.parts.iter().find(|part| {
            let mut series = part.series.iter();
            series.any(|point| point.up.is_some_and(|up| up < 1.0))
        })
    });
    Loop::PilesUpInModel {
        what,
        per_second: growth.per_second,
        ci95: growth.interval,
        attempts_per_request: simulation
            .and_then(|simulation| simulation.attempts_per_request)
            .filter(|&attempts| attempts > 1.0),
        wasted: simulation.and_then(|simulation| simulation.wasted).filter(|&wasted| wasted > 0.0),
        down: down.map(|part| part.name.clone()),
    }
}

/// Response times or requests in flight that change through the measured phase.
pub(super) fn not_steady(case: &FindingContext) -> Option<Finding> {
    // Where there is no steady state at all, nothing need be said of this one.
    let known = || no_steady_state(case).is_some() || (case.is_simulated() && filling_up(case).is_some());
    if !case.could_be_steady() || known() {
        return None;
    }
    let least = case.evidence.tolerances.trend;
    let moving = |trend: &Trend| trend.moves(least);
    let response = case.responses().filter(moving);
    let of_response = response.is_some();
    let what = if of_response { Moving::ResponseTimes } else { Moving::Requests };
    let trend = response.or_else(|| case.under_way().filter(moving))?;
    let remedy = remedy(case, of_response, trend.change > 0.0);
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![Loop::NotSteady { what, change: trend.change, remedy }.into()],
        value: Some(trend.change),
        interval: Some(trend.interval),
        limit: Some(least),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

/// Where a steady stretch of what moved, the response times or the requests under way, seems to begin.
fn remedy(case: &FindingContext, of_response: bool, rising: bool) -> Remedy {
    let (from, to) = (case.summary.measured.from_s, case.summary.measured.to_s);
    let mut rows = case.rows.clone();
    if !of_response || rows.len() < SEGMENTS {
        let under_way = case.evidence.loops.filter(|_| !of_response).map(|loops| loops.under_way.means());
        let length = (to - from) / SEGMENTS as f64;
        let value =
            |s: usize| under_way.map_or_else(|| Some(case.response[s]? / 1e9), |means| Some(means[s]));
        let row = |s: usize| Some((from + (s + 1) as f64 * length, value(s)?));
        rows = (0..case.evidence.filled.min(SEGMENTS)).filter_map(row).collect();
    }
    let values: Vec<f64> = rows.iter().map(|row| row.1).collect();
    // What piles up is steady nowhere, however calm a stretch of it looks.
    let calm = || mser(&values).filter(|&cut| cut > 0 && !(rising && piling_up(case).is_some()));
    let cut = calm().and_then(|cut| Some(rows.get(cut - 1)?.0));
    match cut {
        Some(until_s) => Remedy::WarmUp { until_s, instead_of_s: from },
        None if rising => Remedy::AskForLess,
        None => Remedy::RunLonger,
    }
}

/// What the response times of a closed workload are.
pub(super) fn closed_loop(case: &FindingContext) -> Option<Finding> {
    let closed = case.summary.closed.as_ref().filter(|_| case.evidence.workload == Workload::Closed)?;
    let estimate = closed.estimated.as_ref().and_then(|e| {
        let (p99_s, seen_p99_s) = (e.p99?, case.summary.response.p99?);
        Some(OpenLoad::Estimated { rate: e.rate, p99_s, seen_p99_s })
    });
    let no_estimate = || match case.summary.not_computed.get("closed.estimated") {
        Some(Stated { why: Why::WouldPileUp { busy, rate }, .. }) => {
            OpenLoad::Unsustainable { busy: *busy, rate: *rate }
        }
        _ => OpenLoad::NotKnown,
    };
    let open = estimate.unwrap_or_else(no_estimate);
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![Loop::ClosedLoop { open }.into()],
        value: closed.estimated.as_ref().and_then(|e| e.p99),
        n: closed.n,
        ..Finding::default()
    })
}

/// What the response times of fixed work are.
pub(super) fn fixed_work(case: &FindingContext) -> Option<Finding> {
    if case.evidence.workload != Workload::FixedWork {
        return None;
    }
    let took_s = case.summary.measured.to_s - case.summary.measured.from_s;
    let in_flight_max = case.summary.closed.as_ref().and_then(|closed| closed.in_flight_max);
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![Loop::FixedWork { in_flight_max, took_s }.into()],
        value: Some(took_s),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

impl FindingContext<'_> {
    /// Whether the same was asked of the target throughout the measured phase.
    fn could_be_steady(&self) -> bool {
        let evidence = self.evidence;
        let constant_users = || {
            evidence.loops.and_then(|loops| loops.users_held()).is_none_or(|held| {
                let asked = held.map(|(_, asked)| asked);
                asked.iter().all(|a| (a - asked[0]).abs() < 1e-6 * asked[0].max(1.0))
            })
        };
        evidence.loops.is_some()
            && evidence.workload != Workload::FixedWork
            && evidence.kept.rescaled.is_none()
            && constant_users()
    }

    /// The trend of the mean response times.
    fn responses(&self) -> Option<Trend> {
        let filled = 0..self.evidence.filled.min(SEGMENTS);
        let means: Vec<(f64, f64)> =
            filled.filter_map(|s| Some((s as f64, self.response[s]? / 1e9))).collect();
        Trend::of(&means)
    }

    /// The trend of the requests under way.
    fn under_way(&self) -> Option<Trend> {
        let means = self.evidence.loops?.under_way.means();
        self.trend(&means)
    }

    /// What piles up if more comes than goes, on average in each segment; none where nothing can.
    fn levels(&self) -> Option<(Moving, [f64; SEGMENTS])> {
        let loops = self.evidence.loops.filter(|_| self.could_be_steady())?;
        match self.evidence.workload {
            Workload::Open => Some((Moving::Requests, loops.under_way.means())),
            Workload::Sessions => Some((Moving::Sessions, loops.sessions.active.means())),
            _ => None,
        }
    }

    /// The same and its trend.
    fn active(&self) -> Option<(Moving, Trend)> {
        let (what, means) = self.levels()?;
        Some((what, self.trend(&means)?))
    }

    fn trend(&self, means: &[f64; SEGMENTS]) -> Option<Trend> {
        let filled = means.iter().take(self.evidence.filled).enumerate();
        Trend::of(&filled.map(|(s, &mean)| (s as f64, mean)).collect::<Vec<_>>())
    }
}

/// Arrivals that found no free connection: the load then followed the pace at which these came free.
fn held_back(case: &FindingContext) -> Option<Finding> {
    let kept = case.evidence.kept;
    let waited: u64 = kept.segments.iter().map(|s| s.waited()).sum();
    let n = case.released();
    let never = case.count(Outcome::Shed);
    if waited + never == 0 {
        return None;
    }
    let share = (waited + never) as f64 / (n + never) as f64;
    let cap = case.facts.plan.as_ref().and_then(|p| p.connections);
    // Little's law: connections in use = rate x time that one is held.
    let needed = case.summary.rate.offered.zip(case.summary.service.mean).map(|(rate, held)| rate * held);
    // Of fewer connections than the cap allows, or fewer requests, it was never full.
    let opened = case.generator().and_then(|generator| generator.connections_opened);
    let never_full = cap.is_some_and(|cap| opened.is_some_and(|opened| opened < cap) || n + never < cap);
    let cause = match (slowdown(case), needed, cap) {
        _ if never_full => HeldBackBy::SetUp,
        (Some(times), _, _) => HeldBackBy::Target { times },
        (None, Some(in_use), Some(cap)) if in_use > 0.5 * cap as f64 => HeldBackBy::Cap { in_use },
        _ => HeldBackBy::Either,
    };
    let evidence = Loop::HeldBack { share, longest_s: kept.wait_max as f64 / 1e9, cap, cause };
    let severity = if share > case.evidence.tolerances.late { Severity::Warning } else { Severity::Info };
    Some(Finding {
        severity,
        evidence: vec![evidence.into()],
        value: Some(share),
        limit: Some(case.evidence.tolerances.late),
        at: kept.waited.seconds(),
        n: n + never,
        ..Finding::default()
    })
}

/// How many times as long service took in the segments with waiting as in those without, if at least twice.
fn slowdown(case: &FindingContext) -> Option<f64> {
    let mean = |with: bool| {
        let segments = case.evidence.kept.segments.iter().zip(&case.service);
        let (n, sum) = segments
            .filter(|(s, _)| (s.waited() > 0) == with)
            .filter_map(|(_, service)| *service)
            .fold((0u64, 0.0), |(n, sum), (m, mean)| (n + m, sum + m as f64 * mean));
        (n > 0).then(|| sum / n as f64)
    };
    let times = mean(true)? / mean(false).filter(|&m| m > 0.0)?;
    (times >= 2.0).then_some(times)
}
