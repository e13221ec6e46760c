//! A value for a parameter or a body: the document's own example, or one made up from the schema (JSON Schema 2020-12, as far
//! as OpenAPI 3.0 and 3.1 share it).
//!
//! What is made up is the least that the schema asks for: its required members, one item of a list. Depth and work are bounded,
//! and a schema that refers to itself ends where it does. Deliberately absent: texts that match a `pattern`.

use super::document::{Document, Kind, Node};
use crate::Text;
use crate::secrets::{Secrets, is_secret_field};
use headway_workload::yaml::{Map, Yaml};
use std::collections::HashSet;

/// The deepest nesting of what is made up.
const DEEPEST: usize = 8;
/// Deeper examples are cut, as YAML readers bound their depth.
const DEEPEST_EXAMPLE: usize = 24;
/// Most schemas that are looked at for one value.
const MOST_WORK: usize = 20_000;
/// Most schemas that are looked at for all values of a document.
const MOST_WORK_IN_ALL: usize = 500_000;
/// Most items and members of a list or mapping that are made up.
const MOST_MEMBERS: usize = 200;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    /// What the schema calls a password.
    Secret,
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The document has it as an example, default or the like.
    Document,
    /// It is made up from the schema.
    MadeUp,
}

/// Makes one value.
pub(super) struct Maker<'d> {
    document: &'d Document<'d>,
    /// Schemas that were looked at, of all values.
    pub work: usize,
    /// Where that ends.
    most: usize,
    /// References that are being followed.
    within: Vec<String>,
    /// Whether something was made up.
    made_up: bool,
    /// What could not be done, in words.
    pub lacks: Vec<String>,
}

