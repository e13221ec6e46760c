//! Client against server over a pipe that cuts both ways at random: what was said is what was heard.

use std::collections::VecDeque;

use headway_base::Nanos;
use headway_wire::http1::{Client, Response, Server, ServerEvent};
use headway_wire::{ClientConnection, Event, Limits, Opened, Request};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Exchange {
    method: &'static str,
    body: Option<Vec<u8>>,
    request_closes: bool,
    status: u16,
    answer: u64,
    chunk: Option<u64>,
    response_closes: bool,
    rendered: bool,
    continued: bool,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    (
        prop::sample::select(vec!["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]),
        prop::option::of(prop::collection::vec(any::<u8>(), 0..300)),
        prop::bool::weighted(0.05),
        prop::sample::select(vec![200, 200, 201, 204, 304, 404, 500]),
        0u64..2000,
        prop::option::of(1u64..500),
        prop::bool::weighted(0.05),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(method, body, request_closes, status, answer, chunk, response_closes, rendered, continued)| {
                Exchange {
                    method,
                    body,
                    request_closes,
                    status,
                    answer,
                    chunk,
                    response_closes,
                    rendered,
                    continued,
                }
            },
        )
}

impl Exchange {
    fn request(&self) -> Request {
        let mut builder = Request::builder(self.method, "target", "/x");
        if self.request_closes {
            builder = builder.header("Connection", "close");
        }
        if let Some(body) = &self.body {
            builder = builder.body(body.clone());
        }
        builder.build().unwrap()
    }

    fn response(&self) -> Response {
        let mut response = Response::new(self.status).unwrap().filler(self.answer, &b"lorem ipsum "[..]);
        if let Some(chunk) = self.chunk {
            response = response.chunked(chunk);
        }
        if self.response_closes { response.close() } else { response }
    }

    fn expected_body(&self) -> Vec<u8> {
        let empty = self.method == "HEAD" || matches!(self.status, 204 | 304);
        let len = if empty { 0 } else { self.answer as usize };
        b"lorem ipsum ".iter().copied().cycle().take(len).collect()
    }

    fn is_last(&self) -> bool {
        self.request_closes || self.response_closes
    }
}

/// One direction: bytes in, pieces out, cut where `cuts` says.
#[derive(Default)]
struct Half {
    bytes: VecDeque<u8>,
}

impl Half {
    fn piece(&mut self, cuts: &mut impl Iterator<Item = usize>) -> Vec<u8> {
        let len = cuts.next().unwrap().min(self.bytes.len());
        self.bytes.drain(..len).collect()
    }
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Heard {
    methods: Vec<String>,
    request_bodies: Vec<Vec<u8>>,
    statuses: Vec<u16>,
    answer_bodies: Vec<Vec<u8>>,
    bytes_received: u64,
}

fn serve(
    server: &mut Server,
    mut bytes: &[u8],
    exchanges: &[Exchange],
    heard: &mut Heard,
    out: &mut Vec<u8>,
) {
    while let Some(event) = server.receive(&mut bytes) {
        match event {
            ServerEvent::Request { method, head, .. } => {
                assert_eq!(head.header("host"), Some(&b"target"[..]));
                heard.methods.push(method.into());
                heard.request_bodies.push(Vec::new());
                if exchanges[heard.methods.len() - 1].continued {
                    server.send_continue(out);
                }
            }
            ServerEvent::BodyChunk { data } => heard.request_bodies.last_mut().unwrap().extend(data),
            ServerEvent::RequestEnd => {
                let exchange = &exchanges[heard.methods.len() - 1];
                if exchange.rendered {
                    server.respond_rendered(&exchange.response().render(), out);
                } else {
                    server.respond(&exchange.response(), out);
                }
            }
            ServerEvent::Error { status } => panic!("the server refuses with {status}"),
        }
    }
}

proptest! {
    #[test]
    fn what_was_said_is_what_was_heard(
        exchanges in prop::collection::vec(exchange(), 1..12),
        cuts in prop::collection::vec(1usize..400, 1..20),
    ) {
        let mut cuts = cuts.into_iter().cycle();
        let (mut client, mut server) = (Client::new(Limits::DEFAULT), Server::new(Limits::DEFAULT));
        let (mut up, mut down) = (Half::default(), Half::default());
        let mut heard = Heard::default();
        let (mut next, mut ended, mut carried) = (0, 0, 0);
        // Each round carries at least one byte each way; more rounds than bytes mean that one half waits in vain.
        for round in 0.. {
            prop_assert!(round < 100_000, "{ended} of {} exchanges ended, and nothing moves", exchanges.len());
            if next == ended && next < exchanges.len() {
                match client.open(&exchanges[next].request().into()) {
                    Opened::Stream(_) => next += 1,
                    Opened::Blocked => panic!("every stream has ended"),
                    Opened::Unfit(error) => panic!("{error}"),
                    Opened::Closed => break,
                }
                heard.answer_bodies.push(Vec::new());
                let mut out = Vec::new();
                prop_assert!(client.poll_transmit(Nanos::ZERO, &mut out));
                up.bytes.extend(out);
            }
            let mut out = Vec::new();
            serve(&mut server, &up.piece(&mut cuts), &exchanges, &mut heard, &mut out);
            carried += out.len() as u64;
            down.bytes.extend(out);
            let piece = down.piece(&mut cuts);
            let mut bytes = &piece[..];
            while let Some(event) = client.receive(Nanos::ZERO, &mut bytes) {
                match event {
                    Event::Begun { .. } => {}
                    Event::Head { status, .. } => heard.statuses.push(status),
                    Event::Chunk { data, .. } => heard.answer_bodies.last_mut().unwrap().extend(data),
                    Event::End { bytes_received, .. } => {
                        heard.bytes_received += bytes_received;
                        ended += 1;
                    }
                    other => panic!("{other:?}"),
                }
            }
            if ended == exchanges.len() && up.bytes.is_empty() && down.bytes.is_empty() {
                break;
            }
        }
        // Kept alive up to the first exchange that closes, and no further.
        let served = exchanges.iter().position(Exchange::is_last).map_or(exchanges.len(), |last| last + 1);
        let said = &exchanges[..served];
        prop_assert_eq!(heard, Heard {
            methods: said.iter().map(|e| e.method.into()).collect(),
            request_bodies: said.iter().map(|e| e.body.clone().unwrap_or_default()).collect(),
            statuses: said.iter().map(|e| e.status).collect(),
            answer_bodies: said.iter().map(Exchange::expected_body).collect(),
            bytes_received: carried,
        });
        prop_assert_eq!(client.capacity() > 0, !said[served - 1].is_last());
        prop_assert_eq!(server.is_finished(), said[served - 1].is_last());
    }
}
