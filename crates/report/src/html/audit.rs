//! What the page shows of an audit beside what a run has as well: files, what was judged, tables by label, users.
//!
//! Every label is in the tables, and every file; the terminal has the short form.

use super::markup::{Cell, Column as Head, Markup, cell, number, toned, word};
use super::tables::dash;
use super::tiles::Tile;
use super::{content, figures, markup, run_content, tables};
use crate::brady::{self, Grid, Table};
use crate::format::{chosen, count, number as digits, percentile, rate, share_of, size, time};
use crate::words::audit::COARSE;
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{Audit, Column};

/// Everything between the verdict and what was not computed.
pub(super) fn sections(page: &mut Markup, summary: &Summary, audit: &Audit) {
    files(page, audit);
    facts(page, "judged", "What was judged", &words::audit::selection(summary, audit));
    facts(page, "pattern", "What the pattern rests on", &words::audit::starts(summary));
    figures::headways(page, summary);
    figures::counts(page, audit);
    figures::dispersion(page, summary);
    by_label(page, summary, audit);
    figures::percentiles(page, summary);
    figures::over_time(page, summary);
    if let Some(closed) = &summary.closed {
        facts(page, "users", "Users", &words::audit::closed(closed));
    }
    figures::groups(page, summary);
    if summary.plan.is_some() {
        tables::arrivals(page, summary);
    }
    tables::rules(page, summary);
    run_content::outcomes(summary).iter().for_each(|part| content::section(page, part));
    failures(page, audit);
}

/// The numbers that an audit is read for.
pub(super) fn tiles(summary: &Summary, audit: &Audit) -> Vec<Tile> {
    let arrivals = &summary.arrivals;
    let total = words::total(&summary.outcomes);
    let failed = total - summary.outcomes.get("ok").copied().unwrap_or(0).min(total);
    let error = match arrivals.cov_se {
        _ if words::audit::is_coarse(audit) => words::audit::OF_THE_CLOCK.to_owned(),
        Some(se) => format!("standard error {}", digits(se)),
        None => String::new(),
    };
    let failures = match words::tells_outcomes(summary) {
        true => ("Failed", share_of(failed, total), format!("{} of {}", count(failed), count(total))),
        false => ("Failed", "-".into(), words::NOT_TOLD.into()),
    };
    let rort = summary.closed.as_ref().and_then(|closed| closed.rort);
    vec![
        ("CoV of headways", dash(arrivals.cov, digits), error),
        (
            "Rate",
            dash(arrivals.rate, rate),
            format!("{} {}", count(arrivals.started), words::audit::judged(summary)),
        ),
        (
            "Rate x resolution",
            dash(audit.resolution.rate_x_q, digits),
            format!("above {} headways say nothing", chosen(COARSE)),
        ),
        ("Response, mean", dash(summary.response.mean, time), format!("n = {}", count(summary.response.n))),
        failures,
        ("RoRT", dash(rort, crate::format::share), "share of a user's cycle spent waiting".into()),
    ]
}

fn facts(page: &mut Markup, id: &'static str, title: &'static str, facts: &[words::audit::Fact]) {
    if facts.is_empty() {
        return;
    }
    page.section(id, title).facts(facts);
    page.raw("</section>\n");
}

fn files(page: &mut Markup, audit: &Audit) {
    if audit.files.is_empty() {
        return;
    }
    page.section("files", "Files");
    for file in &audit.files {
        let path = if file.path == "-" { "standard input" } else { &file.path };
        page.element("h3", "path", path).facts(&words::audit::file(file, audit));
    }
    page.raw("</section>\n");
}

/// The table of headways.
const HEADWAYS: &str = "headways-by-label";

/// A measure of the tables: its title, its rows, how its numbers are shown.
struct Measure<'a> {
    id: &'static str,
    title: &'static str,
    rows: &'a [Column],
    show: fn(f64) -> String,
}

fn by_label(page: &mut Markup, summary: &Summary, audit: &Audit) {
    if brady::asked(summary).is_some() {
        return in_his_layout(page, summary, audit);
    }
    let tables = &audit.tables;
    let speed = |bytes: f64| format!("{}/s", size(bytes));
    let measures = [
        Measure { id: HEADWAYS, title: "Headways of requests", rows: &tables.headways, show: time },
        Measure { id: "response", title: "Response time", rows: &tables.response, show: time },
        Measure { id: "first-byte", title: "Time to the first byte", rows: &tables.first_byte, show: time },
        Measure { id: "bytes", title: "Bytes received", rows: &tables.bytes, show: size },
        Measure { id: "bandwidth", title: "Bandwidth", rows: &tables.bandwidth, show: speed },
    ];
    for measure in measures.iter().filter(|measure| !measure.rows.is_empty()) {
        table(page, summary, audit, measure);
    }
}

