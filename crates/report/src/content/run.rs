//! The tables of a run, a simulation or an audit.

use super::{Block, Cell, Column, Note, Row, Section, Table, Why};
use crate::format::{
    STEPPED, chosen, count, interval_cell, number as digits, plural, rate, share_of, size, time,
};
use crate::words::comparison::spoken_aggregate as spoken;
use crate::words::{self, Tone};
use headway_base::rcode::Status;
use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::metric::{Aggregate, Metric};
use headway_stats::summary::{
    ConnectCounts, ConnectRow, DatagramRow, Failure, FailureReason, Interval, LabelSummary, PERCENTILES,
    ShardCoverage, ShardLog, Source, Spread, StrayCounts, Tail, ThreadGroup, ThresholdResult, ThresholdUnit,
    TimePart,
};

/// Labels, and groups, that renderings of little room show.
const MOST_LABELS: usize = 12;

/// The rows of the table of times: with the percentiles that were asked for.
fn rows_of_times(summary: &Summary) -> Vec<Aggregate> {
    let asked = summary.plan.as_ref().map_or(&[][..], |plan| &plan.percentiles);
    let percentiles = if asked.is_empty() { &PERCENTILES[..] } else { asked };
    let percentiles = percentiles.iter().map(|&p| Aggregate::Percentile(p));
    [Aggregate::Mean, Aggregate::Min].into_iter().chain(percentiles).chain([Aggregate::Max]).collect()
}

/// A column of the table of times, and how its numbers are shown.
struct Quantity<'a> {
    /// Its name in the document; empty where reasons are not shown.
    block: &'static str,
    spread: &'a Spread,
    show: fn(f64) -> String,
    range: fn(Interval, bool) -> String,
}

