use super::*;
use crate::client::{RequestKey, SessionControl};
use crate::content::{
    Body, Expect, Extract, Finder, Memory, Names, Reading, RenderContext, Script, StatusSet, Step, Template,
};
use crate::request::Request;
use crate::target::Target;
use headway_base::{Nanos, Outcome};

/// One session of a step, and what it is led to.
struct Walk {
    script: Script,
    memory: Memory,
    step: u16,
}

impl Walk {
    fn new(target: &str, step: Step, most: u32) -> Walk {
        let mut names = Names::new();
        names.extracted("x").unwrap();
        let script = Script::new(vec![step], Vec::new(), names, &[1]);
        let script = script.with_target(&Target::parse(target).unwrap()).following(most);
        Walk { script, memory: Memory::default(), step: 0 }
    }

    fn key(&self) -> RequestKey {
        RequestKey { step: self.step, ..RequestKey::default() }
    }

    fn request(&self) -> Request {
        let key = self.key();
        self.script.render(&RenderContext { sending: &key, now_unix_ns: 0 }, &self.memory).unwrap()
    }

    fn answer(&mut self, status: u16, headers: &[(&str, &str)]) -> Reading {
        let key = self.key();
        let mut reader = self.script.reader(self.step);
        reader.head(&self.script, status, headers.iter().map(|(name, value)| (*name, value.as_bytes())));
        let visit = RenderContext { sending: &key, now_unix_ns: 1_000_000_000 };
        let reading = self.script.finish(&visit, reader, &mut self.memory, Nanos::ZERO);
        if matches!(reading.then, SessionControl::Redirect(_)) {
            self.step = 1;
        }
        reading
    }

    /// The path of the request that this redirect leads to, or the reason why there is none.
    fn led(&mut self, status: u16, location: &str) -> Result<String, String> {
        let reading = self.answer(status, &[("location", location)]);
        match reading.reason {
            Some(reason) => {
                assert_eq!((reading.outcome, reading.then), (Outcome::Check, SessionControl::Continue));
                Err(reason.whole)
            }
            None => {
                assert_eq!((reading.outcome, reading.then), (Outcome::Ok, SessionControl::Redirect(0)));
                Ok(self.request().path)
            }
        }
    }
}

fn step(method: &str) -> Step {
    Step::new("list", method, &Template::fixed("/dir/page?q=1")).unwrap()
}

fn from(target: &str) -> Walk {
    Walk::new(target, step("GET"), 10)
}

#[test]
fn places_are_taken_as_browsers_take_them() {
    for (location, path) in [
        ("/", "/"),
        ("/a?b=c#d", "/a?b=c"),
        ("next", "/dir/next"),
        ("../up", "/up"),
        ("?q=2", "/dir/page?q=2"),
        ("", "/dir/page?q=1"),
        ("http://A.test/x", "/x"),
        ("http://a.test:80/x", "/x"),
        ("//a.test/x", "/x"),
        ("/a b\u{e9}", "/a%20b%C3%A9"),
        ("/a\r\nX-B: c", "/aX-B:%20c"),
    ] {
        assert_eq!(from("http://a.test").led(302, location).as_deref(), Ok(path), "{location}");
    }
    assert_eq!(from("http://a.test/base").led(301, "x").as_deref(), Ok("/base/dir/x"));
    let slashes = Step::new("list", "GET", &Template::fixed("//b/page")).unwrap();
    assert_eq!(
        Walk::new("http://a.test", slashes, 10).led(302, "next").as_deref(),
        Ok("//b/next"),
        "no host"
    );
    let mut walk = from("http://a.test");
    assert_eq!(walk.led(302, "/a/b").as_deref(), Ok("/a/b"));
    assert_eq!(walk.led(302, "c").as_deref(), Ok("/a/c"), "relative to where the redirect led");
    assert_eq!(from("unix:/run/x.sock").led(302, "http://localhost/x").as_deref(), Ok("/x"));
    assert_eq!(from("h2c://a.test:99").led(302, "http://a.test:99/x").as_deref(), Ok("/x"));
}

