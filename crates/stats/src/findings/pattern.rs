//! Findings on the pattern of the starts, whatever load was asked for.

use super::FindingContext;
use crate::setup::Workload;
use crate::summary::{Finding, Pattern, RuleId, RuleOutcome, RuleResult, Severity};
use serde::{Deserialize, Serialize};

rows! {
    $ stamps {
        "coarse-stamps" CoarseStamps "Time stamps are too coarse for headways.", of Run, by pattern::coarse_stamps;
    }
}

rows! {
    $ pattern {
        "longest-gaps" LongestGaps "A few pauses change the arrival pattern.", of Pattern, by pattern::longest_gaps;
        "periodic" Periodic "The starts have a period.", of Pattern, by pattern::periodic;
        "fixed-population" FixedPopulation "Counts over long windows vary less than those of independent users.", of Pattern, by pattern::fixed_population;
    }
}

/// The pattern of the starts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Starts {
    /// Independent up to a scale; counts in longer windows vary less than those of independent users.
    FixedPopulation { scale_s: f64, window_s: f64, index: f64, why: VariesLess },
    /// The starts repeat themselves exactly; the number in one period.
    Repeats { period_s: f64, starts: f64 },
    /// A line in the spectrum of the counts.
    Period { period_s: f64, amplitude: f64 },
    /// The longest pauses change the pattern: what it is, and what it would be with them, or without if it is judged with them.
    LongestGaps { n: u64, longest_s: f64, pattern: Pattern, otherwise: Pattern },
    /// Stamps are too coarse for headways; the shortest window whose counts are judged, and how to get finer ones.
    CoarseStamps { grid_s: f64, headway_s: f64, window_s: f64, finer: Option<String> },
}

/// Why counts in long windows vary less than those of independent users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the number of starts")]
pub enum VariesLess {
    /// The same number starts in each second.
    EachSecond { n: u64 },
    /// A fixed number of users take turns.
    Turns,
    /// Either that or a schedule: whether users of another tool wait for responses is not known.
    TurnsOrSchedule,
    /// The schedule fixes how many start.
    Schedule,
}

/// Fewer fluctuations over long windows than over short ones; changes nothing.
pub(super) fn fixed_population(case: &FindingContext) -> Option<Finding> {
    let independent = case.judged.pattern == Pattern::Independent;
    let (below, interval) = case.judged.below.filter(|_| independent)?;
    let scale = case.judged.scale?;
    let why = match (case.summary.verdict.starts_each_second, case.evidence.workload) {
        (Some(n), _) => VariesLess::EachSecond { n },
        (None, Workload::Closed | Workload::FixedWork) => VariesLess::Turns,
        // Of another tool's load it is not known whether its users wait for responses.
        (None, Workload::Foreign) => VariesLess::TurnsOrSchedule,
        (None, Workload::Open | Workload::Sessions | Workload::Connecting) => VariesLess::Schedule,
    };
    let window_s = below.window as f64 / 1e9;
    let evidence = Starts::FixedPopulation { scale_s: scale, window_s, index: below.index, why };
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![evidence.into()],
        value: Some(below.index),
        interval: Some(interval),
        limit: Some(case.evidence.tolerances.low_dispersion),
        n: below.windows as u64,
        ..Finding::default()
    })
}

fn line<'a>(case: &FindingContext<'a>) -> Option<&'a RuleResult> {
    let rules = &case.summary.verdict.pattern_rules;
    rules.iter().find(|row| row.rule == RuleId::Line && row.outcome == RuleOutcome::Fail)
}

/// A line in the spectrum of the counts.
pub(super) fn periodic(case: &FindingContext) -> Option<Finding> {
    let line = line(case)?;
    let amplitude = line.value?;
    let evidence = match case.judged.repeats {
        Some(period_s) => {
            let starts = (period_s * case.summary.arrivals.rate.unwrap_or(0.0)).round();
            Starts::Repeats { period_s, starts }
        }
        None => Starts::Period { period_s: line.window?, amplitude },
    };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(amplitude),
        interval: line.interval,
        limit: line.limits.high,
        n: line.n,
        ..Finding::default()
    })
}

/// A few pauses that change the pattern.
pub(super) fn longest_gaps(case: &FindingContext) -> Option<Finding> {
    let (otherwise, at) = case.judged.without.as_ref()?;
    let longest = at.iter().map(|[from, to]| to - from).fold(0.0, f64::max);
    let n = at.len() as u64;
    let evidence =
        Starts::LongestGaps { n, longest_s: longest, pattern: case.judged.pattern, otherwise: *otherwise };
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![evidence.into()],
        value: Some(longest),
        at: at.clone(),
        n,
        ..Finding::default()
    })
}

/// Windows whose counts are judged last so many steps of the stamps' grid, at least.
const STEPS_OF_THE_GRID: f64 = 10.0;

pub(super) fn coarse_stamps(case: &FindingContext) -> Option<Finding> {
    let arrivals = case.evidence.arrivals;
    let mean = arrivals.gaps.mean().filter(|_| arrivals.coarse)?;
    let grid = case.evidence.kept.grid.as_secs_f64();
    let evidence = Starts::CoarseStamps {
        grid_s: grid,
        headway_s: mean / 1e9,
        window_s: STEPS_OF_THE_GRID * grid,
        finer: case.facts.finer.clone(),
    };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        // Starts per step of the grid.
        value: (mean > 0.0).then(|| grid * 1e9 / mean),
        limit: Some(0.5),
        n: arrivals.gaps.n,
        ..Finding::default()
    })
}
