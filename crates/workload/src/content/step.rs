//! One step: the request as templates, what is taken from its answer, what is expected of it. Checked as it is put together.

use super::body::Body;
use super::encode::{Encoding, is_header_value, is_token};
use super::expect::{BodyTest, ErrorReplies, Expect, StatusSet};
use super::finder::{Extract, Place};
use super::pointer::Tree;
use super::redirect::{LOCATION, is_of_origin};
use super::render::TRACEPARENT;
use super::stream::StreamKind;
use super::template::{Piece, Run, Source, Template, push_fixed};
use crate::redact::{Cleared, Redactor};
use crate::request::Request;
use headway_base::status::REDIRECTS;

/// A header whose value is put together.
#[derive(Clone)]
pub(super) struct Header {
    pub name: String,
    pub value: Vec<Piece<String>>,
    /// Whether it is one of every request, which the step did not ask for itself.
    pub is_shared: bool,
}

impl Header {
    /// Where its values come from.
    pub fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        self.value.iter().filter_map(source)
    }
}

fn source<L>(piece: &Piece<L>) -> Option<Source> {
    match piece {
        Piece::Value(source, _) => Some(*source),
        Piece::Fixed(_) => None,
    }
}

/// One step of a journey: what is asked, and what the answer must be.
#[derive(Clone)]
pub struct Step {
    pub(super) name: Cleared,
    pub(super) method: String,
    /// Number of the origin that it goes to, 0 being the target.
    pub(super) origin: u16,
    /// Whether it was written as a whole URL: its path stands below no base path.
    pub(super) is_whole: bool,
    /// Path and query, below the target's base path unless it is a link.
    pub(super) target: Vec<Piece<String>>,
    /// Whether the path is one value, a link that an answer gave: it stands below no base path.
    pub(super) is_link: bool,
    has_query: bool,
    pub(super) headers: Vec<Header>,
    pub(super) body: Body,
    pub(super) extracts: Vec<Extract>,
    pub(super) expect: Expect,
    /// Where extracts and checks point to in a JSON body.
    pub(super) tree: Tree,
    /// Headers of the answer that extracts and checks look at.
    pub(super) watched: Vec<String>,
    /// Whether the body of the answer is kept until its end.
    pub(super) keeps_body: bool,
    /// Whether the length of the body matters.
    pub(super) counts_body: bool,
    /// Whether an extract looks at cookies.
    pub(super) sees_cookies: bool,
    pub(super) gives_cookie: bool,
    pub(super) gives_type: bool,
    /// What the events of its responses are, if they have any.
    pub(super) stream: Option<StreamKind>,
    /// Whether its redirects are followed.
    pub(super) follows: bool,
    /// Whether its requests are those that redirects lead to.
    pub(super) is_redirected: bool,
}

/// What is wrong with a part of a step.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StepError {
    /// The method is not a token.
    #[error("'{0}' is no method: write a word such as GET")]
    Method(String),
    /// CONNECT.
    #[error("method CONNECT makes a tunnel: write GET, POST or another method with an answer of its own")]
    Connect,
    /// The path does not begin with a slash.
    #[error(
        "the path begins with a slash, such as /items/{{{{id}}}}, or is one value and nothing else, such as {{{{link}}}}"
    )]
    Path,
    /// The path holds a fragment.
    #[error("what follows # is not sent: leave it out, or write %23 for the character itself")]
    Fragment,
    /// A query for a path that is one value.
    #[error(
        "a path that is one value and nothing else has its own query: leave this one out, or write the path as /{{{{...}}}}"
    )]
    LinkQuery,
    /// The name of a header is not a token.
    #[error("'{0}' is no header name: write letters, digits and -, such as Content-Type")]
    HeaderName(String),
    /// The value of a header holds a control character.
    #[error("the value of header {0} holds a line break or another control character")]
    HeaderValue(String),
    /// Something is expected to hold a value that is another one at every place.
    #[error(
        "what is expected cannot hold {{{{uuid}}}} or {{{{now}}}}, which are others each time: write a value of the session, such as {{{{user.id}}}}"
    )]
    Fleeting,
    /// A header that belongs to the connection.
    #[error("{0} is sent as the body needs it: leave it out")]
    OwnHeader(String),
}

