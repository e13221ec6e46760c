//! The end of the page: how the generator fared, what else to know, and how to get this run again.

use super::layout::{Page, WIDTH, span};
use super::{command, verdict};
use crate::Style;
use crate::format::{chosen, count, instant, plural, share, time};
use crate::words::{self, Reason, ReasonId, Tone};
use headway_base::machine::SATURATED;
use headway_stats::Summary;
use headway_stats::summary::{FindingId, Severity};

/// Whether the generator could keep up. Nothing where nothing watched it.
pub(super) fn generator(page: &mut Page, summary: &Summary) {
    let Some(generator) = &summary.generator else { return };
    page.heading("Generator");
    if let Some([handling, polling, sleeping]) = words::busiest_worker(summary) {
        let saturated = handling > SATURATED;
        let state = if saturated { "SATURATED" } else { "not saturated" };
        let text = format!(
            "{state} (limit {} % handling). Busiest of {}: handling {}, polling {}, asleep {}.",
            chosen(SATURATED * 100.0),
            plural(generator.workers.len() as u64, "worker"),
            share(handling),
            share(polling),
            share(sleeping)
        );
        page.labelled("workers", if saturated { Tone::Bad } else { Tone::Plain }, &text);
    }
    let waits: Vec<f64> = generator.workers.iter().filter_map(|worker| worker.runqueue_wait).collect();
    if let Some(worst) = waits.into_iter().reduce(f64::max) {
        let steal =
            generator.steal_s.map_or(String::new(), |s| format!("; {} taken by other machines", time(s)));
        page.labelled(
            "processor",
            Tone::Plain,
            &format!("a worker waited for it {} at most{steal}", time(worst)),
        );
    }
    let text = match generator.stalls.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s)) {
        None => "none over 1 ms".to_owned(),
        Some(longest) => {
            let cause = longest.cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"));
            let total: f64 = generator.stalls.iter().map(|stall| stall.length_s).sum();
            format!(
                "{} over 1 ms, {} in all; longest {} at {}{cause}",
                count(generator.stalls.len() as u64),
                time(total),
                time(longest.length_s),
                instant(longest.at_s)
            )
        }
    };
    page.labelled("stalls", if generator.stalls.is_empty() { Tone::Plain } else { Tone::Warn }, &text);
    if let Some(cost) = generator.send_cost_s {
        let least = format!("{}: the least headway that one thread can produce", time(cost));
        page.labelled("one send", Tone::Plain, &least);
    }
    connections(page, summary);
    if let Some(strays) = &generator.datagrams {
        page.labelled("datagrams", Tone::Plain, &words::strays(strays));
    }
    if let Some(waited) = words::waiting::waited(generator) {
        page.labelled("waiting", Tone::Plain, &waited);
    }
    if let Some(rights) = words::waiting::rights(generator) {
        page.labelled("rights", Tone::Plain, rights);
    }
    if let Some(advice) = words::doctor::advice(summary) {
        page.labelled("machine", Tone::Plain, &advice);
    }
    if generator.same_host_as_target == Some(true) {
        page.labelled("same host", Tone::Warn, "generator and target share this machine's processors");
    }
}

fn connections(page: &mut Page, summary: &Summary) {
    let Some(generator) = &summary.generator else { return };
    let mut parts = Vec::new();
    if let Some(opened) = generator.connections_opened {
        parts.push(format!("{} opened", count(opened)));
    }
    parts.extend(generator.protocols.iter().map(|(protocol, n)| format!("{} of {protocol}", count(*n))));
    if let Some(cap) = summary.plan.as_ref().and_then(|plan| plan.connections) {
        parts.push(format!("cap {}", count(cap)));
    }
    if let Some(hits) = generator.cap_hits {
        parts.push(format!("{} found the cap reached", plural(hits, words::unit(summary))));
    }
    if !parts.is_empty() {
        page.labelled("connections", Tone::Plain, &parts.join(", "));
    }
}

/// Notes that say what the numbers above have shown already. As warnings they are worth their lines.
const SHOWN_ABOVE: [FindingId; 4] =
    [FindingId::Errors, FindingId::Censored, FindingId::Stall, FindingId::SameHost];

/// The reasons that did not stand at the top.
pub(super) fn warnings(page: &mut Page, reasons: &[Reason]) {
    let noted = |id: &ReasonId| matches!(id, ReasonId::Finding(id) if SHOWN_ABOVE.contains(id));
    let shown = |reason: &&Reason| reason.severity == Severity::Info && noted(&reason.id);
    let mut left = reasons.iter().filter(|reason| !shown(reason)).peekable();
    if left.peek().is_some() {
        page.heading("Also");
    }
    for reason in left {
        verdict::reason(page, reason);
    }
}

/// Seed, command and folder.
pub(super) fn repeat(page: &mut Page, summary: &Summary, style: &Style) {
    let command = words::repeat(summary, style);
    let nothing =
        style.folder.is_none() && style.next.is_none() && style.notes.is_empty() && summary.audit.is_none();
    if command.is_none() && summary.seed.is_none() && nothing {
        return;
    }
    page.heading("Again");
    if let Some(seed) = summary.seed {
        // Not separated: it is there to be copied.
        let version = summary.plan.as_ref().and_then(|plan| plan.version);
        let version = version.map_or(String::new(), |version| format!(" (plan version {version})"));
        page.labelled("seed", Tone::Plain, &format!("{seed}{version}"));
    }
    if let Some(audit) = &summary.audit {
        let seed = format!("{}: stamps are spread over their resolution by it", audit.dither_seed);
        page.labelled("dither seed", Tone::Plain, &seed);
    }
    if let Some(command) = command {
        to_repeat(page, &command);
    }
    let overridden = summary.plan.as_ref().map(|plan| plan.overridden.join(", "));
    if let Some(overridden) = overridden.filter(|all| !all.is_empty()) {
        page.labelled("overridden", Tone::Plain, &format!("{overridden}, in place of the file's values"));
    }
    if let Some(folder) = &style.folder {
        page.labelled("folder", Tone::Plain, folder);
    }
    for (name, text) in &style.notes {
        page.labelled(name, Tone::Plain, text);
    }
    if summary.plan.as_ref().is_some_and(|plan| plan.shard.is_some()) {
        page.labelled("shard", Tone::Plain, words::ONE_SHARD);
    }
    if let Some(next) = &style.next {
        to_copy(page, "next", next);
    }
}

/// A command below its label.
fn to_copy(page: &mut Page, label: &str, command: &str) {
    page.labelled(label, Tone::Plain, "");
    for (i, line) in command::fold(command, WIDTH, 4).into_iter().enumerate() {
        let indent = if i == 0 { "    " } else { "" };
        page.line(&[span(Tone::Strong, format!("{indent}{line}"))]);
    }
}

/// The command that plays it again.
pub(super) fn to_repeat(page: &mut Page, command: &str) {
    to_copy(page, "command", command);
    if let Some(hidden) = words::hidden(command) {
        page.labelled("hidden", Tone::Plain, &hidden);
    }
}
