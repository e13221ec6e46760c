//! What an answer must be to count as good: status, time, body, headers.

use super::encode::is_token;
use super::finder::{PatternError, regex};
use super::pointer::{Pointer, said};
use headway_base::Nanos;
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
}

/// Some status codes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusSet {
    ranges: Vec<(u16, u16)>,
    text: String,
}

impl StatusSet {
    /// Codes as people write them: `201`, `2xx`, `200-299`.
    ///
    /// # Errors
    /// What is none, in words that say what would be.
    pub fn parse(text: &str) -> Result<StatusSet, String> {
        let code = |text: &str| {
            let three = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|&code| three && code >= 100)
        };
        let trimmed = text.trim();
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
            None => Err(format!("'{text}' is no status: write for example 201, 2xx or 200-299")),
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
    Contains(bool, Box<Searcher<'static>>),
    /// It matches.
    Matches(Regex),
    /// What a pointer points to is this.
    Json(Box<JsonCheck>),
    /// It has at least so many bytes.
    AtLeast(u64),
    /// It has at most so many bytes.
    AtMost(u64),
}

#[derive(Clone, Debug)]
pub(super) struct JsonCheck {
    pub pointer: Pointer,
    value: Value,
    /// The value as it is mostly written.
    pub text: String,
    /// Where the step's tree of pointers puts what it points to.
    pub slot: usize,
}

impl JsonCheck {
    /// Whether a JSON text says the same: numbers by value, names of objects in any order.
    pub(super) fn holds(&self, raw: &str) -> bool {
        match &self.value {
            _ if raw == self.text => true,
            Value::String(text) => raw.starts_with('"') && said(raw) == **text,
            _ => serde_json::from_str(raw).is_ok_and(|value: Value| same(&value, &self.value)),
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
    pub fn contains(text: &str) -> BodyCheck {
        BodyCheck(BodyTest::Contains(true, Box::new(Searcher::new(text).into_owned())))
    }

    /// It does not hold this text.
    pub fn not_contains(text: &str) -> BodyCheck {
        BodyCheck(BodyTest::Contains(false, Box::new(Searcher::new(text).into_owned())))
    }

    /// A regular expression matches somewhere in it.
    ///
    /// # Errors
    /// What is no regular expression.
    pub fn matches(pattern: &str) -> Result<BodyCheck, PatternError> {
        Ok(BodyCheck(BodyTest::Matches(regex(pattern)?)))
    }

    /// It is JSON, and what the pointer points to is this value: numbers are compared by value.
    pub fn json(pointer: Pointer, value: Value) -> BodyCheck {
        let text = value.to_string();
        BodyCheck(BodyTest::Json(Box::new(JsonCheck { pointer, value, text, slot: 0 })))
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
    Equals(String),
    Matches(Regex),
}

impl HeaderCheck {
    /// It is there and is this, blanks around it aside.
    pub fn equals(name: &str, value: &str) -> HeaderCheck {
        HeaderCheck { name: name.to_owned(), test: HeaderTest::Equals(value.trim().to_owned()) }
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
