//! Where secrets stand in URLs: user and password, parameters with names of secrets, fragments.

use super::is_reference;
use super::names::{Place, SecretNames};
use super::scan;
use super::views;
use std::borrow::Cow;
use std::ops::Range;

/// A text is looked for within percent escapes of percent escapes to this depth.
const MOST_ESCAPED: usize = 5;

/// Where secrets stand in a text that is a URL, with or without its scheme, or a path.
pub(super) fn whole(text: &str, names: &SecretNames) -> Vec<Range<usize>> {
    whole_at(text, names, 0)
}

/// The same, of a text that is the inside of so many escaped ones.
fn whole_at(text: &str, names: &SecretNames, depth: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let is_scheme = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let scheme = text.find("://").filter(|&at| is_scheme(&text[..at])).map_or(0, |at| at + 3);
    found.extend(user_and_password(text, scheme));
    // A parameter may be a URL.
    let within = text[scheme..].match_indices("://").map(|(at, mark)| scheme + at + mark.len());
    found.extend(within.filter_map(|at| user_and_password(text, at)));
    let fragment = text.find('#').unwrap_or(text.len());
    found.extend(parameters(text, scheme..fragment, |_| false, names));
    found.extend(within_escapes(&text[..fragment], names, depth));
    if fragment < text.len() {
        found.push(fragment + 1..text.len());
    }
    found
}

/// Where secrets stand in what is written with percent escapes: in a URL that is a parameter of another, for example.
fn within_escapes(text: &str, names: &SecretNames, depth: usize) -> Vec<Range<usize>> {
    if depth == MOST_ESCAPED {
        return Vec::new();
    }
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(c, '/' | '?' | '&' | '=' | '#' | ';' | '"' | '<' | '>' | '`' | '\\' | '\'')
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(escape) = text[at..].find('%').map(|i| at + i) {
        let start = text[at..escape].rfind(ends).map_or(at, |i| {
            let of = at + i;
            of + text[of..].chars().next().map_or(1, char::len_utf8)
        });
        let end = text[escape..].find(ends).map_or(text.len(), |i| escape + i);
        if let Some(view) = views::of_percent(&text[start..end]) {
            let inner = scan::foreign_at(view.text(), names, depth + 1);
            found.extend(
                inner.into_iter().map(|range| view.place(range)).map(|r| r.start + start..r.end + start),
            );
        }
        at = end;
    }
    found
}

/// Where the values of a URL's query stand, whatever their names; what has no name is a value.
pub(super) fn of_query(text: &str) -> Vec<Range<usize>> {
    let Some(mut at) = text.find('?').map(|mark| mark + 1) else { return Vec::new() };
    let end = text.find('#').unwrap_or(text.len()).max(at);
    let mut found = Vec::new();
    for pair in text[at..end].split('&') {
        let value = at + pair.find('=').map_or(0, |sign| sign + 1);
        at += pair.len();
        if value < at {
            found.push(value..at);
        }
        at += 1;
    }
    found
}

/// User and password of the authority that begins at `start`.
fn user_and_password(text: &str, start: usize) -> Option<Range<usize>> {
    let end = text[start..].find(['/', '?', '#']).map_or(text.len(), |i| start + i);
    text[start..end].rfind('@').map(|at| start..start + at)
}

/// Where secrets stand in the URLs, and in parameters of paths, within a text, which is the inside of so many escaped ones.
pub(super) fn in_text(text: &str, names: &SecretNames, depth: usize) -> Vec<Range<usize>> {
    let outside = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | '\\' | '\'');
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(scheme) = text[at..].find("://").map(|i| at + i) {
        let start =
            text[..scheme].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c)).len();
        let end = text[scheme..].find(outside).map_or(text.len(), |i| scheme + i);
        found.extend(
            whole_at(&text[start..end], names, depth).into_iter().map(|r| r.start + start..r.end + start),
        );
        at = end.max(scheme + 3);
    }
    found.extend(parameters(text, 0..text.len(), outside, names));
    found.extend(within_escapes(text, names, depth));
    found
}

/// Values of parameters whose names say that they are secrets: after `?`, `&`, `;` or `#` a name, `=`, and what follows.
fn parameters(
    text: &str,
    within: Range<usize>,
    outside: impl Fn(char) -> bool,
    names: &SecretNames,
) -> Vec<Range<usize>> {
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.$[]%~".contains(c);
    let mut found = Vec::new();
    let mut at = within.start;
    while let Some(mark) = text[at..within.end].find(['?', '&', ';', '#']).map(|i| at + i) {
        at = mark + 1;
        // In HTML an & is written &amp;.
        let start = if text[mark..].starts_with("&amp;") { mark + 5 } else { mark + 1 };
        let Some(rest) = text.get(start..within.end) else { continue };
        let name = &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())];
        if name.is_empty() || !rest[name.len()..].starts_with('=') || !names.has(Place::Query, &decoded(name))
        {
            continue;
        }
        let value = start + name.len() + 1;
        // A parameter of a part of the path ends with that part.
        let of_path = text[mark..].starts_with(';') && !text[within.start..mark].contains('?');
        let ends = |c: char| outside(c) || (of_path && matches!(c, '?' | '/'));
        let end = end_of_value(&text[value..within.end], ends).map_or(within.end, |i| value + i);
        if !is_reference(&text[value..end]) {
            found.push(value..end);
        }
        at = end;
    }
    found
}

/// A semicolon ends a value only where another parameter follows.
fn end_of_value(text: &str, outside: impl Fn(char) -> bool) -> Option<usize> {
    let is_next = |rest: &str| {
        let name = rest.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c));
        name.is_some_and(|end| end > 0 && rest[end..].starts_with('='))
    };
    text.char_indices()
        .find(|&(i, c)| matches!(c, '&' | '#') || outside(c) || (c == ';' && is_next(&text[i + 1..])))
        .map(|(i, _)| i)
}

/// A text with its percent escapes read.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes.get(i + 1..i + 3).filter(|_| bytes[i] == b'%');
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[i]));
        i += if byte.is_some() { 3 } else { 1 };
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}
