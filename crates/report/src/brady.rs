//! Tables laid out and rounded as Brady's tool prints them (Brady 2012, figures 13, 15 and 16; web-generator-toolkit
//! 3.0.0), so that his published tables can be laid beside ours: milliseconds and bytes, whole numbers cut off, two
//! decimals for rates, means and deviations.
//!
//! Deliberately absent: the rule by which his quantiles are taken; the summary says whether it was used.

use headway_stats::Summary;
use headway_stats::summary::{Audit, Column};

/// The name of his rule in [`Audit::quantile_rule`].
const RULE: &str = "brady";

/// The audit, if its tables were asked for in his manner.
pub(crate) fn asked(summary: &Summary) -> Option<&Audit> {
    summary.audit.as_ref().filter(|audit| audit.quantile_rule == RULE)
}

/// A heading and its rows; the first cell of a row is its label.
pub(crate) struct Grid {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// What his four tables are about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// `arr`: times between arrivals.
    Arrivals,
    /// `agg`: response times, with failures and throughput.
    Response,
    /// `byte`: bytes of an answer.
    Bytes,
    /// `rt_1st`: times to the first byte.
    FirstByte,
}

/// What the summary knows for one of his tables: all labels and the total.
pub(crate) fn columns(audit: &Audit, table: Table) -> &[Column] {
    let tables = &audit.tables;
    match table {
        Table::Arrivals => &tables.headways,
        Table::Response => &tables.response,
        Table::Bytes => &tables.bytes,
        Table::FirstByte => &tables.first_byte,
    }
}

/// One of his tables over those labels; none where there are no rows.
pub(crate) fn table<'a>(
    audit: &Audit,
    table: Table,
    columns: impl IntoIterator<Item = &'a Column>,
) -> Option<Grid> {
    // He has no line for a label that came once: it has no headway.
    let columns = columns.into_iter().filter(|column| column.n > 0);
    let rows: Vec<_> = columns.map(|column| row(column, table, shows_cov(audit, table))).collect();
    let cov = shows_cov(audit, table);
    let spread = if cov { "cv" } else { "vmr" };
    let mut head: Vec<String> =
        ["label", "n", "tps", "median", "mean", "sdev", spread].map(str::to_owned).into();
    head.extend(audit.percentiles.iter().map(|&p| format!("{p}%")));
    head.extend(["min", "max"].map(str::to_owned));
    if table == Table::Response {
        head.extend(["%error", "KB/sec"].map(str::to_owned));
    }
    (!rows.is_empty()).then_some(Grid { head, rows })
}

/// His first table has the coefficient of variation always, the others where that is asked for.
fn shows_cov(audit: &Audit, table: Table) -> bool {
    table == Table::Arrivals || audit.dispersion == "cov"
}

fn row(column: &Column, table: Table, cov: bool) -> Vec<String> {
    let unit = if table == Table::Bytes { 1.0 } else { 1e3 };
    let whole = |value: Option<f64>| value.map_or(String::new(), |x| cut(x * unit));
    let real = |value: Option<f64>| value.map_or(String::new(), |x| format!("{x:.2}"));
    // His deviation of a single value is 0.
    let spread = match cov {
        true => column.cov.unwrap_or(0.0),
        false => column.vmr.unwrap_or(0.0) * unit,
    };
    let mut cells = vec![
        column.label.to_string(),
        column.n.to_string(),
        real(column.rate),
        whole(column.median),
        real(column.mean.map(|x| x * unit)),
        real(Some(column.sd.unwrap_or(0.0) * unit)),
        real(Some(spread)),
    ];
    cells.extend(column.percentiles.iter().map(|&value| whole(value)));
    cells.extend([whole(column.min), whole(column.max)]);
    if table == Table::Response {
        let failed = if column.n == 0 { 0.0 } else { 100.0 * column.failed as f64 / column.n as f64 };
        cells.extend([real(Some(failed)), real(column.bytes_per_second.map(|bytes| bytes / 1e3))]);
    }
    cells
}

/// The digits before the point. A stamp of 57 ms must not become 56 because 0.057 s x 1000 falls short of it; stamps are
/// whole nanoseconds, a millionth of his unit.
fn cut(x: f64) -> String {
    format!("{:.0}", (x + 0.5e-6).trunc())
}

/// The groups of users as in figures 15 and 16; none where there are none.
pub(crate) fn groups(summary: &Summary) -> Option<Grid> {
    let real = |value: Option<f64>| value.map_or(String::new(), |x| format!("{x:.2}"));
    let row = |group: &headway_stats::summary::ThreadGroup| {
        let milliseconds = |value: Option<f64>| real(value.map(|x| x * 1e3));
        vec![
            group.users.to_string(),
            group.n.to_string(),
            real(group.rate),
            milliseconds(group.headway_mean),
            milliseconds(group.headway_sd),
            real(group.cov),
        ]
    };
    let rows: Vec<_> = summary.thread_groups.iter().map(row).collect();
    let head = ["k", "n", "tps", "mean", "sdev", "cv"].map(str::to_owned).into();
    (!rows.is_empty()).then_some(Grid { head, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_milliseconds_survive_the_way_through_seconds() {
        for ms in 0..100_000 {
            let seconds = f64::from(ms) / 1e3;
            assert_eq!(cut(seconds * 1e3), ms.to_string());
        }
        assert_eq!(cut(1.999), "1");
    }

    #[test]
    fn a_label_that_came_once_has_no_line() {
        let one = Column { label: "once".into(), ..Column::default() };
        let mut audit = Audit::default();
        audit.tables.headways = vec![one.clone()];
        assert!(table(&audit, Table::Arrivals, columns(&audit, Table::Arrivals)).is_none());
        audit.tables.response = vec![Column { n: 1, mean: Some(0.25), ..one }];
        let rows = columns(&audit, Table::Response);
        let grid = table(&audit, Table::Response, rows).expect("one row");
        assert_eq!(grid.rows, [["once", "1", "", "", "250.00", "0.00", "0.00", "", "", "0.00", ""]]);
    }
}