impl<'d> Maker<'d> {
    /// For one value, after so much work for others.
    pub fn new(document: &'d Document<'d>, work: usize) -> Maker<'d> {
        let most = (work + MOST_WORK).min(MOST_WORK_IN_ALL);
        Maker { document, work, most, within: Vec::new(), made_up: false, lacks: Vec::new() }
    }

    /// The value of a parameter, a header or a media type: from `example`, `examples`, else its schema.
    pub fn of(&mut self, holder: &'d Node) -> (Value, Origin) {
        let schema = holder.get("schema");
        let secret = self.document.resolve(schema).is_ok_and(|s| s.get("format").text() == Some("password"));
        if secret {
            return (Value::Secret, Origin::Document);
        }
        if let Some(example) = self.example(holder) {
            return (literal(example, 0), Origin::Document);
        }
        let value = self.made(schema, 0).unwrap_or(Value::Text("text".to_owned()));
        (value, if self.made_up { Origin::MadeUp } else { Origin::Document })
    }

    fn example(&mut self, holder: &'d Node) -> Option<&'d Node> {
        let own = holder.get("example");
        if !own.is_null() {
            return Some(own);
        }
        for (_, example) in holder.get("examples").entries() {
            match self.document.resolve(example) {
                Ok(example) if !example.get("value").is_null() => return Some(example.get("value")),
                Ok(example) if !example.get("externalValue").is_null() => {
                    self.lack("its example is in another file, which is not read");
                }
                Ok(_) => {}
                Err(why) => self.lack(&why),
            }
        }
        None
    }

    fn lack(&mut self, why: &str) {
        if !self.lacks.iter().any(|known| known == why) {
            self.lacks.push(why.to_owned());
        }
    }

    /// A value of that schema; none where the schema refers to itself, nests too deep or allows none.
    fn made(&mut self, schema: &'d Node, depth: usize) -> Option<Value> {
        self.work += 1;
        if self.work > self.most {
            self.lack(match self.most {
                MOST_WORK_IN_ALL => "the document's schemas are too large to make values of all of them",
                _ => "its schema is too large to make a value of all of it",
            });
            return None;
        }
        if depth > DEEPEST {
            self.lack("its schema nests too deep: what lies deeper is left out");
            return None;
        }
        let reference = schema.get("$ref").text();
        if let Some(reference) = reference {
            if self.within.iter().any(|known| known == reference) {
                return None;
            }
            self.within.push(reference.to_owned());
        }
        let made = match self.document.resolve(schema) {
            Ok(resolved) => self.made_here(resolved, depth),
            Err(why) => {
                self.lack(&why);
                None
            }
        };
        if reference.is_some() {
            self.within.pop();
        }
        made
    }

    fn made_here(&mut self, schema: &'d Node, depth: usize) -> Option<Value> {
        if schema.get("format").text() == Some("password") {
            return Some(Value::Secret);
        }
        let given = ["example", "default", "const"].into_iter().map(|key| schema.get(key));
        let listed = ["examples", "enum"].into_iter().filter_map(|key| schema.get(key).items().first());
        if let Some(given) = given.chain(listed).find(|node| !node.is_null()) {
            return Some(literal(given, 0));
        }
        let object = self.object(schema);
        if !object.members.is_empty() {
            return Some(self.map(&object, depth));
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            for part in schema.get(key).items() {
                if let Some(value) = self.made(part, depth + 1) {
                    return Some(value);
                }
            }
        }
        self.made_up = true;
        match kind(schema) {
            "object" => Some(Value::Map(Vec::new())),
            "array" => {
                let n = schema.get("minItems").number().unwrap_or(1.0).clamp(1.0, 10.0) as usize;
                let item = self.made(schema.get("items"), depth + 1);
                Some(Value::List(item.map_or_else(Vec::new, |item| vec![item; n])))
            }
            "boolean" => Some(Value::Bool(true)),
            "null" => Some(Value::Null),
            "integer" => Some(Value::Number(format!("{}", number(schema).ceil() as i64))),
            "number" => Some(Value::Number(number(schema).to_string())),
            _ => Some(Value::Text(self.made_text(schema))),
        }
    }

    /// The members that a schema names, in all of its parts and the first of its alternatives.
    fn object(&mut self, schema: &'d Node) -> Object<'d> {
        let mut object = Object::default();
        let mut open = vec![(schema, 0)];
        while let Some((part, depth)) = open.pop() {
            self.work += 1;
            if self.work > self.most || depth > DEEPEST {
                break;
            }
            let Ok(part) = self.document.resolve(part) else { continue };
            object
                .members
                .extend(part.get("properties").entries().iter().map(|(name, node)| (name.as_str(), node)));
            object.required.extend(part.get("required").items().iter().filter_map(Node::text));
            let alternative = ["oneOf", "anyOf"].into_iter().filter_map(|key| part.get(key).items().first());
            open.extend(alternative.map(|first| (first, depth + 1)));
            open.extend(part.get("allOf").items().iter().rev().map(|all| (all, depth + 1)));
        }
        let mut names = HashSet::new();
        object.members.retain(|(name, _)| names.insert(*name));
        object
    }

    fn map(&mut self, object: &Object<'d>, depth: usize) -> Value {
        let optional = !object.members.iter().any(|(name, _)| object.required.contains(name));
        let mut members = Vec::new();
        for (name, schema) in &object.members {
            let wanted = optional || object.required.contains(name);
            let read_only =
                self.document.resolve(schema).is_ok_and(|schema| schema.get("readOnly").is_true());
            if !wanted || read_only {
                continue;
            }
            if members.len() >= MOST_MEMBERS {
                self.lack("its schema has too many members: the rest is left out");
                break;
            }
            match self.made(schema, depth + 1) {
                Some(value) => members.push(((*name).to_owned(), value)),
                None if object.required.contains(name) => {
                    self.lack(&format!(
                        "its required member '{name}' refers to itself or nests too deep, and is left out"
                    ));
                }
                None => {}
            }
        }
        Value::Map(members)
    }

    fn made_text(&mut self, schema: &'d Node) -> String {
        let format = schema.get("format").text().unwrap_or_default();
        let known = match format {
            "date-time" => "2026-01-31T12:00:00Z",
            "date" => "2026-01-31",
            "time" => "12:00:00Z",
            "duration" => "PT1S",
            "uuid" => "123e4567-e89b-42d3-a456-426614174000",
            "email" | "idn-email" => "someone@example.com",
            "uri" | "url" | "iri" => "https://example.com/",
            "uri-reference" | "iri-reference" => "/",
            "hostname" | "idn-hostname" => "example.com",
            "ipv4" => "192.0.2.1",
            "ipv6" => "2001:db8::1",
            "byte" => "dGV4dA==",
            _ => "",
        };
        if !known.is_empty() {
            return known.to_owned();
        }
        if let Some(pattern) = schema.get("pattern").text() {
            let pattern: String = pattern.chars().take(80).collect();
            self.lack(&format!("a text that matches {pattern} is not made up"));
        }
        let bound = |key: &str, default: f64| {
            schema.get(key).number().unwrap_or(default).clamp(0.0, 1_000.0) as usize
        };
        let (least, most) = (bound("minLength", 0.0), bound("maxLength", 1_000.0));
        "text".chars().cycle().take(4.max(least).min(most.max(least))).collect()
    }
}

#[derive(Default)]
struct Object<'d> {
    members: Vec<(&'d str, &'d Node)>,
    required: HashSet<&'d str>,
}

