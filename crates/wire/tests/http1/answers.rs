//! Answers as a client sees them.

use headway_base::Nanos;
use headway_wire::http1::Client;
use headway_wire::{ClientConnection, Event, Limit, Limits, Opened, ProtocolError, Request, ResetReason};
use proptest::prelude::*;

use crate::told::{Asking, Told};

const LIMITS: Limits = Limits { head_bytes: 120, headers: 4, body_bytes: 30, trailer_bytes: 16 };

fn get() -> Request {
    Request::builder("GET", "a", "/").build().unwrap()
}

/// What is told of these bytes followed by the end of the connection, in a short notation. A first request is asked
/// before them, a second one at the bar.
struct Case {
    name: &'static str,
    method: &'static str,
    input: &'static str,
    told: &'static [&'static str],
}

const fn case(
    name: &'static str,
    method: &'static str,
    input: &'static str,
    told: &'static [&'static str],
) -> Case {
    Case { name, method, input, told }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"; // 40 bytes

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Ends of bodies.
    case("length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &["200", "hi", "end 40", "closed"]),
    case("two in a row", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi¦HTTP/1.1 404 \r\nContent-Length: 1\r\n\r\n!", &["200", "hi", "end 40", "404", "!", "end 37", "go away"]),
    case("bare line feeds", "GET", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", &["200", "hi", "end 37", "closed"]),
    case("no reason", "GET", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", &["200", "end 35", "closed"]),
    case("chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x=y\r\n ho\r\n0\r\nA: b\r\n\r\n", &["200", "hi ho", "end 77", "closed"]),
    case("until the end", "GET", "HTTP/1.1 200 OK\r\n\r\nhello", &["200", "hello", "end 24"]),
    case("nothing until the end", "GET", "HTTP/1.1 200 OK\r\n\r\n", &["200", "end 19"]),
    case("unknown coding until the end", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nhello", &["200", "hello", "end 58"]),
    case("coding before chunked", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", &["200", "x", "end 64", "closed"]),
    case("chunks beat length, then closed", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", &["200", "x", "end 77", "go away"]),
    case("chunks in 1.0, then closed", "GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", &["200", "x", "end 82", "go away"]),
    case("answer nobody asked for", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &["200", "hi", "end 40", "go away"]),
    case("body nobody asked for", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &["200", "end 38", "go away"]),
    // No body, whatever the head says.
    case("HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n¦HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &["200", "end 38", "200", "end 47", "go away"]),
    case("HEAD of something huge", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", &["200", "end 40", "closed"]),
    case("204 and 304", "GET", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n¦HTTP/1.1 304 Same\r\nContent-Length: 7\r\n\r\n", &["204", "end 38", "304", "end 40", "go away"]),
    // Informational answers.
    case("100 and 103", "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &["200", "hi", "end 93", "closed"]),
    case("informational only", "GET", "HTTP/1.1 100 Continue\r\n\r\n", &["closed"]),
    case("100 closes nothing", "GET", "HTTP/1.1 100 C\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &["200", "end 75", "closed"]),
    case("101", "GET", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", &["upgrade"]),
    case("endless 100", "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", &["large head"]),
    // Whether the connection goes on.
    case("close", "GET", "HTTP/1.1 200 OK\r\nConnection: a, Close\r\nContent-Length: 0\r\n\r\n", &["200", "end 60", "go away"]),
    case("1.0 closes", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", &["200", "end 38", "go away"]),
    case("1.0 kept alive", "GET", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", &["200", "end 62", "closed"]),
    case("bytes after close", "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\nHTTP", &["200", "end 57", "go away"]),
    // Cut short.
    case("nothing", "GET", "", &["closed"]),
    case("part of a head", "GET", "HTTP/1.1 200 OK\r\nA: b\r\n", &["closed"]),
    case("part of a body", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", &["200", "hi", "closed"]),
    case("part of a chunk", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhi", &["200", "hi", "closed"]),
    case("no last chunk", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", &["200", "hi", "closed"]),
    // Malformed.
    case("another protocol", "GET", "SSH-2.0-OpenSSH_9.6\r\n", &["status line"]),
    case("alert of TLS", "GET", "\x15\x03\x03\0\x02\x02\x46", &["tls alert"]),
    case("begins like one", "GET", "\x15\x04\x03\0\x02\x02\x46", &["status line"]),
    case("empty line first", "GET", "\r\nHTTP/1.1 200 OK\r\n\r\n", &["status line"]),
    case("lower case", "GET", "http/1.1 200 OK\r\n\r\n", &["status line"]),
    case("status of two digits", "GET", "HTTP/1.1 20 OK\r\n\r\n", &["status line"]),
    case("status of four digits", "GET", "HTTP/1.1 2000 OK\r\n\r\n", &["status line"]),
    case("status 099", "GET", "HTTP/1.1 099 OK\r\n\r\n", &["status line"]),
    case("version 2", "GET", "HTTP/2.0 200 OK\r\n\r\n", &["version"]),
    case("no version", "GET", "HTTP/ 200 OK\r\n\r\n", &["version"]),
    case("header without colon", "GET", "HTTP/1.1 200 OK\r\nA b\r\n\r\n", &["header"]),
    case("space before colon", "GET", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", &["header"]),
    case("folded header", "GET", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", &["200", "end 29"]),
    case("folded length", "GET", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 0\r\n\r\n", &["header"]),
    case("carriage return in value", "GET", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", &["header"]),
    case("NUL in value", "GET", "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", &["header"]),
    case("lengths differ", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi", &["content-length"]),
    case("lengths agree", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nhi", &["200", "hi", "end 62", "closed"]),
    case("negative length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhi", &["content-length"]),
    case("chunked twice", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", &["transfer-encoding"]),
    case("coding that changes nothing", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", &["200", "x", "end 68", "go away"]),
    case("chunks that change nothing after", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n1\r\nx\r\n0\r\n\r\n", &["200", "x", "end 68", "closed"]),
    case("coding beside a length", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", &["transfer-encoding"]),
    case("chunks with bare line feeds", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \nhi\n0\n\n", &["200", "hi", "end 56", "closed"]),
    case("empty coding", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", &["transfer-encoding"]),
    case("bad chunk size", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nx\r\n", &["200", "hi", "chunk size"]),
    case("bad chunk end", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi!", &["200", "hi", "chunk end"]),
    case("byte after the answer", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhi", &["200", "h", "end 39", "go away"]),
    // Limits.
    case("many headers", "GET", "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\nContent-Length: 0\r\n\r\n", &["200", "end 56", "closed"]),
    case("too many headers", "GET", "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\n\r\n", &["large headers"]),
    case("head at its limit", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: 456789012345678901234567890123456789012345678901234567890123456789012345678xx\r\n\r\n", &["200", "end 120", "closed"]),
    case("head past its limit", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: 4567890123456789012345678901234567890123456789012345678901234567890123456789xx\r\n\r\n", &["large head"]),
    case("endless status line", "GET", "HTTP/1.1 200 012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", &["large head"]),
    case("body at its limit", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n012345678901234567890123456789", &["200", "012345678901234567890123456789", "end 69", "closed"]),
    case("body past its limit", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n0123456789012345678901234567890", &["200", "large body"]),
    case("endless body at its limit", "GET", "HTTP/1.1 200 OK\r\n\r\n012345678901234567890123456789", &["200", "012345678901234567890123456789", "end 49"]),
    case("endless body past its limit", "GET", "HTTP/1.1 200 OK\r\n\r\n0123456789012345678901234567890", &["200", "012345678901234567890123456789", "large body"]),
    case("chunk past the limit", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1d\r\n012", &["200", "hi", "large body"]),
    case("endless trailer", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 45678901234567890", &["200", "large trailers"]),
];

fn short(told: &[Told]) -> Vec<String> {
    use ProtocolError as P;
    let reason = |reason| match reason {
        ResetReason::Closed => "closed",
        ResetReason::TooLarge(Limit::Head) => "large head",
        ResetReason::TooLarge(Limit::Headers) => "large headers",
        ResetReason::TooLarge(Limit::Body) => "large body",
        ResetReason::TooLarge(Limit::Trailers) => "large trailers",
        ResetReason::TooLarge(Limit::Datagram) => "of DNS",
        ResetReason::Protocol(error) => match error {
            P::StatusLine => "status line",
            P::TlsAlert => "tls alert",
            P::Version => "version",
            P::Header => "header",
            P::ContentLength => "content-length",
            P::TransferEncoding => "transfer-encoding",
            P::ChunkSize => "chunk size",
            P::ChunkEnd => "chunk end",
            P::Trailer => "trailer",
            P::Upgrade => "upgrade",
            P::Unsolicited => "unsolicited",
            P::Http2(_) | P::GoAway(_) | P::Flood => "of HTTP/2",
            P::Dns(_) => "of DNS",
            P::Resp(_) => "of Redis",
        },
        ResetReason::Refused(_) | ResetReason::ByPeer(_) => "of HTTP/2",
    };
    let word = |told: &Told| match told {
        Told::Head(status, _) => status.to_string(),
        Told::Body(body) => String::from_utf8_lossy(body).into_owned(),
        Told::End(bytes) => format!("end {bytes}"),
        Told::Reset(why) => reason(*why).into(),
        Told::GoAway => "go away".into(),
        other => panic!("{other:?} from a client"),
    };
    told.iter().map(word).collect()
}

/// What is told of an input cut at these offsets. Where it has a bar, a client that is free asks its next request.
fn tell_all(input: &str, cuts: &[usize], requests: &[Request]) -> Vec<Told> {
    let mut asking = Asking::new(LIMITS, requests);
    let mut start = 0;
    for part in input.split('¦') {
        let mut from = 0;
        for cut in cuts.iter().filter_map(|cut| cut.checked_sub(start)).filter(|&cut| cut <= part.len()) {
            asking.receive(&part.as_bytes()[from..cut]);
            from = cut;
        }
        asking.receive(&part.as_bytes()[from..]);
        asking.ask();
        start += part.len();
    }
    asking.end();
    asking.told
}

fn tell(case: &Case, cuts: &[usize]) -> Vec<Told> {
    let request = Request::builder(case.method, "a", "/").build().unwrap();
    tell_all(case.input, cuts, &[request.clone(), request])
}

#[test]
fn answers_are_told_as_the_table_says_wherever_they_are_cut() {
    for case in CASES {
        let whole = tell(case, &[]);
        assert_eq!(short(&whole), case.told, "{}", case.name);
        for cut in 0..=case.input.len() {
            assert_eq!(tell(case, &[cut]), whole, "{} cut at {cut}", case.name);
        }
        let every: Vec<usize> = (0..case.input.len()).collect();
        assert_eq!(tell(case, &every), whole, "{} in single bytes", case.name);
    }
}

proptest! {
    #[test]
    fn answers_are_told_the_same_at_any_cuts(number in 0..CASES.len(), mut cuts in prop::collection::vec(0usize..200, 0..8)) {
        let case = &CASES[number];
        cuts.iter_mut().for_each(|cut| *cut %= case.input.len() + 1);
        cuts.sort_unstable();
        prop_assert_eq!(tell(case, &cuts), tell(case, &[]));
    }

    /// Pieces of the corpus put together at random: mostly nonsense that begins well.
    #[test]
    fn nonsense_is_told_the_same_at_any_cuts(
        pieces in prop::collection::vec((0..CASES.len(), 0usize..200, 0usize..60), 1..5),
        mut cuts in prop::collection::vec(0usize..300, 0..8),
    ) {
        let mut input = String::new();
        for (number, from, len) in pieces {
            let text: Vec<char> = CASES[number].input.chars().collect();
            let from = if input.is_empty() { 0 } else { from.min(text.len()) };
            input.extend(&text[from..(from + len).min(text.len())]);
            if len % 2 == 0 {
                input.push('¦');
            }
        }
        let requests = [get(), get(), get()];
        cuts.iter_mut().for_each(|cut| *cut %= input.len() + 1);
        cuts.sort_unstable();
        prop_assert_eq!(tell_all(&input, &cuts, &requests), tell_all(&input, &[], &requests));
    }
}

#[test]
fn streams_are_one_at_a_time() {
    let mut client = Client::new(Limits::DEFAULT);
    for _ in 0..3 {
        assert_eq!(client.capacity(), 1);
        let Opened::Stream(stream) = client.open(&get().into()) else { panic!("blocked") };
        assert_eq!(stream.0, 0);
        assert_eq!(client.open(&get().into()), Opened::Blocked);
        assert_eq!((client.capacity(), client.bytes_sent(stream)), (1, 0));
        let mut sent = b"before".to_vec();
        assert!(client.poll_transmit(Nanos::ZERO, &mut sent));
        assert_eq!(sent, [b"before", &get().http1()[..]].concat());
        assert_eq!(client.bytes_sent(stream), get().http1().len() as u64);
        let mut bytes = OK.as_bytes();
        let mut ends = 0;
        while let Some(event) = client.receive(Nanos::ZERO, &mut bytes) {
            ends += u32::from(matches!(event, Event::End { bytes_received: 40, .. }));
        }
        assert_eq!(ends, 1);
    }
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn a_request_that_is_given_up_costs_the_connection() {
    let mut client = Client::new(Limits::DEFAULT);
    let Opened::Stream(stream) = client.open(&get().into()) else { panic!("blocked") };
    client.cancel(stream);
    assert_eq!((client.capacity(), client.open(&get().into())), (0, Opened::Closed));
    assert_eq!(client.receive(Nanos::ZERO, &mut OK.as_bytes()), None);
}

#[test]
fn a_request_that_closes_is_the_last() {
    let last = Request::builder("GET", "a", "/").header("Connection", "close").build().unwrap();
    let requests = [last, get()];
    let mut asking = Asking::new(LIMITS, &requests);
    assert_eq!(asking.client.capacity(), 0);
    asking.receive(OK.as_bytes());
    assert_eq!(short(&asking.told), ["200", "hi", "end 40"]);
    assert_eq!(asking.client.open(&get().into()), Opened::Closed);
}

#[test]
fn bytes_that_nobody_asked_for_end_the_connection() {
    // Before the first request, between two, and before a request was handed over.
    let mut client = Client::new(LIMITS);
    assert_eq!(client.receive(Nanos::ZERO, &mut &b""[..]), None);
    assert_eq!(client.receive(Nanos::ZERO, &mut OK.as_bytes()), Some(Event::GoAway));
    assert_eq!((client.capacity(), client.open(&get().into())), (0, Opened::Closed));
    let mut more = OK.as_bytes();
    assert_eq!((client.receive(Nanos::ZERO, &mut more), more), (None, &b""[..]));
    assert_eq!(client.receive_end(Nanos::ZERO), None);

    let requests = [get()];
    let mut asking = Asking::new(LIMITS, &requests);
    asking.receive(&[OK, "!"].concat().into_bytes());
    asking.receive(b"more");
    asking.end();
    assert_eq!(short(&asking.told), ["200", "hi", "end 40", "go away"]);

    // Known at the end of the answer already, before anyone opens the next.
    let mut asking = Asking::new(LIMITS, &requests);
    let mut bytes = &[OK, "!"].concat().into_bytes()[..];
    while !matches!(asking.client.receive(Nanos::ZERO, &mut bytes), Some(Event::End { .. })) {}
    assert_eq!((bytes, asking.client.capacity()), (&b"!"[..], 0));
    assert_eq!(asking.client.open(&get().into()), Opened::Closed);

    let mut client = Client::new(LIMITS);
    let Opened::Stream(stream) = client.open(&get().into()) else { panic!("blocked") };
    let reason = ResetReason::Protocol(ProtocolError::Unsolicited);
    assert_eq!(client.receive(Nanos::ZERO, &mut OK.as_bytes()), Some(Event::Reset { stream, reason }));
    assert!(!client.poll_transmit(Nanos::ZERO, &mut Vec::new()), "nothing is sent on a dead connection");
}

#[test]
fn headers_of_a_head_in_pieces_are_those_of_a_whole_one() {
    let answer = b"HTTP/1.1 200 OK\r\nA: 1\r\nX-B:  two \r\nContent-Length: 0\r\n\r\n";
    let requests = [get()];
    for cut in 0..answer.len() {
        let mut asking = Asking::new(LIMITS, &requests);
        asking.receive(&answer[..cut]);
        asking.receive(&answer[cut..]);
        let headers = ["A=1", "X-B=two", "Content-Length=0"].map(String::from).to_vec();
        assert_eq!(asking.told, [Told::Head(200, headers), Told::End(answer.len() as u64)]);
    }
}

#[test]
fn a_body_is_borrowed_from_the_input() {
    let mut client = Client::new(Limits::DEFAULT);
    client.open(&get().into());
    client.poll_transmit(Nanos::ZERO, &mut Vec::new());
    let mut bytes = OK.as_bytes();
    assert!(matches!(client.receive(Nanos::ZERO, &mut bytes), Some(Event::Begun { .. })));
    assert!(matches!(client.receive(Nanos::ZERO, &mut bytes), Some(Event::Head { .. })));
    let Some(Event::Chunk { data, .. }) = client.receive(Nanos::ZERO, &mut bytes) else { panic!("no chunk") };
    assert_eq!(data.as_ptr(), OK[38..].as_ptr());
}
