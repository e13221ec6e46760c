//! What a report says of an audit: what was read and judged, what the pattern rests on, tables by label, failures, users.
//!
//! Absent: the verdict and its findings, which every summary has; charts.

use super::{Block, Cell, Column, Facts, Note, Row, Section, Table, run};
use crate::brady::{self, Grid};
use crate::format::{chosen, chosen_time, count, number, percentile, plural, rate, share_of, size, time};
use crate::words::audit::{self as say, COARSE, Fact};
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{Audit, Column as Of};

/// Files that renderings of little room show one by one.
const MOST_FILES: usize = 8;
/// More labels than this, and such renderings show only the most frequent.
const ALL_LABELS: usize = 12;
/// So many of them; also of kinds of failure.
const MOST_FREQUENT: usize = 10;
/// Percentiles that they show.
const MOST_PERCENTILES: usize = 5;

/// The sections in the order of the questions that a reader asks.
pub(crate) fn all(summary: &Summary, audit: &Audit) -> Vec<Section> {
    let tables = if brady::asked(summary).is_some() {
        his_tables(audit)
    } else {
        let measures = measures(summary, audit).into_iter().take(2).flatten();
        measures.chain(others(audit)).collect()
    };
    let (starts, users) = (starts(summary), users(summary));
    let mut all = read(summary, audit);
    all.extend(starts.into_iter().chain(tables).chain(dispersion(summary)));
    all.extend(failures(summary, audit).into_iter().chain(users).chain(groups(summary)));
    all
}

/// The files, and what of them was judged.
pub(crate) fn read(summary: &Summary, audit: &Audit) -> Vec<Section> {
    let file = |(i, file): (usize, &headway_stats::summary::AuditFile)| {
        let path = if file.path == "-" { "standard input" } else { &file.path };
        Block::Facts(Facts { of: path.into(), facts: say::file(file, audit), wide: i >= MOST_FILES })
    };
    let mut blocks: Vec<Block> = audit.files.iter().enumerate().map(file).collect();
    if blocks.len() > MOST_FILES {
        let more = plural((blocks.len() - MOST_FILES) as u64, "more file");
        let text = format!("and {more}; --html and --json show all");
        blocks.push(Block::Note(Note { tone: Tone::Faint, mark: "", text, narrow: true }));
    }
    let files = Section { id: "files", title: "Files".into(), blocks };
    let judged = facts("judged", "Judged", say::selection(summary, audit));
    (!audit.files.is_empty()).then_some(files).into_iter().chain(judged).collect()
}

/// What the pattern rests on.
pub(crate) fn starts(summary: &Summary) -> Option<Section> {
    facts("pattern", "Pattern", say::starts(summary))
}

/// Users that wait for their answers.
pub(crate) fn users(summary: &Summary) -> Option<Section> {
    facts("users", "Users", summary.closed.as_ref().map(say::closed).unwrap_or_default())
}

fn facts(id: &'static str, title: &str, facts: Vec<Fact>) -> Option<Section> {
    let any = !facts.is_empty();
    let blocks = vec![Block::Facts(Facts { of: String::new(), facts, wide: false })];
    any.then(|| Section { id, title: title.into(), blocks })
}

fn dash(value: Option<f64>, show: fn(f64) -> String) -> Cell {
    Cell::new(value.map_or("-".into(), show))
}

/// A table as wide as what it holds, which breaks before the column `fold` where that is too wide.
fn snug(head: Vec<Column>, rows: Vec<Row>, fold: usize) -> Table {
    Table { columns: head, rows, snug: Some(fold), ..Table::default() }
}

/// A column of words or a label, and columns of numbers.
fn head<S: Into<String>>(label: &str, numbers: impl IntoIterator<Item = S>) -> Vec<Column> {
    let numbers = numbers.into_iter().map(|title| Column::number(title, 1));
    std::iter::once(Column::word(label, 1)).chain(numbers).collect()
}

fn places(audit: &Audit) -> impl Iterator<Item = Column> {
    let column = |(i, &p): (usize, &f64)| Column::number(percentile(p), usize::from(i < MOST_PERCENTILES));
    audit.percentiles.iter().enumerate().map(column)
}

