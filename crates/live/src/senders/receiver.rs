//! The receiver: reads one datagram after the other, as the servers of such tests did, and takes its time for each if asked to.

use super::BYTES;
use crate::clock::unix_now;
use crate::control::Control;
use crate::host::scheduled;
use crate::reactor::receive::{ask_for_drops, ask_for_stamps, drops, receive_from};
use crate::reactor::socket::bind_datagrams;
use headway_base::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::thread::CpuSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

/// Nothing that was sent before is still under way on the loopback after this.
const SETTLED: Duration = Duration::from_millis(60);
/// How often a receiver without datagrams looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(20);
/// The highest priority of a thread that shares its processor fairly (setpriority(2)).
const FIRST: i32 = -20;
/// More than any buffer holds.
const TOO_MANY: u64 = 1_000_000;

/// What a receiver is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Receiver {
    /// Size of the socket's buffer as asked for, in bytes; none: the system's.
    pub buffer: Option<usize>,
    /// How long each datagram takes it.
    pub work: Nanos,
    /// Whether it keeps when each came.
    pub keep: bool,
    /// Whether it goes before other processes, where that is permitted, and on a processor that is not the source's, where there are several.
    pub first: bool,
}

/// A datagram that was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When the kernel took it in, nanoseconds since the Unix epoch.
    pub at: Nanos,
    /// When the receiver had it, likewise.
    pub read: Nanos,
    /// How many the kernel had dropped before it; modulo 2^32.
    pub dropped: u32,
}

/// What a receiver saw.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reception {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams that the kernel dropped, because the socket's buffer was full.
    pub dropped: u64,
    /// Each that was received, where they were kept.
    pub arrivals: Vec<Arrival>,
    /// Share of its time for which it was ready and had no processor; none where the system does not say.
    pub waited: Option<f64>,
    /// Whether it went before other processes.
    pub first: bool,
}

/// Receives on a free port of the loopback in a thread of its own while `sends` runs, and until all that was sent has been read.
///
/// # Errors
/// The system gives no socket or does not count what it drops, or `sends` failed.
pub fn receive_while<T>(
    receiver: Receiver,
    sends: impl FnOnce(SocketAddr) -> io::Result<T>,
) -> io::Result<(T, Reception)> {
    let (socket, address) = bound(receiver.buffer)?;
    rustix::io::ioctl_fionbio(&socket, false)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(LOOK))?;
    if receiver.keep && !(ask_for_stamps(&socket) && ask_for_drops(&socket)) {
        return Err(unsupported());
    }
    let control = Control::default();
    thread::scope(|scope| {
        let receiving = scope.spawn(|| receiver.receive(&socket, &control));
        let sent = sends(address);
        thread::sleep(SETTLED);
        control.stop();
        let received = receiving.join().map_err(|_| io::Error::other("the receiver panicked"))?;
        Ok((sent?, received?))
    })
}

/// How many datagrams of the senders' size fit into a buffer of that size that is not read.
///
/// # Errors
/// The system gives no socket, or does not count what it drops.
pub fn room(buffer: Option<usize>) -> io::Result<u64> {
    let (socket, address) = bound(buffer)?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    for fits in 0..TOO_MANY {
        sender.send_to(&[0; BYTES], address)?;
        if drops(&socket).ok_or_else(unsupported)? > 0 {
            return Ok(fits);
        }
    }
    Err(io::Error::other("the buffer of the socket has no end"))
}

fn bound(buffer: Option<usize>) -> io::Result<(OwnedFd, SocketAddr)> {
    let (socket, address) = bind_datagrams((Ipv4Addr::LOCALHOST, 0).into())?;
    if let Some(bytes) = buffer {
        sockopt::set_socket_recv_buffer_size(&socket, bytes)?;
    }
    Ok((socket, address))
}

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this system does not tell when datagrams came, or how many it dropped",
    )
}

/// Puts this thread before others, where that is permitted; the priority that it had.
pub(super) fn go_first() -> Option<i32> {
    let before = rustix::process::getpriority_process(None).ok()?;
    rustix::process::setpriority_process(None, FIRST).ok()?;
    Some(before)
}

/// Puts this thread on one of the processors that it may use: the first of them, or the last; where it was before. None where there is one alone.
pub(super) fn keep_to(last: bool) -> Option<CpuSet> {
    let before = rustix::thread::sched_getaffinity(None).ok()?;
    let mut all = (0..CpuSet::MAX_CPU).filter(|&cpu| before.is_set(cpu));
    let (first, second) = (all.next()?, all.next()?);
    let mut only = CpuSet::new();
    only.set(if last { all.next_back().unwrap_or(second) } else { first });
    rustix::thread::sched_setaffinity(None, &only).ok()?;
    Some(before)
}

/// Lets this thread run where it could before.
pub(super) fn roam(before: Option<CpuSet>) {
    // What was permitted before is permitted again.
    let _ = before.map(|before| rustix::thread::sched_setaffinity(None, &before));
}

/// Gives this thread the priority back that it had.
pub(super) fn go_back(before: Option<i32>) {
    // To lower one's priority is always permitted.
    let _ = before.map(|before| rustix::process::setpriority_process(None, before));
}

fn wall() -> Nanos {
    Nanos(unix_now() as i64)
}

impl Receiver {
    fn receive(self, socket: &OwnedFd, control: &Control) -> io::Result<Reception> {
        // Its thread ends with it, and has nothing to give back.
        let first = self.first && go_first().is_some();
        let _ = self.first.then(|| keep_to(true));
        let (before, began) = (scheduled(), wall());
        let mut all = Reception { first, ..Reception::default() };
        if self.keep {
            all.arrivals.reserve(1 << 20);
        }
        let mut buffer = [0; 2_048];
        let mut asked = wall();
        loop {
            match receive_from(socket, &mut buffer) {
                Ok(datagram) => {
                    all.received += 1;
                    if !self.keep && self.work <= Nanos::ZERO {
                        continue;
                    }
                    let came = wall();
                    let at = datagram.stamp.map_or(came, |stamp| Nanos(stamp.0 as i64));
                    let read = came.max(at);
                    if self.keep {
                        all.arrivals.push(Arrival { at, read, dropped: datagram.dropped });
                    }
                    // One that had waited is worked on from when it was asked for.
                    let begins = if at < asked { asked } else { read };
                    while wall() < begins + self.work {
                        std::hint::spin_loop();
                    }
                    asked = wall();
                }
                Err(Errno::AGAIN) if control.asked() > 0 => break,
                Err(Errno::AGAIN | Errno::INTR) => asked = wall(),
                Err(error) => return Err(error.into()),
            }
        }
        let lasted = (wall() - began).as_secs_f64();
        all.waited = before
            .zip(scheduled())
            .map(|(before, after)| (after.waited - before.waited).as_secs_f64() / lasted);
        all.dropped = u64::from(drops(socket).ok_or_else(unsupported)?);
        Ok(all)
    }
}
