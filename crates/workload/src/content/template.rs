//! Text with values in it: `"/items/{{id}}?page={{seq}}"`.
//!
//! Reading resolves names to numbers; what a value becomes where it goes is [`super::encode`]'s, and is settled when
//! the template is put into a step.

use super::encode::Encoding;
use super::names::{Named, Names};
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
        let mut template = Template::default();
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
                Ok(Named::Constant(value)) => template.push_text(value),
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
        let mut template = Template::default();
        template.push_text(text);
        template
    }

    /// Whether it is the same text always.
    pub fn is_fixed(&self) -> bool {
        self.runs.iter().all(|run| matches!(run, Run::Text(_)))
    }

    fn push_text(&mut self, text: &str) {
        match self.runs.last_mut() {
            _ if text.is_empty() => {}
            Some(Run::Text(last)) => last.push_str(text),
            _ => self.runs.push(Run::Text(text.to_owned())),
        }
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
