//! The load rules for a load of which only the starts are known: held to the law of the plan it is expected to follow,
//! instead of to recorded instants of being due.
//!
//! A sample is never its law: what a sound load of this length shows by chance is in the interval (the counts' own variance,
//! the standard error of the CoV, that of the index), so a short file is undecided and not wrong. Sources: the variance of
//! the number of renewals, cov^2 times its mean, Cox (1962), "Renewal Theory", section 4.5; of batches: `workload::arrivals`.

use super::{Evidence, Measurement, or_no_window};
use crate::setup::PlanLaw;
use crate::summary::{Limits, RuleId, Why};

/// A constant rate expects an index of 0 only of windows that hold many headways: a start that crosses the border of a
/// window adds up to half its inverse count.
const LONG_FOR_CONSTANT: f64 = 10.0;
/// The longest window that the rule looks at, in seconds: over longer ones a fixed number of users shows, which is no defect.
const LONGEST: f64 = 1.0;
/// Of other processes the index nears its limit (of renewals cov^2) from here on.
const LONG_FOR_RENEWAL: f64 = 100.0;

/// As the rule's, but more starts than expected are as wrong as fewer.
pub(super) fn limits(rule: &RuleId, limits: Limits) -> Limits {
    match limits.low {
        Some(low) if *rule == RuleId::SentShare => Limits { low: Some(low), high: Some(2.0 - low) },
        _ => limits,
    }
}

pub(super) fn measure(rule: &RuleId, e: &Evidence, law: &PlanLaw) -> Vec<Measurement> {
    match rule {
        RuleId::SentShare => vec![sent_share(e, law)],
        RuleId::Bunching => vec![bunching(e, law)],
        RuleId::Dispersion => dispersion(e, law),
        _ => vec![Measurement::absent(Why::DueNotTold)],
    }
}

fn sent_share(e: &Evidence, law: &PlanLaw) -> Measurement {
    let n = e.arrivals.block.started;
    let expected = e.kept.expected_count(law);
    if expected < 1.0 {
        let reason = Why::NoneExpected { n };
        return Measurement { n, reason: Some(reason), ..Measurement::default() };
    }
    let value = n as f64 / expected;
    // A constant rate is one start more or less, by where the stretch begins.
    let half = 1.96 * (law.dispersion * expected).sqrt().max(1.0) / expected;
    Measurement {
        value: Some(value),
        interval: Some([value - half, value + half]),
        n,
        ..Measurement::default()
    }
}

fn bunching(e: &Evidence, law: &PlanLaw) -> Measurement {
    let n = e.arrivals.gaps.n;
    let value = e.arrivals.cov.map(|(cov, se)| (cov * cov - law.gap_cov * law.gap_cov, 2.0 * cov * se));
    let (value, se) = match value {
        Some(value) if !e.arrivals.coarse => value,
        _ => {
            let reason = match e.arrivals.coarse {
                true => Why::CoarseStamps { grid_s: e.kept.grid.as_secs_f64(), headway_s: None },
                false => Why::FewHeadways { n, needed: None },
            };
            return Measurement { n, reason: Some(reason), ..Measurement::default() };
        }
    };
    let half = 1.96 * se;
    Measurement {
        value: Some(value),
        interval: Some([value - half, value + half]),
        n,
        ..Measurement::default()
    }
}

fn dispersion(e: &Evidence, law: &PlanLaw) -> Vec<Measurement> {
    let rate = e.kept.mean_rate(law).unwrap_or(0.0);
    let (expected, least) = match law {
        PlanLaw { poisson: true, .. } => (1.0, 0.0),
        PlanLaw { gap_cov, .. } if *gap_cov == 0.0 => (0.0, LONG_FOR_CONSTANT),
        PlanLaw { dispersion, .. } => (*dispersion, LONG_FOR_RENEWAL),
    };
    let windows = e.arrivals.rule_windows.iter().filter(|w| w.row.window <= LONGEST);
    let long = windows.filter(|w| w.row.window * rate >= least);
    let mut rows: Vec<Measurement> = long
        .map(|w| {
            let [low, high] = w.interval();
            Measurement {
                window: Some(w.row.window),
                value: Some(w.row.index - expected),
                interval: Some([low - expected, high - expected]),
                n: w.row.windows,
                ..Measurement::default()
            }
        })
        .collect();
    // Where the interval is so wide that a perfect load too would often lie astride the limit (wider than half the
    // tolerance: in more than 5 % of runs) a window can show that something is wrong and not that nothing is. The shortest
    // window stays, so that the rule is not passed for want of data.
    let tolerance = e.tolerances.dispersion;
    for row in rows.iter_mut().skip(1) {
        let blunt = 1.96 * expected * (2.0 / (row.n - 1) as f64).sqrt() > 0.5 * tolerance;
        let fails = row.interval.is_some_and(|[low, high]| low > tolerance || high < -tolerance);
        if blunt && !fails {
            row.absent = true;
            row.reason = Some(Why::FewWindows { difference: tolerance, n: row.n });
        }
    }
    or_no_window(rows, e)
}
