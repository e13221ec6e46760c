//! The document that a comparison ends in: `"schema": "headway.comparison/1"`. Plain data: times in seconds, rates per second,
//! shares of one.

use super::condition::Condition;
use crate::metric::NumberOf;
use crate::summary::{CurvePoint, Interval, LoadVerdict, NotComputed, SeriesRow, Source, Stated, Units, Why};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.comparison/1";

/// Several runs, each beside the first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: String,
    /// Units of all numbers.
    pub units: Units,
    /// The command line that produced this.
    pub command: Option<Cleared>,
    /// How the intervals came about.
    pub method: Method,
    /// Confidence with which all intervals of the rows hold together.
    pub confidence: f64,
    /// Intervals that are looked at: the rows of all pairs.
    pub looked_at: usize,
    /// Confidence of each of them.
    pub confidence_of_each: f64,
    /// The runs; the first is the one that the others are compared with.
    pub runs: Vec<Compared>,
    /// One for each of the others.
    pub pairs: Vec<Pair>,
    /// Conditions under which the command fails, and what became of each; not read back.
    #[serde(skip_deserializing)]
    pub conditions: Vec<ConditionResult>,
    /// Points that a study has and another, which it is compared with, has not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points_left_out: Vec<PointLeftOut>,
    /// How the rounds were played; none of recorded runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
}

impl Comparison {
    /// The name of the run that the others are compared with.
    pub fn base(&self) -> &str {
        self.runs.first().map_or("-", |run| &run.name)
    }
}

/// A point that one of two studies has.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PointLeftOut {
    /// Index of the study that has it.
    pub run: usize,
    /// Index of the study that has not.
    pub lacks: usize,
    /// Its values, with the names of the parameters.
    pub point: Cleared,
}

/// How intervals came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From the intervals of each run by itself.
    #[default]
    Runs,
    /// From the differences of each round.
    Rounds,
}

/// A run that is compared.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// What it is called here: its folder or file, or the target of live rounds.
    pub name: Cleared,
    /// Where its records came from.
    pub source: Source,
    /// Verdict on its load; null where none was specified.
    pub load: Option<LoadVerdict>,
    /// Whether its load is INVALID for more than delays whose effect on its numbers is known.
    #[serde(skip)]
    pub is_another_load: bool,
    /// Seed of its plan.
    pub seed: Option<u64>,
    /// Where the load went.
    pub target: Option<Cleared>,
    /// When it began, RFC 3339.
    pub started_at: Option<String>,
    /// Length of the warm-up that is left out, in seconds.
    pub warmup_s: Option<f64>,
    /// Requests that are compared.
    pub n: u64,
    /// What its user noted.
    pub notes: BTreeMap<Cleared, Cleared>,
    /// Percentile curve of its response times, to draw.
    pub curve: Vec<CurvePoint>,
    /// It over time, to draw; of a run alone, in at most [`MOST_STRETCHES`] rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<Stretch>,
    /// Why a number or an interval of it is missing, by its place in a summary.
    pub not_computed: NotComputed,
}

/// Rows of a run over time at most.
pub const MOST_STRETCHES: usize = 400;

/// A stretch of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stretch {
    /// Seconds since the plan's zero at which it begins.
    pub from_s: f64,
    /// At which it ends.
    pub to_s: f64,
    /// Median response time of the requests due within, to 3 %; of several rows of the summary the median of theirs.
    pub p50: Option<f64>,
    /// Their 99th percentile; of several rows the largest of theirs.
    pub p99: Option<f64>,
    /// Requests completed per second.
    pub completed: f64,
    /// Requests failed per second.
    pub failed: f64,
}

