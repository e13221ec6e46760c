//! The balancing policies by name: what a scenario may write, the texts of its schema, suggestions and documentation, and how a
//! policy is built from its options.
//!
//! Adding one: a variant of [`Policy`], an entry of [`ALL`], a row in docs/scenarios.md (a test compares
//! the two), and how it chooses, in `sim`.

use super::words::Worded as _;
use super::{Policy, Ties};
use headway_base::Nanos;
use std::fmt;

/// Options as they are written; [`Family::options`] has those that a policy takes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Options {
    /// Which of several equally good servers.
    pub ties: Option<Ties>,
    /// Number of servers drawn.
    pub choices: Option<u64>,
    /// Time constant of an average.
    pub decay: Option<Nanos>,
    /// Times the mean.
    pub bound: Option<f64>,
}

/// An option that a policy refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Which one.
    pub option: &'static str,
    /// What would be accepted, in words that follow "write".
    pub wanted: &'static str,
}

/// What describes and builds one policy.
#[derive(Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Its name, and its options at their defaults.
    pub usage: &'static str,
    /// One line for help texts: where the next request goes.
    pub about: &'static str,
    /// Names of its options.
    pub options: &'static [&'static str],
    /// One example, as it stands in a scenario.
    pub example: &'static str,
    /// Whether the balancer itself keeps requests that it cannot hand on, so that it may have a limit on them.
    pub queues: bool,
    /// Builds it; options of other policies are ignored.
    ///
    /// # Errors
    /// An option out of its range.
    pub build: fn(&Options) -> Result<Policy, Refused>,
}

/// Every policy.
pub const ALL: &[Family] = &[
    Family {
        name: "random",
        usage: "random",
        about: "Any server.",
        options: &[],
        example: "random",
        queues: false,
        build: |_| Ok(Policy::Random),
    },
    Family {
        name: "round-robin",
        usage: "round-robin",
        about: "One after the other.",
        options: &[],
        example: "round-robin",
        queues: false,
        build: |_| Ok(Policy::RoundRobin),
    },
    Family {
        name: "least-connections",
        usage: "least-connections {ties: random}",
        about: "The fewest outstanding requests; ties go to the `first` in order, a `random` one, or by `round-robin`.",
        options: &["ties"],
        example: "{ policy: least-connections, ties: first }",
        queues: false,
        build: |options| Ok(Policy::LeastConnections { ties: options.ties.unwrap_or_default() }),
    },
    Family {
        name: "power-of-d",
        usage: "power-of-d {choices: 2}",
        about: "The fewest outstanding requests of `choices` drawn at random (Mitzenmacher 2001).",
        options: &["choices"],
        example: "{ policy: power-of-d, choices: 3 }",
        queues: false,
        build: |options| match u32::try_from(options.choices.unwrap_or(2)) {
            Ok(choices) if (1..=MOST_CHOICES).contains(&choices) => Ok(Policy::PowerOfD { choices }),
            _ => Err(Refused { option: "choices", wanted: "a number from 1 to 1000" }),
        },
    },
    Family {
        name: "join-idle-queue",
        usage: "join-idle-queue",
        about: "The server that has been idle the longest, or any if none is idle (Lu et al. 2011).",
        options: &[],
        example: "join-idle-queue",
        queues: false,
        build: |_| Ok(Policy::JoinIdleQueue),
    },
    Family {
        name: "peak-ewma",
        usage: "peak-ewma {decay: 10s}",
        about: "Of two drawn at random, the smaller product of outstanding requests and recent latency (Finagle).",
        options: &["decay"],
        example: "{ policy: peak-ewma, decay: 5s }",
        queues: false,
        build: |options| match options.decay.unwrap_or(DECAY) {
            decay if decay > Nanos::ZERO => Ok(Policy::PeakEwma { decay }),
            _ => Err(Refused { option: "decay", wanted: "a time above 0, for example 10s" }),
        },
    },
    Family {
        name: "consistent-hash",
        usage: "consistent-hash",
        about: "By the hash of the user on a ring; with `bound: 1.25` no server gets more than that times the mean of outstanding requests (Mirrokni et al. 2018).",
        options: &["bound"],
        example: "{ policy: consistent-hash, bound: 1.25 }",
        queues: false,
        build: |options| match options.bound {
            Some(bound) if bound.is_nan() || bound <= 1.0 => {
                Err(Refused { option: "bound", wanted: "a number above 1, for example 1.25" })
            }
            bound => Ok(Policy::ConsistentHash { bound }),
        },
    },
    Family {
        name: "one-connection",
        usage: "one-connection",
        about: "One outstanding request per server; others wait in the balancer in FIFO order, at most `queue:` of them.",
        options: &[],
        example: "one-connection",
        queues: true,
        build: |_| Ok(Policy::OneConnection),
    },
];

/// Choices of one request, at most.
const MOST_CHOICES: u32 = 1_000;

/// As in Finagle.
const DECAY: Nanos = Nanos(10_000_000_000);

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Random => f.write_str("random"),
            Policy::RoundRobin => f.write_str("round-robin"),
            Policy::LeastConnections { ties } => write!(f, "least-connections, ties {}", ties.word()),
            Policy::PowerOfD { choices } => write!(f, "power-of-d, {choices} choices"),
            Policy::JoinIdleQueue => f.write_str("join-idle-queue"),
            Policy::PeakEwma { decay } => write!(f, "peak-ewma, decay {decay}"),
            Policy::ConsistentHash { bound: Some(bound) } => write!(f, "consistent-hash, bound {bound}"),
            Policy::ConsistentHash { bound: None } => f.write_str("consistent-hash"),
            Policy::OneConnection => f.write_str("one-connection"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_builds_with_its_defaults_and_is_shown_by_its_name() {
        for (at, family) in ALL.iter().enumerate() {
            let name = family.name;
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            assert!(ALL[..at].iter().all(|other| other.name != name), "{name} twice");
            assert!(family.usage.starts_with(name) && family.example.contains(name), "{name}");
            assert!(family.about.ends_with('.') && !family.about.contains('|'), "{name}");
            let shown = (family.build)(&Options::default()).unwrap().to_string();
            assert_eq!(shown.split(',').next(), Some(name));
        }
    }

    #[test]
    fn options_out_of_range_are_refused_by_those_that_take_them() {
        let wrong = Options { ties: None, choices: Some(0), decay: Some(Nanos::ZERO), bound: Some(f64::NAN) };
        for family in ALL {
            match (family.build)(&wrong) {
                Err(refused) => assert_eq!(family.options, [refused.option]),
                Ok(_) => assert!(family.options.iter().all(|option| *option == "ties")),
            }
        }
        let just_outside = Options { bound: Some(1.0), choices: Some(1001), ..Options::default() };
        let refused = ALL.iter().filter_map(|family| (family.build)(&just_outside).err());
        assert_eq!(refused.map(|r| r.option).collect::<Vec<_>>(), ["choices", "bound"]);
    }
}
