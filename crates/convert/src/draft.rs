//! A scenario in the making: what every converter fills, and what becomes of it in YAML.

use super::secrets::{Secrets, is_secret_parameter};
use super::{Converted, Text, json, place};
use anyhow::{Result, bail};
use headway_workload::redact::{Place, SecretNames};
use headway_workload::scenario::{LONGEST_FILE, MOST_ORIGINS, MOST_STEPS, MOST_VALUES};
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
    /// Files of rows: their names and what stands under these.
    pub data: Vec<(String, Map)>,
    /// What the session does, in order, where there are no groups.
    pub steps: Vec<Step>,
    /// Groups of users with their own loads and journeys; none: a harmless load of the steps.
    pub groups: Vec<Group>,
    pub(super) secrets: Secrets,
}

/// Users that come in the same way and do the same.
pub struct Group {
    /// Its name, which shows where there are several.
    pub name: String,
    /// How they come: the keys of the group but its name and journey.
    pub load: Map,
    /// What they do, in order.
    pub journey: Vec<Item>,
}

/// A part of a journey.
#[derive(Clone)]
pub enum Item {
    /// A request.
    Step(Box<Step>),
    /// All of these, so often (from 2 up).
    Repeat(u64, Vec<Item>),
    /// One of these ways by their weights, with comments above.
    Choose(Vec<String>, Vec<(f64, Vec<Item>)>),
    /// Time that passes: a distribution.
    Pause(String),
}

impl Item {
    /// Mean number of requests of a list of items.
    pub fn mean_requests(items: &[Item]) -> f64 {
        let one = |item: &Item| match item {
            Item::Step(_) => 1.0,
            Item::Repeat(times, items) => *times as f64 * Item::mean_requests(items),
            Item::Choose(_, ways) => {
                let all: f64 = ways.iter().map(|(weight, _)| weight).sum();
                ways.iter().map(|(weight, items)| weight / all * Item::mean_requests(items)).sum()
            }
            Item::Pause(_) => 0.0,
        };
        items.iter().map(one).sum()
    }

    /// Whether a list of items may come out without any request.
    pub fn may_be_empty(items: &[Item]) -> bool {
        items.iter().all(|item| match item {
            Item::Step(_) => false,
            Item::Repeat(_, items) => Item::may_be_empty(items),
            Item::Choose(_, ways) => ways.iter().any(|(_, items)| Item::may_be_empty(items)),
            Item::Pause(_) => true,
        })
    }

    /// Calls `visit` with every request of a list of items.
    fn each<'i>(items: &'i [Item], visit: &mut dyn FnMut(&'i Step)) {
        for item in items {
            match item {
                Item::Step(step) => visit(step),
                Item::Repeat(_, items) => Item::each(items, visit),
                Item::Choose(_, ways) => ways.iter().for_each(|(_, items)| Item::each(items, visit)),
                Item::Pause(_) => {}
            }
        }
    }

    /// As `each`, to change them.
    fn each_mut(items: &mut [Item], visit: &mut dyn FnMut(&mut Step)) {
        for item in items {
            match item {
                Item::Step(step) => visit(step),
                Item::Repeat(_, items) => Item::each_mut(items, visit),
                Item::Choose(_, ways) => ways.iter_mut().for_each(|(_, items)| Item::each_mut(items, visit)),
                Item::Pause(_) => {}
            }
        }
    }

    /// Every request of the list, in order.
    pub fn steps(items: &[Item]) -> Vec<&Step> {
        let mut steps = Vec::new();
        Item::each(items, &mut |step| steps.push(step));
        steps
    }
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
#[derive(Clone)]
pub struct Step {
    /// Comments above it.
    pub notes: Vec<String>,
    /// Its name; none: method and path.
    pub name: Option<String>,
    /// Its method, as sent.
    pub method: String,
    /// Scheme, host and port that it goes to; none: those of the target.
    pub origin: Option<String>,
    /// Path and query.
    pub path: Text,
    /// Names and values; no name stands twice.
    pub headers: Vec<(String, Text)>,
    /// The body.
    pub body: Body,
    /// The distribution of the think time before it.
    pub think: Option<String>,
    /// Names, and where each is found: what is taken from its answer.
    pub extract: Vec<(String, Finder)>,
    /// The statuses that are expected of its answer: `200`, `2xx`; none: any below 400.
    pub statuses: Vec<String>,
    /// What else is expected of it.
    pub expect: Expect,
    /// Whether something that belongs to it could not be had; a note says what.
    pub lacks: bool,
}

/// Where a value is found in an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finder {
    /// The key that says how: `cookie`, `header`, `jsonpath`, `regex`.
    pub how: &'static str,
    /// What follows it.
    pub what: String,
    /// The group of a regular expression.
    pub group: Option<usize>,
    /// The value where nothing is found; none: the step fails.
    pub default: Option<String>,
}

