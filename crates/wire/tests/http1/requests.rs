//! Requests as a server sees them.

use headway_wire::Limits;
use headway_wire::http1::{Response, Server, ServerEvent};
use proptest::prelude::*;

use crate::told::{Serving, Told};

const LIMITS: Limits = Limits { head_bytes: 100, headers: 4, body_bytes: 30, trailer_bytes: 16 };

struct Case {
    name: &'static str,
    input: &'static str,
    told: &'static [&'static str],
}

const fn case(name: &'static str, input: &'static str, told: &'static [&'static str]) -> Case {
    Case { name, input, told }
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("plain", "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", &["GET /a?b", "end"]),
    case("bare line feeds", "GET / HTTP/1.1\nHost: x\n\n", &["GET /", "end"]),
    case("pipelined, after empty lines", "\r\n\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\n\r\n", &["GET /1", "end", "HEAD /2", "end", "GET /3", "end"]),
    case("length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.1\r\nHost: x\r\n\r\n", &["POST /", "hi", "end", "GET /", "end"]),
    case("no length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", &["POST /", "end"]),
    case("chunks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", &["POST /", "hi!", "end", "GET /", "end"]),
    case("last by Connection", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", &["GET / last", "end"]),
    case("last by version", "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n", &["GET / last", "end"]),
    case("1.0 kept alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", &["GET /", "end", "GET / last", "end"]),
    case("expects 100", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx", &["POST / expects", "x", "end"]),
    case("expects 100 without a body", "GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", &["GET /", "end"]),
    case("expects 100 in 1.0", "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx", &["POST / last", "x", "end"]),
    // Cut short.
    case("part of a head", "GET / HTTP/1.1\r\nHo", &["400"]),
    case("part of a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nhi", &["POST /", "hi", "400"]),
    case("nothing", "", &[]),
    // Malformed.
    case("no host", "GET / HTTP/1.1\r\n\r\n", &["400"]),
    case("two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", &["400"]),
    case("no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", &["400"]),
    case("no version", "GET /\r\nHost: x\r\n\r\n", &["400"]),
    case("bad method", "G@T / HTTP/1.1\r\nHost: x\r\n\r\n", &["400"]),
    case("bad header", "GET / HTTP/1.1\r\nHost x\r\n\r\n", &["400"]),
    case("version 2", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", &["505"]),
    case("version 2, short", "GET / HTTP/2\r\nHost: x\r\n\r\n", &["505"]),
    case("version 1.9", "GET / HTTP/1.9\r\nHost: x\r\n\r\n", &["505"]),
    case("no such protocol", "GET / FTP/1.1\r\nHost: x\r\n\r\n", &["400"]),
    case("lengths differ", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 3\r\n\r\nhi", &["400"]),
    case("chunks and length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", &["400"]),
    case("chunks in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &["400"]),
    case("chunked not last", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", &["400"]),
    case("unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", &["501"]),
    case("unknown coding alone", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", &["501"]),
    case("bad chunk", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\ny", &["POST /", "x", "400"]),
    // Limits.
    case("long target", "GET /0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", &["431"]),
    case("too many headers", "GET / HTTP/1.1\r\nHost: x\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n", &["431"]),
    case("body at its limit", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n012345678901234567890123456789", &["POST /", "012345678901234567890123456789", "end"]),
    case("body past its limit", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 31\r\n\r\n0", &["413"]),
    case("chunks past the limit", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1f\r\n", &["POST /", "413"]),
    case("long trailer", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 45678901234567", &["POST /", "431"]),
];

fn short(told: &[Told]) -> Vec<String> {
    let word = |told: &Told| match told {
        Told::Request { line, keep_alive, expect_continue, .. } => {
            let flag = |on: bool, word: &'static str| if on { word } else { "" };
            format!("{line}{}{}", flag(!keep_alive, " last"), flag(*expect_continue, " expects"))
        }
        Told::Body(body) => String::from_utf8_lossy(body).into_owned(),
        Told::RequestEnd => "end".into(),
        Told::Error(status) => status.to_string(),
        other => panic!("{other:?} from a server"),
    };
    told.iter().map(word).collect()
}

fn tell(input: &str, cuts: &[usize]) -> (Vec<Told>, Vec<u8>) {
    let mut serving = Serving::new(LIMITS);
    let mut from = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        serving.receive(&input.as_bytes()[from..cut]);
        from = cut;
    }
    serving.end();
    (serving.told, serving.answers)
}

#[test]
fn requests_are_told_as_the_table_says_wherever_they_are_cut() {
    for case in CASES {
        let whole = tell(case.input, &[]);
        assert_eq!(short(&whole.0), case.told, "{}", case.name);
        for cut in 0..=case.input.len() {
            assert_eq!(tell(case.input, &[cut]), whole, "{} cut at {cut}", case.name);
        }
        let every: Vec<usize> = (0..case.input.len()).collect();
        assert_eq!(tell(case.input, &every), whole, "{} in single bytes", case.name);
    }
}

proptest! {
    #[test]
    fn nonsense_is_told_the_same_at_any_cuts(
        pieces in prop::collection::vec((0..CASES.len(), 0usize..150, 0usize..60), 1..5),
        mut cuts in prop::collection::vec(0usize..300, 0..8),
    ) {
        let mut input = String::new();
        for (number, from, len) in pieces {
            let text = CASES[number].input;
            let from = if input.is_empty() { 0 } else { from.min(text.len()) };
            input.push_str(&text[from..(from + len).min(text.len())]);
        }
        cuts.iter_mut().for_each(|cut| *cut %= input.len() + 1);
        cuts.sort_unstable();
        prop_assert_eq!(tell(&input, &cuts), tell(&input, &[]));
    }
}

/// Reads to the end; requests are not answered.
fn read(server: &mut Server, mut bytes: &[u8]) -> Option<u16> {
    let mut error = None;
    while let Some(event) = server.receive(&mut bytes) {
        if let ServerEvent::Error { status } = event {
            error = Some(status);
        }
    }
    error
}

fn respond(server: &mut Server, status: u16) -> String {
    let mut buffer = Vec::new();
    server.respond(&Response::new(status).unwrap().body(&b"x"[..]), &mut buffer);
    String::from_utf8(buffer).unwrap()
}

#[test]
fn pipelined_requests_are_answered_in_order_each_in_its_way() {
    let mut server = Server::new(Limits::DEFAULT);
    let input = b"GET / HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\n\
        GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n";
    assert_eq!(read(&mut server, input), None);
    assert_eq!(server.unanswered(), 4);
    assert_eq!(respond(&mut server, 200), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
    assert_eq!(respond(&mut server, 200), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    let kept = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\nx";
    assert_eq!(respond(&mut server, 200), kept);
    assert!(!server.is_finished());
    assert_eq!(
        respond(&mut server, 200),
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
    );
    assert!(server.is_finished());
    assert_eq!(respond(&mut server, 200), "", "nothing is left to answer");
}

#[test]
fn an_answer_that_closes_is_the_last_whatever_was_pipelined() {
    let mut server = Server::new(Limits::DEFAULT);
    let get = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(read(&mut server, &get.repeat(3)), None);
    let mut buffer = Vec::new();
    server.respond(&Response::new(503).unwrap().close(), &mut buffer);
    assert!(buffer.ends_with(b"Connection: close\r\n\r\n"));
    assert!(server.is_finished());
    assert_eq!((read(&mut server, get), server.unanswered()), (None, 0));
}

#[test]
fn a_request_may_be_answered_before_its_end() {
    let mut server = Server::new(Limits::DEFAULT);
    assert_eq!(read(&mut server, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nhi"), None);
    assert!(respond(&mut server, 200).ends_with("\r\n\r\nx"));
    assert_eq!(read(&mut server, b"hoGET / HTTP/1.1\r\nHost: x\r\n\r\n"), None);
    assert_eq!(server.unanswered(), 1);
}

#[test]
fn too_many_unanswered_requests_are_refused() {
    let mut server = Server::new(Limits::DEFAULT);
    let get = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(read(&mut server, &get.repeat(Server::MAX_UNANSWERED)), None);
    assert_eq!(read(&mut server, get), Some(503));
    for _ in 0..Server::MAX_UNANSWERED {
        assert!(respond(&mut server, 200).starts_with("HTTP/1.1 200"));
    }
    assert!(!server.is_finished());
    assert!(respond(&mut server, 503).contains("Connection: close"));
    assert!(server.is_finished());
}

#[test]
fn continue_goes_out_before_the_answer() {
    let mut server = Server::new(Limits::DEFAULT);
    let mut buffer = Vec::new();
    server.send_continue(&mut buffer);
    assert_eq!(buffer, b"HTTP/1.1 100 Continue\r\n\r\n");
}
