//! One client's connection to the calibrated target, in the version of HTTP that its first bytes show.

use super::state::{Answer, Asked};
use headway_base::Nanos;
use headway_base::pieces::{Coming, Pieces};
use headway_wire::http1::{self, Rendered, Response};
use headway_wire::{Head, Limits, StreamId, http2};
use std::collections::VecDeque;

/// The response to a request.
#[derive(Debug)]
pub(super) enum Reply {
    Ok,
    /// In pieces, those that are to come; of one that has begun what is sent.
    Pieces {
        coming: Coming,
        sending: Option<Sending>,
    },
    State(Answer),
    Failed,
    Full,
    Malformed(u16),
}

/// An answer in pieces that has begun.
#[derive(Debug)]
pub(super) enum Sending {
    One(http1::InPieces),
    Two(http2::server::InPieces),
}

/// What comes in pieces, as each version has it.
#[derive(Debug)]
pub(super) struct InPieces {
    /// Bytes of a piece.
    bytes: u64,
    http1: Response,
    http2: http2::server::Answer,
    piece: http2::server::Piece,
}

impl InPieces {
    /// So many pieces of that many bytes.
    pub(super) fn of(response: Response, bytes: u64, count: u32) -> InPieces {
        let filler = b"headway ";
        let piece: Vec<u8> = filler.iter().copied().cycle().take(bytes as usize).collect();
        InPieces {
            bytes,
            http2: http2::server::Answer::head_of(&response),
            http1: response.filler(bytes * u64::from(count), &filler[..]).chunked(bytes),
            piece: piece.into(),
        }
    }
}

/// An answer that is the same for all, as each version has it.
#[derive(Debug)]
pub(super) struct Fixed {
    http1: Rendered,
    http2: http2::server::Answer,
}

impl Fixed {
    pub(super) fn of(response: &Response) -> Fixed {
        Fixed { http1: response.render(), http2: http2::server::Answer::of(response) }
    }
}

/// What a connection speaks.
#[derive(Debug)]
enum Http {
    /// As long as its bytes are those of HTTP/2's preface: how many have come.
    Unknown(usize),
    One(http1::Server),
    Two(Box<http2::Server>),
}

