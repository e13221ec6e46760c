//! Responses that come in pieces: each is an event, stamped when it reached this machine.

use crate::harness::{Load, Ran, guarded};
use crate::http2::serve_http2;
use crate::scripted::{Scripted, read_request, read_to_end};
use crate::served::{Serving, settings};
use crate::tls::answer_all;
use crate::tls_server::{Authority, GOOD};
use headway_base::pieces::Pieces;
use headway_base::{EventKind, Nanos, Outcome, ResponseEvent};
use headway_live::serve::Settings;
use headway_live::tls::TlsSetup;
use headway_live::{Address, Protocols};
use headway_workload::content::StreamKind;
use headway_workload::target::{HttpVersion, Scheme};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// Before each of five pieces, milliseconds.
const GAPS: [u64; 5] = [15, 10, 30, 5, 20];

/// When a piece was written: just before and just after.
type Written = (Instant, Instant);

/// Writes, and tells when.
fn write(stream: &mut TcpStream, bytes: &[u8]) -> Option<Written> {
    let before = Instant::now();
    stream.write_all(bytes).ok()?;
    Some((before, Instant::now()))
}

/// A server whose responses come in five chunks, the last one with the end; and when each was written.
fn in_five() -> (Scripted, Arc<Mutex<Vec<Vec<Written>>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = told.clone();
    let server = Scripted::new(move |_, mut stream| {
        while read_request(&mut stream) {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
            let mut all = Vec::new();
            for (i, gap) in GAPS.into_iter().enumerate() {
                thread::sleep(Duration::from_millis(gap));
                // The third is two chunks in one write.
                let bytes: &[u8] = match i {
                    2 => b"4\r\nfour\r\n6\r\nsecret\r\n",
                    4 => b"a\r\n0123456789\r\n0\r\n\r\n",
                    _ => b"a\r\n0123456789\r\n",
                };
                all.extend(write(&mut stream, bytes));
            }
            tell.lock().unwrap().push(all);
        }
    });
    (server, told)
}

/// The events of the request of that number.
fn of(ran: &Ran, k: u64) -> Vec<ResponseEvent> {
    ran.events.iter().filter(|event| event.k == k).copied().collect()
}

fn streaming(arrivals: u32) -> Load {
    Load { stream: Some(StreamKind::Chunks), ..Load::of(arrivals).connections(1) }
}

#[test]
fn each_piece_is_an_event_at_the_instant_at_which_it_came() {
    guarded(|| {
        let (server, told) = in_five();
        let ran = streaming(8).run(&server.address).all(Outcome::Ok);
        let told = told.lock().unwrap();
        // One connection: responses come in the order of requests.
        for (record, written) in ran.records.iter().zip(told.iter()) {
            let [pieces @ .., end] = &of(&ran, record.k)[..] else { panic!("no events of {record:?}") };
            let kinds: Vec<_> = pieces.iter().map(|e| (e.kind, e.bytes, e.count)).collect();
            let (one, two) = ((EventKind::Chunk, 10, 1), (EventKind::Chunk, 10, 2));
            assert_eq!(kinds, [one, one, two, one, one]);
            for (event, (before, after)) in pieces.iter().zip(written) {
                let (before, after) = (ran.clock.at(*before), ran.clock.at(*after));
                // The kernel stamps it while it is written; its clock is not that of the plan.
                assert!(
                    event.at >= before - MS(1) && event.at <= after + MS(1),
                    "{event:?} {before} {after}"
                );
                assert!(event.unread.get().is_some(), "stamped: {event:?}");
            }
            // No gap is shorter than the server slept, but by how long it had written.
            for (event, (gap, pair)) in pieces[1..].iter().zip(GAPS[1..].iter().zip(written.windows(2))) {
                let writing = ran.clock.at(pair[0].1) - ran.clock.at(pair[0].0);
                let least = MS(*gap as i64) - writing - MS(2);
                assert!(event.gap().unwrap() >= least, "{event:?} {gap}");
            }
            assert!(record.first_byte.get() <= Some(pieces[0].at), "the head came before");
            assert_eq!((end.kind, end.count, end.bytes, end.at), (EventKind::End, 5, 50, record.done));
        }
        assert_eq!((told.len(), ran.records.len(), ran.events.len()), (8, 8, 48));
    });
}

