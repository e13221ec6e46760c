//! One connection: one outstanding request each; who comes when all are busy waits, in the balancer and not here.

use super::idle::Idle;

/// Chooses who became idle the longest ago. Weights do not matter.
#[derive(Clone, Debug)]
pub(super) struct OneConnection {
    pub(super) idle: Idle,
}

impl OneConnection {
    pub(super) fn new(targets: u32) -> OneConnection {
        OneConnection { idle: Idle::new(targets) }
    }

    #[inline]
    pub(super) fn choose(&self) -> Option<u32> {
        self.idle.first()
    }
}
