//! How requests failed, and why.

use super::Text;
use super::known::known;
use headway_base::KnownFailure;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Requests that failed in one way.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// How they ended, as in `outcomes`.
    pub outcome: String,
    /// The status code of the response; null where there was none.
    pub status: Option<u16>,
    /// Label of the step; null in a run of one step, and of the rarest kinds where there are thousands.
    pub step: Option<Cleared>,
    /// How many.
    pub n: u64,
}

/// Why requests failed. They are counted over the whole run, warm-up included, and so may be more than the failures of the measured
/// phase.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureReasons {
    /// Distinct reasons, the most frequent first; at most 16 of each outcome. A request that was given up at a limit has that limit.
    pub rows: Vec<FailureReason>,
    /// Requests that failed for further reasons, by outcome.
    pub others: BTreeMap<String, u64>,
}

impl FailureReasons {
    /// Distinct reasons that are kept of each outcome.
    const MOST: usize = 16;

    /// All of them together: of each outcome the most frequent reasons, and how many requests failed for others. What one had no
    /// room for is among the others, also where another one has it.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a FailureReasons>) -> FailureReasons {
        let mut merged = FailureReasons::default();
        for reasons in all {
            for (outcome, n) in &reasons.others {
                *merged.others.entry(outcome.clone()).or_default() += n;
            }
            for row in &reasons.rows {
                match merged.rows.iter_mut().find(|known| known.is_alike(row)) {
                    Some(known) => known.n = known.n.saturating_add(row.n),
                    None => merged.rows.push(row.clone()),
                }
            }
        }
        // Stable: of as many, those that were met first.
        merged.rows.sort_by_key(|row| std::cmp::Reverse(row.n));
        let FailureReasons { rows, others } = &mut merged;
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        rows.retain(|row| {
            let kept = kept.entry(row.outcome.clone()).or_default();
            *kept += 1;
            if *kept > Self::MOST {
                *others.entry(row.outcome.clone()).or_default() += row.n;
            }
            *kept <= Self::MOST
        });
        merged
    }

    /// Requests that ended so, with and without a row.
    pub fn count(&self, outcome: &str) -> u64 {
        let rows = self.rows.iter().filter(|row| row.outcome == outcome);
        rows.map(|row| row.n).sum::<u64>() + self.others.get(outcome).copied().unwrap_or(0)
    }
}

/// Requests that failed for one reason.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureReason {
    /// How they ended, as in `outcomes`.
    pub outcome: String,
    /// The status code of the responses; null where there was none.
    pub status: Option<u16>,
    /// Its kind, where there is advice on it; null elsewhere, and for the kinds of other versions.
    #[serde(with = "tag")]
    pub kind: Option<KnownFailure>,
    /// The limit at which they were given up; null where there was another reason.
    #[serde(deserialize_with = "known")]
    pub limit: Option<LimitMet>,
    /// The origin of these requests, of a limit in a run that goes to several; null elsewhere: other reasons begin with it.
    pub origin: Option<Cleared>,
    /// What is the same for all of them, secrets replaced; of a limit written by the report.
    pub reason: Cleared,
    /// The reason of one of them with what it met: a value, a part of a body. Secrets are replaced.
    pub example: Cleared,
    /// How many.
    pub n: u64,
    /// What helps, where there is a kind.
    pub advice: Text,
}

impl FailureReason {
    /// Whether requests failed for the same reason.
    fn is_alike(&self, other: &FailureReason) -> bool {
        let key = |row: &FailureReason| (row.status, row.kind, row.limit, row.origin.clone());
        let text = |row: &FailureReason| row.limit.is_none().then(|| row.reason.clone());
        self.outcome == other.outcome && key(self) == key(other) && text(self) == text(other)
    }
}

/// A limit at which requests are given up.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "no", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the limit in seconds, and the cap")]
pub enum LimitMet {
    /// The response was not complete.
    Response { within_s: f64 },
    /// The response had begun and stood still.
    Idle { within_s: f64 },
    /// The connection was not set up.
    Connection { within_s: f64 },
    /// None of so many connections was free.
    FreeConnection { within_s: f64, of: Option<u64> },
}

