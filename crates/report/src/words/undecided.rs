//! What keeps a pattern from being decided, and what would decide it.
//!
//! Absent: the decision. This only puts into words which of the rules of the pattern are open.

use super::rules::row;
use super::{asked, audit};
use crate::format::{count, number, plural, time};
use headway_stats::Summary;
use headway_stats::summary::{FindingId, RuleId, RuleOutcome, RuleResult};

/// As a sentence without a capital.
pub(super) fn why(summary: &Summary) -> String {
    let coarse = summary.audit.as_ref().filter(|audit| audit::is_coarse(audit));
    let rules = &summary.verdict.pattern_rules;
    let open = |rule: &&RuleResult| rule.outcome == RuleOutcome::Undecided;
    // The counts over longer windows only tell how far the scale reaches.
    let shortest = rules.iter().find(|rule| rule.rule == RuleId::Dispersion);
    let others = rules.iter().filter(|rule| rule.rule != RuleId::Dispersion);
    let parts: Vec<String> = others.chain(shortest).filter(open).filter_map(is_open).collect();
    let judged = asked::judged(summary);
    let what = match coarse.and_then(|audit| audit.resolution.rate_x_q) {
        Some(x) => format!("the stamps are too coarse to tell: {} {judged} share one on average", number(x)),
        None if parts.is_empty() || shortest.is_none() => {
            format!("too few {judged} to tell (n = {})", count(summary.arrivals.n))
        }
        None => format!("too few {judged} to tell (n = {}): {}", count(summary.arrivals.n), parts.join("; ")),
    };
    let needs = summary.verdict.pattern_needs.map(|needs| {
        let seconds = summary.arrivals.rate.filter(|&rate| rate > 0.0).map(|rate| needs as f64 / rate);
        let lasting = seconds.map_or(String::new(), |s| format!(" ({} at this rate)", time(s)));
        format!("; about {} decide{lasting}", plural(needs, judged.trim_end_matches('s')))
    });
    match (unsteady(summary), needs) {
        (Some(remedy), _) => format!("{what}; {remedy}"),
        (None, Some(needs)) => what + &needs,
        (None, None) if coarse.is_some() => what,
        (None, None) if rules.is_empty() => format!("{what}; a longer run decides"),
        (None, None) => format!("{what}; only a much longer run decides"),
    }
}

/// Where the load was not the same throughout, a longer run would not decide either.
pub(super) fn unsteady(summary: &Summary) -> Option<&'static str> {
    let found = |id: FindingId| summary.verdict.findings.iter().any(|finding| finding.id == id);
    let audited = summary.audit.is_some();
    if audited && found(FindingId::ChangingRate) {
        Some("the rate changes: choose the steady part with --from and --for")
    } else if audited && found(FindingId::Interruption) {
        Some("the load is interrupted: choose a part without a gap with --from and --for")
    } else {
        None
    }
}

/// The measure that is open though more requests would hardly decide it: its interval lies across a bound.
pub(super) fn brief(summary: &Summary) -> String {
    let rules = summary.verdict.pattern_rules.iter();
    let mut open = rules.filter(|rule| rule.outcome == RuleOutcome::Undecided);
    let astride = open.find_map(|rule| {
        let (value, [low, high]) = rule.value.zip(rule.interval)?;
        let bounds = [rule.limits.low, rule.limits.high].into_iter().flatten();
        let bound = bounds.min_by(|a, b| (a - value).abs().total_cmp(&(b - value).abs()))?;
        Some(format!(
            "{} {} (95 % CI {} to {}) lies across the limit {bound}",
            row(rule).measure,
            number(value),
            number(low),
            number(high)
        ))
    });
    astride.unwrap_or_else(|| "too little evidence to tell".to_owned())
}

fn is_open(rule: &RuleResult) -> Option<String> {
    let (value, [low, high]) = rule.value.zip(rule.interval)?;
    let bounds = match (rule.limits.low, rule.limits.high) {
        (Some(low), Some(high)) => format!("within {low} to {high}"),
        (_, Some(high)) => format!("at most {high}"),
        _ => return None,
    };
    Some(format!(
        "{} {}, 95 % CI {} to {}, not shown to be {bounds}",
        row(rule).measure,
        number(value),
        number(low),
        number(high)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::{Audit, Finding, Limits, Resolution};

    fn rule(id: &str, value: f64, half: f64, [low, high]: [f64; 2]) -> RuleResult {
        let inside = value - half >= low && value + half <= high;
        RuleResult {
            rule: id.into(),
            window: (id == "dispersion").then_some(0.1),
            value: Some(value),
            interval: Some([value - half, value + half]),
            limits: Limits { low: Some(low), high: Some(high) },
            outcome: if inside { RuleOutcome::Pass } else { RuleOutcome::Undecided },
            ..RuleResult::default()
        }
    }

    /// 4,000 headways of 10 ms.
    fn summary(cov: f64, index: f64) -> Summary {
        let mut summary = Summary { audit: Some(Audit::default()), ..Summary::default() };
        (summary.arrivals.n, summary.arrivals.rate) = (4_000, Some(100.0));
        summary.verdict.pattern_rules =
            vec![rule("cov", cov, 0.03, [0.95, 1.05]), rule("dispersion", index, 0.1, [0.8, 1.2])];
        summary.verdict.pattern_needs = Some(12_000);
        summary
    }

    #[test]
    fn what_is_open_is_named_with_what_would_decide_it() {
        assert_eq!(
            why(&summary(1.04, 1.0)),
            "too few requests to tell (n = 4,000): CoV 1.04, 95 % CI 1.01 to 1.07, not shown to be within 0.95 to 1.05; \
             about 12,000 requests decide (2.00 min at this rate)"
        );
        assert!(
            why(&summary(1.0, 1.19)).contains("index of dispersion over 100 ms 1.19, 95 % CI 1.09 to 1.29")
        );
        let mut short = summary(1.0, 1.0);
        short.verdict.pattern_rules.pop();
        short.verdict.pattern_needs = None;
        assert_eq!(why(&short), "too few requests to tell (n = 4,000); only a much longer run decides");
        assert!(why(&Summary::default()).starts_with("too few requests to tell (n = 0); a longer"));
    }

    #[test]
    fn an_unsteady_load_is_named_in_place_of_a_longer_run() {
        let mut summary = summary(1.0, 1.15);
        summary.verdict.findings = vec![Finding { id: "changing-rate".into(), ..Finding::default() }];
        assert!(why(&summary).ends_with("; the rate changes: choose the steady part with --from and --for"));
        summary.verdict.findings[0].id = "interruption".into();
        assert!(why(&summary).ends_with("choose a part without a gap with --from and --for"));
        let resolution = Resolution { grid_s: 1.0, rate_x_q: Some(100.0), ..Resolution::default() };
        summary.audit = Some(Audit { resolution, ..Audit::default() });
        assert!(
            why(&summary)
                .starts_with("the stamps are too coarse to tell: 100 requests share one on average; the")
        );
        summary.verdict.findings.clear();
        assert!(why(&summary).contains("share one on average; about 12,000 requests decide"));
    }
}
