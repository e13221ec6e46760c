//! The model of a target as it is written.

use crate::scenario::leaves::{Count, Law, PerSecond, Positive, Time};
use crate::scenario::read::{Named, mapping};

mapping! {
    /// What `headway sim` puts in the target's place.
    Model, "model", "{ servers: 4, service: exp(8ms) }", requires [service] {
        /// Requests served at once. Default: 1.
        servers: Count,
        /// How long one takes: a time or a distribution.
        service: Law,
        /// How many may wait; further ones are turned away. Default: no limit.
        queue: Count,
        /// When nothing is served.
        stalls: Stalls,
        /// Connections are accepted one after the other at this rate. Default: at once.
        accept: PerSecond,
        /// A target that is slow at first: service times are 1 + factor exp(-served/requests) as long.
        cold: Cold,
        /// Laws of single steps, by name.
        steps: Named<StepModel>,
        /// When the generator itself does not run.
        pauses: Pauses,
    }
}

mapping! {
    /// When nothing is served: again and again (every), or once (at).
    Stalls, "stalls", "{ every: 60s, for: 2s }", requires [r#for] {
        /// Time from the beginning of one to that of the next.
        every: Time,
        /// When the only one begins.
        at: Time,
        /// How long one lasts.
        r#for: Time,
    }
    schema { "oneOf": [{ "required": ["every"] }, { "required": ["at"] }] }
}

mapping! {
    /// A target that is slow at first.
    Cold, "cold", "{ factor: 2.4, requests: 4000 }", requires [factor, requests] {
        /// How much slower the first request is: 1 + factor.
        factor: Positive,
        /// After so many requests the excess is down to 37 %.
        requests: Count,
    }
}

mapping! {
    /// How one step is served.
    StepModel, "the model of a step", "{ service: exp(20ms) }", requires [service] {
        /// How long one takes.
        service: Law,
    }
}

mapping! {
    /// When the generator does not run.
    Pauses, "pauses", "{ every: exp(4s), for: 100ms }", requires [every, r#for] {
        /// Time from the end of one to the beginning of the next.
        every: Law,
        /// How long one lasts.
        r#for: Law,
    }
}
