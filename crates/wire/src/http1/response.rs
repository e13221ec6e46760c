//! What the server half says: a status, headers, and a body that may be a length with a repeating filler.

use std::sync::Arc;

use crate::head::Head;
use crate::syntax::{is_token, is_value, push_decimal, push_line, trim};

/// An answer, to be rendered with the framing that its request allows.
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    /// Extra header lines, rendered.
    lines: Vec<u8>,
    body: Body,
    /// Bytes per chunk; none: Content-Length.
    chunk: Option<u64>,
    closes: bool,
}

#[derive(Clone, Debug)]
enum Body {
    Bytes(Arc<[u8]>),
    /// So many bytes: the filler over and over, the last time cut short. The filler is not empty.
    Filler(u64, Arc<[u8]>),
}

/// What is wrong with a part of a response.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ResponseError {
    /// The status is not one that ends a request.
    #[error("status {0} does not end a request: use one from 200 to 999")]
    Status(u16),
    /// The name of a header is not a token.
    #[error("header name {0:?} is not a word of letters, digits and !#$%&'*+-.^_`|~, such as Content-Type")]
    HeaderName(String),
    /// The value of a header holds a control character.
    #[error(
        "the value {value:?} of header {name} holds a line break, NUL or another control character: only tabs may stand in one"
    )]
    HeaderValue {
        /// Of this header.
        name: String,
        /// The value.
        value: String,
    },
    /// The header is one that frames the answer.
    #[error("header {0} is set from the body and the close flag: leave it out")]
    Framing(String),
}

impl Response {
    /// An answer without extra headers and with an empty body.
    ///
    /// # Errors
    /// [`ResponseError::Status`] unless `status` is from 200 to 999.
    pub fn new(status: u16) -> Result<Response, ResponseError> {
        if !(200..=999).contains(&status) {
            return Err(ResponseError::Status(status));
        }
        Ok(Response {
            status,
            lines: Vec::new(),
            body: Body::Bytes(Arc::default()),
            chunk: None,
            closes: false,
        })
    }

    /// Adds a header line.
    ///
    /// # Errors
    /// If the name is no token, the value holds controls, or the header frames the answer: Content-Length,
    /// Transfer-Encoding and Connection are set from the rest.
    pub fn header(mut self, name: &str, value: &str) -> Result<Response, ResponseError> {
        if !is_token(name.as_bytes()) {
            return Err(ResponseError::HeaderName(name.into()));
        }
        let trimmed = trim(value.as_bytes());
        if !is_value(trimmed) {
            return Err(ResponseError::HeaderValue { name: name.into(), value: value.into() });
        }
        if ["content-length", "transfer-encoding", "connection"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
        {
            return Err(ResponseError::Framing(name.into()));
        }
        push_line(&mut self.lines, name, trimmed);
        Ok(self)
    }

    /// With this body.
    pub fn body(mut self, body: impl Into<Arc<[u8]>>) -> Response {
        self.body = Body::Bytes(body.into());
        self
    }

    /// With a body of `bytes` bytes: `filler` over and over, or `x` if that is empty.
    pub fn filler(mut self, bytes: u64, filler: impl Into<Arc<[u8]>>) -> Response {
        let filler = filler.into();
        self.body = Body::Filler(bytes, if filler.is_empty() { Arc::from(&b"x"[..]) } else { filler });
        self
    }

    /// Sends the body in chunks of that many bytes (at least 1) instead of with its Content-Length. A client of HTTP/1.0,
    /// which knows no chunks, still gets the length.
    pub fn chunked(mut self, chunk_bytes: u64) -> Response {
        self.chunk = Some(chunk_bytes.max(1));
        self
    }

    /// Closes the connection after this answer.
    pub fn close(mut self) -> Response {
        self.closes = true;
        self
    }

    /// Its status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the connection closes after it.
    pub fn closes(&self) -> bool {
        self.closes
    }

    /// Bytes of its body, without framing.
    pub fn body_bytes(&self) -> u64 {
        match &self.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Filler(bytes, _) => *bytes,
        }
    }

