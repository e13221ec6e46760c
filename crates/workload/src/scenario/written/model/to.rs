//! Where a part leads and how it chooses, as it is written.

use super::ModelPart;
use crate::model::policies::{ALL, Family};
use crate::model::{Discipline, Ties};
use crate::scenario::leaves::{Count, Plain, Positive, Text, Time, WordOf, one_word, word};
use crate::scenario::read::{OneOrMany, OrFull, Read, Reader, entries, lacks, mapping};
use crate::scenario::source::{Problem, Span};
use crate::scenario::tree::{Kind, Scalar, Tree};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The name of a policy.
#[derive(Clone, Copy, Debug)]
pub(in crate::scenario) struct PolicyName {
    pub family: &'static Family,
}

impl Read for PolicyName {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<PolicyName> {
        let names: Vec<&str> = ALL.iter().map(|family| family.name).collect();
        let name = one_word(tree, &names, reader)?;
        let family = ALL.iter().find(|family| family.name == name)?;
        Some(PolicyName { family })
    }
}

impl JsonSchema for PolicyName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "PolicyName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |family: &Family| json!({ "enum": [family.name], "description": family.about });
        json_schema!({ "anyOf": ALL.iter().map(one).collect::<Vec<_>>() })
    }
}

mapping! {
    /// A policy with its options.
    PolicyKeys, "balancer", "{ policy: least-connections, ties: first }", requires [policy] {
        /// Its name.
        policy: PolicyName,
        /// least-connections: who of several that have as few: first, random or round-robin. Default: random.
        ties: WordOf<Ties>,
        /// power-of-d: how many are drawn. Default: 2.
        choices: Count,
        /// peak-ewma: time constant of the average. Default: 10s.
        decay: Time,
        /// consistent-hash: nobody gets more than this times the mean of outstanding requests. Default: no bound.
        bound: Plain,
    }
}

/// How a balancer chooses: a policy's name, or a mapping with its options.
#[derive(Debug)]
pub(in crate::scenario) struct Balancing(pub OrFull<PolicyName, PolicyKeys>);

impl Read for Balancing {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Balancing> {
        OrFull::read(tree, reader).map(Balancing)
    }
}

impl JsonSchema for Balancing {
    fn schema_name() -> Cow<'static, str> {
        "Balancing".into()
    }

    /// Each policy with the options that it takes, and no others.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = PolicyKeys::json_schema(generator).to_value();
        let one = |family: &Family| {
            let mut properties = Map::new();
            properties
                .insert("policy".to_owned(), json!({ "enum": [family.name], "description": family.about }));
            for option in family.options {
                properties.insert((*option).to_owned(), keys["properties"][*option].clone());
            }
            json!({
                "type": "object", "properties": properties, "additionalProperties": false, "required": ["policy"],
            })
        };
        let mut all: Vec<Value> = vec![generator.subschema_for::<PolicyName>().to_value()];
        all.extend(ALL.iter().map(one));
        json_schema!({ "anyOf": all })
    }
}

word! {
    /// What a balancer knows at once of outstanding requests.
    Knows { Own = "own", All = "all", }
}

mapping! {
    /// A balancer that hears of the requests of its other copies now and then.
    Exchange, "knows", "{ every: 100ms, cost: 2ms }", requires [every] {
        /// From one exchange to the next.
        every: Time,
        /// For how long after each it hands nothing on. Default: 0s.
        cost: Time,
    }
}

/// What a balancer knows of outstanding requests.
pub(in crate::scenario) type Knowing = OrFull<Knows, Exchange>;

/// A part that is led to.
#[derive(Debug)]
pub(in crate::scenario) enum Lead {
    /// One with a name.
    Name(Text),
    /// One that stands here.
    Part(Box<ModelPart>),
}

/// Parts may stand so deep within each other; reading them takes stack.
const DEEPEST: usize = 20;

impl Read for Lead {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Lead> {
        match &tree.kind {
            Kind::Scalar(_) => Text::read(tree, reader).map(Lead::Name),
            Kind::Mapping(_) if reader.depth >= DEEPEST => {
                let problem = Problem::new(tree.span, format!("more than {DEEPEST} parts within each other"));
                reader.complain(problem.help("give parts names under parts:, and lead to them by name"))
            }
            Kind::Mapping(_) => {
                reader.depth += 1;
                let part = ModelPart::read(tree, reader);
                reader.depth -= 1;
                part.map(|part| Lead::Part(Box::new(part)))
            }
            _ => tree.wrong(reader, "the name of a part or a part", "{ service: exp(8ms) }"),
        }
    }
}