impl Stretch {
    /// A run over time: each row of its series, or as many together as it takes.
    pub fn of(series: &[SeriesRow]) -> Vec<Stretch> {
        let stretch = |rows: &[SeriesRow]| {
            let (from_s, to_s) = (rows[0].from_s, rows[rows.len() - 1].to_s);
            let mut medians: Vec<f64> = rows.iter().filter_map(|row| row.p50).collect();
            medians.sort_by(f64::total_cmp);
            let per_second = |of: fn(&SeriesRow) -> u64| {
                rows.iter().map(|row| of(row) as f64).sum::<f64>() / (to_s - from_s).max(1e-9)
            };
            Stretch {
                from_s,
                to_s,
                p50: medians.get(medians.len() / 2).copied(),
                p99: rows.iter().filter_map(|row| row.p99).reduce(f64::max),
                completed: per_second(|row| row.completed),
                failed: per_second(|row| row.failed),
            }
        };
        series.chunks(series.len().div_ceil(MOST_STRETCHES).max(1)).map(stretch).collect()
    }
}

/// One run beside the first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pair {
    /// Index of the run that it is compared with.
    pub base: usize,
    /// Index of the run.
    pub other: usize,
    /// What of studies is compared, such as `rate=100`; empty of runs.
    pub point: Cleared,
    /// What the comparison comes to.
    pub verdict: Verdict,
    /// Whether both had the same arrivals (one plan, one seed), so that what they share is taken out of the intervals.
    pub same_arrivals: bool,
    /// Whether both hold the same records, request by request: a simulation that came out the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub same_records: bool,
    /// Where the two differ on purpose or harmlessly: shown, and no obstacle.
    pub differs: Vec<Difference>,
    /// The numbers.
    pub rows: Vec<Row>,
    /// Labels of only one of the two, and those beyond the most frequent [`MOST_LABELS`]; not compared.
    pub labels_left_out: Vec<Cleared>,
}

/// Labels that are compared at most.
pub const MOST_LABELS: usize = 20;

/// What a comparison comes to, with its evidence.
#[derive(Default, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Verdict {
    /// Differences are shown in these rows, the most telling first.
    Differs {
        /// Indices of rows.
        rows: Vec<usize>,
    },
    /// No difference is shown. One of this relative size would have been, in this number.
    NoDifference {
        /// Index of the row.
        row: usize,
        /// Of one.
        detectable: f64,
    },
    /// No number has an interval.
    #[default]
    NotTold,
    /// The runs are not comparable.
    NotComparable {
        /// Why, the gravest first.
        reasons: Vec<Incomparable>,
    },
}

/// Why two runs are not comparable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Incomparable {
    /// The load of this run was INVALID.
    Invalid {
        /// Its index.
        run: usize,
    },
    /// Something was asked for otherwise.
    Plan(Difference),
    /// They have no label in common.
    Labels,
    /// The one is simulated and the other is not.
    Source,
    /// Both hold the same records, request by request, and were not simulated: copies of one run.
    Copies,
}

/// One thing in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// What: `rate`, `warm-up`, or the key of a note.
    pub what: Cleared,
    /// Of the first, in words.
    pub base: Cleared,
    /// Of the other.
    pub other: Cleared,
}

/// A number of both.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// `rate`, `mean`, `p50` ... `p999`, `failed`, or that of another metric: `connect.p95`.
    pub of: NumberOf,
    /// The step that it is of; null for all of them.
    pub label: Option<Cleared>,
    /// In the first run.
    pub base: Number,
    /// In the other.
    pub other: Number,
    /// The other less the first: seconds, per second, or a share.
    pub difference: Option<f64>,
    /// Its interval.
    pub difference_interval: Option<Interval>,
    /// The other over the first; null of shares, and where the first is 0 or unknown.
    pub ratio: Option<f64>,
    /// Its interval.
    pub ratio_interval: Option<Interval>,
    /// What the interval shows.
    pub shown: Shown,
    /// Correlation of the two over the segments of the run, where both had the same arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
    /// Why nothing is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why_not: Vec<NotTold>,
}

impl Row {
    /// The smallest relative difference that the interval would have shown: how far its lower end lies below the ratio.
    pub fn detectable(&self) -> Option<f64> {
        let (ratio, [low, _]) = (self.ratio?, self.ratio_interval?);
        (low > 0.0).then(|| ratio / low - 1.0)
    }
}

