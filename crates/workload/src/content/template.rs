//! Text with values in it: `"/items/{{id}}?page={{seq}}"`.
//!
//! Reading resolves names to numbers; what a value becomes where it goes is [`super::encode`]'s, and is settled when
//! the template is put into a step.

use super::encode::Encoding;
use super::names::{Named, Names};
use crate::redact::{Place, Redactor};
use std::ops::Range;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The session's row of that data set, in that column.
    Cell {
        /// Number of the set.
        set: u16,
        /// Number of the column.
        column: u32,
    },
    /// Number of the user, or of the session where sessions arrive.
    User,
    /// Which round of the journey of the user.
    Iteration,
    /// Number of the session.
    Session,
    /// A random UUID (RFC 9562, version 4), another one at every place.
    Uuid,
    /// The time of day, RFC 3339 in UTC to the millisecond.
    Now,
    /// Seconds since 1970.
    UnixSeconds,
    /// Milliseconds since 1970.
    UnixMillis,
    /// A number that no other request of the plan has.
    Seq,
    /// What a step extracted under that number.
    Extracted(u16),
}

/// A part of a request that is put together from these: `L` is what the fixed parts are.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Piece<L> {
    /// The same for every request, as it goes out.
    Fixed(L),
    /// A value, encoded so.
    Value(Source, Encoding),
}

/// Text with values in it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Template {
    pub(super) runs: Vec<Run>,
    /// As it was given.
    pub(super) written: String,
    /// Names of the constants whose values stand in it.
    constants: Vec<String>,
}

/// A run of a template: fixed text (not empty, never two in a row) or a value.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Run {
    Text(String),
    Value(Source),
}

/// What is wrong with a template.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}{}", .suggestion.as_ref().map(|s| format!("; did you mean '{s}'?")).unwrap_or_default())]
pub struct TemplateError {
    /// The bytes of the text that it is about.
    pub range: Range<usize>,
    /// What is wrong, and what would be accepted.
    pub message: String,
    /// The name that may have been meant, without braces.
    pub suggestion: Option<String>,
}

impl Template {
    /// Reads a template. `{{NAME}}` stands for a value, with blanks inside the braces as one likes; `\{{` is a literal
    /// `{{`; everything else stands for itself.
    ///
    /// # Errors
    /// Braces that do not close, an empty name, or a name that nothing defines.
    pub fn parse(text: &str, names: &Names) -> Result<Template, TemplateError> {
        let mut template = Template { written: text.to_owned(), ..Template::default() };
        let mut at = 0;
        while let Some(found) = text[at..].find("{{").map(|i| at + i) {
            if text[at..found].ends_with('\\') {
                template.push_text(&text[at..found - 1]);
                template.push_text("{{");
                at = found + 2;
                continue;
            }
            template.push_text(&text[at..found]);
            let Some(end) = text[found + 2..].find("}}").map(|i| found + 2 + i) else {
                let message = "'{{' has no '}}': write {{name}}, or \\{{ for the braces themselves";
                let range = found..text.len();
                return Err(TemplateError { range, message: message.to_owned(), suggestion: None });
            };
            let inside = &text[found + 2..end];
            let name = inside.trim();
            at = end + 2;
            if name.is_empty() {
                let message = "nothing is named between '{{' and '}}'".to_owned();
                return Err(TemplateError { range: found..at, message, suggestion: None });
            }
            let start = found + 2 + (inside.len() - inside.trim_start().len());
            match names.find(name) {
                Ok(Named::Constant(value)) => {
                    template.push_text(value);
                    template.constants.extend(name.strip_prefix("vars.").map(str::to_owned));
                }
                Ok(Named::Value(source)) => template.runs.push(Run::Value(source)),
                Err((message, suggestion)) => {
                    return Err(TemplateError { range: start..start + name.len(), message, suggestion });
                }
            }
        }
        template.push_text(&text[at..]);
        Ok(template)
    }

    /// A text that stands for itself, braces included.
    pub fn fixed(text: &str) -> Template {
        let mut template = Template { written: text.to_owned(), ..Template::default() };
        template.push_text(text);
        template
    }

