//! Tables of an audit: headways and response times by label, the other measures in total, dispersion, groups of users.

use super::super::grid::Grid;
use super::super::layout::Page;
use crate::brady::{self, Table};
use crate::format::{chosen, chosen_time, count, number, percentile, plural, rate, share_of, size, time};
use crate::words::audit::COARSE;
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{Audit, Column};

/// More labels than this, and only the most frequent are shown.
const ALL_LABELS: usize = 12;
/// So many of them.
const MOST_FREQUENT: usize = 10;
/// Percentiles of a table that has many.
const MOST_PERCENTILES: usize = 5;

fn dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".into(), show)
}

/// The tables by label.
pub(super) fn by_label(page: &mut Page, summary: &Summary, audit: &Audit) {
    if brady::asked(summary).is_some() {
        return in_his_layout(page, audit);
    }
    headways(page, audit);
    response(page, summary, audit);
    others(page, audit);
}

/// The rows to show, and how many are left out. The total is the last of a table.
fn shown(columns: &[Column]) -> (Vec<&Column>, usize) {
    let (labels, total) = columns.split_at(columns.len().saturating_sub(1));
    let mut rows: Vec<&Column> = labels.iter().collect();
    let left = if rows.len() > ALL_LABELS { rows.len() - MOST_FREQUENT } else { 0 };
    if left > 0 {
        rows.sort_by_key(|row| std::cmp::Reverse(row.n));
        rows.truncate(MOST_FREQUENT);
    }
    // A single label is the total.
    if rows.len() == 1 && left == 0 {
        rows.clear();
    }
    rows.extend(total);
    (rows, left)
}

/// Of the row with that index: the last is the total.
fn tone(rows: usize, i: usize) -> Tone {
    if i + 1 == rows { Tone::Strong } else { Tone::Plain }
}

fn left_out(page: &mut Page, left: usize) {
    if left > 0 {
        let text = format!(
            "the {MOST_FREQUENT} most frequent labels; {} more in what --csv, --json and --html write",
            count(left as u64)
        );
        page.marked(2, "", Tone::Faint, &text);
    }
}

fn percentile_names(audit: &Audit) -> impl Iterator<Item = String> {
    audit.percentiles.iter().take(MOST_PERCENTILES).map(|&p| percentile(p))
}

fn percentiles(row: &Column, audit: &Audit, show: fn(f64) -> String) -> impl Iterator<Item = String> {
    let places = audit.percentiles.len().min(MOST_PERCENTILES);
    (0..places).map(move |i| dash(row.percentiles.get(i).copied().flatten(), show))
}

fn words(names: &[&str]) -> impl Iterator<Item = String> {
    names.iter().map(|&name| name.to_owned())
}

fn headways(page: &mut Page, audit: &Audit) {
    let columns = &audit.tables.headways;
    if columns.is_empty() {
        return;
    }
    let (rows, left) = shown(columns);
    page.heading(if rows.len() > 1 { "Headways of requests by label" } else { "Headways of requests" });
    let head = words(&["", "n", "rate", "mean", "sd", "CoV", "+- se", "median"]);
    let mut grid = Grid::new(head.chain(percentile_names(audit)).chain(words(&["min", "max"]))).fold(7);
    let mut marked = false;
    let n = rows.len();
    for (i, row) in rows.into_iter().enumerate() {
        let coarse = words::audit::is_coarse_row(audit, row, i + 1 == n);
        marked |= coarse;
        let cov = dash(row.cov, number) + if coarse { "*" } else { "" };
        let mut cells = vec![row.label.clone(), count(row.n), dash(row.rate, rate)];
        cells.extend([dash(row.mean, time), dash(row.sd, time), cov, dash(row.cov_se, number)]);
        cells.push(dash(row.median, time));
        cells.extend(percentiles(row, audit, time));
        cells.extend([dash(row.min, time), dash(row.max, time)]);
        grid.row(tone(n, i), cells);
    }
    grid.print(page);
    left_out(page, left);
    if marked {
        let text = format!(
            "* rate x resolution is above {}: these headways describe the stamps and not the users",
            chosen(COARSE)
        );
        page.marked(2, "", Tone::Warn, &text);
    }
}

fn response(page: &mut Page, summary: &Summary, audit: &Audit) {
    let columns = &audit.tables.response;
    if columns.is_empty() {
        return;
    }
    let (rows, left) = shown(columns);
    page.heading(if rows.len() > 1 { "Response times by label" } else { "Response times" });
    if let Some(caveat) = words::caveat(summary) {
        let tone = words::load(summary).tone;
        page.marked(0, if tone == Tone::Bad { "!! " } else { " ! " }, tone, caveat);
    }
    let spread = if words::audit::shows_vmr(audit) { &["var/mean"][..] } else { &["CoV", "+- se"] };
    let head = words(&["", "n", "failed", "mean", "sd"]).chain(words(spread)).chain(words(&["median"]));
    let fold = 5 + spread.len();
    let mut grid = Grid::new(head.chain(percentile_names(audit)).chain(words(&["min", "max"]))).fold(fold);
    let n = rows.len();
    for (i, row) in rows.into_iter().enumerate() {
        let mut cells = vec![row.label.clone(), count(row.n), share_of(row.failed, row.n)];
        cells.extend([dash(row.mean, time), dash(row.sd, time)]);
        match words::audit::shows_vmr(audit) {
            true => cells.push(dash(row.vmr, time)),
            false => cells.extend([dash(row.cov, number), dash(row.cov_se, number)]),
        }
        cells.push(dash(row.median, time));
        cells.extend(percentiles(row, audit, time));
        cells.extend([dash(row.min, time), dash(row.max, time)]);
        grid.row(tone(n, i), cells);
    }
    grid.print(page);
    left_out(page, left);
    if summary.response.censored > 0 {
        let text = format!(
            "{} had no answer: percentiles among them are lower bounds",
            plural(summary.response.censored, "request")
        );
        page.marked(2, "", Tone::Faint, &text);
    }
}

