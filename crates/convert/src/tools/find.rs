//! The options among the words of a tool's command, by the tool's own rules.

use super::{Meaning, Row, Style, Tool};
use crate::curl::Means;
use anyhow::{Result, bail};

/// A word of a command.
pub(crate) enum Word<'a> {
    /// An option.
    Option(Found<'a>),
    /// Anything else: a URL, a script.
    Other(&'a [u8]),
}

/// An option as it was found.
pub(crate) struct Found<'a> {
    /// As typed, with its dashes.
    pub(crate) name: String,
    /// What it is.
    pub(crate) row: &'static Row,
    /// Its value: of a switch only what stood behind an equals sign.
    pub(crate) value: Option<&'a [u8]>,
}

/// A switch of curl that is turned off.
static TURNED_OFF: Row = Row::new("", "no-", "", "a switch turned off", Meaning::Curl(Means::Ignored));

/// The options and other words after the program and its verb, in order.
///
/// # Errors
/// An option that the tool does not have as far as is known here, or one without its value.
pub(crate) fn find<'a>(tool: &'static Tool, words: &'a [Vec<u8>]) -> Result<Vec<Word<'a>>> {
    let mut found = Vec::new();
    let mut rest = words.iter();
    let mut only_others = false;
    while let Some(word) = rest.next() {
        if only_others || !word.starts_with(b"-") || word == b"-" {
            found.push(Word::Other(word));
            continue;
        }
        if word == b"--" {
            only_others = true;
            continue;
        }
        let mut take = |name: &str, row: &'static Row| match (row.takes_value(), rest.next_if(row)) {
            (true, None) => bail!("{name} of {} needs a value, and the command ends there", tool.name),
            (_, value) => Ok(value),
        };
        let shown = String::from_utf8_lossy(word).into_owned();
        let is_long = shown.starts_with("--") || matches!(tool.style, Style::Go | Style::Names);
        if is_long {
            let equals = word.iter().position(|&b| b == b'=').filter(|_| tool.style != Style::Curl);
            let name = String::from_utf8_lossy(&word[..equals.unwrap_or(word.len())]).into_owned();
            let row = long(tool, &name)?;
            let value = match equals {
                Some(at) => Some(&word[at + 1..]),
                None => take(&name, row)?,
            };
            found.push(Word::Option(Found { name, row, value }));
            continue;
        }
        // Several in one word, the last perhaps with its value behind it.
        for (at, &letter) in word.iter().enumerate().skip(1) {
            let name = format!("-{}", char::from(letter));
            let Some(row) = tool.option(&name) else {
                bail!("{name} (in {}) is no option of {} that is known here", hidden(&shown, at), tool.name);
            };
            if at + 1 < word.len() && (row.takes_value() || word[at + 1] == b'=') {
                let behind = &word[at + 1..];
                let value = match tool.style {
                    Style::Curl => behind,
                    _ => behind.strip_prefix(b"=").unwrap_or(behind),
                };
                found.push(Word::Option(Found { name, row, value: Some(value) }));
                break;
            }
            let value = take(&name, row)?;
            found.push(Word::Option(Found { name, row, value }));
        }
    }
    Ok(found)
}

/// The next word, where one belongs to the option.
trait NextIf<'a> {
    fn next_if(&mut self, row: &Row) -> Option<&'a [u8]>;
}

impl<'a> NextIf<'a> for std::slice::Iter<'a, Vec<u8>> {
    fn next_if(&mut self, row: &Row) -> Option<&'a [u8]> {
        if row.takes_value() { self.next().map(Vec::as_slice) } else { None }
    }
}

/// A word as far as the letter that is unknown: what follows may be a secret.
fn hidden(shown: &str, at: usize) -> String {
    let end = at + 1;
    match shown.get(..end) {
        Some(start) if end < shown.len() => format!("{start}..."),
        _ => shown.to_owned(),
    }
}

fn long(tool: &'static Tool, name: &str) -> Result<&'static Row> {
    if let Some(row) = tool.option(name) {
        return Ok(row);
    }
    let bare = name.trim_start_matches('-');
    if tool.style == Style::Curl {
        // One that does nothing here does not do it either way.
        let positive = bare.strip_prefix("no-").and_then(|name| tool.option(&format!("--{name}")));
        if positive.is_some_and(|row| !row.takes_value()) {
            return Ok(&TURNED_OFF);
        }
        if bare.split_once('=').is_some_and(|(name, _)| tool.option(&format!("--{name}")).is_some()) {
            bail!("{name}: curl takes the value as a word of its own, without =");
        }
    }
    let bare = bare.split('=').next().unwrap_or(bare);
    let guess = headway_base::units::nearest(bare, tool.rows().map(|row| row.long).filter(|l| !l.is_empty()));
    let dashes = if tool.style == Style::Go { "-" } else { "--" };
    let guess = guess.map_or_else(String::new, |guess| format!("; did you mean {dashes}{guess}?"));
    let name = name.split('=').next().unwrap_or(name);
    bail!("{name} is no option of {} that is known here{guess}", tool.name)
}
