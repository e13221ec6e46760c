//! Where an answer ends, found as its bytes come.

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
    pub(super) fn take(&mut self, bytes: &[u8]) -> Part {
        let all = Part { bytes: bytes.len(), over: false };
        match self {
            Framing::Close | Framing::Nothing => all,
            Framing::Resp(resp) => resp.take(bytes).map_or(all, |end| Part { bytes: end, over: true }),
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
        }
    }
}

/// How far a value of Redis' protocol has come (RESP2 and RESP3; https://redis.io/docs/latest/develop/reference/protocol-spec).
///
/// A value begins with its kind and a line that ends with CR LF. Texts follow the line that says their length; lists have their values
/// behind the line that says how many. A kind that is not known is a line.
#[derive(Debug, Default)]
pub(super) struct Resp {
    /// Values that are due after the one at hand, of lists that have begun.
    after: u64,
    /// The kind of the value whose line is being read; none before its first byte.
    kind: Option<u8>,
    /// The number that the line has said; none of a negative one, which stands for no value.
    number: Option<u64>,
    /// Whether the last byte of the line was CR.
    returned: bool,
    /// Bytes of a text that are still due, its CR LF among them.
    text: u64,
}

impl Resp {
    /// Where the value ends in what came, if it does.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.text > 0 {
                let taken = (bytes.len() - at).min(usize::try_from(self.text).unwrap_or(usize::MAX));
                (self.text, at) = (self.text - taken as u64, at + taken);
                if self.text == 0 && self.ends_one() {
                    return Some(at);
                }
                continue;
            }
            let byte = bytes[at];
            at += 1;
            match (self.kind, byte) {
                (None, kind) => (self.kind, self.number) = (Some(kind), Some(0)),
                (Some(kind), b'\n') if self.returned => {
                    let over = self.line(kind);
                    if over {
                        return Some(at);
                    }
                }
                (_, digit @ b'0'..=b'9') => {
                    let more = |n: u64| n.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
                    self.number = self.number.map(more);
                }
                (_, b'-') => self.number = None,
                _ => {}
            }
            self.returned = byte == b'\r';
        }
        None
    }

    /// A line has ended; whether the whole value has.
    fn line(&mut self, kind: u8) -> bool {
        let number = self.number.unwrap_or(0);
        match kind {
            b'$' | b'!' | b'=' if self.number.is_some() => {
                (self.kind, self.text) = (None, number.saturating_add(2));
                false
            }
            b'*' | b'~' | b'>' => self.ends_with(number),
            b'%' => self.ends_with(number.saturating_mul(2)),
            // What an attribute says comes before the value that it is about.
            b'|' => {
                self.kind = None;
                self.after = self.after.saturating_add(number.saturating_mul(2));
                false
            }
            _ => self.ends_one(),
        }
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
                let part = framing.take(piece);
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
        fn a_length_is_read_however_the_bytes_are_cut(length in 0usize..300, piece in 1usize..9, little: bool) {
            let prefix = if little { (length as u16).to_le_bytes() } else { (length as u16).to_be_bytes() };
            let bytes = [&prefix[..], &vec![7; length], &[1, 2]].concat();
            prop_assert_eq!(end(&Answer::Length { width: 2, little }, &bytes, piece), Some(length + 2));
            prop_assert_eq!(end(&Answer::Bytes(length as u64 + 1), &bytes, piece), Some(length + 1));
        }
    }
}
