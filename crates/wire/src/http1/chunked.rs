//! The chunked transfer coding (RFC 9112, 7.1), decoded in place: data is borrowed from the input, framing is skipped.
//!
//! Chunk extensions and trailer lines are skipped and counted, not held. Line ends within the coding are CRLF; trailer
//! lines, which are header lines, may end in a bare LF, and in answers all lines may: a client passes nothing on to a peer
//! that could read them otherwise.

use memchr::memchr;

use crate::connection::ProtocolError;
use crate::limits::{Limit, Limits};

/// More digits than a 64-bit size has; leading zeros count.
const MAX_DIGITS: u8 = 16;

/// Where in the coding the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// In the digits of a size, `digits` of which were read.
    Size { digits: u8 },
    /// In the white space after the digits.
    Space,
    /// In a chunk extension.
    Extension,
    /// At the LF that ends the size line.
    SizeEnd,
    /// In the data of a chunk.
    Data,
    /// At the CR after the data.
    DataCr,
    /// At the LF after the data.
    DataLf,
    /// At the beginning of a trailer line, or of the empty line that ends it all.
    TrailerStart,
    /// At the LF of the empty line.
    TrailerEnd,
    /// Within a trailer line.
    Trailer,
    /// After the end.
    Over,
}

/// Decodes one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunked {
    at: At,
    /// The size that is being read, then what is left of the chunk.
    left: u64,
    /// Data bytes of all chunks announced so far.
    body: u64,
    /// Extension and trailer bytes so far.
    skipped: u64,
    /// Whether lines may end in a bare LF.
    bare: bool,
}

/// What comes next in a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decoded<'b> {
    /// Some data, never empty.
    Data(&'b [u8]),
    /// All input is consumed, and the end is still to come.
    Partial,
    /// The end.
    End,
    /// The framing is broken.
    Broken(ProtocolError),
    /// It passes one of the limits.
    TooLarge(Limit),
}

impl Chunked {
    /// Of a request.
    pub(super) const fn new() -> Chunked {
        Chunked { at: At::Size { digits: 0 }, left: 0, body: 0, skipped: 0, bare: false }
    }

    /// Of an answer.
    pub(super) const fn of_answer() -> Chunked {
        Chunked { bare: true, ..Chunked::new() }
    }

