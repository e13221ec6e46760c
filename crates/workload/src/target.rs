//! Where requests go: a URL taken apart. Resolving its name is the live world's affair.

use crate::redact::Redactor;
use base64::Engine as _;
use headway_base::units::UnitError;
use std::fmt;
use url::{Host, Url};

/// The address part of a target, not yet resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// Host name or address (IPv6 without brackets), and port.
    Tcp {
        /// Host name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// Path of a Unix socket.
    Unix(String),
}

/// A version of HTTP, as it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HttpVersion {
    /// HTTP/2 or HTTP/1.1 with TLS, as the target prefers; HTTP/1.1 without.
    #[default]
    Any,
    /// HTTP/1.1 alone.
    Http1,
    /// HTTP/2 alone: without TLS with prior knowledge.
    Http2,
}

impl HttpVersion {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            HttpVersion::Any => "any",
            HttpVersion::Http1 => "1.1",
            HttpVersion::Http2 => "2",
        }
    }

    /// Reads `any`, `1.1` or `2`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<HttpVersion, UnitError> {
        match text {
            "any" => Ok(HttpVersion::Any),
            "1.1" => Ok(HttpVersion::Http1),
            "2" | "2.0" => Ok(HttpVersion::Http2),
            _ => Err(UnitError::new(text, "a version of HTTP: write any, 1.1 or 2")),
        }
    }
}

/// What the scheme of a URL asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// HTTP without TLS; also that of a Unix socket.
    Http,
    /// HTTP with TLS.
    Https,
    /// HTTP/2 without TLS.
    H2c,
    /// Plain bytes over TCP.
    Tcp,
    /// Datagrams over UDP.
    Udp,
    /// DNS over UDP.
    Dns,
}

impl Scheme {
    /// Every one.
    pub const ALL: [Scheme; 6] =
        [Scheme::Http, Scheme::Https, Scheme::H2c, Scheme::Tcp, Scheme::Udp, Scheme::Dns];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::H2c => "h2c",
            Scheme::Tcp => "tcp",
            Scheme::Udp => "udp",
            Scheme::Dns => "dns",
        }
    }

    /// Whether requests are datagrams.
    pub const fn is_datagrams(self) -> bool {
        matches!(self, Scheme::Udp | Scheme::Dns)
    }

    /// Whether steps are requests of HTTP, and not plain bytes.
    pub const fn is_http(self) -> bool {
        matches!(self, Scheme::Http | Scheme::Https | Scheme::H2c)
    }
}

/// A target: scheme, address, what to ask for, and credentials that stood in the URL.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// Where to connect.
    pub endpoint: Endpoint,
    /// What to speak.
    pub scheme: Scheme,
    /// Path and query, as they go into the request line; of DNS the name and type to ask for, if they are given; empty where plain bytes
    /// are sent.
    pub path: String,
    /// The Host header: name and, unless it is the scheme's default, port.
    pub authority: String,
    /// The Authorization header that the URL's user and password make.
    pub authorization: Option<String>,
}

