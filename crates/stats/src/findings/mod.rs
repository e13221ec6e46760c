//! What a reader must know about the run: effect, when, and cause, as numbers and names.
//!
//! One function per finding, all listed in [`ALL`]; each sees the same [`FindingContext`] and finds at most one thing. [`load`] holds
//! those on how the load left, [`loops`] those on what answers did to it, [`pattern`] those on the pattern of its starts,
//! [`simulated`] those that only a simulation can have ([`refusals`] one of them), [`run`] the rest.
//! Deliberately absent: the sentences (`headway_report` makes them from the evidence), the verdict itself (`rules`, `pattern`), and what
//! only an audit can tell (`audit`).

pub(crate) mod growth;
mod load;
mod loops;
mod pattern;
pub(crate) mod refusals;
mod run;
mod simulated;

use crate::intervals::SEGMENTS;
use crate::pattern::Judged;
use crate::phase::Ranges;
use crate::rules;
use crate::setup::{Facts, Workload};
use crate::summary::evidence::GeneratorCause;
use crate::summary::{
    Evidence, Finding, FindingId, Generator, RuleId, RuleOutcome, RuleResult, RuleRow, Severity, Source,
    Stall, Summary, Why,
};
use headway_base::Outcome;
use headway_redact::Cleared;

/// All that findings are made from.
pub(crate) struct FindingContext<'a> {
    pub evidence: &'a rules::Evidence<'a>,
    pub facts: &'a Facts,
    /// The document so far: everything but the findings.
    pub summary: &'a Summary,
    pub judged: &'a Judged,
    /// Labels of the steps.
    pub labels: &'a [Cleared],
    /// When arrivals fell due that never started, and when requests failed.
    pub unsent_at: &'a Ranges,
    pub failed_at: &'a Ranges,
    /// Mean service time and number of requests per segment.
    pub service: [Option<(u64, f64)>; SEGMENTS],
    /// Mean response time per segment, in nanoseconds.
    pub response: [Option<f64>; SEGMENTS],
    /// Mean response time of the requests that were answered and not well, in nanoseconds, and their number.
    pub turned_away: [Option<(u64, f64)>; SEGMENTS],
    /// The same in seconds over the seconds (or longer rows) of the measured phase, and where each ends.
    pub rows: Vec<(f64, f64)>,
    /// Arrivals that started and of which no record told the end.
    pub unaccounted: u64,
}

type Find = fn(&FindingContext) -> Option<Finding>;

/// Every finding there is: its id, and how it is found.
pub(crate) static ALL: [(FindingId, Find); 38] = [
    (FindingId::Aborted, run::aborted),
    (FindingId::Interrupted, run::interrupted),
    (FindingId::UnsentSteps, load::unsent_steps),
    (FindingId::Unsent, load::unsent),
    (FindingId::OffRate, load::off_rate),
    (FindingId::Late, load::late),
    (FindingId::Uplink, load::uplink),
    (FindingId::TargetWindow, load::target_window),
    (FindingId::Bunched, load::bunched),
    (FindingId::Smoothed, load::smoothed),
    (FindingId::Serialised, load::serialised),
    (FindingId::Feedback, loops::feedback),
    (FindingId::NoSteadyState, simulated::no_steady_state),
    (FindingId::Overloaded, simulated::overloaded),
    (FindingId::HeavyTail, simulated::heavy_tail),
    (FindingId::TurnedAway, simulated::turned_away),
    (FindingId::NotSteady, loops::not_steady),
    (FindingId::Stall, run::stall),
    (FindingId::Saturated, run::saturated),
    (FindingId::LocalLimit, run::local_limit),
    (FindingId::Unaccounted, run::unaccounted),
    (FindingId::Disordered, run::disordered),
    (FindingId::CoarseStamps, pattern::coarse_stamps),
    (FindingId::ShortRun, run::short_run),
    (FindingId::Censored, run::censored),
    (FindingId::Errors, run::errors),
    (FindingId::Unreachable, run::unreachable),
    (FindingId::Surplus, run::surplus),
    (FindingId::SentAgain, run::sent_again),
    (FindingId::Redirects, run::redirects),
    (FindingId::NamesNotRead, run::names_not_read),
    (FindingId::LongestGaps, pattern::longest_gaps),
    (FindingId::Periodic, pattern::periodic),
    (FindingId::FixedPopulation, pattern::fixed_population),
    (FindingId::ClosedLoop, loops::closed_loop),
    (FindingId::FixedWork, loops::fixed_work),
    (FindingId::InPause, run::in_pause),
    (FindingId::SameHost, run::same_host),
];

/// All findings of a run, the most severe first.
pub(crate) fn find_all(case: &FindingContext) -> Vec<Finding> {
    let mut findings: Vec<Finding> = ALL
        .iter()
        .filter_map(|(id, find)| find(case).map(|finding| Finding { id: id.clone(), ..finding }))
        .collect();
    by_severity(&mut findings);
    findings
}

/// The most severe first; within one severity the order stays.
pub(crate) fn by_severity(findings: &mut [Finding]) {
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
}

