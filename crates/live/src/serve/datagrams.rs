//! The calibrated target over UDP: sends each datagram back, or counts them.
//!
//! An answer leaves when the station says so, as those of HTTP do, and is as long as what came: nothing can be made larger by sending
//! it here under a forged address.

use super::ArrivalsLog;
use crate::clock::{Clock, UP_BEFORE};
use crate::control::Control;
use crate::reactor::receive::{Datagram, ask_for_drops, ask_for_stamps, drops, receive_from};
use crate::reactor::socket::bind_datagrams;
use crate::reactor::{Waker, timespec};
use headway_base::Nanos;
use headway_base::dist::Dist;
use headway_base::dist::Law as _;
use headway_base::random::{Stream, streams};
use headway_base::station::{Admission, Stalls, Station};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::io::Errno;
use rustix::net::{SendFlags, sendto};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;

/// Bytes of memory of answers that wait for their instant, at most: past it a datagram is rejected.
const HELD_AT_MOST: usize = 64 << 20;

/// Senders which the log distinguishes; all others have this number. Addresses can be forged.
const MOST_SENDERS: u64 = 1 << 20;

/// What an answer of that length takes of memory while it waits: its bytes, and its place.
fn memory_of(bytes: usize) -> usize {
    bytes + size_of::<Reverse<(Nanos, u64, Answer)>>() + 16
}

/// Datagrams that are read in a row before it looks whether it is to stop.
const IN_A_ROW: u32 = 64;

/// What the target is.
#[derive(Clone, Debug)]
pub struct DatagramSettings {
    /// Law of the time each datagram takes of one server.
    pub service: Dist,
    /// How many servers share the queue.
    pub servers: u32,
    /// How many may wait; further ones get no answer. None is no limit.
    pub queue: Option<usize>,
    /// Regular interruptions of all service.
    pub stalls: Option<Stalls>,
    /// Whether datagrams are sent back, or only counted.
    pub answers: bool,
    /// Of the demands.
    pub seed: u64,
}

/// What the target did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatagramReport {
    /// Datagrams received.
    pub received: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of those, sent back.
    pub answered: u64,
    /// Not sent back, because the queue was full.
    pub rejected: u64,
    /// Not sent back, because the system did not take the answer.
    pub unsent: u64,
    /// Dropped by the kernel, because the socket's buffer was full; none: it does not tell.
    pub dropped: Option<u32>,
}

/// A target that is bound, and serves once it is [`run`](DatagramServer::run).
pub struct DatagramServer {
    socket: OwnedFd,
    address: SocketAddr,
    settings: DatagramSettings,
    control: Control,
    waker: Waker,
    clock: Clock,
    log: Option<ArrivalsLog>,
    /// Numbers of senders, in the order of their first datagrams; kept for the log.
    senders: HashMap<SocketAddr, u64>,
    station: Station,
    demand: Stream,
    departures: BinaryHeap<Reverse<(Nanos, u64, Answer)>>,
    held: usize,
    report: DatagramReport,
}

type Answer = (SocketAddr, Vec<u8>);

impl DatagramServer {
    /// Binds to `address` (port 0: a free one).
    ///
    /// # Errors
    /// The address is taken, not this machine's, or not permitted.
    pub fn bind(
        address: SocketAddr,
        settings: DatagramSettings,
        log: Option<ArrivalsLog>,
        control: Control,
    ) -> io::Result<DatagramServer> {
        let (socket, address) = bind_datagrams(address)?;
        if log.is_some() {
            ask_for_stamps(&socket);
            ask_for_drops(&socket);
        }
        let waker = Waker::new()?;
        control.register(waker.clone());
        Ok(DatagramServer {
            socket,
            address,
            station: Station::new(settings.servers, settings.queue, settings.stalls),
            demand: Stream::new(settings.seed, streams::SERVICE),
            settings,
            control,
            waker,
            clock: Clock::starting_in(Nanos::ZERO),
            log,
            senders: HashMap::new(),
            departures: BinaryHeap::new(),
            held: 0,
            report: DatagramReport::default(),
        })
    }

