//! Least connections: the fewest outstanding requests, by weight.

use super::buckets::Buckets;
use super::counts::{Counts, load};
use super::draw::below;
use super::levels::Levels;
use super::tournament::Tournament;
use headway_base::random::Draws;
use headway_workload::model::Ties;
use std::sync::Arc;

/// Chooses the least (outstanding + 1) / weight. With equal weights that is the fewest outstanding.
#[derive(Clone, Debug)]
pub(super) struct LeastConnections {
    order: Order,
    ties: Ties,
    /// Who was chosen last, for ties by turns.
    last: u32,
}

/// How the targets are kept in order: in the cheapest way that gives the ties asked for.
#[derive(Clone, Debug)]
enum Order {
    /// Equal weights, ties at random: O(1).
    Buckets(Buckets),
    /// Equal weights, ties in order: O(log n) to the base of 64.
    Levels(Levels),
    /// Weights: O(log n). Keys are the loads' bits, which for positive numbers are in their order.
    Tournament { tree: Tournament, weights: Arc<[f64]> },
}

impl LeastConnections {
    pub(super) fn new(weights: Arc<[f64]>, ties: Ties) -> LeastConnections {
        let targets = weights.len() as u32;
        let even = weights.iter().all(|w| *w == weights[0]);
        let order = match (even, ties) {
            (true, Ties::Random) => Order::Buckets(Buckets::new(targets)),
            (true, Ties::First | Ties::RoundRobin) => Order::Levels(Levels::new(targets)),
            (false, _) => {
                let tree = Tournament::new(weights.iter().map(|&weight| load(0, weight).to_bits()));
                Order::Tournament { tree, weights }
            }
        };
        LeastConnections { order, ties, last: targets - 1 }
    }

    #[inline]
    pub(super) fn choose(&mut self, counts: &Counts, draws: &mut Draws) -> u32 {
        let last = self.last;
        self.last = match (&self.order, self.ties) {
            (Order::Buckets(buckets), _) => {
                let fewest = buckets.fewest(counts);
                fewest[below(draws, fewest.len() as u32) as usize]
            }
            (Order::Levels(levels), Ties::RoundRobin) => levels.after(last),
            (Order::Levels(levels), Ties::First | Ties::Random) => levels.first(),
            (Order::Tournament { tree, .. }, Ties::First) => tree.nth(0),
            (Order::Tournament { tree, .. }, Ties::Random) => tree.nth(below(draws, tree.ties())),
            (Order::Tournament { tree, .. }, Ties::RoundRobin) => tree.after(last),
        };
        self.last
    }

    /// A target that had `before` outstanding has one more.
    #[inline]
    pub(super) fn rose(&mut self, target: u32, before: u32) {
        match &mut self.order {
            Order::Buckets(buckets) => buckets.rose(target, before),
            Order::Levels(levels) => levels.rose(target, before),
            Order::Tournament { tree, weights } => {
                tree.set(target, load(before + 1, weights[target as usize]).to_bits());
            }
        }
    }

    /// A target has one outstanding less: `after`.
    #[inline]
    pub(super) fn fell(&mut self, target: u32, after: u32) {
        match &mut self.order {
            Order::Buckets(buckets) => buckets.fell(target, after),
            Order::Levels(levels) => levels.fell(target, after),
            Order::Tournament { tree, weights } => {
                tree.set(target, load(after, weights[target as usize]).to_bits());
            }
        }
    }

    /// The counts have changed as a whole.
    pub(super) fn refresh(&mut self, counts: &Counts) {
        match &mut self.order {
            Order::Buckets(buckets) => buckets.refresh(counts),
            Order::Levels(levels) => levels.refresh(counts),
            Order::Tournament { tree, weights } => {
                tree.refill((0..weights.len()).map(|i| counts.load(i as u32, weights).to_bits()));
            }
        }
    }
}
