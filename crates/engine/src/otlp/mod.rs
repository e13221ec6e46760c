//! Metrics of a run to a collector of OpenTelemetry, while the run goes on and when it has ended: OTLP over HTTP.
//!
//! The numbers are those of a summary of what has ended so far, as in the live view's `/metrics`. A thread that gives way to the load
//! makes and sends them; the run never waits for it. Deliberately absent: what the metrics are (`report`), and the HTTP client (`live`).

#[cfg(feature = "otlp")]
mod export;
#[cfg(not(feature = "otlp"))]
mod without;

#[cfg(feature = "otlp")]
pub use export::Export;
#[cfg(not(feature = "otlp"))]
pub use without::Export;

use headway_workload::redact::Redactor;
use std::time::Duration;

/// Whether this build sends metrics to collectors.
pub const OTLP: bool = cfg!(feature = "otlp");

/// Longest export.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Where metrics go, and how often.
#[derive(Clone, Debug)]
pub struct Collector {
    /// Where to post them, `http://` or `https://`.
    pub url: String,
    /// The URL as it is shown, without what its query says.
    pub place: String,
    /// Headers of each request.
    pub headers: Vec<(String, String)>,
    /// Seconds from one export to the next, from 1.
    pub every: u32,
    /// Hides the secrets of URL and headers, and those of the run.
    pub redactor: Redactor,
}
