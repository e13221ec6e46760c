//! JSON as it was written: members in their order, numbers as their digits.
//!
//! A body becomes `json:` in a scenario only where writing it anew gives the same: a member that stands twice, a number
//! with more digits than a reader keeps, and what nests or names too much for YAML make it text instead.

use super::secrets::{Secrets, is_secret_field};
use headway_workload::raw::Raw;
use headway_workload::yaml::{Map, Yaml};
use serde::Deserialize;
use std::collections::HashSet;

/// The deepest nesting that becomes YAML.
const DEEPEST: usize = 32;
/// The longest name of a member that becomes YAML, whose keys end at 1,024 characters.
const LONGEST_NAME: usize = 200;

#[derive(Deserialize)]
#[serde(transparent)]
struct Json(Raw<String, Json>);

/// The body as a scenario's `json:`, texts as templates, secrets as variables. None if that would be another body.
pub(super) fn body(text: &str, secrets: &mut Secrets) -> Option<Yaml> {
    let json: Json = serde_json::from_str(text).ok()?;
    let mut numbers = Vec::new();
    if !json.fits(0, &mut numbers) || numbers != written_numbers(text) || json.has_secret_number(false) {
        return None;
    }
    Some(json.yaml(None, false, secrets))
}

impl Json {
    /// Whether YAML can hold it; collects its numbers as they would be written.
    fn fits(&self, depth: usize, numbers: &mut Vec<String>) -> bool {
        match &self.0 {
            Raw::Odd(_) => false,
            Raw::Null | Raw::Bool(_) | Raw::Text(_) => true,
            Raw::Number(number) => {
                let written = number.to_string();
                // What is no 64-bit integer and no plain decimal is left to whoever wrote it.
                let plain = !written.contains('e') && (!number.is_u64() || number.is_i64());
                numbers.push(written);
                plain
            }
            Raw::List(items) => depth < DEEPEST && items.iter().all(|item| item.fits(depth + 1, numbers)),
            Raw::Map(members) => {
                let mut names = HashSet::new();
                depth < DEEPEST
                    && members.iter().all(|(name, value)| {
                        name.len() <= LONGEST_NAME
                            && !name.contains("{{")
                            && !name.contains("${")
                            && names.insert(name)
                            && value.fits(depth + 1, numbers)
                    })
            }
        }
    }

    /// Whether a number is a secret by its name: a variable in its place would be a text.
    fn has_secret_number(&self, secret: bool) -> bool {
        match &self.0 {
            Raw::Number(_) => secret,
            Raw::List(items) => items.iter().any(|item| item.has_secret_number(secret)),
            Raw::Map(members) => {
                let named = names_a_secret(members);
                members.iter().any(|(name, value)| {
                    value.has_secret_number(secret || is_secret_field(name) || (named && name == "value"))
                })
            }
            _ => false,
        }
    }

    /// `secret`: whether all that it holds is, by the name of what it is in.
    fn yaml(self, name: Option<&str>, secret: bool, secrets: &mut Secrets) -> Yaml {
        match self.0 {
            Raw::Null => Yaml::plain("null"),
            Raw::Odd(digits) => Yaml::plain(digits),
            Raw::Bool(yes) => Yaml::plain(yes),
            Raw::Number(number) => Yaml::plain(number),
            Raw::Text(text) => match name.filter(|_| secret && !text.is_empty()) {
                Some(name) => Yaml::text(secrets.field(name, &text).as_str()),
                None => {
                    let of = name.map_or_else(|| "the body".to_owned(), |name| format!("the field {name}"));
                    Yaml::text(secrets.text(name.unwrap_or("BODY"), &text, &of).as_str())
                }
            },
            Raw::List(items) => {
                Yaml::List(items.into_iter().map(|item| item.yaml(name, secret, secrets)).collect())
            }
            Raw::Map(members) => {
                let mut map = Map::new();
                let named = names_a_secret(&members);
                for (name, value) in members {
                    let secret = secret || is_secret_field(&name) || (named && name == "value");
                    let value = value.yaml(Some(&name), secret, secrets);
                    map.push(name, value);
                }
                Yaml::Map(map)
            }
        }
    }
}

/// Whether one of the members says that the one called `value` is a secret: `{"name": "token", "value": "x"}`.
fn names_a_secret(members: &[(String, Json)]) -> bool {
    members.iter().any(|(name, value)| {
        let naming = ["name", "key", "field"].contains(&name.to_ascii_lowercase().as_str());
        matches!(&value.0, Raw::Text(text) if naming && is_secret_field(text))
    })
}

/// The numbers of a JSON text, as they stand there.
fn written_numbers(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    let (mut in_text, mut escaped, mut start) = (false, false, None);
    for (at, byte) in text.bytes().enumerate() {
        if in_text {
            (in_text, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        let of_number =
            byte.is_ascii_digit() || b"+-.".contains(&byte) || (start.is_some() && b"eE".contains(&byte));
        match (of_number, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                numbers.push(text[from..at].to_owned());
                start = None;
            }
            _ => {}
        }
        in_text = byte == b'"';
    }
    numbers.extend(start.map(|from| text[from..].to_owned()));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> Option<String> {
        let mut map = Map::new();
        map.push("json", body(text, &mut Secrets::default())?);
        Some(map.document())
    }

    #[test]
    fn bodies_keep_their_order_and_their_types() {
        let expected = "json:\n  z: 1\n  a:\n    - true\n    - null\n    - \"1\"\n    - 1.5\n    -\n      - {}\n      - []\n";
        assert_eq!(yaml(r#" {"z":1, "a":[true,null,"1",1.5,[{},[]]]} "#).unwrap(), expected);
        assert_eq!(yaml(r#""{{x}} ${y}""#).unwrap(), "json: \"\\\\{{x}} $${y}\"\n");
        assert_eq!(yaml("-12").unwrap(), "json: -12\n");
    }

    #[test]
    fn what_would_come_out_otherwise_stays_text() {
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        for text in [
            "{\"a\":1,\"a\":2}",
            "1.0000000000000000001",
            "12345678901234567890123",
            "18446744073709551615",
            "[1e5]",
            "-0",
            "{\"{{a}}\":1}",
            "{\"${a}\":1}",
            "{",
            &deep,
        ] {
            assert_eq!(yaml(text), None, "{text}");
        }
        assert!(yaml("[1.0, \"1e5\", \"a\\\"1e5\", \"\\\\\", 2]").is_some());
    }

    #[test]
    fn members_that_are_secrets_become_variables() {
        let mut secrets = Secrets::default();
        let mut map = Map::new();
        map.push("json", body(r#"{"user":"me","password":"pw","pin":{"token":"t"}}"#, &mut secrets).unwrap());
        let text = map.document();
        assert!(text.contains("password: \"${HEADWAY_SECRET_PASSWORD}\""), "{text}");
        assert!(text.contains("token: \"${HEADWAY_SECRET_TOKEN}\"") && text.contains("user: me"), "{text}");
        let text = r#"{"passwords":["a1",{"x":"b2"}],"credentials":{"id":"c3"},"all":[{"key":"token","value":"d4"}],"to":"http://h/?sig=e5&a=1","n":7}"#;
        let mut map = Map::new();
        map.push("json", body(text, &mut secrets).unwrap());
        let text = map.document();
        assert!(["a1", "b2", "c3", "d4", "e5"].iter().all(|secret| !text.contains(secret)), "{text}");
        assert!(text.contains("\"n\": 7") && text.contains("key: token") && text.contains("&a=1"), "{text}");
        assert_eq!(body(r#"{"pin": 1234}"#, &mut secrets), None);
    }
}
