//! Why requests failed, and what helps.
//!
//! Advice goes by the kind of a failure and never by its text.

use crate::format::{count, instants, plural, rate};
use headway_base::rcode::Status;
use headway_base::{KnownFailure, Nanos, Outcome};
use headway_stats::Summary;
use headway_stats::summary::{FailureReason, LimitMet, OTHER_STATUSES, SeriesRow, Source};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What helps against failures of that kind in this run: a target that has answered in it is at the right port.
pub fn advice_in(summary: &Summary, kind: KnownFailure) -> &'static str {
    match kind {
        KnownFailure::ConnectionRefused if has_answered(summary) => {
            "The target answered in this run, and at other times nothing listened there: look into its log for a stop or a restart."
        }
        kind => advice(kind),
    }
}

/// Whether some request got a response.
pub(super) fn has_answered(summary: &Summary) -> bool {
    let of = |outcome: Outcome| summary.outcomes.get(outcome.name()).copied().unwrap_or(0);
    [Outcome::Ok, Outcome::Status, Outcome::Check].into_iter().any(|outcome| of(outcome) > 0)
}

/// What helps against failures of that kind, with the flag or key to use.
pub fn advice(kind: KnownFailure) -> &'static str {
    match kind {
        KnownFailure::ConnectionRefused => {
            "Nothing listens at that address and port: check the port of the URL; `headway serve` starts an HTTP target at \
             127.0.0.1:8080."
        }
        KnownFailure::NameUnresolved => {
            "The name has no address: check how it is written; or give its address with --resolve NAME:PORT:ADDRESS."
        }
        KnownFailure::CertificateUntrusted => {
            "The certificate's issuer is not trusted: --cacert ca.pem names the one to trust; -k accepts any certificate."
        }
        KnownFailure::CertificateExpired => {
            "The certificate is not valid at this time: renew it, or check this machine's clock; -k accepts any certificate."
        }
        KnownFailure::CertificateName => {
            "The certificate is for another name: use it in the URL (and --resolve NAME:PORT:ADDRESS); -k accepts any certificate."
        }
        KnownFailure::WithoutTls => {
            "The target answers without TLS: use http:// instead of https://, or the port at which it speaks TLS."
        }
        KnownFailure::TlsUnanswered => {
            "The target accepted the connection and said nothing in TLS: use http:// if it speaks plain HTTP; --connect-timeout \
             30s waits longer."
        }
        KnownFailure::Http2Unanswered => {
            "The target accepted the connection and said nothing in HTTP/2: see whether it hangs; --http1.1 asks \
             without HTTP/2."
        }
        KnownFailure::TlsExpected => {
            "The target expects TLS at this port: use https:// instead of http://, or the port at which it speaks plain HTTP."
        }
        KnownFailure::ConnectTimeout => {
            "The target took too long to accept a connection: --connect-timeout 30s waits longer; a lower -R or -c asks less of it."
        }
        KnownFailure::ResponseTimeout => {
            "The target did not respond within --timeout: see whether it hangs, or try a lower -R."
        }
        KnownFailure::Reset => {
            "The target closed the connection before its response was complete: look into its log, and try a lower -R or -c."
        }
        KnownFailure::ClosedUnanswered => {
            "The target closes connections without a word: use https:// if it expects TLS, else look into its log or try a lower \
             -R or -c."
        }
        KnownFailure::Unauthorized => {
            "Check the credentials: in a login's body, or by -H 'Authorization: Bearer TOKEN' or --user NAME:PASSWORD."
        }
        KnownFailure::Forbidden => {
            "The target refuses this user or client: give the credentials of another one by --user NAME:PASSWORD or \
             -H 'Authorization: ...'."
        }
        KnownFailure::TooManyRequests => {
            "The target limits the rate of requests: use a lower -R, or raise the limit for this machine."
        }
        KnownFailure::Unavailable => {
            "The target, or a proxy before it, is overloaded or down: use a lower -R until it answers, and look into its log."
        }
        KnownFailure::ClientCertificateMissing => {
            "The target asks for a certificate of this client: give one by --cert client.pem --key client.key."
        }
        KnownFailure::ClientCertificateRefused => {
            "The target refuses the certificate of --cert: give one that is valid now, of an authority that it trusts."
        }
        KnownFailure::EmptyBody => {
            "The body was empty, not JSON: -H 'Accept: application/json' asks for JSON; `expect: { status: 200 }` finds a 204."
        }
        KnownFailure::RedirectElsewhere => {
            "Redirects and links are followed only to origins that the run names: give --origin (`origins:`) with that place, if the load may go there."
        }
        KnownFailure::TooManyRedirects => {
            "The target redirects in a circle, or further than `redirects:` allows: look with curl -vL; -H 'Cookie: ...' may help."
        }
        KnownFailure::ProxyRefused => {
            "Nothing listens at the address of the proxy: check the host and the port of --proxy."
        }
        KnownFailure::ProxyAuthentication => {
            "The proxy asks who you are: give --proxy http://HOST:PORT with NAME:PASSWORD@ before HOST."
        }
        KnownFailure::ProxyForbids => {
            "The proxy makes no tunnel to that host and port: allow them there, use another --proxy, or leave it out."
        }
        KnownFailure::ProxyNoTarget => {
            "The proxy did not reach the target: check the host and the port of the URL as the proxy sees them, or leave --proxy out."
        }
        KnownFailure::ProxyClosed => {
            "The proxy closes connections before it answers: look into its log, and try a lower -R or -c."
        }
        KnownFailure::ProxyUnanswered => {
            "The proxy, or the target behind it, took too long: --connect-timeout 30s waits longer; a lower -R or -c asks less of it."
        }
        KnownFailure::ProxyNotHttp => {
            "What answers is no proxy of HTTP without TLS: check the host and the port of --proxy."
        }
        KnownFailure::ProxySurplus => {
            "The proxy sent bytes that are not the target's into the tunnel: use another --proxy, or leave it out."
        }
        KnownFailure::Unfit => {
            "Correct the step, or the row of `data:` that it takes: the reason says what would be accepted, and --dry-run shows what is sent."
        }
        KnownFailure::MissingVariable => "Give its `extract` a `default:`, or correct where it looks.",
    }
}