#[test]
fn other_schemes_hosts_and_ports_are_not_followed() {
    for (location, place) in [
        ("https://a.test/x", "https://a.test"),
        ("http://b.test/", "http://b.test"),
        ("http://a.test:81/", "http://a.test:81"),
        ("//b.test", "http://b.test"),
        ("ftp://a.test/", "ftp://a.test"),
        ("data:text/plain,x", "data:"),
    ] {
        let mut walk = from("http://a.test");
        let reading = walk.answer(302, &[("location", location)]);
        let reason = reading.reason.unwrap();
        assert_eq!(reason.kind, Some(KnownFailure::RedirectElsewhere), "{location}");
        assert_eq!((reading.outcome, reading.then), (Outcome::Check, SessionControl::Continue), "{location}");
        let expected = format!("list: redirected to {place}");
        assert_eq!((reason.same, reason.whole), (expected.clone(), expected));
    }
    let no_place = from("http://a.test").led(302, "http://[").unwrap_err();
    assert!(no_place.contains("no place of the target"), "{no_place}");
    let secret = from("http://a.test").led(302, "https://a.test/?token=hunter2hunter2").unwrap_err();
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn the_site_that_header_host_names_is_the_targets_too() {
    let mut named = step("GET");
    named.header("Host", &Template::fixed("site.test")).unwrap();
    let led = |location| Walk::new("http://127.0.0.1:8080", named.clone(), 10).led(302, location);
    assert_eq!(led("http://site.test/x").as_deref(), Ok("/x"));
    assert_eq!(led("http://127.0.0.1:8080/x").as_deref(), Ok("/x"));
    assert!(led("http://site.test:8080/x").is_err());
}

#[test]
fn methods_and_bodies_change_as_in_browsers() {
    for (status, method, then) in [
        (301, "GET", "GET"),
        (302, "HEAD", "HEAD"),
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (302, "PUT", "PUT"),
        (303, "POST", "GET"),
        (303, "DELETE", "GET"),
        (303, "HEAD", "HEAD"),
        (307, "POST", "POST"),
        (308, "PUT", "PUT"),
    ] {
        let mut step = step(method);
        step.body(Body::text(&Template::fixed("x=1")));
        step.header("Content-Language", &Template::fixed("de")).unwrap();
        step.header("Authorization", &Template::fixed("Bearer t")).unwrap();
        let mut walk = Walk::new("http://a.test", step, 10);
        let before = walk.request();
        walk.led(status, "/next").unwrap();
        let after = walk.request();
        assert_eq!((after.method.as_str(), after.path.as_str()), (then, "/next"), "{status} {method}");
        let kept = then == method;
        assert_eq!(after.body, if kept { before.body } else { Vec::new() }, "{status} {method}");
        let names: Vec<&str> = after.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.contains(&"Content-Language"), kept, "{status} {method}: {names:?}");
        assert_eq!(names.contains(&"Content-Type"), kept, "{status} {method}: {names:?}");
        assert!(names.contains(&"Authorization"), "{status} {method}: {names:?}");
        // Once a GET it stays one.
        walk.led(307, "/last").unwrap();
        assert_eq!(walk.request().method, then);
    }
}

#[test]
fn so_many_are_followed_and_no_more() {
    let mut walk = Walk::new("http://a.test", step("GET"), 3);
    for n in 0..3 {
        assert_eq!(walk.led(302, &format!("/{n}")), Ok(format!("/{n}")));
    }
    let reading = walk.answer(302, &[("Location", "/3")]);
    let reason = reading.reason.unwrap();
    assert_eq!(reason.kind, Some(KnownFailure::TooManyRedirects));
    assert_eq!(reason.whole, "list (redirected): more than 3 redirects, at last to \"/3\"");
    // The next request of the step begins anew.
    walk.step = 0;
    assert_eq!(walk.led(302, "/a").as_deref(), Ok("/a"));
}

#[test]
fn answers_that_lead_nowhere_and_steps_that_look_themselves_go_on() {
    let ends = |step: Step, most, status, headers: &[(&str, &str)]| {
        let reading = Walk::new("http://a.test", step, most).answer(status, headers);
        (reading.outcome, reading.then)
    };
    let well = (Outcome::Ok, SessionControl::Continue);
    assert_eq!(ends(step("GET"), 10, 302, &[]), well, "without a place to go to");
    assert_eq!(ends(step("GET"), 10, 304, &[("location", "/x")]), well, "304 leads nowhere");
    assert_eq!(ends(step("GET"), 10, 201, &[("location", "/x")]), well);
    assert_eq!(ends(step("GET"), 0, 302, &[("location", "/x")]), well, "not followed unless asked for");
    let mut expects = step("GET");
    let status = Some(StatusSet::parse("302").unwrap());
    expects.expect(Expect { status, ..Expect::default() }).unwrap();
    assert_eq!(ends(expects, 10, 302, &[("location", "/x")]), well);
    let mut expects = step("GET");
    let status = Some(StatusSet::parse("200").unwrap());
    expects.expect(Expect { status, ..Expect::default() }).unwrap();
    let followed = (Outcome::Ok, SessionControl::Redirect(0));
    assert_eq!(ends(expects, 10, 302, &[("location", "/x")]), followed, "200 is expected of the last one");
    let mut looks = step("GET");
    looks.extract(Extract::new(0, Finder::cookie("sid")));
    assert_eq!(ends(looks, 10, 302, &[("location", "/x"), ("set-cookie", "sid=1")]), well);
}

