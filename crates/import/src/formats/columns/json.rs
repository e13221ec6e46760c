//! Lines that are JSON objects: columns are keys, of objects inside with a dot between them.

use super::spec::{Column, Spec};
use serde_json::{Map, Value};

/// What stands under the keys of each part, in the order of the parts; nothing where a key is not there. None if the line is no object.
pub(super) fn values(spec: &Spec, line: &[u8]) -> Option<Vec<String>> {
    let object: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let of = |column: &Column| match column {
        Column::Name(name) => get(&object, name).map_or_else(String::new, text),
        Column::Number(_) => String::new(),
    };
    Some(spec.parts.iter().map(|part| of(&part.column)).collect())
}

/// A key as it stands, else the way through objects that it names.
fn get<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        rest.split('.').try_fold(object.get(first)?, |value, key| value.get(key))
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
