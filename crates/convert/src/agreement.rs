//! What a converter prints is a scenario, and the scenario sends what the command or the recording sent.

use super::{Converted, curl, har};
use headway_workload::client::RequestKey;
use headway_workload::content::{Memory, RenderContext};
use headway_workload::request::Request;
use headway_workload::scenario::{Scenario, Surroundings, parse};
use serde_json::json;

/// The scenario, read as a run reads it. Every file holds its own name, every variable `<its name>`.
fn read(converted: &Converted) -> Scenario {
    let around = Surroundings {
        read: &|name| Ok(name.as_bytes().to_vec()),
        env: &|name| name.starts_with("HEADWAY_").then(|| format!("<{name}>")),
        log: &headway_workload::scenario::no_logs,
    };
    parse("made.yaml", &converted.scenario, &around).unwrap_or_else(|e| panic!("{e}\n{}", converted.scenario))
}

fn requests(scenario: &Scenario) -> Vec<Request> {
    let request = |step: usize| {
        let sending = RequestKey { step: step as u16, ..RequestKey::default() };
        scenario
            .script
            .render(&RenderContext { sending: &sending, now_unix_ns: 0 }, &Memory::default())
            .unwrap()
    };
    (0..scenario.labels.len()).map(request).collect()
}

fn from_curl(words: &[&str]) -> Vec<Request> {
    let words: Vec<String> = [&["curl"], words].concat().into_iter().map(str::to_owned).collect();
    requests(&read(&curl::scenario(&words).unwrap()))
}

fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

const NASTY: &[&str] = &[
    "{{id}}",
    "\\{{id}}",
    "\\\\{{",
    "{{{{",
    "${HOME}",
    "$${HOME}",
    "$$${",
    "a: b # c",
    "- x",
    "'\"",
    "yes",
    "1e5",
    " padded ",
    "é\u{1f600}",
    "line\nline\r\n",
    "\t",
    "{}",
    "~",
    "%7B{{x}}%",
    "null",
    "a\\nb",
];

#[test]
fn texts_arrive_as_they_were() {
    for text in NASTY {
        let sent = from_curl(&["http://a/", "--data-raw", text, "-H", "Content-Type: text/plain"]);
        assert_eq!(String::from_utf8_lossy(&sent[0].body), *text);
        assert_eq!(header(&sent[0], "content-type"), Some("text/plain"));

        let body = json!({"text": text, "list": [text, 1, 1.5, true, null], "n": {"y": -3}});
        let sent = from_curl(&["http://a/", "--json", &body.to_string()]);
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&sent[0].body).unwrap(), body);
        assert_eq!(header(&sent[0], "content-type"), Some("application/json"));

        let form = url::form_urlencoded::Serializer::new(String::new()).append_pair("name", text).finish();
        let sent = from_curl(&["http://a/", "-d", &form]);
        assert_eq!(String::from_utf8_lossy(&sent[0].body), form);
        assert_eq!(header(&sent[0], "content-type"), Some("application/x-www-form-urlencoded"));

        let sent = from_curl(&["http://a/", "--form-string", &format!("name={text}")]);
        let parts = String::from_utf8_lossy(&sent[0].body).into_owned();
        assert!(parts.contains("name=\"name\"") && parts.contains(&format!("\r\n\r\n{text}\r\n")), "{parts}");

        if !text.contains(char::is_control) {
            let sent = from_curl(&["http://a/", "-H", &format!("X-Text: {text}")]);
            assert_eq!(header(&sent[0], "x-text"), Some(text.trim()));
        }
    }
}

#[test]
fn what_has_no_type_gets_none() {
    for options in [&["-T", "a.bin"][..], &["-H", "Content-Type:", "-d", "a=b"]] {
        let sent = from_curl(&[&["http://a/"], options].concat());
        assert_eq!(header(&sent[0], "content-type"), None, "{options:?}");
        assert!(!sent[0].body.is_empty());
    }
    assert_eq!(
        header(&from_curl(&["http://a/", "-d", "a=b"])[0], "content-type"),
        Some("application/x-www-form-urlencoded")
    );
}

#[test]
fn paths_arrive_as_they_were() {
    for path in ["/", "/a//c?x=1&y=%7B&z", "/?a=b;c,d:e@f!$'()*+", "/%E2%82%AC?q=%20+", "/?x=$d&y=\\"] {
        let sent = from_curl(&[&format!("http://a{path}")]);
        assert_eq!(sent[0].path, path.replace('\\', "%5C"));
    }
    // As curl sends it (7.88).
    assert_eq!(from_curl(&["http://a/a//b/../c?x=/../"])[0].path, "/a//c?x=/../");
    let sent = from_curl(&["-g", "http://a/{{x}}?${y}={{z}}"]);
    assert_eq!(sent[0].path, "/%7B%7Bx%7D%7D?$%7By%7D=%7B%7Bz%7D%7D");
}

