//! A number: an aggregate of a metric, as comparisons, effects and findings name it.

use super::{Aggregate, Metric};
use crate::summary::ThresholdUnit;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An aggregate of a metric. Written `p99` or `mean` where it is of the response time, `connect.p99` where it is of another, `failed` and
/// `rate` (responses per second) of what counts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NumberOf {
    /// Of what.
    pub metric: Metric,
    /// Which.
    pub aggregate: Aggregate,
}

/// A name that is no number's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownNumber(String);

impl fmt::Display for UnknownNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is no number of a metric; numbers are such as p99, mean, failed, rate and connect.p99",
            self.0
        )
    }
}

impl std::error::Error for UnknownNumber {}

impl NumberOf {
    /// The share of requests that failed.
    pub const FAILED: NumberOf = NumberOf { metric: Metric::FAILED, aggregate: Aggregate::Rate };
    /// Responses per second.
    pub const RATE: NumberOf = NumberOf { metric: Metric::THROUGHPUT, aggregate: Aggregate::Rate };

    /// That of the response time.
    pub const fn response(aggregate: Aggregate) -> NumberOf {
        NumberOf { metric: Metric::RESPONSE, aggregate }
    }

    /// Whether it is a share of one, which is compared by differences alone.
    pub fn is_share(self) -> bool {
        self.metric.unit_of(self.aggregate) == ThresholdUnit::Share
    }

    /// Its name in documents.
    pub fn key(self) -> String {
        let NumberOf { metric, aggregate } = self;
        match () {
            () if self == NumberOf::FAILED => metric.name.to_owned(),
            () if self == NumberOf::RATE || metric == Metric::RESPONSE => aggregate.key(),
            () => format!("{metric}.{}", aggregate.key()),
        }
    }
}

/// The mean response time.
impl Default for NumberOf {
    fn default() -> NumberOf {
        NumberOf::response(Aggregate::Mean)
    }
}

impl From<NumberOf> for String {
    fn from(number: NumberOf) -> String {
        number.key()
    }
}

impl TryFrom<String> for NumberOf {
    type Error = UnknownNumber;

    fn try_from(name: String) -> Result<NumberOf, UnknownNumber> {
        name.parse()
    }
}

impl FromStr for NumberOf {
    type Err = UnknownNumber;

    fn from_str(name: &str) -> Result<NumberOf, UnknownNumber> {
        let known = [NumberOf::FAILED, NumberOf::RATE].into_iter().find(|number| number.key() == name);
        let of_response = || Aggregate::of_key(name).map(NumberOf::response);
        let of_other = || {
            let (metric, aggregate) = name.split_once('.')?;
            Some(NumberOf { metric: Metric::named(metric)?, aggregate: Aggregate::of_key(aggregate)? })
        };
        known.or_else(of_response).or_else(of_other).ok_or_else(|| UnknownNumber(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let keys = ["rate", "failed", "mean", "p50", "p999", "p99.99", "max", "connect.p99", "bytes.mean"];
        for key in keys {
            let number: NumberOf = key.parse().unwrap();
            assert_eq!(number.key(), key);
        }
        assert_eq!("p99".parse(), Ok(NumberOf::response(Aggregate::Percentile(99.0))));
        assert!("x.p99".parse::<NumberOf>().is_err() && "connect.".parse::<NumberOf>().is_err());
    }
}
