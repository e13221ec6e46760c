//! An OpenAPI document as a tree of values with their lines, and its references.
//!
//! Deliberately absent: other files. A reference out of the document is reported, not followed.

use anyhow::{Result, anyhow};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Spanned};
use std::fmt;

/// Most values in a document, aliases of YAML counted as often as they stand for something.
const MOST_VALUES: usize = 2_000_000;
/// Deepest nesting.
const DEEPEST: usize = 128;
/// Most references that lead to one another.
const MOST_HOPS: usize = 32;

/// A value, and the line that it begins on: that of its key, where it has one.
#[derive(Debug)]
pub(super) struct Node {
    pub line: u64,
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// Its digits.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// The value of what is absent.
static NOTHING: Node = Node { line: 0, kind: Kind::Null };

impl Node {
    /// The entry of that name; nothing (null) where there is none.
    pub fn get(&self, key: &str) -> &Node {
        self.entries().iter().find(|(name, _)| name == key).map_or(&NOTHING, |(_, value)| value)
    }

    /// Its entries in order; none of what is no mapping.
    pub fn entries(&self) -> &[(String, Node)] {
        if let Kind::Map(entries) = &self.kind { entries } else { &[] }
    }

    /// Its items; none of what is no list.
    pub fn items(&self) -> &[Node] {
        if let Kind::List(items) = &self.kind { items } else { &[] }
    }

    /// Its text; none of what is no text.
    pub fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The number that it is.
    pub fn number(&self) -> Option<f64> {
        if let Kind::Number(digits) = &self.kind { digits.parse().ok() } else { None }
    }

    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        matches!(self.kind, Kind::Bool(true))
    }

    /// Whether there is nothing.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }
}

/// A document, by the name of its file.
pub(super) struct Document<'a> {
    pub file: &'a str,
    pub root: Node,
}

impl<'a> Document<'a> {
    /// Reads YAML or JSON, which is YAML as well.
    ///
    /// # Errors
    /// What is neither, nests too deep or holds too much, with its line.
    pub fn read(file: &'a str, text: &str) -> Result<Document<'a>> {
        let options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::FirstWins,
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            underscored_numbers_as_strings: true,
            non_finite_float_policy: NonFiniteFloatPolicy::AsString,
            with_snippet: false,
            budget: serde_saphyr::budget! {
                max_depth: DEEPEST,
                max_nodes: MOST_VALUES,
                max_events: 2 * MOST_VALUES,
            },
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
            Ok(raw) => Ok(Document { file, root: node(raw, None) }),
            Err(error) => {
                let error = error.without_snippet();
                let line = error.location().map_or(1, |at| at.line());
                let why = error.to_string();
                Err(anyhow!(
                    "{file}:{line}: this is no OpenAPI document, which is YAML or JSON: {why}; name an OpenAPI 3.0 or 3.1 document, nested at most {DEEPEST} deep, of at most {MOST_VALUES} values"
                ))
            }
        }
    }

    /// `FILE:LINE` of a value.
    pub fn place(&self, node: &Node) -> String {
        format!("{}:{}", self.file, node.line.max(1))
    }

    /// What a value with `$ref` refers to, the value itself where it has none.
    ///
    /// # Errors
    /// Why it leads nowhere, in words.
    pub fn resolve<'d>(&'d self, node: &'d Node) -> Result<&'d Node, String> {
        let mut at = node;
        for _ in 0..MOST_HOPS {
            let Some(reference) = at.get("$ref").text() else { return Ok(at) };
            at = self.pointed(reference)?;
        }
        Err("its $ref leads in a circle".to_owned())
    }

    fn pointed(&self, reference: &str) -> Result<&Node, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("$ref '{reference}' is in another file, which is not read"));
        };
        let mut at = &self.root;
        for key in pointer.split('/').skip(1) {
            // A pointer in a fragment is percent-encoded (RFC 6901, 6).
            let decoded: String =
                url::form_urlencoded::parse(format!("k={}", key.replace('+', "%2B")).as_bytes())
                    .map(|(_, key)| key.into_owned())
                    .collect();
            let key = decoded.replace("~1", "/").replace("~0", "~");
            at = match &at.kind {
                Kind::List(items) => key.parse().ok().and_then(|i: usize| items.get(i)).unwrap_or(&NOTHING),
                _ => at.get(&key),
            };
        }
        if at.is_null() { Err(format!("$ref '{reference}' leads to nothing")) } else { Ok(at) }
    }
}

fn node(raw: Spanned<Raw>, line_of_key: Option<u64>) -> Node {
    let line = line_of_key.unwrap_or_else(|| raw.referenced.line());
    let kind = match raw.value {
        Raw::Null => Kind::Null,
        Raw::Bool(yes) => Kind::Bool(yes),
        Raw::Number(digits) => Kind::Number(digits),
        Raw::Text(text) => Kind::Text(text),
        Raw::List(items) => Kind::List(items.into_iter().map(|item| node(item, None)).collect()),
        Raw::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let line = key.referenced.line();
                    let key = match key.value {
                        Raw::Text(text) | Raw::Number(text) => text,
                        Raw::Bool(yes) => yes.to_string(),
                        Raw::Null | Raw::List(_) | Raw::Map(_) => String::new(),
                    };
                    (key, node(value, Some(line)))
                })
                .collect(),
        ),
    };
    Node { line, kind }
}

/// A value as the parser hands it over.
enum Raw {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }
    fn visit_bool<E>(self, yes: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(yes))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }
    fn visit_i128<E>(self, number: i128) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }
    fn visit_u128<E>(self, number: u128) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }
    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}
