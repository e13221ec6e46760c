//! A request as the bytes that go out, made once and sent as often as one likes, and the builder that checks its parts.
//!
//! Deliberately absent: URLs (a scenario's concern), percent-encoding, content codings, chunked request bodies.

use std::net::Ipv6Addr;
use std::sync::Arc;

use crate::syntax::{has_token, is_token, is_value, push_line, trim};

/// A rendered request. Cloning shares the bytes.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Arc<[u8]>,
    is_head: bool,
    closes: bool,
}

impl Request {
    /// A request for `target` (path and query: `/bars?page=2`) at `host`, a name or address without port.
    pub fn builder(
        method: impl Into<String>,
        host: impl Into<String>,
        target: impl Into<String>,
    ) -> RequestBuilder {
        RequestBuilder {
            method: method.into(),
            host: host.into(),
            port: None,
            target: target.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Bytes that were rendered elsewhere, unchecked: `is_head` if the method is HEAD, whose answer has no body; `closes`
    /// if it carries `Connection: close`.
    pub fn rendered(bytes: impl Into<Arc<[u8]>>, is_head: bool, closes: bool) -> Request {
        Request { bytes: bytes.into(), is_head, closes }
    }

    /// The bytes: head and body.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Whether the method is HEAD: the answer ends with its head, whatever that says.
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// Whether it asks the server to close the connection after the answer.
    pub fn closes(&self) -> bool {
        self.closes
    }
}

/// Collects the parts of a [`Request`]; [`build`](RequestBuilder::build) checks them.
#[derive(Clone, Debug)]
pub struct RequestBuilder {
    method: String,
    host: String,
    port: Option<u16>,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

/// What is wrong with a part of a request.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// The method is not a token.
    #[error("method {0:?} is not a word of letters, digits and !#$%&'*+-.^_`|~, such as GET")]
    Method(String),
    /// CONNECT makes a tunnel, and no tunnel can be load-tested here.
    #[error("method CONNECT is not supported: use GET, POST or another method with an answer of its own")]
    Connect,
    /// The target cannot stand in a request line.
    #[error(
        "target {0:?} cannot be sent: it begins with / (or is * with OPTIONS, or an absolute http:// or https:// URL \
         for a proxy), has no #fragment, and its spaces, controls and non-ASCII characters are percent-encoded, such \
         as /a%20b?c=d"
    )]
    Target(String),
    /// The host is neither a name nor an address.
    #[error(
        "host {0:?} is neither a name in ASCII (an international one in its xn-- form), an IPv4 address nor an IPv6 \
         address; a port is given apart from it"
    )]
    Host(String),
    /// The name of a header is not a token.
    #[error("header name {0:?} is not a word of letters, digits and !#$%&'*+-.^_`|~, such as Content-Type")]
    HeaderName(String),
    /// The value of a header holds a control character.
    #[error(
        "the value of header {name} holds a line break, NUL or another control character (byte {}): only tabs may stand in one",
        .value.bytes().position(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f).map_or(0, |at| at + 1)
    )]
    HeaderValue {
        /// Of this header.
        name: String,
        /// The value, with bytes that are not ASCII escaped.
        value: String,
    },
    /// Content-Length was given and is not the body's.
    #[error("Content-Length {value:?} is not the length of the body: leave it out, or say {actual}")]
    ContentLength {
        /// As given.
        value: String,
        /// Bytes of the body.
        actual: usize,
    },
    /// Transfer-Encoding was given.
    #[error(
        "Transfer-Encoding {0:?} cannot be sent: bodies go out whole, with their Content-Length; leave it out"
    )]
    TransferEncoding(String),
    /// Host was given more than once.
    #[error("Host is given more than once, the second time as {0:?}: give it once")]
    SeveralHosts(String),
}

const USER_AGENT: &str = concat!("headway/", env!("CARGO_PKG_VERSION"));

impl RequestBuilder {
    /// The port that Host names; none leaves it out, as is right for the default port of the scheme.
    pub fn port(mut self, port: impl Into<Option<u16>>) -> RequestBuilder {
        self.port = port.into();
        self
    }

