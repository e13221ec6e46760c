//! Mistakes that people make, and what they then see: one snapshot per group, each mistake above its message. After a
//! change of words: `INSTA_UPDATE=always cargo test -p headway-workload --test scenario`, and read what changed.

use crate::common::mistakes;

/// What follows is a file of its own.
const OPEN: &str = "users: { arrive: { rate: 20/s } }\n";
const STEP: &str = "journey: [{ get: / }]\n";

/// All cases of a group with what is shown; each must be wrong.
fn shown(cases: &[String]) -> String {
    let one = |case: &String| format!("{}\n-----\n{}\n", case.trim_end_matches('\n'), mistakes(case));
    cases.iter().map(one).collect::<Vec<_>>().join("\n=====\n")
}

/// Compares with the snapshot of the test that calls, without the cases, which stand in it anyway.
macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($text) })
    };
}

fn whole(cases: &[&str]) -> String {
    shown(&cases.iter().map(|case| (*case).to_owned()).collect::<Vec<_>>())
}

/// Cases in a file that is right otherwise.
fn with(rest: &str, cases: &[&str]) -> String {
    shown(&cases.iter().map(|case| format!("{case}\n{rest}")).collect::<Vec<_>>())
}

#[test]
fn broken_yaml() {
    snapshot!(whole(&[
        "users:\n\tarrive: { rate: 20/s }\njourney:\n  - get: /\n",
        "users:\n  arrive: { rate: 20/s }\n journey:\n  - get: /\n",
        "users:\n  arrive: { rate: 20/s }\n    think: 1s\n",
        "users:\n  arrive: { rate: 20/s }\njourney:\n  - get: /\n   name: x\n",
        "users:\n  arrive: { rate: 20/s\njourney:\n  - get: /\n",
        "users: { arrive: { rate: 20/s ] }\n",
        "headers: { Accept: [a, b }\n",
        "target:http://h\nusers:\n  arrive: { rate: 20/s }\n",
        "users\n  arrive: { rate: 20/s }\n",
        "name: \"unclosed\nusers: { arrive: { rate: 20/s } }\n",
        "name: 'it's'\n",
        "name: a: b\n",
        "headers: { Accept: */* }\n",
        "name: @x\n",
        "expect: \"\\d+\"\n",
        "a: 1\n---\nb: 2\n",
        "name: !secret x\n",
        "users: { arrive: { rate: 20/s }, think: uniform(0s, 2s) }\njourney: [{ get: / }]\n",
    ]));
}

#[test]
fn wrong_shapes() {
    snapshot!(whole(&[
        "",
        "# only a comment\n",
        "http://127.0.0.1:8080\n",
        "- get: /\n",
        "target: http://h\ntarget: http://i\n",
        "users:\njourney: [{ get: / }]\n",
        "users: 20/s\njourney: [{ get: / }]\n",
        "users: { arrive: 20/s }\njourney: [{ get: / }]\n",
        "target: http://h\njourney: [{ get: / }]\n",
        "users: { arrive: { rate: 20/s } }\njourney:\n  get: /\n",
        "users: { arrive: { rate: 20/s } }\njourney: [get]\n",
        "users: { arrive: { rate: [20/s] } }\nheaders: text\njourney: [{ get: { path: / } }]\n",
        "users: { at-once: 3 }\n[a, b]: c\njourney: [{ get: / }]\n",
    ]));
}

#[test]
fn unknown_keys_and_words() {
    snapshot!(whole(&[
        "tarjet: http://h\nusers:\n  arive: { rate: 20/s }\n  on_failure: continue\njourney:\n  - gett: /\n    body: x\n",
        "user: { arrive: { rate: 20/s } }\njourney: [{ get: / }]\n",
        "users: { arrive: { proces: posson, rate: 20/s }, connections: per-users, on-failure: stop }\njourney: [{ get: / }]\n",
        "data: { a: { csv: people.csv, take: unike, at-end: abort } }\n",
        "model: { service: 1ms, workers: 4, stalls: { each: 3s, for: 1s } }\n",
        "users: { arrive: { process: posson, rate: 20/s } }\njourney: [{ get: / }]\n",
    ]));
}

