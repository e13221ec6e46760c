//! Secrets that stand in the file itself: values of headers, variables and fields whose names say so, and what URLs and bodies
//! hold. They are remembered, and a copy of the file is made without them. The same holds for values that were put into it.

use super::environment::Environment;
use super::source::{Overridden, Source, Span};
use super::tree::{Kind, Scalar, Tree};
use crate::connect::Proxy;
use crate::redact::{Place, REDACTED, Redactor, is_scheme};

/// The key of the names that a file adds to the list.
const ADDED: &str = "redact";

/// Mappings whose values are secret where their names are.
const HOLDERS: &[(&str, Place)] = &[
    ("headers", Place::Header),
    ("variables", Place::Variable),
    ("query", Place::Query),
    ("form", Place::Query),
    ("json", Place::Field),
];

/// Keys whose values are URLs or paths.
const URLS: &[&str] =
    &["target", "proxy", "get", "post", "put", "patch", "delete", "head", "options", "path"];

/// Keys whose values are texts that go out, or parts of answers.
const BODIES: &[&str] = &["text", "contains", "not_contains"];

/// Adds the names that the file adds to the list.
pub(super) fn add_names(tree: &Tree, environment: &mut Environment<'_>) {
    let Kind::Mapping(entries) = &tree.kind else { return };
    let added = entries.iter().filter(|(key, _)| key.text == ADDED);
    let mut names = Vec::new();
    for (_, value) in added {
        match &value.kind {
            Kind::Scalar(name) => names.push(name.text.clone()),
            Kind::List(items) => names.extend(items.iter().filter_map(|item| match &item.kind {
                Kind::Scalar(name) => Some(name.text.clone()),
                _ => None,
            })),
            _ => {}
        }
    }
    environment.hide_names(&names);
}

/// Takes note of the literal secrets in a tree; the result is where they stand.
pub(super) fn conceal(source: &Source, tree: &Tree, environment: &mut Environment<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    let redactor = &mut environment.redactor;
    walk(tree, redactor, &mut found);
    let mut spans: Vec<Span> = Vec::new();
    for scalar in found {
        let written = source.written(scalar.span);
        let secret = |word: &&str| !is_scheme(word);
        // What a variable brought is a secret as well, whatever its own name is.
        for word in without_references(&scalar.text).split_whitespace().filter(secret) {
            redactor.know(word);
        }
        redactor.know_header("Authorization", &scalar.text);
        // Without the schemes, references and templates nothing may be left that was written here; the default of a reference is.
        if without_references(written.trim_matches(['\'', '"'])).split_whitespace().any(|w| secret(&w)) {
            spans.push(scalar.span);
        }
    }
    spans.sort();
    spans.dedup();
    spans
}

/// The text of the file without what stands at those places and without other secrets; below it, in comments, what was put into
/// it.
pub(super) fn copy(source: &Source, secrets: &[Span], redactor: &Redactor) -> String {
    if redactor.shows_all() {
        return written(source, &[]);
    }
    redactor.hide(&without_defaults(&written(source, secrets), redactor)).into_owned()
}

/// A text without the defaults of references to variables whose names say that they are secrets.
pub(super) fn without_defaults(text: &str, redactor: &Redactor) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(open) = text[at..].find("${").map(|i| at + i) {
        let Some(end) = text[open..].find('}').map(|i| open + i) else { break };
        let of = &text[open + 2..end];
        let hidden = of.split_once(":-").filter(|(name, default)| {
            !default.is_empty() && redactor.hides(Place::Variable, name) && !text[..open].ends_with('$')
        });
        out.push_str(&text[at..open]);
        match hidden {
            Some((name, _)) => out.push_str(&format!("${{{name}:-{REDACTED}}}")),
            None => out.push_str(&text[open..=end]),
        }
        at = end + 1;
    }
    out + &text[at..]
}

