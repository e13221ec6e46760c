//! Writes YAML in block style, so that any text comes back as it went in.
//!
//! A text stands plain where no reader of YAML 1.1 or 1.2 can take it for anything else, otherwise in double quotes on
//! one line. Deliberately absent: anchors, tags, folded and literal blocks, flow style but for what is empty.

use std::fmt::Write as _;

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Yaml {
    /// Written as it is: a number, `true`, `null`, or a word that is known to be plain.
    Plain(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Yaml>),
    /// A mapping.
    Map(Map),
}

/// A mapping: its entries in order. Nobody checks that its keys differ.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Map(Vec<Entry>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    comments: Vec<String>,
    key: String,
    value: Yaml,
}

impl Map {
    /// Without entries.
    pub fn new() -> Map {
        Map::default()
    }

    /// Appends an entry.
    pub fn push(&mut self, key: impl Into<String>, value: Yaml) {
        self.commented(Vec::new(), key, value);
    }

    /// Appends an entry with comments above it, one line each.
    pub fn commented(&mut self, comments: Vec<String>, key: impl Into<String>, value: Yaml) {
        self.0.push(Entry { comments, key: key.into(), value });
    }

    /// Appends the entries of another mapping, with their comments.
    pub fn append(&mut self, mut other: Map) {
        self.0.append(&mut other.0);
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many keys and values there are, itself and lists included.
    pub fn count(&self) -> usize {
        1 + self.0.iter().map(|entry| 1 + entry.value.count()).sum::<usize>()
    }

    /// The text of a file that holds this.
    pub fn document(&self) -> String {
        let mut out = String::new();
        map(self, 0, "", &mut out);
        out
    }
}

impl Yaml {
    /// A word or number that needs no quotes.
    pub fn plain(text: impl ToString) -> Yaml {
        Yaml::Plain(text.to_string())
    }

    /// How many keys and values there are, itself included.
    fn count(&self) -> usize {
        match self {
            Yaml::Plain(_) | Yaml::Text(_) => 1,
            Yaml::List(items) => 1 + items.iter().map(Yaml::count).sum::<usize>(),
            Yaml::Map(map) => map.count(),
        }
    }

    /// Text that may be anything.
    pub fn text(text: impl Into<String>) -> Yaml {
        Yaml::Text(text.into())
    }
}

/// A comment: its lines with their marks, each broken into several where it is long.
pub fn comment(text: &str, indent: usize, out: &mut String) {
    const WIDTH: usize = 110;
    for line in text.lines() {
        let lead = line.len() - line.trim_start().len();
        let mut column = 0;
        for word in line.split_whitespace() {
            let word: String = word.chars().map(|c| if printable(c) { c } else { '?' }).collect();
            let len = word.chars().count();
            if column > 0 && column + 1 + len > WIDTH {
                out.push('\n');
                column = 0;
            }
            if column == 0 {
                let _ = write!(out, "{:indent$}# {:lead$}{word}", "", "");
                column = indent + 2 + lead + len;
            } else {
                let _ = write!(out, " {word}");
                column += 1 + len;
            }
        }
        if column == 0 {
            let _ = write!(out, "{:indent$}#", "");
        }
        out.push('\n');
    }
}

/// Entries at that indentation; `first` stands before the key of the first in place of it.
fn map(map: &Map, indent: usize, first: &str, out: &mut String) {
    for (i, entry) in map.0.iter().enumerate() {
        let dashed = i == 0 && !first.is_empty();
        for text in &entry.comments {
            comment(text, if dashed { indent.saturating_sub(2) } else { indent }, out);
        }
        if dashed {
            out.push_str(first);
        } else {
            let _ = write!(out, "{:indent$}", "");
        }
        scalar(&entry.key, out);
        out.push(':');
        value(&entry.value, indent, out);
    }
}

/// What follows a colon.
fn value(yaml: &Yaml, indent: usize, out: &mut String) {
    match yaml {
        Yaml::List(items) if !items.is_empty() => {
            out.push('\n');
            list(items, indent + 2, out);
        }
        Yaml::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            map(entries, indent + 2, "", out);
        }
        other => {
            out.push(' ');
            small(other, out);
            out.push('\n');
        }
    }
}

fn list(items: &[Yaml], indent: usize, out: &mut String) {
    for item in items {
        match item {
            Yaml::Map(entries) if !entries.is_empty() => {
                map(entries, indent + 2, &format!("{:indent$}- ", ""), out);
            }
            Yaml::List(inner) if !inner.is_empty() => {
                let _ = writeln!(out, "{:indent$}-", "");
                list(inner, indent + 2, out);
            }
            other => {
                let _ = write!(out, "{:indent$}- ", "");
                small(other, out);
                out.push('\n');
            }
        }
    }
}

/// What fits on one line.
fn small(yaml: &Yaml, out: &mut String) {
    match yaml {
        Yaml::Plain(word) => out.push_str(word),
        Yaml::Text(text) => scalar(text, out),
        Yaml::List(_) => out.push_str("[]"),
        Yaml::Map(_) => out.push_str("{}"),
    }
}

fn scalar(text: &str, out: &mut String) {
    if is_plain(text) { out.push_str(text) } else { quoted(text, out) }
}

/// Whether nothing but this text can be read from the bare text.
fn is_plain(text: &str) -> bool {
    /// What YAML 1.1 or 1.2, or some reader of them, takes for something other than text.
    const WORDS: &[&str] =
        &["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];
    is_measure(text)
        || text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || " /_.-?=&%+,;@*():".contains(c))
            && !text.ends_with([' ', ':'])
            && !text.contains(": ")
            && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// Whether it is a number with a unit, which no reader takes for a number.
fn is_measure(text: &str) -> bool {
    const UNITS: &[&str] = &["/s", "/1m", "ns", "us", "ms", "s", "m", "h", "B", "KiB", "MiB", "GiB"];
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let whole = number.starts_with(|c: char| c.is_ascii_digit()) && number.matches('.').count() < 2;
    whole && UNITS.contains(&unit)
}

/// A double-quoted scalar on one line.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if printable(c) => out.push(c),
            _ => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
}

/// Whether a character may stand in a file of YAML as it is, and shows.
fn printable(c: char) -> bool {
    let code = u32::from(c);
    !c.is_control()
        && !matches!(code, 0x2028 | 0x2029 | 0xfeff | 0x200b..=0x200f | 0x202a..=0x202e | 0x2066..=0x2069)
        // Not characters (Unicode, 23.7): the last two of every plane and U+FDD0 to U+FDEF.
        && code & 0xfffe != 0xfffe
        && !(0xfdd0..=0xfdef).contains(&code)
}

#[cfg(test)]
mod tests;
