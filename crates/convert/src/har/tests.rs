use super::*;
use crate::draft::FORM;
use serde_json::{Value, json};

/// A request: when it began (ms), how long it took, what it was and what came back.
fn entry(at: i64, time: i64, method: &str, url: &str, status: u16, kind: &str) -> Value {
    let started = jiff::Timestamp::from_millisecond(1_767_225_600_000 + at).unwrap();
    json!({
        "startedDateTime": started.to_string(),
        "time": time,
        "request": {"method": method, "url": url, "headers": [], "cookies": []},
        "response": {"status": status, "headers": [], "content": {"mimeType": kind}},
    })
}

fn page(at: i64, time: i64, url: &str) -> Value {
    entry(at, time, "GET", url, 200, "text/html; charset=utf-8")
}

fn header(entry: &mut Value, side: &str, name: &str, value: &str) {
    entry[side]["headers"].as_array_mut().unwrap().push(json!({"name": name, "value": value}));
}

fn har(entries: &[Value]) -> String {
    let creator = json!({"name": "WebInspector", "version": "537.36"});
    json!({"log": {"version": "1.2", "creator": creator, "entries": entries}}).to_string()
}

fn converted(entries: &[Value]) -> Converted {
    scenario(&har(entries), &Choices::default()).unwrap()
}

/// The journey alone.
fn journey(entries: &[Value]) -> String {
    converted(entries).scenario.split_once("journey:\n").unwrap().1.to_owned()
}

#[test]
fn a_recording_becomes_a_journey() {
    let mut home = page(0, 100, "http://a.org/?utm=1#top");
    for (name, value) in [
        (":authority", "a.org"),
        ("Host", "a.org"),
        ("Connection", "keep-alive"),
        ("User-Agent", "Mozilla/5.0"),
        ("Accept-Encoding", "gzip"),
    ] {
        header(&mut home, "request", name, value);
    }
    let mut api = entry(130, 50, "POST", "http://a.org:80/api", 201, "application/json");
    header(&mut api, "request", "User-Agent", "Mozilla/5.0");
    header(&mut api, "request", "content-type", "application/json");
    header(&mut api, "request", "X-Csrf-Token", "s3cret");
    api["request"]["postData"] = json!({"mimeType": "application/json", "text": "{\"b\":\"{{\",\"a\":1}"});
    let mut late = page(3_180, 10, "http://a.org/next");
    header(&mut late, "request", "User-Agent", "Mozilla/5.0");
    // Not in the order of their starts, as in Firefox.
    let Converted { scenario, notes } = converted(&[
        late,
        home,
        api,
        entry(140, 5, "GET", "http://a.org/x.png", 200, "image/png"),
        entry(150, 5, "GET", "https://cdn.example/lib.js", 200, "text/javascript"),
        entry(151, 5, "GET", "https://cdn.example/data", 200, "application/json"),
    ]);
    let expected = r#"# Made by headway from-har: 3 steps out of 6 recorded requests, made by WebInspector 537.36.
# Think times, from pauses of more than 500ms between pages: 1 pause, mean 3s: exp(3s), since so few say
# nothing of their spread, and equal ones would keep users together whom a stall has bunched.
# Values that an answer gave and a later request used (ids, tokens) are as recorded: see extract.
# Left out: 1 request for static assets (images, fonts, styles, scripts; --all keeps them).
# Left out: 2 requests to other origins, which --origin URL keeps: https://cdn.example (2).
# Secrets are not written down; before a run, set
#   HEADWAY_SECRET_X_CSRF_TOKEN: the value of the header X-Csrf-Token
target: http://a.org
headers:
  User-Agent: Mozilla/5.0
users:
  # Sessions that begin per second, and for how long: a careful start, to be changed.
  arrive:
    process: poisson
    rate: 1/s
  phases:
    - hold: 10s
journey:
  - get: /?utm=1
    headers:
      Accept-Encoding: gzip
    expect:
      status: 200
  - post: /api
    headers:
      X-Csrf-Token: "${HEADWAY_SECRET_X_CSRF_TOKEN}"
    json:
      b: "\\{{"
      a: 1
    expect:
      status: 201
  - get: /next
    think: exp(3s)
    expect:
      status: 200
"#;
    assert_eq!(scenario, expected);
    assert_eq!(notes.len(), 3);
    assert!(notes[2].starts_with("set HEADWAY_SECRET_X_CSRF_TOKEN"), "{notes:?}");
}