fn written(source: &Source, secrets: &[Span]) -> String {
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

/// Texts that are secret because of their names; what URLs and bodies hold is known to the redactor from then on.
fn walk<'t>(tree: &'t Tree, redactor: &mut Redactor, found: &mut Vec<&'t Scalar>) {
    match &tree.kind {
        Kind::List(items) => items.iter().for_each(|item| walk(item, redactor, found)),
        Kind::Mapping(entries) => {
            parts(entries, redactor, found);
            for (key, value) in entries {
                let key = key.text.as_str();
                match (&value.kind, HOLDERS.iter().find(|(holder, _)| *holder == key)) {
                    (_, Some((_, place))) => held(value, *place, redactor, found),
                    (Kind::Scalar(text), _) if URLS.contains(&key) => {
                        redactor.know_url(&text.text);
                        let proxy = Proxy::parse(&text.text).ok().filter(|_| key == "proxy");
                        if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization) {
                            redactor.know_header("Proxy-Authorization", &authorization);
                        }
                    }
                    (Kind::Scalar(text), _) if BODIES.contains(&key) => redactor.know_in(&text.text),
                    _ => {}
                }
                walk(value, redactor, found);
            }
        }
        Kind::Null | Kind::Broken | Kind::Scalar(_) => {}
    }
}

/// All texts with names of secrets within what a holder holds. What the others hold is known to the redactor from then on.
fn held<'t>(tree: &'t Tree, place: Place, redactor: &mut Redactor, found: &mut Vec<&'t Scalar>) {
    match &tree.kind {
        Kind::List(items) => items.iter().for_each(|item| held(item, place, redactor, found)),
        Kind::Mapping(entries) => {
            parts(entries, redactor, found);
            for (name, value) in entries {
                if redactor.names().has(place, &name.text) {
                    all(value, found);
                } else {
                    held(value, place, redactor, found);
                }
            }
        }
        Kind::Scalar(text) => redactor.know_text(&text.text),
        Kind::Null | Kind::Broken => {}
    }
}

fn all<'t>(tree: &'t Tree, found: &mut Vec<&'t Scalar>) {
    match &tree.kind {
        Kind::Scalar(text) => found.push(text),
        Kind::List(items) => items.iter().for_each(|item| all(item, found)),
        Kind::Mapping(entries) => entries.iter().for_each(|(_, value)| all(value, found)),
        Kind::Null | Kind::Broken => {}
    }
}

/// What says its name beside it: a part of a multipart body, `{ name: password, text: ... }`, and `{ key: token, value: ... }`.
fn parts<'t>(entries: &'t [(Scalar, Tree)], redactor: &Redactor, found: &mut Vec<&'t Scalar>) {
    let of = |wanted: &[&str]| {
        let known = |key: &Scalar| wanted.iter().any(|wanted| key.text.eq_ignore_ascii_case(wanted));
        entries.iter().find(|(key, _)| known(key)).map(|(_, value)| &value.kind)
    };
    if let (Some(Kind::Scalar(name)), Some(Kind::Scalar(text))) =
        (of(&["name", "key", "field"]), of(&["text", "value", "content"]))
        && redactor.names().has(Place::Field, &name.text)
    {
        found.push(text);
    }
}

