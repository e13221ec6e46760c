//! An OpenAPI document as a tree of values with their lines, and its references.
//!
//! Deliberately absent: other files. A reference out of the document is reported, not followed.

use anyhow::{Result, anyhow};
use headway_workload::raw::Raw;
use serde::{Deserialize, Deserializer};
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Spanned};

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
        match serde_saphyr::from_str_with_options::<Node>(text, options) {
            Ok(root) => Ok(Document { file, root }),
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

/// Each value is made as it is read: a document is in memory once.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        let raw = Spanned::<Raw<Node, Node>>::deserialize(deserializer)?;
        let kind = match raw.value {
            Raw::Null => Kind::Null,
            Raw::Bool(yes) => Kind::Bool(yes),
            Raw::Number(number) => Kind::Number(number.to_string()),
            Raw::Odd(digits) => Kind::Number(digits),
            Raw::Text(text) => Kind::Text(text),
            Raw::List(items) => Kind::List(items),
            Raw::Map(entries) => Kind::Map(entries.into_iter().map(Node::entry).collect()),
        };
        Ok(Node { line: raw.referenced.line(), kind })
    }
}

impl Node {
    /// An entry of a mapping, whose value is on the line of its key.
    fn entry((key, value): (Node, Node)) -> (String, Node) {
        let name = match key.kind {
            Kind::Text(text) | Kind::Number(text) => text,
            Kind::Bool(yes) => yes.to_string(),
            Kind::Null | Kind::List(_) | Kind::Map(_) => String::new(),
        };
        (name, Node { line: key.line, kind: value.kind })
    }
}
