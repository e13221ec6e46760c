//! What tables show of the run over time: its failures, and how long requests took in stretches of it.
//!
//! Deliberately absent: the charts and their tables of all rows, which are the page's.

use super::{Cell, Column, Row, Section, Table};
use crate::content::Block;
use crate::format::{chosen, count, share_of, time};
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{ResponseGrid, SeriesRow};
use std::collections::BTreeMap;

/// Stretches of time that the table has at most.
const MOST_STRETCHES: usize = 12;

/// Columns that kinds of failure have together, in characters.
const ROOM: usize = 37;

/// Requests that ended in a stretch of time.
struct Stretch {
    from_s: f64,
    to_s: f64,
    ended: u64,
    failed: u64,
    kinds: BTreeMap<String, u64>,
}

/// As many rows as fit, in stretches of as many rows each.
fn stretches(series: &[SeriesRow]) -> Vec<Stretch> {
    let stretch = |rows: &[SeriesRow]| {
        let mut kinds = BTreeMap::new();
        for (name, &n) in rows.iter().flat_map(words::failures::over_time) {
            let kept: &mut u64 = kinds.entry(words::failures::kind_over_time(name)).or_default();
            *kept = kept.saturating_add(n);
        }
        let sum = |of: fn(&SeriesRow) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
        let failed = sum(|row| row.failed);
        Stretch {
            from_s: rows[0].from_s,
            to_s: rows[rows.len() - 1].to_s,
            ended: sum(|row| row.completed).saturating_add(failed),
            failed,
            kinds,
        }
    };
    let long = series.len().div_ceil(MOST_STRETCHES).max(1);
    series.chunks(long).map(stretch).collect()
}

/// Failures by kind in stretches of the run; none where none failed, and where there is but one row.
pub(crate) fn failures(summary: &Summary) -> Option<Section> {
    let stretches = stretches(&summary.series);
    if stretches.len() < 2 || stretches.iter().all(|stretch| stretch.failed == 0) {
        return None;
    }
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, &n) in stretches.iter().flat_map(|stretch| &stretch.kinds) {
        let total = totals.entry(name).or_default();
        *total = total.saturating_add(n);
    }
    let mut kinds: Vec<(&str, u64)> = totals.into_iter().collect();
    kinds.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let width = |name: &str| name.chars().count().max(9) + 2;
    let fits =
        |kinds: &[(&str, u64)], room: usize| kinds.iter().map(|(name, _)| width(name)).sum::<usize>() <= room;
    // The rest has a column of its own.
    let shown = match fits(&kinds, ROOM) {
        true => kinds.len(),
        false => (0..kinds.len()).rev().find(|&n| fits(&kinds[..n], ROOM - OTHERS.len() - 2)).unwrap_or(0),
    };
    let (own, others) = kinds.split_at(shown);
    let row = |stretch: &Stretch| {
        let tone = |n: u64| if n > 0 { Tone::Bad } else { Tone::Faint };
        let of = |name: &str| stretch.kinds.get(name).copied().unwrap_or(0);
        let counted = |n: u64| Cell::toned(tone(n), count(n));
        let mut cells = vec![
            Cell::new(format!("{} to {} s", chosen(stretch.from_s), chosen(stretch.to_s))),
            Cell::new(count(stretch.ended)),
            counted(stretch.failed),
            Cell::toned(tone(stretch.failed), share_of(stretch.failed, stretch.ended)),
        ];
        cells.extend(own.iter().map(|(name, _)| counted(of(name))));
        let rest = others.iter().map(|(name, _)| of(name)).fold(0, u64::saturating_add);
        cells.extend((!others.is_empty()).then(|| counted(rest)));
        Row::from(cells)
    };
    let mut columns = vec![
        Column::word("time", 17),
        Column::number("ended", 9),
        Column::number("failed", 9),
        Column::number("share", 8),
    ];
    columns.extend(own.iter().map(|&(name, _)| Column::number(name, width(name))));
    columns.extend((!others.is_empty()).then(|| Column::number(OTHERS, OTHERS.len() + 2)));
    let table = Table {
        caption: "Failures over the run, by when requests ended; warm-up included".into(),
        columns,
        rows: stretches.iter().map(row).collect(),
        row: "stretch",
        ..Table::default()
    };
    Some(Section {
        id: "failures-in-stretches",
        title: "Failures over the run".into(),
        blocks: vec![Block::Table(table)],
    })
}

/// Ranges of response times that the table of a grid has at most.
const MOST_RANGES: usize = 8;

