//! `headway run --dry-run`: what is shown of scenarios, and what is hidden.

use clap::Parser as _;
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::RunSettings;
use headway_engine::dry_run;

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
    let settings = RunSettings::resolve(&run, &Typed::default()).unwrap();
    dry_run::text(&settings.load.headline, &settings.spec, &settings.live)
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
fn an_extracted_link_shows_as_one() {
    let shown = dry(r#"
target: http://127.0.0.1:1/api
users: { arrive: { rate: 5/s }, phases: [ { hold: 10s } ] }
journey:
  - { get: /list, extract: { link: { json: /next } } }
  - { get: "{{link}}", name: go, headers: { X-Tag: a } }
"#);
    let go = "  [go]\n    GET {{link}}, a link that a response gives\n    X-Tag: a\n";
    assert!(shown.contains(go) && !shown.contains("not sent"), "{shown}");
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
        r#"{"user":"ada","password":"<redacted>","note":"it is <redacted>"}"#,
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