/// What came on a connection.
pub(super) enum Event<'a> {
    /// The head of a request.
    Request { stream: StreamId, method: &'a str, target: &'a str, head: Head<'a>, expect_continue: bool },
    /// A piece of its body.
    Chunk { stream: StreamId, data: &'a [u8] },
    /// It is complete.
    End { stream: StreamId },
    /// It will not be.
    Reset { stream: StreamId },
    /// What came cannot be understood, and nothing more will be: answer with this status and close.
    Malformed(u16),
}

/// The only stream of HTTP/1.1.
const STREAM: StreamId = StreamId(0);

#[derive(Debug)]
pub(super) struct Connection {
    /// Number of the connection, from 0.
    pub(super) number: u64,
    http: Http,
    /// Answers to come, by number of departure, in order in HTTP/1.1.
    pub(super) replies: VecDeque<(u64, StreamId, Reply)>,
    pub(super) last_departure: Nanos,
    pub(super) continue_wanted: bool,
    /// What the requests under way ask of a target with state.
    asked: Vec<(StreamId, Asked)>,
    /// The client sends no more.
    pub(super) ended: bool,
}

impl Connection {
    pub(super) fn new(number: u64) -> Connection {
        Connection {
            number,
            http: Http::Unknown(0),
            replies: VecDeque::new(),
            last_departure: Nanos::ZERO,
            continue_wanted: false,
            asked: Vec::new(),
            ended: false,
        }
    }

    /// Whether answers leave in the order of their requests.
    pub(super) fn is_in_order(&self) -> bool {
        matches!(self.http, Http::One(_))
    }

    /// Settles which version is spoken, by the first bytes; what is to be read in place of them.
    pub(super) fn begin<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Http::Unknown(had) = self.http else { return bytes };
        let preface = http2::PREFACE;
        let shared = preface[had..].iter().zip(bytes).take_while(|(a, b)| a == b).count();
        if shared == bytes.len() && had + shared < preface.len() {
            self.http = Http::Unknown(had + shared);
            return &[];
        }
        // What was held back is the beginning of the preface.
        let held = &preface[..had];
        if had + shared == preface.len() {
            let mut server = Box::new(http2::Server::new(Limits::DEFAULT));
            // The preface holds no request.
            let _ = server.receive(&mut &held[..]);
            self.http = Http::Two(server);
        } else {
            let mut server = http1::Server::new(Limits::DEFAULT);
            // Nor does its beginning, in HTTP/1.1.
            let _ = server.receive(&mut &held[..]);
            self.http = Http::One(server);
        }
        bytes
    }

    /// Reads up to the next event; advances `bytes` over what it read. Call it until it returns none.
    pub(super) fn receive<'a, 'b: 'a>(&'a mut self, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        use http1::ServerEvent as One;
        use http2::server::ServerEvent as Two;
        match &mut self.http {
            Http::Unknown(_) => None,
            Http::One(server) => Some(match server.receive(bytes)? {
                One::Request { expect_continue, method, target, head, .. } => {
                    Event::Request { stream: STREAM, method, target, head, expect_continue }
                }
                One::BodyChunk { data } => Event::Chunk { stream: STREAM, data },
                One::RequestEnd => Event::End { stream: STREAM },
                One::Error { status } => Event::Malformed(status),
            }),
            Http::Two(server) => Some(match server.receive(bytes)? {
                Two::Request { stream, method, target, head } => {
                    Event::Request { stream, method, target, head, expect_continue: false }
                }
                Two::BodyChunk { stream, data } => Event::Chunk { stream, data },
                Two::RequestEnd { stream } => Event::End { stream },
                Two::Reset { stream } => Event::Reset { stream },
            }),
        }
    }

    /// A request begins, and asks this of the state.
    pub(super) fn ask(&mut self, stream: StreamId, asked: Asked) {
        self.asked.push((stream, asked));
    }

    /// What the request of that stream asks of the state.
    pub(super) fn asked(&mut self, stream: StreamId) -> Option<&mut Asked> {
        self.asked.iter_mut().find(|(of, _)| *of == stream).map(|(_, asked)| asked)
    }

    /// The same, which is done with.
    pub(super) fn take_asked(&mut self, stream: StreamId) -> Option<Asked> {
        let at = self.asked.iter().position(|(of, _)| *of == stream)?;
        Some(self.asked.swap_remove(at).1)
    }

    /// What requests that are not complete ask of the state.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().map(|(_, asked)| asked)
    }

    /// Answers as all such requests are answered; false if the client has given it up.
    pub(super) fn respond_fixed(&mut self, stream: StreamId, fixed: &Fixed, out: &mut Vec<u8>) -> bool {
        match &mut self.http {
            Http::Unknown(_) => false,
            Http::One(server) => {
                server.respond_rendered(&fixed.http1, out);
                true
            }
            Http::Two(server) => server.respond(stream, &fixed.http2),
        }
    }

    /// Sends the next piece of the answer in that place; after how long the next is due. None: that was the last, or nothing more is wanted,
    /// and then some are left.
    pub(super) fn send_piece(
        &mut self,
        place: usize,
        what: &InPieces,
        laws: &Pieces,
        out: &mut Vec<u8>,
    ) -> Option<Nanos> {
        let (_, stream, Reply::Pieces { coming, sending }) = self.replies.get_mut(place)? else {
            return None;
        };
        if sending.is_none() {
            *sending = match &mut self.http {
                Http::Unknown(_) => None,
                Http::One(server) => server.respond_begun(&what.http1, out).map(Sending::One),
                Http::Two(server) => server.respond_begun(*stream, &what.http2).map(Sending::Two),
            };
        }
        let mut rest = coming.clone();
        let gap = rest.next(laws);
        let wanted = match (sending.as_mut()?, &mut self.http) {
            (Sending::One(of), _) => {
                let more = http1::Server::respond_piece(of, &what.http1, what.bytes, out);
                // To HEAD the head is the whole answer.
                if !more {
                    coming.end();
                }
                more
            }
            (Sending::Two(of), Http::Two(server)) => {
                if of.is_whole() {
                    coming.end();
                }
                server.respond_piece(of, &what.piece, gap.is_none())
            }
            _ => false,
        };
        if !wanted || gap.is_none() {
            return None;
        }
        *coming = rest;
        gap
    }

    /// Answers; false if the client has given it up.
    pub(super) fn respond(&mut self, stream: StreamId, response: &Response, out: &mut Vec<u8>) -> bool {
        match &mut self.http {
            Http::Unknown(_) => false,
            Http::One(server) => {
                server.respond(response, out);
                true
            }
            Http::Two(server) => server.respond(stream, &http2::server::Answer::of(response)),
        }
    }

    /// Appends what the connection has to say by itself; false if that is nothing.
    pub(super) fn transmit(&mut self, out: &mut Vec<u8>) -> bool {
        match &mut self.http {
            Http::Two(server) => server.poll_transmit(out),
            _ => false,
        }
    }

    /// Appends `100 Continue` if it is wanted.
    pub(super) fn send_continue(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.continue_wanted)
            && let Http::One(server) = &mut self.http
        {
            server.send_continue(out);
        }
    }

    /// Whether nothing more will be received or answered.
    pub(super) fn is_finished(&self) -> bool {
        match &self.http {
            Http::Unknown(_) => false,
            Http::One(server) => server.is_finished(),
            Http::Two(server) => server.is_finished(),
        }
    }
}