#[test]
fn wrong_units_and_values() {
    snapshot!(whole(&[
        "timeout: 30\nmax-body: 64\nusers: { arrive: { rate: 20 }, think: 5 }\njourney: [{ get: / }]\n",
        "tolerances: { time-scale: 3ms }\nusers: { arrive: { rate: 20/s } }\njourney: [{ get: / }]\n",
        "tolerances: { late: 1% }\nusers: { arrive: { rate: 20/s } }\njourney: [{ get: / }]\n",
        "timeout: soon\nmax-body: huge\nusers: { arrive: { rate: ten/s } }\njourney: [{ get: / }]\n",
        "timeout: -1s\nconnections: -3\nseed: 1.5\ninsecure: yes\nusers: { closed: { count: many } }\njourney: [{ get: / }]\n",
        "users: { arrive: { rate: 20/parsec }, think: expo(1s) }\njourney: [{ get: / }]\n",
        "users: { arrive: { rate: 20/s }, think: 'gamma(1s)' }\njourney: [{ get: / }]\n",
        "users: { arrive: { rate: 20/s }, think: empirical(nothere.txt) }\njourney: [{ get: / }]\n",
        "users: { arrive: { rate: 20/s }, think: empirical(badtimes.txt) }\njourney: [{ get: / }]\n",
        "users: { arrive: { rate: 20/s, process: gamma } }\njourney: [{ get: / }]\n",
        "users: { at-once: 3 }\njourney: [{ post: /, json: { n: 123456789012345678901234567890 } }]\n",
        "timeout: .inf\nmax-body: 1e3\nusers: { arrive: { rate: nan }, think: 1e400 }\njourney: [{ get: / }]\n",
    ]));
}

/// A text of any length is shown by its beginning, and one from the environment not at all.
#[test]
fn messages_are_short_however_long_a_value_is() {
    let group = |rate: &str, think: &str| {
        format!("users: {{ arrive: {{ rate: {rate} }}, think: '{think}' }}\n{STEP}")
    };
    let digits = "0".repeat(70_000);
    for think in ["shifted(1s,".repeat(5_000), "expo".repeat(9_000), format!("exp({digits})"), digits.clone()]
    {
        let shown = mistakes(&group("1/s", &think));
        assert!(shown.len() < 1_000, "{} bytes: {shown}", shown.len());
        assert!(shown.contains("..."), "{shown}");
    }
    let shown = mistakes(&group(&digits, "1s"));
    assert!(shown.len() < 1_000 && shown.contains("write for example 20/s or 20/1m"), "{shown}");
    for variable in ["'${LONG_TOKEN}'", "'${LONG_PIN}'"] {
        let shown = mistakes(&group(variable, "1s"));
        assert!(shown.contains("the text that comes from the environment is "), "{shown}");
    }
}

#[test]
fn impossible_groups() {
    snapshot!(with(
        STEP,
        &[
            "users: { think: 1s }",
            "users: { arrive: { rate: 20/s }, closed: { count: 3 } }",
            "users: { at-once: 5, phases: [{ hold: 1m }], pace: 3s }",
            "users: { work: { requests: 100, users: 5 }, phases: [{ hold: 1m }] }",
            "users: { work: { requests: 100 } }",
            "users: { arrive: { rate: 20/s }, pace: 10s }",
            "users: { closed: { count: 0 } }",
            "users: { at-once: 0 }",
            "users: { work: { requests: 0, users: 1 } }",
            "users: { closed: { count: 99999999999 } }",
            "users: []",
            "users: [{ arrive: { rate: 1/s } }, { arrive: { rate: 1/s } }]",
            "users: [{ name: a, arrive: { rate: 1/s } }, { name: a, arrive: { rate: 1/s } }]",
            "users: { name: a b, arrive: { rate: 1/s } }",
            "users: { arrive: { rate: 1/s }, think: 1s }",
            "connections: 10\nusers: { closed: { count: 200 } }",
            "users:\n  - { name: a, at-once: 3 }\n  - { name: b, arrive: { rate: 1/s }, phases: [{ hold: 1s, warmup: true }, { hold: 1s }] }",
        ]
    ));
}

