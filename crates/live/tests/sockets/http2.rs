//! Runs over HTTP/2: against the calibrated target, and against peers that do what few do.

use crate::harness::{Load, Ran, guarded, request};
use crate::scripted::Scripted;
use crate::served::{Serving, settings};
use crate::tls::{OK, answer_all};
use crate::tls_server::{Authority, GOOD, TlsStream, serve};
use headway_base::{Nanos, Outcome};
use headway_live::Protocols;
use headway_live::tls::TlsSetup;
use headway_wire::http1::Response;
use headway_wire::http2::PREFACE;
use headway_wire::http2::server::{Answer, Server, ServerEvent};
use headway_workload::target::{HttpVersion, Scheme};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn over_http2(load: Load) -> Load {
    Load { protocols: Protocols::new(Scheme::H2c, HttpVersion::Http2, Some(100), None), ..load }
}

fn opened(ran: &Ran) -> u64 {
    ran.report.workers.iter().map(|worker| worker.connections).sum()
}

fn spoke(ran: &Ran) -> Vec<(&'static str, u64)> {
    ran.report.workers.iter().flat_map(|worker| worker.spoke.clone()).collect()
}

#[test]
fn requests_under_way_at_once_share_a_connection() {
    guarded(|| {
        let target = Serving::new(headway_live::serve::Settings { servers: 100, ..settings("const(100ms)") });
        let ran = over_http2(Load::of(40)).run(&target.address).all(Outcome::Ok);
        assert_eq!((opened(&ran), spoke(&ran)), (1, vec![("HTTP/2", 1)]));
        // A request takes ten headways: so many are under way.
        for r in &ran.records {
            let service = r.done - r.sent.get().unwrap();
            assert!(service >= Nanos::from_millis(99) && r.status == 200, "{r:?}");
            assert!(r.bytes_received > 10 && r.bytes_sent > 9, "{r:?}");
        }
        let served = target.stop();
        assert_eq!((served.connections, served.requests, served.ok), (1, 40, 40));
    });
}

#[test]
fn a_timeout_costs_its_request_alone() {
    guarded(|| {
        let target = Serving::new(headway_live::serve::Settings { servers: 100, ..settings("const(1s)") });
        let ran = over_http2(Load::of(20)).patience(100).run(&target.address).all(Outcome::Timeout);
        assert_eq!(opened(&ran), 1);
        // Until all are due that the target has taken on.
        thread::sleep(Duration::from_millis(1_100));
        let served = target.stop();
        assert_eq!((served.connections, served.requests), (1, 20));
        assert_eq!(served.abandoned, 20, "each was reset");
    });
}

#[test]
fn a_connection_is_filled_before_another_is_opened_unless_requests_are_spread() {
    guarded(|| {
        let slow =
            || Serving::new(headway_live::serve::Settings { servers: 100, ..settings("const(200ms)") });
        let target = slow();
        let protocols = Protocols::new(Scheme::H2c, HttpVersion::Http2, Some(4), None);
        let ran = Load { protocols, ..Load::of(30) }.run(&target.address).all(Outcome::Ok);
        // Twenty are under way at once.
        assert!((5..=7).contains(&opened(&ran)), "{} connections", opened(&ran));
        let target = slow();
        let ran = over_http2(Load { spread: true, ..Load::of(30).connections(8) })
            .run(&target.address)
            .all(Outcome::Ok);
        assert_eq!(opened(&ran), 8);
        assert_eq!(target.stop().connections, 8);
    });
}

#[test]
fn large_bodies_go_both_ways_within_the_windows() {
    guarded(|| {
        let target =
            Serving::new(headway_live::serve::Settings { body_bytes: 3 << 20, ..settings("const(0s)") });
        let load = Load { request: request("POST", "/", vec![b'x'; 2 << 20]), ..Load::of(5) };
        let ran = over_http2(load).run(&target.address).all(Outcome::Ok);
        for r in &ran.records {
            assert!(r.bytes_sent > 2 << 20 && r.bytes_received > 3 << 20, "{r:?}");
        }
    });
}