#[test]
fn pauses_are_between_pages_of_the_target() {
    // Pages of 200 ms, pauses of 1, 2, 3, 4 and 5 s; a third party's beacons in between do not cut them short, nor does a
    // picture that came late.
    let mut entries = Vec::new();
    let mut at = 0;
    for pause in [0, 1_000, 2_000, 3_000, 4_000, 5_000] {
        at += pause;
        entries.push(page(at, 100, &format!("http://a/{pause}")));
        entries.push(page(at + 50, 150, &format!("http://a/{pause}/part")));
        entries.push(entry(at + 600, 10, "POST", "http://beacon/", 204, ""));
        at += 200;
    }
    entries.push(entry(at - 3_000, 10, "GET", "http://a/late.png", 200, "image/png"));
    let text = converted(&entries).scenario;
    assert!(text.contains("5 pauses, mean 3s, CoV 0.527:\n# lognormal(3s,0.527), by moments.\n"), "{text}");
    assert!(text.contains("# 6 requests began while others were under way"), "{text}");
    assert_eq!(text.matches("think: lognormal(3s,0.527)\n").count(), 5);
    assert!(!text.contains("- get: /0\n    think"), "{text}");

    // 500 ms are no pause yet; without one there is no think time.
    let text = converted(&[page(0, 100, "http://a/"), page(600, 1, "http://a/")]).scenario;
    assert!(text.contains("no pause of more than 500ms") && !text.contains("think:"), "{text}");
    assert!(text.contains("name: GET / (2)"), "{text}");
    let text = converted(&[page(0, 100, "http://a/"), page(601, 1, "http://a/")]).scenario;
    assert!(text.contains("think: exp(0.501s)"), "{text}");
}