impl Finder {
    /// Without a group and a default.
    pub fn new(how: &'static str, what: impl Into<String>) -> Finder {
        Finder { how, what: what.into(), group: None, default: None }
    }
}

/// What is expected of a response besides its status.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expect {
    /// Most time that it may take, as in `200ms`.
    pub time: Option<String>,
    /// A text that its body holds.
    pub contains: Option<Text>,
    /// A text that its body does not hold.
    pub not_contains: Option<Text>,
    /// A regular expression that matches somewhere in its body.
    pub matches: Option<String>,
    /// JSON pointers, and the values that they lead to.
    pub json: Vec<(String, Yaml)>,
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
            origin: None,
            path,
            headers: Vec::new(),
            body: Body::None,
            think: None,
            extract: Vec::new(),
            statuses: Vec::new(),
            expect: Expect::default(),
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
        self.body = structured.unwrap_or_else(|| Body::Text(secrets.text("BODY", text, "the body")));
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
    // curl calls every body a form that is not said to be something else.
    if text.trim_start().starts_with(['{', '[', '<', '"']) {
        return None;
    }
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
        let value = if secret {
            secrets.field(&name, &value)
        } else {
            secrets.text(&name, &value, &format!("the field {name}"))
        };
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
            _ => {
                let within = secrets.within("URL", piece, "a URL");
                out = out.and(&within.unwrap_or_else(|| Text::literal(piece)));
            }
        }
    }
    out
}

impl Draft {
    /// The scenario, and what to tell.
    ///
    /// # Errors
    /// More steps, origins, values or bytes than a scenario may have.
    pub fn finish(mut self) -> Result<Converted> {
        let origins = self.other_origins();
        if origins.len() > MOST_ORIGINS {
            bail!(
                "it would go to {} origins other than its target, and a scenario goes to at most {MOST_ORIGINS}: leave some out",
                origins.len()
            );
        }
        if !origins.is_empty() {
            let list: Vec<String> = origins.iter().map(|(origin, n)| format!("{origin} ({n})")).collect();
            self.warnings.push(format!("Steps also go to {}.", list.join(", ")));
        }
        let hidden = self.secrets.redactor();
        let mut without_secrets = |step: &mut Step| {
            step.notes.iter_mut().for_each(|note| *note = hidden.hide_foreign(note).into_owned());
        };
        self.steps.iter_mut().for_each(&mut without_secrets);
        self.groups.iter_mut().for_each(|group| Item::each_mut(&mut group.journey, &mut without_secrets));
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
        if !self.data.is_empty() {
            let mut data = Map::new();
            self.data.drain(..).for_each(|(name, set)| data.push(name, Yaml::Map(set)));
            file.push("data", Yaml::Map(data));
        }
        let mut names = HashSet::new();
        match self.groups.as_slice() {
            [] => {
                file.push("users", users());
                let steps = self.steps.iter().map(|step| Yaml::Map(step_map(step, &self.target, &mut names)));
                let steps = steps.collect();
                file.push("journey", Yaml::List(steps));
            }
            [only] => {
                file.push("users", Yaml::Map(only.load.clone()));
                file.push("journey", journey(&only.journey, &self.target, &mut names));
            }
            several => {
                let mut list = Vec::new();
                for group in several {
                    let mut map = Map::new();
                    map.push("name", Yaml::text(group.name.as_str()));
                    map.append(group.load.clone());
                    map.push("journey", journey(&group.journey, &self.target, &mut names));
                    list.push(Yaml::Map(map));
                }
                file.push("users", Yaml::List(list));
            }
        }

        let secrets: Vec<(&str, &str)> = self.secrets.told().collect();
        let mut head = String::new();
        let hidden = self.secrets.redactor();
        for note in self.notes.iter().chain(&self.warnings) {
            yaml::comment(&hidden.hide_foreign(note), 0, &mut head);
        }
        if !secrets.is_empty() {
            yaml::comment("Secrets are not written down; before a run, set", 0, &mut head);
            for (name, about) in &secrets {
                yaml::comment(&format!("  {name}: {about}"), 0, &mut head);
            }
        }
        let mut notes = self.warnings.clone();
        let lacking = self.all_steps().into_iter().filter(|step| step.lacks).count();
        if lacking > 0 {
            notes.push(format!("{} not complete: see the comments there", count_are(lacking)));
        }
        let hidden = self.secrets.redactor();
        let mut notes: Vec<String> =
            notes.iter().map(|note| hidden.hide_foreign(note).into_owned()).collect();
        notes.extend(secrets.iter().map(|(name, about)| format!("set {name} before a run: {about}")));
        let steps = self.all_steps().len();
        if steps > MOST_STEPS {
            bail!("it would have {steps} steps, and a scenario has at most {MOST_STEPS}: leave some out");
        }
        let values = file.count();
        if values > MOST_VALUES {
            bail!(
                "it would have {values} keys and values, and a scenario has at most {MOST_VALUES}: leave some out"
            );
        }
        let scenario = head + &file.document();
        if scenario.len() > LONGEST_FILE {
            let (mib, most) = (scenario.len() >> 20, LONGEST_FILE >> 20);
            bail!(
                "it would be {mib} MiB long, and a scenario is at most {most} MiB: leave some out, or put bodies into files"
            );
        }
        Ok(Converted { scenario, notes })
    }

