//! One step: its request as templates, with every mistake at the place where it was made.

use super::journeys::Known;
use super::origins::Origins;
use super::{bodies, dots, expect};
use crate::content::{Body, ErrorReplies, Names, Step, StepError, StreamKind, Template, TemplateError};
use crate::redact::Cleared;
use crate::redact::Redactor;
use crate::scenario::LONGEST_NAME;
use crate::scenario::leaves::Text;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::tree::Scalar;
use crate::scenario::written;
use crate::target::{Scheme, Target};
use headway_base::Answer;

/// What a request may have besides its method.
pub(super) const KEYS: &[&str] = &[
    "name",
    "repeat",
    "think",
    "query",
    "headers",
    "text",
    "json",
    "form",
    "file",
    "multipart",
    "stream",
    "extract",
    "expect",
];

/// What a step that sends plain bytes may have besides.
pub(super) const SEND_KEYS: &[&str] = &["name", "repeat", "think", "extract", "expect"];

/// Builds steps of one file.
pub(super) struct Builder<'f> {
    /// Headers of every request.
    headers: &'f [(Scalar, Text)],
    names: Names,
    /// Extracted names by number.
    extracted: Vec<String>,
    /// Of the target, if there is one.
    scheme: Option<Scheme>,
    /// Whether answers are values of Redis' protocol.
    is_resp: bool,
    /// Where steps go.
    pub origins: Origins,
    redactor: &'f Redactor,
}

