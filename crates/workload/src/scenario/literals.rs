//! Secrets that stand in the file itself: values of headers and variables whose names say so. They are remembered, and a
//! copy of the file is made without them. The same holds for values that were put into it.

use super::environment::{Environment, is_secret_variable};
use super::source::{Overridden, Source, Span};
use super::tree::{Kind, Scalar, Tree};
use crate::request::{REDACTED, is_secret};

/// Mappings whose values are secret where their names are.
const HOLDERS: &[&str] = &["headers", "variables"];

/// Schemes of the Authorization header, which are no secrets.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "token", "apikey"];

/// Takes note of the literal secrets in a tree; the answer is where they stand.
pub(super) fn conceal(source: &Source, tree: &Tree, environment: &mut Environment<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    walk(tree, &mut found);
    let mut spans: Vec<Span> = Vec::new();
    for scalar in found {
        // Without the schemes, references and templates nothing may be left that was written here.
        let written = source.written(scalar.span);
        let secret = |word: &&str| !SCHEMES.contains(&word.to_ascii_lowercase().as_str());
        if !without_references(written.trim_matches(['\'', '"'])).split_whitespace().any(|w| secret(&w)) {
            continue;
        }
        for word in without_references(&scalar.text).split_whitespace().filter(secret) {
            environment.conceal(word);
        }
        environment.conceal(&scalar.text);
        spans.push(scalar.span);
    }
    spans.sort();
    spans.dedup();
    spans
}

/// The text of the file without what stands at those places; below it, in comments, what was put into it.
pub(super) fn copy(source: &Source, secrets: &[Span]) -> String {
    let mut out = without(&source.text, 0, secrets);
    if !source.overridden.is_empty() {
        out.push_str(if out.ends_with('\n') || out.is_empty() { "" } else { "\n" });
        out.push_str("# Played with other values than those above:\n");
    }
    for Overridden { text, at } in &source.overridden {
        out.push_str(&format!("#   {}\n", without(text, *at, secrets)));
    }
    out
}

/// A text whose first byte has the place `from`, without what stands at those places, which are in order.
fn without(text: &str, from: usize, places: &[Span]) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    let all = from..=from + text.len();
    for span in places.iter().filter(|s| s.start < s.end && all.contains(&s.start) && all.contains(&s.end)) {
        // Places of one file that were sorted do not overlap; an alias may name one twice.
        let span = Span { start: span.start - from, end: span.end - from };
        if span.start >= at {
            out.push_str(text.get(at..span.start).unwrap_or_default());
            out.push_str(&format!("\"{REDACTED}\""));
            at = span.end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Texts that are secret because of their names.
fn walk<'t>(tree: &'t Tree, found: &mut Vec<&'t Scalar>) {
    match &tree.kind {
        Kind::List(items) => items.iter().for_each(|item| walk(item, found)),
        Kind::Mapping(entries) => {
            for (key, value) in entries {
                if let (true, Kind::Mapping(held)) = (HOLDERS.contains(&key.text.as_str()), &value.kind) {
                    found.extend(held.iter().filter_map(|(name, value)| match &value.kind {
                        Kind::Scalar(s) if is_secret(&name.text) || is_secret_variable(&name.text) => Some(s),
                        _ => None,
                    }));
                }
                walk(value, found);
            }
        }
        Kind::Null | Kind::Broken | Kind::Scalar(_) => {}
    }
}

/// A text without its `${...}` and `{{...}}`.
fn without_references(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("{{")).min() {
        out.push_str(&rest[..at]);
        let close = if rest[at..].starts_with('$') { "}" } else { "}}" };
        match rest[at..].find(close) {
            Some(length) => rest = &rest[at + length + close.len()..],
            None => return out + &rest[at..],
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concealed(text: &str) -> (String, Vec<String>) {
        let source = Source { name: "a.yaml".to_owned(), text: text.to_owned(), ..Source::default() };
        let get = |name: &str| Some(format!("value-of-{name}"));
        let mut environment = Environment::new(&get);
        let (tree, _) = super::super::tree::parse(&source, &mut environment).unwrap();
        let places = conceal(&source, &tree, &mut environment);
        (copy(&source, &places), environment.secrets)
    }

    #[test]
    fn what_is_written_is_replaced_and_what_is_referred_to_stays() {
        let (copy, secrets) = concealed("headers:\n  Authorization: Bearer abc\n  Accept: text/html\n");
        assert_eq!(copy, "headers:\n  Authorization: \"<redacted>\"\n  Accept: text/html\n");
        assert_eq!(secrets, ["Bearer abc", "abc"]);
        let text =
            "headers: { Authorization: 'Bearer ${API_TOKEN}', Cookie: 'a={{id}}' }\nvariables: { x: y }\n";
        let (copy, secrets) = concealed(text);
        assert!(copy.contains("Bearer ${API_TOKEN}") && copy.contains("<redacted>") && copy.contains("x: y"));
        assert!(secrets.contains(&"value-of-API_TOKEN".to_owned()) && !copy.contains("a={{id}}"));
        assert_eq!(
            concealed("variables: { api_key: \"s3 cret\" }").0,
            "variables: { api_key: \"<redacted>\" }"
        );
    }
}
