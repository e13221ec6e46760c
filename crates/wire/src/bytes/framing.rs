//! Where an answer ends, found as its bytes come.

use crate::connection::ProtocolError;
use headway_base::Answer;
use memchr::memchr;
use std::sync::Arc;

/// How far an answer has come.
#[derive(Debug)]
pub(super) enum Framing {
    /// It ends with `mark`, of which the last `matched` bytes were the beginning.
    Until { mark: Arc<[u8]>, matched: usize },
    /// That many bytes are due.
    Left(u64),
    /// Its length is being read.
    Length { left: u8, little: bool, read: u32, value: u64 },
    /// One value of Redis' protocol.
    Resp(Resp),
    /// It ends with the connection.
    Close,
    /// There is none.
    Nothing,
}

/// A piece of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// How much of what came belongs to it.
    pub(super) bytes: usize,
    /// Whether that was the last of it.
    pub(super) over: bool,
}

impl Framing {
    pub(super) fn of(answer: &Answer) -> Framing {
        match answer {
            Answer::Until(mark) => Framing::Until { mark: mark.clone(), matched: 0 },
            Answer::Bytes(bytes) => Framing::Left(*bytes),
            Answer::Length { width, little } => {
                Framing::Length { left: *width, little: *little, read: 0, value: 0 }
            }
            Answer::Resp => Framing::Resp(Resp::default()),
            Answer::None => Framing::Nothing,
            Answer::Close | Answer::Match(_) | Answer::Next => Framing::Close,
        }
    }

    /// Bytes that the answer says are still to come.
    pub(super) fn announces(&self) -> u64 {
        match self {
            Framing::Left(left) => *left,
            Framing::Resp(resp) => resp.text,
            _ => 0,
        }
    }

    /// Goes over what came, not empty, up to the end of the answer.
    ///
    /// # Errors
    /// Bytes that the protocol of the answer does not allow.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Part, ProtocolError> {
        let all = Part { bytes: bytes.len(), over: false };
        Ok(match self {
            Framing::Close | Framing::Nothing => all,
            Framing::Resp(resp) => {
                let end = resp.take(bytes).map_err(ProtocolError::Resp)?;
                end.map_or(all, |end| Part { bytes: end, over: true })
            }
            Framing::Left(left) => {
                let taken = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                Part { bytes: taken, over: *left == 0 }
            }
            Framing::Until { mark, matched } => {
                let end = find(bytes, mark, matched);
                end.map_or(all, |end| Part { bytes: end, over: true })
            }
            Framing::Length { left, little, read, value } => {
                let taken = bytes.len().min(usize::from(*left));
                for &byte in &bytes[..taken] {
                    match little {
                        true => *value |= u64::from(byte) << (8 * *read),
                        false => *value = *value << 8 | u64::from(byte),
                    }
                    *read += 1;
                }
                *left -= taken as u8;
                let (left, value) = (*left, *value);
                if left == 0 {
                    *self = Framing::Left(value);
                }
                Part { bytes: taken, over: left == 0 && value == 0 }
            }
        })
    }
}

/// How far a value of Redis' protocol has come (RESP2 and RESP3; https://redis.io/docs/latest/develop/reference/protocol-spec).
///
/// A value begins with its kind and a line that ends with CR LF. Texts follow the line that says their length; lists have their values
/// behind the line that says how many. Lengths that are not known ahead (`$?`, which no server sends unasked) are refused.
#[derive(Debug, Default)]
pub(super) struct Resp {
    /// Values that are due after the one at hand, of lists that have begun.
    after: u64,
    /// The kind of the value whose line is being read; none before its first byte.
    kind: Option<u8>,
    line: Line,
    /// Bytes of a text that are still due, its CR LF among them.
    text: u64,
}

/// What the line of a value has said so far, behind its kind.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Bytes of it, its CR not among them.
    length: u64,
    first: u8,
    digits: u64,
    /// What the digits come to.
    number: u64,
    /// Whether its last byte was CR.
    returned: bool,
}