#[test]
fn all_of_curl_s_options_together_are_a_scenario() {
    let words = [
        "-sSkL",
        "-m",
        "2.5",
        "--connect-timeout",
        "1",
        "-u",
        "me:pw",
        "-b",
        "a=b",
        "-A",
        "agent",
        "-e",
        "from",
        "--compressed",
        "-H",
        "X-Api-Key: k",
        "-d",
        "a=1&token=t",
        "https://a/1?secret=s",
        "https://a/1",
        "--next",
        "-XPURGE",
        "https://a/2",
        "--next",
        "-T",
        "up.bin",
        "https://a/3",
        "--next",
        "-F",
        "a=b",
        "-F",
        "f=@x.png;type=image/png",
        "https://a/4",
        "--next",
        "-I",
        "https://a/1",
    ];
    let words: Vec<String> = ["curl"].iter().chain(&words).map(|&w| w.to_owned()).collect();
    let scenario = read(&curl::scenario(&words).unwrap());
    assert_eq!(scenario.target.as_ref().map(ToString::to_string).as_deref(), Some("https://a/"));
    assert_eq!(scenario.settings.timeout, Some(headway_base::Nanos::from_millis(2_500)));
    assert_eq!(scenario.settings.connect_timeout, Some(headway_base::Nanos::from_secs(1)));
    assert_eq!(scenario.settings.insecure, Some(true));
    let labels = ["POST /1", "POST /1 (2)", "PURGE /2", "PUT /3", "POST /4", "HEAD /1"];
    assert_eq!(scenario.labels[..6], labels);
    assert_eq!(scenario.labels[6..], labels.map(|label| format!("{label} (redirected)")), "-L");
    assert_eq!(scenario.files, ["up.bin", "x.png"]);
    let sent = requests(&scenario);
    assert_eq!(sent[0].path, "/1?secret=%3CHEADWAY_SECRET_SECRET%3E");
    assert_eq!(header(&sent[0], "authorization"), Some("<HEADWAY_SECRET_AUTHORIZATION>"));
    assert_eq!(header(&sent[0], "cookie"), Some("<HEADWAY_SECRET_COOKIE>"));
    assert_eq!(header(&sent[0], "accept-encoding"), Some("gzip, deflate, br, zstd"));
    assert_eq!((header(&sent[0], "user-agent"), header(&sent[0], "referer")), (Some("agent"), Some("from")));
    assert_eq!(String::from_utf8_lossy(&sent[0].body), "a=1&token=%3CHEADWAY_SECRET_TOKEN%3E");
    assert_eq!((sent[2].method.as_str(), header(&sent[2], "cookie")), ("PURGE", None));
    assert_eq!(sent[3].body, b"up.bin");
    // What the variables hold does not show.
    for name in ["HEADWAY_SECRET_AUTHORIZATION", "HEADWAY_SECRET_COOKIE", "HEADWAY_SECRET_TOKEN"] {
        assert!(!scenario.redactor.hide(&format!("x <{name}> x")).contains(name), "{name}");
    }
}

#[test]
fn sockets_and_addresses_are_targets() {
    for (words, target) in [
        (&["--unix-socket", "/run/a.sock", "http://h/x"][..], "unix:/run/a.sock:/"),
        (&["http://[::1]:8080/x"], "http://[::1]:8080/"),
        (&["127.0.0.1/x"], "http://127.0.0.1/"),
    ] {
        let words: Vec<String> = [&["curl"], words].concat().into_iter().map(str::to_owned).collect();
        let scenario = read(&curl::scenario(&words).unwrap());
        assert_eq!(scenario.target.as_ref().unwrap().to_string(), target);
        assert_eq!(requests(&scenario)[0].path, "/x");
    }
}

#[test]
fn a_recording_is_a_scenario() {
    let mut entries = Vec::new();
    for (i, text) in NASTY.iter().enumerate() {
        let started =
            jiff::Timestamp::from_millisecond(1_767_225_600_000 + 1_000 * i as i64 + 37 * (i % 3) as i64)
                .unwrap();
        entries.push(json!({
            "startedDateTime": started.to_string(),
            "time": 20.5,
            "request": {
                "method": "POST",
                "url": format!("https://a/{}", i % 4),
                "headers": [
                    {"name": ":path", "value": "/"},
                    {"name": "cookie", "value": if i == 0 { "pre=1" } else { "pre=1; sid=abc" }},
                    {"name": "content-type", "value": "application/json"},
                    {"name": "x-text", "value": text.replace(char::is_control, "")},
                ],
                "postData": {"mimeType": "application/json", "text": json!({"text": text}).to_string()},
            },
            "response": {
                "status": 201,
                "headers": [{"name": "set-cookie", "value": "sid=abc; HttpOnly"}],
                "content": {"mimeType": "application/json"},
            },
        }));
    }
    let har = json!({"log": {"creator": {"name": "x"}, "entries": entries}}).to_string();
    let converted = har::scenario(&har, &har::Choices::default()).unwrap();
    let scenario = read(&converted);
    assert_eq!(scenario.labels.len(), NASTY.len());
    assert_eq!(scenario.labels[4], "POST /0 (2)");
    assert!(converted.scenario.contains("think: lognormal("), "{}", converted.scenario);
    assert!(
        converted.scenario.contains("Cookie: \"sid={{cookie_sid}}; ${HEADWAY_SECRET_COOKIE}\""),
        "{}",
        converted.scenario
    );
    // The first step alone can be rendered without what answers gave.
    let sending = RequestKey::default();
    let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
    let first = scenario.script.render(&visit, &Memory::default()).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&first.body).unwrap(), json!({"text": NASTY[0]}));
    assert_eq!(header(&first, "x-text"), Some(NASTY[0]));
    assert_eq!(header(&first, "cookie"), Some("<HEADWAY_SECRET_COOKIE>"));
}
