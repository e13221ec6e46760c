//! Every number of the summary as a table, with its n and its interval where it has one.

use super::markup::{Cell, Markup, cell, number, toned, word};
use crate::Style;
use crate::format::{
    chosen, count, instant, number as digits, plural, rate, share, share_of, size, time, time_range,
};
use crate::words::{self, Tone};
use stats::Summary;
use stats::summary::{Intervals, Spread, Tail, WorkerTime};

/// Stalls that are listed; the longest first.
const MOST_STALLS: usize = 50;

fn dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".into(), show)
}

fn bounded(value: Option<f64>, lower: bool, show: fn(f64) -> String) -> Cell {
    match value {
        Some(value) if lower => toned(Tone::Warn, format!("> {}", show(value))),
        Some(value) => cell(show(value)),
        None => toned(Tone::Faint, "-"),
    }
}

/// One table per block would hide what belongs together: blocks are columns, statistics are rows.
pub(super) fn times(page: &mut Markup, summary: &Summary) {
    page.section("times", "Times");
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
    let blocks = [&summary.response, &summary.response_ok, &summary.service, &summary.first_byte]
        .map(|block| (block, time as fn(f64) -> String));
    let head = [
        word(""),
        number("response"),
        number("successes alone"),
        number("service"),
        number("first byte"),
        number("answer size"),
    ];
    let blocks: Vec<(&Spread, fn(f64) -> String)> =
        blocks.into_iter().chain([(&summary.bytes, size as fn(f64) -> String)]).collect();
    type Pick = fn(&Spread) -> Option<f64>;
    type PickInterval = fn(&Intervals) -> Option<[f64; 2]>;
    let rows: [(&str, &str, Pick, PickInterval); 8] = [
        ("mean", "mean", |b| b.mean, |i| i.mean),
        ("min", "min", |b| b.min, |_| None),
        ("p50", "p50", |b| b.p50, |i| i.p50),
        ("p90", "p90", |b| b.p90, |i| i.p90),
        ("p95", "p95", |b| b.p95, |i| i.p95),
        ("p99", "p99", |b| b.p99, |i| i.p99),
        ("p999", "p99.9", |b| b.p999, |i| i.p999),
        ("max", "max", |b| b.max, |_| None),
    ];
    let mut table = Vec::new();
    for (name, title, value, interval) in rows {
        let of = |(block, show): &(&Spread, fn(f64) -> String)| {
            bounded(value(block), block.lower_bound.contains_key(name), *show)
        };
        table.push(std::iter::once(cell(title)).chain(blocks.iter().map(of)).collect());
        if blocks.iter().any(|(block, _)| interval(&block.ci95).is_some()) {
            // Sizes have no intervals worth a line; where one is given it is shown all the same.
            let of = |(block, show): &(&Spread, fn(f64) -> String)| {
                let shown = interval(&block.ci95).map_or(String::new(), |[low, high]| {
                    if block.n == summary.bytes.n && std::ptr::eq(*block, &summary.bytes) {
                        format!("{} to {}", show(low), show(high))
                    } else {
                        time_range(low, high)
                    }
                });
                toned(Tone::Faint, shown)
            };
            table.push(
                std::iter::once(toned(Tone::Faint, "95 % interval")).chain(blocks.iter().map(of)).collect(),
            );
        }
    }
    let of = |pick: fn(&Spread) -> String| blocks.iter().map(move |(block, _)| cell(pick(block)));
    table.push(std::iter::once(cell("CoV")).chain(of(|b| dash(b.cov, digits))).collect());
    table.push(std::iter::once(cell("without an answer")).chain(of(|b| count(b.censored))).collect());
    table.push(std::iter::once(cell("n")).chain(of(|b| count(b.n))).collect());
    page.table("Times and sizes", &head, &table);
    if summary.response.censored > 0 {
        let text = format!(
            "{} never got an answer. They count as longer than when they were given up; a number that falls among them \
             is a lower bound, shown as \"> x\".",
            plural(summary.response.censored, "request")
        );
        page.element("p", "", &text);
    }
    page.raw("</section>\n");
}

