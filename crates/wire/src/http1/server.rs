//! The server half of HTTP/1.1, for the calibrated target: pulls requests out of bytes, and renders answers in order.
//!
//! Requests may be pipelined. Framing that contradicts itself is refused and ends the connection, since guessing is how
//! requests are smuggled (RFC 9112, 11.2). Deliberately absent: Date and Server headers, ranges, routing.

use std::collections::VecDeque;

use super::assembler::{Assembler, Assembly};
use super::chunked::{Chunked, Decoded};
use super::fields::{ContentLength, Line, Parsed, parse_request};
use super::response::{Rendered, Response, To};
use crate::head::Head;
use crate::limits::{Limit, Limits};
use crate::syntax::is_token;

/// Events of a server connection, from the bytes it received: request, body chunks, request end; over and over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerEvent<'a> {
    /// The head of a request.
    Request {
        /// Its method, a token.
        method: &'a str,
        /// Its target, as sent.
        target: &'a str,
        /// Its header lines.
        head: Head<'a>,
        /// Whether the connection may go on after the answer.
        keep_alive: bool,
        /// Whether the client waits for [`Server::send_continue`] (or the answer) before it sends the body.
        expect_continue: bool,
    },
    /// A piece of the body, never empty.
    BodyChunk {
        /// Without framing.
        data: &'a [u8],
    },
    /// The request is complete.
    RequestEnd,
    /// The request cannot be understood, and nothing more will be: answer it with this status, unless it was answered
    /// already, and close.
    Error {
        /// 400 (malformed), 413 (body too large), 431 (head too large), 501 (unknown transfer coding), 503 (too many
        /// unanswered requests) or 505 (version).
        status: u16,
    },
}

/// An HTTP/1.1 server connection. Idle, it holds no memory beyond itself.
#[derive(Debug)]
pub struct Server {
    limits: Limits,
    state: State,
    /// The current head if it came in pieces; kept until the call after the one that reported it.
    assembler: Assembler,
    /// Requests that were reported and not answered yet, oldest first.
    unanswered: VecDeque<To>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The head of a request is due.
    Head,
    /// So many bytes of its body are due, at least one.
    Length(u64),
    /// Its chunks are due.
    Chunked(Chunked),
    /// It is complete; to be reported.
    Complete,
    /// No more requests.
    Over,
}

impl Server {
    /// How many pipelined requests may wait for their answers.
    pub const MAX_UNANSWERED: usize = 1024;

    /// A connection that was just accepted.
    pub fn new(limits: Limits) -> Server {
        Server { limits, state: State::Head, assembler: Assembler::default(), unanswered: VecDeque::new() }
    }

    /// Reads from `bytes`, what the client sent, up to the next event; advances `bytes` over what it consumed. None: all
    /// were consumed, and more are needed. Call until then, also with `bytes` empty.
    pub fn receive<'a, 'b: 'a>(&'a mut self, bytes: &mut &'b [u8]) -> Option<ServerEvent<'a>> {
        if let State::Head = self.state {
            return self.receive_head(bytes);
        }
        // The head was reported: it was borrowed until now.
        self.assembler.release();
        match self.state {
            State::Complete => return self.complete(),
            State::Over => *bytes = &[],
            _ => {}
        }
        if bytes.is_empty() {
            return None;
        }
        match self.state {
            State::Length(left) => {
                let len = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                let (data, rest) = bytes.split_at(len);
                *bytes = rest;
                let left = left - len as u64;
                self.state = if left == 0 { State::Complete } else { State::Length(left) };
                Some(ServerEvent::BodyChunk { data })
            }
            State::Chunked(mut chunked) => {
                let decoded = chunked.decode(bytes, &self.limits);
                self.state = State::Chunked(chunked);
                match decoded {
                    Decoded::Data(data) => Some(ServerEvent::BodyChunk { data }),
                    Decoded::Partial => None,
                    Decoded::End => self.complete(),
                    Decoded::TooLarge(Limit::Body) => self.fail_body(413),
                    Decoded::TooLarge(_) => self.fail_body(431),
                    Decoded::Broken(_) => self.fail_body(400),
                }
            }
            State::Head | State::Complete | State::Over => None,
        }
    }

