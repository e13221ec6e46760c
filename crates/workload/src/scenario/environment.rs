//! `${NAME}` in the texts of a scenario: the value of an environment variable. `$${` stands for `${` itself.
//!
//! The values of variables whose names say that they are secrets are remembered, so that nothing shows them.

use super::source::Problem;
use super::tree::Scalar;
use crate::request::is_secret;
use base::units::nearest;

/// Environment variables, and which secrets were taken from them.
pub(super) struct Environment<'a> {
    get: &'a dyn Fn(&str) -> Option<String>,
    /// Values that must not show.
    pub secrets: Vec<String>,
    /// Names that were found, for "did you mean".
    known: Vec<String>,
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

/// Last parts of names of variables that hold secrets, besides those that [`is_secret`] knows.
const SECRET_ENDS: &[&str] = &["PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "KEY", "CREDENTIALS", "AUTH"];

/// Whether a variable of that name holds a secret.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_secret(&upper.replace('_', "-"))
        || SECRET_ENDS.iter().any(|end| upper.ends_with(end))
        || upper.ends_with("_PWD")
}

impl<'a> Environment<'a> {
    pub fn new(get: &'a dyn Fn(&str) -> Option<String>) -> Environment<'a> {
        Environment { get, secrets: Vec::new(), known: Vec::new() }
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
            let help = "${NAME} is the value of an environment variable; write $${ where ${ itself is meant";
            let Some(length) = text[open..].find('}') else {
                return Err(
                    Problem::new(scalar.part(open..open + 2), "the } of this ${ is missing").help(help)
                );
            };
            let name = &text[open + 2..open + length];
            let place = scalar.part(open..open + length + 1);
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(letter) || name.starts_with(|c: char| c.is_ascii_digit())
            {
                let title = format!("'{name}' is no name of an environment variable");
                return Err(Problem::new(place, title).help(help));
            }
            out.push_value(&self.value(name).ok_or_else(|| {
                let title = format!("the environment variable {name} is not set");
                let guess = nearest(name, self.known.iter().map(String::as_str));
                Problem::new(place, title)
                    .guess(guess)
                    .help(format!("set it, as in {name}=... headway run FILE"))
            })?);
            at = open + length + 1;
        }
        out.push_written(&text[at..]);
        Ok(Some(out))
    }

    fn value(&mut self, name: &str) -> Option<String> {
        let value = (self.get)(name)?;
        if is_secret_variable(name) {
            self.conceal(&value);
        }
        if !self.known.iter().any(|k| k == name) {
            self.known.push(name.to_owned());
        }
        Some(value)
    }

    /// Remembers a value that must not show. One or two characters are no secret, and to replace them would leave no
    /// message readable.
    pub fn conceal(&mut self, value: &str) {
        if value.trim().chars().count() > 2 && !self.secrets.iter().any(|s| s == value) {
            self.secrets.push(value.to_owned());
            // The longer first, so that a secret within another leaves nothing of it.
            self.secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Span;
    use crate::scenario::tree::Typed;

    fn expanded(text: &str) -> Result<Option<String>, String> {
        let get = |name: &str| (name == "HOST" || name == "DB_PASSWORD").then(|| format!("<{name}>"));
        let span = Span { start: 0, end: text.len() };
        let scalar =
            Scalar { text: text.to_owned(), typed: Typed::Text, span, lines: vec![(0, 0)], template: None };
        let expanded = Environment::new(&get).expand(&scalar);
        expanded.map(|e| e.map(|e| e.text)).map_err(|p| p.title)
    }

    #[test]
    fn references_are_replaced_and_others_left() {
        assert_eq!(expanded("a $b {c} $"), Ok(None));
        assert_eq!(expanded("http://${HOST}/${HOST}"), Ok(Some("http://<HOST>/<HOST>".to_owned())));
        assert_eq!(expanded("$${HOST} $$${HOST}"), Ok(Some("${HOST} $${HOST}".to_owned())));
        assert!(expanded("${NONE}").unwrap_err().contains("NONE is not set"));
        for bad in ["${", "${}", "${a-b}", "${1}", "${HOST"] {
            assert!(expanded(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in
            ["API_TOKEN", "DB_PASSWORD", "PASS", "AWS_SECRET_ID", "OPENAI_API_KEY", "db_pwd", "X_API_KEY"]
        {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["HOST", "PWD", "KEYS_PER_USER", "HOME"] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
