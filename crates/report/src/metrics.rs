//! The numbers of a run as metrics: families with units, labels and samples. Outputs for monitoring systems write them, each in its
//! own form.
//!
//! Requests without an answer are above every bound of a histogram, and in its sum with the time after which they were given up.
//! Deliberately absent: series over time, which a monitoring system makes itself, and forms.

use headway_stats::Summary;
use headway_stats::metric::{Block, Metric};
use headway_stats::summary::{
    BUCKET_BOUNDS, Interval, LabelSummary, LoadVerdict, LowerBounds, Source, Spread, Tail, ThresholdOutcome,
    ThresholdUnit,
};

/// What the samples of a family are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Facts in labels, with the value 1.
    Info,
    /// A number that may fall.
    Gauge,
    /// One state of several: its value is 1, that of the others 0.
    StateSet,
    /// A number that only grows during a run.
    Counter,
    /// Counts up to bounds.
    Histogram,
}

/// Samples of one name.
pub(crate) struct Family {
    /// Its name; the unit, if it has one, is the end of it.
    pub name: String,
    pub kind: Kind,
    /// `seconds`, `bytes`, or nothing.
    pub unit: &'static str,
    pub help: String,
    pub samples: Vec<Sample>,
}

/// Names and values.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// A number, or a histogram, and its labels.
pub(crate) struct Sample {
    pub labels: Labels,
    pub value: Value,
}

/// The value of a sample.
pub(crate) enum Value {
    Number(f64),
    Histogram(Histogram),
}

/// Requests by response time.
pub(crate) struct Histogram {
    /// Each bound in seconds, in their order, and how many took at most that.
    pub up_to: Vec<(f64, u64)>,
    /// All of them.
    pub n: u64,
    /// Sum of their times in seconds, where there is a mean.
    pub sum: Option<f64>,
}

impl Family {
    fn new(name: &str, kind: Kind, unit: &'static str, help: &str) -> Family {
        let (name, help) = (format!("headway_{name}"), help.to_owned());
        Family { name, kind, unit, help, samples: Vec::new() }
    }

    fn gauge(name: &str, unit: &'static str, help: &str) -> Family {
        Family::new(name, Kind::Gauge, unit, help)
    }

