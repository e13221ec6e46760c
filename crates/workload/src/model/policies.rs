//! The balancing policies by name: what a scenario may write, what its schema, its suggestions and the documentation say
//! of each, and how one is built from its options.
//!
//! Adding one: a variant of [`Policy`], a family here with a line in [`ALL`], a row in docs/scenarios.md (a test compares
//! the two), and how it chooses, in `sim`.

use super::words::Worded as _;
use super::{Policy, Ties};
use headway_base::Nanos;
use std::fmt;

/// Options as they are written; which ones a policy takes, its family says.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Options {
    /// Who of several that are equally good.
    pub ties: Option<Ties>,
    /// How many are drawn.
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
pub trait Family: Sync + fmt::Debug {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Its name, and its options at their defaults.
    fn usage(&self) -> &'static str;
    /// One line for help texts.
    fn about(&self) -> &'static str;
    /// Names of its options.
    fn options(&self) -> &'static [&'static str];
    /// One example, as it stands in a scenario.
    fn example(&self) -> &'static str;
    /// Whether the balancer itself keeps what it cannot hand on, so that it may have a limit on that.
    fn queues(&self) -> bool {
        false
    }
    /// Builds it; options of others are not looked at.
    ///
    /// # Errors
    /// An option out of its range.
    fn build(&self, options: &Options) -> Result<Policy, Refused>;
    /// The policy in words, if it is of this family.
    fn shows(&self, policy: &Policy) -> Option<String>;
}

/// Every policy.
pub const ALL: &[&dyn Family] = &[
    &Random,
    &RoundRobin,
    &LeastConnections,
    &PowerOfD,
    &JoinIdleQueue,
    &PeakEwma,
    &ConsistentHash,
    &OneConnection,
];

/// Choices of one request, at most.
const MOST_CHOICES: u64 = 1_000;

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ALL.iter().find_map(|family| family.shows(self)).unwrap_or_default().fmt(f)
    }
}

#[derive(Debug)]
struct Random;

impl Family for Random {
    fn name(&self) -> &'static str {
        "random"
    }
    fn usage(&self) -> &'static str {
        "random"
    }
    fn about(&self) -> &'static str {
        "Anyone."
    }
    fn options(&self) -> &'static [&'static str] {
        &[]
    }
    fn example(&self) -> &'static str {
        "random"
    }
    fn build(&self, _: &Options) -> Result<Policy, Refused> {
        Ok(Policy::Random)
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        matches!(policy, Policy::Random).then(|| "random".to_owned())
    }
}

#[derive(Debug)]
struct RoundRobin;

impl Family for RoundRobin {
    fn name(&self) -> &'static str {
        "round-robin"
    }
    fn usage(&self) -> &'static str {
        "round-robin"
    }
    fn about(&self) -> &'static str {
        "One after the other."
    }
    fn options(&self) -> &'static [&'static str] {
        &[]
    }
    fn example(&self) -> &'static str {
        "round-robin"
    }
    fn build(&self, _: &Options) -> Result<Policy, Refused> {
        Ok(Policy::RoundRobin)
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        matches!(policy, Policy::RoundRobin).then(|| "round-robin".to_owned())
    }
}

#[derive(Debug)]
struct LeastConnections;

impl Family for LeastConnections {
    fn name(&self) -> &'static str {
        "least-connections"
    }
    fn usage(&self) -> &'static str {
        "least-connections {ties: random}"
    }
    fn about(&self) -> &'static str {
        "Who has the fewest outstanding requests; of several, the `first` in order, a `random` one, or by `round-robin`."
    }
    fn options(&self) -> &'static [&'static str] {
        &["ties"]
    }
    fn example(&self) -> &'static str {
        "{ policy: least-connections, ties: first }"
    }
    fn build(&self, options: &Options) -> Result<Policy, Refused> {
        Ok(Policy::LeastConnections { ties: options.ties.unwrap_or_default() })
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        let Policy::LeastConnections { ties } = policy else { return None };
        Some(format!("least-connections, ties {}", ties.word()))
    }
}

#[derive(Debug)]
struct PowerOfD;

impl Family for PowerOfD {
    fn name(&self) -> &'static str {
        "power-of-d"
    }
    fn usage(&self) -> &'static str {
        "power-of-d {choices: 2}"
    }
    fn about(&self) -> &'static str {
        "Of so many drawn at random, who has the fewest outstanding requests (Mitzenmacher 2001)."
    }
    fn options(&self) -> &'static [&'static str] {
        &["choices"]
    }
    fn example(&self) -> &'static str {
        "{ policy: power-of-d, choices: 3 }"
    }
    fn build(&self, options: &Options) -> Result<Policy, Refused> {
        let choices = options.choices.unwrap_or(2);
        match u32::try_from(choices) {
            Ok(choices) if (1..=MOST_CHOICES).contains(&u64::from(choices)) => {
                Ok(Policy::PowerOfD { choices })
            }
            _ => Err(Refused { option: "choices", wanted: "a number from 1 to 1000" }),
        }
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        let Policy::PowerOfD { choices } = policy else { return None };
        Some(format!("power-of-d, {choices} choices"))
    }
}

#[derive(Debug)]
struct JoinIdleQueue;