/// What all measures have in common after their spread: median, percentiles, ends.
fn quantiles(audit: &Audit, row: &Of, show: fn(f64) -> String) -> Vec<Cell> {
    let of = |i: usize| dash(row.percentiles.get(i).copied().flatten(), show);
    let mut cells = vec![dash(row.median, show)];
    cells.extend((0..audit.percentiles.len()).map(of));
    cells.extend([dash(row.min, show), dash(row.max, show)]);
    cells
}

/// The labels, and the total last. A single label is the total; of many the most frequent come first.
fn by_label(columns: &[Of]) -> Vec<&Of> {
    let (labels, total) = columns.split_at(columns.len().saturating_sub(1));
    let mut rows: Vec<&Of> = if labels.len() == 1 { Vec::new() } else { labels.iter().collect() };
    if rows.len() > ALL_LABELS {
        rows.sort_by_key(|row| std::cmp::Reverse(row.n));
    }
    rows.extend(total);
    rows
}

/// Its rows are labels, its last row is their total.
fn of_labels(table: Table) -> Table {
    let most_rows = if table.rows.len() > ALL_LABELS + 1 { MOST_FREQUENT } else { usize::MAX };
    Table { most_rows, row: "label", total: true, ..table }
}

/// What is measured of requests: its titles, its rows, how its numbers are shown.
struct Measure<'a> {
    id: &'static str,
    title: &'static str,
    rows: &'a [Of],
    show: fn(f64) -> String,
}

const HEADWAYS: &str = "headways-by-label";
const RESPONSE: &str = "response";
const BANDWIDTH: &str = "bandwidth";

fn all_measures(audit: &Audit) -> [Measure<'_>; 5] {
    let tables = &audit.tables;
    let speed = |bytes: f64| format!("{}/s", size(bytes));
    let of = |id, title, rows, show| Measure { id, title, rows, show };
    [
        of(HEADWAYS, "Headways of requests", &tables.headways, time),
        of(RESPONSE, "Response times", &tables.response, time),
        of("first-byte", "Time to the first byte", &tables.first_byte, time),
        of("bytes", "Bytes received", &tables.bytes, size),
        of(BANDWIDTH, "Bandwidth", &tables.bandwidth, speed),
    ]
}

/// Headways, response times, first byte, bytes and bandwidth by label; none for a measure that no row has.
pub(crate) fn measures(summary: &Summary, audit: &Audit) -> [Option<Section>; 5] {
    all_measures(audit).map(|measure| (!measure.rows.is_empty()).then(|| section(summary, audit, &measure)))
}

