//! What is taken from answers, and what they must be like.

use super::bodies::checked;
use super::steps::{mistake, parse};
use crate::content::{self, ErrorReplies, Extract, Finder, Names, Pointer, StatusSet, Step, Template};
use crate::scenario::leaves::Text;
use crate::scenario::source::Problem;
use crate::scenario::tree::Scalar;
use crate::scenario::written::{self, HeaderCheck};
use serde_json::Value;

const FINDERS: &[&str] = &["json", "jsonpath", "header", "cookie", "regex", "attribute", "field"];

/// Adds what a step extracts, under names that have numbers; the answer is what is wrong with it.
pub(super) fn extracts(step: &written::Step, built: &mut Step, names: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, finder) in step.extract.iter().flat_map(|extract| &extract.0) {
        let number = names.iter().position(|known| *known == name.text);
        match (number, self::finder(finder)) {
            (Some(number), Ok(found)) => {
                let extract = Extract::new(number as u16, found);
                built.extract(match &finder.default {
                    Some(default) => extract.or(&default.value.text),
                    None => extract,
                });
            }
            (_, found) => problems.extend(found.err()),
        }
    }
    problems
}

fn finder(finder: &written::Finder) -> Result<Finder, Problem> {
    let kind = finder.keys.one_of("a finder", FINDERS).map_err(|problem| {
        if problem.others.is_empty() { problem.help("for example { json: /items/0/id }") } else { problem }
    })?;
    if let (Some(_), false) = (&finder.group, kind == "regex") {
        let problem = Problem::new(finder.keys.at("group"), "only a regular expression has groups");
        return Err(problem.help("leave group out"));
    }
    if let (Some(_), false) = (&finder.html, kind == "regex") {
        let problem = Problem::new(
            finder.keys.at("html"),
            "only what a regular expression finds is read as HTML or not",
        );
        return Err(problem.help("leave html out: attribute and field read HTML anyway"));
    }
    let text = [
        &finder.json,
        &finder.jsonpath,
        &finder.header,
        &finder.cookie,
        &finder.regex,
        &finder.attribute,
        &finder.field,
    ];
    let Some(text) = text.into_iter().flatten().next() else {
        return Err(Problem::new(finder.keys.span, "a finder of nothing"));
    };
    let given = text.value.text.as_str();
    let wrong = |e: &dyn std::fmt::Display| mistake(text.span, &e.to_string());
    match kind {
        "json" => Ok(Finder::json(pointer(&text.value)?)),
        "jsonpath" => Finder::json_path(given)
            .map_err(|e| wrong(&e).help("it begins with $, for example $.items[0].id")),
        "header" | "cookie" | "field" if given.trim().is_empty() => {
            Err(Problem::new(text.span, format!("a {kind} has a name")).help("write for example ETag"))
        }
        "header" => Ok(Finder::header(given)),
        "cookie" => Ok(Finder::cookie(given)),
        "field" => Ok(Finder::field(given)),
        "attribute" => Finder::attribute(given).map_err(|e| wrong(&e)),
        _ => {
            let group = finder.group.as_ref().map(|group| group.value as usize);
            let is_html = finder.html.as_ref().is_some_and(|html| html.value);
            let found = Finder::regex(given, group);
            found.map(|found| if is_html { found.of_html() } else { found }).map_err(|e| match e {
                content::PatternError::Group { .. } => mistake(finder.keys.at("group"), &e.to_string()),
                _ => wrong(&e).help(REGEX),
            })
        }
    }
}

const REGEX: &str = "write it in single quotes, as in 'id=(\\d+)'; what stands for itself needs a \\ before it: ( [ { . * + ? | ^ $";

fn no_regex(pattern: &Text, error: &content::PatternError) -> Problem {
    let help = if pattern.value.text.contains("{{") {
        "a regular expression has no templates: a check of json, contains or of a header has"
    } else {
        REGEX
    };
    mistake(pattern.span, &error.to_string()).help(help)
}

