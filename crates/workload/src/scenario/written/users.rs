//! Groups of users as they are written.

use super::Step;
use crate::scenario::leaves::{
    Amount, Arrivals, Count, Flag, Law, PerSecond, Plain, Text, Time, as_scalar, word,
};
use crate::scenario::read::{Read, Reader, mapping};
use crate::scenario::tree::{Kind, Tree};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

mapping! {
    /// Users that come in the same way and do the same. Exactly one of arrive, closed, connecting, at-once and work says how they come.
    Group, "a group of users", "{ arrive: { rate: 20/s } }", requires [] {
        /// Its name. Default: users.
        name: Text,
        /// Sessions arrive at a rate, whatever the target does.
        arrive: Arrive,
        /// A number of users who begin the journey again and again.
        closed: Closed,
        /// A number of sockets that are kept connecting, however many connections the target accepts.
        connecting: Connecting,
        /// A number of sessions, all due at the start: fixed work.
        at_once: Count,
        /// A number of requests, as fast as a number of users go: fixed work.
        work: Work,
        /// How rate or number of users or sockets go over time. Default: 10s at the rate or count.
        phases: Vec<Phase>,
        /// Time a user thinks before a request: a time or a distribution. Default: none.
        think: Law,
        /// Least time from the start of one journey to that of the next (closed groups): a time or a distribution.
        pace: Law,
        /// Whose connections are used: shared, one for each user (per-user), or a new one for each request (per-request). Default: shared
        /// for those who arrive, per-request for sockets that are kept connecting, per-user for the others.
        connections: ConnectionsWord,
        /// What a failed request means for the rest of its session. Default: continue.
        on_failure: FailureWord,
        /// What they do: the name of one under journeys, or a list of steps. Default: the file's journey.
        journey: JourneyOf,
    }
    schema {
        "oneOf": [
            { "required": ["arrive"] }, { "required": ["closed"] }, { "required": ["connecting"] },
            { "required": ["at-once"] }, { "required": ["work"] },
        ]
    }
}

word! {
    /// Whose connections are used.
    ConnectionsWord { Shared = "shared", PerUser = "per-user", PerRequest = "per-request", }
}

word! {
    /// What a failed request means for the rest of its session.
    FailureWord { Continue = "continue", EndSession = "end-session", }
}

mapping! {
    /// Sessions arrive.
    Arrive, "arrive", "{ process: poisson, rate: 20/s }", requires [] {
        /// The arrival process. Default: poisson.
        process: Arrivals,
        /// Sessions per second.
        rate: PerSecond,
    }
}

mapping! {
    /// Users who begin their journey again and again.
    Closed, "closed", "{ count: 200 }", requires [] {
        /// How many.
        count: Count,
    }
}

mapping! {
    /// Sockets that are kept connecting: each attempt that succeeds sends one request, and each that does not is given up after
    /// connect-timeout; another takes its place.
    Connecting, "connecting", "{ sockets: 972 }", requires [] {
        /// How many.
        sockets: Count,
    }
}

mapping! {
    /// Requests as fast as users go.
    Work, "work", "{ requests: 10000, users: 50 }", requires [requests, users] {
        /// Requests in all.
        requests: Count,
        /// Users that send them.
        users: Count,
        /// Longest time that it may take. Default: no limit.
        within: Time,
    }
}

mapping! {
    /// A stretch of time. Exactly one of ramp, hold, step, spike, pause and daily says what happens, and for how long. 5m@20/s is short for
    /// { hold: 5m, at: 20/s }.
    Phase, "a phase", "{ hold: 5m, at: 20/s }, or for short 5m@20/s", requires [] {
        /// Goes evenly from one value to another.
        ramp: Time,
        /// Stays at one value.
        hold: Time,
        /// Goes up in steps of this length.
        step: Time,
        /// Jumps to a value, then back.
        spike: Time,
        /// Nobody is there; the value before is kept for the next phase.
        pause: Time,
        /// Follows a day: mean (1 + (peak - 1) cos(2 pi (t - peak-at)/day)), t from the beginning of the phase.
        daily: Time,
        /// Value at the beginning of a ramp. Default: the value reached so far, 0 at the start.
        from: Amount,
        /// Value at the end of a ramp, or of a spike.
        to: Amount,
        /// Value of a hold. Default: the value reached so far, at the start the rate or count.
        at: Amount,
        /// How much higher each step is than the one before.
        by: Amount,
        /// Number of steps.
        times: Count,
        /// Mean over a day. Default: the value reached so far, at the start the rate or count.
        mean: Amount,
        /// The highest value of a day over the mean: from 1 to 2. At 2 it falls to 0 half a day later.
        peak: Plain,
        /// How long after the beginning of the phase the value is highest. Default: half a day.
        peak_at: Time,
        /// Length of a day. Default: 24h.
        day: Time,
        /// Sent, but not counted. Leading phases only.
        warmup: Flag,
    }
    schema {
        "type": ["object", "string"],
        "oneOf": [
            { "type": "object", "required": ["ramp", "to"] }, { "type": "object", "required": ["hold"] },
            { "type": "object", "required": ["step", "by", "times"] },
            { "type": "object", "required": ["spike", "to"] }, { "type": "object", "required": ["pause"] },
            { "type": "object", "required": ["daily", "peak"] }, { "type": "string" },
        ]
    }
}

/// Which journey a group takes.
#[derive(Debug)]
pub(in crate::scenario) enum JourneyOf {
    Name(Text),
    Steps(Vec<Step>),
}

impl Read for JourneyOf {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<JourneyOf> {
        match (&tree.kind, as_scalar(tree)) {
            (_, Some(_)) => Text::read(tree, reader).map(JourneyOf::Name),
            (Kind::List(_), _) => Vec::read(tree, reader).map(JourneyOf::Steps),
            _ => tree.wrong(reader, "the name of a journey or a list of steps", "[{ get: /items }]"),
        }
    }
}

impl JsonSchema for JourneyOf {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "JourneyOf".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<Step>();
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": step }] })
    }
}
