//! What findings rest on, apart from the value, interval, limit and n that all of them have: the numbers and names of their
//! sentences.
//!
//! Deliberately absent: the sentences, which the report makes from these.

use super::{Grows, Stated, Unsteady};
use serde::{Deserialize, Deserializer, Serialize};

/// What one sentence of a finding is made from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Evidence {
    /// A part has more work than it can do and fills up: its load (null: infinitely many times what it can do), how many parts
    /// have too much, and how fast the worst grows, where that is known.
    FillsUp { part: String, load: Option<f64>, parts: usize, growth: Option<Grows> },
    /// No steady state was found, and what grows fastest, if anything is shown to.
    NoSteadyState { why: Option<Stated<Unsteady>>, n: u64, fastest: Option<Grows> },
}

/// Reads evidence; none of it where some is of another version, whose text is then all there is.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Evidence>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Known(Box<Evidence>),
        Other(serde::de::IgnoredAny),
    }
    let all = Vec::<Written>::deserialize(deserializer)?;
    let known = all.into_iter().map(|written| match written {
        Written::Known(evidence) => Some(*evidence),
        Written::Other(_) => None,
    });
    Ok(known.collect::<Option<Vec<Evidence>>>().unwrap_or_default())
}
