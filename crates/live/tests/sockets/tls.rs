//! TLS as it should be.

use crate::harness::{Load, guarded, request};
use crate::scripted::{read_request, read_to_end};
use crate::tls_server::{Authority, GOOD, TlsStream, serve};
use headway_base::Outcome;
use headway_live::tls::TlsSetup;
use std::io::Write;
use std::sync::{Arc, Mutex};

pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// Twelve requests, verified for that name.
pub fn load(authority: &Authority, name: &str) -> Load {
    Load { tls: Some(TlsSetup::with_roots(name, authority.roots()).unwrap()), ..Load::of(12) }
}

/// Answers every request until the client closes.
pub fn answer_all(stream: &mut TlsStream) {
    while read_request(stream) && stream.write_all(OK).and_then(|()| stream.flush()).is_ok() {}
}

#[test]
fn one_handshake_serves_many_requests() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = authority.server(GOOD, answer_all);
        let ran = load(&authority, "localhost").connections(1).run(&target.address).all(Outcome::Ok);
        assert_eq!(target.accepted(), 1);
        for r in &ran.records {
            assert_eq!((r.tls.is_some(), r.connect.is_some(), r.reused), (r.k == 0, r.k == 0, r.k > 0));
            assert_eq!(r.bytes_received, OK.len() as u64, "bytes are counted before TLS");
        }
        let r = ran.records[0];
        let spans = r.connect.get().unwrap() + r.tls.get().unwrap();
        assert!(spans <= r.sent.get().unwrap() - r.started.get().unwrap(), "set-up lies between the stamps");
    });
}

#[test]
fn older_tls_is_spoken() {
    guarded(|| {
        let authority = Authority::new("ours");
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            let target = serve(authority.config(GOOD, &[version]), move |stream| {
                answer_all(stream);
                assert_eq!(stream.conn.protocol_version(), Some(version.version));
            });
            load(&authority, "localhost").run(&target.address).all(Outcome::Ok);
        }
    });
}

#[test]
fn bodies_larger_than_a_record_come_and_go() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = authority.server(GOOD, |stream| {
            while read_request(stream) {
                let mut body = vec![0; 3_000_000];
                if std::io::Read::read_exact(stream, &mut body).is_err() {
                    return;
                }
                assert!(body.iter().all(|&b| b == b'x'));
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let answer = [head.as_bytes(), &body].concat();
                if stream.write_all(&answer).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        });
        let request = request("POST", "/", vec![b'x'; 3_000_000]);
        let load = Load { request, ..load(&authority, "localhost") };
        let ran =
            Load { length: Load::of(4).length, ..load }.connections(2).run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.bytes_received > 3_000_000));
        assert!(target.accepted() <= 2);
    });
}

#[test]
fn names_are_indicated_and_addresses_are_not() {
    guarded(|| {
        let authority = Authority::new("ours");
        for (name, indicated) in [("localhost", Some("localhost")), ("127.0.0.1", None), ("::1", None)] {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let tell = seen.clone();
            let target = authority.server(crate::tls_server::Certificate { name, ..GOOD }, move |stream| {
                read_request(stream);
                tell.lock().unwrap().push(stream.conn.server_name().map(str::to_owned));
                stream.write_all(OK).and_then(|()| stream.flush()).unwrap();
                answer_all(stream);
            });
            load(&authority, name).connections(20).run(&target.address).all(Outcome::Ok);
            let seen = seen.lock().unwrap();
            assert!(!seen.is_empty() && seen.iter().all(|s| s.as_deref() == indicated), "{name}: {seen:?}");
        }
    });
}

/// Writes an answer and, in the same segment, that nothing follows; then leaves TCP open until the client closes it.
fn answer_and_say_the_end(stream: &mut TlsStream, answer: &[u8]) {
    if !read_request(stream) {
        return;
    }
    stream.conn.writer().write_all(answer).unwrap();
    stream.conn.send_close_notify();
    let mut out = Vec::new();
    while stream.conn.wants_write() {
        stream.conn.write_tls(&mut out).unwrap();
    }
    stream.sock.write_all(&out).unwrap();
    read_to_end(&mut stream.sock);
}

#[test]
fn the_end_of_tls_ends_the_connection_although_tcp_stays() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = authority.server(GOOD, |stream| answer_and_say_the_end(stream, OK));
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.tls.is_some() && !r.reused));
        assert_eq!(target.accepted(), 12);
    });
}

#[test]
fn the_end_of_tls_ends_an_answer_that_lasts_until_then() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target =
            authority.server(GOOD, |s| answer_and_say_the_end(s, b"HTTP/1.1 200 OK\r\n\r\nall of it"));
        load(&authority, "localhost").run(&target.address).all(Outcome::Ok);
        // Of one that says how long it is, it is the end too early.
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all of it";
        let target = authority.server(GOOD, |s| answer_and_say_the_end(s, cut));
        load(&authority, "localhost").run(&target.address).all(Outcome::Reset).says("closed before");
        let target = authority.server(GOOD, |s| answer_and_say_the_end(s, b""));
        load(&authority, "localhost").run(&target.address).all(Outcome::Reset);
    });
}
