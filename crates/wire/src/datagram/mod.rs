//! Datagrams: each request is one, and so is each answer. Which request an answer belongs to tells a number that is written into the
//! request and comes back at the same place; or it is the next one; or none is waited for.
//!
//! What comes besides is counted: late, twice, to nobody ([`Tally`]).
//!
//! Deliberately absent: retransmission, fragments, and what the bytes mean.

mod numbers;

use crate::connection::{ClientConnection, Event, Opened, StreamId, Tally};
use crate::payload::{Payload, Unfit};
use crate::protocol::{Carrier, Protocol, Settings};
use headway_base::answer::Field;
use headway_base::{Answer, Nanos};
use numbers::{Numbers, Whose};
use std::collections::VecDeque;
use std::sync::Arc;

/// The longest payload of a datagram over IPv4 (RFC 768, RFC 791).
pub const LONGEST: usize = 65_507;

/// Bytes of a datagram whose step has none of its own: the sequence number, the time of sending (nanoseconds since the plan's
/// zero), both big-endian, and zeroes.
pub const OWN: usize = 64;

/// Datagrams over UDP.
#[derive(Debug)]
pub struct Datagrams;

impl Protocol for Datagrams {
    fn name(&self) -> &'static str {
        "UDP"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["udp"]
    }

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn fits(&self, payload: Option<&Payload>, settings: &Settings) -> Result<(), Unfit> {
        let field = match answers(settings) {
            Answer::Match(field) => Some(field),
            _ => None,
        };
        payload.map_or_else(|| has_room(field), |payload| fit(payload, field).map(|_| ()))
    }

    fn streams(&self, settings: &Settings) -> u32 {
        Client::new(settings).capacity()
    }

    fn connect(&self, settings: &Settings) -> Box<dyn ClientConnection> {
        Box::new(Client::new(settings))
    }
}

/// How responses are matched with these settings. What ends a response on a stream does not matter here: numbers match them.
fn answers(settings: &Settings) -> Answer {
    match &settings.answer {
        Some(answer @ (Answer::Next | Answer::None | Answer::Match(_))) => answer.clone(),
        _ => Answer::Match(Field::SEQUENCE),
    }
}

/// Whether some datagram can hold the number.
fn has_room(field: Option<Field>) -> Result<(), Unfit> {
    match field.map(Field::end).filter(|&end| end > LONGEST) {
        Some(end) => Err(Unfit::BeyondAll { end, most: LONGEST }),
        None => Ok(()),
    }
}

/// The bytes of a datagram that can be sent, and its length: one without bytes is of our own.
fn fit(payload: &Payload, field: Option<Field>) -> Result<(&Arc<[u8]>, usize), Unfit> {
    let bytes = payload.bytes()?;
    has_room(field)?;
    let length = if bytes.is_empty() { OWN } else { bytes.len() };
    match field.map(Field::end) {
        _ if length > LONGEST => Err(Unfit::TooLong { bytes: length, most: LONGEST }),
        Some(end) if length < end => Err(Unfit::NoRoom { bytes: length, end }),
        _ => Ok((bytes, length)),
    }
}

/// How answers are told apart.
#[derive(Debug)]
enum Match {
    Number(Field, Numbers),
    Next,
    Nothing,
}

/// A request under way.
#[derive(Debug)]
struct Slot {
    number: u64,
    bytes: u64,
    /// Until it is sent.
    to_send: Option<Arc<[u8]>>,
}

/// What is to be reported of the datagram at hand.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// It begins the answer to the request on this slot.
    Data(u32),
    /// It is empty, and all of the answer to the request on this slot.
    Empty(u32),
    /// It was all of the answer, of that length.
    End(u32, u64),
}

/// A socket of datagrams.
#[derive(Debug)]
pub struct Client {
    answers: Match,
    most: u32,
    /// Of the next request without an answer.
    sequence: u64,
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    live: u32,
    unsent: VecDeque<u32>,
    /// Sent, and no answer is waited for.
    over: VecDeque<u32>,
    turn: Option<Turn>,
    /// Whether the next datagram could be the answer to a request that was given up.
    doubtful: bool,
    tally: Tally,
}

