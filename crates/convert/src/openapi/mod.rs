//! An OpenAPI document (3.0 or 3.1, YAML or JSON) as a scenario: one session that calls each operation once.
//!
//! Operations with a safe method become steps; those that may change data on request. Values of parameters and bodies are the
//! document's examples, or made up from schemas. Deliberately absent: what links operations (an identifier that one response
//! gives and another request uses), callbacks, and other files that the document refers to.

mod document;
mod keys;
mod value;

use super::draft::{Body, Draft, FORM, Part, PartContent, Step, Variable};
use super::secrets::{Secrets, is_secret_field, is_secret_parameter};
use super::{Converted, Location, Text, count, is_token};
use anyhow::{Context as _, Result, anyhow, bail};
use document::{Document, Node};
use headway_workload::yaml::Yaml;
use url::form_urlencoded::byte_serialize;
use value::{Maker, Origin, Value};

/// What to make of a document.
#[derive(Clone, Default, Debug)]
pub struct Choices {
    /// The target with its base path; none: the document's first server.
    pub target: Option<String>,
    /// Operations that may change data, too.
    pub all_methods: bool,
}

/// The methods of HTTP that OpenAPI knows, and whether they are safe (RFC 9110, 9.2.1). TRACE is sent by no step.
const METHODS: [(&str, bool); 7] = [
    ("get", true),
    ("head", true),
    ("options", true),
    ("post", false),
    ("put", false),
    ("patch", false),
    ("delete", false),
];

/// A scenario of the document in `text`, which is named `file` in messages.
///
/// # Errors
/// What is no OpenAPI 3 document, with its line; no server and no target; nothing to send.
pub fn scenario(file: &str, text: &str, choices: &Choices) -> Result<Converted> {
    let document = Document::read(file, text)?;
    let root = &document.root;
    if !root.get("swagger").is_null() {
        bail!(
            "{}: this is Swagger 2.0, which is not read: convert it to OpenAPI 3 first (npx swagger2openapi, or https://converter.swagger.io)",
            document.place(root.get("swagger"))
        );
    }
    let version = root.get("openapi");
    let version = version.text().or(if let document::Kind::Number(n) = &version.kind {
        Some(n.as_str())
    } else {
        None
    });
    match version {
        Some(version) if version == "3" || version.starts_with("3.") => {}
        Some(version) => {
            bail!("{}: openapi is '{version}', and 3.0 or 3.1 is read", document.place(root.get("openapi")))
        }
        None => bail!(
            "{file}:1: this is no OpenAPI document: `openapi: 3.0.x` or `3.1.x` is missing; name an OpenAPI 3.0 or 3.1 document"
        ),
    }
    let mut conversion =
        Conversion { document: &document, draft: Draft::default(), made_up: Vec::new(), work: 0 };
    conversion.target(choices)?;
    let total = conversion.operations(choices);
    let Conversion { mut draft, made_up, .. } = conversion;
    if draft.steps.is_empty() {
        let hint = if total > 0 { "; --all-methods takes in those that may change data" } else { "" };
        bail!("{}: paths has no operation to send{hint}", document.place(root.get("paths")));
    }
    let n = count(draft.steps.len(), "step");
    draft.notes.push(format!("Made by headway from-openapi: {n} out of {}.", count(total, "operation")));
    draft.notes.push(
        "Every session calls each of them once, in the order of the document; one that deletes comes last."
            .to_owned(),
    );
    if !made_up.is_empty() {
        let more = if made_up.len() > 10 { ", ..." } else { "" };
        let names = made_up.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        draft.warnings.push(format!(
            "Made up, for want of examples: variables {names}{more}. Put in values that the target knows, under variables."
        ));
    }
    draft.finish().with_context(|| file.to_owned())
}

struct Conversion<'d> {
    document: &'d Document<'d>,
    draft: Draft,
    /// Names of variables whose values are made up.
    made_up: Vec<String>,
    /// Schemas that were looked at for values so far.
    work: usize,
}

/// An operation and what is around it.
struct Operation<'d> {
    method: &'static str,
    path: &'d str,
    /// What all operations of the path have.
    item: &'d Node,
    node: &'d Node,
}

