//! JSON pointers (RFC 6901), and finding what many of them point to in one pass over a text.
//!
//! No document is built: the parser walks the text, skips everything that was not asked for, and hands out the text of the rest.

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    text: String,
    tokens: Vec<String>,
}

/// What is no JSON pointer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PointerError {
    /// It does not begin with a slash.
    #[error("'{0}' is no JSON pointer: write for example /items/0/id, or \"\" for the whole document")]
    NoSlash(String),
    /// A tilde that escapes nothing.
    #[error("'{0}' is no JSON pointer: after ~ comes 0 (for ~) or 1 (for /)")]
    Tilde(String),
}

impl Pointer {
    /// Reads a pointer.
    ///
    /// # Errors
    /// What is none.
    pub fn parse(text: &str) -> Result<Pointer, PointerError> {
        if text.is_empty() {
            return Ok(Pointer { text: String::new(), tokens: Vec::new() });
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(PointerError::NoSlash(text.to_owned()));
        };
        let tokens = rest.split('/').map(unescape).collect::<Option<Vec<String>>>();
        match tokens {
            Some(tokens) => Ok(Pointer { text: text.to_owned(), tokens }),
            None => Err(PointerError::Tilde(text.to_owned())),
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.text.is_empty() { "\"\"" } else { &self.text })
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut out = String::with_capacity(token.len());
    let mut parts = token.split('~');
    out.push_str(parts.next()?);
    for part in parts {
        match part.as_bytes().first() {
            Some(b'0') => out.push('~'),
            Some(b'1') => out.push('/'),
            _ => return None,
        }
        out.push_str(&part[1..]);
    }
    Some(out)
}

/// The pointers of a step as a tree; what number i points to goes into slot i.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tree {
    root: Branch,
    slots: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Branch {
    /// Slots that want what is here.
    wanted: Vec<usize>,
    children: Vec<(Token, Branch)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Token {
    name: String,
    /// As an index into an array, if it can be one.
    index: Option<usize>,
}

/// What the pointers of a tree point to in a text: its JSON, by slot.
pub(super) type Found<'t> = Vec<Option<&'t str>>;

impl Tree {
    /// Adds a pointer; the answer is its slot.
    pub(super) fn add(&mut self, pointer: &Pointer) -> usize {
        let mut branch = &mut self.root;
        for name in &pointer.tokens {
            let at = branch.children.iter().position(|(token, _)| token.name == *name);
            let at = at.unwrap_or_else(|| {
                branch.children.push((Token { name: name.clone(), index: index(name) }, Branch::default()));
                branch.children.len() - 1
            });
            branch = &mut branch.children[at].1;
        }
        branch.wanted.push(self.slots);
        self.slots += 1;
        self.slots - 1
    }

    /// Reads a whole text.
    ///
    /// # Errors
    /// It is not JSON.
    pub(super) fn find<'t>(&self, text: &'t [u8]) -> Result<Found<'t>, serde_json::Error> {
        let mut found = vec![None; self.slots];
        let mut parser = serde_json::Deserializer::from_slice(text);
        Walk { branch: &self.root, found: &mut found }.deserialize(&mut parser)?;
        parser.end()?;
        Ok(found)
    }
}

/// RFC 6901, 4: digits without leading zeros.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { token.parse().ok() } else { None }
}

/// The text that a JSON string says; anything else is its own text.
pub(super) fn said(raw: &str) -> Cow<'_, str> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        None => Cow::Borrowed(raw),
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        Some(_) => Cow::Owned(serde_json::from_str(raw).unwrap_or_default()),
    }
}

/// One value of the text and the branch of the tree that is about it.
struct Walk<'b, 'f, 't> {
    branch: &'b Branch,
    found: &'f mut Found<'t>,
}

impl<'t> DeserializeSeed<'t> for Walk<'_, '_, 't> {
    type Value = ();

    #[inline]
    fn deserialize<D: serde::Deserializer<'t>>(self, parser: D) -> Result<(), D::Error> {
        if self.branch.wanted.is_empty() {
            return parser.deserialize_any(self);
        }
        let raw = <&RawValue as serde::Deserialize>::deserialize(parser)?.get();
        for &slot in &self.branch.wanted {
            self.found[slot] = Some(raw);
        }
        if self.branch.children.is_empty() {
            return Ok(());
        }
        // Somebody wants a part of it, too.
        serde_json::Deserializer::from_str(raw).deserialize_any(self).map_err(D::Error::custom)
    }
}

impl<'t> Visitor<'t> for Walk<'_, '_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(Key(self.branch))? {
            match child {
                Some(branch) => map.next_value_seed(Walk { branch, found: self.found })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut seq: A) -> Result<(), A::Error> {
        for at in 0.. {
            let child = self.branch.children.iter().find(|(token, _)| token.index == Some(at));
            let more = match child {
                Some((_, branch)) => seq.next_element_seed(Walk { branch, found: self.found })?.is_some(),
                None => seq.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The branch of the tree that the name of a member leads to.
struct Key<'b>(&'b Branch);

impl<'t, 'b> DeserializeSeed<'t> for Key<'b> {
    type Value = Option<&'b Branch>;
    #[inline]
    fn deserialize<D: serde::Deserializer<'t>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<'b> Visitor<'_> for Key<'b> {
    type Value = Option<&'b Branch>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }
    #[inline]
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.children.iter().find(|(token, _)| token.name == name).map(|(_, branch)| branch))
    }
}

#[cfg(test)]
mod tests;
