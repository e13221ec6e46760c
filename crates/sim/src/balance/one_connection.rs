//! One connection: one outstanding request per target; when all are busy, requests wait in the balancer and not here.

use super::idle::Idle;

/// Chooses the target that has been idle the longest. Weights do not matter.
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