#[test]
fn impossible_phases() {
    let group = |phases: &str| format!("users:\n  arrive: {{ rate: 20/s }}\n  phases:\n{phases}\n{STEP}");
    let cases = [
        "    - { hold: 1m }\n    - { hold: 3s, warmup: true }",
        "    - { hold: 1m, warmup: true }",
        "    - { hold: 5s, to: 3/s }\n    - { ramp: 3s }\n    - { ramp: 3s, hold: 4s }\n    - { to: 20/s }",
        "    - { step: 5s, by: 3/s }\n    - { step: 5s, by: 3/s, times: 0 }\n    - { spike: 3s }",
        "    - { hold: 0s }",
        "    - { ramp: 10s, to: 50 }",
        "    - { ramp: 10s, to: 0/s }",
        "    - { hold: 90000h, at: 1/s }",
        "    - { step: 1s, by: 1000000k/s, times: 10 }",
        "    - { hold: 10s, warmup: true }\n    - { pause: 10s }",
        "    - { daily: 24h }\n    - { daily: 24h, peak: 2.5 }\n    - { daily: 24h, peak: 2, day: 0s }\n    - { daily: 1h, peak: 2, at: 3/s }",
        "    - { daily: 3000h, mean: 1/s, peak: 2 }",
        "    hold: 10s",
        "    []",
    ];
    let mut cases: Vec<String> = cases.iter().map(|phases| group(phases)).collect();
    cases.extend([
        format!("users: {{ arrive: {{}} }}\n{STEP}"),
        format!("users: {{ closed: {{}}, phases: [{{ hold: 1m }}] }}\n{STEP}"),
        format!("users: {{ closed: {{ count: 5 }}, phases: [{{ ramp: 1m, to: 20/s }}, {{ hold: 1m, at: 2.5 }}] }}\n{STEP}"),
        format!("users: {{ arrive: {{ rate: 0/s }} }}\n{STEP}"),
        format!("users: {{ arrive: {{ rate: 5/s, process: trace(access.log) }}, phases: [{{ hold: 1m }}] }}\n{STEP}"),
        format!("users: {{ arrive: {{ process: trace(no.log) }} }}\n{STEP}"),
        format!("users: {{ arrive: {{ process: \"trace(named.log,requests=own)\" }} }}\n{STEP}"),
        format!("users: {{ arrive: {{ process: trace(one.log) }} }}\n{STEP}"),
        format!("users: {{ arrive: {{ process: \"trace(access.log, sped=2)\" }} }}\n{STEP}"),
    ]);
    snapshot!(shown(&cases));
}

#[test]
fn impossible_journeys() {
    snapshot!(
        with(
            OPEN,
            &[
                "target: http://h",
                "journey: []",
                "journey: [{ get: /a }, { get: /a?x=1 }]",
                "journey: [{ get: /a, name: x }, { get: /b, name: x }]",
                "journeys: { browse: [{ get: /a }], buy: [{ get: /b }] }",
                "journey: [{ get: /, post: / }]",
                "journey: [{ name: x }]",
                "journey: [{ steps: [{ get: / }] }, { repeat: 3 }, { repeat: 2, steps: [] }]",
                "journey: [{ get: /, repeat: 0 }]",
                "journey: [{ pause: 1s }]",
                "journey: [{ pause: 1s, name: x }]",
                "journey: [{ choose: [] }]",
                "journey: [{ choose: [{ weight: 0, steps: [{ get: / }] }] }]",
                "journey: [{ choose: [{ weight: 1, steps: [{ get: /a }] }, { weight: 1 }] }]",
                "journey: [{ repeat: 2, steps: [{ repeat: 2, steps: [{ repeat: 2, steps: [{ repeat: 2, steps: [{ get: /, repeat: 2 }] }] }] }] }]",
                "journey: [{ get: /, repeat: 4000m }, { get: /x, repeat: 4000000000 }]",
                "journey: [{ get: /, name: \"a\\nb\" }]",
            ]
        ) + "\n=====\n"
            + &whole(&[
                "users: { arrive: { rate: 1/s }, journey: brows }\njourneys: { browse: [{ get: /a }] }\n",
                "users: { arrive: { rate: 1/s }, journey: brows }\njourney: [{ get: /a }]\n",
            ])
    );
}

