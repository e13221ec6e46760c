//! A request as its parts: method, authority, target, header fields and body. The builder checks them; each protocol
//! renders them once, and sends that as often as one likes.
//!
//! Deliberately absent: URLs (a scenario's concern), percent-encoding, content codings, chunked request bodies.

use std::borrow::Cow;
use std::net::Ipv6Addr;
use std::sync::{Arc, OnceLock};

use crate::syntax::{has_token, is_token, is_value, push_decimal, trim};
use crate::{http1, http2};

/// A request whose parts were checked. Cloning shares them, and what each protocol has made of them.
#[derive(Clone, Debug)]
pub struct Request(Arc<Message>);

#[derive(Debug)]
struct Message {
    parts: RequestBuilder,
    /// Host and port, as given or as Host has them.
    authority: Vec<u8>,
    http1: OnceLock<Arc<[u8]>>,
    http2: OnceLock<Result<http2::Rendered, RequestError>>,
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
            https: false,
            host: host.into(),
            port: None,
            target: target.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Whether the method is HEAD: the answer ends with its head, whatever that says.
    pub fn is_head(&self) -> bool {
        self.0.parts.method == "HEAD"
    }

    /// Whether it asks the server to close the connection after the answer.
    pub fn closes(&self) -> bool {
        let mut headers = self.0.parts.headers.iter();
        headers.any(|(name, value)| name.eq_ignore_ascii_case("connection") && has_token(value, b"close"))
    }

    /// Its method, a token.
    pub fn method(&self) -> &str {
        &self.0.parts.method
    }

    /// Path and query, or an absolute URL.
    pub fn target(&self) -> &str {
        &self.0.parts.target
    }

    /// Whether its URL is one of https.
    pub fn is_https(&self) -> bool {
        self.0.parts.https
    }

    /// Host and port, as Host and `:authority` have them.
    pub fn authority(&self) -> &[u8] {
        &self.0.authority
    }

    /// The Host line: as given, or from the authority.
    pub(crate) fn host_line(&self) -> (&str, &[u8]) {
        let mut headers = self.0.parts.headers.iter();
        let given = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"));
        (given.map_or("Host", |(name, _)| name), &self.0.authority)
    }

    /// Its header fields: those given, then `User-Agent`, `Accept` and `Content-Length` where they are to be sent and were not
    /// given. Without Host.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Cow<'_, [u8]>)> {
        let parts = &self.0.parts;
        let given = parts.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host"));
        let given = given.map(|(name, value)| (name.as_str(), Cow::Borrowed(&value[..])));
        let defaults = [("User-Agent", USER_AGENT), ("Accept", "*/*")].into_iter();
        let defaults = defaults.filter(|(name, _)| !parts.gives(name));
        let defaults = defaults.map(|(name, value)| (name, Cow::Borrowed(value.as_bytes())));
        given.chain(defaults).chain(parts.length().map(|length| {
            let mut digits = Vec::new();
            push_decimal(&mut digits, length);
            ("Content-Length", Cow::Owned(digits))
        }))
    }

    /// Its body; empty where it has none.
    pub fn body(&self) -> &[u8] {
        self.0.parts.body.as_deref().unwrap_or_default()
    }

    /// Its bytes in HTTP/1.1, head and body.
    pub fn http1(&self) -> &Arc<[u8]> {
        self.0.http1.get_or_init(|| http1::render(self).into())
    }

    /// What HTTP/2 makes of it.
    pub(crate) fn http2(&self) -> Result<&http2::Rendered, RequestError> {
        self.0.http2.get_or_init(|| http2::Rendered::of(self)).as_ref().map_err(RequestError::clone)
    }
}

/// Collects the parts of a [`Request`]; [`build`](RequestBuilder::build) checks them.
#[derive(Clone, Debug)]
pub struct RequestBuilder {
    method: String,
    https: bool,
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
    /// CONNECT makes a tunnel, which is no request with an answer of its own.
    #[error(
        "method CONNECT makes a tunnel and is no request: use GET, POST or another method with an answer of its own; --proxy goes through a tunnel"
    )]
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
    /// HTTP/2 is stricter than HTTP/1.1 here.
    #[error("HTTP/2 cannot send {0}: percent-encode what stands there, or use --http1.1")]
    NotInHttp2(String),
    /// Host was given more than once.
    #[error("Host is given more than once, the second time as {0:?}: give it once")]
    SeveralHosts(String),
}

pub(crate) const USER_AGENT: &str = concat!("headway/", env!("CARGO_PKG_VERSION"));

impl RequestBuilder {
    /// The port that Host names; none leaves it out, as is right for the default port of the scheme.
    pub fn port(mut self, port: impl Into<Option<u16>>) -> RequestBuilder {
        self.port = port.into();
        self
    }

    /// Its URL is one of https. HTTP/2 says so in each request.
    pub fn https(mut self, https: bool) -> RequestBuilder {
        self.https = https;
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

    /// Checks the parts.
    ///
    /// # Errors
    /// A [`RequestError`] for the first part that cannot be sent as it is.
    pub fn build(self) -> Result<Request, RequestError> {
        self.check_line()?;
        self.check_headers()?;
        let given = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let authority = match given {
            Some((_, host)) => host.clone(),
            None => self.authority()?.into_bytes(),
        };
        let (http1, http2) = (OnceLock::new(), OnceLock::new());
        Ok(Request(Arc::new(Message { parts: self, authority, http1, http2 })))
    }

    fn gives(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    /// The length to send, unless it was given.
    fn length(&self) -> Option<u64> {
        // RFC 9110, 8.6: these methods are expected to have a body, so its absence is said, too.
        let expects_body = matches!(&*self.method, "POST" | "PUT" | "PATCH");
        let wanted = (self.body.is_some() || expects_body) && !self.gives("content-length");
        wanted.then(|| self.body.as_ref().map_or(0, Vec::len) as u64)
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
        let request = builder.clone().build().unwrap_or_else(|error| panic!("{error}"));
        String::from_utf8(request.http1().to_vec()).unwrap()
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
                    let bytes = built.unwrap().http1().to_vec();
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
