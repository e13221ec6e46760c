//! Names as numbers: labels, users, generators, in the order in which they first came.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table of names. Finding a name costs a hash of a few nanoseconds and allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    index: HashMap<Box<[u8]>, u32, BuildHasherDefault<Folded>>,
    /// What is shown in the place of a name; none: the name itself.
    shown: Option<fn(&str) -> Option<String>>,
}

/// Names that are remembered beside those that are shown in their place, for each name that is distinguished.
const REMEMBERED: usize = 2;

impl Names {
    /// A table of names in the place of some of which others are shown: `shown` gives them. Names that are shown alike are one.
    pub fn shown_by(shown: fn(&str) -> Option<String>) -> Names {
        Names { shown: Some(shown), ..Names::default() }
    }

    /// The number of that name, a new one if it has not come before. Bytes that are not UTF-8 are replaced in what is
    /// shown, not in what is compared.
    #[inline]
    pub fn index(&mut self, name: &[u8]) -> u32 {
        match self.index.get(name) {
            Some(&index) => index,
            None => self.add(name),
        }
    }

    /// The same, with `most` names at most: where so many are there, all further ones share the number `most`, whose name
    /// is `others`. No memory is taken for them.
    #[inline]
    pub fn index_within(&mut self, name: &[u8], most: u32, others: &str) -> u32 {
        match self.index.get(name) {
            Some(&index) => index,
            None => self.add_within(name, most, others),
        }
    }

    #[cold]
    fn add_within(&mut self, name: &[u8], most: u32, others: &str) -> u32 {
        if let Some(shown) = self.shown.and_then(|shown| shown(&String::from_utf8_lossy(name))) {
            let index = match self.index.get(shown.as_bytes()) {
                Some(&index) => index,
                None => self.add_of_its_own(shown.as_bytes(), most, others),
            };
            // Each name may be another: beyond this each is looked at when it comes.
            if self.index.len() < REMEMBERED * most as usize {
                self.index.insert(name.into(), index);
            }
            return index;
        }
        self.add_of_its_own(name, most, others)
    }

    fn add_of_its_own(&mut self, name: &[u8], most: u32, others: &str) -> u32 {
        match self.names.len().cmp(&(most as usize)) {
            Ordering::Less => return self.add(name),
            Ordering::Equal => self.names.push(others.to_owned()),
            Ordering::Greater => {}
        }
        most
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> u32 {
        let index = self.names.len() as u32;
        self.names.push(String::from_utf8_lossy(name).into_owned());
        self.index.insert(name.into(), index);
        index
    }

    /// As if so many names had come, which are not found again.
    #[cfg(test)]
    pub(crate) fn holding(count: u32) -> Names {
        Names { names: vec![String::new(); count as usize], ..Names::default() }
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

/// Eight bytes at a time, each multiplied to 128 bits and folded. The standard library's hash defends against names
/// chosen to collide, which a results file of one's own has no reason to hold, and costs several times more.
#[derive(Default)]
struct Folded(u64);

impl Folded {
    #[inline]
    fn mix(&mut self, word: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let wide = u128::from(self.0.rotate_left(23) ^ word ^ ODD) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        self.0 = (wide as u64) ^ (wide >> 64) as u64;
    }
}

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.mix(rest.iter().fold(0, |word, &b| word << 8 | u64::from(b)));
        }
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    #[test]
    fn names_keep_their_numbers() {
        let mut names = Names::default();
        let numbers: Vec<_> = [&b"a"[..], b"b", b"b", b"a", b"ccc", b"\xff", b"\xff", b"", b"\0"]
            .map(|n| names.index(n))
            .to_vec();
        assert_eq!(numbers, [0, 1, 1, 0, 2, 3, 3, 4, 5]);
        assert_eq!(names.as_slice()[..4], ["a", "b", "ccc", "\u{fffd}"]);
    }

    #[test]
    fn names_that_are_shown_alike_are_one() {
        let shown = |name: &str| name.split_once('=').map(|(name, _)| format!("{name}=?"));
        let mut names = Names::shown_by(shown);
        let mut of = |name: String| names.index_within(name.as_bytes(), 3, "(others)");
        assert_eq!(
            ["a=1", "b", "a=2", "a=1", "c=1", "d", "e=1", "a=3"].map(|n| of(n.to_owned())),
            [0, 1, 0, 0, 2, 3, 3, 0]
        );
        for n in 0..1_000 {
            assert_eq!(of(format!("a={n}")), 0);
        }
        assert_eq!(names.as_slice(), ["a=?", "b", "c=?", "(others)"]);
        assert!(names.index.len() <= 8);
    }

    #[test]
    fn names_beyond_the_most_share_one() {
        let mut names = Names::default();
        let numbers: Vec<_> = [&b"a"[..], b"b", b"a", b"c", b"d", b"(others)", b"c", b"b"]
            .map(|n| names.index_within(n, 2, "(others)"))
            .to_vec();
        assert_eq!(numbers, [0, 1, 0, 2, 2, 2, 2, 1]);
        assert_eq!(names.as_slice(), ["a", "b", "(others)"]);
        assert_eq!(names.index.len(), 2);
    }

    /// The upper and lower bits alone, which hash tables use, tell similar names apart as well as chance does.
    #[test]
    fn similar_names_do_not_collide() {
        let hash = |name: &str| BuildHasherDefault::<Folded>::default().hash_one(name.as_bytes());
        const N: usize = 1 << 14;
        for part in [|h: u64| h >> 44, |h: u64| h & 0xf_ffff] {
            let seen: HashSet<u64> = (0..N).map(|i| part(hash(&format!("Thread Group 1-{i}")))).collect();
            // Of n names in m places n^2/2m are expected to collide: 128, with a standard error of 11.
            assert!((85..172).contains(&(N - seen.len())), "{}", N - seen.len());
        }
    }
}
