//! Findings on the pattern of the starts, whatever load was asked for.

use super::{FindingContext, span};
use crate::pattern::period;
use crate::setup::Workload;
use crate::summary::{Finding, Pattern, RuleId, RuleOutcome, RuleResult, Severity};

/// Fewer fluctuations over long windows than over short ones; changes nothing.
pub(super) fn fixed_population(case: &FindingContext) -> Option<Finding> {
    let independent = case.judged.pattern == Pattern::Independent;
    let (below, interval) = case.judged.below.filter(|_| independent)?;
    let scale = case.judged.scale?;
    let why = match (case.summary.verdict.starts_each_second, case.evidence.workload) {
        (Some(n), _) => {
            format!("exactly {n} start in each second. Independent users would vary by {:.0} from second to second", (n as f64).sqrt())
        }
        (None, Workload::Closed | Workload::FixedWork) => {
            "a fixed number of users take turns. Slow phases of the target are then met with fewer requests".into()
        }
        // Of another tool's load it is not known whether its users wait for responses.
        (None, Workload::Foreign) => {
            "users of a fixed number take turns, or a schedule fixes how many start. Slow phases of the target may then be \
             met with fewer requests"
                .into()
        }
        (None, Workload::Open | Workload::Sessions) => "the schedule fixes how many start".into(),
    };
    let window = below.window as f64 / 1e9;
    Some(Finding {
        severity: Severity::Info,
        text: format!(
            "Independent up to {}. Over {} counts vary less than those of independent users (index {:.2} instead of 1): {why}.",
            span(scale),
            span(window),
            below.index,
        ),
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
    let (line, period) = (line(case)?, period(case.judged)?);
    let amplitude = line.value?;
    let text = match case.judged.repeats {
        Some(repeats) => format!(
            "The starts repeat themselves exactly every {period} ({} of them): all headways there are stand in one such period, \
             and a longer test adds none. Independent users do not.",
            (repeats * case.summary.arrivals.rate.unwrap_or(0.0)).round()
        ),
        None => format!(
            "The starts follow a period of {period}: its line in the spectrum of the counts has the relative amplitude \
             {amplitude:.2} (1 would mean that the rate falls to zero in each period). A timer, a schedule or users who come \
             back in the same order do that; independent users have no period."
        ),
    };
    Some(Finding {
        severity: Severity::Warning,
        text,
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
    let (is, other) = (case.judged.pattern.word(), otherwise.word());
    let judged_without = matches!(case.judged.pattern, Pattern::Even)
        || (case.judged.pattern, *otherwise) == (Pattern::Bunched, Pattern::Undecided);
    let gaps = match at.len() {
        1 => format!("one pause of {}", span(longest)),
        n => format!("the {n} longest pauses (up to {})", span(longest)),
    };
    let text = if judged_without {
        format!(
            "The pattern is judged without {gaps}: {is}. With it, it would be {other}. The times are listed."
        )
    } else {
        format!("Without {gaps} the pattern would be {other}; with it, it is {is}. The times are listed.")
    };
    let n = at.len() as u64;
    Some(Finding {
        severity: Severity::Info,
        text,
        value: Some(longest),
        at: at.clone(),
        n,
        ..Finding::default()
    })
}

pub(super) fn coarse_stamps(case: &FindingContext) -> Option<Finding> {
    let arrivals = case.evidence.arrivals;
    let mean = arrivals.gaps.mean().filter(|_| arrivals.coarse)?;
    let grid = case.evidence.kept.grid.as_secs_f64();
    let finer =
        case.facts.finer.as_ref().map_or(String::new(), |finer| format!(" For finer stamps: {finer}."));
    Some(Finding {
        severity: Severity::Warning,
        text: format!(
            "Stamps tell {} and the mean headway is {}: headways describe the clock and not the users, and decide nothing. \
             The pattern comes from counts in windows of {} and more; bunches shorter than that cannot be seen.{finer}",
            span(grid),
            span(mean / 1e9),
            span(10.0 * grid)
        ),
        // Starts per step of the grid.
        value: (mean > 0.0).then(|| grid * 1e9 / mean),
        limit: Some(0.5),
        n: arrivals.gaps.n,
        ..Finding::default()
    })
}
