//! TLS that goes wrong, each time for a reason that is told.

use crate::harness::{Load, guarded};
use crate::scripted::{Scripted, read_request, read_to_end, reset, send_last};
use crate::tls::{OK, answer_all, load};
use crate::tls_server::{Authority, Certificate, GOOD, TlsStream, serve};
use headway_base::{KnownFailure, Outcome};
use headway_live::tls::TlsSetup;
use headway_workload::connect::Tls;
use headway_workload::target::Scheme;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

#[test]
fn a_certificate_that_does_not_hold_is_refused_and_said_why() {
    guarded(|| {
        let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
        let expired = Certificate { expired: true, ..GOOD };
        let elsewhere = Certificate { name: "elsewhere.test", ..GOOD };
        for (authority, certificate, why) in [
            (&ours, expired, "expired"),
            (&ours, elsewhere, "elsewhere.test"),
            (&theirs, GOOD, "UnknownIssuer"),
        ] {
            let target = authority.server(certificate, answer_all);
            let ran = load(&ours, "localhost").run(&target.address).all(Outcome::Tls).says(why);
            assert!(ran.records.iter().all(|r| r.started.is_some() && !r.sent.is_some() && r.status == 0));
            let mut insecure = load(&ours, "localhost");
            insecure.tls = Some(TlsSetup::new("localhost", true, &Tls::default()).unwrap());
            insecure.run(&target.address).all(Outcome::Ok);
        }
    });
}

/// A certificate of an authority that is a server's own holds where it is the very one that was named.
#[test]
fn an_authority_that_is_its_own_server_is_trusted_if_it_is_named() {
    guarded(|| {
        let expired = Certificate { expired: true, ..GOOD };
        let elsewhere = Certificate { name: "elsewhere.test", ..GOOD };
        let (own, config) = Authority::of_itself(GOOD);
        let (another, _) = Authority::of_itself(GOOD);
        let (old, old_config) = Authority::of_itself(expired);
        let (named, named_config) = Authority::of_itself(elsewhere);
        for (trusted, config, why) in [
            (&own, &config, None),
            (&another, &config, Some("none that --cacert names")),
            (&old, &old_config, Some("expired")),
            (&named, &named_config, Some("elsewhere.test")),
        ] {
            let target = serve(config.clone(), answer_all);
            let tls = Tls { cacert: Some(trusted.pem()), ..Tls::default() };
            let mut load = load(trusted, "localhost");
            load.tls = Some(TlsSetup::new("localhost", false, &tls).unwrap());
            match why {
                None => drop(load.run(&target.address).all(Outcome::Ok)),
                Some(why) => drop(load.run(&target.address).all(Outcome::Tls).says(why)),
            }
        }
    });
}

#[test]
fn what_is_not_tls_is_a_tls_error() {
    guarded(|| {
        let authority = Authority::new("ours");
        for garbage in ["HTTP/1.1 400 Bad Request\r\n\r\n", "\0\0\0\0\0\0\0\0\0\0", "SSH-2.0-OpenSSH_9.9\r\n"]
        {
            let target = Scripted::new(move |_, mut stream| {
                stream.read_exact(&mut [0; 5]).unwrap();
                stream.write_all(garbage.as_bytes()).unwrap();
                read_to_end(&mut stream);
            });
            let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Tls);
            assert_eq!(ran.kinds(), [(Some(KnownFailure::WithoutTls), 12)], "{garbage:?}");
        }
        // A record of TLS that is malformed is TLS.
        let target = Scripted::new(move |_, mut stream| {
            stream.read_exact(&mut [0; 5]).unwrap();
            stream.write_all(b"\x16\x09\x09\0\x01x").unwrap();
            read_to_end(&mut stream);
        });
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Tls);
        assert_eq!(ran.kinds(), [(None, 12)]);
    });
}

