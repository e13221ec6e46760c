//! `headway run --dry-run`: what would be sent, and when, without sending it.
//!
//! The first sessions of each group are played as far as they can be without answers: a value that an answer would give
//! shows as `{{name}}`, a secret as `<redacted>` unless `--no-redact` was given.

use crate::settings::RunSettings;
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

/// What would be sent, as text.
pub fn text(settings: &RunSettings) -> String {
    let plan = &settings.load.plan;
    let mut out = format!(
        "{} at {}, seed {}; nothing is sent\n",
        settings.load.headline, settings.shown_target, plan.seed
    );
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
        let label = settings.labels.get(usize::from(ask.step)).map_or("", String::as_str);
        let _ = writeln!(out, "  [{label}]");
        match settings.script.render(&visit, &memory) {
            Ok(request) => show(out, &request, &settings.script.redactor(&visit, &memory)),
            Err(refusal) => {
                let _ = writeln!(out, "    not sent: {}", refusal.reason);
            }
        }
        ordinal += 1;
    }
}

fn show(out: &mut String, request: &Request, redactor: &Redactor) {
    // What only an answer tells shows as it is written, not percent-encoded.
    let path = request.path.replace("%7B%7B", "{{").replace("%7D%7D", "}}");
    let _ = writeln!(out, "    {} {}", request.method, redactor.hide_url(&path));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser as _;

    fn dry(scenario: &str) -> String {
        dry_with(scenario, &[])
    }

    fn dry_with(scenario: &str, flags: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.yaml");
        std::fs::write(&path, scenario).unwrap();
        let path = path.to_str().unwrap();
        std::fs::write(folder.path().join("people.csv"), "name,password\nada,loveLace1\n").unwrap();
        let words = ["headway", "run", path, "--seed", "3", "--dry-run"];
        let args = Args::try_parse_from(words.iter().chain(flags)).unwrap();
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
    fn bodies_show_without_their_secrets_unless_all_is_to_show() {
        let scenario = r#"
target: http://127.0.0.1:1
variables: { api_key: k-e-y-1 }
data: { people: { csv: people.csv } }
users: { arrive: { rate: 5/s }, phases: [ { hold: 10s } ] }
journey:
  - { post: "/a?code=c0de&sig={{vars.api_key}}", json: { user: "{{data.name}}", password: "{{data.password}}", note: "it is {{data.password}}" } }
  - { post: /b, form: { client_secret: s3cr3t, x: y } }
  - { post: /c, text: "<login><password>pw&amp;1</password><door>d00r</door></login>", headers: { X-Key-Of: "{{vars.api_key}}" } }
"#;
        let shown = dry(scenario);
        for part in [
            "POST /a?code=<redacted>&sig=<redacted>\n",
            r#"{"note":"it is <redacted>","password":"<redacted>","user":"ada"}"#,
            "client_secret=<redacted>&x=y",
            "<login><password><redacted></password><door>d00r</door></login>",
            "X-Key-Of: <redacted>",
        ] {
            assert!(shown.contains(part), "{part:?} is not in\n{shown}");
        }
        for secret in ["loveLace1", "k-e-y-1", "c0de", "s3cr3t", "pw&amp;1"] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
        assert!(dry_with(scenario, &["--redact", "Door"]).contains("<door><redacted></door>"));
        let all = dry_with(scenario, &["--no-redact"]);
        for secret in ["loveLace1", "k-e-y-1", "c0de", "s3cr3t", "pw&amp;1", "d00r"] {
            assert!(all.contains(secret), "{secret}: {all}");
        }
        assert!(!all.contains("<redacted>"), "{all}");
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
