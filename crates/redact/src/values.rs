//! A value that is a secret, in every form in which it may appear.

use super::{SHORT, SHORTEST};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::ops::Range;

/// A text that is hidden wherever it appears.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Known {
    text: String,
    /// Whether only where no letter or digit stands beside it.
    as_word: bool,
}

impl Known {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Where it stands in a text.
    pub(super) fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let found = text.match_indices(self.text.as_str()).map(|(at, found)| at..at + found.len());
        found.filter(|at| !self.as_word || (begins_word(&text[..at.start]) && ends_word(&text[at.end..])))
    }
}

fn ends_word(after: &str) -> bool {
    !after.starts_with(char::is_alphanumeric)
}

/// What is escaped before a word is not part of it: `%3D`, `\n`, `\u003d`.
fn begins_word(before: &str) -> bool {
    if !before.ends_with(char::is_alphanumeric) {
        return true;
    }
    let ends_with_hex = |digits: usize, lead: &str| {
        let cut = before.len().checked_sub(digits).filter(|&cut| before.is_char_boundary(cut));
        cut.is_some_and(|cut| {
            before[..cut].ends_with(lead) && before[cut..].bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let escape = ["\\n", "\\r", "\\t", "\\b", "\\f"].iter().any(|escape| before.ends_with(escape));
    escape || ends_with_hex(2, "%") || ends_with_hex(4, "\\u")
}

/// The forms of a value: as it is, in a URL, a form, JSON, HTML and Base64.
pub(super) fn forms(value: &str) -> Vec<Known> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = html.replace('"', "&quot;").replace('\'', "&#39;");
    let lower = percent(value, |byte| format!("%{byte:02x}"));
    let percent = percent(value, |byte| format!("%{byte:02X}"));
    let form = percent.replace("%20", "+");
    let plain = value.chars().count() < SHORT || value.chars().all(|c| c.is_alphabetic());
    let mut forms = vec![
        value.to_owned(),
        value.escape_debug().to_string(),
        json.replace('/', "\\/"),
        json,
        html,
        quoted,
        lower,
        percent,
        form,
    ];
    forms.sort();
    forms.dedup();
    let mut known: Vec<Known> = forms
        .into_iter()
        .filter(|text| text.chars().count() >= SHORTEST)
        .map(|text| Known { text, as_word: plain })
        .collect();
    known.extend(in_base64(value).into_iter().map(|text| Known { text, as_word: false }));
    known
}

/// All but unreserved characters (RFC 3986, 2.3) escaped.
fn percent(value: &str, escaped: impl Fn(u8) -> String) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&escaped(byte)),
        }
    }
    out
}

/// What all Base64 texts with the value in them have in common: it begins at one of three places in a group.
fn in_base64(value: &str) -> Vec<String> {
    if value.len() < SHORT {
        return Vec::new();
    }
    let mut all = Vec::new();
    for before in 0..3 {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(value.bytes()).collect();
        // Characters that depend on what stands beside the value are left out.
        let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = engine.encode(&bytes);
            all.extend(text.get(from..to).map(str::to_owned));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// The text that a Base64 word stands for.
pub(super) fn from_base64(word: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(word).ok()?).ok()
}

/// The text that stands so in a JSON string.
pub(super) fn from_json(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}
