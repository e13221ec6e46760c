//! `${NAME}` in the texts of a scenario: the value of an environment variable. `${NAME:-default}` is the default where the
//! variable is not set or empty, as in a shell. `$${` stands for `${` itself.
//!
//! The values of variables whose names say that they are secrets are remembered, so that nothing shows them.

use super::source::Problem;
use super::tree::Scalar;
use crate::redact::{Place, Redactor};
use headway_base::units::nearest;

/// Environment variables, and which secrets were taken from them.
pub(super) struct Environment<'a> {
    get: &'a dyn Fn(&str) -> Option<String>,
    /// What hides values that must not show.
    pub redactor: Redactor,
    /// Names that were found, for "did you mean", and their values.
    known: Vec<(String, String)>,
    /// Names whose defaults were taken, and the defaults.
    defaults: Vec<(String, String)>,
}

/// A text with values of the environment in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Expanded {
    /// As it is.
    pub text: String,
    /// As a template: braces in the values are no references.
    pub template: String,
}

impl Expanded {
    fn push_written(&mut self, text: &str) {
        self.text.push_str(text);
        self.template.push_str(text);
    }

    fn push_value(&mut self, value: &str) {
        self.text.push_str(value);
        self.template.push_str(&value.replace("{{", "\\{{"));
    }
}

impl<'a> Environment<'a> {
    pub fn new(get: &'a dyn Fn(&str) -> Option<String>, redactor: Redactor) -> Environment<'a> {
        Environment { get, redactor, known: Vec::new(), defaults: Vec::new() }
    }

    /// The text with its references replaced, or none where it has none.
    pub fn expand(&mut self, scalar: &Scalar) -> Result<Option<Expanded>, Problem> {
        let text = scalar.text.as_str();
        if !text.contains("${") {
            return Ok(None);
        }
        let mut out = Expanded::default();
        let mut at = 0;
        while let Some(found) = text[at..].find("${") {
            let open = at + found;
            if text[at..open].ends_with('$') {
                out.push_written(&text[at..open - 1]);
                out.push_written("${");
                at = open + 2;
                continue;
            }
            out.push_written(&text[at..open]);
            let help = "${NAME} is the value of an environment variable, ${NAME:-x} has the default x; write $${ where ${ itself is meant";
            let Some(length) = text[open..].find('}') else {
                return Err(
                    Problem::new(scalar.part(open..open + 2), "the } of this ${ is missing").help(help)
                );
            };
            let reference = &text[open + 2..open + length];
            let (name, default) = match reference.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (reference, None),
            };
            let place = scalar.part(open..open + length + 1);
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(letter) || name.starts_with(|c: char| c.is_ascii_digit())
            {
                let title = format!("'{name}' is no name of an environment variable");
                return Err(Problem::new(place, title).help(help));
            }
            out.push_value(&self.value_or(name, default).ok_or_else(|| {
                let title = format!("the environment variable {name} is not set");
                let guess = nearest(name, self.known.iter().map(|(name, _)| name.as_str()));
                Problem::new(place, title).guess(guess).help(format!(
                    "set it, as in {name}=... headway run FILE, or write a default: ${{{name}:-...}}"
                ))
            })?);
            at = open + length + 1;
        }
        out.push_written(&text[at..]);
        Ok(Some(out))
    }

    /// The value of a variable, or the default where it is not set or empty.
    fn value_or(&mut self, name: &str, default: Option<&str>) -> Option<String> {
        let Some(default) = default else { return self.value(name) };
        if let Some(value) = self.value(name).filter(|value| !value.is_empty()) {
            return Some(value);
        }
        if self.redactor.names().has(Place::Variable, name) {
            self.redactor.know(default);
        }
        self.defaults.push((name.to_owned(), default.to_owned()));
        Some(default.to_owned())
    }

    fn value(&mut self, name: &str) -> Option<String> {
        let value = (self.get)(name)?;
        if self.redactor.names().has(Place::Variable, name) {
            self.redactor.know(&value);
        }
        if !self.known.iter().any(|(known, _)| known == name) {
            self.known.push((name.to_owned(), value.clone()));
        }
        Some(value)
    }

    /// Adds names of secrets, and knows the values that were taken under them already.
    pub fn hide_names(&mut self, added: &[String]) {
        self.redactor.add_names(added);
        for (name, value) in self.known.iter().chain(&self.defaults) {
            if self.redactor.names().has(Place::Variable, name) {
                self.redactor.know(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Span;
    use crate::scenario::tree::Typed;

    fn expanded(text: &str) -> Result<Option<String>, String> {
        let get = |name: &str| match name {
            "HOST" | "DB_PASSWORD" => Some(format!("<{name}>")),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let span = Span { start: 0, end: text.len() };
        let scalar = Scalar {
            text: text.to_owned(),
            typed: Typed::Text,
            span,
            lines: vec![(0, 0)],
            template: None,
            raw: None,
        };
        let expanded = Environment::new(&get, Redactor::default()).expand(&scalar);
        expanded.map(|e| e.map(|e| e.text)).map_err(|p| p.title)
    }

    #[test]
    fn references_are_replaced_and_others_left() {
        assert_eq!(expanded("a $b {c} $"), Ok(None));
        assert_eq!(expanded("http://${HOST}/${HOST}"), Ok(Some("http://<HOST>/<HOST>".to_owned())));
        assert_eq!(expanded("$${HOST} $$${HOST}"), Ok(Some("${HOST} $${HOST}".to_owned())));
        assert!(expanded("${NONE}").unwrap_err().contains("NONE is not set"));
        for bad in ["${", "${}", "${a-b}", "${1}", "${HOST", "${:-x}", "${HOST:x}"] {
            assert!(expanded(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_default_stands_in_for_a_variable_that_is_unset_or_empty() {
        let of = |text: &str| expanded(text).map(Option::unwrap_or_default);
        assert_eq!(of("${NONE:-a:-b}/${HOST:-x}"), Ok("a:-b/<HOST>".to_owned()));
        assert_eq!(of("a${NONE:-}b${EMPTY:-c}"), Ok("abc".to_owned()));
        assert_eq!(of("[${EMPTY}]"), Ok("[]".to_owned()));
        let mut environment = Environment::new(&|_| None, Redactor::default());
        for (name, default) in [("API_TOKEN", "abc-1"), ("DOOR", "def-2"), ("HOST", "ghi-3")] {
            assert_eq!(environment.value_or(name, Some(default)).as_deref(), Some(default));
        }
        assert_eq!(environment.redactor.hide("abc-1 def-2 ghi-3"), "<redacted> def-2 ghi-3");
        environment.hide_names(&["door".to_owned()]);
        assert_eq!(environment.redactor.hide("abc-1 def-2 ghi-3"), "<redacted> <redacted> ghi-3");
    }

    #[test]
    fn secrets_are_known_by_their_names_also_where_they_are_named_late() {
        let get = |name: &str| Some(format!("value-of-{name}"));
        let mut environment = Environment::new(&get, Redactor::default());
        for name in ["API_TOKEN", "DOOR", "HOST"] {
            environment.value(name);
        }
        let text = "value-of-API_TOKEN value-of-DOOR value-of-HOST";
        assert_eq!(environment.redactor.hide(text), "<redacted> value-of-DOOR value-of-HOST");
        environment.hide_names(&["door".to_owned()]);
        assert_eq!(environment.redactor.hide(text), "<redacted> <redacted> value-of-HOST");
    }
}
