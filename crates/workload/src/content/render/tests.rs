use super::*;
use crate::client::RequestKey;
use crate::content::Template;
use crate::content::encode::Kind;
use crate::content::{Body, Data, Names, Part, Take};
use crate::target::Target;
use proptest::prelude::*;
use std::collections::HashSet;

const NOON: i128 = 1_709_209_845_067_999_999; // 2024-02-29T12:30:45.067999999Z

/// Names `id` and `link` that are extracted, a constant, and a set of data with text, a number and a null.
fn names() -> (Names, Data) {
    let mut names = Names::new();
    names.extracted("id").unwrap();
    names.extracted("link").unwrap();
    names.constant("tenant", "a/b \"c\"").unwrap();
    let rows = br#"{"text": "a/b \"c\"", "number": 1.50, "nothing": null}"#;
    let data = Data::json_lines("set", rows, Take::Sequential, AtEnd::Fail).unwrap();
    names.data(&data).unwrap();
    (names, data)
}

fn template(text: &str) -> Template {
    Template::parse(text, &names().0).unwrap()
}

fn script(step: Step) -> Script {
    let (names, data) = names();
    Script::new(vec![step], vec![data], names, &[11]).with_seed(7)
}

fn get(path: &str) -> Step {
    Step::new("list", "GET", &template(path)).unwrap()
}

fn with_body(body: Body) -> Step {
    let mut step = Step::new("add", "POST", &template("/")).unwrap();
    step.body(body);
    step
}

fn sending() -> RequestKey {
    RequestKey { k: 12, user: 3, iteration: 4, ordinal: 5, ..RequestKey::default() }
}

fn memory() -> Memory {
    let mut memory = Memory::default();
    memory.set(0, 2, "42", Kind::Json);
    memory.set(1, 2, "/next?page=2&x=é#top", Kind::Text);
    memory
}

fn render(step: Step) -> Result<Request, Refusal> {
    script(step).render(&RenderContext { sending: &sending(), now_unix_ns: NOON }, &memory())
}

fn path(text: &str) -> String {
    render(get(text)).unwrap().path
}

fn body(body: Body) -> String {
    String::from_utf8(render(with_body(body)).unwrap().body).unwrap()
}

#[test]
fn every_name_has_its_value() {
    assert_eq!(path("/{{user.id}}/{{user.iteration}}/{{session}}/{{seq}}"), "/3/4/12/137");
    assert_eq!(path("/{{now.unix_s}}/{{now.unix_ms}}"), "/1709209845/1709209845067");
    let text =
        body(Body::text(&template("{{now}} {{id}} {{data.text}} {{data.set.number}} {{vars.tenant}}")));
    assert_eq!(text, "2024-02-29T12:30:45.067Z 42 a/b \"c\" 1.50 a/b \"c\"");
}

#[test]
fn values_in_paths_and_queries_are_escaped() {
    assert_eq!(path("/{{data.text}}?q={{data.text}}"), "/a%2Fb%20%22c%22?q=a%2Fb%20%22c%22");
    assert_eq!(path("/{{vars.tenant}}"), "/a/b%20%22c%22", "a constant is as if it stood there");
    assert_eq!(path("{{link}}"), "/next?page=2&x=%C3%A9");
    let mut step = get("/x");
    step.query(&template("a b"), &template("{{data.text}}&")).unwrap();
    step.query(&template("{{id}}"), &template("")).unwrap();
    assert_eq!(render(step).unwrap().path, "/x?a%20b=a%2Fb%20%22c%22%26&42=");
    let mut step = get("/x?y");
    step.query(&template("a"), &template("b")).unwrap();
    assert_eq!(render(step).unwrap().path, "/x?y&a=b");
}

