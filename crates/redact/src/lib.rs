//! The gate through which all text passes that is shown or written: it hides secrets.
//!
//! A [`Redactor`] knows names of secrets ([`SecretNames`]) and values that are secrets. Known values are hidden wherever they
//! appear, as they are and as URLs, forms, JSON, HTML and Base64 have them. After names it hides what follows them: in URLs, and
//! in text that came from elsewhere.
//!
//! A value shorter than [`SHORTEST`] characters is hidden after its name alone: to hide every "1" would leave no report readable.
//! One of letters alone, or shorter than [`SHORT`], is hidden where it stands as a word.
//!
//! Text that has passed is of a type of its own ([`Cleared`]), which is made here alone. That is why the gate is a crate.

mod cleared;
mod names;
mod scan;
mod urls;
mod values;
mod views;

pub use cleared::{Cleared, clear};
pub use names::{Place, SecretNames};

use std::borrow::Cow;
use std::ops::Range;
use values::Known;

/// What stands in the place of a secret.
pub const REDACTED: &str = "<redacted>";

/// Characters of the shortest value that is hidden wherever it appears.
pub const SHORTEST: usize = 3;

/// A value of fewer characters is hidden only where it stands as a word.
pub const SHORT: usize = 8;

/// Schemes of the Authorization header, which are no secrets.
const SCHEMES: &[&str] =
    &["basic", "bearer", "digest", "dpop", "token", "apikey", "negotiate", "aws4-hmac-sha256"];

/// Whether a word is a scheme of the Authorization header.
pub fn is_scheme(word: &str) -> bool {
    SCHEMES.contains(&word.to_ascii_lowercase().as_str())
}

/// Hides secrets in text.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Redactor {
    names: SecretNames,
    known: Vec<Known>,
    shows_all: bool,
}

impl Redactor {
    /// One that knows the list of names, these additional names, and no values yet.
    pub fn new(names: SecretNames) -> Redactor {
        Redactor { names, ..Redactor::default() }
    }

    /// One that hides nothing.
    pub fn showing_all() -> Redactor {
        Redactor { shows_all: true, ..Redactor::default() }
    }

    /// Whether it hides nothing.
    pub fn shows_all(&self) -> bool {
        self.shows_all
    }

    /// Whether values of that name are hidden.
    pub fn hides(&self, place: Place, name: &str) -> bool {
        !self.shows_all && self.names.has(place, name)
    }

    /// The names that it knows.
    pub fn names(&self) -> &SecretNames {
        &self.names
    }

    /// Adds names of secrets.
    pub fn add_names(&mut self, added: &[String]) {
        self.names.add(added);
    }

    /// Hides this value wherever it appears, from now on; unless it is shorter than [`SHORTEST`], or stands for a value to come.
    pub fn know(&mut self, value: &str) {
        let value = value.trim();
        if is_reference(value)
            || value.chars().count() < SHORTEST
            || REDACTED.contains(value)
            || is_word(value)
        {
            return;
        }
        for known in values::forms(value) {
            if !self.known.contains(&known) {
                self.known.push(known);
            }
        }
    }

    /// Hides the value of a header, from now on, if its name says that it is a secret: all of it, and what follows the scheme; of
    /// cookies each.
    pub fn know_header(&mut self, name: &str, value: &str) {
        if !self.names.has(Place::Header, name) {
            return self.know_text(value);
        }
        self.know(value);
        for word in value.split([' ', ';', ',']).map(str::trim) {
            let of_name = word.split_once('=').map_or(word, |(_, value)| value.trim_matches('"'));
            if !is_scheme(word) {
                self.know(word);
                self.know(if of_name.is_empty() { word } else { of_name });
                self.know_basic(word);
            }
        }
    }

    /// Hides, from now on, what a value holds that is no secret by its own name: credentials after a scheme, and what follows names of
    /// secrets in it.
    pub fn know_text(&mut self, value: &str) {
        if let Some(place) = scan::after_scheme(value) {
            self.know(&value[place.clone()]);
            self.know_basic(&value[place]);
        }
        self.know_in(value);
    }

    /// User and password of Basic credentials.
    fn know_basic(&mut self, word: &str) {
        let pair = values::from_base64(word);
        if let Some(pair) = pair.as_deref().filter(|pair| pair.contains(':')) {
            self.know_credentials(pair);
        }
    }

    /// Hides, from now on, `user:password` and the password. A name of letters alone is hidden in its URL and nowhere else, for it may be
    /// any word of a sentence; another may be a token, and is hidden everywhere.
    fn know_credentials(&mut self, pair: &str) {
        let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
        if !password.is_empty() {
            self.know(pair);
            self.know(password);
        }
        if user.chars().any(|c| !c.is_alphabetic()) {
            self.know(user);
        }
    }

    /// Hides, from now on, the values of a URL or path that are secrets.
    pub fn know_url(&mut self, url: &str) {
        let sent = url.split('#').next().unwrap_or_default();
        let fragment = &url[sent.len()..];
        for range in urls::in_text(fragment, &self.names, 0) {
            self.know(&fragment[range]);
        }
        for range in urls::whole(sent, &self.names) {
            let is_of_user = sent[range.end..].starts_with('@');
            let value = &sent[range];
            for text in [value, &urls::decoded(value)] {
                if is_of_user {
                    self.know_credentials(text);
                } else {
                    text.split(':').chain([text]).for_each(|part| self.know(part));
                }
            }
        }
    }

    /// Hides, from now on, each value of the query of a URL, whatever its name.
    pub fn know_query(&mut self, url: &str) {
        for range in urls::of_query(url) {
            self.know(&url[range.clone()]);
            self.know(&urls::decoded(&url[range].replace('+', " ")));
        }
    }

