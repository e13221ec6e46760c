//! What keeps a pattern from being decided, and what would decide it.
//!
//! Absent: the decision. This only finds out which of the comparisons that it rests on is open.

use super::audit;
use crate::format::{count, number, time};
use stats::summary::Dispersion;
use stats::{Summary, Tolerances};

/// Half the width of a 95 % interval, in standard errors.
pub(super) const Z95: f64 = 1.96;

/// Windows of so many mean headways decide.
const DECISIVE: [f64; 2] = [10.0, 100.0];

/// A row whose window is further off than this factor is of another length, and the decisive one is missing.
const NEAR: f64 = 2.0;

/// As a sentence without a capital.
pub(super) fn why(summary: &Summary) -> String {
    let coarse = summary.audit.as_ref().filter(|audit| audit::is_coarse(audit));
    let open = match coarse.and_then(|audit| audit.resolution.rate_x_q) {
        Some(x) => {
            let judged = audit::judged(summary);
            format!("the stamps are too coarse to tell: {} {judged} share one on average", number(x))
        }
        None => of_fine_stamps(summary),
    };
    match unsteady(summary) {
        Some(remedy) => format!("{open}; {remedy}"),
        None if coarse.is_some() => open,
        None => format!("{open}; a longer run decides"),
    }
}

/// Where the load was not the same throughout, a longer run would not decide either.
fn unsteady(summary: &Summary) -> Option<&'static str> {
    let found = |id: &str| summary.verdict.findings.iter().any(|finding| finding.id == id);
    let audited = summary.audit.is_some();
    if audited && found("changing-rate") {
        Some("the rate changes: choose the steady part with --from and --for")
    } else if audited && found("interruption") {
        Some("the load is interrupted: choose a part without a gap with --from and --for")
    } else {
        None
    }
}

fn of_fine_stamps(summary: &Summary) -> String {
    let arrivals = &summary.arrivals;
    let (within, n) = (Tolerances::default().pattern_cov, count(arrivals.n));
    let Some(mean) = arrivals.headway_mean.filter(|&mean| mean > 0.0) else {
        return format!("too few headways to tell (n = {n})");
    };
    if is_serialised(summary, mean) {
        return counts(summary, mean).unwrap_or_else(|| "too few arrivals to tell".into());
    }
    let Some([low, high]) = cov_interval(summary) else {
        return format!("too few headways to tell (n = {n})");
    };
    if low < 1.0 - within || high > 1.0 + within {
        return format!(
            "too few headways to tell (n = {n}): the interval of the CoV is not within {} to {}",
            1.0 - within,
            1.0 + within
        );
    }
    match counts(summary, mean) {
        Some(open) => format!("the CoV fits independent users, but {open}"),
        None => "too few arrivals to tell".into(),
    }
}

/// One thread's sends cannot overlap: then the CoV is an artefact and counts alone decide.
fn is_serialised(summary: &Summary, mean: f64) -> bool {
    let cost = summary.generator.as_ref().and_then(|generator| generator.send_cost_s);
    cost.is_some_and(|cost| mean < cost * Tolerances::default().serialised_sends)
}

/// The interval of the CoV that decides: with the larger of the sample's own standard error and that of Poisson arrivals.
pub(super) fn cov_interval(summary: &Summary) -> Option<[f64; 2]> {
    let arrivals = &summary.arrivals;
    let (cov, se) = (arrivals.cov?, arrivals.cov_se?);
    let reach = Z95 * se.max(arrivals.cov_se_poisson.unwrap_or(0.0));
    Some([(cov - reach).max(0.0), cov + reach])
}