/// Response and service time with their intervals, and what else has a distribution.
pub(crate) fn times(summary: &Summary) -> Section {
    let of_time = |title, spread| {
        (column(title, 0, 0), Quantity { block: "", spread, show: time, range: interval_cell })
    };
    let least = words::generator_share::least(&summary.response);
    let mut all = Vec::new();
    for metric in Metric::all() {
        // Nothing is sent in a simulation.
        let has = summary.source != Source::Sim || metric.is_simulated();
        let (Some((title, width, intervals)), Some(spread), true) =
            (metric.shown.column, summary.spread(metric), has)
        else {
            continue;
        };
        let block = if metric.shown.reasons { metric.name } else { "" };
        let quantity = match metric.unit {
            ThresholdUnit::Bytes => {
                let range = |[low, high]: Interval, _| format!("{} to {}", size(low), size(high));
                Quantity { block, spread, show: size, range }
            }
            _ => Quantity { block, spread, show: time, range: interval_cell },
        };
        all.push((column(title, width, intervals), quantity));
        if metric == Metric::RESPONSE {
            all.extend(least.iter().map(|least| of_time("less own delays", least)));
            let split = words::split(summary).into_iter().flatten();
            all.extend(split.map(|(title, spread)| of_time(title, spread)));
        }
    }
    let (columns, quantities): (Vec<Column>, Vec<Quantity<'_>>) = all.into_iter().unzip();
    let row = |title: &str, wide: bool, of: &dyn Fn(&Quantity<'_>) -> Cell| Row {
        cells: std::iter::once(Cell::new(title)).chain(quantities.iter().map(of)).collect(),
        wide,
    };
    let mut rows: Vec<Row> = Vec::new();
    for of in rows_of_times(summary) {
        let wide = of == Aggregate::Min;
        rows.push(row(&spoken(of), wide, &|quantity| statistic_of(summary, quantity, of)));
    }
    rows.push(row("CoV", true, &|of| Cell::new(of.spread.cov.map_or("-".into(), digits))));
    rows.push(row("without a response", true, &|of| Cell::new(count(of.spread.censored))));
    rows.push(row("n", false, &|of| Cell::new(count(of.spread.n))));
    let columns = std::iter::once(Column::word("", 9)).chain(columns).collect();
    let caption = "Times and sizes".to_owned();
    let mut blocks = vec![Block::Table(Table { caption, columns, rows, ..Table::default() })];
    blocks.extend(notes(summary, quantities.iter().any(|quantity| !quantity.spread.stepped.is_empty())));
    Section { id: "times", title: format!("Times{}", words::conditional(summary)), blocks }
}

fn column(title: &str, width: usize, intervals: usize) -> Column {
    Column { intervals, ..Column::number(title, width) }
}

fn statistic_of(summary: &Summary, of: &Quantity<'_>, statistic: Aggregate) -> Cell {
    let spread = of.spread;
    let (key, name) = (&statistic.key(), spoken(statistic));
    let (value, interval) = spread.number(statistic).unwrap_or_default();
    let lower = spread.lower_bound.contains_key(key);
    let why = |interval: bool| {
        let path = if interval { format!("{}.ci95.{key}", of.block) } else { format!("{}.{key}", of.block) };
        let reason = match words::why::missing(&summary.not_computed, &path) {
            Some(reason) => reason,
            None if spread.n == 0 => "nothing was observed".into(),
            None => return None,
        };
        (!of.block.is_empty()).then(|| Why { interval, of: of.block, name: name.clone(), reason })
    };
    let Some(value) = value else {
        return Cell { why: why(false), ..Cell::toned(Tone::Faint, "-") };
    };
    let mark = words::generator_share::mark(summary, of.block, spread, key);
    let shown = (of.show)(value);
    let (tone, text) =
        if lower { (Tone::Warn, format!("> {shown}{mark}")) } else { (Tone::Plain, shown + mark) };
    let cell = Cell::toned(tone, text);
    match interval {
        _ if statistic.is_extreme() => cell,
        Some(ends) => Cell { interval: Some((of.range)(ends, spread.stepped.contains_key(key))), ..cell },
        None => Cell { interval: Some(String::new()), why: why(true), ..cell },
    }
}

/// What must be known of the numbers of the table.
fn notes(summary: &Summary, stepped: bool) -> Vec<Block> {
    let mut notes = Vec::new();
    if words::is_one_way(summary) {
        notes.push(Note::faint(
            "No response is expected: `response` ends when the system has taken the request.",
        ));
    }
    if stepped {
        notes.push(Note::faint(STEPPED));
    }
    if let Some(text) = words::generator_share::marked(summary) {
        notes.push(Block::Note(Note { tone: Tone::Warn, mark: "* ", text, narrow: false }));
    }
    if let Some(decoded) = summary.decoded.filter(|decoded| decoded.n > 0) {
        let mean = |bytes: u64| size(bytes as f64 / decoded.n as f64);
        notes.push(Note::faint(format!(
            "{} decoded for checks, warm-up included: on average {} came and {} were checked.",
            if decoded.n == 1 {
                "1 body was".to_owned()
            } else {
                format!("{} bodies were", count(decoded.n))
            },
            mean(decoded.encoded_bytes),
            mean(decoded.decoded_bytes)
        )));
    }
    if summary.response.censored > 0 {
        notes.push(Note::faint(format!(
            "{} never got a response: they count as longer than when they were given up, hence `>`. response = done - \
             due; service = done - sent, over requests with a response begun.",
            plural(summary.response.censored, "request")
        )));
    }
    notes
}

/// The parts of a response time that are the target's and the network's; none where nothing tells them.
pub(crate) fn time_split(summary: &Summary) -> Option<Section> {
    let split = summary.time_split.as_ref()?;
    let row = |title: &str, [mean, p50, p90, p99, max]: [Option<f64>; 5], n: u64| {
        let cells = [mean, p50, p90, p99, max].map(|value| bounded(value, false));
        Row::from([vec![Cell::new(title)], cells.into(), vec![Cell::new(count(n))]].concat())
    };
    let part = |title: &str, part: &TimePart| {
        row(title, [part.mean, part.p50, part.p90, part.p99, part.max].map(Some), part.n)
    };
    let first = &summary.first_byte;
    let mut rows = Vec::new();
    rows.extend(split.connect.as_ref().map(|connect| part("connect", connect)));
    rows.extend(split.tls.as_ref().map(|tls| part("TLS handshake", tls)));
    if first.n > 0 {
        rows.push(row("first byte", [first.mean, first.p50, first.p90, first.p99, first.max], first.n));
    }
    rows.extend(split.receive.as_ref().map(|receive| part("receive", receive)));
    if rows.is_empty() {
        return None;
    }
    let numbers = ["mean", "p50", "p90", "p99", "max"].map(|title| Column::number(title, 10));
    let columns = std::iter::once(Column::word("", 17)).chain(numbers);
    let table = Table {
        caption: "Parts of the response time".into(),
        columns: columns.chain([Column::number("n", 13)]).collect(),
        rows,
        ..Table::default()
    };
    let meaning = "first byte: from the first byte sent to the first received; receive: from there to the end of a complete \
                   response; connect and TLS: of new connections alone.";
    let blocks = vec![Block::Table(table), Note::faint(meaning)];
    Some(Section { id: "time-split", title: "Parts of the response time".into(), blocks })
}

/// The generator's lateness, and what held requests back.
pub(crate) fn lateness(summary: &Summary) -> Table {
    let row = |title: &str, tail: &Tail| {
        let values = [("p50", tail.p50), ("p99", tail.p99), ("p999", tail.p999), ("max", tail.max)];
        let cells = values.map(|(key, value)| bounded(value, tail.lower_bound.contains_key(key)));
        let row = std::iter::once(Cell::new(title)).chain(cells).chain([Cell::new(count(tail.n))]);
        Row::from(row.collect::<Vec<Cell>>())
    };
    let numbers = ["p50", "p99", "p99.9", "max"].map(|title| Column::number(title, 11));
    let columns = std::iter::once(Column::word("", 18)).chain(numbers);
    Table {
        caption: "Lateness: send lag is the generator's own; blocked is held back by cap, pool or connection set-up".into(),
        columns: columns.chain([Column::number("n", 14)]).collect(),
        rows: vec![row("send lag", &summary.lag), row("blocked", &summary.blocked)],
        ..Table::default()
    }
}

/// A time that may be a lower bound, or missing.
fn bounded(value: Option<f64>, lower: bool) -> Cell {
    match value.map(time) {
        Some(value) if lower => Cell::toned(Tone::Warn, format!("> {value}")),
        Some(value) => Cell::new(value),
        None => Cell::toned(Tone::Faint, "-"),
    }
}

/// How requests ended; none where it is not known, or none ended.
pub(crate) fn outcomes(summary: &Summary) -> Option<Section> {
    let total = words::total(&summary.outcomes);
    if total == 0 || !words::tells_outcomes(summary) {
        return None;
    }
    let one_way = words::is_one_way(summary);
    let row = |(name, n): (&str, u64)| {
        let tone = if name == "ok" { Tone::Good } else { Tone::Bad };
        vec![
            Cell::toned(tone, name),
            Cell::new(count(n)),
            Cell::new(share_of(n, total)),
            Cell::toned(
                Tone::Faint,
                if name == "ok" && one_way { words::ONE_WAY } else { words::outcome_meaning(name) },
            ),
        ]
    };
    let table = Table {
        caption: format!("How {} ended", plural(total, "request")),
        columns: vec![
            Column::word("outcome", 19),
            Column::number("requests", 14),
            Column::number("share", 13),
            Column::word("meaning", 32),
        ],
        rows: words::outcomes(summary).into_iter().map(|outcome| row(outcome).into()).collect(),
        row: "outcome",
        headed: false,
        ..Table::default()
    };
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(words::failures::when(summary).map(Note::faint));
    Some(Section { id: "outcomes", title: "Outcomes".into(), blocks })
}

/// What became of datagrams over time; none unless that was to be counted.
pub(crate) fn datagrams(summary: &Summary) -> Option<Section> {
    let rows = &summary.generator.as_ref()?.datagrams.as_ref()?.intervals;
    if rows.is_empty() {
        return None;
    }
    let row = |row: &DatagramRow| {
        let StrayCounts { late, duplicates, reordered, unexpected } = row.counts;
        let counts = [
            Some(row.sent),
            row.received,
            row.lost,
            Some(late),
            Some(duplicates),
            Some(reordered),
            Some(unexpected),
        ];
        by_interval([row.from_s, row.to_s], counts)
    };
    let names = ["sent", "received", "lost", "late", "duplicated", "reordered", "unexpected"];
    Some(intervals("datagrams", "Datagrams", names, rows.iter().map(row).collect()))
}

/// What became of attempts to connect, interval by interval; none unless that was asked for.
pub(crate) fn attempts(summary: &Summary) -> Option<Section> {
    let rows = &summary.connects.as_ref()?.intervals;
    if rows.is_empty() {
        return None;
    }
    let row = |row: &ConnectRow| {
        let ConnectCounts { attempts, established, refused, timed_out, local_limit, failed, served } =
            row.counts;
        let counts = [attempts, established, refused, timed_out, local_limit, failed, served];
        by_interval([row.from_s, row.to_s], counts.map(Some))
    };
    let names = ["attempts", "established", "refused", "given up", "local limit", "failed", "served"];
    Some(intervals("attempts", "Attempts to connect", names, rows.iter().map(row).collect()))
}

/// A row of counts from one instant to another, those that are known.
fn by_interval([from_s, to_s]: [f64; 2], counts: [Option<u64>; 7]) -> Row {
    let span = format!("{} to {} s", chosen(from_s), chosen(to_s));
    let counts = counts.into_iter().map(|n| Cell::new(n.map_or("-".into(), count)));
    Row::from(std::iter::once(Cell::new(span)).chain(counts).collect::<Vec<_>>())
}

/// A section of counts by interval.
fn intervals(id: &'static str, title: &str, names: [&str; 7], rows: Vec<Row>) -> Section {
    let mut columns = vec![Column::word("interval", 13)];
    columns.extend(names.map(|name| Column::number(name, name.len().max(7) + 1)));
    let caption = format!("{title} by interval");
    let table = Table { caption, columns, rows, row: "interval", ..Table::default() };
    Section { id, title: title.into(), blocks: vec![Block::Table(table)] }
}

/// How requests failed, by outcome, status code and step; none where the outcomes say all of it.
pub(crate) fn failures(summary: &Summary) -> Option<Section> {
    let total = words::total(&summary.outcomes);
    let steps = summary.failures.iter().any(|failure| failure.step.is_some());
    if !steps && summary.failures.iter().all(|failure| failure.status.is_none()) {
        return None;
    }
    let row = |failure: &Failure| {
        let status = failure.status.map_or("-".into(), |status| Status(status).to_string());
        let mut cells = vec![Cell::toned(Tone::Bad, &failure.outcome), Cell::new(status)];
        cells.extend(steps.then(|| Cell::new(failure.step.as_deref().unwrap_or("-"))));
        cells.extend([Cell::new(count(failure.n)), Cell::new(share_of(failure.n, total))]);
        Row::from(cells)
    };
    let mut columns = vec![Column::word("failure", 19), Column::number("status", 8)];
    columns.extend(steps.then_some(Column::number("step", 25)));
    columns.extend([Column::number("requests", 14), Column::number("share of all", 13)]);
    let table = Table {
        caption: "How requests failed".into(),
        columns,
        rows: summary.failures.iter().map(row).collect(),
        most_rows: MOST_LABELS,
        row: "kind of failure",
        ..Table::default()
    };
    let blocks = vec![Block::Table(table)];
    Some(Section { id: "failures", title: "Failures".into(), blocks })
}

/// Why requests failed, and what helps; none where neither is known.
pub(crate) fn reasons(summary: &Summary) -> Option<Section> {
    let row = |row: &FailureReason| {
        let ended = Cell::toned(Tone::Bad, words::failures::ended(&row.outcome, row.status));
        Row::from(vec![
            ended,
            Cell::new(count(row.n)),
            Cell::new(words::failures::reason(row)),
            Cell::new(words::failures::example(row)),
        ])
    };
    let rows: Vec<Row> = summary.failure_reasons.rows.iter().map(row).collect();
    let kinds = words::failures::all_kinds(summary);
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.push(Block::Table(Table {
            caption: "Why requests failed: each reason, and one request as an example".into(),
            columns: vec![
                Column::word("failure", 19),
                Column::number("requests", 14),
                Column::word("reason", 32),
                Column::word("example", 0),
            ],
            rows,
            most_rows: usize::MAX,
            row: "reason",
            snug: None,
            total: false,
            headed: true,
        }));
    }
    let help = |kind| {
        Block::Note(Note {
            tone: Tone::Strong,
            mark: "next: ",
            narrow: false,
            text: words::failures::advice_in(summary, kind).to_owned(),
        })
    };
    blocks.extend(kinds.into_iter().map(help));
    blocks.extend(words::failures::note(summary).map(Note::faint));
    (!blocks.is_empty()).then(|| Section { id: "reasons", title: "Reasons of failures".into(), blocks })
}

