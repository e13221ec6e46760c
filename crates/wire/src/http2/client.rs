//! The client half of HTTP/2: many streams on a connection.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use headway_base::Nanos;
use http::HeaderMap;

use super::empty::Emptied;
use super::frames::{Frame, Frames};
use super::pipe::Pipe;
use super::slots::{Slot, Slots};
use super::{PREFACE, Rendered};
use crate::connection::{ClientConnection, ErrorCode, Event, Opened, ProtocolError, ResetReason, StreamId};
use crate::head::Head;
use crate::limits::{Limit, Limits};
use crate::payload::Payload;
use crate::protocol::Settings;
use crate::request::Request;

/// Streams that a peer allows if it does not say how many it does (it sets no limit then) or fewer. RFC 9113, 6.5.2, advises it to
/// allow no fewer.
pub const ASSUMED_STREAMS: u32 = 100;

/// Bytes that a peer may send ahead on a stream, and on a connection. Bodies are handed on at once, so this costs no memory; it
/// keeps a load test from measuring its own window. As Go's client has it for a stream.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// Bytes of a body that were handed on before the peer hears of it at the latest.
const RELEASE: usize = 256 << 10;

/// An HTTP/2 client connection.
pub struct Client {
    limits: Limits,
    /// Most streams wanted at once.
    wanted: u32,
    /// What the peer allows, once it has said.
    allowed: Option<u32>,
    pipe: Pipe,
    connection: Connection<Pipe, Bytes>,
    requests: SendRequest<Bytes>,
    streams: Slots<Stream>,
    inbound: Frames,
    outbound: Frames,
    emptied: Emptied,
    /// Whether the peer has sent its settings.
    settings: bool,
    /// Whether the library is to be polled before the next look at what it has to send.
    dirty: bool,
    /// Bytes of bodies handed on since it was last polled.
    released: usize,
    /// The last stream that the peer looks at, once it has said so: it takes no further requests.
    last_stream: Option<u32>,
    /// Why the connection is over, once it is.
    over: Option<ResetReason>,
    /// What the last event lent.
    head: HeaderMap,
    chunk: Bytes,
    /// Whether [`Event::GoAway`] was told.
    told_gone: bool,
}

#[derive(Debug)]
struct Stream {
    state: State,
    /// Whether the first frame of the answer has come, and whether that was reported.
    begun: bool,
    told_begun: bool,
    /// Bytes of the body so far.
    body: u64,
    /// Whether all of the body was handed on: trailers may follow.
    body_over: bool,
}

#[derive(Debug)]
enum State {
    Head(ResponseFuture),
    Body(RecvStream),
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("live", &self.streams.live())
            .field("allowed", &self.allowed)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

/// A step of a stream.
enum Step {
    Nothing,
    Head(u16),
    Chunk,
    End,
    Reset(ResetReason),
}

impl Client {
    /// A connection that was just established.
    pub fn new(settings: &Settings) -> Client {
        let limits = settings.limits;
        let pipe = Pipe::default();
        let handshake = Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(ASSUMED_STREAMS as usize)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .handshake::<_, Bytes>(pipe.clone());
        let mut handshake = std::pin::pin!(handshake);
        let polled = handshake.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Ok((requests, connection))) = polled else {
            unreachable!("the preface needs no answer, and memory takes it at once")
        };
        Client {
            limits,
            wanted: settings.streams.max(1),
            allowed: None,
            pipe,
            connection,
            requests,
            streams: Slots::default(),
            inbound: Frames::default(),
            outbound: Frames::after(PREFACE.len()),
            emptied: Emptied::default(),
            settings: false,
            dirty: true,
            released: 0,
            last_stream: None,
            over: None,
            head: HeaderMap::new(),
            chunk: Bytes::new(),
            told_gone: false,
        }
    }

    /// Lets the library do what it can.
    fn drive(&mut self) {
        self.dirty = false;
        self.released = 0;
        if self.over.is_some() {
            return;
        }
        let polled = Pin::new(&mut self.connection).poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(ended) = polled else { return };
        let reason = match ended {
            Ok(()) => ResetReason::Closed,
            Err(error) => self.reason(&error, u32::MAX, 0),
        };
        self.end(reason);
    }

    /// The connection is over.
    fn end(&mut self, reason: ResetReason) {
        self.over.get_or_insert(reason);
        self.streams.look_at_all();
    }

