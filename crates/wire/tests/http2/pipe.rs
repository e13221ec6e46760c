//! Client against server, in bytes that are cut at random.

use headway_base::Nanos;
use headway_wire::http1::Response;
use headway_wire::http2::server::{Answer, ServerEvent};
use headway_wire::http2::{Client, Server};
use headway_wire::{ClientConnection, Event, Limits, Opened, Request, Settings, StreamId};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// A server that answers each request with its own body, in an order of the test's choosing.
struct Echo {
    server: Server,
    bodies: BTreeMap<StreamId, Vec<u8>>,
    due: VecDeque<StreamId>,
    heads: Vec<String>,
}

impl Echo {
    fn receive(&mut self, mut bytes: &[u8]) {
        while let Some(event) = self.server.receive(&mut bytes) {
            match event {
                ServerEvent::Request { stream, method, target, head } => {
                    let host = head.header("x-name").map(|value| String::from_utf8_lossy(value).into_owned());
                    self.heads.push(format!("{method} {target} {}", host.unwrap_or_default()));
                    self.bodies.insert(stream, Vec::new());
                }
                ServerEvent::BodyChunk { stream, data } => {
                    self.bodies.get_mut(&stream).unwrap().extend_from_slice(data);
                }
                ServerEvent::RequestEnd { stream } => self.due.push_back(stream),
                ServerEvent::Reset { stream } => panic!("{stream:?} was reset"),
            }
        }
    }

    fn answer(&mut self, pick: usize) {
        if self.due.is_empty() {
            return;
        }
        let stream = self.due.remove(pick % self.due.len()).unwrap();
        let body = self.bodies.remove(&stream).unwrap();
        let response = Response::new(200).unwrap().header("x-b", "1").unwrap().body(body);
        assert!(self.server.respond(stream, &Answer::of(&response)));
    }
}

/// Moves up to `most` bytes of what is on the way.
fn carry(way: &mut Vec<u8>, most: usize) -> Vec<u8> {
    let n = most.clamp(1, way.len().max(1)).min(way.len());
    way.drain(..n).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_request_gets_its_own_answer(
        bodies in prop::collection::vec(prop_oneof![Just(0usize), 1usize..200, 0usize..200_000], 1..30),
        streams in prop_oneof![Just(1u32), Just(3), Just(100)],
        cuts in prop::collection::vec(1usize..60_000, 1..40),
        picks in prop::collection::vec(0usize..100, 1..40),
    ) {
        let mut client = Client::new(&Settings { limits: Limits::DEFAULT, streams, answer: None });
        let mut echo = Echo {
            server: Server::new(Limits::DEFAULT),
            bodies: BTreeMap::new(),
            due: VecDeque::new(),
            heads: Vec::new(),
        };
        let body = |k: usize| -> Vec<u8> { (0..bodies[k]).map(|i| (i * 7 + k) as u8).collect() };
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let mut asked: BTreeMap<StreamId, (usize, Vec<u8>)> = BTreeMap::new();
        let (mut next, mut done, mut turn) = (0, 0, 0);
        let mut received_bytes = 0u64;
        while done < bodies.len() {
            prop_assert!(turn < 1_000_000, "stands still at {done} of {}", bodies.len());
            while next < bodies.len() && (asked.len() as u32) < client.capacity() {
                let mut request = Request::builder("POST", "a", format!("/{next}")).header("X-Name", format!("n{next}"));
                if bodies[next] > 0 {
                    request = request.body(body(next));
                }
                match client.open(&request.build().unwrap().into()) {
                    Opened::Stream(stream) => {
                        prop_assert!(asked.insert(stream, (next, Vec::new())).is_none());
                        next += 1;
                    }
                    Opened::Blocked => break,
                    other => panic!("{other:?}"),
                }
            }
            let mut out = Vec::new();
            while client.poll_transmit(Nanos::ZERO, &mut out) {
                up.append(&mut out);
            }
            echo.receive(&carry(&mut up, cuts[turn % cuts.len()]));
            echo.answer(picks[turn % picks.len()]);
            while echo.server.poll_transmit(&mut out) {
                down.append(&mut out);
            }
            let bytes = carry(&mut down, cuts[(turn + 1) % cuts.len()]);
            let mut bytes = &bytes[..];
            while let Some(event) = client.receive(Nanos::ZERO, &mut bytes) {
                match event {
                    Event::Begun { .. } => {}
                    Event::Head { status, head, .. } => {
                        prop_assert_eq!((status, head.header("X-B")), (200, Some(&b"1"[..])));
                    }
                    Event::Chunk { stream, data } => asked.get_mut(&stream).unwrap().1.extend_from_slice(data),
                    Event::End { stream, bytes_received } => {
                        let (k, got) = asked.remove(&stream).unwrap();
                        prop_assert_eq!(got, body(k));
                        prop_assert!(bytes_received > bodies[k] as u64);
                        received_bytes += bytes_received;
                        done += 1;
                    }
                    other => panic!("{other:?}"),
                }
            }
            turn += 1;
        }
        prop_assert_eq!(echo.heads.len(), bodies.len());
        let mut heads = echo.heads.clone();
        heads.sort();
        let mut expected: Vec<String> = (0..bodies.len()).map(|k| format!("POST /{k} n{k}")).collect();
        expected.sort();
        prop_assert_eq!(heads, expected);
        prop_assert!(received_bytes >= bodies.iter().sum::<usize>() as u64);
    }

    /// Whatever a server sends, the client says something of each stream and holds no more than its bounds.
    #[test]
    fn nonsense_ends_every_stream(
        frames in prop::collection::vec((0u8..12, any::<u8>(), 0u32..8, prop::collection::vec(any::<u8>(), 0..40)), 0..40),
        cuts in prop::collection::vec(1usize..50, 1..10),
    ) {
        let mut client = Client::new(&Settings { limits: Limits::DEFAULT, streams: 100, answer: None });
        let request = Request::builder("GET", "a", "/").build().unwrap();
        let hello = crate::frames::hello();
        assert_eq!(client.receive(Nanos::ZERO, &mut &hello[..]), None);
        let mut open: Vec<StreamId> = Vec::new();
        for _ in 0..3 {
            let Opened::Stream(stream) = client.open(&request.clone().into()) else { panic!("blocked") };
            open.push(stream);
        }
        let mut bytes = Vec::new();
        for (kind, flags, stream, payload) in frames {
            bytes.extend(crate::frames::frame(kind, flags, stream, &payload));
        }
        let mut note = |event: Event<'_>| {
            if let Event::End { stream, .. } | Event::Reset { stream, .. } = event {
                let at = open.iter().position(|&other| other == stream).expect("it ends once");
                open.remove(at);
            }
        };
        let (mut from, mut turn, mut out) = (0, 0, Vec::new());
        while from < bytes.len() {
            let to = (from + cuts[turn % cuts.len()]).min(bytes.len());
            let mut piece = &bytes[from..to];
            while let Some(event) = client.receive(Nanos::ZERO, &mut piece) {
                note(event);
            }
            client.poll_transmit(Nanos::ZERO, &mut out);
            (from, turn) = (to, turn + 1);
        }
        while let Some(event) = client.receive_end(Nanos::ZERO) {
            note(event);
        }
        prop_assert!(open.is_empty(), "{} streams never end", open.len());
        prop_assert_eq!(client.capacity(), 0);
    }
}