impl Step {
    /// A step that asks for a path and query by a method, and is content with any status below 400.
    ///
    /// Fixed parts of the path keep their separators and escapes; what cannot stand in a path is percent-encoded. Values
    /// in it are percent-encoded, slashes too. A path that is one value and nothing else is a link from the target's root: it
    /// keeps its separators, and must begin with a slash when the time comes, or be a URL of an origin that the run names
    /// if a step extracted it.
    ///
    /// # Errors
    /// No method, or no path.
    pub fn new(name: impl Into<Cleared>, method: &str, path: &Template) -> Result<Step, StepError> {
        if !is_token(method) {
            return Err(StepError::Method(method.to_owned()));
        }
        if method == "CONNECT" {
            return Err(StepError::Connect);
        }
        let texts = || {
            path.runs.iter().filter_map(|run| match run {
                Run::Text(text) => Some(text.as_str()),
                Run::Value(_) => None,
            })
        };
        if texts().any(|text| text.contains('#')) {
            return Err(StepError::Fragment);
        }
        let is_link = path.only_value().is_some();
        let begins = matches!(path.runs.first(), Some(Run::Text(text)) if text.starts_with('/'));
        if !is_link && !begins {
            return Err(StepError::Path);
        }
        let mut step = Step::bare(name, method);
        path.encode(if is_link { Encoding::Link } else { Encoding::Path }, &mut step.target);
        step.is_link = is_link;
        step.has_query = texts().any(|text| text.contains('?'));
        Ok(step)
    }

    /// A step that sends plain bytes, and is content with any answer.
    pub fn bytes(name: impl Into<Cleared>, body: Body) -> Step {
        Step { body, ..Step::bare(name, "") }
    }

    /// Is content with NOERROR alone, until something else is expected.
    pub fn expecting_noerror(mut self) -> Step {
        self.expect.status = Some(StatusSet::noerror());
        self
    }

    /// Is content with no error reply of Redis' protocol but these.
    pub fn expecting_errors(mut self, errors: ErrorReplies) -> Step {
        self.expect.errors = Some(errors);
        self
    }

    /// A step that sends this request, and is content with any status below 400.
    pub(super) fn of(name: Cleared, request: &Request) -> Step {
        let mut step = Step::bare(name, &request.method);
        push_fixed(&mut step.target, &request.path);
        for (name, value) in &request.headers {
            let mut pieces = Vec::new();
            push_fixed(&mut pieces, value);
            step.headers.push(Header { name: name.clone(), value: pieces, is_shared: false });
        }
        step.gives_cookie = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        step.body = Body::raw(&request.body);
        step
    }

    fn bare(name: impl Into<Cleared>, method: &str) -> Step {
        Step {
            name: name.into(),
            method: method.to_owned(),
            origin: 0,
            is_whole: false,
            target: Vec::new(),
            is_link: false,
            has_query: false,
            headers: Vec::new(),
            body: Body::default(),
            extracts: Vec::new(),
            expect: Expect::default(),
            tree: Tree::default(),
            watched: Vec::new(),
            keeps_body: false,
            counts_body: false,
            sees_cookies: false,
            gives_cookie: false,
            gives_type: false,
            stream: None,
            follows: false,
            is_redirected: false,
        }
    }

    /// The same where it was written as a whole URL, of the origin of that number.
    pub fn at(self, origin: u16) -> Step {
        Step { origin, is_whole: true, ..self }
    }

    /// The name of the extracted value that is its whole path, if it is one: the number of it.
    pub fn link(&self) -> Option<u16> {
        match self.target.as_slice() {
            [Piece::Value(Source::Extracted(name), Encoding::Link)] => Some(*name),
            _ => None,
        }
    }

    /// The number of the origin that it goes to, 0 being the target; not of those that redirects and links lead to.
    pub fn origin(&self) -> u16 {
        self.origin
    }

    /// Appends a name and a value to the query, percent-encoded.
    ///
    /// # Errors
    /// The path is a link, which has its own query.
    pub fn query(&mut self, name: &Template, value: &Template) -> Result<(), StepError> {
        if self.is_link {
            return Err(StepError::LinkQuery);
        }
        push_fixed(&mut self.target, if self.has_query { "&" } else { "?" });
        self.has_query = true;
        name.encode(Encoding::Component, &mut self.target);
        push_fixed(&mut self.target, "=");
        value.encode(Encoding::Component, &mut self.target);
        Ok(())
    }