    /// Where it receives.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the control is asked to stop; then says what it did.
    ///
    /// # Errors
    /// The socket or the arrivals log failed.
    pub fn run(mut self) -> io::Result<DatagramReport> {
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Stalls are counted from here.
        self.clock = Clock::starting_in(Nanos::ZERO);
        let mut buffer = vec![0; 64 << 10];
        loop {
            // What has come by the time it is asked to stop is still received.
            let stops = self.control.asked() > 0;
            let now = self.release_due();
            let wake = self.departures.peek().map(|Reverse((at, ..))| *at - UP_BEFORE - now);
            self.wait(wake)?;
            for _ in 0..IN_A_ROW {
                match receive_from(&self.socket, &mut buffer) {
                    Ok(datagram) => self.received(&datagram, &buffer)?,
                    Err(Errno::AGAIN) => break,
                    // An answer met a closed port: that concerns its sender alone.
                    Err(Errno::INTR | Errno::CONNREFUSED | Errno::HOSTUNREACH | Errno::NETUNREACH) => {}
                    Err(error) => return Err(error.into()),
                }
                self.release_due();
            }
            if stops {
                break;
            }
        }
        if let Some(log) = &mut self.log {
            log.flush()?;
        }
        self.report.dropped = drops(&self.socket);
        Ok(self.report)
    }

    /// Until a datagram comes, it is to stop, or that time is over.
    fn wait(&self, time: Option<Nanos>) -> io::Result<()> {
        let timeout = time.map(timespec);
        let mut watched = [
            PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.waker.as_fd(), PollFlags::IN),
        ];
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn received(&mut self, datagram: &Datagram, buffer: &[u8]) -> io::Result<()> {
        let now = self.clock.now();
        let number = self.report.received;
        self.report.received += 1;
        self.report.bytes += datagram.bytes as u64;
        if let Some(log) = &mut self.log {
            let new = self.senders.len() as u64;
            let sender = match self.senders.get(&datagram.from) {
                Some(sender) => *sender,
                None if new < MOST_SENDERS => {
                    self.senders.insert(datagram.from, new);
                    new
                }
                None => MOST_SENDERS,
            };
            let unix = datagram.stamp.map(|stamp| stamp.0);
            log.datagram(sender, unix, || self.clock.unix_nanos(now), datagram.dropped)?;
        }
        if !self.settings.answers {
            return Ok(());
        }
        let demand = self.settings.service.sample(&mut self.demand.item(number));
        let taken = memory_of(datagram.bytes);
        if self.held + taken > HELD_AT_MOST {
            self.report.rejected += 1;
            return Ok(());
        }
        match self.station.arrive(now, Nanos::from_secs_f64(demand)) {
            Admission::Rejected => self.report.rejected += 1,
            Admission::Departs(at) => {
                self.held += taken;
                let answer = (datagram.from, buffer[..datagram.bytes].to_vec());
                self.departures.push(Reverse((at, number, answer)));
            }
        }
        Ok(())
    }

    /// Sends the answers that are due; returns the clock after the last.
    fn release_due(&mut self) -> Nanos {
        loop {
            let now = self.clock.now();
            if self.departures.peek().is_none_or(|Reverse((at, ..))| *at > now) {
                return now;
            }
            let Some(Reverse((.., (to, bytes)))) = self.departures.pop() else { return now };
            self.held -= memory_of(bytes.len());
            match sendto(&self.socket, &bytes, SendFlags::empty(), &to) {
                Ok(_) => self.report.answered += 1,
                Err(_) => self.report.unsent += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, UdpSocket};

    /// Answers wait as long as what they take of memory, their places among it, is within the bound; what left takes none.
    #[test]
    fn what_waits_is_bounded_whatever_its_length() {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let sender = UdpSocket::bind(here).unwrap();
        let service = headway_base::dist::parse("const(0s)", &|_| Err("no files here".to_owned())).unwrap();
        let settings =
            DatagramSettings { service, servers: 1, queue: None, stalls: None, answers: true, seed: 3 };
        let mut server = DatagramServer::bind(here, settings, None, Control::default()).unwrap();
        let buffer = vec![0; 64 << 10];
        for bytes in [0, 65_507] {
            let place = size_of::<Reverse<(Nanos, u64, Answer)>>();
            let too_many = HELD_AT_MOST / (bytes + place) + 1;
            let datagram = Datagram { bytes, stamp: None, from: sender.local_addr().unwrap(), dropped: 0 };
            server.report = DatagramReport::default();
            for _ in 0..too_many {
                server.received(&datagram, &buffer).unwrap();
            }
            let waiting = server.departures.len();
            assert_eq!(waiting + server.report.rejected as usize, too_many);
            assert!(waiting < too_many, "{bytes} bytes: {waiting} wait");
            // The bound is used, for all but what the allocator is taken to need.
            assert!(waiting >= too_many * 3 / 4, "{bytes} bytes: {waiting} wait");
            server.release_due();
            assert_eq!((server.departures.len(), server.held), (0, 0));
        }
    }
}
