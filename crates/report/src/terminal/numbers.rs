//! What was sent and what came back: arrivals, times, outcomes, labels, sessions, users.

use super::content::{blocks, section, table};
use super::layout::{Align, INDENT, Page, Span, cell, span};
use crate::content;
use crate::format::{count, size, time};
use crate::words::audit::Fact;
use crate::words::{self, Tone};
use headway_stats::Summary;

fn right(text: impl AsRef<str>, width: usize) -> Span {
    cell(Tone::Plain, text, width, Align::Right)
}

fn head(text: &str, width: usize) -> Span {
    cell(Tone::Faint, text, width, Align::Right)
}

fn left(text: impl AsRef<str>, width: usize) -> Span {
    cell(Tone::Plain, text, width, Align::Left)
}

fn or_dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".into(), show)
}

/// Asked against sent, then the generator's lateness and what held requests back.
pub(super) fn arrivals(page: &mut Page, summary: &Summary) {
    let asked = words::table(summary);
    page.heading(asked.title);
    page.line(&[left("", 18), head(asked.asked, 14), head(asked.sent, 14)]);
    for row in asked.rows {
        let note = if row.note.is_empty() { String::new() } else { format!("   {}", row.note) };
        page.line(&[
            left(format!("  {}", row.name), 18),
            right(row.asked, 14),
            right(row.sent, 14),
            span(row.tone, note),
        ]);
    }
    page.labelled("", Tone::Faint, asked.meaning);
    if let Some(log) = summary.plan.as_ref().and_then(|plan| plan.log.as_ref()) {
        page.labelled("log", Tone::Plain, &words::plan::log(log));
    }
    if summary.lag.n > 0 || summary.blocked.n > 0 {
        table(page, &content::run::lateness(summary), "");
        let late = summary.lag.max.is_some_and(|max| max > 0.0);
        if let Some(text) = words::lateness(summary).filter(|_| late) {
            page.labelled("", Tone::Faint, &text);
        }
    }
}

/// A time that may be a lower bound, or missing.
fn bounded(value: Option<f64>, lower_bound: bool) -> String {
    match value {
        Some(value) if lower_bound => format!("> {}", time(value)),
        Some(value) => time(value),
        None => "-".into(),
    }
}

/// Response and service time side by side: the gap between them is waiting that the generator or the cap caused.
pub(super) fn times(page: &mut Page, summary: &Summary) {
    let times = content::run::times(summary);
    page.heading(&times.title);
    let mut flag = "  ";
    if let Some(caveat) = words::caveat(summary) {
        let tone = words::load(summary).tone;
        flag = if tone == Tone::Bad { "!!" } else { " !" };
        page.marked(0, &format!("{flag} "), tone, caveat);
    }
    blocks(page, &times, flag);
    successes(page, summary);
    split(page, summary, flag);
    if let Some(meaning) = words::conditional_meaning(summary) {
        page.marked(3, "", Tone::Faint, meaning);
    }
}

/// The parts of a response time.
pub(super) fn time_split(page: &mut Page, summary: &Summary) {
    content::run::time_split(summary).iter().for_each(|parts| section(page, parts));
}

/// The events of responses.
pub(super) fn events(page: &mut Page, summary: &Summary) {
    content::events::events(summary).iter().for_each(|events| section(page, events));
}

/// Response times of the successes, where there are failures.
pub(super) fn successes(page: &mut Page, summary: &Summary) {
    let ok = &summary.response_ok;
    if ok.n > 0 && ok.n < summary.response.n {
        let text = format!(
            "mean {}, p50 {}, p99 {}, max {} (n = {})",
            or_dash(ok.mean, time),
            or_dash(ok.p50, time),
            or_dash(ok.p99, time),
            or_dash(ok.max, time),
            count(ok.n)
        );
        page.labelled(" successes", Tone::Plain, &text);
    }
}

