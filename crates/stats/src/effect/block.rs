//! Requests in order of their starts, packed, with what is needed of those before and behind.

use super::clock::{Clock, ns};
use super::{Fate, Request};
use std::cell::Cell;

/// Spans are kept in units of 64 ns: up to 274 s.
const UNIT: u32 = 6;
const REFUSED: u8 = 1;
const COUNTED: u8 = 2;
const OK: u8 = 4;
const UNSTAMPED: u8 = 8;
/// A response read so soon after a hold-up may have come at any time in it.
const AFTER: i64 = 300_000;
/// Bits of a request's number in a word with its end, which has the others: 18 minutes.
const NUMBER: u32 = 24;
/// Most requests behind a block that are waited for, in parts of its length.
const BEHIND: usize = 4;

/// A request that started in an earlier block and ended in this one or later.
#[derive(Clone, Copy, Debug)]
struct Before {
    ended: i64,
    refused: bool,
}

/// Some requests: 17 bytes each, 4 for their order by end; 4 where some were turned away, and 4 where they did not start in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    started: Vec<i64>,
    lag: Vec<u32>,
    took: Vec<u32>,
    flags: Vec<u8>,
    before: Vec<Before>,
    /// By end; numbers from the length on are of `before`.
    order: Vec<u32>,
    /// The same of those that were not turned away, where any was.
    served: Vec<u32>,
    /// The core by when it was due, where that is not the order of starts.
    by_due: Vec<u32>,
    core: usize,
    /// When the last of the core ends, as far as was looked.
    last_end: i64,
    looked: usize,
    refused: bool,
}

fn packed(span: i64) -> u32 {
    u32::try_from((span.max(0) + (1 << UNIT) / 2) >> UNIT).unwrap_or(u32::MAX)
}

const fn unpacked(span: u32) -> i64 {
    (span as i64) << UNIT
}

impl Block {
    pub fn push(&mut self, request: &Request) {
        let started = ns(request.started);
        self.started.push(started);
        self.lag.push(packed(started - ns(request.intended)));
        self.took.push(packed(ns(request.answered) - started));
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        self.flags.push(
            flag(request.fate == Fate::Refused, REFUSED)
                | flag(request.counted, COUNTED)
                | flag(request.ok, OK)
                | flag(!request.stamped, UNSTAMPED),
        );
    }

    pub fn len(&self) -> usize {
        self.started.len()
    }

    /// Whether all that started before the first `core` ended is there, or as much of it as is waited for.
    pub fn closed(&mut self, core: usize) -> bool {
        while self.looked < core {
            self.last_end = self.last_end.max(self.started[self.looked] + self.took(self.looked));
            self.looked += 1;
        }
        let last = self.started.last().copied().unwrap_or(i64::MIN);
        last >= self.last_end || self.len() >= core + (core / BEHIND).max(1_000)
    }

    /// Puts all in order of their ends; the first `core` are to be played.
    pub fn settle(&mut self, core: usize) {
        let n = self.len();
        self.core = core;
        self.order.clear();
        self.order.extend(0..(n + self.before.len()) as u32);
        self.refused =
            self.flags.iter().any(|flags| flags & REFUSED != 0) || self.before.iter().any(|b| b.refused);
        self.sort();
        self.by_due.clear();
        if !(1..core).all(|i| self.intended(i - 1) <= self.intended(i)) {
            let mut by_due: Vec<u32> = (0..core as u32).collect();
            by_due.sort_by_key(|&i| self.intended(i as usize));
            self.by_due = by_due;
        }
    }

    fn sort(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        self.by_end(&mut order);
        let mut served = std::mem::take(&mut self.served);
        served.clear();
        if self.refused {
            served.extend(order.iter().copied().filter(|&i| !self.order_refused(i)));
        }
        (self.order, self.served) = (order, served);
    }

    /// Puts all into the order of their ends, equal ones by number. A number beside its end in one word sorts several times as fast
    /// as one that is looked up; ends of a block that lasts for too long do not fit.
    fn by_end(&self, order: &mut Vec<u32>) {
        let all = 0..order.len() as u32;
        let ends = all.clone().map(|i| self.end(i));
        let Some(first) = ends.clone().min() else { return };
        let last = ends.clone().max().unwrap_or(first);
        if (last - first) >> (64 - NUMBER) > 0 || order.len() >> NUMBER > 0 {
            order.sort_by_key(|&i| (self.end(i), i));
            return;
        }
        let mut words: Vec<u64> =
            ends.zip(all).map(|(end, i)| ((end - first) as u64) << NUMBER | u64::from(i)).collect();
        words.sort_unstable();
        order.clear();
        order.extend(words.into_iter().map(|word| (word & ((1 << NUMBER) - 1)) as u32));
    }

    /// The core by when it was due.
    pub fn by_due(&self) -> impl Iterator<Item = usize> {
        (0..self.core).map(|k| self.by_due.get(k).map_or(k, |&i| i as usize))
    }

    /// When a request ended, by its number in `order`.
    #[inline]
    fn end(&self, i: u32) -> i64 {
        let i = i as usize;
        match self.started.get(i) {
            Some(started) => started + unpacked(self.took[i]),
            None => self.before[i - self.len()].ended,
        }
    }

    /// Responses of unknown stamps that were read right after a hold-up came at its beginning.
    pub fn answer_early(&mut self, clock: &Clock) {
        for i in 0..self.len() {
            if self.flags[i] & UNSTAMPED == 0 {
                continue;
            }
            let ended = self.started[i] + self.took(i);
            self.took[i] = packed(early(clock, self.started[i], ended) - self.started[i]);
        }
        self.sort();
    }

