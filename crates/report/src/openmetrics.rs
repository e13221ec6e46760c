//! The [metrics](crate::metrics) of a run that has ended in the OpenMetrics text format 1.0, for a Prometheus textfile collector or a
//! push gateway.
//!
//! Samples have no time stamps, since collectors of files refuse them.
//! Source: the OpenMetrics specification, version 1.0 (2020).

use crate::metrics::{Family, Histogram, Kind, Labels, Value, families};
use crate::{Material, Output, Style};
use headway_stats::Summary;
use std::fmt::Write as _;

/// The metrics.
pub struct OpenMetrics;

/// The first line.
const FIRST: &str = "# TYPE headway_run info";

impl Output for OpenMetrics {
    fn name(&self) -> &'static str {
        "openmetrics"
    }

    fn about(&self) -> &'static str {
        "counters, gauges and histograms for Prometheus, of the ended run"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["prom", "om", "openmetrics"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Summary]
    }

    fn recognises(&self, start: &str) -> bool {
        start.starts_with(FIRST)
    }

    fn summary(&self, summary: &Summary, _: &Style) -> Option<Vec<u8>> {
        let mut text = String::new();
        families(summary).iter().for_each(|family| write(&mut text, family));
        text.push_str("# EOF\n");
        Some(text.into_bytes())
    }
}

/// Head and samples of a family.
fn write(out: &mut String, family: &Family) {
    let Family { name, kind, unit, help, samples } = family;
    let (kind, suffix) = match kind {
        Kind::Info => ("info", "_info"),
        Kind::Gauge => ("gauge", ""),
        Kind::StateSet => ("stateset", ""),
        Kind::Counter => ("counter", "_total"),
        Kind::Histogram => ("histogram", ""),
    };
    let _ = writeln!(out, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(out, "# UNIT {name} {unit}");
    }
    let _ = writeln!(out, "# HELP {name} {}", escaped(help));
    for of in samples {
        match &of.value {
            Value::Number(value) => sample(out, name, suffix, &of.labels, *value),
            Value::Histogram(histogram) => buckets(out, name, &of.labels, histogram),
        }
    }
}

fn sample(out: &mut String, name: &str, suffix: &str, labels: &Labels, value: f64) {
    let _ = write!(out, "{name}{suffix}");
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    if !labels.is_empty() {
        let _ = write!(out, "{{{}}}", labels.join(","));
    }
    let _ = writeln!(out, " {}", number(value));
}

fn buckets(out: &mut String, name: &str, labels: &Labels, histogram: &Histogram) {
    let up_to = histogram.up_to.iter().map(|&(le, n)| (format!("{le:?}"), n));
    for (le, n) in up_to.chain([("+Inf".to_owned(), histogram.n)]) {
        let labels = [labels.as_slice(), &[("le", le)]].concat();
        sample(out, name, "_bucket", &labels, n as f64);
    }
    sample(out, name, "_count", labels, histogram.n as f64);
    if let Some(sum) = histogram.sum {
        sample(out, name, "_sum", labels, sum);
    }
}

/// Whole numbers without a point, others with the fewest digits that read back as the same.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