#[test]
fn a_link_stands_below_no_base_path() {
    let target = Target::parse("http://127.0.0.1/base").unwrap();
    let of = |text: &str| {
        let script = script(get(text)).with_target(&target);
        script.render(&RenderContext { sending: &sending(), now_unix_ns: NOON }, &memory()).unwrap().path
    };
    assert_eq!((of("/x"), of("{{link}}")), ("/base/x".into(), "/next?page=2&x=%C3%A9".into()));
}

#[test]
fn json_escapes_strings_and_keeps_types() {
    let value = serde_json::json!({
        "n": 1, "t": [true, null, 1.5, "x\"y"],
        "id": "{{id}}", "as text": "no. {{id}}", "{{user.id}}": "{{user.id}}",
        "text": "{{data.text}}", "number": "{{ data.number }}", "nothing": "{{data.nothing}}",
        "constant": "{{vars.tenant}}", "braces": "\\{{id}}", "seq": "{{seq}}", "now": "{{now}}", "empty": {}
    });
    let (names, _) = names();
    let sent: serde_json::Value =
        serde_json::from_str(&body(Body::json(&value.into(), &names).unwrap())).unwrap();
    assert_eq!(
        sent,
        serde_json::json!({
            "n": 1, "t": [true, null, 1.5, "x\"y"],
            "id": 42, "as text": "no. 42", "3": 3,
            "text": "a/b \"c\"", "number": 1.50, "nothing": null,
            "constant": "a/b \"c\"", "braces": "{{id}}", "seq": 137, "now": "2024-02-29T12:30:45.067Z", "empty": {}
        })
    );
}

#[test]
fn forms_are_encoded() {
    let fields = [(template("a b"), template("{{data.text}} ü")), (template("{{id}}"), template("&="))];
    assert_eq!(body(Body::form(&fields)), "a+b=a%2Fb+%22c%22+%C3%BC&42=%26%3D");
}

#[test]
fn several_parts_are_one_body() {
    let parts = [
        Part::text(&template("id"), &template("{{id}}")),
        Part::file(&template("f"), &template("x.png"), b"\xff\n").typed(&template("image/png")),
    ];
    let request = render(with_body(Body::multipart(&parts))).unwrap();
    let boundary = request.headers[0].1.strip_prefix("multipart/form-data; boundary=").unwrap();
    let mut expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n42\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"f\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n"
    )
    .into_bytes();
    expected.extend_from_slice(b"\xff\n\r\n");
    expected.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    assert_eq!(request.body, expected);

    let mut memory = memory();
    memory.set(0, 2, &format!("x\r\n--{boundary}--"), Kind::Text);
    let script = script(with_body(Body::multipart(&parts)));
    let refused =
        script.render(&RenderContext { sending: &sending(), now_unix_ns: NOON }, &memory).unwrap_err();
    assert_eq!(refused.reason.whole, "add: a value of the body holds the boundary between its parts");
}