/// Asked and sent, lag and blocked.
pub(super) fn arrivals(page: &mut Markup, summary: &Summary) {
    let arrivals = &summary.arrivals;
    let plan = summary.plan.as_ref();
    page.section("arrivals", "Arrivals");
    let asked_rate = plan.and_then(|plan| plan.rate).or(summary.rate.offered);
    let law = arrivals.intended.and_then(|intended| intended.cov).or(plan.and_then(|plan| plan.gap_cov));
    let error = |se: Option<f64>| se.map_or(String::new(), |se| format!("standard error {}", digits(se)));
    let rows = vec![
        vec![
            cell("arrivals"),
            cell(words::asked(summary).map_or("-".into(), count)),
            cell(count(arrivals.started)),
            cell(words::asked(summary).map_or(String::new(), |n| share_of(arrivals.started, n))),
        ],
        vec![
            cell("rate"),
            cell(dash(asked_rate, rate)),
            cell(dash(summary.rate.started.or(arrivals.rate), rate)),
            cell(summary.rate.completed.map_or(String::new(), |done| format!("{} completed", rate(done)))),
        ],
        vec![
            cell("CoV of headways"),
            cell(dash(law, digits)),
            cell(dash(arrivals.cov, digits)),
            cell(error(arrivals.cov_se)),
        ],
    ];
    page.table("Arrivals: asked and sent", &[word(""), number("asked"), number("sent"), word("")], &rows);
    let head = [word(""), number("p50"), number("p99"), number("p99.9"), number("max"), number("n")];
    let rows = vec![
        tail("release lag (the generator's own lateness)", &summary.lag),
        tail("blocked (held back by cap, pool or connection set-up)", &summary.blocked),
    ];
    page.table("Lateness", &head, &rows);
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
        if let Some(ks) = ks {
            pairs.push((
                name,
                format!(
                    "D = {} (p = {}, n = {}; shown, decides nothing)",
                    digits(ks.d),
                    digits(ks.p),
                    count(ks.n)
                ),
            ));
        }
    }
    if arrivals.in_pause > 0 {
        pairs.push((
            "starts inside a pause",
            format!("{}, counted as its beginning", count(arrivals.in_pause)),
        ));
    }
    page.pairs(&pairs);
    page.raw("</section>\n");
}

fn tail(title: &str, tail: &Tail) -> Vec<Cell> {
    let values = [("p50", tail.p50), ("p99", tail.p99), ("p999", tail.p999), ("max", tail.max)];
    let cells = values.map(|(name, value)| bounded(value, tail.lower_bound.contains_key(name), time));
    std::iter::once(cell(title)).chain(cells).chain([cell(count(tail.n))]).collect()
}

/// Rule, value, interval, tolerance, outcome.
pub(super) fn rules(page: &mut Markup, summary: &Summary) {
    if summary.verdict.rules.is_empty() {
        return;
    }
    page.section("rules", "Rules of the verdict");
    page.element(
        "p",
        "",
        "A rule passes if the 95 % interval of its value lies inside what is tolerated, fails if it lies outside, and is \
         undecided if it lies astride.",
    );
    let rows: Vec<Vec<Cell>> = summary
        .verdict
        .rules
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
                toned(Tone::Faint, rule.reason.clone().unwrap_or_default()),
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
    page.table("Rules of the load verdict", &head, &rows);
    page.raw("</section>\n");
}

/// How requests ended.
pub(super) fn outcomes(page: &mut Markup, summary: &Summary) {
    let total = words::total(&summary.outcomes);
    if total == 0 {
        return;
    }
    page.section("outcomes", "Outcomes");
    let rows: Vec<Vec<Cell>> = words::outcomes(summary)
        .into_iter()
        .map(|(name, n)| {
            let tone = if name == "ok" { Tone::Good } else { Tone::Bad };
            vec![
                toned(tone, name),
                cell(count(n)),
                cell(share_of(n, total)),
                cell(words::outcome_meaning(name)),
            ]
        })
        .collect();
    let caption = format!("How {} ended", plural(total, "request"));
    page.table(&caption, &[word("outcome"), number("requests"), number("share"), word("meaning")], &rows);
    page.raw("</section>\n");
}

