//! What is taken from an answer for later requests of the same session.

use super::html::Selector;
use super::pointer::Pointer;
use super::shown::counted;
use crate::redact::{Place as names, Redactor};
use jsonpath_rust::parser::model::JpQuery;
use regex::bytes::Regex;

/// Takes one value from an answer.
#[derive(Clone, Debug)]
pub struct Finder(pub(super) Place);

#[derive(Clone, Debug)]
pub(super) enum Place {
    /// What a pointer points to in a JSON body.
    Json(Pointer),
    /// The first of what a query finds in a JSON body; as written, and compiled.
    JsonPath(String, Box<JpQuery>),
    /// The first header of that name.
    Header(String),
    /// The cookie that this answer sets.
    Cookie(String),
    /// A group of the first match in the body.
    Regex(Regex, usize),
    /// The same, and references to characters of HTML are read in it.
    HtmlRegex(Regex, usize),
    /// An attribute of an element of a page.
    Attribute(Selector),
    /// A field of a form of a page.
    Field(String),
}

/// A pattern that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// It is no JSONPath.
    #[error("'{given}' is no JSONPath (RFC 9535) such as $.items[0].id: {why}")]
    JsonPath {
        /// As given.
        given: String,
        /// What is wrong.
        why: String,
    },
    /// It is no regular expression.
    #[error("'{given}' is no regular expression: {why}")]
    Regex {
        /// As given.
        given: String,
        /// What is wrong.
        why: String,
    },
    /// It names no element and attribute.
    #[error(
        "'{given}' names no element and attribute: write for example form action, or meta[name=csrf-token] content"
    )]
    Attribute {
        /// As given.
        given: String,
    },
    /// It has no such group.
    #[error("the regular expression has {}, so there is no group {asked}", counted(*.has as u64, "group"))]
    Group {
        /// The one that was asked for.
        asked: usize,
        /// How many it has.
        has: usize,
    },
}

/// Compiles a regular expression.
pub(super) fn regex(pattern: &str) -> Result<Regex, PatternError> {
    Regex::new(pattern).map_err(|error| {
        // Syntax errors come with the pattern and a caret, over several lines: the last says what is wrong.
        let text = error.to_string();
        let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        PatternError::Regex { given: pattern.to_owned(), why }
    })
}

impl Finder {
    /// What a pointer points to in a JSON body. A string is the text that it says; anything else (null too) is its JSON.
    pub fn json(pointer: Pointer) -> Finder {
        Finder(Place::Json(pointer))
    }

    /// The first of what a JSONPath (RFC 9535) finds in a JSON body, as with [`json`](Finder::json); members of an object
    /// in the order of their names. The body is read as a document for it, in which numbers beyond 64 bits lose digits: a
    /// pointer is faster, and keeps them.
    ///
    /// # Errors
    /// What is no JSONPath.
    pub fn json_path(query: &str) -> Result<Finder, PatternError> {
        let compiled = jsonpath_rust::parser::parse_json_path(query).map_err(|error| {
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default().trim_start_matches([' ', '=']).to_owned();
            PatternError::JsonPath { given: query.to_owned(), why }
        })?;
        Ok(Finder(Place::JsonPath(query.to_owned(), Box::new(compiled))))
    }

    /// Whether what it takes is a secret by the name of where it stands.
    pub(super) fn finds_a_secret(&self, redactor: &Redactor) -> bool {
        let known = redactor.names();
        match &self.0 {
            Place::Json(pointer) => known.has(names::Field, &pointer.to_string()),
            Place::JsonPath(query, _) => known.has(names::Field, query),
            Place::Header(name) => known.has(names::Header, name),
            Place::Cookie(_) => true,
            Place::Attribute(selector) => {
                let mut words =
                    selector.written.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
                words.any(|word| known.has(names::Field, word))
            }
            Place::Field(name) => known.has(names::Field, name),
            Place::Regex(regex, _) | Place::HtmlRegex(regex, _) => {
                let mut words =
                    regex.as_str().split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
                words.any(|word| known.has(names::Field, word))
            }
        }
    }

    /// The value of an attribute in a page of HTML, as a browser reads it: `form action`, `meta[name=csrf-token] content`.
    ///
    /// # Errors
    /// What names no element and attribute.
    pub fn attribute(text: &str) -> Result<Finder, PatternError> {
        let selector =
            Selector::parse(text).ok_or_else(|| PatternError::Attribute { given: text.to_owned() })?;
        Ok(Finder(Place::Attribute(selector)))
    }

    /// What a browser would send of the field of that name in a page of HTML.
    pub fn field(name: &str) -> Finder {
        Finder(Place::Field(name.to_owned()))
    }

    /// With references to characters of HTML (`&amp;`) read in what it finds, if it is a regular expression.
    pub fn of_html(self) -> Finder {
        match self.0 {
            Place::Regex(regex, group) => Finder(Place::HtmlRegex(regex, group)),
            other => Finder(other),
        }
    }