/// Which counts are open; none where those that decide look closed.
fn counts(summary: &Summary, mean: f64) -> Option<String> {
    let rows = &summary.arrivals.dispersion;
    let mut open: Vec<String> = Vec::new();
    for window in DECISIVE.map(|headways| headways * mean) {
        let distance = |row: &Dispersion| (row.window / window).ln().abs();
        let nearest = rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let Some(row) = nearest.filter(|row| distance(row) < NEAR.ln()) else {
            return Some(format!("windows of {} do not fit often enough to count in", time(window)));
        };
        if row.index * (1.0 + Z95 * row.se) > Tolerances::default().pattern_dispersion {
            open.push(format!("{} (index {})", time(row.window), number(row.index)));
        }
    }
    open.dedup();
    (!open.is_empty()).then(|| format!("counts over {} do not decide yet", open.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::summary::{Audit, Finding, Generator, Resolution};

    /// Of 10,000 headways of 10 ms, with rows at 100 ms and 1 s.
    fn summary(cov: f64, index: [f64; 2]) -> Summary {
        let mut summary = Summary { audit: Some(Audit::default()), ..Summary::default() };
        let arrivals = &mut summary.arrivals;
        arrivals.n = 10_000;
        arrivals.headway_mean = Some(0.01);
        (arrivals.cov, arrivals.cov_se, arrivals.cov_se_poisson) = (Some(cov), Some(0.012), Some(0.01));
        arrivals.dispersion = [(0.1, index[0], 0.045), (1.02, index[1], 0.14)]
            .map(|(window, index, se)| Dispersion { window, index, se, ..Dispersion::default() })
            .into();
        summary
    }

    #[test]
    fn what_is_open_is_named() {
        let open = "too few headways to tell (n = 10,000): the interval of the CoV is not within 0.95 to 1.05; a longer \
                    run decides";
        assert_eq!(why(&summary(1.04, [1.0, 1.0])), open);
        assert_eq!(
            why(&summary(1.0, [1.0, 1.1])),
            "the CoV fits independent users, but counts over 1.02 s (index 1.10) do not decide yet; a longer run decides"
        );
        assert!(
            why(&summary(1.0, [1.19, 1.1])).contains("over 100 ms (index 1.19) and 1.02 s (index 1.10) do")
        );
        let mut short = summary(1.0, [1.0, 1.0]);
        short.arrivals.dispersion.pop();
        assert!(why(&short).contains("but windows of 1.00 s do not fit"), "{}", why(&short));
        assert!(why(&Summary::default()).starts_with("too few headways to tell (n = 0)"));
    }

    #[test]
    fn the_error_that_decides_is_the_larger_one() {
        let mut few = summary(1.0, [1.0, 1.0]);
        (few.arrivals.cov_se, few.arrivals.cov_se_poisson) = (Some(0.001), Some(0.04));
        assert!(why(&few).contains("not within 0.95"), "{}", why(&few));
    }

    #[test]
    fn an_unsteady_load_is_named_in_place_of_a_longer_run() {
        let mut summary = summary(1.0, [1.0, 1.1]);
        summary.verdict.findings = vec![Finding { id: "changing-rate".into(), ..Finding::default() }];
        assert!(
            why(&summary).ends_with("yet; the rate changes: choose the steady part with --from and --for")
        );
        summary.verdict.findings[0].id = "interruption".into();
        assert!(why(&summary).ends_with("choose a part without a gap with --from and --for"));
        let resolution = Resolution { grid_s: 1.0, rate_x_q: Some(100.0), ..Resolution::default() };
        summary.audit = Some(Audit { resolution, ..Audit::default() });
        assert!(
            why(&summary)
                .starts_with("the stamps are too coarse to tell: 100 requests share one on average; the")
        );
        summary.verdict.findings.clear();
        assert!(why(&summary).ends_with("share one on average"));
    }

    #[test]
    fn where_sends_cannot_overlap_counts_alone_decide() {
        let mut summary = summary(0.5, [1.0, 1.1]);
        summary.generator = Some(Generator { send_cost_s: Some(0.002), ..Generator::default() });
        assert_eq!(why(&summary), "counts over 1.02 s (index 1.10) do not decide yet; a longer run decides");
    }
}
