use super::*;
use crate::client::RequestKey;
use crate::content::{AtEnd, Data, ErrorReplies, Expect, Finder, Names, Pointer, StatusSet, Take, Template};
use serde_json::json;
use std::cell::Cell;

type Headers<'h> = &'h [(&'h str, &'h str)];

const BODY: &str =
    r#"{"state": "open", "n": 1.0, "items": [{"id": 7, "name": "a\nb"}, {"id": 8}], "none": null}"#;

fn step() -> Step {
    Step::new("list", "GET", &Template::fixed("/dir/page")).unwrap()
}

fn read(script: &Script, memory: &mut Memory, status: u16, headers: Headers<'_>, body: &str) -> Reading {
    let sending = RequestKey::default();
    let mut reader = script.reader(0);
    reader.head(script, status, headers.iter().map(|(name, value)| (*name, value.as_bytes())));
    for piece in body.as_bytes().chunks(7) {
        reader.chunk(piece);
    }
    let visit = RenderContext { sending: &sending, now_unix_ns: 1_000_000_000_000 };
    script.finish(&visit, reader, memory, Nanos::from_millis(5))
}

fn knowing(secret: &str) -> Redactor {
    let mut redactor = Redactor::default();
    redactor.know(secret);
    redactor
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

fn equals(at: &str, value: Value) -> BodyCheck {
    BodyCheck::json(pointer(at), &value, &Names::new()).unwrap()
}

/// What is extracted from an answer under one name, or the reason why not.
fn extracted(finder: Finder, headers: Headers<'_>, body: &str) -> Result<(String, Kind), String> {
    let mut names = Names::new();
    let mut step = step();
    step.extract(Extract::new(names.extracted("x").unwrap(), finder));
    let script = Script::new(vec![step], Vec::new(), names, &[2]);
    let mut memory = Memory::default();
    memory.set(0, 1, "old", Kind::Text);
    let reading = read(&script, &mut memory, 200, headers, body);
    match reading.reason.map(|reason| reason.whole) {
        None => {
            assert_eq!(reading.outcome, Outcome::Ok);
            let (text, kind) = memory.value(0).unwrap();
            Ok((text.to_owned(), kind))
        }
        Some(reason) => {
            assert_eq!((reading.outcome, memory.value(0)), (Outcome::Check, None), "what was there is unset");
            Err(reason)
        }
    }
}

/// The reason why an answer of 200 is not what was expected; none if it is.
fn judged(expect: Expect, headers: Headers<'_>, body: &str) -> Option<String> {
    let mut step = step();
    step.expect(expect).unwrap();
    let script = Script::new(vec![step], Vec::new(), Names::new(), &[1]);
    let reading = read(&script, &mut Memory::default(), 200, headers, body);
    assert_eq!(reading.outcome, if reading.reason.is_some() { Outcome::Check } else { Outcome::Ok });
    reading.reason.map(|reason| reason.whole)
}

fn body(check: BodyCheck, body: &str) -> Option<String> {
    judged(Expect { body: vec![check], ..Expect::default() }, &[], body)
}

#[test]
fn values_are_found_in_json() {
    let at = |text: &str| extracted(Finder::json(pointer(text)), &[], BODY);
    assert_eq!(at("/items/0/id"), Ok(("7".into(), Kind::Json)));
    assert_eq!(at("/items/0/name"), Ok(("a\nb".into(), Kind::Text)));
    assert_eq!(at("/items/1"), Ok((r#"{"id": 8}"#.into(), Kind::Json)));
    assert_eq!(at("/none"), Ok(("null".into(), Kind::Json)));
    let reason = at("/items/9").unwrap_err();
    assert!(
        reason.starts_with("list: {{x}}: expected a value at /items/9 of the body, got \"{\\\"state"),
        "{reason}"
    );
    assert!(reason.ends_with("... (90 bytes)"), "{reason}");
    assert_eq!(
        extracted(Finder::json(pointer("/a")), &[], "<html>").unwrap_err(),
        "list: {{x}}: expected a body of JSON, got \"<html>\" (expected value at line 1 column 1)"
    );
    let empty = extracted(Finder::json(pointer("/a")), &[], "").unwrap_err();
    assert!(empty.contains("got an empty body"), "{empty}");
}

#[test]
fn values_are_found_by_json_path() {
    let at = |text: &str| extracted(Finder::json_path(text).unwrap(), &[], BODY);
    assert_eq!(at("$.items[?@.id > 7].id"), Ok(("8".into(), Kind::Json)));
    assert_eq!(at("$..name"), Ok(("a\nb".into(), Kind::Text)));
    assert_eq!(at("$.items[-1:].id"), Ok(("8".into(), Kind::Json)));
    assert_eq!(at("$.items[*].id"), Ok(("7".into(), Kind::Json)), "the first of several");
    let reason = at("$.x").unwrap_err();
    assert!(reason.starts_with("list: {{x}}: expected a value at $.x of the body, got "), "{reason}");
    assert!(extracted(Finder::json_path("$.x").unwrap(), &[], "<").unwrap_err().contains("a body of JSON"));
}

#[test]
fn values_are_found_in_headers_cookies_and_text() {
    let headers =
        [("etag", "\"a\""), ("ETag", "\"b\""), ("Set-Cookie", "a=1; Path=/"), ("set-cookie", "sid=x=y")];
    let header = |name: &str| extracted(Finder::header(name), &headers, "");
    assert_eq!(header("ETAG"), Ok(("\"a\"".into(), Kind::Text)));
    assert_eq!(header("X-A").unwrap_err(), "list: {{x}}: expected a header X-A, got none");
    assert_eq!(header("Set-Cookie"), Ok(("a=1; Path=/".into(), Kind::Text)));
    let cookie = |name: &str| extracted(Finder::cookie(name), &headers, "");
    assert_eq!(cookie("sid"), Ok(("x=y".into(), Kind::Text)));
    assert_eq!(cookie("SID").unwrap_err(), "list: {{x}}: expected the answer to set cookie SID, it does not");
    let regex =
        |pattern: &str, group| extracted(Finder::regex(pattern, group).unwrap(), &[], "token=abc; n=5");
    assert_eq!(regex(r"token=(\w+)", None), Ok(("abc".into(), Kind::Text)));
    assert_eq!(regex(r"(\w+)=(\d+)", Some(2)), Ok(("5".into(), Kind::Text)));
    assert_eq!(regex(r"n=\d", Some(0)), Ok(("n=5".into(), Kind::Text)));
    assert_eq!(
        regex(r"x=(\d)", None).unwrap_err(),
        r#"list: {{x}}: expected a body that matches x=(\d), got "token=<redacted>; n=5""#
    );
    assert!(regex(r"token=abc(x)?", Some(1)).is_err(), "a group that took no part");
}

#[test]
fn a_default_stands_in_for_what_is_not_found() {
    let mut names = Names::new();
    let mut step = step();
    let x = names.extracted("x").unwrap();
    step.extract(Extract::new(x, Finder::json(pointer("/x"))).or("none"));
    let script = Script::new(vec![step], Vec::new(), names, &[2]);
    let none = Some(("none", Kind::Text));
    for (status, body, outcome) in
        [(200, "{}", Outcome::Ok), (200, "<", Outcome::Ok), (500, "{\"x\": 1}", Outcome::Status)]
    {
        let mut memory = Memory::default();
        assert_eq!(read(&script, &mut memory, status, &[], body).outcome, outcome, "{body}");
        assert_eq!(memory.value(x), none, "{body}");
    }
    let mut memory = Memory::default();
    assert_eq!(read(&script, &mut memory, 200, &[], "{\"x\": 1}").outcome, Outcome::Ok);
    assert_eq!(memory.value(x), Some(("1", Kind::Json)));
    script.missed(0, &mut memory);
    assert_eq!(memory.value(x), none);
}

#[test]
fn a_value_larger_than_a_session_keeps_is_not_kept() {
    let long = format!("{{\"x\": \"{}\"}}", "y".repeat(MOST_VALUE + 1));
    let reason = extracted(Finder::json(pointer("/x")), &[], &long).unwrap_err();
    assert_eq!(reason, "list: {{x}}: expected a value of at most 65536 bytes, got 65537");
}

#[test]
fn the_status_comes_first() {
    let mut names = Names::new();
    let x = names.extracted("x").unwrap();
    let of = |status: Option<StatusSet>| {
        let mut step = step();
        step.extract(Extract::new(x, Finder::header("X")));
        step.expect(Expect { status, body: vec![BodyCheck::contains("ok")], ..Expect::default() }).unwrap();
        Script::new(vec![step], Vec::new(), names.clone(), &[2])
    };
    let judge = |script: &Script, status| {
        let mut memory = Memory::default();
        memory.set(x, 1, "old", Kind::Text);
        let reading = read(script, &mut memory, status, &[("X", "new")], "no");
        (reading.outcome, reading.reason.unwrap().whole, memory.value(x).map(|(text, _)| text.to_owned()))
    };
    let default = of(None);
    let body = "list: expected a body that contains \"ok\", got \"no\"".to_owned();
    assert_eq!(judge(&default, 399), (Outcome::Check, body.clone(), Some("new".into())));
    let below = "list: expected status below 400, got 400".to_owned();
    assert_eq!(judge(&default, 400), (Outcome::Status, below, None));
    let asked = StatusSet::parse("404").unwrap().or(StatusSet::parse("2xx").unwrap());
    let asked = of(Some(asked));
    assert_eq!(judge(&asked, 404), (Outcome::Check, body, Some("new".into())));
    assert_eq!(
        judge(&asked, 302),
        (Outcome::Status, "list: expected status 404 or 2xx, got 302".into(), None)
    );
}

#[test]
fn status_sets() {
    let set = |text: &str| StatusSet::parse(text).unwrap();
    assert!(set("201").contains(201) && !set("201").contains(200));
    assert!(set("2xx").contains(200) && set("2XX").contains(299) && !set("2xx").contains(300));
    assert!(set(" 200-299 ").contains(299) && !set("200 - 204").contains(205));
    for bad in ["", "20", "2000", "abc", "0xx", "xx", "299-200", "200-", "099", "2x", "+20", "20xx"] {
        assert!(
            StatusSet::parse(bad).unwrap_err().contains("write for example 201, 2xx or 200-299"),
            "{bad}"
        );
    }
}

#[test]
fn bodies_are_checked() {
    assert_eq!(body(BodyCheck::contains("k\": 1"), r#"{"k": 1}"#), None);
    assert_eq!(body(BodyCheck::not_contains("error"), "fine"), None);
    assert_eq!(
        body(BodyCheck::not_contains("err"), "an error").unwrap(),
        "list: expected a body that does not contain \"err\", got \"an error\""
    );
    assert_eq!(body(BodyCheck::matches(r"^\{").unwrap(), "{}"), None);
    assert_eq!(
        body(BodyCheck::matches(r"^\{").unwrap(), "").unwrap(),
        r"list: expected a body that matches ^\{, got an empty body"
    );
    assert_eq!(body(BodyCheck::at_least(3), "abc"), None);
    assert_eq!(
        body(BodyCheck::at_least(3), "ab").unwrap(),
        "list: expected a body of at least 3 bytes, got 2"
    );
    assert_eq!(body(BodyCheck::at_most(3), "abc"), None);
    assert_eq!(
        body(BodyCheck::at_most(3), "abcd").unwrap(),
        "list: expected a body of at most 3 bytes, got 4"
    );
}

#[test]
fn json_in_bodies_is_compared_by_value() {
    let json = |at: &str, value: Value| body(equals(at, value), BODY);
    assert_eq!(json("/state", json!("open")), None);
    assert_eq!(json("/items/0/name", json!("a\nb")), None);
    assert_eq!(json("/n", json!(1)), None);
    assert_eq!(json("/items/1", json!({"id": 8.0})), None);
    assert_eq!(json("/items", json!([{"name": "a\nb", "id": 7}, {"id": 8}])), None);
    assert_eq!(json("/none", json!(null)), None);
    let reason = |at, value| json(at, value).unwrap();
    assert_eq!(reason("/state", json!("shut")), r#"list: expected "shut" at /state of the body, got "open""#);
    assert_eq!(reason("/items/0/id", json!("7")), r#"list: expected "7" at /items/0/id of the body, got 7"#);
    assert_eq!(reason("/x", json!(1)), "list: expected 1 at /x of the body, got nothing");
    assert_eq!(reason("/none", json!(false)), "list: expected false at /none of the body, got null");
    let big = |value: &str| body(equals("", json!(9_007_199_254_740_993_u64)), value);
    assert!(
        big("9007199254740993").is_none() && big("9007199254740992").is_some(),
        "whole numbers are exact"
    );
}

#[test]
fn headers_are_checked() {
    let headers = [("X-Cache", "MISS from a"), ("x-cache", "HIT"), ("Set-Cookie", "sid=hunter2")];
    let check = |check| judged(Expect { headers: vec![check], ..Expect::default() }, &headers, "");
    assert_eq!(check(HeaderCheck::equals("x-CACHE", " HIT ")), None, "one of them");
    assert_eq!(check(HeaderCheck::matches("X-Cache", "HIT|MISS").unwrap()), None);
    assert_eq!(
        check(HeaderCheck::equals("X-Cache", "STALE")).unwrap(),
        "list: expected header X-Cache to be \"STALE\", got \"MISS from a\""
    );
    assert_eq!(
        check(HeaderCheck::matches("Age", r"^\d+$").unwrap()).unwrap(),
        r"list: expected header Age to match ^\d+$, got none"
    );
    let secret = check(HeaderCheck::equals("Set-Cookie", "hunter3")).unwrap();
    assert_eq!(secret, "list: expected header Set-Cookie to be <redacted>, got <redacted>");
}

/// Judges an answer by a check with templates: of session 1 with its row of data, and what it extracted.
fn judged_in_session(
    memory: &Memory,
    check: impl FnOnce(&Names) -> Expect,
    headers: Headers<'_>,
    body: &str,
) -> Option<Reason> {
    let mut names = Names::new();
    names.extracted("id").unwrap();
    names.extracted("missing").unwrap();
    names.constant("tenant", "acme").unwrap();
    let rows = Data::csv("people", b"name,no\nada,7\ngrace,8.5\n", Take::Unique, AtEnd::Stop).unwrap();
    names.data(&rows).unwrap();
    let mut giver = step();
    giver.extract(Extract::new(1, Finder::header("X")));
    let mut step = step();
    step.expect(check(&names)).unwrap();
    assert!(step.is_fixed(), "what is sent does not depend on what is expected");
    let script = Script::new(vec![step, giver], vec![rows], names, &[2]);
    let sending = RequestKey { k: memory.value(1).map_or(1, |_| 2), ..RequestKey::default() };
    let mut reader = script.reader(0);
    reader.head(&script, 200, headers.iter().map(|(name, value)| (*name, value.as_bytes())));
    reader.chunk(body.as_bytes());
    let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
    let reading = script.finish(&visit, reader, &mut memory.clone(), Nanos(0));
    assert_eq!(reading.outcome == Outcome::Ok, reading.reason.is_none());
    let ended = reading.then == SessionControl::StopGroup;
    assert_eq!(ended, reading.reason.as_ref().is_some_and(|reason| reason.same.contains("has 2 rows")));
    reading.reason
}

#[test]
fn what_is_expected_holds_values_of_the_session() {
    let mut memory = Memory::default();
    memory.set(0, 2, "7", Kind::Json);
    let judge = |expect: &dyn Fn(&Names) -> Expect, body: &str| {
        judged_in_session(&memory, expect, &[("X-Who", "grace")], body)
    };
    let of_body = |check: BodyCheck| Expect { body: vec![check], ..Expect::default() };
    let json = |value: Value, body: &str| {
        let expect = |names: &Names| of_body(BodyCheck::json(pointer("/a"), &value, names).unwrap());
        judge(&expect, body)
    };
    assert_eq!(json(json!("{{id}}"), r#"{"a": 7.0}"#), None, "by value");
    assert_eq!(json(json!("{{data.name}}"), r#"{"a": "grace"}"#), None);
    assert_eq!(json(json!("{{data.no}}"), r#"{"a": 8.5}"#), None, "columns of CSV have no type");
    assert_eq!(json(json!("{{data.no}}"), r#"{"a": "8.5"}"#), None);
    assert_eq!(json(json!("{{vars.tenant}}-{{id}}"), r#"{"a": "acme-7"}"#), None);
    assert_eq!(json(json!({"{{data.name}}": ["{{id}}"]}), r#"{"a": {"grace": [7]}}"#), None);
    assert_eq!(json(json!("\\{{id}}"), r#"{"a": "{{id}}"}"#), None, "braces themselves");
    let reason = json(json!("{{id}}"), r#"{"a": "7"}"#).unwrap();
    assert_eq!(reason.whole, r#"list: expected "{{id}}" at /a of the body, here 7, got "7""#);
    assert_eq!(reason.same, r#"list: expected "{{id}}" at /a of the body"#);
    assert_eq!(
        json(json!("{{data.name}}"), r#"{"b": 1}"#).unwrap().whole,
        r#"list: expected "{{data.name}}" at /a of the body, here "grace", got nothing"#
    );

    let text = |text: &str, holds: bool, body: &str| {
        let expect = |names: &Names| {
            let text = Template::parse(text, names).unwrap();
            of_body(if holds { BodyCheck::contains(text) } else { BodyCheck::not_contains(text) })
        };
        judge(&expect, body)
    };
    assert_eq!(text("hello {{data.name}}", true, "hello grace!"), None);
    assert_eq!(text("hello {{data.name}}", false, "hello ada"), None);
    assert_eq!(
        text("hello {{data.name}}", true, "hello ada").unwrap().whole,
        r#"list: expected a body that contains "hello {{data.name}}", here "hello grace", got "hello ada""#
    );
    assert!(text("{{id}}", false, "17").unwrap().whole.contains(r#"does not contain "{{id}}", here "7""#));

    let header = |value: &str| {
        let expect = |names: &Names| Expect {
            headers: vec![HeaderCheck::equals("x-who", Template::parse(value, names).unwrap())],
            ..Expect::default()
        };
        judge(&expect, "")
    };
    assert_eq!(header(" {{data.name}} "), None);
    assert_eq!(
        header("{{id}}").unwrap().whole,
        r#"list: expected header x-who to be "{{id}}", here "7", got "grace""#
    );
}

#[test]
fn a_check_without_its_value_fails_and_says_why() {
    let expect = |text: &str| {
        let text = text.to_owned();
        move |names: &Names| Expect {
            body: vec![BodyCheck::contains(Template::parse(&text, names).unwrap())],
            ..Expect::default()
        }
    };
    let unset = judged_in_session(&Memory::default(), expect("{{missing}}"), &[], "x").unwrap();
    assert_eq!(
        unset.whole,
        "list: a check needs {{missing}}, which step list has not extracted in this session"
    );
    assert_eq!(unset.kind, Some(KnownFailure::MissingVariable));
    let mut memory = Memory::default();
    memory.set(1, 2, "x", Kind::Text);
    let no_row = judged_in_session(&memory, expect("{{data.name}}"), &[], "x").unwrap();
    assert_eq!(no_row.whole, "list: data people has 2 rows, and session 2 would take one of its own");
}

#[test]
fn late_answers_fail_the_step_and_give_their_values() {
    let mut names = Names::new();
    let x = names.extracted("x").unwrap();
    let mut step = step();
    step.extract(Extract::new(x, Finder::header("X")));
    let time = Some(Nanos::from_micros(4_999));
    step.expect(Expect { time, ..Expect::default() }).unwrap();
    let script = Script::new(vec![step], Vec::new(), names, &[2]);
    let mut memory = Memory::default();
    let reading = read(&script, &mut memory, 200, &[("X", "v")], "");
    assert_eq!(reading.outcome, Outcome::Check);
    assert_eq!(reading.reason.unwrap().whole, "list: expected an answer within 4.999ms, got it after 5ms");
    assert_eq!(memory.value(x), Some(("v", Kind::Text)));
    let in_time = Expect { time: Some(Nanos::from_millis(5)), ..Expect::default() };
    assert_eq!(judged(in_time, &[], ""), None);
}

#[test]
fn bodies_are_kept_when_something_needs_them_and_within_bounds() {
    let plain = Script::new(vec![step()], Vec::new(), Names::new(), &[1]);
    assert!(!plain.reader(0).wants_body() && !plain.reader(0).wants_headers());
    let of = |check| {
        let mut step = step();
        step.expect(Expect { body: vec![check], ..Expect::default() }).unwrap();
        Script::new(vec![step], Vec::new(), Names::new(), &[1]).with_max_body(10)
    };
    let counts = of(BodyCheck::at_most(20));
    assert!(counts.reader(0).wants_body());
    assert_eq!(read(&counts, &mut Memory::default(), 200, &[], "0123456789abcdef").outcome, Outcome::Ok);
    let keeps = of(BodyCheck::contains("9"));
    assert_eq!(read(&keeps, &mut Memory::default(), 200, &[], "0123456789").outcome, Outcome::Ok);
    let reading = read(&keeps, &mut Memory::default(), 200, &[], "0123456789abcdef");
    assert_eq!(reading.outcome, Outcome::TooLarge);
    assert_eq!(
        reading.reason.unwrap().whole,
        "list: expected a body of at most 10 bytes, got more (16 or above)"
    );
}

#[test]
fn the_last_head_counts() {
    let script = Script::new(vec![step()], Vec::new(), Names::new(), &[2]);
    let mut reader = script.reader(0);
    reader.head(&script, 103, [("Set-Cookie", &b"a=1"[..])].into_iter());
    reader.head(&script, 200, [("Set-Cookie", &b"b=2"[..])].into_iter());
    let (sending, mut memory) = (RequestKey::default(), Memory::default());
    let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
    assert_eq!(script.finish(&visit, reader, &mut memory, Nanos::ZERO).outcome, Outcome::Ok);
    let request = script.render(&visit, &memory).unwrap();
    assert_eq!(request.path, "/dir/page");
    assert_eq!(request.headers, [("Cookie".to_owned(), "b=2".to_owned())]);
}

#[test]
fn cookies_come_back_where_they_belong() {
    let mut own = step();
    own.header("Cookie", &Template::fixed("mine=1")).unwrap();
    let elsewhere = Step::new("other", "GET", &Template::fixed("/other?/dir/")).unwrap();
    let below = Step::new("below", "GET", &Template::fixed("/dir/{x?y")).unwrap();
    let script = Script::new(vec![step(), elsewhere, own, below], Vec::new(), Names::new(), &[4]);
    let mut memory = Memory::default();
    let set = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2; Path=/"), ("Set-Cookie", "c=3; Max-Age=1")];
    assert_eq!(read(&script, &mut memory, 500, &set, "").outcome, Outcome::Status, "kept all the same");
    let sent = |step, now_unix_ns| {
        let sending = RequestKey { step, ..RequestKey::default() };
        script.render(&RenderContext { sending: &sending, now_unix_ns }, &memory).unwrap().headers
    };
    let cookie = |text: &str| vec![("Cookie".to_owned(), text.to_owned())];
    assert_eq!(sent(0, 1_000_000_000_000), cookie("a=1; c=3; b=2"));
    assert_eq!(sent(0, 1_001_000_000_000), cookie("a=1; b=2"));
    assert_eq!(sent(1, 1_000_000_000_000), cookie("b=2"));
    assert_eq!(sent(2, 1_000_000_000_000), cookie("mine=1"));
    assert_eq!(sent(3, 1_001_000_000_000), cookie("a=1; b=2"));
}

#[test]
fn a_session_of_one_request_keeps_no_cookies() {
    let script = Script::new(vec![step()], Vec::new(), Names::new(), &[1]);
    let mut memory = Memory::default();
    read(&script, &mut memory, 200, &[("Set-Cookie", "a=1")], "");
    assert!(!memory.has_cookies());
}

#[test]
fn the_first_reason_is_told_and_secrets_are_not() {
    let mut names = Names::new();
    let x = names.extracted("x").unwrap();
    let mut step = step();
    step.extract(Extract::new(x, Finder::json(pointer("/x"))));
    let checks = vec![BodyCheck::contains("hunter2"), BodyCheck::at_least(1_000)];
    step.expect(Expect { body: checks, ..Expect::default() }).unwrap();
    let script = Script::new(vec![step], Vec::new(), names, &[2]).with_redactor(knowing("hunter2"));
    let reason = read(&script, &mut Memory::default(), 200, &[], "{}").reason.unwrap().whole;
    assert_eq!(reason, "list: expected a body that contains \"<redacted>\", got \"{}\"");
}

#[test]
fn what_an_answer_holds_under_names_of_secrets_is_not_told() {
    let reason = |check: BodyCheck, body: &str| {
        let mut step = step();
        step.expect(Expect { body: vec![check], ..Expect::default() }).unwrap();
        let script = Script::new(vec![step], Vec::new(), Names::new(), &[1]);
        read(&script, &mut Memory::default(), 200, &[], body).reason.unwrap().whole
    };
    let page = format!("{} you sent password=hunter2&x=y", "-".repeat(40));
    assert_eq!(
        reason(BodyCheck::contains("welcome"), &page),
        format!(
            "list: expected a body that contains \"welcome\", got \"{} you sent password=<redacted>&x=y\"",
            "-".repeat(40)
        )
    );
    let json = equals("/user/token", json!("abc"));
    assert_eq!(
        reason(json, r#"{"user": {"token": "hunter2"}}"#),
        "list: expected <redacted> at /user/token of the body, got <redacted>"
    );
}

#[test]
fn alike_failures_have_the_same_reason_and_an_empty_body_a_kind() {
    let judge = |body: &str| {
        let mut step = step();
        step.expect(Expect { body: vec![equals("/state", json!("open"))], ..Expect::default() }).unwrap();
        let script = Script::new(vec![step], Vec::new(), Names::new(), &[1]);
        read(&script, &mut Memory::default(), 200, &[], body).reason.unwrap()
    };
    let (shut, gone) = (judge(r#"{"state": "shut"}"#), judge(r#"{"state": "gone"}"#));
    assert_eq!((&shut.same, shut.kind), (&"list: expected \"open\" at /state of the body".to_owned(), None));
    assert_eq!(shut.same, gone.same);
    assert!(shut.whole != gone.whole && shut.whole.starts_with(&shut.same));
    let (broken, empty) = (judge("{"), judge(""));
    assert_eq!((broken.same.as_str(), broken.kind), ("list: expected a body of JSON", None));
    assert_eq!(empty.same, "list: expected a body of JSON, got an empty body");
    assert_eq!(empty.kind, Some(KnownFailure::EmptyBody));
}

#[test]
fn encoded_bodies_are_decoded_where_something_needs_them() {
    let gzip = include_bytes!("../decode/encoded/text.gzip").as_slice();
    let bomb = include_bytes!("../decode/encoded/bomb.gzip").as_slice();
    let lengths = Cell::new(None);
    let read = |check: Option<BodyCheck>, headers: Headers<'_>, body: &[u8]| {
        let mut step = step();
        step.expect(Expect { body: check.into_iter().collect(), ..Expect::default() }).unwrap();
        let script = Script::new(vec![step], Vec::new(), Names::new(), &[1]).with_max_body(1 << 20);
        let sending = RequestKey::default();
        let mut reader = script.reader(0);
        reader.head(&script, 200, headers.iter().map(|(name, value)| (*name, value.as_bytes())));
        body.chunks(50).for_each(|piece| reader.chunk(piece));
        let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
        let reading = script.finish(&visit, reader, &mut Memory::default(), Nanos(0));
        lengths.set(reading.decoded);
        (reading.outcome, reading.reason.map(|reason| reason.whole))
    };
    let coded = [("content-ENCODING", "gzip")];
    let good = (Outcome::Ok, None);
    assert_eq!(read(Some(equals("/items/39/id", json!(39))), &coded, gzip), good);
    assert_eq!(read(Some(BodyCheck::at_least(1_231)), &coded, gzip), good, "the size once decoded");
    assert_eq!(lengths.get(), Some(Lengths { encoded: gzip.len() as u64, decoded: 1_231 }));
    assert_eq!(read(Some(BodyCheck::contains("x")), &coded, gzip).0, Outcome::Check);
    assert_eq!(lengths.get().map(|lengths| lengths.decoded), Some(1_231), "of failed checks too");
    assert_eq!(read(Some(BodyCheck::at_least(1_231)), &[], gzip).0, Outcome::Check);
    assert_eq!(read(None, &coded, b"no gzip"), good, "nothing looks at it");
    assert_eq!(lengths.get(), None);
    assert_eq!(read(Some(BodyCheck::at_most(0)), &coded, b""), good, "an answer to HEAD");
    assert_eq!(read(Some(BodyCheck::contains("no gzip")), &[("Content-Encoding", "x")], b"no gzip"), good);
    let (outcome, reason) = read(Some(BodyCheck::contains("x")), &coded, b"no gzip, but text");
    assert_eq!(
        (outcome, reason.as_deref()),
        (
            Outcome::Check,
            Some("list: expected a body in gzip, got one that cannot be decoded: invalid gzip header")
        )
    );
    let (outcome, reason) = read(Some(BodyCheck::contains("x")), &coded, bomb);
    assert_eq!(
        (outcome, reason.as_deref()),
        (
            Outcome::TooLarge,
            Some("list: expected a body of at most 1048576 bytes, got more out of 8175 of gzip")
        )
    );
}

#[test]
fn error_replies_of_redis_are_failures_by_their_first_word() {
    let send = || Step::bytes("send", super::super::body::Body::raw(b"PING\r\n"));
    let reading = |step: Step, body: &str| {
        let script = Script::new(vec![step], Vec::new(), Names::new(), &[]);
        let reading = read(&script, &mut Memory::default(), 0, &[], body);
        (reading.outcome, reading.reason.map(|reason| reason.whole))
    };
    let failed =
        |word: &str| (Outcome::Check, Some(format!("send: expected a reply without an error, got {word}")));
    let fine = (Outcome::Ok, None);
    let strict = || send().expecting_errors(ErrorReplies::default());
    for (body, expected) in [
        ("-NOAUTH Authentication required.\r\n", failed("NOAUTH")),
        ("-OOM command not allowed when used memory > 'maxmemory'.\r\n", failed("OOM")),
        ("-LOADING Redis is loading the dataset in memory\r\n", failed("LOADING")),
        ("-MOVED 3999 127.0.0.1:6381\r\n", failed("MOVED")),
        ("-ERR\r\n", failed("ERR")),
        ("!21\r\nSYNTAX invalid syntax\r\n", failed("SYNTAX")),
        ("-my secret\r\n", failed("an error without a code")),
        ("+OK\r\n", fine.clone()),
        ("$4\r\n-ERR\r\n", fine.clone()),
        ("*1\r\n-ERR x\r\n", fine.clone()),
    ] {
        assert_eq!(reading(strict(), body), expected, "{body}");
        // Where it is not said that the target speaks it, these are bytes as any.
        assert_eq!(reading(send(), body), fine, "{body}");
    }
    let allowing = |words: &[&str]| ErrorReplies::parse(words.iter().map(|word| (*word).to_owned())).unwrap();
    let moved = "-MOVED 3999 127.0.0.1:6381\r\n";
    assert_eq!(reading(send().expecting_errors(allowing(&["ASK", "MOVED"])), moved), fine);
    assert_eq!(reading(send().expecting_errors(allowing(&["any"])), moved), fine);
    assert_eq!(reading(send().expecting_errors(allowing(&["ASK"])), moved), failed("MOVED"));
    // What is expected besides leaves them failures.
    let mut step = strict();
    step.expect(Expect { body: vec![BodyCheck::at_least(1)], ..Expect::default() }).unwrap();
    assert_eq!(reading(step, moved), failed("MOVED"));
    assert!(ErrorReplies::parse(["moved".to_owned()]).unwrap_err().contains("'moved'"));
}

#[test]
fn pages_of_html_give_what_a_browser_reads() {
    let page = r#"<form action="/auth?code=c1&amp;step=2"><input name=csrf value="a&#43;b">"#;
    let text = |finder: Finder| extracted(finder, &[], page);
    let expected = |value: &str| Ok((value.to_owned(), Kind::Text));
    assert_eq!(text(Finder::attribute("form action").unwrap()), expected("/auth?code=c1&step=2"));
    assert_eq!(text(Finder::field("csrf")), expected("a+b"));
    let regex = || Finder::regex("action=\"([^\"]+)\"", None).unwrap();
    assert_eq!(text(regex().of_html()), expected("/auth?code=c1&step=2"));
    assert_eq!(text(regex()), expected("/auth?code=c1&amp;step=2"));
    let missing = text(Finder::field("other")).unwrap_err();
    assert!(missing.contains("expected a page with the field other"), "{missing}");
    let marked = extracted(Finder::json(pointer("/a")), &[], "\u{feff}{\"a\": 1}");
    assert_eq!(marked, Ok(("1".to_owned(), Kind::Json)));
}