    /// Every request, in order.
    fn all_steps(&self) -> Vec<&Step> {
        let mut steps: Vec<&Step> = self.steps.iter().collect();
        self.groups.iter().for_each(|group| Item::each(&group.journey, &mut |step| steps.push(step)));
        steps
    }

    /// Origins of steps other than the target, by their first step, each with its number of steps.
    pub(super) fn other_origins(&self) -> Vec<(String, usize)> {
        let mut origins: Vec<(String, usize)> = Vec::new();
        let mut places = HashMap::new();
        for origin in self.all_steps().into_iter().filter_map(|step| step.origin.as_deref()) {
            let at = *places.entry(origin).or_insert(origins.len());
            match origins.get_mut(at) {
                Some((_, n)) => *n += 1,
                None => origins.push((origin.to_owned(), 1)),
            }
        }
        origins
    }

    /// Takes out the headers that all steps have alike, if there are several steps. Of several origins only the target would get those
    /// with secrets: these stay with their steps.
    fn hoist_headers(&mut self) -> Vec<(String, Text)> {
        let steps = self.all_steps();
        let Some((first, rest)) = steps.split_first() else { return Vec::new() };
        let leaves_target = steps.iter().any(|step| step.origin.is_some());
        let alike = |name: &str, value: &Text| {
            !(name.eq_ignore_ascii_case("content-type") || leaves_target && is_of_origin(name, value))
                && rest
                    .iter()
                    .all(|step| step.headers.iter().any(|(n, v)| n.eq_ignore_ascii_case(name) && v == value))
        };
        if rest.is_empty() {
            return Vec::new();
        }
        let common: Vec<(String, Text)> =
            first.headers.iter().filter(|(name, value)| alike(name, value)).cloned().collect();
        let mut take_out = |step: &mut Step| {
            step.headers.retain(|(name, _)| !common.iter().any(|(c, _)| c.eq_ignore_ascii_case(name)));
        };
        self.steps.iter_mut().for_each(&mut take_out);
        self.groups.iter_mut().for_each(|group| Item::each_mut(&mut group.journey, &mut take_out));
        common
    }
}

/// Whether a header is for one origin alone: the host, or what may hold a secret.
fn is_of_origin(name: &str, value: &Text) -> bool {
    let refers = ["${", "{{"].iter().any(|opens| value.as_str().contains(opens));
    refers || name.eq_ignore_ascii_case("host") || SecretNames::default().has(Place::Header, name)
}