    /// Adds a header line, after those already added. `Host`, `User-Agent` and `Accept` take the place of the default.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<[u8]>) -> RequestBuilder {
        self.headers.push((name.into(), trim(value.as_ref()).to_vec()));
        self
    }

    /// The body; goes out with its Content-Length.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> RequestBuilder {
        self.body = Some(body.into());
        self
    }

    /// Checks the parts and renders them.
    ///
    /// # Errors
    /// A [`RequestError`] for the first part that cannot be sent as it is.
    pub fn build(&self) -> Result<Request, RequestError> {
        self.check_line()?;
        self.check_headers()?;
        let given = |name: &str| self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let body = self.body.as_deref().unwrap_or_default();
        let mut bytes = Vec::with_capacity(256 + body.len());
        for part in [&self.method, " ", &self.target, " HTTP/1.1\r\n"] {
            bytes.extend_from_slice(part.as_bytes());
        }
        if !given("host") {
            push_line(&mut bytes, "Host", self.authority()?.as_bytes());
        }
        for (name, value) in &self.headers {
            push_line(&mut bytes, name, value);
        }
        for (name, value) in [("User-Agent", USER_AGENT), ("Accept", "*/*")] {
            if !given(name) {
                push_line(&mut bytes, name, value.as_bytes());
            }
        }
        // RFC 9110, 8.6: these methods are expected to have a body, so its absence is said, too.
        let expects_body = matches!(&*self.method, "POST" | "PUT" | "PATCH");
        if (self.body.is_some() || expects_body) && !given("content-length") {
            push_line(&mut bytes, "Content-Length", body.len().to_string().as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        let closes = self
            .headers
            .iter()
            .any(|(name, value)| name.eq_ignore_ascii_case("connection") && has_token(value, b"close"));
        Ok(Request { bytes: bytes.into(), is_head: self.method == "HEAD", closes })
    }

    fn check_line(&self) -> Result<(), RequestError> {
        if !is_token(self.method.as_bytes()) {
            return Err(RequestError::Method(self.method.clone()));
        }
        if self.method == "CONNECT" {
            return Err(RequestError::Connect);
        }
        let target = &*self.target;
        let form = target.starts_with('/')
            || (target == "*" && self.method == "OPTIONS")
            || ["http://", "https://"]
                .iter()
                .any(|scheme| target.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
        if form && target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            Ok(())
        } else {
            Err(RequestError::Target(target.into()))
        }
    }

    fn check_headers(&self) -> Result<(), RequestError> {
        let mut hosts = 0;
        for (name, value) in &self.headers {
            if !is_token(name.as_bytes()) {
                return Err(RequestError::HeaderName(name.clone()));
            }
            let shown = || String::from_utf8_lossy(value).into_owned();
            if !is_value(value) {
                return Err(RequestError::HeaderValue { name: name.clone(), value: shown() });
            }
            if name.eq_ignore_ascii_case("transfer-encoding") {
                return Err(RequestError::TransferEncoding(shown()));
            }
            let actual = self.body.as_ref().map_or(0, Vec::len);
            if name.eq_ignore_ascii_case("content-length") && *value != actual.to_string().as_bytes() {
                return Err(RequestError::ContentLength { value: shown(), actual });
            }
            hosts += u32::from(name.eq_ignore_ascii_case("host"));
            if hosts > 1 {
                return Err(RequestError::SeveralHosts(shown()));
            }
        }
        Ok(())
    }

    /// Host and port as Host has them: IPv6 in brackets, without the zone that means something on this machine only.
    fn authority(&self) -> Result<String, RequestError> {
        let bare = self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&self.host);
        let address = bare.split_once('%').map_or(bare, |(address, _zone)| address);
        let host = if let Ok(address) = address.parse::<Ipv6Addr>() {
            format!("[{address}]")
        } else if is_name(&self.host) {
            self.host.clone()
        } else {
            return Err(RequestError::Host(self.host.clone()));
        };
        Ok(self.port.map_or(host.clone(), |port| format!("{host}:{port}")))
    }
}