fn section(summary: &Summary, audit: &Audit, measure: &Measure<'_>) -> Section {
    let (headways, response) = (measure.id == HEADWAYS, measure.id == RESPONSE);
    // Rate and failures are those of the requests, whatever is measured of them: each is shown once.
    let mut titles = vec!["n"];
    titles.extend(headways.then_some("rate").or(response.then_some("failed")));
    titles.extend(["mean", "sd"]);
    let vmr = say::shows_vmr(audit) && !headways;
    titles.extend(if vmr { &["var/mean"][..] } else { &["CoV", "+- se"] });
    let fold = titles.len() + 1;
    let mut columns = head("label", titles.into_iter().chain(["median"]));
    columns.extend(places(audit).chain(["min", "max"].map(|title| Column::number(title, 1))));
    let of = by_label(measure.rows);
    let (mut rows, mut marked) = (Vec::new(), false);
    for (i, row) in of.iter().enumerate() {
        let total = i + 1 == of.len();
        let coarse = headways && say::is_coarse_row(audit, row, total);
        marked |= coarse;
        let mut cells = vec![Cell::new(&*row.label), Cell::new(count(row.n))];
        cells.extend(headways.then(|| dash(row.rate, rate)));
        let failed =
            Cell::toned(if row.failed > 0 { Tone::Bad } else { Tone::Plain }, share_of(row.failed, row.n));
        cells.extend(response.then_some(failed));
        cells.extend([dash(row.mean, measure.show), dash(row.sd, measure.show)]);
        if vmr {
            cells.push(dash(row.vmr, measure.show));
        } else {
            let cov = dash(row.cov, number).text;
            let cov = if coarse { Cell::toned(Tone::Warn, cov + "*") } else { Cell::new(cov) };
            cells.extend([cov, dash(row.cov_se, number)]);
        }
        cells.extend(quantiles(audit, row, measure.show));
        rows.push(if total { strong(cells) } else { cells.into() });
    }
    let title = format!("{}{}", measure.title, if rows.len() > 1 { " by label" } else { "" });
    let table = of_labels(Table { caption: title.clone(), ..snug(columns, rows, fold) });
    let mut blocks = Vec::new();
    if let Some(caveat) = words::caveat(summary).filter(|_| response) {
        let tone = words::load(summary).tone;
        let mark = if tone == Tone::Bad { "!! " } else { "! " };
        blocks.push(Block::Note(Note { tone, mark, text: caveat.into(), narrow: false }));
    }
    blocks.push(Block::Table(table));
    if marked {
        let text = format!(
            "* rate x resolution is above {}: these headways describe the stamps and not the users",
            chosen(COARSE)
        );
        blocks.push(Block::Note(Note { tone: Tone::Warn, mark: "", text, narrow: false }));
    }
    if response && summary.response.censored > 0 {
        let none = plural(summary.response.censored, "request");
        blocks.push(Note::faint(format!("{none} had no response: percentiles among them are lower bounds")));
    }
    blocks.extend(say::without_bandwidth(audit).filter(|_| measure.id == BANDWIDTH).map(Note::faint));
    Section { id: measure.id, title, blocks }
}

fn strong(mut cells: Vec<Cell>) -> Row {
    let plain = cells.iter_mut().filter(|cell| cell.tone == Tone::Plain);
    plain.for_each(|cell| cell.tone = Tone::Strong);
    cells.into()
}

/// First byte, bytes and bandwidth in total, for renderings without room for their labels.
fn others(audit: &Audit) -> Option<Section> {
    let vmr = say::shows_vmr(audit);
    let spread = if vmr { "var/mean" } else { "CoV" };
    let mut columns = head("", ["n", "mean", "sd", spread, "median"]);
    columns.extend(places(audit).chain(["min", "max"].map(|title| Column::number(title, 1))));
    let row = |measure: &Measure<'_>| {
        let (total, show) = (measure.rows.last()?, measure.show);
        let name = measure.id.replace('-', " ");
        let mut cells =
            vec![Cell::new(name), Cell::new(count(total.n)), dash(total.mean, show), dash(total.sd, show)];
        cells.push(if vmr { dash(total.vmr, show) } else { dash(total.cov, number) });
        cells.extend(quantiles(audit, total, show));
        Some(Row::from(cells))
    };
    let rows: Vec<Row> = all_measures(audit)[2..].iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let caption = "Other measures, in total";
    let mut blocks = vec![Block::Table(Table { caption: caption.into(), ..snug(columns, rows, 6) })];
    blocks.extend(say::without_bandwidth(audit).map(Note::faint));
    Some(Section { id: "others", title: caption.into(), blocks })
}

/// How the requests ended, where some failed, and how those did: by outcome, status and message.
pub(crate) fn failures(summary: &Summary, audit: &Audit) -> Vec<Section> {
    let failed = words::outcomes(summary).iter().any(|&(name, _)| name != "ok");
    let mut sections: Vec<Section> = run::outcomes(summary).filter(|_| failed).into_iter().collect();
    if audit.failures.is_empty() {
        return sections;
    }
    let row = |kind: &headway_stats::summary::FailureKind| {
        let [first, last] = [kind.first_s, kind.last_s].map(|s| Cell::new(format!("{s:.3} s")));
        Row::from(vec![Cell::new(say::failure(kind)), Cell::new(count(kind.n)), first, last])
    };
    let rows = audit.failures.iter().map(row).collect();
    let table = Table {
        caption: "Failures by outcome, status and message".into(),
        most_rows: MOST_FREQUENT,
        row: "kind",
        ..snug(head("", ["n", "first", "last"]), rows, usize::MAX)
    };
    let more = match audit.more_failures {
        0 => String::new(),
        more => format!("; {} in what --failures writes", plural(more, "more kind")),
    };
    let note = Note::faint(format!("times since the first start{more}"));
    sections.push(Section {
        id: "failures",
        title: "Failures".into(),
        blocks: vec![Block::Table(table), note],
    });
    sections
}

