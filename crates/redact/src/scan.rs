//! Where secrets stand in a text: in URLs, and after names of secrets in JSON, forms, XML, multipart bodies and lines of
//! headers, whole or cut off.

use super::names::{Place, SecretNames};
use super::{is_reference, is_scheme};
use super::{urls, views};
use std::ops::Range;

/// A run of characters that may be a name: `X-Api-Key`, `user[password]`, `a%5Bb%5D`.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '[' | ']' | '%')
}

/// Where secrets stand in a text that came from elsewhere: a body, an answer, a page of an error. In order, not overlapping.
pub(super) fn foreign(text: &str, names: &SecretNames) -> Vec<Range<usize>> {
    foreign_at(text, names, 0)
}

/// The same, of a text that is the inside of so many escaped ones.
pub(super) fn foreign_at(text: &str, names: &SecretNames, depth: usize) -> Vec<Range<usize>> {
    let mut found = as_written(text, names, depth);
    if let Some(view) = views::of_letters(text) {
        found.extend(as_written(view.text(), names, depth).into_iter().map(|range| view.place(range)));
    }
    in_order(found)
}

fn as_written(text: &str, names: &SecretNames, depth: usize) -> Vec<Range<usize>> {
    let mut found = urls::in_text(text, names, depth);
    found.extend(unnamed(text));
    let mut at = 0;
    while let Some(start) = text[at..].find(is_of_name).map(|i| at + i) {
        let end = text[start..].find(|c| !is_of_name(c)).map_or(text.len(), |i| start + i);
        let mut next = end;
        if is_secret(text, start..end, names)
            && let Some(value) = value_of(text, start..end)
        {
            // What stands in the value is not looked at again.
            next = value.end.max(end);
            found.push(value);
        }
        at = next;
    }
    found
}

/// What is a secret whatever it is called.
pub(super) fn unnamed(text: &str) -> Vec<Range<usize>> {
    let mut found = private_keys(text);
    let mut at = 0;
    while let Some(start) = text[at..].find(is_of_name).map(|i| at + i) {
        let end = text[start..].find(|c| !is_of_name(c)).map_or(text.len(), |i| start + i);
        found.extend(json_web_token(text, start..end));
        found.extend(credentials(text, start..end));
        at = end;
    }
    found
}

/// What stands between the first and the last line of private keys in PEM.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(label) = text[at..].find(BEGIN).map(|i| at + i + BEGIN.len()) {
        at = label;
        let Some(start) = text[label..].find("-----").map(|i| label + i) else { break };
        if text[label..start].contains("PRIVATE KEY") {
            let start = start + "-----".len();
            // Without its last line the rest may be of it, unless a sentence goes on.
            let goes_on =
                !text[start..].starts_with(|c: char| c.is_ascii_alphanumeric() || "+/\\\r\n ".contains(c));
            let rest = if goes_on { start } else { text.len() };
            at = text[start..].find("-----END").map_or(rest, |i| start + i);
            if at > start {
                found.push(start..at);
            }
        }
    }
    found
}

/// The credentials that are the value of a header after a scheme, whatever they look like: `Bearer x`.
pub(super) fn after_scheme(value: &str) -> Option<Range<usize>> {
    let (scheme, rest) = value.trim_end().split_once([' ', '\t'])?;
    let word = rest.trim_start();
    let start = scheme.len() + 1 + rest.len() - word.len();
    let of_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    (is_scheme(scheme) && !word.is_empty() && word.chars().all(of_token)).then(|| start..start + word.len())
}

/// The credentials after a word that is a scheme of them, where they are no words of a sentence: they are all that is left of a
/// value, or long, and not of small letters alone.
fn credentials(text: &str, scheme: Range<usize>) -> Option<Range<usize>> {
    if !["bearer", "basic", "dpop", "negotiate"]
        .iter()
        .any(|known| text[scheme.clone()].eq_ignore_ascii_case(known))
    {
        return None;
    }
    let rest = text[scheme.end..].trim_start_matches([' ', '\t']);
    let start = text.len() - rest.len();
    let of_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    let word = &rest[..rest.find(|c| !of_token(c)).unwrap_or(rest.len())];
    let (after, word) = (&rest[word.len()..], word.trim_end_matches('.'));
    let before = text[..scheme.start].trim_end_matches([' ', '\t']);
    let is_value = before.is_empty() || before.ends_with([':', '=', '"', '\'', '\n']);
    let whole = is_value && (after.is_empty() || after.starts_with(['"', '\'', '\r', '\n', '\\', '<']));
    let is_parameter = word.ends_with('=') && after.starts_with('"');
    let is_word = word.chars().all(|c| c.is_ascii_lowercase());
    (start > scheme.end && !word.is_empty() && !is_word && !is_parameter && (whole || word.len() >= 8))
        .then(|| start..start + word.len())
}

