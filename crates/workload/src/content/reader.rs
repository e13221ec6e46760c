//! Reads an answer as it comes, and judges it when it is complete.
//!
//! Kept is only what the step looks at: some headers, and the body where something must be found in it.

use super::charset::Charset;
use super::cookies::SetCookie;
use super::decode::{Codings, Undecoded};
use super::encode::Kind;
use super::expect::{BodyCheck, BodyTest, HeaderCheck, HeaderTest, JsonCheck, Spliced, Wanted};
use super::finder::{Extract, Place};
use super::html;
use super::memory::Memory;
use super::pointer::{Found, said};
use super::reason::{Fault, Reason};
use super::redirect::{self, LOCATION};
use super::script::{RenderContext, Script};
use super::shown::{shown, shown_body, shown_header};
use super::step::Step;
use super::values::Values;
use crate::client::SessionControl;
use crate::redact::{Place as NamePlace, REDACTED, Redactor};
use headway_base::rcode::Status;
use headway_base::status::REDIRECTS;
use headway_base::{KnownFailure, Nanos, Outcome};
use jsonpath_rust::query::js_path_process;
use memchr::memmem;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Largest value that a session keeps, bytes.
const MOST_VALUE: usize = 64 << 10;
/// A page of status 400 says within this number of bytes that TLS is expected.
const TOLD_WITHIN: usize = 1 << 10;
/// What such pages say: nginx, Go's net/http (Caddy, Traefik), Apache httpd, Tomcat.
const EXPECTS_TLS: [&[u8]; 4] = [
    b"plain HTTP request was sent to HTTPS port",
    b"Client sent an HTTP request to an HTTPS server",
    b"speaking plain HTTP to an SSL-enabled server port",
    b"combination of host and port requires TLS",
];
/// What pages of status 400 say of the client's certificate: nginx.
const ON_CERTIFICATES: [(&[u8], KnownFailure); 2] = [
    (b"No required SSL certificate was sent", KnownFailure::ClientCertificateMissing),
    (b"The SSL certificate error", KnownFailure::ClientCertificateRefused),
];
/// Stands for Set-Cookie among the headers that were kept.
const SET_COOKIE: u16 = u16::MAX;

/// A time to three digits, as people read it.
fn rounded(time: Nanos) -> Nanos {
    let digits = time.0.unsigned_abs().checked_ilog10().unwrap_or(0);
    let unit = 10_i64.pow(digits.saturating_sub(2));
    Nanos((time.0 + unit / 2) / unit * unit)
}

/// Reads one answer.
#[derive(Clone, Debug)]
pub struct Reader {
    step: u16,
    status: u16,
    watches: bool,
    sees_cookies: bool,
    keeps_body: bool,
    counts_body: bool,
    /// Whether the beginning of the body says how the request ended.
    tells_errors: bool,
    too_large: bool,
    max_body: u64,
    body_bytes: u64,
    /// Which header each is, by number in the step's list, and where its value is in `text`.
    heads: Vec<(u16, Range<usize>)>,
    text: Vec<u8>,
    /// How the body is encoded, where it matters.
    codings: Codings,
    charset: Charset,
    body: Vec<u8>,
}

/// What an answer amounts to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// How the request ended.
    pub outcome: Outcome,
    /// How its session goes on.
    pub then: SessionControl,
    /// What was expected and what came; none where all is well.
    pub reason: Option<Reason>,
    /// How long the body was, encoded and decoded; none where it was not decoded.
    pub decoded: Option<Lengths>,
}

/// Bytes of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lengths {
    /// As it came.
    pub encoded: u64,
    /// As checks see it.
    pub decoded: u64,
}

impl Reading {
    fn good(decoded: Option<Lengths>) -> Reading {
        Reading { outcome: Outcome::Ok, then: SessionControl::Continue, reason: None, decoded }
    }
}

impl Reader {
    #[inline]
    pub(super) fn new(script: &Script, number: u16, max_body: u64) -> Reader {
        let step = &script.steps[usize::from(number)];
        Reader {
            step: number,
            status: 0,
            watches: !step.watched.is_empty(),
            sees_cookies: script.keeps_cookies || step.sees_cookies,
            keeps_body: step.keeps_body,
            counts_body: step.counts_body,
            tells_errors: step.expect.errors.is_some(),
            too_large: false,
            max_body,
            body_bytes: 0,
            heads: Vec::new(),
            text: Vec::new(),
            codings: Codings::default(),
            charset: Charset::default(),
            body: Vec::new(),
        }
    }

