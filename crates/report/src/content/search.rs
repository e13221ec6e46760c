//! What the report of a search holds: the knee at several limits, and the trials.

use super::{Block, Cell, Column, Note, Row, Section, Table};
use crate::format::{number, percentile, share, time, time_range};
use crate::words::Tone;
use crate::words::search::{about, became, between, other_limit, outcome, why};
use headway_stats::metric::{Aggregate, Metric};
use headway_stats::search::{Found, RateOf, Searched, TrialRow};
use headway_stats::summary::LoadVerdict;
use headway_stats::thresholds::Threshold;

/// One row for each target: the knee, and what became of its search.
pub(crate) fn targets(searched: &Searched) -> Section {
    let row = |found: &Found| {
        let (word, tone) = became(found.outcome);
        Row::from(vec![
            Cell::new(found.name.clone()),
            Cell::new(about(found, found.estimate, found.interval)),
            Cell::new(found.reached.map_or_else(|| "-".to_owned(), share)),
            Cell::toned(tone, word),
            Cell::new(found.trials.len().to_string()),
            Cell::new(crate::format::count(found.requests)),
            Cell::new(time(found.took_s)),
            Cell::new(found.target.clone()),
        ])
    };
    let table = Table {
        caption: "The knee of each target".to_owned(),
        columns: vec![
            Column::word("target", 14),
            Column::number("the knee", 34),
            Column::number("+-", 8),
            Column::number("outcome", 14),
            Column::number("trials", 7),
            Column::number("requests in all", 0),
            Column::number("took", 0),
            Column::word("URL", 0),
        ],
        rows: searched.targets.iter().map(row).collect(),
        most_rows: 40,
        row: "target",
        ..Table::default()
    };
    let note = Note::faint("One trial of each target in turn, so that what the hour does hits all alike.");
    Section {
        id: "targets",
        title: "The knee of each target".to_owned(),
        blocks: vec![Block::Table(table), note],
    }
}

/// The knee at half, once and twice the limits of response times.
pub(crate) fn limits(found: &Found) -> Option<Section> {
    if found.other_limits.is_empty() {
        return None;
    }
    let row =
        |factor: f64, text: String| Row::from(vec![Cell::new(format!("{factor} times")), Cell::new(text)]);
    let mut rows: Vec<Row> =
        found.other_limits.iter().map(|other| row(other.factor, other_limit(found, other))).collect();
    rows.insert(1.min(rows.len()), row(1.0, between(found, found.interval)));
    let table = Table {
        caption: "The knee at other limits of the response time".to_owned(),
        columns: vec![Column::word("limit", 12), Column::word("the knee lies", 40)],
        rows,
        ..Table::default()
    };
    let note = Note::faint(
        "From the same trials, which were made for the limit itself: at other limits the interval is wider.",
    );
    Some(Section {
        id: "limits",
        title: "The knee at other limits".to_owned(),
        blocks: vec![Block::Table(table), note],
    })
}

/// The trials, in the order in which they were played.
pub(crate) fn trials(found: &Found) -> Option<Section> {
    if found.trials.is_empty() {
        return None;
    }
    let (what, several) = if found.sweep.is_empty() { ("trial", "Trials") } else { ("run", "Runs") };
    let asked = asked_percentile(found);
    let time_of = |&percent: &f64| match percent == asked {
        true => Column { intervals: 20, ..Column::number(percentile(percent), 10) },
        false => Column::number(percentile(percent), 0),
    };
    let mut columns = vec![
        Column::number(what, 7),
        Column::number(of_arrivals(found), 10),
        Column::number("offered", 0),
        Column::number(if found.rate_of == RateOf::Requests { "sent" } else { "requests" }, 10),
        Column::number("goodput", 0),
        Column::number("load", 13),
    ];
    columns.extend(percentiles(found).iter().map(time_of));
    columns.extend([
        Column::number("failed", 0),
        Column::number("requests in all", 0),
        Column::number("outcome", 10),
        Column::word("why it ended", 0),
    ]);
    let rows = found.trials.iter().enumerate().map(|(i, row)| trial(found, i + 1, row).into());
    let table = Table {
        caption: several.to_owned(),
        columns,
        rows: rows.collect(),
        most_rows: 40,
        row: what,
        ..Table::default()
    };
    Some(Section {
        id: "trials",
        title: format!("{several} (rates per second)"),
        blocks: vec![Block::Table(table)],
    })
}

