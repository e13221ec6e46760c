//! A scenario in the making: what every converter fills, and what becomes of it in YAML.

use super::secrets::{Secrets, is_secret_parameter};
use super::{Converted, Text, json};
use headway_workload::yaml::{self, Map, Yaml};
use std::collections::{HashMap, HashSet};
use url::form_urlencoded;

/// A scenario in the making.
#[derive(Default)]
pub struct Draft {
    /// What it was made from, and what is to be known: the head of the file, a paragraph each.
    pub notes: Vec<String>,
    /// What was left out: for the head of the file and for standard error.
    pub warnings: Vec<String>,
    /// Where to: `http://host`, `unix:/path`.
    pub target: String,
    /// Settings such as `timeout`.
    pub settings: Vec<(&'static str, String)>,
    /// Constants that steps refer to, as `vars.NAME`.
    pub(super) variables: Vec<Variable>,
    /// What the session does, in order.
    pub steps: Vec<Step>,
    pub(super) secrets: Secrets,
}

/// A constant of the scenario.
pub(super) struct Variable {
    pub name: String,
    /// The name that it was made for, which others may share.
    pub of: String,
    pub value: Text,
    /// Comments above it.
    pub notes: Vec<String>,
}

/// One request.
pub struct Step {
    /// Comments above it.
    pub notes: Vec<String>,
    /// Its name; none: method and path.
    pub name: Option<String>,
    /// Its method, as sent.
    pub method: String,
    /// Path and query.
    pub path: Text,
    /// Names and values; no name stands twice.
    pub headers: Vec<(String, Text)>,
    /// The body.
    pub body: Body,
    /// The distribution of the think time before it.
    pub think: Option<String>,
    /// Names and cookies: what is taken from its answer.
    pub extract: Vec<(String, String)>,
    /// The statuses that are expected of its answer: `200`, `2xx`; none: any below 400.
    pub statuses: Vec<String>,
    /// Whether something that belongs to it could not be had; a note says what.
    pub lacks: bool,
}

/// A request's body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// None.
    None,
    /// Text.
    Text(Text),
    /// JSON, as YAML.
    Json(Yaml),
    /// Fields of a form, in order.
    Form(Vec<(String, Text)>),
    /// What is in that file.
    File(String),
    /// Parts.
    Multipart(Vec<Part>),
}

/// A part of a multipart body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Name of its field.
    pub name: String,
    /// Text, or the name of a file.
    pub content: PartContent,
    /// Name of the file as it is sent to the server.
    pub filename: Option<String>,
    /// Media type.
    pub kind: Option<String>,
}

/// What a part holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartContent {
    /// Text.
    Text(Text),
    /// What is in that file.
    File(String),
}

impl Step {
    /// A request without headers and body.
    pub fn new(method: &str, path: Text) -> Step {
        Step {
            notes: Vec::new(),
            name: None,
            method: method.to_owned(),
            path,
            headers: Vec::new(),
            body: Body::None,
            think: None,
            extract: Vec::new(),
            statuses: Vec::new(),
            lacks: false,
        }
    }

    /// Notes what could not be had.
    pub fn lack(&mut self, what: String) {
        self.notes.push(what);
        self.lacks = true;
    }

    /// Appends a header; one that is there already gets the value added, as HTTP has it (RFC 9110, 5.3).
    pub fn header(&mut self, name: &str, value: Text) {
        match self.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, known)) => {
                let comma = if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " };
                *known = known.clone().and(&Text::literal(comma)).and(&value);
            }
            None => self.headers.push((name.to_owned(), value)),
        }
    }

    /// Takes a text of that media type as body, in the clearest form that sends the same, and the header unless that
    /// form implies it.
    pub(super) fn text_body(&mut self, kind: Option<&str>, text: &str, secrets: &mut Secrets) {
        let essence =
            kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let structured = if text.is_empty() {
            Some(Body::None)
        } else if essence == "application/json" || essence.ends_with("+json") {
            json::body(text, secrets).map(Body::Json)
        } else if essence == FORM {
            form(text, secrets).map(Body::Form)
        } else {
            None
        };
        self.body = structured.unwrap_or_else(|| Body::Text(Text::literal(text)));
        let implied = match &self.body {
            Body::Json(_) => "application/json",
            Body::Form(_) => FORM,
            _ => "",
        };
        if let Some(kind) = kind
            && !kind.trim().eq_ignore_ascii_case(implied)
        {
            self.header("Content-Type", Text::literal(kind));
        }
    }
}

