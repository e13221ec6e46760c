//! The client half of HTTP/1.1: one stream, kept alive from answer to answer.
//!
//! Where an answer ends follows RFC 9112, 6.3; whether the connection goes on, 9.3. Common mistakes of servers are read as
//! curl reads them where that is certain. Two things are stricter, because a load test must not guess: framing that
//! contradicts itself is an error, and an unsolicited byte ends the connection.

use std::sync::Arc;

use headway_base::Nanos;

use super::assembler::{Assembler, Assembly};
use super::chunked::{Chunked, Decoded};
use super::fields::{ContentLength, Fields, Parsed, Status, parse_answer};
use crate::connection::{ClientConnection, Event, Opened, ProtocolError, ResetReason, StreamId};
use crate::head::Head;
use crate::limits::{Limit, Limits};
use crate::payload::Payload;

/// An HTTP/1.1 client connection. Idle, it holds no memory beyond itself.
#[derive(Debug)]
pub struct Client {
    limits: Limits,
    state: State,
    /// Whether the connection may serve a further request, as far as is known.
    reusable: bool,
    /// Whether the request under way was HEAD.
    is_head: bool,
    /// Bytes of the request under way, until they are handed over.
    to_send: Option<Arc<[u8]>>,
    /// The current head if it came in pieces; kept until the call after the one that reported it.
    assembler: Assembler,
    /// Bytes of the request under way.
    sent: u64,
    /// Whether the first bytes of the answer under way were reported.
    begun: bool,
    /// Bytes of the answer under way that were consumed.
    received: u64,
}

#[derive(Debug)]
enum State {
    /// No stream is open.
    Idle,
    /// The head of the response is due; the number is the bytes of informational ones before it.
    Head { informational: usize },
    /// So many bytes of the body are due, at least one.
    Length(u64),
    /// Chunks are due.
    Chunked(Chunked),
    /// The body lasts until the peer closes; the number is the bytes that are still allowed.
    UntilEnd(u64),
    /// The response is complete; to be reported.
    Complete,
    /// The stream failed; to be reported.
    Failed(ResetReason),
    /// Nothing will happen any more.
    Over,
}

/// The only stream.
const STREAM: StreamId = StreamId(0);

/// What every answer begins with.
const START: &[u8] = b"HTTP/";

/// What an alert of TLS begins with: its content type, and the major version.
const TLS_ALERT: &[u8] = &[21, 3];

impl Client {
    /// A connection that was just established.
    pub fn new(limits: Limits) -> Client {
        Client {
            limits,
            state: State::Idle,
            reusable: true,
            is_head: false,
            to_send: None,
            assembler: Assembler::default(),
            sent: 0,
            begun: false,
            received: 0,
        }
    }

    /// Ends the connection; what follows is swallowed.
    fn give_up<'e>(&mut self) -> Option<Event<'e>> {
        self.state = State::Over;
        self.reusable = false;
        self.to_send = None;
        self.assembler.release();
        Some(Event::GoAway)
    }

    fn fail<'e>(&mut self, reason: ResetReason) -> Option<Event<'e>> {
        self.give_up();
        Some(Event::Reset { stream: STREAM, reason })
    }

    /// Ends the stream; `rest` came after the answer. No request can have asked for it, since none could be opened
    /// before this, so the next one must not take it for its answer.
    fn complete<'e>(&mut self, rest: &[u8]) -> Option<Event<'e>> {
        self.state = State::Idle;
        self.reusable &= rest.is_empty();
        Some(Event::End { stream: STREAM, bytes_received: self.received })
    }

