//! What was sent and what came back, every number as a table with its n, and its interval where it has one.

use super::content::{blocks, section, table as content_table};
use super::markup::{Cell, Markup, cell, number, toned, word};
use crate::content;
use crate::format::{count, instant, number as digits, p_value, time, time_range};
use crate::words::{self, Tone};
use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::summary::{Interval, RuleResult};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".into(), show)
}

fn bounded(value: Option<f64>, lower: bool, show: impl Fn(f64) -> String) -> Cell {
    match value {
        Some(value) if lower => toned(Tone::Warn, format!("> {}", show(value))),
        Some(value) => cell(show(value)),
        None => toned(Tone::Faint, "-"),
    }
}

/// Response and service time, and what else has a distribution.
pub(super) fn times(page: &mut Markup, summary: &Summary) {
    let times = content::run::times(summary);
    page.section(times.id, &times.title);
    if let Some(caveat) = words::caveat(summary) {
        page.element("p", "caveat", caveat);
    }
    page.element(
        "p",
        "",
        "Response time runs from when a request was due to when it was done, over every arrival of the measured phase; \
         service time from when it was sent. Intervals are 95 % and allow for the dependence between successive \
         requests.",
    );
    if let Some(meaning) = words::conditional_meaning(summary) {
        page.element("p", "", meaning);
    }
    blocks(page, &times);
    page.end_section();
}

/// Asked and sent, lag and blocked.
pub(super) fn arrivals(page: &mut Markup, summary: &Summary) {
    let arrivals = &summary.arrivals;
    let coarse = summary.audit.as_ref().is_some_and(words::audit::is_coarse);
    let table = words::table(summary);
    page.section("arrivals", table.title);
    let rows: Vec<Vec<Cell>> = table
        .rows
        .into_iter()
        .map(|row| {
            let tone = if row.tone == Tone::Faint { Tone::Plain } else { row.tone };
            vec![cell(row.name), cell(row.asked), cell(row.sent), toned(tone, row.note)]
        })
        .collect();
    let caption = format!("{}: {} and {}", table.title, table.asked, table.sent);
    page.table(&caption, &[word(""), number(table.asked), number(table.sent), word("")], &rows);
    page.element("p", "faint", table.meaning);
    content_table(page, &content::run::lateness(summary));
    let mut pairs = vec![
        ("headways", format!("n = {}", count(arrivals.n))),
        (
            "mean headway",
            format!(
                "{} (standard deviation {})",
                dash(arrivals.headway_mean, time),
                dash(arrivals.headway_sd, time)
            ),
        ),
        ("shortest, longest", format!("{}, {}", dash(arrivals.min, time), dash(arrivals.max, time))),
        (
            "p50, p90, p95, p99",
            [arrivals.p50, arrivals.p90, arrivals.p95, arrivals.p99].map(|p| dash(p, time)).join(", "),
        ),
        ("correlation of successive headways", dash(arrivals.lag1, digits)),
        (
            "skewness, kurtosis",
            format!(
                "{}, {} (2 and 9 for exponential headways)",
                dash(arrivals.skewness, digits),
                dash(arrivals.kurtosis, digits)
            ),
        ),
    ];
    for (name, ks) in [
        ("KS distance from the plan's law", arrivals.ks.plan),
        ("KS distance from an exponential", arrivals.ks.exponential),
    ] {
        if let Some(ks) = ks.filter(|_| !coarse) {
            pairs.push((name, format!("D = {} ({}, n = {})", digits(ks.d), p_value(ks.p), count(ks.n))));
        }
    }
    if arrivals.in_pause > 0 {
        pairs.push((
            "starts inside a pause",
            format!("{}, counted as its beginning", count(arrivals.in_pause)),
        ));
    }
    page.pairs(&pairs);
    page.end_section();
}

/// Rule, value, interval, tolerance, outcome.
pub(super) fn rules(page: &mut Markup, summary: &Summary) {
    let verdict = &summary.verdict;
    if verdict.rules.is_empty() && verdict.pattern_rules.is_empty() {
        return;
    }
    page.section("rules", "Rules of the verdict");
    page.element(
        "p",
        "",
        "A rule passes if the 95 % interval of its value lies inside what is tolerated, fails if it lies outside, and is \
         undecided if it lies astride.",
    );
    if let Some(text) = words::lateness(summary) {
        page.element("p", "", &format!("Of the load verdict, {text}."));
    }
    table_of_rules(page, "Rules of the load verdict", &verdict.rules);
    table_of_rules(page, "Rules of the arrival pattern", &verdict.pattern_rules);
    page.end_section();
}