/// The media type of what HTML forms send.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// The fields of a form, if writing them anew gives what was there.
fn form(text: &str, secrets: &mut Secrets) -> Option<Vec<(String, Text)>> {
    let mut fields = Vec::new();
    let mut names = HashSet::new();
    for (piece, (name, value)) in text.split('&').zip(form_urlencoded::parse(text.as_bytes())) {
        piece.split_once('=')?;
        let key_fits = !name.is_empty() && name.len() <= 200 && !name.contains("{{") && !name.contains("${");
        // What is no UTF-8 comes out of the reader as this.
        let lossless = !name.contains('\u{fffd}') && !value.contains('\u{fffd}');
        if !key_fits || !lossless || !names.insert(name.to_string()) {
            return None;
        }
        let secret = is_secret_parameter(&name) && !value.is_empty();
        let value = if secret { secrets.field(&name, &value) } else { Text::literal(&value) };
        fields.push((name.into_owned(), value));
    }
    // Pieces without anything in them are passed over when a form is read.
    (fields.len() == text.split('&').count()).then_some(fields)
}

/// A path and query with the secrets among its parameters replaced.
pub(super) fn path(text: &str, secrets: &mut Secrets) -> Text {
    let Some((path, query)) = text.split_once('?') else { return Text::literal(text) };
    let mut out = Text::literal(path).and(&Text::literal("?"));
    for (i, piece) in query.split('&').enumerate() {
        if i > 0 {
            out = out.and(&Text::literal("&"));
        }
        match piece.split_once('=') {
            Some((name, value)) if is_secret_parameter(name) && !value.is_empty() => {
                let about = format!("the parameter {name}, percent-encoded as it stands in the URL");
                let value = secrets.variable(name, value, &about);
                out = out.and(&Text::literal(&format!("{name}="))).and(&value);
            }
            _ => out = out.and(&Text::literal(piece)),
        }
    }
    out
}

impl Draft {
    /// The scenario, and what to tell.
    pub fn finish(mut self) -> Converted {
        let common = self.hoist_headers();
        let mut file = Map::new();
        file.push("target", untemplated(&self.target));
        for (key, value) in &self.settings {
            file.push(*key, Yaml::plain(value));
        }
        if !common.is_empty() {
            file.push("headers", texts(&common));
        }
        if !self.variables.is_empty() {
            let mut variables = Map::new();
            for Variable { name, value, notes, .. } in &self.variables {
                variables.commented(notes.clone(), name.clone(), Yaml::text(value.as_str()));
            }
            file.push("variables", Yaml::Map(variables));
        }
        file.push("users", users());
        let mut names = HashMap::new();
        let steps = self.steps.iter().map(|step| Yaml::Map(step_map(step, &mut names))).collect();
        file.push("journey", Yaml::List(steps));

        let secrets: Vec<(&str, &str)> = self.secrets.told().collect();
        let mut head = String::new();
        for note in self.notes.iter().chain(&self.warnings) {
            yaml::comment(note, 0, &mut head);
        }
        if !secrets.is_empty() {
            yaml::comment("Secrets are not written down; before a run, set", 0, &mut head);
            for (name, about) in &secrets {
                yaml::comment(&format!("  {name}: {about}"), 0, &mut head);
            }
        }
        let mut notes = self.warnings.clone();
        let lacking = self.steps.iter().filter(|step| step.lacks).count();
        if lacking > 0 {
            notes.push(format!("{} not complete: see the comments there", count_are(lacking)));
        }
        notes.extend(secrets.iter().map(|(name, about)| format!("set {name} before a run: {about}")));
        Converted { scenario: head + &file.document(), notes }
    }

    /// Takes out the headers that all steps have alike, if there are several steps.
    fn hoist_headers(&mut self) -> Vec<(String, Text)> {
        let Some((first, rest)) = self.steps.split_first() else { return Vec::new() };
        let alike = |name: &str, value: &Text| {
            !name.eq_ignore_ascii_case("content-type")
                && rest
                    .iter()
                    .all(|step| step.headers.iter().any(|(n, v)| n.eq_ignore_ascii_case(name) && v == value))
        };
        if rest.is_empty() {
            return Vec::new();
        }
        let common: Vec<(String, Text)> =
            first.headers.iter().filter(|(name, value)| alike(name, value)).cloned().collect();
        for step in &mut self.steps {
            step.headers.retain(|(name, _)| !common.iter().any(|(c, _)| c.eq_ignore_ascii_case(name)));
        }
        common
    }
}