    /// Takes note of the frames that the peer sent.
    fn scan(&mut self, mut bytes: &[u8]) {
        while let Some(frame) = self.inbound.next(&mut bytes) {
            match frame {
                Frame::Stream(number, bytes) => {
                    let Some(id) = self.streams.find(number) else { continue };
                    let Some(slot) = self.streams.get_mut(id) else { continue };
                    slot.received += bytes;
                    if let Some(stream) = &mut slot.stream
                        && !std::mem::replace(&mut stream.begun, true)
                    {
                        self.streams.look_at(id);
                    }
                }
                // What it says, the library knows after it has read on.
                Frame::Settings => self.settings = true,
                Frame::GoAway(last) => self.last_stream = Some(last),
            }
        }
    }

    /// Why the stream of that number ended, after `received` bytes of its head.
    fn reason(&self, error: &h2::Error, number: u32, received: u64) -> ResetReason {
        if self.over == Some(ResetReason::Protocol(ProtocolError::Flood)) {
            return ResetReason::Protocol(ProtocolError::Flood);
        }
        let code = error.reason().map(|reason| ErrorCode(u32::from(reason)));
        match code {
            None => ResetReason::Closed,
            Some(code) if error.is_go_away() && error.is_remote() => {
                match self.last_stream.is_some_and(|last| number > last && number < u32::MAX) {
                    true => ResetReason::Refused("GOAWAY"),
                    false if code.0 == 0 => ResetReason::Closed,
                    false => ResetReason::Protocol(ProtocolError::GoAway(code)),
                }
            }
            Some(code) if error.is_remote() => match error.reason() {
                Some(Reason::REFUSED_STREAM) => ResetReason::Refused("REFUSED_STREAM"),
                _ => ResetReason::ByPeer(code),
            },
            // The library says the same of a head beyond the limit and of one that is malformed. Compression halves a head at most.
            Some(_) if error.is_reset() && received > self.limits.head_bytes as u64 / 2 => {
                ResetReason::TooLarge(Limit::Head)
            }
            Some(code) => ResetReason::Protocol(ProtocolError::Http2(code)),
        }
    }

    /// Looks at one stream.
    fn step(&mut self, id: StreamId) -> Step {
        let number = self.streams.number(id);
        let Some(slot) = self.streams.get_mut(id) else { return Step::Nothing };
        let mut context = Context::from_waker(&slot.waker);
        let Some(stream) = &mut slot.stream else { return Step::Nothing };
        let error = loop {
            match &mut stream.state {
                State::Head(response) => match Pin::new(response).poll(&mut context) {
                    Poll::Pending => return self.unless_over(),
                    Poll::Ready(Err(error)) => break error,
                    Poll::Ready(Ok(response)) => {
                        let (head, body) = response.into_parts();
                        self.head = head.headers;
                        stream.state = State::Body(body);
                        if self.head.len() > self.limits.headers {
                            return Step::Reset(ResetReason::TooLarge(Limit::Headers));
                        }
                        return Step::Head(head.status.as_u16());
                    }
                },
                State::Body(body) if stream.body_over => match body.poll_trailers(&mut context) {
                    Poll::Pending => return self.unless_over(),
                    Poll::Ready(Ok(_)) => return Step::End,
                    Poll::Ready(Err(error)) => break error,
                },
                State::Body(body) => match body.poll_data(&mut context) {
                    Poll::Pending => return self.unless_over(),
                    Poll::Ready(Some(Err(error))) => break error,
                    Poll::Ready(None) => stream.body_over = true,
                    Poll::Ready(Some(Ok(data))) => {
                        // Fails only for more than was received.
                        let _ = body.flow_control().release_capacity(data.len());
                        self.released += data.len();
                        self.dirty |= self.released >= RELEASE;
                        stream.body += data.len() as u64;
                        if stream.body > self.limits.body_bytes {
                            return Step::Reset(ResetReason::TooLarge(Limit::Body));
                        }
                        if !data.is_empty() {
                            self.chunk = data;
                            return Step::Chunk;
                        }
                    }
                },
            }
        };
        let received = if matches!(stream.state, State::Head(_)) { slot.received } else { 0 };
        Step::Reset(self.reason(&error, number, received))
    }

    /// Nothing new of a stream: it is over if the connection is.
    fn unless_over(&self) -> Step {
        self.over.map_or(Step::Nothing, Step::Reset)
    }
}