/// Response times by label, the most frequent first; none without labels.
pub(crate) fn labels(summary: &Summary) -> Option<Section> {
    let mut labels: Vec<_> = summary.by_label.iter().collect();
    labels.sort_by_key(|(_, label)| std::cmp::Reverse(label.n));
    let row = |(name, label): (&Cleared, &LabelSummary)| {
        let response = &label.response;
        let at = |key: &str, value| bounded(value, response.lower_bound.contains_key(key));
        let total = words::total(&label.outcomes);
        let failed = total - label.outcomes.get("ok").copied().unwrap_or(0).min(total);
        let cov = summary.arrivals.by_label.get(name).and_then(|arrivals| arrivals.cov);
        vec![
            Cell::new(name.as_str()),
            Cell::new(count(label.n)),
            at("mean", response.mean),
            at("p50", response.p50),
            at("p90", response.p90),
            at("p95", response.p95),
            at("p99", response.p99),
            at("max", response.max),
            Cell::toned(if failed > 0 { Tone::Bad } else { Tone::Plain }, share_of(failed, total)),
            Cell::new(cov.map_or("-".into(), digits)),
        ]
    };
    if labels.is_empty() {
        return None;
    }
    let titles = [
        ("n", 12),
        ("mean", 0),
        ("p50", 12),
        ("p90", 0),
        ("p95", 0),
        ("p99", 12),
        ("max", 0),
        ("failed", 12),
        ("CoV of headways", 0),
    ];
    let columns = titles.map(|(title, width)| Column::number(title, width));
    let table = Table {
        caption: "Response time by label".into(),
        columns: std::iter::once(Column::word("label", 30)).chain(columns).collect(),
        rows: labels.into_iter().map(|label| row(label).into()).collect(),
        most_rows: MOST_LABELS,
        row: "label",
        ..Table::default()
    };
    Some(Section {
        id: "labels",
        title: "By label (response time)".into(),
        blocks: vec![Block::Table(table)],
    })
}

