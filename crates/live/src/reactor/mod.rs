//! Sockets as completions: submit an operation, learn later how it went.
//!
//! The interface is the one that io_uring has: connect, send (which takes its buffer and gives it back), receive
//! (standing, from the moment a socket is connected or accepted), accept (standing). Here epoll emulates it, edge
//! triggered, so that a socket costs one `epoll_ctl` in its life; a send is tried at once and usually completes there.
//!
//! Sockets take turns: one that fills the whole buffer is read on only after all others that have something, and after
//! the caller has had its say. And bytes that arrived before a send failed are delivered before the failure: a target that answers
//! early and closes (413 to a large body) has answered.
//!
//! A socket carries a stream or datagrams. Those keep their boundaries both ways.
//!
//! Deliberately absent: what the bytes mean, timers (the caller knows when it wants to be woken), and the clock.

mod departure;
mod events;
pub(crate) mod receive;
pub(crate) mod socket;
mod tcp_info;

pub use departure::Departure;
pub use socket::Listener;

use departure::Watch;
use headway_base::Nanos;
use receive::{Received, receive};
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use crate::address::Address;

/// The caller's name for a socket: small numbers, used again after [`Reactor::close`].
pub type Token = u32;

const WAKER: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;
const EVENTS_PER_WAIT: usize = 256;

/// What epoll tells of a socket, once each time.
const WATCHED: epoll::EventFlags = epoll::EventFlags::IN
    .union(epoll::EventFlags::OUT)
    .union(epoll::EventFlags::RDHUP)
    .union(epoll::EventFlags::ET);

/// The peer has closed, or the socket failed.
const ENDING: epoll::EventFlags =
    epoll::EventFlags::RDHUP.union(epoll::EventFlags::HUP).union(epoll::EventFlags::ERR);

/// What an operation came to.
#[derive(Debug)]
pub enum Completion {
    /// The connection stands, or why it does not.
    Connected(Token, io::Result<()>),
    /// Bytes came, or one datagram: that many, at the front of the buffer given to [`Reactor::next`]. A datagram may be empty.
    Received(Token, usize, Option<KernelStamp>),
    /// The peer will send no more.
    Ended(Token),
    /// The socket failed. One of datagrams goes on: the system tells so that nothing listens at the other end.
    Failed(Token, io::Error),
    /// A send that had not completed at once has now; its buffer comes back.
    Sent(Token, Vec<u8>),
    /// The first bytes of a watched send have left this machine.
    Departed(Token, Departure),
    /// Somebody connected to the listener: put it in with [`Reactor::adopt`] or drop it.
    Accepted(OwnedFd),
    /// The listener cannot take a connection now.
    AcceptFailed(io::Error),
    /// A [`Waker`] was used.
    Woken,
}

/// When the kernel received the bytes: nanoseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KernelStamp(pub i128);

/// What became of a send.
#[derive(Debug)]
pub enum Submitted {
    /// Nothing is left to do with the bytes; the buffer comes back.
    Done(Vec<u8>),
    /// The rest follows when the socket can take it; the buffer comes back with [`Completion::Sent`].
    Pending,
    /// This datagram was not sent, and the socket goes on; the buffer comes back.
    Refused(Vec<u8>, io::Error),
}

/// A time to wait, none below zero, as the system takes it.
pub(crate) fn timespec(time: Nanos) -> Timespec {
    let ns = time.0.max(0);
    Timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
}

/// Wakes a reactor from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// A waker of a wait that is not a reactor's: wait until it can be read.
    pub(crate) fn new() -> io::Result<Waker> {
        Ok(Waker(Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?)))
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Makes the reactor's wait end with [`Completion::Woken`].
    pub fn wake(&self) {
        // Full counter or closed reactor: it is awake anyway.
        let _ = rustix::io::write(self.0.as_fd(), &1u64.to_ne_bytes());
    }
}

#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    /// Tells events of this socket from those of an earlier one with the same token.
    life: u32,
    kind: Kind,
    connecting: bool,
    /// What could not be sent at once, and how much of it has been since.
    unsent: Option<(Vec<u8>, usize)>,
    /// Datagrams behind that one.
    queued: VecDeque<Vec<u8>>,
    /// Why sending failed, until all received bytes have been delivered.
    broken: Option<io::Error>,
    /// Epoll has said that the peer has closed or the socket failed, though there may be something to read before that.
    ending: bool,
    stamped: bool,
    /// Whether sends can be watched.
    watchable: bool,
    /// The send whose departure is still to be reported.
    watch: Option<Watch>,
    /// What it was made for, as long as it connects by TCP.
    made: Option<Made>,
}