#[test]
fn steps_that_look_at_redirects_themselves_are_told_whether_redirects_are_followed_or_not() {
    let mut expects = step("GET");
    let status = Some(StatusSet::parse("302").unwrap());
    expects.expect(Expect { status, ..Expect::default() }).unwrap();
    let mut looks = step("GET");
    looks.extract(Extract::new(0, Finder::cookie("sid")));
    for most in [0, 10] {
        let mut names = Names::new();
        names.extracted("x").unwrap();
        let steps = vec![step("GET"), expects.clone(), step("GET"), looks.clone()];
        let script = Script::new(steps, Vec::new(), names, &[1]).following(most);
        assert_eq!(script.taking_redirects(), [1, 3], "{most} followed");
    }
}

#[test]
fn cookies_of_a_redirect_are_sent_to_where_it_leads() {
    let mut walk = from("http://a.test");
    let reading = walk.answer(302, &[("location", "/x"), ("set-cookie", "sid=7; Path=/")]);
    assert_eq!(reading.then, SessionControl::Redirect(0));
    assert!(walk.request().headers.contains(&("Cookie".to_owned(), "sid=7".to_owned())));
}

#[test]
fn every_request_names_the_trace_of_its_session_and_is_a_parent_of_its_own() {
    let named = |walk: &Walk, k: u64, ordinal: u32| {
        let key = RequestKey { k, ordinal, ..walk.key() };
        let request =
            walk.script.render(&RenderContext { sending: &key, now_unix_ns: 0 }, &walk.memory).unwrap();
        let mut all = request.headers.iter().filter(|(name, _)| name == "traceparent");
        let (first, second) = (all.next().map(|(_, value)| value.clone()), all.next());
        assert_eq!(second, None);
        first
    };
    assert_eq!(named(&from("http://a.test"), 0, 0), None, "only where it is asked for");
    let mut walk = from("http://a.test");
    walk.script = walk.script.tracing().with_seed(7);
    assert!(walk.script.is_tracing() && !walk.script.is_fixed(0, &walk.memory));
    let first = named(&walk, 3, 0).unwrap();
    let trace = headway_base::trace::Traces::new(7).id(0, 3).to_string();
    assert_eq!(first[3..35], trace);
    let second = named(&walk, 3, 1).unwrap();
    assert_eq!((&second[3..35], first == second), (trace.as_str(), false), "another request of the session");
    assert_ne!(named(&walk, 4, 0).unwrap()[3..35], trace, "another session");
    walk.led(302, "/next").unwrap();
    let led = named(&walk, 3, 0).unwrap();
    assert_eq!((&led[3..35], led == first), (trace.as_str(), false), "where a redirect led");
}