impl Client {
    /// A socket that was just made.
    pub fn new(settings: &Settings) -> Client {
        let most = settings.streams.clamp(1, numbers::MOST as u32);
        let (answers, most) = match answers(settings) {
            Answer::Next => (Match::Next, 1),
            Answer::Match(field) => {
                let numbers = Numbers::new(field, u64::from(most));
                let most = numbers.most() as u32;
                (Match::Number(field, numbers), most)
            }
            _ => (Match::Nothing, most),
        };
        Client {
            answers,
            most,
            sequence: 0,
            slots: Vec::new(),
            free: Vec::new(),
            live: 0,
            unsent: VecDeque::new(),
            over: VecDeque::new(),
            turn: None,
            doubtful: false,
            tally: Tally::default(),
        }
    }

    /// Ends the request of a slot.
    fn release(&mut self, slot: u32) -> Option<Slot> {
        let released = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.live -= 1;
        Some(released)
    }

    /// The request that a datagram which just came would end by its number.
    pub(crate) fn awaiting(&self, datagram: &[u8]) -> Option<StreamId> {
        let Match::Number(field, numbers) = &self.answers else { return None };
        let number = number_in(datagram, *field).filter(|_| self.turn.is_none())?;
        numbers.open(number).map(StreamId)
    }

    /// A datagram that just came belongs to no request, whatever its number.
    pub(crate) fn pass_over(&mut self, datagram: &mut &[u8]) {
        *datagram = &[];
        self.tally.unexpected += 1;
    }

    /// Whose answer this datagram is, if anybody's.
    fn whose(&mut self, datagram: &[u8]) -> Option<u32> {
        match &mut self.answers {
            Match::Nothing => self.tally.unexpected += 1,
            Match::Next => {
                let slot =
                    self.slots.iter().position(|slot| slot.as_ref().is_some_and(|s| s.to_send.is_none()));
                if let Some(slot) = slot {
                    return Some(slot as u32);
                }
                self.tally.unexpected += 1;
            }
            Match::Number(field, numbers) => {
                let Some(number) = number_in(datagram, *field) else {
                    self.tally.unexpected += 1;
                    return None;
                };
                match numbers.answered(number) {
                    Whose::Open { slot, reordered } => {
                        self.tally.reordered += u64::from(reordered);
                        return Some(slot);
                    }
                    Whose::Answered => self.tally.duplicates += 1,
                    Whose::GivenUp => self.tally.late += 1,
                    Whose::Nobody => self.tally.unexpected += 1,
                }
            }
        }
        None
    }
}