#[test]
fn without_a_wish_for_events_there_are_none() {
    guarded(|| {
        let (server, _) = in_five();
        let ran = Load { stream: None, ..streaming(3) }.run(&server.address).all(Outcome::Ok);
        assert_eq!(ran.events, []);
    });
}

/// Sends the head and two pieces of the response, and then nothing.
fn stands_still() -> Scripted {
    Scripted::new(|_, mut stream| {
        if read_request(&mut stream) {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n";
            stream.write_all(head).unwrap();
            for _ in 0..2 {
                thread::sleep(Duration::from_millis(30));
                stream.write_all(b"0123456789").unwrap();
            }
            read_to_end(&mut stream);
        }
    })
}

#[test]
fn a_response_that_stands_still_is_given_up_and_what_came_is_kept() {
    guarded(|| {
        for stream in [Some(StreamKind::Chunks), None] {
            let server = stands_still();
            let load = Load { stream, idle: Some(MS(100)), ..Load::of(3).connections(3) };
            let ran = load.run(&server.address).all(Outcome::IdleTimeout);
            for record in &ran.records {
                let waited = record.done - record.sent.get().unwrap();
                assert!(waited >= MS(60 + 100), "from the last piece on: {waited}");
                assert!(record.first_byte.is_some());
                let events = of(&ran, record.k);
                match stream {
                    None => assert_eq!(events, []),
                    Some(_) => {
                        assert_eq!(events.iter().map(|e| e.bytes).collect::<Vec<_>>(), [10, 10, 20]);
                        let last = events[1].at;
                        assert!(record.done - last >= MS(99), "{events:?}");
                    }
                }
            }
        }
    });
}

