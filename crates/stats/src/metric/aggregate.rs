//! Which number of a metric.

use crate::summary::percentile_key;
use std::fmt;

/// Which number of a metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Aggregate {
    /// The percentile, above 0 and below 100; `med` is 50.
    Percentile(f64),
    /// The mean: `avg` or `mean`.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Of `failed` the share among all requests, of what else counts the number per second.
    Rate,
    /// How many.
    Count,
}

impl Aggregate {
    /// Its name in blocks of the document: `p99`, `mean`, `n`.
    pub fn key(self) -> String {
        match self {
            Aggregate::Percentile(percent) => percentile_key(percent),
            Aggregate::Mean => "mean".into(),
            Aggregate::Min => "min".into(),
            Aggregate::Max => "max".into(),
            Aggregate::Rate => "rate".into(),
            Aggregate::Count => "n".into(),
        }
    }

    /// The one that the document calls so in a block.
    pub fn of_key(key: &str) -> Option<Aggregate> {
        Some(match key {
            "mean" => Aggregate::Mean,
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            "rate" => Aggregate::Rate,
            "n" => Aggregate::Count,
            "p999" => Aggregate::Percentile(99.9),
            _ => Aggregate::percentile(key.strip_prefix('p')?)?,
        })
    }

    /// The one that a threshold of the document calls so: `p(99)`, `avg`, `count`.
    pub fn of_threshold(name: &str) -> Option<Aggregate> {
        Some(match name {
            "avg" => Aggregate::Mean,
            "count" => Aggregate::Count,
            "min" | "max" | "rate" => Aggregate::of_key(name)?,
            _ => Aggregate::percentile(name.strip_prefix("p(")?.strip_suffix(')')?)?,
        })
    }

    fn percentile(text: &str) -> Option<Aggregate> {
        let percent: f64 = text.parse().ok()?;
        (0.0 < percent && percent < 100.0).then_some(Aggregate::Percentile(percent))
    }

    /// Whether it is the smallest or the largest, which has no interval.
    pub fn is_extreme(self) -> bool {
        matches!(self, Aggregate::Min | Aggregate::Max)
    }

    /// The quantile that it is; none of others.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Aggregate::Percentile(percent) => Some(percent / 100.0),
            _ => None,
        }
    }
}

/// As thresholds name it.
impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aggregate::Percentile(p) => write!(f, "p({p})"),
            Aggregate::Mean => f.write_str("avg"),
            Aggregate::Min => f.write_str("min"),
            Aggregate::Max => f.write_str("max"),
            Aggregate::Rate => f.write_str("rate"),
            Aggregate::Count => f.write_str("count"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_read_as_it_is_written() {
        use Aggregate::{Count, Max, Mean, Min, Percentile, Rate};
        for of in [Percentile(50.0), Percentile(99.9), Percentile(99.95), Mean, Min, Max, Rate, Count] {
            assert_eq!(Aggregate::of_key(&of.key()), Some(of));
            assert_eq!(Aggregate::of_threshold(&of.to_string()), Some(of));
        }
        for other in ["", "p", "p100", "p(100)", "med", "p0"] {
            assert_eq!((Aggregate::of_key(other), Aggregate::of_threshold(other)), (None, None), "{other}");
        }
    }
}