    /// Its header lines, but for those that frame it.
    pub(crate) fn head(&self) -> Head<'_> {
        Head::new(&self.lines)
    }

    /// Appends the body without any framing.
    pub(crate) fn write_plain_body(&self, buffer: &mut Vec<u8>) {
        if !self.bodiless() {
            self.write_data(0, self.body_bytes(), buffer);
        }
    }

    /// Renders it once for all, for [`Server::respond_rendered`](super::Server::respond_rendered). Holds the whole body
    /// in memory.
    pub fn render(&self) -> Rendered {
        let mut bytes = Vec::new();
        let to = To { http10: false, is_head: false, keep_alive: true };
        let head = self.write_head(to, &mut bytes);
        self.write_body(to, &mut bytes);
        Rendered { bytes: bytes.into(), head, response: self.clone() }
    }

    /// Appends the head; returns its bytes.
    pub(super) fn write_head(&self, to: To, buffer: &mut Vec<u8>) -> usize {
        let before = buffer.len();
        buffer.extend_from_slice(b"HTTP/1.1 ");
        push_decimal(buffer, u64::from(self.status));
        buffer.push(b' ');
        buffer.extend_from_slice(reason(self.status).as_bytes());
        buffer.extend_from_slice(b"\r\n");
        if !self.bodiless() {
            if self.chunk_bytes(to).is_some() {
                buffer.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            } else {
                buffer.extend_from_slice(b"Content-Length: ");
                push_decimal(buffer, self.body_bytes());
                buffer.extend_from_slice(b"\r\n");
            }
        }
        buffer.extend_from_slice(&self.lines);
        buffer.extend_from_slice(to.connection(self.closes));
        buffer.extend_from_slice(b"\r\n");
        buffer.len() - before
    }

    /// Appends the body in its framing, unless there is none to send.
    pub(super) fn write_body(&self, to: To, buffer: &mut Vec<u8>) {
        if to.is_head || self.bodiless() {
            return;
        }
        let bytes = self.body_bytes();
        let Some(chunk_bytes) = self.chunk_bytes(to) else {
            return self.write_data(0, bytes, buffer);
        };
        let mut from = 0;
        while from < bytes {
            let len = chunk_bytes.min(bytes - from);
            buffer.extend_from_slice(format!("{len:x}\r\n").as_bytes());
            self.write_data(from, len, buffer);
            buffer.extend_from_slice(b"\r\n");
            from += len;
        }
        buffer.extend_from_slice(b"0\r\n\r\n");
    }

    /// Appends that many bytes of the body from `from` on, as one chunk where the client knows chunks, and the end of the body with the last.
    pub(super) fn write_piece(&self, to: To, from: u64, len: u64, buffer: &mut Vec<u8>) {
        let chunked = self.chunk_bytes(to).is_some();
        if chunked {
            buffer.extend_from_slice(format!("{len:x}\r\n").as_bytes());
        }
        self.write_data(from, len, buffer);
        if chunked {
            let last = from + len >= self.body_bytes();
            buffer.extend_from_slice(if last { b"\r\n0\r\n\r\n" } else { b"\r\n" });
        }
    }

    /// Appends `len` bytes of the body from `from` on.
    fn write_data(&self, mut from: u64, len: u64, buffer: &mut Vec<u8>) {
        let end = from + len;
        match &self.body {
            // Both lie within a slice, and so within usize.
            Body::Bytes(bytes) => buffer.extend_from_slice(&bytes[from as usize..end as usize]),
            Body::Filler(_, filler) => {
                while from < end {
                    let rest = &filler[(from % filler.len() as u64) as usize..];
                    let take = (end - from).min(rest.len() as u64);
                    buffer.extend_from_slice(&rest[..take as usize]);
                    from += take;
                }
            }
        }
    }

    /// Whether this status has no body and no framing (RFC 9110, 15.3.5 and 15.4.5).
    pub(crate) fn bodiless(&self) -> bool {
        matches!(self.status, 204 | 304)
    }

    fn chunk_bytes(&self, to: To) -> Option<u64> {
        self.chunk.filter(|_| !to.http10)
    }
}

/// What an answer has to know of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct To {
    /// It was of HTTP/1.0.
    pub(super) http10: bool,
    /// Its method was HEAD.
    pub(super) is_head: bool,
    /// The connection may go on after it.
    pub(super) keep_alive: bool,
}

impl To {
    /// The Connection line; nothing where the default of the version says it.
    fn connection(self, closes: bool) -> &'static [u8] {
        match (self.keep_alive && !closes, self.http10) {
            (false, _) => b"Connection: close\r\n",
            (true, true) => b"Connection: keep-alive\r\n",
            (true, false) => b"",
        }
    }
}

/// A [`Response`] rendered once for all; cloning shares the bytes.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// As HTTP/1.1 keeps alive.
    bytes: Arc<[u8]>,
    /// Bytes of the head.
    head: usize,
    response: Response,
}