/// Ranges in order, those that overlap as one, without empty ones.
pub(super) fn in_order(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.retain(|range| !range.is_empty());
    found.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match out.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

fn is_secret(text: &str, name: Range<usize>, names: &SecretNames) -> bool {
    let written = urls::decoded(&text[name.clone()]);
    if names.has(Place::Field, &written) || (written.contains('-') && names.has(Place::Header, &written)) {
        return true;
    }
    // Of a form; what follows & and ? is looked at as in a URL.
    name.start == 0 && text[name.end..].starts_with('=') && names.has(Place::Query, &written)
}

/// A token of RFC 7519: two or three parts in base64url, the first of which begins as `{"` does.
fn json_web_token(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let start = word.start + text[word.clone()].find("eyJ")?;
    let end = text[start..].find(|c| !of_token(c)).map_or(text.len(), |i| start + i);
    let mut parts = text[start..end].split('.');
    let long = |part: Option<&str>| part.is_some_and(|part| part.len() >= 8);
    (long(parts.next()) && long(parts.next())).then_some(start..end)
}

/// The value that follows a name, if one does.
fn value_of(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (&text[..name.start], &text[name.end..]);
    if before.ends_with('<') || (before.ends_with(':') && is_prefixed(before)) {
        return element(text, name.end);
    }
    let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        // An attribute without quotes, or a member of YAML in braces: `{ key: token, value: x }`.
        let beside_it = before.ends_with('=') && is_in_tag(before)
            || before.trim_end_matches(' ').ends_with(':') && is_in_braces(before);
        if beside_it && says_what_is_beside(before) {
            return beside(text, before, name.end);
        }
        return separated(text, name.end, false).or_else(|| quoted_after(text, name));
    };
    // The closing quote, with the backslashes of JSON within JSON.
    let close = name.end + after.len() - after.trim_start_matches('\\').len();
    // A quotation that goes on after the name: `begins with "password=x"`.
    let Some(rest) = text[close..].strip_prefix(quote) else { return separated(text, name.end, false) };
    let at = text.len() - rest.len();
    if says_what_is_beside(before) { beside(text, before, at) } else { separated(text, at, true) }
}

/// What a sentence quotes after a name: `wrong password "x"`.
fn quoted_after(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let said =
        text[..name.start].trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    // A complaint of a parser.
    if ["unexpected", "illegal", "syntax"].iter().any(|of| said.eq_ignore_ascii_case(of)) {
        return None;
    }
    let rest = text[name.end..].strip_prefix(' ')?.trim_start_matches(' ');
    let word = rest.trim_start_matches('\\');
    let slashes = rest.len() - word.len();
    let quote = word.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let start = text.len() - word.len() + 1;
    let found = start..closing(text, start, quote, slashes);
    (found.end < text.len() && !is_reference(&text[found.clone()])).then_some(found)
}

/// Whether a text ends within the tag of an element.
fn is_in_tag(before: &str) -> bool {
    before.rfind('<').is_some_and(|open| !before[open..].contains('>'))
}

/// Whether a text ends within braces that are no template.
fn is_in_braces(before: &str) -> bool {
    before
        .rfind('{')
        .is_some_and(|open| !before[open..].contains('}') && !before[..open].ends_with(['{', '$']))
}

/// Whether the text ends with `<prefix:`.
fn is_prefixed(before: &str) -> bool {
    let prefix = &before[..before.len() - 1];
    let bare = prefix.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    bare.len() < prefix.len() && bare.ends_with('<')
}

/// The text of the XML element whose name ends at `at`.
fn element(text: &str, at: usize) -> Option<Range<usize>> {
    let open = at + text[at..].find('>')?;
    if text[..open].ends_with('/') {
        return None;
    }
    let end = text[open..].find("</").map_or(text.len(), |i| open + i);
    Some(open + 1..end)
}

