//! What goes wrong and what is done about it, each as a state machine of its own: [`FaultClock`] (when a part is down),
//! [`Attempts`] and [`BudgetBucket`] (who tries again, and when), [`BreakerState`] (who is not even asked).
//!
//! They are told the time and hand out instants; draws come from outside. Deliberately absent: events, what happens to
//! requests while a part is down, time-outs and hedges, which have no state but their instants.

mod breaker;
mod fault_clock;
mod retry;

pub use breaker::{BreakerState, Pass};
pub use fault_clock::FaultClock;
pub use retry::{Attempts, BudgetBucket, wait};