impl Client {
    /// The next event of a stream that the library has news for.
    fn next_event(&mut self) -> Option<Event<'_>> {
        while let Some(stream) = self.streams.next() {
            if let Some(Slot { stream: Some(state), .. }) = self.streams.get_mut(stream)
                && state.begun
                && !std::mem::replace(&mut state.told_begun, true)
            {
                self.streams.look_at(stream);
                return Some(Event::Begun { stream });
            }
            match self.step(stream) {
                Step::Nothing => {}
                Step::Head(status) => {
                    self.streams.look_at(stream);
                    return Some(Event::Head { stream, status, head: Head::of(&self.head) });
                }
                Step::Chunk => {
                    self.streams.look_at(stream);
                    return Some(Event::Chunk { stream, data: &self.chunk });
                }
                Step::End => {
                    let bytes_received = self.streams.get(stream).map_or(0, |slot| slot.received);
                    // Both sides are done with it: the peer need not hear of it.
                    self.streams.remove(stream);
                    return Some(Event::End { stream, bytes_received });
                }
                Step::Reset(reason) => {
                    self.forget(stream);
                    return Some(Event::Reset { stream, reason });
                }
            }
        }
        let gone = self.capacity() == 0 && self.streams.live() == 0;
        (gone && !std::mem::replace(&mut self.told_gone, true)).then_some(Event::GoAway)
    }

    /// A stream is over for the caller. If it is not for the library, that tells the peer.
    fn forget(&mut self, stream: StreamId) {
        self.streams.remove(stream);
        self.dirty = true;
    }
}

/// Takes note of the frames that are to be sent.
fn count_sent(outbound: &mut Frames, streams: &mut Slots<Stream>, mut to_send: &[u8]) {
    while let Some(frame) = outbound.next(&mut to_send) {
        if let Frame::Stream(number, bytes) = frame
            && let Some(slot) = streams.find(number).and_then(|id| streams.get_mut(id))
        {
            slot.sent += bytes;
        }
    }
}

impl ClientConnection for Client {
    fn open(&mut self, payload: &Payload) -> Opened {
        if self.capacity() == 0 {
            return Opened::Closed;
        }
        let rendered = match payload.http().map(Request::http2) {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(error)) => return Opened::Unfit(error.into()),
            Err(unfit) => return Opened::Unfit(unfit),
        };
        let Rendered { head, body } = rendered;
        match self.requests.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) if self.streams.live() < self.capacity() => {}
            Poll::Ready(Ok(())) | Poll::Pending => return Opened::Blocked,
            Poll::Ready(Err(_)) => return Opened::Closed,
        }
        let Ok((response, mut to)) = self.requests.send_request(head.clone(), body.is_empty()) else {
            return Opened::Closed;
        };
        if !body.is_empty() {
            // The library sends it as the peer's windows allow; a stream that is reset already says so itself.
            let _ = to.send_data(body.clone(), true);
        }
        self.dirty = true;
        self.emptied.requests += 1;
        let number = response.stream_id().as_u32();
        let state = State::Head(response);
        let stream = Stream { state, begun: false, told_begun: false, body: 0, body_over: false };
        let id = self.streams.insert(number, stream);
        // So that the library learns whom to wake.
        self.streams.look_at(id);
        Opened::Stream(id)
    }

    fn cancel(&mut self, stream: StreamId) {
        // The library resets a stream of which no handle is left.
        self.forget(stream);
    }

    fn receive<'a, 'b: 'a>(&'a mut self, now: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        let received = std::mem::take(bytes);
        if !received.is_empty() && self.over.is_none() {
            self.scan(received);
            let mut buffers = self.pipe.lock();
            let taken = self.emptied.pass(now, received, |bytes| buffers.put(bytes));
            drop(buffers);
            if taken {
                self.drive();
            } else {
                self.end(ResetReason::Protocol(ProtocolError::Flood));
            }
            if self.settings {
                let allowed = u32::try_from(self.requests.current_max_send_streams());
                self.allowed = Some(allowed.unwrap_or(u32::MAX));
            }
        }
        self.next_event()
    }

    fn receive_end(&mut self, _now: Nanos) -> Option<Event<'_>> {
        if self.over.is_none() {
            self.pipe.lock().end();
            self.drive();
            self.end(ResetReason::Closed);
        }
        self.next_event()
    }

    fn poll_transmit(&mut self, _now: Nanos, buffer: &mut Vec<u8>) -> bool {
        if self.dirty {
            self.drive();
        }
        let Client { pipe, outbound, streams, .. } = self;
        let taken = pipe.lock().take(buffer, |to_send| count_sent(outbound, streams, to_send));
        self.dirty |= taken == Some(true);
        taken.is_some()
    }

    fn bytes_sent(&self, stream: StreamId) -> u64 {
        self.streams.get(stream).map_or(0, |slot| slot.sent)
    }

    fn capacity(&self) -> u32 {
        match self.over.is_some() || self.last_stream.is_some() {
            true => 0,
            // The first request need not wait for what the peer says. One that allows none for now may allow some later.
            false => self.wanted.min(self.allowed.unwrap_or(1)).max(1),
        }
    }

    fn is_settled(&self) -> bool {
        self.allowed.is_some()
    }
}