    /// The client closed its sending half. A request cut short is an error; otherwise unanswered requests are still
    /// answered, since the client may be listening. Call until it returns none.
    pub fn receive_end(&mut self) -> Option<ServerEvent<'static>> {
        match self.state {
            State::Complete => self.complete(),
            State::Head if !self.assembler.is_empty() => self.fail_head(400),
            State::Length(_) | State::Chunked(_) => self.fail_body(400),
            State::Head => {
                self.state = State::Over;
                None
            }
            State::Over => None,
        }
    }

    /// Appends the answer to the oldest unanswered request; nothing if there is none. Once
    /// [`is_finished`](Server::is_finished), the connection is to be closed after these bytes.
    pub fn respond(&mut self, response: &Response, buffer: &mut Vec<u8>) {
        if let Some(to) = self.answer(response.closes()) {
            response.write_head(to, buffer);
            response.write_body(to, buffer);
        }
    }

    /// [`respond`](Server::respond) with what was rendered ahead: a copy of its bytes.
    pub fn respond_rendered(&mut self, rendered: &Rendered, buffer: &mut Vec<u8>) {
        if let Some(to) = self.answer(rendered.response().closes()) {
            rendered.write(to, buffer);
        }
    }

    /// Appends the head of the answer to the oldest unanswered request, whose body follows by [`respond_piece`](Server::respond_piece), before
    /// anything else is answered. None if there is no request.
    pub fn respond_begun(&mut self, response: &Response, buffer: &mut Vec<u8>) -> Option<InPieces> {
        let to = self.answer(response.closes())?;
        response.write_head(to, buffer);
        Some(InPieces { to, sent: 0 })
    }

    /// Appends the next `len` bytes of the body, which goes out with them; false if that was the last of it. A request by HEAD has none.
    pub fn respond_piece(of: &mut InPieces, response: &Response, len: u64, buffer: &mut Vec<u8>) -> bool {
        if of.to.is_head || response.bodiless() {
            return false;
        }
        let len = len.min(response.body_bytes() - of.sent);
        response.write_piece(of.to, of.sent, len, buffer);
        of.sent += len;
        of.sent < response.body_bytes()
    }

    /// Appends `100 Continue`, for a request that expects it. Before its answer, and after those of earlier requests.
    pub fn send_continue(&mut self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    /// Requests that were reported and not answered yet.
    pub fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Whether nothing more will be received or answered: close once the bytes are out.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, State::Over) && self.unanswered.is_empty()
    }

    fn answer(&mut self, closes: bool) -> Option<To> {
        let to = self.unanswered.pop_front()?;
        if closes || !to.keep_alive {
            // Whatever else was pipelined goes unanswered: the client sees that from Connection: close.
            self.unanswered.clear();
            self.state = State::Over;
        }
        if self.unanswered.is_empty() && self.unanswered.capacity() > 16 {
            self.unanswered = VecDeque::new();
        }
        Some(to)
    }

    fn receive_head<'a, 'b: 'a>(&'a mut self, bytes: &mut &'b [u8]) -> Option<ServerEvent<'a>> {
        if self.assembler.is_empty() {
            while let Some(rest) = bytes.strip_prefix(b"\r\n").or(bytes.strip_prefix(b"\n")) {
                *bytes = rest;
            }
            if bytes.is_empty() {
                return None;
            }
            // What cannot begin a request (a client that begins TLS, 0x16) need not end like one to be told so. Half an empty
            // line can.
            if bytes[0] != b'\r' && !is_token(&bytes[..1]) {
                return self.fail_head(400);
            }
            // As in the client: the whole head at once, or anything else the long way.
            let window = &bytes[..bytes.len().min(self.limits.head_bytes)];
            if let Ok(Some(parsed)) = parse_request(window, self.limits.headers) {
                let (head, rest) = bytes.split_at(parsed.len);
                *bytes = rest;
                return match self.begin(&parsed) {
                    Ok(keep_alive) => Some(request(head, &parsed, keep_alive)),
                    Err(status) => self.fail_head(status),
                };
            }
        }
        match self.assembler.push(bytes, self.limits.head_bytes) {
            Assembly::Partial => return None,
            Assembly::TooLarge => return self.fail_head(431),
            Assembly::Complete => {}
        }
        let parsed = match parse_request(self.assembler.bytes(), self.limits.headers) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return self.fail_head(400),
            Err(error) => return self.fail_head(malformed(error, self.assembler.bytes())),
        };
        match self.begin(&parsed) {
            Ok(keep_alive) => Some(request(self.assembler.bytes(), &parsed, keep_alive)),
            Err(status) => self.fail_head(status),
        }
    }

    /// Takes note of a request; whether the connection may go on after it, or the status that refuses it.
    fn begin(&mut self, parsed: &Parsed<Line>) -> Result<bool, u16> {
        let Parsed { first, version, ref fields, .. } = *parsed;
        if self.unanswered.len() >= Server::MAX_UNANSWERED {
            return Err(503);
        }
        // RFC 9112, 3.2: exactly one Host, from HTTP/1.1 on.
        if fields.hosts > 1 || (version >= 1 && fields.hosts == 0) {
            return Err(400);
        }
        self.state = if fields.transfer_encoding {
            let smuggled = fields.content_length != ContentLength::Absent || version == 0;
            if smuggled || fields.chunked != 1 || !fields.chunked_last {
                // A coding that is merely unknown is 501 where the end of the body would be known.
                return Err(if !smuggled && fields.chunked == 0 && fields.codings > 0 { 501 } else { 400 });
            }
            if fields.codings > 1 {
                return Err(501);
            }
            State::Chunked(Chunked::new())
        } else {
            match fields.content_length {
                ContentLength::Absent | ContentLength::Bytes(0) => State::Complete,
                ContentLength::Bytes(len) if len <= self.limits.body_bytes => State::Length(len),
                ContentLength::Bytes(_) => return Err(413),
                ContentLength::Invalid => return Err(400),
            }
        };
        let keep_alive = fields.persistent(version);
        self.unanswered.push_back(To { http10: version == 0, is_head: first.is_head, keep_alive });
        Ok(keep_alive)
    }

    fn complete<'e>(&mut self) -> Option<ServerEvent<'e>> {
        // The last request read is the newest unanswered one, unless it was answered before its end.
        let goes_on = self.unanswered.back().is_none_or(|to| to.keep_alive);
        self.state = if goes_on { State::Head } else { State::Over };
        Some(ServerEvent::RequestEnd)
    }

    /// Ends the connection before a request was reported.
    fn fail_head<'e>(&mut self, status: u16) -> Option<ServerEvent<'e>> {
        self.unanswered.push_back(To { http10: false, is_head: false, keep_alive: false });
        self.over(status)
    }

    /// Ends the connection within a request.
    fn fail_body<'e>(&mut self, status: u16) -> Option<ServerEvent<'e>> {
        if let Some(to) = self.unanswered.back_mut() {
            to.keep_alive = false;
        }
        self.over(status)
    }

    fn over<'e>(&mut self, status: u16) -> Option<ServerEvent<'e>> {
        self.state = State::Over;
        self.assembler.release();
        Some(ServerEvent::Error { status })
    }
}

