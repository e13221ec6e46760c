//! The run itself: how the generator fared, what was asked of it, what is missing, and how to get it again.

use super::markup::{Cell, Markup, cell, number, toned, word};
use super::tables::dash;
use crate::Style;
use crate::format::{chosen, count, instant, plural, rate, share, time};
use crate::words::{self, Kind, Tone};
use headway_base::machine::SATURATED;
use headway_stats::Summary;
use headway_stats::summary::WorkerTime;

/// Stalls that are listed; the longest first.
const MOST_STALLS: usize = 50;
/// Phases that are listed.
const MOST_PHASES: usize = 12;

/// How the generator fared.
pub(super) fn generator(page: &mut Markup, summary: &Summary) {
    let Some(generator) = &summary.generator else { return };
    page.section("generator", "The generator itself");
    let row = |(i, worker): (usize, &WorkerTime)| {
        let total = worker.handling + worker.polling + worker.sleeping;
        let part = |x: f64| if total > 0.0 { share(x / total) } else { "-".into() };
        let saturated = total > 0.0 && worker.handling / total > SATURATED;
        vec![
            cell(format!("worker {i}")),
            toned(if saturated { Tone::Bad } else { Tone::Plain }, part(worker.handling)),
            cell(part(worker.polling)),
            cell(part(worker.sleeping)),
            cell(dash(worker.runqueue_wait, time)),
            toned(
                if saturated { Tone::Bad } else { Tone::Good },
                if saturated { "SATURATED" } else { "kept up" },
            ),
        ]
    };
    let rows: Vec<Vec<Cell>> = generator.workers.iter().enumerate().map(row).collect();
    let head = [
        word(""),
        number("handling"),
        number("polling"),
        number("asleep"),
        number("waiting for a processor"),
        word(""),
    ];
    page.table("Where the workers' time went", &head, &rows);
    let yes = |value: Option<bool>| {
        value.map_or("unknown".into(), |yes| {
            if yes { "yes: they share its processors" } else { "no" }.to_owned()
        })
    };
    let counted = |value: Option<u64>| value.map_or("-".into(), count);
    let mut pairs = vec![
        ("stalls over 1 ms", count(generator.stalls.len() as u64)),
        ("taken by other machines", dash(generator.steal_s, time)),
        ("on the target's machine", yes(generator.same_host_as_target)),
        ("cost of one send", dash(generator.send_cost_s, time)),
        ("connections opened", counted(generator.connections_opened)),
        ("protocol", words::protocols(summary).unwrap_or_else(|| "-".into())),
        ("arrivals that found the cap reached", counted(generator.cap_hits)),
        ("waiting for the due time", words::waiting::waited(generator).unwrap_or_else(|| "-".into())),
    ];
    pairs.extend(generator.names.as_ref().map(|names| ("names read again", words::names(names))));
    pairs.extend(generator.datagrams.as_ref().map(|strays| ("datagrams", words::strays(strays))));
    pairs.extend(words::waiting::rights(generator).map(|rights| ("rights", rights.to_owned())));
    page.pairs(&pairs);
    if !generator.stalls.is_empty() {
        let mut stalls: Vec<_> = generator.stalls.iter().collect();
        stalls.sort_by(|a, b| b.length_s.total_cmp(&a.length_s));
        let row = |stall: &&headway_stats::summary::Stall| {
            let cause = stall.cause.clone().unwrap_or_else(|| "unknown".into());
            vec![
                cell(instant(stall.at_s)),
                cell(time(stall.length_s)),
                cell(stall.worker.to_string()),
                cell(cause),
            ]
        };
        let rows: Vec<Vec<Cell>> = stalls.iter().take(MOST_STALLS).map(row).collect();
        let caption = format!("The longest {} of {}", rows.len(), plural(stalls.len() as u64, "stall"));
        page.raw("<details>\n").element("summary", "", &caption);
        page.table(&caption, &[word("at"), number("length"), number("worker"), word("cause")], &rows);
        page.raw("</details>\n");
    }
    page.end_section();
}

