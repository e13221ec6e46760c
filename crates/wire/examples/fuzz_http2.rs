//! Feeds both halves of HTTP/2 what a peer might send, mutated: `cargo run --release -p headway-wire --example fuzz_http2 -- CONNECTIONS SEED`. Half a million take ten
//! minutes.
//!
//! Each round is a connection: requests are opened, given up and answered, and the bytes on the way are cut, flipped, repeated, dropped or
//! replaced by frames made at random. What must hold: nothing panics, each stream ends once, and after the end of the connection none
//! is open. Prints how the streams ended.

use headway_base::Nanos;
use headway_wire::http1::Response;
use headway_wire::http2::server::{Answer, ServerEvent};
use headway_wire::http2::{Client, Server};
use headway_wire::{ClientConnection, Event, Limits, Opened, Request, ResetReason, Settings, StreamId};
use std::collections::BTreeMap;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

fn frame(draws: &mut Draws) -> Vec<u8> {
    let payload: Vec<u8> = (0..draws.below(40)).map(|_| draws.next() as u8).collect();
    let length = (payload.len() as u32).to_be_bytes();
    let (kind, flags) = (draws.below(11) as u8, draws.next() as u8);
    let stream = if draws.one_in(4) { 0 } else { draws.below(9) as u32 };
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), &payload].concat()
}

/// Spoils bytes, now and then.
fn spoil(bytes: &mut Vec<u8>, draws: &mut Draws, how_often: usize) {
    while !bytes.is_empty() && draws.one_in(how_often) {
        let at = draws.below(bytes.len());
        match draws.below(5) {
            0 => bytes[at] ^= 1 << draws.below(8),
            1 => drop(bytes.drain(at..(at + 1 + draws.below(20)).min(bytes.len()))),
            2 => {
                let piece = bytes[at..(at + 1 + draws.below(30)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => drop(bytes.splice(at..at, frame(draws))),
            _ => bytes[at] = draws.next() as u8,
        }
    }
}

#[derive(Default)]
struct Told {
    streams: u64,
    ended: BTreeMap<&'static str, u64>,
}

fn round(draws: &mut Draws, told: &mut Told) {
    let limits = Limits { body_bytes: 10_000, head_bytes: 2_000, headers: 20, ..Limits::DEFAULT };
    let mut client = Client::new(&Settings { limits, streams: 1 + draws.below(20) as u32, answer: None });
    let mut server = Server::new(limits);
    let mut open: Vec<StreamId> = Vec::new();
    let how_often = [2, 10, 100, 1_000][draws.below(4)];
    let mut note = |event: Event<'_>, open: &mut Vec<StreamId>| {
        let (stream, how) = match event {
            Event::End { stream, .. } => (stream, "answered"),
            Event::Reset { stream, reason } => (
                stream,
                match reason {
                    ResetReason::Closed => "closed",
                    ResetReason::Protocol(_) => "protocol",
                    ResetReason::TooLarge(_) => "too large",
                    ResetReason::Refused(_) => "refused",
                    ResetReason::ByPeer(_) => "reset by the peer",
                },
            ),
            Event::Begun { stream } | Event::Head { stream, .. } | Event::Chunk { stream, .. } => {
                assert!(open.contains(&stream), "an event of a stream that is not open");
                return;
            }
            Event::GoAway => return,
        };
        let at = open.iter().position(|&other| other == stream).expect("a stream ends once");
        open.swap_remove(at);
        *told.ended.entry(how).or_default() += 1;
        told.streams += 1;
    };
    for _ in 0..draws.below(60) {
        if draws.one_in(2) {
            let mut request = Request::builder("POST", "a", format!("/{}", draws.below(99)));
            for n in 0..draws.below(4) {
                request = request.header(format!("X-{n}"), vec![b'v'; draws.below(300)]);
            }
            let request = request.body(vec![b'b'; draws.below(3_000)]).build().expect("it can be sent");
            if let Opened::Stream(stream) = client.open(&request.clone().into()) {
                open.push(stream);
            }
        }
        if draws.one_in(10) && !open.is_empty() {
            let stream = open.swap_remove(draws.below(open.len()));
            client.cancel(stream);
        }
        let mut up = Vec::new();
        client.poll_transmit(Nanos::ZERO, &mut up);
        if draws.one_in(4) {
            spoil(&mut up, draws, how_often);
        }
        let mut asked = Vec::new();
        while !up.is_empty() {
            let rest = up.split_off((1 + draws.below(2_000)).min(up.len()));
            let mut bytes = &up[..];
            while let Some(event) = server.receive(&mut bytes) {
                if let ServerEvent::RequestEnd { stream } = event {
                    asked.push(stream);
                }
            }
            up = rest;
        }
        for stream in asked {
            let response = Response::new(if draws.one_in(5) { 404 } else { 200 }).expect("a status");
            server.respond(stream, &Answer::of(&response.filler(draws.below(12_000) as u64, &b"x"[..])));
        }
        let mut down = Vec::new();
        server.poll_transmit(&mut down);
        spoil(&mut down, draws, how_often);
        while !down.is_empty() {
            let rest = down.split_off((1 + draws.below(3_000)).min(down.len()));
            let mut bytes = &down[..];
            while let Some(event) = client.receive(Nanos::ZERO, &mut bytes) {
                note(event, &mut open);
            }
            down = rest;
        }
    }
    while let Some(event) = client.receive_end(Nanos::ZERO) {
        note(event, &mut open);
    }
    assert!(open.is_empty(), "{} streams never end", open.len());
    assert_eq!(client.capacity(), 0);
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a whole number"));
    let (rounds, seed) = (arguments.next().unwrap_or(10_000), arguments.next().unwrap_or(1));
    let mut told = Told::default();
    for number in 0..rounds {
        // So that a round that fails can be played alone.
        round(&mut Draws(seed ^ (number << 20)), &mut told);
    }
    println!("seed {seed}: {rounds} connections, {} streams ended: {:?}", told.streams, told.ended);
}
