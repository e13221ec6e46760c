//! The flags of metrics to a collector.

use clap::Args as ClapArgs;
use headway_base::units::{UnitError, parse_time};

/// Metrics to a collector.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct OtlpArgs {
    /// Send the metrics of the run so far to this collector of OpenTelemetry, by OTLP over HTTP, and the final ones at the end; env: to
    /// that of OTEL_EXPORTER_OTLP_ENDPOINT. Headers come from OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, value_name = "URL|env", help_heading = "Output")]
    pub otlp: Option<String>,
    /// With --otlp: from one export to the next, whole seconds, 1s to 1h [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_every, requires = "otlp", help_heading = "Output")]
    pub otlp_every: Option<u32>,
}

fn parse_every(text: &str) -> Result<u32, UnitError> {
    const SECOND: i64 = 1_000_000_000;
    let time = parse_time(text)?.0;
    let wrong = || UnitError::new(text, "whole seconds from 1s to 1h: write for example 10s");
    if time % SECOND != 0 || !(SECOND..=3_600 * SECOND).contains(&time) {
        return Err(wrong());
    }
    u32::try_from(time / SECOND).map_err(|_| wrong())
}