/// Response times and arrivals by label.
pub(super) fn labels(page: &mut Markup, summary: &Summary) {
    if summary.by_label.is_empty() {
        return;
    }
    page.section("labels", "By label");
    let rows: Vec<Vec<Cell>> = summary
        .by_label
        .iter()
        .map(|(name, label)| {
            let response = &label.response;
            let at = |name: &str, value| bounded(value, response.lower_bound.contains_key(name), time);
            let total = words::total(&label.outcomes);
            let failed = total - label.outcomes.get("ok").copied().unwrap_or(0).min(total);
            let cov = summary.arrivals.by_label.get(name).and_then(|arrivals| arrivals.cov);
            vec![
                cell(name),
                cell(count(label.n)),
                at("mean", response.mean),
                at("p50", response.p50),
                at("p90", response.p90),
                at("p99", response.p99),
                at("max", response.max),
                toned(if failed > 0 { Tone::Bad } else { Tone::Plain }, share_of(failed, total)),
                cell(dash(cov, digits)),
            ]
        })
        .collect();
    let head = ["n", "mean", "p50", "p90", "p99", "max", "failed", "CoV of headways"].map(number);
    let head: Vec<_> = std::iter::once(word("label")).chain(head).collect();
    page.table("Response time by label", &head, &rows);
    page.raw("</section>\n");
}

/// Numbers of a closed workload, and groups that a foreign file names.
pub(super) fn users(page: &mut Markup, summary: &Summary) {
    if let Some(closed) = &summary.closed {
        page.section("users", "Users");
        page.pairs(&[
            ("users asked", dash(closed.users, digits)),
            ("users by Little's law, rate x (Z+R)", dash(closed.n_little, digits)),
            ("think time Z", dash(closed.think, time)),
            (
                "RoRT, R/(Z+R)",
                format!("{}: the share of a user's cycle spent waiting", dash(closed.rort, digits)),
            ),
            ("n", plural(closed.n, "response")),
        ]);
        page.raw("</section>\n");
    }
    if !summary.thread_groups.is_empty() {
        page.section("groups", "Thread groups");
        let groups = summary.thread_groups.iter();
        let rows: Vec<Vec<Cell>> = groups
            .map(|group| {
                vec![
                    cell(&group.name),
                    cell(count(group.n)),
                    cell(dash(group.rate, rate)),
                    cell(dash(group.cov, digits)),
                ]
            })
            .collect();
        page.table(
            "Thread groups",
            &[word("group"), number("n"), number("rate"), number("CoV of headways")],
            &rows,
        );
        page.raw("</section>\n");
    }
}