/// A kind as its tag.
mod tag {
    use headway_base::KnownFailure;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub fn serialize<S: Serializer>(kind: &Option<KnownFailure>, to: S) -> Result<S::Ok, S::Error> {
        kind.map(KnownFailure::name).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<KnownFailure>, D::Error> {
        let tag = Option::<String>::deserialize(from)?;
        Ok(tag.as_deref().and_then(KnownFailure::from_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(outcome: &str, status: u16, reason: &str, n: u64) -> FailureReason {
        let (outcome, reason) = (outcome.to_owned(), headway_redact::Redactor::default().clear(reason));
        FailureReason { outcome, status: Some(status), reason, n, ..FailureReason::default() }
    }

    #[test]
    fn the_same_reason_is_one_row_and_none_is_lost_beyond_the_bound() {
        // One has reasons 0 to 15, the other 8 to 23: 8 to 15 come twice, and 0 to 7 are the rarest.
        let of = |range: std::ops::Range<u64>| FailureReasons {
            rows: range.map(|i| row("check", 200, &format!("reason {i}"), i + 1)).collect(),
            others: BTreeMap::from([("check".to_owned(), 5)]),
        };
        let merged = FailureReasons::merged([&of(0..16), &of(8..24)]);
        let at = |i: usize| (merged.rows[i].reason.as_str(), merged.rows[i].n);
        assert_eq!((merged.rows.len(), at(0), at(15)), (16, ("reason 15", 32), ("reason 16", 17)));
        let all: u64 = (0..16).chain(8..24).map(|i| i + 1).sum::<u64>() + 10;
        assert_eq!(merged.count("check"), all);
        assert_eq!(merged.others["check"], 10 + (1..=8).sum::<u64>());
    }

    #[test]
    fn statuses_kinds_and_outcomes_keep_reasons_apart() {
        let other_kind =
            FailureReason { kind: Some(KnownFailure::EmptyBody), ..row("check", 200, "same", 3) };
        let rows = vec![
            row("check", 200, "same", 1),
            row("check", 201, "same", 2),
            row("status", 200, "same", 4),
            other_kind,
        ];
        let apart = FailureReasons { rows, ..FailureReasons::default() };
        let counts = |reasons: &FailureReasons| reasons.rows.iter().map(|row| row.n).collect::<Vec<_>>();
        assert_eq!(counts(&FailureReasons::merged([&apart])), [4, 3, 2, 1]);
        assert_eq!(counts(&FailureReasons::merged([&apart, &apart])), [8, 6, 4, 2]);
        assert_eq!((apart.count("check"), apart.count("status"), apart.count("timeout")), (6, 4, 0));
    }

    #[test]
    fn a_limit_of_another_version_is_none_and_its_text_is_kept() {
        let read = |limit: &str| {
            let text = format!(r#"{{ "outcome": "shed", "limit": {limit}, "reason": "as written" }}"#);
            serde_json::from_str::<FailureReason>(&text).unwrap()
        };
        let known = LimitMet::FreeConnection { within_s: 1.5, of: None };
        assert_eq!(read(r#"{ "no": "free-connection", "within_s": 1.5, "of": null }"#).limit, Some(known));
        for other in ["null", r#"{ "no": "patience" }"#] {
            assert_eq!((read(other).limit, &*read(other).reason), (None, "as written"));
        }
    }

    #[test]
    fn kinds_are_tags_and_unknown_ones_are_none() {
        let kind = |document: &str| serde_json::from_str::<FailureReason>(document).unwrap().kind;
        assert_eq!(kind(r#"{"kind": "status-401"}"#), Some(KnownFailure::Unauthorized));
        assert_eq!(kind(r#"{"kind": "status-999"}"#), None);
        assert_eq!((kind(r#"{"kind": null}"#), kind("{}")), (None, None));
        let row = FailureReason { kind: Some(KnownFailure::Reset), ..FailureReason::default() };
        assert!(serde_json::to_string(&row).unwrap().contains(r#""kind":"reset""#));
    }
}
