//! A scenario's tree as the text of a file.
//!
//! What is read from it is what was read: references to the environment stay as they were written.

use super::literals::without_defaults;
use super::source::Span;
use super::tree::{Kind, Scalar, Tree, Typed};
use crate::redact::{REDACTED, Redactor};
use crate::yaml::{Map, Yaml, comment};

/// Keys that stand first in a file, in this order.
const FIRST: &[&str] = &["name", "target", "seed"];

/// The tree as a file, without the secrets at those places and without others that the redactor knows.
pub(super) fn of(tree: &Tree, secrets: &[Span], redactor: &Redactor) -> String {
    let writer = Writer { secrets, redactor };
    let Kind::Mapping(entries) = &tree.kind else { return String::new() };
    let order = |key: &Scalar| FIRST.iter().position(|first| *first == key.text).unwrap_or(FIRST.len());
    let mut entries: Vec<&(Scalar, Tree)> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| order(key));
    let text = writer.map(entries.into_iter()).document();
    let hidden = redactor.hide(&text);
    if !hidden.contains(REDACTED) {
        return text;
    }
    let mut out = String::new();
    comment(
        &format!("Secrets are replaced by {REDACTED}: put references such as ${{TOKEN}} in their place."),
        0,
        &mut out,
    );
    out + &hidden
}

struct Writer<'a> {
    secrets: &'a [Span],
    redactor: &'a Redactor,
}

impl Writer<'_> {
    fn yaml(&self, tree: &Tree) -> Yaml {
        match &tree.kind {
            Kind::Null | Kind::Broken => Yaml::plain("null"),
            Kind::Scalar(scalar) => self.scalar(scalar),
            Kind::List(items) => Yaml::List(items.iter().map(|item| self.yaml(item)).collect()),
            Kind::Mapping(entries) => Yaml::Map(self.map(entries.iter())),
        }
    }

    fn map<'t>(&self, entries: impl Iterator<Item = &'t (Scalar, Tree)>) -> Map {
        let mut map = Map::new();
        for (key, value) in entries {
            map.push(key.raw.as_ref().unwrap_or(&key.text).as_str(), self.yaml(value));
        }
        map
    }

    fn scalar(&self, scalar: &Scalar) -> Yaml {
        if self.secrets.contains(&scalar.span) && !self.redactor.shows_all() {
            return Yaml::text(REDACTED);
        }
        let text = scalar.raw.as_ref().unwrap_or(&scalar.text);
        match scalar.typed {
            Typed::Text if self.redactor.shows_all() => Yaml::text(text.as_str()),
            Typed::Text => Yaml::text(self.redactor.hide(&without_defaults(text, self.redactor))),
            Typed::Bool(_) | Typed::Number(_) => Yaml::plain(text),
        }
    }
}