    /// The head of the answer: status, names and values of the headers. Of several (an interim one, then the final one) the
    /// last counts.
    #[inline]
    pub fn head<'h>(
        &mut self,
        script: &Script,
        status: u16,
        headers: impl Iterator<Item = (&'h str, &'h [u8])>,
    ) {
        self.status = status;
        self.heads.clear();
        self.text.clear();
        self.codings.clear();
        if !self.wants_headers() {
            return;
        }
        let step = &script.steps[usize::from(self.step)];
        let watched = &step.watched;
        for (name, value) in headers {
            if self.sees_cookies && name.eq_ignore_ascii_case("set-cookie") {
                self.keep(SET_COOKIE, value);
            }
            if let Some(at) = watched.iter().position(|known| known.eq_ignore_ascii_case(name)) {
                self.keep(at as u16, value);
            }
            if self.wants_body() && name.eq_ignore_ascii_case("content-encoding") {
                self.codings.add(value);
            }
            if self.keeps_body && name.eq_ignore_ascii_case("content-type") {
                self.charset = Charset::of(value);
            }
        }
        // How long an encoded body is shows only when it is decoded.
        self.keeps_body = step.keeps_body || step.counts_body && self.codings.are_there();
    }

    fn keep(&mut self, which: u16, value: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(value);
        self.heads.push((which, start..self.text.len()));
    }

    /// A piece of the body.
    #[inline]
    pub fn chunk(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if !self.keeps_body {
            if self.status == 400 || self.tells_errors {
                let room = TOLD_WITHIN.saturating_sub(self.body.len());
                self.body.extend_from_slice(&data[..data.len().min(room)]);
            }
            return;
        }
        if self.body_bytes > self.max_body {
            self.too_large = true;
            self.body = Vec::new();
        } else {
            self.body.extend_from_slice(data);
        }
    }

    /// Whether the answer says that the server expects TLS here.
    pub fn says_tls_is_expected(&self) -> bool {
        let start = &self.body[..self.body.len().min(TOLD_WITHIN)];
        self.status == 400 && EXPECTS_TLS.iter().any(|words| memmem::find(start, words).is_some())
    }

    /// What the answer says of the client's certificate.
    pub fn says_of_certificate(&self) -> Option<KnownFailure> {
        let start = &self.body[..self.body.len().min(TOLD_WITHIN)];
        let told = || ON_CERTIFICATES.iter().find(|(words, _)| memmem::find(start, words).is_some());
        (self.status == 400).then(told)?.map(|&(_, kind)| kind)
    }

    /// Whether it needs the body at all.
    #[inline]
    pub fn wants_body(&self) -> bool {
        self.keeps_body || self.counts_body
    }

    /// Whether it needs the headers and not only the status.
    #[inline]
    pub fn wants_headers(&self) -> bool {
        self.watches || self.sees_cookies || self.wants_body()
    }

    /// Undoes how the body is encoded; an empty one is not.
    fn decode(&mut self) -> Result<Option<Lengths>, Undecoded> {
        if !self.keeps_body || !self.codings.are_there() || self.body.is_empty() {
            return Ok(None);
        }
        let encoded = self.body_bytes;
        self.body = self.codings.decode(std::mem::take(&mut self.body), self.max_body)?;
        self.body_bytes = self.body.len() as u64;
        Ok(Some(Lengths { encoded, decoded: self.body_bytes }))
    }

    fn values(&self, which: u16) -> impl Iterator<Item = &[u8]> {
        self.heads.iter().filter(move |(at, _)| *at == which).map(|(_, range)| &self.text[range.clone()])
    }

    fn header(&self, step: &Step, name: &str) -> impl Iterator<Item = &[u8]> {
        let at = step.watched.iter().position(|known| known.eq_ignore_ascii_case(name));
        self.values(at.map_or(SET_COOKIE - 1, |at| at as u16))
    }
}

