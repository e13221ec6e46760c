//! The target that accepts late: by single connections, without a load generator.

use crate::harness::guarded;
use crate::served::loopback;
use headway_base::Rate;
use headway_live::serve::{ArrivalsLog, SerialReport, SerialServer, SerialSettings};
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

fn bound(capacity: f64, backlog: u32, log: Option<ArrivalsLog>) -> (SocketAddr, SerialServer, Control) {
    let control = Control::default();
    let settings = SerialSettings { capacity: Rate(capacity), backlog, body_bytes: 10 };
    let server = SerialServer::bind(&loopback(), settings, log, control.clone()).unwrap();
    let Address::Tcp(at) = *server.address() else { panic!("{:?}", server.address()) };
    (at, server, control)
}

impl Serving {
    fn new(capacity: f64) -> Serving {
        let (at, server, control) = bound(capacity, 16, None);
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
            let (at, server, _) = bound(1.0, backlog, None);
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

/// The queue has one place. A client that reads only the beginning of a large response holds the server up while it writes; the connection
/// that waited was taken before that, so a third finds the place free. A SYN that finds it taken comes again after a second.
#[test]
fn the_next_connection_is_taken_before_the_answer_leaves() {
    guarded(|| {
        let control = Control::default();
        let settings = SerialSettings { capacity: Rate(5.0), backlog: 0, body_bytes: 64 << 20 };
        let server = SerialServer::bind(&loopback(), settings, None, control.clone()).unwrap();
        let Address::Tcp(at) = *server.address() else { panic!("{:?}", server.address()) };
        let serving = Serving { at, control, thread: thread::spawn(|| server.run()) };
        let mut first = TcpStream::connect(at).unwrap();
        first.write_all(GET).unwrap();
        // It is taken out of the queue by then, and worked for until 200 ms.
        thread::sleep(Duration::from_millis(100));
        let _second = TcpStream::connect(at).unwrap();
        assert_eq!(first.read(&mut [0]).unwrap(), 1);
        let third = TcpStream::connect_timeout(&at, Duration::from_millis(700));
        assert!(third.is_ok(), "{third:?}");
        let _ = serving.stop();
    });
}