    /// Moves on by `len` bytes of the input.
    fn take<'b>(&mut self, bytes: &mut &'b [u8], len: usize) -> &'b [u8] {
        let (taken, rest) = bytes.split_at(len);
        *bytes = rest;
        self.received += len as u64;
        taken
    }

    fn receive_head<'a, 'b: 'a>(&'a mut self, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        if self.to_send.is_some() && !bytes.is_empty() {
            return self.fail(ResetReason::Protocol(ProtocolError::Unsolicited));
        }
        if !self.begun && !bytes.is_empty() {
            self.begun = true;
            return Some(Event::Begun { stream: STREAM });
        }
        while let State::Head { informational } = self.state {
            if bytes.is_empty() {
                return None;
            }
            let room = self.limits.head_bytes.saturating_sub(informational);
            if self.assembler.is_empty() {
                // Nearly always the whole head is here: no copy, one pass. Anything else takes the way below, also a
                // malformed head, so that the verdict does not depend on how the bytes were cut.
                let window = &bytes[..bytes.len().min(room)];
                if let Some(error) = no_answer(window) {
                    return self.fail(ResetReason::Protocol(error));
                }
                if let Ok(Some(parsed)) = parse_answer(window, self.limits.headers) {
                    let head = self.take(bytes, parsed.len);
                    match self.begin(&parsed, informational) {
                        Begun::Informational => continue,
                        Begun::Final(stream, status) => {
                            return Some(Event::Head {
                                stream,
                                status,
                                head: Head::new(&head[parsed.lines..]),
                            });
                        }
                        Begun::Broken(reason) => return self.fail(reason),
                    }
                }
            }
            let before = bytes.len();
            let assembly = self.assembler.push(bytes, room);
            self.received += (before - bytes.len()) as u64;
            if let Some(error) = no_answer(self.assembler.bytes()) {
                return self.fail(ResetReason::Protocol(error));
            }
            match assembly {
                Assembly::Partial => return None,
                Assembly::TooLarge => return self.fail(ResetReason::TooLarge(Limit::Head)),
                Assembly::Complete => self.assembler.unfold(),
            }
            let parsed = match parse_answer(self.assembler.bytes(), self.limits.headers) {
                Ok(Some(parsed)) => parsed,
                Ok(None) => return self.fail(ResetReason::Protocol(ProtocolError::StatusLine)),
                Err(error) => return self.fail(malformed(error)),
            };
            match self.begin(&parsed, informational) {
                Begun::Informational => self.assembler.release(),
                Begun::Final(stream, status) => {
                    let head = Head::new(&self.assembler.bytes()[parsed.lines..]);
                    return Some(Event::Head { stream, status, head });
                }
                Begun::Broken(reason) => return self.fail(reason),
            }
        }
        None
    }

    /// Takes note of a head: what it says of the body and of the connection.
    fn begin(&mut self, parsed: &Parsed<Status>, informational: usize) -> Begun {
        let Parsed { first: Status(status), version, ref fields, len, .. } = *parsed;
        match status {
            0..=99 => return Begun::Broken(ResetReason::Protocol(ProtocolError::StatusLine)),
            101 => return Begun::Broken(ResetReason::Protocol(ProtocolError::Upgrade)),
            100..=199 => {
                // They count against the same limit: an endless row of them must end, too.
                self.state = State::Head { informational: informational + len };
                return Begun::Informational;
            }
            _ => {}
        }
        self.reusable &= fields.persistent(version);
        let bodiless = self.is_head || status == 204 || status == 304;
        let framed = if bodiless { Ok(State::Complete) } else { self.framing(fields, version) };
        match framed {
            Ok(state) => {
                self.state = state;
                Begun::Final(STREAM, status)
            }
            Err(error) => Begun::Broken(ResetReason::Protocol(error)),
        }
    }

    /// How the body ends: RFC 9112, 6.3, rules 4 to 8.
    fn framing(&mut self, fields: &Fields, version: u8) -> Result<State, ProtocolError> {
        // Where it changes nothing, the length counts.
        let changes = fields.codings > 0 || !fields.identity;
        self.reusable &= !fields.transfer_encoding || changes;
        if fields.transfer_encoding && changes {
            // Both framings at once, or chunks from HTTP/1.0, smell of an intermediary that got it wrong.
            self.reusable &= fields.content_length == ContentLength::Absent && version >= 1;
            return match (fields.chunked, fields.chunked_last) {
                (1, true) => Ok(State::Chunked(Chunked::of_answer())),
                // Without chunks the body lasts until the peer closes, and a length would say something else.
                (0 | 1, _) if fields.codings > 0 && fields.content_length == ContentLength::Absent => {
                    Ok(self.until_end())
                }
                _ => Err(ProtocolError::TransferEncoding),
            };
        }
        Ok(match fields.content_length {
            ContentLength::Bytes(0) => State::Complete,
            ContentLength::Bytes(len) if len > self.limits.body_bytes => {
                State::Failed(ResetReason::TooLarge(Limit::Body))
            }
            ContentLength::Bytes(len) => State::Length(len),
            ContentLength::Absent => self.until_end(),
            ContentLength::Invalid => return Err(ProtocolError::ContentLength),
        })
    }

    fn until_end(&mut self) -> State {
        self.reusable = false;
        State::UntilEnd(self.limits.body_bytes)
    }

    fn receive_chunks<'b>(&mut self, mut chunked: Chunked, bytes: &mut &'b [u8]) -> Option<Event<'b>> {
        let before = bytes.len();
        let decoded = chunked.decode(bytes, &self.limits);
        self.state = State::Chunked(chunked);
        self.received += (before - bytes.len()) as u64;
        match decoded {
            Decoded::Data(data) => Some(Event::Chunk { stream: STREAM, data }),
            Decoded::Partial => None,
            Decoded::End => self.complete(bytes),
            Decoded::Broken(error) => self.fail(ResetReason::Protocol(error)),
            Decoded::TooLarge(limit) => self.fail(ResetReason::TooLarge(limit)),
        }
    }
}

