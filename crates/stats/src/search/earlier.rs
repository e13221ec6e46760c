//! The knee beside that of an earlier search, of which nothing but its document is known.

use crate::comparison::Difference;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// An earlier search that asked the same, and how the knee compares with its own.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Earlier {
    /// What it is called: the name of its folder.
    pub name: Cleared,
    /// Where its load went, secrets replaced.
    pub target: Cleared,
    /// Its knee: the highest rate that was shown to hold, and the lowest that was shown not to.
    pub interval: [Option<f64>; 2],
    /// Between what the ratio lies of the knee now to the knee then. It does where both intervals hold their knees, each of which does
    /// so in 95 % of searches: in at least 90 % of independent pairs (Bonferroni), and in more, as it also does where one misses by
    /// little. Null where an end of either is not known.
    pub ratio: [Option<f64>; 2],
    /// In what the two differ, as its user allowed.
    pub differs: Vec<Difference>,
}

impl Earlier {
    /// The same beside a knee that lies in `interval`.
    pub fn beside(&self, interval: [Option<f64>; 2]) -> Earlier {
        let [low, high] = self.interval;
        let ratio =
            |now: Option<f64>, then: Option<f64>| Some(now? / then?).filter(|ratio| ratio.is_finite());
        Earlier { ratio: [ratio(interval[0], high), ratio(interval[1], low)], ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_ends_that_both_knees_know() {
        let then = Earlier { interval: [Some(80.0), Some(100.0)], ..Earlier::default() };
        assert_eq!(then.beside([Some(50.0), Some(60.0)]).ratio, [Some(0.5), Some(0.75)]);
        assert_eq!(then.beside([None, Some(60.0)]).ratio, [None, Some(0.75)]);
        assert_eq!(then.beside([None, None]).ratio, [None, None]);
        let above = Earlier { interval: [Some(80.0), None], ..Earlier::default() };
        assert_eq!(above.beside([Some(50.0), Some(60.0)]).ratio, [None, Some(0.75)]);
    }
}