/// Serves HTTP/2 by the calibrated target's state machine until the client closes.
pub fn serve_http2(stream: &mut (impl Read + Write)) {
    let mut server = Server::new(headway_wire::Limits::DEFAULT);
    let answer = Answer::of(&Response::new(200).unwrap().body(&b"hi"[..]));
    let (mut buffer, mut out) = (vec![0; 16 << 10], Vec::new());
    loop {
        while server.poll_transmit(&mut out) {
            if stream.write_all(&out).and_then(|()| stream.flush()).is_err() {
                return;
            }
            out.clear();
        }
        let Ok(n @ 1..) = stream.read(&mut buffer) else { return };
        let (mut bytes, mut ended) = (&buffer[..n], Vec::new());
        while let Some(event) = server.receive(&mut bytes) {
            if let ServerEvent::RequestEnd { stream } = event {
                ended.push(stream);
            }
        }
        for id in ended {
            server.respond(id, &answer);
        }
    }
}

/// The version is the target's choice of what is offered.
#[test]
fn tls_settles_the_version() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = |alpn: &[&[u8]]| {
            let mut config = Arc::unwrap_or_clone(authority.config(GOOD, rustls::ALL_VERSIONS));
            config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
            serve(Arc::new(config), |stream: &mut TlsStream| {
                let _ = stream.conn.complete_io(&mut stream.sock);
                match stream.conn.alpn_protocol() {
                    Some(b"h2") => serve_http2(stream),
                    _ => answer_all(stream),
                }
            })
        };
        let load = |version| Load {
            tls: Some(TlsSetup::with_roots("localhost", authority.roots()).unwrap()),
            protocols: Protocols::new(Scheme::Https, version, Some(100), None),
            ..Load::of(12)
        };
        use HttpVersion::{Any, Http1, Http2};
        let cases: [(&[&[u8]], HttpVersion, &str); 6] = [
            (&[b"h2", b"http/1.1"], Any, "HTTP/2"),
            (&[b"http/1.1"], Any, "HTTP/1.1"),
            (&[], Any, "HTTP/1.1"),
            (&[b"h2", b"http/1.1"], Http1, "HTTP/1.1"),
            (&[b"h2", b"http/1.1"], Http2, "HTTP/2"),
            (&[], Http1, "HTTP/1.1"),
        ];
        for (speaks, asked, expected) in cases {
            let target = target(speaks);
            let ran = load(asked).run(&target.address).all(Outcome::Ok);
            let spoken: Vec<&str> = spoke(&ran).into_iter().map(|(name, _)| name).collect();
            assert_eq!(spoken, [expected], "{asked:?}");
            assert_eq!(ran.records[0].bytes_received == OK.len() as u64, expected == "HTTP/1.1");
        }
        // A target that speaks HTTP/1.1 alone, asked for HTTP/2 alone.
        let target = target(&[]);
        load(Http2).run(&target.address).all(Outcome::Tls).says("does not speak HTTP/2");
    });
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A server by hand: says hello, and gives the stream of each request that comes to `answer`, which says what to send, and
/// whether to close then.
fn by_hand(answer: impl Fn(usize, u32) -> (Vec<u8>, bool) + Send + Sync + 'static) -> Scripted {
    Scripted::new(move |_, mut tcp: TcpStream| {
        let mut preface = [0; 24];
        if tcp.read_exact(&mut preface).is_err() || preface != *PREFACE {
            return;
        }
        let _ = tcp.write_all(&[frame(4, 0, 0, &[]), frame(4, 1, 0, &[])].concat());
        let mut requests = 0;
        loop {
            let mut head = [0; 9];
            if tcp.read_exact(&mut head).is_err() {
                return;
            }
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            if tcp.read_exact(&mut payload).is_err() {
                return;
            }
            if head[3] != 1 {
                continue;
            }
            let (bytes, closes) = answer(requests, u32::from_be_bytes([head[5], head[6], head[7], head[8]]));
            requests += 1;
            let _ = tcp.write_all(&bytes);
            if closes {
                return;
            }
        }
    })
}

/// `:status: 200`, and the end.
fn ok(stream: u32) -> Vec<u8> {
    frame(1, 5, stream, &[0x88])
}