impl<'f> Builder<'f> {
    /// For the steps of `file`, where templates may name `names`, of which steps extract `extracted`, by number.
    pub fn new(
        file: &'f written::File,
        names: &Names,
        extracted: Vec<String>,
        target: Option<&Target>,
        redactor: &'f Redactor,
    ) -> Builder<'f> {
        let headers = file.headers.as_ref().map_or(&[][..], |headers| &headers.0);
        let (scheme, origins) = (target.map(|target| target.scheme), Origins::beside(target));
        let is_resp =
            scheme == Some(Scheme::Tcp) && file.answer.as_ref().is_some_and(|of| of.value == Answer::Resp);
        Builder { headers, names: names.clone(), extracted, scheme, is_resp, origins, redactor }
    }

    /// The step that a request stands for. `known` is what steps before it may have extracted.
    pub fn step(
        &mut self,
        kind: &str,
        step: &written::Step,
        known: &Known,
        reader: &mut Reader<'_>,
    ) -> Result<Step, Vec<Problem>> {
        self.fits(kind, step).map_err(|problem| vec![problem])?;
        if let Some(expect) =
            step.expect.as_ref().filter(|e| e.errors.is_some() && !(kind == "send" && self.is_resp))
        {
            let problem = Problem::new(
                expect.keys.at("errors"),
                "only a response of Redis' protocol has error replies",
            );
            return Err(vec![problem.help("write answer: resp at the top of the file, or leave errors out")]);
        }
        let mut problems = Vec::new();
        let mut built = match kind {
            "send" => self.bytes(step, reader).map_err(|problem| vec![problem])?,
            _ => self.request(kind, step, &mut problems, reader)?,
        };
        problems.extend(expect::extracts(step, &mut built, &self.extracted));
        match expect::expect(step, &self.names) {
            Ok(Some(expect)) => {
                if let Err(e) = built.expect(expect) {
                    problems.push(mistake(step.keys.at("expect"), &e.to_string()));
                }
            }
            Ok(None) => {}
            Err(more) => problems.extend(more),
        }
        problems.extend(self.too_early(kind, step, &built, known));
        if problems.is_empty() { Ok(built) } else { Err(problems) }
    }

    /// Whether the target takes such a step.
    fn fits(&self, kind: &str, step: &written::Step) -> Result<(), Problem> {
        let Some(scheme) = self.scheme.filter(|scheme| scheme.is_http() == (kind == "send")) else {
            return Ok(());
        };
        let title = format!("a target of {} takes no such step", scheme.name());
        let help = match kind {
            "send" => "write a request, as in get: /items, or a target of tcp://, udp:// or dns://",
            _ => "write the bytes that are to go out, as in send: \"PING\\r\\n\"",
        };
        Err(Problem::new(step.keys.at(kind), title).help(help))
    }

    /// A step that sends plain bytes.
    fn bytes(&self, step: &written::Step, reader: &mut Reader<'_>) -> Result<Step, Problem> {
        let expect = step.expect.as_ref();
        let dns = self.scheme == Some(Scheme::Dns);
        let of_http = [
            ("status", !dns && expect.is_some_and(|e| e.status.is_some())),
            ("headers", expect.is_some_and(|e| e.headers.is_some())),
        ];
        if let Some((what, _)) = of_http.into_iter().find(|(_, there)| *there) {
            let problem =
                Problem::new(step.keys.at("expect"), format!("a response of plain bytes has no {what}"));
            return Err(problem.help("write what its body is to be, as in body: { contains: PONG }"));
        }
        let body = match &step.send {
            Some(written::Sent::Text(text)) => Body::plain(&parse(&text.value, &self.names)?),
            Some(written::Sent::File(sent)) => match &sent.file {
                Some(file) => Body::raw(&bodies::read(file, reader)?),
                None => Body::default(),
            },
            None => Body::default(),
        };
        if dns && body.is_empty() {
            let problem = Problem::new(step.keys.at("send"), "nothing is asked");
            return Err(problem.help(
                "write a name and a type, as in send: example.com A (with flags: dns://127.0.0.1/example.com?type=A)",
            ));
        }
        if self.scheme == Some(Scheme::Tcp) && body.is_empty() {
            let problem = Problem::new(step.keys.at("send"), "nothing is sent");
            return Err(problem.help(
                "write the bytes, as in send: \"PING\\r\\n\" (with flags: -b $'PING\\r\\n' or -b @FILE)",
            ));
        }
        let built = Step::bytes(self.label(step, "send".into())?, body);
        Ok(match () {
            () if dns => built.expecting_noerror(),
            () if self.is_resp => built.expecting_errors(ErrorReplies::default()),
            () => built,
        })
    }

    /// A request of HTTP.
    fn request(
        &mut self,
        kind: &str,
        step: &written::Step,
        problems: &mut Vec<Problem>,
        reader: &mut Reader<'_>,
    ) -> Result<Step, Vec<Problem>> {
        let one = |problem| vec![problem];
        let (method, method_at, path) = method_and_path(kind, step).map_err(one)?;
        let mut template = parse(&path.value, &self.names).map_err(one)?;
        if let Some(bare) = dots::without(path.value.template()) {
            template = Template::parse(&bare, &self.names)
                .map_err(|e| one(template_mistake(&path.value, &e, &self.names)))?;
        }
        let whole = self.origins.of_step(path, &template).map_err(one)?;
        if let Some(url) = names_a_host(&path.value.text) {
            let problem = Problem::new(path.span, "a step is a path of the target, or a whole URL");
            let help = format!(
                "write https:{url} or http:{url} for another origin; of the target, its whole URL with {url} as the path"
            );
            return Err(vec![problem.help(help)]);
        }
        let origin = whole.map(|(origin, rest)| {
            template = rest;
            origin
        });
        let bare = path.value.text.split(['?', '#']).next().unwrap_or_default();
        let label = self.label(step, self.redactor.clear_url(&format!("{method} {bare}"))).map_err(one)?;
        let mut built = Step::new(label, &method, &template).map_err(|e| {
            let at =
                if matches!(e, StepError::Method(_) | StepError::Connect) { method_at } else { path.span };
            vec![mistake(at, &e.to_string())]
        })?;
        if let Some(origin) = origin {
            built = built.at(origin);
        }
        for (key, value) in step.query.iter().flat_map(|query| &query.0) {
            match (parse(key, &self.names), parse(&value.value, &self.names)) {
                (Ok(name), Ok(value)) => {
                    problems
                        .extend(built.query(&name, &value).err().map(|e| mistake(key.span, &e.to_string())));
                }
                (name, value) => problems.extend([name.err(), value.err()].into_iter().flatten()),
            }
        }
        if let Some(stream) = &step.stream {
            built.stream(match stream {
                written::StreamWord::Chunks => StreamKind::Chunks,
            });
        }
        self.headers(step, &mut built, problems);
        match bodies::body(step, &self.names, reader) {
            Ok(Some(body)) => built.body(body),
            Ok(None) => {}
            Err(more) => problems.extend(more),
        }
        Ok(built)
    }

    /// The step's own headers, then those of every request that it does not give itself.
    fn headers(&self, step: &written::Step, built: &mut Step, problems: &mut Vec<Problem>) {
        let own = step.headers.as_ref().map_or(&[][..], |headers| &headers.0);
        for (i, (name, _)) in own.iter().enumerate() {
            if let Some((first, _)) =
                own[..i].iter().find(|(first, _)| first.text.eq_ignore_ascii_case(&name.text))
            {
                let problem = Problem::new(name.span, format!("the header {} a second time", name.text));
                problems.push(problem.other(first.span, "first here"));
            }
        }
        let given = |name: &Scalar| own.iter().any(|(own, _)| own.text.eq_ignore_ascii_case(&name.text));
        let shared = self.headers.iter().filter(|(name, _)| !given(name));
        let all = own.iter().map(|header| (header, false)).chain(shared.map(|header| (header, true)));
        for ((name, value), is_shared) in all {
            match parse(&value.value, &self.names) {
                Ok(template) => {
                    let added = match is_shared {
                        true => built.shared_header(&name.text, &template, self.redactor),
                        false => built.header(&name.text, &template),
                    };
                    if let Err(e) = added {
                        let at = if matches!(e, StepError::HeaderValue(_)) { value.span } else { name.span };
                        problems.push(mistake(at, &e.to_string()));
                    }
                }
                Err(problem) => problems.push(problem),
            }
        }
    }

    /// The name in the reports: as written, or what it does.
    fn label(&self, step: &written::Step, otherwise: Cleared) -> Result<Cleared, Problem> {
        let Some(name) = &step.name else { return Ok(otherwise) };
        let text = name.value.text.trim();
        if text.is_empty() || text.chars().count() > LONGEST_NAME || text.chars().any(char::is_control) {
            let problem = Problem::new(name.span, "this is no name of a step");
            return Err(problem.help(format!("write up to {LONGEST_NAME} characters on one line")));
        }
        Ok(self.redactor.clear(text))
    }

    /// Names that no step before this one can have extracted in the same session.
    fn too_early(&self, kind: &str, step: &written::Step, built: &Step, known: &Known) -> Vec<Problem> {
        let needs = built.needs().into_iter().filter_map(|number| self.extracted.get(usize::from(number)));
        needs
            .filter(|name| !known.has(name))
            .map(|name| {
                let at = place_of(name, step).unwrap_or_else(|| step.keys.at(kind));
                let title = format!("no step before this one extracts '{name}'");
                Problem::new(at, title).help("the step that does comes later, or stands in another way or journey: there is no value here yet")
            })
            .collect()
    }
}

