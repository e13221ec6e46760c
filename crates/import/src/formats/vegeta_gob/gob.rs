//! As much of Go's `encoding/gob` as a stream of structs needs.
//!
//! A stream is messages, each behind its length. A message begins with a type's number: a negative one describes the type
//! of that number (a struct `wireType` that gob knows by itself), a positive one is followed by a value of it. Structs
//! are fields, each behind how many fields on it lies, closed by a 0; fields that are zero are left out. See
//! <https://pkg.go.dev/encoding/gob>, "Encoding Details".
//!
//! Deliberately absent: values that are not structs, and interpreting what a type with an encoder of its own writes.

use std::collections::HashMap;

/// How deep types may lie in each other.
const DEEPEST: u32 = 16;
/// Fields of a struct.
const MOST_FIELDS: u64 = 1000;

/// Bytes of a message, taken from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, n: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(n).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    /// Below 128 the byte itself; else the byte is how many bytes follow, negated.
    #[inline]
    pub(super) fn uint(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        if first < 128 {
            return Some(u64::from(first));
        }
        let bytes = self.take(u64::from(first.wrapping_neg()).min(9))?;
        (bytes.len() <= 8).then(|| bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    /// The lowest bit is the sign.
    #[inline]
    pub(super) fn int(&mut self) -> Option<i64> {
        self.uint().map(|n| if n & 1 == 0 { (n >> 1) as i64 } else { !(n >> 1) as i64 })
    }

    #[inline]
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.uint()?;
        self.take(length)
    }

    /// The fields of a struct, each handed to `field` with its number from 0.
    pub(super) fn fields(&mut self, mut field: impl FnMut(u64, &mut Bytes<'a>) -> Option<()>) -> Option<()> {
        let mut next = 0_u64;
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Some(());
            }
            next = next.checked_add(delta)?;
            field(next - 1, self)?;
        }
    }
}

// Numbers of the types that need no description.
pub(super) const BOOL: i64 = 1;
pub(super) const INT: i64 = 2;
pub(super) const UINT: i64 = 3;
pub(super) const FLOAT: i64 = 4;
pub(super) const BYTES: i64 = 5;
pub(super) const STRING: i64 = 6;
pub(super) const COMPLEX: i64 = 7;
pub(super) const INTERFACE: i64 = 8;

/// A described type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Type {
    /// Name and type of each field.
    Struct { name: Vec<u8>, fields: Vec<(Vec<u8>, i64)> },
    /// An array or a slice, of elements of that type.
    List(i64),
    /// A map, from keys to elements of those types.
    Map(i64, i64),
    /// It has an encoder of its own, whose bytes stand behind their length.
    Opaque,
}

impl Type {
    /// Reads a description, behind the type's number.
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Type> {
        let mut found = None;
        bytes.fields(|kind, bytes| {
            let (mut name, mut numbers, mut fields) = (Vec::new(), [0; 2], Vec::new());
            bytes.fields(|part, bytes| {
                match (part, kind) {
                    (0, _) => name = read_common(bytes)?,
                    (1, STRUCT) => fields = read_fields(bytes)?,
                    (1 | 2, _) => numbers[part as usize - 1] = bytes.int()?,
                    _ => return None,
                }
                Some(())
            })?;
            found = Some(match kind {
                0 | 1 => Type::List(numbers[0]),
                STRUCT => Type::Struct { name, fields },
                3 => Type::Map(numbers[0], numbers[1]),
                4..=6 => Type::Opaque,
                _ => return None,
            });
            Some(())
        })?;
        found
    }
}

/// The number of structs among the kinds of types.
const STRUCT: u64 = 2;

/// A type's name and number, of which the number was known.
fn read_common(bytes: &mut Bytes<'_>) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    bytes.fields(|part, bytes| {
        match part {
            0 => name = bytes.string()?.to_vec(),
            _ => drop(bytes.int()?),
        }
        Some(())
    })?;
    Some(name)
}

