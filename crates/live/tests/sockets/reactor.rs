//! The reactor by itself: what it tells, in which order, and of whom.

use crate::harness::{HANG, guarded};
use headway_base::Nanos;
use headway_live::Address;
use headway_live::reactor::{Completion, KernelStamp, Reactor, Submitted, Token};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

struct Target(TcpListener, Address);

fn target() -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    Target(listener, address)
}

/// Completions until one is wanted, and all that came before it.
fn until(reactor: &mut Reactor, buffer: &mut [u8], wanted: impl Fn(&Completion) -> bool) -> Vec<Completion> {
    let (mut seen, began) = (Vec::new(), Instant::now());
    loop {
        while let Some(completion) = reactor.next(buffer) {
            let over = wanted(&completion);
            seen.push(completion);
            if over {
                return seen;
            }
        }
        assert!(began.elapsed() < HANG, "{seen:?}");
        reactor.wait(Some(Nanos::from_secs(1))).unwrap();
    }
}

/// A connection of the reactor, and its other end.
fn connected(reactor: &mut Reactor, token: Token, target: &Target) -> TcpStream {
    reactor.connect(token, &target.1, None).unwrap();
    let (peer, _) = target.0.accept().unwrap();
    until(reactor, &mut [0; 16], |c| matches!(c, Completion::Connected(t, Ok(())) if *t == token));
    peer
}

#[test]
fn a_token_used_again_hears_nothing_of_its_earlier_socket() {
    guarded(|| {
        let (mut reactor, target) = (Reactor::new(false).unwrap(), target());
        let mut first = connected(&mut reactor, 0, &target);
        let mut other = connected(&mut reactor, 1, &target);
        // Both have something, in one batch; the first to be told of closes the other and takes its name again.
        first.write_all(b"old").unwrap();
        other.write_all(b"old").unwrap();
        drop((first, other));
        reactor.wait(None).unwrap();
        let mut buffer = [0; 16];
        let Some(Completion::Received(token, 3, _)) = reactor.next(&mut buffer) else { panic!("bytes came") };
        let again = 1 - token;
        reactor.close(token);
        reactor.close(again);
        let mut fresh = {
            reactor.connect(again, &target.1, None).unwrap();
            target.0.accept().unwrap().0
        };
        fresh.write_all(b"fresh").unwrap();
        let seen = until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Received(..)));
        assert!(
            matches!(seen[..], [Completion::Connected(a, Ok(())), Completion::Received(b, 5, _)] if a == again && b == again),
            "{seen:?}"
        );
    });
}

/// A connection (8) whose packets have stamps: the kernel makes them while a socket asks for it, and begins a moment after the first one did.
fn stamped(reactor: &mut Reactor, target: &Target) -> TcpStream {
    let mut peer = connected(reactor, 8, target);
    let mut buffer = [0; 16];
    loop {
        peer.write_all(b"?").unwrap();
        let seen = until(reactor, &mut buffer, |c| matches!(c, Completion::Received(..)));
        if matches!(seen[..], [Completion::Received(8, _, Some(_))]) {
            return peer;
        }
    }
}

/// The socket of an attempt that is given up connects anew: nothing of the attempt before is told of it.
#[test]
fn an_attempt_after_one_that_was_given_up_hears_nothing_of_it() {
    guarded(|| {
        let (mut reactor, full, open) = (Reactor::new(true).unwrap(), target(), target());
        rustix::net::listen(&full.0, 0).unwrap();
        // The queue holds one more than it is to.
        let _waits = TcpStream::connect(full.0.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 16];
        let _stamped = stamped(&mut reactor, &open);
        for round in 0..50 {
            reactor.connect(round % 4, &full.1, None).unwrap();
            reactor.wait(Some(Nanos::ZERO)).unwrap();
            assert!(reactor.next(&mut buffer).is_none(), "a full queue tells nothing");
            reactor.close(round % 4);
            if round % 10 == 0 {
                let mut peer = connected(&mut reactor, 9, &open);
                peer.write_all(b"hello").unwrap();
                let seen = until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Received(..)));
                assert!(matches!(seen[..], [Completion::Received(9, 5, Some(_))]), "{seen:?}");
                reactor.close(9);
            }
        }
        let port = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
        reactor.connect(1, &full.1, None).unwrap();
        reactor.close(1);
        let refused = match reactor.connect(1, &Address::Tcp(port), None) {
            Err(error) => error,
            Ok(()) => match until(&mut reactor, &mut buffer, |_| true).pop() {
                Some(Completion::Connected(1, Err(error))) => error,
                other => panic!("{other:?}"),
            },
        };
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        // From an address of its own, and not by the socket that had none.
        reactor.connect(2, &full.1, None).unwrap();
        reactor.close(2);
        reactor.connect(2, &open.1, Some("127.0.0.7".parse().unwrap())).unwrap();
        assert_eq!(open.0.accept().unwrap().1.ip().to_string(), "127.0.0.7");
    });
}

