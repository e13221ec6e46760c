//! What must not stand in a file that goes into a repository: it becomes variables of the environment, and the user is
//! told which. Their names say that they are secrets, so that a run never shows their values.

use super::Text;
use headway_workload::redact::{Place, SecretNames};

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
    /// The value of a header; none if it is no secret.
    pub(super) fn header(&mut self, header: &str, value: &str) -> Option<Text> {
        (SecretNames::default().has(Place::Header, header) && !value.is_empty())
            .then(|| self.variable(header, value, &format!("the value of the header {header}")))
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
