//! What a run would send, and when, without sending it.
//!
//! The first sessions of each group are played as far as they can be without answers: a value that an answer would give
//! shows as `{{name}}`, a secret as `<redacted>` unless `--no-redact` was given.

use crate::{Live, RunSpec};
use headway_base::Nanos;
use headway_workload::content::{Memory, RenderContext};
use headway_workload::journey::{Cursor, Next};
use headway_workload::plan::{Group, Plan, Source};
use headway_workload::redact::Redactor;
use headway_workload::{Arrival, Request, RequestKey};
use std::fmt::Write as _;

/// Sessions shown of each group.
const SESSIONS: usize = 2;
/// Requests shown of each session.
const REQUESTS: u32 = 20;
/// Characters shown of a body.
const BODY: usize = 400;
/// Bytes of a body in which secrets are looked for.
const LOOKED_AT: usize = 64 << 10;

/// What would be sent, as text; `headline` says what the load is.
pub fn text(headline: &str, spec: &RunSpec, live: &Live) -> String {
    let plan = &spec.plan;
    let through = live.proxy.as_ref().map_or(String::new(), |proxy| format!(" through the proxy {proxy}"));
    let mut out =
        format!("{headline} at {}{through}, seed {}; nothing is sent\n", live.shown_target, plan.seed);
    for (number, group) in plan.groups.iter().enumerate() {
        let asks = (group.journey.mean_asks() * 1e4).round() / 1e4;
        let _ = write!(out, "\nGroup {}: ", group.name);
        let redirects = match group.journey.redirected_from() {
            Some(_) => ", and those that redirects lead to",
            None => "",
        };
        let _ = match group.journey.longest() == 1 {
            true => writeln!(out, "1 request per session{redirects}"),
            false => writeln!(out, "{asks} requests per session on average{redirects}"),
        };
        for (arrival, user) in first(plan, number, group) {
            session(&mut out, (spec, live), number, arrival, user);
        }
    }
    out
}

/// The first sessions of a group; with each the user, where it has one.
fn first(plan: &Plan, number: usize, group: &Group) -> Vec<(Arrival, Option<u32>)> {
    match &group.source {
        Source::Users { level, .. } | Source::Connecting { level } => {
            let users = (0..level.most()).filter(|&u| plan.shard.keeps_user(u)).take(SESSIONS);
            let arrival = |u: u32| {
                let from = level.stay(u, Nanos(-1)).map_or(Nanos::ZERO, |stay| stay.from);
                (Arrival { k: u64::from(u), intended: from }, Some(u))
            };
            users.map(arrival).collect()
        }
        _ => plan.sessions_of(number, plan.shard).take(SESSIONS).map(|a| (a, None)).collect(),
    }
}

fn session(
    out: &mut String,
    (spec, live): (&RunSpec, &Live),
    number: usize,
    arrival: Arrival,
    user: Option<u32>,
) {
    let plan = &spec.plan;
    let group = &plan.groups[number];
    let at = arrival.intended;
    let _ = match user {
        Some(user) => writeln!(out, "\nuser {user}, there from {at}"),
        None => writeln!(out, "\nsession {}, due at {at}", arrival.k),
    };
    let names = live.script.names();
    let memory = Memory::placeholders(names);
    let draws = plan.draws(number);
    let (mut cursor, mut ordinal) = (Cursor::default(), 0);
    while let Next::Ask(ask) = group.journey.next(&mut cursor, draws, arrival.k) {
        if ordinal == REQUESTS {
            let _ = writeln!(out, "  ... and more: {} at most", group.journey.longest());
            break;
        }
        if ask.think > Nanos::ZERO && (ordinal > 0 || user.is_some()) {
            let _ = writeln!(out, "  thinks for {}", ask.think);
        }
        let sending = RequestKey {
            session: 0,
            k: arrival.k,
            user: user.map_or(arrival.k, u64::from),
            iteration: 0,
            ordinal,
            repeat: ask.repeat,
            step: ask.step,
            group: number as u16,
        };
        let visit = RenderContext { sending: &sending, now_unix_ns: headway_live::clock::unix_now() };
        let label = spec.labels.get(usize::from(ask.step)).map_or("", |label| label.as_str());
        let _ = writeln!(out, "  [{label}]");
        match live.script.render(&visit, &memory) {
            Ok(request) => {
                let origin = usize::from(live.script.origin(ask.step, &memory)).checked_sub(1);
                let origin = origin.and_then(|at| live.others.get(at)).map(|origin| live.shown(origin));
                show(out, (&origin.unwrap_or_default(), &request), &live.script.redactor(&visit, &memory));
            }
            Err(refusal) => {
                let _ = writeln!(out, "    not sent: {}", refusal.reason);
            }
        }
        ordinal += 1;
    }
}

fn show(out: &mut String, (origin, request): (&str, &Request), redactor: &Redactor) {
    // What only an answer tells shows as it is written, not percent-encoded.
    let path = request.path.replace("%7B%7B", "{{").replace("%7D%7D", "}}");
    // Plain bytes have neither.
    if !request.method.is_empty() {
        // A path begins with a slash.
        let link = if path.starts_with("{{") { ", a link that a response gives" } else { "" };
        let _ = writeln!(out, "    {} {origin}{}{link}", request.method, redactor.hide_url(&path));
    }
    for (name, value) in &request.headers {
        let _ = writeln!(out, "    {name}: {}", redactor.hide_header(name, value));
    }
    if request.body.is_empty() {
        return;
    }
    // A secret may begin in what is shown and end behind it.
    let looked_at = &request.body[..request.body.len().min(LOOKED_AT)];
    let text = match std::str::from_utf8(looked_at) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&looked_at[..error.valid_up_to()]).into_owned()
        }
        Err(_) => looked_at.escape_ascii().to_string(),
    };
    let hidden = redactor.hide_foreign(&text);
    let shown: String = hidden.chars().take(BODY).collect();
    for line in shown.lines() {
        let _ = writeln!(out, "    | {line}");
    }
    if shown.len() < hidden.len() || looked_at.len() < request.body.len() {
        let _ = writeln!(out, "    | ... {} bytes in all", request.body.len());
    }
}
