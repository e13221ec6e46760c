//! Puts a request together for one visit.
//!
//! A [`Draft`] is filled again and again, so that a worker allocates nothing per request once its drafts have grown.

use super::cookies::{Jar, Site};
use super::data::{AtEnd, Data};
use super::encode::Unfit;
use super::memory::Memory;
use super::reason::{Fault, Reason};
use super::redirect::{self, Hop};
use super::script::{RenderContext, Script};
use super::shown::{counted, shown, shown_header};
use super::step::Step;
use super::values::{Values, Why};
use crate::client::{RequestKey, SessionControl};
use crate::redact::Redactor;
use crate::request::Request;
use headway_base::{KnownFailure, Outcome};
use std::fmt::Write as _;
use std::ops::Range;

/// The header that names the trace (W3C Trace Context).
pub(super) const TRACEPARENT: &str = "traceparent";

/// A request that is put together again and again.
#[derive(Clone, Default)]
pub struct Draft<'s> {
    method: &'s str,
    /// The path, then the values of the headers.
    text: String,
    path_end: usize,
    headers: Vec<(&'s str, Range<usize>)>,
    body: Vec<u8>,
}

impl<'s> Draft<'s> {
    /// An empty one.
    pub fn new() -> Draft<'s> {
        Draft::default()
    }

    /// The method.
    pub fn method(&self) -> &'s str {
        self.method
    }

    /// Path and query, percent-encoded.
    pub fn path(&self) -> &str {
        &self.text[..self.path_end]
    }

    /// Names and values of the headers, in order; those that belong to the connection are not among them.
    pub fn headers(&self) -> impl Iterator<Item = (&'s str, &str)> {
        self.headers.iter().map(|(name, value)| (*name, &self.text[value.clone()]))
    }

    /// The body; empty is none.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// A request of its own.
    pub fn request(&self) -> Request {
        Request {
            method: self.method.to_owned(),
            path: self.path().to_owned(),
            headers: self.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: self.body.clone(),
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.headers.clear();
        self.body.clear();
    }

    fn header(&mut self, name: &'s str, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.headers.push((name, start..self.text.len()));
    }
}

/// What is sent may be a secret.
impl std::fmt::Debug for Draft<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.request().fmt(f)
    }
}

/// Why a request could not be put together: nothing is to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// How the request ends.
    pub outcome: Outcome,
    /// How its session goes on.
    pub then: SessionControl,
    /// Why.
    pub reason: Reason,
}

/// The part of a request that a value was to go to.
#[derive(Clone, Copy)]
enum Part<'s> {
    Path,
    Header(&'s str),
    Body,
}

impl Script {
    /// The request of a visit to a session with that memory.
    ///
    /// # Errors
    /// A [`Refusal`] where a value is missing or cannot stand where it was to go.
    pub fn render(&self, visit: &RenderContext<'_>, memory: &Memory) -> Result<Request, Refusal> {
        let mut draft = Draft::new();
        self.render_into(visit, memory, &mut draft)?;
        Ok(draft.request())
    }

