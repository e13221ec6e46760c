//! What an answer must be to count as good: status, time, body, headers.

use super::body::{Json, JsonTemplateError, json};
use super::encode::{Encoding, is_token};
use super::finder::{PatternError, regex};
use super::names::Names;
use super::pointer::{Pointer, said};
use super::template::{Piece, Source, Template};
use headway_base::Nanos;
use headway_base::rcode::{self, Status};
use memchr::memmem::Finder as Searcher;
use regex::bytes::Regex;
use serde_json::Value;
use std::fmt;

/// What a step expects of its answer. The default: a status below 400.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// Which status is good; none: any below 400. Another one is outcome status, and nothing else is looked at.
    pub status: Option<StatusSet>,
    /// The longest that the answer may take; longer is outcome check.
    pub time: Option<Nanos>,
    /// What the body must be.
    pub body: Vec<BodyCheck>,
    /// What headers must be.
    pub headers: Vec<HeaderCheck>,
    /// Which error replies of Redis' protocol are good; none: the target does not speak it. Another one is outcome check, and
    /// nothing else is looked at.
    pub errors: Option<ErrorReplies>,
}

/// Error replies of Redis' protocol that are expected. The default: none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ErrorReplies(Vec<String>);

impl ErrorReplies {
    /// Those that begin with one of these words; `any` stands for all.
    ///
    /// # Errors
    /// What is no such word, in words.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<ErrorReplies, String> {
        let words: Vec<String> = words.into_iter().collect();
        match words.iter().find(|word| *word != "any" && !is_code(word)) {
            Some(word) => {
                Err(format!("'{word}' is no first word of an error reply: write for example NOAUTH, or any"))
            }
            None => Ok(ErrorReplies(words)),
        }
    }

    /// The error reply that a value begins with and that is not expected, by its first word.
    pub(super) fn unexpected<'b>(&self, value: &'b [u8]) -> Option<&'b str> {
        let line = match value.split_first()? {
            (b'-', line) => line,
            // Its length has a line of its own.
            (b'!', rest) => &rest[rest.iter().position(|&byte| byte == b'\n')? + 1..],
            _ => return None,
        };
        let end = line.iter().position(|&byte| matches!(byte, b' ' | b'\r' | b'\n')).unwrap_or(line.len());
        let word = std::str::from_utf8(&line[..end])
            .ok()
            .filter(|word| is_code(word))
            .unwrap_or("an error without a code");
        let expected = |known: &String| known == "any" || known == word;
        (!self.0.iter().any(expected)).then_some(word)
    }
}

/// Whether a word is a code of errors, as Redis has them: capitals, digits and `_`.
fn is_code(word: &str) -> bool {
    (1..=32).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

impl Expect {
    /// The values that what is expected is made of.
    pub(super) fn sources(&self) -> Vec<Source> {
        let body = self.body.iter().flat_map(|check| match &check.0 {
            BodyTest::Contains(_, wanted) => wanted.sources().collect(),
            BodyTest::Json(json) => json.wanted.sources().collect(),
            BodyTest::Matches(_) | BodyTest::AtLeast(_) | BodyTest::AtMost(_) => Vec::new(),
        });
        let headers = self.headers.iter().flat_map(|check| match &check.test {
            HeaderTest::Equals(wanted) => wanted.sources().collect(),
            HeaderTest::Matches(_) => Vec::new(),
        });
        body.chain(headers).collect()
    }
}

/// Some status codes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusSet {
    ranges: Vec<(u16, u16)>,
    text: String,
}

impl StatusSet {
    /// The code of DNS for an answer without an error.
    pub fn noerror() -> StatusSet {
        StatusSet { ranges: vec![(0, 0)], text: "NOERROR".to_owned() }
    }

