//! Runs against the calibrated target.

use crate::harness::{Load, guarded, request};
use headway_base::station::Stalls;
use headway_base::{Nanos, Outcome, Record};
use headway_live::serve::{ArrivalsLog, BACKLOG, ServeReport, Server, Settings};
use headway_live::{Address, Control};
use headway_workload::Shard;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A calibrated target on a thread of its own.
pub struct Serving {
    pub address: Address,
    control: Control,
    thread: JoinHandle<io::Result<ServeReport>>,
}

impl Serving {
    pub fn at(address: &Address, settings: Settings, log: Option<ArrivalsLog>) -> io::Result<Serving> {
        let control = Control::default();
        let server = Server::bind(address, settings, log, control.clone())?;
        let address = server.address().clone();
        Ok(Serving { address, control, thread: thread::spawn(|| server.run()) })
    }

    pub fn new(settings: Settings) -> Serving {
        Serving::at(&loopback(), settings, None).unwrap()
    }

    pub fn stop(self) -> ServeReport {
        self.control.stop();
        self.thread.join().unwrap().unwrap()
    }
}

pub fn loopback() -> Address {
    Address::Tcp("127.0.0.1:0".parse().unwrap())
}

pub fn settings(service: &str) -> Settings {
    Settings {
        service: headway_base::dist::parse(service, &|_| Err("no files here".to_owned())).unwrap(),
        servers: 1,
        queue: None,
        backlog: BACKLOG,
        stalls: None,
        error_rate: 0.0,
        body_bytes: 10,
        events: None,
        state: None,
        seed: 3,
    }
}

fn count(records: &[Record], status: u16) -> u64 {
    records.iter().filter(|r| r.status == status).count() as u64
}

#[test]
fn one_connection_serves_all_requests() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let ran = Load::default().connections(1).run(&server.address).all(Outcome::Ok);
        let report = server.stop();
        assert_eq!((report.connections, report.requests, report.ok), (1, ran.records.len() as u64, 30));
        assert_eq!(ran.report.workers[0].connections, 1);
        for r in &ran.records {
            assert_eq!((r.connect.is_some(), r.tls.is_some(), r.reused), (r.k == 0, false, r.k > 0));
            assert_eq!((r.status, r.connection), (200, 0));
        }
    });
}

#[test]
fn what_a_full_queue_rejects_is_a_status() {
    guarded(|| {
        let server = Serving::new(Settings { queue: Some(1), ..settings("const(50ms)") });
        let ran = Load::default().run(&server.address);
        let report = server.stop();
        assert!(report.rejected > 0 && report.ok > 0, "{report:?}");
        assert_eq!((count(&ran.records, 503), count(&ran.records, 200)), (report.rejected, report.ok));
        assert_eq!(ran.outcomes()[&Outcome::Status] as u64, report.rejected);
        for r in ran.records.iter().filter(|r| r.status == 200) {
            assert!(r.service().unwrap() >= Nanos::from_millis(50), "answered before it was served: {r:?}");
        }
    });
}

#[test]
fn errors_come_as_often_as_asked() {
    guarded(|| {
        let server = Serving::new(Settings { error_rate: 0.5, ..settings("const(0s)") });
        let ran = Load::default().run(&server.address);
        let report = server.stop();
        assert!(report.errors > 0 && report.ok > 0, "{report:?}");
        assert_eq!((count(&ran.records, 500), count(&ran.records, 200)), (report.errors, report.ok));
        let server = Serving::new(Settings { error_rate: 1.0, ..settings("const(0s)") });
        Load::of(5).run(&server.address).all(Outcome::Status);
    });
}

#[test]
fn a_stalled_target_answers_later() {
    guarded(|| {
        let stalls = Some(Stalls::new(Nanos::from_millis(40), Nanos::from_millis(30)).unwrap());
        let server = Serving::new(Settings { stalls, ..settings("const(20ms)") });
        let ran = Load::of(8).run(&server.address).all(Outcome::Ok);
        // The server works 10 ms between two stalls, so each service of 20 ms met at least one of them, but for the
        // first 40 ms, and each waits for all that came before it.
        let last = ran.records.iter().map(|r| r.done).max().unwrap();
        assert!(last >= Nanos::from_millis(8 * 20 + 3 * 30), "{last}");
    });
}

#[test]
fn bodies_of_every_size_come_through() {
    guarded(|| {
        for body_bytes in [0, 1, 64 << 10, 3_000_000] {
            let server = Serving::new(Settings { body_bytes, ..settings("const(0s)") });
            let ran = Load::of(4).run(&server.address).all(Outcome::Ok);
            for r in &ran.records {
                let over = r.bytes_received - body_bytes;
                assert!((20..300).contains(&over), "{over} bytes of head to {body_bytes} of body");
            }
        }
    });
}

#[test]
fn a_unix_socket_is_a_target() {
    guarded(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let server = Serving::at(
            &Address::Unix(path.clone()),
            Settings { body_bytes: 300_000, ..settings("const(0s)") },
            None,
        )
        .unwrap();
        let endpoint = headway_workload::target::Endpoint::Unix(path.display().to_string());
        let address = headway_live::resolve(&endpoint).unwrap().swap_remove(0);
        let ran = Load::default().connections(3).run(&address).all(Outcome::Ok);
        assert_eq!(server.stop().requests, ran.records.len() as u64);
    });
}