/// What was asked for.
pub(super) fn settings(page: &mut Markup, summary: &Summary) {
    let measured = &summary.measured;
    page.section("settings", "Settings");
    let mut pairs = Vec::new();
    if let Some(plan) = &summary.plan {
        let span = |name, value: Option<f64>| value.map(|value| (name, time(value)));
        let counted = |name, value: Option<u64>| value.map(|value| (name, count(value)));
        let worded = |name, value: Option<&str>| value.map(|value| (name, value.to_owned()));
        pairs.extend(worded("target", plan.target.as_deref()));
        let name = match words::kind(summary) {
            Kind::Open | Kind::Sessions => "arrival process",
            Kind::Closed | Kind::FixedWork | Kind::Connecting => "kind of load",
        };
        pairs.push((name, plan.process.clone()));
        pairs.extend(plan.rate.map(|per_second| ("rate", rate(per_second))));
        pairs.extend(
            [span("hold", plan.duration_s), span("warm-up", plan.warmup_s), span("ramp", plan.ramp_s)]
                .into_iter()
                .flatten(),
        );
        if !plan.phases.is_empty() {
            let phase = |phase: &headway_stats::summary::PlanPhase| {
                let warmup = if phase.warmup { " (warm-up)" } else { "" };
                let level = |x: f64| match words::kind(summary) {
                    Kind::Open => rate(x),
                    Kind::Sessions => format!("{} sessions", rate(x)),
                    Kind::Closed | Kind::FixedWork => format!("{} users", chosen(x)),
                    Kind::Connecting => format!("{} sockets", chosen(x)),
                };
                let (from, to) = (level(phase.from), level(phase.to));
                format!("{} from {from} to {to}{warmup}", time(phase.length_s))
            };
            let value = match &plan.phases[..] {
                several if several.len() > MOST_PHASES => words::plan::many_phases(several),
                few => few.iter().map(phase).collect::<Vec<_>>().join("; "),
            };
            pairs.push(("phases", value));
        }
        pairs.extend(
            [
                counted("requests", plan.requests),
                counted("users", plan.users),
                counted("sockets kept connecting", plan.sockets),
            ]
            .into_iter()
            .flatten(),
        );
        pairs.extend(plan.log.as_ref().map(|log| ("log", words::plan::log(log))));
        let new = plan.new_connections.then(|| "a new one for each request".to_owned());
        pairs.extend(new.map(|new| ("connections", new)));
        pairs.extend(worded("think time", plan.think.as_deref()));
        pairs.extend(counted("connection cap", plan.connections));
        pairs.extend(worded("version of HTTP", plan.http.as_deref()));
        pairs.extend(worded("proxy", plan.proxy.as_deref()));
        pairs.extend(span("name read again every", plan.dns_refresh_s));
        pairs.extend(counted("requests at once on a connection", plan.streams.map(u64::from)));
        pairs.extend(worded("answer", plan.answer.as_deref()));
        pairs.extend(plan.spread.then(|| ("spread", "over as many connections as there may be".to_owned())));
        pairs.extend(plan.threads.map(|threads| ("worker threads", threads.to_string())));
        pairs.extend(worded("shard", plan.shard.as_deref()));
        pairs.extend(
            [
                span("timeout", plan.timeout_s),
                span("connect timeout", plan.connect_timeout_s),
                span("longest wait for a connection", plan.max_wait_s),
            ]
            .into_iter()
            .flatten(),
        );
        if !plan.overridden.is_empty() {
            pairs.push(("in place of the file's values", plan.overridden.join(", ")));
        }
        if !plan.steps.is_empty() {
            pairs.push(("steps", plan.steps.join(", ")));
        }
    }
    pairs.push((
        "measured",
        format!("from {} to {} of the plan's clock", instant(measured.from_s), instant(measured.to_s)),
    ));
    let due = match words::kind(summary) {
        Kind::Open => "arrivals due",
        Kind::Sessions => "requests, by when their sessions were due",
        Kind::Closed | Kind::FixedWork => "requests due",
        Kind::Connecting => "attempts due",
    };
    pairs.push((
        due,
        format!(
            "{} within, {} before (warm-up), {} after",
            count(measured.n),
            count(measured.warmup),
            count(measured.after)
        ),
    ));
    pairs.push(("saturation limit", format!("{} % of a worker's time", chosen(SATURATED * 100.0))));
    page.pairs(&pairs);
    page.end_section();
}

/// Why a number is missing.
pub(super) fn not_computed(page: &mut Markup, summary: &Summary) {
    if summary.not_computed.is_empty() {
        return;
    }
    page.section("missing", "Numbers that could not be computed");
    let rows: Vec<Vec<Cell>> = summary
        .not_computed
        .iter()
        .map(|(path, reason)| vec![cell(path), cell(words::why::why(reason))])
        .collect();
    let caption = "Paths in the JSON document, and why";
    page.raw("<details>\n").element(
        "summary",
        "",
        &format!("{} and why", plural(rows.len() as u64, "number")),
    );
    page.table(caption, &[word("number"), word("reason")], &rows);
    page.raw("</details>\n").end_section();
}

/// Seed, command, folder.
pub(super) fn repeat(page: &mut Markup, summary: &Summary, style: &Style) {
    page.section("again", "How to repeat it");
    let mut pairs: Vec<(&str, String)> = Vec::new();
    pairs.extend(summary.seed.map(|seed| ("seed", seed.to_string())));
    pairs.extend(summary.audit.as_ref().map(|audit| ("dither seed", audit.dither_seed.to_string())));
    let version = summary.plan.as_ref().and_then(|plan| plan.version);
    pairs.extend(version.map(|version| ("plan version", version.to_string())));
    pairs.extend(style.folder.as_ref().map(|folder| ("run folder", folder.to_string())));
    pairs.extend(style.notes.iter().map(|(name, text)| (name.as_str(), text.to_string())));
    page.pairs(&pairs);
    match words::repeat(summary, style) {
        Some(command) => {
            page.element("pre", "command", &command);
            if let Some(hidden) = words::hidden(&command) {
                page.element("p", "faint", &format!("Hidden: {hidden}."));
            }
        }
        None => {
            page.element("p", "faint", "The command is not known.");
        }
    }
    page.end_section();
}
