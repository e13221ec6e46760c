//! The numbers of a run that has ended in the OpenMetrics text format 1.0, for a Prometheus textfile collector or a push gateway:
//! counters, gauges and a histogram of response times by step.
//!
//! Samples have no time stamps, since collectors of files refuse them. Requests without an answer are in the bucket `+Inf` alone, and
//! in the sum with the time after which they were given up. Deliberately absent: series over time, which a scraper makes itself.
//! Source: the OpenMetrics specification, version 1.0 (2020).

use crate::{Material, Output, Style};
use headway_stats::Summary;
use headway_stats::summary::{
    BUCKET_BOUNDS, Interval, LabelSummary, LoadVerdict, LowerBounds, Source, Spread, Tail, ThresholdOutcome,
};
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
        let mut text = Text::default();
        run(&mut text, summary);
        verdict(&mut text, summary);
        requests(&mut text, summary);
        histogram(&mut text, summary);
        for (name, what, spread) in [
            ("response_time", "Response time (done - intended)", &summary.response),
            ("service_time", "Service time (done - sent)", &summary.service),
        ] {
            spread_gauges(&mut text, name, what, spread);
        }
        for (name, what, tail) in [
            ("send_lag", "Send lag: how late the generator itself started requests", &summary.lag),
            (
                "blocked",
                "Time that requests were held back by the cap, the pool or connection set-up",
                &summary.blocked,
            ),
        ] {
            tail_gauges(&mut text, name, what, tail);
        }
        text.out.push_str("# EOF\n");
        Some(text.out.into_bytes())
    }
}

/// Labels of a sample: names and values.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// The text so far. The samples of a family follow its head.
#[derive(Default)]
struct Text {
    out: String,
    family: String,
}

impl Text {
    /// The head of a family: its unit, if it has one, is the end of its name.
    fn family(&mut self, name: &str, kind: &str, unit: &str, help: &str) {
        self.family = format!("headway_{name}");
        let _ = writeln!(self.out, "# TYPE {} {kind}", self.family);
        if !unit.is_empty() {
            let _ = writeln!(self.out, "# UNIT {} {unit}", self.family);
        }
        let _ = writeln!(self.out, "# HELP {} {}", self.family, escaped(help));
    }

    fn sample(&mut self, suffix: &str, labels: Labels<'_>, value: f64) {
        let _ = write!(self.out, "{}{suffix}", self.family);
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        if !labels.is_empty() {
            let _ = write!(self.out, "{{{}}}", labels.join(","));
        }
        let _ = writeln!(self.out, " {}", number(value));
    }

