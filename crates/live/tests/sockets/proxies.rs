//! Through a proxy: as it should be, and as it goes wrong, each time with the proxy named.

use crate::harness::{Load, guarded};
use crate::http2::serve_http2;
use crate::scripted::{Scripted, read_request, read_to_end, reset, send_last};
use crate::served::{Serving, settings};
use crate::tls::{OK, answer_all, load};
use crate::tls_server::{Authority, GOOD, TlsStream, serve};
use headway_base::{KnownFailure, Nanos, Outcome};
use headway_live::{Address, Protocols};
use headway_workload::connect::Proxy;
use headway_workload::target::{HttpVersion, Scheme};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const MADE: &str = "HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n";

/// What each connection to a proxy began with.
type Heads = Arc<Mutex<Vec<String>>>;

/// One of that name; its address is given to the run.
fn proxy(login: &str) -> Option<(Proxy, HttpVersion)> {
    Some((Proxy::parse(&format!("http://{login}proxy.test:3128")).unwrap(), HttpVersion::Any))
}

/// The head of a request.
fn head(stream: &mut TcpStream) -> Option<String> {
    let (mut byte, mut head) = ([0], Vec::new());
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

fn of_tcp(address: &Address) -> SocketAddr {
    let Address::Tcp(address) = address else { panic!("{address}") };
    *address
}

/// Makes tunnels to that address after `late`, whatever it is asked for, and says `made` in the same segment as `first`.
fn tunnels(target: &Address, late: Duration, made: &'static str, first: &'static str) -> (Scripted, Heads) {
    let (target, heads) = (of_tcp(target), Heads::default());
    let seen = heads.clone();
    let proxy = Scripted::new(move |_, mut stream| {
        let Some(head) = head(&mut stream) else { return };
        seen.lock().unwrap().push(head);
        thread::sleep(late);
        let there = TcpStream::connect(target).unwrap();
        stream.write_all([made, first].concat().as_bytes()).unwrap();
        let copy = |mut from: TcpStream, mut to: TcpStream| {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        };
        let (from, to) = (stream.try_clone().unwrap(), there.try_clone().unwrap());
        let back = thread::spawn(move || copy(there, stream));
        copy(from, to);
        back.join().unwrap();
    });
    (proxy, heads)
}

#[test]
fn a_proxy_is_given_requests_without_tls_whole() {
    guarded(|| {
        let heads = Heads::default();
        let seen = heads.clone();
        let target = Scripted::new(move |_, mut stream| {
            while let Some(head) = head(&mut stream) {
                seen.lock().unwrap().push(head);
                if stream.write_all(OK).is_err() {
                    return;
                }
            }
        });
        let load = Load { proxy: proxy("me:p%40ss@"), ..Load::of(12) };
        load.connections(1).run(&target.address).all(Outcome::Ok);
        let heads = heads.lock().unwrap();
        assert_eq!((heads.len(), target.accepted()), (12, 1));
        for head in heads.iter() {
            assert!(head.starts_with("GET http://localhost:1/ HTTP/1.1\r\nHost: localhost:1\r\n"), "{head}");
            assert!(head.contains("\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n"), "{head}");
        }
    });
}

#[test]
fn tls_goes_through_a_tunnel_whose_time_is_that_of_the_connection() {
    guarded(|| {
        let authority = Authority::new("ours");
        let inside = Heads::default();
        let seen = inside.clone();
        let target = authority.server(GOOD, move |stream| {
            let mut head = [0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut head) {
                seen.lock().unwrap().push(String::from_utf8_lossy(&head[..n]).into_owned());
                if stream.write_all(OK).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        });
        const LATE: i64 = 60;
        let (tunnels, heads) = tunnels(&target.address, Duration::from_millis(LATE as u64), MADE, "");
        let load = Load { proxy: proxy("me:p%40ss@"), ..load(&authority, "localhost") };
        let ran = load.connections(1).run(&tunnels.address).all(Outcome::Ok);
        let heads = heads.lock().unwrap();
        assert_eq!(heads.len(), 1, "one tunnel serves many requests");
        assert!(heads[0].starts_with("CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n"), "{heads:?}");
        assert!(heads[0].contains("\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n"), "{heads:?}");
        let inside = inside.lock().unwrap().concat();
        assert!(inside.starts_with("GET / HTTP/1.1\r\nHost: localhost:1\r\n"), "{inside}");
        assert!(!inside.to_lowercase().contains("proxy"), "the target is told of the proxy: {inside}");
        let r = ran.records[0];
        let (connect, tls) = (r.connect.get().unwrap(), r.tls.get().unwrap());
        assert!(connect >= Nanos::from_millis(LATE) && tls > Nanos::ZERO, "{r:?}");
        assert!(connect + tls <= r.sent.get().unwrap() - r.started.get().unwrap(), "{r:?}");
        assert!(ran.records[1..].iter().all(|r| r.reused && !r.connect.is_some()));
    });
}

#[test]
fn the_version_of_http_is_agreed_on_through_the_tunnel() {
    guarded(|| {
        let authority = Authority::new("ours");
        let mut config = Arc::unwrap_or_clone(authority.config(GOOD, rustls::ALL_VERSIONS));
        config.alpn_protocols = vec![b"h2".to_vec()];
        let target = serve(Arc::new(config), |stream: &mut TlsStream| {
            let _ = stream.conn.complete_io(&mut stream.sock);
            serve_http2(stream);
        });
        let (tunnels, _) = tunnels(&target.address, Duration::ZERO, MADE, "");
        let protocols = Protocols::new(Scheme::Https, HttpVersion::Any, Some(100), None);
        let load = Load { proxy: proxy(""), protocols, ..load(&authority, "localhost") };
        let ran = load.run(&tunnels.address).all(Outcome::Ok);
        assert!(ran.report.workers.iter().all(|worker| worker.spoke.keys().eq(["HTTP/2"].iter())));
    });
}

#[test]
fn http2_without_tls_and_plain_bytes_go_through_a_tunnel() {
    guarded(|| {
        let target = Serving::new(settings("const(1ms)"));
        let (tunnels_to_it, heads) = tunnels(&target.address, Duration::ZERO, MADE, "");
        let (proxy_of, _) = proxy("").unwrap();
        let load = Load {
            proxy: Some((proxy_of, HttpVersion::Http2)),
            protocols: Protocols::new(Scheme::Http, HttpVersion::Http2, Some(100), None),
            ..Load::of(12)
        };
        load.run(&tunnels_to_it.address).all(Outcome::Ok);
        let heads = heads.lock().unwrap();
        assert!(heads.iter().all(|head| head.starts_with("CONNECT localhost:1 HTTP/1.1\r\n")), "{heads:?}");

        let echo = Scripted::new(|_, mut stream| {
            let mut two = [0; 2];
            while stream.read_exact(&mut two).is_ok() && stream.write_all(&two).is_ok() {}
        });
        let (tunnels_to_it, _) = tunnels(&echo.address, Duration::ZERO, MADE, "");
        let load = Load { proxy: proxy(""), ..Load::of(12) }.of_bytes(Scheme::Tcp, b"hi", Some("bytes:2"));
        let ran = load.run(&tunnels_to_it.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.bytes_received == 2));
    });
}

/// What the target says first may come with the head of the proxy: it is read as after a direct connection.
#[test]
fn what_comes_with_the_head_is_read_where_the_target_may_speak_first() {
    guarded(|| {
        let mute = Scripted::new(|_, mut stream| read_to_end(&mut stream));
        let (tunnels, _) = tunnels(&mute.address, Duration::ZERO, MADE, "220 ready\r\n");
        let load = Load { proxy: proxy(""), ..Load::of(12) };
        let load = load.of_bytes(Scheme::Tcp, b"hi", Some("until:\\r\\n")).connections(12);
        let ran = load.patience(150).run(&tunnels.address);
        assert!(
            ran.records.iter().any(|r| r.outcome == Outcome::Ok && r.bytes_received == 11),
            "{:?}",
            ran.outcomes()
        );
        // Where the client speaks first, nobody but the proxy can have said it.
        let authority = Authority::new("ours");
        let load = Load { proxy: proxy(""), ..crate::tls::load(&authority, "localhost") };
        let ran =
            load.run(&tunnels.address).all(Outcome::Protocol).says("more than the head of its response");
        assert_eq!(ran.kinds(), [(Some(KnownFailure::ProxySurplus), 12)]);
    });
}

#[test]
fn a_tunnel_that_is_not_made_is_told_as_what_the_proxy_says() {
    guarded(|| {
        let authority = Authority::new("ours");
        let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "b".repeat(70_000));
        use KnownFailure::{ProxyAuthentication, ProxyClosed, ProxyForbids, ProxyNoTarget, ProxyNotHttp};
        for (answer, outcome, kind, says) in [
            (
                "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno",
                Outcome::Refused,
                ProxyAuthentication,
                "answered CONNECT: status 407",
            ),
            (
                "HTTP/1.1 401 No\r\n\r\n",
                Outcome::Refused,
                ProxyAuthentication,
                "answered CONNECT: status 401",
            ),
            ("HTTP/1.1 500 No\r\n\r\n", Outcome::Refused, ProxyNoTarget, "answered CONNECT: status 500"),
            ("HTTP/1.1 403 No\r\n\r\n", Outcome::Refused, ProxyForbids, "answered CONNECT: status 403"),
            ("HTTP/1.1 301 No\r\nLocation: /\r\n\r\n", Outcome::Refused, ProxyForbids, "status 301"),
            ("HTTP/1.0 502 No\r\n\r\n", Outcome::Refused, ProxyNoTarget, "status 502"),
            ("HTTP/1.0 504 No\r\n\r\n", Outcome::Refused, ProxyNoTarget, "status 504"),
            (
                "SSH-2.0-OpenSSH_9.9\r\n",
                Outcome::Protocol,
                ProxyNotHttp,
                "does not begin with an HTTP/1.x status line",
            ),
            (
                "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
                Outcome::Protocol,
                ProxyNotHttp,
                "a header line is malformed",
            ),
            ("\x15\x03\x03\0\x02\x02\x46", Outcome::Protocol, ProxyNotHttp, "TLS alert"),
            (&long, Outcome::TooLarge, ProxyNotHttp, "too large"),
            ("", Outcome::Reset, ProxyClosed, "gave no complete response to CONNECT: closed by it"),
            ("HTTP/1.1 200 OK\r\nA:", Outcome::Reset, ProxyClosed, "closed by it"),
        ] {
            let target = Scripted::answering_once(answer);
            let load = Load { proxy: proxy("me:hunter2@"), ..load(&authority, "localhost") };
            let ran = load.run(&target.address).all(outcome).says(says).says("the proxy 127.0.0.1:");
            assert_eq!(ran.kinds(), [(Some(kind), 12)], "{answer:?}");
            assert!(ran.records.iter().all(|r| r.started.is_some() && !r.sent.is_some() && r.status == 0));
            assert!(!ran.messages().contains("hunter2"), "{}", ran.messages());
        }
        let target = Scripted::new(|_, mut stream| {
            read_request(&mut stream);
            reset(stream);
        });
        let load = Load { proxy: proxy(""), ..load(&authority, "localhost") };
        let ran = load.run(&target.address).all(Outcome::Reset).says("reset by peer");
        assert_eq!(ran.kinds(), [(Some(ProxyClosed), 12)]);
    });
}