/// What follows `:`, `=` or `=>` at `at`.
fn separated(text: &str, at: usize, quoted: bool) -> Option<Range<usize>> {
    let blank = |c: char| matches!(c, ' ' | '\t') || (quoted && matches!(c, '\r' | '\n'));
    let rest = text[at..].trim_start_matches(blank);
    let (rest, colon) = match rest.strip_prefix(':') {
        Some(rest) if rest.starts_with("//") => return None,
        Some(rest) => (rest, true),
        None => (rest.strip_prefix("=>").or_else(|| rest.strip_prefix('='))?, false),
    };
    let rest = rest.trim_start_matches(blank);
    let start = text.len() - rest.len();
    let slashes = rest.len() - rest.trim_start_matches('\\').len();
    match rest[slashes..].chars().next()? {
        quote @ ('"' | '\'') => {
            let begin = start + slashes + 1;
            let found = begin..closing(text, begin, quote, slashes);
            // What an answer will give is no secret yet.
            (!is_reference(&text[found.clone()])).then_some(found)
        }
        '{' | '[' if quoted && !rest.starts_with("{{") => Some(start..balanced(text, start)),
        _ if quoted => {
            let end =
                rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | '"' | '\\' | '<'));
            let found = start..end.map_or(text.len(), |i| start + i);
            let word = &text[found.clone()];
            (!matches!(word, "null" | "true" | "false") && !rest.starts_with("{{")).then_some(found)
        }
        _ if colon => {
            let name = text[..at].rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
            // A header has a line to itself; elsewhere the sentence goes on.
            let whole = name.contains('-') || SPACED.iter().any(|known| name.eq_ignore_ascii_case(known));
            let ends =
                |c: char| matches!(c, '\r' | '\n' | '<' | '"') || (!whole && (c.is_whitespace() || c == ','));
            let end = rest.find(ends).map_or(text.len(), |i| start + i);
            (!is_reference(&text[start..end])).then_some(start..end)
        }
        _ => {
            let ends = |c: char| c.is_whitespace() || matches!(c, '&' | ',' | '"' | '\'' | '<' | '>' | ')');
            let end = rest.find(ends).map_or(text.len(), |i| start + i);
            // As in a list of cookies; within a value it is part of that.
            let end = start + text[start..end].trim_end_matches(';').len();
            (!is_reference(&text[start..end])).then_some(start..end)
        }
    }
}

/// Headers of one word whose values hold spaces.
const SPACED: &[&str] = &["authorization", "cookie", "signature", "dpop"];

/// Where the string that begins at `start`, after a quote with that many backslashes before it, ends.
fn closing(text: &str, start: usize, quote: char, slashes: usize) -> usize {
    let mut before = 0;
    for (i, c) in text[start..].char_indices() {
        // At the top an even number of backslashes escapes itself; within another string all of them belong to the quote.
        if c == quote && (if slashes == 0 { before % 2 == 0 } else { before == slashes }) {
            return start + i - if slashes == 0 { 0 } else { before };
        }
        before = if c == '\\' { before + 1 } else { 0 };
    }
    text.len()
}

/// The end of the brackets that open at `start`.
fn balanced(text: &str, start: usize) -> usize {
    let (mut depth, mut within, mut escaped) = (0_u32, false, false);
    for (i, c) in text[start..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = within,
            '"' => within = !within,
            '{' | '[' if !within => depth += 1,
            '}' | ']' if !within => {
                depth -= 1;
                if depth == 0 {
                    return start + i + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Attributes and keys that say what stands beside them, under another.
const NAMING: &[&str] = &["name", "key", "field", "param", "parameter", "header", "variable", "property"];
/// Attributes of an element that say it too.
const NAMING_IN_TAGS: &[&str] = &["id", "type", "itemprop"];

/// Whether what stands before a word says that the word is the name of what is beside it: `name="`, `"key": "`, `name=`.
fn says_what_is_beside(before: &str) -> bool {
    let quotes = ['"', '\'', '\\'];
    let key = before.trim_end_matches(quotes).trim_end_matches([' ', '\t']);
    let Some(key) = key.strip_suffix([':', '=']) else { return false };
    let key = key.trim_end_matches([' ', '\t']).trim_end_matches(quotes);
    let written = key.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
    NAMING.iter().any(|of| written.ends_with(of))
        || (is_in_tag(before) && NAMING_IN_TAGS.contains(&written.as_str()))
}

/// The value of what is called so by an attribute or key `name`: of an HTML field, a part of a multipart body, or
/// `{"name": "token", "value": "x"}`. `at` is behind the name's closing quote.
fn beside(text: &str, before: &str, at: usize) -> Option<Range<usize>> {
    let part = before.rfind('\n').map_or(before, |line| &before[line..]).to_ascii_lowercase();
    if part.contains("form-data") {
        let blank =
            ["\r\n\r\n", "\n\n"].iter().filter_map(|blank| Some(at + text[at..].find(blank)? + blank.len()));
        let start = blank.min()?;
        let end = ["\r\n--", "\n--"].iter().filter_map(|end| Some(start + text[start..].find(end)?)).min();
        return Some(start..end.unwrap_or(text.len()));
    }
    // In the same tag or object, before or behind the name.
    let from = before.rfind(['<', '{']).unwrap_or(0);
    let to = text[at..].find(['>', '}']).map_or(text.len(), |i| at + i);
    for key in ["value", "content"] {
        let mut start = from;
        while let Some(found) = text[start..to].find(key).map(|i| start + i) {
            let end = found + key.len();
            let rest = text[end..to].trim_start_matches('\\').trim_start_matches(['"', '\'']);
            // What has no quotes ends with the tag.
            let value = separated(text, to - rest.len(), true);
            if let Some(value) = value
                .map(|v| if v.start <= to && !is_quoted(text, v.start) { v.start..v.end.min(to) } else { v })
            {
                return Some(value);
            }
            start = end;
        }
    }
    None
}

/// Whether a quote stands before a place.
fn is_quoted(text: &str, at: usize) -> bool {
    text[..at].ends_with(['"', '\''])
}
