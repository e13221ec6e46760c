//! `headway run --dry-run`: what would be sent, and when, without sending it.
//!
//! The first sessions of each group are played as far as they can be without answers: a value that an answer would give
//! shows as `{{name}}`, a secret as `<redacted>`.

use crate::settings::RunSettings;
use base::Nanos;
use std::fmt::Write as _;
use workload::content::{Memory, Visit};
use workload::journey::{Cursor, Next};
use workload::plan::{Group, Plan, Source};
use workload::request::{is_secret, redact_header};
use workload::{Arrival, Request, Sending};

/// Sessions shown of each group.
const SESSIONS: usize = 2;
/// Requests shown of each session.
const REQUESTS: u32 = 20;
/// Bytes shown of a body.
const BODY: usize = 400;

/// What would be sent, as text.
pub fn text(settings: &RunSettings) -> String {
    let plan = &settings.load.plan;
    let mut out =
        format!("{} at {}, seed {}; nothing is sent\n", settings.load.headline, settings.target, plan.seed);
    for (number, group) in plan.groups.iter().enumerate() {
        let asks = (group.journey.mean_asks() * 1e4).round() / 1e4;
        let _ = write!(out, "\nGroup {}: ", group.name);
        let _ = match group.journey.is_single() {
            true => writeln!(out, "1 request per session"),
            false => writeln!(out, "{asks} requests per session on average"),
        };
        for (arrival, user) in first(plan, number, group) {
            session(&mut out, settings, number, arrival, user);
        }
    }
    out
}

/// The first sessions of a group; with each the user, where it has one.
fn first(plan: &Plan, number: usize, group: &Group) -> Vec<(Arrival, Option<u32>)> {
    match &group.source {
        Source::Users { level, .. } => {
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

fn session(out: &mut String, settings: &RunSettings, number: usize, arrival: Arrival, user: Option<u32>) {
    let plan = &settings.load.plan;
    let group = &plan.groups[number];
    let at = arrival.intended;
    let _ = match user {
        Some(user) => writeln!(out, "\nuser {user}, there from {at}"),
        None => writeln!(out, "\nsession {}, due at {at}", arrival.k),
    };
    let names = settings.script.names();
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
        let sending = Sending {
            session: 0,
            k: arrival.k,
            user: user.map_or(arrival.k, u64::from),
            iteration: 0,
            ordinal,
            repeat: ask.repeat,
            step: ask.step,
            group: number as u16,
        };
        let visit = Visit { sending: &sending, now_unix_ns: live::clock::unix_now() };
        let label = settings.labels.get(usize::from(ask.step)).map_or("", String::as_str);
        let _ = writeln!(out, "  [{label}]");
        match settings.script.render(&visit, &memory) {
            Ok(request) => show(out, &request, |text| settings.script.redact(text)),
            Err(refusal) => {
                let _ = writeln!(out, "    not sent: {}", refusal.reason);
            }
        }
        ordinal += 1;
    }
}

fn show(out: &mut String, request: &Request, redact: impl Fn(&str) -> String) {
    // What only an answer tells shows as it is written, not percent-encoded.
    let path = request.path.replace("%7B%7B", "{{").replace("%7D%7D", "}}");
    let _ = writeln!(out, "    {} {}", request.method, redact(&path));
    for (name, value) in &request.headers {
        let line = if is_secret(name) {
            redact_header(&format!("{name}: {value}"))
        } else {
            redact(&format!("{name}: {value}"))
        };
        let _ = writeln!(out, "    {line}");
    }
    if request.body.is_empty() {
        return;
    }
    let shown = &request.body[..request.body.len().min(BODY)];
    let text = match std::str::from_utf8(shown) {
        Ok(text) => redact(text),
        Err(_) => shown.escape_ascii().to_string(),
    };
    for line in text.lines() {
        let _ = writeln!(out, "    | {line}");
    }
    if request.body.len() > BODY {
        let _ = writeln!(out, "    | ... {} bytes in all", request.body.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser as _;

    fn dry(scenario: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.yaml");
        std::fs::write(&path, scenario).unwrap();
        let path = path.to_str().unwrap();
        let args = Args::try_parse_from(["headway", "run", path, "--seed", "3", "--dry-run"]).unwrap();
        let Command::Run(run) = args.command else { panic!() };
        text(&RunSettings::resolve(&run, &[]).unwrap())
    }

    #[test]
    fn sessions_show_their_requests_with_what_answers_give_left_open() {
        let shown = dry(r#"
target: http://127.0.0.1:1/api
users: { arrive: { rate: 5/s }, think: const(1s), phases: [ { hold: 10s } ] }
journey:
  - { post: /login, name: login, json: { user: "u{{session}}" }, extract: { id: { json: /id } } }
  - { get: "/items/{{id}}", name: item, headers: { Authorization: "Bearer abc", X-Id: "{{id}}" } }
"#);
        for part in [
            "sessions at up to 5/s, poisson for 10s at http://127.0.0.1:1/api, seed 3; nothing is sent",
            "Group users: 2 requests per session on average",
            "session 0, due at ",
            "[login]\n    POST /api/login\n",
            r#"    | {"user":"u0"}"#,
            "  thinks for 1s\n  [item]\n    GET /api/items/{{id}}\n",
            "Authorization: <redacted>",
            "X-Id: {{id}}",
        ] {
            assert!(shown.contains(part), "{part:?} is not in\n{shown}");
        }
        assert!(!shown.contains("abc"));
    }

    #[test]
    fn users_show_when_they_come_and_long_journeys_are_cut() {
        let shown = dry(r#"
target: http://127.0.0.1:1
users: { closed: { count: 3 }, phases: [ { ramp: 6s, to: 3, warmup: true }, { hold: 5s } ] }
journey: [ { get: /, repeat: 500 } ]
"#);
        assert!(shown.contains("user 1, there from 2s\n") && !shown.contains("user 2"), "{shown}");
        assert!(shown.contains("... and more: 500 at most"), "{shown}");
    }
}