/// The type of a schema, of several the first that is not null; guessed where it does not say.
fn kind(schema: &Node) -> &str {
    let types = schema.get("type");
    let first = types.items().iter().filter_map(Node::text).find(|kind| *kind != "null");
    match types.text().or(first) {
        Some(kind) => kind,
        None if !schema.get("items").is_null() => "array",
        None if !schema.get("additionalProperties").is_null() => "object",
        None if !schema.get("minimum").is_null() => "number",
        None => "string",
    }
}

/// 1, or the nearest to it that the bounds allow.
fn number(schema: &Node) -> f64 {
    let above = |key: &str| schema.get(key).number();
    // In 3.0 these are truth values beside minimum and maximum.
    let step = schema.get("multipleOf").number().filter(|step| *step > 0.0);
    let exclusive = |key: &str| if schema.get(key).is_true() { 1.0 } else { 0.0 };
    let least = above("minimum")
        .map(|x| x + exclusive("exclusiveMinimum"))
        .or(above("exclusiveMinimum").map(|x| x + 1.0));
    let most = above("maximum")
        .map(|x| x - exclusive("exclusiveMaximum"))
        .or(above("exclusiveMaximum").map(|x| x - 1.0));
    let mut value = step.unwrap_or(1.0);
    if let Some(least) = least {
        value = value.max(step.map_or(least, |step| (least / step).ceil() * step));
    }
    if let Some(most) = most {
        value = value.min(most);
    }
    if value.is_finite() { value.clamp(-1e15, 1e15) } else { 1.0 }
}

/// A value as the document has it.
fn literal(node: &Node, depth: usize) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(yes) => Value::Bool(*yes),
        Kind::Number(digits) => Value::Number(digits.clone()),
        Kind::Text(text) => Value::Text(text.clone()),
        Kind::List(_) | Kind::Map(_) if depth >= DEEPEST_EXAMPLE => Value::Null,
        Kind::List(items) => Value::List(items.iter().map(|item| literal(item, depth + 1)).collect()),
        Kind::Map(entries) => Value::Map(
            entries.iter().map(|(name, value)| (name.clone(), literal(value, depth + 1))).collect(),
        ),
    }
}

impl Value {
    /// It as text, where texts are all there is: in paths, queries, headers and forms. `name` says whether it is a secret.
    pub fn plain(&self) -> String {
        match self {
            Value::Null => String::new(),
            Value::Bool(yes) => yes.to_string(),
            Value::Number(digits) => digits.clone(),
            Value::Text(text) => text.clone(),
            Value::Secret => "secret".to_owned(),
            Value::List(items) => items.iter().map(Value::plain).collect::<Vec<_>>().join(","),
            Value::Map(members) => members
                .iter()
                .map(|(name, value)| format!("{name},{}", value.plain()))
                .collect::<Vec<_>>()
                .join(","),
        }
    }

