//! When requests stop counting as outstanding at a balancer.
//!
//! Ends are kept in a wheel: a calendar of cells of equal length, each with its ends in order (a calendar queue, Brown 1988),
//! and a heap of those beyond it. A cell is about as long as the time from one end to the next: adding and
//! taking an end costs a few steps, however many there are. The wheel is rebuilt when it holds many more ends than
//! before, or when its cells have turned out too long or too short.

use super::job::NONE;
use dary_heap::QuaternaryHeap;
use headway_base::Nanos;
use std::cmp::Reverse;

/// Cells at least.
const LEAST: usize = 64;
/// So many are written down before it is asked whether the cells have the right length.
const TRIAL: u32 = 4_096;

/// A request that is outstanding no more. Packed, so that two entries fit into a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct End {
    /// At which copy of the balancer.
    pub copy: u32,
    pub target: u32,
    /// How long its answer took.
    pub took: Nanos,
    /// The connection that is answered with it, if one is.
    pub slot: u32,
}

/// Ends to come, in the order of time; of two at one instant, the one written down first comes first. None is written down
/// that is due earlier than one that was taken.
#[derive(Clone, Debug)]
pub(super) struct CalendarQueue {
    /// The first entry of each cell, of a power of two of them.
    cells: Vec<u32>,
    /// Bit i of word w: whether cell 64 w + i has any.
    some: Vec<u64>,
    /// A cell is 2^shift ns long.
    shift: u32,
    /// Number of the cell of what was taken last, counted from zero on: the wheel holds that many cells from there.
    from: u64,
    /// When that was due.
    last: Nanos,
    /// When the first is due; MAX if there is none.
    first: Nanos,
    /// Those beyond the wheel: instant, number, entry.
    beyond: QuaternaryHeap<Reverse<(Nanos, u64, u32)>>,
    /// Number of the next that goes beyond it.
    next: u64,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// So many are there before the wheel is built anew.
    most: usize,
    /// Of this trial: how many were written down, and the steps that took too many.
    tried: u32,
    steps: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Nanos,
    /// The one after it in its cell.
    next: u32,
    end: End,
}

impl Default for CalendarQueue {
    fn default() -> CalendarQueue {
        CalendarQueue {
            cells: vec![NONE; LEAST],
            some: vec![0; LEAST / 64],
            shift: 20,
            from: 0,
            last: Nanos::ZERO,
            first: Nanos::MAX,
            beyond: QuaternaryHeap::new(),
            next: 0,
            entries: Vec::new(),
            free: Vec::new(),
            most: LEAST,
            tried: 0,
            steps: 0,
        }
    }
}

impl CalendarQueue {
    /// Writes one down: its entry.
    #[inline]
    pub(super) fn add(&mut self, at: Nanos, end: End) -> u32 {
        debug_assert!(at >= self.last, "{at} comes after {}", self.last);
        let new = Entry { at, next: NONE, end };
        let entry = match self.free.pop() {
            Some(entry) => {
                self.entries[entry as usize] = new;
                entry
            }
            None => {
                self.entries.push(new);
                (self.entries.len() - 1) as u32
            }
        };
        self.first = self.first.min(at);
        self.tried += 1;
        self.keep(at, entry);
        if self.tried == TRIAL || self.entries.len() > self.most {
            self.maybe_rebuild();
        }
        entry
    }

    /// Puts an entry into its cell, or beyond the wheel.
    #[inline]
    fn keep(&mut self, at: Nanos, entry: u32) {
        let number = at.0 as u64 >> self.shift;
        if number - self.from >= self.cells.len() as u64 {
            self.beyond.push(Reverse((at, self.next, entry)));
            self.next += 1;
            self.steps += 4;
            return;
        }
        let cell = number as usize & (self.cells.len() - 1);
        let mut head = self.cells[cell];
        if head == NONE {
            self.some[cell / 64] |= 1 << (cell % 64);
            self.cells[cell] = entry;
        } else if at < self.entries[head as usize].at {
            self.entries[entry as usize].next = head;
            self.cells[cell] = entry;
        } else {
            loop {
                let next = self.entries[head as usize].next;
                if next == NONE || at < self.entries[next as usize].at {
                    self.entries[entry as usize].next = next;
                    self.entries[head as usize].next = entry;
                    return;
                }
                head = next;
                self.steps += 1;
            }
        }
    }

    /// Nobody waits for the answer that comes with that entry.
    pub(super) fn forget(&mut self, entry: u32) {
        self.entries[entry as usize].end.slot = NONE;
    }

    /// When the first is due; `Nanos::MAX` for never.
    #[inline]
    pub(super) fn next_at(&self) -> Nanos {
        self.first
    }