/// The number at that place of a datagram, if it is that long.
fn number_in(datagram: &[u8], field: Field) -> Option<u64> {
    let written = datagram.get(usize::from(field.offset)..field.end())?;
    Some(written.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

impl ClientConnection for Client {
    fn open(&mut self, payload: &Payload) -> Opened {
        let field = match &self.answers {
            Match::Number(field, _) => Some(*field),
            Match::Next | Match::Nothing => None,
        };
        let (bytes, length) = match fit(payload, field) {
            Ok(fitting) => fitting,
            Err(unfit) => return Opened::Unfit(unfit),
        };
        if self.doubtful {
            return Opened::Closed;
        }
        if self.live >= self.most {
            return Opened::Blocked;
        }
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let number = match &mut self.answers {
            Match::Number(_, numbers) => match numbers.take(slot) {
                Some(number) => number,
                None => {
                    let spent = numbers.are_spent();
                    self.free.push(slot);
                    return if spent { Opened::Closed } else { Opened::Blocked };
                }
            },
            Match::Next => 0,
            Match::Nothing => {
                self.sequence += 1;
                self.sequence - 1
            }
        };
        if slot as usize == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot as usize] = Some(Slot { number, bytes: length as u64, to_send: Some(bytes.clone()) });
        self.live += 1;
        self.unsent.push_back(slot);
        Opened::Stream(StreamId(slot))
    }

    fn cancel(&mut self, stream: StreamId) {
        let Some(slot) = self.release(stream.0) else { return };
        self.unsent.retain(|&unsent| unsent != stream.0);
        self.over.retain(|&over| over != stream.0);
        if matches!(self.turn, Some(Turn::Data(slot) | Turn::Empty(slot) | Turn::End(slot, _)) if slot == stream.0)
        {
            self.turn = None;
        }
        match &mut self.answers {
            Match::Number(_, numbers) => numbers.give_up(slot.number, slot.to_send.is_none()),
            // Its answer could still come.
            Match::Next => self.doubtful |= slot.to_send.is_none(),
            Match::Nothing => {}
        }
    }

    fn receive<'a, 'b: 'a>(&'a mut self, now: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        if let Some(Turn::End(slot, bytes_received)) = self.turn {
            self.turn = None;
            self.release(slot);
            return Some(Event::End { stream: StreamId(slot), bytes_received });
        }
        if let Some(Turn::Empty(slot)) = self.turn {
            self.turn = Some(Turn::End(slot, 0));
            return Some(Event::Begun { stream: StreamId(slot) });
        }
        if bytes.is_empty() {
            let slot = self.over.pop_front()?;
            self.release(slot);
            return Some(Event::End { stream: StreamId(slot), bytes_received: 0 });
        }
        if let Some(Turn::Data(slot)) = self.turn {
            let data = std::mem::take(bytes);
            self.turn = Some(Turn::End(slot, data.len() as u64));
            return Some(Event::Chunk { stream: StreamId(slot), data });
        }
        match self.whose(bytes) {
            Some(slot) => {
                self.turn = Some(Turn::Data(slot));
                Some(Event::Begun { stream: StreamId(slot) })
            }
            None => {
                *bytes = &[];
                self.receive(now, bytes)
            }
        }
    }

    fn receive_empty(&mut self) {
        self.turn = self.whose(&[]).map(Turn::Empty);
    }

    fn receive_end(&mut self, _now: Nanos) -> Option<Event<'_>> {
        None
    }

    fn poll_transmit(&mut self, now: Nanos, buffer: &mut Vec<u8>) -> bool {
        let Some(number) = self.unsent.pop_front() else { return false };
        let Some(slot) = self.slots[number as usize].as_mut() else { return false };
        let start = buffer.len();
        let bytes = slot.to_send.take().unwrap_or_default();
        let own = bytes.is_empty();
        buffer.extend_from_slice(&bytes);
        buffer.resize(start + slot.bytes as usize, 0);
        let datagram = &mut buffer[start..];
        if own {
            datagram[8..16].copy_from_slice(&now.0.to_be_bytes());
        }
        let sequence = slot.number;
        match &self.answers {
            Match::Number(field, _) => {
                let digits = &sequence.to_be_bytes()[8 - usize::from(field.width)..];
                datagram[usize::from(field.offset)..field.end()].copy_from_slice(digits);
            }
            Match::Nothing if own => datagram[..8].copy_from_slice(&sequence.to_be_bytes()),
            Match::Next | Match::Nothing => {}
        }
        if matches!(self.answers, Match::Nothing) {
            self.over.push_back(number);
        }
        true
    }

    fn bytes_sent(&self, stream: StreamId) -> u64 {
        let slot = self.slots.get(stream.0 as usize).and_then(Option::as_ref);
        slot.filter(|slot| slot.to_send.is_none()).map_or(0, |slot| slot.bytes)
    }

    fn has_news(&self) -> bool {
        !self.over.is_empty()
    }

    fn capacity(&self) -> u32 {
        let spent = matches!(&self.answers, Match::Number(_, numbers) if numbers.are_spent());
        if self.doubtful || spent { 0 } else { self.most }
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
mod tests;
