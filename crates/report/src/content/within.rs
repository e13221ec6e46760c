//! Which share of the requests kept to the limits that thresholds put on response times.
//!
//! From the histogram of response times, whose edges are round numbers: a limit between two of them has a range. Deliberately absent:
//! whether a threshold holds, which its own table says.

use super::{Cell, Column, Row, Table};
use crate::format::{chosen_time, count, share};
use headway_stats::Summary;
use headway_stats::metric::Metric;
use headway_stats::summary::{Operator, ThresholdResult, ThresholdUnit};

/// Limits from above on the response time of all requests, ascending, each once.
fn limits(summary: &Summary) -> Vec<f64> {
    let is_limit = |of: &&ThresholdResult| {
        let upper = matches!(of.operator, Operator::Below | Operator::AtMost);
        of.metric == Metric::RESPONSE.name && of.step.is_none() && of.unit == ThresholdUnit::Seconds && upper
    };
    let mut limits: Vec<f64> = summary.thresholds.iter().filter(is_limit).map(|of| of.limit).collect();
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    limits
}

/// A row for each limit; none without a limit or without responses.
pub(crate) fn table(summary: &Summary) -> Option<Table> {
    let (bins, n) = (&summary.curves.response_histogram, summary.response.n);
    let limits = limits(summary);
    if limits.is_empty() || bins.is_empty() || n == 0 {
        return None;
    }
    let row = |limit: &f64| {
        // The width of a cell of the histogram that the bins were made of, and less.
        let (below, above) = (limit * 0.999, limit * 1.001);
        let sum = |of: &dyn Fn(f64, Option<f64>) -> bool| -> u64 {
            let held = bins.iter().filter(|bin| of(bin.from, bin.to)).map(|bin| bin.n);
            held.fold(0, u64::saturating_add).min(n)
        };
        let least = sum(&|_, to| to.is_some_and(|to| to <= above));
        let most = sum(&|from, _| from < below).max(least);
        let of = |n_within: u64| share(n_within as f64 / n as f64);
        let text = if least == most { of(least) } else { format!("{} to {}", of(least), of(most)) };
        let counted =
            if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) };
        Row::from(vec![
            Cell::new(chosen_time(*limit)),
            Cell::new(text),
            Cell::new(counted),
            Cell::new(count(n)),
        ])
    };
    Some(Table {
        caption: "Requests that got a response within the limits of the thresholds".into(),
        columns: vec![
            Column::word("within", 12),
            Column::number("share", 20),
            Column::number("requests", 20),
            Column::number("of", 12),
        ],
        rows: limits.iter().map(row).collect(),
        row: "limit",
        ..Table::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::{HistogramBin, Spread};

    #[test]
    fn a_limit_on_an_edge_has_a_share_and_one_between_two_a_range() {
        let bin = |(from, to, n)| HistogramBin { from, to, n };
        let bins = [(0.08, Some(0.09), 50), (0.09, Some(0.1), 30), (0.1, Some(0.112), 10), (0.112, None, 6)];
        let mut summary = Summary { response: Spread { n: 100, ..Spread::default() }, ..Summary::default() };
        summary.curves.response_histogram = bins.map(bin).to_vec();
        assert!(table(&summary).is_none());
        let threshold = |limit: f64, operator| ThresholdResult {
            metric: "response".into(),
            unit: ThresholdUnit::Seconds,
            limit,
            operator,
            ..ThresholdResult::default()
        };
        let below = |limit| threshold(limit, Operator::Below);
        summary.thresholds = vec![below(0.105), below(0.1), below(0.1), threshold(0.5, Operator::Above)];
        summary.thresholds.push(ThresholdResult { step: Some("pay".into()), ..below(0.09) });
        summary.thresholds.extend([below(0.01), below(5.0)]);
        let table = table(&summary).unwrap();
        let texts =
            |row: &Row| row.cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>().join(" | ");
        let shown: Vec<String> = table.rows.iter().map(texts).collect();
        assert_eq!(
            shown,
            [
                "10 ms | 0 % | 0 | 100",
                "100 ms | 80.0 % | 80 | 100",
                "105 ms | 80.0 % to 90.0 % | 80 to 90 | 100",
                "5 s | 90.0 % to 96.0 % | 90 to 96 | 100"
            ]
        );
    }
}
