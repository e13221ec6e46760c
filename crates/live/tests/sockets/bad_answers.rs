//! Targets that take the request and then answer badly, oddly, or never.

use crate::harness::{Load, Ran, guarded, request};
use crate::scripted::{Scripted, read_request, read_to_end, reset, send_last};
use headway_base::{Nanos, Outcome};
use std::io::Write;
use std::net::Shutdown;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// Twelve requests to a target that answers each with these bytes and keeps the connection.
fn kept(answer: impl Into<Vec<u8>> + Send + 'static, outcome: Outcome) -> (Ran, usize) {
    guarded(move || {
        let target = Scripted::answering(answer);
        let ran = Load::of(12).connections(3).run(&target.address).all(outcome);
        (ran, target.accepted())
    })
}

/// Twelve requests to a target that answers one on each connection, and closes it in the same segment.
fn closed(answer: impl Into<Vec<u8>> + Send + 'static, outcome: Outcome) -> Ran {
    guarded(move || {
        let target = Scripted::answering_once(answer);
        let ran = Load::of(12).run(&target.address).all(outcome);
        assert_eq!(target.accepted(), 12);
        ran
    })
}

#[test]
fn a_good_answer_is_good() {
    let (_, connections) = kept(OK, Outcome::Ok);
    assert!(connections <= 3);
}

#[test]
fn answers_whose_end_is_the_end_of_the_connection() {
    closed("HTTP/1.0 200 OK\r\n\r\nas long as it takes", Outcome::Ok);
    closed("HTTP/1.1 200 OK\r\n\r\n", Outcome::Ok);
    closed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", Outcome::Ok);
}

/// Data and end of stream come in one edge; the connection looked reusable until then.
#[test]
fn a_target_that_closes_idle_connections_costs_nothing_but_new_ones() {
    let ran = closed(OK, Outcome::Ok);
    assert!(ran.records.iter().all(|r| !r.reused && r.connect.is_some()));
}

/// The same with a request always waiting for the connection: it must not go out between the answer and the end. Now
/// and then the end comes just after the look at the socket, so that it does; but not as a rule.
#[test]
fn what_waits_does_not_go_out_on_a_connection_that_ends() {
    guarded(|| {
        let target = Scripted::answering_once(OK);
        let load = Load { rate: 100_000.0, length: Nanos::from_millis(1), ..Load::default() };
        let ran = load.connections(1).run(&target.address);
        let outcomes = ran.outcomes();
        let ok = outcomes[&Outcome::Ok];
        assert!(ok >= 90, "{outcomes:?}");
        assert_eq!(ok + outcomes.get(&Outcome::Reset).copied().unwrap_or(0), 100);
        assert_eq!(target.accepted(), ok);
    });
}

#[test]
fn connection_close_is_believed_although_the_target_does_not_close() {
    let (_, connections) =
        kept("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", Outcome::Ok);
    assert_eq!(connections, 12);
}

#[test]
fn informational_answers_come_before_the_answer() {
    let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
    let (ran, _) = kept([early.as_bytes(), OK].concat(), Outcome::Ok);
    assert!(ran.records.iter().all(|r| r.status == 200));
    // They are no answer.
    let ran = closed("HTTP/1.1 100 Continue\r\n\r\n", Outcome::Reset);
    assert!(ran.records.iter().all(|r| r.status == 0));
}

#[test]
fn what_comes_after_the_answer_bars_the_connection() {
    let (_, connections) = kept([OK, b"x"].concat(), Outcome::Ok);
    assert_eq!(connections, 12);
    let (_, connections) = kept([OK, OK].concat(), Outcome::Ok);
    assert_eq!(connections, 12);
}

#[test]
fn an_answer_cut_short_is_a_reset() {
    closed("", Outcome::Reset);
    closed("HTTP/1.1 200 OK\r\nConte", Outcome::Reset);
    let ran = closed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", Outcome::Reset).says("closed before");
    assert!(ran.records.iter().all(|r| r.status == 200 && r.first_byte.is_some()));
    closed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", Outcome::Reset);
}

/// The status of an answer is that answer's: a request that gets none has none.
#[test]
fn a_status_does_not_outlive_its_answer() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| {
            if read_request(&mut stream) && stream.write_all(OK).is_ok() && read_request(&mut stream) {
                send_last(&stream, b"");
            }
        });
        let ran = Load::of(12).connections(1).run(&target.address);
        for r in &ran.records {
            let expected = if r.reused { (Outcome::Reset, 0) } else { (Outcome::Ok, 200) };
            assert_eq!((r.outcome, r.status), expected, "{r:?}");
        }
        assert_eq!(ran.outcomes()[&Outcome::Reset], 6);
    });
}

#[test]
fn a_reset_in_the_middle_is_a_reset() {
    guarded(|| {
        for part in [
            &b""[..],
            b"HTTP/1.1 2",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
        ] {
            let target = Scripted::new(move |_, mut stream| {
                read_request(&mut stream);
                stream.write_all(part).unwrap();
                reset(stream);
            });
            Load::of(5).run(&target.address).all(Outcome::Reset);
        }
        // A close with something unread is a reset, too: of the connection before any request, here.
        let target = Scripted::new(|_, stream| {
            stream.peek(&mut [0]).unwrap();
        });
        Load::of(5).run(&target.address).all(Outcome::Reset);
    });
}

