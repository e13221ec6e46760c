//! The scenario as it is written: every key, its kind of value and what it means. What fits together is settled later, in
//! `check`. The JSON Schema is made from what stands here.

mod model;
mod steps;
mod users;

pub(super) use model::{
    AnswerWord, Backoff, Balancing, Branch, Breaker, Budget, Cable, Faults, Hedge, Knowing, Knows, Lead,
    Model, ModelPart, PolicyName, Retries, Stalls, Timeout,
};
pub(super) use steps::{BodyCheck, Finder, HeaderCheck, Part, Sent, Step, StreamWord};
pub(super) use users::{ConnectionsWord, FailureWord, Group, JourneyOf, Phase};

use super::leaves::{
    AnswerEnd, Count, Flag, GivenAddress, Lateness, OtherPlace, Portion, ProxyUrl, Seed, Size, Text, Time,
    Version, as_scalar, word,
};
use super::read::{Named, OneOrMany, Read, Reader, mapping};
use super::tree::Tree;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

mapping! {
    /// A Headway scenario: who comes, when, and what they do.
    File, "a scenario", "{ target: ..., users: ..., journey: ... }", requires [users] {
        /// Name of the run: letters, digits, dot, underscore, hyphen. Default: the file's name.
        name: Text,
        /// Where requests go: http://host:port, https://host, with a base path if wanted, unix:/path/to/socket:/base, tcp://host:port or
        /// udp://host:port.
        target: Text,
        /// Every random draw is a function of this. Default: drawn, and printed.
        seed: Seed,
        /// Most connections at once.
        connections: Count,
        /// Longest wait for an answer. Default: 30s, 10min where a step has stream.
        timeout: Time,
        /// Longest that a response which has begun may stand still. Default: 30s for steps with stream, none for others.
        idle_timeout: Time,
        /// Longest wait for a connection to be made.
        connect_timeout: Time,
        /// Longest wait of a request that is due for a free connection. Default: the timeout.
        max_wait: Time,
        /// How long sessions that have begun may go on after the last phase. Default: the timeout.
        drain: Time,
        /// Largest body of an answer that is read.
        max_body: Size,
        /// How many redirects of one request are followed, 0 to 50. Default: 0.
        redirects: Count,
        /// Other origins that redirects and extracted links may lead to, beyond those that steps name: https://www.example.com.
        origins: Vec<Text>,
        /// Whether every request names the trace that it is of, in a header traceparent (W3C Trace Context): one for each session.
        /// Default: no.
        traceparent: Flag,
        /// Whether any certificate of the target will do.
        insecure: Flag,
        /// A PEM file with the certificate of this client, and perhaps its key: for targets of https:// that ask for one.
        cert: Text,
        /// A PEM file with the key of the certificate. Default: the one in the file of the certificate.
        key: Text,
        /// A PEM file with the certificates of authorities to trust in place of the system's.
        cacert: Text,
        /// The name to indicate in TLS (SNI), which the certificate of the target must have. Default: the host of the target.
        sni: Text,
        /// Whether connections may resume a TLS session of an earlier one. Default: no.
        tls_resumption: Flag,
        /// Other places to connect to, HOST:PORT:HOST2:PORT2 as curl's --connect-to.
        connect_to: Vec<OtherPlace>,
        /// Addresses of hosts, which are not looked up then: HOST:PORT:ADDRESS as curl's --resolve.
        resolve: Vec<GivenAddress>,
        /// How often the name of the target is read again, at least 1s: connections that are opened after that go to its addresses in turn.
        /// Default: it is read once, and one address is used.
        dns_refresh: Time,
        /// A proxy that requests go through: http://host:port, or with user and password http://user:password@host:port. Default: none.
        proxy: ProxyUrl,
        /// The version of HTTP: 1.1, 2, or any of these as the target prefers. Default: any with TLS, 1.1 without.
        http: Version,
        /// Most requests at once on a connection that takes several (HTTP/2). Default: 100.
        streams: Count,
        /// Whether requests are spread over as many connections as there may be, before one carries several.
        spread: Flag,
        /// Where an answer of plain bytes ends (until:\\r\\n, bytes:16, length:4, close), or which datagram it is (match:0+8, next, none).
        answer: AnswerEnd,
        /// Headers of every request; a step's own header of the same name wins.
        headers: Named<Text>,
        /// Constants for templates: {{vars.NAME}}.
        variables: Named<Text>,
        /// Names whose values are secrets too: of headers, parameters, fields, columns and variables.
        redact: Vec<Text>,
        /// Rows of values for templates: {{data.SET.COLUMN}}.
        data: Named<DataSet>,
        /// Who comes, and how: one group, or a list of groups with names.
        users: OneOrMany<Group>,
        /// What they do: the steps of the one journey.
        journey: Vec<Step>,
        /// Several journeys by name, for groups to refer to.
        journeys: Named<Vec<Step>>,
        /// What is demanded of the numbers, in k6's grammar: p(99) < 100ms.
        thresholds: Vec<Threshold>,
        /// What is tolerated before the load counts as not sent as specified.
        tolerances: Tolerances,
        /// What `headway sim` puts in the target's place.
        model: Model,
        /// In place of model, several by name, which are played on the same draws.
        models: Named<Model>,
    }
}

mapping! {
    /// What is tolerated of the generator.
    Tolerances, "tolerances", "{ effect: 5% }", requires [] {
        /// By how much the generator's own delays may move a number. Default: 0.05.
        effect: Portion,
        /// Judges lateness itself, whatever it did to the numbers: the longest that is forgiven.
        lateness: Lateness,
        /// Share of the plan that may stay unsent, for want of a connection or for another reason. Default: 0.01.
        sent_share: Portion,
    }
}

mapping! {
    /// A file of rows, and how sessions take them.
    DataSet, "a data set", "{ csv: people.csv, take: sequential }", requires [] {
        /// A CSV file whose first line names the columns.
        csv: Text,
        /// A file with one JSON object a line.
        jsonl: Text,
        /// Which row a session gets: sequential (k modulo the number of rows), random, or unique (row k, once). Default: sequential.
        take: TakeWord,
        /// What happens when unique rows run out: fail the step (default), stop the group, skip the session, or wrap around.
        at_end: AtEndWord,
    }
    schema { "oneOf": [{ "required": ["csv"] }, { "required": ["jsonl"] }] }
}

word! {
    /// Which row a session gets.
    TakeWord { Sequential = "sequential", Random = "random", Unique = "unique", }
}

word! {
    /// What happens when rows run out.
    AtEndWord { Fail = "fail", Stop = "stop", Skip = "skip", Wrap = "wrap", }
}

/// A threshold: its text, or a mapping that says more.
#[derive(Debug)]
pub(super) enum Threshold {
    Text(Text),
    Full(FullThreshold),
}

mapping! {
    /// A threshold that can end the run.
    FullThreshold, "a threshold", "{ threshold: \"failed: rate < 0.01\", abort: true }", requires [threshold] {
        /// What is demanded.
        threshold: Text,
        /// Whether the run ends when it is crossed.
        abort: Flag,
        /// How long after the beginning of the measured phase it is judged first.
        delay: Time,
    }
}

impl Read for Threshold {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Threshold> {
        match as_scalar(tree) {
            Some(_) => Text::read(tree, reader).map(Threshold::Text),
            None => FullThreshold::read(tree, reader).map(Threshold::Full),
        }
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let full = generator.subschema_for::<FullThreshold>();
        json_schema!({ "anyOf": [{ "type": "string", "examples": ["p(99) < 100ms"] }, full] })
    }
}