/// What is the same for all requests of a row: its text, or the limit that they met.
pub fn reason(row: &FailureReason) -> Cow<'_, str> {
    row.limit.map_or(Cow::from(row.reason.as_str()), |limit| limit_met(limit, row).into())
}

/// The reason of one of them with what it met.
pub fn example(row: &FailureReason) -> Cow<'_, str> {
    row.limit.map_or(Cow::from(row.example.as_str()), |limit| limit_met(limit, row).into())
}

fn limit_met(limit: LimitMet, row: &FailureReason) -> String {
    let named = row.origin.as_ref().map_or(String::new(), |origin| format!("{origin}: "));
    // As a user types it: 250ms.
    let within = |what: &str, within_s| format!("{named}{what} within {}", Nanos::from_secs_f64(within_s));
    match limit {
        LimitMet::Response { within_s } => within("no complete response", within_s),
        LimitMet::Idle { within_s } => within("the response began, and nothing more of it came", within_s),
        LimitMet::Connection { within_s } => within("no connection", within_s),
        LimitMet::FreeConnection { within_s, of } => {
            let cap = of.map_or(String::new(), |cap| format!(" (at most {cap})"));
            within(&format!("no free connection{cap}"), within_s)
        }
    }
}

/// Reasons why requests failed with that outcome and status, the most frequent first.
pub fn reasons<'a>(summary: &'a Summary, outcome: &str, status: Option<u16>) -> Vec<&'a FailureReason> {
    let rows = summary.failure_reasons.rows.iter();
    rows.filter(|row| row.outcome == outcome && row.status == status).collect()
}

/// The kinds of failures with that outcome and status on which there is advice, those of the most frequent reasons first. None of a
/// simulation and of another tool's results: the flags are those of `headway run`.
pub fn kinds(summary: &Summary, outcome: &str, status: Option<u16>) -> Vec<KnownFailure> {
    if summary.source != Source::Live {
        return Vec::new();
    }
    let mut kinds = Vec::new();
    for kind in reasons(summary, outcome, status).iter().filter_map(|row| row.kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        let outcome = Outcome::from_name(outcome);
        kinds.extend(outcome.and_then(|outcome| KnownFailure::of(outcome, status.unwrap_or(0))));
    }
    kinds
}