#[test]
fn a_million_tiny_pieces_are_few_events() {
    guarded(|| {
        let server = Scripted::new(|_, mut stream| {
            while read_request(&mut stream) {
                let mut bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
                bytes.extend(b"1\r\nx\r\n".repeat(1_000_000));
                bytes.extend(b"0\r\n\r\n");
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
        });
        let ran = streaming(1).run(&server.address).all(Outcome::Ok);
        let [pieces @ .., end] = &ran.events[..] else { panic!("no events") };
        assert_eq!(pieces.iter().map(|e| e.bytes).sum::<u64>(), 1_000_000);
        // One for each read: those of at most 64 KiB, of which a piece takes six bytes.
        assert!((92..100_000).contains(&pieces.len()), "{}", pieces.len());
        assert_eq!((end.count as usize, end.bytes), (pieces.len(), 1_000_000));
    });
}

#[test]
fn bodies_over_http2_and_tls_have_events_too() {
    guarded(|| {
        let server = Scripted::new(|_, mut stream| serve_http2(&mut stream));
        let protocols = Protocols::new(Scheme::H2c, HttpVersion::Http2, Some(100), None);
        let ran = Load { protocols, ..streaming(5) }.run(&server.address).all(Outcome::Ok);
        let authority = Authority::new("ours");
        let server = authority.server(GOOD, answer_all);
        let tls = Some(TlsSetup::with_roots("localhost", authority.roots()).unwrap());
        let over_tls = Load { tls, ..streaming(5) }.run(&server.address).all(Outcome::Ok);
        for ran in [ran, over_tls] {
            for record in &ran.records {
                let events = of(&ran, record.k);
                assert_eq!(
                    events.iter().map(|e| e.kind).collect::<Vec<_>>(),
                    [EventKind::Chunk, EventKind::End]
                );
                assert!(events[0].bytes > 0 && events[0].bytes == events[1].bytes);
                assert!(events[0].at <= record.done && Some(events[0].at) >= record.sent.get());
            }
        }
    });
}

/// The calibrated target's pieces, in both versions of HTTP: as many as it is told, with these gaps, each of the size of its body.
#[test]
fn the_calibrated_target_responds_in_pieces_with_the_gaps_of_its_laws() {
    guarded(|| {
        for protocols in [None, Some(Protocols::new(Scheme::H2c, HttpVersion::Http2, Some(100), None))] {
            let events = Pieces::parse("first=8ms,gap=const(12ms),count=4", &|_| Err(String::new())).unwrap();
            let target = Serving::new(Settings {
                servers: 100,
                body_bytes: 7,
                events: Some(events),
                ..settings("const(5ms)")
            });
            let mut load = streaming(10);
            if let Some(protocols) = protocols {
                load.protocols = protocols;
            }
            let ran = load.run(&target.address).all(Outcome::Ok);
            for record in &ran.records {
                let [pieces @ .., end] = &of(&ran, record.k)[..] else { panic!("no events of {record:?}") };
                let sizes: Vec<_> = pieces.iter().map(|e| (e.kind, e.bytes)).collect();
                assert_eq!(sizes, [(EventKind::Chunk, 7); 4], "{pieces:?}");
                assert_eq!((end.kind, end.count, end.bytes), (EventKind::End, 4, 28));
                let sent = record.sent.get().unwrap();
                // Nothing leaves before its instant; the kernel's clock is not that of the plan.
                assert!(pieces[0].at - sent >= MS(12), "{} after 13 ms", pieces[0].at - sent);
                assert!(pieces[3].at - pieces[0].at >= MS(33), "three gaps of 12 ms: {pieces:?}");
            }
            // On the mean they are late by what this machine adds, which is bounded well below a gap.
            let gaps: Vec<f64> =
                ran.events.iter().filter_map(ResponseEvent::gap).map(Nanos::as_secs_f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            assert!(gaps.len() == 30 && (0.011..0.024).contains(&mean), "{mean} {gaps:?}");
            let report = target.stop();
            assert_eq!((report.requests, report.ok, report.abandoned), (10, 10, 0));
        }
    });
}

/// Requests by HEAD, of HTTP/1.0, and pipelined ones: each answer is whole before the next begins.
#[test]
fn pieces_are_framed_for_their_request() {
    guarded(|| {
        let events = Pieces::parse("gap=1ms,count=3", &|_| Err(String::new())).unwrap();
        let target =
            Serving::new(Settings { servers: 9, body_bytes: 3, events: Some(events), ..settings("0s") });
        let Address::Tcp(at) = &target.address else { panic!("TCP") };
        let talk = |text: &str| {
            let mut stream = TcpStream::connect(at).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).unwrap();
            said
        };
        let old = talk("GET / HTTP/1.0\r\n\r\n");
        assert!(old.contains("Content-Length: 9\r\n") && old.ends_with("\r\n\r\nheadway h"), "{old}");
        let head = talk("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(head.contains("Transfer-Encoding: chunked\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        let two =
            talk("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let body = "3\r\nhea\r\n3\r\ndwa\r\n3\r\ny h\r\n0\r\n\r\n";
        assert_eq!(two.matches(body).count(), 2, "{two}");
        let report = target.stop();
        assert_eq!((report.requests, report.ok, report.abandoned), (4, 4, 0));
    });
}

/// An informational response says that the target works: the response itself has not begun, and may take longer than it may stand still.
#[test]
fn an_informational_response_does_not_start_the_idle_timeout() {
    guarded(|| {
        for stream in [Some(StreamKind::Chunks), None] {
            let server = Scripted::new(|_, mut socket| {
                while read_request(&mut socket) {
                    socket.write_all(b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n").unwrap();
                    thread::sleep(Duration::from_millis(250));
                    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").unwrap();
                }
            });
            let load = Load { stream, idle: Some(MS(100)), ..Load::of(2).connections(2) };
            load.run(&server.address).all(Outcome::Ok);
            // After its head one may stand still no longer.
            let server = Scripted::new(|_, mut socket| {
                if read_request(&mut socket) {
                    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n").unwrap();
                    read_to_end(&mut socket);
                }
            });
            let load = Load { stream, idle: Some(MS(100)), ..Load::of(2).connections(2) };
            load.run(&server.address).all(Outcome::IdleTimeout);
        }
    });
}