/// Rows of shards that are missing; the others are one row. All are in the JSON.
const MOST_MISSING: usize = 100;

/// The shards that the run was merged of; none of a run that was not.
pub(crate) fn shards(summary: &Summary) -> Option<Section> {
    if summary.shards.is_empty() {
        return None;
    }
    let row = |shard: &ShardCoverage| {
        let (log, tone) = words::shard_log(shard);
        let lacks = if shard.without_record > 0 { Tone::Bad } else { Tone::Plain };
        Row::from(vec![
            Cell::toned(tone, shard.shard.as_str()),
            Cell::new(shard.planned.map_or("-".into(), count)),
            Cell::new(count(shard.sent)),
            Cell::new(count(shard.records)),
            Cell::toned(lacks, count(shard.without_record)),
            Cell::toned(tone, log),
            Cell::new(shard.host.as_deref().unwrap_or("-")),
        ])
    };
    let is_missing = |shard: &&ShardCoverage| shard.log == ShardLog::Missing;
    let beyond: Vec<&ShardCoverage> = summary.shards.iter().filter(is_missing).skip(MOST_MISSING).collect();
    let first = beyond.first().map(|shard| shard.shard.as_str());
    let mut missing_from_here = false;
    let shown = summary.shards.iter().filter(|shard| {
        missing_from_here |= Some(shard.shard.as_str()) == first;
        !(missing_from_here && is_missing(shard))
    });
    let mut rows: Vec<Row> = shown.map(row).collect();
    if !beyond.is_empty() {
        rows.push(row(&ShardCoverage {
            shard: format!("{} more", count(beyond.len() as u64)),
            planned: beyond.iter().map(|shard| shard.planned).sum(),
            without_record: beyond.iter().map(|shard| shard.without_record).sum(),
            log: ShardLog::Missing,
            ..ShardCoverage::default()
        }));
    }
    let table = Table {
        caption: "Shards".into(),
        columns: vec![
            Column::word("shard", 1),
            Column::number("planned", 1),
            Column::number("sent", 1),
            Column::number("records", 1),
            Column::number("without record", 1),
            Column::word("log", 1),
            Column::word("host", 1),
        ],
        rows,
        row: "shard",
        snug: Some(5),
        ..Table::default()
    };
    Some(Section { id: "shards", title: "Shards".into(), blocks: vec![Block::Table(table)] })
}