#[test]
fn requests_that_cannot_be_sent() {
    snapshot!(with(
        OPEN,
        &[
            "journey: [{ get: 'https://elsewhere{{user.id}}' }]",
            "journey: [{ get: 'http://me:pass@elsewhere/x' }]",
            "journey: [{ get: ftp://elsewhere/x }]",
            "origins: [ https://elsewhere ]\njourney: [{ get: / }]",
            "redirects: 3\norigins: [ https://elsewhere/x ]\njourney: [{ get: / }]",
            "journey: [{ get: items }]",
            "journey: [{ get: /a#b }]",
            "journey:\n  - get: {{vars.x}}",
            "journey: [{ request: { method: purge, path: / } }, { request: { method: CONNECT, path: / } }]",
            "journey: [{ request: { method: 'A B', path: / } }]",
            "journey: [{ request: { path: / } }]",
            "journey: [{ get: /, headers: { 'X Y': 1, Content-Length: 5, A: \"a\\nb\", b: 1, B: 2 } }]",
            "journey: [{ post: /, text: a, json: { b: c } }]",
            "journey: [{ post: /, file: nothere.json }]",
            "journey: [{ post: /, multipart: [{ name: a }, { name: b, text: c, file: d }, { name: f, text: g, filename: h }] }]",
            "journey: [{ post: /, multipart: [{ text: e }, { name: f, file: nothere.png }] }]",
            "journey: [{ post: /, multipart: [] }]",
            "target: ftp://h\njourney: [{ get: / }]",
            "target: http://me:pw@h/\njourney: [{ get: / }]",
            "target: http://h/?a=b\njourney: [{ get: / }]",
            "name: my run\nconnections: 0\ntimeout: 0s\njourney: [{ get: '/{{x}}' }]",
            "thresholds: [{ threshold: x, delay: 3s }]\njourney: [{ get: / }]",
            "thresholds: [{ abort: true }, [x]]\njourney: [{ get: / }]",
        ]
    ));
}

#[test]
fn bytes_that_cannot_be_sent() {
    snapshot!(with(
        OPEN,
        &[
            "target: http://h\njourney: [{ send: x }]",
            "target: http://h\nanswer: next\njourney: [{ get: / }]",
            "target: udp://h:1\njourney: [{ get: / }]",
            "target: udp://h:1\nheaders: { a: b }\nhttp: 2\ninsecure: true\njourney: [{ send: x }]",
            "target: udp://h:1\nanswer: close\njourney: [{ send: x }]",
            "target: udp://h:1\nanswer: 'match:1+9'\njourney: [{ send: x }]",
            "target: udp://h:1\njourney: [{ send: { file: nothere.bin } }]",
            "target: udp://h:1\njourney: [{ send: x, headers: { a: b } }, { send: x, expect: { status: 200 } }]",
            "target: udp://h\njourney: [{ send: x }]",
            "target: tcp://h:1\njourney: [{ send: x }]",
            "target: tcp://h:1\nanswer: 'match:0+4'\njourney: [{ send: x }]",
            "target: tcp://h:1\nanswer: 'length:3'\njourney: [{ send: '' }]",
            "target: dns://h/a.b\njourney: [{ send: a.b }]",
            "target: dns://h\nanswer: next\njourney: [{ send: '' }]",
            "target: dns://h\njourney: [{ send: a.b, expect: { status: NOSUCH } }]",
            "target: dns://h\njourney: [{ send: a.b, expect: { headers: { a: b } } }]",
        ]
    ));
}

