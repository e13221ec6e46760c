//! Collects a head that arrives in pieces until it is complete, and only then has it parsed.
//!
//! The end of a head is found line by line as it arrives, so that a peer that sends single bytes costs one look at each
//! byte, not one parse of all that came before. Empty lines before the first line are dropped (RFC 9112, 2.2).

use memchr::memchr;

/// A partial head. Holds no memory while empty.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    buffer: Vec<u8>,
    /// Where the last, unfinished line begins.
    line: usize,
}

/// How far a head has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Assembly {
    /// All input is consumed, and its end is still to come.
    Partial,
    /// The buffer holds it, with the empty line at its end and nothing after it.
    Complete,
    /// It goes on after `limit` bytes.
    TooLarge,
}

impl Assembler {
    /// Appends from `bytes` up to the end of the head, of at most `limit` bytes; advances `bytes` over what it took.
    pub(super) fn push(&mut self, bytes: &mut &[u8], limit: usize) -> Assembly {
        while !bytes.is_empty() {
            let room = limit.saturating_sub(self.buffer.len());
            if room == 0 {
                return Assembly::TooLarge;
            }
            let window = &bytes[..bytes.len().min(room)];
            let newline = memchr(b'\n', window);
            let taken = newline.map_or(window.len(), |at| at + 1);
            self.buffer.extend_from_slice(&window[..taken]);
            *bytes = &bytes[taken..];
            if newline.is_none() {
                continue;
            }
            let empty = matches!(&self.buffer[self.line..], b"\n" | b"\r\n");
            match (empty, self.line) {
                (true, 0) => self.buffer.clear(),
                (true, _) => return Assembly::Complete,
                (false, _) => self.line = self.buffer.len(),
            }
        }
        Assembly::Partial
    }

    /// Joins header lines that go on in the next one, by blanks in place of the line end (obs-fold; RFC 9112, 5.2). Lines
    /// that decide where the message ends stay as they are, for parsers disagree on those, and are then malformed.
    pub(super) fn unfold(&mut self) {
        let (mut start, mut joins) =
            (memchr(b'\n', &self.buffer).map_or(self.buffer.len(), |at| at + 1), false);
        while let Some(len) = memchr(b'\n', &self.buffer[start..]) {
            let end = start + len;
            let folded = matches!(self.buffer.get(end + 1), Some(b' ' | b'\t'));
            // A name begins the line, or the line before it goes on here.
            joins = match joins {
                false => folded && !decides(&self.buffer[start..end]),
                true => folded,
            };
            if joins {
                let cr = end > 0 && self.buffer[end - 1] == b'\r';
                self.buffer[end - usize::from(cr)..=end].fill(b' ');
            }
            start = end + 1;
        }
    }

    /// What was collected.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Whether nothing was collected.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Forgets what was collected and gives the memory back: most connections are idle most of the time.
    pub(super) fn release(&mut self) {
        *self = Assembler::default();
    }

    /// Bytes of memory held.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }
}

/// Whether a header line decides where the message ends, or begins with a blank itself.
fn decides(line: &[u8]) -> bool {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    let is = |of: &str| name.eq_ignore_ascii_case(of.as_bytes());
    line.starts_with(b" ") || line.starts_with(b"\t") || is("content-length") || is("transfer-encoding")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_lines_are_joined_but_for_those_that_frame() {
        let unfolded = |head: &str| {
            let mut assembler = Assembler::default();
            assert_eq!(assembler.push(&mut head.as_bytes(), 1000), Assembly::Complete);
            assembler.unfold();
            String::from_utf8(assembler.bytes().to_vec()).unwrap()
        };
        for (head, expected) in [
            ("S\r\nA: b\r\n c\r\n\r\n", "S\r\nA: b   c\r\n\r\n"),
            ("S\nA: b\n\tc\n d\nE: f\n\n", "S\nA: b \tc  d\nE: f\n\n"),
            ("S\r\nContent-Length:\r\n 5\r\n\r\n", "S\r\nContent-Length:\r\n 5\r\n\r\n"),
            (
                "S\r\nA: b\r\ntransfer-encoding: x\r\n y\r\n\r\n",
                "S\r\nA: b\r\ntransfer-encoding: x\r\n y\r\n\r\n",
            ),
            ("S\r\n A: b\r\n c\r\n\r\n", "S\r\n A: b\r\n c\r\n\r\n"),
            ("S\r\nA: b\r\n\r\n", "S\r\nA: b\r\n\r\n"),
        ] {
            assert_eq!(unfolded(head), expected, "{head:?}");
        }
    }

    #[test]
    fn the_end_is_found_at_any_split_and_with_any_line_end() {
        for (head, rest) in [
            ("A\r\nb: c\r\n\r\n", "rest"),
            ("A\nb: c\n\n", "rest"),
            ("A\nb: c\r\n\n", "\n"),
            ("A\r\nb: \r c\r\n\r\n", "\r\n"),
            ("A\r\n\r\n", ""),
            ("A\r\n\r\r\n\r\n", ""),
        ] {
            let whole = [head, rest].concat();
            for cut in 0..=whole.len() {
                let (mut a, mut b) = whole.as_bytes().split_at(cut);
                let mut assembler = Assembler::default();
                let mut got = assembler.push(&mut a, 100);
                if got == Assembly::Partial {
                    assert!(a.is_empty());
                    got = assembler.push(&mut b, 100);
                }
                assert_eq!(got, Assembly::Complete, "{whole:?} at {cut}");
                assert_eq!(assembler.bytes(), head.as_bytes());
                assert_eq!([a, b].concat(), rest.as_bytes());
            }
        }
    }

    #[test]
    fn empty_lines_before_the_first_are_dropped() {
        let mut assembler = Assembler::default();
        assert_eq!(assembler.push(&mut &b"\r\n\n\r"[..], 4), Assembly::Partial);
        assert_eq!(assembler.bytes(), b"\r");
        assert_eq!(assembler.push(&mut &b"\nA\n\n"[..], 4), Assembly::Complete);
        assert_eq!(assembler.bytes(), b"A\n\n");
    }

    #[test]
    fn a_head_may_fill_its_limit_and_not_pass_it() {
        for (limit, expected) in [(4, Assembly::Complete), (3, Assembly::TooLarge)] {
            let mut assembler = Assembler::default();
            assert_eq!(assembler.push(&mut &b"AB\n\n"[..], limit), expected);
        }
        let mut assembler = Assembler::default();
        for _ in 0..64 {
            assert_eq!(assembler.push(&mut &b"x"[..], 64), Assembly::Partial);
        }
        assert_eq!(assembler.push(&mut &b"x"[..], 64), Assembly::TooLarge);
        assert!(assembler.capacity() <= 128);
        assembler.release();
        assert_eq!(assembler.capacity(), 0);
    }
}
