//! Stations: what serves.

mod service;

pub(crate) use service::{LEAST, Service};
