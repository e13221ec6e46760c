//! Frames of DATA that hold nothing, taken out before the library sees them: some servers flush with them, and the library ends a
//! connection at the hundredth of its life, however many requests that served.
//!
//! Each costs a look at nine bytes, and so does no harm below a rate. Deliberately absent: those that end their stream, which mean
//! something, and those with padding, which count against the windows.

use headway_base::Nanos;

/// Bytes of the head of a frame (RFC 9113, 4.1).
const HEAD: usize = 9;
const DATA: u8 = 0;
/// Flags of DATA: END_STREAM and PADDED.
const MEANS_SOMETHING: u8 = 0x1 | 0x8;

/// So many are passed over on any connection, and further ones for each request and for each second.
const ANYHOW: u64 = 1_000;
const PER_REQUEST: u64 = 100;
const PER_SECOND: u64 = 1_000;

/// Takes them out of what a peer sends.
#[derive(Debug, Default)]
pub(super) struct Emptied {
    /// The beginning of a head whose end has not come.
    head: [u8; HEAD],
    have: usize,
    /// Bytes of the frame under way that are still to come.
    left: usize,
    /// Frames that were taken out, and when bytes came first.
    taken: u64,
    since: Option<Nanos>,
    /// Requests that were opened.
    pub requests: u64,
}

impl Emptied {
    /// Hands on what came but for empty frames, piece by piece; false once there were too many, or `put` takes no more.
    pub(super) fn pass(&mut self, now: Nanos, mut bytes: &[u8], mut put: impl FnMut(&[u8]) -> bool) -> bool {
        // What is handed on as one piece: all up to the next empty frame.
        let (mut whole, mut kept) = (bytes, 0);
        while !bytes.is_empty() {
            if self.left > 0 {
                let within = self.left.min(bytes.len());
                (self.left, kept, bytes) = (self.left - within, kept + within, &bytes[within..]);
                continue;
            }
            let begun = self.have;
            let more = (HEAD - begun).min(bytes.len());
            self.head[begun..begun + more].copy_from_slice(&bytes[..more]);
            (self.have, bytes) = (begun + more, &bytes[more..]);
            if self.have < HEAD {
                break;
            }
            self.have = 0;
            let [a, b, c, kind, flags, stream @ ..] = self.head;
            self.left = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
            let is_empty = self.left == 0 && kind == DATA && flags & MEANS_SOMETHING == 0 && stream != [0; 4];
            if !is_empty && begun == 0 {
                kept += HEAD;
                continue;
            }
            // What was held back of the head comes before the rest of it; an empty frame comes not at all.
            if !put(&whole[..kept]) || !(is_empty || put(&self.head)) {
                return false;
            }
            (whole, kept) = (bytes, 0);
            if is_empty && !self.passes_over(now) {
                return false;
            }
        }
        kept == 0 || put(&whole[..kept])
    }

    /// Counts an empty frame; false if it is one too many.
    fn passes_over(&mut self, now: Nanos) -> bool {
        let since = *self.since.get_or_insert(now);
        let seconds = (now - since).as_secs_f64().max(0.0) as u64;
        self.taken += 1;
        self.taken <= ANYHOW + PER_REQUEST * self.requests + PER_SECOND * seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    #[test]
    fn empty_frames_are_taken_out_however_they_are_cut() {
        let frames = [
            (frame(4, 0, 0, b""), true),
            (frame(DATA, 0, 1, b""), false),
            (frame(1, 4, 1, b"head"), true),
            (frame(DATA, 0, 1, b""), false),
            (frame(DATA, 0, 3, b""), false),
            (frame(DATA, 0, 1, b"\0\0\0\0\0\0\0\0\x01"), true),
            (frame(DATA, 0, 0, b""), true),
            (frame(DATA, 8, 1, b"\0"), true),
            (frame(DATA, 1, 1, b""), true),
            (frame(DATA, 0, 5, b""), false),
        ];
        let all: Vec<u8> = frames.iter().flat_map(|(frame, _)| frame.clone()).collect();
        let expected: Vec<u8> =
            frames.iter().filter(|(_, kept)| *kept).flat_map(|(frame, _)| frame.clone()).collect();
        for size in 1..=all.len() {
            let (mut emptied, mut out) = (Emptied::default(), Vec::new());
            for piece in all.chunks(size) {
                assert!(emptied.pass(Nanos::ZERO, piece, |bytes| {
                    out.extend_from_slice(bytes);
                    true
                }));
            }
            assert_eq!(out, expected, "in pieces of {size}");
            assert_eq!(emptied.taken, 4);
        }
    }

    #[test]
    fn too_many_for_the_requests_and_the_time_are_too_many() {
        let one = frame(DATA, 0, 1, b"");
        let mut emptied = Emptied { requests: 5, ..Emptied::default() };
        let mut passed = |now: Nanos| (0..).take_while(|_| emptied.pass(now, &one, |_| true)).count();
        assert_eq!(passed(Nanos::ZERO), 1_500);
        // The one that was too many counts as well.
        assert_eq!(passed(Nanos::from_millis(2_500)), 1_999);
    }
}