/// What a head began.
enum Begun {
    /// Nothing: the answer proper is still to come.
    Informational,
    /// The answer, with this status.
    Final(StreamId, u16),
    Broken(ResetReason),
}

/// Why no answer begins with these bytes, if none does. Asked early, so that a peer which speaks something else is found out by
/// its first bytes and not by a timeout.
pub(super) fn no_answer(bytes: &[u8]) -> Option<ProtocolError> {
    let begins_with = |start: &[u8]| bytes.iter().zip(start).all(|(byte, expected)| byte == expected);
    match begins_with(TLS_ALERT) {
        _ if begins_with(START) => None,
        true => (bytes.len() >= TLS_ALERT.len()).then_some(ProtocolError::TlsAlert),
        false => Some(ProtocolError::StatusLine),
    }
}

pub(super) fn malformed(error: httparse::Error) -> ResetReason {
    ResetReason::Protocol(match error {
        httparse::Error::TooManyHeaders => return ResetReason::TooLarge(Limit::Headers),
        httparse::Error::Version => ProtocolError::Version,
        httparse::Error::Status | httparse::Error::Token => ProtocolError::StatusLine,
        httparse::Error::HeaderName | httparse::Error::HeaderValue | httparse::Error::NewLine => {
            ProtocolError::Header
        }
    })
}

/// The number of a length that is at most `bytes`.
fn at_most(length: u64, bytes: &[u8]) -> usize {
    usize::try_from(length).map_or(bytes.len(), |length| length.min(bytes.len()))
}

impl ClientConnection for Client {
    fn open(&mut self, payload: &Payload) -> Opened {
        let request = match payload.http() {
            Ok(request) => request,
            Err(unfit) => return Opened::Unfit(unfit),
        };
        match self.state {
            _ if !self.reusable => Opened::Closed,
            State::Idle => {
                self.state = State::Head { informational: 0 };
                self.reusable = !request.closes();
                self.is_head = request.is_head();
                let bytes = request.http1();
                self.sent = bytes.len() as u64;
                self.to_send = Some(bytes.clone());
                self.begun = false;
                self.received = 0;
                Opened::Stream(STREAM)
            }
            _ => Opened::Blocked,
        }
    }

    fn cancel(&mut self, _stream: StreamId) {
        // The answer may still come, and nothing else can be asked for until then.
        self.give_up();
    }

