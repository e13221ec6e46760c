//! Lines that are JSON objects, cut like rows: columns are keys, of objects inside with a dot between them.

use super::spec::{Column, Part, Spec, wrong};
use super::table::{NONE, Places};
use crate::Error;
use crate::lines::{Cells, Fields};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::io::Write as _;

/// Takes what stands under some keys out of an object, without a tree of it.
#[derive(Default)]
pub(super) struct Objects {
    wanted: Vec<Wanted>,
    /// The way to the value that is being read.
    path: String,
    cells: Cells,
}

/// A key, the column that its value makes, and the value. Of several keys of one column the first that is there counts.
struct Wanted {
    key: String,
    column: usize,
    value: Vec<u8>,
}

impl Objects {
    /// Of the keys that a layout names; two columns for each part.
    pub(super) fn new(spec: &Spec) -> Result<(Objects, Places), Error> {
        let mut wanted = Vec::new();
        let mut want = |key: &str, column: usize| {
            wanted.push(Wanted { key: key.to_owned(), column, value: Vec::new() });
        };
        let places = Places::of(spec, |i, part: &Part| match &part.column {
            Column::Number(_) => {
                Err(wrong(&part.text, "a key: the file has JSON objects, whose columns have no numbers"))
            }
            Column::Name(name) => {
                want(name, 2 * i);
                if let Some((first, second)) = name.split_once('+').filter(|_| part.key.takes_two()) {
                    want(first, 2 * i);
                    want(second, 2 * i + 1);
                    return Ok([2 * i, 2 * i + 1]);
                }
                name.split('|').filter(|key| key != name).for_each(|key| want(key, 2 * i));
                Ok([2 * i, NONE])
            }
        })?;
        Ok((Objects { wanted, ..Objects::default() }, places))
    }

    /// The columns of a line, empty where a key is not there; none if it is no object.
    pub(super) fn cut<'s>(&'s mut self, line: &'s [u8]) -> Option<Fields<'s>> {
        self.wanted.iter_mut().for_each(|wanted| wanted.value.clear());
        self.path.clear();
        if line.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        let walk = Walk { path: &mut self.path, wanted: &mut self.wanted };
        walk.deserialize(&mut json).and_then(|()| json.end()).ok()?;
        self.cells.clear();
        let columns = self.wanted.last().map_or(0, |wanted| wanted.column + 1);
        for column in 0..columns {
            let mut values = self.wanted.iter().filter(|wanted| wanted.column == column);
            let value = values.find(|wanted| !wanted.value.is_empty());
            self.cells.push(value.map_or(&[][..], |wanted| &wanted.value));
        }
        Some(self.cells.fields(line))
    }
}

/// Whether the line is an object that has all of these.
pub(super) fn has(line: &[u8], keys: &[&str]) -> bool {
    let under = |object: &Map<String, Value>, key: &str| {
        let mut path = key.split('.');
        let first = path.next().and_then(|key| object.get(key));
        path.try_fold(first, |value, key| Some(value?.get(key))).flatten().is_some()
    };
    serde_json::from_slice::<Map<String, Value>>(line)
        .is_ok_and(|object| keys.iter().all(|key| under(&object, key)))
}

/// Reads the value at the end of a path.
struct Walk<'w> {
    path: &'w mut String,
    wanted: &'w mut [Wanted],
}

impl Walk<'_> {
    fn keep(&mut self, write: impl Fn(&mut Vec<u8>)) {
        self.wanted.iter_mut().filter(|wanted| wanted.key == *self.path).for_each(|w| {
            w.value.clear();
            write(&mut w.value);
        });
    }

    fn number(&mut self, number: impl fmt::Display) {
        // Nothing fails to be written to memory.
        self.keep(|value| drop(write!(value, "{number}")));
    }

    /// Whether what stands at the path, or below it, is wanted.
    fn leads(&self) -> bool {
        self.wanted.iter().any(|wanted| {
            let rest = wanted.key.strip_prefix(&*self.path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let above = self.path.len();
        while map.next_key_seed(KeyAt(&mut *self.path))?.is_some() {
            let walk = Walk { path: &mut *self.path, wanted: &mut *self.wanted };
            if walk.leads() {
                map.next_value_seed(walk)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.path.truncate(above);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.keep(|value| value.extend_from_slice(text.as_bytes()));
        Ok(())
    }

    fn visit_bool<E>(mut self, is: bool) -> Result<(), E> {
        self.number(is);
        Ok(())
    }

    fn visit_u64<E>(mut self, n: u64) -> Result<(), E> {
        self.number(n);
        Ok(())
    }

    fn visit_i64<E>(mut self, n: i64) -> Result<(), E> {
        self.number(n);
        Ok(())
    }

    fn visit_f64<E>(mut self, n: f64) -> Result<(), E> {
        // The shortest digits, chosen as in the rest of JSON where two are as short.
        if let Some(n) = Number::from_f64(n) {
            self.number(n);
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Adds a key to the path.
struct KeyAt<'w>(&'w mut String);

impl<'de> DeserializeSeed<'de> for KeyAt<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyAt<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        if !self.0.is_empty() {
            self.0.push('.');
        }
        self.0.push_str(key);
        Ok(())
    }
}
