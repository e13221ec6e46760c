//! How requests failed, and why.

use super::Text;
use headway_base::KnownFailure;
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
    pub step: Option<String>,
    /// How many.
    pub n: u64,
}

/// Why requests failed. They are counted over the whole run, warm-up included, and so may be more than the failures of the measured
/// phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureReasons {
    /// Distinct reasons, the most frequent first; at most 16 of each outcome.
    pub rows: Vec<FailureReason>,
    /// Requests that failed for further reasons, by outcome.
    pub others: BTreeMap<String, u64>,
}

/// Requests that failed for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureReason {
    /// How they ended, as in `outcomes`.
    pub outcome: String,
    /// The status code of the responses; null where there was none.
    pub status: Option<u16>,
    /// Its kind, where there is advice on it; null elsewhere, and for the kinds of other versions.
    #[serde(with = "tag")]
    pub kind: Option<KnownFailure>,
    /// What is the same for all of them, secrets replaced.
    pub reason: String,
    /// The reason of one of them with what it met: a value, a part of a body. Secrets are replaced.
    pub example: String,
    /// How many.
    pub n: u64,
    /// What helps, where there is a kind.
    pub advice: Text,
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
