//! Merges the workers' streams of instants into one, in order, as far as all of them have reported.
//!
//! A source tells its starts in order, and other instants nearly so. Deliberately absent: any bound but the watermark: what waits
//! here is what lies between the slowest source's watermark and the fastest's.

use headway_base::Start;
use std::collections::VecDeque;

/// Something that happened at an instant. Ties are broken by the second part, then by the source's number.
pub(crate) trait Timed {
    fn key(&self) -> (i64, i64);
}

impl Timed for Start {
    fn key(&self) -> (i64, i64) {
        (self.started.0, self.intended.0)
    }
}

/// A k-way merge with a watermark per source.
#[derive(Clone, Debug)]
pub(crate) struct Merge<T> {
    sources: Vec<Queue<T>>,
    /// Kept between calls for its memory.
    due: Vec<T>,
}

#[derive(Clone, Debug)]
struct Queue<T> {
    waiting: VecDeque<T>,
    /// Nothing earlier than this will come from this source.
    watermark: i64,
}

impl<T: Timed + Copy> Merge<T> {
    pub fn new(sources: usize) -> Merge<T> {
        let mut merge = Merge { sources: Vec::new(), due: Vec::new() };
        merge.grow(sources);
        merge
    }

    fn grow(&mut self, sources: usize) {
        while self.sources.len() < sources {
            self.sources.push(Queue { waiting: VecDeque::new(), watermark: i64::MIN });
        }
    }

    /// Whether items of the only source need not wait for anyone.
    pub fn is_trivial(&self) -> bool {
        self.sources.len() == 1
    }

    /// How many sources there are.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Takes an item of this source. One that comes after later ones costs a search.
    #[inline]
    pub fn push(&mut self, source: usize, item: T) {
        self.grow(source + 1);
        let waiting = &mut self.sources[source].waiting;
        match waiting.back() {
            Some(last) if last.key() > item.key() => {
                let place = waiting.partition_point(|other| other.key() <= item.key());
                waiting.insert(place, item);
            }
            _ => waiting.push_back(item),
        }
    }

    /// Nothing earlier than `watermark` will come from `source`. Watermarks never fall.
    pub fn advance(&mut self, source: usize, watermark: i64) {
        self.grow(source + 1);
        let queue = &mut self.sources[source];
        queue.watermark = queue.watermark.max(watermark);
    }

    /// How many items wait.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.sources.iter().map(|queue| queue.waiting.len()).sum()
    }

    /// The instant up to which every source has reported.
    pub fn watermark(&self) -> i64 {
        self.sources.iter().map(|q| q.watermark).min().unwrap_or(i64::MAX)
    }

    /// Hands out, in order, what lies before the common watermark.
    pub fn drain(&mut self, take: impl FnMut(T)) {
        let until = self.watermark();
        self.drain_before(until, take);
    }

    /// Hands out everything.
    pub fn drain_all(&mut self, take: impl FnMut(T)) {
        self.drain_before(i64::MAX, take);
    }

    /// Gathers what is due from all sources and sorts it: the sort finds the sources' ascending runs and merges
    /// them, and being stable leaves ties in the order of the sources. (Comparing all heads for each item costs ten
    /// times as much: its branches cannot be predicted.)
    fn drain_before(&mut self, until: i64, take: impl FnMut(T)) {
        for queue in &mut self.sources {
            let due = queue.waiting.partition_point(|item| until == i64::MAX || item.key().0 < until);
            self.due.extend(queue.waiting.drain(..due));
        }
        self.due.sort_by_key(Timed::key);
        self.due.drain(..).for_each(take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Timed for i64 {
        fn key(&self) -> (i64, i64) {
            (*self, 0)
        }
    }

    #[test]
    fn nothing_is_handed_out_before_all_have_reported() {
        let mut merge = Merge::new(2);
        merge.push(0, 5);
        merge.advance(0, 10);
        let mut seen = Vec::new();
        merge.drain(|x| seen.push(x));
        assert!(seen.is_empty(), "{seen:?}");
        merge.advance(1, 5);
        merge.drain(|x: i64| seen.push(x));
        assert!(seen.is_empty(), "5 may still come from source 1");
        merge.advance(1, 6);
        merge.drain(|x| seen.push(x));
        assert_eq!(seen, [5]);
    }

    #[test]
    fn a_source_may_tell_of_what_was_earlier() {
        let mut merge = Merge::new(1);
        [4, 9, 2, 9, 7].into_iter().for_each(|at| merge.push(0, at));
        merge.advance(0, 8);
        let mut seen = Vec::new();
        merge.drain(|x: i64| seen.push(x));
        assert_eq!(seen, [2, 4, 7]);
        merge.drain_all(|x| seen.push(x));
        assert_eq!(seen, [2, 4, 7, 9, 9]);
    }

    proptest! {
        #[test]
        fn any_interleaving_comes_out_sorted_and_whole(
            items in prop::collection::vec((0i64..1000, 0usize..5, prop::bool::ANY), 0..200)
        ) {
            let mut by_source: Vec<Vec<i64>> = vec![Vec::new(); 5];
            items.iter().for_each(|&(at, s, _)| by_source[s].push(at));
            by_source.iter_mut().for_each(|v| v.sort_unstable());
            let mut next = [0; 5];
            let (mut merge, mut seen) = (Merge::new(5), Vec::new());
            for &(_, s, drain) in &items {
                let at = by_source[s][next[s]];
                next[s] += 1;
                merge.push(s, at);
                merge.advance(s, at);
                if drain {
                    merge.drain(|x| seen.push(x));
                }
            }
            merge.drain_all(|x| seen.push(x));
            let mut all: Vec<i64> = items.iter().map(|i| i.0).collect();
            all.sort_unstable();
            prop_assert_eq!(seen, all);
        }
    }
}
