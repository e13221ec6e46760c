//! What a station has besides its servers, as it is written.

use crate::scenario::leaves::{Count, Law, Positive, Time};
use crate::scenario::read::mapping;

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
        /// The number of requests after which the excess is down to 37 %.
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