/// The answer may come byte by byte, and the tunnel stands all the same.
#[test]
fn the_head_of_the_proxy_may_come_in_pieces() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| {
            read_request(&mut stream);
            for byte in MADE.as_bytes() {
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_micros(200));
            }
            let mut two = [0; 2];
            while stream.read_exact(&mut two).is_ok() && stream.write_all(&two).is_ok() {}
        });
        let load = Load { proxy: proxy(""), ..Load::of(12) }.of_bytes(Scheme::Tcp, b"hi", Some("bytes:2"));
        load.run(&target.address).all(Outcome::Ok);
    });
}

#[test]
fn a_proxy_that_is_not_there_or_silent_is_named() {
    guarded(|| {
        let bound = TcpListener::from(
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None)
                .unwrap(),
        );
        rustix::net::bind(&bound, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        let nobody = Address::Tcp(bound.local_addr().unwrap());
        let authority = Authority::new("ours");
        for load in [Load::of(12), load(&authority, "localhost")] {
            let load = Load { proxy: proxy(""), ..load };
            let ran = load.run(&nobody).all(Outcome::Refused).says("connecting to the proxy 127.0.0.1:");
            assert_eq!(ran.kinds(), [(Some(KnownFailure::ProxyRefused), 12)]);
        }
        for begins in ["", "HTTP/1.1 200 OK\r\n"] {
            let silent = Scripted::new(move |_, mut stream| {
                let _ = stream.write_all(begins.as_bytes());
                read_to_end(&mut stream);
            });
            let load = Load { proxy: proxy(""), ..load(&authority, "localhost") };
            let ran = load.patience_to_connect(100).run(&silent.address).all(Outcome::ConnectTimeout);
            assert_eq!(ran.kinds(), [(Some(KnownFailure::ProxyUnanswered), 12)], "{}", ran.messages());
        }
    });
}

