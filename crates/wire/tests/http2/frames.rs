//! Frames made by hand (RFC 9113, 4.1 and 6), and a client that keeps what it is told.

use headway_base::Nanos;
use headway_wire::http2::{Client, PREFACE};
use headway_wire::{ClientConnection, Event, Limits, Opened, Request, ResetReason, Settings, StreamId};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// `:status: 200`, from the static table (RFC 7541, appendix A).
pub(crate) const OK: &[u8] = &[0x88];

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// One setting: a SETTINGS frame.
pub(crate) fn setting(id: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

/// What a server says first.
pub(crate) fn hello() -> Vec<u8> {
    [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat()
}

/// A literal header field without indexing, its name and value of less than 127 bytes or the value longer.
pub(crate) fn field(name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = vec![0, name.len() as u8];
    out.extend_from_slice(name.as_bytes());
    let mut length = value.len();
    if length < 127 {
        out.push(length as u8);
    } else {
        out.push(127);
        length -= 127;
        while length >= 128 {
            out.push((length % 128) as u8 | 128);
            length /= 128;
        }
        out.push(length as u8);
    }
    out.extend_from_slice(value);
    out
}

/// A whole answer with this body.
pub(crate) fn answer(stream: u32, body: &[u8]) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, OK);
    [head, frame(DATA, END_STREAM, stream, body)].concat()
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    Begun,
    Head(u16),
    Body(Vec<u8>),
    End(u64),
    Reset(ResetReason),
    GoAway,
}

/// A client, and what it told of each of its streams.
pub(crate) struct Asking {
    pub(crate) client: Client,
    pub(crate) told: Vec<(Option<StreamId>, Told)>,
    /// What was sent, without the preface.
    pub(crate) sent: Vec<u8>,
}

impl Asking {
    pub(crate) fn new() -> Asking {
        Asking::with(Limits::DEFAULT, 100)
    }

    /// A server has said hello to it.
    pub(crate) fn with(limits: Limits, streams: u32) -> Asking {
        let mut asking = Asking::silent(limits, streams);
        asking.receive(&hello());
        asking
    }

    pub(crate) fn silent(limits: Limits, streams: u32) -> Asking {
        let mut client = Client::new(&Settings { limits, streams, answer: None });
        let mut sent = Vec::new();
        assert!(client.poll_transmit(Nanos::ZERO, &mut sent));
        let sent = sent.strip_prefix(PREFACE).expect("the preface").to_vec();
        Asking { client, told: Vec::new(), sent }
    }

    pub(crate) fn get(&mut self) -> StreamId {
        self.ask(&Request::builder("GET", "a", "/").build().unwrap())
    }

    pub(crate) fn ask(&mut self, request: &Request) -> StreamId {
        let opened = self.client.open(&request.clone().into());
        let Opened::Stream(stream) = opened else { panic!("{opened:?}") };
        self.transmit();
        stream
    }

    /// Takes what is to be sent.
    pub(crate) fn transmit(&mut self) {
        let mut out = Vec::new();
        while self.client.poll_transmit(Nanos::ZERO, &mut out) {
            self.sent.append(&mut out);
        }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.receive_mute(bytes);
        self.transmit();
    }

    /// Receives, and hands nothing over.
    pub(crate) fn receive_mute(&mut self, mut bytes: &[u8]) {
        while let Some(event) = self.client.receive(Nanos::ZERO, &mut bytes) {
            note(&mut self.told, event);
        }
        assert!(bytes.is_empty(), "none means that all bytes were consumed");
    }

    pub(crate) fn end(&mut self) {
        while let Some(event) = self.client.receive_end(Nanos::ZERO) {
            note(&mut self.told, event);
        }
    }

    /// What was told of this stream, the latest of that number.
    pub(crate) fn of(&self, stream: StreamId) -> Vec<Told> {
        self.told.iter().filter(|(of, _)| *of == Some(stream)).map(|(_, told)| told.clone()).collect()
    }

    /// Types of the frames that were sent, with their streams.
    pub(crate) fn frames_sent(&self) -> Vec<(u8, u32)> {
        let (mut rest, mut frames) = (&self.sent[..], Vec::new());
        while let [a, b, c, kind, _, id0, id1, id2, id3, after @ ..] = rest {
            let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            frames.push((*kind, u32::from_be_bytes([*id0, *id1, *id2, *id3])));
            rest = &after[length..];
        }
        assert!(rest.is_empty());
        frames
    }
}

fn note(told: &mut Vec<(Option<StreamId>, Told)>, event: Event<'_>) {
    let (stream, what) = match event {
        Event::Begun { stream } => (Some(stream), Told::Begun),
        Event::Head { stream, status, .. } => (Some(stream), Told::Head(status)),
        Event::Chunk { stream, data } => {
            assert!(!data.is_empty(), "a chunk is never empty");
            if let Some((Some(last), Told::Body(body))) = told.last_mut()
                && *last == stream
            {
                body.extend_from_slice(data);
                return;
            }
            (Some(stream), Told::Body(data.to_vec()))
        }
        Event::End { stream, bytes_received } => (Some(stream), Told::End(bytes_received)),
        Event::Reset { stream, reason } => (Some(stream), Told::Reset(reason)),
        Event::GoAway => (None, Told::GoAway),
    };
    told.push((stream, what));
}