#[test]
fn ipv6_is_spoken() {
    guarded(|| {
        let address = Address::Tcp("[::1]:0".parse().unwrap());
        match Serving::at(&address, settings("const(0s)"), None) {
            Ok(server) => drop(Load::of(10).run(&server.address).all(Outcome::Ok)),
            Err(error) => println!("skipped: this host has no IPv6 loopback: {error}"),
        }
    });
}

#[test]
fn a_name_resolves_and_leads_there() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let Address::Tcp(at) = server.address else { panic!("a TCP server") };
        let endpoint =
            |host: &str| headway_workload::target::Endpoint::Tcp { host: host.to_owned(), port: at.port() };
        let found = headway_live::resolve(&endpoint("localhost")).unwrap();
        assert!(found.contains(&server.address), "{found:?}");
        let address = found.into_iter().find(|a| *a == server.address).unwrap();
        Load::of(5).run(&address).all(Outcome::Ok);
        let error = headway_live::resolve(&endpoint("no such name")).unwrap_err();
        assert!(error.to_string().contains("no such name"), "{error}");
    });
}

#[test]
fn threads_and_shards_together_are_the_plan() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let mut keys = Vec::new();
        for i in 0..2 {
            let shard = Shard::new(i, 2).unwrap();
            let ran = Load { shard, threads: 3, ..Load::of(50) }.run(&server.address).all(Outcome::Ok);
            assert_eq!(ran.report.workers.len(), 3);
            assert!(
                ran.records.iter().all(|r| u32::from(r.shard) % 2 == i && r.shard < 6),
                "shards of shards"
            );
            keys.extend(ran.keys());
        }
        keys.sort_unstable();
        let planned: Vec<u64> = Load::of(50).plan().arrivals().map(|a| a.k).collect();
        assert_eq!(keys, planned);
        assert_eq!(server.stop().requests, planned.len() as u64);
    });
}

#[test]
fn more_threads_than_connections_are_not_started() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let ran = Load { threads: 4, ..Load::of(10) }.connections(2).run(&server.address).all(Outcome::Ok);
        assert_eq!(ran.report.workers.len(), 2);
        assert!(server.stop().connections <= 2);
    });
}

/// What was written, for the test to read.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_target_writes_down_each_arrival() {
    guarded(|| {
        let written = Written::default();
        let log = ArrivalsLog::new(Box::new(written.clone())).unwrap();
        let server = Serving::at(&loopback(), settings("const(5ms)"), Some(log)).unwrap();
        let before = headway_live::clock::unix_now();
        let ran = Load::default().connections(4).run(&server.address).all(Outcome::Ok);
        let after = headway_live::clock::unix_now();
        let report = server.stop();
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("received_unix_s,connection,stamp"));
        let mut last = vec![0; report.connections as usize];
        let (mut rows, mut kernel) = (0, 0);
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let (at, connection) = (cells[0].replace('.', "").parse::<i128>().unwrap(), cells[1]);
            let last = &mut last[connection.parse::<usize>().unwrap()];
            assert!(*last <= at && before <= at && at <= after, "{line}");
            *last = at;
            // The kernel begins to stamp some time after it was asked to.
            kernel += usize::from(cells[2] == "kernel");
            assert!(["kernel", "user"].contains(&cells[2]), "{line}");
            rows += 1;
        }
        assert!(kernel > rows / 2, "only {kernel} of {rows} by the kernel");
        assert_eq!((rows, report.requests), (ran.records.len(), ran.records.len() as u64));
        let zero = ran.clock.unix_nanos(Nanos::ZERO);
        assert!(before <= zero + 5_000_000 && zero <= after, "{before} {zero} {after}");
    });
}

#[test]
fn a_body_is_sent_whole_however_large() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        // The last one does not fit into any socket's buffer: it goes out piece by piece.
        for bytes in [1, 100_000, 20_000_000] {
            let request = request("POST", "/", vec![b'x'; bytes]);
            let load = Load { request, ..Load::of(3) };
            let ran = load.connections(2).run(&server.address).all(Outcome::Ok);
            assert!(ran.records.iter().all(|r| r.bytes_sent > bytes as u64));
        }
        assert_eq!((server.stop().malformed), 0);
    });
}

#[test]
fn heads_and_posts_with_expectations_are_answered() {
    guarded(|| {
        let server = Serving::new(Settings { body_bytes: 5_000, ..settings("const(0s)") });
        let ran = Load { request: request("HEAD", "/", ""), ..Load::of(5) }
            .connections(1)
            .run(&server.address)
            .all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.bytes_received < 300));
        let mut request = request("POST", "/", "hello");
        request.headers.push(("Expect".to_owned(), "100-continue".to_owned()));
        Load { request, ..Load::of(5) }.connections(1).run(&server.address).all(Outcome::Ok);
        assert_eq!(server.stop().connections, 2);
    });
}
