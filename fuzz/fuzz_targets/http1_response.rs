//! Arbitrary answers, whole and in pieces: the same events, nothing but bounded memory, no panic.

#![no_main]

mod memory;

use arbitrary::Arbitrary;
use headway_base::Nanos;
use libfuzzer_sys::fuzz_target;
use headway_wire::http1::Client;
use headway_wire::{ClientConnection, Event, Limits, Opened, Payload, Request, ResetReason};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// HEAD instead of GET: bit by request.
    heads: u8,
    small_limits: bool,
    ends: bool,
    /// Lengths of the pieces, over and over; 0 is a call without bytes.
    pieces: [u8; 4],
    /// The answers; where there is a 255, a client that is free asks its next request.
    bytes: &'a [u8],
}

#[derive(PartialEq, Eq, Debug)]
enum Told {
    Head(u16, Vec<(String, Vec<u8>)>),
    Body(Vec<u8>),
    End(u64),
    Reset(ResetReason),
    GoAway,
}

const SMALL: Limits = Limits { head_bytes: 96, headers: 3, body_bytes: 40, trailer_bytes: 12 };

fn ask(client: &mut Client, asked: &mut u32, input: &Input<'_>) {
    let is_head = *asked < 8 && input.heads >> *asked & 1 == 1;
    let reusable = client.capacity() > 0;
    match client.open(&request(is_head)) {
        Opened::Stream(stream) => {
            assert_eq!(stream.0, 0);
            *asked += 1;
            assert!(client.poll_transmit(Nanos::ZERO, &mut Vec::new()));
        }
        Opened::Blocked | Opened::Unfit(_) => panic!("no stream is open, and the request is sound"),
        Opened::Closed => assert!(!reusable),
    }
}

fn request(is_head: bool) -> Payload {
    Request::builder(if is_head { "HEAD" } else { "GET" }, "x", "/").build().unwrap().into()
}

/// The pieces of all answers, each with whether it is the last of its answer. `lengths` go round; whole without them.
fn pieces<'b>(bytes: &'b [u8], lengths: &[usize]) -> Vec<(&'b [u8], bool)> {
    let mut lengths = lengths.iter().copied().cycle();
    let mut pieces = Vec::new();
    for mut answer in bytes.split(|&byte| byte == 255) {
        while let Some(len) = lengths.next().filter(|&len| len < answer.len()) {
            let (piece, rest) = answer.split_at(len);
            pieces.push((piece, false));
            answer = rest;
        }
        pieces.push((answer, true));
    }
    pieces
}

/// What is told of the pieces; also checks what holds of every sequence of events.
fn tell(input: &Input<'_>, lengths: &[usize], limits: Limits) -> Vec<Told> {
    let mut client = Client::new(limits);
    let (mut asked, mut told, mut body, mut open) = (0, Vec::new(), 0, true);
    ask(&mut client, &mut asked, input);
    for (mut bytes, last) in pieces(input.bytes, lengths) {
        loop {
            let before = bytes.len();
            let event = client.receive(Nanos::ZERO, &mut bytes);
            assert!(bytes.len() <= before);
            let Some(event) = event else { break };
            match event {
                Event::Begun { .. } => {}
                Event::Head { status, head, .. } => {
                    assert!((200..=999).contains(&status));
                    let headers: Vec<_> =
                        head.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
                    assert!(headers.len() <= limits.headers);
                    for (name, _) in &headers {
                        assert!(!name.is_empty() && head.header(name).is_some());
                    }
                    told.push(Told::Head(status, headers));
                    body = 0;
                }
                Event::Chunk { data, .. } => {
                    assert!(!data.is_empty());
                    body += data.len() as u64;
                    assert!(body <= limits.body_bytes);
                    match told.last_mut() {
                        Some(Told::Body(body)) => body.extend_from_slice(data),
                        _ => told.push(Told::Body(data.to_vec())),
                    }
                }
                Event::End { bytes_received, .. } => {
                    assert!(bytes_received >= body);
                    told.push(Told::End(bytes_received));
                    assert!(bytes.is_empty() || client.capacity() == 0);
                    open = false;
                }
                Event::Reset { reason, .. } => told.push(Told::Reset(reason)),
                Event::GoAway => told.push(Told::GoAway),
            }
        }
        assert!(bytes.is_empty());
        if last && !open {
            open = client.capacity() > 0;
            ask(&mut client, &mut asked, input);
        }
    }
    if input.ends {
        while let Some(event) = client.receive_end(Nanos::ZERO) {
            told.push(match event {
                Event::End { bytes_received, .. } => Told::End(bytes_received),
                Event::Reset { reason, .. } => Told::Reset(reason),
                Event::GoAway => Told::GoAway,
                other => panic!("{other:?} at the end"),
            });
        }
        assert!(client.capacity() == 0);
    }
    let over = told.iter().position(|told| matches!(told, Told::Reset(_) | Told::GoAway));
    assert!(
        over.is_none_or(|at| at + 1 == told.len()),
        "nothing follows the end of the connection: {told:?}"
    );
    let consumed: u64 = told.iter().map(|told| if let Told::End(bytes) = told { *bytes } else { 0 }).sum();
    assert!(consumed <= input.bytes.len() as u64);
    told
}

/// The most memory that the connection takes while it swallows all of it, events unseen.
fn held(input: &Input<'_>, limits: Limits) -> usize {
    let request = request(false);
    let mut sent = Vec::with_capacity(1 << 10);
    let ((), most) = memory::measure(|| {
        let mut client = Client::new(limits);
        for mut bytes in input.bytes.chunks(usize::from(input.pieces[0]).max(1)) {
            if client.capacity() > 0 {
                client.open(&request);
                sent.clear();
                client.poll_transmit(Nanos::ZERO, &mut sent);
            }
            while client.receive(Nanos::ZERO, &mut bytes).is_some() {}
        }
    });
    most
}

fuzz_target!(|input: Input<'_>| {
    let limits = if input.small_limits { SMALL } else { Limits::DEFAULT };
    let whole = tell(&input, &[], limits);
    let lengths = input.pieces.map(usize::from);
    // At least one of the four has a length, or it would never end.
    let lengths = if lengths == [0; 4] { [0, 1, 0, 1] } else { lengths };
    assert_eq!(tell(&input, &lengths, limits), whole);
    // A buffer that grows holds its old self for a moment, and doubles.
    let most = held(&input, limits);
    assert!(most <= 3 * limits.head_bytes + 64, "{most} bytes held");
});
