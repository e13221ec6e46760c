//! Which names say that their values are secrets: of headers, parameters, fields and variables.
//!
//! A name is compared without case and separators: `X-Api-Key`, `x_api_key` and `xApiKey` are one.

/// Where a name stands: some names are of secrets in one place only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A header.
    Header,
    /// A parameter of a URL, or a field of a form.
    Query,
    /// A key of JSON, an element or attribute of XML, a cookie, a column of data.
    Field,
    /// A variable of the environment or of a scenario.
    Variable,
}

/// A name that holds one of these is of a secret.
const WITHIN: &[&str] = &[
    "passw",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "subscriptionkey",
    "authkey",
    "signingkey",
    "sharedkey",
    "masterkey",
    "encryptionkey",
    "authorization",
    "credential",
    "signature",
    "cookie",
    "jwt",
    "sessionid",
    "sessid",
    "sessionkey",
    "csrf",
    "xsrf",
    "codeverifier",
    "samlresponse",
    "assertion",
];
/// These names are of secrets as a whole.
const WHOLE: &[&str] =
    &["pwd", "pass", "pw", "pin", "otp", "totp", "sig", "sid", "auth", "dpop", "hmac", "bearer", "passkey"];
/// As [`WHOLE`], in a URL or a form alone: elsewhere they are codes of states and keys of maps.
const IN_QUERIES: &[&str] = &["code", "key", "session", "ticket"];
/// Parts of the names of headers, between separators, that say it too.
const IN_HEADERS: &[&str] = &["auth", "authentication", "session", "key", "dpop", "jwt"];
/// Last parts of the names of variables that say it too.
const ENDS_OF_VARIABLES: &[&str] =
    &["password", "passwd", "passphrase", "pass", "key", "credentials", "auth"];
/// Names that would be of secrets by the lists above, and are not.
const HARMLESS: &[&str] = &[
    "tokentype",
    "tokenurl",
    "tokenuri",
    "tokenendpoint",
    "tokencount",
    "tokenizer",
    "maxtokens",
    "mintokens",
    "maxnewtokens",
    "maxoutputtokens",
    "maxcompletiontokens",
    "prompttokens",
    "completiontokens",
    "inputtokens",
    "outputtokens",
    "totaltokens",
    "numtokens",
    "passwordless",
    "idempotencykey",
    "secwebsocketkey",
    "cachekey",
    "surrogatekey",
    "partitionkey",
    "sortkey",
    "cookiepolicy",
    "cookieconsent",
    "wwwauthenticate",
    "proxyauthenticate",
    "signatureinput",
    "signaturemethod",
    "xamzsignedheaders",
    "accesscontrolallowcredentials",
    "withcredentials",
    "secretary",
];

/// The list of names, and those that the user has added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SecretNames {
    added: Vec<String>,
}

impl SecretNames {
    /// The list, and these names too.
    pub fn with(added: &[String]) -> SecretNames {
        let mut names = SecretNames::default();
        names.add(added);
        names
    }

    /// Adds names.
    pub(super) fn add(&mut self, added: &[String]) {
        self.added.extend(added.iter().map(|name| joined(name)).filter(|name| !name.is_empty()));
    }

    /// Whether the values of that name are secrets.
    pub fn has(&self, place: Place, name: &str) -> bool {
        let whole = joined(name);
        // Of `user[password]` and `login.password` the last part counts as well.
        let last =
            joined(name.trim_end_matches([']', '"']).rsplit(['[', '.', ':', '/']).next().unwrap_or(name));
        [whole, last].iter().any(|name| self.added.contains(name)) || is_listed(place, name)
    }
}

