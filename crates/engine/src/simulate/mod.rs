//! Runs against a model, in virtual time: a single run with the same client, the same statistics and the same run folder as a
//! live one, and what the plays of an experiment come to.
//!
//! ```text
//! one run:   records ──> Analysis, log            ──> Summary
//!                    └──> order ──> course (warm-up) ──┘
//! experiment: each play: records ──> sink (counts, order ──> course) ──> Replication
//!            each point: its replications ──> Point; points of several models ──> Difference
//! ```

mod bounded;
pub(crate) mod course;
#[cfg(test)]
mod coverage;
mod demands;
mod differs;
pub(crate) mod estimates;
mod inside;
mod loads;
mod notes;
pub(crate) mod order;
mod period;
pub(crate) mod point;
mod pooled;
pub(crate) mod replication;
mod single;
mod sink;
mod steady_state;
mod stored;
mod times;

pub use bounded::bounded;
pub(crate) use differs::{of_patience, of_plans, of_summaries};
pub use single::Sim;

use headway_base::RecordSink;
use headway_sim::{Generator, Network, Played, RandomPauses};
use headway_workload::client::Streamed;
use headway_workload::model::Model;
use headway_workload::{Limits, Plan};

/// What is played, but for a seed of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Play {
    /// Which users arrive when; its seed is that of the first replication.
    pub plan: Plan,
    /// Bounds of the whole run.
    pub limits: Limits,
    /// What stands in the target's place.
    pub model: Model,
    /// What is wanted of the responses to each step, by its number; nothing where there is none.
    pub streamed: Vec<Streamed>,
}

impl Play {
    /// Plays it against that network, into a sink.
    pub(crate) fn play_to<S: RecordSink>(
        &self,
        network: &mut Network,
        generator: Generator,
        sink: &mut S,
    ) -> Played {
        let Play { plan, limits, streamed, .. } = self;
        // Responses that come whole are no streams: what comes at once is no event of its own.
        let streamed = if self.model.events.is_some() { streamed.clone() } else { Vec::new() };
        headway_sim::play_streaming(plan, plan.shard, *limits, streamed, network, generator, sink)
    }

    /// The generator, which has no defects but the pauses that the model gives it.
    ///
    /// # Errors
    /// A law of pauses that cannot be drawn from.
    pub(crate) fn generator(&self) -> anyhow::Result<Generator> {
        let pauses = self.model.pauses.clone();
        let random = pauses.map(|p| RandomPauses::new(p.every, p.length, self.plan.seed)).transpose()?;
        Ok(Generator { random, ..Generator::default() })
    }
}