#[test]
fn templates_and_data() {
    snapshot!(with(
        OPEN,
        &[
            "journey: [{ get: '/{{nmae}}' }]",
            "variables: { name: x }\njourney: [{ get: '/{{vars.nmae}}' }]",
            "journey: [{ get: '/{{user.id' }]",
            "journey: [{ get: '/{{}}' }]",
            "data: { people: { csv: people.csv } }\njourney: [{ get: '/{{data.people.nme}}' }, { get: '/{{data.peeple.name}}' }]",
            "data: { a: { csv: people.csv }, b: { csv: people.csv } }\njourney: [{ get: '/{{data.name}}' }]",
            "journey:\n  - post: /\n    json: { a: [1, { b: \"x {{nope}}\" }] }",
            "journey:\n  - post: /\n    text: |\n      first line\n      {{nope}}",
            "journey: [{ get: '/{{id}}', extract: { id: { json: /id } } }]",
            "journey: [{ get: '/a/{{id}}' }, { get: /b, extract: { id: { json: /id } } }]",
            "journey: [{ get: /a, extract: { user: { json: /id }, 'a b': { json: /id } } }]",
            "variables: { 'a b': x }\njourney: [{ get: / }]",
            "data: { a: { csv: nothere.csv } }\njourney: [{ get: / }]",
            "data: { a: { csv: empty.csv }, b: { csv: headonly.csv }, c: { csv: ragged.csv }, d: { jsonl: broken.jsonl } }\njourney: [{ get: / }]",
            "data: { a: {}, b: { csv: people.csv, jsonl: items.jsonl }, c: { csv: people.csv, at-end: wrap } }\njourney: [{ get: / }]",
            "timeout: 5\ntarget: http://${HOTS}\nheaders: { A: '${', B: '${}' }\njourney: [{ get: '/${HOST}' }]",
        ]
    ));
}

#[test]
fn finders_and_expectations() {
    snapshot!(with(
        OPEN,
        &[
            "journey: [{ get: /, extract: { a: { json: id }, b: { json: /a~2 } } }]",
            "journey: [{ get: /, extract: { a: { jsonpath: 'items[0]' }, b: { jsonpath: '$.items[' } } }]",
            "journey: [{ get: /, extract: { a: { regex: 'a(b' }, b: { regex: 'a', group: 1 } } }]",
            "journey: [{ get: /, extract: { a: {}, b: { json: /a, header: B }, c: { json: /a, group: 1 }, d: { header: '' } } }]",
            "journey: [{ get: /, extract: { a: /id } }]",
            "journey: [{ get: /, expect: { status: ok } }, { get: /a, expect: { status: [200, 20] } }, { get: /b, expect: { status: [] } }]",
            "journey: [{ get: /, expect: { body: { contains: '', matches: '[', json: { a: 1 }, min: 2KiB, max: 1KiB } } }]",
            "journey: [{ get: /, expect: { headers: { D: { matches: '(' } } } }, { get: /a, expect: { headers: { 'a b': c } } }]",
            "journey: [{ get: /, expect: { headers: { E: { equals: f } } } }]",
            "journey: [{ get: /, expect: 200 }]",
            "journey: [{ get: /, expect: { body: ok } }]",
            "journey: [{ get: /, extract: { id: { json: /id } }, expect: { body: { contains: '{{id}}', json: { /a: ['{{idd}}'] } }, headers: { X: '{{id' } } }]",
            "journey: [{ get: /, extract: { id: { json: /id } }, expect: { body: { contains: 'id {{id}}' } } }]",
            "journey: [{ get: /, expect: { body: { json: { /a: '{{uuid}}' } } } }, { get: /a, expect: { headers: { Date: '{{now}}' } } }]",
            "journey: [{ get: /, expect: { body: { matches: 'a{{user.id}}' } } }]",
        ]
    ));
}

