//! What a reader must know about the run: effect, when, and cause, as numbers and names.
//!
//! One file for each group: the rows of its findings (tag, meaning, subject, the rules that it speaks of, the function that finds it), their
//! evidence (one variant for each sentence), and the functions, each of which sees the same [`FindingContext`] and finds at most one thing.
//! [`mod@load`] holds those on how the load left, [`loops`] those on what answers did to it, [`mod@pattern`] those on the pattern of its starts,
//! [`mod@simulated`] those that only a simulation can have ([`refusals`] one of them), [`run`] the rest; `audit::causes` those of an audit.
//! Deliberately absent: the sentences and what to do next (`headway_report` has both for each variant of the evidence), and the verdict
//! itself (`rules`, `pattern`).

/// Rows of findings, which [`gather`] puts into the table: `"tag" Variant "meaning", of Subject [rules it speaks of], by function;`
macro_rules! rows {
    ($d:tt $name:ident { $($row:tt)* }) => {
        macro_rules! $name {
            ([$d($d more:ident)*] $d($d so_far:tt)*) => { gather! { [$d($d more)*] $d($d so_far)* $($row)* } };
        }
        pub(crate) use $name;
    };
}
pub(crate) use rows;

pub(crate) mod growth;
mod load;
mod loops;
mod pattern;
pub(crate) mod refusals;
mod run;
mod simulated;

pub use load::{FailedStep, GeneratorCause, Load, MovedNumber, Off, Reference};
pub use loops::{HeldBackBy, Loop, Moving, OpenLoad, Remedy};
pub use pattern::{Starts, VariesLess};
pub use run::{LostShard, OpenRule, Run, ShortShard};
pub use simulated::Model;

use crate::audit::causes::causes;
use crate::intervals::SEGMENTS;
use crate::pattern::Judged;
use crate::phase::Ranges;
use crate::rules;
use crate::setup::{Facts, Workload};
use crate::summary::{
    Evidence, Finding, Generator, RuleId, RuleOutcome, RuleResult, RuleRow, Severity, Source, Stall, Summary,
    Why, tags,
};
use headway_base::Outcome;
use headway_redact::Cleared;
use load::load;
use loops::{closed, drift, fed_back};
use pattern::{pattern, stamps};
use run::{around, cut_short, generator, responses};
use simulated::simulated;

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

/// What a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// How the load left.
    Load,
    /// The pattern of the starts.
    Pattern,
    /// Anything else of the run.
    Run,
}

/// Puts the rows of the groups into one table, in the order of the groups.
macro_rules! gather {
    ([] $($rows:tt)*) => { catalogue! { $($rows)* } };
    ([$next:ident $($more:ident)*] $($rows:tt)*) => { $next! { [$($more)*] $($rows)* } };
}

/// The table: what each row of the groups comes to.
macro_rules! catalogue {
    ($($tag:literal $variant:ident $meaning:literal, of $subject:ident $([$($rule:ident)*])? $(, by $find:path)?;)*) => {
        tags! {
            /// Which finding.
            FindingId { $($tag $variant $meaning,)* }
        }

        impl FindingId {
            /// What it is about.
            pub fn subject(&self) -> Subject {
                match self {
                    $(FindingId::$variant => Subject::$subject,)*
                    FindingId::Other(_) => Subject::Run,
                }
            }

            /// The rules that it speaks of: where it is told, they need not be.
            pub fn rules(&self) -> &'static [RuleId] {
                match self {
                    $(FindingId::$variant => &[$($(RuleId::$rule),*)?],)*
                    FindingId::Other(_) => &[],
                }
            }
        }

        /// Every finding on a run, and how it is found; causes of a pattern are found by an audit, and others where they arise.
        pub(crate) static ALL: &[(FindingId, Find)] = &[$($((FindingId::$variant, $find),)?)*];
    };
}

// Within one severity findings stand in this order.
gather! {
    [cut_short load fed_back simulated drift generator stamps responses pattern closed around causes]
}

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