/// A path that is a URL without its scheme, as in `//api.example/x`, which no step has as its path: to a server, one of two slashes.
pub fn names_a_host(path: &str) -> Option<&str> {
    let (host, _) = path.strip_prefix("//")?.split_once('/')?;
    (host == "localhost" || host.contains(['.', ':'])).then_some(path)
}

/// Method, where it stands, and path.
fn method_and_path<'s>(kind: &str, step: &'s written::Step) -> Result<(String, Span, &'s Text), Problem> {
    let missing = || Problem::new(step.keys.span, "this request has no path");
    if kind == "request" {
        let verb = step.request.as_ref().ok_or_else(missing)?;
        let method = verb.method.as_ref().ok_or_else(missing)?;
        let text = &method.value.text;
        if text.chars().any(|c| c.is_ascii_lowercase()) {
            let problem = Problem::new(method.span, format!("'{text}' is not in capitals, and methods are"));
            return Err(problem.help(format!("write {}", text.to_ascii_uppercase())));
        }
        return Ok((text.clone(), method.span, verb.path.as_ref().ok_or_else(missing)?));
    }
    let path = match kind {
        "get" => &step.get,
        "post" => &step.post,
        "put" => &step.put,
        "patch" => &step.patch,
        "delete" => &step.delete,
        "head" => &step.head,
        _ => &step.options,
    };
    Ok((kind.to_ascii_uppercase(), step.keys.at(kind), path.as_ref().ok_or_else(missing)?))
}

