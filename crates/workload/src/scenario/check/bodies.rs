//! Bodies of requests.

use super::steps::{mistake, parse, template_mistake};
use crate::content::{Body, Json, Names, Part, Template};
use crate::scenario::leaves::Text;
use crate::scenario::read::Reader;
use crate::scenario::source::Problem;
use crate::scenario::tree::{Kind, Scalar, Tree, Typed};
use crate::scenario::written;
use serde_json::Value;

const KINDS: &[&str] = &["text", "json", "form", "file", "multipart"];

/// The body of a step, if it has one.
pub(super) fn body(
    step: &written::Step,
    names: &Names,
    reader: &mut Reader<'_>,
) -> Result<Option<Body>, Vec<Problem>> {
    let one = |problem| vec![problem];
    let kind = match step.keys.one_of("a request", KINDS) {
        Ok(kind) => kind,
        Err(problem) if !problem.others.is_empty() => return Err(one(problem)),
        Err(_) => return Ok(None),
    };
    match kind {
        "text" => {
            let template =
                step.text.as_ref().map(|text| parse(&text.value, names)).transpose().map_err(one)?;
            Ok(template.as_ref().map(Body::text))
        }
        "json" => step.json.as_ref().map(|json| self::json(&json.0, names)).transpose().map_err(one),
        "form" => form(step, names).map(Some),
        "file" => {
            let bytes = step.file.as_ref().map(|file| read(file, reader)).transpose().map_err(one)?;
            Ok(bytes.as_deref().map(Body::bytes))
        }
        _ => multipart(step.multipart.as_deref().unwrap_or_default(), step, names, reader).map(Some),
    }
}

fn form(step: &written::Step, names: &Names) -> Result<Body, Vec<Problem>> {
    let (mut fields, mut problems) = (Vec::new(), Vec::new());
    for (name, value) in step.form.iter().flat_map(|form| &form.0) {
        match (parse(name, names), parse(&value.value, names)) {
            (Ok(name), Ok(value)) => fields.push((name, value)),
            (name, value) => problems.extend([name.err(), value.err()].into_iter().flatten()),
        }
    }
    if problems.is_empty() { Ok(Body::form(&fields)) } else { Err(problems) }
}

fn multipart(
    parts: &[written::Part],
    step: &written::Step,
    names: &Names,
    reader: &mut Reader<'_>,
) -> Result<Body, Vec<Problem>> {
    if parts.is_empty() {
        let problem = Problem::new(step.keys.at("multipart"), "a body of no parts");
        return Err(vec![problem.help("write for example - { name: a, text: b }")]);
    }
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for part in parts {
        match self::part(part, names, reader) {
            Ok(part) => read.push(part),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Body::multipart(&read)) } else { Err(problems) }
}

fn part(part: &written::Part, names: &Names, reader: &mut Reader<'_>) -> Result<Part, Problem> {
    let kind = part.keys.one_of("a part", &["text", "file"])?;
    let template = |text: &Option<Text>| text.as_ref().map(|text| parse(&text.value, names)).transpose();
    let name = template(&part.name)?.unwrap_or_default();
    let built = match (kind, &part.text, &part.file) {
        ("text", Some(text), _) => {
            if part.filename.is_some() {
                let problem = Problem::new(part.keys.at("filename"), "a text has no file name");
                return Err(problem.help("leave filename out, or write file:"));
            }
            Part::text(&name, &parse(&text.value, names)?)
        }
        (_, _, Some(file)) => {
            let path = file.value.text.as_str();
            let own = path.rsplit(['/', '\\']).next().unwrap_or(path);
            let file_name = template(&part.filename)?.unwrap_or_else(|| Template::fixed(own));
            Part::file(&name, &file_name, &read(file, reader)?)
        }
        _ => return Err(Problem::new(part.keys.span, "a part lacks one of text, file")),
    };
    match &part.r#type {
        Some(content_type) if content_type.value.text.chars().any(char::is_control) => {
            Err(Problem::new(content_type.span, "a content type is on one line")
                .help("write for example image/png"))
        }
        Some(content_type) => Ok(built.typed(&parse(&content_type.value, names)?)),
        None => Ok(built),
    }
}

pub(super) fn read(file: &Text, reader: &mut Reader<'_>) -> Result<Vec<u8>, Problem> {
    let name = file.value.text.as_str();
    reader.file(name).map_err(|e| {
        Problem::new(file.span, format!("the file cannot be read: {e}"))
            .help("paths are relative to the scenario file")
    })
}

/// A JSON body whose texts are templates.
fn json(tree: &Tree, names: &Names) -> Result<Body, Problem> {
    Body::json(&checked(tree, names)?, names).map_err(|e| mistake(tree.span, &e.error.message))
}

/// A JSON value with templates in its texts. Mistakes in them are reported here, where their places are known.
pub(super) fn checked(tree: &Tree, names: &Names) -> Result<Json, Problem> {
    templates(tree, names)?;
    Ok(template(tree))
}

fn templates(tree: &Tree, names: &Names) -> Result<(), Problem> {
    let check = |scalar: &Scalar| {
        Template::parse(scalar.template(), names).map(|_| ()).map_err(|e| template_mistake(scalar, &e, names))
    };
    match &tree.kind {
        Kind::Scalar(scalar) if scalar.typed == Typed::Text => check(scalar),
        Kind::List(items) => items.iter().try_for_each(|item| templates(item, names)),
        Kind::Mapping(entries) => entries.iter().try_for_each(|(key, value)| {
            check(key)?;
            templates(value, names)
        }),
        Kind::Null | Kind::Broken | Kind::Scalar(_) => Ok(()),
    }
}

/// A value as JSON has it, its texts as templates.
fn template(tree: &Tree) -> Json {
    match &tree.kind {
        Kind::Null | Kind::Broken => Json::Plain(Value::Null),
        Kind::Scalar(scalar) => match &scalar.typed {
            Typed::Text => Json::Text(scalar.template().to_owned()),
            Typed::Bool(value) => Json::Plain(Value::Bool(*value)),
            Typed::Number(number) => Json::Plain(Value::Number(number.clone())),
        },
        Kind::List(items) => Json::List(items.iter().map(template).collect()),
        Kind::Mapping(entries) => {
            let member = |(key, tree): &(Scalar, Tree)| (key.text.clone(), template(tree));
            Json::Map(entries.iter().map(member).collect())
        }
    }
}
