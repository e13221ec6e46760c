//! Slots for the streams of a connection, and which of them the library has news for.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use crate::connection::StreamId;

/// Slots that have been woken, oldest first; some may be there twice.
#[derive(Debug, Default)]
struct Woken(Mutex<Vec<u32>>);

#[derive(Debug)]
struct SlotWaker {
    slot: u32,
    woken: Arc<Woken>,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.0.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
    }
}

/// A stream under way: what is known of it by its number on the wire, and what the caller keeps.
#[derive(Debug)]
pub(super) struct Slot<T> {
    pub(super) waker: Waker,
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) stream: Option<T>,
}

/// The streams of one connection.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// Numbers on the wire, by slot; 0 where there is none. Apart, since they are searched for each frame.
    numbers: Vec<u32>,
    free: Vec<u32>,
    woken: Arc<Woken>,
    /// Slots to be looked at, the next one last.
    queue: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots {
            slots: Vec::new(),
            numbers: Vec::new(),
            free: Vec::new(),
            woken: Arc::default(),
            queue: Vec::new(),
        }
    }
}

impl<T> Slots<T> {
    /// Streams under way.
    pub(super) fn live(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    /// Takes in a stream of that number on the wire.
    pub(super) fn insert(&mut self, number: u32, stream: T) -> StreamId {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.len() as u32;
            let waker = Waker::from(Arc::new(SlotWaker { slot, woken: self.woken.clone() }));
            self.slots.push(Slot { waker, received: 0, sent: 0, stream: None });
            self.numbers.push(0);
            slot
        });
        let at = &mut self.slots[slot as usize];
        (at.received, at.sent, at.stream) = (0, 0, Some(stream));
        self.numbers[slot as usize] = number;
        StreamId(slot)
    }

    /// Forgets a stream.
    pub(super) fn remove(&mut self, id: StreamId) -> Option<T> {
        let stream = self.slots.get_mut(id.0 as usize)?.stream.take()?;
        self.numbers[id.0 as usize] = 0;
        self.free.push(id.0);
        Some(stream)
    }

    pub(super) fn get_mut(&mut self, id: StreamId) -> Option<&mut Slot<T>> {
        self.slots.get_mut(id.0 as usize).filter(|slot| slot.stream.is_some())
    }

    pub(super) fn get(&self, id: StreamId) -> Option<&Slot<T>> {
        self.slots.get(id.0 as usize).filter(|slot| slot.stream.is_some())
    }

    /// The number on the wire.
    pub(super) fn number(&self, id: StreamId) -> u32 {
        self.numbers.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// The stream of that number on the wire.
    pub(super) fn find(&self, number: u32) -> Option<StreamId> {
        let at = self.numbers.iter().position(|&other| other == number)?;
        Some(StreamId(at as u32))
    }

    /// To be looked at next.
    pub(super) fn look_at(&mut self, id: StreamId) {
        self.queue.push(id.0);
    }

    /// All that are under way are to be looked at.
    pub(super) fn look_at_all(&mut self) {
        self.queue = (0..self.slots.len() as u32).rev().collect();
    }

    /// The next stream to be looked at, the one that was woken first before others.
    pub(super) fn next(&mut self) -> Option<StreamId> {
        loop {
            if self.queue.is_empty() {
                let mut woken = self.woken.0.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::swap(&mut *woken, &mut self.queue);
                self.queue.reverse();
            }
            let id = StreamId(self.queue.pop()?);
            if self.get(id).is_some() {
                return Some(id);
            }
        }
    }
}