/// An answer that is under way in pieces.
#[derive(Clone, Copy, Debug)]
pub struct InPieces {
    to: To,
    /// Bytes of the body.
    sent: u64,
}

/// The event for a parsed head.
fn request<'h>(head: &'h [u8], parsed: &Parsed<Line>, keep_alive: bool) -> ServerEvent<'h> {
    let Line { method, target, .. } = parsed.first;
    // Both were checked to be text; the default is never taken.
    let text = |from: usize, len: usize| str::from_utf8(&head[from..from + len]).unwrap_or_default();
    let has_body = parsed.fields.transfer_encoding
        || !matches!(parsed.fields.content_length, ContentLength::Absent | ContentLength::Bytes(0));
    ServerEvent::Request {
        method: text(0, method),
        target: text(method + 1, target),
        head: Head::new(&head[parsed.lines..]),
        keep_alive,
        // RFC 9110, 10.1.1: from HTTP/1.0 it means nothing, and without a body there is nothing to wait for.
        expect_continue: parsed.fields.expect_continue && parsed.version >= 1 && has_body,
    }
}

/// The status for a complete head that cannot be parsed.
fn malformed(error: httparse::Error, head: &[u8]) -> u16 {
    match error {
        httparse::Error::TooManyHeaders => 431,
        // A version it is, or garbage in its place.
        httparse::Error::Version => {
            let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
            let word = line.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
            match word.strip_prefix(b"HTTP/") {
                Some([major, b'.', minor]) if major.is_ascii_digit() && minor.is_ascii_digit() => 505,
                Some([major]) if major.is_ascii_digit() => 505,
                _ => 400,
            }
        }
        _ => 400,
    }
}