impl Script {
    /// Judges a complete answer, and keeps in memory what it gave. `visit` is that of the request, with the time of day now;
    /// `response` how long the answer took, from when the request was due.
    ///
    /// Where the status is not what was expected nothing else is looked at, and what the step would have extracted is unset,
    /// or its default. Otherwise everything that can be extracted is, whatever the checks say, and the reason is
    /// the first that did not hold: body, headers, extracts, time.
    #[inline]
    pub fn finish(
        &self,
        visit: &RenderContext<'_>,
        mut reader: Reader,
        memory: &mut Memory,
        response: Nanos,
    ) -> Reading {
        let step = &self.steps[usize::from(reader.step)];
        if self.keeps_cookies {
            self.keep_cookies(visit, &reader, memory);
        }
        if step.follows && REDIRECTS.contains(&reader.status) {
            let location = reader.header(step, LOCATION).next().map(redirect::written);
            match location.map(|location| self.hop(visit, reader.status, &location, memory)) {
                // Without a place to go to it is an answer as any other.
                None => {}
                Some(Ok(hop)) => {
                    self.missed(reader.step, memory);
                    let then = SessionControl::Redirect(hop.origin);
                    memory.set_hop(hop);
                    return Reading { then, ..Reading::good(None) };
                }
                Some(Err(fault)) => {
                    self.missed(reader.step, memory);
                    return self.bad(Outcome::Check, step, fault);
                }
            }
        }
        let good = step.expect.status.as_ref().map_or(reader.status < 400, |set| set.contains(reader.status));
        if !good {
            self.missed(reader.step, memory);
            let wanted = step.expect.status.as_ref().map_or("below 400".to_owned(), ToString::to_string);
            // The status tells failures apart anyway, and is no value that differs within one.
            let fault = Fault::plain(format!("expected status {wanted}, got {}", Status(reader.status)));
            return self.bad(Outcome::Status, step, fault);
        }
        if let Some(word) = step.expect.errors.as_ref().and_then(|errors| errors.unexpected(&reader.body)) {
            self.missed(reader.step, memory);
            // The word tells failures apart, and is no value that differs within one.
            let fault = Fault::plain(format!("expected a reply without an error, got {word}"));
            return self.bad(Outcome::Check, step, fault);
        }
        if reader.too_large {
            self.missed(reader.step, memory);
            let expected = format!("expected a body of at most {} bytes", reader.max_body);
            let fault = Fault::got(expected, format_args!("more ({} or above)", reader.body_bytes));
            return self.bad(Outcome::TooLarge, step, fault);
        }
        let decoded = match reader.decode() {
            Ok(decoded) => decoded,
            Err(Undecoded::TooLong(coding)) => {
                self.missed(reader.step, memory);
                let expected = format!("expected a body of at most {} bytes", reader.max_body);
                let fault =
                    Fault::got(expected, format_args!("more out of {} of {coding}", reader.body_bytes));
                return self.bad(Outcome::TooLarge, step, fault);
            }
            Err(Undecoded::Fault(fault)) => {
                self.missed(reader.step, memory);
                return self.bad(Outcome::Check, step, fault);
            }
        };
        if reader.keeps_body {
            reader.body = reader.charset.read(std::mem::take(&mut reader.body));
        }
        let late = step.expect.time.is_some_and(|most| response > most);
        if !reader.wants_body() && step.extracts.is_empty() && step.expect.headers.is_empty() && !late {
            return Reading::good(None);
        }
        let mut judge = Judge::new(self, step, visit, &reader);
        judge.checks(memory);
        for extract in &step.extracts {
            judge.extract(extract, memory);
        }
        if let (true, Some(most)) = (late, step.expect.time) {
            let took = rounded(response);
            judge.fail(memory, |_| {
                Fault::got(format!("expected an answer within {most}"), format_args!("it after {took}"))
            });
        }
        match judge.fault {
            None => Reading::good(decoded),
            Some(fault) => Reading { then: judge.then, decoded, ..self.bad(Outcome::Check, step, fault) },
        }
    }

    /// A request of that step has no answer (timeout, reset): what it would have extracted is unset, or its default.
    pub fn missed(&self, step: u16, memory: &mut Memory) {
        for extract in &self.steps[usize::from(step)].extracts {
            self.not_found(extract, memory);
        }
    }

    fn not_found(&self, extract: &Extract, memory: &mut Memory) {
        match &extract.default {
            Some(text) => memory.set(extract.name, self.names.extracted_count(), text, Kind::Text),
            None => memory.unset(extract.name),
        }
    }

    fn keep_cookies(&self, visit: &RenderContext<'_>, reader: &Reader, memory: &mut Memory) {
        let mut path = None;
        let site = self.site_of(visit, memory);
        for header in reader.values(SET_COOKIE) {
            let Some(cookie) = SetCookie::parse(header) else { continue };
            if cookie.needs_path() && path.is_none() {
                path = Some(self.path_of(visit, memory));
            }
            let request_path = path.as_deref().unwrap_or("/");
            memory.jar_mut().set(&cookie, site, request_path, visit.unix_s());
        }
    }

