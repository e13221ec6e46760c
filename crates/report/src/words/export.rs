//! What became of the metrics of a run on their way to a collector.

use crate::format::{count, plural, time, visible};

/// How the exports of a run ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Exports {
    /// How many were begun.
    pub begun: u64,
    /// How many of these did not arrive whole, as far as is known.
    pub failed: u64,
    /// Whether the last one, which brings the final numbers, is among them.
    pub last_failed: bool,
    /// How many were left out since the one before had not ended.
    pub skipped: u64,
    /// Why the latest of those that failed did.
    pub why: Option<NotExported>,
}

/// Why an export did not arrive whole.
#[derive(Clone, PartialEq, Debug)]
pub enum NotExported {
    /// The collector answered with this status.
    Status(u16),
    /// There was no answer within this time, in seconds.
    NoAnswer(f64),
    /// It could not be reached, or broke off.
    Failed(String),
    /// It took the rest of the numbers.
    Rejected {
        /// How many it did not take.
        numbers: u64,
        /// Why, in its words.
        why: String,
    },
}

/// What did not arrive at the collector at `place`; none if all did.
pub fn not_exported(exports: &Exports, place: &str) -> Option<String> {
    let Exports { begun, failed, last_failed, skipped, why } = exports;
    let failures = (*failed > 0).then(|| {
        let last = if *last_failed { ", the final numbers among them" } else { "" };
        let why = why.as_ref().map(|why| format!(": {}", not_whole(why))).unwrap_or_default();
        format!("{} of {} failed{last}{why}", count(*failed), plural(*begun, "export"))
    });
    let skips = (*skipped > 0).then(|| {
        format!("{} skipped, since the collector had not answered the one before", plural(*skipped, "export"))
    });
    let all: Vec<String> = failures.into_iter().chain(skips).collect();
    (!all.is_empty()).then(|| format!("metrics to {place}: {}", all.join("; ")))
}

fn not_whole(why: &NotExported) -> String {
    match why {
        NotExported::Status(status) => format!("the collector answered with status {status}"),
        NotExported::NoAnswer(seconds) => format!("the collector did not answer within {}", time(*seconds)),
        NotExported::Failed(error) => visible(error),
        NotExported::Rejected { numbers, why } => {
            let why = if why.is_empty() { String::new() } else { format!(" ({})", visible(why)) };
            format!("the collector rejected {}{why}", plural(*numbers, "number"))
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
        let rejected = NotExported::Rejected { numbers: 3, why: "too\u{1b} many".into() };
        assert!(
            said(why(rejected)).unwrap().ends_with("the collector rejected 3 numbers (too\u{fffd} many)")
        );
        let skipped = Exports { begun: 1, skipped: 2, ..Exports::default() };
        assert!(said(skipped).unwrap().starts_with("metrics to http://c: 2 exports skipped"));
    }
}