#[test]
fn a_goaway_loses_no_request() {
    guarded(|| {
        let target = by_hand(|n, stream| {
            // The third is the last, it says, and answers it.
            let last = [&stream.to_be_bytes()[..], &[0; 4]].concat();
            if n == 2 { ([frame(7, 0, 0, &last), ok(stream)].concat(), true) } else { (ok(stream), false) }
        });
        let ran = over_http2(Load::of(12)).run(&target.address).all(Outcome::Ok);
        assert_eq!((opened(&ran), target.accepted()), (4, 4));
    });
}

/// As nginx does at `keepalive_requests`: GOAWAY with the last stream that it serves, while others are under way already.
#[test]
fn what_a_goaway_leaves_out_is_sent_again() {
    guarded(|| {
        for method in ["GET", "POST"] {
            let came = AtomicUsize::new(0);
            // Four are under way at once when the first one turns out to be the last.
            let target = by_hand(move |_, stream| match came.fetch_add(1, Ordering::Relaxed) {
                0..3 => (Vec::new(), false),
                3 => {
                    let last = [&1u32.to_be_bytes()[..], &[0; 4]].concat();
                    ([frame(7, 0, 0, &last), ok(1)].concat(), true)
                }
                _ => (ok(stream), false),
            });
            let load = Load { rate: 1_000.0, length: Nanos::from_millis(4), ..Load::default() };
            let load = Load { request: request(method, "/", b"body".to_vec()), ..load };
            let ran = over_http2(load).patience(2_000).run(&target.address).all(Outcome::Ok);
            assert_eq!((ran.records.len(), ran.attempts.len(), opened(&ran)), (4, 6, 2));
            // Each was sent twice: it came back, and was answered.
            for last in ran.attempts.iter().filter(|row| row.attempt == 1) {
                let row = ran.records.iter().find(|r| r.k == last.k).unwrap();
                assert_eq!(
                    (last.outcome, last.done, last.connection),
                    (Outcome::Ok, row.done, row.connection)
                );
                assert!(last.sent.get() > row.sent.get(), "{last:?}");
            }
            for attempt in ran.attempts.iter().filter(|row| row.attempt == 0) {
                assert_eq!(attempt.outcome, Outcome::RefusedStream);
                let row = ran.records.iter().find(|r| r.k == attempt.k).unwrap();
                assert_eq!((row.started, row.sent), (attempt.started, attempt.sent));
                assert!(row.done > attempt.done && row.connection != attempt.connection, "{row:?}");
            }
        }
    });
}

#[test]
fn refused_streams_are_sent_again_and_at_last_an_outcome_of_their_own() {
    guarded(|| {
        let refused = |stream| frame(3, 0, stream, &7u32.to_be_bytes());
        // Every other one of a connection comes back.
        let target = by_hand(move |n, stream| (if n % 2 == 0 { refused(stream) } else { ok(stream) }, false));
        let ran = over_http2(Load::of(12)).run(&target.address);
        let outcomes = ran.outcomes();
        assert!(outcomes[&Outcome::Ok] >= 10, "{outcomes:?}");
        assert!(ran.attempts.len() >= 12 && opened(&ran) >= 2, "{} {}", ran.attempts.len(), opened(&ran));
        // All of them do.
        let target = by_hand(move |_, stream| (refused(stream), false));
        let ran = over_http2(Load::of(12)).run(&target.address).all(Outcome::RefusedStream);
        assert_eq!(ran.says("REFUSED_STREAM").attempts.len(), 36);
    });
}

#[test]
fn what_breaks_the_protocol_ends_its_connection() {
    guarded(|| {
        // A PING of seven bytes.
        let target = by_hand(|_, _| (frame(6, 0, 0, &[0; 7]), false));
        let ran = over_http2(Load::of(6)).run(&target.address).all(Outcome::Protocol).says("HTTP/2");
        assert_eq!(opened(&ran), 6);
        // Nothing of HTTP/2 at all.
        let target = Scripted::answering(OK);
        over_http2(Load::of(4)).patience(500).run(&target.address).all(Outcome::Protocol);
        // A server that closes at once.
        let target = by_hand(|_, _| (Vec::new(), true));
        over_http2(Load::of(4)).run(&target.address).all(Outcome::Reset);
    });
}