/// The percentile of the response time that the search asks for; the 99th where it asks for none.
pub(crate) fn asked_percentile(found: &Found) -> f64 {
    let read = found.thresholds.iter().filter_map(|text| text.parse::<Threshold>().ok());
    let asked = read.filter(|of| of.metric == Metric::RESPONSE && of.step.is_none()).find_map(|of| match of
        .aggregate
    {
        Aggregate::Percentile(percent) => Some(percent),
        _ => None,
    });
    // A search of an earlier version has no other than some.
    let known =
        |percent: &f64| found.trials.iter().any(|row| row.response.iter().any(|of| of.percent == *percent));
    asked.filter(known).unwrap_or(99.0)
}

/// The percentiles of the trials that are shown, in their order.
pub(crate) fn percentiles(found: &Found) -> Vec<f64> {
    let mut all = vec![50.0, 99.0, 99.9];
    let asked = asked_percentile(found);
    if !all.contains(&asked) {
        all.push(asked);
        all.sort_by(f64::total_cmp);
    }
    all
}

/// What arrives, as the heading of its rate.
pub(crate) fn of_arrivals(found: &Found) -> &'static str {
    match found.rate_of {
        RateOf::Requests => "rate",
        RateOf::Sessions => "sessions",
        RateOf::Users => "users",
    }
}

/// A rate without its unit, or a number of users.
pub(crate) fn level(found: &Found, rate: f64) -> String {
    if found.rate_of == RateOf::Users { crate::format::count(rate as u64) } else { number(rate) }
}

fn trial(found: &Found, n: usize, row: &TrialRow) -> Vec<Cell> {
    let per_second = |x: Option<f64>| Cell::new(x.map_or_else(|| "-".to_owned(), number));
    let of_time = |percent: f64| {
        let Some(found) = row.response.iter().find(|p| p.percent == percent) else { return Cell::new("-") };
        let more = if found.lower_bound { "> " } else { "" };
        let mut cell = Cell::new(format!("{more}{}", time(found.value)));
        cell.interval = Some(found.ci95.map_or_else(String::new, |[low, high]| time_range(low, high)));
        cell
    };
    let (word, tone) = outcome(row.ended);
    let verdict = match row.verdict {
        Some(LoadVerdict::Valid) => Cell::toned(Tone::Good, "VALID"),
        Some(LoadVerdict::Invalid) => Cell::toned(Tone::Bad, "INVALID"),
        Some(LoadVerdict::Inconclusive) => Cell::toned(Tone::Warn, "INCONCLUSIVE"),
        None => Cell::new("-"),
    };
    let mut cells = vec![
        Cell::new(n.to_string()),
        Cell::new(level(found, row.rate)),
        per_second(row.offered),
        per_second(row.sent),
        per_second(row.goodput),
        verdict,
    ];
    cells.extend(percentiles(found).into_iter().map(of_time));
    cells.extend([
        Cell::new(row.failed.map_or_else(|| "-".to_owned(), share)),
        Cell::new(crate::format::count(row.requests)),
        Cell::toned(tone, word),
        Cell::new(why(found, row)),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_redact::clear;
    use headway_stats::search::Percentile;

    fn found(thresholds: &[&str], percents: &[f64]) -> Found {
        let response =
            percents.iter().map(|&percent| Percentile { percent, value: 0.1, ..Percentile::default() });
        Found {
            thresholds: thresholds.iter().map(|&text| clear(text)).collect(),
            trials: vec![TrialRow { response: response.collect(), ..TrialRow::default() }],
            ..Found::default()
        }
    }

    #[test]
    fn the_percentile_that_is_asked_for_has_the_column_with_the_interval() {
        let with_interval = |found: &Found| {
            let Some(Block::Table(table)) = trials(found).unwrap().blocks.pop() else { panic!("a table") };
            assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
            let columns = table.columns.iter().filter(|column| column.intervals > 0 && column.width > 0);
            columns.map(|column| column.title.clone()).collect::<Vec<_>>().join(", ")
        };
        let all = [50.0, 90.0, 95.0, 99.0, 99.9];
        assert_eq!(with_interval(&found(&["p(95)<100ms"], &all)), "p95");
        assert_eq!(with_interval(&found(&["failed:rate<0.01", "p(99.9)<1s"], &all)), "p99.9");
        assert_eq!(with_interval(&found(&["failed:rate<0.01"], &all)), "p99");
        // A document of an earlier version does not have it.
        assert_eq!(with_interval(&found(&["p(95)<100ms"], &[50.0, 90.0, 99.0, 99.9])), "p99");
        assert_eq!(percentiles(&found(&["p(95)<100ms"], &all)), [50.0, 95.0, 99.0, 99.9]);
    }
}
