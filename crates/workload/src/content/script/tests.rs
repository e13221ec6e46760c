use super::*;
use crate::content::{AtEnd, Extract, Finder, Take, Template};

fn step(path: &str) -> Step {
    Step::new("s", "GET", &Template::parse(path, &Names::new()).unwrap()).unwrap()
}

fn script(steps: Vec<Step>, longest: u64) -> Script {
    Script::new(steps, Vec::new(), Names::new(), &[longest])
}

fn rendered(script: &Script, step: u16) -> Request {
    let sending = RequestKey { step, ..RequestKey::default() };
    script.render(&RenderContext { sending: &sending, now_unix_ns: 0 }, &Memory::default()).unwrap()
}

#[test]
fn a_request_of_its_own_goes_out_as_it_is() {
    let request = Request {
        method: "POST".to_owned(),
        path: "/a%20b?{{x}}".to_owned(),
        headers: vec![("X-A".to_owned(), "{{y}}".to_owned()), ("x-a".to_owned(), "2".to_owned())],
        body: b"{{z}}\xff".to_vec(),
    };
    let script = Script::single(&request);
    assert_eq!(rendered(&script, 0), request);
    assert_eq!(script.steps()[0].name(), "POST /a%20b?{{x}}");
    assert!(script.is_fixed(0, &Memory::default()) && !script.needs_memory());
}

#[test]
fn fixed_steps_are_the_same_until_there_are_cookies() {
    let mut own = step("/c");
    own.header("cookie", &Template::fixed("a=b")).unwrap();
    let script = script(vec![step("/a"), step("/{{seq}}"), own], 3);
    let mut memory = Memory::default();
    assert_eq!([0, 1, 2].map(|step| script.is_fixed(step, &memory)), [true, false, true]);
    let sending = RequestKey::default();
    let mut reader = script.reader(0);
    reader.head(&script, 200, [("Set-Cookie", &b"a=1"[..])].into_iter());
    script.finish(
        &RenderContext { sending: &sending, now_unix_ns: 0 },
        reader,
        &mut memory,
        headway_base::Nanos::ZERO,
    );
    assert_eq!([0, 1, 2].map(|step| script.is_fixed(step, &memory)), [false, false, true]);
    memory.clear();
    assert!(script.is_fixed(0, &memory));
}

#[test]
fn sessions_remember_cookies_and_values() {
    assert!(!script(vec![step("/")], 1).needs_memory());
    assert!(script(vec![step("/")], 2).needs_memory());
    let mut names = Names::new();
    let mut takes = step("/");
    takes.extract(Extract::new(names.extracted("x").unwrap(), Finder::header("ETag")));
    assert!(Script::new(vec![takes], Vec::new(), names, &[1]).needs_memory());
}

#[test]
fn the_targets_path_stands_before_every_path() {
    let check = |target: &str, expected: &str| {
        let script = script(vec![step("/x?y=1")], 1).with_target(&Target::parse(target).unwrap());
        assert_eq!(rendered(&script, 0).path, expected);
    };
    check("http://h", "/x?y=1");
    check("http://h/", "/x?y=1");
    check("http://h/base/", "/base/x?y=1");
    check("http://h/a/b?q=1", "/a/b/x?y=1");
    check("unix:/run/s.sock:/v1", "/v1/x?y=1");
}

#[test]
fn workers_share_a_script() {
    const fn shared<T: Send + Sync>() {}
    const { shared::<Script>() }
}

#[test]
fn the_secrets_of_a_session_are_hidden() {
    let data =
        Data::csv("people", b"name,password\nada,loveLace1\nbob,builder-2\n", Take::Sequential, AtEnd::Fail);
    let mut names = Names::new();
    let at = names.extracted("session_token").unwrap();
    let mut memory = Memory::default();
    memory.set(at, 1, "t0k-en", super::super::encode::Kind::Text);
    let mut known = Redactor::default();
    known.know("of-the-file");
    let mut step = step("/");
    step.extract(Extract::new(at, Finder::regex("x", None).unwrap()));
    let script = Script::new(vec![step], vec![data.unwrap()], names, &[1]).with_redactor(known);
    let sending = RequestKey { k: 1, ..RequestKey::default() };
    let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
    let hidden =
        script.redactor(&visit, &memory).hide("ada loveLace1 bob builder-2 t0k-en of-the-file").into_owned();
    assert_eq!(hidden, "ada loveLace1 bob <redacted> <redacted> <redacted>");
}
