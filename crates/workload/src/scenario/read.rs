//! From the tree to types: a reader that collects complaints and goes on, so that one run shows every mistake.
//!
//! `mapping!` makes a struct, its reader and its JSON Schema from one list of keys, so that the three cannot disagree.

use super::Surroundings;
use super::source::{Problem, Span};
use super::tree::{Kind, Scalar, Tree};
use crate::arrivals::Logged;
use crate::redact::Redactor;
use headway_base::units::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::sync::Arc;

/// What readers share: the world around the file, and what was wrong so far.
pub(super) struct Reader<'a> {
    around: &'a Surroundings<'a>,
    /// What names pass that reports show.
    pub gate: Redactor,
    pub problems: Vec<Problem>,
    /// Files that were read, in order, each once.
    pub files: Vec<String>,
    /// How deep within each other the parts of a model stand that are being read.
    pub depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(around: &'a Surroundings<'a>, gate: Redactor) -> Reader<'a> {
        Reader { around, gate, problems: Vec::new(), files: Vec::new(), depth: 0 }
    }

    /// Takes note of a problem; always none, so that a caller can return it.
    pub fn complain<T>(&mut self, problem: Problem) -> Option<T> {
        self.problems.push(problem);
        None
    }

    /// The arrivals of a log that the scenario names.
    pub fn log(&mut self, name: &str) -> Result<Arc<Logged>, String> {
        let logged = (self.around.log)(name)?;
        if !self.files.iter().any(|f| f == name) {
            self.files.push(name.to_owned());
        }
        Ok(logged)
    }

    /// The bytes of a file that the scenario names.
    pub fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = (self.around.read)(name)?;
        if !self.files.iter().any(|f| f == name) {
            self.files.push(name.to_owned());
        }
        Ok(bytes)
    }
}

/// What can be read from a part of the file.
pub(super) trait Read: Sized {
    /// Reads it; none if something is wrong, which the reader then knows.
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Self>;
}

impl Tree {
    /// The text or number that stands here, or a complaint that `wanted` (such as `example`) was.
    pub fn scalar(&self, reader: &mut Reader<'_>, wanted: &str, example: &str) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            _ => self.wrong(reader, wanted, example),
        }
    }

    /// Complains that this is not what was wanted, unless it has been complained about.
    pub fn wrong<T>(&self, reader: &mut Reader<'_>, wanted: &str, example: &str) -> Option<T> {
        let title = match self.kind {
            Kind::Broken => return None,
            Kind::Null => format!("{wanted} is wanted here, and nothing stands here"),
            _ => format!("{wanted} is wanted here, not {}", self.describe()),
        };
        reader.complain(Problem::new(self.span, title).help(format!("write for example {example}")))
    }
}

/// The keys of a mapping and where they stand.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// Where the mapping begins.
    pub span: Span,
    keys: Vec<(String, Span)>,
}

impl Keys {
    pub fn new(span: Span, entries: &Entries<'_>) -> Keys {
        Keys { span, keys: entries.iter().map(|(key, _)| (key.text.clone(), key.span)).collect() }
    }

    /// Where a key stands; the mapping's beginning if it is not there.
    pub fn at(&self, name: &str) -> Span {
        self.keys.iter().find(|(key, _)| key == name).map_or(self.span, |(_, span)| *span)
    }

    /// Whether a key was written.
    pub fn has(&self, name: &str) -> bool {
        self.keys.iter().any(|(key, _)| key == name)
    }