#[test]
fn members_of_json_keep_their_order() {
    let text = |text: &str| crate::content::Json::Text(text.to_owned());
    let inner =
        crate::content::Json::Map(vec![("z".to_owned(), text("{{id}}")), ("b".to_owned(), text("x"))]);
    let json = crate::content::Json::Map(vec![("type".to_owned(), text("cat")), ("age".to_owned(), inner)]);
    let sent = body(Body::json(&json, &names().0).unwrap());
    assert_eq!(sent, r#"{"type":"cat","age":{"z":42,"b":"x"}}"#);
}

#[test]
fn names_and_types_of_parts_are_templates() {
    let part = Part::file(&template("f{{user.id}}"), &template("p{{id}}{{data.text}}.png"), b"x");
    let request = render(with_body(Body::multipart(&[part.typed(&template("image/{{id}}"))]))).unwrap();
    let sent = String::from_utf8(request.body).unwrap();
    let head = "Content-Disposition: form-data; name=\"f3\"; filename=\"p42a/b %22c%22.png\"\r\nContent-Type: image/42\r\n\r\nx\r\n";
    assert!(sent.contains(head), "{sent}");
    // No value ends the head.
    let part = Part::text(&template("n"), &template("x")).typed(&template("{{id}}"));
    let script = script(with_body(Body::multipart(&[part])));
    let refused = render_with(&script, "a\r\nX: y", Kind::Text).unwrap_err();
    assert!(refused.reason.whole.contains("a line break"), "{:?}", refused.reason.whole);
}

#[test]
fn bodies_say_what_they_are_unless_the_step_does() {
    let (names, _) = names();
    let kind = |body: Body| render(with_body(body)).unwrap().headers;
    let is = |text: &str| vec![("Content-Type".to_owned(), text.to_owned())];
    assert_eq!(kind(Body::text(&template("x"))), is("text/plain; charset=utf-8"));
    assert_eq!(kind(Body::json(&serde_json::json!(1).into(), &names).unwrap()), is("application/json"));
    assert_eq!(kind(Body::form(&[])), is("application/x-www-form-urlencoded"));
    assert_eq!(kind(Body::bytes(b"x")), is("application/octet-stream"));
    assert_eq!(kind(Body::default()), []);
    let mut step = with_body(Body::text(&template("x")));
    step.header("content-type", &template("text/x")).unwrap();
    assert_eq!(render(step).unwrap().headers, [("content-type".to_owned(), "text/x".to_owned())]);
}

#[test]
fn what_is_missing_is_refused_and_nothing_is_sent() {
    let refuse = |script: &Script, memory: &Memory| {
        script.render(&RenderContext { sending: &sending(), now_unix_ns: NOON }, memory).unwrap_err()
    };
    let missing = refuse(&script(get("/{{id}}")), &Memory::default());
    assert_eq!((missing.outcome, missing.then), (Outcome::Unsent, SessionControl::Continue));
    let whole = "list: the path needs {{id}}, which no step extracts".to_owned();
    let kind = Some(KnownFailure::MissingVariable);
    assert_eq!(missing.reason, Reason { same: whole.clone(), whole, kind });
    let mut memory = memory();
    memory.set(0, 2, "a\r\nX-Evil: 1", Kind::Text);
    let mut step = get("/");
    step.header("X-Id", &template("is {{id}}")).unwrap();
    assert_eq!(
        refuse(&script(step), &memory).reason.whole,
        "list: a value of header X-Id holds a line break or another control character: \"a\\r\\nX-Evil: 1\""
    );
    let mut step = get("/");
    step.header("Authorization", &template("Bearer {{id}}")).unwrap();
    assert!(refuse(&script(step), &memory).reason.whole.ends_with("control character: <redacted>"));
    memory.set(1, 2, "elsewhere/", Kind::Text);
    let elsewhere = refuse(&script(get("{{link}}")), &memory);
    let same = "list: expected a link that begins with one slash, or a whole URL of http or https".to_owned();
    let whole = format!("{same}, got \"elsewhere/\"");
    assert_eq!(elsewhere.reason, Reason { same, whole, kind: None });
}

#[test]
fn unique_rows_run_out_as_the_scenario_says() {
    let refused = |at_end| {
        let mut names = Names::new();
        let data = Data::csv("people", b"id\n1\n2\n", Take::Unique, at_end).unwrap();
        names.data(&data).unwrap();
        let path = Template::parse("/{{data.id}}", &names).unwrap();
        let script = Script::new(vec![Step::new("list", "GET", &path).unwrap()], vec![data], names, &[1]);
        let of = |k| {
            let sending = RequestKey { k, ..RequestKey::default() };
            script.render(&RenderContext { sending: &sending, now_unix_ns: NOON }, &Memory::default())
        };
        assert_eq!(of(1).unwrap().path, "/2");
        of(2).map(|request| request.path).map_err(|refusal| {
            let reason = "list: data people has 2 rows, and session 2 would take one of its own";
            assert_eq!(refusal.reason.whole, reason);
            assert_eq!(refusal.reason.same, "list: data people has 2 rows");
            (refusal.outcome, refusal.then)
        })
    };
    assert_eq!(refused(AtEnd::Wrap), Ok("/1".to_owned()));
    assert_eq!(refused(AtEnd::Fail), Err((Outcome::Unsent, SessionControl::Continue)));
    assert_eq!(refused(AtEnd::Stop), Err((Outcome::Unsent, SessionControl::StopGroup)));
    assert_eq!(refused(AtEnd::Skip), Err((Outcome::Unsent, SessionControl::EndSession)));
}

#[test]
fn all_steps_of_a_session_see_the_same_row_drawn_evenly() {
    let mut names = Names::new();
    let rows: String = (0..8).map(|i| format!("{i}\n")).collect();
    let data = Data::csv("d", format!("id\n{rows}").as_bytes(), Take::Random, AtEnd::Fail).unwrap();
    names.data(&data).unwrap();
    let path = Template::parse("/{{data.id}}", &names).unwrap();
    let script =
        Script::new(vec![Step::new("s", "GET", &path).unwrap()], vec![data], names, &[9]).with_seed(3);
    let row = |k, group, ordinal| {
        let sending = RequestKey { k, group, ordinal, ..RequestKey::default() };
        let request =
            script.render(&RenderContext { sending: &sending, now_unix_ns: NOON }, &Memory::default());
        request.unwrap().path[1..].parse::<usize>().unwrap()
    };
    let n = 8_000;
    let mut counts = [0u32; 8];
    for k in 0..n {
        counts[row(k, 0, 0)] += 1;
        assert_eq!(row(k, 0, 0), row(k, 0, 7));
    }
    // Each within 4 standard errors of n/8: sqrt(n p (1-p)).
    let se = (n as f64 * 0.125 * 0.875).sqrt();
    assert!(counts.iter().all(|&c| (f64::from(c) - n as f64 / 8.0).abs() < 4.0 * se), "{counts:?}");
    let other = (0..n).filter(|&k| row(k, 0, 0) == row(k, 1, 0)).count();
    assert!((other as f64 - n as f64 / 8.0).abs() < 4.0 * se, "groups draw apart: {other}");
}

#[test]
fn uuids_are_random_and_each_place_has_its_own() {
    let script = script(get("/{{uuid}}/{{uuid}}"));
    let mut seen = HashSet::new();
    for (k, group, ordinal) in (0..50).flat_map(|k| [(k, 0, 0), (k, 0, 1), (k, 1, 0)]) {
        let sending = RequestKey { k, group, ordinal, ..RequestKey::default() };
        let visit = RenderContext { sending: &sending, now_unix_ns: NOON };
        let path = script.render(&visit, &Memory::default()).unwrap().path;
        assert_eq!(path, script.render(&visit, &Memory::default()).unwrap().path, "a function of the seed");
        for uuid in path[1..].split('/') {
            let form: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(form, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
            assert!(uuid.bytes().all(|b| b == b'-' || b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
            assert!(seen.insert(uuid.to_owned()), "{uuid} twice");
        }
    }
}

#[test]
fn seq_is_unique_over_sessions_and_groups() {
    let (names, data) = names();
    let path = Template::parse("/{{seq}}", &names).unwrap();
    let longest = [3, 2];
    let script = Script::new(vec![Step::new("s", "GET", &path).unwrap()], vec![data], names, &longest);
    let mut seen = HashSet::new();
    for (group, most) in longest.into_iter().enumerate() {
        for (k, ordinal) in (0..100).flat_map(|k| (0..most as u32).map(move |ordinal| (k, ordinal))) {
            let sending = RequestKey { k, ordinal, group: group as u16, ..RequestKey::default() };
            let request =
                script.render(&RenderContext { sending: &sending, now_unix_ns: 0 }, &Memory::default());
            assert!(seen.insert(request.unwrap().path));
        }
    }
}

#[test]
fn a_draft_forgets_what_it_held() {
    let mut step = with_body(Body::text(&template("{{id}}")));
    step.header("X-A", &template("{{id}}")).unwrap();
    let (long, short) = (script(step), script(get("/")));
    let (sending, memory) = (sending(), memory());
    let visit = RenderContext { sending: &sending, now_unix_ns: NOON };
    let mut draft = Draft::new();
    long.render_into(&visit, &memory, &mut draft).unwrap();
    assert_eq!(
        draft.headers().collect::<Vec<_>>(),
        [("X-A", "42"), ("Content-Type", "text/plain; charset=utf-8")]
    );
    assert_eq!((draft.method(), draft.path(), draft.body()), ("POST", "/", &b"42"[..]));
    short.render_into(&visit, &memory, &mut draft).unwrap();
    assert_eq!((draft.method(), draft.path(), draft.body()), ("GET", "/", &b""[..]));
    assert_eq!(draft.headers().count(), 0);
}

/// A script whose path, query, header, form, JSON and text hold a value, and a memory in which it is `text`.
fn everywhere(body: Body) -> Script {
    let mut step = Step::new("add", "POST", &template("/a/{{id}}/b?x={{id}}")).unwrap();
    step.query(&template("q{{id}}"), &template("{{id}}")).unwrap();
    step.header("X-Id", &template("id {{id}}")).unwrap();
    step.body(body);
    script(step)
}

fn render_with(script: &Script, value: &str, kind: Kind) -> Result<Request, Refusal> {
    let mut memory = Memory::default();
    memory.set(0, 2, value, kind);
    script.render(&RenderContext { sending: &sending(), now_unix_ns: NOON }, &memory)
}

proptest! {
    #[test]
    fn no_value_ends_a_line_a_field_or_a_string(value in any::<String>()) {
        let fields = [(template("a"), template("{{id}}")), (template("b{{id}}"), template("c"))];
        match render_with(&everywhere(Body::form(&fields)), &value, Kind::Text) {
            Ok(request) => {
                prop_assert!(request.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'));
                prop_assert_eq!(request.path.matches('?').count(), 1);
                for (_, text) in &request.headers {
                    prop_assert!(!text.chars().any(|c| c.is_ascii_control() && c != '\t'));
                }
                let query = request.path.split_once('?').unwrap().1.replace('+', "%2B");
                let read: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
                prop_assert_eq!(read, [("x".to_owned(), value.clone()), (format!("q{value}"), value.clone())]);
                let read: Vec<_> = url::form_urlencoded::parse(&request.body).into_owned().collect();
                prop_assert_eq!(read, [("a".to_owned(), value.clone()), (format!("b{value}"), "c".to_owned())]);
            }
            Err(refusal) => {
                prop_assert!(value.chars().any(|c| c.is_ascii_control() && c != '\t'));
                prop_assert_eq!(refusal.outcome, Outcome::Unsent);
                prop_assert!(!refusal.reason.whole.contains(['\r', '\n']));
            }
        }
    }

    #[test]
    fn links_stay_in_their_line(value in "/.*|.*|(/|\\PC|[\\x00-\\x20])*") {
        if let Ok(request) = {
            let mut memory = Memory::default();
            memory.set(1, 2, &value, Kind::Text);
            script(get("{{link}}")).render(&RenderContext { sending: &sending(), now_unix_ns: NOON }, &memory)
        } {
            prop_assert!(request.path.starts_with('/'));
            prop_assert!(request.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'));
        } else {
            prop_assert!(!value.starts_with('/') || value.starts_with("//"));
        }
    }

    #[test]
    fn json_says_what_the_value_says(value in any::<String>()) {
        let json = serde_json::json!({"is": "{{id}}", "in": "a{{id}}b"});
        let mut step = with_body(Body::json(&json.into(), &names().0).unwrap());
        step.header("X-A", &template("b")).unwrap();
        let request = render_with(&script(step), &value, Kind::Text).unwrap();
        let sent: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        prop_assert_eq!(sent, serde_json::json!({"is": value, "in": format!("a{value}b")}));
    }
}
