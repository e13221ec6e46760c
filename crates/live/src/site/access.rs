//! Who is let in: a request that names this machine, and beyond loopback one that has the token.
//!
//! A page of another origin can make a browser send requests to this address under a name of its own (DNS rebinding): the header Host
//! tells. Nothing here allows other origins to read an answer. Deliberately absent: users and rights; a reader with the token reads all.

use super::{Page, Pages};
use headway_wire::Head;
use std::fmt;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// Bytes of randomness of a token.
const TOKEN_BYTES: usize = 16;

/// Where a site listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    host: String,
    port: u16,
}

impl Place {
    /// The host, a name or an address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; 0 for a free one.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Loopback, at a free port.
impl Default for Place {
    fn default() -> Place {
        Place { host: Ipv4Addr::LOCALHOST.to_string(), port: 0 }
    }
}

impl FromStr for Place {
    type Err = String;

    /// Reads `HOST:PORT`, or a host alone for a free port.
    fn from_str(text: &str) -> Result<Place, String> {
        let wrong = |what: &str| {
            format!(
                "'{text}' is not an address to listen at: {what}; write HOST:PORT, for example 127.0.0.1:9000, [::1]:9000 or 0.0.0.0:0 \
                 (0: a free port)"
            )
        };
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':').or(port.is_empty().then_some("0"))),
            None if text.parse::<IpAddr>().is_ok() => (text, Some("0")),
            None => text.rsplit_once(':').map_or((text, Some("0")), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        if host.parse::<IpAddr>().is_err() && !is_name(host) {
            return Err(wrong("the host is neither a name nor an address"));
        }
        let port = port.and_then(|port| port.parse().ok());
        let port = port.ok_or_else(|| wrong("the port is not a number from 0 to 65535"))?;
        Ok(Place { host: host.to_owned(), port })
    }
}

/// Whether a host may be called so.
fn is_name(host: &str) -> bool {
    host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
}

/// What a reader from elsewhere has to show. It is shown to nobody by accident: its debug form hides it.
pub struct Token(String);

impl Token {
    /// A new one: 128 random bits of the system.
    fn new() -> io::Result<Token> {
        let mut bytes = [0; TOKEN_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// As its reader has to write it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether that is it, in a time that does not depend on where the two differ.
    fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differ = |all: u8, (a, b): (&u8, &u8)| black_box(all | (a ^ b));
        own.len() == given.len() && own.iter().zip(given).fold(0, differ) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// Who is let in.
#[derive(Debug)]
pub(super) struct Access {
    token: Option<Token>,
    /// Names of this machine, beside its addresses.
    names: Vec<String>,
    authority: String,
}

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    /// Whether something is to be done.
    pub(super) acts: bool,
    pub(super) path: String,
    pub(super) query: String,
}

/// What the script of a page adds to what it asks to be done.
const OWN_PAGE: (&str, &str) = ("x-headway", "page");

/// Why a request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// It is not HTTP, or too large: the status that says so.
    NotUnderstood(u16),
    /// It is no GET, and no POST of what a page may ask to be done.
    Method,
    /// A POST of which it is not shown that a page of this site sent it.
    Foreign,
    /// It asks for another server's page.
    Target,
    /// It does not name this machine.
    Host,
    /// It has no token, or another.
    Token,
}

/// What this machine is called.
fn own_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned());
    name.ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned())
}

impl Access {
    /// To what listens at `address`, as `place` has it.
    pub(super) fn new(place: &Place, address: SocketAddr) -> io::Result<Access> {
        let token = if address.ip().is_loopback() { None } else { Some(Token::new()?) };
        let mut names = vec!["localhost".to_owned()];
        let own = own_name();
        names.extend([place.host.clone()].into_iter().filter(|host| host.parse::<IpAddr>().is_err()));
        names.extend(token.iter().map(|_| own.clone()));
        let port = address.port();
        // No address leads to all addresses at once.
        let authority =
            if address.ip().is_unspecified() { format!("{own}:{port}") } else { address.to_string() };
        Ok(Access { token, names, authority })
    }

    pub(super) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// What a request that is let in asks for.
    pub(super) fn judge(
        &self,
        method: &str,
        target: &str,
        head: &Head<'_>,
        pages: &dyn Pages,
    ) -> Result<Asked, Refused> {
        let path = target.split_once('?').map_or(target, |(path, _)| path);
        if method != "GET" && !(method == "POST" && pages.acts(path)) {
            return Err(Refused::Method);
        }
        if !target.starts_with('/') {
            return Err(Refused::Target);
        }
        let host = head.header("host").and_then(|host| str::from_utf8(host).ok());
        if !host.is_some_and(|host| self.is_here(host)) {
            return Err(Refused::Host);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if method == "POST" && !self.is_of_own_page(head) {
            return Err(Refused::Foreign);
        }
        match &self.token {
            Some(token) if !pages.is_public(path) && !given(head).is_some_and(|given| token.is(given)) => {
                Err(Refused::Token)
            }
            _ => Ok(Asked { acts: method == "POST", path: path.to_owned(), query: query.to_owned() }),
        }
    }

    /// Whether a page of this site sent it: no other may add this header without being asked for first, which is never granted; and a
    /// browser says where it comes from.
    fn is_of_own_page(&self, head: &Head<'_>) -> bool {
        let marked = head.header(OWN_PAGE.0).is_some_and(|value| value == OWN_PAGE.1.as_bytes());
        let host = head.header("host").and_then(|host| str::from_utf8(host).ok()).unwrap_or_default();
        let origin = head.header("origin");
        marked && origin.is_none_or(|origin| origin == format!("http://{host}").as_bytes())
    }

    /// Whether a Host header means this machine: an address, which no name server can change, or a name of its own. Whatever the port:
    /// a tunnel may have another.
    fn is_here(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
            None => host.split_once(':').map_or(host, |(name, _)| name),
        };
        name.parse::<IpAddr>().is_ok() || self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The token that a request shows.
fn given<'a>(head: &Head<'a>) -> Option<&'a [u8]> {
    let value = head.header("authorization")?;
    let (scheme, token) = value.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

impl Refused {
    /// What the client is told.
    pub(super) fn page(self, access: &Access) -> Page {
        match self {
            Refused::NotUnderstood(status) => {
                Page::text(status, "this is not a request that is answered here: GET over HTTP/1.1")
            }
            Refused::Method => Page::text(405, "only GET is answered here"),
            Refused::Foreign => Page::text(
                403,
                "only the page of this run may ask that: send the header X-Headway: page, and no Origin of another site",
            ),
            Refused::Target => Page::text(400, "the target is not a path that begins with a slash"),
            Refused::Host => Page::text(
                421,
                &format!("the header Host does not name this machine: open http://{}/", access.authority),
            ),
            Refused::Token => Page::text(
                401,
                "this needs the token that headway printed: open the URL as it was printed, or send Authorization: Bearer TOKEN",
            ),
        }
    }
}