impl Operation<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.method.to_ascii_uppercase(), self.path)
    }
}

impl<'d> Conversion<'d> {
    fn warn(&mut self, node: &Node, what: &str) {
        self.draft.warnings.push(format!("{}: {what}", self.document.place(node)));
    }

    fn target(&mut self, choices: &Choices) -> Result<()> {
        let servers = self.document.root.get("servers");
        let urls: Vec<String> = servers.items().iter().map(server).collect();
        if let Some(target) = &choices.target {
            self.draft.target = base(target).with_context(|| format!("--target {target}"))?;
            return Ok(());
        }
        let first = urls.first().map_or("/", String::as_str);
        if !first.contains("://") {
            let place = self.document.place(servers.items().first().unwrap_or(servers));
            let path = first.trim_end_matches('/');
            bail!(
                "{place}: the document names no server with a host (its server is '{first}'): name the target, as in --target http://127.0.0.1:8080{path}"
            );
        }
        self.draft.target = base(first).map_err(|e| {
            anyhow!(
                "{}: the server '{first}': {e:#}; --target URL names another",
                self.document.place(&servers.items()[0])
            )
        })?;
        if urls.len() > 1 {
            let others = urls[1..].iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let target = self.draft.target.clone();
            self.warn(
                servers,
                &format!(
                    "the target is {target}, the first of {} servers; --target takes another: {others}",
                    urls.len()
                ),
            );
        }
        Ok(())
    }

    /// Makes the steps; the answer is how many operations there are.
    fn operations(&mut self, choices: &Choices) -> usize {
        let root = &self.document.root;
        let webhooks = root.get("webhooks");
        for (name, hook) in webhooks.entries() {
            self.warn(hook, &format!("left out: webhook {name}, which the target sends"));
        }
        let (mut total, mut deleting) = (0, Vec::new());
        for (path, item) in root.get("paths").entries() {
            if !path.starts_with('/') {
                continue;
            }
            let item = match self.document.resolve(item) {
                Ok(resolved) => resolved,
                Err(why) => {
                    self.warn(item, &format!("left out: path {path}: {why}"));
                    continue;
                }
            };
            for (key, node) in item.entries() {
                if key == "trace" || key == "query" || key == "additionalOperations" {
                    self.warn(node, &format!("left out: {key} of {path}, which no step sends"));
                    total += 1;
                }
                let Some((method, safe)) = METHODS.into_iter().find(|(method, _)| method == key) else {
                    continue;
                };
                total += 1;
                let operation = Operation { method, path, item, node };
                if !safe && !choices.all_methods {
                    self.warn(
                        node,
                        &format!(
                            "left out: {}, which may change data (--all-methods takes it in)",
                            operation.name()
                        ),
                    );
                    continue;
                }
                let step = self.step(&operation);
                if method == "delete" { deleting.push(step) } else { self.draft.steps.push(step) }
            }
        }
        self.draft.steps.append(&mut deleting);
        total
    }

