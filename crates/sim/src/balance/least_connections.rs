//! Least connections: who has the fewest outstanding requests, by weight.

use super::buckets::Buckets;
use super::counts::{Counts, load};
use super::draw::below;
use super::tournament::Tournament;
use base::random::Draws;
use std::sync::Arc;
use workload::model::Ties;

/// Chooses the least (outstanding + 1) / weight. With equal weights that is the fewest outstanding.
#[derive(Clone, Debug)]
pub(super) enum LeastConnections {
    /// Equal weights, ties at random: the common case, in O(1).
    Buckets(Buckets),
    /// Everything else.
    Tournament {
        /// Of the loads' bits, which for positive numbers are in their order.
        tree: Tournament,
        weights: Arc<[f64]>,
        ties: Ties,
        /// Who was chosen last.
        last: u32,
    },
}

impl LeastConnections {
    pub(super) fn new(weights: Arc<[f64]>, ties: Ties) -> LeastConnections {
        let targets = weights.len() as u32;
        if ties == Ties::Random && weights.iter().all(|w| *w == weights[0]) {
            return LeastConnections::Buckets(Buckets::new(targets));
        }
        let tree = Tournament::new(weights.iter().map(|&weight| load(0, weight).to_bits()));
        LeastConnections::Tournament { tree, weights, ties, last: targets - 1 }
    }

    #[inline]
    pub(super) fn choose(&mut self, counts: &Counts, draws: &mut Draws) -> u32 {
        match self {
            LeastConnections::Buckets(buckets) => {
                let fewest = buckets.fewest(counts);
                fewest[below(draws, fewest.len() as u32) as usize]
            }
            LeastConnections::Tournament { tree, ties, last, .. } => {
                *last = match ties {
                    Ties::First => tree.nth(0),
                    Ties::Random => tree.nth(below(draws, tree.ties())),
                    Ties::RoundRobin => tree.after(*last),
                };
                *last
            }
        }
    }

    /// A target that had `before` outstanding has one more.
    #[inline]
    pub(super) fn rose(&mut self, target: u32, before: u32) {
        match self {
            LeastConnections::Buckets(buckets) => buckets.rose(target, before),
            LeastConnections::Tournament { tree, weights, .. } => {
                tree.set(target, load(before + 1, weights[target as usize]).to_bits());
            }
        }
    }

    /// A target has one outstanding less: `after`.
    #[inline]
    pub(super) fn fell(&mut self, target: u32, after: u32) {
        match self {
            LeastConnections::Buckets(buckets) => buckets.fell(target, after),
            LeastConnections::Tournament { tree, weights, .. } => {
                tree.set(target, load(after, weights[target as usize]).to_bits());
            }
        }
    }

    pub(super) fn refresh(&mut self, counts: &Counts) {
        match self {
            LeastConnections::Buckets(buckets) => buckets.refresh(counts),
            LeastConnections::Tournament { tree, weights, .. } => {
                tree.refill((0..weights.len()).map(|i| counts.load(i as u32, weights).to_bits()));
            }
        }
    }
}
