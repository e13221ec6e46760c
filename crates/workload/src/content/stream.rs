//! What a step takes as the events of its responses: the kinds of `stream:`.
//!
//! A reader of a kind sees the pieces of a body in their order, as the protocol hands them over, and says where events are. It holds no
//! content but what an event that is not complete needs. Deliberately absent: time, which the caller knows.
//!
//! A new kind is a variant of [`StreamKind`] with its word, a variant of [`StreamReader`] that finds its events, and what they are called in the
//! log (`headway_base::EventKind`).

use headway_base::EventKind;

/// What the events of a response are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamKind {
    /// Each piece of a body that a read brings.
    Chunks,
}

impl StreamKind {
    /// Every kind.
    pub const ALL: [StreamKind; 1] = [StreamKind::Chunks];

    /// The word of the scenario.
    pub const fn name(self) -> &'static str {
        match self {
            StreamKind::Chunks => "chunks",
        }
    }

    /// What its events are, for the documentation.
    pub const fn about(self) -> &'static str {
        match self {
            StreamKind::Chunks => "each piece of the body that one read brings",
        }
    }

    /// The kind of that word, if there is one.
    pub fn from_name(name: &str) -> Option<StreamKind> {
        StreamKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What finds the events of one response.
    pub const fn reader(self) -> StreamReader {
        match self {
            StreamKind::Chunks => StreamReader::Chunks(Chunks { bytes: 0, pieces: 0 }),
        }
    }
}

/// An event, as far as the body tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// What it is called in the log.
    pub kind: EventKind,
    /// Bytes of the body.
    pub bytes: u64,
    /// Pieces of framing that it was made of.
    pub count: u32,
}

/// Finds the events of one response.
#[derive(Clone, Debug)]
pub enum StreamReader {
    /// Pieces of the body.
    Chunks(Chunks),
}

/// What one read has brought of a body.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    bytes: u64,
    pieces: u32,
}

impl StreamReader {
    /// A piece of the body; the events that end within it are appended to `found`.
    pub fn piece(&mut self, data: &[u8], found: &mut Vec<Found>) {
        let _ = found;
        match self {
            // Where the protocol cuts a body says nothing: it is one event what comes in one read.
            StreamReader::Chunks(Chunks { bytes, pieces }) => {
                *bytes += data.len() as u64;
                *pieces = pieces.saturating_add(1);
            }
        }
    }

    /// What one read brought has been handed over: the event that ends with it.
    pub fn read_over(&mut self) -> Option<Found> {
        match self {
            StreamReader::Chunks(Chunks { bytes, pieces }) => {
                let (bytes, count) = (std::mem::take(bytes), std::mem::take(pieces));
                (count > 0).then_some(Found { kind: EventKind::Chunk, bytes, count })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_read_brings_is_one_event() {
        let mut reader = StreamKind::Chunks.reader();
        let mut none = Vec::new();
        assert_eq!(reader.read_over(), None, "a read that brought nothing of the body");
        reader.piece(b"abc", &mut none);
        reader.piece(b"de", &mut none);
        assert_eq!(reader.read_over(), Some(Found { kind: EventKind::Chunk, bytes: 5, count: 2 }));
        assert_eq!(reader.read_over(), None);
        reader.piece(b"f", &mut none);
        assert_eq!(none, [], "found before the read was over");
        assert_eq!(reader.read_over(), Some(Found { kind: EventKind::Chunk, bytes: 1, count: 1 }));
    }

    #[test]
    fn words_are_read_back() {
        assert!(StreamKind::ALL.into_iter().all(|kind| StreamKind::from_name(kind.name()) == Some(kind)));
        assert_eq!(StreamKind::from_name("lumps"), None);
    }
}