impl Line {
    /// One more byte; whether it ends the line.
    fn take(&mut self, byte: u8) -> Result<bool, &'static str> {
        match byte {
            b'\n' if self.returned => return Ok(true),
            b'\n' => return Err("a line that ends without CR"),
            _ if self.returned => return Err("a CR without LF"),
            b'\r' => self.returned = true,
            _ => {
                if self.length == 0 {
                    self.first = byte;
                }
                self.length = self.length.saturating_add(1);
                if byte.is_ascii_digit() {
                    self.digits += 1;
                    self.number = self.number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                }
            }
        }
        Ok(false)
    }

    /// The length that it says; none of -1, which stands for no value.
    fn length(self, may_lack: bool) -> Result<Option<u64>, &'static str> {
        match self {
            Line { digits, length, number, .. } if digits > 0 && digits == length => Ok(Some(number)),
            Line { length: 2, first: b'-', digits: 1, number: 1, .. } if may_lack => Ok(None),
            _ => Err("a length that is no number"),
        }
    }

    fn is_integer(self) -> bool {
        let sign = u64::from(matches!(self.first, b'+' | b'-'));
        self.digits > 0 && self.digits + sign == self.length
    }
}

impl Resp {
    /// Where the value ends in what came, if it does.
    ///
    /// # Errors
    /// What makes these bytes none of the protocol.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<usize>, &'static str> {
        let mut at = 0;
        while at < bytes.len() {
            if self.text > 2 {
                let taken = (bytes.len() - at).min(usize::try_from(self.text - 2).unwrap_or(usize::MAX));
                (self.text, at) = (self.text - taken as u64, at + taken);
                continue;
            }
            let byte = bytes[at];
            at += 1;
            let over = match (self.text, self.kind) {
                (0, None) => {
                    if !b"+-:$*_#,(!=%~>|".contains(&byte) {
                        return Err("a byte that begins no value");
                    }
                    (self.kind, self.line) = (Some(byte), Line::default());
                    false
                }
                (0, Some(kind)) => self.line.take(byte)? && self.line(kind)?,
                (left, _) => {
                    if byte != if left == 2 { b'\r' } else { b'\n' } {
                        return Err("a text that does not end where its length says");
                    }
                    self.text = left - 1;
                    left == 1 && self.ends_one()
                }
            };
            if over {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// A line has ended; whether the whole value has.
    fn line(&mut self, kind: u8) -> Result<bool, &'static str> {
        let line = self.line;
        Ok(match kind {
            b'$' | b'!' | b'=' => match line.length(kind == b'$')? {
                Some(length) => {
                    (self.kind, self.text) = (None, length.saturating_add(2));
                    false
                }
                None => self.ends_one(),
            },
            b'*' | b'~' | b'>' => self.ends_with(line.length(kind == b'*')?.unwrap_or(0)),
            b'%' => self.ends_with(line.length(false)?.unwrap_or(0).saturating_mul(2)),
            // What an attribute says comes before the value that it is about.
            b'|' => {
                let pairs = line.length(false)?.unwrap_or(0);
                self.kind = None;
                self.after = self.after.saturating_add(pairs.saturating_mul(2));
                false
            }
            b':' | b'(' if !line.is_integer() => return Err("an integer that is none"),
            b'_' if line.length > 0 => return Err("a null with a value"),
            b'#' if line.length != 1 || !matches!(line.first, b't' | b'f') => {
                return Err("a boolean that is none");
            }
            b',' if line.length == 0 => return Err("a number without digits"),
            _ => self.ends_one(),
        })
    }

    /// A list has begun, of that many values.
    fn ends_with(&mut self, values: u64) -> bool {
        self.after = self.after.saturating_add(values);
        self.ends_one()
    }

    fn ends_one(&mut self) -> bool {
        self.kind = None;
        match self.after.checked_sub(1) {
            Some(after) => {
                self.after = after;
                false
            }
            None => true,
        }
    }
}

/// Where the first `mark` in what has come ends, if it is there; `matched` bytes of one came before `bytes`.
fn find(bytes: &[u8], mark: &[u8], matched: &mut usize) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        if *matched == 0 {
            match memchr(mark[0], &bytes[at..]) {
                None => return None,
                Some(ahead) => at += ahead,
            }
        }
        // The longest beginning of the mark that what has come ends with.
        while *matched > 0 && mark[*matched] != bytes[at] {
            *matched = border(mark, *matched);
        }
        if mark[*matched] == bytes[at] {
            *matched += 1;
        }
        at += 1;
        if *matched == mark.len() {
            return Some(at);
        }
    }
    None
}