    #[cold]
    fn bad(&self, outcome: Outcome, step: &Step, fault: Fault) -> Reading {
        let reason = fault.of_step(&step.name, |text| self.redactor.hide(text).into_owned());
        Reading { outcome, then: SessionControl::Continue, reason: Some(reason), decoded: None }
    }
}

/// One answer on its way to a reading.
struct Judge<'a> {
    script: &'a Script,
    step: &'a Step,
    visit: &'a RenderContext<'a>,
    reader: &'a Reader,
    /// What the step's pointers point to, or why the body is not JSON; looked up once.
    found: Option<Result<Found<'a>, Missing>>,
    /// The body as a document, for JSONPath; parsed once.
    document: Option<Result<Value, Missing>>,
    /// The first thing that did not hold.
    fault: Option<Fault>,
    /// How the session goes on after it.
    then: SessionControl,
}

/// Why there is nothing to look at.
#[derive(Clone)]
enum Missing {
    /// The body is not JSON, for this reason.
    NotJson(String),
    /// There is a value; its length in bytes.
    TooLong(usize),
    /// Something else, in words.
    Other(String),
}

impl Missing {
    fn fault(&self, body: &[u8], redactor: &Redactor) -> Fault {
        match self {
            Missing::NotJson(_) if body.is_empty() => {
                Fault::plain("expected a body of JSON, got an empty body".to_owned())
                    .of_kind(KnownFailure::EmptyBody)
            }
            Missing::NotJson(why) => Fault::got(
                "expected a body of JSON".to_owned(),
                format_args!("{} ({why})", shown_body(body, redactor)),
            ),
            Missing::TooLong(got) => {
                Fault::got(format!("expected a value of at most {MOST_VALUE} bytes"), got)
            }
            Missing::Other(why) => Fault::plain(why.clone()),
        }
    }
}

