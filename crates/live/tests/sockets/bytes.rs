//! Plain bytes over TCP, against targets that frame their answers in each way, and ones that do not.

use crate::harness::{Load, Ran, guarded};
use crate::scripted::Scripted;
use headway_base::Outcome;
use headway_workload::target::Scheme;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Answers each four bytes that come with these; then closes, or not.
fn answering(answer: &'static [u8], closes: bool) -> Scripted {
    Scripted::new(move |_, mut stream: TcpStream| {
        let mut asked = [0; 4];
        while stream.read_exact(&mut asked).is_ok() {
            let (front, back) = answer.split_at(answer.len() / 2);
            let _ = stream.write_all(front).and_then(|()| stream.flush());
            std::thread::yield_now();
            if stream.write_all(back).is_err() || closes {
                return;
            }
        }
    })
}

fn load(answer: &str) -> Load {
    Load::of(12).of_bytes(Scheme::Tcp, b"ping", Some(answer))
}

/// Connections that were given up for bytes that nothing asked for.
fn surplus(ran: &Ran) -> u64 {
    ran.report.workers.iter().map(|worker| worker.surplus).sum()
}

#[test]
fn answers_end_where_they_are_told_to() {
    guarded(|| {
        for (answer, end, bytes) in [
            (&b"+PONG\r\n"[..], "until:\\r\\n", 7),
            (b"0123456789", "bytes:10", 10),
            (b"\0\0\0\x03abc", "length:4", 7),
            (b"\x03\0abc", "length:2le", 5),
        ] {
            let target = answering(answer, false);
            let ran = load(end).connections(3).run(&target.address).all(Outcome::Ok);
            assert!(ran.records.iter().all(|r| r.bytes_received == bytes && r.bytes_sent == 4), "{end}");
            assert!(ran.records.iter().any(|r| r.reused), "{end}: a connection is used again");
            assert_eq!(surplus(&ran), 0, "{end}");
        }
        let target = answering(b"bye", true);
        let ran = load("close").run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.bytes_received == 3 && !r.reused));
    });
}

#[test]
fn what_is_cut_short_or_goes_on_is_no_answer() {
    guarded(|| {
        let target = answering(b"short", true);
        load("bytes:6").run(&target.address).all(Outcome::Reset);
        // What follows an answer belongs to no request: the connection is given up, and the next request takes another one.
        let target = answering(b"+PONG\r\nmore", false);
        let ran = load("until:\\r\\n").run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| !r.reused));
        assert_eq!(surplus(&ran), ran.records.len() as u64);
        let target = answering(b"\xff\xff\xff\xffx", false);
        load("length:4").run(&target.address).all(Outcome::TooLarge);
    });
}

#[test]
fn one_way_bytes_are_over_when_they_are_sent() {
    guarded(|| {
        let target = answering(b"ignored", false);
        let ran = load("none").connections(1).run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.bytes_sent == 4 && r.sent.is_some()));
    });
}
