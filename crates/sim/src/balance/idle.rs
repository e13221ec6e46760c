//! The queue of idle targets.

use super::counts::Counts;

/// Idle targets in the order in which they became so; at first all, in the order of their numbers. A list through arrays:
/// a target leaves from wherever it stands in O(1).
#[derive(Clone, Debug)]
pub(super) struct Idle {
    /// The successor and predecessor of each target; the entry after the last target's is the list's end, both ways.
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    before: u32,
}

/// Not in the list.
const OUT: Link = Link { next: u32::MAX, before: u32::MAX };

impl Idle {
    pub(super) fn new(targets: u32) -> Idle {
        let around = targets + 1;
        let link = |i: u32| Link { next: (i + 1) % around, before: (i + targets) % around };
        Idle { links: (0..around).map(link).collect() }
    }

    fn end(&self) -> u32 {
        self.links.len() as u32 - 1
    }

    /// Who has been idle the longest.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        let first = self.links[self.end() as usize].next;
        (first != self.end()).then_some(first)
    }

    fn contains(&self, target: u32) -> bool {
        self.links[target as usize].next != OUT.next
    }

    /// A target that was not idle is.
    #[inline]
    pub(super) fn push(&mut self, target: u32) {
        let end = self.end();
        let last = self.links[end as usize].before;
        self.links[target as usize] = Link { next: end, before: last };
        self.links[last as usize].next = target;
        self.links[end as usize].before = target;
    }

    /// A target is not idle, whether or not it was.
    #[inline]
    pub(super) fn remove(&mut self, target: u32) {
        if self.contains(target) {
            let Link { next, before } = std::mem::replace(&mut self.links[target as usize], OUT);
            self.links[before as usize].next = next;
            self.links[next as usize].before = before;
        }
    }

    /// Those that are known to be busy leave; the others come, in the order of their numbers, unless they are there.
    pub(super) fn refresh(&mut self, counts: &Counts) {
        for target in 0..self.end() {
            if counts.known(target) > 0 {
                self.remove(target);
            } else if !self.contains(target) {
                self.push(target);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(idle: &mut Idle) -> Vec<u32> {
        std::iter::from_fn(|| {
            let first = idle.first()?;
            idle.remove(first);
            Some(first)
        })
        .collect()
    }

    #[test]
    fn who_became_idle_first_is_first() {
        let mut idle = Idle::new(4);
        assert_eq!(drain(&mut idle), [0, 1, 2, 3]);
        assert_eq!(idle.first(), None);
        [2, 0, 3].into_iter().for_each(|target| idle.push(target));
        idle.remove(0);
        idle.remove(1);
        idle.push(0);
        assert_eq!(drain(&mut idle), [2, 3, 0]);
    }

    #[test]
    fn an_exchange_takes_the_busy_out() {
        let (mut idle, mut counts) = (Idle::new(3), Counts::new(3));
        idle.remove(1);
        counts.set_others(0, 2);
        idle.refresh(&counts);
        assert_eq!(drain(&mut idle.clone()), [2, 1]);
        counts.set_others(0, 0);
        idle.refresh(&counts);
        assert_eq!(drain(&mut idle), [2, 1, 0]);
    }
}