#[test]
fn a_unix_socket_closed_before_it_was_told_of_is_not_told_of() {
    guarded(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let mut reactor = Reactor::new(false).unwrap();
        let address = Address::Unix(path);
        for _ in 0..3 {
            reactor.connect(7, &address, None).unwrap();
            reactor.close(7);
        }
        reactor.connect(7, &address, None).unwrap();
        for _ in 0..3 {
            drop(listener.accept().unwrap());
        }
        let (mut last, _) = listener.accept().unwrap();
        last.write_all(b"x").unwrap();
        let seen = until(&mut reactor, &mut [0; 16], |c| matches!(c, Completion::Received(..)));
        assert!(
            matches!(seen[..], [Completion::Connected(7, Ok(())), Completion::Received(7, 1, _)]),
            "{seen:?}"
        );
    });
}

#[test]
fn a_socket_with_much_to_read_lets_the_others_have_their_turn() {
    guarded(|| {
        let (mut reactor, target) = (Reactor::new(false).unwrap(), target());
        let mut much = connected(&mut reactor, 0, &target);
        let mut little = connected(&mut reactor, 1, &target);
        much.write_all(&[0; 100_000]).unwrap();
        drop(much);
        little.write_all(b"x").unwrap();
        let mut buffer = [0; 100];
        let seen = until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Received(1, ..)));
        assert!(seen.len() <= 3, "{} came first", seen.len());
        // None of the rest is lost, and the end comes last.
        let rest = until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Ended(0)));
        let bytes = |c: &Completion| match c {
            Completion::Received(0, bytes, _) => *bytes,
            _ => 0,
        };
        assert_eq!(seen.iter().chain(&rest).map(bytes).sum::<usize>(), 100_000);
    });
}

#[test]
fn what_came_before_a_send_failed_is_told_before_the_failure() {
    guarded(|| {
        let (mut reactor, target) = (Reactor::new(false).unwrap(), target());
        let mut peer = connected(&mut reactor, 0, &target);
        assert!(matches!(reactor.send(0, vec![b'x'; 50_000_000]), Submitted::Pending));
        assert!(reactor.is_sending(0) && !reactor.is_sound(0));
        peer.read_exact(&mut [0; 10]).unwrap();
        peer.write_all(b"enough").unwrap();
        // With the rest unread: a reset.
        drop(peer);
        let seen = until(&mut reactor, &mut [0; 100], |c| {
            matches!(c, Completion::Failed(0, _) | Completion::Ended(0))
        });
        assert!(matches!(seen[..], [Completion::Received(0, 6, _), Completion::Failed(0, _)]), "{seen:?}");
        // On a socket that has failed there is nothing to wait for.
        assert!(matches!(reactor.send(0, b"more".to_vec()), Submitted::Done(_)));
        assert!(matches!(reactor.send(5, b"nobody".to_vec()), Submitted::Done(_)));
    });
}

#[test]
fn another_thread_can_wake_it() {
    guarded(|| {
        let mut reactor = Reactor::new(false).unwrap();
        let waker = reactor.waker();
        let waking = std::thread::spawn(move || waker.wake());
        let seen = until(&mut reactor, &mut [0; 1], |c| matches!(c, Completion::Woken));
        assert_eq!(seen.len(), 1);
        waking.join().unwrap();
        assert!(reactor.next(&mut [0; 1]).is_none());
    });
}

fn wall() -> KernelStamp {
    KernelStamp(headway_live::clock::unix_now())
}

/// A watched send arrives whole, like any other, and is told to have left; the stamp in the socket's error queue is no error.
#[test]
fn a_watched_send_arrives_whole_and_has_left_when_the_kernel_says_so() {
    guarded(|| {
        let (mut reactor, target) = (Reactor::new(true).unwrap(), target());
        let _stamped = stamped(&mut reactor, &target);
        let mut peer = connected(&mut reactor, 0, &target);
        let mut buffer = [0; 16];
        for length in [1, 999, 1_000, 1_001, 5_000, 300_000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let began = Instant::now();
            let reader = {
                let mut peer = peer.try_clone().unwrap();
                std::thread::spawn(move || {
                    let mut seen = vec![0; length];
                    peer.read_exact(&mut seen).unwrap();
                    seen
                })
            };
            let (submitted, departed) = reactor.send_watched(0, bytes.clone(), wall());
            // On a loopback device nothing waits, but for room in the socket.
            let departed = departed.unwrap_or_else(|| {
                let seen = until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Departed(..)));
                let Some(Completion::Departed(0, departed)) = seen.last() else { panic!("{seen:?}") };
                *departed
            });
            assert!(
                !departed.by_peer && departed.after <= Nanos(began.elapsed().as_nanos() as i64),
                "{departed:?}"
            );
            if matches!(submitted, Submitted::Pending) {
                until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Sent(..)));
            }
            assert_eq!(reader.join().unwrap(), bytes);
            peer.write_all(b"fine").unwrap();
            let seen = until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Received(..)));
            assert!(matches!(seen[..], [Completion::Received(0, 4, Some(_))]), "{seen:?}");
            assert!(reactor.is_sound(0));
            assert_eq!(reactor.give_up_watch(0, wall()), None);
        }
        drop(peer);
        until(&mut reactor, &mut buffer, |c| matches!(c, Completion::Ended(0)));
    });
}