fn count_are(n: usize) -> String {
    if n == 1 { "1 step is".to_owned() } else { format!("{n} steps are") }
}

/// A harmless load, to begin with.
fn users() -> Yaml {
    let mut arrive = Map::new();
    arrive.push("process", Yaml::text("poisson"));
    arrive.push("rate", Yaml::plain("1/s"));
    let mut hold = Map::new();
    hold.push("hold", Yaml::plain("10s"));
    let mut users = Map::new();
    let advice =
        "Sessions that begin per second, and for how long: a careful start, to be changed.".to_owned();
    users.commented(vec![advice], "arrive", Yaml::Map(arrive));
    users.push("phases", Yaml::List(vec![Yaml::Map(hold)]));
    Yaml::Map(users)
}

/// Text where variables are replaced and templates are not.
fn untemplated(text: &str) -> Yaml {
    Yaml::text(text.replace("${", "$${"))
}

fn texts(pairs: &[(String, Text)]) -> Yaml {
    let mut map = Map::new();
    for (name, value) in pairs {
        map.push(name.clone(), Yaml::text(value.as_str()));
    }
    Yaml::Map(map)
}

/// One entry of the journey; `names` counts the names given so far.
fn step_map(step: &Step, names: &mut HashMap<String, usize>) -> Map {
    const VERBS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let mut map = Map::new();
    if VERBS.contains(&step.method.as_str()) {
        map.commented(step.notes.clone(), step.method.to_ascii_lowercase(), Yaml::text(step.path.as_str()));
    } else {
        let mut request = Map::new();
        request.push("method", Yaml::text(step.method.as_str()));
        request.push("path", Yaml::text(step.path.as_str()));
        map.commented(step.notes.clone(), "request", Yaml::Map(request));
    }
    let path = step.path.as_str().split('?').next().unwrap_or_default();
    // A name ends at 200 characters.
    let made: String =
        format!("{} {path}", step.method).chars().filter(|c| !c.is_control()).take(180).collect();
    let name = step.name.as_ref().unwrap_or(&made);
    let n = names.entry(name.clone()).or_default();
    *n += 1;
    if *n > 1 {
        map.push("name", Yaml::text(format!("{name} ({n})")));
    } else if *name != made {
        map.push("name", Yaml::text(name.as_str()));
    }
    if let Some(think) = &step.think {
        map.push("think", Yaml::plain(think));
    }
    if !step.headers.is_empty() {
        map.push("headers", texts(&step.headers));
    }
    match &step.body {
        Body::None => {}
        Body::Text(text) => map.push("text", Yaml::text(text.as_str())),
        Body::Json(json) => map.push("json", json.clone()),
        Body::Form(fields) => map.push("form", texts(fields)),
        Body::File(file) => map.push("file", untemplated(file)),
        Body::Multipart(parts) => {
            map.push("multipart", Yaml::List(parts.iter().map(|part| Yaml::Map(part_map(part))).collect()));
        }
    }
    if !step.extract.is_empty() {
        let mut extract = Map::new();
        for (name, cookie) in &step.extract {
            let mut finder = Map::new();
            finder.push("cookie", untemplated(cookie));
            extract.push(name.clone(), Yaml::Map(finder));
        }
        map.push("extract", Yaml::Map(extract));
    }
    if !step.statuses.is_empty() {
        let mut expect = Map::new();
        expect.push(
            "status",
            match step.statuses.as_slice() {
                [one] => Yaml::plain(one),
                several => Yaml::List(several.iter().map(Yaml::plain).collect()),
            },
        );
        map.push("expect", Yaml::Map(expect));
    }
    map
}

fn part_map(part: &Part) -> Map {
    let mut map = Map::new();
    map.push("name", untemplated(&part.name));
    match &part.content {
        PartContent::Text(text) => map.push("text", Yaml::text(text.as_str())),
        PartContent::File(file) => map.push("file", untemplated(file)),
    }
    let more = [("filename", &part.filename), ("type", &part.kind)];
    for (key, value) in more {
        if let Some(value) = value {
            map.push(key, untemplated(value));
        }
    }
    map
}