    /// A sample, if there is a number.
    fn maybe(&mut self, labels: Labels<'_>, value: Option<f64>) {
        if let Some(value) = value {
            self.sample("", labels, value);
        }
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

fn run(text: &mut Text, summary: &Summary) {
    let source = match summary.source {
        Source::Live => "live",
        Source::Sim => "sim",
        Source::Import => "import",
    };
    text.family("run", "info", "", "The run that these numbers are of.");
    let seed = summary.seed.map(|seed| seed.to_string()).unwrap_or_default();
    text.sample("_info", &[("name", &summary.name), ("source", source), ("seed", &seed)], 1.0);
    text.family(
        "measured_seconds",
        "gauge",
        "seconds",
        "Length of the measured phase, to which all numbers belong.",
    );
    text.sample("", &[], (summary.measured.to_s - summary.measured.from_s).max(0.0));
    text.family("request_rate", "gauge", "", "Requests per second of the measured phase.");
    let rate = &summary.rate;
    for (of, value) in [
        ("offered", rate.offered),
        ("sent", rate.started),
        ("throughput", rate.throughput),
        ("goodput", rate.goodput),
    ] {
        text.maybe(&[("of", of)], value);
    }
    text.family("transfer_rate", "gauge", "", "Bytes of requests and responses per second, before TLS.");
    for (of, value) in [("received", rate.bytes_received), ("sent", rate.bytes_sent)] {
        text.maybe(&[("of", of)], value);
    }
    text.family(
        "interarrival_cov",
        "gauge",
        "",
        "Coefficient of variation of inter-arrival times: independent users 1, evenly paced 0.",
    );
    text.maybe(&[], summary.arrivals.cov);
}

fn verdict(text: &mut Text, summary: &Summary) {
    text.family("load_verdict", "stateset", "", "Whether the load was sent as specified.");
    for (name, verdict) in [
        ("VALID", LoadVerdict::Valid),
        ("INVALID", LoadVerdict::Invalid),
        ("INCONCLUSIVE", LoadVerdict::Inconclusive),
    ] {
        let is = summary.verdict.load == Some(verdict);
        text.sample("", &[("headway_load_verdict", name)], f64::from(u8::from(is)));
    }
    text.family(
        "threshold_passed",
        "gauge",
        "",
        "Thresholds that were judged: 1 if one holds, 0 if it is crossed.",
    );
    for threshold in &summary.thresholds {
        let passed = match threshold.outcome {
            ThresholdOutcome::Passed => 1.0,
            ThresholdOutcome::Crossed => 0.0,
            ThresholdOutcome::NotJudged | ThresholdOutcome::Inconclusive => continue,
        };
        text.sample("", &[("threshold", &threshold.text)], passed);
    }
}

fn requests(text: &mut Text, summary: &Summary) {
    text.family("requests", "counter", "", "Requests of the measured phase by step and by how they ended.");
    for (step, label) in &summary.by_label {
        for (outcome, n) in &label.outcomes {
            text.sample("_total", &[("step", step), ("outcome", outcome)], *n as f64);
        }
    }
    if summary.by_label.is_empty() {
        for (outcome, n) in &summary.outcomes {
            text.sample("_total", &[("step", ""), ("outcome", outcome)], *n as f64);
        }
    }
}

fn histogram(text: &mut Text, summary: &Summary) {
    text.family(
        "response_seconds",
        "histogram",
        "seconds",
        "Response time (done - intended) by step; requests without an answer are in +Inf alone.",
    );
    for (step, label) in summary.by_label.iter().filter(|(_, label)| label.response.n > 0) {
        buckets(text, step, label);
    }
}

fn buckets(text: &mut Text, step: &str, label: &LabelSummary) {
    for bound in BUCKET_BOUNDS {
        let le = bound as f64 / 1e9;
        // Bounds at which the count does not grow are left out of the summary.
        let n = label.buckets.iter().take_while(|bucket| bucket.le <= le).last().map_or(0, |bucket| bucket.n);
        text.sample("_bucket", &[("step", step), ("le", &format!("{le:?}"))], n as f64);
    }
    let n = label.response.n as f64;
    text.sample("_bucket", &[("step", step), ("le", "+Inf")], n);
    text.sample("_count", &[("step", step)], n);
    if let Some(mean) = label.response.mean {
        text.sample("_sum", &[("step", step)], mean * n);
    }
}

/// Whether a number is a lower bound, as the value of a label.
fn bound(lower: &LowerBounds, name: &str) -> &'static str {
    if lower.contains_key(name) { "lower" } else { "none" }
}

/// Quantiles and mean with their intervals.
fn spread_gauges(text: &mut Text, name: &str, what: &str, spread: &Spread) {
    let ci = &spread.ci95;
    let quantiles = [
        ("p50", "0.5", spread.p50, ci.p50),
        ("p90", "0.9", spread.p90, ci.p90),
        ("p95", "0.95", spread.p95, ci.p95),
        ("p99", "0.99", spread.p99, ci.p99),
        ("p999", "0.999", spread.p999, ci.p999),
        ("max", "1", spread.max, None),
    ];
    let help = format!("{what}: quantiles; bound=\"lower\" where the true value is larger.");
    text.family(&format!("{name}_quantile_seconds"), "gauge", "seconds", &help);
    for (key, q, value, _) in quantiles {
        text.maybe(&[("quantile", q), ("bound", bound(&spread.lower_bound, key))], value);
    }
    let help = format!("{what}: ends of the 95 % confidence intervals of the quantiles.");
    text.family(&format!("{name}_quantile_ci95_seconds"), "gauge", "seconds", &help);
    for (_, q, _, interval) in quantiles {
        ends(text, &[("quantile", q)], interval);
    }
    text.family(&format!("{name}_mean_seconds"), "gauge", "seconds", &format!("{what}: mean."));
    text.maybe(&[("bound", bound(&spread.lower_bound, "mean"))], spread.mean);
    let help = format!("{what}: ends of the 95 % confidence interval of the mean.");
    text.family(&format!("{name}_mean_ci95_seconds"), "gauge", "seconds", &help);
    ends(text, &[], ci.mean);
}

fn ends(text: &mut Text, labels: Labels<'_>, interval: Option<Interval>) {
    for (end, value) in interval.into_iter().flat_map(|[low, high]| [("low", low), ("high", high)]) {
        text.sample("", &[labels, &[("end", end)]].concat(), value);
    }
}

fn tail_gauges(text: &mut Text, name: &str, what: &str, tail: &Tail) {
    text.family(&format!("{name}_quantile_seconds"), "gauge", "seconds", &format!("{what}: quantiles."));
    for (key, q, value) in [
        ("p50", "0.5", tail.p50),
        ("p99", "0.99", tail.p99),
        ("p999", "0.999", tail.p999),
        ("max", "1", tail.max),
    ] {
        text.maybe(&[("quantile", q), ("bound", bound(&tail.lower_bound, key))], value);
    }
}