    /// As [`render`](Script::render), into a draft that held another request.
    ///
    /// # Errors
    /// As [`render`](Script::render); the draft then holds no whole request.
    #[inline]
    pub fn render_into<'s>(
        &'s self,
        visit: &RenderContext<'_>,
        memory: &Memory,
        draft: &mut Draft<'s>,
    ) -> Result<(), Refusal> {
        let step = &self.steps[usize::from(visit.sending.step)];
        let mut values = Values::new(self, visit, memory);
        draft.clear();
        draft.method = &step.method;
        let hop = memory.hop().filter(|_| step.is_redirected);
        let gets = hop.is_some_and(|hop| hop.gets);
        if gets {
            draft.method = "GET";
        }
        let refuse = |why, part| self.refusal(step, visit, memory, why, part);
        match hop {
            Some(hop) => draft.text.push_str(&hop.path),
            None => values.path(step, &mut draft.text).map_err(|why| refuse(why, Part::Path))?,
        }
        draft.path_end = draft.text.len();
        let elsewhere =
            (hop.is_some() || step.is_link) && self.origin(visit.sending.step, memory) != step.origin;
        let secrets = elsewhere.then(|| self.redactor(visit, memory));
        for header in &step.headers {
            if gets && redirect::is_of_body(&header.name) {
                continue;
            }
            let start = draft.text.len();
            values
                .pieces(&header.value, &mut draft.text)
                .map_err(|why| refuse(why, Part::Header(&header.name)))?;
            let value = &draft.text[start..];
            let known = header.is_shared && step.origin > 0 && self.redactor.finds(value);
            if known || secrets.as_ref().is_some_and(|secrets| redirect::stays(&header.name, value, secrets))
            {
                draft.text.truncate(start);
                continue;
            }
            draft.headers.push((&header.name, start..draft.text.len()));
        }
        if let Some(traces) = self.traces {
            let RequestKey { group, k, ordinal, .. } = *visit.sending;
            let start = draft.text.len();
            // Writing to a text does not fail.
            let _ = write!(draft.text, "{}", traces.header(group, k, ordinal, hop.map_or(0, Hop::number)));
            draft.headers.push((TRACEPARENT, start..draft.text.len()));
        }
        if let Some(content_type) = &step.body.content_type
            && !step.gives_type
            && !gets
        {
            draft.header("Content-Type", content_type);
        }
        if let Some(jar) = memory.jar()
            && (elsewhere || !step.gives_cookie)
        {
            self.cookies(jar, visit, self.site_of(visit, memory), draft);
        }
        if gets {
            return Ok(());
        }
        values.body(step, &mut draft.body).map_err(|why| refuse(why, Part::Body))
    }

    fn cookies(&self, jar: &Jar, visit: &RenderContext<'_>, site: &Site, draft: &mut Draft<'_>) {
        let path = draft.path().split('?').next().unwrap_or_default();
        let mut values = String::new();
        jar.each(site, path, visit.unix_s(), |name, value| {
            if !values.is_empty() {
                values.push_str("; ");
            }
            values.push_str(name);
            values.push('=');
            values.push_str(value);
        });
        if !values.is_empty() {
            draft.header("Cookie", &values);
        }
    }

    /// The path of a visit's request without its query: what its cookies go by.
    pub(super) fn path_of(&self, visit: &RenderContext<'_>, memory: &Memory) -> String {
        let mut path = self.path_and_query_of(visit, memory);
        path.truncate(path.find('?').unwrap_or(path.len()));
        path
    }

    /// The path and query of a visit's request, once more.
    pub(super) fn path_and_query_of(&self, visit: &RenderContext<'_>, memory: &Memory) -> String {
        let step = &self.steps[usize::from(visit.sending.step)];
        if let Some(hop) = memory.hop().filter(|_| step.is_redirected) {
            return hop.path.clone();
        }
        let mut path = String::new();
        let mut values = Values::new(self, visit, memory);
        // What was rendered before can be rendered again; if not, there was no request to set a cookie.
        if values.path(step, &mut path).is_err() {
            path.clear();
        }
        path
    }

    #[cold]
    fn refusal(
        &self,
        step: &Step,
        visit: &RenderContext<'_>,
        memory: &Memory,
        why: Why,
        part: Part<'_>,
    ) -> Refusal {
        let redactor = self.redactor(visit, memory);
        let place = match part {
            Part::Path => "the path".to_owned(),
            Part::Header(name) => format!("header {name}"),
            Part::Body => "the body".to_owned(),
        };
        let (then, fault) = match &why {
            Why::Unfit(Unfit::NoPath, link) if step.link().is_some() => {
                let tls = self.sites[usize::from(step.origin)].tls;
                (SessionControl::Continue, redirect::not_followed(link, tls, &redactor))
            }
            _ => self.fault(why, place, header_name(part), visit, &redactor),
        };
        let outcome = Outcome::Unsent;
        let reason = fault.of_step(&step.name, |text| redactor.hide(text).into_owned());
        Refusal { outcome, then, reason }
    }

    /// Why a value cannot stand in its place, and how the session goes on.
    pub(super) fn fault(
        &self,
        why: Why,
        place: String,
        header: &str,
        visit: &RenderContext<'_>,
        redactor: &Redactor,
    ) -> (SessionControl, Fault) {
        match why {
            Why::Unset(name) => {
                let fault = Fault::plain(self.unset(name, place)).of_kind(KnownFailure::MissingVariable);
                (SessionControl::Continue, fault)
            }
            Why::NoRow(set) => self.ran_out(&self.data[usize::from(set)], visit),
            Why::Unfit(Unfit::Control, value) => {
                let value = shown_header(header, value.as_bytes(), redactor);
                let same = format!("a value of {place} holds a line break or another control character");
                (SessionControl::Continue, Fault { met: format!(": {value}"), ..Fault::plain(same) })
            }
            Why::Unfit(Unfit::NoPath, value) => {
                let expected = "expected a link that begins with a slash".to_owned();
                (SessionControl::Continue, Fault::got(expected, shown(value.as_bytes(), redactor)))
            }
            Why::Boundary => {
                let what = "a value of the body holds the boundary between its parts".to_owned();
                (SessionControl::Continue, Fault::plain(what))
            }
        }
    }

    /// A value that no response has given, and whose it was to give.
    fn unset(&self, name: u16, place: String) -> String {
        let written = self.steps.iter().filter(|step| !step.is_redirected);
        let givers = written.filter(|step| step.extracts.iter().any(|e| e.name == name));
        let givers: Vec<&str> = givers.map(|step| step.name.as_str()).collect();
        let name = self.names.extracted_name(name);
        match &givers[..] {
            [] => format!("{place} needs {{{{{name}}}}}, which no step extracts"),
            givers => format!(
                "{place} needs {{{{{name}}}}}, which step {} has not extracted in this session",
                givers.join(" or ")
            ),
        }
    }

    fn ran_out(&self, data: &Data, visit: &RenderContext<'_>) -> (SessionControl, Fault) {
        let (name, rows, k) = (data.name(), counted(data.rows(), "row"), visit.sending.k);
        let met = format!(", and session {k} would take one of its own");
        let fault = Fault { met, ..Fault::plain(format!("data {name} has {rows}")) };
        match data.at_end() {
            AtEnd::Stop => (SessionControl::StopGroup, fault),
            AtEnd::Skip => (SessionControl::EndSession, fault),
            AtEnd::Fail | AtEnd::Wrap => (SessionControl::Continue, fault),
        }
    }
}

fn header_name(part: Part<'_>) -> &str {
    match part {
        Part::Header(name) => name,
        Part::Path | Part::Body => "",
    }
}

#[cfg(test)]
mod tests;
