//! Stations: what serves. One that is first come first served, and that nothing can interrupt, knows at each arrival when it
//! leaves ([`headway_base::station`]); the others act by events ([`Desk`]).

mod desk;
mod rules;
mod service;

pub(crate) use desk::{Came, Desk};
pub(crate) use rules::{Order, Rules};
pub(crate) use service::{LEAST, Service};