/// Links that a step extracted: paths and whole URLs of origins that the run names.
#[test]
fn extracted_links_lead_to_origins_that_the_run_names() {
    let mut names = Names::new();
    let link = names.extracted("link").unwrap();
    let path = Template::parse("{{link}}", &names).unwrap();
    let follows = |host: Option<&str>| {
        let mut step = Step::new("s", "GET", &path).unwrap();
        for (name, value) in [("Authorization", "Bearer planted"), ("X-Tag", "plain")] {
            step.header(name, &Template::fixed(value)).unwrap();
        }
        host.iter().for_each(|host| step.header("Host", &Template::fixed(host)).unwrap());
        let others = ["https://b.test:444", "http://c.test"].map(|url| Target::parse(url).unwrap());
        let target = Target::parse("http://a.test/base").unwrap();
        Script::new(vec![step], Vec::new(), names.clone(), &[2]).with_target(&target).reaching(&others)
    };
    let rendered = |script: &Script, value: &str| {
        let mut memory = Memory::default();
        memory.set(link, 1, value, crate::content::encode::Kind::Text);
        let key = RequestKey::default();
        let request = script.render(&RenderContext { sending: &key, now_unix_ns: 0 }, &memory);
        let headers =
            |request: &Request| request.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let sent = request.map(|request| (request.path.clone(), headers(&request)));
        (script.origin(0, &memory), script.leads(&memory), sent.map_err(|refusal| refusal.reason))
    };
    let script = follows(None);
    assert!(script.has_links());
    let all = vec!["Authorization".to_owned(), "X-Tag".to_owned()];
    for (value, origin, path) in [
        ("/x?y=1#z", 0, "/x?y=1"),
        ("http://a.test/x", 0, "/x"),
        ("HTTP://A.test:80", 0, "/"),
        ("https://b.test:444/é?q=a b#z", 1, "/%C3%A9?q=a%20b"),
        ("http://u:p@c.test/?x", 2, "/?x"),
        ("//a.test/x", 0, "/x"),
        ("//c.test/x//y?z#w", 2, "/x//y?z"),
    ] {
        let headers = if origin == 0 { all.clone() } else { all[1..].to_vec() };
        let leads = if origin == 0 { vec![] } else { vec![(0, origin)] };
        assert_eq!(rendered(&script, value), (origin, leads, Ok((path.to_owned(), headers))), "{value}");
    }
    for (value, says) in [
        ("https://b.test/x?secret", "the link leads to https://b.test"),
        ("http://d.test:8/x", "the link leads to http://d.test:8"),
        ("//d.test:8/x", "the link leads to http://d.test:8"),
        ("//b.test:444/x", "the link leads to http://b.test:444"),
    ] {
        let (origin, leads, sent) = rendered(&script, value);
        let reason = sent.unwrap_err();
        assert_eq!((origin, leads, reason.same.as_str()), (0, vec![], &*format!("s: {says}")), "{value}");
        assert_eq!(reason.kind, Some(KnownFailure::RedirectElsewhere));
    }
    for value in ["x", "ftp://a.test/", "javascript:a()", "", "//", "//[x/y"] {
        let reason = rendered(&script, value).2.unwrap_err();
        let expected = "expected a link that begins with one slash, or a whole URL of http or https";
        assert!(reason.same.contains(expected), "{reason}");
    }
    // Before a run the link is not known.
    let shown = Memory::placeholders(&names);
    let key = RequestKey::default();
    let request = script.render(&RenderContext { sending: &key, now_unix_ns: 0 }, &shown).unwrap();
    assert_eq!((script.origin(0, &shown), request.path.as_str()), (0, "{{link}}"));
    // The host that the target goes by is the target's.
    let all = [&all[..], &["Host".to_owned()]].concat();
    let sent = rendered(&follows(Some("www.test")), "http://www.test/x");
    assert_eq!(sent, (0, vec![], Ok(("/x".to_owned(), all))));
}

/// What goes out where a redirect leads to another origin that the run names, and back.
#[test]
fn secrets_stay_with_the_origin_that_they_were_given_for() {
    let mut secret = step("POST");
    for (name, value) in [
        ("Host", "site.test"),
        ("Authorization", "Bearer planted"),
        ("X-Api-Key", "planted"),
        ("X-Copy", "planted-value"),
        ("X-Tag", "plain"),
    ] {
        secret.header(name, &Template::fixed(value)).unwrap();
    }
    secret.body(Body::text(&Template::fixed("body")));
    let mut walk = Walk::new("http://a.test", secret, 10);
    let mut redactor = crate::redact::Redactor::default();
    redactor.know("planted-value");
    walk.script = walk.script.with_redactor(redactor).reaching(&[Target::parse("https://b.test").unwrap()]);
    let names = |walk: &Walk| -> Vec<String> {
        walk.request()
            .headers
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| name != "Content-Type")
            .collect()
    };
    let all = ["Host", "Authorization", "X-Api-Key", "X-Copy", "X-Tag"];
    assert_eq!(names(&walk), all);
    let away = [("location", "https://b.test/there"), ("set-cookie", "sid=planted; Path=/")];
    let reading = walk.answer(307, &away);
    assert_eq!(reading.then, SessionControl::Redirect(1));
    assert_eq!((names(&walk), walk.request().path.as_str()), (vec!["X-Tag".to_owned()], "/there"));
    assert_eq!(walk.request().body, b"body", "as curl and browsers have it");
    let reading = walk.answer(307, &[("location", "/further")]);
    assert_eq!((reading.then, walk.request().path.as_str()), (SessionControl::Redirect(1), "/further"));
    let reading = walk.answer(307, &[("location", "http://a.test/home")]);
    assert_eq!(reading.then, SessionControl::Redirect(0));
    assert_eq!(names(&walk), [&all[..], &["Cookie"]].concat(), "back where they were given for");
    let reading = walk.answer(302, &[("location", "https://c.test/")]);
    assert_eq!(reading.reason.unwrap().kind, Some(KnownFailure::RedirectElsewhere));
}

#[test]
fn bytes_of_a_location_that_are_no_utf8_go_back_as_they_came() {
    assert_eq!(super::written(b"/caf\xe9?a=b"), "/caf%E9?a=b");
    assert_eq!(super::written("/café".as_bytes()), "/café");
}
