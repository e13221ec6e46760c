//! The client against the model, on a virtual clock.

mod common;
mod lindley;
mod memory;
mod models;
mod network_accounts;
mod network_balancers;
mod network_disciplines;
mod network_failures;
mod network_observed;
mod pieces;
mod queues;