#[test]
fn a_handshake_without_agreement_says_what_was_offered() {
    guarded(|| {
        let authority = Authority::new("ours");
        // Fatal alerts: handshake_failure and protocol_version.
        for (alert, said) in [(40, "HandshakeFailure"), (70, "ProtocolVersion")] {
            let target = Scripted::new(move |_, mut stream| {
                stream.read_exact(&mut [0; 5]).unwrap();
                stream.write_all(&[21, 3, 3, 0, 2, 2, alert]).unwrap();
                read_to_end(&mut stream);
            });
            let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Tls).says(said);
            ran.says("offered were TLS 1.3 and 1.2 with").says("for the name localhost");
        }
    });
}

/// The first byte tells, however few come with it.
#[test]
fn what_is_not_tls_may_come_byte_by_byte() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = Scripted::new(move |_, mut stream| {
            stream.read_exact(&mut [0; 5]).unwrap();
            for byte in b"HTTP/1.1 400 Bad Request\r\n\r\n" {
                // The other side may have seen enough.
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            read_to_end(&mut stream);
        });
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Tls);
        assert_eq!(ran.kinds(), [(Some(KnownFailure::WithoutTls), 12)]);
    });
}

/// Servers that expect TLS answer plain HTTP by an alert, or by a page of status 400.
#[test]
fn a_target_that_expects_tls_is_known_by_its_answer() {
    const NGINX: &str = "<title>400 The plain HTTP request was sent to HTTPS port</title>";
    fn page(body: &str) -> Vec<u8> {
        let length = body.len();
        format!("HTTP/1.1 400 Bad Request\r\nContent-Length: {length}\r\n\r\n{body}").into()
    }
    guarded(|| {
        let expected = Some(KnownFailure::TlsExpected);
        let far = format!("{}{NGINX}", " ".repeat(2_000));
        for (answer, outcome, kind) in [
            (b"\x15\x03\x03\0\x02\x02\x46".to_vec(), Outcome::Protocol, expected),
            (page(NGINX), Outcome::Status, expected),
            (page("Client sent an HTTP request to an HTTPS server.\n"), Outcome::Status, expected),
            (page("no such thing"), Outcome::Status, None),
            (page(&far), Outcome::Status, None),
            (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), Outcome::Protocol, None),
        ] {
            let target = Scripted::answering(answer);
            let ran = Load::of(12).run(&target.address).all(outcome);
            assert_eq!(ran.kinds(), [(kind, 12)]);
        }
    });
}

/// Others close the connection without a word, which a target may do later, too.
#[test]
fn a_connection_that_is_closed_without_a_word_is_told_from_one_that_breaks_off() {
    guarded(|| {
        let half: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi";
        for (answer, kind) in [(&b""[..], KnownFailure::ClosedUnanswered), (half, KnownFailure::Reset)] {
            let target = Scripted::answering_once(answer);
            let ran = Load::of(12).run(&target.address).all(Outcome::Reset);
            assert_eq!(ran.kinds(), [(Some(kind), 12)]);
        }
        let target = Scripted::answering_once("");
        let ran = Load::of(12).of_bytes(Scheme::Tcp, b"hi\r\n\r\n", Some("bytes:2")).run(&target.address);
        assert_eq!(ran.all(Outcome::Reset).kinds(), [(Some(KnownFailure::Reset), 12)]);
    });
}

/// The same page within TLS says nothing of the connection to this target.
#[test]
fn a_page_that_comes_through_tls_does_not_say_that_tls_is_expected() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = authority.server(GOOD, |stream| {
            let page = "HTTP/1.1 400 Bad Request\r\nContent-Length: 41\r\n\r\nplain HTTP request was sent to HTTPS port";
            while read_request(stream) && stream.write_all(page.as_bytes()).and_then(|()| stream.flush()).is_ok() {}
        });
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Status);
        assert_eq!(ran.kinds(), [(None, 12)]);
    });
}