    /// The first that is due by `now`, and when.
    #[inline]
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, End)> {
        if self.first > now || self.free.len() == self.entries.len() {
            return None;
        }
        self.last = self.first;
        self.from = self.last.0 as u64 >> self.shift;
        if !self.beyond.is_empty() {
            self.bring_in();
        }
        let cell = self.from as usize & (self.cells.len() - 1);
        let entry = self.cells[cell];
        let Entry { at, next, end } = self.entries[entry as usize];
        self.cells[cell] = next;
        self.free.push(entry);
        self.first = if next == NONE {
            self.some[cell / 64] &= !(1 << (cell % 64));
            self.after(cell)
        } else {
            self.entries[next as usize].at
        };
        Some((at, end))
    }

    /// When the first is due of those that are not in that cell, which is the present one.
    #[inline]
    fn after(&mut self, cell: usize) -> Nanos {
        let words = self.some.len();
        let mut word = cell / 64;
        // Those of its word that lie before it come last.
        let mut bits = self.some[word] & (u64::MAX << (cell % 64));
        for _ in 0..=words {
            if bits != 0 {
                let head = self.cells[64 * word + bits.trailing_zeros() as usize];
                return self.entries[head as usize].at;
            }
            word = (word + 1) & (words - 1);
            bits = self.some[word];
            self.steps += 1;
        }
        self.beyond.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at)
    }

    /// Those that lay beyond the wheel and do no more, in their order.
    fn bring_in(&mut self) {
        let until = self.from + self.cells.len() as u64;
        while let Some(&Reverse((at, _, entry))) = self.beyond.peek()
            && (at.0 as u64 >> self.shift) < until
        {
            self.beyond.pop();
            self.entries[entry as usize].next = NONE;
            self.keep(at, entry);
        }
    }

    /// Whether the wheel goes on as it is.
    #[cold]
    #[inline(never)]
    fn maybe_rebuild(&mut self) {
        let slow = self.steps > 2 * self.tried;
        (self.tried, self.steps) = (0, 0);
        if slow || self.entries.len() > self.most {
            self.build();
        }
    }

    /// A wheel for what is there: cells so long that each has one, were the middle half of all evenly spaced, and so many that
    /// most find a place.
    fn build(&mut self) {
        let mut all: Vec<(Nanos, u32)> = Vec::new();
        for head in &self.cells {
            let mut entry = *head;
            while entry != NONE {
                let Entry { at, next, .. } = self.entries[entry as usize];
                all.push((at, entry));
                entry = next;
            }
        }
        // From the last to the first, since they are reversed.
        let beyond = std::mem::take(&mut self.beyond).into_sorted_vec();
        all.extend(beyond.into_iter().rev().map(|Reverse((at, _, entry))| (at, entry)));
        // Stable: those of one instant stand in their order, for they were together.
        all.sort_by_key(|(at, _)| *at);
        let quarter = all.len() / 4;
        if let (Some((low, _)), Some((high, _))) = (all.get(quarter), all.get(3 * quarter)) {
            let gap = (high.0 - low.0) as u64 / (2 * quarter as u64).max(1);
            self.shift = gap.max(1).ilog2();
        }
        let cells = (8 * all.len()).next_power_of_two().max(LEAST);
        self.cells = vec![NONE; cells];
        self.some = vec![0; cells / 64];
        self.most = (2 * self.entries.len()).max(LEAST);
        self.from = self.last.0 as u64 >> self.shift;
        for &(at, entry) in &all {
            self.entries[entry as usize].next = NONE;
            self.keep(at, entry);
        }
        (self.tried, self.steps) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    fn end(number: u32) -> End {
        End { copy: 0, target: number, took: Nanos::ZERO, slot: NONE }
    }

    #[test]
    fn two_entries_fit_into_a_cache_line() {
        assert_eq!(size_of::<Entry>(), 32);
    }

    /// Against a sorted list, with numbers that rise and fall by a thousand times and lengths that change as much; many at
    /// one instant.
    #[test]
    fn it_agrees_with_a_sorted_list() {
        for seed in 0..20 {
            let mut dice = Stream::new(seed, "due").item(0);
            let (mut due, mut list) = (CalendarQueue::default(), Vec::<(Nanos, u32)>::new());
            let (mut now, mut number, mut built) = (Nanos::ZERO, 0u32, 0);
            for round in 0..60 {
                let spread = 1u64 << (dice.bits() % 34);
                let coarse = 1 << (dice.bits() % 12);
                for _ in 0..1 + (dice.bits() % (2 << (round % 12))) {
                    let at = now + Nanos((dice.bits() % spread / coarse * coarse) as i64);
                    due.add(at, end(number));
                    list.push((at, number));
                    number += 1;
                }
                built = built.max(due.cells.len());
                list.sort_by_key(|(at, _)| *at);
                let keep = (dice.bits() % (list.len() as u64 + 1)) as usize;
                let taken = if round % 12 == 11 { list.len() } else { list.len() - keep };
                for (at, number) in list.drain(..taken) {
                    assert_eq!(due.next_at(), at, "seed {seed}, round {round}");
                    assert!(due.pop(Nanos(at.0 - 1)).is_none());
                    let (got, end) = due.pop(at).unwrap();
                    assert_eq!((got, end.target), (at, number), "seed {seed}, round {round}");
                    now = at;
                }
                assert_eq!(due.next_at(), list.first().map_or(Nanos::MAX, |(at, _)| *at));
            }
            assert!(due.pop(Nanos::MAX).is_some() != list.is_empty() && built > 8 * LEAST, "{built}");
        }
    }

    /// Steady numbers of ends cost a few steps each once the wheel fits them, whatever their law and number.
    #[test]
    fn an_end_costs_a_few_steps() {
        for (there, scale) in [(10, 1e3), (200, 1e6), (30_000, 1e9)] {
            let mut dice = Stream::new(1, "due").item(0);
            let mut due = CalendarQueue::default();
            let mut draw = |now: Nanos| now + Nanos((-scale * libm::log(dice.open01())) as i64);
            for number in 0..there {
                due.add(draw(Nanos::ZERO), end(number));
            }
            let (mut steps, n) = (0, 10 * there + 20_000);
            for number in 0..n {
                let (at, _) = due.pop(Nanos::MAX).unwrap();
                let before = due.steps;
                due.add(draw(at), end(number));
                steps += if number < n / 2 { 0 } else { due.steps.saturating_sub(before) };
            }
            assert!(f64::from(steps) < 2.0 * f64::from(n / 2), "{there}: {steps} steps for {}", n / 2);
        }
    }
}