    /// Takes the first `core` away; those of them that end later are kept as such.
    pub fn drain(&mut self, core: usize) {
        let next = self.started.get(core).copied();
        let mut before: Vec<Before> = std::mem::take(&mut self.before);
        before.extend(
            (0..core).map(|i| Before { ended: self.started[i] + self.took(i), refused: self.is_refused(i) }),
        );
        if let Some(next) = next {
            before.retain(|b| b.ended > next);
        } else {
            before.clear();
        }
        self.before = before;
        self.started.drain(..core);
        self.lag.drain(..core);
        self.took.drain(..core);
        self.flags.drain(..core);
        (self.core, self.looked, self.last_end) = (0, 0, i64::MIN);
        self.order.clear();
    }

    /// How many are to be played.
    pub fn core(&self) -> usize {
        self.core
    }

    #[inline]
    pub fn took(&self, i: usize) -> i64 {
        unpacked(self.took[i])
    }

    #[inline]
    pub fn lag(&self, i: usize) -> i64 {
        unpacked(self.lag[i])
    }

    #[inline]
    pub fn started(&self, i: usize) -> i64 {
        self.started[i]
    }

    #[inline]
    pub fn intended(&self, i: usize) -> i64 {
        self.started[i] - self.lag(i)
    }

    #[inline]
    pub fn is_refused(&self, i: usize) -> bool {
        self.flags[i] & REFUSED != 0
    }

    #[inline]
    pub fn is_counted(&self, i: usize) -> bool {
        self.flags[i] & COUNTED != 0
    }

    #[inline]
    pub fn is_ok(&self, i: usize) -> bool {
        self.flags[i] & OK != 0
    }

    /// When the response came at the earliest.
    pub fn earliest_answer(&self, i: usize, clock: &Clock) -> i64 {
        let ended = self.started[i] + self.took(i);
        if self.flags[i] & UNSTAMPED == 0 { ended } else { early(clock, self.started[i], ended) }
    }

    pub fn any_refused(&self) -> bool {
        self.refused
    }

    /// When the first of what is left was due, or what ends is still there from.
    pub fn earliest(&self) -> Option<i64> {
        (0..self.len().min(1_000)).map(|i| self.intended(i)).min()
    }

    /// From the first start to the last of the core.
    pub fn span(&self) -> Option<(i64, i64)> {
        Some((*self.started.first()?, *self.started.get(self.core.checked_sub(1)?)?))
    }

    /// How many started before that instant, those of earlier blocks that still run with them.
    pub fn started_before(&self, at: i64) -> usize {
        self.before.len() + self.started.partition_point(|&started| started < at)
    }

    /// Numbers of at most that many requests of the core, evenly.
    pub fn sample(&self, most: usize) -> impl Iterator<Item = usize> + use<> {
        let step = self.core.div_ceil(most).max(1);
        (0..self.core).step_by(step)
    }

    /// Requests of earlier blocks that had not ended, of those that were served or of all.
    pub fn running(&self, served: bool) -> usize {
        self.before.iter().filter(|b| !(served && b.refused)).count()
    }

    fn order_refused(&self, i: u32) -> bool {
        let i = i as usize;
        if i < self.len() { self.is_refused(i) } else { self.before[i - self.len()].refused }
    }
}

/// When a response came at the earliest that was read then.
fn early(clock: &Clock, started: i64, ended: i64) -> i64 {
    match clock.last_before(ended) {
        Some((from, to)) if ended - to < AFTER => from.max(started + 1_000).min(ended),
        _ => ended,
    }
}

/// A block in the time in which members run.
pub(super) struct View<'a> {
    pub block: &'a Block,
    clock: Option<&'a Clock>,
    at: [Cell<usize>; 4],
}

impl<'a> View<'a> {
    pub fn new(block: &'a Block, clock: Option<&'a Clock>) -> View<'a> {
        View { block, clock, at: Default::default() }
    }

    pub fn plain(block: &'a Block) -> View<'a> {
        View::new(block, None)
    }

    #[inline]
    fn within(&self, instant: i64, at: usize) -> i64 {
        self.clock.map_or(instant, |clock| clock.within(instant, &self.at[at]))
    }

    #[inline]
    pub fn started(&self, i: usize) -> i64 {
        self.within(self.block.started[i], 0)
    }

    #[inline]
    pub fn intended(&self, i: usize) -> i64 {
        self.within(self.block.intended(i), 1)
    }

    #[inline]
    pub fn ended(&self, i: usize) -> i64 {
        self.within(self.block.end(i as u32), 2)
    }

    /// The instant at which something ends that ends then in the members' time.
    #[inline]
    pub fn instant(&self, ended: i64) -> i64 {
        self.clock.map_or(ended, |clock| clock.instant(ended, &self.at[3]))
    }

    /// Ends in order, those of earlier blocks with them: the request, if it is of this one, and its end.
    #[inline]
    pub fn place(&self, k: usize) -> (Option<usize>, i64) {
        let i = self.block.order[k];
        let request = (i as usize) < self.block.len();
        (request.then_some(i as usize), self.within(self.block.end(i), 2))
    }

    pub fn places(&self) -> usize {
        self.block.order.len()
    }

    /// How many ended before that instant, in the block's own time.
    pub fn ended_before(&self, at: i64) -> usize {
        self.block.order.partition_point(|&i| self.block.end(i) < at)
    }

    /// Numbers by end of those that were served.
    pub fn served(&self) -> &[u32] {
        if self.block.refused { &self.block.served } else { &self.block.order }
    }

    /// When a number of such an order ended.
    #[inline]
    pub fn ended_of(&self, i: u32) -> i64 {
        self.within(self.block.end(i), 2)
    }
}