#[test]
fn a_proxy_that_fails_requests_without_tls_is_named() {
    guarded(|| {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi";
        let asks =
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        for (answer, outcome, kind) in [
            (asks, Outcome::Status, Some(KnownFailure::ProxyAuthentication)),
            ("", Outcome::Reset, Some(KnownFailure::ProxyClosed)),
            (half, Outcome::Reset, Some(KnownFailure::Reset)),
            ("SSH-2.0-OpenSSH_9.9\r\n", Outcome::Protocol, Some(KnownFailure::ProxyNotHttp)),
            ("\x15\x03\x03\0\x02\x02\x46", Outcome::Protocol, Some(KnownFailure::ProxyNotHttp)),
            ("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", Outcome::Status, None),
        ] {
            let target = Scripted::new(move |_, mut stream| {
                if read_request(&mut stream) {
                    send_last(&stream, answer.as_bytes());
                }
            });
            let ran = Load { proxy: proxy(""), ..Load::of(12) }.run(&target.address).all(outcome);
            assert_eq!(ran.kinds(), [(kind, 12)], "{answer:?}");
        }
    });
}

/// Status 407 of a target that is asked directly says nothing of a proxy.
#[test]
fn without_a_proxy_none_is_blamed() {
    guarded(|| {
        let target = Scripted::answering("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n");
        let ran = Load::of(12).run(&target.address).all(Outcome::Status);
        assert_eq!(ran.kinds(), [(None, 12)]);
    });
}

/// TLS that goes wrong behind the tunnel is the target's.
#[test]
fn what_goes_wrong_behind_the_tunnel_is_not_the_proxys() {
    guarded(|| {
        let authority = Authority::new("ours");
        let other = Authority::new("theirs");
        let target = other.server(GOOD, answer_all);
        let (tunnels, _) = tunnels(&target.address, Duration::ZERO, MADE, "");
        let load = Load { proxy: proxy(""), ..load(&authority, "localhost") };
        let ran = load.run(&tunnels.address).all(Outcome::Tls);
        assert_eq!(ran.kinds(), [(Some(KnownFailure::CertificateUntrusted), 12)]);
    });
}