#[test]
fn a_target_that_leaves_during_the_handshake_is_a_tls_error() {
    guarded(|| {
        let authority = Authority::new("ours");
        let leave: [fn(TcpStream); 3] = [
            // The end of the stream, then a reset for what is left unread.
            |stream| drop(stream.shutdown(Shutdown::Write)),
            |mut stream| {
                let _ = stream.read(&mut [0; 100]);
                reset(stream);
            },
            // The beginning of a record that never ends.
            |stream| send_last(&stream, b"\x16\x03\x03\x01\0"),
        ];
        for leave in leave {
            let target = Scripted::new(move |_, stream| leave(stream));
            load(&authority, "localhost").run(&target.address).all(Outcome::Tls).says("handshake");
        }
    });
}

#[test]
fn a_handshake_that_hangs_is_a_connect_timeout() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = Scripted::new(|_, mut stream| read_to_end(&mut stream));
        let brief = load(&authority, "localhost").patience_to_connect(100);
        let ran = brief.run(&target.address).all(Outcome::ConnectTimeout);
        assert!(ran.records.iter().all(|r| !r.sent.is_some()));
        assert_eq!(ran.kinds(), [(Some(KnownFailure::TlsUnanswered), 12)]);
        // A target that has begun to answer in TLS is only slow.
        let target = Scripted::new(|_, mut stream| {
            stream.write_all(b"\x16\x03\x03").unwrap();
            read_to_end(&mut stream);
        });
        let brief = load(&authority, "localhost").patience_to_connect(300);
        let ran = brief.run(&target.address).all(Outcome::ConnectTimeout);
        assert_eq!(ran.kinds(), []);
    });
}

/// Without the end of TLS, anybody on the way can have cut an answer short.
#[test]
fn an_answer_that_tcp_ends_is_not_complete() {
    guarded(|| {
        let authority = Authority::new("ours");
        for answer in
            ["HTTP/1.1 200 OK\r\n\r\nall of it?", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n", ""]
        {
            let target = authority.server(GOOD, move |stream| {
                read_request(stream);
                stream.write_all(answer.as_bytes()).and_then(|()| stream.flush()).unwrap();
                stream.sock.shutdown(Shutdown::Write).unwrap();
                read_to_end(&mut stream.sock);
            });
            load(&authority, "localhost")
                .run(&target.address)
                .all(Outcome::Reset)
                .says("without the end of TLS");
        }
    });
}

/// What TLS brings in one read: an answer, and after it something that is no TLS.
#[test]
fn an_answer_counts_that_came_before_tls_broke() {
    fn then_garbage(stream: &mut TlsStream, answer: &[u8]) {
        if !read_request(stream) {
            return;
        }
        stream.conn.writer().write_all(answer).unwrap();
        let mut out = Vec::new();
        while stream.conn.wants_write() {
            stream.conn.write_tls(&mut out).unwrap();
        }
        out.extend_from_slice(b"this is no record of TLS");
        stream.sock.write_all(&out).unwrap();
        read_to_end(&mut stream.sock);
    }
    guarded(|| {
        let authority = Authority::new("ours");
        let target = authority.server(GOOD, |stream| then_garbage(stream, OK));
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| !r.reused), "a connection that broke is not used again");
        let half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi";
        let target = authority.server(GOOD, |stream| then_garbage(stream, half));
        // The connection stood, and broke.
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Reset).says("TLS broke");
        assert!(ran.records.iter().all(|r| r.status == 200 && r.first_byte.is_some()));
    });
}

/// In TLS 1.3 the server can refuse the client after the client thinks that all is agreed.
#[test]
fn a_refusal_after_the_handshake_is_a_tls_error() {
    guarded(|| {
        let authority = Authority::new("ours");
        let target = authority.server(GOOD, |stream| {
            read_request(stream);
            stream.sock.write_all(b"\x17\x03\x03\0\x13this is not sealed.").unwrap();
            read_to_end(&mut stream.sock);
        });
        let ran = load(&authority, "localhost").run(&target.address).all(Outcome::Tls).says("decrypt");
        assert!(ran.records.iter().all(|r| r.sent.is_some() && !r.first_byte.is_some()));
    });
}