/// The groups of users that a foreign file names; none without groups.
pub(crate) fn groups(summary: &Summary) -> Option<Section> {
    let row = |group: &ThreadGroup| {
        Row::from(vec![
            Cell::new(group.name.as_str()),
            Cell::new(count(group.n)),
            Cell::new(group.rate.map_or("-".into(), rate)),
            Cell::new(group.cov.map_or("-".into(), digits)),
        ])
    };
    let table = Table {
        caption: "Thread groups".into(),
        columns: vec![
            Column::word("group", 34),
            Column::number("n", 14),
            Column::number("rate", 14),
            Column::number("CoV of headways", 18),
        ],
        rows: summary.thread_groups.iter().map(row).collect(),
        most_rows: MOST_LABELS,
        row: "group",
        ..Table::default()
    };
    let blocks = vec![Block::Table(table)];
    (!summary.thread_groups.is_empty()).then(|| Section {
        id: "groups",
        title: "Thread groups".into(),
        blocks,
    })
}

/// The thresholds, each with what it was judged on; none where there are none.
pub(crate) fn thresholds(summary: &Summary) -> Option<Section> {
    if summary.thresholds.is_empty() {
        return None;
    }
    let table = Table {
        caption: "Thresholds".into(),
        columns: threshold_columns(),
        rows: summary.thresholds.iter().map(|of| threshold(of).into()).collect(),
        row: "threshold",
        ..Table::default()
    };
    let judged = "Judged on the value; an interval astride the limit says that another run may come out the other way.";
    let blocks = vec![Block::Table(table), Note::faint(judged)];
    Some(Section { id: "thresholds", title: "Thresholds".into(), blocks })
}

/// Titles of what [`threshold`] tells.
pub(crate) fn threshold_columns() -> Vec<Column> {
    vec![
        Column::word("threshold", 20),
        Column::word("outcome", 12),
        Column { intervals: 20, ..Column::number("value", 12) },
        Column::number("demanded", 12),
        Column::number("n", 12),
        Column::word("note", 30),
    ]
}

/// A threshold and what it was judged on.
pub(crate) fn threshold(of: &ThresholdResult) -> Vec<Cell> {
    let (shown, tone) = words::thresholds::outcome(of.outcome);
    vec![
        Cell::new(of.text.as_str()),
        Cell::toned(tone, shown),
        Cell { interval: Some(words::thresholds::interval(of)), ..Cell::new(words::thresholds::value(of)) },
        Cell::new(words::thresholds::limit(of)),
        Cell::new(count(of.n)),
        Cell::new(of.reason.as_ref().map(words::why::why).unwrap_or_default()),
    ]
}
