//! The crate as its users see it: what goes in comes out, whatever happened to the file in between.

mod common;
mod damage;
mod events;
mod export;
mod merging;
mod round_trip;
