//! Closed formulas of queues, to hold simulations and measurements against. One file per family.
//!
//! | file | what |
//! |---|---|
//! | `mmc` | M/M/1, M/M/c: mean, variance, tail and quantiles of the sojourn; random split over n servers |
//! | `mg1` | M/G/1 and M/D/1: mean of the sojourn, two moments of the wait, FIFO and LIFO |
//! | `gim1` | GI/M/1, so also E_k/M/1, D/M/1 and round robin over n servers |
//! | `finite` | M/M/1/K and M/M/c/K: loss, throughput, sojourn of those admitted |
//! | `load_dependent` | one station whose speed depends on how many are there |
//! | `closed` | N users over stations and think time: what exact mean value analysis gives |
//! | `sharing` | processor sharing: means that depend on the mean service alone |
//! | `priority` | classes with priority, with and without preemption |
//! | `repair` | N users who think and c servers: mean and tail of the sojourn |
//! | `relaxation` | how long such a queue remembers where it began |
//! | `users` | users and their share of waiting, by Little's law |
//!
//! All are of the steady state. Times are in the unit of the mean service, rates in its inverse. Where the utilisation
//! is 1 or more and nothing bounds the queue there is no steady state and times are infinite. Rates and times must not
//! be negative, mean services must be positive, and servers are at least 1. Deliberately absent: open networks (by
//! Jackson's theorem each station is one of these), several classes in a closed network, and anything that needs a
//! simulation.

mod closed;
mod finite;
mod gim1;
mod load_dependent;
mod mg1;
mod mmc;
mod priority;
mod relaxation;
mod repair;
mod sharing;
mod users;

pub use closed::{Centre, CentreLoad, Closed, ClosedLoad};
pub use finite::Mmck;
pub use gim1::Gim1;
pub use load_dependent::{LoadDependent, Stationary};
pub use mg1::{Mg1, mg1_sojourn_mean};
pub use mmc::Mmc;
pub use priority::{Class, preemptive_sojourns, priority_waits, priority_waits_mmc};
pub use relaxation::{TOO_SKEWED, relaxation_time, skew_allowance};
pub use repair::Mmcn;
pub use sharing::{ps_sojourn_mean, ps_sojourn_of};
pub use users::{users_for, waiting_share};
