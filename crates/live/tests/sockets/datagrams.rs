//! Datagrams over UDP, against the calibrated target and against peers that lose, repeat, delay and flood.

use crate::harness::{Load, Ran, guarded};
use headway_base::dist::Dist;
use headway_base::sink::Kept;
use headway_base::{Nanos, Outcome};
use headway_live::serve::{DatagramReport, DatagramServer, DatagramSettings};
use headway_live::{Address, Control};
use headway_wire::Tally;
use headway_workload::target::Scheme;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The calibrated target, until it is stopped.
struct Target {
    address: Address,
    control: Control,
    thread: JoinHandle<DatagramReport>,
}

impl Target {
    fn new(answers: bool, queue: Option<usize>, service: Dist) -> Target {
        let settings = DatagramSettings { service, servers: 1, queue, stalls: None, answers, seed: 3 };
        let control = Control::default();
        let server = DatagramServer::bind(HERE, settings, None, control.clone()).unwrap();
        let address = Address::Udp(server.address());
        Target { address, control, thread: thread::spawn(move || server.run().unwrap()) }
    }

    fn ended(self) -> DatagramReport {
        self.control.stop();
        self.thread.join().unwrap()
    }
}

fn at_once() -> Dist {
    headway_base::dist::parse("const(0s)", &|_| Err("no files here".to_owned())).unwrap()
}

fn load(payload: &[u8], answer: Option<&str>) -> Load {
    Load::of(20).of_bytes(Scheme::Udp, payload, answer)
}

fn tally(ran: &Ran) -> Tally {
    ran.report.workers.iter().fold(Tally::default(), |mut sum, worker| {
        sum.add(worker.tally);
        sum
    })
}

/// A peer that does with each datagram what it is made for. It ends with the test.
fn peer(mut does: impl FnMut(&UdpSocket, &[u8], SocketAddr) + Send + 'static) -> Address {
    let socket = UdpSocket::bind(HERE).unwrap();
    let address = Address::Udp(socket.local_addr().unwrap());
    thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            does(&socket, &buffer[..bytes], from);
        }
    });
    address
}

#[test]
fn the_target_sends_back_what_comes() {
    guarded(|| {
        for (payload, answer, bytes) in [
            (&b""[..], None, 64),
            (b"12345678-and-more", None, 17),
            (b"x", Some("next"), 1),
            (&[7; 60_000], None, 60_000),
        ] {
            let target = Target::new(true, None, at_once());
            let ran = load(payload, answer).run(&target.address).all(Outcome::Ok);
            assert!(
                ran.records.iter().all(|r| r.bytes_sent == bytes && r.bytes_received == bytes),
                "{bytes}"
            );
            assert_eq!(tally(&ran), Tally::default());
            let report = target.ended();
            assert_eq!((report.received, report.answered, report.bytes), (20, 20, 20 * bytes));
            assert_eq!(report.dropped.unwrap_or(0), 0);
        }
    });
}

#[test]
fn one_way_datagrams_are_over_when_they_are_sent() {
    guarded(|| {
        let target = Target::new(false, None, at_once());
        load(b"", Some("none")).run(&target.address).all(Outcome::Ok);
        let report = target.ended();
        assert_eq!((report.received, report.answered), (20, 0));
    });
}

#[test]
fn a_full_queue_answers_nothing() {
    guarded(|| {
        let slow = headway_base::dist::parse("const(10s)", &|_| Err(String::new())).unwrap();
        let target = Target::new(true, Some(0), slow);
        load(b"", None).patience(100).run(&target.address).all(Outcome::Timeout);
        let report = target.ended();
        assert_eq!((report.received, report.answered, report.rejected), (20, 0, 19));
    });
}

#[test]
fn a_port_without_a_listener_refuses_and_the_socket_goes_on() {
    guarded(|| {
        let gone = UdpSocket::bind(HERE).unwrap().local_addr().unwrap();
        let ran =
            load(b"", None).patience(2_000).run(&Address::Udp(gone)).all(Outcome::Refused).says("refused");
        assert_eq!(ran.report.workers.iter().map(|w| w.connections).sum::<u64>(), 1);
    });
}

