//! Senders of datagrams as test programs used to have them, and a receiver that notes what came: for the lab on UDP.
//!
//! A [`Crowd`] is a number of processes, each of which sends in a loop of its own: it yields after each datagram, or sleeps a random
//! time since the last. [`release`] sends at instants that were fixed before. [`receive_while`] receives in a thread of its own,
//! with the kernel's stamps and its counts of what it dropped.
//!
//! Deliberately absent: plans, records, and what the numbers mean.

mod receiver;

pub use receiver::{Arrival, Receiver, Reception, receive_while, room};

use crate::clock::{UP_BEFORE, unix_now};
use headway_base::Nanos;
use headway_base::random::Stream;
use headway_base::special::exponential;
use headway_base::units::parse_time;
use receiver::{go_back, go_first, keep_to, roam};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// This binary, even if another has taken its place on disk.
const PROGRAM: &str = "/proc/self/exe";

/// The verb by which the binary starts itself as one sender of a crowd.
pub const VERB: &str = "datagram-sender";

/// Bytes of a datagram.
const BYTES: usize = 64;

/// How a sender of a crowd paces itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// It gives up the processor after each datagram (`sched_yield`).
    Yields,
    /// It sleeps an exponential time of that mean after each datagram.
    Sleeps(Nanos),
}

impl Pace {
    /// Reads what [`Crowd::start`] writes.
    ///
    /// # Errors
    /// The text is neither `yields` nor a time.
    pub fn parse(text: &str) -> Result<Pace, headway_base::units::UnitError> {
        if text == "yields" { Ok(Pace::Yields) } else { Ok(Pace::Sleeps(parse_time(text)?)) }
    }

    fn argument(self) -> String {
        match self {
            Pace::Yields => "yields".to_owned(),
            Pace::Sleeps(mean) => format!("{}ns", mean.0),
        }
    }
}

/// What was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Datagrams that the system took.
    pub sent: u64,
    /// Datagrams that it did not take.
    pub failed: u64,
}

impl Sent {
    fn count<T>(&mut self, result: &io::Result<T>) {
        match result {
            Ok(_) => self.sent += 1,
            Err(_) => self.failed += 1,
        }
    }
}

fn socket_to(to: SocketAddr) -> io::Result<UdpSocket> {
    if !to.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "senders send to this machine's loopback alone",
        ));
    }
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(to)?;
    Ok(socket)
}

/// Processes that send.
pub struct Crowd {
    members: Vec<Child>,
}

impl Crowd {
    /// Starts `members` processes of this binary, which wait for [`send_for`](Crowd::send_for).
    ///
    /// # Errors
    /// A process cannot be started.
    pub fn start(members: u32, to: SocketAddr, pace: Pace, seed: u64) -> io::Result<Crowd> {
        let seeds = Stream::new(seed, "senders");
        let mut crowd = Crowd { members: Vec::new() };
        for member in 0..u64::from(members) {
            let child = Command::new(PROGRAM)
                .args([VERB, &to.to_string(), &pace.argument(), &seeds.bits(member, 0).to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            crowd.members.push(child);
        }
        // Each says so when it is ready: none begins while others are still being started.
        for member in &mut crowd.members {
            let mut ready = [0; 1];
            member.stdout.as_mut().ok_or_else(lost)?.read_exact(&mut ready)?;
        }
        Ok(crowd)
    }

    /// Has all of them send for that time; what they sent together.
    ///
    /// # Errors
    /// A process ended early.
    pub fn send_for(mut self, time: Nanos) -> io::Result<Sent> {
        for member in &mut self.members {
            writeln!(member.stdin.as_mut().ok_or_else(lost)?, "{}", time.0)?;
        }
        let mut all = Sent::default();
        for member in &mut self.members {
            let mut told = String::new();
            member.stdout.as_mut().ok_or_else(lost)?.read_to_string(&mut told)?;
            let mut counts = told.split_whitespace().map(str::parse::<u64>);
            let mut next = || counts.next().and_then(Result::ok).ok_or_else(lost);
            all.sent += next()?;
            all.failed += next()?;
        }
        Ok(all)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for member in &mut self.members {
            // One that has ended cannot be killed, and is waited for all the same.
            let _ = member.kill();
            let _ = member.wait();
        }
    }
}

fn lost() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a process that was to send datagrams ended early")
}

/// One member of a crowd: says on standard output that it is ready, waits for a time on standard input, sends for that long, and writes
/// how many were sent and how many the system did not take. Ends without a word if its input does.
///
/// # Errors
/// The address is not of the loopback, or input or output failed.
pub fn send_as_member(to: SocketAddr, pace: Pace, seed: u64) -> io::Result<()> {
    let socket = socket_to(to)?;
    let mut out = io::stdout();
    out.write_all(b".")?;
    out.flush()?;
    let mut line = String::new();
    BufReader::new(io::stdin()).read_line(&mut line)?;
    let Ok(time) = line.trim().parse::<u64>() else { return Ok(()) };
    let end = Instant::now() + Duration::from_nanos(time);
    let sent = send_until(end, &socket, pace, seed);
    writeln!(out, " {} {}", sent.sent, sent.failed)
}

fn send_until(end: Instant, socket: &UdpSocket, pace: Pace, seed: u64) -> Sent {
    let mut draws = Stream::new(seed, "sleeps").item(0);
    let mut all = Sent::default();
    while Instant::now() < end {
        all.count(&socket.send(&[0; BYTES]));
        match pace {
            Pace::Yields => std::thread::yield_now(),
            Pace::Sleeps(mean) => {
                std::thread::sleep(Duration::from_secs_f64(mean.as_secs_f64() * exponential(&mut draws)));
            }
        }
    }
    all
}

/// What [`release`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Released {
    /// What was sent.
    pub sent: Sent,
    /// The zero of the instants, nanoseconds since the Unix epoch.
    pub zero_unix: Nanos,
}