impl Family for JoinIdleQueue {
    fn name(&self) -> &'static str {
        "join-idle-queue"
    }
    fn usage(&self) -> &'static str {
        "join-idle-queue"
    }
    fn about(&self) -> &'static str {
        "Who reported to be idle the longest ago, else anyone (Lu et al. 2011)."
    }
    fn options(&self) -> &'static [&'static str] {
        &[]
    }
    fn example(&self) -> &'static str {
        "join-idle-queue"
    }
    fn build(&self, _: &Options) -> Result<Policy, Refused> {
        Ok(Policy::JoinIdleQueue)
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        matches!(policy, Policy::JoinIdleQueue).then(|| "join-idle-queue".to_owned())
    }
}

#[derive(Debug)]
struct PeakEwma;

/// As in Finagle.
const DECAY: Nanos = Nanos(10_000_000_000);

impl Family for PeakEwma {
    fn name(&self) -> &'static str {
        "peak-ewma"
    }
    fn usage(&self) -> &'static str {
        "peak-ewma {decay: 10s}"
    }
    fn about(&self) -> &'static str {
        "Of two drawn at random, who has the least product of outstanding requests and recent latency (Finagle)."
    }
    fn options(&self) -> &'static [&'static str] {
        &["decay"]
    }
    fn example(&self) -> &'static str {
        "{ policy: peak-ewma, decay: 5s }"
    }
    fn build(&self, options: &Options) -> Result<Policy, Refused> {
        match options.decay.unwrap_or(DECAY) {
            decay if decay > Nanos::ZERO => Ok(Policy::PeakEwma { decay }),
            _ => Err(Refused { option: "decay", wanted: "a time above 0, for example 10s" }),
        }
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        let Policy::PeakEwma { decay } = policy else { return None };
        Some(format!("peak-ewma, decay {decay}"))
    }
}

#[derive(Debug)]
struct ConsistentHash;

impl Family for ConsistentHash {
    fn name(&self) -> &'static str {
        "consistent-hash"
    }
    fn usage(&self) -> &'static str {
        "consistent-hash"
    }
    fn about(&self) -> &'static str {
        "By the hash of the user on a ring; with `bound: 1.25` nobody gets more than that times the mean of outstanding requests (Mirrokni et al. 2018)."
    }
    fn options(&self) -> &'static [&'static str] {
        &["bound"]
    }
    fn example(&self) -> &'static str {
        "{ policy: consistent-hash, bound: 1.25 }"
    }
    fn build(&self, options: &Options) -> Result<Policy, Refused> {
        match options.bound {
            Some(bound) if bound.is_nan() || bound <= 1.0 => {
                Err(Refused { option: "bound", wanted: "a number above 1, for example 1.25" })
            }
            bound => Ok(Policy::ConsistentHash { bound }),
        }
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        match policy {
            Policy::ConsistentHash { bound: Some(bound) } => Some(format!("consistent-hash, bound {bound}")),
            Policy::ConsistentHash { bound: None } => Some("consistent-hash".to_owned()),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct OneConnection;

impl Family for OneConnection {
    fn name(&self) -> &'static str {
        "one-connection"
    }
    fn usage(&self) -> &'static str {
        "one-connection"
    }
    fn about(&self) -> &'static str {
        "One outstanding request each; others wait in the balancer, first come first served, at most `queue:` of them."
    }
    fn options(&self) -> &'static [&'static str] {
        &[]
    }
    fn example(&self) -> &'static str {
        "one-connection"
    }
    fn queues(&self) -> bool {
        true
    }
    fn build(&self, _: &Options) -> Result<Policy, Refused> {
        Ok(Policy::OneConnection)
    }
    fn shows(&self, policy: &Policy) -> Option<String> {
        matches!(policy, Policy::OneConnection).then(|| "one-connection".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_builds_with_its_defaults_and_is_shown_by_its_own_family() {
        for (at, family) in ALL.iter().enumerate() {
            let name = family.name();
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            assert!(ALL[..at].iter().all(|other| other.name() != name), "{name} twice");
            assert!(family.usage().starts_with(name) && family.example().contains(name), "{name}");
            assert!(family.about().ends_with('.') && !family.about().contains('|'), "{name}");
            let built = family.build(&Options::default()).unwrap();
            let shown: Vec<String> = ALL.iter().filter_map(|family| family.shows(&built)).collect();
            assert!(shown.len() == 1 && shown[0].starts_with(name), "{shown:?}");
            assert_eq!(built.to_string(), shown[0]);
        }
    }

    #[test]
    fn options_out_of_range_are_refused_by_those_that_take_them() {
        let wrong = Options { ties: None, choices: Some(0), decay: Some(Nanos::ZERO), bound: Some(f64::NAN) };
        for family in ALL {
            match family.build(&wrong) {
                Err(refused) => assert_eq!(family.options(), [refused.option]),
                Ok(_) => assert!(family.options().iter().all(|option| *option == "ties")),
            }
        }
        let one = Options { bound: Some(1.0), choices: Some(1001), ..Options::default() };
        assert!(ConsistentHash.build(&one).is_err() && PowerOfD.build(&one).is_err());
    }
}
