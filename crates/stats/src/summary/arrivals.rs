//! The document's block on arrivals: headways, distances, dispersion.

use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Headways and dispersion of the arrivals by their `started` stamps.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrivals {
    /// Number of headways.
    pub n: u64,
    /// Number of arrivals that started.
    pub started: u64,
    /// Headways per second of their total length.
    pub rate: Option<f64>,
    /// Mean headway.
    pub headway_mean: Option<f64>,
    /// Standard deviation of headways (n - 1).
    pub headway_sd: Option<f64>,
    /// Coefficient of variation: 1 for independent users, 0 for a metronome. Corrected for the resolution of the stamps
    /// where that matters; then [`Arrivals::cov_as_stamped`] holds what the stamps say.
    pub cov: Option<f64>,
    /// CoV of the headways as stamped; absent where `cov` is not corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cov_as_stamped: Option<f64>,
    /// Standard error of `cov` from the sample's own moments (delta method).
    pub cov_se: Option<f64>,
    /// Standard error of `cov` if the arrivals are Poisson: 1/sqrt(n).
    pub cov_se_poisson: Option<f64>,
    /// Skewness of headways (2 for exponential ones).
    pub skewness: Option<f64>,
    /// Kurtosis of headways, not the excess (9 for exponential ones).
    pub kurtosis: Option<f64>,
    /// Median headway.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Shortest headway.
    pub min: Option<f64>,
    /// Longest headway.
    pub max: Option<f64>,
    /// Autocorrelation of successive headways.
    pub lag1: Option<f64>,
    /// Kolmogorov-Smirnov distances.
    pub ks: KsPair,
    /// Index of dispersion of counts, one row per window.
    pub dispersion: Vec<Dispersion>,
    /// Resolution of the `started` stamps.
    pub resolution: Option<f64>,
    /// Starts that lay inside a pause of the plan and were counted as its beginning.
    pub in_pause: u64,
    /// The same arrivals as they were intended; none where the records carry no plan.
    pub intended: Option<Intended>,
    /// Headways between arrivals of the same label.
    pub by_label: BTreeMap<Cleared, LabelArrivals>,
}

/// Moments of the intended headways of the same arrivals.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Intended {
    /// Number of headways.
    pub n: u64,
    /// Headways per second.
    pub rate: Option<f64>,
    /// Coefficient of variation.
    pub cov: Option<f64>,
}

/// Headways of one label.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelArrivals {
    /// Number of headways.
    pub n: u64,
    /// Headways per second.
    pub rate: Option<f64>,
    /// Mean headway.
    pub headway_mean: Option<f64>,
    /// Standard deviation.
    pub headway_sd: Option<f64>,
    /// Coefficient of variation.
    pub cov: Option<f64>,
    /// Its standard error (delta method).
    pub cov_se: Option<f64>,
    /// Its standard error if Poisson.
    pub cov_se_poisson: Option<f64>,
    /// Median headway.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Shortest headway.
    pub min: Option<f64>,
    /// Longest headway.
    pub max: Option<f64>,
    /// Autocorrelation of successive headways.
    pub lag1: Option<f64>,
}

/// The two Kolmogorov-Smirnov distances.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KsPair {
    /// Rescaled headways against the plan's own gap law, rate known (Kolmogorov's distribution).
    pub plan: Option<Ks>,
    /// Headways against an exponential of the same mean (Stephens' modification). Of a foreign file: of stamps dithered
    /// over their resolution.
    pub exponential: Option<Ks>,
    /// The same of the stamps as they stand; absent where their resolution makes no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponential_as_stamped: Option<Ks>,
}

/// One Kolmogorov-Smirnov distance.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ks {
    /// Largest distance between the two distribution functions, at the histogram's cell edges.
    pub d: f64,
    /// Probability of a distance this large by chance; shown, and decides nothing.
    pub p: f64,
    /// Number of headways.
    pub n: u64,
    /// How much larger the exact distance may be: the most that the expected law changes within one cell.
    pub cell_error: f64,
    /// Stephens' modified statistic where the mean was fitted (5 % point 1.094), else sqrt(n) d (5 % point 1.358).
    pub scaled: f64,
}

/// Index of dispersion of counts in windows of one length: variance over mean.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dispersion {
    /// Length of a window.
    pub window: f64,
    /// Index of the arrivals as they started.
    pub index: f64,
    /// Standard error of an index of 1: sqrt(2/(windows - 1)).
    pub se: f64,
    /// Number of windows.
    pub windows: u64,
    /// What the plan's law leads one to expect: 1 for Poisson and where there is no plan, else the intended index.
    pub expected: f64,
    /// Index of the same arrivals as they were intended; null where there is no plan.
    pub intended: Option<f64>,
}