    fn step(&mut self, operation: &Operation<'d>) -> Step {
        let node = operation.node;
        let name = operation.name();
        self.unread(operation.item, &keys::PATH_ITEM, &name);
        self.unread(node, &keys::OPERATION, &name);
        let mut parameters: Vec<&'d Node> = Vec::new();
        for listed in [node.get("parameters"), operation.item.get("parameters")] {
            for parameter in listed.items() {
                match self.document.resolve(parameter) {
                    // Those of the operation come first and win.
                    Ok(parameter) if parameters.iter().any(|known| same(known, parameter)) => {}
                    Ok(parameter) => parameters.push(parameter),
                    Err(why) => self.warn(parameter, &format!("left out: a parameter of {name}: {why}")),
                }
            }
        }
        let mut path = self.path(operation, &parameters);
        let mut query = String::new();
        let mut step = Step::new(&operation.method.to_ascii_uppercase(), Text::literal(""));
        step.name = Some(name.chars().filter(|c| !c.is_control()).take(180).collect());
        step.notes.push(self.document.place(node));
        if node.get("deprecated").is_true() {
            step.notes.push("Deprecated, as the document says.".to_owned());
        }
        for parameter in &parameters {
            if !parameter.get("required").is_true() || parameter.get("in").text() == Some("path") {
                continue;
            }
            self.parameter(parameter, &name, &mut step, &mut query);
        }
        let sent = |parameter: &&&'d Node| {
            parameter.get("required").is_true() || parameter.get("in").text() == Some("path")
        };
        for parameter in parameters.iter().filter(sent) {
            let named = parameter.get("name").text().unwrap_or_default();
            self.unread(parameter, &keys::PARAMETER, &format!("{name}, parameter {named}"));
        }
        self.security(operation, &mut step, &mut query);
        if !query.is_empty() {
            path = path.and(&Text::literal("?")).and(&Text(query));
        }
        step.path = path;
        self.body(operation, &mut step);
        self.responses(operation, &mut step);
        step
    }

    fn value(&mut self, holder: &'d Node, what: &str) -> (Value, Origin) {
        let mut maker = Maker::new(self.document, self.work);
        let media = holder.get("content").entries().first().map(|(_, media)| media);
        let made = maker.of(media.unwrap_or(holder));
        self.work = maker.work;
        for lack in std::mem::take(&mut maker.lacks) {
            self.warn(holder, &format!("{what}: {lack}"));
        }
        made
    }

    /// The path with variables in place of its parameters.
    fn path(&mut self, operation: &Operation<'d>, parameters: &[&'d Node]) -> Text {
        let mut out = Text::literal("");
        // A fragment tells operations apart; no request holds one (RFC 9110, 4.2.5).
        let mut rest = operation.path.split('#').next().unwrap_or_default();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, tail)) = after.split_once('}') else { break };
            out = out.and(&Text::literal(&in_path(before)));
            let is_it = |parameter: &&&Node| {
                parameter.get("in").text() == Some("path") && parameter.get("name").text() == Some(name)
            };
            let what = format!("{}, path parameter {name}", operation.name());
            let found = parameters.iter().find(is_it);
            let (value, origin, place) = match found {
                Some(parameter) => {
                    let (value, origin) = self.value(parameter, &what);
                    (value, origin, self.document.place(parameter))
                }
                None => {
                    self.warn(operation.node, &format!("{what}: it is not described, and taken for a text"));
                    (Value::Text("text".to_owned()), Origin::MadeUp, self.document.place(operation.node))
                }
            };
            let style = found.map_or("simple", |parameter| parameter.get("style").text().unwrap_or("simple"));
            let explode = found.is_some_and(|parameter| parameter.get("explode").is_true());
            if !["simple", "label", "matrix"].contains(&style) {
                let at = found.copied().unwrap_or(operation.node);
                self.warn(at, &format!("{what}: the style {style} is none of a path, and taken for simple"));
            }
            let json =
                found.filter(|parameter| is_json(parameter) && value != Value::Secret).map(|_| value.json());
            let value = json.map_or(value, Value::Text);
            out = match &value {
                Value::List(_) | Value::Map(_) => {
                    out.and(&Text::literal(&value::expanded(style, explode, name, &value)))
                }
                one => {
                    let lead = match style {
                        "label" => ".".to_owned(),
                        "matrix" => format!(";{}=", encoded(name)),
                        _ => String::new(),
                    };
                    out.and(&Text::literal(&lead)).and(&self.variable(name, one, origin, &place))
                }
            };
            rest = tail;
        }
        out.and(&Text::literal(&in_path(rest)))
    }

    /// A variable of the scenario with that value; equal ones are one.
    fn variable(&mut self, name: &str, value: &Value, origin: Origin, place: &str) -> Text {
        let spelled: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(60)
            .collect();
        let spelled = if spelled.starts_with(|c: char| c.is_ascii_alphabetic()) {
            spelled
        } else {
            format!("_{spelled}")
        };
        let text = if is_secret_field(name) || *value == Value::Secret {
            self.draft.secrets.variable(name, "", &format!("the value of the path parameter {name}"))
        } else {
            // Variables hold no templates; references to the environment they do.
            Text(value.plain().replace("${", "$${"))
        };
        let known = |known: &&Variable| known.of == spelled && known.value == text;
        if let Some(known) = self.draft.variables.iter().find(known) {
            return Text::extracted(&format!("vars.{}", known.name));
        }
        let n = self.draft.variables.iter().filter(|known| known.of == spelled).count();
        let name = if n == 0 { spelled.clone() } else { format!("{spelled}_{}", n + 1) };
        let mut notes = Vec::new();
        if origin == Origin::MadeUp {
            notes.push(format!("Made up from its schema ({place})."));
            self.made_up.push(name.clone());
        }
        self.draft.variables.push(Variable { name: name.clone(), of: spelled, value: text, notes });
        Text::extracted(&format!("vars.{name}"))
    }

    fn parameter(&mut self, parameter: &'d Node, operation: &str, step: &mut Step, query: &mut String) {
        let Some(name) = parameter.get("name").text() else { return };
        let place = parameter.get("in").text().unwrap_or_default();
        let what = format!("{operation}, {place} parameter {name}");
        let (value, origin) = self.value(parameter, &what);
        if origin == Origin::MadeUp {
            step.notes.push(format!("Made up from its schema: the {place} parameter {name}."));
        }
        let hidden = value == Value::Secret;
        // What has a media type goes as that has it, and not by a style.
        let value = if is_json(parameter) && !hidden { Value::Text(value.json()) } else { value };
        match place {
            "query" => {
                if hidden || is_secret_parameter(name) {
                    let about = format!("the parameter {name}, percent-encoded as it stands in the URL");
                    let value = self.draft.secrets.variable(name, "", &about);
                    push_query(query, name, value.as_str());
                    return;
                }
                let style = parameter.get("style").text().unwrap_or("form");
                let explode = parameter.get("explode");
                let explode = explode.is_true() || (explode.is_null() && style == "form");
                let deep = style == "deepObject";
                let between = match style {
                    "spaceDelimited" => "%20",
                    "pipeDelimited" => "%7C",
                    "form" | "deepObject" => ",",
                    other => {
                        self.warn(
                            parameter,
                            &format!("{what}: the style {other} is none of a query, and taken for form"),
                        );
                        ","
                    }
                };
                let literal = |value: &Value| Text::literal(&encoded(&value.plain())).0;
                match &value {
                    Value::List(items) if explode => {
                        items.iter().for_each(|item| push_query(query, name, &literal(item)))
                    }
                    Value::Map(members) if deep => {
                        members.iter().for_each(|(key, value)| {
                            push_query(query, &format!("{name}[{key}]"), &literal(value))
                        });
                    }
                    Value::Map(members) if explode => {
                        members.iter().for_each(|(key, value)| push_query(query, key, &literal(value)))
                    }
                    Value::List(_) | Value::Map(_) => {
                        let parts: Vec<String> = value.parts().iter().map(|part| encoded(part)).collect();
                        push_query(query, name, &Text::literal(&parts.join(between)).0);
                    }
                    value => push_query(query, name, &literal(value)),
                }
            }
            "header" => {
                let ignored = ["accept", "content-type", "authorization", "host", "content-length"];
                // OpenAPI has the first three ignored; the others are the protocol's.
                if ignored.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                    return;
                }
                let plain = value.plain();
                if !is_token(name) || plain.contains(['\r', '\n']) {
                    self.warn(parameter, &format!("left out: {what}, which is no header"));
                    return;
                }
                let secret = if hidden {
                    Some(self.draft.secrets.variable(name, "", &format!("the value of the header {name}")))
                } else {
                    self.draft.secrets.header(name, &plain)
                };
                step.header(name, secret.unwrap_or_else(|| Text::literal(&plain)));
            }
            "cookie" => self.cookie(name, step),
            _ => self.warn(
                parameter,
                &format!("left out: {what}: a parameter is in path, query, header or cookie"),
            ),
        }
    }

    fn cookie(&mut self, name: &str, step: &mut Step) {
        let value = self.draft.secrets.variable(
            &format!("COOKIE_{name}"),
            name,
            &format!("the value of the cookie {name}"),
        );
        step.header("Cookie", Text::literal(&format!("{name}=")).and(&value));
    }

    /// Placeholders for what the first of the alternatives asks for.
    fn security(&mut self, operation: &Operation<'d>, step: &mut Step, query: &mut String) {
        let own = operation.node.get("security");
        let wanted = if own.is_null() { self.document.root.get("security") } else { own };
        let Some(first) = wanted.items().first() else { return };
        let schemes = self.document.root.get("components").get("securitySchemes");
        for (name, requirement) in first.entries() {
            let scheme = match self.document.resolve(schemes.get(name)) {
                Ok(scheme) if !scheme.is_null() => scheme,
                _ => {
                    self.warn(
                        requirement,
                        &format!(
                            "left out: security scheme {name} of {}: it is not described",
                            operation.name()
                        ),
                    );
                    continue;
                }
            };
            let kind = scheme.get("type").text().unwrap_or_default();
            let http = scheme.get("scheme").text().unwrap_or_default().to_ascii_lowercase();
            let field = scheme.get("name").text().unwrap_or_default();
            let mut secret = |about: &str| self.draft.secrets.variable(name, "security", about);
            match (kind, http.as_str(), scheme.get("in").text().unwrap_or_default()) {
                ("http", "basic", _) => {
                    let value = secret(&format!("NAME:PASSWORD in Base64 (security scheme {name})"));
                    step.header("Authorization", Text::literal("Basic ").and(&value));
                }
                ("http", "bearer", _) | ("oauth2" | "openIdConnect", _, _) => {
                    let value = secret(&format!("the bearer token (security scheme {name})"));
                    step.header("Authorization", Text::literal("Bearer ").and(&value));
                }
                ("apiKey", _, "header") if is_token(field) => {
                    let value = secret(&format!("the value of the header {field} (security scheme {name})"));
                    step.header(field, value);
                }
                ("apiKey", _, "query") if !field.is_empty() => {
                    let value = secret(&format!(
                        "the parameter {field}, percent-encoded as it stands in the URL (security scheme {name})"
                    ));
                    push_query(query, field, value.as_str());
                }
                ("apiKey", _, "cookie") if !field.is_empty() => self.cookie(field, step),
                ("mutualTLS", _, _) => {
                    self.once(scheme, "mutual TLS: write `cert:` and `key:` into the scenario")
                }
                _ => self.once(scheme, &format!("left out: security scheme {name} of type '{kind}' {http}")),
            }
        }
    }

    /// Tells of the keys that are neither read nor about people.
    fn unread(&mut self, node: &'d Node, keys: &keys::Keys, of: &str) {
        for (key, value) in node.entries() {
            if !keys.has(key) && !value.is_null() {
                self.once(value, &format!("left out: {key} of {of}"));
            }
        }
    }

    /// A warning that is given once.
    fn once(&mut self, node: &Node, what: &str) {
        let text = format!("{}: {what}", self.document.place(node));
        if !self.draft.warnings.contains(&text) {
            self.draft.warnings.push(text);
        }
    }

    fn body(&mut self, operation: &Operation<'d>, step: &mut Step) {
        let given = operation.node.get("requestBody");
        if given.is_null() {
            return;
        }
        let body = match self.document.resolve(given) {
            Ok(body) => body,
            Err(why) => {
                return self.warn(given, &format!("left out: the body of {}: {why}", operation.name()));
            }
        };
        self.unread(body, &keys::BODY, &format!("the body of {}", operation.name()));
        let media = body.get("content").entries();
        let rank = |kind: &str| {
            let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            match essence.as_str() {
                "application/json" => 0,
                json if json.ends_with("+json") => 1,
                FORM => 2,
                "multipart/form-data" => 3,
                "*/*" | "application/*" => 4,
                text if text.starts_with("text/") => 5,
                _ => 9,
            }
        };
        let Some((kind, holder)) = media.iter().min_by_key(|(kind, _)| rank(kind)) else { return };
        let what = format!("the body of {}", operation.name());
        self.unread(holder, &keys::MEDIA, &what);
        if rank(kind) == 9 {
            return self.warn(
                holder,
                &format!("left out: {what}, of type {kind}: put it into a file, and name that (file: NAME)"),
            );
        }
        let (value, origin) = self.value(holder, &what);
        if origin == Origin::MadeUp {
            step.notes.push("Made up from its schema: the body, or parts of it.".to_owned());
        }
        if value.has_odd_names() {
            self.warn(holder, &format!("{what}: members whose names hold {{{{ or ${{ are left out"));
        }
        let secrets = &mut self.draft.secrets;
        match (rank(kind), &value) {
            (0 | 1 | 4, _) => {
                step.body = Body::Json(value.yaml("", secrets));
                if rank(kind) == 1 {
                    step.header("Content-Type", Text::literal(kind));
                }
            }
            (2, Value::Map(members)) => {
                step.body = Body::Form(
                    members.iter().map(|(name, value)| (name.clone(), field(name, value, secrets))).collect(),
                );
            }
            (3, Value::Map(members)) => {
                let part = |(name, value): &(String, Value)| Part {
                    name: name.clone(),
                    content: PartContent::Text(field(name, value, secrets)),
                    filename: None,
                    kind: None,
                };
                step.body = Body::Multipart(members.iter().map(part).collect());
            }
            (5, value) => {
                step.body = Body::Text(Text::literal(&value.plain()));
                step.header("Content-Type", Text::literal(kind));
            }
            _ => self.warn(holder, &format!("left out: {what}: a form has an object as its schema")),
        }
    }

    /// What is expected of the response, and asked for.
    fn responses(&mut self, operation: &Operation<'d>, step: &mut Step) {
        for (code, response) in operation.node.get("responses").entries() {
            let range = matches!(code.as_str(), "1XX" | "2XX" | "3XX");
            let good = code.parse::<u16>().is_ok_and(|code| (100..400).contains(&code));
            if !range && !good {
                continue;
            }
            step.statuses.push(code.to_ascii_lowercase());
            let accepts = step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept"));
            let content =
                self.document.resolve(response).map_or(&[][..], |response| response.get("content").entries());
            if let Some((kind, _)) = content.first()
                && !accepts
                && !kind.contains(|c: char| c.is_control())
            {
                step.header("Accept", Text::literal(kind));
            }
        }
    }
}

