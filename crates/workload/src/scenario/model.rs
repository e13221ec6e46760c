//! The model of a target, as a scenario describes it and `headway sim` interprets it: plain data, checked.

use base::Rate;
use base::dist::Dist;
use base::station::Stalls;

/// What stands in the target's place in a simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// Requests served at once; at least 1.
    pub servers: u32,
    /// How long serving one takes.
    pub service: Dist,
    /// How many may wait, not counting those being served; further ones are turned away (503). None: no limit.
    pub queue: Option<usize>,
    /// When nothing is served.
    pub stalls: Option<Stalls>,
    /// Connections are accepted one after the other at this rate; none: at once.
    pub accept: Option<Rate>,
    /// A target that is slow at first.
    pub cold: Option<Cold>,
    /// Laws of single steps, by number, in place of `service`.
    pub steps: Vec<(u16, Dist)>,
    /// When the generator itself does not run.
    pub pauses: Option<Pauses>,
}

/// A target that is slow at first: a service time is 1 + factor exp(-served/requests) times as long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cold {
    /// Above zero.
    pub factor: f64,
    /// At least 1.
    pub requests: u64,
}

/// When the generator itself does not run.
#[derive(Clone, PartialEq, Debug)]
pub struct Pauses {
    /// Time from the end of one to the beginning of the next; its mean is above zero.
    pub every: Dist,
    /// How long one lasts.
    pub length: Dist,
}