    /// Which one of these keys was written; `what` may have only one of them, and needs one.
    pub fn one_of(&self, what: &str, names: &[&'static str]) -> Result<&'static str, Problem> {
        let mut given = names.iter().filter(|name| self.has(name));
        let all = names.join(", ");
        match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            (Some(first), Some(second)) => {
                let title = format!("{what} cannot have both '{first}' and '{second}'");
                let (a, b) = (self.at(first), self.at(second));
                Err(Problem::new(a.max(b), title)
                    .other(a.min(b), "and here")
                    .help(format!("write one of {all}")))
            }
            (None, _) => {
                let title = format!("{what} lacks one of {all}");
                Err(Problem::new(self.span, title))
            }
        }
    }

    /// The problems with keys besides `of` that `what` has no use for.
    pub fn only(&self, what: &str, of: &str, others: &[&str]) -> Vec<Problem> {
        let odd = self.keys.iter().filter(|(key, _)| key != of && !others.contains(&key.as_str()));
        odd.map(|(key, span)| {
            let problem = Problem::new(*span, format!("{what} has no use for '{key}'"));
            problem.help(match others {
                [] => format!("write {of} alone"),
                _ => format!("other keys that go with {of}: {}", others.join(", ")),
            })
        })
        .collect()
    }
}

/// The name of a key whose field is called so.
pub(super) fn key(field: &str) -> String {
    field.trim_start_matches("r#").replace('_', "-")
}

/// Entries of a mapping.
pub(super) type Entries<'t> = Vec<(&'t Scalar, &'t Tree)>;

/// The entries of a mapping that may have these keys. Others are complained about and left out.
pub(super) fn entries<'t>(
    tree: &'t Tree,
    what: &str,
    example: &str,
    keys: &[String],
    reader: &mut Reader<'_>,
) -> Option<Entries<'t>> {
    let Kind::Mapping(all) = &tree.kind else {
        return tree.wrong(reader, &format!("a mapping for {what}"), example);
    };
    let mut kept: Entries<'t> = Vec::with_capacity(all.len());
    let mut at = 0;
    while let Some((key, value)) = all.get(at) {
        at += 1;
        if keys.contains(&key.text) {
            kept.push((key, value));
            continue;
        }
        if let Some((cut, taken)) = kept.last().and_then(|(_, value)| cut_at_comma(value, &all[at - 1..])) {
            kept.pop();
            reader.problems.push(cut);
            at += taken - 1;
            continue;
        }
        let problem = Problem::new(key.span, format!("{what} has no key '{}'", key.text)).unknown();
        reader.problems.push(match nearest(&key.text, keys.iter().map(String::as_str)) {
            Some(guess) => problem.guess(Some(guess)),
            None => problem.help(format!("its keys are {}", keys.join(", "))),
        });
    }
    Some(kept)
}

/// The problem with `{ think: shifted(1s, uniform(0s, 2s)) }`, which YAML cuts at the commas, and how many of the keys that
/// follow belong to the value.
fn cut_at_comma(value: &Tree, after: &[(Scalar, Tree)]) -> Option<(Problem, usize)> {
    let Kind::Scalar(value) = &value.kind else { return None };
    let open = |text: &str| text.matches('(').count() as i64 - text.matches(')').count() as i64;
    let (mut whole, mut depth) = (value.text.clone(), open(&value.text));
    if depth <= 0 {
        return None;
    }
    for (n, (key, rest)) in (1..).zip(after) {
        whole = format!("{whole}, {}", key.text);
        depth += open(&key.text);
        if depth <= 0 {
            let span = Span { start: value.span.start, end: key.span.end };
            let problem = Problem::new(span, "within { } a comma ends the value");
            return Some((problem.help(format!("put it in quotes: \"{whole}\"")), n));
        }
        if !matches!(rest.kind, Kind::Null) {
            return None;
        }
    }
    None
}

/// Complains about keys that are missing; not where there are unknown ones, which may be those, misspelt.
pub(super) fn lacks(
    tree: &Tree,
    entries: &Entries<'_>,
    what: &str,
    example: &str,
    required: &[String],
    reader: &mut Reader<'_>,
) {
    let Kind::Mapping(all) = &tree.kind else { return };
    if all.len() == entries.len() {
        for missing in required.iter().filter(|name| !entries.iter().any(|(key, _)| key.text == **name)) {
            let title = format!("{what} needs the key '{missing}'");
            reader.problems.push(Problem::new(tree.span, title).help(format!("for example {example}")));
        }
    }
}

