//! The heads of frames, read as they go by (RFC 9113, 4.1).

/// Bytes of the head of a frame.
const HEAD: usize = 9;

const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

/// What is worth knowing of a stretch of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    /// A frame of that stream, and its bytes with its head.
    Stream(u32, u64),
    /// SETTINGS.
    Settings,
    /// GOAWAY: the last stream that the sender has looked at or may look at.
    GoAway(u32),
}

/// Reads one direction of a connection, from its first frame on.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The head under way, and for GOAWAY the stream after it.
    head: [u8; HEAD + 4],
    have: usize,
    /// Bytes of the frame under way that are still to come.
    left: usize,
}

impl Frames {
    /// Bytes that come before the first frame.
    pub(super) fn after(preface: usize) -> Frames {
        Frames { left: preface, ..Frames::default() }
    }

    /// Reads on, up to the next frame that is worth knowing of; advances `bytes` over what it read. None: all were read.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<Frame> {
        loop {
            let skipped = self.left.min(bytes.len());
            *bytes = &bytes[skipped..];
            self.left -= skipped;
            if bytes.is_empty() {
                return None;
            }
            if self.have < HEAD {
                self.collect(bytes, HEAD);
                if self.have < HEAD {
                    return None;
                }
            }
            let [a, b, c, kind, _flags, id @ ..] = self.head;
            let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
            let stream = number(id[..4].try_into().unwrap_or_default());
            if kind == GOAWAY && length >= 4 {
                self.collect(bytes, HEAD + 4);
                if self.have < HEAD + 4 {
                    return None;
                }
                let last = number(self.head[HEAD..].try_into().unwrap_or_default());
                (self.have, self.left) = (0, length - 4);
                return Some(Frame::GoAway(last));
            }
            (self.have, self.left) = (0, length);
            match (stream, kind) {
                (0, SETTINGS) => return Some(Frame::Settings),
                (0, _) => {}
                _ => return Some(Frame::Stream(stream, (HEAD + length) as u64)),
            }
        }
    }

    fn collect(&mut self, bytes: &mut &[u8], upto: usize) {
        let taken = (upto - self.have).min(bytes.len());
        self.head[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
        self.have += taken;
        *bytes = &bytes[taken..];
    }
}

/// The number of a stream: 31 bits.
fn number(bytes: [u8; 4]) -> u32 {
    u32::from_be_bytes(bytes) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, 0], &stream.to_be_bytes(), payload].concat()
    }

    #[test]
    fn frames_are_found_however_their_bytes_are_cut() {
        let all = [
            frame(SETTINGS, 0, &[0; 6]),
            frame(1, 1, b"head"),
            frame(0, 1, &[7; 300]),
            frame(6, 0, &[0; 8]),
            frame(GOAWAY, 0, &[0x80, 0, 0, 5, 0, 0, 0, 0, b'd']),
            frame(0, 3, b""),
        ]
        .concat();
        let expected = [
            Frame::Settings,
            Frame::Stream(1, 13),
            Frame::Stream(1, 309),
            Frame::GoAway(5),
            Frame::Stream(3, 9),
        ];
        for preface in [0, 24] {
            let all = [&[0; 24][..preface], &all].concat();
            for cut in 0..=all.len() {
                let mut frames = Frames::after(preface);
                let mut found = Vec::new();
                for mut bytes in [&all[..cut], &all[cut..]] {
                    while let Some(frame) = frames.next(&mut bytes) {
                        found.push(frame);
                    }
                    assert!(bytes.is_empty());
                }
                assert_eq!(found, expected, "cut at {cut}");
            }
        }
    }
}