/// Requests by when they were due and how long they took, in few stretches and ranges.
pub(crate) fn grid(grid: &ResponseGrid) -> Table {
    let rows = grid.edges.len().saturating_sub(1);
    let (many, long) = (rows.div_ceil(MOST_RANGES).max(1), grid.counts.len().div_ceil(MOST_STRETCHES).max(1));
    let sum = |column: &Vec<u64>, from: usize| {
        column.iter().skip(from).take(many).fold(0, |sum: u64, &n| sum.saturating_add(n))
    };
    let at = |columns: usize| grid.from_s + columns as f64 * grid.width_s;
    let row = |(i, columns): (usize, &[Vec<u64>])| {
        let span = format!("{} to {} s", chosen(at(i * long)), chosen(at(i * long + columns.len())));
        let ranges = (0..rows).step_by(many).map(|from| {
            let n = columns.iter().fold(0, |all: u64, column| all.saturating_add(sum(column, from)));
            Cell::toned(if n == 0 { Tone::Faint } else { Tone::Plain }, count(n))
        });
        Row::from(std::iter::once(Cell::new(span)).chain(ranges).collect::<Vec<_>>())
    };
    let ranges = (0..rows).step_by(many).map(|from| {
        let up_to = (from + many).min(rows);
        let title = match up_to == rows {
            true => format!("from {}", time(grid.edges[from])),
            false => format!("below {}", time(grid.edges[up_to])),
        };
        Column::number(title, 11)
    });
    Table {
        caption: "Requests by when they were due and how long they took".into(),
        columns: std::iter::once(Column::word("due", 17)).chain(ranges).collect(),
        rows: grid.counts.chunks(long).enumerate().map(row).collect(),
        row: "stretch",
        ..Table::default()
    }
}

/// What failures of kinds without a column stand under.
const OTHERS: &str = "others";

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rows: usize, kinds: &[&str]) -> Summary {
        let row = |i: usize| SeriesRow {
            from_s: i as f64 * 0.5,
            to_s: (i + 1) as f64 * 0.5,
            completed: 10,
            failed: kinds.len() as u64,
            failure_kinds: kinds.iter().map(|&name| (name.to_owned(), 1)).collect(),
            ..SeriesRow::default()
        };
        Summary { series: (0..rows).map(row).collect(), ..Summary::default() }
    }

    fn table(summary: &Summary) -> Table {
        let Some(Block::Table(table)) = failures(summary).unwrap().blocks.pop() else { panic!("a table") };
        table
    }

    #[test]
    fn stretches_are_few_and_hold_every_failure() {
        for rows in [2, 11, 12, 13, 25, 60, 3_600] {
            let table = table(&run(rows, &["status 503", "check 200"]));
            assert!((2..=MOST_STRETCHES).contains(&table.rows.len()), "{rows}");
            let number = |text: &str| text.replace(',', "").parse::<usize>().unwrap();
            let sum =
                |column: usize| table.rows.iter().map(|row| number(&row.cells[column].text)).sum::<usize>();
            assert_eq!((sum(1), sum(2), sum(4), sum(5)), (12 * rows, 2 * rows, rows, rows), "{rows}");
        }
        assert!(failures(&run(1, &["timeout"])).is_none() && failures(&run(60, &[])).is_none());
    }

    #[test]
    fn the_table_of_a_grid_is_small_and_holds_every_request() {
        for (columns, rows) in [(1, 1), (7, 8), (120, 48), (13, 9)] {
            let counts = (0..columns).map(|i| (0..rows).map(|k| (i * k) as u64 % 7).collect()).collect();
            let edges = (0..=rows).map(|k| 1e-3 * 1.19f64.powi(k)).collect();
            let grid = ResponseGrid { from_s: 0.0, width_s: 0.5, edges, counts };
            let table = super::grid(&grid);
            assert!(table.rows.len() <= MOST_STRETCHES && table.columns.len() <= MOST_RANGES + 1);
            let cells = table.rows.iter().flat_map(|row| &row.cells[1..]);
            let shown: u64 = cells.map(|cell| cell.text.replace(',', "").parse::<u64>().unwrap()).sum();
            assert_eq!(shown, grid.counts.iter().flatten().sum::<u64>());
            assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
        }
    }

    #[test]
    fn the_table_fits_eighty_columns_and_the_rest_is_counted_together() {
        let all = ["connect-timeout", "too-large", "status 500", "status 503", "check 200", "refused-stream"];
        for kinds in 1..=all.len() {
            let table = table(&run(24, &all[..kinds]));
            assert!(table.columns.iter().map(|column| column.width).sum::<usize>() <= 80, "{kinds}");
            let shown = table.rows[0].cells[4..].iter().map(|cell| cell.text.parse::<usize>().unwrap());
            assert_eq!(shown.sum::<usize>(), 2 * kinds, "{kinds}");
            assert_eq!(table.columns.last().unwrap().title == OTHERS, kinds > 2, "{kinds}");
        }
        // An older document has outcomes alone, or nothing at all.
        let mut older = run(4, &["timeout"]);
        for row in &mut older.series {
            row.failures = std::mem::take(&mut row.failure_kinds);
        }
        assert_eq!(table(&older).columns[4].title, "timeout");
        older.series.iter_mut().for_each(|row| row.failures.clear());
        assert_eq!(table(&older).columns.len(), 4);
    }
}
