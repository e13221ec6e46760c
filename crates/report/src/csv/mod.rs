//! The tables of a summary as CSV files for spreadsheets and scripts: one header row with units in the names, every
//! number with all its digits, an empty field where there is none. Names from outside cannot act as formulas (`cells`).
//!
//! With Brady's rule of quantiles the tables by label have his layout and rounding instead (`brady`).
//!
//! Deliberately absent: reasons for missing numbers, the verdict, and whatever else is no table; the JSON document has
//! them. A table without rows is no file.

mod cells;

pub use cells::{quoted, text};

use crate::brady::{self, Grid, Table};
use crate::format::percentile;
use ::csv::WriterBuilder;
use headway_stats::Summary;
use headway_stats::metric::{Aggregate, Metric};
use headway_stats::summary::{Column, HeadwayBin, PERCENTILES, Tables, ThresholdUnit};

/// A file's name and what it holds.
type File = (&'static str, Vec<u8>);

/// A measure of the tables by label.
struct Measure {
    file: &'static str,
    unit: &'static str,
    rows: fn(&Tables) -> &Vec<Column>,
}

const MEASURES: [Measure; 5] = [
    Measure { file: "headways.csv", unit: "s", rows: |tables| &tables.headways },
    Measure { file: "response.csv", unit: "s", rows: |tables| &tables.response },
    Measure { file: "first_byte.csv", unit: "s", rows: |tables| &tables.first_byte },
    Measure { file: "bytes.csv", unit: "bytes", rows: |tables| &tables.bytes },
    Measure { file: "bandwidth.csv", unit: "bytes_per_s", rows: |tables| &tables.bandwidth },
];

/// Every table that has rows, as name and content of a file.
pub fn files(summary: &Summary) -> Vec<(&'static str, Vec<u8>)> {
    let mut files: Vec<File> = Vec::new();
    let mut add = |name, grid: Option<Grid>| {
        files.extend(grid.filter(|grid| !grid.rows.is_empty()).map(|grid| (name, bytes(&grid))));
    };
    if let Some(audit) = brady::asked(summary) {
        let his = [
            ("arr.csv", Table::Arrivals),
            ("agg.csv", Table::Response),
            ("byte.csv", Table::Bytes),
            ("rt_1st.csv", Table::FirstByte),
        ];
        for (name, table) in his {
            add(name, brady::table(audit, table, brady::columns(audit, table)).map(his_labels));
        }
        add("bandwidth.csv", Some(by_label(&MEASURES[4], &audit.tables, &audit.percentiles)));
        add("thread_groups.csv", brady::groups(summary));
    } else {
        if let Some(audit) = &summary.audit {
            for measure in &MEASURES {
                add(measure.file, Some(by_label(measure, &audit.tables, &audit.percentiles)));
            }
        }
        add("thread_groups.csv", Some(groups(summary)));
    }
    add("dispersion.csv", Some(dispersion(summary)));
    add("failures.csv", failures(summary));
    add("counts.csv", counts(summary));
    add("headway_histogram.csv", headways(summary));
    if brady::asked(summary).is_none() {
        add("metrics.csv", Some(metrics(summary)));
    }
    files
}

fn bytes(grid: &Grid) -> Vec<u8> {
    // Rows may be ragged only in a document from elsewhere; they are written as they are.
    let mut writer = WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in std::iter::once(&grid.head).chain(&grid.rows) {
        writer.write_record(row).expect("memory takes all bytes");
    }
    writer.into_inner().expect("memory takes all bytes")
}

/// All digits, the shortest text that reads back as the same number; scientific where plain digits would be many.
fn exact(x: f64) -> String {
    match x.abs() {
        _ if !x.is_finite() => String::new(),
        0.0 | 1e-6..1e15 => format!("{x}"),
        _ => format!("{x:e}"),
    }
}

fn maybe(value: Option<f64>) -> String {
    value.map_or(String::new(), exact)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn by_label(measure: &Measure, tables: &Tables, percentiles: &[f64]) -> Grid {
    let unit = measure.unit;
    let in_unit = |name: &str| format!("{name}_{unit}");
    let mut head = names(&["label", "n", "rate_per_s"]);
    head.extend(["median", "mean", "sd"].map(in_unit));
    head.extend(names(&["cov", "cov_se", "cov_se_if_poisson"]));
    head.push(in_unit("vmr"));
    head.extend(percentiles.iter().map(|&p| format!("{}_{unit}", percentile(p))));
    head.extend(["min", "max"].map(in_unit));
    head.extend(names(&["failed", "received_bytes_per_s"]));
    let left_out = measure.file == "bandwidth.csv";
    head.extend(left_out.then(|| "without_elapsed_time".to_owned()));
    let row = |column: &Column| {
        let mut cells = vec![text(&column.label).into_owned(), column.n.to_string()];
        let moments = [column.rate, column.median, column.mean, column.sd, column.cov, column.cov_se];
        cells.extend(moments.map(maybe));
        cells.extend([column.cov_se_poisson, column.vmr].map(maybe));
        cells.extend((0..percentiles.len()).map(|i| maybe(column.percentiles.get(i).copied().flatten())));
        cells.extend([column.min, column.max].map(maybe));
        cells.extend([column.failed.to_string(), maybe(column.bytes_per_second)]);
        cells.extend(left_out.then(|| column.left_out.to_string()));
        cells
    };
    Grid { head, rows: (measure.rows)(tables).iter().map(row).collect() }
}

/// A row for each metric that was observed: its numbers over all steps.
fn metrics(summary: &Summary) -> Grid {
    let percentiles = PERCENTILES.map(Aggregate::Percentile);
    let numbers = || [Aggregate::Mean].into_iter().chain(percentiles);
    let mut head = names(&["metric", "unit", "n", "censored", "sd", "cov", "min", "max"]);
    for key in numbers().map(Aggregate::key) {
        head.extend([key.clone(), format!("{key}_ci95_low"), format!("{key}_ci95_high")]);
    }
    let row = |metric: Metric| {
        let spread = summary.spread(metric).filter(|spread| spread.n > 0)?;
        let unit = if metric.unit == ThresholdUnit::Bytes { "bytes" } else { "s" };
        let mut cells = names(&[metric.name, unit]);
        cells.extend([spread.n.to_string(), spread.censored.to_string()]);
        cells.extend([spread.sd, spread.cov, spread.min, spread.max].map(maybe));
        for aggregate in numbers() {
            let (value, interval) = spread.number(aggregate).unwrap_or_default();
            cells.push(maybe(value));
            cells.extend([0, 1].map(|end| maybe(interval.map(|ends| ends[end]))));
        }
        Some(cells)
    };
    Grid { head, rows: Metric::all().filter_map(row).collect() }
}

/// His tool writes `_` for each of these characters in a label, and none at its end.
fn his_labels(mut grid: Grid) -> Grid {
    for label in grid.rows.iter_mut().filter_map(|row| row.first_mut()) {
        let special = |c: char| matches!(c, ' ' | '/' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '#');
        *label = text(&label.trim_end_matches(special).replace(special, "_")).into_owned();
    }
    grid
}

fn groups(summary: &Summary) -> Grid {
    let head =
        ["group", "users", "headways", "rate_per_s", "headway_mean_s", "headway_sd_s", "cov", "cov_se"];
    let row = |group: &headway_stats::summary::ThreadGroup| {
        let mut cells = vec![text(&group.name).into_owned(), group.users.to_string(), group.n.to_string()];
        let numbers = [group.rate, group.headway_mean, group.headway_sd, group.cov, group.cov_se];
        cells.extend(numbers.map(maybe));
        cells
    };
    Grid { head: names(&head), rows: summary.thread_groups.iter().map(row).collect() }
}

fn dispersion(summary: &Summary) -> Grid {
    let head = ["window_s", "windows", "index", "se_of_an_index_of_1", "expected", "intended"];
    let row = |row: &headway_stats::summary::Dispersion| {
        vec![
            exact(row.window),
            row.windows.to_string(),
            exact(row.index),
            exact(row.se),
            exact(row.expected),
            maybe(row.intended),
        ]
    };
    Grid { head: names(&head), rows: summary.arrivals.dispersion.iter().map(row).collect() }
}

fn failures(summary: &Summary) -> Option<Grid> {
    let head = ["outcome", "status", "message", "n", "first_s", "last_s"];
    let row = |kind: &headway_stats::summary::FailureKind| {
        let status = if kind.status > 0 { kind.status.to_string() } else { String::new() };
        let (outcome, message) = (text(&kind.outcome).into_owned(), text(&kind.message).into_owned());
        vec![outcome, status, message, kind.n.to_string(), exact(kind.first_s), exact(kind.last_s)]
    };
    Some(Grid { head: names(&head), rows: summary.audit.as_ref()?.failures.iter().map(row).collect() })
}

fn counts(summary: &Summary) -> Option<Grid> {
    let curve = summary.audit.as_ref()?.counts.as_ref()?;
    let head = ["interval_s", "count", "and_above", "intervals_observed", "intervals_expected_if_poisson"];
    let row = |(i, bin): (usize, &headway_stats::summary::CountBin)| {
        vec![
            exact(curve.interval_s),
            bin.count.to_string(),
            (i + 1 == curve.bins.len()).to_string(),
            bin.observed.to_string(),
            exact(bin.expected),
        ]
    };
    Some(Grid { head: names(&head), rows: curve.bins.iter().enumerate().map(row).collect() })
}

fn headways(summary: &Summary) -> Option<Grid> {
    let curve = summary.curves.headway.as_ref()?;
    let head = ["from_mean_headways", "to_mean_headways", "from_s", "to_s", "observed", "expected", "law"];
    let row = |bin: &HeadwayBin| {
        vec![
            exact(bin.from),
            maybe(bin.to),
            exact(bin.from * curve.unit_s),
            maybe(bin.to.map(|to| to * curve.unit_s)),
            bin.observed.to_string(),
            exact(bin.expected),
            text(&curve.law).into_owned(),
        ]
    };
    Some(Grid { head: names(&head), rows: curve.bins.iter().chain([&curve.tail]).map(row).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::Audit;

    #[test]
    fn names_from_outside_are_quoted_and_numbers_keep_their_last_bit() {
        let mut audit = Audit { percentiles: vec![99.99], ..Audit::default() };
        audit.tables.bytes = vec![Column {
            label: "a,\"b\"\nc".into(),
            n: 3,
            mean: Some(0.1 + 0.2),
            max: Some(f64::MAX),
            percentiles: vec![None],
            ..Column::default()
        }];
        let summary = Summary { audit: Some(audit), ..Summary::default() };
        let [(name, content)] = &files(&summary)[..] else { panic!("one table has rows") };
        let text = String::from_utf8(content.clone()).unwrap();
        assert_eq!(*name, "bytes.csv");
        let (head, row) = text.split_once('\n').unwrap();
        assert!(
            head.contains(",p99.99_bytes,") && head.starts_with("label,n,rate_per_s,median_bytes,"),
            "{head}"
        );
        assert!(row.starts_with("\"a,\"\"b\"\"\\nc\",3,,,0.30000000000000004,"), "{row}");
        let mut reader = ::csv::Reader::from_reader(&content[..]);
        let record = reader.records().next().unwrap().unwrap();
        assert_eq!(record[0], *"a,\"b\"\\nc");
        assert_eq!(record[12].parse::<f64>().unwrap(), f64::MAX);
    }

    #[test]
    fn numbers_read_back() {
        for x in [0.0, 1.0, -0.1, 1e-7, 1.5e300, 123_456_789.125, f64::MIN_POSITIVE] {
            assert_eq!(exact(x).parse::<f64>().unwrap(), x);
            assert!(exact(x).len() < 25, "{}", exact(x));
        }
        assert_eq!(exact(f64::NAN), "");
    }

    #[test]
    fn a_summary_without_tables_has_no_files() {
        assert!(files(&Summary::default()).is_empty());
    }
}
