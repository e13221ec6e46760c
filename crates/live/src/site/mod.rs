//! A web server for a few readers: pages about a run, while it goes on.
//!
//! It gives way to the load: its threads have the collector's priority. What a client can make it hold or wait for is bounded: how many
//! there are, the bytes of a head, the time for a head and for taking an answer. It answers GET over HTTP/1.1, and POST where
//! a page of its own asks for something to be done.
//! [`access`] says who is let in. Deliberately absent: what the pages say ([`Pages`]), TLS, bodies of requests.

pub mod access;

pub use access::{Place, Token};

use crate::host;
use access::{Access, Asked, Refused};
use headway_wire::Limits;
use headway_wire::http1::{Response, ResponseError, Server, ServerEvent};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Most connections at once; further ones are answered with 503.
pub const MOST_CONNECTIONS: usize = 32;
/// Most bytes of a request's head.
pub const MOST_HEAD_BYTES: usize = 8 << 10;
/// Most header lines of a request.
const MOST_HEADERS: usize = 64;
/// A head has to be complete so long after the connection, or the answer before it.
pub const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// An answer has to be taken within this.
pub const TAKEN_WITHIN: Duration = Duration::from_secs(10);
/// How long it takes no connections after the system refused one.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes that a client may still send after it was refused, so that it reads why.
const MOST_UNREAD: usize = 64 << 10;

/// What keeps a page from doing anything but this program's own: no script, style or request of another origin, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";
/// Header lines of every answer.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// What a site shows. Called on the site's threads, several at once.
pub trait Pages: Send + Sync {
    /// Whether the page tells nothing of the run, so that it needs no token.
    fn is_public(&self, path: &str) -> bool;