/// Letters, digits and what else resolvers take: the part of RFC 3986's reg-name that is not there to confuse.
fn is_name(host: &str) -> bool {
    !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get() -> RequestBuilder {
        Request::builder("GET", "example.com", "/")
    }

    fn text(builder: &RequestBuilder) -> String {
        let request = builder.build().unwrap_or_else(|error| panic!("{error}"));
        String::from_utf8(request.bytes().to_vec()).unwrap()
    }

    #[test]
    fn defaults_are_sent_unless_given() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text(&get()),
            format!(
                "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: headway/{version}\r\nAccept: */*\r\n\r\n"
            )
        );
        assert_eq!(
            text(&get().header("hOST", "a:1").header("user-agent", "me").header("ACCEPT", " text/html ")),
            "GET / HTTP/1.1\r\nhOST: a:1\r\nuser-agent: me\r\nACCEPT: text/html\r\n\r\n"
        );
    }

    #[test]
    fn the_length_is_sent_with_a_body_and_where_one_is_expected() {
        for (method, body, expected) in [
            ("GET", None, None),
            ("DELETE", None, None),
            ("GET", Some("hi"), Some("2")),
            ("POST", None, Some("0")),
            ("PUT", Some(""), Some("0")),
            ("PATCH", Some("abc"), Some("3")),
        ] {
            let mut builder = Request::builder(method, "a", "/");
            if let Some(body) = body {
                builder = builder.body(body);
            }
            let text = text(&builder);
            let (head, sent) = text.split_once("\r\n\r\n").unwrap();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            assert_eq!((length, sent), (expected, body.unwrap_or("")), "{method}");
        }
        let own = get().body("abc").header("content-length", "3");
        assert_eq!(text(&own).to_lowercase().matches("content-length").count(), 1);
    }

    #[test]
    fn hosts_are_names_or_addresses_with_a_port_apart() {
        for (host, port, expected) in [
            ("example.com", None, Some("example.com")),
            ("example.com", Some(8080), Some("example.com:8080")),
            ("my_service.local", None, Some("my_service.local")),
            ("127.0.0.1", Some(80), Some("127.0.0.1:80")),
            ("::1", Some(8080), Some("[::1]:8080")),
            ("[::1]", None, Some("[::1]")),
            ("FE80::1%eth0", None, Some("[fe80::1]")),
            ("", None, None),
            ("a b", None, None),
            ("example.com:80", None, None),
            ("[example.com]", None, None),
            ("müller.de", None, None),
            ("a\r\nX: y", None, None),
            ("user@host", None, None),
        ] {
            let built = Request::builder("GET", host, "/").port(port).build();
            match expected {
                Some(expected) => {
                    let bytes = built.unwrap().bytes().to_vec();
                    let text = String::from_utf8(bytes).unwrap();
                    assert!(text.contains(&format!("\r\nHost: {expected}\r\n")), "{text}");
                }
                None => assert_eq!(built.unwrap_err(), RequestError::Host(host.into())),
            }
        }
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let target = |target: &str| Request::builder("GET", "a", target);
        for bad in
            ["", "bars", "*", "/a b", "/a\r\nX: y", "/ä", "/a#b", "/\0", "/\x7f", "ftp://a/", "http://"]
        {
            assert_eq!(target(bad).build().unwrap_err(), RequestError::Target(bad.into()));
        }
        for good in ["/", "/a?b=c&d", "/%20|{}\"<>", "http://a/b", "/*"] {
            assert!(text(&target(good)).starts_with(&format!("GET {good} HTTP/1.1\r\n")));
        }
        assert!(Request::builder("OPTIONS", "a", "*").build().is_ok());

        for bad in ["", "G T", "GET\r\n", "GÄT", "GET:", "\0"] {
            assert_eq!(
                Request::builder(bad, "a", "/").build().unwrap_err(),
                RequestError::Method(bad.into())
            );
            assert_eq!(get().header(bad, "x").build().unwrap_err(), RequestError::HeaderName(bad.into()));
        }
        assert_eq!(Request::builder("CONNECT", "a", "/").build().unwrap_err(), RequestError::Connect);

        for bad in ["a\rb", "a\nb", "a\n", "a\r\n", "a\r\nX: y", "a\0b", "a\x01b", "a\x7fb"] {
            let error = get().header("X", bad).build().unwrap_err();
            assert_eq!(error, RequestError::HeaderValue { name: "X".into(), value: bad.into() });
        }
        assert!(get().header("X", "tab\there, ümlaut").build().is_ok());

        let error = get().body("abc").header("Content-Length", "4").build().unwrap_err();
        assert_eq!(
            error.to_string(),
            "Content-Length \"4\" is not the length of the body: leave it out, or say 3"
        );
        let error = get().header("transfer-encoding", "chunked").build().unwrap_err();
        assert_eq!(error, RequestError::TransferEncoding("chunked".into()));
        let error = get().header("host", "a").header("Host", "b").build().unwrap_err();
        assert_eq!(error, RequestError::SeveralHosts("b".into()));
    }

    #[test]
    fn flags_follow_the_method_and_the_connection_header() {
        let head = Request::builder("HEAD", "a", "/").build().unwrap();
        assert_eq!((head.is_head(), head.closes()), (true, false));
        for (value, closes) in
            [("close", true), ("TE, Close", true), ("keep-alive", false), ("closed", false)]
        {
            let request = get().header("connection", value).build().unwrap();
            assert_eq!((request.is_head(), request.closes()), (false, closes), "{value}");
        }
    }
}