/// A struct of optional keys, how it is read, and its schema. `requires` names the keys that must be there.
macro_rules! mapping {
    (
        $(#[doc = $about:literal])*
        $name:ident, $what:literal, $example:literal, requires [$($required:ident),*] {
            $($(#[doc = $doc:literal])* $field:ident: $type:ty,)*
        }
        $(schema $extra:tt)?
    ) => {
        $(#[doc = $about])*
        #[derive(Debug)]
        #[allow(dead_code, clippy::allow_attributes, reason = "where keys stand matters where they can clash")]
        pub(in crate::scenario) struct $name {
            /// Which keys were written, and where.
            pub keys: $crate::scenario::read::Keys,
            $($(#[doc = $doc])* pub $field: Option<$type>,)*
        }

        impl $name {
            /// The names of all keys.
            #[allow(dead_code, clippy::allow_attributes, reason = "asked where a mapping is taken apart")]
            pub(in crate::scenario) fn all_keys() -> Vec<String> {
                vec![$($crate::scenario::read::key(stringify!($field))),*]
            }
        }

        impl $crate::scenario::read::Read for $name {
            fn read(
                tree: &$crate::scenario::tree::Tree,
                reader: &mut $crate::scenario::read::Reader<'_>,
            ) -> Option<$name> {
                use $crate::scenario::read::{entries, field, key, lacks};
                let keys = $name::all_keys();
                let before = reader.problems.len();
                let entries = entries(tree, $what, $example, &keys, reader)?;
                $(let $field = field::<$type>(&entries, &key(stringify!($field)), reader);)*
                let required: &[String] = &[$(key(stringify!($required))),*];
                lacks(tree, &entries, $what, $example, required, reader);
                let keys = $crate::scenario::read::Keys::new(tree.span, &entries);
                (reader.problems.len() == before).then_some($name { keys, $($field,)* })
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            #[allow(unused_mut, clippy::allow_attributes, reason = "not every mapping has more to say")]
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                use $crate::scenario::read::{described, key, sentence};
                let mut properties = serde_json::Map::new();
                $({
                    let schema = described(generator.subschema_for::<$type>(), &sentence(&[$($doc),*]));
                    properties.insert(key(stringify!($field)), schema.to_value());
                })*
                let mut schema = schemars::json_schema!({
                    "description": sentence(&[$($about),*]),
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": false,
                });
                let required: Vec<String> = vec![$(key(stringify!($required))),*];
                if !required.is_empty() {
                    schema.insert("required".to_owned(), required.into());
                }
                $(if let serde_json::Value::Object(more) = serde_json::json!($extra) {
                    for (key, value) in more {
                        schema.insert(key, value);
                    }
                })?
                schema
            }
        }
    };
}
pub(super) use mapping;

/// The value of a key, if it is there and can be read.
pub(super) fn field<T: Read>(entries: &Entries<'_>, key: &str, reader: &mut Reader<'_>) -> Option<T> {
    let (_, tree) = entries.iter().find(|(k, _)| k.text == key)?;
    T::read(tree, reader)
}

/// Lines of a doc comment as one text.
pub(super) fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// A schema with a description of its own.
pub(super) fn described(mut schema: Schema, description: &str) -> Schema {
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
    schema
}

/// For keys that few of many mappings have.
impl<T: Read> Read for Box<T> {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Box<T>> {
        T::read(tree, reader).map(Box::new)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Vec<T>> {
        let Kind::List(items) = &tree.kind else {
            return tree.wrong(reader, "a list", "[a, b], or one entry a line, each after '- '");
        };
        // All are read, so that all complain.
        let read: Vec<Option<T>> = items.iter().map(|item| T::read(item, reader)).collect();
        read.into_iter().collect()
    }
}

/// A mapping with names of the user's own, in order.
#[derive(Debug)]
pub(super) struct Named<T>(pub Vec<(Scalar, T)>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(Vec::new())
    }
}

impl<T: Read> Read for Named<T> {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Named<T>> {
        let Kind::Mapping(entries) = &tree.kind else {
            return tree.wrong(reader, "a mapping", "{ name: value }");
        };
        let read: Vec<Option<(Scalar, T)>> =
            entries.iter().map(|(name, value)| Some((name.clone(), T::read(value, reader)?))).collect();
        read.into_iter().collect::<Option<_>>().map(Named)
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("NamesOf{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

/// A single value for short, or a mapping that says more.
#[derive(Debug)]
pub(super) enum OrFull<S, F> {
    Short(S),
    Full(F),
}

impl<S: Read, F: Read> Read for OrFull<S, F> {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<OrFull<S, F>> {
        match &tree.kind {
            Kind::Scalar(_) => S::read(tree, reader).map(OrFull::Short),
            _ => F::read(tree, reader).map(OrFull::Full),
        }
    }
}

impl<S: JsonSchema, F: JsonSchema> JsonSchema for OrFull<S, F> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("{}Or{}", S::schema_name(), F::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (short, full) = (generator.subschema_for::<S>(), generator.subschema_for::<F>());
        json_schema!({ "anyOf": [short, full] })
    }
}

/// One of them, or a list.
#[derive(Debug)]
pub(super) struct OneOrMany<T> {
    pub span: Span,
    pub items: Vec<T>,
    /// Whether it was written as a list.
    pub listed: bool,
}

impl<T: Read> Read for OneOrMany<T> {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<OneOrMany<T>> {
        let listed = matches!(tree.kind, Kind::List(_));
        let items = if listed { Vec::read(tree, reader)? } else { vec![T::read(tree, reader)?] };
        Some(OneOrMany { span: tree.span, items, listed })
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMore{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}