/// Index of dispersion by window.
pub(crate) fn dispersion(summary: &Summary) -> Option<Section> {
    let windows = &summary.arrivals.dispersion;
    let expected = windows.iter().any(|row| row.expected != 1.0);
    let mut titles = vec!["windows", "index", "+- se of 1"];
    titles.extend(expected.then_some("expected"));
    let rows = windows.iter().map(|row| {
        let mut cells = vec![chosen_time(row.window), count(row.windows), number(row.index), number(row.se)];
        cells.extend(expected.then(|| number(row.expected)));
        Row::from(cells.into_iter().map(Cell::new).collect::<Vec<Cell>>())
    });
    let title = "Dispersion of counts (variance / mean; 1 = independent users)".to_owned();
    let table = Table { caption: title.clone(), ..snug(head("window", titles), rows.collect(), usize::MAX) };
    (!windows.is_empty()).then(|| Section {
        id: "dispersion-table",
        title,
        blocks: vec![Block::Table(table)],
    })
}

/// How the CoV grows with the number of users; in Brady's layout where that was asked for.
pub(crate) fn groups(summary: &Summary) -> Option<Section> {
    let title = "CoV of the first users together".to_owned();
    let table = match brady::groups(summary).filter(|_| brady::asked(summary).is_some()) {
        Some(his) => his_table(his),
        None => {
            let titles = ["headways", "rate", "mean", "sd", "CoV", "+- se"];
            let row = |group: &headway_stats::summary::ThreadGroup| {
                let (mean, sd) = (group.headway_mean, group.headway_sd);
                let mut cells =
                    vec![Cell::new(count(group.users)), Cell::new(count(group.n)), dash(group.rate, rate)];
                cells.extend([
                    dash(mean, time),
                    dash(sd, time),
                    dash(group.cov, number),
                    dash(group.cov_se, number),
                ]);
                Row::from(cells)
            };
            snug(head("users", titles), summary.thread_groups.iter().map(row).collect(), usize::MAX)
        }
    };
    let table = Table { caption: title.clone(), ..table };
    (!table.rows.is_empty()).then(|| Section { id: "groups-table", title, blocks: vec![Block::Table(table)] })
}

/// All of Brady's tables, as his tool prints them.
pub(crate) fn his_tables(audit: &Audit) -> Vec<Section> {
    let titles = [
        ("brady-arrivals", "Times between arrivals (ms), as Brady's figure 13", brady::Table::Arrivals),
        ("brady-response", "Response times (ms), %error, KB/s", brady::Table::Response),
        ("brady-bytes", "Bytes", brady::Table::Bytes),
        ("brady-first-byte", "Times to the first byte (ms)", brady::Table::FirstByte),
    ];
    let section = |(id, title, table): (_, &str, _)| {
        let his = brady::table(audit, table, by_label(brady::columns(audit, table)))?;
        let table = of_labels(Table { caption: title.into(), ..his_table(his) });
        Some(Section { id, title: title.into(), blocks: vec![Block::Table(table)] })
    };
    titles.into_iter().filter_map(section).collect()
}

fn his_table(his: Grid) -> Table {
    let mut titles = his.head.into_iter();
    let columns = head(&titles.next().unwrap_or_default(), titles);
    let last = his.rows.len().saturating_sub(1);
    let row = |(i, row): (usize, Vec<String>)| {
        let cells = row.into_iter().map(Cell::new).collect::<Vec<Cell>>();
        if i == last { strong(cells) } else { cells.into() }
    };
    snug(columns, his.rows.into_iter().enumerate().map(row).collect(), usize::MAX)
}