    /// It as JSON.
    pub fn json(&self) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(yes) => yes.to_string(),
            Value::Number(digits) => digits.clone(),
            Value::Text(of) => text(of),
            Value::Secret => text(&self.plain()),
            Value::List(items) => {
                format!("[{}]", items.iter().map(Value::json).collect::<Vec<_>>().join(","))
            }
            Value::Map(members) => {
                let member = |(name, value): &(String, Value)| format!("{}:{}", text(name), value.json());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Its items, or names and values in turn, as texts.
    pub fn parts(&self) -> Vec<String> {
        match self {
            Value::List(items) => items.iter().map(Value::plain).collect(),
            Value::Map(members) => {
                members.iter().flat_map(|(name, value)| [name.clone(), value.plain()]).collect()
            }
            one => vec![one.plain()],
        }
    }

    /// It as the `json:` of a scenario, texts as templates, secrets as variables.
    pub fn yaml(&self, name: &str, secrets: &mut Secrets) -> Yaml {
        let secret = !name.is_empty() && is_secret_field(name);
        match self {
            Value::Null => Yaml::plain("null"),
            Value::Bool(yes) => Yaml::plain(yes),
            Value::Number(digits) if digits.contains(['e', 'E']) || digits.len() > 18 => {
                Yaml::text(digits.as_str())
            }
            Value::Number(digits) => Yaml::plain(digits),
            Value::Secret => Yaml::text(secrets.field(name, "").as_str()),
            Value::Text(text) if secret && !text.is_empty() => Yaml::text(secrets.field(name, text).as_str()),
            Value::Text(text) => Yaml::text(Text::literal(text).as_str()),
            Value::List(items) => Yaml::List(items.iter().map(|item| item.yaml(name, secrets)).collect()),
            Value::Map(members) => {
                let mut map = Map::new();
                // Keys hold no templates and end at 1,024 characters in YAML.
                for (name, value) in members.iter().filter(|(name, _)| is_key(name)) {
                    map.push(name.clone(), value.yaml(name, secrets));
                }
                Yaml::Map(map)
            }
        }
    }

    /// Whether a member cannot stand in a scenario, because of its name.
    pub fn has_odd_names(&self) -> bool {
        match self {
            Value::List(items) => items.iter().any(Value::has_odd_names),
            Value::Map(members) => members.iter().any(|(name, value)| !is_key(name) || value.has_odd_names()),
            _ => false,
        }
    }
}

/// A list or an object as a path has it by its style (OpenAPI, style values; RFC 6570, 3.2), percent-encoded.
pub(super) fn expanded(style: &str, explode: bool, name: &str, value: &Value) -> String {
    let (lead, between) = match style {
        "label" => (".", if explode { "." } else { "," }),
        "matrix" => (";", if explode { ";" } else { "," }),
        _ => ("", ","),
    };
    let name = super::encoded(name);
    let pairs = |members: &[(String, Value)]| -> Vec<String> {
        let pair = |(name, value): &(String, Value)| {
            format!("{}={}", super::encoded(name), super::encoded(&value.plain()))
        };
        members.iter().map(pair).collect()
    };
    let parts: Vec<String> = match value {
        Value::Map(members) if explode => pairs(members),
        Value::List(items) if explode && style == "matrix" => {
            items.iter().map(|item| format!("{name}={}", super::encoded(&item.plain()))).collect()
        }
        value => value.parts().iter().map(|part| super::encoded(part)).collect(),
    };
    let named = if style == "matrix" && !explode { format!("{name}=") } else { String::new() };
    format!("{lead}{named}{}", parts.join(between))
}

fn is_key(name: &str) -> bool {
    name.len() <= 200 && !name.contains("{{") && !name.contains("${")
}
