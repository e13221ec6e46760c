//! A sampler of HTTP, with the defaults, headers, timers, assertions and extractors that apply to it, as a step.

use super::values::{Resolved, encoded};
use super::xml::{Element, Property};
use super::{Conversion, Host, Scope, origin};
use crate::Text;
use crate::draft::{Body, FORM, Item, Part, PartContent, Step};
use crate::secrets::{is_secret_field, is_secret_parameter};
use serde_json::Value;

/// An argument of a sampler.
struct Argument {
    name: Resolved,
    value: Resolved,
    /// Whether JMeter percent-encodes the value.
    encode: bool,
    /// Whether there is a `=` even without a value.
    equals: bool,
}

/// A file of a sampler.
struct File {
    path: String,
    field: String,
    kind: String,
}

/// A setting of a sampler: its own, or that of the innermost HTTP Request Defaults that has it.
fn setting<'p>(element: &'p Element, scope: &Scope<'p>, name: &str) -> &'p str {
    let all = std::iter::once(element).chain(scope.defaults.iter().rev().copied());
    all.map(|element| element.text(name)).find(|text| !text.trim().is_empty()).unwrap_or("")
}

impl<'p> Conversion<'p, '_> {
    /// The step of a sampler, with pauses before it; nothing if it cannot be sent, which is listed.
    pub(super) fn http(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        self.values.sampler = element.name.clone();
        let path = setting(element, scope, "HTTPSampler.path").trim();
        let path = self.values.resolve(path);
        let (host, path) = self.place(element, scope, path);
        let Some(origin) = self.origin(element, host) else { return Vec::new() };
        if let Some(origin) = origin.as_ref().filter(|_| path.is_value()) {
            let what = format!(
                "left out: its path is one value of a run, which is a path of the target alone and not of {origin}"
            );
            self.warn(element, &what);
            return Vec::new();
        }
        let method = setting(element, scope, "HTTPSampler.method").trim();
        let method = if method.is_empty() { "GET" } else { method };
        let method = self.fixed(element, method).map(|method| method.trim().to_ascii_uppercase());
        let Some(method) = method.filter(|method| crate::is_token(method) && method != "CONNECT") else {
            self.warn(element, "left out: its method is none that is known before a run");
            return Vec::new();
        };
        let mut step = Step::new(&method, Text::literal(""));
        step.origin = origin;
        step.notes.push(format!("{}:{}", self.file, element.line));
        let name: String = element.name.trim().chars().filter(|c| !c.is_control()).take(180).collect();
        step.name = (!name.is_empty()).then_some(name);
        self.tell_of(&mut step, element, &path);
        let (path, query) = if path.is_value() { (path, None) } else { path.cut('?') };
        let mut text = path.text(&mut self.values);
        let mut queries = Vec::new();
        for part in query.into_iter().flat_map(Resolved::parts) {
            queries.push(self.part_of_query(part));
        }
        self.headers(element, scope, &mut step);
        self.arguments(element, scope, &mut step, &mut queries);
        if !queries.is_empty() {
            text = text.and(&Text::literal("?"));
            for (i, query) in queries.iter().enumerate() {
                text = if i > 0 { text.and(&Text::literal("&")) } else { text }.and(query);
            }
        }
        step.path = text;
        self.settings(element, scope);
        let (think, pauses) = self.think(&scope.timers);
        step.think = think;
        for check in &scope.checks {
            self.check(check, &mut step);
        }
        let mut items = pauses;
        items.push(Item::Step(Box::new(step)));
        items
    }

    /// The host of a request, and the path that is left of it.
    fn place(&mut self, element: &'p Element, scope: &Scope<'p>, path: Resolved) -> (Host, Resolved) {
        if ["http://", "https://"].iter().any(|scheme| path.begins(&self.values, scheme)) {
            // A URL in place of the path.
            let (url, rest) = path.host_and_rest(&self.values);
            let rest = if rest.begins(&self.values, "/") { rest } else { rest.after("/") };
            return (self.host(element, &url), rest.cut('#').0);
        }
        let path = match path.begins(&self.values, "/") || path.is_value() {
            true => path,
            false => path.after("/"),
        };
        let path = path.cut('#').0;
        let [domain, protocol, port] = ["domain", "protocol", "port"]
            .map(|name| setting(element, scope, &format!("HTTPSampler.{name}")).trim());
        if domain.is_empty() {
            return (Host::Unnamed, path);
        }
        let protocol = if protocol.is_empty() { "http" } else { protocol };
        let port = self.values.resolve(port);
        let has_port = port.constant(&self.values).is_none_or(|port| !["", "0"].contains(&port.trim()));
        let front = self.values.resolve(&format!("{protocol}://{domain}"));
        let url = if has_port { front.and(Resolved::of(":")).and(port) } else { front };
        (self.host(element, &url), path)
    }

    /// The host of a URL that ends before its path.
    fn host(&mut self, element: &'p Element, url: &Resolved) -> Host {
        match url.place(&self.values).and_then(|text| origin(&text)) {
            Some(origin) => {
                self.tell_defaults(element, url);
                Host::Known(origin)
            }
            None => Host::Unknown(url.shown(&self.values).chars().take(80).collect()),
        }
    }

    /// A part of a query that stands in a path, with a secret in it replaced.
    fn part_of_query(&mut self, part: Resolved) -> Text {
        let (name, value) = part.clone().cut('=');
        let name_text = name.constant(&self.values).unwrap_or_default();
        let literal = value.as_ref().and_then(|value| value.constant(&self.values)).filter(|v| !v.is_empty());
        if let (true, Some(value)) = (is_secret_parameter(&name_text), literal) {
            return self.secret_parameter(&name_text, &value);
        }
        let secrets = &mut self.draft.secrets;
        part.text_with(&mut self.values, |text| secrets.text("URL", text, "a URL"))
    }

    fn secret_parameter(&mut self, name: &str, value: &str) -> Text {
        let about = format!("the parameter {name}, percent-encoded as it stands in the URL");
        let value = self.draft.secrets.variable(name, value, &about);
        Text::literal(&format!("{}=", encoded(name))).and(&value)
    }

    /// The headers of all header managers that apply; the innermost of a name wins.
    fn headers(&mut self, element: &'p Element, scope: &Scope<'p>, step: &mut Step) {
        let mut headers: Vec<(String, Resolved)> = Vec::new();
        for manager in &scope.headers {
            for header in manager.list("HeaderManager.headers") {
                let name = header.text("Header.name").trim();
                if name.is_empty() {
                    continue;
                }
                if !crate::is_token(name) {
                    self.warn(manager, &format!("left out: '{name}', which is no name of a header"));
                    continue;
                }
                let value = self.values.resolve(header.text("Header.value").trim());
                self.tell_of(step, manager, &value);
                match headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    Some(known) => *known = (name.to_owned(), value),
                    None => headers.push((name.to_owned(), value)),
                }
            }
        }
        for (name, value) in headers {
            if crate::har::NOT_SENT.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                continue;
            }
            let constant = value.constant(&self.values);
            if constant.as_ref().is_some_and(|text| text.contains(['\r', '\n', '\0'])) {
                self.warn(element, &format!("left out: the header {name}, whose value has several lines"));
                continue;
            }
            let secret = constant.and_then(|text| self.draft.secrets.header(&name, &text));
            self.has_secrets |= secret.is_some();
            if let (Some(_), Some(origin)) = (&secret, &step.origin) {
                let what = format!("its header {name}, a secret, goes to {origin} too, as in the plan");
                self.warn(element, &what);
            }
            let value = match secret {
                Some(secret) => secret,
                None => {
                    let secrets = &mut self.draft.secrets;
                    let of = format!("the header {name}");
                    value.text_with(&mut self.values, |text| {
                        secrets.within(&name, text, &of).unwrap_or_else(|| Text::literal(text))
                    })
                }
            };
            step.header(&name, value);
        }
        if setting(element, scope, "HTTPSampler.use_keepalive").trim() == "false" {
            step.header("Connection", Text::literal("close"));
        }
    }

    /// Arguments and files: parameters of the query, a form, parts, or the body as it is.
    fn arguments(
        &mut self,
        element: &'p Element,
        scope: &Scope<'p>,
        step: &mut Step,
        queries: &mut Vec<Text>,
    ) {
        const OWN: (&str, &str) = ("HTTPsampler.Arguments", "Arguments.arguments");
        let mut list: Vec<&'p Property> = element.inner_list(OWN.0, OWN.1).iter().collect();
        for defaults in scope.defaults.iter().rev() {
            for argument in defaults.inner_list(OWN.0, OWN.1) {
                let name = argument.text("Argument.name");
                if !list.iter().any(|known| known.text("Argument.name") == name) {
                    list.push(argument);
                }
            }
        }
        let mut arguments = Vec::new();
        for argument in list {
            let (name, value) = (argument.text("Argument.name"), argument.text("Argument.value"));
            let (name, value) = (self.values.resolve(name), self.values.resolve(value));
            self.tell_of(step, element, &name);
            self.tell_of(step, element, &value);
            let encode = argument.is("HTTPArgument.always_encode");
            let equals = argument.text("HTTPArgument.use_equals").trim() != "false";
            arguments.push(Argument { name, value, encode, equals });
        }
        let raw = element.is("HTTPSampler.postBodyRaw")
            || !arguments.is_empty() && arguments.iter().all(|argument| argument.name.is_empty());
        let files = self.files(element);
        let sends_body = matches!(step.method.as_str(), "POST" | "PUT" | "PATCH");
        if let ([file], true) = (files.as_slice(), sends_body || raw)
            && file.field.is_empty()
        {
            self.file_as_body(element, file, step);
        } else if raw && !arguments.is_empty() {
            self.raw_body(&arguments, step);
        } else if sends_body && (!files.is_empty() || element.is("HTTPSampler.DO_MULTIPART_POST")) {
            self.multipart(element, arguments, files, step);
        } else if sends_body {
            self.form(arguments, step);
        } else if matches!(step.method.as_str(), "GET" | "DELETE" | "OPTIONS") {
            for argument in arguments.into_iter().filter(|argument| !argument.name.is_empty()) {
                let query = self.query(&argument);
                queries.push(query);
            }
        } else if !arguments.is_empty() {
            self.warn(
                element,
                &format!("left out: its arguments, which JMeter does not send with {} either", step.method),
            );
        }
    }

    fn query(&mut self, argument: &Argument) -> Text {
        let name = argument.name.constant(&self.values).unwrap_or_default();
        if let Some(value) = argument.value.constant(&self.values).filter(|value| !value.is_empty())
            && is_secret_parameter(&name)
        {
            return self.secret_parameter(&name, &value);
        }
        let value = match argument.encode {
            true => argument.value.encoded(&mut self.values),
            false => argument.value.text(&mut self.values),
        };
        let name = argument.name.encoded(&mut self.values);
        let equals = if argument.equals || !argument.value.is_empty() { "=" } else { "" };
        name.and(&Text::literal(equals)).and(&value)
    }

    /// The value of a field, or a variable where it is a secret.
    fn field(&mut self, name: &str, value: &Resolved) -> Text {
        match value.constant(&self.values).filter(|value| !value.is_empty()) {
            Some(value) if is_secret_field(name) || is_secret_parameter(name) => {
                self.draft.secrets.field(name, &value)
            }
            _ => {
                let (secrets, of) = (&mut self.draft.secrets, format!("the field {name}"));
                value.text_with(&mut self.values, |text| secrets.text(name, text, &of))
            }
        }
    }

    fn form(&mut self, arguments: Vec<Argument>, step: &mut Step) {
        let mut fields: Vec<(String, Text)> = Vec::new();
        let mut twice = false;
        for argument in arguments.iter().filter(|argument| !argument.name.is_empty()) {
            let name = argument.name.text(&mut self.values).as_str().to_owned();
            let plain = argument.name.constant(&self.values).unwrap_or_default();
            // What is written encoded already is encoded once.
            let value = match (argument.encode, argument.value.constant(&self.values)) {
                (false, Some(text)) if argument.value.is_literal() && text.contains(['%', '+']) => {
                    let decoded =
                        url::form_urlencoded::parse(format!("v={}", text.replace('&', "%26")).as_bytes())
                            .next()
                            .map(|(_, value)| value.into_owned());
                    Resolved::of(&decoded.unwrap_or(text))
                }
                _ => argument.value.clone(),
            };
            let value = self.field(&plain, &value);
            twice |= fields.iter().any(|(known, _)| *known == name);
            fields.push((name, value));
        }
        if fields.is_empty() {
            return;
        }
        if !twice {
            step.headers.retain(|(name, value)| {
                !name.eq_ignore_ascii_case("content-type")
                    || !value.as_str().trim().eq_ignore_ascii_case(FORM)
            });
            step.body = Body::Form(fields);
            return;
        }
        // A mapping has each name once.
        let mut text = Text::literal("");
        for (i, argument) in arguments.iter().filter(|argument| !argument.name.is_empty()).enumerate() {
            let part = self.query(argument);
            text = if i > 0 { text.and(&Text::literal("&")) } else { text }.and(&part);
        }
        step.body = Body::Text(text);
        if !step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            step.header("Content-Type", Text::literal(FORM));
        }
    }

    fn raw_body(&mut self, arguments: &[Argument], step: &mut Step) {
        let literal = arguments.iter().all(|argument| argument.value.is_literal());
        if literal {
            let text: String =
                arguments.iter().filter_map(|argument| argument.value.constant(&self.values)).collect();
            let at = step.headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            let kind = at.map(|at| step.headers[at].1.clone());
            match kind {
                Some(kind) if !kind.as_str().contains(['$', '{']) => {
                    step.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
                    step.text_body(Some(kind.as_str()), &text, &mut self.draft.secrets);
                }
                _ => step.text_body(None, &text, &mut self.draft.secrets),
            }
            return;
        }
        let mut out = Text::literal("");
        for argument in arguments {
            let hidden = self.secrets_of_json(&argument.value);
            let secrets = &mut self.draft.secrets;
            out = out.and(&argument.value.text_with(&mut self.values, |text| match hidden.is_empty() {
                true => secrets.text("BODY", text, "the body"),
                false => hide(text, &hidden),
            }));
        }
        step.body = Body::Text(out);
    }

    /// Texts of a JSON body that are secrets, as they stand in it, and what stands for them.
    fn secrets_of_json(&mut self, body: &Resolved) -> Vec<(String, Text)> {
        // A number fits within a text and in place of one.
        const STAND_IN: u64 = 770_001_990_000;
        let filled = body.filled(&self.values, |i| (STAND_IN + i as u64).to_string());
        let Ok(json) = serde_json::from_str::<Value>(&filled) else { return Vec::new() };
        let mut found = Vec::new();
        secret_members(&json, None, &mut found);
        let is_own = |text: &String| !text.contains(&(STAND_IN / 100).to_string());
        let found = found.into_iter().filter(|(_, value)| !value.is_empty() && is_own(value));
        found
            .filter_map(|(name, value)| {
                let written = serde_json::to_string(&value).ok()?;
                Some((written, self.draft.secrets.field(&name, &value)))
            })
            .collect()
    }

    fn file_as_body(&mut self, element: &'p Element, file: &File, step: &mut Step) {
        let Some(path) = self.fixed(element, &file.path) else {
            self.warn(element, "left out: its file, whose name is not known before a run");
            step.lacks = true;
            return;
        };
        self.warn(element, &format!("its body is the file {path}: put it beside the scenario"));
        let typed = step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if !file.kind.is_empty() && !typed {
            step.header("Content-Type", Text::literal(&file.kind));
        }
        step.body = Body::File(path);
    }

    fn multipart(
        &mut self,
        element: &'p Element,
        arguments: Vec<Argument>,
        files: Vec<File>,
        step: &mut Step,
    ) {
        let mut parts = Vec::new();
        for argument in arguments {
            let Some(name) = argument.name.constant(&self.values).filter(|name| !name.is_empty()) else {
                continue;
            };
            let content = PartContent::Text(self.field(&name, &argument.value));
            parts.push(Part { name, content, filename: None, kind: None });
        }
        for file in files {
            let Some(path) = self.fixed(element, &file.path) else {
                self.warn(element, "left out: a file, whose name is not known before a run");
                step.lacks = true;
                continue;
            };
            self.warn(element, &format!("it sends the file {path}: put it beside the scenario"));
            let kind = (!file.kind.is_empty()).then_some(file.kind);
            parts.push(Part { name: file.field, content: PartContent::File(path), filename: None, kind });
        }
        if !parts.is_empty() {
            // The boundary is made with the body.
            step.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            step.body = Body::Multipart(parts);
        }
    }

    fn files(&mut self, element: &'p Element) -> Vec<File> {
        let list = element.inner_list("HTTPsampler.Files", "HTTPFileArgs.files").iter();
        let file = |path: &str, field: &str, kind: &str| File {
            path: path.trim().to_owned(),
            field: field.trim().to_owned(),
            kind: kind.trim().to_owned(),
        };
        let mut files: Vec<File> = list
            .map(|f| file(f.text("File.path"), f.text("File.paramname"), f.text("File.mimetype")))
            .collect();
        // As JMeter wrote it before 2.4.
        files.push(file(
            element.text("HTTPSampler.FILE_NAME"),
            element.text("HTTPSampler.FILE_FIELD"),
            element.text("HTTPSampler.mimetype"),
        ));
        files.retain(|file| !file.path.is_empty());
        files
    }

    /// What a sampler says that is one setting of a scenario, or none.
    fn settings(&mut self, element: &'p Element, scope: &Scope<'p>) {
        for (at, name) in
            ["HTTPSampler.response_timeout", "HTTPSampler.connect_timeout"].into_iter().enumerate()
        {
            let raw = setting(element, scope, name).trim();
            let ms = match raw {
                "" => None,
                raw => self.fixed(element, raw).and_then(|text| text.trim().parse::<u64>().ok()),
            };
            self.timeouts[at].extend(ms.filter(|ms| (1..86_400_000).contains(ms)));
        }
        let redirected = ["HTTPSampler.follow_redirects", "HTTPSampler.auto_redirects"];
        self.follows |= redirected.into_iter().any(|name| element.is(name));
        if element.is("HTTPSampler.image_parser")
            || scope.defaults.iter().any(|d| d.is("HTTPSampler.image_parser"))
        {
            self.warn(element, "left out: the images, styles and scripts that the page embeds");
        }
        if !setting(element, scope, "HTTPSampler.proxyHost").trim().is_empty() {
            self.warn(element, "left out: its proxy");
        }
    }
}

/// A literal of a body with its secrets replaced.
fn hide(text: &str, hidden: &[(String, Text)]) -> Text {
    let Some((at, (written, variable))) =
        hidden.iter().filter_map(|one| Some((text.find(&one.0)?, one))).min_by_key(|(at, _)| *at)
    else {
        return Text::literal(text);
    };
    let quoted = Text::literal("\"").and(variable).and(&Text::literal("\""));
    Text::literal(&text[..at]).and(&quoted).and(&hide(&text[at + written.len()..], hidden))
}

/// Members of a JSON value whose names are those of secrets, and their texts.
fn secret_members(json: &Value, within: Option<&str>, found: &mut Vec<(String, String)>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| secret_members(item, within, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            secret_members(value, within.or(Some(name.as_str()).filter(|name| is_secret_field(name))), found);
        }),
        Value::String(text) => found.extend(within.map(|name| (name.to_owned(), text.clone()))),
        _ => {}
    }
}
