//! DNS over UDP: each request is a question, and its answer comes back with its number. The code of an answer (RCODE) stands where HTTP
//! has its status.
//!
//! Deliberately absent: retransmission, the repetition of truncated questions over TCP, EDNS, and what records say.

mod message;

pub use message::{QuestionError, Read, is_to_another, question, read};

use crate::connection::{ClientConnection, Event, Opened, ResetReason, StreamId, Tally};
use crate::datagram;
use crate::head::Head;
use crate::limits::Limit;
use crate::payload::{Payload, Unfit};
use crate::protocol::{Carrier, Protocol, Settings};
use headway_base::answer::Field;
use headway_base::{Answer, Nanos};
use std::sync::Arc;

/// DNS over UDP.
#[derive(Debug)]
pub struct Dns;

impl Protocol for Dns {
    fn name(&self) -> &'static str {
        "DNS"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["dns"]
    }

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    /// The bytes are a question as people write it: a name and a type.
    fn payload(&self, bytes: &[u8]) -> Result<Payload, Unfit> {
        Ok(Payload::Bytes(question(&String::from_utf8_lossy(bytes))?.into()))
    }

    fn streams(&self, settings: &Settings) -> u32 {
        Client::new(settings).capacity()
    }

    fn connect(&self, settings: &Settings) -> Box<dyn ClientConnection> {
        Box::new(Client::new(settings))
    }
}

/// A socket that questions go out on.
#[derive(Debug)]
pub struct Client {
    datagrams: datagram::Client,
    /// The message of each open question, by stream.
    asked: Vec<Arc<[u8]>>,
    /// The stream of the answer at hand, until that has been read.
    begun: Option<StreamId>,
    /// Why the answer at hand is none.
    bad: Option<ResetReason>,
}

impl Client {
    /// A socket that was just made.
    pub fn new(settings: &Settings) -> Client {
        let number = Answer::Match(Field { offset: 0, width: 2 });
        let answer = settings.answer.clone().filter(|answer| *answer == Answer::None).unwrap_or(number);
        let settings = Settings { answer: Some(answer), ..settings.clone() };
        Client { datagrams: datagram::Client::new(&settings), asked: Vec::new(), begun: None, bad: None }
    }
}

impl ClientConnection for Client {
    fn open(&mut self, payload: &Payload) -> Opened {
        let opened = self.datagrams.open(payload);
        if let (Opened::Stream(stream), Ok(bytes)) = (&opened, payload.bytes()) {
            let at = stream.0 as usize;
            if self.asked.len() <= at {
                self.asked.resize_with(at + 1, || Arc::from([]));
            }
            self.asked[at] = bytes.clone();
        }
        opened
    }

    fn cancel(&mut self, stream: StreamId) {
        if self.begun == Some(stream) {
            self.begun = None;
        }
        self.datagrams.cancel(stream);
    }

    fn receive<'a, 'b: 'a>(&'a mut self, now: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        if let Some(stream) = self.begun.take() {
            match read(bytes) {
                Ok(Read { truncated: true, .. }) => self.bad = Some(ResetReason::TooLarge(Limit::Datagram)),
                Ok(Read { rcode, .. }) => {
                    return Some(Event::Head { stream, status: u16::from(rcode), head: Head::EMPTY });
                }
                Err(error) => self.bad = Some(ResetReason::Protocol(error)),
            }
        }
        if self.bad.is_some() {
            // All of a bad answer is passed over.
            while let Some(event) = self.datagrams.receive(now, bytes) {
                if let Event::End { stream, .. } = event {
                    return self.bad.take().map(|reason| Event::Reset { stream, reason });
                }
            }
            return None;
        }
        // The right response may still come: a forged one with a guessed number must not end the request.
        if let Some(stream) = self.datagrams.awaiting(bytes)
            && is_to_another(bytes, &self.asked[stream.0 as usize])
        {
            self.datagrams.pass_over(bytes);
        }
        let event = self.datagrams.receive(now, bytes);
        if let Some(Event::Begun { stream }) = event {
            self.begun = Some(stream);
        }
        event
    }

    fn receive_empty(&mut self) {
        self.datagrams.receive_empty();
    }

    fn receive_end(&mut self, now: Nanos) -> Option<Event<'_>> {
        self.datagrams.receive_end(now)
    }

    fn poll_transmit(&mut self, now: Nanos, buffer: &mut Vec<u8>) -> bool {
        self.datagrams.poll_transmit(now, buffer)
    }

    fn bytes_sent(&self, stream: StreamId) -> u64 {
        self.datagrams.bytes_sent(stream)
    }

    fn has_news(&self) -> bool {
        self.datagrams.has_news()
    }

    fn capacity(&self) -> u32 {
        self.datagrams.capacity()
    }

    fn tally(&self) -> Tally {
        self.datagrams.tally()
    }
}

#[cfg(test)]
mod tests;
