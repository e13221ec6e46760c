//! Stations: servers, a queue, a law.

use headway_base::dist::Dist;
use headway_base::station::Stalls;

/// Servers that share a queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Station {
    /// Requests served at once; at least 1. Under [`Discipline::Sharing`], how many can run at full speed at once.
    pub servers: u32,
    /// How long serving one takes, alone.
    pub service: Dist,
    /// Laws of single steps, by number, in place of `service`.
    pub steps: Vec<(u16, Dist)>,
    /// Which request is served next.
    pub discipline: Discipline,
    /// How many may wait, not counting those being served (under sharing: beyond `servers`); further ones are turned away
    /// (503). None: no limit.
    pub queue: Option<usize>,
    /// When nothing is served.
    pub stalls: Option<Stalls>,
    /// A target that is slow at first.
    pub cold: Option<Cold>,
    /// Speed of the whole station with 1, 2, ... requests in it, the last for more: each server works at this over the number
    /// it serves at once, so that the plain station of c servers is 1, 2, ..., c. Empty: the plain station. All above zero.
    pub speed: Vec<f64>,
}

/// Which request is served next.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Discipline {
    /// FIFO.
    #[default]
    Fifo,
    /// LIFO, not preemptive.
    Lifo,
    /// All at once, each at its share of the servers' speed (processor sharing).
    Sharing,
    /// The lowest class first, FIFO within a class.
    Priority {
        /// Class of each step, by number; steps beyond the end are of the last class plus one.
        classes: Vec<u8>,
        /// Whether a lower class interrupts a higher one, which goes on later where it stopped.
        preemptive: bool,
    },
}

/// A target that is slow at first: a service time is 1 + factor exp(-served/requests) times as long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cold {
    /// Above zero.
    pub factor: f64,
    /// At least 1.
    pub requests: u64,
}

impl Station {
    /// So many servers of that law, first come first served, and nothing else.
    pub fn new(servers: u32, service: Dist) -> Station {
        Station {
            servers,
            service,
            steps: Vec::new(),
            discipline: Discipline::Fifo,
            queue: None,
            stalls: None,
            cold: None,
            speed: Vec::new(),
        }
    }
}