/// A text without its `${...}` and `{{...}}`: of `${NAME:-default}` the default is left.
fn without_references(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("{{")).min() {
        out.push_str(&rest[..at]);
        let close = if rest[at..].starts_with('$') { "}" } else { "}}" };
        match rest[at..].find(close) {
            Some(length) => {
                let default = rest[at..at + length].split_once(":-").filter(|_| close == "}");
                out.push_str(default.map_or("", |(_, default)| default));
                rest = &rest[at + length + close.len()..];
            }
            None => return out + &rest[at..],
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concealed(text: &str) -> (String, Redactor) {
        let source = Source { name: "a.yaml".to_owned(), text: text.to_owned(), ..Source::default() };
        let get = |name: &str| Some(format!("value-of-{name}"));
        let mut environment = Environment::new(&get, Redactor::default());
        let (tree, _) = super::super::tree::parse(&source, &mut environment).unwrap();
        add_names(&tree, &mut environment);
        let places = conceal(&source, &tree, &mut environment);
        (copy(&source, &places, &environment.redactor), environment.redactor)
    }

    #[test]
    fn what_values_of_other_names_hold_is_not_in_the_copy() {
        for text in [
            "headers: { X-Foo: 'Bearer MKZ1' }",
            "journey: [ { get: /, headers: { X-B: '{\"password\":\"MKZ1\"}' } } ]",
            "journey: [ { get: /, headers: { X-D: 'a; token=MKZ1' } } ]",
            "variables: { plain: 'Basic TUtaMTpNS1ox' }",
            "journey: [ { post: /, json: { note: 'Bearer MKZ1' } } ]",
            "journey: [ { post: /, json: { deep: [ { key: token, value: MKZ1 } ] } } ]",
            "journey: [ { post: /, form: { n: 'Bearer MKZ1', u: 'https://h/?token=MKZ1' } } ]",
            "[{\"headers\":{\"X-Foo\":\"Bearer MKZ1\"},\"request\":{\"method\":\"GET\",\"path\":\"/\"}}]",
        ] {
            let (copy, secrets) = concealed(text);
            assert!(!copy.contains("MKZ1") && !copy.contains("TUta"), "{copy}");
            assert!(copy.contains(REDACTED) && !secrets.hide("so MKZ1 it").contains("MKZ1"), "{copy}");
        }
        for text in
            ["headers: { X-Foo: '{{token}}' }", "journey: [ { post: /, json: { key: a, value: b1 } } ]"]
        {
            assert_eq!(concealed(text).0, text);
        }
    }

    #[test]
    fn what_is_written_is_replaced_and_what_is_referred_to_stays() {
        let (copy, secrets) = concealed("headers:\n  Authorization: Bearer abc\n  Accept: text/html\n");
        assert_eq!(copy, "headers:\n  Authorization: \"<redacted>\"\n  Accept: text/html\n");
        assert_eq!(secrets.hide("an abc of Bearer abc"), "an <redacted> of <redacted>");
        let (copy, secrets) = concealed("proxy: http://someone:hunter2pw@proxy:3128\n");
        assert_eq!(copy, "proxy: http://<redacted>@proxy:3128\n");
        assert_eq!(secrets.hide("hunter2pw, c29tZW9uZTpodW50ZXIycHc="), "<redacted>, <redacted>");
        let text =
            "headers: { Authorization: 'Bearer ${API_TOKEN}', Cookie: 'a={{id}}' }\nvariables: { x: y }\n";
        let (copy, secrets) = concealed(text);
        assert!(copy.contains("Bearer ${API_TOKEN}") && copy.contains("<redacted>") && copy.contains("x: y"));
        assert_eq!(secrets.hide("value-of-API_TOKEN"), "<redacted>");
        assert!(!copy.contains("a={{id}}"), "{copy}");
        assert_eq!(
            concealed("variables: { api_key: \"s3 cret\" }").0,
            "variables: { api_key: \"<redacted>\" }"
        );
    }
    #[test]
    fn defaults_of_secrets_are_not_in_the_copy_whether_they_are_taken_or_not() {
        // Here the variables are set.
        for (text, expected) in [
            (
                "variables: { x: \"a ${API_TOKEN:-secret} b\" }",
                "variables: { x: \"a ${API_TOKEN:-<redacted>} b\" }",
            ),
            (
                "target: http://h/?q=${API_TOKEN:-x1}&r=${HOST:-h}",
                "target: http://h/?q=${API_TOKEN:-<redacted>}&r=${HOST:-h}",
            ),
            ("headers: { X-Api-Key: \"${MINE:-s3cr3t}\" }", "headers: { X-Api-Key: \"<redacted>\" }"),
            ("headers: { X-Api-Key: \"${MINE:-}\" }", "headers: { X-Api-Key: \"${MINE:-}\" }"),
            ("name: \"$${API_TOKEN:-x1} ${\"", "name: \"$${API_TOKEN:-x1} ${\""),
        ] {
            let get = |name: &str| Some(format!("value-of-{name}"));
            let source = Source { name: "a.yaml".to_owned(), text: text.to_owned(), ..Source::default() };
            let mut environment = Environment::new(&get, Redactor::default());
            let (tree, _) = super::super::tree::parse(&source, &mut environment).unwrap();
            let places = conceal(&source, &tree, &mut environment);
            assert_eq!(copy(&source, &places, &environment.redactor), expected);
            let printed = super::super::document::of(&tree, &places, &environment.redactor);
            assert!(["secret}", "s3cr3t", "&q=x1"].iter().all(|leak| !printed.contains(leak)), "{printed}");
        }
        // What a variable brings under the name of a secret is one.
        let (_, secrets) = concealed("headers: { Authorization: 'Bearer ${MINE}' }");
        assert_eq!(secrets.hide("of value-of-MINE"), "of <redacted>");
    }
}
