//! The room that epoll writes its events into.

#![expect(unsafe_code, reason = "an event's data could be a pointer, and so is not Send by itself")]

use rustix::event::epoll;

pub(super) struct Events(pub(super) Vec<epoll::Event>);

impl Events {
    pub(super) fn with_capacity(events: usize) -> Events {
        Events(Vec::with_capacity(events))
    }
}

// SAFETY: the reactor only ever gives epoll numbers as data, never pointers, and reads them back as numbers.
unsafe impl Send for Events {}
