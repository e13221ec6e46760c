//! The server half of HTTP/2, for the calibrated target.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::server::{Builder, Connection, Handshake, SendResponse};
use h2::{RecvStream, SendStream};

use super::pipe::Pipe;
use super::slots::Slots;
use crate::connection::StreamId;
use crate::head::Head;
use crate::http1::Response;
use crate::limits::Limits;

/// Streams that a client may have open at once.
const STREAMS: u32 = 1_000;

/// Bytes that a client may send ahead on a stream, and on a connection: bodies are handed on at once.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Events of a server connection: of each stream request, chunks, end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerEvent<'a> {
    /// The head of a request.
    Request {
        /// Of this stream.
        stream: StreamId,
        /// Its method, a token.
        method: &'a str,
        /// Path and query.
        target: &'a str,
        /// Its header fields.
        head: Head<'a>,
    },
    /// A piece of the body, never empty.
    BodyChunk {
        /// Of this stream.
        stream: StreamId,
        /// Without framing.
        data: &'a [u8],
    },
    /// The request is complete.
    RequestEnd {
        /// Of this stream.
        stream: StreamId,
    },
    /// The client gave a request up that was not complete.
    Reset {
        /// Of this stream.
        stream: StreamId,
    },
}

/// An answer as HTTP/2 has it.
#[derive(Clone, Debug)]
pub struct Answer {
    head: http::Response<()>,
    body: Bytes,
}

impl Answer {
    /// Of what HTTP/1.1 would say. Holds the whole body.
    pub fn of(response: &Response) -> Answer {
        let mut answer = Answer::head_of(response);
        if !response.bodiless() {
            answer.head.headers_mut().insert(http::header::CONTENT_LENGTH, response.body_bytes().into());
        }
        let mut body = Vec::new();
        response.write_plain_body(&mut body);
        answer.body = body.into();
        answer
    }

    /// Its head alone, for a body that follows in pieces.
    pub fn head_of(response: &Response) -> Answer {
        let mut head = http::Response::new(());
        // Made of a Response, which has checked its status and its headers.
        if let Ok(status) = http::StatusCode::from_u16(response.status()) {
            *head.status_mut() = status;
        }
        for (name, value) in response.head().iter() {
            let name = http::HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, http::HeaderValue::from_bytes(value)) {
                head.headers_mut().append(name, value);
            }
        }
        Answer { head, body: Bytes::new() }
    }
}

/// The body of an answer that is under way in pieces; none of a request by HEAD.
pub struct InPieces(Option<SendStream<Bytes>>);

/// A piece of a body, which any number of answers share.
#[derive(Clone, Debug)]
pub struct Piece(Bytes);

impl From<Vec<u8>> for Piece {
    fn from(bytes: Vec<u8>) -> Piece {
        Piece(bytes.into())
    }
}

impl InPieces {
    /// Whether the head was all of it.
    pub fn is_whole(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for InPieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InPieces").field(&self.0.is_some()).finish()
    }
}

enum Stage {
    Handshake(Pin<Box<Handshake<Pipe, Bytes>>>),
    Open(Box<Connection<Pipe, Bytes>>),
    Over,
}

struct Stream {
    /// Until all of it has come.
    body: Option<RecvStream>,
    respond: SendResponse<Bytes>,
    is_head: bool,
}

/// An HTTP/2 server connection.
pub struct Server {
    pipe: Pipe,
    stage: Stage,
    streams: Slots<Stream>,
    incoming: VecDeque<(StreamId, http::request::Parts)>,
    dirty: bool,
    /// What the last event lent.
    parts: Option<http::request::Parts>,
    chunk: Bytes,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("live", &self.streams.live()).finish_non_exhaustive()
    }
}

impl Server {
    /// A connection that was just accepted; the client's preface is still to come.
    pub fn new(limits: Limits) -> Server {
        let pipe = Pipe::default();
        let handshake = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .handshake::<_, Bytes>(pipe.clone());
        Server {
            pipe,
            stage: Stage::Handshake(Box::pin(handshake)),
            streams: Slots::default(),
            incoming: VecDeque::new(),
            dirty: true,
            parts: None,
            chunk: Bytes::new(),
        }
    }