fn pointer(scalar: &Scalar) -> Result<Pointer, Problem> {
    Pointer::parse(&scalar.text).map_err(|e| mistake(scalar.span, &e.to_string()))
}

/// What a step expects, if it says.
pub(super) fn expect(step: &written::Step, names: &Names) -> Result<Option<content::Expect>, Vec<Problem>> {
    let Some(written) = &step.expect else { return Ok(None) };
    let mut problems = Vec::new();
    let mut expect = content::Expect::default();
    if let Some(statuses) = &written.status {
        if statuses.0.is_empty() {
            problems.push(
                Problem::new(written.keys.at("status"), "no status would be good")
                    .help("write for example 201"),
            );
        }
        for status in &statuses.0 {
            match StatusSet::parse(&status.value.text) {
                Ok(set) => expect.status = Some(expect.status.unwrap_or_default().or(set)),
                Err(e) => problems.push(mistake(status.span, &e)),
            }
        }
    }
    if let Some(words) = &written.errors {
        let texts = words.0.iter().map(|word| word.value.text.trim().to_owned());
        match ErrorReplies::parse(texts) {
            Ok(errors) => expect.errors = Some(errors),
            Err(e) => problems.push(mistake(written.keys.at("errors"), &e)),
        }
    }
    expect.time = written.time.as_ref().map(|time| time.value);
    if let Some(body) = &written.body {
        problems.extend(self::body(body, names, &mut expect));
    }
    for (name, check) in written.headers.iter().flat_map(|headers| &headers.0) {
        match header(name, check, names) {
            Ok(check) => expect.headers.push(check),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Some(expect)) } else { Err(problems) }
}

fn header(name: &Scalar, check: &HeaderCheck, names: &Names) -> Result<content::HeaderCheck, Problem> {
    match check {
        HeaderCheck::Equal(text) => Ok(content::HeaderCheck::equals(&name.text, parse(&text.value, names)?)),
        HeaderCheck::Full(full) => match &full.matches {
            Some(pattern) => content::HeaderCheck::matches(&name.text, &pattern.value.text)
                .map_err(|e| no_regex(pattern, &e)),
            None => Err(Problem::new(full.keys.span, "a check of nothing")),
        },
    }
}

fn body(body: &written::BodyCheck, names: &Names, expect: &mut content::Expect) -> Vec<Problem> {
    use content::BodyCheck;
    let mut problems = Vec::new();
    for (text, check) in [
        (&body.contains, BodyCheck::contains as fn(Template) -> BodyCheck),
        (&body.not_contains, BodyCheck::not_contains),
    ] {
        match text {
            Some(text) if text.value.text.is_empty() => problems.push(empty(text)),
            Some(text) => match parse(&text.value, names) {
                Ok(template) => expect.body.push(check(template)),
                Err(problem) => problems.push(problem),
            },
            None => {}
        }
    }
    if let Some(pattern) = &body.matches {
        match BodyCheck::matches(&pattern.value.text) {
            Ok(check) => expect.body.push(check),
            Err(e) => problems.push(no_regex(pattern, &e)),
        }
    }
    for (at, tree) in body.json.iter().flat_map(|json| &json.0) {
        let check = pointer(at).and_then(|pointer| {
            let value = Value::from(checked(&tree.0, names)?);
            BodyCheck::json(pointer, &value, names).map_err(|e| mistake(tree.0.span, &e.error.message))
        });
        match check {
            Ok(check) => expect.body.push(check),
            Err(problem) => problems.push(problem),
        }
    }
    if let (Some(min), Some(max)) = (&body.min, &body.max)
        && min.value > max.value
    {
        let problem = Problem::new(max.span, "max is below min: no body fits");
        problems.push(problem.other(min.span, "at least"));
    }
    expect.body.extend(body.min.as_ref().map(|min| BodyCheck::at_least(min.value)));
    expect.body.extend(body.max.as_ref().map(|max| BodyCheck::at_most(max.value)));
    problems
}

fn empty(text: &Text) -> Problem {
    Problem::new(text.span, "every body holds the empty text").help("write what is looked for")
}