    /// Hides, from now on, the values in a text that follow names of secrets: of a body, for example.
    pub fn know_in(&mut self, text: &str) {
        for range in scan::foreign(text, &self.names) {
            let value = text[range].to_owned();
            self.know(&value);
            self.know(&urls::decoded(&value.replace('+', " ")));
            self.know(&values::from_json(&value));
        }
    }

    /// Hides, from now on, the values in a line of a file, of YAML for example, that stand behind names of secrets.
    pub fn know_line(&mut self, line: &str) {
        if let Some((name, value)) = line.split_once([':', '=']) {
            let name = name.trim().trim_start_matches("- ").trim_matches(['"', '\'', ' ']);
            let named = [Place::Field, Place::Header, Place::Variable]
                .iter()
                .any(|place| self.names.has(*place, name));
            if named && !name.is_empty() {
                self.know(value.trim().trim_matches(['"', '\'']));
                self.know_header("Authorization", value);
            }
        }
        // What follows a scheme alone as well.
        for range in scan::foreign(line, &self.names) {
            self.know_header("Authorization", &line[range]);
        }
        self.know_in(line);
    }

    /// One of this program's own sentences, or a label: without known values, without the secrets of URLs in it, and without what shows
    /// by itself that it is one (credentials after a scheme, tokens, private keys).
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without(text, |text| [urls::in_text(text, &self.names, 0), scan::unnamed(text)].concat())
    }

    /// The same, as text that may be written.
    pub fn clear(&self, text: &str) -> Cleared {
        Cleared::passed(self.hide(text))
    }

    /// A text that came from elsewhere, as [`hide_foreign`](Redactor::hide_foreign) has it, as text that may be written.
    pub fn clear_foreign(&self, text: &str) -> Cleared {
        Cleared::passed(self.hide_foreign(text))
    }

    /// A URL, as [`hide_url`](Redactor::hide_url) has it, as text that may be written.
    pub fn clear_url(&self, url: &str) -> Cleared {
        Cleared::passed(self.hide_url(url))
    }

    /// Whether [`hide`](Redactor::hide) would hide anything of a text, if it hid anything at all.
    pub fn finds(&self, text: &str) -> bool {
        self.known.iter().any(|known| known.places(text).next().is_some())
            || !urls::in_text(text, &self.names, 0).is_empty()
            || !scan::unnamed(text).is_empty()
    }

    /// A text that came from elsewhere: without known values, and without what follows names of secrets.
    pub fn hide_foreign<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without(text, |text| scan::foreign(text, &self.names))
    }

    /// Where a text that came from elsewhere holds secrets after their names: what [`hide_foreign`](Redactor::hide_foreign) hides but
    /// for known values. Bytes, in order, not overlapping.
    pub fn named_in(&self, text: &str) -> Vec<Range<usize>> {
        scan::foreign(text, &self.names)
    }

    /// Where the value of a header that is no secret by its name holds secrets: as [`named_in`](Redactor::named_in), and the
    /// credentials after a scheme (`Bearer x`).
    pub fn named_in_header(&self, value: &str) -> Vec<Range<usize>> {
        let mut found = scan::foreign(value, &self.names);
        found.extend(scan::after_scheme(value));
        scan::in_order(found)
    }

    /// A URL or a path, with or without its scheme.
    pub fn hide_url<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without(text, |text| urls::whole(text, &self.names))
    }

    /// A URL of a place that takes keys under any name: of its query only the names are left.
    pub fn hide_query<'t>(&self, url: &'t str) -> Cow<'t, str> {
        self.without(url, |url| [urls::whole(url, &self.names), urls::of_query(url)].concat())
    }

    /// The value of a header.
    pub fn hide_header<'t>(&self, name: &str, value: &'t str) -> Cow<'t, str> {
        match self.hides(Place::Header, name) && !value.is_empty() {
            true => Cow::Borrowed(REDACTED),
            // Credentials are some under any name.
            false => self.without(value, |value| {
                let mut found = scan::foreign(value, &self.names);
                found.extend(scan::after_scheme(value));
                found
            }),
        }
    }

    /// Bytes of the longest text that is hidden wherever it appears.
    pub fn longest(&self) -> usize {
        self.known.iter().map(Known::len).max().unwrap_or(0)
    }

    fn without<'t>(&self, text: &'t str, named: impl FnOnce(&'t str) -> Vec<Range<usize>>) -> Cow<'t, str> {
        if self.shows_all {
            return Cow::Borrowed(text);
        }
        let mut found = named(text);
        found.extend(self.known.iter().flat_map(|known| known.places(text)));
        let found = scan::in_order(found);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for range in found {
            out.push_str(&text[at..range.start]);
            out.push_str(REDACTED);
            at = range.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }
}

/// Whether a value is a word that no report could do without: the name of a field, or a value of no content.
fn is_word(value: &str) -> bool {
    let names = SecretNames::default();
    let plain = value.chars().all(char::is_lowercase) && value.len() <= 12;
    (plain && names.has(Place::Query, value)) || matches!(value, "null" | "none" | "true" | "false")
}

/// Values do not show.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("names", &self.names)
            .field("known", &self.known.len())
            .field("shows_all", &self.shows_all)
            .finish()
    }
}

/// Whether a value is nothing but the name of one to come (`{{name}}`, `${NAME}`), perhaps after a scheme, or is hidden already.
fn is_reference(value: &str) -> bool {
    let value = value.trim();
    let value = match value.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) => rest.trim(),
        _ => value,
    };
    let within = |open: &str, close: &str| {
        let inner = value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(|inner| !inner.contains(close))
    };
    value == REDACTED || within("{{", "}}") || within("${", "}") || within("%7B%7B", "%7D%7D")
}

#[cfg(test)]
mod tests;
