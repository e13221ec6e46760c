//! Why requests failed: what workers, shards or an earlier summary say of it, and which limit requests met that were given up.
//!
//! No log has reasons: they are carried over from the summaries that were written with it.

use headway_base::{KnownFailure, Outcome};
use headway_stats::Summary;
use headway_stats::summary::evidence::{HeldBackBy, Loop};
use headway_stats::summary::{Evidence, FailureReason, FailureReasons, Finding, LimitMet};

/// Puts these reasons into the summary, and one for each limit at which requests were given up that they do not have. Those with an origin and
/// nothing else met the limit of their outcome.
pub(crate) fn explain(summary: &mut Summary, met: &[FailureReasons]) {
    let given_up = std::mem::take(&mut summary.failure_reasons.others);
    let mut met = FailureReasons::merged(met);
    for row in met.rows.iter_mut().filter(|row| row.origin.is_some() && row.limit.is_none()) {
        row.limit = Outcome::from_name(&row.outcome).and_then(|outcome| limit(summary, outcome));
    }
    let row = |(name, n): (String, u64)| {
        let outcome = Outcome::from_name(&name)?;
        let limit = Some(limit(summary, outcome)?);
        let n = n.saturating_sub(met.count(&name));
        let kind = KnownFailure::of(outcome, 0);
        let row = FailureReason { outcome: name, kind, limit, n, ..FailureReason::default() };
        (n > 0).then_some(row)
    };
    let rows = given_up.into_iter().filter_map(row).collect();
    let given_up = FailureReasons { rows, ..FailureReasons::default() };
    summary.failure_reasons = FailureReasons::merged([&met, &given_up]);
    let is_mute = |row: &FailureReason| row.kind == Some(KnownFailure::Http2Unanswered);
    if summary.failure_reasons.rows.iter().any(is_mute) {
        waited_for_mute(&mut summary.verdict.findings);
    }
}

/// What requests waited for was that the target begins to speak, and not room.
fn waited_for_mute(findings: &mut [Finding]) {
    for evidence in findings.iter_mut().flat_map(|finding| &mut finding.evidence) {
        if let Evidence::Loop(Loop::HeldBack {
            cause: cause @ (HeldBackBy::Either | HeldBackBy::Cap { .. }),
            ..
        }) = evidence
        {
            *cause = HeldBackBy::Mute;
        }
    }
}

/// The limit at which requests of that outcome were given up.
fn limit(summary: &Summary, outcome: Outcome) -> Option<LimitMet> {
    let plan = summary.plan.as_ref()?;
    Some(match outcome {
        Outcome::Timeout => LimitMet::Response { within_s: plan.timeout_s? },
        Outcome::IdleTimeout => LimitMet::Idle { within_s: plan.idle_timeout_s? },
        Outcome::ConnectTimeout => LimitMet::Connection { within_s: plan.connect_timeout_s? },
        Outcome::Shed => LimitMet::FreeConnection { within_s: plan.max_wait_s?, of: plan.connections },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::PlanSummary;
    use headway_workload::redact::Redactor;

    fn limited() -> Summary {
        let mut summary = Summary::default();
        let (timeout_s, connect_timeout_s, max_wait_s) = (Some(10.0), Some(0.25), Some(1.5));
        let plan = PlanSummary {
            timeout_s,
            connect_timeout_s,
            max_wait_s,
            connections: Some(8),
            ..PlanSummary::default()
        };
        summary.plan = Some(plan);
        let given_up = [("timeout", 3), ("connect-timeout", 2), ("shed", 7)];
        summary.failure_reasons.others = given_up.map(|(name, n)| (name.to_owned(), n)).into();
        summary
    }

    fn rows(summary: &Summary) -> Vec<(&str, Option<LimitMet>, u64)> {
        summary.failure_reasons.rows.iter().map(|row| (&*row.outcome, row.limit, row.n)).collect()
    }

    const LIMITS: [(&str, Option<LimitMet>, u64); 3] = [
        ("shed", Some(LimitMet::FreeConnection { within_s: 1.5, of: Some(8) }), 7),
        ("timeout", Some(LimitMet::Response { within_s: 10.0 }), 3),
        ("connect-timeout", Some(LimitMet::Connection { within_s: 0.25 }), 2),
    ];

    #[test]
    fn requests_that_were_given_up_have_their_limit_as_reason() {
        let mut summary = limited();
        explain(&mut summary, &[]);
        assert_eq!(rows(&summary), LIMITS);
        let kinds: Vec<_> = summary.failure_reasons.rows.iter().map(|row| row.kind).collect();
        assert_eq!(kinds, [None, Some(KnownFailure::ResponseTimeout), Some(KnownFailure::ConnectTimeout)]);
        assert!(summary.failure_reasons.others.is_empty());
    }

    #[test]
    fn of_several_origins_each_has_its_row() {
        let of = |outcome: Outcome, origin: &str, n| FailureReason {
            outcome: outcome.name().to_owned(),
            origin: Some(Redactor::default().clear(origin)),
            n,
            ..FailureReason::default()
        };
        let worker = |rows| FailureReasons { rows, ..FailureReasons::default() };
        let first =
            worker(vec![of(Outcome::Timeout, "http://a", 1), of(Outcome::ConnectTimeout, "http://b", 2)]);
        let second = worker(vec![of(Outcome::Timeout, "http://a", 1), of(Outcome::Timeout, "http://b", 1)]);
        let mut summary = limited();
        explain(&mut summary, &[first, second]);
        let origins: Vec<_> = summary
            .failure_reasons
            .rows
            .iter()
            .map(|row| (row.origin.as_deref(), row.limit, row.n))
            .collect();
        let response = Some(LimitMet::Response { within_s: 10.0 });
        let expected = [
            (None, LIMITS[0].1, 7),
            (Some("http://a"), response, 2),
            (Some("http://b"), LIMITS[2].1, 2),
            (Some("http://b"), response, 1),
        ];
        assert_eq!(origins, expected);
    }

    #[test]
    fn what_an_earlier_summary_tells_is_not_counted_again() {
        let mut first = limited();
        explain(&mut first, &[]);
        let mut again = limited();
        explain(&mut again, &[first.failure_reasons.clone()]);
        assert_eq!(again.failure_reasons, first.failure_reasons);
        // The system gave up one connection before the client did.
        let mut part = first.failure_reasons.clone();
        part.rows = vec![FailureReason {
            outcome: "connect-timeout".into(),
            reason: "connecting to 127.0.0.1:9: timed out".into(),
            n: 1,
            ..FailureReason::default()
        }];
        let mut summary = limited();
        explain(&mut summary, &[part]);
        let ended: Vec<_> = rows(&summary).into_iter().filter(|row| row.0 == "connect-timeout").collect();
        let own = ("connect-timeout", None, 1);
        assert_eq!(ended, [own, ("connect-timeout", Some(LimitMet::Connection { within_s: 0.25 }), 1)]);
    }
}