/// What a socket of TCP was made for: it can connect to any address of that kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Made {
    is_ipv4: bool,
    source: Option<IpAddr>,
}

/// Sockets kept for further attempts, at most. Where attempts are given up another takes the place of each.
const SPARES: usize = 64;

/// What a socket carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Bytes without boundaries: what is sent may be put together, and a read that does not fill its buffer has taken all.
    Stream,
    /// Datagrams: each is sent and received by itself, and one read says nothing of what else is there.
    Datagrams,
}

impl Socket {
    /// Its connection stands. Of what fails here the connection goes on without.
    fn stands(&mut self, kernel_stamps: bool) {
        let stream = self.kind == Kind::Stream;
        if stream {
            let _ = socket::prepare(&self.fd);
        }
        self.stamped = kernel_stamps && receive::ask_for_stamps(&self.fd);
        self.watchable = stream && self.stamped && departure::ask_for_departures(&self.fd);
    }

    /// Whether nothing can be sent any more. One of datagrams goes on after a failure.
    fn is_broken(&self) -> bool {
        self.broken.is_some() && self.kind == Kind::Stream
    }

    fn is_ending(&self) -> bool {
        self.is_broken() || self.ending
    }
}

/// One thread's sockets.
pub struct Reactor {
    epoll: OwnedFd,
    waker: Waker,
    listener: Option<Listener>,
    sockets: Vec<Option<Socket>>,
    lives: u32,
    events: events::Events,
    at: usize,
    /// The event under way: whose, and what is left to do.
    current: Option<(u64, epoll::EventFlags)>,
    /// Sockets that have something left although epoll, being edge-triggered, has said so before.
    ready: VecDeque<(u64, epoll::EventFlags)>,
    /// How many of them have their turn before the next wait.
    turns: usize,
    kernel_stamps: bool,
    /// Sockets whose attempt to connect was given up: to make one, and to have epoll watch it, costs more than to connect it anew.
    spares: Vec<(Made, OwnedFd)>,
}

impl Reactor {
    /// A reactor without sockets. `kernel_stamps`: ask the kernel when received bytes came, for each receive.
    ///
    /// # Errors
    /// The system gives no epoll or event descriptor.
    pub fn new(kernel_stamps: bool) -> io::Result<Reactor> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let data = epoll::EventData::new_u64(WAKER);
        epoll::add(&epoll, &event, data, epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        Ok(Reactor {
            epoll,
            waker: Waker(Arc::new(event)),
            listener: None,
            sockets: Vec::new(),
            lives: 0,
            events: events::Events::with_capacity(EVENTS_PER_WAIT),
            at: 0,
            current: None,
            ready: VecDeque::new(),
            turns: 0,
            kernel_stamps,
            spares: Vec::new(),
        })
    }

    /// A handle that wakes this reactor.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Takes connections of this listener from now on.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    pub fn listen(&mut self, listener: Listener) -> io::Result<()> {
        if self.kernel_stamps {
            // Its connections inherit it: bytes may come before they are accepted. Asked again there for the answer.
            receive::ask_for_stamps(listener.as_fd());
        }
        self.watch_listener(&listener)?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Takes no connections until [`resume_listening`](Reactor::resume_listening); they queue in the kernel.
    pub fn pause_listening(&mut self) {
        if let Some(listener) = &self.listener {
            // Fails only if it is paused already.
            let _ = epoll::delete(&self.epoll, listener.as_fd());
        }
    }

