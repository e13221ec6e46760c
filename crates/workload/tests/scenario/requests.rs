//! Steps become the requests that they describe.

use crate::common::scenario;
use headway_base::Nanos;
use headway_workload::content::{Memory, RenderContext};
use headway_workload::scenario::Scenario;
use headway_workload::{Request, RequestKey};

fn sending(k: u64, step: u16) -> RequestKey {
    RequestKey { k, user: k, step, ..RequestKey::default() }
}

fn rendered(scenario: &Scenario, k: u64, step: u16) -> Request {
    let visit = RenderContext { sending: &sending(k, step), now_unix_ns: 0 };
    scenario.script.render(&visit, &Memory::default()).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Journeys that arrive, with everything that a step can hold.
fn steps(text: &str) -> Scenario {
    scenario(&format!(
        "target: http://h/base\nheaders: {{ Accept: text/html, X-All: '{{{{user.id}}}}' }}\n\
         variables: {{ tenant: \"acme-${{TENANT}}\" }}\n\
         data: {{ people: {{ csv: people.csv }}, items: {{ jsonl: items.jsonl, take: unique, at-end: wrap }} }}\n\
         users: {{ arrive: {{ rate: 1/s }} }}\njourney:\n{text}"
    ))
}

#[test]
fn paths_queries_and_headers() {
    let read = steps(
        "  - get: /a/{{data.people.name}}?x=1\n    query: { q: 'a b', t: '{{vars.tenant}}' }\n    headers: { accept: '*/*', X-Own: 1 }\n",
    );
    let request = rendered(&read, 1, 0);
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("GET", "/base/a/grace?x=1&q=a%20b&t=acme-north")
    );
    let headers: Vec<(&str, &str)> = request.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(headers, [("accept", "*/*"), ("X-Own", "1"), ("X-All", "1")]);
    assert_eq!(read.labels, ["GET /a/{{data.people.name}}"]);
}

#[test]
fn bodies_of_every_kind() {
    let read = steps(
        "  - { post: /t, text: 'user {{user.id}}' }\n  - post: /j\n    json: { id: '{{data.items.id}}', list: [1, 2.5, true, null, 'x {{user.id}}'] }\n  \
         - { put: /f, form: { a: 'b c', '{{user.id}}': 1 } }\n  - { patch: /b, file: people.csv }\n  \
         - request: { method: PURGE, path: /m }\n    multipart: [{ name: a, text: b }, { name: f, file: cat.png, filename: x.png, type: image/png }]\n",
    );
    let body = |step| String::from_utf8(rendered(&read, 3, step).body).unwrap();
    assert_eq!(body(0), "user 3");
    assert_eq!(body(1), r#"{"id":2,"list":[1,2.5,true,null,"x 3"]}"#);
    assert_eq!(body(2), "a=b+c&3=1");
    assert_eq!(body(3), "name,city\nada,London\ngrace,New York\n");
    let parts = body(4);
    assert!(
        parts.contains("name=\"f\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n\u{1}\u{2}\r\n")
    );
    assert_eq!(rendered(&read, 0, 4).method, "PURGE");
    assert_eq!(read.files, ["people.csv", "items.jsonl", "cat.png"]);
    assert_eq!(read.labels, ["POST /t", "POST /j", "PUT /f", "PATCH /b", "PURGE /m"]);
}

/// The outcome of an answer to a step, and what the session then knows.
fn answered(
    read: &Scenario,
    memory: &mut Memory,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let script = &read.script;
    let mut reader = script.reader(0);
    reader.head(script, status, headers.iter().map(|(n, v)| (*n, v.as_bytes())));
    reader.chunk(body.as_bytes());
    let sending = sending(0, 0);
    let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
    format!("{:?}", script.finish(&visit, reader, memory, Nanos::from_millis(50)).outcome)
}

#[test]
fn answers_are_checked_and_values_carried_over() {
    let read = steps(
        "  - get: /\n    extract:\n      id: { json: /items/0/id }\n      path: { jsonpath: '$.items[1].id' }\n      tag: { header: ETag }\n      \
         sid: { cookie: sid }\n      tok: { regex: 'tok=(\\w+)' }\n      none: { json: /no, default: nothing }\n    \
         expect:\n      status: [200, 3xx]\n      time: 60ms\n      \
         body: { contains: items, not-contains: error, matches: '^\\{', json: { /items/0/id: 7 }, min: 10B, max: 1KiB }\n      \
         headers: { X-Cache: { matches: 'HIT|MISS' }, Content-Type: application/json }\n  \
         - get: /{{id}}/{{path}}/{{tag}}/{{sid}}/{{tok}}/{{none}}\n",
    );
    let good = [
        ("ETag", "e1"),
        ("Set-Cookie", "sid=s1"),
        ("X-Cache", "a HIT"),
        ("Content-Type", "application/json"),
    ];
    let body = r#"{"items": [{"id": 7}, {"id": "x"}], "t": "tok=abc"}"#;
    let mut memory = Memory::default();
    assert_eq!(answered(&read, &mut memory, 200, &good, body), "Ok");
    let visit = RenderContext { sending: &sending(0, 1), now_unix_ns: 0 };
    assert_eq!(read.script.render(&visit, &memory).unwrap().path, "/base/7/x/e1/s1/abc/nothing");
    let mut other =
        |status, headers: &[(&str, &str)], body: &str| answered(&read, &mut memory, status, headers, body);
    assert_eq!(other(404, &good, body), "Status");
    assert_eq!(other(200, &good[..3], body), "Check");
    assert_eq!(other(200, &good, &body.replace("7", "8")), "Check");
    assert_eq!(other(200, &good, &body.replace("x", "error")), "Check");
}

#[test]
fn what_is_expected_holds_templates() {
    let read = steps(
        "  - get: /\n    expect:\n      body: { contains: 'of {{vars.tenant}}', json: { /who: '{{data.people.name}}', /id: '{{user.id}}', /raw: '\\{{x}}' } }\n      \
         headers: { X-Id: '{{data.items.id}}' }\n",
    );
    let answer = |id: &str, body: &str| answered(&read, &mut Memory::default(), 200, &[("X-Id", id)], body);
    let body = r#"{"who": "ada", "id": 0, "raw": "{{x}}", "text": "of acme-north"}"#;
    assert_eq!(answer("1", body), "Ok");
    assert_eq!(answer("2", body), "Check");
    assert_eq!(answer("1", &body.replace("north", "south")), "Check");
    assert_eq!(answer("1", &body.replace("ada", "grace")), "Check");
    assert_eq!(answer("1", &body.replace("\"id\": 0", "\"id\": 1")), "Check");
}