#[test]
fn what_is_not_http_is_a_protocol_error() {
    kept("SSH-2.0-OpenSSH_9.9\r\n", Outcome::Protocol).0.says("status line");
    kept(&b"\x15\x03\x01\0\x02\x02\x46"[..], Outcome::Protocol);
    kept("HTTP/2.0 200 OK\r\n\r\n", Outcome::Protocol);
    kept("HTTP/1.1 200 OK\r\nbad header\r\n\r\n", Outcome::Protocol);
    kept("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Outcome::Protocol);
    kept("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Outcome::Protocol);
    kept("HTTP/1.1 101 Switching Protocols\r\n\r\n", Outcome::Protocol);
}

#[test]
fn an_endless_head_is_too_large() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| {
            read_request(&mut stream);
            let line = [b'a'; 1000];
            let mut next = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
            while next.is_ok() {
                next = stream.write_all(&line);
            }
        });
        Load::of(5).run(&target.address).all(Outcome::TooLarge).says("head");
    });
}

#[test]
fn a_body_past_its_limit_is_too_large() {
    guarded(|| {
        for head in ["", "Content-Length: 101\r\n", "Transfer-Encoding: chunked\r\n"] {
            let target = Scripted::new(move |_, mut stream| {
                read_request(&mut stream);
                let mut next = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes());
                while next.is_ok() && head != "Content-Length: 101\r\n" {
                    next = stream.write_all(b"a\r\n0123456789\r\n");
                }
                read_to_end(&mut stream);
            });
            let answer_limits = headway_wire::Limits { body_bytes: 100, ..headway_wire::Limits::DEFAULT };
            Load { answer_limits, ..Load::of(5) }.run(&target.address).all(Outcome::TooLarge).says("body");
        }
    });
}

#[test]
fn a_hundred_megabytes_are_too_large_by_default_and_half_of_it_is_not() {
    fn target(megabytes: usize) -> Scripted {
        let piece = [&b"100000\r\n"[..], &vec![b'x'; 1 << 20], b"\r\n"].concat();
        Scripted::new(move |_, mut stream| {
            while read_request(&mut stream) {
                let mut next = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                for _ in 0..megabytes {
                    next = next.and_then(|()| stream.write_all(&piece));
                }
                if next.and_then(|()| stream.write_all(b"0\r\n\r\n")).is_err() {
                    return;
                }
            }
        })
    }
    guarded(|| {
        Load::of(2).run(&target(100).address).all(Outcome::TooLarge);
        let ran = Load::of(2).run(&target(50).address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.bytes_received > 50 << 20));
    });
}

#[test]
fn a_target_that_never_answers_is_a_timeout() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| read_to_end(&mut stream));
        let ran = Load::of(12).patience(100).run(&target.address).all(Outcome::Timeout);
        let patience = Nanos::from_millis(100);
        assert!(ran.records.iter().all(|r| r.service().unwrap() >= patience && !r.first_byte.is_some()));
    });
}

#[test]
fn a_target_that_begins_and_never_ends_is_a_timeout() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| {
            read_request(&mut stream);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi").unwrap();
            read_to_end(&mut stream);
        });
        // So long that the target's threads have begun to answer, whatever else runs here.
        let ran = Load::of(12).patience(1_000).run(&target.address).all(Outcome::Timeout);
        assert!(ran.records.iter().all(|r| r.first_byte.is_some()));
    });
}

#[test]
fn an_answer_may_come_in_any_pieces() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| {
            let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\nT: t\r\n\r\n";
            while read_request(&mut stream) {
                for byte in answer {
                    stream.write_all(&[*byte]).unwrap();
                }
            }
        });
        let ran = Load::of(20).connections(4).run(&target.address).all(Outcome::Ok);
        let bytes = ran.records[0].bytes_received;
        assert!(ran.records.iter().all(|r| r.bytes_received == bytes));
        assert!(target.accepted() <= 4);
    });
}

#[test]
fn an_answer_may_pause_halfway() {
    guarded(|| {
        let pause = Duration::from_millis(30);
        let target = Scripted::new(move |_, mut stream| {
            while read_request(&mut stream) {
                for half in OK.chunks(OK.len() / 2 + 1) {
                    stream.write_all(half).unwrap();
                    thread::sleep(pause);
                }
            }
        });
        let ran = Load::of(10).run(&target.address).all(Outcome::Ok);
        let pause = Nanos(pause.as_nanos() as i64);
        assert!(ran.records.iter().all(|r| r.service().unwrap() >= pause), "it takes as long as it takes");
    });
}

/// A target that refuses a large body early has answered, although the rest of the body finds nobody any more.
#[test]
fn an_answer_that_comes_before_the_body_has_gone_counts() {
    fn load() -> Load {
        let request = request("POST", "/", vec![b'x'; 20_000_000]);
        Load { request, ..Load::of(4) }
    }
    guarded(|| {
        let answer = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno";
        // It closes with most of the body unread, which resets the connection.
        let target = Scripted::new(|_, mut stream| {
            read_request(&mut stream);
            stream.write_all(answer).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
        });
        let ran = load().run(&target.address).all(Outcome::Status);
        assert!(ran.records.iter().all(|r| r.status == 413));
        // It keeps the connection: the next request must not queue behind the rest of the body.
        let kept = Mutex::new(Vec::new());
        let target = Scripted::new(move |_, mut stream| {
            read_request(&mut stream);
            stream.write_all(answer).unwrap();
            kept.lock().unwrap().push(stream);
        });
        let ran = load().run(&target.address).all(Outcome::Status);
        assert!(ran.records.iter().all(|r| r.status == 413 && !r.reused));
        assert_eq!(target.accepted(), 4);
    });
}