    /// The value of the first header of that name.
    pub fn header(name: &str) -> Finder {
        Finder(Place::Header(name.to_owned()))
    }

    /// The value of the cookie of that name that this answer sets.
    pub fn cookie(name: &str) -> Finder {
        Finder(Place::Cookie(name.to_owned()))
    }

    /// A group of the first match of a regular expression in the body; without one: group 1 if there is one, else the whole
    /// match. A group that took no part in the match found nothing.
    ///
    /// # Errors
    /// What is no regular expression, or a group that it does not have.
    pub fn regex(pattern: &str, group: Option<usize>) -> Result<Finder, PatternError> {
        let compiled = regex(pattern)?;
        let has = compiled.captures_len() - 1;
        let group = group.unwrap_or(has.min(1));
        if group > has {
            return Err(PatternError::Group { asked: group, has });
        }
        Ok(Finder(Place::Regex(compiled, group)))
    }
}

/// A value that a step takes from its answer, and under which name.
#[derive(Clone, Debug)]
pub struct Extract {
    pub(super) name: u16,
    pub(super) finder: Finder,
    pub(super) default: Option<String>,
    /// Where the step's tree of pointers puts it.
    pub(super) slot: usize,
}

impl Extract {
    /// Takes a value under the name of that number ([`Names::extracted`](super::Names::extracted)).
    pub fn new(name: u16, finder: Finder) -> Extract {
        Extract { name, finder, default: None, slot: 0 }
    }

    /// What it is where nothing is found: a text. Without it, finding nothing fails the step.
    pub fn or(mut self, default: &str) -> Extract {
        self.default = Some(default.to_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_checked() {
        let error = |result: Result<Finder, PatternError>| result.unwrap_err().to_string();
        let regex = error(Finder::regex("a(b", None));
        assert_eq!(regex, "'a(b' is no regular expression: unclosed group");
        assert_eq!(
            error(Finder::regex("a(b)", Some(2))),
            "the regular expression has 1 group, so there is no group 2"
        );
        let path = error(Finder::json_path("items[0]"));
        assert!(path.starts_with("'items[0]' is no JSONPath (RFC 9535) such as $.items[0].id: "), "{path}");
        assert!(!path.contains('\n'), "{path}");
        let group = |pattern| match Finder::regex(pattern, None).unwrap().0 {
            Place::Regex(_, group) => group,
            _ => unreachable!("it is one"),
        };
        assert_eq!((group("a"), group("(a)"), group("(a)(b)")), (0, 1, 1));
    }
    /// The document of RFC 9535, section 1.5, and for queries of its table 2 the first of what they find.
    #[test]
    fn json_paths_are_those_of_the_rfc() {
        let document = serde_json::json!({ "store": {
            "book": [
                { "category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95 },
                { "category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99 },
                { "category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553-21311-3",
                  "price": 8.99 },
                { "category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord of the Rings",
                  "isbn": "0-395-19395-8", "price": 22.99 }
            ],
            "bicycle": { "color": "red", "price": 399 }
        } });
        let found = |query: &str| {
            let Place::JsonPath(_, compiled) = Finder::json_path(query).unwrap().0 else {
                unreachable!("it is one")
            };
            let nodes = jsonpath_rust::query::js_path_process(&compiled, &document).unwrap();
            nodes.into_iter().map(|node| node.val().clone()).collect::<Vec<_>>()
        };
        let titles = |query: &str| -> Vec<String> {
            found(query).iter().map(|book| book["title"].as_str().unwrap()[..4].to_owned()).collect()
        };
        assert_eq!(found("$.store.book[*].author")[3], "J. R. R. Tolkien");
        assert_eq!(found("$..author").len(), 4);
        assert_eq!(found("$.store..price").len(), 5);
        assert_eq!(found("$..book[2].author"), ["Herman Melville"]);
        assert_eq!(found("$..book[2].publisher").len(), 0);
        assert_eq!(titles("$..book[2]"), ["Moby"]);
        assert_eq!(titles("$..book[-1]"), ["The "]);
        assert_eq!(titles("$..book[0,1]"), ["Sayi", "Swor"]);
        assert_eq!(titles("$..book[:2]"), ["Sayi", "Swor"]);
        assert_eq!(titles("$..book[?@.isbn]"), ["Moby", "The "]);
        assert_eq!(titles("$..book[?@.price<10]"), ["Sayi", "Moby"]);
        assert_eq!(titles("$['store'][\"book\"][?match(@.author, '.*Waugh')]"), ["Swor"]);
        assert_eq!(found("$..*").len(), 27);
    }

    proptest! {
        #[test]
        fn no_pattern_panics(text in any::<String>(), path in r#"\$([.\[\]*?@'"()<=!&|:,0-9a-z-]){0,24}"#) {
            for pattern in [&text, &path] {
                let _ = (Finder::json_path(pattern), Finder::regex(pattern, None), Pointer::parse(pattern));
            }
        }
    }
}
