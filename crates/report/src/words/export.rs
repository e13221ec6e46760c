//! What became of the metrics of a run on their way to a collector.

use crate::format::{count, plural, time, visible};

/// How the exports of a run ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Exports {
    /// How many were begun.
    pub begun: u64,
    /// How many of these did not arrive, as far as is known.
    pub failed: u64,
    /// Whether the last one, which brings the final numbers, is among them.
    pub last_failed: bool,
    /// What the collector rejected of all that arrived, with the latest reason.
    pub rejected: Rejected,
    /// How many of the final numbers it rejected.
    pub last_rejected: u64,
    /// How many were left out since the one before had not ended.
    pub skipped: u64,
    /// Why the latest of those that failed did.
    pub why: Option<NotExported>,
}

/// What a collector did not take of what arrived.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rejected {
    /// How many numbers: data points, as OTLP calls them.
    pub numbers: u64,
    /// Why, in the collector's words, secrets replaced.
    pub why: String,
}

/// Why an export did not arrive.
#[derive(Clone, PartialEq, Debug)]
pub enum NotExported {
    /// The collector answered with this status.
    Status(u16),
    /// There was no answer within this time, in seconds.
    NoAnswer(f64),
    /// It could not be reached, or broke off.
    Failed(String),
    /// It answered with success, and with a body that is not of OTLP, which begins so; secrets replaced.
    NotOtlp(String),
}

/// What did not arrive at the collector at `place`; none if all did.
pub fn not_exported(exports: &Exports, place: &str) -> Option<String> {
    let Exports { begun, failed, last_failed, rejected, last_rejected, skipped, why } = exports;
    let failures = (*failed > 0).then(|| {
        let last = if *last_failed { ", the final numbers among them" } else { "" };
        let why = why.as_ref().map(|why| format!(": {}", not_arrived(why))).unwrap_or_default();
        format!("{} of {} failed{last}{why}", count(*failed), plural(*begun, "export"))
    });
    let rejects = (rejected.numbers > 0).then(|| {
        let last = match *last_rejected {
            0 => String::new(),
            n => format!(", {} of them final", count(n)),
        };
        let why =
            if rejected.why.is_empty() { String::new() } else { format!(": {}", visible(&rejected.why)) };
        format!("the collector rejected {}{last}{why}", plural(rejected.numbers, "number"))
    });
    let skips = (*skipped > 0).then(|| {
        format!("{} skipped, since the collector had not answered the one before", plural(*skipped, "export"))
    });
    let all: Vec<String> = failures.into_iter().chain(rejects).chain(skips).collect();
    (!all.is_empty()).then(|| format!("metrics to {place}: {}", all.join("; ")))
}

fn not_arrived(why: &NotExported) -> String {
    match why {
        NotExported::Status(status) => format!("the collector answered with status {status}"),
        NotExported::NoAnswer(seconds) => format!("the collector did not answer within {}", time(*seconds)),
        NotExported::Failed(error) => visible(error),
        NotExported::NotOtlp(body) => {
            format!("it is not an OpenTelemetry collector: its answer begins with '{}'", visible(body))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_arrive_is_counted_with_its_reason() {
        let said = |exports| not_exported(&exports, "http://c");
        let some = Exports { begun: 4, failed: 2, ..Exports::default() };
        let why = |why| Exports { why: Some(why), ..some.clone() };
        assert_eq!(said(Exports { begun: 4, ..Exports::default() }), None);
        assert_eq!(
            said(why(NotExported::Status(503))).unwrap(),
            "metrics to http://c: 2 of 4 exports failed: the collector answered with status 503"
        );
        let last = Exports { last_failed: true, skipped: 1, ..why(NotExported::NoAnswer(5.0)) };
        assert_eq!(
            said(last).unwrap(),
            "metrics to http://c: 2 of 4 exports failed, the final numbers among them: the collector did not answer within 5.00 s; \
             1 export skipped, since the collector had not answered the one before"
        );
        assert!(
            said(why(NotExported::NotOtlp("<html>\u{1b}".into())))
                .unwrap()
                .ends_with("2 of 4 exports failed: it is not an OpenTelemetry collector: its answer begins with '<html>\u{fffd}'")
        );
        let rejected = Rejected { numbers: 12, why: "too\u{1b} many".into() };
        let rejecting = Exports { begun: 4, rejected, ..Exports::default() };
        assert_eq!(
            said(Exports { last_rejected: 3, ..rejecting.clone() }).unwrap(),
            "metrics to http://c: the collector rejected 12 numbers, 3 of them final: too\u{fffd} many"
        );
        assert_eq!(
            said(Exports { failed: 1, why: Some(NotExported::Status(503)), ..rejecting }).unwrap(),
            "metrics to http://c: 1 of 4 exports failed: the collector answered with status 503; \
             the collector rejected 12 numbers: too\u{fffd} many"
        );
        let skipped = Exports { begun: 1, skipped: 2, ..Exports::default() };
        assert!(said(skipped).unwrap().starts_with("metrics to http://c: 2 exports skipped"));
    }
}
