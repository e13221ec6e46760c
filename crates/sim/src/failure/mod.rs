//! Failures and reactions to them, each as a state machine: [`FaultClock`] (when a part is down),
//! [`Attempts`] and [`BudgetBucket`] (retries, and when), [`BreakerState`] (rejections without an attempt).
//!
//! They take the time as an argument and return instants; draws come from outside. Deliberately absent: events, the fate of
//! requests while a part is down, timeouts and hedges, which have no state but their instants.

mod breaker;
mod fault_clock;
mod retry;

pub use breaker::{BreakerState, Pass};
pub use fault_clock::FaultClock;
pub use retry::{Attempts, BudgetBucket, wait};
