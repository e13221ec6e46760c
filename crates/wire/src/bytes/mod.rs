//! Plain bytes on a stream: a request goes out as it is, and what ends its answer is stated ([`Answer`]).
//!
//! Deliberately absent: pipelining, greetings (a target that speaks first breaks the protocol), and what the bytes mean.

mod framing;

use crate::connection::{ClientConnection, Event, Opened, ProtocolError, ResetReason, StreamId};
use crate::limits::{Limit, Limits};
use crate::payload::{Payload, Unfit};
use crate::protocol::{Carrier, Protocol, Settings};
use framing::{Framing, Part};
use headway_base::{Answer, Nanos};
use std::sync::Arc;

/// Plain bytes on a stream, one request at a time.
#[derive(Debug)]
pub struct Bytes;

impl Protocol for Bytes {
    fn name(&self) -> &'static str {
        "TCP"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["tcp"]
    }

    fn carrier(&self) -> Carrier {
        Carrier::Stream
    }

    fn streams(&self, _settings: &Settings) -> u32 {
        1
    }

    fn connect(&self, settings: &Settings) -> Box<dyn ClientConnection> {
        let answer = settings.answer.clone().unwrap_or(Answer::Close);
        Box::new(Client::new(answer, settings.limits))
    }
}

/// The only stream.
const STREAM: StreamId = StreamId(0);

/// A connection of plain bytes.
#[derive(Debug)]
pub struct Client {
    answer: Answer,
    limits: Limits,
    state: State,
    to_send: Option<Arc<[u8]>>,
    sent: u64,
    received: u64,
    begun: bool,
    /// Whether it may serve a further request.
    reusable: bool,
    /// Whether bytes came after the end of a response, or before any request.
    surplus: bool,
}

#[derive(Debug)]
enum State {
    Idle,
    /// A request is under way.
    Open(Framing),
    /// Its answer is complete; to be reported.
    Complete,
    /// Nothing will happen any more.
    Over,
}

impl Client {
    /// A connection that was just established. Datagrams have their own: what tells those apart is as [`Answer::Close`] here.
    pub fn new(answer: Answer, limits: Limits) -> Client {
        Client {
            answer,
            limits,
            state: State::Idle,
            to_send: None,
            sent: 0,
            received: 0,
            begun: false,
            reusable: true,
            surplus: false,
        }
    }

    fn give_up(&mut self) {
        self.state = State::Over;
        self.reusable = false;
        self.to_send = None;
    }

    fn fail<'e>(&mut self, reason: ResetReason) -> Option<Event<'e>> {
        self.give_up();
        Some(Event::Reset { stream: STREAM, reason })
    }

    fn end<'e>(&mut self, rest: &[u8]) -> Option<Event<'e>> {
        self.state = State::Idle;
        // Nothing can have asked for what follows an answer: the next request must not take it for its own.
        self.surplus |= !rest.is_empty();
        self.reusable &= rest.is_empty() && self.answer != Answer::Close;
        Some(Event::End { stream: STREAM, bytes_received: self.received })
    }
}

impl ClientConnection for Client {
    fn open(&mut self, payload: &Payload) -> Opened {
        let bytes = match payload.bytes() {
            Ok(bytes) if bytes.is_empty() => return Opened::Unfit(Unfit::Empty),
            Ok(bytes) => bytes,
            Err(unfit) => return Opened::Unfit(unfit),
        };
        match self.state {
            _ if !self.reusable => Opened::Closed,
            State::Idle => {
                self.state = State::Open(Framing::of(&self.answer));
                self.sent = bytes.len() as u64;
                self.to_send = Some(bytes.clone());
                (self.received, self.begun) = (0, false);
                Opened::Stream(STREAM)
            }
            State::Over => Opened::Closed,
            State::Open(_) | State::Complete => Opened::Blocked,
        }
    }

    fn cancel(&mut self, _stream: StreamId) {
        self.give_up();
    }

    fn receive<'a, 'b: 'a>(&'a mut self, _now: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        match &mut self.state {
            State::Complete => self.end(bytes),
            _ if bytes.is_empty() => None,
            State::Over => {
                *bytes = &[];
                None
            }
            State::Idle => {
                *bytes = &[];
                self.surplus = true;
                let told = !self.reusable;
                self.give_up();
                (!told).then_some(Event::GoAway)
            }
            State::Open(_) if self.to_send.is_some() => {
                self.surplus = true;
                self.fail(ResetReason::Protocol(ProtocolError::Unsolicited))
            }
            State::Open(_) if !self.begun => {
                self.begun = true;
                Some(Event::Begun { stream: STREAM })
            }
            State::Open(framing) => {
                let Part { bytes: length, over } = match framing.take(bytes) {
                    Ok(part) => part,
                    Err(wrong) => return self.fail(ResetReason::Protocol(wrong)),
                };
                let (data, rest) = bytes.split_at(length);
                *bytes = rest;
                self.received += length as u64;
                if self.received.saturating_add(framing.announces()) > self.limits.body_bytes {
                    return self.fail(ResetReason::TooLarge(Limit::Body));
                }
                if over {
                    self.state = State::Complete;
                }
                Some(Event::Chunk { stream: STREAM, data })
            }
        }
    }

    fn receive_end(&mut self, _now: Nanos) -> Option<Event<'_>> {
        match self.state {
            State::Complete => self.end(&[]),
            State::Open(Framing::Close) if self.to_send.is_none() => self.end(&[]),
            State::Open(_) => self.fail(ResetReason::Closed),
            State::Idle if self.reusable => {
                self.give_up();
                Some(Event::GoAway)
            }
            State::Idle | State::Over => None,
        }
    }

    fn poll_transmit(&mut self, _now: Nanos, buffer: &mut Vec<u8>) -> bool {
        let Some(bytes) = self.to_send.take() else { return false };
        buffer.extend_from_slice(&bytes);
        if matches!(self.state, State::Open(Framing::Nothing)) {
            self.state = State::Complete;
        }
        true
    }

    fn bytes_sent(&self, _stream: StreamId) -> u64 {
        if self.to_send.is_some() { 0 } else { self.sent }
    }

    fn has_news(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    fn capacity(&self) -> u32 {
        u32::from(self.reusable)
    }

    fn has_surplus(&self) -> bool {
        self.surplus
    }
}

#[cfg(test)]
mod tests;