fn read_fields(bytes: &mut Bytes<'_>) -> Option<Vec<(Vec<u8>, i64)>> {
    let n = bytes.uint().filter(|&n| n <= MOST_FIELDS)?;
    let field = |bytes: &mut Bytes<'_>| {
        let (mut name, mut number) = (Vec::new(), 0);
        bytes.fields(|part, bytes| {
            match part {
                0 => name = bytes.string()?.to_vec(),
                _ => number = bytes.int()?,
            }
            Some(())
        })?;
        Some((name, number))
    };
    (0..n).map(|_| field(bytes)).collect()
}

/// Passes over a value of that type.
pub(super) fn skip(bytes: &mut Bytes<'_>, number: i64, types: &HashMap<i64, Type>) -> Option<()> {
    skip_within(bytes, number, types, 0)
}

fn skip_within(bytes: &mut Bytes<'_>, number: i64, types: &HashMap<i64, Type>, depth: u32) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    let within = |bytes: &mut Bytes<'_>, number: i64| skip_within(bytes, number, types, depth + 1);
    match number {
        BOOL | INT | UINT | FLOAT => drop(bytes.uint()?),
        BYTES | STRING => drop(bytes.string()?),
        COMPLEX => drop((bytes.uint()?, bytes.uint()?)),
        // The name of the type inside, its number, and the value behind its length; of nil only an empty name.
        INTERFACE => {
            if !bytes.string()?.is_empty() {
                bytes.int()?;
                bytes.string()?;
            }
        }
        _ => match types.get(&number)? {
            Type::Struct { fields, .. } => bytes.fields(|i, bytes| {
                let (_, number) = fields.get(usize::try_from(i).ok()?)?;
                within(bytes, *number)
            })?,
            Type::List(element) => {
                for _ in 0..bytes.uint()? {
                    within(bytes, *element)?;
                }
            }
            Type::Map(key, element) => {
                for _ in 0..bytes.uint()? {
                    within(bytes, *key)?;
                    within(bytes, *element)?;
                }
            }
            Type::Opaque => drop(bytes.string()?),
        },
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        // From the documentation of the package.
        assert_eq!(Bytes(&[7]).uint(), Some(7));
        assert_eq!(Bytes(&[0xfe, 0x01, 0x00]).uint(), Some(256));
        assert_eq!(Bytes(&[0xfd, 0x01, 0x00]).uint(), None);
        assert_eq!(Bytes(&[0xf7, 1, 1, 1, 1, 1, 1, 1, 1, 1]).uint(), None);
        assert_eq!(Bytes(&[0x80]).uint(), None);
        assert_eq!(Bytes(&[0xff, 0x81]).int(), Some(-65));
        assert_eq!(Bytes(&[0xff, 0x82]).int(), Some(65));
        assert_eq!(Bytes(&[]).int(), None);
    }

    #[test]
    fn a_struct_is_described() {
        // `type Point struct { X, Y int }`, from the documentation of the package.
        let bytes = b"\x03\x01\x01\x05Point\x01\xff\x82\x00\x01\x02\x01\x01X\x01\x04\x00\x01\x01Y\x01\x04\x00\x00\x00";
        let mut rest = Bytes(bytes);
        let point = Type::read(&mut rest).unwrap();
        assert_eq!(rest.0, b"");
        let fields = vec![(b"X".to_vec(), INT), (b"Y".to_vec(), INT)];
        assert_eq!(point, Type::Struct { name: b"Point".to_vec(), fields });
        // Point{22, 33}
        let mut value = Bytes(b"\x01\x2c\x01\x42\x00");
        skip(&mut value, 65, &HashMap::from([(65, point)])).unwrap();
        assert_eq!(value.0, b"");
        for n in 0..bytes.len() {
            assert_eq!(Type::read(&mut Bytes(&bytes[..n])), None, "{n}");
        }
    }

    #[test]
    fn types_that_hold_themselves_have_an_end() {
        let types = HashMap::from([(65, Type::List(65))]);
        assert_eq!(skip(&mut Bytes(&[1; 100]), 65, &types), None);
        // Empty elements take no bytes, however many they are said to be.
        let types = HashMap::from([
            (65, Type::List(66)),
            (66, Type::Struct { name: Vec::new(), fields: Vec::new() }),
        ]);
        assert_eq!(skip(&mut Bytes(&[0xfc, 0xff, 0xff, 0xff, 0xff, 0]), 65, &types), None);
    }
}