    /// Adds a header. A value that holds a control character when the time comes fails the step. A Content-Type without a value takes that of
    /// the body away.
    ///
    /// # Errors
    /// A name or value that cannot be sent, or Content-Length or Transfer-Encoding.
    pub fn header(&mut self, name: &str, value: &Template) -> Result<(), StepError> {
        if !is_token(name) {
            return Err(StepError::HeaderName(name.to_owned()));
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("content-length") || is("transfer-encoding") {
            return Err(StepError::OwnHeader(name.to_owned()));
        }
        if is("content-type") && value.runs.is_empty() {
            self.gives_type = true;
            return Ok(());
        }
        let unfit = |run: &Run| matches!(run, Run::Text(text) if !is_header_value(text));
        if value.runs.iter().any(unfit) {
            return Err(StepError::HeaderValue(name.to_owned()));
        }
        let mut pieces = Vec::new();
        value.encode(Encoding::Header, &mut pieces);
        self.headers.push(Header { name: name.to_owned(), value: pieces, is_shared: false });
        self.gives_cookie |= is("cookie");
        self.gives_type |= is("content-type");
        Ok(())
    }

    /// Adds a header of every request: one with a secret goes to the target alone.
    ///
    /// # Errors
    /// As [`header`](Step::header).
    pub fn shared_header(
        &mut self,
        name: &str,
        value: &Template,
        redactor: &Redactor,
    ) -> Result<(), StepError> {
        let before = self.headers.len();
        let stays = self.origin > 0 && (is_of_origin(name, redactor) || value.holds_a_secret(redactor));
        if stays {
            return Ok(());
        }
        self.header(name, value)?;
        self.headers[before..].iter_mut().for_each(|header| header.is_shared = true);
        Ok(())
    }

    /// Gives it a body, in the place of any that it had. Its Content-Type is sent unless a header says another.
    pub fn body(&mut self, body: Body) {
        self.body = body;
    }

    /// Makes events of its responses.
    pub fn stream(&mut self, kind: StreamKind) {
        self.stream = Some(kind);
    }

    /// What the events of its responses are, if they have any.
    pub fn streams(&self) -> Option<StreamKind> {
        self.stream
    }

    /// Takes a value from the answer.
    pub fn extract(&mut self, mut extract: Extract) {
        match &extract.finder.0 {
            Place::Json(pointer) => {
                extract.slot = self.tree.add(pointer);
                self.keeps_body = true;
            }
            Place::JsonPath(..)
            | Place::Regex(..)
            | Place::HtmlRegex(..)
            | Place::Attribute(_)
            | Place::Field(_) => self.keeps_body = true,
            Place::Header(name) => watch(&mut self.watched, name),
            Place::Cookie(_) => self.sees_cookies = true,
        }
        self.extracts.push(extract);
    }

    /// Says what the answer must be, in the place of what was said before.
    ///
    /// # Errors
    /// An invalid header name, or a value that no answer can hold.
    pub fn expect(&mut self, mut expect: Expect) -> Result<(), StepError> {
        let fleeting = [Source::Uuid, Source::Now, Source::UnixSeconds, Source::UnixMillis];
        if expect.sources().iter().any(|source| fleeting.contains(source)) {
            return Err(StepError::Fleeting);
        }
        for check in &mut expect.body {
            match &mut check.0 {
                BodyTest::Json(json) => {
                    json.slot = self.tree.add(&json.pointer);
                    self.keeps_body = true;
                }
                BodyTest::Contains(..) | BodyTest::Matches(_) => self.keeps_body = true,
                BodyTest::AtLeast(_) | BodyTest::AtMost(_) => self.counts_body = true,
            }
        }
        for check in &expect.headers {
            if !check.has_name() {
                return Err(StepError::HeaderName(check.name.clone()));
            }
            watch(&mut self.watched, &check.name);
        }
        self.expect = Expect { errors: expect.errors.or(self.expect.errors.take()), ..expect };
        Ok(())
    }

    /// Its name.
    pub fn name(&self) -> &Cleared {
        &self.name
    }

    /// Whether it has a header `traceparent` of its own.
    pub fn names_a_trace(&self) -> bool {
        self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(TRACEPARENT))
    }

