//! The client against the model, on a virtual clock.

mod common;
mod memory;
mod models;
mod queues;
mod recursion;