impl Target {
    /// Reads `http://host[:port]/path`, `https://...`, `h2c://...` (HTTP/2 without TLS), `tcp://host:port`, `udp://host:port`,
    /// `dns://host[:port][/name[?type=T]]`, `unix:/path/to/socket[:/path]`, or without a scheme, as http, `host[:port]/path`.
    ///
    /// # Errors
    /// Another scheme, no host, or what is no URL at all.
    pub fn parse(text: &str) -> Result<Target, UnitError> {
        let bad = |why: &str| {
            UnitError::new(
                &Redactor::default().hide_url(text),
                format!(
                    "a target: {why}; write for example http://127.0.0.1:8080/path, https://host/, udp://host:7000, or unix:/run/app.sock:/path"
                ),
            )
        };
        if let Some(rest) = text.strip_prefix("unix:") {
            return Target::unix(rest).ok_or_else(|| bad("the socket's path is missing"));
        }
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let (name, rest) = with_scheme.split_once("://").unwrap_or(("http", &with_scheme));
        let known = Scheme::ALL.into_iter().find(|scheme| name.eq_ignore_ascii_case(scheme.name()));
        // The library knows what to make of an http URL.
        let read = match known {
            Some(Scheme::H2c) => format!("http://{rest}"),
            _ => with_scheme.clone(),
        };
        let url = Url::parse(&read).map_err(|e| bad(&e.to_string()))?;
        let scheme = known.ok_or_else(|| bad(&format!("the scheme {} is not spoken here", url.scheme())))?;
        let question = if scheme == Scheme::Dns { after_authority(rest) } else { "" };
        if !scheme.is_http() {
            let bare = matches!(url.path(), "" | "/") && url.query().is_none();
            if !matches!(question, "" | "/") {
                check_question(question).map_err(bad)?;
            }
            let bare = (bare || scheme == Scheme::Dns) && url.fragment().is_none();
            if !bare || !url.username().is_empty() || url.password().is_some() {
                return Err(bad(&format!("{} takes a host and a port alone", scheme.name())));
            }
        }
        let host = match url.host() {
            Some(Host::Ipv6(address)) => address.to_string(),
            Some(host) => host.to_string(),
            None => return Err(bad("it names no host")),
        };
        if host.is_empty() {
            return Err(bad("it names no host"));
        }
        let known = url.port_or_known_default().or((scheme == Scheme::Dns).then_some(DNS_PORT));
        let port = known.ok_or_else(|| bad("it names no port"))?;
        if port == 0 {
            return Err(bad("port 0 cannot be connected to"));
        }
        let bracketed = url.host_str().unwrap_or_default();
        let authority = match url.port() {
            Some(port) => format!("{bracketed}:{port}"),
            None => bracketed.to_owned(),
        };
        let path = match url.query() {
            _ if scheme == Scheme::Dns => question.trim_end_matches('/').to_owned(),
            _ if !scheme.is_http() => String::new(),
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let authorization = (!url.username().is_empty() || url.password().is_some()).then(|| {
            let decode = |s: &str| percent_decode(s);
            let mut pair = decode(url.username());
            pair.push(b':');
            pair.extend(decode(url.password().unwrap_or("")));
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
        });
        Ok(Target { endpoint: Endpoint::Tcp { host, port }, scheme, path, authority, authorization })
    }

    fn unix(rest: &str) -> Option<Target> {
        let (socket, path) = match rest.split_once(":/") {
            Some((socket, path)) => (socket, format!("/{path}")),
            None => (rest, "/".to_owned()),
        };
        (!socket.is_empty()).then(|| Target {
            endpoint: Endpoint::Unix(socket.to_owned()),
            scheme: Scheme::Http,
            path,
            authority: "localhost".to_owned(),
            authorization: None,
        })
    }

    /// What DNS is asked for, if the target says it: `example.com A`.
    pub fn question(&self) -> Option<String> {
        let (name, query) = self.path.split_once('?').unwrap_or((&self.path, "type=A"));
        let name = name.strip_prefix('/').filter(|_| self.scheme == Scheme::Dns)?;
        // A name is asked for as it is written: a URL has what is not ASCII in per cent.
        let name = String::from_utf8_lossy(&percent_decode(name)).into_owned();
        Some(format!("{name} {}", query.strip_prefix("type=")?))
    }

    /// Whether to speak TLS.
    pub fn tls(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// As a URL with all its parameters, without user and password.
    pub fn url(&self) -> String {
        match &self.endpoint {
            Endpoint::Tcp { .. } => format!("{}://{}{}", self.scheme.name(), self.authority, self.path),
            Endpoint::Unix(socket) => format!("unix:{socket}:{}", self.path),
        }
    }

    /// Host name or address for TLS and messages; the socket's path for a Unix socket.
    pub fn host(&self) -> &str {
        match &self.endpoint {
            Endpoint::Tcp { host, .. } => host,
            Endpoint::Unix(path) => path,
        }
    }

    /// A short name for folders: host and port, or the socket's file name.
    pub fn short_name(&self) -> String {
        match &self.endpoint {
            Endpoint::Tcp { host, port } => format!("{host}-{port}"),
            Endpoint::Unix(path) => path.rsplit('/').next().unwrap_or("unix").to_owned(),
        }
    }
}

/// As a URL, without its secrets as far as names tell.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Redactor::default().hide_url(&self.url()))
    }
}

/// Credentials do not show.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// The port of DNS (RFC 1035).
const DNS_PORT: u16 = 53;

/// Path and query of a URL without its scheme, as they are written: to the library the root of DNS, a dot, is a path that leads nowhere.
fn after_authority(rest: &str) -> &str {
    let rest = rest.trim_end();
    let rest = &rest[rest.find(['/', '?', '#']).unwrap_or(rest.len())..];
    &rest[..rest.find('#').unwrap_or(rest.len())]
}