impl Rendered {
    /// What it was made of.
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// The bytes that answer a request of HTTP/1.1 other than HEAD.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    pub(super) fn write(&self, to: To, buffer: &mut Vec<u8>) {
        if to.http10 && self.response.chunk.is_some() {
            self.response.write_head(to, buffer);
            return self.response.write_body(to, buffer);
        }
        let (head, body) = self.bytes.split_at(self.head);
        // Before the empty line; the head already says so if it is the response that closes.
        let (lines, end) = head.split_at(head.len() - 2);
        let connection = if self.response.closes { b"" } else { to.connection(false) };
        for part in [lines, connection, end] {
            buffer.extend_from_slice(part);
        }
        if !to.is_head {
            buffer.extend_from_slice(body);
        }
    }
}

/// The reason phrase that goes with a status; nothing for one that has none. Nobody may read a meaning into it.
const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        417 => "Expectation Failed",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: To = To { http10: false, is_head: false, keep_alive: true };

    fn text(response: &Response, to: To) -> String {
        let (mut live, mut rendered) = (Vec::new(), Vec::new());
        response.write_head(to, &mut live);
        response.write_body(to, &mut live);
        response.render().write(to, &mut rendered);
        let (live, rendered) = (String::from_utf8(live).unwrap(), String::from_utf8(rendered).unwrap());
        assert_eq!(live, rendered, "rendered ahead or not, the bytes are the same");
        live
    }

    #[test]
    fn answers_are_framed_for_their_request() {
        let ok = || Response::new(200).unwrap();
        let head = To { is_head: true, ..PLAIN };
        let old = To { http10: true, ..PLAIN };
        let last = To { keep_alive: false, ..PLAIN };
        for (response, to, expected) in [
            (ok(), PLAIN, "200 OK|Content-Length: 0||"),
            (ok().body(&b"hi"[..]), PLAIN, "200 OK|Content-Length: 2||hi"),
            (ok().body(&b"hi"[..]), head, "200 OK|Content-Length: 2||"),
            (ok().body(&b"hi"[..]), old, "200 OK|Content-Length: 2|Connection: keep-alive||hi"),
            (ok().body(&b"hi"[..]), last, "200 OK|Content-Length: 2|Connection: close||hi"),
            (ok().close(), PLAIN, "200 OK|Content-Length: 0|Connection: close||"),
            (ok().close(), old, "200 OK|Content-Length: 0|Connection: close||"),
            (ok().close(), last, "200 OK|Content-Length: 0|Connection: close||"),
            (ok().filler(7, &b"abc"[..]), PLAIN, "200 OK|Content-Length: 7||abcabca"),
            (ok().filler(3, &b""[..]), PLAIN, "200 OK|Content-Length: 3||xxx"),
            (
                ok().filler(7, &b"abc"[..]).chunked(4),
                PLAIN,
                "200 OK|Transfer-Encoding: chunked||4|abca|3|bca|0||",
            ),
            (
                ok().filler(7, &b"abc"[..]).chunked(4),
                old,
                "200 OK|Content-Length: 7|Connection: keep-alive||abcabca",
            ),
            (ok().filler(7, &b"abc"[..]).chunked(4), head, "200 OK|Transfer-Encoding: chunked||"),
            (
                ok().body(&b"hello"[..]).chunked(0),
                PLAIN,
                "200 OK|Transfer-Encoding: chunked||1|h|1|e|1|l|1|l|1|o|0||",
            ),
            (ok().chunked(9), PLAIN, "200 OK|Transfer-Encoding: chunked||0||"),
            (Response::new(204).unwrap().body(&b"hi"[..]), PLAIN, "204 No Content||"),
            (Response::new(304).unwrap().chunked(3).filler(3, &b""[..]), PLAIN, "304 Not Modified||"),
            (Response::new(299).unwrap(), PLAIN, "299 |Content-Length: 0||"),
            (ok().header("X-A", " b ").unwrap(), last, "200 OK|Content-Length: 0|X-A: b|Connection: close||"),
        ] {
            assert_eq!(text(&response, to), format!("HTTP/1.1 {}", expected.replace('|', "\r\n")));
        }
    }

    #[test]
    fn what_would_break_the_framing_is_refused() {
        let ok = || Response::new(200).unwrap();
        for status in [0, 100, 101, 199, 1000] {
            assert_eq!(Response::new(status).unwrap_err(), ResponseError::Status(status));
        }
        for name in ["content-LENGTH", "Transfer-Encoding", "Connection"] {
            assert_eq!(ok().header(name, "1").unwrap_err(), ResponseError::Framing(name.into()));
        }
        assert_eq!(ok().header("a b", "1").unwrap_err(), ResponseError::HeaderName("a b".into()));
        let error = ok().header("a", "b\r\nc").unwrap_err();
        assert_eq!(error, ResponseError::HeaderValue { name: "a".into(), value: "b\r\nc".into() });
    }
}