/// All failures on which there is advice, by kind: those of the most frequent failures first.
pub fn all_kinds(summary: &Summary) -> Vec<KnownFailure> {
    let mut all = Vec::new();
    for (outcome, status, _) in super::kinds_of_failure(summary) {
        for kind in kinds(summary, outcome, status) {
            if !all.contains(&kind) {
                all.push(kind);
            }
        }
    }
    all
}

/// `status 401`, `check (200)`.
pub fn ended(outcome: &str, status: Option<u16>) -> String {
    match status {
        Some(status) if outcome == Outcome::Status.name() => format!("status {}", Status(status)),
        Some(status) => format!("{outcome} ({})", Status(status)),
        None => outcome.to_owned(),
    }
}

/// A kind of failure as rows over time name it, in words: `status 503`, `check (200)`, `status (others)`.
pub fn kind_over_time(name: &str) -> String {
    match name.rsplit_once(' ') {
        Some((outcome, OTHER_STATUSES)) => format!("{outcome} (others)"),
        Some((outcome, status)) => match status.parse() {
            Ok(status) => ended(outcome, Some(status)),
            Err(_) => name.to_owned(),
        },
        None => name.to_owned(),
    }
}

/// Requests of a row that failed, by kind; by outcome in older documents.
pub fn over_time(row: &SeriesRow) -> &BTreeMap<String, u64> {
    if row.failure_kinds.is_empty() { &row.failures } else { &row.failure_kinds }
}

/// What the counts of reasons are of, and which are not listed; none where there are no reasons.
pub fn note(summary: &Summary) -> Option<String> {
    let reasons = &summary.failure_reasons;
    if reasons.rows.is_empty() {
        return None;
    }
    let others = reasons.others.iter().map(|(outcome, &n)| format!("{} {outcome}", count(n)));
    let others: Vec<String> = others.collect();
    let mut note = "Reasons are counted over the whole run, warm-up included.".to_owned();
    if !others.is_empty() {
        let listed = plural(reasons.rows.len() as u64, "reason");
        note +=
            &format!(" Apart from the {listed} listed, requests failed for others: {}.", others.join(", "));
    }
    Some(note)
}