#[test]
fn what_is_no_answer_is_counted() {
    guarded(|| {
        let twice = peer(|socket, bytes, from| {
            let _ = socket.send_to(bytes, from);
            let _ = socket.send_to(bytes, from);
        });
        let ran = load(b"", None).run(&twice).all(Outcome::Ok);
        let seen = tally(&ran);
        // The copy of the last one may come after the end.
        assert!((19..=20).contains(&seen.duplicates), "{seen:?}");
        assert_eq!((seen.late, seen.reordered, seen.unexpected), (0, 0, 0));

        // Pairs in the wrong order.
        let mut first: Option<Vec<u8>> = None;
        let swapped = peer(move |socket, bytes, from| match first.take() {
            None => first = Some(bytes.to_vec()),
            Some(first) => {
                let _ = socket.send_to(bytes, from);
                let _ = socket.send_to(&first, from);
            }
        });
        let ran = load(b"", None).run(&swapped).all(Outcome::Ok);
        assert_eq!(tally(&ran).reordered, 10);
    });
}

/// A request is answered when the peer gets another after its timeout; the last one is answered at once, behind the late answers. So however
/// slow this machine is, the peer knows how many answers came late if the last one came in time.
#[test]
fn answers_to_requests_that_timed_out_are_counted_as_late() {
    guarded(|| {
        let once = || {
            let (ended, late) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let address = {
                let (ended, late) = (ended.clone(), late.clone());
                let mut requests = Vec::new();
                peer(move |socket, bytes, from| {
                    requests.push(bytes.to_vec());
                    while late.load(Relaxed) < ended.load(Relaxed).min(requests.len()) {
                        let _ = socket.send_to(&requests[late.fetch_add(1, Relaxed)], from);
                    }
                    if requests.len() == 20 {
                        let _ = socket.send_to(bytes, from);
                    }
                })
            };
            // They time out in their order.
            let watch = move |kept: &Kept| ended.store(kept.records.len(), Relaxed);
            let ran = Load { watch: Some(Arc::new(watch)), ..load(b"", None).patience(50) }.run(&address);
            let (others, last) = ran.records.split_at(19);
            assert!(others.iter().all(|r| r.outcome == Outcome::Timeout), "{:?}", ran.outcomes());
            let late = late.load(Relaxed) as u64;
            (last[0].outcome == Outcome::Ok && late > 0).then(|| (late, tally(&ran)))
        };
        let (late, seen) = std::iter::repeat_with(once).flatten().next().unwrap();
        assert_eq!(seen, Tally { late, ..Tally::default() });
    });
}

#[test]
fn a_peer_that_floods_is_read_and_costs_no_memory() {
    guarded(|| {
        let flood = peer(|socket, bytes, from| {
            for _ in 0..200 {
                let _ = socket.send_to(&[0xff; 1_000], from);
            }
            let _ = socket.send_to(bytes, from);
        });
        let load = load(b"", None).patience(1_000);
        let ran = load.run(&flood);
        assert!(tally(&ran).unexpected > 500, "{:?}", tally(&ran));
        assert!(
            ran.outcomes().keys().all(|how| [Outcome::Ok, Outcome::Timeout].contains(how)),
            "{:?}",
            ran.outcomes()
        );
    });
}

#[test]
fn what_fits_no_datagram_is_not_sent() {
    guarded(|| {
        let target = Target::new(true, None, at_once());
        let long = load(&[1; 65_508], None).run(&target.address).all(Outcome::Unsent);
        long.says("do not fit into a datagram").says("Unfit");
        load(b"short", None).run(&target.address).all(Outcome::Unsent).says("ends at byte 8");
        assert_eq!(target.ended().received, 0);
    });
}

#[test]
fn the_answers_of_datagrams_take_what_the_law_says() {
    guarded(|| {
        let law = headway_base::dist::parse("const(20ms)", &|_| Err(String::new())).unwrap();
        let target = Target::new(true, None, law);
        let load = Load { rate: 20.0, length: Nanos::from_millis(400), ..Load::default() };
        let ran = load.of_bytes(Scheme::Udp, b"", None).run(&target.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.done - r.sent.get().unwrap() >= Nanos::from_millis(20)));
        target.ended();
    });
}
