//! The JSON Schema knows every key, accepts every example, and refuses what the reader refuses.

use crate::examples;
use headway_workload::scenario::schema;
use serde_json::{Map, Value};

/// Whether a value is valid; of the schema language it knows what the schema uses, and stops at what it does not.
fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let schema: &Map<String, Value> = match schema {
        Value::Bool(all) => return *all,
        _ => schema.as_object().unwrap(),
    };
    let every =
        |all: &Value, of: &dyn Fn(&Value) -> bool| all.as_array().unwrap().iter().filter(|s| of(s)).count();
    schema.iter().all(|(keyword, said)| match keyword.as_str() {
        "$schema" | "$defs" | "definitions" | "title" | "description" | "examples" => true,
        "$ref" => valid(root, root.pointer(said.as_str().unwrap().trim_start_matches('#')).unwrap(), value),
        "type" => match said {
            Value::String(one) => is_a(value, one),
            several => several.as_array().unwrap().iter().any(|one| is_a(value, one.as_str().unwrap())),
        },
        "enum" => said.as_array().unwrap().contains(value),
        "anyOf" => every(said, &|s| valid(root, s, value)) > 0,
        "oneOf" => every(said, &|s| valid(root, s, value)) == 1,
        "allOf" => said.as_array().unwrap().iter().all(|s| valid(root, s, value)),
        "required" => said.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(root, said, item))),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= said.as_u64().unwrap()),
        "properties" => value.as_object().is_none_or(|members| {
            members.iter().all(|(key, member)| said.get(key).is_none_or(|schema| valid(root, schema, member)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|members| {
            let known = |key: &str| schema.get("properties").is_some_and(|known| known.get(key).is_some());
            members.iter().all(|(key, member)| known(key) || valid(root, said, member))
        }),
        other => panic!("a keyword that this test does not know: {other}"),
    })
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type that this test does not know: {other}"),
    }
}

fn parsed() -> Value {
    serde_json::from_str(&schema()).unwrap()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

#[test]
fn every_example_is_valid() {
    let schema = parsed();
    let short = "{ users: { arrive: {}, phases: [30s@50, { hold: 1m }] }, journey: [{ get: / }] }";
    assert!(valid(&schema, &schema, &yaml(short)));
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    for (name, text) in examples::all() {
        assert!(valid(&schema, &schema, &yaml(&text)), "{name}");
    }
}

#[test]
fn what_the_reader_refuses_by_its_shape_is_not_valid() {
    let schema = parsed();
    let refused = [
        "{}",
        "users: { arive: { rate: 1/s } }",
        "users: { arrive: { rate: 1/s }, closed: { count: 1 } }",
        "users: []",
        "users: { arrive: { rate: 20 } }",
        "users: { at-once: 1, connections: mine }",
        "{ users: { at-once: 1 }, journey: { get: / } }",
        "{ users: { at-once: 1 }, journey: [{ get: /, post: / }] }",
        "{ users: { at-once: 1 }, journey: [{ steps: [] }] }",
        "{ users: { at-once: 1, phases: [{ ramp: 3s }] } }",
        "{ users: { arrive: {}, phases: [{ hold: 3s, ramp: 3s, to: 1/s }, 3s@5] } }",
        "{ users: { arrive: {}, phases: [3] } }",
        "{ users: { at-once: 1 }, data: { a: { take: random } } }",
        "{ users: { at-once: 1 }, model: { service: 1ms, workers: 4 } }",
        "{ users: { at-once: 1 }, model: { balancer: randomly, pool: { service: 1ms } } }",
        "{ users: { at-once: 1 }, model: { balancer: { policy: random, ties: first }, pool: { service: 1ms } } }",
        "{ users: { at-once: 1 }, model: { balancer: random, pool: { servers: 3 } } }",
        "{ users: { at-once: 1 }, model: { balancer: random, to: [{ service: 1ms, parts: {} }] } }",
        "{ users: { at-once: 1 }, model: { balancer: random, to: [] } }",
        "{ users: { at-once: 1 }, model: { service: 1ms, discipline: random } }",
        "{ users: { at-once: 1 }, model: { service: 1ms, faults: { up: 1s } } }",
        "{ users: { at-once: 1 }, models: { a: { to: { service: 1ms, breaker: { open: 1s } } } } }",
    ];
    for text in refused {
        assert!(!valid(&schema, &schema, &yaml(text)), "{text}");
        assert!(crate::common::read_text(&format!("{text}\n")).is_err(), "{text}");
    }
}

#[test]
fn every_key_says_what_it_is() {
    fn walk(at: &str, value: &Value, keys: &mut usize) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (key, schema) in properties {
                *keys += 1;
                assert!(
                    schema.get("description").is_some_and(|d| !d.as_str().unwrap().is_empty()),
                    "{at}/{key}"
                );
            }
        }
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| walk(&format!("{at}/{key}"), value, keys))
            }
            Value::Array(items) => items.iter().for_each(|value| walk(at, value, keys)),
            _ => {}
        }
    }
    let mut keys = 0;
    walk("", &parsed(), &mut keys);
    assert!(keys > 90, "{keys}");
}