/// The steps of a journey; `names` are those given so far.
fn journey(items: &[Item], target: &str, names: &mut HashSet<String>) -> Yaml {
    let mut list = Vec::new();
    for item in items {
        let mut map = Map::new();
        match item {
            Item::Step(step) => map = step_map(step, target, names),
            Item::Repeat(times, items) => {
                map.push("repeat", Yaml::plain(times));
                map.push("steps", journey(items, target, names));
            }
            Item::Choose(notes, ways) => {
                let ways = ways.iter().map(|(weight, items)| {
                    let mut way = Map::new();
                    way.push("weight", Yaml::plain(weight));
                    way.push("steps", journey(items, target, names));
                    Yaml::Map(way)
                });
                map.commented(notes.clone(), "choose", Yaml::List(ways.collect()));
            }
            Item::Pause(law) => map.push("pause", Yaml::plain(law)),
        }
        list.push(Yaml::Map(map));
    }
    Yaml::List(list)
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

/// One entry of the journey; `names` are those given so far.
fn step_map(step: &Step, target: &str, names: &mut HashSet<String>) -> Map {
    const VERBS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let mut map = Map::new();
    let path = place(target, step.origin.as_deref(), &step.path);
    if VERBS.contains(&step.method.as_str()) {
        map.commented(step.notes.clone(), step.method.to_ascii_lowercase(), Yaml::text(path.as_str()));
    } else {
        let mut request = Map::new();
        request.push("method", Yaml::text(step.method.as_str()));
        request.push("path", Yaml::text(path.as_str()));
        map.commented(step.notes.clone(), "request", Yaml::Map(request));
    }
    let path = path.as_str().split('?').next().unwrap_or_default();
    // A name ends at 200 characters.
    let made: String =
        format!("{} {path}", step.method).chars().filter(|c| !c.is_control()).take(180).collect();
    let name = step.name.as_ref().unwrap_or(&made);
    let numbered = (1_usize..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
    let free = numbered.into_iter().find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(free.clone());
    if free != made {
        // A path is written for the file already, a name is not.
        map.push("name", if step.name.is_some() { untemplated(&free) } else { Yaml::text(free) });
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
        for (name, found) in &step.extract {
            let mut finder = Map::new();
            finder.push(found.how, untemplated(&found.what));
            if let Some(group) = found.group {
                finder.push("group", Yaml::plain(group));
            }
            if let Some(default) = &found.default {
                finder.push("default", untemplated(default));
            }
            extract.push(name.clone(), Yaml::Map(finder));
        }
        map.push("extract", Yaml::Map(extract));
    }
    let expect = expect_map(step);
    if !expect.is_empty() {
        map.push("expect", Yaml::Map(expect));
    }
    map
}

fn expect_map(step: &Step) -> Map {
    let mut map = Map::new();
    match step.statuses.as_slice() {
        [] => {}
        [one] => map.push("status", Yaml::plain(one)),
        several => map.push("status", Yaml::List(several.iter().map(Yaml::plain).collect())),
    }
    if let Some(time) = &step.expect.time {
        map.push("time", Yaml::plain(time));
    }
    let mut body = Map::new();
    for (key, text) in [("contains", &step.expect.contains), ("not-contains", &step.expect.not_contains)] {
        if let Some(text) = text {
            body.push(key, Yaml::text(text.as_str()));
        }
    }
    if let Some(expression) = &step.expect.matches {
        body.push("matches", untemplated(expression));
    }
    if !step.expect.json.is_empty() {
        let mut json = Map::new();
        step.expect.json.iter().for_each(|(pointer, value)| json.push(pointer.clone(), value.clone()));
        body.push("json", Yaml::Map(json));
    }
    if !body.is_empty() {
        map.push("body", Yaml::Map(body));
    }
    map
}

fn part_map(part: &Part) -> Map {
    let mut map = Map::new();
    // They are templates, and stand for themselves here.
    map.push("name", Yaml::text(Text::literal(&part.name).as_str()));
    match &part.content {
        PartContent::Text(text) => map.push("text", Yaml::text(text.as_str())),
        PartContent::File(file) => map.push("file", untemplated(file)),
    }
    let more = [("filename", &part.filename), ("type", &part.kind)];
    for (key, value) in more {
        if let Some(value) = value {
            map.push(key, Yaml::text(Text::literal(value).as_str()));
        }
    }
    map
}
