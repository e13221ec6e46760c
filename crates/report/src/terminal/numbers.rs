//! What was sent and what came back: arrivals, times, outcomes, labels, sessions, users.

use super::layout::{Align, Page, Span, cell, span};
use crate::format::{STEPPED, count, interval_cell, number, plural, rate, share_of, size, time};
use crate::words::audit::Fact;
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{Interval, Spread, Tail};

/// Rows of the table by label before the rest is left to the other outputs.
const MOST_LABELS: usize = 12;

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
    let table = words::table(summary);
    page.heading(table.title);
    page.line(&[left("", 18), head(table.asked, 14), head(table.sent, 14)]);
    for row in table.rows {
        let note = if row.note.is_empty() { String::new() } else { format!("   {}", row.note) };
        page.line(&[
            left(format!("  {}", row.name), 18),
            right(row.asked, 14),
            right(row.sent, 14),
            span(row.tone, note),
        ]);
    }
    page.labelled("", Tone::Faint, table.meaning);
    if summary.lag.n > 0 || summary.blocked.n > 0 {
        let heads = ["p50", "p99", "p99.9", "max"].map(|name| head(name, 11));
        page.line(&std::iter::once(left("", 18)).chain(heads).chain([head("n", 14)]).collect::<Vec<_>>());
        tail(page, "  release lag", &summary.lag);
        tail(page, "  blocked", &summary.blocked);
    }
}

fn tail(page: &mut Page, label: &str, tail: &Tail) {
    let values = [("p50", tail.p50), ("p99", tail.p99), ("p999", tail.p999), ("max", tail.max)];
    let mut cells = vec![left(label, 18)];
    cells.extend(values.map(|(name, value)| right(bounded(value, tail.lower_bound.contains_key(name)), 11)));
    cells.push(right(count(tail.n), 14));
    page.line(&cells);
}

/// A time that may be a lower bound, or missing.
fn bounded(value: Option<f64>, lower_bound: bool) -> String {
    match value {
        Some(value) if lower_bound => format!("> {}", time(value)),
        Some(value) => time(value),
        None => "-".into(),
    }
}

/// Few things by key, in the order in which they came.
type Keyed<T> = Vec<(String, T)>;

/// Reasons for missing numbers, each said once, with what they speak of: `response` or `intervals of response`, and
/// the numbers' names.
struct Footnotes<'a> {
    summary: &'a Summary,
    said: Keyed<Keyed<Vec<&'static str>>>,
}

impl Footnotes<'_> {
    /// What stands in place of the number at `block.name` (or of its interval), in a block of `n` observations.
    fn dash(&mut self, block: &str, interval: bool, name: &'static str, n: u64) -> String {
        let path = if interval { format!("{block}.ci95.{name}") } else { format!("{block}.{name}") };
        let reason = match self.summary.not_computed.get(&path) {
            Some(reason) => reason.clone(),
            None if n == 0 => "nothing was observed".into(),
            None => return "-".into(),
        };
        let of = if interval { format!("intervals of {block}") } else { block.to_owned() };
        let (place, said) = entry(&mut self.said, reason);
        entry(said, of).1.push(if name == "p999" { "p99.9" } else { name });
        format!("- [{}]", place + 1)
    }

    fn print(&self, page: &mut Page) {
        for (i, (reason, said)) in self.said.iter().enumerate() {
            let whats: Vec<String> =
                said.iter().map(|(of, names)| format!("{of} {}", names.join(", "))).collect();
            page.marked(3, &format!("[{}] ", i + 1), Tone::Faint, &format!("{}: {reason}", whats.join("; ")));
        }
    }
}

/// What is kept under `key`, and its place.
fn entry<T: Default>(kept: &mut Keyed<T>, key: String) -> (usize, &mut T) {
    let place = kept.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        kept.push((key, T::default()));
        kept.len() - 1
    });
    (place, &mut kept[place].1)
}

/// A line of the table of times: name in the document, name for people, value, interval.
type TimeRow = (&'static str, &'static str, Option<f64>, Option<Interval>);

fn rows(spread: &Spread) -> [TimeRow; 7] {
    let ci = &spread.ci95;
    [
        ("mean", "mean", spread.mean, ci.mean),
        ("p50", "p50", spread.p50, ci.p50),
        ("p90", "p90", spread.p90, ci.p90),
        ("p95", "p95", spread.p95, ci.p95),
        ("p99", "p99", spread.p99, ci.p99),
        ("p999", "p99.9", spread.p999, ci.p999),
        ("max", "max", spread.max, None),
    ]
}