/// Whether a URL of DNS asks for one name, and for a type if for anything besides; else what would do.
fn check_question(question: &str) -> Result<(), &'static str> {
    let (name, query) = question.split_once('?').unwrap_or((question, "type=A"));
    if query == "type=" {
        return Err(
            "its type of record is empty: write ?type=A, AAAA, NS, MX, TXT, another or TYPE and its number, or leave ?type= out for A",
        );
    }
    let name = name.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains('/'));
    if name && query.strip_prefix("type=").is_some_and(|kind| !kind.contains('&')) {
        return Ok(());
    }
    Err("DNS is asked for one name and perhaps a type, as in dns://127.0.0.1/example.com?type=AAAA")
}

fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes.get(i + 1..i + 3).and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()).filter(|_| bytes[i] == b'%') {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_come_apart() {
        let check = |text: &str, shown: &str, endpoint: Endpoint| {
            let target = Target::parse(text).unwrap();
            assert_eq!(target.to_string(), shown);
            assert_eq!(target.endpoint, endpoint);
        };
        let tcp = |host: &str, port| Endpoint::Tcp { host: host.to_owned(), port };
        check("http://127.0.0.1:8080/a?b=c#d", "http://127.0.0.1:8080/a?b=c", tcp("127.0.0.1", 8080));
        check("localhost:81/x", "http://localhost:81/x", tcp("localhost", 81));
        check("https://example.org", "https://example.org/", tcp("example.org", 443));
        check("http://[::1]:9/", "http://[::1]:9/", tcp("::1", 9));
        check("tcp://127.0.0.1:80", "tcp://127.0.0.1:80", tcp("127.0.0.1", 80));
        check("UDP://[::1]:9/", "udp://[::1]:9", tcp("::1", 9));
        check("dns://127.0.0.1", "dns://127.0.0.1", tcp("127.0.0.1", 53));
        check("dns://[::1]:5353/a.test?type=MX", "dns://[::1]:5353/a.test?type=MX", tcp("::1", 5353));
        check("unix:/run/a.sock", "unix:/run/a.sock:/", Endpoint::Unix("/run/a.sock".into()));
        check("unix:/run/a.sock:/x?y", "unix:/run/a.sock:/x?y", Endpoint::Unix("/run/a.sock".into()));
    }

    #[test]
    fn a_target_of_dns_may_say_what_it_is_asked_for() {
        let question = |text: &str| Target::parse(text).unwrap().question();
        assert_eq!(question("dns://h/example.com").as_deref(), Some("example.com A"));
        assert_eq!(question("dns://h:54/example.com.?type=aaaa").as_deref(), Some("example.com. aaaa"));
        assert_eq!(question("dns://h/").as_deref(), None);
        // The root; and a name that is none, which the caller refuses.
        assert_eq!(question("dns://h/.?type=NS").as_deref(), Some(". NS"));
        assert_eq!(question("dns://[::1]:5353/.").as_deref(), Some(". A"));
        assert_eq!(question("dns://h/..?type=NS").as_deref(), Some(".. NS"));
        assert_eq!(question("dns://h/b%2Dc.example").as_deref(), Some("b-c.example A"));
        // No name of DNS: the caller refuses it.
        assert_eq!(question("dns://h/bücher.de").as_deref(), Some("bücher.de A"));
        assert_eq!(question("http://h/a?type=A").as_deref(), None);
    }

    #[test]
    fn credentials_become_a_header_and_never_show() {
        let target = Target::parse("http://me:p%40ss@host/").unwrap();
        assert_eq!(target.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        assert!(!format!("{target:?} {target}").contains("ss@"));
        let target = Target::parse("http://host/a?token=abc&x=y").unwrap();
        assert_eq!(target.to_string(), "http://host/a?token=<redacted>&x=y");
        assert_eq!(target.url(), "http://host/a?token=abc&x=y");
        let error = Target::parse("me:pw@127.0.0.1:99999/").unwrap_err().to_string();
        assert!(!error.contains("pw"), "{error}");
    }

    #[test]
    fn what_is_no_target_says_what_would_be() {
        let bytes = [
            "tcp://h",
            "udp://h",
            "udp://h:0",
            "udp://h:7/x",
            "tcp://h:7?x",
            "tcp://me:pw@h:7",
            "udp://",
            "dns:///a.b",
            "dns://h/a/b",
            "dns://h/a?x=1",
            "dns://h/?type=A",
            "dns://h/a.test?type=",
        ];
        let http = ["", "ftp://host/", "http://", "http://h:0/", "http://h:99999/", "unix:", "http://a b/"];
        let error = Target::parse("dns://h/a.test?type=").unwrap_err().to_string();
        assert!(error.contains("write ?type=A, AAAA"), "{error}");
        for bad in http.into_iter().chain(bytes) {
            let error = Target::parse(bad).unwrap_err().to_string();
            assert!(error.contains("for example http://"), "{bad}: {error}");
        }
    }
}
