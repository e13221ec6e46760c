//! Secrets that stand in the file itself: values of headers and variables whose names say so. They are remembered, and a
//! copy of the file is made without them.

use super::environment::{Environment, is_secret_variable};
use super::source::{Source, Span};
use super::tree::{Kind, Scalar, Tree};
use crate::request::{REDACTED, is_secret};

/// Mappings whose values are secret where their names are.
const HOLDERS: &[&str] = &["headers", "variables"];

/// Schemes of the Authorization header, which are no secrets.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "token", "apikey"];

/// The text of the file with literal secrets replaced; takes note of what they are.
pub(super) fn conceal(source: &Source, tree: &Tree, environment: &mut Environment<'_>) -> String {
    let mut found = Vec::new();
    walk(tree, &mut found);
    let mut spans: Vec<Span> = Vec::new();
    for scalar in found {
        // Without the schemes, references and templates nothing may be left that was written here.
        let written = source.text.get(scalar.span.start..scalar.span.end).unwrap_or_default();
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
    let (mut out, mut at) = (String::with_capacity(source.text.len()), 0);
    for span in spans.into_iter().filter(|s| s.start < s.end) {
        // Places of one file that were sorted do not overlap; an alias may name one twice.
        if span.start >= at {
            out.push_str(source.text.get(at..span.start).unwrap_or_default());
            out.push_str(&format!("\"{REDACTED}\""));
            at = span.end;
        }
    }
    out.push_str(source.text.get(at..).unwrap_or_default());
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
        let source = Source { name: "a.yaml".to_owned(), text: text.to_owned() };
        let get = |name: &str| Some(format!("value-of-{name}"));
        let mut environment = Environment::new(&get);
        let (tree, _) = super::super::tree::parse(&source, &mut environment).unwrap();
        let copy = conceal(&source, &tree, &mut environment);
        (copy, environment.secrets)
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
