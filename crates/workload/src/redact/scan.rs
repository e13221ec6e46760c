//! Where secrets stand in a text: in URLs, and after names of secrets in JSON, forms, XML, multipart bodies and lines of
//! headers, whole or cut off.

use super::is_reference;
use super::names::{Place, SecretNames};
use super::urls;
use std::ops::Range;

/// A run of characters that may be a name: `X-Api-Key`, `user[password]`, `a%5Bb%5D`.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '[' | ']' | '%')
}

/// Where secrets stand in a text that came from elsewhere: a body, an answer, a page of an error. In order, not overlapping.
pub(super) fn foreign(text: &str, names: &SecretNames) -> Vec<Range<usize>> {
    let mut found = urls::in_text(text, names);
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
        found.extend(json_web_token(text, start..end));
        at = next;
    }
    in_order(found)
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
        return separated(text, name.end, false);
    };
    // The closing quote, with the backslashes of JSON within JSON.
    let close = name.end + after.len() - after.trim_start_matches('\\').len();
    let rest = text[close..].strip_prefix(quote)?;
    let at = text.len() - rest.len();
    if is_value_of_name(before) { beside(text, before, at) } else { separated(text, at, true) }
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

/// Whether what stands before a quote says that a name is in the quotes: `name="`, `"name": "`.
fn is_value_of_name(before: &str) -> bool {
    let quotes = ['"', '\'', '\\'];
    let key = before.trim_end_matches(quotes).trim_end_matches([' ', '\t']);
    let key =
        key.strip_suffix([':', '=']).map(|key| key.trim_end_matches([' ', '\t']).trim_end_matches(quotes));
    key.is_some_and(|key| key.to_ascii_lowercase().ends_with("name"))
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
    let mut start = from;
    while let Some(found) = text[start..to].find("value").map(|i| start + i) {
        let end = found + "value".len();
        let rest = text[end..to].trim_start_matches('\\').trim_start_matches(['"', '\'']);
        if let Some(value) = separated(text, to - rest.len(), true) {
            return Some(value);
        }
        start = end;
    }
    None
}
