//! What a reader must know about the run: effect, when, and cause, in words a performance engineer respects.
//!
//! One function per finding, all listed in [`ALL`]; each sees the same [`FindingContext`] and says at most one thing. [`load`] holds
//! those on how the load left, [`loops`] those on what answers did to it, [`pattern`] those on the pattern of its starts,
//! [`simulated`] those that only a simulation can have ([`refusals`] one of them), [`run`] the rest.
//! Deliberately absent: the verdict itself (`rules`, `pattern`), and what only an audit can tell (`audit`).

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
use crate::rules::Evidence;
use crate::setup::{Facts, Workload};
use crate::summary::{
    Finding, FindingId, Generator, RuleId, RuleOutcome, RuleResult, RuleRow, Severity, Source, Stall,
    Summary, Why,
};
use headway_base::Outcome;

/// All that findings are made from.
pub(crate) struct FindingContext<'a> {
    pub evidence: &'a Evidence<'a>,
    pub facts: &'a Facts,
    /// The document so far: everything but the findings.
    pub summary: &'a Summary,
    pub judged: &'a Judged,
    /// Labels of the steps.
    pub labels: &'a [String],
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
pub(crate) static ALL: [(FindingId, Find); 33] = [
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

/// Numbers are written with all their digits below this.
const PLAIN: f64 = 1e15;

pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = if percent >= 9.95 || percent == 0.0 { 0 } else { usize::from(percent < 1.0) + 1 };
    format!("{percent:.digits$} %")
}

pub(crate) fn span(seconds: f64) -> String {
    if seconds.abs() >= PLAIN {
        return format!("{seconds:.2e} s");
    }
    let (value, unit) = match seconds.abs() {
        0.0 => (0.0, "s"),
        s if s < 1e-6 => (seconds * 1e9, "ns"),
        s if s < 1e-3 => (seconds * 1e6, "us"),
        s if s < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let digits = if value.abs() >= 100.0 { 0 } else { usize::from(value.abs() < 10.0) + 1 };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
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
    fn own_cause(&self) -> String {
        if self.is_simulated() {
            return "the model's `pauses` let its generator stand still".into();
        }
        let stalls = self.stalls();
        let (saturated, most) = self.saturated_workers();
        if saturated > 0 {
            let share = percent(most);
            format!(
                "a worker was busy handling for {share} of its time: give it more threads or a lower rate"
            )
        } else if let Some(longest) = longest(&stalls) {
            let (n, longest) = (stalls.len(), span(longest.length_s));
            format!(
                "its threads stood still {n} times, the longest for {longest}: other work on this machine or a busy host"
            )
        } else if self.generator().is_some_and(|g| g.workers.iter().any(|w| w.runqueue_wait > Some(0.0))) {
            "its threads waited for a processor that other work held".into()
        } else if self.is_foreign() {
            "a cause, where the rows show one, stands with the pattern".into()
        } else {
            "the cause was not recorded; look for other work on the generator's machine".into()
        }
    }
}

fn longest<'a>(stalls: &[&'a Stall]) -> Option<&'a Stall> {
    stalls.iter().copied().max_by(|a, b| a.length_s.total_cmp(&b.length_s))
}

fn of_rule(rule: &RuleResult, text: String) -> Finding {
    Finding {
        severity: severity(rule.outcome),
        text,
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
    fn numbers_read_well() {
        assert_eq!(
            (percent(0.5), percent(0.0123), percent(0.0012)),
            ("50 %".into(), "1.2 %".into(), "0.12 %".into())
        );
        assert_eq!(
            (span(0.00235), span(12.0), span(2.5e-6)),
            ("2.35 ms".into(), "12 s".into(), "2.5 us".into())
        );
    }

    #[test]
    fn every_finding_is_documented() {
        let documented =
            [include_str!("../../../../docs/verdict.md"), include_str!("../../../../docs/causes.md")];
        let lines = documented.iter().flat_map(|text| text.lines());
        let rows: Vec<&str> = lines.filter_map(|row| row.strip_prefix("| `")?.split('|').next()).collect();
        for id in FindingId::ALL {
            let named =
                rows.iter().any(|row| row.trim_end_matches("` ").split("`, `").any(|name| *id == name));
            assert!(named, "{id} is in neither docs/verdict.md nor docs/causes.md");
        }
    }
}