    fn receive<'a, 'b: 'a>(&'a mut self, _now: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        match self.state {
            State::Head { .. } => return self.receive_head(bytes),
            // The head was reported: it was borrowed until now.
            _ => self.assembler.release(),
        }
        match self.state {
            State::Complete => return self.complete(bytes),
            State::Failed(reason) => return self.fail(reason),
            State::Over => *bytes = &[],
            _ => {}
        }
        if bytes.is_empty() {
            return None;
        }
        match self.state {
            State::Idle => {
                *bytes = &[];
                self.give_up()
            }
            State::Length(left) => {
                let data = self.take(bytes, at_most(left, bytes));
                let left = left - data.len() as u64;
                self.state = if left == 0 { State::Complete } else { State::Length(left) };
                Some(Event::Chunk { stream: STREAM, data })
            }
            State::Chunked(chunked) => self.receive_chunks(chunked, bytes),
            State::UntilEnd(0) => self.fail(ResetReason::TooLarge(Limit::Body)),
            State::UntilEnd(left) => {
                let data = self.take(bytes, at_most(left, bytes));
                self.state = State::UntilEnd(left - data.len() as u64);
                Some(Event::Chunk { stream: STREAM, data })
            }
            State::Head { .. } | State::Complete | State::Failed(_) | State::Over => None,
        }
    }

    fn receive_end(&mut self, _now: Nanos) -> Option<Event<'_>> {
        self.reusable = false;
        match self.state {
            State::Over => None,
            State::Idle => self.give_up(),
            State::UntilEnd(_) | State::Complete => {
                let end = self.complete(&[]);
                // The end was reported, and with it the end of the connection.
                self.give_up();
                end
            }
            State::Failed(reason) => self.fail(reason),
            State::Head { .. } | State::Length(_) | State::Chunked(_) => self.fail(ResetReason::Closed),
        }
    }

    fn poll_transmit(&mut self, _now: Nanos, buffer: &mut Vec<u8>) -> bool {
        let Some(bytes) = self.to_send.take() else { return false };
        buffer.extend_from_slice(&bytes);
        true
    }

    fn bytes_sent(&self, _stream: StreamId) -> u64 {
        if self.to_send.is_some() { 0 } else { self.sent }
    }

    fn capacity(&self) -> u32 {
        u32::from(self.reusable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(limits: Limits) -> Client {
        let mut client = Client::new(limits);
        let request = crate::Request::builder("GET", "a", "/").build().unwrap();
        assert_eq!(client.open(&request.clone().into()), Opened::Stream(STREAM));
        assert!(client.poll_transmit(Nanos::ZERO, &mut Vec::new()));
        client
    }

    /// The kinds of events, for bytes that come one by one.
    fn trickle(client: &mut Client, bytes: &[u8]) -> Vec<String> {
        let mut kinds = Vec::new();
        for byte in bytes {
            let mut input = std::slice::from_ref(byte);
            while let Some(event) = client.receive(Nanos::ZERO, &mut input) {
                kinds.push(format!("{event:?}").split(' ').next().unwrap_or_default().to_owned());
            }
        }
        kinds
    }

    #[test]
    fn an_idle_connection_holds_nothing_but_itself() {
        let mut client = asking(Limits::DEFAULT);
        let head = format!("HTTP/1.1 200 OK\r\nA: {}\r\nContent-Length: 2\r\n\r\n", "a".repeat(5000));
        assert_eq!(trickle(&mut client, head.as_bytes()), ["Begun", "Head"]);
        assert_eq!(client.assembler.capacity(), 0, "given back before the body");
        assert_eq!(trickle(&mut client, b"hi"), ["Chunk", "Chunk", "End"]);
        assert_eq!(client.assembler.capacity(), 0);
        assert!(client.to_send.is_none());
        assert!(size_of::<Client>() <= 192, "{} bytes", size_of::<Client>());
    }

    #[test]
    fn a_whole_head_is_not_copied() {
        let mut client = asking(Limits::DEFAULT);
        let answer = b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n";
        let mut input = &answer[..];
        assert!(matches!(client.receive(Nanos::ZERO, &mut input), Some(Event::Begun { .. })));
        let Some(Event::Head { head, .. }) = client.receive(Nanos::ZERO, &mut input) else {
            panic!("no head")
        };
        assert_eq!(head.header("a").map(<[u8]>::as_ptr), Some(answer[20..].as_ptr()));
        assert_eq!(client.assembler.capacity(), 0);
    }

    #[test]
    fn an_endless_head_ends_at_its_limit_and_is_forgotten() {
        let mut client = asking(Limits::DEFAULT);
        let head = [&b"HTTP/1.1 200 OK\r\n"[..], &b"A: b\r\n".repeat(20_000)].concat();
        let (within, beyond) = head.split_at(64 << 10);
        assert_eq!(trickle(&mut client, within), ["Begun"]);
        assert!(client.assembler.capacity() <= 2 * (64 << 10));
        assert_eq!(trickle(&mut client, beyond), ["Reset"]);
        assert_eq!(client.assembler.capacity(), 0);
    }
}