fn table(page: &mut Markup, summary: &Summary, audit: &Audit, measure: &Measure<'_>) {
    let headways = measure.id == HEADWAYS;
    page.section(measure.id, measure.title);
    if let Some(caveat) = words::caveat(summary).filter(|_| measure.id == "response") {
        page.element("p", "caveat", caveat);
    }
    // Rate and failures are those of the requests, whatever is measured of them: each is shown once.
    let (rated, failures) = (headways, measure.id == "response");
    let mut head = vec![word("label"), number("n")];
    head.extend(rated.then(|| number("rate")));
    let vmr = words::audit::shows_vmr(audit) && !headways;
    head.extend(["median", "mean", "sd", if vmr { "variance / mean" } else { "CoV \u{b1} se" }].map(number));
    head.extend(audit.percentiles.iter().map(|&p| number(percentile(p))));
    head.extend(["min", "max"].map(number));
    head.extend(failures.then(|| number("failed")));
    let (mut rows, mut marked) = (Vec::new(), false);
    for (i, row) in measure.rows.iter().enumerate() {
        let tone = if i + 1 == measure.rows.len() { Tone::Strong } else { Tone::Plain };
        let coarse = headways && words::audit::is_coarse_row(audit, row, i + 1 == measure.rows.len());
        marked |= coarse;
        let shown = |value: Option<f64>| toned(tone, dash(value, measure.show));
        let error = row.cov_se.map_or(String::new(), |se| format!(" \u{b1} {}", digits(se)));
        let cov = match vmr {
            true => dash(row.vmr, measure.show),
            false => dash(row.cov, digits) + &error + if coarse { "*" } else { "" },
        };
        let mut cells = vec![toned(tone, &*row.label), toned(tone, count(row.n))];
        cells.extend(rated.then(|| toned(tone, dash(row.rate, rate))));
        cells.extend([shown(row.median), shown(row.mean), shown(row.sd)]);
        cells.push(toned(if coarse { Tone::Warn } else { tone }, cov));
        cells.extend((0..audit.percentiles.len()).map(|i| shown(row.percentiles.get(i).copied().flatten())));
        cells.extend([shown(row.min), shown(row.max)]);
        let failed = if row.failed > 0 { Tone::Bad } else { tone };
        cells.extend(failures.then(|| toned(failed, share_of(row.failed, row.n))));
        rows.push(cells);
    }
    let caption = if rows.len() > 1 { "By label and in total" } else { "In total" };
    page.table(caption, &head, &rows);
    if let Some(text) = words::audit::without_bandwidth(audit).filter(|_| measure.id == "bandwidth") {
        page.element("p", "", &format!("{text}."));
    }
    if marked {
        let text = format!(
            "* rate x resolution is above {}: these headways describe the stamps and not the users.",
            chosen(COARSE)
        );
        page.element("p", "warn", &text);
    }
    page.raw("</section>\n");
}

/// Failures by outcome, status and message.
fn failures(page: &mut Markup, audit: &Audit) {
    if audit.failures.is_empty() {
        return;
    }
    page.section("failures", "Failures");
    let head = [word("how"), number("n"), number("first, s"), number("last, s")];
    let row = |kind: &headway_stats::summary::FailureKind| {
        let seconds = |s: f64| cell(format!("{s:.3}"));
        vec![
            cell(words::audit::failure(kind)),
            cell(count(kind.n)),
            seconds(kind.first_s),
            seconds(kind.last_s),
        ]
    };
    let rows: Vec<_> = audit.failures.iter().map(row).collect();
    page.table("Failures by outcome, status and message; seconds since the first start", &head, &rows);
    if audit.more_failures > 0 {
        page.element("p", "", &format!("{} more kinds are not listed.", count(audit.more_failures)));
    }
    page.raw("</section>\n");
}

fn his_table(page: &mut Markup, caption: &str, his: Grid) {
    let head: Vec<Head> = his
        .head
        .into_iter()
        .enumerate()
        .map(|(i, title)| if i == 0 { word(title) } else { number(title) })
        .collect();
    let rows: Vec<Vec<Cell>> = his.rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
    page.table(caption, &head, &rows);
}

/// Brady's tables, as his tool prints them.
fn in_his_layout(page: &mut Markup, summary: &Summary, audit: &Audit) {
    page.section("brady", "Tables as Brady's tool prints them");
    page.element(
        "p",
        "",
        "Times in milliseconds, sizes in bytes; whole numbers cut off, his rule of quantiles.",
    );
    for (caption, table) in [
        ("Times between arrivals (his figure 13)", Table::Arrivals),
        ("Response times, failures, throughput", Table::Response),
        ("Bytes", Table::Bytes),
        ("Times to the first byte", Table::FirstByte),
    ] {
        if let Some(his) = brady::table(audit, table, brady::columns(audit, table)) {
            his_table(page, caption, his);
        }
    }
    if let Some(his) = brady::groups(summary) {
        his_table(page, "Times between arrivals by thread group (his figures 15 and 16)", his);
    }
    page.raw("</section>\n");
}

/// The class of an answer's edge for the whole verdict: that of the pattern, unless the load was held to a plan.
pub(super) fn edge(summary: &Summary) -> &'static str {
    let answer = if summary.verdict.load.is_some() { words::load(summary) } else { words::pattern(summary) };
    match markup::tone_class(answer.tone) {
        "" => "plain",
        class => class,
    }
}
