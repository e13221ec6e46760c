//! The document's blocks on users: closed workloads, and groups of threads.

use super::Text;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// Numbers of a workload in which users wait for their answers: a closed one, a partly open one, fixed work, or another
/// tool's results.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Closed {
    /// Number of responses behind it.
    pub n: u64,
    /// Users: those asked for (on average over the measured phase) in a run, those that the records name in an audit. None
    /// for a partly open workload, where as many come as come.
    pub users: Option<f64>,
    /// Users (in a partly open workload: sessions of more than one request) that were there on average over the measured
    /// phase; none in an audit.
    pub users_mean: Option<f64>,
    /// Requests per second.
    pub rate: Option<f64>,
    /// Mean response time R.
    pub response: Option<f64>,
    /// Mean think time Z: as recovered from the records, else as asked for.
    pub think: Option<f64>,
    /// Mean think time asked for; none where it is not known.
    pub think_specified: Option<f64>,
    /// Mean of the recovered think times: from the end of a user's request to when his next one was due (in an audit, when it
    /// started).
    pub think_recovered: Option<f64>,
    /// Standard deviation of the recovered think times.
    pub think_sd: Option<f64>,
    /// Smallest recovered think time.
    pub think_min: Option<f64>,
    /// Largest recovered think time.
    pub think_max: Option<f64>,
    /// Number of recovered think times.
    pub think_n: u64,
    /// R/(Z+R): the share of a user's cycle spent waiting.
    pub rort: Option<f64>,
    /// rate x (Z+R), the number of users by Little's law (Little 1961).
    pub n_little: Option<f64>,
    /// Think time that would bring R/(Z+R) to 3 % at the same rate.
    pub think_for_3_percent: Option<f64>,
    /// Users that would then be needed for the same rate.
    pub users_for_3_percent: Option<f64>,
    /// Users that the same rate of requests stands for if each thinks longer; none without a rate.
    pub supported: Option<[Supported; 5]>,
    /// The same of pages alone, where the user says which requests are pages; none elsewhere.
    pub pages: Option<Pages>,
    /// Most requests in flight at once.
    pub in_flight_max: Option<u64>,
    /// Share of the time in which at least 95 % of the users were waiting for an answer.
    pub all_waiting: Option<f64>,
    /// What an open workload of the same mean rate would have seen; none where it was not estimated (`not_computed` has the
    /// reason under `closed.estimated`).
    pub estimated: Option<Estimated>,
}

/// An estimate, not a measurement: response times of Poisson arrivals at the run's mean rate, replayed through what the run
/// showed of the target.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Estimated {
    /// Arrivals that were replayed.
    pub n: u64,
    /// Their rate: requests of the run per second of its measured phase.
    pub rate: f64,
    /// Mean response time.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Requests that are served at once in the replay.
    pub lanes: u64,
    /// What tells how many these are; null in what was written before this key was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes_from: Option<LanesFrom>,
    /// How it was made: written by the report, and shown as read where `lanes_from` is null.
    pub method: Text,
}

/// What tells how many requests a target serves at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LanesFrom {
    /// The number in flight at which completions per second stop growing.
    Completions,
    /// The order of the responses.
    Order,
}

/// Requests that are pages: people think between pages, not between a page and its images.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pages {
    /// Labels of the requests that are pages.
    pub labels: Vec<Cleared>,
    /// Their number.
    pub n: u64,
    /// Pages per second.
    pub rate: f64,
    /// Their mean response time.
    pub response: f64,
    /// Users that the rate of pages stands for.
    pub supported: [Supported; 5],
}

/// How many users a rate stands for: rate x (Z' + R) (Brady and Gunther 2016, table 4).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Supported {
    /// Mean think time Z' between the requests of a user, in seconds.
    pub think: f64,
    /// Users.
    pub users: f64,
}

/// The first k users (threads) of a foreign file together: how the CoV grows with their number.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadGroup {
    /// Its name: `1-20`.
    pub name: String,
    /// Users in it.
    pub users: u64,
    /// Number of headways.
    pub n: u64,
    /// Requests per second.
    pub rate: Option<f64>,
    /// Mean headway.
    pub headway_mean: Option<f64>,
    /// Standard deviation of headways (n - 1).
    pub headway_sd: Option<f64>,
    /// Coefficient of variation of its headways.
    pub cov: Option<f64>,
    /// Its standard error (delta method).
    pub cov_se: Option<f64>,
}