#[test]
fn what_no_step_can_send_is_counted() {
    let mut cached = page(1, 1, "http://a/cached");
    cached["_fromCache"] = json!("disk");
    let entries = [
        page(0, 1, "http://a/"),
        cached,
        entry(2, 0, "GET", "http://a/aborted", 0, ""),
        entry(3, 0, "GET", "wss://a/ws", 101, ""),
        entry(3, 0, "GET", "http://a/ws", 101, ""),
        entry(4, 0, "GET", "data:image/png;base64,AAAA", 200, "image/png"),
        entry(5, 0, "CONNECT", "https://a/", 200, ""),
        entry(6, 0, "GET", "http://a/style?v=1", 200, "text/css"),
        entry(7, 0, "GET", "http://a/icon.ICO", 200, ""),
    ];
    let text = converted(&entries).scenario;
    for says in [
        "1 step out of 9 recorded",
        "Left out: 2 requests for static assets",
        "Left out: 1 request answered from",
        "Left out: 1 request without an answer",
        "Left out: 4 requests that no HTTP step can send",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let all = scenario(&har(&entries), &Choices { all: true, ..Choices::default() }).unwrap().scenario;
    assert!(
        all.contains("- get: /style?v=1") && all.contains("/icon.ICO") && !all.contains("static"),
        "{all}"
    );
}

#[test]
fn the_target_is_the_origin_with_most_or_the_one_asked_for() {
    let mut entries =
        vec![page(0, 1, "https://shop/"), page(1, 1, "https://api/1"), page(2, 1, "https://api/2")];
    entries.extend((0..9).map(|i| entry(3 + i, 1, "GET", "https://img/x", 200, "image/webp")));
    let with = |target: &str| {
        let choices = Choices { target: Some(target.to_owned()), ..Choices::default() };
        scenario(&har(&entries), &choices).map(|c| c.scenario).map_err(|e| format!("{e:#}"))
    };
    assert!(converted(&entries).scenario.contains("target: https://api\n"));
    let shop = with("https://shop:443/any/path").unwrap();
    assert!(
        shop.contains("target: https://shop\n") && shop.contains("https://img (9), https://api (2)"),
        "{shop}"
    );
    let error = with("https://other").unwrap_err();
    assert!(
        error.contains("https://other") && error.contains("https://shop, https://api, https://img"),
        "{error}"
    );
    assert!(with("https://img").unwrap_err().contains("--all keeps static assets"));
    assert!(with("gopher://x").unwrap_err().starts_with("--target"));
    // Of two with as many, where it began.
    assert!(converted(&entries[..2]).scenario.contains("target: https://shop\n"));
}

#[test]
fn origins_that_are_asked_for_are_kept() {
    let mut entries =
        vec![page(0, 1, "https://www.shop/"), page(2, 1, "https://www.shop/b"), page(3, 1, "https://cdn/x")];
    let mut api = entry(5_000, 1, "POST", "https://api.shop:8443/items?n=1", 201, "application/json");
    for each in entries.iter_mut().chain([&mut api]) {
        header(each, "request", "User-Agent", "Mozilla/5.0");
        header(each, "request", "X-Api-Key", "s3cret");
        header(each, "request", "Host", "x");
    }
    entries.push(api);
    let with = |origins: &[&str]| {
        let origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        scenario(&har(&entries), &Choices { origins, ..Choices::default() }).map_err(|e| format!("{e:#}"))
    };
    let Converted { scenario, notes } = with(&["https://api.shop:8443", "https://www.shop"]).unwrap();
    let key = "    headers:\n      X-Api-Key: \"${HEADWAY_SECRET_X_API_KEY}\"\n";
    for part in [
        "# Left out: 1 request to other origins, which --origin URL keeps: https://cdn (1).\n",
        "target: https://www.shop\nheaders:\n  User-Agent: Mozilla/5.0\nusers:",
        &format!("  - get: /b\n{key}"),
        &format!("  - post: https://api.shop:8443/items?n=1\n    think: exp(4.997s)\n{key}"),
    ] {
        assert!(scenario.contains(part), "{part}\n{scenario}");
    }
    assert!(notes.contains(&"Steps also go to https://api.shop:8443 (1).".to_owned()), "{notes:?}");
    let error = with(&["https://api.shop"]).unwrap_err();
    assert_eq!(
        error,
        "--origin https://api.shop: the recording has no request to it, only to https://www.shop, https://cdn, https://api.shop:8443"
    );
}

#[test]
fn cookies_are_those_of_hosts() {
    let mut login = page(0, 1, "https://www.shop.example/login");
    header(&mut login, "response", "Set-Cookie", "all=1; Domain=.Shop.Example\nsid=a");
    let mut api = page(2, 1, "https://api.shop.example/");
    header(&mut api, "request", "Cookie", "all=1");
    header(&mut api, "response", "Set-Cookie", "sid=b");
    let mut both = page(4, 1, "https://api.shop.example/own");
    header(&mut both, "request", "Cookie", "all=1; sid=b; sid2=c");
    let mut first = page(6, 1, "https://www.shop.example/own");
    header(&mut first, "request", "Cookie", "all=1; sid=a; sid2=c");
    let mut not = page(8, 1, "https://notshop.example/");
    header(&mut not, "request", "Cookie", "all=2");
    let origins = ["https://api.shop.example", "https://notshop.example"].map(str::to_owned).to_vec();
    let choices = Choices { target: Some("https://www.shop.example".to_owned()), origins, all: false };
    let text = scenario(&har(&[login, api, both, first, not]), &choices).unwrap().scenario;
    let expected = r#"journey:
  - get: /login
    extract:
      cookie_all:
        cookie: all
      cookie_sid-2:
        cookie: sid
    expect:
      status: 200
  - get: https://api.shop.example/
    extract:
      cookie_sid:
        cookie: sid
    expect:
      status: 200
  - get: https://api.shop.example/own
    headers:
      Cookie: "sid={{cookie_sid}}; all={{cookie_all}}; ${HEADWAY_SECRET_COOKIE}"
    expect:
      status: 200
  - get: /own
    headers:
      Cookie: "sid={{cookie_sid-2}}; all={{cookie_all}}; ${HEADWAY_SECRET_COOKIE}"
    expect:
      status: 200
  - get: https://notshop.example/
    headers:
      Cookie: "${HEADWAY_SECRET_COOKIE_2}"
    expect:
      status: 200
"#;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn cookies_that_answers_set_are_the_jar_s() {
    let mut login = page(0, 1, "http://a/login");
    header(&mut login, "request", "Cookie", "_ga=GA1");
    header(&mut login, "response", "Set-Cookie", "sid=1; Path=/\ntheme=dark");
    let mut own = page(2, 1, "http://a/own");
    header(&mut own, "request", "Cookie", "sid=1; theme=dark");
    let mut both = page(4, 1, "http://a/both");
    header(&mut both, "request", "Cookie", "sid=1; _ga=GA2");
    header(&mut both, "response", "set-cookie", "sid=; Max-Age=0");
    let mut gone = page(6, 1, "http://a/gone");
    gone["request"]["cookies"] = json!([{"name": "sid", "value": "2"}]);
    let Converted { scenario, notes } = converted(&[login, own, both, gone]);
    let expected = r#"journey:
  - get: /login
    headers:
      Cookie: "${HEADWAY_SECRET_COOKIE}"
    extract:
      cookie_sid:
        cookie: sid
    expect:
      status: 200
  - get: /own
    expect:
      status: 200
  - get: /both
    headers:
      Cookie: "sid={{cookie_sid}}; ${HEADWAY_SECRET_COOKIE}"
    expect:
      status: 200
  - get: /gone
    headers:
      Cookie: "${HEADWAY_SECRET_COOKIE_2}"
    expect:
      status: 200
"#;
    assert!(scenario.ends_with(expected), "{scenario}");
    assert_eq!(notes[0], "set HEADWAY_SECRET_COOKIE before a run: the cookies _ga, as in _ga=...");
    assert!(!scenario.contains("GA"), "{scenario}");
}

#[test]
fn bodies_are_what_was_recorded() {
    let post = |kind: &str, data: Value| {
        let mut entry = entry(0, 1, "POST", "http://a/", 200, "text/html");
        if !kind.is_empty() {
            header(&mut entry, "request", "Content-Type", kind);
        }
        entry["request"]["postData"] = data;
        journey(&[entry])
    };
    let form = "form:\n      a: x y\n      password: \"${HEADWAY_SECRET_PASSWORD}\"\n";
    let text = post(FORM, json!({"mimeType": FORM, "text": "a=x+y&password=pw"}));
    assert!(text.contains(form) && !text.contains("headers"), "{text}");
    let params = json!([{"name": "a", "value": "x y"}, {"name": "password", "value": "pw"}]);
    assert!(post("", json!({"mimeType": FORM, "params": params})).contains(form));
    let parts = json!([
        {"name": "a", "value": "x"},
        {"name": "f", "fileName": "up.png", "contentType": "image/png"},
    ]);
    let boundary = "multipart/form-data; boundary=xyz";
    let text = post(boundary, json!({"mimeType": boundary, "params": parts, "text": ""}));
    let expected = "multipart:\n      - name: a\n        text: x\n      - name: f\n        file: up.png\n        filename: up.png\n        type: image/png\n";
    assert!(text.contains(expected) && text.contains("does not hold the file up.png"), "{text}");
    assert!(!text.contains("boundary"), "{text}");
    // Without its parts it is sent as it was, boundary and all.
    let text = post(boundary, json!({"mimeType": boundary, "text": "--xyz\r\n\r\n--xyz--"}));
    assert!(text.contains(boundary) && text.contains("text: \"--xyz\\r\\n\\r\\n--xyz--\""), "{text}");
    // {"a":1}, and a byte that is no text.
    let json = "application/json";
    let text = post(json, json!({"mimeType": json, "text": "eyJhIjoxfQ==", "encoding": "base64"}));
    assert!(text.contains("json:\n      a: 1\n") && !text.contains("Left out"), "{text}");
    let text = post("image/png", json!({"mimeType": "image/png", "text": "/w==", "encoding": "base64"}));
    assert!(text.contains("the body, recorded as base64") && !text.contains("/w"), "{text}");
    let mut lost = entry(0, 1, "PUT", "http://a/", 200, "");
    lost["request"]["bodySize"] = json!(17);
    let Converted { scenario, notes } = converted(&[lost]);
    assert!(scenario.contains("does not hold the body of this request (17 bytes)"), "{scenario}");
    assert_eq!(notes, ["1 step is not complete: see the comments there"]);
}

#[test]
fn what_is_no_har_says_what_was_expected() {
    let without = |path: &[&str]| {
        let mut bad = page(0, 1, "http://a/");
        let (last, before) = path.split_last().unwrap();
        let parent = before.iter().fold(&mut bad, |value, key| &mut value[*key]);
        parent.as_object_mut().unwrap().remove(*last);
        har(&[page(0, 1, "http://a/"), bad])
    };
    let with = |key: &str, value: Value| {
        let mut bad = page(0, 1, "http://a/");
        bad[key] = value;
        har(&[bad])
    };
    for (text, says) in [
        ("<html>".to_owned(), &["no HAR file", "line 1 column 1"][..]),
        (String::new(), &["no HAR file"]),
        ("{}".to_owned(), &["log.entries"]),
        (json!({"log": {"entries": 3}}).to_string(), &["log.entries"]),
        (har(&[]), &["no HTTP request"]),
        (without(&["startedDateTime"]), &["request 2 of 2 (log.entries[1])", "startedDateTime is missing"]),
        (without(&["time"]), &["time is missing"]),
        (without(&["request", "url"]), &["request: url is missing"]),
        (without(&["request", "method"]), &["request: method is missing"]),
        (with("startedDateTime", json!("yesterday")), &["'yesterday'", "2026-01-31T12:00:00.000Z"]),
        (with("startedDateTime", json!("2026-01-01T00:00:00")), &["offset"]),
        (with("time", json!("long")), &["time is \"long\""]),
        (
            with("request", json!({"method": "GET", "url": "http://a/", "headers": 3})),
            &["request.headers: it is 3"],
        ),
        (
            with("request", json!({"method": "GET", "url": "http://a/", "postData": "x"})),
            &["request.postData"],
        ),
        (with("response", json!({"status": "fine"})), &["response.status is \"fine\""]),
    ] {
        let error = format!("{:#}", scenario(&text, &Choices::default()).unwrap_err());
        for part in says {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
    }
    // What browsers leave out or add is no error.
    let mut lean = page(0, 1, "http://a/");
    lean["request"].as_object_mut().unwrap().remove("headers");
    lean["timings"] = json!({"blocked": -1, "send": 2, "wait": 30});
    lean.as_object_mut().unwrap().remove("time");
    assert!(scenario(&format!("\u{feff}{}", har(&[lean])), &Choices::default()).is_ok());
}

#[test]
fn secrets_within_headers_are_not_written_down() {
    let mut home = page(0, 100, "http://a.org/?next=http://b.org/?token=t-4711%26y");
    header(&mut home, "request", "Referer", "http://a.org/login?token=t-4712&y=1#id_token=t-4713");
    let text = converted(&[home]).scenario;
    assert!(!text.contains("t-47"), "{text}");
    assert!(text.contains("token=${HEADWAY_SECRET_REFERER}&y=1#${HEADWAY_SECRET_REFERER_2}"), "{text}");
}

#[test]
fn a_request_that_was_aborted_needs_no_time() {
    let entry = |url: &str, response: &str, timings: &str| {
        format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00.000Z","request":{{"method":"GET","url":"{url}","headers":[]}},"response":{response},"timings":{timings}}}"#
        )
    };
    let har =
        |entries: &[String]| format!(r#"{{"log":{{"version":"1.2","entries":[{}]}}}}"#, entries.join(","));
    let kept = entry(
        "http://127.0.0.1:8801/a",
        r#"{"status":200,"content":{"mimeType":"text/html"}}"#,
        r#"{"send":0,"wait":20,"receive":0}"#,
    );
    let aborted = entry("http://127.0.0.1:8801/b", r#"{"status":0,"content":{}}"#, "{}");
    let made = scenario(&har(&[kept, aborted]), &Choices::default()).unwrap();
    assert!(made.scenario.contains("get: /a") && !made.scenario.contains("/b"), "{}", made.scenario);
    assert!(made.notes.contains(&"Left out: 1 request without an answer.".to_owned()), "{:?}", made.notes);
    let answered = entry("http://127.0.0.1:8801/b", r#"{"status":200,"content":{}}"#, "{}");
    let error = scenario(&har(&[answered]), &Choices::default()).err().unwrap();
    assert!(format!("{error:#}").contains("time is missing"), "{error:#}");
}

/// Each key of a recording is read, known to send nothing, or reported.
#[test]
fn what_nobody_reads_is_reported() {
    let mut first = page(0, 10, "http://a.org/");
    first["_priority"] = json!("High");
    first["request"]["queryString"] = json!([]);
    first["request"]["authentication"] = json!({"scheme": "digest"});
    header(&mut first, "request", "Accept", "*/*");
    let mut second = entry(20, 10, "POST", "http://a.org/", 200, "text/html");
    second["request"]["authentication"] = json!(null);
    second["request"]["postData"] = json!({"mimeType": "text/plain", "text": "a", "compression": 3});
    let mut third = page(40, 10, "http://a.org/found");
    third["request"]["queryString"] = json!([{"name": "q", "value": "x"}]);
    let reported = |entries: &[Value]| -> Vec<String> {
        converted(entries).notes.into_iter().filter(|note| note.starts_with("Not read")).collect()
    };
    assert_eq!(
        reported(&[first, second, third]),
        [
            "Not read: request.authentication (2 times), request.postData.compression (1 time), request.queryString beside a URL without a \
          query (1 time)."
        ]
    );
    assert!(reported(&[page(0, 10, "http://a.org/?q=x")]).is_empty());
}