impl<'a> Judge<'a> {
    fn new(
        script: &'a Script,
        step: &'a Step,
        visit: &'a RenderContext<'a>,
        reader: &'a Reader,
    ) -> Judge<'a> {
        let then = SessionControl::Continue;
        Judge { script, step, visit, reader, found: None, document: None, fault: None, then }
    }

    /// Keeps the first reason, which is put into words with what hides this session's secrets.
    #[inline]
    fn fail(&mut self, memory: &Memory, fault: impl FnOnce(&Redactor) -> Fault) {
        if self.fault.is_none() {
            self.fault = Some(fault(&self.script.redactor(self.visit, memory)));
        }
    }

    fn checks(&mut self, memory: &Memory) {
        for check in &self.step.expect.body {
            self.body(check, memory);
        }
        for check in &self.step.expect.headers {
            self.header(check, memory);
        }
    }

    fn body(&mut self, check: &'a BodyCheck, memory: &Memory) {
        let (body, bytes) = (self.reader.body.as_slice(), self.reader.body_bytes);
        match &check.0 {
            BodyTest::Contains(wanted, text) => {
                let (written, here, holds) = match text {
                    Wanted::Fixed(text) => (text.needle(), None, text.find(body).is_some() == *wanted),
                    Wanted::Each(text) => {
                        let Some(here) = self.here(text, memory) else { return };
                        let holds = memmem::find(body, here.as_bytes()).is_some() == *wanted;
                        (text.written.as_bytes(), Some(here), holds)
                    }
                };
                if !holds {
                    let verb = if *wanted { "contains" } else { "does not contain" };
                    self.fail(memory, |redactor| {
                        let here = here.map(|here| shown(here.as_bytes(), redactor));
                        let (text, got) = (shown(written, redactor), shown_body(body, redactor));
                        Fault::got(format!("expected a body that {verb} {text}"), got).here(here)
                    });
                }
            }
            BodyTest::Matches(regex) => {
                if !regex.is_match(body) {
                    self.fail(memory, |redactor| {
                        let got = shown_body(body, redactor);
                        Fault::got(format!("expected a body that matches {regex}"), got)
                    });
                }
            }
            BodyTest::AtLeast(least) => {
                if bytes < *least {
                    self.fail(memory, |_| {
                        Fault::got(format!("expected a body of at least {least} bytes"), bytes)
                    });
                }
            }
            BodyTest::AtMost(most) => {
                if bytes > *most {
                    self.fail(memory, |_| {
                        Fault::got(format!("expected a body of at most {most} bytes"), bytes)
                    });
                }
            }
            BodyTest::Json(json) => self.json(json, memory),
        }
    }

    fn json(&mut self, check: &'a JsonCheck, memory: &Memory) {
        let here = match &check.wanted {
            Wanted::Fixed(_) => None,
            Wanted::Each(text) => match self.here(text, memory) {
                Some(here) => Some(JsonCheck::of_session(&here)),
                None => return,
            },
        };
        let (wanted, written) = match &check.wanted {
            Wanted::Fixed(value) => (Some(value), &value.text),
            Wanted::Each(text) => (here.as_ref(), &text.written),
        };
        match self.pointed(check.slot) {
            Ok(Some(raw)) if wanted.is_some_and(|wanted| check.holds(wanted, raw)) => {}
            Ok(raw) => self.fail(memory, |redactor| {
                let pointer = check.pointer.to_string();
                let shown = |raw: &str| match redactor.hides(NamePlace::Field, &pointer) {
                    true => REDACTED.to_owned(),
                    false => cut(raw, redactor),
                };
                let got = raw.map_or("nothing".to_owned(), shown);
                let here = here.as_ref().map(|here| shown(&here.text));
                Fault::got(format!("expected {} at {pointer} of the body", shown(written)), got).here(here)
            }),
            Err(why) => {
                let body = self.reader.body.as_slice();
                self.fail(memory, |redactor| why.fault(body, redactor));
            }
        }
    }

    /// What a template gives in this session; none is a fault.
    fn here(&mut self, text: &Spliced, memory: &Memory) -> Option<String> {
        let (script, visit) = (self.script, self.visit);
        let mut here = String::new();
        let why = Values::new(script, visit, memory).pieces(&text.pieces, &mut here).err();
        let Some(why) = why else { return Some(here) };
        if self.fault.is_none() {
            let redactor = script.redactor(visit, memory);
            let (then, fault) = script.fault(why, "a check".to_owned(), "", visit, &redactor);
            (self.then, self.fault) = (then, Some(fault));
        }
        None
    }

    fn header(&mut self, check: &HeaderCheck, memory: &Memory) {
        let here = match &check.test {
            HeaderTest::Equals(Wanted::Each(text)) => match self.here(text, memory) {
                Some(here) => Some(here.trim().to_owned()),
                None => return,
            },
            HeaderTest::Equals(Wanted::Fixed(_)) | HeaderTest::Matches(_) => None,
        };
        let holds = |value: &[u8]| match &check.test {
            HeaderTest::Equals(Wanted::Fixed(wanted)) => value.trim_ascii() == wanted.as_bytes(),
            HeaderTest::Equals(Wanted::Each(_)) => {
                here.as_ref().is_some_and(|here| value.trim_ascii() == here.as_bytes())
            }
            HeaderTest::Matches(regex) => regex.is_match(value),
        };
        if self.reader.header(self.step, &check.name).any(holds) {
            return;
        }
        let name = &check.name;
        let got = self.reader.header(self.step, name).next();
        self.fail(memory, |redactor| {
            let got = got.map_or("none".to_owned(), |value| shown_header(name, value, redactor));
            let wanted = match &check.test {
                HeaderTest::Equals(wanted) => {
                    let written = match wanted {
                        Wanted::Fixed(text) => text,
                        Wanted::Each(text) => &text.written,
                    };
                    format!("to be {}", shown_header(name, written.as_bytes(), redactor))
                }
                HeaderTest::Matches(regex) => format!("to match {regex}"),
            };
            let here = here.as_ref().map(|here| shown_header(name, here.as_bytes(), redactor));
            Fault::got(format!("expected header {name} {wanted}"), got).here(here)
        });
    }

    fn extract(&mut self, extract: &'a Extract, memory: &mut Memory) {
        let names = self.script.names.extracted_count();
        let why = match self.find(extract) {
            Ok(Some((text, _))) if text.len() > MOST_VALUE => Some(Missing::TooLong(text.len())),
            Ok(Some((text, kind))) => return memory.set(extract.name, names, &text, kind),
            Ok(None) => None,
            Err(why) => Some(why),
        };
        self.script.not_found(extract, memory);
        if extract.default.is_none() {
            let name = self.script.names.extracted_name(extract.name);
            let body = self.reader.body.as_slice();
            self.fail(memory, |redactor| {
                let fault = match &why {
                    Some(why) => why.fault(body, redactor),
                    None => nowhere(extract, body, redactor).of_kind(KnownFailure::MissingVariable),
                };
                Fault { same: format!("{{{{{name}}}}}: {}", fault.same), ..fault }
            });
        }
    }

    /// The value that an extract is about: none if it is not there, an error if there is no place for it to be in.
    fn find(&mut self, extract: &'a Extract) -> Result<Option<(Cow<'a, str>, Kind)>, Missing> {
        let text = |bytes: &'a [u8]| Some((String::from_utf8_lossy(bytes), Kind::Text));
        let reader: &'a Reader = self.reader;
        Ok(match &extract.finder.0 {
            Place::Json(_) => self.pointed(extract.slot)?.map(|raw| {
                let kind = if raw.starts_with('"') { Kind::Text } else { Kind::Json };
                (said(raw), kind)
            }),
            Place::JsonPath(_, query) => {
                let document = self.document()?;
                let found =
                    js_path_process(query, document).map_err(|error| Missing::Other(error.to_string()))?;
                found.into_iter().next().map(|first| match first.val() {
                    Value::String(text) => (Cow::Owned(text.clone()), Kind::Text),
                    other => (Cow::Owned(other.to_string()), Kind::Json),
                })
            }
            Place::Header(name) => reader.header(self.step, name).next().and_then(text),
            Place::Cookie(name) => {
                let mut cookies = reader.values(SET_COOKIE).filter_map(SetCookie::parse);
                cookies
                    .find(|cookie| cookie.name == name)
                    .map(|cookie| (Cow::Borrowed(cookie.value), Kind::Text))
            }
            Place::Regex(regex, group) => {
                let groups = regex.captures(&reader.body);
                groups.and_then(|groups| groups.get(*group)).and_then(|group| text(group.as_bytes()))
            }
            Place::HtmlRegex(regex, group) => {
                let groups = regex.captures(&reader.body);
                let found = groups.and_then(|groups| groups.get(*group));
                found.map(|group| {
                    let text = String::from_utf8_lossy(group.as_bytes());
                    (Cow::Owned(html::decoded(&text).into_owned()), Kind::Text)
                })
            }
            Place::Attribute(selector) => {
                let found = selector.find(&String::from_utf8_lossy(&reader.body));
                found.map(|value| (Cow::Owned(value), Kind::Text))
            }
            Place::Field(name) => {
                let found = html::field(&String::from_utf8_lossy(&reader.body), name);
                found.map(|value| (Cow::Owned(value), Kind::Text))
            }
        })
    }

    /// The JSON that the pointer with that slot points to.
    fn pointed(&mut self, slot: usize) -> Result<Option<&'a str>, Missing> {
        let (step, reader): (&'a Step, &'a Reader) = (self.step, self.reader);
        let found = self.found.get_or_insert_with(|| {
            step.tree.find(&reader.body).map_err(|error| Missing::NotJson(error.to_string()))
        });
        found.as_ref().map(|found| found[slot]).map_err(Missing::clone)
    }

    fn document(&mut self) -> Result<&Value, Missing> {
        let body = &self.reader.body;
        let parse = || serde_json::from_slice(body).map_err(|error| Missing::NotJson(error.to_string()));
        self.document.get_or_insert_with(parse).as_ref().map_err(Missing::clone)
    }
}

