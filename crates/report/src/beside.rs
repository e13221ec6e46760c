//! Another run's response times next to those of a report: a prediction next to its measurement.
//!
//! Absent: a decision whether the two agree; whoever asks knows what he tolerates.

use crate::format::{share, time};
use serde::Serialize;
use stats::Summary;
use stats::summary::{CurvePoint, Interval, Spread};

/// Response times to be shown beside those of a report.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Beside {
    /// What they are of, in a few words: the name of a run.
    pub name: String,
    /// Mean and percentiles with their intervals, in seconds.
    pub response: Spread,
    /// The percentile curve to draw: percentiles from 0 to 100, values in seconds.
    pub curve: Vec<CurvePoint>,
    /// A sentence to be read with them, for example what was subtracted from a measurement.
    pub note: Option<String>,
}

impl Beside {
    /// The response times of another summary.
    pub fn of(name: impl Into<String>, summary: &Summary) -> Beside {
        Beside {
            name: name.into(),
            response: summary.response.clone(),
            curve: summary.curves.percentiles.response.clone(),
            note: None,
        }
    }
}

/// A number of both.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// Which: `mean`, `p50`, `p90` or `p99`.
    pub of: &'static str,
    /// In the report's own run.
    pub here: Side,
    /// In the other.
    pub there: Side,
}

/// A number of one of them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Side {
    /// The number, in seconds.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// Whether it is only known to be at least this.
    pub lower_bound: bool,
}

impl Compared {
    /// The other less this, in seconds; none where either is unknown or a lower bound.
    pub fn difference(&self) -> Option<f64> {
        let exact = |side: &Side| side.value.filter(|_| !side.lower_bound);
        Some(exact(&self.there)? - exact(&self.here)?)
    }

    /// The difference as a share of this.
    pub fn relative(&self) -> Option<f64> {
        Some(self.difference()? / self.here.value.filter(|&value| value > 0.0)?)
    }

    /// The difference in words: `1.30 ms (8.07 %) longer`.
    pub fn words(&self) -> String {
        let Some(difference) = self.difference() else { return "-".into() };
        let relative =
            self.relative().map_or(String::new(), |relative| format!(" ({})", share(relative.abs())));
        match difference {
            0.0 => "the same".into(),
            d if d > 0.0 => format!("{}{relative} longer", time(d)),
            d => format!("{}{relative} shorter", time(-d)),
        }
    }
}

/// Mean, p50, p90 and p99 of both.
pub fn compare(summary: &Summary, beside: &Beside) -> [Compared; 4] {
    let side = |of: &'static str, spread: &Spread| {
        let ci = &spread.ci95;
        let (value, interval) = match of {
            "mean" => (spread.mean, ci.mean),
            "p50" => (spread.p50, ci.p50),
            "p90" => (spread.p90, ci.p90),
            _ => (spread.p99, ci.p99),
        };
        Side { value, interval, lower_bound: spread.lower_bound.contains_key(of) }
    };
    ["mean", "p50", "p90", "p99"].map(|of| Compared {
        of,
        here: side(of, &summary.response),
        there: side(of, &beside.response),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(p99: f64) -> Spread {
        Spread { n: 9, p99: Some(p99), ..Spread::default() }
    }

    #[test]
    fn differences_are_told_with_their_direction() {
        let summary = Summary { response: of(0.0161), ..Summary::default() };
        let words = |spread: Spread| {
            let beside = Beside { response: spread, ..Beside::default() };
            let [mean, .., p99] = compare(&summary, &beside);
            assert_eq!((mean.difference(), mean.words()), (None, "-".into()));
            p99.words()
        };
        assert_eq!(words(of(0.0174)), "1.30 ms (8.07 %) longer");
        assert_eq!(words(of(0.0160)), "100 us (0.621 %) shorter");
        assert_eq!(words(of(0.0161)), "the same");
        let bounded = Spread { lower_bound: [("p99".to_owned(), true)].into(), ..of(0.5) };
        assert_eq!(words(bounded), "-");
    }
}
