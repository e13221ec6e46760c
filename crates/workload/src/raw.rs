//! A value of YAML or JSON as its parser hands it over: members in their order, also those that stand twice.
//!
//! For trees that serde does not fill by itself, because they keep places, order or digits: `V` is what a tree makes of a value
//! within another, `K` of a key. Deliberately absent: places, which are the business of `K` and `V`.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::fmt;
use std::marker::PhantomData;

/// A value.
#[derive(Debug)]
pub enum Raw<K, V> {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number that 64 bits hold.
    Number(Number),
    /// Another number: its digits, or what stands for what has none.
    Odd(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<V>),
    /// A mapping.
    Map(Vec<(K, V)>),
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Raw<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw<K, V>, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

struct Reader<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Reader<K, V> {
    type Value = Raw<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Raw::Null)
    }
    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Raw::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Raw::deserialize(deserializer)
    }
    fn visit_bool<E>(self, yes: bool) -> Result<Self::Value, E> {
        Ok(Raw::Bool(yes))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Raw::Number(number.into()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Raw::Number(number.into()))
    }
    fn visit_i128<E>(self, number: i128) -> Result<Self::Value, E> {
        Ok(Raw::Odd(number.to_string()))
    }
    fn visit_u128<E>(self, number: u128) -> Result<Self::Value, E> {
        Ok(Raw::Odd(number.to_string()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).map_or_else(|| Raw::Odd(number.to_string()), Raw::Number))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Raw::Text(text.to_owned()))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Raw::Text(text))
    }
    fn visit_bytes<E: Error>(self, _: &[u8]) -> Result<Self::Value, E> {
        Err(E::custom("binary values are not read here: put them into a file"))
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, _: D) -> Result<Self::Value, D::Error> {
        Err(D::Error::custom("tagged values are not read here"))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        items.shrink_to_fit();
        Ok(Raw::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        entries.shrink_to_fit();
        Ok(Raw::Map(entries))
    }
}
