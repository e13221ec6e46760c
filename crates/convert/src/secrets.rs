//! What must not stand in a file that goes into a repository: it becomes variables of the environment, and the user is
//! told which. Their names say that they are secrets, so that a run never shows their values.

use super::Text;
use headway_workload::redact::{Place, Redactor, SecretNames};
use std::ops::Range;

/// The secrets that were found, in order.
#[derive(Default)]
pub(super) struct Secrets(Vec<Secret>);

struct Secret {
    /// Of the variable.
    name: String,
    /// Name of the first of its kind, and what tells it from others of that kind.
    kind: String,
    key: String,
    /// What to set it to, for a person.
    about: String,
}

impl Secrets {
    /// The value of a header; none if it is no secret and holds none.
    pub(super) fn header(&mut self, header: &str, value: &str) -> Option<Text> {
        if SecretNames::default().has(Place::Header, header) && !value.is_empty() {
            return Some(self.variable(header, value, &format!("the value of the header {header}")));
        }
        let found = Redactor::default().named_in_header(value);
        self.without(header, value, found, &format!("the header {header}"))
    }

    /// The text, with a variable in the place of each secret that follows its name in it. `of` names its owner.
    pub(super) fn text(&mut self, kind: &str, text: &str, of: &str) -> Text {
        self.within(kind, text, of).unwrap_or_else(|| Text::literal(text))
    }

    /// What hides them in what is said of the scenario.
    pub(super) fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::default();
        self.0.iter().for_each(|secret| redactor.know(&secret.key));
        redactor
    }

    /// The text without its secrets, where secrets follow their names, as in the URL of a Referer; none if it has none. `of` names its owner.
    pub(super) fn within(&mut self, kind: &str, text: &str, of: &str) -> Option<Text> {
        self.without(kind, text, Redactor::default().named_in(text), of)
    }

    fn without(&mut self, kind: &str, text: &str, found: Vec<Range<usize>>, of: &str) -> Option<Text> {
        if found.is_empty() {
            return None;
        }
        let about = format!("a secret in {of}, as it stands there");
        let (mut out, mut at) = (Text::literal(""), 0);
        for range in found {
            let secret = self.variable(kind, &text[range.clone()], &about);
            out = out.and(&Text::literal(&text[at..range.start])).and(&secret);
            at = range.end;
        }
        Some(out.and(&Text::literal(&text[at..])))
    }

    /// The value of a field of a form, a query or a JSON body that [`is_secret_field`].
    pub(super) fn field(&mut self, field: &str, value: &str) -> Text {
        self.variable(field, value, &format!("the value of the field {field}"))
    }

    /// A variable named after `kind`, one for each `key`.
    pub(super) fn variable(&mut self, kind: &str, key: &str, about: &str) -> Text {
        let kind: String = kind
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let kind = kind.trim_matches('_').to_owned();
        if let Some(known) = self.0.iter().find(|s| s.kind == kind && s.key == key) {
            return Text::variable(&known.name);
        }
        let name = match self.0.iter().filter(|s| s.kind == kind).count() {
            0 => format!("HEADWAY_SECRET_{kind}"),
            n => format!("HEADWAY_SECRET_{kind}_{}", n + 1),
        };
        self.0.push(Secret { name: name.clone(), kind, key: key.to_owned(), about: about.to_owned() });
        Text::variable(&name)
    }

    /// Each variable and what to set it to.
    pub(super) fn told(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|s| (s.name.as_str(), s.about.as_str()))
    }
}

/// Whether a key of a JSON body, or a part of a multipart one, holds a secret.
pub(super) fn is_secret_field(name: &str) -> bool {
    SecretNames::default().has(Place::Field, name)
}

/// Whether a parameter of a URL, or a field of a form, holds a secret.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    SecretNames::default().has(Place::Query, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_secrets_share_a_variable_and_others_do_not() {
        let mut secrets = Secrets::default();
        let text = |text: Option<Text>| text.unwrap().as_str().to_owned();
        assert_eq!(text(secrets.header("Authorization", "a")), "${HEADWAY_SECRET_AUTHORIZATION}");
        assert_eq!(text(secrets.header("authorization", "b")), "${HEADWAY_SECRET_AUTHORIZATION_2}");
        assert_eq!(text(secrets.header("Authorization", "a")), "${HEADWAY_SECRET_AUTHORIZATION}");
        assert_eq!(text(secrets.header("X-Api-Key", "a")), "${HEADWAY_SECRET_X_API_KEY}");
        assert_eq!(secrets.header("Accept", "a"), None);
        assert_eq!(secrets.header("Cookie", ""), None);
        let told: Vec<_> = secrets.told().map(|(name, _)| name).collect();
        assert_eq!(
            told,
            ["HEADWAY_SECRET_AUTHORIZATION", "HEADWAY_SECRET_AUTHORIZATION_2", "HEADWAY_SECRET_X_API_KEY"]
        );
    }

    #[test]
    fn secrets_within_the_values_of_headers_are_variables() {
        let mut secrets = Secrets::default();
        for (value, made) in [
            ("https://a/x?token=t-1&y=2", "https://a/x?token=${HEADWAY_SECRET_REFERER}&y=2"),
            ("https://a/x?y=2#access_token=t-2", "https://a/x?y=2#${HEADWAY_SECRET_REFERER_2}"),
            ("https://me:pw@a/", "https://${HEADWAY_SECRET_REFERER_3}@a/"),
            (
                "https://a/?to=http://b/?api_key=t-1",
                "https://a/?to=http://b/?api_key=${HEADWAY_SECRET_REFERER}",
            ),
            ("see <https://a/?token=t-1> ${x}", "see <https://a/?token=${HEADWAY_SECRET_REFERER}> $${x}"),
        ] {
            assert_eq!(secrets.header("Referer", value).unwrap().as_str(), made, "{value}");
        }
        assert_eq!(secrets.header("Referer", "https://a/x?y=2"), None);
    }

    #[test]
    fn fields_are_known_by_their_names() {
        for name in ["password", "user[Password]", "api_key", "csrf_token", "client-secret", "PWD", "pass"] {
            assert!(is_secret_field(name) && is_secret_parameter(name), "{name}");
        }
        assert!(is_secret_parameter("code") && !is_secret_field("code"));
        for name in ["compass", "key", "passenger", "id", "author"] {
            assert!(!is_secret_field(name), "{name}");
        }
    }
}