    /// Whether it is the same text always.
    pub fn is_fixed(&self) -> bool {
        self.runs.iter().all(|run| matches!(run, Run::Text(_)))
    }

    /// Whether its fixed text holds a secret: one of the values that `redactor` knows, or a constant whose name says so.
    pub(crate) fn holds_a_secret(&self, redactor: &Redactor) -> bool {
        let named = |name: &String| redactor.names().has(Place::Variable, name);
        let found = |run: &Run| matches!(run, Run::Text(text) if redactor.finds(text));
        self.constants.iter().any(named) || self.runs.iter().any(found)
    }

    fn push_text(&mut self, text: &str) {
        match self.runs.last_mut() {
            _ if text.is_empty() => {}
            Some(Run::Text(last)) => last.push_str(text),
            _ => self.runs.push(Run::Text(text.to_owned())),
        }
    }

    /// Where it is a whole URL: scheme, host and port, and the path behind them; no path where a value stands in what comes before.
    pub(crate) fn whole_url(&self) -> Option<(String, Option<Template>)> {
        let Some(Run::Text(first)) = self.runs.first() else { return None };
        let scheme = first.find("://")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if scheme == 0 || !first[..scheme].chars().all(plain) {
            return None;
        }
        let host = scheme + "://".len();
        let end = first[host..].find(['/', '?', '#']).map(|at| host + at);
        let origin = first[..end.unwrap_or(first.len())].to_owned();
        if end.is_none() && self.runs.len() > 1 {
            return Some((origin, None));
        }
        let rest = end.map_or("", |end| &first[end..]);
        let slash = if rest.starts_with('/') { "" } else { "/" };
        let mut path = Template { written: self.written.clone(), ..Template::default() };
        path.push_text(&format!("{slash}{rest}"));
        path.runs.extend(self.runs[1..].iter().cloned());
        Some((origin, Some(path)))
    }

    /// The value that it is and nothing else.
    pub(super) fn only_value(&self) -> Option<Source> {
        match self.runs.as_slice() {
            [Run::Value(source)] => Some(*source),
            _ => None,
        }
    }

    /// Appends its runs, texts encoded now and values when they are known.
    pub(super) fn encode<L: Literal>(&self, encoding: Encoding, into: &mut Vec<Piece<L>>) {
        for run in &self.runs {
            match run {
                Run::Text(text) => push_fixed(into, &encoding.text(text)),
                Run::Value(source) => into.push(Piece::Value(*source, encoding)),
            }
        }
    }
}

/// As [`Template::fixed`].
impl From<&str> for Template {
    fn from(text: &str) -> Template {
        Template::fixed(text)
    }
}

/// What the fixed parts of something can be.
pub(super) trait Literal: for<'t> From<&'t str> {
    fn append(&mut self, text: &str);
}

impl Literal for String {
    fn append(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Appends fixed text, to the last piece if that is fixed too.
pub(super) fn push_fixed<L: Literal>(into: &mut Vec<Piece<L>>, text: &str) {
    match into.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Fixed(last)) => last.append(text),
        _ => into.push(Piece::Fixed(L::from(text))),
    }
}

