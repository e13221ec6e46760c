//! Arbitrary requests, whole and in pieces: the same events and answers, nothing but bounded memory, no panic.

#![no_main]

mod memory;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use headway_wire::Limits;
use headway_wire::http1::{Response, Server, ServerEvent};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    small_limits: bool,
    ends: bool,
    /// Answers with chunks instead of a length.
    chunked: bool,
    /// Lengths of the pieces, over and over; 0 is a call without bytes.
    pieces: [u8; 4],
    bytes: &'a [u8],
}

#[derive(PartialEq, Eq, Debug)]
enum Told {
    Request { line: String, headers: Vec<(String, Vec<u8>)>, keep_alive: bool, expect_continue: bool },
    Body(Vec<u8>),
    End,
    Error(u16),
}

const SMALL: Limits = Limits { head_bytes: 96, headers: 3, body_bytes: 40, trailer_bytes: 12 };

/// What is told of the pieces, and what is answered; also checks what holds of every sequence of events.
fn tell<'b>(
    input: &Input<'b>,
    pieces: impl Iterator<Item = &'b [u8]>,
    limits: Limits,
    respond: impl Fn(&mut Server, &mut Vec<u8>),
) -> (Vec<Told>, Vec<u8>) {
    let mut server = Server::new(limits);
    let (mut told, mut answers, mut body) = (Vec::new(), Vec::new(), 0);
    for mut bytes in pieces {
        while let Some(event) = server.receive(&mut bytes) {
            match event {
                ServerEvent::Request { method, target, head, keep_alive, expect_continue } => {
                    assert!(!method.is_empty() && !target.is_empty());
                    let headers: Vec<_> =
                        head.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
                    assert!(headers.len() <= limits.headers);
                    let line = format!("{method} {target}");
                    told.push(Told::Request { line, headers, keep_alive, expect_continue });
                    body = 0;
                }
                ServerEvent::BodyChunk { data } => {
                    assert!(!data.is_empty());
                    body += data.len() as u64;
                    assert!(body <= limits.body_bytes);
                    match told.last_mut() {
                        Some(Told::Body(body)) => body.extend_from_slice(data),
                        _ => told.push(Told::Body(data.to_vec())),
                    }
                }
                ServerEvent::RequestEnd => {
                    told.push(Told::End);
                    assert_eq!(server.unanswered(), 1);
                    respond(&mut server, &mut answers);
                }
                ServerEvent::Error { status } => {
                    assert!(matches!(status, 400 | 413 | 431 | 501 | 505));
                    told.push(Told::Error(status));
                    respond(&mut server, &mut answers);
                    assert!(server.is_finished());
                }
            }
        }
        assert!(bytes.is_empty());
    }
    if input.ends {
        while let Some(event) = server.receive_end() {
            told.push(match event {
                ServerEvent::Error { status } => Told::Error(status),
                other => panic!("{other:?} at the end"),
            });
        }
    }
    let over = told.iter().position(|told| matches!(told, Told::Error(_)));
    assert!(over.is_none_or(|at| at + 1 == told.len()), "nothing follows an error: {told:?}");
    (told, answers)
}

/// The most memory that the connection takes while it swallows all of it, answers unsent.
fn held(input: &Input<'_>, limits: Limits) -> usize {
    let ((), most) = memory::measure(|| {
        let mut server = Server::new(limits);
        for mut bytes in input.bytes.chunks(usize::from(input.pieces[0]).max(1)) {
            while server.receive(&mut bytes).is_some() {}
        }
    });
    most
}

fuzz_target!(|input: Input<'_>| {
    let limits = if input.small_limits { SMALL } else { Limits::DEFAULT };
    let Ok(response) = Response::new(200) else { return };
    let response = response.filler(5, &b"ab"[..]);
    let response = if input.chunked { response.chunked(2) } else { response };
    let rendered = response.render();
    let whole =
        tell(&input, std::iter::once(input.bytes), limits, |server, to| server.respond(&response, to));
    let mut rest = input.bytes;
    // At least one of the four has a length, or it would never end.
    let lengths = input.pieces.map(usize::from);
    let lengths = if lengths == [0; 4] { [0, 1, 0, 1] } else { lengths };
    let pieces = lengths.into_iter().cycle().map_while(|len| {
        let (piece, after) = rest.split_at(len.min(rest.len()));
        (!rest.is_empty()).then(|| {
            rest = after;
            piece
        })
    });
    // Rendered ahead or not, the answers are the same, too.
    assert_eq!(tell(&input, pieces, limits, |server, to| server.respond_rendered(&rendered, to)), whole);
    // A head whose buffer grows, and the list of those that wait for their answers.
    let most = held(&input, limits);
    assert!(most <= 3 * limits.head_bytes + 3 * Server::MAX_UNANSWERED * 4, "{most} bytes held");
});