/// When requests failed, by the rows of the run; none where none did.
pub fn when(summary: &Summary) -> Option<String> {
    let failed = || summary.series.iter().filter(|row| row.failed > 0);
    let (first, last) = (failed().next()?, failed().next_back()?);
    let per_second = |row: &SeriesRow| row.failed as f64 / (row.to_s - row.from_s).max(1e-9);
    // Rows are of one length; of several with as many, the first.
    let most = failed().rev().max_by_key(|row| row.failed)?;
    Some(format!(
        "Requests failed at {} of the run, warm-up included; most from {} on: {}.",
        instants(&[[first.from_s, last.to_s]], 1),
        instants(&[[most.from_s; 2]], 1),
        rate(per_second(most))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_got_no_response_is_not_told_to_wait_longer_and_a_login_to_look_at_its_body() {
        let timeout = advice(KnownFailure::ResponseTimeout);
        assert!(timeout.contains("hangs") && !timeout.contains("longer"), "{timeout}");
        let login = advice(KnownFailure::Unauthorized);
        let at = |word| login.find(word).unwrap();
        assert!(at("body") < at("-H") && at("-H") < at("--user"), "{login}");
    }

    /// A target that died is at the right port.
    #[test]
    fn a_target_that_has_answered_is_not_looked_for_at_another_port() {
        let of = |ok: u64| Summary {
            outcomes: [("ok".to_owned(), ok), ("refused".to_owned(), 9)].into(),
            ..Summary::default()
        };
        let at = |ok| advice_in(&of(ok), KnownFailure::ConnectionRefused);
        assert!(at(0).contains("port of the URL") && !at(1).contains("port"), "{}", at(1));
        assert_eq!(advice_in(&of(1), KnownFailure::Reset), advice(KnownFailure::Reset));
    }

    #[test]
    fn a_limit_is_the_reason_of_those_that_met_it_whatever_text_was_read() {
        let of = |limit| FailureReason {
            limit,
            reason: "as read".into(),
            example: "one".into(),
            ..FailureReason::default()
        };
        let text = |limit| {
            let row = of(limit);
            (reason(&row).into_owned(), example(&row).into_owned())
        };
        assert_eq!(text(None), ("as read".into(), "one".into()));
        for (limit, words) in [
            (LimitMet::Response { within_s: 10.0 }, "no complete response within 10s"),
            (LimitMet::Idle { within_s: 30.0 }, "the response began, and nothing more of it came within 30s"),
            (LimitMet::Connection { within_s: 0.25 }, "no connection within 250ms"),
            (
                LimitMet::FreeConnection { within_s: 1.5, of: Some(8) },
                "no free connection (at most 8) within 1.5s",
            ),
            (LimitMet::FreeConnection { within_s: 1.5, of: None }, "no free connection within 1.5s"),
        ] {
            assert_eq!(text(Some(limit)), (words.into(), words.into()));
        }
        let limit = Some(LimitMet::Response { within_s: 10.0 });
        let row = FailureReason { origin: Some("https://api.example".into()), ..of(limit) };
        assert_eq!(reason(&row), "https://api.example: no complete response within 10s");
    }

    #[test]
    fn each_kind_has_one_sentence_that_names_what_to_type() {
        for kind in KnownFailure::ALL {
            let text = advice(kind);
            assert!(text.ends_with('.') && !text.contains(". "), "{kind:?}: {text}");
            let typed = ["-k", "-R", "-H '", "--", "`headway", "`extract`", "http://"];
            assert!(typed.iter().any(|part| text.contains(part)), "{kind:?}: {text}");
        }
    }

    #[test]
    fn kinds_over_time_are_named_as_elsewhere() {
        for (name, shown) in [
            ("status 503", "status 503"),
            ("check 200", "check (200)"),
            ("check 3", "check (NXDOMAIN)"),
            ("status other", "status (others)"),
            ("timeout", "timeout"),
            ("of another version", "of another version"),
        ] {
            assert_eq!(kind_over_time(name), shown);
        }
    }

    #[test]
    fn failures_have_a_first_a_last_and_a_worst_row() {
        let row =
            |from_s: f64, failed| SeriesRow { from_s, to_s: from_s + 0.2, failed, ..SeriesRow::default() };
        let mut summary = Summary::default();
        assert_eq!(when(&summary), None);
        summary.series = [(0.0, 0), (0.2, 1), (0.4, 9), (0.6, 0), (0.8, 9), (1.0, 2), (1.2, 0)]
            .map(|(from_s, failed)| row(from_s, failed))
            .into();
        let expected =
            "Requests failed at 0.2-1.2 s of the run, warm-up included; most from 0.4 s on: 45.0/s.";
        assert_eq!(when(&summary).as_deref(), Some(expected));
    }

    #[test]
    fn kinds_come_from_reasons_and_else_from_the_outcome() {
        let row = |kind| FailureReason { outcome: "check".into(), kind, ..FailureReason::default() };
        let (empty, missing) = (KnownFailure::EmptyBody, KnownFailure::MissingVariable);
        let mut summary = Summary::default();
        summary.failure_reasons.rows = [None, Some(empty), Some(missing), Some(empty)].map(row).to_vec();
        assert_eq!(kinds(&summary, "check", None), [empty, missing]);
        assert_eq!(kinds(&summary, "check", Some(200)), [], "reasons of other responses");
        assert_eq!(kinds(&summary, "status", Some(429)), [KnownFailure::TooManyRequests]);
        assert_eq!(kinds(&summary, "timeout", None), [KnownFailure::ResponseTimeout]);
        assert_eq!(kinds(&summary, "refused", None), []);
        assert_eq!(kinds(&summary, "of another version", None), []);
        summary.source = Source::Import;
        assert_eq!(kinds(&summary, "check", None), []);
    }
}