impl JsonSchema for Lead {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Lead".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let part = generator.subschema_for::<ModelPart>();
        json_schema!({ "anyOf": [{ "type": "string" }, part] })
    }
}

mapping! {
    /// A part that is led to, with a weight.
    Weighted, "a branch", "{ part: dynos, weight: 3 }", requires [part] {
        /// The name of a part, or a part.
        part: Lead,
        /// Weight of each of its copies. Default: 1.
        weight: Positive,
    }
}

/// One of those that a part leads to.
#[derive(Debug)]
pub(in crate::scenario) struct Branch {
    pub lead: Lead,
    pub weight: Option<Positive>,
    pub span: Span,
}

impl Read for Branch {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Branch> {
        let span = tree.span;
        match &tree.kind {
            Kind::Mapping(entries) if entries.iter().any(|(key, _)| key.text == "part") => {
                let weighted = Weighted::read(tree, reader)?;
                Some(Branch { lead: weighted.part?, weight: weighted.weight, span })
            }
            _ => Lead::read(tree, reader).map(|lead| Branch { lead, weight: None, span }),
        }
    }
}

impl JsonSchema for Branch {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Branch".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (lead, weighted) = (generator.subschema_for::<Lead>(), generator.subschema_for::<Weighted>());
        json_schema!({ "anyOf": [lead, weighted] })
    }
}

/// Where a part leads: one or several.
pub(in crate::scenario) type To = OneOrMany<Branch>;

/// A number of servers, each with a queue of its own: a station in as many copies.
#[derive(Debug)]
pub(in crate::scenario) struct Pool(pub Box<ModelPart>);

/// Keys of a part that is no station of a pool.
const NOT_OF_A_POOL: &[&str] = &["copies", "balancer", "to", "pool", "hold", "knows"];
const POOL: &str = "{ servers: 250, service: exp(200ms) }";

impl Read for Pool {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Pool> {
        let keys: Vec<String> =
            ModelPart::all_keys().into_iter().filter(|key| !NOT_OF_A_POOL.contains(&key.as_str())).collect();
        let before = reader.problems.len();
        let all = entries(tree, "a pool", POOL, &keys, reader)?;
        lacks(tree, &all, "a pool", POOL, &["service".to_owned()], reader);
        let renamed: Vec<(Scalar, Tree)> = all
            .into_iter()
            .map(|(key, value)| (Scalar { text: of_part(&key.text, value), ..key.clone() }, value.clone()))
            .collect();
        let mut disciplines = renamed.iter().filter(|(key, _)| key.text == "discipline");
        if let (Some((first, _)), Some((second, _))) = (disciplines.next(), disciplines.next()) {
            let problem = Problem::new(second.span, "a pool has one discipline");
            return reader.complain(problem.other(first.span, "and here"));
        }
        let part = ModelPart::read(&Tree { kind: Kind::Mapping(renamed), span: tree.span }, reader);
        (reader.problems.len() == before).then_some(Pool(Box::new(part?)))
    }
}

/// What a key of a pool is called in a part: its servers are copies, and its queue may name a discipline.
fn of_part(key: &str, value: &Tree) -> String {
    let word = match &value.kind {
        Kind::Scalar(scalar) => scalar.text.starts_with(|c: char| c.is_ascii_alphabetic()),
        _ => false,
    };
    match key {
        "servers" => "copies",
        "queue" if word => "discipline",
        key => key,
    }
    .to_owned()
}

impl JsonSchema for Pool {
    fn schema_name() -> Cow<'static, str> {
        "Pool".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ModelPart::json_schema(generator);
        schema.insert(
            "description".to_owned(),
            "A number of servers, each with a queue of its own: a station in as many copies.".into(),
        );
        schema.insert("required".to_owned(), json!(["service"]));
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|key, _| !NOT_OF_A_POOL.contains(&key.as_str()));
            let limit = generator.subschema_for::<Count>();
            let word = generator.subschema_for::<WordOf<Discipline>>();
            let about =
                "How many may wait at each server, or who is served next: fifo, lifo, sharing, priority.";
            properties.insert("queue".to_owned(), json!({ "anyOf": [limit, word], "description": about }));
        }
        schema
    }
}
