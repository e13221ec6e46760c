//! Stations: what serves. One that is first come first served, and that nothing can interrupt, knows at each arrival when it
//! leaves ([`headway_base::station`]); the others act by events ([`EventStation`]).

mod event_station;
mod rules;
mod service;

pub(crate) use event_station::{Came, EventStation};
pub(crate) use rules::{Order, Rules};
pub(crate) use service::{LEAST, Service};