/// Response and service time side by side: the gap between them is waiting that the generator or the cap caused.
pub(super) fn times(page: &mut Page, summary: &Summary) {
    page.heading(&format!("Times{}", words::conditional(summary)));
    let mut flag = "  ";
    if let Some(caveat) = words::caveat(summary) {
        let tone = words::load(summary).tone;
        flag = if tone == Tone::Bad { "!!" } else { " !" };
        page.marked(0, &format!("{flag} "), tone, caveat);
    }
    let mut notes = Footnotes { summary, said: Vec::new() };
    page.line(&[
        left("", 9),
        head("response", 12),
        head("95 % interval", 21),
        head("service", 14),
        head("95 % interval", 21),
    ]);
    let (response, service) = (rows(&summary.response), rows(&summary.service));
    for (r, s) in response.into_iter().zip(service) {
        let mut cells = vec![cell(Tone::Bad, flag, 3, Align::Left), left(r.1, 6)];
        for (block, spread, row, width) in
            [("response", &summary.response, r, 12), ("service", &summary.service, s, 14)]
        {
            let (name, _, value, interval) = row;
            let lower = spread.lower_bound.contains_key(name);
            let shown = match value {
                Some(_) => bounded(value, lower) + words::generator_share::mark(spread, name),
                None => notes.dash(block, false, name, spread.n),
            };
            cells.push(cell(if lower { Tone::Warn } else { Tone::Plain }, shown, width, Align::Right));
            let shown = match interval {
                Some(interval) => interval_cell(interval, spread.stepped.contains_key(name)),
                // A missing value says it all; a largest value has no interval.
                None if value.is_none() || name == "max" => String::new(),
                None => notes.dash(block, true, name, spread.n),
            };
            cells.push(cell(Tone::Faint, shown, 21, Align::Right));
        }
        page.line(&cells);
    }
    page.line(&[
        left("   n", 9),
        right(count(summary.response.n), 12),
        left("", 21),
        right(count(summary.service.n), 14),
    ]);
    notes.print(page);
    if [&summary.response, &summary.service].iter().any(|spread| !spread.stepped.is_empty()) {
        page.marked(3, "", Tone::Faint, STEPPED);
    }
    if let Some(text) = words::generator_share::marked(summary) {
        page.marked(3, "* ", Tone::Warn, &text);
    }
    if summary.response.censored > 0 {
        let text = format!(
            "{} never got an answer: they count as longer than when they were given up, hence `>`. response = done - \
             due; service = done - sent, over requests with an answer begun.",
            plural(summary.response.censored, "request")
        );
        page.marked(3, "", Tone::Faint, &text);
    }
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
    split(page, summary, flag);
    if let Some(meaning) = words::conditional_meaning(summary) {
        page.marked(3, "", Tone::Faint, meaning);
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
    let total = words::total(&summary.outcomes);
    if total == 0 {
        return;
    }
    page.heading("Outcomes");
    for (name, n) in words::outcomes(summary) {
        page.line(&[
            left("", 2),
            cell(if name == "ok" { Tone::Good } else { Tone::Bad }, name, 17, Align::Left),
            right(count(n), 14),
            right(share_of(n, total), 13),
            left("", 2),
            span(Tone::Faint, words::outcome_meaning(name)),
        ]);
    }
    let bytes = &summary.bytes;
    if bytes.n > 0 {
        let text = format!(
            "mean {}, p50 {}, max {} (n = {})",
            or_dash(bytes.mean, size),
            or_dash(bytes.p50, size),
            or_dash(bytes.max, size),
            count(bytes.n)
        );
        page.labelled("answer size", Tone::Plain, &text);
    }
}

/// One line per label, the most frequent first.
pub(super) fn labels(page: &mut Page, summary: &Summary) {
    if summary.by_label.len() < 2 {
        return;
    }
    page.heading("By label (response time)");
    page.line(&[left("", 30), head("n", 12), head("p50", 12), head("p99", 12), head("failed", 12)]);
    let mut labels: Vec<_> = summary.by_label.iter().collect();
    labels.sort_by_key(|(_, label)| std::cmp::Reverse(label.n));
    for (name, label) in labels.iter().take(MOST_LABELS) {
        let total = words::total(&label.outcomes);
        let failed = total - label.outcomes.get("ok").copied().unwrap_or(0);
        let response = &label.response;
        page.line(&[
            left("", 2),
            left(name, 28),
            right(count(label.n), 12),
            right(bounded(response.p50, response.lower_bound.contains_key("p50")), 12),
            right(bounded(response.p99, response.lower_bound.contains_key("p99")), 12),
            cell(if failed > 0 { Tone::Bad } else { Tone::Plain }, share_of(failed, total), 12, Align::Right),
        ]);
    }
    if labels.len() > MOST_LABELS {
        let more = (labels.len() - MOST_LABELS) as u64;
        page.marked(
            2,
            "",
            Tone::Faint,
            &format!("and {} in the JSON and HTML reports", plural(more, "more label")),
        );
    }
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
    if !summary.thread_groups.is_empty() {
        page.heading("Thread groups");
        page.line(&[left("", 34), head("n", 14), head("rate", 14), head("CoV", 12)]);
        for group in summary.thread_groups.iter().take(MOST_LABELS) {
            page.line(&[
                left("", 2),
                left(&group.name, 32),
                right(count(group.n), 14),
                right(or_dash(group.rate, rate), 14),
                right(or_dash(group.cov, number), 12),
            ]);
        }
        if summary.thread_groups.len() > MOST_LABELS {
            let more = (summary.thread_groups.len() - MOST_LABELS) as u64;
            page.marked(
                2,
                "",
                Tone::Faint,
                &format!("and {} in the JSON and HTML reports", plural(more, "more group")),
            );
        }
    }
}