/// Why no interval of a simulated run's response times means anything: there is no steady state that it could be of.
pub(crate) fn unsteady(case: &FindingContext) -> Option<Why> {
    simulated::unsteady(case)
}

/// How long a simulated run lasts after its warm-up, and how long it should for intervals, in seconds; none where that is not known.
pub(crate) fn length_for_intervals(case: &FindingContext) -> Option<(f64, f64)> {
    simulated::length_for_intervals(case)
}

/// Why no interval of a mean response time means anything: the mean that it should hold is infinite, or the variance is.
pub(crate) fn no_mean(case: &FindingContext) -> Option<Why> {
    simulated::boundless(case).map(|(_, what)| what.against_the_mean())
}

fn severity(outcome: RuleOutcome) -> Severity {
    if outcome == RuleOutcome::Fail { Severity::Error } else { Severity::Warning }
}

impl FindingContext<'_> {
    fn rules<'a>(&'a self, id: &'a RuleId) -> impl Iterator<Item = &'a RuleResult> {
        self.summary.verdict.rules.iter().filter(move |r| r.rule == *id)
    }

    /// Requests that started.
    fn released(&self) -> u64 {
        self.evidence.kept.segments.iter().map(|s| s.all).sum()
    }

    fn count(&self, outcome: Outcome) -> u64 {
        self.summary.outcomes.get(outcome.name()).copied().unwrap_or(0)
    }

    fn generator(&self) -> Option<&Generator> {
        self.summary.generator.as_ref()
    }

    /// Whether the run took place in virtual time.
    fn is_simulated(&self) -> bool {
        self.facts.source == Source::Sim || self.facts.simulation.is_some()
    }

    /// Whether the load is another tool's.
    fn is_foreign(&self) -> bool {
        self.evidence.workload == Workload::Foreign
    }

    /// Stalls worth telling that overlap the measured phase.
    fn stalls(&self) -> Vec<&Stall> {
        let (from, to) = (self.summary.measured.from_s, self.summary.measured.to_s);
        let least = self.evidence.tolerances.stall.as_secs_f64();
        let stalls = self.generator().map_or(&[][..], |g| &g.stalls);
        stalls.iter().filter(|s| s.length_s > least && s.at_s < to && s.at_s + s.length_s > from).collect()
    }

    /// Workers that spend more than the tolerated share of their time handling, and the largest such share.
    fn saturated_workers(&self) -> (u64, f64) {
        let limit = self.evidence.tolerances.saturated;
        let shares = self.generator().into_iter().flat_map(|g| &g.workers).map(|w| {
            let total = w.handling + w.polling + w.sleeping;
            if total > 0.0 { w.handling / total } else { 0.0 }
        });
        shares.filter(|&s| s > limit).fold((0, 0.0), |(n, most), s| (n + 1, f64::max(most, s)))
    }

    /// Why the generator may have been late.
    fn generator_cause(&self) -> GeneratorCause {
        if self.is_simulated() {
            return GeneratorCause::ModelPauses;
        }
        let stalls = self.stalls();
        let (saturated, most) = self.saturated_workers();
        if saturated > 0 {
            GeneratorCause::Saturated { share: most }
        } else if let Some(longest) = longest(&stalls) {
            GeneratorCause::Stalls { n: stalls.len() as u64, longest_s: longest.length_s }
        } else if self.generator().is_some_and(|g| g.workers.iter().any(|w| w.runqueue_wait > Some(0.0))) {
            GeneratorCause::NoProcessor
        } else if self.is_foreign() {
            GeneratorCause::InPattern
        } else {
            GeneratorCause::NotRecorded
        }
    }
}

fn longest<'a>(stalls: &[&'a Stall]) -> Option<&'a Stall> {
    stalls.iter().copied().max_by(|a, b| a.length_s.total_cmp(&b.length_s))
}

fn of_rule(rule: &RuleResult, evidence: impl Into<Evidence>) -> Finding {
    Finding {
        severity: severity(rule.outcome),
        evidence: vec![evidence.into()],
        value: rule.value,
        interval: rule.interval,
        limit: match (rule.value, rule.limits.low, rule.limits.high) {
            (Some(v), Some(low), Some(high)) => Some(if v < 0.0 { low } else { high }),
            (_, low, high) => high.or(low),
        },
        n: rule.n,
        rule: Some(RuleRow { id: rule.rule.clone(), window: rule.window, limits: rule.limits }),
        ..Finding::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_is_documented() {
        let documented =
            [include_str!("../../../../docs/verdict.md"), include_str!("../../../../docs/causes.md")];
        let lines = documented.iter().flat_map(|text| text.lines());
        let rows: Vec<&str> = lines.filter_map(|row| row.strip_prefix("- `")?.split("`: ").next()).collect();
        for id in FindingId::ALL {
            let named = rows.iter().any(|row| row.split("`, `").any(|name| id.as_str() == name));
            assert!(named, "{id} is in neither docs/verdict.md nor docs/causes.md");
        }
    }
}
