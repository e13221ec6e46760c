//! Names as numbers: labels, users, generators, in the order in which they first came.

use std::collections::HashMap;

/// A table of names. Finding a name costs a hash, or less if it is the one before.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    index: HashMap<Box<[u8]>, u32>,
    last: Option<(Box<[u8]>, u32)>,
}

impl Names {
    /// The number of that name, a new one if it has not come before. Bytes that are not UTF-8 are replaced in what is
    /// shown, not in what is compared.
    #[inline]
    pub fn index(&mut self, name: &[u8]) -> u32 {
        if let Some((last, index)) = &self.last
            && **last == *name
        {
            return *index;
        }
        self.look_up(name)
    }

    fn look_up(&mut self, name: &[u8]) -> u32 {
        let index = match self.index.get(name) {
            Some(&index) => index,
            None => {
                let index = self.names.len() as u32;
                self.names.push(String::from_utf8_lossy(name).into_owned());
                self.index.insert(name.into(), index);
                index
            }
        };
        match &mut self.last {
            Some((last, i)) if last.len() == name.len() => {
                last.copy_from_slice(name);
                *i = index;
            }
            last => *last = Some((name.into(), index)),
        }
        index
    }

    /// All names, by number.
    pub fn as_slice(&self) -> &[String] {
        &self.names
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers() {
        let mut names = Names::default();
        let numbers: Vec<_> = [&b"a"[..], b"b", b"b", b"a", b"ccc", b"\xff", b"\xff"].map(|n| names.index(n)).to_vec();
        assert_eq!(numbers, [0, 1, 1, 0, 2, 3, 3]);
        assert_eq!(names.as_slice(), ["a", "b", "ccc", "\u{fffd}"]);
    }
}
