//! The [metrics](crate::metrics) of a run as a request to a collector of OpenTelemetry (OTLP 1, protobuf), and what its answer says.
//!
//! Names, units and labels are those of the OpenMetrics output, by the rules of the specification of OpenTelemetry on compatibility with
//! Prometheus: what Prometheus makes of them are the same series as those it scrapes. Deliberately absent: clocks, and sending.

use crate::metrics::{Family, Histogram, Kind, Labels, Sample, Value, families};
use crate::words::export::Rejected;
use headway_stats::Summary;
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    self as proto, AggregationTemporality, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;

/// Media type of the request.
pub const MEDIA_TYPE: &str = "application/x-protobuf";

/// The stretch that numbers are of, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// When the run began.
    pub from: u64,
    /// The instant of the numbers.
    pub to: u64,
}

/// The request that brings the numbers of a summary; `resource` says of whom they are.
pub fn request(summary: &Summary, resource: &[(String, String)], stretch: Stretch) -> Vec<u8> {
    let families = families(summary);
    let metrics = families.iter().filter(|family| !family.samples.is_empty());
    let scope = InstrumentationScope {
        name: "headway".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let of_scope = ScopeMetrics {
        scope: Some(scope),
        metrics: metrics.map(|family| metric(family, stretch)).collect(),
        ..ScopeMetrics::default()
    };
    let attributes = resource.iter().map(|(key, value)| attribute(key, value)).collect();
    let of_resource = ResourceMetrics {
        resource: Some(Resource { attributes, ..Resource::default() }),
        scope_metrics: vec![of_scope],
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest { resource_metrics: vec![of_resource] }.encode_to_vec()
}

/// What the collector rejected, by the body of its answer of success: an empty body says that it took everything. None for a body which is
/// not of OTLP.
pub fn rejected(answer: &[u8]) -> Option<Rejected> {
    // Text may decode as unknown fields. A message of this kind has bytes that text has not: tags of fields, or the length 0.
    let is_text = answer.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..));
    if is_text && !answer.is_empty() {
        return None;
    }
    let partial = ExportMetricsServiceResponse::decode(answer).ok()?.partial_success.unwrap_or_default();
    let numbers = u64::try_from(partial.rejected_data_points).unwrap_or(0);
    let why = if numbers > 0 { partial.error_message } else { String::new() };
    Some(Rejected { numbers, why })
}

fn metric(family: &Family, stretch: Stretch) -> Metric {
    let Family { name, kind, unit, help, samples } = family;
    let cumulative = AggregationTemporality::Cumulative as i32;
    let numbers =
        || samples.iter().filter_map(|sample| number(sample, *kind == Kind::Counter, stretch)).collect();
    let (suffix, data) = match kind {
        Kind::Gauge | Kind::StateSet => ("", metric::Data::Gauge(proto::Gauge { data_points: numbers() })),
        Kind::Info => ("_info", metric::Data::Gauge(proto::Gauge { data_points: numbers() })),
        Kind::Counter => {
            let sum = proto::Sum {
                data_points: numbers(),
                aggregation_temporality: cumulative,
                is_monotonic: true,
            };
            ("", metric::Data::Sum(sum))
        }
        Kind::Histogram => {
            let points = samples.iter().filter_map(|sample| histogram(sample, stretch)).collect();
            let histogram = proto::Histogram { data_points: points, aggregation_temporality: cumulative };
            ("", metric::Data::Histogram(histogram))
        }
    };
    Metric {
        name: format!("{name}{suffix}"),
        description: help.clone(),
        // As UCUM has them.
        unit: match *unit {
            "seconds" => "s".to_owned(),
            "bytes" => "By".to_owned(),
            other => other.to_owned(),
        },
        data: Some(data),
        ..Metric::default()
    }
}

fn number(sample: &Sample, whole: bool, stretch: Stretch) -> Option<NumberDataPoint> {
    let Value::Number(value) = sample.value else { return None };
    let value = match whole {
        true => number_data_point::Value::AsInt(value as i64),
        false => number_data_point::Value::AsDouble(value),
    };
    Some(NumberDataPoint {
        attributes: attributes(&sample.labels),
        // A gauge has no beginning.
        start_time_unix_nano: if whole { stretch.from } else { 0 },
        time_unix_nano: stretch.to,
        value: Some(value),
        ..NumberDataPoint::default()
    })
}