/// A number of one run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Number {
    /// The number.
    pub value: Option<f64>,
    /// Its own 95 % interval.
    pub ci95: Option<Interval>,
    /// Whether it is only known to be at least this.
    pub lower_bound: bool,
    /// Observations behind it.
    pub n: u64,
}

/// What the interval of a row shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The other's number is larger.
    Higher,
    /// It is smaller.
    Lower,
    /// The interval holds both.
    No,
    /// There is no interval.
    #[default]
    NotTold,
}

/// Why a row shows nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum NotTold {
    /// A run does not have the number.
    NoNumber {
        /// Index of the run.
        run: usize,
    },
    /// It is a lower bound, among requests without a response.
    LowerBound {
        /// Index of the run.
        run: usize,
    },
    /// It has no interval.
    NoInterval {
        /// Index of the run.
        run: usize,
        /// Why.
        reason: Stated<Why>,
    },
    /// The interval reaches down to nothing.
    DownToNothing {
        /// Index of the run.
        run: usize,
    },
    /// It is of one step of a load that is INVALID for the generator's delays: by how much they moved it is not told.
    Moved {
        /// Index of the run.
        run: usize,
    },
    /// The two are not comparable, so that nothing is concluded from their numbers.
    NotComparable,
    /// Fewer than five rounds have the number.
    FewRounds {
        /// Rounds that have it.
        rounds: usize,
    },
}

/// A condition under which the command fails.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConditionResult {
    /// As it was written: `p(99) slower by 5%`.
    pub text: Cleared,
    /// What it says.
    #[serde(skip)]
    pub condition: Condition,
    /// Index of the pair.
    pub pair: usize,
    /// Index of the row that it was judged on.
    pub row: Option<usize>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The interval shows it: the command fails.
    Holds,
    /// The interval shows the contrary.
    DoesNotHold,
    /// The interval holds both.
    Undecided,
    /// There is no interval, or the runs are not comparable.
    #[default]
    NotJudged,
}

/// How the rounds of a live comparison were played.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rounds {
    /// Seed of the order and of the plans.
    pub seed: u64,
    /// Length of the measured phase of each run, in seconds.
    pub each_s: f64,
    /// Length of the warm-up before each, in seconds: sent, not compared.
    pub warmup_s: f64,
    /// Share of the time that was spent on warm-up.
    pub warmup_share: f64,
    /// The rounds, in order.
    pub played: Vec<Round>,
}

/// A round: both targets, one after the other, under the same plan.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// Seed of its plan.
    pub seed: u64,
    /// Index of the run that came first.
    pub first: usize,
    /// Verdicts on the loads of both, in the order of the runs.
    pub loads: Vec<Option<LoadVerdict>>,
    /// Whether it is left out, because a load was INVALID for more than delays whose effect is known.
    pub left_out: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_over_time_is_short_and_keeps_its_counts() {
        for rows in [0, 1, 399, 400, 401, 3_600] {
            let row = |i: usize| SeriesRow {
                from_s: i as f64,
                to_s: (i + 1) as f64,
                completed: i as u64,
                failed: 2,
                p50: (!i.is_multiple_of(3)).then_some(0.1),
                p99: Some(i as f64),
                ..SeriesRow::default()
            };
            let series: Vec<SeriesRow> = (0..rows).map(row).collect();
            let stretches = Stretch::of(&series);
            assert!(stretches.len() <= MOST_STRETCHES && (rows == 0 || stretches.len() > rows.min(200) / 2));
            let sum = |of: fn(&Stretch) -> f64| {
                stretches.iter().map(|row| of(row) * (row.to_s - row.from_s)).sum::<f64>()
            };
            assert!((sum(|row| row.failed) - 2.0 * rows as f64).abs() < 1e-6);
            let completed: u64 = series.iter().map(|row| row.completed).sum();
            assert!((sum(|row| row.completed) - completed as f64).abs() < 1e-6 * (1.0 + completed as f64));
            assert!(stretches.iter().all(|row| row.p50.is_none_or(|p50| p50 == 0.1)));
            assert!(stretches.iter().all(|row| row.p99 == Some(row.to_s - 1.0)));
        }
    }
}