/// The longest proper beginning of the first `length` bytes that they also end with. Marks are short.
fn border(mark: &[u8], length: usize) -> usize {
    (0..length).rev().find(|&shorter| mark[..shorter] == mark[length - shorter..length]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What an answer's end is when its bytes come in those pieces.
    fn end(answer: &Answer, bytes: &[u8], piece: usize) -> Option<usize> {
        let (mut framing, mut at) = (Framing::of(answer), 0);
        for mut piece in bytes.chunks(piece) {
            while !piece.is_empty() {
                let part = framing.take(piece).unwrap();
                (at, piece) = (at + part.bytes, &piece[part.bytes..]);
                if part.over {
                    return Some(at);
                }
            }
        }
        None
    }

    proptest! {
        #[test]
        fn a_mark_is_found_however_the_bytes_are_cut(
            bytes in prop::collection::vec(0u8..3, 1..60),
            mark in prop::collection::vec(0u8..3, 1..6),
            piece in 1usize..9,
        ) {
            let at = bytes.windows(mark.len()).position(|window| window == mark);
            let found = end(&Answer::Until(mark.clone().into()), &bytes, piece);
            prop_assert_eq!(found, at.map(|at| at + mark.len()));
        }

        #[test]
        fn a_value_of_redis_is_read_however_the_bytes_are_cut(piece in 1usize..9) {
            for whole in [
                "+PONG\r\n", "-ERR wrong 2\r\n", ":-7\r\n", "$5\r\nhello\r\n", "$0\r\n\r\n", "$-1\r\n", "$4\r\n\r\n\r\n\r\n", "*0\r\n", "*-1\r\n",
                "*2\r\n$3\r\nget\r\n*2\r\n:1\r\n$-1\r\n", "*3\r\n*0\r\n*1\r\n+a\r\n-b 1\r\n", "_\r\n", "#t\r\n", ",1.25\r\n",
                "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", "~1\r\n$1\r\nx\r\n", "=7\r\ntxt:a\rb\r\n", "|1\r\n+ttl\r\n:9\r\n*1\r\n:1\r\n",
            ] {
                let bytes = [whole.as_bytes(), b"+more\r\n"].concat();
                prop_assert_eq!(end(&Answer::Resp, &bytes, piece), Some(whole.len()), "{}", whole);
                for cut in 0..whole.len() {
                    prop_assert_eq!(end(&Answer::Resp, &bytes[..cut], piece), None, "{} at {}", whole, cut);
                }
            }
        }

        #[test]
        fn what_is_no_value_of_redis_is_refused_however_the_bytes_are_cut(piece in 1usize..9) {
            for wrong in [
                "\u{80}\u{81}junk\r\n", "$-2\r\n", "$-1x\r\n", "$\r\n\r\n", "$5\r\nhelloXX", "$5\r\nhello\rX", "$five\r\n", "$?\r\n", "*-2\r\n", "*x\r\n",
                "*2\r\n+a\r\njunk", "+PONG\n", "+PO\rNG\r\n", ":seven\r\n", ":\r\n", ":1-\r\n", "#x\r\n", "_x\r\n", ",\r\n", "%-1\r\n", "HTTP/1.1 200 OK\r\n",
                "\r\n", "!-1\r\n",
            ] {
                let mut framing = Framing::of(&Answer::Resp);
                let mut parts = wrong.as_bytes().chunks(piece).map(|piece| framing.take(piece));
                let refused = parts.any(|part| matches!(part, Err(ProtocolError::Resp(_))));
                prop_assert!(refused, "{:?}", wrong);
            }
        }

        /// Lengths beyond all bounds neither overflow nor take memory.
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(prop::sample::select(b"+-:$*%|019\r\nx".to_vec()), 1..200)) {
            let (mut framing, mut rest) = (Framing::of(&Answer::Resp), &bytes[..]);
            while !rest.is_empty() {
                let Ok(part) = framing.take(rest) else { break };
                prop_assert!(part.bytes > 0);
                rest = &rest[part.bytes..];
                if part.over {
                    break;
                }
            }
        }

        #[test]
        fn a_length_is_read_however_the_bytes_are_cut(length in 0usize..300, piece in 1usize..9, little: bool) {
            let prefix = if little { (length as u16).to_le_bytes() } else { (length as u16).to_be_bytes() };
            let bytes = [&prefix[..], &vec![7; length], &[1, 2]].concat();
            prop_assert_eq!(end(&Answer::Length { width: 2, little }, &bytes, piece), Some(length + 2));
            prop_assert_eq!(end(&Answer::Bytes(length as u64 + 1), &bytes, piece), Some(length + 1));
        }
    }
}