/// Behind bytes that the peer does not read, a request stays in this machine; that is the peer's doing.
#[test]
fn what_waits_for_the_peer_to_read_is_told_as_the_peers() {
    guarded(|| {
        let (mut reactor, target) = (Reactor::new(true).unwrap(), target());
        rustix::net::sockopt::set_socket_recv_buffer_size(&target.0, 4_096).unwrap();
        let mut peer = connected(&mut reactor, 0, &target);
        assert!(matches!(reactor.send(0, vec![7; 12_000]), Submitted::Done(_)));
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (submitted, departed) = reactor.send_watched(0, vec![8; 100], wall());
        assert!(matches!((submitted, departed), (Submitted::Done(_), None)));
        std::thread::sleep(std::time::Duration::from_millis(60));
        let reader = std::thread::spawn(move || {
            let mut seen = vec![0; 12_100];
            peer.read_exact(&mut seen).map(|()| seen[12_000..].to_vec())
        });
        let seen = until(&mut reactor, &mut [0; 16], |c| matches!(c, Completion::Departed(..)));
        let Some(Completion::Departed(0, departed)) = seen.last() else { panic!("{seen:?}") };
        assert!(departed.by_peer && departed.after >= Nanos::from_millis(60), "{departed:?}");
        assert_eq!(reader.join().unwrap().unwrap(), [8; 100]);

        // Given up before it leaves, it has stayed for that long.
        let other = connected(&mut reactor, 1, &target);
        assert!(matches!(reactor.send(1, vec![7; 12_000]), Submitted::Done(_)));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(matches!(reactor.send_watched(1, vec![8; 100], wall()), (Submitted::Done(_), None)));
        std::thread::sleep(std::time::Duration::from_millis(30));
        let departed = reactor.give_up_watch(1, wall()).unwrap();
        assert!(departed.by_peer && departed.after >= Nanos::from_millis(30), "{departed:?}");
        drop(other);
    });
}

/// Two connected sockets of datagrams, the first of them the reactor's.
fn datagrams(reactor: &mut Reactor, token: Token) -> UdpSocket {
    let (ours, theirs) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    ours.connect(theirs.local_addr().unwrap()).unwrap();
    theirs.connect(ours.local_addr().unwrap()).unwrap();
    theirs.set_read_timeout(Some(HANG)).unwrap();
    reactor.adopt_datagrams(token, ours.into()).unwrap();
    theirs
}