    fn sample(mut self, labels: &[(&'static str, &str)], value: f64) -> Family {
        self.push(labels, Value::Number(value));
        self
    }

    /// With a sample, if there is a number.
    fn maybe(self, labels: &[(&'static str, &str)], value: Option<f64>) -> Family {
        match value {
            Some(value) => self.sample(labels, value),
            None => self,
        }
    }

    fn push(&mut self, labels: &[(&'static str, &str)], value: Value) {
        let labels = labels.iter().map(|&(name, value)| (name, value.to_owned())).collect();
        self.samples.push(Sample { labels, value });
    }
}

/// All families of a run.
pub(crate) fn families(summary: &Summary) -> Vec<Family> {
    let mut all = run(summary);
    all.extend([verdict(summary), thresholds(summary), requests(summary), responses(summary)]);
    for metric in Metric::all() {
        let Some(name) = metric.shown.family else { continue };
        match metric.block {
            Block::Tail(block) => all.push(tail(name, metric, block(summary))),
            _ => all.extend(summary.spread(metric).into_iter().flat_map(|block| spread(name, metric, block))),
        }
    }
    all
}

fn run(summary: &Summary) -> Vec<Family> {
    let source = match summary.source {
        Source::Live => "live",
        Source::Sim => "sim",
        Source::Import => "import",
    };
    let seed = summary.seed.map(|seed| seed.to_string()).unwrap_or_default();
    let (rate, of) = (&summary.rate, |name| [("of", name)]);
    let info = Family::new("run", Kind::Info, "", "The run that these numbers are of.");
    let measured = "Length of the measured phase, to which all numbers belong.";
    let transfer = "Bytes of requests and responses per second, before TLS.";
    let cov = "Coefficient of variation of inter-arrival times: independent users 1, evenly paced 0.";
    vec![
        info.sample(&[("name", &summary.name), ("source", source), ("seed", &seed)], 1.0),
        Family::gauge("measured_seconds", "seconds", measured)
            .sample(&[], (summary.measured.to_s - summary.measured.from_s).max(0.0)),
        Family::gauge("request_rate", "", "Requests per second of the measured phase.")
            .maybe(&of("offered"), rate.offered)
            .maybe(&of("sent"), rate.started)
            .maybe(&of("throughput"), rate.throughput)
            .maybe(&of("goodput"), rate.goodput),
        Family::gauge("transfer_rate", "", transfer)
            .maybe(&of("received"), rate.bytes_received)
            .maybe(&of("sent"), rate.bytes_sent),
        Family::gauge("interarrival_cov", "", cov).maybe(&[], summary.arrivals.cov),
    ]
}

fn verdict(summary: &Summary) -> Family {
    let mut family =
        Family::new("load_verdict", Kind::StateSet, "", "Whether the load was sent as specified.");
    for (name, verdict) in [
        ("VALID", LoadVerdict::Valid),
        ("INVALID", LoadVerdict::Invalid),
        ("INCONCLUSIVE", LoadVerdict::Inconclusive),
    ] {
        let is = summary.verdict.load == Some(verdict);
        family = family.sample(&[("headway_load_verdict", name)], f64::from(u8::from(is)));
    }
    family
}

fn thresholds(summary: &Summary) -> Family {
    let help = "Thresholds that were judged: 1 if one holds, 0 if it is crossed.";
    let mut family = Family::gauge("threshold_passed", "", help);
    for threshold in &summary.thresholds {
        let passed = match threshold.outcome {
            ThresholdOutcome::Passed => 1.0,
            ThresholdOutcome::Crossed => 0.0,
            ThresholdOutcome::NotJudged | ThresholdOutcome::Inconclusive => continue,
        };
        family = family.sample(&[("threshold", &threshold.text)], passed);
    }
    family
}

fn requests(summary: &Summary) -> Family {
    let help = "Requests of the measured phase by step and by how they ended.";
    let mut family = Family::new("requests", Kind::Counter, "", help);
    let by_label = summary.by_label.iter().map(|(step, label)| (step.as_str(), &label.outcomes));
    let all = summary.by_label.is_empty().then_some(("", &summary.outcomes));
    for (step, outcomes) in by_label.chain(all) {
        for (outcome, n) in outcomes {
            family = family.sample(&[("step", step), ("outcome", outcome)], *n as f64);
        }
    }
    family
}

fn responses(summary: &Summary) -> Family {
    let help = "Response time (done - intended) by step; requests without an answer are in +Inf alone.";
    let mut family = Family::new("response_seconds", Kind::Histogram, "seconds", help);
    for (step, label) in summary.by_label.iter().filter(|(_, label)| label.response.n > 0) {
        family.push(&[("step", step)], Value::Histogram(histogram(label)));
    }
    family
}

fn histogram(label: &LabelSummary) -> Histogram {
    let up_to = |bound: u64| {
        let le = bound as f64 / 1e9;
        // Bounds at which the count does not grow are left out of the summary.
        (le, label.buckets.iter().take_while(|bucket| bucket.le <= le).last().map_or(0, |bucket| bucket.n))
    };
    let n = label.response.n;
    Histogram {
        up_to: BUCKET_BOUNDS.into_iter().map(up_to).collect(),
        n,
        sum: label.response.mean.map(|mean| mean * n as f64),
    }
}

/// Whether a number is a lower bound, as the value of a label.
fn bound(lower: &LowerBounds, name: &str) -> &'static str {
    if lower.contains_key(name) { "lower" } else { "none" }
}

/// The unit of a metric, as names of families end.
fn unit(metric: Metric) -> &'static str {
    match metric.unit {
        ThresholdUnit::Bytes => "bytes",
        _ => "seconds",
    }
}

/// Quantiles and mean with their intervals.
fn spread(name: &str, metric: Metric, spread: &Spread) -> [Family; 4] {
    let gauge = |of: &str, help: &str| {
        let unit = unit(metric);
        Family::gauge(&format!("{name}_{of}_{unit}"), unit, &format!("{}: {help}", metric.about))
    };
    let ci = &spread.ci95;
    let mut quantiles = gauge("quantile", "quantiles; bound=\"lower\" where the true value is larger.");
    let mut intervals = gauge("quantile_ci95", "ends of the 95 % confidence intervals of the quantiles.");
    for (key, q, value, interval) in [
        ("p50", "0.5", spread.p50, ci.p50),
        ("p90", "0.9", spread.p90, ci.p90),
        ("p95", "0.95", spread.p95, ci.p95),
        ("p99", "0.99", spread.p99, ci.p99),
        ("p999", "0.999", spread.p999, ci.p999),
        ("max", "1", spread.max, None),
    ] {
        quantiles = quantiles.maybe(&[("quantile", q), ("bound", bound(&spread.lower_bound, key))], value);
        intervals = ends(intervals, &[("quantile", q)], interval);
    }
    let mean = gauge("mean", "mean.").maybe(&[("bound", bound(&spread.lower_bound, "mean"))], spread.mean);
    let of_mean = gauge("mean_ci95", "ends of the 95 % confidence interval of the mean.");
    [quantiles, intervals, mean, ends(of_mean, &[], ci.mean)]
}

fn ends(mut family: Family, labels: &[(&'static str, &str)], interval: Option<Interval>) -> Family {
    for (end, value) in interval.into_iter().flat_map(|[low, high]| [("low", low), ("high", high)]) {
        family = family.sample(&[labels, &[("end", end)]].concat(), value);
    }
    family
}

fn tail(name: &str, metric: Metric, tail: &Tail) -> Family {
    let (help, unit) = (format!("{}: quantiles.", metric.about), unit(metric));
    let mut family = Family::gauge(&format!("{name}_quantile_{unit}"), unit, &help);
    for (key, q, value) in [
        ("p50", "0.5", tail.p50),
        ("p99", "0.99", tail.p99),
        ("p999", "0.999", tail.p999),
        ("max", "1", tail.max),
    ] {
        family = family.maybe(&[("quantile", q), ("bound", bound(&tail.lower_bound, key))], value);
    }
    family
}
