//! Points to draw: percentile curves and histograms.
//!
//! Deliberately absent: the run over time, which is `series`.

use serde::{Deserialize, Serialize};

/// Points to draw.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Curves {
    /// Percentile curves.
    pub percentiles: PercentileCurves,
    /// Histogram of headways with the counts to expect; none without headways.
    pub headway: Option<HeadwayCurve>,
    /// Histogram of the response times of answered requests: bins that follow each other from the first to the last that holds any.
    pub response_histogram: Vec<HistogramBin>,
    /// Response times over the run as a grid of counts; left out of the document where nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_grid: Option<ResponseGrid>,
}

/// Requests that were sent and have ended, by when they were due and how long they took. It has at most [`ResponseGrid::MOST_COLUMNS`]
/// columns of [`ResponseGrid::MOST_ROWS`] counts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseGrid {
    /// Seconds since the plan's zero at which the first column begins.
    pub from_s: f64,
    /// Length of a column, in seconds.
    pub width_s: f64,
    /// Edges between which the counts of a column lie, in seconds, ascending: a count is of requests that took at least the edge below it
    /// and less than the one above it. The lowest is 0 where some took less than a microsecond; the highest count has all beyond 275 s.
    pub edges: Vec<f64>,
    /// For each column the requests between an edge and the next, from the shortest on.
    pub counts: Vec<Vec<u64>>,
}

impl ResponseGrid {
    /// Most columns.
    pub const MOST_COLUMNS: usize = 120;
    /// Most counts of a column.
    pub const MOST_ROWS: usize = 48;
}

/// Requests by response time, with a response.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HistogramBin {
    /// They took longer than this, in seconds; 0 for those of at most a microsecond.
    pub from: f64,
    /// And at most this; null beyond 1,000 s. Edges are the R20 series of preferred numbers (ISO 3): 1, 1.12, 1.25, 1.4, 1.6, 1.8, 2 ...
    pub to: Option<f64>,
    /// How many, to the width of a histogram's cell (0.1 %) at either edge.
    pub n: u64,
}

/// Percentile curves, as far out as 10 observations lie beyond.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PercentileCurves {
    /// Of response time.
    pub response: Vec<CurvePoint>,
    /// Of service time.
    pub service: Vec<CurvePoint>,
}

/// One point of a percentile curve.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CurvePoint {
    /// Percentile, 0 to 100.
    pub percentile: f64,
    /// Value.
    pub value: f64,
    /// Whether the value is a lower bound.
    pub lower_bound: bool,
}

/// Headways in units of the mean headway, and what the law leads one to expect.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadwayCurve {
    /// Number of headways.
    pub n: u64,
    /// The law behind `expected`: `plan`, or `exponential` where there is no plan.
    pub law: String,
    /// Mean headway in seconds: what one unit of `from` and `to` is worth (on average, if the plan's rate varies).
    pub unit_s: f64,
    /// Bins of equal width.
    pub bins: Vec<HeadwayBin>,
    /// Headways beyond the last bin.
    pub tail: HeadwayBin,
}

/// One bin of the headway histogram.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadwayBin {
    /// Lower edge in mean headways.
    pub from: f64,
    /// Upper edge in mean headways; null for the tail.
    pub to: Option<f64>,
    /// Headways within.
    pub observed: u64,
    /// Headways to expect.
    pub expected: f64,
}