fn histogram(sample: &Sample, stretch: Stretch) -> Option<HistogramDataPoint> {
    let Value::Histogram(Histogram { up_to, n, sum }) = &sample.value else { return None };
    let counts = up_to.iter().map(|(_, n)| *n).chain([*n]);
    let below = [0].into_iter().chain(up_to.iter().map(|(_, n)| *n));
    Some(HistogramDataPoint {
        attributes: attributes(&sample.labels),
        start_time_unix_nano: stretch.from,
        time_unix_nano: stretch.to,
        count: *n,
        sum: *sum,
        bucket_counts: counts.zip(below).map(|(n, below)| n.saturating_sub(below)).collect(),
        explicit_bounds: up_to.iter().map(|(bound, _)| *bound).collect(),
        ..HistogramDataPoint::default()
    })
}

fn attributes(labels: &Labels) -> Vec<KeyValue> {
    labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::{LabelSummary, ResponseBucket, Spread};
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsPartialSuccess;

    /// Counts up to bounds become counts between them, which add up to all of them.
    #[test]
    fn a_histogram_has_counts_between_its_bounds() {
        let of = LabelSummary {
            buckets: vec![ResponseBucket { le: 0.001, n: 3 }, ResponseBucket { le: 0.005, n: 10 }],
            response: Spread { n: 12, mean: Some(0.25), ..Spread::default() },
            outcomes: [("ok".to_owned(), 12)].into(),
            ..LabelSummary::default()
        };
        let summary = Summary { by_label: [("list".into(), of)].into(), ..Summary::default() };
        let resource = [("service.name".to_owned(), "headway".to_owned())];
        let bytes = request(&summary, &resource, Stretch { from: 5, to: 7 });
        let read = ExportMetricsServiceRequest::decode(&bytes[..]).unwrap();
        let [of_resource] = &read.resource_metrics[..] else { panic!("{read:?}") };
        assert_eq!(of_resource.resource.as_ref().unwrap().attributes, [attribute("service.name", "headway")]);
        let metrics = &of_resource.scope_metrics[0].metrics;
        let find = |name: &str| {
            metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("{name}"))
        };
        let Some(metric::Data::Histogram(histogram)) = &find("headway_response_seconds").data else {
            panic!()
        };
        let [point] = &histogram.data_points[..] else { panic!("{histogram:?}") };
        assert_eq!(
            (point.count, point.sum, point.start_time_unix_nano, point.time_unix_nano),
            (12, Some(3.0), 5, 7)
        );
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), 12);
        let at = |bound: f64| point.explicit_bounds.iter().position(|of| *of == bound).unwrap();
        assert_eq!([at(0.001), at(0.005)].map(|i| point.bucket_counts[i]), [3, 7]);
        assert_eq!(
            (find("headway_response_seconds").unit.as_str(), point.bucket_counts.last()),
            ("s", Some(&2))
        );
        let Some(metric::Data::Sum(sum)) = &find("headway_requests").data else { panic!() };
        assert!(sum.is_monotonic);
        assert_eq!(sum.data_points[0].value, Some(number_data_point::Value::AsInt(12)));
        assert!(metrics.iter().all(|metric| metric.name != "headway_threshold_passed"), "it has no samples");
    }

    #[test]
    fn what_was_not_taken_is_read() {
        let answer = |partial_success| ExportMetricsServiceResponse { partial_success }.encode_to_vec();
        let partial =
            |n| ExportMetricsPartialSuccess { rejected_data_points: n, error_message: "full".into() };
        assert_eq!(rejected(&answer(Some(partial(3)))), Some(Rejected { numbers: 3, why: "full".into() }));
        let empty = ExportMetricsPartialSuccess::default();
        for none in
            [&answer(Some(partial(0)))[..], &answer(Some(partial(-1))), &answer(Some(empty)), &answer(None)]
        {
            assert_eq!(rejected(none), Some(Rejected::default()));
        }
        // `0x` decodes: as a field 6, which a later version of the message may have.
        for other in
            ["<!DOCTYPE html><title>Log in</title>", "\n<html>\n", "{\"partialSuccess\":{}}", "ok", "0x"]
        {
            assert_eq!(rejected(other.as_bytes()), None, "{other}");
        }
        assert_eq!(rejected(b"\x1f\x8b\x08\x00"), None, "it is compressed");
    }
}