/// What was expected where nothing was found, and what came.
fn nowhere(extract: &Extract, body: &[u8], redactor: &Redactor) -> Fault {
    let in_body = |expected: String| Fault::got(expected, shown_body(body, redactor));
    match &extract.finder.0 {
        Place::Json(pointer) => in_body(format!("expected a value at {pointer} of the body")),
        Place::JsonPath(query, _) => in_body(format!("expected a value at {query} of the body")),
        Place::Header(name) => Fault::plain(format!("expected a header {name}, got none")),
        Place::Cookie(name) => Fault::plain(format!("expected the answer to set cookie {name}, it does not")),
        Place::Regex(regex, _) | Place::HtmlRegex(regex, _) => {
            in_body(format!("expected a body that matches {regex}"))
        }
        Place::Attribute(selector) => in_body(format!("expected a page with {}", selector.written)),
        Place::Field(name) => in_body(format!("expected a page with the field {name}")),
    }
}

/// JSON as it is, unless it is long.
fn cut(raw: &str, redactor: &Redactor) -> String {
    let tame = raw.chars().count() <= 80 && !raw.contains(char::is_control);
    if tame { redactor.hide_foreign(raw).into_owned() } else { shown(raw.as_bytes(), redactor) }
}

#[cfg(test)]
mod tests;
