//! Responses that come in parts: the events that they are made of, and how long one may stand still.
//!
//! What a part is, whoever reads the bytes knows ([`StreamKind`](crate::content::StreamKind)); here it gets its request, its place in time and
//! the event before it. Deliberately absent: anything for steps of which no parts are wanted and that may stand still.

use super::{Client, RequestId, UNKNOWN};
use headway_base::{EventKind, Kind, Nanos, Record, RecordSink, ResponseEvent, Short, Stamp};

/// What is wanted of the responses to one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streamed {
    /// Whether their parts are events.
    pub events: bool,
    /// How long one that has begun may stand still; MAX: for any time.
    pub idle: Nanos,
}

impl Streamed {
    /// Nothing.
    pub const NOT: Streamed = Streamed { events: false, idle: Nanos::MAX };
}

/// A part of a response, as it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// What it is.
    pub kind: EventKind,
    /// When it reached this machine, as far as that is known.
    pub at: Nanos,
    /// Bytes of the body.
    pub bytes: u64,
    /// Pieces of framing that it was made of.
    pub count: u32,
    /// How long it had lain unread.
    pub unread: Short,
}

/// How far the response to a request has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// When the request as a whole is given up; [`UNKNOWN`] before its first byte.
    over: Nanos,
    /// The last event.
    before: Stamp,
    events: u32,
    bytes: u64,
}

impl Progress {
    const NONE: Progress = Progress { over: UNKNOWN, before: Stamp::NONE, events: 0, bytes: 0 };
}

/// What the client keeps of responses that come in parts; nothing where no step asks for it.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// By step.
    steps: Vec<Streamed>,
    /// By slot of the requests under way.
    progress: Vec<Progress>,
}

impl Streams {
    /// Whether no step has such responses.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn of(&self, step: u16) -> Streamed {
        self.steps.get(usize::from(step)).copied().unwrap_or(Streamed::NOT)
    }

    fn progress(&mut self, id: RequestId) -> &mut Progress {
        let slot = id as usize;
        if self.progress.len() <= slot {
            self.progress.resize(slot + 1, Progress::NONE);
        }
        &mut self.progress[slot]
    }

    /// Whether that request is given up at `now` because its response stands still, and not because its time is over.
    pub(super) fn stands_still(&self, id: RequestId, now: Nanos) -> bool {
        self.progress.get(id as usize).is_some_and(|progress| now < progress.over)
    }
}

impl<S: RecordSink> Client<S> {
    /// The same for a plan whose steps, by number, have such responses. Those of others are not looked at.
    #[must_use]
    pub fn streaming(mut self, steps: Vec<Streamed>) -> Client<S> {
        if steps.iter().any(|step| *step != Streamed::NOT) {
            self.streams.steps = steps;
            // Of a note nothing could be said when it ends.
            self.notes = false;
        }
        self
    }

    /// More of the response came.
    #[cold]
    pub(super) fn progressed(&mut self, id: RequestId, now: Nanos) {
        let idle = self.streams.of(self.in_flight.record(id).step).idle;
        if idle == Nanos::MAX {
            return;
        }
        let whole = self.in_flight.deadline(id);
        let progress = self.streams.progress(id);
        if progress.over == UNKNOWN {
            progress.over = whole;
        }
        let deadline = progress.over.min(now.saturating_add(idle));
        self.in_flight.put_off(id, deadline);
        self.next_non_arrival = self.next_non_arrival.min(deadline);
    }

    /// A part of the response came.
    #[cold]
    pub(super) fn part(&mut self, id: RequestId, part: Part, now: Nanos) {
        self.progressed(id, now);
        let record = *self.in_flight.record(id);
        if !self.streams.of(record.step).events {
            return;
        }
        let Part { kind, bytes, count, unread, .. } = part;
        let progress = self.streams.progress(id);
        // The kernel's stamps are of a clock that may be set while a response is under way: time does not go back within one.
        let at = progress.before.get().or(record.sent.get()).map_or(part.at, |before| part.at.max(before));
        let before = std::mem::replace(&mut progress.before, at.into());
        progress.events = progress.events.saturating_add(1);
        progress.bytes += bytes;
        let end = ResponseEvent::end_of(&record);
        self.sink.event(ResponseEvent { at, before, bytes, count, unread, kind, ..end });
    }

    /// The request in that slot ends with that record, which is about to be written.
    #[cold]
    pub(super) fn ends_streamed(&mut self, id: RequestId, record: &Record) {
        let progress = std::mem::replace(self.streams.progress(id), Progress::NONE);
        let Progress { before, events, bytes, .. } = progress;
        self.tell_end(record, |end| ResponseEvent { before, count: events, bytes, ..end });
    }

    /// A request that never was in a slot, or a run of them, ends with that record.
    #[cold]
    pub(super) fn never_streamed(&mut self, record: &Record) {
        self.tell_end(record, |end| end);
    }

    fn tell_end(&mut self, record: &Record, with: impl Fn(ResponseEvent) -> ResponseEvent) {
        let wanted = record.kind == Kind::Request && self.streams.of(record.step).events;
        // What was not sent has no response time, and so none of its parts.
        if !wanted || record.is_not_sent() {
            return;
        }
        let end = with(ResponseEvent::end_of(record));
        (0..u64::from(record.count)).for_each(|i| self.sink.event(ResponseEvent { k: record.k + i, ..end }));
    }
}