    /// Codes as people write them: `201`, `2xx`, `200-299`; of DNS `NXDOMAIN`.
    ///
    /// # Errors
    /// What is none, in words that say what would be.
    pub fn parse(text: &str) -> Result<StatusSet, String> {
        let code = |text: &str| {
            let three = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|&code| three && code >= 100)
        };
        let trimmed = text.trim();
        if let Some(code) = rcode::code(trimmed) {
            return Ok(StatusSet { ranges: vec![(code, code)], text: Status(code).to_string() });
        }
        let range = match (trimmed.strip_suffix("xx").or(trimmed.strip_suffix("XX")), trimmed.split_once('-'))
        {
            (Some(class), _) => match class.parse::<u16>() {
                Ok(class @ 1..=9) => Some((class * 100, class * 100 + 99)),
                _ => None,
            },
            (None, Some((from, to))) => {
                code(from.trim()).zip(code(to.trim())).filter(|(from, to)| from <= to)
            }
            (None, None) => code(trimmed).map(|code| (code, code)),
        };
        match range {
            Some(range) => Ok(StatusSet { ranges: vec![range], text: trimmed.to_owned() }),
            None => {
                Err(format!("'{text}' is no status: write for example 201, 2xx or 200-299 (of DNS NXDOMAIN)"))
            }
        }
    }

    /// These codes and those.
    pub fn or(mut self, other: StatusSet) -> StatusSet {
        let and = if self.text.is_empty() || other.text.is_empty() { "" } else { " or " };
        self.text = format!("{}{and}{}", self.text, other.text);
        self.ranges.extend(other.ranges);
        self
    }

    /// Whether a code is one of them.
    #[inline]
    pub fn contains(&self, status: u16) -> bool {
        self.ranges.iter().any(|&(from, to)| (from..=to).contains(&status))
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Something that must hold of a body.
#[derive(Clone, Debug)]
pub struct BodyCheck(pub(super) BodyTest);

#[derive(Clone, Debug)]
pub(super) enum BodyTest {
    /// Whether it must hold the text, or must not.
    Contains(bool, Wanted<Box<Searcher<'static>>>),
    /// It matches.
    Matches(Regex),
    /// What a pointer points to is this.
    Json(Box<JsonCheck>),
    /// It has at least so many bytes.
    AtLeast(u64),
    /// It has at most so many bytes.
    AtMost(u64),
}

/// What is expected: the same for all, made ready once, or put together for each session.
#[derive(Clone, Debug)]
pub(super) enum Wanted<F> {
    Fixed(F),
    Each(Box<Spliced>),
}

impl<F> Wanted<F> {
    /// `ready` of the text, if it is the same for all.
    fn new(pieces: Vec<Piece<String>>, written: &str, ready: impl FnOnce(&str) -> F) -> Wanted<F> {
        match pieces.as_slice() {
            [] => Wanted::Fixed(ready("")),
            [Piece::Fixed(text)] => Wanted::Fixed(ready(text)),
            _ => Wanted::Each(Box::new(Spliced { pieces, written: written.to_owned() })),
        }
    }

    fn text(template: &Template, ready: impl FnOnce(&str) -> F) -> Wanted<F> {
        let mut pieces = Vec::new();
        template.encode(Encoding::Verbatim, &mut pieces);
        Wanted::new(pieces, &template.written, ready)
    }

    fn sources(&self) -> impl Iterator<Item = Source> {
        let pieces = match self {
            Wanted::Fixed(_) => &[][..],
            Wanted::Each(spliced) => &spliced.pieces,
        };
        pieces.iter().filter_map(|piece| match piece {
            Piece::Value(source, _) => Some(*source),
            Piece::Fixed(_) => None,
        })
    }
}

/// A text with values of the session in it.
#[derive(Clone)]
pub(super) struct Spliced {
    pub pieces: Vec<Piece<String>>,
    /// With the names of the values: the same for all.
    pub written: String,
}

/// Constants may be secrets.
impl fmt::Debug for Spliced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spliced({} pieces)", self.pieces.len())
    }
}

#[derive(Clone, Debug)]
pub(super) struct JsonCheck {
    pub pointer: Pointer,
    pub wanted: Wanted<JsonValue>,
    /// Whether it is one text with values in it, which have no types in data sets of CSV.
    loose: bool,
    /// Where the step's tree of pointers puts what it points to.
    pub slot: usize,
}

/// A value that is expected, and it as it is mostly written.
#[derive(Clone, Debug)]
pub(super) struct JsonValue {
    value: Value,
    pub text: String,
}