/// Sends one datagram at each of those instants, in order, counted from some milliseconds after the call; before other processes in
/// priority, and on a processor of its own, where that is permitted. One that is late goes at once.
///
/// # Errors
/// The address is not of the loopback.
pub fn release(to: SocketAddr, instants: impl IntoIterator<Item = Nanos>) -> io::Result<Released> {
    const AHEAD: Duration = Duration::from_millis(5);
    let socket = socket_to(to)?;
    let (priority, place) = (go_first(), keep_to(false));
    let zero = Instant::now() + AHEAD;
    let zero_unix = Nanos((unix_now() + AHEAD.as_nanos() as i128) as i64);
    let mut all = Sent::default();
    for at in instants {
        let due = zero + Duration::from_nanos(at.0.max(0) as u64);
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            // Sleeping is good to some tens of microseconds.
            match Nanos(left.as_nanos() as i64) {
                long if long > UP_BEFORE + UP_BEFORE => {
                    std::thread::sleep(left - Duration::from_nanos(UP_BEFORE.0 as u64))
                }
                _ => std::hint::spin_loop(),
            }
        }
        all.count(&socket.send(&[0; BYTES]));
    }
    roam(place);
    go_back(priority);
    Ok(Released { sent: all, zero_unix })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_read_as_it_is_written() {
        for pace in [Pace::Yields, Pace::Sleeps(Nanos::from_micros(200)), Pace::Sleeps(Nanos(1))] {
            assert_eq!(Pace::parse(&pace.argument()).unwrap(), pace);
        }
        assert!(Pace::parse("often").is_err());
    }

    #[test]
    fn senders_keep_to_the_loopback() {
        let elsewhere = SocketAddr::from(([192, 0, 2, 1], 9));
        assert!(release(elsewhere, []).is_err());
        assert!(send_as_member(elsewhere, Pace::Yields, 1).is_err());
    }

    /// What was sent was received or dropped, each arrival after its instant, read after it came.
    #[test]
    fn a_receiver_counts_what_was_released() {
        let instants: Vec<Nanos> = (0..400).map(|i| Nanos(i / 100 * 1_000_000)).collect();
        let receiver = Receiver { keep: true, ..Receiver::default() };
        let (released, reception) = receive_while(receiver, |to| release(to, instants.clone())).unwrap();
        assert_eq!(released.sent, Sent { sent: 400, failed: 0 });
        assert_eq!(reception.received + reception.dropped, 400);
        assert_eq!(reception.arrivals.len() as u64, reception.received);
        for arrival in &reception.arrivals {
            assert!(arrival.read >= arrival.at, "{arrival:?}");
        }
        let first = reception.arrivals[0].at - released.zero_unix;
        // The two clocks are read one after the other.
        assert!(first > -Nanos::from_millis(1), "{first}");
    }

    #[test]
    fn a_smaller_buffer_has_less_room() {
        let (small, usual) = (room(Some(16 << 10)).unwrap(), room(None).unwrap());
        assert!(small >= 10 && small < usual, "{small} {usual}");
    }

    #[test]
    fn a_sender_sleeps_or_yields_until_its_time_is_over() {
        let receiver = Receiver::default();
        let (sent, reception) = receive_while(receiver, |to| {
            let socket = socket_to(to)?;
            let end = || Instant::now() + Duration::from_millis(20);
            let slept = send_until(end(), &socket, Pace::Sleeps(Nanos::from_millis(1)), 3);
            let yielded = send_until(end(), &socket, Pace::Yields, 3);
            Ok((slept.sent, yielded.sent))
        })
        .unwrap();
        assert!((1..=200).contains(&sent.0) && sent.1 >= 1, "{sent:?}");
        assert_eq!(reception.received + reception.dropped, sent.0 + sent.1);
    }
}
