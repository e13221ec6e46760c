//! Responses under way to the client in pieces, after the target has served their requests.
//!
//! Deliberately absent: when pieces come (`headway_base::pieces`), and what the client makes of them.

use crate::network::numbers::Numbers;
use headway_base::Nanos;
use headway_base::pieces::{Coming, Pieces};
use headway_base::random::{Stream, streams};
use headway_workload::client::{RequestId, Streamed};
use headway_workload::{Plan, RequestKey};

/// What is kept of responses that come in pieces.
#[derive(Clone, Debug)]
pub(crate) struct InPieces {
    laws: Pieces,
    numbers: Numbers,
    /// By group.
    streams: Vec<Stream>,
    /// By step: what the client wants of its responses.
    wanted: Vec<Streamed>,
    /// By slot of the requests under way.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Key {
    group: u16,
    step: u16,
    id: u64,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    key: Key,
    /// What is still to come; none while the target has the request.
    coming: Option<(Coming, bool)>,
    /// When the next is there.
    due: Nanos,
    status: u16,
}

/// A piece has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    /// Whether it is the first of its response.
    pub first: bool,
    /// Whether the client wants pieces as events.
    pub wanted: bool,
    /// When it was there.
    pub at: Nanos,
    /// When the next is; none: the response is complete.
    pub next: Option<Nanos>,
    pub status: u16,
}

impl InPieces {
    pub fn new(laws: Pieces, plan: &Plan, wanted: Vec<Streamed>) -> InPieces {
        let stream = |group| Stream::new(plan.group_seed(group), streams::EVENT);
        InPieces {
            laws,
            numbers: Numbers::new(plan),
            streams: (0..plan.groups.len()).map(stream).collect(),
            wanted,
            slots: Vec::new(),
        }
    }

    /// A request went to the target.
    pub fn sent(&mut self, slot: RequestId, sending: &RequestKey) {
        let at = slot as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, Slot::default);
        }
        let key = Key { group: sending.group, step: sending.step, id: self.numbers.id(sending) };
        self.slots[at] = Slot { key, ..Slot::default() };
    }

    /// The target has served it, with that status: when the first piece is there.
    pub fn served(&mut self, slot: RequestId, status: u16, now: Nanos) -> Option<Nanos> {
        let InPieces { laws, streams, slots, .. } = self;
        let slot = slots.get_mut(slot as usize)?;
        let mut coming = laws.of(streams[usize::from(slot.key.group)], slot.key.id);
        slot.due = now.saturating_add(coming.next(laws)?);
        (slot.coming, slot.status) = (Some((coming, true)), status);
        Some(slot.due)
    }

    /// A piece of that response has come.
    pub fn came(&mut self, slot: RequestId) -> Option<Came> {
        let InPieces { laws, slots, wanted, .. } = self;
        let slot = slots.get_mut(slot as usize)?;
        let wanted = wanted.get(usize::from(slot.key.step)).is_some_and(|step| step.events);
        let (coming, first) = slot.coming.as_mut()?;
        let first = std::mem::take(first);
        let at = slot.due;
        let next = coming.next(laws).map(|gap| at.saturating_add(gap));
        match next {
            Some(next) => slot.due = next,
            None => slot.coming = None,
        }
        Some(Came { first, wanted, at, next, status: slot.status })
    }

    /// The request is not waited for any longer. Whether its response was under way, so that the target is done with it.
    pub fn gone(&mut self, slot: RequestId) -> bool {
        self.slots.get_mut(slot as usize).is_some_and(|slot| slot.coming.take().is_some())
    }
}