fn table_of_rules(page: &mut Markup, caption: &str, rules: &[RuleResult]) {
    if rules.is_empty() {
        return;
    }
    let rows: Vec<Vec<Cell>> = rules
        .iter()
        .map(|rule| {
            let (outcome, tone) = words::rule_outcome(rule.outcome);
            vec![
                cell(words::rule_title(rule)),
                cell(words::rule_statistic(rule)),
                cell(words::rule_interval(rule)),
                cell(words::rule_limits(rule)),
                toned(tone, outcome),
                cell(count(rule.n)),
                toned(Tone::Faint, rule.reason.as_ref().map(words::why::why).unwrap_or_default()),
            ]
        })
        .collect();
    let head = [
        word("rule"),
        number("value"),
        number("95 % interval"),
        number("tolerated"),
        word("outcome"),
        number("n"),
        word(""),
    ];
    page.table(caption, &head, &rows);
}

/// How sessions that arrive fared.
pub(super) fn sessions(page: &mut Markup, summary: &Summary) {
    let Some(block) = &summary.sessions else { return };
    page.section("sessions", "Sessions").facts(&words::sessions(summary));
    let duration = &block.duration;
    let at = |name: &str, value| bounded(value, duration.lower_bound.contains_key(name), time);
    let mut rows = Vec::new();
    if duration.n > 0 {
        let interval = |of: Option<Interval>| {
            toned(Tone::Faint, of.map_or(String::new(), |[low, high]| time_range(low, high)))
        };
        rows.push(vec![
            cell("duration, from due to end"),
            at("mean", duration.mean),
            at("p50", duration.p50),
            at("p99", duration.p99),
            at("max", duration.max),
            cell(count(duration.n)),
        ]);
        let ci = &duration.ci95;
        let mut row = vec![toned(Tone::Faint, "95 % interval")];
        row.extend([ci.mean, ci.p50, ci.p99].map(interval));
        row.extend([cell(""), cell("")]);
        rows.push(row);
    }
    for (title, held) in [
        ("held back before they could start", &block.blocked),
        ("held back, over all their requests", &block.blocked_all),
    ] {
        let mut row = vec![cell(title)];
        row.extend([held.mean, held.p50, held.p99, held.max].map(|value| bounded(value, false, time)));
        row.push(cell(count(held.n)));
        rows.push(row);
    }
    let head = ["mean", "p50", "p99", "max", "n"].map(number);
    let head: Vec<_> = std::iter::once(word("")).chain(head).collect();
    page.table("Durations, and how long sessions were held back", &head, &rows);
    let steps = block.first_sent.keys().chain(block.first_response.keys()).collect::<BTreeSet<_>>();
    if !steps.is_empty() {
        let first = |of: &BTreeMap<Cleared, f64>, step: &Cleared| cell(dash(of.get(step).copied(), instant));
        let row = |step: &Cleared| {
            vec![cell(step), first(&block.first_sent, step), first(&block.first_response, step)]
        };
        let rows: Vec<Vec<Cell>> = steps.into_iter().map(row).collect();
        let head = [word("step"), number("first sent"), number("first answer")];
        page.table("When each step was first sent and first answered, on the plan's clock", &head, &rows);
    }
    page.end_section();
}

/// Users who wait for their answers, and groups that a foreign file names.
pub(super) fn users(page: &mut Markup, summary: &Summary) {
    let facts = words::users(summary);
    if !facts.is_empty() {
        page.section("users", "Users").facts(&facts);
        let estimated = summary.closed.as_ref().and_then(|closed| closed.estimated.as_ref());
        if let Some(estimated) = estimated {
            page.element("p", "faint", &format!("How it was estimated: {}.", words::method(estimated)));
        }
        page.end_section();
    }
    content::run::groups(summary).iter().for_each(|groups| section(page, groups));
}