/// How the generator fared.
pub(super) fn generator(page: &mut Markup, summary: &Summary) {
    let Some(generator) = &summary.generator else { return };
    page.section("generator", "The generator itself");
    let row = |(i, worker): (usize, &WorkerTime)| {
        let total = worker.handling + worker.polling + worker.sleeping;
        let part = |x: f64| if total > 0.0 { share(x / total) } else { "-".into() };
        let saturated = total > 0.0 && worker.handling / total > words::SATURATED;
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
    page.pairs(&[
        ("stalls over 1 ms", count(generator.stalls.len() as u64)),
        ("taken by other machines", dash(generator.steal_s, time)),
        ("on the target's machine", yes(generator.same_host_as_target)),
        ("cost of one send", dash(generator.send_cost_s, time)),
        ("connections opened", counted(generator.connections_opened)),
        ("arrivals that found the cap reached", counted(generator.cap_hits)),
        ("waiting for the due time", generator.waiting.clone().unwrap_or_else(|| "-".into())),
    ]);
    if !generator.stalls.is_empty() {
        let mut stalls: Vec<_> = generator.stalls.iter().collect();
        stalls.sort_by(|a, b| b.length_s.total_cmp(&a.length_s));
        let row = |stall: &&stats::summary::Stall| {
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
        page.table(&caption, &[word("at"), number("length"), number("worker"), word("cause")], &rows);
    }
    page.raw("</section>\n");
}

/// What was asked for.
pub(super) fn settings(page: &mut Markup, summary: &Summary) {
    let measured = &summary.measured;
    page.section("settings", "Settings");
    let mut pairs = Vec::new();
    if let Some(plan) = &summary.plan {
        let span = |name, value: Option<f64>| value.map(|value| (name, time(value)));
        let counted = |name, value: Option<u64>| value.map(|value| (name, count(value)));
        let worded = |name, value: &Option<String>| value.clone().map(|value| (name, value));
        pairs.extend(worded("target", &plan.target));
        pairs.push(("arrival process", plan.process.clone()));
        pairs.extend(plan.rate.map(|per_second| ("rate", rate(per_second))));
        pairs.extend(
            [span("hold", plan.duration_s), span("warm-up", plan.warmup_s), span("ramp", plan.ramp_s)]
                .into_iter()
                .flatten(),
        );
        if !plan.phases.is_empty() {
            let phase = |phase: &stats::summary::PlanPhase| {
                let warmup = if phase.warmup { " (warm-up)" } else { "" };
                format!("{} from {} to {}{warmup}", time(phase.length_s), rate(phase.from), rate(phase.to))
            };
            pairs.push(("phases", plan.phases.iter().map(phase).collect::<Vec<_>>().join("; ")));
        }
        pairs
            .extend([counted("requests", plan.requests), counted("users", plan.users)].into_iter().flatten());
        pairs.extend(worded("think time", &plan.think));
        pairs.extend(counted("connection cap", plan.connections));
        pairs.extend(plan.threads.map(|threads| ("worker threads", threads.to_string())));
        pairs.extend(worded("shard", &plan.shard));
        pairs.extend(
            [
                span("timeout", plan.timeout_s),
                span("connect timeout", plan.connect_timeout_s),
                span("longest wait for a connection", plan.max_wait_s),
            ]
            .into_iter()
            .flatten(),
        );
        if !plan.steps.is_empty() {
            pairs.push(("steps", plan.steps.join(", ")));
        }
    }
    pairs.push((
        "measured",
        format!("from {} to {} of the plan's clock", instant(measured.from_s), instant(measured.to_s)),
    ));
    pairs.push((
        "arrivals due",
        format!(
            "{} within, {} before (warm-up), {} after",
            count(measured.n),
            count(measured.warmup),
            count(measured.after)
        ),
    ));
    pairs.push(("saturation limit", format!("{} % of a worker's time", chosen(words::SATURATED * 100.0))));
    page.pairs(&pairs);
    page.raw("</section>\n");
}

/// Why a number is missing.
pub(super) fn not_computed(page: &mut Markup, summary: &Summary) {
    if summary.not_computed.is_empty() {
        return;
    }
    page.section("missing", "Numbers that could not be computed");
    let rows: Vec<Vec<Cell>> =
        summary.not_computed.iter().map(|(path, reason)| vec![cell(path), cell(reason)]).collect();
    page.table("Paths in the JSON document, and why", &[word("number"), word("reason")], &rows);
    page.raw("</section>\n");
}

/// Seed, command, folder.
pub(super) fn repeat(page: &mut Markup, summary: &Summary, style: &Style) {
    page.section("again", "How to repeat it");
    let mut pairs: Vec<(&str, String)> = Vec::new();
    pairs.extend(summary.seed.map(|seed| ("seed", seed.to_string())));
    let version = summary.plan.as_ref().and_then(|plan| plan.version);
    pairs.extend(version.map(|version| ("plan version", version.to_string())));
    pairs.extend(style.folder.clone().map(|folder| ("run folder", folder)));
    pairs.extend(style.notes.iter().map(|(name, text)| (name.as_str(), text.clone())));
    page.pairs(&pairs);
    match words::repeat(summary, style) {
        Some(command) => page.element("pre", "command", &command),
        None => page.element("p", "faint", "The command is not known."),
    };
    page.raw("</section>\n");
}
