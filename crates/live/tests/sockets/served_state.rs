//! The calibrated target with state, asked by hand and under load.

use crate::harness::{Load, guarded, request};
use crate::served::{Serving, settings};
use crate::served_raw::{connect, read_to_close};
use headway_base::{Nanos, Outcome};
use headway_live::serve::{Settings, StateSettings};
use std::io::Write;

fn keeping(service: &str, state: StateSettings) -> Settings {
    Settings { body_bytes: 1_000, state: Some(state), ..settings(service) }
}

/// One request on a connection of its own; the answer without its reason phrase.
fn ask(server: &Serving, method: &str, target: &str, body: &str) -> String {
    let mut stream = connect(server);
    let head =
        format!("{method} {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: text/x\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    read_to_close(&mut stream)
}

fn status(answer: &str) -> u16 {
    answer["HTTP/1.1 ".len()..][..3].parse().unwrap()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn what_is_posted_is_found_and_removed() {
    guarded(|| {
        let server = Serving::new(keeping("const(0s)", StateSettings::DEFAULT));
        let created = ask(&server, "POST", "/bars?x=1", "one");
        assert_eq!((status(&created), body(&created)), (201, "{\"id\":1}"));
        assert!(created.contains("\r\nlocation: /bars/1\r\n"), "{created}");
        assert_eq!(body(&ask(&server, "POST", "/bars/", "t\"wo")), "{\"id\":2}");
        assert!(ask(&server, "POST", "/", "root").contains("\r\nlocation: /3\r\n"));

        let list = ask(&server, "GET", "/bars", "");
        assert!(list.contains("\r\ncontent-type: application/json\r\n"), "{list}");
        let items = r#"[{"id":1,"body":"one"},{"id":2,"body":"t\"wo"}]"#;
        assert_eq!(body(&list), format!("{{\"count\":2,\"items\":{items}}}"));
        assert_eq!(body(&ask(&server, "HEAD", "/bars", "")), "");
        let one = ask(&server, "GET", "/bars/1", "");
        assert!(one.contains("\r\ncontent-type: text/x\r\n") && body(&one) == "one", "{one}");
        // An item belongs to the path it was posted to.
        assert_eq!(status(&ask(&server, "GET", "/bars/3", "")), 404);
        assert_eq!(body(&ask(&server, "GET", "/3", "")), "root");

        assert_eq!(status(&ask(&server, "DELETE", "/bars/1", "")), 204);
        assert_eq!(status(&ask(&server, "DELETE", "/bars/1", "")), 404);
        assert_eq!(status(&ask(&server, "GET", "/bars/1", "")), 404);
        let put = ask(&server, "PUT", "/bars/2", "x");
        assert!(status(&put) == 405 && put.contains("\r\nallow: GET, HEAD, DELETE\r\n"), "{put}");
        let report = server.stop();
        assert_eq!((report.requests, report.ok, report.denied, report.items), (12, 8, 4, 2));
    });
}

#[test]
fn without_state_every_answer_is_the_same() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let answers = [ask(&server, "POST", "/a", "x"), ask(&server, "GET", "/a/1", "")];
        for answer in answers {
            assert_eq!((status(&answer), body(&answer)), (200, "headway he"));
        }
        let report = server.stop();
        assert_eq!((report.ok, report.denied, report.items), (2, 0, 0));
    });
}

#[test]
fn past_the_bound_there_is_no_room() {
    guarded(|| {
        let state = StateSettings { max_items: 3, max_bytes: 1_000, ..StateSettings::DEFAULT };
        let server = Serving::new(keeping("const(0s)", state));
        assert_eq!(status(&ask(&server, "POST", "/a", &"x".repeat(2_000))), 507);
        let statuses: Vec<u16> = (0..5).map(|_| status(&ask(&server, "POST", "/a", "x"))).collect();
        assert_eq!(statuses, [201, 201, 201, 507, 507]);
        assert_eq!(status(&ask(&server, "DELETE", "/a/2", "")), 204);
        assert_eq!(status(&ask(&server, "POST", "/a", "x")), 201);
        let report = server.stop();
        assert_eq!((report.ok, report.denied, report.items), (5, 3, 3));
    });
}

#[test]
fn a_body_that_never_ends_is_given_back() {
    guarded(|| {
        let state = StateSettings { max_bytes: 100, ..StateSettings::DEFAULT };
        let server = Serving::new(keeping("const(0s)", state));
        let mut going = connect(&server);
        let head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n";
        going.write_all(format!("{head}{}", "x".repeat(80)).as_bytes()).unwrap();
        crate::scripted::reset(going);
        // There is room once the server has seen that it is gone.
        while status(&ask(&server, "POST", "/a", &"x".repeat(80))) != 201 {}
        assert_eq!(server.stop().items, 1);
    });
}

#[test]
fn requests_that_fail_write_nothing() {
    guarded(|| {
        let settings = Settings { error_rate: 1.0, ..keeping("const(0s)", StateSettings::DEFAULT) };
        let server = Serving::new(settings);
        assert_eq!(status(&ask(&server, "POST", "/a", "x")), 500);
        assert_eq!(status(&ask(&server, "GET", "/a", "")), 500);
        let report = server.stop();
        assert_eq!((report.errors, report.items), (2, 0));
    });
}

#[test]
fn reads_cost_by_what_was_written() {
    guarded(|| {
        let state = StateSettings { cost: Nanos::from_millis(2), ..StateSettings::DEFAULT };
        let server = Serving::new(keeping("const(1ms)", state));
        let read = || Load { request: request("GET", "/a", ""), ..Load::of(3) };
        read().run(&server.address).all(Outcome::Ok);
        let write = Load { request: request("POST", "/a", "x"), ..Load::of(20) };
        write.run(&server.address).all(Outcome::Ok);
        let ran = read().run(&server.address).all(Outcome::Ok);
        for r in &ran.records {
            assert!(r.service().unwrap() >= Nanos::from_millis(1 + 20 * 2), "{r:?}");
        }
        let report = server.stop();
        assert_eq!((report.ok, report.items), (26, 20));
    });
}
