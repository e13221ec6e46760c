//! The target that accepts late: by single connections, without a load generator.

use crate::harness::guarded;
use crate::served::loopback;
use headway_base::Rate;
use headway_live::serve::{SerialReport, SerialServer, SerialSettings};
use headway_live::{Address, Control};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

struct Serving {
    at: SocketAddr,
    control: Control,
    thread: JoinHandle<io::Result<SerialReport>>,
}

fn bound(capacity: f64, backlog: u32, body_bytes: u64) -> (SocketAddr, SerialServer, Control) {
    let control = Control::default();
    let settings = SerialSettings { capacity: Rate(capacity), backlog, body_bytes };
    let server = SerialServer::bind(&loopback(), settings, None, control.clone()).unwrap();
    let Address::Tcp(at) = *server.address() else { panic!("{:?}", server.address()) };
    (at, server, control)
}

impl Serving {
    fn new(capacity: f64) -> Serving {
        let (at, server, control) = bound(capacity, 16, 10);
        Serving { at, control, thread: thread::spawn(|| server.run()) }
    }

    fn stop(self) -> SerialReport {
        self.control.stop();
        self.thread.join().unwrap().unwrap()
    }
}

/// Sends that and reads until the connection is closed.
fn asked(at: SocketAddr, bytes: &[u8]) -> String {
    let mut connection = TcpStream::connect(at).unwrap();
    connection.write_all(bytes).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn each_connection_is_answered_once_and_closed() {
    guarded(|| {
        let serving = Serving::new(1_000.0);
        for request in [GET, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"] {
            let answer = asked(serving.at, request);
            let lower = answer.to_ascii_lowercase();
            assert!(
                answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nheadway he"),
                "{answer}"
            );
            assert!(lower.contains("connection: close"), "{answer}");
        }
        let answer = asked(serving.at, b"nonsense\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        // Goes without a word, and in the middle of a request.
        drop(TcpStream::connect(serving.at).unwrap());
        TcpStream::connect(serving.at).unwrap().write_all(b"GET / HT").unwrap();
        // Who comes after them is served.
        assert!(asked(serving.at, GET).starts_with("HTTP/1.1 200 "));
        let report = serving.stop();
        assert_eq!(
            (report.accepted, report.served, report.gone, report.malformed),
            (6, 3, 2, 1),
            "{report:?}"
        );
        assert_eq!((report.silent, report.unanswered, report.refused), (0, 0, 0), "{report:?}");
        assert!(report.overflows.is_some());
    });
}

/// A connection without a request does not keep the others out for good.
#[test]
fn a_silent_client_is_left() {
    guarded(|| {
        let serving = Serving::new(1_000.0);
        let silent = TcpStream::connect(serving.at).unwrap();
        assert!(asked(serving.at, GET).starts_with("HTTP/1.1 200 "));
        let report = serving.stop();
        assert_eq!((report.silent, report.served), (1, 1), "{report:?}");
        drop(silent);
    });
}

/// Twenty at once at 50/s: work of 20 ms each, one after the other, and never faster, whatever the machine does meanwhile.
#[test]
fn it_serves_at_its_capacity_and_no_faster() {
    guarded(|| {
        let serving = Serving::new(50.0);
        let begun = Instant::now();
        let clients: Vec<_> = (0..20)
            .map(|_| {
                let at = serving.at;
                thread::spawn(move || asked(at, GET))
            })
            .collect();
        for client in clients {
            assert!(client.join().unwrap().starts_with("HTTP/1.1 200 "));
        }
        assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
        assert_eq!(serving.stop().served, 20);
    });
}

/// While nothing is accepted, Linux admits one connection more than the backlog, and drops the SYN of every other.
#[test]
fn the_backlog_is_the_kernels() {
    guarded(|| {
        for backlog in [0, 3] {
            let (at, server, _) = bound(1.0, backlog, 10);
            assert_eq!(server.settings().backlog, backlog);
            let connect = || TcpStream::connect_timeout(&at, Duration::from_millis(200));
            let clients: Vec<_> = (0..backlog + 3).map(|_| connect()).collect();
            let admitted = clients.iter().filter(|client| client.is_ok()).count();
            assert_eq!(admitted, backlog as usize + 1);
            let refused = clients.into_iter().filter_map(Result::err);
            assert!(refused.map(|error| error.kind()).all(|kind| kind == io::ErrorKind::TimedOut));
        }
    });
}

/// An answer too long for the buffers is being written, to a client that reads no more than its first byte. The connection that waited
/// is out of the queue already, so the queue has room for as many as when it is empty.
#[test]
fn the_next_connection_is_accepted_before_the_answer() {
    guarded(|| {
        let backlog = 1;
        let (at, server, control) = bound(100.0, backlog, 64 << 20);
        let mut first = TcpStream::connect(at).unwrap();
        first.write_all(GET).unwrap();
        let next = TcpStream::connect(at).unwrap();
        let serving = Serving { at, control, thread: thread::spawn(|| server.run()) };
        first.read_exact(&mut [0]).unwrap();
        // Shorter than the second after which a dropped SYN is sent again, and the server gives up the client.
        let connect = || TcpStream::connect_timeout(&at, Duration::from_millis(500));
        let others: Vec<_> = (0..=backlog).map(|_| connect()).collect();
        assert!(others.iter().all(Result::is_ok), "{others:?}");
        let report = serving.stop();
        assert_eq!((report.served, report.unanswered), (0, 1), "{report:?}");
        drop((first, next));
    });
}