#[test]
fn impossible_models() {
    let rest = format!("{OPEN}{STEP}");
    snapshot!(with(
        &rest,
        &[
            "model: { servers: 0, service: 1ms }",
            "model: { servers: 4 }",
            "model: { service: -1ms, queue: -1 }",
            "model: { service: 1ms, cold: { factor: 0, requests: 0 } }",
            "model: { service: 1ms, accept: 0/s, cold: { factor: 2, requests: 0 }, stalls: { at: 1s, for: 0s } }",
            "model: { service: 1ms, stalls: { every: 2s, for: 3s } }",
            "model: { service: 1ms, stalls: { every: 2s, at: 1s, for: 1s } }",
            "model: { service: 1ms, stalls: { every: 2s } }",
            "model: { service: 1ms, steps: { 'GET /x': { service: 1ms } } }",
            "model: { service: 1ms, pauses: { every: 0s, for: 1s } }",
        ]
    ));
}

#[test]
fn impossible_parts() {
    let rest = format!("{OPEN}{STEP}");
    let parts = |first: &str, parts: &str| format!("model:\n  {first}\n  parts:\n    {parts}");
    let mut cases = vec![
        "model: {}".to_owned(),
        "model: { service: 1ms, balancer: random, to: x }".to_owned(),
        "model: { balancer: random }".to_owned(),
        "model: { balancer: random, to: [] }".to_owned(),
        "model: { balancer: random, to: x, pool: { service: 1ms } }".to_owned(),
        "model: { balancer: random, pool: { servers: 0, service: 1ms } }".to_owned(),
        "model: { balancer: random, pool: { servers: 4 } }".to_owned(),
        "model: { balancer: random, pool: { copies: 4, service: 1ms, queue: fifoo } }".to_owned(),
        "model: { balancer: random, pool: { service: 1ms, queue: lifo, discipline: ps } }".to_owned(),
        "model: { balancer: random, to: { copies: 0, service: 1ms } }".to_owned(),
        "model: { balancer: random, to: { copies: 2000000, service: 1ms } }".to_owned(),
        "model: { copies: 3, service: 1ms }".to_owned(),
        "model: { to: { copies: 3, service: 1ms } }".to_owned(),
        "model: { to: [{ service: 1ms }, { service: 2ms }] }".to_owned(),
        "model: { to: { part: { service: 1ms }, weight: 2 } }".to_owned(),
        "model: { balancer: random, to: [{ part: { service: 1ms }, weight: 0 }, { weight: 1 }] }".to_owned(),
        "model: { balancer: random, to: [{ copies: 1000, balancer: random, pool: { servers: 1000, service: 1ms } }] }".to_owned(),
        "model: { balancer: random, to: { copies: 1000, servers: 2000, service: 1ms } }".to_owned(),
        "model: { service: 1ms, to: x, hold: 1s }".to_owned(),
        "model: { balancer: random, servers: 4, discipline: lifo, pool: { service: 1ms } }".to_owned(),
        "model: { timeout: 1s, queue: 3, hold: 1s, to: { service: 1ms } }".to_owned(),
    ];
    cases.extend([
        parts("to: dyno", "dynos: { service: 1ms }"),
        parts("to: a", "a: { to: b, timeout: 1s }\n    b: { balancer: random, to: [c, { service: 1ms }] }\n    c: { to: a }"),
        parts("to: a", "a: { to: a }"),
        parts("service: 1ms", "'c d': { service: 1ms }"),
        parts("service: 1ms", "a: { to: b }\n    b: { service: 1ms }\n    c: { to: d }\n    d: { to: c }"),
        parts("balancer: random\n  to: [a, { part: a, weight: 2 }]", "a: { service: 1ms }"),
        "model: { retries: 5, to: { retries: { attempts: 7 }, hedge: { after: 1s, most: 3 }, to: { service: 1ms } } }".to_owned(),
        "model: { service: 1ms }\nmodels: { a: { service: 1ms }, 'b c': { service: 1ms } }".to_owned(),
        "models: {}".to_owned(),
    ]);
    snapshot!(shown(&cases.iter().map(|case| format!("{case}\n{rest}")).collect::<Vec<_>>()));
}