#[test]
fn datagrams_come_one_by_one_even_if_short_or_empty() {
    guarded(|| {
        for stamps in [false, true] {
            let mut reactor = Reactor::new(stamps).unwrap();
            let peer = datagrams(&mut reactor, 3);
            for length in [5, 0, 300, 0, 1] {
                peer.send(&vec![length as u8; length]).unwrap();
            }
            // An edge tells of all five; a read of five bytes says nothing of the others, and one of none is no end.
            let seen = until(&mut reactor, &mut [0; 1_000], |c| matches!(c, Completion::Received(3, 1, _)));
            let lengths: Vec<usize> = seen
                .iter()
                .map(|completion| match completion {
                    Completion::Received(3, length, stamp) => {
                        assert_eq!(stamp.is_some(), stamps);
                        *length
                    }
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(lengths, [5, 0, 300, 0, 1]);
            assert!(reactor.next(&mut [0; 16]).is_none(), "and no end");
        }
    });
}

#[test]
fn datagrams_are_never_put_together() {
    guarded(|| {
        let mut reactor = Reactor::new(false).unwrap();
        let peer = datagrams(&mut reactor, 0);
        for n in 0..200u8 {
            assert!(matches!(reactor.send(0, vec![n; usize::from(n)]), Submitted::Done(_)));
            let mut buffer = [0; 1_000];
            assert_eq!(peer.recv(&mut buffer).unwrap(), usize::from(n));
            assert!(buffer[..usize::from(n)].iter().all(|&byte| byte == n));
        }
    });
}

/// A Unix socket of datagrams takes no more until its peer reads: what waits goes out whole, one by one and in order.
#[test]
fn datagrams_that_have_to_wait_keep_their_boundaries() {
    guarded(|| {
        let mut reactor = Reactor::new(false).unwrap();
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        reactor.adopt_datagrams(0, ours.into()).unwrap();
        let mut waiting = 0;
        for n in 0..1_000u16 {
            let datagram = [&n.to_be_bytes()[..], &vec![1; usize::from(n % 50)]].concat();
            waiting += u32::from(matches!(reactor.send(0, datagram), Submitted::Pending));
        }
        assert!(waiting > 0, "the system takes a thousand datagrams at once");
        theirs.set_read_timeout(Some(HANG)).unwrap();
        let (mut buffer, mut sent) = ([0; 1_000], 0);
        for n in 0..1_000u16 {
            let length = theirs.recv(&mut buffer).unwrap();
            assert_eq!((length, &buffer[..2]), (2 + usize::from(n % 50), &n.to_be_bytes()[..]));
            reactor.wait(Some(Nanos::ZERO)).unwrap();
            while let Some(completion) = reactor.next(&mut [0; 16]) {
                assert!(matches!(completion, Completion::Sent(0, _)), "{completion:?}");
                sent += 1;
            }
        }
        assert_eq!(sent, waiting);
    });
}

/// EMSGSIZE is one datagram's, as on a way whose packets are smaller: those before and after it go out. (A Unix socket says so of what is
/// larger than its buffer.)
#[test]
fn a_datagram_that_is_too_long_for_the_way_is_refused_alone() {
    guarded(|| {
        let mut reactor = Reactor::new(false).unwrap();
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        reactor.adopt_datagrams(0, ours.into()).unwrap();
        for n in 0..3u8 {
            assert!(matches!(reactor.send(0, vec![n; 10]), Submitted::Done(_)));
            let Submitted::Refused(bytes, error) = reactor.send(0, vec![n; 1 << 20]) else {
                panic!("it was sent")
            };
            assert_eq!((bytes.len(), error.raw_os_error()), (1 << 20, Some(libc::EMSGSIZE)));
            assert!(!reactor.is_sending(0));
        }
        theirs.set_read_timeout(Some(HANG)).unwrap();
        let mut buffer = [0; 100];
        for n in 0..3 {
            assert_eq!(theirs.recv(&mut buffer).unwrap(), 10);
            assert_eq!(buffer[0], n);
        }
        reactor.wait(Some(Nanos::ZERO)).unwrap();
        assert!(reactor.next(&mut buffer).is_none(), "none has failed");
    });
}

#[test]
fn a_datagram_that_nothing_listens_to_fails_and_the_socket_goes_on() {
    guarded(|| {
        let mut reactor = Reactor::new(false).unwrap();
        let peer = datagrams(&mut reactor, 0);
        let (address, ours) = (peer.local_addr().unwrap(), peer.peer_addr().unwrap());
        drop(peer);
        reactor.send(0, b"nobody".to_vec());
        let seen = until(&mut reactor, &mut [0; 16], |c| matches!(c, Completion::Failed(0, _)));
        assert_eq!(seen.len(), 1, "{seen:?}");
        let peer = UdpSocket::bind(address).unwrap();
        peer.send_to(b"back", ours).unwrap();
        until(&mut reactor, &mut [0; 16], |c| matches!(c, Completion::Received(0, 4, _)));
    });
}

/// Although nothing looks at it meanwhile, the kernel knows how long a connection has been established, to its tick.
#[test]
fn the_kernel_tells_for_how_long_a_connection_has_stood() {
    guarded(|| {
        let (mut reactor, target) = (Reactor::new(false).unwrap(), target());
        let opened = Instant::now();
        reactor.connect(0, &target.1, None).unwrap();
        let connecting = opened.elapsed();
        std::thread::sleep(Duration::from_millis(60));
        until(&mut reactor, &mut [0; 16], |c| matches!(c, Completion::Connected(0, Ok(()))));
        // Over loopback it stands when connecting returns.
        let stood = reactor.stood_for(0);
        let (tick, most) = (Nanos::from_millis(10), Nanos::from_secs_f64(opened.elapsed().as_secs_f64()));
        let least = most - Nanos::from_secs_f64(connecting.as_secs_f64()) - tick;
        assert!(
            least > Nanos::from_millis(40) && (least..most + tick).contains(&stood),
            "{stood}, of {most}"
        );
        assert_eq!(reactor.stood_for(1), Nanos::ZERO, "there is none");
    });
}
