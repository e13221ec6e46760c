//! Targets that cannot be connected to.

use crate::harness::{Load, guarded};
use headway_base::{Nanos, Outcome};
use headway_live::Address;
use rustix::net::{AddressFamily, SocketType};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::time::Duration;

#[test]
fn a_port_where_nobody_listens_refuses() {
    guarded(|| {
        // Bound, but not listening: nobody else takes it meanwhile.
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        // The standard library knows how to read the address back.
        let bound = TcpListener::from(socket);
        let address = Address::Tcp(bound.local_addr().unwrap());
        let ran = Load::default().run(&address).all(Outcome::Refused).says("refused").says("127.0.0.1");
        assert!(ran.records.iter().all(|r| r.started.is_some() && !r.sent.is_some() && !r.connect.is_some()));
    });
}

#[test]
fn unix_sockets_that_are_not_there_refuse() {
    guarded(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nobody");
        Load::of(5).run(&Address::Unix(path.clone())).all(Outcome::Refused).says("No such file");
        drop(UnixListener::bind(&path).unwrap());
        Load::of(5).run(&Address::Unix(path)).all(Outcome::Refused).says("refused");
        let endless = folder.path().join("x".repeat(300));
        Load::of(5).run(&Address::Unix(endless)).all(Outcome::Refused);
    });
}

/// A queue that is full and that nobody empties: connections neither stand nor are refused.
#[test]
fn a_target_that_accepts_nothing_is_a_connect_timeout() {
    guarded(|| {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        let mut queued = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
            queued.push(stream);
            assert!(queued.len() < 10, "a queue that never fills");
        }
        let load = Load::of(12).patience_to_connect(100);
        let ran = load.run(&Address::Tcp(address)).all(Outcome::ConnectTimeout);
        for r in &ran.records {
            assert!(r.done - r.started.get().unwrap() >= Nanos::from_millis(100), "{r:?}");
            assert!(!r.sent.is_some() && !r.connect.is_some());
        }
    });
}

/// What waits for a connection longer than it may is shed, and was never started.
#[test]
fn what_waits_too_long_at_the_cap_is_shed() {
    guarded(|| {
        let target =
            crate::scripted::Scripted::new(|_, mut stream| crate::scripted::read_to_end(&mut stream));
        let mut load = Load::of(20).connections(1).patience(500);
        load.limits.max_wait = Nanos::from_millis(20);
        let ran = load.run(&target.address);
        assert_eq!(ran.outcomes()[&Outcome::Timeout], 1);
        assert_eq!(ran.records[0].outcome, Outcome::Timeout);
        assert!(ran.outcomes()[&Outcome::Shed] >= 15, "{:?}", ran.outcomes());
    });
}
