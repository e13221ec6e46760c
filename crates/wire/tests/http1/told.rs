//! What a connection told, in a form that does not depend on how the bytes were cut: neighbouring chunks are one.

use headway_base::Nanos;
use headway_wire::http1::{Client, Response, Server, ServerEvent};
use headway_wire::{ClientConnection, Event, Head, Limits, Opened, Request, ResetReason, StreamId};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    Head(u16, Vec<String>),
    Body(Vec<u8>),
    End(u64),
    Reset(ResetReason),
    GoAway,
    Request { line: String, headers: Vec<String>, keep_alive: bool, expect_continue: bool },
    RequestEnd,
    Error(u16),
}

pub(crate) fn lines(head: Head<'_>) -> Vec<String> {
    head.iter().map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect()
}

pub(crate) fn push_body(told: &mut Vec<Told>, data: &[u8]) {
    assert!(!data.is_empty(), "a chunk is never empty");
    match told.last_mut() {
        Some(Told::Body(body)) => body.extend_from_slice(data),
        _ => told.push(Told::Body(data.to_vec())),
    }
}

/// A client that sends its requests one after the other, each when it is told to.
pub(crate) struct Asking<'r> {
    pub(crate) client: Client,
    requests: std::slice::Iter<'r, Request>,
    pub(crate) told: Vec<Told>,
    stream: Option<StreamId>,
}

impl<'r> Asking<'r> {
    pub(crate) fn new(limits: Limits, requests: &'r [Request]) -> Asking<'r> {
        let mut asking =
            Asking { client: Client::new(limits), requests: requests.iter(), told: Vec::new(), stream: None };
        asking.ask();
        asking
    }

    /// Asks the next request, unless one is under way.
    pub(crate) fn ask(&mut self) {
        if self.stream.is_some() {
            return;
        }
        let capacity = self.client.capacity();
        let Some(request) = self.requests.as_slice().first() else { return };
        match self.client.open(&request.clone().into()) {
            Opened::Stream(stream) => {
                assert_eq!(capacity, 1);
                self.stream = Some(stream);
                self.requests.next();
                assert!(self.client.poll_transmit(Nanos::ZERO, &mut Vec::new()));
                assert!(!self.client.poll_transmit(Nanos::ZERO, &mut Vec::new()));
            }
            Opened::Blocked => panic!("no stream is open"),
            Opened::Closed => assert_eq!(self.client.capacity(), 0),
            Opened::Unfit(error) => panic!("{error}"),
        }
    }

    pub(crate) fn receive(&mut self, mut bytes: &[u8]) {
        while let Some(event) = self.client.receive(Nanos::ZERO, &mut bytes) {
            if note(&mut self.told, self.stream, event) {
                self.stream = None;
            }
        }
        assert!(bytes.is_empty(), "none means that all bytes were consumed");
    }

    pub(crate) fn end(&mut self) {
        while let Some(event) = self.client.receive_end(Nanos::ZERO) {
            note(&mut self.told, self.stream, event);
        }
        assert_eq!(self.client.capacity(), 0);
    }
}

/// Whether the stream ended in peace.
fn note(told: &mut Vec<Told>, open: Option<StreamId>, event: Event<'_>) -> bool {
    match event {
        Event::Begun { stream } => assert_eq!(Some(stream), open),
        Event::Head { stream, status, head } => {
            assert_eq!(Some(stream), open);
            told.push(Told::Head(status, lines(head)));
        }
        Event::Chunk { stream, data } => {
            assert_eq!(Some(stream), open);
            push_body(told, data);
        }
        Event::End { stream, bytes_received } => {
            assert_eq!(Some(stream), open);
            told.push(Told::End(bytes_received));
            return true;
        }
        Event::Reset { stream, reason } => {
            assert_eq!(Some(stream), open);
            told.push(Told::Reset(reason));
        }
        Event::GoAway => told.push(Told::GoAway),
    }
    false
}

/// A server that answers each request at its end.
pub(crate) struct Serving {
    pub(crate) server: Server,
    pub(crate) told: Vec<Told>,
    pub(crate) answers: Vec<u8>,
}

impl Serving {
    pub(crate) fn new(limits: Limits) -> Serving {
        Serving { server: Server::new(limits), told: Vec::new(), answers: Vec::new() }
    }

    pub(crate) fn receive(&mut self, mut bytes: &[u8]) {
        while let Some(event) = self.server.receive(&mut bytes) {
            match event {
                ServerEvent::Request { method, target, head, keep_alive, expect_continue } => {
                    let (line, headers) = (format!("{method} {target}"), lines(head));
                    self.told.push(Told::Request { line, headers, keep_alive, expect_continue });
                }
                ServerEvent::BodyChunk { data } => push_body(&mut self.told, data),
                ServerEvent::RequestEnd => {
                    self.told.push(Told::RequestEnd);
                    self.server.respond(&Response::new(200).unwrap(), &mut self.answers);
                }
                ServerEvent::Error { status } => {
                    self.told.push(Told::Error(status));
                    self.server.respond(&Response::new(status).unwrap(), &mut self.answers);
                    assert!(self.server.is_finished());
                }
            }
        }
        assert!(bytes.is_empty(), "none means that all bytes were consumed");
    }

    pub(crate) fn end(&mut self) {
        while let Some(event) = self.server.receive_end() {
            self.told.push(match event {
                ServerEvent::RequestEnd => Told::RequestEnd,
                ServerEvent::Error { status } => Told::Error(status),
                _ => panic!("{event:?} at the end"),
            });
        }
    }
}