/// A field of a form, or a part.
fn field(name: &str, value: &Value, secrets: &mut Secrets) -> Text {
    match value.yaml(name, secrets) {
        Yaml::Text(text) => Text(text),
        _ => Text::literal(&value.plain()),
    }
}

/// Whether a parameter is described by a media type of JSON.
fn is_json(parameter: &Node) -> bool {
    parameter.get("content").entries().first().is_some_and(|(kind, _)| {
        let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == "application/json" || essence.ends_with("+json")
    })
}

fn same(a: &Node, b: &Node) -> bool {
    ["name", "in"].into_iter().all(|key| a.get(key).text() == b.get(key).text())
}

/// A server's URL with its variables' defaults.
fn server(server: &Node) -> String {
    let mut url = server.get("url").text().unwrap_or("/").to_owned();
    for (name, variable) in server.get("variables").entries().iter().take(100) {
        let value = match &variable.get("default").kind {
            document::Kind::Text(text) | document::Kind::Number(text) => text.as_str(),
            _ => continue,
        };
        url = url.replace(&format!("{{{name}}}"), value);
    }
    url.chars().take(1_000).collect()
}

/// A URL as a target: origin and base path, without user, password and query.
pub(super) fn base(url: &str) -> Result<String> {
    let location = Location::parse(url)?;
    let path = location.path.split('?').next().unwrap_or_default().trim_end_matches('/');
    Ok(format!("{}{path}", location.origin))
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

fn push_query(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(&format!("{}={value}", Text::literal(&encoded(name)).0));
}

/// A piece of a path, with what no path holds percent-encoded.
fn in_path(text: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/%?".contains(c);
    text.chars().map(|c| if kept(c) { c.to_string() } else { encoded(c.encode_utf8(&mut [0; 4])) }).collect()
}

#[cfg(test)]
mod tests;