    /// Its method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The numbers of the data sets that its requests and checks hold values of, each once.
    pub fn data_sets(&self) -> Vec<u16> {
        let of = |source: &Source| match source {
            Source::Cell { set, .. } => Some(*set),
            _ => None,
        };
        let mut sets: Vec<u16> = self.all_sources().iter().filter_map(of).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The numbers of the names that its requests and checks need extracted before, each once.
    pub fn needs(&self) -> Vec<u16> {
        let of = |source: &Source| match source {
            Source::Extracted(name) => Some(*name),
            _ => None,
        };
        let mut names: Vec<u16> = self.all_sources().iter().filter_map(of).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn all_sources(&self) -> Vec<Source> {
        let mut sources = self.sources();
        sources.extend(self.expect.sources());
        sources
    }

    /// Of its requests.
    fn sources(&self) -> Vec<Source> {
        let head = self.target.iter().filter_map(source);
        let head = head.chain(self.headers.iter().flat_map(Header::sources));
        head.chain(self.body.pieces.iter().filter_map(source)).collect()
    }

    /// Whether its requests are the same for every session, cookies aside.
    pub fn is_fixed(&self) -> bool {
        !self.is_redirected && self.sources().is_empty()
    }

    /// Whether it looks at redirects itself: it expects such a status, or its extracts and checks are about Location or a cookie.
    pub(super) fn takes_redirects(&self) -> bool {
        let expects = |status| self.expect.status.as_ref().is_some_and(|set| set.contains(status));
        let looks = self.watched.iter().any(|name| name.eq_ignore_ascii_case(LOCATION)) || self.sees_cookies;
        REDIRECTS.into_iter().any(expects) || looks
    }

    /// Follows redirects from now on, unless it looks at them itself.
    pub(super) fn follow(&mut self) {
        if !self.takes_redirects() {
            watch(&mut self.watched, LOCATION);
            self.follows = true;
        }
    }

    /// The step of the requests that its redirects lead to.
    pub(super) fn redirected(&self) -> Step {
        let name = self.name.and(" (redirected)");
        Step { name, is_redirected: true, ..self.clone() }
    }
}

fn watch(watched: &mut Vec<String>, name: &str) {
    if !watched.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        watched.push(name.to_owned());
    }
}

/// What is sent may be a secret: only what it is shows.
impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|header| header.name.as_str()).collect();
        f.debug_struct("Step")
            .field("name", &self.name)
            .field("method", &self.method)
            .field("headers", &headers)
            .field("body", &self.body)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Finder, HeaderCheck, Names, Pointer};

    fn template(text: &str) -> Template {
        let mut names = Names::new();
        names.extracted("id").unwrap();
        Template::parse(text, &names).unwrap()
    }

    fn new(method: &str, path: &str) -> Result<Step, StepError> {
        Step::new("s", method, &template(path))
    }

    #[test]
    fn what_is_no_request() {
        let error = |method: &str, path: &str| new(method, path).unwrap_err();
        assert_eq!(error("GE T", "/"), StepError::Method("GE T".to_owned()));
        assert_eq!(error("", "/"), StepError::Method(String::new()));
        assert_eq!(error("CONNECT", "/"), StepError::Connect);
        for path in ["", "items", "http://h/", "{{id}}/x", "{{id}}{{id}}", "?a=b"] {
            assert_eq!(error("GET", path), StepError::Path, "{path}");
        }
        assert_eq!(error("GET", "/a#{{id}}"), StepError::Fragment);
        assert!(error("GET", "items").to_string().contains("such as /items/{{id}}, or is one value"));
        for path in ["/", "/{{id}}", "{{id}}", "/a?b", "//"] {
            assert!(new("PURGE", path).is_ok(), "{path}");
        }
    }

    #[test]
    fn what_is_no_header_or_query() {
        let mut step = new("GET", "/").unwrap();
        let mut header = |name: &str, value: &str| step.header(name, &template(value));
        assert_eq!(header("a b", ""), Err(StepError::HeaderName("a b".to_owned())));
        assert_eq!(header("", ""), Err(StepError::HeaderName(String::new())));
        assert_eq!(header("X-A", "a\nb{{id}}"), Err(StepError::HeaderValue("X-A".to_owned())));
        assert_eq!(header("content-LENGTH", "1"), Err(StepError::OwnHeader("content-LENGTH".to_owned())));
        assert_eq!(
            header("Transfer-Encoding", ""),
            Err(StepError::OwnHeader("Transfer-Encoding".to_owned()))
        );
        assert_eq!(header("X-A", "é\t{{id}}"), Ok(()));
        let expect = Expect { headers: vec![HeaderCheck::equals("a:", "")], ..Expect::default() };
        assert_eq!(step.expect(expect), Err(StepError::HeaderName("a:".to_owned())));
        let mut link = new("GET", "{{id}}").unwrap();
        assert_eq!(link.query(&template("a"), &template("b")), Err(StepError::LinkQuery));
    }

    #[test]
    fn a_step_knows_what_it_needs() {
        let mut step = new("GET", "/").unwrap();
        assert!(step.is_fixed() && step.needs().is_empty() && step.data_sets().is_empty());
        step.extract(Extract::new(0, Finder::json(Pointer::parse("/id").unwrap())));
        assert!(step.is_fixed(), "taking a value changes nothing that is sent");
        step.body(Body::form(&[(template("a"), template("{{id}}"))]));
        assert!(!step.is_fixed());
        step.query(&template("{{id}}"), &template("")).unwrap();
        assert_eq!(step.needs(), [0]);
        step.body(Body::default());
        assert_eq!(step.needs(), [0]);
    }

    #[test]
    fn what_is_sent_does_not_show() {
        let mut step = new("POST", "/hunter2").unwrap();
        step.header("Authorization", &template("hunter2")).unwrap();
        step.body(Body::text(&template("hunter2")));
        assert!(!format!("{step:?}").contains("hunter2"));
    }
}