#[test]
fn impossible_policies_and_disciplines() {
    let balancer = |keys: &str| format!("model: {{ {keys}, pool: {{ servers: 4, service: 1ms }} }}");
    let station = |keys: &str| format!("model: {{ service: 1ms, {keys} }}");
    let weights = |policy: &str, to: &str| {
        format!(
            "model:\n  balancer: {policy}\n  to: {to}\n  parts: {{ a: {{ service: 1ms }}, b: {{ service: 1ms }}, c: {{ service: 1ms }} }}"
        )
    };
    let cases = [
        balancer("balancer: least-conections"),
        balancer("balancer: { policy: fastest }"),
        balancer("balancer: { ties: first }"),
        balancer("balancer: [random]"),
        balancer("balancer: { policy: least-connections, ties: fist, choices: 2 }"),
        balancer("balancer: { policy: random, ties: first, choices: 2 }"),
        balancer("balancer: { policy: power-of-d, choices: 0 }"),
        balancer("balancer: { policy: peak-ewma, decay: 0s }"),
        balancer("balancer: { policy: consistent-hash, bound: 1 }"),
        balancer("balancer: random, queue: 5, hold: 1s, knows: all"),
        balancer("balancer: join-idle-queue, hold: -1s, knows: everything"),
        balancer("balancer: join-idle-queue, knows: { every: 0s }"),
        balancer("balancer: join-idle-queue, knows: { every: 2ms, cost: 2ms }"),
        weights("one-connection", "[a, { part: b, weight: 3 }, c]"),
        weights("one-connection", "[{ part: a, weight: 1 }, { part: b, weight: 0.5 }, c]"),
        weights("{ policy: power-of-d, choices: 1 }", "[{ part: a, weight: 3 }, { part: b, weight: 3 }, c]"),
        station("discipline: lilo"),
        station("classes: { GET /: 0 }"),
        station("discipline: sharing, preemptive: true"),
        station("discipline: priority"),
        station("discipline: priority, classes: { 'GET /x': 0, 'GET /': 10 }"),
        station("speed: []"),
        station("speed: [1, 0]"),
        station("speed: 2"),
    ];
    let rest = format!("{OPEN}{STEP}");
    snapshot!(shown(&cases.iter().map(|case| format!("{case}\n{rest}")).collect::<Vec<_>>()));
}