    /// Takes connections again.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    pub fn resume_listening(&mut self) -> io::Result<()> {
        match &self.listener {
            Some(listener) => self.watch_listener(listener),
            None => Ok(()),
        }
    }

    fn watch_listener(&self, listener: &Listener) -> io::Result<()> {
        let data = epoll::EventData::new_u64(LISTENER);
        Ok(epoll::add(&self.epoll, listener.as_fd(), data, epoll::EventFlags::IN)?)
    }

    /// Begins to connect, from that address of this machine if there is one; [`Completion::Connected`] reports the result.
    ///
    /// # Errors
    /// It failed at once: no descriptor, no port, no route, or refused.
    pub fn connect(&mut self, token: Token, address: &Address, source: Option<IpAddr>) -> io::Result<()> {
        let made = match address {
            Address::Tcp(at) => Some(Made { is_ipv4: at.is_ipv4(), source }),
            _ => None,
        };
        if let Some(at) = made.and_then(|made| self.spares.iter().rposition(|(other, _)| *other == made)) {
            let (made, fd) = self.spares.swap_remove(at);
            return match socket::connect(&fd, address) {
                Ok(()) | Err(Errno::INPROGRESS) => self.watch(token, fd, Some(made)),
                Err(error) => Err(error.into()),
            };
        }
        let fd = socket::open(address)?;
        if let Some(source) = source {
            socket::bind_source(&fd, source)?;
        }
        match socket::connect(&fd, address) {
            // A connection that is established at once (a Unix socket's) is reported by its first event too.
            Ok(()) | Err(Errno::INPROGRESS) => self.insert(token, fd, true)?,
            Err(error) => return Err(error.into()),
        }
        if let Some(Some(socket)) = self.sockets.get_mut(token as usize) {
            socket.made = made;
            if matches!(address, Address::Udp(_)) {
                socket.kind = Kind::Datagrams;
            }
        }
        Ok(())
    }

    /// Takes on a connected socket.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    pub fn adopt(&mut self, token: Token, fd: OwnedFd) -> io::Result<()> {
        socket::prepare(&fd)?;
        self.insert(token, fd, false)
    }

    /// Takes on a connected socket of datagrams. Each [`send`](Reactor::send) is one datagram, and each
    /// [`Completion::Received`] is one, cut to the length of the buffer.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    pub fn adopt_datagrams(&mut self, token: Token, fd: OwnedFd) -> io::Result<()> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        self.insert(token, fd, false)?;
        if let Some(Some(socket)) = self.sockets.get_mut(token as usize) {
            socket.kind = Kind::Datagrams;
        }
        Ok(())
    }

    fn insert(&mut self, token: Token, fd: OwnedFd, connecting: bool) -> io::Result<()> {
        let name = self.named(token);
        epoll::add(&self.epoll, &fd, name, WATCHED)?;
        self.place(token, fd, connecting, None);
        Ok(())
    }

    /// Takes on a socket that epoll watches already, and that connects anew.
    fn watch(&mut self, token: Token, fd: OwnedFd, made: Option<Made>) -> io::Result<()> {
        let name = self.named(token);
        epoll::modify(&self.epoll, &fd, name, WATCHED)?;
        self.place(token, fd, true, made);
        Ok(())
    }

    /// What epoll is to call the next socket.
    fn named(&mut self, token: Token) -> epoll::EventData {
        self.lives = self.lives.wrapping_add(1) & 0x7fff_ffff;
        epoll::EventData::new_u64(name(token, self.lives))
    }

    fn place(&mut self, token: Token, fd: OwnedFd, connecting: bool, made: Option<Made>) {
        // A socket that connects is made ready once it stands: of those that are given up it would be for nothing.
        let stamped = !connecting && self.kernel_stamps && receive::ask_for_stamps(&fd);
        let life = self.lives;
        let index = token as usize;
        if self.sockets.len() <= index {
            self.sockets.resize_with(index + 1, || None);
        }
        self.sockets[index] = Some(Socket {
            fd,
            life,
            kind: Kind::Stream,
            connecting,
            unsent: None,
            queued: VecDeque::new(),
            broken: None,
            ending: false,
            stamped,
            watchable: false,
            watch: None,
            made,
        });
    }

    /// Sends these bytes, after those of earlier sends that have not completed. Should the socket fail,
    /// [`Completion::Failed`] says so, after what it had received before.
    pub fn send(&mut self, token: Token, bytes: Vec<u8>) -> Submitted {
        self.send_from(token, bytes, 0)
    }

    /// The same at `now` by wall time, and reports when the first of the bytes left this machine: at once, or later by
    /// [`Completion::Departed`]. Not where the system does not tell, or something is still to be sent on this socket.
    pub fn send_watched(
        &mut self,
        token: Token,
        bytes: Vec<u8>,
        now: KernelStamp,
    ) -> (Submitted, Option<Departure>) {
        let Some(Some(socket)) = self.sockets.get_mut(token as usize) else {
            return (Submitted::Done(bytes), None);
        };
        if !socket.watchable || socket.unsent.is_some() || socket.broken.is_some() {
            return (self.send_from(token, bytes, 0), None);
        }
        match departure::send_watched(&socket.fd, &bytes, now) {
            Ok((sent, watch)) => {
                // Before the rest, which the first piece may be waiting for.
                socket.watch = Some(watch);
                let submitted = self.send_from(token, bytes, sent);
                (submitted, self.departed(token))
            }
            Err(Errno::AGAIN | Errno::INTR) => (self.send_from(token, bytes, 0), None),
            Err(error) => {
                socket.broken = Some(error.into());
                self.ready.push_back((name(token, socket.life), epoll::EventFlags::IN));
                (Submitted::Done(bytes), None)
            }
        }
    }

    /// The departure of a watched send, if it is over: without a queue on the way it is at once.
    fn departed(&mut self, token: Token) -> Option<Departure> {
        let socket = self.sockets.get_mut(token as usize)?.as_mut()?;
        let left = departure::take_stamp(&socket.fd)?;
        Some(socket.watch.take()?.departure(&socket.fd, left))
    }

    /// The state of a watched send that has not left by `now`; it is not reported any more.
    pub fn give_up_watch(&mut self, token: Token, now: KernelStamp) -> Option<Departure> {
        let socket = self.sockets.get_mut(token as usize)?.as_mut()?;
        let watch = socket.watch.take()?;
        let left = departure::take_stamp(&socket.fd).unwrap_or(now);
        Some(watch.departure(&socket.fd, left))
    }

    fn send_from(&mut self, token: Token, bytes: Vec<u8>, from: usize) -> Submitted {
        let Some(socket) = self.sockets.get_mut(token as usize).and_then(Option::as_mut) else {
            return Submitted::Done(bytes);
        };
        if socket.is_broken() {
            return Submitted::Done(bytes);
        }
        if let Some((waiting, _)) = &mut socket.unsent {
            match socket.kind {
                Kind::Stream => waiting.extend_from_slice(&bytes[from..]),
                Kind::Datagrams => socket.queued.push_back(bytes),
            }
            return Submitted::Pending;
        }
        let mut sent = send_some(socket, &bytes, from);
        if let (Kind::Datagrams, Err(error)) = (socket.kind, &sent)
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            // That is of an earlier datagram: this one has not been sent yet.
            socket.broken = Some(io::ErrorKind::ConnectionRefused.into());
            self.ready.push_back((name(token, socket.life), epoll::EventFlags::IN));
            sent = send_some(socket, &bytes, from);
        }
        match sent {
            Err(error) if socket.kind == Kind::Datagrams => Submitted::Refused(bytes, error),
            Ok(Some(sent)) if sent == bytes.len() => Submitted::Done(bytes),
            Ok(sent) => {
                let sent = sent.unwrap_or(from);
                socket.unsent = Some((bytes, sent));
                Submitted::Pending
            }
            Err(error) => {
                socket.broken = Some(error);
                self.ready.push_back((name(token, socket.life), epoll::EventFlags::IN));
                Submitted::Done(bytes)
            }
        }
    }

    /// Whether a send of this socket has neither completed nor failed yet.
    pub fn is_sending(&self, token: Token) -> bool {
        matches!(self.sockets.get(token as usize), Some(Some(s)) if s.unsent.is_some() || s.is_broken())
    }

    /// Whether this socket can be sent on, and at once: nothing is unsent, and it is not known to end, although
    /// [`Completion::Ended`] or [`Completion::Failed`] may be still to come.
    #[inline]
    pub fn is_sound(&self, token: Token) -> bool {
        matches!(self.sockets.get(token as usize), Some(Some(s)) if s.unsent.is_none() && !s.is_ending())
    }

    /// Whether this socket is known to end or to have failed, or is not there.
    #[inline]
    pub fn is_ending(&self, token: Token) -> bool {
        !matches!(self.sockets.get(token as usize), Some(Some(s)) if !s.is_ending())
    }

    /// How long a connection on which nothing has been sent has stood, to the tick of the kernel, which is 1 to 10 ms: right on average. Zero
    /// where the system does not tell, as of sockets that are none of TCP.
    pub fn stood_for(&self, token: Token) -> Nanos {
        let socket = self.sockets.get(token as usize).and_then(Option::as_ref);
        let ms = socket.and_then(|socket| tcp_info::field(&socket.fd, tcp_info::LAST_DATA_SENT));
        Nanos::from_millis(ms.map_or(0, u32::from_ne_bytes).into())
    }

    /// Closes a socket and forgets it; no further completions of it follow.
    pub fn close(&mut self, token: Token) {
        let Some(socket) = self.sockets.get_mut(token as usize).and_then(Option::take) else { return };
        if let Some(made) = socket.made.filter(|_| socket.connecting && self.spares.len() < SPARES)
            && socket::abandon(&socket.fd).is_ok()
        {
            self.spares.push((made, socket.fd));
        }
    }

    /// Waits until something completes, at most `timeout` (zero: only looks; none: without end). Call it only when
    /// [`next`](Reactor::next) has returned none. True if there is something.
    ///
    /// # Errors
    /// The system call failed; a signal is not an error.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Nanos>) -> io::Result<bool> {
        let timeout = if self.ready.is_empty() { timeout } else { Some(Nanos::ZERO) };
        let timeout = timeout.map(timespec);
        self.at = 0;
        self.current = None;
        self.turns = self.ready.len();
        self.events.0.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events.0), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(!self.events.0.is_empty() || self.turns > 0),
            Err(error) => Err(error.into()),
        }
    }

    /// The next completion, if there is one without waiting. Received bytes are put at the front of `buffer`.
    #[inline]
    pub fn next(&mut self, buffer: &mut [u8]) -> Option<Completion> {
        loop {
            let (data, mut flags) = self.current.take().or_else(|| self.next_event())?;
            let completion = match data {
                WAKER => {
                    flags = epoll::EventFlags::empty();
                    self.drain_waker()
                }
                LISTENER => self.accept(&mut flags),
                _ => self.socket_event(data, &mut flags, buffer),
            };
            if !flags.is_empty() {
                self.current = Some((data, flags));
            }
            if completion.is_some() {
                return completion;
            }
        }
    }

    #[inline]
    fn next_event(&mut self) -> Option<(u64, epoll::EventFlags)> {
        if let Some(event) = self.events.0.get(self.at) {
            self.at += 1;
            return Some((event.data.u64(), event.flags));
        }
        self.turns = self.turns.checked_sub(1)?;
        self.ready.pop_front()
    }

    fn drain_waker(&self) -> Option<Completion> {
        let mut count = [0; 8];
        let _ = rustix::io::read(self.waker.0.as_fd(), &mut count);
        Some(Completion::Woken)
    }

    /// Accepts one; clears the flags when there is none left, or none can be taken.
    fn accept(&mut self, flags: &mut epoll::EventFlags) -> Option<Completion> {
        let accepted = self.listener.as_ref().map(Listener::accept);
        match accepted {
            Some(Ok(fd)) => Some(Completion::Accepted(fd)),
            Some(Err(Errno::CONNABORTED | Errno::INTR)) => None,
            other => {
                *flags = epoll::EventFlags::empty();
                match other {
                    None | Some(Err(Errno::AGAIN)) => None,
                    Some(Err(error)) => Some(Completion::AcceptFailed(error.into())),
                    Some(Ok(_)) => None,
                }
            }
        }
    }

    /// One step of what an event of a socket asks for; `flags` keeps what is left of it.
    #[inline]
    fn socket_event(
        &mut self,
        data: u64,
        flags: &mut epoll::EventFlags,
        buffer: &mut [u8],
    ) -> Option<Completion> {
        let (token, life) = (data as u32, (data >> 32) as u32);
        let socket = self.sockets.get_mut(token as usize).and_then(Option::as_mut);
        let Some(socket) = socket.filter(|s| s.life == life) else {
            *flags = epoll::EventFlags::empty();
            return None;
        };
        if socket.connecting {
            // An edge before the connection stands (a fresh socket hangs up, says epoll) means nothing yet.
            let failed = flags.intersects(epoll::EventFlags::ERR);
            if !failed && !flags.contains(epoll::EventFlags::OUT) {
                *flags = epoll::EventFlags::empty();
                return None;
            }
            socket.connecting = false;
            let result = match net::sockopt::socket_error(&socket.fd) {
                Ok(Ok(())) if !failed => Ok(()),
                Ok(Ok(())) => Err(io::ErrorKind::ConnectionRefused.into()),
                Ok(Err(error)) | Err(error) => Err(error.into()),
            };
            flags.remove(epoll::EventFlags::OUT);
            match &result {
                Ok(()) => socket.stands(self.kernel_stamps),
                Err(_) => *flags = epoll::EventFlags::empty(),
            }
            return Some(Completion::Connected(token, result));
        }
        if flags.contains(epoll::EventFlags::ERR) && socket.watchable {
            // A stamp waits in the error queue, which epoll calls an error too.
            let left = departure::take_stamp(&socket.fd);
            match net::sockopt::socket_error(&socket.fd) {
                Ok(Ok(())) => flags.remove(epoll::EventFlags::ERR),
                Ok(Err(error)) | Err(error) => {
                    socket.broken.get_or_insert(error.into());
                }
            }
            if let Some((left, watch)) = left.zip(socket.watch.take()) {
                return Some(Completion::Departed(token, watch.departure(&socket.fd, left)));
            }
        }
        socket.ending |= socket.kind == Kind::Stream && flags.intersects(ENDING);
        if flags.contains(epoll::EventFlags::OUT) {
            flags.remove(epoll::EventFlags::OUT);
            if let Some((bytes, from)) = socket.unsent.take() {
                match send_some(socket, &bytes, from) {
                    Ok(Some(sent)) if sent == bytes.len() => {
                        if let Some(next) = socket.queued.pop_front() {
                            socket.unsent = Some((next, 0));
                            flags.insert(epoll::EventFlags::OUT);
                        }
                        return Some(Completion::Sent(token, bytes));
                    }
                    Ok(sent) => socket.unsent = Some((bytes, sent.unwrap_or(from))),
                    Err(error) => {
                        socket.broken.get_or_insert(error);
                        flags.insert(epoll::EventFlags::IN);
                    }
                }
            }
        }
        if !flags.intersects(ENDING | epoll::EventFlags::IN) {
            *flags = epoll::EventFlags::empty();
            return None;
        }
        if socket.kind == Kind::Datagrams
            && let Some(error) = socket.broken.take()
        {
            flags.insert(epoll::EventFlags::IN);
            return Some(Completion::Failed(token, error));
        }
        match receive(&socket.fd, buffer, socket.stamped) {
            Err(Errno::INTR) => None,
            // There may be more, and an empty one is one too: the flags stay until there is none.
            Ok(Received { bytes, stamp }) if socket.kind == Kind::Datagrams => {
                flags.insert(epoll::EventFlags::IN);
                Some(Completion::Received(token, bytes, stamp))
            }
            Err(error) if socket.kind == Kind::Datagrams && error != Errno::AGAIN => {
                Some(Completion::Failed(token, error.into()))
            }
            Ok(Received { bytes, stamp }) if bytes > 0 => {
                // A short read has emptied the socket: unless it has ended, the next edge announces more.
                if bytes == buffer.len() {
                    self.ready.push_back((data, *flags));
                    *flags = epoll::EventFlags::empty();
                } else if !flags.intersects(ENDING) && socket.broken.is_none() {
                    *flags = epoll::EventFlags::empty();
                }
                Some(Completion::Received(token, bytes, stamp))
            }
            nothing => {
                *flags = epoll::EventFlags::empty();
                match (socket.broken.take(), nothing) {
                    (Some(error), _) => Some(Completion::Failed(token, error)),
                    (None, Ok(_)) => Some(Completion::Ended(token)),
                    (None, Err(Errno::AGAIN)) => None,
                    (None, Err(error)) => Some(Completion::Failed(token, error.into())),
                }
            }
        }
    }
}

/// What epoll calls a socket.
fn name(token: Token, life: u32) -> u64 {
    u64::from(life) << 32 | u64::from(token)
}

/// Sends from `from` on, as much as the socket takes; how far it came. A datagram goes whole or not at all: none, if not yet.
fn send_some(socket: &mut Socket, bytes: &[u8], mut from: usize) -> io::Result<Option<usize>> {
    loop {
        match net::send(&socket.fd, &bytes[from..], net::SendFlags::NOSIGNAL) {
            Ok(sent) => from += sent,
            Err(Errno::AGAIN) if socket.kind == Kind::Datagrams => return Ok(None),
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if from >= bytes.len() || socket.kind == Kind::Datagrams {
            break;
        }
    }
    Ok(Some(from))
}