/// Name, columns, and how its numbers are shown.
type Measure<'a> = (&'static str, &'a [Column], fn(f64) -> String);

/// First byte, bytes and bandwidth, in total.
fn others(page: &mut Page, audit: &Audit) {
    let tables = &audit.tables;
    let speed = |bytes: f64| format!("{}/s", size(bytes));
    let measures: [Measure<'_>; 3] = [
        ("first byte", &tables.first_byte, time),
        ("bytes", &tables.bytes, size),
        ("bandwidth", &tables.bandwidth, speed),
    ];
    let vmr = words::audit::shows_vmr(audit);
    let spread: &[&str] = if vmr { &["var/mean"] } else { &["CoV"] };
    let head = words(&["", "n", "mean", "sd"]).chain(words(spread)).chain(words(&["median"]));
    let mut grid = Grid::new(head.chain(percentile_names(audit)).chain(words(&["min", "max"]))).fold(6);
    let mut any = false;
    for (name, columns, show) in measures {
        let Some(total) = columns.last() else { continue };
        any = true;
        let mut cells = vec![name.to_owned(), count(total.n), dash(total.mean, show), dash(total.sd, show)];
        cells.extend([
            if vmr { dash(total.vmr, show) } else { dash(total.cov, number) },
            dash(total.median, show),
        ]);
        cells.extend(percentiles(total, audit, show));
        cells.extend([dash(total.min, show), dash(total.max, show)]);
        grid.row(Tone::Plain, cells);
    }
    if any {
        page.heading("Other measures, in total");
        grid.print(page);
        if let Some(text) = words::audit::without_bandwidth(audit) {
            page.marked(2, "", Tone::Faint, &text);
        }
    }
}

/// Failures by outcome, status and message.
pub(super) fn failures(page: &mut Page, audit: &Audit) {
    if audit.failures.is_empty() {
        return;
    }
    page.heading("Failures");
    let mut grid = Grid::new(words(&["", "n", "first", "last"]));
    for kind in audit.failures.iter().take(MOST_FREQUENT) {
        let [first, last] = [kind.first_s, kind.last_s].map(|s| format!("{s:.3} s"));
        grid.row(Tone::Plain, vec![words::audit::failure(kind), count(kind.n), first, last]);
    }
    grid.print(page);
    let more = audit.more_failures + audit.failures.len().saturating_sub(MOST_FREQUENT) as u64;
    let more = if more > 0 {
        format!("; {} in what --failures writes", plural(more, "more kind"))
    } else {
        String::new()
    };
    page.marked(2, "", Tone::Faint, &format!("times since the first start{more}"));
}

/// All of Brady's tables, as his tool prints them.
fn in_his_layout(page: &mut Page, audit: &Audit) {
    let titles = [
        ("Times between arrivals (ms), as Brady's figure 13", Table::Arrivals),
        ("Response times (ms), %error, KB/s", Table::Response),
        ("Bytes", Table::Bytes),
        ("Times to the first byte (ms)", Table::FirstByte),
    ];
    for (title, table) in titles {
        let (rows, left) = shown(brady::columns(audit, table));
        let Some(his) = brady::table(audit, table, rows) else { continue };
        page.heading(title);
        let mut grid = Grid::new(his.head);
        let last = his.rows.len() - 1;
        for (i, row) in his.rows.into_iter().enumerate() {
            grid.row(if i == last { Tone::Strong } else { Tone::Plain }, row);
        }
        grid.print(page);
        left_out(page, left);
    }
}

/// Index of dispersion by window.
pub(super) fn dispersion(page: &mut Page, summary: &Summary) {
    let rows = &summary.arrivals.dispersion;
    if rows.is_empty() {
        return;
    }
    page.heading("Dispersion of counts (variance / mean; 1 = independent users)");
    let expected = rows.iter().any(|row| row.expected != 1.0);
    let mut head = vec!["window", "windows", "index", "+- se of 1"];
    head.extend(expected.then_some("expected"));
    let mut grid = Grid::new(head);
    for row in rows {
        let mut cells = vec![chosen_time(row.window), count(row.windows), number(row.index), number(row.se)];
        cells.extend(expected.then(|| number(row.expected)));
        grid.row(Tone::Plain, cells);
    }
    grid.print(page);
}

/// How the CoV grows with the number of users.
pub(super) fn groups(page: &mut Page, summary: &Summary) {
    if summary.thread_groups.is_empty() {
        return;
    }
    page.heading("CoV of the first users together");
    if let (Some(_), Some(his)) = (brady::asked(summary), brady::groups(summary)) {
        let mut grid = Grid::new(his.head);
        his.rows.into_iter().for_each(|row| grid.row(Tone::Plain, row));
        return grid.print(page);
    }
    let mut grid = Grid::new(["users", "headways", "rate", "mean", "sd", "CoV", "+- se"]);
    for group in &summary.thread_groups {
        let cells = vec![
            count(group.users),
            count(group.n),
            dash(group.rate, rate),
            dash(group.headway_mean, time),
            dash(group.headway_sd, time),
            dash(group.cov, number),
            dash(group.cov_se, number),
        ];
        grid.row(Tone::Plain, cells);
    }
    grid.print(page);
}
