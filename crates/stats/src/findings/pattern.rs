//! Findings on the pattern of the starts, whatever load was asked for.

use super::FindingContext;
use crate::setup::Workload;
use crate::summary::evidence::{Starts, VariesLess};
use crate::summary::{Finding, Pattern, RuleId, RuleOutcome, RuleResult, Severity};

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