    /// Whether the page of that path does something, and may be asked to by POST.
    fn acts(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// Does what the page of that path does, and says what.
    fn act(&self, path: &str) -> Page {
        Page::text(405, &format!("{path} does nothing"))
    }

    /// The page of that path, which begins with a slash; `query` is what follows the question mark. It may take its time.
    fn page(&self, path: &str, query: &str) -> Page;
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// Status code.
    pub status: u16,
    /// Media type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Arc<[u8]>,
}

impl Page {
    /// A line of text.
    pub fn text(status: u16, text: &str) -> Page {
        Page { status, kind: "text/plain; charset=utf-8", body: format!("{text}\n").into_bytes().into() }
    }
}

/// What the threads of a site share.
struct Shared {
    pages: Arc<dyn Pages>,
    access: Access,
    connections: AtomicUsize,
    closing: AtomicBool,
    /// Requests that came and are not answered to their end.
    answering: Mutex<usize>,
    answered: Condvar,
}

/// A site that is open.
pub struct Site {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Site {
    /// Listens at `place`, and answers from now on.
    ///
    /// # Errors
    /// Its name is unknown, or nothing can listen there.
    pub fn open(place: &Place, pages: Arc<dyn Pages>) -> io::Result<Site> {
        let listener = Arc::new(TcpListener::bind((place.host(), place.port()))?);
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            pages,
            access: Access::new(place, address)?,
            connections: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            answering: Mutex::new(0),
            answered: Condvar::new(),
        });
        let (own, of_thread) = (listener.clone(), shared.clone());
        let accepting = thread::Builder::new().name("site".into()).spawn(move || accept(&own, &of_thread))?;
        Ok(Site { address, listener, shared, accepting: Some(accepting) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that its readers need; none on loopback.
    pub fn token(&self) -> Option<&Token> {
        self.shared.access.token()
    }

    /// Where a browser finds it, without the token.
    pub fn url(&self) -> String {
        format!("http://{}/", self.shared.access.authority())
    }

    /// Takes no more connections, and waits until the answers under way are written, at most that long.
    pub fn close(mut self, patience: Duration) {
        self.stop();
        let until = Instant::now() + patience;
        let mut answering = self.shared.answering.lock().unwrap_or_else(PoisonError::into_inner);
        while *answering > 0
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            let waited = self.shared.answered.wait_timeout(answering, left);
            answering = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn stop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = rustix::net::shutdown(&*self.listener, rustix::net::Shutdown::Both);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A connection's place among the few that there are.
struct Seat(Arc<Shared>);

impl Seat {
    fn take(shared: &Arc<Shared>) -> Option<Seat> {
        let more = |taken: usize| (taken < MOST_CONNECTIONS).then_some(taken + 1);
        let taken = shared.connections.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        taken.is_ok().then(|| Seat(shared.clone()))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A request that is being answered.
struct Answering<'a>(&'a Shared);

impl<'a> Answering<'a> {
    fn begin(shared: &'a Shared) -> Answering<'a> {
        *shared.answering.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Answering(shared)
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        *self.0.answering.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.answered.notify_all();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    host::give_way();
    while !shared.closing.load(Ordering::SeqCst) {
        let Ok((mut socket, _)) = listener.accept() else {
            // No descriptors are left, or it is closing.
            if !shared.closing.load(Ordering::SeqCst) {
                thread::sleep(PAUSE);
            }
            continue;
        };
        let Some(seat) = Seat::take(shared) else {
            refuse(&mut socket);
            continue;
        };
        // Threads take their priority from the one that starts them.
        let begun = thread::Builder::new().name("reader".into()).spawn(move || {
            // The client may have closed the connection.
            let _ = converse(&mut socket, &seat.0);
            // Closed for other processes that have it, too: a process that keeps a core from halting was forked from this one.
            let _ = socket.shutdown(Shutdown::Both);
            drop(socket);
            drop(seat);
        });
        if begun.is_err() {
            thread::sleep(PAUSE);
        }
    }
}

/// There are too many connections already: answers 503, if that takes no time.
fn refuse(socket: &mut TcpStream) {
    let text =
        format!("{MOST_CONNECTIONS} connections are open, the most that there may be: try again later");
    let answered = socket.set_nonblocking(true).is_ok()
        && render(&Page::text(503, &text))
            .is_ok_and(|response| socket.write_all(response.close().render().bytes()).is_ok());
    if answered {
        let _ = socket.shutdown(Shutdown::Write);
    }
}

/// Answers the requests of a connection, one after the other.
fn converse(socket: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let limits =
        Limits { head_bytes: MOST_HEAD_BYTES, headers: MOST_HEADERS, body_bytes: 0, trailer_bytes: 0 };
    let mut server = Server::new(limits);
    // What came and is not consumed yet.
    let mut held: Vec<u8> = Vec::new();
    while !shared.closing.load(Ordering::SeqCst) {
        let Some(asked) = receive(socket, &mut server, &mut held, shared)? else { return Ok(()) };
        let answering = Answering::begin(shared);
        let refused = asked.is_err();
        let page = match asked {
            Ok(Asked { acts: true, path, .. }) => shared.pages.act(&path),
            Ok(Asked { path, query, .. }) => shared.pages.page(&path, &query),
            Err(refused) => refused.page(&shared.access),
        };
        let mut response = render(&page).map_err(io::Error::other)?;
        for (name, value) in [
            (page.status == 405).then_some(("allow", "GET")),
            (page.status == 401).then_some(("www-authenticate", "Bearer")),
        ]
        .into_iter()
        .flatten()
        {
            response = response.header(name, value).map_err(io::Error::other)?;
        }
        let response = if refused { response.close() } else { response };
        let mut out = Vec::new();
        server.respond(&response, &mut out);
        send(socket, &out)?;
        drop(answering);
        if server.is_finished() || refused {
            return part(socket);
        }
    }
    Ok(())
}

/// What the next request asks for, or why it is refused; none: the client has gone, or takes too long.
fn receive(
    socket: &mut TcpStream,
    server: &mut Server,
    held: &mut Vec<u8>,
    shared: &Shared,
) -> io::Result<Option<Result<Asked, Refused>>> {
    let until = Instant::now() + HEAD_WITHIN;
    let mut buffer = [0; 4 << 10];
    let mut asked = None;
    loop {
        let mut bytes = &held[..];
        let mut ended = false;
        while let Some(event) = server.receive(&mut bytes) {
            match event {
                ServerEvent::Request { method, target, head, .. } => {
                    asked = Some(shared.access.judge(method, target, &head, &*shared.pages));
                    if matches!(asked, Some(Err(_))) {
                        ended = true;
                        break;
                    }
                }
                ServerEvent::BodyChunk { .. } => {}
                ServerEvent::RequestEnd => {
                    ended = true;
                    break;
                }
                ServerEvent::Error { status } => {
                    asked = Some(Err(Refused::NotUnderstood(status)));
                    ended = true;
                    break;
                }
            }
        }
        let left = bytes.len();
        held.drain(..held.len() - left);
        if ended {
            return Ok(asked);
        }
        let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else {
            return Ok(None);
        };
        socket.set_read_timeout(Some(left))?;
        match socket.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(n) => held.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn render(page: &Page) -> Result<Response, ResponseError> {
    let kind = ("content-type", page.kind);
    let with = |response: Result<Response, ResponseError>, (name, value)| response?.header(name, value);
    Ok([kind].into_iter().chain(HEADERS).fold(Response::new(page.status), with)?.body(page.body.clone()))
}

/// Writes all of it, within its time.
fn send(socket: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let until = Instant::now() + TAKEN_WITHIN;
    while !bytes.is_empty() {
        let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        socket.set_write_timeout(Some(left.ok_or(io::ErrorKind::TimedOut)?))?;
        match socket.write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends the connection so that the client reads the last answer, although it may still be sending: what it has sent and nobody has read
/// would otherwise make the system throw the answer away.
fn part(socket: &mut TcpStream) -> io::Result<()> {
    socket.shutdown(Shutdown::Write)?;
    socket.set_read_timeout(Some(Duration::from_millis(500)))?;
    let mut buffer = [0; 4 << 10];
    let mut unread = 0;
    while unread < MOST_UNREAD {
        match socket.read(&mut buffer)? {
            0 => break,
            n => unread += n,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