impl JsonValue {
    fn new(text: &str) -> JsonValue {
        // What a template of JSON gives is JSON.
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        JsonValue { value, text: text.to_owned() }
    }
}

impl JsonCheck {
    /// What is expected, as one session has it: this JSON text.
    pub(super) fn of_session(text: &str) -> JsonValue {
        JsonValue::new(text)
    }

    /// Whether a JSON text says the same: numbers by value, names of objects in any order.
    pub(super) fn holds(&self, wanted: &JsonValue, raw: &str) -> bool {
        match &wanted.value {
            _ if raw == wanted.text => true,
            Value::String(text) => (self.loose || raw.starts_with('"')) && said(raw) == **text,
            _ => serde_json::from_str(raw).is_ok_and(|value: Value| same(&value, &wanted.value)),
        }
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            // Whole numbers are exact; 1 is 1.0.
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

impl BodyCheck {
    /// It holds this text.
    pub fn contains(text: impl Into<Template>) -> BodyCheck {
        BodyCheck::searching(true, &text.into())
    }

    /// It does not hold this text.
    pub fn not_contains(text: impl Into<Template>) -> BodyCheck {
        BodyCheck::searching(false, &text.into())
    }

    fn searching(wanted: bool, text: &Template) -> BodyCheck {
        let ready = |text: &str| Box::new(Searcher::new(text).into_owned());
        BodyCheck(BodyTest::Contains(wanted, Wanted::text(text, ready)))
    }

    /// A regular expression matches somewhere in it.
    ///
    /// # Errors
    /// What is no regular expression.
    pub fn matches(pattern: &str) -> Result<BodyCheck, PatternError> {
        Ok(BodyCheck(BodyTest::Matches(regex(pattern)?)))
    }

    /// It is JSON, and the value at the pointer is this one. Its strings and member names are templates as in
    /// [`Body::json`](super::Body::json): numbers are compared by value. A string with values in it is also the number or
    /// truth value that is written so.
    ///
    /// # Errors
    /// A template that cannot be read, and where it is.
    pub fn json(pointer: Pointer, value: &Value, names: &Names) -> Result<BodyCheck, JsonTemplateError> {
        let mut pieces = Vec::new();
        json(&Json::from(value.clone()), names, &mut String::new(), &mut pieces)?;
        let wanted = Wanted::new(pieces, &value.to_string(), JsonValue::new);
        let loose = value.is_string() && matches!(wanted, Wanted::Each(_));
        Ok(BodyCheck(BodyTest::Json(Box::new(JsonCheck { pointer, wanted, loose, slot: 0 }))))
    }

    /// It has at least so many bytes.
    pub fn at_least(bytes: u64) -> BodyCheck {
        BodyCheck(BodyTest::AtLeast(bytes))
    }

    /// It has at most so many bytes.
    pub fn at_most(bytes: u64) -> BodyCheck {
        BodyCheck(BodyTest::AtMost(bytes))
    }
}

/// Something that must hold of a header; of one that comes several times, of one of them.
#[derive(Clone, Debug)]
pub struct HeaderCheck {
    pub(super) name: String,
    pub(super) test: HeaderTest,
}

#[derive(Clone, Debug)]
pub(super) enum HeaderTest {
    Equals(Wanted<String>),
    Matches(Regex),
}

impl HeaderCheck {
    /// It is there and is this, blanks around it aside.
    pub fn equals(name: &str, value: impl Into<Template>) -> HeaderCheck {
        let wanted = Wanted::text(&value.into(), |text| text.trim().to_owned());
        HeaderCheck { name: name.to_owned(), test: HeaderTest::Equals(wanted) }
    }

    /// It is there and a regular expression matches somewhere in it.
    ///
    /// # Errors
    /// What is no regular expression.
    pub fn matches(name: &str, pattern: &str) -> Result<HeaderCheck, PatternError> {
        Ok(HeaderCheck { name: name.to_owned(), test: HeaderTest::Matches(regex(pattern)?) })
    }

    /// Whether the name could be that of a header.
    pub(super) fn has_name(&self) -> bool {
        is_token(&self.name)
    }
}