/// Open response times apart from those that follow from answers.
fn split(page: &mut Page, summary: &Summary, flag: &'static str) {
    let Some(kinds) = words::split(summary) else { return };
    page.line(&[left("   response", 26), head("mean", 11), head("p50", 11), head("p99", 11), head("n", 14)]);
    for (name, spread) in kinds {
        let at = |name: &str, value| right(bounded(value, spread.lower_bound.contains_key(name)), 11);
        page.line(&[
            cell(Tone::Bad, flag, 3, Align::Left),
            left(name, 23),
            at("mean", spread.mean),
            at("p50", spread.p50),
            at("p99", spread.p99),
            right(count(spread.n), 14),
        ]);
    }
}

/// How requests ended, and how large the answers were.
pub(super) fn outcomes(page: &mut Page, summary: &Summary) {
    let Some(outcomes) = content::run::outcomes(summary) else { return };
    section(page, &outcomes);
    content::run::failures(summary).iter().for_each(|failures| section(page, failures));
    content::over_time::failures(summary).iter().for_each(|failures| section(page, failures));
    reasons(page, summary);
    let bytes = &summary.bytes;
    if bytes.n > 0 {
        let text = format!(
            "of a response: mean {}, p50 {}, max {} (n = {})",
            or_dash(bytes.mean, size),
            or_dash(bytes.p50, size),
            or_dash(bytes.max, size),
            count(bytes.n)
        );
        page.labelled("size", Tone::Plain, &text);
    }
    let per_second = |bytes| or_dash(bytes, |bytes| format!("{}/s", size(bytes)));
    if summary.rate.bytes_received.is_some() {
        let (received, sent) = (per_second(summary.rate.bytes_received), per_second(summary.rate.bytes_sent));
        page.labelled("bytes", Tone::Plain, &format!("{received} received, {sent} sent"));
    }
    let counted = content::run::datagrams(summary).into_iter().chain(content::run::attempts(summary));
    counted.for_each(|counted| section(page, &counted));
}

/// Why requests failed, and what helps.
fn reasons(page: &mut Page, summary: &Summary) {
    let rows = &summary.failure_reasons.rows;
    let kinds = words::failures::all_kinds(summary);
    if rows.is_empty() && kinds.is_empty() {
        return;
    }
    page.heading("Reasons of failures");
    for row in rows {
        let text = format!(
            "{} ({})",
            words::failures::example(row),
            words::failures::ended(&row.outcome, row.status)
        );
        page.marked(INDENT, &format!("{:>9}  ", count(row.n)), Tone::Plain, &text);
    }
    for kind in kinds {
        page.marked(INDENT, "next: ", Tone::Strong, words::failures::advice_in(summary, kind));
    }
    if let Some(note) = words::failures::note(summary) {
        page.marked(INDENT, "", Tone::Faint, &note);
    }
}

/// One line per label, the most frequent first.
pub(super) fn labels(page: &mut Page, summary: &Summary) {
    if summary.by_label.len() < 2 {
        return;
    }
    content::run::labels(summary).iter().for_each(|labels| section(page, labels));
}

/// The shards that a run was merged of.
pub(super) fn shards(page: &mut Page, summary: &Summary) {
    content::run::shards(summary).iter().for_each(|shards| section(page, shards));
}

/// A heading and its facts; nothing without facts.
pub(super) fn facts(page: &mut Page, title: &str, facts: &[Fact]) {
    if facts.is_empty() {
        return;
    }
    page.heading(title);
    for fact in facts {
        page.labelled(fact.name, fact.tone, &fact.text);
    }
}

/// Sessions that arrive, users of a closed workload, and the groups of users that a foreign file names.
pub(super) fn users(page: &mut Page, summary: &Summary) {
    facts(page, "Sessions", &words::sessions(summary));
    facts(page, "Users", &words::users(summary));
    content::run::groups(summary).iter().for_each(|groups| section(page, groups));
}
