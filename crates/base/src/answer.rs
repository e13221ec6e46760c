//! Where the answer to a request of plain bytes ends, or which datagram it is.

use crate::units::{UnitError, parse_size};
use std::fmt;
use std::sync::Arc;

/// What ends an answer over TCP, and which datagram is the answer over UDP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It ends with these bytes, at least one.
    Until(Arc<[u8]>),
    /// It is that many bytes long, at least 1.
    Bytes(u64),
    /// It begins with its length, which does not count itself: 1, 2, 4 or 8 bytes.
    Length {
        /// Bytes of the length.
        width: u8,
        /// Whether its lowest byte comes first.
        little: bool,
    },
    /// It is one value of Redis' protocol (RESP2, RESP3).
    Resp,
    /// It ends with the connection.
    Close,
    /// The datagram that has the request's number at this place, where the number is written into the request.
    Match(Field),
    /// The next datagram. A socket then carries one request at a time.
    Next,
    /// There is none: a request ends when it was handed to the system.
    None,
}

/// A number in a datagram: big-endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Bytes before it.
    pub offset: u16,
    /// Bytes of it, 1 to 8.
    pub width: u8,
}

impl Field {
    /// Where datagrams of our own have their sequence number.
    pub const SEQUENCE: Field = Field { offset: 0, width: 8 };

    /// How many numbers it tells apart; 2^63 stands for more.
    pub const fn numbers(self) -> u64 {
        if self.width >= 8 { 1 << 63 } else { 1 << (8 * self.width as u32) }
    }

    /// Where it ends, in bytes.
    pub const fn end(self) -> usize {
        self.offset as usize + self.width as usize
    }
}

const WANTED: &str = "where a response ends: write until:\\r\\n, bytes:16, length:4 (length:4le), resp, close, match:0+8 (a number of 8 bytes at offset 0), next or none";

impl Answer {
    /// Reads `until:TEXT` (with `\r`, `\n`, `\t`, `\0`, `\\` and `\xHH`), `bytes:N`, `length:W` or `length:Wle`, `resp`, `close`,
    /// `match:OFFSET+WIDTH`, `next` or `none`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Answer, UnitError> {
        let bad = || UnitError::new(text, WANTED);
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        Ok(match (kind, rest) {
            ("resp", None) => Answer::Resp,
            ("close", None) => Answer::Close,
            ("next", None) => Answer::Next,
            ("none", None) => Answer::None,
            ("until", Some(rest)) => match unescaped(rest) {
                Some(bytes) if !bytes.is_empty() => Answer::Until(bytes.into()),
                _ => return Err(bad()),
            },
            ("bytes", Some(rest)) => {
                Answer::Bytes(parse_size(rest).ok().filter(|&bytes| bytes > 0).ok_or_else(bad)?)
            }
            ("length", Some(rest)) => {
                let (digits, little) = rest.strip_suffix("le").map_or((rest, false), |digits| (digits, true));
                let width = digits.parse().ok().filter(|width| matches!(width, 1 | 2 | 4 | 8));
                Answer::Length { width: width.ok_or_else(bad)?, little }
            }
            ("match", Some(rest)) => {
                let (offset, width) = rest.split_once('+').ok_or_else(bad)?;
                let width = width.parse().ok().filter(|width| (1..=8).contains(width)).ok_or_else(bad)?;
                Answer::Match(Field { offset: offset.parse().map_err(|_| bad())?, width })
            }
            _ => return Err(bad()),
        })
    }
}

/// As it is written.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Until(bytes) => {
                f.write_str("until:")?;
                bytes.iter().try_for_each(|&byte| match byte {
                    b'\r' => f.write_str("\\r"),
                    b'\n' => f.write_str("\\n"),
                    b'\t' => f.write_str("\\t"),
                    b'\\' => f.write_str("\\\\"),
                    0x20..=0x7e => write!(f, "{}", char::from(byte)),
                    other => write!(f, "\\x{other:02x}"),
                })
            }
            Answer::Bytes(bytes) => write!(f, "bytes:{bytes}"),
            Answer::Length { width, little } => {
                write!(f, "length:{width}{}", if *little { "le" } else { "" })
            }
            Answer::Resp => f.write_str("resp"),
            Answer::Close => f.write_str("close"),
            Answer::Match(Field { offset, width }) => write!(f, "match:{offset}+{width}"),
            Answer::Next => f.write_str("next"),
            Answer::None => f.write_str("none"),
        }
    }
}

/// The bytes that a text with escapes stands for; none where an escape is none.
pub fn unescaped(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let mut chars = rest[at + 1..].chars();
        let (byte, long) = match chars.next()? {
            'r' => (b'\r', 1),
            'n' => (b'\n', 1),
            't' => (b'\t', 1),
            '0' => (0, 1),
            '\\' => (b'\\', 1),
            'x' => (u8::from_str_radix(rest.get(at + 2..at + 4)?, 16).ok()?, 3),
            _ => return None,
        };
        out.push(byte);
        rest = &rest[at + 1 + long..];
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "until:\\r\\n",
            "until:\\\\x41",
            "until:\\xff\\x00a",
            "until: ",
            "bytes:16",
            "length:4",
            "length:2le",
            "resp",
            "close",
            "match:0+8",
            "match:12+2",
            "next",
            "none",
        ] {
            assert_eq!(Answer::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Answer::parse("until:\\0é").unwrap(),
            Answer::Until([&[0], "é".as_bytes()].concat().into())
        );
        assert_eq!(Answer::parse("bytes:1KiB").unwrap(), Answer::Bytes(1024));
        assert_eq!(Answer::parse("match:2+1").unwrap(), Answer::Match(Field { offset: 2, width: 1 }));
    }

    #[test]
    fn what_is_no_answer_says_what_would_be() {
        for bad in [
            "",
            "until",
            "until:",
            "until:\\",
            "until:\\q",
            "until:\\x4",
            "until:\\xzz",
            "until:\\xé",
            "bytes:0",
            "bytes:",
            "bytes:-1",
            "length:3",
            "length:",
            "length:4be",
            "match:8",
            "match:0+0",
            "match:0+9",
            "match:70000+1",
            "match:-1+2",
            "none:",
            "resp:2",
            "all",
        ] {
            let error = Answer::parse(bad).unwrap_err().to_string();
            assert!(error.contains("until:\\r\\n"), "{bad}: {error}");
        }
    }

    #[test]
    fn numbers_of_a_field() {
        assert_eq!(Field { offset: 0, width: 1 }.numbers(), 256);
        assert_eq!(Field { offset: 0, width: 7 }.numbers(), 1 << 56);
        assert_eq!((Field::SEQUENCE.numbers(), Field::SEQUENCE.end()), (1 << 63, 8));
    }
}
