//! The model of a target as it is written: the first part, with the keys of the whole, and what a part may be.

mod around;
mod station;
mod to;

pub(in crate::scenario) use around::{
    AnswerWord, Backoff, Breaker, Budget, Cable, Faults, Hedge, Retries, Timeout,
};
pub(in crate::scenario) use station::Stalls;
pub(in crate::scenario) use to::{Balancing, Branch, Knowing, Knows, Lead, PolicyName};

use crate::model::Discipline;
use crate::scenario::leaves::{Count, Flag, Law, PerSecond, Positive, Time, WordOf};
use crate::scenario::read::{Entries, Named, OrFull, Read, Reader, entries, mapping};
use crate::scenario::tree::{Kind, Tree};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use station::{Cold, StepModel};
use std::borrow::Cow;
use to::{Pool, To};

mapping! {
    /// A part of a model. With `service` it is a station, with `balancer` it chooses, else it hands on to what `to` names.
    ModelPart, "a part", "{ servers: 4, service: exp(8ms) }", requires [] {
        /// How many there are. Default: 1.
        copies: Count,
        /// Requests served at once. Default: 1.
        servers: Count,
        /// How long one takes: a time or a distribution. Makes the part a station.
        service: Law,
        /// Laws of single steps, by name.
        steps: Named<StepModel>,
        /// Who is served next. Default: fifo.
        discipline: WordOf<Discipline>,
        /// With discipline: priority, classes of steps by name, from 0 (first) to 9; other steps come after these.
        classes: Named<Count>,
        /// With discipline: priority, whether a lower class interrupts a higher one, which goes on later. Default: false.
        preemptive: Flag,
        /// How many may wait; further ones are turned away (503). Default: no limit. Of balancers, one-connection has it.
        queue: Count,
        /// When nothing is served.
        stalls: Box<Stalls>,
        /// A target that is slow at first: service times are 1 + factor exp(-served/requests) as long.
        cold: Box<Cold>,
        /// Speed of the station with 1, 2, ... requests in it, the last for more. Default: 1, 2, ..., servers.
        speed: Vec<Positive>,
        /// Chooses who gets a request: a policy, or a mapping with its options. Makes the part a balancer.
        balancer: Box<Balancing>,
        /// Where requests go: the name of a part under parts, a part, or a list of these.
        to: To,
        /// Where requests go: a number of servers, each with a queue of its own.
        pool: Pool,
        /// How long a request that failed still counts as outstanding for the balancer. Default: not at all.
        hold: Time,
        /// What the balancer knows of the requests of its other copies. Default: own.
        knows: Box<Knowing>,
        /// The way to it and back: one law for each way, or { out, back }.
        cable: Box<OrFull<Law, Cable>>,
        /// When it is down.
        faults: Box<Faults>,
        /// How often a request is made in all if it fails, or a mapping that says more.
        retries: Box<OrFull<Count, Retries>>,
        /// Requests that take longer are given up (504).
        timeout: Box<OrFull<Time, Timeout>>,
        /// Requests that take longer are made once more; the first answer counts.
        hedge: Box<OrFull<Time, Hedge>>,
        /// After failures requests fail at once (503) for a while.
        breaker: Box<Breaker>,
    }
}

mapping! {
    /// What belongs to a whole model.
    Whole, "model", "{ servers: 4, service: exp(8ms) }", requires [] {
        /// Parts by name, each there once for all that lead to it.
        parts: Named<ModelPart>,
        /// Connections are accepted one after the other at this rate. Default: at once.
        accept: PerSecond,
        /// When the generator itself does not run.
        pauses: Pauses,
        /// Responses come in pieces, after they were served; the server is free meanwhile. Default: whole.
        events: Events,
    }
}

/// What `headway sim` puts in the target's place: its first part, with what belongs to the whole.
#[derive(Debug)]
pub(in crate::scenario) struct Model {
    pub whole: Whole,
    pub first: ModelPart,
}

impl Read for Model {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Model> {
        let of_whole = Whole::all_keys();
        let keys: Vec<String> = ModelPart::all_keys().into_iter().chain(of_whole.iter().cloned()).collect();
        let before = reader.problems.len();
        let all = entries(tree, "model", "{ servers: 4, service: exp(8ms) }", &keys, reader)?;
        let (whole, first): (Entries<'_>, Entries<'_>) =
            all.into_iter().partition(|(key, _)| of_whole.contains(&key.text));
        let whole = Whole::read(&mapping_of(tree, &whole), reader);
        let first = ModelPart::read(&mapping_of(tree, &first), reader);
        (reader.problems.len() == before).then_some(Model { whole: whole?, first: first? })
    }
}

/// A mapping of these entries, in the place of another.
fn mapping_of(tree: &Tree, entries: &Entries<'_>) -> Tree {
    let entries = entries.iter().map(|(key, value)| ((*key).clone(), (*value).clone())).collect();
    Tree { kind: Kind::Mapping(entries), span: tree.span }
}

impl JsonSchema for Model {
    fn schema_name() -> Cow<'static, str> {
        "Model".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ModelPart::json_schema(generator);
        let whole = Whole::json_schema(generator);
        let more = whole.get("properties").and_then(|properties| properties.as_object());
        if let Some(properties) =
            schema.get_mut("properties").and_then(|properties| properties.as_object_mut())
        {
            properties.extend(more.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
        }
        schema.insert(
            "description".to_owned(),
            "What `headway sim` puts in the target's place: the first part, with what belongs to the whole."
                .into(),
        );
        schema
    }
}

mapping! {
    /// The pieces in which a response comes.
    Events, "events", "{ gap: exp(20ms), count: 5 }", requires [gap, count] {
        /// Time from the end of the service to the first piece. Default: 0s.
        first: Law,
        /// Time from each piece to the next.
        gap: Law,
        /// How many pieces a response has.
        count: Count,
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
