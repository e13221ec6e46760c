//! The calibrated target, asked by hand.

use crate::harness::{HANG, guarded};
use crate::served::{Serving, settings};
use headway_live::Address;
use headway_live::serve::Settings;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

pub fn connect(server: &Serving) -> TcpStream {
    let Address::Tcp(at) = server.address else { panic!("a TCP server") };
    let stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

pub fn read_to_close(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Reads up to and with an empty line.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn statuses(answers: &str) -> Vec<&str> {
    answers.split("HTTP/1.1 ").skip(1).map(|a| &a[..3]).collect()
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    guarded(|| {
        // Later requests are served sooner: by as many servers, with demands that differ.
        let server = Serving::new(Settings { servers: 8, body_bytes: 3, ..settings("uniform(0ms,30ms)") });
        let mut stream = connect(&server);
        let mut asked = String::new();
        let methods = ["GET", "HEAD", "GET", "HEAD", "HEAD", "GET"];
        for (i, method) in methods.into_iter().enumerate() {
            let close = if i + 1 == methods.len() { "Connection: close\r\n" } else { "" };
            asked += &format!("{method} / HTTP/1.1\r\nHost: a\r\n{close}\r\n");
        }
        stream.write_all(asked.as_bytes()).unwrap();
        let answers = read_to_close(&mut stream);
        assert_eq!(statuses(&answers), ["200"; 6]);
        let bodies: Vec<bool> =
            answers.split("HTTP/1.1 ").skip(1).map(|a| !a.ends_with("\r\n\r\n")).collect();
        assert_eq!(bodies, methods.map(|m| m == "GET"));
        assert_eq!(server.stop().ok, 6);
    });
}

#[test]
fn a_client_that_has_said_its_last_is_still_answered() {
    guarded(|| {
        let server = Serving::new(Settings { body_bytes: 2_000_000, ..settings("const(30ms)") });
        let mut stream = connect(&server);
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answers = read_to_close(&mut stream);
        assert_eq!(statuses(&answers), ["200", "200"]);
        assert!(answers.len() > 4_000_000);
        let report = server.stop();
        assert_eq!((report.ok, report.abandoned), (2, 0));
    });
}

#[test]
fn a_body_is_asked_for_only_after_earlier_answers() {
    guarded(|| {
        let server = Serving::new(settings("const(20ms)"));
        let mut stream = connect(&server);
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
        stream.write_all(format!("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n{post}").as_bytes()).unwrap();
        assert!(read_head(&mut stream).starts_with("HTTP/1.1 200 "));
        assert!(read_head(&mut stream).starts_with("HTTP/1.1 100 "));
        stream.write_all(b"hello").unwrap();
        assert!(read_head(&mut stream).starts_with("HTTP/1.1 200 "));
        assert_eq!(server.stop().requests, 2);
    });
}

#[test]
fn a_body_that_comes_unasked_needs_no_continue() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let mut stream = connect(&server);
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n";
        stream.write_all(format!("{post}\r\nhello").as_bytes()).unwrap();
        assert_eq!(statuses(&read_to_close(&mut stream)), ["200"]);
    });
}

#[test]
fn what_is_no_request_is_told_so() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        for garbage in ["\0\x01\x02\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "hello\r\n\r\n"] {
            let mut stream = connect(&server);
            stream.write_all(garbage.as_bytes()).unwrap();
            assert_eq!(statuses(&read_to_close(&mut stream)), ["400"]);
        }
        assert_eq!(server.stop().malformed, 3);
    });
}

#[test]
fn a_client_that_goes_leaves_the_others_alone() {
    guarded(|| {
        let server = Serving::new(settings("const(20ms)"));
        let mut going = connect(&server);
        going.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        crate::scripted::reset(going);
        let mut stream = connect(&server);
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        assert_eq!(statuses(&read_to_close(&mut stream)), ["200"]);
        let report = server.stop();
        assert_eq!(report.connections, 2);
        assert_eq!(report.ok + report.abandoned, report.requests);
    });
}