/// A template, or its mistake at its place.
pub(super) fn parse(scalar: &Scalar, names: &Names) -> Result<Template, Problem> {
    Template::parse(scalar.template(), names).map_err(|e| template_mistake(scalar, &e, names))
}

/// Names that are listed where one is not known, at most.
const MOST_LISTED: usize = 20;

pub(super) fn template_mistake(scalar: &Scalar, error: &TemplateError, names: &Names) -> Problem {
    let problem = mistake(scalar.part(error.range.clone()), &error.message);
    match &error.suggestion {
        Some(suggestion) => problem.guess(Some(suggestion)),
        None if problem.help.is_some() => problem,
        None => {
            let mut all = names.all();
            // Those of the file come last, and say most.
            let dots = if all.len() > MOST_LISTED { "..., " } else { "" };
            let listed = all.split_off(all.len().saturating_sub(MOST_LISTED));
            problem.help(format!("known are {dots}{}", listed.join(", ")))
        }
    }
}

/// A problem from a message that says what is wrong, and after a colon what would do.
pub(super) fn mistake(span: Span, message: &str) -> Problem {
    match message.split_once(": ") {
        Some((title, help))
            if ["write", "leave", "choose", "after ~"].iter().any(|w| help.starts_with(w)) =>
        {
            Problem::new(span, title).help(help)
        }
        _ => Problem::new(span, message),
    }
}

/// Where a step names a value in a template.
fn place_of(name: &str, step: &written::Step) -> Option<Span> {
    let path = [&step.get, &step.post, &step.put, &step.patch, &step.delete, &step.head, &step.options];
    let verb = step.request.iter().flat_map(|verb| &verb.path);
    let named = [&step.query, &step.headers, &step.form];
    let values = named.into_iter().flatten().flat_map(|named| &named.0).map(|(_, value)| value);
    let parts = step.multipart.iter().flatten();
    let parts = parts.flat_map(|part| [&part.name, &part.filename, &part.r#type, &part.text]).flatten();
    let expect = step.expect.iter().flat_map(|expect| &expect.body);
    let expect = expect.flat_map(|body| [&body.contains, &body.not_contains]).flatten();
    let sent = step.send.iter().filter_map(|sent| match sent {
        written::Sent::Text(text) => Some(text),
        written::Sent::File(_) => None,
    });
    let texts = path
        .into_iter()
        .flatten()
        .chain(verb)
        .chain(sent)
        .chain(values)
        .chain(&step.text)
        .chain(parts)
        .chain(expect);
    texts.map(|text| &text.value).find_map(|scalar| {
        let mut at = 0;
        while let Some(open) = scalar.text[at..].find("{{").map(|i| at + i) {
            let end = scalar.text[open..].find("}}").map(|i| open + i)?;
            if scalar.text[open + 2..end].trim() == name {
                return Some(scalar.part(open..end + 2));
            }
            at = end;
        }
        None
    })
}