    fn drive(&mut self) {
        self.dirty = false;
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match &mut self.stage {
                Stage::Over => return,
                Stage::Handshake(handshake) => match handshake.as_mut().poll(&mut context) {
                    Poll::Pending => return,
                    Poll::Ready(Ok(connection)) => self.stage = Stage::Open(Box::new(connection)),
                    Poll::Ready(Err(_)) => self.stage = Stage::Over,
                },
                Stage::Open(connection) => match connection.poll_accept(&mut context) {
                    Poll::Pending => return,
                    Poll::Ready(Some(Ok((request, respond)))) => {
                        let (parts, body) = request.into_parts();
                        let is_head = parts.method == http::Method::HEAD;
                        let stream = Stream { body: Some(body), respond, is_head };
                        let id = self.streams.insert(u32::MAX, stream);
                        self.incoming.push_back((id, parts));
                    }
                    Poll::Ready(Some(Err(_)) | None) => self.stage = Stage::Over,
                },
            }
        }
    }

    /// Reads from `bytes`, what the client sent, up to the next event; advances `bytes` over what it consumed. None: all
    /// were consumed, and more are needed. Call until then.
    pub fn receive<'a>(&'a mut self, bytes: &mut &[u8]) -> Option<ServerEvent<'a>> {
        let received = std::mem::take(bytes);
        if !received.is_empty() {
            if self.pipe.lock().put(received) {
                self.drive();
            } else {
                self.stage = Stage::Over;
            }
        }
        self.next_event()
    }

    fn next_event(&mut self) -> Option<ServerEvent<'_>> {
        if let Some((stream, parts)) = self.incoming.pop_front() {
            self.streams.look_at(stream);
            let parts = self.parts.insert(parts);
            let target = parts.uri.path_and_query().map_or("*", |target| target.as_str());
            let (method, head) = (parts.method.as_str(), Head::of(&parts.headers));
            return Some(ServerEvent::Request { stream, method, target, head });
        }
        while let Some(id) = self.streams.next() {
            let Some(slot) = self.streams.get_mut(id) else { continue };
            let mut context = Context::from_waker(&slot.waker);
            let Some(Stream { body: Some(body), .. }) = &mut slot.stream else { continue };
            match body.poll_data(&mut context) {
                Poll::Pending => {}
                Poll::Ready(Some(Ok(data))) => {
                    // Fails only for more than was received.
                    let _ = body.flow_control().release_capacity(data.len());
                    self.dirty = true;
                    self.streams.look_at(id);
                    if !data.is_empty() {
                        self.chunk = data;
                        return Some(ServerEvent::BodyChunk { stream: id, data: &self.chunk });
                    }
                }
                Poll::Ready(None) => {
                    if let Some(stream) = &mut slot.stream {
                        stream.body = None;
                    }
                    return Some(ServerEvent::RequestEnd { stream: id });
                }
                Poll::Ready(Some(Err(_))) => {
                    self.streams.remove(id);
                    return Some(ServerEvent::Reset { stream: id });
                }
            }
        }
        None
    }

    /// The client closed its sending half: what it has asked for is still answered.
    pub fn receive_end(&mut self) {
        self.pipe.lock().end();
    }

    /// Answers a stream; false if its client has given it up.
    pub fn respond(&mut self, stream: StreamId, answer: &Answer) -> bool {
        self.dirty = true;
        let Some(mut asked) = self.streams.remove(stream) else { return false };
        if asked.respond.poll_reset(&mut Context::from_waker(Waker::noop())).is_ready() {
            return false;
        }
        let bodiless = asked.is_head || answer.body.is_empty();
        match asked.respond.send_response(answer.head.clone(), bodiless) {
            Ok(_) if bodiless => true,
            Ok(mut to) => to.send_data(answer.body.clone(), true).is_ok(),
            Err(_) => false,
        }
    }

    /// Answers a stream with that head; its body follows by [`respond_piece`](Server::respond_piece). None if its client has given it up.
    pub fn respond_begun(&mut self, stream: StreamId, answer: &Answer) -> Option<InPieces> {
        self.dirty = true;
        let mut asked = self.streams.remove(stream)?;
        if asked.respond.poll_reset(&mut Context::from_waker(Waker::noop())).is_ready() {
            return None;
        }
        let body = asked.respond.send_response(answer.head.clone(), asked.is_head).ok()?;
        Some(InPieces((!asked.is_head).then_some(body)))
    }

    /// Sends a piece of the body, which ends with it if it is the `last`; false if nothing more of it is wanted.
    pub fn respond_piece(&mut self, of: &mut InPieces, piece: &Piece, last: bool) -> bool {
        self.dirty = true;
        let Some(body) = &mut of.0 else { return false };
        let gone = body.poll_reset(&mut Context::from_waker(Waker::noop())).is_ready();
        !gone && body.send_data(piece.0.clone(), last).is_ok()
    }

    /// Appends to `buffer` the bytes to send now; false if there are none.
    pub fn poll_transmit(&mut self, buffer: &mut Vec<u8>) -> bool {
        if self.dirty {
            self.drive();
        }
        let taken = self.pipe.lock().take(buffer, |_| {});
        self.dirty |= taken == Some(true);
        taken.is_some()
    }

    /// Whether nothing more will be received or answered: close once the bytes are out.
    pub fn is_finished(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }
}
