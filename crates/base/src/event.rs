//! The parts of a response that matter by themselves: rows beside the records, made only where a step asks for them (`stream:`).
//!
//! A row says of its request whatever its numbers need (when it was due, by what it is counted, what came before), so that the time to the
//! first event and the gaps between events are taken from one row each, in any order of the rows and without its record.
//! Rows hold no content.

use crate::record::{Record, Short, Stamp};
use crate::time::Nanos;

/// What a row of the events is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum EventKind {
    /// The request ended, whatever came of it. Each request of a step with `stream:` that has a response time has one such row.
    #[default]
    End = 0,
    /// A piece of the body, as one read brought it.
    Chunk,
}

impl EventKind {
    /// Every kind, in the order of their codes.
    pub const ALL: [EventKind; 2] = [EventKind::End, EventKind::Chunk];

    /// The word used in logs.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::End => "end",
            EventKind::Chunk => "chunk",
        }
    }
}

/// One event of a response, or its end.
///
/// All instants are nanoseconds since the plan's zero. Group, shard, `k`, step and repeat are those of the request's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResponseEvent {
    /// Number of the arrival or session: see [`Record::k`].
    pub k: u64,
    /// When its request was due.
    pub intended: Nanos,
    /// By which its request is counted to a phase: see [`Record::arrived`].
    pub arrived: Nanos,
    /// When it reached this machine, as the kernel says; else the clock after the read that brought it. Of an end, when the request ended.
    pub at: Nanos,
    /// The event of the same request before it; none of the first one, and of an end without any.
    pub before: Stamp,
    /// Bytes of the body that it brought; of an end, those of all events.
    pub bytes: u64,
    /// How many pieces of framing it was made of; of an end, how many events there were.
    pub count: u32,
    /// Which repeat of the step, from 0.
    pub repeat: u32,
    /// Index of the step.
    pub step: u16,
    /// Index of the group of users.
    pub group: u16,
    /// Which shard of the plan sent its request.
    pub shard: u16,
    /// How long it had lain in the socket when it was read; not known where the system does not tell. Zero of an end.
    pub unread: Short,
    /// What it is.
    pub kind: EventKind,
}

impl ResponseEvent {
    /// An end without any event, of the request of that record: the first of them where it stands for several.
    pub const fn end_of(record: &Record) -> ResponseEvent {
        ResponseEvent {
            k: record.k,
            intended: record.intended,
            arrived: record.arrived,
            at: record.done,
            before: Stamp::NONE,
            bytes: 0,
            count: 0,
            repeat: record.repeat,
            step: record.step,
            group: record.group,
            shard: record.shard,
            unread: Short::ZERO,
            kind: EventKind::End,
        }
    }

    /// Of the first event of a request: how long after that was due it came.
    pub fn first(&self) -> Option<Nanos> {
        (self.kind != EventKind::End && !self.before.is_some()).then(|| self.at - self.intended)
    }

    /// Of any later event: how long after the one before it came; none of one that came with it, between which no time was measured.
    pub fn gap(&self) -> Option<Nanos> {
        let before = self.before.get().filter(|_| self.kind != EventKind::End)?;
        Some(self.at - before).filter(|gap| *gap > Nanos::ZERO)
    }

    /// Whether it came in one read with the event before it, or has its stamp for another reason.
    pub fn is_coalesced(&self) -> bool {
        self.kind != EventKind::End && self.before.get() == Some(self.at)
    }

    /// Of a request that ended without an event: for how long it was waited for.
    pub fn without(&self) -> Option<Nanos> {
        (self.kind == EventKind::End && self.count == 0).then(|| self.at - self.intended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;

    #[test]
    fn each_row_is_of_one_number_at_most() {
        let record = Record::never_started(7, Nanos(100), Nanos(900), Outcome::Timeout);
        let none = ResponseEvent::end_of(&record);
        let first = ResponseEvent { kind: EventKind::Chunk, at: Nanos(400), count: 1, ..none };
        let later = ResponseEvent { at: Nanos(700), before: Nanos(400).into(), ..first };
        let end = ResponseEvent { count: 2, before: Nanos(700).into(), ..none };
        let numbers = |e: &ResponseEvent| (e.first(), e.gap(), e.without());
        assert_eq!(numbers(&first), (Some(Nanos(300)), None, None));
        assert_eq!(numbers(&later), (None, Some(Nanos(300)), None));
        assert_eq!(numbers(&none), (None, None, Some(Nanos(800))));
        assert_eq!(numbers(&end), (None, None, None));
        // A piece with the stamp of the one before it came with that: no time was measured between them.
        let with = ResponseEvent { at: Nanos(400), ..later };
        assert_eq!((numbers(&with), with.is_coalesced()), ((None, None, None), true));
        assert!([first, later, none, end].iter().all(|event| !event.is_coalesced()));
    }
}