/// Constants may be secrets: fixed text does not show.
impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = self.runs.iter().map(|run| match run {
            Run::Text(text) => format!("{} bytes", text.len()),
            Run::Value(source) => format!("{source:?}"),
        });
        f.debug_list().entries(shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{AtEnd, Data, NameError, Take};

    fn names() -> Names {
        let mut names = Names::new();
        names.constant("tenant", "ac{{me}}").unwrap();
        for (name, header) in [("people", "id,mail"), ("items", "id,first name,a.b")] {
            let rows = format!("{header}\n{}\n", vec!["x"; header.split(',').count()].join(","));
            names.data(&Data::csv(name, rows.as_bytes(), Take::Sequential, AtEnd::Fail).unwrap()).unwrap();
        }
        names.extracted("item_id").unwrap();
        names
    }

    fn text(text: &str) -> Run {
        Run::Text(text.to_owned())
    }

    #[test]
    fn names_are_looked_up_once() {
        let check = |given: &str, expected: &[Run]| {
            assert!(Template::parse(given, &names()).unwrap().runs == expected, "{given}");
        };
        let cell = |set, column| Run::Value(Source::Cell { set, column });
        check("", &[]);
        check("a }} b { c", &[text("a }} b { c")]);
        check("/x/{{ user.id }}!", &[text("/x/"), Run::Value(Source::User), text("!")]);
        check("{{seq}}{{uuid}}", &[Run::Value(Source::Seq), Run::Value(Source::Uuid)]);
        check("{{session}}", &[Run::Value(Source::Session)]);
        check("{{user.iteration}}", &[Run::Value(Source::Iteration)]);
        check("{{now}}", &[Run::Value(Source::Now)]);
        check("{{now.unix_s}}", &[Run::Value(Source::UnixSeconds)]);
        check("{{now.unix_ms}}", &[Run::Value(Source::UnixMillis)]);
        check("{{item_id}}", &[Run::Value(Source::Extracted(0))]);
        check("{{data.people.id}}{{data.items.id}}", &[cell(0, 0), cell(1, 0)]);
        check("{{data.mail}}{{ data.first name }}{{data.a.b}}", &[cell(0, 1), cell(1, 1), cell(1, 2)]);
        check("a {{vars.tenant}} b", &[text("a ac{{me}} b")]);
        check("\\{{seq}} and \\n", &[text("{{seq}} and \\n")]);
    }

    #[test]
    fn what_cannot_be_read_says_where_and_what_was_meant() {
        let check = |given: &str, range: &str, message: &str, suggestion: Option<&str>| {
            let error = Template::parse(given, &names()).unwrap_err();
            assert_eq!(&given[error.range.clone()], range, "{error}");
            assert!(error.message.contains(message), "{error}");
            assert_eq!(error.suggestion.as_deref(), suggestion, "{given}");
        };
        check("é {{ item_di }}", "item_di", "nothing defines 'item_di'", Some("item_id"));
        check("{{data.people.mial}}", "data.people.mial", "nothing defines", Some("data.people.mail"));
        check("{{vars.tennant}}", "vars.tennant", "nothing defines", Some("vars.tenant"));
        check("{{user.it}}", "user.it", "nothing defines", Some("user.id"));
        check("{{price}}", "price", "no step that extracts it", None);
        check("{{data.id}}", "data.id", "of 'people' or of 'items'", Some("data.people.id"));
        check("a {{seq", "{{seq", "has no '}}'", None);
        check("a {{  }} b", "{{  }}", "nothing is named", None);
        let none = Template::parse("{{data.x}}", &Names::new()).unwrap_err();
        assert!(none.to_string().contains("there is no data"), "{none}");
        let shown = Template::parse("{{sek}}", &names()).unwrap_err().to_string();
        assert!(shown.ends_with("; did you mean 'seq'?"), "{shown}");
    }

    #[test]
    fn names_that_cannot_be_given() {
        let mut names = Names::new();
        assert_eq!(names.extracted("a-1_B"), Ok(0));
        assert_eq!(names.extracted("b"), Ok(1));
        assert_eq!(names.extracted("a-1_B"), Ok(0));
        for bad in ["", "1a", "a.b", "a b", "é"] {
            assert_eq!(names.extracted(bad), Err(NameError::Spelling(bad.to_owned())));
            assert_eq!(names.constant(bad, "x"), Err(NameError::Spelling(bad.to_owned())));
        }
        let reserved = names.extracted("now").unwrap_err().to_string();
        assert_eq!(reserved, "'now' means something else in templates ({{now}}): choose another name");
    }

    #[test]
    fn secrets_do_not_show() {
        let template = Template::parse("Bearer hunter2 {{seq}}", &names()).unwrap();
        assert!(!format!("{template:?} {:?}", names()).contains("hunter2"));
        assert!(!format!("{:?}", names()).contains("ac{{me}}"));
    }
}