#[test]
fn impossible_failures() {
    let station = |keys: &str| format!("model: {{ service: 1ms, {keys} }}");
    let cases = [
        station("cable: { out: 1ms }"),
        station("cable: -1ms"),
        station("faults: {}"),
        station("faults: { up: 1s }"),
        station("faults: { at: 1s, down: 1s, for: 1s }"),
        station("faults: { up: 1s, down: 1s, at: 3s, for: 1s }"),
        station("faults: { at: 1s, for: 1s, lazy: true }"),
        station("faults: { at: 1s, for: 0s }"),
        station("faults: { up: 0s, down: 0s }"),
        station("faults: { up: 1s, down: 1s, lazy: true, under-way: lost }"),
        station("faults: { up: 1s, down: 1s, answer: slow, under-way: killed }"),
        station("faults: { up: 1s, down: 1s, answer: { slow: 0.5 } }"),
        "model: { faults: { up: 1s, down: 1s, answer: { slow: 5 } }, to: { service: 1ms } }".to_owned(),
        station("retries: 1"),
        station("retries: 101"),
        station("retries: { backoff: { base: 1s } }"),
        station("retries: { attempts: 3, backoff: { base: 0s }, budget: { share: -1, reserve: 0 } }"),
        station("retries: { attempts: 3, backoff: { base: 1s, factor: 0.5, jitter: some } }"),
        station("retries: { attempts: 3, backoff: { base: 1s, factor: 0.5 } }"),
        station("retries: { attempts: 3, backoff: { base: 1s, most: 500ms } }"),
        station("timeout: 0s"),
        station("timeout: 5"),
        station("timeout: { cancel: true }"),
        station("hedge: { after: 0s, most: 0 }"),
        station("breaker: { open: 5s }"),
        station("breaker: 5"),
        station("breaker: { failures: 0, open: 0s, probes: 0 }"),
        station("breaker: { failures: 3, share: 0.5, open: 5s }"),
        station("breaker: { failures: 3, of: 20, open: 5s }"),
        station("breaker: { share: 0.5, open: 5s }"),
        station("breaker: { share: 1.5, of: 20, open: 5s }"),
    ];
    let rest = format!("{OPEN}{STEP}");
    snapshot!(shown(&cases.iter().map(|case| format!("{case}\n{rest}")).collect::<Vec<_>>()));
}

#[test]
fn ten_mistakes_are_shown_and_the_others_counted() {
    let steps: String = (0..14).map(|n| format!("  - get: /{n}\n    think: {n}\n")).collect();
    let text = mistakes(&format!("{OPEN}journey:\n{steps}"));
    assert_eq!(text.matches(" --> ").count(), 10);
    assert!(text.ends_with("\n\nand 3 more"), "{text}");
}

/// What would be read as something else than was meant is said with what was meant.
#[test]
fn values_that_mean_something_else() {
    let model = |part: &str| format!("{OPEN}{STEP}model: {part}\n");
    for (case, words) in [
        (
            model("{ servers: 2, service: shifted(1ms, hyperexp(0.5, 1ms, exp(3ms))), queue: 3 }"),
            "put it in quotes: \"shifted(1ms, hyperexp(0.5, 1ms, exp(3ms)))\"",
        ),
        (
            model(
                "{ balancer: { policy: power-of-d, choices: 9 }, pool: { servers: 5, service: exp(1ms) } }",
            ),
            "9 choices, and only 5 to choose among",
        ),
        (model("{ service: 'normal(1ms,5ms)' }"), "normal(1ms,5ms) has a mean of 2.53ms"),
        (
            model("{ service: exp(1ms), timeout: { after: 1s, cancel: sometimes } }"),
            "write one of queued | true | always | false",
        ),
    ] {
        let said = mistakes(&case);
        assert!(said.contains(words), "{case}: {said}");
    }
}

#[test]
fn proxies_that_cannot_be() {
    let file = |head: &str, users: &str| format!("{head}\nusers: {users}\njourney: [{{ get: / }}]\n");
    let arriving = "{ arrive: { rate: 20/s } }";
    let bytes = "udp://127.0.0.1:9\nproxy: http://p:3128\nusers: { arrive: { rate: 20/s } }\njourney: [{ send: x }]\n";
    snapshot!(shown(&[
        file("proxy: proxy:3128", arriving),
        file("proxy: socks5://proxy:1080", arriving),
        file("proxy: http://me:${DB_PASSWORD}@proxy", arriving),
        file("proxy: http://me:hunter2@proxy:3128/path", arriving),
        file("target: unix:/run/a.sock\nproxy: http://proxy:3128", arriving),
        file("target: http://a\nproxy: http://proxy:3128\nresolve: [ 'a:80:127.0.0.1' ]", arriving),
        file("target: http://a\nproxy: http://proxy:3128\nconnect-to: [ 'a:80::81' ]", arriving),
        file(
            "target: http://a\nproxy: http://proxy:3128",
            "{ connecting: { sockets: 5 }, phases: [ { hold: 5s } ] }"
        ),
        format!("target: {bytes}"),
    ]));
}
