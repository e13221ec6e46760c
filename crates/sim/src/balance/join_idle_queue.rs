//! Join idle queue (Lu, Xie, Kliot, Geller, Larus and Greenberg 2011, "Join-Idle-Queue: a novel load balancing algorithm
//! for dynamically scalable web services").

use super::idle::Idle;
use super::random::Random;
use headway_base::random::Draws;

/// Chooses the target that has been idle the longest; if none is idle, any, by weight.
///
/// In the paper a target that becomes idle reports to a balancer drawn at random. Here it reports to the one whose request
/// it finished, when that one knows of no other: no message is needed but the answer.
#[derive(Clone, Debug)]
pub(super) struct JoinIdleQueue {
    pub(super) idle: Idle,
    otherwise: Random,
}

impl JoinIdleQueue {
    pub(super) fn new(weights: &[f64]) -> JoinIdleQueue {
        JoinIdleQueue { idle: Idle::new(weights.len() as u32), otherwise: Random::new(weights) }
    }

    #[inline]
    pub(super) fn choose(&self, draws: &mut Draws) -> u32 {
        self.idle.first().unwrap_or_else(|| self.otherwise.choose(draws))
    }
}