/// Whether the list has a name.
fn is_listed(place: Place, name: &str) -> bool {
    let whole = joined(name);
    let last = joined(name.trim_end_matches([']', '"']).rsplit(['[', '.', ':', '/']).next().unwrap_or(name));
    // PWD is the shell's own folder.
    if HARMLESS.iter().any(|known| whole.ends_with(known)) || (place == Place::Variable && name == "PWD") {
        return false;
    }
    if WITHIN.iter().any(|part| whole.contains(part))
        || [&whole, &last].iter().any(|n| WHOLE.contains(&n.as_str()))
    {
        return true;
    }
    match place {
        Place::Header => parts(name).any(|part| IN_HEADERS.contains(&part.as_str())),
        Place::Query => [&whole, &last].iter().any(|n| IN_QUERIES.contains(&n.as_str())),
        Place::Variable => {
            name.to_ascii_lowercase().ends_with("_pwd")
                || ENDS_OF_VARIABLES.iter().any(|end| whole.ends_with(end))
        }
        Place::Field => false,
    }
}

/// A name without case and separators.
fn joined(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The parts of a name between separators.
fn parts(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_their_variants_and_places() {
        let names = SecretNames::default();
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "Set-Cookie",
            "X-Api-Key",
            "api-key",
            "X-Auth-Token",
            "DPoP",
            "X-CSRF-Token",
            "X-Goog-Signature",
            "Ocp-Apim-Subscription-Key",
            "X-Session-Id",
            "session",
            "X-Session",
            "X-Auth",
            "X-Functions-Key",
            "Client-Secret",
            "X-Amz-Security-Token",
            "X-Hub-Signature-256",
            "x_api_key",
            "X-Vault-Token",
        ] {
            assert!(names.has(Place::Header, name), "{name}");
        }
        for name in [
            "Accept",
            "Idempotency-Key",
            "Sec-WebSocket-Key",
            "ETag",
            "X-Request-Id",
            "WWW-Authenticate",
            "X-Author",
            "Keep-Alive",
            "Access-Control-Allow-Credentials",
            "X-Monkey",
            "X-Cache-Key",
            "Content-Type",
            "X-Compass",
        ] {
            assert!(!names.has(Place::Header, name), "{name}");
        }
        for name in [
            "token",
            "access_token",
            "api_key",
            "apikey",
            "password",
            "sig",
            "X-Amz-Signature",
            "client_secret",
            "code",
            "jwt",
            "key",
            "PHPSESSID",
            "JSESSIONID",
            "sid",
            "user[password]",
            "login.pwd",
            "refreshToken",
            "id_token",
            "csrf_token",
        ] {
            assert!(names.has(Place::Query, name), "{name}");
        }
        for name in [
            "q",
            "page",
            "status_code",
            "codec",
            "keyboard",
            "user[name]",
            "passenger",
            "author",
            "compass",
            "state",
        ] {
            assert!(!names.has(Place::Query, name), "{name}");
        }
        for name in
            ["password", "user[Password]", "client-secret", "PWD", "pass", "sessionId", "otp", "cookie"]
        {
            assert!(names.has(Place::Field, name), "{name}");
        }
        for name in [
            "code",
            "key",
            "compass",
            "passenger",
            "id",
            "author",
            "max_tokens",
            "token_type",
            "session",
            "status",
        ] {
            assert!(!names.has(Place::Field, name), "{name}");
        }
        for name in [
            "API_TOKEN",
            "DB_PASSWORD",
            "PASS",
            "AWS_SECRET_ID",
            "OPENAI_API_KEY",
            "db_pwd",
            "X_API_KEY",
            "BASIC_AUTH",
        ] {
            assert!(names.has(Place::Variable, name), "{name}");
        }
        for name in ["HOST", "PWD", "KEYS_PER_USER", "HOME", "AUTH_HOST"] {
            assert!(!names.has(Place::Variable, name), "{name}");
        }
    }

    #[test]
    fn a_user_adds_names() {
        let names = SecretNames::with(&["door".to_owned(), "X-Room Number".to_owned()]);
        for (place, name) in
            [(Place::Query, "DOOR"), (Place::Header, "x-room-number"), (Place::Field, "house[door]")]
        {
            assert!(names.has(place, name), "{name}");
            assert!(!SecretNames::default().has(place, name), "{name}");
        }
        assert!(!names.has(Place::Field, "indoor"));
    }
}