    /// Reads up to the next piece of data or the end; advances `bytes` over what it consumed.
    pub(super) fn decode<'b>(&mut self, bytes: &mut &'b [u8], limits: &Limits) -> Decoded<'b> {
        while let Some((&byte, rest)) = bytes.split_first() {
            // Each arm consumes this byte, unless it says otherwise.
            let mut after = rest;
            if self.bare && byte == b'\n' {
                // As if a CR had come before.
                self.at = match self.at {
                    At::Size { digits: 1.. } | At::Space | At::Extension => At::SizeEnd,
                    At::DataCr => At::DataLf,
                    at => at,
                };
            }
            self.at = match (self.at, byte) {
                (At::Size { digits }, _) if byte.is_ascii_hexdigit() => {
                    if digits == MAX_DIGITS {
                        return Decoded::Broken(ProtocolError::ChunkSize);
                    }
                    self.left = self.left << 4 | u64::from(hex(byte));
                    At::Size { digits: digits + 1 }
                }
                (At::Size { digits: 0 }, _) => return Decoded::Broken(ProtocolError::ChunkSize),
                (At::Size { .. } | At::Space | At::Extension, b'\r') => At::SizeEnd,
                // Some servers pad the size with spaces to a fixed width.
                (At::Size { .. } | At::Space, b' ' | b'\t') if self.skip(1, limits) => At::Space,
                (At::Size { .. } | At::Space, b';') if self.skip(1, limits) => At::Extension,
                (At::Size { .. } | At::Space, b' ' | b'\t' | b';') => {
                    return Decoded::TooLarge(Limit::Trailers);
                }
                (At::Extension, b'\n' | 0) => return Decoded::Broken(ProtocolError::ChunkSize),
                (At::Extension, _) if self.skip(1, limits) => At::Extension,
                (At::Extension, _) => return Decoded::TooLarge(Limit::Trailers),
                (At::SizeEnd, b'\n') if self.left == 0 => At::TrailerStart,
                (At::SizeEnd, b'\n') => match self.body.checked_add(self.left) {
                    Some(body) if body <= limits.body_bytes => {
                        self.body = body;
                        At::Data
                    }
                    _ => return Decoded::TooLarge(Limit::Body),
                },
                (At::Size { .. } | At::Space | At::SizeEnd, _) => {
                    return Decoded::Broken(ProtocolError::ChunkSize);
                }
                (At::Data, _) => {
                    let len = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
                    let (data, rest) = bytes.split_at(len);
                    self.left -= len as u64;
                    if self.left == 0 {
                        self.at = At::DataCr;
                    }
                    *bytes = rest;
                    return Decoded::Data(data);
                }
                (At::DataCr, b'\r') => At::DataLf,
                (At::DataLf, b'\n') => At::Size { digits: 0 },
                (At::DataCr | At::DataLf, _) => return Decoded::Broken(ProtocolError::ChunkEnd),
                (At::TrailerStart, b'\r') => At::TrailerEnd,
                (At::TrailerStart, b'\n') | (At::TrailerEnd, b'\n') => At::Over,
                (At::TrailerEnd, _) => return Decoded::Broken(ProtocolError::Trailer),
                (At::TrailerStart | At::Trailer, _) => {
                    let newline = memchr(b'\n', bytes);
                    let len = newline.map_or(bytes.len(), |at| at + 1);
                    if !self.skip(len as u64, limits) {
                        return Decoded::TooLarge(Limit::Trailers);
                    }
                    after = &bytes[len..];
                    if newline.is_some() { At::TrailerStart } else { At::Trailer }
                }
                (At::Over, _) => return Decoded::End,
            };
            *bytes = after;
            if self.at == At::Over {
                return Decoded::End;
            }
        }
        Decoded::Partial
    }

    /// Counts bytes that are skipped; false if they are too many.
    fn skip(&mut self, bytes: u64, limits: &Limits) -> bool {
        self.skipped = self.skipped.saturating_add(bytes);
        self.skipped <= limits.trailer_bytes
    }
}

const fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { head_bytes: 0, headers: 0, body_bytes: 40, trailer_bytes: 12 };

    /// Data, how it ended, and what was left over; the input cut at `cut`.
    fn decode(input: &[u8], cut: usize) -> (Vec<u8>, Decoded<'static>, Vec<u8>) {
        decode_by(Chunked::new(), input, cut)
    }

    fn decode_by(mut chunked: Chunked, input: &[u8], cut: usize) -> (Vec<u8>, Decoded<'static>, Vec<u8>) {
        let mut data = Vec::new();
        let (a, b) = input.split_at(cut);
        for (mut bytes, after) in [(a, b), (b, &b""[..])] {
            let end = loop {
                match chunked.decode(&mut bytes, &LIMITS) {
                    Decoded::Data(piece) => data.extend_from_slice(piece),
                    Decoded::Partial => break None,
                    Decoded::End => break Some(Decoded::End),
                    Decoded::Broken(error) => break Some(Decoded::Broken(error)),
                    Decoded::TooLarge(limit) => break Some(Decoded::TooLarge(limit)),
                }
            };
            if let Some(end) = end {
                return (data, end, [bytes, after].concat());
            }
        }
        (data, Decoded::Partial, Vec::new())
    }

    #[test]
    fn bodies_are_decoded_at_any_split() {
        use Decoded::{Broken, End, Partial, TooLarge};
        use ProtocolError::{ChunkEnd, ChunkSize, Trailer};
        for (input, data, end) in [
            ("0\r\n\r\n", "", End),
            ("3\r\nabc\r\n0\r\n\r\n", "abc", End),
            ("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", "abc0123456789", End),
            ("a;x=y\r\n0123456789\r\n00\r\n\r\n", "0123456789", End),
            ("3  ;x\r\nabc\r\n0 \r\n\r\n", "abc", End),
            ("0000000000000001\r\na\r\n0\r\n\r\n", "a", End),
            ("0\r\nA: b\r\nC: d\r\n\r\n", "", End),
            ("0\r\nA: b\nC: d\n\n", "", End),
            (
                "28\r\n0123456789012345678901234567890123456789\r\n0\r\n\r\n",
                "0123456789012345678901234567890123456789",
                End,
            ),
            ("3\r\nab", "ab", Partial),
            ("3\r\nabc\r\n0\r\nA: b\r\n", "abc", Partial),
            ("\r\n", "", Broken(ChunkSize)),
            (";x\r\n", "", Broken(ChunkSize)),
            ("g\r\n", "", Broken(ChunkSize)),
            ("-1\r\n", "", Broken(ChunkSize)),
            ("0x1\r\n", "", Broken(ChunkSize)),
            ("1 1\r\n", "", Broken(ChunkSize)),
            ("1\nab", "", Broken(ChunkSize)),
            ("1;a\nab", "", Broken(ChunkSize)),
            ("1\r\r\nab", "", Broken(ChunkSize)),
            ("00000000000000001\r\n", "", Broken(ChunkSize)),
            ("3\r\nabcd\r\n", "abc", Broken(ChunkEnd)),
            ("3\r\nabc\n0\r\n\r\n", "abc", Broken(ChunkEnd)),
            ("3\r\nabc\rx", "abc", Broken(ChunkEnd)),
            ("0\r\n\rx", "", Broken(Trailer)),
            ("29\r\n", "", TooLarge(Limit::Body)),
            ("ffffffffffffffff\r\n", "", TooLarge(Limit::Body)),
            ("1\r\na\r\nffffffffffffffff\r\n", "a", TooLarge(Limit::Body)),
            (
                "20\r\n01234567890123456789012345678901\r\n9\r\n",
                "01234567890123456789012345678901",
                TooLarge(Limit::Body),
            ),
            ("1;34567890123\r\na\r\n0\r\n\r\n", "a", End),
            ("1;345678901234\r\n", "", TooLarge(Limit::Trailers)),
            ("1            \r\na\r\n0\r\n\r\n", "a", End),
            ("1             \r\n", "", TooLarge(Limit::Trailers)),
            ("0\r\nA: 4567890\r\n\r\n", "", End),
            ("0\r\nA: 45678901\r\n\r\n", "", TooLarge(Limit::Trailers)),
            ("0\r\nA: 4567890123456", "", TooLarge(Limit::Trailers)),
        ] {
            for cut in 0..=input.len() {
                let got = decode(input.as_bytes(), cut);
                assert_eq!((&got.0[..], got.1), (data.as_bytes(), end), "{input:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn lines_of_answers_may_end_in_a_bare_line_feed() {
        use Decoded::{Broken, End};
        use ProtocolError::{ChunkEnd, ChunkSize};
        for (input, data, end) in [
            ("5\nhello\n0\n\n", "hello", End),
            ("5 \nhello\r\n0;x\n\r\n", "hello", End),
            ("2;a=b\nhi\n0\nA: b\n\n", "hi", End),
            ("\n", "", Broken(ChunkSize)),
            ("1\nab", "a", Broken(ChunkEnd)),
            ("1\r\r\nab", "", Broken(ChunkSize)),
            ("3\r\nabc\rx", "abc", Broken(ChunkEnd)),
        ] {
            for cut in 0..=input.len() {
                let got = decode_by(Chunked::of_answer(), input.as_bytes(), cut);
                assert_eq!((&got.0[..], got.1), (data.as_bytes(), end), "{input:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn nothing_after_the_end_is_consumed() {
        for cut in 0..=9 {
            assert_eq!(decode(b"0\r\n\r\nHTTP", cut).2, b"HTTP");
        }
    }
}
